/* inverse: the entries of the inverse on A's pattern (the gradient of a determinant), from triangular factors.
 *
 * UMFPACK drops entries of L and U that cancel to exactly 0, and then a position that the recurrence needs may be
 * missing. In that case KLU, which keeps them all, factorizes the matrix once more. */
#include "factor_int.h"

/* The position of `want` in i[from … to - 1], which ascends; −1 if it is not there. */
static int64_t inverse_find_place(const int64_t *i, int64_t from, int64_t to, int64_t want) {
  while (from < to) {
    const int64_t mid = from + (to - from) / 2;
    if (i[mid] == want) return mid;
    if (i[mid] < want)
      from = mid + 1;
    else
      to = mid;
  }
  return -1;
}

#define REAL_CONJ(a) (a)
#define REAL_MUL(a, b) ((a) * (b))

#define T double
#define MUL REAL_MUL
#define CONJ REAL_CONJ
#define NAME(name) inverse_##name##_d
#include "inverse_body.h"
#undef T
#undef MUL
#undef CONJ
#undef NAME

#define T zdouble
#define MUL zmul
#define CONJ conj
#define NAME(name) inverse_##name##_z
#include "inverse_body.h"
#undef T
#undef MUL
#undef CONJ
#undef NAME
#undef REAL_CONJ
#undef REAL_MUL

/* From the factors of f's back end. *complete: no position was missing. */
static damo_status inverse_from_factors(damo_factor *f, double *out, bool *complete) {
  damo_ctx *ctx = f->obj.ctx;
  factor_lu lu = {0};
  damo_status status = f->backend->extract(f, &lu);
  if (status == DAMO_OK) status = (f->m.cplx ? inverse_selected_z : inverse_selected_d)(ctx, &f->m, &lu, out, complete);
  factor_lu_clear(ctx, &lu);
  return status;
}

#if DAMO_SUITESPARSE
/* From a second factorization of M, by KLU, which is not kept. */
static damo_status inverse_from_klu(damo_factor *f, double *out) {
  damo_factor other = *f;
  bool complete;
  other.backend = &solve_klu[f->m.wide];
  other.state = NULL;
  other.charged = 0;
  other.choose_pivots = other.kept_pivots = false;
  damo_status status = other.backend->analyze(&other);
  if (status == DAMO_OK) status = other.backend->factorize(&other);
  if (status == DAMO_OK && other.fault == FACTOR_SINGULAR)
    status = ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "the matrix is singular: its inverse has no entries");
  if (status == DAMO_OK) status = inverse_from_factors(&other, out, &complete);
  other.backend->free(&other);
  factor_charge(&other, 0);
  return status;
}
#else
/* Not reached: the factors of a Hermitian matrix have all positions of M. */
static damo_status inverse_from_klu(damo_factor *f, double *out) {
  (void)out;
  return factor_fail_size(f);
}
#endif

/* (M⁻¹)ᵀ at M's stored positions. */
static damo_status inverse_selected(damo_factor *f, double *out) {
  bool complete = true;
  if (f->backend->inverse) return f->backend->inverse(f, out);
  const damo_status status = inverse_from_factors(f, out, &complete);
  return status != DAMO_OK || complete ? status : inverse_from_klu(f, out);
}

/* The entry of M for an entry of a, by its major and minor position; −1 if there is none. */
static int64_t inverse_entry_of(const damo_factor *f, bool transposed, int64_t major, int64_t index) {
  const factor_matrix *m = &f->m;
  const int64_t column = transposed ? index : major, want = transposed ? major : index;
  int64_t from = sparse_index_get(m->indptr->data, m->wide, column),
          to = sparse_index_get(m->indptr->data, m->wide, column + 1);
  while (from < to) {
    const int64_t mid = from + (to - from) / 2, at = sparse_index_get(m->indices->data, m->wide, mid);
    if (at == want) return mid;
    if (at < want)
      from = mid + 1;
    else
      to = mid;
  }
  return -1;
}

/* Copies values from M's entries to a's. */
static damo_status inverse_to_entries(const damo_factor *f, const damo_sparse *a, const double *x, double *out) {
  const bool wide = sparse_is_wide(a), transposed = (sparse_format(a) == DAMO_CSR) != f->flipped;
  const size_t per = f->m.cplx ? 2 : 1;
  if (a->indices->data == f->m.indices->data && a->indptr->data == f->m.indptr->data && !transposed) {
    memcpy(out, x, (size_t)f->m.nnz * per * sizeof *x);
    return DAMO_OK;
  }
  for (int64_t major = 0; major < sparse_major(a); major++) {
    const int64_t end = sparse_index_get(a->indptr->data, wide, major + 1);
    for (int64_t k = sparse_index_get(a->indptr->data, wide, major); k < end; k++) {
      const int64_t from = inverse_entry_of(f, transposed, major, sparse_index_get(a->indices->data, wide, k));
      if (from < 0)
        return ctx_fail(f->obj.ctx, DAMO_EVALUE, "the matrix has not the pattern that the factor was made with");
      memcpy(out + (size_t)k * per, x + (size_t)from * per, per * sizeof *x);
    }
  }
  return DAMO_OK;
}

damo_array *factor_inverse_entries(damo_factor *f, damo_sparse *a) {
  damo_ctx *ctx = f->obj.ctx;
  if (factor_need_square(f, " for entries of its inverse") != DAMO_OK) return NULL;
  if (f->least || a->shape[0] != f->shape[0] || a->shape[1] != f->shape[1]) {
    ctx_fail(ctx, DAMO_ESHAPE, "the matrix has shape (%lld, %lld), the factor that of a %s one of (%lld, %lld)",
             (long long)a->shape[0], (long long)a->shape[1], f->least ? "least-squares" : "square",
             (long long)f->shape[0], (long long)f->shape[1]);
    return NULL;
  }
  if (factor_check(f) != DAMO_OK) return NULL;
  const size_t bytes = (size_t)f->m.nnz * factor_entry(&f->m);
  double *x = mem_alloc(ctx, bytes);
  damo_array *wide = x ? sparse_vector(ctx, f->m.cplx ? DAMO_COMPLEX128 : DAMO_FLOAT64, sparse_nnz(a)) : NULL;
  damo_array *out = NULL;
  if (wide && (!f->backend || inverse_selected(f, x) == DAMO_OK) &&
      inverse_to_entries(f, a, x, (double *)(void *)wide->data) == DAMO_OK)
    out = array_dtype(wide) == f->dtype ? damo_retain(wide) : array_cast(wide, f->dtype);
  damo_release(wide);
  mem_free(ctx, x, bytes);
  return out;
}
