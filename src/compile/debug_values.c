/* debug_values.c: do two values agree? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compile_int.h"

/* How far apart entries of a dtype may be: relatively, and as a part of the largest entry. */
typedef struct tolerance {
  double relative, absolute;
} tolerance;

static tolerance tolerance_of(damo_dtype dt, bool lenient) {
  double more = lenient ? 10 : 1;
  if (dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64) return (tolerance){1e-4 * more, 1e-5 * more};
  return (tolerance){1e-7 * more, 1e-10 * more};
}

static damo_c128 parts(scalar s) { return scalar_cast(s, DAMO_COMPLEX128).v.c; }

static bool finite_parts(damo_c128 z) { return isfinite(z.re) && isfinite(z.im); }

static bool same_part(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool entries_agree(scalar x, scalar y, tolerance t, double largest, bool lenient) {
  if (dtype_is_discrete(x.dtype)) return x.v.i == y.v.i;
  damo_c128 a = parts(x), b = parts(y);
  if (!finite_parts(a)) {
    bool gained = lenient && finite_parts(b);
    return gained || (same_part(a.re, b.re) && same_part(a.im, b.im)) || (lenient && !finite_parts(b));
  }
  if (!finite_parts(b)) return false;
  double apart = hypot(a.re - b.re, a.im - b.im);
  return apart <= t.relative * hypot(a.re, a.im) + t.absolute * largest;
}

static bool next_index(const damo_array *a, int64_t *index) {
  for (int d = a->ndim - 1; d >= 0; d--) {
    if (++index[d] < array_shape(a)[d]) return true;
    index[d] = 0;
  }
  return false;
}

static double largest_entry(const damo_array *a) {
  int64_t index[DAMO_MAX_NDIM] = {0};
  double most = 0;
  do {
    damo_c128 z = parts(array_get(a, index));
    double size = hypot(z.re, z.im);
    if (isfinite(size) && size > most) most = size;
  } while (next_index(a, index));
  return most;
}

static void entry_text(char *dst, size_t n, scalar s) {
  if (dtype_is_complex(s.dtype)) {
    snprintf(dst, n, "%.17g%+.17gi", s.v.c.re, s.v.c.im);
  } else if (dtype_is_float(s.dtype)) {
    snprintf(dst, n, "%.17g", s.v.f);
  } else {
    snprintf(dst, n, "%lld", (long long)scalar_to_int64(s));
  }
}

static void tell(char *text, size_t n, const damo_array *a, const int64_t *index, scalar x, scalar y) {
  char one[80], two[80], place[200];
  size_t at = 0;
  place[0] = '\0';
  for (int d = 0; d < a->ndim && at + 24 < sizeof place; d++) {
    at += (size_t)snprintf(place + at, sizeof place - at, "%s%lld", d == 0 ? " at {" : ", ", (long long)index[d] + 1);
  }
  entry_text(one, sizeof one, x);
  entry_text(two, sizeof two, y);
  snprintf(text, n, "%s against %s%s%s", one, two, place, a->ndim > 0 ? "}" : "");
}

static bool arrays_agree(const damo_array *a, const damo_array *b, bool lenient, char *text, size_t n) {
  char x[160], y[160];
  bool alike = a->dtype == b->dtype && a->ndim == b->ndim;
  for (int d = 0; alike && d < a->ndim; d++) alike = array_shape(a)[d] == array_shape(b)[d];
  if (!alike) {
    snprintf(text, n, "%s %s against %s %s", dtype_name(array_dtype(a)),
             shape_format(x, sizeof x, a->ndim, array_shape(a)), dtype_name(array_dtype(b)),
             shape_format(y, sizeof y, b->ndim, array_shape(b)));
    return false;
  }
  if (array_size(a) == 0 || array_equal(a, b, true)) return true;
  tolerance t = tolerance_of(array_dtype(a), lenient);
  double largest = dtype_is_discrete(array_dtype(a)) ? 0 : largest_entry(a);
  if (lenient && largest < 1) largest = 1; /* log(1 + x) of a tiny x has no digit right; log1p(x) has */
  int64_t index[DAMO_MAX_NDIM] = {0};
  do {
    scalar p = array_get(a, index), q = array_get(b, index);
    if (entries_agree(p, q, t, largest, lenient)) continue;
    tell(text, n, a, index, p, q);
    return false;
  } while (next_index(a, index));
  return true;
}

/* b's values at the places of a's entries, each place once, against a's. */
static bool entries_found(damo_sparse *a, damo_sparse *b, bool lenient, char *text, size_t n) {
  damo_sparse *once = sparse_sum_duplicates(a);
  damo_array *at = once != NULL ? sparse_at(b, once) : NULL;
  const bool agree = at == NULL || arrays_agree(once->data, at, lenient, text, n);
  if (at == NULL) ctx_clear_error(a->obj.ctx); /* no memory to compare in */
  damo_release(once);
  damo_release(at);
  return agree;
}

/* As matrices: the order of entries and explicit zeros don't matter. */
static bool matrices_agree(damo_sparse *a, damo_sparse *b, bool lenient, char *text, size_t n) {
  char x[80], y[80];
  const bool alike = a->format == b->format && sparse_dtype(a) == sparse_dtype(b) && a->shape[0] == b->shape[0] &&
                     a->shape[1] == b->shape[1];
  if (!alike) {
    snprintf(text, n, "%s %s %s against %s %s %s", sparse_format_name(sparse_format(a)), dtype_name(sparse_dtype(a)),
             shape_format(x, sizeof x, 2, a->shape), sparse_format_name(sparse_format(b)), dtype_name(sparse_dtype(b)),
             shape_format(y, sizeof y, 2, b->shape));
    return false;
  }
  if (entries_found(a, b, lenient, text, n) && entries_found(b, a, lenient, text, n)) return true;
  const size_t used = strlen(text);
  snprintf(text + used, n - used, " of the stored entries");
  return false;
}

/* (Values of other kinds have no entries: they agree.) */
bool debug_agree(const damo_obj *a, const damo_obj *b, bool lenient, char *text, size_t n) {
  if (a == NULL || b == NULL || a->kind != b->kind) {
    snprintf(text, n, "values of different kinds");
    return a == b;
  }
  if (a == b) return true;
  if (a->kind == OBJ_SPARSE) {
    return matrices_agree((damo_sparse *)(uintptr_t)a, (damo_sparse *)(uintptr_t)b, lenient, text, n);
  }
  if (a->kind != OBJ_ARRAY) return true;
  return arrays_agree((const damo_array *)a, (const damo_array *)b, lenient, text, n);
}
