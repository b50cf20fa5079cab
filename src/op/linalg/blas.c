/* blas: the functions of products that scripts call, as rows over the ops of dot.c, tensordot.c, gemm.c and
 * einsum.c. */
#include "blas.h"
#include "dot_loop.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

/* Both operands, checked to be tensors. */
static damo_status blas_operands(build *b, const fn_args *a, damo_var **x, damo_var **y) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  *x = a->in[0];
  *y = a->in[1];
  return DAMO_OK;
}

damo_var *build_dot_nd(build *b, damo_var *x, damo_var *y) {
  if (x == NULL || y == NULL) return NULL;
  const int nx = var_ndim(x), ny = var_ndim(y);
  if (nx == 0 || ny == 0) return build_mul(b, x, y);
  if (nx <= 2 && ny <= 2) return build_dot(b, x, y);
  return build_tensordot(b, x, y, 1, (const int[]){nx - 1}, (const int[]){ny > 1 ? ny - 2 : 0});
}

static damo_status call_dot(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  return fn_give(b, out, build_dot_nd(b, x, y));
}

static damo_status call_matmul(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  return fn_give(b, out, build_matmul(b, x, y));
}

static damo_var *build_raveled(build *b, damo_var *x) {
  return var_ndim(x) == 1 ? x : build_reshape(b, x, build_ints(b, (const int64_t[]){-1}, 1), 1);
}

static damo_status call_outer(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  return fn_give(b, out, build_outer(b, build_raveled(b, x), build_raveled(b, y)));
}

/* ---- Stacks of vectors ------------------------------------------------------------------------------------------- */

/* x with a new axis of length 1, which is axis `at` of the result counted from the end (1: the last). */
static damo_var *with_axis(build *b, damo_var *x, int at) {
  int pattern[DAMO_MAX_NDIM + 1];
  if (!x) return NULL;
  const int n = var_ndim(x);
  if (n >= DAMO_MAX_NDIM) return build_fail(b, DAMO_ESHAPE, "an operand of rank %d has no room for one more axis", n);
  for (int i = 0; i <= n; i++) pattern[i] = i < n + 1 - at ? i : i == n + 1 - at ? -1 : i - 1;
  return build_dimshuffle(b, x, pattern, n + 1);
}

static damo_var *without_axis(build *b, damo_var *x, int at) {
  int pattern[DAMO_MAX_NDIM], n = 0;
  if (!x) return NULL;
  for (int i = 0; i < var_ndim(x); i++) {
    if (i != var_ndim(x) - at) pattern[n++] = i;
  }
  return build_dimshuffle(b, x, pattern, n);
}

static damo_status blas_check_rank(build *b, const fn_args *a, int i, int least) {
  if (var_ndim(a->in[i]) >= least) return DAMO_OK;
  build_fail(b, DAMO_ESHAPE, "%s: operand %d must have at least %d %s, got rank %d", a->func->name, i + 1, least,
             least == 1 ? "axis" : "axes", var_ndim(a->in[i]));
  return b->status;
}

static damo_status call_vecdot(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  DAMO_TRY(blas_check_rank(b, a, 0, 1));
  DAMO_TRY(blas_check_rank(b, a, 1, 1));
  damo_var *z = build_matmul(b, with_axis(b, build_conj_if_complex(b, x), 2), with_axis(b, y, 1));
  return fn_give(b, out, without_axis(b, without_axis(b, z, 1), 1));
}

static damo_status call_matvec(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  DAMO_TRY(blas_check_rank(b, a, 0, 2));
  DAMO_TRY(blas_check_rank(b, a, 1, 1));
  return fn_give(b, out, without_axis(b, build_matmul(b, x, with_axis(b, y, 1)), 1));
}

static damo_status call_vecmat(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  DAMO_TRY(blas_check_rank(b, a, 0, 1));
  DAMO_TRY(blas_check_rank(b, a, 1, 2));
  return fn_give(b, out, without_axis(b, build_matmul(b, with_axis(b, build_conj_if_complex(b, x), 2), y), 2));
}

/* As PyTensor's: the first axis of both is the batch; the last axis of x is contracted with the last but one of y. */
static damo_status call_batched_dot(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  DAMO_TRY(blas_check_rank(b, a, 0, 1));
  DAMO_TRY(blas_check_rank(b, a, 1, 1));
  const int nx = var_ndim(x), ny = var_ndim(y), first = 0;
  if (nx == 1 || ny == 1) return fn_give(b, out, build_tensordot_batched(b, x, y, 0, NULL, NULL, 1, &first, &first));
  const int ax = nx - 1, ay = ny > 2 ? ny - 2 : 1;
  return fn_give(b, out, build_tensordot_batched(b, x, y, 1, &ax, &ay, 1, &first, &first));
}

/* ---- tensordot --------------------------------------------------------------------------------------------------- */

/* One operand's part of the axes option: an axis or a list of axes, 1-based, to 0-based ones. */
static damo_status tensordot_read_side(build *b, const prop_value *v, int ndim, int *axes, int *n) {
  const prop_value *list = v->kind == PROP_LIST ? v->u.list : v;
  *n = v->kind == PROP_LIST ? v->n : 1;
  for (int i = 0; i < *n; i++) {
    if (list[i].kind != PROP_INT || i >= DAMO_MAX_NDIM) {
      return ctx_fail(b->ctx, DAMO_ETYPE, "tensordot: axes must be integers, or lists of at most %d", DAMO_MAX_NDIM);
    }
    DAMO_TRY(axis_check(b->ctx, "tensordot", list[i].u.i, ndim, &axes[i]));
  }
  return DAMO_OK;
}

/* axes=n: the last n of x with the first n of y. */
static damo_status tensordot_last_axes(build *b, int64_t count, int nx, int ny, int *ax, int *ay, int *n) {
  if (count < 0 || count > nx || count > ny) {
    return ctx_fail(b->ctx, DAMO_EVALUE, "tensordot: axes=%lld is not possible for operands of ranks %d and %d",
                    (long long)count, nx, ny);
  }
  *n = (int)count;
  for (int i = 0; i < *n; i++) ax[i] = nx - *n + i, ay[i] = i;
  return DAMO_OK;
}

static damo_status read_axes_option(build *b, const prop_value *v, int nx, int ny, int *ax, int *ay, int *n) {
  int m = 0;
  if (v->kind == PROP_NIL) return tensordot_last_axes(b, 2, nx, ny, ax, ay, n);
  if (v->kind == PROP_INT) return tensordot_last_axes(b, v->u.i, nx, ny, ax, ay, n);
  if (v->kind != PROP_LIST || v->n != 2) {
    return ctx_fail(b->ctx, DAMO_ETYPE, "tensordot: axes must be an integer or a list of two lists of axes");
  }
  DAMO_TRY(tensordot_read_side(b, &v->u.list[0], nx, ax, n));
  DAMO_TRY(tensordot_read_side(b, &v->u.list[1], ny, ay, &m));
  if (m == *n) return DAMO_OK;
  return ctx_fail(b->ctx, DAMO_EVALUE, "tensordot: %d axes of the first operand do not pair with %d of the second", *n,
                  m);
}

static damo_status call_tensordot(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  int ax[DAMO_MAX_NDIM], ay[DAMO_MAX_NDIM], n = 0;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  DAMO_TRY(read_axes_option(b, &FN_OPTIONS(a, axes_options)->axes, var_ndim(x), var_ndim(y), ax, ay, &n));
  return fn_give(b, out, build_tensordot(b, x, y, n, ax, ay));
}

/* ---- kron -------------------------------------------------------------------------------------------------------- */

/* The axes of x and y are interleaved, then each pair is merged into one axis. */
damo_var *build_kron(build *b, damo_var *x, damo_var *y) {
  damo_var *dims[DAMO_MAX_NDIM];
  int px[DAMO_MAX_NDIM], py[DAMO_MAX_NDIM];
  if (x == NULL || y == NULL) return NULL;
  const int n = var_ndim(x) > var_ndim(y) ? var_ndim(x) : var_ndim(y), lx = n - var_ndim(x), ly = n - var_ndim(y);
  if (n == 0) return build_mul(b, x, y);
  if (2 * n > DAMO_MAX_NDIM) return build_fail(b, DAMO_ESHAPE, "kron: operands have too many axes (%d)", n);
  for (int i = 0; i < n; i++) {
    px[2 * i] = i < lx ? -1 : i - lx, px[2 * i + 1] = -1;
    py[2 * i + 1] = i < ly ? -1 : i - ly, py[2 * i] = -1;
    damo_var *dx = i < lx ? NULL : build_dim(b, x, i - lx), *dy = i < ly ? NULL : build_dim(b, y, i - ly);
    dims[i] = dx && dy ? build_mul(b, dx, dy) : dx ? dx : dy;
  }
  damo_var *z = build_mul(b, build_dimshuffle(b, x, px, 2 * n), build_dimshuffle(b, y, py, 2 * n));
  return build_reshape(b, z, build_vector(b, dims, n), n);
}

static damo_status call_kron(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *y;
  DAMO_TRY(blas_operands(b, a, &x, &y));
  return fn_give(b, out, build_kron(b, x, y));
}

const op_func blas_funcs[] = {
    {.name = "dot",
     .operands = "x y",
     .call = call_dot,
     .doc = "product: the last axis of x with the last but one of y (its only one when y is a vector)"},
    {.name = "matmul",
     .operands = "x y",
     .call = call_matmul,
     .doc = "matrix product over the last two axes; leading axes broadcast"},
    {.name = "outer", .operands = "x y", .call = call_outer, .doc = "outer product of two vectors (flattened)"},
    {.name = "tensordot",
     .operands = "x y",
     .options = OPTIONS(OPT(axes_options, axes, OPT_ANY)),
     .call = call_tensordot,
     .doc = "sum of products over axes: a number n (the last n of x, the first n of y; 2 if not given), or {axes of x, "
            "axes of y}",
     .remedy = "damo.dot(x, y) is the product"},
    {.name = "vecdot",
     .operands = "x y",
     .call = call_vecdot,
     .doc = "product of vectors along the last axes, x conjugated; leading axes broadcast"},
    {.name = "matvec",
     .operands = "x y",
     .call = call_matvec,
     .doc = "matrices times vectors; leading axes broadcast",
     .remedy = "damo.dot(x, y) is the product"},
    {.name = "vecmat",
     .operands = "x y",
     .call = call_vecmat,
     .doc = "vectors, conjugated, times matrices; leading axes broadcast"},
    {.name = "batched_dot",
     .operands = "x y",
     .call = call_batched_dot,
     .doc = "one dot for each entry of the first axis, which x and y share"},
    {.name = "kron", .operands = "x y", .call = call_kron, .doc = "Kronecker product"},
    {.name = "einsum",
     .operands = "xs...",
     .options = OPTIONS(OPT(einsum_options, subscripts, OPT_STR)),
     .call = fn_einsum,
     .no_method = true,
     .doc = "sum of products by Einstein's convention: einsum({x, y}, \"ij,jk->ik\")",
     .remedy = "damo.dot(x, y) is the product"},
    {.name = NULL},
};

const op_def *const blas_classes[] = {&dot_def,  &matmul_def, &tensordot_def, &gemm_def,
                                      &gemv_def, &ger_def,    &dot_loop_def,  NULL};
