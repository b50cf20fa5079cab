/* gate: the sandbox flag of a context, and the check that every function with access to the outside makes at the time
 * of use. */
#include "base.h"

static const char *const GATES[] = {
    [GATE_FILE] = "opening files",
    [GATE_PROGRAM] = "starting programs",
    [GATE_POINTER] = "native pointers",
    [GATE_LIMIT] = "changing limits",
};

void damo_ctx_set_sandbox(damo_ctx *ctx) {
  if (ctx) ctx->sandbox = true;
}

bool damo_ctx_is_sandbox(const damo_ctx *ctx) { return ctx && ctx->sandbox; }

damo_status ctx_gate(damo_ctx *ctx, gate_kind gate, const char *what) {
  if (!ctx->sandbox) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESTATE, "%s: the sandbox forbids %s (damo.config.sandbox is set, for good)", what,
                  GATES[gate]);
}
