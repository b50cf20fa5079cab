#include "vectors.h"
#include "discrete.h"
#include "draw_grad.h"
#include "entries.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/linalg/decompose.h"

#include <math.h>
#include <string.h>

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

static philox_words entry_words(const core_call *c) {
  int64_t word;
  memcpy(&word, c->in[0].data, sizeof word);
  const philox_state s = philox_seed((uint64_t)word);
  return philox_words_of(&s, 0);
}

static double entry_number(const core_mat *m) {
  double v;
  memcpy(&v, m->data, sizeof v);
  return v;
}

static int64_t entry_count(const core_mat *m) {
  int64_t v;
  memcpy(&v, m->data, sizeof v);
  return v;
}

#define ENTRY_PART 2048    /* numbers that are added between two points */
#define ENTRY_DRAW_PART 32 /* numbers that are drawn */

/* Sums vector i's entries, none of which may be negative; near 1 where `probability`. */
static damo_status entry_total(core_call *c, int i, bool probability, double *total) {
  const double *p = (const double *)(const void *)c->in[i].data;
  const char *func = c->op->def->core->func;
  *total = 0;
  for (int64_t k = 0; k < c->in[i].rows; k++) {
    if (!(p[k] >= 0 && p[k] < INFINITY)) {
      return ctx_fail(c->ctx, DAMO_EVALUE, "%s: p must be finite and not negative, entry %lld is %g", func,
                      (long long)k + 1, number_shown(p[k]));
    }
    *total += p[k];
    ctx_point_each(c->ctx, k, ENTRY_PART);
  }
  if (!(*total > 0)) return ctx_fail(c->ctx, DAMO_EVALUE, "%s: no entry of p is positive", func);
  if (probability && fabs(*total - 1) > 1e-5)
    return ctx_fail(c->ctx, DAMO_EVALUE, "%s: p must sum to 1, got %g", func, number_shown(*total));
  return DAMO_OK;
}

/* What the draws of a vector of weights read: the last positive one, and the sums of the first weights. */
typedef struct categorical_sums {
  int64_t last;
  double sum[];
} categorical_sums;

static size_t categorical_workspace(const core_call *c) {
  return sizeof(categorical_sums) + (size_t)c->in[1].rows * sizeof(double);
}

static damo_status categorical_prepare(core_call *c, categorical_sums *sums) {
  const double *p = (const double *)(const void *)c->in[1].data;
  double total, sum = 0;
  DAMO_TRY(entry_total(c, 1, true, &total));
  sums->last = 0;
  for (int64_t k = 0; k < c->in[1].rows; k++) {
    sums->sum[k] = sum += p[k];
    if (p[k] > 0) sums->last = k + 1;
    ctx_point_each(c->ctx, k, ENTRY_PART);
  }
  return DAMO_OK;
}

/* The first position whose sum is greater than the draw, by bisection: sums do not fall. */
static damo_status categorical_run(core_call *c) {
  categorical_sums *sums = (categorical_sums *)(void *)c->work;
  philox_words w = entry_words(c);
  const int64_t n = c->in[1].rows;
  if (!c->again[1]) DAMO_TRY(categorical_prepare(c, sums));
  const double u = philox_unit(&w) * sums->sum[n - 1];
  int64_t at = 0;
  for (int64_t left = n; left > 0;) {
    const int64_t half = left / 2;
    const bool behind = !(u < sums->sum[at + half]);
    at += behind ? half + 1 : 0;
    left = behind ? left - half - 1 : half;
  }
  at = at < n ? at + 1 : sums->last; /* u lies in what rounding left */
  memcpy(c->out[0].data, &at, sizeof at);
  return DAMO_OK;
}

/* Each count is binomial among the trials that are left. */
static damo_status multinomial_run(core_call *c) {
  const double *p = (const double *)(const void *)c->in[2].data;
  int64_t *x = (int64_t *)(void *)c->out[0].data;
  int64_t left = entry_count(&c->in[1]);
  philox_words w = entry_words(c);
  double rest;
  if (left < 0 || left > (int64_t)1 << 53)
    return ctx_fail(c->ctx, DAMO_EVALUE, "multinomial: n must lie between 0 and 2^53, got %lld", (long long)left);
  DAMO_TRY(entry_total(c, 2, true, &rest));
  int64_t last = 0;
  for (int64_t k = 0; k < c->in[2].rows; k++)
    if (p[k] > 0) last = k;
  for (int64_t k = 0; k < c->in[2].rows; k++) {
    const double share = rest > 0 ? p[k] / rest : 1;
    x[k] = k == last ? left : (int64_t)draw_binomial(&w, (double)left, share < 1 ? share : 1);
    left -= x[k];
    rest -= p[k];
    ctx_point_each(c->ctx, k, ENTRY_DRAW_PART);
  }
  return DAMO_OK;
}

/* Gamma draws over their sum, from their logarithms less the greatest. */
static damo_status dirichlet_run(core_call *c) {
  const double *a = (const double *)(const void *)c->in[1].data;
  double *x = (double *)(void *)c->out[0].data, *g = (double *)(void *)c->out[1].data, most = -INFINITY, sum = 0;
  const int64_t n = c->in[1].rows;
  philox_words w = entry_words(c);
  for (int64_t k = 0; k < n; k++) {
    if (!(a[k] > 0 && a[k] < INFINITY)) {
      return ctx_fail(c->ctx, DAMO_EVALUE, "dirichlet: a must be positive and finite, entry %lld is %g",
                      (long long)k + 1, number_shown(a[k]));
    }
    g[k] = entry_log_gamma(&w, a[k]);
    if (g[k] > most) most = g[k];
    ctx_point_each(c->ctx, k, ENTRY_DRAW_PART);
  }
  for (int64_t k = 0; k < n; k++) {
    sum += x[k] = draw_exp(g[k] - most);
    ctx_point_each(c->ctx, k, ENTRY_PART / 4);
  }
  for (int64_t k = 0; k < n; k++) {
    x[k] /= sum;
    ctx_point_each(c->ctx, k, ENTRY_PART);
  }
  return DAMO_OK;
}

/* ---- Choice without replacement ---------------------------------------------------------------------------------- */

/* A key of the race of exponential draws over their weights, and the position. */
typedef struct choice_key {
  double time;
  int64_t at;
} choice_key;

static bool later(const choice_key *a, const choice_key *b) {
  return a->time > b->time || (a->time == b->time && a->at > b->at);
}

/* Lets the key at i sink in the heap of n whose greatest is first. */
static void choice_sink(choice_key *h, int64_t n, int64_t i) {
  for (int64_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && later(&h[child + 1], &h[child])) child++;
    if (!later(&h[child], &h[i])) return;
    const choice_key swap = h[i];
    h[i] = h[child];
    h[child] = swap;
  }
}

static size_t choice_workspace(const core_call *c) { return (size_t)c->out[0].rows * sizeof(choice_key); }

/* The m that come first of an exponential race with the weights as rates (P. S. Efraimidis, P. G. Spirakis, "Weighted
 * random sampling with a reservoir", 2006): a heap keeps the m earliest, and then gives them in order. */
static damo_status choice_run(core_call *c) {
  const double *p = (const double *)(const void *)c->in[1].data;
  choice_key *heap = (choice_key *)(void *)c->work;
  int64_t *out = (int64_t *)(void *)c->out[0].data, kept = 0;
  const int64_t m = c->out[0].rows;
  philox_words w = entry_words(c);
  double total;
  if (m == 0) return DAMO_OK;
  DAMO_TRY(entry_total(c, 1, false, &total));
  for (int64_t k = 0; k < c->in[1].rows; k++) {
    const double u = 1 - philox_unit(&w);
    ctx_point_each(c->ctx, k, 2 * ENTRY_DRAW_PART);
    if (p[k] == 0) continue;
    const choice_key key = {-draw_log(u) / p[k], k + 1};
    if (kept < m) {
      heap[kept++] = key;
      if (kept == m)
        for (int64_t i = m / 2; i-- > 0;) {
          choice_sink(heap, m, i);
          ctx_point_each(c->ctx, i, 2 * ENTRY_DRAW_PART);
        }
    } else if (later(&heap[0], &key)) {
      heap[0] = key;
      choice_sink(heap, m, 0);
    }
  }
  if (kept < m) {
    return ctx_fail(c->ctx, DAMO_EVALUE, "choice: %lld positions without replacement from %lld that can be drawn",
                    (long long)m, (long long)kept);
  }
  for (int64_t n = m; n > 0; n--) {
    out[n - 1] = heap[0].at;
    heap[0] = heap[n - 1];
    choice_sink(heap, n - 1, 0);
    ctx_point_each(c->ctx, n, 2 * ENTRY_DRAW_PART);
  }
  return DAMO_OK;
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

static damo_status draw_factor_run(core_call *c) {
  const int64_t n = c->out[0].rows;
  double *l = (double *)(void *)c->out[0].data; /* by rows; holds a */
  double greatest = 0;
  for (int64_t i = 0; i < n; i++) greatest = fmax(greatest, fabs(l[i * n + i]));
  const double tiny = 0x1p-40 * greatest * (double)n;
  for (int64_t j = 0; j < n; j++) {
    double pivot = l[j * n + j];
    for (int64_t k = 0; k < j; k++) pivot -= l[j * n + k] * l[j * n + k];
    if (!(pivot >= -tiny)) return core_fail(c, "the covariance is not positive semidefinite");
    const double root = pivot > tiny ? sqrt(pivot) : 0;
    for (int64_t i = j + 1; i < n; i++) {
      double v = l[i * n + j];
      for (int64_t k = 0; k < j; k++) v -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = root > 0 ? v / root : 0;
    }
    l[j * n + j] = root;
    for (int64_t i = 0; i < j; i++) l[i * n + j] = 0;
  }
  return DAMO_OK;
}

static damo_status draw_transform_run(core_call *c) {
  const int64_t n = c->in[1].rows;
  const double *l = (const double *)(const void *)c->in[0].data, *z = (const double *)(const void *)c->in[1].data;
  double *y = (double *)(void *)c->out[0].data;
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int64_t k = 0; k <= i; k++) sum += l[i * c->in[0].ld + k] * z[k];
    y[i] = sum;
  }
  return DAMO_OK;
}

static damo_status bartlett_run(core_call *c) {
  const int64_t n = c->out[0].rows;
  const double df = entry_number(&c->in[1]);
  double *a = (double *)(void *)c->out[0].data;
  philox_words w = entry_words(c);
  if (!(df > (double)(n - 1) && df < INFINITY)) {
    return ctx_fail(c->ctx, DAMO_EVALUE, "wishart: df must be greater than %lld, the size of scale less 1, got %g",
                    (long long)n - 1, number_shown(df));
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) a[i * n + j] = philox_normal(&w);
    a[i * n + i] = sqrt(2 * draw_exp(entry_log_gamma(&w, 0.5 * (df - (double)i))));
    for (int64_t j = i + 1; j < n; j++) a[i * n + j] = 0;
  }
  return DAMO_OK;
}

static size_t draw_square_workspace(const core_call *c) {
  return (size_t)c->out[0].rows * (size_t)c->out[0].rows * sizeof(double);
}

static damo_status draw_square_run(core_call *c) {
  const int64_t n = c->out[0].rows;
  const double *l = (const double *)(const void *)c->in[0].data, *a = (const double *)(const void *)c->in[1].data;
  double *m = (double *)(void *)c->work, *x = (double *)(void *)c->out[0].data;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t k = j; k <= i; k++) sum += l[i * c->in[0].ld + k] * a[k * c->in[1].ld + j];
      m[i * n + j] = sum;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++) {
      double sum = 0;
      for (int64_t k = 0; k <= j; k++) sum += m[i * n + k] * m[j * n + k];
      x[i * n + j] = x[j * n + i] = sum;
    }
  }
  return DAMO_OK;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static damo_status no_draw_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)gout;
  for (int i = 1; i < node->n_in; i++) gin[i] = build_null(b, "draws of integers have no derivative");
  return b->status;
}

/* x_i = g_i / sum g: by log g_j it is x_i ([i = j] - x_j), and log g_j depends on a_j alone. */
static damo_status dirichlet_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->out[0], *a = node->in[1], *log_g = node->out[1], *by_log = gout[1];
  if (gout[0]) {
    damo_var *weighted = build_mul(b, gout[0], x);
    if (!weighted) return b->status;
    damo_var *through = build_mul(b, x, build_sub(b, gout[0], build_row_sum(b, weighted, 1)));
    by_log = by_log ? build_add(b, by_log, through) : through;
  }
  if (by_log) gin[1] = build_unbroadcast(b, grad_log_gamma(b, &a, log_g, by_log, 0), a);
  return b->status;
}

static damo_status draw_factor_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  return cholesky_def.grad(b, node, gout, gin);
}

/* A vector as a matrix of one column, or of one row. */
static damo_var *vector_matrix(build *b, damo_var *v, bool column) {
  const int n = var_ndim(v);
  int pattern[DAMO_MAX_NDIM + 1];
  for (int i = 0; i < n - 1; i++) pattern[i] = i;
  pattern[n - 1] = column ? n - 1 : -1;
  pattern[n] = column ? -1 : n - 1;
  return build_dimshuffle(b, v, pattern, n + 1);
}

static damo_status draw_transform_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (!gout[0]) return DAMO_OK;
  damo_var *column = vector_matrix(b, gout[0], true);
  damo_var *by_l = build_mul(b, column, vector_matrix(b, node->in[1], false));
  damo_var *by_z = build_matmul(b, build_swap_last(b, node->in[0]), column);
  const int last[1] = {by_z ? var_ndim(by_z) - 1 : 0};
  gin[0] = build_unbroadcast(b, by_l, node->in[0]);
  gin[1] = build_unbroadcast(b, build_reduce(b, REDUCE_SUM, by_z, last, 1, false), node->in[1]);
  return b->status;
}

static damo_status bartlett_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node, (void)gout;
  gin[1] = build_null(b, "wishart draws have no derivative by df");
  return b->status;
}

/* M = L·B, X = M·Mᵀ: dM = (G + Gᵀ)·M, dL = dM·Bᵀ, dB = Lᵀ·dM. */
static damo_status draw_square_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *l = node->in[0], *a = node->in[1], *g = gout[0];
  if (!g) return DAMO_OK;
  damo_var *by_m = build_matmul(b, build_add(b, g, build_swap_last(b, g)), build_matmul(b, l, a));
  gin[0] = build_unbroadcast(b, build_matmul(b, by_m, build_swap_last(b, a)), l);
  gin[1] = build_unbroadcast(b, build_matmul(b, build_swap_last(b, l), by_m), a);
  return b->status;
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

static const core_class categorical_class = {
    .func = "categorical",
    .only_double = true,
    .form = {.signature = "(),(k)->()", .in = "if", .out = "i", .in_layout = "sc"},
    .workspace = categorical_workspace,
    .run = categorical_run,
};
static const core_class multinomial_class = {
    .func = "multinomial",
    .only_double = true,
    .form = {.signature = "(),(),(k)->(k)", .in = "iif", .out = "i", .in_layout = "ssc"},
    .run = multinomial_run,
};
static const core_class dirichlet_class = {
    .func = "dirichlet",
    .only_double = true,
    .form = {.signature = "(),(k)->(k),(k)", .in = "if", .in_layout = "sc"},
    .run = dirichlet_run,
};
static const core_class choice_class = {
    .func = "choice",
    .only_double = true,
    .form = {.signature = "(),(k),(m)->(m)", .in = "ifi", .out = "i", .in_layout = "scs"},
    .workspace = choice_workspace,
    .run = choice_run,
};
static const core_class draw_factor_class = {
    .func = "multivariate_normal",
    .only_double = true,
    .form = {.signature = "(n,n)->(n,n)", .in_layout = "-", .from = "1"},
    .run = draw_factor_run,
};
static const core_class draw_transform_class = {
    .func = "multivariate_normal",
    .only_double = true,
    .form = {.signature = "(n,n),(n)->(n)", .in_layout = "rc"},
    .run = draw_transform_run,
};
static const core_class bartlett_class = {
    .func = "wishart",
    .only_double = true,
    .form = {.signature = "(),(),(n,n)->(n,n)", .in = "iff", .in_layout = "sss"},
    .run = bartlett_run,
};
static const core_class draw_square_class = {
    .func = "wishart",
    .only_double = true,
    .form = {.signature = "(n,n),(n,n)->(n,n)", .in_layout = "rr"},
    .workspace = draw_square_workspace,
    .run = draw_square_run,
};

const op_def categorical_def = {
    .name = "DrawCategorical",
    .doc = "positions drawn with probabilities p",
    .n_in = 2,
    CORE_OP(categorical_class),
    .grad = no_draw_grad,
    .no_check = "a draw has no other definition: spec/op/random_spec.lua has its moments and known draws",
};
const op_def multinomial_def = {
    .name = "DrawMultinomial",
    .doc = "counts of n draws with probabilities p",
    .n_in = 3,
    CORE_OP(multinomial_class),
    .grad = no_draw_grad,
    .no_check = "a draw has no other definition: spec/op/random_spec.lua has its moments and known draws",
};
const op_def dirichlet_def = {
    .name = "DrawDirichlet",
    .doc = "draws from a Dirichlet distribution, and the logarithms of gamma draws",
    .n_in = 2,
    .n_out = 2,
    CORE_OP(dirichlet_class),
    .grad = dirichlet_grad,
    .no_check = "a draw has no other definition: spec/op/random_spec.lua has its moments and known draws",
};
const op_def choice_def = {
    .name = "DrawChoice",
    .doc = "distinct positions drawn with weights",
    .n_in = 3,
    CORE_OP(choice_class),
    .grad = no_draw_grad,
    .no_check = "a draw has no other definition: spec/op/random_spec.lua has its moments and known draws",
};
const op_def draw_factor_def = {
    .name = "DrawFactor",
    .doc = "Cholesky factor of a stack of positive semidefinite matrices, the same bits on every machine",
    .props = PROPS(PROP_FLAG(cholesky_props, lower), PROP_WORD_OR_NIL(cholesky_props, on_fail, "nan")),
    .n_in = 1,
    CORE_OP(draw_factor_class),
    .grad = draw_factor_grad,
    .no_check = "spec/op/random_spec.lua compares the covariance of draws with the one asked for",
};
const op_def draw_transform_def = {
    .name = "DrawTransform",
    .doc = "L·z for a lower triangle L, the same bits on every machine",
    .n_in = 2,
    CORE_OP(draw_transform_class),
    .grad = draw_transform_grad,
    .no_check = "spec/op/random_spec.lua compares the covariance of draws with the one asked for",
};
const op_def bartlett_def = {
    .name = "DrawBartlett",
    .doc = "the triangle of Bartlett's decomposition of a Wishart draw",
    .n_in = 3,
    CORE_OP(bartlett_class),
    .grad = bartlett_grad,
    .no_check = "a draw has no other definition: spec/op/random_spec.lua has its moments and known draws",
};
const op_def draw_square_def = {
    .name = "DrawSquare",
    .doc = "(L·B)·(L·B)ᵀ for lower triangles, the same bits on every machine",
    .n_in = 2,
    CORE_OP(draw_square_class),
    .grad = draw_square_grad,
    .no_check = "spec/op/random_spec.lua compares the mean of draws with the one asked for",
};
