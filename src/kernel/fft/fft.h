/* fft: discrete Fourier transforms of slices of arrays.
 *
 * In: a plan for a length, and slices as data with byte steps. Out: y_k = scale · Σ_j x_j exp(∓2πi jk/n), of complex
 * numbers, of real ones (the n/2 + 1 first y_k), or of such half a spectrum (n real numbers). Lengths whose prime factors
 * are at most FFT_MOST_RADIX are done by Stockham's mixed-radix algorithm, which needs no reordering (Van Loan,
 * Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7); others as a convolution with a chirp of
 * such a length (Bluestein 1970). A real transform of even length is a complex one of half the length (Cooley, Lewis and
 * Welch 1970). Always holds: no bit of a result depends on the instruction set or on how many slices are done at once.
 */
#ifndef DAMO_KERNEL_FFT_H
#define DAMO_KERNEL_FFT_H

#include "base/base.h"

#define FFT_MOST_RADIX 31
#define FFT_MOST_STAGES 64
#define FFT_LANES 16 /* slices that are transformed at once where they lie side by side or are short */

typedef enum fft_kind {
  FFT_COMPLEX,
  FFT_TO_HALF,  /* real numbers to half a spectrum */
  FFT_FROM_HALF /* half a spectrum to real numbers */
} fft_kind;

/* One pass: transforms of `radix` points, m of them for each of the `stride` interleaved transforms that it works on. */
typedef struct fft_stage {
  int radix;
  int64_t m, stride;
  const void *re, *im;   /* twiddle factors exp(-2πi pj / (radix m)): j - 1 = 0 … radix - 2 by p = 0 … m - 1 */
  const void *cos, *sin; /* of 2πk/radix, for a radix without a pass of its own */
} fft_stage;

typedef struct fft_plan {
  fft_kind kind;
  bool single;    /* float; else double */
  bool packed;    /* a real transform of even length, done as a complex one of half the length */
  int64_t n;      /* the transform's length */
  int64_t points; /* of the complex transform: n, or n/2 if packed */
  int64_t cycle;  /* points of the stages: the complex transform's, or those of its convolution */
  int n_stages;
  fft_stage stage[FFT_MOST_STAGES];
  const double
      *octant; /* cos and sin of 2πi/circle, i <= circle/8, from which tables are made; NULL: not a multiple of 8 */
  int64_t circle;
  const void *root_re, *root_im;     /* packed: exp(-2πi k/n), k = 0 … n/2 */
  const void *chirp_re, *chirp_im;   /* exp(-πi k²/points), k < points; NULL: no convolution */
  const void *kernel_re, *kernel_im; /* the transformed conjugate chirp, over the cycle */
} fft_plan;

/* Slices of a call: the first element of each, the byte steps along the axis and from slice to slice. */
typedef struct fft_slices {
  const char *x;
  char *y;
  int64_t x_step, y_step, x_lane, y_lane;
  int64_t x_length; /* entries of x along the axis: further ones count as 0, those past the transform's are not read */
  int64_t lanes;
  bool inverse;    /* the sign of the exponent is + */
  double scale;    /* of the result */
  double interior; /* factor of the entries of half a spectrum that stand for two: all but the first, and the last of an
                      even length */
  thread_pool *pool; /* of long slices: where it cuts, it has points inside of them; or NULL */
} fft_slices;

typedef struct fft_fns {
  /* The transform of the plan's cycle, of lanes interleaved slices in x; the result is in x or in y. true: in y. */
  bool (*cycle[2])(const fft_plan *p, thread_pool *pool, int64_t lanes, void *x_re, void *x_im, void *y_re, void *y_im);
  void (*slices[2])(const fft_plan *p, const fft_slices *s, void *work); /* [1]: single precision */
} fft_fns;

/* The bytes of a plan; 0 if n is so long that they can't be counted. */
size_t fft_plan_size(fft_kind kind, bool single, int64_t n);
/* Fills `memory`, of that size, aligned to 64 bytes, which the plan then points into. n >= 1. pool: has points where it
 * cuts, or NULL. */
void fft_plan_init(fft_plan *p, thread_pool *pool, const fft_fns *fns, fft_kind kind, bool single, int64_t n,
                   void *memory);
/* The bytes of work for so many lanes. */
size_t fft_work_size(const fft_plan *p, int64_t lanes);
/* Entries of x along the axis that a transform of length n reads, and of y that it writes. */
int64_t fft_in_length(fft_kind kind, int64_t n);
int64_t fft_out_length(fft_kind kind, int64_t n);

#define FFT_PART 1024 /* entries between two points */
/* The loop over k = from … end - 1, with points of the pool after each part; `each` entries belong to one k. */
#define FFT_EACH(pool, each, k, from, end)                                         \
  for (int64_t k##_part = (from), k##_next; k##_part < (end); k##_part = k##_next) \
    for (int64_t k = (k##_next = fft_part_end(pool, each, k##_part, end), k##_part); k < k##_next; k++)
static inline int64_t fft_part_end(thread_pool *pool, int64_t each, int64_t from, int64_t end) {
  if (pool == NULL) return end;
  pool_point(pool);
  const int64_t part = each < FFT_PART ? FFT_PART / each : 1;
  return end - from < part ? end : from + part;
}

extern const fft_fns fft_base, fft_avx2, fft_avx512;

#endif
