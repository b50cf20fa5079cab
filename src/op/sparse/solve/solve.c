/* solve: systems of equations with a factor.
 *
 * FactorSolve (F, A, b) or (F, b), with system 'n', 't', 'h': x with B·x = b, where B is A, Aᵀ or Aᴴ; b is a dense
 * vector or matrix, or a sparse matrix, and x of b's kind. Its gradient for b is z, the solution of the adjoint system
 * with the same factor; for A it is −z·xᴴ (turned for Aᵀ and Aᴴ), at A's stored places alone.
 *
 * Where A is rectangular x = B⁺·b, with the pseudo-inverse or what stands for it (sparse/factor/factor.h), and A's gradient and
 * tangent have more terms (as in lstsq.c), of columns that count where minimum_norm says so
 * (rectangular.h).
 */
#include "rectangular.h"
#include "op/elem/build_arith.h"

typedef struct sp_factor_solve_props {
  prop_value system, positive, minimum_norm;
} sp_factor_solve_props;

static const op_def sp_factor_solve_def;

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static damo_status sp_factor_solve_check_inputs(const damo_op *op, damo_var *const *in, int n_in) {
  DAMO_TRY(type_need_system(op, in, n_in, false));
  if (n_in == 3) DAMO_TRY(type_need_same_length(op, in, 0, 0, 1, 0));
  const damo_var *rhs = in[n_in - 1];
  char got[320];
  if (!type_has_shape(rhs->type) || (var_is_dense(rhs) && (var_ndim(rhs) < 1 || var_ndim(rhs) > 2))) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE,
                    "FactorSolve: the right side must be a vector, a matrix or a sparse matrix, got %s",
                    type_format(got, sizeof got, rhs->type));
  }
  return type_need_right_rows(op, in, n_in, system_right_axis(op));
}

static damo_status sp_factor_solve_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(sp_factor_solve_check_inputs(op, in, n_in));
  const damo_var *rhs = in[n_in - 1];
  const damo_dtype dt = dtype_promote(var_dtype(in[0]), dtype_to_float(var_dtype(rhs)));
  const int64_t rows = in[0]->type->shape[1 - system_right_axis(op)];
  int64_t shape[2] = {rows, var_ndim(rhs) == 2 ? rhs->type->shape[1] : 1};
  if (rect_is_of_columns(op)) shape[1] = -1;
  if (var_is_dense(rhs)) return type_give_dense(op, out, dt, rect_is_of_columns(op) ? 2 : var_ndim(rhs), shape);
  return type_give_sparse(op, out, var_format_of(rhs), dt, var_itype(rhs), rows, shape[1]);
}

static damo_status sp_factor_solve_sparse(const thunk *t, frame *f, factor_system system, damo_sparse *b) {
  damo_factor *factor = thunk_in_factor(t, f, 0);
  if (rect_columns_count(t, f)) return thunk_give_sparse(t, f, 0, factor_solve_sparse(factor, system, b));
  damo_sparse *none = rect_no_columns(b, factor_solution_rows(factor, system));
  damo_sparse *out = none != NULL ? sparse_cast(none, t->node->out[0]->type->dtype) : NULL;
  damo_release(none);
  return thunk_give_sparse(t, f, 0, out);
}

static damo_status sp_factor_solve_perform(const thunk *t, frame *f) {
  const factor_system system = system_number(t->node->op);
  damo_factor *factor = thunk_in_factor(t, f, 0);
  const int rhs = t->n_in - 1, ndim = t->node->out[0]->type->ndim;
  if (thunk_in_is_sparse(t, f, rhs)) return sp_factor_solve_sparse(t, f, system, thunk_in_sparse(t, f, rhs));
  const damo_array *b = thunk_in(t, f, rhs);
  const bool all = rect_columns_count(t, f);
  const int64_t shape[2] = {factor_solution_rows(factor, system), !all ? 0 : b->ndim == 2 ? array_shape(b)[1] : 1};
  damo_array *out = thunk_out(t, f, 0, t->node->out[0]->type->dtype, ndim, shape);
  if (out == NULL || !all) return out != NULL ? DAMO_OK : damo_error_status(f->ctx);
  damo_array *right = ndim == b->ndim ? damo_retain((void *)(uintptr_t)b) : rect_as_columns(b);
  damo_array *x = right != NULL ? factor_solve(factor, system, right, out) : NULL;
  damo_release(right);
  if (x == NULL) return damo_error_status(f->ctx);
  damo_release(x);
  return DAMO_OK;
}

/* when: NULL, or a value for minimum_norm. */
static damo_var *build_solve(build *b, const factor_var *v, char system, const bool *when, damo_var *rhs) {
  const char name[2] = {system, '\0'};
  const sp_factor_solve_props props = {.system = prop_str(name),
                                       .positive = prop_bool(v->positive),
                                       .minimum_norm = when ? prop_bool(*when) : prop_nil()};
  damo_apply *node = build_factor_apply(b, &sp_factor_solve_def, &props, 3, v, &rhs, 1);
  return node != NULL ? node->out[0] : NULL;
}

damo_var *build_factor_solve(build *b, const factor_var *v, char system, damo_var *rhs) {
  return build_solve(b, v, system, NULL, rhs);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* B⁺·x; of its columns where `when` is not NULL. */
static damo_var *build_solution(const system_rule *r, const bool *when, damo_var *x) {
  return build_solve(r->b, &r->v, r->system, when, x);
}

/* B⁺ᴴ·g: what the cotangent g of x is as one of the right side. */
static damo_var *build_adjoint_solution(const system_rule *r, const bool *when, damo_var *g) {
  build *b = r->b;
  if (r->system == 'n') return build_solve(b, &r->v, 'h', when, g);
  if (r->system == 'h') return build_solve(b, &r->v, 'n', when, g);
  return build_conj_if_complex(b, build_solve(b, &r->v, 'n', when, build_conj_if_complex(b, g)));
}

/* A's gradient, from x with the cotangent g, the right side and its cotangent z. */
static damo_var *build_solve_matrix_gradient(const system_rule *r, damo_var *z, damo_var *g, damo_var *x,
                                             damo_var *rhs) {
  build *b = r->b;
  damo_var *rows = build_columns(b, z), *cols = build_columns(b, x);
  const bool o = rect_outside(r), i = rect_inside(r);
  if (r->rectangular) {
    rows = build_rect_beside(b, rows, build_rect_gap(r, o, x, rhs), build_adjoint_solution(r, &i, x));
    cols = build_rect_beside(b, cols, build_solution(r, &o, z), build_rect_adjoint_gap(r, i, z, g));
  }
  damo_var *sum = rows ? build_system_entries(r, build_neg(b, rows), cols) : NULL;
  return sum ? build_with_data(b, r->v.a, sum) : NULL;
}

static damo_status sp_factor_solve_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const system_rule r = system_rule_of(b, node);
  const bool of_columns = rect_is_of_columns(node->op), when = of_columns && rect_when(node->op);
  damo_var *rhs = node->in[node->n_in - 1], *a = r.v.a, *g = gout[0];
  if (g == NULL) return DAMO_OK;
  damo_var *z = build_adjoint_solution(&r, NULL, g), *of_rhs = of_columns ? build_rect_back(&r, when, z, rhs) : z;
  gin[node->n_in - 1] = of_rhs;
  if (a != NULL)
    gin[1] = build_solve_matrix_gradient(&r, z, g, node->out[0], of_columns ? build_rect_taken(&r, when, rhs) : rhs);
  return b->status;
}

/* x' = B⁺·(b' − B'·x + B⁺ᴴ·B'ᴴ·r) + (1 − B⁺·B)·B'ᴴ·u, with r = b − B·x and u = B⁺ᴴ·x, both 0 for a square A */
static damo_status sp_factor_solve_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const system_rule r = system_rule_of(b, node);
  const bool of_columns = rect_is_of_columns(node->op), when = of_columns && rect_when(node->op), o = rect_outside(&r),
             i = rect_inside(&r);
  damo_var *x = node->out[0], *rhs = node->in[node->n_in - 1], *sum = build_tangent(b, eval[node->n_in - 1], rhs);
  damo_var *a = r.v.a, *d = a != NULL && eval[1] != NULL ? build_tangent(b, eval[1], a) : NULL;
  if (of_columns && sum != NULL) sum = build_rect_taken(&r, when, sum);
  if (d == NULL) {
    if (sum != NULL) rout[0] = build_solution(&r, NULL, sum);
    return b->status;
  }
  d = build_counting_part(b, &r.v, d);
  sum = build_difference(b, sum, build_system_times(&r, d, x));
  if (r.rectangular) {
    damo_var *rest =
        build_system_times_adjoint(&r, d, build_rect_gap(&r, o, x, of_columns ? build_rect_taken(&r, when, rhs) : rhs));
    sum = build_difference(b, sum, build_rect_back(&r, o, build_adjoint_solution(&r, NULL, rest), sum));
  }
  rout[0] = sum ? build_solution(&r, NULL, sum) : NULL;
  if (r.rectangular && rout[0] != NULL) {
    damo_var *y = build_system_times_adjoint(&r, d, build_adjoint_solution(&r, &i, x));
    damo_var *rest = build_difference(b, y, build_solution(&r, NULL, build_system_times(&r, a, y)));
    rout[0] = build_add_present(b, rout[0], build_rect_back(&r, i, rest, rout[0]));
  }
  return b->status;
}

static damo_status sp_factor_solve_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  damo_var *const *rhs = in_shape[node->n_in - 1];
  const int64_t *known = node->in[0]->type->shape;
  const bool square = known[0] >= 0 && known[0] == known[1];
  if (node->n_in == 3)
    out_shape[0][0] = in_shape[1][1 - system_right_axis(node->op)];
  else
    out_shape[0][0] = square ? rhs[0] : build_dim(b, node->out[0], 0);
  if (rect_is_of_columns(node->op))
    out_shape[0][1] = build_dim(b, node->out[0], 1);
  else if (var_ndim(node->out[0]) == 2)
    out_shape[0][1] = rhs[1];
  return b->status;
}

static const op_def sp_factor_solve_def = {
    .name = "FactorSolve",
    .doc = "solves A x = b ('n'), A.T x = b ('t') or its conjugate ('h') with a factor: (F, A, b), A for the gradient",
    .props = PROPS(PROP(sp_factor_solve_props, system), PROP(sp_factor_solve_props, positive),
                   PROP(sp_factor_solve_props, minimum_norm)),
    .n_in = OP_VARIADIC,
    .init = system_init,
    .infer_type = sp_factor_solve_type,
    .perform = sp_factor_solve_perform,
    .grad = sp_factor_solve_grad,
    .rop = sp_factor_solve_rop,
    .infer_shape = sp_factor_solve_shape,
    .connection_pattern = connect_all_but_factor,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_SOLVED,
    OP_CHECK(factor_solve_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_solve_with(build *b, const fn_args *a, ptrvec *out, char system) {
  factor_var v;
  if (!factor_operand(b, a, &v)) return b->status;
  return fn_give(b, out, build_factor_solve(b, &v, system, any_operand(b, a, 1)));
}

static damo_status sp_fn_solve(build *b, const fn_args *a, ptrvec *out) { return sp_fn_solve_with(b, a, out, 'n'); }
static damo_status sp_fn_solve_t(build *b, const fn_args *a, ptrvec *out) { return sp_fn_solve_with(b, a, out, 't'); }

const op_func sparse_solve_funcs[] = {
    {.name = "sparse.solve",
     .operands = "A b",
     .options = OPTIONS(OPT(factor_options, assume, OPT_STR), OPT(factor_options, on_fail, OPT_STR)),
     .call = sp_fn_solve,
     .doc = "x with A x = b for a sparse matrix or its factor and a dense or sparse b (least squares or minimum norm "
            "where A is rectangular); assume: 'pos', 'sym' or 'gen'"},
    {.name = "sparse.solve_t",
     .operands = "A b",
     .options = OPTIONS(OPT(factor_options, assume, OPT_STR), OPT(factor_options, on_fail, OPT_STR)),
     .call = sp_fn_solve_t,
     .doc = "x with A.T x = b for a sparse matrix or its factor and a dense or sparse b"},
    {.name = NULL},
};

const op_def *const sparse_solve_classes[] = {&sp_factor_solve_def, NULL};
