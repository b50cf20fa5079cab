/* graph_api.c: the part of damo.h that makes and queries Types and Variables. */
#include "api.h"
#include "scan/scan.h"
#include "sparse/sparse.h"

/* ---- Types and Variables ----------------------------------------------------------------------------------------- */

damo_type *damo_type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  if (ctx == NULL) return NULL;
  return type_tensor(ctx, dtype, ndim, shape);
}

damo_type *damo_type_sparse(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype,
                            const int64_t *shape) {
  if (ctx == NULL) return NULL;
  if (itype != DAMO_INT32 && itype != DAMO_INT64) {
    ctx_fail(ctx, DAMO_EVALUE, "damo_type_sparse: itype must be DAMO_INT32 or DAMO_INT64, got %d", (int)itype);
    return NULL;
  }
  if ((format == DAMO_CSR || format == DAMO_CSC) && (unsigned)dtype < DAMO_N_DTYPES) {
    return type_sparse(ctx, format, dtype, itype, shape);
  }
  ctx_fail(ctx, DAMO_EVALUE, "SparseTensorType: format %d or dtype %d does not exist", (int)format, (int)dtype);
  return NULL;
}

damo_type *damo_type_sparse_like(const damo_sparse *a, damo_dtype dtype) {
  if (a == NULL) return NULL;
  if ((unsigned)dtype < DAMO_N_DTYPES) return type_sparse_like((damo_sparse *)(uintptr_t)a, dtype);
  ctx_fail(a->obj.ctx, DAMO_EVALUE, "SparseTensorType: dtype %d does not exist", (int)dtype);
  return NULL;
}

damo_sparse *damo_type_pattern(const damo_type *type) {
  return type != NULL && type->pattern != NULL ? sparse_copy(type->pattern->matrix) : NULL;
}

bool damo_type_is_sparse(const damo_type *type) { return type != NULL && type_is_sparse(type); }

damo_var *damo_var_new(damo_ctx *ctx, damo_type *type, const char *name) {
  if (ctx_check_obj(ctx, "damo_var_new", "type", type, OBJ_TYPE) != DAMO_OK) return NULL;
  return var_new(ctx, type, name);
}

damo_var *damo_constant(damo_ctx *ctx, const damo_array *value) {
  if (ctx_check_obj(ctx, "damo_constant", "value", value, OBJ_ARRAY) != DAMO_OK) return NULL;
  damo_array *copy = array_copy(value);
  if (copy == NULL) return NULL;
  damo_var *v = var_constant(ctx, NULL, (damo_obj *)copy);
  damo_release(copy);
  return v;
}

damo_var *damo_number(damo_ctx *ctx, double value) {
  if (ctx == NULL) return NULL;
  damo_array *a = damo_array_scalar(ctx, DAMO_FLOAT64, value);
  if (a == NULL) return NULL;
  damo_var *v = var_constant(ctx, NULL, (damo_obj *)a);
  damo_release(a);
  if (v != NULL) v->weak = true;
  return v;
}

damo_var *damo_shared(damo_ctx *ctx, const damo_array *value, const char *name) {
  if (ctx_check_obj(ctx, "damo_shared", "value", value, OBJ_ARRAY) != DAMO_OK) return NULL;
  damo_array *copy = array_copy(value);
  damo_type *type = type_tensor(ctx, array_dtype(value), value->ndim, NULL); /* updates may change the shape */
  damo_var *v = copy != NULL && type != NULL ? var_shared(ctx, type, (damo_obj *)copy, name) : NULL;
  damo_release(type);
  damo_release(copy);
  return v;
}

damo_var *damo_constant_sparse(damo_ctx *ctx, const damo_sparse *value) {
  if (ctx_check_obj(ctx, "damo_constant_sparse", "value", value, OBJ_SPARSE) != DAMO_OK) return NULL;
  damo_sparse *copy = sparse_copy(value);
  damo_var *v = copy != NULL ? var_constant(ctx, NULL, &copy->obj) : NULL;
  damo_release(copy);
  return v;
}

damo_var *damo_shared_sparse(damo_ctx *ctx, const damo_sparse *value, const char *name) {
  if (ctx_check_obj(ctx, "damo_shared_sparse", "value", value, OBJ_SPARSE) != DAMO_OK) return NULL;
  damo_sparse *copy = sparse_copy(value);
  damo_type *full = copy != NULL ? type_of_value(&copy->obj) : NULL;
  damo_type *type =
      full != NULL ? type_sparse(ctx, sparse_format(value), full->dtype, (damo_dtype)full->itype, NULL) : NULL;
  damo_var *v = type != NULL ? var_shared(ctx, type, &copy->obj, name) : NULL;
  damo_release(full);
  damo_release(type);
  damo_release(copy);
  return v;
}

static damo_status check_shared(const char *func, const damo_var *v, obj_kind kind) {
  char name[160];
  if (v == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_obj(v->obj.ctx, func, "shared", v, OBJ_VAR));
  if (v->kind != VAR_SHARED)
    return ctx_fail(v->obj.ctx, DAMO_ETYPE, "%s is no shared Variable", var_format(name, sizeof name, v));
  if (v->value->kind == kind) return DAMO_OK;
  return ctx_fail(v->obj.ctx, DAMO_ETYPE, "the value of %s is %s", var_format(name, sizeof name, v),
                  v->value->kind == OBJ_SPARSE  ? "sparse"
                  : v->value->kind == OBJ_ARRAY ? "an array, not sparse"
                                                : "neither an array nor sparse");
}

damo_array *damo_shared_value(damo_var *shared) {
  if (check_shared("damo_shared_value", shared, OBJ_ARRAY) != DAMO_OK) return NULL;
  return damo_retain(shared->value);
}

damo_sparse *damo_shared_sparse_value(damo_var *shared) {
  if (check_shared("damo_shared_sparse_value", shared, OBJ_SPARSE) != DAMO_OK) return NULL;
  return damo_retain(shared->value);
}

/* Makes take_copy, converted to the Variable's Type, its value. */
static damo_status set_shared(damo_var *shared, damo_obj *take_copy) {
  if (take_copy == NULL) return DAMO_EMEMORY;
  damo_obj *fit = type_filter(shared->type, take_copy, (filter_options){0});
  damo_release(take_copy);
  if (fit == NULL) return damo_error_status(shared->obj.ctx);
  damo_release(shared->value);
  shared->value = fit;
  return DAMO_OK;
}

damo_status damo_shared_set(damo_var *shared, const damo_array *value) {
  DAMO_TRY(check_shared("damo_shared_set", shared, OBJ_ARRAY));
  DAMO_TRY(ctx_check_obj(shared->obj.ctx, "damo_shared_set", "value", value, OBJ_ARRAY));
  return set_shared(shared, (damo_obj *)array_copy(value));
}

damo_status damo_shared_sparse_set(damo_var *shared, const damo_sparse *value) {
  DAMO_TRY(check_shared("damo_shared_sparse_set", shared, OBJ_SPARSE));
  DAMO_TRY(ctx_check_obj(shared->obj.ctx, "damo_shared_sparse_set", "value", value, OBJ_SPARSE));
  return set_shared(shared, (damo_obj *)sparse_copy(value));
}

damo_type *damo_var_get_type(const damo_var *v) { return v != NULL ? v->type : NULL; }
damo_apply *damo_var_get_owner(const damo_var *v) { return v != NULL ? v->owner : NULL; }
const char *damo_var_get_name(const damo_var *v) { return v != NULL ? v->name : NULL; }

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

damo_status damo_vectorize_graph(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_var *const *old,
                                 damo_var *const *now, int64_t n_old, damo_var **out) {
  static const char func[] = "damo_vectorize_graph";
  DAMO_TRY(ctx_check_objs(ctx, func, "outputs", outputs, n, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "old", old, n_old, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "now", now, n_old, OBJ_VAR));
  DAMO_TRY(ctx_check_list(ctx, func, "out", out, n));
  const size_t bytes = (size_t)n * sizeof *out;
  damo_var **found = mem_calloc(ctx, bytes);
  if (found == NULL) return DAMO_EMEMORY;
  build b;
  build_init(&b, ctx);
  damo_status s = vectorize_graph(&b, outputs, n, old, now, n_old, found);
  for (int64_t o = 0; o < n && s == DAMO_OK; o++) out[o] = damo_retain(found[o]);
  const damo_status end = build_end(&b);
  mem_free(ctx, found, bytes);
  return s != DAMO_OK ? s : end;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

char *damo_debugprint(damo_ctx *ctx, damo_var *v) {
  if (ctx_check_obj(ctx, "damo_debugprint", "v", v, OBJ_VAR) != DAMO_OK) return NULL;
  strbuf text;
  strbuf_init(&text, ctx);
  char *copy =
      graph_debugprint(ctx, &v, 1, NULL, &text) == DAMO_OK && text.at != NULL ? mem_strdup(ctx, text.at) : NULL;
  strbuf_clear(&text);
  return copy;
}

void damo_text_free(damo_ctx *ctx, char *text) {
  if (ctx != NULL) mem_strfree(ctx, text);
}
