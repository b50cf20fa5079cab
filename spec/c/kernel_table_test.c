/* Tables over grids: cells against a plain search, splines against the cubics that they reproduce, and the adjoint of
 * reading. */
#include <math.h>
#include <stdlib.h>

#include "kernel/table/table.h"
#include "test.h"

static uint64_t table_seed = 88172645463325252u;
static double draw_unit(void) {
  table_seed ^= table_seed << 13;
  table_seed ^= table_seed >> 7;
  table_seed ^= table_seed << 17;
  return (double)(table_seed >> 11) * 0x1p-53;
}

/* Ascending points: even, nearly even, or of any distances. */
static void draw_points(double *p, int64_t n, int kind) {
  p[0] = 3 * draw_unit() - 1;
  const double step = 0.1 + draw_unit();
  for (int64_t k = 1; k < n; k++)
    p[k] = kind == 0 ? p[0] + (double)k * step
                     : p[k - 1] + step * (kind == 1 ? 0.95 + 0.1 * draw_unit() : 0.01 + draw_unit());
}

static int64_t plain_cell(const double *p, int64_t n, double x) {
  int64_t i = 0;
  while (i < n - 2 && p[i + 1] <= x) i++;
  return i;
}

static void test_cells(void) {
  double p[40];
  for (int round = 0; round < 300; round++) {
    const int64_t n = 2 + (int64_t)(38 * draw_unit());
    table_axis a;
    draw_points(p, n, round % 3);
    CHECK(table_axis_init(&a, p, n));
    if (round % 3 == 0 && n > 2) CHECK(a.even && a.per_step > 0);
    bool same = true;
    for (int k = 0; k < 200; k++) {
      double x = p[0] - 1 + (p[n - 1] - p[0] + 2) * draw_unit();
      if (k % 3 == 0) x = p[k % n];
      if (k % 7 == 0) x = nextafter(p[k % n], k % 2 ? INFINITY : -INFINITY);
      same = same && table_cell(&a, x) == plain_cell(p, n, x);
    }
    CHECK(same);
    CHECK(table_cell(&a, INFINITY) == n - 2 && table_cell(&a, -INFINITY) == 0 && table_cell(&a, NAN) == 0);
  }
  table_axis a;
  CHECK(!table_axis_init(&a, (double[]){0, 1, 1}, 3));
  CHECK(!table_axis_init(&a, (double[]){0, NAN, 1}, 3));
  CHECK(!table_axis_init(&a, (double[]){0, 1, INFINITY}, 3));
}

static double cubic_at(double x, int order) {
  static const double c[4] = {0.3, -1.2, 0.7, 0.25};
  return order == 0   ? ((c[3] * x + c[2]) * x + c[1]) * x + c[0]
         : order == 1 ? (3 * c[3] * x + 2 * c[2]) * x + c[1]
         : order == 2 ? 6 * c[3] * x + 2 * c[2]
         : order == 3 ? 6 * c[3]
                      : 0;
}

static void test_splines(void) {
  double p[20], v[20], factor[SPLINE_FACTOR(20)];
  for (int round = 0; round < 60; round++) {
    const int64_t n = 4 + (int64_t)(16 * draw_unit());
    const int8_t orders[] = {0, 1, 2, 3, 4};
    table_reader t = {.kind = TABLE_SPLINE, .n_axes = 1, .n_orders = 5, .orders = orders, .trailing = 1};
    draw_points(p, n, round % 3);
    table_axis_init(&t.axis[0], p, n);
    table_set_strides(&t);
    for (int64_t k = 0; k < n; k++) v[k] = cubic_at(p[k], 0);
    spline_factor(&t.axis[0], factor);
    spline_solve_f64(factor, n, false, v, 1, 1);
    for (int k = 0; k < 20; k++) {
      const double x = k < n ? p[k] : p[0] - 0.5 + (p[n - 1] - p[0] + 1) * draw_unit();
      double y[5], worst = 0;
      table_read_f64(&t, v, &x, y, 1);
      for (int order = 0; order < 5; order++) {
        const double off = fabs(y[order] - cubic_at(x, order)) / (1 + fabs(cubic_at(x, order)));
        worst = off > worst ? off : worst;
      }
      CHECK(worst < 1e-6); /* a third derivative over points 0.01 apart loses 6 digits */
    }
  }
}

/* Σ y g for y = read(table) is Σ table h for h = add(g), for each kind, outside, number of axes and of trailing values;
 * also with slopes. */
static void test_adjoint(void) {
  enum { QUERIES = 23 };
  static double table[6 * 5 * 4 * 6 * 2], h[6 * 5 * 4 * 6 * 2], x[QUERIES * 4], y[QUERIES * 4 * 2], g[QUERIES * 4 * 2];
  static const int64_t lengths[] = {6, 5, 4, 6};
  double p[4][6];
  for (int round = 0; round < 200; round++) {
    const int d = 1 + round % 4;
    const bool slopes = round % 5 == 0;
    int8_t orders[16] = {0};
    for (int a = 0; slopes && a < d; a++) orders[a * d + a] = 1;
    table_reader t = {.kind = (table_kind)(round / 4 % 3),
                      .outside = (table_outside)(round / 12 % 3),
                      .n_axes = d,
                      .n_orders = slopes ? d : 1,
                      .orders = orders,
                      .trailing = 1 + round % 2};
    int64_t size = t.trailing;
    for (int a = 0; a < d; a++) {
      draw_points(p[a], lengths[a], (round + a) % 3);
      table_axis_init(&t.axis[a], p[a], lengths[a]);
      size *= lengths[a];
    }
    table_set_strides(&t);
    const int64_t results = QUERIES * t.n_orders * t.trailing;
    for (int64_t k = 0; k < size; k++) table[k] = draw_unit() - 0.5, h[k] = 0;
    for (int64_t k = 0; k < results; k++) g[k] = draw_unit() - 0.5;
    for (int k = 0; k < QUERIES * d; k++)
      x[k] = p[k % d][0] - 0.2 + (p[k % d][lengths[k % d] - 1] - p[k % d][0] + 0.4) * draw_unit();
    table_read_f64(&t, table, x, y, QUERIES);
    table_add_f64(&t, h, x, g, QUERIES);
    double read = 0, added = 0, most = 1;
    for (int64_t k = 0; k < results; k++) read += y[k] * g[k], most += fabs(y[k]);
    for (int64_t k = 0; k < size; k++) added += table[k] * h[k];
    CHECK(fabs(read - added) < 1e-12 * most);
  }
}

int main(void) {
  test_cells();
  test_splines();
  test_adjoint();
  TEST_MAIN_END;
}
