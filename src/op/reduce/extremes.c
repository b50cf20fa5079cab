/* extremes: running maxima and minima along an axis.
 *
 * CumExtreme (properties kind, axis): of kind cummax and cummin the largest and smallest element so far, nan from the
 * first nan on; of kind cummax_at and cummin_at its 1-based position, that of the first of equal ones. The gradient goes
 * to the element at that position.
 */
#include <string.h>

#include "graph/c_emit.h"
#include "reduce_int.h"
#include "loop/loop.h"

#define EXTREMES_PART 4096 /* entries between two points */
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#define NEVER_NAN(a) false
#define FLOAT_NAN(a) ((a) != (a))
#define FLOAT_LESS(a, b) ((a) < (b))
#define COMPLEX_NAN(a) ((a).re != (a).re || (a).im != (a).im)
#define COMPLEX_LESS(a, b) ((a).re < (b).re || ((a).re == (b).re && (a).im < (b).im))

#define T uint8_t /* bool too */
#define SUFFIX _u8
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T uint16_t
#define SUFFIX _u16
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T uint32_t
#define SUFFIX _u32
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T uint64_t
#define SUFFIX _u64
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T int8_t
#define SUFFIX _i8
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T int16_t
#define SUFFIX _i16
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T int32_t
#define SUFFIX _i32
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T int64_t
#define SUFFIX _i64
#define NAN_OF NEVER_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T float
#define SUFFIX _f32
#define NAN_OF FLOAT_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T double
#define SUFFIX _f64
#define NAN_OF FLOAT_NAN
#define LESS FLOAT_LESS
#include "extremes_body.h"
#define T damo_c64
#define SUFFIX _c64
#define NAN_OF COMPLEX_NAN
#define LESS COMPLEX_LESS
#include "extremes_body.h"
#define T damo_c128
#define SUFFIX _c128
#define NAN_OF COMPLEX_NAN
#define LESS COMPLEX_LESS
#include "extremes_body.h"

typedef void (*extreme_fn)(damo_ctx *ctx, const char *x, int64_t x_step, char *y, int64_t y_step, int64_t n);
#define ALL_DTYPES(name)                                                                                       \
  {                                                                                                            \
    [DAMO_BOOL] = name##_u8, [DAMO_UINT8] = name##_u8, [DAMO_UINT16] = name##_u16, [DAMO_UINT32] = name##_u32, \
    [DAMO_UINT64] = name##_u64, [DAMO_INT8] = name##_i8, [DAMO_INT16] = name##_i16, [DAMO_INT32] = name##_i32, \
    [DAMO_INT64] = name##_i64, [DAMO_FLOAT32] = name##_f32, [DAMO_FLOAT64] = name##_f64,                       \
    [DAMO_COMPLEX64] = name##_c64, [DAMO_COMPLEX128] = name##_c128                                             \
  }
enum { CUMMAX, CUMMIN, CUMMAX_AT, CUMMIN_AT, N_EXTREMES };
static const char *const extreme_names[] = {"cummax", "cummin", "cummax_at", "cummin_at"};
static const extreme_fn extreme_kernels[N_EXTREMES][DAMO_N_DTYPES] = {ALL_DTYPES(cummax), ALL_DTYPES(cummin),
                                                                      ALL_DTYPES(cummax_at), ALL_DTYPES(cummin_at)};

typedef struct extreme_props {
  prop_value kind, axis;
} extreme_props;

typedef struct extreme_data {
  int kind, axis; /* axis 0-based */
} extreme_data;

static const extreme_data *extreme_data_of(const damo_op *op) { return op->data; }

static damo_status extreme_init(damo_op *op) {
  extreme_data *d = op->data;
  const extreme_props *p = OP_PROPS(op, extreme_props);
  const char *kind = prop_str_or(p->kind, "");
  while (d->kind < N_EXTREMES && strcmp(kind, extreme_names[d->kind]) != 0) d->kind++;
  d->axis = (int)prop_int_or(p->axis, 0) - 1;
  if (d->kind == N_EXTREMES || d->axis < 0 || d->axis >= DAMO_MAX_NDIM)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "CumExtreme: an unknown kind or a bad axis");
  return DAMO_OK;
}

static damo_status extreme_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const extreme_data *d = extreme_data_of(op);
  if (!type_is_tensor(in[0]->type) || d->axis >= var_ndim(in[0]))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "CumExtreme: the operand must be a tensor with axis %d", d->axis + 1);
  const damo_type *t = in[0]->type;
  out[0] = type_tensor(op->obj.ctx, d->kind >= CUMMAX_AT ? DAMO_INT64 : t->dtype, t->ndim, t->shape);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

static damo_status extreme_perform(const thunk *t, frame *f) {
  const extreme_data *d = extreme_data_of(t->node->op);
  const damo_array *x = thunk_in(t, f, 0);
  const damo_dtype dt = array_dtype(x);
  damo_array *y = thunk_out(t, f, 0, d->kind >= CUMMAX_AT ? DAMO_INT64 : dt, x->ndim, array_shape(x));
  if (y == NULL) return damo_error_status(f->ctx);
  const int64_t n = array_shape(x)[d->axis], x_step = array_strides(x)[d->axis], y_step = array_strides(y)[d->axis];
  const extreme_fn kernel = extreme_kernels[d->kind][dt];
  int64_t since = 0;
  if (n == 0) return DAMO_OK;
  slice_walk w;
  for (bool more = slice_walk_begin(&w, x, y, d->axis); more; more = slice_walk_next(&w)) {
    for (int64_t k = 0; k < w.count; k++) {
      kernel(f->ctx, w.p[0] + k * w.step[0], x_step, w.p[1] + k * w.step[1], y_step, n);
      ctx_point_after(f->ctx, &since, 8 + n, EXTREMES_PART);
    }
  }
  return DAMO_OK;
}

static const op_def extreme_def;

static damo_var *build_extreme(build *b, int kind, damo_var *x, int axis) {
  if (b->status != DAMO_OK || x == NULL) return NULL;
  const extreme_props props = {.kind = prop_str(extreme_names[kind]), .axis = prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, &extreme_def, &props), &x, 1);
}

damo_var *build_cummax(build *b, damo_var *x, int axis) { return build_extreme(b, CUMMAX, x, axis); }

/* The positions that the values of the node are at. */
static damo_var *extreme_places(build *b, const damo_apply *node) {
  const extreme_data *d = extreme_data_of(node->op);
  return build_extreme(b, d->kind == CUMMAX ? CUMMAX_AT : CUMMIN_AT, node->in[0], d->axis);
}

static damo_status extreme_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const extreme_data *d = extreme_data_of(node->op);
  damo_var *x = node->in[0];
  if (gout[0] == NULL) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    gin[0] = build_zero_grad(b, x);
  } else {
    gin[0] = build_add_along_axis(b, build_zeros_like(b, x), gout[0], extreme_places(b, node), d->axis);
  }
  return b->status;
}

static damo_status extreme_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const extreme_data *d = extreme_data_of(node->op);
  if (eval[0] == NULL || d->kind >= CUMMAX_AT) return DAMO_OK;
  rout[0] = build_take_along_axis(b, eval[0], extreme_places(b, node), d->axis);
  return b->status;
}

static damo_status extreme_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  const extreme_data *d = extreme_data_of(node->op);
  out[0] = build_extreme(b, d->kind, in[0], d->axis + (batched[0] ? k : 0));
  return b->status;
}

static damo_status extreme_emit_c(c_emit *e, const damo_apply *node) {
  const extreme_data *d = extreme_data_of(node->op);
  const bool places = d->kind >= CUMMAX_AT, most = d->kind == CUMMAX || d->kind == CUMMAX_AT;
  const c_value *x = ce_in(e, 0), *y = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, x->shape);
  int64_t shape[DAMO_MAX_NDIM];
  c_nest nest;
  if (y == NULL || ce_size(y) == 0) return e->status;
  memcpy(shape, x->shape, sizeof shape);
  shape[d->axis] = 1;
  ce_nest_init(e, &nest, x->ndim, shape, 2, (const int64_t *const[]){x->strides, y->strides});
  ce_nest_open(e, &nest);
  if (nest.n_axes == 0) ce_open(e, "%s", "");
  const char *from = ce_text(e, "%s[%s", ce_p(e, x), ce_nest_at(e, &nest, 0));
  ce_line(e, "%s best = %s];", ce_type(x->dtype), from);
  if (places) ce_line(e, "int64_t at = 1;");
  ce_for(e, "i", x->shape[d->axis]);
  ce_line(e, "const %s a = %s + i * %lld];", ce_type(x->dtype), from, (long long)x->strides[d->axis]);
  const char *beyond = most ? "a > best" : "a < best";
  if (dtype_is_float(x->dtype)) beyond = ce_text(e, "(%s || a != a) && best == best", beyond);
  ce_open(e, "if (%s)", beyond);
  ce_line(e, "best = a;");
  if (places) ce_line(e, "at = i + 1;");
  ce_close(e);
  ce_line(e, "%s[%s + i * %lld] = %s;", ce_p(e, y), ce_nest_at(e, &nest, 1), (long long)y->strides[d->axis],
          places ? "at" : "best");
  ce_close(e);
  if (nest.n_axes == 0) ce_close(e);
  ce_nest_close(e, &nest);
  return e->status;
}

static const op_def extreme_def = {
    .name = "CumExtreme",
    .doc = "running maximum or minimum along an axis, or its position",
    .props = PROPS(PROP(extreme_props, kind), PROP(extreme_props, axis)),
    .n_in = 1,
    .data_size = sizeof(extreme_data),
    .init = extreme_init,
    .infer_type = extreme_infer_type,
    .perform = extreme_perform,
    .emit_c = extreme_emit_c,
    .grad = extreme_grad,
    .rop = extreme_rop,
    .infer_shape = infer_shape_same,
    .batch = extreme_batch,
    .no_check = "dense: spec/op/rows/statistics.lua has results by hand and from plain loops",
};

typedef struct extreme_options {
  prop_value axis;
} extreme_options;

static damo_status call_extremes(build *b, const fn_args *a, ptrvec *out) {
  const extreme_options *o = FN_OPTIONS(a, extreme_options);
  damo_var *x = NULL;
  int axis = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(build_resolve(b, a->in, 1, false, &x));
  if (var_ndim(x) == 0 || !prop_given(o->axis)) x = build_ravel(b, x);
  if (x == NULL) return b->status;
  DAMO_TRY(axis_check(b->ctx, a->func->name, prop_int_or(o->axis, 1), var_ndim(x), &axis));
  return fn_give(b, out, build_extreme(b, strcmp(a->func->name, "cummax") == 0 ? CUMMAX : CUMMIN, x, axis));
}

const op_func extremes_funcs[] = {
    {.name = "cummax",
     .operands = "x",
     .options = OPTIONS(OPT(extreme_options, axis, OPT_INT)),
     .call = call_extremes,
     .doc = "running maximum along an axis, nan from the first nan on; nil: of x flattened"},
    {.name = "cummin",
     .operands = "x",
     .options = OPTIONS(OPT(extreme_options, axis, OPT_INT)),
     .call = call_extremes,
     .doc = "running minimum along an axis, nan from the first nan on; nil: of x flattened"},
    {.name = NULL},
};

const op_def *const extremes_classes[] = {&extreme_def, NULL};

#undef PASTE
#undef PASTE_
#undef NEVER_NAN
#undef FLOAT_NAN
#undef FLOAT_LESS
#undef COMPLEX_NAN
#undef COMPLEX_LESS
#undef ALL_DTYPES
