/* diagonals.c: rules for diagonals that are read of matrices: only what lies on the diagonal is computed. All are exact but
 * for the diagonal of a product of matrices, whose sums BLAS may order otherwise.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

static bool same_axes(const diagonal_props *p, const diagonal_props *q) {
  return p->axis1.u.i == q->axis1.u.i && p->axis2.u.i == q->axis2.u.i && p->offset.u.i == q->offset.u.i;
}

/* diag(diag(x)) → x; diag(x.T) → diag(x), of the opposite offset */
static damo_status diagonal_of_moved(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *v = node->in[0];
  const diagonal_props *p = OP_PROPS(node->op, diagonal_props);
  const damo_apply *made = match_class(v, &allocdiag_def), *moved = match_class(v, &dimshuffle_def);
  if (made != NULL) {
    const diagonal_props *q = OP_PROPS(made->op, diagonal_props);
    const damo_var *d = match_diagonal(v);
    return rule_give(b, repl, did, d != NULL && same_axes(p, q) ? made->in[0] : NULL);
  }
  if (moved == NULL || var_ndim(v) != 2 || var_ndim(moved->in[0]) != 2) return DAMO_OK;
  const prop_value *order = OP_PROPS(moved->op, dimshuffle_props)->new_order.u.list;
  if (order[0].kind != PROP_INT || order[1].kind != PROP_INT || order[0].u.i != 2) return DAMO_OK;
  const int axis1 = 2 - (int)p->axis1.u.i, axis2 = 2 - (int)p->axis2.u.i;
  return rule_give(b, repl, did, build_diagonal(b, moved->in[0], p->offset.u.i, axis1, axis2));
}

/* diag(f(x, y)) → f(diag(x), diag(y)), where x and y certainly have one shape and nobody else reads f(x, y). */
static damo_status diagonal_of_elemwise(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *v = node->in[0], *in[8], *like = NULL;
  const damo_apply *f = match_class(v, &elemwise_def);
  if (f == NULL || f->n_in > 8 || f->op->destroy_map != NULL || !match_single_use(fg, v)) return DAMO_OK;
  for (int i = 0; i < f->n_in; i++) {
    if (var_ndim(f->in[i]) == 0) continue;
    if (!match_fits(f, i) || (like != NULL && !match_same_shape(like, f->in[i]))) return DAMO_OK;
    like = f->in[i];
  }
  for (int i = 0; i < f->n_in; i++) {
    in[i] = f->in[i];
    if (var_ndim(in[i]) > 0) in[i] = build_op(b, damo_retain(node->op), &in[i], 1);
  }
  return rule_give(b, repl, did, b->status == DAMO_OK ? build_op(b, damo_retain(f->op), in, f->n_in) : NULL);
}

/* The first n rows of x. */
static damo_var *first_rows(build *b, damo_var *x, damo_var *n) {
  return index_build_read(b, x, &(spec_items){.item = {{.kind = 's', .ends = {NULL, n}}}, .n = 1});
}

/* diag(x·y) → the sums along rows of x∘yᵀ, so that trace(x·y) costs as much as reading x and y. */
static damo_status diagonal_of_dot(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *v = node->in[0];
  const damo_apply *dot = match_class(v, &dot_def);
  const damo_dtype dtype = var_dtype(v);
  if (dot == NULL || var_ndim(v) != 2 || dtype == DAMO_BOOL || !match_single_use(fg, v)) return DAMO_OK;
  damo_var *x = dot->in[0], *y = dot->in[1];
  if (OP_PROPS(node->op, diagonal_props)->offset.u.i != 0 || var_dtype(x) != dtype || var_dtype(y) != dtype)
    return DAMO_OK;
  if (dtype_is_discrete(dtype) && dtype_size(dtype) < 8) return DAMO_OK;          /* a sum would have a wider dtype */
  if (type_dim_is_one(x->type, 1) != type_dim_is_one(y->type, 0)) return DAMO_OK; /* which would broadcast */
  damo_var *cols = build_transpose(b, y);
  if (!match_same_length(x, 0, y, 1)) {
    damo_var *n = build_minimum(b, build_dim(b, x, 0), build_dim(b, y, 1));
    x = first_rows(b, x, n);
    cols = cols != NULL && n != NULL ? first_rows(b, cols, n) : NULL;
  }
  if (x == NULL || cols == NULL) return b->status;
  return rule_give(b, repl, did, build_reduce(b, REDUCE_SUM, build_mul(b, x, cols), (const int[]){1}, 1, false));
}

const rewrite_rule diagonal_rules[] = {
    {.name = "diagonal_of_moved",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize",
     TRACKS(&extractdiag_def),
     .local = diagonal_of_moved},
    {.name = "diagonal_of_elemwise",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize",
     TRACKS(&extractdiag_def),
     .local = diagonal_of_elemwise},
    {.name = "diagonal_of_dot",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&extractdiag_def),
     .local = diagonal_of_dot},
    {.name = NULL},
};
