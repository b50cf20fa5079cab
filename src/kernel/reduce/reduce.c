/* reduce: reductions of strided arrays.
 *
 * Elements are first converted to the dtype of the accumulator: int64 or uint64 for sums and products of integers, bool
 * for any and all (maximum and minimum of bools), squares for sum_sqr, float for logsumexp, which takes two passes: the
 * maximum, then the sum of exp(x - maximum).
 *
 * The reduced axes, in C order, are one sequence of n_per elements for each result; the kept axes enumerate the n_out
 * results. Adjacent axes of the same list are merged if their strides allow it. The order of operations is defined on
 * that sequence alone: blocks of REDUCE_BLOCK elements are folded in lanes, block results in a binary tree. So strides
 * never change a bit of a result, and neither does the way in which it is computed: one sequence after another, or
 * strips of many results side by side. */
#include <math.h>
#include <string.h>

#include "reduce_int.h"

damo_dtype reduce_out_dtype(reduce_kind kind, damo_dtype in) {
  switch (kind) {
    case REDUCE_SUM:
    case REDUCE_PROD:
      if (in == DAMO_BOOL || dtype_is_signed(in)) return DAMO_INT64;
      return dtype_is_integer(in) ? DAMO_UINT64 : in;
    case REDUCE_ANY:
    case REDUCE_ALL: return DAMO_BOOL;
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN: return DAMO_INT64;
    case REDUCE_LOGSUMEXP: return dtype_to_float(in);
    case REDUCE_SUM_SQR: return in == DAMO_COMPLEX64 ? DAMO_FLOAT32 : in == DAMO_COMPLEX128 ? DAMO_FLOAT64 : in;
    case REDUCE_MAX:
    case REDUCE_MIN:
    case REDUCE_SUM_SQR_DEV: break;
  }
  return in;
}

bool reduce_supported(reduce_kind kind, damo_dtype in) {
  if (kind == REDUCE_SUM_SQR) return !dtype_is_discrete(in);
  if (kind == REDUCE_SUM_SQR_DEV) return dtype_is_float(in);
  return kind != REDUCE_LOGSUMEXP || !dtype_is_complex(in);
}

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

void reduce_plan_op(reduce_plan *plan, const reduce_fns *fns, reduce_kind kind, damo_dtype in) {
  const bool arg = kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN;
  plan->acc = arg ? in : reduce_out_dtype(kind, in);
  plan->in_size = dtype_size(in);
  plan->pool = NULL;
  plan->cast = kind == REDUCE_SUM_SQR ? fns->squares[in].squares : plan->acc == in ? NULL : kernel_cast(in, plan->acc);
  plan->squares = kind == REDUCE_SUM_SQR ? &fns->squares[in] : NULL;
  switch (kind) {
    case REDUCE_SUM:
    case REDUCE_SUM_SQR:
    case REDUCE_SUM_SQR_DEV: plan->op = &fns->sum[plan->acc]; break;
    case REDUCE_PROD: plan->op = &fns->prod[plan->acc]; break;
    case REDUCE_MAX:
    case REDUCE_ANY:
    case REDUCE_LOGSUMEXP:
    case REDUCE_ARGMAX: plan->op = &fns->max[plan->acc]; break;
    case REDUCE_MIN:
    case REDUCE_ALL:
    case REDUCE_ARGMIN: plan->op = &fns->min[plan->acc]; break;
  }
  plan->arg = kind == REDUCE_ARGMAX ? &fns->argmax[in] : kind == REDUCE_ARGMIN ? &fns->argmin[in] : NULL;
  plan->pass = PASS_PLAIN;
  plan->next = NULL;
}

static void reduce_add_axis(nd_space *s, int64_t length, int64_t stride) {
  *nd_space_next(s) = stride;
  nd_space_push(s, length);
}

/* Makes the innermost axis the core axis; a space without axes gets one of one contiguous element. */
static void reduce_end_axes(nd_space *s, size_t size) {
  if (s->n_axes == 0) {
    *nd_space_next(s) = (int64_t)size;
    nd_space_push_unmerged(s, 1);
  }
  nd_space_core(s, 1);
}

void reduce_plan_axes(reduce_plan *plan, int ndim, const int64_t *shape, const int64_t *strides, uint32_t axes) {
  plan->kept = nd_space_begin(plan->numbers, DAMO_MAX_NDIM, 1);
  plan->reduced = nd_space_begin(plan->numbers + ND_NUMBERS(DAMO_MAX_NDIM, 1), DAMO_MAX_NDIM, 1);
  plan->n_out = plan->n_per = 1;
  for (int k = 0; k < ndim; k++) {
    const bool reduced = axes >> k & 1;
    *(reduced ? &plan->n_per : &plan->n_out) *= shape[k];
    reduce_add_axis(reduced ? &plan->reduced : &plan->kept, shape[k], strides[k]);
  }
  reduce_end_axes(&plan->kept, plan->in_size);
  reduce_end_axes(&plan->reduced, plan->in_size);
}

/* ---- Workspace --------------------------------------------------------------------------------------------------- */

static int reduce_tree_levels(int64_t n_per) {
  int levels = 1;
  for (int64_t blocks = n_per / REDUCE_BLOCK + 1; blocks > 1; blocks /= 2) levels++;
  return levels;
}

/* Bytes of the strips of lanes and of the tree. Each strip has at least 8 bytes an element, for argmax and argmin. */
static size_t reduce_strips_bytes(size_t element, int64_t n_out) {
  const size_t width = (size_t)(n_out < REDUCE_STRIP ? n_out : REDUCE_STRIP);
  return ((element < 8 ? 8 : element) * width + 63) & ~(size_t)63;
}

static size_t reduce_lanes_bytes(const reducer *op, int64_t n_out) {
  return reduce_strips_bytes(op->size * (size_t)op->lanes, n_out);
}

static size_t reduce_tree_bytes(const reducer *op, int64_t n_out, int64_t n_per) {
  return reduce_strips_bytes(op->size * (size_t)reduce_tree_levels(n_per), n_out);
}

size_t reduce_workspace(reduce_kind kind, damo_dtype in, int ndim, const int64_t *shape, uint32_t axes) {
  reduce_plan plan;
  int64_t n_per = 1, n_out = 1;
  reduce_plan_op(&plan, &reduce_fns_base, kind, in);
  for (int k = 0; k < ndim; k++) *(axes >> k & 1 ? &n_per : &n_out) *= shape[k];
  /* logsumexp's second pass is a sum, which needs as much as the maximum of the first */
  return 2 * REDUCE_STAGE_BYTES + reduce_lanes_bytes(plan.op, n_out) + reduce_tree_bytes(plan.op, n_out, n_per);
}

void reduce_plan_scratch(reduce_plan *plan, char *work) {
  plan->gathered = work;
  plan->casted = work + REDUCE_STAGE_BYTES;
  plan->lanes = work + 2 * REDUCE_STAGE_BYTES;
  plan->tree = plan->lanes + reduce_lanes_bytes(plan->op, plan->n_out);
}

/* ---- Logsumexp --------------------------------------------------------------------------------------------------- */

/* The elementwise steps of log(sum(exp(x))) = m + log(sum(exp(x - m))), m the maximum. */

static inline float logsumexp_finite_f32(float m) { return isfinite(m) ? m : 0; }
static inline double logsumexp_finite_f64(double m) { return isfinite(m) ? m : 0; }

static void logsumexp_subtract_f32(const float *x, const float *shift, int step, float *y, int64_t n) {
  for (int64_t j = 0; j < n; j++) y[j] = x[j] - logsumexp_finite_f32(shift[j * step]);
}

static void logsumexp_subtract_f64(const double *x, const double *shift, int step, double *y, int64_t n) {
  for (int64_t j = 0; j < n; j++) y[j] = x[j] - logsumexp_finite_f64(shift[j * step]);
}

static void logsumexp_add_f32(const float *shift, float *acc, int64_t n) {
  for (int64_t j = 0; j < n; j++) acc[j] += logsumexp_finite_f32(shift[j]);
}

static void logsumexp_add_f64(const double *shift, double *acc, int64_t n) {
  for (int64_t j = 0; j < n; j++) acc[j] += logsumexp_finite_f64(shift[j]);
}

/* y[j] = exp(x[j] - shift[j * step]). A shift that is not finite counts as 0. y may be x. */
static void logsumexp_subtract(const reduce_plan *plan, const void *x, const void *shift, int step, void *y,
                               int64_t n) {
  if (plan->acc == DAMO_FLOAT32)
    logsumexp_subtract_f32(x, shift, step, y, n);
  else
    logsumexp_subtract_f64(x, shift, step, y, n);
  plan->isa->exp->fn[plan->acc]((void *[]){y, y}, n);
}

/* acc[j] = shift[j] + log(acc[j]). A shift that is not finite counts as 0. */
static void logsumexp_finish(const reduce_plan *plan, const void *shift, void *acc, int64_t n) {
  plan->isa->log->fn[plan->acc]((void *[]){acc, acc}, n);
  if (plan->acc == DAMO_FLOAT32)
    logsumexp_add_f32(shift, acc, n);
  else
    logsumexp_add_f64(shift, acc, n);
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* Makes the shifts of a pass from n results of the pass before, in place. */
void reduce_begin_pass(const reduce_plan *plan, char *results, int64_t n) {
  if (plan->pass != PASS_DEVIATIONS) return;
  if (plan->acc == DAMO_FLOAT32) {
    float *sum = (float *)(void *)results;
    for (int64_t j = 0; j < n; j++) sum[j] /= (float)plan->n_per;
  } else {
    double *sum = (double *)(void *)results;
    for (int64_t j = 0; j < n; j++) sum[j] /= (double)plan->n_per;
  }
}

/* The elements of a pass, from those of op's type: in `casted`, if it is not the only pass. */
static const void *reduce_pass_elements(const reduce_plan *plan, const void *x, const void *shift, int step,
                                        int64_t n) {
  if (plan->pass == PASS_PLAIN) return x;
  if (plan->pass == PASS_EXP)
    logsumexp_subtract(plan, x, shift, step, plan->casted, n);
  else
    plan->isa->reduce->deviations[plan->acc].values(x, shift, step, plan->casted, n);
  return plan->casted;
}

void reduce_end_pass(const reduce_plan *plan, const void *shift, void *results, int64_t n) {
  if (plan->pass == PASS_EXP) logsumexp_finish(plan, shift, results, n);
}

/* ---- Sequences --------------------------------------------------------------------------------------------------- */

/* Results one at a time. A result's elements come in blocks, in place if they are contiguous and need no conversion,
 * else gathered. Block results are combined in a binary tree (pairwise summation), of which one partial result for each
 * level is stored. */

#define TREE_LEVELS 64
#define ELEMENT_MAX 16

/* Whether the next m elements are contiguous. */
static bool reduce_runs_on(const reduce_plan *plan, const nd_cursor *c, int64_t m) {
  return c->step == (int64_t)plan->in_size && c->length - c->pos >= m;
}

/* The next m elements, contiguous and of op's type, or unconverted for squares. */
const void *reduce_next_block(const reduce_plan *plan, nd_cursor *c, int64_t m) {
  const char *block = plan->gathered;
  if (reduce_runs_on(plan, c, m)) {
    block = nd_cursor_address(c);
    nd_cursor_skip(c, m);
  } else {
    nd_cursor_read(c, plan->gathered, m, plan->in_size);
  }
  if (!plan->cast || plan->squares) return block;
  plan->cast(block, plan->casted, m);
  return plan->casted;
}

/* Combines the result of block number `count` with the partial results of the blocks before it, as a carry in a binary
 * counter. At level 1 the value is that of two blocks, the first of which has the even number `count`. */
static void reduce_tree_push(const reducer *op, char tree[][ELEMENT_MAX], int level, int64_t count, const void *value) {
  char carry[ELEMENT_MAX];
  memcpy(carry, value, op->size);
  for (; count >> level & 1; level++) {
    op->rows(tree[level], carry, 1);
    memcpy(carry, tree[level], op->size);
  }
  memcpy(tree[level], carry, op->size);
}

/* Combines the partial results left on the levels, from the last blocks to the first. */
static void reduce_tree_finish(const reducer *op, char tree[][ELEMENT_MAX], int64_t count, void *out) {
  int below = -1;
  for (int level = 0; count >> level != 0; level++) {
    if (!(count >> level & 1)) continue;
    if (below >= 0) op->rows(tree[level], tree[below], 1);
    below = level;
  }
  memcpy(out, tree[below], op->size);
}

/* True if reduce_block_at can read the elements where they lie: they need no cast before it. */
static bool reduce_in_place(const reduce_plan *plan) {
  return plan->pass != PASS_EXP && (plan->cast == NULL || plan->squares != NULL);
}

/* The fold of m elements of a block that lie in a row, of a plan in place. */
static void reduce_block_at(const reduce_plan *plan, const void *x, int64_t m, const void *shift, void *out) {
  if (plan->squares)
    plan->squares->block(x, m, out);
  else if (plan->pass == PASS_DEVIATIONS)
    plan->isa->reduce->deviations[plan->acc].block(x, m, shift, out);
  else
    plan->op->block(x, m, out);
}

/* The blocks that are folded together, at most: a power of two. */
static int64_t reduce_together(const reduce_plan *plan) {
  if (!reduce_in_place(plan)) return 1;
  if (plan->squares) return plan->squares->quad ? 4 : plan->squares->pair ? 2 : 1;
  return plan->pass == PASS_DEVIATIONS || plan->op->quad ? 4 : 1;
}

static void reduce_pair_at(const reduce_plan *plan, const void *x, int64_t m, const void *shift, void *out) {
  if (plan->squares)
    plan->squares->pair(x, m, out);
  else if (plan->pass == PASS_DEVIATIONS)
    plan->isa->reduce->deviations[plan->acc].pair(x, m, shift, out);
  else
    plan->op->pair(x, m, out);
}

static void reduce_quad_at(const reduce_plan *plan, const void *x, int64_t m, const void *shift, void *out) {
  if (plan->squares)
    plan->squares->quad(x, m, out);
  else if (plan->pass == PASS_DEVIATIONS)
    plan->isa->reduce->deviations[plan->acc].quad(x, m, shift, out);
  else
    plan->op->quad(x, m, out);
}

/* Folds the first elements of n in a row, of a plan in place, as many blocks together as can be: the value of *level of
 * the tree. Returns their number. */
static int64_t reduce_first_value(const reduce_plan *plan, int64_t together, const char *x, int64_t n,
                                  const void *shift, void *out, int *level) {
  if (together == 4 && n > 3 * REDUCE_BLOCK) {
    const int64_t m = n < 4 * REDUCE_BLOCK ? n : 4 * REDUCE_BLOCK;
    reduce_quad_at(plan, x, m, shift, out);
    *level = 2;
    return m;
  }
  if (together > 1 && n > REDUCE_BLOCK) {
    const int64_t m = n < 2 * REDUCE_BLOCK ? n : 2 * REDUCE_BLOCK;
    reduce_pair_at(plan, x, m, shift, out);
    *level = 1;
    return m;
  }
  const int64_t m = n < REDUCE_BLOCK ? n : REDUCE_BLOCK;
  reduce_block_at(plan, x, m, shift, out);
  *level = 0;
  return m;
}

/* The fold of the next m elements. */
static void reduce_next_value(const reduce_plan *plan, nd_cursor *c, int64_t m, const void *shift, void *out) {
  if (reduce_in_place(plan)) {
    reduce_block_at(plan, reduce_next_block(plan, c, m), m, shift, out);
    return;
  }
  const void *block = reduce_pass_elements(plan, reduce_next_block(plan, c, m), shift, 0, m);
  plan->op->block(block, m, out);
}

static void reduce_one_result(const reduce_plan *plan, const char *x, char *out) {
  _Alignas(16) char tree[TREE_LEVELS][ELEMENT_MAX];
  _Alignas(16) char value[ELEMENT_MAX], shift[ELEMENT_MAX];
  nd_cursor c;
  nd_cursor_begin(&c, &plan->reduced, (char *)(uintptr_t)x);
  if (plan->pass != PASS_PLAIN) {
    reduce_begin_pass(plan, out, 1);
    memcpy(shift, out, plan->op->size);
  }
  int64_t count = 0, since = 0;
  for (int64_t done = 0; done < plan->n_per; done += REDUCE_BLOCK, count++) {
    const int64_t m = plan->n_per - done < REDUCE_BLOCK ? plan->n_per - done : REDUCE_BLOCK;
    reduce_next_value(plan, &c, m, shift, value);
    if (plan->n_per > REDUCE_BLOCK) reduce_tree_push(plan->op, tree, 0, count, value);
    reduce_point(plan, &since, plan->pass == PASS_PLAIN ? m : 8 * m);
  }
  if (plan->n_per > REDUCE_BLOCK) reduce_tree_finish(plan->op, tree, count, value);
  reduce_end_pass(plan, shift, value, 1);
  memcpy(out, value, plan->op->size);
}

/* Whether the elements of each result lie in a row and are folded in place, which needs no cursor. */
static bool reduce_is_run(const reduce_plan *plan, const char *x) {
  nd_cursor c;
  if (plan->arg || !reduce_in_place(plan)) return false;
  nd_cursor_begin(&c, &plan->reduced, (char *)(uintptr_t)x);
  return reduce_runs_on(plan, &c, plan->n_per);
}

static void reduce_run_result(const reduce_plan *plan, const char *x, char *out) {
  _Alignas(16) char tree[TREE_LEVELS][ELEMENT_MAX];
  _Alignas(16) char value[ELEMENT_MAX], shift[ELEMENT_MAX];
  const int64_t together = reduce_together(plan), blocks = (plan->n_per + REDUCE_BLOCK - 1) / REDUCE_BLOCK;
  bool whole = false; /* one value, without a tree */
  int64_t since = 0;
  int level;
  if (plan->pass != PASS_PLAIN) {
    reduce_begin_pass(plan, out, 1);
    memcpy(shift, out, plan->op->size);
  }
  for (int64_t done = 0, m; done < plan->n_per; done += m) {
    m = reduce_first_value(plan, together, x + (size_t)done * plan->in_size, plan->n_per - done, shift, value, &level);
    whole = m == plan->n_per;
    if (whole) break;
    reduce_tree_push(plan->op, tree, level, done / REDUCE_BLOCK, value);
    reduce_point(plan, &since, m);
  }
  if (!whole) reduce_tree_finish(plan->op, tree, blocks, value);
  memcpy(out, value, plan->op->size);
}

#define ARG_RUN_BYTES 16384 /* of a run in place: searched again in L1 for the position of its best element */

/* Positions do not depend on how the sequence is cut into runs. */
static void reduce_one_position(const reduce_plan *plan, const char *x, char *out) {
  _Alignas(16) char best[ELEMENT_MAX];
  int64_t at = 0, since = 0;
  nd_cursor c;
  nd_cursor_begin(&c, &plan->reduced, (char *)(uintptr_t)x);
  for (int64_t done = 0, m; done < plan->n_per; done += m) {
    const int64_t left = plan->n_per - done, longest = ARG_RUN_BYTES / (int64_t)plan->in_size;
    m = left < longest ? left : longest;
    if (!reduce_runs_on(plan, &c, m) && m > REDUCE_BLOCK) m = REDUCE_BLOCK;
    plan->arg->run(reduce_next_block(plan, &c, m), m, done, best, &at);
    reduce_point(plan, &since, m);
  }
  at++;
  memcpy(out, &at, sizeof at);
}

/* Sets a cursor to element number `at`. */
void reduce_cursor_at(nd_cursor *c, const nd_space *s, const char *x, int64_t at) {
  nd_cursor_begin(c, s, (char *)(uintptr_t)x);
  if (at == 0) return;
  nd_seek(&c->walk, at / c->length, &c->p);
  c->pos = at % c->length;
}

size_t reduce_out_size(const reduce_plan *plan) { return plan->arg ? sizeof(int64_t) : plan->op->size; }

/* Results [first, end). out: of the first result of all. */
static void reduce_by_sequence(const reduce_plan *plan, const char *x, char *out, int64_t first, int64_t end) {
  const size_t step = reduce_out_size(plan);
  int64_t since = 0;
  nd_cursor c;
  const bool run = reduce_is_run(plan, x);
  reduce_cursor_at(&c, &plan->kept, x, first);
  out += (size_t)first * step;
  for (int64_t i = first; i < end; i++, out += step) {
    if (plan->arg)
      reduce_one_position(plan, nd_cursor_address(&c), out);
    else
      for (const reduce_plan *pass = plan; pass; pass = pass->next)
        (pass->pass == PASS_EXP || !run ? reduce_one_result : reduce_run_result)(pass, nd_cursor_address(&c), out);
    nd_cursor_skip(&c, 1);
    reduce_point(plan, &since, 16 + plan->n_per);
  }
}

/* ---- Strips ------------------------------------------------------------------------------------------------------ */

/* Up to REDUCE_STRIP results side by side, along the innermost kept axis: for a kept axis with a smaller stride than the
 * reduced ones. Their elements are read as rows, one for each position of the reduced axes. Row i of a block goes to
 * lane i mod lanes, as element i does in reducer.block, and the strips of lanes, then of blocks, are folded in the same
 * order: the same bits as one sequence at a time.
 *
 * A strip is wide, so that memory is read in long runs, and its lanes lie in L2. Each lane takes REDUCE_ROWS rows at a
 * time, tile after tile of columns: a tile of the lane stays in L1 for these rows. */

#define REDUCE_TILE 128
#define REDUCE_ROWS 8
#define REDUCE_NEAR 4096 /* bytes between rows, up to which hardware prefetchers foresee the next */

/* Finds the addresses of the next m <= REDUCE_BLOCK rows. */
static void reduce_strip_rows(reduce_strip *s, nd_cursor *c, int64_t m) {
  for (int64_t i = 0; i < m; i++) {
    s->rows[i] = nd_cursor_address(c);
    nd_cursor_skip(c, 1);
  }
}

/* n <= REDUCE_TILE elements of a row from column j on, contiguous and of op's type; shift: of column 0. */
static const void *reduce_tile(const reduce_strip *s, const char *row, int64_t j, int64_t n, const char *shift) {
  const reduce_plan *plan = s->plan;
  const char *tile = row + j * s->stride;
  if (s->stride != (int64_t)plan->in_size) {
    kernel_copy_strided(tile, s->stride, plan->gathered, (int64_t)plan->in_size, n, plan->in_size);
    tile = plan->gathered;
  }
  if (plan->cast) {
    plan->cast(tile, plan->casted, n);
    tile = plan->casted;
  }
  return plan->pass == PASS_PLAIN ? tile : reduce_pass_elements(plan, tile, shift + (size_t)j * plan->op->size, 1, n);
}

/* Begins to load columns of a row that is read later: rows lie far apart, so hardware prefetchers don't foresee them. The
 * elements of rows that are gathered lie in lines of their own, where the next rows often lie too. */
static inline void reduce_prefetch(const reduce_strip *s, const char *row, int64_t j, int64_t n) {
  if (s->stride != (int64_t)s->plan->in_size) return;
  const int64_t end = (j + n) * s->stride;
  for (int64_t at = j * s->stride; at < end; at += 64) PREFETCH(row + at);
}

/* Whether rows are folded for all lanes together, tile after tile: they lie near to each other, and need no conversion. */
static bool reduce_takes_columns(const reduce_strip *s, int64_t m) {
  const reduce_plan *plan = s->plan;
  if (plan->op->columns == NULL || plan->cast || plan->pass != PASS_PLAIN || m < plan->op->lanes) return false;
  const int64_t distance = s->rows[1] - s->rows[0];
  return s->stride == (int64_t)plan->op->size && distance > 0 && distance <= REDUCE_NEAR;
}

/* Folds n rows from number `first` on, as many for each lane. */
static void reduce_strip_columns(const reduce_strip *s, int64_t first, int64_t n, int64_t *since) {
  const reducer *op = s->plan->op;
  for (int64_t j = 0; j < s->width; j += REDUCE_TILE) {
    const int64_t width = s->width - j < REDUCE_TILE ? s->width - j : REDUCE_TILE;
    op->columns(s->plan->lanes + (size_t)j * op->size, s->bytes, s->rows + first, n, j * (int64_t)op->size, width,
                first == 0);
    reduce_point(s->plan, since, n * width);
  }
}

/* Whether rows are folded where they lie. */
static bool reduce_takes_rows(const reduce_strip *s) {
  const reduce_plan *plan = s->plan;
  return plan->cast == NULL && plan->pass != PASS_EXP && s->stride == (int64_t)plan->op->size;
}

/* Folds the rows of a lane from number `first` on, n of them. */
static void reduce_strip_lane(const reduce_strip *s, char *lane, int64_t first, int64_t n, bool begin,
                              const char *shift) {
  const reduce_plan *plan = s->plan;
  if (plan->pass == PASS_DEVIATIONS)
    plan->isa->reduce->deviations[plan->acc].lane(lane, s->rows + first, plan->op->lanes, n, s->width, begin, shift);
  else
    plan->op->lane(lane, s->rows + first, plan->op->lanes, n, s->width, begin);
}

/* Folds m rows into lanes: row i into lane i mod lanes, which row i < lanes begins. */
static void reduce_strip_lanes(const reduce_strip *s, int64_t m, const char *shift) {
  const reducer *op = s->plan->op;
  const int64_t group = REDUCE_ROWS * op->lanes;
  int64_t since = 0;
  const bool columns = reduce_takes_columns(s, m), whole = reduce_takes_rows(s);
  for (int64_t first = 0, taken; first < m; first += taken) {
    taken = m - first < group ? m - first : group;
    if (columns && taken >= op->lanes) {
      taken -= taken % op->lanes;
      reduce_strip_columns(s, first, taken, &since);
      continue;
    }
    for (int64_t l = 0; l < op->lanes && first + l < m; l++) {
      const int64_t next = l + 1 < op->lanes ? 1 : 1 + group - op->lanes; /* to the row that is read after this one */
      char *lane = s->plan->lanes + (size_t)l * s->bytes;
      if (whole) {
        reduce_strip_lane(s, lane, first + l, (taken - l + op->lanes - 1) / op->lanes, first == 0, shift);
        reduce_point(s->plan, &since, REDUCE_ROWS * s->width);
        continue;
      }
      for (int64_t j = 0; j < s->width; j += REDUCE_TILE) {
        const int64_t n = s->width - j < REDUCE_TILE ? s->width - j : REDUCE_TILE;
        char *acc = lane + (size_t)j * op->size;
        for (int64_t i = first + l; i < first + taken; i += op->lanes) {
          if (i + next < m) reduce_prefetch(s, s->rows[i + next], j, n);
          const void *tile = reduce_tile(s, s->rows[i], j, n, shift);
          if (i < op->lanes)
            memcpy(acc, tile, (size_t)n * op->size);
          else
            op->rows(acc, tile, n);
        }
      }
      reduce_point(s->plan, &since, REDUCE_ROWS * s->width);
    }
  }
}

/* Folds the next m rows into the first lane. */
void reduce_strip_fold(reduce_strip *s, nd_cursor *c, int64_t m, const char *shift) {
  const reducer *op = s->plan->op;
  char *lanes = s->plan->lanes;
  const int64_t used = m < op->lanes ? m : op->lanes;
  reduce_strip_rows(s, c, m);
  reduce_strip_lanes(s, m, shift);
  for (int64_t half = op->lanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half && l + half < used; l++)
      op->rows(lanes + (size_t)l * s->bytes, lanes + (size_t)(l + half) * s->bytes, s->width);
}

/* Pushes the first lane to the tree, as reduce_tree_push does. */
void reduce_strip_push(const reduce_strip *s, int64_t count) {
  const reducer *op = s->plan->op;
  char *tree = s->plan->tree, *carry = s->plan->lanes;
  int level = 0;
  for (; count >> level & 1; level++) {
    op->rows(tree + (size_t)level * s->bytes, carry, s->width);
    carry = tree + (size_t)level * s->bytes;
  }
  memcpy(tree + (size_t)level * s->bytes, carry, s->bytes);
}

const char *reduce_strip_finish(const reduce_strip *s, int64_t count) {
  char *tree = s->plan->tree, *below = NULL;
  for (int level = 0; count >> level != 0; level++) {
    if (!(count >> level & 1)) continue;
    char *here = tree + (size_t)level * s->bytes;
    if (below) s->plan->op->rows(here, below, s->width);
    below = here;
  }
  return below;
}

static void reduce_strip_values(reduce_strip *s, const char *x, char *out) {
  const reduce_plan *plan = s->plan;
  nd_cursor c;
  reduce_begin_pass(plan, out, s->width);
  nd_cursor_begin(&c, &plan->reduced, (char *)(uintptr_t)x);
  int64_t count = 0;
  for (int64_t done = 0; done < plan->n_per; done += REDUCE_BLOCK, count++) {
    const int64_t m = plan->n_per - done < REDUCE_BLOCK ? plan->n_per - done : REDUCE_BLOCK;
    reduce_strip_fold(s, &c, m, out);
    if (plan->n_per > REDUCE_BLOCK) reduce_strip_push(s, count);
  }
  char *result = plan->lanes;
  if (plan->n_per > REDUCE_BLOCK) memcpy(result, reduce_strip_finish(s, count), s->bytes);
  reduce_end_pass(plan, out, result, s->width);
  memcpy(out, result, s->bytes);
}

static void reduce_strip_positions(reduce_strip *s, const char *x, char *out) {
  const reduce_plan *plan = s->plan;
  int64_t *at = (int64_t *)(void *)plan->tree, since = 0;
  nd_cursor c;
  nd_cursor_begin(&c, &plan->reduced, (char *)(uintptr_t)x);
  for (int64_t done = 0; done < plan->n_per; done += REDUCE_BLOCK) {
    const int64_t m = plan->n_per - done < REDUCE_BLOCK ? plan->n_per - done : REDUCE_BLOCK;
    reduce_strip_rows(s, &c, m);
    for (int64_t first = 0; first < m; first += REDUCE_ROWS) {
      for (int64_t j = 0; j < s->width; j += REDUCE_TILE) {
        const int64_t n = s->width - j < REDUCE_TILE ? s->width - j : REDUCE_TILE;
        for (int64_t i = first; i < m && i < first + REDUCE_ROWS; i++) {
          if (i + REDUCE_ROWS < m) reduce_prefetch(s, s->rows[i + REDUCE_ROWS], j, n);
          plan->arg->rows(reduce_tile(s, s->rows[i], j, n, NULL), n, done + i, plan->lanes + (size_t)j * plan->op->size,
                          at + j);
        }
      }
      reduce_point(plan, &since, REDUCE_ROWS * s->width);
    }
  }
  for (int64_t j = 0; j < s->width; j++) at[j]++;
  memcpy(out, at, (size_t)s->width * sizeof *at);
}

/* Results [first, end). out: of the first result of all. */
static void reduce_by_strips(const reduce_plan *plan, const char *x, char *out, int64_t first, int64_t end) {
  const size_t step = reduce_out_size(plan);
  nd_cursor c;
  reduce_cursor_at(&c, &plan->kept, x, first);
  out += (size_t)first * step;
  for (int64_t i = first; i < end;) {
    const int64_t row = c.length - c.pos, left = row < end - i ? row : end - i;
    const int64_t width = left < REDUCE_STRIP ? left : REDUCE_STRIP;
    reduce_strip s = {.plan = plan, .stride = c.step, .width = width, .bytes = (size_t)width * plan->op->size};
    if (plan->arg)
      reduce_strip_positions(&s, nd_cursor_address(&c), out);
    else
      for (s.plan = plan; s.plan; s.plan = s.plan->next) reduce_strip_values(&s, nd_cursor_address(&c), out);
    nd_cursor_skip(&c, width);
    out += (size_t)width * step;
    i += width;
  }
}

/* ---- The reduction ----------------------------------------------------------------------------------------------- */

void reduce_fill_empty(reduce_kind kind, damo_dtype acc, char *out, int64_t n) {
  const size_t size = dtype_size(acc);
  const double value = kind == REDUCE_PROD || kind == REDUCE_ALL ? 1 : kind == REDUCE_LOGSUMEXP ? -INFINITY : 0;
  for (int64_t i = 0; i < n; i++, out += size) kernel_cast(DAMO_FLOAT64, acc)(&value, out, 1);
}

static int64_t reduce_distance(const nd_space *s) {
  const int64_t stride = nd_inner_stride(s, 0);
  return stride < 0 ? -stride : stride;
}

/* Strips read rows along the kept axis: best if its stride is the smaller one, or if each result has few elements. */
bool reduce_takes_strips(const reduce_plan *plan) {
  if (nd_inner_length(&plan->kept) < 8) return false;
  return reduce_distance(&plan->kept) < reduce_distance(&plan->reduced) || plan->n_per < 32;
}

bool reduce_has_two_passes(reduce_kind kind) { return kind == REDUCE_LOGSUMEXP || kind == REDUCE_SUM_SQR_DEV; }

/* Gives a plan its workspace, and its second pass, whose spaces are those of the first. */
void reduce_plan_complete(const kernel_isa *isa, reduce_kind kind, reduce_plan *plan, reduce_plan *second, char *work) {
  reduce_plan_scratch(plan, work);
  if (!reduce_has_two_passes(kind)) return;
  *second = *plan;
  second->op = &isa->reduce->sum[plan->acc];
  second->pass = kind == REDUCE_LOGSUMEXP ? PASS_EXP : PASS_DEVIATIONS;
  second->isa = isa;
  plan->next = second;
}

/* Results [first, end) of a plan that is complete but for its workspace. */
void reduce_results(const kernel_isa *isa, reduce_kind kind, reduce_plan *plan, const char *x, char *out, int64_t first,
                    int64_t end, char *work) {
  reduce_plan second;
  reduce_plan_complete(isa, kind, plan, &second, work);
  (reduce_takes_strips(plan) ? reduce_by_strips : reduce_by_sequence)(plan, x, out, first, end);
}

void kernel_reduce(const kernel_isa *isa, reduce_kind kind, damo_dtype in, const char *x, int ndim,
                   const int64_t *shape, const int64_t *strides, uint32_t axes, char *out, void *work) {
  kernel_reduce_on(NULL, isa, kind, in, x, ndim, shape, strides, axes, out, work);
}

/* ---- Folds ------------------------------------------------------------------------------------------------------- */

struct reduce_fold {
  reduce_plan plan; /* op, arg, cast and squares alone */
  int64_t n_per, done;
  int64_t at; /* argmax, argmin: 0-based position of the best element */
  _Alignas(16) char tree[TREE_LEVELS][ELEMENT_MAX];
  _Alignas(16) char value[ELEMENT_MAX]; /* argmax, argmin: the best element */
  _Alignas(64) char casted[REDUCE_STAGE_BYTES];
};

_Static_assert(REDUCE_FOLD_BLOCK == REDUCE_BLOCK, "the blocks of a fold are those of a sequence");

size_t reduce_fold_bytes(void) { return sizeof(reduce_fold); }

void reduce_fold_init(reduce_fold *f, const kernel_isa *isa, reduce_kind kind, damo_dtype in) {
  reduce_plan_op(&f->plan, isa->reduce, kind, in);
  f->plan.in_size = dtype_size(in);
}

void reduce_fold_begin(reduce_fold *f, int64_t n_per) {
  f->n_per = n_per;
  f->done = f->at = 0;
}

void reduce_fold_add(reduce_fold *f, const void *block, int64_t n) {
  const reduce_plan *plan = &f->plan;
  if (plan->cast && !plan->squares) {
    plan->cast(block, f->casted, n);
    block = f->casted;
  }
  if (plan->arg) {
    plan->arg->run(block, n, f->done, f->value, &f->at);
  } else {
    (plan->squares ? plan->squares->block : plan->op->block)(block, n, f->value);
    if (f->n_per > REDUCE_BLOCK) reduce_tree_push(plan->op, f->tree, 0, f->done / REDUCE_BLOCK, f->value);
  }
  f->done += n;
}

bool reduce_fold_run(reduce_fold *f, const reduce_plan *plan, const nd_cursor *c, int64_t n, int64_t *since) {
  if (!reduce_in_place(&f->plan) || f->plan.arg || !reduce_runs_on(plan, c, n)) return false;
  const int64_t together = reduce_together(&f->plan), end = f->done + n;
  const char *x = nd_cursor_address(c);
  damo_assert(f->done % (4 * REDUCE_BLOCK) == 0 && f->n_per > REDUCE_BLOCK);
  for (int64_t m; f->done < end; f->done += m, x += (size_t)m * f->plan.in_size) {
    int level;
    m = reduce_first_value(&f->plan, together, x, end - f->done, NULL, f->value, &level);
    reduce_tree_push(f->plan.op, f->tree, level, f->done / REDUCE_BLOCK, f->value);
    reduce_point(plan, since, m);
  }
  return true;
}

void reduce_fold_end(reduce_fold *f, void *out) {
  if (f->plan.arg) {
    f->at++;
    memcpy(out, &f->at, sizeof f->at);
    return;
  }
  const int64_t blocks = (f->n_per + REDUCE_BLOCK - 1) / REDUCE_BLOCK;
  if (f->n_per > REDUCE_BLOCK) reduce_tree_finish(f->plan.op, f->tree, blocks, f->value);
  memcpy(out, f->value, f->plan.op->size);
}

void reduce_fold_part(const reduce_fold *f, reduce_part *part) {
  damo_assert(f->done == REDUCE_PART && f->n_per >= REDUCE_PART);
  memcpy(part->value, f->plan.arg ? f->value : f->tree[REDUCE_PART_LEVEL], f->plan.op->size);
  part->at = f->at;
}

void reduce_fold_join(reduce_fold *f, const reduce_part *part) {
  damo_assert(f->done % REDUCE_PART == 0);
  if (!f->plan.arg) {
    reduce_tree_push(f->plan.op, f->tree, REDUCE_PART_LEVEL, f->done / REDUCE_BLOCK, part->value);
  } else if (f->done == 0) {
    memcpy(f->value, part->value, f->plan.op->size);
    f->at = part->at;
  } else {
    f->plan.arg->run(part->value, 1, f->done + part->at, f->value, &f->at);
  }
  f->done += REDUCE_PART;
}
