/* spread.c: arrays that repeat their entries along axes of stride 0, as broadcasting makes them: they may have more
 * entries than any memory holds, so what looks at all entries, or copies them, takes those that are stored. */
#include "watch_int.h"

static bool repeats_along(const damo_array *a, int axis) {
  return array_shape(a)[axis] > 1 && array_strides(a)[axis] == 0;
}

static damo_array *spread_view(const damo_array *a, const damo_array *b, bool *cut) {
  int64_t shape[DAMO_MAX_NDIM];
  *cut = false;
  for (int k = 0; k < a->ndim; k++) {
    const bool both = repeats_along(a, k) && repeats_along(b, k);
    shape[k] = both ? 1 : array_shape(a)[k];
    *cut = *cut || both;
  }
  return *cut ? array_view(a, a->ndim, shape, array_strides(a), 0) : NULL;
}

bool spread_once(const damo_array *a, const damo_array *b, damo_array **a_once, damo_array **b_once) {
  bool cut;
  *a_once = *b_once = NULL;
  if (a->ndim != b->ndim || array_size(a) == 0) return false;
  *a_once = spread_view(a, b, &cut);
  *b_once = spread_view(b, a, &cut);
  if (!cut) return false;
  if (*a_once != NULL && *b_once != NULL) return true;
  damo_release(*a_once);
  damo_release(*b_once);
  *a_once = *b_once = NULL;
  ctx_clear_error(a->obj.ctx); /* no memory for views: the caller looks at all entries */
  return false;
}

bool spread_equal(const damo_array *a, const damo_array *b) {
  damo_array *x, *y;
  if (!array_same_shape(a, b) || !spread_once(a, b, &x, &y)) return array_equal(a, b, true);
  const bool equal = array_equal(x, y, true);
  damo_release(x);
  damo_release(y);
  return equal;
}

#define SPREAD_LARGE ((int64_t)1 << 20) /* entries */

bool spread_is_large(const damo_obj *v) {
  if (v == NULL || v->kind != OBJ_ARRAY || array_size((const damo_array *)v) < SPREAD_LARGE) return false;
  const damo_array *a = (const damo_array *)v;
  bool spread = false;
  for (int k = 0; k < a->ndim; k++) spread = spread || repeats_along(a, k);
  return spread;
}

damo_obj *spread_copy(damo_obj *v) {
  if (!spread_is_large(v)) return value_copy(v);
  const damo_array *a = (const damo_array *)v;
  int64_t strides[DAMO_MAX_NDIM];
  damo_array *x, *same;
  if (!spread_once(a, a, &x, &same)) return value_copy(v);
  damo_array *once = array_copy(x), *copy = NULL;
  for (int k = 0; once != NULL && k < a->ndim; k++) strides[k] = repeats_along(a, k) ? 0 : array_strides(once)[k];
  if (once != NULL) copy = array_view(once, a->ndim, array_shape(a), strides, 0);
  damo_release(once);
  damo_release(x);
  damo_release(same);
  return copy != NULL ? &copy->obj : NULL;
}
