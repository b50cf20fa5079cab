/* kernel_test: the elementwise kernels of every table the CPU runs: errors in ULPs against the C library and constants
 * of high precision, special values, extreme integers, and the same bits at every position. */
#include <complex.h>
#undef complex

#include "kernel/kernel.h"
#include "isa_case.h"
#include "kernel_constants.h"
#include "test.h"

#include <float.h>

static kernel_fn kernel_of(const kernel_isa *t, elem_kernel kernel, damo_dtype dtype) {
  return t->elem[kernel].fn[dtype];
}

/* A small generator of our own, since Philox is under test. */
static uint64_t random_state = 12345;
static uint64_t random_word(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}
static double random_in(double lo, double hi) { return lo + (hi - lo) * (double)(random_word() >> 11) * 0x1p-53; }

/* ---- Elementwise: functions of the C library --------------------------------------------------------------------- */

/* SciPy has -infinity at -infinity, where C has +infinity. */
static long double lgamma_long(long double x) { return x == -INFINITY ? x : lgammal(x); }
static long double recip_long(long double x) { return 1 / x; }
static long double sqr_long(long double x) { return x * x; }
static long double deg_long(long double x) { return x * (3.14159265358979323846264338327950288L / 180); }
static long double rad_long(long double x) { return x * (180 / 3.14159265358979323846264338327950288L); }
static long double sigmoid_long(long double x) { return 1 / (1 + expl(-x)); }
static long double softplus_long(long double x) { return log1pl(expl(-fabsl(x))) + (x > 0 ? x : 0); }
static long double log1mexp_long(long double x) { return x > -0.5L ? logl(-expm1l(x)) : log1pl(-expl(x)); }

typedef struct unary_case {
  const char *name;
  elem_kernel kernel;
  long double (*want)(long double);
  double lo, hi; /* the range of random arguments; special values are always tried */
  double ulps;
} unary_case;

static const unary_case unary_cases[] = {
    {"exp", ELEM_exp, expl, -745, 710, 1.0},
    {"exp2", ELEM_exp2, exp2l, -1074, 1024, 1.0},
    {"expm1", ELEM_expm1, expm1l, -40, 40, 1.0},
    {"log", ELEM_log, logl, 0, 10, 1.0},
    {"log2", ELEM_log2, log2l, 0, 10, 1.0},
    {"log10", ELEM_log10, log10l, 0, 10, 1.0},
    {"log1p", ELEM_log1p, log1pl, -1, 10, 1.0},
    {"sin", ELEM_sin, sinl, -30, 30, 1.0},
    {"cos", ELEM_cos, cosl, -30, 30, 1.0},
    {"tan", ELEM_tan, tanl, -30, 30, 1.0},
    {"arcsin", ELEM_arcsin, asinl, -1, 1, 1.0},
    {"arccos", ELEM_arccos, acosl, -1, 1, 1.0},
    {"arctan", ELEM_arctan, atanl, -20, 20, 1.0},
    {"sinh", ELEM_sinh, sinhl, -720, 720, 2.0},
    {"cosh", ELEM_cosh, coshl, -720, 720, 2.0},
    {"tanh", ELEM_tanh, tanhl, -20, 20, 1.0},
    {"arcsinh", ELEM_arcsinh, asinhl, -50, 50, 1.0},
    {"arccosh", ELEM_arccosh, acoshl, 1, 50, 1.0},
    {"arctanh", ELEM_arctanh, atanhl, -1, 1, 1.0},
    {"erf", ELEM_erf, erfl, -6, 6, 1.0},
    {"erfc", ELEM_erfc, erfcl, -6, 27, 1.5},
    {"gamma", ELEM_gamma, tgammal, -20, 171, 1.0},
    {"gammaln", ELEM_gammaln, lgamma_long, 0.01, 500, 1.0},
    {"sigmoid", ELEM_sigmoid, sigmoid_long, -745, 40, 3.0},
    {"softplus", ELEM_softplus, softplus_long, -745, 50, 3.0},
    {"log1mexp", ELEM_log1mexp, log1mexp_long, -50, 0, 2.0},
    {"sqrt", ELEM_sqrt, sqrtl, 0, 100, 0.5},
    {"sqr", ELEM_sqr, sqr_long, -100, 100, 0.5},
    {"reciprocal", ELEM_reciprocal, recip_long, -100, 100, 0.5},
    {"ceil", ELEM_ceil, ceill, -10, 10, 0},
    {"floor", ELEM_floor, floorl, -10, 10, 0},
    {"trunc", ELEM_trunc, truncl, -10, 10, 0},
    {"round_half_to_even", ELEM_round_half_to_even, rintl, -10, 10, 0},
    {"round_half_away_from_zero", ELEM_round_half_away_from_zero, roundl, -10, 10, 0},
    {"deg2rad", ELEM_deg2rad, deg_long, -400, 400, 1.5},
    {"rad2deg", ELEM_rad2deg, rad_long, -7, 7, 1.5},
};

static const double special_points[] = {0,
                                        -0.0,
                                        0.5,
                                        -0.5,
                                        1.5,
                                        -1.5,
                                        2.5,
                                        -2.5,
                                        1,
                                        -1,
                                        2,
                                        -2,
                                        3,
                                        -3,
                                        5e-324,
                                        -5e-324,
                                        1e-310,
                                        -1e-310,
                                        1e-300,
                                        -1e-300,
                                        1e-30,
                                        -1e-30,
                                        1e-8,
                                        -1e-8,
                                        0.25,
                                        0.9999999,
                                        1.0000001,
                                        88,
                                        -88,
                                        89,
                                        89.2,
                                        -103,
                                        127.5,
                                        -149,
                                        170.5,
                                        172,
                                        709.5,
                                        -709.5,
                                        710.2,
                                        -710.2,
                                        -745.1,
                                        746,
                                        -746,
                                        1023.9,
                                        -1074,
                                        1e5,
                                        -1e5,
                                        1e10,
                                        -1e10,
                                        1e15,
                                        4503599627370497.5,
                                        -4503599627370495.5,
                                        1e20,
                                        -1e20,
                                        1e100,
                                        -1e100,
                                        1e155,
                                        -1e155,
                                        1.7e308,
                                        -1.7e308,
                                        INFINITY,
                                        -INFINITY,
                                        NAN,
                                        0.49999999999999994,
                                        -0.49999999999999994,
                                        1e38,
                                        -1e38,
                                        3e38,
                                        2e19,
                                        1e-45,
                                        -1e-40};

#define N_SPECIAL ((int)(sizeof special_points / sizeof *special_points))
#define N_POINTS 1500

/* The error in units of the last place of `want` rounded to a type with `digits` bits and least exponent `least`. */
static double ulps_apart(double got, long double want, int digits, int least) {
  const double rounded = digits == 24 ? (double)(float)want : (double)want;
  if (isnan(got) && isnan(rounded)) return 0;
  if (got == rounded) return 0;
  if (isnan(got) || isnan(rounded) || isinf(got) || isinf(rounded)) return INFINITY;
  int e;
  frexp(rounded, &e);
  e = rounded == 0 || e - digits < least ? least : e - digits;
  return (double)(fabsl((long double)got - want) / exp2l(e));
}

static void check_unary_f64(const kernel_isa *t, const unary_case *c, const double *x, int n) {
  double y[N_POINTS], worst = 0, where = 0;
  kernel_of(t, c->kernel, DAMO_FLOAT64)((void *[]){(void *)(uintptr_t)x, y}, n);
  for (int i = 0; i < n; i++) {
    const double u = ulps_apart(y[i], c->want(x[i]), 53, -1074);
    if (u > worst) worst = u, where = x[i];
  }
  if (!CHECK(worst <= c->ulps + 0.01))
    fprintf(stderr, "    %s %s float64: %g ULP at %.17g\n", t->name, c->name, worst, where);
}

static void check_unary_f32(const kernel_isa *t, const unary_case *c, const double *points, int n) {
  float x[N_POINTS], y[N_POINTS];
  double worst = 0, where = 0;
  for (int i = 0; i < n; i++) x[i] = (float)points[i];
  kernel_of(t, c->kernel, DAMO_FLOAT32)((void *[]){x, y}, n);
  for (int i = 0; i < n; i++) {
    const double u = ulps_apart((double)y[i], c->want(x[i]), 24, -149);
    if (u > worst) worst = u, where = (double)x[i];
  }
  if (!CHECK(worst <= c->ulps + 0.05))
    fprintf(stderr, "    %s %s float32: %g ULP at %.9g\n", t->name, c->name, worst, where);
}

static void test_unary(const kernel_isa *t) {
  double x[N_POINTS];
  for (size_t k = 0; k < sizeof unary_cases / sizeof *unary_cases; k++) {
    const unary_case *c = &unary_cases[k];
    for (int i = 0; i < N_POINTS; i++) x[i] = i < N_SPECIAL ? special_points[i] : random_in(c->lo, c->hi);
    check_unary_f64(t, c, x, N_POINTS);
    check_unary_f32(t, c, x, N_POINTS);
  }
}

/* ---- Elementwise: hard arguments of exp -------------------------------------------------------------------------- */

/* x = (n + 1/2) ln 2 / 16: between two entries of a table of 16 powers, where the polynomial's argument is largest. */
static double between_entries(int i) {
  const double x = (floor(random_in(-17190, 16380)) + 0.5) * (0.693147180559945309417232121458 / 16);
  return i % 3 ? nextafter(x, i % 3 == 1 ? -1000 : 1000) : x;
}

/* SLEEF returns infinity a little before float64 overflows; damo's own AVX-512 exp does not, and its error is smaller.
 */
static void test_exp(const kernel_isa *t) {
  static const double lo[] = {-1, -1e-5, -745.2, -708.5, -746, 709}, hi[] = {1, 1e-5, -708.3, 709.78, -744, 709.7827};
  const bool own = strcmp(t->name, "avx512") == 0;
  const unary_case normal = {"exp", ELEM_exp, expl, 0, 0, own ? 0.65 : 1},
                   subnormal = {"exp", ELEM_exp, expl, 0, 0, 0.9};
  double x[N_POINTS];
  for (int r = 0; r < 60; r++) {
    const int k = r % 7;
    for (int i = 0; i < N_POINTS; i++) x[i] = k == 6 ? between_entries(i) : random_in(lo[k], hi[k]);
    for (int i = 0; i < N_POINTS; i++)
      if (k != 2 && k != 4 && x[i] < -708.39) x[i] = -x[i] - 1;
    check_unary_f64(t, k == 2 || k == 4 ? &subnormal : &normal, x, N_POINTS);
  }
  /* the neighbours of the points where the result becomes infinite, subnormal, and 0 */
  double at[] = {0x1.62e42fefa39efp+9,
                 0x1.62e42fefa39f0p+9,
                 -0x1.6232bdd7abcd2p+9,
                 -0x1.6232bdd7abcd3p+9,
                 -0x1.74910d52d3051p+9,
                 -0x1.74910d52d3052p+9,
                 -800,
                 -800.5,
                 800,
                 800.5,
                 1e300,
                 -1e300};
  const int n = (int)(sizeof at / sizeof *at), from = own ? 0 : 1;
  check_unary_f64(t, &subnormal, at + from, n - from);
}

/* ---- Elementwise: constants of high precision (mpmath, 50 digits) ------------------------------------------------ */

static void test_constants(const kernel_isa *t) {
  for (size_t k = 0; k < sizeof constants / sizeof *constants; k++) {
    const constant_case *c = &constants[k];
    double x = c->x, y;
    kernel_of(t, c->kernel, DAMO_FLOAT64)((void *[]){&x, &y}, 1);
    const double tolerance = fabs(c->want) * 1e-14 + 5e-324;
    if (!CHECK_NEAR(y, c->want, isinf(c->want) ? 0 : tolerance))
      fprintf(stderr, "    %s %s(%.17g): relative %g\n", t->name, c->name, x, fabs(y / c->want - 1));
    float xf = (float)x, yf;
    kernel_of(t, c->kernel, DAMO_FLOAT32)((void *[]){&xf, &yf}, 1);
    if ((double)xf == x && isfinite((float)c->want)) CHECK_NEAR((double)yf, c->want, fabs(c->want) * 3e-7 + 1.5e-45);
  }
}

/* ---- Elementwise: two operands ----------------------------------------------------------------------------------- */

static long double floor_div_long(long double a, long double b) {
  if (b == 0) return a / b;
  if (isinf(b) && isfinite(a)) return a == 0 ? a / b : (a < 0) != (b < 0) ? -1 : 0;
  return floorl((a - fmodl(a, b)) / b + ((fmodl(a, b) != 0 && (fmodl(a, b) < 0) != (b < 0)) ? -1 : 0) + 0.25L);
}
static long double mod_long(long double a, long double b) {
  const long double r = fmodl(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static long double maximum_long(long double a, long double b) { return isnan(a) || isnan(b) ? a + b : fmaxl(a, b); }
static long double minimum_long(long double a, long double b) { return isnan(a) || isnan(b) ? a + b : fminl(a, b); }
static long double add_long(long double a, long double b) { return a + b; }
static long double sub_long(long double a, long double b) { return a - b; }
static long double mul_long(long double a, long double b) { return a * b; }
static long double div_long(long double a, long double b) { return a / b; }
static long double logaddexp_long(long double a, long double b) {
  if (a == b) return a + 0.693147180559945309417232121458L;
  return isnan(a) || isnan(b) ? a + b : fmaxl(a, b) + log1pl(expl(-fabsl(a - b)));
}

typedef struct binary_case {
  const char *name;
  elem_kernel kernel;
  long double (*want)(long double, long double);
  double ulps;
} binary_case;

static const binary_case binary_cases[] = {
    {"add", ELEM_add, add_long, 0.5},
    {"sub", ELEM_sub, sub_long, 0.5},
    {"mul", ELEM_mul, mul_long, 0.5},
    {"true_div", ELEM_true_div, div_long, 0.5},
    {"pow", ELEM_pow, powl, 1.0},
    {"arctan2", ELEM_arctan2, atan2l, 1.5},
    {"hypot", ELEM_hypot, hypotl, 1.0},
    {"maximum", ELEM_maximum, maximum_long, 0},
    {"minimum", ELEM_minimum, minimum_long, 0},
    {"mod", ELEM_mod, mod_long, 0.5},
};

static void test_binary(const kernel_isa *t) {
  enum { N = N_SPECIAL * N_SPECIAL };
  static double x[N], y[N], z[N];
  static float xf[N], yf[N], zf[N];
  for (int i = 0; i < N; i++) {
    xf[i] = (float)(x[i] = special_points[i / N_SPECIAL]);
    yf[i] = (float)(y[i] = special_points[i % N_SPECIAL]);
  }
  for (size_t k = 0; k < sizeof binary_cases / sizeof *binary_cases; k++) {
    const binary_case *c = &binary_cases[k];
    double worst = 0, worst_f = 0;
    int at = 0, at_f = 0;
    kernel_of(t, c->kernel, DAMO_FLOAT64)((void *[]){x, y, z}, N);
    kernel_of(t, c->kernel, DAMO_FLOAT32)((void *[]){xf, yf, zf}, N);
    for (int i = 0; i < N; i++) {
      const double u = ulps_apart(z[i], c->want(x[i], y[i]), 53, -1074);
      const double u_f = ulps_apart((double)zf[i], c->want(xf[i], yf[i]), 24, -149);
      if (u > worst) worst = u, at = i;
      if (u_f > worst_f) worst_f = u_f, at_f = i;
    }
    if (!CHECK(worst <= c->ulps + 0.01))
      fprintf(stderr, "    %s %s(%g, %g) = %g: %g ULP\n", t->name, c->name, x[at], y[at], z[at], worst);
    if (!CHECK(worst_f <= c->ulps + 0.01))
      fprintf(stderr, "    %s %s(%gf, %gf) = %g: %g ULP\n", t->name, c->name, (double)xf[at_f], (double)yf[at_f],
              (double)zf[at_f], worst_f);
  }
}

static double binary(kernel_fn fn, double a, double b) {
  double out;
  fn((void *[]){&a, &b, &out}, 1);
  return out;
}

static void test_division_and_logs(const kernel_isa *t) {
  const kernel_fn floor_div = t->elem[ELEM_floor_div].fn[DAMO_FLOAT64], mod = t->elem[ELEM_mod].fn[DAMO_FLOAT64];
  const kernel_fn logaddexp = t->elem[ELEM_logaddexp].fn[DAMO_FLOAT64];
  CHECK(binary(floor_div, 7, 2) == 3 && binary(floor_div, -7, 2) == -4 && binary(floor_div, 7, -2) == -4);
  CHECK(binary(mod, 7, 2) == 1 && binary(mod, -7, 2) == 1 && binary(mod, 7, -2) == -1);
  CHECK(binary(floor_div, 1, 0.1) == 9); /* 0.1 is a little more than a tenth */
  CHECK(binary(floor_div, 1, 0) == INFINITY && isnan(binary(floor_div, 0, 0)) && isnan(binary(mod, 1, 0)));
  CHECK(binary(floor_div, -1, INFINITY) == -1 && binary(mod, -1, INFINITY) == INFINITY);
  CHECK(isnan(binary(floor_div, INFINITY, 2)));
  CHECK(signbit(binary(mod, 4, -2)) && !signbit(binary(mod, -4, 2)));
  for (int i = 0; i < 2000; i++) {
    const double a = random_in(-100, 100), b = random_in(-10, 10);
    CHECK(binary(floor_div, a, b) == (double)floor_div_long(a, b));
    const double want = (double)logaddexp_long(a, b);
    CHECK_NEAR(binary(logaddexp, a, b), want, 4e-16 * (1 + fmax(fabs(a), fabs(b))));
  }
  CHECK(binary(logaddexp, -INFINITY, -INFINITY) == -INFINITY && binary(logaddexp, INFINITY, INFINITY) == INFINITY);
  CHECK(binary(logaddexp, -INFINITY, 3) == 3 && binary(logaddexp, INFINITY, -INFINITY) == INFINITY);
  CHECK(isnan(binary(logaddexp, NAN, 1)) && isnan(binary(logaddexp, 1, NAN)));
}

/* ---- Elementwise: position --------------------------------------------------------------------------------------- */

/* Each element of a block of any length and offset has the same bits as alone; also in place, if sizes allow. */
static void check_position(const kernel_isa *t, elem_kernel kernel, const char *name, damo_dtype dtype, int n_in) {
  const kernel_fn fn = kernel_of(t, kernel, dtype);
  const size_t size = dtype_size(dtype);
  static char a[64 * 16], b[64 * 16], alone[64 * 16], out[64 * 16];
  for (int i = 0; i < 48; i++) {
    /* different magnitudes: a vector routine may take a slow path because of one large element */
    const double x = i == 4       ? NAN
                     : i % 9 == 4 ? special_points[random_word() % N_SPECIAL]
                     : i % 3      ? random_in(-4, 4)
                                  : random_in(-1, 1) * exp(random_in(-5, 25));
    const double y = random_in(-3, 3);
    kernel_cast(DAMO_FLOAT64, dtype)(&x, a + (size_t)i * size, 1);
    kernel_cast(DAMO_FLOAT64, dtype)(&y, b + (size_t)i * size, 1);
  }
  memset(alone, 0, sizeof alone);
  for (int i = 0; i < 48; i++) {
    char *at = a + (size_t)i * size, *bt = b + (size_t)i * size, *o = alone + (size_t)i * size;
    fn(n_in == 1 ? (void *[]){at, o, NULL} : (void *[]){at, bt, o}, 1);
  }
  bool same = true;
  for (int shift = 0; shift < 8; shift += 1 + (dtype_size(dtype) == 1))
    for (int n = 0; n <= 40; n++) {
      char *at = a + (size_t)shift * size, *bt = b + (size_t)shift * size, *o = out + (size_t)shift * size;
      memset(out, 0x5A, sizeof out);
      fn(n_in == 1 ? (void *[]){at, o, NULL} : (void *[]){at, bt, o}, n);
      same = same && memcmp(o, alone + (size_t)shift * size, (size_t)n * size) == 0 && o[(size_t)n * size] == 0x5A;
      memcpy(o, at, (size_t)n * size);
      fn(n_in == 1 ? (void *[]){o, o, NULL} : (void *[]){o, bt, o}, n);
      same = same && memcmp(o, alone + (size_t)shift * size, (size_t)n * size) == 0;
    }
  if (!CHECK(same)) fprintf(stderr, "    %s %s %s\n", t->name, name, dtype_name(dtype));
}

static void test_position(const kernel_isa *t) {
  static const struct {
    const char *name;
    elem_kernel kernel;
    int n_in;
  } extra[] = {{"logaddexp", ELEM_logaddexp, 2}, {"floor_div", ELEM_floor_div, 2},
               {"erfinv", ELEM_erfinv, 1},       {"psi", ELEM_psi, 1},
               {"sign", ELEM_sign, 1},           {"neg", ELEM_neg, 1}};
  for (size_t k = 0; k < sizeof unary_cases / sizeof *unary_cases; k++)
    for (int d = DAMO_FLOAT32; d <= DAMO_FLOAT64; d++)
      check_position(t, unary_cases[k].kernel, unary_cases[k].name, (damo_dtype)d, 1);
  for (size_t k = 0; k < sizeof binary_cases / sizeof *binary_cases; k++)
    for (int d = DAMO_FLOAT32; d <= DAMO_FLOAT64; d++)
      check_position(t, binary_cases[k].kernel, binary_cases[k].name, (damo_dtype)d, 2);
  for (size_t k = 0; k < sizeof extra / sizeof *extra; k++)
    for (int d = DAMO_FLOAT32; d <= DAMO_FLOAT64; d++)
      check_position(t, extra[k].kernel, extra[k].name, (damo_dtype)d, extra[k].n_in);
  for (int d = DAMO_INT8; d <= DAMO_COMPLEX128; d++) {
    check_position(t, ELEM_add, "add", (damo_dtype)d, 2);
    check_position(t, ELEM_mul, "mul", (damo_dtype)d, 2);
    check_position(t, ELEM_sqr, "sqr", (damo_dtype)d, 1);
    if (!dtype_is_complex((damo_dtype)d)) check_position(t, ELEM_maximum, "maximum", (damo_dtype)d, 2);
  }
}

/* ---- Elementwise: integers, bool, complex ------------------------------------------------------------------------ */

static int64_t int_binary(kernel_fn fn, damo_dtype dtype, int64_t a, int64_t b) {
  char x[8], y[8], z[8];
  int64_t out;
  kernel_cast(DAMO_INT64, dtype)(&a, x, 1);
  kernel_cast(DAMO_INT64, dtype)(&b, y, 1);
  fn((void *[]){x, y, z}, 1);
  kernel_cast(dtype, DAMO_INT64)(z, &out, 1);
  return out;
}

static int64_t int_unary(kernel_fn fn, damo_dtype dtype, int64_t a) {
  char x[8], z[8];
  int64_t out;
  kernel_cast(DAMO_INT64, dtype)(&a, x, 1);
  fn((void *[]){x, z}, 1);
  kernel_cast(dtype, DAMO_INT64)(z, &out, 1);
  return out;
}

static void test_signed(const kernel_isa *t, damo_dtype d) {
  const int64_t least = (int64_t)(~(uint64_t)0 << (8 * dtype_size(d) - 1)), most = ~least;
  CHECK_EQ_I(int_binary(t->elem[ELEM_floor_div].fn[d], d, least, -1), least);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mod].fn[d], d, least, -1), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_floor_div].fn[d], d, 5, 0), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mod].fn[d], d, 5, 0), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_floor_div].fn[d], d, -7, 2), -4);
  CHECK_EQ_I(int_binary(t->elem[ELEM_floor_div].fn[d], d, 7, -2), -4);
  CHECK_EQ_I(int_binary(t->elem[ELEM_floor_div].fn[d], d, -8, -2), 4);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mod].fn[d], d, -7, 3), 2);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mod].fn[d], d, 7, -3), -2);
  CHECK_EQ_I(int_binary(t->elem[ELEM_add].fn[d], d, most, 1), least);
  CHECK_EQ_I(int_binary(t->elem[ELEM_sub].fn[d], d, least, 1), most);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mul].fn[d], d, least, -1), least);
  CHECK_EQ_I(int_unary(t->elem[ELEM_neg].fn[d], d, least), least);
  CHECK_EQ_I(int_unary(t->elem[ELEM_abs].fn[d], d, least), least);
  CHECK_EQ_I(int_unary(t->elem[ELEM_abs].fn[d], d, -5), 5);
  CHECK_EQ_I(int_unary(t->elem[ELEM_sign].fn[d], d, least), -1);
  CHECK_EQ_I(int_unary(t->elem[ELEM_invert].fn[d], d, 0), -1);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, -3, 3), -27);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, 0, 0), 1);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, 2, -1), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, 1, -5), 1);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, -1, -5), -1);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, -1, -4), 1);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, 2, (int64_t)(8 * dtype_size(d))), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_maximum].fn[d], d, -1, 1), 1);
  CHECK_EQ_I(int_binary(t->elem[ELEM_minimum].fn[d], d, -1, 1), -1);
}

static void test_unsigned(const kernel_isa *t, damo_dtype d) {
  const int64_t most = (int64_t)(~(uint64_t)0 >> (64 - 8 * dtype_size(d))); /* -1 for uint64 */
  CHECK_EQ_I(int_binary(t->elem[ELEM_add].fn[d], d, most, 1), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_sub].fn[d], d, 0, 1), most);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mul].fn[d], d, most, most), 1); /* uint16: no overflow of int */
  CHECK_EQ_I(int_binary(t->elem[ELEM_floor_div].fn[d], d, most, 0), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mod].fn[d], d, most, 0), 0);
  CHECK_EQ_I(int_binary(t->elem[ELEM_mod].fn[d], d, 17, 5), 2);
  CHECK_EQ_I(int_unary(t->elem[ELEM_neg].fn[d], d, 1), most);
  CHECK_EQ_I(int_unary(t->elem[ELEM_abs].fn[d], d, most), most);
  CHECK_EQ_I(int_unary(t->elem[ELEM_sign].fn[d], d, most), 1);
  CHECK_EQ_I(int_binary(t->elem[ELEM_maximum].fn[d], d, most, 1), most);
  CHECK_EQ_I(int_binary(t->elem[ELEM_pow].fn[d], d, 3, 4), 81);
}

static void test_bool_and_choice(const kernel_isa *t) {
  const uint8_t a[] = {0, 0, 1, 1}, b[] = {0, 1, 0, 1};
  uint8_t out[4];
  void *args[] = {(void *)(uintptr_t)a, (void *)(uintptr_t)b, out};
  t->elem[ELEM_add].fn[DAMO_BOOL](args, 4);
  CHECK(memcmp(out, (uint8_t[]){0, 1, 1, 1}, 4) == 0);
  t->elem[ELEM_mul].fn[DAMO_BOOL](args, 4);
  CHECK(memcmp(out, (uint8_t[]){0, 0, 0, 1}, 4) == 0);
  t->elem[ELEM_xor].fn[DAMO_BOOL](args, 4);
  CHECK(memcmp(out, (uint8_t[]){0, 1, 1, 0}, 4) == 0);
  t->elem[ELEM_lt].fn[DAMO_BOOL](args, 4);
  CHECK(memcmp(out, (uint8_t[]){0, 1, 0, 0}, 4) == 0);
  t->elem[ELEM_invert].fn[DAMO_BOOL]((void *[]){(void *)(uintptr_t)a, out}, 4);
  CHECK(memcmp(out, (uint8_t[]){1, 1, 0, 0}, 4) == 0);
  CHECK(t->elem[ELEM_sub].fn[DAMO_BOOL] == NULL && t->elem[ELEM_neg].fn[DAMO_BOOL] == NULL &&
        t->elem[ELEM_true_div].fn[DAMO_INT32] == NULL);
  CHECK(t->elem[ELEM_erf].fn[DAMO_COMPLEX64] == NULL && t->elem[ELEM_exp].fn[DAMO_INT8] == NULL);
  uint8_t cond[] = {1, 0};
  double x[] = {1, 2}, y[] = {3, 4}, z[4], lo[] = {0, 3}, hi[] = {0.5, 9}, nan2[] = {NAN, NAN};
  t->elem[ELEM_switch_].fn[DAMO_FLOAT64]((void *[]){cond, x, y, z}, 2);
  CHECK(z[0] == 1 && z[1] == 4);
  t->elem[ELEM_clip].fn[DAMO_FLOAT64]((void *[]){x, lo, hi, z}, 2);
  CHECK(z[0] == 0.5 && z[1] == 3);
  t->elem[ELEM_clip].fn[DAMO_FLOAT64]((void *[]){nan2, lo, hi, z}, 2);
  CHECK(isnan(z[0]) && isnan(z[1]));
  t->elem[ELEM_sign].fn[DAMO_FLOAT64]((void *[]){nan2, z}, 2);
  CHECK(isnan(z[0]));
  t->elem[ELEM_complex].fn[DAMO_FLOAT64]((void *[]){x, y, z}, 2);
  CHECK(z[0] == 1 && z[1] == 3 && z[2] == 2 && z[3] == 4);
  uint8_t flags[4];
  double mixed[] = {NAN, INFINITY, -INFINITY, 1};
  t->elem[ELEM_isnan].fn[DAMO_FLOAT64]((void *[]){mixed, flags}, 4);
  CHECK(memcmp(flags, (uint8_t[]){1, 0, 0, 0}, 4) == 0);
  t->elem[ELEM_isinf].fn[DAMO_FLOAT64]((void *[]){mixed, flags}, 4);
  CHECK(memcmp(flags, (uint8_t[]){0, 1, 1, 0}, 4) == 0);
  t->elem[ELEM_isinf].fn[DAMO_INT32]((void *[]){mixed, flags}, 4);
  CHECK(memcmp(flags, (uint8_t[]){0, 0, 0, 0}, 4) == 0);
}

static double _Complex complex_of(double re, double im) {
  double _Complex z;
  memcpy(&z, (double[]){re, im}, sizeof z);
  return z;
}

static void check_complex(kernel_fn fn, double _Complex a, double _Complex b, int n_in, double _Complex want) {
  damo_c128 x = {creal(a), cimag(a)}, y = {creal(b), cimag(b)}, z;
  if (n_in == 1)
    fn((void *[]){&x, &z}, 1);
  else
    fn((void *[]){&x, &y, &z}, 1);
  CHECK_NEAR(z.re, creal(want), 1e-14 * cabs(want));
  CHECK_NEAR(z.im, cimag(want), 1e-14 * cabs(want));
}

static void test_complex(const kernel_isa *t) {
  const damo_dtype d = DAMO_COMPLEX128;
  for (int i = 0; i < 50; i++) {
    const double _Complex a = complex_of(random_in(-3, 3), random_in(-3, 3)),
                          b = complex_of(random_in(-3, 3), random_in(-3, 3));
    check_complex(t->elem[ELEM_add].fn[d], a, b, 2, a + b);
    check_complex(t->elem[ELEM_mul].fn[d], a, b, 2, a * b);
    check_complex(t->elem[ELEM_true_div].fn[d], a, b, 2, a / b);
    check_complex(t->elem[ELEM_pow].fn[d], a, b, 2, cpow(a, b));
    check_complex(t->elem[ELEM_pow].fn[d], a, complex_of(-3, 0), 2, 1 / (a * a * a));
    check_complex(t->elem[ELEM_exp].fn[d], a, 0, 1, cexp(a));
    check_complex(t->elem[ELEM_log].fn[d], a, 0, 1, clog(a));
    check_complex(t->elem[ELEM_sqrt].fn[d], a, 0, 1, csqrt(a));
    check_complex(t->elem[ELEM_expm1].fn[d], a, 0, 1, cexp(a) - 1);
    check_complex(t->elem[ELEM_log1p].fn[d], a / 10, 0, 1, clog(1 + a / 10));
    check_complex(t->elem[ELEM_arctanh].fn[d], a, 0, 1, catanh(a));
    check_complex(t->elem[ELEM_sign].fn[d], a, 0, 1, a / cabs(a));
    check_complex(t->elem[ELEM_reciprocal].fn[d], a, 0, 1, 1 / a);
    check_complex(t->elem[ELEM_conj].fn[d], a, 0, 1, conj(a));
  }
  check_complex(t->elem[ELEM_sign].fn[d], complex_of(1e308, 1e308), 0, 1, complex_of(sqrt(0.5), sqrt(0.5)));
  check_complex(t->elem[ELEM_sign].fn[d], complex_of(5e-324, 0), 0, 1, 1);
  check_complex(t->elem[ELEM_sign].fn[d], 0, 0, 1, 0);
  check_complex(t->elem[ELEM_pow].fn[d], 0, 0, 2, 1);
  damo_c128 z = {3, -4};
  double out;
  t->elem[ELEM_abs].fn[d]((void *[]){&z, &out}, 1);
  CHECK(out == 5);
  t->elem[ELEM_angle].fn[d]((void *[]){&z, &out}, 1);
  CHECK_NEAR(out, atan2(-4, 3), 1e-15);
}

/* One nonfinite entry, at every position. */
static void test_all_finite(void) {
  enum { N = 37 };
  double f64[2 * N] = {0};
  float f32[2 * N] = {0};
  const int64_t ints[2] = {INT64_MAX, INT64_MIN};
  for (int n = 0; n <= N; n++) {
    CHECK(kernel_all_finite(DAMO_FLOAT64, f64, n) && kernel_all_finite(DAMO_FLOAT32, f32, n));
    for (int k = 0; k < n; k++) {
      f64[k] = k % 2 ? NAN : -INFINITY;
      f32[k] = k % 2 ? INFINITY : -NAN;
      CHECK(!kernel_all_finite(DAMO_FLOAT64, f64, n) && !kernel_all_finite(DAMO_FLOAT32, f32, n));
      CHECK(!kernel_all_finite(DAMO_COMPLEX128, f64, k / 2 + 1) && !kernel_all_finite(DAMO_COMPLEX64, f32, k / 2 + 1));
      CHECK(kernel_all_finite(DAMO_FLOAT64, f64, k) && kernel_all_finite(DAMO_COMPLEX64, f32, k / 2));
      f64[k] = DBL_MAX;
      f32[k] = -FLT_MAX;
    }
  }
  CHECK(kernel_all_finite(DAMO_INT64, ints, 2));
}

int main(void) {
  test_all_finite();
  CHECK(kernel_isa_named("mmx") == NULL);
  CHECK(kernel_isa_select() != NULL);
  const kernel_isa *t;
  for (int k = 0; (t = next_isa(&k)) != NULL;) {
    CHECK_EQ_S(kernel_isa_named(t->name)->name, t->name);
    test_unary(t);
    test_exp(t);
    test_constants(t);
    test_binary(t);
    test_division_and_logs(t);
    test_position(t);
    for (int d = DAMO_INT8; d <= DAMO_INT64; d++) test_signed(t, (damo_dtype)d);
    for (int d = DAMO_UINT8; d <= DAMO_UINT64; d++) test_unsigned(t, (damo_dtype)d);
    test_bool_and_choice(t);
    test_complex(t);
  }
  TEST_MAIN_END;
}
