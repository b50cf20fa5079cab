/* graph: the part of damo.h that makes graphs: Types and Variables, Ops and their calls, random numbers, gradients. */
#ifndef DAMO_PUBLIC_GRAPH_H
#define DAMO_PUBLIC_GRAPH_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

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

  void *user;                  /* data of the host, which damo_op_user gives back */
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

/* ---- Graphs as Ops ----------------------------------------------------------------------------------------------- */

/* An Op, owned, that computes a graph. The inner graph is copied; it is rewritten and compiled once. Shared Variables
 * in it become further inputs, which applying the Op adds. inlined: compiling replaces the node by its inner graph.
 * name NULL: "OpFromGraph". */
DAMO_API damo_op *damo_op_from_graph(damo_ctx *ctx, damo_var *const *inputs, int n_in, damo_var *const *outputs,
                                     int n_out, const char *name, bool inlined);

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

#ifdef __cplusplus
}
#endif

#endif
