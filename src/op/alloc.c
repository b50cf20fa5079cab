/* alloc.c: arrays made from a shape: Alloc (a value broadcast), AllocEmpty, Eye and Tri, ARange.
 *
 * Lengths are int64 scalar operands, so they may be computed. Alloc is the engine's only source of zeros in gradients, so
 * it isn't folded into constants: a later op may write into what it makes.
 */
#include "shape_int.h"
#include "sparse_op.h"

#include <math.h>
#include <string.h>

static bool no_folding(const damo_apply *node) {
  (void)node;
  return false;
}

/* ---- Alloc ------------------------------------------------------------------------------------------------------------- */

static damo_status alloc_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  return broadcast_dims_type(op, "alloc", "a value of shape", in, n_in, out);
}

static damo_status alloc_perform(thunk *t) {
  const damo_array *v = thunk_in(t, 0);
  int n = t->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  DAMO_TRY(thunk_dims(t, "alloc", 1, n, shape));
  DAMO_TRY(broadcast_strides(t->ctx, "alloc", v, n, shape, strides));
  damo_array *out = thunk_out(t, 0, array_dtype(v), n, shape);
  if (!out) return DAMO_EMEMORY;
  kernel_copy_nd(v->data, strides, out->data, NULL, n, shape, dtype_size(v->dtype));
  return DAMO_OK;
}

static damo_status alloc_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_sum_to(b, gout[0], node->in[0]);
  return b->status;
}

static damo_status alloc_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_alloc(b, eval[0], node->in + 1, node->n_in - 1);
  return b->status;
}

/* Of ops whose inputs from `first` on are the lengths of their output. */
static damo_status lengths_infer_shape(build *b, damo_apply *node, int first, damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = node->in[first + i];
  return b->status;
}

static damo_status alloc_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  (void)in_shape;
  return lengths_infer_shape(b, node, 1, out_shape);
}

const op_def alloc_def = {
    .name = "Alloc",
    .doc = "a value broadcast to a shape",
    .n_in = OP_VARIADIC,
    .infer_type = alloc_type,
    .perform = alloc_perform,
    .grad = alloc_grad,
    .rop = alloc_rop,
    .infer_shape = alloc_infer_shape,
    .connection_pattern = connect_first,
    .do_constant_folding = no_folding,
};

damo_var *build_alloc(build *b, damo_var *value, damo_var *const *shape, int ndim) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  value = build_strong(b, value);
  if (!value || b->status != DAMO_OK) return NULL;
  if (ndim == 0 && var_ndim(value) == 0) return value;
  in[0] = value;
  for (int i = 0; i < ndim; i++) in[i + 1] = shape[i];
  return build_op(b, op_new(b->ctx, &alloc_def, NULL, 0), in, ndim + 1);
}

/* value (strong, 0-d) in x's shape */
static damo_var *alloc_like(build *b, damo_var *x, damo_var *value) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (!x || !value || b->status != DAMO_OK) return NULL;
  if (!type_is_tensor(x->type)) return build_fail(b, DAMO_ETYPE, "alloc: expected a tensor to take the shape of");
  if (build_dims(b, x, dims) != DAMO_OK) return NULL;
  return build_alloc(b, value, dims, var_ndim(x));
}

damo_var *build_zeros_of(build *b, damo_var *x, damo_dtype dtype) {
  if (x && type_is_sparse(x->type)) return build_sparse_zeros(b, x, dtype);
  return alloc_like(b, x, build_scalar(b, dtype, 0));
}

damo_var *build_zeros_like(build *b, damo_var *x) { return x ? build_zeros_of(b, x, var_dtype(x)) : NULL; }

damo_var *build_ones_like(build *b, damo_var *x) {
  return x ? alloc_like(b, x, build_scalar(b, var_dtype(x), 1)) : NULL;
}

/* ---- AllocEmpty --------------------------------------------------------------------------------------------------------- */

static damo_dtype op_dtype(const damo_op *op) {
  damo_dtype dt = DAMO_FLOAT64;
  damo_dtype_from_name(op_prop(op, "dtype")->u.s, &dt);
  return dt;
}

static damo_status empty_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[DAMO_MAX_NDIM];
  DAMO_TRY(static_dims(op->obj.ctx, "empty", in, n_in, shape));
  out[0] = type_tensor(op->obj.ctx, op_dtype(op), n_in, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status empty_perform(thunk *t) {
  int64_t shape[DAMO_MAX_NDIM];
  DAMO_TRY(thunk_dims(t, "empty", 0, t->n_in, shape));
  return thunk_out(t, 0, op_dtype(t->node->op), t->n_in, shape) ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status empty_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  (void)in_shape;
  return lengths_infer_shape(b, node, 0, out_shape);
}

static const op_def empty_def = {
    .name = "AllocEmpty",
    .doc = "an array whose entries are not set",
    .props = "dtype",
    .n_in = OP_VARIADIC,
    .infer_type = empty_type,
    .perform = empty_perform,
    .grad = grad_none,
    .infer_shape = empty_infer_shape,
    .connection_pattern = connect_none,
    .do_constant_folding = no_folding,
};

/* ---- Eye and Tri: ones on, or on and below, the k-th diagonal -------------------------------------------------------------- */

/* In the words of scripts. */
static const char *matrix_name(const damo_op *op) { return strcmp(op->def->name, "Eye") == 0 ? "eye" : "tri"; }

static damo_status eye_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(static_dims(op->obj.ctx, matrix_name(op), in, 2, shape));
  out[0] = type_tensor(op->obj.ctx, op_dtype(op), 2, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

/* Sets entries from..to of every row (relative to its diagonal) to one: the caller gives the range by `full`. */
static damo_status eye_fill(thunk *t, bool full) {
  int64_t shape[2], k = array_int(thunk_in(t, 2));
  damo_dtype dt = op_dtype(t->node->op);
  DAMO_TRY(thunk_dims(t, matrix_name(t->node->op), 0, 2, shape));
  damo_array *out = thunk_out(t, 0, dt, 2, shape);
  if (!out) return DAMO_EMEMORY;
  char one[16] = {0};
  const double unit = 1;
  int64_t size = (int64_t)dtype_size(dt);
  kernel_cast(DAMO_FLOAT64, dt)(&unit, one, 1);
  memset(out->data, 0, (size_t)(shape[0] * shape[1] * size));
  for (int64_t i = 0; i < shape[0]; i++) {
    int64_t last = i + k, first = full ? 0 : last;
    if (last >= shape[1]) last = shape[1] - 1;
    if (first < 0) continue;
    if (first <= last)
      kernel_copy_strided(one, 0, out->data + (i * shape[1] + first) * size, size, last - first + 1, (size_t)size);
  }
  return DAMO_OK;
}

static damo_status eye_perform(thunk *t) { return eye_fill(t, false); }
static damo_status tri_perform(thunk *t) { return eye_fill(t, true); }

static const op_def eye_def = {
    .name = "Eye",
    .doc = "ones on the k-th diagonal",
    .props = "dtype",
    .n_in = 3,
    .infer_type = eye_type,
    .perform = eye_perform,
    .grad = grad_none,
    .infer_shape = empty_infer_shape,
    .connection_pattern = connect_none,
};

static const op_def tri_def = {
    .name = "Tri",
    .doc = "ones on and below the k-th diagonal",
    .props = "dtype",
    .n_in = 3,
    .infer_type = eye_type,
    .perform = tri_perform,
    .grad = grad_none,
    .infer_shape = empty_infer_shape,
    .connection_pattern = connect_none,
};

/* ---- ARange ------------------------------------------------------------------------------------------------------------- */

static int64_t arange_length(double start, double stop, double step) {
  double n = ceil((stop - start) / step);
  return n > 0 ? (n < 9e18 ? (int64_t)n : INT64_MAX) : 0;
}

/* Exact for integers of any size. */
static int64_t arange_length_int(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? stop <= start : stop >= start) return 0;
  uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
  uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  return (int64_t)((span - 1) / by + 1);
}

static damo_status arange_count(damo_ctx *ctx, scalar start, scalar stop, scalar step, int64_t *n) {
  if (scalar_to_double(step) == 0) return ctx_fail(ctx, DAMO_EVALUE, "arange: the step is 0");
  double width = scalar_to_double(stop) - scalar_to_double(start) - scalar_to_double(step);
  if (!isfinite(width)) return ctx_fail(ctx, DAMO_EVALUE, "arange: start, stop and step must be finite");
  if (dtype_is_integer(start.dtype))
    *n = arange_length_int(scalar_to_int64(start), scalar_to_int64(stop), scalar_to_int64(step));
  else
    *n = arange_length(scalar_to_double(start), scalar_to_double(stop), scalar_to_double(step));
  return DAMO_OK;
}

static damo_status arange_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  int64_t n = -1;
  const damo_array *a = var_constant_array(in[0]), *z = var_constant_array(in[1]), *s = var_constant_array(in[2]);
  for (int i = 0; i < 3; i++)
    if (!type_is_tensor(in[i]->type) || var_ndim(in[i]) != 0 || dtype_is_complex(var_dtype(in[i])))
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "arange: start, stop and step must be real scalars");
  if (a && z && s) DAMO_TRY(arange_count(op->obj.ctx, array_item(a), array_item(z), array_item(s), &n));
  out[0] = type_tensor(op->obj.ctx, op_dtype(op), 1, &n);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status arange_perform(thunk *t) {
  scalar start = array_item(thunk_in(t, 0)), step = array_item(thunk_in(t, 2));
  damo_dtype dt = op_dtype(t->node->op);
  int64_t n;
  DAMO_TRY(arange_count(t->ctx, start, array_item(thunk_in(t, 1)), step, &n));
  damo_array *out = thunk_out(t, 0, dt, 1, &n);
  if (!out) return DAMO_EMEMORY;
  if (dt == DAMO_INT64) {
    int64_t at = scalar_to_int64(start), by = scalar_to_int64(step);
    for (int64_t i = 0; i < n; i++) ((int64_t *)out->data)[i] = (int64_t)((uint64_t)at + (uint64_t)i * (uint64_t)by);
    return DAMO_OK;
  }
  double at = scalar_to_double(start), by = scalar_to_double(step);
  for (int64_t i = 0; i < n; i++) array_set(out, &i, (scalar){.dtype = DAMO_FLOAT64, .v.f = at + (double)i * by});
  return DAMO_OK;
}

static damo_status arange_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  (void)in_shape;
  if (node->out[0]->type->shape[0] >= 0) {
    out_shape[0][0] = build_i64(b, node->out[0]->type->shape[0]);
    return b->status;
  }
  damo_var *span = build_fn2(b, "sub", node->in[1], node->in[0]);
  damo_var *n = build_cast(b, build_fn1(b, "ceil", build_fn2(b, "true_div", span, node->in[2])), DAMO_INT64);
  out_shape[0][0] = build_fn2(b, "maximum", n, build_i64(b, 0));
  return b->status;
}

static const op_def arange_def = {
    .name = "ARange",
    .doc = "start, start + step … before stop",
    .props = "dtype",
    .n_in = 3,
    .infer_type = arange_type,
    .perform = arange_perform,
    .grad = grad_none,
    .infer_shape = arange_infer_shape,
    .connection_pattern = connect_none,
};

static damo_var *build_arange(build *b, damo_var *start, damo_var *stop, damo_var *step, damo_dtype dtype) {
  damo_var *in[3] = {start, stop, step};
  prop_value dt = prop_str(dtype_name(dtype));
  return build_op(b, op_new(b->ctx, &arange_def, &dt, 1), in, 3);
}

damo_var *build_range(build *b, damo_var *first, damo_var *last) {
  int64_t end;
  damo_var *stop =
      last && var_static_int(last, &end) ? build_i64(b, end + 1) : build_fn2(b, "add", last, build_i64(b, 1));
  return stop && first ? build_arange(b, first, stop, build_i64(b, 1), DAMO_INT64) : NULL;
}

/* ---- Functions ---------------------------------------------------------------------------------------------------------- */

/* A fill value: a literal without a dtype named is floatX. */
static damo_var *fill_value(build *b, const fn_args *a, int i, int dtype_option) {
  damo_dtype dt = b->ctx->config.floatX;
  damo_status s = fn_check_tensor(a, b->ctx, i);
  bool given = a->opt && a->opt[dtype_option].kind != PROP_NIL;
  if (s == DAMO_OK) s = fn_opt_dtype(a, b->ctx, dtype_option, &dt);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  damo_var *v = a->in[i];
  return v->weak || given ? build_cast(b, build_strong(b, v), dt) : v;
}

static damo_status alloc_value(build *b, const fn_args *a, damo_var *value, ptrvec *out) {
  damo_var *dims[DAMO_MAX_NDIM];
  int n;
  if (!value) return b->status;
  if (a->opt[0].kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the shape is missing", a->func->name);
  DAMO_TRY(shape_check(b, a->func->name, &a->opt[0], dims, &n));
  return fn_give(b, out, build_alloc(b, value, dims, n));
}

static damo_status fn_alloc(build *b, const fn_args *a, ptrvec *out) {
  return alloc_value(b, a, fill_value(b, a, 0, 1), out);
}

static damo_status alloc_number(build *b, const fn_args *a, ptrvec *out, double value) {
  damo_dtype dt = b->ctx->config.floatX;
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 1, &dt));
  return alloc_value(b, a, build_scalar(b, dt, value), out);
}
static damo_status fn_zeros(build *b, const fn_args *a, ptrvec *out) { return alloc_number(b, a, out, 0); }
static damo_status fn_ones(build *b, const fn_args *a, ptrvec *out) { return alloc_number(b, a, out, 1); }

static damo_var *build_empty(build *b, damo_dtype dtype, damo_var *const *dims, int n) {
  prop_value dt = prop_str(dtype_name(dtype));
  return build_op(b, op_new(b->ctx, &empty_def, &dt, 1), dims, n);
}

static damo_status fn_empty(build *b, const fn_args *a, ptrvec *out) {
  damo_var *dims[DAMO_MAX_NDIM];
  damo_dtype dt = b->ctx->config.floatX;
  int n;
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 1, &dt));
  if (a->opt[0].kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "empty: the shape is missing");
  DAMO_TRY(shape_check(b, "empty", &a->opt[0], dims, &n));
  return fn_give(b, out, build_empty(b, dt, dims, n));
}

static damo_status number_like(build *b, const fn_args *a, ptrvec *out, double value) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  damo_dtype dt = var_dtype(x);
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 0, &dt));
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
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 0, &dt));
  DAMO_TRY(build_dims(b, x, dims));
  return fn_give(b, out, build_empty(b, dt, dims, var_ndim(x)));
}

/* The value takes x's dtype unless one is named. */
static damo_status fn_full_like(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *x = build_strong(b, a->in[0]), *v = build_strong(b, a->in[1]);
  if (!x || !v) return b->status;
  damo_dtype dt = var_dtype(x);
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 0, &dt));
  return fn_give(b, out, alloc_like(b, x, build_cast(b, v, dt)));
}

static damo_status eye_like(build *b, const fn_args *a, ptrvec *out, const op_def *def) {
  damo_dtype dt = b->ctx->config.floatX;
  const char *f = a->func->name;
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 0, &dt));
  damo_var *n = build_integer(b, f, "n", a->in[0]);
  damo_var *m = a->in[1] ? build_integer(b, f, "m", a->in[1]) : n;
  damo_var *k = a->in[2] ? build_integer(b, f, "k", a->in[2]) : build_i64(b, 0);
  if (!n || !m || !k) return b->status;
  if (var_ndim(n) || var_ndim(m) || var_ndim(k)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: n, m, k must be scalars", f);
  damo_var *in[3] = {n, m, k};
  prop_value p = prop_str(dtype_name(dt));
  return fn_give(b, out, build_op(b, op_new(b->ctx, def, &p, 1), in, 3));
}
static damo_status fn_eye(build *b, const fn_args *a, ptrvec *out) { return eye_like(b, a, out, &eye_def); }
static damo_status fn_tri(build *b, const fn_args *a, ptrvec *out) { return eye_like(b, a, out, &tri_def); }

/* The dtype of a range: int64 for integers; floats promote among themselves, and a literal gives way to them. */
static damo_dtype arange_dtype(const build *b, damo_var *const *in) {
  damo_dtype dt = DAMO_INT64;
  bool weak_float = false;
  for (int i = 0; i < 3; i++) {
    damo_dtype d = in[i] ? var_dtype(in[i]) : DAMO_INT64;
    if (!dtype_is_float(d)) continue;
    if (in[i]->weak)
      weak_float = true;
    else
      dt = dtype_is_float(dt) ? dtype_promote(dt, d) : d;
  }
  return weak_float && dt == DAMO_INT64 ? b->ctx->config.floatX : dt;
}

/* A cast that gives a constant for a constant, so that a length stays static. */
static damo_var *cast_constant(build *b, damo_var *v, damo_dtype dtype) {
  if (!v) return NULL;
  const damo_array *a = var_constant_array(v);
  return a && var_dtype(v) != dtype ? build_value(b, (damo_obj *)array_cast(a, dtype)) : build_cast(b, v, dtype);
}

static damo_status fn_arange(build *b, const fn_args *a, ptrvec *out) {
  bool one = !a->in[1];
  damo_var *in[3] = {one ? NULL : a->in[0], one ? a->in[0] : a->in[1], a->in[2]};
  for (int i = 0; i < 3; i++)
    if (in[i] && (!type_is_tensor(in[i]->type) || dtype_is_complex(var_dtype(in[i]))))
      return ctx_fail(b->ctx, DAMO_ETYPE, "arange: start, stop and step must be real scalars");
  damo_dtype dt = arange_dtype(b, in), loop = dt == DAMO_INT64 ? DAMO_INT64 : DAMO_FLOAT64;
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 0, &dt));
  for (int i = 0; i < 3; i++) {
    in[i] = in[i] ? cast_constant(b, build_strong(b, in[i]), loop) : build_scalar(b, loop, i == 0 ? 0 : 1);
    if (!in[i]) return b->status;
  }
  return fn_give(b, out, build_arange(b, in[0], in[1], in[2], dt));
}

/* start + i (stop - start) / (n - 1) */
static damo_status fn_linspace(build *b, const fn_args *a, ptrvec *out) {
  int64_t n = 50;
  damo_dtype dt = b->ctx->config.floatX;
  DAMO_TRY(fn_opt_int(a, 0, &n));
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 1, &dt));
  if (n < 0) return ctx_fail(b->ctx, DAMO_EVALUE, "linspace: num must not be negative, got %lld", (long long)n);
  damo_var *start = build_cast(b, build_strong(b, a->in[0]), DAMO_FLOAT64);
  damo_var *stop = build_cast(b, build_strong(b, a->in[1]), DAMO_FLOAT64);
  damo_var *i = build_arange(b, build_i64(b, 0), build_i64(b, n), build_i64(b, 1), DAMO_INT64);
  damo_var *part = build_fn2(b, "true_div", build_cast(b, i, DAMO_FLOAT64),
                             build_scalar(b, DAMO_FLOAT64, n > 1 ? (double)(n - 1) : 1));
  damo_var *to = build_fn2(b, "mul", part, stop);
  damo_var *from = build_fn2(b, "mul", build_fn2(b, "sub", build_scalar(b, DAMO_FLOAT64, 1), part), start);
  return fn_give(b, out, build_cast(b, build_fn2(b, "add", from, to), dt));
}

const op_func alloc_funcs[] = {
    {.name = "alloc",
     .operands = "value",
     .options = "shape:shape dtype:dtype",
     .call = fn_alloc,
     .doc = "a value broadcast to a shape",
     .no_method = true},
    {.name = "zeros",
     .operands = "",
     .options = "shape:shape dtype:dtype",
     .call = fn_zeros,
     .doc = "zeros of a shape",
     .no_method = true},
    {.name = "ones",
     .operands = "",
     .options = "shape:shape dtype:dtype",
     .call = fn_ones,
     .doc = "ones of a shape",
     .no_method = true},
    {.name = "empty",
     .operands = "",
     .options = "shape:shape dtype:dtype",
     .call = fn_empty,
     .doc = "an array of a shape whose entries are not set",
     .no_method = true},
    {.name = "full",
     .operands = "value",
     .options = "shape:shape dtype:dtype",
     .call = fn_alloc,
     .doc = "an array of a shape filled with a value",
     .no_method = true},
    {.name = "zeros_like",
     .operands = "x",
     .options = "dtype:dtype",
     .call = fn_zeros_like,
     .doc = "zeros of x's shape and dtype"},
    {.name = "ones_like",
     .operands = "x",
     .options = "dtype:dtype",
     .call = fn_ones_like,
     .doc = "ones of x's shape and dtype"},
    {.name = "full_like",
     .operands = "x value",
     .options = "dtype:dtype",
     .call = fn_full_like,
     .doc = "a value in x's shape and dtype"},
    {.name = "empty_like",
     .operands = "x",
     .options = "dtype:dtype",
     .call = fn_empty_like,
     .doc = "an array of x's shape and dtype whose entries are not set"},
    {.name = "eye",
     .operands = "n [m] [k]",
     .options = "dtype:dtype",
     .call = fn_eye,
     .doc = "an n by m matrix with ones on its k-th diagonal",
     .no_method = true},
    {.name = "tri",
     .operands = "n [m] [k]",
     .options = "dtype:dtype",
     .call = fn_tri,
     .doc = "an n by m matrix with ones on and below its k-th diagonal",
     .no_method = true},
    {.name = "arange",
     .operands = "start [stop] [step]",
     .options = "dtype:dtype",
     .call = fn_arange,
     .doc = "start, start + step … before stop; one operand is the stop, from 0",
     .no_method = true},
    {.name = "linspace",
     .operands = "start stop",
     .options = "num:int dtype:dtype",
     .call = fn_linspace,
     .doc = "num evenly spaced values from start to stop, both included",
     .no_method = true},
    {.name = NULL},
};
