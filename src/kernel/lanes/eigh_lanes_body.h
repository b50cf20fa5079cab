/* eigh_lanes_body: Jacobi's method for one element type. Included with T (element), NAME, ROOT (its square root), ABS and
 * EPS (its unit of rounding).
 *
 * Rotations in the planes (p, q), row by row, make a(p, q) 0; after each sweep over all planes what is left off the
 * diagonal is squared (Golub and Van Loan, Matrix Computations, 8.5). All lanes do the same steps, until the last one
 * has converged.
 */

#define INLINE static inline __attribute__((always_inline))

/* One rotation: of a whole symmetric matrix, and of the columns p and q of v. */
INLINE void NAME(rotate)(T *restrict a, T *restrict v, const int n, const int p, const int q) {
  T *const app = a + (p * n + p) * EIGH_LANES, *const aqq = a + (q * n + q) * EIGH_LANES;
  T *const apq = a + (p * n + q) * EIGH_LANES, *const aqp = a + (q * n + p) * EIGH_LANES;
  T cosine[EIGH_LANES], sine[EIGH_LANES];
  for (int l = 0; l < EIGH_LANES; l++) {
    const T d = aqq[l] - app[l], twice = 2 * apq[l];
    const T h = ABS(d) + ROOT(d * d + twice * twice);
    T t = twice / (h > 0 ? h : 1);
    t = d < 0 ? -t : t;
    cosine[l] = 1 / ROOT(1 + t * t);
    sine[l] = t * cosine[l];
    app[l] -= t * apq[l];
    aqq[l] += t * apq[l];
    apq[l] = aqp[l] = 0;
  }
  for (int k = 0; k < n; k++) {
    if (k == p || k == q) continue;
    T *const akp = a + (k * n + p) * EIGH_LANES, *const akq = a + (k * n + q) * EIGH_LANES;
    T *const apk = a + (p * n + k) * EIGH_LANES, *const aqk = a + (q * n + k) * EIGH_LANES;
    for (int l = 0; l < EIGH_LANES; l++) {
      const T x = akp[l], y = akq[l];
      akp[l] = apk[l] = cosine[l] * x - sine[l] * y;
      akq[l] = aqk[l] = sine[l] * x + cosine[l] * y;
    }
  }
  for (int k = 0; k < n && v != NULL; k++) {
    T *const vkp = v + (k * n + p) * EIGH_LANES, *const vkq = v + (k * n + q) * EIGH_LANES;
    for (int l = 0; l < EIGH_LANES; l++) {
      const T x = vkp[l], y = vkq[l];
      vkp[l] = cosine[l] * x - sine[l] * y;
      vkq[l] = sine[l] * x + cosine[l] * y;
    }
  }
}

INLINE bool NAME(jacobi)(T *restrict a, T *restrict v, const int n) {
  for (int i = 0; v != NULL && i < n * n; i++)
    for (int l = 0; l < EIGH_LANES; l++) v[i * EIGH_LANES + l] = i % (n + 1) == 0;
  for (int sweep = 0; sweep < 40; sweep++) {
    T off[EIGH_LANES] = {0}, on[EIGH_LANES] = {0};
    bool done = true;
    for (int i = 0; i < n; i++) {
      for (int j = i; j < n; j++) {
        const T *const x = a + (i * n + j) * EIGH_LANES;
        T *const sum = i == j ? on : off;
        for (int l = 0; l < EIGH_LANES; l++) sum[l] += x[l] * x[l];
      }
    }
    for (int l = 0; l < EIGH_LANES; l++) done = done && off[l] <= EPS * EPS * on[l];
    if (done) return true;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) NAME(rotate)(a, v, n, p, q);
  }
  return false;
}

/* The frequent orders as constants, which unroll the loops. */
static bool NAME(run)(void *a, void *v, int n) {
  if (n == 2) return v != NULL ? NAME(jacobi)(a, v, 2) : NAME(jacobi)(a, NULL, 2);
  if (n == 3) return v != NULL ? NAME(jacobi)(a, v, 3) : NAME(jacobi)(a, NULL, 3);
  return NAME(jacobi)(a, v, n);
}

#undef INLINE
#undef T
#undef NAME
#undef ROOT
#undef ABS
#undef EPS
