/* sampled.c: fuses an sddmm (a dense product sampled at the positions of a pattern) and an spmm by a matrix of the same
 * pattern, which read the same dense rows, into one node that reads them once. The gradients of structured_dot and
 * sampling_dot compute both. */
#include "rewrite_int.h"
#include "sparse/sparse.h"
#include "op/op.h"
#include "op/sparse/build_sparse.h"

/* Budget of the cycle checks: so many visited nodes for each node of the graph, so that the rule stays linear in its
 * size. */
#define WALK_SHARE 16
#define WALK_LEAST 4096
#define MOST_USES 64 /* most uses of a dense operand that are searched */

/* A candidate pair: samples of rows·colsᵀ at m's pattern, and the product m·cols, or mᵀ·rows if transposed. */
typedef struct sampled_pair {
  damo_apply *samples, *product;
  damo_var *m, *rows, *cols;
  bool transposed;
} sampled_pair;

/* Whether v is the array i (1: indices, 2: indptr) of m's pattern: read from a matrix with that pattern, or the
 * constant from m's Type. */
static bool is_vector_of(const damo_var *v, int i, const damo_var *m) {
  const damo_var *root = var_pattern_root(m, INT64_MAX);
  const damo_apply *from = match_class(v, &sp_csm_properties_def);
  if (from != NULL) return v->index == i && var_pattern_root(from->in[0], INT64_MAX) == root;
  const type_pattern *known = root->owner == NULL ? root->type->pattern : NULL;
  const damo_array *value = known != NULL ? var_constant_array(v) : NULL;
  return value != NULL && value == (i == 1 ? known->matrix->indices : known->matrix->indptr);
}

static bool is_samples(const damo_apply *node) {
  return node->op->def == &sampled_csr_def || node->op->def == &sampled_csc_def;
}

/* Whether all operands and results have the same real float dtype. */
static bool is_one_dtype(const sampled_pair *p) {
  const damo_var *all[] = {p->m, p->rows, p->cols, p->samples->out[0], p->product->out[0]};
  const damo_dtype dtype = var_dtype(all[0]);
  for (size_t i = 1; i < sizeof all / sizeof *all; i++) {
    if (var_dtype(all[i]) != dtype) return false;
  }
  return dtype_is_float(dtype);
}

/* Completes the pair if the node is a product of a matrix with the samples' pattern with their columns, or, transposed,
 * with their rows. */
static bool complete_pair(sampled_pair *p, damo_apply *node, bool transposed) {
  const damo_apply *s = p->samples;
  if (node == NULL || !match_sparse_product(node) || node->in[1] != (transposed ? p->rows : p->cols)) return false;
  const damo_apply *turn = transposed ? match_class(node->in[0], &sp_transpose_def) : NULL;
  if (transposed && turn == NULL) return false;
  p->m = transposed ? turn->in[0] : node->in[0];
  p->product = node;
  p->transposed = transposed;
  if (!type_is_sparse(p->m->type) || !type_is_tensor(node->in[1]->type)) return false;
  const int format = s->op->def == &sampled_csr_def ? DAMO_CSR : DAMO_CSC;
  return p->m->type->format == format && is_vector_of(s->in[0], 1, p->m) && is_vector_of(s->in[1], 2, p->m) &&
         is_one_dtype(p);
}

/* Looks for the product. First the form for which the fused node needs no cached transpose of m. */
static bool find_product(const damo_fgraph *fg, sampled_pair *p) {
  const bool csr = p->samples->op->def == &sampled_csr_def;
  for (int k = 0; k < 2; k++) {
    const bool transposed = (k == 0) != csr;
    const fg_clients *c = fgraph_clients(fg, transposed ? p->rows : p->cols);
    for (int32_t i = 0; c != NULL && i < c->n && i < MOST_USES; i++) {
      if (complete_pair(p, c->at[i].node, transposed)) return true;
    }
  }
  return false;
}

/* *free: no operand of the pair depends on either node, so fusing them makes no cycle. False if the budget is used
 * up. */
static damo_status is_free_of_cycle(damo_ctx *ctx, const sampled_pair *p, int64_t *budget, bool *free) {
  damo_var *const reads[] = {p->m, p->rows, p->cols};
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  *free = *budget > 0;
  const damo_status s = *free ? graph_toposort(ctx, reads, 3, NULL, 0, &nodes) : DAMO_OK;
  for (int64_t i = 0; i < nodes.n && *free; i++) *free = nodes.at[i] != p->samples && nodes.at[i] != p->product;
  *budget -= nodes.n;
  ptrvec_clear(&nodes);
  return s;
}

/* The fused node gets the product's trace, for errors. */
static damo_apply *build_both(build *b, const sampled_pair *p) {
  damo_obj *trace = graph_notes_of(b->ctx)->trace;
  graph_notes_of(b->ctx)->trace = p->product->trace != NULL ? &p->product->trace->obj : NULL;
  damo_apply *both = build_sampled_product(b, p->product->op->def, p->m, p->rows, p->cols, p->transposed,
                                           p->samples->out[0]->type->shape[0]);
  graph_notes_of(b->ctx)->trace = trace;
  return both;
}

static damo_status join_pair(damo_fgraph *fg, const sampled_pair *p) {
  build b;
  build_init(&b, fg->obj.ctx);
  damo_var *old[2] = {p->samples->out[0], p->product->out[0]};
  damo_apply *both = build_both(&b, p);
  if (both != NULL && type_is_super(old[0]->type, both->out[0]->type) &&
      type_is_super(old[1]->type, both->out[1]->type)) {
    b.status = fgraph_replace_trusted(fg, old, both->out, 2, "sparse_sampled_product");
  }
  return build_end(&b);
}

static damo_status join_one(damo_fgraph *fg, damo_apply *node, int64_t *budget) {
  sampled_pair p = {.samples = node, .rows = node->in[3], .cols = node->in[2]};
  bool free = false;
  if (!find_product(fg, &p)) return DAMO_OK;
  DAMO_TRY(is_free_of_cycle(fg->obj.ctx, &p, budget, &free));
  return free ? join_pair(fg, &p) : DAMO_OK;
}

static damo_status join_all(damo_fgraph *fg) {
  int64_t budget = WALK_LEAST + WALK_SHARE * (int64_t)fg->nodes.n;
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  int64_t n = 0;
  for (int64_t i = 0; i < nodes.n; i++) { /* the nodes that fusing drops are samples and products alone */
    damo_apply *node = nodes.at[i];
    if (is_samples(node)) nodes.at[n++] = node;
  }
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    if (fgraph_has_node(fg, nodes.at[i])) s = join_one(fg, nodes.at[i], &budget);
  }
  ptrvec_clear(&nodes);
  return s;
}

/* In the last phases, after specialize: updates by products (Usmm), which need no second pass either, have
 * precedence. */
const rewrite_rule sampled_rules[] = {
    {.name = "sparse_sampled_product", .phase = PHASE_FUSE, .tags = "fast_run fuse fusion sparse", .global = join_all},
    {.name = NULL},
};
