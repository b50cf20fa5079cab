/* nan: reductions that leave out nan: nansum, nanprod, nanmax, nanmin, nanargmax, nanargmin, nanmean, nanvar, nanstd.
 *
 * Each is a reduction over x with another number in place of nan, so the gradient of a nan is 0. Of integers they are
 * the plain reductions.
 */
#include <math.h>

#include "op/elem/build_arith.h"
#include "reduce_int.h"

/* What the functions read: the call, the dtype converted, and where x is nan (NULL: x is of integers). */
typedef struct nan_call {
  reduce_call c;
  damo_var *is_nan;
} nan_call;

static damo_status nan_read_call(build *b, const fn_args *a, nan_call *n) {
  DAMO_TRY(reduce_read_call(b, a, &n->c));
  if (n->c.dtype != DAMO_N_DTYPES) n->c.x = build_cast(b, n->c.x, n->c.dtype);
  if (n->c.x == NULL) return b->status;
  n->is_nan = dtype_is_discrete(var_dtype(n->c.x)) ? NULL : build_isnan(b, n->c.x);
  return b->status;
}

static damo_var *nan_filled(build *b, const nan_call *n, double value) {
  return n->is_nan ? build_switch(b, n->is_nan, build_num(b, value), n->c.x) : n->c.x;
}

static damo_var *nan_reduce(build *b, const nan_call *n, reduce_kind kind, damo_var *x, bool keepdims) {
  return build_reduce(b, kind, x, n->c.axes, n->c.n, keepdims);
}

static damo_status fn_nansum(build *b, const fn_args *a, ptrvec *out) {
  nan_call n;
  DAMO_TRY(nan_read_call(b, a, &n));
  const bool is_sum = a->func->data == NULL;
  damo_var *x = nan_filled(b, &n, is_sum ? 0 : 1);
  damo_var *y = nan_reduce(b, &n, is_sum ? REDUCE_SUM : REDUCE_PROD, x, n.c.keepdims);
  return fn_give(b, out, n.c.dtype != DAMO_N_DTYPES ? build_cast(b, y, n.c.dtype) : y);
}

static const reduce_kind nan_kinds[] = {REDUCE_MAX, REDUCE_MIN, REDUCE_ARGMAX, REDUCE_ARGMIN, REDUCE_PROD};
enum { NAN_MAX, NAN_MIN, NAN_ARGMAX, NAN_ARGMIN, NAN_PROD };

/* The extreme of x with the other infinity in place of nan; nan where there is nothing else. */
static damo_status fn_nanmax(build *b, const fn_args *a, ptrvec *out) {
  const reduce_kind kind = *(const reduce_kind *)a->func->data;
  nan_call n;
  DAMO_TRY(nan_read_call(b, a, &n));
  damo_var *x = nan_filled(b, &n, kind == REDUCE_MAX ? -INFINITY : INFINITY);
  damo_var *y = nan_reduce(b, &n, kind, x, n.c.keepdims);
  if (n.is_nan == NULL) return fn_give(b, out, y);
  damo_var *all = nan_reduce(b, &n, REDUCE_ALL, n.is_nan, n.c.keepdims);
  return fn_give(b, out, build_switch(b, all, build_num(b, NAN), y));
}

static damo_status fn_nanargmax(build *b, const fn_args *a, ptrvec *out) {
  const reduce_kind kind = *(const reduce_kind *)a->func->data;
  nan_call n;
  DAMO_TRY(nan_read_call(b, a, &n));
  damo_var *x = nan_filled(b, &n, kind == REDUCE_ARGMAX ? -INFINITY : INFINITY);
  if (n.is_nan != NULL) {
    damo_var *some = build_invert(b, nan_reduce(b, &n, REDUCE_ALL, n.is_nan, true));
    x = build_assert(
        b, x, some,
        kind == REDUCE_ARGMAX ? "nanargmax: a slice is nan throughout" : "nanargmin: a slice is nan throughout");
  }
  return fn_give(b, out, nan_reduce(b, &n, kind, x, n.c.keepdims));
}

/* How many elements of each group are no nan, of dtype dt. */
static damo_var *nan_count(build *b, const nan_call *n, damo_dtype dt, bool keepdims) {
  damo_var *is = n->is_nan ? build_invert(b, n->is_nan) : build_fill(b, n->c.x, build_scalar(b, DAMO_BOOL, 1));
  return build_cast(b, nan_reduce(b, n, REDUCE_SUM, is, keepdims), dt);
}

/* x as float64 where it is of integers. */
static damo_status nan_read_mean(build *b, const fn_args *a, nan_call *n) {
  DAMO_TRY(nan_read_call(b, a, n));
  if (dtype_is_discrete(var_dtype(n->c.x))) n->c.x = build_cast(b, n->c.x, DAMO_FLOAT64);
  return b->status;
}

static damo_var *build_nanmean(build *b, const nan_call *n, bool keepdims) {
  const damo_dtype dt = var_dtype(n->c.x);
  return build_true_div(b, nan_reduce(b, n, REDUCE_SUM, nan_filled(b, n, 0), keepdims), nan_count(b, n, dt, keepdims));
}

static damo_status fn_nanmean(build *b, const fn_args *a, ptrvec *out) {
  nan_call n;
  DAMO_TRY(nan_read_mean(b, a, &n));
  return fn_give(b, out, build_nanmean(b, &n, n.c.keepdims));
}

/* Σ |x - mean|² / (n - ddof) over what is no nan; nan where n <= ddof. */
static damo_var *build_nanvar(build *b, const fn_args *a) {
  const double ddof = prop_num_or(FN_OPTIONS(a, reduce_options)->ddof, 0);
  nan_call n;
  if (nan_read_mean(b, a, &n) != DAMO_OK) return build_take(b, NULL);
  damo_var *centred = build_sub(b, n.c.x, build_nanmean(b, &n, true));
  if (n.is_nan) centred = build_switch(b, n.is_nan, build_num(b, 0), centred);
  if (centred == NULL) return NULL;
  damo_var *squares = nan_reduce(b, &n, REDUCE_SUM, build_abs_sqr(b, centred), n.c.keepdims);
  if (squares == NULL) return NULL;
  damo_var *count = build_sub(b, nan_count(b, &n, var_dtype(squares), n.c.keepdims), build_num(b, ddof));
  return build_switch(b, build_gt(b, count, build_num(b, 0)), build_true_div(b, squares, count), build_num(b, NAN));
}

static damo_status fn_nanvar(build *b, const fn_args *a, ptrvec *out) { return fn_give(b, out, build_nanvar(b, a)); }

/* The square root of nanvar. Its gradient is 0 where the variance is 0: a single element always has variance 0. */
static damo_status fn_nanstd(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v = build_nanvar(b, a), *zero = build_num(b, 0);
  return fn_give(b, out, v ? build_switch(b, build_eq(b, v, zero), zero, build_sqrt(b, v)) : NULL);
}

#define NAN_AXES OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL)
#define NAN_DTYPE OPT(reduce_options, dtype, OPT_DTYPE)
#define NAN_DDOF OPT(reduce_options, ddof, OPT_NUM)
#define NAN_ROW(own, opts, fn, text) \
  { .name = own, .operands = "x", .options = opts, .call = fn, .doc = text }
#define NAN_KIND(own, opts, fn, kind, text) \
  { .name = own, .operands = "x", .options = opts, .call = fn, .data = &nan_kinds[kind], .doc = text }

const op_func nan_funcs[] = {
    NAN_ROW("nansum", OPTIONS(NAN_AXES, NAN_DTYPE), fn_nansum, "sum over axes, nan counted as 0"),
    NAN_KIND("nanprod", OPTIONS(NAN_AXES, NAN_DTYPE), fn_nansum, NAN_PROD, "product over axes, nan counted as 1"),
    NAN_KIND("nanmax", OPTIONS(NAN_AXES), fn_nanmax, NAN_MAX, "largest element over axes that is no nan"),
    NAN_KIND("nanmin", OPTIONS(NAN_AXES), fn_nanmax, NAN_MIN, "smallest element over axes that is no nan"),
    NAN_KIND("nanargmax", OPTIONS(NAN_AXES), fn_nanargmax, NAN_ARGMAX,
             "1-based position of the first largest element over axes that is no nan"),
    NAN_KIND("nanargmin", OPTIONS(NAN_AXES), fn_nanargmax, NAN_ARGMIN,
             "1-based position of the first smallest element over axes that is no nan"),
    NAN_ROW("nanmean", OPTIONS(NAN_AXES, NAN_DTYPE), fn_nanmean, "mean over axes of what is no nan"),
    NAN_ROW("nanvar", OPTIONS(NAN_AXES, NAN_DDOF), fn_nanvar,
            "variance over axes of what is no nan, divided by n - ddof (default 0)"),
    NAN_ROW("nanstd", OPTIONS(NAN_AXES, NAN_DDOF), fn_nanstd, "standard deviation over axes: the root of nanvar"),
    {.name = NULL},
};

#undef NAN_AXES
#undef NAN_DTYPE
#undef NAN_DDOF
#undef NAN_ROW
#undef NAN_KIND
