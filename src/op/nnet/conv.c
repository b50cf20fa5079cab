/* conv: convolutions along one to three axes, their transposes, and the classes of their gradients. */
#include "conv.h"

#include <stdio.h>
#include <string.h>

#include "op/batch.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

typedef struct conv_props {
  prop_value border_mode, subsample, filter_dilation, num_groups, filter_flip; /* border_mode: a name, or 2 n numbers */
} conv_props;

static damo_status conv_init(damo_op *op) {
  const conv_props *p = OP_PROPS(op, conv_props);
  conv_spec *s = op->data;
  s->n = p->subsample.n;
  if (p->filter_dilation.n != s->n || (p->border_mode.kind == PROP_LIST && p->border_mode.n != 2 * s->n))
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: strides, dilations and pads are of different numbers of axes",
                    op->def->name);
  const int first = WINDOW_AXES - s->n;
  for (int i = 0; i < first; i++) s->stride[i] = s->dilation[i] = 1;
  window_read_prop(&p->subsample, s->stride + first);
  window_read_prop(&p->filter_dilation, s->dilation + first);
  s->groups = prop_int_or(p->num_groups, 1);
  s->flip = prop_bool_or(p->filter_flip, true);
  const char *name = prop_str_or(p->border_mode, NULL);
  if (name != NULL) {
    s->border = strcmp(name, "half") == 0 ? CONV_HALF : strcmp(name, "full") == 0 ? CONV_FULL : CONV_VALID;
    return DAMO_OK;
  }
  int64_t pads[2 * WINDOW_AXES];
  s->border = CONV_PADS;
  window_read_prop(&p->border_mode, pads);
  for (int i = 0; i < 2 * s->n; i++) s->pad[first + i / 2][i % 2] = pads[i];
  return DAMO_OK;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static const char *conv_name(const damo_op *op, char *text, size_t size) {
  snprintf(text, size, "nn.conv%dd%s", conv_spec_of(op)->n, op->def == &conv_grad_input_def ? "_transpose" : "");
  return text;
}

void conv_padding(const conv_spec *s, int k, int64_t taps, int64_t *pad) {
  const int64_t span = (taps - 1) * s->dilation[k] + 1;
  for (int side = 0; side < 2; side++) {
    pad[side] = s->border == CONV_PADS   ? s->pad[k][side]
                : k < WINDOW_AXES - s->n ? 0
                : s->border == CONV_HALF ? span / 2
                : s->border == CONV_FULL ? span - 1
                                         : 0;
  }
}

int64_t conv_positions(damo_ctx *ctx, const damo_op *op, int k, int64_t in, int64_t taps) {
  const conv_spec *s = conv_spec_of(op);
  const int axis = k - WINDOW_AXES + s->n + 3;
  char name[32];
  int64_t pad[2];
  if (taps == 0) {
    ctx_fail(ctx, DAMO_ESHAPE, "%s: axis %d of operand 2 (w) is empty", conv_name(op, name, sizeof name), axis);
    return -2;
  }
  if (in < 0 || taps < 0) return -1;
  conv_padding(s, k, taps, pad);
  const int64_t span = (taps - 1) * s->dilation[k] + 1, padded = in + pad[0] + pad[1];
  if (padded >= span) return (padded - span) / s->stride[k] + 1;
  ctx_fail(ctx, DAMO_ESHAPE, "%s: axis %d of operand 1 (x) is %lld, with its padding shorter than the filter, %lld",
           conv_name(op, name, sizeof name), axis, (long long)in, (long long)span);
  return -2;
}

damo_status conv_input_channels(damo_ctx *ctx, const damo_op *op, int64_t w, int64_t *channels) {
  const int64_t groups = conv_spec_of(op)->groups;
  char name[32];
  *channels = w < 0 ? -1 : 0;
  if (w <= 0) return DAMO_OK;
  if (w > INT64_MAX / groups) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: axis 2 of operand 2 (w) is %lld, in %lld groups: too many channels",
                    conv_name(op, name, sizeof name), (long long)w, (long long)groups);
  }
  *channels = w * groups;
  return DAMO_OK;
}

/* x's channels and w's two first lengths, -1 where unknown. */
static damo_status conv_check_channels(damo_ctx *ctx, const damo_op *op, int64_t x, int64_t filters, int64_t w) {
  const int64_t groups = conv_spec_of(op)->groups;
  char name[32];
  conv_name(op, name, sizeof name);
  if (x >= 0 && x % groups != 0) {
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: axis 2 of operand 1 (x) is %lld, no multiple of num_groups, %lld", name,
                    (long long)x, (long long)groups);
  }
  if (filters >= 0 && filters % groups != 0) {
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: axis 1 of operand 2 (w) is %lld, no multiple of num_groups, %lld", name,
                    (long long)filters, (long long)groups);
  }
  int64_t channels;
  DAMO_TRY(conv_input_channels(ctx, op, w, &channels));
  if (x < 0 || w < 0 || x == channels) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: axis 2 of operand 1 (x) is %lld, of operand 2 (w) %lld, in %lld group%s", name,
                  (long long)x, (long long)w, (long long)groups, groups == 1 ? "" : "s");
}

damo_status conv_lengths_of(damo_ctx *ctx, const damo_op *op, const int64_t *x, const int64_t *w, conv_lengths *out) {
  const conv_spec *s = conv_spec_of(op);
  DAMO_TRY(conv_check_channels(ctx, op, x[1], w[0], w[1]));
  *out = (conv_lengths){.batch = x[0], .groups = s->groups, .channels = w[1], .filters = w[0] / s->groups};
  for (int k = 0; k < WINDOW_AXES; k++) {
    out->in[k] = x[2 + k];
    out->taps[k] = w[2 + k];
    out->out[k] = conv_positions(ctx, op, k, out->in[k], out->taps[k]);
    if (out->out[k] < 0) return DAMO_ESHAPE;
    conv_padding(s, k, out->taps[k], out->pad[k]);
  }
  return DAMO_OK;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* Both operands are float tensors of one dtype and of n + 2 axes; then the lengths of the others are int64 scalars. */
static damo_status conv_check_operands(const damo_op *op, damo_var *const *in, int n_in) {
  const int n = conv_spec_of(op)->n;
  char name[32], text[256];
  conv_name(op, name, sizeof name);
  for (int i = 0; i < 2; i++) {
    const damo_type *t = in[i]->type;
    if (!type_is_tensor(t) || !dtype_is_float(t->dtype) || t->dtype != in[0]->type->dtype) {
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be a float tensor of the other's dtype, got %s",
                      name, i + 1, type_format(text, sizeof text, t));
    }
    if (t->ndim == n + 2) continue;
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: operand %d (%s) must have rank %d, got %d", name, i + 1,
                    i == 0 ? "x" : "w", n + 2, t->ndim);
  }
  if (op->def == &conv_def || n_in == 2 + n) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: a length for each axis is needed", op->def->name);
}

static damo_status conv_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(conv_check_operands(op, in, n_in));
  const damo_type *x = in[0]->type, *w = in[1]->type;
  int64_t shape[2 + WINDOW_AXES] = {x->shape[0], w->shape[0]};
  DAMO_TRY(conv_check_channels(op->obj.ctx, op, x->shape[1], w->shape[0], w->shape[1]));
  for (int i = 2; i < x->ndim; i++) {
    shape[i] = conv_positions(op->obj.ctx, op, i - 2 + WINDOW_AXES - conv_spec_of(op)->n, x->shape[i], w->shape[i]);
    if (shape[i] == -2) return DAMO_ESHAPE;
  }
  out[0] = type_tensor(op->obj.ctx, x->dtype, x->ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status conv_grad_input_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(conv_check_operands(op, in, n_in));
  const damo_type *y = in[0]->type, *w = in[1]->type;
  char name[32];
  int64_t shape[2 + WINDOW_AXES] = {y->shape[0]};
  DAMO_TRY(conv_input_channels(op->obj.ctx, op, w->shape[1], &shape[1]));
  DAMO_TRY(conv_check_channels(op->obj.ctx, op, -1, w->shape[0], w->shape[1]));
  if (y->shape[1] >= 0 && w->shape[0] >= 0 && y->shape[1] != w->shape[0]) {
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: axis 2 of operand 1 (x) is %lld, axis 1 of operand 2 (w) is %lld",
                    conv_name(op, name, sizeof name), (long long)y->shape[1], (long long)w->shape[0]);
  }
  DAMO_TRY(static_dims(op->obj.ctx, conv_name(op, name, sizeof name), in + 2, n_in - 2, shape + 2));
  out[0] = type_tensor(op->obj.ctx, y->dtype, y->ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status conv_grad_filter_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(conv_check_operands(op, in, n_in));
  const damo_type *x = in[0]->type, *y = in[1]->type;
  const int64_t groups = conv_spec_of(op)->groups;
  int64_t shape[2 + WINDOW_AXES] = {y->shape[1], x->shape[1] < 0 ? -1 : x->shape[1] / groups};
  DAMO_TRY(static_dims(op->obj.ctx, op->def->name, in + 2, n_in - 2, shape + 2));
  out[0] = type_tensor(op->obj.ctx, x->dtype, x->ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

/* ---- Shapes as graph --------------------------------------------------------------------------------------------- */

/* taps·dilation - dilation + 1 */
static damo_var *build_span(build *b, const conv_spec *s, int k, damo_var *taps) {
  if (s->dilation[k] == 1) return taps;
  return build_add(b, build_mul(b, taps, build_i64(b, s->dilation[k])), build_i64(b, 1 - s->dilation[k]));
}

/* Padding on both sides, for a filter of that span. */
static damo_var *build_both_pads(build *b, const conv_spec *s, int k, damo_var *span) {
  damo_var *one = build_i64(b, 1), *two = build_i64(b, 2);
  switch (s->border) {
    case CONV_PADS: return build_i64(b, s->pad[k][0] + s->pad[k][1]);
    case CONV_HALF: return build_mul(b, build_floor_div(b, span, two), two);
    case CONV_FULL: return build_mul(b, build_sub(b, span, one), two);
    case CONV_VALID: break;
  }
  return build_i64(b, 0);
}

static damo_status conv_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  const conv_spec *s = conv_spec_of(node->op);
  out_shape[0][0] = in_shape[0][0];
  out_shape[0][1] = in_shape[1][0];
  for (int i = 2; i < 2 + s->n; i++) {
    const int k = i - 2 + WINDOW_AXES - s->n;
    damo_var *span = build_span(b, s, k, in_shape[1][i]);
    damo_var *extent = build_sub(b, build_add(b, in_shape[0][i], build_both_pads(b, s, k, span)), span);
    if (s->stride[k] != 1) extent = build_floor_div(b, extent, build_i64(b, s->stride[k]));
    out_shape[0][i] = build_add(b, extent, build_i64(b, 1));
  }
  return b->status;
}

static damo_status conv_grad_input_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                               damo_var ***out_shape) {
  const conv_spec *s = conv_spec_of(node->op);
  out_shape[0][0] = in_shape[0][0];
  out_shape[0][1] = s->groups == 1 ? in_shape[1][1] : build_mul(b, in_shape[1][1], build_i64(b, s->groups));
  for (int i = 2; i < 2 + s->n; i++) out_shape[0][i] = node->in[i];
  return b->status;
}

static damo_status conv_grad_filter_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                                damo_var ***out_shape) {
  const conv_spec *s = conv_spec_of(node->op);
  out_shape[0][0] = in_shape[1][1];
  out_shape[0][1] = s->groups == 1 ? in_shape[0][1] : build_floor_div(b, in_shape[0][1], build_i64(b, s->groups));
  for (int i = 2; i < 2 + s->n; i++) out_shape[0][i] = node->in[i];
  return b->status;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* A node of that class with the properties of `like`; lengths: n scalars, or NULL. */
static damo_var *build_conv(build *b, const op_def *def, const damo_op *like, damo_var *first, damo_var *second,
                            damo_var *const *lengths) {
  damo_var *in[2 + WINDOW_AXES] = {first, second};
  const int n = lengths != NULL ? conv_spec_of(like)->n : 0;
  for (int i = 0; i < n; i++) in[2 + i] = lengths[i];
  for (int i = 0; i < 2 + n; i++) {
    if (in[i] == NULL) return NULL;
  }
  return b->status == DAMO_OK ? build_op(b, op_new(b->ctx, def, OP_PROPS(like, conv_props)), in, 2 + n) : NULL;
}

static damo_var *build_conv_grad_input(build *b, const damo_op *op, damo_var *y, damo_var *w,
                                       damo_var *const *lengths) {
  return build_conv(b, &conv_grad_input_def, op, y, w, lengths);
}

static damo_var *build_conv_grad_filter(build *b, const damo_op *op, damo_var *x, damo_var *y,
                                        damo_var *const *lengths) {
  return build_conv(b, &conv_grad_filter_def, op, x, y, lengths);
}

/* The lengths of v's axes after the second. */
static damo_status conv_dims(build *b, const damo_op *op, damo_var *v, damo_var **dims) {
  for (int i = 0; i < conv_spec_of(op)->n; i++) dims[i] = build_dim(b, v, 2 + i);
  return b->status;
}

static damo_status conv_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0], *w = node->in[1], *dims[WINDOW_AXES];
  if (!gout[0]) return DAMO_OK;
  DAMO_TRY(conv_dims(b, node->op, x, dims));
  gin[0] = build_conv_grad_input(b, node->op, gout[0], w, dims);
  DAMO_TRY(conv_dims(b, node->op, w, dims));
  gin[1] = build_conv_grad_filter(b, node->op, x, gout[0], dims);
  return b->status;
}

static damo_status conv_grad_input_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *y = node->in[0], *w = node->in[1], *dims[WINDOW_AXES];
  if (!gout[0]) return DAMO_OK;
  gin[0] = build_conv(b, &conv_def, node->op, gout[0], w, NULL);
  DAMO_TRY(conv_dims(b, node->op, w, dims));
  gin[1] = build_conv_grad_filter(b, node->op, gout[0], y, dims);
  return b->status;
}

static damo_status conv_grad_filter_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0], *y = node->in[1], *dims[WINDOW_AXES];
  if (!gout[0]) return DAMO_OK;
  DAMO_TRY(conv_dims(b, node->op, x, dims));
  gin[0] = build_conv_grad_input(b, node->op, y, gout[0], dims);
  gin[1] = build_conv(b, &conv_def, node->op, x, gout[0], NULL);
  return b->status;
}

/* All three are linear in each of their first two operands. */
static damo_status conv_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *const *lengths = node->n_in > 2 ? node->in + 2 : NULL, *part[2] = {NULL, NULL};
  if (eval[0]) part[0] = build_conv(b, node->op->def, node->op, eval[0], node->in[1], lengths);
  if (eval[1]) part[1] = build_conv(b, node->op->def, node->op, node->in[0], eval[1], lengths);
  rout[0] = build_add_present(b, part[0], part[1]);
  return b->status;
}

static void conv_connect(const damo_apply *node, bool *connected) {
  for (int i = 2; i < node->n_in; i++) connected[i] = false;
}

#define CONV_PROPS                                                                                                     \
  PROPS(PROP_RULED(conv_props, border_mode, .kinds = PROP_IS(PROP_STR) | PROP_IS(PROP_LIST),                           \
                   .words = PROP_WORDS("valid", "half", "full"), .entries = PROP_IS(PROP_INT), .most = WINDOW_LONGEST, \
                   .fewest = 2, .longest = 2 * WINDOW_AXES),                                                           \
        PROP_INTEGERS(conv_props, subsample, 1, WINDOW_LONGEST, 1, WINDOW_AXES),                                       \
        PROP_INTEGERS(conv_props, filter_dilation, 1, WINDOW_LONGEST, 1, WINDOW_AXES),                                 \
        PROP_INTEGER(conv_props, num_groups, 1, INT64_MAX), PROP_FLAG(conv_props, filter_flip))

/* With filters that all entries of the batch share, the leading axes become part of the samples. */
static damo_status conv_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                              damo_var **out) {
  for (int i = 1; i < node->n_in; i++) {
    if (batched[i]) return b->status;
  }
  return batch_into_first(b, node, in, batched, 1, k, out);
}

const op_def conv_def = {
    .name = "Conv",
    .doc = "convolution of x (N, C, …) with filters w (K, C/num_groups, …)",
    .props = CONV_PROPS,
    .n_in = 2,
    .data_size = sizeof(conv_spec),
    .init = conv_init,
    .infer_type = conv_infer_type,
    .perform = conv_perform,
    .emit_c = conv_emit_c,
    .grad = conv_grad,
    .rop = conv_rop,
    .infer_shape = conv_infer_shape,
    .batch = conv_batch,
    .terms = TERMS_LINEAR,
    OP_CHECK(conv_check),
};

const op_def conv_grad_input_def = {
    .name = "ConvGradInput",
    .doc = "gradient of Conv for x: of the cotangent, w and the lengths of x; a transposed convolution",
    .props = CONV_PROPS,
    .n_in = OP_VARIADIC,
    .least_in = 2,
    .data_size = sizeof(conv_spec),
    .init = conv_init,
    .infer_type = conv_grad_input_infer_type,
    .perform = conv_grad_input_perform,
    .emit_c = conv_grad_input_emit_c,
    .grad = conv_grad_input_grad,
    .rop = conv_rop,
    .infer_shape = conv_grad_input_infer_shape,
    .batch = conv_batch,
    .connection_pattern = conv_connect,
    .terms = TERMS_LINEAR,
    OP_CHECK(conv_grad_input_check),
};

const op_def conv_grad_filter_def = {
    .name = "ConvGradFilter",
    .doc = "gradient of Conv for w: of x, the cotangent and the lengths of w",
    .props = CONV_PROPS,
    .n_in = OP_VARIADIC,
    .least_in = 2,
    .data_size = sizeof(conv_spec),
    .init = conv_init,
    .infer_type = conv_grad_filter_infer_type,
    .perform = conv_grad_filter_perform,
    .emit_c = conv_grad_filter_emit_c,
    .grad = conv_grad_filter_grad,
    .rop = conv_rop,
    .infer_shape = conv_grad_filter_infer_shape,
    .connection_pattern = conv_connect,
    .terms = TERMS_LINEAR,
    OP_CHECK(conv_grad_filter_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct conv_options {
  prop_value border_mode, subsample, filter_dilation, num_groups, filter_flip, output_shape;
} conv_options;

typedef struct conv_row {
  int n;
  bool transposed;
} conv_row;

/* The Op's properties from a call's options. lists: three lists of numbers. */
static damo_status conv_read_options(build *b, const fn_args *a, int n, prop_value (*lists)[2 * WINDOW_AXES],
                                     conv_props *props) {
  const conv_options *o = FN_OPTIONS(a, conv_options);
  const char *name = a->func->name, *border = prop_str_or(o->border_mode, NULL);
  int64_t pad[WINDOW_AXES][2] = {{0}}, stride[WINDOW_AXES] = {1, 1, 1}, dilation[WINDOW_AXES] = {1, 1, 1};
  const int64_t groups = prop_int_or(o->num_groups, 1);
  if (groups < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: num_groups must be positive", name);
  DAMO_TRY(window_numbers(b->ctx, name, "subsample", &o->subsample, n, 1, stride));
  DAMO_TRY(window_numbers(b->ctx, name, "filter_dilation", &o->filter_dilation, n, 1, dilation));
  *props = (conv_props){
      .border_mode = border != NULL ? o->border_mode : prop_str("valid"),
      .subsample = window_prop(lists[0], stride, n),
      .filter_dilation = window_prop(lists[1], dilation, n),
      .num_groups = prop_int(groups),
      .filter_flip = prop_bool(prop_bool_or(o->filter_flip, true)),
  };
  if (border != NULL) {
    static const char *const borders[] = {"valid", "half", "full", NULL};
    for (int i = 0; borders[i] != NULL; i++)
      if (strcmp(border, borders[i]) == 0) return DAMO_OK;
    const char *near = suggest(border, borders);
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: unknown border_mode '%s'%s%s%s", name, border,
                    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  if (!prop_given(o->border_mode)) return DAMO_OK;
  DAMO_TRY(window_pads(b->ctx, name, "border_mode", &o->border_mode, n, pad));
  int64_t flat[2 * WINDOW_AXES];
  for (int i = 0; i < 2 * n; i++) flat[i] = pad[i / 2][i % 2];
  props->border_mode = window_prop(lists[2], flat, 2 * n);
  return DAMO_OK;
}

/* The least lengths of a transposed convolution: (y - 1)·stride + span - padding. */
static damo_status conv_least_lengths(build *b, const damo_op *op, damo_var *y, damo_var *w, damo_var **lengths) {
  const conv_spec *s = conv_spec_of(op);
  for (int i = 0; i < s->n; i++) {
    const int k = i + WINDOW_AXES - s->n;
    damo_var *span = build_span(b, s, k, build_dim(b, w, 2 + i));
    damo_var *steps = build_mul(b, build_sub(b, build_dim(b, y, 2 + i), build_i64(b, 1)), build_i64(b, s->stride[k]));
    lengths[i] = build_sub(b, build_add(b, steps, span), build_both_pads(b, s, k, span));
    const int64_t n = y->type->shape[2 + i], taps = w->type->shape[2 + i];
    if (n < 0 || taps < 1) continue;
    int64_t pad[2];
    conv_padding(s, k, taps, pad);
    lengths[i] = build_i64(b, (n - 1) * s->stride[k] + (taps - 1) * s->dilation[k] + 1 - pad[0] - pad[1]);
  }
  return b->status;
}

static damo_status call_conv(build *b, const fn_args *a, ptrvec *out) {
  const conv_row *row = a->func->data;
  const conv_options *o = FN_OPTIONS(a, conv_options);
  prop_value lists[3][2 * WINDOW_AXES];
  conv_props props;
  damo_var *in[2], *lengths[DAMO_MAX_NDIM];
  DAMO_TRY(nnet_to_floats(b, a, 2, in));
  DAMO_TRY(conv_read_options(b, a, row->n, lists, &props));
  for (int i = 0; i < 2; i++) {
    if (var_ndim(in[i]) == row->n + 2) continue;
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand %d (%s) must have rank %d, got %d", a->func->name, i + 1,
                    i == 0 ? "x" : "w", row->n + 2, var_ndim(in[i]));
  }
  damo_op *op = op_new(b->ctx, row->transposed ? &conv_grad_input_def : &conv_def, &props);
  if (op == NULL) return b->status = damo_error_status(b->ctx);
  if (!row->transposed) return fn_give(b, out, build_op(b, op, in, 2));
  damo_status s;
  if (prop_given(o->output_shape)) {
    int n = 0;
    s = shape_check(b, a->func->name, &o->output_shape, lengths, &n);
    if (s == DAMO_OK && n != row->n) {
      s = ctx_fail(b->ctx, DAMO_EVALUE, "%s: output_shape has %d lengths, for %d ax%ss", a->func->name, n, row->n,
                   row->n == 1 ? "i" : "e");
    }
  } else {
    s = conv_least_lengths(b, op, in[0], in[1], lengths);
  }
  damo_var *y = s == DAMO_OK ? build_conv_grad_input(b, op, in[0], in[1], lengths) : NULL;
  damo_release(op);
  return s != DAMO_OK ? s : fn_give(b, out, y);
}

#define CONV_OPTIONS                                                                       \
  OPT(conv_options, border_mode, OPT_ANY), OPT(conv_options, subsample, OPT_ANY),          \
      OPT(conv_options, filter_dilation, OPT_ANY), OPT(conv_options, num_groups, OPT_INT), \
      OPT(conv_options, filter_flip, OPT_BOOL)
#define CONV_ROW(row, axes)                                                                                         \
  {                                                                                                                 \
    .name = row, .operands = "x w", .options = OPTIONS(CONV_OPTIONS), .call = call_conv,                            \
    .data = &(const conv_row){axes, false},                                                                         \
    .doc =                                                                                                          \
        "convolution of x (N, C, …) with filters w (K, C/num_groups, …); border_mode 'valid', 'half', 'full', " \
        "padding or pairs; filter_flip (true): as a convolution, else a correlation"                                \
  }
#define CONV_TRANSPOSE_ROW(row, axes)                                                                             \
  {                                                                                                               \
    .name = row, .operands = "x w", .options = OPTIONS(CONV_OPTIONS, OPT(conv_options, output_shape, OPT_SHAPE)), \
    .call = call_conv, .data = &(const conv_row){axes, true},                                                     \
    .doc =                                                                                                        \
        "the transpose of the convolution with filters w as a linear map; output_shape: its lengths after the "   \
        "second axis, the least by themselves"                                                                    \
  }

const op_func conv_funcs[] = {
    CONV_ROW("nn.conv1d", 1),
    CONV_ROW("nn.conv2d", 2),
    CONV_ROW("nn.conv3d", 3),
    CONV_TRANSPOSE_ROW("nn.conv1d_transpose", 1),
    CONV_TRANSPOSE_ROW("nn.conv2d_transpose", 2),
    CONV_TRANSPOSE_ROW("nn.conv3d_transpose", 3),
    {.name = NULL},
};

const op_def *const conv_classes[] = {&conv_def, &conv_grad_input_def, &conv_grad_filter_def, NULL};
