/* alloc: arrays made from a shape: Alloc (a value broadcast), AllocEmpty.
 *
 * Lengths are int64 scalar operands, so they may be computed. Alloc makes the zeros of gradients. It is not folded into
 * constants, so that a later op may write into its result in place.
 */
#include "shape_int.h"
#include "graph/c_emit.h"
#include "kernel/kernel.h"

/* ---- Alloc ------------------------------------------------------------------------------------------------------- */

static damo_status alloc_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  return broadcast_dims_type(op, "alloc", "a value of shape", in, n_in, out);
}

static damo_status alloc_perform(const thunk *t, frame *f) {
  const damo_array *v = thunk_in(t, f, 0);
  int n = t->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  DAMO_TRY(thunk_dims(t, f, "alloc", 1, n, shape));
  DAMO_TRY(broadcast_strides(f->ctx, "alloc", v, t->node->in[0]->type, n, shape, strides));
  damo_array *out = thunk_out(t, f, 0, array_dtype(v), n, shape);
  if (!out) return DAMO_EMEMORY;
  array_copy_box(f->ctx, v->data, strides, out->data, NULL, n, shape, dtype_size(v->dtype));
  return DAMO_OK;
}

static damo_status alloc_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_unbroadcast(b, gout[0], node->in[0]);
  return b->status;
}

static damo_status alloc_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_alloc(b, eval[0], node->in + 1, node->n_in - 1);
  return b->status;
}

static damo_status alloc_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                               damo_var **out) {
  damo_var *dims[DAMO_MAX_NDIM];
  const int n = batch_result_lengths(b, node, in, batched, k, dims);
  if (n >= 0) out[0] = build_alloc(b, batch_pad(b, in[0], k, n - k), dims, n);
  return b->status;
}

/* Results of at most so many bytes are constants of the file, so that what is made of them can be computed while
 * exporting. */
#define KNOWN_BYTES 512

static bool alloc_is_small(const c_value *x, int ndim, const int64_t *shape) {
  int64_t bytes = (int64_t)dtype_size(x->dtype);
  for (int k = 0; k < ndim && bytes <= KNOWN_BYTES; k++) bytes = shape[k] > KNOWN_BYTES ? INT64_MAX : bytes * shape[k];
  return bytes <= KNOWN_BYTES;
}

static damo_status alloc_emit_c(c_emit *e, const damo_apply *node) {
  const int ndim = node->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  ce_takes_complex(e);
  for (int k = 0; k < ndim; k++) {
    DAMO_TRY(ce_int(e, k + 1, "a length", &shape[k]));
    if (shape[k] < 0) return ce_refuse(e, "length %d is negative: %lld", k + 1, (long long)shape[k]);
  }
  const c_value *x = ce_in(e, 0);
  for (int k = 0; k < x->ndim; k++) {
    if (x->shape[k] != 1 && x->shape[k] != shape[ndim - x->ndim + k])
      return ce_refuse(e, "a length of %lld does not broadcast to %lld", (long long)x->shape[k],
                       (long long)shape[ndim - x->ndim + k]);
  }
  /* in a branch that no call takes, what is made of a constant may fail */
  if (x->known != NULL && !e->branches && alloc_is_small(x, ndim, shape)) {
    ce_strides_along(x, ndim, strides);
    const c_value *all = ce_view(e, x, ndim, shape, strides, 0);
    return all != NULL ? ce_out_known(e, 0, array_copy(all->known)) : e->status;
  }
  c_value *out = ce_out(e, 0, var_dtype(node->out[0]), ndim, shape);
  const bool same = out != NULL && x->known != NULL && array_size(x->known) == 1;
  if (same && ndim > 0 && !e->branches && !dtype_is_complex(x->dtype) && x->dtype == out->dtype)
    out->fill = ce_literal(e, x->known, x->dtype);
  else if (same)
    ce_fill(e, out, ce_literal(e, x->known, x->dtype));
  else
    ce_copy(e, out, x);
  return e->status;
}

static bool alloc_moves(const op_moves *m, damo_ctx *ctx) {
  (void)ctx;
  int64_t n = 1;
  if (m->node->n_in == 2) n = m->known[1] != NULL ? scalar_to_int64(array_item(m->known[1])) : -1;
  if (n < 0 || n > OP_MOVES_MOST || (m->n_in[0] != n && m->n_in[0] != 1)) return false;
  for (int32_t i = 0; i < n; i++) m->out[i] = (op_move){.in = 0, .at = m->n_in[0] == 1 ? 0 : i, .add = -1};
  m->n_out[0] = (int32_t)n;
  return true;
}

const op_def alloc_def = {
    .name = "Alloc",
    .doc = "a value broadcast to a shape",
    .n_in = OP_VARIADIC,
    .infer_type = alloc_type,
    .perform = alloc_perform,
    .emit_c = alloc_emit_c,
    .moves = alloc_moves,
    .grad = alloc_grad,
    .rop = alloc_rop,
    .infer_shape = infer_shape_value_lengths,
    .batch = alloc_batch,
    .connection_pattern = connect_first,
    .do_constant_folding = fold_never,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/alloc.lua has results by hand and from plain loops",
};

damo_var *build_alloc(build *b, damo_var *value, damo_var *const *shape, int ndim) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  value = build_strong(b, value);
  if (!value || b->status != DAMO_OK) return NULL;
  if (ndim == 0 && var_ndim(value) == 0) return value;
  in[0] = value;
  for (int i = 0; i < ndim; i++) in[i + 1] = shape[i];
  return build_op(b, op_new(b->ctx, &alloc_def, NULL), in, ndim + 1);
}

/* value (0-d, not weak) broadcast to x's shape. */
static damo_var *alloc_like(build *b, damo_var *x, damo_var *value) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (!x || !value || b->status != DAMO_OK) return NULL;
  if (!type_is_tensor(x->type)) return build_fail(b, DAMO_ETYPE, "alloc: expected a tensor to take the shape of");
  if (build_dims(b, x, dims) != DAMO_OK) return NULL;
  return build_alloc(b, value, dims, var_ndim(x));
}

damo_var *build_zeros_of(build *b, damo_var *x, damo_dtype dtype) {
  if (x && type_is_sparse(x->type)) return sparse_form.zeros(b, x, dtype);
  return alloc_like(b, x, build_scalar(b, dtype, 0));
}

damo_var *build_zero_grad(build *b, damo_var *x) {
  if (x == NULL) return NULL;
  damo_dtype dt = var_dtype(x);
  return build_zeros_of(b, x, dtype_is_discrete(dt) ? b->ctx->config.floatX : dt);
}

damo_var *build_zeros_like(build *b, damo_var *x) { return x ? build_zeros_of(b, x, var_dtype(x)) : NULL; }

damo_var *build_ones_like(build *b, damo_var *x) {
  return x ? alloc_like(b, x, build_scalar(b, var_dtype(x), 1)) : NULL;
}

/* ---- AllocEmpty -------------------------------------------------------------------------------------------------- */

static damo_status empty_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[DAMO_MAX_NDIM];
  DAMO_TRY(static_dims(op->obj.ctx, "empty", in, n_in, shape));
  out[0] = type_tensor(op->obj.ctx, prop_dtype(OP_PROPS(op, dtype_props)->dtype), n_in, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status empty_perform(const thunk *t, frame *f) {
  int64_t shape[DAMO_MAX_NDIM];
  DAMO_TRY(thunk_dims(t, f, "empty", 0, t->n_in, shape));
  damo_array *out = thunk_out(t, f, 0, prop_dtype(OP_PROPS(t->node->op, dtype_props)->dtype), t->n_in, shape);
  if (!out) return DAMO_EMEMORY;
  /* What the process freed may hold addresses, and what other scripts computed. */
  return damo_ctx_is_sandbox(f->ctx) ? array_fill(out, (scalar){.dtype = DAMO_BOOL, .v.i = 0}) : DAMO_OK;
}

static damo_status empty_emit_c(c_emit *e, const damo_apply *node) {
  int64_t shape[DAMO_MAX_NDIM];
  for (int i = 0; i < node->n_in; i++) DAMO_TRY(ce_int(e, i, "a length", &shape[i]));
  ce_out(e, 0, var_dtype(node->out[0]), node->n_in, shape);
  return e->status;
}

static const op_def empty_def = {
    .name = "AllocEmpty",
    .doc = "an array whose entries are not set",
    .props = PROPS(PROP_DTYPE(dtype_props, dtype)),
    .n_in = OP_VARIADIC,
    .least_in = OP_NO_INPUT,
    .infer_type = empty_type,
    .perform = empty_perform,
    .emit_c = empty_emit_c,
    .grad = grad_none,
    .infer_shape = infer_shape_lengths,
    .connection_pattern = connect_none,
    .do_constant_folding = fold_never,
    .no_check = "its entries are anything",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The value that operand i gives, cast to the dtype option where that is given; a literal without it has dtype
 * floatX. */
static damo_var *fill_value(build *b, const fn_args *a, int i, prop_value dtype) {
  damo_dtype dt = b->ctx->config.floatX;
  damo_status s = fn_check_tensor(a, b->ctx, i);
  if (s == DAMO_OK) s = fn_dtype(a, b->ctx, dtype, &dt);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  damo_var *v = a->in[i];
  return v->weak || prop_given(dtype) ? build_cast(b, build_strong(b, v), dt) : v;
}

static damo_status alloc_value(build *b, const fn_args *a, damo_var *value, ptrvec *out) {
  const shape_options *o = FN_OPTIONS(a, shape_options);
  damo_var *dims[DAMO_MAX_NDIM];
  int n;
  if (!value) return b->status;
  if (!prop_given(o->shape)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the shape is missing", a->func->name);
  DAMO_TRY(shape_check(b, a->func->name, &o->shape, dims, &n));
  return fn_give(b, out, build_alloc(b, value, dims, n));
}

static damo_status fn_alloc(build *b, const fn_args *a, ptrvec *out) {
  return alloc_value(b, a, fill_value(b, a, 0, FN_OPTIONS(a, shape_options)->dtype), out);
}

static damo_status alloc_number(build *b, const fn_args *a, ptrvec *out, double value) {
  damo_dtype dt = b->ctx->config.floatX;
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, shape_options)->dtype, &dt));
  return alloc_value(b, a, build_scalar(b, dt, value), out);
}
static damo_status fn_zeros(build *b, const fn_args *a, ptrvec *out) { return alloc_number(b, a, out, 0); }
static damo_status fn_ones(build *b, const fn_args *a, ptrvec *out) { return alloc_number(b, a, out, 1); }

static damo_var *build_empty(build *b, damo_dtype dtype, damo_var *const *dims, int n) {
  const dtype_props dt = {.dtype = prop_str(dtype_name(dtype))};
  return build_op(b, op_new(b->ctx, &empty_def, &dt), dims, n);
}

static damo_status fn_empty(build *b, const fn_args *a, ptrvec *out) {
  const shape_options *o = FN_OPTIONS(a, shape_options);
  damo_var *dims[DAMO_MAX_NDIM];
  damo_dtype dt = b->ctx->config.floatX;
  int n;
  DAMO_TRY(fn_dtype(a, b->ctx, o->dtype, &dt));
  if (!prop_given(o->shape)) return ctx_fail(b->ctx, DAMO_ETYPE, "empty: the shape is missing");
  DAMO_TRY(shape_check(b, "empty", &o->shape, dims, &n));
  return fn_give(b, out, build_empty(b, dt, dims, n));
}

static damo_status number_like(build *b, const fn_args *a, ptrvec *out, double value) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  damo_dtype dt = var_dtype(x);
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, dtype_options)->dtype, &dt));
  return fn_give(b, out, alloc_like(b, x, build_scalar(b, dt, value)));
}
static damo_status fn_zeros_like(build *b, const fn_args *a, ptrvec *out) { return number_like(b, a, out, 0); }
static damo_status fn_ones_like(build *b, const fn_args *a, ptrvec *out) { return number_like(b, a, out, 1); }

static damo_status fn_empty_like(build *b, const fn_args *a, ptrvec *out) {
  damo_var *dims[DAMO_MAX_NDIM];
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  damo_dtype dt = var_dtype(x);
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, dtype_options)->dtype, &dt));
  DAMO_TRY(build_dims(b, x, dims));
  return fn_give(b, out, build_empty(b, dt, dims, var_ndim(x)));
}

/* The value is cast to x's dtype unless the option names another. */
static damo_status fn_full_like(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *x = build_strong(b, a->in[0]), *v = build_strong(b, a->in[1]);
  if (!x || !v) return b->status;
  damo_dtype dt = var_dtype(x);
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, dtype_options)->dtype, &dt));
  return fn_give(b, out, alloc_like(b, x, build_cast(b, v, dt)));
}

const op_func alloc_funcs[] = {
    {.name = "alloc",
     .operands = "value",
     .options = OPTIONS(OPT(shape_options, shape, OPT_SHAPE), OPT(shape_options, dtype, OPT_DTYPE)),
     .call = fn_alloc,
     .doc = "a value broadcast to a shape",
     .no_method = true},
    {.name = "zeros",
     .operands = "",
     .options = OPTIONS(OPT(shape_options, shape, OPT_SHAPE), OPT(shape_options, dtype, OPT_DTYPE)),
     .call = fn_zeros,
     .doc = "zeros of a shape",
     .no_method = true},
    {.name = "ones",
     .operands = "",
     .options = OPTIONS(OPT(shape_options, shape, OPT_SHAPE), OPT(shape_options, dtype, OPT_DTYPE)),
     .call = fn_ones,
     .doc = "ones of a shape",
     .no_method = true},
    {.name = "empty",
     .operands = "",
     .options = OPTIONS(OPT(shape_options, shape, OPT_SHAPE), OPT(shape_options, dtype, OPT_DTYPE)),
     .call = fn_empty,
     .doc = "an array of a shape whose entries are not set",
     .no_method = true},
    {.name = "full",
     .operands = "value",
     .options = OPTIONS(OPT(shape_options, shape, OPT_SHAPE), OPT(shape_options, dtype, OPT_DTYPE)),
     .call = fn_alloc,
     .doc = "an array of a shape filled with a value",
     .no_method = true},
    {.name = "zeros_like",
     .operands = "x",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_zeros_like,
     .doc = "zeros of x's shape and dtype"},
    {.name = "ones_like",
     .operands = "x",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_ones_like,
     .doc = "ones of x's shape and dtype"},
    {.name = "full_like",
     .operands = "x value",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_full_like,
     .doc = "a value in x's shape and dtype"},
    {.name = "empty_like",
     .operands = "x",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_empty_like,
     .doc = "an array of x's shape and dtype whose entries are not set"},
    {.name = NULL},
};

const op_def *const alloc_classes[] = {&alloc_def, &empty_def, NULL};
