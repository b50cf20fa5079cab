/* part.c: arrays that get their memory from who makes them: over parts of an arena, and in another shape than before. */
#include <string.h>

#include "array_int.h"

void array_refit(damo_array *a, const int64_t *shape) {
  damo_assert(a->obj.refs == 1 && a->buf != NULL && a->buf->obj.refs == 1 && a->writeable);
  damo_assert(shape_bytes(a->ndim, shape, array_dtype(a)) <= a->buf->nbytes);
  a->data = a->buf->data;
  for (int i = 0; i < a->ndim; i++) a->dims[i] = shape[i];
  strides_contiguous(a->ndim, shape, dtype_size(a->dtype), array_strides(a));
  damo_assert(array_check(a, NULL));
}

damo_array *array_part_new(damo_buffer *arena, size_t offset, size_t nbytes, damo_dtype dtype, int ndim,
                           const int64_t *shape) {
  damo_assert(offset + nbytes <= arena->nbytes && shape_bytes(ndim, shape, dtype) <= nbytes);
  damo_buffer *part = obj_new(arena->obj.ctx, OBJ_BUFFER, sizeof *part);
  if (part == NULL) return NULL;
  part->obj.flags = BUFFER_PART;
  part->data = arena->data + offset;
  part->nbytes = nbytes;
  return array_take_buffer(part, dtype, ndim, shape, true);
}

void array_part_move(damo_array *a, damo_buffer *arena, size_t offset, size_t nbytes, const int64_t *shape) {
  damo_assert(array_is_part(a) && offset + nbytes <= arena->nbytes);
  a->buf->data = arena->data + offset;
  a->buf->nbytes = nbytes;
  array_refit(a, shape);
}

static void release_arena(void *arena) { damo_release(arena); }

void array_part_keep(damo_array *a, damo_buffer *arena) {
  damo_assert(array_is_part(a) && a->buf->data >= arena->data && a->buf->data <= arena->data + arena->nbytes);
  a->buf->obj.flags = 0;
  a->buf->owner = damo_retain(arena);
  a->buf->release = release_arena;
}
