/* band_c: systems, products and outer products of matrices given by their diagonals as C source. See banded.c. */
#include "core_c.h"

static int64_t c_integer(const core_source *s, const char *property) { return op_prop(s->op, property)->u.i; }

static const char banded_text[] =
    "/* Solves with a matrix of l diagonals below and u above the main one, by rows, w = 2 l + u + 1 places "
    "each. */\n"
    "static ptrdiff_t banded_~(ptrdiff_t n, ptrdiff_t k, ptrdiff_t l, ptrdiff_t u, @ *a, @ *x, ptrdiff_t xr,\n"
    "                          ptrdiff_t xc) {\n"
    "  const ptrdiff_t w = 2 * l + u + 1;\n"
    "  ptrdiff_t first = 0;\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    const ptrdiff_t end = j + l < n ? j + l + 1 : n, last = j + l + u < n ? j + l + u + 1 : n;\n"
    "    ptrdiff_t p = j;\n"
    "    for (ptrdiff_t i = j + 1; i < end; i++)\n"
    "      if (fabs$(a[i * w + j - i + l]) > fabs$(a[p * w + j - p + l])) p = i;\n"
    "    if (a[p * w + j - p + l] == 0) {\n"
    "      if (first == 0) first = j + 1;\n"
    "      continue;\n"
    "    }\n"
    "    for (ptrdiff_t c = j; c < last && p != j; c++) {\n"
    "      const @ t = a[j * w + c - j + l];\n"
    "      a[j * w + c - j + l] = a[p * w + c - p + l];\n"
    "      a[p * w + c - p + l] = t;\n"
    "    }\n"
    "    for (ptrdiff_t c = 0; c < k && p != j; c++) {\n"
    "      const @ t = x[j * xr + c * xc];\n"
    "      x[j * xr + c * xc] = x[p * xr + c * xc];\n"
    "      x[p * xr + c * xc] = t;\n"
    "    }\n"
    "    for (ptrdiff_t i = j + 1; i < end; i++) {\n"
    "      const @ f = a[i * w + j - i + l] / a[j * w + l];\n"
    "      for (ptrdiff_t c = j + 1; c < last; c++) a[i * w + c - i + l] -= f * a[j * w + c - j + l];\n"
    "      for (ptrdiff_t c = 0; c < k; c++) x[i * xr + c * xc] -= f * x[j * xr + c * xc];\n"
    "    }\n"
    "  }\n"
    "  for (ptrdiff_t j = n - 1; j >= 0; j--) {\n"
    "    const ptrdiff_t last = j + l + u < n ? j + l + u + 1 : n;\n"
    "    for (ptrdiff_t b = 0; b < k; b++) {\n"
    "      @ v = x[j * xr + b * xc];\n"
    "      for (ptrdiff_t c = j + 1; c < last; c++) v -= a[j * w + c - j + l] * x[c * xr + b * xc];\n"
    "      x[j * xr + b * xc] = v / a[j * w + l];\n"
    "    }\n"
    "  }\n"
    "  return first;\n"
    "}\n";

/* The same of complex numbers. */
static const char complex_banded_text[] =
    "static double size_in_band_~(@ v) { return fabs((double)v.re) + fabs((double)v.im); }\n"
    "/* Solves with a matrix of l diagonals below and u above the main one, by rows, w = 2 l + u + 1 places "
    "each. */\n"
    "static ptrdiff_t banded_~(ptrdiff_t n, ptrdiff_t k, ptrdiff_t l, ptrdiff_t u, @ *a, @ *x, ptrdiff_t xr,\n"
    "                          ptrdiff_t xc) {\n"
    "  const ptrdiff_t w = 2 * l + u + 1;\n"
    "  ptrdiff_t first = 0;\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    const ptrdiff_t end = j + l < n ? j + l + 1 : n, last = j + l + u < n ? j + l + u + 1 : n;\n"
    "    ptrdiff_t p = j;\n"
    "    for (ptrdiff_t i = j + 1; i < end; i++)\n"
    "      if (size_in_band_~(a[i * w + j - i + l]) > size_in_band_~(a[p * w + j - p + l])) p = i;\n"
    "    if (size_in_band_~(a[p * w + j - p + l]) == 0) {\n"
    "      if (first == 0) first = j + 1;\n"
    "      continue;\n"
    "    }\n"
    "    for (ptrdiff_t c = j; c < last && p != j; c++) {\n"
    "      const @ t = a[j * w + c - j + l];\n"
    "      a[j * w + c - j + l] = a[p * w + c - p + l];\n"
    "      a[p * w + c - p + l] = t;\n"
    "    }\n"
    "    for (ptrdiff_t c = 0; c < k && p != j; c++) {\n"
    "      const @ t = x[j * xr + c * xc];\n"
    "      x[j * xr + c * xc] = x[p * xr + c * xc];\n"
    "      x[p * xr + c * xc] = t;\n"
    "    }\n"
    "    for (ptrdiff_t i = j + 1; i < end; i++) {\n"
    "      const @ f = quotient_~(a[i * w + j - i + l], a[j * w + l]);\n"
    "      for (ptrdiff_t c = j + 1; c < last; c++)\n"
    "        minus_product_~(a + i * w + c - i + l, f, a[j * w + c - j + l]);\n"
    "      for (ptrdiff_t c = 0; c < k; c++) minus_product_~(x + i * xr + c * xc, f, x[j * xr + c * xc]);\n"
    "    }\n"
    "  }\n"
    "  for (ptrdiff_t j = n - 1; j >= 0; j--) {\n"
    "    const ptrdiff_t last = j + l + u < n ? j + l + u + 1 : n;\n"
    "    for (ptrdiff_t b = 0; b < k; b++) {\n"
    "      @ v = x[j * xr + b * xc];\n"
    "      for (ptrdiff_t c = j + 1; c < last; c++) minus_product_~(&v, a[j * w + c - j + l], x[c * xr + b * xc]);\n"
    "      x[j * xr + b * xc] = quotient_~(v, a[j * w + l]);\n"
    "    }\n"
    "  }\n"
    "  return first;\n"
    "}\n";

/* Row i of the matrix lies in row i of the band, its columns from i - l on; swaps fill l more columns on the right. */
damo_status banded_emit_c(const core_source *s) {
  const int64_t l = c_integer(s, "l"), u = c_integer(s, "u"), n = s->in[0].cols;
  const bool turned = c_system(s) != 'n';
  const int64_t below = turned ? u : l, above = turned ? l : u, wide = 2 * below + above + 1;
  const c_mat ab = s->in[0], room = c_mat_scratch(s, n, wide);
  c_either(s, "banded", banded_text, complex_banded_text);
  ce_for(s->e, "i", n);
  ce_for(s->e, "q", wide);
  ce_line(s->e, "const ptrdiff_t j = i - %lld + q, r = %s;", (long long)below,
          turned ? ce_text(s->e, "j - i + %lld", (long long)u) : ce_text(s->e, "i - j + %lld", (long long)u));
  ce_line(s->e, "%s[i * %lld + q] = j >= 0 && j < %lld && r >= 0 && r <= %lld ? (%s)[r * %lld + %s * %lld] : %s;",
          room.at, (long long)wide, (long long)n, (long long)(l + u), ab.at, (long long)ab.rs, turned ? "i" : "j",
          (long long)ab.cs, dtype_is_complex(s->dtype) ? ce_text(s->e, "(%s){0, 0}", ce_type(s->dtype)) : "0");
  ce_close(s->e);
  ce_close(s->e);
  c_mat_copy(s, s->out[0], s->in[1]);
  if (c_system(s) == 'h') c_conjugate(s, s->out[0]);
  ce_line(s->e, "bad |= banded_%s(%lld, %lld, %lld, %lld, %s, %s);", s->suffix, (long long)n, (long long)s->out[0].cols,
          (long long)below, (long long)above, room.at, c_mat_text(s->e, s->out[0]));
  if (c_system(s) == 'h') c_conjugate(s, s->out[0]);
  return s->e->status;
}

/* The variable sum, or re and im, += x y; conj: of the conjugate of x or y. */
static void c_add_product(const core_source *s, const char *x, bool conj_x, const char *y, bool conj_y) {
  if (!dtype_is_complex(s->dtype)) {
    ce_line(s->e, "sum += (double)%s * (double)%s;", x, y);
    return;
  }
  const char *a = conj_x ? "-" : "", *b = conj_y ? "-" : "";
  ce_line(s->e, "const double u = %s.re, v = %s%s.im, f = %s.re, g = %s%s.im;", x, a, x, y, b, y);
  ce_line(s->e, "re += u * f - v * g;");
  ce_line(s->e, "im += u * g + v * f;");
}

static void c_put_sum(const core_source *s, const char *to) {
  const char *part = s->dtype == DAMO_COMPLEX64 ? "float" : "double";
  if (!dtype_is_complex(s->dtype)) ce_line(s->e, "%s = (%s)sum;", to, ce_type(s->dtype));
  if (!dtype_is_complex(s->dtype)) return;
  ce_line(s->e, "%s.re = (%s)re;", to, part);
  ce_line(s->e, "%s.im = (%s)im;", to, part);
}

/* Sums in double and in the order of diagonals, as the virtual machine has them. */
damo_status banded_dot_emit_c(const core_source *s) {
  const int64_t l = c_integer(s, "l"), u = c_integer(s, "u"), n = s->in[0].cols, most = l > u ? l : u;
  const c_mat ab = s->in[0], x = s->in[1], y = s->out[0];
  const bool turned = c_system(s) != 'n', complex = dtype_is_complex(s->dtype);
  c_emit *e = s->e;
  const char *entry =
      ce_text(e, "(%s)[r * %lld + %s * %lld]", ab.at, (long long)ab.rs, turned ? "i" : "j", (long long)ab.cs);
  const char *other = ce_text(e, "(%s)[j * %lld + k * %lld]", x.at, (long long)x.rs, (long long)x.cs);
  ce_for(e, "i", n);
  ce_for(e, "k", x.cols);
  ce_line(e, complex ? "double re = 0, im = 0;" : "double sum = 0;");
  ce_open(e, "for (ptrdiff_t d = %lld; d <= %lld; d++)", (long long)-most, (long long)most);
  ce_line(e, "const ptrdiff_t j = i + d, r = %lld %s d;", (long long)u, turned ? "+" : "-");
  ce_line(e, "if (j < 0 || j >= %lld || r < 0 || r > %lld) continue;", (long long)n, (long long)(l + u));
  c_add_product(s, entry, c_system(s) == 'h', other, false);
  ce_close(e);
  c_put_sum(s, ce_text(e, "(%s)[i * %lld + k * %lld]", y.at, (long long)y.rs, (long long)y.cs));
  ce_close(e);
  ce_close(e);
  return e->status;
}

damo_status banded_outer_emit_c(const core_source *s) {
  const c_mat p = s->in[0], q = s->in[1], y = s->out[0];
  c_emit *e = s->e;
  ce_for(e, "r", y.rows);
  ce_for(e, "j", y.cols);
  ce_line(e, "const ptrdiff_t i = j + r - %lld;", (long long)c_integer(s, "u"));
  ce_line(e, dtype_is_complex(s->dtype) ? "double re = 0, im = 0;" : "double sum = 0;");
  ce_open(e, "for (ptrdiff_t k = 0; i >= 0 && i < %lld && k < %lld; k++)", (long long)p.rows, (long long)p.cols);
  c_add_product(s, ce_text(e, "(%s)[i * %lld + k * %lld]", p.at, (long long)p.rs, (long long)p.cs), false,
                ce_text(e, "(%s)[j * %lld + k * %lld]", q.at, (long long)q.rs, (long long)q.cs), true);
  ce_close(e);
  c_put_sum(s, ce_text(e, "(%s)[r * %lld + j * %lld]", y.at, (long long)y.rs, (long long)y.cs));
  ce_close(e);
  ce_close(e);
  return e->status;
}
