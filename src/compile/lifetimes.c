/* lifetimes.c: which cells of a program may lie in a frame's arena, and how long their values are needed.
 *
 * Cells that may share memory, a view and what it views, a result in place and its operand, form a group. A cell of a
 * group whose thunk makes a fresh array is a home, unless something may hold on to the group's memory: a result or an
 * update leaves the call with it, a script's or a host's Op sees it, or a sparse matrix may take it in. The group lives
 * from the thunk that makes it to the last that reads a member, in the order in which the thunks are listed: skipping a
 * segment of them shortens no other's life.
 */
#include "compile_int.h"

#include <stdlib.h>

typedef struct group_facts {
  int32_t up;    /* another cell of the group; the one that stands for it has its own number */
  int32_t death; /* of the one that stands for the group */
  int32_t maker; /* the thunk that fills the cell, -1: none */
  int32_t group; /* of the one that stands for a group with homes: its number, else -1 */
  bool held;     /* of the one that stands for the group: something may hold its memory */
  bool alias;    /* the cell's value is a view, or made in place */
} group_facts;

typedef struct life_scan {
  const fn_program *f;
  vm_program *p;
  group_facts *cells;
} life_scan;

static int32_t life_group(const life_scan *c, int32_t slot) {
  while (c->cells[slot].up != slot) slot = c->cells[slot].up = c->cells[c->cells[slot].up].up;
  return slot;
}

static void life_unite(life_scan *c, int32_t a, int32_t b) { c->cells[life_group(c, a)].up = life_group(c, b); }

static void life_find_groups(life_scan *c) {
  for (int32_t i = 0; i < c->p->n_cells; i++)
    c->cells[i] = (group_facts){.up = i, .death = -1, .maker = -1, .group = -1};
  for (int32_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    const op_alias *const maps[] = {t->node->op->view_map, t->node->op->destroy_map};
    for (int o = 0; o < t->n_out; o++) c->cells[t->out[o]].maker = k;
    for (int m = 0; m < 2; m++) {
      for (const op_alias *a = maps[m]; a != NULL && a->out >= 0; a++) {
        if (a->out >= t->n_out || a->in >= t->n_in) continue;
        c->cells[t->out[a->out]].alias = true;
        life_unite(c, t->out[a->out], t->in[a->in]);
      }
    }
  }
}

static void life_hold(life_scan *c, int32_t slot) { c->cells[life_group(c, slot)].held = true; }
static void life_reach(life_scan *c, int32_t slot, int32_t k) {
  group_facts *g = &c->cells[life_group(c, slot)];
  if (k > g->death) g->death = k;
}

static void life_use(life_scan *c, const damo_var *v, int32_t slot, int32_t k, bool may_hold) {
  life_reach(c, slot, k);
  if (may_hold || !type_is_tensor(v->type)) life_hold(c, slot);
}

static void life_find_uses(life_scan *c) {
  for (int32_t k = 0; k < c->p->n_thunks; k++) {
    const thunk *t = c->p->thunks[k];
    const op_def *def = t->node->op->def;
    const bool may_hold = def->one_context || def->perform_lua != NULL;
    for (int i = 0; i < t->n_in; i++) life_use(c, t->node->in[i], t->in[i], k, may_hold);
    for (int o = 0; o < t->n_out; o++) life_use(c, t->node->out[o], t->out[o], k, may_hold);
  }
}

static void life_leaves(life_scan *c, int32_t slot, bool copy) {
  life_reach(c, slot, (int32_t)c->p->n_thunks);
  if (!copy) life_hold(c, slot);
}

static void life_find_results(life_scan *c) {
  const fn_program *f = c->f;
  for (int64_t i = 0; i < f->n_outputs; i++) {
    life_leaves(c, f->outputs[i].cell, f->outputs[i].copy && !f->outputs[i].borrow);
    for (int k = 0; k < f->outputs[i].n_along; k++) life_hold(c, f->outputs[i].along[k]);
  }
  for (int64_t i = 0; i < f->n_shared; i++) {
    if (f->shared[i].update_cell >= 0) life_leaves(c, f->shared[i].update_cell, f->shared[i].copy);
  }
  for (int64_t i = 0; i < c->p->n_transient; i++) {
    const int32_t slot = c->p->transient[i];
    if (c->cells[slot].maker >= 0) life_hold(c, slot);
  }
}

static bool is_home(const life_scan *c, int32_t slot) {
  return c->cells[slot].maker >= 0 && !c->cells[slot].alias && !c->cells[life_group(c, slot)].held;
}

/* Counts the homes, the groups with homes, and the other cells that thunks fill in these. */
static void life_count(life_scan *c) {
  vm_program *p = c->p;
  for (int32_t i = 0; i < p->n_cells; i++) {
    if (!is_home(c, i)) continue;
    int32_t *group = &c->cells[life_group(c, i)].group;
    if (*group < 0) *group = (int32_t)p->n_groups++;
    p->n_homes++;
  }
  for (int32_t i = 0; i < p->n_cells; i++) p->n_aliases += c->cells[i].alias && c->cells[life_group(c, i)].group >= 0;
}

static damo_status life_alloc(vm_program *p, damo_ctx *ctx) {
  const int64_t n = p->n_homes, n_groups = p->n_groups, n_aliases = p->n_aliases;
  p->n_homes = p->n_groups = p->n_aliases = 0; /* what vm_program_clear frees */
  p->homes = mem_alloc(ctx, (size_t)n * sizeof *p->homes);
  p->by_death = mem_alloc(ctx, (size_t)n * sizeof *p->by_death);
  p->home_of = mem_alloc(ctx, (size_t)p->n_cells * sizeof *p->home_of);
  p->aliases = mem_alloc(ctx, (size_t)n_aliases * sizeof *p->aliases);
  p->alias_first = mem_calloc(ctx, (size_t)(n_groups + 1) * sizeof *p->alias_first);
  if (p->homes != NULL && p->by_death != NULL && p->home_of != NULL && p->aliases != NULL && p->alias_first != NULL) {
    p->n_homes = n;
    p->n_groups = n_groups;
    p->n_aliases = n_aliases;
    return DAMO_OK;
  }
  mem_free(ctx, p->homes, (size_t)n * sizeof *p->homes);
  mem_free(ctx, p->by_death, (size_t)n * sizeof *p->by_death);
  mem_free(ctx, p->aliases, (size_t)n_aliases * sizeof *p->aliases);
  if (p->alias_first != NULL) mem_free(ctx, p->alias_first, (size_t)(n_groups + 1) * sizeof *p->alias_first);
  p->homes = NULL;
  p->by_death = p->aliases = p->alias_first = NULL;
  return DAMO_EMEMORY;
}

/* Lists the homes by birth and by death: the thunks are gone through once for each. */
static void life_fill_homes(life_scan *c) {
  vm_program *p = c->p;
  int64_t n = 0;
  for (int64_t i = 0; i < p->n_cells; i++) p->home_of[i] = -1;
  for (int32_t k = 0; k < p->n_thunks; k++) {
    const thunk *t = p->thunks[k];
    for (int o = 0; o < t->n_out; o++) {
      if (!is_home(c, t->out[o])) continue;
      const group_facts *g = &c->cells[life_group(c, t->out[o])];
      p->home_of[t->out[o]] = (int32_t)n;
      p->homes[n++] = (vm_home){t->out[o], k, g->death, g->group};
    }
  }
  damo_assert(n == p->n_homes);
}

static int compare_deaths(const void *x, const void *y) {
  const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

static damo_status life_sort_deaths(vm_program *p, damo_ctx *ctx) {
  int64_t *keys = mem_alloc(ctx, (size_t)p->n_homes * sizeof *keys);
  if (keys == NULL) return DAMO_EMEMORY;
  for (int64_t h = 0; h < p->n_homes; h++) keys[h] = ((int64_t)p->homes[h].death << 32) | h;
  qsort(keys, (size_t)p->n_homes, sizeof *keys, compare_deaths);
  for (int64_t h = 0; h < p->n_homes; h++) p->by_death[h] = (int32_t)(keys[h] & INT32_MAX);
  mem_free(ctx, keys, (size_t)p->n_homes * sizeof *keys);
  return DAMO_OK;
}

static void life_fill_aliases(life_scan *c) {
  vm_program *p = c->p;
  for (int32_t i = 0; i < p->n_cells; i++) {
    const int32_t g = c->cells[i].alias ? c->cells[life_group(c, i)].group : -1;
    if (g >= 0) p->alias_first[g + 1]++;
  }
  for (int64_t g = 0; g < p->n_groups; g++) p->alias_first[g + 1] += p->alias_first[g];
  for (int32_t i = (int32_t)p->n_cells - 1; i >= 0;
       i--) { /* each group's part is filled from its end: alias_first + 1 */
    const int32_t g = c->cells[i].alias ? c->cells[life_group(c, i)].group : -1;
    if (g >= 0) p->aliases[--p->alias_first[g + 1]] = i;
  }
  for (int64_t g = 0; g < p->n_groups; g++) p->alias_first[g] = p->alias_first[g + 1];
  p->alias_first[p->n_groups] = (int32_t)p->n_aliases;
}

static damo_status life_list(life_scan *c) {
  life_find_groups(c);
  life_find_uses(c);
  life_find_results(c);
  life_count(c);
  if (c->p->n_homes == 0) return DAMO_OK;
  DAMO_TRY(life_alloc(c->p, c->f->ctx));
  life_fill_homes(c);
  life_fill_aliases(c);
  return life_sort_deaths(c->p, c->f->ctx);
}

damo_status plan_lifetimes(fn_program *program) {
  vm_program *p = &program->vm;
  if (p->by_demand || program->watcher != NULL || p->n_cells == 0) return DAMO_OK;
  life_scan c = {.f = program, .p = p};
  c.cells = mem_alloc(program->ctx, (size_t)p->n_cells * sizeof *c.cells);
  if (c.cells == NULL) return DAMO_EMEMORY;
  const damo_status s = life_list(&c);
  mem_free(program->ctx, c.cells, (size_t)p->n_cells * sizeof *c.cells);
  return s;
}
