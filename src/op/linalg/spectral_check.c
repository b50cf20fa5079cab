/* spectral_check: the checks of eigenvalues, singular values, Schur forms and matrix equations: what the results fulfil,
 * such as A·V = V·diag(w), entry by entry of a stack.
 *
 * Everything is computed in complex128 by plain loops. A verdict is the largest difference of the sides over the largest
 * sum of the moduli of their terms. Entries that hold nan, by on_fail="nan", are not checked, nor are large matrices.
 */
#include <math.h>
#include <string.h>

#include "spectral.h"
#include "stack_check.h"

#define JUDGE_MOST_PRODUCTS (1 << 24)
#define JUDGE_MOST_TERMS 4

/* A matrix of one entry of the stack, as a function of row and column. */
typedef struct judge_mat {
  const char *data; /* NULL: the identity */
  damo_dtype dtype;
  int64_t rows, cols, rs, cs;
  bool conjugated;
  int hermitian;                        /* -1, 1: the Hermitian matrix of which the lower, upper triangle is read */
  const struct judge_mat *scale;        /* a vector that the columns are multiplied by */
  const struct judge_mat *left, *right; /* the product of these two; NULL: no product */
} judge_mat;

/* One entry of the stack. */
typedef struct judge_entry {
  const op_exam *e;
  judge_mat in[CORE_MOST], out[CORE_MOST];
  double error, products;
  bool unknown;
} judge_entry;

static judge_mat judge_adjoint(judge_mat m) {
  const judge_mat was = m;
  m.rows = was.cols, m.cols = was.rows, m.rs = was.cs, m.cs = was.rs;
  m.conjugated = !was.conjugated;
  m.hermitian = -was.hermitian;
  return m;
}

static damo_c128 judge_at(const judge_mat *m, int64_t i, int64_t j) {
  if (m->left != NULL) {
    damo_c128 sum = {0, 0};
    for (int64_t k = 0; k < m->left->cols; k++) {
      const damo_c128 p = judge_at(m->left, i, k), q = judge_at(m->right, k, j);
      sum.re += p.re * q.re - p.im * q.im;
      sum.im += p.re * q.im + p.im * q.re;
    }
    return sum;
  }
  if (m->data == NULL) return (damo_c128){i == j, 0};
  const bool mirrored = m->hermitian * (j - i) < 0;
  const int64_t row = mirrored ? j : i, col = mirrored ? i : j;
  const scalar v = scalar_cast(scalar_load(m->dtype, m->data + row * m->rs + col * m->cs), DAMO_COMPLEX128);
  damo_c128 z = {v.v.c.re, m->conjugated != mirrored ? -v.v.c.im : v.v.c.im};
  if (m->hermitian != 0 && i == j) z.im = 0;
  if (m->scale != NULL) {
    const damo_c128 s = judge_at(m->scale, j, 0);
    z = (damo_c128){z.re * s.re - z.im * s.im, z.re * s.im + z.im * s.re};
  }
  return z;
}

/* x·y with a sign, x or y NULL: the other one itself. */
typedef struct judge_term {
  double sign;
  const judge_mat *x, *y;
} judge_term;

/* The entry's error in: the sum of the terms is 0. */
static void judge_zero(judge_entry *at, int64_t rows, int64_t cols, const judge_term *terms, int n) {
  double apart = 0, size = 0;
  for (int k = 0; k < n; k++)
    at->products += (double)rows * (double)cols * (terms[k].y != NULL ? (double)terms[k].x->cols : 1);
  if (at->products > JUDGE_MOST_PRODUCTS) at->unknown = true;
  for (int64_t i = 0; !at->unknown && i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) {
      damo_c128 sum = {0, 0};
      double moduli = 0;
      for (int k = 0; k < n; k++) {
        const judge_term *t = &terms[k];
        for (int64_t l = 0; l < (t->y != NULL ? t->x->cols : 1); l++) {
          const damo_c128 p = judge_at(t->x, i, t->y != NULL ? l : j);
          const damo_c128 q = t->y != NULL ? judge_at(t->y, l, j) : (damo_c128){1, 0};
          sum.re += t->sign * (p.re * q.re - p.im * q.im);
          sum.im += t->sign * (p.re * q.im + p.im * q.re);
          moduli += hypot(p.re, p.im) * hypot(q.re, q.im);
        }
      }
      if (!isfinite(moduli)) return;
      apart = fmax(apart, hypot(sum.re, sum.im));
      size = fmax(size, moduli);
    }
  }
  if (size > 0) at->error = fmax(at->error, apart / size);
}

/* x·y = u·v */
static void judge_products(judge_entry *at, const judge_mat *x, const judge_mat *y, const judge_mat *u,
                           const judge_mat *v) {
  const judge_term terms[2] = {{1, x, y}, {-1, u, v}};
  judge_zero(at, x->rows, y->cols, terms, 2);
}

static judge_mat judge_mat_of(const damo_array *a, int rank, const char *data) {
  const int n = a->ndim;
  judge_mat m = {.data = data, .dtype = array_dtype(a), .rows = 1, .cols = 1};
  if (rank == 2) m.cols = array_shape(a)[n - 1], m.cs = array_strides(a)[n - 1];
  if (rank >= 1) m.rows = array_shape(a)[n - rank], m.rs = array_strides(a)[n - rank];
  return m;
}

/* The largest error of all entries. */
static double judge_stack(const op_exam *e, void (*judge)(judge_entry *x)) {
  judge_entry x = {.e = e};
  const core_shape *shape = e->node->op->data;
  stack_exam s;
  if (!stack_exam_begin(&s, e)) return -1;
  while (!x.unknown && stack_exam_next(&s)) {
    for (int i = 0; i < shape->n_in; i++) x.in[i] = judge_mat_of(stack_operand(e, i), shape->in[i].rank, s.in[i]);
    for (int o = 0; o < shape->n_out; o++) x.out[o] = judge_mat_of(stack_result(e, o), shape->out[o].rank, s.out[o]);
    judge(&x);
  }
  return x.unknown ? -1 : x.error;
}

/* ---- Decompositions ---------------------------------------------------------------------------------------------- */

static const judge_mat judge_one = {.data = NULL};

/* The columns of m are orthonormal. */
static void judge_orthonormal(judge_entry *x, const judge_mat *m) {
  const judge_mat h = judge_adjoint(*m);
  const judge_term terms[2] = {{1, &h, m}, {-1, &judge_one, NULL}};
  judge_zero(x, m->cols, m->cols, terms, 2);
}

/* The sum of squared moduli of a's entries is that of the values. */
static void judge_squares(judge_entry *x, const judge_mat *a, const judge_mat *values) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < a->rows; i++) {
    for (int64_t j = 0; j < a->cols; j++) {
      const damo_c128 v = judge_at(a, i, j);
      sum += v.re * v.re + v.im * v.im;
    }
  }
  for (int64_t k = 0; k < values->rows; k++) {
    const damo_c128 v = judge_at(values, k, 0);
    squares += v.re * v.re + v.im * v.im;
  }
  if (isfinite(squares) && sum > 0) x->error = fmax(x->error, fabs(sum - squares) / sum);
}

/* The trace is the sum of the values. */
static void judge_trace(judge_entry *x, const judge_mat *a, const judge_mat *values) {
  damo_c128 apart = {0, 0};
  double size = 0;
  for (int64_t k = 0; k < a->rows; k++) {
    const damo_c128 v = judge_at(a, k, k), w = judge_at(values, k, 0);
    apart.re += v.re - w.re;
    apart.im += v.im - w.im;
    for (int64_t j = 0; j < a->cols; j++) size += hypot(judge_at(a, k, j).re, judge_at(a, k, j).im);
  }
  if (isfinite(apart.re) && size > 0) x->error = fmax(x->error, hypot(apart.re, apart.im) / size);
}

static void svd_entry(judge_entry *x) {
  const int64_t k = x->out[1].rows;
  judge_mat u = x->out[0], v = judge_adjoint(x->out[2]);
  judge_orthonormal(x, &u);
  judge_orthonormal(x, &v);
  u.cols = v.cols = k;
  u.scale = &x->out[1];
  const judge_term terms[2] = {{1, &x->in[0], &v}, {-1, &u, NULL}};
  judge_zero(x, u.rows, k, terms, 2);
}
static double svd_judge(const op_exam *e) { return judge_stack(e, svd_entry); }
const op_check svd_check = {.judge = svd_judge, .judged = "the product of the factors is apart from the matrix"};

static void svdvals_entry(judge_entry *x) { judge_squares(x, &x->in[0], &x->out[0]); }
static double svdvals_judge(const op_exam *e) { return judge_stack(e, svdvals_entry); }
const op_check svdvals_check = {.judge = svdvals_judge,
                                .judged = "the sum of the squares of the values is apart from that of the entries"};

static judge_mat judge_hermitian(const judge_entry *x) {
  judge_mat a = x->in[0];
  const prop_value *lower = op_prop(x->e->node->op, "lower");
  a.hermitian = prop_bool_or(*lower, true) ? -1 : 1;
  return a;
}

static void judge_eigenpairs(judge_entry *x, const judge_mat *a) {
  judge_mat scaled = x->out[1];
  scaled.scale = &x->out[0];
  const judge_term terms[2] = {{1, a, &x->out[1]}, {-1, &scaled, NULL}};
  judge_zero(x, a->rows, a->cols, terms, 2);
}

static void eigh_entry(judge_entry *x) {
  const judge_mat a = judge_hermitian(x);
  judge_orthonormal(x, &x->out[1]);
  judge_eigenpairs(x, &a);
}
static double eigh_judge(const op_exam *e) { return judge_stack(e, eigh_entry); }
const op_check eigh_check = {.judge = eigh_judge, .judged = "A V is apart from V diag(w)"};

static void eigvalsh_entry(judge_entry *x) {
  const judge_mat a = judge_hermitian(x);
  judge_squares(x, &a, &x->out[0]);
  judge_trace(x, &a, &x->out[0]);
}
static double eigvalsh_judge(const op_exam *e) { return judge_stack(e, eigvalsh_entry); }
const op_check eigvalsh_check = {.judge = eigvalsh_judge, .judged = "the sum of the values is apart from the trace"};

static void eig_entry(judge_entry *x) { judge_eigenpairs(x, &x->in[0]); }
static double eig_judge(const op_exam *e) { return judge_stack(e, eig_entry); }
const op_check eig_check = {.judge = eig_judge, .judged = "A V is apart from V diag(w)"};

static void eigvals_entry(judge_entry *x) { judge_trace(x, &x->in[0], &x->out[0]); }
static double eigvals_judge(const op_exam *e) { return judge_stack(e, eigvals_entry); }
const op_check eigvals_check = {.judge = eigvals_judge, .judged = "the sum of the values is apart from the trace"};

static void schur_entry(judge_entry *x) {
  judge_orthonormal(x, &x->out[1]);
  judge_products(x, &x->in[0], &x->out[1], &x->out[1], &x->out[0]);
}
static double schur_judge(const op_exam *e) { return judge_stack(e, schur_entry); }
const op_check schur_check = {.judge = schur_judge, .judged = "A Z is apart from Z T"};
const op_check hessenberg_check = {.judge = schur_judge, .judged = "A Q is apart from Q H"};

/* q·d = x wherever q differs from 0; the divisors d are those of gap.c. */
static void gap_entry(judge_entry *x) {
  const int64_t kind = op_prop(x->e->node->op, "kind")->u.i;
  double apart = 0, size = 0;
  for (int64_t i = 0; i < x->out[0].rows; i++) {
    for (int64_t j = 0; j < x->out[0].cols; j++) {
      const damo_c128 q = judge_at(&x->out[0], i, j), v = judge_at(&x->in[0], i, j), sj = judge_at(&x->in[1], j, 0),
                      si = kind == GAP_VALUE ? (damo_c128){0, 0} : judge_at(&x->in[1], i, 0);
      const damo_c128 d = kind == GAP_DIFFERENCE ? (damo_c128){sj.re - si.re, sj.im - si.im}
                                                 : (damo_c128){sj.re + si.re, sj.im + si.im};
      if (q.re == 0 && q.im == 0) continue;
      apart = fmax(apart, hypot(q.re * d.re - q.im * d.im - v.re, q.re * d.im + q.im * d.re - v.im));
      size = fmax(size, hypot(v.re, v.im));
    }
  }
  if (size > 0 && isfinite(apart)) x->error = fmax(x->error, apart / size);
}
static double gap_judge(const op_exam *e) { return judge_stack(e, gap_entry); }
const op_check gap_check = {.judge = gap_judge,
                            .judged = "the quotients times the divisors are apart from the dividends"};

/* ---- Equations --------------------------------------------------------------------------------------------------- */

static void sylvester_entry(judge_entry *x) {
  const judge_mat *s = &x->out[0];
  const judge_term terms[3] = {{1, &x->in[0], s}, {1, s, &x->in[1]}, {-1, &x->in[2], NULL}};
  judge_zero(x, s->rows, s->cols, terms, 3);
}
static double sylvester_judge(const op_exam *e) { return judge_stack(e, sylvester_entry); }
const op_check sylvester_check = {.judge = sylvester_judge, .judged = "A X + X B is apart from Q"};

static void lyapunov_entry(judge_entry *x) {
  const judge_mat *a = &x->in[0], *s = &x->out[0], ah = judge_adjoint(*a);
  const judge_mat as = {.rows = a->rows, .cols = a->cols, .left = a, .right = s};
  const judge_term terms[3] = {{1, &as, &ah}, {-1, s, NULL}, {1, &x->in[1], NULL}};
  x->products += pow((double)a->rows, 4);
  judge_zero(x, s->rows, s->cols, terms, 3);
}
static double lyapunov_judge(const op_exam *e) { return judge_stack(e, lyapunov_entry); }
const op_check lyapunov_check = {.judge = lyapunov_judge, .judged = "A X Aᴴ + Q is apart from X"};

static void sqrtm_entry(judge_entry *x) {
  const judge_mat *s = &x->out[0];
  const judge_term terms[2] = {{1, s, s}, {-1, &x->in[0], NULL}};
  judge_zero(x, s->rows, s->cols, terms, 2);
}
static double sqrtm_judge(const op_exam *e) { return judge_stack(e, sqrtm_entry); }
const op_check sqrtm_check = {.judge = sqrtm_judge, .judged = "the square of the result is apart from the matrix"};
