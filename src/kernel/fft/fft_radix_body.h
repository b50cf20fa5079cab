/* fft_radix_body: butterflies, and passes made of them, for one type E of numbers: T, or a vector of E_COUNT of them. The
 * including file defines T, E, E_COUNT and EN(f).
 */

/* ---- Butterflies: transforms of a few points, in place ----------------------------------------------------------- */

static inline __attribute__((always_inline)) void EN(dft2)(E *r, E *i) {
  const E ar = r[0], ai = i[0];
  r[0] = ar + r[1], i[0] = ai + i[1];
  r[1] = ar - r[1], i[1] = ai - i[1];
}

static inline __attribute__((always_inline)) void EN(dft3)(E *r, E *i) {
  const T half_root3 = (T)0.866025403784438646763723170752936183;
  const E tr = r[1] + r[2], ti = i[1] + i[2], ur = half_root3 * (r[1] - r[2]), ui = half_root3 * (i[1] - i[2]);
  const E mr = r[0] - (T)0.5 * tr, mi = i[0] - (T)0.5 * ti;
  r[0] += tr, i[0] += ti;
  r[1] = mr + ui, i[1] = mi - ur;
  r[2] = mr - ui, i[2] = mi + ur;
}

static inline __attribute__((always_inline)) void EN(dft4)(E *r, E *i) {
  const E sr = r[0] + r[2], si = i[0] + i[2], dr = r[0] - r[2], di = i[0] - i[2];
  const E tr = r[1] + r[3], ti = i[1] + i[3], er = r[1] - r[3], ei = i[1] - i[3];
  r[0] = sr + tr, i[0] = si + ti;
  r[2] = sr - tr, i[2] = si - ti;
  r[1] = dr + ei, i[1] = di - er;
  r[3] = dr - ei, i[3] = di + er;
}

static inline __attribute__((always_inline)) void EN(dft5)(E *r, E *i) {
  const T c1 = (T)0.309016994374947424102293417182819059, c2 = (T)-0.809016994374947424102293417182819059;
  const T s1 = (T)0.951056516295153572116439333379382143, s2 = (T)0.587785252292473129168705954639072769;
  const E ar = r[1] + r[4], ai = i[1] + i[4], br = r[1] - r[4], bi = i[1] - i[4];
  const E cr = r[2] + r[3], ci = i[2] + i[3], dr = r[2] - r[3], di = i[2] - i[3];
  const E pr = r[0] + c1 * ar + c2 * cr, pi = i[0] + c1 * ai + c2 * ci;
  const E qr = r[0] + c2 * ar + c1 * cr, qi = i[0] + c2 * ai + c1 * ci;
  const E ur = s1 * bi + s2 * di, ui = s1 * br + s2 * dr, vr = s2 * bi - s1 * di, vi = s2 * br - s1 * dr;
  r[0] += ar + cr, i[0] += ai + ci;
  r[1] = pr + ur, i[1] = pi - ui;
  r[4] = pr - ur, i[4] = pi + ui;
  r[2] = qr + vr, i[2] = qi - vi;
  r[3] = qr - vr, i[3] = qi + vi;
}

static inline __attribute__((always_inline)) void EN(dft8)(E *r, E *i) {
  const T h = (T)0.707106781186547524400844362104849039;
  E er[4] = {r[0], r[2], r[4], r[6]}, ei[4] = {i[0], i[2], i[4], i[6]};
  E or [4] = {r[1], r[3], r[5], r[7]}, oi[4] = {i[1], i[3], i[5], i[7]};
  EN(dft4)(er, ei);
  EN(dft4)(or, oi);
  const E wr[4] = { or [0], h * (or [1] + oi[1]), oi[2], h * (oi[3] - or [3])};
  const E wi[4] = {oi[0], h * (oi[1] - or [1]), - or [2], -h * (oi[3] + or [3])};
  for (int k = 0; k < 4; k++) {
    r[k] = er[k] + wr[k], i[k] = ei[k] + wi[k];
    r[k + 4] = er[k] - wr[k], i[k + 4] = ei[k] - wi[k];
  }
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* E_COUNT of the neighbours, from q on, of one p. */
static inline __attribute__((always_inline)) void EN(group)(const int radix, void (*dft)(E *, E *), int64_t m,
                                                            int64_t s, int64_t p, int64_t q, const T *cr, const T *ci,
                                                            const T *xr, const T *xi, T *yr, T *yi) {
  E r[8], i[8];
  for (int k = 0; k < radix; k++) {
    r[k] = *(const E *)(xr + (p + m * k) * s + q);
    i[k] = *(const E *)(xi + (p + m * k) * s + q);
  }
  dft(r, i);
  *(E *)(yr + radix * p * s + q) = r[0];
  *(E *)(yi + radix * p * s + q) = i[0];
  for (int j = 1; j < radix; j++) {
    *(E *)(yr + (radix * p + j) * s + q) = r[j] * cr[j] - i[j] * ci[j];
    *(E *)(yi + (radix * p + j) * s + q) = r[j] * ci[j] + i[j] * cr[j];
  }
}

/* A pass over at least E_COUNT neighbours; the last group may repeat some of the one before. */
static inline __attribute__((always_inline)) void EN(pass)(const int radix, void (*dft)(E *, E *), const fft_stage *g,
                                                           thread_pool *pool, int64_t s, const T *restrict xr,
                                                           const T *restrict xi, T *restrict yr, T *restrict yi) {
  const int64_t m = g->m;
  const T *wr = g->re, *wi = g->im;
  int64_t since = 0;
  for (int64_t p = 0; p < m; p++) {
    T cr[8], ci[8];
    for (int j = 1; j < radix; j++) cr[j] = wr[(j - 1) * m + p], ci[j] = wi[(j - 1) * m + p];
    int64_t q = 0;
    while (q + E_COUNT <= s) {
      const int64_t end = pool != NULL && s - q > FFT_PART / 2 ? q + FFT_PART / 2 : s;
      const int64_t from = q;
      for (; q + E_COUNT <= end; q += E_COUNT) EN(group)(radix, dft, m, s, p, q, cr, ci, xr, xi, yr, yi);
      if (pool != NULL && (since += q - from) >= FFT_PART / 2) pool_point(pool), since = 0;
    }
    if (q < s) EN(group)(radix, dft, m, s, p, s - E_COUNT, cr, ci, xr, xi, yr, yi);
  }
}

/* The pass without neighbours, over at least E_COUNT places p; the last group may repeat some of the one before. */
static inline __attribute__((always_inline)) void EN(first)(const int radix, void (*dft)(E *, E *), const fft_stage *g,
                                                            thread_pool *pool, const T *restrict xr,
                                                            const T *restrict xi, T *restrict yr, T *restrict yi) {
  const int64_t m = g->m;
  const T *wr = g->re, *wi = g->im;
  for (int64_t next = 0; next < m; next += E_COUNT) {
    const int64_t p = next + E_COUNT <= m ? next : m - E_COUNT;
    if (pool != NULL && next % (FFT_PART / 2) == 0) pool_point(pool);
    E r[8], i[8];
    for (int k = 0; k < radix; k++) r[k] = *(const E *)(xr + p + m * k), i[k] = *(const E *)(xi + p + m * k);
    dft(r, i);
    for (int j = 1; j < radix; j++) {
      const E c = *(const E *)(wr + (j - 1) * m + p), d = *(const E *)(wi + (j - 1) * m + p);
      const E re = r[j] * c - i[j] * d, im = r[j] * d + i[j] * c;
      r[j] = re, i[j] = im;
    }
    const T *re = (const T *)r, *im = (const T *)i;
    T *zr = yr + radix * p, *zi = yi + radix * p;
    for (int v = 0; v < E_COUNT; v++) {
      for (int j = 0; j < radix; j++) zr[radix * v + j] = re[j * E_COUNT + v], zi[radix * v + j] = im[j * E_COUNT + v];
    }
  }
}

static void EN(run)(const fft_stage *g, thread_pool *pool, int64_t s, const T *xr, const T *xi, T *yr, T *yi) {
  switch (g->radix) {
    case 2: EN(pass)(2, EN(dft2), g, pool, s, xr, xi, yr, yi); return;
    case 3: EN(pass)(3, EN(dft3), g, pool, s, xr, xi, yr, yi); return;
    case 4: EN(pass)(4, EN(dft4), g, pool, s, xr, xi, yr, yi); return;
    case 5: EN(pass)(5, EN(dft5), g, pool, s, xr, xi, yr, yi); return;
    default: EN(pass)(8, EN(dft8), g, pool, s, xr, xi, yr, yi); return;
  }
}

static void EN(run_first)(const fft_stage *g, thread_pool *pool, const T *xr, const T *xi, T *yr, T *yi) {
  switch (g->radix) {
    case 2: EN(first)(2, EN(dft2), g, pool, xr, xi, yr, yi); return;
    case 3: EN(first)(3, EN(dft3), g, pool, xr, xi, yr, yi); return;
    case 4: EN(first)(4, EN(dft4), g, pool, xr, xi, yr, yi); return;
    case 5: EN(first)(5, EN(dft5), g, pool, xr, xi, yr, yi); return;
    default: EN(first)(8, EN(dft8), g, pool, xr, xi, yr, yi); return;
  }
}

#undef E
#undef E_COUNT
#undef EN
