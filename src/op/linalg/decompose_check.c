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
#include "graph/op_check.h"

#define EXAM_MOST_PRODUCTS (1 << 24) /* multiplications of one check */

/* An entry of the stack: the matrices of operands and results. */
typedef struct exam_entry {
  const op_exam *e;
  const core_shape *shape;
  const char *in[CORE_MOST], *out[CORE_MOST];
  double error, products;
  bool unknown;
} exam_entry;

static const damo_array *exam_operand(const op_exam *e, int i) { return (const damo_array *)e->values[i]; }
static const damo_array *exam_result(const op_exam *e, int o) { return (const damo_array *)e->results[o]; }

/* A matrix as a function of row and column: of an operand or a result, transposed or in part. */
typedef struct exam_mat {
  const char *data;
  damo_dtype dtype;
  int64_t rows, cols, rs, cs;
  bool conjugated, unit;
  int triangle; /* -1 the lower, 1 the upper one, 0 all */
} exam_mat;

static exam_mat exam_mat_of(const damo_array *a, int rank, const char *data) {
  const int n = a->ndim;
  exam_mat m = {.data = data, .dtype = array_dtype(a), .rows = 1, .cols = 1};
  if (rank == 2) m.cols = array_shape(a)[n - 1], m.cs = array_strides(a)[n - 1];
  if (rank >= 1) m.rows = array_shape(a)[n - rank], m.rs = array_strides(a)[n - rank];
  return m;
}
static exam_mat exam_in(const exam_entry *x, int i) {
  return exam_mat_of(exam_operand(x->e, i), x->shape->in[i].rank, x->in[i]);
}
static exam_mat exam_out(const exam_entry *x, int o) {
  return exam_mat_of(exam_result(x->e, o), x->shape->out[o].rank, x->out[o]);
}
static exam_mat exam_system(exam_mat m, char system) {
  if (system == 'n') return m;
  const exam_mat was = m;
  m.rows = was.cols, m.cols = was.rows, m.rs = was.cs, m.cs = was.rs, m.triangle = -was.triangle;
  m.conjugated = was.conjugated != (system == 'h');
  return m;
}

static damo_c128 exam_at(const exam_mat *m, int64_t i, int64_t j) {
  if (m->triangle * (j - i) < 0) return (damo_c128){0, 0};
  if (m->unit && i == j) return (damo_c128){1, 0};
  const scalar v = scalar_cast(scalar_load(m->dtype, m->data + i * m->rs + j * m->cs), DAMO_COMPLEX128);
  return (damo_c128){v.v.c.re, m->conjugated ? -v.v.c.im : v.v.c.im};
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
  double apart = 0, size = 0;
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
  const core_shape *s = x.shape;
  const damo_array *first = exam_result(e, 0);
  const int lead = first->ndim - s->out[0].rank;
  int64_t rows = 1, index[DAMO_MAX_NDIM];
  for (int i = 0; i < e->node->n_in; i++) {
    if (!exam_is_small(e->values[i])) return -1;
  }
  for (int d = 0; d < lead; d++) rows *= array_shape(first)[d];
  for (int64_t row = 0; row < rows && !x.unknown; row++) {
    int64_t rest = row;
    for (int d = lead - 1; d >= 0; d--) index[d] = rest % array_shape(first)[d], rest /= array_shape(first)[d];
    for (int k = 0; k < s->n_in + s->n_out; k++) {
      const bool is_in = k < s->n_in;
      const damo_array *a = is_in ? exam_operand(e, k) : exam_result(e, k - s->n_in);
      const int own = a->ndim - (is_in ? s->in[k].rank : s->out[k - s->n_in].rank);
      const char *p = a->data;
      for (int d = 0; d < own; d++) p += array_shape(a)[d] == 1 ? 0 : index[d + lead - own] * array_strides(a)[d];
      *(is_in ? &x.in[k] : &x.out[k - s->n_in]) = p;
    }
    check(&x);
  }
  return x.unknown ? -1 : x.error;
}

/* ---- The classes ------------------------------------------------------------------------------------------------- */

static void cholesky_exam(exam_entry *x) {
  const bool lower = OP_PROPS(x->e->node->op, cholesky_props)->lower.u.i != 0;
  exam_mat f = exam_out(x, 0), a = exam_in(x, 0);
  f.triangle = lower ? -1 : 1;
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
