/* type.c: Types, interned so that equal ones are one pointer. */
#include "graph_int.h"

#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {"TensorType", "SparseTensorType", "RandomType",
                                         "NullType",   "DisconnectedType", "GenericType"};

static size_t type_bytes(const damo_type *t) { return sizeof(damo_type) + (size_t)t->ndim * sizeof(int64_t); }

static void type_destroy(damo_obj *obj) {
  damo_type *t = (damo_type *)obj;
  intern_remove(obj->ctx, CTX_TYPES, &t->link);
  mem_strfree(obj->ctx, t->why);
  obj_free(obj, type_bytes(t));
}

static bool same_type(const damo_type *t, type_kind kind, damo_dtype dtype, int ndim, const int64_t *shape,
                      const char *why) {
  if (t->kind != kind || t->dtype != dtype || t->ndim != ndim) return false;
  if (memcmp(t->shape, shape, (size_t)ndim * sizeof *shape) != 0) return false;
  return strcmp(t->why ? t->why : "", why ? why : "") == 0;
}

/* The interned Type with these properties: found, or made and put at the head of its chain. */
static damo_type *type_intern(damo_ctx *ctx, type_kind kind, damo_dtype dtype, int ndim, const int64_t *shape,
                              const char *why) {
  uint64_t hash = hash_mix(hash_mix((uint64_t)kind + 1, (uint64_t)dtype), (uint64_t)ndim);
  hash = hash_bytes(hash, shape, (size_t)ndim * sizeof *shape);
  if (why != NULL) hash = hash_bytes(hash, why, strlen(why));
  for (intern_link *l = intern_first(ctx, CTX_TYPES, hash); l != NULL; l = l->next) {
    damo_type *t = INTERNED(damo_type, l);
    if (same_type(t, kind, dtype, ndim, shape, why)) return damo_retain(t);
  }
  char *why_copy = NULL;
  if (why != NULL && (why_copy = mem_strdup(ctx, why)) == NULL) return NULL;
  damo_type *t = obj_new(ctx, OBJ_TYPE, sizeof(damo_type) + (size_t)ndim * sizeof(int64_t));
  if (t == NULL) {
    mem_strfree(ctx, why_copy);
    return NULL;
  }
  *t = (damo_type){.obj = t->obj, .link.hash = hash, .kind = kind, .dtype = dtype, .ndim = ndim, .why = why_copy};
  memcpy(t->shape, shape, (size_t)ndim * sizeof *shape);
  if (intern_add(ctx, CTX_TYPES, &t->link) != DAMO_OK) {
    damo_release(t);
    return NULL;
  }
  return t;
}

damo_type *type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  int64_t dims[DAMO_MAX_NDIM] = {0};
  if (ndim < 0 || ndim > DAMO_MAX_NDIM) {
    ctx_fail(ctx, DAMO_EVALUE, "TensorType: rank %d is outside 0 … %d", ndim, DAMO_MAX_NDIM);
    return NULL;
  }
  if ((unsigned)dtype >= DAMO_N_DTYPES) {
    ctx_fail(ctx, DAMO_EVALUE, "TensorType: %d is no dtype", (int)dtype);
    return NULL;
  }
  for (int i = 0; i < ndim; i++) { dims[i] = shape != NULL && shape[i] >= 0 ? shape[i] : -1; }
  return type_intern(ctx, TYPE_TENSOR, dtype, ndim, dims, NULL);
}

static damo_type *type_plain(damo_ctx *ctx, type_kind kind, const char *why) {
  return type_intern(ctx, kind, DAMO_BOOL, 0, (const int64_t[1]){0}, why);
}

damo_type *type_random(damo_ctx *ctx) { return type_plain(ctx, TYPE_RANDOM, NULL); }
damo_type *type_null(damo_ctx *ctx, const char *why) { return type_plain(ctx, TYPE_NULL, why ? why : "undefined"); }
damo_type *type_disconnected(damo_ctx *ctx) { return type_plain(ctx, TYPE_DISCONNECTED, NULL); }
damo_type *type_generic(damo_ctx *ctx) { return type_plain(ctx, TYPE_GENERIC, NULL); }

damo_type *type_of_value(damo_obj *value) {
  if (value->kind == OBJ_ARRAY) {
    const damo_array *a = (const damo_array *)value;
    return type_tensor(value->ctx, array_dtype(a), a->ndim, array_shape(a));
  }
  return type_generic(value->ctx);
}

/* ---- Relations --------------------------------------------------------------------------------------------------- */

bool type_is_super(const damo_type *super, const damo_type *sub) {
  if (super == sub) return true;
  if (super->kind != sub->kind || super->kind != TYPE_TENSOR) return false;
  if (super->dtype != sub->dtype || super->ndim != sub->ndim) return false;
  for (int i = 0; i < super->ndim; i++) {
    if (super->shape[i] >= 0 && super->shape[i] != sub->shape[i]) return false;
  }
  return true;
}

bool type_is_compatible(const damo_type *a, const damo_type *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->kind != TYPE_TENSOR) return false;
  if (a->dtype != b->dtype || a->ndim != b->ndim) return false;
  for (int i = 0; i < a->ndim; i++) {
    if (a->shape[i] >= 0 && b->shape[i] >= 0 && a->shape[i] != b->shape[i]) return false;
  }
  return true;
}

char *type_format(char *dst, size_t n, const damo_type *t) {
  char dims[256];
  switch (t->kind) {
    case TYPE_TENSOR:
      snprintf(dst, n, "TensorType(%s, shape=%s)", dtype_name(t->dtype),
               shape_format(dims, sizeof dims, t->ndim, t->shape));
      break;
    case TYPE_NULL: snprintf(dst, n, "NullType(%s)", t->why); break;
    case TYPE_SPARSE:
    case TYPE_RANDOM:
    case TYPE_DISCONNECTED:
    case TYPE_GENERIC: snprintf(dst, n, "%s", kind_names[t->kind]); break;
  }
  return dst;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool shape_fits(const damo_type *t, const damo_array *a) {
  for (int i = 0; i < t->ndim; i++) {
    if (t->shape[i] >= 0 && t->shape[i] != array_shape(a)[i]) return false;
  }
  return true;
}

static damo_obj *refuse(const damo_type *t, const damo_array *a, damo_status status) {
  char want[320], dims[256];
  ctx_fail(t->obj.ctx, status, "expected a value of %s, got an Array of dtype %s and shape %s",
           type_format(want, sizeof want, t), dtype_name(array_dtype(a)),
           shape_format(dims, sizeof dims, a->ndim, array_shape(a)));
  return NULL;
}

/* Nothing is lost by the dtypes alone. */
static bool conversion_allowed(const damo_type *t, const damo_array *a, filter_options options) {
  if (options.strict) return false;
  return options.allow_downcast || dtype_can_cast_safely(array_dtype(a), t->dtype);
}

static damo_obj *filter_tensor(const damo_type *t, damo_obj *value, filter_options options) {
  if (value->kind != OBJ_ARRAY) {
    char want[320];
    ctx_fail(t->obj.ctx, DAMO_ETYPE, "expected a value of %s, got another kind of object",
             type_format(want, sizeof want, t));
    return NULL;
  }
  damo_array *a = (damo_array *)value;
  if (a->ndim != t->ndim) return refuse(t, a, DAMO_ETYPE);
  if (!shape_fits(t, a)) return refuse(t, a, DAMO_ESHAPE);
  if (array_dtype(a) == t->dtype) return damo_retain(value);
  if (!conversion_allowed(t, a, options)) return refuse(t, a, DAMO_ETYPE);
  return (damo_obj *)array_cast(a, t->dtype);
}

static bool is_random_state(const damo_obj *value) {
  if (value->kind != OBJ_ARRAY) return false;
  const damo_array *a = (const damo_array *)value;
  return array_dtype(a) == DAMO_UINT64 && a->ndim == 1 && array_shape(a)[0] == 3;
}

damo_obj *type_filter(const damo_type *t, damo_obj *value, filter_options options) {
  switch (t->kind) {
    case TYPE_TENSOR: return filter_tensor(t, value, options);
    case TYPE_RANDOM:
      if (is_random_state(value)) return damo_retain(value);
      ctx_fail(t->obj.ctx, DAMO_ETYPE, "expected a generator's state (a uint64 Array of shape {3})");
      return NULL;
    case TYPE_GENERIC: return damo_retain(value);
    case TYPE_SPARSE:
    case TYPE_NULL:
    case TYPE_DISCONNECTED: break;
  }
  ctx_fail(t->obj.ctx, DAMO_ETYPE, "%s has no values", kind_names[t->kind]);
  return NULL;
}

bool type_is_valid(const damo_type *t, const damo_obj *value) {
  if (value == NULL) return false;
  switch (t->kind) {
    case TYPE_TENSOR: {
      const damo_array *a = (const damo_array *)value;
      return value->kind == OBJ_ARRAY && array_dtype(a) == t->dtype && a->ndim == t->ndim && shape_fits(t, a);
    }
    case TYPE_RANDOM: return is_random_state(value);
    case TYPE_GENERIC: return true;
    case TYPE_SPARSE:
    case TYPE_NULL:
    case TYPE_DISCONNECTED: break;
  }
  return false;
}

bool type_values_equal(const damo_type *t, const damo_obj *a, const damo_obj *b) {
  if (a == b) return true;
  if (!type_is_valid(t, a) || !type_is_valid(t, b) || a->kind != OBJ_ARRAY || b->kind != OBJ_ARRAY) return false;
  return array_equal((const damo_array *)a, (const damo_array *)b, true);
}

damo_status type_register(damo_ctx *ctx) {
  DAMO_TRY(intern_register(ctx, CTX_TYPES));
  ctx_register_kind(ctx, OBJ_TYPE, type_destroy, NULL);
  return DAMO_OK;
}
