/* table: reading tables of numbers over rectangular grids, between their points, and the adjoint of it.
 *
 * A table has a value, or a row of `trailing` values, at each point of a grid of up to TABLE_MAX_AXES axes, C-contiguous. A
 * query is a point in the grid's space. Along each axis a method gives weights for one, two or four neighbouring points;
 * the result is the sum over their products. A weight may be differentiated along its axis, any number of times: `orders`
 * has one such multi-index for each result of a query.
 *
 * Raw pointers; no allocation, no failure.
 */
#ifndef DAMO_KERNEL_TABLE_H
#define DAMO_KERNEL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define TABLE_MAX_AXES 5
#define TABLE_MOST_WEIGHTS 4

typedef enum table_kind {
  TABLE_NEAREST, /* the nearer point, halfway the lower one */
  TABLE_LINEAR,  /* the two ends of the cell */
  TABLE_SPLINE   /* coefficients of the cubic B-splines with not-a-knot ends */
} table_kind;

/* What a query outside the grid gives. A query with a nan gives nan in all cases. */
typedef enum table_outside {
  TABLE_EXTRAPOLATE, /* what the outermost cell's formula gives */
  TABLE_CLIP,        /* what the nearest point of the grid gives: derivatives along an axis that was clipped are 0 */
  TABLE_FILL         /* `fill`, whose derivatives are 0 */
} table_outside;

typedef struct table_axis {
  const double *points; /* ascending */
  int64_t n;
  double
      per_step; /* 1 / the distance of the points where that is about one, so that a cell is found by arithmetic; else 0 */
  bool even;    /* they are evenly spaced but for rounding */
} table_axis;

/* Sets up the axis; false unless the points are finite and ascend. */
bool table_axis_init(table_axis *a, const double *points, int64_t n);

/* The cell of x by arithmetic, n > 2: table_cell, or within rounding of a point the cell on its other side; where the
 * points are not even, one off at most. */
static inline int64_t table_cell_near(const table_axis *a, double x) {
  const double top = (double)(a->n - 2);
  double f = (x - a->points[0]) * a->per_step;
  f = f > 0 ? f : 0; /* of nan too */
  return (int64_t)(f < top ? f : top);
}

/* The cell i of x, 0 … n - 2: points[i] <= x < points[i + 1], the outermost cells beyond the ends; 0 of nan. */
static inline int64_t table_cell(const table_axis *a, double x) {
  const double *p = a->points;
  const int64_t top = a->n - 2;
  int64_t i = 0;
  if (top <= 0) return 0;
  if (a->per_step > 0) {
    i = table_cell_near(a, x);
    i -= (x < p[i]) & (i > 0);
    return i + ((x >= p[i + 1]) & (i < top));
  }
  for (int64_t n = top + 1; n > 1;) { /* the last of n cells from i on whose lower end is at most x */
    const int64_t half = n / 2;
    i = x >= p[i + half] ? i + half : i;
    n -= half;
  }
  return i;
}

typedef struct table_reader {
  table_kind kind;
  table_outside outside;
  double fill;
  int n_axes, n_orders;
  const int8_t *orders; /* n_orders rows of n_axes */
  int64_t trailing;
  table_axis axis[TABLE_MAX_AXES];
  int64_t stride[TABLE_MAX_AXES]; /* of the table's axes, in elements */
} table_reader;

/* The strides of a C-contiguous table. */
void table_set_strides(table_reader *t);

/* The first of n queries with a coordinate outside the grid, or nan, and its axis; -1: there is none. */
int64_t table_find_outside_f32(const table_reader *t, const float *x, int64_t n, int *axis);
int64_t table_find_outside_f64(const table_reader *t, const double *x, int64_t n, int *axis);
/* y[q][order][…] of n queries x[q][axis]. */
void table_read_f32(const table_reader *t, const float *table, const float *x, float *y, int64_t n);
void table_read_f64(const table_reader *t, const double *table, const double *x, double *y, int64_t n);
/* The adjoint: adds each g[q][order][…] to the table's values that y[q][order][…] is read from, times their weights. */
void table_add_f32(const table_reader *t, float *table, const float *x, const float *g, int64_t n);
void table_add_f64(const table_reader *t, double *table, const double *x, const double *g, int64_t n);

/* ---- Coefficients of cubic splines ------------------------------------------------------------------------------- */

/* Numbers that spline_factor writes for n points. */
#define SPLINE_FACTOR(n) (5 * (n))

/* The factors of the matrix of the n >= 4 cubic B-splines with not-a-knot ends at the n points. */
void spline_factor(const table_axis *a, double *factor);
/* Solves in place for each of `outer` blocks of n rows of `inner` numbers: values at the points become coefficients. With
 * `transpose` the same with the transposed matrix. */
void spline_solve_f32(const double *factor, int64_t n, bool transpose, float *v, int64_t outer, int64_t inner);
void spline_solve_f64(const double *factor, int64_t n, bool transpose, double *v, int64_t outer, int64_t inner);

#endif
