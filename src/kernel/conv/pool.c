/* pool: maxima and means over windows of planes, for float32 and float64. */
#include "pool.h"

#include <string.h>

/* The entries of a window along an axis. */
typedef struct pool_range {
  int64_t from, to;
} pool_range;

static inline pool_range pool_range_at(const pool_box *p, int axis, int64_t o) {
  const int64_t from = o * p->stride[axis] - p->pad[axis], to = from + p->size[axis];
  return (pool_range){from > 0 ? from : 0, to < p->in[axis] ? to : p->in[axis]};
}

static inline int64_t pool_entries(const int64_t *lengths) { return lengths[0] * lengths[1] * lengths[2]; }

/* A number that need not fit an integer: the padding of a window may have any size. */
static inline double pool_divisor(const pool_box *p, const pool_range *r) {
  if (p->include_pad) return (double)p->size[0] * (double)p->size[1] * (double)p->size[2];
  return (double)((r[0].to - r[0].from) * (r[1].to - r[1].from) * (r[2].to - r[2].from));
}

/* The windows of a plane in C order. */
static inline bool pool_window_next(const pool_box *p, int64_t *o, pool_range *r) {
  for (int axis = POOL_AXES - 1; axis >= 0; axis--) {
    const bool carry = ++o[axis] == p->out[axis];
    if (carry) o[axis] = 0;
    r[axis] = pool_range_at(p, axis, o[axis]);
    if (!carry) return true;
  }
  return false;
}

static inline bool pool_window_begin(const pool_box *p, int64_t *o, pool_range *r) {
  for (int axis = 0; axis < POOL_AXES; axis++) {
    o[axis] = 0;
    r[axis] = pool_range_at(p, axis, 0);
  }
  return pool_entries(p->out) > 0;
}

#define POOL_PART 512 /* windows of a row between two points */

/* At the end of a row of windows, and inside of a long one. */
static inline void pool_row_point(const pool_box *p, const int64_t *window) {
  const int64_t at = window[POOL_AXES - 1] + 1;
  if (p->threads != NULL && (at == p->out[POOL_AXES - 1] || at % POOL_PART == 0)) pool_point(p->threads);
}

#define FOR_WINDOWS(p, r)                                 \
  pool_range r[POOL_AXES];                                \
  int64_t window[POOL_AXES];                              \
  for (bool more = pool_window_begin(p, window, r); more; \
       pool_row_point(p, window), more = pool_window_next(p, window, r))

#define T float
#define NAME(f) pool_##f##_f32
#include "pool_body.h"
#define T double
#define NAME(f) pool_##f##_f64
#include "pool_body.h"
#undef FOR_WINDOWS
