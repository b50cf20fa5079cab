/* fgraph.c: FunctionGraph: a graph that knows the users of every Variable. Its construction, features and checks.
 *
 * The lists of users are in fgraph_clients.c, import and pruning of nodes in fgraph_import.c, changes in
 * fgraph_replace.c.
 */
#include "graph_int.h"

#include <string.h>

/* ---- Features and checks ----------------------------------------------------------------------------------------- */

/* A node of two graphs knows the last one alone. */
bool fgraph_has_node(const damo_fgraph *fg, const damo_apply *node) {
  return node->member_of == fg->number || map_get(&fg->nodes, node, NULL);
}

damo_status fgraph_attach(damo_fgraph *fg, fg_feature *feature) {
  DAMO_TRY(ptrvec_push(&fg->features, feature));
  damo_status s = feature->on_attach != NULL ? feature->on_attach(fg, feature->user) : DAMO_OK;
  if (s != DAMO_OK) fg->features.n--;
  return s;
}

void fgraph_detach(damo_fgraph *fg, fg_feature *feature) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    if (fg->features.at[i] != feature) continue;
    memmove(&fg->features.at[i], &fg->features.at[i + 1], (size_t)(fg->features.n - i - 1) * sizeof(void *));
    fg->features.n--;
    if (feature->on_detach != NULL) feature->on_detach(fg, feature->user);
    return;
  }
}

damo_status fgraph_toposort(const damo_fgraph *fg, ptrvec *out) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    const fg_feature *f = fg->features.at[i];
    if (f->order != NULL) return f->order(fg, f->user, out);
  }
  return fgraph_toposort_plain(fg, out);
}

/* graph_toposort's order as it was after that number of changes. Phases of compiling that change nothing ask for it
 * again and again, and a walk over a big graph is one miss of the cache after another. */
typedef struct fg_order {
  ptrvec nodes; /* borrowed */
  uint64_t changes;
} fg_order;

static damo_status order_anew(const damo_fgraph *fg) {
  fg_order *o = fg->order;
  o->nodes.n = 0;
  o->changes = UINT64_MAX;
  DAMO_TRY(graph_toposort(fg->obj.ctx, (damo_var *const *)fg->outputs.at, fg->outputs.n,
                          (damo_var *const *)fg->inputs.at, fg->inputs.n, &o->nodes));
  o->changes = fg->changes;
  return DAMO_OK;
}

damo_status fgraph_toposort_plain(const damo_fgraph *fg, ptrvec *out) {
  const fg_order *o = fg->order;
  if (o->changes != fg->changes) DAMO_TRY(order_anew(fg));
  DAMO_TRY(ptrvec_reserve(out, out->n + o->nodes.n));
  if (o->nodes.n > 0) memcpy(out->at + out->n, o->nodes.at, (size_t)o->nodes.n * sizeof *out->at);
  out->n += o->nodes.n;
  return DAMO_OK;
}

void fgraph_drop_order(damo_fgraph *fg) {
  ptrvec_clear(&fg->order->nodes);
  fg->order->changes = UINT64_MAX;
}

static damo_status order_new(damo_fgraph *fg) {
  fg->order = mem_alloc(fg->obj.ctx, sizeof *fg->order);
  if (fg->order == NULL) return DAMO_EMEMORY;
  ptrvec_init(&fg->order->nodes, fg->obj.ctx);
  fg->order->changes = UINT64_MAX;
  return DAMO_OK;
}

static bool has_client(const damo_fgraph *fg, const damo_var *v, const damo_apply *node, int32_t index) {
  const fg_clients *c = fgraph_clients(fg, v);
  uintptr_t place = 0;
  int32_t first = 0, end = c != NULL ? c->n : 0;
  if (c != NULL && c->places != NULL) { /* a long list: its map is checked too */
    if (!map_get(c->places, fgraph_use_at(fg, node, index), &place)) return false;
    first = (int32_t)place;
    if (first < end) end = first + 1;
  }
  for (int32_t i = first; i < end; i++) {
    if (c->at[i].node == node && c->at[i].index == index) return true;
  }
  return false;
}

/* As many uses are noted as there are: none of a node that is gone, none twice. */
static damo_status check_use_count(const damo_fgraph *fg, int64_t want) {
  int64_t n = 0;
  for (size_t i = 0; i < fg->clients.cap; i++) {
    const map_cell *c = &fg->clients.cells[i];
    if (c->key != 0) n += ((const fg_clients *)c->value)->n;
  }
  if (n == want) return DAMO_OK;
  return ctx_fail(fg->obj.ctx, DAMO_EINCONSISTENCY, "%lld uses are noted, the graph has %lld", (long long)n,
                  (long long)want);
}

static damo_status check_outputs(const damo_fgraph *fg) {
  for (int64_t i = 0; i < fg->outputs.n; i++) {
    if (has_client(fg, fg->outputs.at[i], NULL, (int32_t)i)) continue;
    return ctx_fail(fg->obj.ctx, DAMO_EINCONSISTENCY, "output %lld of the graph is not noted as a use",
                    (long long)i + 1);
  }
  return DAMO_OK;
}

damo_status fgraph_check(const damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  int64_t n_uses = fg->outputs.n;
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  fg->order->changes = UINT64_MAX; /* a node that was changed behind the graph's back is to be found */
  damo_status s = fgraph_toposort(fg, &nodes);
  if (s == DAMO_OK && (size_t)nodes.n != fg->nodes.n) {
    s = ctx_fail(ctx, DAMO_EINCONSISTENCY, "the graph lists %zu nodes, its outputs reach %lld", fg->nodes.n,
                 (long long)nodes.n);
  }
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    damo_apply *node = nodes.at[k];
    n_uses += node->n_in;
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) {
      if (!has_client(fg, node->in[i], node, i)) {
        s = ctx_fail(ctx, DAMO_EINCONSISTENCY, "input %d of a %s node is not noted as a use", i + 1,
                     node->op->def->name);
      }
    }
  }
  if (s == DAMO_OK) s = check_outputs(fg);
  if (s == DAMO_OK) s = check_use_count(fg, n_uses);
  ptrvec_clear(&nodes);
  return s;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void fgraph_destroy(damo_obj *obj) {
  damo_fgraph *fg = (damo_fgraph *)obj;
  for (size_t i = 0; i < fg->clients.cap; i++) {
    map_cell *c = &fg->clients.cells[i];
    if (c->key != 0) clients_free(fg, (fg_clients *)c->value);
  }
  for (size_t i = 0; i < fg->nodes.cap; i++) {
    map_cell *c = &fg->nodes.cells[i];
    if (c->key == 0) continue;
    damo_apply *node = (damo_apply *)c->key;
    if (node->member_of == fg->number) node->member_of = 0;
    damo_release(node);
  }
  map_clear(&fg->clients);
  map_clear(&fg->nodes);
  map_clear(&fg->input_set);
  ptrvec_release_all(&fg->inputs);
  ptrvec_release_all(&fg->outputs);
  ptrvec_clear(&fg->features);
  ptrvec_clear(&fg->work);
  if (fg->order != NULL) ptrvec_clear(&fg->order->nodes);
  mem_free(obj->ctx, fg->order, sizeof *fg->order);
  obj_free(obj, sizeof *fg);
}

static damo_status push_owned(ptrvec *v, damo_var *take) {
  damo_status s = take != NULL ? ptrvec_push(v, take) : DAMO_EMEMORY;
  if (s != DAMO_OK) damo_release(take);
  return s;
}

/* Makes new inputs, then copies the graph above the outputs over them. */
static damo_status take_copies(damo_fgraph *fg, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                               int64_t n_out, map *memo) {
  damo_ctx *ctx = fg->obj.ctx;
  for (int64_t i = 0; i < n_in; i++) {
    DAMO_TRY(push_owned(&fg->inputs, var_new(ctx, inputs[i]->type, inputs[i]->name)));
    DAMO_TRY(map_put(memo, inputs[i], (uintptr_t)fg->inputs.at[i]));
  }
  DAMO_TRY(ptrvec_reserve(&fg->outputs, n_out));
  DAMO_TRY(graph_clone(ctx, outputs, n_out, memo, true, NULL, (damo_var **)fg->outputs.at));
  fg->outputs.n = n_out;
  return DAMO_OK;
}

static damo_status take_originals(damo_fgraph *fg, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                  int64_t n_out) {
  for (int64_t i = 0; i < n_in; i++) DAMO_TRY(push_owned(&fg->inputs, damo_retain(inputs[i])));
  for (int64_t i = 0; i < n_out; i++) DAMO_TRY(push_owned(&fg->outputs, damo_retain(outputs[i])));
  return DAMO_OK;
}

static damo_status fgraph_check_inputs(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in) {
  map seen;
  map_init(&seen, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n_in && s == DAMO_OK; i++) {
    char name[160];
    if (map_get(&seen, inputs[i], NULL)) {
      s = ctx_fail(ctx, DAMO_EVALUE, "%s is listed twice among the inputs; list it once",
                   var_format(name, sizeof name, inputs[i]));
    } else if (inputs[i]->kind != VAR_PLAIN) {
      s = ctx_fail(ctx, DAMO_ETYPE, "%s is a %s Variable, which can't be an input%s",
                   var_format(name, sizeof name, inputs[i]), inputs[i]->kind == VAR_SHARED ? "shared" : "constant",
                   inputs[i]->kind == VAR_SHARED ? ": set_value changes it, givens replace it" : "");
    } else {
      s = map_put(&seen, inputs[i], 1);
    }
  }
  map_clear(&seen);
  return s;
}

damo_fgraph *fgraph_new(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs, int64_t n_out,
                        bool clone, map *memo) {
  if (fgraph_check_inputs(ctx, inputs, n_in) != DAMO_OK) return NULL;
  damo_fgraph *fg = obj_new(ctx, OBJ_FGRAPH, sizeof *fg);
  if (fg == NULL) return NULL;
  fg->number = ++ctx->walks;
  ptrvec_init(&fg->inputs, ctx);
  ptrvec_init(&fg->outputs, ctx);
  ptrvec_init(&fg->features, ctx);
  ptrvec_init(&fg->work, ctx);
  map_init(&fg->nodes, ctx);
  map_init(&fg->clients, ctx);
  map_init(&fg->input_set, ctx);
  map own;
  map_init(&own, ctx);
  damo_status s = order_new(fg);
  if (s == DAMO_OK && clone) s = take_copies(fg, inputs, n_in, outputs, n_out, memo != NULL ? memo : &own);
  if (s == DAMO_OK && !clone) s = take_originals(fg, inputs, n_in, outputs, n_out);
  map_clear(&own);
  for (int64_t i = 0; i < fg->inputs.n && s == DAMO_OK; i++) s = map_put(&fg->input_set, fg->inputs.at[i], 1);
  if (s == DAMO_OK) s = fgraph_import_outputs(fg);
  if (s == DAMO_OK) return fg;
  damo_release(fg);
  return NULL;
}

damo_status fgraph_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_FGRAPH, fgraph_destroy, NULL);
  return DAMO_OK;
}
