/* expm_pairs_c: the exponential of complex matrices as C source, as spectral_c.c has that of real ones. In double. */
#include "core_c.h"

static const char parts_text[] =
    "/* c = a b */\n"
    "static void expm_times_~(ptrdiff_t n, const @ *a, const @ *b, @ *c) {\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t j = 0; j < n; j++) {\n"
    "      @ sum = {0, 0};\n"
    "      for (ptrdiff_t k = 0; k < n; k++) {\n"
    "        const @ x = a[i * n + k], y = b[k * n + j];\n"
    "        sum.re += x.re * y.re - x.im * y.im;\n"
    "        sum.im += x.re * y.im + x.im * y.re;\n"
    "      }\n"
    "      c[i * n + j] = sum;\n"
    "    }\n"
    "}\n"
    "/* The largest sum of moduli of a column. */\n"
    "static double expm_norm_~(ptrdiff_t n, const @ *a) {\n"
    "  double most = 0;\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    double sum = 0;\n"
    "    for (ptrdiff_t i = 0; i < n; i++) sum += hypot(a[i * n + j].re, a[i * n + j].im);\n"
    "    most = sum > most || sum != sum ? sum : most;\n"
    "  }\n"
    "  return most;\n"
    "}\n"
    "/* y += f x, and y += f on the diagonal. */\n"
    "static void expm_add_~(ptrdiff_t size, @ *y, double f, const @ *x) {\n"
    "  for (ptrdiff_t i = 0; i < size; i++) {\n"
    "    y[i].re += f * x[i].re;\n"
    "    y[i].im += f * x[i].im;\n"
    "  }\n"
    "}\n"
    "static void expm_add_unit_~(ptrdiff_t n, @ *y, double f) {\n"
    "  for (ptrdiff_t i = 0; i < n; i++) y[i * (n + 1)].re += f;\n"
    "}\n"
    "static void expm_scale_~(ptrdiff_t size, @ *y, int power) {\n"
    "  for (ptrdiff_t i = 0; i < size; i++) {\n"
    "    y[i].re = ldexp(y[i].re, power);\n"
    "    y[i].im = ldexp(y[i].im, power);\n"
    "  }\n"
    "}\n"
    "/* How many more squarings the rounding of powers of |a| asks for. x, y: memory of n numbers. */\n"
    "static int expm_more_~(ptrdiff_t n, const @ *a, double norm, int squarings, double *x, double *y) {\n"
    "  const double scale = ldexp(1, -squarings);\n"
    "  double factor = 1, most = 0;\n"
    "  if (norm == 0) return 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) x[i] = 1;\n"
    "  for (int k = 0; k < 27; k++) {\n"
    "    double *const swap = x;\n"
    "    for (ptrdiff_t j = 0; j < n; j++) {\n"
    "      y[j] = 0;\n"
    "      for (ptrdiff_t i = 0; i < n; i++) y[j] += scale * hypot(a[i * n + j].re, a[i * n + j].im) * x[i];\n"
    "    }\n"
    "    x = y;\n"
    "    y = swap;\n"
    "  }\n"
    "  for (ptrdiff_t i = 0; i < n; i++) most = fmax(most, x[i]);\n"
    "  for (int k = 1; k <= 13; k++) factor /= 13 + k;\n"
    "  for (int k = 14; k <= 27; k++) factor /= k;\n"
    "  const double alpha = factor * most / (scale * norm);\n"
    "  if (!(alpha > 0)) return 0;\n"
    "  const double extra = ceil(log2(alpha / 0x1p-53) / 26);\n"
    "  return extra > 0 ? (int)extra : 0;\n"
    "}\n";

/* The approximant of degree 13 with scaling and squaring, as matfun.c has it. */
static const char pair_expm_text[] =
    "/* The exponential over a; w: memory of 6 such matrices, x, y: of n numbers. Not 0: it is too large. */\n"
    "static int expm_~(ptrdiff_t n, @ *a, @ *w, double *x, double *y, int64_t *pivots) {\n"
    "  static const double b[] = {64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,\n"
    "                             129060195264000.0,   10559470521600.0,    670442572800.0,     33522128640.0,\n"
    "                             1323241920.0,        40840800.0,          960960.0,           16380.0,\n"
    "                             182.0,               1.0};\n"
    "  const ptrdiff_t size = n * n;\n"
    "  @ *const a2 = w, *const a4 = w + size, *const a6 = w + 2 * size, *const u = w + 3 * size;\n"
    "  @ *const v = w + 4 * size, *const t = w + 5 * size;\n"
    "  expm_times_~(n, a, a, a2);\n"
    "  expm_times_~(n, a2, a2, a4);\n"
    "  expm_times_~(n, a4, a2, a6);\n"
    "  expm_times_~(n, a4, a4, t);\n"
    "  const double norm = expm_norm_~(n, a), n4 = expm_norm_~(n, a4), n6 = expm_norm_~(n, a6), n8 = expm_norm_~(n, t);\n"
    "  const double d6 = pow(n6, 1.0 / 6), d8 = pow(n8, 0.125), d10 = pow(fmin(n4 * n6, expm_norm_~(n, a2) * n8), 0.1);\n"
    "  const double eta = fmin(fmax(d6, d8), fmax(d8, d10));\n"
    "  if (!(eta < INFINITY) || !(norm < INFINITY)) return 1;\n"
    "  int squarings = eta > 5.371920351148152 ? (int)ceil(log2(eta / 5.371920351148152)) : 0;\n"
    "  squarings += expm_more_~(n, a, norm, squarings, x, y);\n"
    "  expm_scale_~(size, a, -squarings);\n"
    "  expm_scale_~(size, a2, -2 * squarings);\n"
    "  expm_scale_~(size, a4, -4 * squarings);\n"
    "  expm_scale_~(size, a6, -6 * squarings);\n"
    "  for (int odd = 1; odd >= 0; odd--) { /* the sums of the odd powers, without a factor a, and of the even ones */\n"
    "    memset(v, 0, (size_t)size * sizeof *v);\n"
    "    expm_add_~(size, v, b[12 + odd], a6);\n"
    "    expm_add_~(size, v, b[10 + odd], a4);\n"
    "    expm_add_~(size, v, b[8 + odd], a2);\n"
    "    expm_times_~(n, a6, v, t);\n"
    "    expm_add_~(size, t, b[6 + odd], a6);\n"
    "    expm_add_~(size, t, b[4 + odd], a4);\n"
    "    expm_add_~(size, t, b[2 + odd], a2);\n"
    "    expm_add_unit_~(n, t, b[odd]);\n"
    "    if (odd) expm_times_~(n, a, t, u);\n"
    "  }\n"
    "  memcpy(a, t, (size_t)size * sizeof *a);\n"
    "  expm_add_~(size, a, 1, u);\n"
    "  expm_add_~(size, t, -1, u);\n"
    "  if (lu_~(n, n, t, n, 1, pivots) != 0) return 1;\n"
    "  lu_solve_~(n, n, t, n, 1, pivots, 0, a, n, 1);\n"
    "  for (; squarings > 0; squarings--) {\n"
    "    expm_times_~(n, a, a, t);\n"
    "    memcpy(a, t, (size_t)size * sizeof *a);\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

damo_status pair_expm_emit_c(const core_source *s) {
  const int64_t n = s->in[0].rows, least = n > 0 ? n : 1;
  const c_value *a = ce_scratch(s->e, DAMO_COMPLEX128, least * least);
  const c_value *w = ce_scratch(s->e, DAMO_COMPLEX128, 6 * least * least);
  const c_value *x = ce_scratch(s->e, DAMO_FLOAT64, least), *y = ce_scratch(s->e, DAMO_FLOAT64, least);
  if (a == NULL || w == NULL || x == NULL || y == NULL) return s->e->status;
  core_source doubles = *s;
  doubles.dtype = DAMO_COMPLEX128;
  c_lu_helpers(&doubles);
  ce_helper(s->e, "expm_parts", DAMO_COMPLEX128, parts_text);
  ce_helper(s->e, "expm", DAMO_COMPLEX128, pair_expm_text);
  c_load_pairs(s, ce_p(s->e, a), s->in[0]);
  ce_line(s->e, "bad |= expm_c128(%lld, %s, %s, %s, %s, %s);", (long long)n, ce_p(s->e, a), ce_p(s->e, w),
          ce_p(s->e, x), ce_p(s->e, y), c_positions(s, n));
  c_store_pairs(s, s->out[0], ce_p(s->e, a));
  return s->e->status;
}
