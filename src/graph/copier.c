/* copier.c: deep copies of graphs into another context.
 *
 * The source is read alone: no reference count of it changes, and no mark is set in it, so that contexts on other
 * threads may read it too. Copies are made in the order of a depth-first walk with a stack of its own.
 */
#include "graph_int.h"
#include "sparse/sparse.h"

#include <string.h>

void copier_init(graph_copier *c, damo_ctx *ctx) {
  *c = (graph_copier){.ctx = ctx};
  map_init(&c->copies, ctx);
  ptrvec_init(&c->owned, ctx);
}

void copier_clear(graph_copier *c) {
  map_clear(&c->copies);
  ptrvec_release_all(&c->owned);
}

void *copier_find(const graph_copier *c, const void *source) { return map_get_ptr(&c->copies, source); }

void *copier_keep(graph_copier *c, const void *source, void *take_copy) {
  if (take_copy == NULL) return NULL;
  if (ptrvec_push(&c->owned, take_copy) != DAMO_OK) {
    damo_release(take_copy);
    return NULL;
  }
  return map_put(&c->copies, source, (uintptr_t)take_copy) == DAMO_OK ? take_copy : NULL;
}

/* ---- Types and Ops ----------------------------------------------------------------------------------------------- */

static damo_type *copy_sparse_type(damo_ctx *ctx, const damo_type *t) {
  if (t->pattern == NULL) return type_sparse(ctx, (damo_format)t->format, t->dtype, (damo_dtype)t->itype, t->shape);
  damo_sparse *m = sparse_copy_to(ctx, t->pattern->matrix);
  damo_type *copy = m != NULL ? type_sparse_like(m, t->dtype) : NULL;
  damo_release(m);
  return copy;
}

damo_type *type_copy_to(damo_ctx *ctx, const damo_type *t) {
  switch (t->kind) {
    case TYPE_TENSOR: return type_tensor(ctx, t->dtype, t->ndim, t->shape);
    case TYPE_SPARSE: return copy_sparse_type(ctx, t);
    case TYPE_RANDOM: return type_random(ctx);
    case TYPE_NULL: return type_null(ctx, t->why);
    case TYPE_DISCONNECTED: return type_disconnected(ctx);
    case TYPE_GENERIC: return type_generic(ctx);
    case TYPE_FACTOR: break;
  }
  return type_factor(ctx, t->dtype, t->shape, t->format != 0);
}

damo_type *copier_type(graph_copier *c, const damo_type *t) {
  damo_type *known = copier_find(c, t);
  return known != NULL ? known : copier_keep(c, t, type_copy_to(c->ctx, t));
}

static void props_free(damo_ctx *ctx, prop_value *props, int32_t n) {
  for (int32_t i = 0; props != NULL && i < n; i++) {
    if (props[i].kind == PROP_LIST) props_free(ctx, (prop_value *)(uintptr_t)props[i].u.list, props[i].n);
  }
  if (props != NULL) mem_free(ctx, props, (size_t)n * sizeof *props);
}

/* The properties with Types and Ops of c's context; texts are the source's. Nested as deep as the lists are. */
static prop_value *props_of(graph_copier *c, const prop_value *props, int32_t n) {
  prop_value *out = mem_calloc(c->ctx, (size_t)n * sizeof *out);
  bool done = out != NULL;
  for (int32_t i = 0; done && i < n; i++) {
    prop_value v = props[i];
    if (v.kind == PROP_TYPE) done = (v.u.type = copier_type(c, v.u.type)) != NULL;
    if (v.kind == PROP_OP) done = (v.u.op = copier_op(c, v.u.op)) != NULL;
    if (v.kind == PROP_LIST) done = (v.u.list = props_of(c, v.u.list, v.n)) != NULL;
    if (done) out[i] = v;
  }
  if (done) return out;
  props_free(c->ctx, out, n);
  return NULL;
}

static damo_op *copy_op(graph_copier *c, const damo_op *op) {
  const op_def *def = op->def;
  if (def->one_context || (op->owner != NULL && def->copy_to == NULL)) {
    ctx_fail(c->ctx, DAMO_ESTATE, "%s runs only in the context that it was made in", def->name);
    ctx_fail_at(c->ctx, def->name, NULL);
    return NULL;
  }
  if (def->copy_to != NULL) return def->copy_to(c, op);
  prop_value *props = props_of(c, op->props, op->n_props);
  damo_op *copy = props != NULL ? op_new(c->ctx, def, props) : NULL;
  props_free(c->ctx, props, op->n_props);
  return copy;
}

damo_op *copier_op(graph_copier *c, const damo_op *op) {
  damo_op *known = copier_find(c, op);
  return known != NULL ? known : copier_keep(c, op, copy_op(c, op));
}

/* ---- Variables and nodes ----------------------------------------------------------------------------------------- */

static damo_trace *copier_trace(graph_copier *c, const damo_trace *t) {
  damo_trace *known = copier_find(c, t);
  return known != NULL ? known : copier_keep(c, t, trace_copy_to(c->ctx, t));
}

static damo_var *copy_leaf(graph_copier *c, const damo_var *v) {
  damo_type *type = copier_type(c, v->type);
  if (type == NULL) return NULL;
  damo_obj *value = NULL;
  if (v->kind != VAR_PLAIN && (value = value_copy_to(c->ctx, v->value)) == NULL) return NULL;
  damo_var *copy = var_new(c->ctx, type, v->name);
  if (copy == NULL) {
    damo_release(value);
    return NULL;
  }
  copy->kind = v->kind;
  copy->value = value;
  copy->weak = v->weak;
  copy->indestructible = v->indestructible;
  copy->given_away = v->given_away;
  return copy;
}

damo_var *copier_leaf(graph_copier *c, const damo_var *v) {
  damo_var *known = copier_find(c, v);
  return known != NULL ? known : copier_keep(c, v, copy_leaf(c, v));
}

/* The inputs of the node must have their copies, or be leaves. */
static damo_apply *copy_node(graph_copier *c, const damo_apply *node) {
  damo_ctx *ctx = c->ctx;
  const size_t n_in = (size_t)node->n_in, n_out = (size_t)node->n_out, bytes = (n_in + n_out) * sizeof(void *);
  damo_op *op = copier_op(c, node->op);
  damo_trace *trace = op != NULL && node->trace != NULL ? copier_trace(c, node->trace) : NULL;
  if (op == NULL || (node->trace != NULL && trace == NULL)) return NULL;
  damo_var **in = mem_calloc(ctx, bytes);
  damo_type **out = (damo_type **)(in + n_in);
  bool done = in != NULL;
  for (size_t i = 0; done && i < n_in; i++) done = (in[i] = copier_leaf(c, node->in[i])) != NULL;
  for (size_t o = 0; done && o < n_out; o++) done = (out[o] = copier_type(c, node->out[o]->type)) != NULL;
  damo_obj *line = graph_notes_of(ctx)->trace;
  graph_notes_of(ctx)->trace = trace != NULL ? &trace->obj : NULL;
  damo_apply *copy = done ? apply_new(ctx, op, in, node->n_in, out, node->n_out) : NULL;
  graph_notes_of(ctx)->trace = line;
  if (in != NULL) mem_free(ctx, in, bytes);
  for (size_t o = 0; copy != NULL && o < n_out; o++) {
    damo_var *v = copy->out[o];
    v->indestructible = node->out[o]->indestructible;
    if (var_set_name(v, node->out[o]->name) == DAMO_OK) continue;
    damo_release(copy);
    return NULL;
  }
  return copy;
}

damo_apply *copier_node(graph_copier *c, const damo_apply *node) {
  damo_apply *copy = copier_find(c, node);
  if (copy != NULL) return copy;
  copy = copier_keep(c, node, copy_node(c, node));
  for (int o = 0; copy != NULL && o < node->n_out; o++) {
    if (map_put(&c->copies, node->out[o], (uintptr_t)copy->out[o]) != DAMO_OK) return NULL;
  }
  return copy;
}

/* Copies the node and what it is computed from. stack: nodes, each followed by the number of its next input. */
static damo_status copy_above(graph_copier *c, const damo_apply *node, ptrvec *stack) {
  DAMO_TRY(ptrvec_push(stack, node));
  DAMO_TRY(ptrvec_push(stack, NULL));
  while (stack->n > 0) {
    const damo_apply *at = stack->at[stack->n - 2];
    const intptr_t next = (intptr_t)stack->at[stack->n - 1];
    if (next < at->n_in) {
      const damo_var *v = at->in[next];
      stack->at[stack->n - 1] = (void *)(next + 1);
      if (v->owner == NULL || copier_find(c, v) != NULL) continue;
      DAMO_TRY(ptrvec_push(stack, v->owner));
      DAMO_TRY(ptrvec_push(stack, NULL));
      continue;
    }
    if (copier_node(c, at) == NULL) return damo_error_status(c->ctx);
    stack->n -= 2;
  }
  return DAMO_OK;
}

damo_var *copier_var(graph_copier *c, const damo_var *v) {
  damo_var *known = copier_find(c, v);
  if (known != NULL || v->owner == NULL) return known != NULL ? known : copier_leaf(c, v);
  ptrvec stack;
  ptrvec_init(&stack, c->ctx);
  const damo_status s = copy_above(c, v->owner, &stack);
  ptrvec_clear(&stack);
  return s == DAMO_OK ? copier_find(c, v) : NULL;
}

/* ---- FunctionGraphs ---------------------------------------------------------------------------------------------- */

damo_fgraph *copier_fgraph(graph_copier *c, const damo_fgraph *fg) {
  ptrvec in, out;
  ptrvec_init(&in, c->ctx);
  ptrvec_init(&out, c->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < fg->inputs.n && s == DAMO_OK; i++) {
    const damo_var *v = copier_leaf(c, fg->inputs.at[i]);
    s = v != NULL ? ptrvec_push(&in, v) : damo_error_status(c->ctx);
  }
  for (int64_t o = 0; o < fg->outputs.n && s == DAMO_OK; o++) {
    const damo_var *v = copier_var(c, fg->outputs.at[o]);
    s = v != NULL ? ptrvec_push(&out, v) : damo_error_status(c->ctx);
  }
  damo_fgraph *copy = NULL;
  if (s == DAMO_OK)
    copy = fgraph_new(c->ctx, (damo_var *const *)in.at, in.n, (damo_var *const *)out.at, out.n, false, NULL);
  ptrvec_clear(&in);
  ptrvec_clear(&out);
  return copy;
}
