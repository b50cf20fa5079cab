/* A context without ops: what spec/c/jit_test.c needs of damo where the rest is not linked. */
#include "base/base.h"

damo_ctx *damo_ctx_new(damo_alloc_fn alloc, void *user) { return ctx_new_bare(alloc, user); }
