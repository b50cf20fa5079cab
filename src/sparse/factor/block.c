/* block: blocks of columns of right-hand sides and solutions, in the layout that back ends work on. */
#include "factor_int.h"

int64_t factor_block_columns(const factor_block *w, int64_t k) { return w->split ? 2 * k : k; }

damo_status factor_block_init(damo_factor *f, factor_block *w, int64_t n, int64_t m, int64_t k, bool cplx) {
  const bool z = f->m.cplx;
  *w = (factor_block){.n = n, .k = k < FACTOR_BLOCK ? k : FACTOR_BLOCK, .cplx = cplx || z, .split = cplx && !z};
  const size_t per = z ? 2 : 1, columns = (size_t)factor_block_columns(w, w->k), longer = (size_t)(n > m ? n : m) * per;
  size_t most;
  if (!size_mul(longer, 2 * columns + 3, &most)) return ctx_fail_memory(f->obj.ctx);
  w->b = factor_work(f, most);
  if (!w->b) return DAMO_EMEMORY;
  w->x = w->b + longer * columns;
  w->workspace = w->x + longer * columns;
  return DAMO_OK;
}

static void factor_block_put(const factor_block *w, int64_t n, int64_t i, int64_t c, double re, double im) {
  if (w->split) {
    w->b[2 * c * n + i] = re;
    w->b[(2 * c + 1) * n + i] = im;
  } else if (w->cplx) {
    w->b[2 * (c * n + i)] = re;
    w->b[2 * (c * n + i) + 1] = im;
  } else {
    w->b[c * n + i] = re;
  }
}

void factor_block_load(const factor_block *w, int64_t n, const double *src, bool src_cplx, int64_t width, int64_t from,
                       int64_t k) {
  if (!src_cplx && !w->cplx && width == 1) {
    memcpy(w->b, src, (size_t)n * sizeof *src);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t c = 0; c < k; c++) {
      const int64_t at = i * width + from + c;
      factor_block_put(w, n, i, c, src_cplx ? src[2 * at] : src[at], src_cplx ? src[2 * at + 1] : 0);
    }
  }
}

void factor_block_scatter(const factor_block *w, const damo_sparse *b, int64_t from, int64_t k) {
  const bool wide = sparse_is_wide(b), cplx = sparse_dtype(b) == DAMO_COMPLEX128;
  const double *x = (const double *)(const void *)b->data->data;
  const void *p = b->indptr->data, *indices = b->indices->data;
  memset(w->b, 0, (size_t)(w->n * k * (w->cplx ? 2 : 1)) * sizeof *w->b);
  for (int64_t c = 0; c < k; c++) {
    const int64_t end = sparse_index_get(p, wide, from + c + 1);
    for (int64_t at = sparse_index_get(p, wide, from + c); at < end; at++)
      factor_block_put(w, w->n, sparse_index_get(indices, wide, at), c, cplx ? x[2 * at] : x[at],
                       cplx ? x[2 * at + 1] : 0);
  }
}

damo_c128 factor_block_get(const factor_block *w, const double *x, int64_t n, int64_t i, int64_t c) {
  if (w->split) return (damo_c128){x[2 * c * n + i], x[(2 * c + 1) * n + i]};
  if (w->cplx) return (damo_c128){x[2 * (c * n + i)], x[2 * (c * n + i) + 1]};
  return (damo_c128){x[c * n + i], 0};
}

static void factor_block_store_value(damo_array *out, int64_t at, damo_c128 v) {
  float *f = (float *)(void *)out->data;
  double *d = (double *)(void *)out->data;
  const damo_dtype dtype = array_dtype(out);
  if (dtype == DAMO_FLOAT64) {
    d[at] = v.re;
  } else if (dtype == DAMO_COMPLEX128) {
    d[2 * at] = v.re, d[2 * at + 1] = v.im;
  } else if (dtype == DAMO_FLOAT32) {
    f[at] = (float)v.re;
  } else {
    f[2 * at] = (float)v.re, f[2 * at + 1] = (float)v.im;
  }
}

void factor_block_store(const factor_block *w, const double *x, int64_t n, damo_array *out, int64_t width, int64_t from,
                        int64_t k) {
  if (!w->cplx && width == 1 && array_dtype(out) == DAMO_FLOAT64) {
    memcpy(out->data, x, (size_t)n * sizeof *x);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t c = 0; c < k; c++)
      factor_block_store_value(out, i * width + from + c, factor_block_get(w, x, n, i, c));
}
