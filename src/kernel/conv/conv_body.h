/* conv_body: the products of conv.h for one element type and instruction set. Included with T (element), NAME (suffixes a
 * name), V (vector), LOAD(p), STORE(p, v), BROADCAST(x), FMA(x, y, z) = x·y + z, ADD(x, y), ROWS (of a tile, a power of two
 * up to 8) and VECS (vectors of a tile, 2 or 3), which are undefined at the end. */
#define W ((int64_t)(sizeof(V) / sizeof(T)))
#define INLINE static inline __attribute__((always_inline))

/* `rows` filters at n_v vectors of positions. rows and n_v are constants after inlining. */
INLINE void NAME(strip_tile)(const conv_strip *s, const T *restrict w, const T *restrict x, T *c, const int rows,
                             const int n_v) {
  const int64_t *offsets = s->offsets, depth = s->depth, pitch = s->pitch;
  V acc[8][3];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
    for (int v = 0; v < n_v; v++) acc[i][v] = BROADCAST(0);
#pragma GCC unroll 2
  for (int64_t p = 0; p < depth; p++, w += rows) {
    const T *b = x + offsets[p];
    V row[3];
#pragma GCC unroll 3
    for (int v = 0; v < n_v; v++) row[v] = LOAD(b + v * W);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      const V a = BROADCAST(w[i]);
#pragma GCC unroll 3
      for (int v = 0; v < n_v; v++) acc[i][v] = FMA(a, row[v], acc[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
    for (int v = 0; v < n_v; v++) STORE(c + i * pitch + v * W, acc[i][v]);
}

/* All filters at n_v vectors of positions from j on. */
INLINE void NAME(strip_columns)(const conv_strip *s, int64_t j, const int n_v) {
  const T *w = s->weights, *x = (const T *)s->source + j;
  T *c = (T *)s->result + j;
  int64_t i = 0;
#define TILE(r) NAME(strip_tile)(s, w, x, c + i * s->pitch, r, n_v), w += (r)*s->depth, i += (r)
  while (i + ROWS <= s->rows) TILE(ROWS);
  if (ROWS > 4 && i + 4 <= s->rows) TILE(4);
  if (i + 2 <= s->rows) TILE(2);
  if (i < s->rows) TILE(1);
#undef TILE
}

static void NAME(strip_columns1)(const conv_strip *s, int64_t j) { NAME(strip_columns)(s, j, 1); }
static void NAME(strip_columns2)(const conv_strip *s, int64_t j) { NAME(strip_columns)(s, j, 2); }
#if VECS > 2
static void NAME(strip_columns3)(const conv_strip *s, int64_t j) { NAME(strip_columns)(s, j, 3); }
#endif

static void NAME(strip)(const conv_strip *s) {
  int64_t j = 0;
#if VECS > 2
  for (; j + 2 * W < s->n; j += 3 * W) NAME(strip_columns3)(s, j);
#endif
  for (; j + W < s->n; j += 2 * W) NAME(strip_columns2)(s, j);
  if (j < s->n) NAME(strip_columns1)(s, j);
}

/* `rows` rows of n_v vectors of c. */
INLINE void NAME(outer_tile)(const conv_outer *o, const int64_t *offsets, const T *restrict b, T *c, const int rows,
                             const int n_v) {
  const int64_t depth = o->depth, b_row = o->b_row, c_row = o->c_row;
  V acc[8][3];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
    for (int v = 0; v < n_v; v++) acc[i][v] = BROADCAST(0);
  for (int64_t s = 0; s < o->segments; s++) {
    const T *a[8], *from = b + s * o->b_step;
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) a[i] = (const T *)o->source + s * o->source_step + offsets[i];
#pragma GCC unroll 2
    for (int64_t p = 0; p < depth; p++, from += b_row) {
      V row[3];
#pragma GCC unroll 3
      for (int v = 0; v < n_v; v++) row[v] = LOAD(from + v * W);
#pragma GCC unroll 8
      for (int i = 0; i < rows; i++) {
        const V x = BROADCAST(a[i][p]);
#pragma GCC unroll 3
        for (int v = 0; v < n_v; v++) acc[i][v] = FMA(x, row[v], acc[i][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
    for (int v = 0; v < n_v; v++) STORE(c + i * c_row + v * W, ADD(LOAD(c + i * c_row + v * W), acc[i][v]));
}

INLINE void NAME(outer_columns)(const conv_outer *o, int64_t j, const int n_v) {
  const T *b = (const T *)o->b + j;
  T *c = (T *)o->c + j;
  int64_t i = 0;
#define TILE(r) NAME(outer_tile)(o, o->offsets + i, b, c + i * o->c_row, r, n_v), i += (r)
  while (i + ROWS <= o->rows) TILE(ROWS);
  if (ROWS > 4 && i + 4 <= o->rows) TILE(4);
  if (i + 2 <= o->rows) TILE(2);
  if (i < o->rows) TILE(1);
#undef TILE
}

static void NAME(outer_columns1)(const conv_outer *o, int64_t j) { NAME(outer_columns)(o, j, 1); }
static void NAME(outer_columns2)(const conv_outer *o, int64_t j) { NAME(outer_columns)(o, j, 2); }
#if VECS > 2
static void NAME(outer_columns3)(const conv_outer *o, int64_t j) { NAME(outer_columns)(o, j, 3); }
#endif

static void NAME(outer)(const conv_outer *o) {
  int64_t j = 0;
#if VECS > 2
  /* Four vectors are two tiles of two, which is faster than three and one. */
  for (; j + 2 * W < o->n && o->n - j != 4 * W; j += 3 * W) NAME(outer_columns3)(o, j);
#endif
  for (; j + W < o->n; j += 2 * W) NAME(outer_columns2)(o, j);
  if (j < o->n) NAME(outer_columns1)(o, j);
}

#undef W
#undef INLINE
#undef T
#undef NAME
#undef V
#undef LOAD
#undef STORE
#undef BROADCAST
#undef FMA
#undef ADD
#undef ROWS
#undef VECS
