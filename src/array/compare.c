/* compare: exact and approximate equality of arrays, block by block. */
#include <math.h>
#include <string.h>

#include "array_int.h"

bool array_same_shape(const damo_array *a, const damo_array *b) {
  return a->ndim == b->ndim && memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof(int64_t)) == 0;
}

static bool equal_f64(double a, double b, bool equal_nan) { return a == b || (equal_nan && isnan(a) && isnan(b)); }

static bool c128_is_nan(damo_c128 z) { return isnan(z.re) || isnan(z.im); }

static bool equal_c128(damo_c128 a, damo_c128 b, bool equal_nan) {
  return (a.re == b.re && a.im == b.im) || (equal_nan && c128_is_nan(a) && c128_is_nan(b));
}

typedef struct closeness {
  double rtol, atol;
  bool equal_nan;
} closeness;

static bool close_f64(double a, double b, const closeness *c) {
  if (equal_f64(a, b, c->equal_nan)) return true;
  return isfinite(b) && fabs(a - b) <= c->atol + c->rtol * fabs(b);
}

static bool close_c128(damo_c128 a, damo_c128 b, const closeness *c) {
  if (equal_c128(a, b, c->equal_nan)) return true;
  return isfinite(b.re) && isfinite(b.im) && hypot(a.re - b.re, a.im - b.im) <= c->atol + c->rtol * hypot(b.re, b.im);
}

/* Compares n elements of both arrays, cast to one dtype: float64 or complex128. */
typedef bool (*block_test)(const void *a, const void *b, int64_t n, const closeness *c);

static bool test_f64(const void *a, const void *b, int64_t n, const closeness *c) {
  const double *x = a, *y = b;
  for (int64_t i = 0; i < n; i++) {
    if (!close_f64(x[i], y[i], c)) return false;
  }
  return true;
}

static bool test_c128(const void *a, const void *b, int64_t n, const closeness *c) {
  const damo_c128 *x = a, *y = b;
  for (int64_t i = 0; i < n; i++) {
    if (!close_c128(x[i], y[i], c)) return false;
  }
  return true;
}

static bool exact_f64(const void *a, const void *b, int64_t n, const closeness *c) {
  const double *x = a, *y = b;
  for (int64_t i = 0; i < n; i++) {
    if (!equal_f64(x[i], y[i], c->equal_nan)) return false;
  }
  return true;
}

static bool exact_c128(const void *a, const void *b, int64_t n, const closeness *c) {
  const damo_c128 *x = a, *y = b;
  for (int64_t i = 0; i < n; i++) {
    if (!equal_c128(x[i], y[i], c->equal_nan)) return false;
  }
  return true;
}

static bool each_block(const damo_array *a, const damo_array *b, damo_dtype dtype, block_test test,
                       const closeness *c) {
  _Alignas(64) char x[BLOCK_ELEMENTS * 16];
  _Alignas(64) char y[BLOCK_ELEMENTS * 16];
  block_cursor p, q;
  block_cursor_begin(&p, a->data, array_dtype(a), a->ndim, array_shape(a), array_strides(a));
  block_cursor_begin(&q, b->data, array_dtype(b), b->ndim, array_shape(b), array_strides(b));
  for (int64_t left = array_size(a), n; left > 0; left -= n) {
    n = left < BLOCK_ELEMENTS ? left : BLOCK_ELEMENTS;
    block_cursor_read(&p, dtype, x, n);
    block_cursor_read(&q, dtype, y, n);
    bool ok = test ? test(x, y, n, c) : memcmp(x, y, (size_t)n * dtype_size(dtype)) == 0;
    if (!ok) return false;
  }
  return true;
}

bool array_equal(const damo_array *a, const damo_array *b, bool equal_nan) {
  closeness c = {.equal_nan = equal_nan};
  damo_dtype dt = array_dtype(a);
  if (dt != array_dtype(b) || !array_same_shape(a, b)) return false;
  if (dtype_is_complex(dt)) return each_block(a, b, DAMO_COMPLEX128, exact_c128, &c);
  if (dtype_is_float(dt)) return each_block(a, b, DAMO_FLOAT64, exact_f64, &c);
  return each_block(a, b, dt, NULL, &c);
}

bool array_allclose(const damo_array *a, const damo_array *b, double rtol, double atol, bool equal_nan) {
  closeness c = {.rtol = rtol, .atol = atol, .equal_nan = equal_nan};
  if (!array_same_shape(a, b)) return false;
  bool cplx = dtype_is_complex(array_dtype(a)) || dtype_is_complex(array_dtype(b));
  return cplx ? each_block(a, b, DAMO_COMPLEX128, test_c128, &c) : each_block(a, b, DAMO_FLOAT64, test_f64, &c);
}
