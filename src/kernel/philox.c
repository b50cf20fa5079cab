/* philox: counter-based random numbers, Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3" (SC'11). Every draw is a pure function of (key, counter), independent of the order of evaluation. */
#include <math.h>

#include "draw_math.h"
#include "kernel_int.h"
#include "philox_body.h"
#include "random.h"

void philox_block(const philox_state *s, uint64_t block, uint32_t out[4]) {
  const uint64_t lo = s->counter_lo + block, hi = s->counter_hi + (lo < block);
  out[0] = (uint32_t)lo;
  out[1] = (uint32_t)(lo >> 32);
  out[2] = (uint32_t)hi;
  out[3] = (uint32_t)(hi >> 32);
  philox_rounds(out, (uint32_t)s->key, (uint32_t)(s->key >> 32));
}

void philox_advance(philox_state *s, uint64_t blocks) {
  s->counter_lo += blocks;
  s->counter_hi += s->counter_lo < blocks;
}

/* SplitMix64's output function (Steele, Lea, Flood 2014): neighbouring seeds give unrelated keys. */
philox_state philox_seed(uint64_t seed) {
  uint64_t z = seed + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (philox_state){.key = z ^ (z >> 31)};
}

static inline uint64_t philox_word_at(const uint32_t block[4], int which) {
  return (uint64_t)block[2 * which + 1] << 32 | block[2 * which];
}

/* The 53 high bits, in steps of 2^-53: every value is a double below 1. */
static inline double philox_unit_of_word(uint64_t word) { return (double)(int64_t)(word >> 11) * 0x1p-53; }

/* The top 32 bits of the counter number the further words of a block: the blocks of a draw never reach them. */
#define PHILOX_ATTEMPT ((uint64_t)1 << 32)

philox_words philox_words_of(const philox_state *s, uint64_t block) {
  philox_words w = {.at = *s};
  philox_advance(&w.at, block);
  return w;
}

uint64_t philox_word(philox_words *w) {
  if (w->left == 0) {
    uint32_t block[4];
    philox_block(&w->at, 0, block);
    w->at.counter_hi += PHILOX_ATTEMPT;
    w->kept[1] = philox_word_at(block, 0);
    w->kept[0] = philox_word_at(block, 1);
    w->left = 2;
  }
  return w->kept[--w->left];
}

double philox_normal(philox_words *w) {
  const double radius = sqrt(-2 * draw_log_at(1 - philox_unit(w)));
  double sine, cosine;
  draw_sincos_2pi_at(philox_unit(w), &sine, &cosine);
  return radius * cosine;
}

double philox_unit(philox_words *w) { return philox_unit_of_word(philox_word(w)); }

uint64_t philox_blocks(int64_t n) { return n <= 0 ? 0 : ((uint64_t)n + 1) / 2; }

double draw_log(double x) { return draw_log_at(x); }
double draw_exp(double x) { return draw_exp_at(x); }
double draw_log1p(double x) { return draw_log1p_at(x); }
double draw_expm1(double x) { return draw_expm1_at(x); }
void draw_sincos_2pi(double v, double *sine, double *cosine) { draw_sincos_2pi_at(v, sine, cosine); }

double draw_angle(double less, double more) {
  /* tan(t/4) = sin(t/2) / (1 + cos(t/2)), and the same again for the eighth of t, which atan's polynomial takes */
  const double y = sqrt(0.5 * less) / (1 + sqrt(0.5 * more));
  return 8 * draw_atan_at(y / (1 + sqrt(1 + y * y)));
}

/* ---- Distributions ----------------------------------------------------------------------------------------------- */

#define PHILOX_PAIRS 128 /* pairs computed at a time */

void philox_uniform_f64(const kernel_isa *isa, const philox_state *s, double *out, int64_t n) {
  philox_state at = *s;
  uint64_t words[2 * PHILOX_PAIRS];
  for (int64_t i = 0; i < n; i += 2 * PHILOX_PAIRS) {
    const int64_t m = n - i < 2 * PHILOX_PAIRS ? n - i : 2 * PHILOX_PAIRS;
    isa->draw->philox(&at, words, (m + 1) / 2);
    philox_advance(&at, PHILOX_PAIRS);
    for (int64_t j = 0; j < m; j++) out[i + j] = philox_unit_of_word(words[j]);
  }
}

/* Box and Muller (1958): radius sqrt(-2 log u) with u in (0, 1], angle 2 pi v. */
static void philox_normal_pairs(const draw_fns *draw, const double *uniform, double *z, int64_t pairs) {
  double radius[PHILOX_PAIRS], revolutions[PHILOX_PAIRS], c[PHILOX_PAIRS], s[PHILOX_PAIRS];
  for (int64_t i = 0; i < pairs; i++) {
    radius[i] = 1 - uniform[2 * i];
    revolutions[i] = uniform[2 * i + 1];
  }
  draw->log(radius, pairs);
  draw->sincos_2pi(revolutions, s, c, pairs);
  for (int64_t i = 0; i < pairs; i++) {
    const double r = sqrt(-2 * radius[i]);
    z[2 * i] = r * c[i];
    z[2 * i + 1] = r * s[i];
  }
}

void philox_normal_f64(const kernel_isa *isa, const philox_state *s, double *out, int64_t n) {
  philox_state at = *s;
  double uniform[2 * PHILOX_PAIRS], z[2 * PHILOX_PAIRS];
  for (int64_t i = 0; i < n; i += 2 * PHILOX_PAIRS) {
    const int64_t m = n - i < 2 * PHILOX_PAIRS ? n - i : 2 * PHILOX_PAIRS, pairs = (m + 1) / 2;
    philox_uniform_f64(isa, &at, uniform, 2 * pairs);
    philox_advance(&at, (uint64_t)pairs);
    philox_normal_pairs(isa->draw, uniform, z, pairs);
    for (int64_t j = 0; j < m; j++) out[i + j] = z[j];
  }
}

/* The 128-bit product a * b as two halves. */
static void philox_multiply_wide(uint64_t a, uint64_t b, uint64_t *hi, uint64_t *lo) {
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t low = a0 * b0, mid1 = a1 * b0, mid2 = a0 * b1;
  const uint64_t mid = (low >> 32) + (uint32_t)mid1 + (uint32_t)mid2;
  *hi = a1 * b1 + (mid1 >> 32) + (mid2 >> 32) + (mid >> 32);
  *lo = mid << 32 | (uint32_t)low;
}

/* A uniform integer in 0 … bound - 1 from word `which` of a block (Lemire, "Fast random integer generation in an
 * interval", 2019). A word that would bias the draw is rejected and replaced by the same word of the block's next
 * counter. */
static uint64_t philox_draw_below(uint64_t bound, const uint32_t block[4], int which, philox_state at) {
  uint64_t hi, lo;
  philox_multiply_wide(philox_word_at(block, which), bound, &hi, &lo);
  if (lo >= bound) return hi;
  const uint64_t biased = (0 - bound) % bound;
  while (lo < biased) {
    uint32_t again[4];
    at.counter_hi += PHILOX_ATTEMPT;
    philox_block(&at, 0, again);
    philox_multiply_wide(philox_word_at(again, which), bound, &hi, &lo);
  }
  return hi;
}

void philox_permutation(damo_ctx *ctx, const philox_state *s, int64_t *out, int64_t n) {
  philox_state at = *s;
  uint32_t block[4] = {0};
  for (int64_t i = 0; i < n; i++) {
    out[i] = i;
    ctx_point_each(ctx, i, PERMUTATION_PART);
  }
  for (int64_t i = n - 1, draw = 0; i > 0; i--, draw++) {
    if (draw > 0 && draw % 2 == 0) philox_advance(&at, 1);
    if (draw % 2 == 0) philox_block(&at, 0, block);
    const int64_t j = (int64_t)philox_draw_below((uint64_t)i + 1, block, (int)(draw % 2), at);
    const int64_t swap = out[i];
    out[i] = out[j];
    out[j] = swap;
    ctx_point_each(ctx, draw, PERMUTATION_PART);
  }
}
