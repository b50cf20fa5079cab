/* sparse_part_body: loops that pick entries by their places. Included with I (index type), T (a type of the element's
 * size) and SUFFIX. */
#define NAME(f) PASTE2(f, SUFFIX)

/* Where line i's entries inside the range's bounds stand: all of an unsorted line. */
static void NAME(window)(const sparse_raw *a, int64_t i, const sparse_range *across, bool sorted, int64_t *low,
                         int64_t *high) {
  const I *ptr = a->indptr, *idx = a->indices;
  *low = ptr[i], *high = ptr[i + 1];
  if (!sorted || across->count == a->minor) return;
  const int64_t last = across->first + (across->count - 1) * across->step;
  *low = lower_place(idx, *low, *high, across->step > 0 ? across->first : last);
  *high = lower_place(idx, *low, *high, (across->step > 0 ? last : across->first) + 1);
}

static int64_t NAME(count_block)(const sparse_raw *a, const sparse_range *lines, const sparse_range *across,
                                 bool sorted) {
  const I *idx = a->indices;
  const bool all = across->count == a->minor || (sorted && (across->step == 1 || across->step == -1));
  int64_t n = 0, low, high;
  if (across->count == 0) return 0;
  for (int64_t i = 0; i < lines->count; i++) {
    NAME(window)(a, lines->first + i * lines->step, across, sorted, &low, &high);
    if (all) {
      n += high - low;
    } else {
      for (int64_t p = low; p < high; p++) n += place_in(across, idx[p]) >= 0;
    }
  }
  return n;
}

/* Entries low … high - 1 of a line, all inside a range of step 1. */
static void NAME(copy_line)(const sparse_raw *a, int64_t low, int64_t high, int64_t first, I *oidx, T *oval) {
  const I *idx = a->indices;
  const T *val = a->data;
  for (int64_t p = low; p < high; p++) oidx[p - low] = (I)(idx[p] - first);
  for (int64_t p = low; p < high; p++) oval[p - low] = val[p];
}

static void NAME(fill_block)(const sparse_raw *a, const sparse_range *lines, const sparse_range *across, bool sorted,
                             bool backward, void *indptr, void *indices, void *data) {
  const I *idx = a->indices;
  const T *val = a->data;
  I *optr = indptr, *oidx = indices;
  T *oval = data;
  const bool plain = across->step == 1 && (sorted || across->count == a->minor);
  int64_t n = 0, low = 0, high = 0;
  optr[0] = 0;
  for (int64_t i = 0; i < lines->count; i++) {
    if (across->count > 0) NAME(window)(a, lines->first + i * lines->step, across, sorted, &low, &high);
    if (plain) {
      NAME(copy_line)(a, low, high, across->first, oidx + n, oval + n);
      n += high - low;
    }
    for (int64_t k = 0; k < high - low && !plain; k++) {
      const int64_t p = backward ? high - 1 - k : low + k, to = place_in(across, idx[p]);
      if (to < 0) continue;
      oidx[n] = (I)to;
      oval[n++] = val[p];
    }
    optr[i + 1] = (I)n;
  }
}

static int64_t NAME(count_listed)(const sparse_raw *a, const sparse_lookup *list) {
  const I *ptr = a->indptr, *idx = a->indices;
  const int64_t nnz = ptr[a->major];
  int64_t n = 0;
  for (int64_t p = 0; p < nnz; p++) {
    for (int64_t k = first_place(list, idx[p]); k >= 0; k = list->next[k]) n++;
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
  for (int64_t i = 0; i < a->major; i++) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      for (int64_t k = first_place(list, idx[p]); k >= 0; k = list->next[k]) {
        oidx[n] = (I)k;
        oval[n++] = val[p];
      }
    }
    optr[i + 1] = (I)n;
  }
}

static void NAME(coordinates)(const sparse_raw *a, int64_t *major, int64_t *minor) {
  const I *ptr = a->indptr, *idx = a->indices;
  for (int64_t i = 0; i < a->major; i++) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      major[p] = i;
      minor[p] = idx[p];
    }
  }
}

static const sparse_part_fns NAME(part_fns) = {NAME(count_block), NAME(fill_block), NAME(count_listed),
                                               NAME(fill_listed), NAME(coordinates)};

#undef NAME
