/* loop_op_run: runs a Loop: the program of its parts, and its plan for given shapes and strides (loop/loop.h). */
#include <string.h>

#include "elem_jit.h"
#include "loop_op_int.h"
#include "op/index/index_int.h"

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* What a frame keeps: the program, which depends on the node alone, and its plan, which depends on shapes and strides.
 * One allocation. */
struct loop_kept {
  size_t bytes;
  bool valid;         /* the plan is for the shapes and strides of the key */
  bool repeats;       /* loop_perform_again runs the plan */
  int32_t ndim;       /* of the iteration space */
  int32_t n_axes;     /* of a row, 0: there are no folds */
  int32_t *order;     /* of the axes in plans: those of a row last */
  int64_t placed;     /* the length of a row that parts which place values have */
  int64_t range;      /* the length of a range that is a source */
  loop_range *ranges; /* of the sources */
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

/* ---- What is kept ------------------------------------------------------------------------------------------------ */

/* The axis of input i that is that axis of the iteration space, -1: none. */
static int input_axis(const thunk *t, const loop_kept *k, int i, int axis) {
  const loop_data *d = loop_data_of(t->node->op);
  return loop_input_axis(d, i, var_ndim(t->node->in[i]), k->ndim, axis);
}

/* Whether input i does not broadcast along that axis. */
static bool input_spans(const thunk *t, const loop_kept *k, int i, int axis) {
  const int own = input_axis(t, k, i, axis);
  return own >= 0 && !type_dim_is_one(t->node->in[i]->type, own);
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
  DAMO_TRY(loop_make_program(t, f, &lp, join ? &lanes : NULL));
  const size_t ndim = (size_t)loop_ndim(d, t->node->in);
  size_t bytes = sizeof(loop_kept), n_key = 0;
  for (int i = 0; i < t->n_in; i++) n_key += 2 * (size_t)var_ndim(t->node->in[i]);
  bytes = (bytes + 63) & ~(size_t)63;
  const size_t regs = loop_op_take(&bytes, (size_t)lp.n_regs, sizeof(loop_reg));
  const size_t steps = loop_op_take(&bytes, (size_t)lp.n_steps, sizeof(loop_step));
  const size_t base = loop_op_take(&bytes, (size_t)lp.n_regs, sizeof(char *));
  const size_t values = loop_op_take(&bytes, ndim == 0 ? (size_t)lp.n_regs : 0, sizeof(damo_c128));
  const size_t shape = loop_op_take(&bytes, ndim, sizeof(int64_t)), key = loop_op_take(&bytes, n_key, sizeof(int64_t));
  const size_t out_strides = loop_op_take(&bytes, ndim * (size_t)t->n_out, sizeof(int64_t));
  const size_t spans = loop_op_take(&bytes, ndim, 1);
  const size_t order = loop_op_take(&bytes, ndim, sizeof(int32_t));
  size_t plan_bytes = lp.n_passes > 0 ? pass_plan_bytes(&lp, (int)ndim) : loop_plan_bytes(&lp, (int)ndim);
  if (lp.n_passes > 0 && strip_plan_bytes(&lp, (int)ndim) > plan_bytes) plan_bytes = strip_plan_bytes(&lp, (int)ndim);
  const size_t ranges = loop_op_take(&bytes, (size_t)d->n_sources, sizeof(loop_range));
  const size_t plan = loop_op_take(&bytes, plan_bytes, 1);
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
  k->ranges = (loop_range *)(void *)(m + ranges);
  k->plan_memory = m + plan;
  for (int r = 0; ndim == 0 && r < lp.n_regs; r++) k->base[r] = (char *)&k->values[r];
  state->kept = k;
  for (int axis = 0; axis < k->ndim; axis++) {
    k->spans[axis] = (d->place >= 0 && axis == k->ndim - 1) || loop_has_range(d);
    for (int i = 0; i < t->n_in; i++) k->spans[axis] = k->spans[axis] || input_spans(t, k, i, axis);
  }
  return DAMO_OK;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* Whether register r of the Loop leaves out the axes of the folds. */
static bool register_is_of_rows(const loop_data *d, int r) {
  return r < d->n_in ? d->of_rows[r] : d->parts[r - d->n_in].space == LOOP_ROWS;
}

/* The input that gives the length of the elements of input r along that axis: of what is taken, its positions may. */
static int length_input(const thunk *t, const loop_kept *k, int r, int axis) {
  const loop_data *d = loop_data_of(t->node->op);
  return d->uses[r].use == USE_TAKEN && input_axis(t, k, r, axis) < 0 ? d->sources[d->uses[r].source].in[1] : r;
}

/* Whether register r of the Loop broadcasts along that axis of the iteration space. */
static bool is_broadcast(const thunk *t, const loop_kept *k, int r, int axis) {
  if (r < t->n_in && loop_data_of(t->node->op)->uses[r].use == USE_RANGE) return false;
  if (r < t->n_in) return !input_spans(t, k, length_input(t, k, r, axis), axis);
  const loop_part *p = &loop_data_of(t->node->op)->parts[r - t->n_in];
  return !k->spans[axis] || (p->space != LOOP_ELEMENTS && loop_is_row_axis(loop_data_of(t->node->op), axis));
}

/* The length of register r along an axis along which it does not broadcast. */
static int64_t register_length(const thunk *t, frame *f, const loop_kept *k, const int64_t *made, int r, int axis) {
  if (r >= t->n_in) return made[(int64_t)(r - t->n_in) * k->ndim + axis];
  if (loop_data_of(t->node->op)->uses[r].use == USE_RANGE) return k->range;
  const int i = length_input(t, k, r, axis);
  return array_shape(thunk_in(t, f, i))[input_axis(t, k, i, axis)];
}

static void register_shape(const thunk *t, frame *f, const loop_kept *k, const int64_t *made, int r, char *text,
                           size_t n) {
  const loop_data *d = loop_data_of(t->node->op);
  if (r < t->n_in && d->uses[r].use == USE_OPERAND) {
    const damo_array *x = thunk_in(t, f, r);
    shape_format(text, n, x->ndim, array_shape(x));
  } else {
    int64_t shape[DAMO_MAX_NDIM];
    int ndim = 0;
    for (int axis = 0; axis < k->ndim; axis++) {
      if (!register_is_of_rows(d, r) || !loop_is_row_axis(d, axis))
        shape[ndim++] = register_length(t, f, k, made, r, axis);
    }
    shape_format(text, n, ndim, shape);
  }
}

/* How register r, of length 1 along that axis, could broadcast there; *own is that axis of its own, from 0. */
static damo_status register_hint(const thunk *t, frame *f, const loop_kept *k, int r, int axis, char *hint, size_t n,
                                 int *own) {
  const loop_data *d = loop_data_of(t->node->op);
  const bool is_input = r < t->n_in;
  if (is_input && d->uses[r].use == USE_OPERAND) {
    *own = input_axis(t, k, r, axis);
    broadcast_hint(hint, n, t->node->in[r]->type, *own);
    return DAMO_OK;
  }
  int64_t shape[DAMO_MAX_NDIM];
  int ndim = 0;
  for (int j = 0; j < k->ndim; j++) {
    if (register_is_of_rows(d, r) && loop_is_row_axis(d, j)) continue;
    if (j == axis) *own = ndim;
    const int i = is_input ? length_input(t, k, r, j) : -1, of = is_input ? input_axis(t, k, i, j) : -1;
    shape[ndim++] = is_broadcast(t, k, r, j) ? 1 : of >= 0 ? t->node->in[i]->type->shape[of] : -1;
  }
  damo_type *type = type_tensor(f->ctx, DAMO_FLOAT64, ndim, shape);
  if (type == NULL) return damo_error_status(f->ctx);
  broadcast_hint(hint, n, type, *own);
  damo_release(type);
  return DAMO_OK;
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
  const int one = li == 1 ? i : j;
  int own = axis;
  DAMO_TRY(register_hint(t, f, k, p->in[one], axis, hint, sizeof hint, &own));
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes %s and %s do not agree: axis %d of operand %d %s", name, x, y,
                  own + 1, one + 1, hint);
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
      if (d->uses[i].use > USE_TAKEN && d->uses[i].use != USE_RANGE) continue;
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
  const bool in_place = t->node->op->destroy_map != NULL;
  for (int o = 0; o < t->n_out; o++) {
    const damo_dtype dtype = loop_part_of_out(loop_data_of(t->node->op), o)->dtype;
    const damo_array *out = in_place ? loop_result(t, f, k, o) : thunk_out_scalar(t, f, o, dtype);
    if (out == NULL) return damo_error_status(f->ctx);
    k->base[t->n_in + o] = out->data;
  }
  for (int i = 0; i < t->n_in; i++) k->base[i] = thunk_in(t, f, i)->data;
  elem_native_run(k->native, k->base);
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

/* What an input that is read at a source has besides (loop/loop.h). */
static void source_strides(const thunk *t, frame *f, const loop_kept *k, int i, int64_t *along) {
  const loop_input_use u = loop_data_of(t->node->op)->uses[i];
  const damo_array *x = thunk_in(t, f, i);
  if (u.use == USE_TAKEN) {
    along[k->ndim] = array_strides(x)[u.axis];
    along[k->ndim + 1] = array_shape(x)[u.axis];
  } else if (u.use == USE_RANGE) {
    along[0] = 1; /* a Loop with a range has one axis */
  }
}

/* Strides of the operands along the axes in the plans' order, from the inputs and the results in their cells. */
static void operand_strides(const thunk *t, frame *f, loop_kept *k, const int64_t **strides, int64_t *numbers) {
  const size_t ndim = (size_t)k->ndim, each = ndim + LOOP_LOAD_STRIDES;
  for (int i = 0; i < t->n_in + t->n_out; i++) strides[i] = numbers + (size_t)i * each;
  for (int i = 0; i < t->n_in; i++) {
    int64_t *along = numbers + (size_t)i * each;
    const damo_array *x = thunk_in(t, f, i);
    for (int j = 0; j < k->ndim; j++) {
      const int own = input_axis(t, k, i, k->order[j]);
      along[j] = own >= 0 && array_shape(x)[own] != 1 ? array_strides(x)[own] : 0;
    }
    source_strides(t, f, k, i, along);
  }
  for (int o = 0; o < t->n_out; o++) {
    const damo_array *out = (const damo_array *)thunk_result(t, f, o);
    int64_t *along = numbers + (size_t)(t->n_in + o) * each;
    if (out_is_row(t, o)) {
      row_strides(k, (damo_dtype)out->dtype, along);
      continue;
    }
    for (int j = 0; j < k->ndim; j++) along[j] = array_strides(out)[k->order[j]];
    memcpy(k->out_strides + (size_t)o * ndim, array_strides(out), ndim * sizeof(int64_t));
  }
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

/* Whether the plan alone says what a run does: no values are checked before it, and results are C-contiguous. */
static bool plan_repeats(const thunk *t, const frame *f, const loop_kept *k) {
  const loop_data *d = loop_data_of(t->node->op);
  if (d->place >= 0 || d->n_sources > 0 || d->has_positions || plan_cost(k) > AGAIN_NS) return false;
  for (int o = 0; o < t->n_out; o++) {
    if (!array_is_contiguous((const damo_array *)thunk_result(t, f, o))) return false;
  }
  return true;
}

/* Runs the plan on operands at k->base. */
static void run_plan(thread_pool *pool, const loop_kept *k, char *work) {
  if (k->strips != NULL)
    strip_run_on(pool, k->strips, k->base, work);
  else if (k->n_axes > 0)
    pass_run_on(pool, k->passes, k->base, work);
  else
    loop_run_on(pool, k->plan, k->base, work);
}

/* The plan for these inputs and the results, which are in their cells. */
static damo_status plan_loop(const thunk *t, frame *f, loop_kept *k) {
  const size_t n_ops = (size_t)(t->n_in + t->n_out), ndim = (size_t)k->ndim;
  const size_t bytes = n_ops * ((ndim + LOOP_LOAD_STRIDES) * sizeof(int64_t) + sizeof(int64_t *));
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
  k->repeats = plan_repeats(t, f, k);
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

/* How many of m positions an axis of length n does not have. */
static int64_t count_outside(const char *p, int64_t step, int64_t m, int64_t n) {
  int64_t outside = 0;
  for (int64_t j = 0; j < m; j++) {
    const int64_t position = *(const int64_t *)(const void *)(p + j * step);
    outside += (position < -n) | (position > n) | (position == 0);
  }
  return outside;
}

#define TAKEN_PART 8192 /* positions that are checked between two points */

/* Positions of sources must lie on their axis. */
static damo_status check_taken(const thunk *t, frame *f, const loop_source *s) {
  const int axis = index_taken_axis(s->op);
  const int64_t n = array_shape(thunk_in(t, f, s->in[0]))[axis];
  array_rows r;
  for (char *p = rows_begin(&r, thunk_in(t, f, s->in[1])); p != NULL; p = rows_next(&r, p)) {
    for (int64_t from = 0; from < r.length; from += TAKEN_PART) {
      const int64_t end = r.length - from < TAKEN_PART ? r.length : from + TAKEN_PART;
      const int64_t outside = count_outside(p + from * r.step, r.step, end - from, n);
      for (int64_t j = from; j < end && outside > 0; j++) {
        int64_t at;
        DAMO_TRY(position_resolve(f->ctx, "index", axis, n, *(const int64_t *)(void *)(p + j * r.step), &at));
      }
      ctx_point(f->ctx);
    }
  }
  return DAMO_OK;
}

#define RANGE_MOST (INT64_C(1) << 40) /* entries: the sizes of workspaces of so many are no overflow */

/* The start and the step of a range, and its length. All ranges must have the same. */
static damo_status read_range(const thunk *t, frame *f, loop_kept *k, int source, bool first) {
  const loop_source *s = &loop_data_of(t->node->op)->sources[source];
  const scalar start = array_item(thunk_in(t, f, s->in[0])), step = array_item(thunk_in(t, f, s->in[2]));
  int64_t n;
  DAMO_TRY(arange_count(f->ctx, start, array_item(thunk_in(t, f, s->in[1])), step, &n));
  if (n > RANGE_MOST) return ctx_fail(f->ctx, DAMO_EVALUE, "arange: %lld entries are too many", (long long)n);
  if (!first && n != k->range)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "ranges of %lld and %lld entries do not agree", (long long)k->range,
                    (long long)n);
  if (n != k->range) k->valid = false;
  k->range = n;
  k->ranges[source] = arange_values(loop_input_dtype(loop_data_of(t->node->op), t->node->in, s->in[0]), start, step);
  return DAMO_OK;
}

static damo_status read_sources(const thunk *t, frame *f, loop_kept *k) {
  const loop_data *d = loop_data_of(t->node->op);
  bool first = true;
  for (int i = 0; i < d->n_sources; i++) {
    if (d->sources[i].op->def != &arange_def) continue;
    DAMO_TRY(read_range(t, f, k, i, first));
    first = false;
  }
  for (int i = 0; i < d->n_sources; i++) {
    if (d->sources[i].op->def != &arange_def) DAMO_TRY(check_taken(t, f, &d->sources[i]));
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
  if (loop_data_of(t->node->op)->n_sources > 0) DAMO_TRY(read_sources(t, f, k));
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
  for (int i = 0; i < loop_data_of(t->node->op)->n_sources; i++) {
    const loop_source *s = &loop_data_of(t->node->op)->sources[i];
    if (s->op->def == &arange_def) k->base[s->in[0]] = (char *)&k->ranges[i];
  }
  for (int o = 0; o < t->n_out; o++) k->base[t->n_in + o] = ((const damo_array *)thunk_result(t, f, o))->data;
  run_plan(pool, k, work);
  return DAMO_OK;
}

damo_status loop_perform(const thunk *t, frame *f) {
  const loop_kept *k = ((loop_state *)thunk_state(t, f))->kept;
  return k != NULL && k->native != NULL ? run_own_code(t, f, k) : perform_planned(t, f);
}

bool loop_perform_at(const thunk *t, frame *f, char *const *operands) {
  const loop_kept *k = ((loop_state *)thunk_state(t, f))->kept;
  if (k == NULL || k->native == NULL) return false;
  elem_native_run(k->native, operands);
  return true;
}

/* What the outputs are, from output 0 on; rows: space for the shapes of those of one value a row. */
static void describe_results(const thunk *t, const loop_kept *k, again_result *of, int64_t (*rows)[DAMO_MAX_NDIM]) {
  const loop_data *d = loop_data_of(t->node->op);
  for (int o = 0; o < t->n_out; o++) {
    const loop_part *p = loop_part_of_out(d, o);
    of[o] = (again_result){p->dtype, k->ndim, k->shape};
    if (p->space == LOOP_ELEMENTS) continue;
    of[o].ndim = loop_part_shape(d, p, k->ndim, k->shape, rows[o]);
    of[o].shape = rows[o];
  }
}

bool loop_perform_again(const thunk *t, frame *f, damo_array **operands) {
  loop_kept *k = ((loop_state *)thunk_state(t, f))->kept;
  int64_t rows[AGAIN_OUTS][DAMO_MAX_NDIM];
  again_result of[AGAIN_OUTS];
  if (k == NULL || !k->valid || !k->repeats || t->n_out > AGAIN_OUTS ||
      !elemwise_key_is_of(k->key, operands, t->n_in) || is_time_to_join(k, f))
    return false;
  const size_t bytes = plan_workspace_on(NULL, k);
  char *const work = bytes > 0 ? thunk_scratch(t, f, bytes) : NULL;
  if (bytes > 0 && work == NULL) return false;
  describe_results(t, k, of, rows);
  if (!elemwise_take_results(f->ctx, operands + t->n_in, of, t->n_out)) return false;
  for (int i = 0; i < t->n_in + t->n_out; i++) k->base[i] = operands[i]->data;
  run_plan(NULL, k, work);
  return true;
}
