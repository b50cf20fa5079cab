/* ldl_body: LDLᵀ for one index type I. Included with NAME (names a function), LDL (LDL's name for it), AMD. */

typedef struct NAME(ldl) {
  size_t size, factor_size; /* bytes of the block at d; of the block at lx */
  I *perm, *inverse, *parent, *counts, *flag, *pattern, *lp;
  double *d, *work, *lx;
  I *li;
} NAME(ldl);

static void NAME(ldl_free)(damo_factor *f) {
  NAME(ldl) *s = f->state;
  if (!s) return;
  mem_free(f->obj.ctx, s->d, s->size);
  mem_free(f->obj.ctx, s->lx, s->factor_size);
  mem_free(f->obj.ctx, s, sizeof *s);
  f->state = NULL;
}

static I *NAME(ldl_indptr)(const damo_factor *f) { return (I *)(void *)f->m.indptr->data; }
static I *NAME(ldl_indices)(const damo_factor *f) { return (I *)(void *)f->m.indices->data; }

static damo_status NAME(ldl_analyze)(damo_factor *f) {
  damo_ctx *ctx = f->obj.ctx;
  NAME(ldl) *s = mem_calloc(ctx, sizeof *s);
  if (!s) return DAMO_EMEMORY;
  f->state = s;
  const size_t n = (size_t)f->m.cols;
  s->size = 2 * n * sizeof(double) + (7 * n + 1) * sizeof(I);
  s->d = mem_alloc(ctx, s->size);
  if (!s->d) return DAMO_EMEMORY;
  s->work = s->d + n;
  s->perm = (I *)(void *)(s->work + n);
  s->inverse = s->perm + n, s->parent = s->inverse + n, s->counts = s->parent + n, s->flag = s->counts + n;
  s->pattern = s->flag + n, s->lp = s->pattern + n;
  I *p = NAME(ldl_indptr)(f), *i = NAME(ldl_indices)(f);
  const int64_t verdict = (int64_t)AMD(order)((I)n, p, i, s->perm, NULL, NULL);
  if (verdict == AMD_OUT_OF_MEMORY) return factor_fail_memory(f);
  LDL(symbolic)((I)n, p, i, s->lp, s->parent, s->counts, s->flag, s->perm, s->inverse);
  if (s->lp[n] < 0) return factor_fail_size(f);
  s->factor_size = (size_t)s->lp[n] * (sizeof(double) + sizeof(I));
  s->lx = mem_alloc(ctx, s->factor_size);
  if (!s->lx) return DAMO_EMEMORY;
  s->li = (I *)(void *)(s->lx + s->lp[n]);
  return DAMO_OK;
}

static damo_status NAME(ldl_factorize)(damo_factor *f) {
  NAME(ldl) *s = f->state;
  const I n = (I)f->m.cols;
  const I done = LDL(numeric)(n, NAME(ldl_indptr)(f), NAME(ldl_indices)(f), f->m.x, s->lp, s->parent, s->counts, s->li,
                              s->lx, s->d, s->work, s->pattern, s->flag, s->perm, s->inverse);
  if (done == n) return DAMO_OK;
  f->fault = FACTOR_INDEFINITE;
  f->step = done;
  f->row = f->column = s->perm[done];
  return DAMO_OK;
}

static damo_status NAME(ldl_solve)(damo_factor *f, factor_system system, int64_t k, double *x) {
  NAME(ldl) *s = f->state;
  const I n = (I)f->m.cols;
  (void)system;
  for (int64_t c = 0; c < k; c++, x += n) {
    LDL(perm)(n, s->work, x, s->perm);
    LDL(lsolve)(n, s->work, s->lp, s->li, s->lx);
    LDL(dsolve)(n, s->work, s->d);
    LDL(ltsolve)(n, s->work, s->lp, s->li, s->lx);
    LDL(permt)(n, x, s->work, s->perm);
  }
  return DAMO_OK;
}

static damo_status NAME(ldl_pivots)(damo_factor *f, bool want_log, factor_pivots *out) {
  const NAME(ldl) *s = f->state;
  for (int64_t k = 0; k < f->m.cols; k++) {
    factor_pivots_add(out, fabs(s->d[k]), k, s->perm[k], s->perm[k]);
    if (want_log) factor_pivots_multiply(out, s->d[k]);
  }
  return DAMO_OK;
}

static damo_status NAME(ldl_extract)(damo_factor *f, factor_lu *lu) {
  const NAME(ldl) *s = f->state;
  const bool is_wide = sizeof(I) == 8;
  DAMO_TRY(factor_lu_new(f->obj.ctx, lu, f->m.cols, false, true, (size_t)s->lp[f->m.cols], 0, false));
  for (int64_t k = 0; k < f->m.cols; k++) {
    lu->d[k] = s->d[k];
    lu->p[k] = lu->q[k] = s->perm[k];
  }
  return factor_lu_take(f->obj.ctx, lu, false, false, is_wide, s->lp, s->li, s->lx, NULL);
}
