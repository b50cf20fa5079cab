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

#include "loop.h"
#include "loop_int.h"

#define PASS_FEW_STEPS 8 /* a program with fewer steps has blocks twice as long, which still fit in L1 */

typedef enum pass_home {
  HOME_NONE,   /* not accessed */
  HOME_DIRECT, /* an operand that is used where it lies */
  HOME_BUFFER, /* in the workspace, for a gathered or scattered operand too */
  HOME_VALUES, /* a row register in the workspace */
  HOME_RESULT  /* a row register that is an output */
} pass_home;

typedef struct pass_reg {
  uint8_t home; /* pass_home */
  uint8_t size; /* bytes of an element */
  bool is_row;
  bool same;           /* an input that is the same for all rows */
  bool along;          /* its address moves along with the blocks of a row */
  bool lends;          /* its buffer may serve another register after `last` */
  bool expanded;       /* a row register that a step over elements reads */
  int32_t stamp;       /* the last pass that lists it, + 1 */
  int32_t first, last; /* steps between which a buffer is needed; last is -1 if nothing reads it */
  size_t buffer, values;
  nd_space space; /* of its cursor: the elements of a gathered or scattered operand; one value a row */
} pass_reg;

/* Register numbers, in the plan's pool. */
typedef struct pass_list {
  int32_t from, end;
} pass_list;

/* A pass. Steps [rows, steps) are over row registers and run before it, [steps, end) over the elements. */
typedef struct pass_span {
  int32_t rows, steps, end;
  pass_list expand, along, gather, scatter;
} pass_span;

/* What a fold over other axes has between blocks. */
typedef struct pass_stream {
  int64_t length;  /* elements of each result */
  int64_t seen;    /* of the result in hand */
  int64_t results; /* that are written */
  int64_t staged;  /* elements in `block` that the fold has not seen */
  _Alignas(64) char block[REDUCE_FOLD_BLOCK * 16];
} pass_stream;

struct pass_plan {
  const loop_program *lp;
  const kernel_isa *isa;
  nd_space outer;      /* rows, over the operands that are used in place and those of one value a row */
  int64_t rows, inner; /* rows, and the elements of each */
  int64_t chunk;       /* rows taken together */
  int64_t block;       /* elements of a block: of a row, or of the rows of a chunk */
  size_t workspace, addresses, cursors, folds, streams, reducing;
  int32_t n_folds, n_streams;
  int32_t ndim;
  int64_t *shape; /* of the iteration space */
  pass_reg *reg;
  pass_span *span; /* n_passes, and one for the row steps after the last */
  int16_t *pool;
  int32_t n_pool;
};

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct pass_layout {
  size_t reg, span, pool, numbers, shape, bytes;
} pass_layout;

static int pass_operands(const loop_program *lp) { return lp->n_in + lp->n_out; }

static pass_layout pass_layout_of(const loop_program *lp, int ndim) {
  const size_t n_ops = (size_t)pass_operands(lp), axes = (size_t)(ndim ? ndim : 1);
  size_t touched = 0;
  for (int i = 0; i < lp->n_steps; i++) touched += (size_t)lp->steps[i].n_in + (size_t)lp->steps[i].n_out;
  pass_layout l = {.bytes = sizeof(pass_plan)};
  l.reg = loop_take_bytes(&l.bytes, (size_t)lp->n_regs * sizeof(pass_reg));
  l.span = loop_take_bytes(&l.bytes, ((size_t)lp->n_passes + 1) * sizeof(pass_span));
  l.pool = loop_take_bytes(&l.bytes, 2 * touched * sizeof(int16_t));
  l.numbers = loop_take_bytes(&l.bytes, (ND_NUMBERS(axes, n_ops) + n_ops * ND_NUMBERS(axes, 1)) * sizeof(int64_t));
  l.shape = loop_take_bytes(&l.bytes, axes * sizeof(int64_t));
  return l;
}

size_t pass_plan_bytes(const loop_program *lp, int ndim) { return pass_layout_of(lp, ndim).bytes; }
size_t pass_workspace(const pass_plan *plan) { return plan->workspace; }
int64_t pass_rows(const pass_plan *plan) { return plan->rows; }

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* How many rows and elements a block has. Blocks of a fold end at multiples of REDUCE_FOLD_BLOCK. */
static void pass_choose_block(pass_plan *p) {
  int64_t widest = 1;
  for (int r = 0; r < p->lp->n_regs; r++) {
    if (!p->reg[r].is_row && p->reg[r].size > widest) widest = p->reg[r].size;
  }
  const int64_t bytes = p->lp->n_steps < PASS_FEW_STEPS ? 2 * LOOP_CHAIN_BYTES : LOOP_CHAIN_BYTES;
  int64_t most = bytes / widest / REDUCE_FOLD_BLOCK * REDUCE_FOLD_BLOCK;
  if (most < REDUCE_FOLD_BLOCK || p->lp->max_block > 0) most = REDUCE_FOLD_BLOCK;
  p->chunk = p->inner > 0 ? most / p->inner : most;
  if (p->lp->max_block > 0 && p->chunk > p->lp->max_block) p->chunk = p->lp->max_block;
  if (p->chunk > p->rows) p->chunk = p->rows;
  if (p->chunk < 1) p->chunk = 1;
  p->block = p->chunk > 1 || p->inner < most ? p->chunk * p->inner : most;
}

/* Whether the axes from first_axis on are contiguous. */
static bool pass_is_whole(int first_axis, int ndim, const int64_t *shape, const int64_t *stride, size_t size) {
  int64_t step = (int64_t)size;
  for (int axis = ndim - 1; axis >= first_axis; axis--) {
    if (shape[axis] != 1 && stride[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

static bool pass_is_same(int n_axes, const int64_t *shape, const int64_t *stride) {
  for (int axis = 0; axis < n_axes; axis++) {
    if (shape[axis] != 1 && stride[axis] != 0) return false;
  }
  return true;
}

/* Operand k of these strides; kept: the axes that are no part of a row. */
static void pass_plan_operand(pass_plan *p, int k, int ndim, int kept, const int64_t *shape, const int64_t *stride,
                              int64_t *numbers) {
  pass_reg *r = &p->reg[k];
  const bool is_out = k >= p->lp->n_in;
  if (is_out && r->is_row) {
    r->home = HOME_RESULT;
    return;
  }
  if (!is_out && r->last < 0) return;
  r->same = !is_out && pass_is_same(kept, shape, stride);
  if (r->is_row) {
    r->home = HOME_VALUES;
    nd_space_init(&r->space, numbers, kept, shape, 1, &stride);
    nd_space_inner(&r->space);
    return;
  }
  const bool fits = pass_is_whole(p->chunk > 1 ? 0 : kept, ndim, shape, stride, r->size);
  r->home = fits ? HOME_DIRECT : HOME_BUFFER;
  r->along = fits || (!is_out && r->same && p->inner > p->block);
  nd_space_init(&r->space, numbers, ndim, shape, 1, &stride);
  nd_space_inner(&r->space);
}

/* The rows: operands that are read by them have strides, others none. */
static void pass_plan_outer(pass_plan *p, int kept, const int64_t *shape, const int64_t *const *strides) {
  const int n_ops = pass_operands(p->lp);
  for (int axis = 0; axis < kept; axis++) {
    int64_t *stride = nd_space_next(&p->outer);
    for (int k = 0; k < n_ops; k++) {
      const pass_reg *r = &p->reg[k];
      const bool moves = r->home == HOME_DIRECT || (r->home == HOME_VALUES && !r->same);
      stride[k] = moves ? strides[k][axis] : 0;
    }
    nd_space_push(&p->outer, shape[axis]);
  }
}

/* ---- Schedule ---------------------------------------------------------------------------------------------------- */

/* Whether operand k of a step, register r, is a value of each row that it reads for each element. */
static bool pass_reads_expanded(const pass_reg *r, const loop_step *s, int k) {
  return k < s->n_in && r->is_row && !s->over_rows && s->kind != LOOP_PICK && s->kind != LOOP_PLACE;
}

/* Where each pass begins and ends; the range of steps that read or write each register. */
static void pass_plan_spans(pass_plan *p) {
  const loop_program *lp = p->lp;
  int i = 0;
  for (int q = 0; q <= lp->n_passes; q++) {
    pass_span *s = &p->span[q];
    s->rows = i;
    while (i < lp->n_steps && lp->steps[i].pass == q && lp->steps[i].over_rows) i++;
    s->steps = i;
    while (i < lp->n_steps && lp->steps[i].pass == q) i++;
    s->end = i;
  }
  damo_assert(i == lp->n_steps);
  for (int r = 0; r < lp->n_regs; r++) p->reg[r].first = p->reg[r].last = -1;
  for (i = 0; i < lp->n_steps; i++) {
    const loop_step *s = &lp->steps[i];
    for (int k = 0; k < s->n_in + s->n_out; k++) {
      pass_reg *r = &p->reg[s->reg[k]];
      if (r->first < 0) r->first = i;
      if (k < s->n_in) r->last = i;
      if (pass_reads_expanded(r, s, k)) r->expanded = true;
    }
    if (s->kind == LOOP_FOLD) p->n_folds++;
    if (s->kind == LOOP_FOLD && s->axes > 0) p->n_streams++;
  }
}

/* A register is needed in more than one pass, and a row has several blocks: it takes a row of the workspace. */
static bool pass_crosses(const pass_plan *p, const pass_reg *r) {
  if (p->inner <= p->block || r->last < 0) return false;
  return p->lp->steps[r->first].pass != p->lp->steps[r->last].pass;
}

static void pass_list_add(pass_plan *p, pass_list *l, int16_t r) {
  p->pool[p->n_pool++] = r;
  l->end = p->n_pool;
}

static pass_list pass_list_begin(const pass_plan *p) { return (pass_list){p->n_pool, p->n_pool}; }

typedef bool (*pass_selects)(const pass_plan *p, const pass_reg *r, const loop_step *s, int k, int q);

static bool pass_expands(const pass_plan *p, const pass_reg *r, const loop_step *s, int k, int q) {
  (void)p, (void)q;
  return pass_reads_expanded(r, s, k) && !r->same && r->stamp == 0;
}

static bool pass_moves(const pass_plan *p, const pass_reg *r, const loop_step *s, int k, int q) {
  (void)p, (void)s, (void)k;
  return !r->is_row && r->along && r->stamp != q + 1;
}

static bool pass_gathers(const pass_plan *p, const pass_reg *r, const loop_step *s, int k, int q) {
  (void)q;
  return k < s->n_in && s->reg[k] < p->lp->n_in && !r->is_row && r->home == HOME_BUFFER && !r->same && r->stamp >= 0;
}

static bool pass_scatters(const pass_plan *p, const pass_reg *r, const loop_step *s, int k, int q) {
  (void)q;
  return k >= s->n_in && s->reg[k] < pass_operands(p->lp) && !r->is_row && r->home == HOME_BUFFER;
}

/* The registers of the pass's steps over elements that are selected; each is stamped, gathered ones for good. */
static pass_list pass_select(pass_plan *p, int q, pass_selects selects, int32_t stamp) {
  pass_list l = pass_list_begin(p);
  for (int i = p->span[q].steps; i < p->span[q].end; i++) {
    const loop_step *s = &p->lp->steps[i];
    for (int k = 0; k < s->n_in + s->n_out; k++) {
      pass_reg *r = &p->reg[s->reg[k]];
      if (!selects(p, r, s, k, q)) continue;
      r->stamp = stamp;
      pass_list_add(p, &l, s->reg[k]);
    }
  }
  return l;
}

static void pass_plan_lists(pass_plan *p) {
  for (int q = 0; q < p->lp->n_passes; q++) {
    pass_span *s = &p->span[q];
    s->expand = pass_select(p, q, pass_expands, 1);
    s->along = pass_select(p, q, pass_moves, q + 1);
  }
  for (int r = 0; r < p->lp->n_regs; r++) p->reg[r].stamp = 0;
  for (int q = 0; q < p->lp->n_passes; q++) {
    p->span[q].gather = pass_select(p, q, pass_gathers, -1);
    p->span[q].scatter = pass_select(p, q, pass_scatters, -1);
  }
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

/* A buffer for register r from step i on: that of a register of its kind that no step after `free` reads, or a new one. */
static void pass_plan_buffer(pass_plan *p, int r, int free) {
  pass_reg *t = &p->reg[r];
  for (int q = 0; q < p->lp->n_regs; q++) {
    pass_reg *old = &p->reg[q];
    if (q == r || !old->lends || old->last > free || old->size != t->size || old->along != t->along) continue;
    old->lends = false;
    t->buffer = old->buffer;
    t->lends = true;
    return;
  }
  const int64_t n = t->along ? p->inner : p->block;
  t->buffer = loop_take_bytes(&p->workspace, (size_t)n * t->size + LOOP_BUFFER_SKEW);
  t->lends = true;
}

static void pass_plan_buffers(pass_plan *p) {
  const loop_program *lp = p->lp;
  for (int r = 0; r < lp->n_regs; r++) {
    pass_reg *t = &p->reg[r];
    const int64_t n = t->along ? p->inner : p->block;
    if (t->is_row || t->home != HOME_BUFFER || !t->same) continue;
    t->buffer = loop_take_bytes(&p->workspace, (size_t)n * t->size + LOOP_BUFFER_SKEW);
  }
  for (int q = 0; q < lp->n_passes; q++) {
    const pass_span *s = &p->span[q];
    for (int j = s->gather.from; j < s->gather.end; j++) pass_plan_buffer(p, p->pool[j], s->steps - 1);
    for (int i = s->steps; i < s->end; i++) {
      for (int k = lp->steps[i].n_in; k < lp->steps[i].n_in + lp->steps[i].n_out; k++) {
        pass_reg *t = &p->reg[lp->steps[i].reg[k]];
        if (t->is_row || t->home != HOME_BUFFER) continue;
        if (lp->steps[i].reg[k] < pass_operands(lp) && t->last < s->end) t->last = s->end; /* until it is scattered */
        pass_plan_buffer(p, lp->steps[i].reg[k], i);
      }
    }
  }
}

static void pass_plan_workspace(pass_plan *p) {
  const loop_program *lp = p->lp;
  const size_t n_regs = (size_t)lp->n_regs, n_ops = (size_t)pass_operands(lp);
  p->workspace = 0;
  p->addresses = loop_take_bytes(&p->workspace, (3 * n_regs + n_ops) * sizeof(void *));
  p->cursors = loop_take_bytes(&p->workspace, n_ops * sizeof(nd_cursor));
  p->folds = loop_take_bytes(&p->workspace, (size_t)p->n_folds * reduce_fold_bytes());
  p->streams = loop_take_bytes(&p->workspace, (size_t)p->n_streams * sizeof(pass_stream));
  size_t reducing = 0;
  for (int i = 0; i < lp->n_steps; i++) {
    const loop_step *s = &lp->steps[i];
    if (s->kind != LOOP_FOLD) continue;
    const size_t bytes = reduce_workspace(s->fn.fold, (damo_dtype)lp->regs[s->reg[0]].dtype, 2,
                                          (const int64_t[]){p->chunk, p->inner}, 2);
    reducing = bytes > reducing ? bytes : reducing;
  }
  p->reducing = loop_take_bytes(&p->workspace, reducing);
  for (int r = 0; r < lp->n_regs; r++) {
    pass_reg *t = &p->reg[r];
    if (!t->is_row) continue;
    if (t->home == HOME_VALUES) t->values = loop_take_bytes(&p->workspace, (size_t)p->chunk * t->size);
    if (t->expanded) t->buffer = loop_take_bytes(&p->workspace, (size_t)p->block * t->size + LOOP_BUFFER_SKEW);
  }
  pass_plan_buffers(p);
}

pass_plan *pass_plan_init(void *memory, const loop_program *lp, const kernel_isa *isa, int ndim, const int64_t *shape,
                          const int64_t *const *strides, int n_axes) {
  const pass_layout l = pass_layout_of(lp, ndim);
  const int kept = ndim - n_axes, n_ops = pass_operands(lp);
  char *m = memory;
  pass_plan *p = memory;
  memset(m, 0, l.bytes);
  p->lp = lp;
  p->isa = isa;
  p->reg = (pass_reg *)(void *)(m + l.reg);
  p->span = (pass_span *)(void *)(m + l.span);
  p->pool = (int16_t *)(void *)(m + l.pool);
  p->ndim = ndim;
  p->shape = memcpy(m + l.shape, shape, (size_t)ndim * sizeof *shape);
  p->rows = p->inner = 1;
  for (int axis = 0; axis < ndim; axis++) *(axis < kept ? &p->rows : &p->inner) *= shape[axis];
  for (int r = 0; r < lp->n_regs; r++) {
    p->reg[r].size = (uint8_t)dtype_size((damo_dtype)lp->regs[r].dtype);
    p->reg[r].is_row = lp->regs[r].is_row;
  }
  pass_plan_spans(p);
  if (p->rows == 0) return p;
  pass_choose_block(p);
  int64_t *numbers = (int64_t *)(void *)(m + l.numbers);
  p->outer = nd_space_begin(numbers, ndim ? ndim : 1, n_ops);
  numbers += ND_NUMBERS(ndim ? ndim : 1, n_ops);
  for (int k = 0; k < n_ops; k++, numbers += ND_NUMBERS(ndim ? ndim : 1, 1))
    pass_plan_operand(p, k, ndim, kept, shape, strides[k], numbers);
  for (int r = 0; r < lp->n_regs; r++) {
    pass_reg *t = &p->reg[r];
    if (r >= n_ops) t->home = t->is_row ? HOME_VALUES : HOME_BUFFER;
    if (t->home == HOME_BUFFER && !t->same) t->along = pass_crosses(p, t);
  }
  pass_plan_outer(p, kept, shape, strides);
  pass_plan_lists(p);
  pass_plan_workspace(p);
  return p;
}

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
    if (t->expanded) pass_expand(r, k, p->chunk);
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
    nd_cursor_read(&r->cursor[k], r->block[k], n, p->reg[k].size);
  }
  for (int i = q->steps; i < q->end; i++) {
    const loop_step *s = &p->lp->steps[i];
    switch ((loop_kind)s->kind) {
      case LOOP_KERNEL:
      case LOOP_CAST: loop_step_run(s, r->block, n); break;
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
    if (t->home != HOME_BUFFER || t->same) continue;
    pass_cursor_begin(&r->cursor[k], &t->space, r->base[k], r->row * p->inner + pos);
  }
}

static void pass_run_part(void *arg, int64_t share, int worker) {
  const pass_parts *s = arg;
  const pass_state *row = s->row;
  const pass_plan *p = row->plan;
  pass_state r;
  pass_state_init(&r, p, row->base, row->team->work + (size_t)worker * p->workspace);
  r.row = row->row;
  for (int i = 0; i < p->lp->n_regs; i++) {
    r.block[i] = p->reg[i].is_row ? row->block[i] : r.work + p->reg[i].buffer;
    r.value[i] = row->value[i];
    r.start[i] = row->start[i];
  }
  pass_begin_folds(&r, 0);
  for (int i = 0; i < p->n_folds; i++) reduce_fold_begin(pass_fold_at(&r, i), p->inner);
  const int64_t first = share * REDUCE_PART, end = first + REDUCE_PART;
  pass_seek(&r, first);
  for (int64_t pos = first; pos < end; pos += p->block) pass_block(&r, s->span, pos, p->block, 1, (pass_count){0, 0});
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
    for (int i = s->rows; i < s->steps; i++) loop_step_run(&p->lp->steps[i], r->value, n);
    for (int j = s->expand.from; j < s->expand.end; j++) pass_expand(r, p->pool[j], n);
    if (p->chunk > 1 || p->inner == 0) {
      pass_block(r, s, 0, n * p->inner, n, at);
    } else if (s->steps < s->end) {
      for (int64_t pos = r->team ? pass_run_parts(r, s) : 0; pos < p->inner; pos += p->block)
        pass_block(r, s, pos, p->inner - pos < p->block ? p->inner - pos : p->block, 1, at);
    }
    for (int i = s->steps; i < s->end; i++) {
      if (p->lp->steps[i].kind != LOOP_FOLD) continue;
      at.fold++;
      at.stream += p->lp->steps[i].axes > 0;
    }
  }
}

static void pass_run_with(const pass_team *team, const pass_plan *p, char *const *base, void *workspace, int64_t row,
                          int64_t end) {
  pass_state r;
  pass_state_init(&r, p, base, workspace);
  r.team = team;
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
  pass_run_with(NULL, p, base, workspace, row, end);
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

#define PASS_STEP_NS 0.5                 /* of one element, if the steps are cheap */
#define PASS_SHARE 8192                  /* elements of a share, at least */
#define PASS_PART_WORK ((size_t)1 << 20) /* most bytes of a workspace of which each part has its own */

double pass_cost(const pass_plan *p) {
  return PASS_STEP_NS * (double)p->rows * (double)p->inner * (p->lp->n_steps + 1);
}

typedef struct pass_shares {
  const pass_plan *plan;
  char *const *base;
  char *work;
  int64_t units, n; /* units: chunks of rows */
} pass_shares;

static void pass_run_share(void *arg, int64_t share, int worker) {
  const pass_shares *s = arg;
  const pass_plan *p = s->plan;
  const int64_t from = pool_share_first(s->units, share, s->n), end = pool_share_first(s->units, share + 1, s->n);
  pass_run(p, s->base, s->work + (size_t)worker * p->workspace, from * p->chunk,
           end * p->chunk < p->rows ? end * p->chunk : p->rows);
}

/* How many shares of rows to make; 1 where a fold's result has elements of several rows. */
static int64_t pass_row_shares(const thread_pool *pool, const pass_plan *p) {
  if (pool == NULL || p->n_streams > 0 || p->rows == 0 || p->inner == 0) return 1;
  return pool_shares(pool, (p->rows + p->chunk - 1) / p->chunk, PASS_SHARE / (p->chunk * p->inner));
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
  pass_shares s = {.plan = p, .base = base, .work = workspace};
  s.n = pass_row_shares(pool, p);
  if (pass_takes_parts(pool, p)) {
    const pass_team team = {pool, s.work + p->workspace,
                            (reduce_part *)(void *)(s.work + p->workspace * ((size_t)pool_size(pool) + 1))};
    pass_run_with(&team, p, base, workspace, 0, p->rows);
  } else if (s.n > 1) {
    s.units = (p->rows + p->chunk - 1) / p->chunk;
    pool_run(pool, s.n, pass_run_share, &s);
  } else {
    pass_run(p, base, workspace, 0, p->rows);
  }
}
