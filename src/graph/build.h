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

/* Calls the registered function of that name with options, WITH(take_options, .axis = …) (NULL: none given; signature.h), for one
 * result. */
damo_var *build_fn(build *b, const char *name, damo_var *const *in, int n_in, const fn_given *options);

#endif
