/* region.c: finds regions from the outputs backwards: a node's region is the union of what its uses contribute.
 *
 * A use contributes the user's region, or, if the user is a chooser and the input belongs to a branch, the guard for
 * that branch. The union is simplified: the guards for all branches of a chooser are replaced by the chooser's own
 * region, and a guard is dropped if its chooser is needed only when another guard of the set holds.
 */
#include "region.h"

#include "graph_int.h"

/* The union under construction: distinct numbers of guards, ascending. */
typedef struct guard_set {
  int32_t n;
  bool always, too_many;
  int32_t at[REGION_GUARDS_MOST];
} guard_set;

void region_map_init(region_map *m, damo_ctx *ctx) {
  *m = (region_map){.ctx = ctx};
  map_init(&m->of_node, ctx);
  map_init(&m->by_hash, ctx);
  map_init(&m->by_input, ctx);
  ptrvec_init(&m->at, ctx);
  ptrvec_init(&m->guards, ctx);
  ptrvec_init(&m->members, ctx);
}

void region_map_clear(region_map *m) {
  for (int64_t i = 0; i < m->at.n; i++) mem_free(m->ctx, m->at.at[i], sizeof(region));
  for (int64_t i = 0; i < m->guards.n; i++) mem_free(m->ctx, m->guards.at[i], sizeof(region_guard));
  map_clear(&m->of_node);
  map_clear(&m->by_hash);
  map_clear(&m->by_input);
  ptrvec_clear(&m->at);
  ptrvec_clear(&m->guards);
  ptrvec_clear(&m->members);
}

int32_t region_of(const region_map *m, const damo_apply *node) {
  uintptr_t r = 0;
  return map_get(&m->of_node, node, &r) ? (int32_t)r - 3 : REGION_NONE;
}

static const region_guard *guard_at(const region_map *m, int32_t g) {
  damo_assert(g >= 0 && g < m->guards.n);
  return m->guards.at[g];
}

static const region *region_at(const region_map *m, int32_t r) {
  damo_assert(r >= 0 && r < m->at.n);
  return m->at.at[r];
}

static int32_t region_member(const region_map *m, const region *r, int32_t i) {
  return (int32_t)(intptr_t)m->members.at[r->first + i];
}

/* ---- Guards ------------------------------------------------------------------------------------------------------ */

static damo_status add_guard(region_map *m, region_guard like) {
  region_guard *g = mem_alloc(m->ctx, sizeof *g);
  if (g == NULL) return DAMO_EMEMORY;
  *g = like;
  damo_status s = ptrvec_push(&m->guards, g);
  if (s != DAMO_OK) mem_free(m->ctx, g, sizeof *g);
  return s;
}

/* *first: the number of the first guard of the chooser, which is in that region. It has one guard for each branch, with
 * consecutive numbers. */
static damo_status guards_of(region_map *m, damo_apply *chooser, int32_t region_number, int32_t *first) {
  uintptr_t head = 0;
  const op_branches *branches = chooser->op->def->branches;
  map_get(&m->by_input, chooser->in[0], &head);
  for (int32_t g = (int32_t)head - 1; g >= 0; g = guard_at(m, g)->after) {
    *first = g;
    if (guard_at(m, g)->region == region_number && guard_at(m, g)->chooser->op->def->branches == branches)
      return DAMO_OK;
  }
  *first = (int32_t)m->guards.n;
  const region_guard like = {chooser, 0, region_number, *first, (int32_t)head - 1};
  for (int32_t b = 0; b < branches->n; b++) {
    DAMO_TRY(add_guard(m, (region_guard){chooser, b, like.region, like.first, like.after}));
  }
  return map_put(&m->by_input, chooser->in[0], (uintptr_t)*first + 1);
}

/* ---- Unions ------------------------------------------------------------------------------------------------------ */

static bool set_has(const guard_set *s, int32_t g) {
  for (int32_t i = 0; i < s->n; i++) {
    if (s->at[i] == g) return true;
  }
  return false;
}

static void set_add(guard_set *s, int32_t g) {
  if (s->always || set_has(s, g)) return;
  if (s->n == REGION_GUARDS_MOST) {
    s->too_many = true;
    return;
  }
  int32_t i = s->n++;
  for (; i > 0 && s->at[i - 1] > g; i--) s->at[i] = s->at[i - 1];
  s->at[i] = g;
}

static void set_remove(guard_set *s, int32_t g) {
  int32_t n = 0;
  for (int32_t i = 0; i < s->n; i++) {
    if (s->at[i] != g) s->at[n++] = s->at[i];
  }
  s->n = n;
}

static void set_add_region(const region_map *m, guard_set *s, int32_t r) {
  s->always = s->always || r == REGION_NONE;
  for (int32_t i = 0; !s->always && i < region_at(m, r)->n; i++) set_add(s, region_member(m, region_at(m, r), i));
}

/* If the set has the guards of all branches of g's chooser, replaces them by the chooser's region and returns true. */
static bool set_complete(const region_map *m, guard_set *s, int32_t g) {
  const region_guard *guard = guard_at(m, g);
  const int32_t n = guard->chooser->op->def->branches->n;
  for (int32_t b = 0; b < n; b++) {
    if (!set_has(s, guard->first + b)) return false;
  }
  for (int32_t b = 0; b < n; b++) set_remove(s, guard->first + b);
  set_add_region(m, s, guard->region);
  return true;
}

/* If g can only hold when another guard of the set holds, removes it and returns true. */
static bool set_absorb(const region_map *m, guard_set *s, int32_t g) {
  const int32_t r = guard_at(m, g)->region;
  if (r == REGION_NONE) return false;
  for (int32_t i = 0; i < region_at(m, r)->n; i++) {
    if (!set_has(s, region_member(m, region_at(m, r), i))) return false;
  }
  set_remove(s, g);
  return true;
}

static void set_simplify(const region_map *m, guard_set *s) {
  for (int32_t i = 0; i < s->n && !s->always;) {
    const int32_t g = s->at[i];
    i = set_complete(m, s, g) || set_absorb(m, s, g) ? 0 : i + 1;
  }
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static bool region_is(const region_map *m, const region *r, const guard_set *s) {
  if (r->n != s->n) return false;
  for (int32_t i = 0; i < s->n; i++) {
    if (region_member(m, r, i) != s->at[i]) return false;
  }
  return true;
}

/* *number: the number of the region with these guards, which is made if there is none. */
static damo_status region_number(region_map *m, const guard_set *s, int32_t *number) {
  uintptr_t hash = 1469598103u, head = 0;
  for (int32_t i = 0; i < s->n; i++) hash = (hash ^ (uintptr_t)s->at[i]) * 16777619u;
  const void *key = intern_key(hash);
  map_get(&m->by_hash, key, &head);
  for (*number = (int32_t)head - 1; *number >= 0; *number = region_at(m, *number)->after) {
    if (region_is(m, region_at(m, *number), s)) return DAMO_OK;
  }
  region *r = mem_alloc(m->ctx, sizeof *r);
  if (r == NULL) return DAMO_EMEMORY;
  *r = (region){(int32_t)m->members.n, s->n, (int32_t)head - 1};
  *number = (int32_t)m->at.n;
  damo_status status = ptrvec_push(&m->at, r);
  if (status != DAMO_OK) mem_free(m->ctx, r, sizeof *r);
  for (int32_t i = 0; i < s->n && status == DAMO_OK; i++) {
    status = ptrvec_push(&m->members, (const void *)(intptr_t)s->at[i]);
  }
  return status != DAMO_OK ? status : map_put(&m->by_hash, key, (uintptr_t)*number + 1);
}

/* Adds the contribution of a use to the set. */
static damo_status add_use(region_map *m, guard_set *s, fg_client use) {
  const int32_t of_user = use.node != NULL ? region_of(m, use.node) : REGION_NONE;
  const op_branches *branches = use.node != NULL ? use.node->op->def->branches : NULL;
  if (of_user == REGION_ON_DEMAND || (use.node != NULL && op_may_ask(use.node->op->def))) return DAMO_OK;
  if (branches == NULL || use.index == 0) {
    set_add_region(m, s, of_user);
    return DAMO_OK;
  }
  int32_t first;
  DAMO_TRY(guards_of(m, use.node, of_user, &first));
  set_add(s, first + branches->of_input(use.node, use.index));
  return DAMO_OK;
}

/* Determines the node's region. A node without a use (kept for its effect) is always needed. */
static damo_status find_region(region_map *m, const damo_fgraph *fg, damo_apply *node) {
  guard_set s = {.n = 0};
  int64_t n_uses = 0;
  for (int o = 0; o < node->n_out && !s.always; o++) {
    const fg_clients *uses = fgraph_clients(fg, node->out[o]);
    for (int32_t i = 0; uses != NULL && i < uses->n && !s.always; i++, n_uses++) DAMO_TRY(add_use(m, &s, uses->at[i]));
  }
  set_simplify(m, &s);
  m->given_up = m->given_up || s.too_many;
  if (n_uses == 0 || s.always || s.too_many) return DAMO_OK;
  int32_t number = REGION_ON_DEMAND;
  if (s.n > 0) DAMO_TRY(region_number(m, &s, &number));
  return map_put(&m->of_node, node, (uintptr_t)(number + 3));
}

damo_status region_map_find(region_map *m, const damo_fgraph *fg, const ptrvec *nodes) {
  bool any = false;
  for (int64_t k = 0; k < nodes->n && !any; k++) {
    const op_def *def = ((const damo_apply *)nodes->at[k])->op->def;
    any = def->branches != NULL || op_may_ask(def);
  }
  damo_status s = DAMO_OK;
  for (int64_t k = nodes->n - 1; any && k >= 0 && s == DAMO_OK && !m->given_up; k--) {
    s = find_region(m, fg, nodes->at[k]);
  }
  if (s != DAMO_OK || !m->given_up) return s;
  region_map_clear(m);
  region_map_init(m, m->ctx);
  m->given_up = true;
  return DAMO_OK;
}
