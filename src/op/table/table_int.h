/* table_int: what the files of the tables share. Private to op/table. */
#ifndef DAMO_OP_TABLE_TABLE_INT_H
#define DAMO_OP_TABLE_TABLE_INT_H

#include "graph/c_emit.h"
#include "kernel/kernel.h"
#include "kernel/table/table.h"
#include "op/op.h"
#include "op/shape/shape_int.h"

/* TableLookup and TableScatter: kind "nearest", "linear" or "spline"; outside "error", "extrapolate", "clip" or "fill";
 * orders: the number of axes, then for each result of a query the order of differentiation along each axis. */
typedef struct table_props {
  prop_value kind, outside, fill, orders;
} table_props;

/* TableCell: outside; SplineCoefficients: axis (1-based), transpose. */
typedef struct cell_props {
  prop_value outside, axis;
} cell_props;
typedef struct coefficient_props {
  prop_value axis, transpose;
} coefficient_props;

/* What a lookup over d axes is given: the points of each axis, the table, the queries (…, d). */
typedef struct table_call {
  int d;
  damo_var *points[TABLE_MAX_AXES], *values, *x;
  const char *outside;
  double fill;
} table_call;

/* What is read of the kind, (batch…, 1, trailing…). */
damo_var *build_table_lookup(build *b, const table_call *c, const char *kind);
/* The 1-based cell 1 … n - 1 of each x (any shape) of axis number `axis` (0-based, for messages). */
damo_var *build_table_cell(build *b, damo_var *points, damo_var *x, const char *outside, int axis);
/* The coefficients of the cubic spline along a 0-based axis. */
damo_var *build_spline_coefficients(build *b, damo_var *points, damo_var *values, int axis);

/* pchip.c: monotone cubic interpolation, of (batch…, trailing…). */
damo_var *build_table_pchip(build *b, const table_call *c);

extern const op_def table_lookup_def, table_scatter_def, table_cell_def, spline_coefficients_def;

/* axes.c: the values of a thunk's inputs as the kernels take them. All memory is the caller's. */

/* The scratch bytes of input i as a C-contiguous array of its dtype, 0 where it is one already; and its address, copied
 * to *work, which moves on. */
size_t table_input_size(const damo_array *a);
const void *table_input(const damo_array *a, char **work);
/* The points of an axis as float64; *work moves on by 8 n bytes. A value error where they do not ascend, a shape error
 * where there are fewer than `least`. axis: 0-based, for the message. */
damo_status table_read_axis(damo_ctx *ctx, const damo_array *points, int axis, int64_t least, char **work,
                            table_axis *out);
/* The error for a query, 0-based, whose coordinate x lies outside the axis. */
damo_status table_refuse(damo_ctx *ctx, int64_t query, double x, int axis, const table_axis *a);

/* As table_read_axis in C source: sets up the axis that the expression names; its points become doubles. */
damo_status table_emit_axis(c_emit *e, const c_value *points, int64_t least, const char *axis);

#endif
