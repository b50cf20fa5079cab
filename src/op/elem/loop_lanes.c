/* loop_lanes: joins cheap steps of a Loop's program into kernels of machine code (jit/jit.h: programs of lanes), so that
 * what lies between them stays in vector registers.
 *
 * Steps are taken in their order. Cheap ones of one pass, one width of lanes and the same axes are held back as a
 * group, until a step reads what the group makes: it runs before that. Other steps that read nothing of it, and write
 * no output, go ahead of it. What varies along fewer axes is in a group of its own, so that it is not computed more
 * often.
 * Lanes have 64 bits where some value of a step has; steps over 32 bits join those that they depend on.
 */
#include "loop_lanes.h"

#include <string.h>

#include "elem_jit.h"
#include "loop_op_int.h"

#define GROUP_MOST_STEPS 48

struct loop_lanes {
  int32_t n, cap;
  jit_code *code[];
};

/* The bits of lanes that a step asks for. */
typedef enum lanes_width {
  LANES_ANY, /* it has bools alone */
  LANES_32,
  LANES_64,
  LANES_NONE /* its dtypes are not those of machine code */
} lanes_width;

typedef struct lanes_reg {
  uint64_t spans;  /* the axes along which it varies, as bits */
  int32_t reads;   /* steps that read it, once for each operand */
  int32_t inside;  /* of these, such in the group in hand */
  int16_t operand; /* in the kernel in hand, -1 */
  bool is_pending; /* written by a step that is held back */
  bool is_made;    /* written by a step of the group in hand */
  jit_value value; /* in the program in hand */
} lanes_reg;

typedef struct lanes_joiner {
  damo_ctx *ctx;
  const damo_apply *node;
  const loop_data *d;
  const loop_program *lp;
  const loop_reg *regs;
  const loop_step *steps;
  loop_lanes *lanes;
  lanes_reg *reg;
  loop_step *made; /* the steps that remain */
  int32_t n_made;
  int16_t *pending; /* steps that are held back, of one lane, pass and spans */
  int32_t n_pending;
  lanes_width width;
  uint64_t spans;
  uint64_t last_axis; /* as a bit */
} lanes_joiner;

static damo_dtype dtype_of(const lanes_joiner *j, int16_t r) { return (damo_dtype)j->regs[r].dtype; }
static bool is_operand(const lanes_joiner *j, int16_t r) { return r < j->lp->n_in + j->lp->n_out; }

/* ---- What a step is ---------------------------------------------------------------------------------------------- */

static uint64_t input_axes(const lanes_joiner *j, int i, int ndim) {
  const damo_type *type = j->node->in[i]->type;
  uint64_t spans = 0;
  if (j->d->uses[i].use != USE_OPERAND) return ((uint64_t)1 << ndim) - 1;
  for (int axis = 0; axis < ndim; axis++) {
    const int own = loop_input_axis(j->d, i, type->ndim, ndim, axis);
    if (own >= 0 && !type_dim_is_one(type, own)) spans |= (uint64_t)1 << axis;
  }
  return spans;
}

static void find_spans(lanes_joiner *j) {
  const int ndim = loop_ndim(j->d, j->node->in);
  j->last_axis = (uint64_t)1 << (ndim - 1);
  for (int i = 0; i < j->lp->n_in; i++) j->reg[i].spans = input_axes(j, i, ndim);
  for (int i = 0; i < j->lp->n_steps; i++) {
    const loop_step *s = &j->steps[i];
    uint64_t spans = s->kind == LOOP_PLACE ? UINT64_MAX : 0;
    for (int k = 0; k < s->n_in; k++) {
      spans |= j->reg[s->reg[k]].spans;
      j->reg[s->reg[k]].reads++;
    }
    if (s->kind == LOOP_FOLD || s->kind == LOOP_PICK) spans &= ~(uint64_t)j->d->axes;
    for (int k = s->n_in; k < s->n_in + s->n_out; k++) j->reg[s->reg[k]].spans = spans;
  }
}

/* The width that the dtypes of its registers ask for. */
static lanes_width width_of(const lanes_joiner *j, const loop_step *s) {
  lanes_width width = LANES_ANY;
  for (int k = 0; k < s->n_in + s->n_out; k++) {
    const damo_dtype dtype = dtype_of(j, s->reg[k]);
    if (jit_type_of(dtype) == JIT_N_TYPES) return LANES_NONE;
    const lanes_width own = dtype == DAMO_BOOL ? LANES_ANY : dtype_size(dtype) == 8 ? LANES_64 : LANES_32;
    if (own > width) width = own;
  }
  return width;
}

/* Adds the step to a program: the values of its inputs are there. */
static bool add_lanes_step(const lanes_joiner *j, jit_program *p, const loop_step *s) {
  jit_value in[LOOP_STEP_REGS];
  damo_dtype dtype[LOOP_STEP_REGS];
  const int16_t out = s->reg[s->n_in];
  for (int k = 0; k < s->n_in; k++) {
    in[k] = j->reg[s->reg[k]].value;
    dtype[k] = dtype_of(j, s->reg[k]);
  }
  const damo_op *op = s->part >= 0 ? j->d->parts[s->part].op : NULL;
  return elem_jit_step(p, op, dtype_of(j, out), dtype, in, &j->reg[out].value) && !p->failed;
}

/* Whether machine code computes it without calls. */
static bool is_lanes_step(const lanes_joiner *j, const loop_step *s, lanes_width width) {
  jit_program p;
  jit_begin_lanes(&p, j->ctx, width == LANES_64);
  for (int k = 0; k < s->n_in; k++) j->reg[s->reg[k]].value = jit_element(&p, jit_type_of(dtype_of(j, s->reg[k])), k);
  const bool cheap = add_lanes_step(j, &p, s);
  jit_end(&p);
  return cheap;
}

static bool reads_pending(const lanes_joiner *j, const loop_step *s) {
  bool reads = false;
  for (int k = 0; k < s->n_in; k++) reads = reads || j->reg[s->reg[k]].is_pending;
  return reads;
}

/* Whether it may be in a group, of that width. */
static bool may_join_lanes(const lanes_joiner *j, const loop_step *s, lanes_width *width) {
  if ((s->kind != LOOP_KERNEL && s->kind != LOOP_CAST) || s->over_rows || s->n_out != 1) return false;
  *width = width_of(j, s);
  const bool takes_any = *width == LANES_ANY || (*width == LANES_32 && reads_pending(j, s));
  if (takes_any && j->n_pending > 0) *width = j->width;
  return *width != LANES_ANY && *width != LANES_NONE && is_lanes_step(j, s, *width);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static void keep_step(lanes_joiner *j, int i) { j->made[j->n_made++] = j->steps[i]; }

/* Whether a kernel need only read the first element of the register: a value that is the same in all rows. */
static bool is_first(const lanes_joiner *j, int16_t r) {
  return j->reg[r].spans == 0 && dtype_of(j, r) != DAMO_BOOL && (r < j->lp->n_in || j->lp->n_passes == 0);
}

/* Whether it has one value for all elements of a row, or of the last axis. */
static bool is_row_value(const lanes_joiner *j, int16_t r) {
  if (dtype_of(j, r) == DAMO_BOOL || is_first(j, r)) return false;
  return j->lp->n_passes > 0 ? j->regs[r].is_row : (j->reg[r].spans & j->last_axis) == 0;
}

/* Whether what the group makes in register r is read elsewhere. */
static bool is_result(const lanes_joiner *j, int16_t r) {
  return is_operand(j, r) || j->reg[r].reads > j->reg[r].inside;
}

/* The operands of the kernel for these steps. False: they are too many. */
static bool group_operands(lanes_joiner *j, const int16_t *step, int n, loop_step *kernel) {
  int n_regs = 0;
  for (int i = 0; i < n; i++) {
    const loop_step *s = &j->steps[step[i]];
    for (int k = 0; k < s->n_in; k++) {
      lanes_reg *r = &j->reg[s->reg[k]];
      if (r->is_made || r->operand >= 0) continue;
      if (n_regs == LOOP_STEP_REGS) return false;
      r->operand = (int16_t)n_regs;
      if (is_first(j, s->reg[k])) kernel->firsts |= (uint16_t)(1u << n_regs);
      if (is_row_value(j, s->reg[k])) kernel->values |= (uint16_t)(1u << n_regs);
      kernel->reg[n_regs++] = s->reg[k];
    }
  }
  kernel->n_in = (uint8_t)n_regs;
  for (int i = 0; i < n; i++) {
    const int16_t out = j->steps[step[i]].reg[j->steps[step[i]].n_in];
    if (!is_result(j, out)) continue;
    if (n_regs == LOOP_STEP_REGS) return false;
    kernel->reg[n_regs++] = out;
  }
  kernel->n_out = (uint8_t)(n_regs - kernel->n_in);
  return true;
}

/* The kernel of that code, which is kept; NULL: there is none. firsts: the inputs of which it reads the first element. */
static kernel_fn group_kernel(lanes_joiner *j, const int16_t *step, int n, const loop_step *kernel, unsigned firsts) {
  jit_program p;
  jit_begin_lanes(&p, j->ctx, j->width == LANES_64);
  p.name = "Loop";
  for (int k = 0; k < kernel->n_in; k++) {
    const jit_type type = jit_type_of(dtype_of(j, kernel->reg[k]));
    const bool first = firsts >> k & 1;
    j->reg[kernel->reg[k]].value = first ? jit_first(&p, type, k) : jit_element(&p, type, k);
  }
  bool all = true;
  for (int i = 0; i < n && all; i++) all = add_lanes_step(j, &p, &j->steps[step[i]]);
  for (int k = kernel->n_in; k < kernel->n_in + kernel->n_out && all; k++)
    jit_result(&p, k, j->reg[kernel->reg[k]].value);
  jit_code *code = all ? jit_compile(&p) : NULL;
  jit_end(&p);
  if (code == NULL) return NULL;
  damo_assert(j->lanes->n < j->lanes->cap);
  j->lanes->code[j->lanes->n++] = code;
  return jit_kernel(code);
}

/* Marks what the steps read and write, or takes the marks back. */
static void mark_group(lanes_joiner *j, const int16_t *step, int n, bool marked) {
  for (int i = 0; i < n; i++) {
    const loop_step *s = &j->steps[step[i]];
    for (int k = 0; k < s->n_in; k++) {
      j->reg[s->reg[k]].inside += marked ? 1 : -1;
      j->reg[s->reg[k]].operand = -1;
    }
    j->reg[s->reg[s->n_in]].is_made = marked;
  }
}

/* Whether the step's own kernel has those operands in that order. */
static bool has_operands(const loop_step *s, const loop_step *kernel) {
  bool same = s->kind == LOOP_KERNEL && s->n_in == kernel->n_in;
  for (int k = 0; k < s->n_in && same; k++) same = s->reg[k] == kernel->reg[k];
  return same;
}

/* Makes one step of these; of one alone, a step that has a kernel for values too. False: there is no code for it. */
static bool join_steps(lanes_joiner *j, const int16_t *step, int n) {
  const loop_step *alone = n == 1 ? &j->steps[step[0]] : NULL;
  loop_step kernel = {.kind = LOOP_KERNEL, .pass = j->steps[step[0]].pass, .part = -1};
  if (n > GROUP_MOST_STEPS) return false;
  mark_group(j, step, n, true);
  const bool fits = group_operands(j, step, n, &kernel) && (alone == NULL || has_operands(alone, &kernel));
  if (fits && n > 1) kernel.fn.kernel = group_kernel(j, step, n, &kernel, kernel.firsts);
  if (fits && kernel.values != 0)
    kernel.by_value = group_kernel(j, step, n, &kernel, kernel.firsts | (unsigned)kernel.values);
  mark_group(j, step, n, false);
  if (n > 1 ? kernel.fn.kernel == NULL : kernel.by_value == NULL) return false;
  if (alone != NULL) { /* its own kernel reads whole blocks */
    kernel.fn.kernel = alone->fn.kernel;
    kernel.values |= kernel.firsts;
    kernel.firsts = 0;
  }
  j->made[j->n_made++] = kernel;
  return true;
}

/* Makes one step of these, or several where they are too many for one. */
static void put_group(lanes_joiner *j, const int16_t *step, int n) {
  if (join_steps(j, step, n)) return;
  if (n == 1) {
    keep_step(j, step[0]);
    return;
  }
  put_group(j, step, n / 2);
  put_group(j, step + n / 2, n - n / 2);
}

static void flush_group(lanes_joiner *j) {
  if (j->n_pending == 0) return;
  for (int i = 0; i < j->n_pending; i++) {
    const loop_step *s = &j->steps[j->pending[i]];
    j->reg[s->reg[s->n_in]].is_pending = false;
  }
  put_group(j, j->pending, j->n_pending);
  j->n_pending = 0;
}

static void hold_back(lanes_joiner *j, int i, lanes_width width) {
  const loop_step *s = &j->steps[i];
  j->width = width;
  j->spans = j->reg[s->reg[s->n_in]].spans;
  j->pending[j->n_pending++] = (int16_t)i;
  j->reg[s->reg[s->n_in]].is_pending = true;
}

static void take_step(lanes_joiner *j, int i) {
  const loop_step *s = &j->steps[i];
  lanes_width width = LANES_NONE;
  if (j->n_pending > 0 && j->steps[j->pending[0]].pass != s->pass) flush_group(j);
  bool joins = may_join_lanes(j, s, &width);
  const bool writes = is_operand(j, s->reg[s->n_in]), depends = reads_pending(j, s);
  const bool same = width == j->width && j->reg[s->reg[s->n_in]].spans == j->spans;
  if (joins && j->n_pending > 0 && !same && (depends || writes)) {
    flush_group(j);
    joins = may_join_lanes(j, s, &width); /* of its own width now */
  }
  if (joins && (j->n_pending == 0 || same)) {
    hold_back(j, i, width);
    return;
  }
  if (depends || writes) flush_group(j);
  keep_step(j, i);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

/* Numbers the temporaries that are left. */
static void renumber(const lanes_joiner *j, loop_program *lp, loop_reg *regs) {
  const int n_ops = lp->n_in + lp->n_out;
  int16_t n = (int16_t)n_ops;
  for (int r = n_ops; r < lp->n_regs; r++) j->reg[r].operand = -1;
  for (int i = 0; i < j->n_made; i++) {
    loop_step *s = &j->made[i];
    for (int k = 0; k < s->n_in + s->n_out; k++) {
      if (s->reg[k] < n_ops) continue;
      int16_t *number = &j->reg[s->reg[k]].operand;
      if (*number < 0) {
        *number = n++;
        j->reg[*number].value = regs[s->reg[k]].dtype | regs[s->reg[k]].is_row << 8;
      }
      s->reg[k] = *number;
    }
  }
  for (int r = n_ops; r < n; r++)
    regs[r] = (loop_reg){.dtype = (uint8_t)(j->reg[r].value & 0xFF), .is_row = j->reg[r].value >> 8};
  lp->n_regs = n;
}

static size_t lanes_bytes(int cap) { return sizeof(loop_lanes) + (size_t)cap * sizeof(jit_code *); }

loop_lanes *loop_lanes_join(damo_ctx *ctx, const damo_apply *node, loop_program *lp, loop_reg *regs, loop_step *steps) {
  if (lp->n_steps < 2 || !jit_has_lanes(ctx)) return NULL;
  const size_t n_steps = (size_t)lp->n_steps, n_regs = (size_t)lp->n_regs;
  const size_t bytes = n_regs * sizeof(lanes_reg) + n_steps * (sizeof(loop_step) + sizeof(int16_t));
  char *m = mem_calloc(ctx, bytes);
  loop_lanes *l = m != NULL ? mem_calloc(ctx, lanes_bytes(2 * lp->n_steps)) : NULL;
  if (l == NULL) {
    ctx_clear_error(ctx);
    if (m != NULL) mem_free(ctx, m, bytes);
    return NULL;
  }
  l->cap = 2 * lp->n_steps;
  lanes_joiner j = {.ctx = ctx, .node = node, .d = loop_data_of(node->op), .lp = lp, .regs = regs, .steps = steps};
  j.lanes = l;
  j.reg = (lanes_reg *)(void *)m;
  j.made = (loop_step *)(void *)(j.reg + n_regs);
  j.pending = (int16_t *)(void *)(j.made + n_steps);
  for (size_t r = 0; r < n_regs; r++) j.reg[r].operand = -1;
  find_spans(&j);
  for (int i = 0; i < lp->n_steps; i++) take_step(&j, i);
  flush_group(&j);
  if (l->n > 0) {
    renumber(&j, lp, regs);
    memcpy(steps, j.made, (size_t)j.n_made * sizeof *steps);
    lp->n_steps = j.n_made;
  }
  mem_free(ctx, m, bytes);
  if (l->n > 0) return l;
  loop_lanes_free(l, ctx);
  return NULL;
}

void loop_lanes_free(loop_lanes *l, damo_ctx *ctx) {
  if (l == NULL) return;
  for (int i = 0; i < l->n; i++) jit_code_free(l->code[i]);
  mem_free(ctx, l, lanes_bytes(l->cap));
}
