/* scan_jit.c: a Scan of 0-d values as one call of machine code.
 *
 * The steps of a Scan whose inner Function consists of elementwise nodes over 0-d values are a scalar program
 * (jit/jit.h) with one loop: sequences are read through addresses that move by their strides, the past of a state is
 * carried from step to step, stacked values are stored through addresses too. The code runs a share of the steps at a
 * time: until the loop has to look whether it was interrupted, or a stack is full, or goes on elsewhere.
 */
#include <string.h>

#include "jit/jit.h"
#include "op/elem/elem_jit.h"
#include "scan_int.h"

#define NO_SLOT (-1)

/* Where the frame of the code has what belongs to a part. */
typedef struct native_part {
  int32_t *value;   /* sequence: the address of each tap; state: its past, newest first; fixed: the value */
  int32_t stride;   /* sequence: the stride of its rows */
  int32_t row, to;  /* the address of the stack's row, and how it moves */
  int32_t last;     /* collected: the last value */
  jit_value newest; /* state, while code is made: the value before the step */
  char *base;       /* of the stack, in a run */
  damo_array *own;  /* the stack while its length is unknown, owned */
  int64_t cap;
} native_part;

struct scan_native {
  jit_code *code;
  jit_slot *frame;
  size_t frame_bytes, bytes;
  int32_t nowhere; /* a slot for rows that are not kept */
  int64_t share;   /* steps of the first share: about a quarter of POLL_NS */
  native_part part[];
};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

typedef struct native_maker {
  const scan_class *s;
  const fn_program *program;
  scan_native *native;
  jit_program p;
  jit_value *value; /* per cell, -1: none; then space for the operands and results of one node */
  bool branches;    /* the step has some */
} native_maker;

/* The type of a 0-d tensor; JIT_N_TYPES: it is something else. */
static jit_type native_type(const damo_type *t) {
  return t->kind == TYPE_TENSOR && t->ndim == 0 ? jit_type_of(t->dtype) : JIT_N_TYPES;
}

/* Elements have 8, 4 or 1 bytes. */
static jit_slot native_read(const void *at, damo_dtype dtype) {
  const size_t size = dtype_size(dtype);
  jit_slot x = {.bits = 0};
  if (size == 8)
    memcpy(&x, at, 8);
  else if (size == 4)
    memcpy(&x, at, 4);
  else
    x.bits = *(const char *)at != 0 ? UINT64_MAX : 0;
  return x;
}

static void native_write(void *at, damo_dtype dtype, jit_slot x) {
  const size_t size = dtype_size(dtype);
  if (size == 8)
    memcpy(at, &x, 8);
  else if (size == 4)
    memcpy(at, &x, 4);
  else
    *(char *)at = x.bits != 0;
}

static bool all_native(const scan_class *s, const fn_program *program) {
  const vm_program *vm = &program->vm;
  bool all = !vm->by_demand;
  for (int i = 0; i < s->n_in; i++) all = all && native_type(scan_inner_in(s, i)->type) != JIT_N_TYPES;
  for (int64_t o = 0; o < s->fgraph->outputs.n; o++)
    all = all && native_type(scan_inner_out(s, (int)o)->type) != JIT_N_TYPES;
  return all;
}

static void native_set(native_maker *m, int inner, jit_value v) {
  const int32_t c = m->program->inputs[inner].cell;
  if (c >= 0) m->value[c] = v;
}

static void native_sequence(native_maker *m, const scan_part *part, native_part *n, jit_type type) {
  jit_program *p = &m->p;
  const jit_value stride = jit_input(p, JIT_I64);
  n->stride = jit_home(p, stride);
  for (int k = 0; k < part->n; k++) {
    n->value[k] = NO_SLOT;
    if (m->program->inputs[part->first + k].cell < 0) continue;
    const jit_value at = jit_carried(p, JIT_I64);
    n->value[k] = jit_home(p, at);
    native_set(m, part->first + k, jit_load(p, type, at));
    jit_carry(p, at, jit_binary(p, JIT_IADD, at, stride));
  }
}

/* What is k + 1 steps old becomes k + 2 steps old; native_outputs carries on the newest. */
static void native_state(native_maker *m, const scan_part *part, native_part *n, jit_type type) {
  jit_program *p = &m->p;
  jit_value newer = -1;
  for (int k = 0; k < part->span; k++) {
    const jit_value past = jit_carried(p, type);
    n->value[k] = jit_home(p, past);
    for (int i = part->first; i < part->first + part->n; i++) {
      if (m->s->tap[i] == -1 - k) native_set(m, i, past);
    }
    if (k == 0)
      n->newest = past;
    else
      jit_carry(p, past, newer);
    newer = past;
  }
}

static void native_inputs(native_maker *m) {
  const scan_class *s = m->s;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    const scan_part *part = &s->part[i];
    native_part *n = &m->native->part[i];
    const jit_type type = native_type(scan_inner_in(s, part->first)->type);
    if (part->role == SCAN_SEQUENCE) {
      native_sequence(m, part, n, type);
    } else if (part->role == SCAN_STATE) {
      native_state(m, part, n, type);
    } else {
      const jit_value x = jit_input(&m->p, type);
      n->value[0] = jit_home(&m->p, x);
      native_set(m, part->first, x);
    }
  }
}

static void native_constants(native_maker *m) {
  for (int64_t i = 0; i < m->program->vm.n_constants; i++) {
    const vm_constant *c = &m->program->vm.constants[i];
    const damo_array *a = (const damo_array *)c->value;
    if (c->value->kind == OBJ_ARRAY && a->ndim == 0) m->value[c->slot] = elem_jit_const(&m->p, a);
  }
}

/* Most calls of kernels in a step with branches. */
#define BRANCHES_MOST_CALLS 8

/* Both branches are computed, since an elementwise op can't fail, and one is chosen. */
static bool native_ifelse(native_maker *m, const damo_apply *node, const jit_value *in, jit_value *out) {
  const jit_value condition = jit_convert(&m->p, in[0], JIT_BOOL);
  for (int o = 0; o < node->n_out; o++) {
    const jit_value x = in[1 + o], y = in[1 + node->n_out + o];
    if (jit_typeof(&m->p, x) != jit_typeof(&m->p, y)) return false;
    out[o] = jit_select(&m->p, condition, x, y);
  }
  m->branches = true;
  return true;
}

static bool native_node(native_maker *m, const thunk *t) {
  jit_value *in = m->value + m->program->vm.n_cells, *out = in + t->n_in;
  for (int i = 0; i < t->n_in; i++) {
    in[i] = m->value[t->in[i]];
    if (in[i] < 0) return false;
  }
  if (t->node->op->def == &ifelse_def ? !native_ifelse(m, t->node, in, out) : !elem_jit_node(&m->p, t->node, in, out))
    return false;
  for (int o = 0; o < t->n_out; o++) m->value[t->out[o]] = out[o];
  return true;
}

static jit_value value_of_out(const native_maker *m, int out) { return m->value[m->program->outputs[out].cell]; }

static void native_outputs(native_maker *m) {
  const scan_class *s = m->s;
  jit_program *p = &m->p;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *part = &s->part[i];
    native_part *n = &m->native->part[i];
    if (part->out < 0) continue;
    const jit_value v = value_of_out(m, part->out);
    if (part->role == SCAN_STATE) jit_carry(p, n->newest, v);
    if (part->stack >= 0) {
      const jit_value row = jit_carried(p, JIT_I64), to = jit_input(p, JIT_I64);
      n->row = jit_home(p, row);
      n->to = jit_home(p, to);
      jit_store(p, row, v);
      jit_carry(p, row, jit_binary(p, JIT_IADD, row, to));
    }
    if (part->role == SCAN_COLLECT && part->last >= 0) {
      const jit_value last = jit_carried(p, jit_typeof(p, v));
      n->last = jit_home(p, last);
      jit_carry(p, last, v);
    }
  }
  if (s->until) jit_stop_if(p, jit_convert(p, value_of_out(m, (int)s->fgraph->outputs.n - 1), JIT_BOOL));
}

static bool native_program(native_maker *m) {
  const vm_program *vm = &m->program->vm;
  for (int64_t c = 0; c < vm->n_cells; c++) m->value[c] = -1;
  native_constants(m);
  native_inputs(m);
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    if (!native_node(m, vm->thunks[k])) return false;
  }
  for (int64_t o = 0; o < m->program->n_outputs; o++) {
    if (value_of_out(m, (int)o) < 0) return false;
  }
  if (m->branches && m->p.n_calls > BRANCHES_MOST_CALLS) return false;
  native_outputs(m);
  m->native->nowhere = jit_home(&m->p, jit_input(&m->p, JIT_I64));
  return true;
}

/* How many slots native_part.value has. */
static int32_t native_slots_of(const scan_part *p) {
  return p->role == SCAN_STATE ? p->span : p->role == SCAN_COLLECT ? 0 : p->n;
}

static scan_native *native_alloc(const scan_class *s, damo_ctx *ctx) {
  const size_t parts = (size_t)s->n_parts * sizeof(native_part);
  size_t n_values = 0;
  for (int i = 0; i < s->n_parts; i++) n_values += (size_t)native_slots_of(&s->part[i]);
  const size_t bytes = sizeof(scan_native) + parts + n_values * sizeof(int32_t);
  scan_native *n = mem_calloc(ctx, bytes);
  if (n == NULL) return NULL;
  n->bytes = bytes;
  int32_t *value = (int32_t *)(void *)((char *)n->part + parts);
  for (int i = 0; i < s->n_parts; i++) {
    n->part[i].value = value;
    value += native_slots_of(&s->part[i]);
  }
  return n;
}

void scan_native_free(scan_native *n, damo_ctx *ctx) {
  if (n == NULL) return;
  jit_code_free(n->code);
  if (n->frame != NULL) mem_free(ctx, n->frame, n->frame_bytes);
  mem_free(ctx, n, n->bytes);
}

static int64_t native_operands(const vm_program *vm) {
  int64_t most = 0;
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    const int64_t n = vm->thunks[k]->n_in + vm->thunks[k]->n_out;
    if (n > most) most = n;
  }
  return most;
}

scan_native *scan_native_new(const scan_class *s, const damo_function *inner) {
  damo_ctx *ctx = inner->obj.ctx;
  const fn_program *program = inner->program;
  if (jit_refusal(ctx) != NULL || !all_native(s, program)) return NULL;
  native_maker m = {.s = s, .program = program, .native = native_alloc(s, ctx)};
  const size_t bytes = (size_t)(program->vm.n_cells + native_operands(&program->vm)) * sizeof *m.value;
  m.value = m.native != NULL ? mem_alloc(ctx, bytes) : NULL;
  if (m.value != NULL) {
    jit_begin(&m.p, ctx);
    m.p.name = s->name != NULL ? s->name : s->def.name;
    if (native_program(&m)) m.native->code = jit_compile(&m.p);
    jit_end(&m.p);
    mem_free(ctx, m.value, bytes);
  }
  if (m.native != NULL && m.native->code != NULL) {
    m.native->frame_bytes = (size_t)jit_n_slots(m.native->code) * sizeof(jit_slot);
    m.native->frame = mem_alloc(ctx, m.native->frame_bytes);
  }
  if (m.native == NULL || m.value == NULL || (m.native->code != NULL && m.native->frame == NULL)) ctx_clear_error(ctx);
  if (m.native != NULL && m.native->frame != NULL) {
    jit_frame_init(m.native->code, m.native->frame);
    m.native->share = 1 + POLL_NS / 4 / jit_step_ns(m.native->code);
    return m.native;
  }
  scan_native_free(m.native, ctx);
  return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static damo_dtype out_dtype(const scan_class *s, const scan_part *p) { return scan_inner_out(s, p->out)->type->dtype; }

static void native_load(const thunk *t, const frame *f, const scan_class *s, scan_native *n) {
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    const scan_part *p = &s->part[i];
    const native_part *at = &n->part[i];
    const damo_array *a = thunk_in(t, f, scan_in(s, p));
    if (p->role == SCAN_SEQUENCE) {
      const int64_t stride = array_strides(a)[0];
      n->frame[at->stride].i64 = stride;
      for (int k = 0; k < p->n; k++) {
        if (at->value[k] == NO_SLOT) continue;
        n->frame[at->value[k]].address = a->data + (p->before + s->tap[p->first + k]) * stride;
      }
    } else if (p->role == SCAN_FIXED) {
      n->frame[at->value[0]] = native_read(a->data, array_dtype(a));
    } else {
      for (int k = 0; k < p->span; k++) {
        const char *row = p->bare ? a->data : a->data + (p->span - 1 - k) * array_strides(a)[0];
        n->frame[at->value[k]] = native_read(row, array_dtype(a));
      }
    }
  }
}

/* Space for the rows of the stack, `rows` of them or as many as fit before it grows. */
static damo_status begin_stack(const thunk *t, frame *f, const scan_class *s, const scan_part *p, native_part *at,
                               int64_t n) {
  const damo_dtype dtype = out_dtype(s, p);
  at->cap = p->tail > 0 && n > p->tail ? p->tail : n;
  if (s->until && p->tail <= 0 && at->cap > 64) at->cap = 64;
  damo_array *a = s->until ? array_empty(f->ctx, dtype, 1, &at->cap) : thunk_out(t, f, p->stack, dtype, 1, &at->cap);
  if (a == NULL) return DAMO_EMEMORY;
  if (s->until) at->own = a;
  at->base = a->data;
  return DAMO_OK;
}

static damo_status grow_stack(frame *f, native_part *at, damo_dtype dtype) {
  const int64_t cap = 2 * at->cap;
  damo_array *more = array_empty(f->ctx, dtype, 1, &cap);
  if (more == NULL) return DAMO_EMEMORY;
  memcpy(more->data, at->own->data, (size_t)at->cap * dtype_size(dtype));
  damo_release(at->own);
  at->own = more;
  at->base = more->data;
  at->cap = cap;
  return DAMO_OK;
}

/* Sets where step k of n stores its row, and how that moves. Returns for how many steps that is so. */
static int64_t native_place_row(const scan_class *s, const scan_part *p, scan_native *n, int64_t k, int64_t total) {
  const native_part *at = &n->part[p - s->part];
  const int64_t size = (int64_t)dtype_size(out_dtype(s, p)), left_out = total - at->cap;
  int64_t row, stride = size, steps;
  if (s->until) {
    row = p->tail > 0 && k >= at->cap ? k % at->cap : k;
    steps = at->cap - row;
  } else if (s->flipped) { /* the first rows are kept */
    row = at->cap - 1 - k;
    stride = -size;
    steps = row >= 0 ? at->cap - k : total - k;
  } else {
    row = k - left_out;
    steps = row >= 0 ? total - k : left_out - k;
  }
  n->frame[at->row].address = row >= 0 ? (void *)(at->base + row * size) : &n->frame[n->nowhere];
  n->frame[at->to].i64 = row >= 0 ? stride : 0;
  return steps;
}

/* Runs the steps, at most `total`; *k: the number of steps taken. */
static damo_status run_shares(frame *f, const scan_class *s, scan_native *n, int64_t total, int64_t *k) {
  int64_t share = n->share, since = 0;
  for (bool stopped = false; *k < total && !stopped;) {
    DAMO_TRY(ctx_poll(f->ctx));
    int64_t steps = total - *k < share ? total - *k : share;
    const bool whole = steps == share;
    for (int i = 0; i < s->n_parts; i++) {
      const scan_part *p = &s->part[i];
      native_part *at = &n->part[i];
      if (p->stack < 0) continue;
      if (s->until && p->tail <= 0 && *k == at->cap) DAMO_TRY(grow_stack(f, at, out_dtype(s, p)));
      const int64_t most = native_place_row(s, p, n, *k, total);
      if (most < steps) steps = most;
    }
    if (whole && *k > 0) since = clock_ns();
    const int64_t left = jit_run(n->code, n->frame, steps);
    stopped = jit_stopped(n->code, n->frame);
    *k += steps - left;
    if (since == 0) continue;
    const int64_t took = clock_ns() - since;
    since = 0;
    if (steps == share && took < POLL_NS / 4 && share < INT64_MAX / 2) share *= 2;
    if (took > POLL_NS / 2 && share > 1) share /= 2;
  }
  return DAMO_OK;
}

/* Copies the last rows of a stack whose length was unknown into the result. */
static damo_status give_own_stack(const thunk *t, frame *f, const scan_class *s, const scan_part *p,
                                  const native_part *at, int64_t n) {
  const int64_t kept = n < at->cap ? n : at->cap, first = p->tail > 0 && n > at->cap ? n % at->cap : 0;
  const size_t size = dtype_size(out_dtype(s, p));
  damo_array *out = thunk_out(t, f, p->stack, out_dtype(s, p), 1, &kept);
  if (out == NULL) return DAMO_EMEMORY;
  memcpy(out->data, at->base + (size_t)first * size, (size_t)(kept - first) * size);
  memcpy(out->data + (size_t)(kept - first) * size, at->base, (size_t)first * size);
  return DAMO_OK;
}

static damo_status native_give_scalar(const thunk *t, frame *f, int out, damo_dtype dtype, jit_slot x) {
  damo_array *a = thunk_out(t, f, out, dtype, 0, NULL);
  if (a == NULL) return DAMO_EMEMORY;
  native_write(a->data, dtype, x);
  return DAMO_OK;
}

static damo_status native_give(const thunk *t, frame *f, const scan_class *s, const scan_native *n, int64_t steps) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    const native_part *at = &n->part[i];
    if (at->own != NULL) DAMO_TRY(give_own_stack(t, f, s, p, at, steps));
    if (p->last < 0) continue;
    const int32_t slot = p->role == SCAN_STATE ? at->value[0] : at->last;
    DAMO_TRY(native_give_scalar(t, f, p->last, out_dtype(s, p), n->frame[slot]));
  }
  if (!s->until) return DAMO_OK;
  return native_give_scalar(t, f, scan_out_steps(s), DAMO_INT64, (jit_slot){.i64 = steps});
}

damo_status scan_native_run(const thunk *t, frame *f, const scan_class *s, scan_native *n, int64_t total,
                            int64_t *taken) {
  damo_status status = DAMO_OK;
  *taken = 0;
  native_load(t, f, s, n);
  for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
    if (s->part[i].stack >= 0) status = begin_stack(t, f, s, &s->part[i], &n->part[i], total);
  }
  if (status == DAMO_OK) status = run_shares(f, s, n, total, taken);
  if (status == DAMO_OK) status = native_give(t, f, s, n, *taken);
  for (int i = 0; i < s->n_parts; i++) {
    damo_release(n->part[i].own);
    n->part[i].own = NULL;
  }
  return status;
}
