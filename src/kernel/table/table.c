/* table: axes of grids, weights, splines; table_body.h has the loops over queries. */
#include "table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

/* Sets per_step where no point is further than a quarter of a step from an evenly spaced one: table_cell_near is then off
 * by one at most, after rounding too, and table_cell compares with the points themselves. */
static void table_find_step(table_axis *a) {
  const double *p = a->points, h = (p[a->n - 1] - p[0]) / (double)(a->n - 1);
  const double slack = 4 * DBL_EPSILON * (fabs(p[0]) > fabs(p[a->n - 1]) ? fabs(p[0]) : fabs(p[a->n - 1]));
  double worst = 0;
  if (!(h > 0) || isinf(h) || isinf(1 / h)) return;
  for (int64_t k = 1; k < a->n - 1; k++) {
    const double off = fabs(p[k] - (p[0] + (double)k * h));
    worst = off > worst ? off : worst;
  }
  if (worst > 0.25 * h) return;
  a->per_step = 1 / h;
  a->even = worst <= slack && slack < 1e-3 * h;
}

bool table_axis_init(table_axis *a, const double *points, int64_t n) {
  *a = (table_axis){.points = points, .n = n};
  for (int64_t k = 0; k < n; k++) {
    if (!isfinite(points[k]) || (k > 0 && !(points[k - 1] < points[k]))) return false;
  }
  if (n > 2) table_find_step(a);
  return true;
}

void table_set_strides(table_reader *t) {
  int64_t stride = t->trailing;
  for (int a = t->n_axes - 1; a >= 0; a--) {
    t->stride[a] = stride;
    stride *= t->axis[a].n;
  }
}

/* ---- B-splines --------------------------------------------------------------------------------------------------- */

/* The knot number j of the cubic splines over n points with not-a-knot ends: the first and the last point four times, and
 * between them all points but the second and the last but one. */
static double spline_knot(const table_axis *a, int64_t j) {
  return j < 4 ? a->points[0] : j < a->n ? a->points[j - 2] : a->points[a->n - 1];
}

/* The four B-splines that are not 0 in the cell, or their derivatives of that order, at x, into w; returns the number of
 * the first. By the recurrences of de Boor, A Practical Guide to Splines (2001), chapter X: values of degree 3 - order, then
 * order times D N_j,k = k (N_j,k-1 / (t_j+k - t_j) - N_j+1,k-1 / (t_j+k+1 - t_j+1)). */
static int64_t spline_weights(const table_axis *a, int64_t cell, double x, int order, double *w) {
  int64_t knot = cell + 2; /* t_knot <= x < t_knot+1 */
  knot = knot < 3 ? 3 : knot > a->n - 1 ? a->n - 1 : knot;
  memset(w, 0, 4 * sizeof *w);
  if (order > 3) return knot - 3;
  const int degree = 3 - order;
  double t[8]; /* t[3 + k] is knot number knot + k */
  for (int k = -3; k <= 4; k++) t[3 + k] = spline_knot(a, knot + k);
  w[3] = 1; /* degree 0; w[3 - k + j]: spline number knot - k + j of degree k */
  for (int k = 1; k <= degree; k++) {
    double carried = 0;
    for (int j = 0; j < k; j++) {
      const double high = t[4 + j], low = t[4 + j - k], part = w[3 - k + 1 + j] / (high - low);
      w[3 - k + j] = carried + (high - x) * part;
      carried = (x - low) * part;
    }
    w[3] = carried;
  }
  for (int k = degree + 1; k <= 3; k++) {
    double carried = 0;
    for (int j = 0; j < k; j++) {
      const double part = k * w[3 - k + 1 + j] / (t[4 + j] - t[4 + j - k]);
      w[3 - k + j] = carried - part;
      carried = part;
    }
    w[3] = carried;
  }
  return knot - 3;
}

/* Row i of the factor holds columns i - 2 … i + 2: below the diagonal L, whose diagonal is 1, from the diagonal on U. The
 * matrix is totally positive, so that elimination without pivots is stable (de Boor, chapter XIII). */
void spline_factor(const table_axis *a, double *factor) {
  const int64_t n = a->n;
  memset(factor, 0, (size_t)SPLINE_FACTOR(n) * sizeof *factor);
  for (int64_t i = 0; i < n; i++) {
    double w[4];
    const int64_t first = spline_weights(a, i < n - 1 ? i : n - 2, a->points[i], 0, w);
    for (int k = 0; k < 4; k++) {
      const int64_t at = first + k - i + 2;
      if (at >= 0 && at < 5) factor[5 * i + at] = w[k];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t below = i + 1; below <= i + 2 && below < n; below++) {
      double *row = factor + 5 * below + (2 - below); /* row[j]: column j */
      const double *top = factor + 5 * i + (2 - i), by = row[i] / top[i];
      row[i] = by;
      for (int64_t j = i + 1; j <= i + 2 && j < n; j++) row[j] -= by * top[j];
    }
  }
}

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

static int table_width(table_kind kind) { return kind == TABLE_SPLINE ? 4 : kind == TABLE_LINEAR ? 2 : 1; }

/* The weights, differentiated `order` times, and the first point that they belong to. */
static int64_t table_weights(table_kind kind, const table_axis *a, double x, int order, double *w) {
  const int64_t cell = table_cell(a, x);
  const double *p = a->points + cell;
  if (kind == TABLE_SPLINE) return spline_weights(a, cell, x, order, w);
  if (kind == TABLE_NEAREST) {
    w[0] = order == 0;
    return cell + (a->n > 1 && x - p[0] > 0.5 * (p[1] - p[0]));
  }
  const double h = p[1] - p[0], t = (x - p[0]) / h;
  w[0] = order == 0 ? 1 - t : order == 1 ? -1 / h : 0;
  w[1] = order == 0 ? t : order == 1 ? 1 / h : 0;
  return cell;
}

/* What a query has for all its results: the first of its points in the table, and the weights of each axis and order. */
#define TABLE_MOST_ORDERS 5 /* 0 … 4: a cubic's fourth derivative, and all beyond it, is 0 */
typedef enum table_state { QUERY_INSIDE, QUERY_FILLED, QUERY_NAN } table_state;
typedef struct table_query {
  int64_t first;
  double w[TABLE_MAX_AXES][TABLE_MOST_ORDERS][TABLE_MOST_WEIGHTS];
} table_query;

static int table_order_at(const table_reader *t, int result, int axis) {
  const int order = t->orders[result * t->n_axes + axis];
  return order < TABLE_MOST_ORDERS ? order : TABLE_MOST_ORDERS - 1;
}

/* The orders that some result has along each axis, as bits. */
static void table_orders_used(const table_reader *t, uint8_t *used) {
  memset(used, 0, TABLE_MAX_AXES);
  for (int r = 0; r < t->n_orders; r++) {
    for (int a = 0; a < t->n_axes; a++) used[a] |= (uint8_t)(1 << table_order_at(t, r, a));
  }
}

static table_state table_query_axis(const table_reader *t, int a, double x, uint8_t used, table_query *q) {
  const table_axis *axis = &t->axis[a];
  const double low = axis->points[0], high = axis->points[axis->n - 1];
  const bool outside = x < low || x > high;
  if (x != x) return QUERY_NAN;
  if (outside && t->outside == TABLE_FILL) return QUERY_FILLED;
  if (outside && t->outside == TABLE_CLIP) x = x < low ? low : high;
  int64_t first = 0;
  for (int order = 0; order < TABLE_MOST_ORDERS; order++) {
    if (!(used >> order & 1)) continue;
    first = table_weights(t->kind, axis, x, order, q->w[a][order]);
    if (order > 0 && outside && t->outside == TABLE_CLIP) memset(q->w[a][order], 0, sizeof q->w[a][order]);
  }
  q->first += first * t->stride[a];
  return QUERY_INSIDE;
}

/* The points of a query in the table, as offsets from its first one, and for each result the products of their weights. */
#define TABLE_MOST_POINTS 1024
static int table_point_count(const table_reader *t) {
  int n = 1;
  for (int a = 0; a < t->n_axes; a++) n *= table_width(t->kind);
  return n;
}

static void table_point_offsets(const table_reader *t, int64_t *offset) {
  const int width = table_width(t->kind);
  int n = 1;
  offset[0] = 0;
  for (int a = t->n_axes - 1; a >= 0; a--) {
    for (int k = width - 1; k >= 0; k--) {
      for (int c = 0; c < n; c++) offset[k * n + c] = offset[c] + k * t->stride[a];
    }
    n *= width;
  }
}

static void table_point_weights(const table_reader *t, const table_query *q, int result, double *weight) {
  const int width = table_width(t->kind);
  int n = 1;
  weight[0] = 1;
  for (int a = t->n_axes - 1; a >= 0; a--) {
    const double *w = q->w[a][table_order_at(t, result, a)];
    for (int k = width - 1; k >= 0; k--) {
      for (int c = 0; c < n; c++) weight[k * n + c] = weight[c] * w[k];
    }
    n *= width;
  }
}

static bool table_orders_are_zero(const table_reader *t) {
  for (int k = 0; k < t->n_orders * t->n_axes; k++) {
    if (t->orders[k] != 0) return false;
  }
  return t->n_orders == 1;
}

/* One result for each axis, its first derivative. */
static bool table_orders_are_slopes(const table_reader *t) {
  for (int r = 0; r < t->n_orders; r++) {
    for (int a = 0; a < t->n_axes; a++) {
      if (t->orders[r * t->n_axes + a] != (r == a)) return false;
    }
  }
  return t->n_orders == t->n_axes;
}

static bool table_result_is_value(const table_reader *t, int result) {
  for (int a = 0; a < t->n_axes; a++) {
    if (t->orders[result * t->n_axes + a] != 0) return false;
  }
  return true;
}

#define T float
#define SUFFIX _f32
#include "table_body.h"
#define T double
#define SUFFIX _f64
#include "table_body.h"

#undef PASTE
#undef PASTE_
#undef TABLE_MOST_ORDERS
#undef TABLE_MOST_POINTS
