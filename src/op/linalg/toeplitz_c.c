/* toeplitz_c: SolveToeplitz as C source: Levinson's recursion, and LU where its residual is too large, as toeplitz.c has
 * them. */
#include <float.h>

#include "core_c.h"

static const char levinson_text[] =
    "/* t[i - j]: entry (i, j) of the matrix, b: one right side, x: its solution; f, g: memory of n numbers each. Not "
    "0 where a\n"
    "   leading minor is 0, or the residual is above rest times the sizes of t and x. */\n"
    "static int levinson_~(ptrdiff_t n, const double *t, const double *b, double rest, double *f, double *g, double "
    "*x) {\n"
    "  double norm = 0, scale = 0, most = 0;\n"
    "  if (t[0] == 0) return 1;\n"
    "  x[0] = b[0] / t[0];\n"
    "  if (n > 1) {\n"
    "    f[0] = t[-1] / t[0];\n"
    "    g[0] = t[1] / t[0];\n"
    "  }\n"
    "  for (ptrdiff_t m = 1; m < n; m++) {\n"
    "    double minor = t[0], last = b[m];\n"
    "    for (ptrdiff_t j = 0; j < m; j++) minor -= t[m - j] * f[m - 1 - j];\n"
    "    if (minor == 0) return 1;\n"
    "    for (ptrdiff_t j = 0; j < m; j++) last -= t[m - j] * x[j];\n"
    "    last /= minor;\n"
    "    for (ptrdiff_t j = 0; j < m; j++) x[j] -= last * f[m - 1 - j];\n"
    "    x[m] = last;\n"
    "    if (m == n - 1) break;\n"
    "    double above = -t[-m - 1], below = -t[m + 1], other = t[0];\n"
    "    for (ptrdiff_t j = 0; j < m; j++) {\n"
    "      above += t[j - m] * f[j];\n"
    "      below += t[m - j] * g[j];\n"
    "      other -= t[j - m] * g[m - 1 - j];\n"
    "    }\n"
    "    if (other == 0) return 1;\n"
    "    f[m] = -above / other;\n"
    "    g[m] = -below / minor;\n"
    "    for (ptrdiff_t j = 0, i = m - 1; j <= i; j++, i--) {\n"
    "      const double fj = f[j], fi = f[i], gj = g[j], gi = g[i];\n"
    "      f[j] = fj - f[m] * gi;\n"
    "      f[i] = fi - f[m] * gj;\n"
    "      g[j] = gj - g[m] * fi;\n"
    "      g[i] = gi - g[m] * fj;\n"
    "    }\n"
    "  }\n"
    "  for (ptrdiff_t i = 1 - n; i < n; i++) norm += fabs(t[i]);\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    double left = b[i];\n"
    "    for (ptrdiff_t j = 0; j < n; j++) left -= t[i - j] * x[j];\n"
    "    if (!(fabs(left) <= most)) most = fabs(left);\n"
    "    if (fabs(x[i]) > scale) scale = fabs(x[i]);\n"
    "  }\n"
    "  return !(most <= rest * norm * scale);\n"
    "}\n";

/* The same of complex numbers. */
static const char pair_levinson_text[] =
    "static pair_f64 less_~(pair_f64 x, pair_f64 a, pair_f64 b) { /* x - a b */\n"
    "  add_pairs_f64(&x, -1, a, b);\n"
    "  return x;\n"
    "}\n"
    "static int levinson_~(ptrdiff_t n, const pair_f64 *t, const pair_f64 *b, double rest, pair_f64 *f, pair_f64 *g,\n"
    "                      pair_f64 *x) {\n"
    "  double norm = 0, scale = 0, most = 0;\n"
    "  if (size_of_pair_f64(t[0]) == 0) return 1;\n"
    "  x[0] = over_pair_f64(b[0], t[0]);\n"
    "  if (n > 1) {\n"
    "    f[0] = over_pair_f64(t[-1], t[0]);\n"
    "    g[0] = over_pair_f64(t[1], t[0]);\n"
    "  }\n"
    "  for (ptrdiff_t m = 1; m < n; m++) {\n"
    "    pair_f64 minor = t[0], last = b[m];\n"
    "    for (ptrdiff_t j = 0; j < m; j++) minor = less_~(minor, t[m - j], f[m - 1 - j]);\n"
    "    if (size_of_pair_f64(minor) == 0) return 1;\n"
    "    for (ptrdiff_t j = 0; j < m; j++) last = less_~(last, t[m - j], x[j]);\n"
    "    last = over_pair_f64(last, minor);\n"
    "    for (ptrdiff_t j = 0; j < m; j++) x[j] = less_~(x[j], last, f[m - 1 - j]);\n"
    "    x[m] = last;\n"
    "    if (m == n - 1) break;\n"
    "    pair_f64 above = t[-m - 1], below = t[m + 1], other = t[0];\n"
    "    for (ptrdiff_t j = 0; j < m; j++) {\n"
    "      above = less_~(above, t[j - m], f[j]);\n"
    "      below = less_~(below, t[m - j], g[j]);\n"
    "      other = less_~(other, t[j - m], g[m - 1 - j]);\n"
    "    }\n"
    "    if (size_of_pair_f64(other) == 0) return 1;\n"
    "    f[m] = over_pair_f64(above, other);\n"
    "    g[m] = over_pair_f64(below, minor);\n"
    "    for (ptrdiff_t j = 0, i = m - 1; j <= i; j++, i--) {\n"
    "      const pair_f64 fj = f[j], fi = f[i], gj = g[j], gi = g[i];\n"
    "      f[j] = less_~(fj, f[m], gi);\n"
    "      f[i] = less_~(fi, f[m], gj);\n"
    "      g[j] = less_~(gj, g[m], fi);\n"
    "      g[i] = less_~(gi, g[m], fj);\n"
    "    }\n"
    "  }\n"
    "  for (ptrdiff_t i = 1 - n; i < n; i++) norm += size_of_pair_f64(t[i]);\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    pair_f64 left = b[i];\n"
    "    for (ptrdiff_t j = 0; j < n; j++) left = less_~(left, t[i - j], x[j]);\n"
    "    const double size = size_of_pair_f64(left);\n"
    "    if (!(size <= most)) most = size;\n"
    "    scale = fmax(scale, size_of_pair_f64(x[i]));\n"
    "  }\n"
    "  return !(most <= rest * norm * scale);\n"
    "}\n";

/* Numbers in double are by columns here: x of a right side stands at k n. */
static const char *c_numbers(const core_source *s, int64_t n) {
  return dtype_is_complex(s->dtype) ? c_pairs(s, n) : c_doubles(s, n);
}

/* to = from, entries of the arrays above and of an operand or a result: as `type`, of a part. */
static void c_number(const core_source *s, const char *to, const char *type, const char *from) {
  if (!dtype_is_complex(s->dtype)) {
    ce_line(s->e, "%s = (%s)%s;", to, type, from);
    return;
  }
  ce_line(s->e, "%s.re = (%s)%s.re;", to, type, from);
  ce_line(s->e, "%s.im = (%s)%s.im;", to, type, from);
}

damo_status toeplitz_emit_c(const core_source *s) {
  const c_mat column = s->in[0], row = s->in[1], a = c_mat_scratch(s, column.rows, column.rows), to = s->out[0];
  const long long n = (long long)column.rows;
  c_emit *e = s->e;
  const char *t = c_numbers(s, 2 * n - 1), *b = c_numbers(s, n), *f = c_numbers(s, n), *g = c_numbers(s, n);
  const char *x = c_numbers(s, n * to.cols);
  const bool single = s->dtype == DAMO_FLOAT32 || s->dtype == DAMO_COMPLEX64, complex = dtype_is_complex(s->dtype);
  const double rest = 16 * (single ? FLT_EPSILON : DBL_EPSILON);
  if (complex) c_pair_helpers(s, PAIR_SIZE | PAIR_OVER | PAIR_ADD);
  ce_helper(e, "levinson", complex ? DAMO_COMPLEX128 : DAMO_FLOAT64, complex ? pair_levinson_text : levinson_text);
  ce_line(e, "int whole = 0;");
  ce_for(e, "i", n);
  c_number(s, ce_text(e, "%s[%lld + i]", t, n - 1), "double",
           ce_text(e, "(%s)[i * %lld]", column.at, (long long)column.rs));
  ce_close(e);
  ce_open(e, "for (ptrdiff_t i = 1; i < %lld; i++)", n);
  c_number(s, ce_text(e, "%s[%lld - i]", t, n - 1), "double", ce_text(e, "(%s)[i * %lld]", row.at, (long long)row.rs));
  ce_close(e);
  ce_open(e, "for (ptrdiff_t k = 0; k < %lld && !whole; k++)", (long long)to.cols);
  ce_for(e, "i", n);
  c_number(s, ce_text(e, "%s[i]", b), "double",
           ce_text(e, "(%s)[i * %lld + k * %lld]", s->in[2].at, (long long)s->in[2].rs, (long long)s->in[2].cs));
  ce_close(e);
  ce_line(e, "whole = levinson_%s(%lld, %s + %lld, %s, %s, %s, %s, %s + k * %lld);", complex ? "c128" : "f64", n, t,
          n - 1, b, ce_number(e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = rest}), f, g, x, n);
  ce_close(e);
  ce_open(e, "if (!whole)");
  ce_for(e, "i", n);
  ce_for(e, "k", to.cols);
  c_number(s, ce_text(e, "(%s)[i * %lld + k * %lld]", to.at, (long long)to.rs, (long long)to.cs),
           single ? "float" : "double", ce_text(e, "%s[k * %lld + i]", x, n));
  ce_close(e);
  ce_close(e);
  ce_close(e);
  ce_open(e, "else");
  ce_for(e, "i", a.rows);
  ce_line(e, "for (ptrdiff_t j = 0; j < %lld; j++)", n);
  ce_line(e, "  (%s)[i * %lld + j] = i >= j ? (%s)[(i - j) * %lld] : (%s)[(j - i) * %lld];", a.at, n, column.at,
          (long long)column.rs, row.at, (long long)row.rs);
  ce_close(e);
  c_mat_copy(s, to, s->in[2]);
  c_lu_solve(s, a, c_lu(s, a), false, to);
  ce_close(e);
  return e->status;
}
