/* conv: the classes of convolution, how they run (conv_run.c), and their checks.
 *
 * y[n, k, o] = Σ_c Σ_t w[k, c, t] x[n, c, o·stride + t·dilation - pad], with t counted from the filter's end where it is
 * flipped; the channels are divided among groups. Conv(x, w) gives y; ConvGradInput(y, w, lengths…) and ConvGradFilter(x, y,
 * lengths…) are the transposes of this map as linear in x and in w, so that each one's gradients are the other two.
 */
#ifndef DAMO_OP_NNET_CONV_H
#define DAMO_OP_NNET_CONV_H

#include "graph/op_check.h"
#include "window.h"

typedef enum conv_border { CONV_VALID, CONV_HALF, CONV_FULL, CONV_PADS } conv_border;

/* What an Op's properties say, for three axes: the first ones are of length 1 where there are fewer. */
typedef struct conv_spec {
  int n; /* axes */
  conv_border border;
  int64_t pad[WINDOW_AXES][2], stride[WINDOW_AXES], dilation[WINDOW_AXES], groups;
  bool flip;
} conv_spec;

static inline const conv_spec *conv_spec_of(const damo_op *op) { return op->data; }

/* Lengths of one convolution: of x (batch, groups·channels, in), w (groups·filters, channels, taps), y (…, out). */
typedef struct conv_lengths {
  int64_t batch, groups, channels, filters; /* of one group */
  int64_t in[WINDOW_AXES], taps[WINDOW_AXES], out[WINDOW_AXES], pad[WINDOW_AXES][2];
} conv_lengths;

/* The number of positions along axis k (of three); -1 where a length is -1; shape error, -2, where the filter is longer. */
int64_t conv_positions(damo_ctx *ctx, const damo_op *op, int k, int64_t in, int64_t taps);
/* Padding along axis k for a filter of that length. */
void conv_padding(const conv_spec *s, int k, int64_t taps, int64_t *pad);
/* The channels of x for a filter with w of them in each group, -1 for -1; value error where they are too many. */
damo_status conv_input_channels(damo_ctx *ctx, const damo_op *op, int64_t w, int64_t *channels);
/* The lengths of five axes, of which the batch may be -1; shape error where channels or groups do not agree. */
damo_status conv_lengths_of(damo_ctx *ctx, const damo_op *op, const int64_t *x, const int64_t *w, conv_lengths *out);

/* The order of the sums of ConvGradFilter, which follows from shapes alone: samples are in chunks, whose sums are added in
 * double; one product reads `together` of them, and sums `depth` positions of a slab, the positions of out[1] and out[2]
 * with rows of `pitch`, sample by sample; products are added in the order of slabs, then of positions. */
typedef struct conv_order {
  int64_t chunks, together, depth, pitch, slab; /* slab: positions of one, those between its rows included */
} conv_order;
conv_order conv_sum_order(const conv_spec *s, const conv_lengths *l, size_t size);

damo_status conv_perform(const thunk *t, frame *f);
damo_status conv_grad_input_perform(const thunk *t, frame *f);
damo_status conv_grad_filter_perform(const thunk *t, frame *f);

/* window_c.c */
struct c_emit;
damo_status conv_emit_c(struct c_emit *e, const damo_apply *node);
damo_status conv_grad_input_emit_c(struct c_emit *e, const damo_apply *node);
damo_status conv_grad_filter_emit_c(struct c_emit *e, const damo_apply *node);

extern const op_def conv_def, conv_grad_input_def, conv_grad_filter_def;
extern const op_check conv_check, conv_grad_input_check, conv_grad_filter_check;

#endif
