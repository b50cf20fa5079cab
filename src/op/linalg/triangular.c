/* triangular: SolveTriangular: op(A)·x = b, or x·op(A) = b, where A is a triangle of a, with or without its diagonal
 * taken as ones. The other entries of a are not read, and have no gradient.
 */
#include "core_c.h"
#include "decompose.h"
#include "kernel/lanes/lanes.h"
#include "lapack.h"
#include "op/shape/shape_int.h"

#include <string.h>

static const core_form triangular_forms[3] = {
    {.signature = "(n,n),(n,k)->(n,k)", .in_layout = "e-", .from = "2"},
    {.signature = "(n,n),(k,n)->(k,n)", .in_layout = "e-", .from = "2"},
    {.signature = "(n,n),(n)->(n)", .in_layout = "e-", .from = "2"},
};

static const core_form *triangular_form(const damo_op *op) {
  const triangular_props *p = OP_PROPS(op, triangular_props);
  return &triangular_forms[prop_bool_or(p->vector, false) ? 2 : prop_bool_or(p->right, false) ? 1 : 0];
}

/* A vector is a column, which stands on the right of A. */
static damo_status triangular_check_sides(damo_ctx *ctx, const damo_op *op, const int64_t *dim) {
  const triangular_props *p = OP_PROPS(op, triangular_props);
  (void)dim;
  if (!prop_bool_or(p->vector, false) || !prop_bool_or(p->right, false)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "solve_triangular: with `right` the other operand must be a matrix");
}

void mat_conjugate(const core_mat *m) {
  const int64_t n = m->rows * m->cols;
  if (m->dtype == DAMO_COMPLEX64) {
    for (int64_t i = 0; i < n; i++) ((float *)(void *)m->data)[2 * i + 1] *= -1;
  } else if (m->dtype == DAMO_COMPLEX128) {
    for (int64_t i = 0; i < n; i++) ((double *)(void *)m->data)[2 * i + 1] *= -1;
  }
}

damo_c128 mat_get(const core_mat *m, int64_t i, int64_t j) {
  const scalar v = scalar_load(m->dtype, m->data + i * m->rs + j * m->cs);
  return dtype_is_complex(m->dtype) ? v.v.c : (damo_c128){v.v.f, 0};
}

void mat_put(const core_mat *m, int64_t i, int64_t j, damo_c128 v) {
  char *p = m->data + i * m->rs + j * m->cs;
  const float single[2] = {(float)v.re, (float)v.im};
  const double twice[2] = {v.re, v.im};
  const bool is_single = m->dtype == DAMO_FLOAT32 || m->dtype == DAMO_COMPLEX64;
  memcpy(p, is_single ? (const void *)single : twice, dtype_size(m->dtype));
}

int64_t mat_zero_on_diagonal(const core_mat *m) {
  for (int64_t i = 0; i < m->rows && i < m->cols; i++) {
    const scalar v = scalar_load(m->dtype, m->data + i * (m->rs + m->cs));
    if (dtype_is_complex(m->dtype) ? v.v.c.re == 0 && v.v.c.im == 0 : v.v.f == 0) return i + 1;
  }
  return 0;
}

/* LAPACK sees M = Aᵀ where a lies by rows, else M = A. X lies by rows, so that it sees Xᵀ: op(A)·X = B is
 * Xᵀ·op(A)ᵀ = Bᵀ, X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ. A vector is a column: op(A)·x = b. Conjugation without transposition,
 * which BLAS has not, is done on b and x. */
damo_status mat_solve_triangular(core_call *c, const core_mat *a, const core_mat *x, bool lower, bool unit, char system,
                                 bool right) {
  const lapack_table *la = lapack_of(a->dtype);
  const bool column = x->cols == 1 && !right, seen_t = a->by_rows;
  const bool transposed = (system != 'n') != (column ? seen_t : !seen_t);
  const bool conjugated = system == 'h' && dtype_is_complex(a->dtype);
  const char *uplo = lower != seen_t ? "L" : "U", *trans = !transposed ? "N" : conjugated ? "C" : "T";
  const char *diag = unit ? "U" : "N";
  const lapack_int n = (lapack_int)a->rows, lda = (lapack_int)a->ld;
  const int64_t zero = unit ? 0 : mat_zero_on_diagonal(a);
  if (zero > 0) return core_fail(c, "the matrix is singular: entry %lld of its diagonal is 0", (long long)zero);
  if (conjugated && !transposed) mat_conjugate(x);
  if (column) {
    const lapack_int one = 1;
    la->trsv(uplo, trans, diag, &n, a->data, &lda, x->data, &one, 1, 1, 1);
  } else {
    lapack_trsm(la, right ? 'L' : 'R', *uplo, *trans, *diag, x->cols, x->rows, a->data, a->ld, x->data, x->cols);
  }
  if (conjugated && !transposed) mat_conjugate(x);
  return DAMO_OK;
}

static damo_status triangular_run(core_call *c) {
  const triangular_props *p = OP_PROPS(c->op, triangular_props);
  return mat_solve_triangular(c, &c->in[0], &c->out[0], p->lower.u.i != 0, prop_bool_or(p->unit, false),
                              system_of(p->trans), prop_bool_or(p->right, false));
}

/* X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ. */
static bool triangular_plan_lanes(const core_call *c, core_lane_plan *plan) {
  plan->transposed_in[1] = plan->transposed_out[0] = prop_bool_or(OP_PROPS(c->op, triangular_props)->right, false);
  return true;
}

static void triangular_lanes(const core_call *c, const core_lanes *l) {
  const triangular_props *p = OP_PROPS(c->op, triangular_props);
  const bool right = prop_bool_or(p->right, false), unit = prop_bool_or(p->unit, false);
  const int n = (int)c->in[0].rows, k = (int)(right ? c->in[1].rows : c->in[1].cols);
  if (!unit) l->fns->zero_diagonal(n, l->in[0], l->failed);
  lanes_copy(c, l->out[0], l->in[1], n * k);
  l->fns->substitute(n, k, l->in[0], p->lower.u.i != 0, unit, (system_of(p->trans) != 'n') != right, l->out[0]);
}

static const core_class triangular_class = {.func = "solve_triangular",
                                            .form_of = triangular_form,
                                            .check = triangular_check_sides,
                                            .run = triangular_run,
                                            .plan_lanes = triangular_plan_lanes,
                                            .run_lanes = triangular_lanes,
                                            .emit_c = triangular_emit_c,
                                            .emits_complex = true};

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

damo_var *build_triangular(build *b, const triangular_props *p, damo_var *a, damo_var *x) {
  return build_core_first(b, &solve_triangular_def, p, (damo_var *const[]){a, x}, 2);
}

damo_var *build_triangular_left(build *b, triangle_var t, char system, damo_var *x) {
  const triangular_props props = {.lower = prop_bool(t.lower),
                                  .trans = system_prop(system),
                                  .unit = prop_bool(t.unit),
                                  .right = prop_bool(false),
                                  .vector = prop_bool(false)};
  return build_triangular(b, &props, t.a, x);
}

damo_var *build_triangular_right(build *b, triangle_var t, char system, damo_var *x) {
  const triangular_props props = {.lower = prop_bool(t.lower),
                                  .trans = system_prop(system),
                                  .unit = prop_bool(t.unit),
                                  .right = prop_bool(true),
                                  .vector = prop_bool(false)};
  return build_triangular(b, &props, t.a, x);
}

/* The entries of d that A has. */
static damo_var *build_triangle_of(build *b, const triangular_props *p, damo_var *d) {
  const bool lower = p->lower.u.i != 0, unit = prop_bool_or(p->unit, false);
  return build_triangle(b, d, !unit ? 0 : lower ? -1 : 1, lower);
}

/* x = op(A)⁻¹·b: the gradient of b is g = op(A)⁻ᴴ·x̄, that of op(A) is -g·xᴴ; x = b·op(A)⁻¹: that of op(A) is -xᴴ·g. */
static damo_status triangular_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  triangular_props p = *OP_PROPS(node->op, triangular_props);
  const char system = system_of(p.trans);
  const bool vector = prop_bool_or(p.vector, false), right = prop_bool_or(p.right, false);
  damo_var *a = node->in[0], *x = node->out[0];
  if (gout[0] == NULL) return DAMO_OK;
  char adjoint = system;
  damo_var *ah = build_adjoint_system(b, a, &adjoint);
  p.trans = system_prop(adjoint);
  damo_var *g = build_triangular(b, &p, ah, gout[0]);
  damo_var *ga = !right ? build_system_gradient(b, system, g, x, vector)
                        : build_system_gradient(b, system, build_adjoint(b, x), build_adjoint(b, g), false);
  gin[0] = build_unbroadcast(b, build_triangle_of(b, &p, ga), a);
  gin[1] = build_unbroadcast(b, g, node->in[1]);
  return b->status;
}

static damo_status triangular_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const triangular_props *p = OP_PROPS(node->op, triangular_props);
  const char system = system_of(p->trans);
  damo_var *rhs = eval[1];
  if (eval[0] != NULL) {
    damo_var *d = build_triangle_of(b, p, eval[0]), *x = node->out[0];
    damo_var *moved = prop_bool_or(p->right, false)
                          ? build_matmul(b, x, build_of_system(b, system, d))
                          : build_tangent_product(b, system, d, x, prop_bool_or(p->vector, false));
    rhs = rhs != NULL ? build_sub(b, rhs, moved) : build_neg(b, moved);
  }
  if (rhs != NULL) rout[0] = build_triangular(b, p, node->in[0], rhs);
  return b->status;
}

const op_def solve_triangular_def = {
    .name = "SolveTriangular",
    .library = "LAPACK",
    .doc = "solutions of a stack of triangular systems",
    .props = PROPS(PROP_FLAG(triangular_props, lower), SYSTEM_PROP(triangular_props, trans),
                   PROP_FLAG(triangular_props, unit), PROP_FLAG(triangular_props, right),
                   PROP_FLAG(triangular_props, vector), PROP_WORD_OR_NIL(triangular_props, on_fail, "nan")),
    .n_in = 2,
    CORE_OP(triangular_class),
    .emit_c = core_emit_c,
    .grad = triangular_grad,
    .rop = triangular_rop,
    .terms = TERMS_SOLVED,
    OP_CHECK(triangular_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct triangular_options {
  prop_value lower, trans, unit_diagonal, b_ndim, on_fail;
} triangular_options;

static damo_status fn_solve_triangular(build *b, const fn_args *a, ptrvec *out) {
  const triangular_options *o = FN_OPTIONS(a, triangular_options);
  const int vector = vector_option(b, a, o->b_ndim, a->in[1]);
  const char system = system_option(b, a, o->trans);
  triangular_props props = {.lower = prop_bool(prop_bool_or(o->lower, false)),
                            .unit = prop_bool(prop_bool_or(o->unit_diagonal, false)),
                            .right = prop_bool(false),
                            .vector = prop_bool(vector == 1)};
  if (vector < 0 || system == 0 || !core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  props.trans = system_prop(system);
  return fn_give(b, out, build_triangular(b, &props, a->in[0], a->in[1]));
}

/* L·Lᴴ·x = b by two systems, whose gradients are those of the factor and of b. */
static damo_status fn_cho_solve(build *b, const fn_args *a, ptrvec *out) {
  const triangular_options *o = FN_OPTIONS(a, triangular_options);
  const int vector = vector_option(b, a, o->b_ndim, a->in[1]);
  const bool lower = prop_bool_or(o->lower, false);
  triangular_props props = {.lower = prop_bool(lower),
                            .trans = system_prop(lower ? 'n' : 'h'),
                            .unit = prop_bool(false),
                            .right = prop_bool(false),
                            .vector = prop_bool(vector == 1)};
  if (vector < 0 || !core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  damo_var *x = build_triangular(b, &props, a->in[0], a->in[1]);
  props.trans = system_prop(lower ? 'h' : 'n');
  return fn_give(b, out, x != NULL ? build_triangular(b, &props, a->in[0], x) : NULL);
}

const op_func linalg_triangular_funcs[] = {
    {.name = "linalg.solve_triangular",
     .operands = "a b",
     .options = OPTIONS(OPT(triangular_options, lower, OPT_BOOL), OPT(triangular_options, trans, OPT_ANY),
                        OPT(triangular_options, unit_diagonal, OPT_BOOL), OPT(triangular_options, b_ndim, OPT_INT),
                        OPT(triangular_options, on_fail, OPT_STR)),
     .call = fn_solve_triangular,
     .no_method = true,
     .doc = "x of a·x = b, where only the upper triangle of a counts, or with lower=true the lower one"},
    {.name = "linalg.cho_solve",
     .operands = "c b",
     .options = OPTIONS(OPT(triangular_options, lower, OPT_BOOL), OPT(triangular_options, b_ndim, OPT_INT),
                        OPT(triangular_options, on_fail, OPT_STR)),
     .call = fn_cho_solve,
     .no_method = true,
     .doc = "x of a·x = b, given the Cholesky factor c of a: upper, or with lower=true lower"},
    {.name = NULL},
};

const op_def *const linalg_triangular_classes[] = {&solve_triangular_def, NULL};
