/* scan_jit.c: the machine code of a Scan of 0-d values, short vectors and small matrices, all steps of which run in one
 * call (scan_jit_run.c).
 *
 * The steps of a Scan whose inner Function consists of elementwise nodes, sums and other reductions of vectors, products
 * with a vector or of two to a matrix, and of nodes that move entries (op_def.moves, transposes), are a scalar program
 * (jit/jit.h) with one loop: sequences are read through addresses that move by their strides, the past of a state is
 * carried from step to step, stacked values are stored through addresses too. A vector or a matrix is a value for each of
 * its entries; the code is for the lengths that the operands have when it is made.
 */
#include <string.h>

#include "jit/jit.h"
#include "op/elem/elem_jit.h"
#include "scan_jit_int.h"

/* What a cell of the inner Function holds while code is made. */
typedef struct native_cell {
  elem_vector v;           /* n 0: nothing yet */
  const damo_array *known; /* a constant; NULL */
} native_cell;

typedef struct native_maker {
  const scan_class *s;
  const fn_program *program;
  scan_native *native;
  jit_program p;
  native_cell *cell; /* per cell of the inner Function */
  /* Space for one node: a number, a vector, an array for each operand; moves for each result. */
  int32_t *n;
  elem_vector *vector;
  const damo_array **known;
  op_move *moves;
  jit_value *entries;     /* space for entries that is not taken yet */
  bool branches, vectors; /* the step has some */
} native_maker;

/* How many entries a value of that rank has at most. */
static int32_t most_entries(int ndim) { return ndim == 0 ? 1 : ndim == 1 ? SCAN_MOST_ENTRIES : SCAN_MATRIX_ENTRIES; }

/* Gives a vector space for what a value of that rank has. */
static void take_entries(native_maker *m, elem_vector *v, int ndim) {
  v->entry = m->entries;
  m->entries += most_entries(ndim);
}

/* The type of entries of a tensor of a rank that code knows; JIT_N_TYPES: it is something else. */
static jit_type native_type(const damo_type *t) {
  return t->kind == TYPE_TENSOR && t->ndim <= 2 ? jit_type_of(t->dtype) : JIT_N_TYPES;
}

static bool all_native(const scan_class *s, const fn_program *program) {
  const vm_program *vm = &program->vm;
  bool all = !vm->by_demand;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    for (int k = 0; k < (s->part[i].role == SCAN_FIXED ? 1 : s->part[i].n); k++)
      all = all && native_type(scan_inner_in(s, s->part[i].first + k)->type) != JIT_N_TYPES;
  }
  for (int64_t o = 0; o < s->fgraph->outputs.n; o++)
    all = all && native_type(scan_inner_out(s, (int)o)->type) != JIT_N_TYPES;
  return all;
}

/* The cell of an inner input that has the shape of the part's values; NULL: nothing reads it. */
static native_cell *native_input(native_maker *m, int inner, const native_part *n) {
  const int32_t c = m->program->inputs[inner].cell;
  if (c < 0) return NULL;
  native_cell *to = &m->cell[c];
  if (to->v.entry == NULL) take_entries(m, &to->v, n->ndim);
  to->v.n = n->n;
  to->v.columns = n->columns;
  return to;
}

/* Reads the entries of a row at that address, whose axes have these strides. */
static void native_load_row(native_maker *m, const native_part *n, jit_type type, jit_value row, const jit_value *along,
                            jit_value *entry) {
  jit_program *p = &m->p;
  const int32_t columns = n->ndim == 2 ? n->columns : n->n;
  jit_value at = row;
  for (int32_t i = 0; i < n->n; i++) {
    if (i > 0 && i % columns == 0) at = row = jit_binary(p, JIT_IADD, row, along[0]);
    if (i % columns > 0) at = jit_binary(p, JIT_IADD, at, along[n->ndim - 1]);
    entry[i] = jit_load(p, type, at);
  }
}

static void native_sequence(native_maker *m, const scan_part *part, native_part *n, jit_type type) {
  jit_program *p = &m->p;
  const jit_value stride = jit_input(p, JIT_I64);
  jit_value along[2];
  n->stride = jit_home(p, stride);
  for (int axis = 0; axis < n->ndim; axis++) {
    along[axis] = jit_input(p, JIT_I64);
    n->along[axis] = jit_home(p, along[axis]);
  }
  for (int k = 0; k < part->n; k++) {
    n->value[k] = SCAN_NO_SLOT;
    native_cell *c = native_input(m, part->first + k, n);
    if (c == NULL) continue;
    const jit_value row = jit_carried(p, JIT_I64);
    n->value[k] = jit_home(p, row);
    native_load_row(m, n, type, row, along, c->v.entry);
    jit_carry(p, row, jit_binary(p, JIT_IADD, row, stride));
  }
}

/* What is k + 1 steps old becomes k + 2 steps old; native_outputs carries on the newest. */
static void native_state(native_maker *m, const scan_part *part, native_part *n, jit_type type) {
  jit_program *p = &m->p;
  for (int32_t i = 0; i < n->n; i++) {
    jit_value newer = -1;
    for (int k = 0; k < part->span; k++) {
      const jit_value past = jit_carried(p, type);
      n->value[k * n->most + i] = jit_home(p, past);
      for (int t = part->first; t < part->first + part->n; t++) {
        native_cell *c = m->s->tap[t] == -1 - k ? native_input(m, t, n) : NULL;
        if (c != NULL) c->v.entry[i] = past;
      }
      if (k == 0)
        n->newest[i] = past;
      else
        jit_carry(p, past, newer);
      newer = past;
    }
  }
}

static void native_fixed(native_maker *m, const scan_part *part, native_part *n, jit_type type) {
  native_cell *c = native_input(m, part->first, n);
  for (int32_t k = 0; k < n->n; k++) {
    const jit_value x = jit_input(&m->p, type);
    n->value[k] = jit_home(&m->p, x);
    if (c != NULL) c->v.entry[k] = x;
  }
}

static void native_inputs(native_maker *m) {
  const scan_class *s = m->s;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    const scan_part *part = &s->part[i];
    native_part *n = &m->native->part[i];
    const jit_type type = native_type(scan_inner_in(s, part->first)->type);
    m->vectors = m->vectors || n->ndim > 0;
    if (part->role == SCAN_SEQUENCE) {
      native_sequence(m, part, n, type);
    } else if (part->role == SCAN_STATE) {
      native_state(m, part, n, type);
    } else {
      native_fixed(m, part, n, type);
    }
  }
}

/* Whether a constant is a number, a short vector or a small matrix. */
static bool is_native_constant(const damo_obj *value) {
  const damo_array *a = (const damo_array *)value;
  bool fits = value->kind == OBJ_ARRAY && a->ndim <= 2;
  for (int axis = 0; fits && axis < a->ndim; axis++)
    fits = array_shape(a)[axis] >= 1 && array_shape(a)[axis] <= SCAN_MOST_ENTRIES;
  return fits;
}

static void native_constants(native_maker *m) {
  for (int64_t i = 0; i < m->program->vm.n_constants; i++) {
    const vm_constant *c = &m->program->vm.constants[i];
    const damo_array *a = (const damo_array *)c->value;
    if (!is_native_constant(c->value)) continue;
    native_cell *to = &m->cell[c->slot];
    take_entries(m, &to->v, a->ndim);
    to->v.n = (int32_t)array_size(a);
    to->v.columns = a->ndim == 2 ? (int32_t)array_shape(a)[1] : 0;
    to->known = a;
    for (int32_t k = 0; k < to->v.n; k++) to->v.entry[k] = elem_jit_const(&m->p, a, k);
  }
}

/* Most calls of kernels in a step with branches. */
#define BRANCHES_MOST_CALLS 8

/* Both branches are computed, since no operation of a step can fail, and one is chosen. */
static bool native_ifelse(native_maker *m, const thunk *t) {
  const jit_value condition = jit_convert(&m->p, m->cell[t->in[0]].v.entry[0], JIT_BOOL);
  for (int o = 0; o < t->n_out; o++) {
    const elem_vector *x = &m->cell[t->in[1 + o]].v, *y = &m->cell[t->in[1 + t->n_out + o]].v;
    elem_vector *to = &m->cell[t->out[o]].v;
    if (x->n != y->n || x->columns != y->columns) return false;
    if (jit_typeof(&m->p, x->entry[0]) != jit_typeof(&m->p, y->entry[0])) return false;
    for (int32_t k = 0; k < x->n; k++) to->entry[k] = jit_select(&m->p, condition, x->entry[k], y->entry[k]);
    to->n = x->n;
    to->columns = x->columns;
  }
  m->branches = true;
  return true;
}

/* A node that computes: of every entry by itself, or of all of a vector. */
static bool native_computed(native_maker *m, const thunk *t) {
  elem_vector *out = m->vector + t->n_in;
  for (int i = 0; i < t->n_in; i++) m->vector[i] = m->cell[t->in[i]].v;
  for (int o = 0; o < t->n_out; o++) out[o] = m->cell[t->out[o]].v;
  if (!elem_jit_vectors(&m->p, t->node, m->vector, out)) return false;
  for (int o = 0; o < t->n_out; o++) m->cell[t->out[o]].v = out[o];
  return true;
}

/* x + y as kernel/copy.c adds; -1: of bools. */
static jit_value native_sum(native_maker *m, jit_value x, jit_value y) {
  const jit_type type = jit_typeof(&m->p, x);
  if (type == JIT_BOOL || type != jit_typeof(&m->p, y)) return -1;
  return jit_binary(&m->p, type == JIT_F64 || type == JIT_F32 ? JIT_ADD : JIT_IADD, x, y);
}

/* A node that moves entries. Its operands are in cells of other nodes: values in SSA form need no copy. */
static bool native_moved(native_maker *m, const thunk *t) {
  for (int i = 0; i < t->n_in; i++) {
    m->n[i] = m->cell[t->in[i]].v.n;
    m->known[i] = m->cell[t->in[i]].known;
  }
  const op_moves moves = {t->node, m->n, m->known, m->n + t->n_in, m->moves};
  if (!t->node->op->def->moves(&moves, m->p.ctx)) return false;
  for (int o = 0; o < t->n_out; o++) {
    elem_vector *to = &m->cell[t->out[o]].v;
    to->n = moves.n_out[o];
    if (to->n == 0) return false;
    for (int32_t k = 0; k < to->n; k++) {
      const op_move *from = &m->moves[o * OP_MOVES_MOST + k];
      to->entry[k] = m->cell[t->in[from->in]].v.entry[from->at];
      if (from->add >= 0) to->entry[k] = native_sum(m, to->entry[k], m->cell[t->in[from->add]].v.entry[from->add_at]);
      if (to->entry[k] < 0) return false;
    }
  }
  return true;
}

/* A DimShuffle of a matrix or to one: entry (i, j) is that of the operand's axes in the result's order. */
static bool native_transposed(native_maker *m, const thunk *t) {
  const elem_vector *x = &m->cell[t->in[0]].v;
  elem_vector *to = &m->cell[t->out[0]].v;
  const int in_ndim = t->node->in[0]->type->ndim, ndim = t->node->out[0]->type->ndim;
  const int32_t shape[2] = {x->columns > 0 ? x->n / x->columns : x->n, x->columns};
  const int32_t stride[2] = {x->columns > 0 ? x->columns : 1, 1};
  int32_t n[2] = {1, 1}, step[2] = {0, 0};
  for (int axis = 0; axis < ndim; axis++) {
    const int from = dimshuffle_op_axis(t->node->op, axis);
    if (from < 0) continue;
    n[axis] = shape[from];
    step[axis] = stride[from];
  }
  if (n[0] * n[1] != x->n || in_ndim == 0) return false; /* an axis that has to have length 1 has not */
  for (int32_t k = 0; k < x->n; k++) to->entry[k] = x->entry[k / n[1] * step[0] + k % n[1] * step[1]];
  to->n = x->n;
  to->columns = ndim == 2 ? n[1] : 0;
  return true;
}

static bool native_node(native_maker *m, const thunk *t) {
  bool matrices = false;
  for (int i = 0; i < t->n_in; i++) {
    const native_cell *c = &m->cell[t->in[i]];
    if (c->v.n == 0 || c->v.entry[0] < 0) return false;
    matrices = matrices || c->v.columns > 0;
  }
  for (int o = 0; o < t->n_out; o++) {
    const damo_type *type = t->node->out[o]->type;
    if (!type_is_tensor(type) || type->ndim > 2) return false;
    matrices = matrices || type->ndim == 2;
    take_entries(m, &m->cell[t->out[o]].v, type->ndim);
  }
  if (t->node->op->def == &ifelse_def) return native_ifelse(m, t);
  if (matrices && t->node->op->def == &dimshuffle_def) return native_transposed(m, t);
  if (!matrices && t->node->op->def->moves != NULL) return native_moved(m, t);
  return native_computed(m, t);
}

static const native_cell *cell_of_out(const native_maker *m, int out) {
  return &m->cell[m->program->outputs[out].cell];
}

/* Stores the entries in the row, and moves on to the next row. */
static void native_store(native_maker *m, const scan_part *part, native_part *n, const elem_vector *v) {
  jit_program *p = &m->p;
  const jit_value row = jit_carried(p, JIT_I64), to = jit_input(p, JIT_I64);
  const uint64_t size = dtype_size(scan_inner_out(m->s, part->out)->type->dtype);
  n->row = jit_home(p, row);
  n->to = jit_home(p, to);
  for (int32_t k = 0; k < n->n; k++) {
    const jit_value at = k == 0 ? row : jit_binary(p, JIT_IADD, row, jit_const(p, JIT_I64, (uint64_t)k * size));
    jit_store(p, at, v->entry[k]);
  }
  jit_carry(p, row, jit_binary(p, JIT_IADD, row, to));
}

/* False: a state changes its length. */
static bool native_outputs(native_maker *m) {
  const scan_class *s = m->s;
  jit_program *p = &m->p;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *part = &s->part[i];
    native_part *n = &m->native->part[i];
    if (part->out < 0) continue;
    const elem_vector *v = &cell_of_out(m, part->out)->v;
    if (part->role == SCAN_STATE && (v->n != n->n || v->columns != n->columns)) return false;
    n->n = v->n;
    n->columns = v->columns;
    n->ndim = (int8_t)scan_inner_out(s, part->out)->type->ndim;
    for (int32_t k = 0; k < n->n && part->role == SCAN_STATE; k++) jit_carry(p, n->newest[k], v->entry[k]);
    if (part->stack >= 0) native_store(m, part, n, v);
    for (int32_t k = 0; k < n->n && part->role == SCAN_COLLECT && part->last >= 0; k++) {
      const jit_value last = jit_carried(p, jit_typeof(p, v->entry[k]));
      n->value[k] = jit_home(p, last);
      jit_carry(p, last, v->entry[k]);
    }
  }
  if (s->until) jit_stop_if(p, jit_convert(p, cell_of_out(m, (int)s->fgraph->outputs.n - 1)->v.entry[0], JIT_BOOL));
  return true;
}

/* The slots into which rows go that are not kept: as many as the longest row has entries. */
static void native_nowhere(native_maker *m) {
  int32_t most = 1;
  for (int i = 0; i < m->s->n_parts; i++) {
    if (m->s->part[i].stack >= 0 && m->native->part[i].n > most) most = m->native->part[i].n;
  }
  for (int32_t k = 0; k < most; k++) {
    const int32_t slot = jit_home(&m->p, jit_input(&m->p, JIT_I64));
    if (k == 0) m->native->nowhere = slot;
  }
}

/* Nanoseconds, about: of a call of a kernel on one entry, and of a node in the VM, whose kernels take all entries of a
 * vector at once. */
#define CALL_NS 40
#define NODE_NS 60

static bool native_program(native_maker *m) {
  const vm_program *vm = &m->program->vm;
  native_constants(m);
  native_inputs(m);
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    if (!native_node(m, vm->thunks[k])) return false;
  }
  for (int64_t o = 0; o < m->program->n_outputs; o++) {
    const elem_vector *v = &cell_of_out(m, (int)o)->v;
    if (v->n == 0 || v->entry[0] < 0) return false;
  }
  if (m->branches && m->p.n_calls > BRANCHES_MOST_CALLS) return false;
  if (m->vectors && m->p.n_calls * CALL_NS > vm->n_thunks * NODE_NS) return false;
  if (!native_outputs(m)) return false;
  native_nowhere(m);
  return true;
}

/* The rank of the values of a part. */
static int native_ndim(const scan_class *s, const scan_part *p) {
  return (p->role != SCAN_COLLECT ? scan_inner_in(s, p->first) : scan_inner_out(s, p->out))->type->ndim;
}

/* How many slots native_part.value has. */
static int32_t native_slots_of(const scan_class *s, const scan_part *p) {
  if (p->role == SCAN_SEQUENCE) return p->n;
  return most_entries(native_ndim(s, p)) * (p->role == SCAN_STATE ? p->span : 1);
}

static scan_native *native_alloc(const scan_class *s, damo_ctx *ctx) {
  const size_t parts = (size_t)s->n_parts * sizeof(native_part);
  size_t n_values = 0;
  for (int i = 0; i < s->n_parts; i++)
    n_values += (size_t)native_slots_of(s, &s->part[i]) +
                (s->part[i].role == SCAN_STATE ? (size_t)most_entries(native_ndim(s, &s->part[i])) : 0);
  const size_t n_numbers = 2 * (size_t)s->n_parts;
  const size_t bytes = sizeof(scan_native) + parts + n_numbers * sizeof(native_number) + n_values * sizeof(int32_t);
  scan_native *n = mem_calloc(ctx, bytes);
  if (n == NULL) return NULL;
  n->bytes = bytes;
  n->reads = (native_number *)(void *)((char *)n->part + parts);
  n->gives = n->reads + s->n_parts;
  int32_t *value = (int32_t *)(n->reads + n_numbers);
  for (int i = 0; i < s->n_parts; i++) {
    native_part *part = &n->part[i];
    part->most = most_entries(native_ndim(s, &s->part[i]));
    part->value = value;
    value += native_slots_of(s, &s->part[i]);
    if (s->part[i].role != SCAN_STATE) continue;
    part->newest = value;
    value += part->most;
  }
  return n;
}

void scan_native_free(scan_native *n, damo_ctx *ctx) {
  if (n == NULL) return;
  jit_code_free(n->code);
  if (n->frame != NULL) mem_free(ctx, n->frame, n->frame_bytes);
  mem_free(ctx, n, n->bytes);
}

/* How many entries the cells of the inner Function need at most. */
static size_t entries_of_cells(const native_maker *m) {
  const scan_class *s = m->s;
  const vm_program *vm = &m->program->vm;
  size_t n = 0;
  for (int i = 0; i < s->n_in; i++) n += (size_t)most_entries(scan_inner_in(s, i)->type->ndim);
  for (int64_t i = 0; i < vm->n_constants; i++) {
    const damo_obj *value = vm->constants[i].value;
    if (is_native_constant(value)) n += (size_t)most_entries(((const damo_array *)value)->ndim);
  }
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    const thunk *t = vm->thunks[k];
    for (int o = 0; o < t->n_out; o++) {
      const damo_type *type = t->node->out[o]->type;
      if (type_is_tensor(type) && type->ndim <= 2) n += (size_t)most_entries(type->ndim);
    }
  }
  return n;
}

/* Space for the node with the most operands and results, and for the entries of cells. */
static size_t native_reserve(native_maker *m, damo_ctx *ctx) {
  const vm_program *vm = &m->program->vm;
  int64_t most = 1;
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    const int64_t n = vm->thunks[k]->n_in + vm->thunks[k]->n_out;
    if (n > most) most = n;
  }
  const size_t cells = (size_t)vm->n_cells * sizeof *m->cell;
  const size_t each = sizeof *m->vector + sizeof *m->known + OP_MOVES_MOST * sizeof *m->moves + sizeof *m->n;
  const size_t bytes = cells + (size_t)most * each + entries_of_cells(m) * sizeof(jit_value);
  char *at = mem_calloc(ctx, bytes);
  m->cell = (native_cell *)(void *)at;
  if (at == NULL) return 0;
  m->vector = (elem_vector *)(void *)(at + cells);
  m->known = (const damo_array **)(void *)(m->vector + most);
  m->moves = (op_move *)(void *)(m->known + most);
  m->n = (int32_t *)(m->moves + most * OP_MOVES_MOST);
  m->entries = (jit_value *)(m->n + most);
  return bytes;
}

/* The shape of the operand's values of one step: entries, and the columns of matrices. False: it is too long or empty. */
static bool operand_shape(const scan_class *s, const scan_part *p, const damo_array *a, native_part *out) {
  const int ndim = scan_inner_in(s, p->first)->type->ndim;
  *out = (native_part){.n = 1, .ndim = (int8_t)ndim};
  for (int axis = 0; axis < ndim; axis++) {
    const int64_t length = array_shape(a)[a->ndim - ndim + axis];
    if (length < 1 || length > SCAN_MOST_ENTRIES) return false;
    out->n *= (int32_t)length;
    if (ndim == 2) out->columns = (int32_t)length;
  }
  return true;
}

/* The shape of the values of part i: of a sequence that is fed, that of the part that feeds it, else its operand's. */
static bool native_shape(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w,
                         const native_part *const *fed, int i, native_part *out) {
  const bool is_fed = i < s->n_seq && i >= scan_n_read(s, w);
  if (!is_fed) return operand_shape(s, &s->part[i], thunk_in(t, f, scan_operand(s, w, &s->part[i])), out);
  *out = *fed[i - scan_n_read(s, w)];
  return true;
}

/* Notes the shapes of the operands. False: there is a long one. */
static bool native_shapes(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w,
                          const native_part *const *fed, scan_native *n) {
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    native_part shape;
    if (!native_shape(t, f, s, w, fed, i, &shape)) return false;
    n->part[i].n = shape.n;
    n->part[i].columns = shape.columns;
    n->part[i].ndim = shape.ndim;
  }
  return true;
}

bool scan_native_is_scalar(const scan_native *n) { return n->is_scalar; }

/* Whether a run with these operands reads numbers alone and gives numbers alone. The length of no operand can differ in
 * another run then. */
static bool has_numbers_alone(const scan_class *s) {
  bool alone = s->n_seq == 0;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    alone = alone && p->stack < 0 && (p->role != SCAN_STATE || p->bare);
    alone = alone && native_ndim(s, p) == 0;
  }
  return alone;
}

/* Notes what a run of scalars reads and gives. */
static void note_numbers(const thunk *t, const scan_class *s, scan_native *n) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    const native_part *at = &n->part[i];
    if (p->role != SCAN_COLLECT)
      n->reads[n->n_reads++] =
          (native_number){t->in[scan_in(s, p)], at->value[0], scan_inner_in(s, p->first)->type->dtype};
    if (p->last >= 0)
      n->gives[n->n_gives++] = (native_number){p->last, at->value[0], scan_inner_out(s, p->out)->type->dtype};
  }
}

bool scan_native_fits(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w,
                      const native_part *const *fed) {
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    const native_part *made = &w->native->part[i];
    native_part now;
    if (!native_shape(t, f, s, w, fed, i, &now)) return false;
    if (now.n != made->n || now.columns != made->columns) return false;
  }
  return true;
}

scan_native *scan_native_new(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w,
                             const native_part *const *fed) {
  damo_ctx *ctx = w->inner->obj.ctx;
  const fn_program *program = w->inner->program;
  if (jit_refusal(ctx) != NULL || !all_native(s, program)) return NULL;
  native_maker m = {.s = s, .program = program, .native = native_alloc(s, ctx)};
  const size_t bytes = m.native != NULL ? native_reserve(&m, ctx) : 0;
  if (m.cell != NULL) {
    jit_begin(&m.p, ctx);
    m.p.name = s->name != NULL ? s->name : s->def.name;
    if (native_shapes(t, f, s, w, fed, m.native) && native_program(&m)) m.native->code = jit_compile(&m.p);
    jit_end(&m.p);
    mem_free(ctx, m.cell, bytes);
  }
  if (m.native != NULL && m.native->code != NULL) {
    m.native->frame_bytes = (size_t)jit_n_slots(m.native->code) * sizeof(jit_slot);
    m.native->frame = mem_alloc(ctx, m.native->frame_bytes);
  }
  if (m.native == NULL || m.cell == NULL || (m.native->code != NULL && m.native->frame == NULL)) ctx_clear_error(ctx);
  if (m.native != NULL && m.native->frame != NULL) {
    jit_frame_init(m.native->code, m.native->frame);
    m.native->share = m.native->known = 1 + POLL_NS / SCAN_SHARES / jit_step_ns(m.native->code);
    m.native->is_scalar = has_numbers_alone(s);
    if (m.native->is_scalar) note_numbers(t, s, m.native);
    return m.native;
  }
  scan_native_free(m.native, ctx);
  return NULL;
}
