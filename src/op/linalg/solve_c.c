/* solve_c: triangular factors, and what is computed by them, as C source: loops of a fixed order over matrices with any
 * strides. Pivots are LAPACK's: row i was swapped with row pivots[i], from 1. */
#include <string.h>

#include "core_c.h"
#include "decompose.h"

/* ---- Triangles --------------------------------------------------------------------------------------------------- */

static const char triangle_text[] =
    "/* Solves with a triangle of a, in place. */\n"
    "static void triangle_~(ptrdiff_t n, ptrdiff_t k, const @ *a, ptrdiff_t rs, ptrdiff_t cs, int lower, int unit,\n"
    "                       @ *x, ptrdiff_t xr, ptrdiff_t xc) {\n"
    "  for (ptrdiff_t s = 0; s < n; s++) {\n"
    "    const ptrdiff_t i = lower ? s : n - 1 - s;\n"
    "    for (ptrdiff_t t = 0; t < s; t++) {\n"
    "      const ptrdiff_t l = lower ? t : n - 1 - t;\n"
    "      const @ f = a[i * rs + l * cs];\n"
    "      for (ptrdiff_t j = 0; j < k; j++) x[i * xr + j * xc] -= f * x[l * xr + j * xc];\n"
    "    }\n"
    "    for (ptrdiff_t j = 0; j < k && !unit; j++) x[i * xr + j * xc] /= a[i * (rs + cs)];\n"
    "  }\n"
    "}\n";

/* The same of complex numbers. */
static const char complex_triangle_text[] =
    "/* Solves with a triangle of a, in place. */\n"
    "static void triangle_~(ptrdiff_t n, ptrdiff_t k, const @ *a, ptrdiff_t rs, ptrdiff_t cs, int lower, int unit,\n"
    "                       @ *x, ptrdiff_t xr, ptrdiff_t xc) {\n"
    "  for (ptrdiff_t s = 0; s < n; s++) {\n"
    "    const ptrdiff_t i = lower ? s : n - 1 - s;\n"
    "    for (ptrdiff_t t = 0; t < s; t++) {\n"
    "      const ptrdiff_t l = lower ? t : n - 1 - t;\n"
    "      for (ptrdiff_t j = 0; j < k; j++) minus_product_~(x + i * xr + j * xc, a[i * rs + l * cs], x[l * xr + j * "
    "xc]);\n"
    "    }\n"
    "    for (ptrdiff_t j = 0; j < k && !unit; j++) x[i * xr + j * xc] = quotient_~(x[i * xr + j * xc], a[i * (rs + "
    "cs)]);\n"
    "  }\n"
    "}\n";

static const char minus_product_text[] =
    "/* y -= a b */\n"
    "static void minus_product_~(@ *y, @ a, @ b) {\n"
    "  y->re -= a.re * b.re - a.im * b.im;\n"
    "  y->im -= a.re * b.im + a.im * b.re;\n"
    "}\n";
static const char quotient_text[] =
    "static @ quotient_~(@ a, @ b) { /* by the greater part of b, so that nothing overflows */\n"
    "  const double x = a.re, y = a.im, u = b.re, v = b.im;\n"
    "  const int real = fabs(u) >= fabs(v);\n"
    "  const double ratio = real ? v / u : u / v, below = real ? u + v * ratio : v + u * ratio;\n"
    "  @ q;\n"
    "  q.re = (real ? x + y * ratio : x * ratio + y) / below;\n"
    "  q.im = (real ? y - x * ratio : y * ratio - x) / below;\n"
    "  return q;\n"
    "}\n";

void c_either(const core_source *s, const char *name, const char *real, const char *complex) {
  const bool of_complex = dtype_is_complex(s->dtype);
  if (of_complex) ce_helper(s->e, "minus_product", s->dtype, minus_product_text);
  if (of_complex) ce_helper(s->e, "quotient", s->dtype, quotient_text);
  ce_helper(s->e, name, s->dtype, of_complex ? complex : real);
}

static void triangle_helper(const core_source *s) { c_either(s, "triangle", triangle_text, complex_triangle_text); }

void c_conjugate(const core_source *s, c_mat m) {
  if (!dtype_is_complex(s->dtype)) return;
  ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[k].im = -(%s)[k].im;", (long long)(m.rows * m.cols), m.at,
          m.at);
}

/* op(triangle of a)·x = b, over b. */
static void c_triangle(const core_source *s, c_mat a, bool lower, bool unit, c_mat x) {
  triangle_helper(s);
  ce_line(s->e, "triangle_%s(%lld, %lld, %s, %d, %d, %s);", s->suffix, (long long)a.rows, (long long)x.cols,
          c_mat_text(s->e, a), lower, unit, c_mat_text(s->e, x));
}

/* bad: an entry of the diagonal is 0. */
static void c_check_diagonal(const core_source *s, c_mat a) {
  const char *entry = ce_text(s->e, "(%s)[k * %lld]", a.at, (long long)(a.rs + a.cs));
  if (dtype_is_complex(s->dtype))
    ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) bad |= %s.re == 0 && %s.im == 0;", (long long)a.rows, entry,
            entry);
  else
    ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) bad |= %s == 0;", (long long)a.rows, entry);
}

damo_status triangular_emit_c(const core_source *s) {
  const bool lower = c_flag(s, "lower"), unit = c_flag(s, "unit"), right = c_flag(s, "right");
  const bool turned = (c_system(s) != 'n') != right;
  const c_mat x = right ? c_mat_turned(s->out[0]) : s->out[0], a = s->in[0];
  c_mat_copy(s, s->out[0], s->in[1]);
  if (!unit) c_check_diagonal(s, a);
  if (c_system(s) == 'h') c_conjugate(s, s->out[0]);
  c_triangle(s, turned ? c_mat_turned(a) : a, lower != turned, unit, x);
  if (c_system(s) == 'h') c_conjugate(s, s->out[0]);
  return s->e->status;
}

/* ---- Cholesky ---------------------------------------------------------------------------------------------------- */

/* The lower factor over the lower triangle of a; bad where there is none. */
static const char complex_cholesky_text[] =
    "/* The lower factor over the lower triangle. Returns the order of the first minor that is not positive. */\n"
    "static ptrdiff_t cholesky_~(ptrdiff_t n, @ *a, ptrdiff_t rs, ptrdiff_t cs) {\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    @ *const row = a + j * rs;\n"
    "    double d = row[j * cs].re;\n"
    "    for (ptrdiff_t p = 0; p < j; p++)\n"
    "      d -= (double)row[p * cs].re * row[p * cs].re + (double)row[p * cs].im * row[p * cs].im;\n"
    "    if (d <= 0) return j + 1;\n"
    "    d = sqrt(d);\n"
    "    for (ptrdiff_t i = j + 1; i < n; i++) {\n"
    "      @ v = a[i * rs + j * cs];\n"
    "      for (ptrdiff_t p = 0; p < j; p++) {\n"
    "        const @ x = a[i * rs + p * cs], y = row[p * cs];\n"
    "        v.re -= x.re * y.re + x.im * y.im;\n"
    "        v.im -= x.im * y.re - x.re * y.im;\n"
    "      }\n"
    "      v.re /= d;\n"
    "      v.im /= d;\n"
    "      a[i * rs + j * cs] = v;\n"
    "    }\n"
    "    row[j * cs].re = d;\n"
    "    row[j * cs].im = 0;\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

/* A minor that is nan is no failure, as in OpenBLAS. */
static void c_cholesky(const core_source *s, c_mat a) {
  ce_helper(s->e, "cholesky", s->dtype,
            dtype_is_complex(s->dtype)
                ? complex_cholesky_text
                : "/* The lower factor over the lower triangle. Returns the order of the first minor that is not "
                  "positive. */\n"
                  "static ptrdiff_t cholesky_~(ptrdiff_t n, @ *a, ptrdiff_t rs, ptrdiff_t cs) {\n"
                  "  for (ptrdiff_t j = 0; j < n; j++) {\n"
                  "    @ d = a[j * (rs + cs)];\n"
                  "    for (ptrdiff_t p = 0; p < j; p++) d -= a[j * rs + p * cs] * a[j * rs + p * cs];\n"
                  "    if (d <= 0) return j + 1;\n"
                  "    d = sqrt$(d);\n"
                  "    a[j * (rs + cs)] = d;\n"
                  "    for (ptrdiff_t i = j + 1; i < n; i++) {\n"
                  "      @ v = a[i * rs + j * cs];\n"
                  "      for (ptrdiff_t p = 0; p < j; p++) v -= a[i * rs + p * cs] * a[j * rs + p * cs];\n"
                  "      a[i * rs + j * cs] = v / d;\n"
                  "    }\n"
                  "  }\n"
                  "  return 0;\n"
                  "}\n");
  ce_line(s->e, "bad |= cholesky_%s(%lld, %s);", s->suffix, (long long)a.rows, c_mat_text(s->e, a));
}

damo_status cholesky_emit_c(const core_source *s) {
  const bool lower = c_flag(s, "lower");
  const c_mat x = lower ? s->in[0] : c_mat_turned(s->in[0]), l = lower ? s->out[0] : c_mat_turned(s->out[0]);
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)l.rows);
  ce_line(s->e, "  for (ptrdiff_t j = 0; j < %lld; j++)", (long long)l.rows);
  ce_line(s->e, "    (%s)[i * %lld + j * %lld] = j <= i ? (%s)[i * %lld + j * %lld] : %s;", l.at, (long long)l.rs,
          (long long)l.cs, x.at, (long long)x.rs, (long long)x.cs,
          dtype_is_complex(s->dtype) ? ce_text(s->e, "(%s){0, 0}", ce_type(s->dtype)) : "0");
  c_cholesky(s, l);
  return s->e->status;
}

damo_status half_triangle_emit_c(const core_source *s) {
  const c_mat x = s->in[0], y = s->out[0];
  const bool both = c_flag(s, "hermitian");
  const char *at = ce_text(s->e, "(%s)[i * %lld + j * %lld]", x.at, (long long)x.rs, (long long)x.cs);
  const char *other = ce_text(s->e, "(%s)[j * %lld + i * %lld]", x.at, (long long)x.rs, (long long)x.cs);
  ce_for(s->e, "i", y.rows);
  ce_for(s->e, "j", y.rows);
  if (dtype_is_complex(s->dtype)) {
    ce_line(s->e, "%s v = %s;", ce_type(s->dtype), at);
    if (both) ce_line(s->e, "v.re += %s.re;", other);
    if (both) ce_line(s->e, "v.im -= %s.im;", other);
    ce_line(s->e, "if (i <= j) v.re = i == j ? v.re / 2 : 0;");
    ce_line(s->e, "if (i <= j) v.im = i == j ? v.im / 2 : 0;");
    ce_line(s->e, "(%s)[i * %lld + j] = v;", y.at, (long long)y.rs);
  } else {
    if (both) at = ce_text(s->e, "%s + %s", at, other);
    ce_line(s->e, "(%s)[i * %lld + j] = j > i ? 0 : j < i ? %s : (%s) / 2;", y.at, (long long)y.rs, at, at);
  }
  ce_close(s->e);
  ce_close(s->e);
  return s->e->status;
}

/* ---- LU ---------------------------------------------------------------------------------------------------------- */

static const char lu_text[] =
    "/* P, L and U over a matrix of m rows. Returns the number of the first pivot that is 0; 0: there is none. */\n"
    "static ptrdiff_t lu_~(ptrdiff_t m, ptrdiff_t n, @ *a, ptrdiff_t rs, ptrdiff_t cs, int64_t *pivots) {\n"
    "  ptrdiff_t first = 0;\n"
    "  for (ptrdiff_t j = 0; j < m && j < n; j++) {\n"
    "    ptrdiff_t p = j;\n"
    "    for (ptrdiff_t i = j + 1; i < m; i++)\n"
    "      if (fabs$(a[i * rs + j * cs]) > fabs$(a[p * rs + j * cs])) p = i;\n"
    "    pivots[j] = p + 1;\n"
    "    if (a[p * rs + j * cs] == 0) {\n"
    "      if (first == 0) first = j + 1;\n"
    "      continue;\n"
    "    }\n"
    "    for (ptrdiff_t k = 0; k < n && p != j; k++) {\n"
    "      const @ t = a[j * rs + k * cs];\n"
    "      a[j * rs + k * cs] = a[p * rs + k * cs];\n"
    "      a[p * rs + k * cs] = t;\n"
    "    }\n"
    "    for (ptrdiff_t i = j + 1; i < m; i++) {\n"
    "      const @ f = a[i * rs + j * cs] / a[j * (rs + cs)];\n"
    "      a[i * rs + j * cs] = f;\n"
    "      for (ptrdiff_t k = j + 1; k < n; k++) a[i * rs + k * cs] -= f * a[j * rs + k * cs];\n"
    "    }\n"
    "  }\n"
    "  return first;\n"
    "}\n";

static const char complex_lu_text[] =
    "/* P, L and U over a matrix of m rows. Returns the number of the first pivot that is 0; 0: there is none. */\n"
    "static ptrdiff_t lu_~(ptrdiff_t m, ptrdiff_t n, @ *a, ptrdiff_t rs, ptrdiff_t cs, int64_t *pivots) {\n"
    "  ptrdiff_t first = 0;\n"
    "  for (ptrdiff_t j = 0; j < m && j < n; j++) {\n"
    "    ptrdiff_t p = j;\n"
    "    double most = -1;\n"
    "    for (ptrdiff_t i = j; i < m; i++) {\n"
    "      const double size = fabs((double)a[i * rs + j * cs].re) + fabs((double)a[i * rs + j * cs].im);\n"
    "      if (!(size > most)) continue;\n"
    "      most = size;\n"
    "      p = i;\n"
    "    }\n"
    "    pivots[j] = p + 1;\n"
    "    if (most == 0) {\n"
    "      if (first == 0) first = j + 1;\n"
    "      continue;\n"
    "    }\n"
    "    for (ptrdiff_t k = 0; k < n && p != j; k++) {\n"
    "      const @ t = a[j * rs + k * cs];\n"
    "      a[j * rs + k * cs] = a[p * rs + k * cs];\n"
    "      a[p * rs + k * cs] = t;\n"
    "    }\n"
    "    for (ptrdiff_t i = j + 1; i < m; i++) {\n"
    "      const @ f = quotient_~(a[i * rs + j * cs], a[j * (rs + cs)]);\n"
    "      a[i * rs + j * cs] = f;\n"
    "      for (ptrdiff_t k = j + 1; k < n; k++) minus_product_~(a + i * rs + k * cs, f, a[j * rs + k * cs]);\n"
    "    }\n"
    "  }\n"
    "  return first;\n"
    "}\n";

static void lu_helper(const core_source *s) { c_either(s, "lu", lu_text, complex_lu_text); }

const char *c_lu(const core_source *s, c_mat a) {
  const char *pivots = c_positions(s, a.rows);
  lu_helper(s);
  ce_line(s->e, "bad |= lu_%s(%lld, %lld, %s, %s);", s->suffix, (long long)a.rows, (long long)a.cols,
          c_mat_text(s->e, a), pivots);
  return pivots;
}

static void lu_solve_helper(const core_source *s) {
  triangle_helper(s);
  ce_helper(s->e, "lu_solve", s->dtype,
            "/* Solves with P, L and U, or with the transpose of their product, in place. */\n"
            "static void lu_solve_~(ptrdiff_t n, ptrdiff_t k, const @ *a, ptrdiff_t rs, ptrdiff_t cs,\n"
            "                       const int64_t *pivots, int transposed, @ *x, ptrdiff_t xr, ptrdiff_t xc) {\n"
            "  if (transposed) {\n"
            "    triangle_~(n, k, a, cs, rs, 1, 0, x, xr, xc);\n"
            "    triangle_~(n, k, a, cs, rs, 0, 1, x, xr, xc);\n"
            "  }\n"
            "  for (ptrdiff_t s = 0; s < n; s++) {\n"
            "    const ptrdiff_t i = transposed ? n - 1 - s : s, p = (ptrdiff_t)pivots[i] - 1;\n"
            "    for (ptrdiff_t j = 0; j < k && p != i; j++) {\n"
            "      const @ t = x[i * xr + j * xc];\n"
            "      x[i * xr + j * xc] = x[p * xr + j * xc];\n"
            "      x[p * xr + j * xc] = t;\n"
            "    }\n"
            "  }\n"
            "  if (transposed) return;\n"
            "  triangle_~(n, k, a, rs, cs, 1, 1, x, xr, xc);\n"
            "  triangle_~(n, k, a, rs, cs, 0, 0, x, xr, xc);\n"
            "}\n");
}

void c_lu_helpers(const core_source *s) {
  lu_helper(s);
  lu_solve_helper(s);
}

void c_lu_solve(const core_source *s, c_mat lu, const char *pivots, bool transposed, c_mat x) {
  lu_solve_helper(s);
  ce_line(s->e, "lu_solve_%s(%lld, %lld, %s, %s, %d, %s);", s->suffix, (long long)lu.rows, (long long)x.cols,
          c_mat_text(s->e, lu), pivots, transposed, c_mat_text(s->e, x));
}

/* With `columns` the transpose's factors. */
damo_status lu_factor_emit_c(const core_source *s) {
  const c_mat f = c_flag(s, "columns") ? c_mat_turned(s->out[0]) : s->out[0];
  lu_helper(s);
  c_mat_copy(s, s->out[0], s->in[0]);
  ce_line(s->e, "(void)lu_%s(%lld, %lld, %s, %s);", s->suffix, (long long)f.rows, (long long)f.cols,
          c_mat_text(s->e, f), s->out[1].at);
  return s->e->status;
}

/* The pivots of an operand, from 1 to n each, in order. */
static const char *c_pivots(const core_source *s, c_mat from, int64_t n) {
  const char *pivots = c_positions(s, from.rows);
  if (from.rows == 0) return pivots;
  ce_for(s->e, "k", from.rows);
  ce_line(s->e, "%s[k] = (%s)[k * %lld];", pivots, from.at, (long long)from.rs);
  ce_fail_if(s->e, "%s[k] < 1 || %s[k] > %lld", pivots, pivots, (long long)n);
  ce_close(s->e);
  return pivots;
}

damo_status lu_solve_emit_c(const core_source *s) {
  const bool columns = c_flag(s, "columns");
  const c_mat lu = s->in[0];
  const char *pivots = c_pivots(s, s->in[1], lu.rows);
  c_check_diagonal(s, lu);
  const bool adjoint = c_system(s) == 'h';
  c_mat_copy(s, s->out[0], s->in[2]);
  if (adjoint) c_conjugate(s, s->out[0]);
  c_lu_solve(s, columns ? c_mat_turned(lu) : lu, pivots, (c_system(s) != 'n') != columns, s->out[0]);
  if (adjoint) c_conjugate(s, s->out[0]);
  return s->e->status;
}

damo_status pivot_rows_emit_c(const core_source *s) {
  const int64_t n = s->out[0].rows;
  const char *pivots = c_pivots(s, s->in[0], n), *rows = c_positions(s, n);
  c_emit *e = s->e;
  ce_line(e, "for (ptrdiff_t k = 0; k < %lld; k++) %s[k] = k + 1;", (long long)n, rows);
  ce_for(e, "k", s->in[0].rows);
  ce_line(e, "const int64_t t = %s[k];", rows);
  ce_line(e, "%s[k] = %s[%s[k] - 1];", rows, rows, pivots);
  ce_line(e, "%s[%s[k] - 1] = t;", rows, pivots);
  ce_close(e);
  if (c_flag(s, "inverse"))
    ce_line(e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[%s[k] - 1] = k + 1;", (long long)n, s->out[0].at, rows);
  else
    ce_line(e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[k] = %s[k];", (long long)n, s->out[0].at, rows);
  return e->status;
}

damo_status permute_rows_emit_c(const core_source *s) {
  const c_mat x = s->in[1], y = s->out[0];
  const char *p = c_pivots(s, s->in[0], x.rows), *to = "k", *from = ce_text(s->e, "(%s[k] - 1)", p);
  const bool inverse = c_flag(s, "inverse");
  ce_for(s->e, "k", x.rows);
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++)", (long long)x.cols);
  ce_line(s->e, "  (%s)[%s * %lld + j] = (%s)[%s * %lld + j * %lld];", y.at, inverse ? from : to, (long long)y.rs, x.at,
          inverse ? to : from, (long long)x.rs, (long long)x.cs);
  ce_close(s->e);
  return s->e->status;
}

/* ---- Inverses and determinants ----------------------------------------------------------------------------------- */

void c_identity(const core_source *s, c_mat m) {
  const bool complex = dtype_is_complex(s->dtype);
  const char *entry = ce_text(s->e, "(%s)[i * %lld + j * %lld]", m.at, (long long)m.rs, (long long)m.cs);
  ce_for(s->e, "i", m.rows);
  ce_for(s->e, "j", m.cols);
  ce_line(s->e, "%s%s = i == j;", entry, complex ? ".re" : "");
  if (complex) ce_line(s->e, "%s.im = 0;", entry);
  ce_close(s->e);
  ce_close(s->e);
}

damo_status inv_emit_c(const core_source *s) {
  const c_mat a = c_mat_scratch(s, s->in[0].rows, s->in[0].cols);
  c_mat_copy(s, a, s->in[0]);
  const char *pivots = c_lu(s, a);
  c_identity(s, s->out[0]);
  c_lu_solve(s, a, pivots, false, s->out[0]);
  return s->e->status;
}

damo_status lu_inverse_emit_c(const core_source *s) {
  const char *pivots = c_pivots(s, s->in[1], s->in[0].rows);
  c_check_diagonal(s, s->in[0]);
  c_identity(s, s->out[0]);
  c_lu_solve(s, c_mat_turned(s->in[0]), pivots, true, s->out[0]);
  return s->e->status;
}

/* to = w times the adjugate of a, by its cofactors, whatever the rank of a. */
static void c_adjugate(const core_source *s, c_mat a, c_mat w, c_mat to) {
  c_emit *e = s->e;
  const int64_t n = a.rows, m = n - 1;
  if (n == 0) return;
  const c_mat minor = c_mat_scratch(s, m, m);
  const char *pivots = c_positions(s, m), *type = ce_type(s->dtype);
  const bool complex = dtype_is_complex(s->dtype);
  if (m > 0) lu_helper(s);
  if (m > 0 && complex)
    ce_helper(e, "scaled_by", s->dtype,
              "static void scaled_by_~(@ *det, @ v, int negative) {\n"
              "  const @ old = *det;\n"
              "  det->re = old.re * v.re - old.im * v.im;\n"
              "  det->im = old.re * v.im + old.im * v.re;\n"
              "  if (!negative) return;\n"
              "  det->re = -det->re;\n"
              "  det->im = -det->im;\n"
              "}\n");
  ce_for(e, "p", n);
  ce_for(e, "q", n);
  ce_line(e, "%s det = (%s)[0];", type, w.at);
  if (complex) {
    ce_line(e, "if ((p + q) %% 2 != 0) det.re = -det.re;");
    ce_line(e, "if ((p + q) %% 2 != 0) det.im = -det.im;");
  } else {
    ce_line(e, "if ((p + q) %% 2 != 0) det = -det;");
  }
  if (m > 0) {
    ce_line(e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)m);
    ce_line(e, "  for (ptrdiff_t j = 0; j < %lld; j++)", (long long)m);
    ce_line(e, "    (%s)[i * %lld + j] = (%s)[(i + (i >= q)) * %lld + (j + (j >= p)) * %lld];", minor.at, (long long)m,
            a.at, (long long)a.rs, (long long)a.cs);
    ce_line(e, "(void)lu_%s(%lld, %lld, %s, %s);", s->suffix, (long long)m, (long long)m, c_mat_text(e, minor), pivots);
    ce_for(e, "k", m);
    if (complex)
      ce_line(e, "scaled_by_%s(&det, (%s)[k * %lld], %s[k] != k + 1);", s->suffix, minor.at, (long long)n, pivots);
    else
      ce_line(e, "det *= %s[k] == k + 1 ? (%s)[k * %lld] : -(%s)[k * %lld];", pivots, minor.at, (long long)n, minor.at,
              (long long)n);
    ce_close(e);
  }
  ce_line(e, "(%s)[p * %lld + q * %lld] = det;", to.at, (long long)to.rs, (long long)to.cs);
  ce_close(e);
  ce_close(e);
}

damo_status adjugate_emit_c(const core_source *s) {
  const c_mat a = c_mat_scratch(s, s->in[0].rows, s->in[0].cols);
  c_mat_copy(s, a, s->in[0]);
  c_adjugate(s, a, s->in[1], s->out[0]);
  return s->e->status;
}

/* The factors are those of the transpose, whose adjugate is the adjugate's transpose. */
damo_status lu_adjugate_emit_c(const core_source *s) {
  c_emit *e = s->e;
  const c_mat f = c_mat_turned(s->in[0]);
  const int64_t n = f.rows;
  const c_mat a = c_mat_scratch(s, n, n);
  const char *pivots = c_pivots(s, s->in[1], n), *type = ce_type(s->dtype);
  if (n == 0) return e->status;
  ce_for(e, "i", n);
  ce_for(e, "j", n);
  if (dtype_is_complex(s->dtype)) {
    ce_helper(e, "minus_product", s->dtype, minus_product_text);
    ce_line(e, "%s sum = {0, 0};", type);
    ce_line(e, "if (i <= j) sum.re = -(%s)[i * %lld + j * %lld].re;", f.at, (long long)f.rs, (long long)f.cs);
    ce_line(e, "if (i <= j) sum.im = -(%s)[i * %lld + j * %lld].im;", f.at, (long long)f.rs, (long long)f.cs);
    ce_line(e, "for (ptrdiff_t k = 0; k < i && k <= j; k++)");
    ce_line(e, "  minus_product_%s(&sum, (%s)[i * %lld + k * %lld], (%s)[k * %lld + j * %lld]);", s->suffix, f.at,
            (long long)f.rs, (long long)f.cs, f.at, (long long)f.rs, (long long)f.cs);
    ce_line(e, "(%s)[i * %lld + j].re = -sum.re;", a.at, (long long)n);
    ce_line(e, "(%s)[i * %lld + j].im = -sum.im;", a.at, (long long)n);
  } else {
    ce_line(e, "%s sum = i <= j ? (%s)[i * %lld + j * %lld] : 0;", type, f.at, (long long)f.rs, (long long)f.cs);
    ce_line(e, "for (ptrdiff_t k = 0; k < i && k <= j; k++)");
    ce_line(e, "  sum += (%s)[i * %lld + k * %lld] * (%s)[k * %lld + j * %lld];", f.at, (long long)f.rs,
            (long long)f.cs, f.at, (long long)f.rs, (long long)f.cs);
    ce_line(e, "(%s)[i * %lld + j] = sum;", a.at, (long long)n);
  }
  ce_close(e);
  ce_close(e);
  ce_line(e, "for (ptrdiff_t k = %lld; k >= 0; k--)", (long long)n - 1);
  ce_line(e, "  for (ptrdiff_t j = 0; j < %lld; j++) {", (long long)n);
  ce_line(e, "    const %s t = (%s)[k * %lld + j];", type, a.at, (long long)n);
  ce_line(e, "    (%s)[k * %lld + j] = (%s)[(%s[k] - 1) * %lld + j];", a.at, (long long)n, a.at, pivots, (long long)n);
  ce_line(e, "    (%s)[(%s[k] - 1) * %lld + j] = t;", a.at, pivots, (long long)n);
  ce_line(e, "  }");
  c_adjugate(s, a, s->in[2], c_mat_turned(s->out[0]));
  return e->status;
}

/* The product of the factor's diagonal with the sign of the pivots, or its sign and the logarithm of its modulus. */
/* The same of complex numbers. */
static damo_status c_complex_determinant(const core_source *s, c_mat lu, const char *pivots) {
  c_emit *e = s->e;
  const char *part = s->dtype == DAMO_COMPLEX64 ? "float" : "double";
  const bool split = s->n_out == 2;
  ce_line(e, "double re = 1, im = 0%s;", split ? ", size = 0" : "");
  if (!split) ce_line(e, "int exponent = 0;");
  ce_for(e, "k", lu.rows);
  ce_line(e, "double x = (%s)[k * %lld].re, y = (%s)[k * %lld].im;", lu.at, (long long)(lu.rs + lu.cs), lu.at,
          (long long)(lu.rs + lu.cs));
  if (split) {
    ce_line(e, "const double modulus = hypot(x, y);");
    ce_line(e, "size += log(modulus);");
    ce_line(e, "x = modulus == 0 ? 0 : x / modulus;");
    ce_line(e, "y = modulus == 0 ? 0 : y / modulus;");
  }
  ce_line(e, "const double old = %s[k] != k + 1 ? -re : re;", pivots);
  ce_line(e, "if (%s[k] != k + 1) im = -im;", pivots);
  ce_line(e, "re = old * x - im * y;");
  ce_line(e, "im = old * y + im * x;");
  if (!split) {
    ce_line(e, "const double most = fabs(re) > fabs(im) ? fabs(re) : fabs(im);");
    ce_line(e, "int more = 0;");
    ce_line(e, "if (most > 0 && most < INFINITY) (void)frexp(most, &more);");
    ce_line(e, "re = ldexp(re, -more);");
    ce_line(e, "im = ldexp(im, -more);");
    ce_line(e, "exponent += more;");
  }
  ce_close(e);
  if (!split) {
    ce_line(e, "const int power = exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : exponent;");
    ce_line(e, "re = ldexp(re, power);");
    ce_line(e, "im = ldexp(im, power);");
  } else {
    ce_line(e, "*%s = (%s)size;", s->out[1].at, part);
  }
  ce_line(e, "(%s)->re = (%s)re;", s->out[0].at, part);
  ce_line(e, "(%s)->im = (%s)im;", s->out[0].at, part);
  return e->status;
}

static damo_status c_determinant(const core_source *s, c_mat lu, const char *pivots) {
  c_emit *e = s->e;
  if (dtype_is_complex(s->dtype)) return c_complex_determinant(s, lu, pivots);
  const char *diagonal = ce_text(e, "(%s)[k * %lld]", lu.at, (long long)(lu.rs + lu.cs));
  const char *type = ce_type(s->dtype);
  ce_line(e, "double det = 1%s;", s->n_out == 2 ? ", size = 0" : "");
  if (s->n_out == 1) ce_line(e, "int exponent = 0;");
  ce_for(e, "k", lu.rows);
  ce_line(e, "if (%s[k] != k + 1) det = -det;", pivots);
  if (s->n_out == 2) {
    ce_line(e, "size += log(fabs((double)%s));", diagonal);
    ce_line(e, "det = %s > 0 ? det : %s < 0 ? -det : %s == 0 ? 0 : (double)%s;", diagonal, diagonal, diagonal,
            diagonal);
  } else { /* a product of many does not overflow before its end */
    ce_line(e, "int more = 0;");
    ce_line(e, "det *= (double)%s;", diagonal);
    ce_line(e, "if (det != 0 && fabs(det) < INFINITY) det = frexp(det, &more);");
    ce_line(e, "exponent += more;");
  }
  ce_close(e);
  if (s->n_out == 2) ce_line(e, "*%s = (%s)size;", s->out[1].at, type);
  ce_line(e, s->n_out == 2 ? "*%s = (%s)det;" : "*%s = (%s)ldexp(det, exponent > 5000 ? 5000 : exponent);",
          s->out[0].at, type);
  return e->status;
}

damo_status det_emit_c(const core_source *s) {
  const c_mat a = c_mat_scratch(s, s->in[0].rows, s->in[0].cols);
  c_mat_copy(s, a, s->in[0]);
  lu_helper(s);
  const char *pivots = c_positions(s, a.rows);
  ce_line(s->e, "(void)lu_%s(%lld, %lld, %s, %s);", s->suffix, (long long)a.rows, (long long)a.cols,
          c_mat_text(s->e, a), pivots);
  if (a.rows == 0) ce_line(s->e, "(void)%s;", pivots);
  return c_determinant(s, a, pivots);
}

damo_status lu_det_emit_c(const core_source *s) {
  return c_determinant(s, s->in[0], c_pivots(s, s->in[1], s->in[0].rows));
}

/* ---- Systems ----------------------------------------------------------------------------------------------------- */

/* Entries of the diagonal are `step` apart. */
static damo_status c_complex_diagonal(const core_source *s, long long step) {
  const c_mat a = s->in[0], x = s->in[1], y = s->out[0];
  ce_helper(s->e, "quotient", s->dtype, quotient_text);
  ce_for(s->e, "k", y.rows);
  ce_line(s->e, "%s d = (%s)[k * %lld];", ce_type(s->dtype), a.at, step);
  if (c_system(s) == 'h') ce_line(s->e, "d.im = -d.im;");
  ce_line(s->e, "bad |= d.re == 0 && d.im == 0;");
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++)", (long long)y.cols);
  ce_line(s->e, "  (%s)[k * %lld + j * %lld] = quotient_%s((%s)[k * %lld + j * %lld], d);", y.at, (long long)y.rs,
          (long long)y.cs, s->suffix, x.at, (long long)x.rs, (long long)x.cs);
  ce_close(s->e);
  return s->e->status;
}

damo_status solve_diagonal_emit_c(const core_source *s) {
  const bool of_matrix = s->in[0].rows == s->in[0].cols && strcmp(s->op->def->name, "Solve") == 0;
  const c_mat a = s->in[0], x = s->in[1], y = s->out[0];
  const long long step = (long long)(of_matrix ? a.rs + a.cs : a.rs);
  if (dtype_is_complex(s->dtype)) return c_complex_diagonal(s, step);
  ce_for(s->e, "k", y.rows);
  ce_line(s->e, "bad |= (%s)[k * %lld] == 0;", a.at, step);
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++)", (long long)y.cols);
  ce_line(s->e, "  (%s)[k * %lld + j * %lld] = (%s)[k * %lld + j * %lld] / (%s)[k * %lld];", y.at, (long long)y.rs,
          (long long)y.cs, x.at, (long long)x.rs, (long long)x.cs, a.at, step);
  ce_close(s->e);
  return s->e->status;
}

typedef enum c_mirror { MIRROR_NONE, MIRROR_SYMMETRIC, MIRROR_HERMITIAN } c_mirror;

/* The matrix of the entries that count, in full. kept: as an expression of i and j; the others are 0, the transposed ones or
 * their conjugates. */
static void c_written_out(const core_source *s, c_mat to, c_mat from, const char *kept, c_mirror mirror) {
  const bool complex = dtype_is_complex(s->dtype);
  const char *other = ce_text(s->e, "(%s)[j * %lld + i * %lld]", from.at, (long long)from.rs, (long long)from.cs);
  if (mirror == MIRROR_NONE) other = complex ? ce_text(s->e, "(%s){0, 0}", ce_type(s->dtype)) : "0";
  ce_for(s->e, "i", to.rows);
  ce_for(s->e, "j", to.cols);
  ce_line(s->e, "%s[i * %lld + j] = %s ? (%s)[i * %lld + j * %lld] : %s;", to.at, (long long)to.rs, kept, from.at,
          (long long)from.rs, (long long)from.cs, other);
  if (complex && mirror == MIRROR_HERMITIAN)
    ce_line(s->e, "%s[i * %lld + j].im *= i == j ? 0 : %s ? 1 : -1;", to.at, (long long)to.rs, kept);
  ce_close(s->e);
  ce_close(s->e);
}

/* By a Hermitian matrix's factor in the lower triangle of a; of its transpose by those of the conjugates. */
static void c_positive_solve(const core_source *s, c_mat a, c_mat x) {
  const bool conjugated = c_system(s) == 't';
  c_cholesky(s, a);
  if (conjugated) c_conjugate(s, x);
  c_triangle(s, a, true, false, x);
  c_conjugate(s, x);
  c_triangle(s, c_mat_turned(a), false, false, x);
  if (!conjugated) c_conjugate(s, x);
}

damo_status solve_emit_c(const core_source *s) {
  const prop_value *assume = op_prop(s->op, "assume");
  const char *word = assume != NULL ? prop_str_or(*assume, "gen") : "gen";
  const bool lower = c_flag(s, "lower"), adjoint = c_system(s) == 'h';
  if (strcmp(word, "diagonal") == 0) return solve_diagonal_emit_c(s);
  const c_mat a = c_mat_scratch(s, s->in[0].rows, s->in[0].cols);
  if (strcmp(word, "tridiagonal") == 0)
    c_written_out(s, a, s->in[0], "(i - j <= 1 && j - i <= 1)", MIRROR_NONE);
  else if (strcmp(word, "gen") == 0 || strcmp(word, "banded") == 0)
    c_mat_copy(s, a, s->in[0]);
  else
    c_written_out(s, a, s->in[0], lower ? "i >= j" : "i <= j",
                  strcmp(word, "sym") == 0 ? MIRROR_SYMMETRIC : MIRROR_HERMITIAN);
  c_mat_copy(s, s->out[0], s->in[1]);
  if (strcmp(word, "pos") == 0) {
    c_positive_solve(s, a, s->out[0]);
    return s->e->status;
  }
  const char *pivots = c_lu(s, a);
  if (adjoint) c_conjugate(s, s->out[0]);
  c_lu_solve(s, a, pivots, c_system(s) != 'n', s->out[0]);
  if (adjoint) c_conjugate(s, s->out[0]);
  return s->e->status;
}
