/* sparse_dense_body: products of a sparse matrix with a dense row-major block, in vectors. Included with I, IX, T, TX
 * and BYTES, the width of a vector register; STREAM(to, vector) stores past the caches where STREAMS, STREAMED() ends
 * that.
 *
 * A row of the result is made in pieces of up to N_ACC vectors that stay in registers while the row's entries go by;
 * what is left over at its end by elements. Each element is the same sum in the same order in all of them.
 *
 * Rows of a large block are met in no order that the machine foresees: each is asked for AHEAD entries before its
 * turn. */
#define NAME(f) PASTE3(f, IX, TX)
#define V NAME(vec)
#define W (int)(BYTES / sizeof(T))
#define N_ACC 8
#define AHEAD 12
#define FAR_BYTES (1 << 20)    /* blocks past this do not stay near */
#define STREAM_BYTES (4 << 20) /* results past this don't stay until they are read */
#define LINE 64

/* ---- Products ---- */

typedef T V __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

typedef struct NAME(row) {
  const I *idx; /* the row's entries */
  const T *val;
  int64_t n, known; /* how many of them; how many indices may be read */
  const T *x;       /* the dense operand, from the piece's first column on */
  int64_t stride;
  const T *z; /* what is added, NULL: nothing */
  T *y;       /* the piece of the result */
  T alpha;
  bool stream;
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

/* A piece of n vectors; n is a constant where it is inlined. */
static inline __attribute__((always_inline)) void NAME(piece)(const NAME(row) * r, const int n) {
  V acc[N_ACC];
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) acc[k] = r->z ? *(const V *)(r->z + k * W) : (V){0};
  for (int64_t p = 0; p < r->n; p++) {
    const T *x = r->x + r->idx[p] * r->stride;
    const T s = r->alpha * r->val[p];
    if (p + AHEAD < r->known) NAME(fetch)(r->x + r->idx[p + AHEAD] * r->stride, n * BYTES);
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) acc[k] += *(const V *)(x + k * W) * s;
  }
  if (r->stream) {
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) STREAM(r->y + k * W, acc[k]);
    return;
  }
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) *(V *)(r->y + k * W) = acc[k];
}

static inline void NAME(one_element)(const NAME(row) * r) {
  T acc = r->z ? *r->z : 0;
  for (int64_t p = 0; p < r->n; p++) acc += r->x[r->idx[p] * r->stride] * (r->alpha * r->val[p]);
  *r->y = acc;
}

static inline void NAME(advance)(NAME(row) * r, int64_t n) {
  r->x += n;
  r->y += n;
  if (r->z) r->z += n;
}

static inline void NAME(one_row)(NAME(row) * r, int64_t cols) {
  for (; cols >= 8 * W; cols -= 8 * W, NAME(advance)(r, 8 * W)) NAME(piece)(r, 8);
  for (; cols >= 4 * W; cols -= 4 * W, NAME(advance)(r, 4 * W)) NAME(piece)(r, 4);
  for (; cols >= 2 * W; cols -= 2 * W, NAME(advance)(r, 2 * W)) NAME(piece)(r, 2);
  for (; cols >= W; cols -= W, NAME(advance)(r, W)) NAME(piece)(r, 1);
  for (; cols > 0; cols--, NAME(advance)(r, 1)) NAME(one_element)(r);
}

/* A result that the caches don't keep goes past them, where it fills whole lines. */
static inline bool NAME(goes_past)(int64_t rows, const sparse_block *z, const sparse_block *y) {
  const int64_t row = y->cols * (int64_t)sizeof(T), step = y->stride * (int64_t)sizeof(T);
  const bool is_read = z && z->data == y->data, in_lines = row % LINE == 0 && step % LINE == 0;
  return STREAMS && !is_read && in_lines && (uintptr_t)y->data % LINE == 0 && row > 0 && rows >= STREAM_BYTES / row;
}

static void NAME(matmat)(const sparse_raw *a, const void *alpha, const sparse_block *xs, const sparse_block *zs,
                         const sparse_block *ys) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  const int64_t known = NAME(known)(a, xs);
  NAME(row)
  r = {.stride = xs->stride, .alpha = alpha ? *(const T *)alpha : 1, .stream = NAME(goes_past)(a->major, zs, ys)};
  for (int64_t i = 0; i < a->major; i++) {
    r.idx = idx + ptr[i], r.val = val + ptr[i], r.n = ptr[i + 1] - ptr[i], r.known = known - ptr[i];
    r.x = xs->data, r.y = (T *)ys->data + i * ys->stride;
    r.z = zs ? (const T *)zs->data + i * zs->stride : NULL;
    NAME(one_row)(&r, ys->cols);
  }
  if (r.stream) STREAMED();
}

/* ---- Lines of entries and a row of a block for each ---- */

typedef struct NAME(line) {
  const I *idx; /* the line's entries */
  const T *val;
  int64_t n, known;
  const T *x; /* the line's row, from the piece's first column on */
  T *y;       /* the block whose rows the entries mean, from there on */
  int64_t stride;
  T *z; /* a number for each entry */
  T alpha;
} NAME(line);

/* Adds multiples of n vectors of the line's row to rows of y; n is a constant where it is inlined. */
static inline __attribute__((always_inline)) void NAME(scatter_piece)(const NAME(line) * r, const int n) {
  V x[N_ACC];
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) x[k] = *(const V *)(r->x + k * W);
  for (int64_t p = 0; p < r->n; p++) {
    T *y = r->y + r->idx[p] * r->stride;
    const T s = r->alpha * r->val[p];
    if (p + AHEAD < r->known) NAME(fetch)(r->y + r->idx[p + AHEAD] * r->stride, n * BYTES);
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) *(V *)(y + k * W) += x[k] * s;
  }
}

static inline void NAME(scatter_element)(const NAME(line) * r) {
  for (int64_t p = 0; p < r->n; p++) r->y[r->idx[p] * r->stride] += *r->x * (r->alpha * r->val[p]);
}

static inline void NAME(scatter_line)(NAME(line) * r, int64_t cols) {
  for (; cols >= 8 * W; cols -= 8 * W, r->x += 8 * W, r->y += 8 * W) NAME(scatter_piece)(r, 8);
  for (; cols >= 4 * W; cols -= 4 * W, r->x += 4 * W, r->y += 4 * W) NAME(scatter_piece)(r, 4);
  for (; cols >= 2 * W; cols -= 2 * W, r->x += 2 * W, r->y += 2 * W) NAME(scatter_piece)(r, 2);
  for (; cols >= W; cols -= W, r->x += W, r->y += W) NAME(scatter_piece)(r, 1);
  for (; cols > 0; cols--, r->x++, r->y++) NAME(scatter_element)(r);
}

static void NAME(matmat_t)(const sparse_raw *a, const void *alpha, const sparse_block *xs, const sparse_block *ys) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data, *x = xs->data;
  const int64_t known = NAME(known)(a, ys);
  NAME(line) r = {.stride = ys->stride, .alpha = alpha ? *(const T *)alpha : 1};
  for (int64_t i = 0; i < a->major; i++) {
    r.idx = idx + ptr[i], r.val = val + ptr[i], r.n = ptr[i + 1] - ptr[i], r.known = known - ptr[i];
    r.x = x + i * xs->stride, r.y = ys->data;
    NAME(scatter_line)(&r, ys->cols);
  }
}

/* ---- Sampled products ---- */

/* The sum of a vector's elements: halves, quarters and so on are added. */
static inline T NAME(fold)(V v) {
  T part[W];
  *(V *)part = v;
#pragma GCC unroll 8
  for (int half = W / 2; half > 0; half /= 2) {
    for (int c = 0; c < half; c++) part[c] += part[c + half];
  }
  return part[0];
}

/* Adds the inner products of n vectors of columns to z, or sets them where they are the first; n is a constant where
 * it is inlined. x stays in registers. */
static inline __attribute__((always_inline)) void NAME(sample_piece)(const NAME(line) * r, const int n, bool first) {
  V x[N_ACC];
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) x[k] = *(const V *)(r->x + k * W);
  for (int64_t p = 0; p < r->n; p++) {
    const T *y = r->y + r->idx[p] * r->stride;
    V acc[4] = {{0}, {0}, {0}, {0}};
    if (p + AHEAD < r->known) NAME(fetch)(r->y + r->idx[p + AHEAD] * r->stride, n * BYTES);
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) {
      const V product = x[k] * *(const V *)(y + k * W);
      if (k < 4) {
        acc[k] = product;
      } else {
        acc[k - 4] += product;
      }
    }
    if (n > 1) acc[0] = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    const T sum = NAME(fold)(acc[0]);
    r->z[p] = first ? sum : r->z[p] + sum;
  }
}

static inline void NAME(sample_element)(const NAME(line) * r, bool first) {
  for (int64_t p = 0; p < r->n; p++) {
    const T product = *r->x * r->y[r->idx[p] * r->stride];
    r->z[p] = first ? product : r->z[p] + product;
  }
}

static inline void NAME(sample_line)(NAME(line) * r, int64_t cols) {
  bool first = true;
  if (cols == 0) memset(r->z, 0, (size_t)r->n * sizeof(T));
  for (; cols >= 8 * W; cols -= 8 * W, r->x += 8 * W, r->y += 8 * W, first = false) NAME(sample_piece)(r, 8, first);
  for (; cols >= 4 * W; cols -= 4 * W, r->x += 4 * W, r->y += 4 * W, first = false) NAME(sample_piece)(r, 4, first);
  for (; cols >= 2 * W; cols -= 2 * W, r->x += 2 * W, r->y += 2 * W, first = false) NAME(sample_piece)(r, 2, first);
  for (; cols >= W; cols -= W, r->x += W, r->y += W, first = false) NAME(sample_piece)(r, 1, first);
  for (; cols > 0; cols--, r->x++, r->y++, first = false) NAME(sample_element)(r, first);
}

static void NAME(sample)(const sparse_raw *a, const sparse_block *xs, const sparse_block *ys, void *out) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *x = xs->data;
  const int64_t known = NAME(known)(a, ys);
  NAME(line) r = {.stride = ys->stride};
  for (int64_t i = 0; i < a->major; i++) {
    r.idx = idx + ptr[i], r.z = (T *)out + ptr[i], r.n = ptr[i + 1] - ptr[i], r.known = known - ptr[i];
    r.x = x + i * xs->stride, r.y = ys->data;
    NAME(sample_line)(&r, xs->cols);
  }
}

/* ---- Sampled products and products in one pass ---- */

typedef struct NAME(both_lines) {
  const I *idx, *places; /* the line's entries; where they stand in val and z, NULL: one after the other */
  const T *val;
  T *z; /* a number for each entry */
  int64_t n, known;
  const T *x, *y; /* the line's row, the block whose rows the entries mean, from the piece's first column on */
  int64_t stride;
  T *out; /* the piece of the result */
  bool first, stream;
} NAME(both_lines);

/* Both of n vectors of columns: each row of y is read once. Sums as in sample_piece and piece. So much is done for a
 * row that the machine sees few of the next ones: they are asked for ahead of their turn wherever the block lies. */
static inline __attribute__((always_inline)) void NAME(both_piece)(const NAME(both_lines) * r, const int n) {
  V x[N_ACC], acc[N_ACC];
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) x[k] = *(const V *)(r->x + k * W), acc[k] = (V){0};
  for (int64_t p = 0; p < r->n; p++) {
    const int64_t at = r->places ? r->places[p] : p;
    const T *y = r->y + r->idx[p] * r->stride;
    const T s = r->val[at];
    V part[4] = {{0}, {0}, {0}, {0}};
    if (p + AHEAD < r->known) NAME(fetch)(r->y + r->idx[p + AHEAD] * r->stride, n * BYTES);
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) {
      const V row = *(const V *)(y + k * W), product = x[k] * row;
      acc[k] += row * s;
      if (k < 4) {
        part[k] = product;
      } else {
        part[k - 4] += product;
      }
    }
    if (n > 1) part[0] = (part[0] + part[1]) + (part[2] + part[3]);
    const T sum = NAME(fold)(part[0]);
    r->z[at] = r->first ? sum : r->z[at] + sum;
  }
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) {
    if (r->stream) {
      STREAM(r->out + k * W, acc[k]);
    } else {
      *(V *)(r->out + k * W) = acc[k];
    }
  }
}

static inline void NAME(both_element)(const NAME(both_lines) * r) {
  T acc = 0;
  for (int64_t p = 0; p < r->n; p++) {
    const int64_t at = r->places ? r->places[p] : p;
    const T y = r->y[r->idx[p] * r->stride], product = *r->x * y;
    acc += y * r->val[at];
    r->z[at] = r->first ? product : r->z[at] + product;
  }
  *r->out = acc;
}

static inline void NAME(both_advance)(NAME(both_lines) * r, int64_t n) {
  r->x += n;
  r->y += n;
  r->out += n;
  r->first = false;
}

static inline void NAME(both_line)(NAME(both_lines) * r, int64_t cols) {
  for (; cols >= 8 * W; cols -= 8 * W, NAME(both_advance)(r, 8 * W)) NAME(both_piece)(r, 8);
  for (; cols >= 4 * W; cols -= 4 * W, NAME(both_advance)(r, 4 * W)) NAME(both_piece)(r, 4);
  for (; cols >= 2 * W; cols -= 2 * W, NAME(both_advance)(r, 2 * W)) NAME(both_piece)(r, 2);
  for (; cols >= W; cols -= W, NAME(both_advance)(r, W)) NAME(both_piece)(r, 1);
  for (; cols > 0; cols--, NAME(both_advance)(r, 1)) NAME(both_element)(r);
}

static void NAME(both)(const sparse_raw *a, const void *places, const sparse_block *xs, const sparse_block *ys,
                       void *samples, const sparse_block *outs) {
  const I *ptr = a->indptr, *idx = a->indices, *at = places;
  const T *val = a->data;
  const int64_t known = ptr[a->major];
  NAME(both_lines) r = {.stride = ys->stride, .stream = NAME(goes_past)(a->major, NULL, outs)};
  for (int64_t i = 0; i < a->major; i++) {
    r.idx = idx + ptr[i], r.n = ptr[i + 1] - ptr[i], r.known = known - ptr[i];
    r.places = at ? at + ptr[i] : NULL, r.val = at ? val : val + ptr[i], r.z = (T *)samples + (at ? 0 : ptr[i]);
    r.x = (const T *)xs->data + i * xs->stride, r.y = ys->data, r.out = (T *)outs->data + i * outs->stride;
    r.first = true;
    NAME(both_line)(&r, ys->cols);
  }
  if (r.stream) STREAMED();
}

#undef NAME
#undef V
#undef W
#undef N_ACC
#undef AHEAD
#undef FAR_BYTES
#undef STREAM_BYTES
#undef LINE
