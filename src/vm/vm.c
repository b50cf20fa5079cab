/* vm.c: programs and frames, the loop over thunks, and the reset after it. */
#include "vm.h"

#include <string.h>

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

void vm_program_clear(damo_ctx *ctx, vm_program *p) {
  for (int64_t k = 0; k < p->n_thunks; k++) thunk_free(ctx, p->thunks[k]);
  for (int64_t i = 0; i < p->n_constants; i++) damo_release(p->constants[i].value);
  mem_free(ctx, p->thunks, (size_t)p->thunk_cap * sizeof *p->thunks);
  mem_free(ctx, p->constants, (size_t)p->constant_cap * sizeof *p->constants);
  mem_free(ctx, p->views, (size_t)p->n_views * sizeof *p->views);
  mem_free(ctx, p->transient, (size_t)p->n_transient * sizeof *p->transient);
  mem_free(ctx, p->segments, (size_t)p->segment_cap * sizeof *p->segments);
  mem_free(ctx, p->regions, (size_t)p->n_regions * sizeof *p->regions);
  mem_free(ctx, p->guards, (size_t)p->n_guards * sizeof *p->guards);
  mem_free(ctx, p->homes, (size_t)p->n_homes * sizeof *p->homes);
  mem_free(ctx, p->by_death, (size_t)p->n_homes * sizeof *p->by_death);
  mem_free(ctx, p->aliases, (size_t)p->n_aliases * sizeof *p->aliases);
  if (p->alias_first != NULL) mem_free(ctx, p->alias_first, (size_t)(p->n_groups + 1) * sizeof *p->alias_first);
  if (p->home_of != NULL) mem_free(ctx, p->home_of, (size_t)p->n_cells * sizeof *p->home_of);
  if (p->maker != NULL) mem_free(ctx, p->maker, (size_t)p->n_cells * sizeof *p->maker);
  if (p->goals != NULL) mem_free(ctx, p->goals, (size_t)p->n_goals * sizeof *p->goals);
  *p = (vm_program){.n_cells = 0};
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

#define STATE_ALIGN 16

static size_t aligned_state(const thunk *t) {
  return (thunk_state_size(t) + STATE_ALIGN - 1) & ~(size_t)(STATE_ALIGN - 1);
}

/* Allocates locals, cells, states and needed in one block. */
static damo_status frame_alloc(vm_frame *vf, const vm_program *p) {
  const size_t locals = (size_t)p->n_thunks * sizeof(thunk_local), cells = (size_t)p->n_cells * sizeof(cell);
  const size_t states_at = (locals + cells + STATE_ALIGN - 1) & ~(size_t)(STATE_ALIGN - 1);
  size_t bytes = states_at;
  for (int64_t k = 0; k < p->n_thunks; k++) bytes += aligned_state(p->thunks[k]);
  bytes += (size_t)p->n_regions;
  vf->block = mem_calloc(vf->frame.ctx, bytes);
  if (vf->block == NULL) return DAMO_EMEMORY;
  vf->block_bytes = bytes;
  vf->frame.locals = vf->block;
  vf->frame.cells = (cell *)((char *)vf->block + locals);
  char *state = (char *)vf->block + states_at;
  for (int64_t k = 0; k < p->n_thunks; k++) {
    vf->frame.locals[k].state = state;
    state += aligned_state(p->thunks[k]);
  }
  vf->needed = (uint8_t *)state;
  return DAMO_OK;
}

damo_status vm_frame_init(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign) {
  *vf = (vm_frame){.frame.ctx = ctx, .program = p, .failed_at = -1};
  DAMO_TRY(frame_alloc(vf, p));
  for (int64_t i = 0; i < p->n_constants; i++) {
    const vm_constant *c = &p->constants[i];
    damo_obj *v = foreign ? value_lend(ctx, c->value) : damo_retain(c->value);
    if (v == NULL) return damo_error_status(ctx);
    damo_assert(c->slot >= 0 && c->slot < p->n_cells && vf->frame.cells[c->slot] == NULL);
    vf->frame.cells[c->slot] = v;
  }
  return DAMO_OK;
}

static size_t demand_bytes(const vm_program *p) { return (size_t)p->n_thunks * (2 * sizeof(int32_t) + 1); }

damo_status vm_frame_init_demand(vm_frame *vf) {
  const size_t n = (size_t)vf->program->n_thunks;
  vf->demand.stack = mem_alloc(vf->frame.ctx, demand_bytes(vf->program));
  if (vf->demand.stack == NULL) return DAMO_EMEMORY;
  vf->demand.cursor = vf->demand.stack + n;
  vf->demand.done = (uint8_t *)(vf->demand.cursor + n);
  return DAMO_OK;
}

damo_status vm_frame_join(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign, const thunk_request *how) {
  DAMO_TRY(vm_frame_init(vf, ctx, p, foreign));
  for (int64_t k = 0; k < p->n_thunks; k++) DAMO_TRY(thunk_join(p->thunks[k], &vf->frame, how));
  vm_arena_attach(vf);
  return p->by_demand ? vm_frame_init_demand(vf) : DAMO_OK;
}

void vm_frame_clear(vm_frame *vf) {
  const vm_program *p = vf->program;
  if (p == NULL) return;
  vm_arena_free(vf);
  if (vf->block != NULL) {
    for (int64_t k = 0; k < p->n_thunks; k++) thunk_leave(p->thunks[k], &vf->frame);
    for (int64_t i = 0; i < p->n_cells; i++) damo_release(vf->frame.cells[i]);
    mem_free(vf->frame.ctx, vf->block, vf->block_bytes);
  }
  if (vf->demand.stack != NULL) mem_free(vf->frame.ctx, vf->demand.stack, demand_bytes(p));
  *vf = (vm_frame){.frame.ctx = vf->frame.ctx};
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

damo_status vm_fail_at(vm_frame *vf, int64_t k, damo_status s) {
  vf->failed_at = k;
  thunk_blame(vf->program->thunks[k], &vf->frame);
  return s;
}

/* The loop without branches and without a watcher. */
static damo_status run_in_order(vm_frame *vf) {
  const vm_program *p = vf->program;
  damo_ctx *const ctx = vf->frame.ctx;
  for (int64_t k = 0; k < p->n_thunks;) {
    const int64_t end = p->n_thunks - k > LOOK_THUNKS ? k + LOOK_THUNKS : p->n_thunks;
    for (; k < end; k++) {
      const thunk *t = p->thunks[k];
      damo_status s = t->run(t, &vf->frame);
      if (s == DAMO_OK && ctx_is_due(ctx)) s = ctx_look(ctx);
      if (s != DAMO_OK) return vm_fail_at(vf, k, s);
    }
    if (end < p->n_thunks) ctx_set_due(ctx);
  }
  return DAMO_OK;
}

static damo_status run_watched(vm_frame *vf) {
  for (int64_t k = 0; k < vf->program->n_thunks; k++) {
    damo_status s = vf->step(vf, vf->program->thunks[k]);
    if (s == DAMO_OK) s = ctx_look(vf->frame.ctx);
    if (s != DAMO_OK) return vm_fail_at(vf, k, s);
  }
  return DAMO_OK;
}

/* In a call cut into slices, with a point after each thunk. */
static damo_status run_in_slices(vm_frame *vf) {
  const vm_program *p = vf->program;
  for (int64_t k = 0; k < p->n_thunks; k++) {
    damo_status s = vm_step(vf, p->thunks[k]);
    if (s == DAMO_OK) s = ctx_poll(vf->frame.ctx);
    if (s != DAMO_OK) return vm_fail_at(vf, k, s);
  }
  return DAMO_OK;
}

static bool guard_holds(const vm_frame *vf, const vm_guard *g) {
  return (g->region < 0 || vf->needed[g->region]) &&
         thunk_taken(vf->program->thunks[g->thunk], &vf->frame) == g->branch;
}

bool vm_enters(vm_frame *vf, const vm_segment *g) {
  if (g->region < 0) return true;
  if (!g->decides) return vf->needed[g->region];
  const vm_program *p = vf->program;
  const vm_region *r = &p->regions[g->region];
  bool needed = false;
  for (int32_t i = r->first; i < r->end && !needed; i++) needed = guard_holds(vf, &p->guards[i]);
  vf->needed[g->region] = needed;
  return needed;
}

static damo_status run_segments(vm_frame *vf) {
  const vm_program *p = vf->program;
  for (int64_t i = 0; i < p->n_segments; i++) {
    const vm_segment *g = &p->segments[i];
    damo_assert(g->first <= g->end && g->end <= p->n_thunks && g->region < p->n_regions);
    if (!vm_enters(vf, g)) continue;
    for (int64_t k = g->first; k < g->end; k++) {
      const thunk *t = p->thunks[k];
      /* a watcher's step checks which inputs have values */
      if (vf->step != NULL && thunk_is_lazy(t, &vf->frame)) thunk_tell_branch(t, &vf->frame);
      damo_status s = vm_step(vf, t);
      if (s == DAMO_OK) s = vm_between(vf, k);
      if (s != DAMO_OK) return vm_fail_at(vf, k, s);
    }
  }
  return DAMO_OK;
}

damo_status vm_run(vm_frame *vf) {
  if (vf->arena != NULL) vm_arena_begin(vf);
  if (vf->program->by_demand) return vm_run_demand(vf);
  if (vf->program->n_segments > 0) return run_segments(vf);
  if (ctx_pace(vf->frame.ctx) != NULL) return run_in_slices(vf);
  return vf->step != NULL ? run_watched(vf) : run_in_order(vf);
}

static void vm_cell_empty(cell *c) {
  damo_obj *v = *c;
  *c = NULL;
  damo_release(v);
}

void vm_reset(vm_frame *vf) {
  const vm_program *p = vf->program;
  for (int64_t i = 0; i < p->n_views; i++) {
    cell *c = &vf->frame.cells[p->views[i]];
    if (*c != NULL && (*c)->kind == OBJ_ARRAY && (*c)->refs == 1) {
      array_detach((damo_array *)*c); /* the array object is reused by the next run */
    } else {
      vm_cell_empty(c);
    }
  }
  if (vf->arena != NULL) vm_arena_end(vf);
  for (int64_t i = 0; i < p->n_transient; i++) vm_cell_empty(&vf->frame.cells[p->transient[i]]);
}
