/* op_from_graph_run.c: running OpFromGraph. The inner graph is compiled once; each thunk runs a copy of that Function,
 * with a frame of its own. Its results become the outputs without a copy.
 */
#include "api_int.h"

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static damo_function *compile_inner(op_from_graph *g, const char *mode) {
  damo_ctx *ctx = g->obj.ctx;
  damo_function *f = NULL;
  size_t n_in = (size_t)g->n_in * sizeof(in_spec), n_out = (size_t)g->n_out * sizeof(out_spec);
  in_spec *in = mem_calloc(ctx, n_in);
  out_spec *out = in != NULL ? mem_calloc(ctx, n_out) : NULL;
  if (out != NULL) {
    for (int i = 0; i < g->n_in; i++) in[i].var = g->fgraph->inputs.at[i];
    for (int o = 0; o < g->n_out; o++) out[o].var = g->fgraph->outputs.at[o];
    compile_options options = {.mode = mode, .name = g->def.name, .on_unused_input = UNUSED_IGNORE};
    f = compile_function(ctx, in, g->n_in, out, g->n_out, &options);
    if (f == NULL) ctx_fail_add(ctx, "while compiling the inner graph of %s", g->def.name);
    mem_free(ctx, out, n_out);
  }
  if (in != NULL) mem_free(ctx, in, n_in);
  return f;
}

damo_function *op_from_graph_function(op_from_graph *g) {
  if (g->fn != NULL && !g->fn->freed) return g->fn;
  damo_release(g->fn);
  g->fn = NULL;
  damo_function *f = compile_inner(g, g->mode);
  if (g->fn == NULL) {
    g->fn = f;
  } else { /* a callback during compilation has compiled it already */
    damo_release(f);
  }
  return g->fn;
}

/* The thunk's own copy, made at the first run. Its results stay in its cells as well (lends), so that a later run can
 * reuse their memory when nothing else holds them. */
static damo_function *thunk_function(const thunk *t, frame *f) {
  op_from_graph_state *state = thunk_state(t, f);
  if (state->f != NULL) return state->f;
  op_from_graph *g = op_from_graph_at(t->node->op);
  damo_function *inner = NULL;
  if (f->watched && g->mode == NULL) {
    inner = compile_inner(g, "DEBUG");
  } else {
    const damo_function *fn = op_from_graph_function(g);
    if (fn != NULL) inner = function_copy_to(fn, f->ctx);
    if (fn == NULL && f->ctx != g->obj.ctx)
      ctx_fail(f->ctx, damo_error_status(g->obj.ctx), "%s", damo_error_message(g->obj.ctx));
  }
  if (inner == NULL) return NULL;
  inner->lends = true;
  return state->f = inner;
}

damo_status op_from_graph_prepare_foreign(const thunk *t, frame *f) {
  return thunk_function(t, f) != NULL ? DAMO_OK : damo_error_status(f->ctx);
}

const damo_function *op_from_graph_running(const thunk *t, const frame *f) {
  return op_from_graph_of(t->node->op) != NULL ? ((const op_from_graph_state *)thunk_state(t, f))->f : NULL;
}

static damo_status run_inner(const thunk *t, frame *f, damo_function *inner, damo_obj **args) {
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

damo_status op_from_graph_perform(const thunk *t, frame *f) {
  damo_function *inner = thunk_function(t, f);
  if (inner == NULL) return damo_error_status(f->ctx);
  damo_obj *small[SMALL_IN];
  if (t->n_in <= SMALL_IN) return run_inner(t, f, inner, small);
  damo_obj **args = thunk_scratch(t, f, (size_t)t->n_in * sizeof *args);
  return args != NULL ? run_inner(t, f, inner, args) : DAMO_EMEMORY;
}

void op_from_graph_state_clear(const thunk *t, frame *f) {
  damo_release(((op_from_graph_state *)thunk_state(t, f))->f);
}
