/* dot: products of vectors and matrices (Dot) and of stacks of matrices (Matmul).
 *
 * In: two tensors of one dtype. Out: sums of products. Dot takes ranks 1 and 2; Matmul two tensors of the same rank,
 * 2 or more, whose leading axes broadcast where a dimension is statically 1. Gradients use the conjugate transpose.
 */
#include "blas.h"
#include "dot_c.h"
#include "op/elem/masked.h"
#include "loop/loop.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <string.h>

/* ---- Checks and small builders of the family --------------------------------------------------------------------- */

damo_status fail_shapes(damo_ctx *ctx, const char *func, int nx, const int64_t *x, int ny, const int64_t *y, int axis_x,
                        int axis_y) {
  char sx[256], sy[256];
  return ctx_fail(ctx, DAMO_ESHAPE,
                  "%s: shapes %s and %s do not agree: axis %d of the first is %lld, axis %d of the second is %lld",
                  func, shape_format(sx, sizeof sx, nx, x), shape_format(sy, sizeof sy, ny, y), axis_x + 1,
                  (long long)x[axis_x], axis_y + 1, (long long)y[axis_y]);
}

damo_status check_pair(damo_ctx *ctx, const char *func, damo_var *const *in) {
  char text[256];
  for (int i = 0; i < 2; i++) {
    if (type_is_tensor(in[i]->type)) continue;
    return ctx_fail(ctx, DAMO_ETYPE, "%s: operand %d must be a tensor, got %s", func, i + 1,
                    type_format(text, sizeof text, in[i]->type));
  }
  if (var_dtype(in[0]) == var_dtype(in[1])) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ETYPE, "%s: operands must have one dtype, got %s and %s", func,
                  dtype_name(var_dtype(in[0])), dtype_name(var_dtype(in[1])));
}

damo_var *build_common(build *b, const op_def *def, const void *props, damo_var *const *in, int n_in) {
  damo_var *same[8];
  damo_assert(n_in <= 8);
  if (b->status != DAMO_OK) return NULL;
  for (int i = 0; i < n_in; i++) {
    if (!in[i]) return NULL;
  }
  if (build_resolve(b, in, n_in, true, same) != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, def, props), same, n_in);
}

damo_var *build_outer(build *b, damo_var *x, damo_var *y) {
  return build_dot(b, build_dimshuffle(b, x, (const int[]){0, -1}, 2), build_dimshuffle(b, y, (const int[]){-1, 0}, 2));
}

/* True when two static lengths are known and differ. */
static bool dims_differ(int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; }

/* ---- Dot --------------------------------------------------------------------------------------------------------- */

static damo_status dot_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  DAMO_TRY(check_pair(ctx, "dot", in));
  const damo_type *x = in[0]->type, *y = in[1]->type;
  int64_t shape[2];
  int n = 0;
  if (x->ndim < 1 || x->ndim > 2 || y->ndim < 1 || y->ndim > 2) {
    return ctx_fail(ctx, DAMO_ESHAPE, "dot: operands must be vectors or matrices, got ranks %d and %d", x->ndim,
                    y->ndim);
  }
  if (dims_differ(x->shape[x->ndim - 1], y->shape[0])) {
    return fail_shapes(ctx, "dot", x->ndim, x->shape, y->ndim, y->shape, x->ndim - 1, 0);
  }
  if (x->ndim == 2) shape[n++] = x->shape[0];
  if (y->ndim == 2) shape[n++] = y->shape[1];
  out[0] = type_tensor(ctx, x->dtype, n, shape);
  return out[0] ? DAMO_OK : ctx->error.status;
}

static damo_status dot_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  const blas_mat a = x->ndim == 2 ? mat_of(x) : mat_row_of(x), b = y->ndim == 2 ? mat_of(y) : mat_column_of(y);
  int64_t shape[2];
  int n = 0;
  if (a.cols != b.rows) {
    return fail_shapes(f->ctx, "dot", x->ndim, array_shape(x), y->ndim, array_shape(y), x->ndim - 1, 0);
  }
  if (x->ndim == 2) shape[n++] = a.rows;
  if (y->ndim == 2) shape[n++] = b.cols;
  damo_array *z = thunk_out(t, f, 0, array_dtype(x), n, shape);
  if (!z) return DAMO_EMEMORY;
  const int64_t size = (int64_t)dtype_size(array_dtype(x));
  const blas_mat c = {z->data, a.rows, b.cols, b.cols * size, size};
  return gemm_once(t, f, array_dtype(x), (damo_c128){1, 0}, a, b, (damo_c128){0, 0}, c);
}

/* c as a column, to be broadcast along the rows of a matrix. */
static damo_var *as_column(build *b, damo_var *c) {
  return c != NULL && var_ndim(c) == 1 ? build_dimshuffle(b, c, (const int[]){0, -1}, 2) : c;
}

static damo_var *dot_on_side(build *b, damo_var *d, damo_var *a, bool d_first) {
  return d_first ? build_dot(b, d, a) : build_dot(b, a, d);
}

/* The product d·a, or with !d_first a·d, of a derivative d. Where a whole row of d that meets a column of a is masked,
 * as the gradient of a row of data is that a where leaves out, the column takes no part: it may hold a nan, and 0·nan
 * is nan. A copy of a without these columns costs little beside a product of matrices. A product with a vector takes
 * no longer than the copy; so it is made from a itself, and again from the copy only if it is nan. */
static damo_var *build_dot_masked(build *b, damo_var *d, damo_var *a, bool d_first) {
  masked m = masked_of(b, d);
  damo_var *product = dot_on_side(b, d, a, d_first);
  if (product == NULL || m.cond == NULL || m.weak) return product;
  masked one = mask_of_one(b, m);
  one.raw = product;
  if (one.cond != NULL) return build_masked(b, one);
  const int n = var_ndim(d), inner = d_first ? n - 1 : 0, outer = d_first ? 0 : n - 1;
  m = mask_of_rank(b, m, n);
  masked used = n == 2 ? mask_any(b, m, 2, &outer, 1, false) : m, reached = mask_any(b, m, n, &inner, 1, false);
  if (used.cond == NULL || reached.cond == NULL) return NULL;
  if (d_first && n == 2 && var_ndim(a) == 2) reached.cond = as_column(b, reached.cond);
  reached.raw = product;
  if (var_ndim(used.cond) == 0 || type_dim_is_one(used.cond->type, 0)) return build_masked(b, reached);
  damo_var *meets = mask_condition(b, used);
  if (d_first && var_ndim(a) == 2) meets = as_column(b, meets);
  damo_var *masked_product = dot_on_side(b, d, build_switch(b, meets, a, build_num(b, 0)), d_first);
  if (var_ndim(product) == 2) return build_note_mask(b, masked_product, reached);
  damo_var *sum = build_reduce(b, REDUCE_SUM, product, NULL, -1, false);
  if (sum != NULL && dtype_is_complex(var_dtype(sum))) sum = build_abs(b, sum);
  return build_note_mask(b, build_ifelse(b, build_isnan(b, sum), masked_product, product), reached);
}

/* The outer product of a derivative g and a vector, g's entries along the rows or the columns. */
static damo_var *build_outer_masked(build *b, damo_var *g, damo_var *v, bool g_first) {
  masked m = masked_of(b, g);
  m.raw = g_first ? build_outer(b, g, v) : build_outer(b, v, g);
  if (m.cond != NULL && g_first) m.cond = as_column(b, m.cond);
  return build_masked(b, m);
}

static damo_status dot_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *x = node->in[0], *y = node->in[1];
  if (!g) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    gin[0] = build_zero_grad(b, x);
    gin[1] = build_zero_grad(b, y);
    return b->status;
  }
  damo_var *xc = build_conj_if_complex(b, x), *yc = build_conj_if_complex(b, y);
  if (var_ndim(x) == 1 && var_ndim(y) == 1) {
    const masked m = masked_of(b, g);
    gin[0] = build_within(b, build_mul(b, m.raw, yc), m);
    gin[1] = build_within(b, build_mul(b, m.raw, xc), m);
  } else if (var_ndim(x) == 1) {
    gin[0] = build_dot_masked(b, g, yc, false);
    gin[1] = build_outer_masked(b, g, xc, false);
  } else {
    gin[0] =
        var_ndim(y) == 1 ? build_outer_masked(b, g, yc, true) : build_dot_masked(b, g, build_transpose(b, yc), true);
    gin[1] = build_dot_masked(b, g, build_transpose(b, xc), false);
  }
  return b->status;
}

static damo_status dot_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *dx = eval[0] ? build_dot_masked(b, eval[0], node->in[1], true) : NULL,
           *dy = eval[1] ? build_dot_masked(b, eval[1], node->in[0], false) : NULL;
  rout[0] = dx != NULL && dy != NULL ? build_masked_add(b, dx, dy) : dx != NULL ? dx : dy;
  return b->status;
}

damo_var *build_flat_rows(build *b, damo_var *x) {
  if (x == NULL || var_ndim(x) <= 2) return x;
  if (var_ndim(x) == 3 && type_dim_is_one(x->type, 1)) return build_dimshuffle(b, x, (const int[]){0, 2}, 2);
  return batch_fold(b, x, var_ndim(x) - 1);
}

/* The product of x, which has k leading axes, with y, which has none: one product, of all rows. */
static damo_var *dot_times_same(build *b, damo_var *x, damo_var *y, int k) {
  damo_var *z = build_dot(b, build_flat_rows(b, x), y), *dims[DAMO_MAX_NDIM];
  if (z == NULL || var_ndim(x) == 2) return z;
  const int nx = var_ndim(x), n = nx + var_ndim(y) - 2;
  if (nx == 3 && k == 1 && type_dim_is_one(x->type, 1))
    return build_dimshuffle(b, z, var_ndim(y) == 2 ? (const int[]){0, -1, 1} : (const int[]){0, -1}, n);
  for (int i = 0; i < nx - 1; i++) dims[i] = build_dim(b, x, i);
  if (var_ndim(y) == 2) dims[nx - 1] = build_dim(b, y, 1);
  return b->status == DAMO_OK ? build_reshape(b, z, build_vector(b, dims, n), n) : NULL;
}

static damo_var *dot_of_batch(build *b, damo_var *x, damo_var *y, const bool *batched, int k) {
  const int nx = var_ndim(x) - (batched[0] ? k : 0), ny = var_ndim(y) - (batched[1] ? k : 0);
  if (!batched[1]) return dot_times_same(b, x, y, k);
  if (!batched[0]) { /* x·y is yᵀ·xᵀ */
    x = build_transpose(b, x);
    if (ny == 1) return dot_times_same(b, y, x, k);
    damo_var *z = dot_times_same(b, build_swap_last(b, y), x, k);
    return nx == 2 ? build_swap_last(b, z) : z;
  }
  const bool alike = type_dim_is_one(x->type, k) == type_dim_is_one(y->type, k);
  if (nx == 1 && ny == 1 && alike && !dtype_is_discrete(var_dtype(x)))
    return build_reduce(b, REDUCE_SUM, build_mul(b, x, y), &k, 1, false); /* one pass over all rows */
  if (nx == 1) x = build_new_axis(b, x, k);
  if (ny == 1) y = build_new_axis(b, y, k + 1);
  damo_var *z = build_matmul(b, x, y);
  int keep[DAMO_MAX_NDIM], n = 0;
  for (int i = 0; i < k; i++) keep[n++] = i;
  if (nx == 2) keep[n++] = k;
  if (ny == 2) keep[n++] = k + 1;
  return build_dimshuffle(b, z, keep, n);
}

static damo_status dot_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                             damo_var **out) {
  if (k + 2 > DAMO_MAX_NDIM) {
    batch_pad(b, in[batched[0] ? 0 : 1], k, 2); /* fails */
    return b->status;
  }
  (void)node;
  out[0] = dot_of_batch(b, in[0], in[1], batched, k);
  return b->status;
}

const op_def dot_def = {
    .name = "Dot",
    .doc = "product of vectors and matrices",
    .n_in = 2,
    .infer_type = dot_infer_type,
    .perform = dot_perform,
    .emit_c = dot_emit_c,
    .grad = dot_grad,
    .rop = dot_rop,
    .infer_shape = infer_shape_product,
    .batch = dot_batch,
    .terms = TERMS_LINEAR,
    .masks = MASKS_OWN,
    .no_check = "dense: spec/op/rows/blas.lua has results by hand and from plain loops",
};

damo_var *build_dot(build *b, damo_var *x, damo_var *y) {
  return build_common(b, &dot_def, NULL, (damo_var *const[]){x, y}, 2);
}

/* ---- Matmul ------------------------------------------------------------------------------------------------------ */

static damo_status matmul_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  DAMO_TRY(check_pair(ctx, "matmul", in));
  const damo_type *x = in[0]->type, *y = in[1]->type;
  const int n = x->ndim;
  int64_t shape[DAMO_MAX_NDIM];
  if (n < 2 || y->ndim != n) {
    return ctx_fail(ctx, DAMO_ESHAPE, "matmul: operands must have one rank, 2 or more, got ranks %d and %d", n,
                    y->ndim);
  }
  if (dims_differ(x->shape[n - 1], y->shape[n - 2])) {
    return fail_shapes(ctx, "matmul", n, x->shape, n, y->shape, n - 1, n - 2);
  }
  for (int i = 0; i < n - 2; i++) {
    const int64_t a = x->shape[i], c = y->shape[i];
    if (a != 1 && c != 1 && dims_differ(a, c)) return fail_shapes(ctx, "matmul", n, x->shape, n, y->shape, i, i);
    shape[i] = a == 1 ? c : c == 1 ? a : a < 0 ? c : a;
  }
  shape[n - 2] = x->shape[n - 2];
  shape[n - 1] = y->shape[n - 1];
  out[0] = type_tensor(ctx, x->dtype, n, shape);
  return out[0] ? DAMO_OK : ctx->error.status;
}

/* The shape of the batch axes, and the byte strides of x and y along them, 0 where they broadcast. */
typedef struct matmul_batch {
  int n;
  int64_t shape[DAMO_MAX_NDIM], step_x[DAMO_MAX_NDIM], step_y[DAMO_MAX_NDIM];
} matmul_batch;

/* The shape error where axis i of operand `which` has length 1 and the other operand's length differs: a length of 1
 * broadcasts only where the Type says it. */
static damo_status fail_late_one(const thunk *t, frame *f, const damo_array *x, const damo_array *y, int i, int which) {
  char sx[256], sy[256], hint[320];
  return ctx_fail(f->ctx, DAMO_ESHAPE, "matmul: shapes %s and %s do not agree: axis %d of operand %d %s",
                  shape_format(sx, sizeof sx, x->ndim, array_shape(x)),
                  shape_format(sy, sizeof sy, y->ndim, array_shape(y)), i + 1, which + 1,
                  broadcast_hint(hint, sizeof hint, t->node->in[which]->type, i));
}

static damo_status batch_init(matmul_batch *s, const thunk *t, frame *f, const damo_array *x, const damo_array *y) {
  const damo_type *tx = t->node->in[0]->type, *ty = t->node->in[1]->type;
  s->n = x->ndim - 2;
  for (int i = 0; i < s->n; i++) {
    const int64_t a = array_shape(x)[i], c = array_shape(y)[i];
    const bool one_x = type_dim_is_one(tx, i), one_y = type_dim_is_one(ty, i);
    if (a != c && !one_x && !one_y) {
      if (a == 1 || c == 1) return fail_late_one(t, f, x, y, i, a == 1 ? 0 : 1);
      return fail_shapes(f->ctx, "matmul", x->ndim, array_shape(x), y->ndim, array_shape(y), i, i);
    }
    s->shape[i] = one_x ? c : a;
    s->step_x[i] = one_x ? 0 : array_strides(x)[i];
    s->step_y[i] = one_y ? 0 : array_strides(y)[i];
  }
  return DAMO_OK;
}

/* True when y is one matrix for all of the stack x, and one step leads from each row of x's matrices to the next, also
 * from the last of one matrix to the first of the next: the matrices, one below the other, are then one matrix, and one
 * product with y gives all results. *a becomes that matrix. */
static bool is_one_product(const matmul_batch *s, blas_mat *a) {
  int64_t rows = a->rows, step = a->rs;
  for (int i = s->n - 1; i >= 0; i--) {
    if (s->shape[i] == 1) continue;
    if (s->step_y[i] != 0 || s->step_x[i] == 0) return false;
    if (rows == 1) step = s->step_x[i];
    if (s->step_x[i] != step * rows) return false;
    rows *= s->shape[i];
  }
  *a = (blas_mat){a->data, rows, a->cols, step, a->cs};
  return true;
}

#define MATMUL_POINT 16384 /* multiplications between two points, unless a product has more */

static void matmul_stack(damo_ctx *ctx, const matmul_batch *s, const gemm_plan *p, char *x, char *y, char *z,
                         int64_t z_step, void *scratch) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)];
  char *at[2] = {x, y};
  nd_space stack;
  nd_walk w;
  const double steps = 64 + (double)p->c.rows * (double)p->c.cols * (double)p->a.cols;
  const int64_t work = steps < MATMUL_POINT ? (int64_t)steps : MATMUL_POINT;
  int64_t since = 0;
  nd_space_init(&stack, numbers, s->n, s->shape, 2, (const int64_t *const[]){s->step_x, s->step_y});
  for (bool more = nd_begin(&w, &stack); more; more = nd_next(&w, at)) {
    gemm_run(p, (damo_c128){1, 0}, at[0], at[1], (damo_c128){0, 0}, z + w.row * z_step, scratch);
    ctx_point_after(ctx, &since, work, MATMUL_POINT);
  }
}

static damo_status matmul_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  const int n = x->ndim;
  const damo_dtype dtype = array_dtype(x);
  const int64_t size = (int64_t)dtype_size(dtype);
  blas_mat a = mat_of(x), b = mat_of(y);
  int64_t shape[DAMO_MAX_NDIM], count = 1;
  matmul_batch s;
  gemm_plan p;
  void *scratch = NULL;
  if (a.cols != b.rows) return fail_shapes(f->ctx, "matmul", n, array_shape(x), n, array_shape(y), n - 1, n - 2);
  DAMO_TRY(batch_init(&s, t, f, x, y));
  for (int i = 0; i < s.n; i++) count *= shape[i] = s.shape[i];
  shape[n - 2] = a.rows;
  shape[n - 1] = b.cols;
  damo_array *z = thunk_out(t, f, 0, dtype, n, shape);
  if (!z) return DAMO_EMEMORY;
  if (count > 1 && is_one_product(&s, &a)) s.n = 0;
  const blas_mat c = {z->data, a.rows, b.cols, b.cols * size, size};
  gemm_plan_init(&p, f->ctx, f->ctx->isa, dtype, a, b, c);
  if (p.scratch > 0 && !(scratch = thunk_scratch(t, f, p.scratch))) return DAMO_EMEMORY;
  matmul_stack(f->ctx, &s, &p, x->data, y->data, z->data, c.rows * c.cols * size, scratch);
  return DAMO_OK;
}

/* The product d·a, or with !d_first a·d, of a derivative d and a stack: as build_dot_masked, with a copy of the stack
 * that is 0 where only masked entries of d meet it. */
static damo_var *build_matmul_masked(build *b, damo_var *d, damo_var *a, bool d_first) {
  masked m = masked_of(b, d);
  if (m.cond == NULL || m.weak || var_ndim(d) < 2) return d_first ? build_matmul(b, d, a) : build_matmul(b, a, d);
  const int n = var_ndim(d), inner = d_first ? n - 1 : n - 2, outer = d_first ? n - 2 : n - 1;
  masked one = mask_of_one(b, m);
  if (one.cond != NULL) {
    one.raw = d_first ? build_matmul(b, d, a) : build_matmul(b, a, d);
    return build_masked(b, one);
  }
  m = mask_of_rank(b, m, n);
  const masked used = mask_any(b, m, n, &outer, 1, true), reached = mask_any(b, m, n, &inner, 1, true);
  if (b->status != DAMO_OK) return NULL;
  damo_var *meets = build_swap_last(b, mask_condition(b, used));
  a = build_switch(b, meets, a, build_num(b, 0));
  return build_note_mask(b, d_first ? build_matmul(b, d, a) : build_matmul(b, a, d), reached);
}

static damo_status matmul_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *x = node->in[0], *y = node->in[1];
  if (!g) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    gin[0] = build_zero_grad(b, x);
    gin[1] = build_zero_grad(b, y);
    return b->status;
  }
  damo_var *xt = build_swap_last(b, build_conj_if_complex(b, x)), *yt = build_swap_last(b, build_conj_if_complex(b, y));
  gin[0] = build_masked_unbroadcast(b, build_matmul_masked(b, g, yt, true), x);
  gin[1] = build_masked_unbroadcast(b, build_matmul_masked(b, g, xt, false), y);
  return b->status;
}

static damo_status matmul_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *dx = eval[0] != NULL ? build_matmul_masked(b, eval[0], node->in[1], true) : NULL,
           *dy = eval[1] != NULL ? build_matmul_masked(b, eval[1], node->in[0], false) : NULL;
  rout[0] = dx != NULL && dy != NULL ? build_masked_add(b, dx, dy) : dx != NULL ? dx : dy;
  return b->status;
}

static damo_status matmul_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  const damo_type *x = node->in[0]->type;
  const int n = x->ndim;
  for (int i = 0; i < n - 2; i++) out_shape[0][i] = in_shape[type_dim_is_one(x, i) ? 1 : 0][i];
  out_shape[0][n - 2] = in_shape[0][n - 2];
  out_shape[0][n - 1] = in_shape[1][n - 1];
  return b->status;
}

/* Of an operand that all entries of the batch share, the leading axes broadcast. */
static damo_status matmul_batch_rule(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                     damo_var **out) {
  (void)node, (void)batched, (void)k;
  out[0] = build_matmul(b, in[0], in[1]);
  return b->status;
}

const op_def matmul_def = {
    .name = "Matmul",
    .doc = "product of stacks of matrices, whose leading axes broadcast",
    .n_in = 2,
    .infer_type = matmul_infer_type,
    .perform = matmul_perform,
    .emit_c = matmul_emit_c,
    .grad = matmul_grad,
    .rop = matmul_rop,
    .infer_shape = matmul_infer_shape,
    .batch = matmul_batch_rule,
    .terms = TERMS_LINEAR,
    .masks = MASKS_OWN,
    .no_check = "dense: spec/op/rows/blas.lua has results by hand and from plain loops",
};

/* x with leading axes of length 1 up to rank n. */
static damo_var *with_unit_axis(build *b, damo_var *x, int n) {
  int pattern[DAMO_MAX_NDIM];
  if (!x || var_ndim(x) == n) return x;
  for (int i = 0; i < n; i++) pattern[i] = i < n - var_ndim(x) ? -1 : i - (n - var_ndim(x));
  return build_dimshuffle(b, x, pattern, n);
}

/* x without axis `axis`, which has length 1. */
static damo_var *drop_axis(build *b, damo_var *x, int axis) {
  int pattern[DAMO_MAX_NDIM], n = 0;
  if (!x) return NULL;
  for (int i = 0; i < var_ndim(x); i++) {
    if (i != axis) pattern[n++] = i;
  }
  return build_dimshuffle(b, x, pattern, n);
}

damo_var *build_matmul(build *b, damo_var *x, damo_var *y) {
  if (!x || !y || b->status != DAMO_OK) return NULL;
  const int nx = var_ndim(x), ny = var_ndim(y);
  if (nx == 0 || ny == 0) {
    return build_fail(b, DAMO_ESHAPE, "matmul: operand %d is a scalar; use mul for a product with a scalar",
                      nx ? 2 : 1);
  }
  if (nx <= 2 && ny <= 2) return build_dot(b, x, y);
  if (nx == 1) x = build_dimshuffle(b, x, (const int[]){-1, 0}, 2);
  if (ny == 1) y = build_dimshuffle(b, y, (const int[]){0, -1}, 2);
  const int n = nx > ny ? nx : ny;
  damo_var *z =
      build_common(b, &matmul_def, NULL, (damo_var *const[]){with_unit_axis(b, x, n), with_unit_axis(b, y, n)}, 2);
  if (nx == 1) z = drop_axis(b, z, n - 2);
  if (ny == 1) z = drop_axis(b, z, n - 1);
  return z;
}
