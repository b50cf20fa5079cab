/* reduce: reductions of strided arrays: result dtypes, the plan, and the choice between sequences and strips.
 *
 * Elements are first converted to the dtype of the accumulator: int64 or uint64 for sums and products of integers, bool
 * for any and all (maximum and minimum of bools), squares for sum_sqr, float for logsumexp, which takes two passes: the
 * maximum, then the sum of exp(x - maximum). reduce_int.h explains why results do not depend on strides. */
#include <math.h>
#include <string.h>

#include "reduce_int.h"

damo_dtype reduce_out_dtype(reduce_kind kind, damo_dtype in) {
  switch (kind) {
    case REDUCE_SUM:
    case REDUCE_PROD:
      if (in == DAMO_BOOL || dtype_is_signed(in)) return DAMO_INT64;
      return dtype_is_integer(in) ? DAMO_UINT64 : in;
    case REDUCE_ANY:
    case REDUCE_ALL: return DAMO_BOOL;
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN: return DAMO_INT64;
    case REDUCE_LOGSUMEXP: return dtype_to_float(in);
    case REDUCE_SUM_SQR: return in == DAMO_COMPLEX64 ? DAMO_FLOAT32 : in == DAMO_COMPLEX128 ? DAMO_FLOAT64 : in;
    case REDUCE_MAX:
    case REDUCE_MIN: break;
  }
  return in;
}

bool reduce_supported(reduce_kind kind, damo_dtype in) {
  if (kind == REDUCE_SUM_SQR) return !dtype_is_discrete(in);
  return kind != REDUCE_LOGSUMEXP || !dtype_is_complex(in);
}

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static void reduce_plan_op(reduce_plan *plan, const reduce_fns *fns, reduce_kind kind, damo_dtype in) {
  const bool arg = kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN;
  plan->acc = arg ? in : reduce_out_dtype(kind, in);
  plan->in_size = dtype_size(in);
  plan->cast = kind == REDUCE_SUM_SQR ? fns->squares[in].squares : plan->acc == in ? NULL : kernel_cast(in, plan->acc);
  plan->squares = kind == REDUCE_SUM_SQR ? &fns->squares[in] : NULL;
  switch (kind) {
    case REDUCE_SUM:
    case REDUCE_SUM_SQR: plan->op = &fns->sum[plan->acc]; break;
    case REDUCE_PROD: plan->op = &fns->prod[plan->acc]; break;
    case REDUCE_MAX:
    case REDUCE_ANY:
    case REDUCE_LOGSUMEXP:
    case REDUCE_ARGMAX: plan->op = &fns->max[plan->acc]; break;
    case REDUCE_MIN:
    case REDUCE_ALL:
    case REDUCE_ARGMIN: plan->op = &fns->min[plan->acc]; break;
  }
  plan->arg = kind == REDUCE_ARGMAX ? &fns->argmax[in] : kind == REDUCE_ARGMIN ? &fns->argmin[in] : NULL;
  plan->second_pass = NULL;
}

/* Appends an axis to a list, or merges it with the last one if their strides allow it. */
static void reduce_add_axis(reduce_axis *axes, int *n, int64_t length, int64_t stride) {
  if (length == 1) return;
  if (*n > 0 && axes[*n - 1].stride == stride * length) {
    axes[*n - 1] = (reduce_axis){axes[*n - 1].n * length, stride};
    return;
  }
  axes[(*n)++] = (reduce_axis){length, stride};
}

static void reduce_plan_axes(reduce_plan *plan, int ndim, const int64_t *shape, const int64_t *strides, uint32_t axes) {
  plan->n_kept = plan->n_reduced = 0;
  plan->n_out = plan->n_per = 1;
  for (int k = 0; k < ndim; k++) {
    if (axes >> k & 1) {
      plan->n_per *= shape[k];
      reduce_add_axis(plan->reduced, &plan->n_reduced, shape[k], strides[k]);
    } else {
      plan->n_out *= shape[k];
      reduce_add_axis(plan->kept, &plan->n_kept, shape[k], strides[k]);
    }
  }
  const reduce_axis single = {1, (int64_t)plan->in_size};
  if (plan->n_kept == 0) plan->kept[plan->n_kept++] = single;
  if (plan->n_reduced == 0) plan->reduced[plan->n_reduced++] = single;
}

/* ---- Scratch ----------------------------------------------------------------------------------------------------- */

#define REDUCE_STAGE_BYTES ((size_t)REDUCE_BLOCK * 16) /* a block or a row of elements of the largest size */

static int reduce_tree_levels(int64_t n_per) {
  int levels = 1;
  for (int64_t blocks = n_per / REDUCE_BLOCK + 1; blocks > 1; blocks /= 2) levels++;
  return levels;
}

/* Bytes of the strips of lanes and of the tree. Each strip has at least 8 bytes an element, for argmax and argmin. */
static size_t reduce_lanes_bytes(const reducer *op) {
  const size_t element = op->size * (size_t)op->lanes;
  return (element < 8 ? 8 : element) * REDUCE_STRIP;
}

static size_t reduce_tree_bytes(const reducer *op, int64_t n_per) {
  const size_t element = op->size * (size_t)reduce_tree_levels(n_per);
  return (element < 8 ? 8 : element) * REDUCE_STRIP;
}

size_t reduce_workspace(reduce_kind kind, damo_dtype in, int ndim, const int64_t *shape, uint32_t axes) {
  reduce_plan plan;
  int64_t n_per = 1;
  reduce_plan_op(&plan, &reduce_fns_base, kind, in);
  for (int k = 0; k < ndim; k++)
    if (axes >> k & 1) n_per *= shape[k];
  /* logsumexp's second pass is a sum, which needs as much as the maximum of the first */
  return 2 * REDUCE_STAGE_BYTES + reduce_lanes_bytes(plan.op) + reduce_tree_bytes(plan.op, n_per);
}

static void reduce_plan_scratch(reduce_plan *plan, char *work) {
  plan->gathered = work;
  plan->casted = work + REDUCE_STAGE_BYTES;
  plan->lanes = work + 2 * REDUCE_STAGE_BYTES;
  plan->tree = plan->lanes + reduce_lanes_bytes(plan->op);
}

/* ---- The reduction ----------------------------------------------------------------------------------------------- */

static void reduce_fill_empty(reduce_kind kind, damo_dtype acc, char *out, int64_t n) {
  const size_t size = dtype_size(acc);
  const double value = kind == REDUCE_PROD || kind == REDUCE_ALL ? 1 : kind == REDUCE_LOGSUMEXP ? -INFINITY : 0;
  for (int64_t i = 0; i < n; i++, out += size) kernel_cast(DAMO_FLOAT64, acc)(&value, out, 1);
}

static int64_t reduce_stride_size(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Strips read rows along the kept axis: best if its stride is the smaller one, or if each result has few elements. */
static bool reduce_takes_strips(const reduce_plan *plan) {
  const reduce_axis kept = plan->kept[plan->n_kept - 1], reduced = plan->reduced[plan->n_reduced - 1];
  if (kept.n < 8) return false;
  return reduce_stride_size(kept.stride) < reduce_stride_size(reduced.stride) || plan->n_per < 32;
}

static void reduce_run_plan(const reduce_plan *plan, const char *x, char *out) {
  if (reduce_takes_strips(plan))
    reduce_by_strips(plan, x, out);
  else
    reduce_by_sequence(plan, x, out);
}

void kernel_reduce(const kernel_isa *isa, reduce_kind kind, damo_dtype in, const char *x, int ndim,
                   const int64_t *shape, const int64_t *strides, uint32_t axes, char *out, void *work) {
  reduce_plan plan;
  reduce_plan_op(&plan, isa->reduce, kind, in);
  reduce_plan_axes(&plan, ndim, shape, strides, axes);
  if (plan.n_out == 0) return;
  if (plan.n_per == 0) {
    reduce_fill_empty(kind, plan.acc, out, plan.n_out);
    return;
  }
  reduce_plan_scratch(&plan, work);
  reduce_run_plan(&plan, x, out);
  if (kind != REDUCE_LOGSUMEXP) return;
  plan.op = &isa->reduce->sum[plan.acc];
  plan.second_pass = isa;
  reduce_run_plan(&plan, x, out);
}
