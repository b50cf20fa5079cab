/* error: the context's error object. Its memory is part of the context, so failing never allocates. */
#include <stdio.h>
#include <string.h>

#include "base.h"

static const char *const STATUS_KINDS[] = {
#define X(code, kind, text) [DAMO_##code] = kind,
    DAMO_STATUS_MAP(X)
#undef X
};

static const char *const STATUS_TEXTS[] = {
#define X(code, kind, text) [DAMO_##code] = text,
    DAMO_STATUS_MAP(X)
#undef X
};

#define N_STATUS ((int)(sizeof STATUS_KINDS / sizeof STATUS_KINDS[0]))

const char *damo_status_kind(damo_status status) {
  int i = (int)status;
  return i >= 0 && i < N_STATUS ? STATUS_KINDS[i] : "unknown";
}

/* Removes an incomplete UTF-8 sequence from the end of a truncated text. */
static void trim_utf8(char *s, size_t n) {
  size_t i = n;
  while (i > 0 && n - i < 3 && ((unsigned char)s[i - 1] & 0xC0) == 0x80) i--;
  if (i == 0) return;
  unsigned char lead = (unsigned char)s[i - 1];
  size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (want > 1 && n - (i - 1) < want) s[i - 1] = '\0';
}

/* Formats into dst of n bytes; returns the length written. */
static size_t format_into(char *dst, size_t n, const char *fmt, va_list args) {
  int len = vsnprintf(dst, n, fmt, args);
  if (len < 0) {
    dst[0] = '\0';
    return 0;
  }
  if ((size_t)len < n) return (size_t)len;
  trim_utf8(dst, n - 1);
  return strlen(dst);
}

/* Sets the status and clears op, operands and node of the former error. Called last, since the new message may have been
 * formatted from their texts. */
static void set_status(damo_ctx *ctx, damo_status status) {
  CTX_ASSERT_THAWED(ctx);
  damo_apply *node = ctx->error.node;
  ctx->error.status = status;
  ctx->error.op[0] = '\0';
  ctx->error.operands[0] = '\0';
  ctx->error.node = NULL;
  damo_release(node);
}

damo_status ctx_vfail(damo_ctx *ctx, damo_status status, const char *fmt, va_list args) {
  char text[ERROR_MESSAGE_MAX];
  size_t n = format_into(text, sizeof text, fmt, args);
  memcpy(ctx->error.message, text, n + 1);
  set_status(ctx, status);
  return status;
}

damo_status ctx_fail(damo_ctx *ctx, damo_status status, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  ctx_vfail(ctx, status, fmt, args);
  va_end(args);
  return status;
}

damo_status ctx_fail_memory(damo_ctx *ctx) {
  const char *text = STATUS_TEXTS[DAMO_EMEMORY];
  memcpy(ctx->error.message, text, strlen(text) + 1);
  set_status(ctx, DAMO_EMEMORY);
  return DAMO_EMEMORY;
}

void ctx_fail_add(damo_ctx *ctx, const char *fmt, ...) {
  char text[ERROR_MESSAGE_MAX];
  va_list args;
  va_start(args, fmt);
  size_t n = format_into(text, sizeof text, fmt, args);
  va_end(args);
  char *message = ctx->error.message;
  size_t at = strlen(message);
  if (at > n && message[at - n - 1] == '\n' && strcmp(message + at - n, text) == 0) return; /* repeated by recursion */
  if (at + 1 >= ERROR_MESSAGE_MAX) return;
  message[at++] = '\n';
  size_t left = ERROR_MESSAGE_MAX - 1 - at;
  size_t take = n < left ? n : left;
  memcpy(message + at, text, take);
  message[at + take] = '\0';
  if (take < n) trim_utf8(message + at, take);
}

void ctx_fail_at(damo_ctx *ctx, const char *op, damo_apply *node) {
  ctx_error *e = &ctx->error;
  if (op && !e->op[0]) snprintf(e->op, sizeof e->op, "%s", op);
  if (node && !e->node) e->node = damo_retain(node);
}

void ctx_fail_operands(damo_ctx *ctx, const char *operands) {
  snprintf(ctx->error.operands, sizeof ctx->error.operands, "%s", operands);
}

void ctx_clear_error(damo_ctx *ctx) {
  ctx->error.message[0] = '\0';
  set_status(ctx, DAMO_OK);
}

/* A NULL context has no error object: the argument itself is the error. */
damo_status damo_error_status(const damo_ctx *ctx) { return ctx ? ctx->error.status : DAMO_EVALUE; }

const char *damo_error_kind(const damo_ctx *ctx) { return damo_status_kind(damo_error_status(ctx)); }

const char *damo_error_message(const damo_ctx *ctx) {
  if (!ctx) return "the context is NULL";
  if (ctx->error.message[0]) return ctx->error.message;
  int i = (int)ctx->error.status;
  return i >= 0 && i < N_STATUS ? STATUS_TEXTS[i] : "";
}

const char *damo_error_op(const damo_ctx *ctx) { return ctx && ctx->error.op[0] ? ctx->error.op : NULL; }

const char *damo_error_operands(const damo_ctx *ctx) {
  return ctx && ctx->error.operands[0] ? ctx->error.operands : NULL;
}

damo_apply *damo_error_get_node(const damo_ctx *ctx) { return ctx ? ctx->error.node : NULL; }
