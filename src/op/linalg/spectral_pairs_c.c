/* spectral_pairs_c: eigenvalues of Hermitian matrices, singular values and least squares by them, and the Hessenberg form,
 * of complex matrices as C source: what spectral_c.c has for real ones, in double. */
#include <float.h>

#include "core_c.h"

/* ---- Hermitian matrices ------------------------------------------------------------------------------------------ */

/* A row's phase makes the entry real, then the rotation is that of real matrices. Phases of vectors are not LAPACK's. */
static const char pair_turn_text[] =
    "/* Columns p and q of x, of which q is first times the conjugate of e: c p - s q and s p + c q. */\n"
    "static void turn_columns_~(ptrdiff_t m, ptrdiff_t n, pair_f64 *x, ptrdiff_t p, ptrdiff_t q, pair_f64 e, double "
    "c,\n"
    "                           double s) {\n"
    "  e.im = -e.im;\n"
    "  for (ptrdiff_t i = 0; i < m; i++) {\n"
    "    const pair_f64 y = x[i * n + p], z = times_pair_f64(x[i * n + q], e);\n"
    "    x[i * n + p].re = c * y.re - s * z.re;\n"
    "    x[i * n + p].im = c * y.im - s * z.im;\n"
    "    x[i * n + q].re = s * y.re + c * z.re;\n"
    "    x[i * n + q].im = s * y.im + c * z.im;\n"
    "  }\n"
    "}\n"
    "/* Swaps them. */\n"
    "static void swap_columns_~(ptrdiff_t m, ptrdiff_t n, pair_f64 *x, ptrdiff_t p, ptrdiff_t q) {\n"
    "  for (ptrdiff_t i = 0; i < m; i++) {\n"
    "    const pair_f64 y = x[i * n + p];\n"
    "    x[i * n + p] = x[i * n + q];\n"
    "    x[i * n + q] = y;\n"
    "  }\n"
    "}\n";

static const char pair_hermitian_text[] =
    "/* Eigenvalues of the Hermitian matrix a, rising, and their vectors, the columns of v. */\n"
    "static int eigh_~(ptrdiff_t n, pair_f64 *a, double *w, pair_f64 *v) {\n"
    "  int exponent = 0, sweep = 0;\n"
    "  if (to_unit_f64(2 * n * n, &a->re, &exponent) != 0) return 1;\n"
    "  double whole = 0;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) whole += a[i].re * a[i].re + a[i].im * a[i].im;\n"
    "  for (; sweep < 60; sweep++) {\n"
    "    double off = 0;\n"
    "    for (ptrdiff_t p = 0; p < n; p++)\n"
    "      for (ptrdiff_t q = p + 1; q < n; q++)\n"
    "        off += a[p * n + q].re * a[p * n + q].re + a[p * n + q].im * a[p * n + q].im;\n"
    "    if (off <= 1e-36 * whole) break;\n"
    "    for (ptrdiff_t p = 0; p < n; p++)\n"
    "      for (ptrdiff_t q = p + 1; q < n; q++) {\n"
    "        const double x = size_of_pair_f64(a[p * n + q]);\n"
    "        if (x == 0) continue;\n"
    "        const pair_f64 e = {a[p * n + q].re / x, a[p * n + q].im / x};\n"
    "        const double y = a[p * n + p].re, z = a[q * n + q].re, theta = (z - y) / (2 * x);\n"
    "        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(1, theta)), c = 1 / hypot(1, t), s = t * c;\n"
    "        turn_columns_~(n, n, a, p, q, e, c, s);\n"
    "        turn_columns_~(n, n, v, p, q, e, c, s);\n"
    "        for (ptrdiff_t i = 0; i < n; i++)\n"
    "          for (ptrdiff_t k = p; k <= q; k += q - p) {\n"
    "            a[k * n + i].re = a[i * n + k].re;\n"
    "            a[k * n + i].im = -a[i * n + k].im;\n"
    "          }\n"
    "        a[p * n + p].re = y - t * x;\n"
    "        a[q * n + q].re = z + t * x;\n"
    "        a[p * n + p].im = a[q * n + q].im = 0;\n"
    "        a[p * n + q].re = a[p * n + q].im = a[q * n + p].re = a[q * n + p].im = 0;\n"
    "      }\n"
    "  }\n"
    "  for (ptrdiff_t i = 0; i < n; i++) w[i] = ldexp(a[i * n + i].re, exponent);\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    ptrdiff_t least = i;\n"
    "    for (ptrdiff_t k = i + 1; k < n; k++)\n"
    "      if (w[k] < w[least]) least = k;\n"
    "    const double t = w[i];\n"
    "    w[i] = w[least];\n"
    "    w[least] = t;\n"
    "    swap_columns_~(n, n, v, i, least);\n"
    "  }\n"
    "  return sweep == 60;\n"
    "}\n";

/* m, of the real dtype, = the doubles. */
static void c_store_values(const core_source *s, c_mat m, const char *from) {
  ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[k] = (%s)%s[k];", (long long)(m.rows * m.cols), m.at,
          s->dtype == DAMO_COMPLEX64 ? "float" : "double", from);
}

damo_status pair_eigh_emit_c(const core_source *s, bool lower) {
  const c_mat x = s->in[0];
  const int64_t n = x.rows;
  const char *a = c_pairs(s, n * n), *w = c_doubles(s, n), *v = c_pairs(s, n * n);
  c_pair_helpers(s, PAIR_SIZE | PAIR_TIMES);
  ce_helper(s->e, "turn_columns", DAMO_COMPLEX128, pair_turn_text);
  c_unit_helper(s);
  ce_helper(s->e, "eigh", DAMO_COMPLEX128, pair_hermitian_text);
  c_load_pairs(s, a, x);
  ce_for(s->e, "i", n);
  ce_line(s->e, "%s[i * %lld].im = 0;", a, (long long)n + 1);
  ce_line(s->e, "for (ptrdiff_t j = 0; j < i; j++) {");
  const char *below = ce_text(s->e, "%s[i * %lld + j]", a, (long long)n);
  const char *above = ce_text(s->e, "%s[j * %lld + i]", a, (long long)n);
  ce_line(s->e, "  %s.re = %s.re;", lower ? above : below, lower ? below : above);
  ce_line(s->e, "  %s.im = -%s.im;", lower ? above : below, lower ? below : above);
  ce_line(s->e, "}");
  ce_close(s->e);
  c_pair_identity(s, n, n, v);
  ce_line(s->e, "bad |= eigh_c128(%lld, %s, %s, %s);", (long long)n, a, w, v);
  c_store_values(s, s->out[0], w);
  if (s->n_out == 2) c_store_pairs(s, s->out[1], v);
  return s->e->status;
}

/* ---- Singular values --------------------------------------------------------------------------------------------- */

/* As spectral_c.c has it. */
static const char pair_svd_text[] =
    "/* Of a, m rows and n <= m columns: u over a, 0 where s is, the columns of v, and the singular values s, falling. "
    "*/\n"
    "static int svd_~(ptrdiff_t m, ptrdiff_t n, pair_f64 *a, double *s, pair_f64 *v) {\n"
    "  const double bound = 4 * 0x1p-52 * sqrt((double)m);\n"
    "  int exponent = 0, turned = 1;\n"
    "  if (to_unit_f64(2 * m * n, &a->re, &exponent) != 0) return 1;\n"
    "  for (int sweep = 0; sweep < 60 && turned; sweep++) {\n"
    "    turned = 0;\n"
    "    for (ptrdiff_t p = 0; p < n; p++)\n"
    "      for (ptrdiff_t q = p + 1; q < n; q++) {\n"
    "        double x = 0, y = 0;\n"
    "        pair_f64 e = {0, 0};\n"
    "        for (ptrdiff_t i = 0; i < m; i++) {\n"
    "          const pair_f64 g = a[i * n + p], h = a[i * n + q];\n"
    "          x += g.re * g.re + g.im * g.im;\n"
    "          y += h.re * h.re + h.im * h.im;\n"
    "          add_conjugate_f64(&e, 1, g, h);\n"
    "        }\n"
    "        const double z = size_of_pair_f64(e);\n"
    "        if (!(z > bound * sqrt(x) * sqrt(y)) || x < 0x1p-960 || y < 0x1p-960) continue;\n"
    "        e.re /= z;\n"
    "        e.im /= z;\n"
    "        const double theta = (y - x) / (2 * z);\n"
    "        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(1, theta)), c = 1 / hypot(1, t), d = t * c;\n"
    "        turned = 1;\n"
    "        turn_columns_~(m, n, a, p, q, e, c, d);\n"
    "        turn_columns_~(n, n, v, p, q, e, c, d);\n"
    "      }\n"
    "  }\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    s[j] = 0;\n"
    "    for (ptrdiff_t i = 0; i < m; i++) s[j] = hypot(s[j], size_of_pair_f64(a[i * n + j]));\n"
    "    for (ptrdiff_t i = 0; i < m && s[j] > 0; i++) {\n"
    "      a[i * n + j].re /= s[j];\n"
    "      a[i * n + j].im /= s[j];\n"
    "    }\n"
    "    s[j] = ldexp(s[j], exponent);\n"
    "  }\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    ptrdiff_t most = j;\n"
    "    for (ptrdiff_t k = j + 1; k < n; k++)\n"
    "      if (s[k] > s[most]) most = k;\n"
    "    const double t = s[j];\n"
    "    s[j] = s[most];\n"
    "    s[most] = t;\n"
    "    swap_columns_~(m, n, a, j, most);\n"
    "    swap_columns_~(n, n, v, j, most);\n"
    "  }\n"
    "  return turned;\n"
    "}\n";

/* The names of u (by rows, as many columns as values), the values and v, of x or, where it is wide, of its transpose. */
typedef struct c_pair_factors {
  const char *u, *values, *v;
  int64_t m, n;
  bool wide;
} c_pair_factors;

static c_pair_factors c_pair_svd(const core_source *s, c_mat x) {
  const bool wide = x.rows < x.cols;
  const c_mat tall = wide ? c_mat_turned(x) : x;
  const c_pair_factors f = {.u = c_pairs(s, tall.rows * tall.cols),
                            .values = c_doubles(s, tall.cols),
                            .v = c_pairs(s, tall.cols * tall.cols),
                            .m = tall.rows,
                            .n = tall.cols,
                            .wide = wide};
  c_pair_helpers(s, PAIR_SIZE | PAIR_TIMES | PAIR_ADD_CONJUGATE);
  ce_helper(s->e, "turn_columns", DAMO_COMPLEX128, pair_turn_text);
  c_unit_helper(s);
  ce_helper(s->e, "svd", DAMO_COMPLEX128, pair_svd_text);
  c_load_pairs(s, f.u, tall);
  c_pair_identity(s, f.n, f.n, f.v);
  ce_line(s->e, "bad |= svd_c128(%lld, %lld, %s, %s, %s);", (long long)f.m, (long long)f.n, f.u, f.values, f.v);
  return f;
}

/* As spectral_c.c has it. */
static const char pair_columns_text[] =
    "static void columns_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t given, pair_f64 *a, const double *s) {\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    double size = j < given && s[j] > 0x1p-480 * s[0];\n"
    "    for (ptrdiff_t unit = 0; unit < m && !(size > 0.01); unit++) {\n"
    "      for (ptrdiff_t i = 0; i < m; i++) {\n"
    "        a[i * n + j].re = i == unit;\n"
    "        a[i * n + j].im = 0;\n"
    "      }\n"
    "      for (ptrdiff_t k = 0; k < 2 * j; k++) { /* twice, for rounding */\n"
    "        pair_f64 part = {0, 0};\n"
    "        for (ptrdiff_t i = 0; i < m; i++) add_conjugate_f64(&part, 1, a[i * n + k % j], a[i * n + j]);\n"
    "        for (ptrdiff_t i = 0; i < m; i++) add_pairs_f64(a + i * n + j, -1, part, a[i * n + k % j]);\n"
    "      }\n"
    "      size = 0;\n"
    "      for (ptrdiff_t i = 0; i < m; i++) size = hypot(size, size_of_pair_f64(a[i * n + j]));\n"
    "      for (ptrdiff_t i = 0; i < m && size > 0.01; i++) {\n"
    "        a[i * n + j].re /= size;\n"
    "        a[i * n + j].im /= size;\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

damo_status pair_svd_emit_c(const core_source *s) {
  const c_mat x = s->in[0];
  const c_pair_factors f = c_pair_svd(s, x);
  const int64_t n_left = c_flag(s, "full_matrices") ? f.m : f.n; /* columns of the tall factor */
  const char *left = f.u, *part = s->dtype == DAMO_COMPLEX64 ? "(float)" : "";
  const c_mat u = s->out[0], vt = c_mat_turned(s->out[2]);
  c_emit *e = s->e;
  c_pair_helpers(s, PAIR_ADD);
  ce_helper(e, "columns", DAMO_COMPLEX128, pair_columns_text);
  if (n_left > f.n) {
    left = c_pairs(s, f.m * n_left);
    ce_line(e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)f.m);
    ce_line(e, "  for (ptrdiff_t j = 0; j < %lld; j++) %s[i * %lld + j] = %s[i * %lld + j];", (long long)f.n, left,
            (long long)n_left, f.u, (long long)f.n);
  }
  ce_line(e, "columns_c128(%lld, %lld, %lld, %s, %s);", (long long)f.m, (long long)n_left, (long long)f.n, left,
          f.values);
  for (int k = 0; k < 2; k++) { /* v is conjugated on either side */
    const c_mat to = k == 0 ? u : vt;
    const bool of_left = (k == 0) != f.wide;
    const char *at = ce_text(e, "(%s)[i * %lld + j * %lld]", to.at, (long long)to.rs, (long long)to.cs);
    const char *from = ce_text(e, "%s[i * %lld + j]", of_left ? left : f.v, (long long)(of_left ? n_left : f.n));
    ce_for(e, "i", to.rows);
    ce_for(e, "j", to.cols);
    ce_line(e, "%s.re = %s%s.re;", at, part, from);
    ce_line(e, "%s.im = %s%s%s.im;", at, of_left ? "" : "-", part, from);
    ce_close(e);
    ce_close(e);
  }
  c_store_values(s, s->out[1], f.values);
  return e->status;
}

damo_status pair_svdvals_emit_c(const core_source *s) {
  const c_pair_factors f = c_pair_svd(s, s->in[0]);
  c_store_values(s, s->out[0], f.values);
  return s->e->status;
}

/* u becomes u / s. Values below rcond times the greatest count as 0; see lstsq.c. */
static void c_pair_scale(const core_source *s, const c_pair_factors *f) {
  const double epsilon = s->dtype == DAMO_COMPLEX64 ? FLT_EPSILON : DBL_EPSILON;
  const double rcond = prop_num_or(*op_prop(s->op, "rcond"), (double)(f->m > f->n ? f->m : f->n) * epsilon);
  const char *bound = ce_number(s->e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = rcond});
  const char *at = ce_text(s->e, "%s[i * %lld + j]", f->u, (long long)f->n);
  ce_for(s->e, "j", f->n);
  ce_line(s->e, "const int counts = %s[j] > %s * %s[0];", f->values, bound, f->values);
  ce_for(s->e, "i", f->m);
  ce_line(s->e, "%s.re = counts ? %s.re / %s[j] : 0;", at, at, f->values);
  ce_line(s->e, "%s.im = counts ? %s.im / %s[j] : 0;", at, at, f->values);
  ce_close(s->e);
  ce_close(s->e);
}

static void c_put_pair(const core_source *s, c_mat y, const char *from) {
  const char *part = s->dtype == DAMO_COMPLEX64 ? "(float)" : "";
  const char *at = ce_text(s->e, "(%s)[i * %lld + k * %lld]", y.at, (long long)y.rs, (long long)y.cs);
  ce_line(s->e, "%s.re = %s%s.re;", at, part, from);
  ce_line(s->e, "%s.im = %s%s.im;", at, part, from);
}

damo_status pair_pinv_emit_c(const core_source *s) {
  const c_pair_factors f = c_pair_svd(s, s->in[0]);
  const c_mat y = f.wide ? c_mat_turned(s->out[0]) : s->out[0];
  c_pair_scale(s, &f);
  ce_for(s->e, "i", f.n);
  ce_for(s->e, "k", f.m);
  ce_line(s->e, "pair_f64 sum = {0, 0};");
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++) add_conjugate_f64(&sum, 1, %s[k * %lld + j], %s[i * %lld + j]);",
          (long long)f.n, f.u, (long long)f.n, f.v, (long long)f.n);
  c_put_pair(s, y, "sum");
  ce_close(s->e);
  ce_close(s->e);
  return s->e->status;
}

/* x = v s⁻¹ u' b; of a wide matrix, whose transpose is u s v', conj(u) s⁻¹ vᵀ b. */
damo_status pair_lstsq_emit_c(const core_source *s) {
  const c_pair_factors f = c_pair_svd(s, s->in[0]);
  const c_mat b = s->in[1], x = s->out[0];
  const char *part = c_pairs(s, f.n), *right = c_pairs(s, b.rows * b.cols);
  c_emit *e = s->e;
  c_pair_helpers(s, PAIR_ADD);
  c_pair_scale(s, &f);
  c_load_pairs(s, right, b);
  ce_line(e, "for (ptrdiff_t i = 0; i < %lld; i++) bad |= !(size_of_pair_f64(%s[i]) < INFINITY);",
          (long long)(b.rows * b.cols), right);
  ce_for(e, "k", x.cols);
  ce_for(e, "j", f.n);
  ce_line(e, "%s[j].re = %s[j].im = 0;", part, part);
  ce_line(e, "for (ptrdiff_t i = 0; i < %lld; i++) %s(%s + j, 1, %s[i * %lld + j], %s[i * %lld + k]);",
          (long long)b.rows, f.wide ? "add_pairs_f64" : "add_conjugate_f64", part, f.wide ? f.v : f.u, (long long)f.n,
          right, (long long)b.cols);
  ce_close(e);
  ce_for(e, "i", x.rows);
  ce_line(e, "pair_f64 sum = {0, 0};");
  ce_line(e, "for (ptrdiff_t j = 0; j < %lld; j++) %s(&sum, 1, %s[i * %lld + j], %s[j]);", (long long)f.n,
          f.wide ? "add_conjugate_f64" : "add_pairs_f64", f.wide ? f.u : f.v, (long long)f.n, part);
  c_put_pair(s, x, "sum");
  ce_close(e);
  ce_close(e);
  return e->status;
}

/* ---- Hessenberg form --------------------------------------------------------------------------------------------- */

/* By reflections with LAPACK's signs: the subdiagonal is real. */
static const char pair_hessenberg_text[] =
    "/* q h q' of the matrix h, which becomes 0 below its first subdiagonal; u: memory for n numbers. */\n"
    "static int hessenberg_~(ptrdiff_t n, pair_f64 *h, pair_f64 *q, pair_f64 *u) {\n"
    "  const pair_f64 zero = {0, 0};\n"
    "  double whole = 0;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) whole += size_of_pair_f64(h[i]);\n"
    "  if (!(whole < INFINITY)) return 1;\n"
    "  for (ptrdiff_t k = 0; k + 1 < n; k++) {\n"
    "    const pair_f64 alpha = h[(k + 1) * n + k];\n"
    "    double tail = 0;\n"
    "    for (ptrdiff_t i = k + 2; i < n; i++) tail = hypot(tail, size_of_pair_f64(h[i * n + k]));\n"
    "    if (tail == 0 && alpha.im == 0) continue;\n"
    "    const double beta = -copysign(hypot(size_of_pair_f64(alpha), tail), alpha.re);\n"
    "    const pair_f64 tau = {(beta - alpha.re) / beta, -alpha.im / beta}, back = {tau.re, -tau.im};\n"
    "    const pair_f64 head = {alpha.re - beta, alpha.im};\n"
    "    u[k + 1].re = 1;\n"
    "    u[k + 1].im = 0;\n"
    "    for (ptrdiff_t i = k + 2; i < n; i++) u[i] = over_pair_f64(h[i * n + k], head);\n"
    "    for (ptrdiff_t j = k; j < n; j++) {\n"
    "      pair_f64 sum = zero;\n"
    "      for (ptrdiff_t i = k + 1; i < n; i++) add_conjugate_f64(&sum, 1, u[i], h[i * n + j]);\n"
    "      sum = times_pair_f64(sum, back);\n"
    "      for (ptrdiff_t i = k + 1; i < n; i++) add_pairs_f64(h + i * n + j, -1, sum, u[i]);\n"
    "    }\n"
    "    h[(k + 1) * n + k].re = beta;\n"
    "    h[(k + 1) * n + k].im = 0;\n"
    "    for (ptrdiff_t i = k + 2; i < n; i++) h[i * n + k] = zero;\n"
    "    for (int m = 0; m < 2; m++) {\n"
    "      pair_f64 *const y = m == 0 ? h : q;\n"
    "      for (ptrdiff_t i = 0; i < n; i++) {\n"
    "        pair_f64 sum = zero;\n"
    "        for (ptrdiff_t j = k + 1; j < n; j++) add_pairs_f64(&sum, 1, y[i * n + j], u[j]);\n"
    "        sum = times_pair_f64(sum, tau);\n"
    "        for (ptrdiff_t j = k + 1; j < n; j++) add_conjugate_f64(y + i * n + j, -1, u[j], sum);\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

damo_status pair_hessenberg_emit_c(const core_source *s) {
  const int64_t n = s->in[0].rows;
  const char *h = c_pairs(s, n * n), *q = c_pairs(s, n * n), *u = c_pairs(s, n);
  c_pair_helpers(s, PAIR_SIZE | PAIR_TIMES | PAIR_OVER | PAIR_ADD | PAIR_ADD_CONJUGATE);
  ce_helper(s->e, "hessenberg", DAMO_COMPLEX128, pair_hessenberg_text);
  c_load_pairs(s, h, s->in[0]);
  c_pair_identity(s, n, n, q);
  ce_line(s->e, "bad |= hessenberg_c128(%lld, %s, %s, %s);", (long long)n, h, q, u);
  c_store_pairs(s, s->out[0], h);
  c_store_pairs(s, s->out[1], q);
  return s->e->status;
}
