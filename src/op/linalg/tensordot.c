/* tensordot: sums of products of two tensors over any pairs of axes, with optional batch axes.
 *
 * In: x, y of one dtype; lists of axes: batch axes bx[i] of x and by[i] of y are paired, contracted axes ax[i] and
 * ay[i] are paired and summed over, the others are free. Out: axes batch, then x's free ones, then y's, each in order.
 * Always holds: an operand whose free axes and whose contracted axes can each be walked with one stride is multiplied
 * in place. Of other axes the last ones that can be make a matrix, and the products of these matrices are made one by
 * one, those along contracted axes added up; where the matrices are too small for that, the operand is copied to scratch
 * first. The gradient of a Tensordot is a Tensordot and a transpose.
 */
#include "blas.h"
#include "dot_c.h"
#include "op/elem/masked.h"
#include "loop/loop.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"
#include "kernel/kernel.h"

#include <string.h>

typedef struct tensordot_props {
  prop_value axes_x, axes_y, batch_x, batch_y;
} tensordot_props;

/* ---- Properties: four lists of 1-based axes ---------------------------------------------------------------------- */

typedef struct pairing {
  int n, n_batch;
  int ax[DAMO_MAX_NDIM], ay[DAMO_MAX_NDIM]; /* contracted */
  int bx[DAMO_MAX_NDIM], by[DAMO_MAX_NDIM]; /* batch */
} pairing;

static int read_axes(const prop_value *v, int *axes) {
  if (v->kind != PROP_LIST) return 0;
  const int n = v->n < DAMO_MAX_NDIM ? v->n : DAMO_MAX_NDIM;
  for (int i = 0; i < n; i++) axes[i] = (int)v->u.list[i].u.i - 1;
  return n;
}

static damo_status tensordot_init(damo_op *op) {
  pairing *p = op->data;
  p->n = read_axes(&OP_PROPS(op, tensordot_props)->axes_x, p->ax);
  p->n_batch = read_axes(&OP_PROPS(op, tensordot_props)->batch_x, p->bx);
  if (read_axes(&OP_PROPS(op, tensordot_props)->axes_y, p->ay) == p->n &&
      read_axes(&OP_PROPS(op, tensordot_props)->batch_y, p->by) == p->n_batch)
    return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "tensordot: as many axes are needed of the first operand as of the second");
}

static void write_axes(prop_value *list, const int *axes, int n) {
  for (int i = 0; i < n; i++) list[i] = prop_int(axes[i] + 1);
}

static damo_var *build_pairing(build *b, damo_var *x, damo_var *y, const pairing *p) {
  prop_value list[4][DAMO_MAX_NDIM];
  write_axes(list[0], p->ax, p->n);
  write_axes(list[1], p->ay, p->n);
  write_axes(list[2], p->bx, p->n_batch);
  write_axes(list[3], p->by, p->n_batch);
  const tensordot_props props = {.axes_x = prop_list(list[0], p->n),
                                 .axes_y = prop_list(list[1], p->n),
                                 .batch_x = prop_list(list[2], p->n_batch),
                                 .batch_y = prop_list(list[3], p->n_batch)};
  return build_common(b, &tensordot_def, &props, (damo_var *const[]){x, y}, 2);
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

static bool has_axis(const int *axes, int n, int axis) {
  for (int i = 0; i < n; i++) {
    if (axes[i] == axis) return true;
  }
  return false;
}

/* The axes of a tensor of that rank that are neither contracted nor batch. */
static int free_axes(int ndim, const int *contracted, int n, const int *batch, int n_batch, int *out) {
  int k = 0;
  for (int i = 0; i < ndim; i++) {
    if (!has_axis(contracted, n, i) && !has_axis(batch, n_batch, i)) out[k++] = i;
  }
  return k;
}

/* The number of axes[0, n) that are less than axes[i]. */
static int axis_rank(const int *axes, int n, int i) {
  int k = 0;
  for (int j = 0; j < n; j++) k += axes[j] < axes[i];
  return k;
}

static damo_status tensordot_check_axes(damo_ctx *ctx, int which, int ndim, const int *a, int na, const int *c,
                                        int nc) {
  uint32_t seen = 0;
  for (int i = 0; i < na + nc; i++) {
    const int axis = i < na ? a[i] : c[i - na];
    if (axis < 0 || axis >= ndim) {
      return ctx_fail(ctx, DAMO_EINDEX, "tensordot: axis %d is outside operand %d of rank %d", axis + 1, which, ndim);
    }
    if (seen >> axis & 1) {
      return ctx_fail(ctx, DAMO_EVALUE, "tensordot: axis %d of operand %d is listed twice", axis + 1, which);
    }
    seen |= (uint32_t)1 << axis;
  }
  return DAMO_OK;
}

/* shape error when paired dimensions differ (-1: unknown). */
static damo_status tensordot_check_dims(damo_ctx *ctx, const pairing *p, int nx, const int64_t *x, int ny,
                                        const int64_t *y) {
  for (int i = 0; i < p->n + p->n_batch; i++) {
    const int ax = i < p->n ? p->ax[i] : p->bx[i - p->n], ay = i < p->n ? p->ay[i] : p->by[i - p->n];
    if (x[ax] >= 0 && y[ay] >= 0 && x[ax] != y[ay]) return fail_shapes(ctx, "tensordot", nx, x, ny, y, ax, ay);
  }
  return DAMO_OK;
}

static damo_status tensordot_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  const pairing *p = op->data;
  const damo_type *x = in[0]->type, *y = in[1]->type;
  int64_t shape[2 * DAMO_MAX_NDIM];
  int fx[DAMO_MAX_NDIM], fy[DAMO_MAX_NDIM], n = 0;
  DAMO_TRY(check_pair(ctx, "tensordot", in));
  DAMO_TRY(tensordot_check_axes(ctx, 1, x->ndim, p->ax, p->n, p->bx, p->n_batch));
  DAMO_TRY(tensordot_check_axes(ctx, 2, y->ndim, p->ay, p->n, p->by, p->n_batch));
  DAMO_TRY(tensordot_check_dims(ctx, p, x->ndim, x->shape, y->ndim, y->shape));
  const int nfx = free_axes(x->ndim, p->ax, p->n, p->bx, p->n_batch, fx);
  const int nfy = free_axes(y->ndim, p->ay, p->n, p->by, p->n_batch, fy);
  for (int i = 0; i < p->n_batch; i++) shape[n++] = x->shape[p->bx[i]] >= 0 ? x->shape[p->bx[i]] : y->shape[p->by[i]];
  for (int i = 0; i < nfx; i++) shape[n++] = x->shape[fx[i]];
  for (int i = 0; i < nfy; i++) shape[n++] = y->shape[fy[i]];
  if (n > DAMO_MAX_NDIM) {
    return ctx_fail(ctx, DAMO_ESHAPE, "tensordot: the result would have %d axes; at most %d are possible", n,
                    DAMO_MAX_NDIM);
  }
  out[0] = type_tensor(ctx, x->dtype, n, shape);
  return out[0] ? DAMO_OK : ctx->error.status;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

/* One operand as a batch of rows × cols matrices, each made of a group of axes in C order. */
typedef struct tensordot_operand {
  const damo_array *a;
  int order[DAMO_MAX_NDIM]; /* batch axes, row axes, column axes */
  int n_batch;
  blas_mat mat;                /* of batch entry 0; data NULL when it is to be copied */
  int64_t step[DAMO_MAX_NDIM]; /* bytes along the batch axes */
  bool copy;
  size_t at, bytes; /* in scratch */
} tensordot_operand;

/* The number of entries over a group of axes. *step: the byte stride that walks them in C order; *one_step becomes
 * false where no single stride does. */
static int64_t tensordot_group(const damo_array *a, const int *axes, int n, int64_t *step, bool *one_step) {
  int64_t count = 1;
  *step = 0;
  for (int i = n - 1; i >= 0; i--) {
    const int64_t dim = array_shape(a)[axes[i]], st = array_strides(a)[axes[i]];
    if (dim == 1) continue;
    if (count == 1)
      *step = st;
    else if (st != *step * count)
      *one_step = false;
    count *= dim;
  }
  return count;
}

/* How many of the axes, the first ones, must be walked by themselves, so that one stride walks the others. */
static int axes_apart(const damo_array *a, const int *axes, int n) {
  int64_t step;
  for (int first = n - 1; first >= 0; first--) {
    bool one_step = true;
    tensordot_group(a, axes + first, n - first, &step, &one_step);
    if (!one_step) return first + 1;
  }
  return 0;
}

static void operand_init(tensordot_operand *o, const damo_array *a, const int *batch, int n_batch, const int *rows,
                         int n_rows, const int *cols, int n_cols) {
  bool one_step = true;
  const int64_t size = (int64_t)dtype_size(array_dtype(a));
  *o = (tensordot_operand){.a = a, .n_batch = n_batch};
  memcpy(o->order, batch, (size_t)n_batch * sizeof(int));
  memcpy(o->order + n_batch, rows, (size_t)n_rows * sizeof(int));
  memcpy(o->order + n_batch + n_rows, cols, (size_t)n_cols * sizeof(int));
  o->mat.data = a->data;
  o->mat.rows = tensordot_group(a, rows, n_rows, &o->mat.rs, &one_step);
  o->mat.cols = tensordot_group(a, cols, n_cols, &o->mat.cs, &one_step);
  for (int i = 0; i < n_batch; i++) o->step[i] = array_strides(a)[batch[i]];
  if (one_step || array_size(a) == 0) return;
  o->copy = true;
  o->mat = (blas_mat){NULL, o->mat.rows, o->mat.cols, o->mat.cols * size, size};
  int64_t step = o->mat.rows * o->mat.rs;
  for (int i = n_batch - 1; i >= 0; i--) {
    o->step[i] = step;
    step *= array_shape(a)[batch[i]];
  }
  o->bytes = ((size_t)array_size(a) * (size_t)size + 63) & ~(size_t)63;
}

static void operand_place(tensordot_operand *o, char *scratch) {
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  if (!o->copy) return;
  for (int i = 0; i < o->a->ndim; i++) {
    shape[i] = array_shape(o->a)[o->order[i]];
    strides[i] = array_strides(o->a)[o->order[i]];
  }
  o->mat.data = scratch + o->at;
  array_copy_box(o->a->obj.ctx, o->a->data, strides, o->mat.data, NULL, o->a->ndim, shape,
                 dtype_size(array_dtype(o->a)));
}

#define TENSORDOT_POINT 16384 /* multiplications between two points, unless a product has more */

/* After a product c = a·b. */
static void tensordot_point(damo_ctx *ctx, int64_t *since, const blas_mat *c, const blas_mat *a) {
  const double work = 64 + (double)c->rows * (double)c->cols * (double)a->cols;
  ctx_point_after(ctx, since, work < TENSORDOT_POINT ? (int64_t)work : TENSORDOT_POINT, TENSORDOT_POINT);
}

static void run_batches(damo_ctx *ctx, const gemm_plan *p, const tensordot_operand *x, const tensordot_operand *y,
                        const int64_t *shape, char *z, int64_t z_step, void *scratch) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)];
  char *at[2] = {x->mat.data, y->mat.data};
  int64_t since = 0;
  nd_space batches;
  nd_walk w;
  nd_space_init(&batches, numbers, x->n_batch, shape, 2, (const int64_t *const[]){x->step, y->step});
  for (bool more = nd_begin(&w, &batches); more; more = nd_next(&w, at)) {
    gemm_run(p, (damo_c128){1, 0}, at[0], at[1], (damo_c128){0, 0}, z + w.row * z_step, scratch);
    tensordot_point(ctx, &since, &p->c, &p->a);
  }
}

/* Products of matrices one by one: the axes that are walked, with the strides of x, y and z along them, z's being 0
 * along contracted axes, which come last. */
typedef struct tensordot_parts {
  blas_mat a, b, c;
  int n;
  int64_t shape[2 * DAMO_MAX_NDIM], step[3][2 * DAMO_MAX_NDIM];
  int64_t n_terms; /* products that are added up to one part of z */
} tensordot_parts;

static void add_axis_part(tensordot_parts *q, int64_t length, int64_t x, int64_t y, int64_t z) {
  q->shape[q->n] = length;
  q->step[0][q->n] = x;
  q->step[1][q->n] = y;
  q->step[2][q->n++] = z;
}

#define PART_WORK 1024 /* multiplications, below which a product of parts costs more than copying them */

/* Whether x and y may be multiplied in parts. */
static bool init_axis_parts(tensordot_parts *q, const pairing *p, const damo_array *x, const damo_array *y,
                            damo_array *z, const int *fx, int nfx, const int *fy, int nfy) {
  const int apart_x = axes_apart(x, fx, nfx), apart_y = axes_apart(y, fy, nfy), cx = axes_apart(x, p->ax, p->n),
            cy = axes_apart(y, p->ay, p->n), apart_c = cx > cy ? cx : cy;
  const int64_t *const sx = array_strides(x), *const sy = array_strides(y), *const sz = array_strides(z);
  bool one_step = true;
  if (apart_x + apart_y + apart_c == 0 || array_size(z) == 0) return false;
  *q = (tensordot_parts){.n_terms = 1};
  q->a.data = x->data, q->b.data = y->data, q->c.data = z->data;
  q->a.rows = tensordot_group(x, fx + apart_x, nfx - apart_x, &q->a.rs, &one_step);
  q->a.cols = tensordot_group(x, p->ax + apart_c, p->n - apart_c, &q->a.cs, &one_step);
  q->b.rows = tensordot_group(y, p->ay + apart_c, p->n - apart_c, &q->b.rs, &one_step);
  q->b.cols = tensordot_group(y, fy + apart_y, nfy - apart_y, &q->b.cs, &one_step);
  damo_assert(one_step && q->a.cols == q->b.rows);
  if (q->a.cols == 0 || (double)q->a.rows * (double)q->a.cols * (double)q->b.cols < PART_WORK) return false;
  int64_t cols = 1;
  for (int i = 0; i < nfy; i++) cols *= array_shape(y)[fy[i]];
  q->c.rows = q->a.rows, q->c.cols = q->b.cols;
  q->c.cs = (int64_t)dtype_size(array_dtype(z)), q->c.rs = cols * q->c.cs;
  for (int i = 0; i < p->n_batch; i++) add_axis_part(q, array_shape(x)[p->bx[i]], sx[p->bx[i]], sy[p->by[i]], sz[i]);
  for (int i = 0; i < apart_x; i++) add_axis_part(q, array_shape(x)[fx[i]], sx[fx[i]], 0, sz[p->n_batch + i]);
  for (int i = 0; i < apart_y; i++) add_axis_part(q, array_shape(y)[fy[i]], 0, sy[fy[i]], sz[p->n_batch + nfx + i]);
  for (int i = 0; i < apart_c; i++) {
    add_axis_part(q, array_shape(x)[p->ax[i]], sx[p->ax[i]], sy[p->ay[i]], 0);
    q->n_terms *= array_shape(x)[p->ax[i]];
  }
  return q->n_terms > 0;
}

static void run_parts(damo_ctx *ctx, const tensordot_parts *q, const gemm_plan *plan) {
  int64_t numbers[ND_NUMBERS(2 * DAMO_MAX_NDIM, 3)];
  char *at[3] = {q->a.data, q->b.data, q->c.data};
  int64_t since = 0;
  nd_space parts;
  nd_walk w;
  nd_space_init(&parts, numbers, q->n, q->shape, 3, (const int64_t *const[]){q->step[0], q->step[1], q->step[2]});
  for (bool more = nd_begin(&w, &parts); more; more = nd_next(&w, at)) {
    const damo_c128 beta = {w.row % q->n_terms != 0, 0};
    gemm_run(plan, (damo_c128){1, 0}, at[0], at[1], beta, at[2], NULL);
    tensordot_point(ctx, &since, &q->c, &q->a);
  }
}

static damo_status tensordot_perform(const thunk *t, frame *f) {
  const pairing *p = t->node->op->data;
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  const damo_dtype dtype = array_dtype(x);
  const int64_t size = (int64_t)dtype_size(dtype);
  int fx[DAMO_MAX_NDIM], fy[DAMO_MAX_NDIM], n = 0;
  int64_t shape[DAMO_MAX_NDIM];
  tensordot_operand ox, oy;
  gemm_plan plan;
  char *scratch = NULL;
  DAMO_TRY(tensordot_check_dims(f->ctx, p, x->ndim, array_shape(x), y->ndim, array_shape(y)));
  const int nfx = free_axes(x->ndim, p->ax, p->n, p->bx, p->n_batch, fx);
  const int nfy = free_axes(y->ndim, p->ay, p->n, p->by, p->n_batch, fy);
  for (int i = 0; i < p->n_batch; i++) shape[n++] = array_shape(x)[p->bx[i]];
  for (int i = 0; i < nfx; i++) shape[n++] = array_shape(x)[fx[i]];
  for (int i = 0; i < nfy; i++) shape[n++] = array_shape(y)[fy[i]];
  damo_array *z = thunk_out(t, f, 0, dtype, n, shape);
  if (!z) return DAMO_EMEMORY;
  tensordot_parts parts;
  /* In reproducible mode the order of sums does not depend on strides. */
  if (!f->ctx->reproducible && init_axis_parts(&parts, p, x, y, z, fx, nfx, fy, nfy)) {
    gemm_plan_init(&plan, f->ctx, f->ctx->isa, dtype, parts.a, parts.b, parts.c);
    if (plan.scratch == 0) {
      run_parts(f->ctx, &parts, &plan);
      return DAMO_OK;
    }
  }
  operand_init(&ox, x, p->bx, p->n_batch, fx, nfx, p->ax, p->n);
  operand_init(&oy, y, p->by, p->n_batch, p->ay, p->n, fy, nfy);
  const blas_mat c = {z->data, ox.mat.rows, oy.mat.cols, oy.mat.cols * size, size};
  gemm_plan_init(&plan, f->ctx, f->ctx->isa, dtype, ox.mat, oy.mat, c);
  ox.at = (plan.scratch + 63) & ~(size_t)63;
  oy.at = ox.at + ox.bytes;
  if (oy.at + oy.bytes > 0 && !(scratch = thunk_scratch(t, f, oy.at + oy.bytes))) return DAMO_EMEMORY;
  if (array_size(z) == 0) return DAMO_OK;
  operand_place(&ox, scratch);
  operand_place(&oy, scratch);
  run_batches(f->ctx, &plan, &ox, &oy, shape, z->data, c.rows * c.cols * size, scratch);
  return DAMO_OK;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* The product of a derivative d, the first operand, and a. The places of a that only masked entries of d meet are left
 * out, as build_dot_masked does. *reached: the result's mask, whose condition has its rank. */
static damo_var *build_pairing_masked(build *b, damo_var *d, damo_var *a, const pairing *p, masked *reached) {
  masked m = masked_of(b, d);
  const int nd = d != NULL ? var_ndim(d) : 0, na = a != NULL ? var_ndim(a) : 0;
  int fd[DAMO_MAX_NDIM], met[DAMO_MAX_NDIM], kept[DAMO_MAX_NDIM];
  *reached = (masked){.cond = NULL};
  if (d == NULL || a == NULL || m.cond == NULL || m.weak) return build_pairing(b, d, a, p);
  const int nfd = free_axes(nd, p->ax, p->n, p->bx, p->n_batch, fd), nz = nfd + na - p->n;
  masked one = mask_of_one(b, m);
  if (one.cond != NULL) {
    *reached = one;
    return build_pairing(b, d, a, p);
  }
  m = mask_of_rank(b, m, nd);
  const masked used = mask_any(b, m, nd, fd, nfd, true), over = mask_any(b, m, nd, p->ax, p->n, true);
  if (b->status != DAMO_OK) return NULL;
  for (int k = 0; k < na; k++) met[k] = -1;
  for (int i = 0; i < p->n; i++) met[p->ay[i]] = p->ax[i];
  for (int i = 0; i < p->n_batch; i++) met[p->by[i]] = p->bx[i];
  for (int i = 0; i < nz; i++) kept[i] = i < p->n_batch ? p->bx[i] : i < p->n_batch + nfd ? fd[i - p->n_batch] : -1;
  damo_var *meets = build_dimshuffle(b, mask_condition(b, used), met, na);
  damo_var *product = build_pairing(b, d, build_switch(b, meets, a, build_num(b, 0)), p);
  *reached = (masked){.cond = build_dimshuffle(b, mask_condition(b, over), kept, nz)};
  return product;
}

/* v with axes in that order, noted to be 0 where the mask's condition does not hold for it. */
static damo_var *move_masked(build *b, damo_var *v, masked m, const int *pattern, int n) {
  v = build_dimshuffle(b, v, pattern, n);
  if (v == NULL || m.cond == NULL) return v;
  if (var_ndim(m.cond) > 0) m.cond = build_dimshuffle(b, m.cond, pattern, n);
  if (var_ndim(m.cond) > 0) return build_note_mask(b, v, m);
  m.raw = v;
  return build_masked(b, m);
}

/* The gradient of the first operand (or the second): the cotangent g contracted with the conjugate of the other operand
 * over the other's free axes, which are the axes of g from other_at on. The result's batch, free and contracted axes
 * are then transposed to their places in the operand. */
static damo_var *tensordot_grad_of(build *b, const damo_apply *node, damo_var *g, bool second) {
  const pairing *p = node->op->data;
  damo_var *self = node->in[second ? 1 : 0], *other = build_conj_if_complex(b, node->in[second ? 0 : 1]);
  const int *a = second ? p->ay : p->ax, *ao = second ? p->ax : p->ay, *bs = second ? p->by : p->bx,
            *bo = second ? p->bx : p->by;
  int fs[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM];
  pairing q = {.n_batch = p->n_batch};
  if (!g || !other) return NULL;
  const int nfs = free_axes(var_ndim(self), a, p->n, bs, p->n_batch, fs);
  q.n = free_axes(var_ndim(other), ao, p->n, bo, p->n_batch, q.ay);
  const int other_at = p->n_batch + (second ? 0 : nfs);
  for (int i = 0; i < q.n; i++) q.ax[i] = other_at + i;
  for (int i = 0; i < p->n_batch; i++) q.bx[i] = i, q.by[i] = bo[i];
  masked reached;
  damo_var *r =
      build_pairing_masked(b, g, other, &q, &reached); /* batch, self's free axes, other's contracted axes in ascending
                                                 * order */
  for (int i = 0; i < p->n_batch; i++) pattern[bs[i]] = i;
  for (int i = 0; i < nfs; i++) pattern[fs[i]] = p->n_batch + i;
  for (int i = 0; i < p->n; i++) pattern[a[i]] = p->n_batch + nfs + axis_rank(ao, p->n, i);
  return move_masked(b, r, reached, pattern, var_ndim(self));
}

static damo_status tensordot_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (!gout[0]) return DAMO_OK;
  for (int i = 0; i < 2; i++) {
    const bool flat = dtype_is_discrete(var_dtype(node->out[0]));
    gin[i] = flat ? build_zero_grad(b, node->in[i]) : tensordot_grad_of(b, node, gout[0], i == 1);
  }
  return b->status;
}

/* x·dy as dy·x, whose free axes are then exchanged. */
static damo_var *second_tangent(build *b, damo_var *x, damo_var *dy, const pairing *p) {
  int fx[DAMO_MAX_NDIM], fy[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM], n = 0;
  pairing q = {.n = p->n, .n_batch = p->n_batch};
  masked reached;
  memcpy(q.ax, p->ay, sizeof q.ax);
  memcpy(q.ay, p->ax, sizeof q.ay);
  memcpy(q.bx, p->by, sizeof q.bx);
  memcpy(q.by, p->bx, sizeof q.by);
  const int nx = free_axes(var_ndim(x), p->ax, p->n, p->bx, p->n_batch, fx),
            ny = free_axes(var_ndim(dy), p->ay, p->n, p->by, p->n_batch, fy);
  damo_var *r = build_pairing_masked(b, dy, x, &q, &reached);
  for (int i = 0; i < p->n_batch; i++) pattern[n++] = i;
  for (int i = 0; i < nx; i++) pattern[n++] = p->n_batch + ny + i;
  for (int i = 0; i < ny; i++) pattern[n++] = p->n_batch + i;
  return move_masked(b, r, reached, pattern, n);
}

static damo_status tensordot_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const pairing *p = node->op->data;
  masked reached;
  damo_var *dx = NULL, *dy = NULL;
  int same[DAMO_MAX_NDIM];
  const int n = var_ndim(node->out[0]);
  for (int k = 0; k < n; k++) same[k] = k;
  if (eval[0] != NULL) {
    dx = build_pairing_masked(b, eval[0], node->in[1], p, &reached);
    if (reached.cond != NULL) dx = move_masked(b, dx, reached, same, n);
  }
  if (eval[1] != NULL) {
    const bool masks = masked_of(b, eval[1]).cond != NULL;
    dy = masks ? second_tangent(b, node->in[0], eval[1], p) : build_pairing(b, node->in[0], eval[1], p);
  }
  rout[0] = dx != NULL && dy != NULL ? build_masked_add(b, dx, dy) : dx != NULL ? dx : dy;
  return b->status;
}

static damo_status tensordot_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  const pairing *p = node->op->data;
  int fx[DAMO_MAX_NDIM], fy[DAMO_MAX_NDIM], n = 0;
  const int nfx = free_axes(var_ndim(node->in[0]), p->ax, p->n, p->bx, p->n_batch, fx);
  const int nfy = free_axes(var_ndim(node->in[1]), p->ay, p->n, p->by, p->n_batch, fy);
  for (int i = 0; i < p->n_batch; i++) out_shape[0][n++] = in_shape[0][p->bx[i]];
  for (int i = 0; i < nfx; i++) out_shape[0][n++] = in_shape[0][fx[i]];
  for (int i = 0; i < nfy; i++) out_shape[0][n++] = in_shape[1][fy[i]];
  return b->status;
}

static void tensordot_shift(int *axes, int n, int by) {
  for (int i = 0; i < n; i++) axes[i] += by;
}

/* Leading axes of both operands are further batch axes; those of one are free axes, which then go to the front. */
static damo_status tensordot_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                   damo_var **out) {
  pairing p = *(const pairing *)node->op->data;
  int fx[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM], n = 0;
  const int n_core = var_ndim(node->out[0]);
  const int nfx = free_axes(var_ndim(node->in[0]), p.ax, p.n, p.bx, p.n_batch, fx);
  const int from = p.n_batch + (batched[0] ? 0 : nfx);
  if (k + n_core > DAMO_MAX_NDIM || k + p.n_batch > DAMO_MAX_NDIM) {
    batch_pad(b, in[batched[0] ? 0 : 1], 0, DAMO_MAX_NDIM + 1); /* fails */
    return b->status;
  }
  if (batched[0]) tensordot_shift(p.ax, p.n, k), tensordot_shift(p.bx, p.n_batch, k);
  if (batched[1]) tensordot_shift(p.ay, p.n, k), tensordot_shift(p.by, p.n_batch, k);
  if (batched[0] && batched[1]) {
    DAMO_TRY(batch_agree(b, in, batched, 2, k, false));
    for (int i = p.n_batch - 1; i >= 0; i--) p.bx[k + i] = p.bx[i], p.by[k + i] = p.by[i];
    for (int i = 0; i < k; i++) p.bx[i] = p.by[i] = i;
    p.n_batch += k;
    out[0] = build_pairing(b, in[0], in[1], &p);
    return b->status;
  }
  for (int i = 0; i < k; i++) pattern[n++] = from + i;
  for (int i = 0; i < k + n_core; i++) {
    if (i < from || i >= from + k) pattern[n++] = i;
  }
  damo_var *z = build_pairing(b, in[0], in[1], &p);
  out[0] = from > 0 ? build_dimshuffle(b, z, pattern, n) : z;
  return b->status;
}

static damo_status tensordot_emit_c(c_emit *e, const damo_apply *node) {
  const pairing *p = node->op->data;
  int free_x[DAMO_MAX_NDIM], free_y[DAMO_MAX_NDIM];
  const int nx = free_axes(ce_in(e, 0)->ndim, p->ax, p->n, p->bx, p->n_batch, free_x);
  const int ny = free_axes(ce_in(e, 1)->ndim, p->ay, p->n, p->by, p->n_batch, free_y);
  return emit_tensordot(e, node, (const int *const[]){p->bx, free_x, p->ax}, (const int[]){p->n_batch, nx, p->n},
                        (const int *const[]){p->by, p->ay, free_y}, (const int[]){p->n_batch, p->n, ny});
}

const op_def tensordot_def = {
    .name = "Tensordot",
    .doc = "sum of products over pairs of axes, batch axes kept separate",
    .props = PROPS(PROP_AXES(tensordot_props, axes_x), PROP_AXES(tensordot_props, axes_y),
                   PROP_AXES(tensordot_props, batch_x), PROP_AXES(tensordot_props, batch_y)),
    .n_in = 2,
    .data_size = sizeof(pairing),
    .init = tensordot_init,
    .infer_type = tensordot_infer_type,
    .perform = tensordot_perform,
    .emit_c = tensordot_emit_c,
    .grad = tensordot_grad,
    .rop = tensordot_rop,
    .infer_shape = tensordot_infer_shape,
    .batch = tensordot_batch,
    .terms = TERMS_LINEAR,
    .masks = MASKS_OWN,
    .no_check = "dense: spec/op/rows/blas.lua has results by hand and from plain loops",
};

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

damo_var *build_tensordot(build *b, damo_var *x, damo_var *y, int n, const int *ax, const int *ay) {
  if (!x || !y) return NULL;
  if (n == 1 && var_ndim(x) <= 2 && var_ndim(y) <= 2 && ax[0] >= 0 && ay[0] >= 0 && ax[0] < var_ndim(x) &&
      ay[0] < var_ndim(y)) {
    if (ax[0] != var_ndim(x) - 1) x = build_transpose(b, x);
    if (ay[0] != 0) y = build_transpose(b, y);
    return build_dot(b, x, y);
  }
  return build_tensordot_batched(b, x, y, n, ax, ay, 0, NULL, NULL);
}

damo_var *build_tensordot_batched(build *b, damo_var *x, damo_var *y, int n, const int *ax, const int *ay, int n_batch,
                                  const int *bx, const int *by) {
  pairing p = {.n = n, .n_batch = n_batch};
  if (!x || !y) return NULL;
  for (int i = 0; i < n; i++) p.ax[i] = ax[i], p.ay[i] = ay[i];
  for (int i = 0; i < n_batch; i++) p.bx[i] = bx[i], p.by[i] = by[i];
  return build_pairing(b, x, y, &p);
}

damo_var *build_matmul_sum(build *b, const damo_apply *product, uint32_t axes) {
  const int n = var_ndim(product->in[0]);
  int ax[DAMO_MAX_NDIM], ay[DAMO_MAX_NDIM], batch[DAMO_MAX_NDIM], n_sum = 0, n_batch = 0;
  for (int i = 0; i < n - 2; i++) {
    if (axes >> i & 1)
      ax[n_sum] = ay[n_sum] = i, n_sum++;
    else
      batch[n_batch++] = i;
  }
  ax[n_sum] = n - 1;
  ay[n_sum++] = n - 2;
  return build_tensordot_batched(b, product->in[0], product->in[1], n_sum, ax, ay, n_batch, batch, batch);
}
