/* window: the options of functions that slide a window over the axes after the second: pooling and convolution. */
#ifndef DAMO_OP_NNET_WINDOW_H
#define DAMO_OP_NNET_WINDOW_H

#include "nnet.h"

#define WINDOW_AXES 3 /* at most */

/* An option that is an integer, or a list with one for each of n axes, each at least `least`. Where it is not given,
 * out is left as it is. */
damo_status window_numbers(damo_ctx *ctx, const char *func, const char *option, const prop_value *v, int n,
                           int64_t least, int64_t *out);
/* Padding: an integer, or a list with an integer or a pair {before, after} for each of n axes. */
damo_status window_pads(damo_ctx *ctx, const char *func, const char *option, const prop_value *v, int n,
                        int64_t (*out)[2]);
/* Properties: a list of n integers, into list; of n pairs, as 2 n integers. list: 2 WINDOW_AXES entries. */
prop_value window_prop(prop_value *list, const int64_t *values, int n);
#define WINDOW_LONGEST INT32_MAX /* of sizes, strides and pads: sums with lengths stay far from the ends of int64 */
void window_read_prop(const prop_value *v, int64_t *out);

/* The lengths of an array (N, C, and one to three more), with ones before the last so that there are three. */
void window_lengths(const damo_array *a, int64_t *out);
/* a's data where it is contiguous, else a copy of it in `copy`; and the bytes that such a copy takes. */
const void *window_contiguous(const damo_array *a, void *copy);
size_t window_copy_bytes(const damo_array *a);

/* An array with these axes as seen by checks: entries by five positions, as double. */
typedef struct window_view {
  const damo_array *a;
  int64_t dim[2 + WINDOW_AXES], stride[2 + WINDOW_AXES];
} window_view;
window_view window_view_of(const damo_array *a);
double window_entry(const window_view *v, int64_t i, int64_t j, const int64_t *at);

#endif
