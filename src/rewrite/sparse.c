/* sparse.c: shorter ways through sparse matrices: parts taken out of what was put together, forms converted there and
 * back, scalings of scalings; and what Types know of patterns as constants. */
#include "rewrite_int.h"

#include <string.h>

static bool is_class(const damo_var *v, const char *name) { return match_op(v, name) != NULL; }

/* ---- Patterns ---------------------------------------------------------------------------------------------------- */

/* The Variable nearest to the leaves that has v's pattern. */
static damo_var *pattern_root(damo_var *v) {
  while (v->owner != NULL && v->owner->op->def->pattern == PATTERN_SHARED) v = v->owner->in[0];
  return v;
}

/* WithData(x, data) and GatherData(g, x), SparseZeros(x) read x's pattern alone: any x with that pattern will do. */
static damo_status shorten_pattern(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did, int at) {
  (void)fg;
  damo_var *root = pattern_root(node->in[at]), *in[2] = {node->in[0], node->n_in > 1 ? node->in[1] : NULL};
  if (root == node->in[at]) return DAMO_OK;
  in[at] = root;
  return rule_give(b, repl, did, build_op(b, damo_retain(node->op), in, node->n_in));
}

/* The matrix whose vector of stored values v is, or NULL. */
static damo_var *matrix_of_data(const damo_var *v) {
  const damo_apply *from = match_op(v, "SparseData");
  if (from == NULL && v->index == 0) from = match_op(v, "CSMProperties");
  return from != NULL ? from->in[0] : NULL;
}

/* WithData(x, data of x) is x. */
static damo_status with_data(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (matrix_of_data(node->in[1]) == node->in[0]) return rule_give(b, repl, did, node->in[0]);
  return shorten_pattern(b, fg, node, repl, did, 0);
}

static damo_status gather_data(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  return shorten_pattern(b, fg, node, repl, did, 1);
}

/* The parts of WithData(x, data) are data, and x's. */
static damo_status properties(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0], *root = pattern_root(x);
  if (is_class(x, "WithData")) repl[0] = x->owner->in[1];
  if (root != x) {
    damo_apply *own = build_apply(b, damo_retain(node->op), &root, 1);
    for (int i = 1; i < 4 && own != NULL; i++) repl[i] = own->out[i];
  }
  *did = root != x && b->status == DAMO_OK;
  return b->status;
}

static damo_status data(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *with = match_op(node->in[0], "WithData");
  return rule_give(b, repl, did, with != NULL ? with->in[1] : NULL);
}

/* The vector says the shape that x's Type knows. */
static bool is_known_shape(const damo_var *shape, const damo_type *t) {
  const damo_array *v = var_constant_array(shape);
  if (v == NULL || v->ndim != 1 || array_size(v) != 2) return false;
  for (int64_t i = 0; i < 2; i++) {
    if (t->shape[i] < 0 || scalar_to_int64(array_get(v, &i)) != t->shape[i]) return false;
  }
  return true;
}

/* CSM of all four parts of x is x, where the format and the index dtype are. */
static damo_status csm(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_op(node->in[1], "CSMProperties");
  if (from == NULL || !type_is_super(node->out[0]->type, from->in[0]->type)) return DAMO_OK;
  if (matrix_of_data(node->in[0]) != from->in[0]) return DAMO_OK;
  for (int i = 1; i < 3; i++) {
    if (node->in[i] != from->out[i]) return DAMO_OK;
  }
  const damo_var *shape = node->in[3];
  bool same = shape == from->out[3] || (is_class(shape, "Shape") && shape->owner->in[0] == from->in[0]) ||
              is_known_shape(shape, from->in[0]->type);
  for (int i = 0; i < 2 && !same; i++) { /* the shape as rewritten: lengths of x */
    const damo_apply *v = match_op(shape, "MakeVector");
    if (v == NULL || v->n_in != 2 || !match_length(v->in[i], from->in[0], i)) return DAMO_OK;
    same = i == 1;
  }
  return rule_give(b, repl, did, same ? from->in[0] : NULL);
}

/* ---- There and back ---------------------------------------------------------------------------------------------- */

static damo_status dense_of_sparse(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_op(node->in[0], "SparseFromDense");
  return rule_give(b, repl, did, from != NULL ? from->in[0] : NULL);
}

/* Transpose and Neg undo themselves. */
static damo_status twice(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_op(node->in[0], node->op->def->name);
  return rule_give(b, repl, did, from != NULL && from->op == node->op ? from->in[0] : NULL);
}

/* The last conversion counts; to the format that x had is x with sorted lines, as a conversion leaves them. */
static damo_status to_format(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_op(node->in[0], "ToFormat");
  if (from == NULL) return DAMO_OK;
  damo_var *x = from->in[0];
  bool home = x->type->format == node->out[0]->type->format;
  damo_var *sorted = home ? build_fn1(b, "sparse.ensure_sorted_indices", x) : NULL;
  return rule_give(b, repl, did, home ? sorted : build_op(b, damo_retain(node->op), &x, 1));
}

/* Scaling twice by vectors is scaling once by their product. */
static damo_status join_scales(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *from = match_op(node->in[0], node->op->def->name);
  if (from == NULL || from->op != node->op || !match_single_use(fg, node->in[0])) return DAMO_OK;
  damo_var *in[2] = {from->in[0], build_fn2(b, "mul", from->in[1], node->in[1])};
  return rule_give(b, repl, did, in[1] != NULL ? build_op(b, damo_retain(node->op), in, 2) : NULL);
}

/* ---- Patterns that Types know ------------------------------------------------------------------------------------ */

/* The pattern of v's values: of the leaf that has it, whose values are checked against its Type. NULL: not known. */
static const type_pattern *known_pattern(damo_var *v) {
  const damo_var *root = pattern_root(v);
  return root->owner == NULL ? root->type->pattern : NULL;
}

static damo_var *as_constant(build *b, damo_array *value) {
  return build_take(b, var_constant(b->ctx, NULL, &value->obj));
}

/* The shape in the dtype of the indices. */
static damo_var *shape_constant(build *b, const damo_sparse *m) {
  damo_array *v = damo_array_from(b->ctx, DAMO_INT64, 1, (const int64_t[]){2}, m->shape);
  damo_array *cast = v != NULL ? array_cast(v, sparse_itype(m)) : NULL;
  damo_var *out = cast != NULL ? as_constant(b, cast) : build_take(b, NULL);
  damo_release(v);
  damo_release(cast);
  return out;
}

/* indices, indptr and shape of a matrix with a known pattern are constants. */
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

/* So is the number of its entries: the length of its data. */
static damo_status known_length(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = matrix_of_data(node->in[0]);
  const type_pattern *p = x != NULL ? known_pattern(x) : NULL;
  return rule_give(b, repl, did, p != NULL ? build_scalar(b, DAMO_INT64, (double)sparse_nnz(p->matrix)) : NULL);
}

/* ---- Cotangents -------------------------------------------------------------------------------------------------- */

/* Where no place is stored twice cotangents are matrices like others. */
static damo_status add_cotangents(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  if (!cotangents_add_plainly(node->in[0], node->in[1], node->in[2])) return DAMO_OK;
  const int first = node->in[1]->type->format == node->out[0]->type->format ? 1 : 2;
  return rule_give(b, repl, did, build_fn2(b, "add", node->in[first], node->in[3 - first]));
}

static damo_status move_cotangent(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  return rule_give(b, repl, did, cotangent_moves_plainly(node->in[1], node->in[3]) ? node->in[0] : NULL);
}

#define RULE(rule_name, class, fn)                                                                       \
  {                                                                                                      \
    .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run fast_compile canonicalize sparse", \
    .tracks = class, .local = fn                                                                         \
  }

/* Late, so that the parts of a matrix are still seen as its own where it is put together again. */
#define KNOWN(rule_name, class, fn) \
  { .name = rule_name, .phase = PHASE_SPECIALIZE, .tags = "fast_run specialize sparse", .tracks = class, .local = fn }

const rewrite_rule sparse_rules[] = {
    RULE("sparse_with_data", "WithData", with_data),
    RULE("sparse_gather_data", "GatherData", gather_data),
    RULE("sparse_properties", "CSMProperties", properties),
    RULE("sparse_data", "SparseData", data),
    RULE("sparse_csm", "CSM", csm),
    RULE("sparse_dense_of_sparse", "DenseFromSparse", dense_of_sparse),
    RULE("sparse_transpose_twice", "Transpose", twice),
    RULE("sparse_neg_twice", "Neg", twice),
    RULE("sparse_to_format", "ToFormat", to_format),
    RULE("sparse_join_col_scales", "ColScaleCSC", join_scales),
    RULE("sparse_join_row_scales", "RowScaleCSC", join_scales),
    RULE("sparse_add_cotangents", "AddCotangents", add_cotangents),
    RULE("sparse_move_cotangent", "MoveCotangent", move_cotangent),
    KNOWN("sparse_known_properties", "CSMProperties", known_properties),
    KNOWN("sparse_known_length", "Shape_i", known_length),
    {.name = NULL},
};
