/* graph.c: damo_graph: its life, and what a Function was compiled from. */
#include "store_int.h"

#include <string.h>

static void clear_input(damo_ctx *ctx, in_spec *in) {
  if (in->name != NULL) mem_strfree(ctx, (char *)(uintptr_t)in->name);
  damo_release(in->var);
  damo_release(in->value);
  damo_release(in->update);
}

static void clear_output(damo_ctx *ctx, out_spec *out) {
  if (out->name != NULL) mem_strfree(ctx, (char *)(uintptr_t)out->name);
  damo_release(out->var);
}

void store_graph_free(damo_graph *g) {
  if (g == NULL) return;
  damo_ctx *ctx = g->ctx;
  for (int64_t i = 0; i < g->n_in; i++) clear_input(ctx, &g->in[i]);
  for (int64_t i = 0; i < g->n_out; i++) clear_output(ctx, &g->out[i]);
  if (g->in != NULL) mem_free(ctx, g->in, (size_t)g->n_in * sizeof *g->in);
  if (g->out != NULL) mem_free(ctx, g->out, (size_t)g->n_out * sizeof *g->out);
  for (int64_t i = 0; i < g->shared.n && !g->handed_on; i++) {
    damo_var *v = g->shared.at[i], *update = v->default_update;
    v->default_update = NULL;
    damo_release(update);
  }
  ptrvec_release_all(&g->update_of);
  ptrvec_release_all(&g->update_to);
  ptrvec_release_all(&g->shared);
  mem_free(ctx, g, sizeof *g);
  damo_ctx_release(ctx);
}

damo_graph *store_graph_new(damo_ctx *ctx, int64_t n_in) {
  damo_graph *g = mem_calloc(ctx, sizeof *g);
  if (g == NULL) return NULL;
  g->ctx = damo_ctx_retain(ctx);
  ptrvec_init(&g->update_of, ctx);
  ptrvec_init(&g->update_to, ctx);
  ptrvec_init(&g->shared, ctx);
  g->in = mem_calloc(ctx, (size_t)n_in * sizeof *g->in);
  if (g->in != NULL) {
    g->n_in = n_in;
    return g;
  }
  store_graph_free(g);
  return NULL;
}

damo_status store_set_n_outputs(damo_graph *g, int64_t n) {
  damo_assert(g->out == NULL);
  g->out = mem_calloc(g->ctx, (size_t)n * sizeof *g->out);
  if (g->out == NULL) return DAMO_EMEMORY;
  g->n_out = n;
  return DAMO_OK;
}

/* The new value as compiling makes it fit (owned); NULL: the Types do not fit. */
static damo_var *fit_update(damo_graph *g, damo_var *of, damo_var *to) {
  build b;
  build_init(&b, g->ctx);
  damo_var *fit = damo_retain(compile_fit_value(&b, "save_graph", of, to, "update"));
  if (build_end(&b) == DAMO_OK) return fit;
  damo_release(fit);
  return NULL;
}

damo_status store_set_input(damo_graph *g, int64_t i, const in_spec *spec) {
  char *name = NULL;
  damo_var *update = spec->update != NULL ? fit_update(g, spec->var, spec->update) : NULL;
  if (spec->update != NULL && update == NULL) return damo_error_status(g->ctx);
  const damo_status s = mem_copy_text(g->ctx, spec->name, &name);
  if (s != DAMO_OK) {
    damo_release(update);
    return s;
  }
  clear_input(g->ctx, &g->in[i]);
  g->in[i] = *spec;
  g->in[i].name = name;
  g->in[i].update = update;
  damo_retain(spec->var);
  damo_retain(spec->value);
  return DAMO_OK;
}

damo_status store_set_output(damo_graph *g, int64_t i, const out_spec *spec) {
  char *name = NULL;
  DAMO_TRY(mem_copy_text(g->ctx, spec->name, &name));
  clear_output(g->ctx, &g->out[i]);
  g->out[i] = *spec;
  g->out[i].name = name;
  damo_retain(spec->var);
  return DAMO_OK;
}

damo_status store_add_update(damo_graph *g, damo_var *of, damo_var *to) {
  DAMO_TRY(ptrvec_reserve(&g->update_of, g->update_of.n + 1));
  DAMO_TRY(ptrvec_reserve(&g->update_to, g->update_to.n + 1));
  damo_var *fit = fit_update(g, of, to);
  if (fit == NULL) return damo_error_status(g->ctx);
  ptrvec_push(&g->update_of, damo_retain(of));
  ptrvec_push(&g->update_to, fit);
  return DAMO_OK;
}

/* The new value of the Variable, borrowed; NULL: it has none. */
static damo_var *update_in(const fn_program *p, const damo_var *v) {
  for (int64_t k = 0; k < p->n_source_targets; k++) {
    if (p->source_targets[k] == v) return p->source[p->n_source - p->n_source_targets + k];
  }
  return NULL;
}

static damo_status take_function(damo_graph *g, const damo_function *f) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < g->n_in; i++) {
    const fn_input *in = &p->inputs[i];
    const bool own_name =
        in->name != NULL && (in->var->name == NULL || strcmp(in->name, in->var->name) != 0); /* else the Variable's */
    const in_spec spec = {.var = in->var,
                          .name = own_name ? in->name : NULL,
                          .value = f->defaults[i],
                          .update = update_in(p, in->var),
                          .mutable_ = in->mutable_,
                          .strict = in->strict};
    DAMO_TRY(store_set_input(g, i, &spec));
  }
  for (int64_t o = 0; o < g->n_out; o++) {
    const out_spec spec = {.var = p->source[o], .name = p->outputs[o].name, .borrow = p->outputs[o].borrow};
    DAMO_TRY(store_set_output(g, o, &spec));
  }
  for (int64_t k = 0; k < p->n_source_targets; k++) {
    damo_var *of = p->source_targets[k];
    if (of->kind == VAR_SHARED) DAMO_TRY(store_add_update(g, of, update_in(p, of)));
  }
  return DAMO_OK;
}

damo_graph *store_graph_of(const damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  const fn_program *p = f->program;
  if (f->freed || ctx != p->ctx || p->n_source < p->n_outputs + p->n_source_targets) {
    ctx_fail(ctx, DAMO_ESTATE,
             f->freed ? "save_graph: the function was freed"
                      : "save_graph: the function does not hold the graph that it was compiled from; save the one that "
                        "was compiled in this context");
    return NULL;
  }
  damo_graph *g = store_graph_new(ctx, p->n_inputs);
  if (g == NULL) return NULL;
  g->all_updates = true;
  if (store_set_n_outputs(g, p->n_outputs) == DAMO_OK && take_function(g, f) == DAMO_OK) return g;
  store_graph_free(g);
  return NULL;
}
