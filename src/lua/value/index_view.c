/* index_view: the view of an Array that a basic key selects. */
#include "index.h"

/* A view being built: `axis` is the next axis of the source, shape and strides are those of the view so far. */
typedef struct index_view_maker {
  const damo_array *a;
  const char *func;
  int axis, ndim;
  int64_t offset;
  int64_t shape[BIND_MAX_ITEMS], strides[BIND_MAX_ITEMS];
} index_view_maker;

static void view_add_axis(index_view_maker *v, int64_t n, int64_t stride) {
  v->shape[v->ndim] = n;
  v->strides[v->ndim++] = stride;
}

static void view_add_whole(index_view_maker *v) {
  view_add_axis(v, array_shape(v->a)[v->axis], array_strides(v->a)[v->axis]);
  v->axis++;
}

#define VIEW_FROM_ONE "; positions count from 1, from the end from -1"

/* Converts a 1-based position, negative from the end, to a 0-based one. */
static damo_status view_resolve_position(const index_view_maker *v, int64_t position, int64_t *out) {
  int64_t n = array_shape(v->a)[v->axis], at = position < 0 ? position + n : position - 1;
  if (position != 0 && at >= 0 && at < n) {
    *out = at;
    return DAMO_OK;
  }
  return ctx_fail(v->a->obj.ctx, DAMO_EINDEX, "%s: position %lld is outside axis %d of length %lld%s", v->func,
                  (long long)position, v->axis + 1, (long long)n, position == 0 ? VIEW_FROM_ONE : "");
}

static damo_status view_add_position(index_view_maker *v, const bind_index_item *it) {
  int64_t at = 0;
  DAMO_TRY(view_resolve_position(v, it->at[0], &at));
  v->offset += at * array_strides(v->a)[v->axis++];
  return DAMO_OK;
}

static damo_status view_fail_end(const index_view_maker *v, const char *end, int64_t at, int64_t n) {
  return ctx_fail(v->a->obj.ctx, DAMO_EINDEX, "%s: the range's %s, %lld, is outside axis %d of length %lld%s", v->func,
                  end, (long long)at, v->axis + 1, (long long)n, at == 0 ? VIEW_FROM_ONE : "");
}

static damo_status view_add_range(index_view_maker *v, const bind_index_item *it) {
  int64_t n = array_shape(v->a)[v->axis], stride = array_strides(v->a)[v->axis], step = it->has[2] ? it->at[2] : 1;
  if (step == 0) {
    return ctx_fail(v->a->obj.ctx, DAMO_EVALUE, "%s: the step of a range on axis %d is 0", v->func, v->axis + 1);
  }
  int64_t start = it->has[0] ? it->at[0] : step > 0 ? 1 : n, stop = it->has[1] ? it->at[1] : step > 0 ? n : 1;
  int64_t a = start < 0 ? start + n + 1 : start, z = stop < 0 ? stop + n + 1 : stop;
  if (step > 0 ? z < a : z > a) {
    view_add_axis(v, 0, stride);
  } else {
    if (a < 1 || a > n) return view_fail_end(v, "start", start, n);
    if (z < 1 || z > n) return view_fail_end(v, "stop", stop, n);
    int64_t count = (z - a) / step + 1;
    v->offset += (a - 1) * stride;
    view_add_axis(v, count, count > 1 ? step * stride : stride);
  }
  v->axis++;
  return DAMO_OK;
}

static damo_status view_add_item(index_view_maker *v, const bind_index_item *it, int fill) {
  switch (it->kind) {
    case KEY_POSITION: return view_add_position(v, it);
    case KEY_RANGE: return view_add_range(v, it);
    case KEY_NEWAXIS: view_add_axis(v, 1, 0); break;
    case KEY_ELLIPSIS:
      while (fill-- > 0) view_add_whole(v);
      break;
    case KEY_LIST: break;
  }
  return DAMO_OK;
}

static damo_status view_check_items(const index_view_maker *v, const bind_index_key *key, int *fill) {
  int used = 0, ellipses = 0, added = 0;
  for (int i = 0; i < key->n; i++) {
    bind_item_kind kind = key->item[i].kind;
    used += kind == KEY_POSITION || kind == KEY_RANGE;
    added += kind == KEY_NEWAXIS;
    ellipses += kind == KEY_ELLIPSIS;
  }
  damo_ctx *ctx = v->a->obj.ctx;
  if (ellipses > 1) return ctx_fail(ctx, DAMO_EINDEX, "%s: an ellipsis may stand once", v->func);
  if (used > v->a->ndim) {
    return ctx_fail(ctx, DAMO_EINDEX, "%s: too many indices: %d for an Array with %d %s", v->func, used, v->a->ndim,
                    v->a->ndim == 1 ? "axis" : "axes");
  }
  if (v->a->ndim + added > DAMO_MAX_NDIM) {
    return ctx_fail(ctx, DAMO_EINDEX, "%s: more than %d axes", v->func, DAMO_MAX_NDIM);
  }
  *fill = v->a->ndim - used;
  return DAMO_OK;
}

damo_array *bind_index_view(const damo_array *a, const bind_index_key *key, const char *func) {
  index_view_maker v; /* not zeroed: its lists are long */
  int fill = 0;
  v.a = a;
  v.func = func;
  v.axis = v.ndim = 0;
  v.offset = 0;
  if (view_check_items(&v, key, &fill) != DAMO_OK) return NULL;
  for (int i = 0; i < key->n; i++) {
    if (view_add_item(&v, &key->item[i], fill) != DAMO_OK) return NULL;
  }
  while (v.axis < a->ndim) view_add_whole(&v);
  return array_view(a, v.ndim, v.shape, v.strides, v.offset);
}
