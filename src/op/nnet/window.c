/* window: reading the options of pooling and convolution, and their arrays as five axes. */
#include "window.h"

#include <string.h>

#include "kernel/kernel.h"

static bool window_integer(const prop_value *v, int64_t *out) {
  if (v->kind == PROP_INT) {
    *out = v->u.i;
    return true;
  }
  if (v->kind != PROP_NUM || !(v->u.f >= -0x1p53 && v->u.f <= 0x1p53) || v->u.f != (double)(int64_t)v->u.f)
    return false;
  *out = (int64_t)v->u.f;
  return true;
}

damo_status window_numbers(damo_ctx *ctx, const char *func, const char *option, const prop_value *v, int n,
                           int64_t least, int64_t *out) {
  if (!prop_given(*v)) return DAMO_OK;
  if (v->kind == PROP_LIST && v->n != n && v->n != 1) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: %s has %d numbers, for %d ax%ss", func, option, v->n, n, n == 1 ? "i" : "e");
  }
  for (int i = 0; i < n; i++) {
    if (!window_integer(v->kind == PROP_LIST ? &v->u.list[v->n == 1 ? 0 : i] : v, &out[i]))
      return ctx_fail(ctx, DAMO_ETYPE, "%s: %s is an integer or a list of integers", func, option);
    if (out[i] < least || out[i] > INT32_MAX) {
      return ctx_fail(ctx, DAMO_EVALUE, "%s: %s must be at least %lld, got %lld", func, option, (long long)least,
                      (long long)out[i]);
    }
  }
  return DAMO_OK;
}

damo_status window_pads(damo_ctx *ctx, const char *func, const char *option, const prop_value *v, int n,
                        int64_t (*out)[2]) {
  if (!prop_given(*v)) return DAMO_OK;
  if (v->kind == PROP_LIST && v->n != n && v->n != 1) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: %s has %d entries, for %d ax%ss", func, option, v->n, n, n == 1 ? "i" : "e");
  }
  for (int i = 0; i < n; i++) {
    const prop_value *e = v->kind == PROP_LIST ? &v->u.list[v->n == 1 ? 0 : i] : v;
    for (int side = 0; side < 2; side++) {
      const prop_value *k = e->kind == PROP_LIST && e->n == 2 ? &e->u.list[side] : e;
      if (!window_integer(k, &out[i][side]))
        return ctx_fail(ctx, DAMO_ETYPE, "%s: %s is an integer, or a list of integers or pairs", func, option);
      if (out[i][side] < 0 || out[i][side] > INT32_MAX) {
        return ctx_fail(ctx, DAMO_EVALUE, "%s: %s must not be negative, got %lld", func, option,
                        (long long)out[i][side]);
      }
    }
  }
  return DAMO_OK;
}

prop_value window_prop(prop_value *list, const int64_t *values, int n) {
  for (int i = 0; i < n; i++) list[i] = prop_int(values[i]);
  return prop_list(list, n);
}

void window_read_prop(const prop_value *v, int64_t *out) {
  for (int i = 0; i < v->n; i++) out[i] = v->u.list[i].u.i;
}

void window_lengths(const damo_array *a, int64_t *out) {
  const int missing = 2 + WINDOW_AXES - a->ndim;
  for (int i = 0; i < 2 + WINDOW_AXES; i++)
    out[i] = i < 2 ? array_shape(a)[i] : i < 2 + missing ? 1 : array_shape(a)[i - missing];
}

const void *window_contiguous(const damo_array *a, void *copy) {
  if (array_is_contiguous(a)) return a->data;
  array_copy_box(a->obj.ctx, a->data, array_strides(a), copy, NULL, a->ndim, array_shape(a),
                 dtype_size(array_dtype(a)));
  return copy;
}

size_t window_copy_bytes(const damo_array *a) {
  return array_is_contiguous(a) ? 0 : ((size_t)array_size(a) * dtype_size(array_dtype(a)) + 63) & ~(size_t)63;
}

window_view window_view_of(const damo_array *a) {
  window_view v = {.a = a};
  const int missing = 2 + WINDOW_AXES - a->ndim;
  window_lengths(a, v.dim);
  for (int i = 0; i < a->ndim; i++) v.stride[i < 2 ? i : i + missing] = array_strides(a)[i];
  return v;
}

double window_entry(const window_view *v, int64_t i, int64_t j, const int64_t *at) {
  const char *p = v->a->data + i * v->stride[0] + j * v->stride[1];
  for (int k = 0; k < WINDOW_AXES; k++) p += at[k] * v->stride[2 + k];
  return scalar_to_double(scalar_load(array_dtype(v->a), p));
}
