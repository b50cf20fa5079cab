/* debug_graph.c: in each call DEBUG mode also computes the graph as it was written and both sides of every rewrite, by
 * a companion Function. It compares the sides of the rewrites, in the order in which they were made, and then the
 * results of the rewritten Function with the original ones. */
#include <stdio.h>

#include "watch_int.h"

/* What debug_begin keeps until debug_finish. */
typedef struct debug_past {
  debug_history *history;
  ptrvec fresh; /* the shadows of no_recycling's Variables */
} debug_past;

static void past_free(damo_ctx *ctx, debug_past *past) {
  debug_history_free(past->history);
  ptrvec_clear(&past->fresh);
  mem_free(ctx, past, sizeof *past);
}

static damo_status debug_begin(compile_job *j, damo_fgraph *fg, void **kept) {
  damo_ctx *ctx = fg->obj.ctx;
  const ptrvec *fresh = compile_fresh(j);
  debug_past *past = mem_calloc(ctx, sizeof *past);
  if (past == NULL) return DAMO_EMEMORY;
  ptrvec_init(&past->fresh, ctx);
  past->history = debug_history_begin(fg);
  damo_status s = past->history != NULL ? DAMO_OK : damo_error_status(ctx);
  for (int64_t i = 0; i < fresh->n && s == DAMO_OK; i++) {
    s = ptrvec_push(&past->fresh, debug_history_shadow(past->history, fresh->at[i]));
  }
  *kept = past;
  if (s != DAMO_OK) past_free(ctx, past);
  return s;
}

/* Compiles the companion: the graph as it was written, and both sides of every rewrite. */
static damo_function *compile_past(compile_job *j, const debug_past *past, const damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  map copies;
  ptrvec fresh;
  map_init(&copies, ctx);
  ptrvec_init(&fresh, ctx);
  damo_fgraph *graph = debug_history_graph(past->history, fg, &copies);
  damo_function *f = NULL;
  char *const *rules;
  damo_status s = graph != NULL ? DAMO_OK : damo_error_status(ctx);
  for (int64_t i = 0; i < past->fresh.n && s == DAMO_OK; i++) {
    damo_var *copy = map_get_ptr(&copies, past->fresh.at[i]);
    if (copy != NULL) s = ptrvec_push(&fresh, copy);
  }
  const int64_t n_rules = debug_history_rules(past->history, &rules);
  if (s == DAMO_OK) f = compile_companion(j, graph, &fresh, rules, n_rules);
  map_clear(&copies);
  ptrvec_clear(&fresh);
  damo_release(graph);
  return f;
}

static damo_status debug_finish(compile_job *j, void *kept, damo_function *f) {
  debug_past *past = kept;
  damo_ctx *ctx = past->fresh.ctx;
  debug_history_end(past->history);
  if (f != NULL) f->companion = compile_past(j, past, f->program->fgraph);
  past_free(ctx, past);
  return f == NULL || f->companion != NULL ? DAMO_OK : damo_error_status(ctx);
}

static damo_status debug_prepare(damo_function *f, damo_obj *const *args, int64_t n_args) {
  damo_function *g = f->companion;
  nanguard_clear_masks(f);
  DAMO_TRY(nanguard_check_inputs(f, "DEBUG"));
  for (int64_t i = 0; i < f->program->n_inputs; i++) { /* updates change f's default values with each call */
    damo_release(g->defaults[i]);
    g->defaults[i] = damo_retain(f->defaults[i]);
  }
  return function_load(g, args, n_args, true);
}

/* Attributes the pending error to the node of v, in the graph as it was written. */
static damo_status plain_blame(damo_ctx *ctx, const damo_var *v) {
  if (v->owner != NULL) ctx_fail_at(ctx, v->owner->op->def->name, v->owner);
  return DAMO_EINCONSISTENCY;
}

/* ---- Rounding ---------------------------------------------------------------------------------------------------- */

/* Adds the values of all inputs and outputs of g's thunks. */
static damo_status list_values(const damo_function *g, map *values) {
  for (int64_t k = 0; k < g->program->vm.n_thunks; k++) {
    const thunk *t = g->program->vm.thunks[k];
    for (int i = 0; i < t->n_in; i++)
      DAMO_TRY(map_put(values, t->node->in[i], (uintptr_t)thunk_value(t, &g->frame.frame, i)));
    for (int o = 0; o < t->n_out; o++)
      DAMO_TRY(map_put(values, t->node->out[o], (uintptr_t)thunk_result(t, &g->frame.frame, o)));
  }
  return DAMO_OK;
}

/* Drops in-place nodes: they have overwritten their operands' cells. */
static void leave_out_destroyers(ptrvec *nodes) {
  int64_t n = 0;
  for (int64_t k = 0; k < nodes->n; k++) {
    if (((const damo_apply *)nodes->at[k])->op->destroy_map == NULL) nodes->at[n++] = nodes->at[k];
  }
  nodes->n = n;
}

/* debug_terms of v, a Variable of g's graph, looking through the nodes above it that are not ancestors of `other` (may
 * be NULL). */
static damo_status plain_terms(const damo_function *g, damo_var *v, damo_var *other, damo_obj **terms) {
  damo_ctx *ctx = g->obj.ctx;
  ptrvec nodes, stops;
  map values;
  ptrvec_init(&nodes, ctx);
  ptrvec_init(&stops, ctx);
  map_init(&values, ctx);
  damo_status s = other != NULL ? graph_ancestors(ctx, &other, 1, &stops) : DAMO_OK;
  if (s == DAMO_OK) s = graph_toposort(ctx, &v, 1, (damo_var *const *)stops.at, stops.n, &nodes);
  if (s == DAMO_OK) s = list_values(g, &values);
  leave_out_destroyers(&nodes);
  if (s == DAMO_OK) s = debug_terms(ctx, &nodes, v, &values, terms);
  ptrvec_clear(&nodes);
  ptrvec_clear(&stops);
  map_clear(&values);
  return s;
}

/* If *agree is false, sets it to whether x and y differ by no more than the rounding of v's terms. */
static damo_status plain_allow_rounding(const damo_function *g, damo_var *v, damo_var *other, const damo_obj *x,
                                        const damo_obj *y, bool *agree) {
  char text[512];
  damo_obj *terms = NULL;
  if (*agree) return DAMO_OK;
  DAMO_TRY(plain_terms(g, v, other, &terms));
  *agree = terms != NULL && debug_agree_within(x, y, terms, true, text, sizeof text);
  damo_release(terms);
  return DAMO_OK;
}

/* ---- Rewrites ---------------------------------------------------------------------------------------------------- */

/* The error that names the rule and both sides of the rewrite. */
static damo_status accuse_rule(damo_function *g, const fn_pair *r, damo_var *before, const damo_var *after,
                               const char *text) {
  damo_ctx *ctx = g->obj.ctx;
  char old[160], now[160];
  ctx_fail(ctx, DAMO_EINCONSISTENCY, "DEBUG: the rewrite '%s' changed the value of %s, in whose place it put %s: %s",
           r->name, var_format(old, sizeof old, before), var_format(now, sizeof now, after), text);
  return plain_blame(ctx, before);
}

/* Compares the two sides of rewrite k. Skips it if its old side has no value, because it belongs to a branch not
 * taken. */
static damo_status check_rewrite(damo_function *g, int64_t k) {
  const fn_pair *r = &g->program->pairs[k];
  if (!vm_has_value(&g->frame, r->first_cell)) return DAMO_OK;
  int64_t at = g->program->fgraph->outputs.n - 2 * (g->program->n_pairs - k);
  damo_var *before = g->program->fgraph->outputs.at[at], *after = g->program->fgraph->outputs.at[at + 1];
  damo_status s = vm_run_for(&g->frame, r->second_cell);
  char text[ERROR_MESSAGE_MAX];
  if (s == DAMO_EMEMORY || s == DAMO_ECALLBACK) return s;
  if (s != DAMO_OK) {
    snprintf(text, sizeof text, "that fails: %s", damo_error_message(g->obj.ctx));
    ctx_clear_error(g->obj.ctx);
    return accuse_rule(g, r, before, after, text);
  }
  const damo_obj *x = g->frame.frame.cells[r->first_cell], *y = g->frame.frame.cells[r->second_cell];
  bool agree = debug_agree(x, y, true, text, sizeof text);
  DAMO_TRY(plain_allow_rounding(g, before, after, x, y, &agree));
  DAMO_TRY(plain_allow_rounding(g, after, before, x, y, &agree));
  return agree ? DAMO_OK : accuse_rule(g, r, before, after, text);
}

static damo_status check_rewrites(damo_function *g) {
  for (int64_t k = 0; k < g->program->n_pairs; k++) DAMO_TRY(check_rewrite(g, k));
  return DAMO_OK;
}

/* Whether a node of a host reads or changes something outside: the graph as it was written would do so a second time, and
 * find other values, so it is not run. */
static bool reaches_outside(const damo_function *f) {
  const fn_program *p = f->program;
  for (int64_t k = 0; k < p->vm.n_thunks; k++) {
    const damo_apply *node = p->vm.thunks[k]->node;
    if (node != NULL && op_is_foreign(node->op) && node->op->def->impure) return true;
  }
  return false;
}

/* A run of the rewritten graph that fails with a numeric, shape, index, value or type error may fail because of a wrong
 * rewrite: if the graph as written runs and a rewrite proves wrong, that becomes the error. */
static damo_status debug_explain(damo_function *f, damo_status s) {
  if (s != DAMO_ENUMERIC && s != DAMO_ESHAPE && s != DAMO_EINDEX && s != DAMO_EVALUE && s != DAMO_ETYPE) return s;
  if (reaches_outside(f)) return s;
  damo_ctx *ctx = f->obj.ctx;
  ctx_error first = ctx->error;
  damo_retain(first.node);
  if (vm_run(&f->companion->frame) == DAMO_OK && check_rewrites(f->companion) == DAMO_EINCONSISTENCY) {
    damo_release(first.node);
    return DAMO_EINCONSISTENCY;
  }
  ctx_clear_error(ctx);
  ctx->error = first;
  return s;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static damo_status plain_compare(damo_function *f, int64_t i, int32_t cell_f, int32_t cell_g, const char *what) {
  damo_function *g = f->companion;
  char text[512], name[160], now[160];
  const damo_obj *x = g->frame.frame.cells[cell_g], *y = f->frame.frame.cells[cell_f];
  damo_var *before = g->program->fgraph->outputs.at[i];
  const damo_var *after = f->program->fgraph->outputs.at[i];
  bool agree = debug_agree(x, y, true, text, sizeof text);
  DAMO_TRY(plain_allow_rounding(g, before, NULL, x, y, &agree));
  if (agree) return DAMO_OK;
  damo_ctx *ctx = f->obj.ctx;
  ctx_fail(ctx, DAMO_EINCONSISTENCY, "DEBUG: rewriting changed %s: %s, as written, became %s: %s", what,
           var_format(name, sizeof name, before), var_format(now, sizeof now, after), text);
  return plain_blame(ctx, before);
}

static damo_status debug_compare(damo_function *f) {
  damo_function *g = f->companion;
  int64_t k = 0;
  if (reaches_outside(f)) return DAMO_OK;
  damo_status s = vm_run(&g->frame);
  if (s != DAMO_OK) {
    ctx_fail_add(f->obj.ctx, "in DEBUG mode's run of the graph as it was written");
    return s;
  }
  DAMO_TRY(check_rewrites(g));
  for (; k < f->program->n_outputs; k++) {
    char what[48];
    snprintf(what, sizeof what, "result %lld", (long long)k + 1);
    DAMO_TRY(plain_compare(f, k, f->program->outputs[k].cell, g->program->outputs[k].cell, what));
  }
  for (int64_t i = 0; i < f->program->n_shared; i++) {
    if (f->program->shared[i].update_cell < 0) continue;
    DAMO_TRY(plain_compare(f, k++, f->program->shared[i].update_cell, g->program->shared[i].update_cell, "an update"));
  }
  return DAMO_OK;
}

/* Without fusion, so that each node is checked by itself. */
const fn_watcher debug_watcher = {.mode = "DEBUG",
                                  .leaves_out = "fuse_elemwise fuse_product read_at_source",
                                  .begin = debug_begin,
                                  .finish = debug_finish,
                                  .prepare = debug_prepare,
                                  .step = debug_step,
                                  .compare = debug_compare,
                                  .explain = debug_explain,
                                  .clear = nanguard_clear_masks,
                                  .watches_inner = true,
                                  .keeps_results = true};
