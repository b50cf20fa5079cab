/* nnet: the functions of neural networks that scripts call. relu is elementwise, logsumexp a reduction. */
#include "nnet.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/shape/shape_int.h"

damo_status nnet_check_operands(build *b, const fn_args *a) {
  for (int i = 0; i < a->n_in; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  return DAMO_OK;
}

damo_status nnet_to_float(build *b, const fn_args *a, damo_var **x) {
  DAMO_TRY(nnet_check_operands(b, a));
  if (dtype_is_complex(var_dtype(a->in[0]))) {
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: a real operand is needed, got %s", a->func->name,
                    dtype_name(var_dtype(a->in[0])));
  }
  damo_var *strong[1];
  DAMO_TRY(build_resolve(b, a->in, 1, false, strong));
  *x = build_cast(b, strong[0], dtype_to_float(var_dtype(strong[0])));
  return b->status;
}

damo_status nnet_to_floats(build *b, const fn_args *a, int n, damo_var **in) {
  damo_var *given[FN_MAX_OPERANDS] = {NULL};
  int n_given = 0, of[FN_MAX_OPERANDS];
  for (int i = 0; i < n; i++) {
    in[i] = NULL;
    if (a->in[i] == NULL) continue;
    DAMO_TRY(fn_check_tensor(a, b->ctx, i));
    if (dtype_is_complex(var_dtype(a->in[i]))) {
      return ctx_fail(b->ctx, DAMO_ETYPE, "%s: operand %d (%s) must be real, got %s", a->func->name, i + 1,
                      a->signature->operand[i].name, dtype_name(var_dtype(a->in[i])));
    }
    of[n_given] = i;
    given[n_given++] = a->in[i];
  }
  DAMO_TRY(build_resolve(b, given, n_given, true, given));
  for (int i = 0; i < n_given; i++) in[of[i]] = build_cast(b, given[i], dtype_to_float(var_dtype(given[i])));
  return b->status;
}

static damo_var *soft_along(build *b, damo_var *x, int axis, bool log_form) {
  return log_form ? build_log_softmax(b, x, axis) : build_softmax(b, x, axis);
}

/* Over several axes together: they are transposed to the end, merged into one axis, and transposed back. */
static damo_var *soft_over(build *b, damo_var *x, const int *axes, int n, bool log_form) {
  int order[DAMO_MAX_NDIM], back[DAMO_MAX_NDIM], kept = 0;
  damo_var *dims[DAMO_MAX_NDIM];
  uint32_t chosen = 0;
  for (int i = 0; i < n; i++) chosen |= (uint32_t)1 << axes[i];
  for (int i = 0; i < var_ndim(x); i++)
    if (!(chosen >> i & 1)) order[kept++] = i;
  for (int i = 0, at = kept; i < var_ndim(x); i++)
    if (chosen >> i & 1) order[at++] = i;
  for (int i = 0; i < var_ndim(x); i++) back[order[i]] = i;
  for (int i = 0; i < var_ndim(x); i++) dims[i] = build_dim(b, x, order[i]);
  damo_var *moved = build_dimshuffle(b, x, order, var_ndim(x)), *shape = build_vector(b, dims, var_ndim(x)),
           *one = NULL;
  for (int i = kept; i < var_ndim(x); i++) one = one != NULL ? build_mul(b, one, dims[i]) : dims[i];
  dims[kept] = one != NULL ? one : build_scalar(b, DAMO_INT64, 1);
  damo_var *flat = build_reshape(b, moved, build_vector(b, dims, kept + 1), kept + 1);
  damo_var *y = flat != NULL ? soft_along(b, flat, kept, log_form) : NULL;
  y = build_reshape(b, y, shape, var_ndim(x));
  return y != NULL ? build_dimshuffle(b, y, back, var_ndim(x)) : NULL;
}

static damo_status call_soft(build *b, const fn_args *a, ptrvec *out, bool log_form) {
  const axis_options *o = FN_OPTIONS(a, axis_options);
  damo_var *x = NULL;
  int axes[DAMO_MAX_NDIM], n;
  DAMO_TRY(nnet_to_float(b, a, &x));
  DAMO_TRY(axes_check(b->ctx, a->func->name, &o->axis, var_ndim(x), axes, &n));
  const bool all = !prop_given(o->axis) || (n > 1 && n == var_ndim(x));
  if (all || n == 1) return fn_give(b, out, soft_along(b, x, all ? -1 : axes[0], log_form));
  return fn_give(b, out, soft_over(b, x, axes, n, log_form));
}

damo_status fn_softmax(build *b, const fn_args *a, ptrvec *out) { return call_soft(b, a, out, false); }
damo_status fn_log_softmax(build *b, const fn_args *a, ptrvec *out) { return call_soft(b, a, out, true); }

/* ---- Losses ------------------------------------------------------------------------------------------------------ */

damo_status fn_categorical_crossentropy(build *b, const fn_args *a, ptrvec *out) {
  damo_var *p = a->in[0], *t = a->in[1];
  DAMO_TRY(nnet_check_operands(b, a));
  const int n = var_ndim(p), last = n - 1;
  if (n > 0 && var_ndim(t) == n) {
    damo_var *s = build_reduce(b, REDUCE_SUM, build_mul(b, t, build_log(b, p)), &last, 1, false);
    return fn_give(b, out, build_neg(b, s));
  }
  if (n == 0 || var_ndim(t) != last) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: true_dist must have rank %d (a distribution) or %d (positions), got %d",
                    a->func->name, n, last, var_ndim(t));
  }
  if (!dtype_is_integer(var_dtype(t))) {
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: positions must be integers, got %s", a->func->name,
                    dtype_name(var_dtype(t)));
  }
  return fn_give(b, out, build_neg(b, build_log(b, build_pick(b, p, t))));
}

/* Resolves both operands together: a literal takes the other operand's dtype, even where it first meets another literal
 * in the formula. */
static damo_status nnet_resolve_pair(build *b, const fn_args *a, damo_var **in) {
  DAMO_TRY(nnet_check_operands(b, a));
  return build_resolve(b, a->in, 2, false, in);
}

/* -(t·log p + (1 - t)·log(1 - p)) */
damo_status fn_binary_crossentropy(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2], *one = build_num(b, 1);
  DAMO_TRY(nnet_resolve_pair(b, a, in));
  damo_var *p = in[0], *t = in[1];
  damo_var *yes = build_mul(b, t, build_log(b, p));
  damo_var *no = build_mul(b, build_sub(b, one, t), build_log1p(b, build_neg(b, p)));
  return fn_give(b, out, build_neg(b, build_add(b, yes, no)));
}

/* The same of p = sigmoid(x), without overflow: t·softplus(-x) + (1 - t)·softplus(x) */
damo_status fn_sigmoid_binary_crossentropy(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2], *one = build_num(b, 1);
  DAMO_TRY(nnet_resolve_pair(b, a, in));
  damo_var *x = in[0], *t = in[1];
  damo_var *yes = build_mul(b, t, build_softplus(b, build_neg(b, x)));
  damo_var *no = build_mul(b, build_sub(b, one, t), build_softplus(b, x));
  return fn_give(b, out, build_add(b, yes, no));
}

damo_status fn_mean_squared_error(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(nnet_check_operands(b, a));
  damo_var *d = build_sqr(b, build_sub(b, a->in[0], a->in[1]));
  return fn_give(b, out, build_mean(b, d));
}

static damo_status call_dense_layer(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(nnet_check_operands(b, a));
  damo_var *z = build_add(b, build_dot_nd(b, a->in[0], a->in[1]), a->in[2]);
  return fn_give(b, out, build_tanh(b, z));
}

const op_func nnet_funcs[] = {
    {.name = "softmax",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_softmax,
     .doc = "exp(x) divided by its sum along an axis or over several (nil: over all entries)",
     .remedy = "of the stored values it is e / e:sum {axis=2, keepdims=true}, e = damo.sparse.structured_exp(x)"},
    {.name = "log_softmax",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_log_softmax,
     .doc = "logarithm of softmax, without overflow"},
    {.name = "categorical_crossentropy",
     .operands = "coding_dist true_dist",
     .call = fn_categorical_crossentropy,
     .doc = "-sum(true_dist * log(coding_dist)) along the last axis; true_dist may be integer positions, 1-based"},
    {.name = "binary_crossentropy",
     .operands = "output target",
     .call = fn_binary_crossentropy,
     .doc = "-(target*log(output) + (1 - target)*log(1 - output))"},
    {.name = "sigmoid_binary_crossentropy",
     .operands = "output target",
     .call = fn_sigmoid_binary_crossentropy,
     .doc = "binary_crossentropy of sigmoid(output), without overflow"},
    {.name = "mean_squared_error", .operands = "x y", .call = fn_mean_squared_error, .doc = "mean of (x - y)^2"},
    {.name = "dense_layer", .operands = "x w b", .call = call_dense_layer, .doc = "tanh(dot(x, w) + b)"},
    {.name = NULL},
};

const op_def *const nnet_classes[] = {&softmax_def, &log_softmax_def, &softmax_grad_def, &log_softmax_grad_def, NULL};
