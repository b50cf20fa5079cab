/* token_test: programs by name: one program in many contexts, on threads at once (`make tsan` runs this under
 * ThreadSanitizer); what each Function has of its own; how long a name holds. */
#include <pthread.h>

#include "compile_case.h"
#include "op/op.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "by_name.h"

static damo_var *inner_op(build *b, damo_var *v) {
  damo_var *p = vec(b, "p"), *q = build_exp(b, build_neg(b, p));
  damo_op *op = damo_op_from_graph(ctx, &p, 1, &q, 1, "Decay", false);
  return op != NULL ? build_op(b, op, &v, 1) : NULL;
}

/* A shared Variable that is updated, draws, a graph as an Op, a branch and a product. */
static damo_function *make_model(build *b) {
  damo_var *w = shared(b, 0.25, "w"), *x = vec(b, "x"), *rng = build_take(b, damo_random_state(ctx, 7, "rng"));
  damo_var *h = build_tanh(b, build_add(b, build_mul(b, x, w), inner_op(b, x)));
  damo_prop size = {.name = "size", .kind = DAMO_PROP_INT, .i = N};
  damo_var *drawn[2] = {NULL, NULL};
  CHECK_EQ_I(damo_call_all(ctx, "normal", &rng, 1, &size, 1, drawn, 2), DAMO_OK);
  build_take(b, drawn[0]);
  h = build_add(b, h, build_mul(b, build_take(b, drawn[1]), build_num(b, 0.125)));
  damo_var *total = build_fn2(b, "dot", h, h);
  damo_var *in[3] = {build_fn2(b, "gt", total, build_num(b, 3)), build_sqr(b, h), build_abs(b, h)};
  damo_var *out = build_fn(b, "ifelse", in, 3, NULL);
  damo_var *next = build_sub(b, w, build_mul(b, build_num(b, 0.01), out));
  damo_var *of[2] = {w, rng}, *to[2] = {next, drawn[0]};
  return make(&x, 1, &out, 1, &(compile_options){.update_of = of, .update_to = to, .n_updates = 2, .name = "model"});
}

typedef struct token_job {
  char token[DAMO_TOKEN_SIZE];
  double from, sum;
  int steps;
  size_t bytes; /* that from_token took in the context */
  bool ok;
} token_job;

static double run_steps(damo_ctx *own, damo_function *f, double from, int steps, bool *ok) {
  double at[N], sum = 0;
  for (int i = 0; i < N; i++) at[i] = from + 0.1 * i;
  damo_array *a = damo_array_from(own, DAMO_FLOAT64, 1, (const int64_t[]){N}, at), *r = NULL;
  *ok = a != NULL;
  for (int k = 0; k < steps && *ok; k++) {
    *ok = damo_function_call(f, &a, 1, &r) == DAMO_OK;
    if (*ok) sum += entry(r, k % N);
    damo_release(r);
    r = NULL;
  }
  damo_release(a);
  return sum;
}

static void *run_token(void *arg) {
  token_job *j = arg;
  damo_ctx *own = damo_ctx_new(NULL, NULL);
  const size_t before = damo_ctx_memory(own).bytes;
  damo_function *f = damo_from_token(own, j->token);
  j->bytes = damo_ctx_memory(own).bytes - before;
  j->ok = f != NULL;
  if (f != NULL) j->sum = run_steps(own, f, j->from, j->steps, &j->ok);
  damo_release(f);
  j->ok = j->ok && damo_ctx_memory(own).objects == 0;
  damo_ctx_release(own);
  return NULL;
}

#define WORKERS 8

static void test_threads(build *b) {
  damo_function *f = make_model(b);
  if (!CHECK(f != NULL)) return;
  token_job want[WORKERS], got[WORKERS];
  char token[DAMO_TOKEN_SIZE];
  CHECK_EQ_I(damo_function_token(f, token), DAMO_OK);
  for (int k = 0; k < WORKERS; k++) {
    want[k] = (token_job){.from = 0.3 * k - 0.2, .steps = 100};
    memcpy(want[k].token, token, sizeof token);
    got[k] = want[k];
    run_token(&want[k]);
  }
  CHECK(want[0].ok && want[0].sum != want[1].sum);
  pthread_t thread[WORKERS];
  for (int k = 0; k < WORKERS; k++) CHECK_EQ_I(pthread_create(&thread[k], NULL, run_token, &got[k]), 0);
  for (int k = 0; k < 5; k++) { /* the first context works meanwhile */
    bool ok = false;
    run_steps(ctx, f, k, 10, &ok);
    CHECK(ok);
  }
  for (int k = 0; k < WORKERS; k++) {
    pthread_join(thread[k], NULL);
    CHECK(got[k].ok && got[k].sum == want[k].sum);
  }
  /* what a further context takes: the Function, its frame, its shared values; nothing of the program */
  damo_ctx *own = damo_ctx_new(NULL, NULL);
  const size_t before = damo_ctx_memory(own).bytes;
  damo_function *g = damo_from_token(own, token);
  CHECK(damo_ctx_memory(own).bytes - before <= sizeof(damo_function) + 3 * g->frame.block_bytes + 4096);
  damo_release(g);
  damo_ctx_release(own);
  damo_release(f);
}

/* Each Function has its own values, copied as they stood when the token was made. */
static void test_values(build *b) {
  bool ok = false;
  damo_function *f = make_model(b);
  char first[DAMO_TOKEN_SIZE], again[DAMO_TOKEN_SIZE], later[DAMO_TOKEN_SIZE];
  CHECK_EQ_I(damo_function_token(f, first), DAMO_OK);
  CHECK_EQ_I(damo_function_token(f, again), DAMO_OK);
  CHECK_EQ_S(first, again);
  CHECK_EQ_I((int)strlen(first), 32);
  run_steps(ctx, f, 0.5, 3, &ok);
  CHECK_EQ_I(damo_function_token(f, later), DAMO_OK);
  CHECK(ok && strcmp(first, later) != 0);
  damo_ctx *own = damo_ctx_new(NULL, NULL);
  damo_function *g = damo_from_token(own, first), *h = damo_from_token(own, later);
  damo_var *w = damo_function_shared_var(f, 0), *gw = damo_function_shared_var(g, 0),
           *hw = damo_function_shared_var(h, 0);
  CHECK(w != gw && gw != hw && damo_function_shared_var(g, 2) == NULL && gw->obj.ctx == own);
  CHECK(entry((damo_array *)gw->value, 0) == 0.25);
  CHECK(entry((damo_array *)hw->value, 0) == entry((damo_array *)w->value, 0));
  const double of_g = run_steps(own, g, 0.5, 3, &ok);
  CHECK(entry((damo_array *)gw->value, 0) == entry((damo_array *)w->value, 0) && of_g != 0);
  char of_copy[DAMO_TOKEN_SIZE];
  CHECK_EQ_I(damo_function_token(g, of_copy), DAMO_OK); /* a Function made by a token has the values of `later` now */
  CHECK_EQ_S(of_copy, later);
  RELEASE(w, gw, hw);
  RELEASE(f, g, h);
  damo_ctx_release(own);
}

/* A name holds while a Function of the program lives, or while it is pinned. */
static void test_life(build *b) {
  damo_function *f = make_model(b), *g;
  char token[DAMO_TOKEN_SIZE];
  damo_ctx *own = damo_ctx_new(NULL, NULL);
  CHECK_EQ_I(damo_function_token(f, token), DAMO_OK);
  g = damo_from_token(own, token);
  CHECK_EQ_I(damo_function_token(f, token), DAMO_OK);
  damo_release(f);
  damo_function *h = damo_from_token(own, token);
  CHECK(g != NULL && h != NULL);
  RELEASE(g, h);
  CHECK(damo_from_token(own, token) == NULL);
  CHECK_EQ_I(damo_error_status(own), DAMO_ESTATE);
  CHECK(damo_from_token(own, "none") == NULL && damo_error_status(own) == DAMO_ESTATE);
  f = make_model(b);
  CHECK_EQ_I(damo_function_token(f, token), DAMO_OK);
  CHECK_EQ_I(damo_token_unpin(own, token), DAMO_ESTATE);
  CHECK_EQ_I(damo_token_pin(own, token), DAMO_OK);
  damo_release(f);
  g = damo_from_token(own, token);
  CHECK(g != NULL);
  damo_release(g);
  CHECK_EQ_I(damo_token_unpin(own, token), DAMO_OK);
  CHECK(damo_from_token(own, token) == NULL);
  CHECK_EQ_I(damo_token_pin(own, token), DAMO_ESTATE);
  damo_ctx_release(own);
}

static damo_status home_run(const thunk *t, frame *f) { return add_run(t, f, 1); }
static const op_def home_def = {
    .name = "Homely", .n_in = 1, .infer_type = same_type, .perform = home_run, .one_context = true};

static void test_refused(build *b) {
  char token[DAMO_TOKEN_SIZE];
  damo_var *x = vec(b, "x"), *y = apply1(b, &home_def, x);
  damo_function *f = make(&x, 1, &y, 1, NULL);
  CHECK_EQ_I(damo_function_token(f, token), DAMO_ESTATE);
  CHECK(strstr(damo_error_message(ctx), "Homely") != NULL);
  CHECK_EQ_S(damo_error_op(ctx), "Homely");
  damo_release(f);
  f = make(&x, 1, &x, 1, &(compile_options){.mode = "NANGUARD"});
  CHECK_EQ_I(damo_function_token(f, token), DAMO_ESTATE);
  damo_release(f);
}

/* The context that compiled is gone, with its allocator; the program is of another. */
static void test_owner_goes(void) {
  char token[DAMO_TOKEN_SIZE];
  ctx = damo_ctx_new(leak_alloc, NULL);
  build b;
  build_init(&b, ctx);
  damo_function *f = make_model(&b);
  CHECK_EQ_I(damo_function_token(f, token), DAMO_OK);
  damo_ctx *own = damo_ctx_new(NULL, NULL);
  damo_function *g = damo_from_token(own, token);
  damo_release(f);
  build_end(&b);
  damo_ctx_release(ctx);
  CHECK_EQ_I(leak_bytes, 0);
  bool ok = false;
  run_steps(own, g, 1, 5, &ok);
  CHECK(ok);
  damo_release(g);
  damo_ctx_release(own);
}

static size_t process_bytes;
static void *process_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  (void)user;
  process_bytes += nsize - osize;
  if (nsize > 0) return realloc(ptr, nsize);
  free(ptr);
  return NULL;
}

static void test_allocator(build *b) {
  char token[DAMO_TOKEN_SIZE];
  CHECK_EQ_I(damo_token_set_allocator(process_alloc, NULL), DAMO_OK);
  CHECK_EQ_I(damo_token_set_allocator(process_alloc, NULL), DAMO_ESTATE);
  damo_function *f = make_model(b);
  CHECK_EQ_I(damo_function_token(f, token), DAMO_OK);
  CHECK(process_bytes > 0);
  damo_release(f);
  CHECK_EQ_I((int64_t)process_bytes, 0);
}

int main(void) {
  in_context(test_threads);
  in_context(test_values);
  in_context(test_life);
  in_context(test_refused);
  test_owner_goes();
  in_context(test_allocator);
  TEST_MAIN_END;
}
