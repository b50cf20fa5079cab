/* inverse: entries of the inverse at stored positions, and the products in their derivatives.
 *
 * FactorInverse (F, A, P) or (F, P): (A⁻¹)ᵀ at the stored positions of P, which lie in A's pattern (P is A in gradients
 * of determinants): the selected inverse of the factors. FactorSandwich (F, A, W, P) or (F, W, P): (A⁻¹·W·A⁻¹)ᵀ at the
 * stored positions of P for a sparse W, by solves for a block of columns at a time: memory for P's entries and one
 * block, not for the inverse.
 */
#include "factor.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct sp_inverse_props {
  prop_value positive;
} sp_inverse_props;

static damo_status sp_inverse_init(damo_op *op) {
  return factor_fields_init(op, NULL, &OP_PROPS(op, sp_inverse_props)->positive, NULL);
}

#define SANDWICH_COLUMNS 32 /* in a block */

static const op_def sp_factor_inverse_def, sp_factor_sandwich_def;

static damo_status sp_factor_inverse_check_inputs(const damo_op *op, damo_var *const *in, int n_in, int most) {
  if (n_in != most && n_in != most - 1) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: expected %d inputs, or %d without A, got %d", op->def->name, most,
                    most - 1, n_in);
  }
  DAMO_TRY(type_need_square_factor(op, in));
  for (int i = 1; i < n_in; i++) {
    DAMO_TRY(type_need_sparse(op, in, i));
    DAMO_TRY(type_need_same_length(op, in, 0, 0, i, 0));
    DAMO_TRY(type_need_same_length(op, in, 0, 1, i, 1));
  }
  return DAMO_OK;
}

static damo_status sp_factor_entries_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                           damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = build_nnz(b, node->in[node->n_in - 1]);
  return b->status;
}

/* ---- FactorInverse ----------------------------------------------------------------------------------------------- */

static damo_status sp_factor_inverse_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_inverse_check_inputs(op, in, n_in, 3));
  return type_give_dense(op, out, var_dtype(in[0]), 1, NULL);
}

static damo_status sp_factor_inverse_perform(const thunk *t, frame *f) {
  ctx_set_due(f->ctx);
  return thunk_give(t, f, 0, factor_inverse_entries(thunk_in_factor(t, f, 0), thunk_in_sparse(t, f, t->n_in - 1)));
}

damo_var *build_factor_inverse(build *b, const factor_var *v, damo_var *p) {
  damo_apply *node = build_on_factor(b, &sp_factor_inverse_def, v, &p, 1);
  return node ? node->out[0] : NULL;
}

static damo_var *build_sandwich(build *b, const factor_var *v, damo_var *w, damo_var *p) {
  damo_apply *node = build_on_factor(b, &sp_factor_sandwich_def, v, (damo_var *[]){w, p}, 2);
  return node ? node->out[0] : NULL;
}

/* dA⁻¹ = −A⁻¹·dA·A⁻¹: the adjoint of this map takes a cotangent at P's positions to one at A's. */
static damo_status sp_factor_inverse_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const factor_var v = factor_of_node(node, 3);
  if (gout[0] == NULL || v.a == NULL) return b->status;
  damo_var *w = build_counting_part(b, &v, build_with_data(b, node->in[2], gout[0]));
  damo_var *data = w ? build_conj_if_complex(b, build_sandwich(b, &v, build_conj_if_complex(b, w), v.a)) : NULL;
  gin[1] = data ? build_with_data(b, v.a, build_neg(b, data)) : NULL;
  return b->status;
}

static damo_status sp_factor_inverse_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const factor_var v = factor_of_node(node, 3);
  if (v.a == NULL || eval[1] == NULL) return b->status;
  damo_var *d = build_counting_part(b, &v, build_tangent(b, eval[1], v.a));
  damo_var *data = d ? build_sandwich(b, &v, d, node->in[2]) : NULL;
  rout[0] = data ? build_neg(b, data) : NULL;
  return b->status;
}

/* A alone is differentiable. */
static void sp_factor_inverse_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) connected[i] = i == 1 && node->n_in == 3;
}

static const op_def sp_factor_inverse_def = {
    .name = "FactorInverse",
    .library = "SuiteSparse",
    .doc = "the entries of the transposed inverse at the stored positions of P: (F, A, P), A for the gradient",
    .props = PROPS(PROP(sp_inverse_props, positive)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(factor_fields),
    .init = sp_inverse_init,
    .infer_type = sp_factor_inverse_type,
    .perform = sp_factor_inverse_perform,
    .grad = sp_factor_inverse_grad,
    .rop = sp_factor_inverse_rop,
    .infer_shape = sp_factor_entries_shape,
    .connection_pattern = sp_factor_inverse_connect,
    OP_CHECK(factor_inverse_check),
};

/* ---- FactorSandwich ---------------------------------------------------------------------------------------------- */

static damo_status sp_factor_sandwich_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_inverse_check_inputs(op, in, n_in, 4));
  const damo_dtype w = dtype_to_float(var_dtype(in[n_in - 2]));
  return type_give_dense(op, out, dtype_promote(var_dtype(in[0]), w), 1, NULL);
}

/* A run of FactorSandwich. The columns computed are those whose row of P has entries. */
typedef struct sandwich_run_state {
  damo_ctx *ctx;
  damo_factor *f;
  damo_sparse *w;
  const damo_sparse *places; /* P as csr, its data the numbers of P's entries */
  damo_array *out;
} sandwich_run_state;

static int64_t sandwich_place(const damo_array *v, int64_t k) {
  return array_dtype(v) == DAMO_INT64 ? ((const int64_t *)(const void *)v->data)[k]
                                      : ((const int32_t *)(const void *)v->data)[k];
}

/* These k columns of A⁻¹·W·A⁻¹; NULL: the pending error. */
static damo_array *sandwich_block(const sandwich_run_state *s, const int64_t *columns, int64_t k) {
  const int64_t shape[2] = {s->w->shape[0], k};
  damo_array *units = array_empty(s->ctx, array_dtype(s->out), 2, shape);
  if (units == NULL) return NULL;
  const size_t size = dtype_size(array_dtype(units));
  memset(units->data, 0, (size_t)(shape[0] * k) * size);
  for (int64_t c = 0; c < k; c++) {
    const int64_t at[2] = {columns[c], c};
    array_set(units, at, scalar_cast((scalar){.dtype = DAMO_FLOAT64, .v.f = 1}, array_dtype(units)));
  }
  damo_array *first = factor_solve(s->f, FACTOR_A, units, NULL);
  damo_array *product = first ? sparse_dot_dense(s->w, false, NULL, first, NULL) : NULL;
  damo_array *second = product ? factor_solve(s->f, FACTOR_A, product, NULL) : NULL;
  damo_release(units);
  damo_release(first);
  damo_release(product);
  return second;
}

/* Copies those entries of the block that are at P's positions to the output. */
static void sandwich_take_entries(const sandwich_run_state *s, const damo_array *block, const int64_t *columns,
                                  int64_t k) {
  const int64_t *number = (const int64_t *)(const void *)s->places->data->data;
  for (int64_t c = 0; c < k; c++) {
    const int64_t end = sandwich_place(s->places->indptr, columns[c] + 1);
    for (int64_t e = sandwich_place(s->places->indptr, columns[c]); e < end; e++) {
      const int64_t from[2] = {sandwich_place(s->places->indices, e), c};
      array_set(s->out, &number[e], scalar_cast(array_get(block, from), array_dtype(s->out)));
    }
  }
}

static damo_status sandwich_run(const sandwich_run_state *s) {
  int64_t columns[SANDWICH_COLUMNS], k = 0;
  const int64_t n = s->places->shape[0];
  for (int64_t i = 0; i < n; i++) {
    if (sandwich_place(s->places->indptr, i + 1) > sandwich_place(s->places->indptr, i)) columns[k++] = i;
    if (k < SANDWICH_COLUMNS && (i < n - 1 || k == 0)) continue;
    damo_array *block = sandwich_block(s, columns, k);
    if (block == NULL) return damo_error_status(s->ctx);
    sandwich_take_entries(s, block, columns, k);
    damo_release(block);
    k = 0;
  }
  return DAMO_OK;
}

/* P as csr with the numbers of its entries as data; NULL: memory error. */
static damo_sparse *sandwich_numbered(const damo_sparse *p) {
  const int64_t n = sparse_nnz(p);
  damo_array *numbers = array_empty(p->obj.ctx, DAMO_INT64, 1, &n);
  if (numbers == NULL) return NULL;
  for (int64_t k = 0; k < n; k++) ((int64_t *)(void *)numbers->data)[k] = k;
  damo_sparse *own = sparse_with_data(p, numbers), *csr = own ? sparse_to_format(own, DAMO_CSR) : NULL;
  damo_release(numbers);
  damo_release(own);
  return csr;
}

static damo_status sp_factor_sandwich_perform(const thunk *t, frame *f) {
  const damo_dtype dt = t->node->out[0]->type->dtype;
  const damo_sparse *p = thunk_in_sparse(t, f, t->n_in - 1);
  sandwich_run_state s = {.ctx = f->ctx, .f = thunk_in_factor(t, f, 0)};
  damo_status status = DAMO_EMEMORY;
  damo_sparse *places = sandwich_numbered(p);
  s.w = places ? sparse_cast(thunk_in_sparse(t, f, t->n_in - 2), dt) : NULL;
  s.places = places;
  s.out = s.w ? thunk_out(t, f, 0, dt, 1, (const int64_t[]){sparse_nnz(p)}) : NULL;
  if (s.out != NULL) status = sandwich_run(&s);
  damo_release(places);
  damo_release(s.w);
  return status;
}

/* The map is linear in W, and its adjoint exchanges W and P. (Third derivatives of determinants are not
 * implemented.) */
static damo_status sp_factor_sandwich_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const factor_var v = factor_of_node(node, 4);
  damo_var *w = node->in[node->n_in - 2], *p = node->in[node->n_in - 1];
  if (gout[0] == NULL) return b->status;
  damo_var *g = build_with_data(b, p, build_conj_if_complex(b, gout[0]));
  gin[node->n_in - 2] = g ? build_with_data(b, w, build_conj_if_complex(b, build_sandwich(b, &v, g, w))) : NULL;
  if (v.a != NULL) gin[1] = build_null(b, "third derivatives of a sparse determinant are not implemented");
  return b->status;
}

static damo_status sp_factor_sandwich_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const factor_var v = factor_of_node(node, 4);
  damo_var *d = build_tangent(b, eval[node->n_in - 2], node->in[node->n_in - 2]);
  if (v.a != NULL && eval[1] != NULL) {
    build_fail(b, DAMO_ENOT_IMPLEMENTED, "FactorSandwich: third derivatives of a sparse determinant");
    return b->status;
  }
  if (d != NULL) rout[0] = build_sandwich(b, &v, d, node->in[node->n_in - 1]);
  return b->status;
}

static void sp_factor_sandwich_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) connected[i] = i > 0 && i < node->n_in - 1;
}

static const op_def sp_factor_sandwich_def = {
    .name = "FactorSandwich",
    .library = "SuiteSparse",
    .doc = "the entries of (A^-1 W A^-1).T at the stored positions of P: (F, A, W, P), A for the gradient",
    .props = PROPS(PROP(sp_inverse_props, positive)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(factor_fields),
    .init = sp_inverse_init,
    .infer_type = sp_factor_sandwich_type,
    .perform = sp_factor_sandwich_perform,
    .grad = sp_factor_sandwich_grad,
    .rop = sp_factor_sandwich_rop,
    .infer_shape = sp_factor_entries_shape,
    .connection_pattern = sp_factor_sandwich_connect,
    OP_CHECK(factor_sandwich_check),
};

const op_def *const sparse_inverse_classes[] = {&sp_factor_inverse_def, &sp_factor_sandwich_def, NULL};
