/* logdet: determinants from a factor.
 *
 * FactorLogdet (F, A) or (F): log|det A| and the sign (of modulus 1; 0 for a singular matrix); with `checked`, a
 * determinant that is not positive is an error. FactorDet (F, A) or (F): the determinant. Gradients of A are entries of
 * its inverse at its stored positions (inverse.c): d log|det A| = Re tr(A⁻¹ dA).
 */
#include <math.h>

#include "factor.h"
#include "op/elem/build_arith.h"

typedef struct sp_logdet_props {
  prop_value positive, checked;
} sp_logdet_props;

static damo_status sp_logdet_init(damo_op *op) {
  return factor_fields_init(op, NULL, &OP_PROPS(op, sp_logdet_props)->positive, NULL);
}

static damo_status sp_factor_logdet_check_inputs(const damo_op *op, damo_var *const *in, int n_in) {
  if (n_in != 1 && n_in != 2) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: expected F, A or F, got %d inputs", op->def->name, n_in);
  }
  DAMO_TRY(type_need_square_factor(op, in));
  if (n_in == 1) return DAMO_OK;
  DAMO_TRY(type_need_sparse(op, in, 1));
  return type_need_same_length(op, in, 0, 0, 1, 0);
}

/* The gradient of log|det A|: the conjugate of (A⁻¹)ᵀ at A's stored positions. */
static damo_var *build_logdet_gradient(build *b, const factor_var *v) {
  return build_conj_if_complex(b, build_factor_inverse(b, v, v->a));
}

/* tr(A⁻¹ D) for a tangent D of A, whose stored positions lie in A's pattern. */
static damo_var *build_logdet_trace(build *b, const factor_var *v, damo_var *tangent) {
  damo_var *d = build_tangent(b, tangent, v->a), *data = build_data(b, d);
  damo_var *inverse = data ? build_factor_inverse(b, v, d) : NULL;
  return inverse ? build_reduce(b, REDUCE_SUM, build_mul(b, inverse, data), NULL, -1, false) : NULL;
}

/* ---- FactorLogdet ------------------------------------------------------------------------------------------------ */

static damo_status sp_factor_logdet_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_logdet_check_inputs(op, in, n_in));
  const damo_dtype dt = var_dtype(in[0]);
  out[0] = type_tensor(op->obj.ctx, dtype_of_modulus(dt), 0, NULL);
  out[1] = type_tensor(op->obj.ctx, dt, 0, NULL);
  return out[0] && out[1] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

static damo_status sp_factor_logdet_check_positive(const thunk *t, frame *f, damo_c128 sign) {
  const prop_value *checked = &OP_PROPS(t->node->op, sp_logdet_props)->checked;
  const double distance = hypot(sign.re - 1, sign.im);
  if (checked->kind != PROP_BOOL || checked->u.i == 0 || distance <= 1e-6) return DAMO_OK;
  if (sign.re == 0 && sign.im == 0) {
    DAMO_TRY(factor_check(thunk_in_factor(t, f, 0))); /* says where */
    return ctx_fail(f->ctx, DAMO_ENUMERIC, "logdet: the determinant is 0");
  }
  return ctx_fail(f->ctx, DAMO_ENUMERIC,
                  "logdet: the determinant is %s; damo.sparse.slogdet gives log|det| and its sign",
                  sign.im == 0 ? "negative" : "not a positive number");
}

static damo_status sp_factor_logdet_perform(const thunk *t, frame *f) {
  ctx_set_due(f->ctx);
  scalar log_abs = {.dtype = DAMO_FLOAT64}, sign = {.dtype = DAMO_COMPLEX128};
  const damo_dtype dt = t->node->out[1]->type->dtype;
  damo_array *size = thunk_out(t, f, 0, dtype_of_modulus(dt), 0, NULL);
  damo_array *direction = size ? thunk_out(t, f, 1, dt, 0, NULL) : NULL;
  if (direction == NULL) return DAMO_EMEMORY;
  DAMO_TRY(factor_logdet(thunk_in_factor(t, f, 0), &log_abs.v.f, &sign.v.c));
  DAMO_TRY(sp_factor_logdet_check_positive(t, f, sign.v.c));
  array_set(size, NULL, scalar_cast(log_abs, array_dtype(size)));
  array_set(direction, NULL, scalar_cast(sign, dt));
  return DAMO_OK;
}

static damo_status sp_factor_logdet_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const factor_var v = factor_of_node(node, 2);
  if (gout[0] == NULL || v.a == NULL) return b->status;
  damo_var *data = build_logdet_gradient(b, &v);
  gin[1] = data ? build_with_data(b, v.a, build_mul(b, gout[0], data)) : NULL;
  return b->status;
}

static damo_status sp_factor_logdet_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const factor_var v = factor_of_node(node, 2);
  if (v.a == NULL || eval[1] == NULL) return b->status;
  damo_var *trace = build_logdet_trace(b, &v, eval[1]);
  if (trace != NULL) rout[0] = dtype_is_complex(var_dtype(trace)) ? build_real(b, trace) : trace;
  return b->status;
}

static void sp_factor_logdet_connect(const damo_apply *node, bool *connected) {
  connect_all_but_factor(node, connected);
  for (int i = 1; i < node->n_in; i++) connected[i * 2 + 1] = false;
}

static const op_def sp_factor_logdet_def = {
    .name = "FactorLogdet",
    .library = "SuiteSparse",
    .doc = "log|det| and the sign of the determinant from a factor: (F, A), A for the gradient",
    .props = PROPS(PROP(sp_logdet_props, positive), PROP(sp_logdet_props, checked)),
    .n_in = OP_VARIADIC,
    .n_out = 2,
    .data_size = sizeof(factor_fields),
    .init = sp_logdet_init,
    .infer_type = sp_factor_logdet_type,
    .perform = sp_factor_logdet_perform,
    .grad = sp_factor_logdet_grad,
    .rop = sp_factor_logdet_rop,
    .infer_shape = infer_shape_scalars,
    .connection_pattern = sp_factor_logdet_connect,
    .nonfinite = NONFINITE_INFINITE, /* of a singular matrix the logarithm is -inf */
    OP_CHECK(factor_logdet_check),
};

/* ---- FactorDet --------------------------------------------------------------------------------------------------- */

static damo_status sp_factor_det_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_logdet_check_inputs(op, in, n_in));
  return type_give_dense(op, out, var_dtype(in[0]), 0, NULL);
}

static damo_status sp_factor_det_perform(const thunk *t, frame *f) {
  double log_abs;
  scalar value = {.dtype = DAMO_COMPLEX128};
  damo_array *out = thunk_out(t, f, 0, t->node->out[0]->type->dtype, 0, NULL);
  if (out == NULL) return DAMO_EMEMORY;
  DAMO_TRY(factor_logdet(thunk_in_factor(t, f, 0), &log_abs, &value.v.c));
  const double size = exp(log_abs);
  if (value.v.c.re != 0) value.v.c.re *= size;
  if (value.v.c.im != 0) value.v.c.im *= size;
  array_set(out, NULL, scalar_cast(value, array_dtype(out)));
  return DAMO_OK;
}

static damo_status sp_factor_det_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const factor_var v = factor_of_node(node, 2);
  if (gout[0] == NULL || v.a == NULL) return b->status;
  damo_var *data = build_logdet_gradient(b, &v), *scale = build_mul(b, gout[0], build_conj_if_complex(b, node->out[0]));
  gin[1] = data && scale ? build_with_data(b, v.a, build_mul(b, scale, data)) : NULL;
  return b->status;
}

static damo_status sp_factor_det_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const factor_var v = factor_of_node(node, 2);
  if (v.a == NULL || eval[1] == NULL) return b->status;
  damo_var *trace = build_logdet_trace(b, &v, eval[1]);
  rout[0] = trace ? build_mul(b, node->out[0], trace) : NULL;
  return b->status;
}

static const op_def sp_factor_det_def = {
    .name = "FactorDet",
    .library = "SuiteSparse",
    .doc = "the determinant from a factor: (F, A), A for the gradient",
    .props = PROPS(PROP(sp_logdet_props, positive)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(factor_fields),
    .init = sp_logdet_init,
    .infer_type = sp_factor_det_type,
    .perform = sp_factor_det_perform,
    .grad = sp_factor_det_grad,
    .rop = sp_factor_det_rop,
    .infer_shape = infer_shape_scalars,
    .connection_pattern = connect_all_but_factor,
    OP_CHECK(factor_det_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_apply *build_logdet(build *b, const factor_var *v, bool checked) {
  const sp_logdet_props props = {.positive = prop_bool(v->positive), .checked = prop_bool(checked)};
  damo_var *in[2] = {v->f, v->a};
  return build_apply(b, op_new(b->ctx, &sp_factor_logdet_def, &props), in, v->a ? 2 : 1);
}

static damo_status sp_fn_give_logdet(build *b, const factor_var *v, bool checked, int n, ptrvec *out) {
  damo_apply *node = build_logdet(b, v, checked);
  for (int i = 0; i < n && node != NULL; i++) DAMO_TRY(fn_give(b, out, node->out[i]));
  return b->status;
}

/* A matrix gives one number, log det, and an error where the determinant is not positive; a factor gives log|det| and
 * the sign. */
static damo_status sp_fn_logdet(build *b, const fn_args *a, ptrvec *out) {
  factor_var v;
  if (!factor_operand(b, a, &v)) return b->status;
  const bool given = type_is_factor(a->in[0]->type);
  return sp_fn_give_logdet(b, &v, !given, given ? 2 : 1, out);
}

static damo_status sp_fn_slogdet(build *b, const fn_args *a, ptrvec *out) {
  factor_var v;
  return factor_operand(b, a, &v) ? sp_fn_give_logdet(b, &v, false, 2, out) : b->status;
}

static damo_status sp_fn_det(build *b, const fn_args *a, ptrvec *out) {
  factor_var v;
  if (!factor_operand(b, a, &v)) return b->status;
  damo_apply *node = build_on_factor(b, &sp_factor_det_def, &v, NULL, 0);
  return fn_give(b, out, node ? node->out[0] : NULL);
}

#define LOGDET_OPTIONS OPTIONS(OPT(factor_options, assume, OPT_STR), OPT(factor_options, on_fail, OPT_STR))

const op_func sparse_logdet_funcs[] = {
    {.name = "sparse.logdet",
     .operands = "A",
     .options = LOGDET_OPTIONS,
     .call = sp_fn_logdet,
     .doc =
         "the logarithm of a sparse matrix's determinant, which must be positive; of a factor log|det| and the sign"},
    {.name = "sparse.slogdet",
     .operands = "A",
     .options = LOGDET_OPTIONS,
     .call = sp_fn_slogdet,
     .doc = "log|det| and the sign of the determinant of a sparse matrix or its factor"},
    {.name = "sparse.det",
     .operands = "A",
     .options = LOGDET_OPTIONS,
     .call = sp_fn_det,
     .doc = "the determinant of a sparse matrix or its factor"},
    {.name = NULL},
};

const op_def *const sparse_logdet_classes[] = {&sp_factor_logdet_def, &sp_factor_det_def, NULL};
