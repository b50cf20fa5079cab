/* segment_check: the definition of reductions over segments, entry by entry, in double. */
#include <math.h>

#include "graph/op_check.h"
#include "segment_int.h"

#define SEGMENT_EXAM_MOST 1000000 /* entries */

/* Entry number k, in C order, of a real array. */
static double segment_entry(const damo_array *a, int64_t k) {
  int64_t at[DAMO_MAX_NDIM];
  nd_index(a->ndim, array_shape(a), k, at);
  return scalar_to_double(array_get(a, at));
}

/* Folds v into one result and into the sum of moduli beside it, or the product of them. */
static void exam_fold(segment_kind kind, double v, double *result, double *modulus) {
  switch (kind) {
    case SEGMENT_SUM:
      *result += v;
      *modulus += fabs(v);
      return;
    case SEGMENT_PROD:
      *result *= v;
      *modulus = fabs(*result);
      return;
    case SEGMENT_MAX: *result = isnan(*result) || v <= *result ? *result : v; return;
    case SEGMENT_MIN: *result = isnan(*result) || v >= *result ? *result : v; return;
    case SEGMENT_KINDS: return;
  }
}

/* Only of floats: integers wrap, and may be beyond the range of double. */
static double judge_segment(const op_exam *e) {
  const segment_kind kind = segment_kind_of(e->node->op);
  const damo_array *x = exam_array(e, 0), *ids = exam_array(e, 1), *got = (const damo_array *)e->results[0];
  const int64_t n = array_size(got), entries = array_size(x);
  const double first[SEGMENT_KINDS] = {0, 1, -INFINITY, INFINITY};
  double worst = 0;
  if (!dtype_is_float(array_dtype(x)) || entries > SEGMENT_EXAM_MOST || n > SEGMENT_EXAM_MOST) return -1;
  const size_t size = (size_t)(2 * n) * sizeof(double);
  double *sums = mem_alloc(e->node->op->obj.ctx, size);
  if (sums == NULL) return -1;
  for (int64_t k = 0; k < n; k++) {
    sums[2 * k] = first[kind];
    sums[2 * k + 1] = kind == SEGMENT_SUM ? 0 : 1;
  }
  const int64_t rows = array_shape(x)[0], width = rows > 0 ? entries / rows : 0;
  for (int64_t k = 0; k < entries; k++) {
    const int64_t at = (exam_int_at(ids, k / width) - 1) * width + k % width;
    exam_fold(kind, segment_entry(x, k), &sums[2 * at], &sums[2 * at + 1]);
  }
  for (int64_t k = 0; k < n; k++) {
    const double wanted = sums[2 * k], value = segment_entry(got, k), modulus = sums[2 * k + 1];
    if (wanted == value || (isnan(wanted) && isnan(value))) continue;
    if (isinf(wanted) && (kind == SEGMENT_SUM || kind == SEGMENT_PROD)) continue; /* overflow comes sooner in float32 */
    const double apart = fabs(value - wanted) / (modulus > 0 ? modulus : 1);
    if (!(apart <= worst)) worst = isnan(apart) ? INFINITY : apart;
  }
  mem_free(e->node->op->obj.ctx, sums, size);
  return worst;
}

const op_check segment_check = {.judge = judge_segment, .judged = "a segment is apart from its rows taken one by one"};
