/* cholesky: Cholesky: A = L·Lᴴ with L lower triangular, or A = Uᴴ·U.
 *
 * One triangle of A is read, as `lower` says. The other one is taken as its conjugate transpose, so the gradient lies in
 * the triangle that is read, and what belongs to both entries is added there.
 */
#include "core_c.h"
#include "decompose.h"
#include "kernel/kernel.h"
#include "kernel/lanes/lanes.h"
#include "lapack.h"
#include "op/shape/shape_int.h"

#include <complex.h>
#include <string.h>

#undef complex /* a scalar op has that name; the type is written _Complex */

/* LAPACK's lower variant is the faster one by a quarter for matrices past this order, which pays for two transposes. */
enum { CHOLESKY_TRANSPOSE_FROM = 64, CHOLESKY_STRIP = 32 };

static bool cholesky_transposes(const core_call *c) {
  return OP_PROPS(c->op, cholesky_props)->lower.u.i != 0 && c->out[0].rows >= CHOLESKY_TRANSPOSE_FROM;
}

static size_t cholesky_workspace(const core_call *c) {
  const size_t n = (size_t)c->out[0].rows;
  return cholesky_transposes(c) ? n * n * dtype_size(c->dtype) : 0;
}

/* Copies the lower triangle in strips of rows, with what their last block has above the diagonal. */
static void cholesky_copy_lower(char *src, const int64_t ss[2], char *dst, const int64_t ds[2], int64_t n,
                                size_t size) {
  for (int64_t i = 0; i < n; i += CHOLESKY_STRIP) {
    const int64_t end = i + CHOLESKY_STRIP < n ? i + CHOLESKY_STRIP : n;
    kernel_copy_nd(src + i * ss[0], ss, dst + i * ds[0], ds, 2, (int64_t[]){end - i, end}, size);
  }
}

static damo_status cholesky_run(core_call *c) {
  const core_mat *a = &c->in[0], *m = &c->out[0];
  const bool lower = OP_PROPS(c->op, cholesky_props)->lower.u.i != 0, transposes = cholesky_transposes(c);
  const lapack_int n = (lapack_int)m->rows, ld = transposes ? n : (lapack_int)m->ld;
  const size_t size = dtype_size(m->dtype);
  const int64_t by_rows[2] = {m->rs, m->cs}, by_columns[2] = {(int64_t)size, (int64_t)size * n};
  lapack_int info = 0;
  if (transposes) cholesky_copy_lower(a->data, (int64_t[]){a->rs, a->cs}, c->work, by_columns, n, size);
  for (int64_t i = 0; i < n && !transposes; i++) {
    char *row = m->data + i * m->rs;
    const size_t first = lower ? 0 : (size_t)i * size, last = (lower ? (size_t)(i + 1) : (size_t)n) * size;
    memcpy(row + first, a->data + i * a->rs + first, last - first);
  }
  /* A matrix by rows is the transpose to LAPACK, so that the triangle is the other one: Aᵀ = L̄·Lᵀ, whose upper factor
   * is Lᵀ. */
  lapack_of(c->dtype)->potrf(lower && !transposes ? "U" : "L", &n, transposes ? c->work : m->data, &ld, &info, 1);
  if (info > 0) {
    return core_fail(c, "the matrix is not positive definite: its leading minor of order %d is not positive",
                     (int)info);
  }
  if (transposes) cholesky_copy_lower(c->work, by_columns, m->data, by_rows, n, size);
  for (int64_t i = 0; i < n; i++) {
    char *row = m->data + i * m->rs;
    if (lower)
      memset(row + (size_t)(i + 1) * size, 0, (size_t)(n - i - 1) * size);
    else
      memset(row, 0, (size_t)i * size);
  }
  return DAMO_OK;
}

static bool cholesky_plan_lanes(const core_call *c, core_lane_plan *plan) {
  plan->transposed_in[0] = plan->transposed_out[0] = OP_PROPS(c->op, cholesky_props)->lower.u.i == 0;
  return true;
}

static void cholesky_lanes(const core_call *c, const core_lanes *l) {
  const int n = (int)c->in[0].rows;
  lanes_copy(c, l->out[0], l->in[0], n * n);
  l->fns->cholesky(n, l->out[0], l->failed);
}

static const core_class cholesky_class = {.func = "cholesky",
                                          .form = {.signature = "(n,n)->(n,n)", .in_layout = "r"},
                                          .workspace = cholesky_workspace,
                                          .run = cholesky_run,
                                          .plan_lanes = cholesky_plan_lanes,
                                          .run_lanes = cholesky_lanes,
                                          .emit_c = cholesky_emit_c,
                                          .emits_complex = true};

damo_var *build_cholesky(build *b, damo_var *a, bool lower) {
  const cholesky_props props = {.lower = prop_bool(lower)};
  return build_core_first(b, &cholesky_def, &props, &a, 1);
}

/* ---- HalfTriangle ------------------------------------------------------------------------------------------------ */

/* Φ(x), the lower triangle of x with half its diagonal, or with `hermitian` Φ(x + xᴴ). */
typedef struct half_props {
  prop_value hermitian;
} half_props;

#define HALF_TILE 32

/* Tiles, so that the rows of xᴴ are read from the cache. */
#define HALF_TRIANGLE(name, type, conjugate)                                                                   \
  static void name(const core_mat *x, const core_mat *out, bool hermitian) {                                   \
    const int64_t n = x->rows;                                                                                 \
    for (int64_t i0 = 0; i0 < n; i0 += HALF_TILE) {                                                            \
      for (int64_t j0 = 0; j0 < n; j0 += HALF_TILE) {                                                          \
        for (int64_t i = i0; i < n && i < i0 + HALF_TILE; i++) {                                               \
          type *to = (type *)(void *)out->data + i * n;                                                        \
          const type *row = (const type *)(const void *)(x->data + i * x->rs);                                 \
          const int64_t last = j0 + HALF_TILE < n ? j0 + HALF_TILE : n, kept = i < last ? i : last;            \
          for (int64_t j = j0; j < kept; j++) {                                                                \
            to[j] = row[j];                                                                                    \
            if (hermitian) to[j] += conjugate(*(const type *)(const void *)(x->data + j * x->rs + i * x->cs)); \
          }                                                                                                    \
          if (i >= j0 && i < last) to[i] = hermitian ? (row[i] + conjugate(row[i])) / 2 : row[i] / 2;          \
          const int64_t empty = i + 1 > j0 ? i + 1 : j0;                                                       \
          if (empty < last) memset(to + empty, 0, (size_t)(last - empty) * sizeof *to);                        \
        }                                                                                                      \
      }                                                                                                        \
    }                                                                                                          \
  }
#define HALF_SAME(v) (v)
HALF_TRIANGLE(half_f32, float, HALF_SAME)
HALF_TRIANGLE(half_f64, double, HALF_SAME)
HALF_TRIANGLE(half_c64, float _Complex, conjf)
HALF_TRIANGLE(half_c128, double _Complex, conj)

static damo_status half_run(core_call *c) {
  const bool hermitian = prop_bool_or(OP_PROPS(c->op, half_props)->hermitian, false);
  const core_mat *x = &c->in[0], *out = &c->out[0];
  switch ((int)c->dtype) {
    case DAMO_FLOAT32: half_f32(x, out, hermitian); break;
    case DAMO_FLOAT64: half_f64(x, out, hermitian); break;
    case DAMO_COMPLEX64: half_c64(x, out, hermitian); break;
    default: half_c128(x, out, hermitian); break;
  }
  return DAMO_OK;
}

static const core_class half_class = {.func = "half_triangle",
                                      .form = {.signature = "(n,n)->(n,n)", .in_layout = "r"},
                                      .run = half_run,
                                      .emit_c = half_triangle_emit_c,
                                      .emits_complex = true};

static const op_def half_triangle_def;

static damo_var *build_half(build *b, damo_var *x, bool hermitian) {
  const half_props props = {.hermitian = prop_bool(hermitian)};
  return build_core_first(b, &half_triangle_def, &props, &x, 1);
}
static damo_var *build_half_triangle(build *b, damo_var *x) { return build_half(b, x, false); }

/* Φ is its own adjoint. */
static damo_status half_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *g = build_half(b, gout[0], false);
  const bool hermitian = prop_bool_or(OP_PROPS(node->op, half_props)->hermitian, false);
  gin[0] = hermitian ? build_add(b, g, build_adjoint(b, g)) : g;
  return b->status;
}

static const op_def half_triangle_def = {
    .name = "HalfTriangle",
    .doc = "the lower triangle with half its diagonal",
    .props = PROPS(PROP_FLAG(half_props, hermitian)),
    .n_in = 1,
    CORE_OP(half_class),
    .emit_c = core_emit_c,
    .grad = half_grad,
    .rop = rop_again,
    .terms = TERMS_LINEAR,
    .no_check = "plain loops: spec/linalg/triangular_spec.lua compares derivatives with differences",
};

/* ---- Rules of Cholesky ------------------------------------------------------------------------------------------- */

/* The lower factor, or its conjugate transpose; and back. */
static damo_var *as_lower(build *b, damo_var *x, bool lower) { return lower ? x : build_adjoint(b, x); }

/* With Φ the lower triangle with half its diagonal: S = L⁻ᴴ·Φ(Lᴴ·L̄)·L⁻¹, and Ā = Φ(S + Sᴴ) in the triangle that is
 * read. I. Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527, (10), with one triangle for both. */
static damo_status cholesky_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const bool lower = OP_PROPS(node->op, cholesky_props)->lower.u.i != 0;
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *l = as_lower(b, node->out[0], lower), *g = as_lower(b, gout[0], lower);
  const triangle_var t = {l, true, false};
  damo_var *p = build_half_triangle(b, build_matmul(b, build_adjoint(b, l), g));
  damo_var *s = build_triangular_right(b, t, 'n', build_triangular_left(b, t, 'h', p));
  gin[0] = as_lower(b, build_half(b, s, true), lower);
  return b->status;
}

/* dL = L·Φ(L⁻¹·dA·L⁻ᴴ), dA the Hermitian matrix of the triangle: Φ(dA) + Φ(dA)ᴴ. */
static damo_status cholesky_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const bool lower = OP_PROPS(node->op, cholesky_props)->lower.u.i != 0;
  if (eval[0] == NULL) return DAMO_OK;
  damo_var *l = as_lower(b, node->out[0], lower), *half = build_half_triangle(b, as_lower(b, eval[0], lower));
  const triangle_var t = {l, true, false};
  damo_var *d = build_add(b, half, build_adjoint(b, half));
  damo_var *middle = build_triangular_right(b, t, 'h', build_triangular_left(b, t, 'n', d));
  rout[0] = as_lower(b, build_matmul(b, l, build_half_triangle(b, middle)), lower);
  return b->status;
}

const op_def cholesky_def = {
    .name = "Cholesky",
    .library = "LAPACK",
    .doc = "Cholesky factor of a stack of positive definite matrices",
    .props = PROPS(PROP_FLAG(cholesky_props, lower), PROP_WORD_OR_NIL(cholesky_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(cholesky_class),
    .emit_c = core_emit_c,
    .grad = cholesky_grad,
    .rop = cholesky_rop,
    OP_CHECK(cholesky_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct cholesky_options {
  prop_value lower, on_fail;
} cholesky_options;

static damo_status fn_cholesky(build *b, const fn_args *a, ptrvec *out) {
  const cholesky_options *o = FN_OPTIONS(a, cholesky_options);
  cholesky_props props = {.lower = prop_bool(prop_bool_or(o->lower, true))};
  if (!core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  return fn_give(b, out, build_core_first(b, &cholesky_def, &props, a->in, 1));
}

const op_func linalg_cholesky_funcs[] = {
    {.name = "linalg.cholesky",
     .operands = "a",
     .options = OPTIONS(OPT(cholesky_options, lower, OPT_BOOL), OPT(cholesky_options, on_fail, OPT_STR)),
     .call = fn_cholesky,
     .no_method = true,
     .doc = "the lower triangular L of a = L·Lᴴ, or with lower=false the upper U of a = Uᴴ·U"},
    {.name = NULL},
};

const op_def *const linalg_cholesky_classes[] = {&cholesky_def, &half_triangle_def, NULL};
