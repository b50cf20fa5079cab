/* masked: cotangents and tangents that are known to be 0 outside a condition.
 *
 * The gradient of where(c, x, y) for x is 0 where c does not hold. If x's own derivative is infinite or nan there, the
 * product of the two is nan: 0·inf. So the product is moved under the condition, where(c, g, 0)·e = where(c, g·e, 0):
 * grad and Rop note in their scope which of their Variables are such a where (build_mask), and the rules apply
 * themselves to g, the unmasked Variable, and put the result under the condition again. A rule that does not know of
 * masks takes the where itself, a Variable like any other. A scope without a where has no notes and pays for none.
 *
 * All Variables are borrowed from the scope; conditions broadcast to the value that they belong to.
 */
#ifndef DAMO_OP_ELEM_MASKED_H
#define DAMO_OP_ELEM_MASKED_H

#include "graph/graph.h"

/* The value where(cond, raw, 0), or with `inverse` where(cond, 0, raw); cond NULL: raw itself. `weak`: the condition is
 * that of a maximum, a clip or the like. Its mask ends where keeping it takes a reduction or a scatter of its own. */
typedef struct masked {
  damo_var *raw, *cond;
  bool inverse, weak;
} masked;

/* What is known of v; without a note v itself, unmasked. raw is v itself for a v that is 0 there by how it was made, a
 * sum for instance, and for an ifelse, whose branches are not computed where they are not taken. */
masked masked_of(const build *b, damo_var *v);
/* The Variable of that value, with a note. */
damo_var *build_masked(build *b, masked m);
/* Notes that v, which has none yet, is 0 where m's condition does not hold; returns v. */
damo_var *build_note_mask(build *b, damo_var *v, masked m);
/* where(cond, g, 0), g being an unmasked or masked Variable. */
damo_var *build_where(build *b, damo_var *cond, damo_var *g, bool inverse, bool weak);
/* The result d of a rule that was applied to g.raw, under g's condition as well as its own. */
damo_var *build_within(build *b, damo_var *d, masked g);
/* x + y. Under one condition, or one and its opposite, it takes a single where. */
damo_var *build_masked_add(build *b, damo_var *x, damo_var *y);
/* build_unbroadcast of v, keeping its note. */
damo_var *build_masked_unbroadcast(build *b, damo_var *v, damo_var *like);

bool masked_same(masked x, masked y); /* one condition in one sense */
/* m's condition as bool, true where m's value may differ from 0. */
damo_var *mask_condition(build *b, masked m);
/* The same condition of rank 0: m's own where it has one entry, as its Type says; without a condition where it does
 * not. raw is NULL. */
masked mask_of_one(build *b, masked m);
/* Outside which a value is 0 whose parts are 0 outside x and outside y. raw is NULL. */
masked mask_either(build *b, masked x, masked y);
/* The mask of a sum of m's value, of rank ndim, over n axes: whether the condition holds for any of the terms. Without
 * a condition where m is weak. raw is NULL. */
masked mask_any(build *b, masked m, int ndim, const int *axes, int n, bool keepdims);
/* The condition of a value of that rank, with m's condition given as many axes. raw is NULL. */
masked mask_of_rank(build *b, masked m, int ndim);
/* The mask of build_unbroadcast of m's value, of Type g, for an operand of Type like. raw is NULL. */
masked mask_unbroadcast(build *b, masked m, const damo_type *g, const damo_type *like);

#endif
