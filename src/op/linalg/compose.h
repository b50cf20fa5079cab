/* compose: what the functions of matrices that are made of other ops share. Private to the family. */
#ifndef DAMO_OP_LINALG_COMPOSE_H
#define DAMO_OP_LINALG_COMPOSE_H

#include "op/op.h"

/* Operand i of a call as a tensor that is not weak, of rank `least` or more; NULL when it is none (the scope has
 * failed). */
damo_var *matrix_operand(build *b, const fn_args *a, int i, int least);
/* The same of square matrices: a shape error where the Type tells that they are not, else checked at run time. */
damo_var *matrix_square_operand(build *b, const fn_args *a, int i);
/* x, as float64 where it is an integer or bool. */
damo_var *build_float(build *b, damo_var *x);
/* The identity of order n, an int64 scalar. */
damo_var *build_identity_matrix(build *b, damo_var *n, damo_dtype dtype);
/* The matrices with constant diagonals of first column c and first row r (NULL: conj(c)), of one rank and dtype. */
damo_var *build_toeplitz(build *b, damo_var *c, damo_var *r);

/* patterned.c: the options and operands of systems whose matrix few numbers give. */
typedef struct patterned_options {
  prop_value b_ndim, on_fail;
} patterned_options;
#define PATTERNED_OPTIONS OPTIONS(OPT(patterned_options, b_ndim, OPT_INT), OPT(patterned_options, on_fail, OPT_STR))
/* The operands of a call, of one float dtype; whether operand 2 is a stack of vectors. */
damo_status patterned_operands(build *b, const fn_args *a, damo_var **v, bool *vector);
/* The transform of n points and the inverse of one, which has a factor 1/n: of real operands by half the spectrum, of
 * complex ones as the conjugate of the transform of the conjugate. */
damo_var *build_circulant_transform(build *b, damo_var *x, int axis);
damo_var *build_circulant_inverse(build *b, damo_var *y, damo_var *n, bool is_complex, int axis);

#endif
