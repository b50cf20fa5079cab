/* debug_solve.c: what DEBUG mode makes of Ops on factors of small matrices: the residuals of solutions in dense
 * products, determinants and inverses by elimination with dense rows.
 *
 * Everything is computed in complex128 by plain loops. A verdict is a number that is 0 but for rounding: an error as
 * a part of the terms that it is made of. Matrices so near to singular ones that a determinant or an inverse has few
 * digits are passed over, and so are results without the matrix that the factor was made from.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "debug_sparse.h"

/* The longest axis of what is eliminated, the products of a residual, the least reciprocal condition number. */
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

static damo_c128 c128_times(damo_c128 x, damo_c128 y) {
  return (damo_c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
static damo_c128 c128_minus(damo_c128 x, damo_c128 y) { return (damo_c128){x.re - y.re, x.im - y.im}; }
static damo_c128 c128_over(damo_c128 x, damo_c128 y) {
  const double size = hypot(y.re, y.im);
  const damo_c128 unit = {y.re / size, -y.im / size}, z = c128_times(x, unit);
  return (damo_c128){z.re / size, z.im / size};
}
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

/* m turned ('t'), conjugated and turned ('h'), or as it is ('n'). */
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
            c128_minus(*c128_entry(&out, i, j), c128_times((damo_c128){-f.re, -f.im}, *c128_entry(y, k, j)));
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

/* By Gauss and Jordan: m becomes the identity, x, of as many rows, m⁻¹·x. The determinant of m; sign 0 where m is
 * singular. */
static c128_determinant eliminate(c128_matrix *m, c128_matrix *x) {
  c128_determinant det = {0, {1, 0}};
  for (int64_t c = 0; c < m->rows; c++) {
    const int64_t best = pivot_of(m, c);
    const damo_c128 pivot = *c128_entry(m, best, c);
    const double size = c128_abs(pivot);
    if (!(size > 0)) return (c128_determinant){-INFINITY, {0, 0}};
    det.log_abs += log(size);
    det.sign = c128_times(det.sign, (damo_c128){pivot.re / size, pivot.im / size});
    if (best != c) det.sign = (damo_c128){-det.sign.re, -det.sign.im};
    swap_rows(m, c, best);
    swap_rows(x, c, best);
    for (int64_t j = 0; j < m->cols; j++) *c128_entry(m, c, j) = c128_over(*c128_entry(m, c, j), pivot);
    for (int64_t j = 0; j < x->cols; j++) *c128_entry(x, c, j) = c128_over(*c128_entry(x, c, j), pivot);
    for (int64_t i = 0; i < m->rows; i++) {
      const damo_c128 f = *c128_entry(m, i, c);
      if (i == c || (f.re == 0 && f.im == 0)) continue;
      for (int64_t j = 0; j < m->cols; j++)
        *c128_entry(m, i, j) = c128_minus(*c128_entry(m, i, j), c128_times(f, *c128_entry(m, c, j)));
      for (int64_t j = 0; j < x->cols; j++)
        *c128_entry(x, i, j) = c128_minus(*c128_entry(x, i, j), c128_times(f, *c128_entry(x, c, j)));
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
  const thunk *t;
  const frame *f;
  damo_obj *const *inputs; /* as they were before the run */
  c128_matrix a, b, x, y;  /* owned: A, the other operand, the outputs */
  double tolerance;        /* of a verdict */
  double smallest;         /* normal number of the result's dtype: what is less has few digits */
} solution_exam;

/* How far from right the result is, as a part of its terms; below 0: there is no telling. */
typedef double (*solution_judge)(solution_exam *e);

static bool is_positive(const solution_exam *e) {
  const prop_value *v = op_prop(e->t->node->op, "positive");
  return v->kind == PROP_BOOL && v->u.i != 0;
}

static bool is_large(const c128_matrix *m, int64_t columns) {
  return (double)m->rows * (double)m->cols * (double)columns > SOLUTION_MOST_PRODUCTS;
}

static double relative_error(double error, double whole) { return error > 0 ? error / whole : error; }

/* How large a result must be taken for, by which its rounding is judged. */
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
  const bool single = e->tolerance > 1e-5;
  return isnormal(size) && (!single || (size > FLT_MIN && size < FLT_MAX))
             ? relative_error(c128_abs(c128_minus(*c128_entry(&e->x, 0, 0), want)), size)
             : -1;
}

/* The largest difference of the node's vector from the entries (j, i) of m, for the stored places (i, j) of p. */
static double distance_at_places(const solution_exam *e, const c128_matrix *m, const damo_sparse *p) {
  double most = 0;
  for (int64_t major = 0; major < sparse_major(p); major++) {
    for (int64_t k = debug_int_at(p->indptr, major); k < debug_int_at(p->indptr, major + 1); k++) {
      const int64_t minor = debug_int_at(p->indices, k);
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
      relative_error(distance_at_places(e, &inverse, (const damo_sparse *)e->inputs[2]), size_in(e, &inverse));
  damo_release(inverse.a);
  return result;
}

static double judge_sandwich(solution_exam *e) {
  c128_determinant det = {0, {0, 0}};
  c128_matrix inverse = c128_matrix_inverse(&e->a, &det), left = c128_matrix_product(&inverse, &e->b),
              all = c128_matrix_product(&left, &inverse);
  double result = -1;
  if (all.a != NULL)
    result = relative_error(distance_at_places(e, &all, (const damo_sparse *)e->inputs[3]),
                            fmax(c128_matrix_max(&left) * c128_matrix_max(&inverse), e->smallest));
  damo_release(inverse.a);
  damo_release(left.a);
  damo_release(all.a);
  return result;
}

/* What of v is not in the range of m, whose columns are independent: v - m·(mᴴ·m)⁻¹·mᴴ·v. */
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

/* h = mᴴ takes m·x - b to 0, and x is in its range where it is to have minimum norm. */
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
  return factor_rank((const damo_factor *)e->inputs[0]) == (m->rows < m->cols ? m->rows : m->cols);
}

/* With a rectangular matrix m, turned as asked for. With less than full rank the turned systems are passed over. */
static double residual_least(const solution_exam *e, const c128_matrix *m, char system) {
  const bool full = has_full_rank(e, m);
  if (!full && system != 'n') return -1;
  c128_matrix h = c128_matrix_transposed(m, 'h');
  const double result = h.a != NULL ? normal_equations(e, m, &h, full && m->cols > m->rows) : -1;
  damo_release(h.a);
  return result;
}

/* op(A)·x - b */
static double judge_solve(solution_exam *e) {
  const prop_value *v = op_prop(e->t->node->op, "system");
  const char system = v->kind == PROP_STR ? v->u.s[0] : 'n';
  if (is_large(&e->a, e->x.cols) || e->x.cols != e->b.cols) return -1; /* columns that do not count */
  c128_matrix a = c128_matrix_transposed(&e->a, system), back = {.a = NULL};
  double result = -1;
  if (a.a != NULL && a.rows != a.cols) {
    result = residual_least(e, &a, system);
  } else if (a.a != NULL) {
    back = c128_matrix_product(&a, &e->x);
    if (back.a != NULL)
      result = relative_error(c128_matrix_distance(&back, &e->b),
                              (double)a.cols * c128_matrix_max(&a) * size_in(e, &e->x) + c128_matrix_max(&e->b));
  }
  damo_release(a.a);
  damo_release(back.a);
  return result;
}

/* The residual is b - A·x, and Aᴴ takes it to 0; x is in Aᴴ's range where it is to have minimum norm. */
static double judge_least(solution_exam *e) {
  if (is_large(&e->a, e->x.cols)) return -1;
  const bool short_one = factor_get_info((const damo_factor *)e->inputs[0]).minimum_norm;
  c128_matrix h = c128_matrix_transposed(&e->a, 'h'), moved = c128_matrix_product(&e->a, &e->x), sum = {.a = NULL},
              normal = c128_matrix_product(&h, &e->y);
  const double scale = (double)e->a.cols * c128_matrix_max(&e->a) * size_in(e, &e->x) + size_in(e, &e->b);
  double result = -1;
  if (moved.a != NULL) sum = c128_matrix_transposed(&e->b, 'n');
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

/* w = A⁺ᴴ·g: A takes Aᴴ·w - g to 0, and w is in A's range. Basic solutions leave unknowns out and are passed over. */
static double judge_least_adjoint(solution_exam *e) {
  const c128_matrix *a = &e->a;
  if (!has_full_rank(e, a) || is_large(a, e->x.cols)) return -1;
  c128_matrix h = c128_matrix_transposed(a, 'h');
  const double result = h.a != NULL ? normal_equations(e, &h, a, a->rows >= a->cols) : -1;
  damo_release(h.a);
  return result;
}

/* (F, A, operand …): with `eliminates`, A is inverted, so it is small; b: the input that is loaded as operand, or
 * none. */
static const struct {
  const char *op, *what;
  solution_judge judge;
  bool eliminates;
  int n_in, b;
} solution_judges[] = {
    {"FactorSolve", "A x is apart from the right side", judge_solve, false, 3, 2},
    {"FactorLogdet", "elimination gives another determinant, apart", judge_logdet, true, 2, 0},
    {"FactorDet", "elimination gives another determinant, apart", judge_det, true, 2, 0},
    {"FactorInverse", "elimination gives another inverse, apart", judge_inverse, true, 3, 0},
    {"FactorSandwich", "elimination gives another inverse, apart", judge_sandwich, true, 4, 2},
    {"FactorLeast", "the residual or the normal equations are off", judge_least, false, 3, 2},
    {"FactorLeastAdjoint", "the normal equations are off", judge_least_adjoint, false, 3, 2},
};

static bool result_is_single(const damo_apply *node) {
  const damo_dtype dt = var_dtype(node->out[0]);
  return dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64;
}

/* False: something is too large, or has no memory. */
static bool solution_load(solution_exam *e, bool eliminates, int b) {
  const thunk *t = e->t;
  if (!debug_is_small(e->inputs[1]) || (b > 0 && !debug_is_small(e->inputs[b])) ||
      !debug_is_small(thunk_result(t, e->f, 0)))
    return false;
  if (eliminates && ((const damo_sparse *)e->inputs[1])->shape[0] > SOLUTION_MOST_ROWS) return false;
  e->a = c128_matrix_from(e->inputs[1]);
  e->x = c128_matrix_from(thunk_result(t, e->f, 0));
  if (b > 0) e->b = c128_matrix_from(e->inputs[b]);
  if (t->n_out > 1) e->y = c128_matrix_from(thunk_result(t, e->f, 1));
  if (e->a.a != NULL && is_positive(e)) c128_matrix_make_hermitian(&e->a);
  return e->a.a != NULL && e->x.a != NULL && (b == 0 || e->b.a != NULL) && (t->n_out == 1 || e->y.a != NULL);
}

damo_status debug_solution(const thunk *t, frame *f, damo_obj *const *inputs) {
  size_t k = 0, n = sizeof solution_judges / sizeof *solution_judges;
  while (k < n && !op_is(t->node->op, solution_judges[k].op)) k++;
  if (k == n || t->n_in != solution_judges[k].n_in) return DAMO_OK;
  const bool single = result_is_single(t->node);
  solution_exam e = {
      .t = t, .f = f, .inputs = inputs, .tolerance = single ? 1e-3 : 1e-6, .smallest = single ? FLT_MIN : DBL_MIN};
  double off = -1;
  if (solution_load(&e, solution_judges[k].eliminates, solution_judges[k].b)) off = solution_judges[k].judge(&e);
  damo_release(e.a.a);
  damo_release(e.b.a);
  damo_release(e.x.a);
  damo_release(e.y.a);
  if (damo_error_status(f->ctx) != DAMO_OK) ctx_clear_error(f->ctx); /* no memory to look into it */
  if (!(off > e.tolerance)) return DAMO_OK;
  return ctx_fail(f->ctx, DAMO_EINCONSISTENCY, "DEBUG: output 1 is wrong by dense arithmetic: %s by %.2g of its terms",
                  solution_judges[k].what, off);
}
