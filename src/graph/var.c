/* var.c: Variables and Apply nodes: construction and destruction.
 *
 * A node and its output Variables live and die together: references to an output are counted on its node (var_holder),
 * and the node's destructor frees the outputs.
 */
#include "graph_int.h"

#include <string.h>

/* ---- Variables --------------------------------------------------------------------------------------------------- */

static void var_free(damo_var *v) {
  damo_release(v->type);
  damo_release(v->value);
  damo_release(v->default_update);
  mem_strfree(v->obj.ctx, v->name);
  obj_free(&v->obj, sizeof *v);
}

static void var_destroy(damo_obj *obj) { var_free((damo_var *)obj); }

static damo_obj *var_holder(damo_obj *obj) {
  damo_var *v = (damo_var *)obj;
  return v->owner != NULL ? &v->owner->obj : obj;
}

damo_var *var_new(damo_ctx *ctx, damo_type *type, const char *name) {
  damo_var *v = obj_new(ctx, OBJ_VAR, sizeof *v);
  if (v == NULL) return NULL;
  v->type = damo_retain(type);
  v->id = ctx->next_id++;
  if (name != NULL && (v->name = mem_strdup(ctx, name)) == NULL) {
    damo_release(v);
    return NULL;
  }
  return v;
}

damo_var *var_constant(damo_ctx *ctx, damo_type *type, damo_obj *value) {
  damo_type *own = type != NULL ? damo_retain(type) : type_of_value(value);
  if (own == NULL) return NULL;
  damo_var *v = var_new(ctx, own, NULL);
  damo_release(own);
  if (v == NULL) return NULL;
  v->kind = VAR_CONSTANT;
  v->value = damo_retain(value);
  return v;
}

damo_var *var_shared(damo_ctx *ctx, damo_type *type, damo_obj *value, const char *name) {
  damo_var *v = var_new(ctx, type, name);
  if (v == NULL) return NULL;
  v->kind = VAR_SHARED;
  v->value = damo_retain(value);
  return v;
}

damo_status var_set_name(damo_var *v, const char *name) {
  char *copy = NULL;
  if (name != NULL && (copy = mem_strdup(v->obj.ctx, name)) == NULL) return DAMO_EMEMORY;
  mem_strfree(v->obj.ctx, v->name);
  v->name = copy;
  return DAMO_OK;
}

const damo_array *var_constant_array(const damo_var *v) {
  if (v->kind != VAR_CONSTANT || v->value == NULL || v->value->kind != OBJ_ARRAY) return NULL;
  return (const damo_array *)v->value;
}

bool apply_shares_pattern(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (def->pattern != PATTERN_SHARED || !def->entrywise) return def->pattern == PATTERN_SHARED;
  return dtype_cast_keeps_sums((damo_dtype)node->in[0]->type->dtype, (damo_dtype)node->out[0]->type->dtype);
}

damo_var *var_pattern_root(const damo_var *v, int64_t steps) {
  while (steps-- > 0 && v->owner != NULL && apply_shares_pattern(v->owner)) v = v->owner->in[0];
  return (damo_var *)(uintptr_t)v;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static size_t apply_bytes(int n_in, int n_out) {
  return sizeof(damo_apply) + ((size_t)n_in + (size_t)n_out) * sizeof(damo_var *);
}

static void apply_destroy(damo_obj *obj) {
  damo_apply *node = (damo_apply *)obj;
  for (int i = 0; i < node->n_in; i++) damo_release(node->in[i]);
  for (int i = 0; i < node->n_out; i++) {
    if (node->out[i] != NULL) var_free(node->out[i]);
  }
  damo_release(node->op);
  damo_release(node->trace);
  obj_free(obj, apply_bytes(node->n_in, node->n_out));
}

static bool maps_fit(damo_ctx *ctx, const damo_op *op, int n_in, int n_out) {
  if (op->view_map == NULL && op->destroy_map == NULL) return true;
  return op_check_alias(ctx, op->def->name, "view_map", op->view_map, n_in, n_out) == DAMO_OK &&
         op_check_alias(ctx, op->def->name, "destroy_map", op->destroy_map, n_in, n_out) == DAMO_OK;
}

damo_apply *apply_new(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in, damo_type *const *out, int n_out) {
  if (!maps_fit(ctx, op, n_in, n_out)) return NULL;
  damo_apply *node = obj_new(ctx, OBJ_APPLY, apply_bytes(n_in, n_out));
  if (node == NULL) return NULL;
  node->id = ctx->next_id++;
  node->op = damo_retain(op);
  node->trace = damo_retain(graph_notes_of(ctx)->trace);
  node->n_in = n_in;
  node->n_out = n_out;
  node->in = (damo_var **)(node + 1);
  node->out = node->in + n_in;
  for (int i = 0; i < n_in; i++) node->in[i] = damo_retain(in[i]);
  for (int i = 0; i < n_out; i++) {
    damo_var *v = var_new(ctx, out[i], NULL);
    if (v == NULL) {
      damo_release(node);
      return NULL;
    }
    v->owner = node; /* the node frees it: its own count is not used any more */
    v->index = i;
    node->out[i] = v;
  }
  return node;
}

void apply_adopt(damo_apply *node, int i, damo_var *v) {
  damo_var *fresh = node->out[i];
  damo_assert(v->owner == NULL && v->kind == VAR_PLAIN);
  v->owner = node;
  v->index = i;
  node->out[i] = v;
  node->obj.refs += v->obj.refs; /* references to an output are counted on its node */
  var_free(fresh);
}

damo_apply *apply_clone_with(const damo_apply *node, damo_var *const *in) {
  damo_type *types_small[8] = {NULL};
  damo_ctx *ctx = node->obj.ctx;
  size_t bytes = (size_t)node->n_out * sizeof(damo_type *);
  damo_type **types = node->n_out <= 8 ? types_small : mem_alloc(ctx, bytes);
  if (types == NULL) return NULL;
  for (int i = 0; i < node->n_out; i++) types[i] = node->out[i]->type;
  damo_apply *copy = apply_new(ctx, node->op, in, node->n_in, types, node->n_out);
  if (types != types_small) mem_free(ctx, types, bytes);
  if (copy == NULL) return NULL;
  damo_release(copy->trace);
  copy->trace = damo_retain(node->trace);
  for (int i = 0; i < node->n_out; i++) {
    if (node->out[i]->name != NULL && var_set_name(copy->out[i], node->out[i]->name) != DAMO_OK) {
      damo_release(copy);
      return NULL;
    }
  }
  return copy;
}

damo_status var_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_VAR, var_destroy, var_holder);
  ctx_register_kind(ctx, OBJ_APPLY, apply_destroy, NULL);
  return DAMO_OK;
}
