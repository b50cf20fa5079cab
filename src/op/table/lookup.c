/* lookup: TableLookup, which reads a table at queries, and TableScatter, its adjoint, which adds cotangents to the places
 * that were read.
 *
 * In: the points of each axis, the table (axes…, trailing…) or a cotangent (batch…, orders, trailing…), the queries
 * (batch…, axes). Out: (batch…, orders, trailing…), or (axes…, trailing…). Points and queries have one float dtype, which
 * is that of the table or of its parts. The gradient for the queries is a lookup with the orders of differentiation
 * raised by one along each axis in turn, so that a graph of these two classes has derivatives of any order.
 */
#include "op/elem/build_arith.h"
#include "table_int.h"

#include <string.h>

#define MOST_ORDERS 256 /* multi-indices of an Op */

typedef struct table_data {
  table_kind kind;
  table_outside outside;
  bool refuses; /* a query outside is an error */
  double fill;
  int n_axes, n_orders;
  int8_t orders[MOST_ORDERS * TABLE_MAX_AXES];
} table_data;

static const table_data *table_data_of(const damo_op *op) { return op->data; }
static int64_t table_least_points(const table_data *d) {
  return d->kind == TABLE_SPLINE ? 4 : d->kind == TABLE_LINEAR ? 2 : 1;
}

/* The number of that name in a list that ends with NULL; its length where it is not there. */
static int table_name_among(const prop_value *name, const char *const *list) {
  int k = 0;
  while (list[k] != NULL && (name->kind != PROP_STR || strcmp(name->u.s, list[k]) != 0)) k++;
  return k;
}

static damo_status table_init(damo_op *op) {
  static const char *const kinds[] = {"nearest", "linear", "spline", NULL};
  static const char *const ways[] = {"extrapolate", "clip", "fill", "error", NULL};
  const table_props *p = OP_PROPS(op, table_props);
  table_data *d = op->data;
  const int kind = table_name_among(&p->kind, kinds), way = table_name_among(&p->outside, ways);
  const int n = p->orders.kind == PROP_LIST ? p->orders.n : 0;
  bool good = kinds[kind] != NULL && ways[way] != NULL && n > 0;
  const int64_t axes = good ? p->orders.u.list[0].u.i : 0; /* the list's first entry is the number of axes */
  good = good && axes >= 1 && axes <= TABLE_MAX_AXES && (n - 1) % axes == 0 && (n - 1) / axes <= MOST_ORDERS;
  if (!good) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: a property is wrong", op->def->name);
  d->kind = (table_kind)kind;
  d->outside = way == 3 ? TABLE_EXTRAPOLATE : (table_outside)way;
  d->refuses = way == 3;
  d->fill = prop_num_or(p->fill, 0);
  d->n_axes = (int)axes;
  d->n_orders = (n - 1) / (int)axes;
  for (int k = 1; k < n; k++) {
    const int64_t order = prop_int_or(p->orders.u.list[k], 0);
    d->orders[k - 1] = (int8_t)(order < 0 ? 0 : order > 100 ? 100 : order);
  }
  return DAMO_OK;
}

static damo_status table_check_inputs(const damo_op *op, damo_var *const *in, int n_in) {
  const int d = table_data_of(op)->n_axes;
  damo_ctx *ctx = op->obj.ctx;
  if (n_in != d + 2) return ctx_fail(ctx, DAMO_ETYPE, "%s: expected %d inputs, got %d", op->def->name, d + 2, n_in);
  for (int i = 0; i < n_in; i++) {
    if (!type_is_tensor(in[i]->type))
      return ctx_fail(ctx, DAMO_ETYPE, "%s: input %d is no tensor", op->def->name, i + 1);
  }
  const damo_dtype dt = var_dtype(in[n_in - 1]), of = var_dtype(in[d]);
  bool same = dtype_is_float(dt) && (of == dt || of == (dt == DAMO_FLOAT32 ? DAMO_COMPLEX64 : DAMO_COMPLEX128));
  for (int a = 0; a < d; a++) same = same && var_dtype(in[a]) == dt && var_ndim(in[a]) == 1;
  if (!same)
    return ctx_fail(ctx, DAMO_ETYPE, "%s: vectors, numbers and queries of one float dtype are expected", op->def->name);
  const damo_type *x = in[n_in - 1]->type;
  if (x->ndim < 1 || (x->shape[x->ndim - 1] >= 0 && x->shape[x->ndim - 1] != d))
    return ctx_fail(ctx, DAMO_ESHAPE, "interpn: the last axis of the queries must have length %d, the number of axes",
                    d);
  return DAMO_OK;
}

static damo_status table_lookup_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(table_check_inputs(op, in, n_in));
  const table_data *t = table_data_of(op);
  const int d = t->n_axes, batch = var_ndim(in[d + 1]) - 1, trailing = var_ndim(in[d]) - d;
  int64_t shape[2 * DAMO_MAX_NDIM];
  damo_ctx *ctx = op->obj.ctx;
  if (trailing < 0)
    return ctx_fail(ctx, DAMO_ESHAPE, "interpn: the values have %d axes, for the points of %d", var_ndim(in[d]), d);
  if (batch + 1 + trailing > DAMO_MAX_NDIM)
    return ctx_fail(ctx, DAMO_ESHAPE, "interpn: the result would have more than %d axes", DAMO_MAX_NDIM);
  for (int a = 0; a < d; a++) {
    const int64_t n = in[a]->type->shape[0], m = in[d]->type->shape[a];
    if (n >= 0 && m >= 0 && n != m)
      return ctx_fail(ctx, DAMO_ESHAPE, "interpn: axis %d has %lld points, and %lld values", a + 1, (long long)n,
                      (long long)m);
    if (n >= 0 && n < table_least_points(t))
      return ctx_fail(ctx, DAMO_ESHAPE, "interpn: axis %d has %lld points; this method needs %lld", a + 1, (long long)n,
                      (long long)table_least_points(t));
  }
  for (int k = 0; k < batch; k++) shape[k] = in[d + 1]->type->shape[k];
  shape[batch] = t->n_orders;
  for (int k = 0; k < trailing; k++) shape[batch + 1 + k] = in[d]->type->shape[d + k];
  out[0] = type_tensor(ctx, var_dtype(in[d]), batch + 1 + trailing, shape);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

static damo_status table_scatter_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(table_check_inputs(op, in, n_in));
  const int d = table_data_of(op)->n_axes, batch = var_ndim(in[d + 1]) - 1, trailing = var_ndim(in[d]) - batch - 1;
  int64_t shape[2 * DAMO_MAX_NDIM];
  if (trailing < 0 || d + trailing > DAMO_MAX_NDIM)
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "TableScatter: a cotangent of %d axes for queries of %d", var_ndim(in[d]),
                    batch + 1);
  for (int a = 0; a < d; a++) shape[a] = in[a]->type->shape[0];
  for (int k = 0; k < trailing; k++) shape[d + k] = in[d]->type->shape[batch + 1 + k];
  out[0] = type_tensor(op->obj.ctx, var_dtype(in[d]), d + trailing, shape);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* What a run has: the reader, and the inputs as the kernels take them. */
typedef struct table_run {
  table_reader reader;
  const void *numbers, *x; /* the table or the cotangent; the queries */
  int64_t n;               /* queries */
  damo_dtype dtype;        /* of the queries */
} table_run;

#define CHECK_QUERIES 2048 /* between two points */

/* A query outside a grid that has no results there. */
static damo_status table_check_queries(const thunk *t, frame *f, const table_run *r) {
  int axis;
  if (!table_data_of(t->node->op)->refuses) return DAMO_OK;
  int64_t at = -1;
  for (int64_t k = 0; k < r->n && at < 0; k += CHECK_QUERIES) {
    const int64_t n = r->n - k < CHECK_QUERIES ? r->n - k : CHECK_QUERIES, first = k * r->reader.n_axes;
    at = r->dtype == DAMO_FLOAT32 ? table_find_outside_f32(&r->reader, (const float *)r->x + first, n, &axis)
                                  : table_find_outside_f64(&r->reader, (const double *)r->x + first, n, &axis);
    if (at >= 0) at += k;
    ctx_point(f->ctx);
  }
  if (at < 0) return DAMO_OK;
  const int64_t place = at * r->reader.n_axes + axis;
  const double x = r->dtype == DAMO_FLOAT32 ? (double)((const float *)r->x)[place] : ((const double *)r->x)[place];
  return table_refuse(f->ctx, at, x, axis, &r->reader.axis[axis]);
}

/* Reads the inputs into memory of the thunk's. trailing: the product of the numbers' axes from number `from` on. */
static damo_status table_prepare(const thunk *t, frame *f, int from, table_run *r) {
  const table_data *d = table_data_of(t->node->op);
  const damo_array *numbers = thunk_in(t, f, d->n_axes), *x = thunk_in(t, f, d->n_axes + 1);
  size_t bytes = table_input_size(numbers) + table_input_size(x) + 64;
  for (int a = 0; a < d->n_axes; a++) bytes += (size_t)array_shape(thunk_in(t, f, a))[0] * sizeof(double);
  char *work = thunk_scratch(t, f, bytes);
  if (work == NULL) return damo_error_status(f->ctx);
  if (array_shape(x)[x->ndim - 1] != d->n_axes)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "interpn: the last axis of the queries has length %lld, for a grid of %d axes",
                    (long long)array_shape(x)[x->ndim - 1], d->n_axes);
  r->dtype = array_dtype(x);
  r->reader = (table_reader){.kind = d->kind,
                             .outside = d->outside,
                             .fill = d->fill,
                             .n_axes = d->n_axes,
                             .n_orders = d->n_orders,
                             .orders = d->orders,
                             .trailing = dtype_is_complex(array_dtype(numbers)) ? 2 : 1};
  for (int k = from; k < numbers->ndim; k++) r->reader.trailing *= array_shape(numbers)[k];
  for (int a = 0; a < d->n_axes; a++) {
    DAMO_TRY(table_read_axis(f->ctx, thunk_in(t, f, a), a, table_least_points(d), &work, &r->reader.axis[a]));
  }
  work += -(uintptr_t)work & 63;
  table_set_strides(&r->reader);
  r->numbers = table_input(numbers, &work);
  r->x = table_input(x, &work);
  r->n = array_size(x) / d->n_axes;
  return table_check_queries(t, f, r);
}

/* Queries are read in shares, each by one thread. */
typedef struct table_lookup_shares {
  const table_run *run;
  char *out;
  int64_t n;
} table_lookup_shares;

static void table_lookup_share(void *arg, int64_t share, int worker) {
  const table_lookup_shares *s = arg;
  const table_run *r = s->run;
  const table_reader *t = &r->reader;
  const int64_t first = pool_share_first(r->n, share, s->n), end = pool_share_first(r->n, share + 1, s->n);
  const int64_t results = t->n_orders * t->trailing;
  (void)worker;
  if (r->dtype == DAMO_FLOAT32) {
    table_read_f32(t, r->numbers, (const float *)r->x + first * t->n_axes, (float *)(void *)s->out + first * results,
                   end - first);
  } else {
    table_read_f64(t, r->numbers, (const double *)r->x + first * t->n_axes, (double *)(void *)s->out + first * results,
                   end - first);
  }
}

#define QUERY_NS 10.0     /* about, of a linear lookup in a table in cache */
#define LEAST_QUERIES 512 /* of a share */

static damo_status table_lookup_perform(const thunk *t, frame *f) {
  const table_data *d = table_data_of(t->node->op);
  const damo_array *numbers = thunk_in(t, f, d->n_axes), *x = thunk_in(t, f, d->n_axes + 1);
  const int batch = x->ndim - 1, trailing = numbers->ndim - d->n_axes;
  int64_t shape[DAMO_MAX_NDIM];
  table_run r;
  for (int k = 0; k < batch; k++) shape[k] = array_shape(x)[k];
  shape[batch] = d->n_orders;
  for (int k = 0; k < trailing; k++) shape[batch + 1 + k] = array_shape(numbers)[d->n_axes + k];
  damo_array *y = thunk_out(t, f, 0, array_dtype(numbers), batch + 1 + trailing, shape);
  if (y == NULL) return damo_error_status(f->ctx);
  for (int a = 0; a < d->n_axes; a++) {
    const int64_t n = array_shape(thunk_in(t, f, a))[0], m = array_shape(numbers)[a];
    if (n != m)
      return ctx_fail(f->ctx, DAMO_ESHAPE, "interpn: axis %d has %lld points, and %lld values", a + 1, (long long)n,
                      (long long)m);
  }
  DAMO_TRY(table_prepare(t, f, d->n_axes, &r));
  thread_pool *pool = ctx_pool(f->ctx, QUERY_NS * (double)r.n * d->n_orders * (double)r.reader.trailing);
  table_lookup_shares s = {.run = &r, .out = y->data, .n = pool_shares(pool, r.n, LEAST_QUERIES)};
  pool_run(pool, s.n, table_lookup_share, &s);
  return DAMO_OK;
}

#define SCATTER_QUERIES 256 /* between two points */

static damo_status table_scatter_perform(const thunk *t, frame *f) {
  const table_data *d = table_data_of(t->node->op);
  const damo_array *g = thunk_in(t, f, d->n_axes), *x = thunk_in(t, f, d->n_axes + 1);
  const int batch = x->ndim - 1, trailing = g->ndim - batch - 1;
  int64_t shape[DAMO_MAX_NDIM];
  table_run r;
  for (int a = 0; a < d->n_axes; a++) shape[a] = array_shape(thunk_in(t, f, a))[0];
  for (int k = 0; k < trailing; k++) shape[d->n_axes + k] = array_shape(g)[batch + 1 + k];
  for (int k = 0; k <= batch; k++) {
    const int64_t want = k < batch ? array_shape(x)[k] : d->n_orders;
    if (array_shape(g)[k] != want)
      return ctx_fail(f->ctx, DAMO_ESHAPE, "TableScatter: axis %d of the cotangent has length %lld, expected %lld",
                      k + 1, (long long)array_shape(g)[k], (long long)want);
  }
  damo_array *out = thunk_out(t, f, 0, array_dtype(g), d->n_axes + trailing, shape);
  if (out == NULL) return damo_error_status(f->ctx);
  DAMO_TRY(table_prepare(t, f, batch + 1, &r));
  array_zero_bytes(f->ctx, out->data, (size_t)array_size(out) * dtype_size(array_dtype(out)));
  const int64_t results = r.reader.n_orders * r.reader.trailing;
  for (int64_t k = 0; k < r.n; k += SCATTER_QUERIES) {
    const int64_t n = r.n - k < SCATTER_QUERIES ? r.n - k : SCATTER_QUERIES;
    if (r.dtype == DAMO_FLOAT32) {
      table_add_f32(&r.reader, (float *)(void *)out->data, (const float *)r.x + k * r.reader.n_axes,
                    (const float *)r.numbers + k * results, n);
    } else {
      table_add_f64(&r.reader, (double *)(void *)out->data, (const double *)r.x + k * r.reader.n_axes,
                    (const double *)r.numbers + k * results, n);
    }
    ctx_point(f->ctx);
  }
  return DAMO_OK;
}

/* ---- C source ---------------------------------------------------------------------------------------------------- */

/* The reader as a variable, set up as table_prepare does it. */
static damo_status table_emit_reader(c_emit *e, const table_data *d, int64_t trailing) {
  static const char *const kinds[] = {"TABLE_NEAREST", "TABLE_LINEAR", "TABLE_SPLINE"};
  static const char *const ways[] = {"TABLE_EXTRAPOLATE", "TABLE_CLIP", "TABLE_FILL"};
  const char *orders = "";
  for (int k = 0; k < d->n_orders * d->n_axes; k++)
    orders = ce_text(e, "%s%s%d", orders, k > 0 ? ", " : "", d->orders[k]);
  ce_line(e, "static const int8_t orders[] = {%s};", orders);
  ce_line(e, "table_reader reader = {.kind = %s, .outside = %s, .n_axes = %d, .n_orders = %d, .orders = orders};",
          kinds[d->kind], ways[d->outside], d->n_axes, d->n_orders);
  ce_line(e, "reader.fill = %s;", ce_number(e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = d->fill}));
  ce_line(e, "reader.trailing = %lld;", (long long)trailing);
  for (int a = 0; a < d->n_axes && e->status == DAMO_OK; a++)
    table_emit_axis(e, ce_in(e, a), table_least_points(d), ce_text(e, "reader.axis[%d]", a));
  ce_line(e, "table_set_strides(&reader);");
  return e->status;
}

/* The queries, which are looked at where those outside are refused. */
static const c_value *table_emit_queries(c_emit *e, const table_data *d, const c_value *x) {
  x = ce_contiguous(e, x);
  if (x == NULL || !d->refuses) return x;
  ce_line(e, "int outside;");
  ce_fail_if(e, "table_find_outside_%s(&reader, %s, %lld, &outside) >= 0", ce_suffix(x->dtype), ce_p(e, x),
             (long long)(ce_size(x) / d->n_axes));
  return x;
}

static damo_status table_lookup_emit_c(c_emit *e, const damo_apply *node) {
  const table_data *d = table_data_of(node->op);
  const c_value *numbers = ce_in(e, d->n_axes), *x = ce_in(e, d->n_axes + 1);
  const int batch = x->ndim - 1, trailing = numbers->ndim - d->n_axes;
  int64_t shape[DAMO_MAX_NDIM], inner = 1;
  for (int k = 0; k < batch; k++) shape[k] = x->shape[k];
  shape[batch] = d->n_orders;
  for (int k = 0; k < trailing; k++) inner *= shape[batch + 1 + k] = numbers->shape[d->n_axes + k];
  const c_value *y = ce_out(e, 0, var_dtype(node->out[0]), batch + 1 + trailing, shape);
  for (int a = 0; a < d->n_axes; a++)
    if (ce_in(e, a)->shape[0] != numbers->shape[a]) return ce_refuse(e, "points and values of other lengths");
  if (y == NULL || ce_size(y) == 0) return e->status;
  DAMO_TRY(table_emit_reader(e, d, inner));
  numbers = ce_contiguous(e, numbers);
  x = table_emit_queries(e, d, x);
  if (numbers == NULL || x == NULL) return e->status;
  ce_line(e, "table_read_%s(&reader, %s, %s, %s, %lld);", ce_suffix(y->dtype), ce_p(e, numbers), ce_p(e, x), ce_p(e, y),
          (long long)(ce_size(x) / d->n_axes));
  return e->status;
}

static damo_status table_scatter_emit_c(c_emit *e, const damo_apply *node) {
  const table_data *d = table_data_of(node->op);
  const c_value *g = ce_in(e, d->n_axes), *x = ce_in(e, d->n_axes + 1);
  const int batch = x->ndim - 1, trailing = g->ndim - batch - 1;
  int64_t shape[DAMO_MAX_NDIM], inner = 1;
  for (int a = 0; a < d->n_axes; a++) shape[a] = ce_in(e, a)->shape[0];
  for (int k = 0; k < trailing; k++) inner *= shape[d->n_axes + k] = g->shape[batch + 1 + k];
  const c_value *y = ce_out(e, 0, var_dtype(node->out[0]), d->n_axes + trailing, shape);
  for (int k = 0; k <= batch; k++)
    if (g->shape[k] != (k < batch ? x->shape[k] : d->n_orders)) return ce_refuse(e, "a cotangent of another shape");
  if (y == NULL || ce_size(y) == 0) return e->status;
  ce_fill(e, y, "0");
  if (ce_size(g) == 0) return e->status;
  DAMO_TRY(table_emit_reader(e, d, inner));
  g = ce_contiguous(e, g);
  x = table_emit_queries(e, d, x);
  if (g == NULL || x == NULL) return e->status;
  ce_line(e, "table_add_%s(&reader, %s, %s, %s, %lld);", ce_suffix(y->dtype), ce_p(e, y), ce_p(e, x), ce_p(e, g),
          (long long)(ce_size(x) / d->n_axes));
  return e->status;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static damo_status table_lookup_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                            damo_var ***out_shape) {
  const table_data *t = table_data_of(node->op);
  const int d = t->n_axes, batch = var_ndim(node->in[d + 1]) - 1;
  int n = 0;
  for (int k = 0; k < batch; k++) out_shape[0][n++] = in_shape[d + 1][k];
  out_shape[0][n++] = build_i64(b, t->n_orders);
  for (int k = d; k < var_ndim(node->in[d]); k++) out_shape[0][n++] = in_shape[d][k];
  return b->status;
}

static damo_status table_scatter_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                             damo_var ***out_shape) {
  const int d = table_data_of(node->op)->n_axes, batch = var_ndim(node->in[d + 1]) - 1;
  for (int a = 0; a < d; a++) out_shape[0][a] = in_shape[a][0];
  for (int k = batch + 1; k < var_ndim(node->in[d]); k++) out_shape[0][d + k - batch - 1] = in_shape[d][k];
  return b->status;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* The orders of differentiation of a node made like another: the same; for each of them and each axis the same with that
 * axis's raised by one; or a single one, of 0 along each axis. */
typedef enum table_orders { ORDERS_SAME, ORDERS_RAISED, ORDERS_ZERO } table_orders;

/* A node of that class with op's properties but for the orders. */
static damo_var *build_table_like(build *b, const op_def *def, const damo_op *op, table_orders how, damo_var *const *in,
                                  int n_in) {
  const table_data *t = table_data_of(op);
  const int d = n_in - 2, n = how == ORDERS_ZERO ? 1 : how == ORDERS_RAISED ? t->n_orders * d : t->n_orders;
  if (b->status != DAMO_OK) return NULL;
  if (n > MOST_ORDERS)
    return build_fail(b, DAMO_ENOT_IMPLEMENTED, "interpn: more than %d derivatives at once", MOST_ORDERS);
  const size_t bytes = ((size_t)(n * d) + 1) * sizeof(prop_value);
  prop_value *list = mem_alloc(b->ctx, bytes);
  if (list == NULL) return build_take(b, NULL);
  list[0] = prop_int(d);
  for (int r = 0; r < n; r++) {
    for (int a = 0; a < d; a++) {
      const int of = how == ORDERS_RAISED ? r / d : r;
      const int order = how == ORDERS_ZERO ? 0 : t->orders[of * d + a] + (how == ORDERS_RAISED && r % d == a);
      list[1 + r * d + a] = prop_int(order);
    }
  }
  table_props p = *OP_PROPS(op, table_props);
  p.orders = prop_list(list, n * d + 1);
  damo_op *made = op_new(b->ctx, def, &p);
  mem_free(b->ctx, list, bytes);
  return build_op(b, made, in, n_in);
}

/* The gradient for the queries: Re Σ conj(g) ∂y/∂x over orders and trailing axes. g: (batch…, orders, trailing…); the
 * derivatives z: (batch…, orders · axes, trailing…). */
static damo_var *table_queries_gradient(build *b, const damo_op *op, damo_var *g, damo_var *z, damo_var *x) {
  const table_data *t = table_data_of(op);
  const int batch = var_ndim(x) - 1, d = t->n_axes;
  damo_var *dims[DAMO_MAX_NDIM + 1];
  int pattern[DAMO_MAX_NDIM + 1], axes[DAMO_MAX_NDIM], n = 0;
  if (g == NULL || z == NULL) return NULL;
  const int ndim = var_ndim(g) + 1;
  if (ndim > DAMO_MAX_NDIM)
    return build_fail(b, DAMO_ENOT_IMPLEMENTED, "interpn: a gradient of more than %d axes", ndim);
  for (int k = 0; k < ndim; k++) {
    pattern[k] = k < batch + 1 ? k : k == batch + 1 ? -1 : k - 1;
    dims[k] = k == batch       ? build_i64(b, t->n_orders)
              : k == batch + 1 ? build_i64(b, d)
                               : build_dim(b, z, k < batch ? k : k - 1);
    if (k >= batch && k != batch + 1) axes[n++] = k;
  }
  z = build_reshape(b, z, build_vector(b, dims, ndim), ndim);
  g = build_dimshuffle(b, g, pattern, ndim);
  damo_var *product = build_mul(b, build_conj_if_complex(b, g), z);
  if (product != NULL && dtype_is_complex(var_dtype(product))) product = build_real(b, product);
  return build_reduce(b, REDUCE_SUM, product, axes, n, false);
}

static bool table_reads_values(const table_data *t) {
  for (int k = 0; k < t->n_axes; k++) {
    if (t->orders[k] != 0) return false;
  }
  return t->n_orders == 1;
}

/* A linear table's derivative by point k of an axis is -slope · (the weight of point k), in the cell's slope along the
 * axis: minus the queries' gradients along that axis, scattered over it. */
static damo_var *table_points_gradient(build *b, const damo_apply *node, damo_var *gx, int axis) {
  const int d = table_data_of(node->op)->n_axes, last = var_ndim(gx) - 1;
  damo_var *of = build_slice(b, gx, last, build_i64(b, axis), build_i64(b, axis + 1), 1);
  damo_var *x = build_slice(b, node->in[d + 1], last, build_i64(b, axis), build_i64(b, axis + 1), 1);
  damo_var *in[3] = {node->in[axis], of, x};
  if (of == NULL || x == NULL) return NULL;
  return build_neg(b, build_table_like(b, &table_scatter_def, node->op, ORDERS_ZERO, in, 3));
}

static void table_points_gradients(build *b, damo_apply *node, damo_var *gx, damo_var **gin) {
  const table_data *t = table_data_of(node->op);
  for (int a = 0; a < t->n_axes; a++) {
    if (t->kind == TABLE_NEAREST) {
      gin[a] = build_zero_grad(b, node->in[a]);
    } else if (t->kind == TABLE_LINEAR && node->op->def == &table_lookup_def && table_reads_values(t)) {
      gin[a] = table_points_gradient(b, node, gx, a);
    } else {
      gin[a] =
          build_null(b, "interpn: the gradient for the points is not implemented for this method, nor a second one");
    }
  }
}

static damo_status table_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const table_data *t = table_data_of(node->op);
  const int d = t->n_axes;
  const bool scatters = node->op->def == &table_scatter_def;
  damo_var *in[TABLE_MAX_AXES + 2], *x = node->in[d + 1];
  if (gout[0] == NULL) return DAMO_OK;
  for (int i = 0; i < d + 2; i++) in[i] = node->in[i];
  in[d] = gout[0];
  gin[d] = build_table_like(b, scatters ? &table_lookup_def : &table_scatter_def, node->op, ORDERS_SAME, in, d + 2);
  if (t->kind == TABLE_NEAREST) {
    gin[d + 1] = build_zero_grad(b, x);
  } else { /* the numbers read are the table, of a scatter the table's cotangent */
    in[d] = scatters ? gout[0] : node->in[d];
    damo_var *z = build_table_like(b, &table_lookup_def, node->op, ORDERS_RAISED, in, d + 2);
    gin[d + 1] = table_queries_gradient(b, node->op, scatters ? node->in[d] : gout[0], z, x);
  }
  table_points_gradients(b, node, gin[d + 1], gin);
  return b->status;
}

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

/* v with its first k axes made the last ones, or with `back` its last k axes made the first ones. */
static damo_var *table_turn(build *b, damo_var *v, int k, bool back) {
  int pattern[DAMO_MAX_NDIM];
  if (v == NULL) return NULL;
  const int ndim = var_ndim(v), shift = back ? ndim - k : k;
  for (int i = 0; i < ndim; i++) pattern[i] = (i + shift) % ndim;
  return build_dimshuffle(b, v, pattern, ndim);
}

/* Queries of a lookup may have any leading axes; further axes of the table, or of a scatter's cotangent, are trailing
 * ones. There is no rule for several grids, nor where both the queries and the table change. */
static damo_status table_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                               damo_var **out) {
  const int d = table_data_of(node->op)->n_axes;
  for (int a = 0; a < d; a++) {
    if (batched[a]) return DAMO_OK;
  }
  if (batched[d + 1] && (batched[d] || node->op->def == &table_scatter_def)) return DAMO_OK;
  if (batched[d]) in[d] = table_turn(b, in[d], k, false);
  if (b->status != DAMO_OK) return b->status;
  out[0] = build_op(b, damo_retain(node->op), in, d + 2);
  if (batched[d]) out[0] = table_turn(b, out[0], k, true);
  return b->status;
}

const op_def table_lookup_def = {
    .name = "TableLookup",
    .doc = "a table over a grid read at queries between its points",
    .props =
        PROPS(PROP(table_props, kind), PROP(table_props, outside), PROP(table_props, fill), PROP(table_props, orders)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(table_data),
    .init = table_init,
    .infer_type = table_lookup_infer_type,
    .perform = table_lookup_perform,
    .emit_c = table_lookup_emit_c,
    .grad = table_grad,
    .infer_shape = table_lookup_infer_shape,
    .batch = table_batch,
    .nonfinite = NONFINITE_ANY,
    .no_check = "dense: spec/op/rows/table.lua has results by hand and from plain loops",
};

const op_def table_scatter_def = {
    .name = "TableScatter",
    .doc = "cotangents of a lookup added to the places of the table that were read",
    .props =
        PROPS(PROP(table_props, kind), PROP(table_props, outside), PROP(table_props, fill), PROP(table_props, orders)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(table_data),
    .init = table_init,
    .infer_type = table_scatter_infer_type,
    .perform = table_scatter_perform,
    .emit_c = table_scatter_emit_c,
    .grad = table_grad,
    .infer_shape = table_scatter_infer_shape,
    .batch = table_batch,
    .no_check = "dense: spec/op/rows/table.lua has results by hand and from plain loops",
};

damo_var *build_table_lookup(build *b, const table_call *c, const char *kind) {
  damo_var *in[TABLE_MAX_AXES + 2];
  prop_value list[TABLE_MAX_AXES + 1] = {prop_int(c->d)};
  if (b->status != DAMO_OK) return NULL;
  for (int a = 0; a < c->d; a++) in[a] = c->points[a], list[a + 1] = prop_int(0);
  in[c->d] = c->values;
  in[c->d + 1] = c->x;
  const table_props p = {.kind = prop_str(kind),
                         .outside = prop_str(c->outside),
                         .fill = prop_num(c->fill),
                         .orders = prop_list(list, c->d + 1)};
  return build_op(b, op_new(b->ctx, &table_lookup_def, &p), in, c->d + 2);
}

#undef MOST_ORDERS
#undef QUERY_NS
#undef LEAST_QUERIES
