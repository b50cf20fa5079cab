/* value_body: kernels that compute with values. Included with I (index type), IX (its name), T (element type) and TX
 * (its name). */
#define NAME(f) PASTE3(sp_value_##f, IX, TX)
#define ADD PASTE2(arith_add, TX)
#define SUB PASTE2(arith_sub, TX)
#define MUL PASTE2(arith_mul, TX)
#define IS_ZERO PASTE2(arith_zero, TX)
#define LARGER PASTE2(arith_larger, TX)
#define SMALLER PASTE2(arith_smaller, TX)
#define DIFFER PASTE2(arith_differ, TX)
#define LESS PASTE2(arith_less, TX)
#define NOT_ABOVE PASTE2(arith_not_above, TX)

/* ---- Products with dense ---- */

#define FAR_ENTRIES (1 << 18) /* matrices with more entries do not stay in cache: they are prefetched */
#define AHEAD 64              /* prefetch distance, in entries */

/* Mispredicted branches at the ends of short rows keep out-of-order execution, and with it the hardware prefetcher,
 * from running ahead: so entries are prefetched by hand. */
static void NAME(matvec)(const sparse_raw *a, const void *alpha, const void *xs, void *ys, bool add) {
  const I *restrict ptr = a->indptr, *restrict idx = a->indices;
  const T *restrict val = a->data, *restrict x = xs, *scale = alpha;
  T *restrict y = ys;
  const int64_t ahead = ptr[a->major] > FAR_ENTRIES ? ptr[a->major] - AHEAD : 0;
  int64_t p = ptr[0];
  for (int64_t i = 0; i < a->major; i++) {
    const int64_t end = ptr[i + 1];
    T sum = {0};
    if (p < ahead) {
      __builtin_prefetch(idx + p + AHEAD);
      __builtin_prefetch(val + p + AHEAD);
    }
    for (; p < end; p++) {
      /* keeps the loop scalar: a vectorized one extracts each product for the ordered sum, which costs more */
      __asm__("");
      sum = ADD(sum, MUL(val[p], x[idx[p]]));
    }
    if (scale) sum = MUL(*scale, sum);
    y[i] = add ? ADD(y[i], sum) : sum;
  }
}

#undef AHEAD

static void NAME(matvec_t)(const sparse_raw *a, const void *alpha, const void *xs, void *ys) {
  const I *restrict ptr = a->indptr, *restrict idx = a->indices;
  const T *restrict val = a->data, *restrict x = xs, *scale = alpha;
  T *restrict y = ys;
  SPARSE_MAJORS(a, i, I) {
    const T xi = scale ? MUL(*scale, x[i]) : x[i];
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) y[idx[p]] = ADD(y[idx[p]], MUL(val[p], xi));
  }
}

static inline void NAME(axpy)(T s, const T *restrict x, T *restrict y, int64_t n) {
  for (int64_t k = 0; k < n; k++) y[k] = ADD(y[k], MUL(s, x[k]));
}

static void NAME(matmat)(const sparse_raw *a, const void *alpha, const sparse_block *xs, const sparse_block *zs,
                         const sparse_block *ys) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data, *scale = alpha, *x = xs->data, *z = zs ? zs->data : NULL;
  T *y = ys->data;
  const size_t bytes = (size_t)ys->cols * sizeof(T);
  for (int64_t i = 0; i < a->major; i++) {
    T *row = y + i * ys->stride;
    if (!z) memset(row, 0, bytes);
    if (z && z != y) memcpy(row, z + i * zs->stride, bytes);
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      const T s = scale ? MUL(*scale, val[p]) : val[p];
      NAME(axpy)(s, x + idx[p] * xs->stride, row, ys->cols);
    }
  }
}

static void NAME(matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *xs, const sparse_block *ys) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data, *scale = alpha, *x = xs->data;
  T *y = ys->data;
  SPARSE_MAJORS(a, i, I) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      const T s = scale ? MUL(*scale, val[p]) : val[p];
      NAME(axpy)(s, x + i * xs->stride, y + idx[p] * ys->stride, ys->cols);
    }
  }
}

/* sample with one column: products of elements of two vectors. */
static void NAME(sample_outer)(const sparse_raw *a, const sparse_block *xs, const sparse_block *ys, void *out) {
  const I *restrict ptr = a->indptr, *restrict idx = a->indices;
  const T *restrict x = xs->data, *restrict y = ys->data;
  T *restrict z = out;
  for (int64_t i = 0; i < a->major; i++) {
    const T row = x[i * xs->stride];
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) z[p] = MUL(row, y[idx[p] * ys->stride]);
  }
}

static void NAME(sample)(const sparse_raw *a, const sparse_block *xs, const sparse_block *ys, void *out) {
  if (xs->cols == 1) {
    NAME(sample_outer)(a, xs, ys, out);
    return;
  }
  const I *ptr = a->indptr, *idx = a->indices;
  const T *x = xs->data, *y = ys->data;
  T *z = out;
  for (int64_t i = 0; i < a->major; i++) {
    const T *row = x + i * xs->stride;
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      const T *col = y + idx[p] * ys->stride;
      T sum = {0};
      for (int64_t k = 0; k < xs->cols; k++) sum = ADD(sum, MUL(row[k], col[k]));
      z[p] = sum;
    }
  }
}

/* ---- Products of two sparse ---- */

#define AHEAD 4

/* An upper bound of the entries of major vector i of the product: its multiplications, at most b's minor axis. */
static inline int64_t NAME(most_in_major)(const sparse_raw *a, const sparse_raw *b, int64_t i) {
  const I *ap = a->indptr, *aj = a->indices, *bp = b->indptr;
  int64_t most = 0;
  for (int64_t p = ap[i]; p < ap[i + 1] && most < b->minor; p++) most += bp[aj[p] + 1] - bp[aj[p]];
  return most < b->minor ? most : b->minor;
}

/* mark[k] is the place of minor position k in the result; before `start`: not yet met in this major vector. */
static void NAME(fill_product)(const sparse_raw *a, const sparse_raw *b, void *mark_workspace, sparse_progress *at,
                               void *indptr, void *indices, void *data) {
  const I *restrict ap = a->indptr, *restrict aj = a->indices, *restrict bp = b->indptr, *restrict bj = b->indices;
  const T *restrict ax = a->data, *restrict bx = b->data;
  I *restrict mark = mark_workspace, *restrict idx = indices, *restrict ptr = indptr;
  T *restrict val = data;
  const int64_t ahead = ap[a->major] - AHEAD;
  int64_t n = at->n, i = at->major;
  ptr[0] = 0;
  for (; i < a->major && NAME(most_in_major)(a, b, i) <= at->capacity - n; i++) {
    const int64_t start = n;
    for (int64_t p = ap[i]; p < ap[i + 1]; p++) {
      const T s = ax[p];
      const int64_t j = aj[p], end = bp[j + 1];
      if (p < ahead) { /* b's major vectors come in no order, so they are prefetched */
        const int64_t next = bp[aj[p + AHEAD]];
        __builtin_prefetch(bj + next);
        __builtin_prefetch(bx + next);
        __builtin_prefetch((const char *)(bx + next) + 64);
      }
      for (int64_t q = bp[j]; q < end; q++) {
        const int64_t k = bj[q], place = mark[k];
        if (place >= start) {
          val[place] = ADD(val[place], MUL(s, bx[q]));
        } else {
          mark[k] = (I)n;
          idx[n] = (I)k;
          val[n++] = MUL(s, bx[q]);
        }
      }
    }
    ptr[i + 1] = (I)n;
  }
  at->major = i;
  at->n = n;
}

static void NAME(add_product)(const sparse_raw *a, const sparse_raw *b, const void *alpha, char *dst,
                              int64_t major_stride, int64_t minor_stride) {
  const I *restrict ap = a->indptr, *restrict aj = a->indices, *restrict bp = b->indptr, *restrict bj = b->indices;
  const T *restrict ax = a->data, *restrict bx = b->data, *scale = alpha;
  SPARSE_MAJORS(a, i, I) {
    char *to = dst + i * major_stride;
    for (int64_t p = ap[i]; p < ap[i + 1]; p++) {
      const T s = scale ? MUL(*scale, ax[p]) : ax[p];
      const int64_t j = aj[p];
      for (int64_t q = bp[j]; q < bp[j + 1]; q++) {
        T *at = (T *)(void *)(to + bj[q] * minor_stride);
        *at = ADD(*at, MUL(s, bx[q]));
      }
    }
  }
}

/* Expands major vector i of x into the dense array `row`; mark[k] is the last i whose vector stores position k. */
static void NAME(sample_product)(const sparse_raw *a, const sparse_raw *x, const sparse_raw *y, void *row_workspace,
                                 void *mark_workspace, void *out) {
  const I *restrict ap = a->indptr, *restrict aj = a->indices;
  const I *restrict xp = x->indptr, *restrict xj = x->indices, *restrict yp = y->indptr, *restrict yj = y->indices;
  const T *restrict xv = x->data, *restrict yv = y->data;
  T *restrict row = row_workspace, *restrict val = out;
  I *restrict mark = mark_workspace;
  SPARSE_MAJORS(a, i, I) {
    if (ap[i] == ap[i + 1]) continue;
    for (int64_t p = xp[i]; p < xp[i + 1]; p++) {
      const int64_t k = xj[p];
      row[k] = mark[k] == (I)i ? ADD(row[k], xv[p]) : xv[p];
      mark[k] = (I)i;
    }
    for (int64_t p = ap[i]; p < ap[i + 1]; p++) {
      const int64_t j = aj[p];
      T sum = {0};
      for (int64_t q = yp[j]; q < yp[j + 1]; q++) {
        if (mark[yj[q]] == (I)i) sum = ADD(sum, MUL(row[yj[q]], yv[q]));
      }
      val[p] = sum;
    }
  }
}

#include "merge_body.h"

#include "axis_body.h"

/* ---- Dense matrices ---- */

static void NAME(add_dense)(const sparse_raw *a, char *dst, int64_t major_stride, int64_t minor_stride) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  SPARSE_MAJORS(a, i, I) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      T *at = (T *)(void *)(dst + i * major_stride + idx[p] * minor_stride);
      *at = ADD(*at, val[p]);
    }
  }
}

static int64_t NAME(count_dense)(damo_ctx *ctx, const char *src, int64_t major, int64_t minor, int64_t major_stride,
                                 int64_t minor_stride, void *indptr) {
  const sparse_raw all = {.ctx = ctx};
  I *ptr = indptr;
  int64_t n = 0, since = 0;
  ptr[0] = 0;
  for (int64_t i = 0; i < major; i++) {
    const char *from = src + i * major_stride;
    for (int64_t j = 0; j < minor; j++) n += !IS_ZERO(*(const T *)(const void *)(from + j * minor_stride));
    ptr[i + 1] = (I)n;
    sparse_point(&all, &since, minor);
  }
  return n;
}

static void NAME(fill_dense)(damo_ctx *ctx, const char *src, int64_t major, int64_t minor, int64_t major_stride,
                             int64_t minor_stride, void *indices, void *data) {
  const sparse_raw all = {.ctx = ctx};
  I *idx = indices;
  T *val = data;
  int64_t since = 0;
  for (int64_t i = 0; i < major; i++) {
    const char *from = src + i * major_stride;
    for (int64_t j = 0; j < minor; j++) {
      const T v = *(const T *)(const void *)(from + j * minor_stride);
      if (IS_ZERO(v)) continue;
      *idx++ = (I)j;
      *val++ = v;
    }
    sparse_point(&all, &since, minor);
  }
}

/* ---- Clean-up in place ---- */

static int64_t NAME(sum_duplicates)(damo_ctx *ctx, int64_t major, void *indptr, void *indices, void *data) {
  I *ptr = indptr, *idx = indices;
  T *val = data;
  int64_t n = 0, p = 0;
  for (int64_t i = 0; i < major; sparse_point_each(ctx, 8 * i + 7), i++) {
    const int64_t start = n, end = ptr[i + 1];
    for (; p < end; p++) {
      if (n > start && idx[n - 1] == idx[p]) {
        val[n - 1] = ADD(val[n - 1], val[p]);
      } else {
        idx[n] = idx[p];
        val[n++] = val[p];
      }
    }
    ptr[i + 1] = (I)n;
  }
  return n;
}

static int64_t NAME(drop_zeros)(damo_ctx *ctx, int64_t major, void *indptr, void *indices, void *data) {
  I *ptr = indptr, *idx = indices;
  T *val = data;
  int64_t n = 0, p = 0;
  for (int64_t i = 0; i < major; sparse_point_each(ctx, 8 * i + 7), i++) {
    const int64_t end = ptr[i + 1];
    for (; p < end; p++) {
      idx[n] = idx[p];
      val[n] = val[p];
      n += !IS_ZERO(val[n]);
    }
    ptr[i + 1] = (I)n;
  }
  return n;
}

static int64_t NAME(count_zeros)(damo_ctx *ctx, const void *data, int64_t n) {
  const T *val = data;
  int64_t zeros = 0;
  for (int64_t from = 0; from < n; from += 4 * SPARSE_PART) {
    const int64_t end = n - from < 4 * SPARSE_PART ? n : from + 4 * SPARSE_PART;
    for (int64_t p = from; p < end; p++) zeros += IS_ZERO(val[p]);
    if (ctx != NULL) ctx_point(ctx);
  }
  return zeros;
}

/* ---- Elements ---- */

static T NAME(element)(const I *idx, const T *val, int64_t low, int64_t high, int64_t want, bool sorted) {
  T sum = {0};
  if (sorted) low = lower_place(idx, low, high, want);
  for (; low < high && (!sorted || idx[low] == want); low++) {
    if (idx[low] == want) sum = ADD(sum, val[low]);
  }
  return sum;
}

static void NAME(elements)(const sparse_raw *a, bool sorted, int64_t n, const int64_t *major, const int64_t *minor,
                           void *out) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  T *o = out;
  int64_t since = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = major ? major[k] : k, j = minor ? minor[k] : k;
    o[k] = NAME(element)(idx, val, ptr[i], ptr[i + 1], j, sorted);
    sparse_point(a, &since, sorted ? 16 : ptr[i + 1] - ptr[i]);
  }
}

static const sparse_value_fns NAME(fns) = {
    NAME(matvec),       NAME(matvec_t),       NAME(matmat),         NAME(matmat_t),    NAME(sample),
    NAME(fill_product), NAME(add_product),    NAME(sample_product), NAME(merge),       NAME(relate),
    NAME(scale_major),  NAME(scale_minor),    NAME(sum_major),      NAME(sum_minor),   NAME(vecdot_major),
    NAME(vecdot_minor), NAME(extreme_major),  NAME(extreme_minor),  NAME(add_dense),   NAME(count_dense),
    NAME(fill_dense),   NAME(sum_duplicates), NAME(drop_zeros),     NAME(count_zeros), NAME(elements)};

#undef FAR_ENTRIES
#undef AHEAD
#undef NAME
#undef ADD
#undef SUB
#undef MUL
#undef IS_ZERO
#undef LARGER
#undef SMALLER
#undef DIFFER
#undef LESS
#undef NOT_ABOVE
