/* spline: SplineCoefficients, the coefficients of cubic B-splines along an axis of a table, and TableCell, the cells that
 * queries lie in. */
#include "loop/loop.h"
#include "table_int.h"

#include <string.h>

/* ---- SplineCoefficients ------------------------------------------------------------------------------------------ */

static int spline_coefficients_axis(const damo_op *op) {
  return (int)prop_int_or(OP_PROPS(op, coefficient_props)->axis, 1) - 1;
}

static damo_status spline_coefficients_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const int axis = spline_coefficients_axis(op);
  (void)n_in;
  if (!type_is_tensor(in[0]->type) || !type_is_tensor(in[1]->type) || var_ndim(in[0]) != 1 || axis < 0 ||
      axis >= var_ndim(in[1]) || !dtype_is_float(var_dtype(in[0])) || dtype_is_discrete(var_dtype(in[1])))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE,
                    "SplineCoefficients: points and a table of floats with that axis are expected");
  out[0] = damo_retain(in[1]->type);
  return DAMO_OK;
}

static damo_status spline_coefficients_perform(const thunk *t, frame *f) {
  const int axis = spline_coefficients_axis(t->node->op);
  const bool transpose = prop_bool_or(OP_PROPS(t->node->op, coefficient_props)->transpose, false);
  const damo_array *points = thunk_in(t, f, 0), *v = thunk_in(t, f, 1);
  const int64_t n = array_shape(points)[0], *shape = array_shape(v);
  const damo_dtype dt = array_dtype(v);
  int64_t outer = 1, inner = dtype_is_complex(dt) ? 2 : 1;
  table_axis a;
  if (shape[axis] != n)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "interpn: axis %d has %lld points, and %lld values", axis + 1, (long long)n,
                    (long long)shape[axis]);
  char *work = thunk_scratch(t, f, (size_t)(SPLINE_FACTOR(n) + n) * sizeof(double) + 64);
  damo_array *out = work ? thunk_out(t, f, 0, dt, v->ndim, shape) : NULL;
  if (out == NULL) return damo_error_status(f->ctx);
  double *factor = (double *)(void *)work;
  work += (size_t)SPLINE_FACTOR(n) * sizeof(double);
  DAMO_TRY(table_read_axis(f->ctx, points, axis, 4, &work, &a));
  for (int k = 0; k < axis; k++) outer *= shape[k];
  for (int k = axis + 1; k < v->ndim; k++) inner *= shape[k];
  array_copy_box(f->ctx, v->data, array_strides(v), out->data, NULL, v->ndim, shape, dtype_size(dt));
  spline_factor(&a, factor);
  if (dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64) {
    spline_solve_f32(factor, n, transpose, (float *)(void *)out->data, outer, inner);
  } else {
    spline_solve_f64(factor, n, transpose, (double *)(void *)out->data, outer, inner);
  }
  return DAMO_OK;
}

static damo_status spline_coefficients_emit_c(c_emit *e, const damo_apply *node) {
  const int axis = spline_coefficients_axis(node->op);
  const bool transpose = prop_bool_or(OP_PROPS(node->op, coefficient_props)->transpose, false);
  const c_value *points = ce_in(e, 0), *v = ce_in(e, 1);
  const int64_t n = points->shape[0];
  int64_t outer = 1, inner = 1;
  const c_value *y = ce_out(e, 0, var_dtype(node->out[0]), v->ndim, v->shape);
  const c_value *factor = ce_scratch(e, DAMO_FLOAT64, SPLINE_FACTOR(n));
  if (v->shape[axis] != n) return ce_refuse(e, "points and values of other lengths");
  if (y == NULL || factor == NULL || ce_size(y) == 0) return e->status;
  for (int k = 0; k < axis; k++) outer *= v->shape[k];
  for (int k = axis + 1; k < v->ndim; k++) inner *= v->shape[k];
  ce_line(e, "table_axis axis;");
  DAMO_TRY(table_emit_axis(e, points, 4, "axis"));
  ce_copy(e, y, v);
  ce_line(e, "spline_factor(&axis, %s);", ce_p(e, factor));
  ce_line(e, "spline_solve_%s(%s, %lld, %d, %s, %lld, %lld);", ce_suffix(y->dtype), ce_p(e, factor), (long long)n,
          transpose, ce_p(e, y), (long long)outer, (long long)inner);
  return e->status;
}

static damo_var *build_spline_solution(build *b, damo_var *points, damo_var *values, int axis, bool transpose) {
  if (b->status != DAMO_OK || points == NULL || values == NULL) return NULL;
  const coefficient_props p = {.axis = prop_int(axis + 1), .transpose = prop_bool(transpose)};
  return build_op(b, op_new(b->ctx, &spline_coefficients_def, &p), (damo_var *[]){points, values}, 2);
}

damo_var *build_spline_coefficients(build *b, damo_var *points, damo_var *values, int axis) {
  return build_spline_solution(b, points, values, axis, false);
}

static damo_status spline_coefficients_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const bool transpose = prop_bool_or(OP_PROPS(node->op, coefficient_props)->transpose, false);
  if (gout[0] == NULL) return DAMO_OK;
  gin[0] = build_null(b, "interpn: the gradient for the points is not implemented for cubic splines");
  gin[1] = build_spline_solution(b, node->in[0], gout[0], spline_coefficients_axis(node->op), !transpose);
  return b->status;
}

static damo_status table_infer_shape_second(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                            damo_var ***out_shape) {
  for (int k = 0; k < var_ndim(node->in[1]); k++) out_shape[0][k] = in_shape[1][k];
  return b->status;
}

static damo_status spline_coefficients_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched,
                                             int k, damo_var **out) {
  const bool transpose = prop_bool_or(OP_PROPS(node->op, coefficient_props)->transpose, false);
  const int axis = spline_coefficients_axis(node->op) + (batched[1] ? k : 0);
  if (!batched[0]) out[0] = build_spline_solution(b, in[0], in[1], axis, transpose);
  return b->status;
}

const op_def spline_coefficients_def = {
    .name = "SplineCoefficients",
    .doc = "the coefficients of the cubic spline with not-a-knot ends through values, along an axis",
    .props = PROPS(PROP_AXIS(coefficient_props, axis), PROP_FLAG(coefficient_props, transpose)),
    .n_in = 2,
    .infer_type = spline_coefficients_infer_type,
    .perform = spline_coefficients_perform,
    .emit_c = spline_coefficients_emit_c,
    .grad = spline_coefficients_grad,
    .infer_shape = table_infer_shape_second,
    .batch = spline_coefficients_batch,
    .no_check = "dense: spec/op/rows/table.lua has results by hand and from plain loops",
};

/* ---- TableCell --------------------------------------------------------------------------------------------------- */

static damo_status table_cell_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  if (!type_is_tensor(in[0]->type) || !type_is_tensor(in[1]->type) || var_ndim(in[0]) != 1 ||
      !dtype_is_float(var_dtype(in[0])) || var_dtype(in[0]) != var_dtype(in[1]))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "TableCell: points and queries of one float dtype are expected");
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, var_ndim(in[1]), in[1]->type->shape);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

#define TABLE_CELL_PART 128 /* queries between two points */

static damo_status table_cell_perform(const thunk *t, frame *f) {
  const cell_props *p = OP_PROPS(t->node->op, cell_props);
  const int axis = (int)prop_int_or(p->axis, 1) - 1;
  const bool refuses = strcmp(prop_str_or(p->outside, ""), "error") == 0;
  const damo_array *points = thunk_in(t, f, 0), *x = thunk_in(t, f, 1);
  const int64_t n = array_shape(points)[0];
  table_axis a;
  char *work = thunk_scratch(t, f, (size_t)n * sizeof(double) + 64);
  damo_array *out = work ? thunk_out(t, f, 0, DAMO_INT64, x->ndim, array_shape(x)) : NULL;
  if (out == NULL) return damo_error_status(f->ctx);
  DAMO_TRY(table_read_axis(f->ctx, points, axis, 2, &work, &a));
  array_entries e;
  int64_t *to = (int64_t *)(void *)out->data, *first = to;
  for (const char *at = entries_begin(&e, x); at; at = entries_next(&e)) {
    const double q =
        array_dtype(x) == DAMO_FLOAT32 ? (double)*(const float *)(const void *)at : *(const double *)(const void *)at;
    if (refuses && !(q >= a.points[0] && q <= a.points[n - 1])) return table_refuse(f->ctx, to - first, q, axis, &a);
    *to++ = table_cell(&a, q) + 1;
    ctx_point_each(f->ctx, to - first, TABLE_CELL_PART);
  }
  return DAMO_OK;
}

static damo_status table_cell_emit_c(c_emit *e, const damo_apply *node) {
  const cell_props *p = OP_PROPS(node->op, cell_props);
  const bool refuses = strcmp(prop_str_or(p->outside, ""), "error") == 0;
  const c_value *points = ce_in(e, 0), *x = ce_in(e, 1), *y = ce_out(e, 0, DAMO_INT64, x->ndim, x->shape);
  if (y == NULL || ce_size(y) == 0) return e->status;
  ce_line(e, "table_axis axis;");
  DAMO_TRY(table_emit_axis(e, points, 2, "axis"));
  x = ce_contiguous(e, x);
  if (x == NULL) return e->status;
  ce_for(e, "k", ce_size(x));
  ce_line(e, "const double q = (double)%s[k];", ce_p(e, x));
  if (refuses) ce_fail_if(e, "!(q >= axis.points[0] && q <= axis.points[%lld])", (long long)points->shape[0] - 1);
  ce_line(e, "%s[k] = table_cell(&axis, q) + 1;", ce_p(e, y));
  ce_close(e);
  return e->status;
}

static damo_status table_cell_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                    damo_var **out) {
  (void)k;
  if (!batched[0]) out[0] = build_op(b, damo_retain(node->op), in, 2);
  return b->status;
}

const op_def table_cell_def = {
    .name = "TableCell",
    .doc = "the 1-based cell of an ascending list of points in which each query lies",
    .props = PROPS(PROP_TEXT_OR_NIL(cell_props, outside), PROP_AXIS(cell_props, axis)),
    .n_in = 2,
    .infer_type = table_cell_infer_type,
    .perform = table_cell_perform,
    .emit_c = table_cell_emit_c,
    .grad = grad_none,
    .connection_pattern = connect_none,
    .infer_shape = table_infer_shape_second,
    .batch = table_cell_batch,
    .no_check = "dense: spec/op/rows/table.lua has results by hand and from plain loops",
};

damo_var *build_table_cell(build *b, damo_var *points, damo_var *x, const char *outside, int axis) {
  if (b->status != DAMO_OK || points == NULL || x == NULL) return NULL;
  const cell_props p = {.outside = prop_str(outside), .axis = prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, &table_cell_def, &p), (damo_var *[]){points, x}, 2);
}
