/* merge_body: merges of the entries of two matrices, both sorted and without duplicates. Included by value_body.h with
 * its I, T, NAME and arithmetic.
 *
 * The main loop has no branch on the data: both indices are compared, and each side advances by the result of its
 * comparison. An entry is written in any case, but counted only if its value is not 0. */

static inline T NAME(combine)(sparse_merge_op op, T x, T y) {
  if (op == SPARSE_MAX) return LARGER(x, y);
  if (op == SPARSE_MIN) return SMALLER(x, y);
  return op == SPARSE_ADD ? ADD(x, y) : op == SPARSE_SUB ? SUB(x, y) : MUL(x, y);
}

/* One loop for all operations; op is a constant after inlining. */
static inline int64_t NAME(unite)(sparse_merge_op op, const sparse_raw *a, const sparse_raw *b, void *indptr,
                                  void *indices, void *data) {
  const I *restrict ap = a->indptr, *restrict aj = a->indices, *restrict bp = b->indptr, *restrict bj = b->indices;
  const T *restrict ax = a->data, *restrict bx = b->data;
  I *restrict ptr = indptr, *restrict idx = indices;
  T *restrict val = data;
  const T zero = {0};
  int64_t n = 0;
  ptr[0] = 0;
  SPARSE_MAJORS(a, i, I) {
    int64_t p = ap[i], q = bp[i];
    const int64_t pn = ap[i + 1], qn = bp[i + 1];
    while (p < pn && q < qn) {
      const I j = aj[p], k = bj[q];
      const T v = NAME(combine)(op, j <= k ? ax[p] : zero, k <= j ? bx[q] : zero);
      idx[n] = j < k ? j : k;
      val[n] = v;
      n += !IS_ZERO(v);
      p += j <= k;
      q += k <= j;
    }
    for (; p < pn; p++) {
      idx[n] = aj[p];
      val[n] = NAME(combine)(op, ax[p], zero);
      n += !IS_ZERO(val[n]);
    }
    for (; q < qn; q++) {
      idx[n] = bj[q];
      val[n] = NAME(combine)(op, zero, bx[q]);
      n += !IS_ZERO(val[n]);
    }
    ptr[i + 1] = (I)n;
  }
  return n;
}

static int64_t NAME(merge)(sparse_merge_op op, const sparse_raw *a, const sparse_raw *b, void *indptr, void *indices,
                           void *data) {
  if (op == SPARSE_ADD) return NAME(unite)(SPARSE_ADD, a, b, indptr, indices, data);
  if (op == SPARSE_SUB) return NAME(unite)(SPARSE_SUB, a, b, indptr, indices, data);
  if (op == SPARSE_MAX) return NAME(unite)(SPARSE_MAX, a, b, indptr, indices, data);
  if (op == SPARSE_MIN) return NAME(unite)(SPARSE_MIN, a, b, indptr, indices, data);
  return NAME(unite)(SPARSE_MUL, a, b, indptr, indices, data);
}

/* Whether x op y differs from 0 op 0. */
static inline bool NAME(stands_out)(sparse_relation op, T x, T y) {
  if (op == SPARSE_LT) return LESS(x, y);
  return op == SPARSE_LE ? !NOT_ABOVE(x, y) : DIFFER(x, y);
}

/* One loop for all relations; op is a constant after inlining. */
static inline int64_t NAME(find)(sparse_relation op, const sparse_raw *a, const sparse_raw *b, void *indptr,
                                 void *indices) {
  const I *restrict ap = a->indptr, *restrict aj = a->indices, *restrict bp = b->indptr, *restrict bj = b->indices;
  const T *restrict ax = a->data, *restrict bx = b->data;
  I *restrict ptr = indptr, *restrict idx = indices;
  const T zero = {0};
  int64_t n = 0;
  ptr[0] = 0;
  SPARSE_MAJORS(a, i, I) {
    int64_t p = ap[i], q = bp[i];
    const int64_t pn = ap[i + 1], qn = bp[i + 1];
    while (p < pn && q < qn) {
      const I j = aj[p], k = bj[q];
      idx[n] = j < k ? j : k;
      n += NAME(stands_out)(op, j <= k ? ax[p] : zero, k <= j ? bx[q] : zero);
      p += j <= k;
      q += k <= j;
    }
    for (; p < pn; p++) {
      idx[n] = aj[p];
      n += NAME(stands_out)(op, ax[p], zero);
    }
    for (; q < qn; q++) {
      idx[n] = bj[q];
      n += NAME(stands_out)(op, zero, bx[q]);
    }
    ptr[i + 1] = (I)n;
  }
  return n;
}

static int64_t NAME(relate)(sparse_relation op, const sparse_raw *a, const sparse_raw *b, void *indptr, void *indices) {
  switch (op) {
    case SPARSE_LT: return NAME(find)(SPARSE_LT, a, b, indptr, indices);
    case SPARSE_GT: return NAME(find)(SPARSE_LT, b, a, indptr, indices);
    case SPARSE_LE: return NAME(find)(SPARSE_LE, a, b, indptr, indices);
    case SPARSE_GE: return NAME(find)(SPARSE_LE, b, a, indptr, indices);
    case SPARSE_EQ:
    case SPARSE_NEQ: break;
  }
  return NAME(find)(SPARSE_NEQ, a, b, indptr, indices); /* EQ is told by where the two differ */
}
