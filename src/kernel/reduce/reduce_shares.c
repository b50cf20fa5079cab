/* reduce_shares: reductions on several threads, with the bits of one.
 *
 * With many results each share computes some of them; with few, one after another is made of parts. Results that are read
 * as rows are made of blocks of rows, as wide as possible, since rows are then read in long runs. */
#include <string.h>

#include "reduce_int.h"

#define REDUCE_SHARE 16384       /* elements of a share, at least */
#define REDUCE_SHARE_COLUMNS 256 /* results of a share, at least, where they are read as rows */

typedef struct reduce_shares {
  const kernel_isa *isa;
  reduce_kind kind;
  damo_dtype in;
  const reduce_plan *plan;
  const char *x;
  char *out, *work;
  size_t work_bytes; /* of a worker */
  int64_t n;
  reduce_part *parts;
} reduce_shares;

static void reduce_share_results(void *arg, int64_t share, int worker) {
  const reduce_shares *s = arg;
  const int64_t n_out = s->plan->n_out;
  reduce_plan plan = *s->plan; /* whose spaces are those of the original */
  reduce_results(s->isa, s->kind, &plan, s->x, s->out, pool_share_first(n_out, share, s->n),
                 pool_share_first(n_out, share + 1, s->n), s->work + (size_t)worker * s->work_bytes);
}

/* Adds elements [first, end) of a result to its fold. */
static void reduce_fold_sequence(const reduce_plan *plan, const char *x, int64_t first, int64_t end, reduce_fold *f,
                                 char *gathered) {
  reduce_plan plain = *plan;
  int64_t since = 0;
  nd_cursor c;
  plain.gathered = gathered;
  plain.cast = NULL; /* the fold converts */
  reduce_cursor_at(&c, &plan->reduced, x, first);
  if (first < end && reduce_fold_run(f, plan, &c, end - first, &since)) return;
  for (int64_t m; first < end; first += m) {
    m = end - first < REDUCE_BLOCK ? end - first : REDUCE_BLOCK;
    reduce_fold_add(f, reduce_next_block(&plain, &c, m), m);
    reduce_point(plan, &since, m);
  }
}

static size_t reduce_part_work(void) { return ((reduce_fold_bytes() + 63) & ~(size_t)63) + REDUCE_STAGE_BYTES; }

static reduce_fold *reduce_part_fold(const reduce_shares *s, int worker, char **gathered) {
  char *const work = s->work + (size_t)worker * reduce_part_work();
  reduce_fold *f = (reduce_fold *)(void *)work;
  *gathered = work + reduce_part_work() - REDUCE_STAGE_BYTES;
  reduce_fold_init(f, s->isa, s->kind, s->in);
  reduce_fold_begin(f, s->plan->n_per);
  return f;
}

static void reduce_share_part(void *arg, int64_t share, int worker) {
  const reduce_shares *s = arg;
  char *gathered;
  reduce_fold *f = reduce_part_fold(s, worker, &gathered);
  reduce_fold_sequence(s->plan, s->x, share * REDUCE_PART, (share + 1) * REDUCE_PART, f, gathered);
  reduce_fold_part(f, &s->parts[share]);
}

/* One result after another, each from its parts. */
static void reduce_by_parts(thread_pool *pool, reduce_shares *s) {
  const int64_t n_parts = s->plan->n_per / REDUCE_PART;
  nd_cursor c;
  char *gathered, *out = s->out;
  const char *const x = s->x;
  nd_cursor_begin(&c, &s->plan->kept, (char *)(uintptr_t)x);
  for (int64_t i = 0; i < s->plan->n_out; i++, out += reduce_out_size(s->plan)) {
    s->x = nd_cursor_address(&c);
    pool_run(pool, n_parts, reduce_share_part, s);
    reduce_fold *f = reduce_part_fold(s, 0, &gathered);
    for (int64_t k = 0; k < n_parts; k++) reduce_fold_join(f, &s->parts[k]);
    reduce_fold_sequence(s->plan, s->x, n_parts * REDUCE_PART, s->plan->n_per, f, gathered);
    reduce_fold_end(f, out);
    nd_cursor_skip(&c, 1);
  }
}

/* ---- Blocks of rows --------------------------------------------------------------------------------------------- */

/* Every block of every strip, folded by itself: `folded` has for each block a row of n_out values. */
typedef struct reduce_row_blocks {
  reduce_shares *shares;
  const reduce_plan *plan; /* of the pass in hand */
  char *folded;
  int64_t blocks; /* of a result */
  int64_t strips, width;
} reduce_row_blocks;

/* Sets s to strip number i, and *at to the address of its first column. */
static void reduce_strip_at(const reduce_row_blocks *b, int64_t i, reduce_strip *s, const char **at) {
  const reduce_plan *plan = b->plan;
  const int64_t first = i * b->width, left = plan->n_out - first;
  nd_cursor c;
  reduce_cursor_at(&c, &plan->kept, b->shares->x, first);
  *s = (reduce_strip){.plan = plan, .stride = c.step, .width = left < b->width ? left : b->width};
  s->bytes = (size_t)s->width * plan->op->size;
  *at = nd_cursor_address(&c);
}

static void reduce_share_rows(void *arg, int64_t share, int worker) {
  const reduce_row_blocks *b = arg;
  const int64_t strip = share % b->strips, block = share / b->strips, done = block * REDUCE_BLOCK;
  const int64_t left = b->plan->n_per - done, m = left < REDUCE_BLOCK ? left : REDUCE_BLOCK;
  const size_t size = b->plan->op->size;
  reduce_plan plan = *b->plan;
  reduce_strip s;
  const char *x;
  nd_cursor c;
  reduce_plan_scratch(&plan, b->shares->work + (size_t)worker * b->shares->work_bytes);
  reduce_strip_at(b, strip, &s, &x);
  s.plan = &plan;
  reduce_cursor_at(&c, &plan.reduced, x, done);
  reduce_strip_fold(&s, &c, m, b->shares->out + (size_t)(strip * b->width) * size);
  memcpy(b->folded + (size_t)(block * plan.n_out + strip * b->width) * size, plan.lanes, s.bytes);
}

/* The results of a pass, from the folded blocks, which go through the tree in their order. */
static void reduce_join_rows(const reduce_row_blocks *b) {
  const reduce_plan *plan = b->plan;
  const size_t size = plan->op->size;
  for (int64_t i = 0; i < b->strips; i++) {
    reduce_strip s;
    const char *x;
    reduce_strip_at(b, i, &s, &x);
    const size_t at = (size_t)(i * b->width) * size;
    for (int64_t block = 0; block < b->blocks; block++) {
      memcpy(plan->lanes, b->folded + (size_t)(block * plan->n_out) * size + at, s.bytes);
      reduce_strip_push(&s, block);
    }
    char *result = plan->lanes;
    memcpy(result, reduce_strip_finish(&s, b->blocks), s.bytes);
    reduce_end_pass(plan, b->shares->out + at, result, s.width);
    memcpy(b->shares->out + at, result, s.bytes);
  }
}

static int64_t reduce_blocks_of(int64_t n_per) { return (n_per + REDUCE_BLOCK - 1) / REDUCE_BLOCK; }
static int64_t reduce_strips_of(int64_t n_out) { return (n_out + REDUCE_STRIP - 1) / REDUCE_STRIP; }

/* plan: of the first pass, complete. */
static void reduce_by_row_blocks(thread_pool *pool, reduce_shares *s, const reduce_plan *plan, char *folded) {
  reduce_row_blocks b = {.shares = s,
                         .plan = plan,
                         .folded = folded,
                         .blocks = reduce_blocks_of(plan->n_per),
                         .strips = reduce_strips_of(plan->n_out),
                         .width = REDUCE_STRIP};
  for (; b.plan != NULL; b.plan = b.plan->next) {
    reduce_begin_pass(b.plan, s->out, plan->n_out);
    pool_run(pool, b.blocks * b.strips, reduce_share_rows, &b);
    reduce_join_rows(&b);
  }
}

static bool reduce_takes_row_blocks(const thread_pool *pool, reduce_kind kind, const reduce_plan *plan) {
  const bool one_row = plan->kept.n_axes == 1; /* of results, of which each strip is a piece */
  return one_row && kind != REDUCE_ARGMAX && kind != REDUCE_ARGMIN && plan->n_per > REDUCE_BLOCK &&
         plan->n_out >= REDUCE_SHARE_COLUMNS &&
         reduce_blocks_of(plan->n_per) * reduce_strips_of(plan->n_out) >= 2 * pool_size(pool);
}

static bool reduce_takes_parts(const thread_pool *pool, reduce_kind kind, int64_t n_out, int64_t n_per) {
  return n_out < 2 * pool_size(pool) && n_per >= 2 * REDUCE_PART && !reduce_has_two_passes(kind);
}

size_t reduce_workspace_on(const thread_pool *pool, reduce_kind kind, damo_dtype in, int ndim, const int64_t *shape,
                           uint32_t axes) {
  const size_t one = reduce_workspace(kind, in, ndim, shape, axes), threads = (size_t)pool_size(pool);
  int64_t n_per = 1, n_out = 1;
  if (pool == NULL) return one;
  for (int k = 0; k < ndim; k++) *(axes >> k & 1 ? &n_per : &n_out) *= shape[k];
  const damo_dtype acc = reduce_out_dtype(kind, in);
  const size_t folded = (size_t)reduce_blocks_of(n_per) * (size_t)n_out * dtype_size(acc);
  const size_t whole = threads * one + (n_per > REDUCE_BLOCK && n_out >= REDUCE_SHARE_COLUMNS ? folded : 0);
  if (!reduce_takes_parts(pool, kind, n_out, n_per)) return whole;
  const size_t parts = threads * reduce_part_work() + (size_t)(n_per / REDUCE_PART) * sizeof(reduce_part);
  return whole > parts ? whole : parts;
}

void kernel_reduce_on(thread_pool *pool, const kernel_isa *isa, reduce_kind kind, damo_dtype in, const char *x,
                      int ndim, const int64_t *shape, const int64_t *strides, uint32_t axes, char *out, void *work) {
  reduce_plan plan;
  reduce_plan_op(&plan, isa->reduce, kind, in);
  reduce_plan_axes(&plan, ndim, shape, strides, axes);
  plan.pool = pool;
  if (plan.n_out == 0) return;
  if (plan.n_per == 0) {
    reduce_fill_empty(kind, plan.acc, out, plan.n_out);
    return;
  }
  if (pool == NULL) {
    reduce_results(isa, kind, &plan, x, out, 0, plan.n_out, work);
    return;
  }
  const bool strips = reduce_takes_strips(&plan);
  reduce_shares s = {.isa = isa, .kind = kind, .in = in, .plan = &plan, .x = x, .out = out, .work = work};
  s.work_bytes = reduce_workspace(kind, in, ndim, shape, axes);
  s.n = pool_shares(pool, plan.n_out, strips ? REDUCE_SHARE_COLUMNS : REDUCE_SHARE / plan.n_per);
  if (strips && s.n > pool_size(pool)) s.n = pool_size(pool); /* the wider a strip is, the faster it is read */
  if (strips && reduce_takes_row_blocks(pool, kind, &plan)) {
    reduce_plan second;
    reduce_plan_complete(isa, kind, &plan, &second, work);
    reduce_by_row_blocks(pool, &s, &plan, s.work + (size_t)pool_size(pool) * s.work_bytes);
  } else if (!strips && reduce_takes_parts(pool, kind, plan.n_out, plan.n_per)) {
    s.parts = (reduce_part *)(void *)(s.work + (size_t)pool_size(pool) * reduce_part_work());
    reduce_by_parts(pool, &s);
  } else {
    pool_run(pool, s.n, reduce_share_results, &s);
  }
}
