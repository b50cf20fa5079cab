/* entries: draws from the distributions whose values take as many random words as they need, or more than one base
 * draw. Private to src/op/random.
 *
 * A value takes words of its own counter alone, so what one value's rejections take moves no other. Parameters have
 * been checked.
 */
#ifndef DAMO_OP_RANDOM_ENTRIES_H
#define DAMO_OP_RANDOM_ENTRIES_H

#include "kernel/isa.h"
#include "kernel/random.h"

/* n draws of the gamma distribution of scale 1, or of their logarithms, which do not underflow where shapes are small. */
void entries_gamma(const draw_fns *fns, const philox_state *at, double *values, const double *shape, int64_t n,
                   bool logarithm);

/* One draw each; params in the order of the distribution's row. */
double entry_log_gamma(philox_words *w, double shape);
double entry_beta(philox_words *w, const double *p);
double entry_f(philox_words *w, const double *p);
double entry_zipf(philox_words *w, const double *p);
double entry_t(philox_words *w, const double *p);
double entry_wald(philox_words *w, const double *p);
double entry_vonmises(philox_words *w, const double *p);
double entry_truncated_normal(philox_words *w, const double *p);
double entry_poisson(philox_words *w, const double *p);
double entry_binomial(philox_words *w, const double *p);
double entry_nbinom(philox_words *w, const double *p);
double entry_betabinom(philox_words *w, const double *p);
double entry_hypergeometric(philox_words *w, const double *p);

#endif
