/* plan.c: cells and thunks for a FunctionGraph: one cell a Variable, one thunk a node, in dependency order. */
#include "compile_int.h"

#include <string.h>

typedef struct planner {
  damo_function *f;
  vm_plan *plan;
  map place; /* damo_var* → its cell's number + 1 */
  map maker; /* damo_apply* → its thunk */
  ptrvec nodes;
  ptrvec views, transient; /* cell numbers, as pointers */
  ptrvec fresh;            /* damo_var*: no_recycling */
  int32_t *slots;          /* of one node */
  int64_t slots_cap;
  bool lazy; /* some thunk is */
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
  if (v->kind == VAR_CONSTANT) return DAMO_OK;
  return ptrvec_push(&p->transient, (void *)(intptr_t)cell_of(p, v));
}

/* Results and updates; a companion's pairs come behind them. */
static int64_t n_wanted(const damo_function *f) { return f->fgraph->outputs.n - 2 * f->n_pairs; }

/* Thunks are told of what leaves the function as its own memory, and of what was asked for; the cells of the latter are
 * emptied after each call. (Those of results are taken.) */
static damo_status list_fresh(planner *p) {
  const damo_function *f = p->f;
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

/* Numbers the cells: inputs, then as nodes meet them. */
static damo_status number_cells(planner *p) {
  damo_fgraph *fg = p->f->fgraph;
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

static damo_status plan_make_cells(planner *p) {
  vm_plan *plan = p->plan;
  int64_t n = plan->n_cells;
  plan->frame.cells = mem_calloc(plan->ctx, (size_t)n * sizeof *plan->frame.cells);
  if (plan->frame.cells == NULL) {
    plan->n_cells = 0;
    return DAMO_EMEMORY;
  }
  DAMO_TRY(take_numbers(plan->ctx, &p->views, &plan->views, &plan->n_views));
  return take_numbers(plan->ctx, &p->transient, &plan->transient, &plan->n_transient);
}

static void hold_constant(planner *p, damo_var *v) {
  cell *c = &p->plan->frame.cells[cell_of(p, v)];
  if (v->kind == VAR_CONSTANT && *c == NULL) *c = damo_retain(v->value);
}

static damo_status reserve_slots(planner *p) {
  for (int64_t k = 0; k < p->nodes.n; k++) {
    const damo_apply *node = p->nodes.at[k];
    const int64_t n = (int64_t)node->n_in + node->n_out;
    if (n > p->slots_cap) p->slots_cap = n;
  }
  p->slots = mem_alloc(p->plan->ctx, (size_t)p->slots_cap * sizeof *p->slots);
  if (p->slots == NULL) p->slots_cap = 0;
  return p->slots != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* The states of the thunks lie one behind the other. */
static damo_status plan_make_states(planner *p) {
  vm_plan *plan = p->plan;
  for (int64_t k = 0; k < p->nodes.n; k++) {
    plan->state_bytes += (((const damo_apply *)p->nodes.at[k])->op->def->state_size + 15) & ~(size_t)15;
  }
  plan->state = mem_calloc(plan->ctx, plan->state_bytes);
  if (plan->state == NULL) {
    plan->state_bytes = 0;
    return DAMO_EMEMORY;
  }
  char *at = plan->state;
  for (int64_t k = 0; k < p->nodes.n; k++) {
    plan->frame.locals[k].state = at;
    at += (((const damo_apply *)p->nodes.at[k])->op->def->state_size + 15) & ~(size_t)15;
  }
  return DAMO_OK;
}

static damo_status make_thunk(planner *p, damo_apply *node) {
  vm_plan *plan = p->plan;
  for (int i = 0; i < node->n_in; i++) {
    hold_constant(p, node->in[i]);
    p->slots[i] = cell_of(p, node->in[i]);
  }
  for (int o = 0; o < node->n_out; o++) p->slots[node->n_in + o] = cell_of(p, node->out[o]);
  thunk_request how = {.no_recycling = (damo_var *const *)p->fresh.at, .n_no_recycling = p->fresh.n};
  thunk *t = thunk_new(plan->ctx, node, (int32_t)plan->n_thunks, p->slots);
  if (t == NULL) return damo_error_status(plan->ctx);
  plan->thunks[plan->n_thunks++] = t;
  DAMO_TRY(thunk_make(t, &plan->frame, &how));
  p->lazy = p->lazy || thunk_is_lazy(t, &plan->frame);
  return map_put(&p->maker, node, (uintptr_t)t);
}

static damo_status make_thunks(planner *p) {
  vm_plan *plan = p->plan;
  DAMO_TRY(reserve_slots(p));
  plan->thunks = mem_alloc(plan->ctx, (size_t)p->nodes.n * sizeof *plan->thunks);
  if (plan->thunks == NULL) return DAMO_EMEMORY;
  plan->frame.locals = mem_calloc(plan->ctx, (size_t)p->nodes.n * sizeof *plan->frame.locals);
  if (plan->frame.locals == NULL) {
    mem_free(plan->ctx, plan->thunks, (size_t)p->nodes.n * sizeof *plan->thunks);
    plan->thunks = NULL;
    return DAMO_EMEMORY;
  }
  plan->thunk_cap = p->nodes.n;
  DAMO_TRY(plan_make_states(p));
  for (int64_t k = 0; k < p->nodes.n; k++) DAMO_TRY(make_thunk(p, p->nodes.at[k]));
  return DAMO_OK;
}

/* ---- Lazy plans -------------------------------------------------------------------------------------------------- */

static int32_t number_of_thunk(const map *numbers, const damo_apply *node) {
  uintptr_t k = 0;
  map_get(numbers, node, &k);
  return (int32_t)k - 1;
}

static damo_status fill_demand(planner *p, map *numbers) {
  vm_plan *plan = p->plan;
  const ptrvec *wanted = &p->f->fgraph->outputs;
  int64_t n = n_wanted(p->f);
  for (int64_t k = 0; k < plan->n_thunks; k++) DAMO_TRY(map_put(numbers, plan->thunks[k]->node, (uintptr_t)k + 1));
  int64_t n_goals = 0;
  for (int64_t i = 0; i < n; i++) n_goals += ((damo_var *)wanted->at[i])->owner != NULL;
  DAMO_TRY(vm_demand_init(plan, n_goals));
  n_goals = 0;
  for (int64_t i = 0; i < n; i++) {
    const damo_var *v = wanted->at[i];
    if (v->owner != NULL) plan->demand.goals[n_goals++] = number_of_thunk(numbers, v->owner);
  }
  for (int64_t c = 0; c < plan->n_cells; c++) plan->demand.maker[c] = -1;
  for (int64_t k = 0; k < plan->n_thunks; k++) {
    const damo_apply *node = plan->thunks[k]->node;
    for (int o = 0; o < node->n_out; o++) plan->demand.maker[cell_of(p, node->out[o])] = (int32_t)k;
  }
  plan->lazy = true;
  return DAMO_OK;
}

/* (Pairs are computed by demand: a side of one may lie in a branch that is not taken.) */
static damo_status plan_demand(planner *p) {
  if (!p->lazy && p->f->n_pairs == 0) return DAMO_OK;
  map numbers;
  map_init(&numbers, p->plan->ctx);
  damo_status s = fill_demand(p, &numbers);
  map_clear(&numbers);
  return s;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static bool plan_must_copy(const planner *p, const damo_var *v, map *given) {
  int32_t c = cell_of(p, v);
  if (v->owner == NULL || is_alias(v->owner->op->view_map, v->index) || is_alias(v->owner->op->destroy_map, v->index)) {
    return true;
  }
  return map_get(given, (void *)(intptr_t)(c + 2), NULL);
}

/* The input whose buffer output v of its node holds: -1 when it is its own, or one of several. */
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

/* A sparse result is often a pattern with the values of a node before it. Where neither an argument nor another result
 * is in them, they can go with it. */
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
  damo_function *f = p->f;
  for (int64_t i = 0; i < f->n_outputs; i++) {
    damo_var *v = f->fgraph->outputs.at[i];
    fn_output *out = &f->outputs[i];
    hold_constant(p, v);
    out->cell = cell_of(p, v);
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
  damo_function *f = p->f;
  int64_t next = f->n_outputs;
  for (int64_t i = 0; i < f->n_shared; i++) {
    fn_shared *sh = &f->shared[i];
    if (sh->var != NULL) sh->cell = cell_of(p, sh->var);
    if (sh->update_cell < 0) continue;
    damo_var *v = f->fgraph->outputs.at[next++];
    hold_constant(p, v);
    sh->update_cell = cell_of(p, v);
    sh->copy = plan_must_copy(p, v, given);
    DAMO_TRY(map_put(given, (void *)(intptr_t)(sh->update_cell + 2), 1));
  }
  return DAMO_OK;
}

static int32_t place_side(planner *p, int64_t i) {
  damo_var *v = p->f->fgraph->outputs.at[i];
  hold_constant(p, v);
  return cell_of(p, v);
}

static void place_pairs(planner *p) {
  int64_t first = n_wanted(p->f);
  for (int64_t k = 0; k < p->f->n_pairs; k++) {
    p->f->pairs[k].first_cell = place_side(p, first + 2 * k);
    p->f->pairs[k].second_cell = place_side(p, first + 2 * k + 1);
  }
}

static void plan_watch(damo_function *f) {
  if (f->watcher == NULL) return;
  f->plan.step = f->watcher->step;
  f->plan.step_user = f;
  f->plan.frame.watched = f->watcher->watches_inner;
}

/* Whether some thunk may overwrite the input: whether the graph destroys anything, that is, and the input's used. */
static bool may_be_destroyed(const planner *p, const damo_var *v) {
  if (fgraph_clients(p->f->fgraph, v) == NULL) return false;
  for (int64_t k = 0; k < p->nodes.n; k++) {
    if (((const damo_apply *)p->nodes.at[k])->op->destroy_map != NULL) return true;
  }
  return false;
}

static damo_status place_results(planner *p) {
  damo_function *f = p->f;
  map given; /* cells that serve a result already */
  map_init(&given, f->obj.ctx);
  for (int64_t i = 0; i < f->n_inputs; i++) {
    f->inputs[i].cell = cell_of(p, f->fgraph->inputs.at[i]);
    f->inputs[i].destroyed = f->inputs[i].mutable_ && may_be_destroyed(p, f->fgraph->inputs.at[i]);
  }
  damo_status s = place_shared(p, &given); /* first: updates are moved, outputs of the same cell copied */
  if (s == DAMO_OK) s = place_outputs(p, &given);
  if (s == DAMO_OK) place_pairs(p);
  map_clear(&given);
  return s;
}

damo_status plan_build(damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  f->plan = (vm_plan){.ctx = ctx, .frame.ctx = ctx, .failed_at = -1};
  planner p = {.f = f, .plan = &f->plan};
  map_init(&p.place, ctx);
  map_init(&p.maker, ctx);
  ptrvec_init(&p.nodes, ctx);
  ptrvec_init(&p.views, ctx);
  ptrvec_init(&p.transient, ctx);
  ptrvec_init(&p.fresh, ctx);
  damo_status s = destroy_order(f->fgraph, NULL, NULL, &p.nodes);
  if (s == DAMO_OK) s = number_cells(&p);
  if (s != DAMO_OK) f->plan.n_cells = 0;
  if (s == DAMO_OK) s = plan_make_cells(&p);
  if (s == DAMO_OK) s = make_thunks(&p);
  if (s == DAMO_OK) s = plan_demand(&p);
  if (s == DAMO_OK) s = place_results(&p);
  if (s == DAMO_OK) plan_watch(f);
  map_clear(&p.place);
  map_clear(&p.maker);
  ptrvec_clear(&p.nodes);
  ptrvec_clear(&p.views);
  ptrvec_clear(&p.transient);
  ptrvec_clear(&p.fresh);
  mem_free(ctx, p.slots, (size_t)p.slots_cap * sizeof *p.slots);
  return s;
}
