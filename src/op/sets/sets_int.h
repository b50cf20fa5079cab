/* sets_int: what the files of sorting, searching and sets share. Private to src/op. */
#ifndef DAMO_OP_SETS_SETS_INT_H
#define DAMO_OP_SETS_SETS_INT_H

#include "kernel/sort.h"
#include "op/index/index_int.h"
#include "op/segment/segment_int.h"

extern const op_def search_def;                                 /* search.c */
extern const op_def unique_def;                                 /* unique.c */
extern const op_def argtopk_def, argpartition_def, lexsort_def; /* select.c */
extern const op_def edges_def;                                  /* histogram.c */

extern const op_check search_check, argtopk_check; /* select_check.c */

/* ---- search.c ---------------------------------------------------------------------------------------------------- */

/* What is checked of the vector that is searched. */
typedef enum search_bins { BINS_ANY, BINS_MONOTONE /* it rises or falls */, BINS_RISE } search_bins;
/* The 1-based positions at which the entries of v would be inserted into the sorted vector a, of v's dtype: before equal
 * entries, with `right` behind them. With BINS_MONOTONE a may fall. */
damo_var *build_search(build *b, const char *func, damo_var *a, damo_var *v, bool right, int bins);
damo_status fn_searchsorted(build *b, const fn_args *a, ptrvec *out);
damo_status fn_digitize(build *b, const fn_args *a, ptrvec *out);
damo_status fn_interp(build *b, const fn_args *a, ptrvec *out);

/* ---- unique.c ---------------------------------------------------------------------------------------------------- */

damo_status fn_unique(build *b, const fn_args *a, ptrvec *out);
damo_status fn_isin(build *b, const fn_args *a, ptrvec *out);
damo_status fn_union1d(build *b, const fn_args *a, ptrvec *out);
damo_status fn_intersect1d(build *b, const fn_args *a, ptrvec *out);
damo_status fn_setxor1d(build *b, const fn_args *a, ptrvec *out);
damo_status fn_setdiff1d(build *b, const fn_args *a, ptrvec *out);

/* ---- select.c ---------------------------------------------------------------------------------------------------- */

damo_status fn_topk(build *b, const fn_args *a, ptrvec *out);
damo_status fn_argtopk(build *b, const fn_args *a, ptrvec *out);
damo_status fn_partition(build *b, const fn_args *a, ptrvec *out);
damo_status fn_argpartition(build *b, const fn_args *a, ptrvec *out);
damo_status fn_lexsort(build *b, const fn_args *a, ptrvec *out);

/* ---- histogram.c ------------------------------------------------------------------------------------------------- */

damo_status fn_histogram(build *b, const fn_args *a, ptrvec *out);
damo_status fn_histogram2d(build *b, const fn_args *a, ptrvec *out);
damo_status fn_histogramdd(build *b, const fn_args *a, ptrvec *out);

/* ---- Options ----------------------------------------------------------------------------------------------------- */

typedef struct sets_options {
  prop_value axis, return_index, return_inverse, return_counts, return_indices, invert, side, right;
} sets_options;

typedef struct select_options {
  prop_value k, kth, axis;
} select_options;

typedef struct histogram_options {
  prop_value bins, range, density;
} histogram_options;

typedef struct interp_options {
  prop_value left, right, period;
} interp_options;

#endif
