/* array_int: private to array. */
#ifndef DAMO_ARRAY_ARRAY_INT_H
#define DAMO_ARRAY_ARRAY_INT_H

#include "array.h"
#include "kernel/walk.h"

/* Elements of a block on the stack: four blocks of the widest dtype fit into the L1 cache. */
#define BLOCK_ELEMENTS 512

/* Reads or writes strided elements of one dtype in C order, in blocks, as elements of another dtype. */
typedef struct block_cursor {
  damo_dtype dtype; /* of the elements */
  nd_space space;
  nd_cursor at;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)];
} block_cursor;

/* Starts c over the strided elements. c must not be moved afterwards, because c->space points into it. */
void block_cursor_begin(block_cursor *c, char *data, damo_dtype dtype, int ndim, const int64_t *shape,
                        const int64_t *strides);
/* Reads the next n <= BLOCK_ELEMENTS elements, cast to dtype; dst has space for BLOCK_ELEMENTS elements of 16 bytes. */
void block_cursor_read(block_cursor *c, damo_dtype dtype, void *dst, int64_t n);

void scalar_store(scalar s, void *p); /* stores s as s.dtype; p need not be aligned */

/* The bytes of an array of that shape, which array_empty would make. */
size_t shape_bytes(int ndim, const int64_t *shape, damo_dtype dtype);
/* A C-contiguous array over the buffer, which is taken, also on failure. */
damo_array *array_take_buffer(damo_buffer *buf, damo_dtype dtype, int ndim, const int64_t *shape, bool writeable);

/* C-order strides in bytes. */
void strides_contiguous(int ndim, const int64_t *shape, size_t size, int64_t *out);

#endif
