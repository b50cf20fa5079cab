/* special_lambert: Lambert's W of complex numbers; special_zeta.c has it of real ones. */
#include <complex.h>
#undef I
#include <math.h>
#include <string.h>

#include "special_zeta.h"

#define LAMBERT_PI 3.14159265358979323846
#define LAMBERT_E 2.71828182845904523536

static double _Complex lambert_complex(double re, double im) {
  const double parts[2] = {re, im};
  double _Complex z;
  memcpy(&z, parts, sizeof z); /* re + im * I mixes infinities */
  return z;
}

/* Where Halley's method starts (Corless and others 1996, section 4): in powers of p = sqrt(2 (e z + 1)) near the branch
 * point -1/e, whose other sheet W_(-1) has from above alone; by a quotient near 0; else by logarithms. */
static double _Complex lambert_start(int k, double _Complex z) {
  const double _Complex p = csqrt(2 * (LAMBERT_E * z + 1));
  if (cabs(p) < 1.2 && (k == 0 || cimag(z) >= 0)) {
    const double _Complex q = k == 0 ? p : -p;
    return -1 + q * (1 + q * (-1.0 / 3 + q * (11.0 / 72)));
  }
  if (k == 0 && cabs(z) < 1.5 && creal(z) > -0.5) return z * (1 + z * 0.75) / (1 + z * (1.75 + z * 0.4));
  const double _Complex l = clog(z) + lambert_complex(0, 2 * LAMBERT_PI * k);
  return l - clog(l);
}

/* Halley's method on w - z exp(-w). */
static double _Complex lambert_any(int k, double _Complex z) {
  if (isnan(creal(z)) || isnan(cimag(z))) return lambert_complex(NAN, NAN);
  if (z == 0) return k == 0 ? z : lambert_complex(-INFINITY, 0);
  if (isinf(creal(z)) || isinf(cimag(z))) return clog(z) + lambert_complex(0, 2 * LAMBERT_PI * k);
  if (cimag(z) == 0) { /* on the real axis, where W is real */
    const double w = k == 0 ? special_lambertw_principal(creal(z)) : special_lambertw_lower(creal(z));
    if (!isnan(w)) return lambert_complex(w, cimag(z));
  }
  double _Complex w = lambert_start(k, z);
  for (int i = 0; i < 40; i++) {
    const double _Complex f = w - z * cexp(-w), t = w + 1;
    const double _Complex step = f / (t - (w + 2) * f / (2 * t));
    w -= step;
    if (!(cabs(step) > 2e-16 * cabs(w))) break;
  }
  return w;
}

void special_lambertw_complex(int k, const double *z, double *w) {
  const double _Complex y = lambert_any(k, lambert_complex(z[0], z[1]));
  memcpy(w, &y, sizeof y);
}
