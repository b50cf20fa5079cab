/* context: the part of damo.h that the others stand on: statuses, dtypes, objects, contexts and errors. */
#ifndef DAMO_PUBLIC_CONTEXT_H
#define DAMO_PUBLIC_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/* Code, kind as scripts see it, default text. */
#define DAMO_STATUS_MAP(X)                                                  \
  X(OK, "ok", "no error")                                                   \
  X(ETYPE, "type", "wrong type")                                            \
  X(ESHAPE, "shape", "shapes disagree")                                     \
  X(EVALUE, "value", "value not allowed")                                   \
  X(EINDEX, "index", "index out of range")                                  \
  X(EMISSING_INPUT, "missing_input", "an input is missing")                 \
  X(EUNUSED_INPUT, "unused_input", "an input is not used")                  \
  X(ENULL_GRADIENT, "null_gradient", "the gradient is undefined")           \
  X(EDISCONNECTED_INPUT, "disconnected_input", "an input is not connected") \
  X(EMISSING_TEST_VALUE, "missing_test_value", "a test value is missing")   \
  X(ENOT_IMPLEMENTED, "not_implemented", "not implemented")                 \
  X(EINCONSISTENCY, "inconsistency", "the graph is inconsistent")           \
  X(ENUMERIC, "numeric", "numerical failure")                               \
  X(EMEMORY, "memory", "out of memory")                                     \
  X(EIO, "io", "input or output failed")                                    \
  X(ESTATE, "state", "the object is not in a usable state")                 \
  X(ECALLBACK, "callback", "a callback failed")

typedef enum damo_status {
#define X(code, kind, text) DAMO_##code,
  DAMO_STATUS_MAP(X)
#undef X
} damo_status;

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

/* Code, name, C type, bytes, letter in the names of Variable makers (dvector). */
#define DAMO_DTYPE_MAP(X)                     \
  X(BOOL, "bool", uint8_t, 1, '?')            \
  X(INT8, "int8", int8_t, 1, 'b')             \
  X(INT16, "int16", int16_t, 2, 'w')          \
  X(INT32, "int32", int32_t, 4, 'i')          \
  X(INT64, "int64", int64_t, 8, 'l')          \
  X(UINT8, "uint8", uint8_t, 1, 'B')          \
  X(UINT16, "uint16", uint16_t, 2, 'W')       \
  X(UINT32, "uint32", uint32_t, 4, 'I')       \
  X(UINT64, "uint64", uint64_t, 8, 'L')       \
  X(FLOAT32, "float32", float, 4, 'f')        \
  X(FLOAT64, "float64", double, 8, 'd')       \
  X(COMPLEX64, "complex64", damo_c64, 8, 'c') \
  X(COMPLEX128, "complex128", damo_c128, 16, 'z')

typedef struct damo_c64 {
  float re, im;
} damo_c64;
typedef struct damo_c128 {
  double re, im;
} damo_c128;

typedef enum damo_dtype {
#define X(code, name, ctype, size, letter) DAMO_##code,
  DAMO_DTYPE_MAP(X)
#undef X
      DAMO_N_DTYPES
} damo_dtype;

/* The name of a dtype ("float64", …), and the bytes of an element; "unknown" and 0 if it is no dtype. */
DAMO_API const char *damo_dtype_name(damo_dtype dtype);
DAMO_API size_t damo_dtype_size(damo_dtype dtype);
/* Sets *out to the dtype of that name; false if there is none. */
DAMO_API bool damo_dtype_from_name(const char *name, damo_dtype *out);

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

typedef struct damo_ctx damo_ctx;       /* owns the allocator, configuration, error and registries */
typedef struct damo_obj damo_obj;       /* the common header of all reference-counted objects */
typedef struct damo_array damo_array;   /* strided n-d array */
typedef struct damo_sparse damo_sparse; /* sparse matrix, CSR or CSC */
typedef struct damo_type
    damo_type; /* TensorType, SparseTensorType, RandomType, NullType, DisconnectedType, GenericType */
typedef struct damo_var damo_var;           /* Variable, Constant or shared Variable */
typedef struct damo_apply damo_apply;       /* an Op applied to Variables */
typedef struct damo_op damo_op;             /* an Op: a table of functions and properties */
typedef struct damo_fgraph damo_fgraph;     /* FunctionGraph */
typedef struct damo_function damo_function; /* a compiled graph */
typedef struct damo_thunk damo_thunk;       /* a node that runs: the argument of an Op's perform */

/* Adds a reference. Returns its argument, which may be NULL. */
DAMO_API void *damo_retain(const void *obj);
/* Drops a reference (NULL is allowed). An object without references is freed, with all that it alone holds; this does
 * not recurse, however deep the graph. */
DAMO_API void damo_release(const void *obj);
/* The context that an object belongs to. */
DAMO_API damo_ctx *damo_obj_ctx(const void *obj);

/* ---- Context ----------------------------------------------------------------------------------------------------- */

/* An allocator with the protocol of Lua's: nsize 0 frees ptr, a block of osize bytes; ptr NULL allocates; otherwise the
 * block is resized. Returns NULL if out of memory. */
typedef void *(*damo_alloc_fn)(void *user, void *ptr, size_t osize, size_t nsize);
/* Receives a warning. kind is one of the error kinds; the texts are valid during the call. */
typedef void (*damo_warning_fn)(void *user, const char *kind, const char *message);
/* Receives the text of an Op Print when it runs, without a line break at its end; the text is valid during the call.
 * Anything but DAMO_OK ends the computation with that status. */
typedef damo_status (*damo_print_fn)(void *user, const char *text);

/* A new context with every op family registered, with one reference. alloc NULL: malloc. NULL if out of memory. */
DAMO_API damo_ctx *damo_ctx_new(damo_alloc_fn alloc, void *user);
/* Drops a reference on the context (NULL is allowed). It is freed when the last reference and the last of its objects
 * are gone. */
DAMO_API void damo_ctx_release(damo_ctx *ctx);
/* Adds a reference on the context; returns its argument. */
DAMO_API damo_ctx *damo_ctx_retain(damo_ctx *ctx);
/* Memory of a context: bytes in use, the largest number ever in use, the cap (0: none), and the number of live
 * objects. */
typedef struct damo_memory_info {
  size_t bytes, peak, cap;
  int64_t objects;
} damo_memory_info;
DAMO_API damo_memory_info damo_ctx_memory(const damo_ctx *ctx);
/* Sets the cap: an allocation that would exceed it fails with DAMO_EMEMORY. 0: no cap. */
DAMO_API void damo_ctx_set_memory_cap(damo_ctx *ctx, size_t bytes);
/* Makes the context a sandbox for scripts, which can't be undone: from then on no function of damo opens a file, starts
 * a program, converts between arrays and native pointers, or changes a limit such as the memory cap; each attempt is a
 * state error. A script does the same by damo.config.sandbox = true. damo_ctx_set_memory_cap still works for the
 * host. */
DAMO_API void damo_ctx_set_sandbox(damo_ctx *ctx);
/* Whether the context is a sandbox. */
DAMO_API bool damo_ctx_is_sandbox(const damo_ctx *ctx);
/* Sends later warnings to fn(user, …); fn NULL discards them. */
DAMO_API void damo_ctx_set_warning(damo_ctx *ctx, damo_warning_fn fn, void *user);
/* Ends the call of a Function that runs in the context, with a state error and nothing committed; if none runs, the next
 * one. May be called on any thread and in a signal handler, as long as the context lives. */
DAMO_API void damo_ctx_interrupt(damo_ctx *ctx);
/* Sends later texts of Ops Print to fn(user, …); fn NULL, as at first, discards them. */
DAMO_API void damo_ctx_set_print(damo_ctx *ctx, damo_print_fn fn, void *user);

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* The last error of the context. Texts and node are borrowed, valid until the next failing call. */
DAMO_API damo_status damo_error_status(const damo_ctx *ctx);
DAMO_API const char *damo_error_kind(const damo_ctx *ctx);    /* "shape", …; "ok" if there is none */
DAMO_API const char *damo_error_message(const damo_ctx *ctx); /* the message, without kind and trace */
DAMO_API const char *damo_error_op(const damo_ctx *ctx);      /* name of the op, or NULL */
/* dtypes and shapes of the op's operands, as "float64 (2, 3), csr float64 (3, 4)"; NULL where no op failed */
DAMO_API const char *damo_error_operands(const damo_ctx *ctx);
DAMO_API damo_apply *damo_error_get_node(const damo_ctx *ctx); /* the node that failed, or NULL */
/* The kind of a status: "shape" for DAMO_ESHAPE. */
DAMO_API const char *damo_status_kind(damo_status status);
/* Sets the context's error; for use in callbacks: `return damo_fail(ctx, DAMO_ESHAPE, "…")`. Returns status. message is
 * copied; NULL: the status's default text. */
DAMO_API damo_status damo_fail(damo_ctx *ctx, damo_status status, const char *message);

#ifdef __cplusplus
}
#endif

#endif
