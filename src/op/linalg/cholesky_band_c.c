/* cholesky_band_c: Cholesky factors of banded matrices, their gradients and tangents as C source, as cholesky_band.c has
 * them, of real and complex numbers. Entry (i, j) of the lower triangle lies at j w + i - j. */
#include "core_c.h"
#include "decompose.h"

/* A minor that is nan is no failure, as in OpenBLAS: the factor is nan from there on. */
static const char factor_text[] =
    "/* The factor over a. Returns the order of the first minor that is not positive. */\n"
    "static ptrdiff_t band_cholesky_~(ptrdiff_t n, ptrdiff_t w, pair_~ *a) {\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    for (ptrdiff_t i = j; i < j + w && i < n; i++) {\n"
    "      pair_~ *const to = a + j * w + i - j;\n"
    "      for (ptrdiff_t k = i < w ? 0 : i - w + 1; k < j; k++)\n"
    "        add_conjugate_~(to, -1, a[k * w + j - k], a[k * w + i - k]);\n"
    "      if (i == j) {\n"
    "        if (to->re <= 0) return j + 1;\n"
    "        to->re = sqrt(to->re);\n"
    "        to->im = 0;\n"
    "      } else {\n"
    "        to->re /= a[j * w].re;\n"
    "        to->im /= a[j * w].re;\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

static const char back_text[] =
    "/* y: the gradient of the matrix with the factor l, from that of l in x, which is overwritten. */\n"
    "static void band_back_~(ptrdiff_t n, ptrdiff_t w, const pair_~ *l, pair_~ *x, pair_~ *y) {\n"
    "  for (ptrdiff_t j = n - 1; j >= 0; j--) {\n"
    "    const double d = l[j * w].re;\n"
    "    double own = x[j * w].re;\n"
    "    for (ptrdiff_t i = j + 1; i < j + w && i < n; i++) {\n"
    "      const pair_~ g = x[j * w + i - j], v = l[j * w + i - j];\n"
    "      pair_~ *const to = y + j * w + i - j;\n"
    "      own -= (g.re * v.re + g.im * v.im) / d;\n"
    "      to->re = g.re / d;\n"
    "      to->im = g.im / d;\n"
    "      for (ptrdiff_t k = i < w ? 0 : i - w + 1; k < j; k++) {\n"
    "        add_pairs_~(x + k * w + i - k, -1, *to, l[k * w + j - k]);\n"
    "        add_conjugate_~(x + k * w + j - k, -1, *to, l[k * w + i - k]);\n"
    "      }\n"
    "    }\n"
    "    y[j * w].re = own / (2 * d);\n"
    "    y[j * w].im = 0;\n"
    "    for (ptrdiff_t k = j < w ? 0 : j - w + 1; k < j; k++)\n"
    "      add_pairs_~(x + k * w + j - k, -2, y[j * w], l[k * w + j - k]);\n"
    "  }\n"
    "}\n";

static const char move_text[] =
    "/* y: how the factor l moves where the matrix moves by x. */\n"
    "static void band_move_~(ptrdiff_t n, ptrdiff_t w, const pair_~ *l, const pair_~ *x, pair_~ *y) {\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    const double d = l[j * w].re;\n"
    "    for (ptrdiff_t i = j; i < j + w && i < n; i++) {\n"
    "      pair_~ *const to = y + j * w + i - j;\n"
    "      *to = x[j * w + i - j];\n"
    "      for (ptrdiff_t k = i < w ? 0 : i - w + 1; k < j; k++) {\n"
    "        add_conjugate_~(to, -1, l[k * w + j - k], y[k * w + i - k]);\n"
    "        add_conjugate_~(to, -1, y[k * w + j - k], l[k * w + i - k]);\n"
    "      }\n"
    "      if (i == j) {\n"
    "        to->re /= 2 * d;\n"
    "        to->im = 0;\n"
    "      } else {\n"
    "        to->re = (to->re - l[j * w + i - j].re * y[j * w].re) / d;\n"
    "        to->im = (to->im - l[j * w + i - j].im * y[j * w].re) / d;\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

/* The name of the triangle that ab holds; of the upper one it is the conjugate. */
static const char *c_band_of(const core_source *s, c_mat ab, bool lower) {
  const long long w = (long long)ab.rows, n = (long long)ab.cols;
  const char *to = c_pairs(s, ab.rows * ab.cols);
  const bool complex = dtype_is_complex(s->dtype);
  const char *row = lower ? "(i - j)" : ce_text(s->e, "(%lld + j - i)", w - 1), *col = lower ? "j" : "i";
  const char *from = ce_text(s->e, "(%s)[%s * %lld + %s * %lld]", ab.at, row, (long long)ab.rs, col, (long long)ab.cs);
  ce_for(s->e, "j", ab.cols);
  ce_open(s->e, "for (ptrdiff_t i = j; i < j + %lld && i < %lld; i++)", w, n);
  ce_line(s->e, "%s[j * %lld + i - j].re = (double)%s%s;", to, w, from, complex ? ".re" : "");
  ce_line(s->e, "%s[j * %lld + i - j].im = %s%s%s;", to, w, complex ? (lower ? "" : "-") : "0", complex ? from : "",
          complex ? ".im" : "");
  ce_close(s->e);
  ce_close(s->e);
  return to;
}

/* Places outside of the matrix become 0. */
static void c_band_store(const core_source *s, c_mat ab, bool lower, const char *from) {
  const long long w = (long long)ab.rows, n = (long long)ab.cols;
  const bool complex = dtype_is_complex(s->dtype), single = s->dtype == DAMO_FLOAT32 || s->dtype == DAMO_COMPLEX64;
  ce_for(s->e, "r", ab.rows);
  ce_for(s->e, "c", ab.cols);
  ce_line(s->e, "const ptrdiff_t i = %s, j = %s;", lower ? "c + r" : "c",
          lower ? "c" : ce_text(s->e, "c + r - %lld", w - 1));
  for (int k = 0; k < (complex ? 2 : 1); k++)
    ce_line(s->e, "(%s)[r * %lld + c]%s = j >= 0 && i < %lld ? (%s)(%s%s[j * %lld + i - j]%s) : 0;", ab.at,
            (long long)ab.rs,
            !complex ? ""
            : k == 0 ? ".re"
                     : ".im",
            n, single ? "float" : "double", k == 1 && !lower ? "-" : "", from, w, k == 0 ? ".re" : ".im");
  ce_close(s->e);
  ce_close(s->e);
}

damo_status cholesky_band_emit_c(const core_source *s) {
  const bool lower = c_flag(s, "lower");
  const char *a = c_band_of(s, s->in[0], lower);
  c_pair_helpers(s, PAIR_ADD_CONJUGATE);
  ce_helper(s->e, "band_cholesky", DAMO_FLOAT64, factor_text);
  ce_line(s->e, "bad |= band_cholesky_f64(%lld, %lld, %s);", (long long)s->out[0].cols, (long long)s->out[0].rows, a);
  c_band_store(s, s->out[0], lower, a);
  return s->e->status;
}

static damo_status c_band_derivative(const core_source *s, const char *name, const char *text) {
  const bool lower = c_flag(s, "lower");
  const c_mat to = s->out[0];
  const char *l = c_band_of(s, s->in[0], lower), *x = c_band_of(s, s->in[1], lower), *y = c_pairs(s, to.rows * to.cols);
  ce_helper(s->e, name, DAMO_FLOAT64, text);
  ce_line(s->e, "%s_f64(%lld, %lld, %s, %s, %s);", name, (long long)to.cols, (long long)to.rows, l, x, y);
  c_band_store(s, to, lower, y);
  return s->e->status;
}

damo_status band_grad_emit_c(const core_source *s) {
  c_pair_helpers(s, PAIR_ADD | PAIR_ADD_CONJUGATE);
  return c_band_derivative(s, "band_back", back_text);
}

damo_status band_tangent_emit_c(const core_source *s) {
  c_pair_helpers(s, PAIR_ADD_CONJUGATE);
  return c_band_derivative(s, "band_move", move_text);
}
