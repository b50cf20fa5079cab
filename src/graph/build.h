/* build.h: building graph in C. Part of graph.h.
 *
 * A build is a scope: it owns everything made in it and releases it at build_end, so that gradient and rewrite rules
 * read like formulas. The first failure sticks: in a failed scope every call returns NULL at once, so a rule checks the
 * status once, at its end. A NULL argument in a scope that has not failed is a state error.
 *
 *     damo_var *g = build_mul(b, gz, build_cos(b, x));   // d sin(x)
 */
#ifndef DAMO_GRAPH_BUILD_H
#define DAMO_GRAPH_BUILD_H

/* A note of a scope: a Variable is where(cond, raw, 0), or with `inverse` where(cond, 0, raw). raw is the Variable
 * itself where it is 0 outside the condition by how it was made. op/elem/masked.h says what notes are for. */
typedef struct build_mask {
  struct build_mask *next;
  damo_var *cond, *raw;
  bool inverse, weak;
  bool lazy; /* an ifelse in place of the where: raw is only computed where it is taken */
} build_mask;

/* Finds the node that exists for an Op and its inputs; NULL: none does. */
typedef struct build_finder {
  damo_apply *(*find)(void *user, const damo_op *op, damo_var *const *in, int n_in);
  void *user;
} build_finder;

struct build {
  damo_ctx *ctx;
  ptrvec owned;
  damo_status status;
  map masks; /* damo_var* of the scope → its build_mask */
  build_mask *first_mask;
  const build_finder *finder; /* asked before a node is made; NULL: each is made */
};

void build_init(build *b, damo_ctx *ctx);
/* Releases everything that the scope owns; the caller retains what must live longer first. Returns the scope's
 * status. */
damo_status build_end(build *b);
/* Gives an owned reference to the scope; NULL marks the scope failed (with the context's pending error). Returns its
 * argument. */
damo_var *build_take(build *b, damo_var *owned);
/* Keeps a copy of the note for v, in place of an earlier one; returns v, NULL on failure. build_mask_of: v's note or
 * NULL. */
damo_var *build_keep_mask(build *b, damo_var *v, build_mask note);
const build_mask *build_mask_of(const build *b, const damo_var *v);
/* Fails the scope, unless it has failed already: build_fail(b, DAMO_ESHAPE, "…"). Returns NULL. */
damo_var *build_fail(build *b, damo_status status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Applies an op (op is stolen, and may be NULL) and returns the node's first output, borrowed from the scope. */
damo_var *build_op(build *b, damo_op *take_op, damo_var *const *in, int n_in);
/* The same, but returns the node; its outputs are node->out[i]. */
damo_apply *build_apply(build *b, damo_op *take_op, damo_var *const *in, int n_in);

/* Constants. build_num and build_int make weak literals, of kind float and integer: they take their dtype from the
 * other operands (build_resolve). */
damo_var *build_num(build *b, double value);
damo_var *build_int(build *b, int64_t value);
damo_var *build_scalar(build *b, damo_dtype dtype, double value); /* a strong 0-d constant */
damo_var *build_value(build *b, damo_obj *take_value);            /* a strong constant of that value */
damo_var *build_ints(build *b, const int64_t *values, int n);     /* an int64 vector */

/* Markers that a gradient rule may return: a gradient that is undefined for the given reason, and none at all. */
damo_var *build_null(build *b, const char *why);
damo_var *build_disconnected(build *b);

/* Gives weak literals their dtype: out[i] is in[i], or for a weak literal a constant of the dtype that it has next to
 * the other operands. A literal takes the dtype that the strong operands promote to if its kind and value fit (an
 * integer next to float32 becomes float32); an integer that does not fit takes the smallest integer dtype that holds
 * it, a float next to integers floatX. With `common`, all operands are then cast to their promoted dtype. out may be
 * in. */
damo_status build_resolve(build *b, damo_var *const *in, int n, bool common, damo_var **out);
/* The dtype of a literal next to strong operands of dtype `strong`. An integer keeps that dtype if the value fits, else
 * it takes the smallest integer dtype that holds it. A float next to integers is floatX, and float64 where the value
 * overflows float32. */
damo_dtype build_weak_dtype(const damo_ctx *ctx, scalar value, damo_dtype strong);

/* Calls the function of a registered row with options, WITH(take_options, .axis = …) (NULL: none given; signature.h).
 * Returns its first result. */
damo_var *build_row(build *b, const struct op_func *row, damo_var *const *in, int n_in, const fn_given *options);

#endif
