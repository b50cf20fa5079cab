/* draw_discrete: whole numbers from distributions, one at a time, by rejection. Private to src/op.
 *
 * A stream of random words stands at a generator's state and moves it on, two words a block; how many words a draw
 * takes depends on what they are. Results are doubles that hold whole numbers.
 */
#ifndef DAMO_OP_DRAW_DISCRETE_H
#define DAMO_OP_DRAW_DISCRETE_H

#include "op.h"

typedef struct draw_words {
  philox_state state; /* after the words handed out and kept */
  uint64_t kept[2];
  int left;
} draw_words;

static inline draw_words draw_words_at(philox_state state) { return (draw_words){.state = state}; }
/* Uniform in [0, 1), 53 bits. */
double draw_unit(draw_words *w);
/* mean >= 0, finite. */
double draw_poisson(draw_words *w, double mean);
/* n >= 0, p in [0, 1]. */
double draw_binomial(draw_words *w, double n, double p);
/* The same, given that it is not 0: n >= 1, p > 0. */
double draw_binomial_positive(draw_words *w, double n, double p);

#endif
