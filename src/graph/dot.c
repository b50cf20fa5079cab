/* dot.c: graphs in Graphviz's language: one line for each node and each edge, in dependency order, without
 * recursion. */
#include "graph_int.h"

typedef struct dot_drawing {
  damo_ctx *ctx;
  strbuf *out;
  map ids; /* damo_apply* or leaf damo_var* → number from 1 */
} dot_drawing;

/* Appends the text as a quoted label, with quotes, backslashes and newlines escaped. */
static void add_label(strbuf *out, const char *text) {
  strbuf_add(out, "\"");
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"' || *p == '\\') strbuf_add(out, "\\");
    if (*p == '\n') {
      strbuf_add(out, "\\n");
    } else {
      strbuf_addn(out, p, 1);
    }
  }
  strbuf_add(out, "\"");
}

static const void *key_of(const damo_var *v) { return v->owner != NULL ? (const void *)v->owner : (const void *)v; }

static uintptr_t id_of(const dot_drawing *d, const void *key) {
  uintptr_t id = 0;
  map_get(&d->ids, key, &id);
  return id;
}

static damo_status draw_leaf(dot_drawing *d, const damo_var *v) {
  static const char *const colours[] = {
      [VAR_PLAIN] = "lightgreen", [VAR_CONSTANT] = "lightgrey", [VAR_SHARED] = "gold"};
  char text[320];
  if (v->owner != NULL || id_of(d, v) != 0) return DAMO_OK;
  DAMO_TRY(map_put(&d->ids, v, (uintptr_t)d->ids.n + 1));
  strbuf_addf(d->out, "  n%llu [shape=box, style=filled, fillcolor=%s, label=", (unsigned long long)id_of(d, v),
              colours[v->kind]);
  add_label(d->out, var_format(text, sizeof text, v));
  strbuf_add(d->out, "];\n");
  return DAMO_OK;
}

static damo_status draw_node(dot_drawing *d, const damo_apply *node) {
  strbuf text;
  for (int i = 0; i < node->n_in; i++) DAMO_TRY(draw_leaf(d, node->in[i]));
  DAMO_TRY(map_put(&d->ids, node, (uintptr_t)d->ids.n + 1));
  unsigned long long id = id_of(d, node);
  strbuf_init(&text, d->ctx);
  op_format(&text, node->op);
  strbuf_addf(d->out, "  n%llu [shape=%s, label=", id, node->op->def->inner_graph != NULL ? "box3d" : "ellipse");
  add_label(d->out, text.failed || text.at == NULL ? node->op->def->name : text.at);
  strbuf_add(d->out, "];\n");
  strbuf_clear(&text);
  for (int i = 0; i < node->n_in; i++) {
    const damo_var *v = node->in[i];
    strbuf_addf(d->out, "  n%llu -> n%llu [", (unsigned long long)id_of(d, key_of(v)), id);
    if (node->n_in > 1) strbuf_addf(d->out, "headlabel=\"%d\", ", i + 1);
    if (v->owner != NULL && v->owner->n_out > 1) strbuf_addf(d->out, "taillabel=\"%d\", ", v->index + 1);
    if (op_alias_has(node->op->destroy_map, -1, i)) {
      strbuf_add(d->out, "color=red, ");
    } else if (op_alias_has(node->op->view_map, -1, i)) {
      strbuf_add(d->out, "color=blue, ");
    }
    char type[320];
    strbuf_add(d->out, "tooltip=");
    add_label(d->out, type_format(type, sizeof type, v->type));
    strbuf_add(d->out, "];\n");
  }
  return DAMO_OK;
}

static damo_status draw_output(dot_drawing *d, const damo_var *v, int64_t i) {
  char text[320];
  DAMO_TRY(draw_leaf(d, v));
  strbuf_addf(d->out, "  out%lld [shape=box, style=filled, fillcolor=lightblue, label=", (long long)i + 1);
  if (v->name != NULL) {
    add_label(d->out, v->name);
  } else {
    strbuf_addf(d->out, "\"output %lld\"", (long long)i + 1);
  }
  strbuf_addf(d->out, "];\n  n%llu -> out%lld [tooltip=", (unsigned long long)id_of(d, key_of(v)), (long long)i + 1);
  add_label(d->out, type_format(text, sizeof text, v->type));
  strbuf_add(d->out, "];\n");
  return DAMO_OK;
}

damo_status graph_dot(damo_ctx *ctx, damo_var *const *outputs, int64_t n, strbuf *out) {
  dot_drawing d = {.ctx = ctx, .out = out};
  ptrvec nodes;
  map_init(&d.ids, ctx);
  ptrvec_init(&nodes, ctx);
  strbuf_add(out, "digraph damo {\n  rankdir=TB;\n");
  damo_status s = graph_toposort(ctx, outputs, n, NULL, 0, &nodes);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) s = draw_node(&d, nodes.at[k]);
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = draw_output(&d, outputs[i], i);
  strbuf_add(out, "}\n");
  ptrvec_clear(&nodes);
  map_clear(&d.ids);
  if (s == DAMO_OK && out->failed) s = ctx_fail_memory(ctx);
  return s;
}
