/* pool_test: the pool of threads of a context: every share runs once, workers sleep and end, a fork, a refusal of
 * memory; and loops over raw pointers, whose bits do not depend on the number of threads. `make tsan` runs this under
 * ThreadSanitizer. */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "kernel/isa.h"
#include "kernel/kernel.h"
#include "kernel/reduce/reduce.h"
#include "sparse/sparse.h"
#include "test.h"

#define MUCH 1e9 /* nanoseconds of work: enough for a pool */

static damo_ctx *with_threads(int threads) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  ctx->config.threads = threads;
  return ctx;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

enum { MOST_SHARES = 1000, MOST_WORKERS = 16 };

typedef struct tally {
  int workers;
  atomic_int share[MOST_SHARES], busy[MOST_WORKERS];
  atomic_int strays; /* a worker that does not exist, or that runs two shares at once */
  int64_t plain[MOST_SHARES];
} tally;

static void count_share(void *arg, int64_t share, int worker) {
  tally *t = arg;
  if (worker < 0 || worker >= t->workers || atomic_fetch_add(&t->busy[worker], 1) != 0) atomic_fetch_add(&t->strays, 1);
  atomic_fetch_add(&t->share[share], 1);
  t->plain[share] = share + 1;
  atomic_fetch_sub(&t->busy[worker], 1);
}

static bool counts_once(thread_pool *p, tally *t, int64_t n) {
  memset(t, 0, sizeof *t);
  t->workers = pool_size(p);
  pool_run(p, n, count_share, t);
  bool ok = atomic_load(&t->strays) == 0;
  for (int64_t i = 0; i < MOST_SHARES; i++)
    ok = ok && atomic_load(&t->share[i]) == (i < n) && t->plain[i] == (i < n ? i + 1 : 0);
  return ok;
}

static void test_shares(void) {
  static tally t;
  static const int counts[] = {1, 2, 8, 3, 5};
  damo_ctx *ctx = with_threads(1);
  CHECK(ctx_pool(ctx, MUCH) == NULL); /* one thread */
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    ctx->config.threads = counts[i];
    thread_pool *p = ctx_pool(ctx, MUCH);
    CHECK_EQ_I(pool_size(p), counts[i]);
    CHECK(ctx_pool(ctx, 10) == NULL); /* too little work */
    for (int64_t n = 0; n <= 40; n++) CHECK(counts_once(p, &t, n));
    CHECK(counts_once(p, &t, MOST_SHARES));
  }
  /* short runs one after the other, between which workers spin, and others before which they fall asleep */
  thread_pool *p = ctx_pool(ctx, MUCH);
  bool ok = true;
  for (int i = 0; i < 3000; i++) ok = counts_once(p, &t, 1 + i % 7) && ok;
  for (int i = 0; i < 50; i++) {
    nanosleep(&(struct timespec){0, 100000}, NULL);
    ok = counts_once(p, &t, 10) && ok;
  }
  CHECK(ok);
  damo_ctx_release(ctx);
}

static void test_share_bounds(void) {
  bool ok = true;
  for (int64_t units = 1; units < 50; units++) {
    for (int64_t n = 1; n <= units; n++) {
      ok = ok && pool_share_first(units, 0, n) == 0 && pool_share_first(units, n, n) == units;
      for (int64_t s = 0; s < n; s++) ok = ok && pool_share_first(units, s, n) < pool_share_first(units, s + 1, n);
    }
  }
  CHECK(ok);
  CHECK_EQ_I(pool_shares(NULL, 1000, 1), 1);
  damo_ctx *ctx = with_threads(2);
  thread_pool *p = ctx_pool(ctx, MUCH);
  CHECK_EQ_I(pool_shares(p, 1000, 1), 8);
  CHECK_EQ_I(pool_shares(p, 1000, 400), 2);
  CHECK_EQ_I(pool_shares(p, 1000, 600), 1);
  CHECK_EQ_I(pool_shares(p, 3, 0), 3);
  damo_ctx_release(ctx);
}

/* The count of the Function that is called goes before the context's; in a sandbox it is no more than that. */
static void test_counts(void) {
  damo_ctx *ctx = with_threads(2);
  CHECK_EQ_I(ctx_threads(ctx), 2);
  ctx->call_threads = 4;
  CHECK_EQ_I(ctx_threads(ctx), 4);
  damo_ctx_set_sandbox(ctx);
  CHECK_EQ_I(ctx_threads(ctx), 2);
  ctx->call_threads = 1;
  CHECK_EQ_I(ctx_threads(ctx), 1);
  ctx->call_threads = 0;
  CHECK_EQ_I(ctx_threads(ctx), 2);
  damo_ctx_release(ctx);
}

/* ---- Environment ------------------------------------------------------------------------------------------------- */

static void read_rounding(void *arg, int64_t share, int worker) {
  (void)worker;
  ((int *)arg)[share] = fegetround();
  nanosleep(&(struct timespec){0, 1000000}, NULL); /* so that every worker takes some */
}

/* Workers take over the caller's floating-point environment. */
static void test_rounding(void) {
  damo_ctx *ctx = with_threads(4);
  thread_pool *p = ctx_pool(ctx, MUCH);
  static const int modes[] = {FE_UPWARD, FE_TONEAREST};
  for (int m = 0; m < 2; m++) {
    int seen[16] = {0};
    bool ok = true;
    fesetround(modes[m]);
    pool_run(p, 16, read_rounding, seen);
    for (int i = 0; i < 16; i++) ok = ok && seen[i] == modes[m];
    CHECK(ok);
  }
  damo_ctx_release(ctx);
}

static double process_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nothing(void *arg, int64_t share, int worker) { (void)arg, (void)share, (void)worker; }

/* Eight threads that have no work use less than 1 % of a core, once they have fallen asleep. */
static void test_idle(void) {
  damo_ctx *ctx = with_threads(8);
  pool_run(ctx_pool(ctx, MUCH), 100, nothing, NULL);
  double used = 1;
  for (int tries = 0; tries < 10 && used >= 0.005; tries++) {
    const double before = process_seconds();
    nanosleep(&(struct timespec){0, 500000000}, NULL);
    used = process_seconds() - before;
  }
  CHECK(used < 0.005);
  damo_ctx_release(ctx);
}

/* An ordinary call on one thread, too, computes slow elements in parts that grow while they take little time. */
static void test_parts(void) {
  damo_ctx *ctx = with_threads(1);
  const ctx_watch before = ctx_watch_begin(ctx);
  thread_pool *p = ctx_pool(ctx, MUCH);
  pace_beat beat = {.n = 1};
  if (CHECK(pool_cuts(p))) {
    for (int i = 0; i < 1000 && beat.n < 4096; i++) CHECK(pool_next(p, &beat, 4096));
    CHECK_EQ_I(beat.n, 4096);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    CHECK(pool_next(p, &beat, 4096));
    CHECK(beat.n < 4096 / 16);
  }
  CHECK_EQ_I(ctx_watch_end(ctx, before, DAMO_OK), DAMO_OK);
  damo_ctx_release(ctx);
}

static void test_refused(void) {
  damo_ctx *ctx = with_threads(3);
  for (int64_t k = 0; k < 2; k++) {
    ctx->fail_after = k; /* the pool itself, then its first worker */
    CHECK(ctx_pool(ctx, MUCH) == NULL);
    CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
    ctx->fail_after = -1;
  }
  ctx->config.threads = 4;
  CHECK_EQ_I(pool_size(ctx_pool(ctx, MUCH)), 4);
  damo_ctx_release(ctx);
}

#ifdef __linux__
#include <dirent.h>

static int n_threads(void) {
  int n = 0;
  DIR *d = opendir("/proc/self/task");
  for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
  if (d != NULL) closedir(d);
  return n;
}

/* Waits until there are n threads: the kernel lists one for a moment after it was joined. False after ten seconds. */
static bool becomes(int n) {
  for (int i = 0; i < 10000 && n_threads() != n; i++) nanosleep(&(struct timespec){0, 1000000}, NULL);
  return n_threads() == n;
}

static void *end_at_once(void *arg) { return arg; }

/* The threads that are there whatever the pools do: this one, a library's, and ThreadSanitizer's own, which starts with
 * the first that a program starts. */
static int n_threads_settled(void) {
  pthread_t t;
  if (pthread_create(&t, NULL, end_at_once, NULL) == 0) pthread_join(t, NULL);
  int n = n_threads();
  for (int same = 0; same < 100; same++) {
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (n_threads() != n) n = n_threads(), same = 0;
  }
  return n;
}

/* Threads start with the first work, and are gone when the host has released the context, though objects keep it. */
static void test_end(int at_start) {
  CHECK(becomes(at_start)); /* those of the tests before are gone */
  damo_ctx *ctx = with_threads(5);
  CHECK_EQ_I(n_threads(), at_start);
  damo_array *a = damo_array_scalar(ctx, DAMO_FLOAT64, 1);
  pool_run(ctx_pool(ctx, MUCH), 100, nothing, NULL);
  CHECK_EQ_I(n_threads(), at_start + 4);
  damo_ctx_release(ctx);
  CHECK(becomes(at_start));
  damo_release(a);
}
#else
static int n_threads_settled(void) { return 0; }
static void test_end(int at_start) { (void)at_start; }
#endif

#ifndef __SANITIZE_THREAD__ /* which does not follow a child that starts threads */
/* A child has a pool of its own, and may end with or without having used it. */
static void test_fork(void) {
  static tally t;
  damo_ctx *ctx = with_threads(4);
  CHECK(counts_once(ctx_pool(ctx, MUCH), &t, 100));
  for (int uses = 0; uses < 2; uses++) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      const bool ok = !uses || (counts_once(ctx_pool(ctx, MUCH), &t, 100) && counts_once(ctx_pool(ctx, MUCH), &t, 7));
      damo_ctx_release(ctx);
      _exit(ok ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK(counts_once(ctx_pool(ctx, MUCH), &t, 100));
  damo_ctx_release(ctx);
}
#else
static void test_fork(void) {}
#endif

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* n values, with ties, zeros of both signs and, where asked, a nan. */
static void *values(damo_dtype dtype, int64_t n, int64_t nan_at) {
  double *x = malloc((size_t)n * sizeof *x);
  void *out = malloc((size_t)n * dtype_size(dtype));
  for (int64_t i = 0; i < n; i++) x[i] = (double)((i * 7919 + i * i % 1013) % 2001 - 1000) / 64.0;
  for (int64_t i = 0; i < n; i += 97) x[i] = i % 2 ? -0.0 : 0.0;
  if (nan_at >= 0) x[nan_at] = NAN;
  kernel_cast(DAMO_FLOAT64, dtype)(x, out, n);
  free(x);
  return out;
}

static void reduce_with(damo_ctx *ctx, int threads, reduce_kind kind, damo_dtype dtype, const char *x, int ndim,
                        const int64_t *shape, const int64_t *strides, uint32_t axes, void *out) {
  ctx->config.threads = threads;
  thread_pool *p = ctx_pool(ctx, MUCH);
  const size_t bytes = (reduce_workspace_on(p, kind, dtype, ndim, shape, axes) + 63) / 64 * 64;
  void *work = aligned_alloc(64, bytes);
  kernel_reduce_on(p, ctx->isa, kind, dtype, x, ndim, shape, strides, axes, out, work);
  free(work);
}

static bool same_for_all(damo_ctx *ctx, reduce_kind kind, damo_dtype dtype, const char *x, int ndim,
                         const int64_t *shape, const int64_t *strides, uint32_t axes, int64_t n_out) {
  const size_t bytes = (size_t)n_out * dtype_size(reduce_out_dtype(kind, dtype));
  char *want = calloc(1, bytes), *got = calloc(1, bytes);
  bool ok = true;
  reduce_with(ctx, 1, kind, dtype, x, ndim, shape, strides, axes, want);
  for (int threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
    memset(got, 0xAA, bytes);
    reduce_with(ctx, threads, kind, dtype, x, ndim, shape, strides, axes, got);
    ok = ok && memcmp(want, got, bytes) == 0;
  }
  free(want);
  free(got);
  return ok;
}

static const damo_dtype dtypes[] = {DAMO_FLOAT64, DAMO_FLOAT32, DAMO_INT32, DAMO_COMPLEX128};

static void test_reductions(void) {
  damo_ctx *ctx = with_threads(1);
  static const int64_t lengths[] = {2 * REDUCE_PART, 2 * REDUCE_PART + 1, 3 * REDUCE_PART + 513, 5 * REDUCE_PART - 1};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const int64_t size = (int64_t)dtype_size(dtypes[d]);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      const int64_t n = lengths[l];
      char *x = values(dtypes[d], 2 * n, -1), *with_nan = values(dtypes[d], n, n - 70000);
      for (int kind = REDUCE_SUM; kind <= REDUCE_SUM_SQR_DEV; kind++) {
        if (!reduce_supported((reduce_kind)kind, dtypes[d])) continue;
        const int64_t one = size, every_second = 2 * size, backwards = -size;
        CHECK(same_for_all(ctx, (reduce_kind)kind, dtypes[d], x, 1, &n, &one, 1, 1));
        CHECK(same_for_all(ctx, (reduce_kind)kind, dtypes[d], x, 1, &n, &every_second, 1, 1));
        CHECK(same_for_all(ctx, (reduce_kind)kind, dtypes[d], x + (n - 1) * size, 1, &n, &backwards, 1, 1));
        CHECK(same_for_all(ctx, (reduce_kind)kind, dtypes[d], with_nan, 1, &n, &one, 1, 1));
      }
      free(x);
      free(with_nan);
    }
  }
  damo_ctx_release(ctx);
}

/* Of results side by side, from several blocks of rows, in one strip and in several. */
static void test_columns(void) {
  damo_ctx *ctx = with_threads(1);
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const int64_t size = (int64_t)dtype_size(dtypes[d]), tall[] = {4200, 300}, wide[] = {2900, 4300};
    const int64_t tall_steps[] = {300 * size, size}, wide_steps[] = {4300 * size, size};
    char *x = values(dtypes[d], 2900 * 4300, 4321);
    for (int kind = REDUCE_SUM; kind <= REDUCE_SUM_SQR_DEV; kind++) {
      if (!reduce_supported((reduce_kind)kind, dtypes[d])) continue;
      CHECK(same_for_all(ctx, (reduce_kind)kind, dtypes[d], x, 2, tall, tall_steps, 1, 300));
      if (d == 0) CHECK(same_for_all(ctx, (reduce_kind)kind, dtypes[d], x, 2, wide, wide_steps, 1, 4300));
    }
    free(x);
  }
  damo_ctx_release(ctx);
}

/* Of many results, along rows, columns and three axes. */
static void test_results(void) {
  damo_ctx *ctx = with_threads(1);
  const int64_t n = 700, m = 900, flat[] = {n, m}, deep[] = {7, 100, m};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const int64_t size = (int64_t)dtype_size(dtypes[d]);
    const int64_t rows[] = {m * size, size}, box[] = {100 * m * size, m * size, size};
    char *x = values(dtypes[d], n * m, 1234);
    for (int kind = REDUCE_SUM; kind <= REDUCE_SUM_SQR_DEV; kind++) {
      const reduce_kind k = (reduce_kind)kind;
      if (!reduce_supported(k, dtypes[d])) continue;
      CHECK(same_for_all(ctx, k, dtypes[d], x, 2, flat, rows, 1, m));
      CHECK(same_for_all(ctx, k, dtypes[d], x, 2, flat, rows, 2, n));
      CHECK(same_for_all(ctx, k, dtypes[d], x, 3, deep, box, 2, 7 * m));
      CHECK(same_for_all(ctx, k, dtypes[d], x, 3, deep, box, 5, 100));
      CHECK(same_for_all(ctx, k, dtypes[d], x, 3, deep, box, 6, 7));
      CHECK(same_for_all(ctx, k, dtypes[d], x, 2, (const int64_t[]){n, 0}, rows, 1, 0)); /* no results */
      if (k >= REDUCE_MAX && k <= REDUCE_ARGMIN) continue;
      CHECK(same_for_all(ctx, k, dtypes[d], x, 2, (const int64_t[]){n, 0}, rows, 2, n)); /* of no elements */
    }
    free(x);
  }
  damo_ctx_release(ctx);
}

/* ---- Functions and sparse products ------------------------------------------------------------------------------- */

static bool same_values(const damo_array *a, const damo_array *b) {
  return a != NULL && b != NULL && array_size(a) == array_size(b) &&
         memcmp(a->data, b->data, (size_t)array_size(a) * dtype_size(array_dtype(a))) == 0;
}

static damo_array *matrix(damo_ctx *ctx, int64_t rows, int64_t cols) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){rows, cols});
  double *x = damo_array_data(a);
  for (int64_t i = 0; i < rows * cols; i++) x[i] = sin(0.37 * (double)i);
  return a;
}

/* Rows that several passes go over, a sum of all, and elements. */
static void test_function(void) {
  damo_ctx *ctx = with_threads(1);
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, 2, NULL);
  damo_var *x = damo_var_new(ctx, t, "x"), *out[3];
  out[0] = damo_call(ctx, "softmax", &x, 1);
  damo_var *e = damo_call(ctx, "exp", &x, 1), *s = damo_call(ctx, "sin", &x, 1);
  out[1] = damo_call(ctx, "mul", (damo_var *[]){e, s}, 2);
  out[2] = damo_call(ctx, "sum", &out[1], 1);
  damo_array *a = matrix(ctx, 500, 700), *want[3], *got[3];
  damo_function *f = damo_compile(ctx, &x, 1, out, 3, NULL, NULL, 0, NULL);
  CHECK_EQ_I(damo_function_call(f, &a, 1, want), DAMO_OK);
  for (int threads = 2; threads < 5; threads++) {
    ctx->config.threads = threads;
    CHECK_EQ_I(damo_function_call(f, &a, 1, got), DAMO_OK);
    for (int i = 0; i < 3; i++) {
      CHECK(same_values(want[i], got[i]));
      damo_release(got[i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    damo_release(want[i]);
    damo_release(out[i]);
  }
  damo_release(f);
  damo_release(e);
  damo_release(s);
  damo_release(a);
  damo_release(x);
  damo_release(t);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  damo_ctx_release(ctx);
}

/* 3000 x 3000, with up to 60 entries in a row. */
static damo_sparse *uneven(damo_ctx *ctx) {
  const int64_t n = 3000, shape[2] = {n, n};
  int64_t nnz = 0;
  for (int64_t i = 0; i < n; i++) nnz += i * 37 % 61;
  damo_sparse *a = sparse_empty(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, shape, nnz);
  int32_t *ptr = (int32_t *)(void *)a->indptr->data, *idx = (int32_t *)(void *)a->indices->data;
  double *val = (double *)(void *)a->data->data;
  ptr[0] = 0;
  for (int64_t i = 0, p = 0; i < n; i++) {
    for (int64_t k = 0; k < i * 37 % 61; k++, p++) {
      idx[p] = (int32_t)((i + 49 * k) % n);
      val[p] = cos((double)p);
    }
    ptr[i + 1] = (int32_t)p;
  }
  return a;
}

static void test_sparse(void) {
  damo_ctx *ctx = with_threads(1);
  damo_sparse *a = uneven(ctx), *square = sparse_dot_sparse(a, a), *sum = sparse_merge(SPARSE_SUB, a, square);
  damo_array *d = matrix(ctx, 3000, 40), *y = sparse_dot_dense(a, false, NULL, d, NULL),
             *z = sparse_dot_dense(a, true, NULL, d, NULL);
  damo_sparse *sample = sparse_sample(a, d, d);
  for (int threads = 2; threads < 5; threads++) {
    ctx->config.threads = threads;
    damo_sparse *square_too = sparse_dot_sparse(a, a), *sample_too = sparse_sample(a, d, d);
    damo_array *y_too = sparse_dot_dense(a, false, NULL, d, NULL), *z_too = sparse_dot_dense(a, true, NULL, d, NULL);
    CHECK(same_values(y, y_too) && same_values(z, z_too) && same_values(sample->data, sample_too->data));
    CHECK(same_values(square->data, square_too->data) && same_values(square->indices, square_too->indices) &&
          same_values(square->indptr, square_too->indptr));
    damo_sparse *sum_too = sparse_merge(SPARSE_SUB, a, square_too);
    CHECK(same_values(sum->data, sum_too->data) && same_values(sum->indices, sum_too->indices) &&
          same_values(sum->indptr, sum_too->indptr) && sum_too->sorted && sum_too->unique);
    damo_release(sum_too);
    damo_release(square_too);
    damo_release(sample_too);
    damo_release(y_too);
    damo_release(z_too);
  }
  const int64_t bytes = (int64_t)ctx->bytes;
  for (int64_t k = 0; k < 120; k++) { /* a refusal anywhere leaves nothing behind */
    ctx->fail_after = k;
    damo_sparse *made = sparse_dot_sparse(a, a), *added = sparse_merge(SPARSE_ADD, a, square);
    ctx->fail_after = -1;
    damo_release(made);
    damo_release(added);
    ctx_clear_error(ctx);
    CHECK_EQ_I(ctx->bytes, bytes);
    if (made != NULL && added != NULL) break;
  }
  damo_release(a);
  damo_release(square);
  damo_release(sum);
  damo_release(d);
  damo_release(y);
  damo_release(z);
  damo_release(sample);
  damo_ctx_release(ctx);
}

int main(void) {
  const int threads_at_start = n_threads_settled();
  test_function();
  test_sparse();
  test_shares();
  test_share_bounds();
  test_counts();
  test_rounding();
  test_idle();
  test_parts();
  test_refused();
  test_end(threads_at_start);
  test_fork();
  test_reductions();
  test_results();
  test_columns();
  TEST_MAIN_END;
}
