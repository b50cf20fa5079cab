/* toeplitz: SolveToeplitz: systems whose matrix T has constant diagonals, the first column c and the first row r, whose first
 * entry is not read. By Levinson's recursion (Golub and Van Loan, Matrix Computations, 4.7) in some 5·n² products and the
 * memory of a few vectors, in double precision.
 *
 * The recursion divides by the leading minors, and its errors grow where one is near 0. A solution whose residual is not
 * as small as that of a stable method is computed anew, by LU of the whole matrix.
 */
#include "compose.h"
#include "core_c.h"
#include "decompose.h"
#include "schur_form.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <float.h>

typedef struct toeplitz_props {
  prop_value vector, on_fail;
} toeplitz_props;

/* ---- Levinson's recursion ---------------------------------------------------------------------------------------- */

#define PLAIN_SUB_PRODUCT(s, x, y) ((s) - (x) * (y))
#define PLAIN_DIV(x, y) ((x) / (y))
#define PLAIN_NEG(x) (-(x))
#define PLAIN_SIZE(x) fabs(x)
#define PLAIN_OF(z) ((z).re)
#define PLAIN_TO(x) ((damo_c128){(x), 0})

static inline damo_c128 complex_sub_product(damo_c128 s, damo_c128 x, damo_c128 y) {
  const damo_c128 p = mul_c128(x, y);
  return (damo_c128){s.re - p.re, s.im - p.im};
}
static inline damo_c128 complex_neg(damo_c128 z) { return (damo_c128){-z.re, -z.im}; }
#define COMPLEX_OF(z) (z)
#define COMPLEX_TO(x) (x)

/* NAME##_levinson: t holds T's diagonals, t[n - 1 + i - j] = T(i, j); f and g become the last columns of the inverses of
 * the leading matrices and of their transposes, scaled; x the solutions, one after the other. False: a leading minor is 0.
 * NAME##_residual: the greatest modulus in b - T·x, where `scale` becomes that in x; nan where one is. */
#define LEVINSON(NAME, T, SUB_PRODUCT, DIV, NEG, SIZE, OF, TO)                                                    \
  static bool NAME##_levinson(int64_t n, int64_t k, const T *t, const core_mat *b, T *f, T *g, T *x) {            \
    const T *d = t + n - 1;                                                                                       \
    if (SIZE(d[0]) == 0) return false;                                                                            \
    for (int64_t c = 0; c < k; c++) x[c * n] = DIV(OF(mat_get(b, 0, c)), d[0]);                                   \
    if (n > 1) f[0] = DIV(d[-1], d[0]), g[0] = DIV(d[1], d[0]);                                                   \
    for (int64_t m = 1; m < n; m++) {                                                                             \
      T minor = d[0];                                                                                             \
      for (int64_t j = 0; j < m; j++) minor = SUB_PRODUCT(minor, d[m - j], f[m - 1 - j]);                         \
      if (SIZE(minor) == 0) return false;                                                                         \
      for (int64_t c = 0; c < k; c++) {                                                                           \
        T *v = x + c * n, last = OF(mat_get(b, m, c));                                                            \
        for (int64_t j = 0; j < m; j++) last = SUB_PRODUCT(last, d[m - j], v[j]);                                 \
        last = DIV(last, minor);                                                                                  \
        for (int64_t j = 0; j < m; j++) v[j] = SUB_PRODUCT(v[j], last, f[m - 1 - j]);                             \
        v[m] = last;                                                                                              \
      }                                                                                                           \
      if (m == n - 1) return true;                                                                                \
      T above = NEG(d[-m - 1]), below = NEG(d[m + 1]), other = d[0];                                              \
      for (int64_t j = 0; j < m; j++) {                                                                           \
        above = SUB_PRODUCT(above, NEG(d[j - m]), f[j]);                                                          \
        below = SUB_PRODUCT(below, NEG(d[m - j]), g[j]);                                                          \
        other = SUB_PRODUCT(other, d[j - m], g[m - 1 - j]);                                                       \
      }                                                                                                           \
      if (SIZE(other) == 0) return false;                                                                         \
      f[m] = DIV(NEG(above), other), g[m] = DIV(NEG(below), minor);                                               \
      for (int64_t j = 0, i = m - 1; j <= i; j++, i--) {                                                          \
        const T fj = f[j], fi = f[i], gj = g[j], gi = g[i];                                                       \
        f[j] = SUB_PRODUCT(fj, f[m], gi), f[i] = SUB_PRODUCT(fi, f[m], gj);                                       \
        g[j] = SUB_PRODUCT(gj, g[m], fi), g[i] = SUB_PRODUCT(gi, g[m], fj);                                       \
      }                                                                                                           \
    }                                                                                                             \
    return true;                                                                                                  \
  }                                                                                                               \
  static double NAME##_residual(int64_t n, const T *t, const core_mat *b, int64_t c, const T *x, double *scale) { \
    double most = 0;                                                                                              \
    for (int64_t i = 0; i < n; i++) {                                                                             \
      T rest = OF(mat_get(b, i, c));                                                                              \
      for (int64_t j = 0; j < n; j++) rest = SUB_PRODUCT(rest, t[n - 1 + i - j], x[j]);                           \
      const double size = SIZE(rest), own = SIZE(x[i]);                                                           \
      if (!(size <= most)) most = size;                                                                           \
      if (own > *scale) *scale = own;                                                                             \
    }                                                                                                             \
    return most;                                                                                                  \
  }                                                                                                               \
  static bool NAME##_toeplitz(core_call *call, void *work) {                                                      \
    const core_mat *col = &call->in[0], *row = &call->in[1], *b = &call->out[0];                                  \
    const int64_t n = col->rows, k = b->cols;                                                                     \
    T *t = work, *f = t + 2 * n - 1, *g = f + n, *x = g + n;                                                      \
    double norm = 0;                                                                                              \
    for (int64_t i = 0; i < n; i++) t[n - 1 + i] = OF(mat_get(col, i, 0));                                        \
    for (int64_t j = 1; j < n; j++) t[n - 1 - j] = OF(mat_get(row, j, 0));                                        \
    for (int64_t i = 0; i < 2 * n - 1; i++) norm += SIZE(t[i]);                                                   \
    if (!NAME##_levinson(n, k, t, b, f, g, x)) return false;                                                      \
    for (int64_t c = 0; c < k; c++) {                                                                             \
      double scale = 0;                                                                                           \
      const double rest = NAME##_residual(n, t, b, c, x + c * n, &scale);                                         \
      if (!(rest <= toeplitz_rest(call->dtype) * norm * scale)) return false;                                     \
    }                                                                                                             \
    for (int64_t c = 0; c < k; c++) {                                                                             \
      for (int64_t i = 0; i < n; i++) mat_put(b, i, c, TO(x[c * n + i]));                                         \
    }                                                                                                             \
    return true;                                                                                                  \
  }

/* The residual of a solution that is kept, as a part of that which a rounding of the matrix would give. */
static double toeplitz_rest(damo_dtype dtype) {
  return 16 * (dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64 ? FLT_EPSILON : DBL_EPSILON);
}

LEVINSON(plain, double, PLAIN_SUB_PRODUCT, PLAIN_DIV, PLAIN_NEG, PLAIN_SIZE, PLAIN_OF, PLAIN_TO)
LEVINSON(complex, damo_c128, complex_sub_product, div_c128, complex_neg, complex_size, COMPLEX_OF, COMPLEX_TO)

/* ---- One system -------------------------------------------------------------------------------------------------- */

static const core_form toeplitz_forms[2] = {
    {.signature = "(n),(n),(n,k)->(n,k)", .in_layout = "ss-", .out_layout = "c", .from = "3"},
    {.signature = "(n),(n),(n)->(n)", .in_layout = "ss-", .out_layout = "c", .from = "3"},
};
static const core_form *toeplitz_form(const damo_op *op) {
  return &toeplitz_forms[prop_bool_or(OP_PROPS(op, toeplitz_props)->vector, false)];
}

static size_t toeplitz_workspace(const core_call *c) {
  const size_t n = (size_t)c->in[0].rows, k = (size_t)c->out[0].cols;
  return (4 * n + n * k) * (dtype_is_complex(c->dtype) ? sizeof(damo_c128) : sizeof(double));
}

/* By LU of the whole matrix, whose memory is taken only here. */
static damo_status toeplitz_run_whole(core_call *c) {
  const int64_t n = c->in[0].rows, size = (int64_t)dtype_size(c->dtype);
  const lapack_int order = (lapack_int)n;
  lapack_int info = 0;
  damo_array *whole = array_empty(c->ctx, c->dtype, 2, (const int64_t[2]){n, n});
  damo_array *pivots = array_empty(c->ctx, DAMO_INT64, 1, &n);
  damo_status s = whole != NULL && pivots != NULL ? DAMO_OK : DAMO_EMEMORY;
  if (s == DAMO_OK) {
    const core_mat a = {
        .data = whole->data, .rows = n, .cols = n, .ld = n, .rs = size, .cs = n * size, .dtype = c->dtype};
    lapack_int *ipiv = (lapack_int *)(void *)pivots->data;
    for (int64_t j = 0; j < n; j++) {
      for (int64_t i = 0; i < n; i++)
        mat_put(&a, i, j, i >= j ? mat_get(&c->in[0], i - j, 0) : mat_get(&c->in[1], j - i, 0));
    }
    lapack_of(c->dtype)->getrf(&order, &order, a.data, &order, ipiv, &info);
    s = info > 0 ? core_fail(c, "the matrix is singular: pivot %d is 0", (int)info)
                 : mat_lu_solve(&a, ipiv, &c->out[0], false, 'n');
  }
  damo_release(whole);
  damo_release(pivots);
  return s;
}

static damo_status toeplitz_run(core_call *c) {
  if (c->in[0].rows == 0) return DAMO_OK;
  const bool done = dtype_is_complex(c->dtype) ? complex_toeplitz(c, c->work) : plain_toeplitz(c, c->work);
  return done ? DAMO_OK : toeplitz_run_whole(c);
}

static const core_class toeplitz_class = {.func = "solve_toeplitz",
                                          .form_of = toeplitz_form,
                                          .workspace = toeplitz_workspace,
                                          .run = toeplitz_run,
                                          .emit_c = toeplitz_emit_c,
                                          .emits_complex = true};

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* x with as many zeros behind its entries along the axis. */
static damo_var *build_padded(build *b, damo_var *x, int axis) {
  return build_join(b, "solve_toeplitz", axis, (damo_var *const[]){x, build_zeros_like(b, x)}, 2);
}

/* The sums along the diagonals of p·qᴴ, from entry (0, 0) those below in the first result, those above in the second one, whose
 * first entry is 0: the correlation of the columns of p and q, by transforms of 2·n points. */
static damo_status build_diagonal_sums(build *b, damo_var *p, damo_var *q, damo_var **below, damo_var **above) {
  const int axis = var_ndim(p) - 2, columns = axis + 1;
  const bool is_complex = dtype_is_complex(var_dtype(p));
  damo_var *n = build_dim(b, p, axis), *zero = build_i64(b, 0), *one = build_i64(b, 1);
  damo_var *fp = build_circulant_transform(b, build_padded(b, p, axis), axis);
  damo_var *fq = build_circulant_transform(b, build_padded(b, q, axis), axis);
  if (fp == NULL || fq == NULL || n == NULL) return b->status;
  damo_var *spectrum = build_reduce(b, REDUCE_SUM, build_mul(b, fp, build_conj(b, fq)), &columns, 1, false);
  damo_var *sums = build_circulant_inverse(b, spectrum, build_length_add(b, n, n), is_complex, axis);
  *below = build_slice(b, sums, axis, NULL, n, 1);
  damo_var *none = build_zeros_like(b, build_slice(b, *below, axis, zero, one, 1));
  damo_var *rest =
      build_slice(b, build_slice(b, sums, axis, build_length_add(b, n, one), NULL, 1), axis, NULL, NULL, -1);
  if (b->status != DAMO_OK) return b->status;
  *above = build_join(b, "solve_toeplitz", axis, (damo_var *const[]){none, rest}, 2);
  return b->status;
}

/* With G = T⁻ᴴ·g the gradient of T is -G·xᴴ. The first column of Tᴴ is conj(r), whose first entry comes from c, its first
 * row conj(c). */
static damo_status toeplitz_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *c = node->in[0], *r = node->in[1], *x = node->out[0], *below = NULL, *above = NULL;
  const bool vector = prop_bool_or(OP_PROPS(node->op, toeplitz_props)->vector, false);
  const int axis = var_ndim(c) - 1;
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *one = build_i64(b, 1), *head = build_slice(b, c, axis, NULL, one, 1);
  damo_var *tail = build_slice(b, r, axis, one, NULL, 1);
  if (b->status != DAMO_OK) return b->status;
  damo_var *column = build_join(b, "solve_toeplitz", axis, (damo_var *const[]){head, tail}, 2);
  damo_var *const in[3] = {build_conj_if_complex(b, column), build_conj_if_complex(b, c), gout[0]};
  damo_var *g = b->status == DAMO_OK ? build_op(b, damo_retain(node->op), in, 3) : NULL;
  if (g == NULL) return b->status;
  gin[2] = build_unbroadcast(b, g, node->in[2]);
  DAMO_TRY(build_diagonal_sums(b, build_neg(b, vector ? build_as_columns(b, g) : g),
                               vector ? build_as_columns(b, x) : x, &below, &above));
  gin[0] = build_unbroadcast(b, below, c);
  gin[1] = build_unbroadcast(b, above, r);
  return b->status;
}

static damo_status toeplitz_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const bool vector = prop_bool_or(OP_PROPS(node->op, toeplitz_props)->vector, false);
  damo_var *rhs = eval[2], *x = node->out[0];
  if (eval[0] != NULL || eval[1] != NULL) {
    damo_var *c = eval[0] != NULL ? eval[0] : build_zeros_like(b, node->in[0]);
    damo_var *r = eval[1] != NULL ? eval[1] : build_zeros_like(b, node->in[1]);
    damo_var *moved = build_matmul(b, build_toeplitz(b, c, r), vector ? build_as_columns(b, x) : x);
    if (vector && moved != NULL) moved = build_drop_columns(b, moved);
    rhs = rhs != NULL ? build_sub(b, rhs, moved) : build_neg(b, moved);
  }
  if (rhs != NULL) rout[0] = build_op(b, damo_retain(node->op), (damo_var *const[]){node->in[0], node->in[1], rhs}, 3);
  return b->status;
}

static const op_def solve_toeplitz_def = {
    .name = "SolveToeplitz",
    .library = "LAPACK",
    .doc = "solutions of a stack of systems with Toeplitz matrices",
    .props = PROPS(PROP_FLAG(toeplitz_props, vector), PROP_WORD_OR_NIL(toeplitz_props, on_fail, "nan")),
    .n_in = 3,
    CORE_OP(toeplitz_class),
    .emit_c = core_emit_c,
    .grad = toeplitz_grad,
    .rop = toeplitz_rop,
    .terms = TERMS_SOLVED,
    OP_CHECK(solve_toeplitz_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status fn_solve_toeplitz(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[3] = {NULL};
  bool vector;
  toeplitz_props props = {.on_fail = prop_nil()};
  if (!core_on_fail(b, a, FN_OPTIONS(a, patterned_options)->on_fail, &props.on_fail)) return b->status;
  DAMO_TRY(patterned_operands(b, a, v, &vector));
  if (v[2] != NULL && var_ndim(v[2]) != var_ndim(v[0])) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the column and the row must have one rank, got %d and %d", a->func->name,
                    var_ndim(v[0]), var_ndim(v[2]));
  }
  props.vector = prop_bool(vector);
  damo_var *row = v[2] != NULL ? v[2] : build_conj_if_complex(b, v[0]);
  if (row == NULL) return b->status;
  return fn_give(b, out, build_core_first(b, &solve_toeplitz_def, &props, (damo_var *const[]){v[0], row, v[1]}, 3));
}

const op_func linalg_toeplitz_funcs[] = {
    {.name = "linalg.solve_toeplitz",
     .operands = "c b [r]",
     .options = PATTERNED_OPTIONS,
     .call = fn_solve_toeplitz,
     .no_method = true,
     .doc = "x of a·x = b, where a has constant diagonals, the first column c and the first row r (conj(c)), by "
            "Levinson's "
            "recursion"},
    {.name = NULL},
};

const op_def *const linalg_toeplitz_classes[] = {&solve_toeplitz_def, NULL};
