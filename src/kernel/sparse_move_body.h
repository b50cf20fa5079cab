/* sparse_move_body: loops that move entries. Included with I (index type), T (a type of the element's size) and
 * SUFFIX. */
#define NAME(f) PASTE2(f, SUFFIX)

/* Counts per line, one place on, become starts. */
static void NAME(accumulate)(I *ptr, int64_t n) {
  for (int64_t i = 0; i < n; i++) ptr[i + 1] = (I)(ptr[i + 1] + ptr[i]);
}

/* After filling, ptr[i] is where line i ends: one place back are the starts. */
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
  for (int64_t p = 0; p < nnz; p++) optr[idx[p] + 1]++;
  NAME(accumulate)(optr, a->minor);
  for (int64_t i = 0; i < a->major; i++) {
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

/* ---- Sorting of a line: pairs of index and place, stable ---- */

typedef struct NAME(pair) {
  I index;
  int64_t place;
} NAME(pair);

static size_t NAME(sort_room)(int64_t longest) { return (size_t)longest * (2 * sizeof(NAME(pair)) + sizeof(T)); }

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

#define RUN 16 /* pairs that insertion sorts */

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
  for (int64_t i = 0; i < a->major; i++) {
    const int64_t from = ptr[i], n = ptr[i + 1] - from;
    for (int64_t k = 0; k < n; k++) pairs[k] = (NAME(pair)){idx[from + k], from + k};
    const NAME(pair) *sorted = NAME(sort_pairs)(pairs, n, pairs + n);
    T *line = (T *)(void *)(pairs + 2 * n); /* the values may be sorted where they lie */
    for (int64_t k = 0; k < n; k++) {
      oidx[from + k] = sorted[k].index;
      line[k] = val[sorted[k].place];
    }
    if (n > 0) memcpy(oval + from, line, (size_t)n * sizeof(T));
  }
}

static void NAME(take)(const sparse_raw *a, const int64_t *lines, int64_t n, void *indptr, void *indices, void *data) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  I *optr = indptr, *oidx = indices;
  T *oval = data;
  int64_t at = 0;
  optr[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t from = ptr[lines[i]], count = ptr[lines[i] + 1] - from;
    for (int64_t k = 0; k < count; k++) oidx[at + k] = idx[from + k];
    for (int64_t k = 0; k < count; k++) oval[at + k] = val[from + k];
    at += count;
    optr[i + 1] = (I)at;
  }
}

static void NAME(place)(int64_t n, const int64_t *major, const int64_t *minor, const void *values, int64_t n_major,
                        void *indptr, void *indices, void *data) {
  const T *val = values;
  I *optr = indptr, *oidx = indices;
  T *oval = data;
  memset(optr, 0, (size_t)(n_major + 1) * sizeof(I));
  for (int64_t p = 0; p < n; p++) optr[major[p] + 1]++;
  NAME(accumulate)(optr, n_major);
  for (int64_t p = 0; p < n; p++) {
    const int64_t to = optr[major[p]]++;
    oidx[to] = (I)minor[p];
    oval[to] = val[p];
  }
  NAME(shift_back)(optr, n_major);
}

/* ---- Side by side ---- */

static void NAME(append)(const sparse_raw *a, int64_t offset, void *next, void *indices, void *data) {
  const I *restrict ptr = a->indptr, *restrict idx = a->indices;
  const T *restrict val = a->data;
  I *restrict to = next;
  int64_t p = ptr[0];
  for (int64_t i = 0; i < a->major; i++) {
    const int64_t n = ptr[i + 1] - p;
    I *restrict oidx = (I *)indices + to[i];
    T *restrict oval = (T *)data + to[i];
    for (int64_t k = 0; k < n; k++) oidx[k] = (I)(idx[p + k] + offset);
    for (int64_t k = 0; k < n; k++) oval[k] = val[p + k];
    to[i] = (I)(to[i] + n);
    p += n;
  }
}

/* The part that holds idx; b: the part of the entry before. */
static inline int64_t NAME(part)(const int64_t *bounds, int64_t b, int64_t index) {
  while (index < bounds[b]) b--;
  while (index >= bounds[b + 1]) b++;
  return b;
}

/* Where the run of entries of one part ends that begins at p. */
static inline int64_t NAME(run_end)(const I *idx, int64_t p, int64_t end, int64_t low, int64_t high) {
  do p++;
  while (p < end && idx[p] >= low && idx[p] < high);
  return p;
}

static void NAME(split_count)(const sparse_raw *a, int64_t n, const int64_t *bounds, void *const *indptr) {
  const I *ptr = a->indptr, *idx = a->indices;
  for (int64_t b = 0; b < n; b++) memset(indptr[b], 0, (size_t)(a->major + 1) * sizeof(I));
  for (int64_t i = 0; i < a->major; i++) {
    for (int64_t p = ptr[i], b = 0; p < ptr[i + 1];) {
      b = NAME(part)(bounds, b, idx[p]);
      const int64_t end = NAME(run_end)(idx, p, ptr[i + 1], bounds[b], bounds[b + 1]);
      I *count = (I *)indptr[b] + i + 1;
      *count = (I)(*count + (end - p));
      p = end;
    }
  }
  for (int64_t b = 0; b < n; b++) NAME(accumulate)(indptr[b], a->major);
}

static void NAME(split_fill)(const sparse_raw *a, int64_t n, const int64_t *bounds, int64_t *at, void *const *indices,
                             void *const *data) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  const int64_t nnz = ptr[a->major];
  for (int64_t p = 0, b = 0; p < nnz && n > 0;) {
    b = NAME(part)(bounds, b, idx[p]);
    const int64_t low = bounds[b], end = NAME(run_end)(idx, p, nnz, low, bounds[b + 1]);
    I *restrict oidx = (I *)indices[b] + at[b];
    T *restrict oval = (T *)data[b] + at[b];
    for (int64_t k = 0; k < end - p; k++) oidx[k] = (I)(idx[p + k] - low);
    for (int64_t k = 0; k < end - p; k++) oval[k] = val[p + k];
    at[b] += end - p;
    p = end;
  }
}

static void NAME(pick)(const sparse_raw *g, const sparse_raw *x, void *out) {
  const I *gptr = g->indptr, *gidx = g->indices, *xptr = x->indptr, *xidx = x->indices;
  const T *val = g->data;
  T *to = out;
  for (int64_t i = 0; i < x->major; i++) {
    int64_t low = gptr[i];
    const int64_t end = gptr[i + 1];
    for (int64_t p = xptr[i], last = xptr[i + 1]; p < last; p++) {
      const I want = xidx[p];
      if (low > gptr[i] && gidx[low - 1] >= want) low = gptr[i]; /* x's line is not sorted: from its start again */
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
  for (int64_t i = 0; i < x->major; i++) {
    const char *line = src + i * major_stride;
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++)
      to[p] = *(const T *)(const void *)(line + idx[p] * minor_stride);
  }
}

static const sparse_move_fns NAME(move_fns) = {NAME(swap),  NAME(sort),      NAME(sort_room),   NAME(take),
                                               NAME(place), NAME(append),    NAME(split_count), NAME(split_fill),
                                               NAME(pick),  NAME(pick_dense)};

#undef RUN
#undef NAME
