/* public_image: the part of damo.h that reads and writes images. */
#include <string.h>

#include "public_int.h"

/* Of a name or a path: what follows its last dot, or all of it; IO_UNKNOWN where it names no format of images. */
static io_format image_format_of(const char *name) {
  static const char *const netpbm[] = {"ppm", "pgm", "pnm"};
  const char *dot = strrchr(name, '.'), *ending = dot != NULL ? dot + 1 : name;
  if (strcmp(ending, "png") == 0) return IO_PNG;
  for (size_t i = 0; i < sizeof netpbm / sizeof *netpbm; i++) {
    if (strcmp(ending, netpbm[i]) == 0) return IO_PPM;
  }
  return IO_UNKNOWN;
}

static damo_array *image_of(damo_ctx *ctx, const char *func, io_format format, const io_from *from,
                            uint64_t max_bytes) {
  if (format == IO_PNG) return io_read_png(ctx, from, max_bytes);
  if (format == IO_PPM) return io_read_pnm(ctx, from, max_bytes);
  ctx_fail(ctx, DAMO_EVALUE, "%s: %s is no image: .png, .ppm, .pgm and .pnm are", func, from->path);
  return NULL;
}

static damo_status image_to(const char *func, io_format format, const io_to *to, const char *name,
                            const damo_array *a) {
  if (format == IO_PNG) return io_write_png(to, a);
  if (format == IO_PPM) return io_write_pnm(to, a);
  return ctx_fail(a->obj.ctx, DAMO_EVALUE, "%s: '%s' names no format of images: png, ppm, pgm and pnm do", func, name);
}

damo_array *damo_image_read(damo_ctx *ctx, const char *path, uint64_t max_bytes) {
  static const char func[] = "damo_image_read";
  if (ctx_check_given(ctx, func, "path", path) != DAMO_OK) return NULL;
  return image_of(ctx, func, image_format_of(path), IO_FROM_FILE(path), max_bytes);
}

damo_array *damo_image_parse(damo_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes) {
  static const char func[] = "damo_image_parse";
  const io_from from = public_from(bytes, n);
  if (public_check_bytes(ctx, func, bytes, n) != DAMO_OK) return NULL;
  return image_of(ctx, func, io_recognise(from.bytes, n), &from, max_bytes);
}

damo_status damo_image_write(const char *path, const damo_array *a) {
  static const char func[] = "damo_image_write";
  if (a == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, func, "path", path));
  return image_to(func, image_format_of(path), IO_TO_FILE(path), path, a);
}

damo_status damo_image_format(const damo_array *a, const char *format, damo_bytes *out) {
  static const char func[] = "damo_image_format";
  strbuf text;
  if (a == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, func, "format", format));
  DAMO_TRY(ctx_check_given(a->obj.ctx, func, "out", out));
  const io_to to = public_into(a->obj.ctx, &text);
  return public_give(&text, image_to(func, image_format_of(format), &to, format, a), out);
}
