/* pass_run: runs a program whose folds reduce rows and whose later steps read the results: several passes over each row.
 *
 * A row is what one result of a fold is made of: the last axes, in C order. A pass is a loop over the blocks of a row;
 * a fold's result is there when its pass ends, so steps that read it belong to a later pass. What one pass makes and a
 * later one reads is a row in the workspace, or in the caller's memory where it is an output. So memory is read and
 * written once as long as a row fits in a cache. Rows shorter than half a block are taken several at a time, all in one
 * block.
 *
 * A fold over other axes than those of a row takes the elements as they come, in C order: its blocks may hold the end of
 * one row and the beginning of the next.
 *
 * Row registers hold one value a row: operands that do not move along rows, results of folds, and results of steps over
 * such. Those steps run between the passes, over the values of all rows of a block; where a step over elements reads
 * one, it is expanded into a block. Operands that are contiguous along each row are used in place; others are gathered
 * once, in the first pass that reads them, and strided results are scattered.
 */
#include <string.h>

#include "pass_int.h"

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* The threads that compute the parts of a row, where it is cut into such; the workspaces of the pool's threads. */
typedef struct pass_team {
  thread_pool *pool;
  char *work;
  reduce_part *parts; /* one for each fold of each part */
} pass_team;

typedef struct pass_state {
  const pass_plan *plan;
  const pass_team *team; /* or NULL */
  thread_pool *pool;     /* or NULL: it has points between the blocks of a row */
  int64_t row;           /* the first that is run */
  char *const *base;
  char *work;
  void **block, **value; /* addresses of the registers' blocks and values */
  char **start;          /* of registers that lie along the row: its first element */
  char **p;              /* of the operands in place, at the current row */
  nd_cursor *cursor;
  nd_walk walk;
} pass_state;

static reduce_fold *pass_fold_at(const pass_state *r, int i) {
  return (reduce_fold *)(void *)(r->work + r->plan->folds + (size_t)i * reduce_fold_bytes());
}

static pass_stream *pass_stream_at(const pass_state *r, int i) {
  return (pass_stream *)(void *)(r->work + r->plan->streams) + i;
}

/* Elements of each result of a fold over that many axes. */
static int64_t pass_stream_length(const pass_plan *p, int n_axes) {
  int64_t length = 1;
  for (int axis = p->ndim - n_axes; axis < p->ndim; axis++) length *= p->shape[axis];
  return length;
}

/* Sets a cursor to element number `at`. */
static void pass_cursor_begin(nd_cursor *c, const nd_space *s, char *base, int64_t at) {
  nd_cursor_begin(c, s, base);
  if (at == 0 || c->length == 0) return;
  nd_seek(&c->walk, at / c->length, &c->p);
  c->pos = at % c->length;
}

/* The values of row register i of n rows, as the elements of as many rows of a block. */
static void pass_expand(const pass_state *r, int i, int64_t n) {
  const pass_plan *p = r->plan;
  const int64_t size = p->reg[i].size, length = p->chunk > 1 ? p->inner : p->block;
  kernel_copy_rows(r->value[i], size, 0, r->block[i], length * size, size, n, length, (size_t)size);
}

/* Fills what is the same for all rows. */
static void pass_begin_same(const pass_state *r, int k) {
  const pass_plan *p = r->plan;
  const pass_reg *t = &p->reg[k];
  const size_t size = t->size;
  if (t->is_row) {
    r->value[k] = r->base[k];
    if (p->chunk > 1) {
      r->value[k] = r->work + t->values;
      kernel_copy_strided(r->base[k], 0, r->value[k], (int64_t)size, p->chunk, size);
    }
    if (t->expanded)
      pass_expand(r, k, p->chunk);
    else
      r->block[k] = r->value[k];
  } else if (t->home == HOME_BUFFER) {
    nd_cursor_begin(&r->cursor[k], &t->space, r->base[k]);
    r->start[k] = r->work + t->buffer;
    nd_cursor_read(&r->cursor[k], r->start[k], t->along ? p->inner : p->block, size);
  }
}

static void pass_begin_folds(const pass_state *r, int64_t row) {
  const pass_plan *p = r->plan;
  int fold = 0, stream = 0;
  for (int i = 0; i < p->lp->n_steps; i++) {
    const loop_step *s = &p->lp->steps[i];
    if (s->kind != LOOP_FOLD) continue;
    reduce_fold_init(pass_fold_at(r, fold++), p->isa, s->fn.fold, (damo_dtype)p->lp->regs[s->reg[0]].dtype);
    if (s->axes == 0) continue;
    pass_stream *t = pass_stream_at(r, stream++);
    t->length = pass_stream_length(p, s->axes);
    t->seen = t->staged = 0;
    t->results = t->length > 0 ? row * p->inner / t->length : 0;
    damo_assert(t->length == 0 || row * p->inner % t->length == 0);
  }
}

static void pass_begin(pass_state *r, int64_t row) {
  const pass_plan *p = r->plan;
  const loop_program *lp = p->lp;
  for (int i = 0; i < lp->n_regs; i++) {
    const pass_reg *t = &p->reg[i];
    r->block[i] = r->start[i] = r->work + t->buffer;
    r->value[i] = r->work + t->values;
  }
  for (int k = 0; k < pass_operands(lp); k++) {
    const pass_reg *t = &p->reg[k];
    r->p[k] = r->base[k];
    if (t->home == HOME_NONE || t->home == HOME_RESULT) continue;
    if (t->same) pass_begin_same(r, k);
    if (t->same || t->home == HOME_DIRECT) continue;
    if (t->is_row && p->chunk == 1) continue;
    pass_cursor_begin(&r->cursor[k], &t->space, r->base[k], t->is_row ? row : row * p->inner);
  }
  nd_begin(&r->walk, &p->outer);
  if (row > 0 && p->chunk == 1) nd_seek(&r->walk, row, r->p);
  pass_begin_folds(r, row);
}

/* The operands of the n rows from `row`. */
static void pass_begin_rows(const pass_state *r, int64_t row, int64_t n) {
  const pass_plan *p = r->plan;
  for (int k = 0; k < pass_operands(p->lp); k++) {
    const pass_reg *t = &p->reg[k];
    if (t->home == HOME_RESULT) {
      r->value[k] = r->base[k] + row * t->size;
    } else if (t->home == HOME_DIRECT) {
      r->start[k] = p->chunk == 1 ? r->p[k] : r->base[k] + (t->same ? 0 : row * p->inner * t->size);
    } else if (t->home == HOME_VALUES && !t->same) {
      if (p->chunk == 1)
        r->value[k] = r->p[k];
      else
        nd_cursor_read(&r->cursor[k], r->value[k], n, t->size);
    }
  }
}

#define PASS_SHORT 32 /* rows shorter than this are reduced side by side */

/* Adds n elements to a fold. */
static void pass_fold_add(reduce_fold *f, const char *block, int64_t size, int64_t n) {
  for (int64_t at = 0; at < n; at += REDUCE_FOLD_BLOCK)
    reduce_fold_add(f, block + at * size, n - at < REDUCE_FOLD_BLOCK ? n - at : REDUCE_FOLD_BLOCK);
}

/* Folds each of n whole rows of a block. */
static void pass_fold_rows(const pass_state *r, reduce_fold *f, const loop_step *s, int64_t n) {
  const pass_plan *p = r->plan;
  const damo_dtype in = (damo_dtype)p->lp->regs[s->reg[0]].dtype;
  const int64_t size = p->reg[s->reg[0]].size, out = p->reg[s->reg[1]].size;
  const char *block = r->block[s->reg[0]];
  char *value = r->value[s->reg[1]];
  if (p->inner < PASS_SHORT) {
    const int64_t shape[] = {n, p->inner}, strides[] = {p->inner * size, size};
    kernel_reduce(p->isa, s->fn.fold, in, block, 2, shape, strides, 2, value, r->work + p->reducing);
    return;
  }
  for (int64_t j = 0; j < n; j++, block += p->inner * size, value += out) {
    reduce_fold_begin(f, p->inner);
    pass_fold_add(f, block, size, p->inner);
    reduce_fold_end(f, value);
  }
}

/* Folds the n elements at pos of a row. */
static void pass_fold_piece(const pass_state *r, reduce_fold *f, const loop_step *s, int64_t pos, int64_t n) {
  if (pos == 0) reduce_fold_begin(f, r->plan->inner);
  pass_fold_add(f, r->block[s->reg[0]], r->plan->reg[s->reg[0]].size, n);
  if (pos + n == r->plan->inner) reduce_fold_end(f, r->value[s->reg[1]]);
}

/* Folds n elements that follow those before in C order. */
static void pass_fold_stream(const pass_state *r, reduce_fold *f, pass_stream *t, const loop_step *s, int64_t n) {
  const int64_t size = r->plan->reg[s->reg[0]].size;
  const char *x = r->block[s->reg[0]];
  while (n > 0) {
    const int64_t left = t->length - t->seen, room = REDUCE_FOLD_BLOCK - t->staged;
    int64_t take = n < room ? n : room;
    if (take > left) take = left;
    if (t->seen == 0) reduce_fold_begin(f, t->length);
    const bool whole = t->staged == 0 && (take == REDUCE_FOLD_BLOCK || take == left);
    if (!whole) memcpy(t->block + t->staged * size, x, (size_t)(take * size));
    t->staged += take;
    t->seen += take;
    x += take * size;
    n -= take;
    if (t->staged < REDUCE_FOLD_BLOCK && t->seen < t->length) continue;
    reduce_fold_add(f, whole ? x - take * size : t->block, t->staged);
    t->staged = 0;
    if (t->seen < t->length) continue;
    reduce_fold_end(f, r->base[s->reg[1]] + t->results++ * r->plan->reg[s->reg[1]].size);
    t->seen = 0;
  }
}

/* Where there are no elements, folds over other axes may still have results. */
static void pass_fill_streams(const pass_plan *p, char *const *base, char *work) {
  for (int i = 0; i < p->lp->n_steps; i++) {
    const loop_step *s = &p->lp->steps[i];
    if (s->kind != LOOP_FOLD || s->axes == 0) continue;
    int64_t results = 1;
    for (int axis = 0; axis < p->ndim - s->axes; axis++) results *= p->shape[axis];
    kernel_reduce(p->isa, s->fn.fold, (damo_dtype)p->lp->regs[s->reg[0]].dtype, work, 2, (const int64_t[]){results, 0},
                  (const int64_t[]){0, 0}, 2, base[s->reg[1]], work);
  }
}

/* From n elements at pos of a row, or from `rows` whole rows: the element at the position, 1-based, that a row has. */
static void pass_pick(const pass_state *r, const loop_step *s, int64_t pos, int64_t n, int64_t rows) {
  const int64_t size = r->plan->reg[s->reg[0]].size, each = n / rows;
  const char *block = r->block[s->reg[0]];
  const int64_t *position = r->value[s->reg[1]];
  char *value = r->value[s->reg[2]];
  for (int64_t j = 0; j < rows; j++, block += each * size, value += size) {
    const int64_t at = position[j] - 1 - pos;
    if (at >= 0 && at < each) memcpy(value, block + at * size, (size_t)size);
  }
}

/* Zeros but for the value of each row at its position; without a value for a one. */
static void pass_place(const pass_state *r, const loop_step *s, int64_t pos, int64_t n, int64_t rows) {
  const int16_t out = s->reg[s->n_in];
  const int64_t size = r->plan->reg[out].size, each = n / rows, *position = r->value[s->reg[s->n_in - 1]];
  const bool has_value = s->n_in == 2;
  char *block = r->block[out], one[16];
  const char *value = has_value ? r->value[s->reg[0]] : one;
  if (!has_value) kernel_cast(DAMO_FLOAT64, (damo_dtype)r->plan->lp->regs[out].dtype)(&(const double){1}, one, 1);
  memset(block, 0, (size_t)(n * size));
  for (int64_t j = 0; j < rows; j++, block += each * size, value += has_value ? size : 0) {
    const int64_t at = position[j] - 1 - pos;
    if (at >= 0 && at < each) memcpy(block + at * size, value, (size_t)size);
  }
}

/* The folds of a pass that are behind, by kind. */
typedef struct pass_count {
  int fold, stream;
} pass_count;

static void pass_fold(const pass_state *r, const loop_step *s, pass_count *at, int64_t pos, int64_t n, int64_t rows) {
  const pass_plan *p = r->plan;
  reduce_fold *f = pass_fold_at(r, at->fold++);
  if (s->axes > 0)
    pass_fold_stream(r, f, pass_stream_at(r, at->stream++), s, n);
  else if (p->chunk > 1 || p->inner == 0)
    pass_fold_rows(r, f, s, rows);
  else
    pass_fold_piece(r, f, s, pos, n);
}

/* One block: n elements at pos of a row, or those of `rows` whole rows. at: the folds of earlier passes. */
static void pass_block(const pass_state *r, const pass_span *q, int64_t pos, int64_t n, int64_t rows, pass_count at) {
  const pass_plan *p = r->plan;
  for (int j = q->along.from; j < q->along.end; j++) {
    const int i = p->pool[j];
    r->block[i] = r->start[i] + pos * p->reg[i].size;
  }
  for (int j = q->gather.from; j < q->gather.end; j++) {
    const int k = p->pool[j];
    if (loop_is_loaded(p->lp, k))
      loop_load_run(p->lp, k, r->cursor, r->base[k], &p->reg[k].taken, r->block[k], n);
    else
      nd_cursor_read(&r->cursor[k], r->block[k], n, p->reg[k].size);
  }
  for (int i = q->steps; i < q->end; i++) {
    const loop_step *s = &p->lp->steps[i];
    switch ((loop_kind)s->kind) {
      case LOOP_KERNEL:
      case LOOP_CAST:
        if (pass_by_value(p, s))
          loop_step_run_by_value(s, r->block, r->value, n);
        else
          loop_step_run_on(r->pool, p->lp, s, r->block, n);
        break;
      case LOOP_FOLD: pass_fold(r, s, &at, pos, n, rows); break;
      case LOOP_PICK: pass_pick(r, s, pos, n, rows); break;
      case LOOP_PLACE: pass_place(r, s, pos, n, rows); break;
    }
  }
  for (int j = q->scatter.from; j < q->scatter.end; j++) {
    const int k = p->pool[j];
    nd_cursor_write(&r->cursor[k], r->block[k], n, p->reg[k].size);
  }
}

/* ---- Parts of a row ---------------------------------------------------------------------------------------------- */

/* A row that is long enough is cut into parts of REDUCE_PART elements, and a rest, of at least one element, which is left
 * to the caller. A part has buffers, cursors and folds of its own; row registers and operands are those of the row. */

typedef struct pass_parts {
  const pass_state *row;
  const pass_span *span;
} pass_parts;

static void pass_state_init(pass_state *r, const pass_plan *p, char *const *base, char *workspace) {
  const int n_regs = p->lp->n_regs;
  damo_assert((uintptr_t)workspace % 64 == 0);
  *r = (pass_state){.plan = p, .base = base, .work = workspace};
  r->block = (void **)(void *)(workspace + p->addresses);
  r->value = r->block + n_regs;
  r->start = (char **)(r->value + n_regs);
  r->p = r->start + n_regs;
  r->cursor = (nd_cursor *)(void *)(workspace + p->cursors);
}

/* Sets the cursors of the row in hand to that position. */
static void pass_seek(const pass_state *r, int64_t pos) {
  const pass_plan *p = r->plan;
  for (int k = 0; k < pass_operands(p->lp); k++) {
    const pass_reg *t = &p->reg[k];
    if ((t->home != HOME_BUFFER && t->home != HOME_POSITIONS) || t->same) continue;
    pass_cursor_begin(&r->cursor[k], &t->space, r->base[k], r->row * p->inner + pos);
  }
}

#define PASS_POINT 4 /* blocks between two points */

static void pass_run_part(void *arg, int64_t share, int worker) {
  const pass_parts *s = arg;
  const pass_state *row = s->row;
  const pass_plan *p = row->plan;
  pass_state r;
  pass_state_init(&r, p, row->base, row->team->work + (size_t)worker * p->workspace);
  r.row = row->row;
  r.pool = row->team->pool;
  for (int i = 0; i < p->lp->n_regs; i++) {
    r.block[i] = p->reg[i].is_row ? row->block[i] : r.work + p->reg[i].buffer;
    r.value[i] = row->value[i];
    r.start[i] = row->start[i];
  }
  pass_begin_folds(&r, 0);
  for (int i = 0; i < p->n_folds; i++) reduce_fold_begin(pass_fold_at(&r, i), p->inner);
  const int64_t first = share * REDUCE_PART, end = first + REDUCE_PART;
  pass_seek(&r, first);
  for (int64_t pos = first; pos < end; pos += p->block) {
    pass_block(&r, s->span, pos, p->block, 1, (pass_count){0, 0});
    if (pos / p->block % PASS_POINT == PASS_POINT - 1) pool_point(r.pool);
  }
  for (int i = 0; i < p->n_folds; i++) reduce_fold_part(pass_fold_at(&r, i), &row->team->parts[share * p->n_folds + i]);
}

/* Runs all parts of the row; returns where the rest begins. */
static int64_t pass_run_parts(const pass_state *r, const pass_span *span) {
  const pass_plan *p = r->plan;
  const int64_t n = (p->inner - 1) / REDUCE_PART;
  pass_parts s = {r, span};
  pool_run(r->team->pool, n, pass_run_part, &s);
  for (int i = 0; i < p->n_folds; i++) {
    reduce_fold *f = pass_fold_at(r, i);
    reduce_fold_begin(f, p->inner);
    for (int64_t k = 0; k < n; k++) reduce_fold_join(f, &r->team->parts[k * p->n_folds + i]);
  }
  pass_seek(r, n * REDUCE_PART);
  return n * REDUCE_PART;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* All passes over n rows. */
static void pass_run_rows(const pass_state *r, int64_t n) {
  const pass_plan *p = r->plan;
  pass_count at = {0, 0};
  for (int q = 0; q <= p->lp->n_passes; q++) {
    const pass_span *s = &p->span[q];
    for (int i = s->rows; i < s->steps; i++) loop_step_run_on(r->pool, p->lp, &p->lp->steps[i], r->value, n);
    for (int j = s->expand.from; j < s->expand.end; j++) pass_expand(r, p->pool[j], n);
    if (p->chunk > 1 || p->inner == 0) {
      pass_block(r, s, 0, n * p->inner, n, at);
    } else if (s->steps < s->end) {
      for (int64_t pos = r->team ? pass_run_parts(r, s) : 0; pos < p->inner; pos += p->block) {
        pass_block(r, s, pos, p->inner - pos < p->block ? p->inner - pos : p->block, 1, at);
        if (r->pool != NULL && pos / p->block % PASS_POINT == PASS_POINT - 1) pool_point(r->pool);
      }
    }
    for (int i = s->steps; i < s->end; i++) {
      if (p->lp->steps[i].kind != LOOP_FOLD) continue;
      at.fold++;
      at.stream += p->lp->steps[i].axes > 0;
    }
  }
}

static void pass_run_with(const pass_team *team, thread_pool *pool, const pass_plan *p, char *const *base,
                          void *workspace, int64_t row, int64_t end) {
  pass_state r;
  pass_state_init(&r, p, base, workspace);
  r.team = team;
  r.pool = pool;
  pass_begin(&r, row);
  for (; row < end; row += p->chunk) {
    const int64_t n = end - row < p->chunk ? end - row : p->chunk;
    r.row = row;
    pass_begin_rows(&r, row, n);
    pass_run_rows(&r, n);
    if (p->chunk == 1) nd_next(&r.walk, r.p);
  }
}

void pass_run(const pass_plan *p, char *const *base, void *workspace, int64_t row, int64_t end) {
  if (p->rows == 0 || p->inner == 0) pass_fill_streams(p, base, workspace);
  if (row >= end) return;
  damo_assert(row >= 0 && end <= p->rows);
  pass_run_with(NULL, NULL, p, base, workspace, row, end);
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

#define PASS_STEP_NS 0.5                 /* of one element, if the steps are cheap */
#define PASS_PART_WORK ((size_t)1 << 20) /* most bytes of a workspace of which each part has its own */

double pass_cost(const pass_plan *p) {
  return (PASS_STEP_NS * (p->lp->n_steps + 1) + loop_steps_ns(p->lp)) * (double)p->rows * (double)p->inner;
}

typedef struct pass_shares {
  const pass_plan *plan;
  char *const *base;
  char *work;
  int64_t units, n; /* units: chunks of rows */
  thread_pool *pool;
} pass_shares;

static void pass_run_share(void *arg, int64_t share, int worker) {
  const pass_shares *s = arg;
  const pass_plan *p = s->plan;
  const int64_t from = pool_share_first(s->units, share, s->n), end = pool_share_first(s->units, share + 1, s->n);
  pass_run_with(NULL, s->pool, p, s->base, s->work + (size_t)worker * p->workspace, from * p->chunk,
                end * p->chunk < p->rows ? end * p->chunk : p->rows);
}

/* How many shares of rows to make; 1 where a fold's result has elements of several rows. */
static int64_t pass_row_shares(const thread_pool *pool, const pass_plan *p) {
  if (pool == NULL || p->n_streams > 0 || p->rows == 0 || p->inner == 0) return 1;
  const int64_t least = loop_share_least(p->lp);
  return pool_shares(pool, (p->rows + p->chunk - 1) / p->chunk, least / (p->chunk * p->inner));
}

static bool pass_takes_parts(const thread_pool *pool, const pass_plan *p) {
  return pool != NULL && p->n_streams == 0 && p->lp->n_passes == 1 && p->chunk == 1 && p->inner > 2 * REDUCE_PART &&
         p->rows < 2 * pool_size(pool) && p->workspace <= PASS_PART_WORK && REDUCE_PART % p->block == 0;
}

size_t pass_workspace_on(const thread_pool *pool, const pass_plan *p) {
  const size_t threads = (size_t)pool_size(pool);
  if (!pass_takes_parts(pool, p)) return p->workspace * threads;
  return p->workspace * (threads + 1) + (size_t)(p->inner / REDUCE_PART * p->n_folds) * sizeof(reduce_part);
}

void pass_run_on(thread_pool *pool, const pass_plan *p, char *const *base, void *workspace) {
  pass_shares s = {.plan = p, .base = base, .work = workspace, .pool = pool};
  s.n = pass_row_shares(pool, p);
  if (pass_takes_parts(pool, p)) {
    const pass_team team = {pool, s.work + p->workspace,
                            (reduce_part *)(void *)(s.work + p->workspace * ((size_t)pool_size(pool) + 1))};
    pass_run_with(&team, pool, p, base, workspace, 0, p->rows);
  } else if (s.n > 1) {
    s.units = (p->rows + p->chunk - 1) / p->chunk;
    pool_run(pool, s.n, pass_run_share, &s);
  } else {
    if (p->rows == 0 || p->inner == 0) pass_fill_streams(p, base, workspace);
    if (p->rows > 0) pass_run_with(NULL, pool, p, base, workspace, 0, p->rows);
  }
}
