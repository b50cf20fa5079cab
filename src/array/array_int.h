/* array_int: what the files of array share with each other only. */
#ifndef DAMO_ARRAY_ARRAY_INT_H
#define DAMO_ARRAY_ARRAY_INT_H

#include "array.h"
#include "kernel/walk.h"

/* Elements of a block on the stack: four blocks of the widest dtype fit in L1. */
#define BLOCK_ELEMENTS 512

/* Reads or writes strided elements of one dtype in C order, in blocks, as elements of another dtype. */
typedef struct block_cursor {
  damo_dtype dtype; /* of the elements */
  nd_space space;
  nd_cursor at;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)];
} block_cursor;

/* The cursor must stay where it is: its space lies in it. */
void block_cursor_begin(block_cursor *c, char *data, damo_dtype dtype, int ndim, const int64_t *shape,
                        const int64_t *strides);
/* The next n <= BLOCK_ELEMENTS elements, converted to dtype; dst has space for BLOCK_ELEMENTS of 16 bytes. */
void block_cursor_read(block_cursor *c, damo_dtype dtype, void *dst, int64_t n);

void scalar_store(scalar s, void *p); /* as s.dtype; p need not be aligned */

/* C-order strides in bytes. */
void strides_contiguous(int ndim, const int64_t *shape, size_t size, int64_t *out);

#endif
