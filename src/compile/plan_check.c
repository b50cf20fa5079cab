/* plan_check.c: what must hold of a program. Debug builds ask it of each program that plan_build makes.
 *
 * Cells: each is filled by one thunk, or is a leaf: a constant, or emptied after each call and filled before it. Thunks
 * read leaves and what thunks before them made. Cells that may share memory (a view and what it views) form a group. A
 * group has at most one destroyer, after which no other thunk reads a member; no member is a constant, a shared value, a
 * result or an input that the caller keeps. The memory that leaves as a result is in no other cell that stays.
 */
#include "compile_int.h"

#include <string.h>

typedef struct cell_facts {
  int32_t maker;     /* the thunk that fills it, -1: none */
  int32_t up;        /* another cell of its group, nearer to the one that stands for it; that one's own number */
  int32_t destroyer; /* of the one that stands for a group: the thunk that overwrites the memory, -1 */
  bool is_constant, is_transient, is_view;
  bool taken; /* a call takes its value, as a result or as a new shared value */
} cell_facts;

typedef struct plan_facts {
  const fn_program *f;
  const vm_program *p;
  cell_facts *cells;
  uint8_t *needed; /* per thunk: whether what `needed_by` runs on, at one remove or more, is its work */
  int64_t needed_by;
} plan_facts;

static damo_status plan_flaw(const plan_facts *c, const char *what, int64_t slot) {
  return ctx_fail(c->f->ctx, DAMO_EINCONSISTENCY, "plan: cell %lld %s", (long long)slot, what);
}

static damo_status thunk_flaw(const plan_facts *c, int64_t k, const char *what, int64_t slot) {
  return ctx_fail(c->f->ctx, DAMO_EINCONSISTENCY, "plan: thunk %lld, %s, %s cell %lld", (long long)k,
                  thunk_name(c->p->thunks[k]), what, (long long)slot);
}

static bool is_cell(const plan_facts *c, int32_t slot) { return slot >= 0 && slot < c->p->n_cells; }

/* The cell that stands for the group. */
static int32_t group_of(const plan_facts *c, int32_t slot) {
  while (c->cells[slot].up != slot) slot = c->cells[slot].up;
  return slot;
}

static int32_t destroyer_of(const plan_facts *c, int32_t slot) { return c->cells[group_of(c, slot)].destroyer; }

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static damo_status check_makers(plan_facts *c) {
  for (int64_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    if (t->number != k) return thunk_flaw(c, k, "has another number; its first", t->out[0]);
    for (int o = 0; o < t->n_out; o++) {
      if (!is_cell(c, t->out[o])) return thunk_flaw(c, k, "fills what is no cell:", t->out[o]);
      if (c->cells[t->out[o]].maker >= 0) return thunk_flaw(c, k, "fills, as another does,", t->out[o]);
      c->cells[t->out[o]].maker = (int32_t)k;
    }
  }
  return DAMO_OK;
}

static damo_status check_constants(plan_facts *c) {
  for (int64_t i = 0; i < c->p->n_constants; i++) {
    const vm_constant *k = &c->p->constants[i];
    if (!is_cell(c, k->slot) || k->value == NULL) return plan_flaw(c, "is no constant's", k->slot);
    if (c->cells[k->slot].maker >= 0) return plan_flaw(c, "is a constant's, and a thunk fills it", k->slot);
    if (c->cells[k->slot].is_constant) return plan_flaw(c, "is listed twice among the constants", k->slot);
    c->cells[k->slot].is_constant = true;
  }
  return DAMO_OK;
}

static damo_status check_transient(plan_facts *c) {
  for (int64_t i = 0; i < c->p->n_transient; i++) {
    const int32_t slot = c->p->transient[i];
    if (!is_cell(c, slot)) return plan_flaw(c, "is listed to be emptied, and is none", slot);
    if (c->cells[slot].is_constant) return plan_flaw(c, "is a constant's, and would be emptied", slot);
    c->cells[slot].is_transient = true;
  }
  return DAMO_OK;
}

/* What a thunk gives as a view is listed, once, so that no frame holds on to what it views. */
static damo_status check_views(plan_facts *c) {
  int64_t n = 0;
  for (int64_t i = 0; i < c->p->n_views; i++) {
    const int32_t slot = c->p->views[i];
    if (!is_cell(c, slot) || c->cells[slot].maker < 0) return plan_flaw(c, "is listed as a view, and no thunk's", slot);
    if (c->cells[slot].is_view) return plan_flaw(c, "is listed twice among the views", slot);
    c->cells[slot].is_view = true;
  }
  for (int64_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    for (int o = 0; o < t->n_out; o++) {
      const damo_op *op = t->node->op;
      if (!op_alias_has(op->view_map, o, -1) && !op_alias_has(op->destroy_map, o, -1)) continue;
      if (!c->cells[t->out[o]].is_view) return thunk_flaw(c, k, "makes a view, which is not listed, in", t->out[o]);
      n++;
    }
  }
  return n == c->p->n_views ? DAMO_OK : plan_flaw(c, "or another is listed as a view, and is none", c->p->views[0]);
}

/* ---- Reads ------------------------------------------------------------------------------------------------------- */

static damo_status check_reads(plan_facts *c) {
  for (int64_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    for (int i = 0; i < t->n_in; i++) {
      if (!is_cell(c, t->in[i])) return thunk_flaw(c, k, "reads what is no cell:", t->in[i]);
      const cell_facts *x = &c->cells[t->in[i]];
      if (x->maker >= k) return thunk_flaw(c, k, "reads before it is filled", t->in[i]);
      if (x->maker < 0 && !x->is_constant && !x->is_transient)
        return thunk_flaw(c, k, "reads, never filled,", t->in[i]);
    }
  }
  return DAMO_OK;
}

static void plan_find_groups(plan_facts *c) {
  for (int64_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    for (const op_alias *a = t->node->op->view_map; a != NULL && a->out >= 0; a++) {
      if (a->in < t->n_in) c->cells[group_of(c, t->out[a->out])].up = group_of(c, t->in[a->in]);
    }
  }
}

static damo_status plan_find_destroyers(plan_facts *c) {
  for (int64_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    for (const op_alias *a = t->node->op->destroy_map; a != NULL && a->out >= 0; a++) {
      if (a->in >= t->n_in) continue;
      cell_facts *group = &c->cells[group_of(c, t->in[a->in])];
      if (group->destroyer >= 0) return thunk_flaw(c, k, "destroys, as another does,", t->in[a->in]);
      group->destroyer = (int32_t)k;
    }
  }
  return DAMO_OK;
}

/* Whether k has run when d does. By demand that is so of what d needs; inputs come from thunks that are listed before. */
static bool runs_before(plan_facts *c, int64_t k, int64_t d) {
  if (!c->p->by_demand || k >= d) return k < d;
  if (c->needed_by != d) {
    memset(c->needed, 0, (size_t)c->p->n_thunks);
    c->needed[d] = 1;
    c->needed_by = d;
    for (int64_t j = d; j >= 0; j--) {
      const thunk *t = c->p->thunks[j];
      for (int i = 0; c->needed[j] && i < t->n_in; i++) {
        const int32_t maker = c->cells[t->in[i]].maker;
        if (maker >= 0) c->needed[maker] = 1;
      }
    }
  }
  return c->needed[k] != 0;
}

static damo_status check_destroyed(plan_facts *c) {
  for (int64_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    for (int i = 0; i < t->n_in; i++) {
      const int32_t d = destroyer_of(c, t->in[i]);
      const bool is_own = d == k && op_alias_has(t->node->op->destroy_map, -1, i);
      if (d < 0 || is_own || runs_before(c, k, d)) continue;
      return thunk_flaw(c, k, d == k ? "destroys and reads" : "reads, although it may be destroyed by then,", t->in[i]);
    }
  }
  for (int64_t i = 0; i < c->p->n_constants; i++) {
    if (destroyer_of(c, c->p->constants[i].slot) >= 0)
      return plan_flaw(c, "is a constant's, and is destroyed", c->p->constants[i].slot);
  }
  return DAMO_OK;
}

/* ---- The function around the program ------------------------------------------------------------------------------ */

static damo_status check_sources(const plan_facts *c) {
  const fn_program *f = c->f;
  for (int64_t i = 0; i < f->n_inputs; i++) {
    const int32_t slot = f->inputs[i].cell;
    if (!is_cell(c, slot) || !c->cells[slot].is_transient) return plan_flaw(c, "is an input's, and is kept", slot);
    if (destroyer_of(c, slot) >= 0 && !f->inputs[i].destroyed)
      return plan_flaw(c, "is an input's, and is destroyed unsaid", slot);
  }
  for (int64_t i = 0; i < f->n_shared; i++) {
    const int32_t slot = f->shared[i].cell;
    if (slot < 0) continue;
    if (!is_cell(c, slot) || !c->cells[slot].is_transient)
      return plan_flaw(c, "is a shared value's, and is kept", slot);
    if (destroyer_of(c, slot) >= 0) return plan_flaw(c, "is a shared value's, and is destroyed", slot);
  }
  return DAMO_OK;
}

/* A value that a call takes leaves its cell: it is no leaf's, and no other cell that stays has its memory. */
static damo_status take_cell(plan_facts *c, int32_t slot) {
  if (c->cells[slot].maker < 0) return plan_flaw(c, "is a leaf's, and is given away as a result", slot);
  if (c->cells[slot].taken) return plan_flaw(c, "is given away twice", slot);
  c->cells[slot].taken = true;
  return DAMO_OK;
}

static damo_status plan_check_result(plan_facts *c, int32_t slot, bool copy, bool along) {
  if (!is_cell(c, slot)) return plan_flaw(c, "is a result's, and is none", slot);
  if (destroyer_of(c, slot) >= 0) return plan_flaw(c, "is a result's, and is destroyed", slot);
  if (copy) return DAMO_OK;
  if (c->cells[slot].is_view && !along) return plan_flaw(c, "is a view's, and is given away as a result", slot);
  return take_cell(c, slot);
}

static damo_status check_output(plan_facts *c, const fn_output *out) {
  DAMO_TRY(plan_check_result(c, out->cell, out->copy, out->n_along > 0));
  const int32_t maker = c->cells[out->cell].maker;
  if (out->maker != (maker >= 0 ? c->p->thunks[maker] : NULL)) return plan_flaw(c, "has another maker", out->cell);
  if (maker >= 0 && (out->maker_index >= out->maker->n_out || out->maker->out[out->maker_index] != out->cell))
    return plan_flaw(c, "is another output of its maker", out->cell);
  for (int k = 0; !out->copy && k < out->n_along; k++) {
    if (!is_cell(c, out->along[k])) return plan_flaw(c, "goes with a result, and is none", out->along[k]);
    if (out->along[k] != out->cell) DAMO_TRY(take_cell(c, out->along[k]));
  }
  return DAMO_OK;
}

static damo_status check_results(plan_facts *c) {
  const fn_program *f = c->f;
  for (int64_t i = 0; i < f->n_shared; i++) {
    if (f->shared[i].update_cell >= 0)
      DAMO_TRY(plan_check_result(c, f->shared[i].update_cell, f->shared[i].copy, false));
  }
  for (int64_t i = 0; i < f->n_outputs; i++) DAMO_TRY(check_output(c, &f->outputs[i]));
  for (int64_t i = 0; i < f->n_pairs; i++) {
    DAMO_TRY(plan_check_result(c, f->pairs[i].first_cell, true, false));
    DAMO_TRY(plan_check_result(c, f->pairs[i].second_cell, true, false));
  }
  return DAMO_OK;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

static bool is_decided_before(const vm_program *p, int64_t segment, int32_t r) {
  for (int64_t i = 0; i < segment; i++) {
    if (p->segments[i].region == r && p->segments[i].decides) return true;
  }
  return false;
}

/* The conditions that decide the region are filled, and the regions of its choosers are decided. */
static damo_status check_guards(plan_facts *c, int64_t segment, int32_t r) {
  const vm_program *p = c->p;
  for (int32_t i = p->regions[r].first; i < p->regions[r].end; i++) {
    const vm_guard *g = &p->guards[i];
    const int32_t condition = p->thunks[g->thunk]->in[0];
    if (c->cells[condition].maker >= p->segments[segment].first)
      return thunk_flaw(c, g->thunk, "chooses by a condition that is filled after what it decides:", condition);
    if (g->region >= 0 && !is_decided_before(p, segment, g->region))
      return thunk_flaw(c, g->thunk, "chooses, in a region that is not decided yet, by", condition);
  }
  return DAMO_OK;
}

static damo_status check_segments(plan_facts *c) {
  const vm_program *p = c->p;
  int64_t end = 0;
  for (int64_t i = 0; i < p->n_segments; i++) {
    const vm_segment *g = &p->segments[i];
    if (g->first < end || g->end < g->first || g->end > p->n_thunks || g->region >= p->n_regions)
      return plan_flaw(c, "is there, but a segment of thunks is out of order", 0);
    end = g->end;
    if (g->region < 0) continue;
    if (!g->decides && !is_decided_before(p, i, g->region))
      return plan_flaw(c, "is there, but a region is used before it is decided", 0);
    if (g->decides) DAMO_TRY(check_guards(c, i, g->region));
  }
  return DAMO_OK;
}

static damo_status check_all(plan_facts *c) {
  for (int64_t i = 0; i < c->p->n_cells; i++) {
    c->cells[i] = (cell_facts){.maker = -1, .up = (int32_t)i, .destroyer = -1};
  }
  DAMO_TRY(check_makers(c));
  DAMO_TRY(check_constants(c));
  DAMO_TRY(check_transient(c));
  DAMO_TRY(check_views(c));
  DAMO_TRY(check_reads(c));
  DAMO_TRY(check_segments(c));
  plan_find_groups(c);
  DAMO_TRY(plan_find_destroyers(c));
  DAMO_TRY(check_destroyed(c));
  DAMO_TRY(check_sources(c));
  return check_results(c);
}

damo_status plan_check(const fn_program *program) {
  plan_facts c = {.f = program, .p = &program->vm, .needed_by = -1};
  const size_t bytes = (size_t)c.p->n_cells * sizeof *c.cells + (size_t)c.p->n_thunks;
  c.cells = mem_alloc(program->ctx, bytes);
  if (c.cells == NULL) return DAMO_EMEMORY;
  c.needed = (uint8_t *)(c.cells + c.p->n_cells);
  const damo_status s = check_all(&c);
  mem_free(program->ctx, c.cells, bytes);
  return s;
}
