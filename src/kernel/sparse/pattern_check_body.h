/* pattern_check_body: kernels over the pattern alone. Included with I (index type) and IX (its name). */
#define NAME(f) PASTE2(sp_index_##f, IX)

typedef I NAME(four) __attribute__((vector_size(4 * sizeof(I)), aligned(sizeof(I)), may_alias));

static void NAME(shift)(const void *from, int64_t n, int64_t offset, void *to) {
  const I *p = from;
  I *q = to;
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) *(NAME(four) *)(q + k) = *(const NAME(four) *)(p + k) + (I)offset;
  for (; k < n; k++) q[k] = (I)(p[k] + offset);
}

/* Finds the first position where indptr is wrong. */
static bool NAME(check_indptr)(const sparse_raw *a, int64_t nnz, sparse_verdict *v) {
  const I *ptr = a->indptr;
  if (ptr[0] != 0) {
    *v = (sparse_verdict){.flaw = SPARSE_BAD_START, .value = ptr[0]};
    return false;
  }
  for (int64_t i = 1; i <= a->major; i++) {
    if (ptr[i] >= ptr[i - 1]) continue;
    *v = (sparse_verdict){.flaw = SPARSE_BAD_ORDER, .position = i, .value = ptr[i]};
    return false;
  }
  if (ptr[a->major] == nnz) return true;
  *v = (sparse_verdict){.flaw = SPARSE_BAD_END, .position = a->major, .value = ptr[a->major]};
  return false;
}

static sparse_verdict NAME(check)(const sparse_raw *a, int64_t nnz) {
  const I *ptr = a->indptr, *idx = a->indices;
  sparse_verdict v = {.sorted = true, .unique = true};
  if (!NAME(check_indptr)(a, nnz, &v)) return v;
  SPARSE_MAJORS(a, i, I) {
    int64_t last = -1;
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      const int64_t j = idx[p];
      if (j < 0 || j >= a->minor) return (sparse_verdict){.flaw = SPARSE_BAD_INDEX, .position = p, .value = j};
      if (j < last) v.sorted = false;
      if (j == last) v.unique = false;
      last = j;
    }
  }
  v.unique = v.unique && v.sorted;
  return v;
}

static void NAME(order)(const sparse_raw *a, bool *sorted, bool *unique) {
  const I *ptr = a->indptr, *idx = a->indices;
  *sorted = *unique = false;
  bool equal = false;
  SPARSE_MAJORS(a, i, I) {
    for (int64_t p = ptr[i] + 1, end = ptr[i + 1]; p < end; p++) {
      if (idx[p] < idx[p - 1]) return;
      equal |= idx[p] == idx[p - 1];
    }
  }
  *sorted = true;
  *unique = !equal;
}

static int64_t NAME(longest)(const sparse_raw *a) {
  const I *ptr = a->indptr;
  int64_t most = 0;
  SPARSE_MAJORS(a, i, I) {
    const int64_t n = ptr[i + 1] - ptr[i];
    most = n > most ? n : most;
  }
  return most;
}

/* mark[k] is the last major vector of the result that met minor position k. */
static int64_t NAME(count_product)(const sparse_raw *a, const sparse_raw *b, int64_t step, void *mark_workspace) {
  const I *ap = a->indptr, *aj = a->indices, *bp = b->indptr, *bj = b->indices;
  I *mark = mark_workspace;
  int64_t n = 0, since = 0;
  for (int64_t i = 0; i < a->major; i += step) {
    for (int64_t p = ap[i]; p < ap[i + 1]; p++) {
      const int64_t j = aj[p];
      for (int64_t q = bp[j]; q < bp[j + 1]; q++) {
        const int64_t k = bj[q];
        n += mark[k] != (I)i;
        mark[k] = (I)i;
      }
      sparse_point(a, &since, bp[j + 1] - bp[j]);
    }
  }
  return n;
}

static int64_t NAME(bound_product)(const sparse_raw *a, const sparse_raw *b, int64_t step) {
  const I *ap = a->indptr, *aj = a->indices, *bp = b->indptr;
  int64_t n = 0, since = 0;
  for (int64_t i = 0; i < a->major; i += step) {
    for (int64_t p = ap[i]; p < ap[i + 1]; p++) {
      const int64_t more = bp[aj[p] + 1] - bp[aj[p]];
      if (more > INT64_MAX - n) return INT64_MAX;
      n += more;
    }
    sparse_point(a, &since, ap[i + 1] - ap[i]);
  }
  return n;
}

const sparse_index_fns TABLE = {NAME(shift),   NAME(check),         NAME(order),
                                NAME(longest), NAME(count_product), NAME(bound_product)};

#undef NAME
