/* op_shape_test: the shape, alloc, join and marker families: values, Types, inferred shapes, gradients, errors. */
#include "op/shape/shape_int.h"
#include "leak_case.h"
#include "op_options.h"
#include "op_case.h"
#include "by_name.h"

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static damo_var *with_ints(build *b, const char *name, damo_var *x, const int64_t *v, int n) {
  prop_value list[8], opt[FN_MAX_OPTIONS];
  for (int i = 0; i < n; i++) list[i] = prop_int(v[i]);
  const prop_value first = prop_list(list, n);
  return build_fn(b, name, &x, 1, op_options(b->ctx, name, &first, 1, opt));
}
#define INTS(name, ...) \
  with_ints(b, name, x, (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8))

static damo_var *with_opts(build *b, const char *name, damo_var *x, prop_value p, prop_value q, prop_value r) {
  prop_value opt[FN_MAX_OPTIONS];
  return build_fn(b, name, &x, 1, op_options(b->ctx, name, (const prop_value[]){p, q, r}, 3, opt));
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static damo_var *reshape_64(build *b, damo_var *x) { return INTS("reshape", 4, 6); }
static damo_var *reshape_open(build *b, damo_var *x) { return INTS("reshape", 2, -1); }
static damo_var *reshape_copy(build *b, damo_var *x) { return INTS("reshape", 3, 2); }
static damo_var *reshape_of_transpose(build *b, damo_var *x) { return reshape_copy(b, build_transpose(b, x)); }
static damo_var *reshape_symbolic(build *b, damo_var *x) {
  damo_var *n = build_fn1(b, "size", x), *shape[2] = {n, build_scalar(b, DAMO_INT64, 1)};
  return build_reshape(b, x, build_vector(b, shape, 2), 2);
}
static damo_var *reshape_vector(build *b, damo_var *x) {
  damo_var *v = build_shape(b, build_transpose(b, x));
  const prop_value shape = {.kind = PROP_VAR, .u.var = v};
  prop_value opt[FN_MAX_OPTIONS];
  return v ? build_fn(b, "reshape", &x, 1, op_options(b->ctx, "reshape", &shape, 1, opt)) : NULL;
}
static damo_var *flatten_2(build *b, damo_var *x) {
  return with_opts(b, "flatten", x, prop_int(2), prop_nil(), prop_nil());
}
static damo_var *ravel(build *b, damo_var *x) { return build_fn1(b, "ravel", x); }
static damo_var *transpose(build *b, damo_var *x) { return build_fn1(b, "transpose", x); }
static damo_var *transpose_213(build *b, damo_var *x) { return INTS("transpose", 2, 1, 3); }
static damo_var *dimshuffle(build *b, damo_var *x) {
  prop_value p[3] = {prop_int(2), prop_str("x"), prop_int(1)}, opt = prop_list(p, 3);
  return build_fn(b, "dimshuffle", &x, 1, IN_ORDER(b->ctx, "dimshuffle", opt));
}
static damo_var *expand_last(build *b, damo_var *x) { return INTS("expand_dims", -1); }
static damo_var *expand_two(build *b, damo_var *x) { return INTS("expand_dims", 1, 3); }
static damo_var *squeeze_1(build *b, damo_var *x) { return INTS("squeeze", 1); }
static damo_var *moveaxis(build *b, damo_var *x) {
  return with_opts(b, "moveaxis", x, prop_int(1), prop_int(-1), prop_nil());
}
static damo_var *swapaxes(build *b, damo_var *x) {
  return with_opts(b, "swapaxes", x, prop_int(1), prop_int(3), prop_nil());
}
static damo_var *matrix_transpose(build *b, damo_var *x) { return build_fn1(b, "matrix_transpose", x); }
static damo_var *atleast_3d(build *b, damo_var *x) { return build_fn1(b, "atleast_3d", x); }
static damo_var *flip_2(build *b, damo_var *x) { return INTS("flip", 2); }
static damo_var *broadcast_324(build *b, damo_var *x) { return INTS("broadcast_to", 3, 2, 4); }
/* A column that is known to be one, whatever x's Type says. */
static damo_var *broadcast_column(build *b, damo_var *x) {
  return broadcast_324(b, build_dimshuffle(b, x, (const int[]){0, -1}, 2));
}
static damo_var *diag_down(build *b, damo_var *x) {
  return with_opts(b, "diag", x, prop_int(-1), prop_nil(), prop_nil());
}
static damo_var *diagonal_up(build *b, damo_var *x) {
  return with_opts(b, "diagonal", x, prop_int(1), prop_nil(), prop_nil());
}
static damo_var *diagonal_outer(build *b, damo_var *x) {
  return with_opts(b, "diagonal", x, prop_int(0), prop_int(1), prop_int(3));
}
static damo_var *trace(build *b, damo_var *x) { return build_fn1(b, "trace", x); }
static damo_var *tril(build *b, damo_var *x) { return build_fn1(b, "tril", x); }
static damo_var *triu_down(build *b, damo_var *x) {
  return with_opts(b, "triu", x, prop_int(-1), prop_nil(), prop_nil());
}

static const op_case shape_cases[] = {
    {"reshape", reshape_64, 3, {2, 3, 4}, 2, {4, 6}, NULL, false},
    {"reshape -1", reshape_open, 3, {2, 3, 4}, 2, {2, 12}, NULL, false},
    {"reshape of a transpose", reshape_of_transpose, 2, {2, 3}, 2, {3, 2}, WANT(1, 4, 2, 5, 3, 6), false},
    {"reshape by a vector", reshape_vector, 2, {2, 3}, 2, {3, 2}, WANT(1, 2, 3, 4, 5, 6), false},
    {"flatten 2", flatten_2, 3, {2, 3, 4}, 2, {2, 12}, NULL, false},
    {"ravel", ravel, 2, {2, 3}, 1, {6}, WANT(1, 2, 3, 4, 5, 6), false},
    {"ravel of a scalar", ravel, 0, {0}, 1, {1}, WANT(1), false},
    {"ravel of nothing", ravel, 2, {0, 3}, 1, {0}, NULL, false},
    {"transpose", transpose, 2, {2, 3}, 2, {3, 2}, WANT(1, 4, 2, 5, 3, 6), false},
    {"transpose axes", transpose_213, 3, {2, 3, 1}, 3, {3, 2, 1}, WANT(1, 4, 2, 5, 3, 6), false},
    {"dimshuffle", dimshuffle, 2, {2, 3}, 3, {3, 1, 2}, WANT(1, 4, 2, 5, 3, 6), false},
    {"expand_dims", expand_last, 1, {3}, 2, {3, 1}, WANT(1, 2, 3), false},
    {"expand_dims two", expand_two, 1, {3}, 3, {1, 3, 1}, WANT(1, 2, 3), false},
    {"squeeze", squeeze_1, 2, {1, 3}, 1, {3}, WANT(1, 2, 3), false},
    {"moveaxis", moveaxis, 3, {2, 3, 4}, 3, {3, 4, 2}, NULL, false},
    {"swapaxes", swapaxes, 3, {2, 1, 3}, 3, {3, 1, 2}, WANT(1, 4, 2, 5, 3, 6), false},
    {"matrix_transpose", matrix_transpose, 3, {2, 1, 3}, 3, {2, 3, 1}, WANT(1, 2, 3, 4, 5, 6), false},
    {"atleast_3d", atleast_3d, 1, {3}, 3, {1, 1, 3}, WANT(1, 2, 3), false},
    {"flip", flip_2, 2, {2, 3}, 2, {2, 3}, WANT(3, 2, 1, 6, 5, 4), false},
    {"broadcast_to", broadcast_column, 1, {2}, 3, {3, 2, 4}, NULL, false},
    {"broadcast_to a scalar", broadcast_324, 0, {0}, 3, {3, 2, 4}, NULL, false},
    {"diag of a vector", diag_down, 1, {2}, 2, {3, 3}, WANT(0, 0, 0, 1, 0, 0, 0, 2, 0), false},
    {"diag of a matrix", diag_down, 2, {3, 2}, 1, {2}, WANT(3, 6), false},
    {"diagonal", diagonal_up, 2, {3, 4}, 1, {3}, WANT(2, 7, 12), false},
    {"diagonal of outer axes", diagonal_outer, 3, {2, 2, 2}, 2, {2, 2}, WANT(1, 6, 3, 8), false},
    {"trace", trace, 2, {3, 4}, 0, {0}, WANT(18), false},
    {"tril", tril, 2, {2, 3}, 2, {2, 3}, WANT(1, 0, 0, 4, 5, 0), false},
    {"triu", triu_down, 3, {1, 3, 2}, 3, {1, 3, 2}, WANT(1, 2, 3, 4, 0, 6), false},
    {.name = NULL},
};

/* ---- Alloc, join ------------------------------------------------------------------------------------------------- */

static damo_var *alloc_23(build *b, damo_var *x) {
  damo_var *dims[2] = {build_scalar(b, DAMO_INT64, 2), build_scalar(b, DAMO_INT64, 3)};
  return build_alloc(b, x, dims, 2);
}
static damo_var *zeros_like(build *b, damo_var *x) { return build_fn1(b, "zeros_like", x); }
static damo_var *ones_like(build *b, damo_var *x) { return build_fn1(b, "ones_like", x); }
static damo_var *full_like(build *b, damo_var *x) { return build_fn2(b, "full_like", x, build_int(b, 7)); }

static damo_var *join_rows(build *b, damo_var *x) {
  damo_var *in[3] = {build_int(b, 1), x, x};
  return build_fn(b, "join", in, 3, NULL);
}
static damo_var *join_columns(build *b, damo_var *x) {
  damo_var *in[2] = {x, build_slice(b, x, 1, NULL, build_scalar(b, DAMO_INT64, 1), 1)};
  prop_value axis = prop_int(-1);
  return build_fn(b, "concatenate", in, 2, IN_ORDER(b->ctx, "concatenate", axis));
}
static damo_var *stack_last(build *b, damo_var *x) {
  damo_var *in[2] = {x, build_fn1(b, "neg", x)};
  prop_value axis = prop_int(-1);
  return build_fn(b, "stack", in, 2, IN_ORDER(b->ctx, "stack", axis));
}
static damo_var *vstack(build *b, damo_var *x) {
  damo_var *in[2] = {x, x};
  return build_fn(b, "vstack", in, 2, NULL);
}
static damo_var *hstack(build *b, damo_var *x) {
  damo_var *in[2] = {x, x};
  return build_fn(b, "hstack", in, 2, NULL);
}
static damo_var *split_part(build *b, damo_var *x, int part) {
  prop_value sizes[3] = {prop_int(1), prop_int(3), prop_int(2)}, opt[2] = {prop_list(sizes, 3), prop_int(1)};
  ptrvec out;
  ptrvec_init(&out, ctx);
  damo_var *y = NULL;
  if (func_call(b, func_find(ctx, "split"), &x, 1, opt, &out) == DAMO_OK && out.n == 3) y = out.at[part];
  ptrvec_clear(&out);
  return y;
}
static damo_var *split_2(build *b, damo_var *x) { return split_part(b, x, 1); }
static damo_var *split_all(build *b, damo_var *x) {
  damo_var *in[2] = {split_part(b, x, 2), split_part(b, x, 0)};
  return in[0] && in[1] ? build_fn(b, "concatenate", in, 2, NULL) : NULL;
}
static damo_var *tile_212(build *b, damo_var *x) { return INTS("tile", 2, 1, 2); }
static damo_var *repeat_columns(build *b, damo_var *x) {
  damo_var *in[2] = {x, build_int(b, 2)};
  prop_value axis = prop_int(2);
  return build_fn(b, "repeat_", in, 2, IN_ORDER(b->ctx, "repeat_", axis));
}
static damo_var *repeat_each(build *b, damo_var *x) {
  damo_var *in[2] = {x, build_ints(b, (const int64_t[]){2, 0, 1}, 3)};
  prop_value axis = prop_int(1);
  return build_fn(b, "repeat_", in, 2, IN_ORDER(b->ctx, "repeat_", axis));
}
static damo_var *roll_1(build *b, damo_var *x) {
  damo_var *in[2] = {x, build_int(b, 2)};
  prop_value axis = prop_int(1);
  return build_fn(b, "roll", in, 2, IN_ORDER(b->ctx, "roll", axis));
}
static damo_var *roll_flat(build *b, damo_var *x) { return build_fn2(b, "roll", x, build_int(b, -1)); }
static damo_var *pad_mode(build *b, damo_var *x, const char *mode) {
  prop_value one[2] = {prop_int(2), prop_int(1)}, list = prop_list(one, 2);
  return with_opts(b, "pad", x, list, prop_str(mode), prop_nil());
}
static damo_var *pad_constant(build *b, damo_var *x) { return pad_mode(b, x, "constant"); }
static damo_var *pad_edge(build *b, damo_var *x) { return pad_mode(b, x, "edge"); }
static damo_var *pad_wrap(build *b, damo_var *x) { return pad_mode(b, x, "wrap"); }
static damo_var *pad_reflect(build *b, damo_var *x) { return pad_mode(b, x, "reflect"); }
static damo_var *pad_symmetric(build *b, damo_var *x) { return pad_mode(b, x, "symmetric"); }

static const op_case join_cases[] = {
    {"alloc a scalar", alloc_23, 0, {0}, 2, {2, 3}, WANT(1, 1, 1, 1, 1, 1), false},
    {"alloc a row", alloc_23, 1, {3}, 2, {2, 3}, WANT(1, 2, 3, 1, 2, 3), false},
    {"zeros_like", zeros_like, 1, {3}, 1, {3}, WANT(0, 0, 0), true},
    {"ones_like", ones_like, 2, {2, 2}, 2, {2, 2}, WANT(1, 1, 1, 1), true},
    {"full_like", full_like, 1, {2}, 1, {2}, WANT(7, 7), true},
    {"join", join_rows, 2, {1, 2}, 2, {2, 2}, WANT(1, 2, 1, 2), false},
    {"concatenate", join_columns, 2, {2, 2}, 2, {2, 3}, WANT(1, 2, 1, 3, 4, 3), false},
    {"stack", stack_last, 1, {2}, 2, {2, 2}, WANT(1, -1, 2, -2), false},
    {"vstack", vstack, 1, {2}, 2, {2, 2}, WANT(1, 2, 1, 2), false},
    {"hstack of vectors", hstack, 1, {2}, 1, {4}, WANT(1, 2, 1, 2), false},
    {"hstack", hstack, 2, {2, 1}, 2, {2, 2}, WANT(1, 1, 2, 2), false},
    {"split", split_2, 2, {6, 2}, 2, {3, 2}, WANT(3, 4, 5, 6, 7, 8), false},
    {"split and join", split_all, 1, {6}, 1, {3}, WANT(5, 6, 1), false},
    {"tile", tile_212, 2, {1, 2}, 3, {2, 1, 4}, WANT(1, 2, 1, 2, 1, 2, 1, 2), false},
    {"repeat_", repeat_columns, 2, {2, 2}, 2, {2, 4}, WANT(1, 1, 2, 2, 3, 3, 4, 4), false},
    {"roll", roll_1, 2, {3, 1}, 2, {3, 1}, WANT(2, 3, 1), false},
    {"roll of all", roll_flat, 2, {2, 2}, 2, {2, 2}, WANT(2, 3, 4, 1), false},
    {"pad", pad_constant, 1, {3}, 1, {6}, WANT(0, 0, 1, 2, 3, 0), false},
    {"pad edge", pad_edge, 1, {3}, 1, {6}, WANT(1, 1, 1, 2, 3, 3), false},
    {"pad wrap", pad_wrap, 1, {3}, 1, {6}, WANT(2, 3, 1, 2, 3, 1), false},
    {"pad reflect", pad_reflect, 1, {3}, 1, {6}, WANT(3, 2, 1, 2, 3, 2), false},
    {"pad symmetric", pad_symmetric, 1, {3}, 1, {6}, WANT(2, 1, 1, 2, 3, 3), false},
    {.name = NULL},
};

/* ---- Ops without an operand to differentiate --------------------------------------------------------------------- */

static void check_values(damo_var *y, build *b, const char *name, damo_dtype dtype, int64_t n, const double *want) {
  damo_array *v = case_value(b, y, name);
  if (!v) return;
  CHECK_EQ_I(array_dtype(v), dtype);
  if (CHECK_EQ_I(array_size(v), n))
    for (int64_t i = 0; i < n; i++)
      if (!CHECK_NEAR(case_at(v, i), want[i], 1e-15)) fprintf(stderr, "    %s\n", name);
  damo_release(v);
}

static void test_made(void) {
  build b;
  build_init(&b, ctx);
  damo_var *eye[3] = {build_int(&b, 3), build_int(&b, 4), build_int(&b, 1)};
  check_values(build_fn(&b, "eye", eye, 3, NULL), &b, "eye", DAMO_FLOAT64, 12,
               WANT(0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
  check_values(build_fn(&b, "tri", eye, 2, NULL), &b, "tri", DAMO_FLOAT64, 12,
               WANT(1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0));
  damo_var *ints[3] = {build_int(&b, 1), build_int(&b, 10), build_int(&b, 3)};
  damo_var *range = build_fn(&b, "arange", ints, 3, NULL);
  check_values(range, &b, "arange", DAMO_INT64, 3, WANT(1, 4, 7));
  if (CHECK(range)) CHECK_EQ_I(range->type->shape[0], 3);
  damo_var *nums[3] = {build_num(&b, 0), build_num(&b, 1), build_num(&b, 0.25)};
  check_values(build_fn(&b, "arange", nums, 3, NULL), &b, "arange", DAMO_FLOAT64, 4, WANT(0, 0.25, 0.5, 0.75));
  damo_var *down[3] = {build_int(&b, 3), build_int(&b, 0), build_int(&b, -1)};
  check_values(build_fn(&b, "arange", down, 3, NULL), &b, "arange", DAMO_INT64, 3, WANT(3, 2, 1));
  prop_value five[2] = {prop_int(5), prop_nil()};
  damo_var *ends[2] = {build_int(&b, 0), build_int(&b, 1)};
  check_values(build_fn(&b, "linspace", ends, 2, (const fn_given *)(const void *)five), &b, "linspace", DAMO_FLOAT64, 5,
               WANT(0, 0.25, 0.5, 0.75, 1));
  prop_value one = prop_int(2), shape[2] = {prop_list(&one, 1), prop_str("int32")};
  check_values(build_fn(&b, "ones", NULL, 0, (const fn_given *)(const void *)shape), &b, "ones", DAMO_INT32, 2,
               WANT(1, 1));
  damo_var *seven = build_int(&b, 7);
  prop_value plain[2] = {shape[0], prop_nil()};
  check_values(build_fn(&b, "full", &seven, 1, (const fn_given *)(const void *)plain), &b, "full", DAMO_FLOAT64, 2,
               WANT(7, 7));
  build_end(&b);
}

static void test_shape_values(void) {
  build b;
  build_init(&b, ctx);
  damo_array *x0 = case_counting(2, (const int64_t[]){2, 3});
  damo_var *known = case_input(&b, x0, true), *open = case_input(&b, x0, false);
  check_values(build_fn1(&b, "shape", known), &b, "shape", DAMO_INT64, 2, WANT(2, 3));
  check_values(build_fn1(&b, "shape", open), &b, "shape", DAMO_INT64, 2, WANT(2, 3));
  check_values(build_fn1(&b, "size", open), &b, "size", DAMO_INT64, 1, WANT(6));
  CHECK(var_is_constant(build_dim(&b, known, 1)));
  check_values(build_dim(&b, open, 1), &b, "shape_i", DAMO_INT64, 1, WANT(3));
  check_values(reshape_symbolic(&b, open), &b, "reshape", DAMO_FLOAT64, 6, WANT(1, 2, 3, 4, 5, 6));
  damo_release(x0);
  build_end(&b);
}

/* The sum of the repeats vector is not static, so the length is known only at run time. */
static void test_repeat_list(void) {
  build b;
  build_init(&b, ctx);
  damo_array *x0 = case_counting(1, (const int64_t[]){3});
  check_values(repeat_each(&b, case_input(&b, x0, true)), &b, "repeat_", DAMO_FLOAT64, 3, WANT(1, 1, 3));
  damo_release(x0);
  build_end(&b);
}

/* ---- Markers ----------------------------------------------------------------------------------------------------- */

static damo_var *specify(build *b, damo_var *x) {
  prop_value list[2] = {prop_int(2), prop_bool(false)}, opt = prop_list(list, 2);
  return build_fn(b, "specify_shape", &x, 1, IN_ORDER(b->ctx, "specify_shape", opt));
}
static damo_var *unbroadcast_once(build *b, damo_var *x) { return INTS("unbroadcast", 1); }
static damo_var *assert_positive(build *b, damo_var *x) {
  prop_value message = prop_str("x must be positive");
  damo_var *in[2] = {x, build_fn2(b, "gt", x, build_num(b, 0))};
  return build_fn(b, "assert_op", in, 2, IN_ORDER(b->ctx, "assert_op", message));
}

static const op_case marker_cases[] = {
    {"specify_shape", specify, 2, {2, 3}, 2, {2, 3}, WANT(1, 2, 3, 4, 5, 6), false},
    {"assert_op", assert_positive, 1, {3}, 1, {3}, WANT(1, 2, 3), false},
    {.name = NULL},
};

/* The gradient of sum(10 * marker(x)) is `want` at every entry; wrt is connected through a second path of gradient
 * 1. */
static void check_marker(const char *name, const prop_value *opt, double want) {
  build b;
  build_init(&b, ctx);
  damo_array *x0 = case_counting(1, (const int64_t[]){2});
  damo_var *x = case_input(&b, x0, true), *y = build_fn(&b, name, &x, 1, (const fn_given *)(const void *)opt),
           *g = NULL;
  damo_var *cost = build_fn2(&b, "add", build_fn2(&b, "mul", y, build_num(&b, 10)), x);
  cost = build_reduce(&b, REDUCE_SUM, cost, NULL, -1, false);
  if (CHECK(cost && grad_reverse(ctx, cost, &x, 1, NULL, &g) == DAMO_OK))
    check_values(g, &b, name, DAMO_FLOAT64, 2, WANT(want, want));
  else
    fprintf(stderr, "    %s: %s\n", name, damo_error_message(ctx));
  damo_release(g), damo_release(x0);
  build_end(&b);
}

static void test_markers(void) {
  prop_value clip[2] = {prop_num(-3), prop_num(3)}, scale = prop_num(-0.5);
  check_marker("disconnected_grad", NULL, 1);
  check_marker("zero_grad", NULL, 1);
  check_marker("consider_constant", NULL, 1);
  check_marker("grad_clip", clip, 4);
  check_marker("grad_scale", &scale, -4);
  build b;
  build_init(&b, ctx);
  damo_array *x0 = case_counting(2, (const int64_t[]){1, 3});
  damo_var *y = unbroadcast_once(&b, case_input(&b, x0, true));
  if (CHECK(y)) CHECK_EQ_I(y->type->shape[0], -1);
  damo_release(x0);
  build_end(&b);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static damo_var *bad_reshape(build *b, damo_var *x) { return INTS("reshape", 5, 5); }
static damo_var *bad_transpose(build *b, damo_var *x) { return INTS("transpose", 1, 1, 2); }
static damo_var *bad_squeeze(build *b, damo_var *x) { return INTS("squeeze", 2); }
static damo_var *bad_axis(build *b, damo_var *x) { return INTS("flip", 4); }
static damo_var *bad_split(build *b, damo_var *x) {
  prop_value sizes[2] = {prop_int(2), prop_int(2)};
  return with_opts(b, "split", x, prop_list(sizes, 2), prop_nil(), prop_nil());
}
static damo_var *bad_join(build *b, damo_var *x) {
  damo_var *in[2] = {x, build_transpose(b, x)};
  return build_fn(b, "concatenate", in, 2, NULL);
}
static damo_var *bad_specify(build *b, damo_var *x) { return INTS("specify_shape", 3, 3); }
static damo_var *bad_assert(build *b, damo_var *x) { return assert_positive(b, build_fn1(b, "neg", x)); }

static const error_case errors[] = {
    {bad_reshape, 2, {4, 6}, DAMO_ESHAPE, "reshape: an array of shape (4, 6) (24 entries) does not fit shape (5, 5)"},
    {bad_transpose, 3, {2, 3, 4}, DAMO_EVALUE, "transpose: axis 1 is named twice"},
    {bad_squeeze, 2, {1, 3}, DAMO_ESHAPE, "squeeze: axis 2 has length 3, not 1"},
    {bad_axis, 3, {2, 3, 4}, DAMO_EINDEX, "flip: there is no axis 4 in a tensor of 3 dimensions"},
    {bad_split, 1, {6}, DAMO_ESHAPE, "split: the sizes add up to 4, but axis 1 has length 6"},
    {bad_join,
     2,
     {2, 3},
     DAMO_ESHAPE,
     "join: along axis 1, operand 2 of shape (3, 2) does not fit shape (2, 3): axis 2 differs"},
    {bad_specify, 2, {2, 3}, DAMO_ESHAPE, "specify_shape: axis 1 has length 2, not 3"},
    {.make = NULL},
};

static void test_assert_fails(void) {
  build b;
  build_init(&b, ctx);
  damo_array *x0 = case_counting(1, (const int64_t[]){2});
  damo_var *y = bad_assert(&b, case_input(&b, x0, true));
  damo_obj *value = NULL;
  CHECK(y && eager_eval(ctx, &y, 1, &value) == DAMO_EVALUE);
  CHECK_EQ_S(damo_error_message(ctx), "x must be positive");
  damo_release(x0);
  build_end(&b);
}

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) return 1;
  case_run_all(shape_cases);
  case_run_all(join_cases);
  case_run_all(marker_cases);
  test_made();
  test_shape_values();
  test_repeat_list();
  test_markers();
  test_assert_fails();
  case_errors(errors);
  ctx_clear_error(ctx);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  leak_end(ctx);
  TEST_MAIN_END;
}
