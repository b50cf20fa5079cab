/* equal: equality by pattern and by value. Both operands are brought to one canonical form first. */
#include <math.h>
#include <string.h>

#include "sparse/sparse_int.h"

/* a in canonical form, with that format and index dtype; NULL: failed. */
static damo_sparse *sp_compare_form(damo_sparse *a, damo_format format, damo_dtype itype) {
  damo_sparse *b = sparse_to_format(a, format);
  damo_sparse *c = b ? sparse_sum_duplicates(b) : NULL;
  damo_sparse *d = c ? sparse_to_itype(c, itype) : NULL;
  damo_release(b);
  damo_release(c);
  return d;
}

static damo_status sp_compare_forms(damo_sparse *a, damo_sparse *b, damo_sparse **x, damo_sparse **y) {
  const damo_dtype itype = sparse_is_wide(a) || sparse_is_wide(b) ? DAMO_INT64 : DAMO_INT32;
  *y = NULL;
  *x = sp_compare_form(a, sparse_format(a), itype);
  if (*x) *y = sp_compare_form(b, sparse_format(a), itype);
  damo_assert(!*y || (sparse_is_canonical(*x) && sparse_is_canonical(*y) && sparse_itype(*x) == sparse_itype(*y)));
  if (*y) return DAMO_OK;
  damo_release(*x);
  return a->obj.ctx->error.status;
}

static bool sp_same_shape(const damo_sparse *a, const damo_sparse *b) {
  return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1];
}

static bool sp_same_bytes(const damo_array *a, const damo_array *b) {
  const size_t n = (size_t)array_size(a) * dtype_size(array_dtype(a));
  return array_size(a) == array_size(b) && (n == 0 || memcmp(a->data, b->data, n) == 0);
}

damo_status sparse_same_pattern(damo_sparse *a, damo_sparse *b, bool *out) {
  damo_sparse *x, *y;
  *out = false;
  if (!sp_same_shape(a, b)) return DAMO_OK;
  DAMO_TRY(sp_compare_forms(a, b, &x, &y));
  *out = sp_same_bytes(x->indptr, y->indptr) && sp_same_bytes(x->indices, y->indices);
  damo_release(x);
  damo_release(y);
  return DAMO_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

typedef struct sp_tolerance {
  bool exact, equal_nan;
  double rtol, atol;
} sp_tolerance;

static bool sp_value_is_nan(damo_c128 z) { return isnan(z.re) || isnan(z.im); }

static bool sp_values_agree(damo_c128 a, damo_c128 b, const sp_tolerance *t) {
  if (a.re == b.re && a.im == b.im) return true;
  if (sp_value_is_nan(a) || sp_value_is_nan(b)) return t->equal_nan && sp_value_is_nan(a) && sp_value_is_nan(b);
  if (t->exact || !isfinite(b.re) || !isfinite(b.im)) return false;
  return hypot(a.re - b.re, a.im - b.im) <= t->atol + t->rtol * hypot(b.re, b.im);
}

/* One merge of both; an entry that only one of them stores is compared with 0. xv and yv: the values as 64-bit words where
 * `integer`, else as complex128. */
static bool sp_compare_majors(const damo_sparse *x, const void *xv, const damo_sparse *y, const void *yv, bool integer,
                              const sp_tolerance *t) {
  const bool wide = sparse_is_wide(x);
  for (int64_t i = 0; i < sparse_major(x); i++) {
    int64_t p = sparse_index_get(x->indptr->data, wide, i), q = sparse_index_get(y->indptr->data, wide, i);
    const int64_t pn = sparse_index_get(x->indptr->data, wide, i + 1),
                  qn = sparse_index_get(y->indptr->data, wide, i + 1);
    while (p < pn || q < qn) {
      const int64_t j = p < pn ? sparse_index_get(x->indices->data, wide, p) : INT64_MAX,
                    k = q < qn ? sparse_index_get(y->indices->data, wide, q) : INT64_MAX;
      const bool in_x = j <= k, in_y = k <= j;
      if (integer) {
        const uint64_t a = in_x ? ((const uint64_t *)xv)[p] : 0, b = in_y ? ((const uint64_t *)yv)[q] : 0;
        if (a != b) return false;
      } else {
        const damo_c128 zero = {0, 0}, a = in_x ? ((const damo_c128 *)xv)[p] : zero,
                        b = in_y ? ((const damo_c128 *)yv)[q] : zero;
        if (!sp_values_agree(a, b, t)) return false;
      }
      p += in_x;
      q += in_y;
    }
  }
  return true;
}

static damo_status sp_compare(damo_sparse *a, damo_sparse *b, const sp_tolerance *t, bool *out) {
  damo_sparse *x, *y;
  *out = false;
  if (!sp_same_shape(a, b)) return DAMO_OK;
  DAMO_TRY(sp_compare_forms(a, b, &x, &y));
  const bool integer = t->exact && dtype_is_discrete(sparse_dtype(a));
  const damo_dtype as = !integer ? DAMO_COMPLEX128 : dtype_is_signed(sparse_dtype(a)) ? DAMO_INT64 : DAMO_UINT64;
  damo_array *xv = array_as_contiguous(x->data, as), *yv = xv ? array_as_contiguous(y->data, as) : NULL;
  damo_status status = yv ? DAMO_OK : a->obj.ctx->error.status;
  if (yv) *out = sp_compare_majors(x, xv->data, y, yv->data, integer, t);
  damo_release(xv);
  damo_release(yv);
  damo_release(x);
  damo_release(y);
  return status;
}

damo_status sparse_equal(damo_sparse *a, damo_sparse *b, bool equal_nan, bool *out) {
  const sp_tolerance t = {.exact = true, .equal_nan = equal_nan};
  *out = false;
  return sparse_dtype(a) == sparse_dtype(b) ? sp_compare(a, b, &t, out) : DAMO_OK;
}

damo_status sparse_allclose(damo_sparse *a, damo_sparse *b, double rtol, double atol, bool equal_nan, bool *out) {
  const sp_tolerance t = {.equal_nan = equal_nan, .rtol = rtol, .atol = atol};
  return sp_compare(a, b, &t, out);
}
