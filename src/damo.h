/* damo.h: the public C API of damo, a numerical engine of graphs.
 *
 * Rules that hold for every function here
 *
 * Names.     `damo_<noun>_<verb>`. `new` and `make_` return an owned reference, `get` a borrowed one, `take` steals its
 *            argument, `is_`/`has_` ask a question. Everything not declared here is private.
 * Errors.    A function returns a damo_status, or a pointer that is NULL on failure. The error object (kind, message,
 *            node, trace) is left in the context until the next failing call: damo_error_*. Results that go through an
 *            `out` argument are untouched on failure. Nothing here prints, exits, aborts or raises.
 * Arguments. An object of another kind or context is a type error; NULL where something must be, and a negative count,
 *            are value errors. A question about NULL is answered as of nothing: NULL, 0, false, DAMO_N_DTYPES; one about
 *            an object trusts the C type of its pointer.
 * Ownership. Objects carry a reference count. Arguments are borrowed unless the name says `take`; what is returned is
 *            owned unless the name says `get`. damo_release takes NULL.
 * Options.   A struct of options begins with its size, sizeof the struct, so that a program built with an older damo.h
 *            goes on working: fields that it did not know count as 0. A field that is 0, and NULL for the whole struct,
 *            is the default that its comment gives.
 * Threads.   One thread at a time uses a context and what belongs to it. Two contexts share nothing.
 * Numbers.   Axes, positions and indices are 0-based in C (the Lua side is 1-based, and so are the values that an index
 *            operand of an op holds). Strides are in bytes.
 */
#ifndef DAMO_H
#define DAMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DAMO_API __attribute__((visibility("default")))
#else
#define DAMO_API
#endif

#define DAMO_VERSION "0.1.0"
#define DAMO_MAX_NDIM 32

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/* code, kind as scripts see it, default text */
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

/* code, name, C type, bytes, letter (of the Variable makers) */
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

/* "float64", …; the bytes of an element. "unknown" and 0 for what is no dtype. */
DAMO_API const char *damo_dtype_name(damo_dtype dtype);
DAMO_API size_t damo_dtype_size(damo_dtype dtype);
/* The dtype of that name; false when there is none. */
DAMO_API bool damo_dtype_from_name(const char *name, damo_dtype *out);

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

typedef struct damo_ctx damo_ctx;       /* owns everything: allocator, config, error, registries */
typedef struct damo_obj damo_obj;       /* what all reference-counted objects begin with */
typedef struct damo_array damo_array;   /* strided n-d array */
typedef struct damo_sparse damo_sparse; /* sparse matrix, csr or csc */
typedef struct damo_type
    damo_type; /* TensorType, SparseTensorType, RandomType, NullType, DisconnectedType, GenericType */
typedef struct damo_var damo_var;           /* Variable, Constant or shared Variable */
typedef struct damo_apply damo_apply;       /* an Op applied to Variables */
typedef struct damo_op damo_op;             /* an Op: a table of functions and properties */
typedef struct damo_fgraph damo_fgraph;     /* FunctionGraph */
typedef struct damo_function damo_function; /* a compiled graph */
typedef struct damo_thunk damo_thunk;       /* a node made runnable: what an Op's perform is given */

/* Adds a reference; returns its argument (NULL is allowed). */
DAMO_API void *damo_retain(const void *obj);
/* Drops a reference; frees without recursion what nobody holds any more. */
DAMO_API void damo_release(const void *obj);
/* The context that an object belongs to. */
DAMO_API damo_ctx *damo_obj_ctx(const void *obj);

/* ---- Context ----------------------------------------------------------------------------------------------------- */

/* Allocator: as Lua's. nsize 0 frees ptr (of osize bytes); ptr NULL allocates; NULL means out of memory. */
typedef void *(*damo_alloc_fn)(void *user, void *ptr, size_t osize, size_t nsize);
/* Receives warnings; kind is an error kind. */
typedef void (*damo_warning_fn)(void *user, const char *kind, const char *message);

/* A new context with every op family; alloc NULL is malloc. NULL when out of memory. */
DAMO_API damo_ctx *damo_ctx_new(damo_alloc_fn alloc, void *user);
/* Drops a reference on the context: it lives until its last object is gone. */
DAMO_API void damo_ctx_release(damo_ctx *ctx);
/* Adds a reference; returns its argument. */
DAMO_API damo_ctx *damo_ctx_retain(damo_ctx *ctx);
/* Bytes in use, the most ever in use, the cap (0: none), live objects. */
typedef struct damo_memory_info {
  size_t bytes, peak, cap;
  int64_t objects;
} damo_memory_info;
DAMO_API damo_memory_info damo_ctx_memory(const damo_ctx *ctx);
/* Past the cap an allocation fails with DAMO_EMEMORY; 0 means no cap. */
DAMO_API void damo_ctx_set_memory_cap(damo_ctx *ctx, size_t bytes);
/* Makes the context a sandbox for scripts, for good: from then on nothing that goes through damo opens a file, starts a
 * program, makes or follows a native pointer, or changes a limit such as the memory cap; each is a state error. A script
 * does the same by damo.config.sandbox = true. The host's own calls (damo_ctx_set_memory_cap) work on. */
DAMO_API void damo_ctx_set_sandbox(damo_ctx *ctx);
/* Whether it is one. */
DAMO_API bool damo_ctx_is_sandbox(const damo_ctx *ctx);
/* Warnings go to fn(user, …) from here on; NULL drops them. */
DAMO_API void damo_ctx_set_warning(damo_ctx *ctx, damo_warning_fn fn, void *user);

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* The last error. Texts are borrowed until the next failing call. */
DAMO_API damo_status damo_error_status(const damo_ctx *ctx);
DAMO_API const char *damo_error_kind(const damo_ctx *ctx);     /* "shape", … */
DAMO_API const char *damo_error_message(const damo_ctx *ctx);  /* without kind and trace */
DAMO_API const char *damo_error_op(const damo_ctx *ctx);       /* name of the op, or NULL */
DAMO_API damo_apply *damo_error_get_node(const damo_ctx *ctx); /* the node that failed, or NULL */
/* The kind of a status: "shape" of DAMO_ESHAPE. */
DAMO_API const char *damo_status_kind(damo_status status);
/* Sets the context's error, for callbacks: `return damo_fail(ctx, DAMO_ESHAPE, "…")`. Returns status. */
DAMO_API damo_status damo_fail(damo_ctx *ctx, damo_status status, const char *message);

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

/* A new C-contiguous array of zeros. */
DAMO_API damo_array *damo_array_new(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* A new array with a copy of C-contiguous data. */
DAMO_API damo_array *damo_array_from(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, const void *data);
/* A new array of no dimensions that holds value, converted to dtype. */
DAMO_API damo_array *damo_array_scalar(damo_ctx *ctx, damo_dtype dtype, double value);

/* Tells the host that damo is done with what user stands for. */
typedef void (*damo_release_fn)(void *user);
/* An array over the host's memory, not copied. data is the first element; strides are in bytes, may be negative, and
 * NULL stands for C order. The memory stays where it is until release(user) is called, once: when the last array over
 * it is gone (views in other arrays and held results count), or before this returns NULL. release may be NULL. What the
 * host writes meanwhile the next call reads. damo writes there only where writeable is true and the host asks for it:
 * an `into` target, a mutable input. Value errors: an address or stride that is not aligned for the dtype, and elements
 * that overlap (a stride of 0, say) in a writeable array. */
DAMO_API damo_array *damo_array_wrap(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape,
                                     const int64_t *strides, void *data, bool writeable, damo_release_fn release,
                                     void *user);

/* Dimensions; their lengths and strides in bytes have as many entries, borrowed as long as the array lives. */
DAMO_API int damo_array_ndim(const damo_array *a);
DAMO_API const int64_t *damo_array_shape(const damo_array *a);
DAMO_API const int64_t *damo_array_strides(const damo_array *a);
DAMO_API damo_dtype damo_array_dtype(const damo_array *a);
/* The number of elements. */
DAMO_API int64_t damo_array_size(const damo_array *a);
/* The first element. Arrays that damo made begin at a multiple of 64 bytes and, but for views, are C-contiguous. */
DAMO_API void *damo_array_data(const damo_array *a);
/* Whether the elements may be written through this array. */
DAMO_API bool damo_array_is_writeable(const damo_array *a);
/* The entry of a 0-d or one-element array as a double. */
DAMO_API damo_status damo_array_item(const damo_array *a, double *out);

/* ---- Sparse matrices --------------------------------------------------------------------------------------------- */

/* How a matrix is compressed: row by row, or column by column. */
typedef enum damo_format { DAMO_CSR, DAMO_CSC } damo_format;

/* A matrix of rows × cols with nnz stored entries, all arrays copied and checked. indptr has rows + 1 (csr) or cols + 1
 * (csc) entries, indices and data have nnz; numbers in them are 0-based. Lines may be unsorted; duplicates stand for
 * their sum. Indices are kept as int32 where the dimensions and nnz allow. */
DAMO_API damo_sparse *damo_sparse_new(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows, int64_t cols,
                                      int64_t nnz, const int64_t *indptr, const int64_t *indices, const void *data);
/* From n coordinates, 0-based; duplicates are summed. */
DAMO_API damo_sparse *damo_sparse_from_coo(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows,
                                           int64_t cols, int64_t n, const int64_t *row, const int64_t *col,
                                           const void *data);
/* From three vectors, which may lie over the host's memory (damo_array_wrap): data of nnz entries, whose memory the
 * matrix shares where it is contiguous; indices and indptr as in damo_sparse_new, of any integer dtype, checked and
 * copied. */
DAMO_API damo_sparse *damo_sparse_from_parts(damo_ctx *ctx, damo_format format, int64_t rows, int64_t cols,
                                             const damo_array *data, const damo_array *indices,
                                             const damo_array *indptr);
/* A matrix whose entries stand where a's do, with these values: a vector of a's nnz entries, of any dtype, shared where
 * it is contiguous. Both matrices have one pattern in memory. */
DAMO_API damo_sparse *damo_sparse_with_data(const damo_sparse *a, const damo_array *data);
/* The entries of a matrix that are not 0. */
DAMO_API damo_sparse *damo_sparse_from_array(const damo_array *a, damo_format format);
/* What it is made of. */
DAMO_API damo_format damo_sparse_format(const damo_sparse *a);
DAMO_API damo_dtype damo_sparse_dtype(const damo_sparse *a);
/* Rows and columns. */
DAMO_API const int64_t *damo_sparse_shape(const damo_sparse *a);
/* Stored entries: explicit zeros and duplicates count. */
DAMO_API int64_t damo_sparse_nnz(const damo_sparse *a);
/* The arrays themselves, borrowed; indices and indptr (int32 or int64) are read-only. */
DAMO_API damo_array *damo_sparse_get_data(const damo_sparse *a);
DAMO_API damo_array *damo_sparse_get_indices(const damo_sparse *a);
DAMO_API damo_array *damo_sparse_get_indptr(const damo_sparse *a);
/* The matrix as a new dense array; duplicates are summed. */
DAMO_API damo_array *damo_sparse_toarray(const damo_sparse *a);

/* The object itself when it is that, else NULL. */
DAMO_API damo_array *damo_as_array(damo_obj *value);
DAMO_API damo_sparse *damo_as_sparse(damo_obj *value);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Paths are those of the host's file system. What is written stands beside its path first and takes its place when it
 * is whole. Failures are io errors that name the file and, where there is one, the line or the member; in a sandbox each
 * of these functions is a state error. */

/* An array from a .npy file, versions 1 to 3, either byte order and either memory order. */
DAMO_API damo_array *damo_npy_read(damo_ctx *ctx, const char *path);
/* Writes one, in C order. */
DAMO_API damo_status damo_npy_write(const char *path, const damo_array *a);

/* The arrays of a .npz file by their names, without ".npy", in the order of the file. */
typedef struct damo_npz damo_npz;
/* Reads all of them. Compressed members that take more than max_bytes (0: 2^30) are refused before memory is taken. */
DAMO_API damo_npz *damo_npz_read(damo_ctx *ctx, const char *path, uint64_t max_bytes);
/* Frees it; takes NULL. What was got from it and retained lives on. */
DAMO_API void damo_npz_free(damo_npz *z);
/* The number of arrays. */
DAMO_API int64_t damo_npz_size(const damo_npz *z);
/* Name and array number i, and the array of a name; borrowed; NULL where there is none. */
DAMO_API const char *damo_npz_get_name(const damo_npz *z, int64_t i);
DAMO_API damo_array *damo_npz_get_array(const damo_npz *z, int64_t i);
DAMO_API damo_array *damo_npz_find(const damo_npz *z, const char *name);
/* Writes n arrays, stored without compression. */
DAMO_API damo_status damo_npz_write(damo_ctx *ctx, const char *path, const char *const *names,
                                    damo_array *const *arrays, int64_t n);
/* A matrix as SciPy's save_npz writes it: csr and csc as they are; coo, dia and bsr are read as csr. */
DAMO_API damo_sparse *damo_npz_read_sparse(damo_ctx *ctx, const char *path);
/* Writes one that SciPy's load_npz reads. */
DAMO_API damo_status damo_npz_write_sparse(const char *path, const damo_sparse *a);

/* What the triangle that a Matrix Market file leaves out holds. */
typedef enum damo_symmetry { DAMO_GENERAL, DAMO_SYMMETRIC, DAMO_SKEW, DAMO_HERMITIAN } damo_symmetry;
typedef struct damo_mtx_options {
  size_t size;            /* sizeof(damo_mtx_options) */
  const char *comment;    /* each of its lines becomes a comment line; NULL: none */
  damo_symmetry symmetry; /* writes one triangle; a value error where the matrix is not so */
  bool pattern;           /* writes the places alone */
} damo_mtx_options;

/* A Matrix Market file: a coordinate file gives a sparse matrix in that format, an array file an array. Symmetric storage
 * is expanded, entries that are listed twice are summed. */
DAMO_API damo_obj *damo_mtx_read(damo_ctx *ctx, const char *path, damo_format format);
/* Writes a sparse matrix as a coordinate file, an array of one or two dimensions as an array file; every value with the
 * digits that read back to it. */
DAMO_API damo_status damo_mtx_write(const char *path, const damo_obj *value, const damo_mtx_options *options);

typedef struct damo_csv_options {
  size_t size;       /* sizeof(damo_csv_options) */
  const char *dtype; /* name of the dtype of the result; NULL: "float64" */
  int64_t skip;      /* lines before the data; -1: none; 0: one where its cells are not all numbers */
  char delimiter;    /* 0: ',' */
  bool text_as_nan;  /* cells that are no number become nan instead of an error; empty cells always do */
} damo_csv_options;

/* A table of numbers, rows × columns. header, which may be NULL, receives the cells of the header line, one a line, to be
 * freed with damo_text_free, or NULL where there is none. */
DAMO_API damo_array *damo_csv_read(damo_ctx *ctx, const char *path, const damo_csv_options *options, char **header);

/* ---- Types and Variables ----------------------------------------------------------------------------------------- */

/* TensorType; shape may be NULL (unknown) or hold -1 for unknown dimensions. Types are interned: equal ones are the
 * same pointer. */
DAMO_API damo_type *damo_type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* SparseTensorType; itype: DAMO_INT32, or DAMO_INT64 for indices that are int64 whatever the size; shape as above, 2
 * entries. */
DAMO_API damo_type *damo_type_sparse(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype,
                                     const int64_t *shape);
/* SparseTensorType of matrices of that dtype whose entries stand where a's do, stored in the same order; format, shape
 * and index dtype are a's. Equal patterns give the same pointer. */
DAMO_API damo_type *damo_type_sparse_like(const damo_sparse *a, damo_dtype dtype);
/* That pattern, owned: a bool matrix with true at each place; NULL when the Type has none. */
DAMO_API damo_sparse *damo_type_pattern(const damo_type *type);
DAMO_API bool damo_type_is_sparse(const damo_type *type); /* a SparseTensorType */
/* Dimensions and dtype of a TensorType or SparseTensorType. */
DAMO_API int damo_type_ndim(const damo_type *type);
DAMO_API damo_dtype damo_type_dtype(const damo_type *type);
/* -1 where a dimension is unknown; ndim entries. */
DAMO_API const int64_t *damo_type_shape(const damo_type *type);

/* A new input Variable; name may be NULL. */
DAMO_API damo_var *damo_var_new(damo_ctx *ctx, damo_type *type, const char *name);
/* A constant (the array is copied). */
DAMO_API damo_var *damo_constant(damo_ctx *ctx, const damo_array *value);
/* A literal that takes the dtype of its neighbours, as a Lua number does. */
DAMO_API damo_var *damo_number(damo_ctx *ctx, double value);
/* A shared Variable (the array is copied), read and updated by compiled functions. */
DAMO_API damo_var *damo_shared(damo_ctx *ctx, const damo_array *value, const char *name);
/* Its current value, owned; never written by later calls while held. */
DAMO_API damo_array *damo_shared_value(damo_var *shared);
/* Gives it a copy of value, converted to its Type where that loses nothing. */
DAMO_API damo_status damo_shared_set(damo_var *shared, const damo_array *value);
/* The same of sparse matrices. A shared Variable's format and dtype stay; values in the other format are converted. */
DAMO_API damo_var *damo_constant_sparse(damo_ctx *ctx, const damo_sparse *value);
DAMO_API damo_var *damo_shared_sparse(damo_ctx *ctx, const damo_sparse *value, const char *name);
DAMO_API damo_sparse *damo_shared_sparse_value(damo_var *shared);
DAMO_API damo_status damo_shared_sparse_set(damo_var *shared, const damo_sparse *value);
/* Its Type; the node that computes it, NULL of inputs, constants and shared Variables; its name, or NULL. */
DAMO_API damo_type *damo_var_get_type(const damo_var *v);
DAMO_API damo_apply *damo_var_get_owner(const damo_var *v);
DAMO_API const char *damo_var_get_name(const damo_var *v);

/* The tree of a Variable as text; free with damo_text_free. */
DAMO_API char *damo_debugprint(damo_ctx *ctx, damo_var *v);
DAMO_API void damo_text_free(damo_ctx *ctx, char *text);

/* ---- Calls of op functions --------------------------------------------------------------------------------------- */

/* An option of a function, or a property of an Op, by its name. kind says which of the fields counts. Ops take no lists
 * and no Variables. */
typedef enum damo_prop_kind {
  DAMO_PROP_NIL,    /* not given */
  DAMO_PROP_BOOL,   /* i */
  DAMO_PROP_INT,    /* i */
  DAMO_PROP_NUMBER, /* number */
  DAMO_PROP_STRING, /* string; a dtype is given by its name */
  DAMO_PROP_INTS,   /* ints, n */
  DAMO_PROP_VAR,    /* var */
  DAMO_PROP_VARS    /* vars, n: the lengths of a shape */
} damo_prop_kind;
typedef struct damo_prop {
  const char *name;
  damo_prop_kind kind;
  int64_t i;
  double number;
  const char *string;
  const int64_t *ints;
  damo_var *var;
  damo_var *const *vars;
  int64_t n;
} damo_prop;

static inline damo_prop damo_prop_bool(const char *name, bool value) {
  damo_prop p = {name, DAMO_PROP_BOOL, value, 0, NULL, NULL, NULL, NULL, 0};
  return p;
}
static inline damo_prop damo_prop_int(const char *name, int64_t value) {
  damo_prop p = {name, DAMO_PROP_INT, value, 0, NULL, NULL, NULL, NULL, 0};
  return p;
}
static inline damo_prop damo_prop_number(const char *name, double value) {
  damo_prop p = {name, DAMO_PROP_NUMBER, 0, value, NULL, NULL, NULL, NULL, 0};
  return p;
}
static inline damo_prop damo_prop_string(const char *name, const char *value) {
  damo_prop p = {name, DAMO_PROP_STRING, 0, 0, value, NULL, NULL, NULL, 0};
  return p;
}
static inline damo_prop damo_prop_ints(const char *name, const int64_t *values, int64_t n) {
  damo_prop p = {name, DAMO_PROP_INTS, 0, 0, NULL, values, NULL, NULL, n};
  return p;
}
static inline damo_prop damo_prop_var(const char *name, damo_var *value) {
  damo_prop p = {name, DAMO_PROP_VAR, 0, 0, NULL, NULL, value, NULL, 0};
  return p;
}
static inline damo_prop damo_prop_vars(const char *name, damo_var *const *values, int64_t n) {
  damo_prop p = {name, DAMO_PROP_VARS, 0, 0, NULL, NULL, NULL, values, n};
  return p;
}

/* Calls an op function by its name ("add", "dot", "sum", …) without options; the first result, owned. */
DAMO_API damo_var *damo_call(damo_ctx *ctx, const char *func, damo_var *const *operands, int n);
/* The same with options, as the function's documentation names them. Axes are 1-based there, as scripts give them, and
 * negative ones count from the end. A name that the function does not have is a value error, a value of another kind a
 * type error. */
DAMO_API damo_var *damo_call_props(damo_ctx *ctx, const char *func, damo_var *const *operands, int n,
                                   const damo_prop *props, int n_props);
/* The same with all results, owned, into results. n_results is their number; another one is a value error. */
DAMO_API damo_status damo_call_all(damo_ctx *ctx, const char *func, damo_var *const *operands, int n,
                                   const damo_prop *props, int n_props, damo_var **results, int n_results);
/* damo_call_props with the options as text, "axis=1 keepdims=true": at most 255 bytes, values without spaces. */
DAMO_API damo_var *damo_call_with(damo_ctx *ctx, const char *func, damo_var *const *operands, int n,
                                  const char *options);

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* Output `out` is a view of input `in`, or overwrites it; 0-based. A list ends with {-1, -1}. */
typedef struct damo_alias {
  int16_t out, in;
} damo_alias;

/* An Op class of the host's. Every callback runs on the thread that uses the context, may fail (damo_fail) and must not
 * jump out. What it gives is checked; a wrong result is an error that names the class. What a NULL callback means is
 * said beside it. Variables that a callback hands over are owned references, which damo releases. */
typedef struct damo_op_class {
  const char *name;   /* letters, digits and '_'; a script finds the class as damo.ops.<name> */
  const char *doc;    /* or NULL */
  const char *props;  /* the properties' names, space-separated, "low high"; NULL: none, and the class has one Op */
  int n_in;           /* inputs; -1: any number */
  int n_out;          /* outputs; 0 means 1 */
  int default_output; /* the output, from 1, that a call gives; 0: all */

  /* Checks the inputs and sets an owned Type an output. NULL: every output has the first input's Type. */
  damo_status (*infer_type)(const damo_op *op, damo_var *const *in, int n_in, damo_type **out);
  /* Computes: reads damo_thunk_input, writes damo_thunk_output. Inputs are read-only unless destroy_map names them. Each
   * run takes every output, with the dtype and rank of its Type. An output that the host goes on holding, or that shares
   * memory with an input that the maps don't name, is copied. Required. */
  damo_status (*perform)(damo_thunk *t);
  /* Zeroed bytes that a thunk keeps between runs (damo_thunk_state), and what frees things kept there (or NULL). */
  size_t state_size;
  void (*state_clear)(void *state);
  /* L_op: gout[o] is the gradient of output o, NULL where there is none; sets gin[i], left NULL where input i gets
   * none. NULL: not implemented. */
  damo_status (*grad)(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin);
  /* R_op: eval[i] is NULL where input i has no tangent; sets tangent[o]. NULL: by two L_ops. */
  damo_status (*rop)(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent);
  /* The outputs' lengths as int64 scalar Variables, from the inputs': in[i][axis], out[o][axis]. NULL: not known
   * without the value. */
  damo_status (*infer_shape)(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out);
  /* connected[i * n_out + o]: a gradient goes from output o to input i; preset to true. NULL: all do. */
  void (*connection_pattern)(const damo_apply *node, bool *connected);
  /* Asked when all inputs are constants. NULL: yes. */
  bool (*do_constant_folding)(const damo_apply *node);
  const damo_alias *view_map, *destroy_map; /* of inputs and outputs that there are; copied; NULL: none */

  void *user;                  /* damo_op_user gives it back */
  void (*destroy)(void *user); /* called when the context goes, or when registering fails; or NULL */
} damo_op_class;

/* Adds the class (copied, its texts too) to the context, where it stays. A name that is taken is a value error. */
DAMO_API damo_status damo_op_register(damo_ctx *ctx, const damo_op_class *op_class);
/* The Op of a registered class with these properties, those not named being nil. Equal properties give the same Op. */
DAMO_API damo_op *damo_op_make(damo_ctx *ctx, const char *class_name, const damo_prop *props, int n_props);
/* Applies it: the node, owned; its outputs live as long as references on them, or on the node, do. */
DAMO_API damo_apply *damo_op_apply(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in);
/* The class's user pointer. */
DAMO_API void *damo_op_user(const damo_op *op);
/* The class's name. */
DAMO_API const char *damo_op_name(const damo_op *op);
/* A property into *out; false, *out untouched, when it is nil or of another kind (an integer is a number too). */
DAMO_API bool damo_op_get_number(const damo_op *op, const char *prop, double *out);
DAMO_API bool damo_op_get_int(const damo_op *op, const char *prop, int64_t *out);
DAMO_API bool damo_op_get_bool(const damo_op *op, const char *prop, bool *out);
DAMO_API const char *damo_op_get_string(const damo_op *op, const char *prop); /* NULL when it is none */

/* The node's inputs and outputs, counted from 0, and its Op; NULL past the last. */
DAMO_API int damo_apply_n_inputs(const damo_apply *node);
DAMO_API int damo_apply_n_outputs(const damo_apply *node);
DAMO_API damo_var *damo_apply_get_input(const damo_apply *node, int i);
DAMO_API damo_var *damo_apply_get_output(const damo_apply *node, int i);
DAMO_API damo_op *damo_apply_get_op(const damo_apply *node);

/* Inside perform. The value of input i, borrowed. */
DAMO_API const damo_array *damo_thunk_input(const damo_thunk *t, int i);
/* NULL where that value is sparse; it is this one then (NULL where it is not). */
DAMO_API const damo_sparse *damo_thunk_input_sparse(const damo_thunk *t, int i);
/* Makes an owned matrix output i. NULL is passed on as a failure of what made it. A matrix that is held elsewhere is
 * copied when perform has ended. */
DAMO_API damo_status damo_thunk_give_sparse(damo_thunk *t, int i, damo_sparse *take_value);
/* A C-contiguous array to write output i into (contents undefined): the last run's where it fits and nobody holds it,
 * so that a warm call allocates nothing. NULL: out of memory. Take all outputs before writing any. */
DAMO_API damo_array *damo_thunk_output(damo_thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape);
/* Output i where destroy_map lets it overwrite input j: the input itself when it may be written, else a copy of it. */
DAMO_API damo_array *damo_thunk_output_inplace(damo_thunk *t, int i, int j);
/* Scratch memory of at least that size, 64-byte aligned, kept between runs; contents undefined. NULL: out of memory. */
DAMO_API void *damo_thunk_scratch(damo_thunk *t, size_t size);
/* The bytes that the class's state_size asks for; the Op; the context. */
DAMO_API void *damo_thunk_state(const damo_thunk *t);
DAMO_API damo_op *damo_thunk_get_op(const damo_thunk *t);
DAMO_API damo_ctx *damo_thunk_ctx(const damo_thunk *t);

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* A shared Variable that holds the state of a generator (Philox, the same numbers on every machine) with that seed.
 *
 * A draw is a call of "normal", "uniform", … whose first operand is a state; its results are the next state and the
 * draw. The next state is the state's update in the Function that draws:
 *
 *     damo_call_all(ctx, "normal", &state, 1, &shape, 1, next_and_draw, 2);
 *     damo_compile(ctx, NULL, 0, &next_and_draw[1], 1, &state, &next_and_draw[0], 1, NULL);
 *
 * Two draws of one state are the same numbers: give each draw a state of its own, or the state that follows. The value
 * of the Variable is a uint64 vector of 3 entries, for damo_shared_value and damo_shared_set to save and restore. */
DAMO_API damo_var *damo_random_state(damo_ctx *ctx, uint64_t seed, const char *name);
/* Starts it anew from a seed. */
DAMO_API damo_status damo_random_seed(damo_var *state, uint64_t seed);

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* What becomes of a wrt that the cost does not depend on: a disconnected_input error, a warning, nothing. */
typedef enum damo_disconnected {
  DAMO_DISCONNECTED_RAISE,
  DAMO_DISCONNECTED_WARN,
  DAMO_DISCONNECTED_IGNORE
} damo_disconnected;
/* What its gradient is then: zeros, NULL, a Variable of DisconnectedType. */
typedef enum damo_return_disconnected {
  DAMO_RETURN_ZERO,
  DAMO_RETURN_NONE,
  DAMO_RETURN_DISCONNECTED
} damo_return_disconnected;
typedef struct damo_grad_options {
  size_t size;                                  /* sizeof(damo_grad_options) */
  damo_var *const *known_of, *const *known;     /* known[i] is the gradient of known_of[i] */
  int64_t n_known;                              /* entries of both */
  damo_var *const *consider_constant;           /* no gradient goes through these */
  int64_t n_consider_constant;                  /* entries of it */
  damo_disconnected disconnected_inputs;        /* 0: an error */
  damo_return_disconnected return_disconnected; /* 0: zeros */
  bool null_gradients_return;                   /* an undefined gradient is a result, not an error */
} damo_grad_options;

/* d cost / d wrt[i] into out[i], owned. cost is a real scalar. */
DAMO_API damo_status damo_grad(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n, damo_var **out);
/* The same with options. cost may be NULL where known gradients say what to start from. */
DAMO_API damo_status damo_grad_with(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n,
                                    const damo_grad_options *options, damo_var **out);
/* The L operator: the sum over k of output_grads[k] · d f[k] / d wrt[i] into out[i], owned; zeros where no f depends on
 * wrt[i]. f and output_grads have n_f entries, wrt and out n. */
DAMO_API damo_status damo_lop(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, int64_t n,
                              damo_var *const *output_grads, damo_var **out);
/* The R operator, a derivative along a direction: the sum over i of d f[k] / d wrt[i] · eval_points[i] into out[k], owned.
 * f and out have n_f entries, wrt and eval_points n. Of the options, disconnected_inputs and return_disconnected count;
 * they speak of an f that depends on no wrt. */
DAMO_API damo_status damo_rop(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, int64_t n,
                              damo_var *const *eval_points, const damo_grad_options *options, damo_var **out);
/* A Variable that says "this gradient is undefined": asking for it raises null_gradient with the reason. */
DAMO_API damo_var *damo_grad_undefined(damo_ctx *ctx, const char *why);

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* What becomes of an input that no output depends on: an unused_input error, a warning, nothing. */
typedef enum damo_unused { DAMO_UNUSED_RAISE, DAMO_UNUSED_WARN, DAMO_UNUSED_IGNORE } damo_unused;
typedef struct damo_compile_options {
  size_t size;                              /* sizeof(damo_compile_options) */
  const char *name;                         /* how errors call the function; NULL: "function" */
  const char *mode;                         /* "FAST_RUN" (NULL), "FAST_COMPILE", "DEBUG", "NANGUARD" */
  const char *optimizer;                    /* "fast_run", "fast_compile", "none"; NULL: the mode's */
  const char *include, *exclude;            /* tags of rewrites, space-separated, besides the optimizer's; NULL: none */
  damo_var *const *shared, *const *update;  /* shared[i] takes the value of update[i] after each successful call */
  int64_t n_updates;                        /* entries of both */
  damo_var *const *given, *const *given_as; /* every use of given[i] becomes given_as[i] */
  int64_t n_givens;                         /* entries of both */
  damo_obj *const *defaults;                /* one an input, NULL where it has none; retained, not copied. NULL: none */
  const bool *mutable_inputs;               /* one an input: a call may overwrite the caller's array. NULL: none */
  const bool *strict_inputs;                /* one an input: values are not converted to its Type. NULL: none */
  const bool *borrow_outputs;               /* one an output: f keeps the array, to write it when it is released */
  damo_unused on_unused_input;              /* 0: an error */
  bool allow_input_downcast;                /* float64 arguments are rounded to float32 inputs, and their like */
  bool no_default_updates;                  /* updates that a script set with a shared Variable are left out */
  int threads;                              /* that one call may use: 0 or 1. More is not implemented, and an error */
} damo_compile_options;

/* Compiles inputs → outputs. The graph stays as it is; the Function holds what it needs of it. */
DAMO_API damo_function *damo_compile_with(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in,
                                          damo_var *const *outputs, int64_t n_out, const damo_compile_options *options);
/* The same with updates and mode alone. */
DAMO_API damo_function *damo_compile(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                     int64_t n_out, damo_var *const *shared, damo_var *const *update, int64_t n_updates,
                                     const char *mode);
/* Another Function over the same graph and the same shared Variables, with storage of its own. What was compiled is
 * shared between them. */
DAMO_API damo_function *damo_function_copy(const damo_function *f);
/* The same in another context: f and its copies may then be called on a thread each, at once. Constants are shared; the
 * values of shared Variables, and defaults, are copied, and the copy's own from here on: it updates these. No thread may
 * use either context while this runs. Arguments and results are of the copy's context, and errors are there. f's context
 * and f may be let go first, but as long as its own thread uses it, the host keeps a reference on it. A state error that
 * names the Op where one runs only in the context that it was made in (a host's, a script's), or in a mode that looks
 * on. */
DAMO_API damo_function *damo_function_copy_to(const damo_function *f, damo_ctx *ctx);
/* The value of a shared Variable that f reads or updates, an array of f's context, owned: in a copy of another context
 * its own. NULL where f does not use it, or it is sparse. */
DAMO_API damo_array *damo_function_shared_value(const damo_function *f, const damo_var *shared);
/* How many inputs and outputs it was compiled with. */
DAMO_API int64_t damo_function_n_inputs(const damo_function *f);
DAMO_API int64_t damo_function_n_outputs(const damo_function *f);

/* Calls it; results receives n_out owned arrays. An argument that is NULL, and those past n_args, are not given: their
 * defaults count. Nothing shared changes when the call fails. A type error where an output is sparse:
 * damo_function_call_values gives those. */
DAMO_API damo_status damo_function_call(damo_function *f, damo_array *const *args, int64_t n_args,
                                        damo_array **results);
/* The same with arguments and results that are arrays or sparse matrices: (damo_obj *)a; damo_as_array and
 * damo_as_sparse tell which. */
DAMO_API damo_status damo_function_call_values(damo_function *f, damo_obj *const *args, int64_t n_args,
                                               damo_obj **results);
/* The same with the results written into the host's objects: into[i] is an array of result i's dtype and shape, or a
 * matrix of its format, dtypes and shape, which takes its pattern too and is held by nobody else; where it is NULL the
 * result is dropped. Arguments may share memory with targets: results are as if they did not. When the call fails,
 * arrays may have been written in part; matrices are as they were. */
DAMO_API damo_status damo_function_into(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into);

/* ---- Graphs as Ops ----------------------------------------------------------------------------------------------- */

/* A graph as an Op of its own: the inner graph is copied, rewritten and compiled once. Shared Variables inside become
 * further inputs, which applying it adds. inlined: the node gives way to its inner graph when it is compiled. name:
 * NULL for "OpFromGraph". */
DAMO_API damo_op *damo_op_from_graph(damo_ctx *ctx, damo_var *const *inputs, int n_in, damo_var *const *outputs,
                                     int n_out, const char *name, bool inlined);

/* ---- Lua --------------------------------------------------------------------------------------------------------- */

struct lua_State;

/* The module: put it into package.preload["damo.core"]. */
DAMO_API int luaopen_damo_core(struct lua_State *L);
/* Gives the state a host's context (retained); before damo.core is loaded there, else a state error. */
DAMO_API damo_status damo_lua_set_context(struct lua_State *L, damo_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
