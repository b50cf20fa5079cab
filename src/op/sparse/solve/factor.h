/* factor: what the families of sparse systems share (factor.c, system.c, solve.c,
 * logdet.c, inverse.c, lstsq.c). Private to src/op.
 *
 * A factor is a Variable of a Type of its own, made by Factorize or FactorizeQR, which carry no gradient. Ops that use
 * one take (F, A, …): A, the matrix that F was made from, is there for shapes and gradients alone, so that gradients
 * and tangents are solves with the same F and nothing is factorized again. A factor that comes from elsewhere (an
 * input, a value) has no A: then (F, …), and there is no gradient for a matrix.
 *
 * `positive`, a property: only A's Hermitian part (A + Aᴴ)/2 is used (assume="pos"), so gradients and tangents of A are
 * those of that part.
 */
#ifndef DAMO_OP_SPARSE_SOLVE_FACTOR_H
#define DAMO_OP_SPARSE_SOLVE_FACTOR_H

#include "op/sparse/sparse_op.h"

/* factor.c */
extern const op_def factorize_def, factorize_qr_def;

/* Type error naming the class unless operand i is a factor, of Factorize, or with `least` of FactorizeQR. */
damo_status type_need_factor(const op_def *def, damo_var *const *in, int i, bool least);
/* Type error unless operand 0 is a factor of Factorize; shape error where its matrix is known to be rectangular. */
damo_status type_need_square_factor(const damo_op *op, damo_var *const *in);
static inline damo_factor *thunk_in_factor(const thunk *t, frame *f, int i) {
  return (damo_factor *)thunk_value(t, f, i);
}
/* The dtype of |x| for numbers x of that dtype. */
damo_dtype dtype_of_modulus(damo_dtype dt);

/* What the properties of an Op over a factor say: op->data of each class, which its init fills. */
typedef struct factor_fields {
  char system; /* 'n', 't' or 'h'; 'n' where the class has no such property */
  bool positive;
  bool by_rank, minimum_norm; /* the property minimum_norm: whether it is given, and its value */
} factor_fields;
static inline const factor_fields *factor_fields_of(const damo_op *op) { return op->data; }
/* Fills op->data from the properties that the class has (NULL: not this one); a value error for a system that is none. */
damo_status factor_fields_init(damo_op *op, const prop_value *system, const prop_value *positive,
                               const prop_value *minimum_norm);

/* A factor with what is known about it. */
typedef struct factor_var {
  damo_var *f;
  damo_var *a; /* NULL: not known */
  bool positive;
} factor_var;
typedef struct factor_options {
  prop_value assume, on_fail;
} factor_options;
/* Operand 0 of a call: a matrix, factorized as the option `assume` says, or a factor (which takes no such option).
 * False: the scope has failed. */
bool factor_operand(build *b, const fn_args *a, factor_var *out);
/* The option `on_fail`: nil, "raise" or "return" (the binding reads it). False: the scope has failed. */
bool check_on_fail(build *b, const fn_args *a);
/* The node of a class over (F, A, more), or (F, more) where A is not known; NULL where one of more is. */
damo_apply *build_factor_apply(build *b, const op_def *def, const void *props, const factor_var *v,
                               damo_var *const *more, int n);
/* The same for a class whose only property is positive. */
damo_apply *build_on_factor(build *b, const op_def *def, const factor_var *v, damo_var *const *more, int n);
/* The factor that is input 0 of a node; A is input 1 where the node has `with` inputs or more, else not known. */
factor_var factor_of_node(const damo_apply *node, int with);
/* (x + xᴴ)/2 of a sparse matrix where v is positive, else x itself. */
damo_var *build_counting_part(build *b, const factor_var *v, damo_var *x);

/* solve.c: system 'n', 't', 'h'; the solution, of rhs's kind */
damo_var *build_factor_solve(build *b, const factor_var *v, char system, damo_var *rhs);

/* inverse.c: the entries of (A⁻¹)ᵀ at p's stored positions, which lie in A's pattern: a vector */
damo_var *build_factor_inverse(build *b, const factor_var *v, damo_var *p);

/* A vector as a matrix of one column; a matrix itself. */
damo_var *build_columns(build *b, damo_var *x);

/* connection_pattern: input 0, the factor, carries no gradient. */
void connect_all_but_factor(const damo_apply *node, bool *connected);

#endif
