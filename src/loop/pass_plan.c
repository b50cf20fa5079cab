/* pass_plan: how a program with folds runs over operands of given shapes and strides: the blocks, the passes, what each
 * gathers and scatters, and the layout of the workspace. */
#include <string.h>

#include "pass_int.h"

#define PASS_FEW_STEPS 8 /* a program with fewer steps has blocks twice as long, which still fit in L1 */

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct pass_layout {
  size_t reg, span, pool, numbers, shape, bytes;
} pass_layout;

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

/* An input that is loaded, or the positions of one: its cursor and that of the positions walk over the same axes. */
static void pass_plan_load(pass_plan *p, int k, int ndim, const int64_t *shape, const int64_t *stride,
                           int64_t *numbers) {
  pass_reg *r = &p->reg[k];
  r->home = p->lp->regs[k].load == LOAD_POSITIONS ? HOME_POSITIONS : HOME_BUFFER;
  r->taken = loop_taken_of(p->lp, k, ndim, stride);
  r->space = nd_space_begin(numbers, ndim, 1);
  for (int axis = 0; axis < ndim; axis++) {
    *nd_space_next(&r->space) = stride[axis];
    nd_space_push_unmerged(&r->space, shape[axis]);
  }
  nd_space_inner(&r->space);
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
  if (loop_is_loaded(p->lp, k)) {
    pass_plan_load(p, k, ndim, shape, stride, numbers);
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
static bool pass_reads_expanded(const pass_plan *p, const pass_reg *r, const loop_step *s, int k) {
  const int firsts = s->firsts | (pass_by_value(p, s) ? s->values : 0);
  const bool reads_all = s->kind != LOOP_PICK && s->kind != LOOP_PLACE && (firsts >> k & 1) == 0;
  return k < s->n_in && r->is_row && !s->over_rows && reads_all;
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
      if (pass_reads_expanded(p, r, s, k)) r->expanded = true;
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
  (void)q;
  return pass_reads_expanded(p, r, s, k) && !r->same && r->stamp == 0;
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
  if (p->rows > 0) pass_choose_block(p);
  pass_plan_spans(p);
  if (p->rows == 0) return p;
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
