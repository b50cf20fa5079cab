/* npz: NumPy's archive of arrays: a zip file whose members are .npy files. */
#include <string.h>

#include "zip.h"

#define NPY_SUFFIX ".npy"
#define NPY_SUFFIX_LENGTH 4

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool is_array_name(const char *name) {
  const size_t n = strlen(name);
  return n >= NPY_SUFFIX_LENGTH && strcmp(name + n - NPY_SUFFIX_LENGTH, NPY_SUFFIX) == 0;
}

static damo_array *read_member(io_source *s, const zip_member *m) {
  if (zip_open_member(s, m) != DAMO_OK) return NULL;
  damo_array *a = npy_read(s);
  if (a && zip_check_member(s, m) != DAMO_OK) {
    damo_release(a);
    a = NULL;
  }
  source_end(s);
  return a;
}

/* A copy of the name without the suffix. */
static char *npz_short_name(damo_ctx *ctx, const char *name) {
  strbuf text;
  strbuf_init(&text, ctx);
  strbuf_addn(&text, name, strlen(name) - NPY_SUFFIX_LENGTH);
  char *copy = text.failed ? NULL : mem_strdup(ctx, text.at ? text.at : "");
  strbuf_clear(&text);
  return copy;
}

static damo_status add_member(npz *out, io_source *s, const zip_member *m) {
  npz_entry *e = &out->at[out->n];
  *s = (io_source){.ctx = s->ctx, .path = s->path, .in = s->in};
  e->name = npz_short_name(s->ctx, m->name);
  if (!e->name) return DAMO_EMEMORY;
  e->array = read_member(s, m);
  if (!e->array) {
    mem_strfree(s->ctx, e->name);
    return s->ctx->error.status;
  }
  out->n++;
  return DAMO_OK;
}

damo_status npz_too_large(damo_ctx *ctx, const char *path, uint64_t max_bytes, const char *what) {
  return io_fail(ctx, path, 0, "%s more than %llu bytes: the option max_bytes (default %llu) allows more", what,
                 (unsigned long long)max_bytes, (unsigned long long)IO_MAX_BYTES);
}

static damo_status check_inflated(damo_ctx *ctx, const char *path, const zip_dir *dir, uint64_t max_bytes) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < dir->n; i++) {
    const zip_member *m = &dir->at[i];
    if (m->method == 0 || !is_array_name(m->name)) continue;
    if (m->size > max_bytes - sum) return npz_too_large(ctx, path, max_bytes, "inflated, the archive has");
    sum += m->size;
  }
  return DAMO_OK;
}

static damo_status read_members(npz *out, const zip_dir *dir, io_source *s) {
  int64_t n = 0;
  for (int64_t i = 0; i < dir->n; i++) n += is_array_name(dir->at[i].name);
  out->at = mem_calloc(s->ctx, (size_t)n * sizeof *out->at);
  if (!out->at) return DAMO_EMEMORY;
  out->cap = n;
  for (int64_t i = 0; i < dir->n; i++) {
    if (is_array_name(dir->at[i].name)) DAMO_TRY(add_member(out, s, &dir->at[i]));
  }
  return DAMO_OK;
}

damo_status io_read_npz(damo_ctx *ctx, const io_from *from, uint64_t max_bytes, npz *out) {
  io_input in;
  zip_dir dir = {.ctx = ctx};
  npz got = {.ctx = ctx, .max_bytes = max_bytes ? max_bytes : IO_MAX_BYTES};
  DAMO_TRY(input_open(&in, ctx, from));
  io_source *s = mem_alloc(ctx, sizeof *s);
  damo_status status = s ? zip_read(&in, &dir) : DAMO_EMEMORY;
  if (status == DAMO_OK) status = check_inflated(ctx, in.path, &dir, got.max_bytes);
  if (status == DAMO_OK) {
    s->ctx = ctx, s->path = in.path, s->in = &in;
    status = read_members(&got, &dir, s);
  }
  zip_clear(&dir);
  if (s) mem_free(ctx, s, sizeof *s);
  input_close(&in);
  if (status == DAMO_OK)
    *out = got;
  else
    npz_clear(&got);
  return status;
}

void npz_clear(npz *z) {
  for (int64_t i = 0; i < z->n; i++) {
    mem_strfree(z->ctx, z->at[i].name);
    damo_release(z->at[i].array);
  }
  for (int64_t i = 0; i < z->n_metadata; i++) {
    mem_strfree(z->ctx, z->metadata[i].key);
    mem_strfree(z->ctx, z->metadata[i].value);
  }
  if (z->metadata) mem_free(z->ctx, z->metadata, (size_t)z->metadata_cap * sizeof *z->metadata);
  if (z->at) mem_free(z->ctx, z->at, (size_t)z->cap * sizeof *z->at);
  *z = (npz){.ctx = z->ctx};
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

#if DAMO_ZLIB
#define DEFLATE_STEP ((size_t)1 << 24) /* bytes at a time; must fit zlib's uInt */

/* Appends the deflated bytes to out; flush: Z_FINISH after the last ones. */
static damo_status deflate_some(z_stream *z, const char *p, size_t n, int flush, strbuf *out) {
  char packed[16384];
  do {
    const size_t m = n < DEFLATE_STEP ? n : DEFLATE_STEP;
    const int how = m == n ? flush : Z_NO_FLUSH;
    int status = Z_OK;
    z->next_in = (Bytef *)(uintptr_t)p;
    z->avail_in = (uInt)m;
    do {
      z->next_out = (Bytef *)packed;
      z->avail_out = sizeof packed;
      status = deflate(z, how);
      if (status == Z_STREAM_ERROR) return ctx_fail_memory(out->ctx);
      strbuf_addn(out, packed, sizeof packed - z->avail_out);
    } while (z->avail_out == 0 && status != Z_STREAM_END);
    p += m, n -= m;
  } while (n > 0);
  return out->failed ? DAMO_EMEMORY : DAMO_OK;
}

static damo_status deflate_member(zip_member *m, const char *header, size_t head, const char *data, size_t n,
                                  strbuf *out) {
  z_stream z;
  io_zlib_init(&z, out->ctx);
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return ctx_fail_memory(out->ctx);
  damo_status s = deflate_some(&z, header, head, Z_NO_FLUSH, out);
  if (s == DAMO_OK) s = deflate_some(&z, data, n, Z_FINISH, out);
  deflateEnd(&z);
  m->method = Z_DEFLATED;
  m->packed = out->n;
  return s;
}
#else
static damo_status deflate_member(zip_member *m, const char *header, size_t head, const char *data, size_t n,
                                  strbuf *out) {
  (void)m, (void)header, (void)head, (void)data, (void)n;
  return ctx_fail(out->ctx, DAMO_ENOT_IMPLEMENTED,
                  "save: this build has no zlib, so archives are stored: leave out "
                  "compressed");
}
#endif

static damo_status write_member(io_sink *sink, const char *name, const damo_array *a, bool text, bool compressed,
                                zip_dir *dir) {
  char header[NPY_HEADER_MAX];
  zip_member *m = &dir->at[dir->n];
  strbuf full;
  damo_array *c = array_as_contiguous(a, array_dtype(a));
  if (!c) return DAMO_EMEMORY;
  strbuf_init(&full, sink->ctx);
  strbuf_add(&full, name);
  strbuf_add(&full, NPY_SUFFIX);
  m->name = full.failed ? NULL : mem_strdup(sink->ctx, full.at);
  damo_status status = m->name ? DAMO_OK : DAMO_EMEMORY;
  strbuf_clear(&full);
  if (status == DAMO_OK) {
    const size_t head = text ? npy_text_header(c, header) : npy_header(c, header),
                 bytes = (size_t)array_size(c) * dtype_size(array_dtype(c));
    dir->n++;
    m->size = head + bytes;
    m->crc = io_crc32(io_crc32(0, header, head), c->data, bytes);
    strbuf packed;
    strbuf_init(&packed, sink->ctx);
    if (compressed) status = deflate_member(m, header, head, c->data, bytes, &packed);
    if (status == DAMO_OK) status = zip_write_header(sink, m);
    if (status == DAMO_OK) status = compressed ? sink_write(sink, packed.at, packed.n) : sink_write(sink, header, head);
    if (status == DAMO_OK && !compressed) status = sink_write(sink, c->data, bytes);
    strbuf_clear(&packed);
  }
  damo_release(c);
  return status;
}

damo_status io_write_npz(damo_ctx *ctx, const io_to *to, const char *const *names, damo_array *const *arrays,
                         int64_t n) {
  return npz_write(ctx, to, names, arrays, n, -1);
}

damo_status npz_write(damo_ctx *ctx, const io_to *to, const char *const *names, damo_array *const *arrays, int64_t n,
                      int64_t text) {
  io_sink sink;
  zip_dir dir = {.ctx = ctx};
  dir.at = mem_calloc(ctx, (size_t)n * sizeof *dir.at);
  if (!dir.at) return DAMO_EMEMORY;
  dir.cap = n;
  damo_status status = sink_open(&sink, ctx, to);
  if (status == DAMO_OK) {
    for (int64_t i = 0; i < n && status == DAMO_OK; i++)
      status = write_member(&sink, names[i], arrays[i], i == text, to->compressed, &dir);
    if (status == DAMO_OK) status = zip_write_end(&sink, &dir);
    status = sink_close(&sink, status);
  }
  zip_clear(&dir);
  return status;
}
