/* solve_check: the checks of the classes on factors: residuals of solutions in dense products, determinants and
 * inverses by elimination with dense rows.
 *
 * Everything is computed in complex128 by plain loops. A verdict is a relative error, 0 but for rounding: the error
 * divided by the size of the terms that it is made of. Matrices so close to singular that a determinant or an inverse
 * has few digits are not checked, nor are results without the matrix that the factor was made from.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "op/sparse/exam.h"

#include "factor.h"
#include "op/elem/build_arith.h"
#include "system.h"
#include "op/complex_arith.h"

/* Bounds of a check: rows of an eliminated matrix, multiplications of a residual, reciprocal condition number. */
#define SOLUTION_MOST_ROWS 256
#define SOLUTION_MOST_PRODUCTS (1 << 24)
#define SOLUTION_LEAST_RCOND 1e-5

/* ---- Complex matrices -------------------------------------------------------------------------------------------- */

/* A vector is a matrix of one column. */
typedef struct c128_matrix {
  damo_array *a; /* owned: complex128, C-contiguous; NULL: no memory */
  int64_t rows, cols;
} c128_matrix;

static damo_c128 *c128_entry(const c128_matrix *m, int64_t i, int64_t j) {
  return (damo_c128 *)(void *)m->a->data + i * m->cols + j;
}

static damo_c128 c128_minus(damo_c128 x, damo_c128 y) { return (damo_c128){x.re - y.re, x.im - y.im}; }
static double c128_abs(damo_c128 x) { return hypot(x.re, x.im); }

static c128_matrix c128_matrix_new(damo_ctx *ctx, int64_t rows, int64_t cols) {
  return (c128_matrix){damo_array_new(ctx, DAMO_COMPLEX128, 2, (const int64_t[2]){rows, cols}), rows, cols};
}

static c128_matrix c128_matrix_from(const damo_obj *v) {
  damo_array *dense = v->kind == OBJ_SPARSE ? sparse_to_dense((const damo_sparse *)v) : NULL;
  const damo_array *own = dense != NULL ? dense : (const damo_array *)v;
  c128_matrix m = {.a = v->kind != OBJ_SPARSE || dense != NULL ? array_cast(own, DAMO_COMPLEX128) : NULL};
  m.rows = own != NULL && own->ndim > 0 ? array_shape(own)[0] : 1;
  m.cols = own != NULL && own->ndim > 1 ? array_shape(own)[1] : 1;
  damo_release(dense);
  return m;
}

static double c128_matrix_max(const c128_matrix *m) {
  double most = 0;
  for (int64_t k = 0; k < m->rows * m->cols; k++) most = fmax(most, c128_abs(*c128_entry(m, 0, k)));
  return most;
}

/* The largest entry of x - y. */
static double c128_matrix_distance(const c128_matrix *x, const c128_matrix *y) {
  double most = 0;
  for (int64_t k = 0; k < x->rows * x->cols; k++)
    most = fmax(most, c128_abs(c128_minus(*c128_entry(x, 0, k), *c128_entry(y, 0, k))));
  return most;
}

/* x becomes x - y. */
static void c128_matrix_subtract(c128_matrix *x, const c128_matrix *y) {
  for (int64_t k = 0; k < x->rows * x->cols; k++)
    *c128_entry(x, 0, k) = c128_minus(*c128_entry(x, 0, k), *c128_entry(y, 0, k));
}

/* A copy of m ('n'), its transpose ('t') or its conjugate transpose ('h'). */
static c128_matrix c128_matrix_transposed(const c128_matrix *m, char system) {
  c128_matrix out = system == 'n' ? c128_matrix_new(m->a->obj.ctx, m->rows, m->cols)
                                  : c128_matrix_new(m->a->obj.ctx, m->cols, m->rows);
  for (int64_t i = 0; out.a != NULL && i < m->rows; i++) {
    for (int64_t j = 0; j < m->cols; j++) {
      const damo_c128 z = *c128_entry(m, i, j);
      *(system == 'n' ? c128_entry(&out, i, j) : c128_entry(&out, j, i)) =
          (damo_c128){z.re, system == 'h' ? -z.im : z.im};
    }
  }
  return out;
}

static c128_matrix c128_matrix_product(const c128_matrix *x, const c128_matrix *y) {
  c128_matrix out = {.a = NULL};
  if (x->a == NULL || y->a == NULL) return out;
  out = c128_matrix_new(x->a->obj.ctx, x->rows, y->cols);
  for (int64_t i = 0; out.a != NULL && i < x->rows; i++) {
    for (int64_t k = 0; k < x->cols; k++) {
      const damo_c128 f = *c128_entry(x, i, k);
      for (int64_t j = 0; j < y->cols; j++)
        *c128_entry(&out, i, j) =
            c128_minus(*c128_entry(&out, i, j), mul_c128((damo_c128){-f.re, -f.im}, *c128_entry(y, k, j)));
    }
  }
  return out;
}

/* x becomes (x + xᴴ)/2. */
static void c128_matrix_make_hermitian(c128_matrix *x) {
  for (int64_t i = 0; i < x->rows; i++) {
    for (int64_t j = 0; j <= i; j++) {
      const damo_c128 z = *c128_entry(x, i, j), w = *c128_entry(x, j, i), half = {(z.re + w.re) / 2, (z.im - w.im) / 2};
      *c128_entry(x, i, j) = half;
      *c128_entry(x, j, i) = (damo_c128){half.re, -half.im};
    }
  }
}

/* ---- Elimination ------------------------------------------------------------------------------------------------- */

static void swap_rows(c128_matrix *m, int64_t i, int64_t j) {
  for (int64_t k = 0; i != j && k < m->cols; k++) {
    const damo_c128 z = *c128_entry(m, i, k);
    *c128_entry(m, i, k) = *c128_entry(m, j, k);
    *c128_entry(m, j, k) = z;
  }
}

static int64_t pivot_of(const c128_matrix *m, int64_t column) {
  int64_t best = column;
  for (int64_t i = column + 1; i < m->rows; i++) {
    if (c128_abs(*c128_entry(m, i, column)) > c128_abs(*c128_entry(m, best, column))) best = i;
  }
  return best;
}

typedef struct c128_determinant {
  double log_abs;
  damo_c128 sign;
} c128_determinant;

/* Gauss-Jordan elimination with row pivots: m becomes the identity, x, which has as many rows, m⁻¹·x. Returns the
 * determinant of m, with sign 0 where m is singular. */
static c128_determinant eliminate(c128_matrix *m, c128_matrix *x) {
  c128_determinant det = {0, {1, 0}};
  for (int64_t c = 0; c < m->rows; c++) {
    const int64_t best = pivot_of(m, c);
    const damo_c128 pivot = *c128_entry(m, best, c);
    const double size = c128_abs(pivot);
    if (!(size > 0)) return (c128_determinant){-INFINITY, {0, 0}};
    det.log_abs += log(size);
    det.sign = mul_c128(det.sign, (damo_c128){pivot.re / size, pivot.im / size});
    if (best != c) det.sign = (damo_c128){-det.sign.re, -det.sign.im};
    swap_rows(m, c, best);
    swap_rows(x, c, best);
    for (int64_t j = 0; j < m->cols; j++) *c128_entry(m, c, j) = div_c128(*c128_entry(m, c, j), pivot);
    for (int64_t j = 0; j < x->cols; j++) *c128_entry(x, c, j) = div_c128(*c128_entry(x, c, j), pivot);
    for (int64_t i = 0; i < m->rows; i++) {
      const damo_c128 f = *c128_entry(m, i, c);
      if (i == c || (f.re == 0 && f.im == 0)) continue;
      for (int64_t j = 0; j < m->cols; j++)
        *c128_entry(m, i, j) = c128_minus(*c128_entry(m, i, j), mul_c128(f, *c128_entry(m, c, j)));
      for (int64_t j = 0; j < x->cols; j++)
        *c128_entry(x, i, j) = c128_minus(*c128_entry(x, i, j), mul_c128(f, *c128_entry(x, c, j)));
    }
  }
  return det;
}

/* The inverse and the determinant; a NULL array where they have few digits, or there is no memory. */
static c128_matrix c128_matrix_inverse(const c128_matrix *m, c128_determinant *det) {
  c128_matrix left = c128_matrix_transposed(m, 'n'), out = c128_matrix_new(m->a->obj.ctx, m->rows, m->cols);
  if (left.a != NULL && out.a != NULL) {
    for (int64_t i = 0; i < m->rows; i++) c128_entry(&out, i, i)->re = 1;
    *det = eliminate(&left, &out);
    const double n = (double)m->rows, rcond = 1 / (n * n * c128_matrix_max(m) * c128_matrix_max(&out));
    const bool poor =
        m->rows > 0 && (det->sign.re == 0 && det->sign.im == 0 ? true : !(rcond * n > SOLUTION_LEAST_RCOND));
    if (poor) {
      damo_release(out.a);
      out.a = NULL;
    }
  }
  damo_release(left.a);
  return out;
}

/* ---- The Ops ----------------------------------------------------------------------------------------------------- */

typedef struct solution_exam {
  const op_exam *e;
  const damo_factor *f;
  c128_matrix a, b, x, y; /* owned: A, the other operand, the outputs */
  double smallest;        /* normal number of the result's dtype: smaller ones have few digits */
} solution_exam;

/* The relative error of the result; below 0: it cannot be judged. */
typedef double (*solution_judge)(solution_exam *e);

static bool is_positive(const solution_exam *e) { return factor_fields_of(e->e->node->op)->positive; }

static bool is_large(const c128_matrix *m, int64_t columns) {
  return (double)m->rows * (double)m->cols * (double)columns > SOLUTION_MOST_PRODUCTS;
}

static double relative_error(double error, double whole) { return error > 0 ? error / whole : error; }

/* The size of a result by which its rounding is judged. */
static double size_in(const solution_exam *e, const c128_matrix *m) { return fmax(c128_matrix_max(m), e->smallest); }

static double judge_logdet(solution_exam *e) {
  c128_determinant det = {0, {0, 0}};
  c128_matrix inverse = c128_matrix_inverse(&e->a, &det);
  const double logs = fabs(c128_entry(&e->x, 0, 0)->re - det.log_abs) / (1 + fabs(det.log_abs));
  const double signs = c128_abs(c128_minus(*c128_entry(&e->y, 0, 0), det.sign)),
               result = inverse.a != NULL ? logs + signs : -1;
  damo_release(inverse.a);
  return result;
}

static double judge_det(solution_exam *e) {
  c128_determinant det = {0, {0, 0}};
  c128_matrix inverse = c128_matrix_inverse(&e->a, &det);
  if (inverse.a == NULL) return -1;
  damo_release(inverse.a);
  const double size = exp(det.log_abs);
  const damo_c128 want = {det.sign.re * size, det.sign.im * size};
  return isnormal(size) && (!e->e->single || (size > FLT_MIN && size < FLT_MAX))
             ? relative_error(c128_abs(c128_minus(*c128_entry(&e->x, 0, 0), want)), size)
             : -1;
}

/* The largest difference between the node's vector and the entries (j, i) of m, over the stored positions (i, j) of
 * p. */
static double distance_at_places(const solution_exam *e, const c128_matrix *m, const damo_sparse *p) {
  double most = 0;
  for (int64_t major = 0; major < sparse_major(p); major++) {
    for (int64_t k = exam_int_at(p->indptr, major); k < exam_int_at(p->indptr, major + 1); k++) {
      const int64_t minor = exam_int_at(p->indices, k);
      const damo_c128 want = p->format == DAMO_CSR ? *c128_entry(m, minor, major) : *c128_entry(m, major, minor);
      most = fmax(most, c128_abs(c128_minus(*c128_entry(&e->x, k, 0), want)));
    }
  }
  return most;
}

static double judge_inverse(solution_exam *e) {
  c128_determinant det = {0, {0, 0}};
  c128_matrix inverse = c128_matrix_inverse(&e->a, &det);
  if (inverse.a == NULL) return -1;
  const double result =
      relative_error(distance_at_places(e, &inverse, (const damo_sparse *)e->e->values[2]), size_in(e, &inverse));
  damo_release(inverse.a);
  return result;
}

static double judge_sandwich(solution_exam *e) {
  c128_determinant det = {0, {0, 0}};
  c128_matrix inverse = c128_matrix_inverse(&e->a, &det), left = c128_matrix_product(&inverse, &e->b),
              all = c128_matrix_product(&left, &inverse);
  double result = -1;
  if (all.a != NULL)
    result = relative_error(distance_at_places(e, &all, (const damo_sparse *)e->e->values[3]),
                            fmax(c128_matrix_max(&left) * c128_matrix_max(&inverse), e->smallest));
  damo_release(inverse.a);
  damo_release(left.a);
  damo_release(all.a);
  return result;
}

/* The relative size of v's part outside the range of m, whose columns are independent: v - m·(mᴴ·m)⁻¹·mᴴ·v. */
static double distance_from_range(const solution_exam *e, const c128_matrix *m, const c128_matrix *v) {
  c128_determinant det = {0, {0, 0}};
  c128_matrix h = c128_matrix_transposed(m, 'h'), square = {.a = NULL}, inverse = {.a = NULL}, right = {.a = NULL},
              z = {.a = NULL};
  if (h.a != NULL) square = c128_matrix_product(&h, m), right = c128_matrix_product(&h, v);
  if (square.a != NULL && right.a != NULL) inverse = c128_matrix_inverse(&square, &det);
  if (inverse.a != NULL) z = c128_matrix_product(&inverse, &right);
  c128_matrix back = c128_matrix_product(m, &z);
  const double result = back.a != NULL ? relative_error(c128_matrix_distance(&back, v), size_in(e, v)) : -1;
  damo_release(h.a);
  damo_release(square.a);
  damo_release(inverse.a);
  damo_release(right.a);
  damo_release(z.a);
  damo_release(back.a);
  return result;
}

/* The error of the normal equations h·(m·x - b) = 0 with h = mᴴ; with minimum_norm also x's part outside the range of
 * h. */
static double normal_equations(const solution_exam *e, const c128_matrix *m, const c128_matrix *h, bool minimum_norm) {
  c128_matrix back = c128_matrix_product(m, &e->x), normal = {.a = NULL};
  double result = -1;
  if (back.a != NULL) {
    c128_matrix_subtract(&back, &e->b);
    normal = c128_matrix_product(h, &back);
  }
  if (normal.a != NULL) {
    const double scale = (double)m->cols * c128_matrix_max(m) * size_in(e, &e->x) + c128_matrix_max(&e->b);
    result = relative_error(c128_matrix_max(&normal), (double)h->cols * c128_matrix_max(h) * scale);
    if (minimum_norm && h->rows <= SOLUTION_MOST_ROWS) result += fmax(0, distance_from_range(e, h, &e->x));
  }
  damo_release(back.a);
  damo_release(normal.a);
  return result;
}

static bool has_full_rank(const solution_exam *e, const c128_matrix *m) {
  return factor_rank(e->f) == (m->rows < m->cols ? m->rows : m->cols);
}

/* For a rectangular m = op(A). With less than full rank the transposed systems are not judged. */
static double residual_least(const solution_exam *e, const c128_matrix *m, char system) {
  const bool full = has_full_rank(e, m);
  if (!full && system != 'n') return -1;
  c128_matrix h = c128_matrix_transposed(m, 'h');
  const double result = h.a != NULL ? normal_equations(e, m, &h, full && m->cols > m->rows) : -1;
  damo_release(h.a);
  return result;
}

/* The relative size of m·x - b where m is square, else the error of the normal equations. */
static double judge_residual(const solution_exam *e, const c128_matrix *m, char system) {
  if (m->rows != m->cols) return residual_least(e, m, system);
  c128_matrix back = c128_matrix_product(m, &e->x);
  double result = -1;
  if (back.a != NULL)
    result = relative_error(c128_matrix_distance(&back, &e->b),
                            (double)m->cols * c128_matrix_max(m) * size_in(e, &e->x) + c128_matrix_max(&e->b));
  damo_release(back.a);
  return result;
}

/* op(A)·x - b */
static double judge_solve(solution_exam *e) {
  const char system = system_name(e->e->node->op);
  if (is_large(&e->a, e->x.cols) || e->x.cols != e->b.cols) return -1; /* columns that are not present */
  c128_matrix a = c128_matrix_transposed(&e->a, system);
  const double result = a.a != NULL ? judge_residual(e, &a, system) : -1;
  damo_release(a.a);
  return result;
}

/* True when the rank is more than the shape allows, or less although the columns (the rows of a wide matrix) are far
 * from dependent. */
static bool rank_is_wrong(const solution_exam *e, const c128_matrix *h) {
  const c128_matrix *a = &e->a;
  const int64_t least = a->rows < a->cols ? a->rows : a->cols;
  const int64_t rank = scalar_to_int64(array_item((const damo_array *)e->e->results[2]));
  c128_determinant det = {0, {0, 0}};
  if (rank < 0 || rank > least) return true;
  if (rank == least || least > SOLUTION_MOST_ROWS) return false;
  c128_matrix square = a->rows < a->cols ? c128_matrix_product(a, h) : c128_matrix_product(h, a);
  c128_matrix inverse = {.a = NULL};
  if (square.a != NULL) inverse = c128_matrix_inverse(&square, &det);
  const bool independent = inverse.a != NULL;
  damo_release(square.a);
  damo_release(inverse.a);
  return independent;
}

/* Checks that the residual is b - A·x, that Aᴴ·residual = 0, and that a minimum-norm x is in the range of Aᴴ. */
static double judge_least(solution_exam *e) {
  if (is_large(&e->a, e->x.cols)) return -1;
  const bool short_one = factor_get_info(e->f).minimum_norm;
  c128_matrix h = c128_matrix_transposed(&e->a, 'h'), moved = c128_matrix_product(&e->a, &e->x), sum = {.a = NULL},
              normal = c128_matrix_product(&h, &e->y);
  const double scale = (double)e->a.cols * c128_matrix_max(&e->a) * size_in(e, &e->x) + size_in(e, &e->b);
  double result = -1;
  if (h.a != NULL && rank_is_wrong(e, &h)) result = 1;
  if (moved.a != NULL && result < 0) sum = c128_matrix_transposed(&e->b, 'n');
  if (sum.a != NULL) c128_matrix_subtract(&sum, &moved);
  if (sum.a != NULL && normal.a != NULL) {
    result = relative_error(c128_matrix_distance(&sum, &e->y), scale) +
             relative_error(c128_matrix_max(&normal), (double)h.cols * c128_matrix_max(&h) * scale);
    if (short_one && h.rows <= SOLUTION_MOST_ROWS) result += fmax(0, distance_from_range(e, &h, &e->x));
  }
  damo_release(h.a);
  damo_release(moved.a);
  damo_release(sum.a);
  damo_release(normal.a);
  return result;
}

/* w = A⁺ᴴ·g, and 1 where solutions have minimum norm. Checks that A·(Aᴴ·w - g) = 0 and that w is in the range of A.
 * Basic solutions, which leave unknowns out, are not judged. */
static double judge_least_adjoint(solution_exam *e) {
  const c128_matrix *a = &e->a;
  const bool wide = a->cols > a->rows && has_full_rank(e, a);
  if (c128_entry(&e->y, 0, 0)->re != wide) return 1;
  if (!has_full_rank(e, a) || is_large(a, e->x.cols)) return -1;
  c128_matrix h = c128_matrix_transposed(a, 'h');
  const double result = h.a != NULL ? normal_equations(e, &h, a, a->rows >= a->cols) : -1;
  damo_release(h.a);
  return result;
}

/* False where a value is too large or there is no memory. b: the input that is loaded as the other operand, 0: none. */
static bool solution_load(solution_exam *e, bool eliminates, int b) {
  const op_exam *of = e->e;
  const bool two = of->node->n_out > 1;
  if (!exam_is_small(of->values[1]) || (b > 0 && !exam_is_small(of->values[b])) || !exam_is_small(of->results[0]))
    return false;
  if (eliminates && exam_matrix(of, 1)->shape[0] > SOLUTION_MOST_ROWS) return false;
  e->a = c128_matrix_from(of->values[1]);
  e->x = c128_matrix_from(of->results[0]);
  if (b > 0) e->b = c128_matrix_from(of->values[b]);
  if (two) e->y = c128_matrix_from(of->results[1]);
  if (e->a.a != NULL && is_positive(e)) c128_matrix_make_hermitian(&e->a);
  return e->a.a != NULL && e->x.a != NULL && (b == 0 || e->b.a != NULL) && (!two || e->y.a != NULL);
}

/* The verdict on a node over (F, A, operand …), n_in inputs in all; with `eliminates` A is inverted, so it must be
 * small. */
static double solution_judged(const op_exam *of, solution_judge judge, bool eliminates, int n_in, int b) {
  solution_exam e = {
      .e = of, .f = (const damo_factor *)of->values[0], .smallest = of->single ? (double)FLT_MIN : DBL_MIN};
  double off = -1;
  if (of->node->n_in == n_in && solution_load(&e, eliminates, b)) off = judge(&e);
  damo_release(e.a.a);
  damo_release(e.b.a);
  damo_release(e.x.a);
  damo_release(e.y.a);
  return off;
}

#define SOLUTION_CHECK(NAME, JUDGE, ELIMINATES, N_IN, B, JUDGED)                                           \
  static double NAME##_judged(const op_exam *e) { return solution_judged(e, JUDGE, ELIMINATES, N_IN, B); } \
  const op_check NAME##_check = {.judge = NAME##_judged, .judged = JUDGED}

SOLUTION_CHECK(factor_solve, judge_solve, false, 3, 2, "A x is apart from the right side");
SOLUTION_CHECK(factor_logdet, judge_logdet, true, 2, 0, "elimination gives another determinant, apart");
SOLUTION_CHECK(factor_det, judge_det, true, 2, 0, "elimination gives another determinant, apart");
SOLUTION_CHECK(factor_inverse, judge_inverse, true, 3, 0, "elimination gives another inverse, apart");
SOLUTION_CHECK(factor_sandwich, judge_sandwich, true, 4, 2, "elimination gives another inverse, apart");
SOLUTION_CHECK(factor_least, judge_least, false, 3, 2, "the residual or the normal equations are off");
SOLUTION_CHECK(factor_least_adjoint, judge_least_adjoint, false, 3, 2, "the normal equations are off");

/* ---- Factors ----------------------------------------------------------------------------------------------------- */

/* Solves for a right side of ones and judges A·x - 1, or Aᴴ times that where A is rectangular. Singular matrices have
 * no solution. */
static double judge_factorized(const op_exam *of) {
  damo_factor *f = (damo_factor *)of->results[0];
  const factor_info info = factor_get_info(f);
  damo_ctx *ctx = of->node->obj.ctx;
  if (info.singular || !exam_is_small(of->values[0])) return -1;
  solution_exam e = {.e = of, .f = f, .a = c128_matrix_from(of->values[0]), .smallest = DBL_MIN};
  damo_array *ones = array_empty(ctx, info.dtype, 2, (const int64_t[2]){info.rows, 1}), *x = NULL;
  if (ones != NULL && e.a.a != NULL && array_fill(ones, (scalar){.dtype = DAMO_FLOAT64, .v.f = 1}) == DAMO_OK) {
    if (info.least_squares) factor_lstsq(f, ones, &x, NULL);
    if (!info.least_squares) x = factor_solve(f, FACTOR_A, ones, NULL);
  }
  if (x != NULL) {
    e.b = c128_matrix_from(&ones->obj);
    e.x = c128_matrix_from(&x->obj);
  }
  if (e.a.a != NULL && info.positive) c128_matrix_make_hermitian(&e.a);
  double off = -1;
  if (e.b.a != NULL && e.x.a != NULL && !is_large(&e.a, 1)) off = judge_residual(&e, &e.a, 'n');
  damo_release(ones);
  damo_release(x);
  damo_release(e.a.a);
  damo_release(e.b.a);
  damo_release(e.x.a);
  return off;
}
const op_check factorize_check = {.judge = judge_factorized, .judged = "a solution with the factor is off"};

static double c128_matrix_norm_1(const c128_matrix *m) {
  double most = 0;
  for (int64_t j = 0; j < m->cols; j++) {
    double sum = 0;
    for (int64_t i = 0; i < m->rows; i++) sum += c128_abs(*c128_entry(m, i, j));
    most = fmax(most, sum);
  }
  return most;
}

/* 1 / (‖A‖₁ ‖A⁻¹‖₁), A⁻¹ by solves with the factor, and A as the inverse of that; below 0: it cannot be judged. */
static double rcond_of(damo_ctx *ctx, damo_factor *f) {
  const factor_info info = factor_get_info(f);
  c128_determinant det = {0, {0, 0}};
  c128_matrix back = {.a = NULL}, a = {.a = NULL};
  damo_array *identity = NULL, *x = NULL;
  if (info.singular || info.rows == 0 || info.rows > SOLUTION_MOST_ROWS) return -1;
  identity = damo_array_new(ctx, info.dtype, 2, (const int64_t[2]){info.rows, info.rows});
  const scalar one = scalar_cast((scalar){.dtype = DAMO_FLOAT64, .v.f = 1}, info.dtype);
  for (int64_t k = 0; identity != NULL && k < info.rows; k++) array_set(identity, (const int64_t[2]){k, k}, one);
  if (identity != NULL) x = factor_solve(f, FACTOR_A, identity, NULL);
  if (x != NULL) back = c128_matrix_from(&x->obj);
  if (back.a != NULL) a = c128_matrix_inverse(&back, &det);
  const double rcond = a.a != NULL ? 1 / (c128_matrix_norm_1(&a) * c128_matrix_norm_1(&back)) : -1;
  damo_release(identity);
  damo_release(x);
  damo_release(back.a);
  damo_release(a.a);
  return rcond;
}

/* The estimator underestimates ‖A⁻¹‖₁, rarely by a factor of 10. So the estimated rcond is at least the true one, and
 * at most 1. */
static double judge_rcond(const op_exam *of) {
  const double got = scalar_to_double(array_item((const damo_array *)of->results[0]));
  const double want = rcond_of(of->node->obj.ctx, (damo_factor *)of->values[0]);
  if (!(got >= 0 && got <= 1 + 1e-6)) return fabs(got) + 1;
  if (want < 0) return -1;
  return got < want * (1 - 1e-3) ? 1 - got / want : got > 10 * want ? got / want : 0;
}
const op_check factor_rcond_check = {.judge = judge_rcond, .judged = "it is none of the matrix of this inverse, apart"};

/* ---- Terms of rectangular systems -------------------------------------------------------------------------------- */

static bool columns_count(const op_exam *e) {
  const factor_info info = factor_get_info((const damo_factor *)e->values[0]);
  return info.rectangular && info.minimum_norm == factor_fields_of(e->node->op)->minimum_norm;
}

static damo_var *build_no_columns(op_exam *e, const damo_var *out, int64_t rows) {
  return exam_zeros(e, var_dtype(out), (const int64_t[2]){rows, 0});
}

static int64_t exam_rows(const op_exam *e, int i) {
  int ndim;
  return value_shape(e->values[i], &ndim)[0];
}

static damo_var *equal_columns(op_exam *e, int o) {
  return columns_count(e) ? build_columns(e->b, e->in[1]) : build_no_columns(e, e->node->out[o], exam_rows(e, 1));
}
const op_check rect_columns_check = {.dense_equal = equal_columns};

/* Inputs: F, y, x. y in x's shape, a vector being one column, or zeros. */
static damo_var *equal_columns_back(op_exam *e, int o) {
  int ndim;
  const int64_t *shape = value_shape(e->values[2], &ndim), matrix[2] = {shape[0], ndim == 2 ? shape[1] : 1};
  damo_var *y = columns_count(e) ? e->in[1] : exam_zeros(e, var_dtype(e->node->out[o]), matrix);
  if (y == NULL || var_ndim(e->out[o]) == 2) return y;
  return build_index(e->b, y, 1, build_scalar(e->b, DAMO_INT64, 0));
}
const op_check rect_columns_back_check = {.dense_equal = equal_columns_back};

static damo_var *equal_beside(op_exam *e, int o) {
  (void)o;
  return build_concatenate(e->b, "hstack", 1, e->in, 3);
}
const op_check rect_beside_check = {.dense_equal = equal_beside};

/* Inputs: F, A, x, b. op(A)·x - b, op as the property system says. */
static damo_var *equal_gap(op_exam *e, int o) {
  build *b = e->b;
  if (!columns_count(e)) return build_no_columns(e, e->node->out[o], exam_rows(e, 3));
  const char system = system_name(e->node->op);
  damo_var *a = system == 'h' ? build_conj(b, e->in[1]) : e->in[1];
  if (system != 'n') a = build_transpose(b, a);
  damo_var *x = build_columns(b, e->in[2]), *rhs = build_columns(b, e->in[3]);
  damo_var *product = a != NULL && x != NULL ? build_dot(b, a, x) : NULL;
  return e->moduli ? build_add(b, product, rhs) : build_sub(b, product, rhs);
}
const op_check rect_gap_check = {.dense_equal = equal_gap};
