/* lapack_own_body: the factorizations of one element type. Included with T, R (the type of its real part), PREFIX
 * (LAPACK's letter), DTYPE and PARTS (1; 2: complex), which are undefined at the end. */
#define NAME(f) OWN_NAME(f, PREFIX)
#if PARTS == 2
#define REAL(x) ((R)creal(x))
#define CONJ(x) ((T)conj(x))
#define SIZE1(x) ((R)(fabs(creal(x)) + fabs(cimag(x))))
#else
#define REAL(x) (x)
#define CONJ(x) (x)
#define SIZE1(x) ((R)fabs((double)(x)))
#endif

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* An operand of a product. */
typedef struct NAME(operand) {
  const T *at;
  int64_t rs, cs;
  bool conj;
} NAME(operand);

/* c = alpha · a · b + beta · c; a is m × k. */
static void NAME(product)(int64_t m, int64_t n, int64_t k, R alpha, NAME(operand) a, NAME(operand) b, R beta, T *c,
                          int64_t c_rs, int64_t c_cs) {
  const blas_gemm g = {.m = m,
                       .n = n,
                       .k = k,
                       .a = a.at,
                       .b = b.at,
                       .c = c,
                       .a_row = a.rs,
                       .a_col = a.cs,
                       .b_row = b.rs,
                       .b_col = b.cs,
                       .c_row = c_rs,
                       .c_col = c_cs,
                       .conj_a = a.conj,
                       .conj_b = b.conj,
                       .alpha = {(double)alpha, 0},
                       .beta = {(double)beta, 0}};
  blas_base.gemm[DTYPE](&g);
}

static void NAME(gemm)(const char *transa, const char *transb, lapack_in m, lapack_in n, lapack_in k, const void *alpha,
                       const void *a, lapack_in lda, const void *b, lapack_in ldb, const void *beta, void *c,
                       lapack_in ldc, size_t la, size_t lb) {
  const bool ta = *transa != 'N', tb = *transb != 'N';
  T al, be;
  memcpy(&al, alpha, sizeof al);
  memcpy(&be, beta, sizeof be);
  (void)la, (void)lb;
  NAME(product)
  (*m, *n, *k, REAL(al), (NAME(operand)){a, ta ? *lda : 1, ta ? 1 : *lda, *transa == 'C'},
   (NAME(operand)){b, tb ? *ldb : 1, tb ? 1 : *ldb, *transb == 'C'}, REAL(be), c, 1, *ldc);
}

/* ---- Triangular systems ------------------------------------------------------------------------------------------ */

/* x of A·x = b, over b (n × k), for the lower or upper triangle A, or its conjugate. */
static void NAME(solve)(bool lower, bool unit, bool conjugate, int64_t n, int64_t k, const T *a, int64_t rs, int64_t cs,
                        T *b, int64_t b_rs, int64_t b_cs) {
  if (n <= OWN_SMALL) {
    for (int64_t j = 0; j < k; j++, b += b_cs) {
      for (int64_t step = 0; step < n; step++) {
        const int64_t i = lower ? step : n - 1 - step, first = lower ? i + 1 : 0, end = lower ? n : i;
        const T d = a[i * (rs + cs)];
        const T x = unit ? b[i * b_rs] : b[i * b_rs] / (conjugate ? CONJ(d) : d);
        b[i * b_rs] = x;
        for (int64_t r = first; r < end; r++)
          b[r * b_rs] -= (conjugate ? CONJ(a[r * rs + i * cs]) : a[r * rs + i * cs]) * x;
      }
    }
    return;
  }
  const int64_t half = n / 2;
  const T *a2 = a + half * (rs + cs), *off = lower ? a + half * rs : a + half * cs;
  T *b2 = b + half * b_rs;
  if (lower) {
    NAME(solve)(lower, unit, conjugate, half, k, a, rs, cs, b, b_rs, b_cs);
    NAME(product)
    (n - half, k, half, -1, (NAME(operand)){off, rs, cs, conjugate}, (NAME(operand)){b, b_rs, b_cs, false}, 1, b2, b_rs,
     b_cs);
    NAME(solve)(lower, unit, conjugate, n - half, k, a2, rs, cs, b2, b_rs, b_cs);
  } else {
    NAME(solve)(lower, unit, conjugate, n - half, k, a2, rs, cs, b2, b_rs, b_cs);
    NAME(product)
    (half, k, n - half, -1, (NAME(operand)){off, rs, cs, conjugate}, (NAME(operand)){b2, b_rs, b_cs, false}, 1, b, b_rs,
     b_cs);
    NAME(solve)(lower, unit, conjugate, half, k, a, rs, cs, b, b_rs, b_cs);
  }
}

/* alpha is 1. */
static void NAME(trsm)(const char *side, const char *uplo, const char *transa, const char *diag, lapack_in m,
                       lapack_in n, const void *alpha, const void *a, lapack_in lda, void *b, lapack_in ldb, size_t l1,
                       size_t l2, size_t l3, size_t l4) {
  /* X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ. */
  const bool left = *side == 'L', transposed = (*transa != 'N') == left, lower = (*uplo == 'L') != transposed;
  (void)alpha, (void)l1, (void)l2, (void)l3, (void)l4;
  NAME(solve)
  (lower, *diag == 'U', *transa == 'C', left ? *m : *n, left ? *n : *m, a, transposed ? *lda : 1, transposed ? 1 : *lda,
   b, left ? 1 : *ldb, left ? *ldb : 1);
}

static void NAME(trsv)(const char *uplo, const char *trans, const char *diag, lapack_in n, const void *a, lapack_in lda,
                       void *x, lapack_in incx, size_t l1, size_t l2, size_t l3) {
  const bool transposed = *trans != 'N';
  (void)l1, (void)l2, (void)l3;
  NAME(solve)
  ((*uplo == 'L') != transposed, *diag == 'U', *trans == 'C', *n, 1, a, transposed ? *lda : 1, transposed ? 1 : *lda, x,
   *incx, 0);
}

/* ---- LU ---------------------------------------------------------------------------------------------------------- */

static void NAME(swap_rows)(T *a, int64_t ld, int64_t n, int64_t i, int64_t p) {
  if (i == p) return;
  for (int64_t j = 0; j < n; j++) {
    const T t = a[i + j * ld];
    a[i + j * ld] = a[p + j * ld];
    a[p + j * ld] = t;
  }
}

/* Makes the exchanges of k pivots, counted from 1, in n columns; backwards: undoes them. */
static void NAME(permute)(T *a, int64_t ld, int64_t n, int64_t k, const lapack_int *ipiv, bool backwards) {
  for (int64_t i = 0; i < k; i++) {
    const int64_t row = backwards ? k - 1 - i : i;
    NAME(swap_rows)(a, ld, n, row, ipiv[row] - 1);
  }
}

/* A column at a time. Returns the number of the first pivot that is 0; 0: there is none. */
static lapack_int NAME(lu_small)(int64_t m, int64_t n, T *a, int64_t ld, lapack_int *ipiv) {
  lapack_int info = 0;
  for (int64_t j = 0; j < m && j < n; j++) {
    T *column = a + j * ld;
    int64_t p = j;
    for (int64_t i = j + 1; i < m; i++) p = SIZE1(column[i]) > SIZE1(column[p]) ? i : p;
    ipiv[j] = (lapack_int)p + 1;
    if (column[p] == 0) {
      if (info == 0) info = (lapack_int)j + 1;
      continue;
    }
    NAME(swap_rows)(a, ld, n, j, p);
    for (int64_t i = j + 1; i < m; i++) column[i] /= column[j];
    for (int64_t k = j + 1; k < n; k++) {
      T *other = a + k * ld;
      const T x = other[j];
      for (int64_t i = j + 1; i < m; i++) other[i] -= column[i] * x;
    }
  }
  return info;
}

/* The left half of the columns, then the right half with what the left one leaves of it (S. Toledo, Locality of
 * reference in LU decomposition with partial pivoting, SIAM J. Matrix Anal. Appl. 18, 1997). */
static lapack_int NAME(lu)(int64_t m, int64_t n, T *a, int64_t ld, lapack_int *ipiv) {
  const int64_t least = m < n ? m : n, half = least / 2, rest = least - half;
  if (least <= OWN_SMALL) return NAME(lu_small)(m, n, a, ld, ipiv);
  T *right = a + half * ld;
  const lapack_int first = NAME(lu)(m, half, a, ld, ipiv);
  NAME(permute)(right, ld, n - half, half, ipiv, false);
  NAME(solve)(true, true, false, half, n - half, a, 1, ld, right, 1, ld);
  NAME(product)
  (m - half, n - half, half, -1, (NAME(operand)){a + half, 1, ld, false}, (NAME(operand)){right, 1, ld, false}, 1,
   right + half, 1, ld);
  const lapack_int second = NAME(lu)(m - half, n - half, right + half, ld, ipiv + half);
  NAME(permute)(a + half, ld, half, rest, ipiv + half, false);
  for (int64_t i = half; i < least; i++) ipiv[i] += (lapack_int)half;
  return first != 0 ? first : second != 0 ? second + (lapack_int)half : 0;
}

static void NAME(getrf)(lapack_in m, lapack_in n, void *a, lapack_in lda, lapack_int *ipiv, lapack_int *info) {
  *info = NAME(lu)(*m, *n, a, *lda, ipiv);
}

static void NAME(getrs)(const char *trans, lapack_in n, lapack_in nrhs, const void *a, lapack_in lda,
                        const lapack_int *ipiv, void *b, lapack_in ldb, lapack_int *info, size_t l) {
  const bool conjugate = *trans == 'C';
  (void)l;
  *info = 0;
  if (*trans == 'N') {
    NAME(permute)(b, *ldb, *nrhs, *n, ipiv, false);
    NAME(solve)(true, true, false, *n, *nrhs, a, 1, *lda, b, 1, *ldb);
    NAME(solve)(false, false, false, *n, *nrhs, a, 1, *lda, b, 1, *ldb);
  } else {
    NAME(solve)(true, false, conjugate, *n, *nrhs, a, *lda, 1, b, 1, *ldb);
    NAME(solve)(false, true, conjugate, *n, *nrhs, a, *lda, 1, b, 1, *ldb);
    NAME(permute)(b, *ldb, *nrhs, *n, ipiv, true);
  }
}

/* The inverse of an upper triangle, over it: of (U₁ X; 0 U₂) it is (U₁⁻¹ -U₁⁻¹·X·U₂⁻¹; 0 U₂⁻¹). */
static void NAME(invert_upper)(int64_t n, T *a, int64_t ld) {
  if (n <= 1) {
    if (n == 1) *a = 1 / *a;
    return;
  }
  const int64_t half = n / 2;
  T *off = a + half * ld, *a2 = off + half;
  NAME(solve)(false, false, false, half, n - half, a, 1, ld, off, 1, ld);
  NAME(solve)(true, false, false, n - half, half, a2, ld, 1, off, ld, 1);
  for (int64_t j = 0; j < n - half; j++)
    for (int64_t i = 0; i < half; i++) off[i + j * ld] = -off[i + j * ld];
  NAME(invert_upper)(half, a, ld);
  NAME(invert_upper)(n - half, a2, ld);
}

/* A⁻¹ = U⁻¹·L⁻¹·P: solves X·L = U⁻¹ from the last block of columns on, over what L has been. */
static void NAME(getri)(lapack_in n_at, void *a_at, lapack_in lda, const lapack_int *ipiv, void *work_at,
                        lapack_in lwork, lapack_int *info) {
  const int64_t n = *n_at, ld = *lda;
  const lapack_int block = own_block(n, *n_at);
  T *a = a_at, *work = work_at;
  *info = 0;
  if (*lwork < 0) {
    const R length = (R)(n > 0 ? n * block : 1);
    memcpy(work_at, &length, sizeof length);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    if (a[i * (ld + 1)] == 0) {
      *info = (lapack_int)i + 1;
      return;
    }
  }
  NAME(invert_upper)(n, a, ld);
  for (int64_t at = n > 0 ? (n - 1) / block * block : -1; at >= 0; at -= block) {
    const int64_t some = n - at < block ? n - at : block, end = at + some;
    for (int64_t j = 0; j < some; j++) {
      for (int64_t i = at + j + 1; i < n; i++) {
        work[i + j * n] = a[i + (at + j) * ld];
        a[i + (at + j) * ld] = 0;
      }
    }
    NAME(product)
    (n, some, n - end, -1, (NAME(operand)){a + end * ld, 1, ld, false}, (NAME(operand)){work + end, 1, n, false}, 1,
     a + at * ld, 1, ld);
    NAME(solve)(false, true, false, some, n, work + at, n, 1, a + at * ld, ld, 1);
  }
  for (int64_t j = n - 1; j >= 0; j--) {
    const int64_t p = ipiv[j] - 1;
    for (int64_t i = 0; i < n && p != j; i++) {
      const T t = a[i + j * ld];
      a[i + j * ld] = a[i + p * ld];
      a[i + p * ld] = t;
    }
  }
}

/* ---- Cholesky ---------------------------------------------------------------------------------------------------- */

/* The lower triangle of c, n × n, minus that of a·aᴴ; a is n × k. */
static void NAME(downdate)(int64_t n, int64_t k, const T *a, T *c, int64_t rs, int64_t cs) {
  if (n <= OWN_SMALL) {
    for (int64_t p = 0; p < k; p++) {
      const T *column = a + p * cs;
      for (int64_t j = 0; j < n; j++) {
        const T x = CONJ(column[j * rs]);
        for (int64_t i = j; i < n; i++) c[i * rs + j * cs] -= column[i * rs] * x;
      }
    }
    return;
  }
  const int64_t half = n / 2;
  const T *a2 = a + half * rs;
  NAME(downdate)(half, k, a, c, rs, cs);
  NAME(product)
  (n - half, half, k, -1, (NAME(operand)){a2, rs, cs, false}, (NAME(operand)){a, cs, rs, true}, 1, c + half * rs, rs,
   cs);
  NAME(downdate)(n - half, k, a2, c + half * (rs + cs), rs, cs);
}

/* L of A = L·Lᴴ over the lower triangle, by halves. Returns the order of the first leading minor that is not positive; 0:
 * there is none. */
static lapack_int NAME(cholesky)(int64_t n, T *a, int64_t rs, int64_t cs) {
  if (n <= OWN_SMALL) {
    for (int64_t j = 0; j < n; j++) {
      T *column = a + j * cs;
      R d = REAL(column[j * rs]);
      for (int64_t p = 0; p < j; p++) d -= REAL(a[j * rs + p * cs] * CONJ(a[j * rs + p * cs]));
      if (!(d > 0)) return (lapack_int)j + 1;
      d = (R)sqrt((double)d);
      column[j * rs] = d;
      for (int64_t p = 0; p < j; p++) {
        const T x = CONJ(a[j * rs + p * cs]);
        for (int64_t i = j + 1; i < n; i++) column[i * rs] -= a[i * rs + p * cs] * x;
      }
      for (int64_t i = j + 1; i < n; i++) column[i * rs] /= d;
    }
    return 0;
  }
  const int64_t half = n / 2;
  T *a2 = a + half * rs;
  const lapack_int first = NAME(cholesky)(half, a, rs, cs);
  if (first != 0) return first;
  /* X·Lᴴ = A₂₁ is conj(L)·Xᵀ = A₂₁ᵀ. */
  NAME(solve)(true, false, true, half, n - half, a, rs, cs, a2, cs, rs);
  NAME(downdate)(n - half, half, a2, a2 + half * cs, rs, cs);
  const lapack_int second = NAME(cholesky)(n - half, a2 + half * cs, rs, cs);
  return second != 0 ? second + (lapack_int)half : 0;
}

/* The transpose of U in A = Uᴴ·U is L of Aᵀ = L·Lᴴ. */
static void NAME(potrf)(const char *uplo, lapack_in n, void *a, lapack_in lda, lapack_int *info, size_t l) {
  const bool lower = *uplo == 'L';
  (void)l;
  *info = NAME(cholesky)(*n, a, lower ? 1 : *lda, lower ? *lda : 1);
}

static void NAME(potrs)(const char *uplo, lapack_in n, lapack_in nrhs, const void *a, lapack_in lda, void *b,
                        lapack_in ldb, lapack_int *info, size_t l) {
  const bool lower = *uplo == 'L';
  (void)l;
  *info = 0;
  NAME(solve)(true, false, !lower, *n, *nrhs, a, lower ? 1 : *lda, lower ? *lda : 1, b, 1, *ldb);
  NAME(solve)(false, false, lower, *n, *nrhs, a, lower ? *lda : 1, lower ? 1 : *lda, b, 1, *ldb);
}

/* ---- QR ---------------------------------------------------------------------------------------------------------- */

/* H = I - τ·v·vᴴ with v₁ = 1 such that Hᴴ·x is a real multiple of the first unit vector: the multiple goes to x[0], the rest
 * of v to x[1…]. Returns τ. */
static T NAME(reflect)(int64_t n, T *x) {
  R most = 0, sum = 0;
  for (int64_t i = 1; i < n; i++) most = SIZE1(x[i]) > most ? SIZE1(x[i]) : most;
#if PARTS == 2
  const R im = (R)cimag(x[0]);
#else
  const R im = 0;
#endif
  if (most == 0 && im == 0) return 0;
  if (most > 0) {
    for (int64_t i = 1; i < n; i++) {
      const T y = x[i] / most;
      sum += REAL(y * CONJ(y));
    }
  }
  const double norm = hypot(hypot((double)REAL(x[0]), (double)im), (double)most * sqrt((double)sum));
  const R beta = (R)(REAL(x[0]) < 0 ? norm : -norm);
  const T tau = (beta - x[0]) / beta, scale = 1 / (x[0] - beta);
  for (int64_t i = 1; i < n; i++) x[i] *= scale;
  x[0] = beta;
  return tau;
}

/* c = (I - τ·v·vᴴ)·c for c of m × n, v₁ = 1. */
static void NAME(apply_one)(int64_t m, int64_t n, const T *v, T tau, T *c, int64_t ld) {
  for (int64_t j = 0; j < n; j++, c += ld) {
    T sum = c[0];
    for (int64_t i = 1; i < m; i++) sum += CONJ(v[i]) * c[i];
    sum *= tau;
    c[0] -= sum;
    for (int64_t i = 1; i < m; i++) c[i] -= v[i] * sum;
  }
}

/* Workspace of blocks of k reflections of m rows, for n columns: V (m × k), T (k × k), and twice k × n. */
static int64_t NAME(qr_rows)(int64_t m, int64_t n) { return m + OWN_BLOCK + 2 * n; }

/* Copies the k vectors below the diagonal of a to v (m × k) with their ones and zeros, and makes T, upper triangular, of
 * H₁·H₂·…·H_k = I - V·T·Vᴴ (R. Schreiber, C. Van Loan, SIAM J. Sci. Stat. Comput. 10, 1989). */
static void NAME(gather)(int64_t m, int64_t k, const T *a, int64_t ld, const T *tau, T *v, T *t) {
  for (int64_t j = 0; j < k; j++) {
    for (int64_t i = 0; i < m; i++) v[i + j * m] = i < j ? 0 : i == j ? 1 : a[i + j * ld];
  }
  for (int64_t j = 0; j < k; j++) {
    T *column = t + j * k;
    for (int64_t i = 0; i < j; i++) {
      T sum = 0;
      for (int64_t p = j; p < m; p++) sum += CONJ(v[p + i * m]) * v[p + j * m];
      column[i] = -tau[j] * sum;
    }
    for (int64_t i = 0; i < j; i++) { /* T₁·column: row i reads entries from i on */
      T sum = 0;
      for (int64_t p = i; p < j; p++) sum += t[i + p * k] * column[p];
      column[i] = sum;
    }
    column[j] = tau[j];
    for (int64_t i = j + 1; i < k; i++) column[i] = 0;
  }
}

/* c = (I - V·T·Vᴴ)·c, or with `adjoint` its adjoint, for c of m × n. w: 2·k·n entries. */
static void NAME(apply)(int64_t m, int64_t n, int64_t k, const T *v, const T *t, bool adjoint, T *c, int64_t ld, T *w) {
  T *w2 = w + k * n;
  NAME(product)
  (k, n, m, 1, (NAME(operand)){v, m, 1, true}, (NAME(operand)){c, 1, ld, false}, 0, w, 1, k);
  NAME(product)
  (k, n, k, 1, (NAME(operand)){t, adjoint ? k : 1, adjoint ? 1 : k, adjoint}, (NAME(operand)){w, 1, k, false}, 0, w2, 1,
   k);
  NAME(product)
  (m, n, k, -1, (NAME(operand)){v, 1, m, false}, (NAME(operand)){w2, 1, k, false}, 1, c, 1, ld);
}

/* Writes the length of work for a query, lwork -1. */
static bool NAME(qr_query)(int64_t m, int64_t n, lapack_int block, void *work, lapack_in lwork) {
  const R length = (R)(NAME(qr_rows)(m, n) * block);
  if (*lwork >= 0) return false;
  memcpy(work, &length, sizeof length);
  return true;
}

static void NAME(geqrf)(lapack_in m_at, lapack_in n_at, void *a_at, lapack_in lda, void *tau_at, void *work,
                        lapack_in lwork, lapack_int *info) {
  const int64_t m = *m_at, n = *n_at, k = m < n ? m : n, ld = *lda;
  const lapack_int block = own_block(NAME(qr_rows)(m, n), (lapack_int)k);
  T *a = a_at, *tau = tau_at, *v = work, *t = v + m * block, *w = t + (int64_t)block * block;
  *info = 0;
  if (NAME(qr_query)(m, n, block, work, lwork)) return;
  for (int64_t at = 0; at < k; at += block) {
    const int64_t some = k - at < block ? k - at : block, end = at + some;
    for (int64_t j = at; j < end; j++) {
      T *column = a + j + j * ld;
      tau[j] = NAME(reflect)(m - j, column);
      NAME(apply_one)(m - j, end - j - 1, column, CONJ(tau[j]), column + ld, ld);
    }
    if (end >= n) break;
    T *corner = a + at * (ld + 1);
    NAME(gather)(m - at, some, corner, ld, tau + at, v, t);
    NAME(apply)(m - at, n - end, some, v, t, true, corner + some * ld, ld, w);
  }
}

/* Q's first n columns: the reflections from the last block on, applied to columns of the identity. */
static void NAME(orgqr)(lapack_in m_at, lapack_in n_at, lapack_in k_at, void *a_at, lapack_in lda, const void *tau_at,
                        void *work, lapack_in lwork, lapack_int *info) {
  const int64_t m = *m_at, n = *n_at, k = *k_at, ld = *lda;
  const lapack_int block = own_block(NAME(qr_rows)(m, n), *k_at);
  const T *tau = tau_at;
  T *a = a_at, *v = work, *t = v + m * block, *w = t + (int64_t)block * block;
  *info = 0;
  if (NAME(qr_query)(m, n, block, work, lwork)) return;
  for (int64_t j = k; j < n; j++)
    for (int64_t i = 0; i < m; i++) a[i + j * ld] = i == j;
  for (int64_t at = k > 0 ? (k - 1) / block * block : -1; at >= 0; at -= block) {
    const int64_t some = k - at < block ? k - at : block;
    T *corner = a + at * (ld + 1);
    NAME(gather)(m - at, some, corner, ld, tau + at, v, t);
    for (int64_t j = at; j < at + some; j++)
      for (int64_t i = 0; i < m; i++) a[i + j * ld] = i == j;
    NAME(apply)(m - at, n - at, some, v, t, false, corner, ld, w);
  }
}

#undef NAME
#undef REAL
#undef CONJ
#undef SIZE1
#undef T
#undef R
#undef PREFIX
#undef DTYPE
#undef PARTS
