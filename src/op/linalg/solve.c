/* solve: Solve: op(A)·x = b, by the factorization that fits what is assumed of A.
 *
 * Which entries of a count, and so where its gradient lies:
 *   gen, banded  all; of a banded matrix the bandwidths are found by a look at the entries
 *   sym, her, pos  one triangle, as `lower` says; the other one is its transpose, of her and pos the conjugate one
 *   diagonal, tridiagonal  these diagonals
 */
#include "core_c.h"
#include "decompose.h"
#include "kernel/lanes/lanes.h"
#include "op/shape/shape_int.h"

#include <math.h>
#include <string.h>

typedef enum solve_kind {
  SOLVE_GEN,
  SOLVE_SYM,
  SOLVE_HER,
  SOLVE_POS,
  SOLVE_DIAGONAL,
  SOLVE_TRIDIAGONAL,
  SOLVE_BANDED
} solve_kind;

static const char *const solve_words[] = {"gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded", NULL};

static solve_kind solve_kind_of(const damo_op *op) {
  const char *word = prop_str_or(OP_PROPS(op, solve_props)->assume, "gen");
  int k = 0;
  while (strcmp(solve_words[k], word) != 0) k++;
  return (solve_kind)k;
}

/* ---- Forms and workspace ----------------------------------------------------------------------------------------- */

static const core_form solve_forms[2][2] = {
    {{.signature = "(n,n),(n,k)->(n,k)", .in_layout = "E-", .out_layout = "c", .from = "2"},
     {.signature = "(n,n),(n)->(n)", .in_layout = "E-", .out_layout = "c", .from = "2"}},
    {{.signature = "(n,n),(n,k)->(n,k)", .in_layout = "s-", .out_layout = "c", .from = "2"},
     {.signature = "(n,n),(n)->(n)", .in_layout = "s-", .out_layout = "c", .from = "2"}},
};

static const core_form *solve_form(const damo_op *op) {
  const solve_kind kind = solve_kind_of(op);
  return &solve_forms[kind == SOLVE_DIAGONAL || (DAMO_BLAS && kind == SOLVE_TRIDIAGONAL)]
                     [prop_bool_or(OP_PROPS(op, solve_props)->vector, false)];
}

static size_t round_up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

#if DAMO_BLAS
static lapack_int sytrf_length(const core_call *c, solve_kind kind, lapack_int n) {
  const lapack_table *la = lapack_of(c->dtype);
  double work[2] = {0};
  const lapack_int query = -1;
  lapack_int info = 0, ipiv = 0;
  const lapack_int ld = n > 1 ? n : 1;
  (kind == SOLVE_HER ? la->hetrf : la->sytrf)("U", &n, work, &ld, &ipiv, work, &query, &info, 1);
  return lapack_work_length(c->dtype, work);
}

#endif

/* Pivots, then what the factorization needs besides. */
static size_t solve_workspace(const core_call *c) {
  const solve_kind kind = solve_kind_of(c->op);
  const size_t n = (size_t)c->in[0].rows, pivots = round_up(n * sizeof(lapack_int));
  switch ((int)kind) {
#if DAMO_BLAS
    case SOLVE_SYM:
    case SOLVE_HER: return pivots + (size_t)sytrf_length(c, kind, (lapack_int)n) * dtype_size(c->dtype);
    case SOLVE_TRIDIAGONAL: return pivots + 4 * n * dtype_size(c->dtype);
    case SOLVE_BANDED: return pivots + n * n * dtype_size(c->dtype);
#endif
    case SOLVE_DIAGONAL: return 0;
    default: return pivots;
  }
}

/* ---- One system -------------------------------------------------------------------------------------------------- */

static damo_status solve_general(core_call *c, char system) {
  const core_mat *a = &c->in[0];
  const lapack_int n = (lapack_int)a->rows, ld = (lapack_int)a->ld;
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  lapack_of(c->dtype)->getrf(&n, &n, a->data, &ld, ipiv, &info);
  if (info > 0) return core_fail(c, "the matrix is singular: pivot %d is 0", (int)info);
  return mat_lu_solve(a, ipiv, &c->out[0], a->by_rows, system);
}

/* A positive definite matrix. LAPACK sees its transpose where it lies by rows, which is its conjugate. */
static damo_status solve_positive(core_call *c, char system) {
  const lapack_table *la = lapack_of(c->dtype);
  const core_mat *a = &c->in[0], *x = &c->out[0];
  const bool lower = prop_bool_or(OP_PROPS(c->op, solve_props)->lower, false);
  const char *uplo = lower != a->by_rows ? "L" : "U";
  const bool conjugated = (system == 't') != a->by_rows;
  const lapack_int n = (lapack_int)a->rows, ld = (lapack_int)a->ld, k = (lapack_int)x->cols, ldx = n > 1 ? n : 1;
  lapack_int info = 0;
  la->potrf(uplo, &n, a->data, &ld, &info, 1);
  if (info > 0)
    return core_fail(c, "the matrix is not positive definite: its leading minor of order %d is not positive",
                     (int)info);
  if (conjugated) mat_conjugate(x);
  la->potrs(uplo, &n, &k, a->data, &ld, x->data, &ldx, &info, 1);
  if (conjugated) mat_conjugate(x);
  return DAMO_OK;
}

#if DAMO_BLAS
/* A symmetric or Hermitian matrix, as in solve_positive. */
static damo_status solve_symmetric(core_call *c, solve_kind kind, char system) {
  const lapack_table *la = lapack_of(c->dtype);
  const core_mat *a = &c->in[0], *x = &c->out[0];
  const bool lower = prop_bool_or(OP_PROPS(c->op, solve_props)->lower, false);
  const char *uplo = lower != a->by_rows ? "L" : "U";
  const bool conjugated = kind == SOLVE_SYM ? system == 'h' : (system == 't') != a->by_rows;
  const lapack_int n = (lapack_int)a->rows, ld = (lapack_int)a->ld, k = (lapack_int)x->cols, ldx = n > 1 ? n : 1;
  const lapack_int length = sytrf_length(c, kind, n);
  char *work = c->work + round_up((size_t)n * sizeof(lapack_int));
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  (kind == SOLVE_HER ? la->hetrf : la->sytrf)(uplo, &n, a->data, &ld, ipiv, work, &length, &info, 1);
  if (info > 0) return core_fail(c, "the matrix is singular: pivot %d is 0", (int)info);
  if (conjugated) mat_conjugate(x);
  (kind == SOLVE_HER ? la->hetrs : la->sytrs)(uplo, &n, &k, a->data, &ld, ipiv, x->data, &ldx, &info, 1);
  if (conjugated) mat_conjugate(x);
  return DAMO_OK;
}
#else
/* Without LAPACK's routines for it: LU of the matrix that the entries which count stand for, written over the copy. */
static damo_status solve_written_out(core_call *c, solve_kind kind, char system) {
  const core_mat *a = &c->in[0];
  const bool lower = prop_bool_or(OP_PROPS(c->op, solve_props)->lower, false);
  const int64_t sign = kind == SOLVE_HER ? -1 : 1;
  for (int64_t i = 0; i < a->rows; i++) {
    for (int64_t j = 0; j < a->rows; j++) {
      const bool counts = kind == SOLVE_TRIDIAGONAL ? i - j <= 1 && j - i <= 1 : lower ? i > j : i < j;
      if (counts || (i == j && kind != SOLVE_HER)) continue;
      damo_c128 v = {0, 0};
      if (kind != SOLVE_TRIDIAGONAL) v = mat_get(a, j, i);
      v.im = i == j ? 0 : (double)sign * v.im;
      mat_put(a, i, j, v);
    }
  }
  return solve_general(c, system);
}
#endif

static bool entry_is_zero(damo_dtype dtype, const char *p) {
  const scalar v = scalar_load(dtype, p);
  return dtype_is_complex(dtype) ? v.v.c.re == 0 && v.v.c.im == 0 : v.v.f == 0;
}

#if DAMO_BLAS
/* The diagonals of a, an offset apart, one after the other. */
static void copy_diagonal(const core_mat *a, int64_t offset, char *to) {
  const size_t size = dtype_size(a->dtype);
  const char *from = a->data + (offset > 0 ? offset * a->cs : -offset * a->rs);
  for (int64_t i = 0; i < a->rows - (offset < 0 ? -offset : offset); i++)
    memcpy(to + (size_t)i * size, from + i * (a->rs + a->cs), size);
}

static damo_status solve_tridiagonal(core_call *c, char system) {
  const lapack_table *la = lapack_of(c->dtype);
  const core_mat *a = &c->in[0], *x = &c->out[0];
  const size_t part = (size_t)a->rows * dtype_size(c->dtype);
  char *dl = c->work + round_up((size_t)a->rows * sizeof(lapack_int)), *d = dl + part, *du = d + part, *du2 = du + part;
  const lapack_int n = (lapack_int)a->rows, k = (lapack_int)x->cols;
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  copy_diagonal(a, -1, dl);
  copy_diagonal(a, 0, d);
  copy_diagonal(a, 1, du);
  la->gttrf(&n, dl, d, du, du2, ipiv, &info);
  if (info > 0) return core_fail(c, "the matrix is singular: pivot %d is 0", (int)info);
  la->gttrs(system == 'n' ? "N" : system == 't' ? "T" : "C", &n, &k, dl, d, du, du2, ipiv, x->data, &n, &info, 1);
  return DAMO_OK;
}

#endif

/* a is a matrix, or its diagonal as a vector. */
static damo_status solve_diagonal(core_call *c, char system) {
  const core_mat *a = &c->in[0], *x = &c->out[0];
  for (int64_t i = 0; i < a->rows; i++) {
    if (entry_is_zero(a->dtype, a->data + i * (a->rs + a->cs)))
      return core_fail(c, "the matrix is singular: entry %lld of its diagonal is 0", (long long)i + 1);
  }
  const bool single = c->dtype == DAMO_FLOAT32 || c->dtype == DAMO_COMPLEX64;
  for (int64_t i = 0; i < a->rows; i++) {
    const char *at = a->data + i * (a->rs + a->cs);
    for (int64_t j = 0; j < x->cols; j++) {
      char *to = x->data + i * x->rs + j * x->cs;
      if (!dtype_is_complex(c->dtype)) {
        if (single)
          *(float *)(void *)to /= *(const float *)(const void *)at;
        else
          *(double *)(void *)to /= *(const double *)(const void *)at;
        continue;
      }
      const damo_c128 d = scalar_load(c->dtype, at).v.c, v = scalar_load(c->dtype, to).v.c;
      const double im = system == 'h' ? -d.im : d.im, size = fabs(d.re) + fabs(im), p = d.re / size, q = im / size;
      const double scale = (p * p + q * q) * size;
      const double re = (v.re * p + v.im * q) / scale, imag = (v.im * p - v.re * q) / scale;
      if (single)
        ((float *)(void *)to)[0] = (float)re, ((float *)(void *)to)[1] = (float)imag;
      else
        ((double *)(void *)to)[0] = re, ((double *)(void *)to)[1] = imag;
    }
  }
  return DAMO_OK;
}

#if DAMO_BLAS
/* The bandwidths of what LAPACK sees: the largest distance of an entry that is not 0 below and above the diagonal. */
static void band_widths(const core_mat *a, int64_t *below, int64_t *above) {
  *below = *above = 0;
  for (int64_t j = 0; j < a->cols; j++) {
    for (int64_t i = 0; i < a->rows; i++) {
      if ((j - i > *above || i - j > *below) && !entry_is_zero(a->dtype, a->data + i * a->rs + j * a->cs)) {
        if (j - i > *above) *above = j - i;
        if (i - j > *below) *below = i - j;
      }
    }
  }
}

static damo_status solve_banded_matrix(core_call *c, char system) {
  const core_mat *a = &c->in[0], *x = &c->out[0];
  const size_t size = dtype_size(c->dtype);
  int64_t below, above;
  band_widths(a, &below, &above);
  const int64_t ld = 2 * below + above + 1;
  if (ld > a->rows) return solve_general(c, system);
  char *ab = c->work + round_up((size_t)a->rows * sizeof(lapack_int));
  memset(ab, 0, (size_t)(ld * a->rows) * size);
  for (int64_t j = 0; j < a->cols; j++) {
    for (int64_t i = j > above ? j - above : 0; i <= j + below && i < a->rows; i++)
      memcpy(ab + (size_t)(j * ld + below + above + i - j) * size, a->data + i * a->rs + j * a->cs, size);
  }
  const lapack_table *la = lapack_of(c->dtype);
  const lapack_int n = (lapack_int)a->rows, kl = (lapack_int)below, ku = (lapack_int)above, ldab = (lapack_int)ld;
  const lapack_int k = (lapack_int)x->cols;
  lapack_int info = 0, *ipiv = (lapack_int *)(void *)c->work;
  la->gbtrf(&n, &n, &kl, &ku, ab, &ldab, ipiv, &info);
  if (info > 0) return core_fail(c, "the matrix is singular: pivot %d is 0", (int)info);
  la->gbtrs(system == 'n' ? "N" : system == 't' ? "T" : "C", &n, &kl, &ku, &k, ab, &ldab, ipiv, x->data, &n, &info, 1);
  return DAMO_OK;
}

#endif

/* Puts b into the result, and solves there. */
static damo_status solve_run(core_call *c) {
  const solve_kind kind = solve_kind_of(c->op);
  const char system = system_of(OP_PROPS(c->op, solve_props)->trans);
  if (c->in[0].rows == 0) return DAMO_OK;
  switch ((int)kind) {
    case SOLVE_GEN: return solve_general(c, system);
    case SOLVE_DIAGONAL: return solve_diagonal(c, system);
    case SOLVE_POS: return solve_positive(c, system);
#if DAMO_BLAS
    case SOLVE_TRIDIAGONAL: return solve_tridiagonal(c, system);
    case SOLVE_BANDED: return solve_banded_matrix(c, system);
    default: return solve_symmetric(c, kind, system);
#else
    case SOLVE_BANDED: return solve_general(c, system);
    default: return solve_written_out(c, kind, system);
#endif
  }
}

static bool solve_plan_lanes(const core_call *c, core_lane_plan *plan) {
  const int n = (int)c->in[0].rows;
  plan->spare = n * (n + 1);
  return solve_kind_of(c->op) == SOLVE_GEN;
}

static void solve_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows, k = (int)c->in[1].cols;
  char *lu = l->spare, *pivots = lu + (size_t)(n * n) * lanes_entry(c);
  lanes_copy(c, lu, l->in[0], n * n);
  l->fns->factor(n, lu, pivots, l->failed);
  lanes_copy(c, l->out[0], l->in[1], n * k);
  l->fns->solve(n, k, lu, pivots, system_of(OP_PROPS(c->op, solve_props)->trans) != 'n', l->out[0]);
}

static const core_class solve_class = {.func = "solve",
                                       .form_of = solve_form,
                                       .workspace = solve_workspace,
                                       .run = solve_run,
                                       .runs_empty = true,
                                       .plan_lanes = solve_plan_lanes,
                                       .run_lanes = solve_lanes,
                                       .emit_c = solve_emit_c,
                                       .emits_complex = true};

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

damo_var *build_solve_of(build *b, solve_props p, char system, damo_var *a, damo_var *x) {
  const bool symmetric = p.assume.kind == PROP_STR && strlen(p.assume.u.s) == 3 && strcmp(p.assume.u.s, "gen") != 0;
  damo_var *in[2] = {a, x};
  if (a != NULL && x != NULL && symmetric) {
    /* The systems of a real symmetric matrix are one, so that rewriting sees it. */
    const damo_dtype dtype = dtype_promote(var_dtype(a), var_dtype(x));
    if (!dtype_is_complex(dtype) || (system == 'h' && strcmp(p.assume.u.s, "sym") != 0) ||
        (system == 't' && strcmp(p.assume.u.s, "sym") == 0)) {
      system = 'n';
    }
  }
  p.trans = system_prop(system);
  return build_core_first(b, &solve_def, &p, in, 2);
}

damo_var *build_matrix_solve(build *b, damo_var *a, damo_var *x) {
  const solve_props p = {.assume = prop_str("gen"), .lower = prop_bool(false), .vector = prop_bool(false)};
  return build_solve_of(b, p, 'n', a, x);
}

/* What a gradient g of A, all of its entries free, is for the entries of a that count. */
static damo_var *solve_counted(build *b, const damo_op *op, damo_var *g) {
  const bool lower = prop_bool_or(OP_PROPS(op, solve_props)->lower, false);
  const solve_kind kind = solve_kind_of(op);
  switch ((int)kind) {
    case SOLVE_GEN:
    case SOLVE_BANDED: return g;
    case SOLVE_DIAGONAL: return build_triangle(b, build_triangle(b, g, 0, true), 0, false);
    case SOLVE_TRIDIAGONAL: return build_triangle(b, build_triangle(b, g, 1, true), -1, false);
    default: break;
  }
  /* An entry off the diagonal stands for two. Of a Hermitian matrix the diagonal is real. */
  damo_var *other = kind == SOLVE_SYM ? build_swap_last(b, g) : build_adjoint(b, g);
  damo_var *both = build_add(b, g, other);
  damo_var *sum = build_add(b, build_triangle(b, both, 0, lower), build_triangle(b, both, lower ? -1 : 1, lower));
  return build_mul(b, sum, build_num(b, 0.5));
}

/* The matrix that a tangent d of a stands for. */
static damo_var *solve_meant(build *b, const damo_op *op, damo_var *d) {
  const bool lower = prop_bool_or(OP_PROPS(op, solve_props)->lower, false);
  const solve_kind kind = solve_kind_of(op);
  if (kind != SOLVE_SYM && kind != SOLVE_HER && kind != SOLVE_POS) return solve_counted(b, op, d);
  damo_var *strict = build_triangle(b, d, lower ? -1 : 1, lower), *whole = build_triangle(b, d, 0, lower);
  damo_var *half = build_mul(b, build_add(b, strict, whole), build_num(b, 0.5));
  return build_add(b, half, kind == SOLVE_SYM ? build_swap_last(b, half) : build_adjoint(b, half));
}

static damo_status solve_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const solve_props *p = OP_PROPS(node->op, solve_props);
  const char system = system_of(p->trans);
  damo_var *a = node->in[0];
  if (gout[0] == NULL) return DAMO_OK;
  char adjoint = system;
  damo_var *ah = build_adjoint_system(b, a, &adjoint);
  damo_var *g = build_solve_of(b, *p, adjoint, ah, gout[0]);
  damo_var *ga = build_system_gradient(b, system, g, node->out[0], prop_bool_or(p->vector, false));
  gin[0] = build_unbroadcast(b, solve_counted(b, node->op, ga), a);
  gin[1] = build_unbroadcast(b, g, node->in[1]);
  return b->status;
}

static damo_status solve_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const solve_props *p = OP_PROPS(node->op, solve_props);
  const char system = system_of(p->trans);
  damo_var *rhs = eval[1];
  if (eval[0] != NULL) {
    damo_var *moved = build_tangent_product(b, system, solve_meant(b, node->op, eval[0]), node->out[0],
                                            prop_bool_or(p->vector, false));
    rhs = rhs != NULL ? build_sub(b, rhs, moved) : build_neg(b, moved);
  }
  if (rhs != NULL) rout[0] = build_solve_of(b, *p, system, node->in[0], rhs);
  return b->status;
}

const op_def solve_def = {
    .name = "Solve",
    .library = "LAPACK",
    .doc = "solutions of a stack of systems",
    .props =
        PROPS(PROP_WORD_OR_NIL(solve_props, assume, "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded"),
              SYSTEM_PROP(solve_props, trans), PROP_FLAG(solve_props, lower), PROP_FLAG(solve_props, vector),
              PROP_WORD_OR_NIL(solve_props, on_fail, "nan")),
    .n_in = 2,
    CORE_OP(solve_class),
    .emit_c = core_emit_c,
    .grad = solve_grad,
    .rop = solve_rop,
    .terms = TERMS_SOLVED,
    OP_CHECK(solve_check),
};

/* ---- SolveDiagonal ----------------------------------------------------------------------------------------------- */

/* The systems of diagonal matrices that are given by their diagonals: rewriting makes them, and solve_circulant. */
typedef struct solve_diagonal_props {
  prop_value vector, on_fail;
} solve_diagonal_props;

static const core_form solve_diagonal_forms[2] = {
    {.signature = "(n),(n,k)->(n,k)", .in_layout = "s-", .from = "2"},
    {.signature = "(n),(n)->(n)", .in_layout = "s-", .from = "2"},
};
static const core_form *solve_diagonal_form(const damo_op *op) {
  return &solve_diagonal_forms[prop_bool_or(OP_PROPS(op, solve_diagonal_props)->vector, false)];
}
static damo_status solve_diagonal_run(core_call *c) { return solve_diagonal(c, 'n'); }
static const core_class solve_diagonal_class = {.func = "solve",
                                                .form_of = solve_diagonal_form,
                                                .run = solve_diagonal_run,
                                                .emit_c = solve_diagonal_emit_c,
                                                .emits_complex = true};

static const op_def solve_diagonal_def;

/* With x of D·x = b: Dᴴ·gb = g, and gd is the sum of -conj(x)·gb over the right sides. */
static damo_status solve_diagonal_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const solve_diagonal_props *p = OP_PROPS(node->op, solve_diagonal_props);
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *const in[2] = {build_conj_if_complex(b, node->in[0]), gout[0]};
  damo_var *g = build_core_first(b, &solve_diagonal_def, p, in, 2);
  if (g == NULL) return b->status;
  damo_var *gd = build_neg(b, build_mul(b, build_conj_if_complex(b, node->out[0]), g));
  const int last = var_ndim(gd) - 1;
  if (!prop_bool_or(p->vector, false)) gd = build_reduce(b, REDUCE_SUM, gd, &last, 1, false);
  gin[0] = build_unbroadcast(b, gd, node->in[0]);
  gin[1] = build_unbroadcast(b, g, node->in[1]);
  return b->status;
}

static damo_status solve_diagonal_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const solve_diagonal_props *p = OP_PROPS(node->op, solve_diagonal_props);
  damo_var *d = eval[0], *rhs = eval[1];
  if (d != NULL) {
    if (!prop_bool_or(p->vector, false)) d = build_new_axis(b, d, var_ndim(d));
    damo_var *moved = build_mul(b, d, node->out[0]);
    rhs = rhs != NULL ? build_sub(b, rhs, moved) : build_neg(b, moved);
  }
  if (rhs != NULL) rout[0] = build_core_first(b, &solve_diagonal_def, p, (damo_var *const[]){node->in[0], rhs}, 2);
  return b->status;
}

static const op_def solve_diagonal_def = {
    .name = "SolveDiagonal",
    .doc = "solutions of a stack of diagonal systems",
    .props = PROPS(PROP_FLAG(solve_diagonal_props, vector), PROP_WORD_OR_NIL(solve_diagonal_props, on_fail, "nan")),
    .n_in = 2,
    CORE_OP(solve_diagonal_class),
    .emit_c = core_emit_c,
    .grad = solve_diagonal_grad,
    .rop = solve_diagonal_rop,
    .no_check = "a quotient: spec/linalg/banded_spec.lua compares circulant systems with dense ones",
};

damo_var *build_solve_diagonal(build *b, damo_var *diagonal, damo_var *x, bool vector, prop_value on_fail) {
  const solve_diagonal_props props = {.vector = prop_bool(vector), .on_fail = on_fail};
  return build_core_first(b, &solve_diagonal_def, &props, (damo_var *const[]){diagonal, x}, 2);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct solve_options {
  prop_value assume_a, trans, lower, b_ndim, on_fail;
} solve_options;

static damo_status fn_solve(build *b, const fn_args *a, ptrvec *out) {
  static const char *const other_words[] = {"upper triangular",  "lower triangular", "symmetric", "hermitian",
                                            "positive definite", "general",          NULL};
  static const char *const meant[] = {NULL, NULL, "sym", "her", "pos", "gen"};
  const solve_options *o = FN_OPTIONS(a, solve_options);
  const char *assume = prop_str_or(o->assume_a, "gen");
  const int vector = vector_option(b, a, o->b_ndim, a->in[1]);
  const char system = system_option(b, a, o->trans);
  prop_value on_fail;
  if (vector < 0 || system == 0 || !core_on_fail(b, a, o->on_fail, &on_fail)) return b->status;
  for (int k = 0; other_words[k] != NULL; k++) {
    if (strcmp(assume, other_words[k]) != 0) continue;
    if (meant[k] == NULL) {
      const triangular_props props = {.lower = prop_bool(k == 1),
                                      .trans = system_prop(system),
                                      .unit = prop_bool(false),
                                      .right = prop_bool(false),
                                      .vector = prop_bool(vector == 1),
                                      .on_fail = on_fail};
      return fn_give(b, out, build_core_first(b, &solve_triangular_def, &props, a->in, 2));
    }
    assume = meant[k];
  }
  for (int k = 0; solve_words[k] != NULL; k++) {
    if (strcmp(assume, solve_words[k]) != 0) continue;
    const solve_props props = {.assume = prop_str(solve_words[k]),
                               .lower = prop_bool(prop_bool_or(o->lower, false)),
                               .vector = prop_bool(vector == 1),
                               .on_fail = on_fail};
    return fn_give(b, out, build_solve_of(b, props, system, a->in[0], a->in[1]));
  }
  build_fail(b, DAMO_EVALUE,
             "solve: option 'assume_a' is 'gen', 'sym', 'her', 'pos', 'diagonal', 'tridiagonal', 'banded', "
             "'upper triangular' or 'lower triangular', not '%s'",
             assume);
  return b->status;
}

const op_func linalg_solve_funcs[] = {
    {.name = "linalg.solve",
     .operands = "a b",
     .options = OPTIONS(OPT(solve_options, assume_a, OPT_STR), OPT(solve_options, trans, OPT_ANY),
                        OPT(solve_options, lower, OPT_BOOL), OPT(solve_options, b_ndim, OPT_INT),
                        OPT(solve_options, on_fail, OPT_STR)),
     .call = fn_solve,
     .no_method = true,
     .doc = "x of a·x = b"},
    {.name = NULL},
};

const op_def *const linalg_solve_classes[] = {&solve_def, &solve_diagonal_def, NULL};
