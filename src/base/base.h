/* base: the foundation of all layers.
 *
 * In: an allocator from the host. Out: a context that counts and caps memory, reference-counted objects, the error
 * object, the dtype table, and three containers (ptrvec, map, strbuf). Always holds: every allocation goes through
 * mem_*; an object is destroyed only by damo_release, which never recurses (a dying object is queued, and the outermost
 * release drains the queue); a failing function has set the context's error.
 */
#ifndef DAMO_BASE_H
#define DAMO_BASE_H

#include <stdarg.h>
#include <stdatomic.h>

#include "../damo.h"
#include "parts.h"

#if defined(__MINGW32__) && !defined(__clang__)
#define PRINTF_LIKE(f, a) __attribute__((format(gnu_printf, f, a)))
#elif defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Returns the failing status of expr from the current function. For use only where the function owns nothing yet. */
#define DAMO_TRY(expr)                              \
  do {                                              \
    damo_status try_status_ = (expr);               \
    if (try_status_ != DAMO_OK) return try_status_; \
  } while (0)

/* Checks an internal invariant in debug builds. A wrong value from a user is a status, never an assertion. */
#ifdef DAMO_DEBUG
#include <assert.h>
#define damo_assert(c) assert(c)
#else
#define damo_assert(c) ((void)0)
#endif
/* DAMO_TRY of a check that debug builds alone make, where what is checked may be large or the check may fail. */
#ifdef DAMO_DEBUG
#define DAMO_TRY_DEBUG(expr) DAMO_TRY(expr)
#else
#define DAMO_TRY_DEBUG(expr) ((void)0)
#endif

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

typedef enum obj_kind {
  OBJ_BUFFER,
  OBJ_ARRAY,
  OBJ_SPARSE,
  OBJ_TYPE,
  OBJ_TRACE,
  OBJ_OPCLASS,
  OBJ_OPGRAPH,
  OBJ_OP,
  OBJ_VAR,
  OBJ_APPLY,
  OBJ_FGRAPH,
  OBJ_FUNCTION,
  OBJ_GENERIC,
  OBJ_FACTOR,
  OBJ_PATTERN,
  OBJ_SCAN,
  OBJ_RUN,
  OBJ_LINKED,
  OBJ_N_KINDS
} obj_kind;

struct damo_obj {
  int64_t refs;
  damo_ctx *ctx;
  damo_obj *next; /* next in ctx's queue of dying objects */
  uint8_t kind;   /* obj_kind */
  uint8_t flags;  /* for the kind's own use */
};

/* Releases the objects that obj holds (damo_release), then frees its memory (obj_free). Never fails. */
typedef void (*obj_destroy_fn)(damo_obj *obj);
/* The object whose count references on obj use: references on an output Variable are counted on its node. NULL: obj
 * itself. */
typedef damo_obj *(*obj_holder_fn)(damo_obj *obj);

/* Allocates size zeroed bytes (size >= sizeof(damo_obj)) with the header set and one reference. */
void *obj_new(damo_ctx *ctx, obj_kind kind, size_t size);
/* Frees the memory of an object of that size: the last call of a destructor. */
void obj_free(damo_obj *obj, size_t size);

/* ---- Context ----------------------------------------------------------------------------------------------------- */

#define CTX_MOST_THREADS 1024

typedef struct ctx_config {
  damo_dtype floatX; /* float64 or float32 */
  int threads;
  size_t plan_cap; /* bytes that a Function keeps for other shapes than those of its last call (vm/arena.c) */
  size_t memo_cap; /* bytes of compiled graphs that are remembered (compile/memo.c) */
} ctx_config;

#define ERROR_MESSAGE_MAX 2048
#define ERROR_OPERANDS_MAX 512

typedef struct ctx_error {
  damo_status status;
  char message[ERROR_MESSAGE_MAX];
  char op[128];                      /* "" when unknown */
  char operands[ERROR_OPERANDS_MAX]; /* dtypes and shapes of the op's operands; "" when unknown */
  damo_apply *node;                  /* owned, or NULL */
} ctx_error;

/* A table of one layer that belongs to the context (interned Types and Ops, op functions, default generator, …).
 * destroy is called once, when the context is freed. A reference held by a slot would keep the context alive for ever,
 * since objects hold references on it. So a slot that holds references sets ctx->drop[id], which releases them and
 * leaves the slot usable; it is called when the host's last reference on the context is gone, and after each later
 * drain. A slot that only holds weak entries needs none. */
typedef enum ctx_slot_id {
  CTX_GRAPH,
  CTX_TYPES,
  CTX_PATTERNS,
  CTX_OPS,
  CTX_FUNCS,
  CTX_REWRITES,
  CTX_RANDOM,
  CTX_LUA,
  CTX_CLASSES,
  CTX_WATCHERS,
  CTX_SCALARS,
  CTX_EAGER,
  CTX_SCANS,
  CTX_POOL,
  CTX_CUT_POOL,
  CTX_JIT,
  CTX_MEMO,
  CTX_N_SLOTS
} ctx_slot_id;
typedef struct ctx_slot {
  void *data;
  void (*destroy)(damo_ctx *ctx, void *data);
} ctx_slot;

typedef struct kernel_isa kernel_isa; /* kernel/isa.h */
/* The header of something that other contexts may hold too (lent.c). */
typedef struct ctx_lent {
  atomic_llong refs;
  void (*free)(struct ctx_lent *l); /* called in the owning context */
  struct ctx_lent *next;            /* the next entry of damo_ctx.returned */
} ctx_lent;

#define CTX_BUILD_SIZE 24
extern const char ctx_build_id[CTX_BUILD_SIZE];

struct damo_ctx {
  char build[CTX_BUILD_SIZE]; /* ctx_build_id; first in every build, since all else may lie elsewhere in another one */
  int64_t refs;               /* hosts' references plus one for every live object */
  damo_alloc_fn alloc;
  void *alloc_user;
  size_t bytes, peak, cap;
  bool limited; /* allocation may fail at any time: there is a cap, a host's allocator or a limit of the process */
  int64_t n_objects;
  int64_t census[OBJ_N_KINDS]; /* live objects by kind */
  int64_t fail_after;          /* number of allocations until one fails, for tests; -1: never */
  unsigned stress;             /* stress_switch bits of DAMO_STRESS; always 0 in release builds */
  bool sandbox;                /* set once, never cleared (ctx_gate) */
  bool frozen;                 /* other contexts read its objects: debug builds assert that nothing in it changes */
  ctx_error error;
  ctx_config config;
  int call_threads; /* of the Function that is being called; 0: those of config */
  /* The kernels for this CPU, and those whose results have the same bits on every machine; set by array_register, the
   * first layer that calls them. isa is that of isas which `reproducible` selects (ctx_set_reproducible). */
  const kernel_isa *isa, *isas[2];
  bool reproducible; /* of the call, or the compilation, under way: its results have the same bits on every machine */
  damo_warning_fn on_warning;
  void *warning_user;
  damo_print_fn on_print;
  void *print_user;
  /* Written by other threads: in a word of their own, since compilers read neighbouring flags by one load. */
  atomic_bool interrupted; /* damo_ctx_interrupt was called, and no call has seen it yet */
  atomic_bool due;         /* a look between thunks is due: after long work, or damo_ctx_interrupt */
  uint64_t n_effects;      /* runs of impure Ops of the host, which can't be run a second time */
  bool was_interrupted;    /* ctx_poll has seen it since the last call began that is in no other */
  bool watching;           /* an ordinary call of a Function is under way, and points look whether it must end */
  bool looking;            /* a point looks now: what it runs is not cut */
  damo_status stop;        /* what a point has found: the call computes nothing further, and fails with it */
  int64_t looked;          /* the time of the last look */
  /* Set by the binding: called by ctx_poll; its error ends the call under way. */
  damo_status (*on_poll)(struct damo_ctx *ctx, void *user);
  void *poll_user;
  struct pace *pace; /* of the call cut into slices that runs now; NULL: none, or its code runs outside of its stack */
  int32_t depth;     /* number of nested calls (ctx_enter) */
  int32_t stack;     /* bytes of C stack that these may use */
  damo_obj *dying, *dying_last;
  bool draining;
  uint64_t next_id; /* creation order of Variables and nodes */
  uint64_t walks;   /* number of walks over graphs so far */
  obj_destroy_fn destroy[OBJ_N_KINDS];
  obj_holder_fn holder[OBJ_N_KINDS];
  ctx_slot slots[CTX_N_SLOTS];
  void (*drop[CTX_N_SLOTS])(damo_ctx *ctx, void *data); /* see ctx_slot; NULL: the slot holds no references */
  atomic_llong borrowers;                               /* see lent.c, also for the next three */
  _Atomic(ctx_lent *) returned;                         /* objects of this context that other contexts gave back */
  bool host_gone, abandoned;
};

static inline void ctx_set_reproducible(damo_ctx *ctx, bool on) {
  ctx->reproducible = on;
  ctx->isa = ctx->isas[on];
}

/* Debug builds assert that the context may change. */
#define CTX_ASSERT_THAWED(ctx) damo_assert(!(ctx)->frozen)

/* Initialises l with one hold, that of its owning context. */
void lent_init(ctx_lent *l, void (*free_fn)(ctx_lent *l));
/* Adds a hold of the context `by`, which may be the owner. Called on by's thread; for by's first hold the owner must
 * not be in use on another thread. */
void lent_hold(damo_ctx *owner, ctx_lent *l, const damo_ctx *by);
void lent_release(damo_ctx *owner, ctx_lent *l, const damo_ctx *by);
/* Frees the objects that other contexts gave back to the owner. The caller runs on the owner's thread. */
void lent_collect(damo_ctx *owner);

/* Stress modes of debug builds, selected by the environment variable DAMO_STRESS, a list of these names. They expose
 * code that only works by chance: because an unreferenced object is not yet collected, because memory did not move or
 * was not overwritten, or because a loop over a test's small arrays is one block. */
typedef enum stress_switch {
  STRESS_COLLECT = 1, /* "collect": the binding runs a full Lua garbage collection in each call that makes an object */
  STRESS_MOVE = 2,    /* "move": growing memory always moves, and results of earlier calls are never reused */
  STRESS_BLOCK = 4,   /* "block": elementwise loops run in blocks of at most 3 elements */
  STRESS_SHARE = 8    /* "share": three threads are set, and work of any size is divided among them */
} stress_switch;
static inline bool ctx_stress(const damo_ctx *ctx, stress_switch s) {
#ifdef DAMO_DEBUG
  return (ctx->stress & (unsigned)s) != 0;
#else
  (void)ctx, (void)s;
  return false;
#endif
}

/* A context without the tables of the upper layers, which the api layer adds. alloc NULL: malloc. Debug builds read
 * fail_after from DAMO_FAIL_ALLOC and stress from DAMO_STRESS here, once. */
damo_ctx *ctx_new_bare(damo_alloc_fn alloc, void *user);
/* Registers the destructor (and holder rule) of a kind; each layer does so once for each of its kinds. */
void ctx_register_kind(damo_ctx *ctx, obj_kind kind, obj_destroy_fn destroy, obj_holder_fn holder);
/* The number of live objects by kind, "buffer 2, array 2"; "" if there are none. Writes at most n bytes; returns
 * dst. */
char *ctx_census(const damo_ctx *ctx, char *dst, size_t n);
/* Brackets calls that may nest, through a callback or a graph inside an Op: calls of Functions and callbacks,
 * compiling, differentiating. `stack` is roughly the C stack of one level, in bytes. A state error if all nested calls
 * together would use more than CTX_STACK, so that infinite recursion fails before a thread's stack of 128 KB is full.
 * Each ctx_enter that returned DAMO_OK is followed by a ctx_leave. */
damo_status ctx_enter(damo_ctx *ctx, int32_t stack);
static inline void ctx_leave(damo_ctx *ctx, int32_t stack) {
  damo_assert(ctx->depth > 0 && ctx->stack >= stack);
  ctx->depth--;
  ctx->stack -= stack;
}
#define CTX_STACK (80 * 1024)
enum { /* measured on x86-64, rounded up */
       STACK_CALL = 640,
       STACK_CALLBACK = 2048, /* includes Lua's own frames and those of the binding */
       STACK_COMPILE = 3072,
       STACK_GRAD = 1536,
       STACK_WARNING = 3584
};
void ctx_warn(damo_ctx *ctx, const char *kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Passes the text to the function of damo_ctx_set_print. */
damo_status ctx_print(damo_ctx *ctx, const char *text);

/* Whether a loop that takes long must end now: called by its thread at least every POLL_NS while it runs. A state error
 * after damo_ctx_interrupt; the error of on_poll. */
#define POLL_NS 50000
damo_status ctx_poll(damo_ctx *ctx);

/* Ordinary calls look between their pieces whether they must end: between thunks after long work (ctx_is_due), and inside
 * of long work at its points (ctx_point), but not more often than every LOOK_NS. A point can't fail: what it finds is
 * ctx->stop, with which the call fails after the thunk, and until then loops may leave out work (ctx_is_stopped) whose
 * results are values alone. */
#define LOOK_NS 1000000
typedef struct ctx_watch {
  bool watching;
  damo_status stop;
} ctx_watch;
static inline ctx_watch ctx_watch_begin(damo_ctx *ctx) {
  const ctx_watch before = {ctx->watching, ctx->stop};
  ctx->watching = ctx->pace == NULL && !ctx->looking;
  ctx->stop = DAMO_OK;
  return before;
}
/* s: the call's status; returns that with which it ends. */
static inline damo_status ctx_watch_end(damo_ctx *ctx, ctx_watch before, damo_status s) {
  if (s == DAMO_OK) s = ctx->stop;
  ctx->watching = before.watching;
  ctx->stop = before.stop;
  return s;
}
/* After work of more than some microseconds. */
static inline void ctx_set_due(damo_ctx *ctx) { atomic_store_explicit(&ctx->due, true, memory_order_relaxed); }
static inline bool ctx_is_due(const damo_ctx *ctx) { return atomic_load_explicit(&ctx->due, memory_order_relaxed); }
/* Between thunks. */
damo_status ctx_look(damo_ctx *ctx);

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

/* Calls in slices: a function that runs on a stack of its own, and goes back to the caller at a point of its code where
 * its time is up. Points lie between thunks, steps of loops, blocks and shares, at most POLL_NS apart where the work can
 * be cut. Where stacks can't be switched (fiber.h), a slice is the whole function. */
typedef struct pace pace;
typedef void (*pace_fn)(void *user);
pace *pace_new(damo_ctx *ctx); /* NULL: memory error */
void pace_free(pace *p);       /* p is not suspended; NULL is allowed */
/* Begins fn(user), or goes on where it was suspended, for about that many nanoseconds, at least to the next point;
 * negative: to its end. Whether it has ended. */
bool pace_run(pace *p, int64_t ns, pace_fn fn, void *user);
bool pace_is_suspended(const pace *p);
/* From now on ctx_poll fails in the function, so that it ends as soon as it can; pace_run goes on with it. */
void pace_stop(pace *p);
/* A point: may suspend the function. A point can't fail, so it is for code that touches no error. */
void pace_point(pace *p);
/* A point of work that a loop cuts into parts of b->n units, 1 … most: sets n so that a part takes some 10 µs. */
typedef struct pace_beat {
  int64_t since, n;
} pace_beat;
void pace_next(pace *p, pace_beat *b, int64_t most);
/* The code that runs is to be cut into slices; NULL: it is not. */
static inline pace *ctx_pace(const damo_ctx *ctx) { return ctx->pace; }
bool pace_is_stopped(const pace *p);
void ctx_point_watched(damo_ctx *ctx);
/* A point: a call in slices may be suspended here, an ordinary one looks whether it must end. */
static inline void ctx_point(damo_ctx *ctx) {
  if (ctx->pace != NULL)
    pace_point(ctx->pace);
  else if (ctx->watching)
    ctx_point_watched(ctx);
}
/* A point after every `each` units of a loop, which has done unit i, from 0; each: a power of two. */
static inline void ctx_point_each(damo_ctx *ctx, int64_t i, int64_t each) {
  if ((i & (each - 1)) == each - 1) ctx_point(ctx);
}
/* A point where the units done since the last one, *since and these, are at least `each`. */
static inline void ctx_point_after(damo_ctx *ctx, int64_t *since, int64_t units, int64_t each) {
  if ((*since += units) < each) return;
  *since = 0;
  ctx_point(ctx);
}
/* Whether what is computed now is in vain. */
static inline bool ctx_is_stopped(const damo_ctx *ctx) {
  return ctx->stop != DAMO_OK || (ctx->pace != NULL && pace_is_stopped(ctx->pace));
}
/* Calls fn(arg) on the stack of pace_run's caller, where no slice ends: for code of a host or a script. */
void ctx_outside(damo_ctx *ctx, pace_fn fn, void *arg);

/* The kinds of access that a sandbox forbids. */
typedef enum gate_kind {
  GATE_FILE,    /* opening a file by path, or writing a script's text to standard error */
  GATE_PROGRAM, /* starting a program */
  GATE_POINTER, /* converting an address to an Array, or an Array's address to a value */
  GATE_LIMIT    /* changing a limit set by the host: memory_cap, threads, … */
} gate_kind;
/* A state error "what: the sandbox forbids …" if the context is a sandbox. Every function with such access calls it at
 * the time of use, because a script may have kept a function from before. make/check-gates lists these functions. */
damo_status ctx_gate(damo_ctx *ctx, gate_kind gate, const char *what);

/* Nanoseconds of a monotonic clock, and since 1970. */
int64_t clock_ns(void);
int64_t clock_epoch_ns(void);

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Computes one share of a loop. worker: 0 is the calling thread, others are below pool_size; no two shares of one worker
 * run at once, so each may have memory of its own. Runs on any thread: it touches no context, no reference count, and
 * cannot fail. */
typedef void (*share_fn)(void *arg, int64_t share, int worker);
typedef struct thread_pool thread_pool;

/* The threads that the call under way may use, from 1. */
int ctx_threads(const damo_ctx *ctx);
/* The pool for work of about that many nanoseconds on one thread; NULL if it does not pay, or one thread is set. */
thread_pool *ctx_pool(damo_ctx *ctx, double ns);
/* The same for work that takes longer where it is divided: not for an ordinary call on one thread. */
thread_pool *ctx_pool_to_divide(damo_ctx *ctx, double ns);
/* The threads that take part in a run, the caller included; 1 of NULL. */
int pool_size(const thread_pool *p);
/* A point of work on one thread, of which the pool cuts calls: see ctx_point. */
void pool_point(thread_pool *p);
/* Whether the pool has no threads, and cuts work. */
bool pool_cuts(const thread_pool *p);
/* pool_point of a pool that cuts, after a part of b->n units of a loop: sets b->n to those of the next, 1 … most, so that a
 * part takes some 10 µs in a call in slices, and some 100 µs in another one. Whether the loop goes on; else results that
 * are values may be left out. */
bool pool_next(thread_pool *p, struct pace_beat *b, int64_t most);
/* Runs fn for each share 0 … n_shares - 1, each once, in any order; returns when all are done. With p NULL, or one share,
 * in order on this thread. The calling thread has a point after each of its shares; where that stops the call, the
 * shares that are left are not run, so their results must be values alone, which steer nothing. */
void pool_run(thread_pool *p, int64_t n_shares, share_fn fn, void *arg);
/* The same, and every share is run. */
void pool_run_all(thread_pool *p, int64_t n_shares, share_fn fn, void *arg);
/* How many shares to make of `units`, where a share of fewer than `least` does not pay: 1, or a few for each thread, so
 * that threads which the system interrupts hold up nobody. */
int64_t pool_shares(const thread_pool *p, int64_t units, int64_t least);
/* The first of `units` that belongs to share number `share` of n; of share n: the end. */
static inline int64_t pool_share_first(int64_t units, int64_t share, int64_t n) {
  return units / n * share + (share < units % n ? share : units % n);
}

/* ---- The process ------------------------------------------------------------------------------------------------- */

/* The one lock of the process: held for a few instructions, never while anything is allocated, freed or called back. */
void process_lock(void);
void process_unlock(void);
/* Random bytes of the system, at most 256. False: it gives none. */
bool process_random(void *at, size_t n);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Allocation. Returns NULL after setting the error DAMO_EMEMORY. Size 0 gives a unique pointer. mem_free and
 * mem_realloc are told the size that was allocated. */
void *mem_alloc(damo_ctx *ctx, size_t size);
void *mem_calloc(damo_ctx *ctx, size_t size);
void *mem_realloc(damo_ctx *ctx, void *ptr, size_t osize, size_t nsize);
void mem_free(damo_ctx *ctx, void *ptr, size_t size);
/* Charges memory that a foreign library allocates by itself to the context's count and cap. DAMO_EMEMORY past the cap.
 * Each charge is returned by mem_uncharge. */
damo_status mem_charge(damo_ctx *ctx, size_t size);
void mem_uncharge(damo_ctx *ctx, size_t size);
char *mem_strdup(damo_ctx *ctx, const char *s); /* free with mem_strfree */
/* A copy of text into *out, also for mem_strfree; NULL text leaves *out alone. */
damo_status mem_copy_text(damo_ctx *ctx, const char *text, char **out);
void mem_strfree(damo_ctx *ctx, char *s);
/* Checked arithmetic: false on overflow, with *out untouched. */
bool size_mul(size_t a, size_t b, size_t *out);
bool size_add(size_t a, size_t b, size_t *out);
bool i64_mul(int64_t a, int64_t b, int64_t *out);

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Sets the error object (status, message); returns status, so that `return ctx_fail(…)` reads well. */
damo_status ctx_fail(damo_ctx *ctx, damo_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);
damo_status ctx_vfail(damo_ctx *ctx, damo_status status, const char *fmt, va_list args);
/* Sets the memory error with a fixed text, without formatting. */
damo_status ctx_fail_memory(damo_ctx *ctx);
/* Appends a line of context ("while …") to the message of the pending error. */
void ctx_fail_add(damo_ctx *ctx, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Sets the op's name and the node (either may be NULL) of the pending error, unless they are set already. */
void ctx_fail_at(damo_ctx *ctx, const char *op, damo_apply *node);
/* Sets dtypes and shapes of the failing op's operands; those of a call replace those of the calls in it. */
void ctx_fail_operands(damo_ctx *ctx, const char *operands);
void ctx_clear_error(damo_ctx *ctx);
/* The word of list (NULL-terminated) that is closest to word, for "did you mean …?"; NULL if none is close. */
const char *suggest(const char *word, const char *const *list);
/* The word of list that `word` misspells: up to four letters must match apart from case, five to eight may have one
 * edit, longer words two (insertion, deletion, change, swap of neighbours). NULL if there is none. */
const char *suggest_misspelt(const char *word, const char *const *list);

/* ---- Arguments of damo.h ----------------------------------------------------------------------------------------- */

/* Argument checks of the public functions. A value error if something is NULL or a count negative, a type error for an
 * object of another kind or context; the message names the function and the argument. */
damo_status ctx_check_given(damo_ctx *ctx, const char *func, const char *arg, const void *p); /* not NULL */
damo_status ctx_check_obj(damo_ctx *ctx, const char *func, const char *arg, const void *obj, obj_kind kind);
/* A list of n entries, which may be NULL if n is 0. */
damo_status ctx_check_list(damo_ctx *ctx, const char *func, const char *arg, const void *list, int64_t n);
damo_status ctx_check_objs(damo_ctx *ctx, const char *func, const char *arg, const void *list, int64_t n,
                           obj_kind kind);
/* Copies a host's options, a struct of damo.h that begins with its size, or NULL, into `out` of `size` bytes; fields
 * that the host's struct does not have become 0. A value error if its size is impossible; not_implemented if a newer
 * struct sets a field that this library does not have. */
damo_status ctx_read_options(damo_ctx *ctx, const char *func, const void *given, void *out, size_t size);

/* ---- Rounding ---------------------------------------------------------------------------------------------------- */

/* Brackets every run of thunks: sets the rounding mode to nearest, which the kernels' error bounds assume, and restores
 * the mode of the host's thread afterwards. Flushing of subnormal results and operands to zero is left as the host has
 * it; with `strict` it is switched off and restored too. */
typedef struct rounding {
  bool other; /* the host's mode is not the default and must be restored */
  int mode;
  unsigned csr, mask; /* the control register of floating-point units, and those of its bits that are restored */
} rounding;
rounding rounding_enter(bool strict);
/* Whether it would change nothing. */
bool rounding_is_default(bool strict);
void rounding_restore(rounding r);
static inline void rounding_leave(rounding r) {
  if (r.other) rounding_restore(r);
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

typedef enum dtype_kind { KIND_BOOL, KIND_INT, KIND_UINT, KIND_FLOAT, KIND_COMPLEX } dtype_kind;

typedef struct dtype_info {
  const char *name;
  uint8_t size;
  char letter;
  dtype_kind kind;
} dtype_info;

extern const dtype_info dtype_table[DAMO_N_DTYPES];

#define dtype_size(dt) ((size_t)dtype_table[dt].size)
#define dtype_name(dt) (dtype_table[dt].name)
#define dtype_kind_of(dt) (dtype_table[dt].kind)
static inline bool dtype_is_integer(damo_dtype dt) { return dt >= DAMO_INT8 && dt <= DAMO_UINT64; } /* bool excluded */
static inline bool dtype_is_discrete(damo_dtype dt) { return dt <= DAMO_UINT64; }                   /* bool included */
/* A type error if the cast, requested by `who`, would drop an imaginary part. */
damo_status dtype_check_cast(damo_ctx *ctx, const char *who, damo_dtype from, damo_dtype to);
/* Whether the sum of cast values is the cast of their sum, up to rounding: true between float and complex dtypes.
 * Integers wrap, and bool addition is logical or. */
static inline bool dtype_cast_keeps_sums(damo_dtype from, damo_dtype to) {
  return from == to || (!dtype_is_discrete(from) && !dtype_is_discrete(to));
}
static inline bool dtype_is_float(damo_dtype dt) { return dt == DAMO_FLOAT32 || dt == DAMO_FLOAT64; }
static inline bool dtype_is_complex(damo_dtype dt) { return dt == DAMO_COMPLEX64 || dt == DAMO_COMPLEX128; }
static inline bool dtype_is_signed(damo_dtype dt) { return dt >= DAMO_INT8 && dt <= DAMO_INT64; }
/* The common dtype by NumPy's promotion rules. */
damo_dtype dtype_promote(damo_dtype a, damo_dtype b);
/* NumPy's safe casts: every value of `from` is a value of `to`; (u)int64 to float64 or complex128 counts as safe
 * too. */
bool dtype_can_cast_safely(damo_dtype from, damo_dtype to);
/* The dtype name to suggest for `word`: the one that it misspells, or that is another language's name for; NULL:
 * none. */
const char *dtype_suggest(const char *word);
/* The result dtype of float functions, as in NumPy: float32 for bool, int8, int16, uint8 and uint16, float64 for wider
 * integers; a float or complex dtype stays. */
damo_dtype dtype_to_float(damo_dtype dt);

/* ---- Containers -------------------------------------------------------------------------------------------------- */

/* A growing list of borrowed pointers. Initialise with {ctx} or ptrvec_init; clear frees the storage. */
typedef struct ptrvec {
  damo_ctx *ctx;
  void **at;
  int64_t n, cap;
} ptrvec;
static inline void ptrvec_init(ptrvec *v, damo_ctx *ctx) { *v = (ptrvec){.ctx = ctx}; }
damo_status ptrvec_push(ptrvec *v, const void *p);
damo_status ptrvec_reserve(ptrvec *v, int64_t n);
void ptrvec_clear(ptrvec *v);
/* Releases every pointer as an object, then clears. */
void ptrvec_release_all(ptrvec *v);

/* A hash map from pointers (or any uintptr_t but 0) to uintptr_t. It never shrinks. Iterate over the cells, skipping
 * key 0; a removal moves cells. */
typedef struct map_cell {
  uintptr_t key, value;
} map_cell;
typedef struct map {
  damo_ctx *ctx;
  map_cell *cells;
  size_t cap; /* a power of two, or 0 */
  size_t n;   /* entries */
} map;
static inline void map_init(map *m, damo_ctx *ctx) { *m = (map){.ctx = ctx}; }
damo_status map_put(map *m, const void *key, uintptr_t value);
bool map_get(const map *m, const void *key, uintptr_t *value); /* value may be NULL */
bool map_remove(map *m, const void *key);
void map_clear(map *m);
static inline void *map_get_ptr(const map *m, const void *key) {
  uintptr_t v = 0;
  return map_get(m, key, &v) ? (void *)v : NULL;
}

/* A growing text, zero-terminated once something has been added; `at` is NULL before. Appending after a failure
 * (failed) does nothing. */
typedef struct strbuf {
  damo_ctx *ctx;
  char *at;
  size_t n, cap;
  bool failed;
} strbuf;
static inline void strbuf_init(strbuf *b, damo_ctx *ctx) { *b = (strbuf){.ctx = ctx}; }
void strbuf_add(strbuf *b, const char *s);
void strbuf_addn(strbuf *b, const char *s, size_t n);
void strbuf_addf(strbuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_clear(strbuf *b);

/* A 64-bit mixing step for hashes. */
static inline uint64_t hash_mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdULL;
  return h ^ (h >> 33);
}
uint64_t hash_bytes(uint64_t h, const void *data, size_t n);

#endif
