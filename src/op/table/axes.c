/* axes: the inputs of tables' thunks as the kernels take them. */
#include "table_int.h"

#include <math.h>
#include <stdio.h>

size_t table_input_size(const damo_array *a) {
  return array_is_contiguous(a) ? 0 : ((size_t)array_size(a) * dtype_size(array_dtype(a)) + 63) & ~(size_t)63;
}

const void *table_input(const damo_array *a, char **work) {
  if (array_is_contiguous(a)) return a->data;
  char *copy = *work;
  array_copy_box(a->obj.ctx, a->data, array_strides(a), copy, NULL, a->ndim, array_shape(a),
                 dtype_size(array_dtype(a)));
  *work += table_input_size(a);
  return copy;
}

damo_status table_read_axis(damo_ctx *ctx, const damo_array *points, int axis, int64_t least, char **work,
                            table_axis *out) {
  const int64_t n = array_shape(points)[0], step = array_strides(points)[0];
  double *p = (double *)(void *)*work;
  if (n < least)
    return ctx_fail(ctx, DAMO_ESHAPE, "interpn: axis %d has %lld points; this method needs %lld", axis + 1,
                    (long long)n, (long long)least);
  for (int64_t k = 0; k < n; k++) {
    const char *at = points->data + k * step;
    p[k] = array_dtype(points) == DAMO_FLOAT32 ? (double)*(const float *)(const void *)at
                                               : *(const double *)(const void *)at;
    ctx_point_each(ctx, k, 4096);
  }
  *work += (size_t)n * sizeof *p;
  if (table_axis_init(out, p, n)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "interpn: the points of axis %d do not ascend", axis + 1);
}

damo_status table_refuse(damo_ctx *ctx, int64_t query, double x, int axis, const table_axis *a) {
  char number[40];
  snprintf(number, sizeof number, "%.9g", x);
  return ctx_fail(ctx, DAMO_EVALUE, "interpn: query %lld is %s along axis %d, outside %.9g … %.9g",
                  (long long)query + 1, isnan(x) ? "nan" : number, axis + 1, a->points[0], a->points[a->n - 1]);
}

damo_status table_emit_axis(c_emit *e, const c_value *points, int64_t least, const char *axis) {
  const int64_t n = points->shape[0];
  if (n < least) return ce_refuse(e, "an axis of %lld points", (long long)n);
  const c_value *doubles = ce_scratch(e, DAMO_FLOAT64, n);
  if (doubles == NULL) return e->status;
  e->file->specials |= 1u << C_SPECIAL_TABLE;
  ce_line(e, "for (ptrdiff_t k = 0; k < %lld; k++) %s[k] = (double)%s[k * %lld];", (long long)n, ce_p(e, doubles),
          ce_p(e, points), (long long)points->strides[0]);
  ce_fail_if(e, "!table_axis_init(&%s, %s, %lld)", axis, ce_p(e, doubles), (long long)n);
  return e->status;
}
