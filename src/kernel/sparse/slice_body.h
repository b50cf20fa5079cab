/* slice_body: kernels that select entries by position. Included with I (index type), U (its unsigned type), T (a type
 * of the element's size) and SUFFIX. */
#define NAME(f) PASTE2(sp_part_##f, SUFFIX)

#include "count_body.h"

/* ---- Membership in a range --------------------------------------------------------------------------------------- */

/* A range, prepared for a membership test without division, modulo 2^bits: (j - first) times `factor`, the inverse of
 * the step's odd part, rotated right by `rotation`, the step's power of 2, is the place of index j in the range. The
 * map is one to one, so for an index outside the range it is not below count. (Granlund, Montgomery 1994: exact
 * division by multiplication.) */
typedef struct NAME(comb) {
  U first, factor, count;
  int rotation;
} NAME(comb);

static NAME(comb) NAME(comb_of)(const sparse_range *r) {
  NAME(comb) c = {.first = (U)r->first, .count = (U)r->count};
  U odd = (U)(r->step < 0 ? -r->step : r->step), inverse;
  for (; odd % 2 == 0; odd /= 2) c.rotation++;
  inverse = odd; /* correct in the last three bits; each Newton step doubles that */
  for (int bits = 3; bits < (int)(8 * sizeof(U)); bits *= 2) inverse *= 2 - odd * inverse;
  c.factor = r->step < 0 ? 0 - inverse : inverse;
  return c;
}

/* The place of index j in the range; not below count if j is not in it. */
static inline U NAME(place)(NAME(comb) c, I j) {
  const U away = ((U)j - c.first) * c.factor;
  return away >> c.rotation | away << (-c.rotation & (int)(8 * sizeof(U) - 1));
}

static int64_t NAME(count_passed)(NAME(comb) c, const I *idx, int64_t n) {
  int64_t sum = 0;
  if (c.factor == 1 && c.rotation == 0) return NAME(count_between)(idx, n, (I)c.first, (I)(c.first + c.count));
  for (int64_t k = 0; k < n; k++) sum += NAME(place)(c, idx[k]) < c.count;
  return sum;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The interval of major vector i's entries that the range may select. Returns true if it selects all of them. */
static bool NAME(window)(const sparse_raw *a, int64_t i, const sparse_range *across, bool sorted, int64_t *low,
                         int64_t *high) {
  const I *ptr = a->indptr, *idx = a->indices;
  *low = ptr[i], *high = ptr[i + 1];
  if (across->count == a->minor) return true;
  if (!sorted || *high - *low <= LONG) return false;
  const int64_t last = across->first + (across->count - 1) * across->step;
  *low = lower_place(idx, *low, *high, across->step > 0 ? across->first : last);
  *high = lower_place(idx, *low, *high, (across->step > 0 ? last : across->first) + 1);
  return across->step == 1 || across->step == -1;
}

/* Whether the major vectors are processed as one flat run of entries: they are adjacent, and a search in each would
 * cost more. */
static bool NAME(is_flat)(const sparse_raw *a, const sparse_range *majors, bool sorted) {
  const I *ptr = (const I *)a->indptr + majors->first;
  return majors->step == 1 && (!sorted || (ptr[majors->count] - ptr[0]) / LONG <= majors->count);
}

static int64_t NAME(count_majors)(const I *ptr, const sparse_range *majors) {
  const int64_t last = majors->first + (majors->count - 1) * majors->step;
  if (majors->step == 1) return ptr[last + 1] - ptr[majors->first];
  if (majors->step == -1) return ptr[majors->first + 1] - ptr[last];
  int64_t n = 0;
  for (int64_t k = 0, i = majors->first; k < majors->count; k++, i += majors->step) n += ptr[i + 1] - ptr[i];
  return n;
}

static int64_t NAME(count_block)(const sparse_raw *a, const sparse_range *majors, const sparse_range *across,
                                 bool sorted) {
  const I *ptr = a->indptr, *idx = a->indices;
  const NAME(comb) c = NAME(comb_of)(across);
  int64_t n = 0, since = 0, low, high;
  if (across->count == 0 || majors->count == 0) return 0;
  if (across->count == a->minor) return NAME(count_majors)(ptr, majors);
  if (NAME(is_flat)(a, majors, sorted)) {
    low = ptr[majors->first], high = ptr[majors->first + majors->count];
    return NAME(count_passed)(c, idx + low, high - low);
  }
  for (int64_t i = 0; i < majors->count; i++) {
    const bool all = NAME(window)(a, majors->first + i * majors->step, across, sorted, &low, &high);
    n += all ? high - low : NAME(count_passed)(c, idx + low, high - low);
    sparse_point(a, &since, all ? 1 : high - low);
  }
  return n;
}

/* For a range of step 1: if it selects all of the next FEW indices, copies them and their values and returns true. */
static inline bool NAME(copy_few)(NAME(comb) c, const I *restrict idx, const T *restrict val, I *restrict oidx,
                                  T *restrict oval) {
  const I low = (I)c.first, high = (I)(c.first + c.count);
  const NAME(four) i = *(const NAME(four) *)idx, j = *(const NAME(four) *)(idx + 4);
  const NAME(four) in = (i >= low) & (i < high) & (j >= low) & (j < high);
  if ((in[0] & in[1] & in[2] & in[3]) == 0) return false;
  *(NAME(four) *)oidx = i - low;
  *(NAME(four) *)(oidx + 4) = j - low;
  memcpy(oval, val, FEW * sizeof(T));
  return true;
}

/* Copies the selected ones of n entries without a branch: each entry is written and then kept or overwritten, so n
 * entries of memory are needed. */
static inline int32_t NAME(pass_loose)(NAME(comb) c, const I *restrict idx, const T *restrict val, int64_t n,
                                       int32_t stay, I *restrict oidx, T *restrict oval, int32_t *restrict kept) {
  for (int64_t e = 0; e < n; e++) {
    const U to = NAME(place)(c, idx[e]);
    oidx[stay] = (I)to;
    oval[stay] = val[e];
    stay += to < c.count;
    kept[e] = stay;
  }
  return stay;
}

/* The same at the end of the memory: writes selected entries only. */
static int32_t NAME(pass_last)(NAME(comb) c, const I *restrict idx, const T *restrict val, int64_t n, int32_t stay,
                               I *restrict oidx, T *restrict oval, int32_t *restrict kept) {
  for (int64_t e = 0; e < n; e++) {
    const U to = NAME(place)(c, idx[e]);
    if (to < c.count) {
      oidx[stay] = (I)to;
      oval[stay++] = val[e];
    }
    kept[e] = stay;
  }
  return stay;
}

/* Copies those of n entries that the range selects; returns how many. kept[k]: how many of the first k + 1. There is
 * memory for `capacity`. */
static int32_t NAME(pass)(NAME(comb) c, const I *restrict idx, const T *restrict val, int64_t n, int64_t capacity,
                          I *restrict oidx, T *restrict oval, int32_t *restrict kept) {
  const bool plain = c.factor == 1 && c.rotation == 0;
  int32_t stay = 0;
  for (int64_t k = 0, few; k < n; k += few) {
    few = n - k < FEW ? n - k : FEW;
    if (plain && few == FEW && NAME(copy_few)(c, idx + k, val + k, oidx + stay, oval + stay)) {
      for (int e = 0; e < FEW; e++) kept[k + e] = stay + e + 1;
      stay += FEW;
    } else if (capacity - stay >= few) {
      stay = NAME(pass_loose)(c, idx + k, val + k, few, stay, oidx, oval, kept + k);
    } else {
      stay = NAME(pass_last)(c, idx + k, val + k, few, stay, oidx, oval, kept + k);
    }
  }
  return stay;
}

static void NAME(fill_flat)(const sparse_raw *a, const sparse_range *majors, NAME(comb) c, int64_t nnz, I *optr,
                            I *oidx, T *oval) {
  const I *ptr = (const I *)a->indptr + majors->first, *idx = a->indices;
  const T *val = a->data;
  const int64_t end = ptr[majors->count];
  int32_t kept[CHUNK + 1] = {0};
  int64_t since = 0;
  for (int64_t from = ptr[0], major = 0, at = 0; major <= majors->count; from += CHUNK) {
    const int64_t n = end - from < CHUNK ? end - from : CHUNK;
    const int32_t stay = NAME(pass)(c, idx + from, val + from, n, nnz - at, oidx + at, oval + at, kept + 1);
    for (; major <= majors->count && ptr[major] <= from + n; major++) optr[major] = (I)(at + kept[ptr[major] - from]);
    at += stay;
    sparse_point(a, &since, n);
  }
}

static void NAME(fill_majors)(const sparse_raw *a, const sparse_range *majors, const sparse_range *across, bool sorted,
                              bool backward, int64_t nnz, I *optr, I *oidx, T *oval) {
  const I *idx = a->indices;
  const T *val = a->data;
  const NAME(comb) c = NAME(comb_of)(across);
  const int64_t by = backward ? -1 : 1;
  int64_t n = 0, since = 0, low, high;
  optr[0] = 0;
  for (int64_t i = 0; i < majors->count; i++) {
    const bool all = NAME(window)(a, majors->first + i * majors->step, across, sorted, &low, &high);
    int64_t left = high - low, p = backward ? high - 1 : low;
    if (all && across->step == 1) {
      for (int64_t k = 0; k < left; k++) oidx[n + k] = (I)(idx[p + k] - across->first);
      if (left > 0) memcpy(oval + n, val + p, (size_t)left * sizeof(T));
      n += left;
      left = 0;
    }
    for (; left > 0 && n < nnz; left--, p += by) {
      const U to = NAME(place)(c, idx[p]);
      oidx[n] = (I)to;
      oval[n] = val[p];
      n += to < c.count;
    }
    optr[i + 1] = (I)n;
    sparse_point(a, &since, high - low);
  }
}

static void NAME(fill_block)(const sparse_raw *a, const sparse_range *majors, const sparse_range *across, bool sorted,
                             bool backward, int64_t nnz, void *indptr, void *indices, void *data) {
  if (nnz == 0) {
    memset(indptr, 0, (size_t)(majors->count + 1) * sizeof(I));
  } else if (!backward && NAME(is_flat)(a, majors, sorted)) {
    NAME(fill_flat)(a, majors, NAME(comb_of)(across), nnz, indptr, indices, data);
  } else {
    NAME(fill_majors)(a, majors, across, sorted, backward, nnz, indptr, indices, data);
  }
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static int64_t NAME(count_listed)(const sparse_raw *a, const sparse_lookup *list) {
  const I *ptr = a->indptr, *idx = a->indices;
  const int64_t nnz = ptr[a->major];
  int64_t n = 0;
  for (int64_t p = 0; p < nnz; sparse_point_each(a->ctx, p), p++) {
    for (int64_t k = sp_lookup_first(list, idx[p]); k >= 0; k = list->next[k]) n++;
  }
  return n;
}

static void NAME(fill_listed)(const sparse_raw *a, const sparse_lookup *list, void *indptr, void *indices, void *data) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  I *optr = indptr, *oidx = indices;
  T *oval = data;
  int64_t n = 0;
  optr[0] = 0;
  SPARSE_MAJORS(a, i, I) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      for (int64_t k = sp_lookup_first(list, idx[p]); k >= 0; k = list->next[k]) {
        oidx[n] = (I)k;
        oval[n++] = val[p];
      }
    }
    optr[i + 1] = (I)n;
  }
}

static int64_t NAME(count_times)(const sparse_raw *a, const int32_t *times) {
  const I *ptr = a->indptr, *idx = a->indices;
  const int64_t nnz = ptr[a->major];
  int64_t n = 0;
  for (int64_t p = 0; p < nnz; sparse_point_each(a->ctx, p), p++) n += times[idx[p]];
  return n;
}

/* Writes each of n entries once for each occurrence of its position in the list, from output number `at` on, until
 * there are nnz. ends[k]: outputs after the first k + 1 entries. Returns the last. */
static int64_t NAME(spell)(const I *restrict idx, const T *restrict val, int64_t n, const int32_t *restrict heads,
                           const int32_t *restrict next, int64_t at, int64_t nnz, I *restrict oidx, T *restrict oval,
                           int64_t *restrict ends) {
  int64_t e = 0;
  for (; e < n && at < nnz; e++) {
    const int32_t head = heads[idx[e]];
    oidx[at] = (I)head;
    oval[at] = val[e];
    at += head >= 0;
    for (int32_t k = head < -1 ? -2 - head : -1; k >= 0; k = next[k]) {
      oidx[at] = (I)k;
      oval[at++] = val[e];
    }
    ends[e] = at;
  }
  for (; e < n; e++) ends[e] = at;
  return at;
}

static void NAME(fill_places)(const sparse_raw *a, const int32_t *heads, const int32_t *next, int64_t nnz, void *indptr,
                              void *indices, void *data) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  I *optr = indptr;
  int64_t ends[CHUNK + 1], at = 0, major = 0, since = 0;
  for (int64_t from = 0; major <= a->major; from += CHUNK) {
    const int64_t n = ptr[a->major] - from < CHUNK ? ptr[a->major] - from : CHUNK;
    ends[0] = at;
    at = NAME(spell)(idx + from, val + from, n, heads, next, at, nnz, indices, data, ends + 1);
    for (; major <= a->major && ptr[major] <= from + n; major++) optr[major] = (I)ends[ptr[major] - from];
    sparse_point(a, &since, n);
  }
}

static void NAME(coordinates)(const sparse_raw *a, int64_t *major, int64_t *minor) {
  const I *ptr = a->indptr, *idx = a->indices;
  SPARSE_MAJORS(a, i, I) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      major[p] = i;
      minor[p] = idx[p];
    }
  }
}

static const sparse_part_fns NAME(fns) = {NAME(count_block), NAME(fill_block),  NAME(count_listed), NAME(fill_listed),
                                          NAME(count_times), NAME(fill_places), NAME(coordinates)};

#undef LEAST_INDEX
#undef NAME
