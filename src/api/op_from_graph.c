/* op_from_graph.c: OpFromGraph: a graph as an Op.
 *
 * In: the inputs and outputs of a graph. Out: an Op with a class of its own (op_from_graph). The inner graph is a copy
 * that does not change. Shared Variables in it become further inputs, which applying the Op adds, so that their values
 * are read in each call and gradients reach them. The inner graph is compiled once; each thunk runs a copy of that
 * Function, with a frame of its own, whose results become the outputs without a copy. Shapes are inferred from a copy of
 * the inner graph in the graph around the node, and a rewrite rule replaces nodes that are to be inlined by it.
 * Gradients are in op_from_graph_grad.c.
 */
#include <stdio.h>
#include <string.h>

#include "api_int.h"
#include "compile/inner.h"
#include "graph/recipe.h"
#include "op/op.h"
#include "rewrite/rewrite.h"

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void release_list(damo_ctx *ctx, void *at, int n) {
  void **list = at;
  if (list == NULL) return;
  for (int i = 0; i < n; i++) damo_release(list[i]);
  mem_free(ctx, list, (size_t)n * sizeof *list);
}

static void graph_destroy(damo_obj *obj) {
  op_from_graph *g = (op_from_graph *)obj;
  damo_ctx *ctx = obj->ctx;
  if (g->source != NULL) g->source->derived[g->which] = NULL;
  for (int k = 0; k < 2; k++) {
    if (g->derived[k] != NULL) g->derived[k]->source = NULL;
  }
  mem_strfree(ctx, g->name);
  mem_strfree(ctx, g->mode);
  damo_release(g->fgraph);
  release_list(ctx, g->shared, g->n_in - g->n_given);
  if (g->connected != NULL) mem_free(ctx, g->connected, (size_t)g->n_in * (size_t)g->n_out);
  for (int i = 0; i < 2; i++) damo_release(g->fn[i]);
  damo_release(g->lop_op);
  damo_release(g->rop_op);
  if (g->pick != NULL) mem_free(ctx, g->pick, (size_t)g->n_pick * sizeof *g->pick);
  release_list(ctx, g->lack, g->n_result);
  if (g->from != NULL) mem_free(ctx, g->from, (size_t)g->n_from);
  obj_free(obj, sizeof *g);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

/* x converted to the Type of inner input i: a weak literal takes its dtype from that input, any other x is cast if that
 * loses nothing. NULL with an error if the Types do not fit. */
static damo_var *fit_input(build *b, const op_from_graph *g, int i, damo_var *x) {
  damo_assert(i >= 0 && i < g->n_in && g->n_in <= g->fgraph->inputs.n);
  const damo_type *want = ((damo_var *)g->fgraph->inputs.at[i])->type;
  damo_var *fit[2] = {g->fgraph->inputs.at[i], x};
  if (x->weak && build_resolve(b, fit, 2, false, fit) != DAMO_OK) return NULL;
  x = fit[1];
  bool tensors = type_is_tensor(want) && type_is_tensor(x->type) && want->ndim == x->type->ndim;
  if (tensors && x->type->dtype != want->dtype && dtype_can_cast_safely(x->type->dtype, want->dtype)) {
    x = build_cast(b, x, want->dtype);
  }
  if (x == NULL || type_is_compatible(want, x->type)) return x;
  char a[320], c[320];
  return build_fail(b, DAMO_ETYPE, "%s: input %d must be %s, got %s", g->def.name, i + 1,
                    type_format(a, sizeof a, want), type_format(c, sizeof c, x->type));
}

static damo_status graph_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const op_from_graph *g = op_from_graph_at(op);
  (void)in;
  (void)n_in;
  for (int o = 0; o < g->n_out; o++) {
    out[o] = type_without_pattern(((damo_var *)g->fgraph->outputs.at[o])->type);
    if (out[o] == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_apply *graph_make_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  op_from_graph *g = op_from_graph_at(op);
  if (n_in != g->n_given && n_in != g->n_in) {
    build_fail(b, DAMO_ETYPE, "%s: expected %d input%s, got %d", g->def.name, g->n_given, g->n_given == 1 ? "" : "s",
               n_in);
    return NULL;
  }
  size_t bytes = ((size_t)g->n_in + (size_t)g->n_out) * sizeof(void *);
  damo_var **all = mem_calloc(b->ctx, bytes);
  if (all == NULL) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  damo_type **types = (damo_type **)(all + g->n_in);
  for (int i = 0; i < g->n_in; i++) all[i] = fit_input(b, g, i, i < n_in ? in[i] : g->shared[i - g->n_given]);
  damo_status s = graph_types(op, all, g->n_in, types);
  damo_apply *node = b->status == DAMO_OK && s == DAMO_OK ? apply_new(b->ctx, op, all, g->n_in, types, g->n_out) : NULL;
  if (node == NULL && b->status == DAMO_OK) b->status = DAMO_EMEMORY;
  for (int o = 0; o < g->n_out; o++) damo_release(types[o]);
  mem_free(b->ctx, all, bytes);
  return node;
}

static int graph_count_out(const damo_op *op, int n_in) {
  (void)n_in;
  return op_from_graph_at(op)->n_out;
}

static damo_fgraph *graph_inner(const damo_op *op) { return op_from_graph_at(op)->fgraph; }

static void graph_connections(const damo_apply *node, bool *connected) {
  const op_from_graph *g = op_from_graph_at(node->op);
  memcpy(connected, g->connected, (size_t)g->n_in * (size_t)g->n_out);
}

static bool graph_folds(const damo_apply *node) { return inner_traits_of(op_from_graph_at(node->op)->fgraph).folds; }

/* ---- What the graph says about the Op ----------------------------------------------------------------------------- */

/* Derives g->connected, shapes_known, impure and nonfinite from the inner graph. */
static damo_status look_inside(op_from_graph *g) {
  const inner_traits traits = inner_traits_of(g->fgraph);
  g->shapes_known = traits.shapes_known;
  g->def.impure = traits.impure;
  g->def.nonfinite = traits.nonfinite;
  return inner_connections(g->fgraph, g->connected);
}

/* ---- Thunks ------------------------------------------------------------------------------------------------------ */

/* The state of a thunk is its copy of the inner Function (owned; NULL until the first run). */
typedef struct op_from_graph_state {
  damo_function *f;
} op_from_graph_state;

static inner_graph op_from_graph_inner(op_from_graph *g) {
  return (inner_graph){.fgraph = g->fgraph, .name = g->name, .mode = g->mode, .fn = g->fn};
}

damo_function *op_from_graph_function(op_from_graph *g) {
  const inner_graph inner = op_from_graph_inner(g);
  return inner_function(&inner, false);
}

static damo_function *thunk_function(const thunk *t, frame *f) {
  op_from_graph_state *state = thunk_state(t, f);
  if (state->f != NULL) return state->f;
  const inner_graph inner = op_from_graph_inner(op_from_graph_at(t->node->op));
  return state->f = inner_function_for(&inner, f);
}

static damo_status op_from_graph_prepare_foreign(const thunk *t, frame *f) {
  return thunk_function(t, f) != NULL ? DAMO_OK : damo_error_status(f->ctx);
}

const damo_function *op_from_graph_running(const thunk *t, const frame *f) {
  return op_from_graph_of(t->node->op) != NULL ? ((const op_from_graph_state *)thunk_state(t, f))->f : NULL;
}

static damo_status run_inner(const thunk *t, frame *f, damo_function *inner, damo_obj **args) {
  damo_assert(inner->obj.ctx == f->ctx && inner->program->n_inputs >= t->n_in && inner->program->n_outputs >= t->n_out);
  for (int i = 0; i < t->n_in; i++) args[i] = thunk_value(t, f, i);
  /* so that the inner cells are the only holders of the last results */
  for (int o = 0; o < t->n_out; o++) thunk_set_out(t, f, o, NULL);
  damo_status s = function_run(inner, args, t->n_in, NULL);
  if (s != DAMO_OK) {
    ctx_fail_add(f->ctx, "while computing %s", t->node->op->def->name);
    return s;
  }
  for (int o = 0; o < t->n_out; o++) thunk_set_out(t, f, o, function_take(inner, o));
  function_finish(inner);
  return DAMO_OK;
}

#define SMALL_IN 16

static damo_status op_from_graph_perform(const thunk *t, frame *f) {
  damo_function *inner = thunk_function(t, f);
  if (inner == NULL) return damo_error_status(f->ctx);
  damo_obj *small[SMALL_IN];
  if (t->n_in <= SMALL_IN) return run_inner(t, f, inner, small);
  damo_obj **args = thunk_scratch(t, f, (size_t)t->n_in * sizeof *args);
  return args != NULL ? run_inner(t, f, inner, args) : DAMO_EMEMORY;
}

static void op_from_graph_state_clear(const thunk *t, frame *f) {
  damo_release(((op_from_graph_state *)thunk_state(t, f))->f);
}

/* ---- The inner graph copied into the graph around a node --------------------------------------------------------- */

/* The node's input i as a Variable of the inner input's Type. If the input's Type says less (an unknown dimension), a
 * node is added that checks the value at run time. */
static damo_var *fitted_input(build *b, const op_from_graph *g, const damo_apply *node, int i) {
  const damo_var *inner = g->fgraph->inputs.at[i];
  char name[160], input[200];
  if (type_is_super(inner->type, node->in[i]->type)) return node->in[i];
  snprintf(input, sizeof input, "input %d (%s)", i + 1, var_format(name, sizeof name, inner));
  damo_obj *trace = graph_notes_of(b->ctx)->trace;
  graph_notes_of(b->ctx)->trace = node->trace != NULL ? &node->trace->obj : NULL;
  damo_var *fit = build_of_type(b, node->in[i], inner->type, g->def.name, input);
  graph_notes_of(b->ctx)->trace = trace;
  return fit;
}

damo_status op_from_graph_unfold(build *b, const op_from_graph *g, damo_apply *node, damo_var *const *what, int n,
                                 damo_var **out) {
  damo_assert(node->n_in >= g->n_in && g->fgraph->inputs.n >= g->n_in);
  map memo;
  map_init(&memo, b->ctx);
  damo_status s = DAMO_OK;
  for (int i = 0; i < g->n_in && s == DAMO_OK; i++) {
    damo_var *fit = fitted_input(b, g, node, i);
    s = fit != NULL ? map_put(&memo, g->fgraph->inputs.at[i], (uintptr_t)fit) : b->status;
  }
  /* every node is copied: a shared one would change with the graph that it is put into */
  if (s == DAMO_OK) s = graph_clone(b->ctx, what, n, &memo, true, NULL, out);
  map_clear(&memo);
  for (int i = 0; i < n && s == DAMO_OK; i++) {
    if (build_take(b, out[i]) == NULL) s = b->status;
  }
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return b->status;
}

static damo_var **unfold_outputs(build *b, const op_from_graph *g, damo_apply *node, size_t bytes) {
  damo_var **out = mem_calloc(b->ctx, bytes);
  if (out == NULL) {
    b->status = DAMO_EMEMORY;
  } else {
    op_from_graph_unfold(b, g, node, (damo_var *const *)g->fgraph->outputs.at, g->n_out, out);
  }
  return out;
}

/* The lengths are those of the unfolded outputs. Rewriting expresses them by the inputs' lengths, so nothing of the
 * copy is computed. */
static damo_status op_from_graph_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                             damo_var ***out_shape) {
  const op_from_graph *g = op_from_graph_at(node->op);
  (void)in_shape;
  if (!g->shapes_known) return DAMO_OK;
  size_t bytes = (size_t)g->n_out * sizeof(damo_var *);
  damo_var **out = unfold_outputs(b, g, node, bytes);
  for (int o = 0; o < g->n_out && b->status == DAMO_OK; o++) {
    if (!type_is_tensor(out[o]->type)) continue;
    for (int k = 0; k < var_ndim(out[o]); k++) out_shape[o][k] = build_dim(b, out[o], k);
  }
  if (out != NULL) mem_free(b->ctx, out, bytes);
  return b->status;
}

static damo_status inline_node(damo_fgraph *fg, damo_apply *node) {
  const op_from_graph *g = op_from_graph_at(node->op);
  build b;
  build_init(&b, fg->obj.ctx);
  damo_obj *trace = graph_notes_of(b.ctx)->trace;
  size_t bytes = (size_t)g->n_out * sizeof(damo_var *);
  damo_var **out = unfold_outputs(&b, g, node, bytes);
  damo_status s = b.status;
  if (s == DAMO_OK) s = fgraph_replace_trusted(fg, node->out, out, g->n_out, "inline_op_from_graph");
  graph_notes_of(b.ctx)->trace = trace;
  if (out != NULL) mem_free(b.ctx, out, bytes);
  damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}

static bool is_inlined(const damo_apply *node) {
  const op_from_graph *g = op_from_graph_of(node->op);
  return g != NULL && g->inlined;
}

/* Inlines all nodes once. *any: there were some; the copies may contain further ones. */
static damo_status inline_sweep(damo_fgraph *fg, bool *any) {
  ptrvec nodes;
  *any = false;
  for (size_t i = 0; i < fg->nodes.cap && !*any; i++) {
    uintptr_t key = fg->nodes.cells[i].key;
    *any = key != 0 && is_inlined((const damo_apply *)key);
  }
  if (!*any) return DAMO_OK;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    if (fgraph_has_node(fg, nodes.at[k]) && is_inlined(nodes.at[k])) s = inline_node(fg, nodes.at[k]);
  }
  ptrvec_clear(&nodes);
  return s;
}

static damo_status inline_all(damo_fgraph *fg) {
  for (bool any = true; any;) DAMO_TRY(inline_sweep(fg, &any));
  return DAMO_OK;
}

static const rewrite_rule op_from_graph_inline_rule = {.name = "inline_op_from_graph",
                                                       .phase = PHASE_CANONICALIZE,
                                                       .tags = "fast_run fast_compile inline",
                                                       .global = inline_all};

/* ---- Updates ----------------------------------------------------------------------------------------------------- */

/* The number of the inner input that v is; -1: none. */
static int inner_place(const op_from_graph *g, const damo_var *v) {
  for (int i = 0; i < g->n_in; i++) {
    if (g->fgraph->inputs.at[i] == v) return i;
  }
  return -1;
}

/* Lists what the nodes of the inner graph update: their outputs with the new values, and the inner inputs that stand for
 * the shared Variables; then in `values` a result of each node that holds a graph with updates. */
static damo_status list_updates(const op_from_graph *g, const ptrvec *nodes, ptrvec *inputs, ptrvec *values) {
  for (int64_t k = 0; k < nodes->n; k++) {
    damo_apply *node = nodes->at[k];
    const op_def *def = node->op->def;
    for (const op_alias *a = def->updates_by_hand ? NULL : def->update_map; a != NULL && a->out >= 0; a++) {
      if (inner_place(g, node->in[a->in]) < 0) continue;
      DAMO_TRY(ptrvec_push(inputs, node->in[a->in]));
      DAMO_TRY(ptrvec_push(values, node->out[a->out]));
    }
  }
  for (int64_t k = 0; k < nodes->n; k++) {
    damo_apply *node = nodes->at[k];
    if (node->op->def->inner_updates != NULL) DAMO_TRY(ptrvec_push(values, node->out[0]));
  }
  return DAMO_OK;
}

static damo_status graph_updates(build *b, damo_apply *node, ptrvec *of, ptrvec *to, ptrvec *more) {
  const op_from_graph *g = op_from_graph_at(node->op);
  ptrvec nodes, inputs, values;
  ptrvec *const lists[] = {&nodes, &inputs, &values};
  for (int i = 0; i < 3; i++) ptrvec_init(lists[i], b->ctx);
  damo_status s = fgraph_toposort(g->fgraph, &nodes);
  if (s == DAMO_OK) s = list_updates(g, &nodes, &inputs, &values);
  const size_t bytes = (size_t)values.n * sizeof(damo_var *);
  damo_var **copies = s == DAMO_OK ? mem_calloc(b->ctx, bytes) : NULL;
  if (copies != NULL) s = op_from_graph_unfold(b, g, node, (damo_var *const *)values.at, (int)values.n, copies);
  for (int64_t i = 0; copies != NULL && i < values.n && s == DAMO_OK; i++) {
    if (i >= inputs.n) {
      s = ptrvec_push(more, copies[i]->owner);
      continue;
    }
    s = ptrvec_push(of, node->in[inner_place(g, inputs.at[i])]);
    if (s == DAMO_OK) s = ptrvec_push(to, copies[i]);
  }
  if (copies != NULL) mem_free(b->ctx, copies, bytes);
  for (int i = 0; i < 3; i++) ptrvec_clear(lists[i]);
  return s;
}

/* Whether the inner graph updates shared Variables. Their new values are computed beside the node (inner_updates): it is
 * inlined, so that nothing is computed twice. */
static damo_status find_updates_inside(op_from_graph *g) {
  ptrvec nodes, inputs, values;
  ptrvec *const lists[] = {&nodes, &inputs, &values};
  for (int i = 0; i < 3; i++) ptrvec_init(lists[i], g->obj.ctx);
  damo_status s = fgraph_toposort(g->fgraph, &nodes);
  if (s == DAMO_OK) s = list_updates(g, &nodes, &inputs, &values);
  if (s == DAMO_OK && values.n > 0) {
    g->inlined = true;
    g->def.inner_updates = graph_updates;
  }
  for (int i = 0; i < 3; i++) ptrvec_clear(lists[i]);
  return s;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Appends the shared Variables between inputs and outputs, in the order in which the nodes read them. */
static damo_status find_shared(damo_ctx *ctx, damo_var *const *in, int n_in, damo_var *const *out, int n_out,
                               ptrvec *shared) {
  ptrvec nodes;
  map seen;
  ptrvec_init(&nodes, ctx);
  map_init(&seen, ctx);
  damo_status s = graph_toposort(ctx, out, n_out, in, n_in, &nodes);
  for (int64_t k = 0; k <= nodes.n && s == DAMO_OK; k++) {
    const damo_apply *node = k < nodes.n ? nodes.at[k] : NULL;
    int n = node != NULL ? node->n_in : n_out;
    for (int i = 0; i < n && s == DAMO_OK; i++) {
      damo_var *v = node != NULL ? node->in[i] : out[i];
      if (v->kind != VAR_SHARED || map_get(&seen, v, NULL)) continue;
      s = map_put(&seen, v, 1);
      if (s == DAMO_OK) s = ptrvec_push(shared, v);
    }
  }
  map_clear(&seen);
  ptrvec_clear(&nodes);
  return s;
}

static damo_status add_input(op_from_graph *g, map *memo, ptrvec *fresh, damo_var *v) {
  char name[160];
  damo_ctx *ctx = g->obj.ctx;
  if (map_get(memo, v, NULL)) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: %s is listed twice among the inputs", g->def.name,
                    var_format(name, sizeof name, v));
  }
  damo_var *inner = var_new(ctx, v->type, v->name);
  if (inner == NULL) return DAMO_EMEMORY;
  damo_status s = ptrvec_push(fresh, inner);
  if (s != DAMO_OK) damo_release(inner);
  return s == DAMO_OK ? map_put(memo, v, (uintptr_t)inner) : s;
}

static damo_status add_inputs(op_from_graph *g, map *memo, ptrvec *fresh, damo_var *const *in) {
  char name[160];
  for (int i = 0; i < g->n_given; i++) {
    if (in[i]->kind != VAR_PLAIN) {
      return ctx_fail(g->obj.ctx, DAMO_ETYPE, "%s: %s is a %s Variable, which can't be an input", g->def.name,
                      var_format(name, sizeof name, in[i]), in[i]->kind == VAR_SHARED ? "shared" : "constant");
    }
    DAMO_TRY(add_input(g, memo, fresh, in[i]));
  }
  for (int i = g->n_given; i < g->n_in; i++) DAMO_TRY(add_input(g, memo, fresh, g->shared[i - g->n_given]));
  return DAMO_OK;
}

/* A copy of the graph above the outputs, over fresh inputs. */
static damo_status copy_graph(op_from_graph *g, damo_var *const *in, damo_var *const *out) {
  damo_ctx *ctx = g->obj.ctx;
  size_t bytes = (size_t)g->n_out * sizeof(damo_var *);
  damo_var **copies = mem_calloc(ctx, bytes);
  if (copies == NULL) return DAMO_EMEMORY;
  map memo;
  ptrvec fresh;
  map_init(&memo, ctx);
  ptrvec_init(&fresh, ctx);
  damo_status s = add_inputs(g, &memo, &fresh, in);
  damo_assert(s != DAMO_OK || (fresh.n == g->n_in && memo.n == (size_t)g->n_in));
  if (s == DAMO_OK) s = graph_clone(ctx, out, g->n_out, &memo, true, NULL, copies);
  if (s == DAMO_OK) {
    g->fgraph = fgraph_new(ctx, (damo_var *const *)fresh.at, fresh.n, copies, g->n_out, false, NULL);
    s = g->fgraph != NULL ? inner_freeze(g->fgraph) : damo_error_status(ctx);
  }
  ptrvec_release_all(&fresh);
  map_clear(&memo);
  release_list(ctx, copies, g->n_out);
  if (s != DAMO_OK) ctx_fail_at(ctx, g->def.name, NULL);
  return s;
}

static bool is_output(const op_from_graph *g, const damo_var *v) {
  for (int o = 0; o < g->n_out; o++) {
    if (g->fgraph->outputs.at[o] == v) return true;
  }
  return false;
}

static damo_status inner_check_unused(const op_from_graph *g, unused_mode mode) {
  if (mode == UNUSED_IGNORE) return DAMO_OK;
  for (int i = 0; i < g->n_given; i++) {
    char name[160];
    const damo_var *v = g->fgraph->inputs.at[i];
    if (fgraph_clients(g->fgraph, v) != NULL || is_output(g, v)) continue;
    var_format(name, sizeof name, v);
    if (mode == UNUSED_WARN) {
      ctx_warn(g->obj.ctx, "unused_input", "%s: input %d (%s) is not used", g->def.name, i + 1, name);
      continue;
    }
    return ctx_fail(g->obj.ctx, DAMO_EUNUSED_INPUT,
                    "%s: input %d (%s) is not used by any output; leave it out or pass on_unused_input=\"ignore\"",
                    g->def.name, i + 1, name);
  }
  return DAMO_OK;
}

static damo_op *op_from_graph_copy_to(graph_copier *c, const damo_op *op);
static const op_recipe op_from_graph_recipe;

static void set_class(op_from_graph *g) {
  g->def = (op_def){.name = g->name,
                    .doc = "a graph as an Op",
                    .n_in = OP_VARIADIC,
                    .least_in = OP_NO_INPUT,
                    .n_out = OP_VARIADIC,
                    .count_out = graph_count_out,
                    .infer_type = graph_types,
                    .make_node = graph_make_node,
                    .perform = op_from_graph_perform,
                    .state_size = sizeof(op_from_graph_state),
                    .state_clear = op_from_graph_state_clear,
                    .grad = op_from_graph_l_op,
                    .rop = op_from_graph_r_op,
                    .infer_shape = op_from_graph_infer_shape,
                    .batch = op_from_graph_batch,
                    .connection_pattern = graph_connections,
                    .do_constant_folding = graph_folds,
                    .inner_graph = graph_inner,
                    .foreign = true,
                    .no_check = "in DEBUG mode its own graph runs in that mode",
                    .prepare_foreign = op_from_graph_prepare_foreign,
                    .copy_to = op_from_graph_copy_to,
                    .recipe = &op_from_graph_recipe,
                    .unique = true};
}

static damo_status take_shared(op_from_graph *g, const ptrvec *shared) {
  size_t bytes = (size_t)shared->n * sizeof *g->shared;
  g->shared = mem_calloc(g->obj.ctx, bytes);
  if (g->shared == NULL) return DAMO_EMEMORY;
  g->n_in = g->n_given + (int)shared->n;
  for (int64_t i = 0; i < shared->n; i++) g->shared[i] = damo_retain(shared->at[i]);
  g->connected = mem_calloc(g->obj.ctx, (size_t)g->n_in * (size_t)g->n_out);
  return g->connected != NULL ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status op_from_graph_init(op_from_graph *g, damo_var *const *in, damo_var *const *out,
                                      const op_from_graph_options *o) {
  damo_ctx *ctx = g->obj.ctx;
  g->n_in = g->n_given;
  g->name = mem_strdup(ctx, o->name != NULL ? o->name : "OpFromGraph");
  if (g->name == NULL) return DAMO_EMEMORY;
  set_class(g);
  if (o->mode != NULL && (g->mode = mem_strdup(ctx, o->mode)) == NULL) return DAMO_EMEMORY;
  if (g->n_out == 0) return ctx_fail(ctx, DAMO_EVALUE, "%s: there must be an output", g->name);
  ptrvec shared;
  ptrvec_init(&shared, ctx);
  damo_status s = find_shared(ctx, in, g->n_given, out, g->n_out, &shared);
  if (s == DAMO_OK) s = take_shared(g, &shared);
  ptrvec_clear(&shared);
  DAMO_TRY(s);
  g->inlined = o->inlined;
  g->lop_op = damo_retain(o->lop_op);
  g->rop_op = damo_retain(o->rop_op);
  DAMO_TRY(copy_graph(g, in, out));
  DAMO_TRY(inner_check_unused(g, o->on_unused_input));
  DAMO_TRY(look_inside(g));
  DAMO_TRY(find_updates_inside(g));
  if (o->connected != NULL) memcpy(g->connected, o->connected, (size_t)g->n_given * (size_t)g->n_out);
  return DAMO_OK;
}

damo_op *op_from_graph_new(damo_ctx *ctx, damo_var *const *inputs, int n_in, damo_var *const *outputs, int n_out,
                           const op_from_graph_options *options) {
  static const op_from_graph_options plain = {0};
  op_from_graph *g = obj_new(ctx, OBJ_OPGRAPH, sizeof *g);
  if (g == NULL) return NULL;
  g->n_given = n_in;
  g->n_out = n_out;
  damo_op *op = NULL;
  if (op_from_graph_init(g, inputs, outputs, options != NULL ? options : &plain) == DAMO_OK) {
    op = op_new_owned(ctx, &g->def, &g->obj, NULL);
    g->op = op;
  }
  damo_release(g);
  return op;
}

damo_op *op_from_graph_copy(const op_from_graph *g) {
  op_from_graph_options o = {.name = g->name,
                             .mode = g->mode,
                             .inlined = g->inlined,
                             .on_unused_input = UNUSED_IGNORE,
                             .connected = g->connected,
                             .lop_op = g->lop_op,
                             .rop_op = g->rop_op};
  const damo_fgraph *fg = g->fgraph;
  damo_op *op = op_from_graph_new(g->obj.ctx, (damo_var *const *)fg->inputs.at, g->n_in,
                                  (damo_var *const *)fg->outputs.at, g->n_out, &o);
  if (op == NULL) return NULL;
  op_from_graph *copy = op_from_graph_at(op); /* its last inputs are applied to the same shared Variables */
  damo_var **shared = mem_calloc(g->obj.ctx, (size_t)(g->n_in - g->n_given) * sizeof *shared);
  if (shared == NULL) {
    damo_release(op);
    return NULL;
  }
  for (int i = 0; i < g->n_in - g->n_given; i++) shared[i] = damo_retain(g->shared[i]);
  mem_free(g->obj.ctx, copy->shared, 0);
  copy->shared = shared;
  copy->n_given = g->n_given;
  return op;
}

/* ---- Copies in another context ----------------------------------------------------------------------------------- */

/* All but the overriding Ops, and the shared Variables to which the Op is applied: nobody differentiates or applies it
 * there. */
static damo_status fill_copy(graph_copier *c, op_from_graph *g, const op_from_graph *from) {
  g->n_given = from->n_in;
  g->n_in = from->n_in;
  g->n_out = from->n_out;
  DAMO_TRY(mem_copy_text(c->ctx, from->name, &g->name));
  DAMO_TRY(mem_copy_text(c->ctx, from->mode != NULL ? from->mode : c->inner_mode, &g->mode));
  g->connected = mem_alloc(c->ctx, (size_t)g->n_in * (size_t)g->n_out);
  if (g->connected == NULL) return DAMO_EMEMORY;
  memcpy(g->connected, from->connected, (size_t)g->n_in * (size_t)g->n_out);
  set_class(g);
  g->inlined = from->inlined;
  g->shapes_known = from->shapes_known;
  g->def.impure = from->def.impure;
  g->def.nonfinite = from->def.nonfinite;
  g->fgraph = copier_fgraph(c, from->fgraph);
  if (g->fgraph == NULL) return damo_error_status(c->ctx);
  DAMO_TRY(inner_freeze(g->fgraph));
  const inner_graph inner = op_from_graph_inner((op_from_graph *)(uintptr_t)from);
  return inner_copy_to(c, &inner, g->fn);
}

static damo_op *op_from_graph_copy_to(graph_copier *c, const damo_op *op) {
  op_from_graph *g = obj_new(c->ctx, OBJ_OPGRAPH, sizeof *g);
  if (g == NULL) return NULL;
  damo_op *copy =
      fill_copy(c, g, op_from_graph_at(op)) == DAMO_OK ? op_new_owned(c->ctx, &g->def, &g->obj, NULL) : NULL;
  g->op = copy;
  damo_release(g);
  return copy;
}

/* ---- In files ---------------------------------------------------------------------------------------------------- */

static damo_status op_from_graph_tell(const damo_op *op, op_parts *out) {
  const op_from_graph *g = op_from_graph_at(op);
  damo_ctx *ctx = op->obj.ctx;
  if (g->lop != NULL || g->rop != NULL) {
    ctx_fail(ctx, DAMO_ETYPE, "save_graph: the gradients of %s call functions of the script, which no file can hold",
             g->name);
    ctx_fail_at(ctx, g->name, NULL);
    return DAMO_ETYPE;
  }
  const size_t n = (size_t)g->n_in * (size_t)g->n_out;
  DAMO_TRY(parts_add_text(out, g->name));
  DAMO_TRY(parts_add_text(out, g->mode));
  DAMO_TRY(parts_add_int(out, g->inlined));
  DAMO_TRY(parts_add_int(out, g->n_given));
  DAMO_TRY(parts_add(out, g->lop_op != NULL ? (prop_value){.kind = PROP_OP, .u.op = g->lop_op} : prop_nil()));
  DAMO_TRY(parts_add(out, g->rop_op != NULL ? (prop_value){.kind = PROP_OP, .u.op = g->rop_op} : prop_nil()));
  for (int i = 0; i < g->n_in - g->n_given; i++)
    DAMO_TRY(parts_add(out, (prop_value){.kind = PROP_VAR, .u.var = g->shared[i]}));
  for (size_t i = 0; i < n; i++) DAMO_TRY(parts_add_int(out, g->connected[i]));
  return DAMO_OK;
}

static damo_status take_shared_parts(op_from_graph *g, op_parts *in) {
  ptrvec shared;
  ptrvec_init(&shared, g->obj.ctx);
  damo_status s = DAMO_OK;
  for (int i = g->n_given; i < g->fgraph->inputs.n && s == DAMO_OK && !in->bad; i++) {
    const damo_var *v = parts_var(in), *inner = g->fgraph->inputs.at[i];
    in->bad = in->bad || v->kind != VAR_SHARED || !type_is_compatible(v->type, inner->type);
    s = ptrvec_push(&shared, v);
  }
  if (s == DAMO_OK && !in->bad) s = take_shared(g, &shared);
  ptrvec_clear(&shared);
  return s;
}

static damo_status op_from_graph_fill(op_from_graph *g, op_parts *in) {
  damo_ctx *ctx = g->obj.ctx;
  DAMO_TRY(mem_copy_text(ctx, parts_text(in), &g->name));
  DAMO_TRY(mem_copy_text(ctx, parts_text(in), &g->mode));
  in->bad = in->bad || g->name == NULL || g->fgraph->outputs.n == 0 || g->fgraph->inputs.n > INT32_MAX ||
            g->fgraph->outputs.n > INT32_MAX;
  if (in->bad) return DAMO_OK;
  set_class(g);
  g->inlined = parts_bool(in);
  g->n_given = g->n_in = (int)parts_int(in, 0, g->fgraph->inputs.n);
  g->n_out = (int)g->fgraph->outputs.n;
  g->lop_op = damo_retain(parts_op(in));
  g->rop_op = damo_retain(parts_op(in));
  DAMO_TRY(take_shared_parts(g, in));
  if (in->bad) return DAMO_OK;
  DAMO_TRY(inner_freeze(g->fgraph));
  DAMO_TRY(look_inside(g));
  DAMO_TRY(find_updates_inside(g));
  for (size_t i = 0; i < (size_t)g->n_in * (size_t)g->n_out; i++) g->connected[i] = parts_bool(in);
  return DAMO_OK;
}

static damo_op *op_from_graph_remake(damo_ctx *ctx, op_parts *in, damo_fgraph *take_graph) {
  op_from_graph *g = obj_new(ctx, OBJ_OPGRAPH, sizeof *g);
  if (g == NULL) {
    damo_release(take_graph);
    return NULL;
  }
  g->fgraph = take_graph;
  damo_op *op = op_from_graph_fill(g, in) == DAMO_OK && !in->bad ? op_new_owned(ctx, &g->def, &g->obj, NULL) : NULL;
  g->op = op;
  damo_release(g);
  return op;
}

static const op_recipe op_from_graph_recipe = {
    .name = "OpFromGraph", .tell = op_from_graph_tell, .make = op_from_graph_remake};
const op_recipe *const api_recipes[] = {&op_from_graph_recipe, NULL};

op_from_graph *op_from_graph_of(const damo_op *op) {
  return op->owner != NULL && op->owner->kind == OBJ_OPGRAPH ? (op_from_graph *)op->owner : NULL;
}

damo_op *damo_op_from_graph(damo_ctx *ctx, damo_var *const *inputs, int n_in, damo_var *const *outputs, int n_out,
                            const char *name, bool inlined) {
  if (ctx_check_objs(ctx, "damo_op_from_graph", "inputs", inputs, n_in, OBJ_VAR) != DAMO_OK ||
      ctx_check_objs(ctx, "damo_op_from_graph", "outputs", outputs, n_out, OBJ_VAR) != DAMO_OK) {
    return NULL;
  }
  op_from_graph_options o = {.name = name, .inlined = inlined};
  return op_from_graph_new(ctx, inputs, n_in, outputs, n_out, &o);
}

damo_status api_graph_ops_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_OPGRAPH, graph_destroy, NULL);
  return rewrite_register(ctx, &op_from_graph_inline_rule);
}
