/* fft_check: the definition of a Fourier transform, by which DEBUG mode checks Fourier nodes. */
#include <math.h>
#include <string.h>

#include "fft_op.h"
#include "graph/op_check.h"
#include "kernel/walk.h"

#define MOST_TERMS (1 << 22)

static damo_c128 complex_at(const damo_array *a, const int64_t *index) {
  const scalar s = scalar_cast(array_get(a, index), DAMO_COMPLEX128);
  return s.v.c;
}

/* Entry j of the n points that are transformed: 0 past the operand's end; half a spectrum is continued by conjugates. */
static damo_c128 point_at(const damo_op *op, const damo_array *x, int64_t *index, int64_t j, int64_t n) {
  const fft_kind kind = fourier_kind(op);
  const int axis = fourier_axis(op);
  const bool other = kind == FFT_FROM_HALF && 2 * j > n;
  index[axis] = other ? n - j : j;
  if (index[axis] >= array_shape(x)[axis]) return (damo_c128){0, 0};
  damo_c128 z = complex_at(x, index);
  if (kind != FFT_FROM_HALF) return z;
  const bool alone = j == 0 || 2 * j == n;
  const double w = alone ? 1 : fourier_interior(op);
  return (damo_c128){w * z.re, alone ? 0 : other ? -w * z.im : w * z.im};
}

/* The largest difference from the sum of the definition, relative to the sum of the moduli of its terms. */
static double fourier_judge(const op_exam *e) {
  const damo_op *op = e->node->op;
  const damo_array *x = (const damo_array *)e->values[0], *y = (const damo_array *)e->results[0];
  const int axis = fourier_axis(op);
  const int64_t n = e->node->n_in == 2 ? exam_int_at((const damo_array *)e->values[1], 0) : array_shape(x)[axis];
  const int64_t size = array_size(y);
  const double sign = OP_PROPS(op, fourier_props)->inverse.u.i != 0 ? 1 : -1, pi = 3.14159265358979323846;
  double worst = 0;
  if ((double)size * (double)n > MOST_TERMS) return -1;
  for (int64_t at = 0; at < size; at++) {
    int64_t index[DAMO_MAX_NDIM], from[DAMO_MAX_NDIM];
    double re = 0, im = 0, moduli = 0;
    nd_index(y->ndim, array_shape(y), at, index);
    memcpy(from, index, sizeof from);
    const int64_t k = index[axis];
    const bool doubled = fourier_kind(op) == FFT_TO_HALF && k > 0 && 2 * k != n;
    const double f = fourier_scale(op, n) * (doubled ? fourier_interior(op) : 1);
    for (int64_t j = 0; j < n; j++) {
      const damo_c128 z = point_at(op, x, from, j, n);
      const double angle = sign * 2 * pi * (double)(j * k % n) / (double)n, c = cos(angle), s = sin(angle);
      re += z.re * c - z.im * s;
      im += z.re * s + z.im * c;
      moduli += hypot(z.re, z.im);
    }
    const damo_c128 got = complex_at(y, index);
    const double d = hypot(got.re - f * re, dtype_is_complex(array_dtype(y)) ? got.im - f * im : 0);
    if (moduli > 0 && isfinite(moduli) && d / (f * moduli) > worst) worst = d / (f * moduli);
    if (moduli == 0 && d != 0) worst = 1;
  }
  return worst;
}

const op_check fourier_check = {.judge = fourier_judge, .judged = "the result is apart from the sum that defines it"};
