/* rewrite_int.h: private to rewrite/. */
#ifndef DAMO_REWRITE_REWRITE_INT_H
#define DAMO_REWRITE_REWRITE_INT_H

#include "loop/loop.h"
#include "rewrite.h"

/* Families of rules, each terminated by a NULL name. */
extern const rewrite_rule merge_rules[];
extern const rewrite_rule fold_rules[];
extern const rewrite_rule canonicalize_rules[];
extern const rewrite_rule shape_rules[];
extern const rewrite_rule fill_rules[];
extern const rewrite_rule stabilize_rules[];
extern const rewrite_rule specialize_rules[];
extern const rewrite_rule product_rules[];
extern const rewrite_rule linalg_rules[];
extern const rewrite_rule sparse_rules[];
extern const rewrite_rule sampled_rules[];
extern const rewrite_rule variance_rules[];
extern const rewrite_rule fusion_rules[];
extern const rewrite_rule epilogue_rules[];
extern const rewrite_rule source_rules[];
extern const rewrite_rule inplace_rules[];
extern const rewrite_rule choice_rules[];
extern const rewrite_rule nary_rules[];
extern const rewrite_rule identity_rules[];
extern const rewrite_rule reduction_rules[];
extern const rewrite_rule indexing_rules[];
extern const rewrite_rule joining_rules[];
extern const rewrite_rule spectral_rules[];
extern const rewrite_rule quotient_rules[];
extern const rewrite_rule diagonal_rules[];

/* The node that stands for an equal one keeps the lines of both (merge.c). */
damo_status merge_traces(damo_ctx *ctx, damo_apply *twin, const damo_apply *node);

/* Replaces nodes that a Loop can take in by Elemwise nodes and reductions (row_parts.c). */
damo_status rewrite_row_parts(damo_fgraph *fg, bool *did);

/* Local rules and folding skip nodes with more outputs. */
#define REWRITE_MAX_OUT 64

/* Restricts a rule to Elemwise nodes of these scalar ops: ELEMWISE(SCALAR_mul, SCALAR_add). A rule that tracks other
 * classes too uses TRACKS and SCALARS. */
#define SCALARS(...) \
  .scalars = (const int[]) { __VA_ARGS__, -1 }
#define ELEMWISE(...) TRACKS(&elemwise_def), SCALARS(__VA_ARGS__)

/* A local rule's usual last call: v (NULL: nothing) replaces the node's first output. */
static inline damo_status rule_give(build *b, damo_var **repl, bool *did, damo_var *v) {
  repl[0] = v;
  *did = v != NULL;
  return b->status;
}

/* ---- Shared nodes (cons.c) ---- */

/* For an Op and its inputs, the node of the graph. The owner tells it of each change of the graph. */
typedef struct cons_table {
  map of_key; /* hash of Op and inputs → damo_apply*, borrowed */
} cons_table;
/* Hash of an Op and its inputs; whether a node has that Op and these inputs. */
/* Whether equal nodes of the Op may be one: it is neither impure nor lazy, and destroys no operand. */
bool cons_takes(const damo_op *op);
uint64_t cons_key(const damo_op *op, damo_var *const *in, int n_in);
bool cons_same(const damo_apply *node, const damo_op *op, damo_var *const *in, int n_in);
damo_status cons_add(cons_table *t, damo_apply *node); /* no effect if it has an equal node */
void cons_remove(cons_table *t, const damo_apply *node);
/* NULL: there is none. */
damo_apply *cons_find(const cons_table *t, const damo_op *op, damo_var *const *in, int n_in);
damo_status cons_input_changed(cons_table *t, damo_apply *node, int index, damo_var *old, damo_var *now);

/* v without axes of length 1 in front of what it is made of: x of DimShuffle{x, x, 1}(x), or a constant with one entry as
 * a scalar. NULL: there are none (fill.c). */
damo_var *rule_without_new_axes(build *b, damo_var *v);

/* ---- Indices (indexing.c) ---- */

#define MOST_ITEMS DAMO_MAX_NDIM

/* An item of an index: a position (i), a range (s) with start, stop and step where given, a new axis (n), the rest (e),
 * a list (l). */
typedef struct spec_item {
  char kind;
  damo_var *at;      /* position, list */
  damo_var *ends[3]; /* range; NULL where not given */
} spec_item;

typedef struct spec_items {
  spec_item item[MOST_ITEMS];
  int n;
} spec_items;

/* The node's index, whose operands begin at input `first`. False if it has more items than this can hold. */
bool index_read_items(const damo_apply *node, int first, spec_items *out);
bool index_is_plain(const spec_items *s);                               /* positions and ranges alone */
damo_var *index_build_read(build *b, damo_var *x, const spec_items *s); /* x[items] */
/* A range of known ends on an axis of known length: its first position (0-based), count and step; false if it is not
 * known, or outside. */
bool index_resolve_range(const spec_item *it, int64_t n, int64_t *first, int64_t *count, int64_t *step);
damo_var *index_position(build *b, int64_t zero_based);

/* ---- Products and sums of any number of operands (nary.c) ---- */

#define FACTOR_LIST_MAX 32

/* A product as a list of factors, each in the numerator or the denominator, and a sign; or a sum as a list of terms,
 * those `below` subtracted. */
typedef struct factor_list {
  damo_var *at[FACTOR_LIST_MAX];
  bool below[FACTOR_LIST_MAX];
  int n;
  bool negative;
  damo_var *gone[FACTOR_LIST_MAX]; /* those that were cancelled */
  int n_gone;
} factor_list;

/* Splits v into factors, through nodes that have no other use; false if there are too many. */
bool factor_list_collect(const damo_fgraph *fg, damo_var *v, factor_list *p);
void factor_list_remove(factor_list *p, int k); /* the last one takes its place */
/* Cancels each factor that is in both numerator and denominator and is never 0 or infinite in exact arithmetic, or is
 * the determinant of a matrix that the graph inverts. It may be so by rounding, and then the value without it is the
 * accurate one. Any other factor stays, so that 0/0 and inf/inf remain nan. */
void factor_list_cancel(const damo_fgraph *fg, factor_list *p);
/* Whether u comes before v in the order of operands, which depends on the user's graph alone. */
bool operand_before(const damo_var *u, const damo_var *v);
damo_var *factor_list_multiply(build *b, const factor_list *p, damo_dtype dtype);
/* The product in its one form: the factors are put into their order first. */
damo_var *factor_list_build(build *b, factor_list *p, damo_dtype dtype);
/* Whether v is an inner node of a larger product, whose root is looked at instead. */
bool factor_list_is_inner(const damo_fgraph *fg, const damo_var *v);

/* Splits v into the terms of its sum, those below subtracted, through nodes that have no other use; false if there are
 * too many. */
bool term_list_collect(const damo_fgraph *fg, damo_var *v, factor_list *p);
damo_var *term_list_build(build *b, factor_list *p, damo_dtype dtype);

/* ---- Sums of exponentials (quotients.c) ---- */

#define EXP_SUM_MAX 8

/* c·exp(u) + …, with constants c > 0; a term that is a constant has no u. */
typedef struct exp_sum {
  damo_var *u[EXP_SUM_MAX];
  double c[EXP_SUM_MAX];
  int n;
} exp_sum;

/* Whether v is a sum of exponentials, of two terms or more of which at least one is no constant. */
bool match_exp_sum(damo_var *v, exp_sum *s);
/* Its logarithm, by logaddexp. */
damo_var *build_log_of_exp_sum(build *b, const exp_sum *s);

/* ---- Softmax (stabilize.c) ---- */

/* If v is a reduction of that kind (reduce_kind) of x, with the reduced axes put back as ones: whether it is over one
 * axis or over all, and which (0-based; -1: all). */
bool match_reduced_back(const damo_var *v, int kind, const damo_var *x, int *axis);
/* Softmax or LogSoftmax of x along that axis, -1: all. */
damo_var *build_softmax_of(build *b, const op_def *def, damo_var *x, int axis);

/* ---- Queries of rules (match.c) ---- */

/* The node of v if its Op is of that class, else NULL. */
static inline damo_apply *match_class(const damo_var *v, const op_def *def) {
  return v->owner != NULL && v->owner->op->def == def ? v->owner : NULL;
}
/* The same for a NULL-terminated list of classes. */
damo_apply *match_class_of(const damo_var *v, const op_def *const *defs);
/* Whether v is a small constant whose entries all equal `value`, directly or through DimShuffle, Alloc and fill
 * nodes. */
bool match_constant(const damo_var *v, double value);
/* Whether input i of an elementwise node has the output's shape: the same rank, and no axis along which its Type
 * broadcasts. */
bool match_fits(const damo_apply *node, int i);
/* Whether the node is a product with a sparse matrix, SparseDot or StructuredDot (rewrite/sparse.c). */
bool match_sparse_product(const damo_apply *node);
/* Whether u and v certainly have the same shape when the nodes between them run without error, as far as Types and
 * these nodes tell. */
bool match_same_shape(const damo_var *u, const damo_var *v);
/* Whether the int64 scalar d is certainly the length of that axis of v. */
bool match_length(const damo_var *d, const damo_var *v, int axis);
/* Whether axis i of u certainly has the length of axis k of v. */
bool match_same_length(const damo_var *u, int i, const damo_var *v, int k);
/* Whether v is a length, so an integer that is not negative: Shape_i, sums of lengths, and of constants beside them. */
bool match_length_value(const damo_var *v);
/* Properties of the exact value for all finite inputs, rounding aside (facts.c). NONNEGATIVE also holds for the
 * computed value, which is not -0 either. */
enum { FACT_FINITE = 1, FACT_NONNEGATIVE = 2, FACT_NONZERO = 4 };
/* Whether all these facts are known to hold for v. */
bool match_facts(const damo_var *v, unsigned facts);
/* Whether v has the shape of a fill, second(like, value) or Alloc(value, lengths…), judged by the operands that give
 * the fill its shape. */
bool match_fill_shape(const damo_var *v, const damo_var *fill);
/* Whether every axis of v has length 1, so that v broadcasts against anything. */
bool match_single_entry(const damo_var *v);
/* The vector whose square diagonal matrix v is, with the diagonal as the last axis; NULL if v is none (linalg.c). */
damo_var *match_diagonal(const damo_var *v);
/* Whether the DimShuffle node goes into the elementwise nodes that make its operand (shapes.c). */
bool match_lifts(const damo_fgraph *fg, const damo_apply *node);
/* Whether v has exactly one use, by a node: it is no output of the graph. */
bool match_single_use(const damo_fgraph *fg, const damo_var *v);
/* Whether v is a product, of one use, whose rows a Loop could take as they are made (epilogue.c). */
bool epilogue_may_take(const damo_fgraph *fg, const damo_var *v);
/* Whether Elemwise nodes of v's own rank are all that use it. */
bool match_is_read_by_elemwise(const damo_fgraph *fg, const damo_var *v);
/* True if v is the output of an Elemwise node that rounds to integers: floor, ceil, trunc or round. */
bool match_whole(const damo_var *v);
/* True if such a node reads v: a change of v's last bit may then change its result by 1. */
bool match_rounded(const damo_fgraph *fg, const damo_var *v);
/* The operand `value` if v is a fill, second(like, value) or Alloc(value, lengths…); else NULL. */
damo_var *match_fill(const damo_var *v);

#endif
