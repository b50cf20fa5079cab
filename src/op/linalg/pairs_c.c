/* pairs_c: matrices of complex numbers in double, by rows, in which decompositions of complex matrices, and of real ones
 * that need complex numbers, are computed. */
#include "core_c.h"

/* Complex numbers as a struct of the file's own: the C dialects of some compilers have no complex.h. What is not called is
 * not written, since compilers warn of it. */
static const struct {
  c_pair_use use;
  const char *name, *text;
} pair_rows[] = {
    {0, "pair",
     "typedef struct pair_~ {\n"
     "  double re, im;\n"
     "} pair_~;\n"},
    {PAIR_SIZE, "size_of_pair", "static double size_of_pair_~(pair_~ a) { return hypot(a.re, a.im); }\n"},
    {PAIR_TIMES, "times_pair",
     "static pair_~ times_pair_~(pair_~ a, pair_~ b) {\n"
     "  const pair_~ y = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};\n"
     "  return y;\n"
     "}\n"},
    {PAIR_OVER, "over_pair",
     "static pair_~ over_pair_~(pair_~ a, pair_~ b) {\n"
     "  const int real = fabs(b.re) >= fabs(b.im);\n"
     "  const double ratio = real ? b.im / b.re : b.re / b.im, below = real ? b.re + b.im * ratio : b.im + b.re * "
     "ratio;\n"
     "  pair_~ y = {(a.re + a.im * ratio) / below, (a.im - a.re * ratio) / below};\n"
     "  if (!real) {\n"
     "    y.re = (a.re * ratio + a.im) / below;\n"
     "    y.im = (a.im * ratio - a.re) / below;\n"
     "  }\n"
     "  return y;\n"
     "}\n"},
    {PAIR_ADD, "add_pairs",
     "/* y += f a b */\n"
     "static void add_pairs_~(pair_~ *y, double f, pair_~ a, pair_~ b) {\n"
     "  y->re += f * (a.re * b.re - a.im * b.im);\n"
     "  y->im += f * (a.re * b.im + a.im * b.re);\n"
     "}\n"},
    {PAIR_ADD_CONJUGATE, "add_conjugate",
     "/* y += f a' b */\n"
     "static void add_conjugate_~(pair_~ *y, double f, pair_~ a, pair_~ b) {\n"
     "  y->re += f * (a.re * b.re + a.im * b.im);\n"
     "  y->im += f * (a.re * b.im - a.im * b.re);\n"
     "}\n"},
};

void c_pair_helpers(const core_source *s, int use) {
  for (size_t k = 0; k < sizeof pair_rows / sizeof *pair_rows; k++)
    if (pair_rows[k].use == 0 || (use & (int)pair_rows[k].use) != 0)
      ce_helper(s->e, pair_rows[k].name, DAMO_FLOAT64, pair_rows[k].text);
}

static const char product_text[] =
    "/* c = op(a) op(b), m x k by k x n; op: the adjoint where the flag is set. */\n"
    "static void product_of_pairs_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, int ta, const pair_~ *a, int tb, const "
    "pair_~ *b,\n"
    "                      pair_~ *c) {\n"
    "  for (ptrdiff_t i = 0; i < m; i++)\n"
    "    for (ptrdiff_t j = 0; j < n; j++) {\n"
    "      pair_~ sum = {0, 0};\n"
    "      for (ptrdiff_t l = 0; l < k; l++) {\n"
    "        pair_~ x = ta ? a[l * m + i] : a[i * k + l], y = tb ? b[j * k + l] : b[l * n + j];\n"
    "        if (ta) x.im = -x.im;\n"
    "        if (tb) y.im = -y.im;\n"
    "        x = times_pair_~(x, y);\n"
    "        sum.re += x.re;\n"
    "        sum.im += x.im;\n"
    "      }\n"
    "      c[i * n + j] = sum;\n"
    "    }\n"
    "}\n";

void c_product_of_pairs(const core_source *s) {
  c_pair_helpers(s, PAIR_TIMES);
  ce_helper(s->e, "product_of_pairs", DAMO_FLOAT64, product_text);
}

const char *c_pairs(const core_source *s, int64_t n) {
  const c_value *v = ce_scratch(s->e, DAMO_FLOAT64, n > 0 ? 2 * n : 1);
  return v != NULL ? ce_text(s->e, "((pair_f64 *)%s)", ce_p(s->e, v)) : "0";
}

void c_load_pairs(const core_source *s, const char *to, c_mat m) {
  ce_for(s->e, "i", m.rows);
  ce_for(s->e, "j", m.cols);
  const char *from = ce_text(s->e, "(%s)[i * %lld + j * %lld]", m.at, (long long)m.rs, (long long)m.cs);
  const bool complex = dtype_is_complex(s->dtype);
  ce_line(s->e, "%s[i * %lld + j].re = (double)%s%s;", to, (long long)m.cols, from, complex ? ".re" : "");
  ce_line(s->e, "%s[i * %lld + j].im = %s%s;", to, (long long)m.cols, complex ? "(double)" : "0",
          complex ? ce_text(s->e, "%s.im", from) : "");
  ce_close(s->e);
  ce_close(s->e);
}

void c_pair_identity(const core_source *s, int64_t rows, int64_t cols, const char *to) {
  ce_for(s->e, "i", rows);
  ce_for(s->e, "j", cols);
  ce_line(s->e, "%s[i * %lld + j].re = i == j;", to, (long long)cols);
  ce_line(s->e, "%s[i * %lld + j].im = 0;", to, (long long)cols);
  ce_close(s->e);
  ce_close(s->e);
}

void c_store_pairs(const core_source *s, c_mat m, const char *from) {
  const bool single = s->dtype == DAMO_FLOAT32 || s->dtype == DAMO_COMPLEX64;
  const char *part = single ? "float" : "double";
  ce_for(s->e, "k", m.rows * m.cols);
  ce_line(s->e, "(%s)[k].re = (%s)%s[k].re;", m.at, part, from);
  ce_line(s->e, "(%s)[k].im = (%s)%s[k].im;", m.at, part, from);
  ce_close(s->e);
}

void c_store_as(const core_source *s, c_mat m, const char *from) {
  if (dtype_is_complex(s->dtype)) {
    c_store_pairs(s, m, from);
    return;
  }
  ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[k] = (%s)%s[k].re;", (long long)(m.rows * m.cols), m.at,
          ce_type(s->dtype), from);
}

void c_pair_product(const core_source *s, int64_t m, int64_t n, int64_t k, bool ta, const char *a, bool tb,
                    const char *b, const char *c) {
  c_product_of_pairs(s);
  ce_line(s->e, "product_of_pairs_f64(%lld, %lld, %lld, %d, %s, %d, %s, %s);", (long long)m, (long long)n, (long long)k,
          ta, a, tb, b, c);
}
