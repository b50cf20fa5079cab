/* gap: GapQuotient: x(i, j)/(s(j) - s(i)) with a diagonal of 0, x(i, j)/(s(j) + s(i)), or x(i, j)/s(j), as derivatives of
 * eigenvectors and singular vectors have them.
 *
 * Where the divisor is 0 to rounding, vectors of one value span a space in which they may turn. A function that depends
 * on that space alone has x = 0 there, to the rounding of terms of the size of `scale`: the quotient is 0 then. Of
 * another function the gradient does not exist, which is a numeric error.
 */
#include "core_c.h"
#include "spectral.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <float.h>
#include <math.h>

typedef struct gap_props {
  prop_value kind, complex_values;
} gap_props;

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static double mat_greatest(const core_mat *m) {
  double most = 0;
  const int64_t n = m->cols * (dtype_is_complex(m->dtype) ? 2 : 1);
  const bool single = m->dtype == DAMO_FLOAT32 || m->dtype == DAMO_COMPLEX64;
  for (int64_t i = 0; i < m->rows; i++) {
    const void *row = m->data + i * m->rs;
    for (int64_t j = 0; j < n; j++) {
      const double v = fabs(single ? (double)((const float *)row)[j] : ((const double *)row)[j]);
      if (v > most) most = v;
    }
  }
  return most;
}

static damo_status gap_fail(core_call *c, gap_kind kind, int64_t i, int64_t j) {
  if (kind == GAP_VALUE)
    return core_fail(c, "value %lld is 0 to rounding: its vector has no gradient", (long long)j + 1);
  return core_fail(c, "values %lld and %lld are %s to rounding: their vectors have no gradient", (long long)i + 1,
                   (long long)j + 1, kind == GAP_DIFFERENCE ? "equal" : "0");
}

/* Rows of real values: x and q have `width` reals an entry. */
#define GAP_ROWS(name, T)                                                                       \
  static damo_status name(core_call *c, gap_kind kind, int width, double least, double noise) { \
    const core_mat *x = &c->in[0], *q = &c->out[0];                                             \
    const T *s = (const T *)(const void *)c->in[1].data;                                        \
    for (int64_t i = 0; i < x->rows; i++) {                                                     \
      const T *from = (const T *)(const void *)(x->data + i * x->rs);                           \
      T *to = (T *)(void *)(q->data + i * q->rs);                                               \
      for (int64_t j = 0; j < x->cols; j++) {                                                   \
        const T d = kind == GAP_VALUE ? s[j] : kind == GAP_SUM ? s[j] + s[i] : s[j] - s[i];     \
        if (fabs((double)d) > least && !(kind == GAP_DIFFERENCE && i == j)) {                   \
          for (int k = 0; k < width; k++) to[j * width + k] = from[j * width + k] / d;          \
          continue;                                                                             \
        }                                                                                       \
        for (int k = 0; k < width; k++) {                                                       \
          if (!(i == j && kind != GAP_VALUE) && !(fabs((double)from[j * width + k]) <= noise))  \
            return gap_fail(c, kind, i, j);                                                     \
          to[j * width + k] = 0;                                                                \
        }                                                                                       \
      }                                                                                         \
    }                                                                                           \
    return DAMO_OK;                                                                             \
  }
GAP_ROWS(gap_rows_f32, float)
GAP_ROWS(gap_rows_f64, double)

/* Differences of complex values. */
static damo_status gap_rows_complex(core_call *c, double least, double noise) {
  const core_mat *x = &c->in[0], *s = &c->in[1], *q = &c->out[0];
  for (int64_t i = 0; i < x->rows; i++) {
    const damo_c128 si = mat_get(s, i, 0);
    for (int64_t j = 0; j < x->cols; j++) {
      const damo_c128 v = mat_get(x, i, j), sj = mat_get(s, j, 0), d = {sj.re - si.re, sj.im - si.im};
      const double size = hypot(d.re, d.im);
      damo_c128 quotient = {0, 0};
      if (i != j && size > least) {
        const double re = d.re / size, im = d.im / size;
        quotient = (damo_c128){(v.re * re + v.im * im) / size, (v.im * re - v.re * im) / size};
      } else if (i != j && !(hypot(v.re, v.im) <= noise)) {
        return gap_fail(c, GAP_DIFFERENCE, i, j);
      }
      mat_put(q, i, j, quotient);
    }
  }
  return DAMO_OK;
}

static damo_status gap_run(core_call *c) {
  const gap_props *p = OP_PROPS(c->op, gap_props);
  const gap_kind kind = (gap_kind)p->kind.u.i;
  const bool single = c->dtype == DAMO_FLOAT32 || c->dtype == DAMO_COMPLEX64;
  const double eps = single ? FLT_EPSILON : DBL_EPSILON, n = (double)c->in[1].rows;
  double greatest = 0;
  for (int64_t j = 0; j < c->in[1].rows; j++) {
    const damo_c128 v = mat_get(&c->in[1], j, 0);
    greatest = fmax(greatest, hypot(v.re, v.im));
  }
  const double least = (8 + 2 * sqrt(n)) * eps * greatest;
  const double noise = 8 * (n + (double)c->in[2].rows) * eps * mat_greatest(&c->in[2]);
  if (prop_bool_or(p->complex_values, false)) return gap_rows_complex(c, least, noise);
  const int width = dtype_is_complex(c->dtype) ? 2 : 1;
  return single ? gap_rows_f32(c, kind, width, least, noise) : gap_rows_f64(c, kind, width, least, noise);
}

static const core_form gap_square_form = {
    .signature = "(n,n),(n),(k,l)->(n,n)", .in = "frf", .in_layout = "rcr", .out = "f"};
static const core_form gap_complex_form = {
    .signature = "(n,n),(n),(k,l)->(n,n)", .in = "fff", .in_layout = "rsr", .out = "f"};
static const core_form gap_columns_form = {
    .signature = "(m,n),(n),(k,l)->(m,n)", .in = "frf", .in_layout = "rcr", .out = "f"};

static const core_form *gap_form(const damo_op *op) {
  const gap_props *p = OP_PROPS(op, gap_props);
  return p->kind.u.i == GAP_VALUE                 ? &gap_columns_form
         : prop_bool_or(p->complex_values, false) ? &gap_complex_form
                                                  : &gap_square_form;
}

static const core_class gap_class = {.func = "the gradient of a decomposition",
                                     .form_of = gap_form,
                                     .run = gap_run,
                                     .emit_c = gap_emit_c,
                                     .emits_complex = true};

/* ---- Gradient ---------------------------------------------------------------------------------------------------- */

damo_var *build_gap_quotient(build *b, gap_kind kind, damo_var *x, damo_var *s, damo_var *scale) {
  if (x == NULL || s == NULL || scale == NULL) return NULL;
  const gap_props props = {.kind = prop_int(kind), .complex_values = prop_bool(dtype_is_complex(var_dtype(s)))};
  return build_core_first(b, &gap_def, &props, (damo_var *const[]){x, s, scale}, 3);
}

/* With q = x/d and h = g/d̄, which is the cotangent of x, that of d is -q̄·h. */
static damo_status gap_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *s = node->in[1];
  const gap_kind kind = (gap_kind)OP_PROPS(node->op, gap_props)->kind.u.i;
  if (g == NULL) return b->status;
  damo_var *h = build_gap_quotient(b, kind, g, build_conj_if_complex(b, s), g);
  if (h == NULL) return b->status;
  damo_var *gd = build_neg(b, build_mul(b, build_conj_if_complex(b, node->out[0]), h));
  if (gd != NULL && dtype_is_complex(var_dtype(gd)) && !dtype_is_complex(var_dtype(s))) gd = build_real(b, gd);
  if (gd == NULL) return b->status;
  const int row = var_ndim(gd) - 2, col = row + 1;
  damo_var *gs = build_reduce(b, REDUCE_SUM, gd, &row, 1, false);
  if (kind != GAP_VALUE) {
    damo_var *other = build_reduce(b, REDUCE_SUM, gd, &col, 1, false);
    gs = kind == GAP_SUM ? build_add(b, gs, other) : build_sub(b, gs, other);
  }
  gin[0] = build_unbroadcast(b, h, node->in[0]);
  gin[1] = build_unbroadcast(b, gs, s);
  return b->status;
}

/* dq = (dx - q∘dd)/d */
static damo_status gap_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *s = node->in[1], *change = eval[0], *ds = eval[1];
  const gap_kind kind = (gap_kind)OP_PROPS(node->op, gap_props)->kind.u.i;
  if (ds != NULL) {
    damo_var *dd = build_new_axis(b, ds, var_ndim(s) - 1), *other = build_new_axis(b, ds, var_ndim(s));
    if (kind != GAP_VALUE) dd = kind == GAP_SUM ? build_add(b, dd, other) : build_sub(b, dd, other);
    damo_var *term = build_mul(b, node->out[0], dd);
    change = change != NULL ? build_sub(b, change, term) : build_neg(b, term);
  }
  if (change != NULL) rout[0] = build_gap_quotient(b, kind, change, s, change);
  return b->status;
}

static void gap_connected(const damo_apply *node, bool *connected) {
  (void)node;
  connected[2] = false;
}

const op_def gap_def = {
    .name = "GapQuotient",
    .library = "C's library",
    .doc = "quotients by differences of eigenvalues or singular values",
    .props = PROPS(PROP_INTEGER(gap_props, kind, GAP_DIFFERENCE, GAP_VALUE), PROP_FLAG(gap_props, complex_values)),
    .n_in = 3,
    CORE_OP(gap_class),
    .emit_c = core_emit_c,
    .grad = gap_grad,
    .rop = gap_rop,
    .connection_pattern = gap_connected,
    OP_CHECK(gap_check),
};
