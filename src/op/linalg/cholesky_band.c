/* cholesky_band: Cholesky factors of banded Hermitian matrices and their systems. Row r of ab, w rows by n columns, holds a
 * diagonal of one triangle, as LAPACK has it: of the lower one the entries (j + r, j), of the upper one (j + r - w + 1, j).
 * The factor lies the same way.
 *
 *   CholeskyBanded         L of A = L·Lᴴ, or U of A = Uᴴ·U
 *   CholeskyBandedGrad     the gradient of A from that of the factor: the recurrence of the factorization, column by column,
 *                          differentiated backwards (Smith, Differentiation of the Cholesky algorithm, 1995)
 *   CholeskyBandedTangent  how the factor moves with A: the same recurrence, differentiated
 *
 * As with cholesky, an entry that stands for two has the sum of both gradients.
 */
#include "compose.h"
#include "core_c.h"
#include "decompose.h"
#include "schur_form.h"
#include "op/shape/shape_int.h"

#include <string.h>

typedef struct band_props {
  prop_value lower, on_fail;
} band_props;

static bool band_lower(const damo_op *op) { return prop_bool_or(OP_PROPS(op, band_props)->lower, false); }

static damo_status half_band_check(damo_ctx *ctx, const damo_op *op, const int64_t *dim) {
  if (dim[0] != 0) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: operand 1 has no diagonal", op->def->core->func);
}

/* ---- The factor --------------------------------------------------------------------------------------------------- */

typedef void band_factor(const char *uplo, lapack_in n, lapack_in kd, void *ab, lapack_in ldab, lapack_int *info,
                         size_t);
#if DAMO_BLAS
extern band_factor spbtrf_, dpbtrf_, cpbtrf_, zpbtrf_;
static band_factor *const pbtrf_of[4] = {spbtrf_, dpbtrf_, cpbtrf_, zpbtrf_};
#else
/* The class is refused before it runs (core_class.needs_lapack). */
static band_factor *const pbtrf_of[4];
#endif

/* Places outside of the matrix are not read, and are 0 in the factor. */
static void band_clear_corner(const core_mat *ab, bool lower) {
  const int64_t w = ab->rows, n = ab->cols;
  for (int64_t r = 0; r < w; r++) {
    const int64_t outside = lower ? r : w - 1 - r; /* so many of row r, at its end or at its start */
    for (int64_t k = 0; k < outside && k < n; k++) mat_put(ab, r, lower ? n - 1 - k : k, (damo_c128){0, 0});
  }
}

static damo_status cholesky_band_run(core_call *c) {
  const core_mat *ab = &c->out[0];
  const bool lower = band_lower(c->op);
  const lapack_int n = (lapack_int)ab->cols, kd = (lapack_int)ab->rows - 1, ld = (lapack_int)ab->ld;
  const int at = c->dtype == DAMO_FLOAT32 ? 0 : c->dtype == DAMO_FLOAT64 ? 1 : c->dtype == DAMO_COMPLEX64 ? 2 : 3;
  lapack_int info = 0;
  if (n == 0) return DAMO_OK;
  band_clear_corner(ab, lower);
  pbtrf_of[at](lower ? "L" : "U", &n, &kd, ab->data, &ld, &info, 1);
  if (info > 0) {
    return core_fail(c, "the matrix is not positive definite: its leading minor of order %d is not positive",
                     (int)info);
  }
  return DAMO_OK;
}

static const core_class cholesky_band_class = {
    .func = "cholesky_banded",
    .needs_lapack = core_needs_lapack,
    .form = {.signature = "(w,n)->(w,n)", .in_layout = "-", .out_layout = "c", .from = "1"},
    .check = half_band_check,
    .run = cholesky_band_run,
    .emit_c = cholesky_band_emit_c,
    .emits_complex = true};

/* ---- Its derivatives ---------------------------------------------------------------------------------------------- */

/* Entry (i, j) of the lower triangle, i >= j, at number j w + i - j; of the upper form that is the conjugate of (j, i). */
typedef struct band_space {
  damo_c128 *l, *x, *y;
  int64_t n, w;
  size_t total;
} band_space;

static band_space band_plan(const core_call *c) {
  carving work = {.data = c->work};
  band_space s = {.n = c->out[0].cols, .w = c->out[0].rows};
  const size_t bytes = (size_t)s.n * (size_t)s.w * sizeof(damo_c128);
  s.l = carve(&work, bytes);
  s.x = carve(&work, bytes);
  s.y = carve(&work, bytes);
  s.total = work.used;
  return s;
}

static size_t band_workspace(const core_call *c) { return band_plan(c).total; }

static damo_c128 *band_at(const band_space *s, damo_c128 *m, int64_t i, int64_t j) { return &m[j * s->w + i - j]; }
/* The first column whose band reaches row i. */
static int64_t band_first(const band_space *s, int64_t i) { return i >= s->w ? i - s->w + 1 : 0; }
static int64_t band_end(const band_space *s, int64_t j) { return j + s->w < s->n ? j + s->w : s->n; }

static void band_load(const band_space *s, const core_mat *ab, bool lower, damo_c128 *to) {
  for (int64_t j = 0; j < s->n; j++)
    for (int64_t i = j; i < band_end(s, j); i++)
      *band_at(s, to, i, j) = lower ? mat_get(ab, i - j, j) : complex_conj(mat_get(ab, s->w - 1 + j - i, i));
}

static void band_store(const band_space *s, const core_mat *ab, bool lower, damo_c128 *from) {
  for (int64_t r = 0; r < s->w; r++)
    for (int64_t j = 0; j < s->n; j++) mat_put(ab, r, j, (damo_c128){0, 0});
  for (int64_t j = 0; j < s->n; j++) {
    for (int64_t i = j; i < band_end(s, j); i++) {
      const damo_c128 v = *band_at(s, from, i, j);
      if (lower)
        mat_put(ab, i - j, j, v);
      else
        mat_put(ab, s->w - 1 + j - i, i, complex_conj(v));
    }
  }
}

static void band_subtract(damo_c128 *sum, damo_c128 x, damo_c128 y) {
  complex_add_product(sum, (damo_c128){-x.re, -x.im}, y);
}

/* What column j of the factor gives back: x has the gradients of the factor, y gets those of A. With S the entries of A less
 * the products of earlier columns, L(j,j) = sqrt S(j,j) and L(i,j) = S(i,j) / L(j,j). */
static void band_column_back(const band_space *s, int64_t j) {
  const double d = band_at(s, s->l, j, j)->re;
  double own = band_at(s, s->x, j, j)->re;
  for (int64_t i = j + 1; i < band_end(s, j); i++) {
    const damo_c128 g = *band_at(s, s->x, i, j), v = *band_at(s, s->l, i, j), gs = {g.re / d, g.im / d};
    own -= (g.re * v.re + g.im * v.im) / d;
    *band_at(s, s->y, i, j) = gs;
    for (int64_t k = band_first(s, i); k < j; k++) {
      band_subtract(band_at(s, s->x, i, k), gs, *band_at(s, s->l, j, k));
      band_subtract(band_at(s, s->x, j, k), complex_conj(gs), *band_at(s, s->l, i, k));
    }
  }
  const double gs = own / (2 * d);
  *band_at(s, s->y, j, j) = (damo_c128){gs, 0};
  for (int64_t k = band_first(s, j); k < j; k++)
    band_subtract(band_at(s, s->x, j, k), (damo_c128){2 * gs, 0}, *band_at(s, s->l, j, k));
}

static damo_status band_grad_run(core_call *c) {
  const band_space s = band_plan(c);
  const bool lower = band_lower(c->op);
  band_load(&s, &c->in[0], lower, s.l);
  band_load(&s, &c->in[1], lower, s.x);
  for (int64_t j = s.n - 1; j >= 0; j--) band_column_back(&s, j);
  band_store(&s, &c->out[0], lower, s.y);
  return DAMO_OK;
}

/* Column j of the factor's tangents y, where x has those of A. */
static void band_column_move(const band_space *s, int64_t j) {
  const double d = band_at(s, s->l, j, j)->re;
  double own = band_at(s, s->x, j, j)->re;
  for (int64_t k = band_first(s, j); k < j; k++) {
    const damo_c128 v = *band_at(s, s->l, j, k), t = *band_at(s, s->y, j, k);
    own -= 2 * (v.re * t.re + v.im * t.im);
  }
  const double moved = own / (2 * d);
  *band_at(s, s->y, j, j) = (damo_c128){moved, 0};
  for (int64_t i = j + 1; i < band_end(s, j); i++) {
    damo_c128 sum = *band_at(s, s->x, i, j);
    for (int64_t k = band_first(s, i); k < j; k++) {
      band_subtract(&sum, *band_at(s, s->y, i, k), complex_conj(*band_at(s, s->l, j, k)));
      band_subtract(&sum, *band_at(s, s->l, i, k), complex_conj(*band_at(s, s->y, j, k)));
    }
    const damo_c128 v = *band_at(s, s->l, i, j);
    *band_at(s, s->y, i, j) = (damo_c128){(sum.re - v.re * moved) / d, (sum.im - v.im * moved) / d};
  }
}

static damo_status band_tangent_run(core_call *c) {
  const band_space s = band_plan(c);
  const bool lower = band_lower(c->op);
  band_load(&s, &c->in[0], lower, s.l);
  band_load(&s, &c->in[1], lower, s.x);
  for (int64_t j = 0; j < s.n; j++) band_column_move(&s, j);
  band_store(&s, &c->out[0], lower, s.y);
  return DAMO_OK;
}

static const core_class band_grad_class = {.func = "cholesky_banded",
                                           .form = {.signature = "(w,n),(w,n)->(w,n)"},
                                           .workspace = band_workspace,
                                           .run = band_grad_run,
                                           .emit_c = band_grad_emit_c,
                                           .emits_complex = true};
static const core_class band_tangent_class = {.func = "cholesky_banded",
                                              .form = {.signature = "(w,n),(w,n)->(w,n)"},
                                              .workspace = band_workspace,
                                              .run = band_tangent_run,
                                              .emit_c = band_tangent_emit_c,
                                              .emits_complex = true};

static damo_status band_no_second(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  for (int i = 0; i < node->n_in && gout[0] != NULL; i++)
    gin[i] = build_null(b, "the second derivatives of cholesky_banded are not implemented");
  return b->status;
}

#define BAND_PROPS PROPS(PROP_FLAG(band_props, lower), PROP_WORD_OR_NIL(band_props, on_fail, "nan"))

static const op_def cholesky_band_grad_def = {
    .name = "CholeskyBandedGrad",
    .doc = "gradients of banded matrices from those of their Cholesky factors",
    .props = BAND_PROPS,
    .n_in = 2,
    CORE_OP(band_grad_class),
    .emit_c = core_emit_c,
    .grad = band_no_second,
    .no_check = "plain loops: spec/linalg/banded_spec.lua compares them with those of cholesky",
};

static const op_def cholesky_band_tangent_def = {
    .name = "CholeskyBandedTangent",
    .doc = "tangents of Cholesky factors of banded matrices",
    .props = BAND_PROPS,
    .n_in = 2,
    CORE_OP(band_tangent_class),
    .emit_c = core_emit_c,
    .grad = band_no_second,
    .no_check = "plain loops: spec/linalg/banded_spec.lua compares them with those of cholesky",
};

static damo_status cholesky_band_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const band_props props = {.lower = OP_PROPS(node->op, band_props)->lower};
  if (gout[0] != NULL)
    gin[0] = build_core_first(b, &cholesky_band_grad_def, &props, (damo_var *const[]){node->out[0], gout[0]}, 2);
  return b->status;
}

static damo_status cholesky_band_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const band_props props = {.lower = OP_PROPS(node->op, band_props)->lower};
  if (eval[0] != NULL)
    rout[0] = build_core_first(b, &cholesky_band_tangent_def, &props, (damo_var *const[]){node->out[0], eval[0]}, 2);
  return b->status;
}

static const op_def cholesky_band_def = {
    .name = "CholeskyBanded",
    .library = "LAPACK",
    .doc = "Cholesky factors of a stack of banded matrices",
    .props = BAND_PROPS,
    .n_in = 1,
    CORE_OP(cholesky_band_class),
    .emit_c = core_emit_c,
    .grad = cholesky_band_grad,
    .rop = cholesky_band_rop,
    .no_check = "spec/linalg/banded_spec.lua compares it with cholesky",
};

/* ---- Functions ------------------------------------------------------------------------------------------------------ */

typedef struct band_options {
  prop_value lower, bands, b_ndim, on_fail;
} band_options;

/* The number of diagonals of operand 1, which the systems are made for. -1: the scope has failed. */
static int64_t band_count(build *b, const fn_args *a, const damo_var *ab) {
  const int64_t given = prop_int_or(FN_OPTIONS(a, band_options)->bands, -1), known = ab->type->shape[var_ndim(ab) - 2];
  if (known < 0 && given < 1) {
    build_fail(b, DAMO_EVALUE,
               "%s: the number of diagonals in operand 1 is not known; give it as bands=", a->func->name);
    return -1;
  }
  if (known == 0 || (known > 0 && given > 0 && known != given)) {
    build_fail(b, DAMO_ESHAPE, "%s: operand 1 has %lld diagonals, not %lld", a->func->name, (long long)known,
               (long long)(given > 0 ? given : 1));
    return -1;
  }
  return known > 0 ? known : given;
}

/* Two systems with triangular bands: L·y = b and Lᴴ·x = y, or Uᴴ·y = b and U·x = y. */
static damo_status give_band_solution(build *b, const fn_args *a, damo_var *factor, ptrvec *out) {
  const band_options *o = FN_OPTIONS(a, band_options);
  const bool lower = prop_bool_or(o->lower, false);
  const int vector = factor != NULL ? vector_option(b, a, o->b_ndim, a->in[1]) : -1;
  const int64_t w = vector >= 0 ? band_count(b, a, factor) : -1;
  banded_props props = {
      .l = prop_int(lower ? w - 1 : 0), .u = prop_int(lower ? 0 : w - 1), .vector = prop_bool(vector == 1)};
  if (w < 0 || !core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  damo_var *x = a->in[1];
  for (int step = 0; step < 2 && x != NULL; step++) {
    props.trans = system_prop((step == 0) == lower ? 'n' : 'h');
    x = build_core_first(b, &solve_banded_def, &props, (damo_var *const[]){factor, x}, 2);
  }
  return fn_give(b, out, x);
}

static damo_var *band_factor_of(build *b, const fn_args *a) {
  const band_options *o = FN_OPTIONS(a, band_options);
  band_props props = {.lower = prop_bool(prop_bool_or(o->lower, false))};
  damo_var *ab = matrix_operand(b, a, 0, 2);
  if (ab == NULL || !core_on_fail(b, a, o->on_fail, &props.on_fail)) return NULL;
  return build_core_first(b, &cholesky_band_def, &props, &ab, 1);
}

static damo_status fn_cholesky_banded(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, band_factor_of(b, a));
}

static damo_status fn_cho_solve_banded(build *b, const fn_args *a, ptrvec *out) {
  return give_band_solution(b, a, build_float(b, matrix_operand(b, a, 0, 2)), out);
}

static damo_status fn_solveh_banded(build *b, const fn_args *a, ptrvec *out) {
  return give_band_solution(b, a, band_factor_of(b, a), out);
}

#define BAND_SYSTEM_OPTIONS                                                                                          \
  OPTIONS(OPT(band_options, lower, OPT_BOOL), OPT(band_options, bands, OPT_INT), OPT(band_options, b_ndim, OPT_INT), \
          OPT(band_options, on_fail, OPT_STR))
const op_func linalg_cholesky_band_funcs[] = {
    {.name = "linalg.cholesky_banded",
     .operands = "ab",
     .options = OPTIONS(OPT(band_options, lower, OPT_BOOL), OPT(band_options, on_fail, OPT_STR)),
     .call = fn_cholesky_banded,
     .no_method = true,
     .doc = "the Cholesky factor, in the form of ab, of Hermitian matrices whose upper (or lower) diagonals are the "
            "rows of "
            "ab, the main one last (first)"},
    {.name = "linalg.cho_solve_banded",
     .operands = "cb b",
     .options = BAND_SYSTEM_OPTIONS,
     .call = fn_cho_solve_banded,
     .no_method = true,
     .doc = "x of a·x = b, given the factor cb that cholesky_banded gives of a"},
    {.name = "linalg.solveh_banded",
     .operands = "ab b",
     .options = BAND_SYSTEM_OPTIONS,
     .call = fn_solveh_banded,
     .no_method = true,
     .doc =
         "x of a·x = b of positive definite matrices whose upper (or lower) diagonals are the rows of ab, by Cholesky"},
    {.name = NULL},
};
#undef BAND_PROPS
#undef BAND_SYSTEM_OPTIONS

const op_def *const linalg_cholesky_band_classes[] = {&cholesky_band_def, &cholesky_band_grad_def,
                                                      &cholesky_band_tangent_def, NULL};
