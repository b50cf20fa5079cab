/* svd: SVD, SingularValues: A = U·diag(s)·Vᴴ with s descending; in the reduced form U has min(m, n) columns and Vᴴ as many
 * rows, in the full form both are square.
 *
 * The divide and conquer of LAPACK's gesdd. Matrices lie by rows, so LAPACK sees Aᵀ = V̄·diag(s)·Uᵀ and writes both
 * factors by rows.
 *
 * Gradient (Giles, An extended collection of matrix derivative results, 2008; Wan and Zhang, Automatic differentiation
 * for complex valued SVD, 2019): with W = sk(Uᴴ·gU), Y = sk(Vᴴ·gV) and sk(X) = X - Xᴴ,
 *
 *   gA = U·[E∘(W·S + S·Y) + diag(gs)]·Vᴴ + (I - U·Uᴴ)·gU·S⁻¹·Vᴴ + U·S⁻¹·gVᴴ·(I - V·Vᴴ),
 *   E(i, j) = 1/(s(j)² - s(i)²).
 *
 * E∘(W·S + S·Y) is computed as half of (W + Y)(i, j)/(s(j) - s(i)) + (W - Y)(i, j)/(s(j) + s(i)): where two singular
 * values are equal, W + Y is 0 for a function that does not depend on how their vectors are chosen. The second quotient's
 * diagonal is the term of the phases of complex vectors. Of full factors, the columns beyond min(m, n) span a space in
 * which they may turn freely; the gradient is that of the space.
 */
#include "core_c.h"
#include "spectral.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <string.h>

typedef struct svd_props {
  prop_value full_matrices, on_fail;
} svd_props;

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static bool svd_has_factors(const core_call *c) { return c->n_out == 3; }
static bool svd_is_full(const damo_op *op) { return prop_bool_or(OP_PROPS(op, svd_props)->full_matrices, false); }

static const char *svd_job(const core_call *c) { return !svd_has_factors(c) ? "N" : svd_is_full(c->op) ? "A" : "S"; }

static size_t round_up_64(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* The parts of the workspace, one after the other. */
typedef struct svd_space {
  size_t work, rwork, iwork, total; /* offsets */
  lapack_int lwork;
} svd_space;

static svd_space svd_plan(const core_call *c) {
  const lapack_int m = (lapack_int)c->in[0].cols, n = (lapack_int)c->in[0].rows, query = -1;
  const lapack_int ldu = m > 0 ? m : 1, ldv = n > 0 ? n : 1;
  const size_t size = dtype_size(c->dtype), real = dtype_is_complex(c->dtype) ? size / 2 : size;
  const size_t least = (size_t)(m < n ? m : n), most = (size_t)(m < n ? n : m);
  double answer[2] = {0, 0};
  lapack_int info = 0;
  svd_space s = {.lwork = 1};
  if (least == 0) return s;
  lapack_of(c->dtype)->gesdd(svd_job(c), &m, &n, NULL, &ldu, NULL, NULL, &ldu, NULL, &ldv, answer, &query, NULL, NULL,
                             &info, 1);
  s.lwork = lapack_work_length(c->dtype, answer);
  const size_t by_columns = 5 * least * least + 5 * least, by_rows = 2 * most * least + 2 * least * least + least;
  s.rwork = round_up_64((size_t)s.lwork * size);
  s.iwork = s.rwork;
  if (dtype_is_complex(c->dtype)) {
    const size_t n_real = !svd_has_factors(c) ? 7 * least : by_columns > by_rows ? by_columns : by_rows;
    s.iwork = s.rwork + round_up_64(n_real * real);
  }
  s.total = s.iwork + 8 * least * sizeof(lapack_int);
  return s;
}

static size_t svd_workspace(const core_call *c) { return svd_plan(c).total; }

static void fill_identity(const core_mat *m) {
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) mat_put(m, i, j, (damo_c128){i == j, 0});
}

static damo_status svd_run(core_call *c) {
  const core_mat *a = &c->in[0], *u = &c->out[0], *vh = &c->out[2], *s = svd_has_factors(c) ? &c->out[1] : u;
  /* A copy without gaps; ld is that of a column where it has one row or one column. */
  const lapack_int m = (lapack_int)a->cols, n = (lapack_int)a->rows, ld = m > 0 ? m : 1;
  if (m == 0 || n == 0) {
    if (svd_has_factors(c)) fill_identity(u), fill_identity(vh);
    return DAMO_OK;
  }
  DAMO_TRY(spectral_check_finite(c, a)); /* with an infinite entry gesdd may iterate forever */
  const svd_space space = svd_plan(c);
  const lapack_int ldu = m, ldv = svd_has_factors(c) ? (lapack_int)u->cols : 1;
  lapack_int info = 0;
  lapack_of(c->dtype)->gesdd(svd_job(c), &m, &n, a->data, &ld, s->data, svd_has_factors(c) ? vh->data : NULL, &ldu,
                             svd_has_factors(c) ? u->data : NULL, &ldv, c->work, &space.lwork, c->work + space.rwork,
                             (lapack_int *)(void *)(c->work + space.iwork), &info, 1);
  return spectral_outcome(c, info, "the iteration for the singular values did not converge");
}

/* The workspace of the vectors has more than 4 numbers for each of the least length squared, which LAPACK counts in 32
 * bits. */
static damo_status svd_check_size(damo_ctx *ctx, const damo_op *op, const int64_t *dim) {
  const int64_t most = 23000, least = dim[0] < dim[1] ? dim[0] : dim[1];
  (void)op;
  if (least <= most) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE,
                  "svd: a matrix is %lld x %lld, LAPACK's routine takes one length above %lld at most; svdvals takes "
                  "larger matrices",
                  (long long)dim[0], (long long)dim[1], (long long)most);
}

static const core_form svd_full_form = {.signature = "(m,n)->(m,m),(min(m,n)),(n,n)", .out = "frf", .in_layout = "R"};
static const core_form svd_reduced_form = {
    .signature = "(m,n)->(m,min(m,n)),(min(m,n)),(min(m,n),n)", .out = "frf", .in_layout = "R"};

static const core_form *svd_form(const damo_op *op) {
  return prop_bool_or(*op_prop(op, "full_matrices"), false) ? &svd_full_form : &svd_reduced_form;
}

static const core_class svd_class = {.func = "svd",
                                     .needs_lapack = core_needs_lapack,
                                     .form_of = svd_form,
                                     .check = svd_check_size,
                                     .workspace = svd_workspace,
                                     .run = svd_run,
                                     .emit_c = svd_emit_c,
                                     .emits_complex = true};
static const core_class svdvals_class = {.func = "svdvals",
                                         .needs_lapack = core_needs_lapack,
                                         .form = {.signature = "(m,n)->(min(m,n))", .out = "r", .in_layout = "R"},
                                         .workspace = svd_workspace,
                                         .run = svd_run,
                                         .emit_c = svdvals_emit_c,
                                         .emits_complex = true};

/* ---- Gradient ---------------------------------------------------------------------------------------------------- */

damo_apply *build_svd(build *b, damo_var *x, bool full) {
  const svd_props props = {.full_matrices = prop_bool(full)};
  return build_core(b, &svd_def, &props, &x, 1);
}

damo_var *build_svdvals(build *b, damo_var *x) { return build_core_first(b, &svdvals_def, NULL, &x, 1); }

damo_var *build_values_alone(build *b, const damo_apply *node) {
  const op_def *def = node->op->def;
  const svd_props props = {.on_fail = *op_prop(node->op, "on_fail")};
  if (def == &svd_def) return build_core_first(b, &svdvals_def, &props, node->in, 1);
  return build_core_first(b, def == &eigh_def ? &eigvalsh_def : &eigvals_def, node->op->props, node->in, 1);
}

/* The columns of x before, or from `at` on, an int64 scalar. */
static damo_var *columns_before(build *b, damo_var *x, damo_var *at) {
  return x == NULL ? NULL : build_slice(b, x, var_ndim(x) - 1, NULL, at, 1);
}
static damo_var *columns_from(build *b, damo_var *x, damo_var *at) {
  return x == NULL ? NULL : build_slice(b, x, var_ndim(x) - 1, at, NULL, 1);
}
static damo_var *svd_rows_from(build *b, damo_var *x, damo_var *at) {
  return x == NULL ? NULL : build_slice(b, x, var_ndim(x) - 2, at, NULL, 1);
}

static damo_var *svd_times(build *b, damo_var *x, damo_var *y) { return x && y ? build_matmul(b, x, y) : NULL; }
static damo_var *svd_row(build *b, damo_var *s) { return build_new_axis(b, s, s == NULL ? 0 : var_ndim(s) - 1); }

/* The greatest moduli of gu and of gv, added up, as a 1 × 1 matrix. */
static damo_var *svd_scale(build *b, damo_var *gu, damo_var *gv) {
  damo_var *sum = NULL;
  for (int i = 0; i < 2; i++) {
    damo_var *g = i == 0 ? gu : gv;
    if (g == NULL) continue;
    sum = build_add_present(b, sum, build_row_max(b, build_abs(b, g), 2));
  }
  return sum;
}

/* What one factor's cotangent adds. */
typedef struct svd_side {
  damo_var *inner; /* sk(Uᴴ·gU), k × k */
  damo_var *outer; /* (I - U·Uᴴ)·gU·S⁻¹, m × k; NULL: 0, since U is square */
  damo_var *tall;  /* whether m > k: outer is 0 else; NULL where it is known to hold */
} svd_side;

/* u: m × k, or m × m if full; g: of u's shape. */
static svd_side svd_side_of(build *b, damo_var *u, damo_var *g, damo_var *s, damo_var *k, bool full) {
  svd_side side = {NULL, NULL, NULL};
  damo_var *w = svd_times(b, build_adjoint(b, u), g);
  if (w == NULL) return side;
  const int row = var_ndim(u) - 2;
  const int64_t rows = u->type->shape[row], values = s->type->shape[var_ndim(s) - 1];
  const bool square = rows >= 0 && rows == values;
  damo_var *skew = build_sub(b, w, build_adjoint(b, w)), *rest = NULL;
  side.inner = skew;
  if (full && !square) {
    side.inner = columns_before(b, build_slice(b, skew, row, NULL, k, 1), k);
    rest = svd_times(b, columns_from(b, u, k), columns_before(b, svd_rows_from(b, skew, k), k));
  } else if (!square) {
    rest = build_sub(b, g, svd_times(b, u, w));
  }
  if (rest != NULL) side.outer = build_gap_quotient(b, GAP_VALUE, rest, s, g);
  if (rest != NULL && (rows < 0 || values < 0)) side.tall = build_gt(b, build_dim(b, u, row), k);
  return side;
}

/* g + term, or g alone where the side's outer part, of which the term is made, is 0: it is then not computed. */
static damo_var *svd_add_outer(build *b, const svd_side *side, damo_var *g, damo_var *term) {
  damo_var *sum = build_add_present(b, g, term);
  return side->tall != NULL && g != NULL && sum != NULL ? build_ifelse(b, side->tall, sum, g) : sum;
}

static damo_status svd_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *u = node->out[0], *s = node->out[1], *vh = node->out[2];
  damo_var *gu = gout[0], *gs = gout[1], *gv = gout[2] != NULL ? build_adjoint(b, gout[2]) : NULL;
  const bool full = svd_is_full(node->op);
  damo_var *k = build_dim(b, s, var_ndim(s) - 1);
  damo_var *u1 = full ? columns_before(b, u, k) : u, *v1h = full ? build_slice(b, vh, var_ndim(s) - 1, NULL, k, 1) : vh;
  svd_side left = {NULL, NULL, NULL}, right = {NULL, NULL, NULL};
  if (gu != NULL) left = svd_side_of(b, u, gu, s, k, full);
  if (gv != NULL) right = svd_side_of(b, build_adjoint(b, vh), gv, s, k, full);
  if (b->status != DAMO_OK || (gu == NULL && gs == NULL && gv == NULL)) return b->status;
  damo_var *grad = gs != NULL ? build_mul(b, u1, svd_row(b, gs)) : NULL;
  if (left.inner != NULL || right.inner != NULL) {
    damo_var *scale = svd_scale(b, gu, gv);
    damo_var *sum = build_add_present(b, left.inner, right.inner), *difference = left.inner;
    if (right.inner != NULL)
      difference = left.inner != NULL ? build_sub(b, left.inner, right.inner) : build_neg(b, right.inner);
    damo_var *inner = build_add(b, build_gap_quotient(b, GAP_DIFFERENCE, sum, s, scale),
                                build_gap_quotient(b, GAP_SUM, difference, s, scale));
    grad = build_add_present(b, grad, svd_times(b, u1, build_mul(b, inner, build_num(b, 0.5))));
  }
  if (left.outer != NULL) grad = svd_add_outer(b, &left, grad, left.outer);
  if (grad != NULL) grad = svd_times(b, grad, v1h);
  if (right.outer != NULL) grad = svd_add_outer(b, &right, grad, svd_times(b, u1, build_adjoint(b, right.outer)));
  gin[0] = grad;
  return b->status;
}

static damo_status svdvals_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return b->status;
  damo_apply *svd = build_svd(b, node->in[0], false);
  if (svd == NULL) return b->status;
  gin[0] = svd_times(b, build_mul(b, svd->out[0], svd_row(b, gout[0])), svd->out[2]);
  return b->status;
}

const op_def svd_def = {
    .name = "SVD",
    .library = "LAPACK",
    .doc = "singular value decomposition of a stack of matrices",
    .props = PROPS(PROP_FLAG(svd_props, full_matrices), PROP_WORD_OR_NIL(svd_props, on_fail, "nan")),
    .n_in = 1,
    .n_out = 3,
    CORE_OP(svd_class),
    .emit_c = core_emit_c,
    .grad = svd_grad,
    OP_CHECK(svd_check),
};

const op_def svdvals_def = {
    .name = "SingularValues",
    .library = "LAPACK",
    .doc = "singular values of a stack of matrices",
    .props = PROPS(PROP_FLAG(svd_props, full_matrices), PROP_WORD_OR_NIL(svd_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(svdvals_class),
    .emit_c = core_emit_c,
    .grad = svdvals_grad,
    OP_CHECK(svdvals_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct svd_options {
  prop_value full_matrices, compute_uv, on_fail;
} svd_options;

static damo_status fn_svd(build *b, const fn_args *a, ptrvec *out) {
  const svd_options *o = FN_OPTIONS(a, svd_options);
  svd_props props = {.full_matrices = prop_bool(prop_bool_or(o->full_matrices, true))};
  if (!core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  if (!prop_bool_or(o->compute_uv, true)) {
    props.full_matrices = prop_nil();
    return fn_give(b, out, build_core_first(b, &svdvals_def, &props, a->in, 1));
  }
  damo_apply *svd = build_core(b, &svd_def, &props, a->in, 1);
  if (svd == NULL) return b->status;
  for (int i = 0; i < 3; i++) DAMO_TRY(ptrvec_push(out, svd->out[i]));
  return DAMO_OK;
}

static damo_status fn_svdvals(build *b, const fn_args *a, ptrvec *out) {
  svd_props props = {.full_matrices = prop_nil()};
  if (!core_on_fail(b, a, FN_OPTIONS(a, svd_options)->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_core_first(b, &svdvals_def, &props, a->in, 1));
}

const op_func linalg_svd_funcs[] = {
    {.name = "linalg.svd",
     .operands = "a",
     .options = OPTIONS(OPT(svd_options, full_matrices, OPT_BOOL), OPT(svd_options, compute_uv, OPT_BOOL),
                        OPT(svd_options, on_fail, OPT_STR)),
     .call = fn_svd,
     .no_method = true,
     .doc = "u, s, vh with a = u·diag(s)·vh, s descending; with full_matrices=false u and vh are reduced; with "
            "compute_uv=false s alone"},
    {.name = "linalg.svdvals",
     .operands = "a",
     .options = OPTIONS(OPT(svd_options, on_fail, OPT_STR)),
     .call = fn_svdvals,
     .no_method = true,
     .doc = "singular values, greatest first"},
    {.name = NULL},
};

const op_def *const linalg_svd_classes[] = {&svd_def, &svdvals_def, &gap_def, NULL};
