/* eager: values of graphs of constants, computed node by node. Function calls on plain values, constant folding and
 * test values use it. There is no rewriting and no plan: each node's thunk is made, runs once and is freed. */
#include "op.h"

#include <string.h>

static damo_status fail_leaf(damo_ctx *ctx, const damo_var *v) {
  char name[160];
  if (v->type->kind == TYPE_NULL)
    return ctx_fail(ctx, DAMO_ENULL_GRADIENT, "there is no value, it is undefined: %s", v->type->why);
  return ctx_fail(ctx, DAMO_EMISSING_INPUT, "the value of %s is not known: y:eval{[x] = value} takes it",
                  var_format(name, sizeof name, v));
}

/* Runs one node over the values in cells; for slots see thunk_alone_new. */
static damo_status run_node(damo_ctx *ctx, damo_apply *node, cell *cells, const int32_t *slots) {
  thunk_alone *a = thunk_alone_new(ctx, node, cells, slots, NULL);
  if (a == NULL) return damo_error_status(ctx);
  const rounding host = rounding_enter(ctx->reproducible);
  damo_status s = thunk_run(&a->t, &a->f);
  rounding_leave(host);
  if (s == DAMO_OK) s = ctx->stop;
  if (s == DAMO_OK && a->local.n_need > 0)
    s = ctx_fail(ctx, DAMO_EVALUE, "%s asks for inputs that it has", node->op->def->name);
  if (s != DAMO_OK) thunk_blame(&a->t, &a->f);
  thunk_alone_free(a);
  return s;
}

#define SMALL_NODE 8

/* cells has n_in + n_out elements and takes the node's values: first the inputs (borrowed), then the outputs
 * (owned). */
static damo_status run_node_in(damo_ctx *ctx, damo_apply *node, cell *cells, damo_obj **values) {
  int n_in = node->n_in, n_out = node->n_out;
  for (int i = 0; i < n_in; i++) {
    if (node->in[i]->value == NULL) return fail_leaf(ctx, node->in[i]);
    cells[i] = node->in[i]->value;
  }
  for (int i = 0; i < n_out; i++) cells[n_in + i] = NULL;
  damo_status s = run_node(ctx, node, cells, NULL);
  for (int i = 0; i < n_out; i++) {
    values[i] = s == DAMO_OK ? cells[n_in + i] : NULL;
    if (s != DAMO_OK) damo_release(cells[n_in + i]);
  }
  return s;
}

damo_status eager_node(damo_ctx *ctx, damo_apply *node, damo_obj **values) {
  cell small_cells[SMALL_NODE];
  size_t n = (size_t)node->n_in + (size_t)node->n_out;
  if (n <= SMALL_NODE) return run_node_in(ctx, node, small_cells, values);
  cell *cells = mem_alloc(ctx, n * sizeof *cells);
  if (cells == NULL) return DAMO_EMEMORY;
  damo_status s = run_node_in(ctx, node, cells, values);
  mem_free(ctx, cells, n * sizeof *cells);
  return s;
}

/* ---- Whole graphs ------------------------------------------------------------------------------------------------ */

typedef struct evaluation {
  damo_ctx *ctx;
  map place;   /* damo_var* → its cell's number + 1 */
  cell *cells; /* owned values */
  int64_t n, cap;
  int32_t *slots; /* of one node */
  int64_t n_slots;
} evaluation;

static int64_t evaluation_place_of(const evaluation *e, const damo_var *v) {
  uintptr_t place = 0;
  map_get(&e->place, v, &place);
  return (int64_t)place - 1;
}

static damo_status place_leaf(evaluation *e, damo_var *v) {
  if (v->value == NULL) return fail_leaf(e->ctx, v);
  e->cells[e->n] = damo_retain(v->value);
  return map_put(&e->place, v, (uintptr_t)++e->n);
}

static damo_status evaluate_node(evaluation *e, damo_apply *node) {
  for (int i = 0; i < node->n_in; i++) {
    if (evaluation_place_of(e, node->in[i]) < 0) DAMO_TRY(place_leaf(e, node->in[i]));
    e->slots[i] = (int32_t)evaluation_place_of(e, node->in[i]);
  }
  for (int o = 0; o < node->n_out; o++) {
    e->slots[node->n_in + o] = (int32_t)e->n;
    DAMO_TRY(map_put(&e->place, node->out[o], (uintptr_t)++e->n));
  }
  return run_node(e->ctx, node, e->cells, e->slots);
}

/* The nodes are in topological order. Needs at most one cell for each input and output of each node, and one for each
 * of `outputs`. */
static damo_status evaluation_run(evaluation *e, const ptrvec *nodes, damo_var *const *outputs, int64_t n,
                                  damo_obj **values) {
  e->cap = n;
  for (int64_t k = 0; k < nodes->n; k++) {
    const damo_apply *node = nodes->at[k];
    e->cap += node->n_in + node->n_out;
    if (node->n_in + node->n_out > e->n_slots) e->n_slots = node->n_in + node->n_out;
  }
  e->cells = mem_calloc(e->ctx, (size_t)e->cap * sizeof *e->cells);
  e->slots = e->cells != NULL ? mem_alloc(e->ctx, (size_t)e->n_slots * sizeof *e->slots) : NULL;
  if (e->slots == NULL) return DAMO_EMEMORY;
  for (int64_t k = 0; k < nodes->n; k++) DAMO_TRY(evaluate_node(e, nodes->at[k]));
  for (int64_t i = 0; i < n; i++) {
    if (evaluation_place_of(e, outputs[i]) < 0) DAMO_TRY(place_leaf(e, outputs[i]));
  }
  for (int64_t i = 0; i < n; i++) values[i] = damo_retain(e->cells[evaluation_place_of(e, outputs[i])]);
  return DAMO_OK;
}

/* True when the graph is one node over leaves, which runs without a map and a sort. */
static bool is_one_node(damo_var *const *outputs, int64_t n) {
  const damo_apply *node = n == 1 ? outputs[0]->owner : NULL;
  if (node == NULL || node->n_out != 1) return false;
  for (int i = 0; i < node->n_in; i++) {
    if (node->in[i]->owner != NULL) return false;
  }
  return true;
}

damo_status eager_eval(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_obj **values) {
  if (is_one_node(outputs, n)) return eager_node(ctx, outputs[0]->owner, values);
  evaluation e = {.ctx = ctx};
  ptrvec nodes;
  map_init(&e.place, ctx);
  ptrvec_init(&nodes, ctx);
  damo_status s = graph_toposort(ctx, outputs, n, NULL, 0, &nodes);
  if (s == DAMO_OK) s = evaluation_run(&e, &nodes, outputs, n, values);
  for (int64_t i = 0; i < e.n; i++) damo_release(e.cells[i]);
  mem_free(ctx, e.cells, (size_t)e.cap * sizeof *e.cells);
  mem_free(ctx, e.slots, (size_t)e.n_slots * sizeof *e.slots);
  ptrvec_clear(&nodes);
  map_clear(&e.place);
  return s;
}
