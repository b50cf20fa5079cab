/* memo_graph.c: writes a rewritten graph as words, and makes it again over the Variables of an equal graph. */
#include "memo.h"

#include <string.h>

/* ---- Traces ------------------------------------------------------------------------------------------------------ */

/* The joined traces of the key's nodes with these numbers (owned). */
static damo_status trace_of_sources(const memo_key *k, const int32_t *sources, int32_t n, damo_trace **out) {
  damo_trace *traces[TRACE_MOST_SOURCES];
  damo_assert(n <= TRACE_MOST_SOURCES);
  for (int32_t i = 0; i < n; i++) traces[i] = ((const damo_apply *)k->nodes.at[sources[i]])->trace;
  return trace_join_all(k->w.ctx, traces, n, out);
}

static damo_status number_trace(damo_ctx *ctx, damo_apply *node, int32_t number) {
  if (node->trace == NULL) return DAMO_OK;
  damo_trace *t = trace_new_numbered(ctx, node->trace, number);
  if (t == NULL) return DAMO_EMEMORY;
  damo_release(node->trace);
  node->trace = t;
  return DAMO_OK;
}

damo_status memo_begin(memo_key *k, const damo_fgraph *fg, const map *copies) {
  for (int64_t i = 0; i < fg->inputs.n; i++) DAMO_TRY(map_put(&k->w.numbers, fg->inputs.at[i], (uintptr_t)i + 1));
  for (int64_t i = 0; i < k->nodes.n; i++) {
    const damo_apply *node = k->nodes.at[i];
    damo_apply *copy = NULL;
    for (int o = 0; o < node->n_out && copy == NULL; o++) { /* an output may be an input of the graph */
      const damo_var *v = map_get_ptr(copies, node->out[o]);
      copy = v != NULL ? v->owner : NULL;
    }
    if (copy != NULL) DAMO_TRY(number_trace(k->w.ctx, copy, (int32_t)i));
  }
  return DAMO_OK;
}

/* Gives the nodes of fg traces without numbers. */
static damo_status restore_traces(const memo_key *k, damo_fgraph *fg) {
  for (size_t i = 0; i < fg->nodes.cap; i++) {
    damo_apply *node = (damo_apply *)fg->nodes.cells[i].key;
    if (node == NULL || node->trace == NULL || node->trace->n_sources == 0) continue;
    damo_trace *t;
    DAMO_TRY(trace_of_sources(k, trace_sources(node->trace), node->trace->n_sources, &t));
    damo_release(node->trace);
    node->trace = t;
  }
  return DAMO_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* A graph is written as its number of constants and the constants, which rewriting has made; its number of nodes and the
 * nodes; its number of outputs and these. A Variable is named by a number: 2n + 1 is the key's Variable n; 2n is Variable
 * n of this graph, whose numbers begin with the constants and go on with the results of nodes. For each node:
 *   its Op, numbers of inputs, outputs and sources of its trace,
 *   the inputs,
 *   of each output the Type and what it is a copy of: 0 of nothing, 2 (n + 1) of the key's Variable n, one more if it has
 *   that one's name,
 *   the sources of its trace.
 * Then the nodes follow in the order of the program, by their numbers, after how many there are. */
typedef struct memo_writer {
  const memo_key *k;
  const damo_fgraph *fg;
  memo_words *w;
  map places;  /* Variable of fg → its number + 1 */
  map origins; /* id of a Variable of the key → its number + 1 */
  ptrvec nodes, constants;
} memo_writer;

static damo_status refuse(memo_writer *m) {
  m->w->possible = false;
  return DAMO_OK;
}

static damo_status put_place(memo_writer *m, const damo_var *v) {
  return map_put(&m->places, v, (uintptr_t)m->places.n + 1);
}

/* Writes v where it is a constant that rewriting has made. */
static damo_status list_constant(memo_writer *m, damo_var *v) {
  if (v->owner != NULL || memo_number(&m->k->w, v) >= 0 || map_get(&m->places, v, NULL)) return DAMO_OK;
  const damo_array *a = memo_small_constant(v);
  if (a == NULL || v->name != NULL) return refuse(m);
  DAMO_TRY(ptrvec_push(&m->constants, v));
  return put_place(m, v);
}

static damo_status write_constants(memo_writer *m) {
  for (int64_t i = 0; i < m->nodes.n; i++) {
    const damo_apply *node = m->nodes.at[i];
    for (int j = 0; j < node->n_in; j++) DAMO_TRY(list_constant(m, node->in[j]));
  }
  for (int64_t i = 0; i < m->fg->outputs.n; i++) DAMO_TRY(list_constant(m, m->fg->outputs.at[i]));
  DAMO_TRY(memo_put(m->w, (uint32_t)m->constants.n));
  for (int64_t i = 0; i < m->constants.n; i++) {
    const damo_var *v = m->constants.at[i];
    DAMO_TRY(memo_put_constant(m->w, v, memo_small_constant(v)));
  }
  return DAMO_OK;
}

static damo_status write_var(memo_writer *m, const damo_var *v) {
  uintptr_t place = 0;
  if (map_get(&m->places, v, &place)) return memo_put(m->w, (uint32_t)(place - 1) << 1);
  const int32_t of_key = memo_number(&m->k->w, v);
  return of_key >= 0 ? memo_put(m->w, (uint32_t)of_key << 1 | 1) : refuse(m);
}

static damo_status write_origin(memo_writer *m, const damo_var *v) {
  uintptr_t number = 0;
  if (v->origin != 0) map_get(&m->origins, (const void *)(uintptr_t)v->origin, &number);
  if (v->name == NULL) return memo_put(m->w, (uint32_t)number << 1);
  const damo_var *of = number != 0 ? m->k->vars.at[number - 1] : NULL;
  if (of == NULL || of->name == NULL || strcmp(of->name, v->name) != 0) return refuse(m);
  return memo_put(m->w, (uint32_t)number << 1 | 1);
}

static damo_status write_node(memo_writer *m, const damo_apply *node) {
  const int32_t n_sources = node->trace != NULL ? node->trace->n_sources : 0;
  if (node->trace != NULL && n_sources == 0) return refuse(m);
  DAMO_TRY(memo_put_op(m->w, node->op));
  DAMO_TRY(memo_put(m->w, (uint32_t)node->n_in));
  DAMO_TRY(memo_put(m->w, (uint32_t)node->n_out));
  DAMO_TRY(memo_put(m->w, (uint32_t)n_sources));
  for (int i = 0; i < node->n_in; i++) DAMO_TRY(write_var(m, node->in[i]));
  for (int o = 0; o < node->n_out; o++) {
    DAMO_TRY(memo_put_type(m->w, node->out[o]->type));
    DAMO_TRY(write_origin(m, node->out[o]));
    DAMO_TRY(put_place(m, node->out[o]));
  }
  for (int32_t i = 0; i < n_sources; i++) DAMO_TRY(memo_put(m->w, (uint32_t)trace_sources(node->trace)[i]));
  return DAMO_OK;
}

static damo_status number_known(memo_writer *m) {
  for (int64_t i = 0; i < m->k->vars.n; i++) {
    const damo_var *v = m->k->vars.at[i];
    if (v->owner != NULL) DAMO_TRY(map_put(&m->origins, (const void *)(uintptr_t)v->id, (uintptr_t)i + 1));
  }
  for (int64_t i = 0; i < m->k->foreign.n; i++)
    DAMO_TRY(map_put(&m->w->numbers, m->k->foreign.at[i], (uintptr_t)i + 1));
  return DAMO_OK;
}

static damo_status write_graph(memo_writer *m) {
  const damo_fgraph *fg = m->fg;
  if (fg->inputs.n != m->k->n_inputs) return refuse(m);
  DAMO_TRY(number_known(m));
  DAMO_TRY(fgraph_toposort_plain(fg, &m->nodes));
  DAMO_TRY(write_constants(m));
  DAMO_TRY(memo_put(m->w, (uint32_t)m->nodes.n));
  for (int64_t i = 0; i < m->nodes.n && m->w->possible; i++) {
    DAMO_TRY(write_node(m, m->nodes.at[i]));
    DAMO_TRY(map_put(&m->w->numbers, m->nodes.at[i], (uintptr_t)i + 1));
  }
  DAMO_TRY(memo_put(m->w, (uint32_t)fg->outputs.n));
  for (int64_t i = 0; i < fg->outputs.n && m->w->possible; i++) DAMO_TRY(write_var(m, fg->outputs.at[i]));
  return DAMO_OK;
}

damo_status memo_end(memo_key *k, damo_fgraph *fg, memo_words *w) {
  damo_ctx *ctx = k->w.ctx;
  memo_writer m = {.k = k, .fg = fg, .w = w};
  map_init(&m.places, ctx);
  map_init(&m.origins, ctx);
  ptrvec_init(&m.nodes, ctx);
  ptrvec_init(&m.constants, ctx);
  damo_status s = write_graph(&m);
  map_clear(&m.places);
  map_clear(&m.origins);
  ptrvec_clear(&m.nodes);
  ptrvec_clear(&m.constants);
  return s == DAMO_OK ? restore_traces(k, fg) : s;
}

damo_status memo_put_node(memo_words *w, const damo_apply *node) {
  const int32_t number = memo_number(w, node);
  if (number < 0) w->possible = false;
  return memo_put(w, (uint32_t)number);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct graph_reader {
  memo_reader r;
  const memo_key *k;
  ptrvec inputs;      /* owned damo_var*: the new graph's */
  ptrvec vars;        /* damo_var*: the constants, then the results, borrowed from `made` */
  ptrvec made;        /* owned: constants, then nodes */
  ptrvec in, outputs; /* borrowed */
} graph_reader;

static damo_status push_made(ptrvec *v, void *made) {
  const damo_status s = made != NULL ? ptrvec_push(v, made) : DAMO_EMEMORY;
  if (s != DAMO_OK) damo_release(made);
  return s;
}

static damo_var *read_var(graph_reader *g) {
  const uint32_t n = memo_get(&g->r), number = n >> 1;
  if ((n & 1) == 0) return g->vars.at[number];
  return number < (uint32_t)g->inputs.n ? g->inputs.at[number] : g->k->vars.at[number];
}

static damo_status read_leaves(graph_reader *g) {
  for (int64_t i = 0; i < g->k->n_inputs; i++) {
    const damo_var *v = g->k->vars.at[i];
    DAMO_TRY(push_made(&g->inputs, var_new(g->r.ctx, v->type, v->name)));
  }
  for (uint32_t n = memo_get(&g->r); n > 0; n--) {
    damo_var *v = memo_get_constant(&g->r);
    DAMO_TRY(push_made(&g->made, v));
    DAMO_TRY(ptrvec_push(&g->vars, v));
  }
  return DAMO_OK;
}

/* Names the node's results, and tells what they are copies of. */
static damo_status name_results(graph_reader *g, damo_apply *node, const uint32_t *origins) {
  for (int o = 0; o < node->n_out; o++) {
    const damo_var *of = origins[o] > 1 ? g->k->vars.at[(origins[o] >> 1) - 1] : NULL;
    if (of != NULL) node->out[o]->origin = of->id;
    if ((origins[o] & 1) != 0) DAMO_TRY(var_set_name(node->out[o], of->name));
    DAMO_TRY(ptrvec_push(&g->vars, node->out[o]));
  }
  return DAMO_OK;
}

static damo_status read_results(graph_reader *g, damo_op *op, int n_out, damo_type **types, uint32_t *origins,
                                damo_apply **out) {
  for (int o = 0; o < n_out; o++) {
    if ((types[o] = memo_get_type(&g->r)) == NULL) return damo_error_status(g->r.ctx);
    origins[o] = memo_get(&g->r);
  }
  *out = apply_new(g->r.ctx, op, (damo_var *const *)g->in.at, (int)g->in.n, types, n_out);
  DAMO_TRY(push_made(&g->made, *out));
  return name_results(g, *out, origins);
}

#define FEW_OUTPUTS 8

static damo_status read_node(graph_reader *g) {
  damo_ctx *ctx = g->r.ctx;
  damo_op *op = memo_get_op(&g->r);
  if (op == NULL) return damo_error_status(ctx);
  const uint32_t n_in = memo_get(&g->r), n_out = memo_get(&g->r), n_sources = memo_get(&g->r);
  g->in.n = 0;
  for (uint32_t i = 0; i < n_in; i++) DAMO_TRY(ptrvec_push(&g->in, read_var(g)));
  damo_type *few_types[FEW_OUTPUTS], **types = few_types;
  uint32_t few_origins[FEW_OUTPUTS], *origins = few_origins;
  const size_t bytes = n_out * (sizeof *types + sizeof *origins);
  if (n_out > FEW_OUTPUTS) {
    if ((types = mem_alloc(ctx, bytes)) == NULL) return DAMO_EMEMORY;
    origins = (uint32_t *)(types + n_out);
  }
  damo_apply *node = NULL;
  damo_status s = read_results(g, op, (int)n_out, types, origins, &node);
  if (types != few_types) mem_free(ctx, types, bytes);
  DAMO_TRY(s);
  damo_release(node->trace);
  s = trace_of_sources(g->k, (const int32_t *)g->r.at, (int32_t)n_sources, &node->trace);
  g->r.at += n_sources;
  return s;
}

static damo_status read_graph(graph_reader *g, ptrvec *order) {
  DAMO_TRY(read_leaves(g));
  const int64_t n_leaves = g->made.n;
  for (uint32_t n = memo_get(&g->r); n > 0; n--) DAMO_TRY(read_node(g));
  for (uint32_t n = memo_get(&g->r); n > 0; n--) DAMO_TRY(ptrvec_push(&g->outputs, read_var(g)));
  for (uint32_t n = memo_get(&g->r); n > 0; n--) DAMO_TRY(ptrvec_push(order, g->made.at[n_leaves + memo_get(&g->r)]));
  return DAMO_OK;
}

damo_fgraph *memo_graph(const memo_key *k, const uint32_t *words, ptrvec *order) {
  damo_ctx *ctx = k->w.ctx;
  graph_reader g = {.k = k};
  memo_reader_init(&g.r, ctx, words, &k->foreign);
  ptrvec_init(&g.inputs, ctx);
  ptrvec_init(&g.vars, ctx);
  ptrvec_init(&g.made, ctx);
  ptrvec_init(&g.in, ctx);
  ptrvec_init(&g.outputs, ctx);
  damo_fgraph *fg = NULL;
  if (read_graph(&g, order) == DAMO_OK) {
    fg = fgraph_new(ctx, (damo_var *const *)g.inputs.at, g.inputs.n, (damo_var *const *)g.outputs.at, g.outputs.n,
                    false, NULL);
  }
  memo_reader_clear(&g.r);
  ptrvec_release_all(&g.inputs);
  ptrvec_release_all(&g.made);
  ptrvec_clear(&g.vars);
  ptrvec_clear(&g.in);
  ptrvec_clear(&g.outputs);
  return fg;
}
