/* clock: the two clocks of the system. */
#include <time.h>

#include "base.h"

static int64_t nanoseconds(clockid_t id) {
  struct timespec t = {0, 0};
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_ns(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t clock_epoch_ns(void) { return nanoseconds(CLOCK_REALTIME); }
