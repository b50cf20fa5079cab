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

static const char *c_numbers(const core_source *s, int64_t n) {
  const c_value *v = ce_scratch(s->e, DAMO_FLOAT64, n > 0 ? n : 1);
  return v != NULL ? ce_p(s->e, v) : "0";
}

damo_status toeplitz_emit_c(const core_source *s) {
  const c_mat column = s->in[0], row = s->in[1], a = c_mat_scratch(s, column.rows, column.rows), to = s->out[0];
  const long long n = (long long)column.rows;
  c_emit *e = s->e;
  const char *t = c_numbers(s, 2 * n - 1), *b = c_numbers(s, n), *f = c_numbers(s, n), *g = c_numbers(s, n);
  const char *x = c_numbers(s, n * to.cols), *type = ce_type(s->dtype);
  const double rest = 16 * (s->dtype == DAMO_FLOAT32 ? FLT_EPSILON : DBL_EPSILON);
  ce_helper(e, "levinson", DAMO_FLOAT64, levinson_text);
  ce_line(e, "int whole = 0;");
  ce_line(e, "for (ptrdiff_t i = 0; i < %lld; i++) %s[%lld + i] = (double)(%s)[i * %lld];", n, t, n - 1, column.at,
          (long long)column.rs);
  ce_line(e, "for (ptrdiff_t i = 1; i < %lld; i++) %s[%lld - i] = (double)(%s)[i * %lld];", n, t, n - 1, row.at,
          (long long)row.rs);
  ce_open(e, "for (ptrdiff_t k = 0; k < %lld && !whole; k++)", (long long)to.cols);
  ce_line(e, "for (ptrdiff_t i = 0; i < %lld; i++) %s[i] = (double)(%s)[i * %lld + k * %lld];", n, b, s->in[2].at,
          (long long)s->in[2].rs, (long long)s->in[2].cs);
  ce_line(e, "whole = levinson_f64(%lld, %s + %lld, %s, %s, %s, %s, %s + k * %lld);", n, t, n - 1, b,
          ce_number(e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = rest}), f, g, x, n);
  ce_close(e);
  ce_open(e, "if (!whole)");
  ce_line(e, "for (ptrdiff_t i = 0; i < %lld; i++)", n);
  ce_line(e, "  for (ptrdiff_t k = 0; k < %lld; k++) (%s)[i * %lld + k * %lld] = (%s)%s[k * %lld + i];",
          (long long)to.cols, to.at, (long long)to.rs, (long long)to.cs, type, x, n);
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
