/* norm: normalisations by mean and variance, as graphs of other ops: (x - mean)/sqrt(variance + eps)·gamma + beta. The
 * variance is the biased one, of the deviations from the mean. */
#include "nnet.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/shape/shape_int.h"

typedef struct normalise_options {
  prop_value axis, eps, num_groups;
} normalise_options;

enum { NORM_X, NORM_GAMMA, NORM_BETA, NORM_MEAN, NORM_VAR, NORM_OPERANDS };

/* Shape error unless operand i of the call has that rank. */
static damo_status norm_check_rank(build *b, const fn_args *a, damo_var *v, int i, int rank, const char *of) {
  if (var_ndim(v) == rank) return DAMO_OK;
  return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand %d (%s) must have rank %d, %s, got rank %d", a->func->name, i + 1,
                  a->signature->operand[i].name, rank, of, var_ndim(v));
}

/* The same unless its axes have the lengths of x's axes `axes`, as far as both are known. */
static damo_status norm_check_lengths(build *b, const fn_args *a, damo_var *v, int i, damo_var *x, const int *axes) {
  for (int k = 0; k < var_ndim(v); k++) {
    const int64_t n = v->type->shape[k], wanted = x->type->shape[axes[k]];
    if (n < 0 || wanted < 0 || n == wanted) continue;
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: axis %d of operand %d (%s) is %lld, axis %d of operand 1 (x) is %lld",
                    a->func->name, k + 1, i + 1, a->signature->operand[i].name, (long long)n, axes[k] + 1,
                    (long long)wanted);
  }
  return DAMO_OK;
}

/* v, whose axes are x's axes `axes`, with axes of 1 for the others. */
static damo_var *norm_spread(build *b, damo_var *v, int ndim, const int *axes) {
  int pattern[DAMO_MAX_NDIM];
  if (v == NULL) return NULL;
  for (int i = 0; i < ndim; i++) pattern[i] = -1;
  for (int k = 0; k < var_ndim(v); k++) pattern[axes[k]] = k;
  return build_dimshuffle(b, v, pattern, ndim);
}

/* The mean over these axes, kept; 0 where there is nothing to take it of. */
static damo_var *norm_mean(build *b, damo_var *x, const int *axes, int n) {
  damo_var *count = NULL;
  for (int i = 0; i < n; i++) {
    damo_var *dim = build_dim(b, x, axes[i]);
    count = count != NULL ? build_mul(b, count, dim) : dim;
  }
  damo_var *sum = build_reduce(b, REDUCE_SUM, x, axes, n, true);
  if (count == NULL) return sum;
  return build_true_div(b, sum, build_cast(b, build_maximum(b, count, build_i64(b, 1)), var_dtype(x)));
}

static damo_var *norm_scale(build *b, damo_var *variance, double eps) {
  return build_sqrt(b, build_add(b, variance, build_num(b, eps)));
}

/* (x - mean)/sqrt(variance + eps), both over these axes. */
static damo_var *norm_standardised(build *b, damo_var *x, const int *axes, int n, double eps) {
  damo_var *centred = build_sub(b, x, norm_mean(b, x, axes, n));
  if (centred == NULL) return NULL;
  return build_true_div(b, centred, norm_scale(b, norm_mean(b, build_sqr(b, centred), axes, n), eps));
}

/* Over all axes but the second, that of the channels; or by a mean and a variance that are given for each channel. */
static damo_status call_batch_norm(build *b, const fn_args *a, ptrvec *out) {
  const double eps = prop_num_or(FN_OPTIONS(a, normalise_options)->eps, 1e-5);
  damo_var *in[NORM_OPERANDS], *y;
  int axes[DAMO_MAX_NDIM], n = 0;
  const int channels[1] = {1};
  DAMO_TRY(nnet_to_floats(b, a, NORM_OPERANDS, in));
  damo_var *x = in[NORM_X];
  const int ndim = var_ndim(x);
  if (ndim < 2) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand 1 (x) must have two axes or more, the channels on the second",
                    a->func->name);
  }
  if ((in[NORM_MEAN] == NULL) != (in[NORM_VAR] == NULL))
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the mean comes with a variance", a->func->name);
  for (int i = NORM_GAMMA; i < NORM_OPERANDS; i++) {
    if (in[i] == NULL) continue;
    DAMO_TRY(norm_check_rank(b, a, in[i], i, 1, "a number for each channel"));
    DAMO_TRY(norm_check_lengths(b, a, in[i], i, x, channels));
    in[i] = norm_spread(b, in[i], ndim, channels);
    if (in[i] == NULL) return b->status;
  }
  for (int i = 0; i < ndim; i++)
    if (i != 1) axes[n++] = i;
  if (in[NORM_MEAN] != NULL)
    y = build_true_div(b, build_sub(b, x, in[NORM_MEAN]), norm_scale(b, in[NORM_VAR], eps));
  else
    y = norm_standardised(b, x, axes, n, eps);
  return fn_give(b, out, build_add(b, build_mul(b, y, in[NORM_GAMMA]), in[NORM_BETA]));
}

/* The axes of layer_norm and rms_norm, and gamma (and beta) spread over x's axes. */
static damo_status norm_read_layer(build *b, const fn_args *a, damo_var **in, int n_in, int *axes, int *n) {
  const normalise_options *o = FN_OPTIONS(a, normalise_options);
  const prop_value last = prop_int(-1);
  DAMO_TRY(nnet_to_floats(b, a, n_in, in));
  const int ndim = var_ndim(in[NORM_X]);
  DAMO_TRY(axes_check(b->ctx, a->func->name, prop_given(o->axis) ? &o->axis : &last, ndim, axes, n));
  for (int i = NORM_GAMMA; i < n_in; i++) {
    DAMO_TRY(norm_check_rank(b, a, in[i], i, *n, "an axis for each that is normalised"));
    DAMO_TRY(norm_check_lengths(b, a, in[i], i, in[NORM_X], axes));
    in[i] = norm_spread(b, in[i], ndim, axes);
  }
  return b->status;
}

static damo_status call_layer_norm(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[3];
  int axes[DAMO_MAX_NDIM], n;
  DAMO_TRY(norm_read_layer(b, a, in, 3, axes, &n));
  damo_var *y = norm_standardised(b, in[NORM_X], axes, n, prop_num_or(FN_OPTIONS(a, normalise_options)->eps, 1e-5));
  return fn_give(b, out, build_add(b, build_mul(b, y, in[NORM_GAMMA]), in[NORM_BETA]));
}

/* x/sqrt(mean(x²) + eps)·gamma (Zhang and Sennrich, 2019) */
static damo_status call_rms_norm(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2];
  int axes[DAMO_MAX_NDIM], n;
  DAMO_TRY(norm_read_layer(b, a, in, 2, axes, &n));
  damo_var *square = norm_mean(b, build_sqr(b, in[NORM_X]), axes, n);
  damo_var *scale = norm_scale(b, square, prop_num_or(FN_OPTIONS(a, normalise_options)->eps, 1e-5));
  return fn_give(b, out, build_mul(b, build_true_div(b, in[NORM_X], scale), in[NORM_GAMMA]));
}

/* x as (N, groups, C/groups, …), normalised over all axes after the second, and back. */
static damo_var *norm_in_groups(build *b, const fn_args *a, damo_var *x, int64_t groups, double eps) {
  const int ndim = var_ndim(x);
  damo_var *dims[DAMO_MAX_NDIM], *split[DAMO_MAX_NDIM + 1];
  int axes[DAMO_MAX_NDIM + 1];
  const int64_t channels = x->type->shape[1];
  if (groups < 1) return build_fail(b, DAMO_EVALUE, "%s: num_groups must be positive", a->func->name);
  if (channels >= 0 && channels % groups != 0) {
    return build_fail(b, DAMO_ESHAPE, "%s: axis 2 of operand 1 (x) is %lld, no multiple of num_groups, %lld",
                      a->func->name, (long long)channels, (long long)groups);
  }
  if (ndim >= DAMO_MAX_NDIM) return build_fail(b, DAMO_ESHAPE, "%s: operand 1 (x) has too many axes", a->func->name);
  if (build_dims(b, x, dims) != DAMO_OK) return NULL;
  split[0] = dims[0];
  split[1] = build_i64(b, groups);
  split[2] = channels >= 0 ? build_i64(b, channels / groups) : build_floor_div(b, dims[1], build_i64(b, groups));
  for (int i = 2; i < ndim; i++) split[i + 1] = dims[i];
  for (int i = 2; i <= ndim; i++) axes[i - 2] = i;
  if (b->status != DAMO_OK) return NULL;
  damo_var *grouped = build_reshape(b, x, build_vector(b, split, ndim + 1), ndim + 1);
  if (grouped == NULL) return NULL;
  damo_var *y = norm_standardised(b, grouped, axes, ndim - 1, eps);
  return y != NULL ? build_reshape(b, y, build_vector(b, dims, ndim), ndim) : NULL;
}

static damo_status call_group_norm(build *b, const fn_args *a, ptrvec *out) {
  const normalise_options *o = FN_OPTIONS(a, normalise_options);
  const int channels[1] = {1};
  damo_var *in[3];
  DAMO_TRY(nnet_to_floats(b, a, 3, in));
  if (!prop_given(o->num_groups)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: num_groups is missing", a->func->name);
  if (var_ndim(in[NORM_X]) < 2) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand 1 (x) must have two axes or more, the channels on the second",
                    a->func->name);
  }
  damo_var *y = norm_in_groups(b, a, in[NORM_X], prop_int_or(o->num_groups, 0), prop_num_or(o->eps, 1e-5));
  for (int i = NORM_GAMMA; i < 3; i++) {
    DAMO_TRY(norm_check_rank(b, a, in[i], i, 1, "a number for each channel"));
    DAMO_TRY(norm_check_lengths(b, a, in[i], i, in[NORM_X], channels));
    in[i] = norm_spread(b, in[i], var_ndim(in[NORM_X]), channels);
  }
  if (y == NULL || b->status != DAMO_OK) return b->status;
  return fn_give(b, out, build_add(b, build_mul(b, y, in[NORM_GAMMA]), in[NORM_BETA]));
}

const op_func norm_funcs[] = {
    {.name = "nn.batch_norm",
     .operands = "x gamma beta [mean] [var]",
     .options = OPTIONS(OPT(normalise_options, eps, OPT_NUM)),
     .call = call_batch_norm,
     .doc = "(x - mean)/sqrt(var + eps)*gamma + beta for each channel (axis 2); mean and var are the batch's where not "
            "given; eps 1e-5"},
    {.name = "nn.layer_norm",
     .operands = "x gamma beta",
     .options = OPTIONS(OPT(normalise_options, axis, OPT_AXES), OPT(normalise_options, eps, OPT_NUM)),
     .call = call_layer_norm,
     .doc = "x with mean 0 and variance 1 over the axes (the last), times gamma plus beta; eps 1e-5"},
    {.name = "nn.rms_norm",
     .operands = "x gamma",
     .options = OPTIONS(OPT(normalise_options, axis, OPT_AXES), OPT(normalise_options, eps, OPT_NUM)),
     .call = call_rms_norm,
     .doc = "x divided by the root of its mean square over the axes (the last), times gamma; eps 1e-5"},
    {.name = "nn.group_norm",
     .operands = "x gamma beta",
     .options = OPTIONS(OPT(normalise_options, num_groups, OPT_INT), OPT(normalise_options, eps, OPT_NUM)),
     .call = call_group_norm,
     .doc = "x with mean 0 and variance 1 over each group of channels (axis 2) of each example, times gamma plus beta"},
    {.name = NULL},
};
