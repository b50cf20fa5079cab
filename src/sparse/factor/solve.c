/* solve: systems with a factor: mapping them to the stored matrix, blocks of columns, iterative refinement,
 * determinants.
 *
 * Refinement: after a factorization one solve is probed by its componentwise backward error w = max |b − Ax| / (|A||x|
 * + |b|) (rcond.c). If w is more than rounding, each later solve is checked too, and corrections are solved for until w
 * no longer halves (Arioli, Demmel, Duff 1989). If that does not help and the pivots were kept from older values, or
 * were chosen for sparsity, A is factorized again with pivots chosen for accuracy. A Cholesky factorization is backward
 * stable; its solves are probed only if its diagonal suggests that A is nearly singular. */
#include "factor_int.h"

#define REFINE_ABOVE 5e-15
#define REFINE_STEPS 6
#define RESCUE_ABOVE 1e-10

/* ---- Systems of A on M ------------------------------------------------------------------------------------------- */

/* The op(M) that a system of A means. */
static void factor_map_system(const damo_factor *f, factor_system system, bool *transposed, bool *conjugated) {
  *conjugated = f->m.cplx && (system == FACTOR_H) != f->conjugated;
  *transposed = (system != FACTOR_A) != (f->flipped || f->conjugated);
  if (!f->backend || !f->backend->hermitian || !*transposed) return;
  *transposed = false; /* Mᵀ is M's conjugate */
  *conjugated = f->m.cplx && !*conjugated;
}

static void factor_conjugate_block(double *x, int64_t n) {
  for (int64_t k = 0; k < n; k++) x[2 * k + 1] = -x[2 * k + 1];
}

damo_status factor_raw_solve(damo_factor *f, factor_system system, int64_t k, double *x) {
  damo_assert(f->backend && f->fault == FACTOR_FINE && k > 0);
  bool transposed, conjugated;
  factor_map_system(f, system, &transposed, &conjugated);
  const bool around = conjugated && !transposed;
  const int64_t n = f->m.cols * k;
  if (around) factor_conjugate_block(x, n);
  const factor_system of_m = !transposed ? FACTOR_A : conjugated ? FACTOR_H : FACTOR_T;
  const damo_status status = f->backend->solve(f, of_m, k, x);
  if (around && status == DAMO_OK) factor_conjugate_block(x, n);
  return status;
}

double factor_residual(const damo_factor *f, factor_system system, const double *x, const double *b, double *r,
                       double *s, double *sums) {
  bool transposed, conjugated;
  factor_map_system(f, system, &transposed, &conjugated);
  return factor_fns_of(&f->m)->residual(&f->m, transposed, conjugated, x, b, r, s, sums);
}

/* ---- Refinement -------------------------------------------------------------------------------------------------- */

/* Solves for k columns of b into x, and refines each; *worst: the largest backward error that is left. workspace: 3
 * columns, of which the residual, its scale and the solution before a step. */
static damo_status factor_solve_block(damo_factor *f, factor_system system, int64_t k, const double *b, double *x,
                                      double *workspace, double *worst) {
  const size_t n = (size_t)f->m.cols * (f->m.cplx ? 2 : 1);
  double *r = workspace, *s = workspace + n, *saved = workspace + 2 * n;
  memcpy(x, b, n * (size_t)k * sizeof *x);
  DAMO_TRY(factor_raw_solve(f, system, k, x));
  *worst = 0;
  for (int64_t c = 0; f->refines && c < k; c++, x += n, b += n) {
    double best = factor_residual(f, system, x, b, r, s, NULL);
    for (int step = 0; step < REFINE_STEPS && best > REFINE_ABOVE; step++) {
      memcpy(saved, x, n * sizeof *x);
      DAMO_TRY(factor_raw_solve(f, system, 1, r));
      for (size_t i = 0; i < n; i++) x[i] += r[i];
      f->refinements++;
      const double now = factor_residual(f, system, x, b, r, s, NULL);
      if (!(now < best)) {
        memcpy(x, saved, n * sizeof *x);
        break;
      }
      const bool slow = now > best / 2;
      best = now;
      if (slow) break;
    }
    if (best > *worst || isnan(best)) *worst = best;
  }
  return DAMO_OK;
}

/* Factorizes A again, with pivots chosen for accuracy. */
static damo_status factor_factorize_carefully(damo_factor *f) {
  f->choose_pivots = true;
  f->factorizations++;
  f->rcond_known = f->rcond_rough = false;
  const damo_status status = f->backend->factorize(f);
  if (status == DAMO_OK) return factor_check(f);
  f->fault = FACTOR_EMPTY;
  return status;
}

static damo_status factor_solve_refined(damo_factor *f, factor_system system, int64_t k, const double *b, double *x,
                                        double *workspace) {
  double worst;
  DAMO_TRY(factor_solve_block(f, system, k, b, x, workspace, &worst));
  if (worst <= RESCUE_ABOVE || f->choose_pivots || f->backend->hermitian) return DAMO_OK;
  DAMO_TRY(factor_factorize_carefully(f));
  return factor_solve_block(f, system, k, b, x, workspace, &worst);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

int64_t factor_solution_rows(const damo_factor *f, factor_system system) { return f->shape[system == FACTOR_A]; }
static int64_t factor_right_rows(const damo_factor *f, factor_system system) { return f->shape[system != FACTOR_A]; }

/* With QR: w->x = pseudo-inverse of A, or of its transpose or adjoint, times k columns of w->b, which may be
 * overwritten. */
static damo_status factor_apply_block(damo_factor *f, factor_system system, factor_block *w, int64_t k) {
  const bool around = system == FACTOR_T && f->m.cplx; /* Aᵀ x = b: the conjugate of Aᴴ x̄ = b̄ */
  if (around) factor_conjugate_block(w->b, w->n * k);
  DAMO_TRY(f->backend->apply(f, f->conjugated == (system == FACTOR_A), k, w->b, w->x));
  if (around) factor_conjugate_block(w->x, factor_solution_rows(f, system) * k);
  return DAMO_OK;
}

static damo_status factor_solve_block_init(damo_factor *f, factor_system system, factor_block *w, int64_t width,
                                           bool cplx) {
  return factor_block_init(f, w, factor_right_rows(f, system), factor_solution_rows(f, system), width, cplx);
}

static damo_status factor_solve_block_run(damo_factor *f, factor_system system, factor_block *w, int64_t k) {
  const int64_t columns = factor_block_columns(w, k);
  if (f->least) return factor_apply_block(f, system, w, columns);
  return factor_solve_refined(f, system, columns, w->b, w->x, w->workspace);
}

/* ---- Dense right sides ------------------------------------------------------------------------------------------- */

static damo_status factor_check_rows(damo_factor *f, factor_system system, int ndim, const int64_t *shape) {
  char text[256];
  const int64_t rows = factor_right_rows(f, system);
  if ((ndim == 1 || ndim == 2) && shape[0] == rows) return DAMO_OK;
  return ctx_fail(f->obj.ctx, DAMO_ESHAPE,
                  "the matrix has shape (%lld, %lld) and the right side %s, expected a vector or matrix of %lld rows",
                  (long long)f->shape[0], (long long)f->shape[1], shape_format(text, sizeof text, ndim, shape),
                  (long long)rows);
}

static damo_dtype factor_result_dtype(const damo_factor *f, damo_dtype b) {
  return dtype_promote(f->dtype, dtype_to_float(b));
}

/* `onto`, retained, if it fits, or a new array if `onto` is NULL. */
static damo_array *factor_result_array(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape,
                                       damo_array *onto) {
  if (!onto) return array_empty(ctx, dtype, ndim, shape);
  bool fits = array_dtype(onto) == dtype && onto->ndim == ndim && onto->writeable && array_is_contiguous(onto);
  for (int k = 0; fits && k < ndim; k++) fits = array_shape(onto)[k] == shape[k];
  if (fits) return damo_retain(onto);
  ctx_fail(ctx, DAMO_ESHAPE, "solve: the array for the result is not a contiguous %s one of the result's shape",
           dtype_name(dtype));
  return NULL;
}

static damo_status factor_solve_dense(damo_factor *f, factor_system system, const damo_array *b, damo_array *out) {
  const int64_t width = b->ndim == 2 ? array_shape(b)[1] : 1;
  const bool cplx = dtype_is_complex(array_dtype(b));
  factor_block w;
  if (width == 0) return DAMO_OK;
  if (!f->backend) {
    array_fill(out, (scalar){.dtype = DAMO_FLOAT64});
    return DAMO_OK;
  }
  if (width == 1 && !cplx && !f->m.cplx && !f->refines && !f->least &&
      array_dtype(out) == DAMO_FLOAT64) { /* solve in place */
    memcpy(out->data, b->data, (size_t)f->m.cols * sizeof(double));
    return factor_raw_solve(f, system, 1, (double *)(void *)out->data);
  }
  DAMO_TRY(factor_solve_block_init(f, system, &w, width, cplx));
  for (int64_t from = 0; from < width; from += w.k) {
    const int64_t k = width - from < w.k ? width - from : w.k;
    factor_block_load(&w, w.n, (const double *)(const void *)b->data, cplx, width, from, k);
    DAMO_TRY(factor_solve_block_run(f, system, &w, k));
    factor_block_store(&w, w.x, factor_solution_rows(f, system), out, width, from, k);
  }
  return DAMO_OK;
}

damo_array *factor_solve(damo_factor *f, factor_system system, const damo_array *b, damo_array *onto) {
  damo_ctx *ctx = f->obj.ctx;
  if (factor_check(f) != DAMO_OK || factor_check_rows(f, system, b->ndim, array_shape(b)) != DAMO_OK) return NULL;
  const int64_t shape[2] = {factor_solution_rows(f, system), b->ndim == 2 ? array_shape(b)[1] : 1};
  damo_array *out = factor_result_array(ctx, factor_result_dtype(f, array_dtype(b)), b->ndim, shape, onto);
  damo_array *right = out ? array_as_contiguous(b, factor_work_dtype(array_dtype(b))) : NULL;
  if (!right || factor_solve_dense(f, system, right, out) != DAMO_OK) {
    damo_release(out);
    out = NULL;
  }
  damo_release(right);
  return out;
}

/* ---- Sparse right sides ------------------------------------------------------------------------------------------ */

/* The nonzeros of solutions, in column order, in growing arrays. */
typedef struct found_entries {
  damo_ctx *ctx;
  int64_t n, capacity;
  int64_t *rows, *cols;
  damo_c128 *values;
} found_entries;

static damo_status found_entries_grow(found_entries *v) {
  const size_t had = (size_t)v->capacity, now = had ? 2 * had : 256;
  int64_t *rows = mem_realloc(v->ctx, v->rows, had * sizeof *rows, now * sizeof *rows);
  if (!rows) return DAMO_EMEMORY;
  v->rows = rows;
  int64_t *cols = mem_realloc(v->ctx, v->cols, had * sizeof *cols, now * sizeof *cols);
  if (!cols) { /* all three arrays keep one length */
    rows = mem_realloc(v->ctx, v->rows, now * sizeof *rows, had * sizeof *rows);
    if (rows) v->rows = rows;
    return DAMO_EMEMORY;
  }
  v->cols = cols;
  damo_c128 *values = mem_realloc(v->ctx, v->values, had * sizeof *values, now * sizeof *values);
  if (!values) {
    rows = mem_realloc(v->ctx, v->rows, now * sizeof *rows, had * sizeof *rows);
    cols = mem_realloc(v->ctx, v->cols, now * sizeof *cols, had * sizeof *cols);
    if (rows) v->rows = rows;
    if (cols) v->cols = cols;
    return DAMO_EMEMORY;
  }
  v->values = values;
  v->capacity = (int64_t)now;
  return DAMO_OK;
}

static void found_entries_clear(found_entries *v) {
  const size_t n = (size_t)v->capacity;
  mem_free(v->ctx, v->rows, n * sizeof *v->rows);
  mem_free(v->ctx, v->cols, n * sizeof *v->cols);
  mem_free(v->ctx, v->values, n * sizeof *v->values);
}

/* Appends the nonzeros of k columns of n rows. */
static damo_status found_entries_take(found_entries *v, const factor_block *w, int64_t n, int64_t from, int64_t k) {
  for (int64_t c = 0; c < k; c++) {
    for (int64_t i = 0; i < n; i++) {
      const damo_c128 x = factor_block_get(w, w->x, n, i, c);
      if (x.re == 0 && x.im == 0) continue;
      if (v->n == v->capacity) DAMO_TRY(found_entries_grow(v));
      v->rows[v->n] = i, v->cols[v->n] = from + c;
      v->values[v->n++] = x;
    }
  }
  return DAMO_OK;
}

static damo_sparse *found_entries_matrix(const found_entries *v, int64_t rows, damo_dtype dtype, const damo_sparse *b) {
  damo_ctx *ctx = v->ctx;
  const int64_t shape[2] = {rows, b->shape[1]};
  damo_array *values = array_empty(ctx, DAMO_COMPLEX128, 1, &v->n);
  if (!values) return NULL;
  if (v->n) memcpy(values->data, v->values, (size_t)v->n * sizeof *v->values);
  damo_array *cast = array_cast(values, dtype);
  damo_release(values);
  if (!cast) return NULL;
  damo_sparse *out = sparse_from_places(ctx, sparse_format(b), dtype, shape, v->n, v->rows, v->cols, cast->data,
                                        sparse_itype(b), true);
  damo_release(cast);
  return out;
}

static damo_status factor_solve_columns(damo_factor *f, factor_system system, const damo_sparse *b, found_entries *v) {
  const int64_t width = b->shape[1];
  factor_block w;
  if (width == 0 || !f->backend) return DAMO_OK;
  DAMO_TRY(factor_solve_block_init(f, system, &w, width, sparse_dtype(b) == DAMO_COMPLEX128));
  for (int64_t from = 0; from < width; from += w.k) {
    const int64_t k = width - from < w.k ? width - from : w.k;
    factor_block_scatter(&w, b, from, k);
    DAMO_TRY(factor_solve_block_run(f, system, &w, k));
    DAMO_TRY(found_entries_take(v, &w, factor_solution_rows(f, system), from, k));
  }
  return DAMO_OK;
}

damo_sparse *factor_solve_sparse(damo_factor *f, factor_system system, damo_sparse *b) {
  if (factor_check(f) != DAMO_OK || factor_check_rows(f, system, 2, b->shape) != DAMO_OK) return NULL;
  const damo_dtype dtype = factor_result_dtype(f, sparse_dtype(b));
  damo_sparse *cast = sparse_cast(b, factor_work_dtype(sparse_dtype(b)));
  damo_sparse *columns = cast ? sparse_to_format(cast, DAMO_CSC) : NULL;
  damo_sparse *clean = columns ? sparse_sum_duplicates(columns) : NULL, *out = NULL;
  found_entries v = {.ctx = f->obj.ctx};
  if (clean && factor_solve_columns(f, system, clean, &v) == DAMO_OK)
    out = found_entries_matrix(&v, factor_solution_rows(f, system), dtype, b);
  found_entries_clear(&v);
  damo_release(cast);
  damo_release(columns);
  damo_release(clean);
  return out;
}

/* ---- Determinant ------------------------------------------------------------------------------------------------- */

damo_status factor_logdet(damo_factor *f, double *log_abs, damo_c128 *sign) {
  if (f->fault == FACTOR_EMPTY) return factor_check(f);
  DAMO_TRY(factor_need_square(f, " for a determinant"));
  factor_pivots pivots = {.sign = {1, 0}, .smallest = INFINITY};
  if (f->fault == FACTOR_SINGULAR)
    pivots.log_abs = -INFINITY, pivots.sign.re = 0;
  else if (f->backend)
    DAMO_TRY(f->backend->pivots(f, true, &pivots));
  *log_abs = pivots.log_abs;
  *sign = pivots.sign;
  return DAMO_OK;
}
