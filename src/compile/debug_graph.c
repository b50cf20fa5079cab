/* debug_graph.c: DEBUG mode compares the rewritten function with the graph as it was written, on each call. */
#include <stdio.h>

#include "compile_int.h"

damo_status debug_prepare(damo_function *f, damo_obj *const *args, int64_t n_args) {
  damo_function *g = f->plain;
  for (int64_t i = 0; i < f->n_inputs; i++) { /* defaults move on with each call of f */
    damo_release(g->inputs[i].value);
    g->inputs[i].value = damo_retain(f->inputs[i].value);
  }
  return function_load(g, args, n_args, true);
}

static damo_status compare(damo_function *f, int64_t i, int32_t cell_f, int32_t cell_g, const char *what) {
  damo_function *g = f->plain;
  char text[512], name[160], now[160];
  if (debug_agree(g->plan.cells[cell_g], f->plan.cells[cell_f], true, text, sizeof text)) return DAMO_OK;
  const damo_var *before = g->fgraph->outputs.at[i], *after = f->fgraph->outputs.at[i];
  damo_ctx *ctx = f->obj.ctx;
  ctx_fail(ctx, DAMO_EINCONSISTENCY, "DEBUG: rewriting changed %s: %s, as written, became %s: %s", what,
           var_format(name, sizeof name, before), var_format(now, sizeof now, after), text);
  if (before->owner != NULL) ctx_fail_at(ctx, before->owner->op->def->name, before->owner);
  return DAMO_EINCONSISTENCY;
}

damo_status debug_compare(damo_function *f) {
  damo_function *g = f->plain;
  int64_t k = 0;
  damo_status s = vm_run(&g->plan);
  if (s != DAMO_OK) {
    ctx_fail_add(f->obj.ctx, "in DEBUG mode's run of the graph as it was written");
    return s;
  }
  for (; k < f->n_outputs; k++) {
    char what[48];
    snprintf(what, sizeof what, "result %lld", (long long)k + 1);
    DAMO_TRY(compare(f, k, f->outputs[k].cell, g->outputs[k].cell, what));
  }
  for (int64_t i = 0; i < f->n_shared; i++) {
    if (f->shared[i].update_cell < 0) continue;
    DAMO_TRY(compare(f, k++, f->shared[i].update_cell, g->shared[i].update_cell, "an update"));
  }
  return DAMO_OK;
}
