/* vector_rows: functions that draw positions, vectors and matrices: nodes of vectors.h over random words, one an entry
 * of the stack, or over normal draws. The size is that of the stack, without the axes of an entry. */
#include "draw.h"
#include "vectors.h"
#include "op/elem/build_arith.h"
#include "op/linalg/decompose.h"

typedef struct vector_options {
  prop_value size, dtype;
} vector_options;

typedef struct choice_options {
  prop_value size, replace, p;
} choice_options;

/* What the stack of a call is: its size, or without one the shape of `like`. */
typedef struct draw_stack {
  damo_var *dims[DAMO_MAX_NDIM];
  int n;
  bool sized;
  damo_var *like;
} draw_stack;

static damo_status stack_read(build *b, const fn_args *a, const prop_value *size, draw_stack *s) {
  *s = (draw_stack){.sized = prop_given(*size)};
  return s->sized ? shape_check(b, a->func->name, size, s->dims, &s->n) : b->status;
}

/* A draw of that distribution; NULL dims: of the shape of its parameters. */
static damo_apply *build_draw(build *b, const char *dist, damo_dtype dtype, damo_var *rng, damo_var *first,
                              damo_var *second, damo_var *const *dims, int n) {
  damo_var *in[3 + DAMO_MAX_NDIM] = {rng, first, second};
  const random_draw_props props = {.dist = prop_str(dist),
                                   .dtype = prop_str(dtype_name(dtype)),
                                   .sized = prop_bool(dims != NULL),
                                   .ndim = prop_int(n)};
  for (int i = 0; i < n; i++) in[3 + i] = dims[i];
  return b->status == DAMO_OK ? build_apply(b, op_new(b->ctx, &random_draw_def, &props), in, 3 + n) : NULL;
}

/* A random integer an entry of the stack. */
static damo_apply *stack_words(build *b, damo_var *rng, const draw_stack *s) {
  damo_var *low = build_scalar(b, DAMO_INT64, -0x1p63), *high = build_scalar(b, DAMO_INT64, 0x1p62);
  if (!s->sized && b->status == DAMO_OK) {
    low = build_fill(b, s->like, low);
    high = build_fill(b, s->like, high);
  }
  return build_draw(b, "integers", DAMO_INT64, rng, low, high, s->sized ? s->dims : NULL, s->n);
}

/* x as float64, of at least that rank. */
static damo_var *vector_operand(build *b, const fn_args *a, int i, int rank) {
  damo_var *x = a->in[i];
  if (fn_check_tensor(a, b->ctx, i) != DAMO_OK || build_resolve(b, &x, 1, false, &x) != DAMO_OK) return NULL;
  if (var_ndim(x) < rank || dtype_is_complex(var_dtype(x))) {
    char text[256];
    return build_fail(b, DAMO_ETYPE, "%s: operand %d must be real with at least %d ax%s, got %s", a->func->name, i,
                      rank, rank == 1 ? "is" : "es", type_format(text, sizeof text, x->type));
  }
  return build_cast(b, x, DAMO_FLOAT64);
}

/* The stack's shape as that of a sum over the last axes. */
static damo_var *without_last(build *b, damo_var *x, int axes) {
  int last[2] = {0, 0};
  if (!x) return NULL;
  for (int i = 0; i < axes; i++) last[i] = var_ndim(x) - axes + i;
  return axes == 0 ? x : build_reduce(b, REDUCE_SUM, x, last, axes, false);
}

static damo_dtype result_dtype(build *b, const fn_args *a, const vector_options *o, bool integer) {
  damo_dtype dtype = integer ? DAMO_INT64 : b->ctx->config.floatX;
  if (fn_dtype(a, b->ctx, o->dtype, &dtype) == DAMO_OK && !integer && !dtype_is_float(dtype))
    build_fail(b, DAMO_ETYPE, "%s: draws can't have dtype %s", a->func->name, dtype_name(dtype));
  return dtype;
}

static damo_status give_draw(build *b, ptrvec *out, damo_var *state, damo_var *x) {
  if (b->status != DAMO_OK || !state || !x) return b->status;
  DAMO_TRY(ptrvec_push(out, state));
  return ptrvec_push(out, x);
}

/* The result of a class over words and the operands, of which operand 1 may be one of scalars. */
static damo_status call_of_words(build *b, const fn_args *a, ptrvec *out, const op_def *def, int scalars, int rank,
                                 bool integer) {
  const vector_options *o = FN_OPTIONS(a, vector_options);
  damo_var *rng = random_state_operand(b, a), *in[3];
  draw_stack s;
  const int n = 1 + scalars;
  DAMO_TRY(stack_read(b, a, &o->size, &s));
  for (int i = 0; i < n && b->status == DAMO_OK; i++) in[1 + i] = vector_operand(b, a, 1 + i, i < scalars ? 0 : rank);
  const damo_dtype dtype = result_dtype(b, a, o, integer);
  if (b->status != DAMO_OK) return b->status;
  s.like = without_last(b, in[n], rank);
  if (scalars) s.like = build_add(b, s.like, in[1]);
  if (scalars) {
    damo_var *count = a->in[1];
    DAMO_TRY(build_resolve(b, &count, 1, false, &count));
    if (!dtype_is_discrete(var_dtype(count)))
      return ctx_fail(b->ctx, DAMO_ETYPE, "%s: n must be integer, got %s", a->func->name, dtype_name(var_dtype(count)));
    in[1] = build_cast(b, count, DAMO_INT64);
  }
  damo_apply *words = stack_words(b, rng, &s);
  if (!words) return b->status;
  in[0] = words->out[1];
  damo_apply *node = build_core(b, def, NULL, in, 1 + n);
  return node ? give_draw(b, out, words->out[0], build_cast(b, node->out[0], dtype)) : b->status;
}

static damo_status call_draw_categorical(build *b, const fn_args *a, ptrvec *out) {
  return call_of_words(b, a, out, &categorical_def, 0, 1, true);
}

static damo_status call_multinomial(build *b, const fn_args *a, ptrvec *out) {
  return call_of_words(b, a, out, &multinomial_def, 1, 1, true);
}

static damo_status call_dirichlet(build *b, const fn_args *a, ptrvec *out) {
  return call_of_words(b, a, out, &dirichlet_def, 0, 1, false);
}

static damo_apply *build_factor(build *b, damo_var *cov) {
  const cholesky_props props = {.lower = prop_bool(true)};
  return build_core(b, &draw_factor_def, &props, &cov, 1);
}

/* mean + L·z, L·Lᵀ = cov */
static damo_status call_multivariate_normal(build *b, const fn_args *a, ptrvec *out) {
  const vector_options *o = FN_OPTIONS(a, vector_options);
  damo_var *rng = random_state_operand(b, a), *mean = vector_operand(b, a, 1, 1);
  damo_var *cov = mean ? vector_operand(b, a, 2, 2) : NULL, *loc = build_scalar(b, DAMO_FLOAT64, 0);
  damo_var *scale = build_scalar(b, DAMO_FLOAT64, 1);
  draw_stack s;
  if (!cov) return b->status;
  DAMO_TRY(stack_read(b, a, &o->size, &s));
  const damo_dtype dtype = result_dtype(b, a, o, false);
  damo_apply *factor = build_factor(b, cov);
  if (s.sized) {
    if (s.n >= DAMO_MAX_NDIM) return ctx_fail(b->ctx, DAMO_ESHAPE, "multivariate_normal: the size has too many axes");
    s.dims[s.n++] = build_dim(b, cov, var_ndim(cov) - 1);
  } else {
    loc = build_fill(b, build_add(b, mean, without_last(b, cov, 1)), loc);
  }
  damo_apply *z = build_draw(b, "normal", DAMO_FLOAT64, rng, loc, scale, s.sized ? s.dims : NULL, s.n);
  if (!z || !factor) return b->status;
  damo_var *const in[2] = {factor->out[0], z->out[1]};
  damo_apply *y = build_core(b, &draw_transform_def, NULL, in, 2);
  return y ? give_draw(b, out, z->out[0], build_cast(b, build_add(b, mean, y->out[0]), dtype)) : b->status;
}

/* L·B·Bᵀ·Lᵀ with L·Lᵀ = scale and B of Bartlett (M. S. Bartlett, "On the theory of statistical regression", 1933). */
static damo_status call_wishart(build *b, const fn_args *a, ptrvec *out) {
  const vector_options *o = FN_OPTIONS(a, vector_options);
  damo_var *rng = random_state_operand(b, a), *df = vector_operand(b, a, 1, 0);
  damo_var *scale = df ? vector_operand(b, a, 2, 2) : NULL;
  draw_stack s;
  if (!scale) return b->status;
  DAMO_TRY(stack_read(b, a, &o->size, &s));
  const damo_dtype dtype = result_dtype(b, a, o, false);
  s.like = build_add(b, df, without_last(b, scale, 2));
  damo_apply *words = stack_words(b, rng, &s), *factor = build_factor(b, scale);
  if (!words || !factor) return b->status;
  damo_apply *triangle = build_core(b, &bartlett_def, NULL, (damo_var *const[]){words->out[1], df, scale}, 3);
  if (!triangle) return b->status;
  damo_apply *x = build_core(b, &draw_square_def, NULL, (damo_var *const[]){factor->out[0], triangle->out[0]}, 2);
  return x ? give_draw(b, out, words->out[0], build_cast(b, x->out[0], dtype)) : b->status;
}

/* ---- Choice ------------------------------------------------------------------------------------------------------ */

/* Positions without replacement: one entry of the class, as many as the size has. */
static damo_apply *choice_distinct(build *b, damo_var *rng, damo_var *weights, const draw_stack *s, damo_var **state) {
  damo_var *count = build_scalar(b, DAMO_INT64, 1);
  const draw_stack one = {.sized = true};
  damo_apply *word = stack_words(b, rng, &one);
  for (int i = 0; i < s->n; i++) count = build_mul(b, count, s->dims[i]);
  damo_var *wanted = count ? build_alloc(b, build_scalar(b, DAMO_INT64, 0), &count, 1) : NULL;
  if (!word || !wanted) return NULL;
  *state = word->out[0];
  return build_core(b, &choice_def, NULL, (damo_var *const[]){word->out[1], weights, wanted}, 3);
}

static damo_apply *choice_repeated(build *b, damo_var *rng, damo_var *weights, const draw_stack *s, damo_var **state) {
  damo_apply *words = stack_words(b, rng, s);
  if (!words) return NULL;
  *state = words->out[0];
  return build_core(b, &categorical_def, NULL, (damo_var *const[]){words->out[1], weights}, 2);
}

/* The positions 1…n by their number or the rows of an Array, and the weights, equal ones without an option p. */
static damo_status call_choice(build *b, const fn_args *a, ptrvec *out) {
  const choice_options *o = FN_OPTIONS(a, choice_options);
  damo_var *rng = random_state_operand(b, a), *x = a->in[1], *state = NULL, *n, *weights;
  const bool replace = prop_bool_or(o->replace, true), weighted = prop_given(o->p);
  draw_stack s;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  DAMO_TRY(build_resolve(b, &x, 1, false, &x));
  DAMO_TRY(stack_read(b, a, &o->size, &s));
  const bool rows = var_ndim(x) > 0;
  if (!rows && !dtype_is_discrete(var_dtype(x)))
    return ctx_fail(b->ctx, DAMO_ETYPE, "choice: a must be an integer or an array, got %s", dtype_name(var_dtype(x)));
  s.sized = true;
  n = rows ? build_dim(b, x, 0) : build_cast(b, x, DAMO_INT64);
  if (!n) return b->status;
  if (weighted) {
    weights = o->p.u.var;
    DAMO_TRY(build_resolve(b, &weights, 1, false, &weights));
    if (var_ndim(weights) != 1) return ctx_fail(b->ctx, DAMO_ESHAPE, "choice: p must be a vector");
    weights = build_cast(b, weights, DAMO_FLOAT64);
  } else {
    damo_var *share = replace ? build_true_div(b, build_num(b, 1), n) : build_scalar(b, DAMO_FLOAT64, 1);
    weights = build_alloc(b, build_cast(b, share, DAMO_FLOAT64), &n, 1);
  }
  if (b->status != DAMO_OK) return b->status;
  damo_apply *node =
      replace ? choice_repeated(b, rng, weights, &s, &state) : choice_distinct(b, rng, weights, &s, &state);
  if (!node) return b->status;
  damo_var *at = node->out[0];
  if (!replace) {
    damo_var *shape = s.n ? build_vector(b, s.dims, s.n) : build_ints(b, NULL, 0);
    at = build_reshape(b, at, shape, s.n);
  }
  return give_draw(b, out, state, rows ? build_take_axis(b, x, at, 0) : at);
}

#define VECTOR_OPTIONS OPTIONS(OPT(vector_options, size, OPT_SHAPE), OPT(vector_options, dtype, OPT_DTYPE))

const op_func random_vector_funcs[] = {
    {.name = "random.categorical",
     .operands = "rng p",
     .options = VECTOR_OPTIONS,
     .call = call_draw_categorical,
     .no_method = true,
     .doc =
         "positions from 1, drawn with probabilities p along the last axis; gives the next state and the draw, int64"},
    {.name = "random.multinomial",
     .operands = "rng n p",
     .options = VECTOR_OPTIONS,
     .call = call_multinomial,
     .no_method = true,
     .doc = "how many of n draws fall into each category of p; gives the next state and the draw, int64"},
    {.name = "random.dirichlet",
     .operands = "rng a",
     .options = VECTOR_OPTIONS,
     .call = call_dirichlet,
     .no_method = true,
     .doc = "Dirichlet draws, a along the last axis; gives the next state and the draw"},
    {.name = "random.multivariate_normal",
     .operands = "rng mean cov",
     .options = VECTOR_OPTIONS,
     .call = call_multivariate_normal,
     .no_method = true,
     .doc = "normal vectors of that mean and covariance, which may be singular; gives the next state and the draw"},
    {.name = "random.wishart",
     .operands = "rng df scale",
     .options = VECTOR_OPTIONS,
     .call = call_wishart,
     .no_method = true,
     .doc = "Wishart matrices of df degrees of freedom and that scale; gives the next state and the draw"},
    {.name = "random.choice",
     .operands = "rng a",
     .options = OPTIONS(OPT(choice_options, size, OPT_SHAPE), OPT(choice_options, replace, OPT_BOOL),
                        OPT(choice_options, p, OPT_VAR)),
     .call = call_choice,
     .no_method = true,
     .doc = "positions 1…a, or rows of a, with or without replacement (replace), drawn with probabilities p; gives the "
            "next state and the draw"},
    {.name = NULL},
};
