/* quantile: quantiles of distributions whose distribution function has no inverse among the functions of damo, found by
 * search. Private to src/op/random. */
#ifndef DAMO_OP_RANDOM_QUANTILE_H
#define DAMO_OP_RANDOM_QUANTILE_H

#include "op/op.h"

/* A distribution: its name, how many parameters it has, and the quantile of a q in [0, 1]. That of a discrete one is an
 * integer: the least whose distribution function reaches q. */
typedef struct quantile_law {
  const char *name;
  int n_params;
  bool discrete;
  double (*find)(const double *params, double q);
} quantile_law;

extern const quantile_law quantile_laws[]; /* ended by a NULL name */

/* Quantile: in q and the parameters, float64 of one shape; out int64, or float64 of a continuous distribution. props
 * dist. */
extern const op_def quantile_def;

#endif
