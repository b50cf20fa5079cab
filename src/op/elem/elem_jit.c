/* elem_jit: what an elementwise node computes of one entry of each operand, as operations of a scalar program.
 *
 * Operations follow the kernels (kernel/elem/float_body.h, order_body.h, bits_body.h, bool_body.h) expression by
 * expression, so that results have their bits. What is more than a few operations calls the kernel itself.
 */
#include "elem_jit.h"

#include <math.h>

#include "loop_op_int.h"

/* One scalar op in the making: operands of its loop dtype. */
typedef struct elem_lowering {
  jit_program *p;
  const elemwise_data *d;
  damo_dtype loop;
  jit_type type, to; /* of the loop and the result */
  jit_value x, y, z;
} elem_lowering;

static jit_value real_const(const elem_lowering *l, double x) { return jit_const_float(l->p, l->type, x); }

/* a, without its sign */
static jit_value float_abs(const elem_lowering *l, jit_value a) {
  return jit_binary(l->p, JIT_AND, a, jit_const(l->p, l->type, l->type == JIT_F64 ? INT64_MAX : INT32_MAX));
}

static jit_value sign_bit(const elem_lowering *l) {
  return jit_const(l->p, l->type, l->type == JIT_F64 ? (uint64_t)1 << 63 : (uint64_t)1 << 31);
}

static jit_value is_nan(const elem_lowering *l, jit_value a) { return jit_compare(l->p, JIT_UNORDERED, a, a); }

/* r, but a where a is nan */
static jit_value unless_nan(const elem_lowering *l, jit_value a, jit_value r) {
  return jit_select(l->p, is_nan(l, a), a, r);
}

static jit_value float_clip(const elem_lowering *l) {
  jit_program *p = l->p;
  const jit_value x = l->x, low = l->y, high = l->z;
  const jit_value down = jit_binary(p, JIT_MIN, high, x); /* x > high ? high : x */
  const jit_value r = jit_select(p, jit_compare(p, JIT_LT, x, low), low, down);
  return jit_select(p, jit_compare(p, JIT_UNORDERED, low, high), jit_binary(p, JIT_ADD, low, high), r);
}

static jit_value float_sign(const elem_lowering *l) {
  jit_program *p = l->p;
  const jit_value zero = real_const(l, 0);
  const jit_value rest = jit_select(p, jit_compare(p, JIT_EQ, l->x, zero), zero, l->x);
  const jit_value below = jit_select(p, jit_compare(p, JIT_LT, l->x, zero), real_const(l, -1), rest);
  return jit_select(p, jit_compare(p, JIT_GT, l->x, zero), real_const(l, 1), below);
}

/* |trunc x| + (|x - trunc x| >= 0.5), with the sign of x */
static jit_value float_round_away(const elem_lowering *l) {
  jit_program *p = l->p;
  const jit_value whole = jit_round(p, JIT_TOWARDS_0, l->x);
  const jit_value rest = float_abs(l, jit_binary(p, JIT_SUB, l->x, whole));
  const jit_value up = jit_convert(p, jit_compare(p, JIT_GE, rest, real_const(l, 0.5)), l->type);
  const jit_value size = jit_binary(p, JIT_ADD, float_abs(l, whole), up);
  return jit_binary(p, JIT_OR, float_abs(l, size), jit_binary(p, JIT_AND, l->x, sign_bit(l)));
}

/* The relation of a comparison; -1: it is none. */
static int relation_of(scalar_id id) {
  static const scalar_id ids[] = {[JIT_EQ] = SCALAR_eq, [JIT_NE] = SCALAR_neq, [JIT_LT] = SCALAR_lt,
                                  [JIT_LE] = SCALAR_le, [JIT_GT] = SCALAR_gt,  [JIT_GE] = SCALAR_ge};
  for (int r = JIT_EQ; r <= JIT_GE; r++) {
    if (ids[r] == id) return r;
  }
  return -1;
}

/* Each of these gives -1 where it leaves the op to the kernel. */

static jit_value lower_float(const elem_lowering *l, scalar_id id) {
  jit_program *p = l->p;
  const jit_value x = l->x, y = l->y;
  switch ((int)id) {
    case SCALAR_add: return jit_binary(p, JIT_ADD, x, y);
    case SCALAR_sub: return jit_binary(p, JIT_SUB, x, y);
    case SCALAR_mul: return jit_binary(p, JIT_MUL, x, y);
    case SCALAR_true_div: return jit_binary(p, JIT_DIV, x, y);
    case SCALAR_sqr: return jit_binary(p, JIT_MUL, x, x);
    case SCALAR_sqrt: return jit_unary(p, JIT_SQRT, x);
    case SCALAR_reciprocal: return jit_binary(p, JIT_DIV, real_const(l, 1), x);
    case SCALAR_maximum: return unless_nan(l, x, jit_binary(p, JIT_MAX, x, y));
    case SCALAR_minimum: return unless_nan(l, x, jit_binary(p, JIT_MIN, x, y));
    case SCALAR_clip: return float_clip(l);
    case SCALAR_neg: return jit_binary(p, JIT_XOR, x, sign_bit(l));
    case SCALAR_abs: return float_abs(l, x);
    case SCALAR_sign: return float_sign(l);
    case SCALAR_ceil: return jit_round(p, JIT_UP, x);
    case SCALAR_floor: return jit_round(p, JIT_DOWN, x);
    case SCALAR_trunc: return jit_round(p, JIT_TOWARDS_0, x);
    case SCALAR_round_half_to_even: return jit_round(p, JIT_NEAREST_EVEN, x);
    case SCALAR_round_half_away_from_zero: return float_round_away(l);
    case SCALAR_isnan: return is_nan(l, x);
    case SCALAR_isinf: return jit_compare(p, JIT_EQ, float_abs(l, x), real_const(l, INFINITY));
    case SCALAR_deg2rad: return jit_binary(p, JIT_MUL, x, real_const(l, 0.017453292519943295769));
    case SCALAR_rad2deg: return jit_binary(p, JIT_MUL, x, real_const(l, 57.295779513082320877));
    default: return -1;
  }
}

static jit_value lower_int(const elem_lowering *l, scalar_id id) {
  jit_program *p = l->p;
  const jit_value x = l->x, y = l->y, zero = jit_const(p, l->type, 0);
  switch ((int)id) {
    case SCALAR_add: return jit_binary(p, JIT_IADD, x, y);
    case SCALAR_sub: return jit_binary(p, JIT_ISUB, x, y);
    case SCALAR_mul: return jit_binary(p, JIT_IMUL, x, y);
    case SCALAR_sqr: return jit_binary(p, JIT_IMUL, x, x);
    case SCALAR_and_: return jit_binary(p, JIT_IAND, x, y);
    case SCALAR_or_: return jit_binary(p, JIT_IOR, x, y);
    case SCALAR_xor: return jit_binary(p, JIT_IXOR, x, y);
    case SCALAR_invert:
      return jit_binary(p, JIT_IXOR, x, jit_const(p, l->type, l->type == JIT_I64 ? UINT64_MAX : UINT32_MAX));
    case SCALAR_neg: return jit_binary(p, JIT_ISUB, zero, x);
    case SCALAR_abs: return jit_select(p, jit_compare(p, JIT_LT, x, zero), jit_binary(p, JIT_ISUB, zero, x), x);
    case SCALAR_maximum: return jit_select(p, jit_compare(p, JIT_GT, x, y), x, y);
    case SCALAR_minimum: return jit_select(p, jit_compare(p, JIT_LT, x, y), x, y);
    case SCALAR_ceil:
    case SCALAR_floor:
    case SCALAR_trunc: return x;
    default: return -1;
  }
}

static jit_value lower_bool(const elem_lowering *l, scalar_id id) {
  jit_program *p = l->p;
  const jit_value x = l->x, y = l->y;
  switch ((int)id) {
    case SCALAR_add:
    case SCALAR_maximum:
    case SCALAR_or_: return jit_binary(p, JIT_OR, x, y);
    case SCALAR_mul:
    case SCALAR_minimum:
    case SCALAR_and_: return jit_binary(p, JIT_AND, x, y);
    case SCALAR_neq:
    case SCALAR_xor: return jit_binary(p, JIT_XOR, x, y);
    case SCALAR_eq: return jit_not(p, jit_binary(p, JIT_XOR, x, y));
    case SCALAR_invert: return jit_not(p, x);
    default: return -1;
  }
}

static jit_value lower_scalar(const elem_lowering *l, scalar_id id) {
  if (id == SCALAR_switch) return jit_select(l->p, l->x, l->y, l->z);
  const bool is_float = l->type == JIT_F64 || l->type == JIT_F32;
  const int relation = relation_of(id);
  if (relation >= 0 && l->type != JIT_BOOL) return jit_compare(l->p, (jit_relation)relation, l->x, l->y);
  return is_float ? lower_float(l, id) : l->type == JIT_BOOL ? lower_bool(l, id) : lower_int(l, id);
}

/* Whether machine code has the dtype. */
static bool jit_has_dtype(damo_dtype dtype) { return jit_type_of(dtype) != JIT_N_TYPES; }

jit_value elem_jit_const(jit_program *p, const damo_array *a, int64_t entry) {
  int64_t offset = 0;
  for (int axis = a->ndim - 1; axis >= 0; axis--) {
    offset += entry % array_shape(a)[axis] * array_strides(a)[axis];
    entry /= array_shape(a)[axis];
  }
  const scalar x = scalar_load(array_dtype(a), a->data + offset);
  jit_type type = jit_type_of(x.dtype);
  if (dtype_is_complex(x.dtype) || x.dtype == DAMO_UINT64) return -1;
  if (dtype_is_float(x.dtype)) return jit_const_float(p, type, scalar_to_double(x));
  if (type == JIT_N_TYPES) type = JIT_I64;
  const uint64_t bits = (uint64_t)scalar_to_int64(x);
  return jit_const(p, type, type == JIT_I32 ? (uint32_t)bits : bits);
}

static jit_value converted(jit_program *p, jit_value v, damo_dtype from, damo_dtype to) {
  const bool by_kernel = dtype_is_float(from) && dtype_is_discrete(to) && to != DAMO_BOOL;
  return by_kernel ? jit_call_cast(p, kernel_cast(from, to), v, jit_type_of(to)) : jit_convert(p, v, jit_type_of(to));
}

/* The result of an Elemwise Op over values of these dtypes. quotient: the result's dtype, if it is a true division of
 * integers. */
static bool lower_elemwise(jit_program *p, const damo_op *op, damo_dtype quotient, const damo_dtype *dtype,
                           const jit_value *in, jit_value *out) {
  elem_lowering l = {.p = p, .d = elemwise_data_of(op)};
  const int n = l.d->row->arity;
  damo_dtype result;
  if (elemwise_dtypes(op, dtype, quotient, &l.loop, &result) != DAMO_OK) {
    ctx_clear_error(p->ctx);
    return false;
  }
  for (int i = 0; i < n; i++) { /* constants of narrow integers are int64 */
    if (in[i] < 0 || (!jit_has_dtype(dtype[i]) && jit_typeof(p, in[i]) != JIT_I64)) return false;
  }
  if (!jit_has_dtype(l.loop) || !jit_has_dtype(result)) return false;
  const kernel_fn fn = elemwise_kernel(p->ctx, l.d, l.loop);
  if (fn == NULL) { /* a copy of the last operand */
    *out = converted(p, in[n - 1], dtype[n - 1], result);
    return true;
  }
  jit_value x[SCALAR_MAX_ARITY] = {-1, -1, -1, -1};
  for (int i = 0; i < n; i++) x[i] = converted(p, in[i], dtype[i], elemwise_operand_dtype(l.d->row, i, l.loop));
  l.type = jit_type_of(l.loop);
  l.to = jit_type_of(result);
  l.x = x[0];
  l.y = x[1];
  l.z = x[2];
  *out = lower_scalar(&l, l.d->row->id);
  if (*out < 0) *out = jit_call(p, fn, x, n, l.to);
  return true;
}

bool elem_jit_step(jit_program *p, const damo_op *op, damo_dtype to, const damo_dtype *dtype, const jit_value *in,
                   jit_value *out) {
  if (op != NULL) return lower_elemwise(p, op, to, dtype, in, out);
  *out = converted(p, in[0], dtype[0], to);
  return *out >= 0;
}

/* ---- A node alone ------------------------------------------------------------------------------------------------ */

/* Slot i of the frame is the address of operand i. */
struct elem_native {
  jit_code *code;
  size_t bytes;
  int32_t n_operands;
  jit_slot frame[];
};

/* Loads all inputs before it stores an output. v, address, entry: space for each input and output. */
static bool lower_alone(jit_program *p, const damo_apply *node, elem_vector *v, jit_value *address, jit_value *entry) {
  const int n_in = node->n_in;
  elem_vector *out = v + n_in;
  for (int i = 0; i < n_in + node->n_out; i++) v[i] = (elem_vector){.entry = &entry[i], .n = 1};
  for (int i = 0; i < n_in + node->n_out; i++) address[i] = jit_input(p, JIT_I64);
  for (int i = 0; i < n_in; i++) {
    const jit_type type = jit_type_of(var_dtype(node->in[i]));
    if (type == JIT_N_TYPES) return false;
    entry[i] = jit_load(p, type, address[i]);
  }
  if (!elem_jit_vectors(p, node, v, out)) return false;
  for (int o = 0; o < node->n_out; o++) jit_store(p, address[n_in + o], out[o].entry[0]);
  return jit_n_plain(p) >= 2 + n_in + node->n_out;
}

elem_native *elem_native_new(damo_ctx *ctx, const damo_apply *node) {
  const size_t n_operands = (size_t)node->n_in + (size_t)node->n_out;
  const size_t values = n_operands * (sizeof(elem_vector) + 2 * sizeof(jit_value));
  elem_vector *v = jit_refusal(ctx) == NULL ? mem_alloc(ctx, values) : NULL;
  if (v == NULL) {
    ctx_clear_error(ctx);
    return NULL;
  }
  jit_program p;
  jit_begin(&p, ctx);
  p.name = node->op->def->name;
  jit_value *address = (jit_value *)(void *)(v + n_operands);
  jit_code *code = lower_alone(&p, node, v, address, address + n_operands) ? jit_compile(&p) : NULL;
  jit_end(&p);
  mem_free(ctx, v, values);
  if (code == NULL) return NULL;
  const size_t bytes = sizeof(elem_native) + (size_t)jit_n_slots(code) * sizeof(jit_slot);
  elem_native *n = mem_alloc(ctx, bytes);
  if (n == NULL) {
    ctx_clear_error(ctx);
    jit_code_free(code);
    return NULL;
  }
  *n = (elem_native){.code = code, .bytes = bytes, .n_operands = (int32_t)n_operands};
  jit_frame_init(code, n->frame);
  return n;
}

void elem_native_free(elem_native *n, damo_ctx *ctx) {
  if (n == NULL) return;
  jit_code_free(n->code);
  mem_free(ctx, n, n->bytes);
}

void elem_native_run(elem_native *n, char *const *operands) {
  for (int i = 0; i < n->n_operands; i++) n->frame[i].address = operands[i];
  jit_run(n->code, n->frame, 1);
}
