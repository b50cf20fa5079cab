/* activation: the elementwise functions of damo.nn, as graphs of scalar ops; fusion makes one loop of each. */
#include "nnet.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/elem/build_special.h"
#include "op/shape/shape_int.h"

typedef struct activation_options {
  prop_value alpha, approximate;
} activation_options;

/* A row's formula, of a tensor of a float dtype; o is NULL where the row has no options. */
typedef struct activation {
  damo_var *(*build)(build *b, damo_var *x, const activation_options *o);
} activation;

static damo_status call_activation(build *b, const fn_args *a, ptrvec *out) {
  const activation *row = a->func->data;
  damo_var *x = NULL;
  DAMO_TRY(nnet_to_float(b, a, &x));
  return fn_give(b, out, row->build(b, x, a->func->options ? FN_OPTIONS(a, activation_options) : NULL));
}

static damo_var *nn_sigmoid(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_sigmoid(b, x);
}

static damo_var *nn_tanh(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_tanh(b, x);
}

static damo_var *nn_softplus(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_softplus(b, x);
}

/* log(1/(1 + exp(-x))) = -softplus(-x) */
static damo_var *nn_log_sigmoid(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_neg(b, build_softplus(b, build_neg(b, x)));
}

static damo_var *nn_clip(build *b, damo_var *x, double low, double high) {
  return build_clip(b, x, build_num(b, low), build_num(b, high));
}

static damo_var *nn_relu6(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return nn_clip(b, x, 0, 6);
}

static damo_var *nn_hard_tanh(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return nn_clip(b, x, -1, 1);
}

/* relu6(x + 3)/6 */
static damo_var *nn_hard_sigmoid(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_mul(b, nn_clip(b, build_add(b, x, build_num(b, 3)), 0, 6), build_num(b, 1.0 / 6));
}

static damo_var *nn_hard_swish(build *b, damo_var *x, const activation_options *o) {
  return build_mul(b, x, nn_hard_sigmoid(b, x, o));
}

static damo_var *nn_leaky_relu(build *b, damo_var *x, const activation_options *o) {
  return build_relu(b, x, build_num(b, prop_num_or(o->alpha, 0.01)));
}

/* x where it is positive, else alpha (exp(x·inner) - 1) */
static damo_var *nn_exp_tail(build *b, damo_var *x, double alpha, double inner) {
  damo_var *scaled = inner == 1 ? x : build_mul(b, x, build_num(b, inner));
  damo_var *tail = build_expm1(b, scaled);
  if (alpha != 1) tail = build_mul(b, tail, build_num(b, alpha));
  return build_switch(b, build_gt(b, x, build_num(b, 0)), x, tail);
}

static damo_var *nn_elu(build *b, damo_var *x, const activation_options *o) {
  return nn_exp_tail(b, x, prop_num_or(o->alpha, 1), 1);
}

static damo_var *nn_celu(build *b, damo_var *x, const activation_options *o) {
  const double alpha = prop_num_or(o->alpha, 1);
  if (alpha == 0) return build_fail(b, DAMO_EVALUE, "nn.celu: alpha must not be 0");
  return nn_exp_tail(b, x, alpha, 1 / alpha);
}

/* Klambauer et al., Self-Normalizing Neural Networks (2017): the fixed point of mean 0 and variance 1. */
static damo_var *nn_selu(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  const double scale = 1.0507009873554804934193349852946, alpha = 1.6732632423543772848170429916717;
  return build_mul(b, nn_exp_tail(b, x, alpha, 1), build_num(b, scale));
}

/* x Φ(x) = x erfc(-x/√2)/2; approximate: x (1 + tanh(√(2/π)(x + 0.044715 x³)))/2 (Hendrycks and Gimpel, 2016). */
static damo_var *nn_gelu(build *b, damo_var *x, const activation_options *o) {
  damo_var *half = build_mul(b, x, build_num(b, 0.5));
  if (!prop_bool_or(o->approximate, false))
    return build_mul(b, half, build_erfc(b, build_mul(b, x, build_num(b, -0.70710678118654752440))));
  damo_var *cubic = build_mul(b, build_mul(b, build_sqr(b, x), x), build_num(b, 0.044715));
  damo_var *inner = build_mul(b, build_add(b, x, cubic), build_num(b, 0.79788456080286535588));
  return build_mul(b, half, build_add(b, build_tanh(b, inner), build_num(b, 1)));
}

static damo_var *nn_silu(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_mul(b, x, build_sigmoid(b, x));
}

static damo_var *nn_mish(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_mul(b, x, build_tanh(b, build_softplus(b, x)));
}

static damo_var *nn_softsign(build *b, damo_var *x, const activation_options *o) {
  (void)o;
  return build_true_div(b, x, build_add(b, build_abs(b, x), build_num(b, 1)));
}

static damo_status call_nn_relu(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  return fn_give(b, out, build_relu(b, a->in[0], NULL));
}

/* The first half along an axis, times the sigmoid of the second (Dauphin et al., 2017). */
static damo_status call_glu(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = NULL;
  int axis;
  DAMO_TRY(nnet_to_float(b, a, &x));
  DAMO_TRY(axis_check(b->ctx, a->func->name, prop_int_or(FN_OPTIONS(a, axis_options)->axis, -1), var_ndim(x), &axis));
  const int64_t known = x->type->shape[axis];
  if (known >= 0 && known % 2 != 0) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: axis %d of operand 1 (x) has the odd length %lld", a->func->name,
                    axis + 1, (long long)known);
  }
  damo_var *n = build_dim(b, x, axis);
  damo_var *half = known >= 0 ? build_i64(b, known / 2) : build_floor_div(b, n, build_i64(b, 2));
  damo_var *value = build_slice(b, x, axis, NULL, half, 1), *gate = build_slice(b, x, axis, half, NULL, 1);
  return fn_give(b, out, build_mul(b, value, build_sigmoid(b, gate)));
}

/* A row without options, and one with. */
#define FORMULA(row, formula, text) \
  { .name = "nn." #row, .operands = "x", .call = call_activation, .data = &(const activation){formula}, .doc = text }
#define FORMULA_WITH(row, option, kind, formula, text)                                              \
  {                                                                                                 \
    .name = "nn." #row, .operands = "x", .options = OPTIONS(OPT(activation_options, option, kind)), \
    .call = call_activation, .data = &(const activation){formula}, .doc = text                      \
  }

const op_func activation_funcs[] = {
    FORMULA(sigmoid, nn_sigmoid, "1/(1 + exp(-x))"),
    FORMULA(tanh, nn_tanh, "hyperbolic tangent"),
    FORMULA(softplus, nn_softplus, "log(1 + exp(x)) without overflow"),
    FORMULA(log_sigmoid, nn_log_sigmoid, "log(sigmoid(x)) without overflow"),
    {.name = "nn.relu", .operands = "x", .call = call_nn_relu, .doc = "max(x, 0)"},
    FORMULA(relu6, nn_relu6, "x clipped to 0 … 6"),
    FORMULA_WITH(leaky_relu, alpha, OPT_NUM, nn_leaky_relu, "x where it is positive, else alpha*x (0.01)"),
    FORMULA_WITH(elu, alpha, OPT_NUM, nn_elu, "x where it is positive, else alpha*(exp(x) - 1) (alpha 1)"),
    FORMULA_WITH(celu, alpha, OPT_NUM, nn_celu, "x where it is positive, else alpha*(exp(x/alpha) - 1) (alpha 1)"),
    FORMULA(selu, nn_selu, "elu, scaled so that mean 0 and variance 1 are kept"),
    FORMULA_WITH(gelu, approximate, OPT_BOOL, nn_gelu,
                 "x times the normal distribution function; approximate: by tanh"),
    FORMULA(silu, nn_silu, "x*sigmoid(x)"),
    FORMULA(mish, nn_mish, "x*tanh(softplus(x))"),
    FORMULA(softsign, nn_softsign, "x/(1 + |x|)"),
    FORMULA(hard_tanh, nn_hard_tanh, "x clipped to -1 … 1"),
    FORMULA(hard_sigmoid, nn_hard_sigmoid, "(x + 3)/6 clipped to 0 … 1"),
    FORMULA(hard_swish, nn_hard_swish, "x*hard_sigmoid(x)"),
    {.name = "nn.glu",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = call_glu,
     .doc = "the first half along an axis (the last) times the sigmoid of the second"},
    {.name = "nn.softmax",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_softmax,
     .doc = "exp(x) divided by its sum along an axis or over several (nil: over all entries)"},
    {.name = "nn.log_softmax",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_log_softmax,
     .doc = "logarithm of softmax, without overflow"},
    {.name = NULL},
};
