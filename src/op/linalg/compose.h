/* compose: what the functions of matrices that are made of other ops share. Private to the family (compose.c, norm.c). */
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

#endif
