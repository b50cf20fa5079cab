/* marker: ops that pass their input on and change what is known of it: by the gradient (DisconnectedGrad, ZeroGrad,
 * ConsiderConstant, GradClip, GradScale), by the run (Assert, Print), by the Type (SpecifyShape, OfType, Unbroadcast).
 */
#include "graph/c_emit.h"
#include "loop/loop.h"
#include "op/shape/shape_int.h"
#include "op/elem/build_arith.h"
#include "op/elem/masked.h"

#include <stdio.h>
#include <string.h>

typedef struct grad_clip_props {
  prop_value lower, upper;
} grad_clip_props;

typedef struct grad_scale_props {
  prop_value multiplier;
} grad_scale_props;

/* Assert, Print */
typedef struct assert_props {
  prop_value message;
} assert_props;

/* SpecifyShape, Unbroadcast: 1-based axes */
typedef struct axes_props {
  prop_value axes;
} axes_props;

typedef struct of_type_props {
  prop_value type, op, input;
} of_type_props;

static damo_status marker_same_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)n_in;
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

static damo_status marker_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const damo_type *type = node->out[0]->type;
  for (int k = 0; k < ce_in(e, 0)->ndim; k++) {
    if (type->shape[k] >= 0 && type->shape[k] != ce_in(e, 0)->shape[k])
      return ce_refuse(e, "axis %d has length %lld", k + 1, (long long)ce_in(e, 0)->shape[k]);
  }
  ce_out_same(e, 0, ce_in(e, 0));
  return e->status;
}

/* ---- Gradient markers -------------------------------------------------------------------------------------------- */

static damo_status zero_gradient(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  gin[0] = build_zeros_like(b, gout[0]);
  return b->status;
}

static damo_status clip_gradient(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const grad_clip_props *p = OP_PROPS(node->op, grad_clip_props);
  gin[0] = build_clip(b, gout[0], build_num(b, p->lower.u.f), build_num(b, p->upper.u.f));
  return b->status;
}

static damo_status scale_gradient(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  masked g = masked_of(b, gout[0]);
  g.raw = build_mul(b, g.raw, build_num(b, OP_PROPS(node->op, grad_scale_props)->multiplier.u.f));
  gin[0] = build_masked(b, g);
  return b->status;
}

const op_def disconnected_grad_def = {
    .name = "DisconnectedGrad",
    .doc = "x, no gradient passing",
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = marker_same_type,
    .perform = thunk_pass,
    .emit_c = marker_emit_c,
    .grad = grad_none,
    .rop = rop_none,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op,
    .connection_pattern = connect_none,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

const op_def zero_grad_def = {
    .name = "ZeroGrad",
    .doc = "x, its gradient zero",
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = marker_same_type,
    .perform = thunk_pass,
    .emit_c = marker_emit_c,
    .grad = zero_gradient,
    .rop = rop_none,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

const op_def consider_constant_def = {
    .name = "ConsiderConstant",
    .doc = "x, its gradient zero",
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = marker_same_type,
    .perform = thunk_pass,
    .emit_c = marker_emit_c,
    .grad = zero_gradient,
    .rop = rop_none,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op,
    .terms = TERMS_LINEAR,
    OP_CHECK(same_check),
};

const op_def grad_clip_def = {
    .name = "GradClip",
    .doc = "x, its gradient clipped",
    .props = PROPS(PROP_NUMBER(grad_clip_props, lower), PROP_NUMBER(grad_clip_props, upper)),
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = marker_same_type,
    .perform = thunk_pass,
    .emit_c = marker_emit_c,
    .grad = clip_gradient,
    .rop = rop_pass,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op,
    .masks = MASKS_END,
    OP_CHECK(same_check),
};

const op_def grad_scale_def = {
    .name = "GradScale",
    .doc = "x, its gradient scaled",
    .props = PROPS(PROP_NUMBER(grad_scale_props, multiplier)),
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = marker_same_type,
    .perform = thunk_pass,
    .emit_c = marker_emit_c,
    .grad = scale_gradient,
    .rop = rop_pass,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op,
    .masks = MASKS_OWN,
    OP_CHECK(same_check),
};

/* One node of the class over operand 0, which may be of any Type. */
static damo_status call_marker(build *b, const fn_args *a, ptrvec *out, const op_def *def, const void *props) {
  damo_var *x = build_strong(b, a->in[0]);
  return fn_give(b, out, x ? build_op(b, op_new(b->ctx, def, props), &x, 1) : NULL);
}

static damo_status fn_disconnected_grad(build *b, const fn_args *a, ptrvec *out) {
  return call_marker(b, a, out, &disconnected_grad_def, NULL);
}
static damo_status fn_zero_grad(build *b, const fn_args *a, ptrvec *out) {
  return call_marker(b, a, out, &zero_grad_def, NULL);
}
static damo_status fn_consider_constant(build *b, const fn_args *a, ptrvec *out) {
  return call_marker(b, a, out, &consider_constant_def, NULL);
}

typedef struct grad_clip_options {
  prop_value lower, upper;
} grad_clip_options;

static damo_status fn_grad_clip(build *b, const fn_args *a, ptrvec *out) {
  const grad_clip_options *o = FN_OPTIONS(a, grad_clip_options);
  const double lower = prop_num_or(o->lower, 0), upper = prop_num_or(o->upper, 0);
  if (!prop_given(o->lower) || !prop_given(o->upper))
    return ctx_fail(b->ctx, DAMO_ETYPE, "grad_clip: lower and upper must be given");
  if (!(lower <= upper))
    return ctx_fail(b->ctx, DAMO_EVALUE, "grad_clip: lower (%g) must not be above upper (%g)", number_shown(lower),
                    number_shown(upper));
  const grad_clip_props props = {.lower = prop_num(lower), .upper = prop_num(upper)};
  return call_marker(b, a, out, &grad_clip_def, &props);
}

typedef struct grad_scale_options {
  prop_value multiplier;
} grad_scale_options;

static damo_status fn_grad_scale(build *b, const fn_args *a, ptrvec *out) {
  const grad_scale_props p = {.multiplier = prop_num(prop_num_or(FN_OPTIONS(a, grad_scale_options)->multiplier, 1))};
  return call_marker(b, a, out, &grad_scale_def, &p);
}

/* ---- Assert ------------------------------------------------------------------------------------------------------ */

static damo_status assert_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  for (int i = 1; i < n_in; i++)
    if (!type_is_tensor(in[i]->type))
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "assert_op: a condition must be a tensor");
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

#define MARKER_PART 512 /* entries between two points */

static bool all_true(damo_ctx *ctx, const damo_array *a) {
  int64_t done = 0;
  array_entries e;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e)) {
    if (!scalar_cast(scalar_load(array_dtype(a), p), DAMO_BOOL).v.i) return false;
    ctx_point_each(ctx, done++, MARKER_PART);
  }
  return true;
}

static damo_status assert_perform(const thunk *t, frame *f) {
  for (int i = 1; i < t->n_in; i++)
    if (!all_true(f->ctx, thunk_in(t, f, i)))
      return ctx_fail(f->ctx, DAMO_EVALUE, "%s", OP_PROPS(t->node->op, assert_props)->message.u.s);
  return thunk_pass(t, f);
}

/* The conditions of all entries are one condition. */
static damo_status assert_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                damo_var **out) {
  (void)batched, (void)k;
  return batch_apply(b, damo_retain(node->op), node, in, out);
}

static damo_status assert_emit_c(c_emit *e, const damo_apply *node) {
  for (int i = 1; i < node->n_in; i++) {
    const c_value *c = ce_in(e, i);
    c_nest nest;
    if (dtype_is_complex(c->dtype)) return ce_refuse(e, "complex conditions");
    ce_nest_init(e, &nest, c->ndim, c->shape, 1, (const int64_t *const[]){c->strides});
    ce_nest_open(e, &nest);
    ce_fail_if(e, "%s[%s] == 0", ce_p(e, c), ce_nest_at(e, &nest, 0));
    ce_nest_close(e, &nest);
  }
  ce_takes_complex(e);
  ce_out_same(e, 0, ce_in(e, 0));
  return e->status;
}

const op_def assert_def = {
    .name = "Assert",
    .doc = "x, where every condition holds",
    .props = PROPS(PROP_TEXT(assert_props, message)),
    .n_in = OP_VARIADIC,
    .view_map = alias_first,
    .infer_type = assert_type,
    .perform = assert_perform,
    .emit_c = assert_emit_c,
    .grad = grad_pass,
    .rop = rop_pass,
    .infer_shape = infer_shape_same,
    .batch = assert_batch,
    .connection_pattern = connect_first,
    .do_constant_folding = fold_never,
    OP_CHECK(same_check),
};

typedef struct assert_options {
  prop_value message;
} assert_options;

damo_var *build_assert(build *b, damo_var *x, damo_var *cond, const char *message) {
  const assert_props p = {.message = prop_str(message)};
  if (b->status != DAMO_OK || x == NULL || cond == NULL) return NULL;
  return build_op(b, op_new(b->ctx, &assert_def, &p), (damo_var *[]){x, cond}, 2);
}

static damo_status fn_assert_op(build *b, const fn_args *a, ptrvec *out) {
  const assert_options *o = FN_OPTIONS(a, assert_options);
  const char *message = prop_str_or(o->message, "assert_op: a condition does not hold");
  damo_var *in[2] = {build_strong(b, a->in[0]), build_strong(b, a->in[1])};
  return fn_give(b, out, build_assert(b, in[0], in[1], message));
}

/* ---- Print ------------------------------------------------------------------------------------------------------- */

static damo_status print_init(damo_op *op) {
  if (OP_PROPS(op, assert_props)->message.kind == PROP_STR) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "Print: the message must be a string");
}

/* "message = value", the value on lines of its own if it has several; without a message the value alone. */
static void print_add_text(strbuf *out, const char *message, const damo_obj *v) {
  if (*message == '\0') {
    value_print(out, v);
    return;
  }
  strbuf_addf(out, "%s = ", message);
  const size_t from = out->n;
  value_print(out, v);
  if (!out->failed && strchr(out->at + from, '\n') != NULL) out->at[from - 1] = '\n';
}

static damo_status print_perform(const thunk *t, frame *f) {
  DAMO_TRY(thunk_pass(t, f));
  if (f->silent || f->ctx->on_print == NULL) return DAMO_OK;
  strbuf text;
  strbuf_init(&text, f->ctx);
  print_add_text(&text, OP_PROPS(t->node->op, assert_props)->message.u.s, thunk_value(t, f, 0));
  const damo_status s = text.failed ? ctx_fail_memory(f->ctx) : ctx_print(f->ctx, text.at != NULL ? text.at : "");
  strbuf_clear(&text);
  return s;
}

/* Impure, so that it is neither merged with an equal node nor folded nor run again by DEBUG mode; without infer_shape,
 * so that asking for the shape of the result runs it too. */
const op_def print_def = {
    .name = "Print",
    .doc = "x, written out when it is computed",
    .props = PROPS(PROP_TEXT(assert_props, message)),
    .n_in = 1,
    .view_map = alias_first,
    .init = print_init,
    .infer_type = marker_same_type,
    .perform = print_perform,
    .grad = grad_pass,
    .rop = rop_pass,
    .batch = batch_same_op,
    .do_constant_folding = fold_never,
    .pattern = PATTERN_FOLLOWS,
    .nonfinite = NONFINITE_ANY,
    .terms = TERMS_LINEAR,
    .impure = true,
    OP_CHECK(same_check),
};

/* ---- SpecifyShape: input 1 + k is the length of the k-th axis named in `axes` (1-based) -------------------------- */

/* message: how the error begins, nil: with "specify_shape" */
typedef struct specify_props {
  prop_value axes, message;
} specify_props;

static const char *specify_name(const damo_op *op) {
  return prop_str_or(OP_PROPS(op, specify_props)->message, "specify_shape");
}

static int specify_axis(const damo_op *op, int k) { return (int)OP_PROPS(op, specify_props)->axes.u.list[k].u.i - 1; }

static damo_status specify_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *t = in[0]->type;
  int64_t shape[DAMO_MAX_NDIM], want[DAMO_MAX_NDIM];
  if (!type_is_tensor(t) || n_in - 1 != OP_PROPS(op, specify_props)->axes.n)
    return ctx_fail(ctx, DAMO_ETYPE, "%s: a tensor, and a length for each axis named, are expected", specify_name(op));
  for (int i = 0; i < t->ndim; i++) shape[i] = t->shape[i];
  DAMO_TRY(static_dims(ctx, "specify_shape", in + 1, n_in - 1, want));
  for (int k = 0; k + 1 < n_in; k++) {
    int axis = specify_axis(op, k);
    if (axis >= t->ndim) return ctx_fail(ctx, DAMO_EINDEX, "specify_shape: the operand lacks axis %d", axis + 1);
    if (want[k] >= 0 && shape[axis] >= 0 && want[k] != shape[axis])
      return ctx_fail(ctx, DAMO_ESHAPE, "%s: axis %d has length %lld, not %lld", specify_name(op), axis + 1,
                      (long long)shape[axis], (long long)want[k]);
    if (want[k] >= 0) shape[axis] = want[k];
  }
  out[0] = type_tensor(ctx, t->dtype, t->ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status specify_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  for (int k = 0; k + 1 < t->n_in; k++) {
    int axis = specify_axis(t->node->op, k);
    int64_t want = array_int(thunk_in(t, f, k + 1));
    if (array_shape(x)[axis] != want)
      return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: axis %d has length %lld, not %lld", specify_name(t->node->op), axis + 1,
                      (long long)array_shape(x)[axis], (long long)want);
  }
  return thunk_pass(t, f);
}

static damo_status specify_apply(build *b, damo_apply *node, damo_var *x, damo_var **out) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  if (!x) return b->status;
  memcpy(in, node->in, (size_t)node->n_in * sizeof *in);
  in[0] = x;
  *out = build_op(b, damo_retain(node->op), in, node->n_in);
  return b->status;
}

static damo_status specify_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  return specify_apply(b, node, gout[0], &gin[0]);
}

static damo_status specify_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return specify_apply(b, node, eval[0], &rout[0]);
}

static damo_status specify_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[0][i];
  for (int k = 0; k + 1 < node->n_in; k++) out_shape[0][specify_axis(node->op, k)] = node->in[k + 1];
  return b->status;
}

/* The axes that a property lists, k further back. */
static prop_value axes_moved(const prop_value *axes, int k, prop_value *list) {
  for (int i = 0; i < axes->n; i++) list[i] = prop_int(k + axes->u.list[i].u.i);
  return prop_list(list, axes->n);
}

static damo_status specify_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  prop_value list[DAMO_MAX_NDIM];
  const specify_props *p = OP_PROPS(node->op, specify_props);
  const specify_props moved = {.axes = axes_moved(&p->axes, k, list), .message = p->message};
  for (int i = 1; i < node->n_in; i++) {
    if (batched[i]) return b->status; /* lengths that differ */
  }
  return batch_apply(b, op_new(b->ctx, node->op->def, &moved), node, in, out);
}

static damo_status specify_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  for (int k = 0; k + 1 < node->n_in; k++) {
    const int64_t length = ce_in(e, 0)->shape[specify_axis(node->op, k)];
    const damo_array *want = ce_known(e, k + 1);
    if (want == NULL)
      ce_fail_if(e, "*%s != %lld", ce_p(e, ce_in(e, k + 1)), (long long)length);
    else if (scalar_to_int64(array_item(want)) != length)
      return ce_refuse(e, "axis %d has length %lld", specify_axis(node->op, k) + 1, (long long)length);
  }
  ce_out_same(e, 0, ce_in(e, 0));
  return e->status;
}

static const op_def specify_def = {
    .name = "SpecifyShape",
    .doc = "x, whose axes must have these lengths",
    .props = PROPS(PROP_AXES(specify_props, axes), PROP_TEXT_OR_NIL(specify_props, message)),
    .n_in = OP_VARIADIC,
    .view_map = alias_first,
    .infer_type = specify_type,
    .perform = specify_perform,
    .emit_c = specify_emit_c,
    .grad = specify_grad,
    .rop = specify_rop,
    .infer_shape = specify_infer_shape,
    .batch = specify_batch,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    .masks = MASKS_MOVED,
    OP_CHECK(same_check),
};

static damo_var *specify(build *b, damo_var *x, damo_var *const *dims, prop_value message) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  prop_value list[DAMO_MAX_NDIM];
  int n = 0;
  if (!x || b->status != DAMO_OK) return NULL;
  in[0] = x;
  for (int i = 0; i < var_ndim(x); i++) {
    int64_t v;
    if (!dims[i] || (var_static_int(dims[i], &v) && v >= 0 && v == x->type->shape[i])) continue;
    list[n] = prop_int(i + 1);
    in[++n] = dims[i];
  }
  if (n == 0) return x;
  const specify_props props = {.axes = prop_list(list, n), .message = message};
  return build_op(b, op_new(b->ctx, &specify_def, &props), in, n + 1);
}

damo_var *build_specify_shape(build *b, damo_var *x, damo_var *const *dims) { return specify(b, x, dims, prop_nil()); }

typedef struct specify_options {
  prop_value shape, message;
} specify_options;

/* The option shape is a list, with `false` for any length, or a vector Variable. */
static damo_status fn_specify_shape(build *b, const fn_args *a, ptrvec *out) {
  damo_var *dims[DAMO_MAX_NDIM];
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  const prop_value *v = &FN_OPTIONS(a, specify_options)->shape;
  int n = 0;
  if (!x) return b->status;
  if (v->kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "specify_shape: the shape is missing");
  if (v->kind != PROP_LIST) DAMO_TRY(shape_check(b, "specify_shape", v, dims, &n));
  for (int i = 0; v->kind == PROP_LIST && i < v->n && i < DAMO_MAX_NDIM; i++, n++) {
    const prop_value *e = &v->u.list[i];
    bool open = e->kind == PROP_NIL || (e->kind == PROP_BOOL && !e->u.i);
    if (!open && e->kind != PROP_INT && e->kind != PROP_VAR)
      return ctx_fail(b->ctx, DAMO_ETYPE, "specify_shape: a length is an integer, a Variable or false");
    dims[i] = open                  ? NULL
              : e->kind == PROP_INT ? build_i64(b, e->u.i)
                                    : build_integer(b, "specify_shape", "a length", e->u.var);
    if (!open && !dims[i]) return b->status;
  }
  if (n != var_ndim(x) || (v->kind == PROP_LIST && v->n != n))
    return ctx_fail(b->ctx, DAMO_ESHAPE, "specify_shape: %d lengths for an operand with %d axes", n, var_ndim(x));
  return fn_give(b, out, specify(b, x, dims, FN_OPTIONS(a, specify_options)->message));
}

/* ---- OfType: checked to be a value of a Type, whose pattern is left out; properties name the Op for errors ------- */

static damo_type *wanted_type(const damo_op *op) { return OP_PROPS(op, of_type_props)->type.u.type; }

static damo_status of_type_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const damo_type *want = wanted_type(op), *have = in[0]->type;
  if (want->kind != have->kind || want->ndim != have->ndim)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "OfType: an operand of another kind or rank than the Type");
  out[0] = type_without_pattern(wanted_type(op));
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

/* The filter's error, naming the Op and the input that the value was for. */
static damo_status fail_of_type(const thunk *t, frame *f) {
  const damo_status status = damo_error_status(f->ctx);
  const char *op = OP_PROPS(t->node->op, of_type_props)->op.u.s,
             *input = OP_PROPS(t->node->op, of_type_props)->input.u.s;
  char why[ERROR_MESSAGE_MAX];
  if (status == DAMO_EMEMORY) return status;
  snprintf(why, sizeof why, "%s", damo_error_message(f->ctx));
  ctx_fail(f->ctx, status, "%s: %s: %s", op, input, why);
  ctx_fail_add(f->ctx, "while computing %s", op);
  ctx_fail_at(f->ctx, op, NULL);
  return status;
}

static damo_status of_type_perform(const thunk *t, frame *f) {
  const damo_type *want = wanted_type(t->node->op);
  if (type_is_valid(want, thunk_value(t, f, 0))) return thunk_pass(t, f);
  damo_obj *fit = type_filter(want, thunk_value(t, f, 0), (filter_options){0});
  if (fit == NULL) return fail_of_type(t, f);
  thunk_set_out(t, f, 0, fit);
  return DAMO_OK;
}

static damo_status of_type_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  const damo_type *want = node->out[0]->type;
  for (int i = 0; i < want->ndim; i++)
    out_shape[0][i] = want->shape[i] >= 0 ? build_i64(b, want->shape[i]) : in_shape[0][i];
  return b->status;
}

static damo_status of_type_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  int64_t shape[DAMO_MAX_NDIM];
  const damo_type *want = wanted_type(node->op);
  of_type_props props = *OP_PROPS(node->op, of_type_props);
  (void)batched;
  if (!type_is_tensor(want)) return b->status;
  for (int i = 0; i < var_ndim(in[0]); i++) shape[i] = i < k ? in[0]->type->shape[i] : want->shape[i - k];
  props.type.u.type = type_tensor(b->ctx, want->dtype, var_ndim(in[0]), shape);
  if (props.type.u.type == NULL) return b->status = damo_error_status(b->ctx);
  const damo_status s = batch_apply(b, op_new(b->ctx, node->op->def, &props), node, in, out);
  damo_release(props.type.u.type);
  return s;
}

static const op_def of_type_def = {
    .name = "OfType",
    .doc = "x, which must be a value of that Type",
    .props = PROPS(PROP_OF_TYPE(of_type_props, type), PROP_TEXT(of_type_props, op), PROP_TEXT(of_type_props, input)),
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = of_type_type,
    .perform = of_type_perform,
    .emit_c = marker_emit_c,
    .grad = grad_pass,
    .rop = rop_pass,
    .infer_shape = of_type_infer_shape,
    .batch = of_type_batch,
    .pattern = PATTERN_FOLLOWS,
    OP_CHECK(same_check),
};

damo_var *build_of_type(build *b, damo_var *x, damo_type *type, const char *op, const char *input) {
  if (x == NULL || b->status != DAMO_OK || type_is_super(type, x->type)) return x;
  const of_type_props props = {
      .type = {.kind = PROP_TYPE, .u.type = type}, .op = prop_str(op), .input = prop_str(input)};
  return build_op(b, op_new(b->ctx, &of_type_def, &props), &x, 1);
}

/* ---- Unbroadcast: the axes named are no longer known to have length 1 -------------------------------------------- */

static damo_status unbroadcast_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const damo_type *t = in[0]->type;
  int64_t shape[DAMO_MAX_NDIM];
  if (!type_is_tensor(t)) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "unbroadcast: the operand must be a tensor");
  for (int i = 0; i < t->ndim; i++) shape[i] = t->shape[i];
  for (int k = 0; k < OP_PROPS(op, axes_props)->axes.n; k++) {
    int64_t axis = OP_PROPS(op, axes_props)->axes.u.list[k].u.i;
    if (axis > t->ndim)
      return ctx_fail(op->obj.ctx, DAMO_EINDEX, "unbroadcast: the operand lacks axis %lld", (long long)axis);
    if (shape[axis - 1] == 1) shape[axis - 1] = -1;
  }
  out[0] = type_tensor(op->obj.ctx, t->dtype, t->ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status unbroadcast_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *dims[DAMO_MAX_NDIM];
  const damo_type *t = node->in[0]->type;
  for (int i = 0; i < t->ndim; i++) dims[i] = t->shape[i] == 1 ? build_i64(b, 1) : NULL;
  gin[0] = build_specify_shape(b, gout[0], dims);
  return b->status;
}

static damo_status unbroadcast_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                     damo_var **out) {
  prop_value list[DAMO_MAX_NDIM];
  const axes_props moved = {.axes = axes_moved(&OP_PROPS(node->op, axes_props)->axes, k, list)};
  (void)batched;
  return batch_apply(b, op_new(b->ctx, node->op->def, &moved), node, in, out);
}

static const op_def unbroadcast_def = {
    .name = "Unbroadcast",
    .doc = "x, its axes not known to be one",
    .props = PROPS(PROP_AXES(axes_props, axes)),
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = unbroadcast_type,
    .perform = thunk_pass,
    .emit_c = marker_emit_c,
    .grad = unbroadcast_grad,
    .rop = rop_pass,
    .infer_shape = infer_shape_same,
    .batch = unbroadcast_batch,
    .terms = TERMS_LINEAR,
    .masks = MASKS_MOVED,
    OP_CHECK(same_check),
};

static damo_status fn_unbroadcast(build *b, const fn_args *a, ptrvec *out) {
  int axes[DAMO_MAX_NDIM], n;
  prop_value list[DAMO_MAX_NDIM];
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(axes_check(b->ctx, "unbroadcast", &FN_OPTIONS(a, axes_options)->axes, var_ndim(a->in[0]), axes, &n));
  for (int i = 0; i < n; i++) list[i] = prop_int(axes[i] + 1);
  const axes_props p = {.axes = prop_list(list, n > 0 ? n : 0)};
  return call_marker(b, a, out, &unbroadcast_def, &p);
}

const op_func marker_funcs[] = {
    {.name = "disconnected_grad",
     .operands = "x",
     .call = fn_disconnected_grad,
     .doc = "x, through which no gradient passes: as if nothing were connected",
     .any_type = true},
    {.name = "zero_grad", .operands = "x", .call = fn_zero_grad, .doc = "x, whose gradient is zero", .any_type = true},
    {.name = "consider_constant",
     .operands = "x",
     .call = fn_consider_constant,
     .doc = "x, whose gradient is zero",
     .any_type = true},
    {.name = "grad_clip",
     .operands = "x",
     .options = OPTIONS(OPT(grad_clip_options, lower, OPT_NUM), OPT(grad_clip_options, upper, OPT_NUM)),
     .call = fn_grad_clip,
     .doc = "x, whose gradient is clipped to lower … upper"},
    {.name = "grad_scale",
     .operands = "x",
     .options = OPTIONS(OPT(grad_scale_options, multiplier, OPT_NUM)),
     .call = fn_grad_scale,
     .doc = "x, whose gradient is scaled",
     .any_type = true},
    {.name = "assert_op",
     .operands = "x cond",
     .options = OPTIONS(OPT(assert_options, message, OPT_STR)),
     .call = fn_assert_op,
     .doc = "x where cond is true everywhere, else a value error with the message",
     .any_type = true},
    {.name = "specify_shape",
     .operands = "x",
     .options = OPTIONS(OPT(specify_options, shape, OPT_ANY), OPT(specify_options, message, OPT_STR)),
     .call = fn_specify_shape,
     .doc = "x, whose shape must be this (false: any length), known to the graph and checked when it runs; the error "
            "begins with the message"},
    {.name = "unbroadcast",
     .operands = "x",
     .options = OPTIONS(OPT(axes_options, axes, OPT_AXES)),
     .call = fn_unbroadcast,
     .doc = "x, its axes named here no longer known to have length 1"},
    {.name = NULL},
};

const op_def *const marker_classes[] = {&disconnected_grad_def,
                                        &zero_grad_def,
                                        &consider_constant_def,
                                        &grad_clip_def,
                                        &grad_scale_def,
                                        &assert_def,
                                        &specify_def,
                                        &of_type_def,
                                        &unbroadcast_def,
                                        &print_def,
                                        NULL};
