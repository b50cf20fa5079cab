/* specialize.c: products of matrices inside sums become BLAS updates: z ± alpha·x·y → Gemm or Gemv, Usmm if x or y is
 * sparse. */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"
#include "op/sparse/build_sparse.h"

#include <math.h>

#define TERM_MAX_FACTORS 6

/* A term of a sum: `rest` times or divided by n scalar factors, negated if `negative`. */
typedef struct scaled_term {
  damo_var *rest;
  damo_var *factor[TERM_MAX_FACTORS];
  bool divided[TERM_MAX_FACTORS];
  int n;
  bool negative;
} scaled_term;

/* Index of the scalar operand of a product, or of the scalar divisor of a quotient; -1: none. */
static int scalar_factor_index(const damo_apply *node, bool quotient) {
  for (int i = 1; i >= (quotient ? 1 : 0); i--) {
    const damo_var *s = node->in[i], *rest = node->in[1 - i];
    if (match_single_entry(s) && match_fits(node, 1 - i) && var_dtype(s) == var_dtype(rest)) return i;
  }
  return -1;
}

/* Whether v is a constant far from overflow and underflow, so that moving it as a factor creates no nan and no
 * infinity. */
static bool is_moderate_factor(const damo_var *v) {
  const damo_var *c = v->owner != NULL && match_class(v, &dimshuffle_def) != NULL ? v->owner->in[0] : v;
  const damo_array *a = var_constant_array(c);
  if (a == NULL || array_size(a) != 1 || !dtype_is_float(array_dtype(a))) return false;
  const double size = fabs(scalar_to_double(array_get(a, (const int64_t[DAMO_MAX_NDIM]){0})));
  return size >= 1e-5 && size <= 1e5;
}

/* Splits v into scalar factors, sign and rest, through nodes that have no other use; if `finite`, only moderate
 * constants are split off. */
static scaled_term split_term(const damo_fgraph *fg, damo_var *v, bool finite) {
  scaled_term t = {.rest = v};
  while (t.n < TERM_MAX_FACTORS && match_single_use(fg, t.rest)) {
    const damo_apply *node = t.rest->owner;
    bool quotient = match_scalar(t.rest, SCALAR_true_div) != NULL;
    if (match_scalar(t.rest, SCALAR_neg) != NULL) {
      t.negative = !t.negative;
      t.rest = node->in[0];
      continue;
    }
    if (!quotient && match_scalar(t.rest, SCALAR_mul) == NULL) break;
    int i = scalar_factor_index(node, quotient);
    if (i < 0 || (finite && !is_moderate_factor(node->in[i]))) break;
    t.divided[t.n] = quotient;
    t.factor[t.n++] = node->in[i];
    t.rest = node->in[1 - i];
  }
  return t;
}

/* The factors as one 0-d scalar of that dtype. */
static damo_var *term_coefficient(build *b, const scaled_term *t, damo_dtype dtype) {
  damo_var *c = NULL;
  for (int k = 0; k < t->n; k++) {
    damo_var *f = build_dimshuffle(b, t->factor[k], NULL, 0);
    if (t->divided[k]) f = build_reciprocal(b, f);
    c = c != NULL ? build_mul(b, c, f) : f;
  }
  if (c == NULL) return build_scalar(b, dtype, t->negative ? -1 : 1);
  return t->negative ? build_neg(b, c) : c;
}

static bool has_dtype(const damo_var *v, damo_dtype dtype) { return type_is_tensor(v->type) && var_dtype(v) == dtype; }

/* Usmm: z + alpha·x·y, or -z + alpha·x·y if `negate`; NULL unless all are matrices. */
static damo_var *sparse_update(build *b, const scaled_term *product, damo_var *z, bool negate) {
  const damo_apply *dot = product->rest->owner;
  if (var_ndim(dot->in[0]) != 2 || var_ndim(dot->in[1]) != 2 || var_ndim(z) != 2) return NULL;
  damo_var *alpha = term_coefficient(b, product, var_dtype(z));
  return build_usmm(b, alpha, dot->in[0], dot->in[1], negate ? build_neg(b, z) : z);
}

/* The node, a sum or difference, as beta·z + alpha·x·y with z its operand i; NULL if the other operand is no
 * product. */
static damo_var *update_of(build *b, damo_fgraph *fg, const damo_apply *node, int i, bool difference) {
  damo_dtype dtype = var_dtype(node->out[0]);
  if (!match_fits(node, 0) || !match_fits(node, 1) || !has_dtype(node->in[i], dtype)) return NULL;
  scaled_term product = split_term(fg, node->in[1 - i], false);
  const damo_apply *dot = product.rest->owner;
  if (dot == NULL || (dot->op->def != &dot_def && !match_sparse_product(dot))) return NULL;
  if (!has_dtype(product.rest, dtype) || !match_single_use(fg, product.rest)) return NULL;
  if (var_ndim(product.rest) != var_ndim(node->in[i])) return NULL;
  if (match_sparse_product(dot)) {
    if (difference && i == 0) product.negative = !product.negative;
    return sparse_update(b, &product, node->in[i], difference && i == 1);
  }
  damo_var *x = dot->in[0], *y = dot->in[1];
  if (var_ndim(x) == 1 && var_ndim(y) == 1) return NULL;
  scaled_term z = split_term(fg, node->in[i], true); /* a constant factor only: Gemm does not read z if beta is 0,
                                                      * although 0 times nan is nan */
  if (difference && i == 0) product.negative = !product.negative;
  if (difference && i == 1) z.negative = !z.negative;
  damo_var *alpha = term_coefficient(b, &product, dtype), *beta = term_coefficient(b, &z, dtype);
  if (var_ndim(x) == 2 && var_ndim(y) == 2) return build_gemm(b, z.rest, alpha, x, y, beta);
  if (var_ndim(x) == 2) return build_gemv(b, z.rest, alpha, x, y, beta);
  return build_gemv(b, z.rest, alpha, build_transpose(b, y), x, beta);
}

static damo_status dot_to_blas(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  bool difference = match_scalar(node->out[0], SCALAR_sub) != NULL;
  if (dtype_is_discrete(var_dtype(node->out[0])) || var_ndim(node->out[0]) < 1) return DAMO_OK;
  const int first = operand_before(node->in[1], node->in[0]); /* of two products, the earlier is z */
  damo_var *now = update_of(b, fg, node, first, difference);
  if (now == NULL && b->status == DAMO_OK) now = update_of(b, fg, node, 1 - first, difference);
  return rule_give(b, repl, did, now);
}

/* Usmm with a sparse x, a dense y and one dtype → the class that also has an in-place form. */
static damo_status special_usmm(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_type *x = node->in[1]->type;
  if (!type_is_sparse(x) || !type_is_tensor(node->in[2]->type)) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) {
    if (var_dtype(node->in[i]) != var_dtype(node->out[0])) return DAMO_OK;
  }
  const op_def *def = x->format == DAMO_CSC ? &usmm_csc_dense_def : &usmm_csr_dense_def;
  return rule_give(b, repl, did,
                   build_op(b, op_new(b->ctx, def, &(inplace_props){.inplace = prop_bool(false)}), node->in, 4));
}

const rewrite_rule specialize_rules[] = {
    {.name = "dot_to_blas",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize blas inexact",
     ELEMWISE(SCALAR_add, SCALAR_sub),
     .local = dot_to_blas},
    {.name = "special_usmm",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize sparse inexact",
     TRACKS(&usmm_def),
     .local = special_usmm},
    {.name = NULL},
};
