/* special_elliptic: see special_elliptic.h. DLMF is dlmf.nist.gov. */
#include "special_elliptic.h"

#include <math.h>
#include <stdbool.h>

#include "dd.h"
#include "special.h"
#include "special_gamma.h"

#define ELLIPTIC_PI 3.14159265358979323846

/* ---- Elliptic integrals ------------------------------------------------------------------------------------------------ */

/* K(m), 0 <= m < 1, by the arithmetic-geometric mean (DLMF 19.8.5), m1 = 1 - m; *d is (K - E) / m by DLMF 19.8.6: K times
 * the sum of 2^(n-1) c_n² / m, whose terms are positive. */
static double elliptic_agm(double m, double m1, double *d) {
  double a = 1, g = sqrt(m1), power = 1, sum = 0.5;
  for (int n = 1; n < 60; n++) {
    const double c = n == 1 ? m / (2 * (1 + g)) : (a - g) / 2; /* c_n */
    sum += power * (n == 1 ? c / (2 * (1 + g)) : c * c / m);
    power *= 2;
    const double mean = (a + g) / 2;
    g = sqrt(a * g);
    a = mean;
    if (c < 1e-9 * a) break;
  }
  const double k = ELLIPTIC_PI / (a + g);
  *d = k * sum;
  return k;
}

typedef struct elliptic_values {
  double k, e, d; /* K, E, (K - E) / m */
} elliptic_values;

/* 0 <= m < 1. E near m = 1 by Legendre's relation (DLMF 19.7.1), whose terms are positive. */
static elliptic_values elliptic_inside(double m, double m1) {
  elliptic_values v;
  v.k = elliptic_agm(m, m1, &v.d);
  v.e = v.k - m * v.d;
  if (m > 0.5) {
    double d1;
    const double k1 = elliptic_agm(m1, m, &d1);
    v.e = (ELLIPTIC_PI / 2 + v.k * m1 * d1) / k1;
  }
  return v;
}

/* m < 1; below 0 by the imaginary modulus transformation (DLMF 19.7.2) to m' = m / (m - 1), 1 - m' = 1 / (1 - m). */
static elliptic_values elliptic_at(double m) {
  if (m >= 0) return elliptic_inside(m, 1 - m);
  const double root = sqrt(1 - m);
  const elliptic_values v = elliptic_inside(m / (m - 1), 1 / (1 - m));
  return (elliptic_values){v.k / root, root * v.e, (v.k - v.d) / root};
}

double special_ellipk(double m) {
  if (isnan(m) || m > 1) return NAN;
  if (m == 1) return INFINITY;
  return isinf(m) ? 0 : elliptic_at(m).k;
}

double special_ellipe(double m) {
  if (isnan(m) || m > 1) return NAN;
  if (m == 1) return 1;
  return isinf(m) ? INFINITY : elliptic_at(m).e;
}

double special_ellipd(double m) {
  if (isnan(m) || m > 1) return NAN;
  if (m == 1) return INFINITY;
  return isinf(m) ? 0 : elliptic_at(m).d;
}

/* ---- Incomplete elliptic integrals ------------------------------------------------------------------------------------- */

/* Carlson's R_F(x, y, z) and R_D(x, y, z) by duplication (DLMF 19.36.1, 19.36.2; B. C. Carlson, Numerical Algorithms 10,
 * 1995), of arguments that are not negative, of which at most one, and not z of R_D, is 0. */
static double carlson_rf(double x, double y, double z) {
  double a = (x + y + z) / 3, scale = fmax(fmax(fabs(a - x), fabs(a - y)), fabs(a - z)) * 400;
  const double x0 = x, y0 = y, a0 = a;
  double power = 1;
  while (power * scale > fabs(a)) {
    const double rx = sqrt(x), ry = sqrt(y), rz = sqrt(z), lambda = rx * ry + rx * rz + ry * rz;
    a = (a + lambda) / 4;
    x = (x + lambda) / 4;
    y = (y + lambda) / 4;
    z = (z + lambda) / 4;
    power /= 4;
  }
  const double u = power * (a0 - x0) / a, v = power * (a0 - y0) / a, w = -u - v;
  const double e2 = u * v - w * w, e3 = u * v * w;
  return (1 + e3 * (1.0 / 14 + 3 * e3 / 104) + e2 * (-0.1 + e2 / 24 - 3 * e3 / 44 - 5 * e2 * e2 / 208 + e2 * e3 / 16)) /
         sqrt(a);
}

static double carlson_rd(double x, double y, double z) {
  double a = (x + y + 3 * z) / 5, scale = fmax(fmax(fabs(a - x), fabs(a - y)), fabs(a - z)) * 500;
  const double x0 = x, y0 = y, a0 = a;
  double power = 1, sum = 0;
  while (power * scale > fabs(a)) {
    const double rx = sqrt(x), ry = sqrt(y), rz = sqrt(z), lambda = rx * ry + rx * rz + ry * rz;
    sum += power / (rz * (z + lambda));
    a = (a + lambda) / 4;
    x = (x + lambda) / 4;
    y = (y + lambda) / 4;
    z = (z + lambda) / 4;
    power /= 4;
  }
  const double u = power * (a0 - x0) / a, v = power * (a0 - y0) / a, w = -(u + v) / 3, ww = w * w;
  const double e2 = u * v - 6 * ww, e3 = (3 * u * v - 8 * ww) * w, e4 = 3 * (u * v - ww) * ww, e5 = u * v * ww * w;
  const double series = 1 - 3 * e2 / 14 + e3 / 6 + 9 * e2 * e2 / 88 - 3 * e4 / 22 - 9 * e2 * e3 / 52 + 3 * e5 / 26 -
                        e2 * e2 * e2 / 16 + 3 * e3 * e3 / 40 + 3 * e2 * e4 / 20 + 45 * e2 * e2 * e3 / 272 -
                        9 * (e3 * e4 + e2 * e5) / 68;
  return power * series / (a * sqrt(a)) + 3 * sum;
}

/* phi = periods pi + rest: the sine and cosine of the rest, and 1 - m sin². */
typedef struct elliptic_angle {
  double periods, s, c, delta2;
} elliptic_angle;

static elliptic_angle elliptic_reduce(double phi, double m) {
  elliptic_angle r = {.periods = rint(phi / ELLIPTIC_PI)};
  const double rest = (phi - r.periods * ELLIPTIC_PI) - r.periods * 1.2246467991473531772e-16;
  r.s = sin(rest);
  r.c = cos(rest);
  r.delta2 = m > 0 ? r.c * r.c + (1 - m) * r.s * r.s : 1 - m * r.s * r.s;
  return r;
}

/* false: the value is nan, or infinite as that of m = 1 beyond a quarter of the period. */
static bool elliptic_inner(double phi, double m, double *edge) {
  *edge = NAN;
  if (isnan(phi) || isnan(m) || m > 1 || isinf(m)) return false;
  *edge = phi;
  return !isinf(phi);
}

/* DLMF 19.25.5: sin R_F(cos², 1 - m sin², 1). */
double special_ellipkinc(double phi, double m) {
  double edge;
  if (!elliptic_inner(phi, m, &edge)) return edge;
  const elliptic_angle r = elliptic_reduce(phi, m);
  if (m == 1 && (r.periods != 0 || r.c <= 0)) return copysign(INFINITY, phi);
  const double f = r.s * carlson_rf(r.c * r.c, r.delta2, 1);
  return r.periods == 0 ? f : f + 2 * r.periods * special_ellipk(m);
}

/* DLMF 19.25.9 for m <= 0 and 19.25.10 above, whose terms are of one sign. */
double special_ellipeinc(double phi, double m) {
  double edge;
  if (!elliptic_inner(phi, m, &edge)) return edge;
  const elliptic_angle r = elliptic_reduce(phi, m);
  const double cc = r.c * r.c, cube = r.s * r.s * r.s;
  double e;
  if (m == 1) {
    e = r.s;
  } else if (m <= 0) {
    e = r.s * carlson_rf(cc, r.delta2, 1) - m / 3 * cube * carlson_rd(cc, r.delta2, 1);
  } else {
    e = (1 - m) * (r.s * carlson_rf(cc, r.delta2, 1) + m / 3 * cube * carlson_rd(cc, 1, r.delta2)) +
        m * r.s * r.c / sqrt(r.delta2);
  }
  return r.periods == 0 ? e : e + 2 * r.periods * special_ellipe(m);
}

/* The integral of sin² / sqrt(1 - m sin²) (DLMF 19.25.13). */
double special_ellipdinc(double phi, double m) {
  double edge;
  if (!elliptic_inner(phi, m, &edge)) return edge;
  const elliptic_angle r = elliptic_reduce(phi, m);
  if (m == 1 && (r.periods != 0 || r.c <= 0)) return copysign(INFINITY, phi);
  const double d = r.s * r.s * r.s / 3 * carlson_rd(r.c * r.c, r.delta2, 1);
  return r.periods == 0 ? d : d + 2 * r.periods * special_ellipd(m);
}

/* Half the integral of sin² over (1 - m sin²)^(3/2). */
double special_ellipkinc_grad_m(double phi, double m) {
  double edge;
  if (!elliptic_inner(phi, m, &edge)) return edge;
  const elliptic_angle r = elliptic_reduce(phi, m);
  if (m == 1 && (r.periods != 0 || r.c <= 0)) return copysign(INFINITY, phi);
  const double d = r.s * r.s * r.s / 6 * carlson_rd(r.c * r.c, 1, r.delta2);
  if (r.periods == 0) return d;
  return d + 2 * r.periods * (special_ellipk(m) - special_ellipd(m)) / (2 * (1 - m));
}

/* ---- Jacobi's elliptic functions --------------------------------------------------------------------------------------- */

typedef struct jacobi_values {
  double am, sn, cn, dn;
} jacobi_values;

/* By the arithmetic-geometric mean (DLMF 22.20.5 to 22.20.7), 0 <= m <= 1; dn² = (1 - m) + m cn². u is reduced by multiples
 * of 4 K where that is finite. */
static jacobi_values jacobi_at(double u, double m) {
  double a[32], c[32];
  if (isnan(u) || isinf(u) || !(m >= 0 && m <= 1)) return (jacobi_values){NAN, NAN, NAN, NAN};
  if (m == 1) { /* DLMF 22.5.4 */
    const double sech = 1 / cosh(u);
    return (jacobi_values){2 * atan(tanh(u / 2)), tanh(u), sech, sech};
  }
  double g = sqrt(1 - m);
  int n = 0;
  a[0] = 1;
  c[0] = sqrt(m);
  while (n < 30 && fabs(c[n]) > 1e-17 * a[n]) {
    a[n + 1] = (a[n] + g) / 2;
    c[n + 1] = n == 0 ? m / (4 * a[1]) : c[n] * c[n] / (4 * a[n + 1]);
    g = sqrt(a[n] * g);
    n++;
  }
  double phi = ldexp(a[n] * u, n);
  for (; n > 0; n--) phi = (phi + asin(c[n] / a[n] * sin(phi))) / 2;
  const double sn = sin(phi), cn = cos(phi);
  return (jacobi_values){phi, sn, cn, sqrt((1 - m) + m * cn * cn)};
}

double special_jacobi_am(double u, double m) { return jacobi_at(u, m).am; }
double special_jacobi_sn(double u, double m) { return jacobi_at(u, m).sn; }
double special_jacobi_cn(double u, double m) { return jacobi_at(u, m).cn; }
double special_jacobi_dn(double u, double m) { return jacobi_at(u, m).dn; }

/* ---- The hypergeometric function ------------------------------------------------------------------------------------------ */

/* A value and its derivatives in a, b, c. */
typedef struct hyper_jet {
  double v, p[3];
} hyper_jet;

typedef struct hyper_parameters {
  double a, b, c;
} hyper_parameters;

static double hyper_size(hyper_jet j, bool slopes) {
  const double least = fabs(j.v);
  return slopes ? fmax(fmax(least, fabs(j.p[0])), fmax(fabs(j.p[1]), fabs(j.p[2]))) : least;
}

/* The value of the power series DLMF 15.2.1 with terms in double-double: where large parameters of two signs make terms
 * cancel, 32 digits less those that cancel remain. `most` bounds the number of terms. */
static double hyper_series_value(hyper_parameters q, double x, int most) {
  dd t = dd_of(1), sum = t;
  for (int n = 0; n < most; n++) {
    const dd up = dd_mul_d(dd_mul(dd_sum(q.a, n), dd_sum(q.b, n)), x), down = dd_mul_d(dd_sum(q.c, n), n + 1);
    t = dd_div(dd_mul(t, up), down);
    sum = dd_add(sum, t);
    if (t.hi == 0 || (fabs(t.hi) < 1e-20 * fabs(sum.hi) && fabs(up.hi) < fabs(down.hi) && n > -q.a && n > -q.b)) break;
  }
  return dd_value(sum);
}

/* More than 6 bits cancel where the largest term is so many times the sum. */
static const double hyper_cancels = 64;

/* The power series at |x| <= 0.9, and with slopes its derivatives, term by term; *largest is its largest term. */
static hyper_jet hyper_terms(hyper_parameters q, double x, bool slopes, double *largest) {
  hyper_jet t = {.v = 1}, sum = {.v = 1};
  double rest = 0;
  *largest = 1;
  for (int n = 0; n < 5000; n++) {
    const double w = x / ((q.c + n) * (n + 1)), r = (q.a + n) * (q.b + n) * w;
    if (slopes) {
      const double slope[3] = {(q.b + n) * w, (q.a + n) * w, -r / (q.c + n)};
      for (int i = 0; i < 3; i++) {
        t.p[i] = t.p[i] * r + t.v * slope[i];
        sum.p[i] += t.p[i];
      }
    }
    t.v *= r;
    const dd s = dd_sum(sum.v, t.v);
    sum.v = s.hi;
    rest += s.lo;
    *largest = fmax(*largest, fabs(t.v));
    const double size = hyper_size(t, slopes);
    if (size == 0 || (size < 1e-18 * hyper_size(sum, slopes) && fabs(r) < 1 && n > -q.a && n > -q.b)) break;
  }
  sum.v += rest;
  return sum;
}

static hyper_jet hyper_series(hyper_parameters q, double x, bool slopes) {
  double largest;
  hyper_jet f = hyper_terms(q, x, slopes, &largest);
  if (largest > hyper_cancels * fabs(f.v) && isfinite(largest)) f.v = hyper_series_value(q, x, 5000);
  return f;
}

/* From the Taylor series at x, of f and its derivative d, both at x + h: the differential equation DLMF 15.10.1 gives
 * term k + 2, u_(k+2) h^(k+2), by those before. */
static void hyper_step(hyper_parameters q, double x, double h, hyper_jet *f, hyper_jet *d, bool slopes) {
  hyper_jet t = *f, next = *d, sum = *f, d_sum = *d; /* d_sum: of f' h */
  const double p0 = x * (1 - x), p1 = 1 - 2 * x, q0 = q.c - (q.a + q.b + 1) * x;
  next.v *= h;
  d_sum.v *= h;
  for (int i = 0; i < 3; i++) {
    next.p[i] *= h;
    d_sum.p[i] *= h;
  }
  for (int k = 0; k < 400; k++) {
    const double over = h / (p0 * (k + 2) * (k + 1));
    const double w = (k + 1) * (p1 * k + q0) * over, e = (k + q.a) * (k + q.b) * h * over;
    const double w_p[3] = {-(k + 1) * x * over, -(k + 1) * x * over, (k + 1) * over};
    const double e_p[3] = {(k + q.b) * h * over, (k + q.a) * h * over, 0};
    hyper_jet after = {.v = e * t.v - w * next.v};
    sum.v += next.v;
    d_sum.v += (k + 2) * after.v;
    for (int i = 0; slopes && i < 3; i++) {
      after.p[i] = e * t.p[i] + e_p[i] * t.v - w * next.p[i] - w_p[i] * next.v;
      sum.p[i] += next.p[i];
      d_sum.p[i] += (k + 2) * after.p[i];
    }
    const double size = (k + 2) * (hyper_size(after, slopes) + hyper_size(next, slopes));
    t = next;
    next = after;
    if (size < 1e-18 * hyper_size(d_sum, slopes)) break;
  }
  *f = sum;
  d->v = d_sum.v / h;
  for (int i = 0; i < 3; i++) d->p[i] = d_sum.p[i] / h;
}

static hyper_jet hyper_unit(hyper_parameters q, double x, bool slopes);

/* The value at 0 < x < 1 where terms of the series cancel: by Euler's transformation (DLMF 15.8.1)
 * F(a, b; c; x) = (1 - x)^(c - a - b) F(c - a, c - b; c; x) where its least parameter is the greater one. */
static double hyper_cancelling(hyper_parameters q, double x) {
  if (fmin(q.c - q.a, q.c - q.b) <= fmin(q.a, q.b)) return hyper_series_value(q, x, 100000);
  const dd power = dd_mul(dd_log(dd_sum(1, -x)), dd_add_d(dd_sum(q.c, -q.a), -q.b));
  return dd_exp(power) * hyper_unit((hyper_parameters){q.c - q.a, q.c - q.b, q.c}, x, false).v;
}

/* 0 <= x < 1: the series up to 0.9; from there Taylor series, each of half the distance to 1. What has cancelled in the
 * series is small beside other solutions of the equation, to which such steps would add. */
static hyper_jet hyper_unit(hyper_parameters q, double x, bool slopes) {
  double at = x <= 0.9 ? x : 0.8, largest;
  hyper_jet f = hyper_terms(q, at, slopes, &largest);
  const bool cancels = largest > hyper_cancels * fabs(f.v) && isfinite(largest);
  if (cancels && (at == x || (!slopes && x < 0.999))) f.v = hyper_cancelling(q, x);
  if (at == x || (cancels && !slopes && x < 0.999)) return f;
  hyper_jet d = hyper_series((hyper_parameters){q.a + 1, q.b + 1, q.c + 1}, at, slopes); /* f' is a b / c times this */
  const double scale = q.a * q.b / q.c, scale_p[3] = {q.b / q.c, q.a / q.c, -scale / q.c};
  for (int i = 0; i < 3; i++) d.p[i] = d.p[i] * scale + d.v * scale_p[i];
  d.v *= scale;
  while (at < x) {
    const double next = fmin(x, at + (1 - at) / 2);
    hyper_step(q, at, next - at, &f, &d, slopes);
    at = next;
  }
  return f;
}

/* x < 0 by Pfaff's transformation (DLMF 15.8.1): F(a, b; c; x) = (1 - x)^-a F(a, c - b; c; x / (x - 1)). */
static hyper_jet hyper_negative(hyper_parameters q, double x, bool slopes) {
  const bool swapped = q.c - q.b < 0 && q.c - q.a > q.c - q.b;
  const hyper_parameters s = swapped ? (hyper_parameters){q.b, q.a, q.c} : q;
  const hyper_jet g = hyper_unit((hyper_parameters){s.a, s.c - s.b, s.c}, x / (x - 1), slopes);
  const dd log_base = dd_log(dd_sum(1, -x));
  const double power = dd_exp(dd_mul_d(log_base, -s.a));
  const double own = power * (g.p[0] - log_base.hi * g.v), other = -power * g.p[1];
  return (hyper_jet){power * g.v, {swapped ? other : own, swapped ? own : other, power * (g.p[1] + g.p[2])}};
}

/* Gauss's value at x = 1 (DLMF 15.4.20), c > a + b. */
static hyper_jet hyper_one(hyper_parameters q) {
  const double rest = q.c - q.a - q.b;
  int s1, s2, s3, s4;
  const dd over =
      dd_add(special_gammaln_signed(dd_of(q.c), &s1), special_gammaln_signed(dd_add_d(dd_sum(q.c, -q.a), -q.b), &s2));
  const dd under =
      dd_add(special_gammaln_signed(dd_sum(q.c, -q.a), &s3), special_gammaln_signed(dd_sum(q.c, -q.b), &s4));
  hyper_jet f = {.v = s1 * s2 * s3 * s4 * dd_exp(dd_sub(over, under))};
  if (isinf(under.hi)) f.v = 0;
  const double psi = special_psi(rest), psi_a = special_psi(q.c - q.a), psi_b = special_psi(q.c - q.b);
  f.p[0] = f.v * (psi_a - psi);
  f.p[1] = f.v * (psi_b - psi);
  f.p[2] = f.v * (special_psi(q.c) + psi - psi_a - psi_b);
  return f;
}

static bool hyper_ends(double a) { return a <= 0 && a == floor(a); }

/* F of a whole a <= 0 as a polynomial (DLMF 15.2.4). */
static double hyper_polynomial(double a, double b, double c, double x) {
  return hyper_series_value((hyper_parameters){a, b, c}, x, (int)-a);
}

static hyper_jet hyper_at(double a, double b, double c, double x, bool slopes) {
  const hyper_parameters q = {a, b, c};
  if (isnan(a) || isnan(b) || isnan(c) || isnan(x)) return (hyper_jet){NAN, {NAN, NAN, NAN}};
  const double ends = hyper_ends(a) && (!hyper_ends(b) || a > b) ? a : hyper_ends(b) ? b : 1; /* the degree is -ends */
  const bool pole = hyper_ends(c) && !(ends <= 0 && ends >= c);
  if (x == 0) return (hyper_jet){.v = 1};
  if (hyper_ends(c) ? a == c : x > 1 && (a == c || b == c)) { /* (1 - x)^-d, d being the other parameter, DLMF 15.4.6 */
    const double d = a == c ? b : a;
    const bool holds = hyper_ends(c) ? (x >= -1 && x < 1) || (d == 0 && c < 0) : d == floor(d);
    return (hyper_jet){holds ? pow(1 - x, -d) : INFINITY, {NAN, NAN, NAN}};
  }
  if (pole) return (hyper_jet){INFINITY, {NAN, NAN, NAN}};
  if (ends <= 0 && ends > -1e4 && (!slopes || x > 1 || hyper_ends(c))) {
    return (hyper_jet){hyper_polynomial(ends, ends == a ? b : a, c, x), {NAN, NAN, NAN}};
  }
  if (isinf(x) || isinf(a) || isinf(b) || isinf(c))
    return (hyper_jet){x > 0 && isinf(x) ? INFINITY : NAN, {NAN, NAN, NAN}};
  if (x > 1 || (x == 1 && c - a - b <= 0)) return (hyper_jet){INFINITY, {NAN, NAN, NAN}};
  if (x == 1) return hyper_one(q);
  return x < -0.25 ? hyper_negative(q, x, slopes) : x < 0 ? hyper_series(q, x, slopes) : hyper_unit(q, x, slopes);
}

double special_hyp2f1(double a, double b, double c, double x) { return hyper_at(a, b, c, x, false).v; }
double special_hyp2f1_grad_a(double a, double b, double c, double x) { return hyper_at(a, b, c, x, true).p[0]; }
double special_hyp2f1_grad_b(double a, double b, double c, double x) { return hyper_at(a, b, c, x, true).p[1]; }
double special_hyp2f1_grad_c(double a, double b, double c, double x) { return hyper_at(a, b, c, x, true).p[2]; }
