/* solve_klu_body: KLU for one index type I. Included with N (names a function), KLU (KLU's name for it), KLUZ (its name
 * for complex values), COMMON, SYMBOLIC, NUMERIC. */

typedef struct N(klu) {
  COMMON common;
  SYMBOLIC *symbolic;
  NUMERIC *numeric;
  double *r, *x, *scaled; /* factors of M's rows (3n allocated); scratch, then 1/pivots, behind r; M's values times r */
} N(klu);

static void N(drop_numeric)(N(klu) * s, bool cplx) {
  if (cplx)
    KLUZ(free_numeric)(&s->numeric, &s->common);
  else
    KLU(free_numeric)(&s->numeric, &s->common);
}

static void N(klu_free)(damo_factor *f) {
  N(klu) *s = f->state;
  if (!s) return;
  N(drop_numeric)(s, f->m.cplx);
  KLU(free_symbolic)(&s->symbolic, &s->common);
  mem_free(f->obj.ctx, s->r, 3 * (size_t)f->m.rows * sizeof *s->r);
  mem_free(f->obj.ctx, s->scaled, (size_t)f->m.nnz * factor_entry(&f->m));
  mem_free(f->obj.ctx, s, sizeof *s);
  f->state = NULL;
}

/* What the analysis leads to, for the choice between LU back ends: KLU's own estimate when ordered by AMD, else a bound. */
static double N(klu_work)(const damo_factor *f) {
  const SYMBOLIC *s = ((const N(klu) *)f->state)->symbolic;
  const double entries = s->lnz + s->unz;
  if (s->est_flops > 0 && entries > 0) return s->est_flops / entries;
  return factor_fill_bound(&f->m, s->Q) / BOUND_SLACK;
}

static I *N(indptr)(const damo_factor *f) { return (I *)(void *)f->m.indptr->data; }
static I *N(indices)(const damo_factor *f) { return (I *)(void *)f->m.indices->data; }

/* KLU's verdict as ours; a singular matrix is no error here. */
static damo_status N(klu_status)(damo_factor *f) {
  const N(klu) *s = f->state;
  if (s->common.status == KLU_OUT_OF_MEMORY) return factor_fail_memory(f);
  if (s->common.status == KLU_TOO_LARGE) return factor_fail_size(f);
  if (s->common.status < 0)
    return ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "KLU failed with status %d", (int)s->common.status);
  return DAMO_OK;
}

static damo_status N(klu_analyze)(damo_factor *f) {
  N(klu) *s = mem_calloc(f->obj.ctx, sizeof *s);
  if (!s) return DAMO_EMEMORY;
  f->state = s;
  KLU(defaults)(&s->common);
  s->common.scale = -1; /* KLU's own scaling takes as long as the numbers of a circuit's factor */
  double strong;
  const double symmetry = factor_fns_of(&f->m)->symmetry(&f->m, SAMPLE, &strong);
  s->common.ordering = symmetry < 0.5 || strong < 0.3; /* 0: AMD of A + Aᵀ, 1: COLAMD */
  s->symbolic = KLU(analyze)((I)f->m.cols, N(indptr)(f), N(indices)(f), &s->common);
  /* The rows that the block form puts on the diagonal may have undone the symmetry. */
  if (s->symbolic && s->common.ordering == 0 && s->symbolic->symmetry >= 0 && s->symbolic->symmetry < 0.5) {
    KLU(free_symbolic)(&s->symbolic, &s->common);
    s->common.ordering = 1;
    s->symbolic = KLU(analyze)((I)f->m.cols, N(indptr)(f), N(indices)(f), &s->common);
  }
  if (s->symbolic) return factor_charge(f, s->common.memusage);
  const damo_status status = N(klu_status)(f);
  return status != DAMO_OK ? status : ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "KLU could not analyse the matrix");
}

/* New numbers for the pivots that were found before; the caller looks whether they still do. */
static bool N(klu_again)(damo_factor *f) {
  N(klu) *s = f->state;
  I *p = N(indptr)(f), *i = N(indices)(f);
  if (!s->numeric || f->fresh_pivots || f->choose_pivots) return false;
  return (f->m.cplx ? KLUZ(refactor) : KLU(refactor))(p, i, s->scaled, s->symbolic, s->numeric, &s->common) &&
         s->common.status == KLU_OK;
}

/* KLU has stopped at a pivot of 0. Its column is told; the row it takes only when it goes on. */
static damo_status N(klu_singular)(damo_factor *f) {
  N(klu) *s = f->state;
  f->fault = FACTOR_SINGULAR;
  f->step = s->common.numerical_rank;
  f->column = f->row = s->common.singular_col;
  N(drop_numeric)(s, f->m.cplx);
  if (f->flipped) {
    s->common.halt_if_singular = 0;
    s->numeric =
        (f->m.cplx ? KLUZ(factor) : KLU(factor))(N(indptr)(f), N(indices)(f), s->scaled, s->symbolic, &s->common);
    s->common.halt_if_singular = 1;
    if (s->numeric && f->step >= 0 && f->step < f->m.cols) f->row = s->numeric->Pnum[f->step];
    N(drop_numeric)(s, f->m.cplx);
  }
  return factor_charge(f, s->common.memusage);
}

static void N(klu_invert)(const damo_factor *f) {
  const N(klu) *s = f->state;
  const double *d = s->numeric->Udiag;
  for (int64_t k = 0; k < f->m.cols && !f->m.cplx; k++) s->x[f->m.cols + k] = 1 / d[k];
}

static damo_status N(klu_factorize)(damo_factor *f) {
  N(klu) *s = f->state;
  damo_ctx *ctx = f->obj.ctx;
  const size_t entry = factor_entry(&f->m) + sizeof(I), n = (size_t)f->m.cols;
  if (!s->r && !(s->r = mem_alloc(ctx, 3 * n * sizeof *s->r))) return DAMO_EMEMORY;
  s->x = s->r + n;
  if (!s->scaled && !(s->scaled = mem_alloc(ctx, (size_t)f->m.nnz * factor_entry(&f->m)))) return DAMO_EMEMORY;
  factor_fns_of(&f->m)->equilibrate(&f->m, s->r, s->scaled);
  f->kept_pivots = N(klu_again)(f);
  if (f->kept_pivots) N(klu_invert)(f);
  if (f->kept_pivots) return DAMO_OK;
  N(drop_numeric)(s, f->m.cplx);
  /* Without an estimate KLU itself begins with ten times the entries. */
  const double guess = s->symbolic->lnz > 0 ? s->symbolic->lnz + s->symbolic->unz : 10 * (double)f->m.nnz;
  DAMO_TRY(factor_charge(f, s->common.memusage + (size_t)guess * entry + n * 4 * sizeof(double)));
  s->common.tol = f->choose_pivots ? 1 : PIVOT_TOLERANCE;
  s->numeric =
      (f->m.cplx ? KLUZ(factor) : KLU(factor))(N(indptr)(f), N(indices)(f), s->scaled, s->symbolic, &s->common);
  DAMO_TRY(N(klu_status)(f));
  if (s->common.status == KLU_SINGULAR) return N(klu_singular)(f);
  if (!s->numeric) return factor_fail_memory(f);
  N(klu_invert)(f);
  return factor_charge(f, s->common.memusage);
}

/* The rows of k columns, times r. */
static void N(klu_rescale)(const damo_factor *f, int64_t k, double *x) {
  const double *r = ((const N(klu) *)f->state)->r;
  const int64_t n = f->m.cols;
  for (int64_t c = 0; c < k && f->m.cplx; c++)
    for (int64_t i = 0; i < n; i++) x[2 * (c * n + i)] *= r[i], x[2 * (c * n + i) + 1] *= r[i];
  for (int64_t c = 0; c < k && !f->m.cplx; c++)
    for (int64_t i = 0; i < n; i++) x[c * n + i] *= r[i];
}

/* x −= v · column k of L or U. KLU keeps the indices of a column before its numbers, padded to whole doubles. */
static inline void N(klu_column)(double *x, const double *lu, const I *start, const I *length, int64_t k, double v) {
  const double *at = lu + start[k];
  const int64_t n = length[k], per = sizeof(double) / sizeof(I);
  const I *i = (const I *)(const void *)at;
  at += (n + per - 1) / per;
  for (int64_t p = 0; p < n; p++) x[i[p]] -= at[p] * v;
}

/* One real column by M: as KLU does it, but with scaling in the permutation and what lies outside the blocks together with
 * U, in three quarters of the time. */
static void N(klu_solve_one)(const damo_factor *f, double *b) {
  const N(klu) *s = f->state;
  const SYMBOLIC *sym = s->symbolic;
  const NUMERIC *num = s->numeric;
  const int64_t n = f->m.cols;
  const double *inverse = s->x + n, *off = num->Offx;
  const I *off_p = num->Offp, *off_i = num->Offi;
  double *x = s->x;
  for (int64_t k = 0; k < n; k++) x[k] = b[num->Pnum[k]] * s->r[num->Pnum[k]];
  for (int64_t block = sym->nblocks - 1; block >= 0; block--) {
    const int64_t from = sym->R[block], size = sym->R[block + 1] - from;
    const double *lu = size > 1 ? num->LUbx[block] : NULL;
    double *own = x + from;
    for (int64_t k = 0; lu && k < size; k++) N(klu_column)(own, lu, num->Lip + from, num->Llen + from, k, own[k]);
    for (int64_t k = size - 1; k >= 0; k--) {
      const double v = own[k] *= inverse[from + k];
      if (lu) N(klu_column)(own, lu, num->Uip + from, num->Ulen + from, k, v);
      const int64_t end = off_p[from + k + 1];
      for (int64_t p = off_p[from + k]; p < end; p++) x[off_i[p]] -= off[p] * v;
    }
  }
  for (int64_t k = 0; k < n; k++) b[sym->Q[k]] = x[k];
}

static damo_status N(klu_solve)(damo_factor *f, factor_system system, int64_t k, double *x) {
  N(klu) *s = f->state;
  const I n = (I)f->m.cols, c = (I)k;
  if (system == FACTOR_A && k == 1 && !f->m.cplx) {
    N(klu_solve_one)(f, x);
    return DAMO_OK;
  }
  if (system == FACTOR_A) N(klu_rescale)(f, k, x);
  if (system == FACTOR_A)
    (f->m.cplx ? KLUZ(solve) : KLU(solve))(s->symbolic, s->numeric, n, c, x, &s->common);
  else if (f->m.cplx)
    KLUZ(tsolve)(s->symbolic, s->numeric, n, c, x, system == FACTOR_H, &s->common);
  else
    KLU(tsolve)(s->symbolic, s->numeric, n, c, x, &s->common);
  if (system != FACTOR_A) N(klu_rescale)(f, k, x);
  return N(klu_status)(f);
}

static damo_status N(klu_pivots)(damo_factor *f, bool want_log, factor_pivots *out) {
  const N(klu) *s = f->state;
  const NUMERIC *num = s->numeric;
  const double *d = num->Udiag;
  const zdouble *z = num->Udiag;
  const bool wide = sizeof(I) == 8;
  for (int64_t k = 0; k < f->m.cols; k++) {
    const zdouble pivot = f->m.cplx ? z[k] : d[k];
    factor_pivots_add(out, cabs(pivot), k, num->Pnum[k], s->symbolic->Q[k]);
    if (!want_log) continue;
    factor_pivots_multiply(out, pivot);
    factor_pivots_multiply(out, 1 / s->r[k]);
  }
  if (!want_log) return DAMO_OK;
  const int a = factor_permutation_sign(f->obj.ctx, num->Pnum, f->m.cols, wide);
  const int b = a ? factor_permutation_sign(f->obj.ctx, s->symbolic->Q, f->m.cols, wide) : 0;
  if (!b) return DAMO_EMEMORY;
  factor_pivots_multiply(out, a * b);
  return DAMO_OK;
}

static void N(klu_extract_part)(N(klu) * s, bool cplx, bool upper, I *p, I *i, double *x, double *z) {
  I *lp = upper ? NULL : p, *li = upper ? NULL : i, *up = upper ? p : NULL, *ui = upper ? i : NULL;
  double *lx = upper ? NULL : x, *lz = upper ? NULL : z, *ux = upper ? x : NULL, *uz = upper ? z : NULL;
  if (cplx) KLUZ(extract)
  (s->numeric, s->symbolic, lp, li, lx, lz, up, ui, ux, uz, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &s->common);
  else KLU(extract)(s->numeric, s->symbolic, lp, li, lx, up, ui, ux, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    &s->common);
}

/* KLU's L and U, both by columns with their diagonals; the blocks off the diagonal are left out. */
static damo_status N(klu_extract)(damo_factor *f, factor_lu *lu) {
  N(klu) *s = f->state;
  const NUMERIC *num = s->numeric;
  damo_ctx *ctx = f->obj.ctx;
  const bool cplx = f->m.cplx, wide = sizeof(I) == 8;
  const size_t n = (size_t)f->m.cols, l = (size_t)num->lnz, u = (size_t)num->unz, most = l > u ? l : u;
  const size_t room = (n + 1 + most) * sizeof(I) + most * 2 * sizeof(double);
  char *block = mem_alloc(ctx, room);
  if (!block) return DAMO_EMEMORY;
  double *x = (double *)(void *)block, *y = x + most, *z = cplx ? y : NULL;
  I *p = (I *)(void *)(y + most), *i = p + n + 1;
  damo_status status = factor_lu_new(ctx, lu, f->m.cols, cplx, false, l, u, true);
  if (status != DAMO_OK) goto done;
  const zdouble *d = num->Udiag;
  for (size_t k = 0; k < n; k++) {
    if (cplx)
      ((zdouble *)(void *)lu->d)[k] = d[k];
    else
      lu->d[k] = ((const double *)num->Udiag)[k];
    lu->p[k] = num->Pnum[k];
    lu->q[k] = s->symbolic->Q[k];
    lu->r[k] = 1 / s->r[k];
  }
  N(klu_extract_part)(s, cplx, false, p, i, x, z);
  status = factor_lu_take(ctx, lu, false, false, wide, p, i, x, z);
  if (status != DAMO_OK) goto done;
  N(klu_extract_part)(s, cplx, true, p, i, x, z);
  status = factor_lu_take(ctx, lu, true, false, wide, p, i, x, z);
done:
  mem_free(ctx, block, room);
  return status;
}
