/* build.h: building graph in C. Part of graph.h.
 *
 * A build is a scope: what is made in it is held by it and released when it ends, so that gradient and rewrite rules
 * read like formulas. The first failure sticks: every later call with a NULL argument, or in a failed scope, returns
 * NULL at once, so a rule checks once, at its end.
 *
 *     damo_var *g = build_mul(b, gz, build_cos(b, x));   // d sin(x)
 */
#ifndef DAMO_GRAPH_BUILD_H
#define DAMO_GRAPH_BUILD_H

struct build {
  damo_ctx *ctx;
  ptrvec owned;
  damo_status status;
};

void build_init(build *b, damo_ctx *ctx);
/* Releases all that the scope holds; retain before what is to stay. Returns the scope's status. */
damo_status build_end(build *b);
/* Gives an owned reference to the scope; NULL marks the scope failed (with the context's pending error). Returns its
 * argument. */
damo_var *build_take(build *b, damo_var *owned);
/* Fails the scope: build_fail(b, DAMO_ESHAPE, "…"); returns NULL. */
damo_var *build_fail(build *b, damo_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Applies an op (op is stolen, and may be NULL) and returns the node's first output, borrowed from the scope. */
damo_var *build_op(build *b, damo_op *take_op, damo_var *const *in, int n_in);
/* The same, giving the node: outputs are node->out[i]. */
damo_apply *build_apply(build *b, damo_op *take_op, damo_var *const *in, int n_in);

/* Calls the registered function of that name (op_func) without options. */
damo_var *build_fn1(build *b, const char *name, damo_var *x);
damo_var *build_fn2(build *b, const char *name, damo_var *x, damo_var *y);
damo_var *build_fn3(build *b, const char *name, damo_var *x, damo_var *y, damo_var *z);

/* Constants. build_num is a weak literal, of kind float: it takes its neighbours' dtype. build_int likewise of kind
 * int. */
damo_var *build_num(build *b, double value);
damo_var *build_int(build *b, int64_t value);
damo_var *build_scalar(build *b, damo_dtype dtype, double value); /* a strong 0-d constant */
damo_var *build_value(build *b, damo_obj *take_value);            /* a strong constant of that value */
damo_var *build_ints(build *b, const int64_t *values, int n);     /* an int64 vector */

/* Markers that a gradient rule may return. */
damo_var *build_null(build *b, const char *why);
damo_var *build_disconnected(build *b);

/* Weak operands among in[0..n) become constants of the dtype that DESIGN's number rule gives next to the strong ones;
 * strong operands are copied as they are. out may be in. With `common`, all operands are also cast to the promoted
 * dtype. */
damo_status build_resolve(build *b, damo_var *const *in, int n, bool common, damo_var **out);

/* ---- Functions that scripts call --------------------------------------------------------------------------------- */

typedef struct op_func op_func;

/* A call, checked against the signature: operands, then one value per declared option (PROP_NIL where not given). */
typedef struct fn_args {
  const op_func *func;
  int n_in;
  damo_var *const *in;
  const prop_value *opt;
} fn_args;

/* A function of the public API: makes one or more nodes. `damo.sum(x, {axis=1})` and `x:sum(1)` are this row. A name
 * with a dot stands in that table: "sparse.dot" is damo.sparse.dot. A call of a plain row with a sparse operand is a
 * call of "sparse.NAME" with the same options, where there is such a row, and a type error where there is none. */
struct op_func {
  const char *name;
  /* Operands by name, space-separated: "x y"; "[y]" may be absent (NULL); "xs..." is one list of any length, given to
   * the function as the remaining entries of in. */
  const char *operands;
  /* "axis:axes keepdims:bool dtype:dtype": kinds int num bool str dtype axes ints shape var any. shape: a list of
   * integers and Variables, or one integer vector Variable. NULL: no options. */
  const char *options;
  /* Appends the results, borrowed from b, to out. */
  damo_status (*call)(build *b, const fn_args *a, ptrvec *out);
  const void *data; /* the row this is made from (an elementwise op), or NULL */
  const char *doc;
  bool no_method; /* not offered as a method of Variables and Arrays (arange, eye, …) */
  bool any_type;  /* takes operands of every Type itself: a sparse one does not lead to the row "sparse.NAME" */
};

/* Adds the rows of a family (an array that ends with a NULL name, static for the context's life) to the context. */
damo_status funcs_register(damo_ctx *ctx, const op_func *rows);
const op_func *func_find(damo_ctx *ctx, const char *name);
/* Row number i in the order of registration, NULL past the end: for the binding, docs and specs that walk the
 * registry. */
const op_func *func_at(damo_ctx *ctx, int64_t i);
/* Calls a function with borrowed operands and options as the signature orders them (opt may be NULL: all nil). */
damo_status func_call(build *b, const op_func *f, damo_var *const *in, int n_in, const prop_value *opt, ptrvec *out);
/* The same for one result. */
damo_var *build_func(build *b, const op_func *f, damo_var *const *in, int n_in, const prop_value *opt);
/* The same by name. */
damo_var *build_fn(build *b, const char *name, damo_var *const *in, int n_in, const prop_value *opt);

#endif
