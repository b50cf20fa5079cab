/* small_gemm_body: c = alpha · a · b + beta · z for one element type and instruction set. Included with T (element),
 * NAME (suffixes a name), V (vector), M (mask of a vector), MASK(n) (of its first n elements), LOAD(p), LOAD_PART(p, m),
 * STORE(p, v), STORE_PART(p, m, v), BROADCAST(x), FMA(x, y, z) = x·y + z, MUL(x, y), and ROWS1, ROWS2: rows of a tile of one
 * and of two vectors, powers of two, which are undefined at the end.
 *
 * A tile of c lies in registers while k runs. Each entry is the sum of its products in the order of k, each added by a
 * fused multiply-add, wherever it lies in a tile.
 */
#define W ((int64_t)(sizeof(V) / sizeof(T)))
#define INLINE static inline __attribute__((always_inline))

/* `rows` rows and n_v vectors, of which the last has the elements of `part`. rows, n_v and is_part are constants after
 * inlining. */
INLINE void NAME(tile)(const small_gemm *g, const T *restrict a, const T *restrict b, T *c, const T *z, const int rows,
                       const int n_v, const bool is_part, M part) {
  const int64_t ar = g->a_row, ac = g->a_col, br = g->b_row, cr = g->c_row, zr = g->z_row, k = g->k;
  V acc[8][2];
  /* What the tile ends with comes from memory while k runs. */
  for (int i = 0; i < rows && k >= 16; i++) {
    for (int v = 0; v < n_v; v++) {
      __builtin_prefetch(c + i * cr + v * W, 1);
      if (g->beta != 0) __builtin_prefetch(z + i * zr + v * W);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
    for (int v = 0; v < n_v; v++) acc[i][v] = BROADCAST(0);
#pragma GCC unroll 4
  for (int64_t p = 0; p < k; p++, a += ac, b += br) {
    V row[2];
#pragma GCC unroll 2
    for (int v = 0; v < n_v; v++) row[v] = is_part && v == n_v - 1 ? LOAD_PART(b + v * W, part) : LOAD(b + v * W);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      const V x = BROADCAST(a[i * ar]);
#pragma GCC unroll 2
      for (int v = 0; v < n_v; v++) acc[i][v] = FMA(x, row[v], acc[i][v]);
    }
  }
  const bool plain = g->alpha == 1 && g->beta == 0;
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
    for (int v = 0; v < n_v; v++) {
      T *to = c + i * cr + v * W;
      const T *from = z + i * zr + v * W;
      const bool cut = is_part && v == n_v - 1;
      V value = acc[i][v];
      if (!plain) value = MUL(BROADCAST((T)g->alpha), value);
      if (g->beta != 0) value = FMA(BROADCAST((T)g->beta), cut ? LOAD_PART(from, part) : LOAD(from), value);
      if (cut)
        STORE_PART(to, part, value);
      else
        STORE(to, value);
    }
  }
}

/* All rows of n_v vectors of columns. */
INLINE void NAME(columns)(const small_gemm *g, int64_t j, const int most, const int n_v, const bool is_part, M part) {
  const T *a = g->a, *b = (const T *)g->b + j, *z = g->beta != 0 ? (const T *)g->z + j : (const T *)g->c + j;
  T *c = (T *)g->c + j;
  int64_t i = 0;
#define TILE(rows) \
  NAME(tile)(g, a + i * g->a_row, b, c + i * g->c_row, z + i * g->z_row, rows, n_v, is_part, part), i += (rows)
  while (i + most <= g->m) TILE(most);
  if (most > 4 && i + 4 <= g->m) TILE(4);
  if (i + 2 <= g->m) TILE(2);
  if (i < g->m) TILE(1);
#undef TILE
}

static void NAME(whole2)(const small_gemm *g, int64_t j) { NAME(columns)(g, j, ROWS2, 2, false, MASK(0)); }
static void NAME(part2)(const small_gemm *g, int64_t j) { NAME(columns)(g, j, ROWS2, 2, true, MASK(g->n - j - W)); }
static void NAME(whole1)(const small_gemm *g, int64_t j) { NAME(columns)(g, j, ROWS1, 1, false, MASK(0)); }
static void NAME(part1)(const small_gemm *g, int64_t j) { NAME(columns)(g, j, ROWS1, 1, true, MASK(g->n - j)); }

static void NAME(rows)(const small_gemm *g) {
  int64_t j = 0;
  for (; j + 2 * W <= g->n; j += 2 * W) NAME(whole2)(g, j);
  const int64_t left = g->n - j;
  if (left > W)
    NAME(part2)(g, j);
  else if (left == W)
    NAME(whole1)(g, j);
  else if (left > 0)
    NAME(part1)(g, j);
}

/* Rows in groups, each with all columns, so that c and z are walked through once, in order; while b stays in the L2
 * cache, groups are small enough for a's to stay in L1. */
static void NAME(multiply)(const small_gemm *g) {
  const int64_t in_l1 = SMALL_GEMM_L1, entries = g->n * g->k <= SMALL_GEMM_L2 ? in_l1 : SMALL_GEMM_L2 / 4;
  if (g->m <= 8 || g->m * g->k <= in_l1) {
    NAME(rows)(g);
    return;
  }
  const int64_t most = g->k < entries / 8 ? entries / g->k & ~(int64_t)7 : 8;
  small_gemm group = *g;
  for (int64_t i = 0; i < g->m; i += most) {
    group.m = g->m - i < most ? g->m - i : most;
    group.a = (const T *)g->a + i * g->a_row;
    group.c = (T *)g->c + i * g->c_row;
    if (g->beta != 0) group.z = (const T *)g->z + i * g->z_row;
    NAME(rows)(&group);
  }
}

static void NAME(run)(const small_gemm *g) {
  if (g->b_col == 1) {
    NAME(multiply)(g);
    return;
  }
  T packed[SMALL_GEMM_PACK];
  const T *b = g->b;
  small_gemm rows = *g;
  for (int64_t p = 0; p < g->k; p++) {
    for (int64_t j = 0; j < g->n; j++) packed[p * g->n + j] = b[p * g->b_row + j * g->b_col];
  }
  rows.b = packed;
  rows.b_row = g->n;
  rows.b_col = 1;
  NAME(multiply)(&rows);
}

#undef W
#undef INLINE
#undef T
#undef NAME
#undef V
#undef M
#undef MASK
#undef LOAD
#undef LOAD_PART
#undef STORE
#undef STORE_PART
#undef BROADCAST
#undef FMA
#undef MUL
#undef ROWS1
#undef ROWS2
