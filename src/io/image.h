/* image.h: private to io: the form of an image's array. */
#ifndef DAMO_IO_IMAGE_H
#define DAMO_IO_IMAGE_H

#include "io_int.h"

#define IMAGE_MOST INT64_C(0x7fffffff) /* pixels along a side */

typedef struct image_form {
  int64_t height, width; /* at most IMAGE_MOST */
  int channels;
  bool wide; /* uint16 */
} image_form;

static inline uint64_t image_row_bytes(const image_form *f) {
  return (uint64_t)f->width * (uint64_t)f->channels * (f->wide ? 2 : 1);
}
/* Saturated. */
static inline uint64_t image_bytes(const image_form *f) {
  const uint64_t row = image_row_bytes(f);
  return row > 0 && (uint64_t)f->height > UINT64_MAX / row ? UINT64_MAX : row * (uint64_t)f->height;
}

/* An array of that form. NULL: it would take more than max_bytes (0: IO_MAX_BYTES), or there is no memory. */
damo_array *image_new(damo_ctx *ctx, const char *path, const image_form *f, uint64_t max_bytes);
/* The form of an array to be written; most_channels 3: gray or RGB. A type, shape or value error. */
damo_status image_form_of(const char *func, const damo_array *a, int most_channels, image_form *out);
/* n 16-bit numbers of this machine as big-endian ones, and back. */
void image_to_big(unsigned char *p, size_t n);

#endif
