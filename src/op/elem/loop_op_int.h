/* loop_op_int: what loop_op.c (the class), loop_op_make.c (its program) and loop_op_run.c (its thunks) share. */
#ifndef DAMO_OP_ELEM_LOOP_OP_INT_H
#define DAMO_OP_ELEM_LOOP_OP_INT_H

#include "elem_int.h"
#include "loop_lanes.h"
#include "loop_op.h"
#include "op/shape/shape_int.h"

/* The properties (loop_op.c). */
typedef struct loop_props {
  prop_value n_in, axes, parts, outs, rows, inplace, sources;
} loop_props;

/* What an input is read for. */
typedef enum loop_use {
  USE_OPERAND,   /* its own elements */
  USE_TAKEN,     /* entries at positions along an axis */
  USE_POSITIONS, /* these, along the axis */
  USE_RANGE,     /* the start of a range */
  USE_END        /* its stop and step */
} loop_use;

typedef struct loop_input_use {
  uint8_t use;    /* loop_use */
  int8_t axis;    /* of USE_TAKEN and USE_POSITIONS */
  int16_t source; /* the source that it is an operand of */
} loop_input_use;

/* The properties, parsed. */
typedef struct loop_data {
  int32_t n_in, n_parts, n_out, n_sources;
  uint32_t axes;    /* a row is these, as bits; 0: there are no rows */
  int32_t n_axes;   /* how many they are */
  int32_t place;    /* the input that is the length of a row for a part that places values, -1: none */
  bool reads_folds; /* a part reads what another folds */
  bool has_positions;
  loop_part *parts;
  int16_t *outs;
  bool *of_rows; /* of the inputs */
  loop_source *sources;
  loop_input_use *uses; /* of the inputs */
  op_alias *destroy;
  size_t bytes; /* of the allocation that starts at parts */
} loop_data;

static inline const loop_data *loop_data_of(const damo_op *op) { return (const loop_data *)op->data; }
static inline bool loop_part_folds(const loop_part *p) { return p->op->def == &reduce_def; }
/* Pick: an element of each row by its position. */
static inline bool loop_part_picks(const loop_part *p) { return p->op->def == &pick_def; }
/* PickGrad, OneHot: zeros but for one entry a row. Their last operand is the length of a row. */
static inline bool loop_part_places(const loop_part *p) {
  return p->op->def == &pick_grad_def || p->op->def == &onehot_def;
}
static inline int loop_arity(const loop_part *p) {
  if (loop_part_folds(p)) return 1;
  if (loop_part_picks(p) || p->op->def == &onehot_def) return 2;
  return p->op->def == &pick_grad_def ? 3 : elemwise_data_of(p->op)->row->arity;
}
/* Which operand of a part has the positions, -1: none. */
static inline int loop_part_positions(const loop_part *p) {
  if (loop_part_picks(p) || p->op->def == &pick_grad_def) return 1;
  return p->op->def == &onehot_def ? 0 : -1;
}
static inline const loop_part *loop_part_of_out(const loop_data *d, int o) { return &d->parts[d->outs[o] - d->n_in]; }

/* The shape of a part's result in an iteration space of that shape, into out; returns its rank. */
int loop_part_shape(const loop_data *d, const loop_part *p, int ndim, const int64_t *shape, int64_t *out);

/* The rank that input i has in the iteration space, at least. */
static inline int loop_input_rank(const loop_data *d, damo_var *const *in, int i) {
  switch ((loop_use)d->uses[i].use) {
    case USE_OPERAND: return var_ndim(in[i]) + (d->of_rows[i] ? d->n_axes : 0);
    case USE_TAKEN: return var_ndim(in[i]) - 1 + var_ndim(in[d->sources[d->uses[i].source].in[1]]);
    case USE_RANGE: return 1;
    case USE_POSITIONS:
    case USE_END: break;
  }
  return 0;
}

/* The rank of the iteration space. */
static inline int loop_ndim(const loop_data *d, damo_var *const *in) {
  int ndim = 0;
  for (int i = 0; i < d->n_in; i++) {
    const int rank = loop_input_rank(d, in, i);
    if (rank > ndim) ndim = rank;
  }
  return ndim;
}

/* The dtype of the elements of input i. */
static inline damo_dtype loop_input_dtype(const loop_data *d, damo_var *const *in, int i) {
  if (d->uses[i].use != USE_RANGE) return var_dtype(in[i]);
  return prop_dtype(OP_PROPS(d->sources[d->uses[i].source].op, dtype_props)->dtype);
}

static inline bool loop_has_range(const loop_data *d) {
  for (int i = 0; i < d->n_in; i++) {
    if (d->uses[i].use == USE_RANGE) return true;
  }
  return false;
}

static inline bool loop_is_row_axis(const loop_data *d, int axis) { return d->axes >> axis & 1; }

/* How many axes of the iteration space before that one are no axes of a row. */
static inline int loop_kept_before(const loop_data *d, int axis) {
  int n = 0;
  for (int k = 0; k < axis; k++) n += !loop_is_row_axis(d, k);
  return n;
}

/* The axis that is axis `axis` of an iteration space of that rank, of what has fewer axes: they are aligned to the last,
 * and of_rows tells that the axes of a row are left out. -1: none. */
static inline int loop_own_axis(const loop_data *d, int rank, bool of_rows, int ndim, int axis) {
  if (!of_rows) return axis >= ndim - rank ? axis - (ndim - rank) : -1;
  if (loop_is_row_axis(d, axis)) return -1;
  const int at = loop_kept_before(d, axis), missing = ndim - d->n_axes - rank;
  return at >= missing ? at - missing : -1;
}

/* The same of input i, which has that rank. What is taken has no axes of its own where its positions have theirs. */
static inline int loop_input_axis(const loop_data *d, int i, int rank, int ndim, int axis) {
  const loop_input_use u = d->uses[i];
  const int after = axis - u.axis;
  switch ((loop_use)u.use) {
    case USE_OPERAND: return loop_own_axis(d, rank, d->of_rows[i], ndim, axis);
    case USE_TAKEN: return after < 0 ? axis : after <= ndim - rank ? -1 : axis - (ndim - rank);
    case USE_POSITIONS: return after >= 0 && after < rank ? after : -1;
    case USE_RANGE:
    case USE_END: break;
  }
  return -1;
}

/* Where n entries of that size begin in a layout that ends at *at. */
static inline size_t loop_op_take(size_t *at, size_t n, size_t size) {
  const size_t from = *at;
  *at += (n * size + 63) & ~(size_t)63;
  return from;
}

/* loop_op_build.c: the elements of a source, of the Loop's inputs; the Loop node over these, without sources. */
damo_var *build_source(build *b, const loop_source *s, damo_var *const *in);
damo_apply *build_loop_after_sources(build *b, const damo_apply *node);

/* loop_op_make.c: the program of the node's parts, in the thunk's scratch memory. lanes: NULL, or where to put the code of
 * steps that are joined. */
damo_status loop_make_program(const thunk *t, frame *f, loop_program *lp, loop_lanes **lanes);

/* loop_op_run.c */
typedef struct loop_kept loop_kept;
typedef struct loop_state {
  loop_kept *kept; /* NULL before the first run */
} loop_state;
void loop_state_clear(const thunk *t, frame *f);
damo_status loop_perform(const thunk *t, frame *f);
bool loop_perform_at(const thunk *t, frame *f, char *const *operands);
bool loop_perform_again(const thunk *t, frame *f, damo_array **operands);

#endif
