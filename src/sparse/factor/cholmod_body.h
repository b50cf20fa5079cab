/* cholmod_body: CHOLMOD's Cholesky for one index type I. Included with NAME (names a function), CH (CHOLMOD's name for
 * it), ITYPE, keep_to_one_thread, allow_threads. */

typedef struct NAME(chol) {
  cholmod_common common;
  cholmod_factor *l;
  cholmod_dense *x, *y, *e; /* workspace of solves */
} NAME(chol);

static void NAME(chol_free)(damo_factor *f) {
  NAME(chol) *s = f->state;
  if (!s) return;
  CH(free_factor)(&s->l, &s->common);
  CH(free_dense)(&s->x, &s->common);
  CH(free_dense)(&s->y, &s->common);
  CH(free_dense)(&s->e, &s->common);
  CH(finish)(&s->common);
  mem_free(f->obj.ctx, s, sizeof *s);
  f->state = NULL;
}

/* M as a CHOLMOD matrix: only the upper triangle is read. */
static cholmod_sparse NAME(chol_matrix)(const damo_factor *f) {
  const factor_matrix *m = &f->m;
  return (cholmod_sparse){.nrow = (size_t)m->rows,
                          .ncol = (size_t)m->cols,
                          .nzmax = (size_t)m->nnz,
                          .p = m->indptr->data,
                          .i = m->indices->data,
                          .x = m->x,
                          .stype = 1,
                          .itype = ITYPE,
                          .xtype = m->cplx ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}

static damo_status NAME(chol_status)(damo_factor *f) {
  const int status = ((NAME(chol) *)f->state)->common.status;
  if (status == CHOLMOD_OUT_OF_MEMORY) return factor_fail_memory(f);
  if (status == CHOLMOD_TOO_LARGE) return factor_fail_size(f);
  if (status < 0) return ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "CHOLMOD failed with status %d", status);
  return DAMO_OK;
}

static damo_status NAME(chol_analyze)(damo_factor *f) {
  NAME(chol) *s = mem_calloc(f->obj.ctx, sizeof *s);
  if (!s) return DAMO_EMEMORY;
  f->state = s;
  CH(start)(&s->common);
  s->common.print = 0;
  s->common.error_handler = NULL;
  s->common.final_ll = 1;
  s->common.quick_return_if_not_posdef = 1;
  /* AMD, not METIS, which ends the process if memory runs out, and sets signal handlers. */
  s->common.nmethods = 1;
  s->common.method[0].ordering = CHOLMOD_AMD;
  cholmod_sparse m = NAME(chol_matrix)(f);
  s->l = CH(analyze)(&m, &s->common);
  DAMO_TRY(NAME(chol_status)(f));
  if (!s->l) return factor_fail_memory(f);
  return factor_charge(f, s->common.memory_inuse);
}

static damo_status NAME(chol_factorize)(damo_factor *f) {
  NAME(chol) *s = f->state;
  const size_t entry = factor_entry(&f->m);
  const size_t need =
      s->l->is_super ? (s->l->xsize + s->l->maxcsize) * entry : (size_t)s->common.lnz * (entry + sizeof(I));
  const size_t has = s->l->xtype == CHOLMOD_PATTERN ? 0 : need;
  DAMO_TRY(factor_charge(f, s->common.memory_inuse + need - has));
  cholmod_sparse m = NAME(chol_matrix)(f);
  const int levels = keep_to_one_thread(f);
  CH(factorize)(&m, s->l, &s->common);
  allow_threads(levels);
  DAMO_TRY(NAME(chol_status)(f));
  DAMO_TRY(factor_charge(f, s->common.memory_inuse));
  if (s->l->minor < s->l->n) {
    f->fault = FACTOR_INDEFINITE;
    f->step = (int64_t)s->l->minor;
    f->row = f->column = ((const I *)s->l->Perm)[f->step];
  }
  return DAMO_OK;
}

static damo_status NAME(chol_solve)(damo_factor *f, factor_system system, int64_t k, double *x) {
  NAME(chol) *s = f->state;
  const size_t n = (size_t)f->m.cols;
  (void)system;
  cholmod_dense b = {.nrow = n,
                     .ncol = (size_t)k,
                     .nzmax = n * (size_t)k,
                     .d = n,
                     .x = x,
                     .xtype = f->m.cplx ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                     .dtype = CHOLMOD_DOUBLE};
  const int levels = keep_to_one_thread(f);
  CH(solve2)(CHOLMOD_A, s->l, &b, NULL, &s->x, NULL, &s->y, &s->e, &s->common);
  allow_threads(levels);
  DAMO_TRY(NAME(chol_status)(f));
  memcpy(x, s->x->x, n * (size_t)k * factor_entry(&f->m));
  return factor_charge(f, s->common.memory_inuse);
}

static void NAME(chol_pivot)(const damo_factor *f, factor_pivots *out, bool want_log, int64_t step, int64_t at) {
  const cholmod_factor *l = ((const NAME(chol) *)f->state)->l;
  const double v = f->m.cplx ? ((const double *)l->x)[2 * at] : ((const double *)l->x)[at];
  const int64_t place = ((const I *)l->Perm)[step];
  factor_pivots_add(out, v * v, step, place, place);
  if (want_log) factor_pivots_multiply(out, v), factor_pivots_multiply(out, v);
}

static damo_status NAME(chol_pivots)(damo_factor *f, bool want_log, factor_pivots *out) {
  const cholmod_factor *l = ((const NAME(chol) *)f->state)->l;
  if (!l->is_super) {
    for (int64_t k = 0; k < f->m.cols; k++) NAME(chol_pivot)(f, out, want_log, k, ((const I *)l->p)[k]);
    return DAMO_OK;
  }
  const I *super = l->super, *pi = l->pi, *px = l->px;
  for (size_t t = 0; t < l->nsuper; t++) {
    const int64_t rows = pi[t + 1] - pi[t];
    for (int64_t k = super[t], at = px[t]; k < super[t + 1]; k++, at += rows + 1)
      NAME(chol_pivot)(f, out, want_log, k, at);
  }
  return DAMO_OK;
}

/* L from a copy converted to simplicial form, packed. */
static damo_status NAME(chol_extract)(damo_factor *f, factor_lu *lu) {
  NAME(chol) *s = f->state;
  damo_ctx *ctx = f->obj.ctx;
  const bool z = f->m.cplx, is_wide = sizeof(I) == 8;
  cholmod_factor *l = CH(copy_factor)(s->l, &s->common);
  damo_status status = l ? DAMO_OK : factor_fail_memory(f);
  if (status == DAMO_OK) {
    CH(change_factor)(z ? CHOLMOD_COMPLEX : CHOLMOD_REAL, 1, 0, 1, 1, l, &s->common);
    status = NAME(chol_status)(f);
  }
  if (status == DAMO_OK) {
    const I *p = l->p;
    status = factor_lu_new(ctx, lu, f->m.cols, z, true, (size_t)p[f->m.cols], 0, false);
  }
  if (status == DAMO_OK) {
    const I *p = l->p, *perm = l->Perm;
    const double *x = l->x;
    for (int64_t k = 0; k < f->m.cols; k++) {
      if (z)
        ((zdouble *)(void *)lu->d)[k] = x[2 * p[k]];
      else
        lu->d[k] = x[p[k]];
      lu->p[k] = lu->q[k] = perm[k];
    }
    status = factor_lu_take(ctx, lu, false, false, is_wide, p, l->i, x, NULL);
  }
  if (status == DAMO_OK) factor_lu_square(lu);
  CH(free_factor)(&l, &s->common);
  return status;
}
