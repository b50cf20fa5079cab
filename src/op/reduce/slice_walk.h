/* slice_walk: the 1-d slices along one axis of two arrays of one shape. Private to op/reduce. */
#ifndef DAMO_OP_REDUCE_SLICE_WALK_H
#define DAMO_OP_REDUCE_SLICE_WALK_H

#include "loop/loop.h"
#include "op/op.h"

/* Walks the 1-d slices along one axis of two arrays x and y of one shape, `count` slices at a time: p[0] and p[1] are
 * the first elements of the first slice of x and y, the next slices begin step[0] and step[1] bytes further. */
typedef struct slice_walk {
  nd_space space;
  nd_walk walk;
  int64_t count, step[2];
  char *p[2];
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)];
} slice_walk;

static inline bool slice_walk_begin(slice_walk *w, const damo_array *x, const damo_array *y, int axis) {
  w->space = nd_space_begin(w->numbers, DAMO_MAX_NDIM, 2);
  for (int k = 0; k < x->ndim; k++) {
    if (k == axis) continue;
    nd_space_next(&w->space)[0] = array_strides(x)[k];
    nd_space_next(&w->space)[1] = array_strides(y)[k];
    nd_space_push(&w->space, array_shape(x)[k]);
  }
  w->count = nd_space_inner(&w->space);
  for (int i = 0; i < 2; i++) w->step[i] = nd_inner_stride(&w->space, i);
  w->p[0] = x->data;
  w->p[1] = y->data;
  return nd_begin(&w->walk, &w->space);
}

static inline bool slice_walk_next(slice_walk *w) { return nd_next(&w->walk, w->p); }

#endif
