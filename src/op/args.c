/* args: readers of the operands and options of op functions. Messages count from 1, as scripts do. */
#include <stdio.h>
#include <string.h>

#include "loop/loop.h"
#include "op.h"
#include "op/shape/shape_int.h"

damo_status fn_check_tensor(const fn_args *a, damo_ctx *ctx, int i) {
  damo_var *v = i < a->n_in ? a->in[i] : NULL;
  if (v != NULL && type_is_tensor(v->type)) return DAMO_OK;
  const fn_signature *f = a->signature;
  const char *name = f->operand[i < f->n_operands ? i : f->n_operands - 1].name;
  char type[256] = "nothing";
  if (v != NULL) type_format(type, sizeof type, v->type);
  return ctx_fail(ctx, DAMO_ETYPE, "%s: operand %d (%s) must be a tensor, got %s", a->func->name, i + 1, name, type);
}

damo_status fn_dtype(const fn_args *a, damo_ctx *ctx, prop_value option, damo_dtype *out) {
  if (!prop_given(option)) return DAMO_OK;
  const char *name = prop_str_or(option, NULL);
  if (name == NULL) return ctx_fail(ctx, DAMO_ETYPE, "%s: a dtype is given by its name", a->func->name);
  if (strcmp(name, "floatX") == 0) {
    *out = ctx->config.floatX;
    return DAMO_OK;
  }
  if (damo_dtype_from_name(name, out)) return DAMO_OK;
  const char *near = dtype_suggest(name);
  return ctx_fail(ctx, DAMO_EVALUE, "%s: there is no dtype '%s'%s%s%s", a->func->name, name,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

damo_status axis_check(damo_ctx *ctx, const char *func, int64_t axis, int ndim, int *out) {
  int64_t k = axis < 0 ? axis + ndim : axis - 1;
  if (axis == 0 || k < 0 || k >= ndim) {
    return ctx_fail(ctx, DAMO_EINDEX, "%s: there is no axis %lld in a tensor of %d dimension%s%s", func,
                    (long long)axis, ndim, ndim == 1 ? "" : "s", axis == 0 ? " (axes count from 1)" : "");
  }
  *out = (int)k;
  return DAMO_OK;
}

/* Reads a property that is an integer, or a float equal to an integer of at most 2^53, into *out; false where it is
 * neither. */
static bool prop_as_integer(const prop_value *v, int64_t *out) {
  if (v->kind == PROP_INT) {
    *out = v->u.i;
    return true;
  }
  if (v->kind != PROP_NUM || !(v->u.f >= -0x1p53 && v->u.f <= 0x1p53) || v->u.f != (double)(int64_t)v->u.f)
    return false;
  *out = (int64_t)v->u.f;
  return true;
}

damo_status axes_check(damo_ctx *ctx, const char *func, const prop_value *v, int ndim, int *axes, int *n) {
  *n = 0;
  if (v->kind == PROP_NIL) {
    while (*n < ndim) axes[*n] = *n, ++*n;
    return DAMO_OK;
  }
  const prop_value *list = v->kind == PROP_LIST ? v->u.list : v;
  int count = v->kind == PROP_LIST ? v->n : 1;
  uint32_t seen = 0;
  for (int i = 0; i < count; i++) {
    int64_t axis = 0;
    int k = 0;
    if (!prop_as_integer(&list[i], &axis)) return ctx_fail(ctx, DAMO_ETYPE, "%s: an axis is an integer", func);
    DAMO_TRY(axis_check(ctx, func, axis, ndim, &k));
    if (seen >> k & 1) return ctx_fail(ctx, DAMO_EVALUE, "%s: axis %lld is named twice", func, (long long)axis);
    seen |= UINT32_C(1) << k;
  }
  for (int k = 0; k < ndim; k++) {
    if (seen >> k & 1) axes[(*n)++] = k;
  }
  return DAMO_OK;
}

damo_status axes_in_order(damo_ctx *ctx, const char *func, const prop_value *v, int ndim, int *axes, int *n) {
  *n = -1;
  if (v->kind == PROP_NIL) return DAMO_OK;
  const prop_value *at = v->kind == PROP_LIST ? v->u.list : v;
  int count = v->kind == PROP_LIST ? v->n : 1;
  if (count > DAMO_MAX_NDIM) return ctx_fail(ctx, DAMO_EINDEX, "%s: %d axes, at most %d", func, count, DAMO_MAX_NDIM);
  uint32_t seen = 0;
  for (int i = 0; i < count; i++) {
    if (at[i].kind != PROP_INT) return ctx_fail(ctx, DAMO_ETYPE, "%s: an axis must be an integer", func);
    DAMO_TRY(axis_check(ctx, func, at[i].u.i, ndim, &axes[i]));
    if (seen >> axes[i] & 1) return ctx_fail(ctx, DAMO_EVALUE, "%s: axis %d is named twice", func, axes[i] + 1);
    seen |= (uint32_t)1 << axes[i];
  }
  *n = count;
  return DAMO_OK;
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

damo_var *build_strong(build *b, damo_var *x) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (x->weak && build_resolve(b, &x, 1, false, &x) != DAMO_OK) return NULL;
  return x;
}

/* True when no entry has a fraction or lies outside int64. */
static bool array_is_integral(const damo_array *a) {
  array_entries e;
  if (dtype_is_integer(array_dtype(a))) return true;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e)) {
    double v = scalar_to_double(scalar_load(array_dtype(a), p));
    if (!(v >= -0x1p63 && v < 0x1p63) || v != (double)(int64_t)v) return false;
  }
  return true;
}

damo_var *build_integer(build *b, const char *func, const char *what, damo_var *v) {
  if (!v || b->status != DAMO_OK) return NULL;
  if (!type_is_tensor(v->type)) return build_fail(b, DAMO_ETYPE, "%s: %s must be integers", func, what);
  damo_dtype dt = var_dtype(v);
  if (dt == DAMO_INT64 && !v->weak) return v;
  const damo_array *a = var_constant_array(v);
  if (a && (dtype_is_integer(dt) || dtype_is_float(dt))) {
    if (array_is_integral(a)) return build_value(b, (damo_obj *)array_cast(a, DAMO_INT64));
    return build_fail(b, DAMO_ETYPE, "%s: %s must be integers, got %s with a fraction", func, what, dtype_name(dt));
  }
  if (dtype_is_integer(dt)) return build_cast(b, v, DAMO_INT64);
  return build_fail(b, DAMO_ETYPE, "%s: %s must be integers, got %s", func, what, dtype_name(dt));
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static bool is_integer_tensor(const damo_var *v, int ndim) {
  return type_is_tensor(v->type) && dtype_is_integer(var_dtype(v)) && var_ndim(v) == ndim;
}

/* The entries of an integer vector Variable, whose length its Type must tell. */
static damo_status vector_entries(build *b, const char *func, damo_var *v, damo_var **shape, int *n) {
  int64_t length = v->type->shape[0];
  if (length < 0) {
    return ctx_fail(
        b->ctx, DAMO_ESHAPE,
        "%s: the number of dimensions is the length of the shape vector, which its Type does not tell; declare "
        "it, or give a list",
        func);
  }
  if (length > DAMO_MAX_NDIM) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: more than %d dimensions", func, DAMO_MAX_NDIM);
  damo_var *dims = build_cast(b, v, DAMO_INT64);
  const damo_array *known = dims ? var_constant_array(dims) : NULL;
  /* x.shape is read dimension by dimension, so that lengths that x's Type knows stay constants. */
  const damo_apply *of = dims && dims->owner && dims->owner->op->def == &shape_def ? dims->owner : NULL;
  const bool tensor = of && type_has_shape(of->in[0]->type);
  for (*n = 0; *n < length && b->status == DAMO_OK; ++*n) {
    int64_t i = *n;
    if (tensor) {
      shape[*n] = build_dim(b, of->in[0], (int)i);
      continue;
    }
    shape[*n] = known ? build_i64(b, array_get(known, &i).v.i) : build_index(b, dims, 0, build_i64(b, i));
  }
  return b->status;
}

/* Entry i of a shape given as a list: an integer, or an integer scalar Variable. */
static damo_status shape_entry(build *b, const char *func, const prop_value *v, int i, damo_var **out) {
  int64_t d = 0;
  if (v->kind == PROP_VAR && is_integer_tensor(v->u.var, 0)) {
    const damo_array *known = var_constant_array(v->u.var);
    *out = known ? build_i64(b, scalar_to_int64(array_item(known))) : build_cast(b, v->u.var, DAMO_INT64);
    return b->status;
  }
  if (!prop_as_integer(v, &d)) {
    return ctx_fail(b->ctx, DAMO_ETYPE,
                    "%s: entry %d of the shape is neither an integer nor an integer scalar Variable", func, i + 1);
  }
  *out = build_i64(b, d);
  return b->status;
}

damo_status shape_check(build *b, const char *func, const prop_value *v, damo_var **shape, int *n) {
  *n = 0;
  if (v->kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the shape is missing", func);
  if (v->kind == PROP_VAR && is_integer_tensor(v->u.var, 1)) return vector_entries(b, func, v->u.var, shape, n);
  const prop_value *list = v->kind == PROP_LIST ? v->u.list : v;
  int count = v->kind == PROP_LIST ? v->n : 1;
  if (count > DAMO_MAX_NDIM) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: more than %d dimensions", func, DAMO_MAX_NDIM);
  for (; *n < count; ++*n) DAMO_TRY(shape_entry(b, func, &list[*n], *n, &shape[*n]));
  return DAMO_OK;
}

bool var_static_int(const damo_var *v, int64_t *out) {
  const damo_array *a = v ? var_constant_array(v) : NULL;
  if (a == NULL || a->ndim != 0 || !dtype_is_discrete(array_dtype(a))) return false;
  *out = scalar_to_int64(array_item(a));
  return true;
}

damo_var *build_length_add(build *b, damo_var *x, damo_var *y) {
  int64_t m, n;
  return var_static_int(x, &m) && var_static_int(y, &n) ? build_i64(b, m + n) : build_add(b, x, y);
}

damo_var *build_length_sub(build *b, damo_var *x, damo_var *y) {
  int64_t m, n;
  return var_static_int(x, &m) && var_static_int(y, &n) ? build_i64(b, m - n) : build_sub(b, x, y);
}

damo_var *build_length_mul(build *b, damo_var *x, damo_var *y) {
  int64_t m, n, product;
  if (var_static_int(x, &m) && var_static_int(y, &n) && i64_mul(m, n, &product)) return build_i64(b, product);
  return build_mul(b, x, y);
}
