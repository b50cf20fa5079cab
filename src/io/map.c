/* map: a .npy file as an array over the file's pages. */
#include <errno.h>

#include "io_int.h"

#if DAMO_POSIX
#include <sys/mman.h>

typedef struct mapping {
  damo_ctx *ctx;
  void *at;
  size_t size;
} mapping;

static void mapping_free(void *owner) {
  mapping *m = owner;
  munmap(m->at, m->size);
  mem_free(m->ctx, m, sizeof *m);
}

static damo_array *map_input(io_input *in) {
  damo_ctx *ctx = in->ctx;
  damo_array *a = NULL;
  mapping *m = mem_calloc(ctx, sizeof *m);
  io_source *s = m != NULL ? mem_calloc(ctx, sizeof *s) : NULL;
  void *at = s != NULL ? mmap(NULL, in->size, PROT_READ, MAP_PRIVATE, fileno(in->f), 0) : MAP_FAILED;
  if (s != NULL && at == MAP_FAILED) io_fail(ctx, in->path, errno, "can't be mapped");
  if (at != MAP_FAILED) {
    *m = (mapping){.ctx = ctx, .at = at, .size = in->size};
    s->ctx = ctx, s->path = in->path, s->in = in, s->left = in->size;
    a = npy_map(s, at, in->size, mapping_free, m);
  } else if (m != NULL) {
    mem_free(ctx, m, sizeof *m);
  }
  if (s != NULL) mem_free(ctx, s, sizeof *s);
  return a;
}

damo_array *io_map_npy(damo_ctx *ctx, const char *path) {
  io_input in;
  damo_array *a = NULL;
  if (input_open(&in, ctx, IO_FROM_FILE(path)) != DAMO_OK) return NULL;
  if (in.size == 0 || in.size > SIZE_MAX)
    io_fail(ctx, path, 0, "this is not an .npy file");
  else
    a = map_input(&in);
  input_close(&in);
  return a;
}

#else

damo_array *io_map_npy(damo_ctx *ctx, const char *path) {
  ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "%s: files can't be mapped on this system", path);
  return NULL;
}

#endif
