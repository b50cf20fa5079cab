/* threads: the pool of a context, which computes the shares of one loop on several threads.
 *
 * The calling thread takes shares too. A run opens a job by making `epoch` odd, and closes it by making it even.
 * A worker that sees a job adds itself to `inside`, then looks at `epoch` again: either it finds the job closed and
 * leaves without reading it, or the caller, which closes first and then waits until nobody is inside, waits for it.
 * A worker without a job looks for the next for IDLE_NS, then sleeps on a condition variable. Sleeping and waking follow
 * the same pattern: each side writes its own variable before it reads the other's, all sequentially consistent.
 *
 * Workers block all signals, so that handlers run on threads of the host, and take over the caller's floating-point
 * environment with each job (rounding, and whether subnormal numbers are flushed to zero). They end when the host's
 * last reference on the context is gone, before the library may be unloaded. In the child of a fork there are none: the
 * pool notices by the process id, and starts its own.
 *
 * Without DAMO_THREADS the calling thread takes all shares.
 */
#include "base_int.h"

#include <string.h>
#if DAMO_THREADS
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif

#define LONG_NS 10000       /* after such work a call looks whether it must end */
#define WATCHED_NS 200000.0 /* of a share of long work, by its estimate, so that it can be stopped */

#if DAMO_THREADS
#define IDLE_NS 15000
#define WORKER_STACK ((size_t)1 << 20) /* kernels need few KB; sanitizers and thread-local data of libraries more */
#define LEAST_NS 60000                 /* of work: waking a worker takes some 10 µs */

typedef struct pool_worker {
  struct pool_worker *next;
  struct thread_pool *pool;
  pthread_t thread;
  int number;
} pool_worker;

struct thread_pool {
  pid_t pid;
  int asked, size; /* the threads asked for, and those that take part, the caller included */
  int started;
  bool stress;     /* shares are made of work of any size */
  damo_ctx *ctx;   /* has a point after each share of the calling thread */
  bool cuts;       /* there are no threads: the pool cuts work into shares of about share_ns */
  double share_ns; /* 0: shares are as many as threads need */
  double ns;       /* the estimate of the work in hand */
  pool_worker *first;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  atomic_uint epoch; /* odd: a job is open */
  atomic_int sleeping, inside;
  atomic_bool waiting, stop;
  /* The job: written while none is open and nobody is inside. */
  share_fn fn;
  void *arg;
  int64_t n_shares;
  bool may_stop; /* shares may be left out */
  int takers;
  fenv_t mode;
  char apart[64]; /* `next` has a cache line of its own */
  atomic_llong next;
};

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

static void take_shares(thread_pool *p, int worker) {
  for (int64_t share; (share = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->n_shares;) {
    p->fn(p->arg, share, worker);
    if (worker > 0) continue;
    ctx_point(p->ctx);
    if (p->may_stop && ctx_is_stopped(p->ctx)) atomic_store(&p->next, p->n_shares);
  }
}

static bool is_news(thread_pool *p, unsigned seen, unsigned *epoch) {
  *epoch = atomic_load(&p->epoch);
  return (*epoch != seen && *epoch % 2 == 1) || atomic_load(&p->stop);
}

/* Waits for a job after number `seen`, or for the end. */
static unsigned await_job(thread_pool *p, unsigned seen) {
  unsigned epoch;
  const int64_t until = clock_ns() + IDLE_NS;
  do {
    for (int i = 0; i < 16; i++, relax()) {
      if (is_news(p, seen, &epoch)) return epoch;
    }
  } while (clock_ns() < until);
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleeping, 1);
  while (!is_news(p, seen, &epoch)) pthread_cond_wait(&p->work, &p->lock);
  atomic_fetch_sub(&p->sleeping, 1);
  pthread_mutex_unlock(&p->lock);
  return epoch;
}

static void leave_job(thread_pool *p) {
  if (atomic_fetch_sub(&p->inside, 1) > 1 || !atomic_load(&p->waiting)) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_signal(&p->done);
  pthread_mutex_unlock(&p->lock);
}

static void *worker_main(void *arg) {
  const pool_worker *w = arg;
  thread_pool *p = w->pool;
  for (unsigned seen = 0; !atomic_load(&p->stop);) {
    seen = await_job(p, seen);
    atomic_fetch_add(&p->inside, 1);
    if (atomic_load(&p->epoch) == seen && seen % 2 == 1 && w->number < p->takers) {
      fesetenv(&p->mode);
      take_shares(p, w->number);
    }
    leave_job(p);
  }
  return NULL;
}

/* ---- Starting and stopping --------------------------------------------------------------------------------------- */

static void pool_prepare(thread_pool *p) {
  memset(p, 0, sizeof *p);
  p->pid = getpid();
  p->size = 1;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->work, NULL);
  pthread_cond_init(&p->done, NULL);
}

static bool start_worker(damo_ctx *ctx, thread_pool *p) {
  pool_worker *w = mem_alloc(ctx, sizeof *w);
  if (w == NULL) return false;
  *w = (pool_worker){.pool = p, .number = p->started + 1};
  pthread_attr_t attr;
  sigset_t all, before;
  bool ok = pthread_attr_init(&attr) == 0;
  if (ok) {
    pthread_attr_setstacksize(&attr, WORKER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ok = pthread_create(&w->thread, &attr, worker_main, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
  }
  if (!ok) {
    mem_free(ctx, w, sizeof *w);
    return false;
  }
  w->next = p->first;
  p->first = w;
  p->started++;
  return true;
}

/* Joins the workers; in the child of a fork, which has none, frees what is left of them. */
static void pool_stop(damo_ctx *ctx, void *data) {
  thread_pool *p = data;
  const bool forked = p->pid != getpid();
  atomic_store(&p->stop, true);
  if (!forked) {
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
  }
  for (pool_worker *w; (w = p->first) != NULL;) {
    p->first = w->next;
    if (!forked) pthread_join(w->thread, NULL);
    mem_free(ctx, w, sizeof *w);
  }
  if (!forked) {
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
  }
  pool_prepare(p);
}

static void pool_destroy(damo_ctx *ctx, void *data) {
  thread_pool *p = data;
  pool_stop(ctx, p);
  pthread_cond_destroy(&p->work);
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->lock);
  mem_free(ctx, p, sizeof *p);
}

/* Starts the workers that are missing. What the system refuses is asked for again when the count changes. */
static void pool_resize(damo_ctx *ctx, thread_pool *p, int threads) {
  bool ok = true;
  while (ok && p->started + 1 < threads) ok = start_worker(ctx, p);
  if (!ok && damo_error_status(ctx) == DAMO_EMEMORY) ctx_clear_error(ctx);
  p->asked = threads;
  p->size = p->started + 1 < threads ? p->started + 1 : threads;
}

int ctx_threads(const damo_ctx *ctx) {
  const int most = ctx->config.threads, own = ctx->call_threads;
  return own == 0 || (ctx->sandbox && own > most) ? most : own;
}

/* The pool of worker threads, or NULL where the work is too small for them. */
static thread_pool *worker_pool(damo_ctx *ctx, int threads, double ns) {
  if (ns < LEAST_NS && !ctx_stress(ctx, STRESS_SHARE)) return NULL;
  ctx_slot *slot = &ctx->slots[CTX_POOL];
  if (slot->data == NULL) {
    thread_pool *made = mem_alloc(ctx, sizeof *made);
    if (made == NULL) {
      ctx_clear_error(ctx);
      return NULL;
    }
    pool_prepare(made);
    *slot = (ctx_slot){made, pool_destroy};
    ctx->drop[CTX_POOL] = pool_stop;
  }
  thread_pool *p = slot->data;
  if (p->pid != getpid()) pool_stop(ctx, p);
  p->ctx = ctx;
  if (p->asked != threads) pool_resize(ctx, p, threads);
  p->stress = ctx_stress(ctx, STRESS_SHARE);
  p->ns = ctx->watching ? ns : 0; /* long work that may be stopped is cut into more shares */
  return p->size > 1 ? p : NULL;
}
#else
struct thread_pool {
  int size;
  bool stress;
  damo_ctx *ctx;
  bool cuts;
  double share_ns, ns;
};

int ctx_threads(const damo_ctx *ctx) {
  (void)ctx;
  return 1;
}

static thread_pool *worker_pool(damo_ctx *ctx, int threads, double ns) {
  (void)ctx, (void)threads, (void)ns;
  return NULL;
}
#endif

/* ---- Pools ------------------------------------------------------------------------------------------------------- */

static void watched_destroy(damo_ctx *ctx, void *data) { pool_free_cut(ctx, data); }

/* The pool of ordinary calls on one thread, for work that is cut so that it can be stopped. */
static thread_pool *watched_pool(damo_ctx *ctx, double ns) {
  ctx_slot *slot = &ctx->slots[CTX_CUT_POOL];
  if (slot->data == NULL) {
    thread_pool *made = pool_new_cut(ctx, WATCHED_NS);
    if (made == NULL) {
      ctx_clear_error(ctx);
      return NULL;
    }
    *slot = (ctx_slot){made, watched_destroy};
  }
  pool_estimate(slot->data, ns);
  return slot->data;
}

thread_pool *ctx_pool_to_divide(damo_ctx *ctx, double ns) {
  thread_pool *p = ctx_pool(ctx, ns);
  return p != NULL && p == ctx->slots[CTX_CUT_POOL].data ? NULL : p;
}

thread_pool *ctx_pool(damo_ctx *ctx, double ns) {
  if (ns >= LONG_NS) ctx_set_due(ctx);
  if (ctx->pace != NULL && pace_is_limited(ctx->pace)) return pace_pool(ctx->pace, ns);
  const int threads = ctx->looking ? 1 : ctx_threads(ctx);
  if (threads < 2) return ns < 10 * WATCHED_NS || !ctx->watching ? NULL : watched_pool(ctx, ns);
  return worker_pool(ctx, threads, ns);
}

thread_pool *pool_new_cut(damo_ctx *ctx, double share_ns) {
  thread_pool *p = mem_calloc(ctx, sizeof *p);
  if (p == NULL) return NULL;
  p->size = 1;
  p->cuts = true;
  p->share_ns = share_ns;
  p->ctx = ctx;
  return p;
}

void pool_free_cut(damo_ctx *ctx, thread_pool *p) {
  if (p != NULL) mem_free(ctx, p, sizeof *p);
}

void pool_estimate(thread_pool *p, double ns) { p->ns = ns; }

void pool_point(thread_pool *p) {
  if (p != NULL && p->cuts) ctx_point(p->ctx);
}

bool pool_cuts(const thread_pool *p) { return p != NULL && p->cuts; }

bool pool_next(thread_pool *p, pace_beat *b, int64_t most) {
  damo_assert(p->cuts);
  if (p->ctx->pace != NULL) {
    pace_next(p->ctx->pace, b, most);
  } else {
    pace_beat_set(b, most, (int64_t)WATCHED_NS, clock_ns());
    ctx_point(p->ctx);
  }
  return !ctx_is_stopped(p->ctx);
}

int pool_size(const thread_pool *p) { return p != NULL ? p->size : 1; }

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

#if DAMO_THREADS
static void wait_for_workers(thread_pool *p) {
  const int64_t until = clock_ns() + IDLE_NS;
  do {
    for (int i = 0; i < 16; i++, relax()) {
      if (atomic_load(&p->inside) == 0) return;
    }
  } while (clock_ns() < until);
  atomic_store(&p->waiting, true);
  pthread_mutex_lock(&p->lock);
  while (atomic_load(&p->inside) > 0) pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
  atomic_store(&p->waiting, false);
}

/* The shares on all threads of the pool. */
static void pool_run_job(thread_pool *p, int64_t n_shares, share_fn fn, void *arg, bool may_stop) {
  p->may_stop = may_stop;
  p->fn = fn;
  p->arg = arg;
  p->n_shares = n_shares;
  p->takers = p->size;
  fegetenv(&p->mode);
  atomic_store(&p->next, 0);
  atomic_fetch_add(&p->epoch, 1);
  if (atomic_load(&p->sleeping) > 0) {
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
  }
  take_shares(p, 0);
  atomic_fetch_add(&p->epoch, 1);
  wait_for_workers(p);
}
#endif

static void run_shares_cut(thread_pool *p, int64_t n_shares, share_fn fn, void *arg, bool may_stop) {
  for (int64_t share = 0; share < n_shares; share++) {
    fn(arg, share, 0);
    if (p == NULL) continue;
    ctx_point(p->ctx);
    if (may_stop && ctx_is_stopped(p->ctx)) return;
  }
}

static void run_shares_on(thread_pool *p, int64_t n_shares, share_fn fn, void *arg, bool may_stop) {
  if (!DAMO_THREADS || p == NULL || n_shares < 2 || p->cuts) {
    run_shares_cut(p, n_shares, fn, arg, may_stop);
    return;
  }
#if DAMO_THREADS
  pool_run_job(p, n_shares, fn, arg, may_stop);
#endif
}

void pool_run(thread_pool *p, int64_t n_shares, share_fn fn, void *arg) { run_shares_on(p, n_shares, fn, arg, true); }

void pool_run_all(thread_pool *p, int64_t n_shares, share_fn fn, void *arg) {
  run_shares_on(p, n_shares, fn, arg, false);
}

/* Estimates are those of cheap elements, so shares of slices are also a part of the smallest that would pay on a thread. */
static int64_t cut_shares(const thread_pool *p, int64_t units, int64_t least) {
  const double by_time = p->ns / p->share_ns;
  int64_t n = p->share_ns >= WATCHED_NS ? 1 : least > 4 ? units / (least / 4) : units;
  if (by_time > (double)n) n = by_time < (double)units ? (int64_t)by_time : units;
  return n < 1 ? 1 : n < units ? n : units;
}

int64_t pool_shares(const thread_pool *p, int64_t units, int64_t least) {
  if (p == NULL) return 1;
  if (p->cuts) return units > 1 ? cut_shares(p, units, least) : 1;
  const int64_t n = units / (least > 0 && !p->stress ? least : 1), threads = 4 * (int64_t)pool_size(p);
  const int64_t most = p->ns / (10 * WATCHED_NS) > (double)threads ? (int64_t)(p->ns / (10 * WATCHED_NS)) : threads;
  return n < 2 ? 1 : n < most ? n : most;
}
