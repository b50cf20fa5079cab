/* polyval: Polyval(p, x): the polynomial with coefficients p, of the highest power first, at each entry of x, by Horner's
 * rule. */
#include "loops.h"
#include "graph/c_emit.h"
#include "kernel/kernel.h"

#include <string.h>

static damo_status polyval_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const damo_type *p = in[0]->type, *x = in[1]->type;
  if (!type_is_tensor(p) || !type_is_tensor(x) || p->ndim != 1 || p->dtype != x->dtype || !polyval_loop(p->dtype))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "Polyval: expected a vector and a tensor of one wide dtype");
  out[0] = damo_retain(in[1]->type);
  return DAMO_OK;
}

#define POLYVAL_PART 16384 /* steps between two points, unless there are so many coefficients that */
#define POLYVAL_LEAST 64   /* fewer points than these would be computed together */

static damo_status polyval_perform(const thunk *t, frame *f) {
  const damo_array *p = thunk_in(t, f, 0), *x = thunk_in(t, f, 1);
  const int64_t n = array_shape(p)[0], count = array_size(x);
  const size_t size = dtype_size(p->dtype);
  char *scratch = thunk_scratch(t, f, (size_t)(n + count) * size + 64);
  damo_array *out = scratch ? thunk_out(t, f, 0, array_dtype(x), x->ndim, array_shape(x)) : NULL;
  if (!out) return damo_error_status(f->ctx);
  array_copy_box(f->ctx, p->data, array_strides(p), scratch, NULL, 1, &n, size);
  const char *points = x->data;
  if (!array_is_contiguous(x)) {
    array_copy_box(f->ctx, x->data, array_strides(x), scratch + (size_t)n * size, NULL, x->ndim, array_shape(x), size);
    points = scratch + (size_t)n * size;
  }
  const int64_t part = n < POLYVAL_PART / POLYVAL_LEAST ? POLYVAL_PART / (n + 1) : POLYVAL_LEAST;
  for (int64_t k = 0; k < count; k += part) {
    polyval_loop(array_dtype(x))(scratch, n, points + (size_t)k * size, count - k < part ? count - k : part,
                                 out->data + (size_t)k * size);
    ctx_point(f->ctx);
  }
  return DAMO_OK;
}

/* Powers of x that no coefficient has leave 0. */
static damo_status polyval_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *p = ce_contiguous(e, ce_in(e, 0)), *x = ce_in(e, 1);
  if (dtype_is_complex(var_dtype(node->out[0]))) return ce_refuse(e, "complex numbers");
  const c_value *y = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, x->shape);
  if (p == NULL || y == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
  if (ce_size(y) == 0) return e->status;
  const char *sum = dtype_is_float(x->dtype) ? "s * x + p[k]" : "(@)(1u * (#)s * (#)x + (#)p[k])";
  ce_helper(e, "polyval", x->dtype,
            ce_text(e,
                    "static @ polyval_~(const @ *p, ptrdiff_t n, @ x) {\n  @ s = 0;\n"
                    "  for (ptrdiff_t k = 0; k < n; k++) s = %s;\n  return s;\n}\n",
                    sum));
  c_nest nest;
  ce_nest_init(e, &nest, x->ndim, x->shape, 2, (const int64_t *const[]){x->strides, y->strides});
  ce_nest_open(e, &nest);
  ce_line(e, "%s[%s] = polyval_%s(%s, %lld, %s[%s]);", ce_p(e, y), ce_nest_at(e, &nest, 1), ce_suffix(x->dtype),
          ce_p(e, p), (long long)p->shape[0], ce_p(e, x), ce_nest_at(e, &nest, 0));
  ce_nest_close(e, &nest);
  return e->status;
}

static damo_var *build_polyval(build *b, damo_var *p, damo_var *x) {
  damo_var *const in[2] = {p, x};
  if (!p || !x || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &polyval_def, NULL), in, 2);
}

/* p[k] (n - k) for all but the last of n + 1. */
damo_var *build_polynomial_derivative(build *b, damo_var *p) {
  damo_var *zero = build_i64(b, 0), *n = build_length_sub(b, build_dim(b, p, 0), build_i64(b, 1));
  int64_t known;
  n = n && var_static_int(n, &known) ? build_i64(b, known > 0 ? known : 0) : build_maximum(b, n, zero);
  damo_var *powers = build_slice(b, build_range(b, build_i64(b, 1), n), 0, NULL, NULL, -1);
  damo_var *rest = build_slice(b, p, 0, NULL, n, 1);
  return powers && rest ? build_mul(b, rest, build_cast(b, powers, var_dtype(p))) : NULL;
}

damo_var *build_power_rows(build *b, damo_var *x, damo_var *n) {
  damo_var *column = build_dimshuffle(b, build_ravel(b, x), (const int[]){0, -1}, 2);
  damo_var *k = build_dimshuffle(b, build_range(b, build_i64(b, 1), n), (const int[]){-1, 0}, 2);
  damo_var *one = build_num(b, 1);
  damo_var *factors = build_switch(b, build_eq(b, k, build_i64(b, 1)), one, column);
  return build_slice(b, build_cumulative(b, "cumprod", factors, 1, false), 1, NULL, NULL, -1);
}

static damo_status polyval_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *p = node->in[0], *x = node->in[1], *g = gout[0];
  if (g == NULL) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    gin[0] = build_zero_grad(b, p);
    gin[1] = build_zero_grad(b, x);
    return b->status;
  }
  gin[1] = build_mul(b, g, build_conj_if_complex(b, build_polyval(b, build_polynomial_derivative(b, p), x)));
  damo_var *powers = build_conj_if_complex(b, build_power_rows(b, x, build_dim(b, p, 0)));
  gin[0] = build_dot(b, build_ravel(b, g), powers);
  return b->status;
}

static damo_status polyval_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *p = node->in[0], *x = node->in[1];
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    if (eval[0] || eval[1]) rout[0] = build_zero_grad(b, node->out[0]);
    return b->status;
  }
  damo_var *of_p = eval[0] ? build_polyval(b, eval[0], x) : NULL;
  damo_var *of_x = eval[1] ? build_mul(b, eval[1], build_polyval(b, build_polynomial_derivative(b, p), x)) : NULL;
  rout[0] = build_add_present(b, of_p, of_x);
  return b->status;
}

static damo_status polyval_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->in[1]); i++) out_shape[0][i] = in_shape[1][i];
  return b->status;
}

/* Coefficients that all entries of the batch share. */
static damo_status polyval_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  (void)k;
  if (!batched[0]) out[0] = build_op(b, damo_retain(node->op), in, 2);
  return b->status;
}

const op_def polyval_def = {
    .name = "Polyval",
    .doc = "a polynomial at each entry, by Horner's rule",
    .n_in = 2,
    .infer_type = polyval_infer_type,
    .perform = polyval_perform,
    .emit_c = polyval_emit_c,
    .grad = polyval_grad,
    .rop = polyval_rop,
    .infer_shape = polyval_infer_shape,
    .batch = polyval_batch,
    .no_check = "dense: spec/op/rows/calculus.lua has results by hand and from plain loops",
};

damo_status fn_polyval(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2];
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 2, true, in));
  if (var_ndim(in[0]) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "polyval: the coefficients must be a vector, got %d axes", var_ndim(in[0]));
  const damo_dtype dt = var_dtype(in[0]), wide = dtype_is_discrete(dt) && dt != DAMO_UINT64 ? DAMO_INT64 : dt;
  damo_var *y = build_polyval(b, build_cast(b, in[0], wide), build_cast(b, in[1], wide));
  return fn_give(b, out, y ? build_cast(b, y, dt == DAMO_BOOL ? wide : dt) : NULL);
}
