/* rewrite_int.h: what the files of rewrite/ share. */
#ifndef DAMO_REWRITE_REWRITE_INT_H
#define DAMO_REWRITE_REWRITE_INT_H

#include "loop/loop.h"
#include "rewrite.h"

/* Families of rules, each ended by a NULL name. */
extern const rewrite_rule merge_rules[];
extern const rewrite_rule fold_rules[];
extern const rewrite_rule canonicalize_rules[];
extern const rewrite_rule shape_rules[];
extern const rewrite_rule fill_rules[];
extern const rewrite_rule stabilize_rules[];
extern const rewrite_rule specialize_rules[];
extern const rewrite_rule sparse_rules[];
extern const rewrite_rule sampled_rules[];
extern const rewrite_rule inplace_rules[];
extern const rewrite_rule choice_rules[];

/* The outputs of a node that local rules and folding look at; nodes with more stay as they are. */
#define REWRITE_MAX_OUT 64

/* In a rule: Elemwise nodes of those scalar ops alone, ELEMWISE(SCALAR_mul, SCALAR_add); SCALARS beside a TRACKS that
 * has other classes too. */
#define SCALARS(...) \
  .scalars = (const int[]) { __VA_ARGS__, -1 }
#define ELEMWISE(...) TRACKS(&elemwise_def), SCALARS(__VA_ARGS__)

/* What a local rule ends with: v takes the place of the node's first output, unless it is NULL. */
static inline damo_status rule_give(build *b, damo_var **repl, bool *did, damo_var *v) {
  repl[0] = v;
  *did = v != NULL;
  return b->status;
}

/* ---- Questions that rules ask (match.c) ---- */

/* The node of v when its op is of that class, else NULL. */
static inline damo_apply *match_class(const damo_var *v, const op_def *def) {
  return v->owner != NULL && v->owner->op->def == def ? v->owner : NULL;
}
/* The same of a list of classes that NULL ends. */
damo_apply *match_class_of(const damo_var *v, const op_def *const *defs);
/* v is a constant whose entries all equal `value`; a constant seen through DimShuffle or fill counts. */
bool match_constant(const damo_var *v, double value);
/* Input i of an elementwise node has the output's shape: same rank, and no dimension that Types let another stretch. */
bool match_fits(const damo_apply *node, int i);
/* The two have the same shape at run time, as far as Types and the nodes in between can tell, if these nodes run. */
bool match_same_shape(const damo_var *u, const damo_var *v);
/* The int64 scalar d is the length of that axis of v, as far as can be told. */
bool match_length(const damo_var *d, const damo_var *v, int axis);
/* What holds of a value mathematically for all finite inputs, however it is rounded (facts.c). NONNEGATIVE holds of the
 * computed value too, which then is no -0. */
enum { FACT_FINITE = 1, FACT_NONNEGATIVE = 2, FACT_NONZERO = 4 };
/* All these facts are known of v. */
bool match_facts(const damo_var *v, unsigned facts);
/* v has the shape of a fill, second(like, value) or Alloc(value, lengths…), by what gives it its lengths. */
bool match_fill_shape(const damo_var *v, const damo_var *fill);
/* Every axis of v broadcasts: it can disagree with nothing. */
bool match_single_entry(const damo_var *v);
/* One node uses v, in one place, and it is no output of the graph. */
bool match_single_use(const damo_fgraph *fg, const damo_var *v);
/* The value that a node repeats over a shape, second(like, value) or Alloc(value, lengths…); NULL for any other v. */
damo_var *match_fill(const damo_var *v);

#endif
