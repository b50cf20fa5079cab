/* depth_test: builds, differentiates, prints, compares, compiles, calls and frees a very long chain of nodes on a
 * thread with a small stack: no graph algorithm recurses, and none is quadratic in the length. Prints µs a node. */
#include <pthread.h>
#include <time.h>

#include "api/api.h"
#include "test.h"
#include "grad/grad.h"

#ifdef DAMO_DEBUG
#define NODES 100000
#else
#define NODES 1000000
#endif
#define STACK_BYTES (256 * 1024)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double lap_start;
static void lap(const char *what, int64_t nodes) {
  double t = now();
  printf("depth_test: %-34s %6.2f us a node, %.2f s\n", what, (t - lap_start) / (double)nodes * 1e6, t - lap_start);
  lap_start = now();
}

static damo_var *replace(damo_ctx *ctx, damo_var *take, const char *f, damo_var *other) {
  damo_var *v = damo_call(ctx, f, (damo_var *[]){take, other}, other != NULL ? 2 : 1);
  damo_release(take);
  return v;
}

/* NODES nodes: products and sums, every tenth a sine. */
static damo_var *chain(damo_ctx *ctx, damo_var *x) {
  damo_var *v = damo_retain(x), *k = damo_number(ctx, 1.0000001), *d = damo_number(ctx, 1e-7);
  for (int i = 0; i < NODES && v != NULL; i++) {
    v = i % 10 == 9 ? replace(ctx, v, "sin", NULL) : replace(ctx, v, i % 2 ? "add" : "mul", i % 2 ? d : k);
  }
  damo_release(k);
  damo_release(d);
  return v;
}

static double chain_value(double v) {
  for (int i = 0; i < NODES; i++) v = i % 10 == 9 ? sin(v) : i % 2 ? v + 1e-7 : v * 1.0000001;
  return v;
}

static void call_mode(damo_ctx *ctx, damo_var *x, damo_var *const *out, int n, const char *mode) {
  char what[64];
  damo_function *f = damo_compile(ctx, &x, 1, out, n, NULL, NULL, 0, mode);
  snprintf(what, sizeof what, "compile %s", mode);
  lap(what, NODES);
  if (!CHECK(f != NULL)) {
    fprintf(stderr, "    %s\n", damo_error_message(ctx));
    return;
  }
  damo_array *a = damo_array_scalar(ctx, DAMO_FLOAT64, 0.7), *r[2] = {NULL, NULL};
  double v = 0, g = 0;
  for (int round = 0; round < 2; round++) {
    if (!CHECK_EQ_I(damo_function_call(f, &a, 1, r), DAMO_OK)) break;
    damo_array_item(r[0], &v);
    damo_array_item(r[1], &g);
    damo_release(r[0]);
    damo_release(r[1]);
  }
  CHECK_NEAR(v, chain_value(0.7), 1e-6);
  CHECK(g > 0 && g < 1);
  snprintf(what, sizeof what, "two calls, %lld thunks", (long long)f->program->vm.n_thunks);
  lap(what, NODES);
  damo_release(a);
  damo_release(f);
  lap("free the function", NODES);
}

static void walk_text(damo_ctx *ctx, damo_var *y, damo_var *g) {
  char *text = damo_debugprint(ctx, g);
  CHECK(text != NULL && strlen(text) > (size_t)NODES * 10);
  damo_text_free(ctx, text);
  lap("debugprint", NODES);
  strbuf line;
  strbuf_init(&line, ctx);
  CHECK_EQ_I(graph_pprint(ctx, y, &line), DAMO_OK);
  CHECK(line.n > 0 && line.n < 10000);
  strbuf_clear(&line);
  lap("pprint", NODES);
  CHECK_EQ_I(graph_dot(ctx, &g, 1, &line), DAMO_OK);
  CHECK(line.n > (size_t)NODES * 10);
  strbuf_clear(&line);
  lap("dot", NODES);
}

static void compare(damo_ctx *ctx, damo_var *x, damo_var *y) {
  damo_type *t = type_tensor(ctx, DAMO_FLOAT64, 0, NULL);
  damo_var *z = var_new(ctx, t, "z"), *copy = NULL;
  map memo;
  map_init(&memo, ctx);
  map_put(&memo, x, (uintptr_t)z);
  bool equal = false;
  CHECK_EQ_I(graph_clone(ctx, &y, 1, &memo, false, NULL, &copy), DAMO_OK);
  CHECK_EQ_I(graph_equal(ctx, &y, &copy, 1, &x, &z, 1, &equal), DAMO_OK);
  CHECK(equal);
  map_clear(&memo);
  damo_release(copy);
  damo_release(z);
  damo_release(t);
  lap("clone, compare, free", NODES);
}

static void forward(damo_ctx *ctx, damo_var *x, damo_var *y) {
  damo_var *e = var_new(ctx, x->type, "e"), *r = NULL;
  CHECK_EQ_I(grad_forward(ctx, &y, 1, &x, &e, 1, NULL, &r), DAMO_OK);
  CHECK(r != NULL);
  damo_release(e);
  damo_release(r);
  lap("Rop, free", NODES);
}

/* A Variable with very many users, and a sum of very many terms. */
static void wide(damo_ctx *ctx, damo_var *x) {
  enum { TERMS = NODES / 4 };
  damo_var *sum = damo_retain(x), *g = NULL, *c = damo_number(ctx, 2);
  for (int i = 0; i < TERMS; i++) {
    damo_var *term = damo_call(ctx, i % 2 ? "mul" : "sub", (damo_var *[]){x, c}, 2);
    sum = replace(ctx, sum, "add", term);
    damo_release(term);
  }
  CHECK_EQ_I(damo_grad(ctx, sum, &x, 1, &g), DAMO_OK);
  lap("build and grad of a wide sum", 2 * TERMS);
  damo_function *f = damo_compile(ctx, &x, 1, (damo_var *[]){sum, g}, 2, NULL, NULL, 0, NULL);
  lap("compile it", 2 * TERMS);
  damo_array *a = damo_array_scalar(ctx, DAMO_FLOAT64, 3), *r[2] = {NULL, NULL};
  double v = 0;
  if (CHECK(f != NULL) && CHECK_EQ_I(damo_function_call(f, &a, 1, r), DAMO_OK)) {
    damo_array_item(r[1], &v);
    CHECK_NEAR(v, 1 + 1.5 * TERMS, 1e-6);
    damo_release(r[0]);
    damo_release(r[1]);
  }
  void *const all[] = {sum, g, c, f, a};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  lap("call and free it", 2 * TERMS);
}

static void *run(void *unused) {
  (void)unused;
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, 0, NULL);
  damo_var *x = damo_var_new(ctx, t, "x"), *g = NULL;
  damo_release(t);
  lap_start = now();
  damo_var *y = chain(ctx, x);
  lap("build", NODES);
  if (CHECK(y != NULL) && CHECK_EQ_I(damo_grad(ctx, y, &x, 1, &g), DAMO_OK)) {
    lap("grad", NODES);
    walk_text(ctx, y, g);
    compare(ctx, x, y);
    forward(ctx, x, y);
    call_mode(ctx, x, (damo_var *[]){y, g}, 2, "FAST_RUN");
    call_mode(ctx, x, (damo_var *[]){y, g}, 2, "FAST_COMPILE");
  }
  damo_release(y);
  damo_release(g);
  lap("free the graph", NODES);
  wide(ctx, x);
  damo_release(x);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  printf("depth_test: peak %.0f MB\n", (double)damo_ctx_memory(ctx).peak / 1e6);
  damo_ctx_release(ctx);
  return NULL;
}

int main(void) {
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
  CHECK_EQ_I(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
  if (CHECK_EQ_I(pthread_create(&thread, &attr, run, NULL), 0)) pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
  TEST_MAIN_END;
}
