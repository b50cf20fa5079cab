/* cxchol_body: CXSparse's Cholesky for one index type I and one value type T. Included with NAME (names a function), CS
 * (CXSparse's name for it), SPARSE, SYMBOLIC, NUMERIC. */

typedef struct NAME(cxchol) {
  SYMBOLIC *s;
  NUMERIC *n;
  T *work;
} NAME(cxchol);

static SPARSE NAME(cx_matrix)(const factor_matrix *m) {
  return (SPARSE){.nzmax = (I)m->nnz,
                  .m = (I)m->rows,
                  .n = (I)m->cols,
                  .p = (I *)(void *)m->indptr->data,
                  .i = (I *)(void *)m->indices->data,
                  .x = (T *)(void *)m->x,
                  .nz = -1};
}

static void NAME(cxchol_free)(damo_factor *f) {
  NAME(cxchol) *c = f->state;
  if (!c) return;
  CS(nfree)(c->n);
  CS(sfree)(c->s);
  mem_free(f->obj.ctx, c->work, (size_t)f->m.cols * sizeof *c->work);
  mem_free(f->obj.ctx, c, sizeof *c);
  f->state = NULL;
}

static damo_status NAME(cxchol_analyze)(damo_factor *f) {
  damo_ctx *ctx = f->obj.ctx;
  NAME(cxchol) *c = mem_calloc(ctx, sizeof *c);
  if (!c) return DAMO_EMEMORY;
  f->state = c;
  c->work = mem_alloc(ctx, (size_t)f->m.cols * sizeof *c->work);
  if (!c->work) return DAMO_EMEMORY;
  const SPARSE m = NAME(cx_matrix)(&f->m);
  c->s = CS(schol)(1, &m);
  if (!c->s) return factor_fail_memory(f);
  return factor_charge(f, (size_t)f->m.cols * 3 * sizeof(I));
}

/* Whether the leading k × k block of the permuted matrix (its upper triangle) is positive definite. */
static bool NAME(cxchol_leads)(const NAME(cxchol) * c, const SPARSE *upper, int64_t k) {
  SPARSE part = *upper;
  SYMBOLIC s = *c->s;
  part.n = part.m = (I)k;
  s.pinv = NULL;
  NUMERIC *n = CS(chol)(&part, &s);
  CS(nfree)(n);
  return n != NULL;
}

/* CXSparse does not tell the step at which it stopped: it is found by bisection. */
static damo_status NAME(cxchol_indefinite)(damo_factor *f) {
  const NAME(cxchol) *c = f->state;
  const SPARSE m = NAME(cx_matrix)(&f->m);
  SPARSE *upper = CS(symperm)(&m, c->s->pinv, 1);
  if (!upper) return factor_fail_memory(f);
  int64_t good = 0, bad = f->m.cols;
  while (bad - good > 1) {
    const int64_t mid = good + (bad - good) / 2;
    if (NAME(cxchol_leads)(c, upper, mid))
      good = mid;
    else
      bad = mid;
  }
  CS(spfree)(upper);
  f->fault = FACTOR_INDEFINITE;
  f->step = good;
  for (int64_t i = 0; i < f->m.cols; i++)
    if (c->s->pinv[i] == good) f->row = f->column = i;
  return DAMO_OK;
}

static damo_status NAME(cxchol_factorize)(damo_factor *f) {
  NAME(cxchol) *c = f->state;
  CS(nfree)(c->n);
  c->n = NULL;
  DAMO_TRY(factor_charge(f, (size_t)f->m.cols * 3 * sizeof(I) + (size_t)c->s->lnz * (sizeof(I) + sizeof(T))));
  const SPARSE m = NAME(cx_matrix)(&f->m);
  c->n = CS(chol)(&m, c->s);
  return c->n ? DAMO_OK : NAME(cxchol_indefinite)(f);
}

static damo_status NAME(cxchol_solve)(damo_factor *f, factor_system system, int64_t k, double *x0) {
  const NAME(cxchol) *c = f->state;
  const I n = (I)f->m.cols;
  T *x = (T *)(void *)x0;
  (void)system;
  for (int64_t column = 0; column < k; column++, x += n) {
    CS(ipvec)(c->s->pinv, x, c->work, n);
    CS(lsolve)(c->n->L, c->work);
    CS(ltsolve)(c->n->L, c->work);
    CS(pvec)(c->s->pinv, c->work, x, n);
  }
  return DAMO_OK;
}

static damo_status NAME(cxchol_pivots)(damo_factor *f, bool want_log, factor_pivots *out) {
  const NAME(cxchol) *c = f->state;
  const SPARSE *l = c->n->L;
  for (int64_t i = 0; i < f->m.cols; i++) {
    const I step = c->s->pinv[i];
    const double v = creal(l->x[l->p[step]]);
    factor_pivots_add(out, v * v, step, i, i);
    if (want_log) factor_pivots_multiply(out, v), factor_pivots_multiply(out, v);
  }
  return DAMO_OK;
}

static damo_status NAME(cxchol_extract)(damo_factor *f, factor_lu *lu) {
  const NAME(cxchol) *c = f->state;
  const SPARSE *l = c->n->L;
  const bool is_wide = sizeof(I) == 8;
  DAMO_TRY(factor_lu_new(f->obj.ctx, lu, f->m.cols, f->m.cplx, true, (size_t)l->p[f->m.cols], 0, false));
  for (int64_t k = 0; k < f->m.cols; k++) {
    ((T *)(void *)lu->d)[k] = l->x[l->p[k]];
    lu->p[c->s->pinv[k]] = lu->q[c->s->pinv[k]] = k;
  }
  DAMO_TRY(factor_lu_take(f->obj.ctx, lu, false, false, is_wide, l->p, l->i, (const double *)(const void *)l->x, NULL));
  factor_lu_square(lu);
  return DAMO_OK;
}
