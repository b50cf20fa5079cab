/* run: runs an Elemwise node.
 *
 * In: the thunk's cells. Out: the result in its cell. A node of 0-d values calls its kernel at once. For the others a
 * block program of one step, with a cast for each operand of another dtype than the loop's, is planned once for given
 * shapes and strides (loop/loop.h). Holds: all memory is allocated before anything is written.
 */
#include "elem_int.h"
#include "loop/loop.h"

#include <stdio.h>
#include <string.h>

#define MAX_OPERANDS (SCALAR_MAX_ARITY + 1)

/* State kept between calls: the program, which depends on the node alone, and its plan, which depends on shapes and
 * strides. */
struct elemwise_plan {
  size_t bytes; /* of this allocation */
  bool valid;
  bool repeats; /* elemwise_perform_again runs the plan */
  int32_t ndim; /* of the result */
  int32_t n_in;
  loop_program program;
  loop_reg regs[2 * SCALAR_MAX_ARITY + 1]; /* operands, result, operands in the loop dtype */
  loop_step steps[MAX_OPERANDS];
  loop_plan *loop;
  void *loop_memory;
  int64_t *shape; /* of the result */
  int64_t *out_strides;
  int64_t *key; /* shapes and strides of the inputs */
  int64_t numbers[];
};

void elemwise_state_clear(const thunk *t, frame *f) {
  elemwise_state *s = thunk_state(t, f);
  if (s->plan) mem_free(f->ctx, s->plan, s->plan->bytes);
  s->plan = NULL;
}

/* ---- Preparation ------------------------------------------------------------------------------------------------- */

static damo_status elemwise_prepare(const thunk *t, const frame *f, elemwise_state *s) {
  const damo_apply *node = t->node;
  const elemwise_data *d = elemwise_data_of(node->op);
  damo_dtype in[SCALAR_MAX_ARITY];
  for (int i = 0; i < node->n_in; i++) in[i] = var_dtype(node->in[i]);
  DAMO_TRY(elemwise_dtypes(node->op, in, var_dtype(node->out[0]), &s->loop, &s->out_dtype));
  for (int i = 0; i < node->n_in; i++) {
    damo_dtype to = elemwise_operand_dtype(d->row, i, s->loop);
    s->cast[i] = in[i] == to ? NULL : kernel_cast(in[i], to);
  }
  s->fn = elemwise_kernel(f->ctx, d, s->loop);
  s->scalar = var_ndim(node->out[0]) == 0;
  s->ready = true;
  return DAMO_OK;
}

static int copied_operand(const thunk *t) { return t->n_in - 1; } /* the one that an op without a kernel copies */

/* ---- 0-d --------------------------------------------------------------------------------------------------------- */

/* The op on numbers at these addresses: inputs, then the result, which may be an input. */
static void compute_scalar(const elemwise_state *s, int n_in, char *const *operands) {
  damo_c128 converted[SCALAR_MAX_ARITY];
  void *args[MAX_OPERANDS];
  if (s->fn == NULL) {
    const int copied = n_in - 1;
    if (s->cast[copied])
      s->cast[copied](operands[copied], operands[n_in], 1);
    else
      memmove(operands[n_in], operands[copied], dtype_size(s->out_dtype));
    return;
  }
  for (int i = 0; i < n_in; i++) {
    args[i] = operands[i];
    if (s->cast[i] == NULL) continue;
    s->cast[i](args[i], &converted[i], 1);
    args[i] = &converted[i];
  }
  args[n_in] = operands[n_in];
  s->fn(args, 1);
}

static damo_status run_scalar(const thunk *t, frame *f, const elemwise_state *s) {
  const elemwise_data *d = elemwise_data_of(t->node->op);
  const damo_array *out =
      d->inplace >= 0 ? thunk_out_inplace(t, f, 0, d->inplace) : thunk_out_scalar(t, f, 0, s->out_dtype);
  char *operands[MAX_OPERANDS];
  if (out == NULL) return damo_error_status(f->ctx);
  for (int i = 0; i < t->n_in; i++) operands[i] = thunk_in(t, f, i)->data;
  operands[t->n_in] = out->data;
  compute_scalar(s, t->n_in, operands);
  return DAMO_OK;
}

bool elemwise_perform_at(const thunk *t, frame *f, char *const *operands) {
  const elemwise_state *s = thunk_state(t, f);
  if (!s->ready || !s->scalar) return false;
  compute_scalar(s, t->n_in, operands);
  return true;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static damo_status elemwise_fail_shapes(const thunk *t, frame *f, int axis, int ndim, int i, int64_t di, int j,
                                        int64_t dj) {
  const char *name = elemwise_data_of(t->node->op)->row->name;
  char a[256], b[256], hint[320];
  const damo_array *x = thunk_in(t, f, i), *y = thunk_in(t, f, j);
  shape_format(a, sizeof a, x->ndim, array_shape(x));
  shape_format(b, sizeof b, y->ndim, array_shape(y));
  if (di != 1 && dj != 1) {
    return ctx_fail(f->ctx, DAMO_ESHAPE,
                    "%s: shapes %s and %s do not agree: axis %d is %lld in operand %d and %lld in operand %d", name, a,
                    b, axis + 1, (long long)di, i + 1, (long long)dj, j + 1);
  }
  int one = di == 1 ? i : j;
  const damo_var *v = t->node->in[one];
  int own = axis - (ndim - var_ndim(v));
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes %s and %s do not agree: axis %d of operand %d %s", name, a, b,
                  own + 1, one + 1, broadcast_hint(hint, sizeof hint, v->type, own));
}

/* The result's shape at run time: a dimension broadcasts only where the operand's static Type says 1. */
static damo_status broadcast_values(const thunk *t, frame *f, int ndim, int64_t *shape) {
  for (int axis = 0; axis < ndim; axis++) {
    int owner = -1;
    shape[axis] = 1;
    for (int i = 0; i < t->n_in; i++) {
      const damo_type *type = t->node->in[i]->type;
      int k = axis - (ndim - type->ndim);
      if (k < 0 || type_dim_is_one(type, k)) continue;
      int64_t d = array_shape(thunk_in(t, f, i))[k];
      if (owner >= 0 && d != shape[axis]) return elemwise_fail_shapes(t, f, axis, ndim, owner, shape[axis], i, d);
      if (owner < 0) owner = i;
      shape[axis] = d;
    }
  }
  return DAMO_OK;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static int32_t add_register(elemwise_plan *p, damo_dtype dtype) {
  p->regs[p->program.n_regs].dtype = (uint8_t)dtype;
  return p->program.n_regs++;
}

static loop_step *add_step(elemwise_plan *p, loop_kind kind, int n_in) {
  loop_step *s = &p->steps[p->program.n_steps++];
  *s = (loop_step){.kind = (uint8_t)kind, .n_in = (uint8_t)n_in, .n_out = 1};
  return s;
}

/* Adds the step that converts register `from` into register `to`. */
static void add_cast(elemwise_plan *p, cast_fn cast, int32_t from, int32_t to) {
  loop_step *s = add_step(p, LOOP_CAST, 1);
  s->reg[0] = (int16_t)from;
  s->reg[1] = (int16_t)to;
  s->fn.cast = cast;
}

/* The program: casts to the loop dtype, then the kernel. An op that copies has a cast alone, or no step where the dtype
 * stays. */
static void make_program(elemwise_plan *p, const thunk *t, const frame *f, const elemwise_state *s) {
  const scalar_op *row = elemwise_data_of(t->node->op)->row;
  const int n = p->n_in, copied = copied_operand(t);
  int32_t reg[SCALAR_MAX_ARITY];
  for (int i = 0; i < n; i++) reg[i] = add_register(p, var_dtype(t->node->in[i]));
  const int32_t out = add_register(p, s->out_dtype);
  if (s->fn == NULL) {
    if (s->cast[copied]) add_cast(p, s->cast[copied], reg[copied], out);
  } else {
    for (int i = 0; i < n; i++) {
      if (s->cast[i] == NULL) continue;
      reg[i] = add_register(p, elemwise_operand_dtype(row, i, s->loop));
      add_cast(p, s->cast[i], i, reg[i]);
    }
    loop_step *step = add_step(p, LOOP_KERNEL, n);
    for (int i = 0; i < n; i++) step->reg[i] = (int16_t)reg[i];
    step->reg[n] = (int16_t)out;
    step->fn.kernel = s->fn;
    step->ns = elemwise_ns(row, s->loop);
  }
  p->program.n_in = n;
  p->program.n_out = 1;
  p->program.max_block = ctx_stress(f->ctx, STRESS_BLOCK) ? 3 : 0;
  p->program.regs = p->regs;
  p->program.steps = p->steps;
}

/* One allocation for the plan, its key, shape and strides, and the block driver's plan. NULL: no memory. */
static elemwise_plan *plan_new(const thunk *t, frame *f, const elemwise_state *s, int ndim) {
  size_t key = 0, n = (size_t)ndim;
  elemwise_plan made = {.ndim = ndim, .n_in = t->n_in};
  for (int i = 0; i < t->n_in; i++) key += 2 * (size_t)thunk_in(t, f, i)->ndim;
  make_program(&made, t, f, s);
  made.bytes = sizeof made + (key + 2 * n) * sizeof(int64_t) + loop_plan_bytes(&made.program, ndim);
  elemwise_plan *p = mem_calloc(f->ctx, made.bytes);
  if (p == NULL) return NULL;
  *p = made;
  p->program.regs = p->regs;
  p->program.steps = p->steps;
  p->key = p->numbers;
  p->shape = p->key + key;
  p->out_strides = p->shape + n;
  p->loop_memory = p->out_strides + n;
  return p;
}

/* Whether the key of one input says its shape and strides. */
static inline bool key_is_of(const int64_t *key, const damo_array *x) {
  const int n = 2 * x->ndim; /* a few: calls of memcmp would take longer than it */
  for (int k = 0; k < n; k++) {
    if (key[k] != x->dims[k]) return false;
  }
  return true;
}

bool elemwise_key_matches(int64_t *key, const thunk *t, const frame *f, bool store) {
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = thunk_in(t, f, i);
    for (int k = 0; k < 2 * x->ndim && store; k++) key[k] = x->dims[k];
    if (!store && !key_is_of(key, x)) return false;
    key += 2 * x->ndim;
  }
  return true;
}

bool elemwise_key_is_of(const int64_t *key, damo_array *const *in, int n_in) {
  for (int i = 0; i < n_in; i++) {
    if (!key_is_of(key, in[i])) return false;
    key += 2 * in[i]->ndim;
  }
  return true;
}

/* Strides of input i along the result's axes: 0 where it is broadcast. */
void elemwise_strides_along(const damo_array *x, int ndim, int64_t *strides) {
  for (int axis = 0; axis < ndim; axis++) {
    const int k = axis - (ndim - x->ndim);
    strides[axis] = k < 0 || array_shape(x)[k] == 1 ? 0 : array_strides(x)[k];
  }
}

static void make_plan(elemwise_plan *p, const thunk *t, frame *f, const damo_array *out) {
  int64_t along[SCALAR_MAX_ARITY][DAMO_MAX_NDIM];
  const int64_t *strides[MAX_OPERANDS];
  for (int i = 0; i < p->n_in; i++) {
    elemwise_strides_along(thunk_in(t, f, i), p->ndim, along[i]);
    strides[i] = along[i];
  }
  strides[p->n_in] = array_strides(out);
  p->loop = loop_plan_init(p->loop_memory, &p->program, p->ndim, p->shape, strides);
  memcpy(p->out_strides, array_strides(out), (size_t)p->ndim * sizeof(int64_t));
  elemwise_key_matches(p->key, t, f, true);
  p->valid = true;
  p->repeats = p->program.n_steps > 0 && array_is_contiguous(out) && loop_cost(p->loop) <= AGAIN_NS;
}

static void elemwise_copy(const elemwise_plan *p, const damo_array *x, damo_array *out) {
  int64_t strides[DAMO_MAX_NDIM];
  if (out->data == x->data) return; /* in place */
  elemwise_strides_along(x, p->ndim, strides);
  array_copy_box(out->obj.ctx, x->data, strides, out->data, array_strides(out), p->ndim, p->shape,
                 dtype_size(array_dtype(out)));
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* The result's array: the destroyed operand where it has the result's shape. */
static damo_array *elemwise_result(const thunk *t, frame *f, const elemwise_state *s, const elemwise_plan *p) {
  int j = elemwise_data_of(t->node->op)->inplace;
  if (j >= 0) {
    const damo_array *x = thunk_in(t, f, j);
    size_t n = (size_t)p->ndim * sizeof(int64_t);
    if (x->ndim == p->ndim && memcmp(array_shape(x), p->shape, n) == 0) return thunk_out_inplace(t, f, 0, j);
  }
  return thunk_out_strided(t, f, 0, s->out_dtype, p->ndim, p->shape);
}

damo_status elemwise_perform(const thunk *t, frame *f) {
  elemwise_state *s = thunk_state(t, f);
  if (!s->ready) DAMO_TRY(elemwise_prepare(t, f, s));
  if (s->scalar) return run_scalar(t, f, s);
  int ndim = var_ndim(t->node->out[0]);
  if (s->plan == NULL && (s->plan = plan_new(t, f, s, ndim)) == NULL) return damo_error_status(f->ctx);
  elemwise_plan *p = s->plan;
  if (p->valid && !elemwise_key_matches(p->key, t, f, false)) p->valid = false;
  if (!p->valid) DAMO_TRY(broadcast_values(t, f, ndim, p->shape));
  damo_array *out = elemwise_result(t, f, s, p);
  if (out == NULL) return damo_error_status(f->ctx);
  if (!p->valid || memcmp(p->out_strides, array_strides(out), (size_t)ndim * sizeof(int64_t)) != 0) {
    make_plan(p, t, f, out);
  }
  if (p->program.n_steps == 0) {
    elemwise_copy(p, thunk_in(t, f, copied_operand(t)), out);
    return DAMO_OK;
  }
  char *base[MAX_OPERANDS];
  void *workspace = NULL;
  for (int i = 0; i < p->n_in; i++) base[i] = thunk_in(t, f, i)->data;
  base[p->n_in] = out->data;
  thread_pool *pool = ctx_pool(f->ctx, loop_cost(p->loop));
  const size_t bytes = loop_workspace_on(pool, p->loop);
  if (bytes > 0 && (workspace = thunk_scratch(t, f, bytes)) == NULL) return damo_error_status(f->ctx);
  loop_run_on(pool, p->loop, base, workspace);
  return DAMO_OK;
}

/* ---- The same run again ------------------------------------------------------------------------------------------ */

static bool fits_result(const damo_array *a, const again_result *of) {
  for (int k = 0; k < of->ndim; k++) {
    if (a->dims[k] != of->shape[k]) return false;
  }
  return array_is_contiguous(a);
}

bool elemwise_take_results(damo_ctx *ctx, damo_array **arrays, const again_result *of, int n) {
  damo_array *taken[AGAIN_OUTS];
  for (int o = 0; o < n; o++) {
    taken[o] = arrays[o];
    if (taken[o] != NULL && !fits_result(taken[o], &of[o])) return false;
  }
  for (int o = 0; o < n; o++) {
    if (taken[o] != NULL || (taken[o] = array_empty(ctx, of[o].dtype, of[o].ndim, of[o].shape)) != NULL) continue;
    for (int k = 0; k < o; k++) {
      if (arrays[k] == NULL) damo_release(taken[k]);
    }
    return false;
  }
  for (int o = 0; o < n; o++) arrays[o] = taken[o];
  return true;
}

bool elemwise_perform_again(const thunk *t, frame *f, damo_array **operands) {
  const elemwise_state *s = thunk_state(t, f);
  const elemwise_plan *p = s->plan;
  if (p == NULL || !p->valid || !p->repeats || !elemwise_key_is_of(p->key, operands, p->n_in)) return false;
  const size_t bytes = loop_workspace_on(NULL, p->loop);
  void *const workspace = bytes > 0 ? thunk_scratch(t, f, bytes) : NULL;
  if (bytes > 0 && workspace == NULL) return false;
  const again_result of = {s->out_dtype, p->ndim, p->shape};
  if (!elemwise_take_results(f->ctx, operands + p->n_in, &of, 1)) return false;
  char *base[MAX_OPERANDS];
  for (int i = 0; i <= p->n_in; i++) base[i] = operands[i]->data;
  loop_run_on(NULL, p->loop, base, workspace);
  return true;
}
