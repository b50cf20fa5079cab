/* image.c: what readers and writers of images share: their arrays. */
#include "image.h"

damo_array *image_new(damo_ctx *ctx, const char *path, const image_form *f, uint64_t max_bytes) {
  const int64_t shape[3] = {f->height, f->width, f->channels};
  if (max_bytes == 0) max_bytes = IO_MAX_BYTES;
  if (image_bytes(f) > max_bytes) {
    io_fail(ctx, path, 0, "the image takes more than %llu bytes (max_bytes)", (unsigned long long)max_bytes);
    return NULL;
  }
  return array_empty(ctx, f->wide ? DAMO_UINT16 : DAMO_UINT8, f->channels == 1 ? 2 : 3, shape);
}

damo_status image_form_of(const char *func, const damo_array *a, int most_channels, image_form *out) {
  char shape[256];
  damo_ctx *ctx = a->obj.ctx;
  const damo_dtype dtype = array_dtype(a);
  if (dtype != DAMO_UINT8 && dtype != DAMO_UINT16)
    return ctx_fail(ctx, DAMO_ETYPE, "%s: an image is of uint8 or uint16, got %s", func, dtype_name(dtype));
  const int64_t *s = array_shape(a), channels = a->ndim == 3 ? s[2] : 1;
  const bool fits = (a->ndim == 2 || a->ndim == 3) && channels >= 1 && channels <= 4 && s[0] > 0 && s[1] > 0 &&
                    s[0] <= IMAGE_MOST && s[1] <= IMAGE_MOST;
  if (!fits)
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: an image is height × width, or with 2, 3 or 4 channels, got shape %s", func,
                    shape_format(shape, sizeof shape, a->ndim, s));
  if (channels > most_channels || (most_channels == 3 && channels == 2))
    return ctx_fail(ctx, DAMO_EVALUE, "%s: this format holds gray and RGB images, without opacity; a .png holds it",
                    func);
  *out = (image_form){.height = s[0], .width = s[1], .channels = (int)channels, .wide = dtype == DAMO_UINT16};
  return DAMO_OK;
}

void image_to_big(unsigned char *p, size_t n) {
  if (io_host_is_little()) io_swap_bytes((char *)p, (int64_t)n, 2);
}
