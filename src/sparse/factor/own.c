/* own: LDLᴴ of Hermitian matrices by damo's own C, for builds without SuiteSparse.
 *
 * The order of elimination is one of minimum degree: symbolic elimination, in which a pivot p becomes an element, the set
 * L_p of the variables that are adjacent to it; the elements adjacent to p are part of it and vanish. A variable i is
 * adjacent to the variables of its list and to those of the elements of its list. Its degree is bounded by
 * |A_i| + |L_p \ i| + Σ |L_e \ L_p| over its elements e (P. Amestoy, T. Davis, I. Duff, An approximate minimum degree
 * ordering algorithm, SIAM J. Matrix Anal. Appl. 17, 1996).
 *
 * The factorization is up-looking: row k of L solves a triangular system with the rows before it. Its pattern is what is
 * reached from the entries of column k along the elimination tree, in which the parent of j is the first row below the
 * diagonal of column j of L (J. Liu, The role of elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl.
 * 11, 1990). It does not pivot: a system that needs it, if it is indefinite, is one that this build can't solve.
 */
#include "factor_int.h"

#if !DAMO_SUITESPARSE

typedef struct own_ldl {
  int64_t n, nnz;                   /* order, entries of L below the diagonal */
  int64_t *perm, *inverse, *parent; /* step to column of M; column to step; elimination tree, -1: a root */
  int64_t *start, *fill, *mark;     /* L's columns: their starts, their ends so far; steps visited */
  int64_t *row;                     /* rows of L's entries */
  double *value, *d, *x;            /* L's entries; the pivots; a dense vector */
  size_t bytes, l_bytes;            /* of the block at perm; at value */
} own_ldl;

static int64_t own_start(const factor_matrix *m, int64_t j) {
  return m->wide ? ((const int64_t *)(void *)m->indptr->data)[j] : ((const int32_t *)(void *)m->indptr->data)[j];
}
static int64_t own_row(const factor_matrix *m, int64_t p) {
  return m->wide ? ((const int64_t *)(void *)m->indices->data)[p] : ((const int32_t *)(void *)m->indices->data)[p];
}

/* ---- The order --------------------------------------------------------------------------------------------------- */

/* A variable's list is first its n_elements elements, then its variables; an element's list is its variables. Lists of
 * variables have the place that they began with, since each elimination takes away from a list at least as much as it
 * adds; elements are appended to `pool`. An element has the number of its pivot. */
typedef struct own_graph {
  damo_ctx *ctx;
  int64_t n;
  int64_t *at, *length, *n_elements; /* of each list: its place in pool, its entries */
  int64_t *degree, *next, *before;   /* variables of one degree are in a list */
  int64_t *head;                     /* n: the first of each degree, -1: none */
  int64_t *seen, *outside;           /* marks; of elements |L_e \ L_p|, offset by a mark */
  bool *gone;                        /* eliminated variables, and elements that are part of others */
  int64_t *pool;
  size_t used, capacity; /* entries of pool */
} own_graph;

static void own_unlink(own_graph *g, int64_t i) {
  if (g->before[i] >= 0)
    g->next[g->before[i]] = g->next[i];
  else
    g->head[g->degree[i]] = g->next[i];
  if (g->next[i] >= 0) g->before[g->next[i]] = g->before[i];
}

static void own_link(own_graph *g, int64_t i, int64_t degree) {
  g->degree[i] = degree;
  g->before[i] = -1;
  g->next[i] = g->head[degree];
  if (g->next[i] >= 0) g->before[g->next[i]] = i;
  g->head[degree] = i;
}

static damo_status own_reserve(own_graph *g, size_t more) {
  if (more <= g->capacity - g->used) return DAMO_OK;
  const size_t wanted = g->used + more + g->capacity / 2;
  int64_t *grown = mem_realloc(g->ctx, g->pool, g->capacity * sizeof *grown, wanted * sizeof *grown);
  if (grown == NULL) return DAMO_EMEMORY;
  g->pool = grown;
  g->capacity = wanted;
  return DAMO_OK;
}

/* Makes element p at the end of pool: the variables of p's list and of its elements, which vanish. */
static damo_status own_make_element(own_graph *g, int64_t p, int64_t stamp) {
  size_t most = (size_t)(g->length[p] - g->n_elements[p]);
  for (int64_t k = 0; k < g->n_elements[p]; k++) most += (size_t)g->length[g->pool[g->at[p] + k]];
  DAMO_TRY(own_reserve(g, most));
  const int64_t first = (int64_t)g->used;
  g->seen[p] = stamp;
  for (int64_t k = 0; k <= g->n_elements[p]; k++) {
    const bool last = k == g->n_elements[p]; /* the variables of p itself */
    const int64_t e = last ? p : g->pool[g->at[p] + k], from = g->at[e] + (last ? k : 0);
    for (int64_t q = from; q < g->at[e] + g->length[e]; q++) {
      const int64_t i = g->pool[q];
      if (g->seen[i] == stamp) continue;
      g->seen[i] = stamp;
      g->pool[g->used++] = i;
    }
    if (!last) g->gone[e] = true;
  }
  g->at[p] = first;
  g->length[p] = (int64_t)g->used - first;
  return DAMO_OK;
}

/* outside[e] - base = |L_e \ L_p| for the elements e that are adjacent to variables of L_p. */
static void own_count_outside(own_graph *g, int64_t p, int64_t base) {
  for (int64_t q = g->at[p]; q < g->at[p] + g->length[p]; q++) {
    const int64_t i = g->pool[q];
    for (int64_t k = g->at[i]; k < g->at[i] + g->n_elements[i]; k++) {
      const int64_t e = g->pool[k];
      if (g->gone[e]) continue;
      if (g->outside[e] < base) g->outside[e] = base + g->length[e];
      g->outside[e]--;
    }
  }
}

/* The list of variable i of L_p after p's elimination: p, the elements that are not part of it, and the variables that
 * are not in L_p, whose entries have the mark stamp. Returns the bound of its degree. */
static int64_t own_update(own_graph *g, int64_t i, int64_t p, int64_t stamp, int64_t base, int64_t *list) {
  int64_t n = 0, sum = g->length[p] - 1;
  list[n++] = p;
  for (int64_t k = 0; k < g->n_elements[i]; k++) {
    const int64_t e = g->pool[g->at[i] + k];
    if (g->gone[e]) continue;
    if (g->outside[e] == base) {
      g->gone[e] = true; /* L_e is part of L_p */
      continue;
    }
    sum += g->outside[e] - base;
    list[n++] = e;
  }
  const int64_t n_elements = n;
  for (int64_t k = g->n_elements[i]; k < g->length[i]; k++) {
    const int64_t j = g->pool[g->at[i] + k];
    if (g->seen[j] == stamp) continue;
    list[n++] = j;
    sum++;
  }
  damo_assert(n <= g->length[i]);
  memcpy(g->pool + g->at[i], list, (size_t)n * sizeof *list);
  g->n_elements[i] = n_elements;
  g->length[i] = n;
  return sum;
}

static damo_status own_eliminate_all(own_graph *g, int64_t *perm, int64_t *list) {
  int64_t least = 0, base = 0;
  for (int64_t step = 0; step < g->n; step++) {
    while (g->head[least] < 0) least++;
    const int64_t p = g->head[least], stamp = step + 1;
    own_unlink(g, p);
    perm[step] = p;
    DAMO_TRY(own_make_element(g, p, stamp));
    base += g->n + 1; /* above all that outside holds */
    own_count_outside(g, p, base);
    for (int64_t q = g->at[p]; q < g->at[p] + g->length[p]; q++) {
      const int64_t i = g->pool[q], most = g->n - step - 2;
      own_unlink(g, i);
      const int64_t bound = own_update(g, i, p, stamp, base, list), degree = bound < most ? bound : most;
      own_link(g, i, degree);
      if (degree < least) least = degree;
    }
    if (g->length[p] == 0) g->gone[p] = true;
  }
  return DAMO_OK;
}

/* perm: the pivots of M, Hermitian, by minimum degree. */
static damo_status own_order(damo_factor *f, int64_t *perm) {
  const factor_matrix *m = &f->m;
  const int64_t n = m->cols;
  const size_t block = (size_t)n * (10 * sizeof(int64_t) + sizeof(bool));
  own_graph g = {.ctx = f->obj.ctx, .n = n, .capacity = (size_t)m->nnz + (size_t)n};
  int64_t *words = mem_calloc(g.ctx, block);
  g.pool = words != NULL ? mem_alloc(g.ctx, g.capacity * sizeof *g.pool) : NULL;
  damo_status status = g.pool != NULL ? DAMO_OK : DAMO_EMEMORY;
  if (status == DAMO_OK) {
    g.at = words, g.length = g.at + n, g.n_elements = g.length + n, g.degree = g.n_elements + n;
    g.next = g.degree + n, g.before = g.next + n, g.head = g.before + n, g.seen = g.head + n, g.outside = g.seen + n;
    int64_t *list = g.outside + n;
    g.gone = (bool *)(void *)(list + n);
    for (int64_t j = 0; j < n; j++) {
      g.at[j] = (int64_t)g.used;
      for (int64_t p = own_start(m, j); p < own_start(m, j + 1); p++)
        if (own_row(m, p) != j) g.pool[g.used++] = own_row(m, p);
      g.length[j] = (int64_t)g.used - g.at[j];
      g.head[j] = -1;
    }
    for (int64_t j = n - 1; j >= 0; j--) own_link(&g, j, g.length[j]);
    status = own_eliminate_all(&g, perm, list);
  }
  if (g.pool != NULL) mem_free(g.ctx, g.pool, g.capacity * sizeof *g.pool);
  if (words != NULL) mem_free(g.ctx, words, block);
  return status;
}

/* ---- The factorization ------------------------------------------------------------------------------------------- */

static void own_free(damo_factor *f) {
  own_ldl *s = f->state;
  if (s == NULL) return;
  if (s->perm != NULL) mem_free(f->obj.ctx, s->perm, s->bytes);
  if (s->value != NULL) mem_free(f->obj.ctx, s->value, s->l_bytes);
  mem_free(f->obj.ctx, s, sizeof *s);
  f->state = NULL;
}

/* Sets the elimination tree and `start`, by the number of entries of each column of L: row k has an entry in each column
 * on the paths from its entries of A to k. */
static void own_symbolic(own_ldl *s, const factor_matrix *m) {
  int64_t *count = s->fill;
  for (int64_t k = 0; k < s->n; k++) {
    s->parent[k] = -1;
    s->mark[k] = k;
    count[k] = 0;
    const int64_t column = s->perm[k];
    for (int64_t p = own_start(m, column); p < own_start(m, column + 1); p++) {
      for (int64_t i = s->inverse[own_row(m, p)]; i < k && s->mark[i] != k; i = s->parent[i]) {
        if (s->parent[i] < 0) s->parent[i] = k;
        count[i]++;
        s->mark[i] = k;
      }
    }
  }
  s->start[0] = 0;
  for (int64_t k = 0; k < s->n; k++) s->start[k + 1] = s->start[k] + count[k];
  s->nnz = s->start[s->n];
}

static damo_status own_analyze(damo_factor *f) {
  damo_ctx *ctx = f->obj.ctx;
  own_ldl *s = mem_calloc(ctx, sizeof *s);
  if (s == NULL) return DAMO_EMEMORY;
  f->state = s;
  s->n = f->m.cols;
  const size_t n = (size_t)s->n, entry = factor_entry(&f->m);
  s->bytes = (7 * n + 1) * sizeof(int64_t);
  s->perm = mem_alloc(ctx, s->bytes);
  if (s->perm == NULL) return DAMO_EMEMORY;
  s->inverse = s->perm + n, s->parent = s->inverse + n, s->fill = s->parent + n, s->mark = s->fill + n;
  s->start = s->mark + n;
  /* Behind start are n words for own_reach. */
  DAMO_TRY(own_order(f, s->perm));
  for (int64_t k = 0; k < s->n; k++) s->inverse[s->perm[k]] = k;
  own_symbolic(s, &f->m);
  s->l_bytes = (size_t)s->nnz * (entry + sizeof(int64_t)) + n * (sizeof(double) + entry);
  s->value = mem_alloc(ctx, s->l_bytes);
  if (s->value == NULL) return DAMO_EMEMORY;
  s->x = s->value + (size_t)s->nnz * (entry / sizeof(double));
  s->d = s->x + n * (entry / sizeof(double));
  s->row = (int64_t *)(void *)(s->d + n);
  return DAMO_OK;
}

/* The columns of row k of L, in an order in which each comes before its ancestors in the tree: at the end of `stack`,
 * from the place returned on. Each path up the tree ends at k or at a column that was visited. */
static int64_t own_reach(own_ldl *s, const factor_matrix *m, int64_t k, int64_t *stack) {
  const int64_t column = s->perm[k];
  int64_t top = s->n;
  s->mark[k] = k;
  for (int64_t p = own_start(m, column); p < own_start(m, column + 1); p++) {
    int64_t length = 0;
    for (int64_t i = s->inverse[own_row(m, p)]; i < k && s->mark[i] != k; i = s->parent[i]) {
      stack[length++] = i;
      s->mark[i] = k;
    }
    while (length > 0) stack[--top] = stack[--length];
  }
  return top;
}

#define T double
#define NAME(f) own_##f##_d
#define REAL(x) (x)
#define CONJ(x) (x)
#define MUL(x, y) ((x) * (y))
#include "own_body.h"

#define T zdouble
#define NAME(f) own_##f##_z
#define REAL(x) creal(x)
#define CONJ(x) conj(x)
#define MUL(x, y) zmul(x, y)
#include "own_body.h"

static damo_status own_factorize(damo_factor *f) {
  const int64_t stop = f->m.cplx ? own_numeric_z(f) : own_numeric_d(f);
  if (stop < 0) return DAMO_OK;
  f->fault = FACTOR_INDEFINITE;
  f->step = stop;
  f->row = f->column = ((const own_ldl *)f->state)->perm[stop];
  return DAMO_OK;
}

static damo_status own_solve(damo_factor *f, factor_system system, int64_t k, double *x) {
  (void)system;
  for (int64_t c = 0; c < k; c++) {
    if (f->m.cplx)
      own_solve_one_z(f->state, (zdouble *)(void *)x + c * f->m.cols);
    else
      own_solve_one_d(f->state, x + c * f->m.cols);
  }
  return DAMO_OK;
}

static damo_status own_pivots(damo_factor *f, bool want_log, factor_pivots *out) {
  const own_ldl *s = f->state;
  for (int64_t k = 0; k < s->n; k++) {
    factor_pivots_add(out, fabs(s->d[k]), k, s->perm[k], s->perm[k]);
    if (want_log) factor_pivots_multiply(out, s->d[k]);
  }
  return DAMO_OK;
}

static damo_status own_extract(damo_factor *f, factor_lu *lu) {
  const own_ldl *s = f->state;
  DAMO_TRY(factor_lu_new(f->obj.ctx, lu, s->n, f->m.cplx, true, (size_t)s->nnz, 0, false));
  for (int64_t k = 0; k < s->n; k++) {
    if (f->m.cplx)
      ((zdouble *)(void *)lu->d)[k] = s->d[k];
    else
      lu->d[k] = s->d[k];
    lu->p[k] = lu->q[k] = s->perm[k];
  }
  return factor_lu_take(f->obj.ctx, lu, false, false, true, s->start, s->row, s->value, NULL);
}

#define OWN_BACKEND(kind)                                                                                  \
  {                                                                                                        \
    .name = "damo", .method = kind, .hermitian = true, .analyze = own_analyze, .factorize = own_factorize, \
    .solve = own_solve, .pivots = own_pivots, .extract = own_extract, .free = own_free                     \
  }
const factor_backend solve_own_positive = OWN_BACKEND(FACTOR_CHOLESKY), solve_own = OWN_BACKEND(FACTOR_LDL);

#else
typedef int factor_own_is_for_builds_without_suitesparse;
#endif
