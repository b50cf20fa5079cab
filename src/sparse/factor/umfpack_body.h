/* umfpack_body: UMFPACK for one index type I. Included with NAME (names a function), UM (UMFPACK's name for it), UMZ
 * (its name for complex values, packed as pairs). */

typedef struct NAME(umf) {
  void *symbolic, *numeric;
  size_t symbolic_bytes, estimate;
  double control[UMFPACK_CONTROL];
  char *work; /* workspace of solves */
  size_t work_bytes;
} NAME(umf);

static void NAME(umf_drop_numeric)(damo_factor *f) {
  NAME(umf) *s = f->state;
  if (f->m.cplx)
    UMZ(free_numeric)(&s->numeric);
  else
    UM(free_numeric)(&s->numeric);
}

static void NAME(umf_free)(damo_factor *f) {
  NAME(umf) *s = f->state;
  if (!s) return;
  NAME(umf_drop_numeric)(f);
  if (f->m.cplx)
    UMZ(free_symbolic)(&s->symbolic);
  else
    UM(free_symbolic)(&s->symbolic);
  mem_free(f->obj.ctx, s->work, s->work_bytes);
  mem_free(f->obj.ctx, s, sizeof *s);
  f->state = NULL;
}

static damo_status NAME(umf_status)(damo_factor *f, int64_t status) {
  if (status == UMFPACK_ERROR_out_of_memory) return factor_fail_memory(f);
  if (status < 0) return ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "UMFPACK failed with status %d", (int)status);
  return DAMO_OK;
}

static const I *NAME(umf_indptr)(const damo_factor *f) { return (const I *)(const void *)f->m.indptr->data; }
static const I *NAME(umf_indices)(const damo_factor *f) { return (const I *)(const void *)f->m.indices->data; }

static damo_status NAME(umf_analyze)(damo_factor *f) {
  damo_ctx *ctx = f->obj.ctx;
  NAME(umf) *s = mem_calloc(ctx, sizeof *s);
  if (!s) return DAMO_EMEMORY;
  f->state = s;
  const bool z = f->m.cplx;
  s->work_bytes = (size_t)f->m.cols * (sizeof(I) + factor_entry(&f->m) * 2);
  s->work = mem_alloc(ctx, s->work_bytes);
  if (!s->work) return DAMO_EMEMORY;
  if (z)
    UMZ(defaults)(s->control);
  else
    UM(defaults)(s->control);
  s->control[UMFPACK_PRL] = 0;
  s->control[UMFPACK_IRSTEP] = 0;
  double info[UMFPACK_INFO];
  const I n = (I)f->m.cols, *p = NAME(umf_indptr)(f), *i = NAME(umf_indices)(f);
  const int64_t status = z ? UMZ(symbolic)(n, n, p, i, f->m.x, NULL, &s->symbolic, s->control, info)
                           : UM(symbolic)(n, n, p, i, f->m.x, &s->symbolic, s->control, info);
  DAMO_TRY(NAME(umf_status)(f, status));
  s->symbolic_bytes = (size_t)(info[UMFPACK_SYMBOLIC_SIZE] * info[UMFPACK_SIZE_OF_UNIT]);
  s->estimate = (size_t)(info[UMFPACK_PEAK_MEMORY_ESTIMATE] * info[UMFPACK_SIZE_OF_UNIT]);
  return factor_charge(f, s->symbolic_bytes);
}

/* The pivots from U's diagonal, and the determinant if want_log is set. */
static damo_status NAME(umf_pivots)(damo_factor *f, bool want_log, factor_pivots *out) {
  NAME(umf) *s = f->state;
  damo_ctx *ctx = f->obj.ctx;
  const bool z = f->m.cplx;
  const size_t n = (size_t)f->m.cols, bytes = n * (factor_entry(&f->m) + 2 * sizeof(I));
  char *block = mem_alloc(ctx, bytes);
  if (!block) return DAMO_EMEMORY;
  double *d = (double *)(void *)block;
  I *p = (I *)(void *)(block + n * factor_entry(&f->m)), *q = p + n, recip = 0;
  damo_status status = NAME(umf_status)(
      f, z ? UMZ(get_numeric)(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, p, q, d, NULL, &recip, NULL, s->numeric)
           : UM(get_numeric)(NULL, NULL, NULL, NULL, NULL, NULL, p, q, d, &recip, NULL, s->numeric));
  for (size_t k = 0; k < n && status == DAMO_OK; k++)
    factor_pivots_add(out, z ? hypot(d[2 * k], d[2 * k + 1]) : fabs(d[k]), (int64_t)k, p[k], q[k]);
  mem_free(ctx, block, bytes);
  if (status != DAMO_OK || !want_log) return status;
  double m[2] = {0, 0}, e = 0, info[UMFPACK_INFO];
  const int64_t verdict =
      z ? UMZ(get_determinant)(m, NULL, &e, s->numeric, info) : UM(get_determinant)(m, &e, s->numeric, info);
  DAMO_TRY(NAME(umf_status)(f, verdict));
  factor_pivots_multiply(out, zpair(m[0], m[1]));
  out->log_abs += e * 2.302585092994045684;
  return DAMO_OK;
}

static damo_status NAME(umf_factorize)(damo_factor *f) {
  NAME(umf) *s = f->state;
  const bool z = f->m.cplx;
  NAME(umf_drop_numeric)(f);
  DAMO_TRY(factor_charge(f, s->symbolic_bytes + s->estimate));
  s->control[UMFPACK_PIVOT_TOLERANCE] = f->choose_pivots ? 1 : UMFPACK_DEFAULT_PIVOT_TOLERANCE;
  s->control[UMFPACK_SYM_PIVOT_TOLERANCE] = f->choose_pivots ? 1 : UMFPACK_DEFAULT_SYM_PIVOT_TOLERANCE;
  double info[UMFPACK_INFO];
  const I *p = NAME(umf_indptr)(f), *i = NAME(umf_indices)(f);
  const int64_t status = z ? UMZ(numeric)(p, i, f->m.x, NULL, s->symbolic, &s->numeric, s->control, info)
                           : UM(numeric)(p, i, f->m.x, s->symbolic, &s->numeric, s->control, info);
  /* UMFPACK reports out of memory, too, if its memory units exceed its integer type. */
  if (status == UMFPACK_ERROR_out_of_memory && s->estimate / sizeof(double) > INT32_MAX && sizeof(I) == 4)
    return factor_fail_size(f);
  DAMO_TRY(NAME(umf_status)(f, status));
  DAMO_TRY(factor_charge(f, s->symbolic_bytes + (size_t)(info[UMFPACK_NUMERIC_SIZE] * info[UMFPACK_SIZE_OF_UNIT])));
  if (status != UMFPACK_WARNING_singular_matrix) return DAMO_OK;
  factor_pivots found = {.smallest = INFINITY};
  DAMO_TRY(NAME(umf_pivots)(f, false, &found));
  f->fault = FACTOR_SINGULAR;
  f->step = found.step, f->row = found.row, f->column = found.column;
  return DAMO_OK;
}

static damo_status NAME(umf_solve)(damo_factor *f, factor_system system, int64_t k, double *x) {
  NAME(umf) *s = f->state;
  const bool z = f->m.cplx;
  const size_t n = (size_t)f->m.cols * (z ? 2 : 1);
  double *b = (double *)(void *)s->work, *w = b + n, info[UMFPACK_INFO];
  I *wi = (I *)(void *)(w + n);
  const I *p = NAME(umf_indptr)(f), *i = NAME(umf_indices)(f);
  const I sys = system == FACTOR_A ? UMFPACK_A : system == FACTOR_H ? UMFPACK_At : UMFPACK_Aat;
  for (int64_t c = 0; c < k; c++, x += n) {
    memcpy(b, x, n * sizeof(double));
    const int64_t status =
        z ? UMZ(wsolve)(sys, p, i, f->m.x, NULL, x, NULL, b, NULL, s->numeric, s->control, info, wi, w)
          : UM(wsolve)(sys, p, i, f->m.x, x, b, s->numeric, s->control, info, wi, w);
    DAMO_TRY(NAME(umf_status)(f, status));
  }
  return DAMO_OK;
}

/* UMFPACK stores L by rows and U by columns. */
static damo_status NAME(umf_extract)(damo_factor *f, factor_lu *lu) {
  NAME(umf) *s = f->state;
  damo_ctx *ctx = f->obj.ctx;
  const bool z = f->m.cplx, is_wide = sizeof(I) == 8;
  I lnz, unz, rows, cols, nz_diagonal, recip = 0;
  if (z)
    UMZ(get_lunz)(&lnz, &unz, &rows, &cols, &nz_diagonal, s->numeric);
  else
    UM(get_lunz)(&lnz, &unz, &rows, &cols, &nz_diagonal, s->numeric);
  const size_t n = (size_t)f->m.cols, l = (size_t)lnz, u = (size_t)unz, c = z ? 2 : 1;
  const size_t bytes = ((l + u) * c + n) * sizeof(double) + (2 * (n + 1) + l + u + 2 * n) * sizeof(I);
  char *block = mem_alloc(ctx, bytes);
  if (!block) return DAMO_EMEMORY;
  double *lx = (double *)(void *)block, *ux = lx + l * c, *rs = ux + u * c;
  I *lp = (I *)(void *)(rs + n), *lj = lp + n + 1, *up = lj + l, *ui = up + n + 1, *p = ui + u, *q = p + n;
  damo_status status = factor_lu_new(ctx, lu, f->m.cols, z, false, l, u, true);
  if (status != DAMO_OK) goto done;
  if (z)
    UMZ(get_numeric)(lp, lj, lx, NULL, up, ui, ux, NULL, p, q, lu->d, NULL, &recip, rs, s->numeric);
  else
    UM(get_numeric)(lp, lj, lx, up, ui, ux, p, q, lu->d, &recip, rs, s->numeric);
  for (size_t k = 0; k < n; k++) {
    lu->p[k] = p[k], lu->q[k] = q[k];
    lu->r[k] = recip ? 1 / rs[k] : rs[k];
  }
  status = factor_lu_take(ctx, lu, false, true, is_wide, lp, lj, lx, NULL);
  if (status == DAMO_OK) status = factor_lu_take(ctx, lu, true, false, is_wide, up, ui, ux, NULL);
done:
  mem_free(ctx, block, bytes);
  return status;
}
