/* compact_body: compaction and splitting. Included with I (index type), U (its unsigned type), T (a type of the
 * element's size), SUFFIX, ISA and SIFT_OF(sift): that function, or the instruction set's own for its type. */
#define NAME(f) PASTE3(sp_compact_##f, SUFFIX, ISA)
#define SQUEEZED 1024 /* entries processed at a time */
#define FEW 8         /* entries tested together */
#define SPLIT_FEW 8   /* up to so many parts are counted in a pass each */

#include "count_body.h"

/* Whether all of FEW entries stay; may be false by mistake if an integer is negative, which costs only time. */
static inline bool NAME(all_stay)(const T *val, uint64_t mask, uint64_t always) {
  uint64_t below = 0; /* 0 - 1 has the highest bit set; a float without its sign has not */
  for (int k = 0; k < FEW; k++) below |= BITS_IN(val[k], mask, always) - 1;
  return below >> 63 == 0;
}

/* Compacts n entries; returns how many stay. kept[k]: how many of the first k + 1. */
static inline int32_t NAME(sift)(const I *restrict idx, const T *restrict val, int64_t n, uint64_t mask,
                                 I *restrict oidx, T *restrict oval, int32_t *restrict kept) {
  const uint64_t always = mask == 0;
  int32_t stay = 0;
  for (int64_t k = 0, few; k < n; k += few) {
    few = n - k < FEW ? n - k : FEW;
    if (few == FEW && NAME(all_stay)(val + k, mask, always)) {
      memcpy(oidx + stay, idx + k, FEW * sizeof(I));
      memcpy(oval + stay, val + k, FEW * sizeof(T));
      for (int c = 0; c < FEW; c++) kept[k + c] = stay + c + 1;
      stay += FEW;
      continue;
    }
    for (int64_t c = k; c < k + few; c++) {
      const T v = val[c];
      oidx[stay] = idx[c];
      oval[stay] = v;
      stay += BITS_IN(v, mask, always) != 0;
      kept[c] = stay;
    }
  }
  return stay;
}

/* One pass over the entries of all major vectors in chunks, without a branch: kept[k] of the first k entries of a chunk
 * stay, from which the new ends of the major vectors that end in the chunk follow. */
static int64_t NAME(squeeze)(const sparse_raw *a, uint64_t mask, void *indptr, void *indices, void *data) {
  const I *restrict ptr = a->indptr, *restrict idx = a->indices;
  const T *restrict val = a->data;
  I *restrict optr = indptr, *restrict oidx = indices;
  T *restrict oval = data;
  int32_t kept[SQUEEZED + 1] = {0};
  const int64_t nnz = ptr[a->major];
  int64_t to = 0, major = 0, since = 0;
  for (int64_t from = ptr[0];; from += SQUEEZED) {
    const int64_t n = nnz - from < SQUEEZED ? nnz - from : SQUEEZED;
    const int32_t stay = SIFT_OF(NAME(sift))(idx + from, val + from, n, mask, oidx + to, oval + to, kept + 1);
    for (; major <= a->major && ptr[major] <= from + n; major++) optr[major] = (I)(to + kept[ptr[major] - from]);
    to += stay;
    if (major > a->major) return to;
    sparse_point(a, &since, n);
  }
}

/* The part that holds the position `index`; b: the part of the entry before, from which the search starts. */
static inline int64_t NAME(part)(const int64_t *bounds, int64_t b, int64_t index) {
  while (index < bounds[b]) b--;
  while (index >= bounds[b + 1]) b++;
  return b;
}

static void NAME(split_count)(const sparse_raw *a, int64_t n, const int64_t *bounds, int64_t *count) {
  const I *ptr = a->indptr, *idx = a->indices;
  const int64_t from = ptr[0], nnz = ptr[a->major] - from;
  for (int64_t b = 0; b < n; b++) count[b] = 0;
  if (n > SPLIT_FEW) {
    for (int64_t p = 0, b = 0; p < nnz; p++) {
      b = NAME(part)(bounds, b, idx[from + p]);
      count[b]++;
    }
    return;
  }
  for (int64_t b = 0, before = 0; b < n; b++) {
    const int64_t below = b + 1 < n ? NAME(count_between)(idx + from, nnz, LEAST_INDEX, (I)bounds[b + 1]) : nnz;
    count[b] = below - before;
    before = below;
  }
}

static void NAME(split_fill)(const sparse_raw *a, int64_t n, const int64_t *bounds, uint64_t mask, int64_t *at,
                             void *const *indptr, void *const *indices, void *const *data) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  const uint64_t always = mask == 0;
  int64_t p = ptr[0];
  for (int64_t b = 0; b < n; b++) at[b] = *(I *)indptr[b] = 0;
  SPARSE_MAJORS(a, i, I) {
    const int64_t end = ptr[i + 1];
    for (int64_t b = 0; p < end;) {
      b = NAME(part)(bounds, b, idx[p]);
      const I low = (I)bounds[b], high = (I)bounds[b + 1];
      I *restrict oidx = indices[b];
      T *restrict oval = data[b];
      int64_t to = at[b];
      do {
        const T v = val[p];
        oidx[to] = (I)(idx[p] - low);
        oval[to] = v;
        to += BITS_IN(v, mask, always) != 0;
        p++;
      } while (p < end && idx[p] >= low && idx[p] < high);
      at[b] = to;
    }
    for (int64_t b = 0; b < n; b++) ((I *)indptr[b])[i + 1] = (I)at[b];
  }
}

static const sparse_compact_fns NAME(fns) = {NAME(squeeze), NAME(split_count), NAME(split_fill)};

#undef LEAST_INDEX
#undef SQUEEZED
#undef FEW
#undef SPLIT_FEW
#undef NAME
