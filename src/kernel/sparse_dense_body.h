/* sparse_dense_body: products of a sparse matrix with a dense row-major block, in vectors. Included with I, IX, T, TX and
 * BYTES, the width of a vector register.
 *
 * A row of the result is made in pieces of N_ACC vectors that stay in registers while the row's entries go by; what is
 * left over at its end in single vectors, then elements. Each element is the same sum in the same order in all three.
 *
 * Rows of a large block are met in no order that the machine foresees: each is asked for AHEAD entries before its turn. */
#define NAME(f) PASTE3(f, IX, TX)
#define V NAME(vec)
#define W (int64_t)(BYTES / sizeof(T))
#define N_ACC 8
#define AHEAD 6
#define FAR_BYTES (1 << 20) /* blocks past this do not stay near */
#define LINE 64
#define FETCH_MOST 1024 /* bytes of a row; the machine follows from there */

typedef T V __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

typedef struct NAME(row) {
  const I *idx; /* the row's entries */
  const T *val;
  int64_t n, known; /* how many of them; how many indices may be read */
  const T *x;       /* the dense operand, from the piece's first column on */
  int64_t stride;
  T *y; /* the piece of the result */
  T alpha;
  bool add;
} NAME(row);

/* Asks for the lines of memory from p on. */
static inline void NAME(fetch)(const T *p, int64_t bytes) {
  for (int64_t k = 0; k < bytes; k += LINE) __builtin_prefetch((const char *)p + k);
}

/* How many entries' indices may be read ahead of their turn; none where the block is near anyway. */
static inline int64_t NAME(known)(const sparse_raw *a, const sparse_block *b) {
  const bool is_far = a->minor > FAR_BYTES / (int64_t)sizeof(T) / (b->cols > 0 ? b->cols : 1);
  return is_far ? ((const I *)a->indptr)[a->major] : 0;
}

static inline void NAME(wide_piece)(const NAME(row) * r) {
  V acc[N_ACC];
#pragma GCC unroll 8
  for (int k = 0; k < N_ACC; k++) acc[k] = r->add ? *(const V *)(r->y + k * W) : (V){0};
  for (int64_t p = 0; p < r->n; p++) {
    const T *x = r->x + r->idx[p] * r->stride;
    const T s = r->alpha * r->val[p];
    if (p + AHEAD < r->known) NAME(fetch)(r->x + r->idx[p + AHEAD] * r->stride, N_ACC * BYTES);
#pragma GCC unroll 8
    for (int k = 0; k < N_ACC; k++) acc[k] += *(const V *)(x + k * W) * s;
  }
#pragma GCC unroll 8
  for (int k = 0; k < N_ACC; k++) *(V *)(r->y + k * W) = acc[k];
}

static inline void NAME(one_vector)(const NAME(row) * r) {
  V acc = r->add ? *(const V *)r->y : (V){0};
  for (int64_t p = 0; p < r->n; p++) acc += *(const V *)(r->x + r->idx[p] * r->stride) * (r->alpha * r->val[p]);
  *(V *)r->y = acc;
}

static inline void NAME(one_element)(const NAME(row) * r) {
  T acc = r->add ? *r->y : 0;
  for (int64_t p = 0; p < r->n; p++) acc += r->x[r->idx[p] * r->stride] * (r->alpha * r->val[p]);
  *r->y = acc;
}

static void NAME(matmat)(const sparse_raw *a, const void *alpha, const sparse_block *xs, const sparse_block *ys,
                         bool add) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data, *x = xs->data;
  const int64_t known = NAME(known)(a, xs);
  NAME(row) r = {.stride = xs->stride, .alpha = alpha ? *(const T *)alpha : 1, .add = add};
  for (int64_t i = 0; i < a->major; i++) {
    T *y = (T *)ys->data + i * ys->stride;
    int64_t j = 0;
    r.idx = idx + ptr[i], r.val = val + ptr[i], r.n = ptr[i + 1] - ptr[i], r.known = known - ptr[i];
    for (; j + N_ACC * W <= ys->cols; j += N_ACC * W) {
      r.x = x + j, r.y = y + j;
      NAME(wide_piece)(&r);
    }
    for (; j + W <= ys->cols; j += W) {
      r.x = x + j, r.y = y + j;
      NAME(one_vector)(&r);
    }
    for (; j < ys->cols; j++) {
      r.x = x + j, r.y = y + j;
      NAME(one_element)(&r);
    }
  }
}

static inline void NAME(axpy)(T s, const T *restrict x, T *restrict y, int64_t n) {
  int64_t k = 0;
  for (; k + W <= n; k += W) *(V *)(y + k) += *(const V *)(x + k) * s;
  for (; k < n; k++) y[k] += x[k] * s;
}

static void NAME(matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *xs, const sparse_block *ys) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data, *x = xs->data, scale = alpha ? *(const T *)alpha : 1;
  T *y = ys->data;
  const int64_t known = NAME(known)(a, ys), bytes = ys->cols * (int64_t)sizeof(T);
  for (int64_t i = 0; i < a->major; i++) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      if (p + AHEAD < known) NAME(fetch)(y + idx[p + AHEAD] * ys->stride, bytes < FETCH_MOST ? bytes : FETCH_MOST);
      NAME(axpy)(scale * val[p], x + i * xs->stride, y + idx[p] * ys->stride, ys->cols);
    }
  }
}

/* Four vectors of partial sums, folded in a fixed order. */
static inline T NAME(inner)(const T *x, const T *y, int64_t n) {
  V acc[4] = {{0}, {0}, {0}, {0}};
  int64_t k = 0;
  for (; k + 4 * W <= n; k += 4 * W) {
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) acc[c] += *(const V *)(x + k + c * W) * *(const V *)(y + k + c * W);
  }
  for (; k + W <= n; k += W) acc[0] += *(const V *)(x + k) * *(const V *)(y + k);
  const V all = (acc[0] + acc[1]) + (acc[2] + acc[3]);
  T sum = 0;
  for (int c = 0; c < W; c++) sum += all[c];
  for (; k < n; k++) sum += x[k] * y[k];
  return sum;
}

static void NAME(sample)(const sparse_raw *a, const sparse_block *xs, const sparse_block *ys, void *out) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *x = xs->data, *y = ys->data;
  T *z = out;
  const int64_t known = NAME(known)(a, ys), bytes = ys->cols * (int64_t)sizeof(T);
  for (int64_t i = 0; i < a->major; i++) {
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      if (p + AHEAD < known) NAME(fetch)(y + idx[p + AHEAD] * ys->stride, bytes < FETCH_MOST ? bytes : FETCH_MOST);
      z[p] = NAME(inner)(x + i * xs->stride, y + idx[p] * ys->stride, xs->cols);
    }
  }
}

#undef NAME
#undef V
#undef W
#undef N_ACC
#undef AHEAD
#undef FAR_BYTES
#undef LINE
#undef FETCH_MOST
