/* debug_terms.c: the size of the terms that a value is a sum of. If a sum cancels, two ways of computing it differ by
 * the rounding of its terms, which may be far larger than the sum itself. If two values disagree, DEBUG uses this size
 * to decide whether rounding explains the difference.
 *
 * A sum of products, evaluated on the operands' moduli, gives the sum of its terms' moduli. This is done through
 * consecutive nodes that add, multiply or move entries, and for solutions of small systems, which are products with an
 * inverse. A result of any other Op is one term. The values are those of the thunks that have run. If the size can't be
 * computed, there is no bound.
 */
#include "op/op.h"
#include "op/elem/build_arith.h"
#include "op/elem/scalar.h"
#include "op/sparse/build_sparse.h"
#include "watch_int.h"

#define TERMS_MOST_ROWS 256 /* most rows of a system, since its inverse is dense */

typedef struct term_sizes {
  build *b;
  const map *values; /* damo_var* → damo_obj*, its value; constants need no entry */
  map size;          /* damo_var* → a Variable: the sum of its terms' moduli */
} term_sizes;

static damo_obj *terms_value_of(const term_sizes *w, const damo_var *v) {
  damo_obj *known = map_get_ptr(w->values, v);
  return known != NULL ? known : v->value;
}

/* The value itself as a constant. */
static damo_var *as_it_is(term_sizes *w, const damo_var *v) {
  damo_obj *value = terms_value_of(w, v);
  return value != NULL ? build_value(w->b, damo_retain(value)) : NULL;
}

/* The sum of the moduli of v's terms; if nothing is known about them, the modulus of v. In double precision, so that
 * the sum does not overflow. */
static damo_var *terms_size_of(term_sizes *w, const damo_var *v) {
  damo_var *size = map_get_ptr(&w->size, v);
  if (size != NULL || !type_has_shape(v->type)) return size;
  size = as_it_is(w, v);
  if (size != NULL && var_dtype(size) != DAMO_BOOL) size = build_abs(w->b, size);
  if (size != NULL && !dtype_is_discrete(var_dtype(size))) size = build_cast(w->b, size, DAMO_FLOAT64);
  if (size != NULL && map_put(&w->size, v, (uintptr_t)size) != DAMO_OK) return NULL;
  return size;
}

/* The sum or the product (id) of the operands' sizes. */
static damo_var *both(term_sizes *w, scalar_id id, const damo_apply *node) {
  damo_var *x = terms_size_of(w, node->in[0]), *y = terms_size_of(w, node->in[1]);
  return x != NULL && y != NULL ? build_scalar_op(w->b, id, (damo_var *[]){x, y}) : NULL;
}

/* x/y: size(x)·size(y)/y², so that a relative error of y counts as one of x. */
static damo_var *quotient(term_sizes *w, const damo_apply *node) {
  damo_var *product = both(w, SCALAR_mul, node), *y = as_it_is(w, node->in[1]);
  damo_var *square = product != NULL && y != NULL ? build_sqr(w->b, build_abs(w->b, y)) : NULL;
  return square != NULL ? build_true_div(w->b, product, square) : NULL;
}

static damo_var *of_entries(term_sizes *w, const damo_apply *node, scalar_id function) {
  damo_var *x;
  switch ((int)function) {
    case SCALAR_neg:
    case SCALAR_identity:
    case SCALAR_abs:
    case SCALAR_conj:
    case SCALAR_real:
    case SCALAR_imag:
    case SCALAR_cast: return terms_size_of(w, node->in[0]);
    case SCALAR_add:
    case SCALAR_sub: return both(w, SCALAR_add, node);
    case SCALAR_mul: return both(w, SCALAR_mul, node);
    case SCALAR_true_div: return quotient(w, node);
    case SCALAR_sqr: x = terms_size_of(w, node->in[0]); return x != NULL ? build_sqr(w->b, x) : NULL;
    default: return NULL;
  }
}

/* The same Op applied to the sizes of its operands. */
static damo_var *of_operands(term_sizes *w, const damo_apply *node) {
  ptrvec in;
  ptrvec_init(&in, w->b->ctx);
  damo_var *out = NULL;
  damo_status s = ptrvec_reserve(&in, node->n_in);
  for (int i = 0; i < node->n_in && s == DAMO_OK; i++) {
    const damo_var *x = node->in[i];
    const bool counts = type_has_shape(x->type) && !dtype_is_discrete(var_dtype(x));
    damo_var *own = counts ? terms_size_of(w, x) : as_it_is(w, x);
    s = own != NULL ? ptrvec_push(&in, own) : DAMO_EVALUE;
  }
  if (s == DAMO_OK) out = build_op(w->b, damo_retain(node->op), (damo_var *const *)in.at, node->n_in);
  ptrvec_clear(&in);
  return out;
}

/* ---- Systems ----------------------------------------------------------------------------------------------------- */

static damo_var *identity(build *b, damo_dtype dtype, int64_t n) {
  const scalar one = scalar_cast((scalar){.dtype = DAMO_FLOAT64, .v.f = 1}, dtype);
  damo_array *all = damo_array_new(b->ctx, dtype, 2, (const int64_t[2]){n, n});
  for (int64_t k = 0; all != NULL && k < n; k++) array_set(all, (const int64_t[2]){k, k}, one);
  return build_value(b, (damo_obj *)all);
}

/* |S| of a solver node, whose result is S·b: the same Op applied to the identity gives S. */
static damo_var *of_solver(term_sizes *w, const damo_apply *node) {
  const int last = node->n_in - 1;
  const damo_obj *b = terms_value_of(w, node->in[last]);
  damo_var *in[3];
  if (last > 2 || b == NULL || b->kind != OBJ_ARRAY) return NULL;
  const int64_t rows = array_shape((const damo_array *)b)[0];
  if (rows > TERMS_MOST_ROWS) return NULL;
  for (int i = 0; i < last; i++) {
    if ((in[i] = as_it_is(w, node->in[i])) == NULL) return NULL;
  }
  in[last] = identity(w->b, dtype_to_float(array_dtype((const damo_array *)b)), rows);
  damo_apply *all = in[last] != NULL ? build_apply(w->b, damo_retain(node->op), in, node->n_in) : NULL;
  return all != NULL ? build_cast(w->b, build_abs(w->b, all->out[0]), DAMO_FLOAT64) : NULL;
}

/* The size of a solution is |S| times the size of b; that of a residual b - A·x is the size of b plus |A| times the
 * size of x. */
static damo_status add_solution(term_sizes *w, const damo_apply *node) {
  damo_var *solver = of_solver(w, node), *b = solver != NULL ? terms_size_of(w, node->in[node->n_in - 1]) : NULL;
  damo_var *x = b != NULL ? build_any_dot(w->b, solver, b) : NULL;
  DAMO_TRY(w->b->status);
  if (x == NULL) return DAMO_OK;
  DAMO_TRY(map_put(&w->size, node->out[0], (uintptr_t)x));
  if (node->n_in < 3 || node->op->terms != TERMS_LEAST) return DAMO_OK;
  damo_var *a = terms_size_of(w, node->in[1]), *moved = a != NULL ? build_any_dot(w->b, a, x) : NULL;
  damo_var *residual = moved != NULL ? build_add(w->b, b, moved) : NULL;
  DAMO_TRY(w->b->status);
  return residual != NULL ? map_put(&w->size, node->out[1], (uintptr_t)residual) : DAMO_OK;
}

/* ---- The terms --------------------------------------------------------------------------------------------------- */

static damo_status terms_add_node(term_sizes *w, const damo_apply *node) {
  const scalar_id function = elemwise_scalar_id(node->op);
  const op_terms kind = node->op->terms;
  damo_var *size = NULL;
  if (kind == TERMS_SOLVED || kind == TERMS_LEAST) return add_solution(w, node);
  if (node->n_out != 1 || !type_has_shape(node->out[0]->type)) return DAMO_OK;
  if (function != SCALAR_NONE && node->n_in <= 2) size = of_entries(w, node, function);
  if (kind == TERMS_LINEAR) size = of_operands(w, node);
  DAMO_TRY(w->b->status);
  return size != NULL ? map_put(&w->size, node->out[0], (uintptr_t)size) : DAMO_OK;
}

damo_status debug_terms(damo_ctx *ctx, const ptrvec *nodes, const damo_var *v, const map *values, damo_obj **out) {
  *out = NULL;
  if (!type_has_shape(v->type) || dtype_is_discrete(var_dtype(v))) return DAMO_OK;
  build b;
  term_sizes w = {.b = &b, .values = values};
  build_init(&b, ctx);
  map_init(&w.size, ctx);
  damo_status s = DAMO_OK;
  for (int64_t k = 0; k < nodes->n && s == DAMO_OK; k++) s = terms_add_node(&w, nodes->at[k]);
  damo_var *sum = s == DAMO_OK ? terms_size_of(&w, v) : NULL;
  if (sum != NULL && b.status == DAMO_OK && eager_eval(ctx, &sum, 1, out) != DAMO_OK) *out = NULL;
  map_clear(&w.size);
  build_end(&b);
  if (*out != NULL) return DAMO_OK;
  if (damo_error_status(ctx) == DAMO_EMEMORY) return DAMO_EMEMORY;
  ctx_clear_error(ctx);
  return DAMO_OK;
}
