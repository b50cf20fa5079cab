/* damo.h: the public C API of damo, a numerical engine that compiles expression graphs.
 *
 * Rules that hold for every function here
 *
 * Names.     `damo_<noun>_<verb>`. `new` and `make_` return an owned reference, `get` a borrowed one, `take` steals its
 *            argument, `is_`/`has_` ask a question. Everything not declared here is private.
 * Errors.    A function returns a damo_status, or a pointer that is NULL on failure. The error object (kind, message,
 *            node, trace) is left in the context until the next failing call: damo_error_*. Results that go through an
 *            `out` argument are untouched on failure. Nothing here prints, exits, aborts or raises.
 * Arguments. An object of the wrong kind or of another context is a type error; a NULL argument that is required and a
 *            negative count are value errors. A query of NULL returns NULL, 0, false or DAMO_N_DTYPES; a query of an
 *            object trusts the C type of its pointer.
 * Ownership. Objects carry a reference count. Arguments are borrowed unless the name says `take`; what is returned is
 *            owned unless the name says `get`. damo_release takes NULL.
 * Options.   A struct of options begins with its size, sizeof the struct, so that a program built with an older damo.h
 *            keeps working: fields that it does not have count as 0. A field that is 0 means the default that its
 *            comment gives; NULL instead of the struct means all defaults.
 * Threads.   One thread at a time uses a context and what belongs to it. Two contexts share nothing, except for the
 *            compiled programs of damo_function_copy_to and of tokens. damo_compile_options has the threads that a call may use.
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

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

/* The library's symbols carry the version of its interface: damo_ctx_new is damo_v1_ctx_new to the linker, so programs
 * and libraries that were built with different versions live in one process. DAMO_SYMBOLS sets another prefix, damo_…,
 * for a build of the library and what includes its header. make/check-symbols sees that each function stands here. */
#ifndef DAMO_SYMBOLS
#define DAMO_SYMBOLS damo_v1_
#endif
#define DAMO_SYMBOL_PASTE(prefix, name) prefix##name
#define DAMO_SYMBOL_OF(prefix, name) DAMO_SYMBOL_PASTE(prefix, name)
#define DAMO_SYMBOL(name) DAMO_SYMBOL_OF(DAMO_SYMBOLS, name)
#define damo_apply_get_input DAMO_SYMBOL(apply_get_input)
#define damo_apply_get_op DAMO_SYMBOL(apply_get_op)
#define damo_apply_get_output DAMO_SYMBOL(apply_get_output)
#define damo_apply_n_inputs DAMO_SYMBOL(apply_n_inputs)
#define damo_apply_n_outputs DAMO_SYMBOL(apply_n_outputs)
#define damo_array_data DAMO_SYMBOL(array_data)
#define damo_array_dtype DAMO_SYMBOL(array_dtype)
#define damo_array_from DAMO_SYMBOL(array_from)
#define damo_array_is_writeable DAMO_SYMBOL(array_is_writeable)
#define damo_array_item DAMO_SYMBOL(array_item)
#define damo_array_ndim DAMO_SYMBOL(array_ndim)
#define damo_array_new DAMO_SYMBOL(array_new)
#define damo_array_scalar DAMO_SYMBOL(array_scalar)
#define damo_array_shape DAMO_SYMBOL(array_shape)
#define damo_array_size DAMO_SYMBOL(array_size)
#define damo_array_strides DAMO_SYMBOL(array_strides)
#define damo_array_wrap DAMO_SYMBOL(array_wrap)
#define damo_as_array DAMO_SYMBOL(as_array)
#define damo_as_op DAMO_SYMBOL(as_op)
#define damo_as_sparse DAMO_SYMBOL(as_sparse)
#define damo_as_var DAMO_SYMBOL(as_var)
#define damo_bytes_free DAMO_SYMBOL(bytes_free)
#define damo_call DAMO_SYMBOL(call)
#define damo_call_all DAMO_SYMBOL(call_all)
#define damo_call_begin DAMO_SYMBOL(call_begin)
#define damo_call_cancel DAMO_SYMBOL(call_cancel)
#define damo_call_props DAMO_SYMBOL(call_props)
#define damo_call_restart DAMO_SYMBOL(call_restart)
#define damo_call_result DAMO_SYMBOL(call_result)
#define damo_call_step DAMO_SYMBOL(call_step)
#define damo_call_with DAMO_SYMBOL(call_with)
#define damo_compile DAMO_SYMBOL(compile)
#define damo_compile_with DAMO_SYMBOL(compile_with)
#define damo_constant DAMO_SYMBOL(constant)
#define damo_constant_sparse DAMO_SYMBOL(constant_sparse)
#define damo_csv_format DAMO_SYMBOL(csv_format)
#define damo_csv_parse DAMO_SYMBOL(csv_parse)
#define damo_csv_parse_table DAMO_SYMBOL(csv_parse_table)
#define damo_csv_read DAMO_SYMBOL(csv_read)
#define damo_csv_read_table DAMO_SYMBOL(csv_read_table)
#define damo_csv_table_free DAMO_SYMBOL(csv_table_free)
#define damo_csv_table_get_name DAMO_SYMBOL(csv_table_get_name)
#define damo_csv_table_get_numbers DAMO_SYMBOL(csv_table_get_numbers)
#define damo_csv_table_get_text DAMO_SYMBOL(csv_table_get_text)
#define damo_csv_table_rows DAMO_SYMBOL(csv_table_rows)
#define damo_csv_table_size DAMO_SYMBOL(csv_table_size)
#define damo_csv_write DAMO_SYMBOL(csv_write)
#define damo_ctx_interrupt DAMO_SYMBOL(ctx_interrupt)
#define damo_ctx_is_sandbox DAMO_SYMBOL(ctx_is_sandbox)
#define damo_ctx_memory DAMO_SYMBOL(ctx_memory)
#define damo_ctx_new DAMO_SYMBOL(ctx_new)
#define damo_ctx_release DAMO_SYMBOL(ctx_release)
#define damo_ctx_retain DAMO_SYMBOL(ctx_retain)
#define damo_ctx_set_memory_cap DAMO_SYMBOL(ctx_set_memory_cap)
#define damo_ctx_set_print DAMO_SYMBOL(ctx_set_print)
#define damo_ctx_set_sandbox DAMO_SYMBOL(ctx_set_sandbox)
#define damo_ctx_set_warning DAMO_SYMBOL(ctx_set_warning)
#define damo_debugprint DAMO_SYMBOL(debugprint)
#define damo_dtype_from_name DAMO_SYMBOL(dtype_from_name)
#define damo_dtype_name DAMO_SYMBOL(dtype_name)
#define damo_dtype_size DAMO_SYMBOL(dtype_size)
#define damo_error_get_node DAMO_SYMBOL(error_get_node)
#define damo_error_kind DAMO_SYMBOL(error_kind)
#define damo_error_message DAMO_SYMBOL(error_message)
#define damo_error_op DAMO_SYMBOL(error_op)
#define damo_error_operands DAMO_SYMBOL(error_operands)
#define damo_error_status DAMO_SYMBOL(error_status)
#define damo_fail DAMO_SYMBOL(fail)
#define damo_from_token DAMO_SYMBOL(from_token)
#define damo_function_call DAMO_SYMBOL(function_call)
#define damo_function_call_values DAMO_SYMBOL(function_call_values)
#define damo_function_copy DAMO_SYMBOL(function_copy)
#define damo_function_copy_to DAMO_SYMBOL(function_copy_to)
#define damo_function_into DAMO_SYMBOL(function_into)
#define damo_function_n_inputs DAMO_SYMBOL(function_n_inputs)
#define damo_function_n_outputs DAMO_SYMBOL(function_n_outputs)
#define damo_function_restore DAMO_SYMBOL(function_restore)
#define damo_function_shared_value DAMO_SYMBOL(function_shared_value)
#define damo_function_shared_var DAMO_SYMBOL(function_shared_var)
#define damo_function_snapshot DAMO_SYMBOL(function_snapshot)
#define damo_function_token DAMO_SYMBOL(function_token)
#define damo_grad DAMO_SYMBOL(grad)
#define damo_grad_undefined DAMO_SYMBOL(grad_undefined)
#define damo_grad_with DAMO_SYMBOL(grad_with)
#define damo_graph_format DAMO_SYMBOL(graph_format)
#define damo_graph_free DAMO_SYMBOL(graph_free)
#define damo_graph_get DAMO_SYMBOL(graph_get)
#define damo_graph_new DAMO_SYMBOL(graph_new)
#define damo_graph_of_function DAMO_SYMBOL(graph_of_function)
#define damo_graph_parse DAMO_SYMBOL(graph_parse)
#define damo_graph_read DAMO_SYMBOL(graph_read)
#define damo_graph_size DAMO_SYMBOL(graph_size)
#define damo_graph_write DAMO_SYMBOL(graph_write)
#define damo_image_format DAMO_SYMBOL(image_format)
#define damo_image_parse DAMO_SYMBOL(image_parse)
#define damo_image_read DAMO_SYMBOL(image_read)
#define damo_image_write DAMO_SYMBOL(image_write)
#define damo_lop DAMO_SYMBOL(lop)
#define damo_lua_get DAMO_SYMBOL(lua_get)
#define damo_lua_get_context DAMO_SYMBOL(lua_get_context)
#define damo_lua_push DAMO_SYMBOL(lua_push)
#define damo_lua_raise DAMO_SYMBOL(lua_raise)
#define damo_lua_set_context DAMO_SYMBOL(lua_set_context)
#define damo_mtx_format DAMO_SYMBOL(mtx_format)
#define damo_mtx_parse DAMO_SYMBOL(mtx_parse)
#define damo_mtx_read DAMO_SYMBOL(mtx_read)
#define damo_mtx_write DAMO_SYMBOL(mtx_write)
#define damo_npy_format DAMO_SYMBOL(npy_format)
#define damo_npy_map DAMO_SYMBOL(npy_map)
#define damo_npy_parse DAMO_SYMBOL(npy_parse)
#define damo_npy_read DAMO_SYMBOL(npy_read)
#define damo_npy_write DAMO_SYMBOL(npy_write)
#define damo_npz_find DAMO_SYMBOL(npz_find)
#define damo_npz_format DAMO_SYMBOL(npz_format)
#define damo_npz_format_compressed DAMO_SYMBOL(npz_format_compressed)
#define damo_npz_format_sparse DAMO_SYMBOL(npz_format_sparse)
#define damo_npz_free DAMO_SYMBOL(npz_free)
#define damo_npz_get_array DAMO_SYMBOL(npz_get_array)
#define damo_npz_get_metadata DAMO_SYMBOL(npz_get_metadata)
#define damo_npz_get_name DAMO_SYMBOL(npz_get_name)
#define damo_npz_parse DAMO_SYMBOL(npz_parse)
#define damo_npz_parse_sparse DAMO_SYMBOL(npz_parse_sparse)
#define damo_npz_read DAMO_SYMBOL(npz_read)
#define damo_npz_read_sparse DAMO_SYMBOL(npz_read_sparse)
#define damo_npz_size DAMO_SYMBOL(npz_size)
#define damo_npz_write DAMO_SYMBOL(npz_write)
#define damo_npz_write_compressed DAMO_SYMBOL(npz_write_compressed)
#define damo_npz_write_sparse DAMO_SYMBOL(npz_write_sparse)
#define damo_number DAMO_SYMBOL(number)
#define damo_obj_ctx DAMO_SYMBOL(obj_ctx)
#define damo_op_apply DAMO_SYMBOL(op_apply)
#define damo_op_from_graph DAMO_SYMBOL(op_from_graph)
#define damo_op_get_bool DAMO_SYMBOL(op_get_bool)
#define damo_op_get_int DAMO_SYMBOL(op_get_int)
#define damo_op_get_number DAMO_SYMBOL(op_get_number)
#define damo_op_get_string DAMO_SYMBOL(op_get_string)
#define damo_op_make DAMO_SYMBOL(op_make)
#define damo_op_name DAMO_SYMBOL(op_name)
#define damo_op_register DAMO_SYMBOL(op_register)
#define damo_op_user DAMO_SYMBOL(op_user)
#define damo_random_seed DAMO_SYMBOL(random_seed)
#define damo_random_state DAMO_SYMBOL(random_state)
#define damo_release DAMO_SYMBOL(release)
#define damo_retain DAMO_SYMBOL(retain)
#define damo_rop DAMO_SYMBOL(rop)
#define damo_safetensors_format DAMO_SYMBOL(safetensors_format)
#define damo_safetensors_parse DAMO_SYMBOL(safetensors_parse)
#define damo_safetensors_read DAMO_SYMBOL(safetensors_read)
#define damo_safetensors_write DAMO_SYMBOL(safetensors_write)
#define damo_shared DAMO_SYMBOL(shared)
#define damo_shared_set DAMO_SYMBOL(shared_set)
#define damo_shared_sparse DAMO_SYMBOL(shared_sparse)
#define damo_shared_sparse_set DAMO_SYMBOL(shared_sparse_set)
#define damo_shared_sparse_value DAMO_SYMBOL(shared_sparse_value)
#define damo_shared_value DAMO_SYMBOL(shared_value)
#define damo_sparse_dtype DAMO_SYMBOL(sparse_dtype)
#define damo_sparse_format DAMO_SYMBOL(sparse_format)
#define damo_sparse_from_array DAMO_SYMBOL(sparse_from_array)
#define damo_sparse_from_coo DAMO_SYMBOL(sparse_from_coo)
#define damo_sparse_from_parts DAMO_SYMBOL(sparse_from_parts)
#define damo_sparse_get_data DAMO_SYMBOL(sparse_get_data)
#define damo_sparse_get_indices DAMO_SYMBOL(sparse_get_indices)
#define damo_sparse_get_indptr DAMO_SYMBOL(sparse_get_indptr)
#define damo_sparse_new DAMO_SYMBOL(sparse_new)
#define damo_sparse_nnz DAMO_SYMBOL(sparse_nnz)
#define damo_sparse_shape DAMO_SYMBOL(sparse_shape)
#define damo_sparse_toarray DAMO_SYMBOL(sparse_toarray)
#define damo_sparse_with_data DAMO_SYMBOL(sparse_with_data)
#define damo_status_kind DAMO_SYMBOL(status_kind)
#define damo_text_free DAMO_SYMBOL(text_free)
#define damo_thunk_ctx DAMO_SYMBOL(thunk_ctx)
#define damo_thunk_get_op DAMO_SYMBOL(thunk_get_op)
#define damo_thunk_give_sparse DAMO_SYMBOL(thunk_give_sparse)
#define damo_thunk_input DAMO_SYMBOL(thunk_input)
#define damo_thunk_input_sparse DAMO_SYMBOL(thunk_input_sparse)
#define damo_thunk_output DAMO_SYMBOL(thunk_output)
#define damo_thunk_output_inplace DAMO_SYMBOL(thunk_output_inplace)
#define damo_thunk_scratch DAMO_SYMBOL(thunk_scratch)
#define damo_thunk_state DAMO_SYMBOL(thunk_state)
#define damo_token_pin DAMO_SYMBOL(token_pin)
#define damo_token_set_allocator DAMO_SYMBOL(token_set_allocator)
#define damo_token_unpin DAMO_SYMBOL(token_unpin)
#define damo_type_dtype DAMO_SYMBOL(type_dtype)
#define damo_type_is_sparse DAMO_SYMBOL(type_is_sparse)
#define damo_type_ndim DAMO_SYMBOL(type_ndim)
#define damo_type_pattern DAMO_SYMBOL(type_pattern)
#define damo_type_shape DAMO_SYMBOL(type_shape)
#define damo_type_sparse DAMO_SYMBOL(type_sparse)
#define damo_type_sparse_like DAMO_SYMBOL(type_sparse_like)
#define damo_type_tensor DAMO_SYMBOL(type_tensor)
#define damo_var_get_name DAMO_SYMBOL(var_get_name)
#define damo_var_get_owner DAMO_SYMBOL(var_get_owner)
#define damo_var_get_type DAMO_SYMBOL(var_get_type)
#define damo_var_new DAMO_SYMBOL(var_new)
#define damo_vectorize_graph DAMO_SYMBOL(vectorize_graph)

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

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

/* A new C-contiguous array of zeros. shape has ndim entries (NULL if ndim is 0). A negative dimension and more than
 * DAMO_MAX_NDIM of them are shape errors. */
DAMO_API damo_array *damo_array_new(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* A new C-contiguous array with a copy of data, which is C-contiguous and of that dtype. data may be NULL if the array
 * has no elements. */
DAMO_API damo_array *damo_array_from(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, const void *data);
/* A new 0-d array that holds value, converted to dtype. */
DAMO_API damo_array *damo_array_scalar(damo_ctx *ctx, damo_dtype dtype, double value);

/* Tells the host that damo no longer uses the memory that `user` stands for. */
typedef void (*damo_release_fn)(void *user);
/* An array over the host's memory, which is not copied. data is the first element; strides are in bytes and may be
 * negative; strides NULL: C order. The host keeps the memory valid until release(user) is called, which happens once:
 * when the last array over it is freed (views and results that share it count), or before this function returns NULL.
 * release may be NULL. The host may write into the memory between calls; the next call reads the new values. damo
 * writes there only if writeable is true and the host asks for it, by an `into` target or a mutable input. Value
 * errors: an address or stride that is not aligned for the dtype, and overlapping elements (a stride of 0, for example)
 * in a writeable array. Elements of DAMO_BOOL are bytes that are 0 or 1, which nothing checks. Whether arrays overlap each
 * other is asked of their addresses: two over the same memory may be argument and target of one call. */
DAMO_API damo_array *damo_array_wrap(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape,
                                     const int64_t *strides, void *data, bool writeable, damo_release_fn release,
                                     void *user);

/* The number of dimensions; shape and strides (in bytes) have as many entries, and are valid as long as the array. */
DAMO_API int damo_array_ndim(const damo_array *a);
DAMO_API const int64_t *damo_array_shape(const damo_array *a);
DAMO_API const int64_t *damo_array_strides(const damo_array *a);
DAMO_API damo_dtype damo_array_dtype(const damo_array *a);
/* The number of elements. */
DAMO_API int64_t damo_array_size(const damo_array *a);
/* The first element. An array made by damo is aligned to 64 bytes and C-contiguous, unless it is a view. */
DAMO_API void *damo_array_data(const damo_array *a);
/* Whether the elements may be written through this array. */
DAMO_API bool damo_array_is_writeable(const damo_array *a);
/* Sets *out to the element of a 0-d or one-element array, converted to double; of a complex one the real part. A shape
 * error for any other number of elements. */
DAMO_API damo_status damo_array_item(const damo_array *a, double *out);

/* ---- Sparse matrices --------------------------------------------------------------------------------------------- */

/* Compressed sparse row or column storage: entries are stored row by row, or column by column. */
typedef enum damo_format { DAMO_CSR, DAMO_CSC } damo_format;

/* A matrix of rows × cols with nnz stored entries; all arrays are copied and checked. indptr has rows + 1 (CSR) or cols
 * + 1 (CSC) entries, indices and data have nnz; indices are 0-based. Rows (columns) may be unsorted; duplicates stand
 * for their sum. Indices are stored as int32 if the dimensions and nnz allow. */
DAMO_API damo_sparse *damo_sparse_new(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows, int64_t cols,
                                      int64_t nnz, const int64_t *indptr, const int64_t *indices, const void *data);
/* A matrix from n entries data[k] at the 0-based coordinates (row[k], col[k]), all copied; duplicates are summed. */
DAMO_API damo_sparse *damo_sparse_from_coo(damo_ctx *ctx, damo_format format, damo_dtype dtype, int64_t rows,
                                           int64_t cols, int64_t n, const int64_t *row, const int64_t *col,
                                           const void *data);
/* A matrix from three vectors, which may wrap the host's memory (damo_array_wrap). data has nnz entries; the matrix
 * shares its memory if it is contiguous. indices and indptr are as in damo_sparse_new, of any integer dtype, checked
 * and copied. */
DAMO_API damo_sparse *damo_sparse_from_parts(damo_ctx *ctx, damo_format format, int64_t rows, int64_t cols,
                                             const damo_array *data, const damo_array *indices,
                                             const damo_array *indptr);
/* A matrix with a's pattern and other values: data is a vector of as many entries as a has, of any dtype, shared if it
 * is contiguous. The two matrices share their index arrays. */
DAMO_API damo_sparse *damo_sparse_with_data(const damo_sparse *a, const damo_array *data);
/* The sparse matrix of the nonzero entries of a 2-d array. */
DAMO_API damo_sparse *damo_sparse_from_array(const damo_array *a, damo_format format);
/* Storage format and dtype of the values. */
DAMO_API damo_format damo_sparse_format(const damo_sparse *a);
DAMO_API damo_dtype damo_sparse_dtype(const damo_sparse *a);
/* Rows and columns: 2 entries, valid as long as the matrix. */
DAMO_API const int64_t *damo_sparse_shape(const damo_sparse *a);
/* The number of stored entries, explicit zeros and duplicates included. */
DAMO_API int64_t damo_sparse_nnz(const damo_sparse *a);
/* The arrays that the matrix consists of, borrowed. indices and indptr (int32 or int64) are read-only. */
DAMO_API damo_array *damo_sparse_get_data(const damo_sparse *a);
DAMO_API damo_array *damo_sparse_get_indices(const damo_sparse *a);
DAMO_API damo_array *damo_sparse_get_indptr(const damo_sparse *a);
/* The matrix as a new dense array, owned; duplicates are summed. */
DAMO_API damo_array *damo_sparse_toarray(const damo_sparse *a);

/* The object itself if it is an array (a sparse matrix, a Variable, an Op), else NULL. Borrowed. */
DAMO_API damo_array *damo_as_array(damo_obj *value);
DAMO_API damo_sparse *damo_as_sparse(damo_obj *value);
DAMO_API damo_var *damo_as_var(damo_obj *value);
DAMO_API damo_op *damo_as_op(damo_obj *value);

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Paths are those of the host's file system. A file is written under a temporary name in the same folder and renamed to
 * its path when it is complete. Failures are io errors that name the file and, if there is one, the line or member; in
 * a sandbox each function that takes a path fails with a state error.
 *
 * What …_read reads from a path, …_parse reads from n bytes in memory, and what …_write writes to a path, …_format gives
 * as bytes: for hosts with file systems of their own, and for sandboxes. */

/* Bytes that damo made, to be freed with damo_bytes_free; zero-terminated, the zero not counted. cap is damo's own. */
typedef struct damo_bytes {
  char *at;
  size_t n, cap;
} damo_bytes;
/* Frees the bytes and clears the struct; NULL and a cleared struct are allowed. */
DAMO_API void damo_bytes_free(damo_ctx *ctx, damo_bytes *bytes);

/* Reads the array of a .npy file: versions 1 to 3, either byte order, C or Fortran order. */
DAMO_API damo_array *damo_npy_read(damo_ctx *ctx, const char *path);
/* The array of a .npy file over the file's own pages, read-only: they are read when they are needed. The file must be in
 * this machine's byte order (else a value error); one that is cut while the array lives kills the process. */
DAMO_API damo_array *damo_npy_map(damo_ctx *ctx, const char *path);
/* Writes an array as a .npy file, in C order. */
DAMO_API damo_status damo_npy_write(const char *path, const damo_array *a);
/* The same from and to memory. */
DAMO_API damo_array *damo_npy_parse(damo_ctx *ctx, const void *bytes, size_t n);
DAMO_API damo_status damo_npy_format(const damo_array *a, damo_bytes *out);

/* The arrays of a .npz file, in the order of the file, with their names without ".npy". */
typedef struct damo_npz damo_npz;
/* Reads all arrays of a .npz file; free with damo_npz_free. A file whose compressed members would take more than
 * max_bytes (0: 2^30) is refused before any memory is taken. */
DAMO_API damo_npz *damo_npz_read(damo_ctx *ctx, const char *path, uint64_t max_bytes);
/* The same from memory. */
DAMO_API damo_npz *damo_npz_parse(damo_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes);
/* Frees it (NULL is allowed). Arrays of it that were retained stay valid. */
DAMO_API void damo_npz_free(damo_npz *z);
/* The number of arrays. */
DAMO_API int64_t damo_npz_size(const damo_npz *z);
/* Name and array number i, counted from 0, and the array of a name. Borrowed; NULL if there is none. */
DAMO_API const char *damo_npz_get_name(const damo_npz *z, int64_t i);
DAMO_API damo_array *damo_npz_get_array(const damo_npz *z, int64_t i);
DAMO_API damo_array *damo_npz_find(const damo_npz *z, const char *name);
/* Writes n arrays under these names (without ".npy") as a .npz file, without compression. */
DAMO_API damo_status damo_npz_write(damo_ctx *ctx, const char *path, const char *const *names,
                                    damo_array *const *arrays, int64_t n);
/* The same to memory. */
DAMO_API damo_status damo_npz_format(damo_ctx *ctx, const char *const *names, damo_array *const *arrays, int64_t n,
                                     damo_bytes *out);
/* The same with deflated members. */
DAMO_API damo_status damo_npz_write_compressed(damo_ctx *ctx, const char *path, const char *const *names,
                                               damo_array *const *arrays, int64_t n);
DAMO_API damo_status damo_npz_format_compressed(damo_ctx *ctx, const char *const *names, damo_array *const *arrays,
                                                int64_t n, damo_bytes *out);
/* Reads a sparse matrix as SciPy's save_npz writes it: csr and csc as they are, coo, dia and bsr as csr. */
DAMO_API damo_sparse *damo_npz_read_sparse(damo_ctx *ctx, const char *path);
/* Writes a sparse matrix as SciPy's load_npz reads it. */
DAMO_API damo_status damo_npz_write_sparse(const char *path, const damo_sparse *a);
/* The same from and to memory. */
DAMO_API damo_sparse *damo_npz_parse_sparse(damo_ctx *ctx, const void *bytes, size_t n);
DAMO_API damo_status damo_npz_format_sparse(const damo_sparse *a, damo_bytes *out);

/* Reads a .safetensors file: its arrays, 16-bit floats as float32, and its metadata. Free with damo_npz_free. */
DAMO_API damo_npz *damo_safetensors_read(damo_ctx *ctx, const char *path);
/* The text of that key in the metadata of a .safetensors file, borrowed; NULL if there is none. */
DAMO_API const char *damo_npz_get_metadata(const damo_npz *z, const char *key);
/* Writes n arrays and n_metadata texts (key and value in turn: 2 * n_metadata of them) as a .safetensors file. */
DAMO_API damo_status damo_safetensors_write(damo_ctx *ctx, const char *path, const char *const *names,
                                            damo_array *const *arrays, int64_t n, const char *const *metadata,
                                            int64_t n_metadata);
/* The same from and to memory. */
DAMO_API damo_npz *damo_safetensors_parse(damo_ctx *ctx, const void *bytes, size_t n);
DAMO_API damo_status damo_safetensors_format(damo_ctx *ctx, const char *const *names, damo_array *const *arrays,
                                             int64_t n, const char *const *metadata, int64_t n_metadata,
                                             damo_bytes *out);

/* Symmetry of a matrix in a Matrix Market file, which then lists one triangle only. */
typedef enum damo_symmetry { DAMO_GENERAL, DAMO_SYMMETRIC, DAMO_SKEW, DAMO_HERMITIAN } damo_symmetry;
typedef struct damo_mtx_options {
  size_t size;            /* sizeof(damo_mtx_options) */
  const char *comment;    /* text of which each line becomes a comment line; NULL: none */
  damo_symmetry symmetry; /* writes one triangle; a value error if the matrix is not that symmetric */
  bool pattern;           /* writes positions without values */
} damo_mtx_options;

/* Reads a Matrix Market file: a coordinate file as a sparse matrix in that format, an array file as an array. Symmetric
 * storage is expanded; entries that are listed twice are summed. */
DAMO_API damo_obj *damo_mtx_read(damo_ctx *ctx, const char *path, damo_format format);
/* Writes a sparse matrix as a coordinate file, an array of one or two dimensions as an array file, each value with as
 * many digits as reading it back exactly takes. options may be NULL. */
DAMO_API damo_status damo_mtx_write(const char *path, const damo_obj *value, const damo_mtx_options *options);
/* The same from and to memory. */
DAMO_API damo_obj *damo_mtx_parse(damo_ctx *ctx, const void *bytes, size_t n, damo_format format);
DAMO_API damo_status damo_mtx_format(const damo_obj *value, const damo_mtx_options *options, damo_bytes *out);

typedef struct damo_csv_options {
  size_t size;                /* sizeof(damo_csv_options) */
  const char *dtype;          /* name of the dtype of the result; NULL: "float64" */
  int64_t skip;               /* number of lines before the data; -1: none; 0: one if its cells are not all numbers */
  char delimiter;             /* 0: ',' */
  bool text_as_nan;           /* cells that are not numbers become nan instead of an error; empty cells always do */
  const char *const *missing; /* n_missing texts of cells that stand for no value, as empty cells do */
  int64_t n_missing;
  const char *const
      *columns;      /* of tables: the n_columns to read, by name; where the file has no header, all their names */
  int64_t n_columns; /* 0: all */
} damo_csv_options;

/* Reads a table of numbers as an array of rows × columns. header, which may be NULL, receives the cells of the header
 * line, separated by newlines, to be freed with damo_text_free; NULL if there is no header. options may be NULL. */
DAMO_API damo_array *damo_csv_read(damo_ctx *ctx, const char *path, const damo_csv_options *options, char **header);
/* Writes a vector (one column) or a matrix of real numbers, each with as many digits as reading it back exactly takes,
 * nan as an empty cell where the table has several columns. header: n_header names, one a column, or 0: no header line. */
DAMO_API damo_status damo_csv_write(const char *path, const damo_array *a, const char *const *header, int64_t n_header);
/* The same from and to memory. */
DAMO_API damo_array *damo_csv_parse(damo_ctx *ctx, const void *bytes, size_t n, const damo_csv_options *options,
                                    char **header);
DAMO_API damo_status damo_csv_format(const damo_array *a, const char *const *header, int64_t n_header, damo_bytes *out);

/* A table of columns, each of numbers or of texts: numbers where each cell is one, or is empty or missing. */
typedef struct damo_csv_table damo_csv_table;
/* Reads a table with one header line (skip says otherwise). Without a header the names are c1, c2, … options may be NULL.
 * Free with damo_csv_table_free. */
DAMO_API damo_csv_table *damo_csv_read_table(damo_ctx *ctx, const char *path, const damo_csv_options *options);
/* The same from memory. */
DAMO_API damo_csv_table *damo_csv_parse_table(damo_ctx *ctx, const void *bytes, size_t n,
                                              const damo_csv_options *options);
/* Frees it (NULL is allowed). Arrays of it that were retained stay valid. */
DAMO_API void damo_csv_table_free(damo_csv_table *t);
/* The number of columns, and of rows. */
DAMO_API int64_t damo_csv_table_size(const damo_csv_table *t);
DAMO_API int64_t damo_csv_table_rows(const damo_csv_table *t);
/* Column number i, counted from 0: its name, and its numbers as a vector, NULL for a column of texts. Borrowed. */
DAMO_API const char *damo_csv_table_get_name(const damo_csv_table *t, int64_t i);
DAMO_API damo_array *damo_csv_table_get_numbers(const damo_csv_table *t, int64_t i);
/* The text of a row, counted from 0, of a column of texts: *n bytes, not zero-terminated; n may be NULL. Borrowed; NULL for
 * a column of numbers. A missing cell is the empty text. */
DAMO_API const char *damo_csv_table_get_text(const damo_csv_table *t, int64_t i, int64_t row, size_t *n);

/* Images are arrays of uint8 or uint16 of height × width (gray), or height × width × channels: 2 gray and opacity, 3 RGB,
 * 4 RGBA. An image of more than max_bytes (0: 2^30) is refused before any memory is taken. */

/* Reads a .png, .ppm, .pgm or .pnm, told by the ending of the path. */
DAMO_API damo_array *damo_image_read(damo_ctx *ctx, const char *path, uint64_t max_bytes);
/* Writes what the ending of the path says. */
DAMO_API damo_status damo_image_write(const char *path, const damo_array *a);
/* The same from memory, where the bytes tell the format, and to memory: format is "png" or "ppm". */
DAMO_API damo_array *damo_image_parse(damo_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes);
DAMO_API damo_status damo_image_format(const damo_array *a, const char *format, damo_bytes *out);

/* ---- Types and Variables ----------------------------------------------------------------------------------------- */

/* A TensorType. shape may be NULL (all dimensions unknown) or hold -1 for unknown dimensions. Types are interned: equal
 * Types have the same address. */
DAMO_API damo_type *damo_type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* A SparseTensorType. itype: DAMO_INT32 (int64 only if the size needs it), or DAMO_INT64 for int64 indices in any case;
 * shape as above, 2 entries. */
DAMO_API damo_type *damo_type_sparse(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype,
                                     const int64_t *shape);
/* The SparseTensorType of matrices of that dtype with a's pattern: entries at the same positions, in the same order;
 * format, shape and index dtype are a's. Equal patterns give the same Type. */
DAMO_API damo_type *damo_type_sparse_like(const damo_sparse *a, damo_dtype dtype);
/* The pattern of a Type as an owned bool matrix whose stored values are all true; NULL if the Type has none. */
DAMO_API damo_sparse *damo_type_pattern(const damo_type *type);
DAMO_API bool damo_type_is_sparse(const damo_type *type); /* whether it is a SparseTensorType */
/* The number of dimensions and the dtype of a TensorType or SparseTensorType. */
DAMO_API int damo_type_ndim(const damo_type *type);
DAMO_API damo_dtype damo_type_dtype(const damo_type *type);
/* The static shape: ndim entries, -1 for an unknown dimension; valid as long as the Type. */
DAMO_API const int64_t *damo_type_shape(const damo_type *type);

/* A new input Variable; name may be NULL. */
DAMO_API damo_var *damo_var_new(damo_ctx *ctx, damo_type *type, const char *name);
/* A constant Variable; the array is copied. */
DAMO_API damo_var *damo_constant(damo_ctx *ctx, const damo_array *value);
/* A float literal, which takes its dtype from the other operands, as a Lua number does. */
DAMO_API damo_var *damo_number(damo_ctx *ctx, double value);
/* A shared Variable, which compiled functions read and update; the array is copied. Its dtype and rank are fixed, its
 * shape is not. name may be NULL. */
DAMO_API damo_var *damo_shared(damo_ctx *ctx, const damo_array *value, const char *name);
/* The current value of a shared Variable, owned; later calls do not write into it while it is held. */
DAMO_API damo_array *damo_shared_value(damo_var *shared);
/* Sets the value to a copy of `value`, converted to the Variable's Type; a type error if that would lose anything. */
DAMO_API damo_status damo_shared_set(damo_var *shared, const damo_array *value);
/* The same for sparse matrices. Format and dtype of a shared Variable are fixed; a value in the other format is
 * converted. */
DAMO_API damo_var *damo_constant_sparse(damo_ctx *ctx, const damo_sparse *value);
DAMO_API damo_var *damo_shared_sparse(damo_ctx *ctx, const damo_sparse *value, const char *name);
DAMO_API damo_sparse *damo_shared_sparse_value(damo_var *shared);
DAMO_API damo_status damo_shared_sparse_set(damo_var *shared, const damo_sparse *value);
/* A Variable's Type; the node that computes it (NULL for inputs, constants and shared Variables); its name, or NULL.
 * Borrowed. */
DAMO_API damo_type *damo_var_get_type(const damo_var *v);
DAMO_API damo_apply *damo_var_get_owner(const damo_var *v);
DAMO_API const char *damo_var_get_name(const damo_var *v);

/* The expression tree of a Variable as text, to be freed with damo_text_free (NULL is allowed there). */
DAMO_API char *damo_debugprint(damo_ctx *ctx, damo_var *v);
DAMO_API void damo_text_free(damo_ctx *ctx, char *text);

/* ---- Calls of op functions --------------------------------------------------------------------------------------- */

/* An option of a function, or a property of an Op, by name. kind says which of the other fields is used. Properties of
 * Ops can't be lists or Variables. */
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

/* Calls an op function by name ("add", "dot", "sum", …) without options. Returns the first result, owned. */
DAMO_API damo_var *damo_call(damo_ctx *ctx, const char *func, damo_var *const *operands, int n);
/* The same with options, which are named as in the function's documentation. Axes are 1-based here, as in scripts, and
 * negative ones count from the end. An unknown option is a value error, a value of the wrong kind a type error. */
DAMO_API damo_var *damo_call_props(damo_ctx *ctx, const char *func, damo_var *const *operands, int n,
                                   const damo_prop *props, int n_props);
/* The same with all results: results receives n_results owned references. A value error unless n_results is the number
 * of results. */
DAMO_API damo_status damo_call_all(damo_ctx *ctx, const char *func, damo_var *const *operands, int n,
                                   const damo_prop *props, int n_props, damo_var **results, int n_results);
/* damo_call_props with the options as text, "axis=1 keepdims=true": at most 255 bytes, no spaces in values. */
DAMO_API damo_var *damo_call_with(damo_ctx *ctx, const char *func, damo_var *const *operands, int n,
                                  const char *options);

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* Output `out` is a view of input `in`, or overwrites it; 0-based. A list ends with {-1, -1}. */
typedef struct damo_alias {
  int16_t out, in;
} damo_alias;

/* An Op class of the host. Every callback runs on the thread that uses the context; it may fail (damo_fail) and must
 * return, not jump out. Its results are checked, and a wrong one is an error that names the class. The comment of each
 * callback says what NULL means. Variables that a callback returns are owned references, which damo releases. */
typedef struct damo_op_class {
  const char *name;   /* letters, digits and '_'; scripts find the class as damo.ops.<name> */
  const char *doc;    /* or NULL */
  const char *props;  /* names of the properties, space-separated, "low high"; NULL: none, the class has one Op */
  int n_in;           /* inputs; -1: any number */
  int n_out;          /* outputs; 0 means 1 */
  int default_output; /* the output, counted from 1, that a call returns; 0: all */

  /* Checks the inputs and sets out[o] to an owned Type for each output. NULL: every output has the first input's
   * Type. */
  damo_status (*infer_type)(const damo_op *op, damo_var *const *in, int n_in, damo_type **out);
  /* Computes: reads damo_thunk_input, writes damo_thunk_output. Inputs are read-only unless destroy_map names them.
   * Each run must set every output, with the dtype and rank of its Type. An output that the host still holds, or that
   * shares memory with an input that the maps don't name, is copied. Required. */
  damo_status (*perform)(damo_thunk *t);
  /* Bytes, zeroed at first, that a thunk keeps between runs (damo_thunk_state), and a function that frees what the host
   * has stored there, or NULL. */
  size_t state_size;
  void (*state_clear)(void *state);
  /* L_op: gout[o] is the gradient of output o, NULL if it has none. Sets gin[i] to the gradient for input i, or leaves
   * it NULL if there is none. NULL: not implemented. */
  damo_status (*grad)(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin);
  /* R_op: eval[i] is the tangent of input i, NULL if it has none. Sets tangent[o] likewise. NULL: computed by two
   * L_ops. */
  damo_status (*rop)(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent);
  /* Sets out[o][axis] to the length of each axis of each output, as an int64 scalar Variable, computed from the inputs'
   * lengths in[i][axis]. NULL: unknown without the value. */
  damo_status (*infer_shape)(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out);
  /* connected[i * n_out + o], preset to true: whether a gradient flows from output o to input i. NULL: all do. */
  void (*connection_pattern)(const damo_apply *node, bool *connected);
  /* Whether a node whose inputs are all constants may be folded into constants. NULL: yes, unless the class is impure. */
  bool (*do_constant_folding)(const damo_apply *node);
  /* A run reads or changes what is not among its inputs and outputs (a file, another process): nodes are never folded,
   * merged or taken out of a loop, and run in the order in which the graph lists them. */
  bool impure;
  const damo_alias *view_map, *destroy_map; /* copied; NULL: none. A missing input or output is a value error */

  void *user;                  /* returned by damo_op_user */
  void (*destroy)(void *user); /* called when the context is freed, or if registering fails; or NULL */
} damo_op_class;

/* Adds the class to the context for the context's life; the struct and its texts are copied. A value error if the name
 * is taken. */
DAMO_API damo_status damo_op_register(damo_ctx *ctx, const damo_op_class *op_class);
/* The Op of a registered class with these properties, owned; properties not listed are nil. Equal properties give the
 * same Op. */
DAMO_API damo_op *damo_op_make(damo_ctx *ctx, const char *class_name, const damo_prop *props, int n_props);
/* Applies an Op to inputs and returns the node, owned. A reference on an output keeps the node, and the node its
 * outputs. */
DAMO_API damo_apply *damo_op_apply(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in);
/* The class's user pointer. */
DAMO_API void *damo_op_user(const damo_op *op);
/* The class's name. */
DAMO_API const char *damo_op_name(const damo_op *op);
/* Reads a property into *out; returns false and leaves *out untouched if the property is nil or of another kind (an
 * integer counts as a number too). */
DAMO_API bool damo_op_get_number(const damo_op *op, const char *prop, double *out);
DAMO_API bool damo_op_get_int(const damo_op *op, const char *prop, int64_t *out);
DAMO_API bool damo_op_get_bool(const damo_op *op, const char *prop, bool *out);
DAMO_API const char *damo_op_get_string(const damo_op *op, const char *prop); /* NULL if it is no string */

/* The inputs and outputs of a node, counted from 0 (NULL past the last), and its Op. Borrowed. */
DAMO_API int damo_apply_n_inputs(const damo_apply *node);
DAMO_API int damo_apply_n_outputs(const damo_apply *node);
DAMO_API damo_var *damo_apply_get_input(const damo_apply *node, int i);
DAMO_API damo_var *damo_apply_get_output(const damo_apply *node, int i);
DAMO_API damo_op *damo_apply_get_op(const damo_apply *node);

/* For use inside perform. The value of input i, borrowed; NULL if it is sparse. */
DAMO_API const damo_array *damo_thunk_input(const damo_thunk *t, int i);
/* The value of input i if it is sparse, borrowed, else NULL. */
DAMO_API const damo_sparse *damo_thunk_input_sparse(const damo_thunk *t, int i);
/* Makes take_value, an owned matrix, output i. If it is NULL, returns the pending error, that of the call that should
 * have made it. A matrix that is also held elsewhere is copied when perform has returned. */
DAMO_API damo_status damo_thunk_give_sparse(damo_thunk *t, int i, damo_sparse *take_value);
/* A C-contiguous array to write output i into, borrowed, contents undefined. It is the last run's array if that has the
 * dtype and shape and nothing else holds it, so that a repeated call allocates nothing. NULL: out of memory. Get all
 * outputs before writing any, so that the node can be run again after a memory error. */
DAMO_API damo_array *damo_thunk_output(damo_thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape);
/* Output i for an Op whose destroy_map lets it overwrite input j: the input itself if it may be written, else a copy of
 * it. Borrowed. */
DAMO_API damo_array *damo_thunk_output_inplace(damo_thunk *t, int i, int j);
/* Scratch memory of at least that size, 64-byte aligned, kept between runs, contents undefined. NULL: out of memory. */
DAMO_API void *damo_thunk_scratch(damo_thunk *t, size_t size);
/* The state of the thunk (damo_op_class.state_size bytes); the node's Op; the context of the run. Borrowed. */
DAMO_API void *damo_thunk_state(const damo_thunk *t);
DAMO_API damo_op *damo_thunk_get_op(const damo_thunk *t);
DAMO_API damo_ctx *damo_thunk_ctx(const damo_thunk *t);

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* A shared Variable, owned, that holds the state of a random generator (Philox, the same numbers on every machine) with
 * that seed. name may be NULL.
 *
 * A draw is a call of "normal", "uniform", … whose first operand is a state; its results are the next state and the
 * draw. The next state is the state's update in the Function that draws:
 *
 *     damo_call_all(ctx, "normal", &state, 1, &shape, 1, next_and_draw, 2);
 *     damo_compile(ctx, NULL, 0, &next_and_draw[1], 1, &state, &next_and_draw[0], 1, NULL);
 *
 * Two draws from one state give the same numbers: each draw needs a state of its own, or the next state of another
 * draw. The value of the Variable is a uint64 vector of 3 entries; damo_shared_value and damo_shared_set save and
 * restore it. */
DAMO_API damo_var *damo_random_state(damo_ctx *ctx, uint64_t seed, const char *name);
/* Resets the generator's state to that of a seed. */
DAMO_API damo_status damo_random_seed(damo_var *state, uint64_t seed);

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* What happens for a wrt that the cost does not depend on: a disconnected_input error, a warning, nothing. */
typedef enum damo_disconnected {
  DAMO_DISCONNECTED_RAISE,
  DAMO_DISCONNECTED_WARN,
  DAMO_DISCONNECTED_IGNORE
} damo_disconnected;
/* The gradient of such a wrt: zeros, NULL, or a Variable of DisconnectedType. */
typedef enum damo_return_disconnected {
  DAMO_RETURN_ZERO,
  DAMO_RETURN_NONE,
  DAMO_RETURN_DISCONNECTED
} damo_return_disconnected;
typedef struct damo_grad_options {
  size_t size;                                  /* sizeof(damo_grad_options) */
  damo_var *const *known_of, *const *known;     /* known[i] is the gradient of known_of[i] */
  int64_t n_known;                              /* entries of both */
  damo_var *const *consider_constant;           /* gradients do not propagate through these */
  int64_t n_consider_constant;                  /* entries of consider_constant */
  damo_disconnected disconnected_inputs;        /* 0: an error */
  damo_return_disconnected return_disconnected; /* 0: zeros */
  bool null_gradients_return;                   /* an undefined gradient is a NullType result, not an error */
} damo_grad_options;

/* Sets out[i] to d cost / d wrt[i], owned. cost is a real scalar. Errors: type (cost), disconnected_input,
 * null_gradient. */
DAMO_API damo_status damo_grad(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n, damo_var **out);
/* The same with options. cost may be NULL if known gradients are given. */
DAMO_API damo_status damo_grad_with(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n,
                                    const damo_grad_options *options, damo_var **out);
/* The L-operator: sets out[i] to the sum over k of output_grads[k] · d f[k] / d wrt[i], owned; zeros if no f depends on
 * wrt[i]. f and output_grads have n_f entries, wrt and out n. */
DAMO_API damo_status damo_lop(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, int64_t n,
                              damo_var *const *output_grads, damo_var **out);
/* The R-operator, a directional derivative: sets out[k] to the sum over i of d f[k] / d wrt[i] · eval_points[i], owned.
 * f and out have n_f entries, wrt and eval_points n. Of the options, disconnected_inputs and return_disconnected are
 * used; they apply to an f that depends on no wrt. */
DAMO_API damo_status damo_rop(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, int64_t n,
                              damo_var *const *eval_points, const damo_grad_options *options, damo_var **out);
/* A Variable that marks a gradient as undefined, for a callback to return: asking for that gradient is a null_gradient
 * error with the reason `why`. */
DAMO_API damo_var *damo_grad_undefined(damo_ctx *ctx, const char *why);

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

/* Sets out[o] to a graph, owned, of outputs[o] with old[i] replaced by now[i], which may have further leading axes: the
 * result then has them too, and entry by entry it is what outputs[o] is for the entries of now[]. Leading axes
 * broadcast where they are statically 1. A type error if dtypes differ, a shape error if known lengths do. outputs and
 * out have n entries, old and now n_old. */
DAMO_API damo_status damo_vectorize_graph(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_var *const *old,
                                          damo_var *const *now, int64_t n_old, damo_var **out);

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* What happens for an input that no output depends on: an unused_input error, a warning, nothing. */
typedef enum damo_unused { DAMO_UNUSED_RAISE, DAMO_UNUSED_WARN, DAMO_UNUSED_IGNORE } damo_unused;
typedef struct damo_compile_options {
  size_t size;                              /* sizeof(damo_compile_options) */
  const char *name;                         /* the function's name in errors; NULL: "function" */
  const char *mode;                         /* "FAST_RUN" (NULL), "FAST_COMPILE", "DEBUG", "NANGUARD" */
  const char *optimizer;                    /* "fast_run", "fast_compile", "none"; NULL: the mode's */
  const char *include, *exclude;            /* more tags of rewrites, space-separated; NULL: none */
  damo_var *const *shared, *const *update;  /* shared[i] takes the value of update[i] after each successful call */
  int64_t n_updates;                        /* entries of both */
  damo_var *const *given, *const *given_as; /* every use of given[i] becomes given_as[i] */
  int64_t n_givens;                         /* entries of both */
  damo_obj *const *defaults;                /* a value for each input, or NULL; retained, not copied. NULL: none */
  const bool *mutable_inputs;               /* for each input: a call may overwrite the caller's array. NULL: none */
  const bool *strict_inputs;                /* for each input: values are not converted to its Type. NULL: none */
  const bool *borrow_outputs;               /* for each output: f keeps the array and may overwrite it later. NULL:
                                             * none */
  damo_unused on_unused_input;              /* 0: an error */
  bool allow_input_downcast;                /* arguments are cast even if that loses digits: float64 to float32 */
  bool no_default_updates;                  /* default updates of shared Variables, set by scripts, are left out */
  int threads;                              /* threads that one call may use; 0: those of the context's configuration */
  bool reproducible;                        /* results have the same bits on every machine, at some cost in speed; what
                                             * BLAS, LAPACK, SuiteSparse or C's library computes is not_implemented */
} damo_compile_options;

/* Compiles a Function, owned, that computes outputs from inputs. The graph is not changed; the Function keeps a copy of
 * what it needs. */
DAMO_API damo_function *damo_compile_with(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in,
                                          damo_var *const *outputs, int64_t n_out, const damo_compile_options *options);
/* The same with the options updates and mode only. */
DAMO_API damo_function *damo_compile(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                     int64_t n_out, damo_var *const *shared, damo_var *const *update, int64_t n_updates,
                                     const char *mode);
/* Another Function, owned, with the same compiled program and shared Variables but storage of its own. */
DAMO_API damo_function *damo_function_copy(const damo_function *f);
/* The same in another context, so that f and its copies may be called at the same time, each on its own thread.
 * Constants are shared. The values of shared Variables and the default values are copied; the copy reads and updates
 * its own. No other thread may use either context during this call. Arguments, results and errors of the copy belong to
 * the copy's context. f and the reference on f's context may be released before the copy, but as long as a thread uses
 * f's context, the host must keep a reference on it. A state error if an Op runs only in its own context (an Op of a
 * host or of a script), which the error names, or if f was compiled in the mode DEBUG or NANGUARD. */
DAMO_API damo_function *damo_function_copy_to(const damo_function *f, damo_ctx *ctx);
/* The value of a shared Variable that f reads or updates, as an owned array of f's context; a copy in another context
 * has its own value. NULL if f does not use the Variable, or if its value is sparse. */
DAMO_API damo_array *damo_function_shared_value(const damo_function *f, const damo_var *shared);
/* The state of f (its shared values, random streams and inputs with an update) as bytes, the same on every machine. *size
 * receives their number; dst, which has space for n, receives them, and NULL asks for the number alone. Allocates nothing
 * but for the first time. */
DAMO_API damo_status damo_function_snapshot(const damo_function *f, void *dst, size_t n, size_t *size);
/* Sets the state from a snapshot of f, or of a Function that was compiled from an equal graph; bytes behind it are
 * ignored. A value error, and nothing is changed, if it is of another Function or damaged. */
DAMO_API damo_status damo_function_restore(damo_function *f, const void *bytes, size_t n);
/* A graph for files, or from one: Variables of inputs and outputs, and shared Variables with their new values. */
typedef struct damo_graph damo_graph;
typedef enum damo_graph_part {
  DAMO_GRAPH_INPUTS,
  DAMO_GRAPH_OUTPUTS,
  DAMO_GRAPH_UPDATED, /* shared Variables, and at the same positions */
  DAMO_GRAPH_UPDATES, /* their new values */
  DAMO_GRAPH_SHARED   /* of a graph that was read: all its shared Variables */
} damo_graph_part;
/* A graph of these Variables, which it retains; free with damo_graph_free. */
DAMO_API damo_graph *damo_graph_new(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                    int64_t n_out, damo_var *const *update_of, damo_var *const *update_to,
                                    int64_t n_updates);
/* The graph that f was compiled from, with all that its calls update. A state error for a Function that does not hold it:
 * a freed one, or a copy in another context. */
DAMO_API damo_graph *damo_graph_of_function(const damo_function *f);
/* Frees the graph, and drops the default updates of the shared Variables of one that was read; NULL is allowed. */
DAMO_API void damo_graph_free(damo_graph *g);
/* The number of Variables of that part, and one of them (borrowed), NULL past the last one. */
DAMO_API int64_t damo_graph_size(const damo_graph *g, damo_graph_part part);
DAMO_API damo_var *damo_graph_get(const damo_graph *g, damo_graph_part part, int64_t i);
/* Writes the graph with the values of its shared Variables: the same bytes for the same graph, on every machine. lines:
 * with the lines of a script that its nodes come from. A type error that names what a file can't hold, such as a value
 * that is no array; the file is then left as it is. */
DAMO_API damo_status damo_graph_write(const damo_graph *g, const char *path, bool lines);
DAMO_API damo_status damo_graph_format(const damo_graph *g, bool lines, damo_bytes *out);
/* Reads a graph; free with damo_graph_free. Nothing in the bytes is run. Ops that are not damo's are those of the list
 * with the same class name, or of a class that the host has registered; a value error if there is none. An io error for
 * bytes that are damaged, or of a later version. */
DAMO_API damo_graph *damo_graph_read(damo_ctx *ctx, const char *path, damo_op *const *ops, int64_t n_ops);
DAMO_API damo_graph *damo_graph_parse(damo_ctx *ctx, const void *bytes, size_t n, damo_op *const *ops, int64_t n_ops);
/* A program by name, for any context of the process. Writes a random name of 32 hexadecimal digits, and a final 0, for a
 * copy of f's program with the values that f's shared Variables and default values have now. The copy is of a context of
 * its own, outside of every memory cap, and is shared by all Functions of that name. The name holds as long as the
 * program of f or a Function made by it lives, or while it is pinned; for equal values f gives the same name again. A
 * state error if an Op runs only in its own context (an Op of a host or of a script), which the error names, or if f was
 * compiled in the mode DEBUG or NANGUARD. */
#define DAMO_TOKEN_SIZE 33
DAMO_API damo_status damo_function_token(damo_function *f, char token[DAMO_TOKEN_SIZE]);
/* A Function of ctx over the program of that name, with a frame, shared Variables and default values of its own, which
 * begin with the values that the token was made with. Contexts on any threads may do so at the same time, and call such
 * Functions. A state error if no program of this process has the name. */
DAMO_API damo_function *damo_from_token(damo_ctx *ctx, const char *token);
/* Keeps the program of that name, whether or not there are Functions over it, until each pin is taken away again. A state
 * error if no program has the name, or if there is no pin to take away. */
DAMO_API damo_status damo_token_pin(damo_ctx *ctx, const char *token);
DAMO_API damo_status damo_token_unpin(damo_ctx *ctx, const char *token);
/* Sets the allocator that the programs of tokens take their memory from, instead of malloc: once in a process, before the
 * first token is made, else a state error (there is no context to hold it). It is called on any thread that makes a
 * token or drops the last Function of a program. */
DAMO_API damo_status damo_token_set_allocator(damo_alloc_fn alloc, void *user);
/* Shared Variable number i (from 0) of those that f reads or updates, in f's order, owned; NULL past the last. A Function
 * made by a token, and a copy in another context, have shared Variables of their own, of their context. */
DAMO_API damo_var *damo_function_shared_var(const damo_function *f, int64_t i);
/* The number of inputs and outputs that f was compiled with. */
DAMO_API int64_t damo_function_n_inputs(const damo_function *f);
DAMO_API int64_t damo_function_n_outputs(const damo_function *f);

/* Calls f. results receives an owned array for each output. For a NULL argument, and for inputs from n_args on, the
 * default value is used; missing_input if there is none. If the call fails, no shared Variable has changed. A type
 * error if an output is sparse: use damo_function_call_values. */
DAMO_API damo_status damo_function_call(damo_function *f, damo_array *const *args, int64_t n_args,
                                        damo_array **results);
/* The same with arguments and results that are arrays or sparse matrices, cast to damo_obj *; damo_as_array and
 * damo_as_sparse distinguish them. */
DAMO_API damo_status damo_function_call_values(damo_function *f, damo_obj *const *args, int64_t n_args,
                                               damo_obj **results);
/* The same, writing the results into objects of the host. into[i] is an array of result i's dtype and shape, or a
 * matrix of its format, dtypes and shape, which nothing else may hold and which takes on the result's pattern; if it is
 * NULL, the result is discarded. Arguments may overlap targets; the results are the same as without overlap. If the
 * call fails, arrays may have been written in part; matrices are unchanged. */
DAMO_API damo_status damo_function_into(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into);

/* A call cut into slices: begins a call of f, whose arguments are kept until its end and not written by damo meanwhile
 * (memory of the host is the host's care). It reads shared values as they are now. Owned; damo_release cancels what has
 * not ended. NULL on failure. f may be called meanwhile. */
typedef struct damo_run damo_run;
DAMO_API damo_run *damo_call_begin(damo_function *f, damo_array *const *args, int64_t n_args);
/* Goes on for about `us` microseconds, at least by one piece; negative: to the end. *done: the call has ended and its
 * updates are committed. A state error if a shared Variable that it updates was set since damo_call_begin; nothing is
 * committed then, nor after any other error. After a memory error the next step begins the call again. */
DAMO_API damo_status damo_call_step(damo_run *run, double us, bool *done);
/* After the end: results receives an owned array for each output; a state error before. */
DAMO_API damo_status damo_call_result(damo_run *run, damo_array **results);
/* Ends a call that has not ended; nothing is committed. */
DAMO_API damo_status damo_call_cancel(damo_run *run);
/* Begins the next call of the same Function, without allocating; cancels one that has not ended. */
DAMO_API damo_status damo_call_restart(damo_run *run, damo_array *const *args, int64_t n_args);

/* ---- Graphs as Ops ----------------------------------------------------------------------------------------------- */

/* An Op, owned, that computes a graph. The inner graph is copied; it is rewritten and compiled once. Shared Variables
 * in it become further inputs, which applying the Op adds. inlined: compiling replaces the node by its inner graph.
 * name NULL: "OpFromGraph". */
DAMO_API damo_op *damo_op_from_graph(damo_ctx *ctx, damo_var *const *inputs, int n_in, damo_var *const *outputs,
                                     int n_out, const char *name, bool inlined);

/* ---- Lua --------------------------------------------------------------------------------------------------------- */

struct lua_State;

/* Opens the Lua module; put it into package.preload["damo.core"]. */
DAMO_API int luaopen_damo_core(struct lua_State *L);
/* Makes the Lua state use the host's context, which is retained. A state error if damo.core has been loaded there
 * already; DAMO_ESTATE without a message if the context is of another build of the library. */
DAMO_API damo_status damo_lua_set_context(struct lua_State *L, damo_ctx *ctx);

/* For functions in C that a script calls. A module that is loaded beside damo.core, which has none of the symbols of
 * this header to link with, includes damo_module.h. */

/* The context of the Lua state, borrowed; NULL before damo.core is loaded there and while the state is being closed. */
DAMO_API damo_ctx *damo_lua_get_context(struct lua_State *L);
/* The object of damo (an Array, a sparse matrix, a Variable, …) that the value at that index of the stack is, borrowed;
 * NULL for every other value. damo_as_array and its kin tell which. Raises a state error if the script has freed it.
 * Nodes that are made after a Variable was got have the running lines of the script as their trace. */
DAMO_API damo_obj *damo_lua_get(struct lua_State *L, int index);
/* Pushes what a script sees of the object, which is retained; nil for NULL. May raise a memory error of Lua. */
DAMO_API void damo_lua_push(struct lua_State *L, const void *obj);
/* Raises the context's last error as the error object that scripts know. Does not return; its type is for
 * `return damo_lua_raise(L);`. */
DAMO_API int damo_lua_raise(struct lua_State *L);

/* Calls of compiled Functions through LuaJIT's ffi. These types are those of functions that damo.core hands over to its own
 * Lua part by address; no library exports them. make/front-types makes of these lines what the ffi reads. */

/* What a call leaves: the results that are numbers, and whether it was made. */
typedef struct damo_front_left {
  double results[6];
  bool done;
} damo_front_left;
/* A call with 0 to 6 operands, each the address of an object's userdata, or NULL and a number. The result is the first
 * one; nan also where the call was not made. */
typedef double (*damo_front_run0)(void *call);
typedef double (*damo_front_run1)(void *call, void *a, double p);
typedef double (*damo_front_run2)(void *call, void *a, double p, void *b, double q);
typedef double (*damo_front_run3)(void *call, void *a, double p, void *b, double q, void *c, double r);
typedef double (*damo_front_run4)(void *call, void *a, double p, void *b, double q, void *c, double r, void *d,
                                  double s);
typedef double (*damo_front_run5)(void *call, void *a, double p, void *b, double q, void *c, double r, void *d,
                                  double s, void *e, double t);
typedef double (*damo_front_run6)(void *call, void *a, double p, void *b, double q, void *c, double r, void *d,
                                  double s, void *e, double t, void *f, double u);

#ifdef __cplusplus
}
#endif

#endif
