/* random: counter-based random numbers, and the functions that distributions are made with. */
#ifndef DAMO_KERNEL_RANDOM_H
#define DAMO_KERNEL_RANDOM_H

#include "draw_math.h"
#include "isa.h"

/* Philox 4x32-10 (Salmon et al., SC'11). A stream is (key, counter); block i of a draw is philox(key, counter + i).
 * Distributions take their functions from kernel/draw_math.h, so the numbers depend on neither machine nor instruction
 * set nor thread count. */
struct philox_state {
  uint64_t key, counter_lo, counter_hi;
};
void philox_block(const philox_state *s, uint64_t block, uint32_t out[4]);
void philox_advance(philox_state *s, uint64_t blocks);
/* A key and zero counter from any seed (SplitMix64). */
philox_state philox_seed(uint64_t seed);
/* Blocks that a draw of n values takes (the same for every distribution: 1 block gives two 53-bit uniforms). */
uint64_t philox_blocks(int64_t n);
/* The random words of one value, however many it takes: the two of its block, then those of the counters that differ
 * from the block's in the top 32 bits. So what one value's rejections take moves no other value. */
typedef struct philox_words {
  philox_state at;
  uint64_t kept[2];
  int left;
} philox_words;
philox_words philox_words_of(const philox_state *s, uint64_t block);
uint64_t philox_word(philox_words *w);
/* Uniform in [0, 1), 53 bits. */
double philox_unit(philox_words *w);
/* Standard normal, from two words. */
double philox_normal(philox_words *w);
/* The functions of draws: the same bits on every machine. expm1: x <= 0. */
double draw_log(double x);
double draw_exp(double x);
double draw_log1p(double x);
double draw_expm1(double x);
/* The sine and cosine of 2 pi v, v in [0, 1]. */
void draw_sincos_2pi(double v, double *sine, double *cosine);
/* The angle in [0, pi] whose cosine is c, from 1 - c and 1 + c. */
double draw_angle(double less, double more);
/* What an attempt of a gamma draw takes from two words: of the first the 53 bits of the radius' uniform in (0, 1], of the
 * second 32 of the angle in revolutions and 32 of the test's uniform in (0, 1). */
static inline double draw_radius_of(uint64_t word) { return 1 - draw_from_low(word >> 11) * 0x1p-53; }
static inline double draw_angle_of(uint64_t word) { return draw_from_half(word >> 32) * 0x1p-32; }
static inline double draw_test_of(uint64_t word) { return (draw_from_half(word & 0xffffffff) + 0.5) * 0x1p-32; }
#define DRAW_GAMMA_SQUEEZE 0.0331 /* u < 1 - 0.0331 z^4 accepts without a logarithm */
/* n uniforms in [0, 1): 53 random bits (float64) or 24 (float32: rounded from the same bits, never 1). */
void philox_uniform_f64(const kernel_isa *isa, const philox_state *s, double *out, int64_t n);
/* n standard normals by Box-Muller on pairs of uniforms. */
void philox_normal_f64(const kernel_isa *isa, const philox_state *s, double *out, int64_t n);
/* A permutation of 0…n-1 (Fisher-Yates with unbiased bounded draws from consecutive blocks). */
#define PERMUTATION_PART 256 /* positions that move between two points of ctx */
void philox_permutation(damo_ctx *ctx, const philox_state *s, int64_t *out, int64_t n);

#endif
