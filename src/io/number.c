/* number: parses decimal literals of text files, correctly rounded, and writes numbers; independent of the locale. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_int.h"
#include "powers_of_five.h"

#define DIGITS_MOST 800 /* 768 digits separate any two adjacent doubles: further digits only matter as nonzero or not */

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The digits from p on, with a point among them or before or behind them, as far as they go; *seen: there is one. */
static const char *scan_digits(const char *p, const char *end, decimal *d, bool *seen) {
  const char *start = p, *point = NULL;
  uint64_t digits = 0;
  for (; p < end && (is_digit(*p) || (*p == '.' && point == NULL)); p++) {
    if (*p == '.')
      point = p;
    else
      digits = 10 * digits + (uint64_t)(*p - '0');
  }
  const int64_t n = p - start - (point != NULL);
  *seen = n > 0;
  d->whole = point == NULL;
  if (n <= 19) {
    d->digits = digits;
    d->exponent = point != NULL ? -(p - point - 1) : 0;
    return p;
  }
  int n_digits = 0; /* leading zeros not counted */
  for (const char *q = start; q < p; q++) {
    const bool fraction = point != NULL && q > point;
    if (q == point) continue;
    if (n_digits < 19) {
      d->digits = 10 * d->digits + (uint64_t)(*q - '0');
      n_digits += d->digits > 0;
      d->exponent -= fraction;
    } else {
      d->exact = false;
      d->exponent += !fraction;
    }
  }
  return p;
}

/* A decimal literal at the start of the text; returns its end, NULL if there is none. */
static const char *scan_decimal(const char *p, const char *end, decimal *d) {
  bool seen;
  *d = (decimal){.exact = true};
  if (p < end && (*p == '-' || *p == '+')) d->negative = *p++ == '-';
  p = scan_digits(p, end, d, &seen);
  if (!seen) return NULL;
  if (p < end && (*p == 'e' || *p == 'E')) {
    bool minus = false;
    int e = 0;
    d->whole = false;
    if (++p < end && (*p == '-' || *p == '+')) minus = *p++ == '-';
    if (p == end || !is_digit(*p)) return NULL;
    for (; p < end && is_digit(*p); p++) e = e < 100000 ? 10 * e + (*p - '0') : e;
    d->exponent += minus ? -e : e;
  }
  return p;
}

bool number_decimal(cell_text t, decimal *d) {
  const char *end = t.at + t.n;
  return scan_decimal(t.at, end, d) == end;
}

/* Copies the digits of a literal that number_decimal has accepted, without leading zeros: at most DIGITS_MOST, and a
 * final 1 that stands for further nonzero digits. Returns their number; *exponent is that of the last one. */
static int significant_digits(cell_text t, char *dst, int64_t *exponent) {
  int n = 0;
  bool fraction = false, more = false;
  *exponent = 0;
  for (size_t i = 0; i < t.n && (t.at[i] | 0x20) != 'e'; i++) {
    if (t.at[i] == '.') fraction = true;
    if (!is_digit(t.at[i])) continue;
    if (n < DIGITS_MOST) {
      if (n > 0 || t.at[i] != '0') dst[n++] = t.at[i];
      *exponent -= fraction;
    } else {
      more = more || t.at[i] != '0';
      *exponent += !fraction;
    }
  }
  if (more) dst[n++] = '1', --*exponent;
  return n;
}

/* The exponent after e, saturated. */
static int64_t written_exponent(cell_text t) {
  const char *e = NULL;
  for (size_t i = 0; i < t.n && !e; i++) e = (t.at[i] | 0x20) == 'e' ? t.at + i + 1 : NULL;
  if (!e) return 0;
  int64_t n = 0;
  const bool minus = *e == '-';
  for (e += *e == '-' || *e == '+'; e < t.at + t.n; e++) n = n < (int64_t)1 << 50 ? 10 * n + (*e - '0') : n;
  return minus ? -n : n;
}

/* The general case, where one multiplication or division does not round correctly: the C library converts digits and
 * exponent. The text has no decimal point, which depends on the locale. */
static double slow_double(cell_text t) {
  char text[DIGITS_MOST + 32];
  int64_t exponent;
  const int n = significant_digits(t, text, &exponent);
  exponent += written_exponent(t);
  if (exponent > 100000) exponent = 100000;
  if (exponent < -100000) exponent = -100000;
  snprintf(text + n, sizeof text - (size_t)n, "e%lld", (long long)exponent);
  const double v = n > 0 ? strtod(text, NULL) : 0;
  return t.n > 0 && *t.at == '-' ? -v : v;
}

static bool number_is_word(cell_text t, const char *word) {
  if (t.n != strlen(word)) return false;
  for (size_t i = 0; i < t.n; i++) {
    if ((t.at[i] | 0x20) != word[i]) return false;
  }
  return true;
}

static bool parse_word(cell_text t, double *out) {
  const double sign = t.n > 0 && *t.at == '-' ? -1 : 1;
  if (t.n > 0 && (*t.at == '-' || *t.at == '+')) t.at++, t.n--;
  if (number_is_word(t, "nan") || number_is_word(t, "na"))
    *out = NAN;
  else if (number_is_word(t, "inf") || number_is_word(t, "infinity"))
    *out = sign * INFINITY;
  else
    return false;
  return true;
}

/* The 128 bits of a * b. */
static uint64_t multiply(uint64_t a, uint64_t b, uint64_t *low) {
#ifdef __SIZEOF_INT128__
  __extension__ const unsigned __int128 product = (unsigned __int128)a * b;
  *low = (uint64_t)product;
  return (uint64_t)(product >> 64);
#else
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
  *low = a * b;
  return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

static int leading_zeros(uint64_t w) {
#if defined(__GNUC__)
  return __builtin_clzll(w);
#else
  int n = 0;
  for (; w >> 63 == 0; w <<= 1) n++;
  return n;
#endif
}

/* digits * 10^exponent, digits not 0, rounded to the nearest double, ties to even: D. Lemire, Number parsing at a gigabyte
 * per second (Software: Practice and Experience 51, 2021). The product of the digits with 128 bits of the power of five
 * tells the nearest double but where the result is not a normal number, or may lie on a tie: false, and *out is not
 * set. */
static bool nearest_double(uint64_t digits, int64_t exponent, double *out) {
  if (exponent < FIVE_LEAST || exponent > FIVE_MOST) return false;
  const uint64_t *five = power_of_five[exponent - FIVE_LEAST];
  const int zeros = leading_zeros(digits);
  const uint64_t w = digits << zeros;
  uint64_t low, high = multiply(w, five[0], &low);
  if ((high & 0x1ff) == 0x1ff) { /* the lower word of the power may carry into the bits that count */
    uint64_t unused;
    const uint64_t more = multiply(w, five[1], &unused);
    low += more;
    high += low < more;
    if (low == UINT64_MAX && (exponent < -27 || exponent > 55)) return false;
  }
  const int top = (int)(high >> 63), shift = top + 9;
  uint64_t mantissa = high >> shift;
  int64_t power = ((217706 * exponent) >> 16) + 63 + top - zeros + 1023; /* floor(exponent * log2(10)) */
  if (power <= 0) return false;
  if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << shift == high)
    mantissa &= ~UINT64_C(1); /* a tie */
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >> 53 != 0) {
    mantissa >>= 1;
    power++;
  }
  if (power >= 2047) return false;
  const uint64_t bits = (mantissa & ((UINT64_C(1) << 52) - 1)) | (uint64_t)power << 52;
  memcpy(out, &bits, sizeof bits);
  return true;
}

/* Where digits and power of ten are doubles, one multiplication or division rounds correctly (Clinger 1990). Of digits
 * beyond the 19th it only matters whether the double below or above is nearer. */
static bool decimal_double(const decimal *d, double *out) {
  double v = 0, above;
  if (d->digits == 0 && d->exact) {
    v = 0;
  } else if (d->exact && d->digits <= (uint64_t)1 << 53 && d->exponent >= -22 && d->exponent <= 22) {
    v = (double)d->digits;
    v = d->exponent < 0 ? v / power_of_ten[-d->exponent] : v * power_of_ten[d->exponent];
  } else if (!nearest_double(d->digits, d->exponent, &v)) {
    return false;
  } else if (!d->exact && (!nearest_double(d->digits + 1, d->exponent, &above) || above != v)) {
    return false;
  }
  *out = d->negative ? -v : v;
  return true;
}

bool number_double(cell_text t, double *out) {
  decimal d;
  if (t.n == 0) {
    *out = NAN;
    return true;
  }
  if (!number_decimal(t, &d)) return parse_word(t, out);
  if (!decimal_double(&d, out)) *out = slow_double(t);
  return true;
}

const char *number_scan(const char *at, const char *end, double *out) {
  decimal d;
  const char *p = scan_decimal(at, end, &d);
  if (p != NULL && !decimal_double(&d, out)) *out = slow_double((cell_text){at, (size_t)(p - at)});
  return p;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

size_t number_shortest(double x, bool single, char dst[NUMBER_TEXT]) {
  if (!isfinite(x)) return (size_t)snprintf(dst, NUMBER_TEXT, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
  int n = 0;
  for (int digits = single ? 6 : 15; digits <= 17; digits++) {
    n = snprintf(dst, NUMBER_TEXT, "%.*g", digits, x);
    if (single ? strtof(dst, NULL) == (float)x : strtod(dst, NULL) == x) break;
  }
  const char point = *localeconv()->decimal_point;
  char *at = point == '.' ? NULL : strchr(dst, point);
  if (at) *at = '.';
  return (size_t)n;
}
