/* frame_test: a program and its frames: what copies share and what each has of its own; copies in other contexts,
 * called on threads at once (`make tsan` runs this under ThreadSanitizer). */
#include <pthread.h>

#include "compile_case.h"
#include "op/op.h"
#include "sparse/sparse.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "by_name.h"

/* ---- Copies in one context --------------------------------------------------------------------------------------- */

static int n_prepared, n_made;

static damo_status count_prepared(damo_apply *node, const char *impl) {
  (void)node, (void)impl;
  n_prepared++;
  return DAMO_OK;
}
static damo_status count_made(const thunk *t, frame *f, const thunk_request *how) {
  n_made++;
  return thunk_make_default(t, f, how);
}
/* Adds the number of its runs in this frame to its input. */
static damo_status counted_run(const thunk *t, frame *f) {
  int64_t *runs = thunk_state(t, f);
  return add_run(t, f, (double)++*runs);
}
static const op_def counted_def = {.name = "Counted",
                                   .n_in = 1,
                                   .infer_type = same_type,
                                   .perform = counted_run,
                                   .prepare_node = count_prepared,
                                   .make_thunk = count_made,
                                   .state_size = sizeof(int64_t)};

static void test_copy(build *b) {
  damo_var *x = vec(b, "x"), *y = apply1(b, &counted_def, x);
  n_prepared = n_made = 0;
  damo_function *f = make(&x, 1, &y, 1, NULL), *g = function_copy(f);
  CHECK(f != NULL && g != NULL && f->program == g->program);
  CHECK_EQ_I(n_prepared, 1);
  CHECK_EQ_I(n_made, 2);
  damo_array *a = ramp(10);
  CHECK_NEAR(first_of(f, &a, 1), 11, 0);
  CHECK_NEAR(first_of(f, &a, 1), 12, 0);
  CHECK_NEAR(first_of(g, &a, 1), 11, 0); /* a separate state */
  CHECK_EQ_I(function_free(f), DAMO_OK);
  CHECK_NEAR(first_of(g, &a, 1), 12, 0); /* the program lives on */
  RELEASE(a, f, g);
}

/* Both copies read and update one shared Variable; an input's default value with an update is separate in each. */
static void test_copy_shares(build *b) {
  damo_var *s = shared(b, 1, "s"), *x = vec(b, "x"), *one = build_num(b, 1);
  damo_var *next = build_add(b, s, x), *moved = build_add(b, x, one);
  in_spec in = {.var = x, .update = moved};
  damo_array *a = ramp(0);
  in.value = &a->obj;
  out_spec out = {.var = s};
  compile_options o = {.update_of = &s, .update_to = &next, .n_updates = 1};
  damo_function *f = compile_function(ctx, &in, 1, &out, 1, &o), *g = f != NULL ? function_copy(f) : NULL;
  CHECK_NEAR(first_of(f, NULL, 0), 1, 0);
  CHECK(holds(s, 1, 2));
  CHECK_NEAR(first_of(g, NULL, 0), 1, 0);
  CHECK(holds(s, 1, 3)); /* s + 2 x: g's default had not been updated */
  CHECK_NEAR(first_of(f, NULL, 0), 1, 0);
  CHECK(holds(s, 2, 4));
  RELEASE(a, f, g);
}

/* ---- Other contexts ---------------------------------------------------------------------------------------------- */

/* A program with every kind of part: constants (one sparse, one with a view), indices, products, a branch, a graph as
 * an Op, draws, a shared Variable and its update. */
typedef struct model {
  damo_var *w;
  damo_function *f;
} model;

static damo_var *inner_op(build *b, damo_var *v) {
  damo_var *p = vec(b, "p"), *q = build_exp(b, build_neg(b, p));
  damo_op *op = damo_op_from_graph(ctx, &p, 1, &q, 1, "Decay", false);
  damo_var *out = op != NULL ? build_op(b, op, &v, 1) : NULL;
  return out;
}

static damo_var *sparse_constant(build *b) {
  const double rows[] = {1, 2, 3, 4, 5, 6, 1}, cols[] = {2, 3, 1, 6, 5, 4, 6}, at[] = {1, -2, 3, 0.5, 2, -1, 4};
  double dense[N * N] = {0};
  for (int k = 0; k < 7; k++) dense[(int)(rows[k] - 1) * N + (int)cols[k] - 1] = at[k];
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){N, N}, dense);
  damo_sparse *m = sparse_from_dense(a, DAMO_CSR, DAMO_INT32);
  damo_var *v = build_take(b, var_constant(ctx, NULL, &m->obj));
  RELEASE(a, m);
  return v;
}

static damo_var *vector_constant(build *b, double from) {
  damo_array *a = ramp(from);
  damo_var *v = build_take(b, var_constant(ctx, NULL, &a->obj));
  damo_release(a);
  return v;
}

static damo_var *matrix_constant(build *b, int64_t rows, int64_t cols) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){rows, cols});
  for (int64_t i = 0; i < rows * cols; i++) ((double *)damo_array_data(a))[i] = (double)(i * 7 % 23) / 23 - 0.5;
  damo_var *v = build_take(b, var_constant(ctx, NULL, &a->obj));
  damo_release(a);
  return v;
}

/* Products with a Loop as epilogue: of a vector, and of so large a matrix that it is cut into blocks of rows. */
static damo_var *products(build *b, damo_var *h) {
  damo_var *one = apply1(b, &reverse_def, build_tanh(b, build_fn2(b, "dot", matrix_constant(b, N, N), h)));
  damo_var *left = build_add(b, matrix_constant(b, 1200, 8), build_reduce(b, REDUCE_MAX, h, NULL, -1, false));
  damo_var *many = build_tanh(b, build_fn2(b, "dot", left, matrix_constant(b, 8, 64)));
  const int last = 1;
  damo_var *rows = build_reduce(b, REDUCE_SUM, many, &last, 1, false);
  return build_add(b, one, build_mul(b, build_reduce(b, REDUCE_MAX, rows, NULL, -1, false), build_num(b, 1e-2)));
}

static model make_model(build *b) {
  damo_var *w = shared(b, 0.25, "w"), *x = vec(b, "x"), *m = sparse_constant(b), *c = vector_constant(b, 1);
  damo_var *h = build_tanh(b, build_add(b, build_mul(b, x, w), c));
  damo_var *p = build_fn2(b, "dot", m, h), *rng = build_take(b, damo_random_state(ctx, 7, "rng"));
  /* views of constants, of a matrix and of a vector */
  p = build_add(b, p, build_fn2(b, "dot", build_fn1(b, "sparse.transpose", m), apply1(b, &reverse_def, c)));
  p = build_add(b, p, products(b, h));
  damo_prop size = {.name = "size", .kind = DAMO_PROP_INT, .i = N};
  damo_var *drawn[2] = {NULL, NULL};
  CHECK_EQ_I(damo_call_all(ctx, "normal", &rng, 1, &size, 1, drawn, 2), DAMO_OK);
  build_take(b, drawn[0]);
  p = build_add(b, p, build_mul(b, build_take(b, drawn[1]), build_num(b, 0.125)));
  damo_var *column = build_fn1(b, "sum", build_mul(b, p, inner_op(b, h)));
  damo_var *in[3] = {build_fn2(b, "gt", column, build_num(b, 0)), build_sqr(b, p), build_abs(b, p)};
  damo_var *picked = build_fn(b, "ifelse", in, 3, NULL);
  damo_var *out[2] = {picked, column};
  damo_var *next = build_sub(b, w, build_mul(b, build_num(b, 0.01), picked));
  damo_var *of[2] = {w, rng}, *to[2] = {next, drawn[0]};
  compile_options o = {.update_of = of, .update_to = to, .n_updates = 2};
  return (model){w, make(&x, 1, out, 2, &o)};
}

typedef struct call_job {
  damo_ctx *ctx;
  damo_function *f;
  double from, sum[2];
  int steps;
  bool ok;
} call_job;

static void *run_calls(void *arg) {
  call_job *j = arg;
  double at[N];
  for (int i = 0; i < N; i++) at[i] = j->from + 0.1 * i;
  damo_array *a = damo_array_from(j->ctx, DAMO_FLOAT64, 1, (const int64_t[]){N}, at);
  j->ok = a != NULL;
  j->sum[0] = j->sum[1] = 0;
  for (int k = 0; k < j->steps && j->ok; k++) {
    damo_array *r[2] = {NULL, NULL};
    j->ok = function_call(j->f, (damo_obj *const[]){&a->obj}, 1, NULL, (damo_obj **)r) == DAMO_OK;
    if (j->ok) {
      j->sum[0] += entry(r[0], k % N);
      j->sum[1] += scalar_to_double(array_item(r[1]));
    }
    RELEASE(r[0], r[1]);
  }
  damo_release(a);
  return NULL;
}

/* Runs it in a new context on this thread: the results that the threads must get. */
static call_job alone(const damo_function *f, double from, int steps) {
  call_job j = {.ctx = damo_ctx_new(NULL, NULL), .from = from, .steps = steps};
  j.f = damo_function_copy_to(f, j.ctx);
  if (CHECK(j.f != NULL)) run_calls(&j);
  damo_release(j.f);
  CHECK_EQ_I(damo_ctx_memory(j.ctx).objects, 0);
  damo_ctx_release(j.ctx);
  return j;
}

#define WORKERS 3

static int count_nodes(const damo_function *f, const char *name) {
  int n = 0;
  for (int64_t k = 0; k < f->program->vm.n_thunks; k++)
    n += strcmp(f->program->vm.thunks[k]->node->op->def->name, name) == 0;
  return n;
}

static void test_threads(build *b) {
  model m = make_model(b);
  if (!CHECK(m.f != NULL)) return;
  CHECK_EQ_I(count_nodes(m.f, "DotLoop"), 2);
  call_job want[WORKERS], got[WORKERS];
  for (int k = 0; k < WORKERS; k++) want[k] = alone(m.f, 0.3 * k - 0.2, 200);
  CHECK(want[0].ok && want[0].sum[0] != want[1].sum[0]);
  for (int k = 0; k < WORKERS; k++) { /* the first one stays in this context, also on a thread */
    got[k] = (call_job){.ctx = k == 0 ? ctx : damo_ctx_new(NULL, NULL), .from = want[k].from, .steps = 200};
    got[k].f = k == 0 ? damo_retain(m.f) : damo_function_copy_to(m.f, got[k].ctx);
    CHECK(got[k].f != NULL && got[k].f->program == m.f->program);
  }
  pthread_t thread[WORKERS];
  bool started[WORKERS];
  for (int k = 0; k < WORKERS; k++) started[k] = CHECK_EQ_I(pthread_create(&thread[k], NULL, run_calls, &got[k]), 0);
  for (int k = 0; k < WORKERS; k++) {
    if (started[k]) pthread_join(thread[k], NULL);
    CHECK(got[k].ok && got[k].sum[0] == want[k].sum[0] && got[k].sum[1] == want[k].sum[1]);
  }
  for (int k = 1; k < WORKERS; k++) { /* each has its own w */
    damo_array *mine = damo_function_shared_value(got[k].f, m.w);
    CHECK(mine != NULL && mine->obj.ctx == got[k].ctx && entry(mine, 0) != entry((damo_array *)m.w->value, 0));
    damo_release(mine);
  }
  for (int k = 0; k < WORKERS; k++) {
    damo_release(got[k].f);
    if (k > 0) damo_ctx_release(got[k].ctx);
  }
  damo_release(m.f);
}

/* Frees its copy on its own thread. */
static void *drop_copy(void *arg) {
  call_job *j = arg;
  run_calls(j);
  damo_release(j->f);
  damo_ctx_release(j->ctx);
  return NULL;
}

/* The program's own context releases it first: the copies, called and freed on threads, hold the last references. */
static void test_last_holders(build *b) {
  model m = make_model(b);
  if (!CHECK(m.f != NULL)) return;
  call_job j[WORKERS];
  for (int k = 0; k < WORKERS; k++) {
    j[k] = (call_job){.ctx = damo_ctx_new(NULL, NULL), .from = 1, .steps = 20};
    j[k].f = damo_function_copy_to(m.f, j[k].ctx);
  }
  damo_release(m.f);
  pthread_t thread[WORKERS];
  for (int k = 0; k < WORKERS; k++) CHECK_EQ_I(pthread_create(&thread[k], NULL, drop_copy, &j[k]), 0);
  for (int k = 0; k < 50; k++) { /* the owner keeps working meanwhile */
    damo_array *a = ramp(k);
    CHECK(entry(a, 1) == k + 1);
    damo_release(a);
  }
  for (int k = 0; k < WORKERS; k++) {
    pthread_join(thread[k], NULL);
    CHECK(j[k].ok && j[k].sum[0] == j[0].sum[0]);
  }
  damo_var *x = vec(b, "x");
  damo_function *g = make(&x, 1, &x, 1, NULL); /* compiling frees what other contexts gave back to this one */
  damo_release(g);
}

/* The host releases its context while a copy lives: the copy can still be called, and frees the context when it is
 * freed. */
static void test_owner_goes(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  build b;
  build_init(&b, ctx);
  model m = make_model(&b);
  call_job j = {.ctx = damo_ctx_new(NULL, NULL), .from = 1, .steps = 5};
  j.f = damo_function_copy_to(m.f, j.ctx);
  damo_release(m.f);
  build_end(&b);
  damo_ctx_release(ctx);
  CHECK(leak_bytes > 0);
  run_calls(&j);
  CHECK(j.ok);
  damo_release(j.f);
  CHECK_EQ_I(leak_bytes, 0);
  leak_bytes = 0;
  damo_ctx_release(j.ctx);
}

/* ---- Arguments, errors, memory ----------------------------------------------------------------------------------- */

static damo_status home_run(const thunk *t, frame *f) { return add_run(t, f, 1); }
static const op_def home_def = {
    .name = "Homely", .n_in = 1, .infer_type = same_type, .perform = home_run, .one_context = true};

static void test_refused(build *b) {
  damo_ctx *other = damo_ctx_new(NULL, NULL);
  damo_var *x = vec(b, "x"), *y = apply1(b, &home_def, x);
  damo_function *f = make(&x, 1, &y, 1, NULL);
  CHECK(damo_function_copy_to(f, other) == NULL);
  CHECK_EQ_I(damo_error_status(other), DAMO_ESTATE);
  CHECK(strstr(damo_error_message(other), "Homely") != NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
  damo_function *copy = damo_function_copy_to(f, ctx);
  CHECK(copy != NULL);
  RELEASE(copy, f);
  f = make(&x, 1, &x, 1, &(compile_options){.mode = "NANGUARD"});
  CHECK(damo_function_copy_to(f, other) == NULL && strstr(damo_error_message(other), "NANGUARD") != NULL);
  damo_release(f);
  CHECK_EQ_I(damo_ctx_memory(other).objects, 0);
  damo_ctx_release(other);
}

/* Arguments are converted and refused in the copy's context. */
static void test_arguments(build *b) {
  damo_var *x = vec(b, "x"), *y = build_tanh(b, x);
  damo_function *f = make(&x, 1, &y, 1, NULL);
  damo_ctx *other = damo_ctx_new(NULL, NULL);
  damo_function *g = damo_function_copy_to(f, other);
  const float at[2] = {0, 0};
  damo_array *a = damo_array_from(other, DAMO_FLOAT32, 1, (const int64_t[]){2}, at), *r = NULL;
  damo_array *wrong = damo_array_new(other, DAMO_FLOAT64, 2, (const int64_t[]){2, 2});
  CHECK_EQ_I(damo_function_call(g, &a, 1, &r), DAMO_OK);
  CHECK(r != NULL && r->obj.ctx == other && entry(r, 1) == 0);
  damo_release(r);
  CHECK_EQ_I(damo_function_call(g, &wrong, 1, &r), DAMO_ETYPE);
  CHECK(strstr(damo_error_message(other), "input 1 (x)") != NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
  RELEASE(a, wrong, g, f);
  damo_ctx_release(other);
}

/* An error in another context names the Op and the line, and takes no reference on the node. */
static void test_error(build *b) {
  damo_trace *line = trace_new(ctx, "model.lua:12\nmain.lua:3");
  graph_notes_of(ctx)->trace = &line->obj;
  damo_var *x = vec(b, "x"), *y = apply1(b, &fragile_def, x);
  graph_notes_of(ctx)->trace = NULL;
  damo_function *f = make(&x, 1, &y, 1, NULL);
  damo_ctx *other = damo_ctx_new(NULL, NULL);
  damo_function *g = damo_function_copy_to(f, other);
  if (!CHECK(g != NULL)) return;
  const int64_t refs = g->program->vm.thunks[0]->node->obj.refs;
  damo_array *a = damo_array_new(other, DAMO_FLOAT64, 1, (const int64_t[]){N}), *r = NULL;
  fail_now = 1;
  CHECK_EQ_I(call(g, &a, 1, &r), DAMO_ENUMERIC);
  fail_now = 0;
  CHECK_EQ_S(damo_error_op(other), "Fragile");
  CHECK(damo_error_get_node(other) == NULL);
  CHECK(strstr(damo_error_message(other), "model.lua:12") != NULL && strstr(damo_error_message(other), "main") == NULL);
  CHECK_EQ_I(g->program->vm.thunks[0]->node->obj.refs, refs);
  CHECK_EQ_I(call(g, &a, 1, &r), DAMO_OK);
  RELEASE(r, a, g, f, line);
  damo_ctx_release(other);
}

/* Wherever memory runs out, nothing of a copy is left. */
static void test_out_of_memory(build *b) {
  model m = make_model(b);
  damo_function *g = NULL;
  int64_t n = 0;
  for (; n < 10000 && g == NULL; n++) {
    damo_ctx *other = damo_ctx_new(NULL, NULL);
    other->fail_after = n;
    g = damo_function_copy_to(m.f, other);
    other->fail_after = -1;
    if (g == NULL) CHECK_EQ_I(damo_error_status(other), DAMO_EMEMORY);
    CHECK((g != NULL) == (damo_ctx_memory(other).objects > 0));
    damo_ctx_release(other);
  }
  CHECK(g != NULL && n > 20);
  damo_release(g);
  damo_release(m.f);
}

int main(void) {
  in_context(test_copy);
  in_context(test_copy_shares);
  in_context(test_threads);
  in_context(test_last_holders);
  test_owner_goes();
  in_context(test_refused);
  in_context(test_arguments);
  in_context(test_error);
  in_context(test_out_of_memory);
  TEST_MAIN_END;
}
