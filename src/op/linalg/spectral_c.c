/* spectral_c: eigenvalues of symmetric matrices, singular values, and least squares by them, as C source. By rotations of
 * Jacobi's, in double: slower than LAPACK's ways by a factor for large matrices, and as exact. */
#include <float.h>
#include <math.h>

#include "core_c.h"
#include "decompose.h"
#include "spectral.h"

/* ---- Scale ------------------------------------------------------------------------------------------------------- */

/* Squares of entries overflow or vanish where the entries themselves do not. */
static const char unit_text[] =
    "/* Divides n numbers by the power of 2 that leaves the greatest modulus below 1 and at least 1/2, and gives\n"
    "   its exponent. Not 0: one of them is not finite. */\n"
    "static int to_unit_~(ptrdiff_t n, double *a, int *exponent) {\n"
    "  double most = 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    if (!(fabs(a[i]) < INFINITY)) return 1;\n"
    "    most = fmax(most, fabs(a[i]));\n"
    "  }\n"
    "  (void)frexp(most, exponent);\n"
    "  for (ptrdiff_t i = 0; i < n; i++) a[i] = ldexp(a[i], -*exponent);\n"
    "  return 0;\n"
    "}\n";

void c_unit_helper(const core_source *s) { ce_helper(s->e, "to_unit", DAMO_FLOAT64, unit_text); }

/* ---- Symmetric matrices ------------------------------------------------------------------------------------------ */

/* Its signs of vectors are not LAPACK's. */
static const char eigh_text[] =
    "/* Eigenvalues of the symmetric matrix a, rising, and their vectors, the columns of v, which may be NULL. */\n"
    "static int eigh_~(ptrdiff_t n, double *a, double *w, double *v) {\n"
    "  int exponent = 0, sweep = 0;\n"
    "  if (to_unit_~(n * n, a, &exponent) != 0) return 1;\n"
    "  double whole = 0;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) whole += a[i] * a[i];\n"
    "  for (ptrdiff_t i = 0; i < n * n && v != NULL; i++) v[i] = i % (n + 1) == 0;\n"
    "  for (; sweep < 60; sweep++) {\n"
    "    double off = 0;\n"
    "    for (ptrdiff_t p = 0; p < n; p++)\n"
    "      for (ptrdiff_t q = p + 1; q < n; q++) off += a[p * n + q] * a[p * n + q];\n"
    "    if (off <= 1e-36 * whole) break;\n"
    "    for (ptrdiff_t p = 0; p < n; p++)\n"
    "      for (ptrdiff_t q = p + 1; q < n; q++) {\n"
    "        const double x = a[p * n + q];\n"
    "        if (x == 0) continue;\n"
    "        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * x);\n"
    "        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(1, theta)), c = 1 / hypot(1, t), s = t * c;\n"
    "        a[p * n + p] -= t * x;\n"
    "        a[q * n + q] += t * x;\n"
    "        a[p * n + q] = a[q * n + p] = 0;\n"
    "        for (ptrdiff_t i = 0; i < n; i++) {\n"
    "          if (i == p || i == q) continue;\n"
    "          const double y = a[i * n + p], z = a[i * n + q];\n"
    "          a[i * n + p] = a[p * n + i] = c * y - s * z;\n"
    "          a[i * n + q] = a[q * n + i] = s * y + c * z;\n"
    "        }\n"
    "        for (ptrdiff_t i = 0; i < n && v != NULL; i++) {\n"
    "          const double y = v[i * n + p], z = v[i * n + q];\n"
    "          v[i * n + p] = c * y - s * z;\n"
    "          v[i * n + q] = s * y + c * z;\n"
    "        }\n"
    "      }\n"
    "  }\n"
    "  for (ptrdiff_t i = 0; i < n; i++) w[i] = ldexp(a[i * n + i], exponent);\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    ptrdiff_t least = i;\n"
    "    for (ptrdiff_t k = i + 1; k < n; k++)\n"
    "      if (w[k] < w[least]) least = k;\n"
    "    const double t = w[i];\n"
    "    w[i] = w[least];\n"
    "    w[least] = t;\n"
    "    for (ptrdiff_t k = 0; k < n && v != NULL && least != i; k++) {\n"
    "      const double y = v[k * n + i];\n"
    "      v[k * n + i] = v[k * n + least];\n"
    "      v[k * n + least] = y;\n"
    "    }\n"
    "  }\n"
    "  return sweep == 60;\n"
    "}\n";

const char *c_doubles(const core_source *s, int64_t n) {
  const c_value *v = ce_scratch(s->e, DAMO_FLOAT64, n > 0 ? n : 1);
  return v != NULL ? ce_p(s->e, v) : "0";
}

/* m = the doubles, by rows. */
static void c_from_doubles(const core_source *s, c_mat m, const char *from) {
  ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[k] = (%s)%s[k];", (long long)(m.rows * m.cols), m.at,
          ce_type(s->dtype), from);
}

/* The doubles, by rows, = m. */
static void c_to_doubles(const core_source *s, const char *to, c_mat m) {
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)m.rows);
  ce_line(s->e, "  for (ptrdiff_t j = 0; j < %lld; j++) %s[i * %lld + j] = (double)(%s)[i * %lld + j * %lld];",
          (long long)m.cols, to, (long long)m.cols, m.at, (long long)m.rs, (long long)m.cs);
}

damo_status eigh_emit_c(const core_source *s) {
  const c_mat x = s->in[0];
  const bool lower = op_prop(s->op, "lower") == NULL || prop_bool_or(*op_prop(s->op, "lower"), true);
  if (dtype_is_complex(s->dtype)) return pair_eigh_emit_c(s, lower);
  const char *a = c_doubles(s, x.rows * x.rows), *w = c_doubles(s, x.rows), *v = "NULL";
  if (s->n_out == 2) v = c_doubles(s, x.rows * x.rows);
  c_unit_helper(s);
  ce_helper(s->e, "eigh", DAMO_FLOAT64, eigh_text);
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)x.rows);
  ce_line(s->e, "  for (ptrdiff_t j = 0; j <= i; j++)");
  ce_line(s->e, "    %s[i * %lld + j] = %s[j * %lld + i] = (double)(%s)[i * %lld + j * %lld];", a, (long long)x.rows, a,
          (long long)x.rows, x.at, (long long)(lower ? x.rs : x.cs), (long long)(lower ? x.cs : x.rs));
  ce_line(s->e, "bad |= eigh_f64(%lld, %s, %s, %s);", (long long)x.rows, a, w, v);
  c_from_doubles(s, s->out[0], w);
  if (s->n_out == 2) c_from_doubles(s, s->out[1], v);
  return s->e->status;
}

/* ---- Singular values --------------------------------------------------------------------------------------------- */

/* A column below 2^-480 of the greatest entry stays as it is, since squares of its entries vanish: its value is 0 beside the
 * others. */
static const char svd_text[] =
    "/* Of a, m rows and n <= m columns: u over a, 0 where s is, the columns of v, and the singular values s, falling. "
    "*/\n"
    "static int svd_~(ptrdiff_t m, ptrdiff_t n, double *a, double *s, double *v) {\n"
    "  const double bound = 4 * 0x1p-52 * sqrt((double)m);\n"
    "  int exponent = 0, turned = 1;\n"
    "  if (to_unit_~(m * n, a, &exponent) != 0) return 1;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) v[i] = i % (n + 1) == 0;\n"
    "  for (int sweep = 0; sweep < 60 && turned; sweep++) {\n"
    "    turned = 0;\n"
    "    for (ptrdiff_t p = 0; p < n; p++)\n"
    "      for (ptrdiff_t q = p + 1; q < n; q++) {\n"
    "        double x = 0, y = 0, z = 0;\n"
    "        for (ptrdiff_t i = 0; i < m; i++) {\n"
    "          x += a[i * n + p] * a[i * n + p];\n"
    "          y += a[i * n + q] * a[i * n + q];\n"
    "          z += a[i * n + p] * a[i * n + q];\n"
    "        }\n"
    "        if (!(fabs(z) > bound * sqrt(x) * sqrt(y)) || x < 0x1p-960 || y < 0x1p-960) continue;\n"
    "        const double theta = (y - x) / (2 * z);\n"
    "        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(1, theta)), c = 1 / hypot(1, t), d = t * c;\n"
    "        turned = 1;\n"
    "        for (ptrdiff_t i = 0; i < m; i++) {\n"
    "          const double g = a[i * n + p], h = a[i * n + q];\n"
    "          a[i * n + p] = c * g - d * h;\n"
    "          a[i * n + q] = d * g + c * h;\n"
    "        }\n"
    "        for (ptrdiff_t i = 0; i < n; i++) {\n"
    "          const double g = v[i * n + p], h = v[i * n + q];\n"
    "          v[i * n + p] = c * g - d * h;\n"
    "          v[i * n + q] = d * g + c * h;\n"
    "        }\n"
    "      }\n"
    "  }\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    s[j] = 0;\n"
    "    for (ptrdiff_t i = 0; i < m; i++) s[j] = hypot(s[j], a[i * n + j]);\n"
    "    for (ptrdiff_t i = 0; i < m && s[j] > 0; i++) a[i * n + j] /= s[j];\n"
    "    s[j] = ldexp(s[j], exponent);\n"
    "  }\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    ptrdiff_t most = j;\n"
    "    for (ptrdiff_t k = j + 1; k < n; k++)\n"
    "      if (s[k] > s[most]) most = k;\n"
    "    const double t = s[j];\n"
    "    s[j] = s[most];\n"
    "    s[most] = t;\n"
    "    for (ptrdiff_t i = 0; i < m && most != j; i++) {\n"
    "      const double g = a[i * n + j];\n"
    "      a[i * n + j] = a[i * n + most];\n"
    "      a[i * n + most] = g;\n"
    "    }\n"
    "    for (ptrdiff_t i = 0; i < n && most != j; i++) {\n"
    "      const double g = v[i * n + j];\n"
    "      v[i * n + j] = v[i * n + most];\n"
    "      v[i * n + most] = g;\n"
    "    }\n"
    "  }\n"
    "  return turned;\n"
    "}\n";

/* The names of u (by rows, as many columns as values), the values and v, of x or, where it is wide, of its transpose. */
typedef struct c_factors {
  const char *u, *values, *v;
  int64_t m, n;
  bool wide;
} c_factors;

static c_factors c_svd(const core_source *s, c_mat x) {
  const bool wide = x.rows < x.cols;
  const c_mat tall = wide ? c_mat_turned(x) : x;
  const c_factors f = {.u = c_doubles(s, tall.rows * tall.cols),
                       .values = c_doubles(s, tall.cols),
                       .v = c_doubles(s, tall.cols * tall.cols),
                       .m = tall.rows,
                       .n = tall.cols,
                       .wide = wide};
  c_unit_helper(s);
  ce_helper(s->e, "svd", DAMO_FLOAT64, svd_text);
  c_to_doubles(s, f.u, tall);
  ce_line(s->e, "bad |= svd_f64(%lld, %lld, %s, %s, %s);", (long long)f.m, (long long)f.n, f.u, f.values, f.v);
  return f;
}

/* The columns of u; where s is 0 beside the greatest, and beyond the columns given, of unit vectors what is orthogonal to the
 * columns before. */
static const char columns_text[] =
    "static void columns_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t given, double *a, const double *s) {\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    double size = j < given && s[j] > 0x1p-480 * s[0];\n"
    "    for (ptrdiff_t unit = 0; unit < m && !(size > 0.01); unit++) {\n"
    "      for (ptrdiff_t i = 0; i < m; i++) a[i * n + j] = i == unit;\n"
    "      for (ptrdiff_t k = 0; k < 2 * j; k++) { /* twice, for rounding */\n"
    "        double part = 0;\n"
    "        for (ptrdiff_t i = 0; i < m; i++) part += a[i * n + k % j] * a[i * n + j];\n"
    "        for (ptrdiff_t i = 0; i < m; i++) a[i * n + j] -= part * a[i * n + k % j];\n"
    "      }\n"
    "      size = 0;\n"
    "      for (ptrdiff_t i = 0; i < m; i++) size = hypot(size, a[i * n + j]);\n"
    "      for (ptrdiff_t i = 0; i < m && size > 0.01; i++) a[i * n + j] /= size;\n"
    "    }\n"
    "  }\n"
    "}\n";

damo_status svd_emit_c(const core_source *s) {
  if (dtype_is_complex(s->dtype)) return pair_svd_emit_c(s);
  const c_mat x = s->in[0];
  const c_factors f = c_svd(s, x);
  const int64_t n_left = c_flag(s, "full_matrices") ? f.m : f.n; /* columns of the tall factor */
  const char *left = f.u;
  const c_mat u = s->out[0], vt = c_mat_turned(s->out[2]);
  ce_helper(s->e, "columns", DAMO_FLOAT64, columns_text);
  if (n_left > f.n) {
    left = c_doubles(s, f.m * n_left);
    ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)f.m);
    ce_line(s->e, "  for (ptrdiff_t j = 0; j < %lld; j++) %s[i * %lld + j] = %s[i * %lld + j];", (long long)f.n, left,
            (long long)n_left, f.u, (long long)f.n);
  }
  ce_line(s->e, "columns_f64(%lld, %lld, %lld, %s, %s);", (long long)f.m, (long long)n_left, (long long)f.n, left,
          f.values);
  for (int k = 0; k < 2; k++) {
    const c_mat to = k == 0 ? u : vt;
    const bool of_left = (k == 0) != f.wide;
    ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)to.rows);
    ce_line(s->e, "  for (ptrdiff_t j = 0; j < %lld; j++) (%s)[i * %lld + j * %lld] = (%s)%s[i * %lld + j];",
            (long long)to.cols, to.at, (long long)to.rs, (long long)to.cs, ce_type(s->dtype), of_left ? left : f.v,
            (long long)(of_left ? n_left : f.n));
  }
  c_from_doubles(s, s->out[1], f.values);
  return s->e->status;
}

damo_status svdvals_emit_c(const core_source *s) {
  if (dtype_is_complex(s->dtype)) return pair_svdvals_emit_c(s);
  const c_factors f = c_svd(s, s->in[0]);
  c_from_doubles(s, s->out[0], f.values);
  return s->e->status;
}

/* u becomes u / s. Values below rcond times the greatest count as 0; see lstsq.c. */
static void c_scale_by_values(const core_source *s, const c_factors *f) {
  const prop_value *given = op_prop(s->op, "rcond");
  const double epsilon = s->dtype == DAMO_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
  const double rcond = prop_num_or(*given, (double)(f->m > f->n ? f->m : f->n) * epsilon);
  const char *bound = ce_number(s->e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = rcond});
  ce_for(s->e, "j", f->n);
  ce_line(s->e, "const int counts = %s[j] > %s * %s[0];", f->values, bound, f->values);
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++) %s[i * %lld + j] = counts ? %s[i * %lld + j] / %s[j] : 0;",
          (long long)f->m, f->u, (long long)f->n, f->u, (long long)f->n, f->values);
  ce_close(s->e);
}

damo_status pinv_emit_c(const core_source *s) {
  if (dtype_is_complex(s->dtype)) return pair_pinv_emit_c(s);
  const c_factors f = c_svd(s, s->in[0]);
  const c_mat y = f.wide ? c_mat_turned(s->out[0]) : s->out[0];
  c_scale_by_values(s, &f);
  ce_for(s->e, "i", f.n);
  ce_for(s->e, "k", f.m);
  ce_line(s->e, "double sum = 0;");
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++) sum += %s[i * %lld + j] * %s[k * %lld + j];", (long long)f.n, f.v,
          (long long)f.n, f.u, (long long)f.n);
  ce_line(s->e, "(%s)[i * %lld + k * %lld] = (%s)sum;", y.at, (long long)y.rs, (long long)y.cs, ce_type(s->dtype));
  ce_close(s->e);
  ce_close(s->e);
  return s->e->status;
}

/* Of a wide matrix a = v s u': x = u s⁻¹ v' b. */
damo_status lstsq_emit_c(const core_source *s) {
  if (dtype_is_complex(s->dtype)) return pair_lstsq_emit_c(s);
  const c_factors f = c_svd(s, s->in[0]);
  const c_mat b = s->in[1], x = s->out[0];
  const char *part = c_doubles(s, f.n), *left = f.wide ? f.v : f.u, *right = f.wide ? f.u : f.v;
  const char *type = ce_type(s->dtype);
  c_scale_by_values(s, &f);
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)b.rows);
  ce_line(s->e, "  for (ptrdiff_t k = 0; k < %lld; k++) bad |= !(fabs((double)(%s)[i * %lld + k * %lld]) < INFINITY);",
          (long long)b.cols, b.at, (long long)b.rs, (long long)b.cs);
  ce_for(s->e, "k", x.cols);
  ce_for(s->e, "j", f.n);
  ce_line(s->e, "%s[j] = 0;", part);
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++) %s[j] += %s[i * %lld + j] * (double)(%s)[i * %lld + k * %lld];",
          (long long)b.rows, part, left, (long long)f.n, b.at, (long long)b.rs, (long long)b.cs);
  ce_close(s->e);
  ce_for(s->e, "i", x.rows);
  ce_line(s->e, "double sum = 0;");
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++) sum += %s[i * %lld + j] * %s[j];", (long long)f.n, right,
          (long long)f.n, part);
  ce_line(s->e, "(%s)[i * %lld + k * %lld] = (%s)sum;", x.at, (long long)x.rs, (long long)x.cs, type);
  ce_close(s->e);
  ce_close(s->e);
  return s->e->status;
}

/* ---- Hessenberg form --------------------------------------------------------------------------------------------- */

/* By reflections with LAPACK's signs. */
static const char hessenberg_text[] =
    "/* q h q' of the matrix h, which becomes 0 below its first subdiagonal; u: memory for n numbers. */\n"
    "static int hessenberg_~(ptrdiff_t n, double *h, double *q, double *u) {\n"
    "  double whole = 0;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) whole += fabs(h[i]);\n"
    "  if (!(whole < INFINITY)) return 1;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) q[i] = i % (n + 1) == 0;\n"
    "  for (ptrdiff_t k = 0; k + 2 < n; k++) {\n"
    "    const double alpha = h[(k + 1) * n + k];\n"
    "    double tail = 0;\n"
    "    for (ptrdiff_t i = k + 2; i < n; i++) tail = hypot(tail, h[i * n + k]);\n"
    "    if (tail == 0) continue;\n"
    "    const double beta = -copysign(hypot(alpha, tail), alpha), tau = (beta - alpha) / beta;\n"
    "    u[k + 1] = 1;\n"
    "    for (ptrdiff_t i = k + 2; i < n; i++) u[i] = h[i * n + k] / (alpha - beta);\n"
    "    for (ptrdiff_t j = k; j < n; j++) {\n"
    "      double sum = 0;\n"
    "      for (ptrdiff_t i = k + 1; i < n; i++) sum += u[i] * h[i * n + j];\n"
    "      for (ptrdiff_t i = k + 1; i < n; i++) h[i * n + j] -= tau * sum * u[i];\n"
    "    }\n"
    "    h[(k + 1) * n + k] = beta;\n"
    "    for (ptrdiff_t i = k + 2; i < n; i++) h[i * n + k] = 0;\n"
    "    for (int m = 0; m < 2; m++) {\n"
    "      double *const y = m == 0 ? h : q;\n"
    "      for (ptrdiff_t i = 0; i < n; i++) {\n"
    "        double sum = 0;\n"
    "        for (ptrdiff_t j = k + 1; j < n; j++) sum += y[i * n + j] * u[j];\n"
    "        for (ptrdiff_t j = k + 1; j < n; j++) y[i * n + j] -= tau * sum * u[j];\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

damo_status hessenberg_emit_c(const core_source *s) {
  if (dtype_is_complex(s->dtype)) return pair_hessenberg_emit_c(s);
  const int64_t n = s->in[0].rows;
  const char *h = c_doubles(s, n * n), *q = c_doubles(s, n * n), *u = c_doubles(s, n);
  ce_helper(s->e, "hessenberg", DAMO_FLOAT64, hessenberg_text);
  c_to_doubles(s, h, s->in[0]);
  ce_line(s->e, "bad |= hessenberg_f64(%lld, %s, %s, %s);", (long long)n, h, q, u);
  c_from_doubles(s, s->out[0], h);
  c_from_doubles(s, s->out[1], q);
  return s->e->status;
}

/* ---- The exponential --------------------------------------------------------------------------------------------- */

/* The approximant of degree 13 with scaling and squaring, as matfun.c has it. */
static const char expm_text[] =
    "static void times_~(ptrdiff_t n, const double *a, const double *b, double *c) {\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    for (ptrdiff_t j = 0; j < n; j++) c[i * n + j] = 0;\n"
    "    for (ptrdiff_t k = 0; k < n; k++)\n"
    "      for (ptrdiff_t j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];\n"
    "  }\n"
    "}\n\n"
    "/* The largest sum of moduli of a column. */\n"
    "static double norm_~(ptrdiff_t n, const double *a) {\n"
    "  double most = 0;\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    double sum = 0;\n"
    "    for (ptrdiff_t i = 0; i < n; i++) sum += fabs(a[i * n + j]);\n"
    "    most = sum > most || sum != sum ? sum : most;\n"
    "  }\n"
    "  return most;\n"
    "}\n\n"
    "/* How many more squarings the rounding of powers of |a| asks for. x, y: memory of n numbers. */\n"
    "static int more_~(ptrdiff_t n, const double *a, double norm, int squarings, double *x, double *y) {\n"
    "  const double scale = ldexp(1, -squarings);\n"
    "  double factor = 1, most = 0;\n"
    "  if (norm == 0) return 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) x[i] = 1;\n"
    "  for (int k = 0; k < 27; k++) {\n"
    "    double *const swap = x;\n"
    "    for (ptrdiff_t j = 0; j < n; j++) {\n"
    "      y[j] = 0;\n"
    "      for (ptrdiff_t i = 0; i < n; i++) y[j] += scale * fabs(a[i * n + j]) * x[i];\n"
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
    "}\n\n"
    "/* The exponential over a; w: memory of 6 such matrices. Not 0: it is too large. */\n"
    "static int expm_~(ptrdiff_t n, double *a, double *w, int64_t *pivots) {\n"
    "  static const double b[] = {64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,\n"
    "                             129060195264000.0,   10559470521600.0,    670442572800.0,     33522128640.0,\n"
    "                             1323241920.0,        40840800.0,          960960.0,           16380.0,\n"
    "                             182.0,               1.0};\n"
    "  const ptrdiff_t size = n * n;\n"
    "  double *const a2 = w, *const a4 = w + size, *const a6 = w + 2 * size, *const u = w + 3 * size;\n"
    "  double *const v = w + 4 * size, *const t = w + 5 * size;\n"
    "  times_~(n, a, a, a2);\n"
    "  times_~(n, a2, a2, a4);\n"
    "  times_~(n, a4, a2, a6);\n"
    "  times_~(n, a4, a4, t);\n"
    "  const double norm = norm_~(n, a), n4 = norm_~(n, a4), n6 = norm_~(n, a6), n8 = norm_~(n, t);\n"
    "  const double d6 = pow(n6, 1.0 / 6), d8 = pow(n8, 0.125), d10 = pow(fmin(n4 * n6, norm_~(n, a2) * n8), 0.1);\n"
    "  const double eta = fmin(fmax(d6, d8), fmax(d8, d10));\n"
    "  if (!(eta < INFINITY) || !(norm < INFINITY)) return 1;\n"
    "  int squarings = eta > 5.371920351148152 ? (int)ceil(log2(eta / 5.371920351148152)) : 0;\n"
    "  squarings += more_~(n, a, norm, squarings, u, v);\n"
    "  for (ptrdiff_t i = 0; i < size; i++) {\n"
    "    a[i] = ldexp(a[i], -squarings);\n"
    "    a2[i] = ldexp(a2[i], -2 * squarings);\n"
    "    a4[i] = ldexp(a4[i], -4 * squarings);\n"
    "    a6[i] = ldexp(a6[i], -6 * squarings);\n"
    "  }\n"
    "  for (ptrdiff_t i = 0; i < size; i++) v[i] = b[13] * a6[i] + b[11] * a4[i] + b[9] * a2[i];\n"
    "  times_~(n, a6, v, t);\n"
    "  for (ptrdiff_t i = 0; i < size; i++)\n"
    "    t[i] += b[7] * a6[i] + b[5] * a4[i] + b[3] * a2[i] + (i % (n + 1) == 0 ? b[1] : 0);\n"
    "  times_~(n, a, t, u);\n"
    "  for (ptrdiff_t i = 0; i < size; i++) t[i] = b[12] * a6[i] + b[10] * a4[i] + b[8] * a2[i];\n"
    "  times_~(n, a6, t, v);\n"
    "  for (ptrdiff_t i = 0; i < size; i++) {\n"
    "    v[i] += b[6] * a6[i] + b[4] * a4[i] + b[2] * a2[i] + (i % (n + 1) == 0 ? b[0] : 0);\n"
    "    t[i] = v[i] - u[i];\n"
    "    a[i] = v[i] + u[i];\n"
    "  }\n"
    "  if (lu_~(n, n, t, n, 1, pivots) != 0) return 1;\n"
    "  lu_solve_~(n, n, t, n, 1, pivots, 0, a, n, 1);\n"
    "  for (; squarings > 0; squarings--) {\n"
    "    times_~(n, a, a, t);\n"
    "    memcpy(a, t, (size_t)size * sizeof *a);\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

damo_status expm_emit_c(const core_source *s) {
  if (dtype_is_complex(s->dtype)) return pair_expm_emit_c(s);
  const c_mat x = s->in[0];
  const char *a = c_doubles(s, x.rows * x.rows), *w = c_doubles(s, 6 * x.rows * x.rows);
  core_source doubles = *s;
  doubles.dtype = DAMO_FLOAT64;
  c_lu_helpers(&doubles);
  ce_helper(s->e, "expm", DAMO_FLOAT64, expm_text);
  c_to_doubles(s, a, x);
  ce_line(s->e, "bad |= expm_f64(%lld, %s, %s, %s);", (long long)x.rows, a, w, c_positions(s, x.rows));
  c_from_doubles(s, s->out[0], a);
  return s->e->status;
}

/* ---- Quotients by gaps ------------------------------------------------------------------------------------------- */

/* See gap.c. */
damo_status gap_emit_c(const core_source *s) {
  const int64_t kind = op_prop(s->op, "kind")->u.i;
  const c_mat x = s->in[0], w = s->in[1], scale = s->in[2], q = s->out[0];
  const bool complex = dtype_is_complex(s->dtype), single = s->dtype == DAMO_FLOAT32 || s->dtype == DAMO_COMPLEX64;
  const double eps = single ? FLT_EPSILON : DBL_EPSILON, n = (double)w.rows;
  const char *type = single ? "float" : "double", *at = ce_text(s->e, "(%s)", w.at);
  const char *gap = kind == GAP_VALUE ? ce_text(s->e, "%s[j * %lld]", at, (long long)w.rs)
                                      : ce_text(s->e, "%s[j * %lld] %s %s[i * %lld]", at, (long long)w.rs,
                                                kind == GAP_SUM ? "+" : "-", at, (long long)w.rs);
  if (c_flag(s, "complex_values")) return complex_gap_emit_c(s);
  ce_line(s->e, "double greatest = 0, most = 0;");
  ce_line(s->e, "for (ptrdiff_t j = 0; j < %lld; j++) greatest = fmax(greatest, fabs((double)%s[j * %lld]));",
          (long long)w.rows, at, (long long)w.rs);
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)scale.rows);
  ce_line(s->e, "  for (ptrdiff_t j = 0; j < %lld; j++) {", (long long)scale.cols);
  for (int k = 0; k < (complex ? 2 : 1); k++)
    ce_line(s->e, "    most = fmax(most, fabs((double)(%s)[i * %lld + j * %lld]%s));", scale.at, (long long)scale.rs,
            (long long)scale.cs,
            !complex ? ""
            : k == 0 ? ".re"
                     : ".im");
  ce_line(s->e, "  }");
  ce_line(s->e, "greatest *= %.17g;", (8 + 2 * sqrt(n)) * eps);
  ce_line(s->e, "most *= %.17g;", 8 * (n + (double)scale.rows) * eps);
  ce_for(s->e, "i", x.rows);
  ce_for(s->e, "j", x.cols);
  ce_line(s->e, "const %s d = %s;", type, gap);
  ce_line(s->e, "const int far = fabs((double)d) > greatest%s;", kind == GAP_DIFFERENCE ? " && i != j" : "");
  for (int k = 0; k < (complex ? 2 : 1); k++) {
    const char *part = !complex ? "" : k == 0 ? ".re" : ".im";
    const char *v = ce_text(s->e, "(%s)[i * %lld + j * %lld]%s", x.at, (long long)x.rs, (long long)x.cs, part);
    ce_line(s->e, "(%s)[i * %lld + j]%s = far ? %s / d : 0;", q.at, (long long)q.rs, part, v);
    ce_line(s->e, "bad |= !far%s && !(fabs((double)%s) <= most);", kind != GAP_VALUE ? " && i != j" : "", v);
  }
  ce_close(s->e);
  ce_close(s->e);
  return s->e->status;
}
