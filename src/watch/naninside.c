/* naninside.c: where inside an Op that holds a graph a result became non-finite.
 *
 * NANGUARD runs inner graphs without a watcher, because an entry that is not finite may be discarded outside of them.
 * When such an entry is found in a result of a Scan or an OpFromGraph, the node runs once more with its inner graph in
 * NANGUARD mode, whose error names the inner node, its line and the step.
 */
#include "watch_int.h"

static damo_status run_inside(damo_ctx *ctx, const thunk *t, cell *cells) {
  thunk_alone *again = thunk_alone_new(ctx, t->node, cells, NULL, NULL);
  if (again == NULL) return damo_error_status(ctx);
  again->f.inner_mode = "NANGUARD";
  again->f.silent = true;
  const damo_status s = thunk_run(&again->t, &again->f);
  thunk_alone_free(again);
  return s;
}

damo_status nanguard_look_inside(const thunk *t, const frame *f, bool *found) {
  *found = false;
  if (t->node->op->def->inner_graph == NULL) return DAMO_OK;
  damo_ctx *ctx = f->ctx;
  const size_t bytes = (size_t)(t->n_in + t->n_out) * sizeof(cell);
  cell *cells = mem_calloc(ctx, bytes);
  if (cells == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < t->n_in; i++) cells[i] = damo_retain(thunk_value(t, f, i));
  const damo_status s = run_inside(ctx, t, cells);
  for (int i = 0; i < t->n_in + t->n_out; i++) damo_release(cells[i]);
  mem_free(ctx, cells, bytes);
  *found = s == DAMO_ENUMERIC;
  if (*found || s == DAMO_EMEMORY) return *found ? DAMO_OK : s;
  if (s != DAMO_OK) ctx_clear_error(ctx);
  return DAMO_OK;
}
