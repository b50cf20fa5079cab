/* mtx_case: shared by the tests of Matrix Market files. */
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

/* Called at the end of main: checks that nothing is left. */
static inline void end_ctx(damo_ctx *ctx) {
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
}

#endif
