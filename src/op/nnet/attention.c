/* attention: embedding, and attention (Vaswani et al., Attention Is All You Need, 2017), as graphs of other ops. */
#include <float.h>

#include "nnet.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/shape/shape_int.h"

typedef struct attention_options {
  prop_value causal, scale, num_heads;
} attention_options;

/* true at (i, j) where j <= i */
static damo_var *attention_causal(build *b, damo_var *rows, damo_var *columns) {
  damo_var *one = build_i64(b, 1);
  damo_var *i = build_range(b, one, rows), *j = build_range(b, one, columns);
  if (i == NULL || j == NULL) return NULL;
  return build_le(b, build_new_axis(b, j, 0), build_new_axis(b, i, 1));
}

/* Weights of the keys: softmax of the scores where `allowed` holds (NULL: everywhere), 0 elsewhere. A query that may
 * look at no key has weights of 0: the scores become the lowest finite number, whose softmax is finite. */
static damo_var *attention_weights(build *b, damo_var *scores, damo_var *allowed) {
  if (scores == NULL) return NULL;
  const int last = var_ndim(scores) - 1;
  if (allowed == NULL) return build_softmax(b, scores, last);
  const double low = var_dtype(scores) == DAMO_FLOAT64 ? -DBL_MAX : -FLT_MAX;
  damo_var *kept = build_switch(b, allowed, scores, build_scalar(b, var_dtype(scores), low));
  if (kept == NULL) return NULL;
  return build_switch(b, allowed, build_softmax(b, kept, var_ndim(kept) - 1), build_scalar(b, var_dtype(scores), 0));
}

/* softmax(q kᵀ·scale + mask) v over the last two axes; mask: bool, true where a key may be looked at, or numbers that
 * are added. */
static damo_var *build_attention(build *b, damo_var *q, damo_var *k, damo_var *v, damo_var *mask,
                                 const attention_options *o) {
  const int rank = var_ndim(q);
  const int64_t width = q->type->shape[rank - 1];
  damo_var *scale, *allowed = NULL;
  if (prop_given(o->scale))
    scale = build_num(b, prop_num_or(o->scale, 1));
  else if (width >= 0)
    scale = build_reciprocal(b, build_sqrt(b, build_scalar(b, var_dtype(q), (double)(width > 0 ? width : 1))));
  else
    scale = build_reciprocal(b, build_sqrt(b, build_cast(b, build_dim(b, q, rank - 1), var_dtype(q))));
  damo_var *scores = build_matmul(b, build_mul(b, q, scale), build_swap_last(b, k));
  if (scores == NULL) return NULL;
  if (mask != NULL) {
    if (dtype_is_float(var_dtype(mask)))
      scores = build_add(b, scores, build_cast(b, mask, var_dtype(scores)));
    else
      allowed = build_cast(b, mask, DAMO_BOOL);
  }
  if (prop_bool_or(o->causal, false)) {
    damo_var *causal = attention_causal(b, build_dim(b, q, rank - 2), build_dim(b, k, var_ndim(k) - 2));
    allowed = allowed != NULL ? build_and_(b, allowed, causal) : causal;
  }
  damo_var *weights = attention_weights(b, scores, allowed);
  return weights != NULL ? build_matmul(b, weights, v) : NULL;
}

/* Shape error naming both operands where two axes (0-based, negative from the end) have other lengths. */
static damo_status attention_check_axes(build *b, const fn_args *a, damo_var *const *in, int i, int axis_i, int j,
                                        int axis_j) {
  const int at_i = axis_i + (axis_i < 0 ? var_ndim(in[i]) : 0), at_j = axis_j + (axis_j < 0 ? var_ndim(in[j]) : 0);
  const int64_t n = in[i]->type->shape[at_i], m = in[j]->type->shape[at_j];
  if (n < 0 || m < 0 || n == m) return DAMO_OK;
  return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: axis %d of operand %d (%s) is %lld, axis %d of operand %d (%s) is %lld",
                  a->func->name, at_i + 1, i + 1, a->signature->operand[i].name, (long long)n, at_j + 1, j + 1,
                  a->signature->operand[j].name, (long long)m);
}

/* Queries, keys and values of at least that rank, with lengths that agree. */
static damo_status attention_check(build *b, const fn_args *a, damo_var *const *in, int least) {
  for (int i = 0; i < 3; i++) {
    if (var_ndim(in[i]) >= least && var_ndim(in[i]) <= DAMO_MAX_NDIM - 1) continue;
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand %d (%s) must have rank %d or more, got %d", a->func->name, i + 1,
                    a->signature->operand[i].name, least, var_ndim(in[i]));
  }
  return attention_check_axes(b, a, in, 1, -2, 2, -2);
}

static damo_status attention_check_mask(build *b, const fn_args *a, int i) {
  if (a->in[i] == NULL) return DAMO_OK;
  DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  if (!dtype_is_complex(var_dtype(a->in[i]))) return DAMO_OK;
  return ctx_fail(b->ctx, DAMO_ETYPE, "%s: operand %d (mask) must be bool or float, got %s", a->func->name, i + 1,
                  dtype_name(var_dtype(a->in[i])));
}

static damo_status call_attention(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[3];
  DAMO_TRY(nnet_to_floats(b, a, 3, in));
  DAMO_TRY(attention_check_mask(b, a, 3));
  DAMO_TRY(attention_check(b, a, in, 2));
  DAMO_TRY(attention_check_axes(b, a, in, 0, -1, 1, -1));
  return fn_give(b, out, build_attention(b, in[0], in[1], in[2], a->in[3], FN_OPTIONS(a, attention_options)));
}

/* x·w of shape (…, L, E) as (…, heads, L, E/heads) */
static damo_var *attention_heads(build *b, const fn_args *a, damo_var *x, damo_var *w, int64_t heads) {
  damo_var *y = build_dot_nd(b, x, w), *dims[DAMO_MAX_NDIM + 1];
  int order[DAMO_MAX_NDIM + 1];
  if (y == NULL || build_dims(b, y, dims) != DAMO_OK) return NULL;
  const int n = var_ndim(y);
  const int64_t width = y->type->shape[n - 1];
  if (width >= 0 && width % heads != 0) {
    return build_fail(b, DAMO_ESHAPE, "%s: projections of length %lld are no multiple of num_heads, %lld",
                      a->func->name, (long long)width, (long long)heads);
  }
  dims[n] = width >= 0 ? build_i64(b, width / heads) : build_floor_div(b, dims[n - 1], build_i64(b, heads));
  dims[n - 1] = build_i64(b, heads);
  if (b->status != DAMO_OK) return NULL;
  damo_var *split = build_reshape(b, y, build_vector(b, dims, n + 1), n + 1);
  for (int i = 0; i <= n; i++) order[i] = i;
  order[n - 2] = n - 1, order[n - 1] = n - 2;
  return split != NULL ? build_dimshuffle(b, split, order, n + 1) : NULL;
}

static damo_status call_multi_head(build *b, const fn_args *a, ptrvec *out) {
  const attention_options *o = FN_OPTIONS(a, attention_options);
  const int64_t heads = prop_int_or(o->num_heads, 1);
  damo_var *in[7], *part[3], *dims[DAMO_MAX_NDIM + 1], *mask = a->in[7];
  int order[DAMO_MAX_NDIM + 1];
  DAMO_TRY(nnet_to_floats(b, a, 7, in));
  DAMO_TRY(attention_check_mask(b, a, 7));
  DAMO_TRY(attention_check(b, a, in, 2));
  if (heads < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: num_heads must be positive", a->func->name);
  for (int i = 3; i < 7; i++) {
    if (var_ndim(in[i]) == 2) continue;
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand %d (%s) must be a matrix, got rank %d", a->func->name, i + 1,
                    a->signature->operand[i].name, var_ndim(in[i]));
  }
  for (int i = 0; i < 3; i++) {
    DAMO_TRY(attention_check_axes(b, a, in, i, -1, i + 3, 0));
    part[i] = attention_heads(b, a, in[i], in[i + 3], heads);
    if (part[i] == NULL) return b->status;
  }
  /* A mask of rank 3 and more has the batch's axes before those of queries and keys: all heads share it. */
  if (mask != NULL && var_ndim(mask) > 2 && var_ndim(mask) == var_ndim(in[0]))
    mask = build_new_axis(b, mask, var_ndim(mask) - 2);
  damo_var *y = build_attention(b, part[0], part[1], part[2], mask, o);
  if (y == NULL) return b->status;
  const int n = var_ndim(y); /* (…, heads, L, E/heads) */
  for (int i = 0; i < n; i++) order[i] = i;
  order[n - 3] = n - 2, order[n - 2] = n - 3;
  y = build_dimshuffle(b, y, order, n);
  if (y == NULL || build_dims(b, y, dims) != DAMO_OK) return b->status;
  dims[n - 2] = build_mul(b, dims[n - 2], dims[n - 1]);
  if (b->status != DAMO_OK) return b->status;
  y = build_reshape(b, y, build_vector(b, dims, n - 1), n - 1);
  return fn_give(b, out, y != NULL ? build_dot_nd(b, y, in[6]) : NULL);
}

/* table[ids]: a row for each position */
static damo_status call_embedding(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(nnet_check_operands(b, a));
  damo_var *ids = build_integer(b, a->func->name, "the ids", a->in[0]), *table = build_strong(b, a->in[1]);
  if (ids == NULL || table == NULL) return b->status;
  if (var_ndim(table) < 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand 2 (table) must have an axis to take rows from", a->func->name);
  return fn_give(b, out, build_take_axis(b, table, ids, 0));
}

const op_func attention_funcs[] = {
    {.name = "nn.embedding",
     .operands = "ids table",
     .call = call_embedding,
     .doc = "the table's row for each id, a 1-based position"},
    {.name = "nn.scaled_dot_product_attention",
     .operands = "q k v [mask]",
     .options = OPTIONS(OPT(attention_options, causal, OPT_BOOL), OPT(attention_options, scale, OPT_NUM)),
     .call = call_attention,
     .doc =
         "softmax(q k^T*scale) v over the last two axes; scale 1/sqrt of q's last length; a bool mask is true where a "
         "key may be looked at, a float one is added; causal: keys up to the query's place"},
    {.name = "nn.multi_head_attention",
     .operands = "q k v wq wk wv wo [mask]",
     .options = OPTIONS(OPT(attention_options, num_heads, OPT_INT), OPT(attention_options, causal, OPT_BOOL),
                        OPT(attention_options, scale, OPT_NUM)),
     .call = call_multi_head,
     .doc = "scaled_dot_product_attention of q*wq, k*wk, v*wv in num_heads parts of their last axis, joined, times wo"},
    {.name = NULL},
};
