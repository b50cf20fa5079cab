/* factor: the factor object, the stored matrix, the choice of a back end, and the reuse of the analysis when A
 * changes. */
#include "factor_int.h"
#include "kernel/kernel.h"

#include <stdio.h>

/* From so many operations per entry of L and U on, dense fronts pay (UMFPACK instead of KLU). */
#define FRONTS_PAY 40.0
/* Kept pivots are given up above this backward error. */
#define KEPT_PROBE 1e-11
/* The same for LDLᵀ: up to here iterative refinement repairs a solution. */
#define LDL_PROBE 1e-9

/* ---- The object -------------------------------------------------------------------------------------------------- */

static void factor_drop_backend(damo_factor *f) {
  if (f->backend) f->backend->free(f);
  f->backend = NULL;
  factor_charge(f, 0);
  damo_assert(f->charged == 0);
}

static void factor_matrix_clear(damo_ctx *ctx, factor_matrix *m) {
  damo_release(m->indptr);
  damo_release(m->indices);
  if (m->x) mem_free(ctx, m->x, (size_t)m->nnz * factor_entry(m));
  *m = (factor_matrix){0};
}

static void factor_destroy(damo_obj *obj) {
  damo_factor *f = (damo_factor *)obj;
  factor_drop_backend(f);
  factor_matrix_clear(obj->ctx, &f->m);
  mem_free(obj->ctx, f->work, f->work_size * sizeof(double));
  obj_free(obj, sizeof *f);
}

void factor_register(damo_ctx *ctx) { ctx_register_kind(ctx, OBJ_FACTOR, factor_destroy, NULL); }

damo_status factor_charge(damo_factor *f, size_t bytes) {
  if (bytes > f->charged) DAMO_TRY(mem_charge(f->obj.ctx, bytes - f->charged));
  if (bytes < f->charged) mem_uncharge(f->obj.ctx, f->charged - bytes);
  f->charged = bytes;
  return DAMO_OK;
}

double *factor_work(damo_factor *f, size_t n) {
  if (n <= f->work_size && f->work) return f->work;
  damo_ctx *ctx = f->obj.ctx;
  mem_free(ctx, f->work, f->work_size * sizeof(double));
  f->work_size = 0;
  size_t bytes;
  f->work = size_mul(n, sizeof(double), &bytes) ? mem_alloc(ctx, bytes) : NULL;
  if (f->work) f->work_size = n;
  return f->work;
}

damo_status factor_fail_memory(damo_factor *f) {
  return ctx_fail(f->obj.ctx, DAMO_EMEMORY, "out of memory in %s, for a matrix of %lld rows with %lld entries",
                  f->backend->name, (long long)f->m.rows, (long long)f->m.nnz);
}

damo_status factor_fail_size(damo_factor *f) {
  f->too_large = !f->m.wide;
  return ctx_fail(f->obj.ctx, DAMO_EMEMORY, "%s: the factors have more entries than %s indices can count",
                  f->backend->name, f->m.wide ? "int64" : "int32");
}

/* ---- The stored matrix ------------------------------------------------------------------------------------------- */

/* The column of entry k, by bisection. */
static int64_t factor_major_of(const factor_matrix *m, int64_t k) {
  int64_t low = 0, high = m->cols;
  while (high - low > 1) {
    const int64_t mid = low + (high - low) / 2;
    if (sparse_index_get(m->indptr->data, m->wide, mid) <= k)
      low = mid;
    else
      high = mid;
  }
  return low;
}

static damo_status factor_check_finite(damo_ctx *ctx, const factor_matrix *m, bool flipped) {
  const int64_t per = m->cplx ? 2 : 1, n = m->nnz * per;
  if (kernel_all_finite(DAMO_FLOAT64, m->x, n)) return DAMO_OK;
  int64_t k = 0;
  while (isfinite(m->x[k])) k++;
  const double value = m->x[k];
  k /= per;
  const int64_t major = factor_major_of(m, k);
  const int64_t other = sparse_index_get(m->indices->data, m->wide, k);
  return ctx_fail(ctx, DAMO_ENUMERIC,
                  "the matrix has the entry %s at {%lld, %lld}: only finite numbers can be factorized",
                  isnan(value) ? "nan"
                  : value > 0  ? "inf"
                               : "-inf",
                  (long long)(flipped ? major : other) + 1, (long long)(flipped ? other : major) + 1);
}

/* c's vectors (canonical, of the working dtype), read as csc; the values are copied. */
static damo_status factor_matrix_take(factor_matrix *m, const damo_sparse *c, bool conjugated) {
  damo_ctx *ctx = c->obj.ctx;
  *m = (factor_matrix){.rows = sparse_minor(c),
                       .cols = sparse_major(c),
                       .nnz = sparse_nnz(c),
                       .wide = sparse_is_wide(c),
                       .cplx = sparse_dtype(c) == DAMO_COMPLEX128};
  m->x = mem_alloc(ctx, (size_t)m->nnz * factor_entry(m));
  if (!m->x) return DAMO_EMEMORY;
  memcpy(m->x, c->data->data, (size_t)m->nnz * factor_entry(m));
  if (conjugated && m->cplx)
    for (int64_t k = 0; k < m->nnz; k++) m->x[2 * k + 1] = -m->x[2 * k + 1];
  m->indptr = damo_retain(c->indptr);
  m->indices = damo_retain(c->indices);
  return DAMO_OK;
}

/* Replaces M by its Hermitian part, which is what counts under FACTOR_ASSUME_POS. */
static damo_status factor_take_hermitian_part(damo_ctx *ctx, factor_matrix *m) {
  const factor_fns *fns = factor_fns_of(m);
  const damo_dtype itype = m->wide ? DAMO_INT64 : DAMO_INT32, dtype = m->cplx ? DAMO_COMPLEX128 : DAMO_FLOAT64;
  const int64_t shape[2] = {m->rows, m->cols};
  damo_sparse *t = sparse_empty(ctx, DAMO_CSC, dtype, itype, shape, m->nnz), *h = NULL;
  damo_status status = DAMO_EMEMORY;
  if (!t) return status;
  const sparse_raw raw = {m->cols, m->rows, m->indptr->data, m->indices->data, m->x, NULL};
  ctx->isa->sparse.move[m->wide][dtype]->swap(&raw, t->indptr->data, t->indices->data, t->data->data);
  const factor_matrix transposed = {.rows = m->rows,
                                    .cols = m->cols,
                                    .nnz = m->nnz,
                                    .wide = m->wide,
                                    .cplx = m->cplx,
                                    .indptr = t->indptr,
                                    .indices = t->indices,
                                    .x = (double *)(void *)t->data->data};
  const int64_t n = fns->hermitian_part(m, &transposed, NULL, NULL, NULL);
  if (!m->wide && n > INT32_MAX) {
    status = ctx_fail(ctx, DAMO_EMEMORY, "the symmetric part has more entries than int32 indices can count");
    goto done;
  }
  h = sparse_empty(ctx, DAMO_CSC, dtype, itype, shape, n);
  if (!h) goto done;
  fns->hermitian_part(m, &transposed, h->indptr->data, h->indices->data, (double *)(void *)h->data->data);
  factor_matrix fresh;
  status = factor_matrix_take(&fresh, h, false);
  factor_matrix_clear(ctx, status == DAMO_OK ? m : &fresh);
  if (status == DAMO_OK) *m = fresh;
done:
  damo_release(t);
  damo_release(h);
  return status;
}

/* a in canonical form and double precision; for QR also in the given format. */
static damo_sparse *factor_canonical(damo_sparse *a, const damo_format *format) {
  damo_sparse *b = sparse_cast(a, factor_work_dtype(sparse_dtype(a)));
  damo_sparse *c = b ? sparse_sum_duplicates(b) : NULL;
  damo_release(b);
  if (!c || !format) return c;
  damo_sparse *d = sparse_to_format(c, *format);
  damo_release(c);
  return d;
}

/* Whether M is Hermitian, and whether its diagonal is positive. Square M only. */
static damo_status factor_inspect(damo_factor *f, const factor_matrix *m, bool *hermitian, bool *positive) {
  double *at = factor_work(f, (size_t)m->cols);
  if (!at) return DAMO_EMEMORY;
  *hermitian = factor_fns_of(m)->is_hermitian(m, (int64_t *)(void *)at, positive);
  return DAMO_OK;
}

/* Fills *m with the matrix M of a, checked for nan and inf; *method: what to try first. */
static damo_status factor_prepare(damo_factor *f, damo_sparse *a, factor_matrix *m, factor_method *method) {
  damo_ctx *ctx = f->obj.ctx;
  const damo_format format = f->conjugated ? DAMO_CSR : DAMO_CSC;
  *m = (factor_matrix){0};
  *method = f->least ? FACTOR_QR : FACTOR_LU;
  damo_sparse *c = factor_canonical(a, f->least ? &format : NULL);
  if (!c) return damo_error_status(ctx);
  f->flipped = !f->least && sparse_format(c) == DAMO_CSR;
  damo_status status = factor_matrix_take(m, c, f->conjugated);
  damo_release(c);
  if (status == DAMO_OK) status = factor_check_finite(ctx, m, f->flipped || f->conjugated);
  if (status != DAMO_OK || f->least || f->assume == FACTOR_ASSUME_GEN) return status;
  bool hermitian = false, positive = false;
  status = factor_inspect(f, m, &hermitian, &positive);
  if (status == DAMO_OK && f->assume == FACTOR_ASSUME_POS && !hermitian) status = factor_take_hermitian_part(ctx, m);
  if (f->assume == FACTOR_ASSUME_POS || (DAMO_SUITESPARSE && hermitian && positive))
    *method = FACTOR_CHOLESKY;
  else if (hermitian && (!DAMO_SUITESPARSE || (f->assume == FACTOR_ASSUME_SYM && !m->cplx)))
    *method = FACTOR_LDL;
  return status;
}

/* ---- The choice of a back end ------------------------------------------------------------------------------------ */

const char *const *factor_backends(void) {
#if !DAMO_SUITESPARSE
  static const char *const names[] = {"damo", NULL};
#elif DAMO_GPL
  static const char *const names[] = {"cholmod", "umfpack", "spqr", "klu", "cxsparse", "ldl", NULL};
#else
  static const char *const names[] = {"klu", "cxsparse", "ldl", NULL};
#endif
  return names;
}

static damo_status factor_analyze_with(damo_factor *f, const factor_backend *backend) {
  factor_drop_backend(f);
  f->backend = backend;
  return backend->analyze(f);
}

#if DAMO_SUITESPARSE
static const factor_backend *factor_first_backend(const factor_backend *a, const factor_backend *b, bool wide) {
  return a[wide].name ? &a[wide] : &b[wide];
}

/* KLU's analysis is cheap compared with what dense fronts can save, so it is always done, and its estimate of the work
 * decides between KLU and UMFPACK. */
static damo_status factor_analyze_lu(damo_factor *f) {
  const bool wide = f->m.wide;
  DAMO_TRY(factor_analyze_with(f, &solve_klu[wide]));
  if (!solve_umfpack[wide].name || f->backend->work(f) < FRONTS_PAY) return DAMO_OK;
  return factor_analyze_with(f, &solve_umfpack[wide]);
}

static damo_status factor_analyze(damo_factor *f, factor_method method) {
  f->analyses++;
  f->gave_up = false;
  switch (method) {
    case FACTOR_QR: return factor_analyze_with(f, factor_first_backend(solve_spqr, solve_cxqr, f->m.wide));
    case FACTOR_CHOLESKY: return factor_analyze_with(f, factor_first_backend(solve_cholmod, solve_cxsparse, f->m.wide));
    case FACTOR_LDL: return factor_analyze_with(f, &solve_ldl[f->m.wide]);
    case FACTOR_LU: break;
  }
  return factor_analyze_lu(f);
}
#else
static damo_status factor_fail_without(damo_factor *f, const char *what) {
  return ctx_fail(f->obj.ctx, DAMO_ENOT_IMPLEMENTED,
                  "%s of a sparse matrix needs SuiteSparse, which this build is without: it factorizes Hermitian "
                  "matrices that need no pivoting",
                  what);
}

static damo_status factor_analyze_lu(damo_factor *f) { return factor_fail_without(f, "LU"); }

static damo_status factor_analyze(damo_factor *f, factor_method method) {
  f->analyses++;
  f->gave_up = false;
  switch (method) {
    case FACTOR_QR: return factor_fail_without(f, "QR");
    case FACTOR_CHOLESKY: return factor_analyze_with(f, &solve_own_positive);
    case FACTOR_LDL: return factor_analyze_with(f, &solve_own);
    case FACTOR_LU: break;
  }
  return factor_analyze_lu(f);
}
#endif

/* The column of A, from 1, of the pivot at fault. */
static long long factor_column_of_a(const damo_factor *f) { return (long long)(f->flipped ? f->row : f->column) + 1; }

static damo_status factor_fail_indefinite(damo_factor *f) {
  return ctx_fail(f->obj.ctx, DAMO_ENUMERIC,
                  "the matrix is not positive definite: pivot %lld of %lld (column %lld) is not positive",
                  (long long)f->step + 1, (long long)f->m.cols, factor_column_of_a(f));
}

static damo_status factor_factorize(damo_factor *f) {
  f->fault = FACTOR_FINE;
  f->rcond_known = f->rcond_rough = f->refines = f->kept_pivots = false;
  return f->backend->factorize(f);
}

/* Whether the factors are good enough. Checked only if pivots were kept from older values, and for LDLᵀ, which does not
 * pivot. */
static damo_status factor_inspect_again(damo_factor *f, bool *good) {
  const bool ldl = f->backend->method == FACTOR_LDL;
  *good = f->fault == FACTOR_FINE;
  if (!*good || !(ldl || f->kept_pivots)) return DAMO_OK;
  DAMO_TRY(factor_estimate(f, false));
  *good = f->rcond >= DBL_EPSILON && f->probe <= (ldl ? LDL_PROBE : fmax(KEPT_PROBE, 100 * f->fresh_probe));
  return DAMO_OK;
}

/* Factorizes with the present analysis; falls back to fresh pivots, or from LDLᵀ and Cholesky to LU, if the result is
 * not good enough. */
static damo_status factor_compute(damo_factor *f) {
  bool good;
  f->factorizations++;
  f->choose_pivots = f->fresh_pivots = false;
  DAMO_TRY(factor_factorize(f));
  DAMO_TRY(factor_inspect_again(f, &good));
  if (good) return DAMO_OK;
  if (f->kept_pivots) {
    f->fresh_pivots = true;
    return factor_factorize(f);
  }
  if (f->fault == FACTOR_INDEFINITE && f->assume == FACTOR_ASSUME_POS) return factor_fail_indefinite(f);
  if (!f->backend->hermitian) return DAMO_OK;
  DAMO_TRY(factor_analyze_lu(f));
  f->gave_up = true;
  return factor_factorize(f);
}

/* ---- Reuse of analyses ------------------------------------------------------------------------------------------- */

static bool factor_same_vector(const damo_array *a, const damo_array *b) {
  if (a->data == b->data) return array_size(a) == array_size(b);
  const size_t size = (size_t)array_size(a) * dtype_size(array_dtype(a));
  return array_size(a) == array_size(b) && memcmp(a->data, b->data, size) == 0;
}

static bool factor_same_pattern(const factor_matrix *a, const factor_matrix *b) {
  return a->indptr && a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->wide == b->wide &&
         a->cplx == b->cplx && factor_same_vector(a->indptr, b->indptr) && factor_same_vector(a->indices, b->indices);
}

/* Converts M's indices to int64. */
static damo_status factor_widen(factor_matrix *m) {
  damo_array *indptr = array_cast(m->indptr, DAMO_INT64), *indices = indptr ? array_cast(m->indices, DAMO_INT64) : NULL;
  if (!indices) {
    damo_release(indptr);
    return DAMO_EMEMORY;
  }
  damo_release(m->indptr);
  damo_release(m->indices);
  m->indptr = indptr, m->indices = indices;
  m->wide = true;
  return DAMO_OK;
}

enum { STAGE_TAKEN = 1, STAGE_ANALYSED, STAGE_FACTORIZED };

/* Tells that a stage is done, unless it was told before: a back end may give way to another. */
static damo_status factor_tell(damo_factor *f, int stage) {
  if (f->watch == NULL || stage <= f->told) return DAMO_OK;
  f->told = stage;
  return f->watch->tell(f->watch->user, stage, STAGE_FACTORIZED);
}

/* Factorizes M, after an analysis unless the back end is kept; if int32 indices do not suffice, again with int64
 * ones. */
static damo_status factor_make_with(damo_factor *f, factor_method method, bool keep) {
  f->too_large = false;
  damo_status status = keep ? DAMO_OK : factor_analyze(f, method);
  if (status == DAMO_OK) status = factor_tell(f, STAGE_ANALYSED);
  if (status == DAMO_OK) status = factor_compute(f);
  if (status == DAMO_OK || !f->too_large) return status;
  ctx_clear_error(f->obj.ctx);
  factor_drop_backend(f);
  DAMO_TRY(factor_widen(&f->m));
  f->widened = true;
  DAMO_TRY(factor_analyze(f, method));
  return factor_compute(f);
}

static damo_status factor_install(damo_factor *f, factor_matrix *take, factor_method wanted, bool was_flipped) {
  damo_ctx *ctx = f->obj.ctx;
  const bool same = factor_same_pattern(&f->m, take) && was_flipped == f->flipped;
  const bool usable = same && f->backend;
  if (usable && f->fault != FACTOR_EMPTY && memcmp(f->m.x, take->x, (size_t)take->nnz * factor_entry(take)) == 0) {
    factor_matrix_clear(ctx, take);
    return DAMO_OK;
  }
  if (!same) factor_drop_backend(f); /* its analysis is that of the old M */
  factor_matrix_clear(ctx, &f->m);
  f->m = *take;
  f->fault = FACTOR_EMPTY; /* until the factorization succeeds */
  if (f->m.rows == 0 || f->m.cols == 0) {
    factor_drop_backend(f);
    f->fault = FACTOR_FINE;
    return DAMO_OK;
  }
  const factor_method method = usable && f->gave_up ? FACTOR_LU : wanted;
  const damo_status status = factor_make_with(f, method, usable && f->backend->method == method);
  if (status == DAMO_OK) return DAMO_OK;
  factor_drop_backend(f);
  f->fault = FACTOR_EMPTY;
  return status;
}

static damo_status factor_fail_shape(damo_factor *f, const int64_t *shape, const char *why) {
  return ctx_fail(f->obj.ctx, DAMO_ESHAPE, "the matrix has shape (%lld, %lld), expected a square one%s",
                  (long long)shape[0], (long long)shape[1], why);
}

damo_status factor_need_square(damo_factor *f, const char *why) {
  return f->shape[0] == f->shape[1] ? DAMO_OK : factor_fail_shape(f, f->shape, why);
}

static damo_status factor_check_shape(damo_factor *f, damo_sparse *a) {
  const bool hermitian = f->assume == FACTOR_ASSUME_POS || f->assume == FACTOR_ASSUME_SYM;
  if (!hermitian || a->shape[0] == a->shape[1]) return DAMO_OK;
  return factor_fail_shape(f, a->shape, f->assume == FACTOR_ASSUME_POS ? " under assume='pos'" : " under assume='sym'");
}

static damo_status factor_refresh_as(damo_factor *f, damo_sparse *a) {
  factor_matrix m;
  factor_method method;
  const bool was_flipped = f->flipped;
  damo_status status = factor_prepare(f, a, &m, &method);
  if (status == DAMO_OK && f->widened && !m.wide) status = factor_widen(&m);
  if (status == DAMO_OK) status = factor_tell(f, STAGE_TAKEN);
  if (status == DAMO_OK) return factor_install(f, &m, method, was_flipped);
  factor_matrix_clear(f->obj.ctx, &m);
  f->flipped = was_flipped;
  f->fault = FACTOR_EMPTY;
  return status;
}

/* Least squares. If A has more columns than rows, the QR factorization is that of Aᴴ, which gives minimum-norm
 * solutions; if its rank turns out to be less than its rows, that of A itself, and later refreshes try A first. */
static damo_status factor_refresh_least(damo_factor *f, damo_sparse *a) {
  const int64_t rows = a->shape[0];
  const bool more_columns = rows < a->shape[1];
  f->conjugated = more_columns && !f->basic;
  DAMO_TRY(factor_refresh_as(f, a));
  const bool basic = more_columns && f->backend && f->rank < rows;
  if (more_columns && f->backend && basic == f->conjugated) {
    f->conjugated = !basic;
    DAMO_TRY(factor_refresh_as(f, a));
  }
  f->basic = basic;
  return DAMO_OK;
}

/* Whether a has the arrays of the last call and unchanged values; compares without a copy. */
static bool factor_is_unchanged(const damo_factor *f, const damo_sparse *a) {
  const damo_format format = (f->least ? f->conjugated : f->flipped) ? DAMO_CSR : DAMO_CSC;
  return f->fault != FACTOR_EMPTY && f->m.indptr && a->indptr->data == f->m.indptr->data &&
         a->indices->data == f->m.indices->data && sparse_format(a) == format && sparse_is_canonical(a) &&
         sparse_dtype(a) == f->dtype && f->dtype == factor_work_dtype(f->dtype) && sparse_nnz(a) == f->m.nnz &&
         a->shape[0] == f->shape[0] && a->shape[1] == f->shape[1] &&
         memcmp(a->data->data, f->m.x, (size_t)f->m.nnz * factor_entry(&f->m)) == 0;
}

damo_status factor_refresh(damo_factor *f, damo_sparse *a) {
  if (factor_is_unchanged(f, a)) return DAMO_OK;
  DAMO_TRY(factor_check_shape(f, a));
  f->dtype = dtype_is_discrete(sparse_dtype(a)) ? DAMO_FLOAT64 : sparse_dtype(a);
  f->shape[0] = a->shape[0], f->shape[1] = a->shape[1];
  f->least = f->asked_least || a->shape[0] != a->shape[1];
  if (!f->least) f->conjugated = f->basic = false;
  return f->least ? factor_refresh_least(f, a) : factor_refresh_as(f, a);
}

static damo_factor *factor_make(damo_sparse *a, factor_assume assume, bool least, const factor_watch *watch) {
  damo_factor *f = obj_new(a->obj.ctx, OBJ_FACTOR, sizeof *f);
  if (!f) return NULL;
  f->assume = assume;
  f->asked_least = least;
  f->fault = FACTOR_EMPTY;
  f->watch = watch;
  const bool made = factor_refresh(f, a) == DAMO_OK && factor_tell(f, STAGE_FACTORIZED) == DAMO_OK;
  f->watch = NULL;
  if (made) return f;
  damo_release(f);
  return NULL;
}

damo_factor *factor_new(damo_sparse *a, factor_assume assume) { return factor_make(a, assume, false, NULL); }

damo_factor *factor_new_watched(damo_sparse *a, factor_assume assume, const factor_watch *watch) {
  return factor_make(a, assume, false, watch);
}

damo_factor *factor_new_least_squares(damo_sparse *a) { return factor_make(a, FACTOR_ASSUME_NONE, true, NULL); }

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static damo_status factor_fail_singular(damo_factor *f, const char *why) {
  return ctx_fail(f->obj.ctx, DAMO_ENUMERIC,
                  "the matrix is singular%s: pivot %lld of %lld (column %lld) %s; rcond is %.3g%s",
                  f->rcond > 0 ? " to working precision" : "", (long long)f->step + 1, (long long)f->m.cols,
                  factor_column_of_a(f), f->rcond > 0 ? "is the smallest" : "is 0", f->rcond, why);
}

damo_status factor_check(damo_factor *f) {
  char why[96] = "";
  if (f->fault == FACTOR_EMPTY)
    return ctx_fail(f->obj.ctx, DAMO_ESTATE, "the factorization failed before: it holds no factor");
  if (f->least || !f->backend) return DAMO_OK;
  if (f->fault == FACTOR_SINGULAR) {
    f->rcond = 0;
    return factor_fail_singular(f, why);
  }
  DAMO_TRY(factor_estimate(f, false));
  const bool single = f->dtype == DAMO_FLOAT32 || f->dtype == DAMO_COMPLEX64;
  const double epsilon = single ? FLT_EPSILON : DBL_EPSILON;
  if (f->rcond >= epsilon) return DAMO_OK;
  factor_pivots found = {.smallest = INFINITY};
  DAMO_TRY(f->backend->pivots(f, false, &found));
  f->step = found.step, f->row = found.row, f->column = found.column;
  snprintf(why, sizeof why, ", below the epsilon of %s, %.3g", dtype_name(f->dtype), epsilon);
  return factor_fail_singular(f, why);
}

static const char *const FACTOR_METHOD_NAMES[] = {
    [FACTOR_LU] = "lu", [FACTOR_CHOLESKY] = "cholesky", [FACTOR_LDL] = "ldl", [FACTOR_QR] = "qr"};

factor_info factor_get_info(const damo_factor *f) {
  return (factor_info){.backend = f->backend ? f->backend->name : "none",
                       .kind = f->backend ? FACTOR_METHOD_NAMES[f->backend->method] : "none",
                       .rows = f->shape[0],
                       .cols = f->shape[1],
                       .analyses = f->analyses,
                       .factorizations = f->factorizations,
                       .bytes = f->charged,
                       .singular = f->fault == FACTOR_SINGULAR,
                       .positive = f->backend && f->backend->method == FACTOR_CHOLESKY,
                       .dtype = f->dtype,
                       .minimum_norm = f->least && f->conjugated,
                       .refinements = f->refinements,
                       .least_squares = f->asked_least,
                       .rectangular = f->shape[0] != f->shape[1]};
}

int64_t factor_rank(const damo_factor *f) { return f->backend ? f->rank : 0; }
