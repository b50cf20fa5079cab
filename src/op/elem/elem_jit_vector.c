/* elem_jit_vector: nodes over short vectors as operations of a scalar program, entry by entry; among them reductions,
 * whose operations and order are those of the kernels (kernel/reduce/reduce_body.h) for so few elements. */
#include "elem_jit.h"

#include <math.h>

#include "loop_op_int.h"

/* ---- Folds ------------------------------------------------------------------------------------------------------- */

typedef jit_value (*fold_op)(jit_program *p, jit_value a, jit_value b);

static bool has_float(const jit_program *p, jit_value v) {
  return jit_typeof(p, v) == JIT_F64 || jit_typeof(p, v) == JIT_F32;
}

static jit_value fold_is_nan(jit_program *p, jit_value a) { return jit_compare(p, JIT_UNORDERED, a, a); }

static jit_value fold_add(jit_program *p, jit_value a, jit_value b) {
  return jit_binary(p, has_float(p, a) ? JIT_ADD : JIT_IADD, a, b);
}
static jit_value fold_mul(jit_program *p, jit_value a, jit_value b) {
  return jit_binary(p, has_float(p, a) ? JIT_MUL : JIT_IMUL, a, b);
}
static jit_value fold_or(jit_program *p, jit_value a, jit_value b) { return jit_binary(p, JIT_OR, a, b); }
static jit_value fold_and(jit_program *p, jit_value a, jit_value b) { return jit_binary(p, JIT_AND, a, b); }

static jit_value fold_extreme(jit_program *p, jit_value a, jit_value b, bool is_max) {
  if (jit_typeof(p, a) == JIT_BOOL) return is_max ? fold_or(p, a, b) : fold_and(p, a, b);
  if (!has_float(p, a)) return jit_select(p, jit_compare(p, is_max ? JIT_GT : JIT_LT, a, b), a, b);
  return jit_select(p, fold_is_nan(p, a), a, jit_binary(p, is_max ? JIT_MAX : JIT_MIN, a, b));
}
static jit_value fold_max(jit_program *p, jit_value a, jit_value b) { return fold_extreme(p, a, b, true); }
static jit_value fold_min(jit_program *p, jit_value a, jit_value b) { return fold_extreme(p, a, b, false); }

/* By halves, as the lanes of a block of fewer elements than there are lanes. Overwrites the entries. */
static jit_value fold_tree(jit_program *p, elem_vector *x, fold_op op) {
  for (int32_t half = ELEM_VECTOR_MOST / 2; half > 0; half /= 2) {
    for (int32_t l = 0; l < half && l + half < x->n; l++) x->entry[l] = op(p, x->entry[l], x->entry[l + half]);
  }
  return x->entry[0];
}

/* The position, from 1, of the first nan or else of the first best entry. */
static jit_value fold_position(jit_program *p, const elem_vector *x, bool is_max) {
  jit_value best = x->entry[0], at = jit_const(p, JIT_I64, 1);
  for (int32_t l = 1; l < x->n; l++) {
    const jit_value y = x->entry[l];
    jit_value beats;
    if (jit_typeof(p, y) == JIT_BOOL)
      beats = is_max ? fold_and(p, y, jit_not(p, best)) : fold_and(p, best, jit_not(p, y));
    else
      beats = jit_compare(p, is_max ? JIT_GT : JIT_LT, y, best);
    if (has_float(p, y)) beats = fold_or(p, beats, fold_and(p, fold_is_nan(p, y), jit_not(p, fold_is_nan(p, best))));
    at = jit_select(p, beats, jit_const(p, JIT_I64, (uint64_t)l + 1), at);
    best = jit_select(p, beats, y, best);
  }
  return at;
}

static jit_value square(jit_program *p, jit_value a) { return jit_binary(p, JIT_MUL, a, a); }

/* Sum of (x - mean)². */
static jit_value fold_deviations(jit_program *p, elem_vector *x) {
  elem_vector sum = *x;
  const jit_type type = jit_typeof(p, x->entry[0]);
  const jit_value mean = jit_binary(p, JIT_DIV, fold_tree(p, &sum, fold_add), jit_const_float(p, type, x->n));
  for (int32_t k = 0; k < x->n; k++) x->entry[k] = square(p, jit_binary(p, JIT_SUB, x->entry[k], mean));
  return fold_tree(p, x, fold_add);
}

/* A reduction of all entries; -1: not of that kind and type. */
static jit_value fold_entries(jit_program *p, reduce_kind kind, const elem_vector *of) {
  elem_vector x = *of;
  const bool floats = has_float(p, x.entry[0]);
  const bool to_int = !floats && (kind == REDUCE_SUM || kind == REDUCE_PROD);
  const bool to_bool = kind == REDUCE_ANY || kind == REDUCE_ALL;
  for (int32_t k = 0; k < x.n; k++) {
    if (to_int || to_bool) x.entry[k] = jit_convert(p, x.entry[k], to_bool ? JIT_BOOL : JIT_I64);
    if (kind == REDUCE_SUM_SQR && floats) x.entry[k] = square(p, x.entry[k]);
  }
  switch (kind) {
    case REDUCE_SUM: return fold_tree(p, &x, fold_add);
    case REDUCE_PROD: return fold_tree(p, &x, fold_mul);
    case REDUCE_MAX: return fold_tree(p, &x, fold_max);
    case REDUCE_MIN: return fold_tree(p, &x, fold_min);
    case REDUCE_ANY: return fold_tree(p, &x, fold_or);
    case REDUCE_ALL: return fold_tree(p, &x, fold_and);
    case REDUCE_ARGMAX: return fold_position(p, &x, true);
    case REDUCE_ARGMIN: return fold_position(p, &x, false);
    case REDUCE_SUM_SQR: return floats ? fold_tree(p, &x, fold_add) : -1;
    case REDUCE_SUM_SQR_DEV: return floats ? fold_deviations(p, &x) : -1;
    case REDUCE_LOGSUMEXP: break;
  }
  return -1;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* The common length of operands; 0: they do not agree. A vector broadcasts only where its static Type says 1. */
static int32_t common_length(const damo_apply *node, const elem_vector *in) {
  int32_t n = 0;
  for (int i = 0; i < node->n_in; i++) {
    const damo_type *type = node->in[i]->type;
    if (type->ndim == 0 || type_dim_is_one(type, 0)) continue;
    if (n > 0 && in[i].n != n) return 0;
    n = in[i].n;
  }
  return n > 0 ? n : 1;
}

static jit_value entry_of(const elem_vector *v, int32_t k) { return v->entry[v->n == 1 ? 0 : k]; }

static bool lower_elements(jit_program *p, const damo_op *op, damo_dtype to, const damo_dtype *dtype,
                           const elem_vector *const *in, int n_in, elem_vector *out) {
  out->n = 1;
  for (int i = 0; i < n_in; i++) out->n = in[i]->n > out->n ? in[i]->n : out->n;
  for (int32_t k = 0; k < out->n; k++) {
    jit_value x[LOOP_PART_MOST_IN];
    for (int i = 0; i < n_in; i++) x[i] = entry_of(in[i], k);
    if (!elem_jit_step(p, op, to, dtype, x, &out->entry[k])) return false;
  }
  return true;
}

/* One part of a Loop over registers. */
static bool lower_part(jit_program *p, const loop_data *d, int k, elem_vector *reg, damo_dtype *dtype) {
  const loop_part *part = &d->parts[k];
  elem_vector *out = &reg[d->n_in + k];
  dtype[d->n_in + k] = part->dtype;
  if (loop_part_folds(part)) {
    out->n = 1;
    out->entry[0] = fold_entries(p, reduce_op_kind(part->op), &reg[part->in[0]]);
    return out->entry[0] >= 0;
  }
  if (part->op->def != &elemwise_def) return false;
  const elem_vector *in[LOOP_PART_MOST_IN];
  damo_dtype of[LOOP_PART_MOST_IN];
  for (int i = 0; i < loop_arity(part); i++) {
    in[i] = &reg[part->in[i]];
    of[i] = dtype[part->in[i]];
  }
  return lower_elements(p, part->op, part->dtype, of, in, loop_arity(part), out);
}

/* Elements have the length n: a part over elements all of whose operands have one value is that value n times. */
static bool lower_loop_vectors(jit_program *p, const damo_apply *node, int32_t n, const elem_vector *in,
                               elem_vector *out) {
  const loop_data *d = loop_data_of(node->op);
  const size_t n_regs = (size_t)(d->n_in + d->n_parts), bytes = n_regs * (sizeof(elem_vector) + sizeof(damo_dtype));
  elem_vector *reg = mem_alloc(p->ctx, bytes);
  if (reg == NULL) {
    ctx_clear_error(p->ctx);
    return false;
  }
  damo_dtype *dtype = (damo_dtype *)(void *)(reg + n_regs);
  bool all = true;
  for (int i = 0; i < d->n_in; i++) {
    reg[i] = in[i];
    dtype[i] = var_dtype(node->in[i]);
  }
  for (int k = 0; k < d->n_parts && all; k++) {
    elem_vector *made = &reg[d->n_in + k];
    all = lower_part(p, d, k, reg, dtype);
    if (!all || d->parts[k].space != LOOP_ELEMENTS || made->n == n) continue;
    for (int32_t i = 1; i < n; i++) made->entry[i] = made->entry[0];
    made->n = n;
  }
  for (int o = 0; o < d->n_out && all; o++) out[o] = reg[d->outs[o]];
  mem_free(p->ctx, reg, bytes);
  return all;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* A product beta z + alpha x y, where alpha and beta are known. */
typedef struct short_product {
  const elem_vector *x, *y, *z; /* z: NULL if beta is 0 */
  double alpha, beta;
} short_product;

/* 0 + x[1] y[1] + x[2] y[2] + …: entry k of row or column `at` is `step` entries behind the one before. As
 * op/linalg/short_product.c computes it. */
static jit_value product_entry(jit_program *p, const short_product *s, const jit_value *row, int32_t step,
                               const elem_vector *vector, int32_t at) {
  const jit_type type = jit_typeof(p, vector->entry[0]);
  jit_value r = jit_const_float(p, type, 0);
  for (int32_t k = 0; k < vector->n; k++)
    r = jit_binary(p, JIT_ADD, r, jit_binary(p, JIT_MUL, row[k * step], vector->entry[k]));
  if (s->alpha != 1) r = jit_binary(p, JIT_MUL, jit_const_float(p, type, s->alpha), r);
  if (s->z == NULL) return jit_binary(p, JIT_ADD, r, jit_const_float(p, type, 0));
  const jit_value z = s->z->entry[at];
  return jit_binary(p, JIT_ADD, r, s->beta == 1 ? z : jit_binary(p, JIT_MUL, jit_const_float(p, type, s->beta), z));
}

/* False: the lengths do not agree, or the result is too long. */
static bool lower_product(jit_program *p, const short_product *s, elem_vector *out) {
  const elem_vector *x = s->x, *y = s->y;
  if (x->matrix != NULL && y->matrix != NULL) return false;
  const elem_vector *vector = x->matrix != NULL ? y : x, *other = x->matrix != NULL ? x : y;
  const int32_t depth = x->matrix != NULL ? x->columns : y->matrix != NULL ? y->rows : y->n;
  out->n = x->matrix != NULL ? x->rows : y->matrix != NULL ? y->columns : 1;
  if (vector->n != depth || out->n > ELEM_VECTOR_MOST || (s->z != NULL && s->z->n != out->n)) return false;
  for (int32_t i = 0; i < out->n; i++) {
    const jit_value *row = other->matrix == NULL ? other->entry
                           : x->matrix != NULL   ? other->matrix + i * other->columns
                                                 : other->matrix + i;
    out->entry[i] = product_entry(p, s, row, y->matrix != NULL ? other->columns : 1, vector, i);
    if (out->entry[i] < 0) return false;
  }
  return true;
}

/* A finite constant; nan: it is none. */
static double known_number(const damo_var *v) {
  const damo_array *a = var_constant_array(v);
  return a != NULL && a->ndim == 0 && !dtype_is_complex(array_dtype(a))
             ? scalar_to_double(scalar_load(array_dtype(a), a->data))
             : NAN;
}

static bool lower_dot(jit_program *p, const damo_apply *node, const elem_vector *in, elem_vector *out) {
  const bool adds = node->op->def == &gemv_def;
  const int x = adds ? 2 : 0, y = adds ? 3 : 1;
  const damo_dtype dtype = var_dtype(node->out[0]);
  short_product s = {.x = &in[x], .y = &in[y], .alpha = 1};
  bool fits = dtype == DAMO_FLOAT64 || dtype == DAMO_FLOAT32;
  fits = fits && var_dtype(node->in[x]) == dtype && var_dtype(node->in[y]) == dtype;
  if (adds) {
    s.alpha = known_number(node->in[1]);
    s.beta = known_number(node->in[4]);
    if (s.beta != 0) s.z = &in[0];
    fits = fits && isfinite(s.alpha) && s.alpha != 0 && isfinite(s.beta) && var_dtype(node->in[0]) == dtype;
  }
  for (int i = adds ? 2 : 0; i < (adds ? 4 : 2); i++) fits = fits && var_ndim(node->in[i]) == (in[i].matrix ? 2 : 1);
  return fits && lower_product(p, &s, out);
}

/* ---- Any node ---------------------------------------------------------------------------------------------------- */

static bool has_short_type(const damo_var *v) {
  return type_is_tensor(v->type) && v->type->ndim <= 1 && jit_type_of(v->type->dtype) != JIT_N_TYPES;
}

bool elem_jit_vectors(jit_program *p, const damo_apply *node, const elem_vector *in, elem_vector *out) {
  const op_def *def = node->op->def;
  for (int o = 0; o < node->n_out; o++) {
    if (!has_short_type(node->out[o])) return false;
  }
  if (def == &dot_def || def == &gemv_def) return lower_dot(p, node, in, out);
  for (int i = 0; i < node->n_in; i++) {
    if (!type_is_tensor(node->in[i]->type) || node->in[i]->type->ndim > 1) return false;
  }
  if (def == &reduce_def) {
    if (!has_short_type(node->in[0]) || reduce_op_axes(node->op, node->in[0]->type->ndim) != 1) return false;
    out->n = 1;
    out->entry[0] = fold_entries(p, reduce_op_kind(node->op), in);
    return out->entry[0] >= 0;
  }
  const int32_t n = common_length(node, in);
  if (n == 0) return false;
  if (def == &loop_def) return lower_loop_vectors(p, node, n, in, out);
  if (def != &elemwise_def) return false;
  const elem_vector *operands[LOOP_PART_MOST_IN];
  damo_dtype dtype[LOOP_PART_MOST_IN];
  for (int i = 0; i < node->n_in; i++) {
    operands[i] = &in[i];
    dtype[i] = var_dtype(node->in[i]);
  }
  return lower_elements(p, node->op, var_dtype(node->out[0]), dtype, operands, node->n_in, out);
}
