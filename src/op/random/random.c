/* random: functions that draw random numbers. Each takes a generator's state first and gives the next state and the
 * draw, so that a graph of draws has no hidden order. Without a size a draw has the shape its parameters broadcast
 * to.
 */
#include "draw.h"
#include "quantile.h"
#include "vectors.h"

#include <string.h>

damo_array *random_state_array(damo_ctx *ctx, const philox_state *s) {
  damo_array *a = array_empty(ctx, DAMO_UINT64, 1, (const int64_t[]){3});
  if (a) state_write(a, s);
  return a;
}

damo_array *random_seed_array(damo_ctx *ctx, uint64_t seed) {
  const philox_state s = philox_seed(seed);
  return random_state_array(ctx, &s);
}

damo_var *random_state_operand(build *b, const fn_args *a) {
  damo_var *rng = a->in[0];
  char text[256];
  if (rng->type->kind == TYPE_RANDOM) return rng;
  const damo_array *v = var_constant_array(rng);
  if (!v || v->ndim != 1 || array_shape(v)[0] != 3 || array_dtype(v) != DAMO_UINT64) {
    return build_fail(b, DAMO_ETYPE, "%s: rng must be a generator's state, got %s", a->func->name,
                      type_format(text, sizeof text, rng->type));
  }
  damo_type *type = type_random(b->ctx);
  damo_var *state = type ? var_constant(b->ctx, type, (damo_obj *)v) : NULL;
  damo_release(type);
  return build_take(b, state);
}

/* Parameter i as a tensor of that dtype, its preset where it was left out. */
static damo_var *param_operand(build *b, const fn_args *a, const distribution *d, int i) {
  const damo_dtype dtype = d->base == BASE_WORD ? DAMO_INT64 : DAMO_FLOAT64;
  damo_var *p = a->in[1 + i];
  if (!p) return build_scalar(b, dtype, d->preset[i]);
  if (fn_check_tensor(a, b->ctx, 1 + i) != DAMO_OK) return build_take(b, NULL);
  if (build_resolve(b, &p, 1, false, &p) != DAMO_OK) return NULL;
  const damo_dtype given = var_dtype(p);
  if (dtype_is_complex(given) || (dtype == DAMO_INT64 && !dtype_is_discrete(given))) {
    return build_fail(b, DAMO_ETYPE, "%s: %s must be %s, got %s", d->name, d->param[i],
                      dtype == DAMO_INT64 ? "integer" : "real", dtype_name(given));
  }
  return build_cast(b, p, dtype);
}

/* Appends the next state and the draw. */
static damo_status draw_give_both(build *b, damo_apply *node, ptrvec *out) {
  if (!node) return b->status;
  DAMO_TRY(ptrvec_push(out, node->out[0]));
  return ptrvec_push(out, node->out[1]);
}

/* The distribution's name: the row's, without the table's, "gamma" of "random.gamma". */
static const char *draw_name(const op_func *row) {
  const char *dot = strchr(row->name, '.');
  return dot ? dot + 1 : row->name;
}

typedef struct draw_options {
  prop_value size, dtype;
} draw_options;

static damo_status call_draw(build *b, const fn_args *a, ptrvec *out) {
  const draw_options *o = FN_OPTIONS(a, draw_options);
  const distribution *d = distribution_find(draw_name(a->func));
  damo_var *in[1 + DRAW_MAX_PARAMS + DAMO_MAX_NDIM];
  int n = 0, ndim = 0;
  damo_dtype dtype = d->dtype == DAMO_N_DTYPES ? b->ctx->config.floatX : d->dtype;
  const bool sized = prop_given(o->size);
  in[n++] = random_state_operand(b, a);
  for (int i = 0; i < d->n_params; i++) in[n++] = param_operand(b, a, d, i);
  if (b->status != DAMO_OK) return b->status;
  if (sized) DAMO_TRY(shape_check(b, d->name, &o->size, in + n, &ndim));
  DAMO_TRY(fn_dtype(a, b->ctx, o->dtype, &dtype));
  if (dtype_is_complex(dtype) || (d->dtype == DAMO_N_DTYPES && !dtype_is_float(dtype))) {
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: draws can't have dtype %s", d->name, dtype_name(dtype));
  }
  const random_draw_props props = {.dist = prop_str(d->name),
                                   .dtype = prop_str(dtype_name(dtype)),
                                   .sized = prop_bool(sized),
                                   .ndim = prop_int(ndim)};
  return draw_give_both(b, build_apply(b, op_new(b->ctx, &random_draw_def, &props), in, n + ndim), out);
}

static damo_status call_permutation(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2] = {random_state_operand(b, a), a->in[1]};
  if (!in[0]) return b->status;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  DAMO_TRY(build_resolve(b, in + 1, 1, false, in + 1));
  if (var_ndim(in[1]) == 0) {
    if (!dtype_is_integer(var_dtype(in[1]))) {
      return ctx_fail(b->ctx, DAMO_ETYPE, "permutation: n must be an integer, got %s", dtype_name(var_dtype(in[1])));
    }
    in[1] = build_cast(b, in[1], DAMO_INT64);
    if (!in[1]) return b->status;
  }
  return draw_give_both(b, build_apply(b, op_new(b->ctx, &permutation_def, NULL), in, 2), out);
}

#define DRAW_OPTIONS OPTIONS(OPT(draw_options, size, OPT_SHAPE), OPT(draw_options, dtype, OPT_DTYPE))

const op_func random_funcs[] = {
    {.name = "normal",
     .operands = "rng [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "normal draws: mean loc (0), standard deviation scale (1); gives the next state and the draw"},
    {.name = "uniform",
     .operands = "rng [low] [high]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "uniform draws from low (0) to high (1), high left out; gives the next state and the draw"},
    {.name = "bernoulli",
     .operands = "rng [p]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "true with probability p (0.5); gives the next state and the draw, bool"},
    {.name = "exponential",
     .operands = "rng [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "exponential draws with mean scale (1); gives the next state and the draw"},
    {.name = "gumbel",
     .operands = "rng [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Gumbel draws of location loc (0) and scale (1); gives the next state and the draw"},
    {.name = "integers",
     .operands = "rng low high",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "integers from low to high, both included; gives the next state and the draw, int64"},
    {.name = "random.lognormal",
     .operands = "rng [mu] [sigma]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "exp of normal draws with mean mu (0) and standard deviation sigma (1); gives the next state and the draw"},
    {.name = "random.halfnormal",
     .operands = "rng [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc =
         "loc (0) and the modulus of normal draws of standard deviation scale (1); gives the next state and the draw"},
    {.name = "random.laplace",
     .operands = "rng [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Laplace draws of location loc (0) and scale (1); gives the next state and the draw"},
    {.name = "random.logistic",
     .operands = "rng [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "logistic draws of location loc (0) and scale (1); gives the next state and the draw"},
    {.name = "random.cauchy",
     .operands = "rng [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Cauchy draws of location loc (0) and scale (1); gives the next state and the draw"},
    {.name = "random.halfcauchy",
     .operands = "rng [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "loc (0) and the modulus of Cauchy draws of that scale (1); gives the next state and the draw"},
    {.name = "random.weibull",
     .operands = "rng shape [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Weibull draws of that shape and scale (1); gives the next state and the draw"},
    {.name = "random.pareto",
     .operands = "rng b [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Pareto draws of exponent b, not less than scale (1); gives the next state and the draw"},
    {.name = "random.rayleigh",
     .operands = "rng [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Rayleigh draws of that scale (1); gives the next state and the draw"},
    {.name = "random.triangular",
     .operands = "rng left mode right",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "triangular draws between left and right; gives the next state and the draw"},
    {.name = "random.truncexpon",
     .operands = "rng b [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "exponential draws up to b, times scale (1), plus loc (0); gives the next state and the draw"},
    {.name = "random.gamma",
     .operands = "rng shape [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "gamma draws of that shape and scale (1); gives the next state and the draw"},
    {.name = "random.invgamma",
     .operands = "rng shape [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "scale (1) over gamma draws of that shape; gives the next state and the draw"},
    {.name = "random.gengamma",
     .operands = "rng alpha p [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "scale (1) times the power 1/p of gamma draws of shape alpha/p; gives the next state and the draw"},
    {.name = "random.chisquare",
     .operands = "rng df",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "chi-squared draws of df degrees of freedom; gives the next state and the draw"},
    {.name = "random.beta",
     .operands = "rng a b",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "beta draws; gives the next state and the draw"},
    {.name = "random.f",
     .operands = "rng dfnum dfden",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc =
         "Fisher's F draws: the quotient of two chi-squared draws over their degrees of freedom; gives the next state "
         "and the draw"},
    {.name = "random.zipf",
     .operands = "rng a",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Zipf draws, integers k from 1 on with probabilities k^-a / zeta(a), a > 1; gives the next state and the "
            "draw"},
    {.name = "random.t",
     .operands = "rng df [loc] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Student's t draws of df degrees of freedom, location loc (0) and scale (1); gives the next state and the "
            "draw"},
    {.name = "random.wald",
     .operands = "rng [mean] [scale]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Wald (inverse Gaussian) draws of that mean (1) and scale (1); gives the next state and the draw"},
    {.name = "random.vonmises",
     .operands = "rng [mu] [kappa]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "von Mises draws, angles between -pi and pi about mu (0), of concentration kappa (1); gives the next state "
            "and the draw"},
    {.name = "random.truncated_normal",
     .operands = "rng [mu] [sigma] [lower] [upper]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "normal draws (0, 1) between lower (-inf) and upper (inf); gives the next state and the draw"},
    {.name = "random.poisson",
     .operands = "rng [rate]",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "Poisson draws with mean rate (1); gives the next state and the draw, int64"},
    {.name = "random.binomial",
     .operands = "rng n p",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "successes among n trials of probability p; gives the next state and the draw, int64"},
    {.name = "random.nbinom",
     .operands = "rng n p",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "failures before the n-th success of probability p; gives the next state and the draw, int64"},
    {.name = "random.betabinom",
     .operands = "rng n a b",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "successes among n trials whose probability is a beta draw; gives the next state and the draw, int64"},
    {.name = "random.geometric",
     .operands = "rng p",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "trials up to the first success of probability p, from 1; gives the next state and the draw, int64"},
    {.name = "random.hypergeometric",
     .operands = "rng good bad draws",
     .options = DRAW_OPTIONS,
     .call = call_draw,
     .no_method = true,
     .doc = "good ones among that many draws, without replacement, from good and bad; gives the next state and the "
            "draw, int64"},
    {.name = "permutation",
     .operands = "rng x",
     .call = call_permutation,
     .no_method = true,
     .doc =
         "a random order of 1…x, or of an array's entries along its first axis; gives the next state and the result"},
    {.name = NULL},
};

const op_def *const random_classes[] = {&random_draw_def,    &permutation_def, &quantile_def,    &categorical_def,
                                        &multinomial_def,    &dirichlet_def,   &choice_def,      &draw_factor_def,
                                        &draw_transform_def, &bartlett_def,    &draw_square_def, NULL};
