/* pchip: monotone cubic interpolation over a grid, as a graph of elementwise nodes.
 *
 * In: (n1 …, t) values and (B, d) queries. Each query reads the four points of each axis around its cell, and so a window
 * of 4^d values, which is reduced axis by axis, the last one first: the slopes at the two ends of the cell, by Fritsch and
 * Butland, A method for constructing local monotone piecewise cubic interpolants, SIAM J. Sci. Stat. Comput. 5 (1984), and
 * Hermite's cubic between them. At the ends of an axis the window repeats its last point; the slope there is the one of
 * three points, limited (Moler, Numerical Computing with MATLAB, 3.6), which is what SciPy's pchip has too.
 */
#include "op/elem/build_arith.h"
#include "op/index/index_int.h"
#include "table_int.h"

#include <string.h>

/* What the queries have along one axis, each (B, 1 …) so that it broadcasts to the window. */
typedef struct pchip_axis {
  damo_var *x, *h[3]; /* the offset from the cell's lower point; the distances of the window's points, 1 for none */
  damo_var *left, *right, *only; /* the cell is the first, the last, or both */
  damo_var *window;              /* (B, 4): 1-based positions */
} pchip_axis;

static damo_var *pchip_equal_signs(build *b, damo_var *x, damo_var *y) {
  return build_eq(b, build_sign(b, x), build_sign(b, y));
}

/* The slope at an inner point between chords of slopes u and v over lengths g and h: 0 where these differ in sign, else
 * their weighted harmonic mean, (w1 + w2) / (w1 / u + w2 / v) for w1 = 2 h + g, w2 = h + 2 g. */
static damo_var *pchip_inner_slope(build *b, damo_var *g, damo_var *h, damo_var *u, damo_var *v) {
  damo_var *zero = build_num(b, 0), *one = build_num(b, 1), *sum = build_add(b, g, h);
  damo_var *w1 = build_add(b, h, sum), *w2 = build_add(b, g, sum);
  damo_var *same = build_and_(b, pchip_equal_signs(b, u, v), build_neq(b, u, zero));
  damo_var *below = build_add(b, build_mul(b, w1, v), build_mul(b, w2, u));
  damo_var *mean = build_mul(b, build_true_div(b, u, build_switch(b, same, below, one)), v);
  return build_switch(b, same, build_mul(b, build_add(b, w1, w2), mean), zero);
}

/* The slope at an end, of the parabola through three points, with chords u next to it over g and v over h: 0 where it
 * differs in sign from u, at most 3 u where u and v differ in sign. */
static damo_var *pchip_end_slope(build *b, damo_var *g, damo_var *h, damo_var *u, damo_var *v) {
  damo_var *three = build_num(b, 3), *sum = build_add(b, g, h);
  damo_var *slope = build_sub(b, build_mul(b, build_add(b, g, sum), u), build_mul(b, g, v));
  slope = build_true_div(b, slope, sum);
  damo_var *steep = build_gt(b, build_abs(b, slope), build_mul(b, three, build_abs(b, u)));
  steep = build_and_(b, steep, build_invert(b, pchip_equal_signs(b, u, v)));
  damo_var *kept = build_switch(b, steep, build_mul(b, three, u), slope);
  return build_switch(b, pchip_equal_signs(b, slope, u), kept, build_num(b, 0));
}

/* Positions (B, 4) of the points around each cell, pchip_clipped to 1 … n. */
static damo_var *pchip_positions(build *b, damo_var *lower, damo_var *n) {
  static const int64_t steps[] = {-1, 0, 1, 2};
  damo_var *at = build_add(b, build_new_axis(b, lower, 1), build_ints(b, steps, 4));
  return build_minimum(b, build_maximum(b, at, build_int(b, 1)), n);
}

/* Entry k of the last axis of (B, 4), as (B, 1 …) of that rank. */
static damo_var *pchip_entry(build *b, damo_var *w, int k, int ndim) {
  int pattern[DAMO_MAX_NDIM] = {0};
  damo_var *v = build_index(b, w, 1, build_i64(b, k));
  for (int i = 1; i < ndim; i++) pattern[i] = -1;
  return v ? build_dimshuffle(b, v, pattern, ndim) : NULL;
}

static damo_var *pchip_column(build *b, damo_var *v, int ndim) {
  int pattern[DAMO_MAX_NDIM] = {0};
  for (int i = 1; i < ndim; i++) pattern[i] = -1;
  return v ? build_dimshuffle(b, v, pattern, ndim) : NULL;
}

/* x: (B) queries along axis a. ndim: the rank of the window when this axis is reduced, itself left out. */
static void pchip_prepare(build *b, const table_call *c, int a, damo_var *x, int ndim, pchip_axis *p) {
  damo_var *points = c->points[a], *n = build_dim(b, points, 0), *one = build_num(b, 1);
  damo_var *lower = build_table_cell(b, points, x, c->outside, a);
  damo_var *at[4];
  if (lower == NULL) return;
  p->window = pchip_positions(b, lower, n);
  damo_var *around = build_take_axis(b, points, p->window, 0);
  for (int k = 0; k < 4 && around; k++) at[k] = pchip_entry(b, around, k, ndim);
  if (b->status != DAMO_OK) return;
  p->left = pchip_column(b, build_eq(b, lower, build_int(b, 1)), ndim);
  p->right = pchip_column(b, build_eq(b, lower, build_sub(b, n, build_int(b, 1))), ndim);
  p->only = build_and_(b, p->left, p->right);
  p->h[0] = build_switch(b, p->left, one, build_sub(b, at[1], at[0]));
  p->h[1] = build_sub(b, at[2], at[1]);
  p->h[2] = build_switch(b, p->right, one, build_sub(b, at[3], at[2]));
  p->x = build_sub(b, pchip_column(b, x, ndim), at[1]);
}

/* The window with its axis number `axis` reduced. */
static damo_var *pchip_reduce(build *b, const pchip_axis *p, damo_var *window, int axis) {
  damo_var *v[4], *u[3];
  for (int k = 0; k < 4; k++) v[k] = window ? build_index(b, window, axis, build_i64(b, k)) : NULL;
  for (int k = 0; k < 3; k++) u[k] = build_true_div(b, build_sub(b, v[k + 1], v[k]), p->h[k]);
  damo_var *first = build_switch(b, p->only, u[1], pchip_end_slope(b, p->h[1], p->h[2], u[1], u[2]));
  damo_var *last = build_switch(b, p->only, u[1], pchip_end_slope(b, p->h[1], p->h[0], u[1], u[0]));
  damo_var *low = build_switch(b, p->left, first, pchip_inner_slope(b, p->h[0], p->h[1], u[0], u[1]));
  damo_var *high = build_switch(b, p->right, last, pchip_inner_slope(b, p->h[1], p->h[2], u[1], u[2]));
  /* v + s (low + s (c2 + s c3)) for s = x - p_i, c3 = (low + high - 2 u) / h², c2 = (u - low) / h - h c3 */
  damo_var *h = p->h[1], *s = p->x;
  damo_var *bend = build_true_div(b, build_sub(b, build_add(b, low, high), build_mul(b, build_num(b, 2), u[1])), h);
  damo_var *c2 = build_sub(b, build_true_div(b, build_sub(b, u[1], low), h), bend);
  damo_var *inner = build_add(b, c2, build_mul(b, s, build_true_div(b, bend, h)));
  return build_add(b, v[1], build_mul(b, s, build_add(b, low, build_mul(b, s, inner))));
}

/* (B, 4 …, t): the values around each query. */
static damo_var *pchip_window(build *b, const table_call *c, const pchip_axis *p, damo_var *values) {
  damo_var *idx[TABLE_MAX_AXES];
  char spec[TABLE_MAX_AXES + 1];
  for (int a = 0; a < c->d; a++) {
    int pattern[TABLE_MAX_AXES + 1] = {0};
    for (int k = 0; k < c->d; k++) pattern[1 + k] = k == a ? 1 : -1;
    idx[a] = p[a].window ? build_dimshuffle(b, p[a].window, pattern, c->d + 1) : NULL;
    spec[a] = 'l';
  }
  spec[c->d] = '\0';
  return b->status == DAMO_OK ? index_read(b, values, spec, idx, c->d) : NULL;
}

/* A query's coordinate moved to the nearer end where it lies outside. */
static damo_var *pchip_clipped(build *b, damo_var *x, damo_var *points) {
  damo_var *low = build_index(b, points, 0, build_i64(b, 0)), *high = build_index(b, points, 0, build_i64(b, -1));
  return build_clip(b, x, low, high);
}

static damo_var *pchip_inside(build *b, damo_var *x, damo_var *points) {
  damo_var *low = build_index(b, points, 0, build_i64(b, 0)), *high = build_index(b, points, 0, build_i64(b, -1));
  return build_invert(b, build_or_(b, build_lt(b, x, low), build_gt(b, x, high)));
}

damo_var *build_table_pchip(build *b, const table_call *c) {
  const int d = c->d, batch = var_ndim(c->x) - 1, trailing = var_ndim(c->values) - d;
  damo_var *dims[DAMO_MAX_NDIM + 1], *inside = NULL;
  pchip_axis axes[TABLE_MAX_AXES] = {{.x = NULL}};
  /* values (n1 …, t), queries (B, d) */
  damo_var *count = build_i64(b, 1), *values, *x = c->x;
  for (int k = 0; k < d; k++) dims[k] = build_dim(b, c->values, k);
  for (int k = 0; k < trailing; k++) count = build_mul(b, count, build_dim(b, c->values, d + k));
  dims[d] = count;
  values = build_reshape(b, c->values, build_vector(b, dims, d + 1), d + 1);
  count = build_i64(b, 1);
  for (int k = 0; k < batch; k++) count = build_mul(b, count, build_dim(b, c->x, k));
  x = build_reshape(b, x, build_vector(b, (damo_var *[]){count, build_i64(b, d)}, 2), 2);
  for (int a = 0; a < d && b->status == DAMO_OK; a++) {
    damo_var *of = build_index(b, x, 1, build_i64(b, a));
    if (strcmp(c->outside, "fill") == 0) {
      damo_var *is = pchip_inside(b, of, c->points[a]);
      inside = inside ? build_and_(b, inside, is) : is;
    }
    if (strcmp(c->outside, "clip") == 0) of = pchip_clipped(b, of, c->points[a]);
    pchip_prepare(b, c, a, of, a + 2, &axes[a]);
  }
  damo_var *y = pchip_window(b, c, axes, values);
  for (int a = d - 1; a >= 0 && b->status == DAMO_OK; a--) y = pchip_reduce(b, &axes[a], y, a + 1);
  if (inside) y = build_switch(b, pchip_column(b, inside, 2), y, build_num(b, c->fill));
  if (y == NULL) return NULL;
  for (int k = 0; k < batch; k++) dims[k] = build_dim(b, c->x, k);
  for (int k = 0; k < trailing; k++) dims[batch + k] = build_dim(b, c->values, d + k);
  return build_reshape(b, y, build_vector(b, dims, batch + trailing), batch + trailing);
}
