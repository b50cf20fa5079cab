/* context.c: damo_ctx_new: a bare context with every layer and op family registered. */
#include "api.h"
#include "op/op.h"
#include "rewrite/rewrite.h"
#include "scan/scan.h"

#include "sparse/sparse.h"
#include "watch/watch.h"

/* In the order in which error messages list the modes. */
static const fn_watcher *const mode_watchers[] = {&debug_watcher, &nanguard_watcher, NULL};

static damo_status register_layers(damo_ctx *ctx) {
  array_register(ctx);
  sparse_register(ctx);
  DAMO_TRY(graph_register(ctx));
  DAMO_TRY(op_register_all(ctx));
  DAMO_TRY(rewrite_register_all(ctx));
  DAMO_TRY(api_graph_ops_register(ctx));
  DAMO_TRY(scan_register(ctx));
  DAMO_TRY(api_classes_register(ctx));
  return compile_register(ctx, mode_watchers);
}

damo_ctx *damo_ctx_new(damo_alloc_fn alloc, void *user) {
  damo_ctx *ctx = ctx_new_bare(alloc, user);
  if (ctx == NULL) return NULL;
  if (register_layers(ctx) == DAMO_OK) return ctx;
  damo_ctx_release(ctx);
  return NULL;
}
