/* scan_schedule.h: which states of a loop are kept so that the others can be computed again from them, last step first.
 *
 * A checkpoint at step k is the state before step k. The reverse loop needs the states before steps end - 1, …, begin. It
 * computes forward from the last checkpoint before the step that it needs, and on the way keeps those that
 * schedule_next names; a checkpoint is dropped when its own step has been gone back over.
 *
 * With c checkpoints at one time and no step computed more than r times, C(c + r, r) steps can be gone back over; the
 * schedule attains that (A. Griewank, A. Walther: Revolve, Algorithm 799, ACM TOMS 26, 2000).
 */
#ifndef DAMO_SCAN_SCAN_SCHEDULE_H
#define DAMO_SCAN_SCAN_SCHEDULE_H

#include <stdint.h>

#define SCAN_ALL 0    /* checkpoint: states are kept in all steps */
#define SCAN_LOG (-1) /* in logarithmically many */

typedef struct scan_schedule {
  int64_t checkpoint; /* SCAN_ALL, SCAN_LOG, or k: every k-th step, and all steps between two of these */
  int64_t begin, end;
  int64_t most; /* SCAN_LOG: the most checkpoints at one time */
} scan_schedule;

void schedule_init(scan_schedule *s, int64_t checkpoint, int64_t begin, int64_t end);
/* The next step between `from`, where the last of n_kept checkpoints is, and `to` whose state is kept; -1: none is. */
int64_t schedule_next(const scan_schedule *s, int64_t from, int64_t to, int64_t n_kept);

#endif
