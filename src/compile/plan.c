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
  ptrvec in, out;
} planner;

static int32_t cell_of(const planner *p, const damo_var *v) {
  uintptr_t place = 0;
  map_get(&p->place, v, &place);
  return (int32_t)place - 1;
}

static damo_status new_cell(planner *p, damo_var *v) { return map_put(&p->place, v, (uintptr_t)++p->plan->n_cells); }

static bool is_alias(const op_alias *a, int out) {
  for (; a != NULL && a->out >= 0; a++) {
    if (a->out == out) return true;
  }
  return false;
}

static damo_status count_leaf(planner *p, damo_var *v) {
  if (cell_of(p, v) >= 0) return DAMO_OK;
  DAMO_TRY(new_cell(p, v));
  if (v->kind == VAR_CONSTANT) return DAMO_OK;
  return ptrvec_push(&p->transient, (void *)(intptr_t)cell_of(p, v));
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
  return DAMO_OK;
}

static damo_status take_numbers(damo_ctx *ctx, const ptrvec *v, int32_t **out, int64_t *n) {
  *out = mem_alloc(ctx, (size_t)v->n * sizeof **out);
  if (*out == NULL) return DAMO_EMEMORY;
  *n = v->n;
  for (int64_t i = 0; i < v->n; i++) (*out)[i] = (int32_t)(intptr_t)v->at[i];
  return DAMO_OK;
}

static damo_status make_cells(planner *p) {
  vm_plan *plan = p->plan;
  int64_t n = plan->n_cells;
  plan->cells = mem_calloc(plan->ctx, (size_t)n * sizeof *plan->cells);
  if (plan->cells == NULL) {
    plan->n_cells = 0;
    return DAMO_EMEMORY;
  }
  DAMO_TRY(take_numbers(plan->ctx, &p->views, &plan->views, &plan->n_views));
  return take_numbers(plan->ctx, &p->transient, &plan->transient, &plan->n_transient);
}

static void hold_constant(planner *p, damo_var *v) {
  cell *c = &p->plan->cells[cell_of(p, v)];
  if (v->kind == VAR_CONSTANT && *c == NULL) *c = damo_retain(v->value);
}

static damo_status make_thunk(planner *p, damo_apply *node) {
  vm_plan *plan = p->plan;
  DAMO_TRY(ptrvec_reserve(&p->in, node->n_in));
  DAMO_TRY(ptrvec_reserve(&p->out, node->n_out));
  for (int i = 0; i < node->n_in; i++) {
    hold_constant(p, node->in[i]);
    p->in.at[i] = &plan->cells[cell_of(p, node->in[i])];
  }
  for (int o = 0; o < node->n_out; o++) p->out.at[o] = &plan->cells[cell_of(p, node->out[o])];
  thunk *t = thunk_new(plan->ctx, node, (cell **)p->in.at, (cell **)p->out.at);
  if (t == NULL) return DAMO_EMEMORY;
  plan->thunks[plan->n_thunks++] = t;
  return map_put(&p->maker, node, (uintptr_t)t);
}

static damo_status make_thunks(planner *p) {
  vm_plan *plan = p->plan;
  plan->thunks = mem_alloc(plan->ctx, (size_t)p->nodes.n * sizeof *plan->thunks);
  if (plan->thunks == NULL) return DAMO_EMEMORY;
  plan->thunk_room = p->nodes.n;
  for (int64_t k = 0; k < p->nodes.n; k++) DAMO_TRY(make_thunk(p, p->nodes.at[k]));
  return DAMO_OK;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static bool must_copy(const planner *p, const damo_var *v, map *given) {
  int32_t c = cell_of(p, v);
  if (v->owner == NULL || is_alias(v->owner->op->view_map, v->index) || is_alias(v->owner->op->destroy_map, v->index)) {
    return true;
  }
  return map_get(given, (void *)(intptr_t)(c + 2), NULL);
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
    out->copy = must_copy(p, v, given);
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
    sh->copy = must_copy(p, v, given);
    DAMO_TRY(map_put(given, (void *)(intptr_t)(sh->update_cell + 2), 1));
  }
  return DAMO_OK;
}

static damo_status place_results(planner *p) {
  damo_function *f = p->f;
  map given; /* cells that serve a result already */
  map_init(&given, f->obj.ctx);
  for (int64_t i = 0; i < f->n_inputs; i++) f->inputs[i].cell = cell_of(p, f->fgraph->inputs.at[i]);
  damo_status s = place_shared(p, &given); /* first: updates are moved, outputs of the same cell copied */
  if (s == DAMO_OK) s = place_outputs(p, &given);
  map_clear(&given);
  return s;
}

damo_status plan_build(damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  f->plan = (vm_plan){.ctx = ctx, .failed_at = -1};
  planner p = {.f = f, .plan = &f->plan};
  map_init(&p.place, ctx);
  map_init(&p.maker, ctx);
  ptrvec_init(&p.nodes, ctx);
  ptrvec_init(&p.views, ctx);
  ptrvec_init(&p.transient, ctx);
  ptrvec_init(&p.in, ctx);
  ptrvec_init(&p.out, ctx);
  damo_status s = fgraph_toposort(f->fgraph, &p.nodes);
  if (s == DAMO_OK) s = number_cells(&p);
  if (s != DAMO_OK) f->plan.n_cells = 0;
  if (s == DAMO_OK) s = make_cells(&p);
  if (s == DAMO_OK) s = make_thunks(&p);
  if (s == DAMO_OK) s = place_results(&p);
  map_clear(&p.place);
  map_clear(&p.maker);
  ptrvec_clear(&p.nodes);
  ptrvec_clear(&p.views);
  ptrvec_clear(&p.transient);
  ptrvec_clear(&p.in);
  ptrvec_clear(&p.out);
  return s;
}
