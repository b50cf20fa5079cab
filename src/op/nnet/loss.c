/* loss: the losses of damo.nn, as graphs of other ops. */
#include "nnet.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/shape/shape_int.h"

typedef struct loss_options {
  prop_value axis, delta, eps;
} loss_options;

static damo_status call_absolute_error(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2];
  DAMO_TRY(nnet_to_floats(b, a, 2, in));
  return fn_give(b, out, build_mean(b, build_abs(b, build_sub(b, in[0], in[1]))));
}

/* d²/2 where d = |x - y| is at most delta, else delta (d - delta/2) (Huber, 1964) */
static damo_status call_huber(build *b, const fn_args *a, ptrvec *out) {
  const double delta = prop_num_or(FN_OPTIONS(a, loss_options)->delta, 1);
  damo_var *in[2];
  DAMO_TRY(nnet_to_floats(b, a, 2, in));
  damo_var *d = build_abs(b, build_sub(b, in[0], in[1])), *limit = build_num(b, delta);
  damo_var *inside = build_mul(b, build_sqr(b, d), build_num(b, 0.5));
  damo_var *outside = build_mul(b, build_sub(b, d, build_num(b, delta / 2)), limit);
  return fn_give(b, out, build_mean(b, build_switch(b, build_le(b, d, limit), inside, outside)));
}

static damo_status call_hinge(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2];
  DAMO_TRY(nnet_to_floats(b, a, 2, in));
  damo_var *margin = build_sub(b, build_num(b, 1), build_mul(b, in[0], in[1]));
  return fn_give(b, out, build_mean(b, build_relu(b, margin, NULL)));
}

/* Σ p (log p - log q), where a p of 0 adds nothing. */
static damo_status call_kl_divergence(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2];
  int axis;
  DAMO_TRY(nnet_to_floats(b, a, 2, in));
  damo_var *term = build_mul(b, in[0], build_sub(b, build_log(b, in[0]), build_log(b, in[1])));
  term = build_switch(b, build_neq(b, in[0], build_num(b, 0)), term, build_num(b, 0));
  if (term == NULL) return b->status;
  const int64_t at = prop_int_or(FN_OPTIONS(a, loss_options)->axis, -1);
  DAMO_TRY(axis_check(b->ctx, a->func->name, at, var_ndim(term), &axis));
  return fn_give(b, out, build_reduce(b, REDUCE_SUM, term, &axis, 1, false));
}

/* Σ xy / (max(|x|, eps)·max(|y|, eps)): the maximum is taken of squares, whose gradient at 0 is finite. */
static damo_status call_cosine_similarity(build *b, const fn_args *a, ptrvec *out) {
  const loss_options *o = FN_OPTIONS(a, loss_options);
  const double eps = prop_num_or(o->eps, 1e-8);
  damo_var *in[2], *norm[2];
  int axis;
  DAMO_TRY(nnet_to_floats(b, a, 2, in));
  damo_var *product = build_mul(b, in[0], in[1]);
  if (product == NULL) return b->status;
  if (var_ndim(in[0]) != var_ndim(in[1])) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand 2 (y) must have rank %d as operand 1, got %d", a->func->name,
                    var_ndim(in[0]), var_ndim(in[1]));
  }
  DAMO_TRY(axis_check(b->ctx, a->func->name, prop_int_or(o->axis, -1), var_ndim(product), &axis));
  for (int i = 0; i < 2; i++) {
    damo_var *square = build_reduce(b, REDUCE_SUM, build_sqr(b, in[i]), &axis, 1, false);
    norm[i] = build_sqrt(b, build_maximum(b, square, build_num(b, eps * eps)));
  }
  damo_var *sum = build_reduce(b, REDUCE_SUM, product, &axis, 1, false);
  return fn_give(b, out, build_true_div(b, sum, build_mul(b, norm[0], norm[1])));
}

/* -log_probs[…, target[…]] */
static damo_status call_nll(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = NULL;
  DAMO_TRY(nnet_to_floats(b, a, 1, &x));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *target = build_integer(b, a->func->name, "the targets", a->in[1]);
  if (target == NULL) return b->status;
  if (var_ndim(target) != var_ndim(x) - 1) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand 2 (target) must have rank %d, one less than operand 1, got %d",
                    a->func->name, var_ndim(x) - 1, var_ndim(target));
  }
  return fn_give(b, out, build_neg(b, build_pick(b, x, target)));
}

const op_func loss_funcs[] = {
    {.name = "nn.categorical_crossentropy",
     .operands = "coding_dist true_dist",
     .call = fn_categorical_crossentropy,
     .doc = "-sum(true_dist * log(coding_dist)) along the last axis; true_dist may be integer positions, 1-based"},
    {.name = "nn.binary_crossentropy",
     .operands = "output target",
     .call = fn_binary_crossentropy,
     .doc = "-(target*log(output) + (1 - target)*log(1 - output))"},
    {.name = "nn.sigmoid_binary_crossentropy",
     .operands = "output target",
     .call = fn_sigmoid_binary_crossentropy,
     .doc = "binary_crossentropy of sigmoid(output), without overflow"},
    {.name = "nn.nll",
     .operands = "log_probs target",
     .call = call_nll,
     .doc = "-log_probs at the position (1-based) that target names on the last axis"},
    {.name = "nn.kl_divergence",
     .operands = "p q",
     .options = OPTIONS(OPT(loss_options, axis, OPT_INT)),
     .call = call_kl_divergence,
     .doc = "sum of p*log(p/q) along an axis (the last)"},
    {.name = "nn.mean_squared_error", .operands = "x y", .call = fn_mean_squared_error, .doc = "mean of (x - y)^2"},
    {.name = "nn.mean_absolute_error", .operands = "x y", .call = call_absolute_error, .doc = "mean of |x - y|"},
    {.name = "nn.huber",
     .operands = "x y",
     .options = OPTIONS(OPT(loss_options, delta, OPT_NUM)),
     .call = call_huber,
     .doc = "mean of d^2/2 where d = |x - y| is at most delta (1), else of delta*(d - delta/2)"},
    {.name = "nn.hinge",
     .operands = "output target",
     .call = call_hinge,
     .doc = "mean of max(0, 1 - target*output); targets are -1 or 1"},
    {.name = "nn.cosine_similarity",
     .operands = "x y",
     .options = OPTIONS(OPT(loss_options, axis, OPT_INT), OPT(loss_options, eps, OPT_NUM)),
     .call = call_cosine_similarity,
     .doc = "sum(x*y)/(|x| |y|) along an axis (the last); norms below eps (1e-8) count as eps"},
    {.name = NULL},
};
