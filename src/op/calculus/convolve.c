/* convolve: convolutions of vectors.
 *
 * Convolve(a, v, start, length): the entries start … start + length - 1 of the full convolution, (a * v)_k = Σ_j a_(k-j)
 * v_j for all k, which is 0 outside 0 … m + n - 2. All modes are windows of it, and so are the gradients: with cotangent g
 * that of a is the window of m entries from n - 1 - start on of g convolved with v reversed, that of v the one of n entries
 * from m - 1 - start on of g convolved with a reversed. It is computed directly, in m n steps at most.
 */
#include "loops.h"
#include "graph/c_emit.h"
#include "kernel/kernel.h"

#include <string.h>

static damo_status convolve_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  int64_t n;
  for (int i = 0; i < 4; i++) {
    if (type_is_tensor(in[i]->type) && var_ndim(in[i]) == (i < 2) &&
        (i < 2 ? var_dtype(in[i]) == var_dtype(in[0]) && convolve_loop(var_dtype(in[i]))
               : var_dtype(in[i]) == DAMO_INT64))
      continue;
    return ctx_fail(ctx, DAMO_ETYPE, "Convolve: expected two vectors of one wide dtype, and two lengths");
  }
  DAMO_TRY(static_dims(ctx, "convolve", in + 3, 1, &n));
  out[0] = type_tensor(ctx, var_dtype(in[0]), 1, &n);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

#define CONVOLVE_PART 32768 /* steps between two points, unless the short operand is long */

static damo_status convolve_perform(const thunk *t, frame *f) {
  const damo_array *x[2] = {thunk_in(t, f, 0), thunk_in(t, f, 1)};
  const int64_t start = array_int(thunk_in(t, f, 2)), n[2] = {array_shape(x[0])[0], array_shape(x[1])[0]};
  const size_t size = dtype_size(x[0]->dtype);
  const char *data[2];
  int64_t length;
  for (int i = 0; i < 2; i++) {
    if (n[i] == 0) return ctx_fail(f->ctx, DAMO_EVALUE, "convolve: operand %d is empty", i + 1);
  }
  DAMO_TRY(thunk_dims(t, f, "convolve", 3, 1, &length));
  char *scratch = thunk_scratch(t, f, (size_t)(n[0] + n[1]) * size + 64);
  damo_array *out = scratch ? thunk_out(t, f, 0, array_dtype(x[0]), 1, &length) : NULL;
  if (!out) return damo_error_status(f->ctx);
  for (int i = 0; i < 2; i++) {
    data[i] = x[i]->data;
    if (array_is_contiguous(x[i])) continue;
    char *copy = scratch + (i ? (size_t)n[0] * size : 0);
    array_copy_box(f->ctx, x[i]->data, array_strides(x[i]), copy, NULL, 1, &n[i], size);
    data[i] = copy;
  }
  const int first = n[0] >= n[1] ? 0 : 1; /* the long one: inner loops are long */
  const int64_t part = CONVOLVE_PART / (n[1 - first] + 1) + 32;
  for (int64_t k = 0; k < length; k += part) {
    const int64_t count = length - k < part ? length - k : part;
    convolve_loop(array_dtype(x[0]))(data[first], n[first], data[1 - first], n[1 - first], start + k, count,
                                     out->data + (size_t)k * size);
    ctx_point(f->ctx);
    if (ctx_is_stopped(f->ctx)) break;
  }
  return DAMO_OK;
}

/* Sums in the order of calculus_body.h. */
static damo_status convolve_emit_c(c_emit *e, const damo_apply *node) {
  const bool turned = ce_in(e, 0)->shape[0] < ce_in(e, 1)->shape[0];
  const c_value *a = ce_in(e, turned), *v = ce_in(e, !turned);
  int64_t start = 0, length = 0;
  if (ce_int(e, 2, "its start", &start) != DAMO_OK || ce_int(e, 3, "its length", &length) != DAMO_OK) return e->status;
  if (v->shape[0] == 0 || length < 0) return ce_refuse(e, "an operand is empty");
  const c_value *y = ce_out(e, 0, var_dtype(node->out[0]), 1, &length);
  if (y == NULL || length == 0) return e->status;
  const char *type = ce_type(y->dtype), *wide = dtype_is_float(y->dtype) ? type : "uint64_t";
  ce_for(e, "k", length);
  ce_line(e, "%s sum = 0;", wide);
  ce_open(e, "for (ptrdiff_t j = 0; j < %lld; j++)", (long long)v->shape[0]);
  ce_line(e, "const ptrdiff_t i = k + %lld - j;", (long long)start);
  ce_line(e, "if (i >= 0 && i < %lld) sum += (%s)%s[j * %lld] * (%s)%s[i * %lld];", (long long)a->shape[0], wide,
          ce_p(e, v), (long long)v->strides[0], wide, ce_p(e, a), (long long)a->strides[0]);
  ce_close(e);
  ce_line(e, "%s[k] = (%s)sum;", ce_p(e, y), type);
  ce_close(e);
  return e->status;
}

static damo_var *build_window(build *b, damo_var *a, damo_var *v, damo_var *start, damo_var *length) {
  damo_var *const in[4] = {a, v, start, length};
  if (!a || !v || !start || !length || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &convolve_def, NULL), in, 4);
}

/* x reversed, and conjugated. */
static damo_var *adjoint(build *b, damo_var *x) {
  return build_slice(b, build_conj_if_complex(b, x), 0, NULL, NULL, -1);
}

static damo_status convolve_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  for (int i = 0; i < 2; i++) {
    damo_var *x = node->in[i], *other = node->in[1 - i];
    if (dtype_is_discrete(var_dtype(x))) {
      gin[i] = build_zero_grad(b, x);
      continue;
    }
    damo_var *last = build_length_sub(b, build_dim(b, other, 0), build_i64(b, 1));
    gin[i] = build_window(b, gout[0], adjoint(b, other), build_length_sub(b, last, node->in[2]), build_dim(b, x, 0));
  }
  return b->status;
}

static damo_status convolve_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *of_a = eval[0] ? build_window(b, eval[0], node->in[1], node->in[2], node->in[3]) : NULL;
  damo_var *of_v = eval[1] ? build_window(b, node->in[0], eval[1], node->in[2], node->in[3]) : NULL;
  rout[0] = build_add_present(b, of_a, of_v);
  return b->status;
}

static damo_status convolve_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                        damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = node->in[3];
  return b->status;
}

static void convolve_connected(const damo_apply *node, bool *connected) {
  (void)node;
  connected[2] = connected[3] = false;
}

const op_def convolve_def = {
    .name = "Convolve",
    .doc = "a window of the convolution of two vectors",
    .n_in = 4,
    .infer_type = convolve_infer_type,
    .perform = convolve_perform,
    .emit_c = convolve_emit_c,
    .grad = convolve_grad,
    .rop = convolve_rop,
    .infer_shape = convolve_infer_shape,
    .connection_pattern = convolve_connected,
    .terms = TERMS_LINEAR,
    OP_CHECK(convolve_check),
};

/* The operands, vectors that are not empty, of one dtype. */
static damo_status two_signals(build *b, const fn_args *a, damo_var **in) {
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 2, true, in));
  for (int i = 0; i < 2; i++) {
    if (var_ndim(in[i]) > 1)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand %d has %d axes, vectors are expected", a->func->name, i + 1,
                      var_ndim(in[i]));
    in[i] = build_ravel(b, in[i]);
    if (in[i] && in[i]->type->shape[0] == 0)
      return ctx_fail(b->ctx, DAMO_EVALUE, "%s: operand %d is empty", a->func->name, i + 1);
  }
  return b->status;
}

/* The minimum and maximum of two lengths. */
static damo_var *least_length(build *b, damo_var *m, damo_var *n, bool least) {
  int64_t i, j;
  if (var_static_int(m, &i) && var_static_int(n, &j)) return (i < j) == least ? m : n;
  return least ? build_minimum(b, m, n) : build_maximum(b, m, n);
}

/* The first entry of mode "same". With n the shorter length it leaves out (n - 1) / 2 entries before; a correlation whose
 * second operand is the longer one, which NumPy computes with the operands exchanged and reverses, n / 2. */
static damo_var *same_start(build *b, damo_var *m, damo_var *n, damo_var *least, bool correlate) {
  int64_t i, j;
  damo_var *one = build_i64(b, 1), *two = build_i64(b, 2);
  if (var_static_int(m, &i) && var_static_int(n, &j))
    return build_i64(b, correlate && j > i ? i / 2 : ((i < j ? i : j) - 1) / 2);
  damo_var *plain = build_floor_div(b, build_sub(b, least, one), two);
  return correlate ? build_switch(b, build_gt(b, n, m), build_floor_div(b, m, two), plain) : plain;
}

damo_var *build_convolution(build *b, damo_var *x, damo_var *y) {
  if (x == NULL || y == NULL || b->status != DAMO_OK) return NULL;
  damo_var *length = build_length_add(b, build_dim(b, x, 0), build_dim(b, y, 0));
  return build_window(b, x, y, build_i64(b, 0), build_length_sub(b, length, build_i64(b, 1)));
}

damo_status fn_convolve(build *b, const fn_args *a, ptrvec *out) {
  const bool correlate = strcmp(a->func->name, "correlate") == 0;
  const char *mode = prop_str_or(FN_OPTIONS(a, calculus_options)->mode, correlate ? "valid" : "full");
  damo_var *in[2], *one = build_i64(b, 1);
  DAMO_TRY(two_signals(b, a, in));
  const damo_dtype dt = var_dtype(in[0]), wide = dtype_is_discrete(dt) && dt != DAMO_UINT64 ? DAMO_INT64 : dt;
  damo_var *x = build_cast(b, in[0], wide), *v = build_cast(b, in[1], wide);
  if (correlate) v = adjoint(b, v);
  damo_var *m = build_dim(b, x, 0), *n = build_dim(b, v, 0);
  if (b->status != DAMO_OK) return b->status;
  damo_var *start = build_i64(b, 0), *length, *least = least_length(b, m, n, true);
  damo_var *most = least_length(b, m, n, false);
  if (strcmp(mode, "full") == 0) {
    length = build_length_sub(b, build_length_add(b, m, n), one);
  } else if (strcmp(mode, "valid") == 0) {
    start = build_length_sub(b, least, one);
    length = build_length_sub(b, most, start);
  } else if (strcmp(mode, "same") == 0) {
    start = same_start(b, m, n, least, correlate);
    length = most;
  } else {
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the mode is \"full\", \"same\" or \"valid\", got \"%s\"", a->func->name,
                    mode);
  }
  damo_var *y = build_window(b, x, v, start, length);
  return fn_give(b, out, y ? build_cast(b, y, dt) : NULL);
}
