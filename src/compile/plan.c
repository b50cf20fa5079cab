/* plan.c: makes the program of a FunctionGraph, with a slot for each Variable and a thunk for each node, in dependency
 * order; and its first frame. */
#include "compile_int.h"
#include "graph/region.h"

#include <string.h>

typedef struct planner {
  fn_program *program;
  vm_program *plan; /* program->vm */
  damo_function *f; /* the Function with the first frame */
  map place;        /* damo_var* → number of its cell + 1 */
  map maker;        /* damo_apply* → its thunk */
  ptrvec order;     /* nodes and entries of regions */
  ptrvec nodes;     /* the nodes among them */
  region_map regions;
  bool unordered;          /* no order has each condition before its branches: conditions depend on each other */
  ptrvec views, transient; /* cell numbers, as pointers */
  ptrvec fresh;            /* damo_var* for thunk_request.no_recycling */
  int32_t *slots;          /* slots of one node */
  int64_t slots_cap;
  bool may_ask, asks;   /* some thunk may ask, or asks, for inputs while it runs */
  uint8_t *is_constant; /* per cell: listed among the constants */
  int64_t n_constants;  /* upper bound */
} planner;

static int32_t cell_of(const planner *p, const damo_var *v) {
  uintptr_t place = 0;
  map_get(&p->place, v, &place);
  return (int32_t)place - 1;
}

static damo_status new_cell(planner *p, damo_var *v) { return map_put(&p->place, v, (uintptr_t)++p->plan->n_cells); }

static bool is_alias(const op_alias *a, int out) { return op_alias_has(a, out, -1); }

static damo_status count_leaf(planner *p, damo_var *v) {
  if (cell_of(p, v) >= 0) return DAMO_OK;
  DAMO_TRY(new_cell(p, v));
  p->n_constants += v->kind == VAR_CONSTANT;
  if (v->kind == VAR_CONSTANT) return DAMO_OK;
  return ptrvec_push(&p->transient, (void *)(intptr_t)cell_of(p, v));
}

/* The number of results and updates, without a companion's pairs, which follow them. */
static int64_t n_wanted(const fn_program *f) { return f->fgraph->outputs.n - 2 * f->n_pairs; }

/* Lists the Variables whose cells must be empty before each run: results that leave the Function without a copy, whose
 * cells function_take empties, and those of no_recycling, whose cells are emptied after each call. */
static damo_status list_fresh(planner *p) {
  const fn_program *f = p->program;
  for (int64_t i = 0; i < n_wanted(f); i++) {
    damo_var *v = f->fgraph->outputs.at[i];
    bool stays = i < f->n_outputs && f->outputs[i].borrow;
    if (v->owner != NULL && !stays) DAMO_TRY(ptrvec_push(&p->fresh, v));
  }
  for (int64_t i = 0; i < f->n_no_recycling; i++) {
    damo_var *v = f->no_recycling[i];
    if (v->owner == NULL || cell_of(p, v) < 0) continue;
    DAMO_TRY(ptrvec_push(&p->fresh, v));
    DAMO_TRY(ptrvec_push(&p->transient, (void *)(intptr_t)cell_of(p, v)));
  }
  return DAMO_OK;
}

/* Numbers the cells: first the inputs, then the other Variables in the order of the nodes. */
static damo_status number_cells(planner *p) {
  damo_fgraph *fg = p->program->fgraph;
  for (int64_t i = 0; i < fg->inputs.n; i++) DAMO_TRY(count_leaf(p, fg->inputs.at[i]));
  for (int64_t k = 0; k < p->nodes.n; k++) {
    damo_apply *node = p->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(count_leaf(p, node->in[i]));
    for (int o = 0; o < node->n_out; o++) {
      DAMO_TRY(new_cell(p, node->out[o]));
      if (!is_alias(node->op->view_map, o) && !is_alias(node->op->destroy_map, o)) continue;
      DAMO_TRY(ptrvec_push(&p->views, (void *)(intptr_t)cell_of(p, node->out[o])));
    }
  }
  for (int64_t i = 0; i < fg->outputs.n; i++) DAMO_TRY(count_leaf(p, fg->outputs.at[i]));
  return list_fresh(p);
}

static damo_status take_numbers(damo_ctx *ctx, const ptrvec *v, int32_t **out, int64_t *n) {
  *out = mem_alloc(ctx, (size_t)v->n * sizeof **out);
  if (*out == NULL) return DAMO_EMEMORY;
  *n = v->n;
  for (int64_t i = 0; i < v->n; i++) (*out)[i] = (int32_t)(intptr_t)v->at[i];
  return DAMO_OK;
}

static damo_status list_numbers(planner *p) {
  vm_program *plan = p->plan;
  DAMO_TRY(take_numbers(p->program->ctx, &p->views, &plan->views, &plan->n_views));
  return take_numbers(p->program->ctx, &p->transient, &plan->transient, &plan->n_transient);
}

/* The cell of v. Lists v among the constants, if it is one, so that every frame puts its value into the cell. */
static int32_t place_of(planner *p, const damo_var *v) {
  const int32_t slot = cell_of(p, v);
  vm_program *plan = p->plan;
  if (v->kind != VAR_CONSTANT || p->is_constant[slot]) return slot;
  p->is_constant[slot] = 1;
  plan->constants[plan->n_constants++] = (vm_constant){slot, damo_retain(v->value)};
  return slot;
}

/* ---- Thunks ------------------------------------------------------------------------------------------------------ */

/* Allocates the slots of one node, the constants and the list of thunks. */
static damo_status plan_reserve(planner *p) {
  vm_program *plan = p->plan;
  damo_ctx *ctx = p->program->ctx;
  int64_t most = 0;
  for (int64_t k = 0; k < p->nodes.n; k++) {
    const damo_apply *node = p->nodes.at[k];
    const int64_t n = (int64_t)node->n_in + node->n_out;
    if (n > most) most = n;
  }
  p->slots = mem_alloc(ctx, (size_t)most * sizeof *p->slots);
  if (p->slots == NULL) return DAMO_EMEMORY;
  p->slots_cap = most;
  p->is_constant = mem_calloc(ctx, (size_t)plan->n_cells);
  if (p->is_constant == NULL) return DAMO_EMEMORY;
  plan->constants = mem_alloc(ctx, (size_t)p->n_constants * sizeof *plan->constants);
  if (plan->constants == NULL) return DAMO_EMEMORY;
  plan->constant_cap = p->n_constants;
  plan->thunks = mem_alloc(ctx, (size_t)p->nodes.n * sizeof *plan->thunks);
  if (plan->thunks == NULL) return DAMO_EMEMORY;
  plan->thunk_cap = p->nodes.n;
  return DAMO_OK;
}

static damo_status new_thunk(planner *p, damo_apply *node) {
  vm_program *plan = p->plan;
  for (int i = 0; i < node->n_in; i++) p->slots[i] = place_of(p, node->in[i]);
  for (int o = 0; o < node->n_out; o++) p->slots[node->n_in + o] = cell_of(p, node->out[o]);
  damo_assert(plan->n_thunks < plan->thunk_cap && !map_get(&p->maker, node, NULL));
  thunk *t = thunk_new(p->program->ctx, node, (int32_t)plan->n_thunks, p->slots);
  if (t == NULL) return damo_error_status(p->program->ctx);
  plan->thunks[plan->n_thunks++] = t;
  return map_put(&p->maker, node, (uintptr_t)t);
}

/* Keeps the list for thunks of further frames. */
static damo_status keep_fresh_list(planner *p) {
  fn_program *f = p->program;
  if (p->fresh.n == 0) return DAMO_OK;
  f->fresh = mem_alloc(f->ctx, (size_t)p->fresh.n * sizeof *f->fresh);
  if (f->fresh == NULL) return DAMO_EMEMORY;
  f->n_fresh = p->fresh.n;
  memcpy(f->fresh, p->fresh.at, (size_t)p->fresh.n * sizeof *f->fresh);
  return DAMO_OK;
}

/* Makes the first frame and the thunks in it, which prepares the nodes. */
static damo_status make_frame(planner *p) {
  vm_frame *vf = &p->f->frame;
  DAMO_TRY(vm_frame_init(vf, p->program->ctx, p->plan, false));
  const thunk_request how = {.no_recycling = p->program->fresh, .n_no_recycling = p->program->n_fresh};
  for (int64_t k = 0; k < p->plan->n_thunks; k++) {
    DAMO_TRY(thunk_make(p->plan->thunks[k], &vf->frame, &how));
    const thunk *t = p->plan->thunks[k];
    const bool may_ask = op_may_ask(t->node->op->def);
    p->may_ask = p->may_ask || may_ask;
    p->asks = p->asks || (may_ask && thunk_is_lazy(t, &vf->frame));
  }
  return DAMO_OK;
}

/* ---- Branches ---------------------------------------------------------------------------------------------------- */

static int32_t number_of(const planner *p, const damo_apply *node) {
  const thunk *t = map_get_ptr(&p->maker, node);
  return t->number;
}

static damo_status fill_regions(planner *p) {
  vm_program *plan = p->plan;
  damo_ctx *ctx = p->program->ctx;
  const int64_t n = region_count(&p->regions);
  for (int32_t r = 0; r < n; r++) plan->n_guards += region_n_guards(&p->regions, r);
  plan->guards = mem_alloc(ctx, (size_t)plan->n_guards * sizeof *plan->guards);
  plan->regions = mem_alloc(ctx, (size_t)n * sizeof *plan->regions);
  plan->n_regions = plan->regions != NULL ? n : 0;
  if (plan->guards == NULL) plan->n_guards = 0;
  if (plan->guards == NULL || plan->regions == NULL) return DAMO_EMEMORY;
  int32_t next = 0;
  for (int32_t r = 0; r < n; r++) {
    plan->regions[r].first = next;
    for (int32_t i = 0; i < region_n_guards(&p->regions, r); i++) {
      const region_guard *g = region_guard_at(&p->regions, r, i);
      plan->guards[next++] = (vm_guard){number_of(p, g->chooser), g->branch, g->region};
    }
    plan->regions[r].end = next;
  }
  return DAMO_OK;
}

static damo_status reserve_segments(planner *p, int64_t n) {
  p->plan->segments = mem_alloc(p->program->ctx, (size_t)n * sizeof *p->plan->segments);
  if (p->plan->segments == NULL) return DAMO_EMEMORY;
  p->plan->segment_cap = n;
  return DAMO_OK;
}

/* Splits the order into segments wherever the region changes, leaving out thunks that run on demand. */
static damo_status fill_segments(planner *p) {
  vm_program *plan = p->plan;
  int64_t k = 0;
  DAMO_TRY(reserve_segments(p, p->order.n));
  for (int64_t i = 0; i < p->order.n; i++) {
    const void *it = p->order.at[i];
    const bool decides = region_is_entry(it);
    const int32_t r = decides ? region_of_entry(it) : region_of(&p->regions, it);
    vm_segment *last = plan->n_segments > 0 ? &plan->segments[plan->n_segments - 1] : NULL;
    k += !decides;
    if (r == REGION_ON_DEMAND) continue;
    if (decides || last == NULL || last->region != r || last->end < k - 1) {
      last = &plan->segments[plan->n_segments++];
      *last = (vm_segment){k - !decides, k, r, decides};
    }
    last->end = k;
  }
  return DAMO_OK;
}

static damo_status plan_branches(planner *p) {
  if (region_count(&p->regions) == 0) return DAMO_OK;
  DAMO_TRY(fill_regions(p));
  return fill_segments(p);
}

/* ---- Programs run on demand -------------------------------------------------------------------------------------- */

static damo_status fill_makers(planner *p) {
  vm_program *plan = p->plan;
  plan->maker = mem_alloc(p->program->ctx, (size_t)plan->n_cells * sizeof *plan->maker);
  if (plan->maker == NULL) return DAMO_EMEMORY;
  for (int64_t c = 0; c < plan->n_cells; c++) plan->maker[c] = -1;
  for (int32_t k = 0; k < plan->n_thunks; k++) {
    const thunk *t = plan->thunks[k];
    for (int o = 0; o < t->n_out; o++) plan->maker[t->out[o]] = k;
  }
  return DAMO_OK;
}

/* Lists the goals of a program that runs entirely on demand: the thunks of results and updates. */
static damo_status fill_goals(planner *p) {
  vm_program *plan = p->plan;
  const ptrvec *wanted = &p->program->fgraph->outputs;
  const int64_t n = n_wanted(p->program);
  int64_t n_goals = 0;
  for (int64_t i = 0; i < n; i++) n_goals += ((damo_var *)wanted->at[i])->owner != NULL;
  plan->goals = mem_alloc(p->program->ctx, (size_t)n_goals * sizeof *plan->goals);
  if (plan->goals == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < n; i++) {
    const damo_var *v = wanted->at[i];
    if (v->owner != NULL) plan->goals[plan->n_goals++] = number_of(p, v->owner);
  }
  return DAMO_OK;
}

/* Prepares a program that runs on demand, entirely or in part. Pairs of a companion are computed on demand, because one
 * side may be in a branch that is not taken. */
static damo_status plan_demand(planner *p) {
  const bool all = p->unordered || p->program->n_pairs > 0;
  if (!all && !p->asks && (!p->may_ask || region_count(&p->regions) == 0)) return DAMO_OK;
  DAMO_TRY(fill_makers(p));
  if (all) DAMO_TRY(fill_goals(p));
  if (!all && p->plan->n_segments == 0) DAMO_TRY(fill_segments(p));
  p->plan->by_demand = true;
  return vm_frame_init_demand(&p->f->frame);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static bool plan_must_copy(const planner *p, const damo_var *v, map *given) {
  int32_t c = cell_of(p, v);
  if (v->owner == NULL || is_alias(v->owner->op->view_map, v->index) || is_alias(v->owner->op->destroy_map, v->index)) {
    return true;
  }
  return map_get(given, (void *)(intptr_t)(c + 2), NULL);
}

/* The number of the input whose buffer the output v may hold, -1: none. *many: there are several. */
static int input_shared(const damo_var *v, bool *many) {
  const op_alias *const maps[] = {v->owner->op->view_map, v->owner->op->destroy_map};
  int in = -1;
  *many = false;
  for (int m = 0; m < 2; m++) {
    for (const op_alias *a = maps[m]; a != NULL && a->out >= 0; a++) {
      if (a->out != v->index) continue;
      *many = *many || in >= 0;
      in = a->in;
    }
  }
  return in;
}

/* A sparse result often consists of a pattern and the data of an earlier node's output. If neither an argument nor
 * another result is among the cells that share its buffer, the result can leave without a copy, and these cells
 * (out->along) are emptied with it. */
static bool take_along(const planner *p, const damo_var *v, const map *given, fn_output *out) {
  bool many = false;
  out->n_along = 0;
  if (!type_is_sparse(v->type)) return false;
  for (; v->owner != NULL; out->along[out->n_along++] = cell_of(p, v)) {
    const int in = input_shared(v, &many);
    if (in < 0) return true;
    if (many || in >= v->owner->n_in || out->n_along == FN_ALONG_MOST) return false;
    v = v->owner->in[in];
    if (map_get(given, (void *)(intptr_t)(cell_of(p, v) + 2), NULL)) return false;
  }
  return false;
}

static damo_status give_along(map *given, const fn_output *out) {
  for (int k = 0; k < out->n_along; k++) DAMO_TRY(map_put(given, (void *)(intptr_t)(out->along[k] + 2), 1));
  return DAMO_OK;
}

static damo_status place_outputs(planner *p, map *given) {
  fn_program *f = p->program;
  for (int64_t i = 0; i < f->n_outputs; i++) {
    damo_var *v = f->fgraph->outputs.at[i];
    fn_output *out = &f->outputs[i];
    out->cell = place_of(p, v);
    out->maker = v->owner != NULL ? map_get_ptr(&p->maker, v->owner) : NULL;
    out->maker_index = v->index;
    out->copy = plan_must_copy(p, v, given);
    out->twice = map_get(given, (void *)(intptr_t)(out->cell + 2), NULL);
    if (out->copy && !map_get(given, (void *)(intptr_t)(out->cell + 2), NULL) && take_along(p, v, given, out)) {
      out->copy = false;
      DAMO_TRY(give_along(given, out));
    }
    DAMO_TRY(map_put(given, (void *)(intptr_t)(out->cell + 2), 1));
  }
  return DAMO_OK;
}

static damo_status place_shared(planner *p, map *given) {
  fn_program *f = p->program;
  int64_t next = f->n_outputs;
  for (int64_t i = 0; i < f->n_shared; i++) {
    fn_shared *sh = &f->shared[i];
    if (sh->var != NULL) sh->cell = cell_of(p, sh->var);
    if (sh->update_cell < 0) continue;
    damo_var *v = f->fgraph->outputs.at[next++];
    sh->update_cell = place_of(p, v);
    sh->copy = plan_must_copy(p, v, given);
    DAMO_TRY(map_put(given, (void *)(intptr_t)(sh->update_cell + 2), 1));
  }
  return DAMO_OK;
}

static int32_t place_side(planner *p, int64_t i) { return place_of(p, p->program->fgraph->outputs.at[i]); }

static void place_pairs(planner *p) {
  int64_t first = n_wanted(p->program);
  for (int64_t k = 0; k < p->program->n_pairs; k++) {
    p->program->pairs[k].first_cell = place_side(p, first + 2 * k);
    p->program->pairs[k].second_cell = place_side(p, first + 2 * k + 1);
  }
}

/* Whether some thunk may overwrite the input: conservatively, whether the input is used and any node destroys
 * anything. */
static bool may_be_destroyed(const planner *p, const damo_var *v) {
  if (fgraph_clients(p->program->fgraph, v) == NULL) return false;
  for (int64_t k = 0; k < p->nodes.n; k++) {
    if (((const damo_apply *)p->nodes.at[k])->op->destroy_map != NULL) return true;
  }
  return false;
}

static damo_status place_results(planner *p) {
  fn_program *f = p->program;
  map given; /* cell + 2 of each cell that already holds a result */
  map_init(&given, f->ctx);
  for (int64_t i = 0; i < f->n_inputs; i++) {
    f->inputs[i].cell = cell_of(p, f->fgraph->inputs.at[i]);
    f->inputs[i].destroyed = f->inputs[i].mutable_ && may_be_destroyed(p, f->fgraph->inputs.at[i]);
  }
  damo_status s = place_shared(p, &given); /* first, because updates are moved and outputs of the same cell copied */
  if (s == DAMO_OK) s = place_outputs(p, &given);
  if (s == DAMO_OK) place_pairs(p);
  map_clear(&given);
  return s;
}

/* Finds the order of the nodes and of the regions' entries; without regions if there is no such order, or if there are
 * pairs. */
static damo_status find_order(planner *p) {
  const destroy_rules rules = {.regions = &p->regions};
  const damo_fgraph *fg = p->program->fgraph;
  destroy_offence at = {NULL, -1};
  damo_status s = p->program->n_pairs > 0 ? DAMO_OK : destroy_order(fg, &rules, &at, &p->order);
  p->unordered = p->regions.given_up || (s == DAMO_EINCONSISTENCY && at.node == NULL);
  if (p->unordered || p->program->n_pairs > 0) {
    ctx_clear_error(p->program->ctx);
    region_map_clear(&p->regions);
    region_map_init(&p->regions, p->program->ctx);
    p->order.n = 0;
    s = destroy_order(fg, NULL, NULL, &p->order);
  }
  for (int64_t i = 0; i < p->order.n && s == DAMO_OK; i++) {
    if (!region_is_entry(p->order.at[i])) s = ptrvec_push(&p->nodes, p->order.at[i]);
  }
  bool fixed = region_count(&p->regions) > 0 || p->unordered || p->program->n_pairs > 0;
  for (int64_t i = 0; i < p->nodes.n && !fixed; i++) fixed = op_may_ask(((const damo_apply *)p->nodes.at[i])->op->def);
  if (s == DAMO_OK && !fixed && p->program->watcher == NULL) s = order_for_memory(fg, &p->nodes);
  return s;
}

/* Takes the order of a program without branches that was made before. */
static damo_status take_order(planner *p, const ptrvec *order) {
  for (int64_t i = 0; i < order->n; i++) DAMO_TRY(ptrvec_push(&p->nodes, order->at[i]));
  return DAMO_OK;
}

static damo_status build_steps(planner *p, const ptrvec *order) {
  DAMO_TRY(order != NULL ? take_order(p, order) : find_order(p));
  DAMO_TRY(number_cells(p));
  DAMO_TRY(keep_fresh_list(p));
  DAMO_TRY(list_numbers(p));
  DAMO_TRY(plan_reserve(p));
  for (int64_t k = 0; k < p->nodes.n; k++) DAMO_TRY(new_thunk(p, p->nodes.at[k]));
  DAMO_TRY(place_results(p));
  damo_assert(p->plan->n_thunks == p->nodes.n && p->plan->n_constants <= p->plan->constant_cap);
  DAMO_TRY(plan_branches(p));
  DAMO_TRY(make_frame(p));
  DAMO_TRY(plan_demand(p));
  DAMO_TRY(plan_lifetimes(p->program));
  vm_arena_attach(&p->f->frame);
  function_watch(p->f);
  DAMO_TRY_DEBUG(plan_check(p->program));
  return DAMO_OK;
}

damo_status plan_build(fn_program *program, damo_function *f, const ptrvec *order) {
  damo_ctx *ctx = program->ctx;
  planner p = {.program = program, .plan = &program->vm, .f = f};
  map_init(&p.place, ctx);
  map_init(&p.maker, ctx);
  ptrvec_init(&p.order, ctx);
  ptrvec_init(&p.nodes, ctx);
  region_map_init(&p.regions, ctx);
  ptrvec_init(&p.views, ctx);
  ptrvec_init(&p.transient, ctx);
  ptrvec_init(&p.fresh, ctx);
  damo_status s = build_steps(&p, order);
  if (p.is_constant != NULL) mem_free(ctx, p.is_constant, (size_t)program->vm.n_cells);
  mem_free(ctx, p.slots, (size_t)p.slots_cap * sizeof *p.slots);
  map_clear(&p.place);
  map_clear(&p.maker);
  ptrvec_clear(&p.order);
  ptrvec_clear(&p.nodes);
  region_map_clear(&p.regions);
  ptrvec_clear(&p.views);
  ptrvec_clear(&p.transient);
  ptrvec_clear(&p.fresh);
  return s;
}
