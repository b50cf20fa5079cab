/* jit_test: scalar programs as machine code (src/jit) against an interpreter of them, on random programs: small ones,
 * ones with more values than registers, with calls of kernels, stops, loads and stores; the pages of code, and
 * refusals. */
#include <stdlib.h>
#include <unistd.h>

#include "jit/jit.h"
#include "kernel/kernel.h"
#include "test.h"

static uint64_t seed = 7;
static uint32_t random_bits(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}
static int random_below(int n) { return (int)(random_bits() % (uint32_t)n); }

/* ---- The reference ----------------------------------------------------------------------------------------------- */

static void twice_plus(void *const *args, int64_t n) { /* kernels of ours, to be called */
  const double *a = args[0], *b = args[1];
  double *out = args[2];
  for (int64_t i = 0; i < n; i++) out[i] = 2 * a[i] + b[i];
}

static void is_below(void *const *args, int64_t n) {
  const float *a = args[0], *b = args[1];
  uint8_t *out = args[2];
  for (int64_t i = 0; i < n; i++) out[i] = a[i] < b[i];
}

static void pick(void *const *args, int64_t n) {
  const uint8_t *c = args[0];
  const int32_t *a = args[1], *b = args[2];
  int32_t *out = args[3];
  for (int64_t i = 0; i < n; i++) out[i] = c[i] ? a[i] : b[i];
}

static bool related(jit_relation r, double a, double b) {
  switch (r) {
    case JIT_EQ: return a == b;
    case JIT_NE: return a != b;
    case JIT_LT: return a < b;
    case JIT_LE: return a <= b;
    case JIT_GT: return a > b;
    case JIT_GE: return a >= b;
    case JIT_UNORDERED: return a != a || b != b;
  }
  return false;
}

static bool related_ints(jit_relation r, int64_t a, int64_t b) {
  return r == JIT_EQ   ? a == b
         : r == JIT_NE ? a != b
         : r == JIT_LT ? a < b
         : r == JIT_LE ? a <= b
         : r == JIT_GT ? a > b
                       : a >= b;
}

#define FLOAT_CASES(T, field, fn)                                                    \
  switch ((int)i->op) {                                                              \
    case JIT_ADD: return (jit_slot){.field = a.field + b.field};                     \
    case JIT_SUB: return (jit_slot){.field = a.field - b.field};                     \
    case JIT_MUL: return (jit_slot){.field = a.field * b.field};                     \
    case JIT_DIV: return (jit_slot){.field = a.field / b.field};                     \
    case JIT_MIN: return (jit_slot){.field = a.field < b.field ? a.field : b.field}; \
    case JIT_MAX: return (jit_slot){.field = a.field > b.field ? a.field : b.field}; \
    case JIT_SQRT: return (jit_slot){.field = sqrt##fn(a.field)};                    \
    case JIT_ROUND:                                                                  \
      return (jit_slot){.field = i->imm == JIT_NEAREST_EVEN ? rint##fn(a.field)      \
                                 : i->imm == JIT_DOWN       ? floor##fn(a.field)     \
                                 : i->imm == JIT_UP         ? ceil##fn(a.field)      \
                                                            : trunc##fn(a.field)};           \
    default: break;                                                                  \
  }

static jit_slot truth(bool holds) { return (jit_slot){.bits = holds ? UINT64_MAX : 0}; }

static jit_slot convert(const jit_inst *i, jit_slot a) {
  const double x = i->type == JIT_F64 ? a.f64 : i->type == JIT_F32 ? (double)a.f32 : 0;
  const int64_t k = i->type == JIT_I64 ? a.i64 : i->type == JIT_I32 ? a.i32 : (int64_t)(a.bits & 1);
  jit_slot r = {.bits = 0};
  const bool is_float = i->type == JIT_F64 || i->type == JIT_F32;
  if (i->to == JIT_F64) r.f64 = is_float ? x : (double)k;
  if (i->to == JIT_F32) r.f32 = is_float ? (float)x : (float)k;
  if (i->to == JIT_I64) r.i64 = k;
  if (i->to == JIT_I32) r.i32 = (int32_t)(uint64_t)k;
  return r;
}

static size_t size_of(int type) { return type == JIT_BOOL ? 1 : type == JIT_F64 || type == JIT_I64 ? 8 : 4; }

static jit_slot call(const jit_inst *i, const jit_slot *in) {
  jit_slot operand[4] = {{.bits = 0}}, out = {.bits = 0};
  for (int k = 0; k < i->n_in; k++) {
    operand[k] = in[k];
    if (in[k].bits == UINT64_MAX || in[k].bits == 0)
      operand[k].bits &= i->fn == (void (*)(void))pick && k == 0 ? 1 : UINT64_MAX;
  }
  if (i->op == JIT_CALL) {
    void *args[4];
    for (int k = 0; k < i->n_in; k++) args[k] = &operand[k];
    args[i->n_in] = &out;
    ((kernel_fn)i->fn)(args, 1);
  } else {
    ((cast_fn)i->fn)(operand, &out, 1);
  }
  return i->to == JIT_BOOL ? truth((out.bits & 255) != 0) : out;
}

static jit_slot evaluate(const jit_inst *i, const jit_slot *value) {
  jit_slot in[JIT_MOST_ARGS] = {{.bits = 0}};
  for (int k = 0; k < i->n_in; k++) in[k] = value[i->in[k]];
  const jit_slot a = in[0], b = in[1];
  if (i->op == JIT_CALL || i->op == JIT_CALL_CAST) return call(i, in);
  if (i->op == JIT_COMPARE)
    return i->type == JIT_F64 ? truth(related(i->imm, a.f64, b.f64)) : truth(related(i->imm, a.f32, b.f32));
  if (i->op == JIT_ICOMPARE)
    return i->type == JIT_I64 ? truth(related_ints(i->imm, a.i64, b.i64)) : truth(related_ints(i->imm, a.i32, b.i32));
  if (i->op == JIT_SELECT) return a.bits != 0 ? b : in[2];
  if (i->op == JIT_CONVERT) return convert(i, a);
  if (i->op == JIT_AND) return (jit_slot){.bits = a.bits & b.bits};
  if (i->op == JIT_OR) return (jit_slot){.bits = a.bits | b.bits};
  if (i->op == JIT_XOR) return (jit_slot){.bits = a.bits ^ b.bits};
  if (i->op == JIT_LOAD) {
    jit_slot r = {.bits = 0};
    memcpy(&r, a.address, size_of(i->type));
    return i->type == JIT_BOOL ? truth(r.bits != 0) : r;
  }
  if (i->type == JIT_F64) {
    FLOAT_CASES(double, f64, )
  } else if (i->type == JIT_F32) {
    FLOAT_CASES(float, f32, f)
  }
  const uint64_t x = a.bits, y = b.bits;
  const uint64_t r = i->op == JIT_IADD   ? x + y
                     : i->op == JIT_ISUB ? x - y
                     : i->op == JIT_IMUL ? x * y
                     : i->op == JIT_IAND ? (x & y)
                     : i->op == JIT_IOR  ? (x | y)
                                         : (x ^ y);
  return (jit_slot){.bits = i->type == JIT_I32 ? (uint32_t)r : r};
}

/* Runs the program as jit_run does, with `frame` by the slots of inputs and carried values. Returns the steps left. */
static int64_t interpret(const jit_program *p, jit_slot *frame, int64_t steps, bool *stopped) {
  jit_slot *value = calloc((size_t)p->n_defs + 1, sizeof *value), *next = calloc((size_t)p->n_defs + 1, sizeof *next);
  for (jit_value v = 0; v < p->n_defs; v++) {
    if (p->def[v].source == JIT_OF_CONST) value[v].bits = p->def[v].bits;
    if (p->def[v].source == JIT_OF_SLOT || p->def[v].source == JIT_CARRIED) value[v] = frame[p->def[v].slot];
  }
  for (int32_t i = 0; i < p->n_before; i++) value[p->before[i].out] = evaluate(&p->before[i], value);
  *stopped = false;
  while (steps > 0 && !*stopped) {
    for (int32_t i = 0; i < p->n_insts; i++) {
      const jit_inst *at = &p->inst[i];
      if (at->op == JIT_STORE) {
        jit_slot v = value[at->in[1]];
        if (at->type == JIT_BOOL) v.bits &= 1;
        memcpy(value[at->in[0]].address, &v, size_of(at->type));
      } else {
        value[at->out] = evaluate(at, value);
      }
    }
    *stopped = p->stop >= 0 && value[p->stop].bits != 0;
    for (jit_value v = 0; v < p->n_defs; v++) next[v] = p->def[v].next >= 0 ? value[p->def[v].next] : value[v];
    memcpy(value, next, (size_t)p->n_defs * sizeof *value);
    steps--;
  }
  for (jit_value v = 0; v < p->n_defs; v++) {
    if (p->def[v].source == JIT_CARRIED) frame[p->def[v].slot] = value[v];
  }
  free(value);
  free(next);
  return steps;
}

/* ---- Random programs --------------------------------------------------------------------------------------------- */

#define MOST_VALUES 400

/* Values of each type, to choose from. */
typedef struct pool {
  jit_value at[JIT_N_TYPES][MOST_VALUES];
  int n[JIT_N_TYPES];
} pool;

static void pool_add(pool *l, jit_program *p, jit_value v) {
  const jit_type type = jit_typeof(p, v);
  if (v >= 0 && l->n[type] < MOST_VALUES) l->at[type][l->n[type]++] = v;
}
/* Mostly a late one, so that many values live long, but not all. */
static jit_value any_of(const pool *l, jit_type type) {
  const int n = l->n[type];
  return l->at[type][random_below(3) == 0 && n > 6 ? n - 1 - random_below(6) : random_below(n)];
}

static jit_slot random_value(jit_type type) {
  static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, 1e300, 1e-310, 2.5, -3.5};
  const double x = random_below(3) == 0 ? special[random_below(12)] : (double)random_bits() / 1e9 - 1;
  const int64_t k =
      random_below(3) == 0 ? (int64_t)((uint64_t)random_bits() << 33 | random_bits()) : random_below(9) - 4;
  jit_slot s = {.bits = 0};
  if (type == JIT_F64) s.f64 = x;
  if (type == JIT_F32) s.f32 = (float)x;
  if (type == JIT_I64) s.i64 = k;
  if (type == JIT_I32) s.i32 = (int32_t)(uint64_t)k;
  if (type == JIT_BOOL) s = truth(k & 1);
  return s;
}

static jit_value random_float_op(jit_program *p, const pool *l, jit_type type) {
  const jit_value a = any_of(l, type), b = any_of(l, type);
  switch (random_below(10)) {
    case 0: return jit_binary(p, JIT_SUB, a, b);
    case 1: return jit_binary(p, JIT_MUL, a, b);
    case 2: return jit_binary(p, JIT_DIV, a, b);
    case 3: return jit_binary(p, random_below(2) ? JIT_MIN : JIT_MAX, a, b);
    case 4: return jit_unary(p, JIT_SQRT, a);
    case 5: return jit_round(p, (jit_rounding)random_below(4), a);
    case 6: return jit_select(p, any_of(l, JIT_BOOL), a, b);
    case 7: return jit_convert(p, any_of(l, (jit_type)random_below(JIT_N_TYPES)), type);
    case 8: /* bits, of which a nan has only those that it shows */
      return jit_binary(p, JIT_AND, a, jit_const(p, type, type == JIT_F64 ? INT64_MAX : INT32_MAX));
    default: return jit_binary(p, JIT_ADD, a, b);
  }
}

static jit_value random_int_op(jit_program *p, const pool *l, jit_type type) {
  const jit_value a = any_of(l, type), b = any_of(l, type);
  const int k = random_below(9);
  if (k < 6) return jit_binary(p, (jit_op)(JIT_IADD + k), a, b);
  if (k == 6) return jit_select(p, any_of(l, JIT_BOOL), a, b);
  const jit_type from[] = {JIT_I64, JIT_I32, JIT_BOOL};
  return jit_convert(p, any_of(l, from[random_below(3)]), type);
}

static jit_value random_call(jit_program *p, const pool *l) {
  jit_value in[3];
  switch (random_below(4)) {
    case 0: in[0] = any_of(l, JIT_F64), in[1] = any_of(l, JIT_F64); return jit_call(p, twice_plus, in, 2, JIT_F64);
    case 1: in[0] = any_of(l, JIT_F32), in[1] = any_of(l, JIT_F32); return jit_call(p, is_below, in, 2, JIT_BOOL);
    case 2:
      in[0] = any_of(l, JIT_BOOL), in[1] = any_of(l, JIT_I32), in[2] = any_of(l, JIT_I32);
      return jit_call(p, pick, in, 3, JIT_I32);
    default: return jit_call_cast(p, kernel_cast(DAMO_INT64, DAMO_FLOAT64), any_of(l, JIT_I64), JIT_F64);
  }
}

static jit_value random_op(jit_program *p, const pool *l, bool calls) {
  const int k = random_below(12);
  if (calls && k == 0) return random_call(p, l);
  if (k < 6) return random_float_op(p, l, k < 4 ? JIT_F64 : JIT_F32);
  if (k < 9) return random_int_op(p, l, k < 8 ? JIT_I64 : JIT_I32);
  if (k == 9) return jit_binary(p, (jit_op)(JIT_AND + random_below(3)), any_of(l, JIT_BOOL), any_of(l, JIT_BOOL));
  const jit_type type = (jit_type)random_below(JIT_BOOL);
  const int n = type == JIT_F64 || type == JIT_F32 ? 7 : 6;
  return jit_compare(p, (jit_relation)random_below(n), any_of(l, type), any_of(l, type));
}

#define STEPS 37
#define ROW 64

typedef struct random_case {
  jit_program p;
  jit_value from, to; /* addresses, carried, and the steps between rows */
  jit_value row;
  char read[STEPS * ROW], written[STEPS * ROW];
} random_case;

static void make_case(random_case *c, damo_ctx *ctx, int n_ops, int n_carried, bool calls, bool stops) {
  pool l = {.n = {0}};
  jit_program *p = &c->p;
  jit_begin(p, ctx);
  jit_value carried[MOST_VALUES];
  for (int t = 0; t < JIT_N_TYPES; t++) {
    const jit_slot s = random_value((jit_type)t);
    pool_add(&l, p, jit_const(p, (jit_type)t, t == JIT_F32 || t == JIT_I32 ? (uint32_t)s.bits : s.bits));
    for (int k = 0; k < 2; k++) pool_add(&l, p, jit_input(p, (jit_type)t));
  }
  for (int k = 0; k < n_carried; k++)
    pool_add(&l, p, carried[k] = jit_carried(p, (jit_type)(k < 2 ? JIT_F64 : random_below(JIT_N_TYPES))));
  c->from = jit_carried(p, JIT_I64);
  c->to = jit_carried(p, JIT_I64);
  c->row = jit_input(p, JIT_I64);
  for (int t = 0; t < JIT_N_TYPES; t++)
    pool_add(&l, p, jit_load(p, (jit_type)t, jit_binary(p, JIT_IADD, c->from, jit_const(p, JIT_I64, (uint64_t)t * 8))));
  for (int k = 0; k < n_ops; k++) pool_add(&l, p, random_op(p, &l, calls));
  for (int t = 0; t < JIT_N_TYPES; t++)
    jit_store(p, jit_binary(p, JIT_IADD, c->to, jit_const(p, JIT_I64, (uint64_t)t * 8)), any_of(&l, (jit_type)t));
  for (int k = 0; k < n_carried; k++) jit_carry(p, carried[k], any_of(&l, jit_typeof(p, carried[k])));
  jit_carry(p, c->from, jit_binary(p, JIT_IADD, c->from, c->row));
  jit_carry(p, c->to, jit_binary(p, JIT_IADD, c->to, c->row));
  if (stops) jit_stop_if(p, any_of(&l, JIT_BOOL));
}

static bool same_value(int type, jit_slot a, jit_slot b) {
  if (type == JIT_F64) return a.bits == b.bits || (isnan(a.f64) && isnan(b.f64));
  if (type == JIT_F32) return a.i32 == b.i32 || (isnan(a.f32) && isnan(b.f32));
  return type == JIT_I32 ? a.i32 == b.i32 : a.bits == b.bits;
}

static bool same_written(const char *a, const char *b) {
  for (int k = 0; k < STEPS; k++) {
    for (int t = 0; t < JIT_N_TYPES; t++) {
      jit_slot x = {.bits = 0}, y = {.bits = 0};
      memcpy(&x, a + k * ROW + t * 8, size_of(t));
      memcpy(&y, b + k * ROW + t * 8, size_of(t));
      if (!same_value(t, x, y)) return false;
    }
  }
  return true;
}

/* Runs the case by the interpreter and as code, the code in two calls. */
static void check_case(damo_ctx *ctx, int n_ops, int n_carried, bool calls, bool stops) {
  static random_case c;
  static char written[STEPS * ROW];
  make_case(&c, ctx, n_ops, n_carried, calls, stops);
  jit_program *p = &c.p;
  const int32_t n_slots = p->n_slots;
  jit_slot *first = calloc((size_t)n_slots + 1, sizeof *first), *last = calloc((size_t)n_slots + 1, sizeof *last);
  for (size_t i = 0; i < sizeof c.read / 8; i++) {
    const jit_slot s = random_value((jit_type)(i % 8 < JIT_BOOL ? i % 8 : JIT_I64));
    memcpy(c.read + 8 * i, &s, 8);
    if (i % 8 == JIT_BOOL) c.read[8 * i] &= 1;
  }
  for (jit_value v = 0; v < p->n_defs; v++) {
    if (p->def[v].source == JIT_OF_SLOT || p->def[v].source == JIT_CARRIED)
      first[p->def[v].slot] = random_value((jit_type)p->def[v].type);
  }
  first[jit_home(p, c.from)].address = c.read;
  first[jit_home(p, c.to)].address = c.written;
  first[jit_home(p, c.row)].i64 = ROW;
  memcpy(last, first, (size_t)n_slots * sizeof *last);
  memset(c.written, 0, sizeof c.written);
  bool stopped;
  int64_t left = interpret(p, last, STEPS, &stopped);
  memcpy(written, c.written, sizeof written);
  memset(c.written, 0, sizeof c.written);

  jit_code *code = jit_compile(p);
  if (CHECK(code != NULL)) {
    jit_slot *frame = aligned_alloc(64, ((size_t)jit_n_slots(code) * sizeof *frame + 127) / 64 * 64);
    jit_frame_init(code, frame);
    for (jit_value v = 0; v < p->n_defs; v++) {
      if (p->def[v].source == JIT_OF_SLOT || p->def[v].source == JIT_CARRIED)
        frame[p->def[v].slot] = first[p->def[v].slot];
    }
    int64_t code_left = jit_run(code, frame, 5);
    if (code_left == 0 && !jit_stopped(code, frame))
      code_left = jit_run(code, frame, STEPS - 5);
    else
      code_left += STEPS - 5;
    bool same = code_left == left && jit_stopped(code, frame) == stopped && same_written(written, c.written);
    for (jit_value v = 0; v < p->n_defs; v++) {
      if (p->def[v].source != JIT_CARRIED) continue;
      same = same && same_value(p->def[v].type, frame[p->def[v].slot], last[p->def[v].slot]);
    }
    if (!CHECK(same))
      fprintf(stderr, "    %d operations, %d carried, calls %d, stops %d\n", n_ops, n_carried, calls, stops);
    free(frame);
  }
  jit_code_free(code);
  jit_end(p);
  free(first);
  free(last);
}

static void test_random_programs(damo_ctx *ctx) {
  for (int k = 0; k < 2000 && test_failed < 5; k++)
    check_case(ctx, k < 200 ? 1 + k / 20 : 1 + random_below(90), 2 + random_below(k % 4 == 0 ? 30 : 6), k % 3 == 0,
               k % 5 == 0);
  for (int k = 0; k < 20 && test_failed < 5; k++) check_case(ctx, 1500, 40, k % 2 == 0, false);
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

static jit_code *small_code(damo_ctx *ctx, double add, int n_more, int32_t *slot) {
  jit_program p;
  jit_begin(&p, ctx);
  const jit_value x = jit_carried(&p, JIT_F64);
  jit_value y = jit_binary(&p, JIT_ADD, x, jit_const_float(&p, JIT_F64, add));
  for (int k = 0; k < n_more; k++) y = jit_binary(&p, JIT_MAX, y, jit_binary(&p, JIT_SUB, y, x));
  jit_carry(&p, x, y);
  *slot = jit_home(&p, x);
  jit_code *c = jit_compile(&p);
  jit_end(&p);
  return c;
}

static void test_pages(damo_ctx *ctx) {
  enum { N = 50 };
  jit_code *code[N];
  int32_t slot[N];
  const size_t before = jit_pages_bytes(ctx);
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < N; k++) CHECK((code[k] = small_code(ctx, k, k == 7 ? 4000 : 0, &slot[k])) != NULL);
    CHECK(jit_pages_bytes(ctx) > before);
    for (int k = 0; k < N; k++) {
      jit_slot frame[64];
      if (code[k] == NULL || jit_n_slots(code[k]) > 64) continue;
      jit_frame_init(code[k], frame);
      frame[slot[k]].f64 = 0.5;
      CHECK_EQ_I(jit_run(code[k], frame, 3), 0);
      CHECK_NEAR(frame[slot[k]].f64, 0.5 + 3 * k, 0);
    }
    for (int k = round; k < N + round; k++) jit_code_free(code[k % N]); /* in some other order than made */
    CHECK_EQ_I(jit_pages_bytes(ctx), before);
  }
}

/* No page of the process is writable and executable. */
static void test_write_or_execute(damo_ctx *ctx) {
  int32_t slot;
  jit_code *c = small_code(ctx, 1, 0, &slot);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  bool both = false, none = true;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    both = both || strstr(line, " rwx") != NULL;
    none = false;
  }
  if (maps != NULL) fclose(maps);
  CHECK(none || !both);
  jit_code_free(c);
}

static void test_too_large(damo_ctx *ctx) {
  int32_t slot;
  CHECK(small_code(ctx, 1, 20000, &slot) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
}

static void test_memory(damo_ctx *ctx) { /* each allocation fails once: no code, no error, nothing left */
  const size_t bytes = ctx->bytes;
  int32_t slot;
  for (int64_t k = 0; k < 100; k++) {
    ctx->fail_after = k;
    jit_code *c = small_code(ctx, 1, 3, &slot);
    const bool done = ctx->fail_after >= 0;
    ctx->fail_after = -1;
    CHECK(c != NULL || damo_error_status(ctx) == DAMO_OK);
    CHECK((c != NULL) == done);
    jit_code_free(c);
    CHECK_EQ_I(ctx->bytes, bytes);
    if (done) return;
  }
  CHECK(false);
}

static void test_refusal(void) {
  setenv("DAMO_JIT", "0", 1);
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  int32_t slot;
  if (jit_isa_name() != NULL) CHECK_EQ_S(jit_refusal(ctx), "DAMO_JIT=0 in the environment");
  CHECK(jit_refusal(ctx) != NULL);
  CHECK(small_code(ctx, 1, 0, &slot) == NULL);
  damo_ctx_release(ctx);
  unsetenv("DAMO_JIT");
}

static void test_perf_map(void) {
  setenv("DAMO_PERF_MAP", "1", 1);
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  char path[64], line[128] = "";
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  int32_t slot;
  jit_code *c = small_code(ctx, 1, 0, &slot);
  FILE *names = fopen(path, "r");
  CHECK((names != NULL) == (c != NULL));
  if (names != NULL) CHECK(fgets(line, sizeof line, names) != NULL && strstr(line, " damo:code\n") != NULL);
  if (names != NULL) fclose(names);
  remove(path);
  jit_code_free(c);
  damo_ctx_release(ctx);
  unsetenv("DAMO_PERF_MAP");
}

int main(void) {
  test_refusal();
  test_perf_map();
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  if (jit_refusal(ctx) == NULL) {
    test_random_programs(ctx);
    test_pages(ctx);
    test_write_or_execute(ctx);
    test_too_large(ctx);
    test_memory(ctx);
  }
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
