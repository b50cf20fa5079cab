/* step_run: single steps of loop programs whose kernels take long for each element, such as special functions: where a
 * pool cuts the call, in parts. */
#include "loop_int.h"

#define STEP_PART_NS 8000 /* of a part, by the estimate of one element */
#define STEP_EVEN_NS 20   /* elements that are longer by the estimate may take far longer yet: the first part is one */
#define STEP_LANES 16     /* parts of more elements are multiples of so many: no kernel has more lanes */

void loop_step_run_cut(thread_pool *pool, const loop_program *lp, const loop_step *s, void *const *reg, int64_t n) {
  void *args[LOOP_STEP_REGS];
  int64_t size[LOOP_STEP_REGS];
  const int n_regs = s->n_in + s->n_out;
  pace_beat beat = {.n = s->ns < STEP_EVEN_NS ? STEP_PART_NS / s->ns : 1};
  bool more = true;
  for (int k = 0; k < n_regs; k++) {
    args[k] = reg[s->reg[k]];
    size[k] = (int64_t)dtype_size((damo_dtype)lp->regs[s->reg[k]].dtype);
  }
  pool_next(pool, &beat, n);
  for (int64_t at = 0; at < n && more;) {
    int64_t part = beat.n > STEP_LANES ? beat.n - beat.n % STEP_LANES : beat.n;
    if (part > n - at) part = n - at;
    s->fn.kernel(args, part);
    for (int k = 0; k < n_regs; k++) args[k] = (char *)args[k] + part * size[k];
    at += part;
    more = pool_next(pool, &beat, n);
  }
}
