/* eigen: Eigh, EigenvaluesHermitian, Eig, Eigenvalues: eigenvalues and eigenvectors of Hermitian matrices and of any.
 *
 * Of a Hermitian matrix one triangle is read, as `lower` says, and the gradient lies in it: what belongs to both of two
 * conjugate entries is added there. LAPACK's heevd (divide and conquer), geev.
 *
 * Gradients (Giles, An extended collection of matrix derivative results, 2008; Boeddeker et al., On the computation of
 * complex-valued gradients, 2017), with F(i, j) = 1/(w(j) - w(i)) off the diagonal and 0 on it:
 *
 *   Hermitian:  gA = V·(diag(gw) + F∘sk(Vᴴ·gV)/2)·Vᴴ, with sk(X) = X - Xᴴ
 *   any:        gA = V⁻ᴴ·(diag(gw) + conj(F)∘(Vᴴ·gU))·Vᴴ, gU = gV - V·diag(Re(Vᴴ·gV)) - i·P·diag(Im(Vᴴ·gV))
 *
 * Eigenvectors have length 1. Their phase is free in the first case: a function that depends on it has no gradient. In
 * the second one geev makes the greatest entry of each real, and P has the reciprocals of these entries at their places.
 */
#include "core_c.h"
#include "compose.h"
#include "decompose.h"
#include "spectral.h"
#include "kernel/isa.h"
#include "kernel/walk.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct eigh_props {
  prop_value lower, on_fail;
} eigh_props;

typedef struct eig_props {
  prop_value on_fail;
} eig_props;

/* ---- Hermitian matrices ------------------------------------------------------------------------------------------ */

/* The parts of the workspace, one after the other; lengths as LAPACK's pages ask for, with 64 columns for its blocks. */
typedef struct eigh_space {
  size_t rwork, iwork, total; /* offsets */
  lapack_int lwork, lrwork, liwork;
} eigh_space;

static eigh_space eigh_plan(const core_call *c) {
  const int64_t n = c->out[0].rows;
  const bool vectors = c->n_out == 2, is_complex = dtype_is_complex(c->dtype);
  const size_t size = dtype_size(c->dtype);
  int64_t lwork = vectors ? 1 + (is_complex ? 2 : 6) * n + (is_complex ? 1 : 2) * n * n + 64 * n : 1 + 66 * n;
  int64_t lrwork = !is_complex ? 1 : vectors ? 1 + 5 * n + 2 * n * n : 1 + n;
  const int64_t liwork = vectors ? 3 + 5 * n : 1;
  if (lwork > INT32_MAX) lwork = INT32_MAX;
  if (lrwork > INT32_MAX) lrwork = INT32_MAX;
  eigh_space s = {.lwork = (lapack_int)lwork, .lrwork = (lapack_int)lrwork, .liwork = (lapack_int)liwork};
  s.rwork = ((size_t)lwork * size + 63) & ~(size_t)63;
  s.iwork = s.rwork + (((size_t)lrwork * size + 63) & ~(size_t)63);
  s.total = s.iwork + (size_t)liwork * sizeof(lapack_int);
  return s;
}

static size_t eigh_workspace(const core_call *c) { return eigh_plan(c).total; }

static damo_status eigh_run(core_call *c) {
  const bool vectors = c->n_out == 2;
  const core_mat *m = vectors ? &c->out[1] : &c->in[0];
  const bool lower = prop_bool_or(OP_PROPS(c->op, eigh_props)->lower, true) != m->by_rows;
  const lapack_int n = (lapack_int)m->rows, ld = (lapack_int)m->ld;
  const eigh_space s = eigh_plan(c);
  lapack_int info = 0;
  if (n == 0) return DAMO_OK;
  DAMO_TRY(spectral_check_triangle(c, m, prop_bool_or(OP_PROPS(c->op, eigh_props)->lower, true)));
  spectral_of(c->dtype)->heevd(vectors ? "V" : "N", lower ? "L" : "U", &n, m->data, &ld, c->out[0].data, c->work,
                               &s.lwork, c->work + s.rwork, &s.lrwork, (lapack_int *)(void *)(c->work + s.iwork),
                               &s.liwork, &info);
  return spectral_outcome(c, info, "the iteration for the eigenvalues did not converge");
}

/* The workspace of eigenvectors has about 2 n² numbers, which LAPACK counts in 32 bits. */
static damo_status eigh_check_size(damo_ctx *ctx, const damo_op *op, const int64_t *dim) {
  const int64_t most = 32760;
  (void)op;
  if (dim[0] <= most) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE,
                  "eigh: a matrix has %lld rows, LAPACK's routine takes %lld at most; eigvalsh takes larger ones",
                  (long long)dim[0], (long long)most);
}

/* ---- Many small symmetric matrices ------------------------------------------------------------------------------- */

/* A stack of symmetric matrices and its results, for the kernel of lanes. */
typedef struct eigh_stack {
  int n;
  bool lower;
  int64_t rs, cs; /* byte strides of a matrix */
  char *w, *v;    /* results without gaps; v NULL: values alone */
  int64_t done;   /* matrices written */
} eigh_stack;

#define T float
#define TYPE DAMO_FLOAT32
#define SMALL 1e-15F
#define NAME eigh_block_f32
#include "eigh_block_body.h"

#define T double
#define TYPE DAMO_FLOAT64
#define SMALL 1e-120
#define NAME eigh_block_f64
#include "eigh_block_body.h"

/* All matrices of x, if they are many and small; false: nothing is done, or the kernel failed, and LAPACK tells why. */
static bool eigh_by_lanes(damo_ctx *ctx, const damo_array *x, eigh_stack *s) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)];
  char *at[1] = {x->data}, *from[EIGH_LANES];
  nd_space stack;
  nd_walk walk;
  int count = 0;
  const int lead = x->ndim - 2;
  bool (*const block)(eigh_stack *, const eigh_lanes_fns *, char *const *, int) =
      array_dtype(x) == DAMO_FLOAT32 ? eigh_block_f32 : eigh_block_f64;
  s->rs = array_strides(x)[lead], s->cs = array_strides(x)[lead + 1];
  nd_space_init(&stack, numbers, lead, array_shape(x), 1, (const int64_t *const[]){array_strides(x)});
  for (bool more = nd_begin(&walk, &stack); more; more = nd_next(&walk, at)) {
    from[count++] = at[0];
    if (count < EIGH_LANES) continue;
    if (!block(s, ctx->isa->eigh_lanes, from, count)) return false;
    count = 0;
    ctx_point(ctx);
  }
  return count == 0 || block(s, ctx->isa->eigh_lanes, from, count);
}

static damo_status eigh_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  const int ndim = x->ndim;
  const int64_t *shape = array_shape(x), n = shape[ndim - 1];
  const damo_dtype dtype = array_dtype(x);
  if (ndim < 3 || n != shape[ndim - 2] || n < 1 || n > EIGH_MOST || array_size(x) < n * n * EIGH_LANES ||
      f->ctx->isa->eigh_lanes->run[dtype] == NULL)
    return core_perform(t, f);
  damo_array *w = thunk_out(t, f, 0, dtype, ndim - 1, shape), *v = NULL;
  if (w == NULL) return DAMO_EMEMORY;
  if (t->n_out == 2 && (v = thunk_out(t, f, 1, dtype, ndim, shape)) == NULL) return DAMO_EMEMORY;
  eigh_stack s = {.n = (int)n,
                  .lower = prop_bool_or(OP_PROPS(t->node->op, eigh_props)->lower, true),
                  .w = w->data,
                  .v = v != NULL ? v->data : NULL};
  return eigh_by_lanes(f->ctx, x, &s) ? DAMO_OK : core_perform(t, f);
}

/* Fields of op_def as CORE_OP has them, with this perform. */
#define EIGH_OP(core_class_of_op)                                                                           \
  .core = &(core_class_of_op), .data_size = sizeof(core_shape), .init = core_init, .infer_type = core_type, \
  .infer_shape = core_infer_shape, .batch = core_batch, CORE_PREPARES.perform = eigh_perform

static const core_class eigh_class = {
    .func = "eigh",
    .needs_lapack = core_needs_lapack,
    .check = eigh_check_size,
    .form = {.signature = "(n,n)->(n),(n,n)", .out = "rf", .in_layout = "-", .out_layout = "rc", .from = "-1"},
    .workspace = eigh_workspace,
    .run = eigh_run,
    .emit_c = eigh_emit_c,
    .emits_complex = true};
static const core_class eigvalsh_class = {.func = "eigvalsh",
                                          .needs_lapack = core_needs_lapack,
                                          .form = {.signature = "(n,n)->(n)", .out = "r", .in_layout = "E"},
                                          .workspace = eigh_workspace,
                                          .run = eigh_run,
                                          .emit_c = eigh_emit_c,
                                          .emits_complex = true};

static bool eigh_is_lower(const damo_op *op) { return prop_bool_or(OP_PROPS(op, eigh_props)->lower, true); }

/* A Hermitian cotangent as one of the triangle that is read. */
static damo_var *triangle_gradient(build *b, damo_var *g, bool lower) {
  return build_add(b, build_triangle(b, g, 0, lower), build_triangle(b, g, lower ? -1 : 1, lower));
}

static damo_var *scaled_columns(build *b, damo_var *v, damo_var *w) {
  return build_mul(b, v, build_new_axis(b, w, var_ndim(w) - 1));
}

static damo_status eigh_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *w = node->out[0], *v = node->out[1], *gw = gout[0], *gv = gout[1], *left = NULL;
  if (gw == NULL && gv == NULL) return b->status;
  damo_var *vh = build_adjoint(b, v);
  if (gv != NULL) {
    damo_var *x = build_matmul(b, vh, gv);
    if (x == NULL) return b->status;
    x = build_gap_quotient(b, GAP_DIFFERENCE, build_sub(b, x, build_adjoint(b, x)), w,
                           build_row_max(b, build_abs(b, gv), 2));
    left = build_matmul(b, v, build_mul(b, x, build_num(b, 0.5)));
  }
  if (gw != NULL) left = build_add_present(b, left, scaled_columns(b, v, gw));
  if (left == NULL) return b->status;
  gin[0] = triangle_gradient(b, build_matmul(b, left, vh), eigh_is_lower(node->op));
  return b->status;
}

static damo_status eigvalsh_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return b->status;
  damo_apply *eigh = build_core(b, &eigh_def, node->op->props, &node->in[0], 1);
  if (eigh == NULL) return b->status;
  damo_var *v = eigh->out[1], *g = build_matmul(b, scaled_columns(b, v, gout[0]), build_adjoint(b, v));
  gin[0] = g == NULL ? NULL : triangle_gradient(b, g, eigh_is_lower(node->op));
  return b->status;
}

const op_def eigh_def = {
    .name = "Eigh",
    .library = "LAPACK",
    .doc = "eigenvalues and eigenvectors of a stack of Hermitian matrices",
    .props = PROPS(PROP_FLAG(eigh_props, lower), PROP_WORD_OR_NIL(eigh_props, on_fail, "nan")),
    .n_in = 1,
    .n_out = 2,
    EIGH_OP(eigh_class),
    .emit_c = core_emit_c,
    .grad = eigh_grad,
    OP_CHECK(eigh_check),
};

const op_def eigvalsh_def = {
    .name = "EigenvaluesHermitian",
    .library = "LAPACK",
    .doc = "eigenvalues of a stack of Hermitian matrices",
    .props = PROPS(PROP_FLAG(eigh_props, lower), PROP_WORD_OR_NIL(eigh_props, on_fail, "nan")),
    .n_in = 1,
    EIGH_OP(eigvalsh_class),
    .emit_c = core_emit_c,
    .grad = eigvalsh_grad,
    OP_CHECK(eigvalsh_check),
};

damo_var *build_eigvalsh(build *b, damo_var *x) {
  const eigh_props props = {.lower = prop_bool(true)};
  return build_core_first(b, &eigvalsh_def, &props, &x, 1);
}

/* ---- Any matrix -------------------------------------------------------------------------------------------------- */

/* The parts of the workspace: eigenvalues as geev has them, its vectors, work, rwork. */
typedef struct eig_space {
  size_t vectors, work, rwork, total;
  lapack_int lwork;
} eig_space;

static eig_space eig_plan(const core_call *c) {
  const lapack_int n = (lapack_int)c->in[0].rows, ld = n > 0 ? n : 1, query = -1;
  const size_t size = dtype_size(c->dtype), count = (size_t)n;
  double answer[2] = {0, 0}, w[4], rwork[2];
  lapack_int info = 0;
  eig_space s = {.lwork = 1};
  if (n == 0) return s;
  spectral_of(c->dtype)->geev(c->n_out == 2 ? "V" : "N", &n, NULL, &ld, w, NULL, &ld, answer, &query, rwork, &info);
  s.lwork = lapack_work_length(c->dtype, answer);
  s.vectors = (2 * count * size + 63) & ~(size_t)63;
  s.work = s.vectors + (c->n_out == 2 ? (count * count * size + 63) & ~(size_t)63 : 0);
  s.rwork = s.work + (((size_t)s.lwork * size + 63) & ~(size_t)63);
  s.total = s.rwork + 2 * count * size;
  return s;
}

static size_t eig_workspace(const core_call *c) { return eig_plan(c).total; }

/* Writes geev's eigenvectors of a real matrix: those of a conjugate pair are v(j) ± i·v(j + 1). */
static void eig_write_pairs(const core_mat *out, const core_mat *v, const core_mat *w) {
  for (int64_t j = 0; j < v->cols; j++) {
    const bool pair = mat_get(w, j, 1).re != 0 && j + 1 < v->cols;
    for (int64_t i = 0; i < v->rows; i++) {
      const double re = mat_get(v, i, j).re, im = pair ? mat_get(v, i, j + 1).re : 0;
      mat_put(out, i, j, (damo_c128){re, im});
      if (pair) mat_put(out, i, j + 1, (damo_c128){re, -im});
    }
    j += pair;
  }
}

static damo_status eig_run(core_call *c) {
  const core_mat *a = &c->in[0];
  const lapack_int n = (lapack_int)a->rows, ld = (lapack_int)a->ld;
  const int64_t size = (int64_t)dtype_size(c->dtype);
  const bool vectors = c->n_out == 2, is_complex = dtype_is_complex(c->dtype);
  lapack_int info = 0;
  if (n == 0) return DAMO_OK;
  const eig_space s = eig_plan(c);
  DAMO_TRY(spectral_check_finite(c, a));
  char *vr = c->work + s.vectors;
  spectral_of(c->dtype)->geev(vectors ? "V" : "N", &n, a->data, &ld, c->work, vr, &n, c->work + s.work, &s.lwork,
                              c->work + s.rwork, &info);
  DAMO_TRY(spectral_outcome(c, info, "the iteration for the eigenvalues did not converge"));
  /* Of a real matrix the second column has the imaginary parts. */
  const core_mat w = {.data = c->work, .rows = n, .cols = 2, .rs = size, .cs = n * size, .dtype = c->dtype};
  const core_mat v = {.data = vr, .rows = n, .cols = n, .rs = size, .cs = n * size, .dtype = c->dtype};
  for (int64_t i = 0; i < n; i++) {
    const damo_c128 value = mat_get(&w, i, 0);
    mat_put(&c->out[0], i, 0, is_complex ? value : (damo_c128){value.re, mat_get(&w, i, 1).re});
  }
  if (vectors && !is_complex) eig_write_pairs(&c->out[1], &v, &w);
  for (int64_t i = 0; i < n && vectors && is_complex; i++)
    for (int64_t j = 0; j < n; j++) mat_put(&c->out[1], i, j, mat_get(&v, i, j));
  return DAMO_OK;
}

static const core_class eig_class = {.func = "eig",
                                     .needs_lapack = core_needs_lapack,
                                     .form = {.signature = "(n,n)->(n),(n,n)", .out = "cc", .in_layout = "C"},
                                     .workspace = eig_workspace,
                                     .run = eig_run,
                                     .emit_c = eig_emit_c,
                                     .emits_complex = true};
static const core_class eigvals_class = {.func = "eigvals",
                                         .needs_lapack = core_needs_lapack,
                                         .form = {.signature = "(n,n)->(n)", .out = "c", .in_layout = "C"},
                                         .workspace = eig_workspace,
                                         .run = eig_run,
                                         .emit_c = eig_emit_c,
                                         .emits_complex = true};

/* x with its last two axes' matrices taken as real where the operand is. */
static damo_var *eig_as_operand(build *b, damo_var *x, damo_var *like) {
  return x != NULL && !dtype_is_complex(var_dtype(like)) ? build_real(b, x) : x;
}

/* gU of the head comment. geev sets the imaginary part of the greatest entry of a vector to 0; where several entries are
 * as great and real, each takes an equal part of the phase's term, since a function for which the choice matters has no
 * gradient there. */
static damo_var *eig_cotangent(build *b, damo_var *v, damo_var *gv) {
  const int row = var_ndim(v) - 2;
  damo_var *along = build_reduce(b, REDUCE_SUM, build_mul(b, build_conj(b, v), gv), &row, 1, true);
  damo_var *size = build_abs(b, v);
  damo_var *most = build_swap_last(b, build_row_max(b, build_swap_last(b, size), 1));
  damo_var *at = build_and_(b, build_eq(b, size, most), build_eq(b, build_imag(b, v), build_num(b, 0)));
  if (along == NULL || at == NULL) return NULL;
  at = build_cast(b, at, var_dtype(size));
  damo_var *share = build_true_div(b, at, build_reduce(b, REDUCE_SUM, at, &row, 1, true));
  damo_var *entry = build_switch(b, build_gt(b, at, build_num(b, 0)), build_real(b, v), build_num(b, 1));
  damo_var *turn = build_true_div(b, build_mul(b, build_imag(b, along), share), entry);
  if (turn == NULL) return NULL;
  turn = build_complex(b, build_zeros_like(b, turn), turn);
  return build_sub(b, build_sub(b, gv, build_mul(b, v, build_real(b, along))), turn);
}

/* ---- The basis of eigenvectors ----------------------------------------------------------------------------------- */

/* EigenBasis gives its operand, and fails where that is singular to rounding: the matrix whose eigenvectors they are is
 * defective, and its eigenvalues are not differentiable. The workspace has the factors and what gecon needs. */
static size_t basis_workspace(const core_call *c) {
  const size_t n = (size_t)c->out[0].rows;
  return (n * n + 4 * n + 8) * sizeof(damo_c128) + n * sizeof(lapack_int);
}

static damo_status basis_run(core_call *c) {
  const core_mat *v = &c->out[0];
  const lapack_int n = (lapack_int)v->rows;
  const size_t size = dtype_size(c->dtype), count = (size_t)n * (size_t)n;
  const bool single = c->dtype == DAMO_COMPLEX64;
  char *rest = c->work + count * size;
  lapack_int *pivots = (lapack_int *)(void *)(c->work + (count + 4 * (size_t)n + 8) * sizeof(damo_c128)), info = 0;
  double norm = 0;
  union {
    float single;
    double twice;
  } anorm = {0}, rcond = {0};
  memcpy(c->work, v->data, count * size);
  for (int64_t i = 0; i < n; i++) { /* by rows: the 1-norm of what LAPACK sees */
    double sum = 0;
    for (int64_t j = 0; j < n; j++) sum += hypot(mat_get(v, i, j).re, mat_get(v, i, j).im);
    norm = sum > norm ? sum : norm;
  }
  if (single)
    anorm.single = (float)norm;
  else
    anorm.twice = norm;
  const lapack_table *lapack = lapack_of(c->dtype);
  lapack->getrf(&n, &n, c->work, &n, pivots, &info);
  if (info == 0) lapack->gecon("1", &n, c->work, &n, &anorm, &rcond, rest, rest + 2 * (size_t)n * size, &info, 1);
  const double got = single ? (double)rcond.single : rcond.twice, eps = single ? FLT_EPSILON : DBL_EPSILON;
  if (info == 0 && got > eps * (double)n) return DAMO_OK;
  return core_fail(c, "the matrix has no basis of eigenvectors (to rounding), so its eigenvalues have no gradient");
}

static const core_class basis_class = {.func = "eig",
                                       .needs_lapack = core_needs_lapack,
                                       .form = {.signature = "(n,n)->(n,n)", .in_layout = "-", .from = "1"},
                                       .workspace = basis_workspace,
                                       .run = basis_run,
                                       .emit_c = eigen_basis_emit_c,
                                       .emits_complex = true};

static const op_def basis_def = {
    .name = "EigenBasis",
    .library = "LAPACK",
    .doc = "eigenvectors, checked to be a basis",
    .n_in = 1,
    CORE_OP(basis_class),
    .emit_c = core_emit_c,
    .grad = grad_pass,
    .rop = rop_pass,
    OP_CHECK(same_check),
};

static damo_status eig_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *w = node->out[0], *v = node->out[1], *gw = gout[0], *gv = gout[1], *middle = NULL;
  if (gw == NULL && gv == NULL) return b->status;
  damo_var *vh = build_adjoint(b, build_core_first(b, &basis_def, NULL, &v, 1));
  if (gv != NULL) {
    damo_var *x = build_matmul(b, vh, eig_cotangent(b, v, gv));
    middle = build_gap_quotient(b, GAP_DIFFERENCE, x, build_conj(b, w), build_row_max(b, build_abs(b, gv), 2));
    middle = build_matmul(b, middle, vh);
  }
  if (gw != NULL) middle = build_add_present(b, middle, build_mul(b, build_new_axis(b, gw, var_ndim(gw)), vh));
  if (middle == NULL) return b->status;
  gin[0] = eig_as_operand(b, build_matrix_solve(b, vh, middle), node->in[0]);
  return b->status;
}

static damo_status eigvals_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return b->status;
  damo_apply *eig = build_core(b, &eig_def, node->op->props, &node->in[0], 1);
  if (eig == NULL) return b->status;
  damo_var *vh = build_adjoint(b, build_core_first(b, &basis_def, NULL, &eig->out[1], 1));
  damo_var *scaled = vh == NULL ? NULL : build_mul(b, build_new_axis(b, gout[0], var_ndim(gout[0])), vh);
  gin[0] = scaled == NULL ? NULL : eig_as_operand(b, build_matrix_solve(b, vh, scaled), node->in[0]);
  return b->status;
}

const op_def eig_def = {
    .name = "Eig",
    .library = "LAPACK",
    .doc = "eigenvalues and eigenvectors of a stack of square matrices",
    .props = PROPS(PROP_WORD_OR_NIL(eig_props, on_fail, "nan")),
    .n_in = 1,
    .n_out = 2,
    CORE_OP(eig_class),
    .emit_c = core_emit_c,
    .grad = eig_grad,
    OP_CHECK(eig_check),
};

const op_def eigvals_def = {
    .name = "Eigenvalues",
    .library = "LAPACK",
    .doc = "eigenvalues of a stack of square matrices",
    .props = PROPS(PROP_WORD_OR_NIL(eig_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(eigvals_class),
    .emit_c = core_emit_c,
    .grad = eigvals_grad,
    OP_CHECK(eigvals_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct eigen_options {
  prop_value lower, eigvals_only, on_fail;
} eigen_options;

/* The Hermitian matrix of which a's triangle is read; of its diagonal the real part counts. */
static damo_var *build_hermitian(build *b, damo_var *a, bool lower) {
  damo_var *strict = build_triangle(b, a, lower ? -1 : 1, lower);
  damo_var *diagonal = build_triangle(b, build_triangle(b, a, 0, true), 0, false);
  if (strict == NULL || diagonal == NULL) return NULL;
  if (dtype_is_complex(var_dtype(a))) diagonal = build_real(b, diagonal);
  return build_add(b, build_add(b, strict, build_adjoint(b, strict)), diagonal);
}

/* a·v = w·c·v with c = L·Lᴴ: L⁻¹·a·L⁻ᴴ has the same eigenvalues, and the eigenvectors Lᴴ·v. */
static damo_status eigh_generalized(build *b, const fn_args *a, bool vectors, bool lower, const eigh_props *props,
                                    ptrvec *out) {
  damo_var *in[2] = {matrix_square_operand(b, a, 0), matrix_square_operand(b, a, 1)};
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(build_resolve(b, in, 2, true, in));
  for (int i = 0; i < 2; i++) in[i] = build_float(b, in[i]);
  const cholesky_props factor_props = {.lower = prop_bool(lower), .on_fail = props->on_fail};
  const triangle_var factor = {.a = build_core_first(b, &cholesky_def, &factor_props, &in[1], 1), .lower = lower};
  const char inverse = lower ? 'n' : 'h', adjoint = lower ? 'h' : 'n';
  if (factor.a == NULL) return b->status;
  damo_var *x = build_triangular_left(b, factor, inverse, build_hermitian(b, in[0], lower));
  x = x == NULL ? NULL : build_triangular_right(b, factor, adjoint, x);
  if (x == NULL) return b->status;
  if (!vectors) return fn_give(b, out, build_core_first(b, &eigvalsh_def, props, &x, 1));
  damo_apply *eigh = build_core(b, &eigh_def, props, &x, 1);
  if (eigh == NULL) return b->status;
  DAMO_TRY(fn_give(b, out, eigh->out[0]));
  return fn_give(b, out, build_triangular_left(b, factor, adjoint, eigh->out[1]));
}

static damo_status eigh_call(build *b, const fn_args *a, bool vectors, ptrvec *out) {
  const eigen_options *o = FN_OPTIONS(a, eigen_options);
  const bool lower = prop_bool_or(o->lower, true);
  eigh_props props = {.lower = prop_bool(lower)};
  if (!core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  if (a->n_in > 1 && a->in[1] != NULL) return eigh_generalized(b, a, vectors, lower, &props, out);
  if (!vectors) return fn_give(b, out, build_core_first(b, &eigvalsh_def, &props, a->in, 1));
  damo_apply *eigh = build_core(b, &eigh_def, &props, a->in, 1);
  if (eigh == NULL) return b->status;
  DAMO_TRY(ptrvec_push(out, eigh->out[0]));
  return ptrvec_push(out, eigh->out[1]);
}

static damo_status fn_eigh(build *b, const fn_args *a, ptrvec *out) {
  return eigh_call(b, a, !prop_bool_or(FN_OPTIONS(a, eigen_options)->eigvals_only, false), out);
}
static damo_status fn_eigvalsh(build *b, const fn_args *a, ptrvec *out) { return eigh_call(b, a, false, out); }

static damo_status eig_call(build *b, const fn_args *a, const op_def *def, ptrvec *out) {
  eig_props props = {.on_fail = prop_nil()};
  if (!core_on_fail(b, a, FN_OPTIONS(a, eigen_options)->on_fail, &props.on_fail)) return b->status;
  damo_apply *eig = build_core(b, def, &props, a->in, 1);
  if (eig == NULL) return b->status;
  for (int i = 0; i < eig->n_out; i++) DAMO_TRY(ptrvec_push(out, eig->out[i]));
  return DAMO_OK;
}
static damo_status fn_eig(build *b, const fn_args *a, ptrvec *out) { return eig_call(b, a, &eig_def, out); }
static damo_status fn_eigvals(build *b, const fn_args *a, ptrvec *out) { return eig_call(b, a, &eigvals_def, out); }

const op_func linalg_eigen_funcs[] = {
    {.name = "linalg.eigh",
     .operands = "a [b]",
     .options = OPTIONS(OPT(eigen_options, lower, OPT_BOOL), OPT(eigen_options, eigvals_only, OPT_BOOL),
                        OPT(eigen_options, on_fail, OPT_STR)),
     .call = fn_eigh,
     .no_method = true,
     .doc =
         "eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read; with b those "
         "of a·v = w·b·v"},
    {.name = "linalg.eigvalsh",
     .operands = "a [b]",
     .options = OPTIONS(OPT(eigen_options, lower, OPT_BOOL), OPT(eigen_options, on_fail, OPT_STR)),
     .call = fn_eigvalsh,
     .no_method = true,
     .doc = "eigenvalues, ascending, of Hermitian matrices, of which one triangle is read"},
    {.name = "linalg.eig",
     .operands = "a",
     .options = OPTIONS(OPT(eigen_options, on_fail, OPT_STR)),
     .call = fn_eig,
     .no_method = true,
     .doc = "eigenvalues and eigenvectors of square matrices, complex"},
    {.name = "linalg.eigvals",
     .operands = "a",
     .options = OPTIONS(OPT(eigen_options, on_fail, OPT_STR)),
     .call = fn_eigvals,
     .no_method = true,
     .doc = "eigenvalues of square matrices, complex"},
    {.name = NULL},
};

const op_def *const linalg_eigen_classes[] = {&eigh_def, &eigvalsh_def, &eig_def, &eigvals_def, &basis_def, NULL};
