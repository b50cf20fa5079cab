/* compose: functions of matrices made of other ops: powers, chains of products, block and structured matrices. */
#include "compose.h"
#include "blas.h"
#include "decompose.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <math.h>

typedef struct matrix_power_options {
  prop_value n;
} matrix_power_options;

/* ---- Helpers of the family --------------------------------------------------------------------------------------- */

damo_var *matrix_operand(build *b, const fn_args *a, int i, int least) {
  damo_status s = fn_check_tensor(a, b->ctx, i);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  damo_var *x = build_strong(b, a->in[i]);
  if (x != NULL && var_ndim(x) < least) {
    return build_fail(b, DAMO_ESHAPE, "%s: operand %d must have at least %d %s, got rank %d", a->func->name, i + 1,
                      least, least == 1 ? "axis" : "axes", var_ndim(x));
  }
  return x;
}

damo_var *matrix_square_operand(build *b, const fn_args *a, int i) {
  damo_var *x = matrix_operand(b, a, i, 2), *dims[DAMO_MAX_NDIM] = {NULL};
  char text[256];
  if (x == NULL) return NULL;
  const int n = var_ndim(x);
  const int64_t rows = x->type->shape[n - 2], cols = x->type->shape[n - 1];
  if (rows >= 0 && rows == cols) return x;
  if (rows >= 0 && cols >= 0) {
    return build_fail(b, DAMO_ESHAPE, "%s: operand %d must be square in its last two axes, got shape %s", a->func->name,
                      i + 1, shape_format(text, sizeof text, n, x->type->shape));
  }
  dims[n - 1] = build_dim(b, x, n - 2);
  return build_specify_shape(b, x, dims);
}

damo_var *build_float(build *b, damo_var *x) {
  return x != NULL && dtype_is_discrete(var_dtype(x)) ? build_cast(b, x, DAMO_FLOAT64) : x;
}

damo_var *build_identity_matrix(build *b, damo_var *n, damo_dtype dtype) {
  damo_var *dims[1] = {n};
  if (n == NULL) return NULL;
  return build_diag(b, build_alloc(b, build_scalar(b, dtype, 1), dims, 1), 0);
}

/* ---- Powers and chains of products ------------------------------------------------------------------------------- */

/* x^n for n > 0 by squaring: the bits of n from the last to the first. */
static damo_var *matrix_power_positive(build *b, damo_var *x, int64_t n) {
  damo_var *power = NULL;
  for (; n > 0 && x != NULL; n >>= 1) {
    if (n & 1) power = power == NULL ? x : build_matmul(b, power, x);
    if (n > 1) x = build_matmul(b, x, x);
  }
  return x == NULL ? NULL : power;
}

static damo_status fn_matrix_power(build *b, const fn_args *a, ptrvec *out) {
  const prop_value option = FN_OPTIONS(a, matrix_power_options)->n;
  damo_var *x = matrix_square_operand(b, a, 0), *dims[DAMO_MAX_NDIM];
  const int64_t n = prop_int_or(option, 0);
  if (x == NULL) return b->status;
  if (!prop_given(option)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the exponent n is missing", a->func->name);
  if (n > 0) return fn_give(b, out, matrix_power_positive(b, x, n));
  if (n < 0) {
    if (n == INT64_MIN) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the exponent is too small", a->func->name);
    return fn_give(b, out, matrix_power_positive(b, build_inv(b, x), -n));
  }
  const int ndim = var_ndim(x);
  DAMO_TRY(build_dims(b, x, dims));
  damo_var *one = build_identity_matrix(b, dims[ndim - 1], var_dtype(x)), *square[2] = {NULL, NULL};
  if (x != a->in[0]) { /* the check of x alone would be left out, since nothing reads its value */
    for (int i = 0; i < 2; i++) square[i] = build_dim(b, a->in[0], ndim - 2 + i);
    one = build_specify_shape(b, one, square);
  }
  return fn_give(b, out, ndim == 2 ? one : build_broadcast_to(b, a->func->name, one, dims, ndim));
}

static damo_status fn_matrix_dot(build *b, const fn_args *a, ptrvec *out) {
  if (a->n_in < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: no operands", a->func->name);
  damo_var *x = matrix_operand(b, a, 0, 1);
  for (int i = 1; i < a->n_in && x != NULL; i++) x = build_matmul(b, x, matrix_operand(b, a, i, 1));
  return fn_give(b, out, x);
}

#define CHAIN_MOST 64 /* operands of a chain whose order is chosen; longer ones go from left to right */

/* A chain of products: operand i is length[i] × length[i + 1]. split[i][j] is the last operand of the left factor of the
 * product of operands i … j. */
typedef struct product_chain {
  damo_var *const *xs;
  double length[CHAIN_MOST + 1];
  uint8_t split[CHAIN_MOST][CHAIN_MOST];
} product_chain;

/* Fewest multiplications, by the recursion over lengths of parts (Cormen et al., Introduction to Algorithms, 14.2). */
static void chain_order(product_chain *c, int n) {
  double cost[CHAIN_MOST][CHAIN_MOST];
  for (int i = 0; i < n; i++) cost[i][i] = 0;
  for (int part = 2; part <= n; part++) {
    for (int i = 0; i + part <= n; i++) {
      const int j = i + part - 1;
      cost[i][j] = HUGE_VAL;
      for (int k = i; k < j; k++) {
        const double q = cost[i][k] + cost[k + 1][j] + c->length[i] * c->length[k + 1] * c->length[j + 1];
        if (q <= cost[i][j]) cost[i][j] = q, c->split[i][j] = (uint8_t)k;
      }
    }
  }
}

static damo_var *chain_product(build *b, const product_chain *c, int i, int j) {
  if (i == j) return c->xs[i];
  const int k = c->split[i][j];
  return build_matmul(b, chain_product(b, c, i, k), chain_product(b, c, k + 1, j));
}

/* Lengths not known are all taken to be equal, and longer than the 1 of a vector: a vector at an end is then multiplied
 * first, and the rest goes from left to right. */
static damo_var *chain_build(build *b, damo_var *const *xs, int n) {
  product_chain c = {.xs = xs};
  bool known = true;
  for (int i = 0; i < n; i++) {
    const damo_type *t = xs[i]->type;
    for (int k = 0; k < t->ndim; k++) known = known && t->shape[k] >= 0;
  }
  for (int i = 0; i <= n; i++) {
    const damo_type *t = xs[i < n ? i : n - 1]->type;
    const bool vector = t->ndim == 1;
    c.length[i] = i == 0 && vector              ? 1
                  : i == n && vector            ? 1
                  : !known                      ? 1e3
                  : i < n && !(i > 0 && vector) ? (double)t->shape[0]
                                                : (double)t->shape[t->ndim - 1];
  }
  chain_order(&c, n);
  return chain_product(b, &c, 0, n - 1);
}

static damo_status fn_multi_dot(build *b, const fn_args *a, ptrvec *out) {
  damo_var *xs[CHAIN_MOST];
  const int n = a->n_in;
  if (n < 2) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: at least two operands are needed, got %d", a->func->name, n);
  if (n > CHAIN_MOST) {
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: at most %d operands are possible, got %d", a->func->name, CHAIN_MOST, n);
  }
  for (int i = 0; i < n; i++) {
    const bool end = i == 0 || i == n - 1;
    xs[i] = matrix_operand(b, a, i, 1);
    if (xs[i] == NULL) return b->status;
    if (var_ndim(xs[i]) == 2 || (end && var_ndim(xs[i]) == 1)) continue;
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand %d must be a matrix%s, got rank %d", a->func->name, i + 1,
                    end ? " or a vector" : "", var_ndim(xs[i]));
  }
  DAMO_TRY(build_resolve(b, xs, n, true, xs));
  return fn_give(b, out, chain_build(b, xs, n));
}

/* ---- Kronecker product, blocks ----------------------------------------------------------------------------------- */

static damo_status fn_linalg_kron(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = matrix_operand(b, a, 0, 0), *y = matrix_operand(b, a, 1, 0);
  return fn_give(b, out, build_kron(b, x, y));
}

/* Column j is the Kronecker product of the columns j. */
static damo_status fn_khatri_rao(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = matrix_operand(b, a, 0, 2), *y = matrix_operand(b, a, 1, 2), *dims[DAMO_MAX_NDIM];
  if (x == NULL || y == NULL) return b->status;
  const int nx = var_ndim(x), ny = var_ndim(y);
  const int64_t p = x->type->shape[nx - 1], q = y->type->shape[ny - 1];
  if (p >= 0 && q >= 0 && p != q)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the operands have %lld and %lld columns", a->func->name, (long long)p,
                    (long long)q);
  /* A single column does not broadcast. */
  damo_var *one[DAMO_MAX_NDIM] = {NULL};
  one[(p == 1 ? ny : nx) - 1] = build_i64(b, 1);
  if (p == 1 && q < 0) y = build_specify_shape(b, y, one);
  if (q == 1 && p < 0) x = build_specify_shape(b, x, one);
  damo_var *rows = build_length_mul(b, build_dim(b, x, nx - 2), build_dim(b, y, ny - 2));
  damo_var *z = x && y ? build_mul(b, build_new_axis(b, x, nx - 1), build_new_axis(b, y, ny - 2)) : NULL;
  if (z == NULL || build_dims(b, z, dims) != DAMO_OK) return b->status;
  const int n = var_ndim(z);
  dims[n - 3] = rows, dims[n - 2] = dims[n - 1];
  return fn_give(b, out, build_reshape(b, z, build_vector(b, dims, n - 1), n - 1));
}

/* Leading axes of a block that are all of length 1, or equal to the longest block's, are broadcast. */
static damo_var *block_broadcast(build *b, const char *func, damo_var *x, damo_var *const *lead, int ndim) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (x == NULL || ndim == 2) return x;
  for (int i = 0; i < ndim - 2; i++) dims[i] = lead[i];
  dims[ndim - 2] = build_dim(b, x, var_ndim(x) - 2);
  dims[ndim - 1] = build_dim(b, x, var_ndim(x) - 1);
  return b->status == DAMO_OK ? build_broadcast_to(b, func, x, dims, ndim) : NULL;
}

/* x as at least a matrix: a scalar is 1 × 1, a vector a row. */
static damo_var *block_matrix(build *b, damo_var *x) {
  if (x == NULL || var_ndim(x) >= 2) return x;
  return var_ndim(x) == 1 ? build_dimshuffle(b, x, (const int[]){-1, 0}, 2)
                          : build_dimshuffle(b, x, (const int[]){-1, -1}, 2);
}

/* The rows of block i: zeros for the columns of the blocks before it, the block, zeros for those after it. */
static damo_var *block_row(build *b, const char *func, damo_var *const *xs, int n, int i) {
  damo_var *parts[3], *dims[DAMO_MAX_NDIM], *before = NULL, *after = NULL;
  const int ndim = var_ndim(xs[i]);
  int k = 0;
  for (int j = 0; j < n; j++) {
    damo_var *width = build_dim(b, xs[j], ndim - 1), **sum = j < i ? &before : &after;
    if (j != i) *sum = *sum == NULL ? width : build_add(b, *sum, width);
  }
  if (build_dims(b, xs[i], dims) != DAMO_OK) return NULL;
  damo_var *zero = build_scalar(b, var_dtype(xs[i]), 0);
  dims[ndim - 1] = before;
  if (before != NULL) parts[k++] = build_alloc(b, zero, dims, ndim);
  parts[k++] = xs[i];
  dims[ndim - 1] = after;
  if (after != NULL) parts[k++] = build_alloc(b, zero, dims, ndim);
  return b->status == DAMO_OK ? build_join(b, func, ndim - 1, parts, k) : NULL;
}

static damo_var *build_blocks(build *b, const char *func, damo_var **xs, int n) {
  damo_var *lead[DAMO_MAX_NDIM] = {NULL};
  int ndim = 2;
  for (int i = 0; i < n; i++) {
    xs[i] = block_matrix(b, xs[i]);
    if (xs[i] == NULL) return NULL;
    if (var_ndim(xs[i]) > ndim) ndim = var_ndim(xs[i]);
  }
  for (int axis = 0; axis < ndim - 2; axis++) {
    for (int i = 0; i < n; i++) {
      const int at = axis - (ndim - var_ndim(xs[i]));
      if (at < 0 || (lead[axis] != NULL && type_dim_is_one(xs[i]->type, at))) continue;
      int64_t one;
      if (lead[axis] == NULL || (var_static_int(lead[axis], &one) && one == 1)) lead[axis] = build_dim(b, xs[i], at);
    }
  }
  for (int i = 0; i < n; i++) xs[i] = block_broadcast(b, func, xs[i], lead, ndim);
  if (b->status != DAMO_OK) return NULL;
  damo_var **rows = mem_alloc(b->ctx, (size_t)n * sizeof *rows);
  if (rows == NULL) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  for (int i = 0; i < n; i++) rows[i] = b->status == DAMO_OK ? block_row(b, func, xs, n, i) : NULL;
  damo_var *out = b->status == DAMO_OK ? build_join(b, func, ndim - 2, rows, n) : NULL;
  mem_free(b->ctx, rows, (size_t)n * sizeof *rows);
  return out;
}

static damo_status fn_block_diag(build *b, const fn_args *a, ptrvec *out) {
  const int n = a->n_in;
  if (n < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: no operands", a->func->name);
  for (int i = 0; i < n; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var **xs = mem_alloc(b->ctx, (size_t)n * sizeof *xs), *whole = NULL;
  if (xs == NULL) return DAMO_EMEMORY;
  if (build_resolve(b, a->in, n, true, xs) == DAMO_OK) whole = build_blocks(b, a->func->name, xs, n);
  mem_free(b->ctx, xs, (size_t)n * sizeof *xs);
  return fn_give(b, out, whole);
}

/* ---- Constant diagonals ------------------------------------------------------------------------------------------ */

/* The entries v[first + di·i + dj·j] of a last axis as an m × n matrix, 1-based first; int64 scalars. */
static damo_var *build_spread(build *b, damo_var *v, damo_var *first, int di, int dj, damo_var *m, damo_var *n) {
  damo_var *dims[DAMO_MAX_NDIM + 1], *zero = build_i64(b, 0), *one = build_i64(b, 1);
  if (b->status != DAMO_OK) return NULL;
  const int ndim = var_ndim(v);
  damo_var *i = build_range(b, zero, build_sub(b, m, one)), *j = build_range(b, zero, build_sub(b, n, one));
  i = build_dimshuffle(b, di < 0 ? build_neg(b, i) : i, (const int[]){0, -1}, 2);
  j = build_dimshuffle(b, dj < 0 ? build_neg(b, j) : j, (const int[]){-1, 0}, 2);
  damo_var *at = build_ravel(b, build_add(b, first, build_add(b, i, j)));
  damo_var *entries = build_take_axis(b, v, at, ndim - 1);
  for (int k = 0; k < ndim - 1; k++) dims[k] = build_dim(b, v, k);
  dims[ndim - 1] = m, dims[ndim] = n;
  return b->status == DAMO_OK ? build_reshape(b, entries, build_vector(b, dims, ndim + 1), ndim + 1) : NULL;
}

/* The two operands of toeplitz and hankel, of one dtype; *r NULL where it is absent. */
static damo_status diagonals_operands(build *b, const fn_args *a, damo_var **c, damo_var **r) {
  damo_var *xs[2] = {matrix_operand(b, a, 0, 1), NULL};
  const int n = a->n_in > 1 && a->in[1] != NULL ? 2 : 1;
  if (n == 2) xs[1] = matrix_operand(b, a, 1, 1);
  if (b->status != DAMO_OK) return b->status;
  if (n == 2 && var_ndim(xs[0]) != var_ndim(xs[1])) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operands must have one rank, got %d and %d", a->func->name,
                    var_ndim(xs[0]), var_ndim(xs[1]));
  }
  if (var_ndim(xs[0]) >= DAMO_MAX_NDIM) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: an operand of rank %d is too large", a->func->name, var_ndim(xs[0]));
  }
  DAMO_TRY(build_resolve(b, xs, n, true, xs));
  *c = xs[0], *r = xs[1];
  return DAMO_OK;
}

/* t(i, j) = v(n + i - j) over v = r(n) … r(2), c(1) … c(m), 1-based. */
damo_var *build_toeplitz(build *b, damo_var *c, damo_var *r) {
  if (c == NULL) return NULL;
  if (r == NULL) r = build_conj_if_complex(b, c);
  const int last = var_ndim(c) - 1;
  damo_var *m = build_dim(b, c, last), *n = build_dim(b, r, last);
  damo_var *back = build_slice(b, build_slice(b, r, last, build_i64(b, 1), NULL, 1), last, NULL, NULL, -1);
  damo_var *v = build_join(b, "toeplitz", last, (damo_var *const[]){back, c}, 2);
  return v == NULL ? NULL : build_spread(b, v, n, 1, -1, m, n);
}

static damo_status fn_toeplitz(build *b, const fn_args *a, ptrvec *out) {
  damo_var *c, *r;
  DAMO_TRY(diagonals_operands(b, a, &c, &r));
  return fn_give(b, out, build_toeplitz(b, c, r));
}

/* h(i, j) = v(i + j - 1) over v = c(1) … c(m), r(2) … r(n); without r zeros. */
static damo_status fn_hankel(build *b, const fn_args *a, ptrvec *out) {
  damo_var *c, *r;
  DAMO_TRY(diagonals_operands(b, a, &c, &r));
  if (r == NULL) r = build_zeros_like(b, c);
  const int last = var_ndim(c) - 1;
  damo_var *m = build_dim(b, c, last), *n = build_dim(b, r, last);
  damo_var *rest = build_slice(b, r, last, build_i64(b, 1), NULL, 1);
  damo_var *v = build_join(b, a->func->name, last, (damo_var *const[]){c, rest}, 2);
  return fn_give(b, out, v == NULL ? NULL : build_spread(b, v, build_i64(b, 1), 1, 1, m, n));
}

/* ---- Inverses of tensors ----------------------------------------------------------------------------------------- */

typedef struct tensor_options {
  prop_value ind, axes;
} tensor_options;

/* The product of the lengths of axes first … last - 1; a constant where all are known. */
static damo_var *length_of_axes(build *b, damo_var *x, int first, int last) {
  damo_var *product = NULL;
  int64_t known = 1;
  for (int i = first; i < last; i++) {
    if (x->type->shape[i] >= 0) {
      known *= x->type->shape[i];
      continue;
    }
    damo_var *dim = build_dim(b, x, i);
    product = product == NULL ? dim : build_mul(b, product, dim);
  }
  if (product == NULL) return build_i64(b, known);
  return known == 1 ? product : build_mul(b, product, build_i64(b, known));
}

/* x as a matrix, whose rows are its first n_rows axes. */
static damo_var *tensor_as_matrix(build *b, damo_var *x, int n_rows) {
  damo_var *const dims[2] = {length_of_axes(b, x, 0, n_rows), length_of_axes(b, x, n_rows, var_ndim(x))};
  return b->status == DAMO_OK ? build_reshape(b, x, build_vector(b, dims, 2), 2) : NULL;
}

static damo_status fn_tensorinv(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 1)), *dims[DAMO_MAX_NDIM];
  const int64_t ind = prop_int_or(FN_OPTIONS(a, tensor_options)->ind, 2);
  if (x == NULL) return b->status;
  const int ndim = var_ndim(x);
  if (ind < 1 || ind > ndim) {
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: ind must lie between 1 and %d, got %lld", a->func->name, ndim,
                    (long long)ind);
  }
  for (int i = 0; i < ndim; i++) dims[i] = build_dim(b, x, (i + (int)ind) % ndim);
  damo_var *inverse = build_inv(b, tensor_as_matrix(b, x, (int)ind));
  if (inverse == NULL) return b->status;
  return fn_give(b, out, build_reshape(b, inverse, build_vector(b, dims, ndim), ndim));
}

/* The axes of a are those of b and then those of the result, after the axes named by the option have been moved behind
 * the others. */
static damo_status fn_tensorsolve(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2] = {matrix_operand(b, a, 0, 1), matrix_operand(b, a, 1, 0)}, *dims[DAMO_MAX_NDIM];
  int axes[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM], n = 0, n_moved;
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(build_resolve(b, in, 2, true, in));
  damo_var *x = build_float(b, in[0]), *y = build_float(b, in[1]);
  if (x == NULL || y == NULL) return b->status;
  const int ndim = var_ndim(x), n_rows = var_ndim(y);
  DAMO_TRY(axes_in_order(b->ctx, a->func->name, &FN_OPTIONS(a, tensor_options)->axes, ndim, axes, &n_moved));
  if (n_rows > ndim) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand 1 of rank %d must have all axes of operand 2, of rank %d",
                    a->func->name, ndim, n_rows);
  }
  for (int i = 0; i < ndim; i++) {
    bool moved = false;
    for (int k = 0; k < n_moved; k++) moved = moved || axes[k] == i;
    if (!moved) pattern[n++] = i;
  }
  for (int k = 0; k < n_moved; k++) pattern[n++] = axes[k];
  x = build_dimshuffle(b, x, pattern, ndim);
  if (x == NULL) return b->status;
  for (int i = n_rows; i < ndim; i++) dims[i - n_rows] = build_dim(b, x, i);
  damo_var *const right = build_dimshuffle(b, build_ravel(b, y), (const int[]){0, -1}, 2);
  damo_var *solution = build_matrix_solve(b, tensor_as_matrix(b, x, n_rows), right);
  if (solution == NULL) return b->status;
  return fn_give(b, out, build_reshape(b, solution, build_vector(b, dims, ndim - n_rows), ndim - n_rows));
}

const op_func linalg_compose_funcs[] = {
    {.name = "linalg.matrix_power",
     .operands = "x",
     .options = OPTIONS(OPT(matrix_power_options, n, OPT_INT)),
     .call = fn_matrix_power,
     .no_method = true,
     .doc = "the n-th power of square matrices, by squaring; of their inverses where n < 0"},
    {.name = "linalg.matrix_dot",
     .operands = "xs...",
     .bare_list = true,
     .call = fn_matrix_dot,
     .no_method = true,
     .doc = "the product of matrices from left to right"},
    {.name = "linalg.multi_dot",
     .operands = "xs...",
     .bare_list = true,
     .call = fn_multi_dot,
     .no_method = true,
     .doc = "the product of matrices in the order that takes the fewest multiplications; the ends may be vectors"},
    {.name = "linalg.trace",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, offset, OPT_INT), OPT(diagonal_options, axis1, OPT_INT),
                        OPT(diagonal_options, axis2, OPT_INT)),
     .call = fn_trace,
     .no_method = true,
     .doc = "the sum along a diagonal"},
    {.name = "linalg.kron", .operands = "x y", .call = fn_linalg_kron, .no_method = true, .doc = "Kronecker product"},
    {.name = "linalg.khatri_rao",
     .operands = "a b",
     .call = fn_khatri_rao,
     .no_method = true,
     .doc = "the Kronecker product of each column of a with that of b: (m, k), (n, k) give (m n, k)"},
    {.name = "linalg.block_diag",
     .operands = "xs...",
     .bare_list = true,
     .call = fn_block_diag,
     .no_method = true,
     .doc = "matrices along the diagonal of a matrix of zeros"},
    {.name = "linalg.tensorinv",
     .operands = "a",
     .options = OPTIONS(OPT(tensor_options, ind, OPT_INT)),
     .call = fn_tensorinv,
     .no_method = true,
     .doc = "the inverse of a for tensordot over ind axes: the first ind axes of a are the rows of a matrix"},
    {.name = "linalg.tensorsolve",
     .operands = "a b",
     .options = OPTIONS(OPT(tensor_options, axes, OPT_AXES)),
     .call = fn_tensorsolve,
     .no_method = true,
     .doc = "x of tensordot(a, x) = b over all axes of x; axes names those of a that come last"},
    {.name = "linalg.toeplitz",
     .operands = "c [r]",
     .call = fn_toeplitz,
     .no_method = true,
     .doc = "the matrix with constant diagonals whose first column is c and whose first row is r (conj(c))"},
    {.name = "linalg.hankel",
     .operands = "c [r]",
     .call = fn_hankel,
     .no_method = true,
     .doc = "the matrix with constant antidiagonals whose first column is c and whose last row is r (zeros)"},
    {.name = NULL},
};

const op_def *const linalg_compose_classes[] = {NULL};
