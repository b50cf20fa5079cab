/* subspaces: polar, orth, null_space, subspace_angles: what the singular value decomposition gives; compositions. */
#include "compose.h"
#include "spectral.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/shape/shape_int.h"

#include <float.h>
#include <string.h>

typedef struct subspace_options {
  prop_value side, rcond;
} subspace_options;

/* With A = W·S·Vᴴ: U = W·Vᴴ, and P the Hermitian part of Uᴴ·A on the right, of A·Uᴴ on the left: V·S·Vᴴ has no derivative
 * through V and S where singular values are equal. */
static damo_status fn_polar(build *b, const fn_args *a, ptrvec *out) {
  const char *side = prop_str_or(FN_OPTIONS(a, subspace_options)->side, "right");
  const bool right = strcmp(side, "right") == 0;
  if (!right && strcmp(side, "left") != 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: side is \"right\" or \"left\", got \"%s\"", a->func->name, side);
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 2));
  damo_apply *svd = x != NULL ? build_svd(b, x, false) : NULL;
  if (svd == NULL) return b->status;
  damo_var *u = build_matmul(b, svd->out[0], svd->out[2]), *uh = u != NULL ? build_adjoint(b, u) : NULL;
  damo_var *p = uh != NULL ? build_matmul(b, right ? uh : x, right ? x : uh) : NULL;
  if (p == NULL) return b->status;
  p = build_mul(b, build_add(b, p, build_adjoint(b, p)), build_num(b, 0.5));
  DAMO_TRY(fn_give(b, out, u));
  return fn_give(b, out, p);
}

/* Operand i as a float matrix; NULL: the scope has failed. */
static damo_var *subspace_operand(build *b, const fn_args *a, int i) {
  damo_var *x = build_float(b, matrix_operand(b, a, i, 2));
  if (x == NULL || var_ndim(x) == 2) return x;
  return build_fail(b, DAMO_ESHAPE, "%s: a matrix is expected, since the result's shape depends on values; got rank %d",
                    a->func->name, var_ndim(x));
}

/* The node of the SVD of a matrix, and how many singular values exceed rcond times the greatest. */
static damo_apply *subspace_svd(build *b, damo_var *x, prop_value rcond, bool full, damo_var **rank) {
  if (x == NULL) return NULL;
  damo_apply *svd = build_svd(b, x, full);
  if (svd == NULL) return NULL;
  damo_var *s = svd->out[1], *share = build_num(b, prop_num_or(rcond, 0));
  if (!prop_given(rcond)) {
    const double epsilon = var_dtype(s) == DAMO_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
    damo_var *most = build_maximum(b, build_dim(b, x, 0), build_dim(b, x, 1));
    share = build_mul(b, build_cast(b, most, var_dtype(s)), build_scalar(b, var_dtype(s), epsilon));
  }
  const int last = 0;
  damo_var *over = build_gt(b, s, build_mul(b, build_row_max(b, s, 1), share));
  *rank = over != NULL ? build_reduce(b, REDUCE_SUM, over, &last, 1, false) : NULL;
  return *rank != NULL ? svd : NULL;
}

static damo_var *build_orth(build *b, damo_var *x, prop_value rcond) {
  damo_var *rank;
  const damo_apply *svd = subspace_svd(b, x, rcond, false, &rank);
  return svd == NULL ? NULL : build_slice(b, svd->out[0], 1, NULL, rank, 1);
}

static damo_status fn_orth(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_orth(b, subspace_operand(b, a, 0), FN_OPTIONS(a, subspace_options)->rcond));
}

static damo_status fn_null_space(build *b, const fn_args *a, ptrvec *out) {
  damo_var *rank;
  const prop_value rcond = FN_OPTIONS(a, subspace_options)->rcond;
  const damo_apply *svd = subspace_svd(b, subspace_operand(b, a, 0), rcond, true, &rank);
  return svd == NULL ? b->status : fn_give(b, out, build_adjoint(b, build_slice(b, svd->out[2], 0, rank, NULL, 1)));
}

/* With orthonormal columns P and Q of both ranges, the singular values of Pᴴ·Q are the cosines of the angles, the last of
 * those of Q - P·(Pᴴ·Q) the sines (others are 1: of directions of Q beyond P's dimension). An angle is taken from what is
 * smaller, which loses no digits (Björck and Golub, Numerical methods for computing angles between linear subspaces, 1973);
 * what is not read is set to 0, where arcsin and arccos have finite derivatives. */
static damo_status fn_subspace_angles(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2] = {subspace_operand(b, a, 0), subspace_operand(b, a, 1)};
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(build_resolve(b, v, 2, true, v));
  const prop_value automatic = prop_nil();
  damo_var *p = build_orth(b, v[0], automatic), *q = build_orth(b, v[1], automatic);
  if (p == NULL || q == NULL) return b->status;
  damo_var *inner = build_matmul(b, build_adjoint(b, p), q);
  if (inner == NULL) return b->status;
  damo_var *rest = build_sub(b, q, build_matmul(b, p, inner));
  damo_var *cosines = build_slice(b, build_svdvals(b, inner), 0, NULL, NULL, -1);
  damo_var *sines = rest != NULL ? build_svdvals(b, rest) : NULL;
  if (cosines == NULL || sines == NULL) return b->status;
  damo_var *extra = build_length_sub(b, build_dim(b, sines, 0), build_dim(b, cosines, 0));
  sines = build_slice(b, sines, 0, extra, NULL, 1);
  if (sines == NULL) return b->status;
  damo_var *zero = build_num(b, 0), *half = build_num(b, 0.5);
  damo_var *small = build_ge(b, build_sqr(b, cosines), half);
  damo_var *near = build_arcsin(b, build_minimum(b, build_switch(b, small, sines, zero), build_num(b, 1)));
  damo_var *far = build_arccos(b, build_switch(b, small, zero, cosines));
  return fn_give(b, out, build_switch(b, small, near, far));
}

const op_func linalg_subspaces_funcs[] = {
    {.name = "linalg.polar",
     .operands = "a",
     .options = OPTIONS(OPT(subspace_options, side, OPT_STR)),
     .call = fn_polar,
     .no_method = true,
     .doc = "u and p of a = u·p, with orthonormal rows or columns in u and p positive semidefinite; side \"left\": of "
            "a = p·u"},
    {.name = "linalg.orth",
     .operands = "a",
     .options = OPTIONS(OPT(subspace_options, rcond, OPT_NUM)),
     .call = fn_orth,
     .no_method = true,
     .doc = "orthonormal columns that span the range of a matrix; singular values up to rcond times the greatest count "
            "as 0"},
    {.name = "linalg.null_space",
     .operands = "a",
     .options = OPTIONS(OPT(subspace_options, rcond, OPT_NUM)),
     .call = fn_null_space,
     .no_method = true,
     .doc = "orthonormal columns that span what a matrix maps to 0; singular values up to rcond times the greatest "
            "count as 0"},
    {.name = "linalg.subspace_angles",
     .operands = "a b",
     .call = fn_subspace_angles,
     .no_method = true,
     .doc = "the angles between the ranges of two matrices with as many rows, from the greatest to the least"},
    {.name = NULL},
};

const op_def *const linalg_subspaces_classes[] = {NULL};
