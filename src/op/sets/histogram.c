/* histogram: counts in bins. An entry's bin is found by a search in the edges; the segments of these numbers are counted.
 *
 * Edges{bins, low, high}(x): bins + 1 evenly spaced edges from low to high, or without these from the least to the
 * greatest entry of x, 1/2 to both sides of a single value, 0 to 1 where there is no entry.
 */
#include "sets_int.h"
#include "graph/c_emit.h"
#include "op/elem/build_arith.h"

#include <math.h>

typedef struct edges_props {
  prop_value bins, low, high;
} edges_props;

static damo_dtype edges_dtype(damo_dtype dt) { return dt == DAMO_FLOAT32 ? dt : DAMO_FLOAT64; }

static damo_status edges_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const int64_t n = OP_PROPS(op, edges_props)->bins.u.i + 1;
  if (!type_is_tensor(in[0]->type) || dtype_is_complex(var_dtype(in[0])))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "histogram: the entries must be real");
  out[0] = type_tensor(op->obj.ctx, edges_dtype(var_dtype(in[0])), 1, &n);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

#define EDGES_PART 512 /* entries between two points */

/* The ends: nan where an entry is nan. */
static void range_of(damo_ctx *ctx, const damo_array *x, double *low, double *high) {
  array_entries e;
  bool any = false;
  int64_t done = 0;
  for (const char *p = entries_begin(&e, x); p; p = entries_next(&e)) {
    const double v = scalar_to_double(scalar_load(array_dtype(x), p));
    if (!any || v < *low || isnan(v)) *low = v;
    if (!any || v > *high || isnan(v)) *high = v;
    any = true;
    ctx_point_each(ctx, done++, EDGES_PART);
    if (isnan(v)) return;
  }
  if (!any) {
    *low = 0;
    *high = 1;
  }
}

static damo_status edges_perform(const thunk *t, frame *f) {
  const edges_props *p = OP_PROPS(t->node->op, edges_props);
  const damo_array *x = thunk_in(t, f, 0);
  const damo_dtype dt = edges_dtype(array_dtype(x));
  const int64_t bins = p->bins.u.i, n = bins + 1;
  double low = prop_num_or(p->low, 0), high = prop_num_or(p->high, 0);
  if (!prop_given(p->low)) range_of(f->ctx, x, &low, &high);
  if (!isfinite(low) || !isfinite(high))
    return ctx_fail(f->ctx, DAMO_EVALUE, "histogram: the range from %g to %g is not finite", number_shown(low),
                    number_shown(high));
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  damo_array *out = thunk_out(t, f, 0, dt, 1, &n);
  if (!out) return damo_error_status(f->ctx);
  const double step = (high - low) / (double)bins;
  for (int64_t i = 0; i <= bins; i++) {
    const double edge = i == bins ? high : low + (double)i * step;
    if (dt == DAMO_FLOAT32)
      ((float *)(void *)out->data)[i] = (float)edge;
    else
      ((double *)(void *)out->data)[i] = edge;
    ctx_point_each(f->ctx, i, EDGES_PART);
  }
  return DAMO_OK;
}

static damo_status edges_emit_c(c_emit *e, const damo_apply *node) {
  const edges_props *p = OP_PROPS(node->op, edges_props);
  const c_value *x = ce_in(e, 0);
  const int64_t bins = p->bins.u.i, n = bins + 1;
  const c_value *y = ce_out(e, 0, edges_dtype(var_dtype(node->in[0])), 1, &n);
  if (y == NULL) return e->status;
  const char *low = ce_number(e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = prop_num_or(p->low, 0)});
  const char *high = ce_number(e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = prop_num_or(p->high, 0)});
  const bool given = prop_given(p->low);
  ce_line(e, "double low = %s, high = %s;", low, given || ce_size(x) > 0 ? high : "1");
  if (!given && ce_size(x) > 0) {
    const c_value *flat = ce_contiguous(e, x);
    if (flat == NULL) return e->status;
    ce_for(e, "k", ce_size(x));
    ce_line(e, "const double v = (double)%s[k];", ce_p(e, flat));
    ce_fail_if(e, "!(fabs(v) < INFINITY)");
    ce_line(e, "if (k == 0 || v < low) low = v;");
    ce_line(e, "if (k == 0 || v > high) high = v;");
    ce_close(e);
  }
  ce_line(e, "if (low == high) low -= 0.5, high += 0.5;");
  ce_line(e, "const double step = (high - low) / %lld.0;", (long long)bins);
  ce_line(e, "for (ptrdiff_t k = 0; k < %lld; k++) %s[k] = (%s)(k == %lld ? high : low + (double)k * step);",
          (long long)n, ce_p(e, y), ce_type(y->dtype), (long long)bins);
  return e->status;
}

static damo_status edges_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = build_i64(b, node->out[0]->type->shape[0]);
  return b->status;
}

const op_def edges_def = {
    .name = "Edges",
    .doc = "the edges of evenly spaced bins",
    .props = PROPS(PROP_INTEGER(edges_props, bins, 1, PROP_FAR), PROP_NUMBER(edges_props, low),
                   PROP_NUMBER(edges_props, high)),
    .n_in = 1,
    .infer_type = edges_infer_type,
    .perform = edges_perform,
    .emit_c = edges_emit_c,
    .grad = grad_none,
    .infer_shape = edges_infer_shape,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/sets.lua has results by hand and from plain loops",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static bool is_number_option(const prop_value *v) { return v->kind == PROP_INT || v->kind == PROP_NUM; }

/* The ends of an option range; value error unless they are two numbers, the second not below the first. */
static damo_status range_read(damo_ctx *ctx, const char *func, const prop_value *range, edges_props *p) {
  if (!prop_given(*range)) return DAMO_OK;
  if (range->kind != PROP_LIST || range->n != 2 || !is_number_option(&range->u.list[0]) ||
      !is_number_option(&range->u.list[1]))
    return ctx_fail(ctx, DAMO_ETYPE, "%s: a range is {low, high}", func);
  p->low = prop_num(prop_num_or(range->u.list[0], 0));
  p->high = prop_num(prop_num_or(range->u.list[1], 0));
  if (!(p->low.u.f <= p->high.u.f))
    return ctx_fail(ctx, DAMO_EVALUE, "%s: the range goes from %g to %g", func, number_shown(p->low.u.f),
                    number_shown(p->high.u.f));
  return DAMO_OK;
}

/* A list of numbers as a vector, of int64 where all are integers. */
static damo_var *edges_of_list(build *b, const char *func, const prop_value *list) {
  const int64_t n = list->n;
  bool integers = true;
  damo_array *a = array_empty(b->ctx, DAMO_FLOAT64, 1, &n);
  for (int i = 0; a && i < list->n; i++) {
    if (!is_number_option(&list->u.list[i])) {
      damo_release(a);
      return build_fail(b, DAMO_ETYPE, "%s: the edges of bins are numbers", func);
    }
    integers = integers && list->u.list[i].kind == PROP_INT;
    ((double *)(void *)a->data)[i] = prop_num_or(list->u.list[i], 0);
  }
  damo_var *edges = build_value(b, (damo_obj *)a);
  return edges && integers ? build_integer(b, func, "the edges", edges) : edges;
}

/* The edges for x that the options bins and range ask for. */
static damo_var *build_edges(build *b, const char *func, damo_var *x, const prop_value *bins, const prop_value *range) {
  edges_props p = {.bins = prop_int(prop_int_or(*bins, 10))};
  if (!x || b->status != DAMO_OK) return NULL;
  if (bins->kind == PROP_VAR || bins->kind == PROP_LIST) {
    damo_var *edges = bins->kind == PROP_VAR ? build_strong(b, bins->u.var) : edges_of_list(b, func, bins);
    if (edges && (!type_is_tensor(edges->type) || var_ndim(edges) != 1))
      return build_fail(b, DAMO_ESHAPE, "%s: the edges of bins are a vector", func);
    if (edges && edges->type->shape[0] >= 0 && edges->type->shape[0] < 2)
      return build_fail(b, DAMO_EVALUE, "%s: bins have two edges at least", func);
    return edges;
  }
  if (prop_given(*bins) && bins->kind != PROP_INT)
    return build_fail(b, DAMO_ETYPE, "%s: bins is a number of bins, or their edges", func);
  if (p.bins.u.i < 1) return build_fail(b, DAMO_EVALUE, "%s: %lld bins", func, (long long)p.bins.u.i);
  if (p.bins.u.i >= INT64_MAX / (int64_t)sizeof(double))
    return build_fail(b, DAMO_EVALUE, "%s: %lld bins are more than any memory holds", func, (long long)p.bins.u.i);
  if (range_read(b->ctx, func, range, &p) != DAMO_OK) {
    b->status = damo_error_status(b->ctx);
    return NULL;
  }
  return build_op(b, op_new(b->ctx, &edges_def, &p), &x, 1);
}

/* 1 below the first edge, k + 1 in bin k, whose upper edge belongs to the next one, but in the last one; one more
 * outside. */
static damo_var *bins_of(build *b, const char *func, damo_var *x, damo_var *edges) {
  damo_var *at = build_search(b, func, edges, x, true, BINS_RISE);
  damo_var *last = edges ? build_index(b, edges, 0, build_i64(b, -1)) : NULL;
  return at && last ? build_switch(b, build_eq(b, x, last), build_dim(b, edges, 0), at) : NULL;
}

/* x over the axes [1, n - 1) of the counts, the bins. */
static damo_var *inner_bins(build *b, damo_var *counts, int axis, damo_var *edges) {
  return build_slice(b, counts, axis, build_i64(b, 1), build_dim(b, edges, 0), 1);
}

/* The weights of a call, operand i, as a vector; NULL where there are none. */
static damo_var *weights_of(build *b, const fn_args *a, int i) {
  if (a->n_in <= i || !a->in[i]) return NULL;
  damo_var *w = build_strong(b, a->in[i]), *x = a->in[0];
  if (w && type_is_tensor(w->type) && var_ndim(w) != var_ndim(x))
    return build_fail(b, DAMO_ESHAPE, "%s: the weights have %d axes, the operand %d", a->func->name, var_ndim(w),
                      var_ndim(x));
  return w ? build_cast(b, build_ravel(b, w), reduce_out_dtype(REDUCE_SUM, var_dtype(w))) : NULL;
}

static damo_var *counted(build *b, damo_var *ids, damo_var *weights, damo_var *n) {
  return weights ? build_segment(b, SEGMENT_SUM, weights, ids, n) : build_segment_count(b, ids, n);
}

static damo_var *widths(build *b, damo_var *edges) {
  damo_var *upper = build_slice(b, edges, 0, build_i64(b, 1), NULL, 1);
  damo_var *lower = build_slice(b, edges, 0, NULL, build_length_sub(b, build_dim(b, edges, 0), build_i64(b, 1)), 1);
  return build_sub(b, upper, lower);
}

static damo_var *to_float(build *b, damo_var *x) {
  return x && dtype_is_discrete(var_dtype(x)) ? build_cast(b, x, DAMO_FLOAT64) : x;
}

damo_status fn_histogram(build *b, const fn_args *a, ptrvec *out) {
  const histogram_options *o = FN_OPTIONS(a, histogram_options);
  for (int i = 0; i < a->n_in; i++)
    if (a->in[i]) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *x = build_ravel(b, build_strong(b, a->in[0])), *weights = weights_of(b, a, 1);
  damo_var *edges = build_edges(b, "histogram", x, &o->bins, &o->range);
  damo_var *ids = edges ? bins_of(b, "histogram", x, edges) : NULL;
  if (!ids) return b->status;
  damo_var *n = build_length_add(b, build_dim(b, edges, 0), build_i64(b, 1));
  damo_var *count = inner_bins(b, counted(b, ids, weights, n), 0, edges);
  if (count && prop_bool_or(o->density, false)) {
    count = to_float(b, count);
    damo_var *total = build_reduce(b, REDUCE_SUM, count, NULL, -1, false);
    count = build_true_div(b, build_true_div(b, count, build_cast(b, widths(b, edges), var_dtype(count))), total);
  }
  DAMO_TRY(fn_give(b, out, count));
  return fn_give(b, out, edges);
}

/* What the option is for axis i of d: a list of d is one for each. */
static prop_value one_of_axes(const prop_value *v, int i, int d, bool numbers) {
  if (v->kind != PROP_LIST || v->n != d) return *v;
  bool ints = true, parts = false;
  for (int k = 0; k < d; k++) {
    ints = ints && v->u.list[k].kind == PROP_INT;
    parts = parts || !is_number_option(&v->u.list[k]);
  }
  return parts || (numbers && ints) ? v->u.list[i] : *v;
}

/* Counts of points in d dimensions, whose coordinates are the vectors x, and the edges of each axis. */
static damo_status histogram_give(build *b, const fn_args *a, damo_var *const *x, int d, damo_var *weights,
                                  ptrvec *out) {
  const histogram_options *o = FN_OPTIONS(a, histogram_options);
  const char *func = a->func->name;
  damo_var *edges[DAMO_MAX_NDIM], *n[DAMO_MAX_NDIM], *at = NULL, *size = build_i64(b, 1), *one = build_i64(b, 1);
  for (int i = 0; i < d; i++) {
    const prop_value bins = one_of_axes(&o->bins, i, d, true), range = one_of_axes(&o->range, i, d, false);
    edges[i] = build_edges(b, func, x[i], &bins, &range);
    damo_var *id = edges[i] ? bins_of(b, func, x[i], edges[i]) : NULL;
    n[i] = id ? build_length_add(b, build_dim(b, edges[i], 0), one) : NULL;
    if (!n[i]) return b->status;
    at = at ? build_add(b, build_mul(b, build_sub(b, at, one), n[i]), id) : id;
    size = build_length_mul(b, size, n[i]);
  }
  damo_var *count = to_float(b, counted(b, at, weights, size));
  count = count ? build_reshape(b, count, build_vector(b, n, d), d) : NULL;
  for (int i = 0; i < d && count; i++) count = inner_bins(b, count, i, edges[i]);
  if (count && prop_bool_or(o->density, false)) {
    damo_var *total = build_reduce(b, REDUCE_SUM, count, NULL, -1, false);
    for (int i = 0; i < d; i++) {
      int order[DAMO_MAX_NDIM];
      for (int k = 0; k < d; k++) order[k] = k == i ? 0 : -1;
      damo_var *width = build_dimshuffle(b, widths(b, edges[i]), order, d);
      count = width ? build_true_div(b, count, build_cast(b, width, var_dtype(count))) : NULL;
    }
    count = count ? build_true_div(b, count, total) : NULL;
  }
  DAMO_TRY(fn_give(b, out, count));
  for (int i = 0; i < d; i++) DAMO_TRY(fn_give(b, out, edges[i]));
  return DAMO_OK;
}

damo_status fn_histogram2d(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x[2];
  for (int i = 0; i < a->n_in; i++)
    if (a->in[i]) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *weights = weights_of(b, a, 2);
  for (int i = 0; i < 2; i++) {
    x[i] = build_strong(b, a->in[i]);
    if (x[i] && var_ndim(x[i]) != 1)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "histogram2d: x and y must be vectors, got %d axes", var_ndim(x[i]));
  }
  return b->status == DAMO_OK ? histogram_give(b, a, x, 2, weights, out) : b->status;
}

/* The points are the rows of a matrix whose width, the number of results, must be known. */
damo_status fn_histogramdd(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x[DAMO_MAX_NDIM], *weights = NULL;
  for (int i = 0; i < a->n_in; i++)
    if (a->in[i]) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *points = build_strong(b, a->in[0]);
  if (points == NULL) return b->status;
  if (var_ndim(points) != 2)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "histogramdd: the points are the rows of a matrix, got %d axes",
                    var_ndim(points));
  const int64_t d = points->type->shape[1];
  if (d < 1 || d > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_ESHAPE,
                    d < 0 ? "histogramdd: the length of axis 2, the number of dimensions, must be known"
                          : "histogramdd: points of 1 to %d dimensions are expected",
                    DAMO_MAX_NDIM);
  if (a->n_in > 1 && a->in[1]) {
    weights = build_strong(b, a->in[1]);
    if (weights && var_ndim(weights) != 1)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "histogramdd: the weights must be a vector, got %d axes", var_ndim(weights));
    weights = weights ? build_cast(b, weights, reduce_out_dtype(REDUCE_SUM, var_dtype(weights))) : NULL;
  }
  for (int i = 0; i < d; i++) x[i] = build_index(b, points, 1, build_i64(b, i));
  return b->status == DAMO_OK ? histogram_give(b, a, x, (int)d, weights, out) : b->status;
}
