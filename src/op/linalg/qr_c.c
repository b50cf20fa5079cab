/* qr_c: QR of real and complex matrices as C source, by reflections as LAPACK makes them, so that signs are the same: R's
 * diagonal is real and has the sign against that of the real part of the column's first element. With pivoting the columns
 * are LAPACK's too: the longest rest first, by lengths that are updated and computed anew where little is left of them.
 * Complex matrices are factored in double. */
#include <string.h>

#include "core_c.h"
#include "decompose.h"

/* Of float32 operands the lengths that choose a column are computed in double. */
static const char order_text[] =
    "/* The column from j on whose rest, of length size[k], is the longest. */\n"
    "static ptrdiff_t longest_~(ptrdiff_t j, ptrdiff_t n, const double *size) {\n"
    "  ptrdiff_t p = j;\n"
    "  for (ptrdiff_t k = j + 1; k < n; k++)\n"
    "    if (size[k] > size[p]) p = k;\n"
    "  return p;\n"
    "}\n"
    "/* The length without an entry of that modulus; whole: when it was last computed. Below 0: it must be computed. "
    "*/\n"
    "static double shortened_~(double size, double whole, double entry, double least) {\n"
    "  if (size == 0) return 0;\n"
    "  const double part = entry / size, rest = part < 1 ? 1 - part * part : 0;\n"
    "  return rest * (size / whole) * (size / whole) <= least ? -1 : size * sqrt(rest);\n"
    "}\n";

static const char qr_text[] =
    "/* x = (1 - tau v v') x for the columns from j on; v is 1 in row j, below in column j of a. */\n"
    "static void reflect_~(ptrdiff_t m, ptrdiff_t n, const @ *a, ptrdiff_t lda, ptrdiff_t j, @ tau, @ *x,\n"
    "                      ptrdiff_t from) {\n"
    "  for (ptrdiff_t k = from; k < n; k++) {\n"
    "    @ w = x[j * n + k];\n"
    "    for (ptrdiff_t i = j + 1; i < m; i++) w += a[i * lda + j] * x[i * n + k];\n"
    "    w *= tau;\n"
    "    x[j * n + k] -= w;\n"
    "    for (ptrdiff_t i = j + 1; i < m; i++) x[i * n + k] -= w * a[i * lda + j];\n"
    "  }\n"
    "}\n"
    "/* Column j below the diagonal becomes v, the diagonal that of R. */\n"
    "static void qr_column_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t j, @ *a, @ *tau) {\n"
    "  @ most = 0, sum = 0;\n"
    "  for (ptrdiff_t i = j + 1; i < m; i++)\n"
    "    if (fabs$(a[i * n + j]) > most) most = fabs$(a[i * n + j]);\n"
    "  tau[j] = 0;\n"
    "  if (most == 0) return;\n"
    "  for (ptrdiff_t i = j + 1; i < m; i++) sum += (a[i * n + j] / most) * (a[i * n + j] / most);\n"
    "  const @ alpha = a[j * n + j], beta = -copysign$(hypot$(alpha, most * sqrt$(sum)), alpha);\n"
    "  tau[j] = (beta - alpha) / beta;\n"
    "  for (ptrdiff_t i = j + 1; i < m; i++) a[i * n + j] /= alpha - beta;\n"
    "  a[j * n + j] = beta;\n"
    "  reflect_~(m, n, a, n, j, tau[j], a, j + 1);\n"
    "}\n";
static const char modulus_text[] =
    "typedef @ qr_entry_~;\n"
    "static double qr_modulus_~(@ v) { return fabs((double)v); }\n";

static const char pair_qr_text[] =
    "/* x = (1 - tau v v') x for the columns from j on; v is 1 in row j, below in column j of a. */\n"
    "static void reflect_~(ptrdiff_t m, ptrdiff_t n, const pair_f64 *a, ptrdiff_t lda, ptrdiff_t j, pair_f64 tau, "
    "pair_f64 "
    "*x,\n"
    "                      ptrdiff_t from) {\n"
    "  for (ptrdiff_t k = from; k < n; k++) {\n"
    "    pair_f64 w = x[j * n + k];\n"
    "    for (ptrdiff_t i = j + 1; i < m; i++) add_conjugate_f64(&w, 1, a[i * lda + j], x[i * n + k]);\n"
    "    w = times_pair_f64(w, tau);\n"
    "    x[j * n + k].re -= w.re;\n"
    "    x[j * n + k].im -= w.im;\n"
    "    for (ptrdiff_t i = j + 1; i < m; i++) add_pairs_f64(x + i * n + k, -1, w, a[i * lda + j]);\n"
    "  }\n"
    "}\n"
    "/* Column j below the diagonal becomes v, the diagonal that of R. */\n"
    "static void qr_column_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t j, pair_f64 *a, pair_f64 *tau) {\n"
    "  const pair_f64 alpha = a[j * n + j];\n"
    "  double rest = 0;\n"
    "  tau[j].re = tau[j].im = 0;\n"
    "  for (ptrdiff_t i = j + 1; i < m; i++) rest = hypot(rest, size_of_pair_f64(a[i * n + j]));\n"
    "  if (rest == 0 && alpha.im == 0) return;\n"
    "  const double beta = -copysign(hypot(size_of_pair_f64(alpha), rest), alpha.re);\n"
    "  const pair_f64 head = {alpha.re - beta, alpha.im}, tau_h = {(beta - alpha.re) / beta, alpha.im / beta};\n"
    "  for (ptrdiff_t i = j + 1; i < m; i++) a[i * n + j] = over_pair_f64(a[i * n + j], head);\n"
    "  a[j * n + j].re = beta;\n"
    "  a[j * n + j].im = 0;\n"
    "  reflect_~(m, n, a, n, j, tau_h, a, j + 1);\n"
    "  tau[j].re = tau_h.re;\n"
    "  tau[j].im = -tau_h.im;\n"
    "}\n";
static const char pair_modulus_text[] =
    "typedef pair_f64 qr_entry_~;\n"
    "static double qr_modulus_~(pair_f64 v) { return size_of_pair_f64(v); }\n";

static const char pivots_text[] =
    "/* order: of the columns, from 1; size, whole: memory of n numbers each. */\n"
    "static void qr_pivots_~(ptrdiff_t m, ptrdiff_t n, double least, qr_entry_~ *a, qr_entry_~ *tau, int64_t *order,\n"
    "                        double *size, double *whole) {\n"
    "  for (ptrdiff_t k = 0; k < n; k++) {\n"
    "    order[k] = k + 1;\n"
    "    size[k] = 0;\n"
    "    for (ptrdiff_t i = 0; i < m; i++) size[k] = hypot(size[k], qr_modulus_~(a[i * n + k]));\n"
    "    whole[k] = size[k];\n"
    "  }\n"
    "  for (ptrdiff_t j = 0; j < m && j < n; j++) {\n"
    "    const ptrdiff_t p = longest_f64(j, n, size);\n"
    "    const int64_t t = order[p];\n"
    "    for (ptrdiff_t i = 0; i < m && p != j; i++) {\n"
    "      const qr_entry_~ v = a[i * n + p];\n"
    "      a[i * n + p] = a[i * n + j];\n"
    "      a[i * n + j] = v;\n"
    "    }\n"
    "    order[p] = order[j];\n"
    "    order[j] = t;\n"
    "    size[p] = size[j];\n"
    "    whole[p] = whole[j];\n"
    "    qr_column_~(m, n, j, a, tau);\n"
    "    for (ptrdiff_t k = j + 1; k < n; k++) {\n"
    "      size[k] = shortened_f64(size[k], whole[k], qr_modulus_~(a[j * n + k]), least);\n"
    "      if (size[k] >= 0) continue;\n"
    "      size[k] = 0;\n"
    "      for (ptrdiff_t i = j + 1; i < m; i++) size[k] = hypot(size[k], qr_modulus_~(a[i * n + k]));\n"
    "      whole[k] = size[k];\n"
    "    }\n"
    "  }\n"
    "}\n";

/* The code's names of the factored matrix, by rows, and of tau, and the suffix of the helpers. */
typedef struct c_reflections {
  const char *a, *tau, *suffix;
  int64_t m, n;
} c_reflections;

static c_reflections c_reflections_of(const core_source *s, c_mat x, int64_t least) {
  c_reflections f = {.m = x.rows, .n = x.cols, .suffix = s->suffix};
  if (dtype_is_complex(s->dtype)) {
    c_pair_helpers(s, PAIR_SIZE | PAIR_TIMES | PAIR_OVER | PAIR_ADD | PAIR_ADD_CONJUGATE);
    ce_helper(s->e, "qr", DAMO_COMPLEX128, pair_qr_text);
    f.a = c_pairs(s, x.rows * x.cols), f.tau = c_pairs(s, least), f.suffix = "c128";
    c_load_pairs(s, f.a, x);
    return f;
  }
  const c_mat a = c_mat_scratch(s, x.rows, x.cols);
  ce_helper(s->e, "qr", s->dtype, qr_text);
  f.a = a.at, f.tau = c_mat_scratch(s, least, 1).at;
  c_mat_copy(s, a, x);
  return f;
}

/* Factors by reflections, of the columns in the order that pivoting gives. order: where that is written; NULL: none. */
static void c_reflect(const core_source *s, const c_reflections *f, int64_t least, const char *order) {
  c_emit *e = s->e;
  if (order == NULL) {
    ce_line(e, "for (ptrdiff_t j = 0; j < %lld; j++) qr_column_%s(%lld, %lld, j, %s, %s);", (long long)least, f->suffix,
            (long long)f->m, (long long)f->n, f->a, f->tau);
    return;
  }
  const c_value *size = ce_scratch(e, DAMO_FLOAT64, f->n + 1), *whole = ce_scratch(e, DAMO_FLOAT64, f->n + 1);
  if (size == NULL || whole == NULL) return;
  ce_helper(e, "longest", DAMO_FLOAT64, order_text);
  const bool complex = dtype_is_complex(s->dtype);
  ce_helper(e, "qr_modulus", complex ? DAMO_COMPLEX128 : s->dtype, complex ? pair_modulus_text : modulus_text);
  ce_helper(e, "qr_pivots", complex ? DAMO_COMPLEX128 : s->dtype, pivots_text);
  ce_line(e, "qr_pivots_%s(%lld, %lld, %s, %s, %s, %s, %s, %s);", f->suffix, (long long)f->m, (long long)f->n,
          s->dtype == DAMO_FLOAT32 ? "0x1p-12" : "0x1p-26", f->a, f->tau, order, ce_p(e, size), ce_p(e, whole));
}

/* The upper triangle. */
static void c_upper(const core_source *s, const c_reflections *f, c_mat r) {
  c_emit *e = s->e;
  ce_for(e, "i", r.rows);
  ce_for(e, "j", r.cols);
  const char *to = ce_text(e, "(%s)[i * %lld + j]", r.at, (long long)r.rs);
  const char *from = ce_text(e, "%s[i * %lld + j]", f->a, (long long)f->n);
  if (dtype_is_complex(s->dtype)) {
    const char *part = s->dtype == DAMO_COMPLEX64 ? "(float)" : "";
    ce_line(e, "%s.re = i <= j ? %s%s.re : 0;", to, part, from);
    ce_line(e, "%s.im = i <= j ? %s%s.im : 0;", to, part, from);
  } else {
    ce_line(e, "%s = i <= j ? %s : 0;", to, from);
  }
  ce_close(e);
  ce_close(e);
}

damo_status qr_emit_c(const core_source *s) {
  const bool alone = strcmp(prop_str_or(*op_prop(s->op, "mode"), "full"), "r") == 0;
  const bool complex = dtype_is_complex(s->dtype);
  const c_mat x = s->in[0];
  const int64_t least = x.rows < x.cols ? x.rows : x.cols;
  const c_reflections f = c_reflections_of(s, x, least);
  c_reflect(s, &f, least, c_flag(s, "pivoting") ? s->out[s->n_out - 1].at : NULL);
  c_upper(s, &f, s->out[alone ? 0 : 1]);
  if (alone) return s->e->status;
  const c_mat q = s->out[0];
  const char *unit = q.at;
  if (complex) {
    unit = c_pairs(s, q.rows * q.cols);
    c_pair_identity(s, q.rows, q.cols, unit);
  } else {
    c_identity(s, q);
  }
  ce_line(s->e, "for (ptrdiff_t j = %lld; j >= 0; j--)", (long long)least - 1);
  ce_line(s->e, "  reflect_%s(%lld, %lld, %s, %lld, j, %s[j], %s, j);", f.suffix, (long long)q.rows, (long long)q.cols,
          f.a, (long long)f.n, f.tau, unit);
  if (complex) c_store_pairs(s, q, unit);
  return s->e->status;
}
