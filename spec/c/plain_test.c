/* plain_test: the functions of kernel/plain: their errors against values of mpmath, special arguments against C's library,
 * and a hash of their bits over many arguments that holds on any machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/plain/plain.h"
#include "plain_values.h"
#include "test.h"

#define MOST_ULP 2

typedef struct plain_case {
  double (*one)(double); /* or */
  double (*two)(double, double);
  float (*one_f)(float);
  float (*two_f)(float, float);
  double (*library)(double); /* or */
  double (*library_two)(double, double);
} plain_case;

static double library_sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

#define ONE(name, library) \
  { plain_##name, NULL, plain_##name##f, NULL, library, NULL }
#define TWO(name) \
  { NULL, plain_##name, NULL, plain_##name##f, NULL, name }
static const plain_case cases[] = {
    [EXP] = ONE(exp, exp),
    [EXP2] = ONE(exp2, exp2),
    [EXPM1] = ONE(expm1, expm1),
    [SIGMOID] = ONE(sigmoid, library_sigmoid),
    [SINH] = ONE(sinh, sinh),
    [COSH] = ONE(cosh, cosh),
    [TANH] = ONE(tanh, tanh),
    [LOG] = ONE(log, log),
    [LOG1P] = ONE(log1p, log1p),
    [SIN] = ONE(sin, sin),
    [COS] = ONE(cos, cos),
    [TAN] = ONE(tan, tan),
    [ASIN] = ONE(asin, asin),
    [ACOS] = ONE(acos, acos),
    [ATAN] = ONE(atan, atan),
    [ERF] = ONE(erf, erf),
    [POW] = TWO(pow),
    [ATAN2] = TWO(atan2),
};
#define N_CASES ((int)(sizeof cases / sizeof *cases))

static double value_of(const plain_case *c, double x, double y) { return c->one ? c->one(x) : c->two(x, y); }

static float value_f_of(const plain_case *c, float x, float y) { return c->one_f ? c->one_f(x) : c->two_f(x, y); }

static double library_of(const plain_case *c, double x, double y) {
  return c->library ? c->library(x) : c->library_two(x, y);
}

/* A number's place among all of its sign: neighbours differ by 1, also over 0. */
static int64_t place_of(double x) {
  const uint64_t u = plain_bits(x);
  return u >> 63 ? -(int64_t)(u & INT64_MAX) : (int64_t)u;
}

static bool is_near(double got, double want, int64_t most) {
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
  return llabs(place_of(got) - place_of(want)) <= most && !signbit(got) == !signbit(want);
}

static void test_values(void) {
  for (size_t k = 0; k < sizeof plain_values / sizeof *plain_values; k++) {
    const struct plain_value *v = &plain_values[k];
    const double got = value_of(&cases[v->name], v->x, v->y);
    if (!CHECK(is_near(got, v->value, MOST_ULP)))
      fprintf(stderr, "    function %d of %a, %a: %a, not %a\n", v->name, v->x, v->y, got, v->value);
  }
}

static const double special[] = {0,          5e-324, 2.3e-308,    1e-300,     0.5,   1,
                                 2,          3,      2.5,         710,        1e18,  0x1p52,
                                 0x1p52 + 1, 0x1p53, 0x1p53 - 1,  0x1p53 + 2, 1e300, 1.7976931348623157e308,
                                 INFINITY,   NAN,    1 - 0x1p-53, 1 + 0x1p-52};
#define N_SPECIAL ((int)(sizeof special / sizeof *special))

/* Zeros, infinities, nan and subnormal numbers as in C's annex F, which its library follows. */
static void test_special(void) {
  for (int f = 0; f < N_CASES; f++)
    for (int i = 0; i < 2 * N_SPECIAL; i++)
      for (int j = 0; j < (cases[f].two ? 2 * N_SPECIAL : 1); j++) {
        const double x = i % 2 ? -special[i / 2] : special[i / 2], y = j % 2 ? -special[j / 2] : special[j / 2];
        const double got = value_of(&cases[f], x, y), want = library_of(&cases[f], x, y);
        if (!CHECK(is_near(got, want, 3)))
          fprintf(stderr, "    function %d of %a, %a: %a, not %a\n", f, x, y, got, want);
        const float got_f = value_f_of(&cases[f], (float)x, (float)y);
        CHECK(is_near((double)got_f, (double)(float)value_of(&cases[f], (double)(float)x, (double)(float)y), 0));
      }
}

/* Within their range the functions without a branch are the others. */
static void test_branchless(void) {
  for (int i = 0; i < 100000; i++) {
    const double x = (i - 50000) * 20.971 + i * 0x1p-30;
    CHECK(plain_sin_near(x) == plain_sin(x) && plain_cos_near(x) == plain_cos(x) && plain_tan_near(x) == plain_tan(x));
  }
}

static uint64_t word = 88172645463325252u;

static uint64_t random_word(void) {
  word ^= word << 13;
  word ^= word >> 7;
  return word ^= word << 17;
}

/* Any bits, or with an exponent in [-8, 7]. */
static double random_argument(bool any) {
  const uint64_t u = random_word();
  return plain_from_bits(any ? u : (u & 0x800fffffffffffffu) | (1015 + (u >> 52 & 15)) << 52);
}

static void test_bits(void) {
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < 30000; i++) {
    const double x = random_argument(i % 3 == 0), y = random_argument(i % 3 == 0);
    for (int f = 0; f < N_CASES; f++) {
      const double wide = value_of(&cases[f], x, y), narrow = (double)value_f_of(&cases[f], (float)x, (float)y);
      hash = (hash ^ (isnan(wide) ? 1 : plain_bits(wide))) * 1099511628211u;
      hash = (hash ^ (isnan(narrow) ? 1 : plain_bits(narrow))) * 1099511628211u;
    }
  }
  if (!CHECK(hash == 0x27353720dbefbd73u)) fprintf(stderr, "    hash 0x%016llx\n", (unsigned long long)hash);
}

int main(void) {
  test_values();
  test_special();
  test_branchless();
  test_bits();
  TEST_MAIN_END;
}
