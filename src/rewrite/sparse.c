/* sparse.c: rules for sparse matrices: parts of a matrix that was just built from these parts, conversions there and
 * back, repeated scalings, sums of products, cotangents of sums; and constants where a Type knows the pattern. */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "sparse/sparse.h"
#include "op/op.h"
#include "op/sparse/build_sparse.h"

#include <string.h>

bool match_sparse_product(const damo_apply *node) {
  return node->op->def == &sparse_dot_def || node->op->def == &structured_dot_def;
}

#define MOST_OPERANDS 32 /* most Variables that is_over_entries looks at */

/* ---- Patterns ---------------------------------------------------------------------------------------------------- */

/* WithData(x, data) and GatherData(g, x) only read the pattern of x = node->in[at]: replaces x by the Variable nearest
 * to the leaves that has that pattern. */
static damo_status shorten_pattern(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did, int at) {
  (void)fg;
  damo_var *root = var_pattern_root(node->in[at], INT64_MAX),
           *in[2] = {node->in[0], node->n_in > 1 ? node->in[1] : NULL};
  if (root == node->in[at]) return DAMO_OK;
  in[at] = root;
  return rule_give(b, repl, did, build_op(b, damo_retain(node->op), in, node->n_in));
}

/* The matrix whose stored values v is, or NULL. */
static damo_var *matrix_of_data(const damo_var *v) {
  const damo_apply *from = match_class(v, &sp_data_def);
  if (from == NULL && v->index == 0) from = match_class(v, &sp_csm_properties_def);
  return from != NULL ? from->in[0] : NULL;
}

/* Whether v is a vector of one value for each entry of the pattern of `root`: the data of a matrix with that pattern,
 * values gathered at its positions, or samples at them. */
static bool is_of_pattern(const damo_var *v, const damo_var *root) {
  const damo_apply *gather = match_class(v, &sp_gather_def);
  const damo_var *of = gather != NULL ? gather->in[1] : matrix_of_data(v);
  if (of == NULL && v->owner != NULL &&
      (v->owner->op->def == &sampled_csr_def || v->owner->op->def == &sampled_csc_def)) {
    const damo_apply *from = match_class(v->owner->in[0], &sp_csm_properties_def);
    of = from != NULL && v->owner->in[0]->index == 1 ? from->in[0] : NULL;
  }
  return of != NULL && var_pattern_root(of, INT64_MAX) == root;
}

/* Whether v certainly has one value for each entry of m: is_of_pattern, or an elementwise node of which an operand with
 * the result's length is such a vector. */
static bool is_over_entries(const damo_var *v, const damo_var *m) {
  const damo_var *root = var_pattern_root(m, INT64_MAX), *todo[MOST_OPERANDS] = {v};
  for (int n = 1, seen = 0; n > 0 && seen < MOST_OPERANDS; seen++) {
    const damo_var *next = todo[--n];
    if (is_of_pattern(next, root)) return true;
    if (next->owner == NULL || next->owner->op->def != &elemwise_def) continue;
    for (int i = 0; i < next->owner->n_in && n < MOST_OPERANDS; i++) {
      if (match_fits(next->owner, i)) todo[n++] = next->owner->in[i];
    }
  }
  return false;
}

/* WithData(x, data of x) → x */
static damo_status with_own_data(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (matrix_of_data(node->in[1]) == node->in[0]) return rule_give(b, repl, did, node->in[0]);
  return shorten_pattern(b, fg, node, repl, did, 0);
}

/* The node that broadcasts the cotangent g of sum(x) to every position of x's shape, stored or not (sp_sum_spread_def
 * with sparse_grad false); NULL if v is not made by such a node. */
static const damo_apply *spread_everywhere(const damo_var *v) {
  const damo_apply *spread = match_class(v, &sp_sum_spread_def);
  return spread != NULL && !OP_PROPS(spread->op, sp_sum_props)->sparse_grad.u.i ? spread : NULL;
}

static bool is_entrywise(const damo_var *v) {
  return v->owner != NULL && v->owner->op->def->entrywise && apply_shares_pattern(v->owner);
}

/* Whether v is such a broadcast cotangent, perhaps behind entrywise Ops. */
static bool is_spread(const damo_var *v) {
  for (int n = 0; n < 8 && is_entrywise(v); n++) v = v->owner->in[0];
  return spread_everywhere(v) != NULL;
}

/* The node's Op applied to its inputs, the first one replaced. */
static damo_var *op_over_first(build *b, const damo_apply *node, damo_var *first) {
  const size_t bytes = (size_t)node->n_in * sizeof(damo_var *);
  damo_var **in = first != NULL ? mem_alloc(b->ctx, bytes) : NULL, *out = NULL;
  if (in == NULL) return build_take(b, NULL);
  memcpy(in, node->in, bytes);
  in[0] = first;
  out = build_op(b, damo_retain(node->op), in, node->n_in);
  mem_free(b->ctx, in, bytes);
  return out;
}

/* If v is a broadcast cotangent, perhaps behind entrywise Ops: the same cotangent at the positions of x's entries only;
 * else NULL. A zero of the cotangent is not a stored entry of v, so *absent becomes a vector that is true for entries
 * whose cotangent is 0. */
static damo_var *spread_at(build *b, const char *func, const damo_var *v, damo_var *x, damo_var **absent) {
  damo_apply *steps[8];
  int n = 0;
  for (; n < 8 && is_entrywise(v); v = v->owner->in[0]) steps[n++] = v->owner;
  const damo_apply *spread = spread_everywhere(v);
  if (spread == NULL) return NULL;
  const sp_sum_props props = {.axis = OP_PROPS(spread->op, sp_sum_props)->axis, .sparse_grad = prop_bool(true)};
  damo_var *g = spread->in[0], *over = var_shape_root(spread->in[1]), *to = var_shape_root(x);
  if (over != to) g = build_same_shape(b, func, g, to, over);
  damo_var *at = g != NULL ? build_op(b, op_new(b->ctx, spread->op->def, &props), (damo_var *[]){g, x}, 2) : NULL;
  damo_var *values = at != NULL ? build_data(b, at) : NULL;
  *absent = values != NULL ? build_eq(b, values, build_int(b, 0)) : NULL;
  while (n > 0 && b->status == DAMO_OK) { at = op_over_first(b, steps[--n], at); }
  return at;
}

/* v, a scaled cotangent, but 0 where `absent` is true: there 0 scaled by nan or inf would be nan. */
static damo_var *zero_where_absent(build *b, damo_var *absent, damo_var *v) {
  return v != NULL && absent != NULL ? build_switch(b, absent, build_int(b, 0), v) : NULL;
}

/* GatherData(broadcast cotangent, x) → the cotangent broadcast to x's entries alone. */
static damo_status gather_data(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *absent = NULL, *at = spread_at(b, "gather", node->in[0], node->in[1], &absent);
  if (b->status != DAMO_OK) return b->status;
  if (at == NULL) return shorten_pattern(b, fg, node, repl, did, 1);
  damo_var *v = build_op(b, damo_retain(node->op), (damo_var *[]){at, node->in[1]}, 2);
  return rule_give(b, repl, did, spread_everywhere(node->in[0]) != NULL ? v : zero_where_absent(b, absent, v));
}

/* A broadcast cotangent times a sparse matrix → that matrix scaled, without zeros. Inexact: a nan or infinite cotangent
 * would otherwise give nan at every position that is not stored; here these stay absent. */
static damo_status mul_spread(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *once = NULL, *at = NULL, *absent = NULL;
  bool scaled = false;
  for (int i = 0; i < 2 && at == NULL && b->status == DAMO_OK; i++) {
    if (!is_spread(node->in[i]) || is_spread(node->in[1 - i])) continue;
    once = build_summed(b, node->in[1 - i]);
    at = once != NULL ? spread_at(b, "mul", node->in[i], once, &absent) : NULL;
    scaled = spread_everywhere(node->in[i]) == NULL;
  }
  if (at == NULL || b->status != DAMO_OK) return b->status;
  damo_var *v = build_data(b, at);
  v = build_mul(b, scaled ? zero_where_absent(b, absent, v) : v, build_data(b, once));
  damo_var *y = build_with_data(b, once, v);
  y = y != NULL ? build_without_zeros(b, y) : NULL;
  return rule_give(b, repl, did, y != NULL ? build_to_format(b, y, node->out[0]->type->format) : NULL);
}

/* The parts of WithData(x, data) → data, and x's indices, indptr and shape. If data may have another length than x's
 * entries, the node stays, because it checks that. */
static damo_status properties_of_with_data(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *x = node->in[0], *root = var_pattern_root(x, INT64_MAX);
  const bool sure = match_class(x, &sp_with_data_def) && is_over_entries(x->owner->in[1], x);
  if (match_class(x, &sp_with_data_def) && !sure && fgraph_clients(fg, node->out[0]) != NULL) return DAMO_OK;
  if (sure) repl[0] = x->owner->in[1];
  if (root != x) {
    damo_apply *own = build_apply(b, damo_retain(node->op), &root, 1);
    for (int i = 1; i < 4 && own != NULL; i++) repl[i] = own->out[i];
  }
  *did = root != x && b->status == DAMO_OK;
  return b->status;
}

static damo_status data_of_with_data(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *with = match_class(node->in[0], &sp_with_data_def);
  return rule_give(b, repl, did, with != NULL && is_over_entries(with->in[1], with->in[0]) ? with->in[1] : NULL);
}

/* Whether the constant vector is the static shape of t. */
static bool is_known_shape(const damo_var *shape, const damo_type *t) {
  const damo_array *v = var_constant_array(shape);
  if (v == NULL || v->ndim != 1 || array_size(v) != 2) return false;
  for (int64_t i = 0; i < 2; i++) {
    if (t->shape[i] < 0 || scalar_to_int64(array_get(v, &i)) != t->shape[i]) return false;
  }
  return true;
}

/* CSM of the four parts of x → x, if format and index dtype are the same. */
static damo_status csm_of_parts(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_class(node->in[1], &sp_csm_properties_def);
  if (from == NULL || !type_is_super(node->out[0]->type, from->in[0]->type)) return DAMO_OK;
  if (matrix_of_data(node->in[0]) != from->in[0]) return DAMO_OK;
  for (int i = 1; i < 3; i++) {
    if (node->in[i] != from->out[i]) return DAMO_OK;
  }
  const damo_var *shape = node->in[3];
  bool same = shape == from->out[3] || (match_class(shape, &shape_def) && shape->owner->in[0] == from->in[0]) ||
              is_known_shape(shape, from->in[0]->type);
  for (int i = 0; i < 2 && !same; i++) { /* the shape as rewritten: lengths of x */
    const damo_apply *v = match_class(shape, &makevector_def);
    if (v == NULL || v->n_in != 2 || !match_length(v->in[i], from->in[0], i)) return DAMO_OK;
    same = i == 1;
  }
  return rule_give(b, repl, did, same ? from->in[0] : NULL);
}

/* ---- There and back ---------------------------------------------------------------------------------------------- */

static damo_status dense_of_sparse(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_class(node->in[0], &sp_from_dense_def);
  return rule_give(b, repl, did, from != NULL ? from->in[0] : NULL);
}

/* Transpose(Transpose(x)) → x, Neg(Neg(x)) → x */
static damo_status undo_twice(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_class(node->in[0], node->op->def);
  return rule_give(b, repl, did, from != NULL && from->op == node->op ? from->in[0] : NULL);
}

/* Of two conversions the last one is enough. If it returns to x's format, the result is x with sorted rows (columns),
 * as a conversion leaves them. */
static damo_status to_format(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_class(node->in[0], &sp_to_format_def);
  if (from == NULL) return DAMO_OK;
  damo_var *x = from->in[0];
  bool home = x->type->format == node->out[0]->type->format;
  damo_var *sorted = home ? build_sorted(b, x) : NULL;
  return rule_give(b, repl, did, home ? sorted : build_op(b, damo_retain(node->op), &x, 1));
}

/* Scaling twice by vectors → scaling once by their product, computed in the result's dtype. Not if the first result's
 * dtype wraps, and not if one of the vectors may broadcast over the other. */
static damo_status join_scales(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_class(node->in[0], node->op->def);
  if (from == NULL || from->op != node->op || !match_single_use(fg, node->in[0])) return DAMO_OK;
  damo_var *s = from->in[1], *t = node->in[1];
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (type_dim_is_one(s->type, 0) != type_dim_is_one(t->type, 0)) return DAMO_OK;
  if (var_dtype(node->in[0]) != dtype && dtype_is_discrete(var_dtype(node->in[0]))) return DAMO_OK;
  damo_var *in[2] = {from->in[0], build_mul(b, build_cast(b, s, dtype), build_cast(b, t, dtype))};
  return rule_give(b, repl, did, in[1] != NULL ? build_op(b, damo_retain(node->op), in, 2) : NULL);
}

/* The transpose of a broadcast cotangent → the cotangent broadcast over the transposed matrix. */
static damo_status transpose_spread(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *spread = spread_everywhere(node->in[0]);
  if (spread == NULL) return undo_twice(b, fg, node, repl, did);
  const prop_value axis = OP_PROPS(spread->op, sp_sum_props)->axis;
  const sp_sum_props props = {.axis = prop_given(axis) ? prop_int(3 - axis.u.i) : axis,
                              .sparse_grad = prop_bool(false)};
  damo_var *x = spread->in[1], *transposed = build_op(b, damo_retain(node->op), &x, 1);
  damo_var *in[2] = {spread->in[0], transposed};
  return rule_give(b, repl, did,
                   transposed != NULL ? build_op(b, op_new(b->ctx, spread->op->def, &props), in, 2) : NULL);
}

/* ---- Patterns known from Types
 * ------------------------------------------------------------------------------------ */

/* The pattern of v, if it comes from a leaf whose Type has one: the leaf's values are checked against its Type. NULL:
 * unknown. */
static const type_pattern *known_pattern(damo_var *v) {
  const damo_var *root = var_pattern_root(v, INT64_MAX);
  return root->owner == NULL ? root->type->pattern : NULL;
}

static damo_var *as_constant(build *b, damo_array *value) {
  return build_take(b, var_constant(b->ctx, NULL, &value->obj));
}

/* The shape as a constant in the dtype of the indices. */
static damo_var *shape_constant(build *b, const damo_sparse *m) {
  damo_array *v = damo_array_from(b->ctx, DAMO_INT64, 1, (const int64_t[]){2}, m->shape);
  damo_array *cast = v != NULL ? array_cast(v, sparse_itype(m)) : NULL;
  damo_var *out = cast != NULL ? as_constant(b, cast) : build_take(b, NULL);
  damo_release(v);
  damo_release(cast);
  return out;
}

/* indices, indptr and shape of a matrix with a known pattern → constants */
static damo_status known_properties(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const type_pattern *p = known_pattern(node->in[0]);
  if (p == NULL || sparse_itype(p->matrix) != var_dtype(node->out[1])) return DAMO_OK;
  for (int i = 1; i < 4 && b->status == DAMO_OK; i++) {
    if (fgraph_clients(fg, node->out[i]) == NULL) continue;
    repl[i] = i == 3 ? shape_constant(b, p->matrix) : as_constant(b, i == 1 ? p->matrix->indices : p->matrix->indptr);
    *did = true;
  }
  return b->status;
}

/* The length of the data of a matrix with a known pattern → a constant */
static damo_status known_length(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = matrix_of_data(node->in[0]);
  const type_pattern *p = x != NULL ? known_pattern(x) : NULL;
  return rule_give(b, repl, did, p != NULL ? build_scalar(b, DAMO_INT64, (double)sparse_nnz(p->matrix)) : NULL);
}

/* ---- Cotangents -------------------------------------------------------------------------------------------------- */

/* Adding cotangents of matrices without duplicates → plain addition. */
static damo_status add_cotangents(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  if (!cotangents_add_plainly(node->in[0], node->in[1], node->in[2])) return DAMO_OK;
  const int first = node->in[1]->type->format == node->out[0]->type->format ? 1 : 2;
  return rule_give(b, repl, did, build_add(b, node->in[first], node->in[3 - first]));
}

static damo_status move_cotangent(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  return rule_give(b, repl, did, cotangent_moves_plainly(node->in[1], node->in[3]) ? node->in[0] : NULL);
}

/* ---- Sums of products -------------------------------------------------------------------------------------------- */

/* The sums along rows or columns of a matrix whose data are a product x*y → one node that does not store the
 * products. */
static damo_status sum_products(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *with = match_class(node->in[0], &sp_with_data_def);
  const damo_apply *mul = with != NULL ? match_scalar(with->in[1], SCALAR_mul) : NULL;
  const prop_value *axis = &OP_PROPS(node->op, sp_sum_props)->axis;
  if (mul == NULL || mul->n_in != 2 || axis->kind == PROP_NIL) return DAMO_OK;
  if (!match_single_use(fg, node->in[0]) || !match_single_use(fg, with->in[1])) return DAMO_OK;
  damo_var *m = with->in[0], *x = mul->in[0], *y = mul->in[1];
  if (var_dtype(x) != var_dtype(node->out[0]) || var_dtype(y) != var_dtype(x)) return DAMO_OK;
  if (!is_over_entries(x, m) || !is_over_entries(y, m)) return DAMO_OK;
  return rule_give(b, repl, did, build_sp_vecdot(b, m, x, y, (int)axis->u.i - 1));
}

#define RULE(rule_name, fn, ...)                                                                                      \
  {                                                                                                                   \
    .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run fast_compile canonicalize sparse", .local = fn, \
    __VA_ARGS__                                                                                                       \
  }
#define INEXACT(rule_name, fn, ...)                                                                              \
  {                                                                                                              \
    .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run fast_compile canonicalize sparse inexact", \
    .local = fn, __VA_ARGS__                                                                                     \
  }

/* In a late phase, so that csm_of_parts and the like still recognise the parts of a matrix before they become
 * constants. */
#define KNOWN(rule_name, fn, ...) \
  { .name = rule_name, .phase = PHASE_SPECIALIZE, .tags = "fast_run specialize sparse", .local = fn, __VA_ARGS__ }

const rewrite_rule sparse_rules[] = {
    RULE("sparse_with_data", with_own_data, TRACKS(&sp_with_data_def)),
    RULE("sparse_gather_data", gather_data, TRACKS(&sp_gather_def)),
    INEXACT("sparse_mul_spread", mul_spread, TRACKS(&sp_mul_ss_def)),
    RULE("sparse_properties", properties_of_with_data, TRACKS(&sp_csm_properties_def)),
    RULE("sparse_data", data_of_with_data, TRACKS(&sp_data_def)),
    RULE("sparse_csm", csm_of_parts, TRACKS(&sp_csm_def)),
    INEXACT("sparse_dense_of_sparse", dense_of_sparse, TRACKS(&sp_to_dense_def)),
    RULE("sparse_transpose", transpose_spread, TRACKS(&sp_transpose_def)),
    RULE("sparse_neg_twice", undo_twice, TRACKS(&sp_neg_def)),
    RULE("sparse_to_format", to_format, TRACKS(&sp_to_format_def)),
    INEXACT("sparse_join_col_scales", join_scales, TRACKS(&sp_col_scale_def)),
    INEXACT("sparse_join_row_scales", join_scales, TRACKS(&sp_row_scale_def)),
    RULE("sparse_add_cotangents", add_cotangents, TRACKS(&sp_add_cotangents_def)),
    RULE("sparse_move_cotangent", move_cotangent, TRACKS(&sp_move_cotangent_def)),
    KNOWN("sparse_known_properties", known_properties, TRACKS(&sp_csm_properties_def)),
    KNOWN("sparse_known_length", known_length, TRACKS(&shape_i_def)),
    {.name = "sparse_sum_products",
     .phase = PHASE_FUSE,
     .tags = "fast_run fuse fusion sparse inexact",
     TRACKS(&sp_sum_def),
     .local = sum_products},
    {.name = NULL},
};

#undef RULE
#undef INEXACT
#undef KNOWN
