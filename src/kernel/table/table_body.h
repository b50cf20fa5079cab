/* table_body: the loops over queries and splines' right sides, of float32 or float64 numbers. Included with T, SUFFIX. */

#define NAME(name) PASTE(name, SUFFIX)
#define CONSTANT_AXES static inline __attribute__((always_inline))

int64_t NAME(table_find_outside)(const table_reader *t, const T *x, int64_t n, int *axis) {
  const int d = t->n_axes;
  for (int64_t q = 0; q < n; q++) {
    bool inside = true;
    for (int a = 0; a < d; a++) {
      const double *p = t->axis[a].points, at = x[q * d + a];
      inside &= (at >= p[0]) & (at <= p[t->axis[a].n - 1]);
    }
    if (inside) continue;
    for (*axis = 0; *axis < d; ++*axis) {
      const table_axis *a = &t->axis[*axis];
      if (!(x[q * d + *axis] >= a->points[0] && x[q * d + *axis] <= a->points[a->n - 1])) return q;
    }
  }
  return -1;
}

/* ---- Linear tables of single values ------------------------------------------------------------------------------ */

/* The sum over the corners of the cell whose lowest corner is v, over one, two or three axes; low and high: the weights of
 * an axis's two ends. */
CONSTANT_AXES double NAME(in_line)(const T *v, const int64_t *s, const double *low, const double *high) {
  return v[0] * low[0] + v[s[0]] * high[0];
}
CONSTANT_AXES double NAME(in_plane)(const T *v, const int64_t *s, const double *low, const double *high) {
  return NAME(in_line)(v, s + 1, low + 1, high + 1) * low[0] +
         NAME(in_line)(v + s[0], s + 1, low + 1, high + 1) * high[0];
}
CONSTANT_AXES double NAME(in_box)(const T *v, const int64_t *s, const double *low, const double *high) {
  return NAME(in_plane)(v, s + 1, low + 1, high + 1) * low[0] +
         NAME(in_plane)(v + s[0], s + 1, low + 1, high + 1) * high[0];
}
CONSTANT_AXES T NAME(in_cell)(const T *v, const int64_t *s, const double *low, const double *high, int d) {
  return (T)(d == 1   ? NAME(in_line)(v, s, low, high)
             : d == 2 ? NAME(in_plane)(v, s, low, high)
                      : NAME(in_box)(v, s, low, high));
}

/* Adds g times the weights to the corners. */
CONSTANT_AXES void NAME(to_line)(T *v, const int64_t *s, const double *low, const double *high, double g) {
  v[0] += (T)(g * low[0]);
  v[s[0]] += (T)(g * high[0]);
}
CONSTANT_AXES void NAME(to_plane)(T *v, const int64_t *s, const double *low, const double *high, double g) {
  NAME(to_line)(v, s + 1, low + 1, high + 1, g * low[0]);
  NAME(to_line)(v + s[0], s + 1, low + 1, high + 1, g * high[0]);
}
CONSTANT_AXES void NAME(to_box)(T *v, const int64_t *s, const double *low, const double *high, double g) {
  NAME(to_plane)(v, s + 1, low + 1, high + 1, g * low[0]);
  NAME(to_plane)(v + s[0], s + 1, low + 1, high + 1, g * high[0]);
}
CONSTANT_AXES void NAME(to_cell)(T *v, const int64_t *s, const double *low, const double *high, double g, int d) {
  if (d == 1) NAME(to_line)(v, s, low, high, g);
  if (d == 2) NAME(to_plane)(v, s, low, high, g);
  if (d == 3) NAME(to_box)(v, s, low, high, g);
}

/* What is done with a cell. */
enum { NAME(CELL_VALUE), NAME(CELL_SLOPES), NAME(CELL_ADD) };

/* y: values, the d slopes of each query, or cotangents that are added to the table. even: all axes are; a query within
 * rounding of a point may then be taken to the cell on its other side, whose value there is the same. */
CONSTANT_AXES void NAME(visit_cells)(const table_reader *t, T *restrict table, const T *restrict x, T *restrict y,
                                     int64_t n, int what, int d, bool even) {
  const table_axis axis[3] = {t->axis[0], t->axis[1], t->axis[2]};
  const int64_t s[3] = {t->stride[0], t->stride[1], t->stride[2]};
  const bool slopes = what == NAME(CELL_SLOPES), reads = what != NAME(CELL_ADD);
  double first[3] = {0}, last[3] = {0};
  for (int a = 0; a < d; a++) {
    first[a] = axis[a].points[0];
    last[a] = axis[a].points[axis[a].n - 1];
  }
  for (int64_t q = 0; q < n; q++, x += d, y += slopes ? d : 1) {
    T *v = table;
    double at[3], low[3], high[3], per[3] = {0};
    bool inside = true, clipped[3] = {false};
    for (int a = 0; a < d; a++) {
      at[a] = x[a];
      inside &= (at[a] >= first[a]) & (at[a] <= last[a]);
    }
    if (!inside) {
      bool has_nan = false;
      for (int a = 0; a < d; a++) {
        has_nan |= at[a] != at[a];
        clipped[a] = t->outside == TABLE_CLIP && !(at[a] >= first[a] && at[a] <= last[a]);
        if (clipped[a]) at[a] = at[a] < first[a] ? first[a] : last[a];
      }
      if (has_nan || t->outside == TABLE_FILL) {
        for (int a = 0; reads && a < (slopes ? d : 1); a++) y[a] = has_nan ? (T)NAN : slopes ? 0 : (T)t->fill;
        continue;
      }
    }
    for (int a = 0; a < d; a++) {
      const int64_t i = even ? table_cell_near(&axis[a], at[a]) : table_cell(&axis[a], at[a]);
      const double *p = axis[a].points + i;
      if (!even || slopes) per[a] = 1 / (p[1] - p[0]);
      high[a] = even ? (at[a] - p[0]) * axis[a].per_step : (at[a] - p[0]) / (p[1] - p[0]);
      low[a] = 1 - high[a];
      v += i * s[a];
    }
    if (what == NAME(CELL_VALUE)) y[0] = NAME(in_cell)(v, s, low, high, d);
    if (what == NAME(CELL_ADD)) NAME(to_cell)(v, s, low, high, y[0], d);
    for (int a = 0; slopes && a < d; a++) {
      const double up = high[a];
      high[a] = clipped[a] ? 0 : per[a];
      low[a] = -high[a];
      y[a] = NAME(in_cell)(v, s, low, high, d);
      high[a] = up;
      low[a] = 1 - up;
    }
  }
}

/* By constant numbers of axes; slopes are exact at a point only by comparison, so they take the cells of uneven axes. */
CONSTANT_AXES bool NAME(visit_linear)(const table_reader *t, T *table, const T *x, T *y, int64_t n, int what) {
  bool even = what != NAME(CELL_SLOPES);
  for (int a = 0; a < t->n_axes; a++) even = even && t->axis[a].even;
  switch (2 * t->n_axes + even) {
    case 2: NAME(visit_cells)(t, table, x, y, n, what, 1, false); return true;
    case 3: NAME(visit_cells)(t, table, x, y, n, what, 1, true); return true;
    case 4: NAME(visit_cells)(t, table, x, y, n, what, 2, false); return true;
    case 5: NAME(visit_cells)(t, table, x, y, n, what, 2, true); return true;
    case 6: NAME(visit_cells)(t, table, x, y, n, what, 3, false); return true;
    case 7: NAME(visit_cells)(t, table, x, y, n, what, 3, true); return true;
    default: return false;
  }
}

/* Whether the queries were read so. */
static bool NAME(read_linear)(const table_reader *t, const T *table, const T *x, T *y, int64_t n) {
  T *numbers = (T *)(uintptr_t)table;
  if (t->kind != TABLE_LINEAR || t->trailing != 1) return false;
  if (table_orders_are_zero(t)) return NAME(visit_linear)(t, numbers, x, y, n, NAME(CELL_VALUE));
  return table_orders_are_slopes(t) && NAME(visit_linear)(t, numbers, x, y, n, NAME(CELL_SLOPES));
}

static bool NAME(add_linear)(const table_reader *t, T *table, const T *x, const T *g, int64_t n) {
  if (t->kind != TABLE_LINEAR || t->trailing != 1 || !table_orders_are_zero(t)) return false;
  return NAME(visit_linear)(t, table, x, (T *)(uintptr_t)g, n, NAME(CELL_ADD));
}

/* Nearest points of tables of single values. Beyond its ends an axis's nearest point is the end, clipped or not. */
static bool NAME(read_nearest)(const table_reader *t, const T *table, const T *x, T *y, int64_t n) {
  if (t->kind != TABLE_NEAREST || t->trailing != 1 || !table_orders_are_zero(t)) return false;
  for (int64_t q = 0; q < n; q++, x += t->n_axes) {
    const T *v = table;
    bool has_nan = false, inside = true;
    for (int a = 0; a < t->n_axes; a++) {
      const table_axis *axis = &t->axis[a];
      const double at = x[a];
      const int64_t i = table_cell(axis, at);
      const double *p = axis->points + i;
      has_nan |= at != at;
      inside &= (at >= axis->points[0]) & (at <= axis->points[axis->n - 1]);
      v += (i + (axis->n > 1 && at - p[0] > 0.5 * (p[1] - p[0]))) * t->stride[a];
    }
    y[q] = has_nan ? (T)NAN : inside || t->outside != TABLE_FILL ? *v : (T)t->fill;
  }
  return true;
}

/* ---- Any table --------------------------------------------------------------------------------------------------- */

static table_state NAME(table_find)(const table_reader *t, const T *x, const uint8_t *used, table_query *q) {
  table_state state = QUERY_INSIDE;
  q->first = 0;
  for (int a = 0; a < t->n_axes && state != QUERY_NAN; a++) {
    const table_state s = table_query_axis(t, a, x[a], used[a], q);
    if (s > state) state = s;
  }
  return state;
}

void NAME(table_read)(const table_reader *t, const T *table, const T *x, T *y, int64_t n) {
  int64_t offset[TABLE_MOST_POINTS];
  double weight[TABLE_MOST_POINTS];
  uint8_t used[TABLE_MAX_AXES];
  table_query query;
  if (NAME(read_linear)(t, table, x, y, n) || NAME(read_nearest)(t, table, x, y, n)) return;
  const int points = table_point_count(t);
  table_point_offsets(t, offset);
  table_orders_used(t, used);
  for (int64_t q = 0; q < n; q++, x += t->n_axes) {
    const table_state state = NAME(table_find)(t, x, used, &query);
    for (int r = 0; r < t->n_orders; r++, y += t->trailing) {
      if (state != QUERY_INSIDE) {
        const T value = state == QUERY_NAN ? (T)NAN : table_result_is_value(t, r) ? (T)t->fill : 0;
        for (int64_t k = 0; k < t->trailing; k++) y[k] = value;
        continue;
      }
      const T *from = table + query.first;
      table_point_weights(t, &query, r, weight);
      if (t->trailing == 1) {
        double sum = 0;
        for (int c = 0; c < points; c++) sum += weight[c] * from[offset[c]];
        y[0] = (T)sum;
        continue;
      }
      for (int64_t k = 0; k < t->trailing; k++) y[k] = 0;
      for (int c = 0; c < points; c++) {
        const T by = (T)weight[c], *row = from + offset[c];
        for (int64_t k = 0; k < t->trailing; k++) y[k] += by * row[k];
      }
    }
  }
}

void NAME(table_add)(const table_reader *t, T *table, const T *x, const T *g, int64_t n) {
  int64_t offset[TABLE_MOST_POINTS];
  double weight[TABLE_MOST_POINTS];
  uint8_t used[TABLE_MAX_AXES];
  table_query query;
  if (NAME(add_linear)(t, table, x, g, n)) return;
  const int points = table_point_count(t);
  table_point_offsets(t, offset);
  table_orders_used(t, used);
  for (int64_t q = 0; q < n; q++, x += t->n_axes) {
    const table_state state = NAME(table_find)(t, x, used, &query);
    for (int r = 0; r < t->n_orders; r++, g += t->trailing) {
      if (state != QUERY_INSIDE) continue;
      T *to = table + query.first;
      table_point_weights(t, &query, r, weight);
      for (int c = 0; c < points; c++) {
        T *row = to + offset[c];
        for (int64_t k = 0; k < t->trailing; k++) row[k] += (T)(weight[c] * g[k]);
      }
    }
  }
}

/* ---- Splines ----------------------------------------------------------------------------------------------------- */

/* row -= by other, for rows of `inner` numbers */
static void NAME(spline_less)(T *row, double by, const T *other, int64_t inner) {
  for (int64_t k = 0; k < inner; k++) row[k] -= (T)(by * other[k]);
}

/* L y = v, then U c = y; the transposed system is Uᵀ y = v, then Lᵀ c = y. */
void NAME(spline_solve)(const double *factor, int64_t n, bool transpose, T *v, int64_t outer, int64_t inner) {
  for (int64_t o = 0; o < outer; o++, v += n * inner) {
    for (int64_t i = 0; i < n; i++) {
      T *row = v + i * inner;
      for (int64_t j = i > 2 ? i - 2 : 0; j < i; j++) {
        const double by = transpose ? factor[5 * j + i - j + 2] : factor[5 * i + j - i + 2];
        NAME(spline_less)(row, by, v + j * inner, inner);
      }
      if (!transpose) continue;
      for (int64_t k = 0; k < inner; k++) row[k] = (T)(row[k] / factor[5 * i + 2]);
    }
    for (int64_t i = n - 1; i >= 0; i--) {
      T *row = v + i * inner;
      for (int64_t j = i + 1; j <= i + 2 && j < n; j++) {
        const double by = transpose ? factor[5 * j + i - j + 2] : factor[5 * i + j - i + 2];
        NAME(spline_less)(row, by, v + j * inner, inner);
      }
      if (transpose) continue;
      for (int64_t k = 0; k < inner; k++) row[k] = (T)(row[k] / factor[5 * i + 2]);
    }
  }
}

#undef T
#undef SUFFIX
#undef NAME
#undef CONSTANT_AXES
