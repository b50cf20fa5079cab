/* reduce_int: what reduce.c and composite.c share. Private to src/op. */
#ifndef DAMO_OP_REDUCE_REDUCE_INT_H
#define DAMO_OP_REDUCE_REDUCE_INT_H

#include "op/op.h"
#include "op/shape/shape_int.h"

/* The axis, keepdims and dtype options of a reduction's call, checked. */
typedef struct reduce_call {
  damo_var *x; /* resolved: not weak */
  int axes[DAMO_MAX_NDIM], n;
  bool keepdims;
  damo_dtype dtype; /* DAMO_N_DTYPES: not given */
} reduce_call;

/* Reads operand 0 and the options axis, keepdims and dtype. */
damo_status reduce_read_call(build *b, const fn_args *a, reduce_call *out);

/* x², or |x|² of complex x, by the parts: its derivatives have values at 0. */
damo_var *build_abs_sqr(build *b, damo_var *x);

damo_status fn_mean(build *b, const fn_args *a, ptrvec *out);
damo_status fn_var(build *b, const fn_args *a, ptrvec *out);
damo_status fn_std(build *b, const fn_args *a, ptrvec *out);
damo_status fn_ptp(build *b, const fn_args *a, ptrvec *out);
damo_status fn_logsumexp(build *b, const fn_args *a, ptrvec *out);
damo_status fn_max_and_argmax(build *b, const fn_args *a, ptrvec *out);

/* The running maximum along a 0-based axis: extremes.c. */
damo_var *build_cummax(build *b, damo_var *x, int axis);

#endif
