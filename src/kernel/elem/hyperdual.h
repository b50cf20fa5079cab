/* hyperdual: hyper-dual numbers (Fike and Alonso 2011): a value with its derivatives in two parameters p and q, the mixed
 * one as well. With p and q the same parameter, pq is the second derivative. The rules are exact: they take no step, so
 * nothing but the rounding of the operations is lost. */
#ifndef DAMO_KERNEL_ELEM_HYPERDUAL_H
#define DAMO_KERNEL_ELEM_HYPERDUAL_H

#include <math.h>

typedef struct hyperdual {
  double v, p, q, pq;
} hyperdual;

static inline hyperdual hyperdual_of(double v) { return (hyperdual){v, 0, 0, 0}; }

/* The parameter itself, where p and q are the same. */
static inline hyperdual hyperdual_parameter(double v) { return (hyperdual){v, 1, 1, 0}; }

static inline hyperdual hyperdual_add(hyperdual a, hyperdual b) {
  return (hyperdual){a.v + b.v, a.p + b.p, a.q + b.q, a.pq + b.pq};
}

static inline hyperdual hyperdual_sub(hyperdual a, hyperdual b) {
  return (hyperdual){a.v - b.v, a.p - b.p, a.q - b.q, a.pq - b.pq};
}

static inline hyperdual hyperdual_add_d(hyperdual a, double b) { return (hyperdual){a.v + b, a.p, a.q, a.pq}; }

static inline hyperdual hyperdual_mul_d(hyperdual a, double b) {
  return (hyperdual){a.v * b, a.p * b, a.q * b, a.pq * b};
}

static inline hyperdual hyperdual_mul(hyperdual a, hyperdual b) {
  return (hyperdual){a.v * b.v, a.v * b.p + a.p * b.v, a.v * b.q + a.q * b.v,
                     a.v * b.pq + a.p * b.q + a.q * b.p + a.pq * b.v};
}

/* A function of a with the value f, the derivative d and the second derivative s there. */
static inline hyperdual hyperdual_chain(hyperdual a, double f, double d, double s) {
  return (hyperdual){f, d * a.p, d * a.q, d * a.pq + s * a.p * a.q};
}

static inline hyperdual hyperdual_inverse(hyperdual a) {
  const double r = 1 / a.v;
  return hyperdual_chain(a, r, -r * r, 2 * r * r * r);
}

static inline hyperdual hyperdual_div(hyperdual a, hyperdual b) { return hyperdual_mul(a, hyperdual_inverse(b)); }

static inline hyperdual hyperdual_sqrt(hyperdual a) {
  const double r = sqrt(a.v), d = 0.5 / r;
  return hyperdual_chain(a, r, d, -d / (2 * a.v));
}

/* The size of the greatest part. */
static inline double hyperdual_size(hyperdual a) {
  return fmax(fmax(fabs(a.v), fabs(a.pq)), fmax(fabs(a.p), fabs(a.q)));
}

#endif
