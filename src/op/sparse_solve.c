/* sparse_solve: systems of equations with a factor.
 *
 * FactorSolve (F, A, b) or (F, b), with system 'n', 't', 'h': x with op(A)·x = b, where op(A) is A, Aᵀ or Aᴴ; b is a dense
 * vector or matrix, or a sparse matrix, and x of b's kind. Its gradient for b is z, the solution of the adjoint system with
 * the same factor; for A it is −z·xᴴ (turned for Aᵀ and Aᴴ), at A's stored places alone.
 */
#include "sparse_factor.h"

#include <string.h>

static const op_def solve_def;

static char system_of(const damo_op *op) {
  const prop_value *v = op_prop(op, "system");
  return v->kind == PROP_STR ? v->u.s[0] : 'n';
}

static damo_status solve_init(damo_op *op) {
  const prop_value *v = op_prop(op, "system");
  const bool known =
      v->kind == PROP_NIL || (v->kind == PROP_STR && strlen(v->u.s) == 1 && strchr("nth", v->u.s[0]) != NULL);
  if (known) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "FactorSolve: system is 'n', 't' or 'h'");
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static damo_status check_inputs(const damo_op *op, damo_var *const *in, int n_in) {
  if (n_in != 2 && n_in != 3) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "FactorSolve: expected F, A, b or F, b, got %d inputs", n_in);
  }
  DAMO_TRY(need_factor(op->def, in, 0, false));
  if (n_in == 3) {
    DAMO_TRY(need_sparse(op, in, 1));
    DAMO_TRY(need_same_length(op, in, 0, 0, 1, 0));
  }
  const damo_var *rhs = in[n_in - 1];
  char got[320];
  if (!type_has_shape(rhs->type) || (var_is_dense(rhs) && (var_ndim(rhs) < 1 || var_ndim(rhs) > 2))) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE,
                    "FactorSolve: the right side must be a vector, a matrix or a sparse matrix, got %s",
                    type_format(got, sizeof got, rhs->type));
  }
  const int64_t n = in[0]->type->shape[0], rows = rhs->type->shape[0];
  if (n < 0 || rows < 0 || n == rows) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ESHAPE,
                  "FactorSolve: the matrix has shape (%lld, %lld) and the right side %s, expected %lld rows",
                  (long long)n, (long long)n, shape_format(got, sizeof got, rhs->type->ndim, rhs->type->shape),
                  (long long)n);
}

static damo_status solve_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(check_inputs(op, in, n_in));
  const damo_var *rhs = in[n_in - 1];
  const damo_dtype dt = dtype_promote(var_dtype(in[0]), dtype_to_float(var_dtype(rhs)));
  int64_t shape[2] = {rhs->type->shape[0], var_ndim(rhs) == 2 ? rhs->type->shape[1] : 1};
  if (shape[0] < 0) shape[0] = in[0]->type->shape[0];
  if (var_is_dense(rhs)) return give_dense(op, out, dt, var_ndim(rhs), shape);
  return give_sparse(op, out, var_format_of(rhs), dt, var_itype(rhs), shape[0], shape[1]);
}

static damo_status solve_perform(thunk *t) {
  static const char names[] = "nth";
  const factor_system system = (factor_system)(strchr(names, system_of(t->node->op)) - names);
  damo_factor *f = thunk_in_factor(t, 0);
  const int rhs = t->n_in - 1;
  if (thunk_in_is_sparse(t, rhs)) {
    return thunk_give_sparse(t, 0, factor_solve_sparse(f, system, thunk_in_sparse(t, rhs)));
  }
  const damo_array *right = thunk_in(t, rhs);
  damo_array *out = thunk_out(t, 0, t->node->out[0]->type->dtype, right->ndim, array_shape(right));
  damo_array *x = out != NULL ? factor_solve(f, system, right, out) : NULL;
  if (x == NULL) return damo_error_status(t->ctx);
  damo_release(x);
  return DAMO_OK;
}

damo_var *build_factor_solve(build *b, const factor_var *v, char system, damo_var *rhs) {
  const char name[2] = {system, '\0'};
  const prop_value props[2] = {prop_str(name), prop_bool(v->positive)};
  damo_var *with[3] = {v->f, v->a, rhs}, *without[2] = {v->f, rhs};
  if (rhs == NULL || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &solve_def, props, 2), v->a ? with : without, v->a ? 3 : 2);
}

/* ---- Gradients ----------------------------------------------------------------------------------------------------- */

/* z: what the cotangent g of x is as one of the right side: op(A)ᴴ z = g. */
static damo_var *adjoint_solution(build *b, const factor_var *v, char system, damo_var *g) {
  if (system == 'n') return build_factor_solve(b, v, 'h', g);
  if (system == 'h') return build_factor_solve(b, v, 'n', g);
  return build_conj(b, build_factor_solve(b, v, 'n', build_conj(b, g)));
}

/* rows·colsᵀ at A's stored places: a vector. */
static damo_var *samples(build *b, damo_var *a, damo_var *rows, damo_var *cols) {
  if (rows == NULL || cols == NULL || b->status != DAMO_OK) return NULL;
  if (var_is_sparse(rows) && var_is_sparse(cols)) return sparse_samples_both(b, a, rows, cols);
  return sparse_samples(b, a, build_toarray(b, rows), build_toarray(b, cols));
}

static damo_var *matrix_gradient(build *b, const factor_var *v, char system, damo_var *z, damo_var *x) {
  damo_var *zc = build_columns(b, z), *xc = build_columns(b, x), *rows = zc, *cols = build_conj(b, xc);
  if (system == 't') rows = build_conj(b, xc), cols = zc;
  if (system == 'h') rows = xc, cols = build_conj(b, zc);
  damo_var *sum = samples(b, v->a, rows, cols);
  if (v->positive) {
    damo_var *turned = samples(b, v->a, build_conj(b, cols), build_conj(b, rows));
    sum = sum && turned ? build_fn2(b, "mul", build_fn2(b, "add", sum, turned), build_num(b, 0.5)) : NULL;
  }
  return sum ? sparse_with(b, v->a, build_fn1(b, "neg", sum)) : NULL;
}

static damo_status solve_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const factor_var v = factor_of_node(node, 3);
  damo_var *rhs = node->in[node->n_in - 1];
  const char system = system_of(node->op);
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *z = adjoint_solution(b, &v, system, gout[0]);
  gin[node->n_in - 1] = dtype_is_discrete(var_dtype(rhs)) ? build_zero_grad(b, rhs) : z;
  if (v.a == NULL) return b->status;
  gin[1] =
      dtype_is_discrete(var_dtype(v.a)) ? build_zero_grad(b, v.a) : matrix_gradient(b, &v, system, z, node->out[0]);
  return b->status;
}

/* op(D)·x for a tangent D of A. */
static damo_var *tangent_product(build *b, const factor_var *v, char system, damo_var *d, damo_var *x) {
  d = build_counting_part(b, v, build_tangent(b, d, v->a));
  if (system == 'h') d = build_conj(b, d);
  if (system != 'n') d = build_sparse_transpose(b, d);
  if (d == NULL) return NULL;
  return var_is_sparse(x) ? build_structured_dot(b, d, x) : build_sparse_dot(b, d, x);
}

/* x' = op(A)⁻¹·(b' − op(A')·x) */
static damo_status solve_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const factor_var v = factor_of_node(node, 3);
  const char system = system_of(node->op);
  damo_var *sum = build_tangent(b, eval[node->n_in - 1], node->in[node->n_in - 1]);
  if (v.a != NULL && eval[1] != NULL) {
    damo_var *product = tangent_product(b, &v, system, eval[1], node->out[0]);
    sum = sum ? build_fn2(b, "sub", sum, product) : product ? build_fn1(b, "neg", product) : NULL;
  }
  if (sum != NULL) rout[0] = build_factor_solve(b, &v, system, sum);
  return b->status;
}

static damo_status solve_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  for (int k = 0; k < var_ndim(node->out[0]); k++) out_shape[0][k] = in_shape[node->n_in - 1][k];
  return b->status;
}

static const op_def solve_def = {
    .name = "FactorSolve",
    .doc = "solves A x = b ('n'), A.T x = b ('t') or its conjugate ('h') with a factor: (F, A, b), A for the gradient",
    .props = "system positive",
    .n_in = OP_VARIADIC,
    .init = solve_init,
    .infer_type = solve_type,
    .perform = solve_perform,
    .grad = solve_grad,
    .rop = solve_rop,
    .infer_shape = solve_shape,
    .connection_pattern = connect_all_but_factor,
};

/* ---- Functions ----------------------------------------------------------------------------------------------------- */

static damo_status solve_with(build *b, const fn_args *a, ptrvec *out, char system) {
  factor_var v;
  if (!factor_operand(b, a, 0, &v)) return b->status;
  return fn_give(b, out, build_factor_solve(b, &v, system, any_operand(b, a, 1)));
}

static damo_status fn_solve(build *b, const fn_args *a, ptrvec *out) { return solve_with(b, a, out, 'n'); }
static damo_status fn_solve_t(build *b, const fn_args *a, ptrvec *out) { return solve_with(b, a, out, 't'); }

const op_func sparse_solve_funcs[] = {
    {.name = "sparse.solve",
     .operands = "A b",
     .options = "assume:str on_fail:str",
     .call = fn_solve,
     .doc = "x with A x = b for a square sparse matrix or its factor and a dense or sparse b; assume: 'pos', 'sym' or "
            "'gen'"},
    {.name = "sparse.solve_t",
     .operands = "A b",
     .options = "assume:str on_fail:str",
     .call = fn_solve_t,
     .doc = "x with A.T x = b for a square sparse matrix or its factor and a dense or sparse b"},
    {.name = NULL},
};

const op_def *const sparse_solve_classes[] = {&solve_def, NULL};
