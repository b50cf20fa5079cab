/* random_api.c: the part of damo.h that makes and seeds the states of random generators. */
#include "api.h"
#include "op/op.h"

damo_var *damo_random_state(damo_ctx *ctx, uint64_t seed, const char *name) {
  if (ctx == NULL) return NULL;
  damo_array *state = random_seed_array(ctx, seed);
  damo_type *type = state != NULL ? type_random(ctx) : NULL;
  damo_var *v = type != NULL ? var_shared(ctx, type, &state->obj, name) : NULL;
  damo_release(type);
  damo_release(state);
  return v;
}

damo_status damo_random_seed(damo_var *state, uint64_t seed) {
  static const char func[] = "damo_random_seed";
  char name[160];
  if (state == NULL) return DAMO_EVALUE;
  damo_ctx *ctx = state->obj.ctx;
  DAMO_TRY(ctx_check_obj(ctx, func, "state", state, OBJ_VAR));
  if (state->kind != VAR_SHARED || state->type->kind != TYPE_RANDOM) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: %s is no generator's state", func, var_format(name, sizeof name, state));
  }
  damo_array *value = random_seed_array(ctx, seed);
  if (value == NULL) return damo_error_status(ctx);
  damo_release(state->value);
  state->value = &value->obj;
  return DAMO_OK;
}
