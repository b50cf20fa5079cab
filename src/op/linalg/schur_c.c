/* schur_c: eigenvalues of any matrix, its root and logarithm, and matrix equations as C source: what LAPACK's gees, geev
 * and trsyl are asked for in the virtual machine, here from the Schur form of the matrix as one of complex numbers. Of
 * float32 operands too it is computed in double.
 */
#include <float.h>
#include <math.h>

#include "core_c.h"
#include "spectral.h"

/* ---- The Schur form ---------------------------------------------------------------------------------------------- */

/* Rotations of two rows make the matrix one of Hessenberg's, then steps of the QR algorithm with Wilkinson's shifts. */
static const char schur_text[] =
    "static pair_~ root_pair_~(pair_~ a) {\n"
    "  const double size = size_of_pair_~(a), root = sqrt((size + fabs(a.re)) / 2), other = size > 0 ? fabs(a.im) / (2 "
    "* root) : 0;\n"
    "  const pair_~ right = {root, a.im < 0 ? -other : other}, left = {other, a.im < 0 ? -root : root};\n"
    "  return a.re >= 0 ? right : left;\n"
    "}\n"
    "/* Of n pairs of numbers x, y: c x + s y and c y - conj(s) x. */\n"
    "static void turn_pairs_~(ptrdiff_t n, pair_~ *x, pair_~ *y, ptrdiff_t step, double c, pair_~ s) {\n"
    "  for (ptrdiff_t k = 0; k < n; k++) {\n"
    "    const pair_~ u = x[k * step], v = y[k * step];\n"
    "    x[k * step].re = c * u.re + s.re * v.re - s.im * v.im;\n"
    "    x[k * step].im = c * u.im + s.re * v.im + s.im * v.re;\n"
    "    y[k * step].re = c * v.re - s.re * u.re - s.im * u.im;\n"
    "    y[k * step].im = c * v.im - s.re * u.im + s.im * u.re;\n"
    "  }\n"
    "}\n"
    "/* Turns the rows p and p + 1 of t so that (x, y) in them become (r, 0), and the columns back. */\n"
    "static void schur_turn_~(ptrdiff_t n, pair_~ *t, pair_~ *z, ptrdiff_t p, pair_~ x, pair_~ y) {\n"
    "  const double a = size_of_pair_~(x), r = hypot(a, size_of_pair_~(y)), c = r > 0 ? a / r : 1;\n"
    "  pair_~ s = {a == 0 && r > 0, 0};\n"
    "  if (a > 0) {\n"
    "    const pair_~ e = {x.re / a, x.im / a}, f = {y.re / r, -y.im / r};\n"
    "    s = times_pair_~(e, f);\n"
    "  }\n"
    "  turn_pairs_~(n, t + p * n, t + (p + 1) * n, 1, c, s);\n"
    "  s.im = -s.im;\n"
    "  turn_pairs_~(n, t + p, t + p + 1, n, c, s);\n"
    "  turn_pairs_~(n, z + p, z + p + 1, n, c, s);\n"
    "}\n"
    "/* The eigenvalue of the two rows and columns that end with k which is nearer to their last entry. */\n"
    "static pair_~ schur_shift_~(ptrdiff_t n, const pair_~ *t, ptrdiff_t k) {\n"
    "  const pair_~ a = t[(k - 1) * (n + 1)], d = t[k * (n + 1)], half = {(a.re - d.re) / 2, (a.im - d.im) / 2};\n"
    "  const pair_~ across = times_pair_~(t[(k - 1) * n + k], t[k * n + k - 1]), square = times_pair_~(half, half);\n"
    "  const pair_~ under = {square.re + across.re, square.im + across.im}, root = root_pair_~(under);\n"
    "  const double sign = half.re * root.re + half.im * root.im < 0 ? -1 : 1;\n"
    "  const pair_~ below = {half.re + sign * root.re, half.im + sign * root.im};\n"
    "  if (size_of_pair_~(below) == 0) return d;\n"
    "  const pair_~ less = over_pair_~(across, below), y = {d.re - less.re, d.im - less.im};\n"
    "  return y;\n"
    "}\n"
    "/* t becomes triangular, and z unitary with the matrix = z t z'. Not 0: an entry is not finite, or no "
    "convergence. */\n"
    "static int schur_~(ptrdiff_t n, pair_~ *t, pair_~ *z) {\n"
    "  double whole = 0;\n"
    "  int steps = 0;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) {\n"
    "    whole += size_of_pair_~(t[i]);\n"
    "    z[i].re = i % (n + 1) == 0;\n"
    "    z[i].im = 0;\n"
    "  }\n"
    "  if (!(whole < INFINITY)) return 1;\n"
    "  for (ptrdiff_t k = 0; k < n - 2; k++)\n"
    "    for (ptrdiff_t i = n - 1; i > k + 1; i--)\n"
    "      if (size_of_pair_~(t[i * n + k]) > 0) schur_turn_~(n, t, z, i - 1, t[(i - 1) * n + k], t[i * n + k]);\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t j = 0; j + 1 < i; j++) t[i * n + j].re = t[i * n + j].im = 0;\n"
    "  for (ptrdiff_t last = n - 1, first; last > 0;) {\n"
    "    for (first = last; first > 0; first--) {\n"
    "      const double size = size_of_pair_~(t[(first - 1) * (n + 1)]) + size_of_pair_~(t[first * (n + 1)]);\n"
    "      pair_~ *const below = t + first * n + first - 1;\n"
    "      if (size_of_pair_~(*below) > 0x1p-52 / 2 * (size > 0 ? size : whole)) continue;\n"
    "      below->re = below->im = 0;\n"
    "      break;\n"
    "    }\n"
    "    if (first == last) {\n"
    "      last--;\n"
    "      steps = 0;\n"
    "      continue;\n"
    "    }\n"
    "    if (++steps > 300) return 1;\n"
    "    pair_~ by = steps % 10 == 0 ? t[last * (n + 1)] : schur_shift_~(n, t, last);\n"
    "    if (steps % 10 == 0) by.re += size_of_pair_~(t[last * n + last - 1]);\n"
    "    const pair_~ start = {t[first * (n + 1)].re - by.re, t[first * (n + 1)].im - by.im};\n"
    "    schur_turn_~(n, t, z, first, start, t[(first + 1) * n + first]);\n"
    "    for (ptrdiff_t k = first + 1; k < last; k++) {\n"
    "      schur_turn_~(n, t, z, k, t[k * n + k - 1], t[(k + 1) * n + k - 1]);\n"
    "      t[(k + 1) * n + k - 1].re = t[(k + 1) * n + k - 1].im = 0;\n"
    "    }\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

/* The names of t and z of the square matrix. */
typedef struct c_schur {
  const char *t, *z;
  int64_t n;
} c_schur;

static c_schur c_schur_of(const core_source *s, c_mat a) {
  const c_schur f = {.t = c_pairs(s, a.rows * a.rows), .z = c_pairs(s, a.rows * a.rows), .n = a.rows};
  c_pair_helpers(s, PAIR_SIZE | PAIR_TIMES | PAIR_OVER);
  ce_helper(s->e, "schur", DAMO_FLOAT64, schur_text);
  c_load_pairs(s, f.t, a);
  ce_line(s->e, "bad |= schur_f64(%lld, %s, %s);", (long long)f.n, f.t, f.z);
  return f;
}

/* ---- Eigenvalues ------------------------------------------------------------------------------------------------- */

/* Of a real matrix eigenvalues are real or come in pairs, which complex arithmetic does not know. */
static const char values_text[] =
    "/* The eigenvalues into w; real: of a real matrix. */\n"
    "static void schur_values_~(ptrdiff_t n, int real, const pair_~ *t, pair_~ *w) {\n"
    "  double whole = 0;\n"
    "  for (ptrdiff_t i = 0; i < n && !real; i++) w[i] = t[i * (n + 1)];\n"
    "  if (!real) return;\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t j = i; j < n; j++) whole = hypot(whole, size_of_pair_~(t[i * n + j]));\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    w[i] = t[i * (n + 1)];\n"
    "    if (fabs(w[i].im) <= 8 * 0x1p-52 * whole) w[i].im = 0;\n"
    "  }\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    ptrdiff_t other = -1;\n"
    "    double least = INFINITY;\n"
    "    if (w[i].im == 0) continue;\n"
    "    for (ptrdiff_t k = i + 1; k < n; k++) {\n"
    "      const double far = hypot(w[k].re - w[i].re, w[k].im + w[i].im);\n"
    "      if (w[k].im == 0 || far >= least) continue;\n"
    "      other = k;\n"
    "      least = far;\n"
    "    }\n"
    "    if (other < 0) {\n"
    "      w[i].im = 0;\n"
    "      continue;\n"
    "    }\n"
    "    const pair_~ mean = {(w[i].re + w[other].re) / 2, fabs(w[i].im - w[other].im) / 2};\n"
    "    w[other] = w[i + 1];\n"
    "    w[i] = w[i + 1] = mean;\n"
    "    w[++i].im = -mean.im;\n"
    "  }\n"
    "}\n";

static const char vectors_text[] =
    "/* Where on the diagonal of t the eigenvalue w is, of the places that are not taken. */\n"
    "static ptrdiff_t schur_place_~(ptrdiff_t n, const pair_~ *t, pair_~ w, int64_t *taken) {\n"
    "  ptrdiff_t place = 0;\n"
    "  double least = INFINITY;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    const double far = hypot(t[i * (n + 1)].re - w.re, t[i * (n + 1)].im - w.im);\n"
    "    if (taken[i] || !(far < least)) continue;\n"
    "    place = i;\n"
    "    least = far;\n"
    "  }\n"
    "  taken[place] = 1;\n"
    "  return place;\n"
    "}\n"
    "/* x of t x = t(k, k) x, with x(k) = 1 and zeros behind it; whole: the size of t. */\n"
    "static void schur_upper_~(ptrdiff_t n, const pair_~ *t, double whole, ptrdiff_t k, pair_~ *x) {\n"
    "  x[k].re = 1;\n"
    "  x[k].im = 0;\n"
    "  for (ptrdiff_t i = k - 1; i >= 0; i--) {\n"
    "    pair_~ sum = {0, 0};\n"
    "    pair_~ gap = {t[i * (n + 1)].re - t[k * (n + 1)].re, t[i * (n + 1)].im - t[k * (n + 1)].im};\n"
    "    for (ptrdiff_t j = i + 1; j <= k; j++) {\n"
    "      const pair_~ p = times_pair_~(t[i * n + j], x[j]);\n"
    "      sum.re -= p.re;\n"
    "      sum.im -= p.im;\n"
    "    }\n"
    "    if (size_of_pair_~(gap) < 0x1p-52 * whole) gap.re = 0x1p-52 * whole;\n"
    "    x[i] = whole > 0 ? over_pair_~(sum, gap) : sum;\n"
    "    const double size = size_of_pair_~(x[i]);\n"
    "    for (ptrdiff_t j = i; j <= k && size > 1e100; j++) {\n"
    "      x[j].re /= size;\n"
    "      x[j].im /= size;\n"
    "    }\n"
    "  }\n"
    "}\n"
    "/* The columns of v: eigenvectors of length 1 of the values w, the greatest entry of each real; those of a real "
    "matrix's\n"
    "   pairs are conjugate. x, taken: memory of n numbers. */\n"
    "static void schur_vectors_~(ptrdiff_t n, int real, const pair_~ *t, const pair_~ *z, const pair_~ *w, pair_~ *x, "
    "int64_t "
    "*taken,\n"
    "                      pair_~ *v) {\n"
    "  double whole = 0;\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) whole = hypot(whole, size_of_pair_~(t[i]));\n"
    "  for (ptrdiff_t i = 0; i < n; i++) taken[i] = 0;\n"
    "  for (ptrdiff_t c = 0; c < n; c++) {\n"
    "    const ptrdiff_t place = schur_place_~(n, t, w[c], taken);\n"
    "    ptrdiff_t greatest = 0;\n"
    "    double length = 0, most = 0;\n"
    "    pair_~ phase = {1, 0};\n"
    "    schur_upper_~(n, t, whole, place, x);\n"
    "    for (ptrdiff_t i = 0; i < n; i++) {\n"
    "      pair_~ sum = {0, 0};\n"
    "      for (ptrdiff_t k = 0; k <= place; k++) {\n"
    "        const pair_~ p = times_pair_~(z[i * n + k], x[k]);\n"
    "        sum.re += p.re;\n"
    "        sum.im += p.im;\n"
    "      }\n"
    "      v[i * n + c] = sum;\n"
    "      length = hypot(length, size_of_pair_~(sum));\n"
    "      if (!(size_of_pair_~(sum) > most)) continue;\n"
    "      greatest = i;\n"
    "      most = size_of_pair_~(sum);\n"
    "      phase.re = sum.re / most;\n"
    "      phase.im = -sum.im / most;\n"
    "    }\n"
    "    for (ptrdiff_t i = 0; i < n; i++) {\n"
    "      const pair_~ y = times_pair_~(v[i * n + c], phase);\n"
    "      v[i * n + c].re = y.re / length;\n"
    "      v[i * n + c].im = (real && w[c].im == 0) || i == greatest ? 0 : y.im / length;\n"
    "    }\n"
    "    if (!real || w[c].im == 0 || c + 1 == n) continue;\n"
    "    (void)schur_place_~(n, t, w[c + 1], taken);\n"
    "    for (ptrdiff_t i = 0; i < n; i++) {\n"
    "      v[i * n + c + 1].re = v[i * n + c].re;\n"
    "      v[i * n + c + 1].im = -v[i * n + c].im;\n"
    "    }\n"
    "    c++;\n"
    "  }\n"
    "}\n";

damo_status eig_emit_c(const core_source *s) {
  const c_schur f = c_schur_of(s, s->in[0]);
  const char *w = c_pairs(s, f.n);
  const int real = !dtype_is_complex(s->dtype);
  ce_helper(s->e, "values", DAMO_FLOAT64, values_text);
  ce_line(s->e, "schur_values_f64(%lld, %d, %s, %s);", (long long)f.n, real, f.t, w);
  c_store_pairs(s, s->out[0], w);
  if (s->n_out == 1) return s->e->status;
  const char *v = c_pairs(s, f.n * f.n), *x = c_pairs(s, f.n), *taken = c_positions(s, f.n);
  ce_helper(s->e, "vectors", DAMO_FLOAT64, vectors_text);
  ce_line(s->e, "schur_vectors_f64(%lld, %d, %s, %s, %s, %s, %s, %s);", (long long)f.n, real, f.t, f.z, w, x, taken, v);
  c_store_pairs(s, s->out[1], v);
  return s->e->status;
}

damo_status schur_emit_c(const core_source *s) {
  if (!dtype_is_complex(s->dtype)) return ce_refuse(s->e, "of real numbers, whose form has blocks of order 2");
  const c_schur f = c_schur_of(s, s->in[0]);
  c_store_pairs(s, s->out[0], f.t);
  c_store_pairs(s, s->out[1], f.z);
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)f.n);
  ce_line(s->e, "  for (ptrdiff_t j = 0; j < i; j++) (%s)[i * %lld + j].re = (%s)[i * %lld + j].im = 0;", s->out[0].at,
          (long long)f.n, s->out[0].at, (long long)f.n);
  return s->e->status;
}

/* ---- Their gradients --------------------------------------------------------------------------------------------- */

static const char rows_norm_text[] =
    "/* The largest sum of moduli of a row. */\n"
    "static double rows_norm_~(ptrdiff_t n, const @ *a) {\n"
    "  double most = 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    double sum = 0;\n"
    "    for (ptrdiff_t j = 0; j < n; j++) sum += hypot((double)a[i * n + j].re, (double)a[i * n + j].im);\n"
    "    most = fmax(most, sum);\n"
    "  }\n"
    "  return most;\n"
    "}\n";

/* The vectors are no basis where the product of the norms of their matrix and its inverse is too large. */
damo_status eigen_basis_emit_c(const core_source *s) {
  const int64_t n = s->in[0].rows;
  const c_mat a = c_mat_scratch(s, n, n), inverse = c_mat_scratch(s, n, n);
  ce_helper(s->e, "rows_norm", s->dtype, rows_norm_text);
  c_mat_copy(s, s->out[0], s->in[0]);
  c_mat_copy(s, a, s->in[0]);
  const char *pivots = c_lu(s, a);
  c_identity(s, inverse);
  ce_open(s->e, "if (!bad)");
  c_lu_solve(s, a, pivots, false, inverse);
  ce_line(s->e, "bad = !(1 / (rows_norm_%s(%lld, %s) * rows_norm_%s(%lld, %s)) > %.17g);", s->suffix, (long long)n,
          s->out[0].at, s->suffix, (long long)n, inverse.at,
          (double)n * (s->dtype == DAMO_COMPLEX64 ? FLT_EPSILON : DBL_EPSILON));
  ce_close(s->e);
  return s->e->status;
}

static const char gap_text[] =
    "/* q(i, j) = x(i, j) / (w(j) - w(i)), 0 on the diagonal; gaps below least times the\n"
    "   greatest value are none. Not 0: two\n"
    "   values are equal where x is not 0. */\n"
    "static int gap_~(ptrdiff_t n, const pair_~ *x, const pair_~ *w, double least, double noise, pair_~ *q) {\n"
    "  double greatest = 0;\n"
    "  int bad = 0;\n"
    "  for (ptrdiff_t j = 0; j < n; j++) greatest = fmax(greatest, size_of_pair_~(w[j]));\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    for (ptrdiff_t j = 0; j < n; j++) {\n"
    "      const pair_~ d = {w[j].re - w[i].re, w[j].im - w[i].im};\n"
    "      const int far = i != j && size_of_pair_~(d) > least * greatest;\n"
    "      q[i * n + j].re = q[i * n + j].im = 0;\n"
    "      if (far) q[i * n + j] = over_pair_~(x[i * n + j], d);\n"
    "      bad |= i != j && !far && !(size_of_pair_~(x[i * n + j]) <= noise);\n"
    "    }\n"
    "  return bad;\n"
    "}\n";

/* GapQuotient of complex values: see gap.c. */
damo_status complex_gap_emit_c(const core_source *s) {
  const c_mat x = s->in[0], w = s->in[1], scale = s->in[2];
  const double eps = s->dtype == DAMO_COMPLEX64 ? FLT_EPSILON : DBL_EPSILON, n = (double)w.rows;
  const char *from = c_pairs(s, x.rows * x.cols), *values = c_pairs(s, w.rows), *q = c_pairs(s, x.rows * x.cols),
             *sizes = c_pairs(s, scale.rows * scale.cols);
  c_pair_helpers(s, PAIR_SIZE | PAIR_TIMES | PAIR_OVER);
  ce_helper(s->e, "gap_of_pairs", DAMO_FLOAT64, gap_text);
  c_load_pairs(s, from, x);
  c_load_pairs(s, values, w);
  c_load_pairs(s, sizes, scale);
  ce_line(s->e, "double noise = 0;");
  ce_line(s->e, "for (ptrdiff_t k = 0; k < %lld; k++) noise = fmax(noise, fmax(fabs(%s[k].re), fabs(%s[k].im)));",
          (long long)(scale.rows * scale.cols), sizes, sizes);
  ce_line(s->e, "noise *= %.17g;", 8 * (n + (double)scale.rows) * eps);
  ce_line(s->e, "bad |= gap_f64(%lld, %s, %s, %.17g, noise, %s);", (long long)x.rows, from, values,
          (8 + 2 * sqrt(n)) * eps, q);
  c_store_pairs(s, s->out[0], q);
  return s->e->status;
}

/* ---- The root and the logarithm ---------------------------------------------------------------------------------- */

/* As matfun.c has them. */
static const char root_text[] =
    "/* Of a triangular matrix: eigenvalues that are negative to rounding become real. Not 0: one is 0, to rounding "
    "unless\n"
    "   exact is set. */\n"
    "static int schur_clean_~(ptrdiff_t n, pair_~ *t, int exact) {\n"
    "  double most = 0;\n"
    "  int bad = 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) most = fmax(most, size_of_pair_~(t[i * (n + 1)]));\n"
    "  most *= (double)n * 0x1p-52;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    pair_~ *const w = t + i * (n + 1);\n"
    "    if (w->re < 0 && fabs(w->im) <= 4 * most) w->im = 0;\n"
    "    bad |= !(size_of_pair_~(*w) > (exact ? 0 : most / 4));\n"
    "  }\n"
    "  return bad;\n"
    "}\n"
    "/* The root of the triangular matrix from into to, which may be from. Not 0: there is none. */\n"
    "static int schur_root_~(ptrdiff_t n, const pair_~ *from, pair_~ *to) {\n"
    "  for (ptrdiff_t j = 0; j < n; j++) {\n"
    "    to[j * (n + 1)] = root_pair_~(from[j * (n + 1)]);\n"
    "    for (ptrdiff_t i = j - 1; i >= 0; i--) {\n"
    "      pair_~ v = from[i * n + j];\n"
    "      double size = size_of_pair_~(v);\n"
    "      for (ptrdiff_t k = i + 1; k < j; k++) {\n"
    "        const pair_~ p = times_pair_~(to[i * n + k], to[k * n + j]);\n"
    "        v.re -= p.re;\n"
    "        v.im -= p.im;\n"
    "        size += size_of_pair_~(p);\n"
    "      }\n"
    "      const pair_~ d = {to[i * (n + 1)].re + to[j * (n + 1)].re, to[i * (n + 1)].im + to[j * (n + 1)].im};\n"
    "      if (size_of_pair_~(d) > 0)\n"
    "        v = over_pair_~(v, d);\n"
    "      else if (size_of_pair_~(v) <= 8 * (double)n * 0x1p-52 * size)\n"
    "        v.re = v.im = 0;\n"
    "      else\n"
    "        return 1;\n"
    "      to[i * n + j] = v;\n"
    "    }\n"
    "    for (ptrdiff_t i = j + 1; i < n; i++) to[i * n + j].re = to[i * n + j].im = 0;\n"
    "  }\n"
    "  return 0;\n"
    "}\n"
    "/* f = z f z'; w: memory of one more matrix. Not 0: f should be real and is not. */\n"
    "static int schur_back_~(ptrdiff_t n, int real, const pair_~ *z, pair_~ *f, pair_~ *w) {\n"
    "  double most = 0, imaginary = 0;\n"
    "  product_of_pairs_~(n, n, n, 0, z, 0, f, w);\n"
    "  product_of_pairs_~(n, n, n, 0, w, 1, z, f);\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) {\n"
    "    most = fmax(most, size_of_pair_~(f[i]));\n"
    "    imaginary = fmax(imaginary, fabs(f[i].im));\n"
    "  }\n"
    "  return real && !(imaginary <= 1e-7 * most);\n"
    "}\n";

static const char logm_text[] =
    "/* The approximant of log(1 + y) of degree 7, times by, into sum. x: memory of one more matrix. */\n"
    "static void schur_log_near_~(ptrdiff_t n, const pair_~ *y, double by, pair_~ *x, pair_~ *sum) {\n"
    "  static const double node[] = {0.025446043828620738, 0.12923440720030278, 0.29707742431130142, 0.5,\n"
    "                                0.70292257568869858, 0.87076559279969722, 0.97455395617137926};\n"
    "  static const double weight[] = {0.064742483084434851, 0.13985269574463833, 0.19091502525255947,\n"
    "                                  0.20897959183673470, 0.19091502525255947, 0.13985269574463833,\n"
    "                                  0.064742483084434851};\n"
    "  for (ptrdiff_t i = 0; i < n * n; i++) sum[i].re = sum[i].im = 0;\n"
    "  for (int part = 0; part < 7; part++)\n"
    "    for (ptrdiff_t i = n - 1; i >= 0; i--)\n"
    "      for (ptrdiff_t j = i; j < n; j++) {\n"
    "        const double u = node[part];\n"
    "        const pair_~ d = {1 + u * y[i * (n + 1)].re, u * y[i * (n + 1)].im};\n"
    "        pair_~ v = y[i * n + j];\n"
    "        for (ptrdiff_t k = i + 1; k <= j; k++) {\n"
    "          const pair_~ p = times_pair_~(y[i * n + k], x[k * n + j]);\n"
    "          v.re -= u * p.re;\n"
    "          v.im -= u * p.im;\n"
    "        }\n"
    "        x[i * n + j] = over_pair_~(v, d);\n"
    "        sum[i * n + j].re += by * weight[part] * x[i * n + j].re;\n"
    "        sum[i * n + j].im += by * weight[part] * x[i * n + j].im;\n"
    "      }\n"
    "}\n"
    "/* The logarithm of the triangular matrix t into f; logs, x, y: memory of n numbers and of two matrices. Not 0: "
    "there\n"
    "   is none. */\n"
    "static int schur_logm_~(ptrdiff_t n, const pair_~ *t, pair_~ *f, pair_~ *logs, pair_~ *x, pair_~ *y) {\n"
    "  int k = 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++) {\n"
    "    const pair_~ w = t[i * (n + 1)];\n"
    "    logs[i].re = log(size_of_pair_~(w));\n"
    "    logs[i].im = w.im == 0 && w.re < 0 ? acos(-1.0) : atan2(w.im, w.re);\n"
    "  }\n"
    "  memcpy(x, t, (size_t)(n * n) * sizeof *x);\n"
    "  for (;; k++) {\n"
    "    const double part = ldexp(1, -k);\n"
    "    double norm = 0;\n"
    "    if (k == 200) return 1;\n"
    "    memcpy(y, x, (size_t)(n * n) * sizeof *y);\n"
    "    for (ptrdiff_t i = 0; i < n; i++) { /* e^z - 1 without cancellation */\n"
    "      const double re = logs[i].re * part, im = logs[i].im * part, half = sin(im / 2);\n"
    "      y[i * (n + 1)].re = expm1(re) * cos(im) - 2 * half * half;\n"
    "      y[i * (n + 1)].im = exp(re) * sin(im);\n"
    "    }\n"
    "    for (ptrdiff_t j = 0; j < n; j++) {\n"
    "      double sum = 0;\n"
    "      for (ptrdiff_t i = 0; i <= j; i++) sum += size_of_pair_~(y[i * n + j]);\n"
    "      norm = fmax(norm, sum);\n"
    "    }\n"
    "    if (norm <= 0.264) break;\n"
    "    if (schur_root_~(n, x, x) != 0) return 1;\n"
    "  }\n"
    "  schur_log_near_~(n, y, ldexp(1, k), x, f);\n"
    "  for (ptrdiff_t i = 0; i < n; i++) f[i * (n + 1)] = logs[i];\n"
    "  return 0;\n"
    "}\n";

damo_status sqrtm_emit_c(const core_source *s) {
  const c_schur f = c_schur_of(s, s->in[0]);
  const char *work = c_pairs(s, f.n * f.n);
  c_product_of_pairs(s);
  ce_helper(s->e, "root_of_pairs", DAMO_FLOAT64, root_text);
  ce_line(s->e, "(void)schur_clean_f64(%lld, %s, 1);", (long long)f.n, f.t);
  ce_line(s->e, "bad |= schur_root_f64(%lld, %s, %s);", (long long)f.n, f.t, f.t);
  ce_line(s->e, "bad |= schur_back_f64(%lld, %d, %s, %s, %s);", (long long)f.n, !dtype_is_complex(s->dtype), f.z, f.t,
          work);
  c_store_as(s, s->out[0], f.t);
  return s->e->status;
}

damo_status logm_emit_c(const core_source *s) {
  const c_mat a = s->in[0];
  const c_schur f = c_schur_of(s, a);
  const char *out = c_pairs(s, f.n * f.n), *logs = c_pairs(s, f.n), *x = c_pairs(s, f.n * f.n),
             *y = c_pairs(s, f.n * f.n);
  c_product_of_pairs(s);
  ce_helper(s->e, "root_of_pairs", DAMO_FLOAT64, root_text);
  ce_helper(s->e, "logm", DAMO_FLOAT64, logm_text);
  ce_line(s->e, "int upper = 0, lower = 0;");
  ce_line(s->e, "for (ptrdiff_t i = 0; i < %lld; i++)", (long long)f.n);
  ce_line(s->e, "  for (ptrdiff_t j = 0; j < i; j++) {");
  for (int k = 0; k < (dtype_is_complex(s->dtype) ? 2 : 1); k++) {
    const char *part = !dtype_is_complex(s->dtype) ? "" : k == 0 ? ".re" : ".im";
    ce_line(s->e, "    lower |= (%s)[i * %lld + j * %lld]%s != 0;", a.at, (long long)a.rs, (long long)a.cs, part);
    ce_line(s->e, "    upper |= (%s)[j * %lld + i * %lld]%s != 0;", a.at, (long long)a.rs, (long long)a.cs, part);
  }
  ce_line(s->e, "  }");
  ce_line(s->e, "bad |= schur_clean_f64(%lld, %s, !(upper && lower));", (long long)f.n, f.t);
  ce_line(s->e, "bad |= schur_logm_f64(%lld, %s, %s, %s, %s, %s);", (long long)f.n, f.t, out, logs, x, y);
  ce_line(s->e, "bad |= schur_back_f64(%lld, %d, %s, %s, %s);", (long long)f.n, !dtype_is_complex(s->dtype), f.z, out,
          x);
  c_store_as(s, s->out[0], out);
  return s->e->status;
}

/* ---- Matrix equations -------------------------------------------------------------------------------------------- */

static const char sylvester_text[] =
    "/* x of t x + x u = f over f, for triangular t and u. Not 0: there is no unique one. */\n"
    "static int schur_sylvester_~(ptrdiff_t m, ptrdiff_t n, const pair_~ *t, const pair_~ *u, pair_~ *f) {\n"
    "  double least = 0;\n"
    "  int bad = 0;\n"
    "  for (ptrdiff_t i = 0; i < m; i++) least = fmax(least, size_of_pair_~(t[i * (m + 1)]));\n"
    "  for (ptrdiff_t j = 0; j < n; j++) least = fmax(least, size_of_pair_~(u[j * (n + 1)]));\n"
    "  least *= 8 * 0x1p-52;\n"
    "  for (ptrdiff_t i = m - 1; i >= 0; i--)\n"
    "    for (ptrdiff_t j = 0; j < n; j++) {\n"
    "      const pair_~ d = {t[i * (m + 1)].re + u[j * (n + 1)].re, t[i * (m + 1)].im + u[j * (n + 1)].im};\n"
    "      pair_~ v = f[i * n + j];\n"
    "      for (ptrdiff_t k = i + 1; k < m; k++) {\n"
    "        const pair_~ p = times_pair_~(t[i * m + k], f[k * n + j]);\n"
    "        v.re -= p.re;\n"
    "        v.im -= p.im;\n"
    "      }\n"
    "      for (ptrdiff_t k = 0; k < j; k++) {\n"
    "        const pair_~ p = times_pair_~(f[i * n + k], u[k * n + j]);\n"
    "        v.re -= p.re;\n"
    "        v.im -= p.im;\n"
    "      }\n"
    "      bad |= !(size_of_pair_~(d) > least);\n"
    "      f[i * n + j] = over_pair_~(v, d);\n"
    "    }\n"
    "  return bad;\n"
    "}\n";

damo_status sylvester_emit_c(const core_source *s) {
  const c_schur a = c_schur_of(s, s->in[0]), b = c_schur_of(s, s->in[1]);
  const char *f = c_pairs(s, a.n * b.n), *g = c_pairs(s, a.n * b.n);
  ce_helper(s->e, "sylvester", DAMO_FLOAT64, sylvester_text);
  c_load_pairs(s, f, s->in[2]);
  c_pair_product(s, a.n, b.n, a.n, true, a.z, false, f, g);
  c_pair_product(s, a.n, b.n, b.n, false, g, false, b.z, f);
  ce_line(s->e, "bad |= schur_sylvester_f64(%lld, %lld, %s, %s, %s);", (long long)a.n, (long long)b.n, a.t, b.t, f);
  c_pair_product(s, a.n, b.n, a.n, false, a.z, false, f, g);
  c_pair_product(s, a.n, b.n, b.n, false, g, true, b.z, f);
  c_store_as(s, s->out[0], f);
  return s->e->status;
}

/* Column by column from the last, as sylvester.c has it; row i of sum is Σ t(i, k)·x(k, j) over what is known. */
static const char lyapunov_text[] =
    "/* x of x = t x t' + f over f, for a triangular t; w: memory of n numbers. Not 0: there is no unique one. */\n"
    "static int schur_lyapunov_~(ptrdiff_t n, const pair_~ *t, pair_~ *f, pair_~ *w) {\n"
    "  double least = 1;\n"
    "  int bad = 0;\n"
    "  for (ptrdiff_t i = 0; i < n; i++)\n"
    "    least = fmax(least, size_of_pair_~(t[i * (n + 1)]) * size_of_pair_~(t[i * (n + 1)]));\n"
    "  least *= 8 * 0x1p-52;\n"
    "  for (ptrdiff_t j = n - 1; j >= 0; j--) {\n"
    "    for (ptrdiff_t i = 0; i < n; i++) { /* of x t' the columns behind j */\n"
    "      w[i].re = w[i].im = 0;\n"
    "      for (ptrdiff_t k = j + 1; k < n; k++) {\n"
    "        const pair_~ back = {t[j * n + k].re, -t[j * n + k].im}, p = times_pair_~(f[i * n + k], back);\n"
    "        w[i].re += p.re;\n"
    "        w[i].im += p.im;\n"
    "      }\n"
    "    }\n"
    "    for (ptrdiff_t i = n - 1; i >= 0; i--) {\n"
    "      const pair_~ last = {t[j * (n + 1)].re, -t[j * (n + 1)].im}, both = times_pair_~(t[i * (n + 1)], last);\n"
    "      const pair_~ d = {1 - both.re, -both.im};\n"
    "      pair_~ v = f[i * n + j], sum = times_pair_~(t[i * (n + 1)], w[i]);\n"
    "      for (ptrdiff_t k = i + 1; k < n; k++) {\n"
    "        pair_~ part = times_pair_~(f[k * n + j], last);\n"
    "        part.re += w[k].re;\n"
    "        part.im += w[k].im;\n"
    "        const pair_~ p = times_pair_~(t[i * n + k], part);\n"
    "        sum.re += p.re;\n"
    "        sum.im += p.im;\n"
    "      }\n"
    "      v.re += sum.re;\n"
    "      v.im += sum.im;\n"
    "      bad |= !(size_of_pair_~(d) > least);\n"
    "      f[i * n + j] = over_pair_~(v, d);\n"
    "    }\n"
    "  }\n"
    "  return bad;\n"
    "}\n";

damo_status lyapunov_emit_c(const core_source *s) {
  const c_schur a = c_schur_of(s, s->in[0]);
  const char *f = c_pairs(s, a.n * a.n), *g = c_pairs(s, a.n * a.n), *w = c_pairs(s, a.n);
  ce_helper(s->e, "lyapunov", DAMO_FLOAT64, lyapunov_text);
  c_load_pairs(s, f, s->in[1]);
  c_pair_product(s, a.n, a.n, a.n, true, a.z, false, f, g);
  c_pair_product(s, a.n, a.n, a.n, false, g, false, a.z, f);
  ce_line(s->e, "bad |= schur_lyapunov_f64(%lld, %s, %s, %s);", (long long)a.n, a.t, f, w);
  c_pair_product(s, a.n, a.n, a.n, false, a.z, false, f, g);
  c_pair_product(s, a.n, a.n, a.n, false, g, true, a.z, f);
  c_store_as(s, s->out[0], f);
  return s->e->status;
}
