/* dot: products of a sparse matrix with dense ones, with a dense or a sparse result, and sampled dense-dense products
 * (sddmm). */
#include "sparse/sparse_int.h"
#include "kernel/kernel.h"

#include <string.h>

/* ---- With dense -------------------------------------------------------------------------------------------------- */

static damo_status sp_dot_check_dense(const damo_sparse *a, bool transposed, const damo_array *x) {
  char text[256];
  damo_ctx *ctx = a->obj.ctx;
  const int64_t inner = a->shape[!transposed];
  if (x->ndim != 1 && x->ndim != 2) {
    return ctx_fail(ctx, DAMO_ESHAPE, "dot: the dense operand has shape %s, expected a vector or a matrix",
                    shape_format(text, sizeof text, x->ndim, array_shape(x)));
  }
  if (array_shape(x)[0] == inner) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE,
                  "dot: shapes (%lld, %lld) and %s do not agree: axis 2 of the first is %lld, axis 1 of "
                  "the second is %lld",
                  (long long)a->shape[transposed], (long long)inner,
                  shape_format(text, sizeof text, x->ndim, array_shape(x)), (long long)inner,
                  (long long)array_shape(x)[0]);
}

static damo_status sp_dot_check_onto(const damo_sparse *a, const damo_array *onto, damo_dtype dtype, int ndim,
                                     const int64_t *shape) {
  const bool fits = onto->ndim == ndim && array_dtype(onto) == dtype && array_shape(onto)[0] == shape[0] &&
                    (ndim == 1 || array_shape(onto)[1] == shape[1]);
  if (fits && onto->writeable && array_is_contiguous(onto)) return DAMO_OK;
  char text[256];
  return ctx_fail(a->obj.ctx, DAMO_ESHAPE, "dot: the product can't be added in place: expected a %s array of shape %s",
                  dtype_name(dtype), shape_format(text, sizeof text, ndim, shape));
}

damo_array *sparse_dot_dense(damo_sparse *a, bool transposed, const scalar *alpha, const damo_array *x,
                             damo_array *onto) {
  if (sp_dot_check_dense(a, transposed, x) != DAMO_OK) return NULL;
  const damo_dtype dtype = dtype_promote(sparse_dtype(a), array_dtype(x));
  const int64_t shape[2] = {a->shape[transposed], x->ndim == 2 ? array_shape(x)[1] : 1};
  if (onto && sp_dot_check_onto(a, onto, dtype, x->ndim, shape) != DAMO_OK) return NULL;
  _Alignas(16) char factor[16];
  if (alpha) {
    const scalar s = scalar_cast(*alpha, DAMO_COMPLEX128);
    kernel_cast(DAMO_COMPLEX128, dtype)(&s.v.c, factor, 1);
  }
  damo_sparse *same = sparse_cast(a, dtype);
  damo_array *xc = same ? array_as_contiguous(x, dtype) : NULL, *y = NULL;
  if (xc) y = onto ? damo_retain(onto) : array_empty(a->obj.ctx, dtype, x->ndim, shape);
  if (y) {
    const sparse_product p = {same, transposed, false, alpha ? factor : NULL, xc, onto ? y : NULL, y, NULL};
    const size_t size = sparse_product_workspace(&p);
    void *workspace = size > 0 ? mem_alloc(a->obj.ctx, size) : NULL;
    if (size > 0 && !workspace) {
      damo_release(y);
      y = NULL;
    } else {
      sparse_product_run(&p, workspace);
    }
    if (workspace) mem_free(a->obj.ctx, workspace, size);
  }
  damo_release(same);
  damo_release(xc);
  return y;
}

static sparse_block sp_block_of(const damo_array *a) {
  const int64_t cols = a->ndim == 2 ? array_shape(a)[1] : 1;
  return (sparse_block){a->data, cols, cols};
}

/* ---- Sampled ----------------------------------------------------------------------------------------------------- */

static damo_status sp_check_sample(const damo_sparse *p, const damo_array *x, const damo_array *y) {
  char tx[128], ty[128];
  if (x->ndim == 2 && y->ndim == 2 && array_shape(x)[0] == p->shape[0] && array_shape(y)[0] == p->shape[1] &&
      array_shape(x)[1] == array_shape(y)[1])
    return DAMO_OK;
  return ctx_fail(p->obj.ctx, DAMO_ESHAPE,
                  "sampling_dot: shapes %s and %s do not agree with the pattern's (%lld, %lld): "
                  "expected (%lld, k) and (%lld, k)",
                  shape_format(tx, sizeof tx, x->ndim, array_shape(x)),
                  shape_format(ty, sizeof ty, y->ndim, array_shape(y)), (long long)p->shape[0], (long long)p->shape[1],
                  (long long)p->shape[0], (long long)p->shape[1]);
}

typedef struct sp_sample_blocks {
  void (*sample)(const sparse_raw *a, const sparse_block *x, const sparse_block *y, void *out);
  sparse_block x, y;
  int64_t row_bytes; /* of x */
  void *out;
} sp_sample_blocks;

static void sp_sample_share(const void *arg, const sparse_raw *rows, int64_t first) {
  const sp_sample_blocks *b = arg;
  const sparse_block x = {(char *)b->x.data + first * b->row_bytes, b->x.cols, b->x.stride};
  b->sample(rows, &x, &b->y, b->out);
}

void sparse_sample_rows(const sparse_raw *at, bool wide, const damo_array *x, const damo_array *y, void *out) {
  const sparse_isa *fns = &x->obj.ctx->isa->sparse;
  const sparse_dense_fns *v = &fns->dense[wide][array_dtype(x)];
  sp_sample_blocks b = {.x = sp_block_of(x), .y = sp_block_of(y), .out = out};
  b.sample = v->sample && b.x.cols > 1 ? v->sample : fns->value[wide][array_dtype(x)]->sample;
  b.row_bytes = b.x.stride * (int64_t)dtype_size(array_dtype(x));
  const int64_t nnz = sparse_index_get(at->indptr, wide, at->major);
  const double ns = ENTRY_NS * (double)nnz * (1 + COLUMN_NS * (double)b.x.cols);
  sparse_run_rows(x->obj.ctx, ns, at, wide, sp_sample_share, &b);
}

damo_sparse *sparse_sample(damo_sparse *p, const damo_array *x, const damo_array *y) {
  if (sp_check_sample(p, x, y) != DAMO_OK) return NULL;
  const damo_dtype dtype = dtype_promote(array_dtype(x), array_dtype(y));
  damo_array *xc = array_as_contiguous(x, dtype), *yc = xc ? array_as_contiguous(y, dtype) : NULL;
  damo_array *out = yc ? sparse_vector(p->obj.ctx, dtype, sparse_nnz(p)) : NULL;
  damo_sparse *z = NULL;
  if (out) {
    const sparse_raw raw = sparse_raw_of(p);
    const bool csr = p->format == DAMO_CSR;
    sparse_sample_rows(&raw, sparse_is_wide(p), csr ? xc : yc, csr ? yc : xc, out->data);
    z = sparse_with_data(p, out);
  }
  damo_release(xc);
  damo_release(yc);
  damo_release(out);
  return z;
}

/* ---- With dense, sparse result ----------------------------------------------------------------------------------- */

/* A dense matrix as a sparse one that stores every element, zeros too. */
static damo_sparse *sp_full(const damo_array *x, damo_format format) {
  damo_ctx *ctx = x->obj.ctx;
  const int64_t *shape = array_shape(x), major = shape[format == DAMO_CSC], minor = shape[format == DAMO_CSR];
  const int64_t transposed[2] = {major, minor},
                step[2] = {array_strides(x)[format == DAMO_CSC], array_strides(x)[format == DAMO_CSR]};
  damo_sparse *out = sparse_empty(ctx, format, array_dtype(x), DAMO_INT64, shape, array_size(x));
  if (!out) return NULL;
  int64_t *ptr = (int64_t *)(void *)out->indptr->data, *idx = (int64_t *)(void *)out->indices->data;
  for (int64_t i = 0; i <= major; i++) ptr[i] = i * minor;
  for (int64_t i = 0; i < major; i++) {
    for (int64_t j = 0; j < minor; j++) *idx++ = j;
  }
  array_copy_box(ctx, x->data, step, out->data->data, NULL, 2, transposed, dtype_size(array_dtype(x)));
  out->sorted = out->unique = true;
  return out;
}

/* Whether the result, stored densely, has at most twice as many elements as the operands hold. */
static bool sp_dot_result_is_small(const damo_sparse *a, const damo_array *x, bool left) {
  const int64_t rows = left ? array_shape(x)[0] : a->shape[0], cols = left ? a->shape[1] : array_shape(x)[1];
  return rows == 0 || cols <= 2 * (sparse_nnz(a) + array_size(x)) / rows;
}

static damo_sparse *sp_dot_through_dense(damo_sparse *a, const damo_array *x, bool left) {
  damo_array *transposed = NULL, *y = NULL;
  damo_sparse *out = NULL;
  const damo_format f = left ? (a->format == DAMO_CSR ? DAMO_CSC : DAMO_CSR) : sparse_format(a);
  if (left) {
    const int64_t shape[2] = {array_shape(x)[1], array_shape(x)[0]};
    const int64_t step[2] = {array_strides(x)[1], array_strides(x)[0]};
    transposed = array_view(x, 2, shape, step, 0);
    if (!transposed) return NULL;
  }
  y = sparse_dot_dense(a, left, NULL, left ? transposed : x, NULL);
  if (y) out = sparse_from_dense(y, f, sparse_itype(a));
  if (out && left) {
    damo_sparse *back = sparse_transpose(out);
    damo_release(out);
    out = back;
  }
  damo_release(transposed);
  damo_release(y);
  return out;
}

/* Zeros of x can be left out if a is finite; else 0·inf and 0·nan must give nan, and every element of x is stored. */
static damo_sparse *sp_dot_through_sparse(damo_sparse *a, const damo_array *x, bool left) {
  damo_sparse *b =
      sparse_all_finite(a) ? sparse_from_dense(x, sparse_format(a), DAMO_INT32) : sp_full(x, sparse_format(a));
  damo_sparse *out = b ? (left ? sparse_dot_sparse(b, a) : sparse_dot_sparse(a, b)) : NULL;
  damo_release(b);
  return out;
}

damo_sparse *sparse_dot_mixed(damo_sparse *a, const damo_array *x, bool left) {
  const int64_t inner = left ? a->shape[0] : a->shape[1], own = array_shape(x)[left];
  if (x->ndim != 2 || inner != own) {
    ctx_fail(a->obj.ctx, DAMO_ESHAPE, "dot: a matrix with %lld %s and a dense one with %lld %s do not agree",
             (long long)inner, left ? "rows" : "columns", (long long)own, left ? "columns" : "rows");
    return NULL;
  }
  return sp_dot_result_is_small(a, x, left) ? sp_dot_through_dense(a, x, left) : sp_dot_through_sparse(a, x, left);
}
