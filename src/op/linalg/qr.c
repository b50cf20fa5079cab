/* qr: QR: A = Q·R, with pivoting A[:, p] = Q·R. Q has orthonormal columns, R is upper triangular with a real diagonal.
 *
 * mode "full": Q is m × m, R m × n. "economic": Q m × min(m, n), R min(m, n) × n. "r": R alone, min(m, n) × n, with
 * pivoting m × n as SciPy has it.
 */
#include "core_c.h"
#include "decompose.h"
#include "op/shape/shape_int.h"

#include <string.h>

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

#define QR_FORM(results, kinds, layouts) \
  { .signature = "(m,n)->" results, .out = kinds, .in_layout = "C", .out_layout = layouts }
static const core_form qr_forms[3][2] = {
    {QR_FORM("(m,m),(m,n)", "ff", "cr"), QR_FORM("(m,m),(m,n),(n)", "ffi", "crr")},
    {QR_FORM("(m,min(m,n)),(min(m,n),n)", "ff", "cr"), QR_FORM("(m,min(m,n)),(min(m,n),n),(n)", "ffi", "crr")},
    {QR_FORM("(min(m,n),n)", "f", "r"), QR_FORM("(m,n),(n)", "fi", "rr")},
};

typedef enum qr_mode { QR_FULL, QR_ECONOMIC, QR_R } qr_mode;
static const char *const qr_words[] = {"full", "economic", "r"};

static qr_mode qr_mode_of(const damo_op *op) {
  const char *word = prop_str_or(OP_PROPS(op, qr_props)->mode, "full");
  return word[0] == 'f' ? QR_FULL : word[0] == 'e' ? QR_ECONOMIC : QR_R;
}
static bool qr_pivots(const damo_op *op) { return prop_bool_or(OP_PROPS(op, qr_props)->pivoting, false); }

static const core_form *qr_form(const damo_op *op) { return &qr_forms[qr_mode_of(op)][qr_pivots(op)]; }
static int qr_count(const damo_op *op, int n_in) {
  (void)n_in;
  return (qr_mode_of(op) == QR_R ? 1 : 2) + (qr_pivots(op) ? 1 : 0);
}

/* ---- One matrix -------------------------------------------------------------------------------------------------- */

/* Workspace: τ, pivots, rwork, then work of this length in entries. */
typedef struct qr_space {
  size_t tau, pivots, rwork, bytes;
  lapack_int length;
} qr_space;

static size_t qr_round(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

static qr_space qr_space_of(const core_call *c) {
  const lapack_table *la = lapack_of(c->dtype);
  const lapack_int m = (lapack_int)c->dim[0], n = (lapack_int)c->dim[1], query = -1, ld = m > 1 ? m : 1;
  const lapack_int k = m < n ? m : n, cols = qr_mode_of(c->op) == QR_FULL ? m : k;
  double work[2] = {0};
  lapack_int info = 0, jpvt = 0;
  qr_space s = {.length = 1};
  if (qr_pivots(c->op))
    la->geqp3(&m, &n, work, &ld, &jpvt, work, work, &query, work, &info);
  else
    la->geqrf(&m, &n, work, &ld, work, work, &query, &info);
  s.length = lapack_work_length(c->dtype, work);
  if (qr_mode_of(c->op) != QR_R) {
    la->orgqr(&m, &cols, &k, work, &ld, work, work, &query, &info);
    const lapack_int more = lapack_work_length(c->dtype, work);
    s.length = more > s.length ? more : s.length;
  }
  const size_t size = dtype_size(c->dtype);
  s.pivots = s.tau + qr_round((size_t)(k > 1 ? k : 1) * size);
  s.rwork = s.pivots + qr_round((size_t)(n > 1 ? n : 1) * sizeof(lapack_int));
  const size_t work_at = s.rwork + qr_round((qr_pivots(c->op) ? 2 * (size_t)n : 1) * sizeof(double));
  s.bytes = work_at + (size_t)s.length * size;
  return s;
}

static size_t qr_workspace(const core_call *c) { return qr_space_of(c).bytes; }

static damo_status qr_run(core_call *c) {
  const lapack_table *la = lapack_of(c->dtype);
  const qr_space s = qr_space_of(c);
  const qr_mode mode = qr_mode_of(c->op);
  const core_mat *a = &c->in[0], *q = mode == QR_R ? NULL : &c->out[0], *r = &c->out[mode == QR_R ? 0 : 1];
  const size_t size = dtype_size(c->dtype);
  const lapack_int m = (lapack_int)c->dim[0], n = (lapack_int)c->dim[1], k = m < n ? m : n, ld = m > 1 ? m : 1;
  char *tau = c->work + s.tau, *work = c->work + (s.bytes - (size_t)s.length * size);
  lapack_int info = 0, *jpvt = (lapack_int *)(void *)(c->work + s.pivots);
  memset(jpvt, 0, (size_t)n * sizeof *jpvt);
  if (qr_pivots(c->op)) {
    if (k > 0) la->geqp3(&m, &n, a->data, &ld, jpvt, tau, work, &s.length, c->work + s.rwork, &info);
    int64_t *positions = (int64_t *)(void *)c->out[c->n_out - 1].data;
    for (lapack_int j = 0; j < n; j++) positions[j] = k > 0 ? jpvt[j] : j + 1;
  } else if (k > 0) {
    la->geqrf(&m, &n, a->data, &ld, tau, work, &s.length, &info);
  }
  for (int64_t i = 0; i < r->rows; i++) {
    for (int64_t j = 0; j < r->cols; j++) {
      char *to = r->data + i * r->rs + j * r->cs;
      if (i <= j)
        memcpy(to, a->data + i * a->rs + j * a->cs, size);
      else
        memset(to, 0, size);
    }
  }
  if (q == NULL) return DAMO_OK;
  const lapack_int cols = (lapack_int)q->cols;
  memcpy(q->data, a->data, (size_t)m * (size_t)(cols < n ? cols : n) * size);
  if (m > 0 && cols > 0) la->orgqr(&m, &cols, &k, q->data, &ld, tau, work, &s.length, &info);
  return DAMO_OK;
}

static const core_class qr_class = {.func = "qr",
                                    .form_of = qr_form,
                                    .workspace = qr_workspace,
                                    .run = qr_run,
                                    .needs_lapack = qr_pivots,
                                    .emit_c = qr_emit_c,
                                    .emits_complex = true};

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

static damo_var *qr_part(build *b, damo_var *x, int axis, damo_var *first, damo_var *last) {
  return x != NULL ? build_slice(b, x, var_ndim(x) - 2 + axis, first, last, 1) : NULL;
}

/* What the rules need of a node: Q (m × k) and R (k × n) of A, or of A[:, p], and k = min(m, n). Where the node's Q may
 * have more columns they are those of another node, so that derivatives of derivatives do not lead through these. */
typedef struct qr_factors {
  damo_var *a, *q, *r, *k, *p; /* p: NULL without pivoting */
  bool wide, tall;             /* may be so */
} qr_factors;

/* A[:, p] or with `inverse` the matrix whose that is. */
static damo_var *qr_columns(build *b, damo_var *p, damo_var *x, bool inverse) {
  return p == NULL ? x : build_swap_last(b, build_permute_rows(b, p, build_swap_last(b, x), inverse));
}

static qr_factors qr_factors_of(build *b, const damo_apply *node) {
  const qr_mode mode = qr_mode_of(node->op);
  const damo_type *t = node->in[0]->type;
  const int64_t m = t->shape[t->ndim - 2], n = t->shape[t->ndim - 1];
  qr_factors f = {.p = qr_pivots(node->op) ? node->out[node->n_out - 1] : NULL};
  f.a = qr_columns(b, f.p, node->in[0], false);
  f.wide = m < 0 || n < 0 || m < n;
  f.tall = m < 0 || n < 0 || m > n;
  damo_var *rows = build_dim(b, node->in[0], t->ndim - 2), *cols = build_dim(b, node->in[0], t->ndim - 1);
  f.k = !f.tall ? rows : !f.wide ? cols : build_minimum(b, rows, cols);
  if (mode == QR_ECONOMIC) {
    f.q = node->out[0], f.r = node->out[1];
  } else if (mode == QR_FULL && !f.tall) {
    f.q = node->out[0], f.r = node->out[1];
  } else {
    const qr_props props = {.mode = prop_str("economic"), .pivoting = prop_bool(false)};
    const damo_apply *both = build_core(b, &qr_def, &props, &f.a, 1);
    if (both != NULL) f.q = both->out[0], f.r = both->out[1];
  }
  return f;
}

/* The Hermitian matrix whose upper triangle is x's. */
static damo_var *qr_hermitian(build *b, damo_var *x) {
  damo_var *sum = build_add(b, build_triangle(b, x, 0, false), build_triangle(b, x, 1, false));
  damo_var *half = build_mul(b, sum, build_num(b, 0.5));
  return build_add(b, half, build_adjoint(b, half));
}

/* Q's columns past the k-th have no derivative: they are any basis of the rest. */
static damo_var *qr_checked(build *b, const damo_apply *node, damo_var *g) {
  const damo_type *t = node->in[0]->type;
  const int64_t m = t->shape[t->ndim - 2], n = t->shape[t->ndim - 1];
  if (m >= 0 && n >= 0 && m <= n) return g;
  damo_var *fits = build_le(b, build_dim(b, node->in[0], t->ndim - 2), build_dim(b, node->in[0], t->ndim - 1));
  return build_assert(b, g, fits,
                      "qr: Q of mode \"full\" has a derivative only where the matrix has no more rows than columns; "
                      "use mode \"economic\"");
}

/* With A = Q·R, m ≥ n, R⁻ᴴ well defined and R's diagonal real: Ā = (Q̄ + Q·H(R̄·Rᴴ - Qᴴ·Q̄))·R⁻ᴴ, H(X) Hermitian with X's upper
 * triangle (S. F. Walter, L. Lehmann, Algorithmic differentiation of linear algebra functions with application in optimum
 * experimental design, arXiv:1001.1654, 4). A wider matrix has the columns A₂ = Q·R₂ besides. */
static damo_status qr_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const qr_mode mode = qr_mode_of(node->op);
  damo_var *gq = mode == QR_R ? NULL : gout[0], *gr = mode == QR_R ? gout[0] : gout[1];
  if (gq == NULL && gr == NULL) return DAMO_OK;
  const qr_factors f = qr_factors_of(b, node);
  if (b->status != DAMO_OK) return b->status;
  const damo_type *t = node->in[0]->type;
  const int64_t m = t->shape[t->ndim - 2], n = t->shape[t->ndim - 1];
  if (mode == QR_FULL && gq != NULL && m >= 0 && n >= 0 && m > n) {
    gin[0] = build_null(b, "Q of mode \"full\" has a derivative only where the matrix has no more rows than columns");
    return b->status;
  }
  if (mode == QR_FULL && gq != NULL) gq = qr_checked(b, node, gq);
  if (mode == QR_FULL && gq != NULL && f.tall) gq = qr_part(b, gq, 1, NULL, f.k);
  if (gr != NULL && f.tall && (mode == QR_FULL || f.p != NULL)) gr = qr_part(b, gr, 0, NULL, f.k);
  damo_var *r1 = f.r, *gr1 = gr, *g2 = NULL;
  if (f.wide) {
    r1 = qr_part(b, f.r, 1, NULL, f.k);
    if (gr != NULL) {
      damo_var *gr2 = qr_part(b, gr, 1, f.k, NULL), *a2 = qr_part(b, f.a, 1, f.k, NULL);
      gr1 = qr_part(b, gr, 1, NULL, f.k);
      gq = build_add_present(b, gq, build_matmul(b, a2, build_adjoint(b, gr2)));
      g2 = build_matmul(b, f.q, gr2);
    } else {
      g2 = build_zeros_like(b, qr_part(b, f.a, 1, f.k, NULL));
    }
  }
  damo_var *inner = gr1 != NULL ? build_matmul(b, gr1, build_adjoint(b, r1)) : NULL;
  if (gq != NULL) {
    damo_var *moved = build_matmul(b, build_adjoint(b, f.q), gq);
    inner = inner != NULL ? build_sub(b, inner, moved) : build_neg(b, moved);
  }
  damo_var *g = build_add_present(b, gq, build_matmul(b, f.q, qr_hermitian(b, inner)));
  g = build_triangular_right(b, (triangle_var){r1, false, false}, 'h', g);
  if (f.wide && g != NULL) g = build_join(b, "qr", var_ndim(g) - 1, (damo_var *const[]){g, g2}, 2);
  gin[0] = qr_columns(b, f.p, g, true);
  return b->status;
}

/* With W = dA·R⁻¹, V = Qᴴ·W and S = L(V) - L(V)ᴴ + i·Im diag V, L strictly lower: dQ = W + Q·(S - V), dR = (V - S)·R. */
static damo_status qr_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const qr_mode mode = qr_mode_of(node->op);
  if (eval[0] == NULL) return DAMO_OK;
  const qr_factors f = qr_factors_of(b, node);
  damo_var *d = qr_columns(b, f.p, eval[0], false), *r1 = f.r, *d1 = d;
  if (f.wide) r1 = qr_part(b, f.r, 1, NULL, f.k), d1 = qr_part(b, d, 1, NULL, f.k);
  damo_var *w = build_triangular_right(b, (triangle_var){r1, false, false}, 'n', d1);
  damo_var *v = build_matmul(b, build_adjoint(b, f.q), w);
  damo_var *low = build_triangle(b, v, -1, true), *s = build_sub(b, low, build_adjoint(b, low));
  if (s != NULL && dtype_is_complex(var_dtype(s))) {
    damo_var *diagonal = build_triangle(b, build_triangle(b, v, 0, true), 0, false);
    s = build_add(b, s, build_sub(b, diagonal, build_real(b, diagonal)));
  }
  damo_var *dq = build_add(b, w, build_matmul(b, f.q, build_sub(b, s, v)));
  damo_var *dr = build_matmul(b, build_sub(b, v, s), r1);
  if (f.wide && b->status == DAMO_OK) {
    damo_var *d2 = qr_part(b, d, 1, f.k, NULL), *r2 = qr_part(b, f.r, 1, f.k, NULL);
    /* dR₂ = Qᴴ·dA₂ + dQᴴ·Q·R₂, and dQ = Q·(S' ) with S' skew where Q is square */
    damo_var *turn = build_matmul(b, build_adjoint(b, dq), f.q);
    damo_var *dr2 = build_add(b, build_matmul(b, build_adjoint(b, f.q), d2), build_matmul(b, turn, r2));
    dr = build_join(b, "qr", var_ndim(dr) - 1, (damo_var *const[]){dr, dr2}, 2);
  }
  damo_var *rows = build_dim(b, node->in[0], var_ndim(node->in[0]) - 2);
  if (f.tall && (mode == QR_FULL || (mode == QR_R && f.p != NULL)) && b->status == DAMO_OK) {
    damo_var *r_whole = node->out[mode == QR_R ? 0 : 1];
    dr = build_join(b, "qr", var_ndim(dr) - 2,
                    (damo_var *const[]){dr, build_zeros_like(b, qr_part(b, r_whole, 0, f.k, NULL))}, 2);
    if (mode == QR_FULL) {
      dq = qr_checked(b, node, dq);
      dq = build_join(b, "qr", var_ndim(dq) - 1,
                      (damo_var *const[]){dq, build_zeros_like(b, qr_part(b, node->out[0], 1, f.k, rows))}, 2);
    }
  }
  if (mode != QR_R) rout[0] = dq;
  rout[mode == QR_R ? 0 : 1] = dr;
  return b->status;
}

static void qr_connect(const damo_apply *node, bool *connected) {
  if (qr_pivots(node->op)) connected[node->n_out - 1] = false;
}

const op_def qr_def = {
    .name = "QR",
    .library = "LAPACK",
    .doc = "orthogonal and triangular factors of a stack of matrices",
    .props = PROPS(PROP_WORD_OR_NIL(qr_props, mode, "full", "economic", "r"), PROP_FLAG(qr_props, pivoting)),
    .n_in = 1,
    .n_out = OP_VARIADIC,
    .count_out = qr_count,
    CORE_OP(qr_class),
    .emit_c = core_emit_c,
    .grad = qr_grad,
    .rop = qr_rop,
    .connection_pattern = qr_connect,
    OP_CHECK(qr_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct qr_options {
  prop_value mode, pivoting;
} qr_options;

static damo_status fn_qr(build *b, const fn_args *a, ptrvec *out) {
  static const struct {
    const char *word;
    qr_mode mode;
  } words[] = {
      {"full", QR_FULL}, {"complete", QR_FULL}, {"economic", QR_ECONOMIC}, {"reduced", QR_ECONOMIC}, {"r", QR_R}};
  const qr_options *o = FN_OPTIONS(a, qr_options);
  const char *word = prop_str_or(o->mode, "full");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(word, words[i].word) != 0) continue;
    const qr_props props = {.mode = prop_str(qr_words[words[i].mode]),
                            .pivoting = prop_bool(prop_bool_or(o->pivoting, false))};
    const damo_apply *node = build_core(b, &qr_def, &props, a->in, 1);
    for (int k = 0; node != NULL && k < node->n_out; k++) DAMO_TRY(fn_give(b, out, node->out[k]));
    return b->status;
  }
  build_fail(b, DAMO_EVALUE, "qr: option 'mode' is 'full' ('complete'), 'economic' ('reduced') or 'r', not '%s'", word);
  return b->status;
}

const op_func linalg_qr_funcs[] = {
    {.name = "linalg.qr",
     .operands = "a",
     .options = OPTIONS(OPT(qr_options, mode, OPT_STR), OPT(qr_options, pivoting, OPT_BOOL)),
     .call = fn_qr,
     .no_method = true,
     .doc = "q and r with a = q·r; mode \"full\", \"economic\" or \"r\" (r alone); with pivoting also p, and a's "
            "columns p are q·r"},
    {.name = NULL},
};

const op_def *const linalg_qr_classes[] = {&qr_def, NULL};
