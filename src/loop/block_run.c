/* block_run: runs a list of kernel steps over strided operands, in blocks that stay in L1.
 *
 * A kernel sees contiguous blocks only. An operand that is contiguous where a block lies is used in place; others are
 * gathered into a buffer of the workspace first, and strided results are scattered from one. Blocks are pieces of a row
 * (the innermost of the merged axes), or several whole rows where these are short. What is the same for all blocks is
 * computed once: an input without strides along the rows, and the steps that read such inputs alone. An input that is
 * broadcast along the rows is one value a row: a step over such values computes one value, and what a step over blocks
 * reads of them is expanded into a block once a row.
 */
#include <string.h>

#include "loop.h"
#include "loop_int.h"

#define BLOCK_BYTES 8192
#define CHAIN_STEPS 3
#define SHORT_ROW 64 /* rows shorter than this are gathered several at a time */

typedef enum operand_mode {
  MODE_UNUSED,
  MODE_WHOLE,     /* contiguous over the whole iteration: used in place */
  MODE_ROW,       /* contiguous along each row: used in place, a block being a piece of one row */
  MODE_VALUE,     /* one value a row, or for all rows */
  MODE_GATHER,    /* gathered, for each block or once for all */
  MODE_LOAD,      /* by positions, or computed: for each block (load_run.c) */
  MODE_POSITIONS, /* of a MODE_LOAD: a cursor alone */
  MODE_SCATTER,
  MODE_STREAM /* a whole output that is too long to stay in the cache: a buffer, copied by non-temporal stores */
} operand_mode;

/* When a register is filled. Those filled once or for each row hold for all blocks that follow. */
typedef enum reg_time { TIME_ONCE, TIME_ROW, TIME_BLOCK } reg_time;

typedef struct reg_plan {
  uint8_t size;    /* bytes of an element */
  uint8_t time;    /* reg_time */
  bool is_value;   /* one value, not a block */
  bool is_read;    /* by a step */
  bool has_buffer; /* for a block: gathered, scattered, a temporary, or a value expanded */
  int32_t last;    /* of a temporary: the last step that reads it, -1 */
  bool lends;      /* of a temporary: its buffer may serve another after `last` */
  size_t value;    /* offset in the workspace of a value that a step makes */
  size_t buffer;
} reg_plan;

typedef struct operand_plan {
  operand_mode mode;
  nd_space space;
  loop_taken taken;
} operand_plan;

/* What is done with an operand before the steps of each block, after them, or before each row. */
typedef struct block_move {
  uint8_t mode, size;
  int16_t operand;
} block_move;

struct loop_plan {
  const loop_program *lp;
  nd_space space;                /* over all operands; the innermost axis is a block's */
  int64_t inner;                 /* length of a row */
  int64_t rows;                  /* rows a block: 1, or several short ones */
  int64_t block;                 /* elements a block */
  bool direct;                   /* every register is an operand that is used in place, over one row */
  bool single;                   /* one block holds the whole iteration */
  bool once;                     /* there are registers that all blocks share */
  bool steps_at[TIME_BLOCK + 1]; /* there are steps that run then */
  size_t workspace, cursors;     /* bytes; where in them the cursors are */
  operand_plan *operand;         /* inputs, then outputs */
  reg_plan *reg;
  block_move *moves, *scatters, *values; /* values: one for each row */
  int32_t n_moves, n_scatters, n_values;
  int32_t n_streams;      /* of the scatters */
  int32_t first_in_block; /* step: those before it run once or for each row */
  uint8_t *step_time;
  bool *step_is_value, *step_by_value; /* by_value: by the kernel of that name */
};

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct plan_layout {
  size_t operand, reg, moves, step_time, step_is_value, step_by_value, numbers, bytes;
} plan_layout;

static plan_layout layout_of(const loop_program *lp, int ndim) {
  const size_t n_ops = (size_t)(lp->n_in + lp->n_out), n_steps = (size_t)lp->n_steps;
  plan_layout l = {.bytes = sizeof(loop_plan)};
  l.operand = loop_take_bytes(&l.bytes, n_ops * sizeof(operand_plan));
  l.reg = loop_take_bytes(&l.bytes, (size_t)lp->n_regs * sizeof(reg_plan));
  l.numbers = loop_take_bytes(&l.bytes, ND_NUMBERS((size_t)(ndim ? ndim : 1), n_ops) * sizeof(int64_t));
  l.moves = loop_take_bytes(&l.bytes, 3 * n_ops * sizeof(block_move));
  l.step_time = loop_take_bytes(&l.bytes, n_steps);
  l.step_is_value = loop_take_bytes(&l.bytes, n_steps * sizeof(bool));
  l.step_by_value = loop_take_bytes(&l.bytes, n_steps * sizeof(bool));
  return l;
}

size_t loop_plan_bytes(const loop_program *lp, int ndim) { return layout_of(lp, ndim).bytes; }
size_t loop_workspace(const loop_plan *plan) { return plan->workspace; }
int64_t loop_rows(const loop_plan *plan) { return plan->space.rows; }

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static int n_operands(const loop_program *lp) { return lp->n_in + lp->n_out; }

/* Chooses how many rows and elements a block has, where buffers are needed. */
static void choose_block(loop_plan *p) {
  int64_t widest = 1;
  for (int r = 0; r < p->lp->n_regs; r++) {
    const bool used = r >= p->lp->n_in || p->reg[r].is_read;
    if (used && p->reg[r].size > widest) widest = p->reg[r].size;
  }
  const int64_t bytes = p->lp->n_steps < CHAIN_STEPS ? BLOCK_BYTES : LOOP_CHAIN_BYTES;
  const int64_t fits = bytes / widest, max = p->lp->max_block;
  const int64_t most = max > 0 && max < fits ? max : fits;
  p->rows = p->inner < SHORT_ROW && p->inner < most && p->space.rows > 1 ? most / p->inner : 1;
  if (p->rows > p->space.rows) p->rows = p->space.rows;
  p->block = p->rows > 1 ? p->rows * p->inner : p->inner < most ? p->inner : most;
  damo_assert(p->rows > 0 && p->block > 0 && p->block <= p->rows * p->inner);
}

static void plan_operand(loop_plan *p, int k, bool is_out) {
  reg_plan *r = &p->reg[k];
  const int64_t step = nd_inner_stride(&p->space, k);
  const bool same = !is_out && nd_is_same_in_all_rows(&p->space, k), whole_rows = p->rows > 1 || p->block == p->inner;
  operand_mode *mode = &p->operand[k].mode;
  r->time = TIME_BLOCK;
  if (!is_out && !r->is_read) {
    *mode = MODE_UNUSED;
  } else if (loop_is_loaded(p->lp, k)) {
    *mode = p->lp->regs[k].load == LOAD_POSITIONS ? MODE_POSITIONS : MODE_LOAD;
    r->has_buffer = *mode == MODE_LOAD;
  } else if (nd_is_contiguous(&p->space, k, r->size)) {
    const size_t bytes = (size_t)p->space.rows * (size_t)p->inner * r->size;
    *mode = is_out && bytes >= kernel_stream_least(bytes) ? MODE_STREAM : MODE_WHOLE;
    r->has_buffer = *mode == MODE_STREAM;
  } else if (!is_out && step == 0 && (p->rows == 1 || same)) {
    *mode = MODE_VALUE;
    r->is_value = true;
    r->time = same ? TIME_ONCE : TIME_ROW;
  } else {
    *mode = p->rows == 1 && step == r->size ? MODE_ROW : is_out ? MODE_SCATTER : MODE_GATHER;
    r->has_buffer = *mode != MODE_ROW;
    if (same && whole_rows) r->time = TIME_ONCE;
  }
}

/* When a step runs, and whether on one value: as its inputs tell. A step that makes an output runs for each block. */
static void plan_step(loop_plan *p, int i) {
  const loop_step *s = &p->lp->steps[i];
  uint8_t time = TIME_ONCE;
  bool is_value = true, by_value = s->by_value != NULL;
  for (int k = 0; k < s->n_in; k++) {
    const reg_plan *r = &p->reg[s->reg[k]];
    if (r->time > time) time = r->time;
    is_value = is_value && r->is_value;
    by_value = by_value && (r->is_value || (s->values >> k & 1) == 0);
  }
  for (int k = s->n_in; k < s->n_in + s->n_out; k++) {
    if (s->reg[k] >= n_operands(p->lp)) continue;
    time = TIME_BLOCK;
    is_value = false;
  }
  if (!is_value && time == TIME_ROW) time = TIME_BLOCK;
  const int firsts = s->firsts | (by_value ? s->values : 0);
  for (int k = 0; k < s->n_in; k++) {
    reg_plan *r = &p->reg[s->reg[k]];
    if (r->is_value && !is_value && (firsts >> k & 1) == 0) r->has_buffer = true;
  }
  for (int k = s->n_in; k < s->n_in + s->n_out; k++) {
    reg_plan *r = &p->reg[s->reg[k]];
    r->time = time;
    r->is_value = is_value;
    if (s->reg[k] >= n_operands(p->lp) && !is_value) r->has_buffer = true;
  }
  p->step_time[i] = time;
  p->steps_at[time] = true;
  p->step_is_value[i] = is_value;
  p->step_by_value[i] = by_value && !is_value;
}

static bool is_block_temporary(const loop_plan *p, int r) {
  return r >= n_operands(p->lp) && p->reg[r].has_buffer && p->reg[r].time == TIME_BLOCK;
}

/* The buffer of temporary r, which step i writes: that of a temporary of the same size that no later step reads, so that
 * the buffers in use stay in L1, or a new one. A kernel may write over an operand of the same size. */
static void plan_temporary(loop_plan *p, int i, int r) {
  reg_plan *t = &p->reg[r];
  for (int q = n_operands(p->lp); q < p->lp->n_regs; q++) {
    reg_plan *old = &p->reg[q];
    if (q == r || !old->lends || old->last > i || old->size != t->size) continue;
    old->lends = false;
    t->buffer = old->buffer;
    t->lends = true;
    return;
  }
  t->buffer = loop_take_bytes(&p->workspace, (size_t)p->block * t->size + LOOP_BUFFER_SKEW);
  t->lends = true;
}

static void plan_temporaries(loop_plan *p) {
  for (int r = 0; r < p->lp->n_regs; r++) p->reg[r].last = -1;
  for (int i = 0; i < p->lp->n_steps; i++) {
    const loop_step *s = &p->lp->steps[i];
    for (int k = 0; k < s->n_in; k++) p->reg[s->reg[k]].last = i;
  }
  for (int i = 0; i < p->lp->n_steps; i++) {
    const loop_step *s = &p->lp->steps[i];
    for (int k = s->n_in; k < s->n_in + s->n_out; k++) {
      if (is_block_temporary(p, s->reg[k])) plan_temporary(p, i, s->reg[k]);
    }
  }
}

/* The workspace: addresses of blocks, of values, cursors, values, buffers. */
static void plan_workspace(loop_plan *p) {
  const size_t n_regs = (size_t)p->lp->n_regs;
  p->workspace = 0;
  loop_take_bytes(&p->workspace, 2 * n_regs * sizeof(void *));
  p->cursors = loop_take_bytes(&p->workspace, (size_t)n_operands(p->lp) * sizeof(nd_cursor));
  for (int i = 0; i < p->lp->n_regs; i++) {
    reg_plan *r = &p->reg[i];
    if (r->is_value) { r->value = loop_take_bytes(&p->workspace, r->size); }
    if (r->time == TIME_ONCE) p->once = true;
    if (r->has_buffer && !is_block_temporary(p, i))
      r->buffer = loop_take_bytes(&p->workspace, (size_t)p->block * r->size + LOOP_BUFFER_SKEW);
  }
  plan_temporaries(p);
}

/* What each block needs, apart from what all blocks share. */
static void plan_moves(loop_plan *p) {
  for (int k = 0; k < n_operands(p->lp); k++) {
    const operand_mode mode = p->operand[k].mode;
    const block_move move = {(uint8_t)mode, p->reg[k].size, (int16_t)k};
    if (mode == MODE_VALUE && p->reg[k].time == TIME_ROW) p->values[p->n_values++] = move;
    if (mode == MODE_UNUSED || mode == MODE_POSITIONS || p->reg[k].time != TIME_BLOCK) continue;
    if (mode == MODE_SCATTER || mode == MODE_STREAM)
      p->scatters[p->n_scatters++] = move;
    else
      p->moves[p->n_moves++] = move;
    p->n_streams += mode == MODE_STREAM;
  }
  while (p->first_in_block < p->lp->n_steps && p->step_time[p->first_in_block] != TIME_BLOCK) p->first_in_block++;
}

static void plan_registers(loop_plan *p) {
  const loop_program *lp = p->lp;
  bool direct = true, buffered = false;
  choose_block(p);
  for (int k = 0; k < n_operands(lp); k++) plan_operand(p, k, k >= lp->n_in);
  for (int i = 0; i < lp->n_steps; i++) plan_step(p, i);
  for (int k = 0; k < n_operands(lp); k++) direct = direct && p->operand[k].mode <= MODE_WHOLE;
  for (int i = 0; i < lp->n_regs; i++) buffered = buffered || p->reg[i].has_buffer;
  p->direct = direct && lp->n_regs == n_operands(lp) && lp->max_block == 0;
  if (!buffered && p->rows == 1 && lp->max_block == 0 && lp->n_steps < 2) p->block = p->inner;
  p->single = p->rows == p->space.rows && p->rows * p->inner <= p->block;
  plan_moves(p);
  if (!p->direct) plan_workspace(p);
}

/* Writes the strides along an axis; operands that no step reads don't keep axes apart. */
static void plan_strides(const loop_plan *p, int axis, const int64_t *const *strides) {
  const int n_in = p->lp->n_in;
  int64_t *stride = nd_space_next(&p->space);
  for (int k = 0; k < n_operands(p->lp); k++) { stride[k] = k >= n_in || p->reg[k].is_read ? strides[k][axis] : 0; }
}

static void plan_space(loop_plan *p, int ndim, const int64_t *shape, const int64_t *const *strides) {
  for (int axis = 0; axis < ndim; axis++) {
    plan_strides(p, axis, strides);
    nd_space_push(&p->space, shape[axis]);
  }
  p->inner = nd_space_inner(&p->space);
}

static loop_plan *plan_begin(void *memory, const loop_program *lp, int ndim) {
  const plan_layout l = layout_of(lp, ndim);
  char *m = memory;
  loop_plan *p = memory;
  memset(m, 0, l.bytes);
  p->lp = lp;
  p->operand = (operand_plan *)(void *)(m + l.operand);
  p->reg = (reg_plan *)(void *)(m + l.reg);
  p->moves = (block_move *)(void *)(m + l.moves);
  p->scatters = p->moves + n_operands(lp);
  p->values = p->scatters + n_operands(lp);
  p->step_time = (uint8_t *)(m + l.step_time);
  p->step_is_value = (bool *)(m + l.step_is_value);
  p->step_by_value = (bool *)(m + l.step_by_value);
  p->space = nd_space_begin((int64_t *)(void *)(m + l.numbers), ndim ? ndim : 1, n_operands(lp));
  for (int i = 0; i < lp->n_steps; i++) {
    for (int k = 0; k < lp->steps[i].n_in; k++) p->reg[lp->steps[i].reg[k]].is_read = true;
  }
  for (int k = 0; k < lp->n_in; k++) {
    if (lp->regs[k].load == LOAD_TAKEN && p->reg[k].is_read) p->reg[lp->regs[k].positions].is_read = true;
  }
  for (int i = 0; i < lp->n_regs; i++) p->reg[i].size = (uint8_t)dtype_size((damo_dtype)lp->regs[i].dtype);
  return p;
}

static void plan_end(loop_plan *p) {
  for (int k = 0; k < n_operands(p->lp); k++) p->operand[k].space = nd_space_operand(&p->space, k);
  if (p->space.rows > 0) plan_registers(p);
}

loop_plan *loop_plan_init(void *memory, const loop_program *lp, int ndim, const int64_t *shape,
                          const int64_t *const *strides) {
  loop_plan *p = plan_begin(memory, lp, ndim);
  for (int k = 0; k < lp->n_in; k++) p->operand[k].taken = loop_taken_of(lp, k, ndim, strides[k]);
  plan_space(p, ndim, shape, strides);
  plan_end(p);
  return p;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct block_run {
  const loop_plan *plan;
  void **block, **value; /* addresses of the registers' blocks and values */
  char *const *base;
  bool streams;      /* outputs of MODE_STREAM are copied, else written in place */
  nd_cursor *cursor; /* of each operand; where it is whole or a value for all rows, its address alone */
  thread_pool *pool; /* or NULL */
} block_run;

/* A value that steps over blocks read, for the longest block; as a block of one where that is all they read. */
static void expand_value(const block_run *r, int i) {
  const reg_plan *g = &r->plan->reg[i];
  if (g->has_buffer)
    kernel_copy_strided(r->value[i], 0, r->block[i], g->size, r->plan->block, g->size);
  else
    r->block[i] = r->value[i];
}

static void run_block_step(const block_run *r, int i, int64_t n) {
  const loop_step *s = &r->plan->lp->steps[i];
  if (r->plan->step_by_value[i])
    loop_step_run_by_value(s, r->block, r->value, n);
  else
    loop_step_run_on(r->pool, r->plan->lp, s, r->block, n);
}

static void run_any_step(const block_run *r, int i, int64_t n) {
  const loop_step *s = &r->plan->lp->steps[i];
  if (!r->plan->step_is_value[i]) {
    run_block_step(r, i, n);
    return;
  }
  loop_step_run(s, r->value, 1);
  for (int k = s->n_in; k < s->n_in + s->n_out; k++) expand_value(r, s->reg[k]);
}

static void run_steps_at(const block_run *r, reg_time time, int64_t n) {
  for (int i = 0; i < r->plan->lp->n_steps; i++) {
    if (r->plan->step_time[i] == time) run_any_step(r, i, n);
  }
}

/* Fills what is the same for all blocks. */
static void run_once(const block_run *r) {
  const loop_plan *p = r->plan;
  for (int k = 0; k < p->lp->n_in; k++) {
    nd_cursor *c = &r->cursor[k];
    if (p->reg[k].time != TIME_ONCE) continue;
    if (p->operand[k].mode == MODE_VALUE) {
      r->value[k] = c->p;
      expand_value(r, k);
    } else if (p->operand[k].mode == MODE_ROW) {
      r->block[k] = c->p;
    } else {
      nd_cursor_read(c, r->block[k], p->block, p->reg[k].size);
    }
  }
  if (p->steps_at[TIME_ONCE]) run_steps_at(r, TIME_ONCE, p->block);
}

/* Fills what is the same for the blocks of a row: values alone. */
static void run_row(const block_run *r) {
  const loop_plan *p = r->plan;
  for (int i = 0; i < p->n_values; i++) {
    const int k = p->values[i].operand;
    nd_cursor *c = &r->cursor[k];
    r->value[k] = c->p;
    expand_value(r, k);
    nd_next(&c->walk, &c->p);
  }
  if (p->steps_at[TIME_ROW]) run_steps_at(r, TIME_ROW, 1);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Whether outputs of MODE_STREAM are copied from their buffers. Where one is an input's memory, which is in the cache,
 * they are written in place. */
static bool stream_first(const block_run *r, char *const *base) {
  const loop_plan *p = r->plan;
  bool streams = p->n_streams > 0;
  for (int k = 0; k < p->n_scatters && streams; k++) {
    for (int i = 0; i < p->lp->n_in && p->scatters[k].mode == MODE_STREAM; i++)
      streams = streams && base[i] != base[p->scatters[k].operand];
  }
  for (int k = 0; k < p->n_scatters && !streams; k++) {
    const int out = p->scatters[k].operand;
    if (p->scatters[k].mode == MODE_STREAM) r->block[out] = r->cursor[out].p;
  }
  return streams;
}

static void stream_end(const block_run *r, const block_move *m, int64_t n) {
  nd_cursor *c = &r->cursor[m->operand];
  if (r->streams) kernel_copy_stream(c->p, r->block[m->operand], (size_t)(n * m->size));
  c->p += n * m->size;
  if (!r->streams) r->block[m->operand] = c->p;
}

static void run_load(const block_run *r, int k, int64_t n) {
  loop_load_run(r->plan->lp, k, r->cursor, r->base[k], &r->plan->operand[k].taken, r->block[k], n);
}

static void run_block(const block_run *r, int64_t n) {
  const loop_plan *p = r->plan;
  for (const block_move *m = p->moves, *end = m + p->n_moves; m < end; m++) {
    nd_cursor *c = &r->cursor[m->operand];
    switch ((operand_mode)m->mode) {
      case MODE_WHOLE:
        r->block[m->operand] = c->p;
        c->p += n * m->size;
        break;
      case MODE_ROW:
        r->block[m->operand] = nd_cursor_address(c);
        nd_cursor_skip(c, n);
        break;
      case MODE_GATHER: nd_cursor_read(c, r->block[m->operand], n, m->size); break;
      case MODE_LOAD: run_load(r, m->operand, n); break;
      case MODE_UNUSED:
      case MODE_POSITIONS:
      case MODE_VALUE:
      case MODE_STREAM:
      case MODE_SCATTER: break;
    }
  }
  for (int i = p->first_in_block; i < p->lp->n_steps; i++) {
    if (p->step_time[i] == TIME_BLOCK) run_block_step(r, i, n);
  }
  for (int i = 0; i < p->n_scatters; i++) {
    const block_move *m = &p->scatters[i];
    if (m->mode == MODE_STREAM)
      stream_end(r, m, n);
    else
      nd_cursor_write(&r->cursor[m->operand], r->block[m->operand], n, m->size);
  }
}

/* Sets all operands to that position of a row. */
static void run_begin(const block_run *r, char *const *base, int64_t row, int64_t pos) {
  const loop_plan *p = r->plan;
  for (int k = 0; k < n_operands(p->lp); k++) {
    nd_cursor *c = &r->cursor[k];
    if (p->operand[k].mode == MODE_WHOLE || p->operand[k].mode == MODE_STREAM) {
      c->p = base[k] + (row * p->inner + pos) * p->reg[k].size;
    } else if (p->operand[k].mode == MODE_VALUE && p->reg[k].time == TIME_ONCE) {
      c->p = base[k];
    } else if (p->operand[k].mode != MODE_UNUSED) {
      nd_cursor_begin(c, &p->operand[k].space, base[k]);
      if (row > 0) nd_seek(&c->walk, row, &c->p);
      if (p->reg[k].time == TIME_BLOCK) c->pos = pos;
    }
  }
}

/* All elements of operand k, into its block or out of it. */
static void move_all(const block_run *r, int k, char *data, bool out) {
  const nd_space *s = &r->plan->operand[k].space;
  const size_t size = r->plan->reg[k].size;
  const int64_t unit = (int64_t)size, length = r->plan->inner, row = length * unit, step = nd_inner_stride(s, 0);
  if (s->n_axes > 2) {
    nd_cursor *c = &r->cursor[k];
    nd_cursor_begin(c, s, data);
    if (out)
      nd_cursor_write(c, r->block[k], s->rows * length, size);
    else
      nd_cursor_read(c, r->block[k], s->rows * length, size);
  } else if (out) {
    kernel_copy_rows(r->block[k], row, unit, data, s->stride[0], step, s->rows, length, size);
  } else {
    kernel_copy_rows(data, s->stride[0], step, r->block[k], row, unit, s->rows, length, size);
  }
}

/* The whole iteration as one block: without cursors, which small loops would spend most of their time on. */
static void run_single(const block_run *r, char *const *base) {
  const loop_plan *p = r->plan;
  const loop_program *lp = p->lp;
  const int n_ops = n_operands(lp);
  for (int k = 0; k < n_ops; k++) {
    switch (p->operand[k].mode) {
      case MODE_WHOLE:
      case MODE_ROW: r->block[k] = base[k]; break;
      case MODE_VALUE:
        r->value[k] = base[k];
        expand_value(r, k);
        break;
      case MODE_GATHER: move_all(r, k, base[k], false); break;
      case MODE_LOAD:
      case MODE_POSITIONS: nd_cursor_begin(&r->cursor[k], &p->operand[k].space, base[k]); break;
      case MODE_UNUSED:
      case MODE_STREAM: /* of many blocks */
      case MODE_SCATTER: break;
    }
  }
  for (int k = 0; k < lp->n_in; k++) {
    if (p->operand[k].mode == MODE_LOAD) run_load(r, k, p->block);
  }
  for (int i = 0; i < lp->n_steps; i++) run_any_step(r, i, p->block);
  for (int k = lp->n_in; k < n_ops; k++) {
    if (p->operand[k].mode == MODE_SCATTER) move_all(r, k, base[k], true);
  }
}

/* Runs the elements from position `from` of row `row` to position `end` of row `last`, which is at least 1. Of plans with
 * several rows a block, whole rows alone. */
static void run_span(const loop_plan *p, thread_pool *pool, char *const *base, void *workspace, int64_t row,
                     int64_t from, int64_t last, int64_t end) {
  const int n_regs = p->lp->n_regs;
  char *const work = workspace;
  block_run r = {.plan = p, .block = workspace, .base = base, .pool = pool};
  damo_assert((uintptr_t)workspace % 64 == 0);
  r.value = r.block + n_regs;
  r.cursor = (nd_cursor *)(void *)(work + p->cursors);
  for (int i = 0; i < n_regs; i++) {
    r.block[i] = work + p->reg[i].buffer;
    r.value[i] = work + p->reg[i].value;
  }
  if (p->single && row == 0 && from == 0 && last + 1 == p->space.rows && end == p->inner) {
    run_single(&r, base);
    return;
  }
  run_begin(&r, base, row, from);
  r.streams = stream_first(&r, base);
  if (p->once) run_once(&r);
  for (; row <= last; row += p->rows, from = 0) {
    if (p->n_values > 0) run_row(&r);
    if (p->rows > 1) {
      const int64_t n = last + 1 - row < p->rows ? last + 1 - row : p->rows;
      run_block(&r, n * p->inner);
      continue;
    }
    const int64_t length = row == last ? end : p->inner;
    for (int64_t pos = from; pos < length; pos += p->block) {
      const int64_t n = length - pos < p->block ? length - pos : p->block;
      run_block(&r, n);
    }
  }
  if (r.streams) kernel_stream_fence();
}

static void run_block_rows(const loop_plan *p, thread_pool *pool, char *const *base, void *workspace, int64_t row,
                           int64_t end) {
  if (row >= end) return;
  damo_assert(row >= 0 && end <= p->space.rows);
  if (!p->direct) {
    run_span(p, pool, base, workspace, row, 0, end - 1, p->inner);
    return;
  }
  for (int i = 0; i < p->lp->n_steps; i++)
    loop_step_run_on(pool, p->lp, &p->lp->steps[i], (void *const *)base, p->inner);
}

void loop_run(const loop_plan *p, char *const *base, void *workspace, int64_t row, int64_t end) {
  run_block_rows(p, NULL, base, workspace, row, end);
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

#define STEP_NS 0.5 /* of one element */
#define OPERAND_NS 0.2

double loop_cost(const loop_plan *p) {
  const double n = (double)p->space.rows * (double)p->inner;
  return n * (STEP_NS * p->lp->n_steps + OPERAND_NS * n_operands(p->lp) + loop_steps_ns(p->lp));
}

size_t loop_workspace_on(const thread_pool *pool, const loop_plan *p) { return p->workspace * (size_t)pool_size(pool); }

/* Units are what shares are made of: a block of rows, or a piece of a row where one block has no more than that. */
typedef struct block_shares {
  const loop_plan *plan;
  char *const *base;
  char *workspace;
  int64_t piece;  /* elements of a unit, where it is a piece of a row; 0: a block of rows */
  int64_t pieces; /* of a row */
  int64_t units, n;
  thread_pool *pool;
} block_shares;

/* Runs elements [from, end) of operands that are all used in place. */
static void run_direct(const loop_plan *p, thread_pool *pool, char *const *base, int64_t from, int64_t end) {
  const loop_program *lp = p->lp;
  for (int i = 0; i < lp->n_steps; i++) {
    loop_step at = lp->steps[i];
    void *args[LOOP_STEP_REGS];
    loop_reg regs[LOOP_STEP_REGS];
    const loop_program one = {.regs = regs};
    for (int k = 0; k < at.n_in + at.n_out; k++) {
      const int16_t reg = lp->steps[i].reg[k];
      args[k] = base[reg] + from * (int64_t)p->reg[reg].size;
      regs[k] = lp->regs[reg];
      at.reg[k] = (int16_t)k;
    }
    loop_step_run_on(pool, &one, &at, args, end - from);
  }
}

static void run_share(void *arg, int64_t share, int worker) {
  const block_shares *s = arg;
  const loop_plan *p = s->plan;
  const int64_t from = pool_share_first(s->units, share, s->n), end = pool_share_first(s->units, share + 1, s->n);
  void *const work = s->workspace + (size_t)worker * p->workspace;
  damo_assert(from < end);
  if (s->piece == 0) {
    const int64_t rows = end * p->rows < p->space.rows ? end * p->rows : p->space.rows;
    run_span(p, s->pool, s->base, work, from * p->rows, 0, rows - 1, p->inner);
    return;
  }
  const int64_t last = (end - 1) / s->pieces, stop = ((end - 1) % s->pieces + 1) * s->piece;
  const int64_t to = stop < p->inner ? stop : p->inner;
  if (p->direct)
    run_direct(p, s->pool, s->base, from * s->piece, to);
  else
    run_span(p, s->pool, s->base, work, from / s->pieces, from % s->pieces * s->piece, last, to);
}

void loop_run_on(thread_pool *pool, const loop_plan *p, char *const *base, void *workspace) {
  block_shares s = {.plan = p, .base = base, .workspace = workspace, .pool = pool};
  if (pool == NULL || p->space.rows == 0 || p->inner == 0) {
    run_block_rows(p, NULL, base, workspace, 0, p->space.rows);
    return;
  }
  const int64_t least = loop_share_least(p->lp);
  s.piece = p->rows > 1 ? 0 : p->block < p->inner ? p->block : p->inner < least ? p->inner : least;
  s.pieces = s.piece > 0 ? (p->inner + s.piece - 1) / s.piece : 0;
  s.units = s.piece > 0 ? p->space.rows * s.pieces : (p->space.rows + p->rows - 1) / p->rows;
  const int64_t unit = s.piece > 0 ? s.piece : p->rows * p->inner;
  s.n = pool_shares(pool, s.units, least / unit);
  if (s.n < 2)
    run_block_rows(p, pool, base, workspace, 0, p->space.rows);
  else
    pool_run(pool, s.n, run_share, &s);
}
