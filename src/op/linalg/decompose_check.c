/* decompose_check: the checks of the classes over stacks of matrices: an equation that the results fulfil, such as
 * A·x = b, entry by entry of the stack.
 *
 * Everything is computed in complex128 by plain loops. A verdict is the largest difference of the equation's sides over
 * the largest sum of the moduli of their terms. Entries whose results are nan, from operands that hold nan or by
 * on_fail="nan", are not checked, nor are large matrices.
 */
#include <math.h>
#include <string.h>

#include "decompose.h"
#include "stack_check.h"
#include "op/complex_arith.h"

#define EXAM_MOST_PRODUCTS (1 << 24) /* multiplications of one check */

/* An entry of the stack: the matrices of operands and results. */
typedef struct exam_entry {
  const op_exam *e;
  const core_shape *shape;
  const char *in[CORE_MOST], *out[CORE_MOST];
  double error, products;
  double least; /* of the terms' moduli: what else has been summed up to the equation's sides */
  bool unknown;
} exam_entry;

/* A matrix as a function of row and column: of an operand or a result, transposed or in part. */
typedef struct exam_mat {
  const char *data;
  damo_dtype dtype;
  int64_t rows, cols, rs, cs;
  bool conjugated, unit;
  int triangle;         /* -1 the lower, 1 the upper one, 0 all; 2 the diagonal, 3 three diagonals */
  int mirror;           /* the other triangle is the transpose of `triangle` (1), or the conjugate one (2) */
  const int64_t *order; /* row i is row order[i] of the memory; NULL: i */
} exam_mat;

static exam_mat exam_mat_of(const damo_array *a, int rank, const char *data) {
  const int n = a->ndim;
  exam_mat m = {.data = data, .dtype = array_dtype(a), .rows = 1, .cols = 1};
  if (rank == 2) m.cols = array_shape(a)[n - 1], m.cs = array_strides(a)[n - 1];
  if (rank >= 1) m.rows = array_shape(a)[n - rank], m.rs = array_strides(a)[n - rank];
  return m;
}
static exam_mat exam_in(const exam_entry *x, int i) {
  return exam_mat_of(stack_operand(x->e, i), x->shape->in[i].rank, x->in[i]);
}
static exam_mat exam_out(const exam_entry *x, int o) {
  return exam_mat_of(stack_result(x->e, o), x->shape->out[o].rank, x->out[o]);
}
static exam_mat exam_system(exam_mat m, char system) {
  if (system == 'n') return m;
  const exam_mat was = m;
  m.rows = was.cols, m.cols = was.rows, m.rs = was.cs, m.cs = was.rs,
  m.triangle = was.triangle == 1 || was.triangle == -1 ? -was.triangle : was.triangle;
  m.conjugated = was.conjugated != (system == 'h');
  return m;
}

static damo_c128 exam_at(const exam_mat *m, int64_t i, int64_t j) {
  const int64_t apart = j - i;
  if (m->triangle == 2 && apart != 0) return (damo_c128){0, 0};
  if (m->triangle == 3 && (apart > 1 || apart < -1)) return (damo_c128){0, 0};
  if ((m->triangle == 1 || m->triangle == -1) && m->triangle * apart < 0) {
    if (m->mirror == 0) return (damo_c128){0, 0};
    const damo_c128 v = exam_at(m, j, i);
    return (damo_c128){v.re, m->mirror == 2 ? -v.im : v.im};
  }
  if (m->order != NULL) i = m->order[i];
  if (m->unit && i == j) return (damo_c128){1, 0};
  const scalar v = scalar_cast(scalar_load(m->dtype, m->data + i * m->rs + j * m->cs), DAMO_COMPLEX128);
  return (damo_c128){v.v.c.re, m->conjugated ? -v.v.c.im : m->mirror == 2 && apart == 0 ? 0 : v.v.c.im};
}

/* The row i, column j of x·y, and the sum of its terms' moduli. */
static damo_c128 exam_product(const exam_mat *x, const exam_mat *y, int64_t i, int64_t j, double *size) {
  damo_c128 sum = {0, 0};
  for (int64_t k = 0; k < x->cols; k++) {
    const damo_c128 p = exam_at(x, i, k), q = exam_at(y, k, j);
    sum.re += p.re * q.re - p.im * q.im;
    sum.im += p.re * q.im + p.im * q.re;
    *size += hypot(p.re, p.im) * hypot(q.re, q.im);
  }
  return sum;
}

/* The entry's error in x·y = z, all of it or, with `triangle`, in that triangle. */
static void exam_equation(exam_entry *at, const exam_mat *x, const exam_mat *y, const exam_mat *z, int triangle) {
  double apart = 0, size = at->least;
  at->products += (double)x->rows * (double)x->cols * (double)y->cols;
  if (at->products > EXAM_MOST_PRODUCTS) at->unknown = true;
  for (int64_t i = 0; !at->unknown && i < z->rows; i++) {
    for (int64_t j = 0; j < z->cols; j++) {
      if (triangle * (j - i) < 0) continue;
      double terms = 0;
      const damo_c128 got = exam_product(x, y, i, j, &terms), want = exam_at(z, i, j);
      apart = fmax(apart, hypot(got.re - want.re, got.im - want.im));
      size = fmax(size, terms + hypot(want.re, want.im));
      if (!isfinite(terms) || !isfinite(want.re) || !isfinite(want.im)) return;
    }
  }
  if (size > 0) at->error = fmax(at->error, apart / size);
}

typedef void (*exam_fn)(exam_entry *x);

/* The largest error of all entries. */
static double exam_stack(const op_exam *e, exam_fn check) {
  exam_entry x = {.e = e, .shape = e->node->op->data};
  stack_exam s;
  if (!stack_exam_begin(&s, e)) return -1;
  while (!x.unknown && stack_exam_next(&s)) {
    memcpy(x.in, s.in, sizeof x.in);
    memcpy(x.out, s.out, sizeof x.out);
    x.least = 0;
    check(&x);
  }
  return x.unknown ? -1 : x.error;
}

/* ---- The classes ------------------------------------------------------------------------------------------------- */

static void cholesky_exam(exam_entry *x) {
  const bool lower = OP_PROPS(x->e->node->op, cholesky_props)->lower.u.i != 0;
  exam_mat f = exam_out(x, 0), a = exam_in(x, 0);
  f.triangle = a.triangle = lower ? -1 : 1;
  a.mirror = 2; /* the diagonal counts as real */
  const exam_mat h = exam_system(f, 'h');
  exam_equation(x, lower ? &f : &h, lower ? &h : &f, &a, lower ? -1 : 1);
}
static double cholesky_judge(const op_exam *e) { return exam_stack(e, cholesky_exam); }
const op_check cholesky_check = {.judge = cholesky_judge,
                                 .judged = "the factor times its transpose is apart from the matrix"};

static void triangular_exam(exam_entry *x) {
  const triangular_props *p = OP_PROPS(x->e->node->op, triangular_props);
  exam_mat a = exam_in(x, 0), rhs = exam_in(x, 1), got = exam_out(x, 0);
  a.triangle = p->lower.u.i ? -1 : 1;
  a.unit = prop_bool_or(p->unit, false);
  a = exam_system(a, system_of(p->trans));
  exam_equation(x, prop_bool_or(p->right, false) ? &got : &a, prop_bool_or(p->right, false) ? &a : &got, &rhs, 0);
}
static double triangular_judge(const op_exam *e) { return exam_stack(e, triangular_exam); }
const op_check triangular_check = {.judge = triangular_judge, .judged = "A x is apart from the right side"};

/* L and U of a matrix of both: L has the diagonal of ones, or with `columns` U. */
static void exam_factors(exam_mat f, bool columns, exam_mat *l, exam_mat *u) {
  const int64_t k = f.rows < f.cols ? f.rows : f.cols;
  *l = *u = f;
  l->triangle = -1, l->cols = k, l->unit = !columns;
  u->triangle = 1, u->rows = k, u->unit = columns;
}

/* The rows that pivots swap, as positions from 0; owned. NULL: they are no pivots, or there is no memory. */
static int64_t *exam_order(const exam_entry *x, const exam_mat *pivots, int64_t rows) {
  int64_t *order = mem_alloc(x->e->node->op->obj.ctx, (size_t)rows * sizeof *order);
  for (int64_t i = 0; order != NULL && i < rows; i++) order[i] = i;
  for (int64_t i = 0; order != NULL && i < pivots->rows; i++) {
    const int64_t to = (int64_t)exam_at(pivots, i, 0).re - 1, t = order[i];
    if (to < 0 || to >= rows) continue;
    order[i] = order[to];
    order[to] = t;
  }
  return order;
}

static void lu_factor_exam(exam_entry *x) {
  const bool columns = prop_bool_or(OP_PROPS(x->e->node->op, lu_factor_props)->columns, false);
  exam_mat l, u, a = exam_in(x, 0);
  const exam_mat pivots = exam_out(x, 1);
  exam_factors(exam_out(x, 0), columns, &l, &u);
  /* Swapped columns are swapped rows of the transpose: aᵀ[order] = Uᵀ·Lᵀ. */
  if (columns) {
    const exam_mat lt = exam_system(l, 't');
    l = exam_system(u, 't'), u = lt, a = exam_system(a, 't');
  }
  int64_t *order = exam_order(x, &pivots, a.rows);
  a.order = order;
  if (order == NULL) x->unknown = true;
  exam_equation(x, &l, &u, &a, 0);
  mem_free(x->e->node->op->obj.ctx, order, (size_t)a.rows * sizeof *order);
}
static double lu_factor_judge(const op_exam *e) { return exam_stack(e, lu_factor_exam); }
const op_check lu_factor_check = {.judge = lu_factor_judge, .judged = "L U is apart from the matrix with swapped rows"};

static void inv_exam(exam_entry *x) {
  static const double ones[1] = {1};
  const exam_mat a = exam_in(x, 0), y = exam_out(x, 0);
  const exam_mat eye = {
      .data = (const char *)ones, .dtype = DAMO_FLOAT64, .rows = a.rows, .cols = a.rows, .triangle = 2};
  exam_equation(x, &a, &y, &eye, 0);
}
static double inv_judge(const op_exam *e) { return exam_stack(e, inv_exam); }
const op_check inv_check = {.judge = inv_judge, .judged = "the matrix times its inverse is apart from 1"};

static void solve_exam(exam_entry *x) {
  static const char *const words[] = {"sym", "her", "pos", "diagonal", "tridiagonal", NULL};
  const solve_props *p = OP_PROPS(x->e->node->op, solve_props);
  const char *word = prop_str_or(p->assume, "gen");
  const exam_mat rhs = exam_in(x, 1), got = exam_out(x, 0);
  exam_mat a = exam_in(x, 0);
  int k = 0;
  while (words[k] != NULL && strcmp(words[k], word) != 0) k++;
  if (k < 3) a.triangle = prop_bool_or(p->lower, false) ? -1 : 1, a.mirror = k == 0 ? 1 : 2;
  if (k == 3 || k == 4) a.triangle = k - 1;
  a = exam_system(a, system_of(p->trans));
  exam_equation(x, &a, &got, &rhs, 0);
}
static double solve_judge(const op_exam *e) { return exam_stack(e, solve_exam); }
const op_check solve_check = {.judge = solve_judge, .judged = "A x is apart from the right side"};

/* ---- Determinants, and systems of factors ------------------------------------------------------------------------ */

/* A dense copy of x·y or, where y is NULL, of x, with row i at row order[i] (NULL: i); owned. */
static damo_array *exam_dense(const exam_entry *x, const exam_mat *p, const exam_mat *q, const int64_t *order) {
  const int64_t shape[2] = {p->rows, q != NULL ? q->cols : p->cols};
  damo_array *out = damo_array_new(x->e->node->op->obj.ctx, DAMO_COMPLEX128, 2, shape);
  for (int64_t i = 0; out != NULL && i < shape[0]; i++) {
    damo_c128 *row = (damo_c128 *)(void *)out->data + (order != NULL ? order[i] : i) * shape[1];
    double size = 0;
    for (int64_t j = 0; j < shape[1]; j++) row[j] = q != NULL ? exam_product(p, q, i, j, &size) : exam_at(p, i, j);
  }
  return out;
}

static void lu_solve_exam(exam_entry *x) {
  const lu_solve_props *p = OP_PROPS(x->e->node->op, lu_solve_props);
  const bool columns = prop_bool_or(p->columns, false);
  exam_mat l, u;
  const exam_mat pivots = exam_in(x, 1), rhs = exam_in(x, 2), got = exam_out(x, 0);
  exam_factors(exam_in(x, 0), columns, &l, &u);
  if (columns) {
    const exam_mat lt = exam_system(l, 't');
    l = exam_system(u, 't'), u = lt;
  }
  x->products += pow((double)l.rows, 3);
  int64_t *order = x->products < EXAM_MOST_PRODUCTS ? exam_order(x, &pivots, l.rows) : NULL;
  damo_array *dense = order != NULL ? exam_dense(x, &l, &u, order) : NULL;
  if (dense != NULL) {
    exam_mat a = exam_mat_of(dense, 2, dense->data);
    if (columns) a = exam_system(a, 't');
    a = exam_system(a, system_of(p->trans));
    exam_equation(x, &a, &got, &rhs, 0);
  } else {
    x->unknown = true;
  }
  damo_release(dense);
  mem_free(x->e->node->op->obj.ctx, order, order != NULL ? (size_t)l.rows * sizeof *order : 0);
}
static double lu_solve_judge(const op_exam *e) { return exam_stack(e, lu_solve_exam); }
const op_check lu_solve_check = {.judge = lu_solve_judge, .judged = "A x is apart from the right side"};

/* Eliminates with the greatest entry of all rows and columns left; the determinant is sign·exp(log_abs). */
static double exam_eliminate(damo_c128 *a, int64_t n, damo_c128 *sign) {
  double log_abs = 0;
  *sign = (damo_c128){1, 0};
  for (int64_t k = 0; k < n; k++) {
    int64_t at = k * n + k;
    for (int64_t i = k; i < n; i++) {
      for (int64_t j = k; j < n; j++) {
        if (hypot(a[i * n + j].re, a[i * n + j].im) > hypot(a[at].re, a[at].im)) at = i * n + j;
      }
    }
    const int64_t row = at / n, col = at % n;
    for (int64_t j = 0; j < n && row != k; j++) {
      const damo_c128 t = a[k * n + j];
      a[k * n + j] = a[row * n + j], a[row * n + j] = t;
    }
    for (int64_t i = 0; i < n && col != k; i++) {
      const damo_c128 t = a[i * n + k];
      a[i * n + k] = a[i * n + col], a[i * n + col] = t;
    }
    const damo_c128 pivot = a[k * n + k];
    const double size = hypot(pivot.re, pivot.im), swaps = (row != k) != (col != k) ? -1 : 1;
    if (size == 0) {
      *sign = (damo_c128){0, 0};
      return -INFINITY;
    }
    log_abs += log(size);
    *sign = mul_c128(*sign, (damo_c128){swaps * pivot.re / size, swaps * pivot.im / size});
    for (int64_t i = k + 1; i < n; i++) {
      const damo_c128 f = div_c128(a[i * n + k], pivot);
      for (int64_t j = k; j < n; j++) {
        const damo_c128 t = mul_c128(f, a[k * n + j]);
        a[i * n + j].re -= t.re, a[i * n + j].im -= t.im;
      }
    }
  }
  return log_abs;
}

/* The logarithm of the product of the rows' lengths, which no determinant exceeds (Hadamard). */
static double exam_log_bound(const damo_c128 *a, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    double square = 0;
    for (int64_t j = 0; j < n; j++) square += a[i * n + j].re * a[i * n + j].re + a[i * n + j].im * a[i * n + j].im;
    sum += 0.5 * log(square);
  }
  return sum;
}

/* Compares a determinant got = sign·exp(log_abs): both sides over the bound. */
static void exam_determinant(exam_entry *x, damo_c128 got, double got_log) {
  const exam_mat m = exam_in(x, 0);
  x->products += pow((double)m.rows, 3);
  damo_array *a = x->products < EXAM_MOST_PRODUCTS ? exam_dense(x, &m, NULL, NULL) : NULL;
  if (a == NULL) {
    x->unknown = true;
    return;
  }
  damo_c128 sign, *data = (damo_c128 *)(void *)a->data;
  const double bound = exam_log_bound(data, m.rows), want = exam_eliminate(data, m.rows, &sign);
  damo_release(a);
  if (!isfinite(bound)) return;
  const double p = exp(got_log - bound), q = exp(want - bound);
  const double apart = hypot(p * got.re - q * sign.re, p * got.im - q * sign.im);
  if (isfinite(apart)) x->error = fmax(x->error, apart / (double)(m.rows + 1));
}

static void det_exam(exam_entry *x) {
  const exam_mat out = exam_out(x, 0);
  const damo_c128 got = exam_at(&out, 0, 0);
  const double size = hypot(got.re, got.im);
  exam_determinant(x, size > 0 ? (damo_c128){got.re / size, got.im / size} : (damo_c128){0, 0}, log(size));
}
static double det_judge(const op_exam *e) { return exam_stack(e, det_exam); }
const op_check det_check = {.judge = det_judge, .judged = "the determinant is apart from that of an elimination"};

static void slogdet_exam(exam_entry *x) {
  const exam_mat sign = exam_out(x, 0), log_abs = exam_out(x, 1);
  exam_determinant(x, exam_at(&sign, 0, 0), exam_at(&log_abs, 0, 0).re);
}
static double slogdet_judge(const op_exam *e) { return exam_stack(e, slogdet_exam); }
const op_check slogdet_check = {.judge = slogdet_judge,
                                .judged = "the determinant is apart from that of an elimination"};

/* A·Y = w·det(A). Rounding is measured against the largest determinant that rows of these lengths have. */
static void adjugate_exam(exam_entry *x) {
  const exam_mat a = exam_in(x, 0), w = exam_in(x, 1), y = exam_out(x, 0);
  x->products += pow((double)a.rows, 3);
  damo_array *dense = x->products < EXAM_MOST_PRODUCTS ? exam_dense(x, &a, NULL, NULL) : NULL;
  if (dense == NULL) {
    x->unknown = true;
    return;
  }
  damo_c128 sign, *data = (damo_c128 *)(void *)dense->data;
  const damo_c128 weight = exam_at(&w, 0, 0);
  const double bound = exp(exam_log_bound(data, a.rows)), det = exp(exam_eliminate(data, a.rows, &sign));
  damo_release(dense);
  const damo_c128 want = mul_c128(weight, (damo_c128){sign.re * det, sign.im * det});
  const exam_mat z = {
      .data = (const char *)&want, .dtype = DAMO_COMPLEX128, .rows = a.rows, .cols = a.rows, .triangle = 2};
  x->least = hypot(weight.re, weight.im) * bound;
  if (isfinite(x->least)) exam_equation(x, &a, &y, &z, 0);
}
static double adjugate_judge(const op_exam *e) { return exam_stack(e, adjugate_exam); }
const op_check adjugate_check = {.judge = adjugate_judge,
                                 .judged = "the matrix times its adjugate is apart from the determinant"};

/* ---- Bands, QR, pseudo-inverses ---------------------------------------------------------------------------------- */

static damo_array *exam_zero_matrix(const exam_entry *x, int64_t rows, int64_t cols) {
  return damo_array_new(x->e->node->op->obj.ctx, DAMO_COMPLEX128, 2, (const int64_t[2]){rows, cols});
}

static void solve_banded_exam(exam_entry *x) {
  const banded_props *p = OP_PROPS(x->e->node->op, banded_props);
  const exam_mat ab = exam_in(x, 0), rhs = exam_in(x, 1), got = exam_out(x, 0);
  const int64_t n = ab.cols;
  x->products += (double)n * (double)n * (double)got.cols;
  damo_array *dense = x->products < EXAM_MOST_PRODUCTS ? exam_zero_matrix(x, n, n) : NULL;
  if (dense == NULL) {
    x->unknown = true;
    return;
  }
  memset(dense->data, 0, (size_t)(n * n) * sizeof(damo_c128));
  for (int64_t r = 0; r < ab.rows; r++) {
    for (int64_t j = 0; j < n; j++) {
      const int64_t i = j + r - p->u.u.i;
      if (i >= 0 && i < n) ((damo_c128 *)(void *)dense->data)[i * n + j] = exam_at(&ab, r, j);
    }
  }
  const exam_mat a = exam_system(exam_mat_of(dense, 2, dense->data), system_of(p->trans));
  exam_equation(x, &a, &got, &rhs, 0);
  damo_release(dense);
}
static double solve_banded_judge(const op_exam *e) { return exam_stack(e, solve_banded_exam); }
const op_check solve_banded_check = {.judge = solve_banded_judge, .judged = "A x is apart from the right side"};

static void solve_toeplitz_exam(exam_entry *x) {
  const exam_mat column = exam_in(x, 0), row = exam_in(x, 1), rhs = exam_in(x, 2), got = exam_out(x, 0);
  const int64_t n = column.rows;
  x->products += (double)n * (double)n * (double)got.cols;
  damo_array *dense = x->products < EXAM_MOST_PRODUCTS ? exam_zero_matrix(x, n, n) : NULL;
  if (dense == NULL) {
    x->unknown = true;
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++)
      ((damo_c128 *)(void *)dense->data)[i * n + j] = i >= j ? exam_at(&column, i - j, 0) : exam_at(&row, j - i, 0);
  }
  const exam_mat a = exam_mat_of(dense, 2, dense->data);
  exam_equation(x, &a, &got, &rhs, 0);
  damo_release(dense);
}
static double solve_toeplitz_judge(const op_exam *e) { return exam_stack(e, solve_toeplitz_exam); }
const op_check solve_toeplitz_check = {.judge = solve_toeplitz_judge, .judged = "T x is apart from the right side"};

static double exam_greatest(const exam_mat *m) {
  double most = 0;
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->cols; j++) {
      const damo_c128 v = exam_at(m, i, j);
      most = fmax(most, hypot(v.re, v.im));
    }
  }
  return most;
}

/* Q·R = A and Qᴴ·Q = 1; of R alone Rᴴ·R = Aᴴ·A. */
static void qr_exam(exam_entry *x) {
  static const double ones[1] = {1};
  const qr_props *p = OP_PROPS(x->e->node->op, qr_props);
  const bool r_alone = strcmp(prop_str_or(p->mode, "full"), "r") == 0, pivots = prop_bool_or(p->pivoting, false);
  exam_mat a = exam_in(x, 0), r = exam_out(x, r_alone ? 0 : 1);
  int64_t *order = NULL;
  damo_ctx *ctx = x->e->node->op->obj.ctx;
  if (pivots) {
    const exam_mat positions = exam_out(x, x->shape->n_out - 1);
    order = mem_alloc(ctx, (size_t)a.cols * sizeof *order);
    for (int64_t j = 0; order != NULL && j < a.cols; j++) order[j] = (int64_t)exam_at(&positions, j, 0).re - 1;
    a = exam_system(a, 't');
    a.order = order;
    if (order == NULL) x->unknown = true;
  }
  if (r_alone) {
    const exam_mat rh = exam_system(r, 'h');
    exam_mat left = pivots ? a : exam_system(a, 't'), right = left;
    left.conjugated = true;
    x->products += (double)a.rows * (double)a.cols * (double)left.rows;
    damo_array *product = NULL;
    if (x->products < EXAM_MOST_PRODUCTS && !x->unknown) {
      product = exam_zero_matrix(x, left.rows, left.rows);
      for (int64_t i = 0; product != NULL && i < left.rows; i++) {
        for (int64_t j = 0; j < left.rows; j++) {
          damo_c128 sum = {0, 0};
          for (int64_t k = 0; k < left.cols; k++) {
            const damo_c128 t = mul_c128(exam_at(&left, i, k), exam_at(&right, j, k));
            sum.re += t.re, sum.im += t.im;
          }
          ((damo_c128 *)(void *)product->data)[i * left.rows + j] = sum;
        }
      }
    }
    if (product != NULL) {
      const exam_mat z = exam_mat_of(product, 2, product->data);
      exam_equation(x, &rh, &r, &z, 0);
    } else {
      x->unknown = true;
    }
    damo_release(product);
  } else {
    const exam_mat q = exam_out(x, 0), qh = exam_system(q, 'h');
    const exam_mat eye = {
        .data = (const char *)ones, .dtype = DAMO_FLOAT64, .rows = q.cols, .cols = q.cols, .triangle = 2};
    const exam_mat rt = exam_system(r, 't'), qt = exam_system(q, 't');
    exam_equation(x, pivots ? &rt : &q, pivots ? &qt : &r, &a, 0);
    exam_equation(x, &qh, &q, &eye, 0);
  }
  mem_free(ctx, order, order != NULL ? (size_t)exam_in(x, 0).cols * sizeof *order : 0);
}
static double qr_judge(const op_exam *e) { return exam_stack(e, qr_exam); }
const op_check qr_check = {.judge = qr_judge,
                           .judged = "Q R is apart from the matrix, or Q's columns from orthonormal ones"};

/* The normal equations Aᴴ·(A·x) = Aᴴ·b, where no singular values but those of rounding are left out. */
static void lstsq_exam(exam_entry *x) {
  const rcond_props *p = OP_PROPS(x->e->node->op, rcond_props);
  const exam_mat a = exam_in(x, 0), rhs = exam_in(x, 1), got = exam_out(x, 0), ah = exam_system(a, 'h');
  x->products += (double)a.rows * (double)a.cols * (double)got.cols * 3;
  if (prop_num_or(p->rcond, 0) > 1e-9 || x->products > EXAM_MOST_PRODUCTS) {
    x->unknown = true;
    return;
  }
  damo_array *ax = exam_dense(x, &a, &got, NULL), *ab = exam_dense(x, &ah, &rhs, NULL);
  if (ax != NULL && ab != NULL) {
    const exam_mat y = exam_mat_of(ax, 2, ax->data), z = exam_mat_of(ab, 2, ab->data);
    const double size = exam_greatest(&a);
    x->least = (double)a.rows * size * (exam_greatest(&rhs) + (double)a.cols * size * exam_greatest(&got));
    exam_equation(x, &ah, &y, &z, 0);
  } else {
    x->unknown = true;
  }
  damo_release(ax);
  damo_release(ab);
}
static double lstsq_judge(const op_exam *e) { return exam_stack(e, lstsq_exam); }
const op_check lstsq_check = {.judge = lstsq_judge, .judged = "the residual is apart from orthogonal to the matrix"};

/* Y·A·Y = Y, and A·Y·A = A where no singular values but those of rounding are left out. */
static void pinv_exam(exam_entry *x) {
  const rcond_props *p = OP_PROPS(x->e->node->op, rcond_props);
  const exam_mat a = exam_in(x, 0), y = exam_out(x, 0);
  x->products += (double)a.rows * (double)a.cols * (double)a.rows * 3;
  damo_array *ay = x->products < EXAM_MOST_PRODUCTS ? exam_dense(x, &a, &y, NULL) : NULL;
  if (ay == NULL) {
    x->unknown = true;
    return;
  }
  const exam_mat product = exam_mat_of(ay, 2, ay->data);
  const double size = exam_greatest(&a), other = exam_greatest(&y),
               terms = (double)a.rows * (double)a.cols * size * other;
  x->least = terms * other;
  exam_equation(x, &y, &product, &y, 0);
  x->least = terms * size;
  if (prop_num_or(p->rcond, 0) < 1e-9) exam_equation(x, &product, &a, &a, 0);
  damo_release(ay);
}
static double pinv_judge(const op_exam *e) { return exam_stack(e, pinv_exam); }
const op_check pinv_check = {.judge = pinv_judge, .judged = "Y A Y is apart from Y, or A Y A from A"};
