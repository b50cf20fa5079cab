/* klu_body: KLU for one index type I. Included with NAME (names a function), KLU (KLU's name for it), KLUZ (its name
 * for complex values), COMMON, SYMBOLIC, NUMERIC. */

typedef struct NAME(klu) {
  COMMON common;
  SYMBOLIC *symbolic;
  NUMERIC *numeric;
  /* r: scales of M's rows; x: scratch of n, followed by the n inverse pivots (one block of 3n at r); scaled: M's values
   * times r. */
  double *r, *x, *scaled;
  int solves; /* with one column since the last factorization */
  char *flow; /* L and U in the order of a solve (klu_pack), or NULL */
  int64_t flow_steps, flow_entries;
} NAME(klu);

/* A step of a solve: x[k] *= d, then x −= x[k] times a column with `count` entries. */
typedef struct NAME(klu_step) {
  double d;
  I k, count;
} NAME(klu_step);

static size_t NAME(klu_flow_size)(const NAME(klu) * s) {
  return (size_t)s->flow_steps * sizeof(NAME(klu_step)) + (size_t)s->flow_entries * (sizeof(double) + sizeof(I));
}

static void NAME(klu_drop_flow)(const damo_factor *f) {
  NAME(klu) *s = f->state;
  if (s->flow) mem_free(f->obj.ctx, s->flow, NAME(klu_flow_size)(s));
  s->flow = NULL;
  s->solves = 0;
}

static void NAME(klu_drop_numeric)(NAME(klu) * s, bool cplx) {
  if (cplx)
    KLUZ(free_numeric)(&s->numeric, &s->common);
  else
    KLU(free_numeric)(&s->numeric, &s->common);
}

static void NAME(klu_free)(damo_factor *f) {
  NAME(klu) *s = f->state;
  if (!s) return;
  NAME(klu_drop_numeric)(s, f->m.cplx);
  NAME(klu_drop_flow)(f);
  KLU(free_symbolic)(&s->symbolic, &s->common);
  mem_free(f->obj.ctx, s->r, 3 * (size_t)f->m.rows * sizeof *s->r);
  mem_free(f->obj.ctx, s->scaled, (size_t)f->m.nnz * factor_entry(&f->m));
  mem_free(f->obj.ctx, s, sizeof *s);
  f->state = NULL;
}

/* Operations per entry of L and U, for the choice between the LU back ends: KLU's estimate if it ordered by AMD, else a
 * bound. */
static double NAME(klu_work)(const damo_factor *f) {
  const SYMBOLIC *s = ((const NAME(klu) *)f->state)->symbolic;
  const double entries = s->lnz + s->unz;
  if (s->est_flops > 0 && entries > 0) return s->est_flops / entries;
  return factor_fill_bound(&f->m, s->Q) / BOUND_SLACK;
}

static I *NAME(klu_indptr)(const damo_factor *f) { return (I *)(void *)f->m.indptr->data; }
static I *NAME(klu_indices)(const damo_factor *f) { return (I *)(void *)f->m.indices->data; }

/* KLU's status as a damo_status; a singular matrix is no error here. */
static damo_status NAME(klu_status)(damo_factor *f) {
  const NAME(klu) *s = f->state;
  if (s->common.status == KLU_OUT_OF_MEMORY) return factor_fail_memory(f);
  if (s->common.status == KLU_TOO_LARGE) return factor_fail_size(f);
  if (s->common.status < 0)
    return ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "KLU failed with status %d", (int)s->common.status);
  return DAMO_OK;
}

static damo_status NAME(klu_analyze)(damo_factor *f) {
  NAME(klu) *s = mem_calloc(f->obj.ctx, sizeof *s);
  if (!s) return DAMO_EMEMORY;
  f->state = s;
  KLU(defaults)(&s->common);
  s->common.scale = -1; /* KLU's own scaling takes as long as factorizing a circuit's matrix */
  double strong;
  const double symmetry = factor_fns_of(&f->m)->symmetry(&f->m, SAMPLE, &strong);
  s->common.ordering = symmetry < 0.5 || strong < 0.3; /* 0: AMD of A + Aᵀ, 1: COLAMD */
  s->symbolic = KLU(analyze)((I)f->m.cols, NAME(klu_indptr)(f), NAME(klu_indices)(f), &s->common);
  /* The row permutation of the block form may have destroyed the symmetry: then COLAMD is better. */
  if (s->symbolic && s->common.ordering == 0 && s->symbolic->symmetry >= 0 && s->symbolic->symmetry < 0.5) {
    KLU(free_symbolic)(&s->symbolic, &s->common);
    s->common.ordering = 1;
    s->symbolic = KLU(analyze)((I)f->m.cols, NAME(klu_indptr)(f), NAME(klu_indices)(f), &s->common);
  }
  if (s->symbolic) return factor_charge(f, s->common.memusage);
  const damo_status status = NAME(klu_status)(f);
  return status != DAMO_OK ? status : ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "KLU could not analyse the matrix");
}

/* Factorizes with the pivot order that was found before; the caller checks whether it is still good enough. */
static bool NAME(klu_again)(damo_factor *f) {
  NAME(klu) *s = f->state;
  I *p = NAME(klu_indptr)(f), *i = NAME(klu_indices)(f);
  if (!s->numeric || f->fresh_pivots || f->choose_pivots) return false;
  factor_fns_of(&f->m)->scale_rows(&f->m, s->r, s->scaled); /* with kept pivots the old scales do */
  return (f->m.cplx ? KLUZ(refactor) : KLU(refactor))(p, i, s->scaled, s->symbolic, s->numeric, &s->common) &&
         s->common.status == KLU_OK;
}

/* KLU stops at a pivot of 0 and tells its column. The row it tells only if it continues, so a flipped M is factorized
 * again without the stop. */
static damo_status NAME(klu_singular)(damo_factor *f) {
  NAME(klu) *s = f->state;
  f->fault = FACTOR_SINGULAR;
  f->step = s->common.numerical_rank;
  f->column = f->row = s->common.singular_col;
  NAME(klu_drop_numeric)(s, f->m.cplx);
  if (f->flipped) {
    s->common.halt_if_singular = 0;
    s->numeric = (f->m.cplx ? KLUZ(factor) : KLU(factor))(NAME(klu_indptr)(f), NAME(klu_indices)(f), s->scaled,
                                                          s->symbolic, &s->common);
    s->common.halt_if_singular = 1;
    if (s->numeric && f->step >= 0 && f->step < f->m.cols) f->row = s->numeric->Pnum[f->step];
    NAME(klu_drop_numeric)(s, f->m.cplx);
  }
  return factor_charge(f, s->common.memusage);
}

static void NAME(klu_invert)(const damo_factor *f) {
  const NAME(klu) *s = f->state;
  const double *d = s->numeric->Udiag;
  for (int64_t k = 0; k < f->m.cols && !f->m.cplx; k++) s->x[f->m.cols + k] = 1 / d[k];
}

static damo_status NAME(klu_factorize)(damo_factor *f) {
  NAME(klu) *s = f->state;
  damo_ctx *ctx = f->obj.ctx;
  const size_t entry = factor_entry(&f->m) + sizeof(I), n = (size_t)f->m.cols;
  if (!s->r && !(s->r = mem_alloc(ctx, 3 * n * sizeof *s->r))) return DAMO_EMEMORY;
  s->x = s->r + n;
  NAME(klu_drop_flow)(f);
  if (!s->scaled && !(s->scaled = mem_alloc(ctx, (size_t)f->m.nnz * factor_entry(&f->m)))) return DAMO_EMEMORY;
  f->kept_pivots = NAME(klu_again)(f);
  if (f->kept_pivots) NAME(klu_invert)(f);
  if (f->kept_pivots) return DAMO_OK;
  factor_fns_of(&f->m)->equilibrate(&f->m, s->r, s->scaled);
  NAME(klu_drop_numeric)(s, f->m.cplx);
  /* If there is no estimate, KLU itself begins with ten times nnz. */
  const double guess = s->symbolic->lnz > 0 ? s->symbolic->lnz + s->symbolic->unz : 10 * (double)f->m.nnz;
  DAMO_TRY(factor_charge(f, s->common.memusage + (size_t)guess * entry + n * 4 * sizeof(double)));
  s->common.tol = f->choose_pivots ? 1 : PIVOT_TOLERANCE;
  s->numeric = (f->m.cplx ? KLUZ(factor) : KLU(factor))(NAME(klu_indptr)(f), NAME(klu_indices)(f), s->scaled,
                                                        s->symbolic, &s->common);
  DAMO_TRY(NAME(klu_status)(f));
  if (s->common.status == KLU_SINGULAR) return NAME(klu_singular)(f);
  if (!s->numeric) return factor_fail_memory(f);
  NAME(klu_invert)(f);
  return factor_charge(f, s->common.memusage);
}

/* Multiplies the rows of k columns by r. */
static void NAME(klu_rescale)(const damo_factor *f, int64_t k, double *x) {
  const double *r = ((const NAME(klu) *)f->state)->r;
  const int64_t n = f->m.cols;
  for (int64_t c = 0; c < k && f->m.cplx; c++)
    for (int64_t i = 0; i < n; i++) x[2 * (c * n + i)] *= r[i], x[2 * (c * n + i) + 1] *= r[i];
  for (int64_t c = 0; c < k && !f->m.cplx; c++)
    for (int64_t i = 0; i < n; i++) x[c * n + i] *= r[i];
}

/* x −= v times a column of n > 0 entries. */
static inline void NAME(klu_subtract)(double *x, const I *i, const double *a, int64_t n, double v) {
  int64_t p = 0;
  if (n & 1) {
    x[i[0]] -= a[0] * v;
    p = 1;
  }
  for (; p < n; p += 2) {
    x[i[p]] -= a[p] * v;
    x[i[p + 1]] -= a[p + 1] * v;
  }
}

/* The same for a column of L or U. KLU stores its indices, padded to whole doubles, before its values. */
static inline void NAME(klu_column)(double *x, const double *at, int64_t n, double v) {
  const size_t per = sizeof(double) / sizeof(I);
  if (n > 0) NAME(klu_subtract)(x, (const I *)(const void *)at, at + ((size_t)n + per - 1) / per, n, v);
}

/* The arrays that a solve of one real column reads: the diagonal blocks with their L and U, the entries outside the
 * blocks, the inverse pivots, and the permutation and scales of the rows. */
typedef struct NAME(klu_walk) {
  int64_t blocks;
  const I *block, *row, *column, *l_start, *l_length, *u_start, *u_length, *off_p, *off_i;
  double *const *lu;
  const double *inverse, *off, *r;
} NAME(klu_walk);

static inline NAME(klu_walk) NAME(klu_walk_of)(const damo_factor *f) {
  const NAME(klu) *s = f->state;
  const SYMBOLIC *sym = s->symbolic;
  const NUMERIC *num = s->numeric;
  return (NAME(klu_walk)){.blocks = sym->nblocks,
                          .block = sym->R,
                          .row = num->Pnum,
                          .column = sym->Q,
                          .l_start = num->Lip,
                          .l_length = num->Llen,
                          .u_start = num->Uip,
                          .u_length = num->Ulen,
                          .off_p = num->Offp,
                          .off_i = num->Offi,
                          .lu = (double *const *)num->LUbx,
                          .inverse = s->x + f->m.cols,
                          .off = num->Offx,
                          .r = s->r};
}

/* Solves for one real column with M, as KLU does, but in two thirds of the time: rows are scaled while they are
 * permuted, and the entries outside the blocks are subtracted together with U's columns. */
static void NAME(klu_solve_one)(const damo_factor *f, double *b) {
  const NAME(klu_walk) w = NAME(klu_walk_of)(f);
  const int64_t n = f->m.cols;
  double *x = ((const NAME(klu) *)f->state)->x;
  for (int64_t k = 0; k < n; k++) x[k] = b[w.row[k]] * w.r[w.row[k]];
  int64_t to = n;
  for (int64_t block = w.blocks - 1; block >= 0; block--) {
    const int64_t from = w.block[block];
    const double *lu = to - from > 1 ? w.lu[block] : NULL;
    for (int64_t k = from; k < to - 1; k++) NAME(klu_column)(x + from, lu + w.l_start[k], w.l_length[k], x[k]);
    for (int64_t k = to - 1; k >= from; k--) {
      const double v = x[k] *= w.inverse[k];
      if (lu) NAME(klu_column)(x + from, lu + w.u_start[k], w.u_length[k], v);
      const int64_t first = w.off_p[k], entries = w.off_p[k + 1] - first;
      if (entries > 0) NAME(klu_subtract)(x, w.off_i + first, w.off + first, entries, v);
    }
    to = from;
  }
  for (int64_t k = 0; k < n; k++) b[w.column[k]] = x[k];
}

static inline double NAME(klu_dot)(const double *x, const I *i, const double *a, int64_t n) {
  double even = 0, odd = 0; /* two accumulators: one alone is bound by the latency of additions */
  int64_t p = 0;
  for (; p + 1 < n; p += 2) {
    even += x[i[p]] * a[p];
    odd += x[i[p + 1]] * a[p + 1];
  }
  return p < n ? even + odd + x[i[p]] * a[p] : even + odd;
}

/* ---- Many solves ------------------------------------------------------------------------------------------------- */

/* A copy of L, U and the entries outside the blocks, column after column in the order in which a solve reads them. It
 * pays if a factor serves several solves. */
typedef struct NAME(klu_flow) {
  NAME(klu_step) * steps;
  double *a;
  I *i;
} NAME(klu_flow);

static NAME(klu_flow) NAME(klu_flow_of)(const NAME(klu) * s) {
  NAME(klu_flow) w = {.steps = (NAME(klu_step) *)(void *)s->flow};
  w.a = (double *)(void *)(w.steps + s->flow_steps);
  w.i = (I *)(void *)(w.a + s->flow_entries);
  return w;
}

/* Blocks of one column have no L and U, and KLU leaves their lengths undefined. */
static void NAME(klu_count_flow)(NAME(klu) * s, int64_t n) {
  const SYMBOLIC *sym = s->symbolic;
  const NUMERIC *num = s->numeric;
  s->flow_steps = n;
  s->flow_entries = sym->nzoff;
  for (int64_t block = 0; block < sym->nblocks; block++) {
    const int64_t from = sym->R[block], to = sym->R[block + 1];
    for (int64_t k = from; k < to && to - from > 1; k++) {
      s->flow_steps += k < to - 1 && num->Llen[k] > 0;
      s->flow_entries += (k < to - 1 ? (int64_t)num->Llen[k] : 0) + num->Ulen[k];
    }
  }
}

static void NAME(klu_add_step)(NAME(klu_flow) * w, int64_t k, double d) {
  *w->steps++ = (NAME(klu_step)){.d = d, .k = (I)k};
}

/* Appends n entries to the last step; `from` is added to their indices. */
static void NAME(klu_add_entries)(NAME(klu_flow) * w, const I *i, const double *a, int64_t n, int64_t from) {
  w->steps[-1].count += (I)n;
  for (int64_t p = 0; p < n; p++) {
    *w->i++ = (I)(i[p] + from);
    *w->a++ = a[p];
  }
}

static void NAME(klu_add_column)(NAME(klu_flow) * w, const double *at, int64_t n, int64_t from) {
  const size_t per = sizeof(double) / sizeof(I);
  if (n > 0) NAME(klu_add_entries)(w, (const I *)(const void *)at, at + ((size_t)n + per - 1) / per, n, from);
}

static damo_status NAME(klu_pack)(const damo_factor *f) {
  NAME(klu) *s = f->state;
  const SYMBOLIC *sym = s->symbolic;
  const NUMERIC *num = s->numeric;
  NAME(klu_count_flow)(s, f->m.cols);
  s->flow = mem_alloc(f->obj.ctx, NAME(klu_flow_size)(s));
  if (!s->flow) return DAMO_EMEMORY;
  NAME(klu_flow) w = NAME(klu_flow_of)(s);
  for (int64_t block = sym->nblocks - 1; block >= 0; block--) {
    const int64_t from = sym->R[block], to = sym->R[block + 1];
    const double *lu = to - from > 1 ? num->LUbx[block] : NULL;
    for (int64_t k = from; k < to - 1; k++) {
      if (num->Llen[k] == 0) continue;
      NAME(klu_add_step)(&w, k, 1);
      NAME(klu_add_column)(&w, lu + num->Lip[k], num->Llen[k], from);
    }
    for (int64_t k = to - 1; k >= from; k--) {
      const int64_t first = num->Offp[k];
      NAME(klu_add_step)(&w, k, s->x[f->m.cols + k]);
      if (lu) NAME(klu_add_column)(&w, lu + num->Uip[k], num->Ulen[k], from);
      NAME(klu_add_entries)(&w, num->Offi + first, (const double *)num->Offx + first, num->Offp[k + 1] - first, 0);
    }
  }
  return DAMO_OK;
}

static void NAME(klu_solve_packed)(const damo_factor *f, double *b) {
  const NAME(klu) *s = f->state;
  const int64_t n = f->m.cols;
  const NAME(klu_flow) w = NAME(klu_flow_of)(s);
  const I *row = s->numeric->Pnum, *column = s->symbolic->Q, *i = w.i;
  const double *a = w.a;
  double *x = s->x;
  for (int64_t k = 0; k < n; k++) x[k] = b[row[k]] * s->r[row[k]];
  for (int64_t step = 0; step < s->flow_steps; step++) {
    const NAME(klu_step) *t = &w.steps[step];
    const double v = x[t->k] *= t->d;
    for (const I *end = i + t->count; i < end; i++) x[*i] -= *a++ * v;
  }
  for (int64_t k = 0; k < n; k++) b[column[k]] = x[k];
}

/* Solves with Mᵀ: the same steps, transposed, from the last to the first. */
static void NAME(klu_solve_packed_transposed)(const damo_factor *f, double *b) {
  const NAME(klu) *s = f->state;
  const int64_t n = f->m.cols;
  const NAME(klu_flow) w = NAME(klu_flow_of)(s);
  const I *row = s->numeric->Pnum, *column = s->symbolic->Q, *i = w.i + s->flow_entries;
  const double *a = w.a + s->flow_entries;
  double *x = s->x;
  for (int64_t k = 0; k < n; k++) x[k] = b[column[k]];
  for (int64_t step = s->flow_steps - 1; step >= 0; step--) {
    const NAME(klu_step) *t = &w.steps[step];
    i -= t->count;
    a -= t->count;
    x[t->k] = (x[t->k] - NAME(klu_dot)(x, i, a, t->count)) * t->d;
  }
  for (int64_t k = 0; k < n; k++) b[row[k]] = x[k] * s->r[row[k]];
}

/* ---- Mᵀ ---------------------------------------------------------------------------------------------------------- */

static inline double NAME(klu_column_dot)(const double *x, const double *at, int64_t n) {
  const size_t per = sizeof(double) / sizeof(I);
  return n > 0 ? NAME(klu_dot)(x, (const I *)(const void *)at, at + ((size_t)n + per - 1) / per, n) : 0;
}

/* Solves for one real column with Mᵀ. */
static void NAME(klu_solve_transposed)(const damo_factor *f, double *b) {
  const NAME(klu_walk) w = NAME(klu_walk_of)(f);
  const int64_t n = f->m.cols;
  double *x = ((const NAME(klu) *)f->state)->x;
  for (int64_t k = 0; k < n; k++) x[k] = b[w.column[k]];
  for (int64_t block = 0; block < w.blocks; block++) {
    const int64_t from = w.block[block], to = w.block[block + 1];
    const double *lu = to - from > 1 ? w.lu[block] : NULL;
    for (int64_t k = from; k < to; k++) {
      double v = x[k];
      const int64_t first = w.off_p[k], entries = w.off_p[k + 1] - first;
      if (entries > 0) v -= NAME(klu_dot)(x, w.off_i + first, w.off + first, entries);
      if (lu) v -= NAME(klu_column_dot)(x + from, lu + w.u_start[k], w.u_length[k]);
      x[k] = v * w.inverse[k];
    }
    for (int64_t k = to - 2; k >= from; k--) x[k] -= NAME(klu_column_dot)(x + from, lu + w.l_start[k], w.l_length[k]);
  }
  for (int64_t k = 0; k < n; k++) b[w.row[k]] = x[k] * w.r[w.row[k]];
}

static damo_status NAME(klu_solve_vector)(const damo_factor *f, factor_system system, double *x) {
  NAME(klu) *s = f->state;
  const bool transposed = system != FACTOR_A;
  if (!s->flow && s->solves++ == SOLVES_BEFORE_PACKING) DAMO_TRY(NAME(klu_pack)(f));
  if (s->flow)
    (transposed ? NAME(klu_solve_packed_transposed) : NAME(klu_solve_packed))(f, x);
  else
    (transposed ? NAME(klu_solve_transposed) : NAME(klu_solve_one))(f, x);
  return DAMO_OK;
}

static damo_status NAME(klu_solve)(damo_factor *f, factor_system system, int64_t k, double *x) {
  NAME(klu) *s = f->state;
  const I n = (I)f->m.cols, c = (I)k;
  if (k == 1 && !f->m.cplx) return NAME(klu_solve_vector)(f, system, x);
  if (system == FACTOR_A) NAME(klu_rescale)(f, k, x);
  if (system == FACTOR_A)
    (f->m.cplx ? KLUZ(solve) : KLU(solve))(s->symbolic, s->numeric, n, c, x, &s->common);
  else if (f->m.cplx)
    KLUZ(tsolve)(s->symbolic, s->numeric, n, c, x, system == FACTOR_H, &s->common);
  else
    KLU(tsolve)(s->symbolic, s->numeric, n, c, x, &s->common);
  if (system != FACTOR_A) NAME(klu_rescale)(f, k, x);
  return NAME(klu_status)(f);
}

static damo_status NAME(klu_pivots)(damo_factor *f, bool want_log, factor_pivots *out) {
  const NAME(klu) *s = f->state;
  const NUMERIC *num = s->numeric;
  const double *d = num->Udiag;
  const zdouble *z = num->Udiag;
  const bool wide = sizeof(I) == 8;
  for (int64_t k = 0; k < f->m.cols; k++) {
    const zdouble pivot = f->m.cplx ? z[k] : d[k];
    factor_pivots_add(out, cabs(pivot) / s->r[num->Pnum[k]], k, num->Pnum[k], s->symbolic->Q[k]);
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

static void NAME(klu_extract_part)(NAME(klu) * s, bool cplx, bool upper, I *p, I *i, double *x, double *z) {
  I *lp = upper ? NULL : p, *li = upper ? NULL : i, *up = upper ? p : NULL, *ui = upper ? i : NULL;
  double *lx = upper ? NULL : x, *lz = upper ? NULL : z, *ux = upper ? x : NULL, *uz = upper ? z : NULL;
  if (cplx) KLUZ(extract)
  (s->numeric, s->symbolic, lp, li, lx, lz, up, ui, ux, uz, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &s->common);
  else KLU(extract)(s->numeric, s->symbolic, lp, li, lx, up, ui, ux, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    &s->common);
}

/* Extracts KLU's L and U, both stored by columns with their diagonals; the blocks off the diagonal are left out. */
static damo_status NAME(klu_extract)(damo_factor *f, factor_lu *lu) {
  NAME(klu) *s = f->state;
  const NUMERIC *num = s->numeric;
  damo_ctx *ctx = f->obj.ctx;
  const bool cplx = f->m.cplx, wide = sizeof(I) == 8;
  const size_t n = (size_t)f->m.cols, l = (size_t)num->lnz, u = (size_t)num->unz, most = l > u ? l : u;
  const size_t bytes = (n + 1 + most) * sizeof(I) + most * 2 * sizeof(double);
  char *block = mem_alloc(ctx, bytes);
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
  NAME(klu_extract_part)(s, cplx, false, p, i, x, z);
  status = factor_lu_take(ctx, lu, false, false, wide, p, i, x, z);
  if (status != DAMO_OK) goto done;
  NAME(klu_extract_part)(s, cplx, true, p, i, x, z);
  status = factor_lu_take(ctx, lu, true, false, wide, p, i, x, z);
done:
  mem_free(ctx, block, bytes);
  return status;
}
