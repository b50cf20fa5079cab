/* sddmm_body: sampled products of dense row-major blocks, in vectors. Included after spmm_body.h with its I, IX, T, TX
 * and BYTES, the width of a vector register; STREAM(to, vector) is a non-temporal store if STREAMS is true, STREAMED()
 * the fence after such stores.
 *
 * A row is processed in pieces of up to N_ACC vectors, which stay in registers while all entries of its major vector
 * are processed; columns left over at the end one by one.
 */
#define NAME(f) PASTE4(sp_dense_##f, IX, TX, ISA)
#define V NAME(vec)
#define W (int)(BYTES / sizeof(T))
#define N_ACC 8
#define MAJORS_AHEAD 4

typedef T V __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

/* ---- State of a major vector ---- */

typedef struct NAME(sample_state) {
  const I *idx;     /* the major vector's indices */
  int64_t n, known; /* how many; how many indices may be read from idx on */
  const T *x;       /* its row of X, from the piece's first column on */
  const T *y;       /* Y, whose rows the indices select, from that column on */
  int64_t stride;
  T *z; /* an output for each entry */
} NAME(sample_state);

/* ---- Sampled products ---- */

/* The sum of a vector's elements: adds halves, then quarters, and so on. */
static inline T NAME(fold)(V v) {
  T part[W];
  *(V *)part = v;
#pragma GCC unroll 8
  for (int half = W / 2; half > 0; half /= 2) {
    for (int c = 0; c < half; c++) part[c] += part[c + half];
  }
  return part[0];
}

/* Adds the inner products over n vectors of columns to z, or sets z if they are the first; n is a constant after
 * inlining. x stays in registers. */
static inline __attribute__((always_inline)) void NAME(sample_piece)(const NAME(sample_state) * r, const int n,
                                                                     bool first) {
  V x[N_ACC];
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) x[k] = *(const V *)(r->x + k * W);
  for (int64_t p = 0; p < r->n; p++) {
    const T *y = r->y + r->idx[p] * r->stride;
    V acc[4] = {{0}, {0}, {0}, {0}};
    if (p + SPARSE_AHEAD < r->known) sparse_ask(r->y + r->idx[p + SPARSE_AHEAD] * r->stride, n * BYTES);
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

static inline void NAME(sample_element)(const NAME(sample_state) * r, bool first) {
  for (int64_t p = 0; p < r->n; p++) {
    const T product = *r->x * r->y[r->idx[p] * r->stride];
    r->z[p] = first ? product : r->z[p] + product;
  }
}

static inline void NAME(sample_major)(NAME(sample_state) * r, int64_t cols) {
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
  NAME(sample_state) r = {.stride = ys->stride};
  for (int64_t i = 0; i < a->major; i++) {
    r.idx = idx + ptr[i], r.z = (T *)out + ptr[i], r.n = ptr[i + 1] - ptr[i], r.known = known - ptr[i];
    r.x = x + i * xs->stride, r.y = ys->data;
    NAME(sample_major)(&r, xs->cols);
  }
}

/* ---- Sampled products and spmm in one pass ---- */

typedef struct NAME(both_state) {
  const I *idx, *places; /* the major vector's indices; their places in val and z, NULL: consecutive */
  const T *val;
  T *z; /* an output for each entry */
  int64_t n, known;
  const T *x, *y; /* its row of X, and Y, whose rows the indices select, from the piece's first column on */
  int64_t stride;
  T *out; /* the piece of the result row */
  bool first, stream;
} NAME(both_state);

static inline void NAME(both_sum)(const NAME(both_state) * r, int64_t at, V part) {
  const T sum = NAME(fold)(part);
  r->z[at] = r->first ? sum : r->z[at] + sum;
}

/* Both products over n vectors of columns: each row of y is read once. Sums are those of sample_piece and of spmm. The
 * work for a row is so long that out-of-order execution sees few of the next rows: they are prefetched, wherever the
 * block lies. The last steps of an entry's sum are a dependency chain, so they are done beside the next entry's
 * products. */
static inline __attribute__((always_inline)) void NAME(both_piece)(const NAME(both_state) * r, const int n) {
  V x[N_ACC], acc[N_ACC], last = {0};
  int64_t last_at = -1;
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) x[k] = *(const V *)(r->x + k * W), acc[k] = (V){0};
  for (int64_t p = 0; p < r->n; p++) {
    const int64_t at = r->places ? r->places[p] : p;
    const T *y = r->y + r->idx[p] * r->stride;
    const T s = r->val[at];
    V part[4] = {{0}, {0}, {0}, {0}};
    if (p + SPARSE_AHEAD < r->known) sparse_ask(r->y + r->idx[p + SPARSE_AHEAD] * r->stride, n * BYTES);
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
    if (last_at >= 0) NAME(both_sum)(r, last_at, last);
    if (n > 1) part[0] = (part[0] + part[1]) + (part[2] + part[3]);
    last = part[0], last_at = at;
  }
  if (last_at >= 0) NAME(both_sum)(r, last_at, last);
#pragma GCC unroll 8
  for (int k = 0; k < n; k++) {
    if (r->stream) {
      STREAM(r->out + k * W, acc[k]);
    } else {
      *(V *)(r->out + k * W) = acc[k];
    }
  }
}

static inline void NAME(both_element)(const NAME(both_state) * r) {
  T acc = 0;
  for (int64_t p = 0; p < r->n; p++) {
    const int64_t at = r->places ? r->places[p] : p;
    const T y = r->y[r->idx[p] * r->stride], product = *r->x * y;
    acc += y * r->val[at];
    r->z[at] = r->first ? product : r->z[at] + product;
  }
  *r->out = acc;
}

static inline void NAME(both_advance)(NAME(both_state) * r, int64_t n) {
  r->x += n;
  r->y += n;
  r->out += n;
  r->first = false;
}

static inline void NAME(both_major)(NAME(both_state) * r, int64_t cols) {
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
  NAME(both_state) r = {.stride = ys->stride, .stream = NAME(goes_past)(a->major, NULL, outs)};
  for (int64_t i = 0; i < a->major; i++) {
    r.idx = idx + ptr[i], r.n = ptr[i + 1] - ptr[i], r.known = known - ptr[i];
    r.places = at ? at + ptr[i] : NULL, r.val = at ? val : val + ptr[i], r.z = (T *)samples + (at ? 0 : ptr[i]);
    r.x = (const T *)xs->data + i * xs->stride, r.y = ys->data, r.out = (T *)outs->data + i * outs->stride;
    r.first = true;
    if (i + MAJORS_AHEAD < a->major) sparse_ask(r.x + MAJORS_AHEAD * xs->stride, xs->cols * (int64_t)sizeof(T));
    NAME(both_major)(&r, ys->cols);
  }
  if (r.stream) STREAMED();
}

#undef NAME
#undef V
#undef W
#undef N_ACC
#undef MAJORS_AHEAD
