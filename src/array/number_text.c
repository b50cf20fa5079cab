/* number_text: shortest digits and NumPy's column rules.
 *
 * Digits come from printf's %e, which rounds correctly; strtod decides whether they read back as the number. The text
 * in between is parsed digit by digit, so the decimal point of the host's locale does not matter.
 */
#include "number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION 8    /* NumPy's default */
#define RATIO_MAX 1000 /* max / min beyond which the exponent form is clearer */

/* |x| = d[0].d[1]d[2]… * 10^exp, without zeros at the end. */
typedef struct decimal_digits {
  char d[24];
  int n, exp;
} decimal_digits;

static decimal_digits read_digits(const char *text) {
  decimal_digits g = {.n = 0};
  for (; *text && *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9' && g.n < 23) g.d[g.n++] = *text;
  }
  if (*text == 'e') g.exp = (int)strtol(text + 1, NULL, 10);
  while (g.n > 1 && g.d[g.n - 1] == '0') g.n--;
  return g;
}

/* |x| rounded to n digits; n is at least 1. */
static decimal_digits rounded(double x, int n) {
  char text[NUMBER_TEXT_MAX];
  snprintf(text, sizeof text, "%.*e", n - 1, fabs(x));
  return read_digits(text);
}

static decimal_digits shortest(double x, bool single) {
  char text[NUMBER_TEXT_MAX];
  int most = single ? 8 : 16;
  for (int p = 0; p <= most; p++) {
    snprintf(text, sizeof text, "%.*e", p, fabs(x));
    bool same = single ? strtof(text, NULL) == (float)fabs(x) : strtod(text, NULL) == fabs(x);
    if (same) break;
  }
  return read_digits(text);
}

/* The shortest digits, or fewer if these exceed `precision` digits after the point. */
static decimal_digits digits_of(const number_column *c, double x) {
  decimal_digits g = shortest(x, c->single);
  int keep = c->precision + 1 + (c->exponent ? 0 : g.exp);
  return g.n > keep ? rounded(x, keep > 0 ? keep : 1) : g;
}

static int whole_width(const number_column *c, double x, const decimal_digits *g) {
  int sign = signbit(x) || c->plus;
  return sign + (c->exponent || g->exp < 0 ? 1 : g->exp + 1);
}

static int fraction_width(const number_column *c, const decimal_digits *g) {
  int n = g->n - 1 - (c->exponent ? 0 : g->exp);
  return n > 0 && !(g->n == 1 && g->d[0] == '0') ? n : 0;
}

static int exponent_width(int exp) { return abs(exp) >= 100 ? 3 : 2; }

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static char *put_fill(char *p, char c, int n) {
  for (; n > 0; n--) *p++ = c;
  return p;
}

static char *put_sign(char *p, double x, bool plus) {
  if (signbit(x)) {
    *p++ = '-';
  } else if (plus) {
    *p++ = '+';
  }
  return p;
}

/* 123. then 456: the digits before and after the point, without any padding. */
static char *put_positional(char *p, const decimal_digits *g) {
  for (int i = 0; i <= g->exp; i++) *p++ = i < g->n ? g->d[i] : '0';
  if (g->exp < 0) *p++ = '0';
  *p++ = '.';
  if (g->n == 1 && g->d[0] == '0') return p;
  p = put_fill(p, '0', -g->exp - 1);
  for (int i = g->exp < 0 ? 0 : g->exp + 1; i < g->n; i++) *p++ = g->d[i];
  return p;
}

static char *put_exponent(char *p, int exp, int width) {
  return p + snprintf(p, 8, "e%c%0*d", exp < 0 ? '-' : '+', width, abs(exp));
}

/* nan and inf; returns 0 for finite numbers. */
static int special_text(double x, bool plus, char *dst) {
  if (isfinite(x)) return 0;
  if (isnan(x)) return snprintf(dst, NUMBER_TEXT_MAX, "%snan", plus ? "+" : "");
  return snprintf(dst, NUMBER_TEXT_MAX, "%sinf", x < 0 ? "-" : plus ? "+" : "");
}

double number_shown(double x) { return isnan(x) ? fabs(x) : x; }

/* The digits g of x as text. */
static int text_of_digits(double x, const decimal_digits *g, bool single, bool bare, char *dst) {
  char *p = put_sign(dst, x, false);
  double size = fabs(x);
  if (size == 0 || (size >= 1e-4 && size < (single ? 1e6 : 1e16))) {
    p = put_positional(p, g);
    if (p[-1] == '.' && !bare) *p++ = '0';
    if (p[-1] == '.') p--;
  } else {
    *p++ = g->d[0];
    if (g->n > 1) *p++ = '.';
    for (int i = 1; i < g->n; i++) *p++ = g->d[i];
    p = put_exponent(p, g->exp, 2);
  }
  *p = '\0';
  return (int)(p - dst);
}

int number_text(double x, bool single, bool bare, char *dst) {
  int special = special_text(x, false, dst);
  if (special) return special;
  decimal_digits g = shortest(x, single);
  return text_of_digits(x, &g, single, bare, dst);
}

int number_plain(double x, int most, char *dst) {
  int special = special_text(x, false, dst);
  if (special) return special;
  decimal_digits g = most > 0 && most < 17 ? rounded(x, most) : shortest(x, false);
  return text_of_digits(x, &g, false, true, dst);
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

void number_column_begin(number_column *c, bool single, bool plus) {
  *c = (number_column){.single = single, .plus = plus};
}

void number_column_scale(number_column *c, double x) {
  c->n++;
  if (!isfinite(x)) {
    if (x < 0) c->has_neg_inf = true;
    return;
  }
  c->n_finite++;
  double size = fabs(x);
  if (size == 0) return;
  if (c->max == 0 || size > c->max) c->max = size;
  if (c->min == 0 || size < c->min) c->min = size;
}

/* Whether the column is written in exponent form. Compares in the array's own precision, so that float32's 0.0001
 * counts as 0.0001. */
static bool wants_exponent(const number_column *c) {
  if (c->max == 0) return false;
  if (!c->single) return c->max >= 1e8 || c->min < 1e-4 || c->max / c->min > RATIO_MAX;
  float max = (float)c->max, min = (float)c->min;
  return max >= 1e6f || min < 1e-4f || max / min > (float)RATIO_MAX;
}

void number_column_choose(number_column *c) {
  c->exponent = wants_exponent(c);
  c->precision = PRECISION;
}

static void raise_width(int *width, int n) {
  if (n > *width) *width = n;
}

void number_column_measure(number_column *c, double x) {
  if (!isfinite(x)) return;
  decimal_digits g = digits_of(c, x);
  raise_width(&c->left, whole_width(c, x, &g));
  raise_width(&c->right, fraction_width(c, &g));
  if (c->exponent) raise_width(&c->exp_digits, exponent_width(g.exp));
}

/* Afterwards `right` is the width after the point, which in exponent form includes the exponent. */
void number_column_end(number_column *c) {
  if (c->exponent) {
    c->precision = c->right;
    c->right += c->exp_digits + 2;
  }
  if (c->n == c->n_finite) return;
  raise_width(&c->left, 3 - (c->right + 1));
  raise_width(&c->left, 3 + (c->plus || c->has_neg_inf) - (c->right + 1));
}

int number_column_text(const number_column *c, double x, char *dst) {
  char special[NUMBER_TEXT_MAX];
  int n = special_text(x, c->plus, special);
  char *p = dst;
  if (n) {
    p = put_fill(p, ' ', c->left + c->right + 1 - n);
    memcpy(p, special, (size_t)n + 1);
    return (int)(p - dst) + n;
  }
  /* In exponent form all numbers have the same number of digits; beyond the shortest form these are exact digits, not
   * zeros. */
  decimal_digits g = c->exponent ? rounded(x, c->precision + 1) : digits_of(c, x);
  p = put_fill(p, ' ', c->left - whole_width(c, x, &g));
  p = put_sign(p, x, c->plus);
  if (c->exponent) {
    *p++ = g.d[0];
    *p++ = '.';
    for (int i = 1; i <= c->precision; i++) *p++ = i < g.n ? g.d[i] : '0';
    p = put_exponent(p, g.exp, c->exp_digits);
  } else {
    p = put_positional(p, &g);
    p = put_fill(p, ' ', c->right - fraction_width(c, &g));
  }
  *p = '\0';
  return (int)(p - dst);
}
