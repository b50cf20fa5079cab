/* check: checks of the arguments of damo.h's functions: objects must not be NULL, and be of the right kind and of this
 * context. A NULL context fails too, without a message. */
#include <stdio.h>
#include <string.h>

#include "base.h"

static const char *const KIND_WORDS[OBJ_N_KINDS] = {
    [OBJ_ARRAY] = "an array", [OBJ_SPARSE] = "a sparse matrix", [OBJ_TYPE] = "a Type",
    [OBJ_OP] = "an Op",       [OBJ_VAR] = "a Variable",         [OBJ_APPLY] = "a node",
    [OBJ_FGRAPH] = "a graph", [OBJ_FUNCTION] = "a Function",    [OBJ_RUN] = "a run",
};

static const char *kind_word(int kind) {
  const char *word = kind >= 0 && kind < OBJ_N_KINDS ? KIND_WORDS[kind] : NULL;
  return word ? word : "an object of another kind";
}

damo_status ctx_check_given(damo_ctx *ctx, const char *func, const char *arg, const void *p) {
  if (!ctx) return DAMO_EVALUE;
  return p ? DAMO_OK : ctx_fail(ctx, DAMO_EVALUE, "%s: %s is NULL", func, arg);
}

/* The error for an object that is not NULL but of another kind or context. */
static damo_status check_refuse(damo_ctx *ctx, const char *func, const char *arg, const damo_obj *obj, obj_kind kind) {
  if (obj->kind != kind) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: %s must be %s, got %s", func, arg, kind_word(kind), kind_word(obj->kind));
  }
  return ctx_fail(ctx, DAMO_ETYPE, "%s: %s belongs to another context; make it in this one", func, arg);
}

static bool is_fine(const damo_ctx *ctx, const damo_obj *obj, obj_kind kind) {
  return obj->kind == kind && obj->ctx == ctx;
}

damo_status ctx_check_obj(damo_ctx *ctx, const char *func, const char *arg, const void *obj, obj_kind kind) {
  if (!ctx || !obj) return ctx_check_given(ctx, func, arg, obj);
  return is_fine(ctx, obj, kind) ? DAMO_OK : check_refuse(ctx, func, arg, obj, kind);
}

damo_status ctx_check_list(damo_ctx *ctx, const char *func, const char *arg, const void *list, int64_t n) {
  if (!ctx) return DAMO_EVALUE;
  if (n < 0) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: the number of %s is %lld, expected 0 or more", func, arg, (long long)n);
  }
  return n == 0 || list ? DAMO_OK : ctx_fail(ctx, DAMO_EVALUE, "%s: the list of %s is NULL", func, arg);
}

/* The error for entry i, which is NULL, of another kind or of another context. */
static damo_status refuse_entry(damo_ctx *ctx, const char *func, const char *arg, const damo_obj *obj, int64_t i,
                                obj_kind kind) {
  char what[96];
  snprintf(what, sizeof what, "entry %lld of %s", (long long)i + 1, arg);
  return ctx_check_obj(ctx, func, what, obj, kind);
}

damo_status ctx_check_objs(damo_ctx *ctx, const char *func, const char *arg, const void *list, int64_t n,
                           obj_kind kind) {
  DAMO_TRY(ctx_check_list(ctx, func, arg, list, n));
  const damo_obj *const *objs = list;
  for (int64_t i = 0; i < n; i++) {
    if (objs[i] && is_fine(ctx, objs[i], kind)) continue;
    return refuse_entry(ctx, func, arg, objs[i], i, kind);
  }
  return DAMO_OK;
}

#define OPTIONS_MOST 4096 /* limit for the size of a struct of options, in this version or a later one */

damo_status ctx_read_options(damo_ctx *ctx, const char *func, const void *given, void *out, size_t size) {
  size_t n = 0;
  if (!ctx) return DAMO_EVALUE;
  memset(out, 0, size);
  if (!given) return DAMO_OK;
  memcpy(&n, given, sizeof n);
  if (n < sizeof n || n > OPTIONS_MOST) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: the options' size is %zu, expected sizeof the struct, %zu", func, n, size);
  }
  const char *bytes = given;
  for (size_t i = size; i < n; i++) {
    if (bytes[i] != 0) return ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "%s: the options are those of a newer damo.h", func);
  }
  memcpy(out, given, n < size ? n : size);
  return DAMO_OK;
}
