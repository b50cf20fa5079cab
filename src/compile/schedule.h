/* schedule.h: orders in which nodes may run, by the memory that they need at one time.
 *
 * In: which nodes come before which, what each makes and reads. Out: an order. Knows neither graphs nor arrays, so that
 * tests can compare it with the best of all orders.
 */
#ifndef DAMO_COMPILE_SCHEDULE_H
#define DAMO_COMPILE_SCHEDULE_H

#include "base/base.h"

/* Lists of numbers: those of entry i are at[first[i]] … at[first[i + 1] - 1]. */
typedef struct sched_lists {
  int32_t *first, *at;
} sched_lists;

/* Values have one maker each, and live from there to their last reader, or to the end (kept). */
typedef struct sched_problem {
  int32_t n, n_values;
  sched_lists before; /* per node: nodes that must run before it; schedule_improve sorts them */
  sched_lists made;   /* per node: values */
  sched_lists read;   /* per node: values, each once, none that it makes */
  const double *bytes;
  const uint8_t *kept;
} sched_problem;

/* The most bytes that live at one time in that order. left: space for n_values numbers. */
double schedule_peak(const sched_problem *p, const int32_t *order, int32_t *left);
/* Replaces the order, which must be valid, by one that needs clearly less, where one is found. */
damo_status schedule_improve(damo_ctx *ctx, const sched_problem *p, int32_t *order);

#endif
