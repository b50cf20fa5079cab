/* loop_op_run: runs a Loop: the program of its parts, and its plan for given shapes and strides (loop/loop.h). */
#include <string.h>

#include "elem_jit.h"
#include "loop/loop.h"
#include "loop_lanes.h"
#include "loop_op_int.h"
#include "op/shape/shape_int.h"

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* What a frame keeps: the program, which depends on the node alone, and its plan, which depends on shapes and strides.
 * One allocation. */
struct loop_kept {
  size_t bytes;
  bool valid;     /* the plan is for the shapes and strides of the key */
  int32_t ndim;   /* of the iteration space */
  int32_t n_axes; /* of a row, 0: there are no folds */
  int32_t *order; /* of the axes in plans: those of a row last */
  int64_t placed; /* the length of a row that parts which place values have */
  loop_program program;
  loop_reg *regs;
  loop_step *steps;
  loop_plan *plan;   /* without folds */
  pass_plan *passes; /* with folds; or: */
  strip_plan *strips;
  void *plan_memory;
  damo_c128 *values; /* 0-d: of the registers */
  char **base;       /* operands' addresses; 0-d: of all registers */
  bool *spans;       /* per axis: some input does not broadcast along it */
  int64_t *shape, *key, *out_strides;
  elem_native *native; /* 0-d: NULL if there is none, or not yet */
  int32_t runs;        /* 0-d: so many, up to NATIVE_RUNS */
  double spent;        /* ns that runs have taken, about, as long as steps are not joined */
  bool is_joined;      /* joining was tried */
  loop_lanes *lanes;   /* the code of joined steps, or NULL */
};

/* Runs after which a Loop of 0-d values becomes machine code: its making costs about as much. */
#define NATIVE_RUNS 200

/* Nanoseconds of runs after which steps are joined to machine code, whose making takes as long. */
#define JOIN_NS 20000
#define JOIN_STEP_NS 10      /* of a step, and */
#define JOIN_ELEMENT_NS 0.25 /* of each of its elements */

void loop_state_clear(const thunk *t, frame *f) {
  loop_state *s = thunk_state(t, f);
  if (s->kept == NULL) return;
  elem_native_free(s->kept->native, f->ctx);
  loop_lanes_free(s->kept->lanes, f->ctx);
  mem_free(f->ctx, s->kept, s->kept->bytes);
  s->kept = NULL;
}

static void copy_1(const void *src, void *dst, int64_t n) { memmove(dst, src, (size_t)n); }
static void copy_2(const void *src, void *dst, int64_t n) { memmove(dst, src, 2 * (size_t)n); }
static void copy_4(const void *src, void *dst, int64_t n) { memmove(dst, src, 4 * (size_t)n); }
static void copy_8(const void *src, void *dst, int64_t n) { memmove(dst, src, 8 * (size_t)n); }
static void copy_16(const void *src, void *dst, int64_t n) { memmove(dst, src, 16 * (size_t)n); }

static cast_fn copy_of(damo_dtype dtype) {
  switch (dtype_size(dtype)) {
    case 1: return copy_1;
    case 2: return copy_2;
    case 4: return copy_4;
    case 8: return copy_8;
    default: return copy_16;
  }
}

/* A program under construction. reg[k]: the program's register that holds register k of the Loop; the outputs' registers
 * follow the inputs', temporaries come last. */
typedef struct loop_maker {
  const damo_ctx *ctx;
  const loop_data *d;
  const thunk *t;
  int ndim, n_axes; /* of the iteration space and of a row */
  loop_program *lp;
  loop_reg *regs;
  loop_step *steps;
  int16_t *pass;  /* of the program's registers: the first pass whose steps may read it */
  int16_t *need;  /* of the program's registers: the first pass whose steps do */
  int16_t *reads; /* of the program's registers: how many steps do */
  loop_step *sorted;
  int16_t *reg;    /* of the Loop's registers */
  uint8_t *dtype;  /* of the Loop's registers */
  int16_t *is_out; /* of the Loop's registers: the program's output that holds it, 0: none */
} loop_maker;

static int16_t new_register(loop_maker *m, damo_dtype dtype, bool is_row) {
  m->regs[m->lp->n_regs] = (loop_reg){.dtype = (uint8_t)dtype, .is_row = is_row};
  return (int16_t)m->lp->n_regs++;
}

/* A step from n_in registers to one. It is over rows if all of them are. */
static loop_step *new_step(loop_maker *m, loop_kind kind, const int16_t *in, int n_in, int16_t out) {
  loop_step *s = &m->steps[m->lp->n_steps++];
  *s = (loop_step){.kind = (uint8_t)kind, .n_in = (uint8_t)n_in, .n_out = 1, .part = -1};
  s->over_rows = m->n_axes > 0 && m->regs[out].is_row && kind != LOOP_FOLD && kind != LOOP_PICK;
  for (int i = 0; i < n_in; i++) {
    s->reg[i] = in[i];
    if (m->pass[in[i]] > s->pass) s->pass = m->pass[in[i]];
  }
  s->reg[n_in] = out;
  m->pass[out] = (int16_t)(s->pass + (kind == LOOP_FOLD || kind == LOOP_PICK));
  if (!s->over_rows && s->pass >= m->lp->n_passes) m->lp->n_passes = s->pass + 1;
  return s;
}

static bool all_are_rows(const loop_maker *m, const int16_t *in, int n) {
  bool all = m->n_axes > 0;
  for (int i = 0; i < n; i++) all = all && m->regs[in[i]].is_row;
  return all;
}

/* The program's register that holds register k in that dtype; an earlier cast of it serves again. */
static int16_t cast_register(loop_maker *m, int16_t k, damo_dtype to) {
  if (m->dtype[k] == to) return m->reg[k];
  const cast_fn cast = kernel_cast((damo_dtype)m->dtype[k], to);
  for (int i = 0; i < m->lp->n_steps; i++) {
    const loop_step *s = &m->steps[i];
    if (s->kind == LOOP_CAST && s->fn.cast == cast && s->reg[0] == m->reg[k]) return s->reg[1];
  }
  const int16_t out = new_register(m, to, m->regs[m->reg[k]].is_row);
  new_step(m, LOOP_CAST, &m->reg[k], 1, out)->fn.cast = cast;
  return out;
}

/* A part that copies its last operand, perhaps into another dtype, is that operand where no output has to be written. */
static void make_copy(loop_maker *m, int k, int16_t from) {
  const int16_t r = (int16_t)(m->d->n_in + k);
  const damo_dtype to = (damo_dtype)m->dtype[r];
  if (m->is_out[r] == 0) {
    m->reg[r] = cast_register(m, from, to);
    return;
  }
  m->reg[r] = m->is_out[r];
  new_step(m, LOOP_CAST, &m->reg[from], 1, m->reg[r])->fn.cast =
      m->dtype[from] == to ? copy_of(to) : kernel_cast((damo_dtype)m->dtype[from], to);
}

static void make_fold(loop_maker *m, int k) {
  const loop_part *p = &m->d->parts[k];
  const int16_t r = (int16_t)(m->d->n_in + k);
  m->dtype[r] = (uint8_t)p->dtype;
  m->reg[r] = m->is_out[r] != 0 ? m->is_out[r] : new_register(m, p->dtype, true);
  loop_step *s = new_step(m, LOOP_FOLD, &m->reg[p->in[0]], 1, m->reg[r]);
  s->fn.fold = reduce_op_kind(p->op);
  if (p->space == LOOP_OTHER) s->axes = (int16_t)reduce_op_trailing(p->op, m->ndim);
}

/* Pick, PickGrad, OneHot: of the last two the length of a row is no operand of the step. */
static void make_pick(loop_maker *m, int k) {
  const loop_part *p = &m->d->parts[k];
  const int16_t r = (int16_t)(m->d->n_in + k);
  const bool picks = loop_part_picks(p);
  const int n = picks ? 2 : loop_arity(p) - 1;
  int16_t from[LOOP_PART_MOST_IN];
  for (int i = 0; i < n; i++) from[i] = m->reg[p->in[i]];
  m->dtype[r] = (uint8_t)p->dtype;
  m->reg[r] = m->is_out[r] != 0 ? m->is_out[r] : new_register(m, p->dtype, picks);
  new_step(m, picks ? LOOP_PICK : LOOP_PLACE, from, n, m->reg[r]);
}

static damo_status loop_make_part(loop_maker *m, int k) {
  const loop_part *p = &m->d->parts[k];
  const elemwise_data *e = elemwise_data_of(p->op);
  const int n = loop_arity(p);
  const int16_t r = (int16_t)(m->d->n_in + k);
  damo_dtype in[LOOP_PART_MOST_IN], loop, result;
  for (int i = 0; i < n; i++) in[i] = (damo_dtype)m->dtype[p->in[i]];
  DAMO_TRY(elemwise_dtypes(p->op, in, p->dtype, &loop, &result));
  m->dtype[r] = (uint8_t)result;
  const kernel_fn fn = elemwise_kernel(m->ctx, e, loop);
  if (fn == NULL) return make_copy(m, k, p->in[n - 1]), DAMO_OK;
  int16_t from[LOOP_PART_MOST_IN];
  for (int i = 0; i < n; i++) from[i] = cast_register(m, p->in[i], elemwise_operand_dtype(e->row, i, loop));
  m->reg[r] = m->is_out[r] != 0 ? m->is_out[r] : new_register(m, result, all_are_rows(m, from, n));
  loop_step *s = new_step(m, LOOP_KERNEL, from, n, m->reg[r]);
  s->fn.kernel = fn;
  s->part = (int16_t)k;
  s->ns = elemwise_ns(e->row);
  return DAMO_OK;
}

/* Whether an input has one value a row: it broadcasts along the axes of the folds. */
static bool input_is_row(const loop_maker *m, int i) {
  const damo_type *type = m->t->node->in[i]->type;
  for (int axis = 0; axis < m->ndim; axis++) {
    if (!loop_is_row_axis(m->d, axis)) continue;
    const int own = loop_own_axis(m->d, type->ndim, m->d->of_rows[i], m->ndim, axis);
    if (own >= 0 && !type_dim_is_one(type, own)) return false;
  }
  return m->n_axes > 0;
}

/* Numbers the program's operands: inputs, then outputs. */
static void make_operands(loop_maker *m) {
  const loop_data *d = m->d;
  m->ndim = loop_ndim(d, m->t->node->in);
  m->n_axes = d->n_axes;
  for (int i = 0; i < d->n_in; i++) {
    m->dtype[i] = (uint8_t)var_dtype(m->t->node->in[i]);
    m->reg[i] = new_register(m, (damo_dtype)m->dtype[i], input_is_row(m, i));
  }
  for (int o = 0; o < d->n_out; o++) {
    const loop_part *p = loop_part_of_out(d, o);
    m->is_out[d->outs[o]] = new_register(m, p->dtype, p->space != LOOP_ELEMENTS);
  }
}

/* Delays steps of which only later passes read the result, where that takes no row of the workspace: what they read are
 * inputs, and results of steps that are delayed with them. */
static void delay_steps(const loop_maker *m) {
  const int n_ops = m->lp->n_in + m->lp->n_out;
  int16_t *need = m->need;
  for (int r = 0; r < m->lp->n_regs; r++) need[r] = INT16_MAX;
  for (int i = 0; i < m->lp->n_steps; i++) {
    for (int k = 0; k < m->steps[i].n_in; k++) m->reads[m->steps[i].reg[k]]++;
  }
  for (int i = m->lp->n_steps - 1; i >= 0; i--) {
    loop_step *s = &m->steps[i];
    const int16_t out = s->reg[s->n_in];
    bool delay =
        s->kind != LOOP_FOLD && s->kind != LOOP_PICK && !s->over_rows && out >= n_ops && need[out] != INT16_MAX;
    for (int k = 0; k < s->n_in; k++) {
      const int16_t r = s->reg[k];
      delay = delay && (r < m->lp->n_in || m->regs[r].is_row || (r >= n_ops && m->reads[r] == 1));
    }
    if (delay && need[out] > s->pass) s->pass = need[out];
    for (int k = 0; k < s->n_in && !s->over_rows; k++) {
      if (s->pass < need[s->reg[k]]) need[s->reg[k]] = s->pass;
    }
  }
}

/* Puts steps in the order of passes, those over rows first in each; else as they are. */
static void sort_steps(const loop_maker *m) {
  int n = 0;
  for (int pass = 0; pass <= m->lp->n_passes; pass++) {
    for (int rows = 1; rows >= 0; rows--) {
      for (int i = 0; i < m->lp->n_steps; i++) {
        if (m->steps[i].pass == pass && m->steps[i].over_rows == rows) m->sorted[n++] = m->steps[i];
      }
    }
  }
  damo_assert(n == m->lp->n_steps);
  memcpy(m->steps, m->sorted, (size_t)n * sizeof *m->steps);
}

/* The program of the node: for each part casts of its operands and a kernel. */
static damo_status make_loop_program(loop_maker *m, const frame *f) {
  const loop_data *d = m->d;
  m->lp->n_in = d->n_in;
  m->lp->n_out = d->n_out;
  m->lp->max_block = ctx_stress(f->ctx, STRESS_BLOCK) ? 3 : 0;
  make_operands(m);
  for (int k = 0; k < d->n_parts; k++) {
    if (loop_part_folds(&d->parts[k]))
      make_fold(m, k);
    else if (loop_part_positions(&d->parts[k]) >= 0)
      make_pick(m, k);
    else
      DAMO_TRY(loop_make_part(m, k));
  }
  if (m->n_axes > 0) {
    delay_steps(m);
    sort_steps(m);
  } else {
    m->lp->n_passes = 0;
  }
  return DAMO_OK;
}

/* ---- What is kept ------------------------------------------------------------------------------------------------ */

/* The axis of input i that is that axis of the iteration space, -1: none. */
static int input_axis(const thunk *t, const loop_kept *k, int i, int axis) {
  const loop_data *d = loop_data_of(t->node->op);
  return loop_own_axis(d, var_ndim(t->node->in[i]), d->of_rows[i], k->ndim, axis);
}

/* Whether input i does not broadcast along that axis. */
static bool input_spans(const thunk *t, const loop_kept *k, int i, int axis) {
  const int own = input_axis(t, k, i, axis);
  return own >= 0 && !type_dim_is_one(t->node->in[i]->type, own);
}

static size_t take_space(size_t *at, size_t n, size_t size) {
  const size_t from = *at;
  *at += (n * size + 63) & ~(size_t)63;
  return from;
}

/* Makes the program in scratch memory of the greatest size that it can have. lanes: NULL, or where to put the code of
 * steps that are joined. */
static damo_status make_in_scratch(const thunk *t, frame *f, loop_program *lp, loop_lanes **lanes) {
  const loop_data *d = loop_data_of(t->node->op);
  const size_t n = (size_t)(d->n_in + d->n_parts), most = (size_t)(d->n_in + d->n_out + 4 * d->n_parts);
  size_t bytes = 0;
  const size_t regs = take_space(&bytes, most, sizeof(loop_reg)), steps = take_space(&bytes, most, sizeof(loop_step));
  const size_t sorted = take_space(&bytes, most, sizeof(loop_step)), pass = take_space(&bytes, most, sizeof(int16_t));
  const size_t need = take_space(&bytes, most, sizeof(int16_t)), reads = take_space(&bytes, most, sizeof(int16_t));
  const size_t reg = take_space(&bytes, n, sizeof(int16_t)), dtype = take_space(&bytes, n, 1);
  const size_t is_out = take_space(&bytes, n, sizeof(int16_t));
  char *m = thunk_scratch(t, f, bytes);
  if (m == NULL) return damo_error_status(f->ctx);
  memset(m, 0, bytes);
  *lp = (loop_program){.n_regs = 0};
  loop_maker make = {.ctx = f->ctx,
                     .d = d,
                     .t = t,
                     .lp = lp,
                     .regs = (loop_reg *)(void *)(m + regs),
                     .steps = (loop_step *)(void *)(m + steps),
                     .pass = (int16_t *)(void *)(m + pass),
                     .need = (int16_t *)(void *)(m + need),
                     .reads = (int16_t *)(void *)(m + reads),
                     .sorted = (loop_step *)(void *)(m + sorted),
                     .reg = (int16_t *)(void *)(m + reg),
                     .dtype = (uint8_t *)(m + dtype),
                     .is_out = (int16_t *)(void *)(m + is_out)};
  lp->regs = make.regs;
  lp->steps = make.steps;
  DAMO_TRY(make_loop_program(&make, f));
  if (lanes != NULL) *lanes = loop_lanes_join(f->ctx, t->node, lp, make.regs, make.steps);
  return DAMO_OK;
}

/* The axes as plans have them: those of a row last. */
static void order_axes(const loop_data *d, loop_kept *k) {
  int n = 0;
  for (int rows = 0; rows < 2; rows++) {
    for (int axis = 0; axis < k->ndim; axis++) {
      if (loop_is_row_axis(d, axis) == rows) k->order[n++] = axis;
    }
  }
}

static damo_status keep_program(const thunk *t, frame *f, loop_state *state, bool join) {
  const loop_data *d = loop_data_of(t->node->op);
  loop_program lp;
  loop_lanes *lanes = NULL;
  DAMO_TRY(make_in_scratch(t, f, &lp, join ? &lanes : NULL));
  const size_t ndim = (size_t)loop_ndim(d, t->node->in);
  size_t bytes = sizeof(loop_kept), n_key = 0;
  for (int i = 0; i < t->n_in; i++) n_key += 2 * (size_t)var_ndim(t->node->in[i]);
  bytes = (bytes + 63) & ~(size_t)63;
  const size_t regs = take_space(&bytes, (size_t)lp.n_regs, sizeof(loop_reg));
  const size_t steps = take_space(&bytes, (size_t)lp.n_steps, sizeof(loop_step));
  const size_t base = take_space(&bytes, (size_t)lp.n_regs, sizeof(char *));
  const size_t values = take_space(&bytes, ndim == 0 ? (size_t)lp.n_regs : 0, sizeof(damo_c128));
  const size_t shape = take_space(&bytes, ndim, sizeof(int64_t)), key = take_space(&bytes, n_key, sizeof(int64_t));
  const size_t out_strides = take_space(&bytes, ndim * (size_t)t->n_out, sizeof(int64_t));
  const size_t spans = take_space(&bytes, ndim, 1);
  const size_t order = take_space(&bytes, ndim, sizeof(int32_t));
  size_t plan_bytes = lp.n_passes > 0 ? pass_plan_bytes(&lp, (int)ndim) : loop_plan_bytes(&lp, (int)ndim);
  if (lp.n_passes > 0 && strip_plan_bytes(&lp, (int)ndim) > plan_bytes) plan_bytes = strip_plan_bytes(&lp, (int)ndim);
  const size_t plan = take_space(&bytes, plan_bytes, 1);
  char *m = mem_calloc(f->ctx, bytes);
  if (m == NULL) return loop_lanes_free(lanes, f->ctx), DAMO_EMEMORY;
  loop_kept *k = (loop_kept *)(void *)m;
  *k = (loop_kept){.bytes = bytes, .ndim = (int32_t)ndim, .n_axes = d->n_axes, .program = lp};
  k->lanes = lanes;
  k->is_joined = join;
  k->regs = memcpy(m + regs, lp.regs, (size_t)lp.n_regs * sizeof(loop_reg));
  k->steps = memcpy(m + steps, lp.steps, (size_t)lp.n_steps * sizeof(loop_step));
  k->program.regs = k->regs;
  k->program.steps = k->steps;
  k->order = (int32_t *)(void *)(m + order);
  order_axes(d, k);
  k->spans = (bool *)(m + spans);
  k->base = (char **)(void *)(m + base);
  k->values = (damo_c128 *)(void *)(m + values);
  k->shape = (int64_t *)(void *)(m + shape);
  k->key = (int64_t *)(void *)(m + key);
  k->out_strides = (int64_t *)(void *)(m + out_strides);
  k->plan_memory = m + plan;
  for (int r = 0; ndim == 0 && r < lp.n_regs; r++) k->base[r] = (char *)&k->values[r];
  state->kept = k;
  for (int axis = 0; axis < k->ndim; axis++) {
    k->spans[axis] = d->place >= 0 && axis == k->ndim - 1;
    for (int i = 0; i < t->n_in; i++) k->spans[axis] = k->spans[axis] || input_spans(t, k, i, axis);
  }
  return DAMO_OK;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* Whether register r of the Loop leaves out the axes of the folds. */
static bool register_is_of_rows(const loop_data *d, int r) {
  return r < d->n_in ? d->of_rows[r] : d->parts[r - d->n_in].space == LOOP_ROWS;
}

/* Whether register r of the Loop broadcasts along that axis of the iteration space. */
static bool is_broadcast(const thunk *t, const loop_kept *k, int r, int axis) {
  if (r < t->n_in) return !input_spans(t, k, r, axis);
  const loop_part *p = &loop_data_of(t->node->op)->parts[r - t->n_in];
  return !k->spans[axis] || (p->space != LOOP_ELEMENTS && loop_is_row_axis(loop_data_of(t->node->op), axis));
}

/* The length of register r along an axis along which it does not broadcast. */
static int64_t register_length(const thunk *t, frame *f, const loop_kept *k, const int64_t *made, int r, int axis) {
  if (r >= t->n_in) return made[(int64_t)(r - t->n_in) * k->ndim + axis];
  return array_shape(thunk_in(t, f, r))[input_axis(t, k, r, axis)];
}

static void register_shape(const thunk *t, frame *f, const loop_kept *k, const int64_t *made, int r, char *text,
                           size_t n) {
  const loop_data *d = loop_data_of(t->node->op);
  if (r < t->n_in) {
    const damo_array *x = thunk_in(t, f, r);
    shape_format(text, n, x->ndim, array_shape(x));
  } else {
    const int64_t *length = made + (int64_t)(r - t->n_in) * k->ndim;
    int64_t shape[DAMO_MAX_NDIM];
    int ndim = 0;
    for (int axis = 0; axis < k->ndim; axis++) {
      if (!register_is_of_rows(d, r) || !loop_is_row_axis(d, axis)) shape[ndim++] = length[axis];
    }
    shape_format(text, n, ndim, shape);
  }
}

static damo_status fail_part(const thunk *t, frame *f, const loop_kept *k, const int64_t *made, const loop_part *p,
                             int axis, int i, int j) {
  char x[256], y[256], hint[320];
  const int64_t li = is_broadcast(t, k, p->in[i], axis) ? 1 : register_length(t, f, k, made, p->in[i], axis);
  const int64_t lj = register_length(t, f, k, made, p->in[j], axis);
  register_shape(t, f, k, made, p->in[i], x, sizeof x);
  register_shape(t, f, k, made, p->in[j], y, sizeof y);
  const char *name = p->op->def == &elemwise_def ? elemwise_data_of(p->op)->row->name : p->op->def->name;
  if (li != 1 && lj != 1) {
    return ctx_fail(f->ctx, DAMO_ESHAPE,
                    "%s: shapes %s and %s do not agree: axis %d is %lld in operand %d and %lld in operand %d", name, x,
                    y, axis + 1, (long long)li, i + 1, (long long)lj, j + 1);
  }
  /* (A part's result only broadcasts where all inputs do, and then nothing disagrees.) */
  const int one = li == 1 ? i : j, r = p->in[one] < t->n_in ? p->in[one] : 0;
  const damo_type *type = t->node->in[r]->type;
  const int own = input_axis(t, k, r, axis);
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes %s and %s do not agree: axis %d of operand %d %s", name, x, y,
                  own + 1, one + 1, broadcast_hint(hint, sizeof hint, type, own));
}

/* The first part whose operands disagree fails as its Elemwise node would. made: shapes of the parts' results. */
static damo_status check_parts(const thunk *t, frame *f, const loop_kept *k, int64_t *made) {
  const loop_data *d = loop_data_of(t->node->op);
  for (int part = 0; part < d->n_parts; part++) {
    const loop_part *p = &d->parts[part];
    for (int axis = 0; axis < k->ndim; axis++) {
      int64_t *length = &made[(int64_t)part * k->ndim + axis];
      int owner = -1;
      *length = 1;
      if (p->space != LOOP_ELEMENTS && loop_is_row_axis(d, axis)) continue;
      if (loop_part_places(p) && axis == k->ndim - 1) {
        *length = k->placed;
        continue;
      }
      for (int i = 0; i < loop_arity(p); i++) {
        if (is_broadcast(t, k, p->in[i], axis)) continue;
        const int64_t own = register_length(t, f, k, made, p->in[i], axis);
        if (owner >= 0 && own != *length) return fail_part(t, f, k, made, p, axis, owner, i);
        owner = i;
        *length = own;
      }
    }
  }
  return DAMO_OK;
}

/* The shape of the iteration space: a dimension broadcasts only where the operand's static Type says 1. */
static damo_status loop_shape(const thunk *t, frame *f, loop_kept *k) {
  const loop_data *d = loop_data_of(t->node->op);
  bool agree = true;
  for (int axis = 0; axis < k->ndim; axis++) {
    bool found = false;
    k->shape[axis] = 1;
    if (d->place >= 0 && axis == k->ndim - 1) {
      k->shape[axis] = k->placed;
      found = true;
    }
    for (int i = 0; i < t->n_in; i++) {
      if (is_broadcast(t, k, i, axis)) continue;
      const int64_t length = register_length(t, f, k, NULL, i, axis);
      agree = agree && (!found || length == k->shape[axis]);
      if (!found) k->shape[axis] = length;
      found = true;
    }
  }
  if (agree) return DAMO_OK;
  const size_t bytes = (size_t)d->n_parts * (size_t)k->ndim * sizeof(int64_t);
  int64_t *made = mem_alloc(f->ctx, bytes);
  if (made == NULL) return DAMO_EMEMORY;
  damo_status s = check_parts(t, f, k, made);
  mem_free(f->ctx, made, bytes);
  return s != DAMO_OK ? s : ctx_fail(f->ctx, DAMO_ESHAPE, "Loop: the shapes of its operands do not agree");
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* The input that output o overwrites, -1: none. */
static int overwritten_by(const damo_op *op, int o) {
  for (const op_alias *a = op->destroy_map; a != NULL && a->out >= 0; a++) {
    if (a->out == o) return a->in;
  }
  return -1;
}

static bool out_is_row(const thunk *t, int o) {
  return loop_part_of_out(loop_data_of(t->node->op), o)->space != LOOP_ELEMENTS;
}

static damo_array *loop_result(const thunk *t, frame *f, const loop_kept *k, int o) {
  const loop_part *p = loop_part_of_out(loop_data_of(t->node->op), o);
  if (p->space != LOOP_ELEMENTS) {
    int64_t shape[DAMO_MAX_NDIM];
    const int rank = loop_part_shape(loop_data_of(t->node->op), p, k->ndim, k->shape, shape);
    return thunk_out(t, f, o, p->dtype, rank, shape);
  }
  const int j = overwritten_by(t->node->op, o);
  if (j >= 0) {
    const damo_array *x = thunk_in(t, f, j);
    const size_t n = (size_t)k->ndim * sizeof(int64_t);
    if (x->ndim == k->ndim && memcmp(array_shape(x), k->shape, n) == 0) return thunk_out_inplace(t, f, o, j);
  }
  return thunk_out_strided(t, f, o, p->dtype, k->ndim, k->shape);
}

/* By code of its own: nothing around it, since such a run takes 20 ns. */
static damo_status run_own_code(const thunk *t, frame *f, const loop_kept *k) {
  jit_slot *const at = elem_native_operands(k->native);
  const bool in_place = t->node->op->destroy_map != NULL;
  for (int o = 0; o < t->n_out; o++) {
    const damo_dtype dtype = loop_part_of_out(loop_data_of(t->node->op), o)->dtype;
    const damo_array *out = in_place ? loop_result(t, f, k, o) : thunk_out_scalar(t, f, o, dtype);
    if (out == NULL) return damo_error_status(f->ctx);
    at[t->n_in + o].address = out->data;
  }
  for (int i = 0; i < t->n_in; i++) at[i].address = thunk_in(t, f, i)->data;
  elem_native_run(k->native);
  return DAMO_OK;
}

static damo_status run_values(const thunk *t, frame *f, loop_kept *k) {
  if (k->runs < NATIVE_RUNS && ++k->runs == NATIVE_RUNS && !f->no_jit) k->native = elem_native_new(f->ctx, t->node);
  if (k->native != NULL) return run_own_code(t, f, k);
  for (int o = 0; o < t->n_out; o++) {
    damo_array *out = loop_result(t, f, k, o);
    if (out == NULL) return damo_error_status(f->ctx);
    k->base[t->n_in + o] = out->data;
  }
  for (int i = 0; i < t->n_in; i++) k->base[i] = thunk_in(t, f, i)->data;
  for (const loop_step *s = k->steps, *end = s + k->program.n_steps; s < end; s++) {
    void *args[LOOP_STEP_REGS];
    for (int i = 0; i < s->n_in + s->n_out; i++) args[i] = k->base[s->reg[i]];
    if (s->kind == LOOP_KERNEL)
      s->fn.kernel(args, 1);
    else
      s->fn.cast(args[0], args[1], 1);
  }
  return DAMO_OK;
}

/* Strides of a result of one value a row, C-contiguous, along the axes in the plans' order. */
static void row_strides(const loop_kept *k, damo_dtype dtype, int64_t *along) {
  int64_t step = (int64_t)dtype_size(dtype);
  for (int j = k->ndim - 1; j >= 0; j--) {
    along[j] = j < k->ndim - k->n_axes ? step : 0;
    if (j < k->ndim - k->n_axes) step *= k->shape[k->order[j]];
  }
}

/* Strides of the operands along the axes in the plans' order, from the inputs and the results in their cells. */
static void operand_strides(const thunk *t, frame *f, loop_kept *k, const int64_t **strides, int64_t *numbers) {
  const size_t ndim = (size_t)k->ndim;
  for (int i = 0; i < t->n_in + t->n_out; i++) strides[i] = numbers + (size_t)i * ndim;
  for (int i = 0; i < t->n_in; i++) {
    int64_t *along = numbers + (size_t)i * ndim;
    const damo_array *x = thunk_in(t, f, i);
    for (int j = 0; j < k->ndim; j++) {
      const int own = input_axis(t, k, i, k->order[j]);
      along[j] = own >= 0 && array_shape(x)[own] != 1 ? array_strides(x)[own] : 0;
    }
  }
  for (int o = 0; o < t->n_out; o++) {
    const damo_array *out = (const damo_array *)thunk_result(t, f, o);
    int64_t *along = numbers + (size_t)(t->n_in + o) * ndim;
    if (out_is_row(t, o)) {
      row_strides(k, (damo_dtype)out->dtype, along);
      continue;
    }
    for (int j = 0; j < k->ndim; j++) along[j] = array_strides(out)[k->order[j]];
    memcpy(k->out_strides + (size_t)o * ndim, array_strides(out), ndim * sizeof(int64_t));
  }
}

/* The plan for these inputs and the results, which are in their cells. */
static damo_status plan_loop(const thunk *t, frame *f, loop_kept *k) {
  const size_t n_ops = (size_t)(t->n_in + t->n_out), ndim = (size_t)k->ndim;
  const size_t bytes = n_ops * (ndim * sizeof(int64_t) + sizeof(int64_t *));
  int64_t shape[DAMO_MAX_NDIM];
  for (int j = 0; j < k->ndim; j++) shape[j] = k->shape[k->order[j]];
  const int64_t **strides = mem_alloc(f->ctx, bytes);
  if (strides == NULL) return DAMO_EMEMORY;
  operand_strides(t, f, k, strides, (int64_t *)(void *)(strides + n_ops));
  k->strips = NULL;
  if (k->n_axes > 0 && strip_suits(&k->program, k->ndim, shape, strides, k->n_axes)) {
    k->strips = strip_plan_init(k->plan_memory, &k->program, f->ctx->isa, k->ndim, shape, strides, k->n_axes);
  } else if (k->n_axes > 0) {
    k->passes = pass_plan_init(k->plan_memory, &k->program, f->ctx->isa, k->ndim, shape, strides, k->n_axes);
  } else {
    k->plan = loop_plan_init(k->plan_memory, &k->program, k->ndim, shape, strides);
  }
  mem_free(f->ctx, strides, bytes);
  elemwise_key_matches(k->key, t, f, true);
  k->valid = true;
  return DAMO_OK;
}

static damo_status check_folds(const thunk *t, const frame *f, const loop_kept *k) {
  const loop_data *d = loop_data_of(t->node->op);
  for (int i = 0; i < d->n_parts; i++) {
    if (loop_part_folds(&d->parts[i])) DAMO_TRY(reduce_op_check(f->ctx, d->parts[i].op, k->ndim, k->shape));
  }
  return DAMO_OK;
}

static damo_status fail_position(frame *f, const loop_part *p, int64_t position, int64_t n) {
  if (p->op->def == &onehot_def)
    return ctx_fail(f->ctx, DAMO_EINDEX, "one_hot: class %lld is outside 1 … %lld", (long long)position, (long long)n);
  return ctx_fail(f->ctx, DAMO_EINDEX, "%s: position %lld is outside 1..%lld", p->op->def->name, (long long)position,
                  (long long)n);
}

/* Positions that parts read must lie in a row. */
static damo_status check_positions(const thunk *t, frame *f, const loop_kept *k) {
  const loop_data *d = loop_data_of(t->node->op);
  for (int i = 0; i < d->n_parts; i++) {
    const loop_part *p = &d->parts[i];
    if (loop_part_positions(p) < 0) continue;
    const int64_t n = k->shape[k->ndim - 1];
    array_entries e;
    for (char *at = entries_begin(&e, thunk_in(t, f, p->in[loop_part_positions(p)])); at != NULL;
         at = entries_next(&e)) {
      const int64_t position = *(const int64_t *)(void *)at;
      if (position < 1 || position > n) return fail_position(f, p, position, n);
    }
  }
  return DAMO_OK;
}

/* Reads the length of a row that is a value. All parts that place values must have the same. */
static damo_status read_placed(const thunk *t, frame *f, loop_kept *k) {
  const loop_data *d = loop_data_of(t->node->op);
  int64_t n = 0, other;
  DAMO_TRY(thunk_dims(t, f, "one_hot", d->place, 1, &n));
  for (int i = 0; i < d->n_parts; i++) {
    const loop_part *p = &d->parts[i];
    if (!loop_part_places(p)) continue;
    DAMO_TRY(thunk_dims(t, f, "one_hot", p->in[loop_arity(p) - 1], 1, &other));
    if (other == n) continue;
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: rows of %lld and %lld entries do not agree", p->op->def->name,
                    (long long)n, (long long)other);
  }
  if (n != k->placed) k->valid = false;
  k->placed = n;
  return DAMO_OK;
}

/* About how many nanoseconds a run takes. */
static double plan_cost(const loop_kept *k) {
  if (k->strips != NULL) return strip_cost(k->strips);
  return k->n_axes > 0 ? pass_cost(k->passes) : loop_cost(k->plan);
}

static size_t plan_workspace_on(const thread_pool *pool, const loop_kept *k) {
  if (k->strips != NULL) return strip_workspace_on(pool, k->strips);
  return k->n_axes > 0 ? pass_workspace_on(pool, k->passes) : loop_workspace_on(pool, k->plan);
}

/* Adds up what runs take, for shapes that are known. Whether it is time to join steps. */
static bool is_time_to_join(loop_kept *k, const frame *f) {
  double n = JOIN_ELEMENT_NS;
  if (k->is_joined || f->no_jit || k->program.n_steps < 2) return false;
  for (int axis = 0; axis < k->ndim; axis++) n *= (double)k->shape[axis];
  k->spent += (n + JOIN_STEP_NS) * k->program.n_steps;
  return k->spent >= JOIN_NS;
}

static damo_status perform_planned(const thunk *t, frame *f) {
  loop_state *state = thunk_state(t, f);
  if (state->kept == NULL) DAMO_TRY(keep_program(t, f, state, false));
  loop_kept *k = state->kept;
  if (k->ndim == 0) return run_values(t, f, k);
  if (k->valid && !elemwise_key_matches(k->key, t, f, false)) k->valid = false;
  if (loop_data_of(t->node->op)->place >= 0) DAMO_TRY(read_placed(t, f, k));
  if (!k->valid) {
    DAMO_TRY(loop_shape(t, f, k));
    DAMO_TRY(check_folds(t, f, k));
  }
  if (loop_data_of(t->node->op)->has_positions) DAMO_TRY(check_positions(t, f, k));
  if (is_time_to_join(k, f)) {
    loop_state_clear(t, f);
    DAMO_TRY(keep_program(t, f, state, true));
    return perform_planned(t, f);
  }
  bool same = k->valid;
  for (int o = 0; o < t->n_out; o++) {
    const damo_array *out = loop_result(t, f, k, o);
    if (out == NULL) return damo_error_status(f->ctx);
    const size_t n = (size_t)k->ndim;
    if (out_is_row(t, o)) continue;
    same = same && memcmp(k->out_strides + (size_t)o * n, array_strides(out), n * sizeof(int64_t)) == 0;
  }
  if (!same) DAMO_TRY(plan_loop(t, f, k));
  thread_pool *pool = ctx_pool(f->ctx, plan_cost(k));
  const size_t bytes = plan_workspace_on(pool, k);
  char *work = bytes > 0 ? thunk_scratch(t, f, bytes) : NULL;
  if (bytes > 0 && work == NULL) return damo_error_status(f->ctx);
  for (int i = 0; i < t->n_in; i++) k->base[i] = thunk_in(t, f, i)->data;
  for (int o = 0; o < t->n_out; o++) k->base[t->n_in + o] = ((const damo_array *)thunk_result(t, f, o))->data;
  if (k->strips != NULL)
    strip_run_on(pool, k->strips, k->base, work);
  else if (k->n_axes > 0)
    pass_run_on(pool, k->passes, k->base, work);
  else
    loop_run_on(pool, k->plan, k->base, work);
  return DAMO_OK;
}

damo_status loop_perform(const thunk *t, frame *f) {
  const loop_kept *k = ((loop_state *)thunk_state(t, f))->kept;
  return k != NULL && k->native != NULL ? run_own_code(t, f, k) : perform_planned(t, f);
}
