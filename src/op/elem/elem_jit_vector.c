/* elem_jit_vector: nodes over short vectors and small matrices as operations of a scalar program, entry by entry; among
 * them reductions of vectors, whose operations and order are those of the kernels (kernel/reduce/reduce_body.h) for so few
 * elements, and products. */
#include "elem_jit.h"

#include <math.h>
#include <string.h>

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

/* By halves, as the lanes of a block of no more elements than twice the lanes. Overwrites the entries. */
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

/* A copy of a vector, whose entries may be overwritten. */
static elem_vector vector_copy(const elem_vector *x, jit_value *entry) {
  memcpy(entry, x->entry, (size_t)x->n * sizeof *entry);
  return (elem_vector){.entry = entry, .n = x->n};
}

static jit_value square(jit_program *p, jit_value a) { return jit_binary(p, JIT_MUL, a, a); }

/* Sum of (x - mean)². */
static jit_value fold_deviations(jit_program *p, elem_vector *x) {
  jit_value entry[ELEM_VECTOR_MOST];
  elem_vector sum = vector_copy(x, entry);
  const jit_type type = jit_typeof(p, x->entry[0]);
  const jit_value mean = jit_binary(p, JIT_DIV, fold_tree(p, &sum, fold_add), jit_const_float(p, type, x->n));
  for (int32_t k = 0; k < x->n; k++) x->entry[k] = square(p, jit_binary(p, JIT_SUB, x->entry[k], mean));
  return fold_tree(p, x, fold_add);
}

/* A reduction of all entries of a vector; -1: not of that kind and type. */
static jit_value fold_entries(jit_program *p, reduce_kind kind, const elem_vector *of) {
  jit_value entry[ELEM_VECTOR_MOST];
  if (of->columns > 0) return -1;
  elem_vector x = vector_copy(of, entry);
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

/* The length of an operand along an axis. */
static int32_t length_along(const damo_type *type, const elem_vector *x, int axis) {
  if (type->ndim < 2) return x->n;
  return axis == 0 ? x->n / x->columns : x->columns;
}

/* The common shape of operands, in *out, whose entries stay; false: they do not agree. An operand broadcasts only where
 * its static Type says that its length is 1. */
static bool common_shape(const damo_apply *node, const elem_vector *in, elem_vector *out) {
  int32_t length[2] = {0, 0}; /* 0: none yet */
  int ndim = 0;
  for (int i = 0; i < node->n_in; i++) ndim = node->in[i]->type->ndim > ndim ? node->in[i]->type->ndim : ndim;
  for (int i = 0; i < node->n_in; i++) {
    const damo_type *type = node->in[i]->type;
    for (int axis = 0; axis < type->ndim; axis++) {
      int32_t *common = &length[2 - type->ndim + axis];
      const int32_t mine = length_along(type, &in[i], axis);
      if (type_dim_is_one(type, axis)) continue;
      if (*common > 0 && *common != mine) return false;
      *common = mine;
    }
  }
  const int32_t rows = length[0] > 0 ? length[0] : 1, columns = length[1] > 0 ? length[1] : 1;
  out->n = rows * columns;
  out->columns = ndim == 2 ? columns : 0;
  return true;
}

/* The entries of an operand of that Type at all places of a matrix of that shape. */
static void broadcast(const damo_type *type, const elem_vector *x, elem_vector *to) {
  const int last = type->ndim - 1;
  const int32_t down = type->ndim == 2 && !type_dim_is_one(type, 0) ? x->columns : 0;
  const int32_t along = type->ndim > 0 && !type_dim_is_one(type, last) ? 1 : 0;
  for (int32_t k = 0; k < to->n; k++) to->entry[k] = x->entry[k / to->columns * down + k % to->columns * along];
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

/* One part of a Loop at one element, over registers: the results of parts, and inputs. */
static bool lower_part_at(jit_program *p, const loop_part *part, int32_t k, const elem_vector *reg,
                          const damo_dtype *dtype, jit_value *out) {
  jit_value x[LOOP_PART_MOST_IN];
  damo_dtype of[LOOP_PART_MOST_IN];
  for (int i = 0; i < loop_arity(part); i++) {
    x[i] = entry_of(&reg[part->in[i]], k);
    of[i] = dtype[part->in[i]];
  }
  return elem_jit_step(p, part->op, part->dtype, of, x, out);
}

static bool is_elementwise(const loop_data *d) {
  bool all = true;
  for (int k = 0; k < d->n_parts; k++)
    all = all && d->parts[k].op->def == &elemwise_def && d->parts[k].space == LOOP_ELEMENTS;
  return all;
}

/* All parts at one element after the other, so that few values are alive at one time; no part folds. */
static bool lower_by_elements(jit_program *p, const loop_data *d, const elem_vector *shape, elem_vector *reg,
                              const damo_dtype *dtype) {
  for (int k = 0; k < d->n_parts; k++) {
    reg[d->n_in + k].n = shape->n;
    reg[d->n_in + k].columns = shape->columns;
  }
  for (int32_t i = 0; i < shape->n; i++) {
    for (int k = 0; k < d->n_parts; k++) {
      if (!lower_part_at(p, &d->parts[k], i, reg, dtype, &reg[d->n_in + k].entry[i])) return false;
    }
  }
  return true;
}

/* One part at all elements. */
static bool lower_part(jit_program *p, const loop_data *d, int k, const elem_vector *shape, elem_vector *reg,
                       const damo_dtype *dtype) {
  const loop_part *part = &d->parts[k];
  elem_vector *out = &reg[d->n_in + k];
  if (loop_part_folds(part)) {
    out->n = 1;
    out->entry[0] = fold_entries(p, reduce_op_kind(part->op), &reg[part->in[0]]);
    return out->entry[0] >= 0;
  }
  if (part->op->def != &elemwise_def) return false;
  out->n = part->space == LOOP_ELEMENTS ? shape->n : 1;
  for (int32_t i = 0; i < out->n; i++) {
    if (!lower_part_at(p, part, i, reg, dtype, &out->entry[i])) return false;
  }
  return true;
}

/* Elements have that shape. */
static bool lower_loop_vectors(jit_program *p, const damo_apply *node, const elem_vector *shape, const elem_vector *in,
                               elem_vector *out) {
  const loop_data *d = loop_data_of(node->op);
  const size_t n_regs = (size_t)(d->n_in + d->n_parts), most = shape->columns > 0 ? ELEM_MATRIX_MOST : ELEM_VECTOR_MOST;
  const size_t each = sizeof(elem_vector) + sizeof(damo_dtype);
  const size_t bytes = n_regs * each + (size_t)d->n_parts * most * sizeof(jit_value);
  if (d->n_sources > 0 || (shape->columns > 0 && d->axes != 0)) return false;
  elem_vector *reg = mem_alloc(p->ctx, bytes);
  if (reg == NULL) {
    ctx_clear_error(p->ctx);
    return false;
  }
  jit_value *entry = (jit_value *)(void *)(reg + n_regs);
  damo_dtype *dtype = (damo_dtype *)(void *)(entry + (size_t)d->n_parts * most);
  bool all = true;
  for (int i = 0; i < d->n_in; i++) {
    reg[i] = in[i];
    dtype[i] = var_dtype(node->in[i]);
  }
  for (int k = 0; k < d->n_parts; k++) {
    reg[d->n_in + k] = (elem_vector){.entry = entry + (size_t)k * most};
    dtype[d->n_in + k] = d->parts[k].dtype;
  }
  if (is_elementwise(d)) {
    all = lower_by_elements(p, d, shape, reg, dtype);
  } else {
    for (int k = 0; k < d->n_parts && all; k++) all = lower_part(p, d, k, shape, reg, dtype);
  }
  for (int o = 0; o < d->n_out && all; o++) {
    const elem_vector *from = &reg[d->outs[o]];
    memcpy(out[o].entry, from->entry, (size_t)from->n * sizeof *from->entry);
    out[o].n = from->n;
    out[o].columns = from->columns;
  }
  mem_free(p->ctx, reg, bytes);
  return all;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* A product beta z + alpha x y, where alpha and beta are known. */
typedef struct short_product {
  const elem_vector *x, *y, *z; /* z: NULL if beta is 0 */
  double alpha, beta;
} short_product;

/* The entries of a product's operand: those of row i, or of column i, lie `along` behind each other, and the rows, or
 * columns, `across`. */
typedef struct product_side {
  const jit_value *entry;
  int32_t along, across, depth, n;
} product_side;

/* 0 + x[1] y[1] + x[2] y[2] + … of row i of x and column j of y. As op/linalg/short_product.c computes it. The first 0
 * makes a sum of negative zeros positive; where nothing is added, so does the 0 that is added in the end. */
static jit_value product_entry(jit_program *p, const short_product *s, const product_side *x, int32_t i,
                               const product_side *y, int32_t j) {
  const jit_type type = jit_typeof(p, x->entry[0]);
  const jit_value zero = jit_const_float(p, type, 0);
  jit_value r = -1;
  for (int32_t k = 0; k < x->depth; k++) {
    const jit_value a = x->entry[i * x->across + k * x->along], b = y->entry[j * y->across + k * y->along];
    const jit_value term = jit_binary(p, JIT_MUL, a, b);
    r = k > 0 ? jit_binary(p, JIT_ADD, r, term) : s->z != NULL ? jit_binary(p, JIT_ADD, zero, term) : term;
  }
  if (s->alpha != 1) r = jit_binary(p, JIT_MUL, jit_const_float(p, type, s->alpha), r);
  if (s->z == NULL) return jit_binary(p, JIT_ADD, r, zero);
  const jit_value z = s->z->entry[i * y->n + j];
  return jit_binary(p, JIT_ADD, r, s->beta == 1 ? z : jit_binary(p, JIT_MUL, jit_const_float(p, type, s->beta), z));
}

static product_side rows_of(const elem_vector *x) {
  const bool is_matrix = x->columns > 0;
  return (product_side){x->entry, 1, x->columns, is_matrix ? x->columns : x->n, is_matrix ? x->n / x->columns : 1};
}

static product_side columns_of(const elem_vector *y) {
  if (y->columns == 0) return (product_side){y->entry, 1, 0, y->n, 1};
  return (product_side){y->entry, y->columns, 1, y->n / y->columns, y->columns};
}

/* False: the lengths do not agree, or it is no short product. `outer`: of two vectors, to a matrix. */
static bool lower_product(jit_program *p, const short_product *s, bool outer, elem_vector *out) {
  product_side x = rows_of(s->x), y = columns_of(s->y);
  if (outer) x = (product_side){s->x->entry, 0, 1, 1, s->x->n}, y = (product_side){s->y->entry, 0, 1, 1, s->y->n};
  const int32_t columns = outer || (s->x->columns > 0 && s->y->columns > 0) ? y.n : 0;
  if (x.depth != y.depth || (x.n > 1 && y.n > 1 && x.depth > 1)) return false;
  if (s->z != NULL && (s->z->n != x.n * y.n || s->z->columns != columns)) return false;
  out->n = x.n * y.n;
  out->columns = columns;
  for (int32_t i = 0; i < out->n; i++) {
    out->entry[i] = product_entry(p, s, &x, i / y.n, &y, i % y.n);
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

/* A Dot, or z beta + alpha x y: of Ger, whose x and y are vectors, without a beta. */
static bool lower_dot(jit_program *p, const damo_apply *node, const elem_vector *in, elem_vector *out) {
  const op_def *def = node->op->def;
  const bool adds = def != &dot_def, outer = def == &ger_def;
  const int x = adds ? 2 : 0, y = adds ? 3 : 1;
  const damo_dtype dtype = var_dtype(node->out[0]);
  short_product s = {.x = &in[x], .y = &in[y], .alpha = 1};
  bool fits = dtype == DAMO_FLOAT64 || dtype == DAMO_FLOAT32;
  fits = fits && var_dtype(node->in[x]) == dtype && var_dtype(node->in[y]) == dtype;
  if (adds) {
    s.alpha = known_number(node->in[1]);
    s.beta = outer ? 1 : known_number(node->in[4]);
    if (s.beta != 0) s.z = &in[0];
    fits = fits && isfinite(s.alpha) && s.alpha != 0 && isfinite(s.beta) && var_dtype(node->in[0]) == dtype;
  }
  return fits && lower_product(p, &s, outer, out);
}

/* ---- Any node ---------------------------------------------------------------------------------------------------- */

static bool has_short_type(const damo_var *v, int most_ndim) {
  return type_is_tensor(v->type) && v->type->ndim <= most_ndim && jit_type_of(v->type->dtype) != JIT_N_TYPES;
}

static bool is_short_dot(const op_def *def) {
  return def == &dot_def || def == &gemv_def || def == &ger_def || def == &gemm_def;
}

/* An Elemwise or a Loop, whose operands have that shape or one entry. */
static bool lower_alike(jit_program *p, const damo_apply *node, const elem_vector *shape, const elem_vector *in,
                        elem_vector *out) {
  if (node->op->def == &loop_def) return lower_loop_vectors(p, node, shape, in, out);
  if (node->op->def != &elemwise_def) return false;
  const elem_vector *operands[LOOP_PART_MOST_IN];
  damo_dtype dtype[LOOP_PART_MOST_IN];
  for (int i = 0; i < node->n_in; i++) {
    operands[i] = &in[i];
    dtype[i] = var_dtype(node->in[i]);
  }
  if (!lower_elements(p, node->op, var_dtype(node->out[0]), dtype, operands, node->n_in, out)) return false;
  out->columns = shape->columns;
  return out->n == shape->n;
}

/* The same where the result is a matrix, to which operands broadcast. */
static bool lower_matrices(jit_program *p, const damo_apply *node, const elem_vector *shape, const elem_vector *in,
                           elem_vector *out) {
  const size_t n_in = (size_t)node->n_in;
  const size_t bytes = n_in * (sizeof(elem_vector) + (size_t)shape->n * sizeof(jit_value));
  elem_vector *wide = mem_alloc(p->ctx, bytes);
  if (wide == NULL) {
    ctx_clear_error(p->ctx);
    return false;
  }
  jit_value *entry = (jit_value *)(void *)(wide + n_in);
  for (size_t i = 0; i < n_in; i++) {
    wide[i] = (elem_vector){entry + i * (size_t)shape->n, shape->n, shape->columns};
    broadcast(node->in[i]->type, &in[i], &wide[i]);
  }
  const bool all = lower_alike(p, node, shape, wide, out);
  mem_free(p->ctx, wide, bytes);
  return all;
}

bool elem_jit_vectors(jit_program *p, const damo_apply *node, const elem_vector *in, elem_vector *out) {
  const op_def *def = node->op->def;
  for (int o = 0; o < node->n_out; o++) {
    if (!has_short_type(node->out[o], 2)) return false;
  }
  if (is_short_dot(def)) return lower_dot(p, node, in, out);
  for (int i = 0; i < node->n_in; i++) {
    if (!type_is_tensor(node->in[i]->type) || node->in[i]->type->ndim > 2) return false;
  }
  if (def == &reduce_def) {
    if (!has_short_type(node->in[0], 1) || reduce_op_axes(node->op, node->in[0]->type->ndim) != 1) return false;
    out->n = 1;
    out->columns = 0;
    out->entry[0] = fold_entries(p, reduce_op_kind(node->op), in);
    return out->entry[0] >= 0;
  }
  elem_vector shape;
  if (!common_shape(node, in, &shape) || shape.n > ELEM_MATRIX_MOST) return false;
  return shape.columns > 0 ? lower_matrices(p, node, &shape, in, out) : lower_alike(p, node, &shape, in, out);
}
