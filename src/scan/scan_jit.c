/* scan_jit.c: a Scan of 0-d values and short vectors as one call of machine code.
 *
 * The steps of a Scan whose inner Function consists of elementwise nodes, sums and other reductions of vectors, products of
 * two vectors, and of nodes that move entries (op_def.moves), are a scalar program (jit/jit.h) with one loop: sequences are read through addresses that move by
 * their strides, the past of a state is carried from step to step, stacked values are stored through addresses too. A
 * vector is a value for each of its entries; the code is for the lengths that the operands have when it is made. The code runs a share of the steps at a
 * time: until the loop has to look whether it was interrupted, or a stack is full, or goes on elsewhere.
 */
#include <string.h>

#include "jit/jit.h"
#include "op/elem/elem_jit.h"
#include "scan_jit_int.h"

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* What a cell of the inner Function holds while code is made. */
typedef struct native_cell {
  jit_value entry[SCAN_MOST_ENTRIES];
  int32_t n;               /* entries, rows of a matrix; 0: nothing yet */
  int32_t columns;         /* of a matrix */
  jit_value *matrix;       /* its entries; NULL: it is none */
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
  jit_value *matrices;    /* entries of matrices that are not taken yet */
  bool branches, vectors; /* the step has some */
} native_maker;

/* The type of entries of a tensor of that rank at most; JIT_N_TYPES: it is something else. */
static jit_type native_type(const damo_type *t, int most_ndim) {
  return t->kind == TYPE_TENSOR && t->ndim <= most_ndim ? jit_type_of(t->dtype) : JIT_N_TYPES;
}

/* Of states and sequences' steps vectors, of what is fixed matrices too. */
static int most_ndim_of(const scan_part *part) { return part->role == SCAN_FIXED ? 2 : 1; }

/* Elements have 8, 4 or 1 bytes. */
static jit_slot native_read(const void *at, damo_dtype dtype) {
  const size_t size = dtype_size(dtype);
  jit_slot x = {.bits = 0};
  if (size == 8)
    memcpy(&x, at, 8);
  else if (size == 4)
    memcpy(&x, at, 4);
  else
    x.bits = *(const char *)at != 0 ? UINT64_MAX : 0;
  return x;
}

static void native_write(void *at, damo_dtype dtype, jit_slot x) {
  const size_t size = dtype_size(dtype);
  if (size == 8)
    memcpy(at, &x, 8);
  else if (size == 4)
    memcpy(at, &x, 4);
  else
    *(char *)at = x.bits != 0;
}

static bool all_native(const scan_class *s, const fn_program *program) {
  const vm_program *vm = &program->vm;
  bool all = !vm->by_demand;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    for (int k = 0; k < (s->part[i].role == SCAN_FIXED ? 1 : s->part[i].n); k++)
      all = all && native_type(scan_inner_in(s, s->part[i].first + k)->type, most_ndim_of(&s->part[i])) != JIT_N_TYPES;
  }
  for (int64_t o = 0; o < s->fgraph->outputs.n; o++)
    all = all && native_type(scan_inner_out(s, (int)o)->type, 1) != JIT_N_TYPES;
  return all;
}

/* The cell of an inner input, of so many entries; NULL: nothing reads it. */
static native_cell *native_input(const native_maker *m, int inner, int32_t n) {
  const int32_t c = m->program->inputs[inner].cell;
  if (c < 0) return NULL;
  m->cell[c].n = n;
  return &m->cell[c];
}

static void native_sequence(native_maker *m, const scan_part *part, native_part *n, jit_type type) {
  jit_program *p = &m->p;
  const jit_value stride = jit_input(p, JIT_I64), along = n->n > 1 ? jit_input(p, JIT_I64) : -1;
  n->stride = jit_home(p, stride);
  if (n->n > 1) n->along = jit_home(p, along);
  for (int k = 0; k < part->n; k++) {
    n->value[k] = SCAN_NO_SLOT;
    native_cell *c = native_input(m, part->first + k, n->n);
    if (c == NULL) continue;
    const jit_value row = jit_carried(p, JIT_I64);
    n->value[k] = jit_home(p, row);
    jit_value at = row;
    for (int32_t i = 0; i < n->n; i++) {
      if (i > 0) at = jit_binary(p, JIT_IADD, at, along);
      c->entry[i] = jit_load(p, type, at);
    }
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
      n->value[k * SCAN_MOST_ENTRIES + i] = jit_home(p, past);
      for (int t = part->first; t < part->first + part->n; t++) {
        native_cell *c = m->s->tap[t] == -1 - k ? native_input(m, t, n->n) : NULL;
        if (c != NULL) c->entry[i] = past;
      }
      if (k == 0)
        n->newest[i] = past;
      else
        jit_carry(p, past, newer);
      newer = past;
    }
  }
}

/* Space for the entries of a matrix, which the cell has from now on. */
static void take_matrix(native_maker *m, native_cell *c, int32_t rows, int32_t columns) {
  c->n = rows;
  c->columns = columns;
  c->matrix = m->matrices;
  m->matrices += SCAN_MATRIX_ENTRIES;
}

static void native_fixed(native_maker *m, const scan_part *part, native_part *n, jit_type type) {
  native_cell *c = native_input(m, part->first, n->n);
  if (c != NULL && n->columns > 0) take_matrix(m, c, n->n, n->columns);
  for (int32_t k = 0; k < n->n * (n->columns > 0 ? n->columns : 1); k++) {
    const jit_value x = jit_input(&m->p, type);
    n->value[k] = jit_home(&m->p, x);
    if (c != NULL && n->columns > 0) c->matrix[k] = x;
    if (c != NULL && k < SCAN_MOST_ENTRIES) c->entry[k] = x;
  }
}

static void native_inputs(native_maker *m) {
  const scan_class *s = m->s;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    const scan_part *part = &s->part[i];
    native_part *n = &m->native->part[i];
    const jit_type type = native_type(scan_inner_in(s, part->first)->type, 2);
    m->vectors = m->vectors || n->is_vector;
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
    to->n = a->ndim == 0 ? 1 : (int32_t)array_shape(a)[0];
    to->known = a;
    if (a->ndim == 2) take_matrix(m, to, to->n, (int32_t)array_shape(a)[1]);
    for (int32_t k = 0; k < array_size(a); k++) {
      const jit_value x = elem_jit_const(&m->p, a, k);
      if (a->ndim == 2) to->matrix[k] = x;
      if (k < SCAN_MOST_ENTRIES) to->entry[k] = x;
    }
  }
}

/* Most calls of kernels in a step with branches. */
#define BRANCHES_MOST_CALLS 8

/* Both branches are computed, since no operation of a step can fail, and one is chosen. */
static bool native_ifelse(native_maker *m, const thunk *t) {
  const jit_value condition = jit_convert(&m->p, m->cell[t->in[0]].entry[0], JIT_BOOL);
  for (int o = 0; o < t->n_out; o++) {
    const native_cell *x = &m->cell[t->in[1 + o]], *y = &m->cell[t->in[1 + t->n_out + o]];
    native_cell *to = &m->cell[t->out[o]];
    if (x->n != y->n || jit_typeof(&m->p, x->entry[0]) != jit_typeof(&m->p, y->entry[0])) return false;
    for (int32_t k = 0; k < x->n; k++) to->entry[k] = jit_select(&m->p, condition, x->entry[k], y->entry[k]);
    to->n = x->n;
  }
  m->branches = true;
  return true;
}

/* A node that computes: of every entry by itself, or of all of a vector. */
static bool native_computed(native_maker *m, const thunk *t) {
  elem_vector *out = m->vector + t->n_in;
  for (int i = 0; i < t->n_in; i++) {
    const native_cell *c = &m->cell[t->in[i]];
    m->vector[i] = (elem_vector){.n = c->n, .matrix = c->matrix, .rows = c->n, .columns = c->columns};
    memcpy(m->vector[i].entry, c->entry, sizeof c->entry);
  }
  if (!elem_jit_vectors(&m->p, t->node, m->vector, out)) return false;
  for (int o = 0; o < t->n_out; o++) {
    native_cell *to = &m->cell[t->out[o]];
    to->n = out[o].n;
    memcpy(to->entry, out[o].entry, sizeof to->entry);
  }
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
    m->n[i] = m->cell[t->in[i]].n;
    m->known[i] = m->cell[t->in[i]].known;
  }
  const op_moves moves = {t->node, m->n, m->known, m->n + t->n_in, m->moves};
  if (!t->node->op->def->moves(&moves, m->p.ctx)) return false;
  for (int o = 0; o < t->n_out; o++) {
    native_cell *to = &m->cell[t->out[o]];
    to->n = moves.n_out[o];
    if (to->n == 0) return false;
    for (int32_t k = 0; k < to->n; k++) {
      const op_move *from = &m->moves[o * OP_MOVES_MOST + k];
      to->entry[k] = m->cell[t->in[from->in]].entry[from->at];
      if (from->add >= 0) to->entry[k] = native_sum(m, to->entry[k], m->cell[t->in[from->add]].entry[from->add_at]);
      if (to->entry[k] < 0) return false;
    }
  }
  return true;
}

static bool native_node(native_maker *m, const thunk *t) {
  for (int i = 0; i < t->n_in; i++) {
    if (m->cell[t->in[i]].n == 0 || m->cell[t->in[i]].entry[0] < 0) return false;
  }
  for (int o = 0; o < t->n_out; o++) {
    if (!type_is_tensor(t->node->out[o]->type) || t->node->out[o]->type->ndim > 1) return false;
  }
  bool matrices = false;
  for (int i = 0; i < t->n_in; i++) matrices = matrices || m->cell[t->in[i]].matrix != NULL;
  if (!matrices && t->node->op->def == &ifelse_def) return native_ifelse(m, t);
  if (!matrices && t->node->op->def->moves != NULL) return native_moved(m, t);
  return native_computed(m, t);
}

static const native_cell *cell_of_out(const native_maker *m, int out) {
  return &m->cell[m->program->outputs[out].cell];
}

/* Stores the entries in the row, and moves on to the next row. */
static void native_store(native_maker *m, const scan_part *part, native_part *n, const native_cell *v) {
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
    const native_cell *v = cell_of_out(m, part->out);
    if (part->role == SCAN_STATE && v->n != n->n) return false;
    n->n = v->n;
    n->is_vector = scan_inner_out(s, part->out)->type->ndim == 1;
    for (int32_t k = 0; k < n->n && part->role == SCAN_STATE; k++) jit_carry(p, n->newest[k], v->entry[k]);
    if (part->stack >= 0) native_store(m, part, n, v);
    for (int32_t k = 0; k < n->n && part->role == SCAN_COLLECT && part->last >= 0; k++) {
      const jit_value last = jit_carried(p, jit_typeof(p, v->entry[k]));
      n->last[k] = jit_home(p, last);
      jit_carry(p, last, v->entry[k]);
    }
  }
  if (s->until) jit_stop_if(p, jit_convert(p, cell_of_out(m, (int)s->fgraph->outputs.n - 1)->entry[0], JIT_BOOL));
  return true;
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
    const native_cell *v = cell_of_out(m, (int)o);
    if (v->n == 0 || v->entry[0] < 0) return false;
  }
  if (m->branches && m->p.n_calls > BRANCHES_MOST_CALLS) return false;
  if (m->vectors && m->p.n_calls * CALL_NS > vm->n_thunks * NODE_NS) return false;
  if (!native_outputs(m)) return false;
  for (int k = 0; k < SCAN_MOST_ENTRIES; k++) {
    const int32_t slot = jit_home(&m->p, jit_input(&m->p, JIT_I64));
    if (k == 0) m->native->nowhere = slot;
  }
  return true;
}

/* How many slots native_part.value has. */
static int32_t native_slots_of(const scan_part *p) {
  if (p->role == SCAN_COLLECT) return 0;
  return p->role == SCAN_SEQUENCE ? p->n : p->role == SCAN_STATE ? SCAN_MOST_ENTRIES * p->span : SCAN_MATRIX_ENTRIES;
}

static scan_native *native_alloc(const scan_class *s, damo_ctx *ctx) {
  const size_t parts = (size_t)s->n_parts * sizeof(native_part);
  size_t n_values = 0;
  for (int i = 0; i < s->n_parts; i++) n_values += (size_t)native_slots_of(&s->part[i]);
  const size_t n_numbers = 2 * (size_t)s->n_parts;
  const size_t bytes = sizeof(scan_native) + parts + n_numbers * sizeof(native_number) + n_values * sizeof(int32_t);
  scan_native *n = mem_calloc(ctx, bytes);
  if (n == NULL) return NULL;
  n->bytes = bytes;
  n->reads = (native_number *)(void *)((char *)n->part + parts);
  n->gives = n->reads + s->n_parts;
  int32_t *value = (int32_t *)(n->reads + n_numbers);
  for (int i = 0; i < s->n_parts; i++) {
    n->part[i].value = value;
    value += native_slots_of(&s->part[i]);
  }
  return n;
}

void scan_native_free(scan_native *n, damo_ctx *ctx) {
  if (n == NULL) return;
  jit_code_free(n->code);
  if (n->frame != NULL) mem_free(ctx, n->frame, n->frame_bytes);
  mem_free(ctx, n, n->bytes);
}

/* Space for the node with the most operands and results, and for the entries of matrices. */
static size_t native_reserve(native_maker *m, damo_ctx *ctx) {
  const vm_program *vm = &m->program->vm;
  int64_t most = 1, matrices = m->s->n_fixed;
  for (int64_t i = 0; i < vm->n_constants; i++)
    matrices += is_native_constant(vm->constants[i].value) && ((damo_array *)vm->constants[i].value)->ndim == 2;
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    const int64_t n = vm->thunks[k]->n_in + vm->thunks[k]->n_out;
    if (n > most) most = n;
  }
  const size_t cells = (size_t)vm->n_cells * sizeof *m->cell;
  const size_t each = sizeof *m->known + OP_MOVES_MOST * sizeof *m->moves + sizeof *m->vector + sizeof *m->n;
  const size_t bytes = cells + (size_t)most * each + (size_t)matrices * SCAN_MATRIX_ENTRIES * sizeof(jit_value);
  char *at = mem_calloc(ctx, bytes);
  m->cell = (native_cell *)(void *)at;
  if (at == NULL) return 0;
  m->known = (const damo_array **)(void *)(at + cells);
  m->moves = (op_move *)(void *)(m->known + most);
  m->vector = (elem_vector *)(m->moves + most * OP_MOVES_MOST);
  m->n = (int32_t *)(m->vector + most);
  m->matrices = (jit_value *)(m->n + most);
  return bytes;
}

/* The operand's entries of one step: of a vector its length, of a matrix, *columns: not 0, its rows. */
static int64_t operand_length(const scan_class *s, const scan_part *p, const damo_array *a, int64_t *columns) {
  const int ndim = scan_inner_in(s, p->first)->type->ndim;
  *columns = ndim == 2 ? array_shape(a)[1] : 0;
  return ndim == 0 ? 1 : array_shape(a)[a->ndim - ndim];
}

/* The length of the fed sequence's values that part i is; -1: it is an operand. */
static int32_t fed_length(const scan_class *s, const scan_frame *w, int i, const int32_t *fed) {
  return i < s->n_seq && i >= scan_n_read(s, w) ? fed[i - scan_n_read(s, w)] : -1;
}

/* Notes the lengths of the operands. False: there is a long one. */
static bool native_lengths(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w, const int32_t *fed,
                           scan_native *n) {
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    int64_t columns = 0, length = fed_length(s, w, i, fed);
    if (length < 0) length = operand_length(s, &s->part[i], thunk_in(t, f, scan_operand(s, w, &s->part[i])), &columns);
    const int ndim = scan_inner_in(s, s->part[i].first)->type->ndim;
    if (length < 1 || length > SCAN_MOST_ENTRIES || columns > SCAN_MOST_ENTRIES || (ndim == 2 && columns == 0))
      return false;
    n->part[i].n = (int32_t)length;
    n->part[i].columns = (int32_t)columns;
    n->part[i].is_vector = ndim == 1;
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
    const bool is_read = p->role != SCAN_COLLECT;
    alone = alone && p->stack < 0 && (p->role != SCAN_STATE || p->bare);
    alone = alone && (is_read ? scan_inner_in(s, p->first) : scan_inner_out(s, p->out))->type->ndim == 0;
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
      n->gives[n->n_gives++] = (native_number){p->last, p->role == SCAN_STATE ? at->value[0] : at->last[0],
                                               scan_inner_out(s, p->out)->type->dtype};
  }
}

bool scan_native_fits(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w, const int32_t *fed) {
  const scan_native *n = w->native;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    int64_t columns = 0, length = fed_length(s, w, i, fed);
    if (length < 0) length = operand_length(s, &s->part[i], thunk_in(t, f, scan_operand(s, w, &s->part[i])), &columns);
    if (length != n->part[i].n || columns != n->part[i].columns) return false;
  }
  return true;
}

scan_native *scan_native_new(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w,
                             const int32_t *fed) {
  damo_ctx *ctx = w->inner->obj.ctx;
  const fn_program *program = w->inner->program;
  if (jit_refusal(ctx) != NULL || !all_native(s, program)) return NULL;
  native_maker m = {.s = s, .program = program, .native = native_alloc(s, ctx)};
  const size_t bytes = m.native != NULL ? native_reserve(&m, ctx) : 0;
  if (m.cell != NULL) {
    jit_begin(&m.p, ctx);
    m.p.name = s->name != NULL ? s->name : s->def.name;
    if (native_lengths(t, f, s, w, fed, m.native) && native_program(&m)) m.native->code = jit_compile(&m.p);
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
    m.native->share = 1 + POLL_NS / 4 / jit_step_ns(m.native->code);
    m.native->is_scalar = has_numbers_alone(s);
    if (m.native->is_scalar) note_numbers(t, s, m.native);
    return m.native;
  }
  scan_native_free(m.native, ctx);
  return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static damo_dtype out_dtype(const scan_class *s, const scan_part *p) { return scan_inner_out(s, p->out)->type->dtype; }

void scan_native_place_sequence(const scan_class *s, const scan_part *p, const damo_array *a, scan_native *n,
                                int64_t step) {
  const native_part *at = &n->part[p - s->part];
  const int64_t stride = array_strides(a)[0];
  n->frame[at->stride].i64 = stride;
  if (at->n > 1) n->frame[at->along].i64 = array_strides(a)[1];
  for (int k = 0; k < p->n; k++) {
    if (at->value[k] == SCAN_NO_SLOT) continue;
    n->frame[at->value[k]].address = a->data + (p->before + s->tap[p->first + k] + step) * stride;
  }
}

void scan_native_load(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w, scan_native *n) {
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    const scan_part *p = &s->part[i];
    const native_part *at = &n->part[i];
    if (p->role == SCAN_SEQUENCE && i >= scan_n_read(s, w)) continue; /* fed */
    const damo_array *a = thunk_in(t, f, scan_operand(s, w, p));
    if (p->role == SCAN_SEQUENCE) {
      scan_native_place_sequence(s, p, a, n, 0);
      continue;
    }
    for (int32_t j = 0; j < at->n * at->columns; j++) {
      const int64_t row = j / at->columns, column = j % at->columns;
      n->frame[at->value[j]] =
          native_read(a->data + row * array_strides(a)[0] + column * array_strides(a)[1], array_dtype(a));
    }
    if (at->columns > 0) continue;
    const bool is_one = p->role == SCAN_FIXED || p->bare;
    const int64_t along = at->is_vector ? array_strides(a)[a->ndim - 1] : 0;
    for (int k = 0; k < (is_one ? 1 : p->span); k++) {
      const char *row = is_one ? a->data : a->data + (p->span - 1 - k) * array_strides(a)[0];
      for (int32_t j = 0; j < at->n; j++)
        n->frame[at->value[k * SCAN_MOST_ENTRIES + j]] = native_read(row + j * along, array_dtype(a));
    }
  }
}

/* Space for the rows of the stack, `rows` of them or as many as fit before it grows. */
static damo_status native_begin_stack(const thunk *t, frame *f, const scan_class *s, const scan_part *p,
                                      native_part *at, int64_t n) {
  const damo_dtype dtype = out_dtype(s, p);
  at->cap = p->tail > 0 && n > p->tail ? p->tail : n;
  if (s->until && p->tail <= 0 && at->cap > 64) at->cap = 64;
  const int64_t shape[2] = {at->cap, at->n};
  const int ndim = 1 + at->is_vector;
  damo_array *a = s->until ? array_empty(f->ctx, dtype, ndim, shape) : thunk_out(t, f, p->stack, dtype, ndim, shape);
  if (a == NULL) return DAMO_EMEMORY;
  if (s->until) at->own = a;
  at->base = a->data;
  return DAMO_OK;
}

static damo_status grow_stack(frame *f, native_part *at, damo_dtype dtype) {
  const int64_t cap = 2 * at->cap, shape[2] = {cap, at->n};
  damo_array *more = array_empty(f->ctx, dtype, 1 + at->is_vector, shape);
  if (more == NULL) return DAMO_EMEMORY;
  memcpy(more->data, at->own->data, (size_t)(at->cap * at->n) * dtype_size(dtype));
  damo_release(at->own);
  at->own = more;
  at->base = more->data;
  at->cap = cap;
  return DAMO_OK;
}

/* Sets where step k of n stores its row, and how that moves. Returns for how many steps that is so. */
static int64_t native_place_row(const scan_class *s, const scan_part *p, scan_native *n, int64_t k, int64_t total) {
  const native_part *at = &n->part[p - s->part];
  const int64_t size = at->n * (int64_t)dtype_size(out_dtype(s, p)), left_out = total - at->cap;
  int64_t row, stride = size, steps;
  if (s->until) {
    row = p->tail > 0 && k >= at->cap ? k % at->cap : k;
    steps = at->cap - row;
  } else if (s->flipped) { /* the first rows are kept */
    row = at->cap - 1 - k;
    stride = -size;
    steps = row >= 0 ? at->cap - k : total - k;
  } else {
    row = k - left_out;
    steps = row >= 0 ? total - k : left_out - k;
  }
  n->frame[at->row].address = row >= 0 ? (void *)(at->base + row * size) : &n->frame[n->nowhere];
  n->frame[at->to].i64 = row >= 0 ? stride : 0;
  return steps;
}

int64_t scan_native_place_rows(const scan_class *s, scan_native *n, int64_t k, int64_t total) {
  int64_t steps = total - k;
  for (int i = 0; i < s->n_parts && !n->is_scalar; i++) {
    if (s->part[i].stack < 0) continue;
    const int64_t most = native_place_row(s, &s->part[i], n, k, total);
    if (most < steps) steps = most;
  }
  return steps;
}

/* Runs the steps, at most `total`; *k: the number of steps taken. */
static damo_status run_shares(frame *f, const scan_class *s, scan_native *n, int64_t total, int64_t *k) {
  int64_t share = n->share, since = 0;
  for (bool stopped = false; *k < total && !stopped;) {
    DAMO_TRY(ctx_poll(f->ctx));
    int64_t steps = total - *k < share ? total - *k : share;
    const bool whole = steps == share;
    for (int i = 0; s->until && i < s->n_parts; i++) {
      const scan_part *p = &s->part[i];
      native_part *at = &n->part[i];
      if (p->stack >= 0 && p->tail <= 0 && *k == at->cap) DAMO_TRY(grow_stack(f, at, out_dtype(s, p)));
    }
    const int64_t most = scan_native_place_rows(s, n, *k, total);
    if (most < steps) steps = most;
    if (whole && *k > 0) since = clock_ns();
    const int64_t left = jit_run(n->code, n->frame, steps);
    stopped = jit_stopped(n->code, n->frame);
    *k += steps - left;
    if (since == 0) continue;
    const int64_t took = clock_ns() - since;
    since = 0;
    if (steps == share && took < POLL_NS / 4 && share < INT64_MAX / 2) share *= 2;
    if (took > POLL_NS / 2 && share > 1) share /= 2;
  }
  return DAMO_OK;
}

/* Copies the last rows of a stack whose length was unknown into the result. */
static damo_status give_own_stack(const thunk *t, frame *f, const scan_class *s, const scan_part *p,
                                  const native_part *at, int64_t n) {
  const int64_t kept = n < at->cap ? n : at->cap, first = p->tail > 0 && n > at->cap ? n % at->cap : 0;
  const size_t size = (size_t)at->n * dtype_size(out_dtype(s, p));
  const int64_t shape[2] = {kept, at->n};
  damo_array *out = thunk_out(t, f, p->stack, out_dtype(s, p), 1 + at->is_vector, shape);
  if (out == NULL) return DAMO_EMEMORY;
  memcpy(out->data, at->base + (size_t)first * size, (size_t)(kept - first) * size);
  memcpy(out->data + (size_t)(kept - first) * size, at->base, (size_t)first * size);
  return DAMO_OK;
}

static damo_status native_give_number(const thunk *t, frame *f, int out, damo_dtype dtype, jit_slot x) {
  damo_array *a = thunk_out_scalar(t, f, out, dtype);
  if (a == NULL) return DAMO_EMEMORY;
  native_write(a->data, dtype, x);
  return DAMO_OK;
}

static damo_status native_give_steps(const thunk *t, frame *f, int out, int64_t steps) {
  return native_give_number(t, f, out, DAMO_INT64, (jit_slot){.i64 = steps});
}

/* The last value: entry k of it is in of[slot[k]]. */
static damo_status native_give_last(const thunk *t, frame *f, const scan_part *p, const native_part *at,
                                    damo_dtype dtype, const jit_slot *of, const int32_t *slot) {
  const int64_t n = at->n;
  damo_array *a = thunk_out(t, f, p->last, dtype, at->is_vector, &n);
  if (a == NULL) return DAMO_EMEMORY;
  for (int32_t k = 0; k < n; k++) native_write(a->data + (size_t)k * dtype_size(dtype), dtype, of[slot[k]]);
  return DAMO_OK;
}

damo_status scan_native_give(const thunk *t, frame *f, const scan_class *s, const scan_native *n, int64_t steps) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    const native_part *at = &n->part[i];
    if (at->own != NULL) DAMO_TRY(give_own_stack(t, f, s, p, at, steps));
    if (p->last < 0) continue;
    const int32_t *slots = p->role == SCAN_STATE ? at->value : at->last;
    DAMO_TRY(native_give_last(t, f, p, at, out_dtype(s, p), n->frame, slots));
  }
  if (!s->until) return DAMO_OK;
  return native_give_steps(t, f, scan_out_steps(s), steps);
}

damo_status scan_native_begin_stacks(const thunk *t, frame *f, const scan_class *s, scan_native *n, int64_t total) {
  damo_status status = DAMO_OK;
  for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
    if (s->part[i].stack >= 0) status = native_begin_stack(t, f, s, &s->part[i], &n->part[i], total);
  }
  return status;
}

damo_status scan_native_run(const thunk *t, frame *f, const scan_class *s, const scan_frame *w, int64_t total,
                            int64_t *taken) {
  scan_native *n = w->native;
  *taken = 0;
  scan_native_load(t, f, s, w, n);
  damo_status status = scan_native_begin_stacks(t, f, s, n, total);
  if (status == DAMO_OK) status = run_shares(f, s, n, total, taken);
  if (status == DAMO_OK) status = scan_native_give(t, f, s, n, *taken);
  for (int i = 0; i < s->n_parts; i++) {
    damo_release(n->part[i].own);
    n->part[i].own = NULL;
  }
  return status;
}

damo_status scan_native_run_scalars(const thunk *t, frame *f, const scan_class *s, scan_native *n, int64_t total,
                                    int64_t *taken) {
  *taken = 0;
  for (const native_number *x = n->reads, *end = x + n->n_reads; x < end; x++)
    n->frame[x->slot] = native_read(((const damo_array *)f->cells[x->at])->data, x->dtype);
  DAMO_TRY(ctx_poll(f->ctx));
  const int64_t first = total < n->share ? total : n->share;
  *taken = first - jit_run(n->code, n->frame, first);
  if (*taken == first && first < total && !jit_stopped(n->code, n->frame)) DAMO_TRY(run_shares(f, s, n, total, taken));
  for (const native_number *x = n->gives, *end = x + n->n_gives; x < end; x++)
    DAMO_TRY(native_give_number(t, f, x->at, x->dtype, n->frame[x->slot]));
  return s->until ? native_give_steps(t, f, scan_out_steps(s), *taken) : DAMO_OK;
}
