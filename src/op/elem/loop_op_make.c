/* loop_op_make: the program (loop/loop.h) of a Loop's parts. */
#include <string.h>

#include "loop_op_int.h"

static void copy_1(const void *src, void *dst, int64_t n) { memmove(dst, src, (size_t)n); }
static void copy_2(const void *src, void *dst, int64_t n) { memmove(dst, src, 2 * (size_t)n); }
static void copy_4(const void *src, void *dst, int64_t n) { memmove(dst, src, 4 * (size_t)n); }
static void copy_8(const void *src, void *dst, int64_t n) { memmove(dst, src, 8 * (size_t)n); }
static void copy_16(const void *src, void *dst, int64_t n) { memmove(dst, src, 16 * (size_t)n); }

static cast_fn copy_of(damo_dtype dtype) {
  switch (dtype_size(dtype)) {
    case 1: return copy_1;
    case 2: return copy_2;
    case 4: return copy_4;
    case 8: return copy_8;
    default: return copy_16;
  }
}

/* A program under construction. reg[k]: the program's register that holds register k of the Loop; the outputs' registers
 * follow the inputs', temporaries come last. */
typedef struct loop_maker {
  const damo_ctx *ctx;
  const loop_data *d;
  const thunk *t;
  int ndim, n_axes; /* of the iteration space and of a row */
  loop_program *lp;
  loop_reg *regs;
  loop_step *steps;
  int16_t *pass;  /* of the program's registers: the first pass whose steps may read it */
  int16_t *need;  /* of the program's registers: the first pass whose steps do */
  int16_t *reads; /* of the program's registers: how many steps do */
  loop_step *sorted;
  int16_t *reg;    /* of the Loop's registers */
  uint8_t *dtype;  /* of the Loop's registers */
  int16_t *is_out; /* of the Loop's registers: the program's output that holds it, 0: none */
} loop_maker;

static int16_t new_register(loop_maker *m, damo_dtype dtype, bool is_row) {
  m->regs[m->lp->n_regs] = (loop_reg){.dtype = (uint8_t)dtype, .is_row = is_row};
  return (int16_t)m->lp->n_regs++;
}

/* A step from n_in registers to one. It is over rows if all of them are. */
static loop_step *new_step(loop_maker *m, loop_kind kind, const int16_t *in, int n_in, int16_t out) {
  loop_step *s = &m->steps[m->lp->n_steps++];
  *s = (loop_step){.kind = (uint8_t)kind, .n_in = (uint8_t)n_in, .n_out = 1, .part = -1};
  s->over_rows = m->n_axes > 0 && m->regs[out].is_row && kind != LOOP_FOLD && kind != LOOP_PICK;
  for (int i = 0; i < n_in; i++) {
    s->reg[i] = in[i];
    if (m->pass[in[i]] > s->pass) s->pass = m->pass[in[i]];
  }
  s->reg[n_in] = out;
  m->pass[out] = (int16_t)(s->pass + (kind == LOOP_FOLD || kind == LOOP_PICK));
  return s;
}

static bool all_are_rows(const loop_maker *m, const int16_t *in, int n) {
  bool all = m->n_axes > 0;
  for (int i = 0; i < n; i++) all = all && m->regs[in[i]].is_row;
  return all;
}

/* The program's register that holds register k in that dtype; an earlier cast of it serves again. */
static int16_t cast_register(loop_maker *m, int16_t k, damo_dtype to) {
  if (m->dtype[k] == to) return m->reg[k];
  const cast_fn cast = kernel_cast((damo_dtype)m->dtype[k], to);
  for (int i = 0; i < m->lp->n_steps; i++) {
    const loop_step *s = &m->steps[i];
    if (s->kind == LOOP_CAST && s->fn.cast == cast && s->reg[0] == m->reg[k]) return s->reg[1];
  }
  const int16_t out = new_register(m, to, m->regs[m->reg[k]].is_row);
  new_step(m, LOOP_CAST, &m->reg[k], 1, out)->fn.cast = cast;
  return out;
}

/* A part that copies its last operand, perhaps into another dtype, is that operand where no output has to be written. */
static void make_copy(loop_maker *m, int k, int16_t from) {
  const int16_t r = (int16_t)(m->d->n_in + k);
  const damo_dtype to = (damo_dtype)m->dtype[r];
  if (m->is_out[r] == 0) {
    m->reg[r] = cast_register(m, from, to);
    return;
  }
  m->reg[r] = m->is_out[r];
  new_step(m, LOOP_CAST, &m->reg[from], 1, m->reg[r])->fn.cast =
      m->dtype[from] == to ? copy_of(to) : kernel_cast((damo_dtype)m->dtype[from], to);
}

/* The part that makes register r of the Loop, NULL: it is an input. */
static const loop_part *maker_part(const loop_maker *m, int r) {
  return r < m->d->n_in ? NULL : &m->d->parts[r - m->d->n_in];
}

static void sum_placed_f64(const void *src, void *dst, int64_t n) {
  for (int64_t i = 0; i < n; i++) ((double *)dst)[i] = ((const double *)src)[i] + 0.0;
}

static void sum_placed_f32(const void *src, void *dst, int64_t n) {
  for (int64_t i = 0; i < n; i++) ((float *)dst)[i] = ((const float *)src)[i] + 0.0f;
}

/* What gives the sum of a row of zeros with one value in it from that value, to the bit (of -0 it is 0); NULL: the fold
 * is another one. */
static cast_fn sum_of_placed(const loop_maker *m, const loop_part *p) {
  const loop_part *placed = maker_part(m, p->in[0]);
  if (placed == NULL || placed->op->def != &pick_grad_def || p->space == LOOP_OTHER || m->n_axes != 1) return NULL;
  if (reduce_op_kind(p->op) != REDUCE_SUM || placed->dtype != p->dtype) return NULL;
  return p->dtype == DAMO_FLOAT64 ? sum_placed_f64 : p->dtype == DAMO_FLOAT32 ? sum_placed_f32 : NULL;
}

static void make_fold(loop_maker *m, int k) {
  const loop_part *p = &m->d->parts[k];
  const int16_t r = (int16_t)(m->d->n_in + k);
  const cast_fn placed = sum_of_placed(m, p);
  m->dtype[r] = (uint8_t)p->dtype;
  m->reg[r] = m->is_out[r] != 0 ? m->is_out[r] : new_register(m, p->dtype, true);
  if (placed != NULL) {
    new_step(m, LOOP_CAST, &m->reg[maker_part(m, p->in[0])->in[0]], 1, m->reg[r])->fn.cast = placed;
    return;
  }
  loop_step *s = new_step(m, LOOP_FOLD, &m->reg[p->in[0]], 1, m->reg[r]);
  s->fn.fold = reduce_op_kind(p->op);
  if (p->space == LOOP_OTHER) s->axes = (int16_t)reduce_op_trailing(p->op, m->ndim);
}

/* How many parts read register r of the Loop. */
static int count_part_readers(const loop_maker *m, int r) {
  int n = 0;
  for (int k = 0; k < m->d->n_parts; k++) {
    for (int i = 0; i < loop_arity(&m->d->parts[k]); i++) n += m->d->parts[k].in[i] == r;
  }
  return n;
}

/* The kernel that makes register r of the Loop from one register of elements and values of rows, if nothing but one part
 * reads it; NULL: there is none. *of: which input has the elements. */
static loop_step *lone_kernel(const loop_maker *m, int r, int *of) {
  if (r < m->d->n_in || m->is_out[r] != 0 || count_part_readers(m, r) > 1) return NULL;
  for (int i = 0; i < m->lp->n_steps; i++) {
    loop_step *s = &m->steps[i];
    if (s->kind != LOOP_KERNEL || s->part != r - m->d->n_in || s->reg[s->n_in] != m->reg[r]) continue;
    int n = 0;
    for (int k = 0; k < s->n_in; k++) {
      if (m->regs[s->reg[k]].is_row) continue;
      *of = k;
      n++;
    }
    return n == 1 ? s : NULL;
  }
  return NULL;
}

/* Picks before the kernel instead of after it: then the kernel computes one value a row. The step of the kernel becomes
 * that of the pick, so that it reads what the kernel would have read, before an output overwrites it. */
static void pick_before(loop_maker *m, loop_step *kernel, int of, int16_t position, int16_t out) {
  const loop_step over_elements = *kernel;
  int16_t in[LOOP_STEP_REGS];
  memcpy(in, over_elements.reg, sizeof in);
  const int16_t elements = in[of];
  in[of] = new_register(m, (damo_dtype)m->regs[elements].dtype, true);
  *kernel = (loop_step){.kind = LOOP_PICK,
                        .n_in = 2,
                        .n_out = 1,
                        .part = -1,
                        .pass = m->pass[elements],
                        .reg = {elements, position, in[of]}};
  m->pass[in[of]] = (int16_t)(kernel->pass + 1);
  loop_step *s = new_step(m, LOOP_KERNEL, in, over_elements.n_in, out);
  s->fn.kernel = over_elements.fn.kernel;
  s->part = over_elements.part;
  s->ns = over_elements.ns;
}

/* Pick, PickGrad, OneHot: of the last two the length of a row is no operand of the step. */
static void make_pick(loop_maker *m, int k) {
  const loop_part *p = &m->d->parts[k];
  const int16_t r = (int16_t)(m->d->n_in + k);
  const bool picks = loop_part_picks(p);
  const int n = picks ? 2 : loop_arity(p) - 1;
  int16_t from[LOOP_PART_MOST_IN];
  for (int i = 0; i < n; i++) from[i] = m->reg[p->in[i]];
  m->dtype[r] = (uint8_t)p->dtype;
  m->reg[r] = m->is_out[r] != 0 ? m->is_out[r] : new_register(m, p->dtype, picks);
  int of = 0;
  loop_step *kernel = picks ? lone_kernel(m, p->in[0], &of) : NULL;
  if (kernel != NULL) {
    pick_before(m, kernel, of, from[1], m->reg[r]);
    return;
  }
  new_step(m, picks ? LOOP_PICK : LOOP_PLACE, from, n, m->reg[r]);
}

static damo_status loop_make_part(loop_maker *m, int k) {
  const loop_part *p = &m->d->parts[k];
  const elemwise_data *e = elemwise_data_of(p->op);
  const int n = loop_arity(p);
  const int16_t r = (int16_t)(m->d->n_in + k);
  damo_dtype in[LOOP_PART_MOST_IN], loop, result;
  for (int i = 0; i < n; i++) in[i] = (damo_dtype)m->dtype[p->in[i]];
  DAMO_TRY(elemwise_dtypes(p->op, in, p->dtype, &loop, &result));
  m->dtype[r] = (uint8_t)result;
  const kernel_fn fn = elemwise_kernel(m->ctx, e, loop);
  if (fn == NULL) return make_copy(m, k, p->in[n - 1]), DAMO_OK;
  int16_t from[LOOP_PART_MOST_IN];
  for (int i = 0; i < n; i++) from[i] = cast_register(m, p->in[i], elemwise_operand_dtype(e->row, i, loop));
  m->reg[r] = m->is_out[r] != 0 ? m->is_out[r] : new_register(m, result, all_are_rows(m, from, n));
  loop_step *s = new_step(m, LOOP_KERNEL, from, n, m->reg[r]);
  s->fn.kernel = fn;
  s->part = (int16_t)k;
  s->ns = elemwise_ns(e->row, loop);
  return DAMO_OK;
}

/* Whether an input has one value a row: it broadcasts along the axes of the folds. */
static bool input_is_row(const loop_maker *m, int i) {
  const damo_type *type = m->t->node->in[i]->type;
  if (m->d->uses[i].use != USE_OPERAND) return false;
  for (int axis = 0; axis < m->ndim; axis++) {
    if (!loop_is_row_axis(m->d, axis)) continue;
    const int own = loop_input_axis(m->d, i, type->ndim, m->ndim, axis);
    if (own >= 0 && !type_dim_is_one(type, own)) return false;
  }
  return m->n_axes > 0;
}

/* The registers of a source's operands are the inputs' own. */
static void make_source(loop_maker *m, const loop_source *s) {
  loop_reg *r = &m->regs[s->in[0]];
  if (s->op->def == &arange_def) {
    r->load = LOAD_RANGE;
    return;
  }
  r->load = LOAD_TAKEN;
  r->positions = s->in[1];
  m->regs[s->in[1]].load = LOAD_POSITIONS;
}

/* Numbers the program's operands: inputs, then outputs. */
static void make_operands(loop_maker *m) {
  const loop_data *d = m->d;
  m->ndim = loop_ndim(d, m->t->node->in);
  m->n_axes = d->n_axes;
  for (int i = 0; i < d->n_in; i++) {
    m->dtype[i] = (uint8_t)loop_input_dtype(d, m->t->node->in, i);
    m->reg[i] = new_register(m, (damo_dtype)m->dtype[i], input_is_row(m, i));
  }
  for (int k = 0; k < d->n_sources; k++) make_source(m, &d->sources[k]);
  for (int o = 0; o < d->n_out; o++) {
    const loop_part *p = loop_part_of_out(d, o);
    m->is_out[d->outs[o]] = new_register(m, p->dtype, p->space != LOOP_ELEMENTS);
  }
}

/* Delays steps of which only later passes read the result, where that takes no row of the workspace: what they read are
 * inputs, and results of steps that are delayed with them. */
static void delay_steps(const loop_maker *m) {
  const int n_ops = m->lp->n_in + m->lp->n_out;
  int16_t *need = m->need;
  for (int r = 0; r < m->lp->n_regs; r++) need[r] = INT16_MAX;
  for (int i = 0; i < m->lp->n_steps; i++) {
    for (int k = 0; k < m->steps[i].n_in; k++) m->reads[m->steps[i].reg[k]]++;
  }
  for (int i = m->lp->n_steps - 1; i >= 0; i--) {
    loop_step *s = &m->steps[i];
    const int16_t out = s->reg[s->n_in];
    bool delay =
        s->kind != LOOP_FOLD && s->kind != LOOP_PICK && !s->over_rows && out >= n_ops && need[out] != INT16_MAX;
    for (int k = 0; k < s->n_in; k++) {
      const int16_t r = s->reg[k];
      delay = delay && (r < m->lp->n_in || m->regs[r].is_row || (r >= n_ops && m->reads[r] == 1));
    }
    if (delay && need[out] > s->pass) s->pass = need[out];
    for (int k = 0; k < s->n_in && !s->over_rows; k++) {
      if (s->pass < need[s->reg[k]]) need[s->reg[k]] = s->pass;
    }
  }
}

/* Puts steps in the order of passes, those over rows first in each; else as they are. */
static void sort_steps(const loop_maker *m) {
  int n = 0;
  for (int pass = 0; pass <= m->lp->n_passes; pass++) {
    for (int rows = 1; rows >= 0; rows--) {
      for (int i = 0; i < m->lp->n_steps; i++) {
        if (m->steps[i].pass == pass && m->steps[i].over_rows == rows) m->sorted[n++] = m->steps[i];
      }
    }
  }
  damo_assert(n == m->lp->n_steps);
  memcpy(m->steps, m->sorted, (size_t)n * sizeof *m->steps);
}

/* The program of the node: for each part casts of its operands and a kernel. */
static damo_status make_loop_program(loop_maker *m, const frame *f) {
  const loop_data *d = m->d;
  m->lp->n_in = d->n_in;
  m->lp->n_out = d->n_out;
  m->lp->max_block = ctx_stress(f->ctx, STRESS_BLOCK) ? 3 : 0;
  make_operands(m);
  for (int k = 0; k < d->n_parts; k++) {
    if (loop_part_folds(&d->parts[k]))
      make_fold(m, k);
    else if (loop_part_positions(&d->parts[k]) >= 0)
      make_pick(m, k);
    else
      DAMO_TRY(loop_make_part(m, k));
  }
  if (m->n_axes > 0) {
    for (int i = 0; i < m->lp->n_steps; i++) {
      const loop_step *s = &m->steps[i];
      if (!s->over_rows && s->pass >= m->lp->n_passes) m->lp->n_passes = s->pass + 1;
    }
    delay_steps(m);
    sort_steps(m);
  }
  return DAMO_OK;
}

/* In scratch memory of the greatest size that the program can have. */
damo_status loop_make_program(const thunk *t, frame *f, loop_program *lp, loop_lanes **lanes) {
  const loop_data *d = loop_data_of(t->node->op);
  const size_t n = (size_t)(d->n_in + d->n_parts), most = (size_t)(d->n_in + d->n_out + 4 * d->n_parts);
  size_t bytes = 0;
  const size_t regs = loop_op_take(&bytes, most, sizeof(loop_reg)),
               steps = loop_op_take(&bytes, most, sizeof(loop_step));
  const size_t sorted = loop_op_take(&bytes, most, sizeof(loop_step)),
               pass = loop_op_take(&bytes, most, sizeof(int16_t));
  const size_t need = loop_op_take(&bytes, most, sizeof(int16_t)), reads = loop_op_take(&bytes, most, sizeof(int16_t));
  const size_t reg = loop_op_take(&bytes, n, sizeof(int16_t)), dtype = loop_op_take(&bytes, n, 1);
  const size_t is_out = loop_op_take(&bytes, n, sizeof(int16_t));
  char *m = thunk_scratch(t, f, bytes);
  if (m == NULL) return damo_error_status(f->ctx);
  memset(m, 0, bytes);
  *lp = (loop_program){.n_regs = 0};
  loop_maker make = {.ctx = f->ctx,
                     .d = d,
                     .t = t,
                     .lp = lp,
                     .regs = (loop_reg *)(void *)(m + regs),
                     .steps = (loop_step *)(void *)(m + steps),
                     .pass = (int16_t *)(void *)(m + pass),
                     .need = (int16_t *)(void *)(m + need),
                     .reads = (int16_t *)(void *)(m + reads),
                     .sorted = (loop_step *)(void *)(m + sorted),
                     .reg = (int16_t *)(void *)(m + reg),
                     .dtype = (uint8_t *)(m + dtype),
                     .is_out = (int16_t *)(void *)(m + is_out)};
  lp->regs = make.regs;
  lp->steps = make.steps;
  DAMO_TRY(make_loop_program(&make, f));
  if (lanes != NULL) *lanes = loop_lanes_join(f->ctx, t->node, lp, make.regs, make.steps);
  return DAMO_OK;
}
