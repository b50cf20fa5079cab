/* adjugate_c: derivatives of adjugates as C source, by the elimination of adjugate.c, which see, in double. */
#include "core_c.h"

static const char minors_text[] =
    "/* Products of many factors: v 2^e. */\n"
    "typedef struct scaled_~ {\n"
    "  double v;\n"
    "  int e;\n"
    "} scaled_~;\n"
    "static scaled_~ scaled_times_~(scaled_~ s, double v, int e) {\n"
    "  scaled_~ y = {s.v * v, 0};\n"
    "  if (y.v != 0 && fabs(y.v) < INFINITY) y.v = frexp(y.v, &y.e);\n"
    "  y.e += s.e + e;\n"
    "  return y;\n"
    "}\n"
    "static double scaled_value_~(scaled_~ s) { return ldexp(s.v, s.e); }\n"
    "/* a and n x n numbers x, w; the places of rows and columns; products of pivots before and from each place on. "
    "*/\n"
    "typedef struct minors_~ {\n"
    "  ptrdiff_t n;\n"
    "  double *a, *x;\n"
    "  int64_t *row, *col;\n"
    "  scaled_~ *before, *behind;\n"
    "  int odd;\n"
    "} minors_~;\n"
    "/* Swaps rows and columns k so that the greatest entry from there on is the pivot. 0: all are 0. */\n"
    "static int minors_pivot_~(minors_~ *e, ptrdiff_t k) {\n"
    "  const ptrdiff_t n = e->n;\n"
    "  ptrdiff_t row = k, col = k;\n"
    "  double best = 0;\n"
    "  for (ptrdiff_t i = k; i < n; i++)\n"
    "    for (ptrdiff_t j = k; j < n; j++) {\n"
    "      if (!(fabs(e->a[i * n + j]) > best)) continue;\n"
    "      best = fabs(e->a[i * n + j]);\n"
    "      row = i;\n"
    "      col = j;\n"
    "    }\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    const double t = e->a[k * n + j];\n"
    "    e->a[k * n + j] = e->a[row * n + j];\n"
    "    e->a[row * n + j] = t;\n"
    "  }\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    const double t = e->a[i * n + k];\n"
    "    e->a[i * n + k] = e->a[i * n + col];\n"
    "    e->a[i * n + col] = t;\n"
    "  }\n"
    "  const int64_t r = e->row[k], c = e->col[k];\n"
    "  e->row[k] = e->row[row];\n"
    "  e->row[row] = r;\n"
    "  e->col[k] = e->col[col];\n"
    "  e->col[col] = c;\n"
    "  if ((row != k) != (col != k)) e->odd = !e->odd;\n"
    "  return best > 0;\n"
    "}\n"
    "/* a becomes the factors L, D and R. Not 0: an entry is not finite. */\n"
    "static int minors_factor_~(minors_~ *e) {\n"
    "  const ptrdiff_t n = e->n;\n"
    "  const scaled_~ one = {1, 0};\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++)\n"
    "    if (!(fabs(e->a[i]) < INFINITY)) return 1;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) e->row[i] = e->col[i] = i;\n"
    "  for (ptrdiff_t k = 0; k < n && minors_pivot_~(e, k); k++) {\n"
    "    const double *pivot = e->a + k * (n + 1);\n"
    "    for (ptrdiff_t i = k + 1; i < n; i++) {\n"
    "      double *x = e->a + i * n + k;\n"
    "      x[0] /= pivot[0];\n"
    "      for (ptrdiff_t j = 1; j < n - k; j++) x[j] -= x[0] * pivot[j];\n"
    "    }\n"
    "    for (ptrdiff_t j = 1; j < n - k; j++) e->a[k * (n + 1) + j] /= pivot[0];\n"
    "  }\n"
    "  e->before[0] = e->behind[n] = one;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) e->before[i + 1] = scaled_times_~(e->before[i], e->a[i * (n + 1)], 0);\n"
    "  for (ptrdiff_t i = n - 1; i >= 0; i--) e->behind[i] = scaled_times_~(e->behind[i + 1], e->a[i * (n + 1)], 0);\n"
    "  return 0;\n"
    "}\n"
    "/* y -= f x */\n"
    "static void minors_subtract_~(double *y, double f, const double *x, ptrdiff_t n) {\n"
    "  for (ptrdiff_t j = 0; j < n; j++) y[j] -= f * x[j];\n"
    "}\n"
    "/* x = L^-1 P x Q R^-1, for a direction h. */\n"
    "static void minors_load_~(minors_~ *e, const double *h) {\n"
    "  const ptrdiff_t n = e->n;\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t j = 0; j < n; j++) e->x[i * n + j] = h[e->row[i] * n + e->col[j]];\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t k = 0; k < i; k++) minors_subtract_~(e->x + i * n, e->a[i * n + k], e->x + k * n, n);\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t k = 0; k < n - 1; k++)\n"
    "      minors_subtract_~(e->x + i * n + k + 1, e->x[i * n + k], e->a + k * n + k + 1, n - k - 1);\n"
    "}\n"
    "/* y = Q R^-1 x L^-1 P, with the sign of the swaps. */\n"
    "static void minors_give_~(minors_~ *e, double *y) {\n"
    "  const ptrdiff_t n = e->n;\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t k = n - 1; k > 0; k--) minors_subtract_~(e->x + i * n, e->x[i * n + k], e->a + k * n, k);\n"
    "  for (ptrdiff_t i = n - 1; i >= 0; i--)\n"
    "    for (ptrdiff_t k = i + 1; k < n; k++) minors_subtract_~(e->x + i * n, e->a[i * n + k], e->x + k * n, n);\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t j = 0; j < n; j++) y[e->col[i] * n + e->row[j]] = e->odd ? -e->x[i * n + j] : e->x[i * n + "
    "j];\n"
    "}\n";

static const char tangent_text[] =
    "/* y: the derivative of the adjugate of e->a in the direction h; sum: memory of n numbers. Not 0: a is not "
    "finite. */\n"
    "static int adjugate_tangent_~(minors_~ *e, const double *h, double *sum, double *y) {\n"
    "  const ptrdiff_t n = e->n;\n"
    "  if (minors_factor_~(e) != 0) return 1;\n"
    "  minors_load_~(e, h);\n"
    "  for (ptrdiff_t i = 0; i < n; i++) sum[i] = 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    scaled_~ others = e->before[i];\n"
    "    for (ptrdiff_t j = i + 1; j < n; j++) {\n"
    "      const double p = scaled_value_~(scaled_times_~(others, e->behind[j + 1].v, e->behind[j + 1].e));\n"
    "      sum[i] += p * e->x[j * (n + 1)];\n"
    "      sum[j] += p * e->x[i * (n + 1)];\n"
    "      e->x[i * n + j] *= -p;\n"
    "      e->x[j * n + i] *= -p;\n"
    "      others = scaled_times_~(others, e->a[j * (n + 1)], 0);\n"
    "    }\n"
    "  }\n"
    "  for (ptrdiff_t i = 0; i < n; i++) e->x[i * (n + 1)] = sum[i];\n"
    "  minors_give_~(e, y);\n"
    "  return 0;\n"
    "}\n";

static const char second_text[] =
    "/* x += v times the second derivative of the adjugate of the rows and columns `at`, in the directions m and k. "
    "*/\n"
    "static void minors_add_~(minors_~ *e, const double *m, const double *k, const ptrdiff_t *at, double v) {\n"
    "  const ptrdiff_t n = e->n;\n"
    "  for (int p = 0; p < 6; p++) { /* the three places in every order */\n"
    "    const ptrdiff_t a = at[p % 3], b = at[(p % 3 + 1 + p / 3) % 3], c = at[(p % 3 + 2 - p / 3) % 3];\n"
    "    const double across = m[a * n + c] * k[c * n + b] + k[a * n + c] * m[c * n + b];\n"
    "    const double beside = m[a * n + b] * k[c * n + c] + k[a * n + b] * m[c * n + c];\n"
    "    e->x[a * n + b] += v * (across - beside);\n"
    "    e->x[a * n + a] += v * (m[b * n + b] * k[c * n + c] - m[b * n + c] * k[c * n + b]);\n"
    "  }\n"
    "}\n"
    "/* y: the second derivative of the adjugate of e->a in the directions m and k, which are overwritten. */\n"
    "static int adjugate_second_~(minors_~ *e, double *m, double *k, double *y) {\n"
    "  const ptrdiff_t n = e->n;\n"
    "  if (minors_factor_~(e) != 0) return 1;\n"
    "  minors_load_~(e, m);\n"
    "  memcpy(m, e->x, (size_t)(n * n) * sizeof *m);\n"
    "  minors_load_~(e, k);\n"
    "  memcpy(k, e->x, (size_t)(n * n) * sizeof *k);\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) e->x[i] = 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    scaled_~ without_i = e->before[i];\n"
    "    for (ptrdiff_t j = i + 1; j < n; j++) {\n"
    "      scaled_~ without_j = without_i;\n"
    "      for (ptrdiff_t l = j + 1; l < n; l++) {\n"
    "        const ptrdiff_t at[] = {i, j, l};\n"
    "        const scaled_~ rest = scaled_times_~(without_j, e->behind[l + 1].v, e->behind[l + 1].e);\n"
    "        minors_add_~(e, m, k, at, scaled_value_~(rest));\n"
    "        without_j = scaled_times_~(without_j, e->a[l * (n + 1)], 0);\n"
    "      }\n"
    "      without_i = scaled_times_~(without_i, e->a[j * (n + 1)], 0);\n"
    "    }\n"
    "  }\n"
    "  minors_give_~(e, y);\n"
    "  return 0;\n"
    "}\n";

/* The operand, or memory for a result, as doubles by rows. */
static const char *c_minor_matrix(const core_source *s, const c_mat *m, int64_t n) {
  const c_value *v = ce_scratch(s->e, DAMO_FLOAT64, n * n);
  const char *name = v != NULL ? ce_p(s->e, v) : "0";
  if (m == NULL) return name;
  ce_for(s->e, "i", n);
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++) %s[i * %lld + j] = (double)(%s)[i * %lld + j * %lld];",
          (long long)n, name, (long long)n, m->at, (long long)m->rs, (long long)m->cs);
  ce_close(s->e);
  return name;
}

/* Declares `minors` with its memory, of the first operand. */
static void c_minors(const core_source *s, int64_t n) {
  const char *a = c_minor_matrix(s, &s->in[0], n), *x = c_minor_matrix(s, NULL, n);
  const c_value *products[2] = {ce_scratch(s->e, DAMO_FLOAT64, 2 * n + 2), ce_scratch(s->e, DAMO_FLOAT64, 2 * n + 2)};
  if (products[0] == NULL || products[1] == NULL) return;
  ce_helper(s->e, "minors", DAMO_FLOAT64, minors_text);
  ce_line(s->e, "minors_f64 minors = {%lld, %s, %s, %s, %s, NULL, NULL, 0};", (long long)n, a, x, c_positions(s, n),
          c_positions(s, n));
  ce_line(s->e, "minors.before = (scaled_f64 *)%s;", ce_p(s->e, products[0]));
  ce_line(s->e, "minors.behind = (scaled_f64 *)%s;", ce_p(s->e, products[1]));
}

/* Of an entry that is not finite it is nan, which is no failure. */
static damo_status c_minors_result(const core_source *s, int64_t n, const char *call, const char *y) {
  ce_line(s->e, "const int finite = %s == 0;", call);
  ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[k] = finite ? (%s)%s[k] : (%s)NAN;", (long long)(n * n),
          s->out[0].at, ce_type(s->dtype), y, ce_type(s->dtype));
  return s->e->status;
}

damo_status adjugate_tangent_emit_c(const core_source *s) {
  const int64_t n = s->out[0].rows;
  if (s->e->file->reproducible) return ce_refuse(s->e, "in reproducible mode");
  c_minors(s, n);
  ce_helper(s->e, "adjugate_tangent", DAMO_FLOAT64, tangent_text);
  const char *h = c_minor_matrix(s, &s->in[1], n), *y = c_minor_matrix(s, NULL, n);
  const c_value *sum = ce_scratch(s->e, DAMO_FLOAT64, n);
  if (sum == NULL) return s->e->status;
  return c_minors_result(s, n, ce_text(s->e, "adjugate_tangent_f64(&minors, %s, %s, %s)", h, ce_p(s->e, sum), y), y);
}

damo_status adjugate_second_emit_c(const core_source *s) {
  const int64_t n = s->out[0].rows;
  if (s->e->file->reproducible) return ce_refuse(s->e, "in reproducible mode");
  c_minors(s, n);
  ce_helper(s->e, "adjugate_second", DAMO_FLOAT64, second_text);
  const char *m = c_minor_matrix(s, &s->in[1], n), *k = c_minor_matrix(s, &s->in[2], n),
             *y = c_minor_matrix(s, NULL, n);
  return c_minors_result(s, n, ce_text(s->e, "adjugate_second_f64(&minors, %s, %s, %s)", m, k, y), y);
}
