/* rewrite_int.h: what the files of rewrite/ share. */
#ifndef DAMO_REWRITE_INT_H
#define DAMO_REWRITE_INT_H

#include "rewrite.h"

/* Families of rules, each ended by a NULL name. */
extern const rewrite_rule merge_rules[];
extern const rewrite_rule fold_rules[];
extern const rewrite_rule canonicalize_rules[];
extern const rewrite_rule stabilize_rules[];
extern const rewrite_rule specialize_rules[];

/* ---- Questions that rules ask (match.c) ---- */

/* The node of v when it is an Elemwise of that scalar ("mul"), else NULL. */
damo_apply *match_elemwise(const damo_var *v, const char *scalar);
/* The node of v when its op is of that class, else NULL. */
damo_apply *match_op(const damo_var *v, const char *class_name);
/* v is a constant whose entries all equal `value`; a constant seen through DimShuffle or fill counts. */
bool match_constant(const damo_var *v, double value);
/* The two have the same shape at run time, as far as Types and elementwise nodes in between can tell. */
bool match_same_shape(const damo_var *u, const damo_var *v);

#endif
