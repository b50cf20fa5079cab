/* ir: making a scalar program. Constants are made once, what no step changes goes before the loop, and an operation on
 * equal operands is made once. */
#include <string.h>

#include "jit_int.h"

void jit_begin(jit_program *p, damo_ctx *ctx) { *p = (jit_program){.ctx = ctx, .stop = -1, .stop_slot = -1}; }

void jit_begin_lanes(jit_program *p, damo_ctx *ctx, bool wide) {
  jit_begin(p, ctx);
  p->is_lanes = true;
  p->is_wide = wide;
}

void jit_end(jit_program *p) {
  mem_free(p->ctx, p->def, (size_t)p->defs_cap * sizeof *p->def);
  mem_free(p->ctx, p->inst, (size_t)p->insts_cap * sizeof *p->inst);
  mem_free(p->ctx, p->before, (size_t)p->before_cap * sizeof *p->before);
  jit_begin(p, p->ctx);
}

jit_type jit_type_of(damo_dtype dtype) {
  static const damo_dtype dtypes[] = {[JIT_F64] = DAMO_FLOAT64,
                                      [JIT_F32] = DAMO_FLOAT32,
                                      [JIT_I64] = DAMO_INT64,
                                      [JIT_I32] = DAMO_INT32,
                                      [JIT_BOOL] = DAMO_BOOL};
  int type = 0;
  while (type < JIT_N_TYPES && dtypes[type] != dtype) type++;
  return (jit_type)type;
}

/* Makes space for one entry more. */
static bool jit_reserve(jit_program *p, void **list, int32_t n, int32_t *cap, size_t size) {
  if (p->failed || n < *cap) return !p->failed;
  const int32_t more = *cap < 16 ? 32 : 2 * *cap;
  void *grown = more <= JIT_MOST_INSTS ? mem_realloc(p->ctx, *list, (size_t)*cap * size, (size_t)more * size) : NULL;
  if (grown == NULL) {
    if (more <= JIT_MOST_INSTS) ctx_clear_error(p->ctx);
    p->failed = true;
    return false;
  }
  *list = grown;
  *cap = more;
  return true;
}

static jit_value new_value(jit_program *p, jit_type type, jit_source source, bool steady) {
  if (p->is_lanes && !p->is_wide && jit_is_long(type)) p->failed = true;
  if (!jit_reserve(p, (void **)&p->def, p->n_defs, &p->defs_cap, sizeof *p->def)) return -1;
  p->def[p->n_defs] =
      (jit_def){.type = (uint8_t)type, .source = (uint8_t)source, .steady = steady, .slot = -1, .next = -1};
  return p->n_defs++;
}

static jit_value new_home(jit_program *p, jit_type type, jit_source source, bool steady) {
  const jit_value v = new_value(p, type, source, steady);
  if (v >= 0) p->def[v].slot = p->n_slots++;
  return v;
}

jit_value jit_const(jit_program *p, jit_type type, uint64_t bits) {
  if (type == JIT_BOOL) bits = bits != 0 ? UINT64_MAX : 0;
  for (jit_value v = 0; v < p->n_defs; v++) {
    if (p->def[v].source == JIT_OF_CONST && p->def[v].type == type && p->def[v].bits == bits) return v;
  }
  const jit_value v = new_home(p, type, JIT_OF_CONST, true);
  if (v >= 0) p->def[v].bits = bits;
  return v;
}

jit_value jit_const_float(jit_program *p, jit_type type, double x) {
  const jit_slot s = type == JIT_F64 ? (jit_slot){.f64 = x} : (jit_slot){.bits = 0};
  const float narrow = (float)x;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return jit_const(p, type, type == JIT_F64 ? s.bits : bits);
}

jit_value jit_input(jit_program *p, jit_type type) { return new_home(p, type, JIT_OF_SLOT, true); }
jit_value jit_carried(jit_program *p, jit_type type) { return new_home(p, type, JIT_CARRIED, false); }

void jit_carry(jit_program *p, jit_value carried, jit_value next) {
  if (carried < 0 || next < 0) p->failed = true;
  if (!p->failed) p->def[carried].next = next;
}

int32_t jit_home(const jit_program *p, jit_value v) { return v < 0 ? 0 : p->def[v].slot; }
jit_type jit_typeof(const jit_program *p, jit_value v) { return v < 0 ? JIT_F64 : (jit_type)p->def[v].type; }

static bool same_inst(const jit_inst *a, const jit_inst *b) {
  bool same = a->op == b->op && a->imm == b->imm && a->type == b->type && a->to == b->to && a->n_in == b->n_in;
  for (int i = 0; same && i < a->n_in; i++) same = a->in[i] == b->in[i];
  return same && a->fn == b->fn;
}

/* Adds an instruction with a result, or finds an equal one among the last. */
static jit_value add_inst(jit_program *p, jit_inst made) {
  bool steady = made.op != JIT_LOAD;
  for (int i = 0; i < made.n_in; i++) {
    if (made.in[i] < 0) p->failed = true;
    if (!p->failed) steady = steady && p->def[made.in[i]].steady;
  }
  if (p->failed) return -1;
  const jit_inst *list = steady ? p->before : p->inst;
  const int32_t n = steady ? p->n_before : p->n_insts;
  for (int32_t i = n - 1; made.op != JIT_LOAD && i >= 0 && i > n - 64; i--) {
    if (same_inst(&list[i], &made)) return list[i].out;
  }
  const bool has_space = steady ? jit_reserve(p, (void **)&p->before, n, &p->before_cap, sizeof made)
                                : jit_reserve(p, (void **)&p->inst, n, &p->insts_cap, sizeof made);
  made.out = has_space ? new_value(p, (jit_type)made.to, JIT_OF_INST, steady) : -1;
  if (made.out < 0) return -1;
  if (made.op == JIT_CALL || made.op == JIT_CALL_CAST) {
    made.slot = p->n_slots;
    p->n_slots += 2 * (made.n_in + 1);
    p->n_calls += !steady;
  }
  if (steady)
    p->before[p->n_before++] = made;
  else
    p->inst[p->n_insts++] = made;
  return made.out;
}

jit_value jit_unary(jit_program *p, jit_op op, jit_value a) {
  const jit_type type = jit_typeof(p, a);
  return add_inst(p, (jit_inst){.op = (uint8_t)op, .type = (uint8_t)type, .to = (uint8_t)type, .in = {a}, .n_in = 1});
}

jit_value jit_binary(jit_program *p, jit_op op, jit_value a, jit_value b) {
  const jit_type type = jit_typeof(p, a);
  damo_assert(p->failed || a < 0 || b < 0 || type == jit_typeof(p, b) || op == JIT_AND);
  return add_inst(p,
                  (jit_inst){.op = (uint8_t)op, .type = (uint8_t)type, .to = (uint8_t)type, .in = {a, b}, .n_in = 2});
}

jit_value jit_round(jit_program *p, jit_rounding how, jit_value a) {
  const uint8_t type = (uint8_t)jit_typeof(p, a);
  return add_inst(p, (jit_inst){.op = JIT_ROUND, .imm = (uint8_t)how, .type = type, .to = type, .in = {a}, .n_in = 1});
}

jit_value jit_compare(jit_program *p, jit_relation r, jit_value a, jit_value b) {
  const jit_type type = jit_typeof(p, a);
  return add_inst(p, (jit_inst){.op = jit_is_float(type) ? JIT_COMPARE : JIT_ICOMPARE,
                                .imm = (uint8_t)r,
                                .type = (uint8_t)type,
                                .to = JIT_BOOL,
                                .in = {a, b},
                                .n_in = 2});
}

jit_value jit_select(jit_program *p, jit_value condition, jit_value a, jit_value b) {
  const uint8_t type = (uint8_t)jit_typeof(p, a);
  return a == b
             ? a
             : add_inst(p, (jit_inst){.op = JIT_SELECT, .type = type, .to = type, .in = {condition, a, b}, .n_in = 3});
}

jit_value jit_not(jit_program *p, jit_value condition) {
  return jit_binary(p, JIT_XOR, condition, jit_const(p, JIT_BOOL, 1));
}

jit_value jit_convert(jit_program *p, jit_value a, jit_type to) {
  const jit_type from = jit_typeof(p, a);
  if (from == to || a < 0) return a;
  if (to == JIT_BOOL) return jit_compare(p, JIT_NE, a, jit_const(p, from, 0));
  if (p->is_lanes && from == JIT_I64 && to == JIT_F32) p->failed = true;
  const bool in_vectors = p->is_lanes || jit_is_float(to); /* with the mask */
  if (from == JIT_BOOL && in_vectors) {
    const jit_value one = jit_is_float(to) ? jit_const_float(p, to, 1) : jit_const(p, to, 1);
    if (p->is_lanes && p->is_wide != jit_is_long(to)) return jit_select(p, a, one, jit_const(p, to, 0));
    /* the mask takes the bits of 1 */
    return add_inst(p, (jit_inst){.op = JIT_AND, .type = (uint8_t)to, .to = (uint8_t)to, .in = {one, a}, .n_in = 2});
  }
  damo_assert(!jit_is_float(from) || jit_is_float(to));
  return add_inst(p, (jit_inst){.op = JIT_CONVERT, .type = (uint8_t)from, .to = (uint8_t)to, .in = {a}, .n_in = 1});
}

jit_value jit_load(jit_program *p, jit_type type, jit_value address) {
  return add_inst(p,
                  (jit_inst){.op = JIT_LOAD, .type = (uint8_t)type, .to = (uint8_t)type, .in = {address}, .n_in = 1});
}

void jit_store(jit_program *p, jit_value address, jit_value v) {
  if (address < 0 || v < 0) p->failed = true;
  if (!jit_reserve(p, (void **)&p->inst, p->n_insts, &p->insts_cap, sizeof *p->inst)) return;
  p->inst[p->n_insts++] = (jit_inst){.op = JIT_STORE, .type = p->def[v].type, .out = -1, .in = {address, v}, .n_in = 2};
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

/* What the kernel begins with from its operand k. */
static jit_value new_operand(jit_program *p, jit_type type, int k, bool is_first) {
  const jit_value v = jit_input(p, type);
  damo_assert(p->is_lanes);
  if (v < 0) return v;
  p->def[v].operand = (int16_t)k;
  p->def[v].is_first = is_first;
  return v;
}

jit_value jit_element(jit_program *p, jit_type type, int k) {
  return jit_load(p, type, new_operand(p, (jit_type)JIT_ADDRESS, k, false));
}

jit_value jit_first(jit_program *p, jit_type type, int k) {
  damo_assert(type != JIT_BOOL);
  return new_operand(p, type, k, true);
}

void jit_result(jit_program *p, int k, jit_value v) {
  jit_store(p, new_operand(p, (jit_type)JIT_ADDRESS, k, false), v);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static jit_value add_call(jit_program *p, jit_op op, void (*fn)(void), const jit_value *in, int n_in, jit_type to) {
  jit_inst made = {.op = (uint8_t)op, .to = (uint8_t)to, .n_in = n_in, .fn = fn};
  damo_assert(n_in <= JIT_MOST_ARGS);
  if (p->is_lanes) p->failed = true;
  for (int i = 0; i < n_in; i++) made.in[i] = in[i];
  return add_inst(p, made);
}

jit_value jit_call(jit_program *p, kernel_fn fn, const jit_value *in, int n_in, jit_type to) {
  return add_call(p, JIT_CALL, (void (*)(void))fn, in, n_in, to);
}

jit_value jit_call_cast(jit_program *p, void (*cast)(const void *from, void *to, int64_t n), jit_value a, jit_type to) {
  return add_call(p, JIT_CALL_CAST, (void (*)(void))cast, &a, 1, to);
}

void jit_stop_if(jit_program *p, jit_value condition) {
  if (condition < 0) p->failed = true;
  p->stop = condition;
  p->stop_slot = p->n_slots++;
}

int32_t jit_n_plain(const jit_program *p) { return p->n_insts - p->n_calls; }

/* ---- Dead values ------------------------------------------------------------------------------------------------- */

static int32_t leave_out(jit_inst *list, int32_t n, const uint8_t *live) {
  int32_t kept = 0;
  for (int32_t i = 0; i < n; i++) {
    if (list[i].out < 0 || live[list[i].out]) list[kept++] = list[i];
  }
  return kept;
}

static void mark_operands(const jit_inst *list, int32_t n, uint8_t *live) {
  for (int32_t i = n - 1; i >= 0; i--) {
    if (list[i].out >= 0 && !live[list[i].out]) continue;
    for (int k = 0; k < list[i].n_in; k++) live[list[i].in[k]] = 1;
  }
}

void jit_prune(jit_program *p, uint8_t *live) {
  memset(live, 0, (size_t)p->n_defs);
  for (jit_value v = 0; v < p->n_defs; v++) {
    if (p->def[v].next >= 0) live[p->def[v].next] = 1; /* what is carried is a result */
  }
  if (p->stop >= 0) live[p->stop] = 1;
  mark_operands(p->inst, p->n_insts, live);
  mark_operands(p->before, p->n_before, live);
  p->n_insts = leave_out(p->inst, p->n_insts, live);
  p->n_before = leave_out(p->before, p->n_before, live);
  p->n_calls = 0;
  for (int32_t i = 0; i < p->n_insts; i++) p->n_calls += jit_is_call(&p->inst[i]);
}
