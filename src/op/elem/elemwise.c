/* elemwise: the Elemwise Op class over the rows of rows.c: dtypes, static shapes, gradients, builders.
 *
 * An Elemwise Op is a scalar op applied to every element of its broadcast operands. Operands of lower rank are padded
 * on the left with dimensions of 1; a dimension broadcasts only where the operand's static Type says 1. Properties:
 * `scalar`, the row's name; `dtype`, what a cast converts to; `inplace`, the 1-based operand that the output
 * overwrites.
 */
#include "elem_int.h"
#include "elem_c.h"
#include "build_arith.h"
#include "masked.h"
#include "op/shape/shape_int.h"

#include <stdio.h>
#include <string.h>

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

damo_dtype elemwise_operand_dtype(const scalar_op *row, int i, damo_dtype loop) {
  if (row->rule == RULE_SCALE && i == 1) return DAMO_INT64;
  return row->rule == RULE_SWITCH && i == 0 ? DAMO_BOOL : loop;
}

kernel_fn elemwise_kernel(const damo_ctx *ctx, const elemwise_data *d, damo_dtype loop) {
  if (d->row->kernel == KERNEL_NONE) return NULL;
  if (d->row->kernel == KERNEL_OWN) return d->row->own->fn[loop];
  return ctx->isa->elem[d->row->kernel].fn[loop];
}

/* Whether there is a kernel, be it one of a library. */
static bool elemwise_is_defined(const damo_ctx *ctx, const elemwise_data *d, damo_dtype loop) {
  if (d->row->kernel == KERNEL_OWN) return d->row->own->fn[loop] != NULL;
  return ctx->isas[false]->elem[d->row->kernel].fn[loop] != NULL;
}

const char *elemwise_library(const damo_ctx *ctx, const elemwise_data *d, damo_dtype loop) {
  if (d->row->kernel == KERNEL_NONE) return NULL;
  return d->row->kernel == KERNEL_OWN || ctx->isas[true]->elem[d->row->kernel].fn[loop] == NULL ? "C's library" : NULL;
}

static damo_dtype real_of(damo_dtype dt) {
  return dt == DAMO_COMPLEX64 ? DAMO_FLOAT32 : dt == DAMO_COMPLEX128 ? DAMO_FLOAT64 : dt;
}

static damo_dtype complex_of(damo_dtype dt) {
  if (dtype_is_complex(dt)) return dt;
  return dtype_to_float(dt) == DAMO_FLOAT32 ? DAMO_COMPLEX64 : DAMO_COMPLEX128;
}

static void dtype_rule_apply(const damo_op *op, damo_dtype all, damo_dtype second, damo_dtype quotient,
                             damo_dtype *loop, damo_dtype *out) {
  const elemwise_data *d = elemwise_data_of(op);
  *loop = *out = all;
  switch (d->row->rule) {
    case RULE_PROMOTE:
    case RULE_ROUND:
    case RULE_LOGIC:
    case RULE_CONJ:
    case RULE_SWITCH: break;
    case RULE_NUMBER: *loop = *out = all == DAMO_BOOL ? DAMO_INT8 : all; break;
    case RULE_SCALE:
    case RULE_FLOAT: *loop = *out = dtype_to_float(all); break;
    case RULE_DIVIDE: *loop = *out = dtype_is_discrete(all) ? quotient : all; break;
    case RULE_COMPARE: *out = DAMO_BOOL; break;
    case RULE_TEST:
      *loop = dtype_to_float(all);
      *out = DAMO_BOOL;
      break;
    case RULE_EXPONENT:
      *loop = dtype_to_float(all);
      *out = DAMO_INT32;
      break;
    case RULE_ABS: *out = real_of(all); break;
    case RULE_REAL:
    case RULE_PART:
      *loop = complex_of(all);
      *out = real_of(*loop);
      break;
    case RULE_COMPLEX:
      *loop = dtype_to_float(all);
      *out = complex_of(*loop);
      break;
    case RULE_SECOND: *loop = *out = second; break;
    case RULE_CAST: *loop = *out = d->cast_to; break;
  }
}

static damo_status elemwise_refuse_dtype(const damo_op *op, damo_dtype dt, const char *advice) {
  const scalar_op *row = elemwise_data_of(op)->row;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s is not defined for %s%s", row->name, dtype_name(dt), advice);
}

damo_status elemwise_dtypes(const damo_op *op, const damo_dtype *in, damo_dtype quotient, damo_dtype *loop,
                            damo_dtype *out) {
  const elemwise_data *d = elemwise_data_of(op);
  const scalar_op *row = d->row;
  const int first = row->rule == RULE_SWITCH, end = row->rule == RULE_SCALE ? 1 : row->arity;
  damo_dtype all = in[first];
  for (int i = first + 1; i < end; i++) all = dtype_promote(all, in[i]);
  dtype_rule_apply(op, all, in[row->arity - 1], quotient, loop, out);
  if (row->rule == RULE_LOGIC && !dtype_is_discrete(all))
    return elemwise_refuse_dtype(op, all, "; it takes bool and integers");
  if (row->rule == RULE_SCALE && !dtype_is_discrete(in[1]))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the exponent must be of integers, not %s", row->name,
                    dtype_name(in[1]));
  if (row->rule == RULE_CAST) DAMO_TRY(dtype_check_cast(op->obj.ctx, "cast", all, *out));
  if (row->kernel != KERNEL_NONE && !elemwise_is_defined(op->obj.ctx, d, *loop)) {
    const char *advice = *loop == DAMO_BOOL        ? "; cast the operands first"
                         : dtype_is_complex(*loop) ? ": there is none of complex numbers"
                                                   : "";
    return elemwise_refuse_dtype(op, *loop, advice);
  }
  return DAMO_OK;
}

/* ---- The Op ------------------------------------------------------------------------------------------------------ */

static damo_status elemwise_init(damo_op *op) {
  elemwise_data *d = op->data;
  const elemwise_props *p = OP_PROPS(op, elemwise_props);
  const prop_value *name = &p->scalar, *dtype = &p->dtype, *inplace = &p->inplace;
  d->row = name->kind == PROP_STR ? elemwise_find_row(op->obj.ctx, name->u.s) : NULL;
  if (d->row == NULL) {
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Elemwise: there is no scalar op '%s'",
                    name->kind == PROP_STR ? name->u.s : "?");
  }
  d->inplace = -1;
  if (d->row->rule == RULE_CAST && (dtype->kind != PROP_STR || !damo_dtype_from_name(dtype->u.s, &d->cast_to))) {
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Elemwise: a cast needs the name of a dtype");
  }
  if (inplace->kind == PROP_NIL) return DAMO_OK;
  if (inplace->kind != PROP_INT || inplace->u.i < 1 || inplace->u.i > d->row->arity) {
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Elemwise: inplace is the number of an operand, 1 to %d", d->row->arity);
  }
  d->inplace = (int32_t)inplace->u.i - 1;
  d->destroy[0] = (op_alias){0, (int16_t)d->inplace};
  d->destroy[1] = (op_alias)OP_ALIAS_END;
  op->destroy_map = d->destroy;
  return DAMO_OK;
}

static void elemwise_format(strbuf *out, const damo_op *op) {
  const elemwise_data *d = elemwise_data_of(op);
  strbuf_addf(out, "Elemwise{%s", d->row->name);
  if (d->row->rule == RULE_CAST) strbuf_addf(out, "{%s}", dtype_name(d->cast_to));
  if (d->inplace >= 0) strbuf_add(out, ",inplace");
  strbuf_add(out, "}");
}

/* The length of an operand of Type t along `axis` of a result of rank ndim; 1 where the operand is padded. */
static int64_t padded_dim(const damo_type *t, int ndim, int axis) {
  int k = axis - (ndim - t->ndim);
  return k < 0 ? 1 : t->shape[k];
}

static damo_status shapes_disagree(const damo_op *op, damo_var *const *in, int ndim, int axis, int i, int j) {
  char text[2][256];
  int at[2] = {i, j};
  for (int k = 0; k < 2; k++) {
    const damo_type *t = in[at[k]]->type;
    shape_format(text[k], sizeof text[k], t->ndim, t->shape);
  }
  return ctx_fail(op->obj.ctx, DAMO_ESHAPE,
                  "%s: shapes %s and %s do not agree: axis %d is %lld in operand %d and %lld in operand %d",
                  elemwise_data_of(op)->row->name, text[0], text[1], axis + 1,
                  (long long)padded_dim(in[i]->type, ndim, axis), i + 1, (long long)padded_dim(in[j]->type, ndim, axis),
                  j + 1);
}

/* The static shape of the broadcast result (-1: unknown); shape error where two known lengths other than 1 differ. */
static damo_status broadcast_types(const damo_op *op, damo_var *const *in, int n_in, int ndim, int64_t *shape) {
  for (int axis = 0; axis < ndim; axis++) {
    int known = -1;
    shape[axis] = 1;
    for (int i = 0; i < n_in; i++) {
      int64_t d = padded_dim(in[i]->type, ndim, axis);
      if (d == 1) continue;
      if (d < 0) {
        if (known < 0) shape[axis] = -1;
        continue;
      }
      if (known >= 0 && shape[axis] != d) return shapes_disagree(op, in, ndim, axis, known, i);
      known = i;
      shape[axis] = d;
    }
  }
  return DAMO_OK;
}

static damo_status elemwise_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const elemwise_data *d = elemwise_data_of(op);
  damo_ctx *ctx = op->obj.ctx;
  if (n_in != d->row->arity) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: expected %d operands, got %d", d->row->name, d->row->arity, n_in);
  }
  damo_dtype dtypes[SCALAR_MAX_ARITY] = {DAMO_BOOL}, loop, result;
  int64_t shape[DAMO_MAX_NDIM];
  int ndim = 0;
  for (int i = 0; i < n_in; i++) {
    if (!type_is_tensor(in[i]->type)) {
      char text[256];
      return ctx_fail(ctx, DAMO_ETYPE, "%s: operand %d must be a tensor, not %s", d->row->name, i + 1,
                      type_format(text, sizeof text, in[i]->type));
    }
    dtypes[i] = var_dtype(in[i]);
    if (var_ndim(in[i]) > ndim) ndim = var_ndim(in[i]);
  }
  DAMO_TRY(elemwise_dtypes(op, dtypes, ctx->config.floatX, &loop, &result));
  DAMO_TRY(broadcast_types(op, in, n_in, ndim, shape));
  if (d->inplace >= 0 && (dtypes[d->inplace] != result || var_ndim(in[d->inplace]) != ndim)) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: operand %d cannot hold the result in place", d->row->name, d->inplace + 1);
  }
  out[0] = type_tensor(ctx, result, ndim, shape);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

/* Each length is that of the first operand whose static Type does not say 1; a constant where the result's Type knows
 * it. */
static damo_status elemwise_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                        damo_var ***out_shape) {
  const damo_type *t = node->out[0]->type;
  for (int axis = 0; axis < t->ndim; axis++) {
    damo_var *found = NULL;
    if (t->shape[axis] >= 0) found = build_i64(b, t->shape[axis]);
    for (int i = 0; i < node->n_in && !found; i++) {
      int k = axis - (t->ndim - var_ndim(node->in[i]));
      if (k >= 0 && !type_dim_is_one(node->in[i]->type, k)) found = in_shape[i][k];
    }
    out_shape[0][axis] = found;
  }
  return b->status;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

bool elemwise_is_connected(const scalar_op *row, int i) {
  if (row->rule == RULE_SCALE) return i == 0;
  return !((row->rule == RULE_SWITCH || row->rule == RULE_SECOND) && i == 0);
}

static void elemwise_connection(const damo_apply *node, bool *connected) {
  const scalar_op *row = elemwise_data_of(node->op)->row;
  for (int i = 0; i < node->n_in; i++) connected[i] = elemwise_is_connected(row, i);
}

/* True when all operands get zeros: the result is discrete, or the derivative is 0 everywhere, as the sign's is where
 * it is real. */
static bool elemwise_is_flat(const scalar_op *row, const damo_apply *node) {
  const damo_dtype dt = var_dtype(node->out[0]);
  return row->grad == elemwise_d_zero || dtype_is_discrete(dt) || (row->id == SCALAR_sign && !dtype_is_complex(dt));
}

/* The operands as the formulas of derivatives read them: integers are converted to floats, since a formula may multiply
 * two of them, which would wrap. A condition stays as it is. */
static damo_status as_floats(build *b, const scalar_op *row, const damo_apply *node, damo_var **in) {
  damo_dtype dt = real_of(var_dtype(node->out[0]));
  for (int i = 0; i < node->n_in; i++) {
    bool integer = dtype_is_discrete(var_dtype(node->in[i])) && elemwise_is_connected(row, i);
    in[i] = integer && row->rule != RULE_CAST ? build_cast(b, node->in[i], dt) : node->in[i];
  }
  return b->status;
}

/* True of a derivative in one operand that a rule does not have. */
static bool is_undefined(const damo_var *d) { return d != NULL && d->type->kind == TYPE_NULL; }

static damo_status elemwise_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const scalar_op *row = elemwise_data_of(node->op)->row;
  const masked g = masked_of(b, gout[0]);
  damo_var *in[SCALAR_MAX_ARITY];
  if (gout[0] == NULL) return DAMO_OK;
  bool flat = elemwise_is_flat(row, node);
  if (!flat) DAMO_TRY(as_floats(b, row, node, in));
  for (int i = 0; i < node->n_in; i++) {
    damo_var *x = node->in[i];
    if (!elemwise_is_connected(row, i)) continue;
    if (flat) {
      gin[i] = build_note_mask(b, build_zero_grad(b, x), mask_unbroadcast(b, g, node->out[0]->type, x->type));
    } else if (row->grad == NULL) {
      char why[128];
      snprintf(why, sizeof why, "the gradient of %s is not implemented", row->name);
      gin[i] = build_null(b, why);
    } else {
      damo_var *d = row->grad(b, in, node->out[0], g.raw, i);
      gin[i] = is_undefined(d) ? d : build_masked_unbroadcast(b, d != g.raw ? build_within(b, d, g) : gout[0], x);
    }
  }
  return b->status;
}

/* True of ops that are linear over the reals, but not holomorphic: forward mode applies the op itself to the
 * tangents. */
static bool is_real_linear(const scalar_op *row) {
  return row->rule == RULE_CONJ || row->rule == RULE_REAL || row->rule == RULE_COMPLEX ||
         (row->rule == RULE_PART && row->grad == elemwise_d_imag);
}

static damo_var *linear_rop(build *b, damo_apply *node, damo_var *const *eval) {
  damo_var *in[SCALAR_MAX_ARITY];
  for (int i = 0; i < node->n_in; i++) in[i] = eval[i] ? eval[i] : build_zeros_like(b, node->in[i]);
  damo_var *r = build_op(b, damo_retain(node->op), in, node->n_in);
  return node->n_in == 1 ? build_note_mask(b, r, masked_of(b, eval[0])) : r;
}

/* Forward mode of a real function f of a complex z: with its gradient s = ∂f/∂Re z + i ∂f/∂Im z it is Re(conj(s)
 * dz). */
static damo_var *real_of_complex_rop(build *b, damo_apply *node, damo_var *dz) {
  const scalar_op *row = elemwise_data_of(node->op)->row;
  damo_var *slope = row->grad(b, node->in, node->out[0], build_ones_like(b, node->out[0]), 0);
  masked m = masked_of(b, dz);
  m.raw = build_real(b, build_mul(b, build_conj_if_complex(b, slope), m.raw));
  return build_masked(b, m);
}

/* Forward mode of z / |z|: its derivative, a projection over |z|, is its own transpose as a map of (re, im). */
static damo_var *complex_sign_rop(build *b, damo_apply *node, damo_var *dz) {
  const scalar_op *row = elemwise_data_of(node->op)->row;
  const masked m = masked_of(b, dz);
  return build_within(b, row->grad(b, node->in, node->out[0], m.raw, 0), m);
}

/* The conjugate of a complex v, with v's note. */
static damo_var *build_masked_conj(build *b, damo_var *v) {
  if (v == NULL || !dtype_is_complex(var_dtype(v))) return v;
  masked m = masked_of(b, v);
  m.raw = build_conj(b, m.raw);
  return build_masked(b, m);
}

/* A sum of terms as the tangent of out: of its shape and dtype. */
static damo_var *masked_tangent(build *b, damo_var *out, damo_var *sum) {
  masked m = masked_of(b, sum);
  damo_var *raw = build_fill(b, out, build_cast(b, m.raw, var_dtype(out)));
  if (raw == m.raw) return sum;
  m.raw = raw;
  return build_masked(b, m);
}

/* Forward mode: the sum over the operands of derivative · eval. The gradient rule gives g · conj(derivative); applied
 * to g = conj(eval) and conjugated again, it gives each term. */
static damo_status elemwise_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const scalar_op *row = elemwise_data_of(node->op)->row;
  damo_var *out = node->out[0], *in[SCALAR_MAX_ARITY], *sum = NULL;
  bool is_complex = dtype_is_complex(var_dtype(out)), any = false;
  for (int i = 0; i < node->n_in; i++) {
    if (!eval[i] || !elemwise_is_connected(row, i)) continue;
    any = true;
    is_complex = is_complex || dtype_is_complex(var_dtype(node->in[i]));
  }
  if (!any) return DAMO_OK;
  if (is_complex && is_real_linear(row)) {
    rout[0] = linear_rop(b, node, eval);
    return b->status;
  }
  if (is_complex && (row->rule == RULE_ABS || row->rule == RULE_PART) && row->grad != NULL) {
    rout[0] = real_of_complex_rop(b, node, eval[0]);
    return b->status;
  }
  if (is_complex && row->id == SCALAR_sign) {
    rout[0] = complex_sign_rop(b, node, eval[0]);
    return b->status;
  }
  if (elemwise_is_flat(row, node)) return DAMO_OK; /* no tangent: what is computed from it has none either */
  if (row->grad == NULL) {
    build_fail(b, DAMO_ENOT_IMPLEMENTED, "%s: forward mode is not implemented", row->name);
    return b->status;
  }
  DAMO_TRY(as_floats(b, row, node, in));
  for (int i = 0; i < node->n_in; i++) {
    if (!eval[i] || !elemwise_is_connected(row, i)) continue;
    const masked e = masked_of(b, eval[i]);
    damo_var *d = row->grad(b, in, out, build_conj_if_complex(b, e.raw), i);
    if (is_undefined(d)) {
      build_fail(b, DAMO_ENOT_IMPLEMENTED, "%s: %s", row->name, d->type->why);
      return b->status;
    }
    damo_var *term = build_masked_conj(b, d != e.raw ? build_within(b, d, e) : eval[i]);
    sum = sum ? build_masked_add(b, sum, term) : term;
  }
  rout[0] = sum ? masked_tangent(b, out, sum) : NULL;
  return b->status;
}

static damo_status elemwise_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                  damo_var **out) {
  for (int i = 0; i < node->n_in; i++) {
    if (batched[i]) in[i] = batch_pad(b, in[i], k, var_ndim(node->out[0]));
  }
  return b->status == DAMO_OK ? batch_apply(b, damo_retain(node->op), node, in, out) : b->status;
}

/* The infix notation of binary ops: sign and precedence, as in Lua. */
static const struct {
  const char *sign;
  int level;
} infix[SCALAR_NONE] = {
    [SCALAR_or_] = {" | ", 1},      [SCALAR_xor] = {" ~ ", 2},        [SCALAR_and_] = {" & ", 3},
    [SCALAR_eq] = {" == ", 4},      [SCALAR_neq] = {" ~= ", 4},       [SCALAR_lt] = {" < ", 4},
    [SCALAR_le] = {" <= ", 4},      [SCALAR_gt] = {" > ", 4},         [SCALAR_ge] = {" >= ", 4},
    [SCALAR_add] = {" + ", 5},      [SCALAR_sub] = {" - ", 5},        [SCALAR_mul] = {" * ", 6},
    [SCALAR_true_div] = {" / ", 6}, [SCALAR_floor_div] = {" // ", 6}, [SCALAR_mod] = {" % ", 6},
    [SCALAR_pow] = {" ^ ", 8},
};

static void elemwise_notate(const damo_apply *node, op_notation *how) {
  const scalar_op *row = elemwise_data_of(node->op)->row;
  how->name = row->name;
  how->infix = infix[row->id].sign;
  how->level = infix[row->id].level;
  how->is_cast = row->id == SCALAR_cast;
}

static const char *elemwise_library_of(const damo_apply *node, const damo_op **of) {
  damo_dtype in[SCALAR_MAX_ARITY], loop, result;
  (void)of;
  for (int i = 0; i < node->n_in; i++) in[i] = var_dtype(node->in[i]);
  if (elemwise_dtypes(node->op, in, var_dtype(node->out[0]), &loop, &result) != DAMO_OK) return NULL;
  return elemwise_library(node->obj.ctx, elemwise_data_of(node->op), loop);
}

const op_def elemwise_def = {
    .name = "Elemwise",
    .doc = "a scalar op applied to each element of its broadcast operands",
    .props = PROPS(PROP(elemwise_props, scalar), PROP(elemwise_props, dtype), PROP(elemwise_props, inplace)),
    .n_in = OP_VARIADIC,
    .n_out = 1,
    .data_size = sizeof(elemwise_data),
    .init = elemwise_init,
    .infer_type = elemwise_infer_type,
    .perform = elemwise_perform,
    .perform_at = elemwise_perform_at,
    .perform_again = elemwise_perform_again,
    .library_of = elemwise_library_of,
    .emit_c = elemwise_emit_c,
    .state_size = sizeof(elemwise_state),
    .state_clear = elemwise_state_clear,
    .grad = elemwise_grad,
    .rop = elemwise_rop,
    .infer_shape = elemwise_infer_shape,
    .batch = elemwise_batch,
    .connection_pattern = elemwise_connection,
    .format = elemwise_format,
    .notate = elemwise_notate,
    .masks = MASKS_OWN,
    .no_check = "dense: spec/op/rows/elemwise.lua has each row beside a plain function of numbers",
};

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

damo_op *elemwise_op(damo_ctx *ctx, scalar_id id) {
  const elemwise_props props = {.scalar = prop_str(elemwise_row(id)->name)};
  return op_new(ctx, &elemwise_def, &props);
}

const char *elemwise_scalar(const damo_op *op) {
  return op->def == &elemwise_def ? elemwise_data_of(op)->row->name : NULL;
}

scalar_id elemwise_scalar_id(const damo_op *op) {
  return op->def == &elemwise_def ? elemwise_data_of(op)->row->id : SCALAR_NONE;
}

int elemwise_arity(const damo_op *op) { return op->def == &elemwise_def ? elemwise_data_of(op)->row->arity : -1; }

damo_var *build_cast(build *b, damo_var *x, damo_dtype dtype) {
  if (b->status != DAMO_OK || x == NULL) return NULL;
  if (x->weak && build_resolve(b, &x, 1, false, &x) != DAMO_OK) return NULL;
  if (type_is_sparse(x->type)) return sparse_form.cast(b, x, dtype);
  if (type_is_tensor(x->type) && var_dtype(x) == dtype) return x;
  const elemwise_props props = {.scalar = prop_str("cast"), .dtype = prop_str(dtype_name(dtype))};
  return build_op(b, op_new(b->ctx, &elemwise_def, &props), &x, 1);
}

damo_var *build_fill(build *b, damo_var *like, damo_var *value) {
  if (b->status != DAMO_OK || like == NULL || value == NULL) return NULL;
  if (!value->weak && type_same_known_shape(like->type, value->type)) return value;
  return build_second(b, like, value);
}

/* g converted to x's dtype, its real part taken where x is real; as it is for discrete x. */
static damo_var *match_dtype(build *b, damo_var *g, damo_var *x) {
  damo_dtype dt = var_dtype(x);
  if (dtype_is_discrete(dt)) return g;
  if (dtype_is_complex(var_dtype(g)) && !dtype_is_complex(dt)) g = build_real(b, g);
  return build_cast(b, g, dt);
}

int elemwise_summed_axes(const damo_type *g, const damo_type *like, int *axes) {
  const int lead = g->ndim - like->ndim;
  int n = 0;
  for (int k = 0; k < g->ndim; k++) {
    if (k < lead || (type_dim_is_one(like, k - lead) && !type_dim_is_one(g, k))) axes[n++] = k;
  }
  return n;
}

damo_var *build_unbroadcast(build *b, damo_var *g, damo_var *like) {
  if (b->status != DAMO_OK || g == NULL || like == NULL) return NULL;
  if (var_ndim(g) < var_ndim(like)) g = build_fill(b, like, g);
  if (g == NULL) return NULL;
  int axes[DAMO_MAX_NDIM], ones[DAMO_MAX_NDIM], n_ones = 0;
  const int lead = var_ndim(g) - var_ndim(like), n = elemwise_summed_axes(g->type, like->type, axes);
  for (int k = 0; k < n; k++) {
    if (axes[k] >= lead) ones[n_ones++] = axes[k] - lead;
  }
  if (n > 0) g = build_reduce(b, REDUCE_SUM, g, axes, n, false);
  if (n_ones > 0) g = build_expand_axes(b, g, var_ndim(like), ones, n_ones);
  return g ? match_dtype(b, g, like) : NULL;
}

const op_def *const elemwise_classes[] = {&elemwise_def, NULL};
