/* regalloc: registers for the values of a scalar program.
 *
 * One scan over the instructions in their order. A value without a register is loaded where it is read; where no
 * register is free, the value whose next use is furthest away loses its register (Belady 1966), and is stored into its
 * slot first unless it is there already: in SSA form a value is stored at most once. A call empties the registers that
 * it does not keep.
 *
 * At the head of a step some values are in registers, the same in each step: carried ones first, then steady ones by
 * the number of their uses, as many as leave registers for what a step has alive at one time. At its end moves, which
 * happen as if at once, bring all carried values to where the head has them.
 */
#include <string.h>

#include "jit_int.h"

#define NOWHERE (-1)
#define NEVER INT32_MAX

/* One value during allocation. */
typedef struct value_state {
  int32_t reg;      /* NOWHERE: in none */
  int32_t head;     /* its register at the head of a step; NOWHERE: it is in its slot */
  int32_t use, end; /* its uses still to come are uses[use … end - 1], ascending */
  int32_t becomes;  /* a carried value that it is in the next step; NOWHERE: none */
  bool in_slot;     /* its slot has it */
} value_state;

typedef struct allocator {
  jit_program *p;
  const jit_isa *isa;
  jit_allocated *out;
  jit_list *list; /* where instructions go */
  value_state *v;
  int32_t *uses;
  size_t v_bytes, uses_bytes;
  int32_t holds[JIT_N_CLASSES][JIT_MOST_REGISTERS]; /* the value in each register; NOWHERE */
  int32_t now;                                      /* number of the instruction */
  bool failed;
} allocator;

static jit_class value_class(const allocator *a, jit_value v) { return jit_class_of(a->p, a->p->def[v].type); }

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static void put_inst(allocator *a, jit_inst inst) {
  jit_list *l = a->list;
  if (a->failed) return;
  if (l->n == l->cap) {
    const int32_t more = l->cap == 0 ? 64 : 2 * l->cap;
    jit_inst *grown = mem_realloc(a->p->ctx, l->at, (size_t)l->cap * sizeof *l->at, (size_t)more * sizeof *l->at);
    if (grown == NULL) {
      ctx_clear_error(a->p->ctx);
      a->failed = true;
      return;
    }
    l->at = grown;
    l->cap = more;
  }
  l->at[l->n++] = inst;
}

static void put_move(allocator *a, int type, jit_place to, jit_place from) {
  if (to == from) return;
  put_inst(a,
           (jit_inst){.op = JIT_MOVE, .type = (uint8_t)type, .to = (uint8_t)type, .out = to, .in = {from}, .n_in = 1});
}

/* ---- Uses -------------------------------------------------------------------------------------------------------- */

/* The number of the step's end: what is carried on, and what the head has in registers, is used there. */
static int32_t end_of_step(const allocator *a) { return a->p->n_insts; }

static int32_t next_use(const allocator *a, jit_value v) {
  const value_state *s = &a->v[v];
  if (s->use < s->end) return a->uses[s->use];
  return s->head != NOWHERE && a->p->def[v].steady ? end_of_step(a) : NEVER;
}

/* Calls fn for each use, in the order of their numbers. */
static void for_uses(allocator *a, void (*fn)(allocator *a, jit_value v, int32_t at)) {
  const jit_program *p = a->p;
  for (int32_t i = 0; i < p->n_insts; i++) {
    for (int k = 0; k < p->inst[i].n_in; k++) fn(a, p->inst[i].in[k], i);
  }
  for (jit_value v = 0; v < p->n_defs; v++) {
    if (p->def[v].next >= 0) fn(a, p->def[v].next, end_of_step(a));
  }
  if (p->stop >= 0) fn(a, p->stop, end_of_step(a));
}

static void tally_use(allocator *a, jit_value v, int32_t at) {
  (void)at;
  a->v[v].end++;
}

static void note_use(allocator *a, jit_value v, int32_t at) { a->uses[a->v[v].end++] = at; }

static bool find_uses(allocator *a) {
  for_uses(a, tally_use);
  int32_t n = 0;
  for (jit_value v = 0; v < a->p->n_defs; v++) {
    const int32_t mine = a->v[v].end;
    a->v[v].use = a->v[v].end = n;
    n += mine;
  }
  a->uses_bytes = (size_t)(n + 1) * sizeof *a->uses;
  a->uses = mem_alloc(a->p->ctx, a->uses_bytes);
  if (a->uses == NULL) return false;
  for_uses(a, note_use);
  return true;
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

/* The slot of the carried value that v becomes in the next step, if the step does not read it from now on: what is
 * stored now is stored before the instruction in hand reads its operands. */
static int32_t slot_to_come(const allocator *a, jit_value v) {
  const int32_t carried = a->v[v].becomes;
  if (carried == NOWHERE || a->p->def[v].source != JIT_OF_INST || a->p->def[v].steady) return NOWHERE;
  const value_state *s = &a->v[carried];
  const bool is_read = s->use < s->end || (s->end > 0 && a->uses[s->end - 1] >= a->now);
  return s->head == NOWHERE && !is_read ? a->p->def[carried].slot : NOWHERE;
}

static jit_place home_of(allocator *a, jit_value v) {
  jit_def *d = &a->p->def[v];
  if (d->slot < 0) d->slot = slot_to_come(a, v);
  if (d->slot < 0) d->slot = a->p->n_slots++;
  return ~d->slot;
}

static void leave_register(allocator *a, jit_value v) {
  value_state *s = &a->v[v];
  if (s->reg != NOWHERE) a->holds[value_class(a, v)][s->reg] = NOWHERE;
  s->reg = NOWHERE;
}

static void enter_register(allocator *a, jit_value v, int32_t reg) {
  a->holds[value_class(a, v)][reg] = v;
  a->v[v].reg = reg;
}

static void store_home(allocator *a, jit_value v) {
  if (a->v[v].in_slot) return;
  put_move(a, a->p->def[v].type, home_of(a, v), a->v[v].reg);
  a->v[v].in_slot = true;
}

static bool is_pinned(const jit_value *pinned, int n, jit_value v) {
  for (int i = 0; i < n; i++) {
    if (pinned[i] == v) return true;
  }
  return false;
}

static int32_t free_register(const allocator *a, jit_class c) {
  for (int i = 0; i < a->isa->n_regs[c]; i++) {
    if (a->holds[c][a->isa->regs[c][i]] == NOWHERE) return a->isa->regs[c][i];
  }
  return NOWHERE;
}

/* A register of the class, emptied if need be. The pinned values keep theirs. */
static int32_t take_register(allocator *a, jit_class c, const jit_value *pinned, int n_pinned) {
  int32_t reg = free_register(a, c), furthest = -1;
  if (reg != NOWHERE) return reg;
  for (int i = 0; i < a->isa->n_regs[c]; i++) {
    const int32_t r = a->isa->regs[c][i];
    const jit_value v = a->holds[c][r];
    if (is_pinned(pinned, n_pinned, v)) continue;
    const int32_t use = next_use(a, v);
    if (use <= furthest) continue;
    furthest = use;
    reg = r;
  }
  damo_assert(reg != NOWHERE);
  const jit_value out = a->holds[c][reg];
  if (next_use(a, out) != NEVER) store_home(a, out);
  leave_register(a, out);
  return reg;
}

/* The register of an operand, loaded from its slot if need be. */
static int32_t in_register(allocator *a, jit_value v, const jit_value *pinned, int n_pinned) {
  if (a->v[v].reg != NOWHERE) return a->v[v].reg;
  damo_assert(a->v[v].in_slot);
  const int32_t reg = take_register(a, value_class(a, v), pinned, n_pinned);
  put_move(a, a->p->def[v].type, reg, home_of(a, v));
  enter_register(a, v, reg);
  return reg;
}

/* Passes the uses at `now`, and frees the registers of values that have no more. */
static void pass_uses(allocator *a, const jit_inst *i) {
  for (int k = 0; k < i->n_in; k++) {
    value_state *s = &a->v[i->in[k]];
    while (s->use < s->end && a->uses[s->use] <= a->now) s->use++;
    if (next_use(a, i->in[k]) == NEVER) leave_register(a, i->in[k]);
  }
}

/* The register in which the head has the carried value that v becomes; NOWHERE: none, or it is not free. */
static int32_t wished_register(const allocator *a, jit_value v) {
  const int32_t carried = a->v[v].becomes, head = carried != NOWHERE ? a->v[carried].head : NOWHERE;
  return head != NOWHERE && a->holds[value_class(a, v)][head] == NOWHERE ? head : NOWHERE;
}

/* ---- The scan ---------------------------------------------------------------------------------------------------- */

/* Operands go into slots in the form of array elements; then all registers that a call does not keep are empty. */
static void allocate_call(allocator *a, const jit_inst *i) {
  jit_inst call = *i;
  const int32_t values = i->slot + i->n_in + 1;
  for (int k = 0; k < i->n_in; k++) {
    const jit_value v = i->in[k];
    const int type = a->p->def[v].type;
    const jit_place from =
        type == JIT_BOOL ? in_register(a, v, i->in, i->n_in) : (a->v[v].reg != NOWHERE ? a->v[v].reg : home_of(a, v));
    put_inst(
        a,
        (jit_inst){
            .op = JIT_ARG, .type = (uint8_t)type, .to = (uint8_t)type, .out = ~(values + k), .in = {from}, .n_in = 1});
  }
  pass_uses(a, i);
  for (int c = 0; c < JIT_N_CLASSES; c++) {
    for (int r = 0; r < a->isa->n_regs[c] - a->isa->n_kept[c]; r++) {
      const jit_value v = a->holds[c][a->isa->regs[c][r]];
      if (v == NOWHERE) continue;
      store_home(a, v);
      leave_register(a, v);
    }
  }
  const int32_t reg = take_register(a, value_class(a, i->out), NULL, 0);
  call.out = reg;
  for (int k = 0; k < i->n_in; k++) call.in[k] = ~(values + k);
  put_inst(a, call);
  enter_register(a, i->out, reg);
}

/* Instructions after which a value that is read once is not worth a register, though one is free. */
#define FAR_USE 32

static bool is_in_slot_alone(const allocator *a, jit_value v) { return a->v[v].reg == NOWHERE && a->v[v].in_slot; }

static bool commutes(const jit_inst *i) {
  return i->op == JIT_ADD || i->op == JIT_MUL || i->op == JIT_IADD || i->op == JIT_IMUL;
}

/* The instruction with the operand that is in a slot alone last, where it may stay in it. */
static jit_inst slot_last(const allocator *a, const jit_inst *i) {
  jit_inst turned = *i;
  if (!commutes(i) || !a->isa->takes_slot(i)) return turned;
  if (!is_in_slot_alone(a, i->in[0]) || is_in_slot_alone(a, i->in[1])) return turned;
  turned.in[0] = i->in[1];
  turned.in[1] = i->in[0];
  return turned;
}

/* Whether a value's next use after this one is so far away that it is loaded again then. */
static bool is_used_late(const allocator *a, jit_value v) {
  const value_state *s = &a->v[v];
  return s->use + 1 >= s->end || a->uses[s->use + 1] > a->now + FAR_USE ||
         free_register(a, value_class(a, v)) == NOWHERE;
}

static void allocate_inst(allocator *a, const jit_inst *given) {
  if (jit_is_call(given)) {
    allocate_call(a, given);
    return;
  }
  const jit_inst turned = slot_last(a, given), *i = &turned;
  jit_inst made = *i;
  for (int k = 0; k < i->n_in; k++) {
    const bool slot =
        k == i->n_in - 1 && is_in_slot_alone(a, i->in[k]) && a->isa->takes_slot(i) && is_used_late(a, i->in[k]);
    made.in[k] = slot ? home_of(a, i->in[k]) : in_register(a, i->in[k], i->in, i->n_in);
  }
  pass_uses(a, i);
  if (i->out >= 0) {
    int32_t reg = wished_register(a, i->out);
    if (reg == NOWHERE) reg = take_register(a, value_class(a, i->out), NULL, 0);
    made.out = reg;
    enter_register(a, i->out, reg);
  }
  put_inst(a, made);
}

/* ---- What the head has in registers ------------------------------------------------------------------------------ */

/* The most values of the class that steps have made and still need, at any instruction. */
static int32_t most_alive(const allocator *a, jit_class c, uint8_t *alive) {
  const jit_program *p = a->p;
  int32_t n = 0, most = 0;
  memset(alive, 0, (size_t)p->n_defs);
  for (jit_value v = 0; v < p->n_defs; v++) {
    const jit_value next = p->def[v].next;
    if (next < 0 || alive[next] || p->def[next].source != JIT_OF_INST || p->def[next].steady) continue;
    alive[next] = 1;
    n += value_class(a, next) == c;
  }
  for (int32_t i = p->n_insts - 1; i >= 0; i--) {
    const jit_inst *at = &p->inst[i];
    if (at->out >= 0 && alive[at->out]) n -= value_class(a, at->out) == c;
    for (int k = 0; k < at->n_in; k++) {
      const jit_def *d = &p->def[at->in[k]];
      if (alive[at->in[k]] || d->source != JIT_OF_INST || d->steady) continue;
      alive[at->in[k]] = 1;
      n += value_class(a, at->in[k]) == c;
    }
    if (n > most) most = n;
  }
  return most;
}

/* Chooses the value of the class that gains most by a register and has none; NOWHERE: none is left. */
static jit_value best_candidate(const allocator *a, jit_class c) {
  jit_value best = NOWHERE;
  int32_t most = 0;
  for (jit_value v = 0; v < a->p->n_defs; v++) {
    const jit_def *d = &a->p->def[v];
    const bool carried = d->source == JIT_CARRIED;
    if (a->v[v].head != NOWHERE || value_class(a, v) != c || !(carried || d->steady)) continue;
    const int32_t uses = a->v[v].end - a->v[v].use, gain = carried ? 1000000 + uses : uses;
    if (gain <= most) continue;
    most = gain;
    best = v;
  }
  return best;
}

static void choose_head(allocator *a, jit_class c, uint8_t *alive) {
  const jit_isa *isa = a->isa;
  const int first = a->p->n_calls > 0 ? isa->n_regs[c] - isa->n_kept[c] : 0; /* a call empties those before */
  int32_t n = isa->n_regs[c] - first;
  const int32_t temporaries = most_alive(a, c, alive);
  n -= temporaries < 2 ? 2 : temporaries;
  for (int k = 0; k < n; k++) {
    const jit_value v = best_candidate(a, c);
    if (v == NOWHERE) return;
    a->v[v].head = isa->regs[c][first + k];
  }
}

static void load_head(allocator *a) {
  for (int c = 0; c < JIT_N_CLASSES; c++) {
    for (int r = 0; r < JIT_MOST_REGISTERS; r++) a->holds[c][r] = NOWHERE;
  }
  for (jit_value v = 0; v < a->p->n_defs; v++) {
    value_state *s = &a->v[v];
    const jit_def *d = &a->p->def[v];
    s->reg = NOWHERE;
    s->in_slot = d->steady || d->source == JIT_CARRIED;
    if (s->head == NOWHERE) continue;
    put_move(a, d->type, s->head, home_of(a, v));
    enter_register(a, v, s->head);
    s->in_slot = d->steady; /* the slot of a carried one is written after the last step */
  }
}

/* ---- Moves as if at once ----------------------------------------------------------------------------------------- */

typedef struct pending_move {
  jit_place to, from;
  uint8_t type;
} pending_move;

static bool same_place(jit_class c, jit_place x, jit_class d, jit_place y) {
  return x == y && (jit_in_slot(x) || c == d);
}

static bool is_read(const jit_program *p, const pending_move *m, int32_t n, int32_t but) {
  const jit_class c = jit_class_of(p, m[but].type);
  for (int32_t i = 0; i < n; i++) {
    if (i != but && same_place(jit_class_of(p, m[i].type), m[i].from, c, m[but].to)) return true;
  }
  return false;
}

/* Emits the moves in an order in which none overwrites what another reads. Where they form a cycle, one source is put
 * into a slot of its own first. */
static void put_moves(allocator *a, pending_move *m, int32_t n) {
  while (n > 0) {
    int32_t i = 0;
    while (i < n && is_read(a->p, m, n, i)) i++;
    if (i < n) {
      put_move(a, m[i].type, m[i].to, m[i].from);
      m[i] = m[--n];
      continue;
    }
    const jit_place aside = ~a->p->n_slots++, from = m[0].from;
    const jit_class c = jit_class_of(a->p, m[0].type);
    put_move(a, m[0].type, aside, from);
    for (int32_t k = 0; k < n; k++) {
      if (same_place(jit_class_of(a->p, m[k].type), m[k].from, c, from)) m[k].from = aside;
    }
  }
}

static void end_step(allocator *a, pending_move *m) {
  const jit_program *p = a->p;
  int32_t n = 0;
  if (p->stop >= 0) {
    const jit_value v = p->stop;
    const jit_place from = a->v[v].reg != NOWHERE ? a->v[v].reg : home_of(a, v);
    put_move(a, JIT_BOOL, ~p->stop_slot, from);
  }
  for (jit_value v = 0; v < p->n_defs; v++) {
    const jit_value next = p->def[v].next >= 0 ? p->def[v].next : v;
    const value_state *s = &a->v[v];
    if (p->def[v].source != JIT_CARRIED && s->head == NOWHERE) continue;
    const jit_place to = s->head != NOWHERE ? s->head : home_of(a, v);
    jit_place from = a->v[next].reg != NOWHERE ? a->v[next].reg : home_of(a, next);
    if (next == v && to < 0) continue; /* its slot has it */
    if (to != from) m[n++] = (pending_move){to, from, p->def[v].type};
  }
  put_moves(a, m, n);
}

/* ---- The parts --------------------------------------------------------------------------------------------------- */

/* Steady values, each of which ends in its slot. */
static void allocate_before(allocator *a) {
  const jit_program *p = a->p;
  a->list = &a->out->before;
  for (int32_t i = 0; i < p->n_before; i++) {
    for (int c = 0; c < JIT_N_CLASSES; c++) {
      for (int r = 0; r < JIT_MOST_REGISTERS; r++) a->holds[c][r] = NOWHERE;
    }
    for (int k = 0; k < p->before[i].n_in; k++) {
      a->v[p->before[i].in[k]].in_slot = true;
      a->v[p->before[i].in[k]].reg = NOWHERE;
    }
    allocate_inst(a, &p->before[i]);
    store_home(a, p->before[i].out);
    for (int k = 0; k < p->before[i].n_in; k++) a->v[p->before[i].in[k]].reg = NOWHERE;
  }
}

static void allocate_step(allocator *a) {
  const jit_program *p = a->p;
  load_head(a);
  a->list = &a->out->step;
  for (a->now = 0; a->now < p->n_insts; a->now++) allocate_inst(a, &p->inst[a->now]);
}

static void allocate_after(allocator *a) {
  a->list = &a->out->after;
  for (jit_value v = 0; v < a->p->n_defs; v++) {
    const jit_def *d = &a->p->def[v];
    if (d->source == JIT_CARRIED && a->v[v].head != NOWHERE) put_move(a, d->type, home_of(a, v), a->v[v].head);
  }
}

bool jit_allocate(jit_program *p, const jit_isa *isa, jit_allocated *out) {
  allocator a = {.p = p, .isa = isa, .out = out, .now = -1};
  *out = (jit_allocated){.program = p, .stop_slot = p->stop_slot};
  a.v_bytes = (size_t)(p->n_defs + 1) * (sizeof(value_state) + sizeof(pending_move) + 1);
  a.v = mem_calloc(p->ctx, a.v_bytes);
  bool made = a.v != NULL;
  pending_move *moves = (pending_move *)(void *)(a.v + p->n_defs + 1);
  uint8_t *bytes = (uint8_t *)(moves + p->n_defs + 1);
  if (made) {
    jit_prune(p, bytes);
    made = find_uses(&a);
  }
  if (made) {
    for (jit_value v = 0; v < p->n_defs; v++) a.v[v].head = a.v[v].reg = a.v[v].becomes = NOWHERE;
    for (jit_value v = 0; v < p->n_defs; v++) {
      if (p->def[v].next >= 0) a.v[p->def[v].next].becomes = v;
    }
    allocate_before(&a);
    for (int c = 0; c < JIT_N_CLASSES; c++) choose_head(&a, (jit_class)c, bytes);
    allocate_step(&a);
    end_step(&a, moves);
    allocate_after(&a);
    made = !a.failed;
  } else {
    ctx_clear_error(p->ctx);
  }
  if (a.uses != NULL) mem_free(p->ctx, a.uses, a.uses_bytes);
  if (a.v != NULL) mem_free(p->ctx, a.v, a.v_bytes);
  out->n_slots = p->n_slots;
  return made;
}

void jit_allocated_clear(damo_ctx *ctx, jit_allocated *a) {
  jit_list *lists[] = {&a->before, &a->step, &a->after};
  for (int i = 0; i < 3; i++) mem_free(ctx, lists[i]->at, (size_t)lists[i]->cap * sizeof(jit_inst));
  *a = (jit_allocated){.stop_slot = -1};
}
