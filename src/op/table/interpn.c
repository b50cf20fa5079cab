/* interpn: values over a rectangular grid, interpolated at queries.
 *
 * nearest and linear are one TableLookup. cubic is one of the coefficients of B-splines, which SplineCoefficients gives
 * axis by axis. pchip, which is not linear in the values, is a graph (pchip.c).
 */
#include "op/elem/build_arith.h"
#include "table_int.h"

#include <string.h>

typedef struct interpn_options {
  prop_value method, outside;
} interpn_options;

static bool interpn_is_one_of(const char *name, const char *const *list) {
  while (*list != NULL && strcmp(*list, name) != 0) list++;
  return *list != NULL;
}

/* The method, and what becomes of queries outside. */
static damo_status interpn_read_options(damo_ctx *ctx, const interpn_options *o, const char **method, table_call *c) {
  static const char *const methods[] = {"linear", "nearest", "pchip", "cubic", NULL};
  static const char *const ways[] = {"error", "clip", "extrapolate", NULL};
  *method = prop_str_or(o->method, "linear");
  c->outside = prop_str_or(o->outside, "error");
  if (!interpn_is_one_of(*method, methods))
    return ctx_fail(ctx, DAMO_EVALUE, "interpn: method '%s' is none of linear, nearest, pchip, cubic", *method);
  if (o->outside.kind == PROP_NUM || o->outside.kind == PROP_INT) {
    c->outside = "fill";
    c->fill = prop_num_or(o->outside, 0);
    return DAMO_OK;
  }
  if ((prop_given(o->outside) && o->outside.kind != PROP_STR) || !interpn_is_one_of(c->outside, ways))
    return ctx_fail(ctx, DAMO_EVALUE, "interpn: outside must be 'error', 'clip', 'extrapolate' or a number");
  return DAMO_OK;
}

/* The operands, all of one float dtype (the values of its complex one where they are complex). */
static damo_status interpn_read_operands(build *b, const fn_args *a, table_call *c) {
  damo_ctx *ctx = b->ctx;
  damo_dtype dt = DAMO_BOOL;
  c->d = a->n_in - 2;
  if (c->d < 1 || c->d > TABLE_MAX_AXES)
    return ctx_fail(ctx, DAMO_EVALUE, "interpn: a grid has 1 to %d axes, not %d", TABLE_MAX_AXES, c->d);
  for (int i = 0; i < a->n_in; i++) {
    DAMO_TRY(fn_check_tensor(a, ctx, i));
    damo_var *v = build_strong(b, a->in[i]);
    if (v == NULL) return b->status;
    const damo_dtype of = var_dtype(v);
    dt = dtype_promote(dt, of == DAMO_COMPLEX64 ? DAMO_FLOAT32 : of == DAMO_COMPLEX128 ? DAMO_FLOAT64 : of);
    if (dtype_is_complex(of) && i != c->d)
      return ctx_fail(ctx, DAMO_ETYPE, "interpn: points and queries must be real, not %s", dtype_name(of));
    if (i < c->d && var_ndim(v) != 1)
      return ctx_fail(ctx, DAMO_ESHAPE, "interpn: the points of axis %d must be a vector, not of %d axes", i + 1,
                      var_ndim(v));
    *(i < c->d ? &c->points[i] : i == c->d ? &c->values : &c->x) = v;
  }
  if (dtype_is_discrete(dt)) dt = DAMO_FLOAT64;
  const bool is_complex = dtype_is_complex(var_dtype(c->values));
  for (int i = 0; i < c->d; i++) c->points[i] = build_cast(b, c->points[i], dt);
  c->x = build_cast(b, c->x, dt);
  c->values = build_cast(b, c->values, !is_complex ? dt : dt == DAMO_FLOAT32 ? DAMO_COMPLEX64 : DAMO_COMPLEX128);
  return b->status;
}

/* Over one axis a query may be a number, and queries a vector. */
static damo_status interpn_check_queries(build *b, table_call *c) {
  const int ndim = var_ndim(c->x);
  if (c->d == 1 && ndim < 2) c->x = build_new_axis(b, c->x, ndim);
  if (c->x == NULL) return b->status;
  if (var_ndim(c->x) < 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "interpn: the queries must have a last axis of length %d", c->d);
  if (var_ndim(c->values) < c->d)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "interpn: the values have %d axes, for the points of %d", var_ndim(c->values),
                    c->d);
  for (int a = 0; a < c->d; a++) {
    const int64_t n = c->points[a]->type->shape[0], m = c->values->type->shape[a];
    if (n >= 0 && m >= 0 && n != m)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "interpn: axis %d has %lld points, and %lld values", a + 1, (long long)n,
                      (long long)m);
  }
  return DAMO_OK;
}

/* y with its axis of length 1 before the trailing ones dropped. */
static damo_var *interpn_drop_orders(build *b, damo_var *y, int batch) {
  int pattern[DAMO_MAX_NDIM], n = 0;
  if (y == NULL) return NULL;
  for (int k = 0; k < var_ndim(y); k++) {
    if (k != batch) pattern[n++] = k;
  }
  return build_dimshuffle(b, y, pattern, n);
}

static damo_status fn_interpn(build *b, const fn_args *a, ptrvec *out) {
  const char *method;
  table_call c = {.d = 0};
  DAMO_TRY(interpn_read_options(b->ctx, FN_OPTIONS(a, interpn_options), &method, &c));
  DAMO_TRY(interpn_read_operands(b, a, &c));
  DAMO_TRY(interpn_check_queries(b, &c));
  const int batch = var_ndim(c.x) - 1;
  if (strcmp(method, "pchip") == 0) {
    if (dtype_is_complex(var_dtype(c.values)))
      return ctx_fail(b->ctx, DAMO_ETYPE, "interpn: pchip is not defined for %s", dtype_name(var_dtype(c.values)));
    return fn_give(b, out, build_table_pchip(b, &c));
  }
  const bool cubic = strcmp(method, "cubic") == 0;
  for (int k = 0; cubic && k < c.d; k++) c.values = build_spline_coefficients(b, c.points[k], c.values, k);
  if (c.values == NULL) return b->status;
  return fn_give(b, out, interpn_drop_orders(b, build_table_lookup(b, &c, cubic ? "spline" : method), batch));
}

const op_func table_funcs[] = {
    {.name = "interpn",
     .operands = "points... values xi",
     .options = OPTIONS(OPT(interpn_options, method, OPT_STR), OPT(interpn_options, outside, OPT_ANY)),
     .call = fn_interpn,
     .doc = "values over a grid with these points of each axis, interpolated at queries (…, axes); method 'linear' "
            "(default), 'nearest', 'pchip', 'cubic'; outside 'error' (default), 'clip', 'extrapolate' or a number",
     .no_method = true},
    {.name = NULL},
};

const op_def *const table_classes[] = {&table_lookup_def, &table_scatter_def, &table_cell_def, &spline_coefficients_def,
                                       NULL};
