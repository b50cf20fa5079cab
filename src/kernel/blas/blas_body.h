/* blas_body: c = alpha · a · b + beta · c for one element type and one length of vectors. Included with NAME (suffixes a
 * name), T (the element, or the part of a complex one), PARTS (1, or 2 for complex elements), VECTOR (bytes), which are
 * undefined at the end.
 *
 * Blocks of a and b are packed into panels: for each k the entries of MR rows of a, of NR columns of b; of complex ones the
 * real parts, then the imaginary ones. A tile of MR × NR sums lies in registers while k runs. The sums of a block of k
 * are then added to c.
 */
typedef T NAME(vector) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));
#define W ((int)(VECTOR / sizeof(T)))
#define MR (2 / PARTS * W)
#define NR 4
#define MC (32 / PARTS)
#define NC (64 / PARTS)
#define KC BLAS_DEPTH
#define INLINE static inline __attribute__((always_inline))

/* Packs kc × n entries into panels of `width`; the last panel is filled with zeros. step: from one entry of a panel to
 * the next; deep: from one k to the next. */
INLINE void NAME(pack)(T *to, const T *from, int64_t n, int64_t kc, int64_t step, int64_t deep, bool conj,
                       const int width) {
  for (int64_t at = 0; at < n; at += width, from += width * step * PARTS) {
    const int some = n - at < width ? (int)(n - at) : width;
    const T *f = from;
    for (int64_t p = 0; p < kc; p++, f += deep * PARTS, to += width * PARTS) {
#if PARTS == 1
      if (some == width && step == 1) {
        for (int i = 0; i < width; i++) to[i] = f[i];
        continue;
      }
      for (int i = 0; i < width; i++) to[i] = i < some ? f[i * step] : 0;
      (void)conj;
#else
      for (int i = 0; i < width; i++) {
        to[i] = i < some ? f[2 * i * step] : 0;
        to[width + i] = i < some ? conj ? -f[2 * i * step + 1] : f[2 * i * step + 1] : 0;
      }
#endif
    }
  }
}

/* The sums of one tile over kc products, column by column; of complex ones all real parts, then all imaginary parts. */
static void NAME(tile)(int64_t kc, const T *restrict a, const T *restrict b, T *restrict sums) {
  typedef NAME(vector) V;
  const V zero = {0};
#if PARTS == 1
  V s[NR][2];
#pragma GCC unroll 4
  for (int j = 0; j < NR; j++) s[j][0] = s[j][1] = zero;
  for (int64_t p = 0; p < kc; p++, a += MR, b += NR) {
    const V a0 = *(const V *)a, a1 = *(const V *)(a + W);
#pragma GCC unroll 4
    for (int j = 0; j < NR; j++) {
      s[j][0] += a0 * b[j];
      s[j][1] += a1 * b[j];
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < NR; j++) {
    *(V *)(sums + j * MR) = s[j][0];
    *(V *)(sums + j * MR + W) = s[j][1];
  }
#else
  V re[NR], im[NR];
#pragma GCC unroll 4
  for (int j = 0; j < NR; j++) re[j] = im[j] = zero;
  for (int64_t p = 0; p < kc; p++, a += 2 * MR, b += 2 * NR) {
    const V ar = *(const V *)a, ai = *(const V *)(a + W);
#pragma GCC unroll 4
    for (int j = 0; j < NR; j++) {
      re[j] += ar * b[j] - ai * b[NR + j];
      im[j] += ar * b[NR + j] + ai * b[j];
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < NR; j++) {
    *(V *)(sums + j * MR) = re[j];
    *(V *)(sums + (NR + j) * MR) = im[j];
  }
#endif
}

/* c = alpha · sum, or c + alpha · sum: one entry. */
INLINE void NAME(add)(T *c, const T *alpha, T re, T im, bool fresh) {
#if PARTS == 1
  (void)im;
  *c = fresh ? alpha[0] * re : *c + alpha[0] * re;
#else
  /* a product by 1 is exact, and keeps infinities, where the formula has 0·inf */
  const bool one = alpha[0] == 1 && alpha[1] == 0;
  const T x = one ? re : KERNEL_LESS(alpha[0] * re, alpha[1] * im), y = one ? im : alpha[0] * im + alpha[1] * re;
  c[0] = fresh ? x : c[0] + x;
  c[1] = fresh ? y : c[1] + y;
#endif
}

static void NAME(add_tile)(const T *sums, const T *alpha, T *c, int64_t rows, int64_t cols, int64_t c_row,
                           int64_t c_col, bool fresh) {
  for (int64_t j = 0; j < cols; j++, sums += MR, c += c_col * PARTS) {
#if PARTS == 1
    const T scale = *alpha;
    if (c_row == 1) {
      if (fresh)
        for (int64_t i = 0; i < rows; i++) c[i] = scale * sums[i];
      else
        for (int64_t i = 0; i < rows; i++) c[i] += scale * sums[i];
      continue;
    }
#endif
    for (int64_t i = 0; i < rows; i++)
      NAME(add)(c + i * c_row * PARTS, alpha, sums[i], PARTS == 1 ? 0 : sums[NR * MR + i], fresh);
  }
}

static void NAME(blocks)(const blas_gemm *g, const T *alpha, bool is_fresh) {
  T pack_a[MC * KC * PARTS] __attribute__((aligned(64))), pack_b[NC * KC * PARTS] __attribute__((aligned(64)));
  T sums[MR * NR * PARTS] __attribute__((aligned(64)));
  const T *a = g->a, *b = g->b;
  for (int64_t p = 0; p < g->k; p += KC) {
    const int64_t kc = g->k - p < KC ? g->k - p : KC;
    const bool fresh = is_fresh && p == 0;
    for (int64_t j = 0; j < g->n; j += NC) {
      const int64_t nc = g->n - j < NC ? g->n - j : NC;
      NAME(pack)(pack_b, b + (p * g->b_row + j * g->b_col) * PARTS, nc, kc, g->b_col, g->b_row, g->conj_b, NR);
      for (int64_t i = 0; i < g->m; i += MC) {
        const int64_t mc = g->m - i < MC ? g->m - i : MC;
        NAME(pack)(pack_a, a + (i * g->a_row + p * g->a_col) * PARTS, mc, kc, g->a_row, g->a_col, g->conj_a, MR);
        T *c = (T *)g->c + (i * g->c_row + j * g->c_col) * PARTS;
        for (int64_t y = 0; y < nc; y += NR)
          for (int64_t x = 0; x < mc; x += MR) {
            NAME(tile)(kc, pack_a + x * kc * PARTS, pack_b + y * kc * PARTS, sums);
            NAME(add_tile)
            (sums, alpha, c + (x * g->c_row + y * g->c_col) * PARTS, mc - x < MR ? mc - x : MR,
             nc - y < NR ? nc - y : NR, g->c_row, g->c_col, fresh);
          }
      }
    }
  }
}

/* A matrix by a vector, with n = 1: nothing is packed. Up to MC rows have their sums computed side by side. */
static void NAME(vector_product)(const blas_gemm *g, const T *alpha, bool is_fresh) {
  const int64_t ar = g->a_row * PARTS, ac = g->a_col * PARTS, br = g->b_row * PARTS, cr = g->c_row * PARTS;
  for (int64_t p = 0; p < g->k; p += KC) {
    const int64_t kc = g->k - p < KC ? g->k - p : KC;
    const T *b = (const T *)g->b + p * br;
    for (int64_t i = 0; i < g->m; i += MC) {
      const int rows = g->m - i < MC ? (int)(g->m - i) : MC;
      const T *a = (const T *)g->a + i * ar + p * ac;
      T *c = (T *)g->c + i * cr, re[MC] = {0}, im[MC] = {0};
      for (int64_t q = 0; q < kc; q++) {
        const T *column = a + q * ac, x = b[q * br];
#if PARTS == 1
        if (ar == 1)
          for (int r = 0; r < rows; r++) re[r] += column[r] * x;
        else
          for (int r = 0; r < rows; r++) re[r] += column[r * ar] * x;
#else
        const T y = g->conj_b ? -b[q * br + 1] : b[q * br + 1];
        for (int r = 0; r < rows; r++) {
          const T u = column[r * ar], v = g->conj_a ? -column[r * ar + 1] : column[r * ar + 1];
          re[r] += KERNEL_LESS(u * x, v * y);
          im[r] += u * y + v * x;
        }
#endif
      }
      for (int r = 0; r < rows; r++) NAME(add)(c + r * cr, alpha, re[r], im[r], is_fresh && p == 0);
    }
  }
}

/* c = beta · c. */
static void NAME(scale)(const blas_gemm *g, const T *beta) {
  for (int64_t j = 0; j < g->n; j++)
    for (int64_t i = 0; i < g->m; i++) {
      T *c = (T *)g->c + (i * g->c_row + j * g->c_col) * PARTS;
#if PARTS == 1
      *c = beta[0] == 0 ? 0 : beta[0] * *c;
#else
      const bool zero = beta[0] == 0 && beta[1] == 0;
      const T re = zero ? 0 : KERNEL_LESS(beta[0] * c[0], beta[1] * c[1]),
              im = zero ? 0 : beta[0] * c[1] + beta[1] * c[0];
      c[0] = re;
      c[1] = im;
#endif
    }
}

static void NAME(gemm)(const blas_gemm *g) {
  const T alpha[2] = {(T)g->alpha.re, (T)g->alpha.im}, beta[2] = {(T)g->beta.re, (T)g->beta.im};
  const bool no_product = g->k <= 0 || (alpha[0] == 0 && (PARTS == 1 || alpha[1] == 0));
  const bool is_fresh = beta[0] == 0 && (PARTS == 1 || beta[1] == 0);
  blas_gemm t = *g;
  if (g->m <= 0 || g->n <= 0) return;
  if (no_product || !(is_fresh || (beta[0] == 1 && (PARTS == 1 || beta[1] == 0)))) NAME(scale)(g, beta);
  if (no_product) return;
  /* cᵀ = bᵀ aᵀ where the vector is the row, or the rows of c are contiguous: each sum has the same terms. */
  if (g->n > 1 && (g->m == 1 || (g->c_row != 1 && g->c_col == 1)))
    t = (blas_gemm){.m = g->n,
                    .n = g->m,
                    .k = g->k,
                    .a = g->b,
                    .b = g->a,
                    .c = g->c,
                    .a_row = g->b_col,
                    .a_col = g->b_row,
                    .b_row = g->a_col,
                    .b_col = g->a_row,
                    .c_row = g->c_col,
                    .c_col = g->c_row,
                    .conj_a = g->conj_b,
                    .conj_b = g->conj_a};
  if (t.n == 1)
    NAME(vector_product)(&t, alpha, is_fresh);
  else
    NAME(blocks)(&t, alpha, is_fresh);
}

#undef W
#undef MR
#undef NR
#undef MC
#undef NC
#undef KC
#undef INLINE
#undef NAME
#undef T
#undef PARTS
#undef VECTOR
