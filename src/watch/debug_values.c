/* debug_values.c: whether two values agree up to rounding. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "watch_int.h"
#include "sparse/sparse.h"

/* The largest difference between entries of a dtype that still counts as agreement: relative to the entry, relative to
 * the largest entry, and relative to the sum of the terms' moduli. The last one is only a multiple of the unit
 * roundoff. */
typedef struct agreement_tolerance {
  double relative, absolute, rounding;
} agreement_tolerance;

#define ROUNDINGS 1024 /* number of rounding errors allowed in a sum of terms */

static agreement_tolerance tolerance_of(damo_dtype dt, bool lenient) {
  double more = lenient ? 10 : 1;
  if (dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64)
    return (agreement_tolerance){1e-4 * more, 1e-5 * more, ROUNDINGS * FLT_EPSILON};
  return (agreement_tolerance){1e-7 * more, 1e-10 * more, ROUNDINGS * DBL_EPSILON};
}

/* Everything that a comparison of entries depends on. */
typedef struct agreement {
  bool lenient;
  agreement_tolerance t;
  double largest;         /* modulus of the largest entry */
  const damo_array *size; /* for each entry the sum of its terms' moduli, or NULL */
} agreement;

static damo_c128 scalar_c128(scalar s) { return scalar_cast(s, DAMO_COMPLEX128).v.c; }

static bool finite_parts(damo_c128 z) { return isfinite(z.re) && isfinite(z.im); }

static bool same_part(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* The rounding allowed at an entry; 0 where the sum of moduli has overflowed, which bounds nothing. */
static double rounding_at(const agreement *m, const int64_t *index) {
  if (m->size == NULL) return 0;
  const double size = scalar_c128(array_get(m->size, index)).re;
  return isfinite(size) ? m->t.rounding * size : 0;
}

static bool entries_agree(scalar x, scalar y, const agreement *m, const int64_t *index) {
  const bool lenient = m->lenient;
  if (dtype_is_discrete(x.dtype)) return x.v.i == y.v.i;
  damo_c128 a = scalar_c128(x), b = scalar_c128(y);
  if (!finite_parts(a)) {
    bool gained = lenient && finite_parts(b);
    return gained || (same_part(a.re, b.re) && same_part(a.im, b.im)) || (lenient && !finite_parts(b));
  }
  if (!finite_parts(b)) return false;
  double distance = hypot(a.re - b.re, a.im - b.im);
  if (distance <= m->t.relative * hypot(a.re, a.im) + m->t.absolute * m->largest) return true;
  return distance <= rounding_at(m, index);
}

static double largest_entry(const damo_array *a) {
  double most = 0;
  array_entries e;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e)) {
    damo_c128 z = scalar_c128(scalar_load(array_dtype(a), p));
    double size = hypot(z.re, z.im);
    if (isfinite(size) && size > most) most = size;
  }
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

static void difference_text(char *text, size_t n, const damo_array *a, const int64_t *index, scalar x, scalar y) {
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

static agreement agreement_of(const damo_array *a, const damo_array *size, bool lenient) {
  agreement m = {.lenient = lenient, .t = tolerance_of(array_dtype(a), lenient)};
  if (!dtype_is_discrete(array_dtype(a))) m.largest = largest_entry(a);
  /* log(1 + x) has no correct digit for a tiny x, where log1p(x) is accurate */
  if (lenient && m.largest < 1) m.largest = 1;
  if (size != NULL && array_same_shape(a, size)) m.size = size;
  return m;
}

static bool arrays_agree(const damo_array *a, const damo_array *b, const damo_array *size, bool lenient, char *text,
                         size_t n) {
  char x[160], y[160];
  if (a->dtype != b->dtype || !array_same_shape(a, b)) {
    snprintf(text, n, "%s %s against %s %s", dtype_name(array_dtype(a)),
             shape_format(x, sizeof x, a->ndim, array_shape(a)), dtype_name(array_dtype(b)),
             shape_format(y, sizeof y, b->ndim, array_shape(b)));
    return false;
  }
  damo_array *x_once, *y_once;
  if (size == NULL && spread_once(a, b, &x_once, &y_once)) {
    const bool agree = arrays_agree(x_once, y_once, NULL, lenient, text, n);
    damo_release(x_once);
    damo_release(y_once);
    return agree;
  }
  if (array_size(a) == 0 || array_equal(a, b, true)) return true;
  const agreement m = agreement_of(a, size, lenient);
  array_places e;
  for (char *at = places_begin(&e, a); at; at = places_next(&e, at)) {
    const int64_t *index = e.walk.at;
    scalar p = scalar_load(array_dtype(a), at), q = array_get(b, index);
    if (entries_agree(p, q, &m, index)) continue;
    difference_text(text, n, a, index, p, q);
    return false;
  }
  return true;
}

static bool has_shape(const damo_obj *terms, const damo_sparse *m) {
  int ndim;
  const int64_t *shape = terms != NULL ? value_shape(terms, &ndim) : NULL;
  return shape != NULL && ndim == 2 && shape[0] == m->shape[0] && shape[1] == m->shape[1];
}

/* The entries of terms, dense or sparse, at the positions of m's entries. */
static damo_array *size_at(const damo_obj *terms, const damo_sparse *m) {
  if (terms->kind == OBJ_SPARSE) return sparse_at((damo_sparse *)(uintptr_t)terms, m);
  return sparse_at_dense((const damo_array *)terms, m);
}

/* Compares a's entries, duplicates summed, with b's values at the same positions. */
static bool entries_found(damo_sparse *a, damo_sparse *b, const damo_obj *terms, bool lenient, char *text, size_t n) {
  const bool sized = has_shape(terms, a);
  damo_sparse *once = sparse_sum_duplicates(a);
  damo_array *at = once != NULL ? sparse_at(b, once) : NULL;
  damo_array *size = at != NULL && sized ? size_at(terms, once) : NULL;
  const bool able = at != NULL && (!sized || size != NULL);
  const bool agree = !able || arrays_agree(once->data, at, size, lenient, text, n);
  if (!able) ctx_clear_error(a->obj.ctx); /* no memory for the comparison */
  damo_release(once);
  damo_release(at);
  damo_release(size);
  return agree;
}

/* Whether two sparse values agree as matrices: the order of entries and explicit zeros don't matter. */
static bool matrices_agree(damo_sparse *a, damo_sparse *b, const damo_obj *terms, bool lenient, char *text, size_t n) {
  char x[80], y[80];
  const bool alike = a->format == b->format && sparse_dtype(a) == sparse_dtype(b) && a->shape[0] == b->shape[0] &&
                     a->shape[1] == b->shape[1];
  if (!alike) {
    snprintf(text, n, "%s %s %s against %s %s %s", sparse_format_name(sparse_format(a)), dtype_name(sparse_dtype(a)),
             shape_format(x, sizeof x, 2, a->shape), sparse_format_name(sparse_format(b)), dtype_name(sparse_dtype(b)),
             shape_format(y, sizeof y, 2, b->shape));
    return false;
  }
  if (entries_found(a, b, terms, lenient, text, n) && entries_found(b, a, terms, lenient, text, n)) return true;
  const size_t used = strlen(text);
  snprintf(text + used, n - used, " of the stored entries");
  return false;
}

/* Values that are neither arrays nor sparse matrices have no entries, and agree. */
bool debug_agree_within(const damo_obj *a, const damo_obj *b, const damo_obj *terms, bool lenient, char *text,
                        size_t n) {
  if (a == NULL || b == NULL || a->kind != b->kind) {
    snprintf(text, n, "values of different kinds");
    return a == b;
  }
  if (a == b) return true;
  if (a->kind == OBJ_SPARSE) {
    return matrices_agree((damo_sparse *)(uintptr_t)a, (damo_sparse *)(uintptr_t)b, terms, lenient, text, n);
  }
  if (a->kind != OBJ_ARRAY) return true;
  const damo_array *size = terms != NULL && terms->kind == OBJ_ARRAY ? (const damo_array *)terms : NULL;
  return arrays_agree((const damo_array *)a, (const damo_array *)b, size, lenient, text, n);
}

bool debug_agree(const damo_obj *a, const damo_obj *b, bool lenient, char *text, size_t n) {
  return debug_agree_within(a, b, NULL, lenient, text, n);
}
