/* fft: discrete Fourier transforms along an axis, as NumPy's: y_k = scale · Σ_j x_j exp(∓2πi (j-1)(k-1)/n).
 *
 * Fourier (x, [n]): n, an int64 scalar, is the transform's length where it is not that of x's axis: x is then cut, or
 * filled up with zeros. The n-dimensional functions are one Fourier an axis. Each Op's gradient is a Fourier again, the
 * adjoint of the real-linear map.
 */
#include <math.h>
#include <string.h>

#include "fft_op.h"
#include "loop/loop.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/shape/shape_int.h"

/* ---- The class --------------------------------------------------------------------------------------------------- */

static const op_def fourier_def;

fft_kind fourier_kind(const damo_op *op) {
  const char *kind = OP_PROPS(op, fourier_props)->kind.u.s;
  return strcmp(kind, "to_half") == 0 ? FFT_TO_HALF : strcmp(kind, "from_half") == 0 ? FFT_FROM_HALF : FFT_COMPLEX;
}

int fourier_axis(const damo_op *op) { return (int)OP_PROPS(op, fourier_props)->axis.u.i - 1; }

bool fourier_inverse(const damo_op *op) { return OP_PROPS(op, fourier_props)->inverse.u.i != 0; }
static bool is_adjoint(const damo_op *op) { return OP_PROPS(op, fourier_props)->adjoint.u.i != 0; }

double fourier_scale(const damo_op *op, int64_t n) {
  const char *scale = OP_PROPS(op, fourier_props)->scale.u.s;
  return strcmp(scale, "root") == 0 ? 1 / sqrt((double)n) : strcmp(scale, "inverse") == 0 ? 1 / (double)n : 1;
}

double fourier_interior(const damo_op *op) {
  if (!is_adjoint(op)) return 1;
  return fourier_kind(op) == FFT_TO_HALF ? 2 : 0.5;
}

static damo_status fourier_no_points(damo_ctx *ctx, int64_t n) {
  return ctx_fail(ctx, DAMO_EVALUE, "a Fourier transform needs at least one point along its axis, got %lld",
                  (long long)n);
}

/* The dtype of the result. */
static damo_dtype fourier_dtype(fft_kind kind, damo_dtype x) {
  const bool single = x == DAMO_FLOAT32 || x == DAMO_COMPLEX64;
  if (kind == FFT_FROM_HALF) return single ? DAMO_FLOAT32 : DAMO_FLOAT64;
  return single ? DAMO_COMPLEX64 : DAMO_COMPLEX128;
}

static damo_status fourier_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *x = in[0]->type;
  const fft_kind kind = fourier_kind(op);
  const int axis = fourier_axis(op);
  int64_t shape[DAMO_MAX_NDIM], n = -1;
  if (n_in < 1 || n_in > 2) return ctx_fail(ctx, DAMO_ETYPE, "Fourier: one or two operands, got %d", n_in);
  if (!type_is_tensor(x) || axis >= x->ndim)
    return ctx_fail(ctx, DAMO_ETYPE, "Fourier: the operand must be a tensor with axis %d", axis + 1);
  if (!(kind == FFT_TO_HALF ? dtype_is_float(x->dtype) : dtype_is_complex(x->dtype)))
    return ctx_fail(ctx, DAMO_ETYPE, "Fourier: the operand must be %s, got %s",
                    kind == FFT_TO_HALF ? "real" : "complex", dtype_name(x->dtype));
  if (n_in == 2 && (!type_is_tensor(in[1]->type) || var_ndim(in[1]) != 0 || var_dtype(in[1]) != DAMO_INT64))
    return ctx_fail(ctx, DAMO_ETYPE, "Fourier: the length must be an int64 scalar");
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  if (n_in == 2 ? !var_static_int(in[1], &n) : (n = shape[axis]) < 0)
    n = -1;
  else if (n < 1)
    return fourier_no_points(ctx, n);
  shape[axis] = n < 0 ? -1 : fft_out_length(kind, n);
  out[0] = type_tensor(ctx, fourier_dtype(kind, x->dtype), x->ndim, shape);
  return out[0] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static damo_status fourier_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  const int axis = fourier_axis(node->op);
  damo_var *n = node->n_in == 2 ? node->in[1] : in_shape[0][axis];
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[0][i];
  out_shape[0][axis] =
      fourier_kind(node->op) == FFT_TO_HALF ? build_add(b, build_floor_div(b, n, build_int(b, 2)), build_int(b, 1)) : n;
  return b->status;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* The plan of the length that came last. */
typedef struct fourier_state {
  fft_plan plan;
  void *memory;
  size_t size;
} fourier_state;

static void fourier_clear(const thunk *t, frame *f) {
  fourier_state *s = thunk_state(t, f);
  mem_free(f->ctx, s->memory, s->size);
  *s = (fourier_state){.memory = NULL};
}

#define LONG_SLICE 2048 /* entries, over all slices done together, of longer ones than these: there are points inside */
#define FFT_ROOT_NS 20.0 /* about, of one of a plan's numbers */

static damo_status fourier_plan(const thunk *t, frame *f, fft_kind kind, bool single, int64_t n) {
  fourier_state *s = thunk_state(t, f);
  if (s->memory != NULL && s->plan.n == n) return DAMO_OK;
  fourier_clear(t, f);
  const size_t size = fft_plan_size(kind, single, n);
  if (size == 0) return ctx_fail_memory(f->ctx);
  s->memory = mem_alloc(f->ctx, size);
  if (s->memory == NULL) return damo_error_status(f->ctx);
  s->size = size;
  char *aligned = (char *)s->memory + (-(uintptr_t)s->memory & 63);
  fft_plan_init(&s->plan, n > LONG_SLICE ? ctx_pool(f->ctx, FFT_ROOT_NS * (double)n) : NULL, f->ctx->isa->fft, kind,
                single, n, aligned);
  return DAMO_OK;
}

/* A call's slices: rows of the walk, in each `count` slices, done in groups of `lanes`. */
typedef struct fourier_job {
  const fft_plan *plan;
  const fft_fns *fns;
  fft_slices slices;
  nd_space space;
  char *first[2];
  int64_t count, lanes, groups, shares;
  thread_pool *pool;
  char *work;
  size_t work_size; /* of each thread */
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)];
} fourier_job;

static void fourier_share(void *arg, int64_t share, int worker) {
  const fourier_job *j = arg;
  const int64_t units = j->space.rows * j->groups, end = pool_share_first(units, share + 1, j->shares);
  nd_walk w;
  char *p[2] = {j->first[0], j->first[1]};
  int64_t unit = pool_share_first(units, share, j->shares), row = -1;
  if (!nd_begin(&w, &j->space)) return;
  for (; unit < end; unit++) {
    if (unit / j->groups != row) nd_seek(&w, row = unit / j->groups, p);
    const int64_t from = unit % j->groups * j->lanes;
    fft_slices s = j->slices;
    s.lanes = j->count - from < j->lanes ? j->count - from : j->lanes;
    s.x = p[0] + from * s.x_lane;
    s.y = p[1] + from * s.y_lane;
    s.pool = j->plan->cycle * s.lanes > LONG_SLICE ? j->pool : NULL;
    j->fns->slices[j->plan->single](j->plan, &s, j->work + (size_t)worker * j->work_size);
  }
}

/* Slices side by side are done together where their entries lie apart, or are few. */
#define SHORT_SLICE 48

static void fourier_job_init(fourier_job *j, const damo_op *op, const damo_array *x, const damo_array *y, int64_t n) {
  const int axis = fourier_axis(op);
  const int64_t x_step = array_strides(x)[axis], y_step = array_strides(y)[axis];
  j->space = nd_space_begin(j->numbers, DAMO_MAX_NDIM, 2);
  for (int k = 0; k < x->ndim; k++) {
    if (k == axis) continue;
    nd_space_next(&j->space)[0] = array_strides(x)[k];
    nd_space_next(&j->space)[1] = array_strides(y)[k];
    nd_space_push(&j->space, array_shape(x)[k]);
  }
  j->count = nd_space_inner(&j->space);
  j->first[0] = x->data, j->first[1] = y->data;
  j->slices = (fft_slices){.x_step = x_step,
                           .y_step = y_step,
                           .x_lane = nd_inner_stride(&j->space, 0),
                           .y_lane = nd_inner_stride(&j->space, 1),
                           .x_length = array_shape(x)[axis],
                           .inverse = fourier_inverse(op),
                           .scale = fourier_scale(op, n),
                           .interior = fourier_interior(op)};
  const bool in_place = x_step == (int64_t)dtype_size(array_dtype(x)) && n >= SHORT_SLICE;
  j->lanes = in_place ? 1 : j->plan->single ? 2 * FFT_LANES : FFT_LANES;
  if (j->lanes > j->count) j->lanes = j->count > 0 ? j->count : 1;
  j->groups = (j->count + j->lanes - 1) / j->lanes;
}

static damo_status fourier_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  const damo_array *x = thunk_in(t, f, 0);
  const fft_kind kind = fourier_kind(op);
  const int axis = fourier_axis(op);
  const int64_t n = t->n_in == 2 ? scalar_to_int64(array_item(thunk_in(t, f, 1))) : array_shape(x)[axis];
  const damo_dtype dtype = fourier_dtype(kind, array_dtype(x));
  int64_t shape[DAMO_MAX_NDIM];
  if (n < 1) return fourier_no_points(f->ctx, n);
  memcpy(shape, array_shape(x), (size_t)x->ndim * sizeof *shape);
  shape[axis] = fft_out_length(kind, n);
  DAMO_TRY(fourier_plan(t, f, kind, dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64, n));
  damo_array *y = thunk_out(t, f, 0, dtype, x->ndim, shape);
  if (y == NULL) return damo_error_status(f->ctx);

  fourier_job j = {.plan = &((fourier_state *)thunk_state(t, f))->plan, .fns = f->ctx->isa->fft};
  fourier_job_init(&j, op, x, y, n);
  const double passes = (1 + log2((double)n)) * (j.plan->chirp_re != NULL ? 2 : 1);
  const double ns = (double)j.space.rows * (double)j.count * (double)j.plan->cycle * passes * 0.3;
  thread_pool *pool = ctx_pool(f->ctx, ns);
  j.pool = pool;
  j.shares = pool_shares(pool, j.space.rows * j.groups, 1);
  j.work_size = (fft_work_size(j.plan, j.lanes) + 63) / 64 * 64;
  j.work = thunk_scratch(t, f, j.work_size * (size_t)pool_size(pool));
  if (j.work == NULL) return damo_error_status(f->ctx);
  if (j.space.rows > 0 && j.count > 0) pool_run(pool, j.shares, fourier_share, &j);
  return DAMO_OK;
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

static damo_var *build_fourier(build *b, const fourier_props *p, damo_var *x, damo_var *n) {
  damo_var *in[2] = {x, n};
  if (b->status != DAMO_OK || x == NULL) return NULL;
  return build_op(b, op_new(b->ctx, &fourier_def, p), in, n != NULL ? 2 : 1);
}

damo_var *build_fft_fit(build *b, damo_var *v, damo_var *length, int axis) {
  damo_var *dims[DAMO_MAX_NDIM];
  int64_t want;
  if (v == NULL || length == NULL) return NULL;
  if (!var_static_int(length, &want)) want = -1;
  const int64_t have = v->type->shape[axis];
  if (have >= 0 && have == want) return v;
  if (have >= 0 && want >= 0 && have > want) return build_slice(b, v, axis, NULL, length, 1);
  if (have < 0 || want < 0) v = build_slice(b, v, axis, NULL, build_minimum(b, length, build_dim(b, v, axis)), 1);
  if (v == NULL) return NULL;
  if (build_dims(b, v, dims) != DAMO_OK) return NULL;
  dims[axis] = build_sub(b, length, dims[axis]);
  damo_var *parts[2] = {v, build_alloc(b, build_scalar(b, var_dtype(v), 0), dims, var_ndim(v))};
  return build_join(b, "fft", axis, parts, 2);
}

/* The adjoint: the exponent's other sign and the same scale. Of real numbers to half a spectrum it is the transform from
 * half a spectrum whose inner entries count half, and the other way about twice. */
static damo_status fourier_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const damo_op *op = node->op;
  const fft_kind kind = fourier_kind(op);
  damo_var *x = node->in[0], *g = gout[0], *n = node->n_in == 2 ? node->in[1] : NULL;
  fourier_props p = *OP_PROPS(op, fourier_props);
  if (g == NULL) return DAMO_OK;
  p.inverse = prop_bool(!fourier_inverse(op));
  if (kind != FFT_COMPLEX) {
    p.kind = prop_str(kind == FFT_TO_HALF ? "from_half" : "to_half");
    p.adjoint = prop_bool(!is_adjoint(op));
    if (n == NULL) n = build_dim(b, x, fourier_axis(op));
  }
  damo_var *v = build_fourier(b, &p, g, kind == FFT_FROM_HALF ? NULL : n);
  gin[0] = node->n_in == 2 ? build_fft_fit(b, v, build_dim(b, x, fourier_axis(op)), fourier_axis(op)) : v;
  return b->status;
}

static damo_status fourier_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  fourier_props moved = *OP_PROPS(node->op, fourier_props);
  moved.axis = prop_int(k + moved.axis.u.i);
  if (node->n_in == 2 && batched[1]) return b->status; /* lengths that differ */
  return batch_apply(b, op_new(b->ctx, node->op->def, &moved), node, in, out);
}

static const op_def fourier_def = {
    .name = "Fourier",
    .doc = "discrete Fourier transform along an axis, or its inverse or adjoint",
    .props = PROPS(PROP_WORD(fourier_props, kind, "complex", "to_half", "from_half"), PROP_AXIS(fourier_props, axis),
                   PROP_FLAG(fourier_props, inverse), PROP_WORD(fourier_props, scale, "one", "inverse", "root"),
                   PROP_FLAG(fourier_props, adjoint)),
    .n_in = OP_VARIADIC,
    .infer_type = fourier_infer_type,
    .perform = fourier_perform,
    .emit_c = fourier_emit_c,
    .state_size = sizeof(fourier_state),
    .state_clear = fourier_clear,
    .grad = fourier_grad,
    .rop = rop_again,
    .infer_shape = fourier_infer_shape,
    .batch = fourier_batch,
    .connection_pattern = connect_first,
    .masks = MASKS_WHOLE,
    OP_CHECK(fourier_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct fft_options {
  prop_value n, axis, norm;
} fft_options;

typedef struct fftn_options {
  prop_value s, axes, norm;
} fftn_options;

typedef struct fftfreq_options {
  prop_value n, d;
} fftfreq_options;

/* What is asked of a function, from its name: ifft, rfft2, hfft, … */
typedef struct fft_call {
  const char *name;
  fft_kind kind;
  bool inverse;
  const char *scale;
} fft_call;

/* norm: which of the two directions is scaled by 1/n, "backward" (default) or "forward", or both by 1/√n: "ortho". */
static damo_status fft_read_norm(build *b, fft_call *c, const prop_value *norm) {
  const char *text = prop_str_or(*norm, "backward");
  const bool backward = strcmp(text, "backward") == 0;
  if (!backward && strcmp(text, "ortho") != 0 && strcmp(text, "forward") != 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: norm is \"backward\", \"ortho\" or \"forward\", got \"%s\"", c->name,
                    text);
  c->scale = strcmp(text, "ortho") == 0 ? "root" : backward == c->inverse ? "inverse" : "one";
  return DAMO_OK;
}

damo_var *build_fft_along(build *b, fft_kind kind, damo_var *x, damo_var *n, int axis) {
  const bool from_half = kind == FFT_FROM_HALF;
  const fourier_props p = {.kind = prop_str(from_half             ? "from_half"
                                            : kind == FFT_TO_HALF ? "to_half"
                                                                  : "complex"),
                           .axis = prop_int(axis + 1),
                           .inverse = prop_bool(from_half),
                           .scale = prop_str("one"),
                           .adjoint = prop_bool(false)};
  return build_fourier(b, &p, x, n);
}

static damo_var *build_transform(build *b, const fft_call *c, fft_kind kind, damo_var *x, damo_var *n, int axis) {
  static const char *const names[] = {
      [FFT_COMPLEX] = "complex", [FFT_TO_HALF] = "to_half", [FFT_FROM_HALF] = "from_half"};
  const fourier_props p = {.kind = prop_str(names[kind]),
                           .axis = prop_int(axis + 1),
                           .inverse = prop_bool(c->inverse),
                           .scale = prop_str(c->scale),
                           .adjoint = prop_bool(false)};
  if (x == NULL) return NULL;
  if (kind == FFT_FROM_HALF && n == NULL)
    n = build_mul(b, build_int(b, 2), build_sub(b, build_dim(b, x, axis), build_int(b, 1)));
  return build_fourier(b, &p, x, n);
}

/* The operand as a float for transforms to half a spectrum, as a complex number for others. */
static damo_status fft_read_operand(build *b, const fn_args *a, fft_kind kind, damo_var **x) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *v = build_strong(b, a->in[0]);
  if (v == NULL) return b->status;
  const damo_dtype dt = var_dtype(v);
  if (kind == FFT_TO_HALF && dtype_is_complex(dt))
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the operand must be real, got %s; damo.fft.fft and fftn take complex ones",
                    a->func->name, dtype_name(dt));
  if (var_ndim(v) == 0)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the operand must have an axis, got a scalar", a->func->name);
  const bool single = dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64;
  *x = build_cast(
      b, v, kind == FFT_TO_HALF ? (single ? DAMO_FLOAT32 : DAMO_FLOAT64) : (single ? DAMO_COMPLEX64 : DAMO_COMPLEX128));
  return *x != NULL ? DAMO_OK : b->status;
}

damo_status fft_check_length(build *b, const char *func, damo_var *n) {
  int64_t known;
  if (n == NULL || !var_static_int(n, &known) || known >= 1) return b->status;
  return ctx_fail(b->ctx, DAMO_EVALUE, "%s: a transform has at least one point, got %lld", func, (long long)known);
}

/* Along one axis. conj: the operand is conjugated before (-1) or the result after (1) the transform, as for Hermitian
 * data (hfft, ihfft). */
static damo_status fft_along(build *b, const fn_args *a, ptrvec *out, fft_kind kind, bool inverse, int conj) {
  const fft_options *o = FN_OPTIONS(a, fft_options);
  fft_call c = {.name = a->func->name, .kind = kind, .inverse = conj == 0 ? inverse : !inverse};
  damo_var *x, *n = NULL, *lengths[DAMO_MAX_NDIM];
  int axis, count;
  DAMO_TRY(fft_read_operand(b, a, kind, &x));
  DAMO_TRY(fft_read_norm(b, &c, &o->norm));
  c.inverse = inverse;
  DAMO_TRY(axis_check(b->ctx, c.name, prop_int_or(o->axis, -1), var_ndim(x), &axis));
  if (prop_given(o->n)) {
    DAMO_TRY(shape_check(b, c.name, &o->n, lengths, &count));
    if (count != 1) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: n is one length, got %d", c.name, count);
    n = lengths[0];
    DAMO_TRY(fft_check_length(b, c.name, n));
  }
  if (conj < 0) x = build_conj_if_complex(b, x);
  damo_var *y = build_transform(b, &c, kind, x, n, axis);
  return fn_give(b, out, conj > 0 ? build_conj_if_complex(b, y) : y);
}

static damo_status fn_fft(build *b, const fn_args *a, ptrvec *out) {
  return fft_along(b, a, out, FFT_COMPLEX, false, 0);
}
static damo_status fn_ifft(build *b, const fn_args *a, ptrvec *out) {
  return fft_along(b, a, out, FFT_COMPLEX, true, 0);
}
static damo_status fn_rfft(build *b, const fn_args *a, ptrvec *out) {
  return fft_along(b, a, out, FFT_TO_HALF, false, 0);
}
static damo_status fn_irfft(build *b, const fn_args *a, ptrvec *out) {
  return fft_along(b, a, out, FFT_FROM_HALF, true, 0);
}
static damo_status fn_hfft(build *b, const fn_args *a, ptrvec *out) {
  return fft_along(b, a, out, FFT_FROM_HALF, true, -1);
}
static damo_status fn_ihfft(build *b, const fn_args *a, ptrvec *out) {
  return fft_along(b, a, out, FFT_TO_HALF, false, 1);
}

/* The axes in order, and their lengths (NULL: the operand's). least: how many axes there are if neither s nor axes is
 * given, the last ones; 0: all. */
static damo_status fft_read_axes(build *b, const fn_args *a, int ndim, int least, int *axes, damo_var **length,
                                 int *n) {
  const fftn_options *o = FN_OPTIONS(a, fftn_options);
  const char *func = a->func->name;
  int lengths = -1;
  if (prop_given(o->s)) DAMO_TRY(shape_check(b, func, &o->s, length, &lengths));
  for (int i = 0; i < lengths; i++) DAMO_TRY(fft_check_length(b, func, length[i]));
  DAMO_TRY(axes_in_order(b->ctx, func, &o->axes, ndim, axes, n));
  if (*n < 0) {
    *n = least > 0 ? least : lengths >= 0 ? lengths : ndim;
    if (*n > ndim) return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: %d axes of an operand of rank %d", func, *n, ndim);
    for (int i = 0; i < *n; i++) axes[i] = ndim - *n + i;
  }
  if (lengths >= 0 && lengths != *n)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: s has %d lengths for %d axes", func, lengths, *n);
  if (*n == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: at least one axis is needed", func);
  for (int i = 0; i < *n && lengths < 0; i++) length[i] = NULL;
  return DAMO_OK;
}

static damo_status fft_along_axes(build *b, const fn_args *a, ptrvec *out, fft_kind kind, bool inverse, int least) {
  fft_call c = {.name = a->func->name, .kind = kind, .inverse = inverse};
  damo_var *x, *length[DAMO_MAX_NDIM];
  int axes[DAMO_MAX_NDIM], n;
  DAMO_TRY(fft_read_operand(b, a, kind, &x));
  DAMO_TRY(fft_read_norm(b, &c, &FN_OPTIONS(a, fftn_options)->norm));
  DAMO_TRY(fft_read_axes(b, a, var_ndim(x), least, axes, length, &n));
  if (kind == FFT_TO_HALF) x = build_transform(b, &c, kind, x, length[n - 1], axes[n - 1]);
  for (int i = kind == FFT_COMPLEX ? n - 1 : n - 2; i >= 0; i--)
    x = build_transform(b, &c, FFT_COMPLEX, x, length[i], axes[i]);
  if (kind == FFT_FROM_HALF) x = build_transform(b, &c, kind, x, length[n - 1], axes[n - 1]);
  return fn_give(b, out, x);
}

static damo_status fn_fft2(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_COMPLEX, false, 2);
}
static damo_status fn_ifft2(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_COMPLEX, true, 2);
}
static damo_status fn_rfft2(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_TO_HALF, false, 2);
}
static damo_status fn_irfft2(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_FROM_HALF, true, 2);
}
static damo_status fn_fftn(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_COMPLEX, false, 0);
}
static damo_status fn_ifftn(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_COMPLEX, true, 0);
}
static damo_status fn_rfftn(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_TO_HALF, false, 0);
}
static damo_status fn_irfftn(build *b, const fn_args *a, ptrvec *out) {
  return fft_along_axes(b, a, out, FFT_FROM_HALF, true, 0);
}

/* Moves the entry of frequency 0 to the middle of each axis, or back. */
static damo_status fft_shift(build *b, const fn_args *a, ptrvec *out, bool back) {
  int axes[DAMO_MAX_NDIM], n;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (x == NULL) return b->status;
  DAMO_TRY(axes_in_order(b->ctx, a->func->name, &FN_OPTIONS(a, axes_options)->axes, var_ndim(x), axes, &n));
  for (int i = 0; i < (n < 0 ? var_ndim(x) : n); i++) {
    const int axis = n < 0 ? i : axes[i];
    const int64_t known = x->type->shape[axis];
    damo_var *half = known >= 0 ? build_i64(b, known / 2) : build_floor_div(b, build_dim(b, x, axis), build_int(b, 2));
    if (back) half = known >= 0 ? build_i64(b, -(known / 2)) : build_neg(b, half);
    x = build_roll(b, x, half, axis);
    if (x == NULL) return b->status;
  }
  return fn_give(b, out, x);
}

static damo_status fn_fftshift(build *b, const fn_args *a, ptrvec *out) { return fft_shift(b, a, out, false); }
static damo_status fn_ifftshift(build *b, const fn_args *a, ptrvec *out) { return fft_shift(b, a, out, true); }

/* Entry k is k/(n d) for the first half of the entries, or (k - n)/(n d); `half` leaves out the latter. */
static damo_status fft_frequencies(build *b, const fn_args *a, ptrvec *out, bool half) {
  const fftfreq_options *o = FN_OPTIONS(a, fftfreq_options);
  const double d = prop_num_or(o->d, 1);
  int64_t n = prop_int_or(o->n, 0);
  if (!prop_given(o->n)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: n, the number of points, is missing", a->func->name);
  if (n < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: n must be at least 1, got %lld", a->func->name, (long long)n);
  const int64_t length = half ? n / 2 + 1 : n;
  damo_array *values = array_empty(b->ctx, DAMO_FLOAT64, 1, &length);
  if (values == NULL) return damo_error_status(b->ctx);
  for (int64_t k = 0; k < length; k++)
    ((double *)values->data)[k] = (double)(half || k < (n + 1) / 2 ? k : k - n) / ((double)n * d);
  return fn_give(b, out, build_cast(b, build_value(b, (damo_obj *)values), b->ctx->config.floatX));
}

static damo_status fn_fftfreq(build *b, const fn_args *a, ptrvec *out) { return fft_frequencies(b, a, out, false); }
static damo_status fn_rfftfreq(build *b, const fn_args *a, ptrvec *out) { return fft_frequencies(b, a, out, true); }

#define ALONG_AXIS \
  OPTIONS(OPT(fft_options, n, OPT_SHAPE), OPT(fft_options, axis, OPT_INT), OPT(fft_options, norm, OPT_STR))
#define ALONG_AXES \
  OPTIONS(OPT(fftn_options, s, OPT_SHAPE), OPT(fftn_options, axes, OPT_AXES), OPT(fftn_options, norm, OPT_STR))

const op_func fft_funcs[] = {
    {.name = "fft.fft",
     .operands = "x",
     .options = ALONG_AXIS,
     .call = fn_fft,
     .doc = "discrete Fourier transform of n points along an axis (default -1); norm \"backward\", \"ortho\", "
            "\"forward\": which direction is scaled"},
    {.name = "fft.ifft", .operands = "x", .options = ALONG_AXIS, .call = fn_ifft, .doc = "inverse of fft"},
    {.name = "fft.rfft",
     .operands = "x",
     .options = ALONG_AXIS,
     .call = fn_rfft,
     .doc = "the first n/2 + 1 entries of the transform of n real points, which determine the others"},
    {.name = "fft.irfft",
     .operands = "x",
     .options = ALONG_AXIS,
     .call = fn_irfft,
     .doc = "inverse of rfft: n real points (default: an even number, twice the entries less 2)"},
    {.name = "fft.hfft",
     .operands = "x",
     .options = ALONG_AXIS,
     .call = fn_hfft,
     .doc = "transform of n points of which half are given, the others being their conjugates: real"},
    {.name = "fft.ihfft", .operands = "x", .options = ALONG_AXIS, .call = fn_ihfft, .doc = "inverse of hfft"},
    {.name = "fft.fft2",
     .operands = "x",
     .options = ALONG_AXES,
     .call = fn_fft2,
     .doc = "discrete Fourier transform along two axes (default: the last ones), s points"},
    {.name = "fft.ifft2", .operands = "x", .options = ALONG_AXES, .call = fn_ifft2, .doc = "inverse of fft2"},
    {.name = "fft.rfft2",
     .operands = "x",
     .options = ALONG_AXES,
     .call = fn_rfft2,
     .doc = "transform of real points along two axes; half of it, as rfft, along the last of them"},
    {.name = "fft.irfft2", .operands = "x", .options = ALONG_AXES, .call = fn_irfft2, .doc = "inverse of rfft2"},
    {.name = "fft.fftn",
     .operands = "x",
     .options = ALONG_AXES,
     .call = fn_fftn,
     .doc = "discrete Fourier transform along axes (default: all, or the last ones of s), s points"},
    {.name = "fft.ifftn", .operands = "x", .options = ALONG_AXES, .call = fn_ifftn, .doc = "inverse of fftn"},
    {.name = "fft.rfftn",
     .operands = "x",
     .options = ALONG_AXES,
     .call = fn_rfftn,
     .doc = "transform of real points along axes; half of it, as rfft, along the last of them"},
    {.name = "fft.irfftn", .operands = "x", .options = ALONG_AXES, .call = fn_irfftn, .doc = "inverse of rfftn"},
    {.name = "fft.fftshift",
     .operands = "x",
     .options = OPTIONS(OPT(axes_options, axes, OPT_AXES)),
     .call = fn_fftshift,
     .doc = "moves frequency 0 to the middle of axes (default: all)"},
    {.name = "fft.ifftshift",
     .operands = "x",
     .options = OPTIONS(OPT(axes_options, axes, OPT_AXES)),
     .call = fn_ifftshift,
     .doc = "inverse of fftshift"},
    {.name = "fft.fftfreq",
     .operands = "",
     .options = OPTIONS(OPT(fftfreq_options, n, OPT_INT), OPT(fftfreq_options, d, OPT_NUM)),
     .call = fn_fftfreq,
     .doc = "frequencies of a transform's n entries, for points at a distance of d (default 1)",
     .no_method = true},
    {.name = "fft.rfftfreq",
     .operands = "",
     .options = OPTIONS(OPT(fftfreq_options, n, OPT_INT), OPT(fftfreq_options, d, OPT_NUM)),
     .call = fn_rfftfreq,
     .doc = "frequencies of rfft's n/2 + 1 entries, for points at a distance of d (default 1)",
     .no_method = true},
    {.name = NULL},
};

const op_def *const fft_classes[] = {&fourier_def, NULL};
