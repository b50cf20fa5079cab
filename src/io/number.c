/* number: parses decimal literals of text files, correctly rounded, and writes numbers; independent of the locale. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_int.h"

#define DIGITS_MOST 800 /* 768 digits separate any two adjacent doubles: further digits only matter as nonzero or not */

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool number_decimal(cell_text t, decimal *d) {
  const char *p = t.at, *end = t.at + t.n;
  int n_digits = 0;
  bool seen = false;
  *d = (decimal){.exact = true, .whole = true};
  if (p < end && (*p == '-' || *p == '+')) d->negative = *p++ == '-';
  for (bool fraction = false; p < end; p++) {
    if (*p == '.' && !fraction) {
      fraction = true;
      d->whole = false;
      continue;
    }
    if (!is_digit(*p)) break;
    seen = true;
    if (n_digits < 19) {
      d->digits = 10 * d->digits + (uint64_t)(*p - '0');
      n_digits += d->digits > 0;
      d->exponent -= fraction;
    } else {
      d->exact = false;
      d->exponent += !fraction;
    }
  }
  if (!seen) return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    bool minus = false;
    int e = 0;
    d->whole = false;
    if (++p < end && (*p == '-' || *p == '+')) minus = *p++ == '-';
    if (p == end || !is_digit(*p)) return false;
    for (; p < end && is_digit(*p); p++) e = e < 100000 ? 10 * e + (*p - '0') : e;
    d->exponent += minus ? -e : e;
  }
  return p == end;
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

/* Fast path (Clinger 1990): digits up to 2^53 and powers of ten up to 10^22 are exact doubles, so one multiplication or
 * division of them rounds correctly. */
bool number_double(cell_text t, double *out) {
  decimal d;
  if (t.n == 0) {
    *out = NAN;
    return true;
  }
  if (!number_decimal(t, &d)) return parse_word(t, out);
  double v = (double)d.digits;
  if (d.digits == 0) {
    v = 0;
  } else if (!d.exact || d.digits > ((uint64_t)1 << 53) || d.exponent < -22 || d.exponent > 22) {
    *out = slow_double(t);
    return true;
  } else {
    v = d.exponent < 0 ? v / power_of_ten[-d.exponent] : v * power_of_ten[d.exponent];
  }
  *out = d.negative ? -v : v;
  return true;
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
