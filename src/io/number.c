/* number: decimal literals of text files, read the same whatever the locale, rounded correctly. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io_int.h"

#define CELL_LONGEST 1000 /* of a number */

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool number_decimal(cell_text t, decimal *d) {
  const char *p = t.at, *end = t.at + t.n;
  int n_digits = 0, n_seen = 0;
  *d = (decimal){.exact = true, .whole = true};
  if (p < end && (*p == '-' || *p == '+')) d->negative = *p++ == '-';
  for (bool fraction = false; p < end; p++) {
    if (*p == '.' && !fraction) {
      fraction = true;
      d->whole = false;
      continue;
    }
    if (!is_digit(*p)) break;
    n_seen++;
    if (n_digits < 19) {
      d->digits = 10 * d->digits + (uint64_t)(*p - '0');
      n_digits += d->digits > 0;
      d->exponent -= fraction;
    } else {
      d->exact = false;
      d->exponent += !fraction;
    }
  }
  if (n_seen == 0) return false;
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

/* Where one multiplication is not exact: the C library's conversion, told the decimal point of the locale. */
static double slow_double(cell_text t) {
  char text[CELL_LONGEST + 2];
  const char *point = localeconv()->decimal_point;
  size_t n = 0;
  for (size_t i = 0; i < t.n; i++) text[n++] = t.at[i] == '.' && !point[1] ? point[0] : t.at[i];
  text[n] = '\0';
  return strtod(text, NULL);
}

static bool is_word(cell_text t, const char *word) {
  if (t.n != strlen(word)) return false;
  for (size_t i = 0; i < t.n; i++) {
    if ((t.at[i] | 0x20) != word[i]) return false;
  }
  return true;
}

static bool parse_word(cell_text t, double *out) {
  const double sign = t.n > 0 && *t.at == '-' ? -1 : 1;
  if (t.n > 0 && (*t.at == '-' || *t.at == '+')) t.at++, t.n--;
  if (is_word(t, "nan") || is_word(t, "na"))
    *out = NAN;
  else if (is_word(t, "inf") || is_word(t, "infinity"))
    *out = sign * INFINITY;
  else
    return false;
  return true;
}

bool number_double(cell_text t, double *out) {
  decimal d;
  if (t.n == 0) {
    *out = NAN;
    return true;
  }
  if (t.n > CELL_LONGEST || !number_decimal(t, &d)) return parse_word(t, out);
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
