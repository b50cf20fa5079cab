/* discrete: integers from distributions, one at a time, by inversion or rejection. Private to src/op.
 *
 * A draw takes as many words of its own value's counter as it needs. Results are doubles that hold integers.
 */
#ifndef DAMO_OP_RANDOM_DISCRETE_H
#define DAMO_OP_RANDOM_DISCRETE_H

#include "op/op.h"

/* mean >= 0, finite. */
double draw_poisson(philox_words *w, double mean);
/* n >= 0, p in [0, 1]. */
double draw_binomial(philox_words *w, double n, double p);
/* The same, conditional on a draw that is not 0: n >= 1, p > 0. */
double draw_binomial_positive(philox_words *w, double n, double p);
/* k >= 1 with probabilities in proportion to k^-a; a > 1. Values that int64 does not hold are left out. */
double draw_zipf(philox_words *w, double a);
/* How many of `draws` things are good, taken from good + bad of them; draws <= good + bad. */
double draw_hypergeometric(philox_words *w, double good, double bad, double draws);

#endif
