/* quantile: the Op over the searches, and its row. It is made from the operands broadcast to one shape. */
#include "quantile.h"
#include "kernel/walk.h"
#include "op/elem/build_arith.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define QUANTILE_MAX_PARAMS 3
#define QUANTILE_GREATEST 0x1p53 /* parameters above it are no counts or means of counts */

static const quantile_law *quantile_law_find(const char *name) {
  for (const quantile_law *l = quantile_laws; l->name; l++) {
    if (strcmp(l->name, name) == 0) return l;
  }
  return NULL;
}

typedef struct quantile_props {
  prop_value dist;
} quantile_props;

typedef struct quantile_op {
  const quantile_law *law;
} quantile_op;

static damo_status quantile_init(damo_op *op) {
  quantile_op *d = op->data;
  const prop_value *dist = &OP_PROPS(op, quantile_props)->dist;
  d->law = dist->kind == PROP_STR ? quantile_law_find(dist->u.s) : NULL;
  return d->law ? DAMO_OK : ctx_fail(op->obj.ctx, DAMO_EVALUE, "dist.quantile: no such distribution");
}

static damo_dtype quantile_draw_dtype(const quantile_law *l) { return l->discrete ? DAMO_INT64 : DAMO_FLOAT64; }

static damo_status quantile_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const quantile_law *l = ((const quantile_op *)op->data)->law;
  damo_ctx *ctx = op->obj.ctx;
  char text[256];
  if (n_in != 1 + l->n_params) {
    return ctx_fail(ctx, DAMO_ETYPE, "dist.quantile: %s takes q and %d parameter%s, got %d operands", l->name,
                    l->n_params, l->n_params == 1 ? "" : "s", n_in);
  }
  for (int i = 0; i < n_in; i++) {
    const damo_type *t = in[i]->type;
    if (type_is_tensor(t) && t->dtype == DAMO_FLOAT64 && t->ndim == in[0]->type->ndim) continue;
    return ctx_fail(ctx, DAMO_ETYPE, "dist.quantile: operand %d has the Type %s", i + 1,
                    type_format(text, sizeof text, t));
  }
  out[0] = type_tensor(ctx, quantile_draw_dtype(l), in[0]->type->ndim, in[0]->type->shape);
  return out[0] ? DAMO_OK : ctx->error.status;
}

/* One element's result into out; v is q, then the parameters. */
static damo_status quantile_one(damo_ctx *ctx, const quantile_law *l, const double *v, char *out) {
  for (int i = 1; i <= l->n_params; i++) {
    if (fabs(v[i]) <= QUANTILE_GREATEST) continue;
    return ctx_fail(ctx, DAMO_EVALUE, "dist.quantile: parameter %d of %s must be at most 2^53 in modulus, got %g", i,
                    l->name, number_shown(v[i]));
  }
  const bool inside = v[0] >= 0 && v[0] <= 1;
  if (!l->discrete) {
    const double x = inside ? l->find(v + 1, v[0]) : (double)NAN;
    memcpy(out, &x, sizeof x);
    return DAMO_OK;
  }
  if (!inside) {
    return ctx_fail(ctx, DAMO_EVALUE, "dist.quantile: q of a discrete distribution must lie between 0 and 1, got %g",
                    number_shown(v[0]));
  }
  const double k = l->find(v + 1, v[0]);
  if (isnan(k)) return ctx_fail(ctx, DAMO_EVALUE, "dist.quantile: the search in %s does not end", l->name);
  const int64_t count = k < 0x1p63 ? (int64_t)k : INT64_MAX;
  memcpy(out, &count, sizeof count);
  return DAMO_OK;
}

static damo_status quantile_perform(const thunk *t, frame *f) {
  const quantile_law *l = ((const quantile_op *)t->node->op->data)->law;
  const damo_array *first = thunk_in(t, f, 0);
  const int n_ops = 1 + l->n_params;
  const int64_t *steps[1 + QUANTILE_MAX_PARAMS];
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1 + QUANTILE_MAX_PARAMS)], n;
  char *at[1 + QUANTILE_MAX_PARAMS];
  for (int i = 0; i < n_ops; i++) {
    const damo_array *x = thunk_in(t, f, i);
    if (!array_same_shape(x, first))
      return ctx_fail(f->ctx, DAMO_ESHAPE, "dist.quantile: operand %d has another shape than operand 1", i + 1);
    steps[i] = array_strides(x);
    at[i] = x->data;
  }
  DAMO_TRY(shape_size(f->ctx, first->ndim, array_shape(first), &n));
  damo_array *out = thunk_out(t, f, 0, quantile_draw_dtype(l), first->ndim, array_shape(first));
  if (!out) return DAMO_EMEMORY;
  nd_space space;
  nd_walk walk;
  nd_space_init(&space, numbers, first->ndim, array_shape(first), n_ops, steps);
  char *to = out->data;
  for (bool more = nd_begin(&walk, &space) && n > 0; more; more = nd_next(&walk, at), to += 8) {
    double v[1 + QUANTILE_MAX_PARAMS];
    for (int i = 0; i < n_ops; i++) memcpy(&v[i], at[i], sizeof v[i]);
    DAMO_TRY(quantile_one(f->ctx, l, v, to));
  }
  return DAMO_OK;
}

static void quantile_connections(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) connected[i] = false;
}

static damo_status quantile_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                        damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[0][i];
  return b->status;
}

const op_def quantile_def = {
    .name = "Quantile",
    .library = "C's library",
    .doc = "quantiles of a distribution, found by search",
    .props = PROPS(PROP(quantile_props, dist)),
    .n_in = OP_VARIADIC,
    .n_out = 1,
    .data_size = sizeof(quantile_op),
    .init = quantile_init,
    .infer_type = quantile_infer_type,
    .perform = quantile_perform,
    .infer_shape = quantile_infer_shape,
    .connection_pattern = quantile_connections,
    .no_check = "a search has no other definition: spec/op/dist_spec.lua compares it with the distribution function",
};

typedef struct quantile_draw_options {
  prop_value dist;
} quantile_draw_options;

static damo_status call_quantile(build *b, const fn_args *a, ptrvec *out) {
  const quantile_draw_options *o = FN_OPTIONS(a, quantile_draw_options);
  damo_var *in[1 + QUANTILE_MAX_PARAMS], *like = NULL;
  int n = 0;
  if (!prop_given(o->dist) || !quantile_law_find(o->dist.u.s)) {
    return ctx_fail(b->ctx, DAMO_EVALUE, "dist.quantile: dist must name a distribution that is searched");
  }
  for (; n < a->n_in && n <= QUANTILE_MAX_PARAMS && a->in[n]; n++) {
    DAMO_TRY(fn_check_tensor(a, b->ctx, n));
    DAMO_TRY(build_resolve(b, a->in + n, 1, false, in + n));
    if (dtype_is_complex(var_dtype(in[n])))
      return ctx_fail(b->ctx, DAMO_ETYPE, "dist.quantile: operand %d must be real", n + 1);
    in[n] = build_cast(b, in[n], DAMO_FLOAT64);
    like = like ? build_add(b, like, in[n]) : in[n];
  }
  for (int i = 0; i < n; i++) in[i] = build_fill(b, like, in[i]);
  const quantile_props props = {.dist = o->dist};
  damo_apply *node = b->status == DAMO_OK ? build_apply(b, op_new(b->ctx, &quantile_def, &props), in, n) : NULL;
  return node ? ptrvec_push(out, node->out[0]) : b->status;
}

const op_func quantile_funcs[] = {
    {.name = "dist.quantile",
     .operands = "q a [b] [c]",
     .options = OPTIONS(OPT(quantile_draw_options, dist, OPT_STR)),
     .call = call_quantile,
     .no_method = true,
     .doc = "the quantile of q of the distribution named by dist, with parameters a, b, c, by search"},
    {.name = NULL},
};
