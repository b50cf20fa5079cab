/* threads_test: two contexts on two threads train different models at once; the results are those of one thread. */
#include <pthread.h>

#include "damo.h"
#include "test.h"

typedef struct job {
  int hidden, steps;
  double phase;
  const char *squash;
  double loss, sum; /* results */
  bool ok;
} job;

static damo_array *wave(damo_ctx *ctx, int64_t rows, int64_t cols, double phase) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){rows, cols});
  double *at = a != NULL ? damo_array_data(a) : NULL;
  for (int64_t i = 0; at != NULL && i < rows * cols; i++)
    at[i] = 0.5 * sin(phase + 1.7 * (double)i + 0.001 * (double)(i * i));
  return a;
}

typedef struct pool {
  damo_ctx *ctx;
  void *at[64];
  int n;
} pool;

static void *keep(pool *p, void *obj) {
  if (obj != NULL) p->at[p->n++] = obj;
  return obj;
}
static damo_var *op2(pool *p, const char *f, damo_var *x, damo_var *y) {
  return keep(p, damo_call(p->ctx, f, (damo_var *[]){x, y}, 2));
}
static damo_var *op1(pool *p, const char *f, damo_var *x) { return keep(p, damo_call(p->ctx, f, &x, 1)); }

static void train(job *j, pool *p) {
  damo_ctx *ctx = p->ctx;
  damo_type *t = keep(p, damo_type_tensor(ctx, DAMO_FLOAT64, 2, NULL));
  damo_var *x = keep(p, damo_var_new(ctx, t, "x")), *y = keep(p, damo_var_new(ctx, t, "y"));
  damo_array *a = keep(p, wave(ctx, 24, 7, j->phase)), *b = keep(p, wave(ctx, 24, 3, j->phase + 1));
  damo_array *w0 = keep(p, wave(ctx, 7, j->hidden, 2)), *u0 = keep(p, wave(ctx, j->hidden, 3, 3));
  damo_var *w = keep(p, damo_shared(ctx, w0, "w")), *u = keep(p, damo_shared(ctx, u0, "u")),
           *rate = keep(p, damo_number(ctx, 0.2));
  damo_var *h = op1(p, j->squash, op2(p, "dot", x, w)), *d = op2(p, "sub", op2(p, "dot", h, u), y);
  damo_var *cost = op1(p, "mean", op1(p, "sqr", d)), *g[2] = {NULL, NULL};
  j->ok = damo_grad(ctx, cost, (damo_var *[]){w, u}, 2, g) == DAMO_OK;
  keep(p, g[0]);
  keep(p, g[1]);
  damo_var *nw = op2(p, "sub", w, op2(p, "mul", g[0], rate)), *nu = op2(p, "sub", u, op2(p, "mul", g[1], rate));
  damo_function *f = keep(
      p, damo_compile(ctx, (damo_var *[]){x, y}, 2, &cost, 1, (damo_var *[]){w, u}, (damo_var *[]){nw, nu}, 2, NULL));
  for (int i = 0; i < j->steps && j->ok && f != NULL; i++) {
    damo_array *r = NULL;
    j->ok = damo_function_call(f, (damo_array *[]){a, b}, 2, &r) == DAMO_OK && damo_array_item(r, &j->loss) == DAMO_OK;
    damo_release(r);
  }
  j->ok = j->ok && f != NULL;
  damo_array *now = keep(p, damo_shared_value(w));
  const double *at = now != NULL ? damo_array_data(now) : NULL;
  for (int64_t i = 0; at != NULL && i < damo_array_size(now); i++) j->sum += at[i] * (double)(i + 1);
}

static void *run(void *arg) {
  job *j = arg;
  pool p = {.ctx = damo_ctx_new(NULL, NULL)};
  if (p.ctx == NULL) return NULL;
  j->sum = 0;
  train(j, &p);
  while (p.n > 0) damo_release(p.at[--p.n]);
  j->ok = j->ok && damo_ctx_memory(p.ctx).objects == 0;
  damo_ctx_release(p.ctx);
  return NULL;
}

int main(void) {
  const job plan[2] = {{.hidden = 9, .steps = 150, .phase = 0.1, .squash = "tanh"},
                       {.hidden = 16, .steps = 130, .phase = 2.2, .squash = "sigmoid"}};
  job alone[2] = {plan[0], plan[1]};
  for (int k = 0; k < 2; k++) run(&alone[k]);
  CHECK(alone[0].ok && alone[1].ok && alone[0].loss > 0 && alone[0].loss != alone[1].loss);
  for (int round = 0; round < 5; round++) {
    job both[2] = {plan[0], plan[1]};
    pthread_t thread[2];
    bool started[2];
    for (int k = 0; k < 2; k++) started[k] = CHECK_EQ_I(pthread_create(&thread[k], NULL, run, &both[k]), 0);
    for (int k = 0; k < 2; k++) {
      if (started[k]) pthread_join(thread[k], NULL);
      CHECK(both[k].ok && both[k].loss == alone[k].loss && both[k].sum == alone[k].sum);
    }
  }
  TEST_MAIN_END;
}
