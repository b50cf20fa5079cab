/* ldl: LDL: A = W·D·Wᴴ of a Hermitian matrix (or W·D·Wᵀ of a symmetric one), D with diagonal blocks of order 1 and 2, and
 * W a triangle with ones on its diagonal whose rows are permuted: LAPACK's sytrf and hetrf, which pivot by Bunch and
 * Kaufman (1977).
 *
 * Gradient: with M = W⁻¹·dA·W⁻ᴴ, the part of M in D's blocks is dD, and the rest of its triangle, times D⁻¹, is W⁻¹·dW. It
 * holds while the pivots stay.
 */
#include "compose.h"
#include "core_c.h"
#include "decompose.h"
#include "spectral.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

typedef struct ldl_props {
  prop_value lower, hermitian;
} ldl_props;

static bool ldl_is_lower(const damo_op *op) { return prop_bool_or(OP_PROPS(op, ldl_props)->lower, true); }
static bool ldl_is_hermitian(const damo_op *op) { return prop_bool_or(OP_PROPS(op, ldl_props)->hermitian, true); }

static lapack_int ldl_work_length(const core_call *c) {
  const lapack_table *la = lapack_of(c->dtype);
  const lapack_int n = (lapack_int)c->in[0].rows, ld = n > 1 ? n : 1, query = -1;
  double work[2] = {0};
  lapack_int info = 0, ipiv = 0;
  (ldl_is_hermitian(c->op) ? la->hetrf : la->sytrf)("L", &n, work, &ld, &ipiv, work, &query, &info, 1);
  return lapack_work_length(c->dtype, work);
}

static size_t ldl_pivot_bytes(const core_call *c) {
  return ((size_t)c->in[0].rows * sizeof(lapack_int) + 63) & ~(size_t)63;
}

static size_t ldl_workspace(const core_call *c) {
  return ldl_pivot_bytes(c) + (size_t)ldl_work_length(c) * dtype_size(c->dtype);
}

/* The blocks of D, and W without its permutation, out of the factored triangle. */
static void ldl_unpack(const core_call *c, const lapack_int *ipiv, bool lower) {
  const core_mat *a = &c->in[0], *w = &c->out[0], *d = &c->out[1];
  const int64_t n = a->rows;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) {
      const bool stored = lower ? i > j : i < j;
      mat_put(w, i, j, stored ? mat_get(a, i, j) : (damo_c128){i == j, 0});
      mat_put(d, i, j, (damo_c128){0, 0});
    }
    damo_c128 v = mat_get(a, j, j);
    if (ldl_is_hermitian(c->op)) v.im = 0;
    mat_put(d, j, j, v);
  }
  for (int64_t k = 0; k + 1 < n; k++) {
    if (ipiv[k] > 0) continue;
    const int64_t row = lower ? k + 1 : k, col = lower ? k : k + 1;
    damo_c128 v = mat_get(a, row, col);
    mat_put(d, row, col, v);
    if (ldl_is_hermitian(c->op)) v.im = -v.im;
    mat_put(d, col, row, v);
    mat_put(w, row, col, (damo_c128){0, 0});
    k++;
  }
}

static void ldl_swap_rows(const core_call *c, int64_t i, int64_t j, int64_t from, int64_t to) {
  const core_mat *w = &c->out[0];
  int64_t *order = (int64_t *)(void *)c->out[2].data, was = order[i];
  if (i == j) return;
  for (int64_t k = from; k < to; k++) {
    const damo_c128 v = mat_get(w, i, k);
    mat_put(w, i, k, mat_get(w, j, k));
    mat_put(w, j, k, v);
  }
  order[i] = order[j], order[j] = was;
}

/* W = P1·L1·P2·L2 …, of whose factors LAPACK gives the columns and the swaps: the swaps of a step move the rows of the
 * columns of this and of the later steps. An upper triangle has its steps from the last column on. */
static void ldl_permute(const core_call *c, const lapack_int *ipiv, bool lower) {
  const int64_t n = c->in[0].rows;
  int64_t *order = (int64_t *)(void *)c->out[2].data;
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t k = lower ? n - 1 : 0; k >= 0 && k < n; k += lower ? -1 : 1) {
    const bool pair = ipiv[k] < 0;
    const int64_t other = (pair ? -ipiv[k] : ipiv[k]) - 1;
    if (lower)
      ldl_swap_rows(c, k, other, pair ? k - 1 : k, n);
    else
      ldl_swap_rows(c, k, other, 0, pair ? k + 2 : k + 1);
    if (pair) k += lower ? -1 : 1;
  }
}

static damo_status ldl_run(core_call *c) {
  const lapack_table *la = lapack_of(c->dtype);
  const core_mat *a = &c->in[0];
  const bool lower = ldl_is_lower(c->op);
  const lapack_int n = (lapack_int)a->rows, ld = (lapack_int)a->ld, length = ldl_work_length(c);
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  int64_t *order = (int64_t *)(void *)c->out[2].data;
  if (n == 0) return DAMO_OK;
  DAMO_TRY(spectral_check_triangle(c, a, lower));
  (ldl_is_hermitian(c->op) ? la->hetrf : la->sytrf)(lower ? "L" : "U", &n, a->data, &ld, ipiv,
                                                    c->work + ldl_pivot_bytes(c), &length, &info, 1);
  /* A positive one tells that D is singular, which is no failure. */
  if (info < 0) return spectral_outcome(c, info, "");
  ldl_unpack(c, ipiv, lower);
  ldl_permute(c, ipiv, lower);
  /* order[i] is the row of the triangle that stands at i; asked for is where the rows of the triangle stand. */
  for (lapack_int i = 0; i < n; i++) ipiv[order[i]] = i + 1;
  for (lapack_int i = 0; i < n; i++) order[i] = ipiv[i];
  return DAMO_OK;
}

static const core_class ldl_class = {
    .func = "ldl",
    .needs_lapack = core_needs_lapack,
    .form = {.signature = "(n,n)->(n,n),(n,n),(n)", .out = "ffi", .in_layout = "C"},
    .workspace = ldl_workspace,
    .run = ldl_run,
    .emit_c = ldl_emit_c,
};

static damo_status ldl_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const bool lower = ldl_is_lower(node->op), hermitian = ldl_is_hermitian(node->op);
  damo_var *w = node->out[0], *d = node->out[1], *zero = build_num(b, 0), *g = NULL;
  if (gout[0] == NULL && gout[1] == NULL) return b->status;
  const int last = var_ndim(d) - 1;
  damo_var *eye = build_eye(b, build_dim(b, d, last), build_dim(b, d, last), DAMO_BOOL);
  damo_var *blocks = build_or_(b, build_neq(b, d, zero), eye), *wh = build_adjoint(b, w);
  if (gout[0] != NULL) {
    damo_var *x = build_matmul(b, wh, gout[0]);
    x = x != NULL ? build_adjoint(b, build_matrix_solve(b, d, build_adjoint(b, x))) : NULL;
    x = x != NULL ? build_triangle(b, x, lower ? -1 : 1, lower) : NULL;
    g = build_switch(b, blocks, zero, x);
  }
  if (gout[1] != NULL) g = build_add_present(b, g, build_switch(b, blocks, gout[1], zero));
  if (g == NULL) return b->status;
  g = build_matrix_solve(b, wh, g);
  if (g == NULL) return b->status;
  g = build_matrix_solve(b, wh, hermitian ? build_adjoint(b, g) : build_swap_last(b, g));
  if (g == NULL) return b->status;
  /* The operand's one triangle stands for both, so each entry off the diagonal gets the gradients of two. g is transposed
   * here, but the sum of g and its transpose is the same for both. */
  damo_var *both = build_add(b, g, hermitian ? build_adjoint(b, g) : build_swap_last(b, g));
  damo_var *sum = build_add(b, build_triangle(b, both, 0, lower), build_triangle(b, both, lower ? -1 : 1, lower));
  gin[0] = build_mul(b, sum, build_num(b, 0.5));
  return b->status;
}

static const op_def ldl_def = {
    .name = "LDL",
    .library = "LAPACK",
    .doc = "the factors W and D of W·D·Wᴴ of a stack of Hermitian or symmetric matrices, and the rows of W's triangle",
    .props = PROPS(PROP(ldl_props, lower), PROP(ldl_props, hermitian)),
    .n_in = 1,
    .n_out = 3,
    CORE_OP(ldl_class),
    .emit_c = core_emit_c,
    .grad = ldl_grad,
    .no_check = "dense: spec/linalg/factor_spec.lua multiplies the factors",
};

static damo_status fn_ldl(build *b, const fn_args *a, ptrvec *out) {
  const ldl_props *o = FN_OPTIONS(a, ldl_props);
  const ldl_props props = {.lower = prop_bool(prop_bool_or(o->lower, true)),
                           .hermitian = prop_bool(prop_bool_or(o->hermitian, true))};
  damo_apply *node = build_core(b, &ldl_def, &props, a->in, 1);
  if (node == NULL) return b->status;
  for (int i = 0; i < 3; i++) DAMO_TRY(fn_give(b, out, node->out[i]));
  return DAMO_OK;
}

const op_func linalg_ldl_funcs[] = {
    {.name = "linalg.ldl",
     .operands = "a",
     .options = OPTIONS(OPT(ldl_props, lower, OPT_BOOL), OPT(ldl_props, hermitian, OPT_BOOL)),
     .call = fn_ldl,
     .no_method = true,
     .doc =
         "w, d, p with a = w·d·wᴴ of a Hermitian a (hermitian=false: w·d·wᵀ of a symmetric one), one triangle of which "
         "is read: d has blocks of order 1 and 2 on its diagonal, w[p] is a triangle with ones on its diagonal"},
    {.name = NULL},
};

const op_def *const linalg_ldl_classes[] = {&ldl_def, NULL};
