/* protect.c: inserts copies so that no Op overwrites a value that is still needed. If destroy_order finds an order of
 * the nodes that is safe, no copy is needed; if thunks may ask for inputs while they run, there is no fixed order, so
 * everything that is not obviously safe is copied. */
#include "compile_int.h"
#include "graph/region.h"
#include "op/elem/build_arith.h"
#include "op/op.h"
#include "op/sparse/build_sparse.h"
#include "rewrite/rewrite.h"

/* A copy of x in the graph. Of a sparse matrix only the data are copied, because index arrays are never written. */
static damo_var *copied(build *b, damo_var *x) {
  if (!type_is_sparse(x->type)) return build_identity(b, x);
  return build_with_data(b, x, build_identity(b, build_data(b, x)));
}

static damo_status protect_input(damo_fgraph *fg, damo_apply *node, int i) {
  damo_assert(op_alias_has(node->op->destroy_map, -1, i));
  build b;
  build_init(&b, fg->obj.ctx);
  damo_var *copy = copied(&b, node->in[i]);
  damo_status s = copy != NULL ? fgraph_change_input_trusted(fg, node, i, copy, "protect_destroyed") : b.status;
  damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}

/* A cheap test before any order is computed. A destroyed value that is no leaf, no view, not viewed, and used by its
 * destroyer alone is safe; any other is doubtful. lazy: the graph has Ops that may be lazy. */
typedef struct glance {
  bool destroyers, doubtful;
  bool by_demand; /* some thunk may ask for inputs while it runs */
} glance;

static glance glance_at(const damo_fgraph *fg, const ptrvec *nodes) {
  glance g = {false, false, false};
  for (int64_t k = 0; k < nodes->n; k++) {
    const damo_apply *node = nodes->at[k];
    g.by_demand = g.by_demand || op_may_ask(node->op->def);
    for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
      g.destroyers = true;
      g.doubtful = g.doubtful || a->in >= node->n_in || rewrite_must_last(fg, node->in[a->in]);
    }
  }
  return g;
}

/* Copies every doubtful value: the order is only known when the thunks run. */
static damo_status protect_all(damo_fgraph *fg, const ptrvec *nodes) {
  for (int64_t k = 0; k < nodes->n; k++) {
    damo_apply *node = nodes->at[k];
    for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
      if (a->in < node->n_in && rewrite_must_last(fg, node->in[a->in])) DAMO_TRY(protect_input(fg, node, a->in));
    }
  }
  return DAMO_OK;
}

/* Copies the input that destroy_order complains about, until there is an order. Each round removes one conflict. *none:
 * no copy can make an order, because the conditions of branches depend on each other; the program then runs on
 * demand. */
static damo_status protect_by_order(damo_fgraph *fg, bool *none) {
  region_map regions;
  const destroy_rules rules = {.protect_shared = true, .regions = &regions};
  ptrvec order;
  ptrvec_init(&order, fg->obj.ctx);
  damo_status s = DAMO_OK;
  *none = false;
  for (bool again = true; again && s == DAMO_OK;) {
    destroy_offence at;
    order.n = 0;
    region_map_init(&regions, fg->obj.ctx);
    s = destroy_order(fg, &rules, &at, &order);
    *none = regions.given_up || (s == DAMO_EINCONSISTENCY && at.node == NULL);
    again = s == DAMO_EINCONSISTENCY && !*none;
    region_map_clear(&regions);
    if (s == DAMO_EINCONSISTENCY) {
      ctx_clear_error(fg->obj.ctx);
      s = *none ? DAMO_OK : protect_input(fg, at.node, at.in);
    }
  }
  ptrvec_clear(&order);
  return s;
}

static damo_status protect_doubtful(damo_fgraph *fg, const ptrvec *nodes, bool by_demand) {
  if (!by_demand) DAMO_TRY(protect_by_order(fg, &by_demand));
  return by_demand ? protect_all(fg, nodes) : DAMO_OK;
}

static damo_status protect(damo_fgraph *fg, bool by_demand) {
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  if (s == DAMO_OK) {
    glance g = glance_at(fg, &nodes);
    if (g.doubtful) s = protect_doubtful(fg, &nodes, by_demand || g.by_demand);
  }
  ptrvec_clear(&nodes);
  DAMO_TRY(s);
  DAMO_TRY_DEBUG(fgraph_check(fg));
  return DAMO_OK;
}

damo_status protect_destroyed(damo_fgraph *fg) { return protect(fg, false); }
damo_status protect_for_demand(damo_fgraph *fg) { return protect(fg, true); }
