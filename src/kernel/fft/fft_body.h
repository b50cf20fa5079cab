/* fft_body: the transforms for one type of real numbers and one instruction set. The including file defines T, VECTOR
 * (the bytes of a vector) and NAME(f).
 *
 * Complex values are kept as two arrays. Entry k of slice l of `lanes` slices is number k · lanes + l, so that loops over
 * neighbours are vectors whatever the length. A pass reads, for each p < m and q < stride · lanes, the radix entries
 * (p + m k) · stride + q, and writes their transform, times the twiddle factors, to (radix p + j) · stride + q.
 */

/* ---- Numbers, and vectors of them -------------------------------------------------------------------------------- */

typedef T NAME(long) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));
typedef T NAME(short) __attribute__((vector_size(VECTOR / 2), aligned(sizeof(T)), may_alias));

#define E NAME(long)
#define E_COUNT (VECTOR / (int)sizeof(T))
#define EN(f) NAME(f##_long)
#include "fft_radix_body.h"

#define E NAME(short)
#define E_COUNT (VECTOR / 2 / (int)sizeof(T))
#define EN(f) NAME(f##_short)
#include "fft_radix_body.h"

#define E T
#define E_COUNT 1
#define EN(f) NAME(f##_one)
#include "fft_radix_body.h"

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

#define GROUP 16 /* neighbours that a general pass works on at once */

/* A radix without a pass of its own, an odd prime: with t_k = a_k + a_{r-k} and u_k = a_k - a_{r-k} the sums over
 * k <= (r - 1)/2 of t_k cos(2πjk/r) and of u_k sin(2πjk/r) give the results j and r - j. */
static void NAME(pass_any)(const fft_stage *g, thread_pool *pool, int64_t s, const T *restrict xr, const T *restrict xi,
                           T *restrict yr, T *restrict yi) {
  const int64_t m = g->m;
  const int radix = g->radix, half = (radix - 1) / 2;
  const T *restrict wr = g->re, *restrict wi = g->im, *restrict cosine = g->cos, *restrict sine = g->sin;
  T tr[FFT_MOST_RADIX / 2][GROUP], ti[FFT_MOST_RADIX / 2][GROUP], ur[FFT_MOST_RADIX / 2][GROUP],
      ui[FFT_MOST_RADIX / 2][GROUP], cr[GROUP], ci[GROUP], sr[GROUP], si[GROUP];
  int64_t since = 0;
  for (int64_t p = 0; p < m; p++) {
    for (int64_t from = 0; from < s; from += GROUP) {
      if (pool != NULL && (since += GROUP * radix) >= FFT_PART) pool_point(pool), since = 0;
      const int n = s - from < GROUP ? (int)(s - from) : GROUP;
      const int64_t at = p * s + from, next = m * s;
      T *restrict zr = yr + radix * p * s + from, *restrict zi = yi + radix * p * s + from;
      for (int q = 0; q < n; q++) zr[q] = xr[at + q], zi[q] = xi[at + q];
      for (int k = 0; k < half; k++) {
        const int64_t a = at + (k + 1) * next, b = at + (radix - 1 - k) * next;
        for (int q = 0; q < n; q++) {
          tr[k][q] = xr[a + q] + xr[b + q], ti[k][q] = xi[a + q] + xi[b + q];
          ur[k][q] = xr[a + q] - xr[b + q], ui[k][q] = xi[a + q] - xi[b + q];
          zr[q] += tr[k][q], zi[q] += ti[k][q];
        }
      }
      for (int j = 1; j <= half; j++) {
        for (int q = 0; q < n; q++) cr[q] = xr[at + q], ci[q] = xi[at + q], sr[q] = 0, si[q] = 0;
        for (int k = 0, e = j; k < half; k++, e = (e + j) % radix) {
          const T c = cosine[e], d = sine[e];
          for (int q = 0; q < n; q++) {
            cr[q] += c * tr[k][q], ci[q] += c * ti[k][q];
            sr[q] += d * ui[k][q], si[q] += d * ur[k][q];
          }
        }
        const int other = radix - j;
        const T c = wr[(j - 1) * m + p], d = wi[(j - 1) * m + p];
        const T e = wr[(other - 1) * m + p], f = wi[(other - 1) * m + p];
        for (int q = 0; q < n; q++) {
          const T ar = cr[q] + sr[q], ai = ci[q] - si[q], br = cr[q] - sr[q], bi = ci[q] + si[q];
          zr[j * s + q] = ar * c - ai * d, zi[j * s + q] = ar * d + ai * c;
          zr[other * s + q] = br * e - bi * f, zi[other * s + q] = br * f + bi * e;
        }
      }
    }
  }
}

static void NAME(pass)(const fft_stage *g, thread_pool *pool, int64_t s, const T *xr, const T *xi, T *yr, T *yi) {
  const int64_t most = VECTOR / (int64_t)sizeof(T), n = s > 1 ? s : g->m;
  if (g->cos != NULL)
    NAME(pass_any)(g, pool, s, xr, xi, yr, yi);
  else if (n >= most)
    s > 1 ? NAME(run_long)(g, pool, s, xr, xi, yr, yi) : NAME(run_first_long)(g, pool, xr, xi, yr, yi);
  else if (n >= most / 2)
    s > 1 ? NAME(run_short)(g, pool, s, xr, xi, yr, yi) : NAME(run_first_short)(g, pool, xr, xi, yr, yi);
  else
    s > 1 ? NAME(run_one)(g, pool, s, xr, xi, yr, yi) : NAME(run_first_one)(g, pool, xr, xi, yr, yi);
}

static bool NAME(cycle)(const fft_plan *p, thread_pool *pool, int64_t lanes, void *x_re, void *x_im, void *y_re,
                        void *y_im) {
  T *xr = x_re, *xi = x_im, *yr = y_re, *yi = y_im;
  for (int k = 0; k < p->n_stages; k++) {
    NAME(pass)(&p->stage[k], pool, p->stage[k].stride * lanes, xr, xi, yr, yi);
    T *tr = xr, *ti = xi;
    xr = yr, xi = yi;
    yr = tr, yi = ti;
  }
  return p->n_stages % 2 == 1;
}

/* ---- The complex transform ---------------------------------------------------------------------------------------------- */

/* Two pairs of arrays of the cycle's length times the lanes; a pass goes from one to the other. */
typedef struct NAME(work) {
  T *re, *im, *to_re, *to_im;
} NAME(work);

static void NAME(swap_work)(NAME(work) * w) {
  T *re = w->re, *im = w->im;
  w->re = w->to_re, w->im = w->to_im;
  w->to_re = re, w->to_im = im;
}

static void NAME(clear)(thread_pool *pool, T *at, int64_t n) { FFT_EACH(pool, 1, k, 0, n) at[k] = 0; }

/* a_k · b_k, where b is the same for all lanes. */
static void NAME(scale)(thread_pool *pool, T *restrict re, T *restrict im, const T *restrict br, const T *restrict bi,
                        int64_t n, int64_t lanes, T factor) {
  FFT_EACH(pool, lanes, k, 0, n) {
    const T c = br[k] * factor, d = bi[k] * factor;
    for (int64_t l = k * lanes; l < (k + 1) * lanes; l++) {
      const T ar = re[l], ai = im[l];
      re[l] = ar * c - ai * d;
      im[l] = ar * d + ai * c;
    }
  }
}

/* Transforms w->re, w->im, of the plan's points; the result is in w->re, w->im. */
static void NAME(transform)(const fft_plan *p, thread_pool *pool, int64_t lanes, NAME(work) * w) {
  if (p->chirp_re == NULL) {
    if (NAME(cycle)(p, pool, lanes, w->re, w->im, w->to_re, w->to_im)) NAME(swap_work)(w);
    return;
  }
  /* y_k = b_k Σ_j (x_j b_j) conj(b_{k-j}), with b_k = exp(-πi k²/n) (Bluestein). */
  NAME(scale)(pool, w->re, w->im, p->chirp_re, p->chirp_im, p->points, lanes, 1);
  const size_t used = (size_t)(p->points * lanes), all = (size_t)(p->cycle * lanes);
  NAME(clear)(pool, w->re + used, (int64_t)(all - used));
  NAME(clear)(pool, w->im + used, (int64_t)(all - used));
  if (NAME(cycle)(p, pool, lanes, w->re, w->im, w->to_re, w->to_im)) NAME(swap_work)(w);
  NAME(scale)(pool, w->re, w->im, p->kernel_re, p->kernel_im, p->cycle, lanes, (T)1 / (T)p->cycle);
  /* The inverse transform: with real and imaginary parts exchanged, before and after. */
  if (NAME(cycle)(p, pool, lanes, w->im, w->re, w->to_im, w->to_re)) NAME(swap_work)(w);
  NAME(scale)(pool, w->re, w->im, p->chirp_re, p->chirp_im, p->points, lanes, 1);
}

/* ---- Loading --------------------------------------------------------------------------------------------------------- */

#define AT(p, step, k, lane, l) ((p) + (k) * (step) + (l) * (lane))

static void NAME(load_complex)(const fft_slices *s, int64_t n, T *restrict re, T *restrict im) {
  const int64_t lanes = s->lanes, used = s->x_length < n ? s->x_length : n;
  if (lanes == 1 && s->x_step == 2 * (int64_t)sizeof(T)) {
    const T *restrict x = (const T *)s->x;
    FFT_EACH(s->pool, 1, k, 0, used) re[k] = x[2 * k], im[k] = x[2 * k + 1];
  } else {
    FFT_EACH(s->pool, lanes, k, 0, used) {
      for (int64_t l = 0; l < lanes; l++) {
        const T *x = (const T *)AT(s->x, s->x_step, k, s->x_lane, l);
        re[k * lanes + l] = x[0], im[k * lanes + l] = x[1];
      }
    }
  }
  NAME(clear)(s->pool, re + used * lanes, (n - used) * lanes);
  NAME(clear)(s->pool, im + used * lanes, (n - used) * lanes);
}

/* Real numbers: number 2k in the real parts and 2k + 1 in the imaginary ones if they are packed. */
static void NAME(load_real)(const fft_plan *p, const fft_slices *s, T *restrict re, T *restrict im) {
  const int64_t lanes = s->lanes, n = p->points, used = s->x_length < p->n ? s->x_length : p->n;
  if (p->packed && lanes == 1 && s->x_step == (int64_t)sizeof(T) && used == p->n) {
    const T *restrict x = (const T *)s->x;
    FFT_EACH(s->pool, 1, k, 0, n) re[k] = x[2 * k], im[k] = x[2 * k + 1];
    return;
  }
  FFT_EACH(s->pool, lanes, k, 0, n) {
    const int64_t a = p->packed ? 2 * k : k, b = p->packed ? 2 * k + 1 : p->n;
    for (int64_t l = 0; l < lanes; l++) {
      re[k * lanes + l] = a < used ? *(const T *)AT(s->x, s->x_step, a, s->x_lane, l) : 0;
      im[k * lanes + l] = b < used ? *(const T *)AT(s->x, s->x_step, b, s->x_lane, l) : 0;
    }
  }
}

/* Entry k of half a spectrum, 0 past the end; the first, and the last of an even length, count as real. */
static inline void NAME(half_at)(const fft_plan *p, const fft_slices *s, int64_t k, int64_t l, T *re, T *im) {
  *re = *im = 0;
  if (k >= s->x_length) return;
  const T *x = (const T *)AT(s->x, s->x_step, k, s->x_lane, l);
  const bool alone = k == 0 || 2 * k == p->n;
  const T w = alone ? 1 : (T)s->interior;
  *re = w * x[0];
  *im = alone ? 0 : w * x[1];
}

/* Half a spectrum for the sum with exp(+2πi jk/n), with the parts exchanged, as `transform` needs it. Packed: Z_k = X_k +
 * conj X_{h-k} + i W^k (X_k - conj X_{h-k}), W = exp(2πi/n), h = n/2, whose transform is x_{2j} + i x_{2j+1}. */
static void NAME(load_half_row)(const fft_plan *p, const fft_slices *s, T *restrict re, T *restrict im) {
  const int64_t n = p->points;
  const T *restrict cr = p->root_re, *restrict ci = p->root_im, *restrict x = (const T *)s->x;
  const T sign = s->inverse ? 1 : -1, f = (T)s->interior;
  im[0] = x[0] + x[2 * n], re[0] = x[0] - x[2 * n];
  FFT_EACH(s->pool, 1, k, 1, n) {
    const T ar = f * x[2 * k], ai = sign * (f * x[2 * k + 1]), br = f * x[2 * (n - k)],
            bi = -sign * (f * x[2 * (n - k) + 1]);
    const T dr = ar - br, di = ai - bi;
    im[k] = ar + br - (di * cr[k] - dr * ci[k]);
    re[k] = ai + bi + (dr * cr[k] + di * ci[k]);
  }
}

static void NAME(load_half)(const fft_plan *p, const fft_slices *s, T *restrict re, T *restrict im) {
  const int64_t lanes = s->lanes, n = p->points;
  const T *restrict cr = p->root_re, *restrict ci = p->root_im;
  if (p->packed && lanes == 1 && s->x_step == 2 * (int64_t)sizeof(T) && s->x_length > n) {
    NAME(load_half_row)(p, s, re, im);
    return;
  }
  const T sign = s->inverse ? 1 : -1; /* the sum with the other sign is that of the conjugates */
  FFT_EACH(s->pool, lanes, k, 0, n) {
    for (int64_t l = 0; l < lanes; l++) {
      T ar, ai, br, bi;
      if (!p->packed) {
        const int64_t from = 2 * k <= n ? k : n - k;
        NAME(half_at)(p, s, from, l, &ar, &ai);
        im[k * lanes + l] = ar;
        re[k * lanes + l] = from == k ? sign * ai : -sign * ai;
        continue;
      }
      NAME(half_at)(p, s, k, l, &ar, &ai);
      NAME(half_at)(p, s, n - k, l, &br, &bi);
      ai *= sign, bi *= -sign;
      const T dr = ar - br, di = ai - bi; /* times W^k = c - i d, with c + i d the table's root */
      const T tr = dr * cr[k] + di * ci[k], ti = di * cr[k] - dr * ci[k];
      im[k * lanes + l] = ar + br - ti;
      re[k * lanes + l] = ai + bi + tr;
    }
  }
}

/* ---- Storing --------------------------------------------------------------------------------------------------------- */

static void NAME(store_complex)(const fft_slices *s, int64_t n, const T *restrict re, const T *restrict im) {
  const int64_t lanes = s->lanes;
  const T scale = (T)s->scale;
  if (lanes == 1 && s->y_step == 2 * (int64_t)sizeof(T)) {
    T *restrict y = (T *)s->y;
    FFT_EACH(s->pool, 1, k, 0, n) y[2 * k] = scale * re[k], y[2 * k + 1] = scale * im[k];
    return;
  }
  FFT_EACH(s->pool, lanes, k, 0, n) {
    for (int64_t l = 0; l < lanes; l++) {
      T *y = (T *)AT(s->y, s->y_step, k, s->y_lane, l);
      y[0] = scale * re[k * lanes + l], y[1] = scale * im[k * lanes + l];
    }
  }
}

/* X_k = (Z_k + conj Z_{h-k})/2 - i w^k (Z_k - conj Z_{h-k})/2, w = exp(-2πi/n), of the packed transform Z; the sum with the
 * other sign is the conjugate. */
static void NAME(store_half_row)(const fft_plan *p, const fft_slices *s, const T *restrict re, const T *restrict im) {
  const int64_t n = p->points;
  const T *restrict cr = p->root_re, *restrict ci = p->root_im;
  const T scale = (T)s->scale, sign = s->inverse ? -1 : 1, f = scale * (T)s->interior;
  T *restrict y = (T *)s->y;
  y[0] = scale * (re[0] + im[0]), y[1] = 0;
  FFT_EACH(s->pool, 1, k, 1, n) {
    const T er = re[k] + re[n - k], ei = im[k] - im[n - k], dr = re[k] - re[n - k], di = im[k] + im[n - k];
    const T tr = dr * cr[k] - di * ci[k], ti = dr * ci[k] + di * cr[k];
    y[2 * k] = f * ((T)0.5 * (er + ti));
    y[2 * k + 1] = sign * (f * ((T)0.5 * (ei - tr)));
  }
  y[2 * n] = scale * (re[0] - im[0]), y[2 * n + 1] = 0;
}

static void NAME(store_half)(const fft_plan *p, const fft_slices *s, const T *restrict re, const T *restrict im) {
  const int64_t lanes = s->lanes, n = p->points;
  const T *restrict cr = p->root_re, *restrict ci = p->root_im;
  const T scale = (T)s->scale, sign = s->inverse ? -1 : 1;
  if (p->packed && lanes == 1 && s->y_step == 2 * (int64_t)sizeof(T)) {
    NAME(store_half_row)(p, s, re, im);
    return;
  }
  FFT_EACH(s->pool, lanes, k, 0, (p->packed ? n : n / 2) + 1) {
    const bool alone = k == 0 || 2 * k == p->n;
    const T f = alone ? scale : scale * (T)s->interior;
    for (int64_t l = 0; l < lanes; l++) {
      T *y = (T *)AT(s->y, s->y_step, k, s->y_lane, l);
      if (!p->packed) {
        y[0] = f * re[k * lanes + l];
        y[1] = alone ? 0 : sign * (f * im[k * lanes + l]);
        continue;
      }
      const int64_t a = (k < n ? k : 0) * lanes + l, b = (k > 0 ? n - k : 0) * lanes + l;
      const T er = re[a] + re[b], ei = im[a] - im[b], dr = re[a] - re[b], di = im[a] + im[b];
      const T tr = dr * cr[k] - di * ci[k], ti = dr * ci[k] + di * cr[k];
      y[0] = f * ((T)0.5 * (er + ti));
      y[1] = alone ? 0 : sign * (f * ((T)0.5 * (ei - tr)));
    }
  }
}

static void NAME(store_real)(const fft_plan *p, const fft_slices *s, const T *restrict re, const T *restrict im) {
  const int64_t lanes = s->lanes, n = p->points;
  const T scale = (T)s->scale;
  if (p->packed && lanes == 1 && s->y_step == (int64_t)sizeof(T)) {
    T *restrict y = (T *)s->y;
    FFT_EACH(s->pool, 1, k, 0, n) y[2 * k] = scale * re[k], y[2 * k + 1] = scale * im[k];
    return;
  }
  FFT_EACH(s->pool, lanes, k, 0, n) {
    for (int64_t l = 0; l < lanes; l++) {
      const int64_t at = k * lanes + l;
      if (!p->packed) {
        *(T *)AT(s->y, s->y_step, k, s->y_lane, l) = scale * re[at];
        continue;
      }
      *(T *)AT(s->y, s->y_step, 2 * k, s->y_lane, l) = scale * re[at];
      *(T *)AT(s->y, s->y_step, 2 * k + 1, s->y_lane, l) = scale * im[at];
    }
  }
}

/* ---- Slices ---------------------------------------------------------------------------------------------------------- */

static void NAME(slices)(const fft_plan *p, const fft_slices *s, void *memory) {
  const int64_t each = p->cycle * s->lanes;
  T *base = memory;
  NAME(work) w = {base, base + each, base + 2 * each, base + 3 * each};
  switch (p->kind) {
    case FFT_COMPLEX: /* the inverse transform exchanges real and imaginary parts, before and after */
      NAME(load_complex)(s, p->points, s->inverse ? w.im : w.re, s->inverse ? w.re : w.im);
      NAME(transform)(p, s->pool, s->lanes, &w);
      NAME(store_complex)(s, p->points, s->inverse ? w.im : w.re, s->inverse ? w.re : w.im);
      return;
    case FFT_TO_HALF:
      NAME(load_real)(p, s, w.re, w.im);
      NAME(transform)(p, s->pool, s->lanes, &w);
      NAME(store_half)(p, s, w.re, w.im);
      return;
    case FFT_FROM_HALF:
      NAME(load_half)(p, s, w.re, w.im);
      NAME(transform)(p, s->pool, s->lanes, &w);
      NAME(store_real)(p, s, w.im, w.re);
      return;
  }
}

#undef AT
#undef GROUP
#undef T
#undef NAME
