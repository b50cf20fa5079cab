/* draw_test: random draws and the functions they use: error bounds, and the same bits with every instruction set. The
 * golden hashes hold on any machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/random/discrete.h"
#include "isa_case.h"
#include "kernel/random.h"
#include "test.h"

static uint64_t word = 1;

static double unit(void) {
  word = word * 6364136223846793005u + 1442695040888963407u;
  return (double)(word >> 11) * 0x1p-53;
}

static double between(double low, double high) { return low + (high - low) * unit(); }

/* The error of got in units of the last place of want. */
static double ulps(double got, long double want) {
  int e;
  if (got == (double)want || (isnan(got) && isnan(want))) return 0;
  if (isnan(got) || isinf(got)) return INFINITY;
  frexpl(want, &e);
  return (double)(fabsl((long double)got - want) / exp2l(e - 53 < -1074 ? -1074 : e - 53));
}

typedef struct bound_case {
  const char *name;
  double (*fn)(double);
  long double (*want)(long double);
  double low, high, ulps;
} bound_case;

static void test_bounds(void) {
  static const bound_case cases[] = {
      {"log", draw_log, logl, 0, 1, 1},           {"log", draw_log, logl, 0.6, 1.6, 1},
      {"log", draw_log, logl, 0, 1e300, 1},       {"log", draw_log, logl, 0, 1e-308, 1},
      {"log", draw_log, logl, 0, 0x1p-40, 1},     {"exp", draw_exp, expl, -1, 1, 1},
      {"exp", draw_exp, expl, -50, 0, 1},         {"exp", draw_exp, expl, -740, 709, 1.1},
      {"log1p", draw_log1p, log1pl, -0.5, 0, 4},  {"log1p", draw_log1p, log1pl, -1e-10, 0, 4},
      {"log1p", draw_log1p, log1pl, -0.01, 0, 4}, {"expm1", draw_expm1, expm1l, -30, 0, 4},
      {"expm1", draw_expm1, expm1l, -0.01, 0, 4}, {"expm1", draw_expm1, expm1l, -1, 0, 4},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const bound_case *c = &cases[k];
    double worst = 0;
    for (int i = 0; i < 200000; i++) {
      const double x = between(c->low, c->high), u = ulps(c->fn(x), c->want(x));
      if (u > worst) worst = u;
    }
    if (!CHECK(worst < c->ulps)) fprintf(stderr, "    %s of %g to %g: %g ULP\n", c->name, c->low, c->high, worst);
  }
  CHECK(draw_log(0) == -INFINITY && draw_log(1) == 0 && draw_log(INFINITY) == INFINITY);
  CHECK(isnan(draw_log(-1)) && isnan(draw_log(NAN)) && isnan(draw_exp(NAN)) && isnan(draw_log1p(-2)));
  CHECK(draw_exp(-INFINITY) == 0 && draw_exp(INFINITY) == INFINITY && draw_exp(0) == 1 && draw_exp(-745.2) == 0);
  CHECK(draw_log1p(-1) == -INFINITY && draw_expm1(-INFINITY) == -1 && draw_expm1(-1e-300) == -1e-300);
}

static void test_sincos_2pi(const kernel_isa *t) {
  enum { N = 200001 };
  static double v[N], s[N], c[N];
  double worst = 0;
  for (int i = 0; i < N; i++) v[i] = i <= 64 ? i / 64.0 : i % 3 ? unit() : ldexp(unit(), -(i % 60));
  t->draw->sincos_2pi(v, s, c, N);
  for (int i = 0; i < N; i++) {
    const long double quarter = nearbyintl(4 * (long double)v[i]);
    const long double x = ((long double)v[i] - quarter / 4) * 6.283185307179586476925286766559L;
    const int q = (int)quarter & 3;
    const long double sine = q & 1 ? cosl(x) : sinl(x), cosine = q & 1 ? sinl(x) : cosl(x);
    const double e = ulps(s[i], q & 2 ? -sine : sine), f = ulps(c[i], (q + 1) & 2 ? -cosine : cosine);
    worst = e > worst ? e : f > worst ? f : worst;
  }
  if (!CHECK(worst < 2)) fprintf(stderr, "    %s: sine or cosine of 2 pi v: %g ULP\n", t->name, worst);
}

/* Of the cosine c the angle from 1 - c and 1 + c, which are small near 0 and pi. */
static void test_angle(void) {
  double worst = 0;
  for (int i = 0; i < 200000; i++) {
    const double less = i % 2 ? 2 * unit() : ldexp(unit(), -(i % 90)), more = 2 - less;
    const long double half = atan2l(sqrtl((long double)less), sqrtl((long double)more));
    const double u = ulps(draw_angle(less, more), 2 * half);
    if (u > worst) worst = u;
  }
  if (!CHECK(worst < 5)) fprintf(stderr, "    angle of a cosine: %g ULP\n", worst);
  CHECK(draw_angle(0, 2) == 0 && fabs(draw_angle(2, 0) - 3.14159265358979323846) < 1e-15);
}

/* The words of many blocks are those of one block after the other, where the counter carries too. */
static void test_philox(const kernel_isa *t) {
  const philox_state starts[] = {{.key = 77, .counter_lo = 5, .counter_hi = 9},
                                 {.key = 0x123456789abcdefu, .counter_lo = (uint64_t)-6, .counter_hi = 0xffffffffu},
                                 {.key = 1, .counter_lo = 0xfffffffau, .counter_hi = (uint64_t)-1}};
  for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
    for (int n = 0; n <= 21; n += n < 9 ? 1 : 6) {
      uint64_t words[2 * 21 + 1];
      bool same = true;
      for (int i = 0; i < 2 * 21 + 1; i++) words[i] = 0xAA;
      t->draw->philox(&starts[k], words, n);
      for (int i = 0; i < n; i++) {
        uint32_t block[4];
        philox_block(&starts[k], (uint64_t)i, block);
        same = same && words[2 * i] == ((uint64_t)block[1] << 32 | block[0]) &&
               words[2 * i + 1] == ((uint64_t)block[3] << 32 | block[2]);
      }
      CHECK(same && words[2 * n] == 0xAA);
    }
  }
}

/* FNV-1a over bytes. */
static uint64_t hash_of(uint64_t h, const void *x, size_t n) {
  const unsigned char *p = x;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
  return h;
}

#define HASH_START 14695981039346656037u

/* The loops of the kernel table agree with the scalar functions. */
static void test_table(const kernel_isa *t) {
  double x[1000], y[1000];
  for (int i = 0; i < 1000; i++) x[i] = y[i] = i % 2 ? unit() : ldexp(unit(), i - 500);
  x[0] = y[0] = 0, x[1] = y[1] = INFINITY, x[2] = y[2] = -1, x[3] = y[3] = NAN, x[4] = y[4] = 5e-324;
  t->draw->log(y, 999);
  bool same = true;
  for (int i = 0; i < 999; i++) {
    const double want = draw_log(x[i]);
    same = same && (memcmp(&y[i], &want, sizeof want) == 0 || (isnan(y[i]) && isnan(want)));
  }
  CHECK(same && y[999] == x[999]);
}

static void test_normals(const kernel_isa *t) {
  enum { N = 100000 };
  static double z[N];
  const philox_state s = philox_seed(42);
  philox_normal_f64(t, &s, z, N);
  CHECK_EQ_I((int64_t)hash_of(HASH_START, z, sizeof z), (int64_t)0xe6dc4f2f3414fe21u);
}

/* ---- Discrete draws ---------------------------------------------------------------------------------------------- */

typedef struct discrete_case {
  const char *name;
  double (*binomial)(philox_words *, double, double); /* NULL: Poisson with mean p */
  double n, p, first[6];
  uint64_t hash; /* of 20,000 draws */
} discrete_case;

static const discrete_case discrete_cases[] = {
    {"poisson", NULL, 0, 0.5, {0, 0, 0, 1, 0, 0}, 0x93ee31fe830c676cu},
    {"poisson", NULL, 0, 9.9, {15, 9, 8, 16, 10, 13}, 0x6b5d63d32584a1b0u},
    {"poisson", NULL, 0, 10, {11, 10, 3, 12, 7, 12}, 0xe0022aa859f8e94au},
    {"poisson", NULL, 0, 37.5, {39, 37, 23, 42, 32, 34}, 0x15037cb719e8b143u},
    {"poisson",
     NULL,
     0,
     1e9,
     {1000008629, 999997563, 999924818, 1000021391, 999971007, 999980937},
     0x528d2902b7716fbeu},
    {"binomial", draw_binomial, 20, 0.1, {2, 2, 0, 3, 1, 1}, 0x757e3f7cd13a3f3cu},
    {"binomial", draw_binomial, 20, 0.9, {18, 18, 20, 17, 19, 19}, 0x7073158143751980u},
    {"binomial", draw_binomial, 100, 0.4, {41, 40, 29, 43, 35, 43}, 0x6473fb6995c46e64u},
    {"binomial",
     draw_binomial,
     1e12,
     0.3,
     {300000125029, 299999964696, 299998911181, 300000309927, 299999579950, 299999723806},
     0x3b0f4ab2484958ecu},
    {"binomial above 0", draw_binomial_positive, 5, 0.2, {1, 1, 1, 2, 1, 1}, 0xd4fa019eed127cecu},
    {"binomial above 0", draw_binomial_positive, 1000, 1e-9, {1, 1, 1, 1, 1, 1}, 0xec8b38999fabe525u},
    {"binomial above 0", draw_binomial_positive, 40, 0.6, {23, 24, 31, 22, 27, 22}, 0xd3434dc67c45d592u},
};

static void test_discrete(void) {
  const philox_state s = philox_seed(7);
  for (size_t k = 0; k < sizeof discrete_cases / sizeof *discrete_cases; k++) {
    const discrete_case *c = &discrete_cases[k];
    double draws[20000];
    for (int i = 0; i < 20000; i++) {
      philox_words w = philox_words_of(&s, (uint64_t)i);
      draws[i] = c->binomial ? c->binomial(&w, c->n, c->p) : draw_poisson(&w, c->p);
    }
    if (!CHECK(memcmp(draws, c->first, sizeof c->first) == 0 && hash_of(HASH_START, draws, sizeof draws) == c->hash)) {
      fprintf(stderr, "    {\"%s\", %g, %g, {%.0f, %.0f, %.0f, %.0f, %.0f, %.0f}, 0x%llx}\n", c->name, c->n, c->p,
              draws[0], draws[1], draws[2], draws[3], draws[4], draws[5],
              (unsigned long long)hash_of(HASH_START, draws, sizeof draws));
    }
  }
}

/* Each value uses its own Philox block: the number of words that rejections in block 0 take does not shift those of
 * block 1. */
static void test_words(void) {
  const philox_state s = philox_seed(3);
  philox_words a = philox_words_of(&s, 0), b = philox_words_of(&s, 1);
  uint32_t block[4];
  philox_block(&s, 1, block);
  uint64_t seen[200];
  for (int i = 0; i < 100; i++) seen[i] = philox_word(&a);
  for (int i = 0; i < 100; i++) seen[100 + i] = philox_word(&b);
  CHECK(seen[100] == ((uint64_t)block[1] << 32 | block[0]) && seen[101] == ((uint64_t)block[3] << 32 | block[2]));
  bool differ = true;
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < i; j++) differ = differ && seen[i] != seen[j];
  CHECK(differ);
}

static void test_conversions(void) {
  static const uint64_t ends[] = {0, 1, 0x7ff, 0xffffffff, 0x100000000, 0xffffffff00000000, UINT64_MAX - 1, UINT64_MAX};
  for (int i = 0; i < 100000; i++) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    const uint64_t w = i < 8 ? ends[i] : word;
    CHECK(draw_from_low(w >> 11) == (double)(w >> 11));
    CHECK(draw_from_half(w >> 32) == (double)(w >> 32));
    CHECK(draw_radius_of(w) == 1 - (double)(w >> 11) * 0x1p-53);
    CHECK(draw_angle_of(w) == (double)(w >> 32) * 0x1p-32);
    CHECK(draw_test_of(w) == ((double)(w & 0xffffffff) + 0.5) * 0x1p-32);
  }
}

int main(void) {
  test_bounds();
  test_conversions();
  test_angle();
  const kernel_isa *t;
  for (int k = 0; (t = next_isa(&k)) != NULL;) {
    test_sincos_2pi(t);
    test_philox(t);
    test_table(t);
    test_normals(t);
  }
  test_discrete();
  test_words();
  TEST_MAIN_END;
}
