/* sparse_move_body: loops that move entries. Included with I (index type), T (a type of the element's size) and
 * SUFFIX. */
#define NAME(f) PASTE2(f, SUFFIX)

/* Counts per line, one place on, become starts. */
static void NAME(accumulate)(I *ptr, int64_t n) {
  for (int64_t i = 0; i < n; i++) ptr[i + 1] = (I)(ptr[i + 1] + ptr[i]);
}

/* After filling, ptr[i] is where line i ends: one place back are the starts. */
static void NAME(shift_back)(I *ptr, int64_t n) {
  for (int64_t i = n; i > 0; i--) ptr[i] = ptr[i - 1];
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
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
      const int64_t to = optr[idx[p]]++;
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

static size_t NAME(sort_room)(int64_t longest) { return 2 * (size_t)longest * sizeof(NAME(pair)); }

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
    for (int64_t k = 0; k < n; k++) {
      oidx[from + k] = sorted[k].index;
      oval[from + k] = val[sorted[k].place];
    }
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

static const sparse_move_fns NAME(move_fns) = {NAME(swap), NAME(sort), NAME(sort_room), NAME(take), NAME(place)};

#undef RUN
#undef NAME
