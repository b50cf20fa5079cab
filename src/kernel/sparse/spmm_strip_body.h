/* spmm_strip_body: kernels of strips, by vectors of one width. Included with I, IX, T, TX, C (the type of a component
 * of T), PAIRS (1: T is complex), VB (bytes of a vector) and LANES (components in it); BYTES is the width of the
 * machine's vectors, STREAM(to, vector) a non-temporal store of such a vector.
 */
#define NAME(f) PASTE2(PASTE4(sp_strip_##f, IX, TX, ISA), VB)
#define V NAME(vec)
#define W (VB / (int64_t)sizeof(T))
#define MOST 8

#if LANES == 1
typedef C V __attribute__((may_alias));
#else
typedef C V __attribute__((vector_size(VB), aligned(sizeof(C)), may_alias));
#endif

/* ---- Products of one entry ---- */

#if PAIRS
typedef struct NAME(factor) {
  C re;
  V im; /* with the sign that it has in each component of a product */
} NAME(factor);

/* Components are computed separately and returned through a pointer: clang 14 loses the sign in vectors of two that it
 * makes of pairs passed by value. */
static inline void NAME(set_factor)(NAME(factor) * f, const T *alpha, const T *value) {
  const C re = value->re, im = value->im;
  const C scaled_re = alpha ? alpha->re * re - alpha->im * im : re;
  const C scaled_im = alpha ? alpha->re * im + alpha->im * re : im;
  f->re = scaled_re;
  f->im = (V){PASTE2(SIGNED, LANES)(scaled_im)};
}

#if defined(__clang__) || __GNUC__ >= 12
static inline V NAME(swapped)(V x) { return __builtin_shufflevector(x, x, PASTE2(SWAPS, LANES)); }
#else
static inline V NAME(swapped)(V x) {
  V y = x;
  for (int k = 0; k < LANES; k++) y[k] = x[k ^ 1];
  return y;
}
#endif

static inline V NAME(times)(V x, const NAME(factor) * s) { return x * s->re + NAME(swapped)(x) * s->im; }
#else
typedef T NAME(factor);

static inline void NAME(set_factor)(T *f, const T *alpha, const T *value) { *f = alpha ? *alpha * *value : *value; }

static inline V NAME(times)(V x, const T *s) { return x * *s; }
#endif

/* ---- Strips of n vectors; n is a constant after inlining ---- */

/* Offset of vector k in a row; the last vector ends with the row. */
#define PLACE(k) ((k) < n - 1 ? (k)*W : last)

static inline __attribute__((always_inline)) void NAME(gather)(const sparse_strip *s, const int n) {
  const I *ptr = s->a.indptr, *idx = s->a.indices;
  const T *val = s->a.data, *alpha = s->alpha, *x = s->x, *z = s->z;
  const int64_t major = s->a.major, stride = s->x_stride, last = s->cols - W;
  const int64_t known = s->known;
  int64_t p = ptr[0];
  T *y = s->y;
  for (int64_t i = 0; i < major; i++) {
    const int64_t end = ptr[i + 1];
    V acc[MOST];
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) acc[k] = z ? *(const V *)(z + PLACE(k)) : (V){0};
    for (; p < end; p++) {
      const T *row = x + idx[p] * stride;
      NAME(factor) f;
      NAME(set_factor)(&f, alpha, val + p);
      if (p + SPARSE_AHEAD < known) sparse_ask(x + idx[p + SPARSE_AHEAD] * stride, n * VB);
#pragma GCC unroll 8
      for (int k = 0; k < n; k++) acc[k] += NAME(times)(*(const V *)(row + PLACE(k)), &f);
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) {
#if VB == BYTES
      if (s->stream) {
        STREAM(y + PLACE(k), acc[k]);
        continue;
      }
#endif
      *(V *)(y + PLACE(k)) = acc[k];
    }
    y += s->y_stride;
    if (z) z += s->z_stride;
  }
}

static inline __attribute__((always_inline)) void NAME(scatter)(const sparse_strip *s, const int n) {
  const I *ptr = s->a.indptr, *idx = s->a.indices;
  const T *val = s->a.data, *alpha = s->alpha, *x = s->x;
  const int64_t major = s->a.major, stride = s->y_stride, last = s->cols - W;
  const int64_t known = s->known;
  int64_t p = ptr[0];
  T *y = s->y;
  for (int64_t i = 0; i < major; i++, x += s->x_stride) {
    const int64_t end = ptr[i + 1];
    V x_row[MOST];
#pragma GCC unroll 8
    for (int k = 0; k < n; k++) x_row[k] = *(const V *)(x + PLACE(k));
    for (; p < end; p++) {
      T *row = y + idx[p] * stride;
      NAME(factor) f;
      NAME(set_factor)(&f, alpha, val + p);
      V sum[MOST];
      if (p + SPARSE_AHEAD < known) sparse_ask(y + idx[p + SPARSE_AHEAD] * stride, n * VB);
#pragma GCC unroll 8
      for (int k = 0; k < n; k++) sum[k] = *(const V *)(row + PLACE(k)) + NAME(times)(x_row[k], &f);
#pragma GCC unroll 8
      for (int k = 0; k < n; k++) *(V *)(row + PLACE(k)) = sum[k];
    }
  }
}

static void NAME(gather_1)(const sparse_strip *s) { NAME(gather)(s, 1); }
static void NAME(gather_2)(const sparse_strip *s) { NAME(gather)(s, 2); }
static void NAME(scatter_1)(const sparse_strip *s) { NAME(scatter)(s, 1); }
static void NAME(scatter_2)(const sparse_strip *s) { NAME(scatter)(s, 2); }

#if VB == BYTES
static void NAME(gather_3)(const sparse_strip *s) { NAME(gather)(s, 3); }
static void NAME(gather_4)(const sparse_strip *s) { NAME(gather)(s, 4); }
static void NAME(gather_8)(const sparse_strip *s) { NAME(gather)(s, 8); }
static void NAME(scatter_3)(const sparse_strip *s) { NAME(scatter)(s, 3); }
static void NAME(scatter_4)(const sparse_strip *s) { NAME(scatter)(s, 4); }
static void NAME(scatter_8)(const sparse_strip *s) { NAME(scatter)(s, 8); }

static const sparse_strip_fns NAME(fns) = {
    VB,
    {NAME(gather_1), NAME(gather_2), NAME(gather_3), NAME(gather_4), NAME(gather_8)},
    {NAME(scatter_1), NAME(scatter_2), NAME(scatter_3), NAME(scatter_4), NAME(scatter_8)}};
#else
static const sparse_strip_fns NAME(fns) = {VB, {NAME(gather_1), NAME(gather_2)}, {NAME(scatter_1), NAME(scatter_2)}};
#endif

#undef NAME
#undef V
#undef W
#undef MOST
#undef PLACE
