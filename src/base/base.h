/* base: what every layer stands on.
 *
 * In: an allocator from the host. Out: a context that counts and caps memory, reference-counted objects, the error
 * object, the dtype table, and three containers (ptrvec, map, strbuf). Always holds: every allocation goes through
 * mem_*; an object's memory is freed only by damo_release, which never recurses (a dying object is queued, and the
 * outermost release drains the queue); a failing function has set the context's error exactly once.
 */
#ifndef DAMO_BASE_H
#define DAMO_BASE_H

#include <stdarg.h>
#include <stdatomic.h>

#include "../damo.h"

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/* Returns the failing status of expr from the current function: only where nothing is owned. */
#define DAMO_TRY(expr)                              \
  do {                                              \
    damo_status try_status_ = (expr);               \
    if (try_status_ != DAMO_OK) return try_status_; \
  } while (0)

/* For our own bugs, in debug builds; a wrong value from a user is a status. */
#ifdef DAMO_DEBUG
#include <assert.h>
#define damo_assert(c) assert(c)
#else
#define damo_assert(c) ((void)0)
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
  OBJ_N_KINDS
} obj_kind;

struct damo_obj {
  int64_t refs;
  damo_ctx *ctx;
  damo_obj *next; /* the queue of the dying */
  uint8_t kind;   /* obj_kind */
  uint8_t flags;  /* free for the kind's own use */
};

/* Frees what obj holds (releasing children with damo_release) and its memory (mem_free). Never fails. */
typedef void (*obj_destroy_fn)(damo_obj *obj);
/* What a reference on obj really counts on: an output Variable's references are its node's. NULL: obj itself. */
typedef damo_obj *(*obj_holder_fn)(damo_obj *obj);

/* Allocates size zeroed bytes (size >= sizeof(damo_obj)) with the header set and one reference. */
void *obj_new(damo_ctx *ctx, obj_kind kind, size_t size);
/* Frees the memory of an object of that size: the last act of a destructor. */
void obj_free(damo_obj *obj, size_t size);

/* ---- Context ----------------------------------------------------------------------------------------------------- */

typedef struct ctx_config {
  damo_dtype floatX; /* float64 or float32 */
  int threads;
} ctx_config;

#define ERROR_MESSAGE_MAX 2048

typedef struct ctx_error {
  damo_status status;
  char message[ERROR_MESSAGE_MAX];
  char op[128];     /* "" when unknown */
  damo_apply *node; /* owned, or NULL */
} ctx_error;

/* A layer's own table that hangs from the context (interned types, interned ops, op functions, default generator…).
 * destroy is called once, when the context dies. An object that a slot holds a reference on would keep the context
 * alive for ever: such a slot sets ctx->drop[id], which releases these objects and leaves the slot able to work on. It
 * is called when the host's last reference on the context is gone, and after each later drain. A slot of weak entries
 * needs none. */
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
  CTX_N_SLOTS
} ctx_slot_id;
typedef struct ctx_slot {
  void *data;
  void (*destroy)(damo_ctx *ctx, void *data);
} ctx_slot;

typedef struct kernel_isa kernel_isa; /* kernel/isa.h */
/* What other contexts may hold too: lent.c. */
typedef struct ctx_lent {
  atomic_llong refs;
  void (*free)(struct ctx_lent *l); /* by the context that it is of */
  struct ctx_lent *next;            /* of those that came back */
} ctx_lent;

struct damo_ctx {
  int64_t refs; /* hosts' references plus one for every live object */
  damo_alloc_fn alloc;
  void *alloc_user;
  size_t bytes, peak, cap;
  bool limited; /* memory may run out: there is a cap, a host's allocator or a limit of the process */
  int64_t n_objects;
  int64_t census[OBJ_N_KINDS]; /* live objects by kind */
  int64_t fail_after;          /* allocations until one fails; -1 never. Tests set it */
  unsigned stress;             /* stress_switch bits of DAMO_STRESS; 0 but in debug builds */
  bool sandbox;                /* a latch: set once, never cleared (ctx_gate) */
  ctx_error error;
  ctx_config config;
  const kernel_isa *isa; /* the kernels for this CPU; set by array_register, the first layer that calls them */
  damo_warning_fn on_warning;
  void *warning_user;
  int32_t depth; /* calls under way that may come to be inside each other: ctx_enter */
  int32_t stack; /* and what they may take of the C stack, in bytes */
  damo_obj *dying, *dying_last;
  bool draining;
  uint64_t next_id; /* creation order of Variables and nodes */
  obj_destroy_fn destroy[OBJ_N_KINDS];
  obj_holder_fn holder[OBJ_N_KINDS];
  ctx_slot slots[CTX_N_SLOTS];
  void (*drop[CTX_N_SLOTS])(damo_ctx *ctx, void *data); /* see ctx_slot; NULL: the slot holds no references */
  atomic_llong borrowers;                               /* see lent.c, as the three below */
  _Atomic(ctx_lent *) returned;                         /* nobody holds them any more */
  bool host_gone, abandoned;
};

/* One hold, that of its owner (the context that it is of). */
void lent_init(ctx_lent *l, void (*free_fn)(ctx_lent *l));
/* A further hold, of the owner's or of another context's; by that context's thread, while the owner's does not use it,
 * where it is the first. */
void lent_hold(damo_ctx *owner, ctx_lent *l, const damo_ctx *by);
void lent_release(damo_ctx *owner, ctx_lent *l, const damo_ctx *by);
/* Frees what has come back: by the owner's thread. */
void lent_collect(damo_ctx *owner);

/* What DAMO_STRESS, a list of these names, asks of a context in debug builds, to show code that counts on luck: an object
 * that nobody holds but that was not collected yet, memory that grew or was written again where it lay, a loop that is
 * one block where the arrays of a test are small. */
typedef enum stress_switch {
  STRESS_COLLECT = 1, /* "collect": the binding collects Lua's garbage, all of it, in each call that makes an object */
  STRESS_MOVE = 2,    /* "move": memory that grows moves, and no value is written over that another call left */
  STRESS_BLOCK = 4    /* "block": elementwise loops run in blocks of at most 3 elements */
} stress_switch;
static inline bool ctx_stress(const damo_ctx *ctx, stress_switch s) {
#ifdef DAMO_DEBUG
  return (ctx->stress & (unsigned)s) != 0;
#else
  (void)ctx, (void)s;
  return false;
#endif
}

/* A bare context: malloc when alloc is NULL. Debug builds read fail_after from DAMO_FAIL_ALLOC and stress from
 * DAMO_STRESS, once, here. The api layer adds the tables of the upper layers. */
damo_ctx *ctx_new_bare(damo_alloc_fn alloc, void *user);
/* Registers the destructor (and holder rule) of a kind; each layer does so once for each of its kinds. */
void ctx_register_kind(damo_ctx *ctx, obj_kind kind, obj_destroy_fn destroy, obj_holder_fn holder);
/* The live objects by kind, "buffer 2, array 2"; "" when there are none. Writes at most n bytes; returns dst. */
char *ctx_census(const damo_ctx *ctx, char *dst, size_t n);
/* Around what may lead to itself again by way of a callback or a graph inside an Op: calls of Functions and callbacks,
 * compiling, differentiating. `stack` is about what one round takes of the C stack, in bytes. A state error where all
 * that is under way would take more than CTX_STACK, so that recursion without an end fails before a thread's stack of
 * 128 KB is full. Each enter that gave DAMO_OK is followed by a leave. */
damo_status ctx_enter(damo_ctx *ctx, int32_t stack);
static inline void ctx_leave(damo_ctx *ctx, int32_t stack) {
  ctx->depth--;
  ctx->stack -= stack;
}
#define CTX_STACK (80 * 1024)
enum { /* measured on x86-64, rounded up */
       STACK_CALL = 640,
       STACK_CALLBACK = 2048, /* with Lua's own frames, and the binding's of what it calls */
       STACK_COMPILE = 3072,
       STACK_GRAD = 1536,
       STACK_WARNING = 3584
};
void ctx_warn(damo_ctx *ctx, const char *kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* What a sandbox forbids. */
typedef enum gate_kind {
  GATE_FILE,    /* a file is opened by a path, or a text of a script's goes to standard error */
  GATE_PROGRAM, /* a program is started */
  GATE_POINTER, /* an address becomes an Array, or an Array's address a value */
  GATE_LIMIT    /* what a host has bounded: memory_cap, threads and their like */
} gate_kind;
/* DAMO_OK, or a state error "what: the sandbox forbids …" once the context is a sandbox. Every door to the outside asks
 * it at the time of use: a script may have kept a function from before. make/check-gates lists the doors. */
damo_status ctx_gate(damo_ctx *ctx, gate_kind gate, const char *what);

/* Nanoseconds of a clock that never goes back; and since 1970. */
int64_t clock_ns(void);
int64_t clock_epoch_ns(void);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* NULL after setting DAMO_EMEMORY. Size 0 gives a unique pointer. The size is passed back on free. */
void *mem_alloc(damo_ctx *ctx, size_t size);
void *mem_calloc(damo_ctx *ctx, size_t size);
void *mem_realloc(damo_ctx *ctx, void *ptr, size_t osize, size_t nsize);
void mem_free(damo_ctx *ctx, void *ptr, size_t size);
/* Memory that a foreign library takes by itself: counted and capped as if it came from here, never touched.
 * DAMO_EMEMORY past the cap. Each charge is given back with mem_uncharge. */
damo_status mem_charge(damo_ctx *ctx, size_t size);
void mem_uncharge(damo_ctx *ctx, size_t size);
char *mem_strdup(damo_ctx *ctx, const char *s); /* free with mem_strfree */
void mem_strfree(damo_ctx *ctx, char *s);
/* false on overflow; *out untouched then. */
bool size_mul(size_t a, size_t b, size_t *out);
bool size_add(size_t a, size_t b, size_t *out);
bool i64_mul(int64_t a, int64_t b, int64_t *out);

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Sets the error object (status, message); returns status, so that `return ctx_fail(…)` reads well. */
damo_status ctx_fail(damo_ctx *ctx, damo_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);
damo_status ctx_vfail(damo_ctx *ctx, damo_status status, const char *fmt, va_list args);
/* The preallocated error: formats nothing, allocates nothing. */
damo_status ctx_fail_memory(damo_ctx *ctx);
/* Adds a line of context to the pending error ("while …"); the status stays. */
void ctx_fail_add(damo_ctx *ctx, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Names the op and the node (either may be NULL) of the pending error, unless already named. */
void ctx_fail_at(damo_ctx *ctx, const char *op, damo_apply *node);
void ctx_clear_error(damo_ctx *ctx);
/* The word of list (NULL-terminated) closest to word, for "did you mean …?"; NULL when none is near. */
const char *suggest(const char *word, const char *const *list);
/* The word of list of which `word` is a misspelling: at most one letter is wrong where it has five to eight, two where it
 * has more, and none but in case where it has four or fewer; NULL when there is none. */
const char *suggest_misspelt(const char *word, const char *const *list);

/* ---- Arguments of damo.h ----------------------------------------------------------------------------------------- */

/* A value error where something is missing or a count is negative, a type error where an object is of another kind or
 * context; the message names the function and the argument. */
damo_status ctx_check_given(damo_ctx *ctx, const char *func, const char *arg, const void *p); /* not NULL */
damo_status ctx_check_obj(damo_ctx *ctx, const char *func, const char *arg, const void *obj, obj_kind kind);
/* A list of n things, which may be NULL when n is 0. */
damo_status ctx_check_list(damo_ctx *ctx, const char *func, const char *arg, const void *list, int64_t n);
damo_status ctx_check_objs(damo_ctx *ctx, const char *func, const char *arg, const void *list, int64_t n,
                           obj_kind kind);
/* The options that a host gives: a struct of damo.h that begins with its size, or NULL, into `out` of `size` bytes, where
 * what the host's lacks is 0. A value error where its size can be none, not_implemented where a newer one asks for more
 * than this library knows. */
damo_status ctx_read_options(damo_ctx *ctx, const char *func, const void *given, void *out, size_t size);

/* ---- Rounding ---------------------------------------------------------------------------------------------------- */

/* Around whatever runs thunks: numbers are rounded to nearest there, whatever mode the host's thread is in; the kernels'
 * error bounds rest on it. Whether subnormal numbers are flushed to zero is left to the host. */
typedef struct rounding {
  bool other; /* the host's mode is not the default: it is put back */
  int mode;
  unsigned csr;
} rounding;
rounding rounding_enter(void);
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
/* A type error where the cast that `who` is asked for would drop an imaginary part. */
damo_status dtype_check_cast(damo_ctx *ctx, const char *who, damo_dtype from, damo_dtype to);
/* Sums stay what they are when their terms are cast: between float dtypes, but for rounding. Integers wrap, and bool
 * does not count. */
static inline bool dtype_cast_keeps_sums(damo_dtype from, damo_dtype to) {
  return from == to || (!dtype_is_discrete(from) && !dtype_is_discrete(to));
}
static inline bool dtype_is_float(damo_dtype dt) { return dt == DAMO_FLOAT32 || dt == DAMO_FLOAT64; }
static inline bool dtype_is_complex(damo_dtype dt) { return dt == DAMO_COMPLEX64 || dt == DAMO_COMPLEX128; }
static inline bool dtype_is_signed(damo_dtype dt) { return dt >= DAMO_INT8 && dt <= DAMO_INT64; }
/* The common dtype, as NumPy promotes. */
damo_dtype dtype_promote(damo_dtype a, damo_dtype b);
/* NumPy's safe casts: every value of from is a value of to, but for (u)int64 to float64 or complex128, which count
 * too. */
bool dtype_can_cast_safely(damo_dtype from, damo_dtype to);
/* The dtype's name that somebody may have meant who wrote `word`: a misspelling, or what other languages call it; NULL:
 * none. */
const char *dtype_suggest(const char *word);
/* The dtype of float functions: bool, int8, int16, uint8 (uint16: float32 too, as NumPy) give float32, wider integers
 * float64; others themselves. */
damo_dtype dtype_to_float(damo_dtype dt);

/* ---- Containers -------------------------------------------------------------------------------------------------- */

/* A growing list of borrowed pointers. {ctx} or ptrvec_init, then push; clear frees the storage. */
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

/* Pointer (or any uintptr_t but 0) to uintptr_t; open addressing; never shrinks. Iterate over cells with key != 0. */
typedef struct map_cell {
  uintptr_t key, value;
} map_cell;
typedef struct map {
  damo_ctx *ctx;
  map_cell *cells;
  size_t cap;     /* a power of two, or 0 */
  size_t n, used; /* live entries; live entries and tombstones */
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
#define MAP_TOMBSTONE ((uintptr_t)1) /* a removed cell's key: skip it when iterating */

/* A growing text. Appends after a failure do nothing; take returns NULL then. */
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
