/* build.c: a scope of graph under construction, constants, and the rule for weak literals. */
#include "graph_int.h"

#include <math.h>

void build_init(build *b, damo_ctx *ctx) {
  b->ctx = ctx;
  b->status = DAMO_OK;
  ptrvec_init(&b->owned, ctx);
  map_init(&b->masks, ctx);
  b->first_mask = NULL;
  b->finder = NULL;
}

damo_status build_end(build *b) {
  while (b->first_mask != NULL) {
    build_mask *note = b->first_mask;
    b->first_mask = note->next;
    mem_free(b->ctx, note, sizeof *note);
  }
  map_clear(&b->masks);
  ptrvec_release_all(&b->owned);
  return b->status;
}

damo_var *build_take(build *b, damo_var *owned) {
  if (owned == NULL) {
    if (b->status == DAMO_OK) b->status = damo_error_status(b->ctx);
    return NULL;
  }
  if (ptrvec_push(&b->owned, owned) != DAMO_OK) {
    damo_release(owned);
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  return owned;
}

damo_var *build_fail(build *b, damo_status status, const char *fmt, ...) {
  if (b->status != DAMO_OK) return NULL;
  va_list args;
  va_start(args, fmt);
  b->status = ctx_vfail(b->ctx, status, fmt, args);
  va_end(args);
  return NULL;
}

damo_var *build_keep_mask(build *b, damo_var *v, build_mask note) {
  build_mask *kept = b->status == DAMO_OK ? mem_alloc(b->ctx, sizeof *kept) : NULL;
  if (kept == NULL || map_put(&b->masks, v, (uintptr_t)kept) != DAMO_OK) {
    if (kept != NULL) mem_free(b->ctx, kept, sizeof *kept);
    if (b->status == DAMO_OK) b->status = DAMO_EMEMORY;
    return NULL;
  }
  *kept = note;
  kept->next = b->first_mask;
  b->first_mask = kept;
  return v;
}

const build_mask *build_mask_of(const build *b, const damo_var *v) { return map_get_ptr(&b->masks, v); }

static bool any_missing(build *b, damo_var *const *in, int n) {
  if (b->status != DAMO_OK) return true;
  for (int i = 0; i < n; i++) {
    if (in[i] == NULL) {
      build_fail(b, DAMO_ESTATE, "a rule passed on a Variable that it did not make");
      return true;
    }
  }
  return false;
}

damo_apply *build_apply(build *b, damo_op *take_op, damo_var *const *in, int n_in) {
  damo_apply *node = NULL;
  if (take_op == NULL && b->status == DAMO_OK) b->status = damo_error_status(b->ctx);
  if (!any_missing(b, in, n_in)) {
    const build_finder *finder = b->finder;
    if (finder != NULL) node = damo_retain(finder->find(finder->user, take_op, in, n_in));
    if (node == NULL) node = op_apply(b->ctx, take_op, in, n_in);
    node = (damo_apply *)build_take(b, (damo_var *)node);
  }
  damo_release(take_op);
  return node;
}

damo_var *build_op(build *b, damo_op *take_op, damo_var *const *in, int n_in) {
  damo_apply *node = build_apply(b, take_op, in, n_in);
  return node != NULL ? node->out[0] : NULL;
}

damo_var *build_row(build *b, const op_func *row, damo_var *const *in, int n_in, const fn_given *options) {
  if (b->status != DAMO_OK) return NULL;
  for (int i = 0; i < n_in; i++) {
    if (in[i] == NULL) return build_fail(b, DAMO_ESTATE, "%s: operand %d is missing", row->name, i + 1);
  }
  const fn_signature *f = func_of_row(b->ctx, row);
  damo_assert(f != NULL);
  ptrvec out;
  ptrvec_init(&out, b->ctx);
  damo_var *result = NULL;
  damo_status s = func_call(b, f, in, n_in, options, &out);
  if (s == DAMO_OK && out.n > 0) {
    result = out.at[0];
  } else if (b->status == DAMO_OK) {
    b->status = s != DAMO_OK ? s : ctx_fail(b->ctx, DAMO_ESTATE, "%s gave no result", row->name);
  }
  ptrvec_clear(&out);
  return result;
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

damo_var *build_value(build *b, damo_obj *take_value) {
  if (b->status == DAMO_OK && take_value == NULL) b->status = damo_error_status(b->ctx);
  damo_var *v = b->status == DAMO_OK ? build_take(b, var_constant(b->ctx, NULL, take_value)) : NULL;
  damo_release(take_value);
  return v;
}

static damo_var *build_scalar_value(build *b, scalar s) {
  if (b->status != DAMO_OK) return NULL;
  return build_value(b, (damo_obj *)array_from_scalar(b->ctx, s));
}

damo_var *build_scalar(build *b, damo_dtype dtype, double value) {
  scalar s = {.dtype = DAMO_FLOAT64, .v.f = value};
  return build_scalar_value(b, scalar_cast(s, dtype));
}

damo_var *build_num(build *b, double value) {
  damo_var *v = build_scalar_value(b, (scalar){.dtype = DAMO_FLOAT64, .v.f = value});
  if (v != NULL) v->weak = true;
  return v;
}

damo_var *build_int(build *b, int64_t value) {
  damo_var *v = build_scalar_value(b, (scalar){.dtype = DAMO_INT64, .v.i = value});
  if (v != NULL) v->weak = true;
  return v;
}

damo_var *build_ints(build *b, const int64_t *values, int n) {
  if (b->status != DAMO_OK) return NULL;
  return build_value(b, (damo_obj *)damo_array_from(b->ctx, DAMO_INT64, 1, (const int64_t[1]){n}, values));
}

static damo_var *build_marker(build *b, damo_type *take_type) {
  if (take_type == NULL) return build_take(b, NULL);
  damo_var *v = build_take(b, var_new(b->ctx, take_type, NULL));
  damo_release(take_type);
  return v;
}

damo_var *build_null(build *b, const char *why) {
  return b->status == DAMO_OK ? build_marker(b, type_null(b->ctx, why)) : NULL;
}

damo_var *build_disconnected(build *b) {
  return b->status == DAMO_OK ? build_marker(b, type_disconnected(b->ctx)) : NULL;
}

/* ---- Weak literals ----------------------------------------------------------------------------------------------- */

static bool dtype_holds_int(int64_t v, damo_dtype dt) {
  switch (dt) {
    case DAMO_INT8: return v >= INT8_MIN && v <= INT8_MAX;
    case DAMO_INT16: return v >= INT16_MIN && v <= INT16_MAX;
    case DAMO_INT32: return v >= INT32_MIN && v <= INT32_MAX;
    case DAMO_INT64: return true;
    case DAMO_UINT8: return v >= 0 && v <= UINT8_MAX;
    case DAMO_UINT16: return v >= 0 && v <= UINT16_MAX;
    case DAMO_UINT32: return v >= 0 && v <= UINT32_MAX;
    case DAMO_UINT64: return v >= 0;
    case DAMO_BOOL:
    case DAMO_FLOAT32:
    case DAMO_FLOAT64:
    case DAMO_COMPLEX64:
    case DAMO_COMPLEX128:
    case DAMO_N_DTYPES: break;
  }
  return !dtype_is_discrete(dt);
}

static damo_dtype smallest_int(int64_t v) {
  damo_dtype dt = DAMO_INT8;
  while (!dtype_holds_int(v, dt)) dt++;
  return dt;
}

damo_dtype build_weak_dtype(const damo_ctx *ctx, scalar value, damo_dtype strong) {
  if (value.dtype == DAMO_INT64) return dtype_holds_int(value.v.i, strong) ? strong : smallest_int(value.v.i);
  if (dtype_is_discrete(strong)) strong = ctx->config.floatX;
  bool narrow = strong == DAMO_FLOAT32 || strong == DAMO_COMPLEX64;
  bool fits = !narrow || !isfinite(value.v.f) || fabs(value.v.f) <= 3.4028234663852886e38;
  return fits ? strong : DAMO_FLOAT64;
}

static bool is_weak(const damo_var *v) { return v->weak && v->kind == VAR_CONSTANT && var_constant_array(v) != NULL; }

/* *out: the dtype that the strong operands promote to. If all operands are literals, returns false, with *out the dtype
 * for literals alone: floatX if one of them is a float, else int64. */
static bool strong_dtype(const damo_ctx *ctx, damo_var *const *in, int n, damo_dtype *out) {
  bool any = false, any_float = false;
  for (int i = 0; i < n; i++) {
    if (!type_has_shape(in[i]->type)) continue;
    if (is_weak(in[i])) {
      any_float = any_float || dtype_is_float(var_dtype(in[i]));
      continue;
    }
    *out = any ? dtype_promote(*out, var_dtype(in[i])) : var_dtype(in[i]);
    any = true;
  }
  if (!any) *out = any_float ? ctx->config.floatX : DAMO_INT64;
  return any;
}

static damo_var *weak_cast(build *b, damo_var *v, damo_dtype dtype) {
  if (var_dtype(v) == dtype) {
    damo_obj *value = damo_retain(v->value);
    return build_value(b, value); /* the same value, no longer weak */
  }
  return build_scalar_value(b, scalar_cast(array_item(var_constant_array(v)), dtype));
}

damo_status build_resolve(build *b, damo_var *const *in, int n, bool common, damo_var **out) {
  if (any_missing(b, in, n)) return b->status;
  damo_dtype strong = DAMO_FLOAT64, all = DAMO_BOOL;
  strong_dtype(b->ctx, in, n, &strong);
  for (int i = 0; i < n; i++) {
    out[i] = in[i];
    if (is_weak(in[i])) {
      damo_dtype dt = build_weak_dtype(b->ctx, array_item(var_constant_array(in[i])), strong);
      if ((out[i] = weak_cast(b, in[i], dt)) == NULL) return b->status;
    }
    if (type_has_shape(out[i]->type)) all = i == 0 ? var_dtype(out[i]) : dtype_promote(all, var_dtype(out[i]));
  }
  const op_func *cast = graph_notes_of(b->ctx)->cast;
  for (int i = 0; common && i < n; i++) {
    if (!type_has_shape(out[i]->type) || var_dtype(out[i]) == all) continue;
    out[i] = build_row(b, cast, &out[i], 1, WITH(dtype_options, .dtype = prop_str(dtype_name(all))));
    if (out[i] == NULL) return b->status;
  }
  return DAMO_OK;
}
