/* strip_run: runs a program with folds over rows that lie side by side in memory: a strip of rows together, position
 * after position along them.
 *
 * A block has the elements of the strip's rows at one position, or at several where the rows are few. Row registers are
 * blocks of one value for each row, so steps over elements read them as they are; folds keep their lanes for all rows of
 * the strip (reduce_sides). What one pass makes and a later one reads lies in the workspace for all positions. The bits
 * are those of pass_run.c.
 */
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "loop_int.h"

#define STRIP_BYTES 4096                     /* of a block */
#define STRIP_FEW 64                         /* rows: with fewer a block has several positions */
#define STRIP_CROSSING ((int64_t)512 * 1024) /* most bytes of what lies in the workspace for all positions */
#define STRIP_MOST_LISTED 64                 /* operands */
#define STRIP_LEAST 8                        /* rows of a strip: a cache line of float64 */

typedef struct strip_reg {
  uint8_t size;
  bool is_row;
  bool direct;         /* an operand that is used where it lies */
  bool crosses;        /* lies in the workspace for all positions; or: */
  int16_t lodges;      /* in the memory of that output, which is written last, -1 */
  bool lends;          /* its buffer may serve another register after `last` */
  bool expanded;       /* a row register that steps over elements read, where a block has several positions */
  int32_t first, last; /* steps that write it and read it last, -1 */
  int64_t lane;        /* bytes from one row to the next; of operands */
  size_t buffer, values;
} strip_reg;

/* A pass. Steps [rows, steps) are over row registers and run before it, [steps, end) over the elements. */
typedef struct strip_span {
  int32_t rows, steps, end;
} strip_span;

struct strip_plan {
  const loop_program *lp;
  const kernel_isa *isa;
  nd_space kept, along; /* the rows, with a core axis; the positions of a row, without */
  int64_t run;          /* rows that lie evenly: the innermost of the merged axes of `kept` */
  int64_t width;        /* rows of a strip */
  int64_t strips;       /* of a run */
  int64_t inner;        /* positions */
  int64_t positions;    /* of a block */
  int64_t n_rows;
  size_t workspace, addresses, folds;
  strip_reg *reg;
  strip_span *span; /* n_passes, and one for the row steps after the last */
  size_t *fold;     /* of each step that is a fold: offset in the workspace */
};

static int strip_n_operands(const loop_program *lp) { return lp->n_in + lp->n_out; }

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

typedef struct strip_layout {
  size_t reg, span, fold, numbers, bytes;
} strip_layout;

static strip_layout strip_layout_of(const loop_program *lp, int ndim) {
  const size_t axes = (size_t)(ndim ? ndim : 1);
  strip_layout l = {.bytes = sizeof(strip_plan)};
  l.reg = loop_take_bytes(&l.bytes, (size_t)lp->n_regs * sizeof(strip_reg));
  l.span = loop_take_bytes(&l.bytes, ((size_t)lp->n_passes + 1) * sizeof(strip_span));
  l.fold = loop_take_bytes(&l.bytes, (size_t)lp->n_steps * sizeof(size_t));
  l.numbers = loop_take_bytes(&l.bytes, 2 * ND_NUMBERS(axes, (size_t)strip_n_operands(lp)) * sizeof(int64_t));
  return l;
}

size_t strip_plan_bytes(const loop_program *lp, int ndim) { return strip_layout_of(lp, ndim).bytes; }

/* The innermost of axes [from, end) along which there is more than one element, -1: none. */
static int strip_inner_axis(int from, int end, const int64_t *shape) {
  for (int axis = end - 1; axis >= from; axis--) {
    if (shape[axis] != 1) return axis;
  }
  return -1;
}

bool strip_suits(const loop_program *lp, int ndim, const int64_t *shape, const int64_t *const *strides, int n_axes) {
  const int across = strip_inner_axis(0, ndim - n_axes, shape), along = strip_inner_axis(ndim - n_axes, ndim, shape);
  if (across < 0 || along < 0 || lp->n_passes == 0 || strip_n_operands(lp) > STRIP_MOST_LISTED) return false;
  for (int axis = 0; axis < ndim; axis++) {
    if (shape[axis] == 0) return false;
  }
  for (int i = 0; i < lp->n_steps; i++) {
    const loop_step *s = &lp->steps[i];
    if (s->kind == LOOP_PICK || s->kind == LOOP_PLACE || (s->kind == LOOP_FOLD && s->axes > 0)) return false;
  }
  int nearer = 0;
  for (int k = 0; k < strip_n_operands(lp); k++) {
    if (loop_is_loaded(lp, k)) return false;
    if (lp->regs[k].is_row || strides[k][across] == 0) continue;
    nearer += llabs(strides[k][across]) < llabs(strides[k][along]) ? 1 : -1;
  }
  return nearer > 0;
}

static void strip_plan_steps(strip_plan *p) {
  const loop_program *lp = p->lp;
  int i = 0;
  for (int q = 0; q <= lp->n_passes; q++) {
    strip_span *s = &p->span[q];
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
      strip_reg *r = &p->reg[s->reg[k]];
      if (r->first < 0) r->first = i;
      if (k < s->n_in) r->last = i;
      if (k < s->n_in && r->is_row && !s->over_rows) r->expanded = true;
    }
  }
}

/* Whether the memory of output o may hold register t until the output is written: it lies in order, and no input, whose
 * memory it may be, is read once t is written. */
static bool strip_may_lodge(const strip_plan *p, const strip_reg *t, int o) {
  const strip_reg *out = &p->reg[o];
  if (out->is_row || out->size != t->size || out->lane != out->size || out->first < t->last) return false;
  for (int k = 0; k < p->lp->n_in; k++) {
    if (!p->reg[k].is_row && p->reg[k].last > t->first) return false;
  }
  for (int r = strip_n_operands(p->lp); r < p->lp->n_regs; r++) {
    if (p->reg[r].lodges == o) return false;
  }
  return true;
}

/* Finds the registers that several passes need, and where they are kept: in the memory of an output, or in the workspace.
 * Returns the bytes that they take there for each row. */
static int64_t strip_plan_crossing(strip_plan *p) {
  int64_t bytes = 0;
  for (int r = 0; r < p->lp->n_regs; r++) p->reg[r].lodges = -1;
  for (int r = strip_n_operands(p->lp); r < p->lp->n_regs; r++) {
    strip_reg *t = &p->reg[r];
    t->crosses = !t->is_row && t->last >= 0 && p->lp->steps[t->first].pass != p->lp->steps[t->last].pass;
    for (int o = p->lp->n_in; o < strip_n_operands(p->lp) && t->crosses; o++) {
      if (!strip_may_lodge(p, t, o)) continue;
      t->lodges = (int16_t)o;
      t->crosses = false;
    }
    if (t->crosses) bytes += p->inner * t->size;
  }
  return bytes;
}

static void strip_choose_width(strip_plan *p) {
  int64_t widest = 1;
  for (int r = 0; r < p->lp->n_regs; r++) {
    if (p->reg[r].size > widest) widest = p->reg[r].size;
  }
  int64_t most = STRIP_BYTES / widest;
  const int64_t crossing = strip_plan_crossing(p);
  if (crossing > 0 && STRIP_CROSSING / crossing < most) most = STRIP_CROSSING / crossing / STRIP_LEAST * STRIP_LEAST;
  if (most < STRIP_LEAST) most = STRIP_LEAST;
  if (p->lp->max_block > 0) most = p->lp->max_block;
  p->strips = (p->run + most - 1) / most;
  p->width = (p->run + p->strips - 1) / p->strips;
  if (p->lp->max_block == 0) p->width = (p->width + STRIP_LEAST - 1) / STRIP_LEAST * STRIP_LEAST;
  if (p->width > p->run) p->width = p->run;
  p->strips = (p->run + p->width - 1) / p->width;
  p->positions = p->width < STRIP_FEW && p->strips == 1 ? most / p->width : 1;
  if (p->positions > p->inner) p->positions = p->inner;
  if (p->positions < 1) p->positions = 1;
}

/* Whether a block of operand k lies in one piece. */
static bool strip_is_direct(const strip_plan *p, int k) {
  const strip_reg *r = &p->reg[k];
  if (r->lane != r->size && p->width > 1) return false;
  if (p->positions == 1) return true;
  return p->along.n_axes == 1 && p->along.stride[k] == p->width * r->size;
}

static void strip_plan_space(nd_space *s, int from, int end, const int64_t *shape, int n_ops,
                             const int64_t *const *strides) {
  for (int axis = from; axis < end; axis++) {
    for (int k = 0; k < n_ops; k++) nd_space_next(s)[k] = strides[k][axis];
    nd_space_push(s, shape[axis]);
  }
}

/* The buffer of register r, which step i writes: that of a temporary that is not read any more, or a new one. */
static void strip_plan_buffer(strip_plan *p, int r, int i) {
  strip_reg *t = &p->reg[r];
  t->lends = true;
  for (int q = strip_n_operands(p->lp); q < p->lp->n_regs; q++) {
    strip_reg *old = &p->reg[q];
    if (q == r || !old->lends || old->last > i || old->size != t->size) continue;
    old->lends = false;
    t->buffer = old->buffer;
    return;
  }
  t->buffer = loop_take_bytes(&p->workspace, (size_t)(p->width * p->positions) * t->size + LOOP_BUFFER_SKEW);
}

static void strip_plan_workspace(strip_plan *p) {
  const loop_program *lp = p->lp;
  const size_t n_ops = (size_t)strip_n_operands(lp);
  const size_t block = (size_t)(p->width * p->positions);
  p->workspace = 0;
  p->addresses = loop_take_bytes(&p->workspace, (2 * (size_t)lp->n_regs + 3 * n_ops) * sizeof(void *));
  for (int i = 0; i < lp->n_steps; i++) {
    const loop_step *s = &lp->steps[i];
    if (s->kind != LOOP_FOLD) continue;
    const damo_dtype in = (damo_dtype)lp->regs[s->reg[0]].dtype;
    p->fold[i] = loop_take_bytes(&p->workspace, reduce_sides_bytes(s->fn.fold, in, p->width, p->inner));
  }
  for (int r = 0; r < lp->n_regs; r++) {
    strip_reg *t = &p->reg[r];
    const bool is_operand = r < (int)n_ops;
    if (t->is_row) {
      if (!is_operand || !t->direct) t->values = loop_take_bytes(&p->workspace, (size_t)p->width * t->size);
      if (t->expanded && p->positions > 1)
        t->buffer = loop_take_bytes(&p->workspace, block * t->size + LOOP_BUFFER_SKEW);
    } else if (t->crosses) {
      t->buffer = loop_take_bytes(&p->workspace, (size_t)(p->width * p->inner) * t->size + LOOP_BUFFER_SKEW);
    } else if (is_operand && !t->direct) {
      t->buffer = loop_take_bytes(&p->workspace, block * t->size + LOOP_BUFFER_SKEW);
    }
  }
  for (int i = 0; i < lp->n_steps; i++) {
    const loop_step *s = &lp->steps[i];
    for (int k = s->n_in; k < s->n_in + s->n_out; k++) {
      const strip_reg *t = &p->reg[s->reg[k]];
      if (s->reg[k] >= (int)n_ops && !t->is_row && !t->crosses && t->lodges < 0) strip_plan_buffer(p, s->reg[k], i);
    }
  }
}

strip_plan *strip_plan_init(void *memory, const loop_program *lp, const kernel_isa *isa, int ndim, const int64_t *shape,
                            const int64_t *const *strides, int n_axes) {
  const strip_layout l = strip_layout_of(lp, ndim);
  const int kept = ndim - n_axes, n_ops = strip_n_operands(lp), axes = ndim ? ndim : 1;
  char *m = memory;
  strip_plan *p = memory;
  memset(m, 0, l.bytes);
  p->lp = lp;
  p->isa = isa;
  p->reg = (strip_reg *)(void *)(m + l.reg);
  p->span = (strip_span *)(void *)(m + l.span);
  p->fold = (size_t *)(void *)(m + l.fold);
  p->inner = p->n_rows = 1;
  for (int axis = 0; axis < ndim; axis++) *(axis < kept ? &p->n_rows : &p->inner) *= shape[axis];
  for (int r = 0; r < lp->n_regs; r++) {
    p->reg[r].size = (uint8_t)dtype_size((damo_dtype)lp->regs[r].dtype);
    p->reg[r].is_row = lp->regs[r].is_row;
  }
  strip_plan_steps(p);
  int64_t *numbers = (int64_t *)(void *)(m + l.numbers);
  p->kept = nd_space_begin(numbers, axes, n_ops);
  strip_plan_space(&p->kept, 0, kept, shape, n_ops, strides);
  p->run = nd_space_inner(&p->kept);
  p->along = nd_space_begin(numbers + ND_NUMBERS(axes, n_ops), axes, n_ops);
  strip_plan_space(&p->along, kept, ndim, shape, n_ops, strides);
  for (int k = 0; k < n_ops; k++) p->reg[k].lane = nd_inner_stride(&p->kept, k);
  strip_choose_width(p);
  for (int k = 0; k < n_ops; k++) {
    strip_reg *r = &p->reg[k];
    r->direct = r->is_row ? r->lane == r->size || p->width == 1 : strip_is_direct(p, k);
  }
  for (int r = n_ops; r < lp->n_regs; r++) {
    strip_reg *t = &p->reg[r];
    if (t->lodges < 0 || p->reg[t->lodges].direct) continue;
    t->lodges = -1;
    t->crosses = true;
  }
  strip_plan_workspace(p);
  return p;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct strip_state {
  const strip_plan *plan;
  thread_pool *pool; /* or NULL; where it cuts, it has points between blocks */
  char *work;
  void **block, **value;     /* addresses of the registers' blocks and values */
  char **start, **in, **out; /* of the operands: at the first position of the strip, and at the position in hand */
} strip_state;

static reduce_sides *strip_fold(const strip_state *r, int i) {
  return (reduce_sides *)(void *)(r->work + r->plan->fold[i]);
}

/* The values of the row operands for the w rows of the strip. */
static void strip_begin_values(const strip_state *r, int64_t w) {
  const strip_plan *p = r->plan;
  for (int k = 0; k < strip_n_operands(p->lp); k++) {
    const strip_reg *t = &p->reg[k];
    if (!t->is_row) continue;
    if (t->direct)
      r->value[k] = r->start[k];
    else if (k < p->lp->n_in)
      kernel_copy_strided(r->start[k], t->lane, r->value[k], t->size, w, t->size);
  }
  for (int i = 0; i < p->lp->n_regs && p->positions == 1; i++) {
    if (p->reg[i].is_row) r->block[i] = r->value[i];
  }
}

/* Repeats the values of row registers that the pass's steps over elements read, for each position of a block. */
static void strip_expand(const strip_state *r, const strip_span *s, int64_t w) {
  const strip_plan *p = r->plan;
  for (int i = s->steps; i < s->end && p->positions > 1; i++) {
    const loop_step *step = &p->lp->steps[i];
    for (int k = 0; k < step->n_in; k++) {
      const strip_reg *t = &p->reg[step->reg[k]];
      const size_t bytes = (size_t)w * t->size;
      if (!t->is_row) continue;
      for (int64_t j = 0; j < p->positions; j++)
        memcpy((char *)r->block[step->reg[k]] + (size_t)j * bytes, r->value[step->reg[k]], bytes);
    }
  }
}

/* Whether register k is read or written by a step over elements of the pass. */
static bool strip_touches(const strip_plan *p, const strip_span *s, int k) {
  for (int i = s->steps; i < s->end; i++) {
    const loop_step *step = &p->lp->steps[i];
    for (int j = 0; j < step->n_in + step->n_out; j++) {
      if (step->reg[j] == k) return true;
    }
  }
  return false;
}

/* The operands of a pass, by how a block of each is found. */
typedef struct strip_moves {
  int n_direct, n_gather, n_scatter;
  int16_t direct[2 * STRIP_MOST_LISTED], home[2 * STRIP_MOST_LISTED]; /* registers, and the operands where they lie */
  int16_t gather[STRIP_MOST_LISTED], scatter[STRIP_MOST_LISTED];
} strip_moves;

/* Gathers and scatters m positions; the addresses in `in` and `out` move on. */
static void strip_gather(const strip_state *r, const strip_moves *moves, nd_walk *walk, int64_t m, int64_t w) {
  const strip_plan *p = r->plan;
  for (int j = 0; j < moves->n_direct; j++) r->block[moves->direct[j]] = r->in[moves->home[j]];
  for (int64_t i = 0; i < m; i++) {
    for (int j = 0; j < moves->n_gather; j++) {
      const int k = moves->gather[j];
      const strip_reg *t = &p->reg[k];
      char *to = (char *)r->block[k] + i * w * t->size;
      kernel_copy_strided(r->in[k], t->lane, to, t->size, w, t->size);
    }
    nd_next(walk, r->in);
  }
  for (int j = 0; j < moves->n_direct; j++) { /* of the next block: rows may lie too far apart for the hardware */
    const int k = moves->home[j];
    if (k < p->lp->n_in) kernel_prefetch(r->in[k], (size_t)(w * p->reg[k].size));
  }
}

static void strip_scatter(const strip_state *r, const strip_moves *moves, nd_walk *walk, int64_t m, int64_t w) {
  const strip_plan *p = r->plan;
  if (moves->n_scatter == 0) return;
  for (int64_t i = 0; i < m; i++) {
    for (int j = 0; j < moves->n_scatter; j++) {
      const int k = moves->scatter[j];
      const strip_reg *t = &p->reg[k];
      const char *from = (const char *)r->block[k] + i * w * t->size;
      kernel_copy_strided(from, t->size, r->out[k], t->lane, w, t->size);
    }
    nd_next(walk, r->out);
  }
}

static void strip_list_moves(const strip_plan *p, const strip_span *s, strip_moves *moves) {
  moves->n_direct = moves->n_gather = moves->n_scatter = 0;
  const int n_ops = strip_n_operands(p->lp);
  for (int k = 0; k < p->lp->n_regs; k++) {
    const strip_reg *t = &p->reg[k];
    if (t->is_row || (k >= n_ops && t->lodges < 0) || !strip_touches(p, s, k)) continue;
    damo_assert(moves->n_direct < 2 * STRIP_MOST_LISTED);
    const bool is_written = k >= p->lp->n_in && t->first >= s->steps && t->first < s->end;
    if (k >= n_ops || t->direct) {
      moves->home[moves->n_direct] = k >= n_ops ? t->lodges : (int16_t)k;
      moves->direct[moves->n_direct++] = (int16_t)k;
    } else if (is_written) {
      moves->scatter[moves->n_scatter++] = (int16_t)k;
    } else {
      moves->gather[moves->n_gather++] = (int16_t)k;
    }
  }
}

/* The steps of a pass over m positions from pos of w rows. */
static void strip_block(const strip_state *r, const strip_span *s, int64_t pos, int64_t m, int64_t w) {
  const strip_plan *p = r->plan;
  for (int i = s->steps; i < s->end; i++) {
    const loop_step *step = &p->lp->steps[i];
    for (int k = 0; k < step->n_in + step->n_out; k++) {
      const strip_reg *t = &p->reg[step->reg[k]];
      if (t->crosses) r->block[step->reg[k]] = r->work + t->buffer + pos * w * t->size;
    }
    if (step->kind == LOOP_FOLD)
      reduce_sides_add(strip_fold(r, i), r->block[step->reg[0]], m);
    else
      loop_step_run_on(r->pool, p->lp, step, r->block, m * w);
  }
}

#define STRIP_POINT 16 /* blocks between two points */

static void strip_pass(const strip_state *r, const strip_span *s, int64_t w) {
  const strip_plan *p = r->plan;
  const size_t addresses = (size_t)strip_n_operands(p->lp) * sizeof(char *);
  strip_moves moves;
  nd_walk in, out;
  int64_t blocks = 0;
  strip_list_moves(p, s, &moves);
  strip_expand(r, s, w);
  memcpy(r->in, r->start, addresses);
  memcpy(r->out, r->start, addresses);
  nd_begin(&in, &p->along);
  nd_begin(&out, &p->along);
  for (int i = s->steps; i < s->end; i++) {
    if (p->lp->steps[i].kind == LOOP_FOLD) reduce_sides_begin(strip_fold(r, i), w);
  }
  for (int64_t pos = 0; pos < p->inner; pos += p->positions) {
    const int64_t m = p->inner - pos < p->positions ? p->inner - pos : p->positions;
    strip_gather(r, &moves, &in, m, w);
    strip_block(r, s, pos, m, w);
    strip_scatter(r, &moves, &out, m, w);
    if (r->pool != NULL && ++blocks % STRIP_POINT == 0) pool_point(r->pool);
  }
  for (int i = s->steps; i < s->end; i++) {
    const loop_step *step = &p->lp->steps[i];
    if (step->kind == LOOP_FOLD) reduce_sides_end(strip_fold(r, i), r->value[step->reg[1]]);
  }
}

/* All passes over a strip of w rows. */
static void strip_run_rows(const strip_state *r, int64_t w) {
  const strip_plan *p = r->plan;
  strip_begin_values(r, w);
  for (int q = 0; q <= p->lp->n_passes; q++) {
    const strip_span *s = &p->span[q];
    for (int i = s->rows; i < s->steps; i++) loop_step_run_on(r->pool, p->lp, &p->lp->steps[i], r->value, w);
    if (s->steps < s->end) strip_pass(r, s, w);
  }
}

static void strip_state_init(strip_state *r, const strip_plan *p, char *work) {
  const int n_regs = p->lp->n_regs, n_ops = strip_n_operands(p->lp);
  damo_assert((uintptr_t)work % 64 == 0);
  *r = (strip_state){.plan = p, .work = work, .block = (void **)(void *)(work + p->addresses)};
  r->value = r->block + n_regs;
  r->start = (char **)(r->value + n_regs);
  r->in = r->start + n_ops;
  r->out = r->in + n_ops;
  for (int i = 0; i < n_regs; i++) {
    r->block[i] = work + p->reg[i].buffer;
    r->value[i] = work + p->reg[i].values;
  }
  for (int i = 0; i < p->lp->n_steps; i++) {
    const loop_step *s = &p->lp->steps[i];
    if (s->kind != LOOP_FOLD) continue;
    reduce_sides_init(strip_fold(r, i), p->isa, s->fn.fold, (damo_dtype)p->lp->regs[s->reg[0]].dtype, p->width,
                      p->inner);
  }
}

/* Strips [first, end) of all. */
static void strip_run(const strip_plan *p, thread_pool *pool, char *const *base, char *work, int64_t first,
                      int64_t end) {
  const int n_ops = strip_n_operands(p->lp);
  strip_state r;
  strip_state_init(&r, p, work);
  r.pool = pool;
  for (int64_t strip = first; strip < end; strip++) {
    const int64_t run = strip / p->strips, from = strip % p->strips * p->width;
    nd_walk walk;
    nd_begin(&walk, &p->kept);
    memcpy(r.start, base, (size_t)n_ops * sizeof *base);
    if (run > 0) nd_seek(&walk, run, r.start);
    for (int k = 0; k < n_ops; k++) r.start[k] += from * p->reg[k].lane;
    strip_run_rows(&r, p->run - from < p->width ? p->run - from : p->width);
  }
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

#define STRIP_STEP_NS 0.5 /* of one element, if the steps are cheap */
#define STRIP_SHARE 8192  /* elements of a share, at least */

double strip_cost(const strip_plan *p) {
  return (STRIP_STEP_NS * (p->lp->n_steps + 1) + loop_steps_ns(p->lp)) * (double)p->n_rows * (double)p->inner;
}

typedef struct strip_shares {
  const strip_plan *plan;
  char *const *base;
  char *work;
  int64_t units, n;
  thread_pool *pool;
} strip_shares;

static void strip_run_share(void *arg, int64_t share, int worker) {
  const strip_shares *s = arg;
  strip_run(s->plan, s->pool, s->base, s->work + (size_t)worker * s->plan->workspace,
            pool_share_first(s->units, share, s->n), pool_share_first(s->units, share + 1, s->n));
}

size_t strip_workspace_on(const thread_pool *pool, const strip_plan *p) {
  return p->workspace * (size_t)pool_size(pool);
}

void strip_run_on(thread_pool *pool, const strip_plan *p, char *const *base, void *workspace) {
  strip_shares s = {
      .plan = p, .base = base, .work = workspace, .units = p->kept.rows * p->strips, .n = 1, .pool = pool};
  if (pool != NULL) s.n = pool_shares(pool, s.units, STRIP_SHARE / (p->width * p->inner));
  if (s.n > 1)
    pool_run(pool, s.n, strip_run_share, &s);
  else
    strip_run(p, pool, base, workspace, 0, s.units);
}
