/* grad_test: reverse and forward mode over graphs: known gradients, stops, disconnected and undefined ones,
 * accumulation. */
#include "api/api.h"
#include "leak_case.h"
#include "test.h"
#include "op/op.h"
#include "grad/grad.h"
#include "by_name.h"

static damo_ctx *ctx;

static damo_var *typed(damo_dtype dtype, int ndim, const char *name) {
  damo_type *t = type_tensor(ctx, dtype, ndim, NULL);
  damo_var *v = var_new(ctx, t, name);
  damo_release(t);
  return v;
}

/* The value of `of` with x (a scalar) set to `at`, and y (or NULL) to `at2`. */
static double value_at(damo_var *of, damo_var *x, double at, damo_var *y, double at2) {
  in_spec in[2] = {{.var = x}, {.var = y}};
  out_spec out = {.var = of};
  compile_options o = {.on_unused_input = UNUSED_IGNORE};
  damo_function *f = compile_function(ctx, in, y != NULL ? 2 : 1, &out, 1, &o);
  double v = NAN;
  if (!CHECK(f != NULL)) {
    fprintf(stderr, "    %s\n", damo_error_message(ctx));
    return v;
  }
  damo_array *args[2] = {damo_array_scalar(ctx, var_dtype(x), at),
                         y != NULL ? damo_array_scalar(ctx, var_dtype(y), at2) : NULL};
  damo_array *result = NULL;
  if (CHECK(damo_function_call(f, args, y != NULL ? 2 : 1, &result) == DAMO_OK)) damo_array_item(result, &v);
  damo_release(result);
  damo_release(args[0]);
  damo_release(args[1]);
  damo_release(f);
  return v;
}

static damo_var *grad1(damo_var *cost, damo_var *x, const grad_options *o) {
  damo_var *g = NULL;
  damo_status s = grad_reverse(ctx, cost, &x, 1, o, &g);
  if (!CHECK_EQ_I(s, DAMO_OK)) fprintf(stderr, "    %s\n", damo_error_message(ctx));
  return g;
}

static void fails(damo_var *cost, damo_var *x, const grad_options *o, damo_status expect) {
  damo_var *g = NULL;
  if (!CHECK_EQ_I(grad_reverse(ctx, cost, &x, 1, o, &g), expect)) fprintf(stderr, "    %s\n", damo_error_message(ctx));
  CHECK(g == NULL);
}

static void test_chain_and_accumulation(build *b, damo_var *x) {
  /* x is used thrice: d (x·sin x + exp x)/dx */
  damo_var *y = build_fn2(b, "add", build_fn2(b, "mul", x, build_fn1(b, "sin", x)), build_fn1(b, "exp", x));
  damo_var *g = grad1(y, x, NULL);
  CHECK_NEAR(value_at(g, x, 0.7, NULL, 0), sin(0.7) + 0.7 * cos(0.7) + exp(0.7), 1e-13);
  damo_release(g);
  g = grad1(x, x, NULL); /* with respect to itself */
  CHECK_NEAR(value_at(g, x, 3, NULL, 0), 1, 0);
  damo_release(g);
  /* with respect to an inner Variable, and one used twice by one node */
  damo_var *e = build_fn1(b, "exp", x), *q = build_fn2(b, "mul", e, e);
  g = grad1(q, e, NULL);
  CHECK_NEAR(value_at(g, x, 0.5, NULL, 0), 2 * exp(0.5), 1e-13);
  damo_release(g);
  damo_var *both[2] = {NULL, NULL};
  CHECK_EQ_I(grad_reverse(ctx, q, (damo_var *[]){x, x}, 2, NULL, both), DAMO_OK);
  CHECK(both[0] == both[1]);
  CHECK_NEAR(value_at(both[0], x, 0.5, NULL, 0), 2 * exp(1.0), 1e-12);
  damo_release(both[0]);
  damo_release(both[1]);
}

static void test_known(build *b, damo_var *x) {
  damo_var *e = build_fn1(b, "exp", x), *s = build_fn1(b, "sin", e), *k = build_scalar(b, DAMO_FLOAT64, 5);
  grad_options o = {.known = &k, .known_of = &e, .n_known = 1};
  damo_var *g = grad1(NULL, x, &o);
  CHECK_NEAR(value_at(g, x, 0.3, NULL, 0), 5 * exp(0.3), 1e-13);
  damo_release(g);
  g = grad1(s, x, &o); /* a known gradient is not added to */
  CHECK_NEAR(value_at(g, x, 0.3, NULL, 0), 5 * exp(0.3), 1e-13);
  damo_release(g);
  fails(NULL, x, NULL, DAMO_EVALUE);
  damo_var *v = build_take(b, typed(DAMO_FLOAT64, 1, "v"));
  o.known = &v;
  fails(NULL, x, &o, DAMO_ETYPE);
}

static void test_constant(build *b, damo_var *x) {
  damo_var *e = build_fn1(b, "exp", x), *y = build_fn2(b, "mul", x, e);
  grad_options o = {.constant = &e, .n_constant = 1};
  damo_var *g = grad1(y, x, &o);
  CHECK_NEAR(value_at(g, x, 0.4, NULL, 0), exp(0.4), 1e-13);
  damo_release(g);
  g = grad1(y, e, &o); /* no gradient passes it; it has one itself */
  CHECK_NEAR(value_at(g, x, 0.4, NULL, 0), 0.4, 1e-13);
  damo_release(g);
  damo_var *both[2] = {NULL, NULL};
  CHECK_EQ_I(grad_reverse(ctx, y, (damo_var *[]){e, x}, 2, &o, both), DAMO_OK);
  CHECK_NEAR(value_at(both[0], x, 0.4, NULL, 0), 0.4, 1e-13);
  CHECK_NEAR(value_at(both[1], x, 0.4, NULL, 0), exp(0.4), 1e-13);
  damo_release(both[0]);
  damo_release(both[1]);
  fails(build_fn1(b, "sin", e), x, &o, DAMO_EDISCONNECTED_INPUT);
  damo_var *c = build_fn1(b, "consider_constant", e);
  g = grad1(build_fn2(b, "mul", x, c), x, NULL);
  CHECK_NEAR(value_at(g, x, 0.4, NULL, 0), exp(0.4), 1e-13);
  damo_release(g);
}

static int warned;
static void note(void *user, const char *kind, const char *message) {
  (void)user, (void)message;
  warned += strcmp(kind, "disconnected_input") == 0;
}

static void test_disconnected(build *b, damo_var *x) {
  damo_var *y = build_take(b, typed(DAMO_FLOAT64, 0, "y")), *cost = build_fn1(b, "exp", x);
  fails(cost, y, NULL, DAMO_EDISCONNECTED_INPUT);
  CHECK(strstr(damo_error_message(ctx), "y") != NULL);
  damo_ctx_set_warning(ctx, note, NULL);
  damo_var *g = grad1(cost, y, &(grad_options){.disconnected_inputs = DISCONNECTED_WARN});
  CHECK_EQ_I(warned, 1);
  CHECK_NEAR(value_at(g, y, 1, NULL, 0), 0, 0);
  damo_release(g);
  grad_options o = {.disconnected_inputs = DISCONNECTED_IGNORE, .return_disconnected = RETURN_NONE};
  CHECK(grad1(cost, y, &o) == NULL);
  o.return_disconnected = RETURN_DISCONNECTED;
  g = grad1(cost, y, &o);
  CHECK(g != NULL && g->type->kind == TYPE_DISCONNECTED);
  damo_release(g);
  CHECK_EQ_I(warned, 1);
  /* neither a use of the shape alone nor disconnected_grad connects */
  damo_var *v = build_take(b, typed(DAMO_FLOAT64, 1, "v"));
  fails(build_fn1(b, "exp", build_cast(b, build_fn1(b, "size", v), DAMO_FLOAT64)), v, NULL, DAMO_EDISCONNECTED_INPUT);
  fails(build_fn1(b, "disconnected_grad", cost), x, NULL, DAMO_EDISCONNECTED_INPUT);
  /* with respect to an integer: a zero of floatX */
  damo_var *i = build_take(b, typed(DAMO_INT32, 0, "i"));
  g = grad1(cost, i, &(grad_options){.disconnected_inputs = DISCONNECTED_IGNORE});
  CHECK(var_dtype(g) == DAMO_FLOAT64);
  damo_release(g);
}

/* ---- An op without a gradient, one with an undefined one, one with a wrong rule ---------------------------------- */

static damo_status same_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)n_in;
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}
static damo_status undefined_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node, (void)gout;
  gin[0] = build_null(b, "there is a kink");
  return b->status;
}
static damo_status wrong_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node, (void)gout;
  gin[0] = build_take(b, typed(DAMO_FLOAT64, 2, NULL));
  return b->status;
}
static damo_status failing_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node, (void)gout, (void)gin;
  return ctx_fail(b->ctx, DAMO_ENUMERIC, "this rule fails");
}
static const op_def bare_def = {.name = "Bare", .n_in = 1, .infer_type = same_type};
static const op_def undefined_def = {.name = "Kink", .n_in = 1, .infer_type = same_type, .grad = undefined_grad};
static const op_def wrong_def = {.name = "Wrong", .n_in = 1, .infer_type = same_type, .grad = wrong_grad};
static const op_def failing_def = {.name = "Failing", .n_in = 1, .infer_type = same_type, .grad = failing_grad};

/* Two outputs, each one of the inputs. */
static damo_status pair_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op;
  for (int i = 0; i < n_in; i++) out[i] = damo_retain(in[i]->type);
  return DAMO_OK;
}
static damo_status pair_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  for (int i = 0; i < node->n_in; i++) gin[i] = gout[i];
  return b->status;
}
static void pair_connect(const damo_apply *node, bool *connected) {
  (void)node;
  connected[1] = connected[2] = false;
}
static damo_status pair_run(const thunk *t, frame *f) {
  for (int i = 0; i < 2; i++) thunk_set_out(t, f, i, damo_retain(thunk_value(t, f, i)));
  return DAMO_OK;
}
static const op_alias pair_views[] = {{0, 0}, {1, 1}, OP_ALIAS_END};
static const op_def pair_def = {.name = "Pair",
                                .n_in = 2,
                                .n_out = 2,
                                .infer_type = pair_type,
                                .grad = pair_grad,
                                .perform = pair_run,
                                .view_map = pair_views,
                                .connection_pattern = pair_connect};

/* The gradient of a constant output goes no further, even if the node's other output is differentiated. */
static void test_constant_of_two_outputs(build *b, damo_var *x) {
  damo_var *y = build_take(b, typed(DAMO_FLOAT64, 0, "y"));
  damo_apply *pair = build_apply(b, op_new(ctx, &pair_def, NULL), (damo_var *[]){x, y}, 2);
  damo_var *cost = build_fn2(b, "mul", pair->out[0], pair->out[1]), *g[2] = {NULL, NULL};
  grad_options o = {.constant = &pair->out[0], .n_constant = 1};
  CHECK_EQ_I(grad_reverse(ctx, cost, (damo_var *[]){pair->out[0], y}, 2, &o, g), DAMO_OK);
  CHECK_NEAR(value_at(g[0], x, 0.5, y, 3), 3, 0);
  CHECK_NEAR(value_at(g[1], x, 0.5, y, 3), 0.5, 0);
  damo_release(g[0]);
  damo_release(g[1]);
  damo_var *const wrt[2] = {pair->out[0], x};
  CHECK_EQ_I(grad_reverse(ctx, cost, wrt, 2, &o, g), DAMO_EDISCONNECTED_INPUT);
}

/* A null gradient of one output reaches the inputs connected with that output, and no others. */
static void test_null_of_two_outputs(build *b, damo_var *x) {
  damo_var *y = build_take(b, typed(DAMO_FLOAT64, 0, "y"));
  damo_apply *pair = build_apply(b, op_new(ctx, &pair_def, NULL), (damo_var *[]){x, y}, 2);
  damo_var *const in[2] = {x, y};
  for (int k = 0; k < 2; k++) { /* output k is undefined */
    damo_var *kink = build_op(b, op_new(ctx, &undefined_def, NULL), &pair->out[k], 1);
    damo_var *cost = build_fn2(b, "add", kink, build_fn1(b, "sin", pair->out[1 - k]));
    fails(cost, in[k], NULL, DAMO_ENULL_GRADIENT);
    damo_var *g = grad1(cost, in[1 - k], NULL);
    CHECK_NEAR(value_at(g, x, 0.5, y, 0.5), cos(0.5), 1e-13);
    damo_release(g);
    damo_var *both[2] = {NULL, NULL}; /* both at once, so that the sweep sees both cotangents of the node */
    CHECK_EQ_I(grad_reverse(ctx, cost, in, 2, &(grad_options){.null_gradients_return = true}, both), DAMO_OK);
    CHECK(both[k] != NULL && both[k]->type->kind == TYPE_NULL);
    CHECK(both[1 - k] != NULL && type_is_tensor(both[1 - k]->type));
    damo_release(both[0]);
    damo_release(both[1]);
    fails(build_fn1(b, "sin", pair->out[k]), in[1 - k], NULL, DAMO_EDISCONNECTED_INPUT);
  }
}

static void test_null(build *b, damo_var *x) {
  const op_def *const defs[] = {&bare_def, &undefined_def};
  static const char *const why[] = {"not implemented", "there is a kink"};
  for (int k = 0; k < 2; k++) {
    damo_var *y = build_op(b, op_new(ctx, defs[k], NULL), &x, 1), *cost = build_fn1(b, "exp", y);
    fails(cost, x, NULL, DAMO_ENULL_GRADIENT);
    CHECK(strstr(damo_error_message(ctx), why[k]) != NULL);
    damo_var *g = grad1(cost, x, &(grad_options){.null_gradients_return = true});
    CHECK(g != NULL && g->type->kind == TYPE_NULL && strstr(g->type->why, why[k]) != NULL);
    damo_release(g);
    /* undefined plus anything is undefined, and propagates through other ops */
    damo_var *z = build_fn1(b, "sin", x), *w = build_op(b, op_new(ctx, defs[k], NULL), &z, 1);
    fails(build_fn2(b, "add", z, w), x, NULL, DAMO_ENULL_GRADIENT);
    fails(build_fn2(b, "add", w, z), x, NULL, DAMO_ENULL_GRADIENT);
    /* a path that is not differentiated does not matter */
    damo_var *u = build_take(b, typed(DAMO_FLOAT64, 0, "u"));
    g = grad1(build_fn2(b, "mul", u, w), u, NULL);
    CHECK(g != NULL && type_is_tensor(g->type));
    damo_release(g);
  }
  fails(build_op(b, op_new(ctx, &wrong_def, NULL), &x, 1), x, NULL, DAMO_ETYPE);
  CHECK_EQ_S(damo_error_op(ctx), "Wrong");
  fails(build_op(b, op_new(ctx, &failing_def, NULL), &x, 1), x, NULL, DAMO_ENUMERIC);
  CHECK(strstr(damo_error_message(ctx), "this rule fails") && strstr(damo_error_message(ctx), "Failing"));
}

static void test_dtypes(build *b) {
  damo_var *i = build_take(b, typed(DAMO_INT32, 0, "i")), *f = build_take(b, typed(DAMO_FLOAT32, 0, "f"));
  damo_var *d = build_take(b, typed(DAMO_FLOAT64, 0, "d")), *z = build_take(b, typed(DAMO_COMPLEX128, 0, "z"));
  damo_var *g = grad1(build_fn2(b, "mul", i, d), i, NULL);
  CHECK(g != NULL && var_dtype(g) == DAMO_FLOAT64);
  damo_release(g);
  g = grad1(build_fn2(b, "mul", f, d), f, NULL);
  CHECK(g != NULL && var_dtype(g) == DAMO_FLOAT32);
  damo_release(g);
  g = grad1(build_cast(b, build_fn1(b, "floor", d), DAMO_INT64), d, NULL); /* an integer cost: zero */
  CHECK_NEAR(value_at(g, d, 2.5, NULL, 0), 0, 0);
  damo_release(g);
  g = grad1(build_cast(b, build_fn2(b, "gt", d, build_num(b, 1)), DAMO_FLOAT64), d, NULL);
  CHECK_NEAR(value_at(g, d, 2.5, NULL, 0), 0, 0);
  damo_release(g);
  fails(z, z, NULL, DAMO_ETYPE);
  g = grad1(build_fn1(b, "real", build_fn2(b, "mul", z, z)), z, NULL);
  CHECK(g != NULL && var_dtype(g) == DAMO_COMPLEX128);
  damo_release(g);
  damo_var *v = build_take(b, typed(DAMO_FLOAT64, 1, "v"));
  fails(v, v, NULL, DAMO_ETYPE);
  CHECK(strstr(damo_error_message(ctx), "sum") != NULL);
}

/* ---- Forward mode ------------------------------------------------------------------------------------------------ */

/* sin without a rop: forward mode by applying L_op twice. */
static damo_status plain_sin_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_fn2(b, "mul", gout[0], build_fn1(b, "cos", node->in[0]));
  return b->status;
}
static damo_status plain_mul_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_fn2(b, "mul", gout[0], node->in[1]);
  gin[1] = build_fn2(b, "mul", gout[0], node->in[0]);
  return b->status;
}
static damo_status plain_sin_run(const thunk *t, frame *f) {
  damo_array *out = thunk_out(t, f, 0, DAMO_FLOAT64, 0, NULL);
  if (out == NULL) return DAMO_EMEMORY;
  *(double *)out->data = sin(*(double *)thunk_in(t, f, 0)->data);
  return DAMO_OK;
}
static damo_status plain_mul_run(const thunk *t, frame *f) {
  damo_array *out = thunk_out(t, f, 0, DAMO_FLOAT64, 0, NULL);
  if (out == NULL) return DAMO_EMEMORY;
  *(double *)out->data = *(double *)thunk_in(t, f, 0)->data * *(double *)thunk_in(t, f, 1)->data;
  return DAMO_OK;
}
static const op_def sin_def = {
    .name = "PlainSin", .n_in = 1, .infer_type = same_type, .grad = plain_sin_grad, .perform = plain_sin_run};
static const op_def mul_def = {
    .name = "PlainMul", .n_in = 2, .infer_type = same_type, .grad = plain_mul_grad, .perform = plain_mul_run};

static damo_var *apply2(build *b, const op_def *def, damo_var *x, damo_var *y) {
  return build_op(b, op_new(ctx, def, NULL), (damo_var *[]){x, y}, def->n_in);
}

static damo_var *rop1(damo_var *f, damo_var *x, damo_var *eval) {
  damo_var *r = NULL;
  if (!CHECK_EQ_I(grad_forward(ctx, &f, 1, &x, &eval, 1, NULL, &r), DAMO_OK))
    fprintf(stderr, "    %s\n", damo_error_message(ctx));
  return r;
}

static void test_forward(build *b, damo_var *x) {
  damo_var *e = build_take(b, typed(DAMO_FLOAT64, 0, "e"));
  damo_var *own = build_fn2(b, "mul", build_fn1(b, "sin", x), build_fn1(b, "exp", x));
  damo_var *plain = apply2(b, &mul_def, apply2(b, &sin_def, x, NULL), build_fn1(b, "exp", x));
  damo_var *r1 = rop1(own, x, e), *r2 = rop1(plain, x, e);
  double expect = (cos(0.6) + sin(0.6)) * exp(0.6) * 3;
  CHECK_NEAR(value_at(r1, x, 0.6, e, 3), expect, 1e-12);
  CHECK_NEAR(value_at(r2, x, 0.6, e, 3), expect, 1e-12);
  damo_release(r1);
  damo_release(r2);
  damo_var *u = build_take(b, typed(DAMO_FLOAT64, 0, "u"));
  damo_var *v = build_take(b, typed(DAMO_FLOAT64, 1, "v")), *r = NULL, *no_path = build_fn1(b, "exp", u);
  CHECK_EQ_I(grad_forward(ctx, &no_path, 1, &x, &e, 1, NULL, &r), DAMO_EDISCONNECTED_INPUT);
  CHECK(r == NULL);
  grad_options o = {.disconnected_inputs = DISCONNECTED_IGNORE, .return_disconnected = RETURN_NONE};
  damo_var *two[2] = {NULL, NULL};
  CHECK_EQ_I(grad_forward(ctx, (damo_var *[]){no_path, own}, 2, &x, &e, 1, &o, two), DAMO_OK);
  CHECK(two[0] == NULL && two[1] != NULL);
  damo_release(two[1]);
  CHECK_EQ_I(grad_forward(ctx, (damo_var *[]){own, no_path}, 2, &x, &e, 1, NULL, two), DAMO_EDISCONNECTED_INPUT);
  CHECK(two[0] == NULL && two[1] == NULL);
  CHECK_EQ_I(grad_forward(ctx, &own, 1, &x, &v, 1, NULL, &r), DAMO_ETYPE);
  damo_var *k = build_op(b, op_new(ctx, &bare_def, NULL), &x, 1);
  CHECK_EQ_I(grad_forward(ctx, &k, 1, &x, &e, 1, NULL, &r), DAMO_ENULL_GRADIENT);
  CHECK(r == NULL);
}

/* Outputs that are connected but do not vary have zeros; each of two outputs has its own connections. */
static void test_forward_zero(build *b, damo_var *x) {
  damo_var *e = build_take(b, typed(DAMO_FLOAT64, 0, "e")), *y = build_take(b, typed(DAMO_FLOAT64, 0, "y2"));
  damo_var *still = build_fn1(b, "exp", build_fn1(b, "zero_grad", x));
  damo_var *r = rop1(still, x, e);
  CHECK_NEAR(value_at(r, x, 0.5, e, 3), 0, 0);
  damo_release(r);
  r = rop1(build_fn2(b, "mul", still, x), x, e);
  CHECK_NEAR(value_at(r, x, 0.5, e, 3), exp(0.5) * 3, 1e-13);
  damo_release(r);
  damo_apply *pair = build_apply(b, op_new(ctx, &pair_def, NULL), (damo_var *[]){still, y}, 2);
  r = rop1(pair->out[0], x, e);
  CHECK_NEAR(value_at(r, x, 0.5, e, 3), 0, 0);
  damo_release(r);
  r = NULL;
  CHECK_EQ_I(grad_forward(ctx, &pair->out[1], 1, &x, &e, 1, NULL, &r), DAMO_EDISCONNECTED_INPUT);
  pair = build_apply(b, op_new(ctx, &pair_def, NULL), (damo_var *[]){y, x}, 2);
  r = rop1(pair->out[1], x, e);
  CHECK_NEAR(value_at(r, x, 0.5, e, 3), 3, 0);
  damo_release(r);
  r = NULL;
  CHECK_EQ_I(grad_forward(ctx, &pair->out[0], 1, &x, &e, 1, NULL, &r), DAMO_EDISCONNECTED_INPUT);
}

/* For x ↦ tanh(W x), Rop along v is the transpose of Lop: vᵀ(Jᵀu) = uᵀ(J v). */
static void test_forward_is_transposed(build *b) {
  damo_var *w = build_take(b, typed(DAMO_FLOAT64, 2, "W")), *x = build_take(b, typed(DAMO_FLOAT64, 1, "x"));
  damo_var *v = build_take(b, typed(DAMO_FLOAT64, 1, "v")), *u = build_take(b, typed(DAMO_FLOAT64, 1, "u"));
  damo_var *f = build_fn1(b, "softmax", build_fn2(b, "dot", w, build_fn1(b, "tanh", x)));
  damo_var *r = rop1(f, x, v), *l = grad1(NULL, x, &(grad_options){.known = &u, .known_of = &f, .n_known = 1});
  damo_var *left = build_fn1(b, "sum", build_fn2(b, "mul", u, r)),
           *right = build_fn1(b, "sum", build_fn2(b, "mul", v, l));
  in_spec in[4] = {{.var = w}, {.var = x}, {.var = v}, {.var = u}};
  damo_function *fn = compile_function(ctx, in, 4, (out_spec[]){{.var = left}, {.var = right}}, 2, NULL);
  double data[12];
  for (int i = 0; i < 12; i++) data[i] = sin(3.1 * i + 1);
  damo_array *args[4] = {damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){4, 3}, data),
                         damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}, data + 2),
                         damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}, data + 5),
                         damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){4}, data + 7)};
  damo_array *out[2] = {NULL, NULL};
  if (CHECK(fn != NULL) && CHECK_EQ_I(damo_function_call(fn, args, 4, out), DAMO_OK)) {
    double p = 0, q = 1;
    damo_array_item(out[0], &p);
    damo_array_item(out[1], &q);
    CHECK_NEAR(p, q, 1e-13);
    CHECK(fabs(p) > 1e-3);
  }
  damo_release(out[0]);
  damo_release(out[1]);
  for (int i = 0; i < 4; i++) damo_release(args[i]);
  damo_release(fn);
  damo_release(r);
  damo_release(l);
}

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  build b;
  build_init(&b, ctx);
  damo_var *x = build_take(&b, typed(DAMO_FLOAT64, 0, "x"));
  test_chain_and_accumulation(&b, x);
  test_known(&b, x);
  test_constant(&b, x);
  test_disconnected(&b, x);
  test_null(&b, x);
  test_null_of_two_outputs(&b, x);
  test_constant_of_two_outputs(&b, x);
  test_dtypes(&b);
  test_forward(&b, x);
  test_forward_zero(&b, x);
  test_forward_is_transposed(&b);
  CHECK_EQ_I(build_end(&b), DAMO_OK);
  ctx_clear_error(ctx);
  char text[200];
  if (!CHECK_EQ_I(ctx->n_objects, 0)) fprintf(stderr, "    left: %s\n", ctx_census(ctx, text, sizeof text));
  leak_end(ctx);
  TEST_MAIN_END;
}
