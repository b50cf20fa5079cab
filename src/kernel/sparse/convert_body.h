/* convert_body: kernels that move entries. Included with I (index type), U (its unsigned type), T (a type of the
 * element's size) and SUFFIX. */
#define NAME(f) PASTE2(sp_move_##f, SUFFIX)

#include "count_body.h"

/* Prefix sum: counts of major vector i at ptr[i + 1] become starts. */
static void NAME(accumulate)(damo_ctx *ctx, I *ptr, int64_t n) {
  for (int64_t i = 0; i < n; sparse_point_each(ctx, i), i++) ptr[i + 1] = (I)(ptr[i + 1] + ptr[i]);
}

/* After filling, ptr[i] is the end of major vector i: shifts by one, so that it is the start again. */
static void NAME(shift_back)(I *ptr, int64_t n) {
  memmove(ptr + 1, ptr, (size_t)n * sizeof(I));
  ptr[0] = 0;
}

static void NAME(swap)(const sparse_raw *a, void *indptr, void *indices, void *data) {
  const I *restrict ptr = a->indptr, *restrict idx = a->indices;
  const T *restrict val = a->data;
  I *restrict optr = indptr, *restrict oidx = indices;
  T *restrict oval = data;
  const int64_t nnz = ptr[a->major];
  memset(optr, 0, (size_t)(a->minor + 1) * sizeof(I));
  for (int64_t p = 0; p < nnz; sparse_point_each(a->ctx, p), p++) optr[idx[p] + 1]++;
  NAME(accumulate)(a->ctx, optr, a->minor);
  SPARSE_MAJORS(a, i, I) {
    const int64_t end = ptr[i + 1];
    for (int64_t p = ptr[i]; p < end; p++) {
      I *place = &optr[idx[p]];
      const I to = *place;
      *place = (I)(to + 1);
      oidx[to] = (I)i;
      oval[to] = val[p];
    }
  }
  NAME(shift_back)(optr, a->minor);
}

/* ---- Sorting of a major vector: pairs of index and place, stable ---- */

typedef struct NAME(pair) {
  I index;
  int64_t place;
} NAME(pair);

static size_t NAME(sort_workspace)(int64_t longest) { return (size_t)longest * (2 * sizeof(NAME(pair)) + sizeof(T)); }

static void NAME(insertion)(NAME(pair) * x, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    const NAME(pair) e = x[i];
    int64_t j = i;
    for (; j > 0 && x[j - 1].index > e.index; j--) x[j] = x[j - 1];
    x[j] = e;
  }
}

static void NAME(join)(const NAME(pair) * x, int64_t n, int64_t m, NAME(pair) * out) {
  int64_t i = 0, j = n;
  for (int64_t k = 0; k < m; k++) out[k] = j >= m || (i < n && x[i].index <= x[j].index) ? x[i++] : x[j++];
}

#define RUN 16 /* run length that insertion sort makes */

/* Merges runs bottom-up; returns where the sorted pairs ended up: x or spare. */
static NAME(pair) * NAME(sort_pairs)(NAME(pair) * x, int64_t n, NAME(pair) * spare) {
  for (int64_t i = 0; i < n; i += RUN) NAME(insertion)(x + i, n - i < RUN ? n - i : RUN);
  for (int64_t run = RUN; run < n; run *= 2) {
    for (int64_t i = 0; i < n; i += 2 * run) {
      const int64_t m = n - i < 2 * run ? n - i : 2 * run;
      NAME(join)(x + i, m < run ? m : run, m, spare + i);
    }
    NAME(pair) *t = x;
    x = spare;
    spare = t;
  }
  return x;
}

static void NAME(sort)(const sparse_raw *a, void *indices, void *data, void *work) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  I *oidx = indices;
  T *oval = data;
  NAME(pair) *pairs = work;
  SPARSE_MAJORS(a, i, I) {
    const int64_t from = ptr[i], n = ptr[i + 1] - from;
    for (int64_t k = 0; k < n; k++) pairs[k] = (NAME(pair)){idx[from + k], from + k};
    const NAME(pair) *sorted = NAME(sort_pairs)(pairs, n, pairs + n);
    T *values = (T *)(void *)(pairs + 2 * n); /* oval may be val: the sorted values are staged */
    for (int64_t k = 0; k < n; k++) {
      oidx[from + k] = sorted[k].index;
      values[k] = val[sorted[k].place];
    }
    if (n > 0) memcpy(oval + from, values, (size_t)n * sizeof(T));
  }
}

/* ---- Whole major vectors ---- */

static inline void NAME(copy_major)(const I *restrict idx, const T *restrict val, int64_t n, I offset, I *restrict oidx,
                                    T *restrict oval) {
  for (int64_t k = 0; k < n; k++) oidx[k] = (I)(idx[k] + offset);
  for (int64_t k = 0; k < n; k++) oval[k] = val[k];
}

/* The same, four at a time: reads and writes up to LOOSE entries past the end. */
static inline void NAME(copy_loose)(const I *restrict idx, const T *restrict val, int64_t n, I offset, I *restrict oidx,
                                    T *restrict oval) {
  for (int64_t k = 0; k < n; k += 4) {
    *(NAME(four) *)(oidx + k) = *(const NAME(four) *)(idx + k) + offset;
    memcpy(oval + k, val + k, 4 * sizeof(T));
  }
}

static inline void NAME(fill_up)(I *to, int64_t n, I value) {
  const NAME(four) all = (NAME(four)){0} + value;
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) *(NAME(four) *)(to + k) = all;
  for (; k < n; k++) to[k] = value;
}

#define AHEAD 16 /* major vectors that are prefetched before they are copied */

static inline int64_t NAME(major_at)(const int64_t *majors, const sparse_range *r, int64_t i) {
  return majors ? majors[i] : r->first + i * r->step;
}

/* Gathers n major vectors, given by a list or, if it is NULL, by a range. A vector is copied four entries at a time if
 * LOOSE entries follow it both in the source and in the result (the first `loose` vectors). */
static inline void NAME(take_each)(const sparse_raw *a, const int64_t *majors, const sparse_range *range, int64_t n,
                                   void *indptr, void *indices, void *data) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  I *optr = indptr, *oidx = indices;
  T *oval = data;
  const int64_t last = ptr[a->major] - LOOSE;
  int64_t at = 0, loose = n, behind = 0; /* LOOSE entries follow each of the first `loose` vectors in the result */
  while (loose > 0 && behind < LOOSE) {
    const int64_t major = NAME(major_at)(majors, range, --loose);
    behind += ptr[major + 1] - ptr[major];
  }
  optr[0] = 0;
  int64_t since = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t major = NAME(major_at)(majors, range, i), from = ptr[major], count = ptr[major + 1] - from;
    if (majors && n - i > AHEAD) {
      const int64_t next = ptr[majors[i + AHEAD]];
      PREFETCH(idx + next);
      PREFETCH(val + next);
      PREFETCH((const char *)(val + next) + 64);
    }
    if (i < loose && from + count <= last) {
      NAME(copy_loose)(idx + from, val + from, count, 0, oidx + at, oval + at);
    } else {
      NAME(copy_major)(idx + from, val + from, count, 0, oidx + at, oval + at);
    }
    at += count;
    optr[i + 1] = (I)at;
    sparse_point(a, &since, count);
  }
}

static void NAME(take)(const sparse_raw *a, const int64_t *majors, int64_t n, void *indptr, void *indices, void *data) {
  NAME(take_each)(a, majors, NULL, n, indptr, indices, data);
}

static void NAME(take_range)(const kernel_isa *isa, const sparse_raw *a, const sparse_range *majors, void *indptr,
                             void *indices, void *data) {
  if (majors->step != 1) {
    NAME(take_each)(a, NULL, majors, majors->count, indptr, indices, data);
    return;
  }
  const I *ptr = (const I *)a->indptr + majors->first;
  const I from = ptr[0];
  const size_t n = (size_t)(ptr[majors->count] - from);
  I *optr = indptr;
  int64_t i = 0;
  for (; i + 4 <= majors->count; i += 4) *(NAME(four) *)(optr + i) = *(const NAME(four) *)(ptr + i) - from;
  for (; i <= majors->count; i++) optr[i] = (I)(ptr[i] - from);
  kernel_sparse_copy(isa, indices, (const I *)a->indices + from, n * sizeof(I));
  kernel_sparse_copy(isa, data, (const T *)a->data + from, n * sizeof(T));
}

static void NAME(spread)(const sparse_raw *a, const sparse_raw *b, int64_t n, const int64_t *from, const int64_t *to,
                         int64_t n_major, int64_t nnz, void *indptr, void *indices, void *data) {
  I *optr = indptr, *oidx = indices;
  T *oval = data;
  int64_t major = 0, at = 0, since = 0;
  for (int64_t k = 0; k < n; k++) {
    const sparse_raw *s = from[k] < a->major ? a : b;
    const I *ptr = s->indptr;
    const int64_t i = from[k] - (s == a ? 0 : a->major), p = ptr[i], count = ptr[i + 1] - p;
    const I *idx = (const I *)s->indices + p;
    const T *val = (const T *)s->data + p;
    if (to[k] >= major) NAME(fill_up)(optr + major, to[k] + 1 - major, (I)at);
    major = to[k] + 1;
    if (p + count + LOOSE <= ptr[s->major] && at + count + LOOSE <= nnz) {
      NAME(copy_loose)(idx, val, count, 0, oidx + at, oval + at);
    } else {
      NAME(copy_major)(idx, val, count, 0, oidx + at, oval + at);
    }
    at += count;
    sparse_point(a, &since, count);
  }
  NAME(fill_up)(optr + major, n_major + 1 - major, (I)at);
}

static void NAME(place)(damo_ctx *ctx, int64_t n, const int64_t *major, const int64_t *minor, const void *values,
                        int64_t n_major, void *indptr, void *indices, void *data) {
  const T *val = values;
  I *optr = indptr, *oidx = indices;
  T *oval = data;
  memset(optr, 0, (size_t)(n_major + 1) * sizeof(I));
  for (int64_t p = 0; p < n; sparse_point_each(ctx, p), p++) optr[major[p] + 1]++;
  NAME(accumulate)(ctx, optr, n_major);
  for (int64_t p = 0; p < n; sparse_point_each(ctx, p), p++) {
    const int64_t to = optr[major[p]]++;
    oidx[to] = (I)minor[p];
    oval[to] = val[p];
  }
  NAME(shift_back)(optr, n_major);
}

/* ---- Concatenation along the minor axis ---- */

static void NAME(beside)(int64_t n, const sparse_raw *blocks, int64_t *at, void *indptr, void *indices, void *data) {
  I *restrict optr = indptr, *restrict oidx = indices;
  T *restrict oval = data;
  int64_t to = 0, since = 0;
  optr[0] = 0;
  for (int64_t i = 0; i < blocks->major; i++) {
    int64_t offset = 0;
    for (int64_t b = 0; b < n; b++) {
      const sparse_raw *a = &blocks[b];
      const I *ptr = a->indptr;
      const int64_t p = at[b], end = ptr[i + 1], count = end - p;
      const I *idx = (const I *)a->indices + p;
      const T *val = (const T *)a->data + p;
      if (end + LOOSE <= ptr[a->major]) { /* then as many follow in the result, too */
        NAME(copy_loose)(idx, val, count, (I)offset, oidx + to, oval + to);
      } else {
        NAME(copy_major)(idx, val, count, (I)offset, oidx + to, oval + to);
      }
      at[b] = end;
      to += count;
      sparse_point(a, &since, count);
      offset += a->minor;
    }
    optr[i + 1] = (I)to;
  }
}

/* ---- Values at the places of other entries ---- */

/* For each entry of x a galloping search in g's major vector, from the position found for the entry before: O(log
 * distance) if x is sorted too. */
static void NAME(pick)(const sparse_raw *g, const sparse_raw *x, void *out) {
  const I *gptr = g->indptr, *gidx = g->indices, *xptr = x->indptr, *xidx = x->indices;
  const T *val = g->data;
  T *to = out;
  SPARSE_MAJORS(x, i, I) {
    int64_t low = gptr[i];
    const int64_t end = gptr[i + 1];
    for (int64_t p = xptr[i], last = xptr[i + 1]; p < last; p++) {
      const I want = xidx[p];
      if (low > gptr[i] && gidx[low - 1] >= want) low = gptr[i]; /* x is not sorted here: search from the start again */
      int64_t step = 1, from = low;
      while (from + step < end && gidx[from + step] < want) from += step, step *= 2;
      for (int64_t high = from + step < end ? from + step + 1 : end; from < high;) {
        const int64_t middle = from + (high - from) / 2;
        if (gidx[middle] < want) {
          from = middle + 1;
        } else {
          high = middle;
        }
      }
      low = from;
      memset(&to[p], 0, sizeof(T));
      if (low < end && gidx[low] == want) to[p] = val[low];
    }
  }
}

static void NAME(pick_dense)(const char *src, int64_t major_stride, int64_t minor_stride, const sparse_raw *x,
                             void *out) {
  const I *ptr = x->indptr, *idx = x->indices;
  T *to = out;
  SPARSE_MAJORS(x, i, I) {
    const char *at = src + i * major_stride;
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++)
      to[p] = *(const T *)(const void *)(at + idx[p] * minor_stride);
  }
}

static void NAME(gather)(damo_ctx *ctx, const void *values, const void *places, int64_t n, void *out) {
  const T *restrict from = values;
  const I *restrict at = places;
  T *restrict to = out;
  for (int64_t p = 0; p < n; sparse_point_each(ctx, p), p++) to[p] = from[at[p]];
}

static const sparse_move_fns NAME(fns) = {
    NAME(swap),  NAME(sort),   NAME(sort_workspace), NAME(take),       NAME(take_range), NAME(spread),
    NAME(place), NAME(beside), NAME(pick),           NAME(pick_dense), NAME(gather),
};

#undef AHEAD
#undef RUN
#undef LEAST_INDEX
#undef NAME
