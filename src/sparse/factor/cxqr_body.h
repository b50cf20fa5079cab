/* cxqr_body: CXSparse's QR for one index type I and one value type T, and what it lacks: the numerical rank.
 *
 * A column whose component outside the span of the columns before it is below the tolerance is left out, and the other
 * columns are factorized again. They have full rank, and the unknowns of columns left out are 0 (a basic solution). The
 * norm of that component of column k is that of R(k, k) and the entries R(d, k) in rows of columns d < k that were left
 * out. */

typedef struct NAME(cxqr) {
  SYMBOLIC *s;
  NUMERIC *n;
  SPARSE part;      /* the kept columns; arrays of its own, or M's */
  int64_t *kept;    /* their numbers in M; NULL: all columns */
  size_t kept_size; /* bytes of the arrays of `part` and `kept`, one block at kept */
  T *work;          /* max(s->m2, part.n) elements */
  size_t work_size;
} NAME(cxqr);

static void NAME(cxqr_drop)(damo_factor *f) {
  NAME(cxqr) *c = f->state;
  damo_ctx *ctx = f->obj.ctx;
  CS(nfree)(c->n);
  CS(sfree)(c->s);
  mem_free(ctx, c->kept, c->kept_size);
  mem_free(ctx, c->work, c->work_size);
  *c = (NAME(cxqr)){0};
}

static void NAME(cxqr_free)(damo_factor *f) {
  if (!f->state) return;
  NAME(cxqr_drop)(f);
  mem_free(f->obj.ctx, f->state, sizeof(NAME(cxqr)));
  f->state = NULL;
}

/* Analyses c->part. */
static damo_status NAME(cxqr_order)(damo_factor *f) {
  NAME(cxqr) *c = f->state;
  const I order = c->part.m < 2 * (int64_t)c->part.n ? 3 : 2;
  c->s = CS(sqr)(order, &c->part, 1);
  if (!c->s) return factor_fail_memory(f);
  c->work_size = (size_t)(c->s->m2 > c->part.n ? c->s->m2 : c->part.n) * sizeof(T);
  c->work = mem_alloc(f->obj.ctx, c->work_size);
  return c->work ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status NAME(cxqr_analyze)(damo_factor *f) {
  NAME(cxqr) *c = mem_calloc(f->obj.ctx, sizeof *c);
  if (!c) return DAMO_EMEMORY;
  f->state = c;
  c->part = NAME(cx_matrix)(&f->m);
  return NAME(cxqr_order)(f);
}

/* Copies the columns of M in `list` to c->part, for the next factorization; the caller frees `list`. */
static damo_status NAME(cxqr_keep)(damo_factor *f, const int64_t *list, int64_t n) {
  NAME(cxqr) *c = f->state;
  const SPARSE m = NAME(cx_matrix)(&f->m);
  size_t entries = 0;
  for (int64_t k = 0; k < n; k++) entries += (size_t)(m.p[list[k] + 1] - m.p[list[k]]);
  const size_t n_pointers = (size_t)n + 1;
  const size_t bytes = entries * sizeof(T) + n_pointers * sizeof(int64_t) + (n_pointers + entries) * sizeof(I);
  char *block = mem_alloc(f->obj.ctx, bytes);
  if (!block) return DAMO_EMEMORY;
  int64_t *kept = (int64_t *)(void *)block;
  T *x = (T *)(void *)(kept + n_pointers);
  I *p = (I *)(void *)(x + entries), *i = p + n_pointers, at = 0;
  for (int64_t k = 0; k < n; k++) {
    p[k] = at;
    kept[k] = list[k];
    for (I e = m.p[list[k]]; e < m.p[list[k] + 1]; e++) i[at] = m.i[e], x[at++] = m.x[e];
  }
  p[n] = at;
  NAME(cxqr_drop)(f);
  c->part = (SPARSE){.nzmax = at, .m = m.m, .n = (I)n, .p = p, .i = i, .x = x, .nz = -1};
  c->kept = kept;
  c->kept_size = bytes;
  return DAMO_OK;
}

static damo_status NAME(cxqr_numbers)(damo_factor *f) {
  NAME(cxqr) *c = f->state;
  CS(nfree)(c->n);
  c->n = NULL;
  DAMO_TRY(factor_charge(f, (size_t)(c->s->lnz + c->s->unz) * (sizeof(I) + sizeof(T)) + (size_t)f->m.cols * sizeof(T)));
  c->n = CS(qr)(&c->part, c->s);
  return c->n ? DAMO_OK : factor_fail_memory(f);
}

/* Finds the columns of the part that do not depend on earlier ones: their numbers in M go to `list`; returns how many
 * there are. */
static int64_t NAME(cxqr_live)(damo_factor *f, double tolerance, bool *dead, int64_t *list) {
  const NAME(cxqr) *c = f->state;
  const SPARSE *r = c->n->U;
  const int64_t n = c->part.n;
  int64_t live = 0;
  memset(dead, 0, (size_t)n);
  for (int64_t k = 0; k < n; k++) {
    double square = 0;
    for (I e = r->p[k]; e < r->p[k + 1]; e++) {
      if (r->i[e] != k && !dead[r->i[e]]) continue;
      square += creal(r->x[e]) * creal(r->x[e]) + cimag(r->x[e]) * cimag(r->x[e]);
    }
    dead[k] = !(sqrt(square) > tolerance);
  }
  for (int64_t k = 0; k < n; k++) {
    const I column = c->s->q ? c->s->q[k] : (I)k;
    if (!dead[k]) list[live++] = c->kept ? c->kept[column] : column;
  }
  return live;
}

/* SuiteSparseQR's default: 20 (m + n) eps times the largest norm of a column. */
static double NAME(cxqr_tolerance)(const damo_factor *f) {
  const SPARSE m = NAME(cx_matrix)(&f->m);
  double most = 0;
  for (I j = 0; j < m.n; j++) {
    double sum = 0;
    for (I e = m.p[j]; e < m.p[j + 1]; e++) sum += creal(m.x[e]) * creal(m.x[e]) + cimag(m.x[e]) * cimag(m.x[e]);
    if (sum > most) most = sum;
  }
  return 20 * ((double)m.m + (double)m.n) * DBL_EPSILON * sqrt(most);
}

static damo_status NAME(cxqr_factorize)(damo_factor *f) {
  NAME(cxqr) *c = f->state;
  damo_ctx *ctx = f->obj.ctx;
  if (c->kept) { /* the kept columns were chosen for older values */
    NAME(cxqr_drop)(f);
    c->part = NAME(cx_matrix)(&f->m);
    DAMO_TRY(NAME(cxqr_order)(f));
  }
  c->part.x = (T *)(void *)f->m.x;
  c->part.p = (I *)(void *)f->m.indptr->data, c->part.i = (I *)(void *)f->m.indices->data;
  const size_t n = (size_t)f->m.cols, bytes = n * (sizeof(int64_t) + 1);
  int64_t *list = mem_alloc(ctx, bytes);
  if (!list) return DAMO_EMEMORY;
  const double tolerance = NAME(cxqr_tolerance)(f);
  damo_status status = NAME(cxqr_numbers)(f);
  while (status == DAMO_OK) {
    f->rank = NAME(cxqr_live)(f, tolerance, (bool *)(list + n), list);
    if (f->rank == c->part.n) break;
    status = NAME(cxqr_keep)(f, list, f->rank);
    if (status == DAMO_OK && f->rank == 0) break;
    if (status == DAMO_OK) status = NAME(cxqr_order)(f);
    if (status == DAMO_OK) status = NAME(cxqr_numbers)(f);
  }
  mem_free(ctx, list, bytes);
  return status;
}

/* Permute between M's columns and the order of R's columns. */
static void NAME(cxqr_to_r)(const NAME(cxqr) * c, const T *x, T *y) {
  for (I k = 0; k < c->part.n; k++) {
    const I column = c->s->q ? c->s->q[k] : k;
    y[k] = x[c->kept ? c->kept[column] : column];
  }
}
static void NAME(cxqr_from_r)(const damo_factor *f, const T *y, T *x) {
  const NAME(cxqr) *c = f->state;
  memset(x, 0, (size_t)f->m.cols * sizeof *x);
  for (I k = 0; k < c->part.n; k++) {
    const I column = c->s->q ? c->s->q[k] : k;
    x[c->kept ? c->kept[column] : column] = y[k];
  }
}

static damo_status NAME(cxqr_apply)(damo_factor *f, bool adjoint, int64_t k, const double *b0, double *x0) {
  NAME(cxqr) *c = f->state;
  const T *b = (const T *)(const void *)b0;
  T *x = (T *)(void *)x0;
  const int64_t n = c->part.n, rows = f->m.rows, cols = f->m.cols;
  for (int64_t column = 0; column < k; column++, b += adjoint ? cols : rows, x += adjoint ? rows : cols) {
    if (n == 0) {
      memset(x, 0, (size_t)(adjoint ? rows : cols) * sizeof *x);
      continue;
    }
    memset(c->work, 0, c->work_size);
    if (adjoint) {
      NAME(cxqr_to_r)(c, b, c->work);
      CS(utsolve)(c->n->U, c->work);
      for (int64_t h = n - 1; h >= 0; h--) CS(happly)(c->n->L, (I)h, c->n->B[h], c->work);
      CS(pvec)(c->s->pinv, c->work, x, (I)rows);
    } else {
      CS(ipvec)(c->s->pinv, b, c->work, (I)rows);
      for (int64_t h = 0; h < n; h++) CS(happly)(c->n->L, (I)h, c->n->B[h], c->work);
      CS(usolve)(c->n->U, c->work);
      NAME(cxqr_from_r)(f, c->work, x);
    }
  }
  return DAMO_OK;
}
