/* select_check: what positions that select and search must hold, tested entry by entry. */
#include <math.h>

#include "graph/op_check.h"
#include "sets_int.h"

#define SELECT_EXAM_MOST 200000 /* entries */

/* Order of numbers, nan last. */
static int number_order(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
  return (a > b) - (a < b);
}

/* Entry v stands behind all of a that are before it, and before the others. */
static double judge_search(const op_exam *e) {
  const damo_array *a = exam_array(e, 0), *v = exam_array(e, 1), *got = (const damo_array *)e->results[0];
  const int64_t n = array_shape(a)[0], count = array_size(v);
  const bool right = op_prop(e->node->op, "right")->u.i != 0;
  if (dtype_is_complex(array_dtype(a)) || array_dtype(a) == DAMO_UINT64 || count > SELECT_EXAM_MOST) return -1;
  if (op_prop(e->node->op, "bins")->u.i == BINS_MONOTONE) return -1; /* may fall */
  for (int64_t k = 0; k < count; k++) {
    int64_t at[DAMO_MAX_NDIM], before, after;
    nd_index(v->ndim, array_shape(v), k, at);
    const double value = scalar_to_double(array_get(v, at));
    const int64_t p = scalar_to_int64(array_get(got, at));
    if (p < 1 || p > n + 1) return INFINITY;
    before = p - 2;
    after = p - 1;
    if (before >= 0 && number_order(scalar_to_double(array_get(a, &before)), value) > (right ? 0 : -1)) return INFINITY;
    if (after < n && number_order(scalar_to_double(array_get(a, &after)), value) < (right ? 1 : 0)) return INFINITY;
  }
  return 0;
}

const op_check search_check = {.judge = judge_search, .judged = "an entry does not stand where it is said to"};

/* Whether entry i of a slice comes before entry j: of equal ones the first. */
static bool comes_before(const damo_array *x, int64_t *at, int axis, int64_t i, int64_t j, bool down) {
  at[axis] = i;
  const double a = scalar_to_double(array_get(x, at));
  at[axis] = j;
  const int order = number_order(a, scalar_to_double(array_get(x, at)));
  return order != 0 ? (order < 0) != down : i < j;
}

/* The positions come in order, and no other entry comes before the last of them: it would have to stand among them. */
static bool topk_holds(const damo_array *x, const damo_array *got, int64_t *at, int axis, bool down) {
  const int64_t n = array_shape(x)[axis], k = array_shape(got)[axis];
  int64_t last = -1, before = 0;
  for (int64_t i = 0; i < k; i++) {
    at[axis] = i;
    const int64_t p = scalar_to_int64(array_get(got, at)) - 1;
    if (p < 0 || p >= n || (i > 0 && !comes_before(x, at, axis, last, p, down))) return false;
    last = p;
  }
  for (int64_t i = 0; i < n && k > 0; i++) before += i != last && comes_before(x, at, axis, i, last, down);
  return k == 0 || before == k - 1;
}

static double judge_topk(const op_exam *e) {
  const damo_array *x = exam_array(e, 0), *got = (const damo_array *)e->results[0];
  const int axis = (int)op_prop(e->node->op, "axis")->u.i - 1;
  const bool down = op_prop(e->node->op, "k")->u.i > 0;
  int64_t shape[DAMO_MAX_NDIM], at[DAMO_MAX_NDIM], slices = 1;
  if (dtype_is_complex(array_dtype(x)) || dtype_size(x->dtype) * 8 > 53 + 11 * (size_t)dtype_is_float(array_dtype(x)))
    return -1;
  if (array_size(x) > SELECT_EXAM_MOST) return -1;
  for (int i = 0; i < x->ndim; i++) {
    shape[i] = i == axis ? 1 : array_shape(x)[i];
    slices *= shape[i];
  }
  for (int64_t s = 0; s < slices; s++) {
    nd_index(x->ndim, shape, s, at);
    if (!topk_holds(x, got, at, axis, down)) return INFINITY;
  }
  return 0;
}

const op_check argtopk_check = {.judge = judge_topk,
                                .judged = "a position is not that of one of the k entries in order"};
