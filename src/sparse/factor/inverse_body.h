/* inverse_body: the selected inverse for one value type T. Included with T, NAME, MUL, CONJ.
 *
 * Let B = L·D·U (unit L, unit U) and Z = B⁻¹. From Z = D⁻¹L⁻¹ + (I − U)Z and Z = U⁻¹D⁻¹ + Z(I − L), for j from the last
 * to the first, with C the row indices of column j of L and R the column indices of row j of U:
 *   Z(R, j) = −Z(R, C)·L(C, j)     Z(j, C) = −U(j, R)·Z(R, C)     Z(j, j) = 1/d(j) − U(j, R)·Z(R, j)
 * Z(r, c) with r in R and c in C is needed only where B has an entry or fill-in at (c, r). So Z is stored on the
 * transposed pattern of L and U: low[k] = Z(i, row) for entry (row, i) of U, high[k] = Z(column, i) for entry (i,
 * column) of L. */

typedef struct NAME(inverse) {
  const factor_lu *lu;
  const int64_t *up, *ui; /* L's own if B is Hermitian */
  const T *l, *u, *d;
  T *low, *high, *diagonal;    /* high NULL if B is Hermitian */
  T *at_row, *at_column;       /* accumulators of Z(R, j) and Z(j, C), by index */
  int64_t *in_row, *in_column; /* the index's entry in row j of U, in column j of L, or −1 */
  int64_t missing;             /* pairs (r, c) that the patterns of L and U lack */
} NAME(inverse);

/* Pairs with r > c, where Z(r, c) is stored at entry (c, r) of U, and r = c. */
static int64_t NAME(lower_pairs)(const NAME(inverse) * z, int64_t j) {
  const factor_lu *lu = z->lu;
  int64_t met = 0;
  for (int64_t k = lu->lp[j]; k < lu->lp[j + 1]; k++) {
    const int64_t c = lu->li[k];
    T sum = 0;
    for (int64_t e = z->up[c]; e < z->up[c + 1]; e++) {
      const int64_t r = z->ui[e], own = z->in_row[r];
      if (own < 0) continue;
      z->at_row[r] -= MUL(z->low[e], z->l[k]);
      sum += MUL(z->u[own], z->low[e]);
      met++;
    }
    if (z->in_row[c] >= 0) {
      z->at_row[c] -= MUL(z->diagonal[c], z->l[k]);
      sum += MUL(z->u[z->in_row[c]], z->diagonal[c]);
      met++;
    }
    z->at_column[c] -= sum;
  }
  return met;
}

/* Pairs with r < c, where Z(r, c) is stored at entry (c, r) of L. */
static int64_t NAME(upper_pairs)(const NAME(inverse) * z, int64_t j) {
  const factor_lu *lu = z->lu;
  int64_t met = 0;
  for (int64_t k = z->up[j]; k < z->up[j + 1]; k++) {
    const int64_t r = z->ui[k];
    T sum = 0;
    for (int64_t e = lu->lp[r]; e < lu->lp[r + 1]; e++) {
      const int64_t c = lu->li[e], own = z->in_column[c];
      if (own < 0) continue;
      sum += MUL(z->high[e], z->l[own]);
      z->at_column[c] -= MUL(z->u[k], z->high[e]);
      met++;
    }
    z->at_row[r] -= sum;
  }
  return met;
}

static void NAME(step)(NAME(inverse) * z, int64_t j) {
  const factor_lu *lu = z->lu;
  const int64_t cs = lu->lp[j + 1] - lu->lp[j], rs = z->up[j + 1] - z->up[j];
  for (int64_t k = z->up[j]; k < z->up[j + 1]; k++) z->in_row[z->ui[k]] = k, z->at_row[z->ui[k]] = 0;
  for (int64_t k = lu->lp[j]; k < lu->lp[j + 1]; k++) z->in_column[lu->li[k]] = k, z->at_column[lu->li[k]] = 0;
  z->missing += cs * rs - NAME(lower_pairs)(z, j) - NAME(upper_pairs)(z, j);
  T sum = 0;
  for (int64_t k = z->up[j]; k < z->up[j + 1]; k++) {
    z->low[k] = z->at_row[z->ui[k]];
    sum += MUL(z->u[k], z->low[k]);
    z->in_row[z->ui[k]] = -1;
  }
  for (int64_t k = lu->lp[j]; k < lu->lp[j + 1]; k++) {
    z->high[k] = z->at_column[lu->li[k]];
    z->in_column[lu->li[k]] = -1;
  }
  z->diagonal[j] = 1 / z->d[j] - sum;
}

/* The same if U = Lᴴ and Z = Zᴴ, with half the work. */
static void NAME(hermitian_step)(NAME(inverse) * z, int64_t j) {
  const factor_lu *lu = z->lu;
  const int64_t from = lu->lp[j], to = lu->lp[j + 1];
  for (int64_t k = from; k < to; k++) z->in_row[lu->li[k]] = k, z->at_row[lu->li[k]] = 0;
  for (int64_t k = from; k < to; k++) {
    const int64_t c = lu->li[k];
    T sum = MUL(z->diagonal[c], z->l[k]);
    for (int64_t e = lu->lp[c]; e < lu->lp[c + 1]; e++) {
      const int64_t r = lu->li[e], own = z->in_row[r];
      if (own < 0) continue;
      z->at_row[r] -= MUL(z->low[e], z->l[k]);
      sum += MUL(CONJ(z->low[e]), z->l[own]);
    }
    z->at_row[c] -= sum;
  }
  T sum = 0;
  for (int64_t k = from; k < to; k++) {
    z->low[k] = z->at_row[lu->li[k]];
    sum += MUL(CONJ(z->l[k]), z->low[k]);
    z->in_row[lu->li[k]] = -1;
  }
  z->diagonal[j] = 1 / z->d[j] - sum;
}

/* Z(row, column) in the order of the factors; 0 outside the pattern of L and U, that is off the diagonal blocks. */
static T NAME(entry)(const NAME(inverse) * z, int64_t row, int64_t column) {
  if (row == column) return z->diagonal[row];
  const bool below = row > column;
  const int64_t major = below ? column : row, want = below ? row : column;
  const int64_t *p = below ? z->up : z->lu->lp, *i = below ? z->ui : z->lu->li;
  const int64_t k = inverse_find_place(i, p[major], p[major + 1], want);
  if (k < 0) return 0;
  if (below) return z->low[k];
  return z->high ? z->high[k] : CONJ(z->low[k]);
}

static void NAME(collect)(const NAME(inverse) * z, const factor_matrix *m, const int64_t *row_step,
                          const int64_t *column_step, T *out) {
  const factor_lu *lu = z->lu;
  for (int64_t j = 0; j < m->cols; j++) {
    const int64_t end = sparse_index_get(m->indptr->data, m->wide, j + 1);
    for (int64_t k = sparse_index_get(m->indptr->data, m->wide, j); k < end; k++) {
      const int64_t i = sparse_index_get(m->indices->data, m->wide, k);
      const T v = NAME(entry)(z, column_step[j], row_step[i]);
      out[k] = lu->r ? v / lu->r[i] : v;
    }
  }
}

static damo_status NAME(selected)(damo_ctx *ctx, const factor_matrix *m, const factor_lu *lu, double *out,
                                  bool *complete) {
  const bool hermitian = lu->up == NULL;
  const size_t n = (size_t)lu->n, nl = (size_t)lu->lp[n], nu = hermitian ? nl : (size_t)lu->up[n];
  const size_t values = nu + (hermitian ? 0 : nl) + 3 * n, bytes = values * sizeof(T) + 4 * n * sizeof(int64_t);
  char *block = mem_alloc(ctx, bytes);
  if (!block) return DAMO_EMEMORY;
  NAME(inverse)
  z = {.lu = lu,
       .up = hermitian ? lu->lp : lu->up,
       .ui = hermitian ? lu->li : lu->ui,
       .l = (const T *)(const void *)lu->lx,
       .u = (const T *)(const void *)lu->ux,
       .d = (const T *)(const void *)lu->d,
       .low = (T *)(void *)block};
  z.high = hermitian ? NULL : z.low + nu;
  z.diagonal = z.low + nu + (hermitian ? 0 : nl);
  z.at_row = z.diagonal + n;
  z.at_column = z.at_row + n;
  z.in_row = (int64_t *)(void *)(z.at_column + n);
  z.in_column = z.in_row + n;
  int64_t *row_step = z.in_column + n, *column_step = row_step + n;
  for (size_t k = 0; k < n; k++) {
    z.in_row[k] = z.in_column[k] = -1;
    row_step[lu->p[k]] = (int64_t)k;
    column_step[lu->q[k]] = (int64_t)k;
  }
  for (int64_t j = lu->n - 1; j >= 0; j--) {
    if (hermitian)
      NAME(hermitian_step)(&z, j);
    else
      NAME(step)(&z, j);
  }
  *complete = z.missing == 0;
  NAME(collect)(&z, m, row_step, column_step, (T *)(void *)out);
  mem_free(ctx, block, bytes);
  return DAMO_OK;
}
