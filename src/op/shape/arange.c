/* arange: ARange: evenly spaced values, as arange and linspace give them, and ranges of positions.
 *
 * The length of a range of integers is exact for all int64 values; that of floats is ceil((stop - start) / step).
 */
#include "graph/c_emit.h"
#include "shape_int.h"
#include "op/elem/build_arith.h"

#include <math.h>

static int64_t arange_length(double start, double stop, double step) {
  double n = ceil((stop - start) / step);
  return n > 0 ? (n < 9e18 ? (int64_t)n : INT64_MAX) : 0;
}

/* Exact for integers of any size. */
static int64_t arange_length_int(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? stop <= start : stop >= start) return 0;
  uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
  uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  return (int64_t)((span - 1) / by + 1);
}

damo_status arange_count(damo_ctx *ctx, scalar start, scalar stop, scalar step, int64_t *n) {
  if (scalar_to_double(step) == 0) return ctx_fail(ctx, DAMO_EVALUE, "arange: the step is 0");
  double width = scalar_to_double(stop) - scalar_to_double(start) - scalar_to_double(step);
  if (!isfinite(width)) return ctx_fail(ctx, DAMO_EVALUE, "arange: start, stop and step must be finite");
  if (dtype_is_integer(start.dtype))
    *n = arange_length_int(scalar_to_int64(start), scalar_to_int64(stop), scalar_to_int64(step));
  else
    *n = arange_length(scalar_to_double(start), scalar_to_double(stop), scalar_to_double(step));
  return DAMO_OK;
}

loop_range arange_values(damo_dtype dtype, scalar start, scalar step) {
  loop_range r;
  if (dtype == DAMO_INT64) {
    r.start.i = scalar_to_int64(start);
    r.step.i = scalar_to_int64(step);
  } else {
    r.start.f = scalar_to_double(start);
    r.step.f = scalar_to_double(step);
  }
  return r;
}

static damo_status arange_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  int64_t n = -1;
  const damo_array *a = var_constant_array(in[0]), *z = var_constant_array(in[1]), *s = var_constant_array(in[2]);
  for (int i = 0; i < 3; i++)
    if (!type_is_tensor(in[i]->type) || var_ndim(in[i]) != 0 || dtype_is_complex(var_dtype(in[i])))
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "arange: start, stop and step must be real scalars");
  if (a && z && s) DAMO_TRY(arange_count(op->obj.ctx, array_item(a), array_item(z), array_item(s), &n));
  out[0] = type_tensor(op->obj.ctx, prop_dtype(OP_PROPS(op, dtype_props)->dtype), 1, &n);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

#define ARANGE_PART 4096 /* entries between two points */

static damo_status arange_perform(const thunk *t, frame *f) {
  scalar start = array_item(thunk_in(t, f, 0)), step = array_item(thunk_in(t, f, 2));
  damo_dtype dt = prop_dtype(OP_PROPS(t->node->op, dtype_props)->dtype);
  int64_t n;
  DAMO_TRY(arange_count(f->ctx, start, array_item(thunk_in(t, f, 1)), step, &n));
  damo_array *out = thunk_out(t, f, 0, dt, 1, &n);
  if (!out) return DAMO_EMEMORY;
  if (loop_range_has(dt)) {
    const loop_range r = arange_values(dt, start, step);
    const int64_t size = (int64_t)dtype_size(dt);
    for (int64_t i = 0; i < n; i += ARANGE_PART) {
      loop_range_fill(&r, dt, i, 1, out->data + i * size, n - i < ARANGE_PART ? n - i : ARANGE_PART);
      ctx_point(f->ctx);
    }
    return DAMO_OK;
  }
  double at = scalar_to_double(start), by = scalar_to_double(step);
  for (int64_t i = 0; i < n; i++) {
    array_set(out, &i, (scalar){.dtype = DAMO_FLOAT64, .v.f = at + (double)i * by});
    ctx_point_each(f->ctx, i, ARANGE_PART / 4);
  }
  return DAMO_OK;
}

static damo_status arange_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  (void)in_shape;
  if (node->out[0]->type->shape[0] >= 0) {
    out_shape[0][0] = build_i64(b, node->out[0]->type->shape[0]);
    return b->status;
  }
  damo_var *span = build_sub(b, node->in[1], node->in[0]);
  damo_var *n = build_cast(b, build_ceil(b, build_true_div(b, span, node->in[2])), DAMO_INT64);
  out_shape[0][0] = build_maximum(b, n, build_i64(b, 0));
  return b->status;
}

static damo_status arange_emit_c(c_emit *e, const damo_apply *node) {
  const damo_dtype given = prop_dtype(OP_PROPS(node->op, dtype_props)->dtype);
  scalar at[3];
  int64_t n;
  for (int i = 0; i < 3; i++) {
    const damo_array *a = ce_known(e, i);
    if (a == NULL) return ce_refuse(e, "its length is computed from values");
    at[i] = array_item(a);
  }
  const damo_status s = arange_count(e->ctx, at[0], at[1], at[2], &n);
  if (s != DAMO_OK) return e->status = s;
  const c_value *out = ce_out(e, 0, given, 1, &n);
  if (out == NULL || n == 0) return e->status;
  const damo_dtype in = given == DAMO_INT64 ? DAMO_INT64 : DAMO_FLOAT64;
  const char *start = ce_number(e, in, scalar_cast(at[0], in)), *step = ce_number(e, in, scalar_cast(at[2], in));
  ce_for(e, "i", n);
  ce_line(e, "%s[i] = %s;", ce_p(e, out),
          given == DAMO_INT64 ? ce_text(e, "(int64_t)((uint64_t)%s + (uint64_t)i * (uint64_t)%s)", start, step)
                              : ce_cast(e, DAMO_FLOAT64, out->dtype, ce_text(e, "(%s + (double)i * %s)", start, step)));
  ce_close(e);
  return e->status;
}

const op_def arange_def = {
    .name = "ARange",
    .doc = "start, start + step … before stop",
    .props = PROPS(PROP_DTYPE(dtype_props, dtype)),
    .n_in = 3,
    .infer_type = arange_type,
    .perform = arange_perform,
    .emit_c = arange_emit_c,
    .grad = grad_none,
    .infer_shape = arange_infer_shape,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/alloc.lua has results by hand and from plain loops",
};

static damo_var *build_arange(build *b, damo_var *start, damo_var *stop, damo_var *step, damo_dtype dtype) {
  damo_var *in[3] = {start, stop, step};
  const dtype_props dt = {.dtype = prop_str(dtype_name(dtype))};
  return build_op(b, op_new(b->ctx, &arange_def, &dt), in, 3);
}

damo_var *build_range(build *b, damo_var *first, damo_var *last) {
  int64_t end;
  damo_var *stop = last && var_static_int(last, &end) ? build_i64(b, end + 1) : build_add(b, last, build_i64(b, 1));
  return stop && first ? build_arange(b, first, stop, build_i64(b, 1), DAMO_INT64) : NULL;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The dtype of a range: int64 where all operands are integers, else the common dtype of the floats that are not
 * literals, or floatX where there is none. */
static damo_dtype arange_dtype(const build *b, damo_var *const *in) {
  damo_dtype dt = DAMO_INT64;
  bool weak_float = false;
  for (int i = 0; i < 3; i++) {
    damo_dtype d = in[i] ? var_dtype(in[i]) : DAMO_INT64;
    if (!dtype_is_float(d)) continue;
    if (in[i]->weak)
      weak_float = true;
    else
      dt = dtype_is_float(dt) ? dtype_promote(dt, d) : d;
  }
  return weak_float && dt == DAMO_INT64 ? b->ctx->config.floatX : dt;
}

/* A cast that gives a constant for a constant, so that a length stays static. */
static damo_var *cast_constant(build *b, damo_var *v, damo_dtype dtype) {
  if (!v) return NULL;
  const damo_array *a = var_constant_array(v);
  return a && var_dtype(v) != dtype ? build_value(b, (damo_obj *)array_cast(a, dtype)) : build_cast(b, v, dtype);
}

static damo_status fn_arange(build *b, const fn_args *a, ptrvec *out) {
  bool one = !a->in[1];
  damo_var *in[3] = {one ? NULL : a->in[0], one ? a->in[0] : a->in[1], a->in[2]};
  for (int i = 0; i < 3; i++)
    if (in[i] && (!type_is_tensor(in[i]->type) || dtype_is_complex(var_dtype(in[i]))))
      return ctx_fail(b->ctx, DAMO_ETYPE, "arange: start, stop and step must be real scalars");
  damo_dtype dt = arange_dtype(b, in), loop = dt == DAMO_INT64 ? DAMO_INT64 : DAMO_FLOAT64;
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, dtype_options)->dtype, &dt));
  for (int i = 0; i < 3; i++) {
    in[i] = in[i] ? cast_constant(b, build_strong(b, in[i]), loop) : build_scalar(b, loop, i == 0 ? 0 : 1);
    if (!in[i]) return b->status;
  }
  return fn_give(b, out, build_arange(b, in[0], in[1], in[2], dt));
}

typedef struct linspace_options {
  prop_value num, dtype;
} linspace_options;

/* (1 - p) start + p stop with p = i / (n - 1), which is exact at both ends. */
static damo_status fn_linspace(build *b, const fn_args *a, ptrvec *out) {
  const linspace_options *o = FN_OPTIONS(a, linspace_options);
  const int64_t n = prop_int_or(o->num, 50);
  damo_dtype dt = b->ctx->config.floatX;
  DAMO_TRY(fn_dtype(a, b->ctx, o->dtype, &dt));
  if (n < 0) return ctx_fail(b->ctx, DAMO_EVALUE, "linspace: num must not be negative, got %lld", (long long)n);
  damo_var *start = build_cast(b, build_strong(b, a->in[0]), DAMO_FLOAT64);
  damo_var *stop = build_cast(b, build_strong(b, a->in[1]), DAMO_FLOAT64);
  damo_var *i = build_arange(b, build_i64(b, 0), build_i64(b, n), build_i64(b, 1), DAMO_INT64);
  damo_var *part =
      build_true_div(b, build_cast(b, i, DAMO_FLOAT64), build_scalar(b, DAMO_FLOAT64, n > 1 ? (double)(n - 1) : 1));
  damo_var *to = build_mul(b, part, stop);
  damo_var *from = build_mul(b, build_sub(b, build_scalar(b, DAMO_FLOAT64, 1), part), start);
  return fn_give(b, out, build_cast(b, build_add(b, from, to), dt));
}

const op_func arange_funcs[] = {
    {.name = "arange",
     .operands = "start [stop] [step]",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_arange,
     .doc = "start, start + step … before stop; one operand is the stop, from 0",
     .no_method = true},
    {.name = "linspace",
     .operands = "start stop",
     .options = OPTIONS(OPT(linspace_options, num, OPT_INT), OPT(linspace_options, dtype, OPT_DTYPE)),
     .call = fn_linspace,
     .doc = "num evenly spaced values from start to stop, both included",
     .no_method = true},
    {.name = NULL},
};

const op_def *const arange_classes[] = {&arange_def, NULL};
