/* lu: data from the back ends' triangular factors: pivots for determinants, L and U for inverses. */
#include "factor_int.h"

/* ---- Pivots ------------------------------------------------------------------------------------------------------ */

void factor_pivots_add(factor_pivots *out, double modulus, int64_t step, int64_t row, int64_t column) {
  if (modulus > out->largest) out->largest = modulus;
  if (modulus >= out->smallest) return;
  out->smallest = modulus;
  out->step = step, out->row = row, out->column = column;
}

void factor_pivots_multiply(factor_pivots *out, zdouble number) {
  const double size = cabs(number);
  out->log_abs += log(size);
  if (cimag(number) == 0) {
    const double sign = creal(number) > 0 ? 1 : creal(number) < 0 ? -1 : 0;
    out->sign.re *= sign, out->sign.im *= sign;
    return;
  }
  const zdouble rotated = zmul(zpair(out->sign.re, out->sign.im), number / size);
  out->sign = (damo_c128){creal(rotated), cimag(rotated)};
}

int factor_permutation_sign(damo_ctx *ctx, const void *p, int64_t n, bool wide) {
  unsigned char *seen = mem_calloc(ctx, (size_t)n);
  if (!seen) return 0;
  int sign = 1;
  for (int64_t k = 0; k < n; k++) {
    if (seen[k]) continue;
    for (int64_t next = sparse_index_get(p, wide, k); next != k; next = sparse_index_get(p, wide, next)) {
      seen[next] = 1;
      sign = -sign;
    }
  }
  mem_free(ctx, seen, (size_t)n);
  return sign;
}

/* ---- Triangular factors ------------------------------------------------------------------------------------------ */

damo_status factor_lu_new(damo_ctx *ctx, factor_lu *lu, int64_t n, bool cplx, bool hermitian, size_t l, size_t u,
                          bool scaled) {
  const size_t n_ends = (size_t)n + 1, entry = cplx ? sizeof(zdouble) : sizeof(double);
  *lu = (factor_lu){.n = n, .cplx = cplx, .l_capacity = l, .u_capacity = u};
  bool ok = (lu->lp = mem_alloc(ctx, n_ends * sizeof(int64_t))) && (lu->li = mem_alloc(ctx, l * sizeof(int64_t))) &&
            (lu->lx = mem_alloc(ctx, l * entry)) && (lu->d = mem_alloc(ctx, (size_t)n * entry)) &&
            (lu->p = mem_alloc(ctx, (size_t)n * sizeof(int64_t))) &&
            (lu->q = mem_alloc(ctx, (size_t)n * sizeof(int64_t)));
  if (ok && !hermitian) {
    ok = (lu->up = mem_alloc(ctx, n_ends * sizeof(int64_t))) && (lu->ui = mem_alloc(ctx, u * sizeof(int64_t))) &&
         (lu->ux = mem_alloc(ctx, u * entry));
  }
  if (ok && scaled) ok = (lu->r = mem_alloc(ctx, (size_t)n * sizeof(double))) != NULL;
  return ok ? DAMO_OK : DAMO_EMEMORY;
}

void factor_lu_clear(damo_ctx *ctx, factor_lu *lu) {
  const size_t n = (size_t)lu->n, n_ends = n + 1, entry = lu->cplx ? sizeof(zdouble) : sizeof(double);
  mem_free(ctx, lu->lp, n_ends * sizeof(int64_t));
  mem_free(ctx, lu->li, lu->l_capacity * sizeof(int64_t));
  mem_free(ctx, lu->lx, lu->l_capacity * entry);
  mem_free(ctx, lu->up, n_ends * sizeof(int64_t));
  mem_free(ctx, lu->ui, lu->u_capacity * sizeof(int64_t));
  mem_free(ctx, lu->ux, lu->u_capacity * entry);
  mem_free(ctx, lu->d, n * entry);
  mem_free(ctx, lu->p, n * sizeof(int64_t));
  mem_free(ctx, lu->q, n * sizeof(int64_t));
  mem_free(ctx, lu->r, n * sizeof(double));
  *lu = (factor_lu){0};
}

/* A triangular matrix in compressed storage: vector k holds entries ends[k] … ends[k + 1] - 1. Values are single
 * doubles or (re, im) pairs. */
typedef struct lu_lists {
  int64_t *ends, *at;
  double *x;
} lu_lists;

/* dst = src compressed along the other axis; indices ascend. */
static void lu_lists_transpose(int64_t n, int64_t per, const lu_lists *src, lu_lists *dst) {
  int64_t *next = dst->ends;
  memset(next, 0, ((size_t)n + 1) * sizeof *next);
  for (int64_t k = 0; k < src->ends[n]; k++) next[src->at[k] + 1]++;
  for (int64_t k = 0; k < n; k++) next[k + 1] += next[k];
  for (int64_t major = 0; major < n; major++) {
    for (int64_t k = src->ends[major]; k < src->ends[major + 1]; k++) {
      const int64_t to = next[src->at[k]]++;
      dst->at[to] = major;
      for (int64_t c = 0; c < per; c++) dst->x[to * per + c] = src->x[k * per + c];
    }
  }
  memmove(next + 1, next, (size_t)n * sizeof *next);
  next[0] = 0;
}

/* Copies a back end's triangle to int64 storage with values as pairs, without the diagonal. */
static void lu_lists_read(int64_t n, bool cplx, bool wide, const void *p, const void *i, const double *x,
                          const double *z, lu_lists *out) {
  int64_t to = 0;
  for (int64_t major = 0; major < n; major++) {
    const int64_t from = sparse_index_get(p, wide, major), end = sparse_index_get(p, wide, major + 1);
    out->ends[major] = to;
    for (int64_t k = from; k < end; k++) {
      const int64_t at = sparse_index_get(i, wide, k);
      if (at == major) continue;
      out->at[to] = at;
      if (!cplx) {
        out->x[to++] = x[k];
        continue;
      }
      out->x[2 * to] = z ? x[k] : x[2 * k];
      out->x[2 * to + 1] = z ? z[k] : x[2 * k + 1];
      to++;
    }
  }
  out->ends[n] = to;
}

static void lu_divide_rows(factor_lu *lu) {
  zdouble *z = (zdouble *)(void *)lu->ux;
  const zdouble *dz = (const zdouble *)(const void *)lu->d;
  for (int64_t row = 0; row < lu->n; row++) {
    for (int64_t k = lu->up[row]; k < lu->up[row + 1]; k++) {
      if (lu->cplx)
        z[k] /= dz[row];
      else
        lu->ux[k] /= lu->d[row];
    }
  }
}

damo_status factor_lu_take(damo_ctx *ctx, factor_lu *lu, bool upper, bool by_rows, bool wide, const void *p,
                           const void *i, const double *x, const double *z) {
  const int64_t per = lu->cplx ? 2 : 1, n = lu->n;
  const size_t most = upper ? lu->u_capacity : lu->l_capacity, ends_size = ((size_t)n + 1) * sizeof(int64_t);
  const size_t bytes = ends_size + most * (sizeof(int64_t) + (size_t)per * sizeof(double));
  char *block = mem_alloc(ctx, bytes);
  if (!block) return DAMO_EMEMORY;
  lu_lists spare = {(int64_t *)(void *)block, (int64_t *)(void *)(block + ends_size), NULL};
  spare.x = (double *)(void *)(spare.at + most);
  lu_lists own = upper ? (lu_lists){lu->up, lu->ui, lu->ux} : (lu_lists){lu->lp, lu->li, lu->lx};
  /* Each transposition sorts the indices: one transposition changes storage by rows to storage by columns, two keep
   * it. */
  if (by_rows == upper) {
    lu_lists_read(n, lu->cplx, wide, p, i, x, z, &own);
    lu_lists_transpose(n, per, &own, &spare);
  } else {
    lu_lists_read(n, lu->cplx, wide, p, i, x, z, &spare);
  }
  lu_lists_transpose(n, per, &spare, &own);
  mem_free(ctx, block, bytes);
  if (upper) lu_divide_rows(lu);
  return DAMO_OK;
}

void factor_lu_square(factor_lu *lu) {
  const int64_t per = lu->cplx ? 2 : 1;
  for (int64_t j = 0; j < lu->n; j++) {
    double *d = &lu->d[j * per];
    for (int64_t k = lu->lp[j] * per; k < lu->lp[j + 1] * per; k++) lu->lx[k] /= *d;
    *d *= *d;
  }
}
