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
 */
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base_int.h"

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
  bool stress; /* shares are made of work of any size */
  pace *pace;  /* of a pool without threads; NULL otherwise */
  double ns;   /* with a pace: the estimate of the work in hand */
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
  for (int64_t share; (share = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->n_shares;)
    p->fn(p->arg, share, worker);
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

thread_pool *ctx_pool(damo_ctx *ctx, double ns) {
  if (ctx->pace != NULL && pace_is_limited(ctx->pace)) return pace_pool(ctx->pace, ns);
  const int threads = ctx_threads(ctx);
  if (threads < 2 || (ns < LEAST_NS && !ctx_stress(ctx, STRESS_SHARE))) return NULL;
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
  if (p->asked != threads) pool_resize(ctx, p, threads);
  p->stress = ctx_stress(ctx, STRESS_SHARE);
  return p->size > 1 ? p : NULL;
}

thread_pool *pool_new_paced(damo_ctx *ctx, pace *by) {
  thread_pool *p = mem_calloc(ctx, sizeof *p);
  if (p == NULL) return NULL;
  p->size = 1;
  p->pace = by;
  return p;
}

void pool_free_paced(damo_ctx *ctx, thread_pool *p) {
  if (p != NULL) mem_free(ctx, p, sizeof *p);
}

void pool_estimate(thread_pool *p, double ns) { p->ns = ns; }

pace *pool_pace(const thread_pool *p) { return p != NULL ? p->pace : NULL; }

int pool_size(const thread_pool *p) { return p != NULL ? p->size : 1; }

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

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

void pool_run(thread_pool *p, int64_t n_shares, share_fn fn, void *arg) {
  if (p == NULL || n_shares < 2 || p->pace != NULL) {
    for (int64_t share = 0; share < n_shares; share++) {
      fn(arg, share, 0);
      if (p != NULL && p->pace != NULL) pace_point(p->pace);
    }
    return;
  }
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

#define PACED_NS 8000.0 /* of a share, by the estimate of the work */

/* Estimates are those of cheap elements, so shares are also a part of the smallest that would pay on a thread. */
static int64_t paced_shares(const thread_pool *p, int64_t units, int64_t least) {
  const int64_t by_units = least > 4 ? units / (least / 4) : units;
  const double by_time = p->ns / PACED_NS;
  const int64_t n = by_time > (double)by_units ? (by_time < (double)units ? (int64_t)by_time : units) : by_units;
  return n < 1 ? 1 : n < units ? n : units;
}

int64_t pool_shares(const thread_pool *p, int64_t units, int64_t least) {
  if (p == NULL) return 1;
  if (p->pace != NULL) return units > 1 ? paced_shares(p, units, least) : 1;
  const int64_t most = 4 * (int64_t)pool_size(p), n = units / (least > 0 && !p->stress ? least : 1);
  return n < 2 ? 1 : n < most ? n : most;
}
