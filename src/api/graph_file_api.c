/* graph_file_api: the part of damo.h that writes and reads graphs (store). */
#include <string.h>

#include "api_int.h"
#include "store/store.h"

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static damo_status graph_fill(damo_graph *g, damo_var *const *in, damo_var *const *out, int64_t n_out,
                              damo_var *const *update_of, damo_var *const *update_to, int64_t n_updates) {
  for (int64_t i = 0; i < g->n_in; i++) {
    const in_spec spec = {.var = in[i]};
    DAMO_TRY(store_set_input(g, i, &spec));
  }
  DAMO_TRY(store_set_n_outputs(g, n_out));
  for (int64_t i = 0; i < n_out; i++) {
    const out_spec spec = {.var = out[i]};
    DAMO_TRY(store_set_output(g, i, &spec));
  }
  for (int64_t i = 0; i < n_updates; i++) {
    if (update_of[i]->kind != VAR_SHARED)
      return ctx_fail(g->ctx, DAMO_ETYPE, "damo_graph_new: update %lld is of a Variable that is not shared",
                      (long long)i + 1);
    DAMO_TRY(store_add_update(g, update_of[i], update_to[i]));
  }
  return DAMO_OK;
}

damo_graph *damo_graph_new(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                           int64_t n_out, damo_var *const *update_of, damo_var *const *update_to, int64_t n_updates) {
  static const char func[] = "damo_graph_new";
  if (ctx_check_objs(ctx, func, "inputs", inputs, n_in, OBJ_VAR) != DAMO_OK ||
      ctx_check_objs(ctx, func, "outputs", outputs, n_out, OBJ_VAR) != DAMO_OK ||
      ctx_check_objs(ctx, func, "update_of", update_of, n_updates, OBJ_VAR) != DAMO_OK ||
      ctx_check_objs(ctx, func, "update_to", update_to, n_updates, OBJ_VAR) != DAMO_OK) {
    return NULL;
  }
  damo_graph *g = store_graph_new(ctx, n_in);
  if (g == NULL) return NULL;
  if (graph_fill(g, inputs, outputs, n_out, update_of, update_to, n_updates) == DAMO_OK) return g;
  store_graph_free(g);
  return NULL;
}

damo_graph *damo_graph_of_function(const damo_function *f) { return f != NULL ? store_graph_of(f) : NULL; }
void damo_graph_free(damo_graph *g) { store_graph_free(g); }

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

int64_t damo_graph_size(const damo_graph *g, damo_graph_part part) {
  if (g == NULL) return 0;
  switch (part) {
    case DAMO_GRAPH_INPUTS: return g->n_in;
    case DAMO_GRAPH_OUTPUTS: return g->n_out;
    case DAMO_GRAPH_UPDATED: return g->update_of.n;
    case DAMO_GRAPH_UPDATES: return g->update_to.n;
    case DAMO_GRAPH_SHARED: return g->shared.n;
  }
  return 0;
}

damo_var *damo_graph_get(const damo_graph *g, damo_graph_part part, int64_t i) {
  if (i < 0 || i >= damo_graph_size(g, part)) return NULL;
  switch (part) {
    case DAMO_GRAPH_INPUTS: return g->in[i].var;
    case DAMO_GRAPH_OUTPUTS: return g->out[i].var;
    case DAMO_GRAPH_UPDATED: return g->update_of.at[i];
    case DAMO_GRAPH_UPDATES: return g->update_to.at[i];
    case DAMO_GRAPH_SHARED: return g->shared.at[i];
  }
  return NULL;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

damo_status damo_graph_write(const damo_graph *g, const char *path, bool lines) {
  if (g == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(g->ctx, "damo_graph_write", "path", path));
  return store_write(g, lines, IO_TO_FILE(path));
}

damo_status damo_graph_format(const damo_graph *g, bool lines, damo_bytes *out) {
  strbuf text;
  if (g == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(g->ctx, "damo_graph_format", "out", out));
  strbuf_init(&text, g->ctx);
  const io_to to = {.path = "bytes", .text = &text};
  const damo_status s = store_write(g, lines, &to);
  if (s == DAMO_OK)
    *out = (damo_bytes){.at = text.at, .n = text.n, .cap = text.cap};
  else
    strbuf_clear(&text);
  return s;
}

typedef struct api_ops {
  damo_ctx *ctx;
  damo_op *const *at;
  int64_t n;
} api_ops;

static bool find_api_op(void *user, const char *name, store_class *out) {
  const api_ops *ops = user;
  for (int64_t i = 0; i < ops->n; i++) {
    damo_op *op = ops->at[i];
    if (strcmp(op->def->name, name) != 0) continue;
    *out = (store_class){.def = op->def, .owner = op->owner, .op = op->def->unique ? op : NULL};
    return true;
  }
  *out = (store_class){.def = api_class_find(ops->ctx, name)};
  return out->def != NULL;
}

static damo_graph *read_from(damo_ctx *ctx, const io_from *from, damo_op *const *ops, int64_t n_ops) {
  api_ops found = {.ctx = ctx, .at = ops, .n = n_ops};
  const store_env env = {.find = find_api_op, .user = &found, .recipes = api_recipes};
  return store_read(ctx, from, &env);
}

damo_graph *damo_graph_read(damo_ctx *ctx, const char *path, damo_op *const *ops, int64_t n_ops) {
  static const char func[] = "damo_graph_read";
  if (ctx_check_given(ctx, func, "path", path) != DAMO_OK ||
      ctx_check_objs(ctx, func, "ops", ops, n_ops, OBJ_OP) != DAMO_OK)
    return NULL;
  return read_from(ctx, IO_FROM_FILE(path), ops, n_ops);
}

damo_graph *damo_graph_parse(damo_ctx *ctx, const void *bytes, size_t n, damo_op *const *ops, int64_t n_ops) {
  static const char func[] = "damo_graph_parse";
  if (ctx_check_objs(ctx, func, "ops", ops, n_ops, OBJ_OP) != DAMO_OK ||
      (n > 0 && ctx_check_given(ctx, func, "bytes", bytes) != DAMO_OK))
    return NULL;
  const io_from from = {.path = "bytes", .bytes = bytes != NULL ? bytes : "", .n = n};
  return read_from(ctx, &from, ops, n_ops);
}
