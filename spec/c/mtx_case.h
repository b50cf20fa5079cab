/* mtx_case: what the programs that test Matrix Market files share. */
#ifndef DAMO_MTX_CASE_H
#define DAMO_MTX_CASE_H

#include "io/io_int.h"

#include "test.h"

#define DATA "spec/data/"

static inline damo_ctx *new_ctx(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  return ctx;
}

static inline damo_obj *parse(damo_ctx *ctx, const char *text) {
  return mtx_parse(ctx, "x.mtx", text, strlen(text), DAMO_CSR);
}

/* The foot of main: nothing is left. */
static inline void end_ctx(damo_ctx *ctx) {
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
}

#endif
