/* rectangular: columns that count, or are not there, where A is rectangular, and the terms of gradients and
 * tangents that are made of them. Private to src/op.
 *
 * `minimum_norm`, a property: true: columns count where a rectangular A has full rank and more columns than rows;
 * false: where it is rectangular and that is not so; nil (of FactorSolve): always.
 */
#ifndef DAMO_OP_SPARSE_SOLVE_RECTANGULAR_H
#define DAMO_OP_SPARSE_SOLVE_RECTANGULAR_H

#include "system.h"

/* ---- In a run ---------------------------------------------------------------------------------------------------- */

bool rect_is_of_columns(const damo_op *op); /* the property is not nil */
bool rect_when(const damo_op *op);
bool rect_columns_count(const thunk *t, frame *f); /* with the factor that is input 0 now */
/* A matrix like x with that many rows and no columns. */
damo_sparse *rect_no_columns(const damo_sparse *x, int64_t rows);
/* A view: a vector as a matrix of one column. */
damo_array *rect_as_columns(const damo_array *x);

/* ---- Terms ------------------------------------------------------------------------------------------------------- */

/* When the columns count of the terms that are there because of B·B⁺ ≠ 1, and of those because of B⁺·B ≠ 1 (with
 * minimum norm). */
bool rect_outside(const system_rule *r);
bool rect_inside(const system_rule *r);
/* x where its columns count, else none of them; and its adjoint, in x's shape. */
damo_var *build_rect_taken(const system_rule *r, bool when, damo_var *x);
damo_var *build_rect_back(const system_rule *r, bool when, damo_var *y, damo_var *x);
/* B·x − b and Bᴴ·x − b, of their columns. */
damo_var *build_rect_gap(const system_rule *r, bool when, damo_var *x, damo_var *rhs);
damo_var *build_rect_adjoint_gap(const system_rule *r, bool when, damo_var *x, damo_var *rhs);
/* Three matrices side by side. */
damo_var *build_rect_beside(build *b, damo_var *x, damo_var *y, damo_var *z);

#endif
