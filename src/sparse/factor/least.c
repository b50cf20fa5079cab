/* least: least squares by a QR factorization.
 *
 * M·E = Q·R, where M is A itself, or Aᴴ if A has more columns than rows and full row rank (`conjugated`). The solution
 * is x = E·R⁻¹·Qᴴ·b, or the minimum-norm solution x = Q·R⁻ᴴ·Eᵀ·b. */
#include "factor_int.h"

static damo_status least_check(damo_factor *f, const char *what, int64_t rows, const damo_array *b) {
  char text[256];
  damo_ctx *ctx = f->obj.ctx;
  if (!f->least) return ctx_fail(ctx, DAMO_ESTATE, "%s: the factor was made for square systems", what);
  DAMO_TRY(factor_check(f));
  if ((b->ndim == 1 || b->ndim == 2) && array_shape(b)[0] == rows) return DAMO_OK;
  return ctx_fail(
      ctx, DAMO_ESHAPE,
      "%s: the matrix has shape (%lld, %lld) and the right side %s, expected a vector or matrix of %lld rows", what,
      (long long)f->shape[0], (long long)f->shape[1], shape_format(text, sizeof text, b->ndim, array_shape(b)),
      (long long)rows);
}

static damo_array *least_array_like(const damo_factor *f, const damo_array *b, int64_t rows) {
  int64_t shape[2] = {rows, b->ndim == 2 ? array_shape(b)[1] : 1};
  const damo_dtype dtype = dtype_promote(f->dtype, dtype_to_float(array_dtype(b)));
  return array_empty(f->obj.ctx, dtype, b->ndim, shape);
}

static damo_array *least_zeros_like(const damo_factor *f, const damo_array *b, int64_t rows) {
  damo_array *out = least_array_like(f, b, rows);
  if (out) array_fill(out, (scalar){.dtype = DAMO_FLOAT64});
  return out;
}

/* Overwrites k right-hand sides (columns of the back end) by their residuals. */
static void least_to_residuals(const damo_factor *f, const factor_block *w, int64_t k, int64_t n, int64_t m) {
  const size_t per = f->m.cplx ? 2 : 1;
  double *r = w->workspace, *s = w->workspace + (size_t)n * per;
  for (int64_t c = 0; c < k; c++) {
    double *b = w->b + (size_t)(c * n) * per;
    factor_fns_of(&f->m)->residual(&f->m, f->conjugated, f->conjugated, w->x + (size_t)(c * m) * per, b, r, s, NULL);
    memcpy(b, r, (size_t)n * per * sizeof *b);
  }
}

static damo_status least_dense(damo_factor *f, const damo_array *b, damo_array *x, damo_array *residual) {
  const int64_t width = b->ndim == 2 ? array_shape(b)[1] : 1, n = f->shape[0], m = f->shape[1];
  const bool cplx = dtype_is_complex(array_dtype(b));
  factor_block w;
  if (width == 0) return DAMO_OK;
  DAMO_TRY(factor_block_init(f, &w, n, m, width, cplx));
  for (int64_t from = 0; from < width; from += w.k) {
    const int64_t k = width - from < w.k ? width - from : w.k, columns = factor_block_columns(&w, k);
    factor_block_load(&w, n, (const double *)(const void *)b->data, cplx, width, from, k);
    DAMO_TRY(f->backend->apply(f, f->conjugated, columns, w.b, w.x));
    factor_block_store(&w, w.x, m, x, width, from, k);
    if (!residual) continue;
    least_to_residuals(f, &w, columns, n, m);
    factor_block_store(&w, w.b, n, residual, width, from, k);
  }
  return DAMO_OK;
}

damo_status factor_lstsq(damo_factor *f, const damo_array *b, damo_array **x, damo_array **residual) {
  DAMO_TRY(least_check(f, "lstsq", f->shape[0], b));
  damo_array *right = array_as_contiguous(b, factor_work_dtype(array_dtype(b)));
  damo_array *solution = right ? least_zeros_like(f, b, f->shape[1]) : NULL;
  damo_array *rest = solution ? least_array_like(f, b, f->shape[0]) : NULL;
  damo_status status = rest ? DAMO_OK : DAMO_EMEMORY;
  if (status == DAMO_OK)
    status = f->backend ? least_dense(f, right, solution, residual ? rest : NULL) : array_assign(rest, right);
  damo_release(right);
  if (status == DAMO_OK) {
    *x = damo_retain(solution);
    if (residual) *residual = damo_retain(rest);
  }
  damo_release(solution);
  damo_release(rest);
  return status;
}

/* ---- Residuals --------------------------------------------------------------------------------------------------- */

/* x has n rows, b has m. */
static damo_status least_gap_dense(damo_factor *f, factor_system system, const damo_array *x, const damo_array *b,
                                   damo_array *out) {
  const int64_t width = array_shape(b)[1], n = array_shape(x)[0], m = array_shape(b)[0];
  const bool cplx = dtype_is_complex(array_dtype(b));
  const size_t per = f->m.cplx ? 2 : 1, longer = (size_t)(n > m ? n : m) * per;
  factor_block w;
  if (width == 0) return DAMO_OK;
  DAMO_TRY(factor_block_init(f, &w, n, m, width, cplx));
  factor_block of_b = w;
  of_b.b = w.x;
  double *r = w.workspace, *s = w.workspace + longer;
  for (int64_t from = 0; from < width; from += w.k) {
    const int64_t k = width - from < w.k ? width - from : w.k, columns = factor_block_columns(&w, k);
    factor_block_load(&w, n, (const double *)(const void *)x->data, cplx, width, from, k);
    factor_block_load(&of_b, m, (const double *)(const void *)b->data, cplx, width, from, k);
    for (int64_t c = 0; c < columns; c++) {
      double *of_c = w.x + (size_t)(c * m) * per;
      factor_residual(f, system, w.b + (size_t)(c * n) * per, of_c, r, s, NULL);
      for (size_t i = 0; i < (size_t)m * per; i++) of_c[i] = -r[i];
    }
    factor_block_store(&w, w.x, m, out, width, from, k);
  }
  return DAMO_OK;
}

damo_status factor_gap(damo_factor *f, factor_system system, const damo_array *x, const damo_array *b,
                       damo_array *out) {
  char text[256], more[256];
  const int64_t *shape = array_shape(x), *like = array_shape(b), rows = f->shape[system != FACTOR_A];
  if (f->fault == FACTOR_EMPTY) return factor_check(f);
  if (shape[0] != factor_solution_rows(f, system) || like[0] != rows || shape[1] != like[1])
    return ctx_fail(f->obj.ctx, DAMO_ESHAPE, "the matrix has shape (%lld, %lld), the solution %s, the right side %s",
                    (long long)f->shape[0], (long long)f->shape[1], shape_format(text, sizeof text, 2, shape),
                    shape_format(more, sizeof more, 2, like));
  const damo_dtype dtype = factor_work_dtype(dtype_promote(array_dtype(x), array_dtype(b)));
  damo_array *left = array_as_contiguous(x, dtype), *right = left ? array_as_contiguous(b, dtype) : NULL;
  const damo_status status = right ? least_gap_dense(f, system, left, right, out) : DAMO_EMEMORY;
  damo_release(left);
  damo_release(right);
  return status;
}
