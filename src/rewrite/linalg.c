/* linalg.c: rules for systems, inverses and determinants of dense matrices: a system in place of an inverse, one
 * factorization for all that is asked of a matrix, structure that the graph shows. LAPACK decides how sums are made, so
 * all are tagged inexact. A rule keeps the errors of the nodes that it replaces: what it makes fails for the same
 * matrices, or the node that fails stays.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/linalg/decompose.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/* x if v is x with its last two axes exchanged, else NULL. */
static damo_var *match_swapped(const damo_var *v) {
  const damo_apply *node = match_class(v, &dimshuffle_def);
  if (node == NULL) return NULL;
  const prop_value *order = &OP_PROPS(node->op, dimshuffle_props)->new_order;
  const int n = order->n;
  if (n < 2 || var_ndim(node->in[0]) != n) return NULL;
  for (int i = 0; i < n; i++) {
    const int64_t expected = i < n - 2 ? i + 1 : i == n - 2 ? n : n - 1;
    if (order->u.list[i].kind != PROP_INT || order->u.list[i].u.i != expected) return NULL;
  }
  return node->in[0];
}

/* The same for the conjugate transpose: of a real matrix the transpose. */
static damo_var *match_adjoint(const damo_var *v) {
  damo_var *x = match_swapped(v);
  if (x != NULL && !dtype_is_complex(var_dtype(v))) return x;
  if (x != NULL) {
    const damo_apply *conj = match_scalar(x, SCALAR_conj);
    return conj != NULL ? conj->in[0] : NULL;
  }
  const damo_apply *conj = match_scalar(v, SCALAR_conj);
  return conj != NULL ? match_swapped(conj->in[0]) : NULL;
}

/* 1: v is certainly lower triangular, -1 upper; 0: not known. */
static int match_triangular(const damo_var *v) {
  const damo_var *x = match_swapped(v);
  if (x != NULL) return -match_triangular(x);
  const damo_apply *conj = match_scalar(v, SCALAR_conj);
  if (conj != NULL) return match_triangular(conj->in[0]);
  if (v->owner == NULL) return 0;
  if (v->owner->op->def == &cholesky_def) return OP_PROPS(v->owner->op, cholesky_props)->lower.u.i ? 1 : -1;
  if (v->owner->op->def != &triangle_def) return 0;
  const triangle_props *p = OP_PROPS(v->owner->op, triangle_props);
  return p->lower.u.i ? (p->k.u.i <= 0 ? 1 : 0) : p->k.u.i >= 0 ? -1 : 0;
}

damo_var *match_diagonal(const damo_var *v) {
  const damo_apply *node = match_class(v, &allocdiag_def);
  if (node == NULL) return NULL;
  const diagonal_props *p = OP_PROPS(node->op, diagonal_props);
  const int n = var_ndim(v);
  const int64_t axis1 = p->axis1.u.i, axis2 = p->axis2.u.i;
  if (p->offset.u.i != 0 || axis1 + axis2 != 2 * n - 1 || (axis1 != n && axis2 != n)) return NULL;
  damo_var *rows = node->in[n - 1], *cols = node->in[n], *d = node->in[0];
  if (rows != cols && !(match_length(rows, d, n - 2) && match_length(cols, d, n - 2))) return NULL;
  /* A diagonal of length 1 may stand for a longer one. */
  for (int i = 0; i < var_ndim(d); i++) {
    if (type_dim_is_one(d->type, i) && !type_dim_is_one(v->type, i)) return NULL;
  }
  return d;
}

static bool is_square_known(const damo_var *v) {
  const int n = var_ndim(v);
  return n >= 2 && v->type->shape[n - 1] >= 0 && v->type->shape[n - 1] == v->type->shape[n - 2];
}

static bool nan_on_fail(prop_value on_fail) { return prop_given(on_fail); }

/* ---- inv(A)·b → solve -------------------------------------------------------------------------------------------- */

/* A and how it is meant if v is its inverse, or the transpose of that. */
static damo_apply *match_inverse(const damo_fgraph *fg, const damo_var *v, char *system) {
  const damo_var *x = match_swapped(v);
  if (x != NULL && !match_single_use(fg, v)) return NULL;
  damo_apply *inv = match_class(x != NULL ? x : v, &inv_def);
  *system = x != NULL ? 't' : 'n';
  return inv != NULL && match_single_use(fg, inv->out[0]) ? inv : NULL;
}

/* inv(A)·b → solve(A, b), b·inv(A) → solve(Aᵀ, bᵀ)ᵀ, if nobody else reads the inverse. */
static damo_status inverse_times(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  for (int i = 0; i < 2; i++) {
    char system;
    damo_var *other = node->in[1 - i];
    const damo_apply *inv = match_inverse(fg, node->in[i], &system);
    if (inv == NULL) continue;
    damo_var *a = inv->in[0];
    const bool vector = var_ndim(other) == 1;
    const solve_props p = {.assume = prop_str("gen"),
                           .lower = prop_bool(false),
                           .vector = prop_bool(vector),
                           .on_fail = OP_PROPS(inv->op, inverse_props)->on_fail};
    if (i == 0) return rule_give(b, repl, did, build_solve_of(b, p, system, a, other));
    damo_var *right = vector ? other : build_swap_last(b, other);
    damo_var *x = build_solve_of(b, p, system == 'n' ? 't' : 'n', a, right);
    return rule_give(b, repl, did, vector ? x : build_swap_last(b, x));
  }
  return DAMO_OK;
}

/* ---- Transposes -------------------------------------------------------------------------------------------------- */

/* solve(Aᵀ, b) → solve(A, b, trans), for the kinds whose transpose is of the same kind. */
static damo_status transpose_into_solve(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *a = match_swapped(node->in[0]);
  const solve_props *p = OP_PROPS(node->op, solve_props);
  const char *assume = prop_str_or(p->assume, "gen");
  const char system = system_of(p->trans);
  const bool is_complex = dtype_is_complex(var_dtype(node->in[0]));
  if (a == NULL || (system == 'h' && is_complex)) return DAMO_OK;
  if (strcmp(assume, "gen") != 0 && strcmp(assume, "banded") != 0 && strcmp(assume, "tridiagonal") != 0) return DAMO_OK;
  return rule_give(b, repl, did, build_solve_of(b, *p, system == 'n' ? 't' : 'n', a, node->in[1]));
}

static damo_status transpose_into_triangular(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  triangular_props p = *OP_PROPS(node->op, triangular_props);
  damo_var *a = match_swapped(node->in[0]);
  const char system = system_of(p.trans);
  const bool is_complex = dtype_is_complex(var_dtype(node->in[0]));
  damo_var *conj = a != NULL && is_complex ? match_adjoint(node->in[0]) : NULL;
  if (conj != NULL && system != 't') {
    p.trans = system_prop(system == 'n' ? 'h' : 'n');
    a = conj;
  } else if (a != NULL && !(system == 'h' && is_complex)) {
    p.trans = system_prop(system == 'n' ? 't' : 'n');
  } else {
    return DAMO_OK;
  }
  p.lower = prop_bool(!p.lower.u.i);
  return rule_give(b, repl, did, build_triangular(b, &p, a, node->in[1]));
}

/* inv(Aᵀ) → inv(A)ᵀ, det(Aᵀ) → det(A) */
static damo_status transpose_of_inverse(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *a = match_swapped(node->in[0]);
  if (a == NULL) return DAMO_OK;
  return rule_give(b, repl, did, build_swap_last(b, build_op(b, damo_retain(node->op), &a, 1)));
}

static damo_status transpose_of_det(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *a = match_swapped(node->in[0]);
  const damo_apply *made = a != NULL ? build_apply(b, damo_retain(node->op), &a, 1) : NULL;
  for (int i = 0; made != NULL && i < made->n_out; i++) repl[i] = made->out[i];
  *did = made != NULL;
  return b->status;
}

/* ---- Determinants ------------------------------------------------------------------------------------------------ */

/* log(|det(A)|) → slogdet's logarithm; log(det(A)) → the same where the sign is not negative, else nan. */
static damo_status log_of_det(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *abs = match_scalar(node->in[0], SCALAR_abs);
  const damo_apply *det = match_class(abs != NULL ? abs->in[0] : node->in[0], &det_def);
  if (det == NULL || (abs == NULL && dtype_is_complex(var_dtype(det->out[0])))) return DAMO_OK;
  const damo_apply *both = build_core(b, &slogdet_def, NULL, det->in, 1);
  if (both == NULL) return b->status;
  damo_var *log = both->out[1];
  if (abs == NULL) {
    damo_var *nan = build_scalar(b, var_dtype(log), NAN);
    log = build_switch(b, build_lt(b, both->out[0], build_num(b, 0)), nan, log);
  }
  return rule_give(b, repl, did, log);
}

/* (w/det(A))·adj(A) → (w/det(A)·det(A))·inv(A), which cancels: det(A) may overflow. The gradient of log(det(A)). */
static damo_status adjugate_over_det(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  factor_list p;
  damo_var *det = NULL, *w = node->in[1];
  if (!dtype_is_float(var_dtype(w)) || !factor_list_collect(fg, w, &p)) return DAMO_OK;
  for (int k = 0; k < p.n && det == NULL; k++) {
    const damo_apply *abs = p.below[k] ? match_scalar(p.at[k], SCALAR_abs) : NULL;
    damo_var *d = abs != NULL ? abs->in[0] : p.at[k];
    const damo_apply *of = p.below[k] ? match_class(d, &det_def) : NULL;
    if (of != NULL && of->in[0] == node->in[0] && var_ndim(w) == var_ndim(d)) det = d;
  }
  if (det == NULL) return DAMO_OK;
  damo_var *scale = build_as_columns(b, build_as_columns(b, build_mul(b, w, det)));
  return rule_give(b, repl, did, build_mul(b, scale, build_inv(b, node->in[0])));
}

/* The product and, for slogdet, the sum of logarithms of a diagonal. */
static damo_status give_of_diagonal(build *b, const damo_apply *node, damo_var *d, damo_var **repl, bool *did) {
  const int last = var_ndim(d) - 1;
  if (node->op->def == &det_def) return rule_give(b, repl, did, build_reduce(b, REDUCE_PROD, d, &last, 1, false));
  if (dtype_is_complex(var_dtype(d))) return DAMO_OK;
  repl[0] = build_reduce(b, REDUCE_PROD, build_sign(b, d), &last, 1, false);
  repl[1] = build_reduce(b, REDUCE_SUM, build_log(b, build_abs(b, d)), &last, 1, false);
  *did = repl[0] != NULL && repl[1] != NULL;
  return b->status;
}

/* det and slogdet of a triangular or diagonal matrix. A matrix that is not square is left to the node's error. */
static damo_status det_of_triangle(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *a = node->in[0], *d = match_diagonal(a);
  const int n = var_ndim(a);
  const bool square = is_square_known(a) || match_class(a, &cholesky_def) != NULL;
  if (d == NULL && square && match_triangular(a) != 0) d = build_diagonal(b, a, 0, n - 2, n - 1);
  return d != NULL ? give_of_diagonal(b, node, d, repl, did) : b->status;
}

/* slogdet(A·B) → that of A and of B, for square A and B, if nobody else reads A·B: the product costs more. (Not of det,
 * which may overflow for A and vanish for B where that of the product is a number.) */
static damo_status slogdet_of_product(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *product = node->in[0];
  const damo_apply *dot = match_class_of(product, (const op_def *const[]){&dot_def, &matmul_def, NULL});
  if (dot == NULL || !match_single_use(fg, product)) return DAMO_OK;
  damo_var *x = dot->in[0], *y = dot->in[1];
  if (var_ndim(x) < 2 || var_ndim(y) < 2 || !is_square_known(x) || !is_square_known(y)) return DAMO_OK;
  if (var_dtype(x) != var_dtype(product) || var_dtype(y) != var_dtype(product)) return DAMO_OK;
  const damo_apply *p = build_core(b, node->op->def, NULL, &x, 1), *q = build_core(b, node->op->def, NULL, &y, 1);
  if (p == NULL || q == NULL) return b->status;
  repl[0] = build_mul(b, p->out[0], q->out[0]);
  repl[1] = build_add(b, p->out[1], q->out[1]);
  *did = b->status == DAMO_OK;
  return b->status;
}

/* ---- Structure --------------------------------------------------------------------------------------------------- */

/* solve of a triangular matrix → solve_triangular; of a diagonal one → quotients. */
static damo_status solve_structured(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const solve_props *p = OP_PROPS(node->op, solve_props);
  damo_var *a = node->in[0];
  const char system = system_of(p->trans);
  const bool gen = strcmp(prop_str_or(p->assume, "gen"), "gen") == 0;
  damo_var *d = match_diagonal(a);
  if (d != NULL && (system != 'h' || !dtype_is_complex(var_dtype(a))) &&
      strcmp(prop_str_or(p->assume, "gen"), "pos") != 0)
    return rule_give(b, repl, did, build_solve_diagonal(b, d, node->in[1], prop_bool_or(p->vector, false), p->on_fail));
  const int triangle = gen ? match_triangular(a) : 0;
  if (triangle == 0) return DAMO_OK;
  const triangular_props t = {.lower = prop_bool(triangle > 0),
                              .trans = system_prop(system),
                              .unit = prop_bool(false),
                              .right = prop_bool(false),
                              .vector = p->vector,
                              .on_fail = p->on_fail};
  return rule_give(b, repl, did, build_triangular(b, &t, a, node->in[1]));
}

/* solve_triangular of a diagonal matrix → quotients. */
static damo_status triangular_of_diagonal(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const triangular_props *p = OP_PROPS(node->op, triangular_props);
  damo_var *d = match_diagonal(node->in[0]);
  if (d == NULL || prop_bool_or(p->unit, false) || prop_bool_or(p->right, false)) return DAMO_OK;
  if (system_of(p->trans) == 'h' && dtype_is_complex(var_dtype(d))) return DAMO_OK;
  return rule_give(b, repl, did, build_solve_diagonal(b, d, node->in[1], prop_bool_or(p->vector, false), p->on_fail));
}

/* inv of a diagonal or triangular matrix. */
static damo_status inverse_structured(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *a = node->in[0], *d = match_diagonal(a);
  const prop_value on_fail = OP_PROPS(node->op, inverse_props)->on_fail;
  const int n = var_ndim(a), triangle = match_triangular(a);
  if (d != NULL) {
    damo_var *in[DAMO_MAX_NDIM + 1];
    const damo_apply *alloc = a->owner;
    for (int i = 1; i < alloc->n_in; i++) in[i] = alloc->in[i];
    in[0] = build_solve_diagonal(b, d, build_ones_like(b, d), true, on_fail);
    return rule_give(b, repl, did, build_op(b, damo_retain(alloc->op), in, alloc->n_in));
  }
  if (triangle == 0) return DAMO_OK;
  damo_var *rows = build_dim(b, a, n - 2);
  const triangular_props t = {.lower = prop_bool(triangle > 0),
                              .trans = system_prop('n'),
                              .unit = prop_bool(false),
                              .right = prop_bool(false),
                              .vector = prop_bool(false),
                              .on_fail = on_fail};
  return rule_give(b, repl, did, build_triangular(b, &t, a, build_eye(b, rows, rows, var_dtype(a))));
}

/* L·Lᴴ → A, Uᴴ·U → A for a Cholesky factor that is also read elsewhere, so that its error stays. Only one triangle of A
 * counts. */
static damo_status product_of_cholesky(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *x = node->in[0], *y = node->in[1];
  const damo_apply *factor = match_class(x, &cholesky_def);
  const bool first = factor != NULL && match_adjoint(y) == x;
  if (!first) factor = match_class(y, &cholesky_def);
  if (factor == NULL || (!first && match_adjoint(x) != y)) return DAMO_OK;
  const cholesky_props *p = OP_PROPS(factor->op, cholesky_props);
  const bool lower = p->lower.u.i != 0;
  const fg_clients *uses = fgraph_clients(fg, factor->out[0]);
  if (lower != first || prop_given(p->on_fail) || uses == NULL || uses->n < 3) return DAMO_OK;
  damo_var *a = factor->in[0];
  damo_var *half = build_add(b, build_triangle(b, a, 0, lower), build_triangle(b, a, lower ? -1 : 1, lower));
  half = build_mul(b, half, build_num(b, 0.5));
  damo_var *other = half != NULL && dtype_is_complex(var_dtype(half)) ? build_conj(b, half) : half;
  return rule_give(b, repl, did, build_add(b, half, build_swap_last(b, other)));
}

/* inv(inv(A)) → A where the inner inverse is read elsewhere too, so that its error stays. */
static damo_status inverse_of_inverse(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *inner = match_class(node->in[0], &inv_def);
  if (inner == NULL || match_single_use(fg, inner->out[0]) || prop_given(OP_PROPS(inner->op, inverse_props)->on_fail))
    return DAMO_OK;
  return rule_give(b, repl, did, inner->in[0]);
}

/* ---- One factorization ------------------------------------------------------------------------------------------- */

static bool is_general_solve(const damo_apply *node) {
  return node->op->def == &solve_def && strcmp(prop_str_or(OP_PROPS(node->op, solve_props)->assume, "gen"), "gen") == 0;
}

/* Whether the node factorizes its operand as P·L·U. */
static bool is_factorizing(const damo_apply *node) {
  const op_def *def = node->op->def;
  return def == &det_def || def == &slogdet_def || def == &inv_def || def == &adjugate_def || is_general_solve(node) ||
         (def == &lu_factor_def && prop_bool_or(OP_PROPS(node->op, lu_factor_props)->columns, false));
}

/* Whether the factors of a serve more than one purpose. */
static bool is_factorized_again(const damo_fgraph *fg, const damo_var *a) {
  const fg_clients *uses = fgraph_clients(fg, a);
  int n = 0;
  for (int32_t i = 0; uses != NULL && i < uses->n && n < 2; i++)
    n += uses->at[i].node != NULL && uses->at[i].index == 0 && is_factorizing(uses->at[i].node);
  return n >= 2;
}

/* Whether one matrix of the stack a serves several right sides of the stack b. */
static bool serves_several(const damo_var *a, const damo_var *rhs, bool vector) {
  const int lead = var_ndim(a) - 2, wide = var_ndim(rhs) - (vector ? 1 : 2);
  if (lead < wide) return true;
  for (int i = 0; i < wide; i++) {
    if (type_dim_is_one(a->type, lead - wide + i) && !type_dim_is_one(rhs->type, i)) return true;
  }
  return false;
}

/* Systems, inverses and determinants of one matrix → one factorization. */
static damo_status share_factors(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *a = node->in[0];
  if (node->op->def == &solve_def) {
    const solve_props *p = OP_PROPS(node->op, solve_props);
    const bool vector = prop_bool_or(p->vector, false);
    if (!is_general_solve(node) || (!is_factorized_again(fg, a) && !serves_several(a, node->in[1], vector)))
      return DAMO_OK;
    damo_var *x = build_lu_columns_solve(b, build_lu_columns(b, a), system_of(p->trans), node->in[1], vector,
                                         nan_on_fail(p->on_fail));
    return rule_give(b, repl, did, x);
  }
  if (!is_factorized_again(fg, a)) return DAMO_OK;
  const damo_apply *factors = build_lu_columns(b, a);
  if (node->op->def == &inv_def)
    return rule_give(b, repl, did,
                     build_lu_inverse(b, factors, nan_on_fail(OP_PROPS(node->op, inverse_props)->on_fail)));
  if (node->op->def == &adjugate_def) return rule_give(b, repl, did, build_lu_adjugate(b, factors, node->in[1]));
  const damo_apply *made = build_lu_det(b, factors, node->op->def == &slogdet_def);
  for (int i = 0; made != NULL && i < made->n_out; i++) repl[i] = made->out[i];
  *did = made != NULL;
  return b->status;
}

/* Systems of one positive definite matrix, and its Cholesky factor → one factor and triangular systems. */
static damo_status share_cholesky(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const solve_props *p = OP_PROPS(node->op, solve_props);
  damo_var *a = node->in[0];
  const bool lower = prop_bool_or(p->lower, false), vector = prop_bool_or(p->vector, false);
  if (strcmp(prop_str_or(p->assume, "gen"), "pos") != 0 || system_of(p->trans) == 't' || prop_given(p->on_fail))
    return DAMO_OK;
  const fg_clients *uses = fgraph_clients(fg, a);
  int n = serves_several(a, node->in[1], vector) ? 1 : 0;
  for (int32_t i = 0; uses != NULL && i < uses->n; i++) {
    const damo_apply *user = uses->at[i].node;
    if (user == NULL || uses->at[i].index != 0) continue;
    const bool factor = user->op->def == &cholesky_def &&
                        (OP_PROPS(user->op, cholesky_props)->lower.u.i != 0) == lower &&
                        !prop_given(OP_PROPS(user->op, cholesky_props)->on_fail);
    n += factor || (user->op->def == &solve_def && user->op == node->op) ||
         (user->op->def == &solve_def &&
          strcmp(prop_str_or(OP_PROPS(user->op, solve_props)->assume, "gen"), "pos") == 0 &&
          prop_bool_or(OP_PROPS(user->op, solve_props)->lower, false) == lower);
  }
  if (n < 2) return DAMO_OK;
  damo_var *factor = build_cholesky(b, a, lower);
  triangular_props t = {.lower = prop_bool(lower),
                        .trans = system_prop(lower ? 'n' : 'h'),
                        .unit = prop_bool(false),
                        .right = prop_bool(false),
                        .vector = p->vector};
  damo_var *x = factor != NULL ? build_triangular(b, &t, factor, node->in[1]) : NULL;
  t.trans = system_prop(lower ? 'h' : 'n');
  return rule_give(b, repl, did, x != NULL ? build_triangular(b, &t, factor, x) : NULL);
}

const rewrite_rule linalg_rules[] = {
    {.name = "inverse_times",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&dot_def, &matmul_def),
     .local = inverse_times},
    {.name = "inverse_of_inverse",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&inv_def),
     .local = inverse_of_inverse},
    {.name = "transpose_of_inverse",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&inv_def),
     .local = transpose_of_inverse},
    {.name = "transpose_of_det",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&det_def, &slogdet_def),
     .local = transpose_of_det},
    {.name = "transpose_into_solve",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&solve_def),
     .local = transpose_into_solve},
    {.name = "transpose_into_triangular",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&solve_triangular_def),
     .local = transpose_into_triangular},
    {.name = "adjugate_over_det",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&adjugate_def),
     .local = adjugate_over_det},
    {.name = "log_of_det",
     .phase = PHASE_STABILIZE,
     .tags = "fast_run stabilize inexact",
     ELEMWISE(SCALAR_log),
     .local = log_of_det},
    {.name = "det_of_triangle",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize inexact",
     TRACKS(&det_def, &slogdet_def),
     .local = det_of_triangle},
    {.name = "slogdet_of_product",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize inexact",
     TRACKS(&slogdet_def),
     .local = slogdet_of_product},
    {.name = "solve_structured",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize inexact",
     TRACKS(&solve_def),
     .local = solve_structured},
    {.name = "triangular_of_diagonal",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize inexact",
     TRACKS(&solve_triangular_def),
     .local = triangular_of_diagonal},
    {.name = "inverse_structured",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize inexact",
     TRACKS(&inv_def),
     .local = inverse_structured},
    {.name = "product_of_cholesky",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize inexact",
     TRACKS(&dot_def, &matmul_def),
     .local = product_of_cholesky},
    {.name = "share_factors",
     .phase = PHASE_FUSE,
     .tags = "fast_run fuse inexact",
     TRACKS(&solve_def, &inv_def, &det_def, &slogdet_def, &adjugate_def),
     .local = share_factors},
    {.name = "share_cholesky",
     .phase = PHASE_FUSE,
     .tags = "fast_run fuse inexact",
     TRACKS(&solve_def),
     .local = share_cholesky},
    {.name = NULL},
};
