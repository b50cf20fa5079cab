/* eye: Eye and Tri: matrices of ones on, or on and below, the k-th diagonal. n, m and k are int64 scalar operands. */
#include "graph/c_emit.h"
#include "shape_int.h"
#include "kernel/kernel.h"

#include <string.h>

static const op_def eye_def;

/* The function's name, for errors. */
static const char *matrix_name(const damo_op *op) { return op->def == &eye_def ? "eye" : "tri"; }

static damo_status eye_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  if (!type_is_tensor(in[2]->type) || var_ndim(in[2]) != 0 || var_dtype(in[2]) != DAMO_INT64)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the diagonal must be an int64 scalar", matrix_name(op));
  DAMO_TRY(static_dims(op->obj.ctx, matrix_name(op), in, 2, shape));
  out[0] = type_tensor(op->obj.ctx, prop_dtype(OP_PROPS(op, dtype_props)->dtype), 2, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

#define EYE_PART 8192 /* entries between two points */

/* Zeros with a one where each row meets the k-th diagonal; with `full`, ones also before it. */
static damo_status eye_fill(const thunk *t, frame *f, bool full) {
  int64_t shape[2], k = array_int(thunk_in(t, f, 2));
  damo_dtype dt = prop_dtype(OP_PROPS(t->node->op, dtype_props)->dtype);
  DAMO_TRY(thunk_dims(t, f, matrix_name(t->node->op), 0, 2, shape));
  damo_array *out = thunk_out(t, f, 0, dt, 2, shape);
  if (!out) return DAMO_EMEMORY;
  char one[16] = {0};
  const double unit = 1;
  int64_t since = 0;
  int64_t size = (int64_t)dtype_size(dt);
  kernel_cast(DAMO_FLOAT64, dt)(&unit, one, 1);
  array_zero_bytes(f->ctx, out->data, (size_t)(shape[0] * shape[1] * size));
  k = k < -shape[0] ? -shape[0] : k > shape[1] ? shape[1] : k; /* so that i + k does not overflow */
  for (int64_t i = 0; i < (shape[1] > 0 ? shape[0] : 0); i++) {
    int64_t last = i + k, first = full ? 0 : last;
    if (last >= shape[1]) last = shape[1] - 1;
    if (first < 0) continue;
    if (first <= last)
      array_copy_box(f->ctx, one, (const int64_t[]){0}, out->data + (i * shape[1] + first) * size, NULL, 1,
                     (const int64_t[]){last - first + 1}, (size_t)size);
    ctx_point_after(f->ctx, &since, 16 + last - first, EYE_PART);
  }
  return DAMO_OK;
}

static damo_status eye_perform(const thunk *t, frame *f) { return eye_fill(t, f, false); }
static damo_status tri_perform(const thunk *t, frame *f) { return eye_fill(t, f, true); }

static damo_status eye_emit(c_emit *e, const damo_apply *node, const char *compare) {
  int64_t shape[2];
  for (int i = 0; i < 2; i++) DAMO_TRY(ce_int(e, i, "a length", &shape[i]));
  const c_value *out = ce_out(e, 0, prop_dtype(OP_PROPS(node->op, dtype_props)->dtype), 2, shape);
  if (out == NULL || ce_size(out) == 0) return e->status;
  if (dtype_is_complex(out->dtype)) return ce_refuse(e, "complex numbers");
  const damo_array *k = ce_known(e, 2);
  ce_line(e, "const int64_t k = %s;",
          k != NULL ? ce_literal(e, k, DAMO_INT64) : ce_text(e, "*%s", ce_p(e, ce_in(e, 2))));
  ce_for(e, "i", shape[0]);
  ce_for(e, "j", shape[1]);
  ce_line(e, "%s[i * %lld + j] = (%s)(j - i %s k);", ce_p(e, out), (long long)shape[1], ce_type(out->dtype), compare);
  ce_close(e);
  ce_close(e);
  return e->status;
}

static damo_status eye_emit_c(c_emit *e, const damo_apply *node) { return eye_emit(e, node, "=="); }
static damo_status tri_emit_c(c_emit *e, const damo_apply *node) { return eye_emit(e, node, "<="); }

static const op_def eye_def = {
    .name = "Eye",
    .doc = "ones on the k-th diagonal",
    .props = PROPS(PROP_DTYPE(dtype_props, dtype)),
    .n_in = 3,
    .infer_type = eye_type,
    .perform = eye_perform,
    .emit_c = eye_emit_c,
    .grad = grad_none,
    .infer_shape = infer_shape_lengths,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/alloc.lua has results by hand and from plain loops",
};

static const op_def tri_def = {
    .name = "Tri",
    .doc = "ones on and below the k-th diagonal",
    .props = PROPS(PROP_DTYPE(dtype_props, dtype)),
    .n_in = 3,
    .infer_type = eye_type,
    .perform = tri_perform,
    .emit_c = tri_emit_c,
    .grad = grad_none,
    .infer_shape = infer_shape_lengths,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/alloc.lua has results by hand and from plain loops",
};

damo_var *build_eye(build *b, damo_var *n, damo_var *m, damo_dtype dtype) {
  const dtype_props p = {.dtype = prop_str(dtype_name(dtype))};
  return n && m ? build_op(b, op_new(b->ctx, &eye_def, &p), (damo_var *const[]){n, m, build_i64(b, 0)}, 3) : NULL;
}

damo_var *build_tri(build *b, damo_var *n, damo_var *m, damo_var *k, damo_dtype dt) {
  if (!n || !m || !k || b->status != DAMO_OK) return NULL;
  const dtype_props p = {.dtype = prop_str(dtype_name(dt))};
  damo_var *const in[3] = {n, m, k};
  return build_op(b, op_new(b->ctx, &tri_def, &p), in, 3);
}

static damo_status eye_like(build *b, const fn_args *a, ptrvec *out, const op_def *def) {
  damo_dtype dt = b->ctx->config.floatX;
  const char *f = a->func->name;
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, dtype_options)->dtype, &dt));
  damo_var *n = build_integer(b, f, "n", a->in[0]);
  damo_var *m = a->in[1] ? build_integer(b, f, "m", a->in[1]) : n;
  damo_var *k = a->in[2] ? build_integer(b, f, "k", a->in[2]) : build_i64(b, 0);
  if (!n || !m || !k) return b->status;
  if (var_ndim(n) || var_ndim(m) || var_ndim(k)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: n, m, k must be scalars", f);
  damo_var *in[3] = {n, m, k};
  const dtype_props p = {.dtype = prop_str(dtype_name(dt))};
  return fn_give(b, out, build_op(b, op_new(b->ctx, def, &p), in, 3));
}
static damo_status fn_eye(build *b, const fn_args *a, ptrvec *out) { return eye_like(b, a, out, &eye_def); }
static damo_status fn_tri(build *b, const fn_args *a, ptrvec *out) { return eye_like(b, a, out, &tri_def); }

const op_func eye_funcs[] = {
    {.name = "eye",
     .operands = "n [m] [k]",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_eye,
     .doc = "an n by m matrix with ones on its k-th diagonal",
     .no_method = true},
    {.name = "tri",
     .operands = "n [m] [k]",
     .options = OPTIONS(OPT(dtype_options, dtype, OPT_DTYPE)),
     .call = fn_tri,
     .doc = "an n by m matrix with ones on and below its k-th diagonal",
     .no_method = true},
    {.name = NULL},
};

const op_def *const eye_classes[] = {&eye_def, &tri_def, NULL};
