/* products.c: rules for products of matrices and vectors: scales and signs leave them, a transpose goes into them, chains
 * are multiplied in the cheapest order, two products with one operand become one. BLAS decides how terms are summed, so
 * all are tagged inexact.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

static bool is_dot(const damo_var *v) { return match_class(v, &dot_def) != NULL; }

/* ---- Scales, signs, transposes ----------------------------------------------------------------------------------- */

/* x if v = f·x or -x with a scalar f (*f; NULL for -x) that is finite for all finite inputs; of a transpose of these
 * the transpose of x. */
static damo_var *unscaled(build *b, const damo_fgraph *fg, const damo_var *v, damo_var **f) {
  const damo_apply *moved = match_class(v, &dimshuffle_def);
  *f = NULL;
  if (moved != NULL && match_single_use(fg, v) && match_class(moved->in[0], &elemwise_def) != NULL) {
    damo_var *x = unscaled(b, fg, moved->in[0], f);
    if (x == NULL || var_ndim(x) != var_ndim(moved->in[0])) return NULL;
    return build_op(b, damo_retain(moved->op), &x, 1);
  }
  if (!match_single_use(fg, v) || var_dtype(v) == DAMO_BOOL || dtype_is_complex(var_dtype(v))) return NULL;
  if (match_scalar(v, SCALAR_neg) != NULL) return v->owner->in[0];
  const damo_apply *mul = match_scalar(v, SCALAR_mul);
  for (int i = 1; mul != NULL && i >= 0; i--) {
    damo_var *s = mul->in[i], *x = mul->in[1 - i];
    if (!match_single_entry(s) || !match_fits(mul, 1 - i) || !match_facts(s, FACT_FINITE)) continue;
    if (var_dtype(s) != var_dtype(v) || var_dtype(x) != var_dtype(v)) continue;
    *f = s;
    return x;
  }
  return NULL;
}

/* (f·x)·y → f·(x·y), (-x)·y → -(x·y), on either side. */
static damo_status scale_of_dot(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  for (int i = 0; i < 2; i++) {
    damo_var *f, *in[2] = {node->in[0], node->in[1]}, *x = unscaled(b, fg, in[i], &f);
    if (x == NULL || var_dtype(in[i]) != var_dtype(node->out[0])) continue;
    in[i] = x;
    damo_var *dot = build_dot(b, in[0], in[1]);
    if (dot == NULL) return b->status;
    if (f == NULL) return rule_give(b, repl, did, build_neg(b, dot));
    f = build_dimshuffle(b, f, NULL, 0);
    return rule_give(b, repl, did, f != NULL ? build_mul(b, f, dot) : NULL);
  }
  return DAMO_OK;
}

/* The transpose of x·y → yᵀ·xᵀ, if nobody else reads x·y. */
static damo_status transpose_of_dot(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const prop_value *order = OP_PROPS(node->op, dimshuffle_props)->new_order.u.list;
  damo_var *v = node->in[0];
  if (var_ndim(v) != 2 || var_ndim(node->out[0]) != 2 || !is_dot(v) || !match_single_use(fg, v)) return DAMO_OK;
  if (order[0].kind != PROP_INT || order[0].u.i != 2 || order[1].kind != PROP_INT || order[1].u.i != 1) return DAMO_OK;
  damo_var *x = v->owner->in[0], *y = v->owner->in[1];
  if (var_ndim(x) != 2 || var_ndim(y) != 2) return DAMO_OK;
  return rule_give(b, repl, did, build_dot(b, build_transpose(b, y), build_transpose(b, x)));
}

/* The product of a column and a row → an elementwise product, which broadcasts. */
static damo_status dot_of_ones(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0], *y = node->in[1];
  if (var_ndim(x) != 2 || var_ndim(y) != 2 || !type_dim_is_one(x->type, 1) || !type_dim_is_one(y->type, 0))
    return DAMO_OK;
  if (var_dtype(x) != var_dtype(node->out[0]) || var_dtype(y) != var_dtype(x) || var_dtype(x) == DAMO_BOOL)
    return DAMO_OK;
  return rule_give(b, repl, did, build_mul(b, x, y));
}

/* a·x + b·x → (a + b)·x, x·a - x·b → x·(a - b), where a and b certainly have one shape. */
static damo_status sum_of_dots(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *u = node->in[0], *v = node->in[1];
  if (!is_dot(u) || !is_dot(v) || !match_single_use(fg, u) || !match_single_use(fg, v)) return DAMO_OK;
  if (var_dtype(u) != var_dtype(node->out[0]) || var_dtype(v) != var_dtype(u) || var_dtype(u) == DAMO_BOOL)
    return DAMO_OK;
  for (int i = 0; i < 2; i++) {
    damo_var *x = u->owner->in[i], *y = v->owner->in[i], *common = u->owner->in[1 - i];
    if (common != v->owner->in[1 - i] || var_ndim(x) != var_ndim(y) || !match_same_shape(x, y)) continue;
    if (var_dtype(x) != var_dtype(u) || var_dtype(y) != var_dtype(u)) continue;
    damo_var *sum = build_scalar_op(b, elemwise_scalar_id(node->op), (damo_var *[]){x, y});
    if (sum == NULL) return b->status;
    return rule_give(b, repl, did, i == 0 ? build_dot(b, sum, common) : build_dot(b, common, sum));
  }
  return DAMO_OK;
}

/* The column and the row of v, their product entry by entry, if nobody else reads it and the one that leaves the product
 * is finite for all finite inputs. */
static bool match_outer(const damo_fgraph *fg, const damo_var *v, bool column_leaves, damo_var **col, damo_var **row) {
  const damo_apply *mul = match_scalar(v, SCALAR_mul);
  if (mul == NULL || var_ndim(v) != 2 || var_dtype(v) == DAMO_BOOL || !match_single_use(fg, v)) return false;
  for (int i = 0; i < 2; i++) {
    damo_var *x = mul->in[i], *y = mul->in[1 - i];
    const bool is_col = var_ndim(x) == 2 && type_dim_is_one(x->type, 1) && !type_dim_is_one(v->type, 1);
    const bool is_row = var_ndim(y) == 1 || (var_ndim(y) == 2 && type_dim_is_one(y->type, 0));
    if (!is_col || !is_row || var_dtype(x) != var_dtype(v) || var_dtype(y) != var_dtype(v)) continue;
    *col = x;
    *row = y;
    return match_facts(column_leaves ? x : y, FACT_FINITE);
  }
  return false;
}

/* (x·yᵀ)·z → x·(y·z) and z·(x·yᵀ) → (z·x)·yᵀ for vectors x and y. */
static damo_status dot_of_outer(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *x = node->in[0], *y = node->in[1], *col, *row;
  if (var_dtype(x) != var_dtype(node->out[0]) || var_dtype(y) != var_dtype(x)) return DAMO_OK;
  if (match_outer(fg, x, true, &col, &row)) {
    row = build_dimshuffle(b, row, (const int[]){var_ndim(row) - 1}, 1);
    damo_var *inner = row != NULL ? build_dot(b, row, y) : NULL;
    if (var_ndim(y) == 1) col = build_dimshuffle(b, col, (const int[]){0}, 1);
    return rule_give(b, repl, did, inner != NULL && col != NULL ? build_mul(b, col, inner) : NULL);
  }
  if (!match_outer(fg, y, false, &col, &row)) return DAMO_OK;
  col = build_dimshuffle(b, col, (const int[]){0}, 1);
  damo_var *inner = col != NULL ? build_dot(b, x, col) : NULL;
  if (var_ndim(x) == 2 && inner != NULL) inner = build_dimshuffle(b, inner, (const int[]){0, -1}, 2);
  if (var_ndim(x) == 1) row = build_dimshuffle(b, row, (const int[]){var_ndim(row) - 1}, 1);
  return rule_give(b, repl, did, inner != NULL && row != NULL ? build_mul(b, inner, row) : NULL);
}

/* ---- Chains ------------------------------------------------------------------------------------------------------ */

#define CHAIN_MAX 12

/* A product of n factors; dim[i] and dim[i + 1] are the lengths of factor i, -1 where unknown. A vector at an end has
 * one length of 1 there. */
typedef struct dot_chain {
  damo_var *at[CHAIN_MAX];
  int64_t dim[CHAIN_MAX + 1];
  int n;
} dot_chain;

static bool opens_chain(const damo_fgraph *fg, const damo_var *v, const damo_var *root) {
  return is_dot(v) && (v == root || match_single_use(fg, v)) && var_dtype(v) == var_dtype(root);
}

/* Splits v into factors of which the inner ones are matrices; false if there are too many. */
static bool chain_collect(const damo_fgraph *fg, damo_var *v, dot_chain *c) {
  *c = (dot_chain){.at = {v}, .n = 1};
  for (int k = 0; k < c->n;) {
    const damo_var *f = c->at[k];
    if (!opens_chain(fg, f, v)) {
      k++;
      continue;
    }
    damo_var *x = f->owner->in[0], *y = f->owner->in[1];
    if ((f != v && var_ndim(x) == 1 && var_ndim(y) == 1) || var_dtype(x) != var_dtype(v) ||
        var_dtype(y) != var_dtype(v))
      return false;
    if (c->n == CHAIN_MAX) return false;
    for (int i = c->n; i > k + 1; i--) c->at[i] = c->at[i - 1];
    c->at[k] = x;
    c->at[k + 1] = y;
    c->n++;
  }
  return true;
}

/* Fills in the lengths; false if one is unknown that a cost would need. */
static bool chain_lengths(dot_chain *c) {
  for (int i = 0; i < c->n; i++) {
    const damo_type *t = c->at[i]->type;
    if (t->ndim == 1 && i != 0 && i != c->n - 1) return false;
    const int64_t first = t->ndim == 2 || i > 0 ? t->shape[0] : 1, second = t->ndim == 2 ? t->shape[1]
                                                                            : i > 0      ? 1
                                                                                         : t->shape[0];
    if (i > 0 && c->dim[i] >= 0 && first >= 0 && c->dim[i] != first) return false; /* an error when it runs */
    if (i == 0 || c->dim[i] < 0) c->dim[i] = first;
    c->dim[i + 1] = second;
  }
  for (int i = 0; i <= c->n; i++) {
    if (c->dim[i] < 0) return false;
  }
  return true;
}

/* Where to split factors i … j in the cheapest order (split), by dynamic programming; returns its cost in products. */
static double cheapest_order(const dot_chain *c, int split[CHAIN_MAX][CHAIN_MAX]) {
  double cost[CHAIN_MAX][CHAIN_MAX] = {{0}};
  for (int span = 1; span < c->n; span++) {
    for (int i = 0; i + span < c->n; i++) {
      const int j = i + span;
      cost[i][j] = -1;
      for (int k = j - 1; k >= i; k--) { /* the usual order, from the left, among equals */
        const double now =
            cost[i][k] + cost[k + 1][j] + (double)c->dim[i] * (double)c->dim[k + 1] * (double)c->dim[j + 1];
        if (cost[i][j] >= 0 && now >= cost[i][j]) continue;
        cost[i][j] = now;
        split[i][j] = k;
      }
    }
  }
  return cost[0][c->n - 1];
}

/* The cost of v's own order. *next: the factor that comes next; recursion is as deep as the chain is long. */
static double own_cost(const damo_fgraph *fg, const damo_var *v, const damo_var *root, const dot_chain *c, int *next,
                       int *first, int *last) {
  if (!opens_chain(fg, v, root)) {
    *first = *last = (*next)++;
    return 0;
  }
  int mid, right;
  const double x = own_cost(fg, v->owner->in[0], root, c, next, first, &mid),
               y = own_cost(fg, v->owner->in[1], root, c, next, &right, last);
  return x + y + (double)c->dim[*first] * (double)c->dim[right] * (double)c->dim[*last + 1];
}

static damo_var *build_order(build *b, const dot_chain *c, int split[CHAIN_MAX][CHAIN_MAX], int i, int j) {
  if (i == j) return c->at[i];
  damo_var *x = build_order(b, c, split, i, split[i][j]), *y = build_order(b, c, split, split[i][j] + 1, j);
  return x != NULL && y != NULL ? build_dot(b, x, y) : NULL;
}

/* Whether v is an inner node of a longer chain. */
static bool is_inner_dot(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  if (c == NULL || c->n != 1 || c->at[0].node == NULL) return false;
  return c->at[0].node->op->def == &dot_def && var_dtype(c->at[0].node->out[0]) == var_dtype(v);
}

/* (A·B)·v → A·(B·v) and u·(A·B) → (u·A)·B for vectors, whatever the lengths: never dearer. */
static damo_var *vector_order(build *b, const damo_fgraph *fg, const damo_apply *node) {
  damo_var *x = node->in[0], *y = node->in[1];
  if (var_ndim(y) == 1 && var_ndim(x) == 2 && is_dot(x) && match_single_use(fg, x))
    return build_dot(b, x->owner->in[0], build_dot(b, x->owner->in[1], y));
  if (var_ndim(x) == 1 && var_ndim(y) == 2 && is_dot(y) && match_single_use(fg, y))
    return build_dot(b, build_dot(b, x, y->owner->in[0]), y->owner->in[1]);
  return NULL;
}

static damo_status order_of_dots(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *out = node->out[0];
  dot_chain c;
  int split[CHAIN_MAX][CHAIN_MAX] = {{0}}, next = 0, first, last;
  if (is_inner_dot(fg, out) || !(is_dot(node->in[0]) || is_dot(node->in[1])) || dtype_is_discrete(var_dtype(out)))
    return DAMO_OK;
  if (chain_collect(fg, out, &c) && c.n > 2 && chain_lengths(&c)) {
    if (own_cost(fg, out, out, &c, &next, &first, &last) <= cheapest_order(&c, split)) return DAMO_OK;
    return rule_give(b, repl, did, build_order(b, &c, split, 0, c.n - 1));
  }
  return rule_give(b, repl, did, vector_order(b, fg, node));
}

/* ---- Sums of products -------------------------------------------------------------------------------------------- */

/* Whether no leading axis of the Matmul's operands broadcasts. */
static bool matmul_is_paired(const damo_apply *product) {
  for (int i = 0; i < 2; i++) {
    const damo_type *t = product->in[i]->type;
    for (int axis = 0; axis < t->ndim - 2; axis++) {
      if (type_dim_is_one(t, axis)) return false;
    }
  }
  return true;
}

/* sum over leading axes of matmul(x, y) → one product over these axes and the inner one, as the gradient of a matrix
 * that is multiplied by each matrix of a stack. */
static damo_status sum_matmul(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_apply *product = match_class(node->in[0], &matmul_def);
  if (product == NULL || reduce_op_kind(node->op) != REDUCE_SUM || !match_single_use(fg, node->in[0])) return DAMO_OK;
  const int n = var_ndim(node->in[0]), kept = var_ndim(node->out[0]);
  const uint32_t axes = reduce_op_axes(node->op, n), inner = (uint32_t)3 << (n - 2);
  const damo_dtype dtype = var_dtype(node->out[0]);
  if ((axes & inner) != 0 || kept != n - __builtin_popcount(axes) || dtype != var_dtype(node->in[0])) return DAMO_OK;
  if (dtype_is_discrete(dtype) || !matmul_is_paired(product)) return DAMO_OK;
  return rule_give(b, repl, did, build_matmul_sum(b, product, axes));
}

#define RULE(rule_name, fn, ...) \
  { .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run canonicalize inexact", .local = fn, __VA_ARGS__ }

const rewrite_rule product_rules[] = {
    RULE("scale_of_dot", scale_of_dot, TRACKS(&dot_def)),
    RULE("dot_of_ones", dot_of_ones, TRACKS(&dot_def)),
    RULE("dot_of_outer", dot_of_outer, TRACKS(&dot_def)),
    RULE("order_of_dots", order_of_dots, TRACKS(&dot_def)),
    RULE("transpose_of_dot", transpose_of_dot, TRACKS(&dimshuffle_def)),
    RULE("sum_of_dots", sum_of_dots, ELEMWISE(SCALAR_add, SCALAR_sub)),
    {.name = "sum_matmul",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize blas inexact",
     TRACKS(&reduce_def),
     .local = sum_matmul},
    {.name = NULL},
};

#undef RULE
