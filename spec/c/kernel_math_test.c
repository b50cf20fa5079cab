/* kernel_math_test: exp, log1p, tanh, sigmoid, sin and cos of every instruction set, at random bits and where their
 * methods are weakest, against the C library's long double, in units of the last place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa_case.h"
#include "kernel/elem/names.h"
#include "test.h"

#define N 20000

static uint64_t random_state = 88172645463325252u;

static uint64_t random_word(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static double random_unit(void) { return (double)(random_word() >> 11) * 0x1p-53; }

static long double sigmoid_long(long double x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }

/* 10^n exp(r log 10) for the whole part n of x and the rest r: x log 10 would lose the digits of n. */
static long double exp10_long(long double x) {
  if (!(fabsl(x) < 400)) return x > 0 ? INFINITY : x < 0 ? 0 : x; /* nan too */
  const long double n = rintl(x), r = x - n;
  return powl(10, n) * expl(r * 2.302585092994045684L);
}

typedef struct math_case {
  const char *name;
  elem_kernel kernel;
  long double (*want)(long double);
  double lo, hi; /* of arguments that are not extreme */
  double
      step; /* of the argument reduction: its multiples, where it rounds otherwise or cancels, lie close to arguments */
  double ulps, ulps_avx512;
} math_case;

static const math_case math_cases[] = {
    {"exp", ELEM_exp, expl, -746, 709, 0.6931471805599453 / 32, 1, 0.86},
    {"log1p", ELEM_log1p, log1pl, -1, 20, 1.0 / 64, 1, 0.9},
    {"tanh", ELEM_tanh, tanhl, -20, 20, 0.6931471805599453 / 64, 1, 0.9},
    {"sigmoid", ELEM_sigmoid, sigmoid_long, -746, 40, 0.6931471805599453 / 32, 3, 0.9},
    {"sin", ELEM_sin, sinl, -30, 30, 1.5707963267948966, 1, 0.9},
    {"cos", ELEM_cos, cosl, -30, 30, 1.5707963267948966, 1, 0.9},
    {"cbrt", ELEM_cbrt, cbrtl, -1000, 1000, 1.0 / 64, 1, 1},
    {"exp10", ELEM_exp10, exp10_long, -308, 308, 1.0 / 64, 1, 1},
};

static double with_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Any bits; the range; small numbers; the range's multiples of the step, halves included, and their neighbours; for
 * sin and cos, which cancel there, those of large numbers too. */
static double math_point(const math_case *c, int kind) {
  switch (kind) {
    case 0: return with_bits(random_word());
    case 1: return c->lo + (c->hi - c->lo) * random_unit();
    case 2: return ldexp(random_unit() - 0.5, -(int)(random_word() % 60));
    default: break;
  }
  const double most = kind == 3 ? c->hi : 250000;
  const double x = rint(most / c->step * random_unit()) * c->step * (random_word() % 2 ? 1 : 0.5);
  return (random_word() % 2 ? 1 : -1) * (x + (double)((int)(random_word() % 7) - 3) * x * 0x1p-52);
}

static double ulps_off(double got, long double want) {
  const double nearest = (double)want;
  int e;
  if (isnan(nearest)) return isnan(got) ? 0 : INFINITY;
  if (nearest == 0 && signbit(got) != signbit(nearest)) return INFINITY;
  if (got == nearest) return 0;
  if (isnan(got) || isinf(got) || isinf(nearest)) return INFINITY;
  frexp(nearest, &e);
  return (double)(fabsl((long double)got - want) / ldexpl(1, (e < -1021 ? -1021 : e) - 53));
}

/* A vector's elements do not depend on each other: alone, each has the same bits. */
static bool alone_agree(kernel_fn f, const double *x, const double *y) {
  for (int i = 0; i < N; i += 97) {
    double one;
    f((void *[]){(void *)(uintptr_t)&x[i], &one}, 1);
    if (memcmp(&one, &y[i], sizeof one) != 0) return false;
  }
  return true;
}

static void test_math(const kernel_isa *t, const math_case *c) {
  static double x[N], y[N];
  const bool own = strcmp(t->name, "avx512") == 0;
  const bool periodic = c->kernel == ELEM_sin || c->kernel == ELEM_cos;
  for (int kind = 0; kind < (periodic ? 5 : 4); kind++) {
    double worst = 0, where = 0;
    for (int i = 0; i < N; i++) x[i] = math_point(c, kind);
    t->elem[c->kernel].fn[DAMO_FLOAT64]((void *[]){x, y}, N);
    for (int i = 0; i < N; i++) {
      const bool overflows = c->kernel == ELEM_exp && x[i] > 709.7827; /* SLEEF is infinite too early */
      const double u = overflows ? 0 : ulps_off(y[i], c->want(x[i]));
      if (u > worst) worst = u, where = x[i];
    }
    if (!CHECK(worst <= (own ? c->ulps_avx512 : c->ulps) && alone_agree(t->elem[c->kernel].fn[DAMO_FLOAT64], x, y)))
      fprintf(stderr, "    %s %s, points %d: %g ULP at %a\n", t->name, c->name, kind, worst, where);
  }
}

static void test_special(const kernel_isa *t) {
  static const double points[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -1, -2, 5e-324, -5e-324, 1e-310, 1e308, -1e308};
  enum { MANY = sizeof points / sizeof *points };
  for (size_t k = 0; k < sizeof math_cases / sizeof *math_cases; k++) {
    const math_case *c = &math_cases[k];
    double y[MANY];
    t->elem[c->kernel].fn[DAMO_FLOAT64]((void *[]){(void *)(uintptr_t)points, y}, MANY);
    for (int i = 0; i < MANY; i++) {
      if (!CHECK(ulps_off(y[i], c->want(points[i])) <= c->ulps))
        fprintf(stderr, "    %s %s(%g) = %g\n", t->name, c->name, points[i], y[i]);
    }
  }
}

int main(void) {
  const kernel_isa *t;
  for (int i = 0; (t = next_isa(&i)) != NULL;) {
    for (size_t k = 0; k < sizeof math_cases / sizeof *math_cases; k++) test_math(t, &math_cases[k]);
    test_special(t);
  }
  TEST_MAIN_END;
}
