/* draw: the op that draws from a distribution: a pure function of a generator's state.
 *
 * In: a state, parameters as float64 (int64 for integers), dimensions. Out: the state after the draw, and the draw.
 * Always holds: value i of a draw depends on the state and i alone; the state's counter advances by one block a value
 * where values take as many words as they need, else by one block for two.
 */
#include "draw.h"
#include "loop/loop.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

philox_state random_state_read(const damo_array *a) {
  uint64_t v[3];
  for (int i = 0; i < 3; i++) memcpy(&v[i], a->data + i * array_strides(a)[0], sizeof v[i]);
  return (philox_state){.key = v[0], .counter_lo = v[1], .counter_hi = v[2]};
}

void state_write(damo_array *a, const philox_state *s) {
  const uint64_t v[3] = {s->key, s->counter_lo, s->counter_hi};
  memcpy(a->data, v, sizeof v);
}

/* ---- The op ------------------------------------------------------------------------------------------------------ */

typedef struct draw_op {
  const distribution *dist;
  damo_dtype dtype;
  bool sized;
  int ndim; /* of the draw when sized */
} draw_op;

static damo_status draw_init(damo_op *op) {
  draw_op *d = op->data;
  const prop_value *dist = &OP_PROPS(op, random_draw_props)->dist, *dtype = &OP_PROPS(op, random_draw_props)->dtype;
  d->dist = dist->kind == PROP_STR ? distribution_find(dist->u.s) : NULL;
  if (!d->dist) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "RandomDraw: no such distribution");
  if (dtype->kind != PROP_STR || !damo_dtype_from_name(dtype->u.s, &d->dtype)) {
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: no such dtype", d->dist->name);
  }
  d->sized = OP_PROPS(op, random_draw_props)->sized.u.i != 0;
  d->ndim = (int)OP_PROPS(op, random_draw_props)->ndim.u.i;
  return DAMO_OK;
}

static damo_dtype param_dtype(const distribution *d) { return d->base == BASE_WORD ? DAMO_INT64 : DAMO_FLOAT64; }

static damo_status draw_check_inputs(const damo_op *op, damo_var *const *in, int n_in) {
  const draw_op *d = op->data;
  const int n_params = d->dist->n_params;
  char text[256];
  damo_ctx *ctx = op->obj.ctx;
  if (n_in != 1 + n_params + (d->sized ? d->ndim : 0)) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: %d inputs are too many or too few", d->dist->name, n_in);
  }
  if (in[0]->type->kind != TYPE_RANDOM) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: rng must be a generator's state, got %s", d->dist->name,
                    type_format(text, sizeof text, in[0]->type));
  }
  for (int i = 1; i < n_in; i++) {
    const bool param = i <= n_params;
    const damo_type *t = in[i]->type;
    if (type_is_tensor(t) && t->dtype == (param ? param_dtype(d->dist) : DAMO_INT64) && (param || t->ndim == 0))
      continue;
    return ctx_fail(ctx, DAMO_ETYPE, "%s: %s has the Type %s", d->dist->name,
                    param ? d->dist->param[i - 1] : "a dimension", type_format(text, sizeof text, t));
  }
  return DAMO_OK;
}

/* The shape error of parameters 0 and i. */
static damo_status params_disagree(damo_ctx *ctx, const distribution *dist, int i, const int *ndim,
                                   const int64_t *const *shape) {
  char a[256], c[256];
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: %s of shape %s and %s of shape %s do not broadcast", dist->name,
                  dist->param[0], shape_format(a, sizeof a, ndim[0], shape[0]), dist->param[i],
                  shape_format(c, sizeof c, ndim[1], shape[1]));
}

/* The shape to which the parameters' static shapes broadcast; shape error when they disagree. */
static damo_status params_static_shape(damo_ctx *ctx, const draw_op *d, damo_var *const *params, int *ndim,
                                       int64_t *shape) {
  *ndim = 0;
  for (int i = 0; i < d->dist->n_params; i++) *ndim = var_ndim(params[i]) > *ndim ? var_ndim(params[i]) : *ndim;
  for (int k = 0; k < *ndim; k++) {
    shape[k] = 1;
    for (int i = 0; i < d->dist->n_params; i++) {
      const damo_type *t = params[i]->type;
      const int axis = k - (*ndim - t->ndim);
      if (axis < 0 || t->shape[axis] == 1) continue;
      if (shape[k] != 1 && shape[k] >= 0 && t->shape[axis] >= 0 && shape[k] != t->shape[axis]) {
        const damo_type *u = params[0]->type;
        return params_disagree(ctx, d->dist, i, (const int[]){u->ndim, t->ndim},
                               (const int64_t *const[]){u->shape, t->shape});
      }
      if (shape[k] == 1 || shape[k] < 0) shape[k] = t->shape[axis];
    }
  }
  return DAMO_OK;
}

static damo_status draw_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const draw_op *d = op->data;
  damo_ctx *ctx = op->obj.ctx;
  int64_t shape[DAMO_MAX_NDIM];
  int ndim = 0;
  DAMO_TRY(draw_check_inputs(op, in, n_in));
  DAMO_TRY(params_static_shape(ctx, d, in + 1, &ndim, shape));
  if (d->sized) {
    if (ndim > d->ndim) {
      return ctx_fail(ctx, DAMO_ESHAPE, "%s: parameters of rank %d do not fit a size of rank %d", d->dist->name, ndim,
                      d->ndim);
    }
    ndim = d->ndim;
    for (int i = 0; i < ndim; i++) {
      if (!var_static_int(in[1 + d->dist->n_params + i], &shape[i]) || shape[i] < 0) shape[i] = -1;
    }
  }
  out[0] = type_random(ctx);
  out[1] = type_tensor(ctx, d->dtype, ndim, shape);
  return out[0] && out[1] ? DAMO_OK : ctx->error.status;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

/* A walk of the parameters along the draw's shape: byte strides, 0 where they broadcast. */
typedef struct param_walk {
  int ndim, n_params;
  int64_t shape[DAMO_MAX_NDIM], step[DRAW_MAX_PARAMS][DAMO_MAX_NDIM];
  char *data[DRAW_MAX_PARAMS];
  bool constant; /* one set of parameters for all values */
  nd_space space;
  nd_walk walk;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, DRAW_MAX_PARAMS)];
} param_walk;

static damo_status param_walk_shape(param_walk *w, const thunk *t, frame *f, const draw_op *d) {
  w->n_params = d->dist->n_params;
  if (d->sized) {
    w->ndim = d->ndim;
    for (int i = 0; i < w->ndim; i++) {
      w->shape[i] = scalar_to_int64(array_item(thunk_in(t, f, 1 + w->n_params + i)));
      if (w->shape[i] >= 0) continue;
      return ctx_fail(f->ctx, DAMO_EVALUE, "%s: a size must not be negative, got %lld", d->dist->name,
                      (long long)w->shape[i]);
    }
    return DAMO_OK;
  }
  for (int i = 0; i < w->n_params; i++) {
    const damo_array *p = thunk_in(t, f, 1 + i);
    int64_t shape[DAMO_MAX_NDIM];
    int n;
    if (!shape_broadcast(w->ndim, w->shape, p->ndim, array_shape(p), &n, shape)) {
      const damo_array *q = thunk_in(t, f, 1);
      return params_disagree(f->ctx, d->dist, i, (const int[]){q->ndim, p->ndim},
                             (const int64_t *const[]){array_shape(q), array_shape(p)});
    }
    w->ndim = n;
    memcpy(w->shape, shape, (size_t)n * sizeof *shape);
  }
  return DAMO_OK;
}

static damo_status param_walk_init(param_walk *w, const thunk *t, frame *f, const draw_op *d) {
  char a[256], c[256];
  for (int i = 0; i < w->n_params; i++) {
    const damo_array *p = thunk_in(t, f, 1 + i);
    const int lift = w->ndim - p->ndim;
    w->data[i] = p->data;
    for (int k = 0; k < p->ndim; k++) {
      const int64_t n = array_shape(p)[k];
      if (n != w->shape[lift + k] && !type_dim_is_one(t->node->in[1 + i]->type, k)) {
        char hint[320], late[400] = "";
        if (n == 1) {
          broadcast_hint(hint, sizeof hint, t->node->in[1 + i]->type, k);
          snprintf(late, sizeof late, ": axis %d %s", k + 1, hint);
        }
        return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: %s of shape %s does not broadcast to shape %s%s", d->dist->name,
                        d->dist->param[i], shape_format(a, sizeof a, p->ndim, array_shape(p)),
                        shape_format(c, sizeof c, w->ndim, w->shape), late);
      }
      w->step[i][lift + k] = n == 1 ? 0 : array_strides(p)[k];
      if (n != 1) w->constant = false;
    }
  }
  return DAMO_OK;
}

/* The caller has checked that the size of the shape does not overflow. */
static void param_walk_begin(param_walk *w) {
  const int64_t *steps[DRAW_MAX_PARAMS];
  for (int i = 0; i < w->n_params; i++) steps[i] = w->step[i];
  nd_space_init(&w->space, w->numbers, w->ndim, w->shape, w->n_params, steps);
  nd_begin(&w->walk, &w->space);
}

static void param_walk_next(param_walk *w) { nd_next(&w->walk, w->data); }

static bool demand_holds(param_demand demand, double v) {
  switch (demand) {
    case DEMAND_NONE: return true;
    case DEMAND_FINITE: return v - v == 0;
    case DEMAND_POSITIVE: return v > 0 && v < INFINITY;
    case DEMAND_NONNEGATIVE: return v >= 0 && v < INFINITY;
    case DEMAND_PROBABILITY: return v >= 0 && v <= 1;
    case DEMAND_CHANCE: return v > 0 && v <= 1;
    case DEMAND_COUNT: return v >= 0 && v <= 0x1p53 && v == floor(v);
    case DEMAND_RATE: return v >= 0 && v <= 0x1p53;
  }
  return true;
}

static const char *const demand_text[] = {
    [DEMAND_FINITE] = "must be finite",
    [DEMAND_POSITIVE] = "must be positive and finite",
    [DEMAND_NONNEGATIVE] = "must be finite and not negative",
    [DEMAND_PROBABILITY] = "must lie between 0 and 1",
    [DEMAND_CHANCE] = "must be positive and at most 1",
    [DEMAND_COUNT] = "must be an integer from 0 to 2^53",
    [DEMAND_RATE] = "must lie between 0 and 2^53",
};

static damo_status draw_check_params(damo_ctx *ctx, const distribution *d, const double *p) {
  for (int i = 0; i < d->n_params; i++) {
    if (demand_holds(d->demand[i], p[i])) continue;
    return ctx_fail(ctx, DAMO_EVALUE, "%s: %s %s, got %g", d->name, d->param[i], demand_text[d->demand[i]],
                    number_shown(p[i]));
  }
  const char *why = d->refuse ? d->refuse(p) : NULL;
  if (!why) return DAMO_OK;
  const double first = number_shown(p[0]);
  if (d->n_params == 1) return ctx_fail(ctx, DAMO_EVALUE, "%s: %s, got %s=%g", d->name, why, d->param[0], first);
  if (d->n_params > 2) return ctx_fail(ctx, DAMO_EVALUE, "%s: %s", d->name, why);
  return ctx_fail(ctx, DAMO_EVALUE, "%s: %s, got %s=%g, %s=%g", d->name, why, d->param[0], first, d->param[1],
                  number_shown(p[1]));
}

/* Fills params[i][0..n) for the next n values, each set checked. */
static damo_status gather_params(damo_ctx *ctx, const distribution *d, param_walk *w, double *const *params,
                                 int64_t n) {
  double p[DRAW_MAX_PARAMS];
  for (int64_t k = 0; k < n; k++) {
    for (int i = 0; i < w->n_params; i++) {
      memcpy(&p[i], w->data[i], sizeof p[i]);
      params[i][k] = p[i];
    }
    if (k == 0 || !w->constant) DAMO_TRY(draw_check_params(ctx, d, p));
    if (!w->constant) param_walk_next(w);
  }
  return DAMO_OK;
}

/* Rounds down to float32, so that a value below 1 stays below 1. */
static void store_uniform_f32(const double *v, float *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const float f = (float)v[i];
    out[i] = (double)f > v[i] ? nextafterf(f, -INFINITY) : f;
  }
}

static void draw_store(const draw_op *d, const double *v, char *out, int64_t n) {
  if (d->dtype == DAMO_FLOAT32 && d->dist->rounds_down)
    store_uniform_f32(v, (float *)out, n);
  else
    kernel_cast(DAMO_FLOAT64, d->dtype)(v, out, n);
}

/* n values by a function of one value's words. */
static void draw_entries(const distribution *d, const philox_state *at, double *values, const double *const *params,
                         int64_t n) {
  double p[DRAW_MAX_PARAMS];
  for (int64_t k = 0; k < n; k++) {
    philox_words words = philox_words_of(at, (uint64_t)k);
    for (int i = 0; i < d->n_params; i++) p[i] = params[i][k];
    values[k] = d->entry(&words, p);
  }
}

uint64_t draw_blocks(const distribution *d, int64_t n) {
  return d->base == BASE_ENTRY ? (uint64_t)n : philox_blocks(n);
}

#define DRAW_PART (4 * DRAW_BLOCK) /* values between two points */

/* The values that are drawn at a time: of calls in slices fewer. Even, and without effect on the values. */
static int64_t draw_step(const damo_ctx *ctx, const distribution *d) {
  return ctx_pace(ctx) == NULL ? DRAW_BLOCK : d->base == BASE_ENTRY ? DRAW_BLOCK / 8 : DRAW_BLOCK / 2;
}

/* After the block that begins with value i. */
static void draw_point(damo_ctx *ctx, int64_t i) {
  if (ctx_pace(ctx) == NULL && (i + DRAW_BLOCK) % DRAW_PART != 0) return;
  ctx_set_due(ctx);
  ctx_point(ctx);
}

static damo_status draw_floats(damo_ctx *ctx, const draw_op *d, param_walk *w, philox_state at, char *out, int64_t n,
                               double *workspace) {
  const distribution *dist = d->dist;
  double *values = workspace, *params[DRAW_MAX_PARAMS];
  const size_t size = dtype_size(d->dtype);
  for (int i = 0; i < DRAW_MAX_PARAMS; i++) params[i] = workspace + (1 + i) * DRAW_BLOCK;
  const double *const *read = (const double *const *)params;
  const int64_t step = draw_step(ctx, dist);
  for (int64_t i = 0; i < n; i += step) {
    const int64_t m = n - i < step ? n - i : step;
    if (i == 0 || !w->constant) DAMO_TRY(gather_params(ctx, dist, w, params, m));
    if (dist->base == BASE_NORMAL)
      philox_normal_f64(ctx->isa, &at, values, m);
    else if (dist->base == BASE_UNIFORM)
      philox_uniform_f64(ctx->isa, &at, values, m);
    if (dist->base != BASE_ENTRY)
      dist->draw(ctx->isa->draw, values, read, m);
    else if (dist->block)
      dist->block(ctx->isa->draw, &at, values, read, m);
    else
      draw_entries(dist, &at, values, read, m);
    philox_advance(&at, draw_blocks(dist, m));
    draw_store(d, values, out + (size_t)i * size, m);
    draw_point(ctx, i);
    if (ctx_is_stopped(ctx)) break;
  }
  return DAMO_OK;
}

/* The high half of word · range: 0…range-1, with a bias below range / 2^64; range 0 stands for 2^64. */
static uint64_t word_below(uint64_t word, uint64_t range) {
  const uint64_t a0 = (uint32_t)word, a1 = word >> 32, b0 = (uint32_t)range, b1 = range >> 32;
  const uint64_t mid1 = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (uint32_t)mid1;
  return range == 0 ? word : a1 * b1 + (mid1 >> 32) + (mid2 >> 32);
}

static damo_status draw_words(damo_ctx *ctx, const draw_op *d, param_walk *w, philox_state at, char *out, int64_t n,
                              int64_t *workspace) {
  const cast_fn cast = kernel_cast(DAMO_INT64, d->dtype);
  const size_t size = dtype_size(d->dtype);
  uint32_t block[4];
  const int64_t step = draw_step(ctx, d->dist);
  for (int64_t i = 0; i < n; i += step) {
    const int64_t m = n - i < step ? n - i : step;
    for (int64_t k = 0; k < m; k++) {
      int64_t low, high;
      memcpy(&low, w->data[0], sizeof low);
      memcpy(&high, w->data[1], sizeof high);
      if (low > high) {
        return ctx_fail(ctx, DAMO_EVALUE, "integers: low must not be greater than high, got low=%lld, high=%lld",
                        (long long)low, (long long)high);
      }
      if ((i + k) % 2 == 0) philox_block(&at, (uint64_t)(i + k) / 2, block);
      const uint32_t *h = block + 2 * ((i + k) % 2);
      workspace[k] =
          (int64_t)((uint64_t)low + word_below((uint64_t)h[1] << 32 | h[0], (uint64_t)high - (uint64_t)low + 1));
      param_walk_next(w);
    }
    cast(workspace, out + (size_t)i * size, m);
    draw_point(ctx, i);
    if (ctx_is_stopped(ctx)) break;
  }
  return DAMO_OK;
}

static damo_status draw_perform(const thunk *t, frame *f) {
  const draw_op *d = t->node->op->data;
  param_walk w = {.constant = true};
  philox_state s = random_state_read(thunk_in(t, f, 0));
  int64_t n;
  DAMO_TRY(param_walk_shape(&w, t, f, d));
  DAMO_TRY(param_walk_init(&w, t, f, d));
  DAMO_TRY(shape_size(f->ctx, w.ndim, w.shape, &n));
  param_walk_begin(&w);
  void *workspace = thunk_scratch(t, f, (1 + DRAW_MAX_PARAMS) * DRAW_BLOCK * sizeof(double));
  damo_array *next = workspace ? thunk_out(t, f, 0, DAMO_UINT64, 1, (const int64_t[]){3}) : NULL;
  damo_array *out = next ? thunk_out(t, f, 1, d->dtype, w.ndim, w.shape) : NULL;
  if (!out) return DAMO_EMEMORY;
  if (d->dist->base == BASE_WORD)
    DAMO_TRY(draw_words(f->ctx, d, &w, s, out->data, n, workspace));
  else
    DAMO_TRY(draw_floats(f->ctx, d, &w, s, out->data, n, workspace));
  philox_advance(&s, draw_blocks(d->dist, n));
  state_write(next, &s);
  return DAMO_OK;
}

/* ---- Gradients and shapes ---------------------------------------------------------------------------------------- */

static damo_status draw_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const draw_op *d = node->op->data;
  if (!gout[1]) return DAMO_OK;
  for (int i = 0; i < d->dist->n_params; i++) {
    damo_var *p = node->in[1 + i];
    damo_var *by = NULL;
    if (d->dist->grad && dtype_is_float(d->dtype)) {
      by = d->dist->grad(b, node->in + 1, node->out[1], gout[1], i);
      if (b->status != DAMO_OK) return b->status;
    }
    if (by) {
      gin[1 + i] = build_unbroadcast(b, by, p);
    } else {
      char why[128];
      snprintf(why, sizeof why, "%s draws have no derivative by %s", d->dist->name, d->dist->param[i]);
      gin[1 + i] = build_null(b, why);
    }
  }
  return b->status;
}

static void draw_connections(const damo_apply *node, bool *connected) {
  const draw_op *d = node->op->data;
  for (int i = 0; i < node->n_in; i++) {
    connected[2 * i] = i == 0;
    connected[2 * i + 1] = i >= 1 && i <= d->dist->n_params;
  }
}

static damo_status draw_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  const draw_op *d = node->op->data;
  const int ndim = var_ndim(node->out[1]), n_params = d->dist->n_params;
  for (int k = 0; k < ndim; k++) {
    damo_var *dim = NULL;
    if (d->sized) dim = node->in[1 + n_params + k];
    for (int i = 0; i < n_params && !dim; i++) {
      const int axis = k - (ndim - var_ndim(node->in[1 + i]));
      if (axis >= 0 && !type_dim_is_one(node->in[1 + i]->type, axis)) dim = in_shape[1 + i][axis];
    }
    out_shape[1][k] = dim ? dim : build_scalar(b, DAMO_INT64, 1);
  }
  return b->status;
}

static void draw_format(strbuf *out, const damo_op *op) {
  const draw_op *d = op->data;
  strbuf_addf(out, "RandomDraw{%s, %s}", d->dist->name, dtype_name(d->dtype));
}

static damo_status random_draw_emit_c(struct c_emit *e, const damo_apply *node) {
  const draw_op *d = node->op->data;
  return draw_emit_c(e, node, d->dist, d->sized, d->ndim);
}

const op_def random_draw_def = {
    .name = "RandomDraw",
    .doc = "a draw from a distribution, and the generator's next state",
    .props = PROPS(PROP(random_draw_props, dist), PROP(random_draw_props, dtype), PROP_FLAG(random_draw_props, sized),
                   PROP_INTEGER(random_draw_props, ndim, 0, DAMO_MAX_NDIM)),
    .n_in = OP_VARIADIC,
    .n_out = 2,
    .data_size = sizeof(draw_op),
    .init = draw_init,
    .infer_type = draw_infer_type,
    .perform = draw_perform,
    .emit_c = random_draw_emit_c,
    .grad = draw_grad,
    .infer_shape = draw_infer_shape,
    .connection_pattern = draw_connections,
    .format = draw_format,
    .no_check = "a draw has no other definition: spec/op/random_spec.lua has its moments and known draws",
};
