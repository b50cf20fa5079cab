/* loop_int: layout of workspaces and single steps: shared by the runners of loop programs. */
#ifndef DAMO_LOOP_LOOP_INT_H
#define DAMO_LOOP_LOOP_INT_H

#include "loop.h"

#define LOOP_CHAIN_BYTES 4096 /* of a block where several steps share L1 */
#define LOOP_BUFFER_SKEW \
  320 /* so that buffers differ in the low 12 bits of their addresses: loads then wait for no store */

/* Takes bytes of a layout that ends at *at, rounded up to cache lines; returns where they begin. */
static inline size_t loop_take_bytes(size_t *at, size_t bytes) {
  const size_t from = *at;
  *at += (bytes + 63) & ~(size_t)63;
  return from;
}

/* The axis of a LOAD_TAKEN that positions are on. */
typedef struct loop_taken {
  int64_t stride, length;
} loop_taken;

static inline loop_taken loop_taken_of(const loop_program *lp, int k, int ndim, const int64_t *strides) {
  if (k >= lp->n_in || lp->regs[k].load != LOAD_TAKEN) return (loop_taken){0, 0};
  return (loop_taken){strides[ndim], strides[ndim + 1]};
}

static inline bool loop_is_loaded(const loop_program *lp, int k) {
  return k < lp->n_in && lp->regs[k].load != LOAD_ELEMENTS;
}

#define LOOP_SHARE 8192       /* elements of a share, at least: some 10 µs of cheap steps */
#define LOOP_SHARE_TAKEN 2048 /* where reads at positions may miss the caches */

/* How many elements a share of a run has at least. */
static inline int64_t loop_share_least(const loop_program *lp) {
  for (int k = 0; k < lp->n_in; k++) {
    if (lp->regs[k].load == LOAD_TAKEN) return LOOP_SHARE_TAKEN;
  }
  return LOOP_SHARE;
}

/* load_run.c: the next n elements of input k, a LOAD_TAKEN or LOAD_RANGE at that address, into a block. cursor: those of
 * all operands; that of its positions moves too, over the same axes. */
void loop_load_run(const loop_program *lp, int k, nd_cursor *cursor, const char *base, const loop_taken *axis,
                   void *block, int64_t n);

/* Runs a step over n elements of the registers at these addresses. Not for folds. */
static inline void loop_step_run(const loop_step *s, void *const *reg, int64_t n) {
  void *args[LOOP_STEP_REGS];
  for (int k = 0; k < s->n_in + s->n_out; k++) args[k] = reg[s->reg[k]];
  if (s->kind == LOOP_KERNEL)
    s->fn.kernel(args, n);
  else
    s->fn.cast(args[0], args[1], n);
}

/* The same by the kernel for inputs that are one value. value: where these are. */
static inline void loop_step_run_by_value(const loop_step *s, void *const *reg, void *const *value, int64_t n) {
  void *args[LOOP_STEP_REGS];
  for (int k = 0; k < s->n_in + s->n_out; k++) args[k] = (s->values >> k & 1 ? value : reg)[s->reg[k]];
  s->by_value(args, n);
}

/* As loop_step_run, for a step that takes long, in parts with points of a pool that cuts. */
void loop_step_run_cut(thread_pool *pool, const loop_program *lp, const loop_step *s, void *const *reg, int64_t n);
static inline void loop_step_run_on(thread_pool *pool, const loop_program *lp, const loop_step *s, void *const *reg,
                                    int64_t n) {
  if (s->ns == 0 || !pool_cuts(pool))
    loop_step_run(s, reg, n);
  else
    loop_step_run_cut(pool, lp, s, reg, n);
}

/* What the steps take for one element, beside what cheap ones do. */
static inline double loop_steps_ns(const loop_program *lp) {
  double ns = 0;
  for (int i = 0; i < lp->n_steps; i++) ns += lp->steps[i].ns;
  return ns;
}

#endif
