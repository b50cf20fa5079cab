/* fft: plans: the passes of a length, their twiddle factors, and the chirp of a length with a large prime factor. */
#include "fft.h"

#include <math.h>
#include <string.h>

#include "kernel/plain/plain.h"

#define ALIGN 64

int64_t fft_in_length(fft_kind kind, int64_t n) { return kind == FFT_FROM_HALF ? n / 2 + 1 : n; }
int64_t fft_out_length(fft_kind kind, int64_t n) { return kind == FFT_TO_HALF ? n / 2 + 1 : n; }

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

/* The passes of n points: 8 and 4 first, since passes after them have neighbours for whole vectors, and 2 last. Returns
 * their number, or -1 if n has a prime factor above FFT_MOST_RADIX. */
static int fft_factor(int64_t n, int *radix) {
  int count = 0, twos = 0;
  if (n % 8 == 0) radix[count++] = 8, n /= 8;
  for (; n % 4 == 0; n /= 4) radix[count++] = 4;
  for (; n % 2 == 0; n /= 2) twos++;
  for (; n % 5 == 0; n /= 5) radix[count++] = 5;
  for (int r = 3; r <= FFT_MOST_RADIX; r += 2) {
    for (; n % r == 0; n /= r) radix[count++] = r;
  }
  if (twos > 0) radix[count++] = 2;
  return n == 1 ? count : -1;
}

/* The least multiple of 8 that has no prime factor but 2, 3 and 5, from least on. */
static int64_t fft_smooth_length(int64_t least) {
  for (int64_t n = (least + 7) / 8 * 8;; n += 8) {
    int64_t rest = n;
    for (int r = 2; r <= 5; r++) {
      for (; rest % r == 0; rest /= r) {}
    }
    if (rest == 1) return n;
  }
}

static int64_t fft_points(fft_kind kind, int64_t n) { return kind != FFT_COMPLEX && n % 2 == 0 ? n / 2 : n; }

static int64_t fft_cycle(int64_t points, bool *chirped) {
  int radix[FFT_MOST_STAGES];
  *chirped = fft_factor(points, radix) < 0;
  return *chirped ? fft_smooth_length(2 * points - 1) : points;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* cos and sin of 2πk/n, 0 <= k < n, by those of an angle of at most π/4. table: these, of 2πi/n for i <= n/8, where n is a
 * multiple of 8; NULL: computed. */
static void fft_root(const double *table, int64_t k, int64_t n, double *c, double *s) {
  const bool below = 2 * k > n; /* the angle is above π: conjugate */
  if (below) k = n - k;
  const bool left = 4 * k > n; /* above π/2: π minus the angle */
  const int64_t twice = left ? n - 2 * k : 2 * k;
  const bool swapped = 4 * twice > n; /* above π/4: π/2 minus the angle */
  double re, im;
  if (table != NULL) {
    const int64_t i = swapped ? (n - 2 * twice) / 4 : twice / 2;
    re = table[2 * i], im = table[2 * i + 1];
  } else {
    const double pi = 3.141592653589793238462643383279502884;
    const double a = swapped ? pi * (double)(n - 2 * twice) / (double)(2 * n) : pi * (double)twice / (double)n;
    re = plain_cos(a), im = plain_sin(a);
  }
  *c = swapped ? im : re;
  *s = swapped ? re : im;
  if (left) *c = -*c;
  if (below) *s = -*s;
}

/* Memory handed out in aligned pieces; without a base it is only counted. */
typedef struct fft_memory {
  char *base;
  size_t used, element;
} fft_memory;

static void *fft_take(fft_memory *m, int64_t n) {
  void *p = m->base != NULL ? m->base + m->used : NULL;
  m->used += ((size_t)n * m->element + ALIGN - 1) / ALIGN * ALIGN;
  return p;
}

static void fft_set(const fft_plan *p, const void *table, int64_t k, double v) {
  void *at = (void *)(uintptr_t)table;
  if (p->single)
    ((float *)at)[k] = (float)v;
  else
    ((double *)at)[k] = v;
}

/* Sets entry `at` of a table to exp(sign · 2πi k/n). */
static void fft_set_root(const fft_plan *p, const void *re, const void *im, int64_t at, int64_t k, int64_t n,
                         double sign) {
  double c, s;
  if (p->octant != NULL && p->circle % n == 0)
    fft_root(p->octant, k * (p->circle / n), p->circle, &c, &s);
  else
    fft_root(NULL, k, n, &c, &s);
  fft_set(p, re, at, c);
  fft_set(p, im, at, sign * s);
}

static void fft_place_stages(fft_plan *p, fft_memory *m) {
  int radix[FFT_MOST_STAGES];
  int64_t rest = p->cycle, stride = 1;
  p->n_stages = fft_factor(p->cycle, radix);
  for (int i = 0; i < p->n_stages; i++) {
    const int r = radix[i];
    const int64_t len = rest / r;
    fft_stage *g = &p->stage[i];
    *g = (fft_stage){.radix = r, .m = len, .stride = stride};
    g->re = fft_take(m, (r - 1) * len);
    g->im = fft_take(m, (r - 1) * len);
    if (r > 5 && r != 8) {
      g->cos = fft_take(m, r);
      g->sin = fft_take(m, r);
    }
    rest = len;
    stride *= r;
  }
}

static void fft_place(fft_plan *p, fft_memory *m, fft_kind kind, bool single, int64_t n) {
  bool chirped;
  const int64_t points = fft_points(kind, n);
  *p = (fft_plan){.kind = kind, .single = single, .n = n, .points = points, .packed = points != n};
  p->cycle = fft_cycle(points, &chirped);
  p->circle = p->packed && !chirped ? n : p->cycle;
  if (p->circle % 8 == 0) p->octant = fft_take(m, (p->circle / 8 + 1) * (single ? 4 : 2));
  fft_place_stages(p, m);
  if (p->packed) {
    p->root_re = fft_take(m, points + 1);
    p->root_im = fft_take(m, points + 1);
  }
  if (!chirped) return;
  p->chirp_re = fft_take(m, points);
  p->chirp_im = fft_take(m, points);
  p->kernel_re = fft_take(m, 2 * p->cycle);
  p->kernel_im = fft_take(m, 2 * p->cycle);
}

static void fft_fill_octant(const fft_plan *p, thread_pool *pool) {
  double *table = (double *)(uintptr_t)p->octant;
  if (table == NULL) return;
  FFT_EACH(pool, 1, i, 0, p->circle / 8 + 1)
  fft_root(NULL, i, p->circle, &table[2 * i], &table[2 * i + 1]);
}

static void fft_fill_stages(const fft_plan *p, thread_pool *pool) {
  for (int i = 0; i < p->n_stages; i++) {
    const fft_stage *g = &p->stage[i];
    for (int j = 1; j < g->radix; j++) {
      FFT_EACH(pool, 1, k, 0, g->m) fft_set_root(p, g->re, g->im, (j - 1) * g->m + k, j * k, g->radix * g->m, -1);
    }
    for (int k = 0; k < g->radix && g->cos != NULL; k++) fft_set_root(p, g->cos, g->sin, k, k, g->radix, 1);
  }
}

/* The chirp, and the transform of its conjugate, whose entry -k is that of k, over the cycle. */
static void fft_fill_chirp(fft_plan *p, thread_pool *pool, const fft_fns *fns) {
  const size_t element = p->single ? sizeof(float) : sizeof(double), bytes = (size_t)p->cycle * element;
  char *re = (char *)(uintptr_t)p->kernel_re, *im = (char *)(uintptr_t)p->kernel_im;
  memset(re, 0, 2 * bytes);
  memset(im, 0, 2 * bytes);
  int64_t square = 0;
  FFT_EACH(pool, 1, k, 0, p->points) {
    fft_set_root(p, p->chirp_re, p->chirp_im, k, square, 2 * p->points, -1);
    fft_set_root(p, re, im, k, square, 2 * p->points, 1);
    if (k > 0) fft_set_root(p, re, im, p->cycle - k, square, 2 * p->points, 1);
    square = (square + 2 * k + 1) % (2 * p->points); /* k² modulo twice the length */
  }
  if (!fns->cycle[p->single](p, pool, 1, re, im, re + bytes, im + bytes)) return;
  memcpy(re, re + bytes, bytes);
  memcpy(im, im + bytes, bytes);
}

size_t fft_plan_size(fft_kind kind, bool single, int64_t n) {
  fft_plan p;
  fft_memory m = {.element = single ? sizeof(float) : sizeof(double)};
  if (n > INT64_C(1) << 40) return 0;
  fft_place(&p, &m, kind, single, n);
  return m.used + ALIGN;
}

void fft_plan_init(fft_plan *p, thread_pool *pool, const fft_fns *fns, fft_kind kind, bool single, int64_t n,
                   void *memory) {
  fft_memory m = {.base = memory, .element = single ? sizeof(float) : sizeof(double)};
  fft_place(p, &m, kind, single, n);
  fft_fill_octant(p, pool);
  fft_fill_stages(p, pool);
  if (p->packed) FFT_EACH(pool, 1, k, 0, p->points + 1) fft_set_root(p, p->root_re, p->root_im, k, k, n, -1);
  if (p->chirp_re != NULL) fft_fill_chirp(p, pool, fns);
}

size_t fft_work_size(const fft_plan *p, int64_t lanes) {
  return 4 * (size_t)p->cycle * (size_t)lanes * (p->single ? sizeof(float) : sizeof(double)) + 4 * ALIGN;
}
