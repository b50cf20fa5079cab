/* stream: reads bytes from files, memory and zip members. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "io_int.h"

damo_status io_fail(damo_ctx *ctx, const char *path, int errno_value, const char *fmt, ...) {
  char text[1024], reason[256];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (errno_value == 0) return ctx_fail(ctx, DAMO_EIO, "%s: %s", path, text);
#if defined(_WIN32)
  const int unknown = strerror_s(reason, sizeof reason, errno_value);
#else
  const int unknown = strerror_r(errno_value, reason, sizeof reason);
#endif
  if (unknown != 0) snprintf(reason, sizeof reason, "error %d", errno_value);
  return ctx_fail(ctx, DAMO_EIO, "%s: %s: %s", path, text, reason);
}

io_format io_recognise(const void *bytes, size_t n) {
  static const struct {
    io_format format;
    const char *start;
  } marks[] = {{IO_NPY, "\x93NUMPY"},      {IO_NPZ, "PK\3\4"},         {IO_NPZ, "PK\5\6"},
               {IO_MTX, "%%MatrixMarket"}, {IO_GRAPH, IO_GRAPH_MAGIC}, {IO_PNG, "\x89PNG\r\n\x1a\n"}};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    const size_t length = strlen(marks[i].start);
    if (n >= length && memcmp(bytes, marks[i].start, length) == 0) return marks[i].format;
  }
  const unsigned char *p = bytes;
  if (n > 7 && p[0] == 'P' && p[1] >= '1' && p[1] <= '6' && strchr(" \t\n\r#", p[2]) != NULL) return IO_PPM;
  if (n < 10 || p[8] != '{') return IO_UNKNOWN;
  uint64_t header = 0;
  for (int i = 0; i < 8; i++) header |= (uint64_t)p[i] << 8 * i;
  return header <= n - 8 ? IO_SAFETENSORS : IO_UNKNOWN;
}

/* ---- Input ------------------------------------------------------------------------------------------------------- */

static FILE *open_file(damo_ctx *ctx, const char *path, uint64_t *size) {
  struct stat info;
  if (ctx_gate(ctx, GATE_FILE, path) != DAMO_OK) return NULL;
  FILE *f = fopen(path, "rb");
  if (!f) {
    io_fail(ctx, path, errno, "can't be opened");
    return NULL;
  }
  if (fstat(fileno(f), &info) != 0 || S_ISDIR(info.st_mode)) {
    io_fail(ctx, path, EISDIR, "can't be read");
    fclose(f);
    return NULL;
  }
  *size = (uint64_t)info.st_size;
  return f;
}

damo_status input_open(io_input *in, damo_ctx *ctx, const io_from *from) {
  *in = (io_input){.ctx = ctx, .path = from->path, .bytes = from->bytes, .size = from->n};
  if (in->bytes) return DAMO_OK;
  in->f = open_file(ctx, from->path, &in->size);
  return in->f ? DAMO_OK : ctx->error.status;
}

void input_close(io_input *in) {
  if (in->f) fclose(in->f);
}

size_t input_read(io_input *in, void *dst, size_t n) {
  if (in->f) return fread(dst, 1, n, in->f);
  if (n > in->size - in->at) n = (size_t)(in->size - in->at);
  if (n > 0) memcpy(dst, in->bytes + in->at, n);
  in->at += n;
  return n;
}

bool input_seek(io_input *in, uint64_t at) {
  if (in->f) return fseeko(in->f, (off_t)at, SEEK_SET) == 0;
  in->at = at < in->size ? at : in->size;
  return true;
}

damo_status io_whole_text(damo_ctx *ctx, const io_from *from, strbuf *file, cell_text *out) {
  char chunk[16384];
  size_t n;
  io_input in;
  *out = (cell_text){from->bytes, from->n};
  if (from->bytes) return DAMO_OK;
  DAMO_TRY(input_open(&in, ctx, from));
  while ((n = fread(chunk, 1, sizeof chunk, in.f)) > 0) strbuf_addn(file, chunk, n);
  const int why = ferror(in.f) ? errno : 0;
  input_close(&in);
  if (why) return io_fail(ctx, from->path, why, "reading failed");
  *out = (cell_text){file->at ? file->at : "", file->n};
  return file->failed ? DAMO_EMEMORY : DAMO_OK;
}

/* ---- Source ------------------------------------------------------------------------------------------------------ */

damo_status source_fail(const io_source *s, const char *fmt, ...) {
  char text[768];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (!s->member) return io_fail(s->ctx, s->path, 0, "%s", text);
  return io_fail(s->ctx, s->path, 0, "member '%.200s': %s", s->member, text);
}

#define READ_STEP ((size_t)1 << 24) /* bytes at a time; must fit zlib's uInt */

#if DAMO_ZLIB
/* zlib frees without a size, so the size is stored in front of each block. */
#define BLOCK_HEAD 16

static voidpf zip_alloc(voidpf user, uInt items, uInt size) {
  size_t bytes;
  if (!size_mul(items, size, &bytes) || !size_add(bytes, BLOCK_HEAD, &bytes)) return Z_NULL;
  char *block = mem_alloc(user, bytes);
  if (!block) return Z_NULL;
  memcpy(block, &bytes, sizeof bytes);
  return block + BLOCK_HEAD;
}

static void zip_free(voidpf user, voidpf ptr) {
  size_t bytes;
  if (!ptr) return;
  char *block = (char *)ptr - BLOCK_HEAD;
  memcpy(&bytes, block, sizeof bytes);
  mem_free(user, block, bytes);
}

void io_zlib_init(z_stream *z, damo_ctx *ctx) {
  *z = (z_stream){.zalloc = zip_alloc, .zfree = zip_free, .opaque = ctx};
}

static damo_status inflate_begin(io_source *s) {
  io_zlib_init(&s->z, s->ctx);
  const int status = inflateInit2(&s->z, -MAX_WBITS);
  if (status == Z_OK) return DAMO_OK;
  s->deflated = false;
  return status == Z_MEM_ERROR ? ctx_fail_memory(s->ctx) : source_fail(s, "can't be inflated");
}

static void inflate_end(io_source *s) { inflateEnd(&s->z); }

/* Reads the next deflated bytes. */
static damo_status refill(io_source *s) {
  const size_t want = s->packed_left < SOURCE_BUFFER ? (size_t)s->packed_left : SOURCE_BUFFER;
  const size_t got = want ? input_read(s->in, s->buffer, want) : 0;
  if (got == 0) return source_fail(s, "the data are cut short");
  s->packed_left -= got;
  s->z.next_in = s->buffer;
  s->z.avail_in = (uInt)got;
  return DAMO_OK;
}

static damo_status inflate_some(io_source *s, char *dst, size_t n) {
  s->z.next_out = (Bytef *)dst;
  s->z.avail_out = (uInt)n;
  while (s->z.avail_out > 0) {
    if (s->z.avail_in == 0) DAMO_TRY(refill(s));
    const int status = inflate(&s->z, Z_NO_FLUSH);
    if (status == Z_STREAM_END && s->z.avail_out > 0) return source_fail(s, "the data are cut short");
    if (status == Z_MEM_ERROR) return ctx_fail_memory(s->ctx);
    if (status != Z_OK && status != Z_STREAM_END) return source_fail(s, "the deflated data are damaged");
  }
  return DAMO_OK;
}

#else
static damo_status inflate_begin(io_source *s) {
  s->deflated = false;
  return ctx_fail(s->ctx, DAMO_ENOT_IMPLEMENTED,
                  "%s: member '%.200s' is deflated, and this build is without zlib: store it", s->path, s->member);
}

static void inflate_end(io_source *s) { (void)s; }

static damo_status inflate_some(io_source *s, char *dst, size_t n) {
  (void)dst, (void)n;
  return source_fail(s, "can't be inflated");
}
#endif

uint32_t io_crc32(uint32_t crc, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
#if DAMO_ZLIB
  for (size_t some; n > 0; p += some, n -= some) {
    some = n < READ_STEP ? n : READ_STEP;
    crc = (uint32_t)crc32(crc, p, (uInt)some);
  }
  return crc;
#else
  /* The remainders of the 16 values of 4 bits by the polynomial 0x04C11DB7, its bits reversed. */
  static const uint32_t remainder[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                         0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                         0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  crc = ~crc;
  for (size_t i = 0; i < n; i++) {
    crc ^= p[i];
    crc = crc >> 4 ^ remainder[crc & 15];
    crc = crc >> 4 ^ remainder[crc & 15];
  }
  return ~crc;
#endif
}

damo_status source_begin(io_source *s) {
  s->crc = 0;
  return s->deflated ? inflate_begin(s) : DAMO_OK;
}

void source_end(io_source *s) {
  if (s->deflated) inflate_end(s);
}

damo_status source_read(io_source *s, void *dst, size_t n) {
  char *p = dst;
  if (n > s->left) return source_fail(s, "the data are cut short");
  while (n > 0) {
    const size_t m = n < READ_STEP ? n : READ_STEP;
    if (s->deflated)
      DAMO_TRY(inflate_some(s, p, m));
    else if (input_read(s->in, p, m) != m)
      return source_fail(s, "the data are cut short");
    if (s->member) s->crc = io_crc32(s->crc, p, m);
    p += m, n -= m, s->left -= m;
  }
  return DAMO_OK;
}
