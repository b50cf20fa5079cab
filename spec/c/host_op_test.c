/* host_op_test: Op classes that a host registers: applied, differentiated, compiled, refused, freed. Only damo.h is
 * used, as in a host's program. */
#include <math.h>
#include <stdlib.h>

#include "damo.h"
#include "test.h"

static int64_t blocks, allocations;
static int64_t fail_in = -1; /* allocations until one fails; -1: none does */

static void *counted(void *user, void *ptr, size_t osize, size_t nsize) {
  (void)user;
  (void)osize;
  if (nsize == 0) {
    if (ptr != NULL) blocks--;
    free(ptr);
    return NULL;
  }
  if (fail_in == 0) return NULL;
  if (fail_in > 0) fail_in--;
  if (ptr == NULL) blocks++;
  allocations++;
  return realloc(ptr, nsize);
}

/* ---- y = factor · x, with its runs counted in the thunk's state -------------------------------------------------- */

static int runs_seen, states_cleared, users_dropped;

static damo_status scale_perform(damo_thunk *t) {
  const damo_array *x = damo_thunk_input(t, 0);
  double factor = 1;
  damo_op_get_number(damo_thunk_get_op(t), "factor", &factor);
  if (factor < 0) return damo_fail(damo_thunk_ctx(t), DAMO_ENUMERIC, "Scale: the factor is negative");
  damo_array *out = damo_thunk_output(t, 0, DAMO_FLOAT64, damo_array_ndim(x), damo_array_shape(x));
  if (out == NULL) return DAMO_EMEMORY;
  const double *from = damo_array_data(x);
  double *to = damo_array_data(out);
  for (int64_t i = 0; i < damo_array_size(x); i++) to[i] = factor * from[i];
  int *n = damo_thunk_state(t);
  runs_seen = ++*n;
  return DAMO_OK;
}

static void scale_clear(void *state) { states_cleared += *(int *)state > 0; }

static damo_status scale_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_ctx *ctx = damo_obj_ctx(op);
  double factor = 1;
  (void)node;
  damo_op_get_number(op, "factor", &factor);
  if (factor == 13) {
    gin[0] = damo_grad_undefined(ctx, "thirteen is unlucky");
    return DAMO_OK;
  }
  if (factor == 14) return damo_fail(ctx, DAMO_EVALUE, "Scale: no gradient today");
  damo_var *both[2] = {gout[0], damo_number(ctx, factor)};
  if (both[1] == NULL) return DAMO_EMEMORY;
  gin[0] = damo_call(ctx, "mul", both, 2);
  damo_release(both[1]);
  return gin[0] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static damo_status scale_shape(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out) {
  (void)op;
  int ndim = damo_type_ndim(damo_var_get_type(damo_apply_get_input(node, 0)));
  for (int i = 0; i < ndim; i++) out[0][i] = damo_retain(in[0][i]);
  return DAMO_OK;
}

static void drop_user(void *user) { users_dropped += *(int *)user; }

static int mark = 1;

static damo_op_class scale_class(void) {
  return (damo_op_class){.name = "Scale",
                         .props = "factor label",
                         .n_in = 1,
                         .perform = scale_perform,
                         .state_size = sizeof(int),
                         .state_clear = scale_clear,
                         .grad = scale_grad,
                         .infer_shape = scale_shape,
                         .user = &mark,
                         .destroy = drop_user};
}

static damo_op *scale(damo_ctx *ctx, double factor) {
  damo_prop p = {.name = "factor", .kind = DAMO_PROP_NUMBER, .number = factor};
  return damo_op_make(ctx, "Scale", &p, 1);
}

/* The first output of op(x), owned. */
static damo_var *apply1(damo_ctx *ctx, damo_op *op, damo_var *x) {
  damo_apply *node = damo_op_apply(ctx, op, &x, 1);
  damo_var *v = node != NULL ? damo_retain(damo_apply_get_output(node, 0)) : NULL;
  damo_release(node);
  return v;
}

static damo_var *vector(damo_ctx *ctx, const char *name) {
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_var *v = damo_var_new(ctx, t, name);
  damo_release(t);
  return v;
}

static damo_array *vector_of(damo_ctx *ctx, double a, double b) {
  int64_t two = 2;
  double data[2] = {a, b};
  return damo_array_from(ctx, DAMO_FLOAT64, 1, &two, data);
}

/* Entry i of f(value), for one input and output. */
static double call_at(damo_ctx *ctx, damo_var *x, damo_var *y, damo_array *value, int i) {
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  damo_array *out = NULL;
  double r = NAN;
  if (CHECK(f != NULL) && CHECK_EQ_I(damo_function_call(f, &value, 1, &out), DAMO_OK)) {
    r = ((double *)damo_array_data(out))[i];
  }
  damo_release(out);
  damo_release(f);
  return r;
}

static void test_use(void) {
  damo_ctx *ctx = damo_ctx_new(counted, NULL);
  damo_op_class c = scale_class();
  runs_seen = states_cleared = users_dropped = 0;
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_OK);
  damo_op *op = scale(ctx, 3), *same = scale(ctx, 3), *other = scale(ctx, 4);
  CHECK(op != NULL && op == same && op != other);
  CHECK(damo_op_user(op) == &mark);
  CHECK_EQ_S(damo_op_name(op), "Scale");
  CHECK(damo_op_get_string(op, "label") == NULL);
  damo_var *x = vector(ctx, "x"), *y = apply1(ctx, op, x), *z = apply1(ctx, same, x);
  damo_var *both[2] = {y, z}, *sum = damo_call(ctx, "add", both, 2), *cost = damo_call(ctx, "sum", &sum, 1), *g = NULL;
  CHECK(y != NULL && z != NULL && cost != NULL);
  damo_array *v = vector_of(ctx, 1, 5);
  CHECK_NEAR(call_at(ctx, x, y, v, 1), 15, 0);
  CHECK_EQ_I(runs_seen, 1);
  CHECK_EQ_I(states_cleared, 1);
  CHECK_NEAR(call_at(ctx, x, sum, v, 1), 30, 0); /* equal nodes are merged */
  CHECK_EQ_I(runs_seen, 1);
  CHECK_EQ_I(damo_grad(ctx, cost, &x, 1, &g), DAMO_OK);
  CHECK_NEAR(call_at(ctx, x, g, v, 0), 6, 0);
  char *text = damo_debugprint(ctx, y);
  CHECK(text != NULL && strstr(text, "Scale{factor=3") != NULL);
  damo_text_free(ctx, text);
  void *all[] = {op, same, other, x, y, z, sum, cost, g, v};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  CHECK_EQ_I(users_dropped, 0);
  damo_ctx_release(ctx);
  CHECK_EQ_I(users_dropped, 1);
  CHECK_EQ_I(blocks, 0);
}

static damo_status no_perform(damo_thunk *t) { return damo_fail(damo_thunk_ctx(t), DAMO_ESTATE, "never"); }

static damo_status silent_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)in, (void)n_in, (void)out;
  return DAMO_EVALUE;
}

static damo_status empty_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)in, (void)n_in, (void)out;
  return DAMO_OK;
}

static void test_errors(void) {
  damo_ctx *ctx = damo_ctx_new(counted, NULL);
  damo_op_class c = scale_class();
  users_dropped = 0;
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_OK);
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_EVALUE); /* the name is taken */
  CHECK_EQ_I(users_dropped, 1);
  damo_op_class bad = {.name = "not a name", .perform = no_perform};
  CHECK_EQ_I(damo_op_register(ctx, &bad), DAMO_EVALUE);
  bad = (damo_op_class){.name = "NoPerform"};
  CHECK_EQ_I(damo_op_register(ctx, &bad), DAMO_EVALUE);
  bad = (damo_op_class){.name = "Silent", .n_in = 1, .perform = no_perform, .infer_type = silent_type};
  CHECK_EQ_I(damo_op_register(ctx, &bad), DAMO_OK);
  bad = (damo_op_class){.name = "Empty", .n_in = 1, .perform = no_perform, .infer_type = empty_type};
  CHECK_EQ_I(damo_op_register(ctx, &bad), DAMO_OK);
  CHECK(damo_op_make(ctx, "Nobody", NULL, 0) == NULL);
  damo_prop p = {.name = "fcator", .kind = DAMO_PROP_NUMBER, .number = 1};
  CHECK(damo_op_make(ctx, "Scale", &p, 1) == NULL);
  CHECK(strstr(damo_error_message(ctx), "fcator") != NULL);
  damo_var *x = vector(ctx, "x");
  damo_op *silent = damo_op_make(ctx, "Silent", NULL, 0), *empty = damo_op_make(ctx, "Empty", NULL, 0);
  CHECK(damo_op_apply(ctx, silent, &x, 1) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EVALUE);
  CHECK(damo_op_apply(ctx, empty, &x, 1) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ETYPE);
  CHECK(damo_op_apply(ctx, empty, &x, 0) == NULL);
  damo_release(silent);
  damo_release(empty);
  static const struct {
    double factor;
    damo_status status;
    const char *message;
  } failing[] = {{13, DAMO_ENULL_GRADIENT, "thirteen is unlucky"}, {14, DAMO_EVALUE, "no gradient today"}};
  for (size_t i = 0; i < 2; i++) {
    damo_op *op = scale(ctx, failing[i].factor);
    damo_var *y = apply1(ctx, op, x), *cost = damo_call(ctx, "sum", &y, 1), *g = NULL;
    CHECK_EQ_I(damo_grad(ctx, cost, &x, 1, &g), failing[i].status);
    CHECK(strstr(damo_error_message(ctx), failing[i].message) != NULL);
    damo_release(op);
    damo_release(y);
    damo_release(cost);
  }
  damo_op *op = scale(ctx, -1);
  damo_var *y = apply1(ctx, op, x);
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  damo_array *v = vector_of(ctx, 1, 2), *out = NULL;
  CHECK_EQ_I(damo_function_call(f, &v, 1, &out), DAMO_ENUMERIC);
  CHECK_EQ_S(damo_error_op(ctx), "Scale");
  void *all[] = {op, y, f, v, x};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
  CHECK_EQ_I(blocks, 0);
}

/* ---- Several outputs, one in place ------------------------------------------------------------------------------- */

static damo_status swap_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)n_in;
  out[0] = damo_retain(damo_var_get_type(in[1]));
  out[1] = damo_retain(damo_var_get_type(in[0]));
  return DAMO_OK;
}

/* Output 0: 2·in 1, newly allocated; output 1: in 0 + 1, in place. */
static damo_status swap_perform(damo_thunk *t) {
  const damo_array *b = damo_thunk_input(t, 1);
  damo_array *p = damo_thunk_output(t, 0, DAMO_FLOAT64, 1, damo_array_shape(b));
  damo_array *q = damo_thunk_output_inplace(t, 1, 0);
  if (p == NULL || q == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < damo_array_size(p); i++) {
    ((double *)damo_array_data(p))[i] = 2 * ((const double *)damo_array_data(b))[i];
  }
  for (int64_t i = 0; i < damo_array_size(q); i++) ((double *)damo_array_data(q))[i] += 1;
  return DAMO_OK;
}

static void test_inplace(void) {
  static const damo_alias destroys[] = {{1, 0}, {-1, -1}};
  damo_ctx *ctx = damo_ctx_new(counted, NULL);
  damo_op_class c = {
      .name = "Swap", .n_in = 2, .n_out = 2, .infer_type = swap_type, .perform = swap_perform, .destroy_map = destroys};
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_OK);
  damo_op *op = damo_op_make(ctx, "Swap", NULL, 0);
  damo_var *in[2] = {vector(ctx, "a"), vector(ctx, "b")};
  damo_apply *node = damo_op_apply(ctx, op, in, 2);
  CHECK_EQ_I(damo_apply_n_inputs(node), 2);
  CHECK_EQ_I(damo_apply_n_outputs(node), 2);
  CHECK(damo_apply_get_output(node, 2) == NULL && damo_apply_get_op(node) == op);
  damo_var *out[2] = {damo_apply_get_output(node, 0), damo_apply_get_output(node, 1)};
  damo_function *f = damo_compile(ctx, in, 2, out, 2, NULL, NULL, 0, NULL);
  damo_array *args[2] = {vector_of(ctx, 1, 2), vector_of(ctx, 10, 20)}, *results[2] = {NULL, NULL};
  for (int round = 0; round < 2; round++) {
    if (!CHECK_EQ_I(damo_function_call(f, args, 2, results), DAMO_OK)) break;
    CHECK_NEAR(((double *)damo_array_data(results[0]))[1], 40, 0);
    CHECK_NEAR(((double *)damo_array_data(results[1]))[0], 2, 0);
    CHECK_NEAR(((double *)damo_array_data(args[0]))[0], 1, 0); /* the caller's array was copied first */
    damo_release(results[0]);
    damo_release(results[1]);
  }
  void *all[] = {op, in[0], in[1], node, f, args[0], args[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
  CHECK_EQ_I(blocks, 0);
}

/* ---- OpFromGraph from C ------------------------------------------------------------------------------------------ */

static void test_op_from_graph(bool inlined) {
  damo_ctx *ctx = damo_ctx_new(counted, NULL);
  damo_array *start = vector_of(ctx, 2, 3);
  damo_var *x = vector(ctx, "x"), *w = damo_shared(ctx, start, "w"), *pair[2] = {x, w};
  damo_var *prod = damo_call(ctx, "mul", pair, 2), *sq = damo_call(ctx, "sqr", &prod, 1);
  damo_op *op = damo_op_from_graph(ctx, &x, 1, &sq, 1, "Model", inlined);
  if (!CHECK(op != NULL)) return;
  CHECK_EQ_S(damo_op_name(op), "Model");
  damo_var *a = vector(ctx, "a"), *y = apply1(ctx, op, a), *cost = damo_call(ctx, "sum", &y, 1);
  damo_var *wrt[2] = {a, w}, *g[2] = {NULL, NULL};
  damo_array *v = vector_of(ctx, 1, 5);
  CHECK_NEAR(call_at(ctx, a, y, v, 1), 225, 1e-12);
  CHECK_EQ_I(damo_grad(ctx, cost, wrt, 2, g), DAMO_OK);
  CHECK_NEAR(call_at(ctx, a, g[0], v, 1), 2 * 5 * 9, 1e-12);
  CHECK_NEAR(call_at(ctx, a, g[1], v, 1), 2 * 3 * 25, 1e-12);
  CHECK_EQ_I(damo_shared_set(w, v), DAMO_OK);
  CHECK_NEAR(call_at(ctx, a, y, v, 1), 625, 1e-12);
  CHECK(damo_op_from_graph(ctx, &x, 1, &a, 1, NULL, false) == NULL); /* a is not one of the inputs */
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EMISSING_INPUT);
  void *all[] = {start, x, w, prod, sq, op, a, y, cost, g[0], g[1], v};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  damo_ctx_release(ctx);
  CHECK_EQ_I(blocks, 0);
}

/* A warm call of an Op that holds a graph allocates nothing: it reuses its results' memory once the caller has released
 * them. */
static void test_warm(void) {
  damo_ctx *ctx = damo_ctx_new(counted, NULL);
  damo_var *x = vector(ctx, "x"), *a = vector(ctx, "a"), *e = damo_call(ctx, "exp", &x, 1);
  damo_op *op = damo_op_from_graph(ctx, &x, 1, &e, 1, NULL, false);
  damo_var *y = apply1(ctx, op, a);
  damo_function *f = damo_compile(ctx, &a, 1, &y, 1, NULL, NULL, 0, NULL);
  damo_array *v = vector_of(ctx, 1, 2), *out = NULL, *kept = NULL;
  CHECK_EQ_I(damo_function_call(f, &v, 1, &kept), DAMO_OK);
  for (int i = 0; i < 3 && CHECK_EQ_I(damo_function_call(f, &v, 1, &out), DAMO_OK); i++) damo_release(out);
  int64_t before = allocations;
  for (int i = 0; i < 10 && CHECK_EQ_I(damo_function_call(f, &v, 1, &out), DAMO_OK); i++) damo_release(out);
  CHECK_EQ_I(allocations, before);
  CHECK_NEAR(((double *)damo_array_data(kept))[1], exp(2), 1e-12); /* later calls do not write to it */
  void *all[] = {x, a, e, op, y, f, v, kept};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
  CHECK_EQ_I(blocks, 0);
}

/* ---- Out of memory ----------------------------------------------------------------------------------------------- */

/* An OpFromGraph over a host's Op, its derivatives, compiled and called; false if memory ran out. */
static bool whole_way(damo_ctx *ctx) {
  damo_op_class c = scale_class();
  damo_var *x = vector(ctx, "x"), *a = vector(ctx, "a"), *g = NULL;
  damo_array *v = vector_of(ctx, 1, 2), *out = NULL;
  bool ok = damo_op_register(ctx, &c) == DAMO_OK && x != NULL && a != NULL && v != NULL;
  damo_op *op = ok ? scale(ctx, 3) : NULL;
  damo_var *inner = op != NULL ? apply1(ctx, op, x) : NULL;
  damo_var *sq = inner != NULL ? damo_call(ctx, "sqr", &inner, 1) : NULL;
  damo_op *model = sq != NULL ? damo_op_from_graph(ctx, &x, 1, &sq, 1, "Model", false) : NULL;
  damo_var *y = model != NULL ? apply1(ctx, model, a) : NULL;
  damo_var *cost = y != NULL ? damo_call(ctx, "sum", &y, 1) : NULL;
  ok = cost != NULL && damo_grad(ctx, cost, &a, 1, &g) == DAMO_OK;
  damo_function *f = ok ? damo_compile(ctx, &a, 1, &g, 1, NULL, NULL, 0, NULL) : NULL;
  ok = f != NULL && damo_function_call(f, &v, 1, &out) == DAMO_OK;
  if (ok) CHECK_NEAR(((double *)damo_array_data(out))[1], 2 * 9 * 2, 1e-12);
  if (!ok && !CHECK_EQ_I(damo_error_status(ctx), DAMO_EMEMORY)) fprintf(stderr, "    %s\n", damo_error_message(ctx));
  void *all[] = {x, a, v, op, inner, sq, model, y, cost, g, f, out};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  return ok;
}

static void test_memory(void) {
  int64_t n = 0;
  for (bool done = false; !done && n < 5000; n++) {
    damo_ctx *ctx = damo_ctx_new(counted, NULL);
    fail_in = n;
    done = whole_way(ctx);
    fail_in = -1;
    if (damo_error_get_node(ctx) == NULL) CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0); /* an error holds its node */
    damo_ctx_release(ctx);
    if (!CHECK_EQ_I(blocks, 0)) break;
  }
  CHECK(n > 100 && n < 5000);
}

/* ---- A chain of nodes -------------------------------------------------------------------------------------------- */

static damo_status next_perform(damo_thunk *t) {
  damo_array *out = damo_thunk_output(t, 0, DAMO_FLOAT64, 0, NULL);
  if (out == NULL) return DAMO_EMEMORY;
  *(double *)damo_array_data(out) = *(const double *)damo_array_data(damo_thunk_input(t, 0)) + 1;
  return DAMO_OK;
}

/* (What a node costs is a row of make bench.) */
static void test_chain(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_op_class c = {.name = "Next", .n_in = 1, .perform = next_perform};
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_OK);
  damo_op *op = damo_op_make(ctx, "Next", NULL, 0);
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, 0, NULL);
  damo_var *x = damo_var_new(ctx, t, "x"), *v = damo_retain(x);
  for (int i = 0; i < 2000; i++) {
    damo_var *next = apply1(ctx, op, v);
    damo_release(v);
    v = next;
  }
  damo_function *f = damo_compile(ctx, &x, 1, &v, 1, NULL, NULL, 0, NULL);
  damo_array *start = damo_array_scalar(ctx, DAMO_FLOAT64, 0.5);
  for (int i = 0; i < 3; i++) {
    damo_array *out = NULL;
    if (CHECK_EQ_I(damo_function_call(f, &start, 1, &out), DAMO_OK)) {
      CHECK_NEAR(*(const double *)damo_array_data(out), 2000.5, 0);
    }
    damo_release(out);
  }
  damo_release(f);
  damo_release(v);
  damo_release(x);
  damo_release(t);
  damo_release(start);
  damo_release(op);
  damo_ctx_release(ctx);
}

/* ---- Properties of every kind, and scratch ----------------------------------------------------------------------- */

/* y = x rotated by `by` positions, backwards if `back`, through scratch memory. */
static damo_status rotate_perform(damo_thunk *t) {
  const damo_array *x = damo_thunk_input(t, 0);
  const int64_t n = damo_array_size(x);
  int64_t by = 0;
  bool back = false;
  CHECK(damo_op_get_int(damo_thunk_get_op(t), "by", &by) && damo_op_get_bool(damo_thunk_get_op(t), "back", &back));
  CHECK(!damo_op_get_bool(damo_thunk_get_op(t), "by", &back) && !damo_op_get_int(damo_thunk_get_op(t), "back", &by));
  double *scratch = damo_thunk_scratch(t, (size_t)n * sizeof *scratch);
  damo_array *out = damo_thunk_output(t, 0, DAMO_FLOAT64, 1, &n);
  if (scratch == NULL || out == NULL) return DAMO_EMEMORY;
  CHECK((uintptr_t)scratch % 64 == 0);
  const double *from = damo_array_data(x);
  for (int64_t i = 0; i < n; i++) scratch[(i + (back ? n - by : by)) % n] = from[i];
  memcpy(damo_array_data(out), scratch, (size_t)n * sizeof *scratch);
  return DAMO_OK;
}

static void test_properties(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  const damo_op_class rotate = {.name = "Rotate", .props = "by back", .n_in = 1, .perform = rotate_perform};
  CHECK_EQ_I(damo_op_register(ctx, &rotate), DAMO_OK);
  const int64_t four = 4;
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 1, &four, (const double[]){1, 2, 3, 4}), *out = NULL;
  for (int back = 0; back < 2; back++) {
    damo_op *op = damo_op_make(ctx, "Rotate", (damo_prop[]){damo_prop_bool("back", back), damo_prop_int("by", 1)}, 2);
    damo_type *type = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
    damo_var *x = damo_var_new(ctx, type, "x");
    damo_apply *node = damo_op_apply(ctx, op, &x, 1);
    damo_var *y = damo_apply_get_output(node, 0);
    damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
    if (CHECK(f != NULL) && CHECK_EQ_I(damo_function_call(f, &a, 1, &out), DAMO_OK)) {
      CHECK_NEAR(((const double *)damo_array_data(out))[0], back ? 2 : 4, 0);
      damo_release(out);
    }
    void *all[] = {op, type, x, node, f};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  }
  damo_release(a);
  damo_ctx_release(ctx);
}

/* ---- A sum over processes, of which the other one gives 1 -------------------------------------------------------- */

static damo_status total_perform(damo_thunk *t) {
  return damo_fail(damo_thunk_ctx(t), DAMO_ESTATE, "the gradient does not need the value");
}

static damo_status total_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_ctx *ctx = damo_obj_ctx(op);
  damo_var *both[2] = {gout[0], damo_number(ctx, 1)};
  (void)node;
  gin[0] = both[1] != NULL ? damo_call(ctx, "add", both, 2) : NULL;
  damo_release(both[1]);
  return gin[0] != NULL ? DAMO_OK : damo_error_status(ctx);
}

/* What an impure Op gives for a derivative of 0 counts, so it is computed where the branch is not taken. */
static void test_branches(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  const damo_op_class c = {.name = "Total",
                           .n_in = 1,
                           .perform = total_perform,
                           .grad = total_grad,
                           .infer_shape = scale_shape,
                           .impure = true};
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_OK);
  damo_op *op = damo_op_make(ctx, "Total", NULL, 0);
  damo_var *x = vector(ctx, "x"), *y = apply1(ctx, op, x), *sums[2], *zero = damo_number(ctx, 0);
  damo_var *cond[2] = {NULL, zero}, *g = NULL;
  CHECK(op != NULL && y != NULL && zero != NULL);
  sums[0] = damo_call(ctx, "sum", &y, 1);
  sums[1] = damo_call(ctx, "sum", &x, 1);
  cond[0] = sums[1];
  damo_var *negative = damo_call(ctx, "lt", cond, 2);
  damo_var *of[3] = {negative, sums[0], sums[1]}, *cost = damo_call(ctx, "ifelse", of, 3);
  damo_array *v = vector_of(ctx, 1, 5);
  CHECK(cost != NULL);
  CHECK_EQ_I(damo_grad(ctx, cost, &x, 1, &g), DAMO_OK);
  CHECK_NEAR(call_at(ctx, x, g, v, 0), 2, 0); /* 1 by the branch that is taken, 0 + 1 by the other */
  void *all[] = {op, x, y, zero, sums[0], sums[1], negative, cost, g, v};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
}

int main(void) {
  test_use();
  test_branches();
  test_errors();
  test_inplace();
  test_op_from_graph(false);
  test_op_from_graph(true);
  test_warm();
  test_memory();
  test_chain();
  test_properties();
  TEST_MAIN_END;
}
