#include "scan_schedule.h"

/* The most checkpoints of SCAN_LOG for n steps: floor(4 log2 n), less the state from which the loop computes. */
static int64_t most_checkpoints(int64_t n) {
  int64_t whole = 0, fourths = 0;
  double rest = (double)n;
  for (; rest >= 2; rest /= 2) whole++;
  for (double power = rest * rest * rest * rest; power >= 2; power /= 2) fourths++;
  const int64_t most = 4 * whole + fourths - 1;
  return most > 1 ? most : 1;
}

void schedule_init(scan_schedule *s, int64_t checkpoint, int64_t begin, int64_t end) {
  *s = (scan_schedule){.checkpoint = checkpoint, .begin = begin, .end = end, .most = most_checkpoints(end - begin)};
}

/* C(c + r, r), at most `most`. */
static int64_t steps_within(int64_t c, int64_t r, int64_t most) {
  int64_t n = 1;
  for (int64_t i = 1; i <= r; i++) {
    if (n > INT64_MAX / (c + i)) return most;
    n = n * (c + i) / i;
    if (n >= most) return most;
  }
  return n;
}

/* With c checkpoints, the one at the start included, n steps take the least forward steps in all if the next checkpoint
 * is d steps on, C(c+r-2, c) <= d <= C(c+r-1, c) and C(c+r-2, c-1) <= n - d <= C(c+r-1, c-1), where r is the least with
 * n <= C(c+r, c). The largest such d is taken. */
static int64_t binomial_stride(int64_t n, int64_t c) {
  int64_t r = 1;
  while (steps_within(c, r, n) < n) r++;
  const int64_t most = steps_within(c, r - 1, n), rest = n - steps_within(c - 1, r - 1, n);
  return most < rest ? most : rest;
}

int64_t schedule_next(const scan_schedule *s, int64_t from, int64_t to, int64_t n_kept) {
  if (s->checkpoint == SCAN_LOG) {
    const int64_t free = s->most - n_kept;
    return free > 0 && to > from ? from + binomial_stride(to - from + 1, free + 1) : -1;
  }
  const int64_t k = s->checkpoint, next = from + k;
  return k > 1 && (from - s->begin) % k == 0 && next <= to ? next : from + 1;
}
