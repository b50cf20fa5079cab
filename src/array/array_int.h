/* array_int: what the files of array share with each other only. */
#ifndef DAMO_ARRAY_ARRAY_INT_H
#define DAMO_ARRAY_ARRAY_INT_H

#include "array.h"

/* Elements that a box holds at most: four blocks of the widest dtype fit in L1. */
#define BOX_MAX 512

/* Cuts an n-d box of elements into small boxes, in C order, so that strided operands can be gathered into a block on
 * the stack. A small box is axes axis..ndim-1 of the shape, the first of them cut to box[0]. */
typedef struct box_walk {
  int ndim, axis;
  int64_t step;                 /* along `axis` */
  const int64_t *shape;         /* borrowed */
  int64_t index[DAMO_MAX_NDIM]; /* of the box's first element */
  int64_t box[DAMO_MAX_NDIM];   /* its shape: ndim - axis entries */
  int64_t n;                    /* its elements */
} box_walk;

/* The first box; false when there is none (an empty shape). */
bool box_walk_begin(box_walk *w, int ndim, const int64_t *shape);
bool box_walk_next(box_walk *w);
/* Bytes from the first element to the box's first element. */
int64_t box_walk_offset(const box_walk *w, const int64_t *strides);

/* The box of `data` as n contiguous elements of `dtype` in dst, which has room for BOX_MAX elements of 16 bytes. */
void box_gather(const box_walk *w, const char *data, const int64_t *strides, damo_dtype from, damo_dtype dtype,
                void *dst);

/* One element at p, which need not be aligned. */
scalar scalar_load(damo_dtype dtype, const void *p);
void scalar_store(scalar s, void *p); /* as s.dtype */

/* C-order strides in bytes. */
void strides_contiguous(int ndim, const int64_t *shape, size_t size, int64_t *out);

#endif
