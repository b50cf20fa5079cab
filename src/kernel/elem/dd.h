/* dd: double-double arithmetic: a value is hi + lo with |lo| at most half an ULP of hi.
 *
 * For exponents and logarithms whose rounding error exp would magnify. Formulas: Dekker (1971), Knuth TAOCP 4.2.2. No
 * result is exact to the last bit; a relative error of a few 1e-32 is typical, 1e-23 for dd_log. */
#ifndef DAMO_KERNEL_ELEM_DD_H
#define DAMO_KERNEL_ELEM_DD_H

#include <math.h>

#include "special_tables.h"

typedef struct dd {
  double hi, lo;
} dd;

static inline dd dd_of(double x) { return (dd){x, 0}; }

/* a + b exactly, |a| >= |b|. */
static inline dd dd_fast_sum(double a, double b) {
  const double s = a + b;
  return (dd){s, b - (s - a)};
}

/* a + b exactly. */
static inline dd dd_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return (dd){s, (a - (s - t)) + (b - t)};
}

/* a b exactly, but for underflow. */
static inline dd dd_product(double a, double b) {
  const double p = a * b;
  return (dd){p, fma(a, b, -p)};
}

static inline dd dd_add(dd a, dd b) {
  const dd s = dd_sum(a.hi, b.hi), t = dd_sum(a.lo, b.lo);
  const dd u = dd_fast_sum(s.hi, s.lo + t.hi);
  return dd_fast_sum(u.hi, u.lo + t.lo);
}

static inline dd dd_neg(dd a) { return (dd){-a.hi, -a.lo}; }
static inline dd dd_sub(dd a, dd b) { return dd_add(a, dd_neg(b)); }

static inline dd dd_add_d(dd a, double b) {
  const dd s = dd_sum(a.hi, b);
  return dd_fast_sum(s.hi, s.lo + a.lo);
}

static inline dd dd_mul(dd a, dd b) {
  const dd p = dd_product(a.hi, b.hi);
  return dd_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline dd dd_mul_d(dd a, double b) {
  const dd p = dd_product(a.hi, b);
  return dd_fast_sum(p.hi, p.lo + a.lo * b);
}

static inline dd dd_div(dd a, dd b) {
  const double q = a.hi / b.hi;
  const dd r = dd_sub(a, dd_mul_d(b, q));
  return dd_fast_sum(q, (r.hi + r.lo) / b.hi);
}

static inline dd dd_sqrt(dd a) {
  if (a.hi <= 0) return dd_of(0);
  const double s = sqrt(a.hi);
  const dd r = dd_sub(a, dd_product(s, s));
  return dd_fast_sum(s, r.hi / (2 * s));
}

static inline double dd_value(dd a) { return a.hi + a.lo; }

/* exp(a), rounded about once. */
static inline double dd_exp(dd a) {
  const double e = exp(a.hi);
  return e == 0 || isinf(e) ? e : e + e * a.lo;
}

/* log(a), a > 0: with a = 2^k m and c = j/128 the nearest to m it is k log 2 + log c + 2 artanh(s), s = (m - c) / (m + c),
 * |s| < 0.003. */
static inline dd dd_log(dd a) {
  static const dd ln2 = {0.6931471805599453, 2.3190468138462996e-17};
  if (!(a.hi > 0) || isinf(a.hi)) return dd_of(log(a.hi));
  int k;
  double m = frexp(a.hi, &k);
  if (m < 0.70710678118654752) {
    m *= 2;
    k -= 1;
  }
  const double rest = a.lo == 0 ? 0 : ldexp(a.lo, -k);
  const int j = (int)(m * 128 + 0.5);
  const double c = j / 128.0;
  const dd above = dd_sum(m - c, rest);
  const dd s = dd_div(above, dd_add_d(above, 2 * c));
  const double u = s.hi * s.hi;
  const double tail = s.hi * u * (2.0 / 3 + u * (2.0 / 5 + u * (2.0 / 7 + u * (2.0 / 9))));
  const double *entry = special_log_table[j - SPECIAL_LOG_FIRST];
  const dd y = dd_add((dd){entry[0], entry[1]}, dd_add_d((dd){2 * s.hi, 2 * s.lo}, tail));
  return k == 0 ? y : dd_add(dd_mul_d(ln2, k), y);
}

#endif
