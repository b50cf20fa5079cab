/* loop_op_build: makes Loop nodes. */
#include <string.h>

#include "loop_op_int.h"

/* The property of sources, in `list`, whose values lie from `next` on. */
static prop_value source_list(prop_value *list, prop_value *next, const loop_source *sources, int n) {
  for (int k = 0; k < n; k++) {
    prop_value *at = next;
    *next++ = (prop_value){.kind = PROP_OP, .u.op = sources[k].op};
    for (int i = 0; i < loop_source_arity(sources[k].op); i++) *next++ = prop_int(sources[k].in[i]);
    list[k] = prop_list(at, (int)(next - at));
  }
  return n > 0 ? prop_list(list, n) : (prop_value){.kind = PROP_NIL};
}

damo_apply *build_loop(build *b, const loop_input *in, int n_in, const loop_source *sources, int n_sources,
                       uint32_t axes, const loop_part *parts, int n_parts, const int16_t *outs, int n_out) {
  if (b->status != DAMO_OK) return NULL;
  const size_t per_part = 1 + 3 + LOOP_PART_MOST_IN, per_source = 2 + LOOP_SOURCE_MOST_IN;
  const size_t n_values = (size_t)n_parts * per_part + (size_t)n_out + (size_t)n_in + (size_t)n_sources * per_source;
  const size_t values = n_values * sizeof(prop_value), bytes = values + (size_t)n_in * sizeof(damo_var *);
  prop_value *list = mem_alloc(b->ctx, bytes);
  if (list == NULL) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  prop_value *next = list + n_parts, *out_list = next + (size_t)n_parts * (per_part - 1), *row_list = out_list + n_out;
  prop_value *const source_values = row_list + n_in;
  damo_var **vars = (damo_var **)(void *)((char *)list + values);
  int n_rows = 0;
  for (int k = 0; k < n_parts; k++) {
    prop_value *at = next;
    *next++ = (prop_value){.kind = PROP_OP, .u.op = parts[k].op};
    *next++ = prop_int(parts[k].dtype);
    *next++ = prop_int(parts[k].space);
    for (int i = 0; i < loop_arity(&parts[k]); i++) *next++ = prop_int(parts[k].in[i]);
    list[k] = prop_list(at, (int)(next - at));
  }
  for (int o = 0; o < n_out; o++) out_list[o] = prop_int(outs[o]);
  for (int i = 0; i < n_in; i++) {
    vars[i] = in[i].var;
    if (in[i].of_rows) row_list[n_rows++] = prop_int(i);
  }
  const loop_props p = {.n_in = prop_int(n_in),
                        .axes = prop_int(axes),
                        .parts = prop_list(list, n_parts),
                        .outs = prop_list(out_list, n_out),
                        .rows = prop_list(row_list, n_rows),
                        .sources = source_list(source_values, source_values + n_sources, sources, n_sources)};
  damo_apply *node = build_apply(b, op_new(b->ctx, &loop_def, &p), vars, n_in);
  mem_free(b->ctx, list, bytes);
  return node;
}

/* A Loop under change. */
typedef struct loop_change {
  int n_in, n_sources, n_parts, n_out;
  uint32_t axes;
  loop_input *in;
  loop_source *sources;
  loop_part *parts;
  int16_t *outs;
} loop_change;

/* The inputs, sources and parts of a Loop node, or those of the Loop that an Elemwise node is. */
static void change_begin(loop_change *c, const damo_apply *node) {
  c->n_in = node->n_in;
  c->n_out = node->n_out;
  for (int i = 0; i < node->n_in; i++) c->in[i] = (loop_input){.var = node->in[i]};
  if (node->op->def != &loop_def) {
    c->n_sources = c->axes = 0;
    c->n_parts = 1;
    c->parts[0] = (loop_part){.op = node->op, .dtype = var_dtype(node->out[0])};
    for (int i = 0; i < node->n_in; i++) c->parts[0].in[i] = (int16_t)i;
    c->outs[0] = (int16_t)node->n_in;
    return;
  }
  const loop_data *d = loop_data_of(node->op);
  c->axes = d->axes;
  c->n_sources = d->n_sources;
  c->n_parts = d->n_parts;
  for (int i = 0; i < node->n_in; i++) c->in[i].of_rows = d->of_rows[i];
  memcpy(c->sources, d->sources, (size_t)d->n_sources * sizeof *c->sources);
  memcpy(c->parts, d->parts, (size_t)d->n_parts * sizeof *c->parts);
  memcpy(c->outs, d->outs, (size_t)d->n_out * sizeof *c->outs);
}

/* Reads input `at` at its source: the first operand takes its place, others come after the inputs. */
static void change_source(loop_change *c, int at, const damo_apply *source) {
  const int before = c->n_in, more = source->n_in - 1;
  loop_source *s = &c->sources[c->n_sources++];
  *s = (loop_source){.op = source->op, .in = {(int16_t)at}};
  c->in[at].var = source->in[0];
  for (int i = 1; i < source->n_in; i++) {
    s->in[i] = (int16_t)c->n_in;
    c->in[c->n_in++] = (loop_input){.var = source->in[i]};
  }
  for (int k = 0; k < c->n_parts; k++) {
    for (int i = 0; i < loop_arity(&c->parts[k]); i++) {
      if (c->parts[k].in[i] >= before) c->parts[k].in[i] = (int16_t)(c->parts[k].in[i] + more);
    }
  }
  for (int o = 0; o < c->n_out; o++) c->outs[o] = (int16_t)(c->outs[o] + more);
}

/* Whether the axes of a row, if there are any, are the last ones. Others lie side by side in most arrays, and run as
 * strips (loop/loop.h), which read no sources: rows one by one would take up to five times as long. */
static bool rows_are_last(const loop_data *d, int ndim) {
  bool last = true;
  for (int axis = 1; axis < ndim; axis++) last = last && (!loop_is_row_axis(d, axis - 1) || loop_is_row_axis(d, axis));
  return last;
}

/* Which input of the node could be read at its source, if it is v and has the whole iteration space; -1: none. */
static int input_with_source(const damo_apply *node, const damo_var *v) {
  const bool is_loop = node->op->def == &loop_def;
  const damo_apply *source = v->owner;
  const int arity = source != NULL ? loop_source_arity(source->op) : 0;
  if (arity == 0 || arity != source->n_in || node->op->destroy_map != NULL) return -1;
  if (source->op->def != &arange_def && var_dtype(source->in[1]) != DAMO_INT64) return -1;
  int at = -1, ndim = 0;
  for (int i = 0; i < node->n_in; i++) {
    if (node->in[i] != v) continue;
    if (at >= 0) return -1;
    at = i;
  }
  if (at < 0) return -1;
  if (is_loop) {
    const loop_data *d = loop_data_of(node->op);
    ndim = loop_ndim(d, node->in);
    if (d->uses[at].use != USE_OPERAND || d->of_rows[at] || d->place == at || !rows_are_last(d, ndim)) return -1;
    for (int k = 0; k < d->n_parts; k++) {
      const int positions = loop_part_positions(&d->parts[k]);
      if (positions >= 0 && d->parts[k].in[positions] == at) return -1;
    }
  } else {
    ndim = var_ndim(node->out[0]);
  }
  for (int axis = 0; axis < ndim; axis++) {
    if (var_ndim(v) == ndim && type_dim_is_one(v->type, axis)) return -1; /* it may broadcast */
  }
  return var_ndim(v) == ndim && ndim > 0 ? at : -1;
}

damo_var *build_source(build *b, const loop_source *s, damo_var *const *in) {
  damo_var *own[LOOP_SOURCE_MOST_IN];
  for (int i = 0; i < loop_source_arity(s->op); i++) own[i] = in[s->in[i]];
  return build_op(b, damo_retain(s->op), own, loop_source_arity(s->op));
}

damo_apply *build_loop_with_source(build *b, const damo_apply *node, const damo_var *v) {
  const int at = input_with_source(node, v);
  if (at < 0 || b->status != DAMO_OK) return NULL;
  const bool is_loop = node->op->def == &loop_def;
  const loop_data *d = is_loop ? loop_data_of(node->op) : NULL;
  const size_t n_in = (size_t)node->n_in + LOOP_SOURCE_MOST_IN, n_parts = is_loop ? (size_t)d->n_parts : 1;
  const size_t n_sources = is_loop ? (size_t)d->n_sources + 1 : 1;
  size_t bytes = 0;
  const size_t in = loop_op_take(&bytes, n_in, sizeof(loop_input));
  const size_t sources = loop_op_take(&bytes, n_sources, sizeof(loop_source));
  const size_t parts = loop_op_take(&bytes, n_parts, sizeof(loop_part));
  const size_t outs = loop_op_take(&bytes, (size_t)node->n_out, sizeof(int16_t));
  char *m = mem_alloc(b->ctx, bytes);
  if (m == NULL) return b->status = DAMO_EMEMORY, NULL;
  loop_change c = {.in = (loop_input *)(void *)(m + in),
                   .sources = (loop_source *)(void *)(m + sources),
                   .parts = (loop_part *)(void *)(m + parts),
                   .outs = (int16_t *)(void *)(m + outs)};
  change_begin(&c, node);
  change_source(&c, at, v->owner);
  damo_apply *made = build_loop(b, c.in, c.n_in, c.sources, c.n_sources, c.axes, c.parts, c.n_parts, c.outs, c.n_out);
  mem_free(b->ctx, m, bytes);
  return made;
}

damo_apply *build_loop_after_sources(build *b, const damo_apply *node) {
  const loop_data *d = loop_data_of(node->op);
  size_t bytes = 0;
  const size_t number = loop_op_take(&bytes, (size_t)(d->n_in + d->n_parts), sizeof(int16_t));
  const size_t in = loop_op_take(&bytes, (size_t)d->n_in, sizeof(loop_input));
  const size_t parts = loop_op_take(&bytes, (size_t)d->n_parts, sizeof(loop_part));
  const size_t outs = loop_op_take(&bytes, (size_t)d->n_out, sizeof(int16_t));
  char *m = b->status == DAMO_OK ? mem_alloc(b->ctx, bytes) : NULL;
  if (m == NULL) return b->status = DAMO_EMEMORY, NULL;
  int16_t *numbers = (int16_t *)(void *)(m + number), *out = (int16_t *)(void *)(m + outs);
  loop_input *inputs = (loop_input *)(void *)(m + in);
  loop_part *part = (loop_part *)(void *)(m + parts);
  int n = 0;
  for (int i = 0; i < d->n_in; i++) {
    const loop_input_use u = d->uses[i];
    if (u.use == USE_POSITIONS || u.use == USE_END) continue;
    damo_var *v = u.use == USE_OPERAND ? node->in[i] : build_source(b, &d->sources[u.source], node->in);
    inputs[n] = (loop_input){v, d->of_rows[i]};
    numbers[i] = (int16_t)n++;
  }
  for (int k = 0; k < d->n_parts; k++) {
    numbers[d->n_in + k] = (int16_t)(n + k);
    part[k] = d->parts[k];
    for (int i = 0; i < loop_arity(&part[k]); i++) part[k].in[i] = numbers[part[k].in[i]];
  }
  for (int o = 0; o < d->n_out; o++) out[o] = numbers[d->outs[o]];
  damo_apply *made = build_loop(b, inputs, n, NULL, 0, d->axes, part, d->n_parts, out, d->n_out);
  mem_free(b->ctx, m, bytes);
  return made;
}
