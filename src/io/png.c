/* png: images as PNG (ISO/IEC 15948): all colour types, depths, filters and Adam7 interlacing are read; gray, RGB and
 * either with opacity are written, of 8 and 16 bits.
 *
 * Nothing in the file is trusted: the sum of each chunk is checked first, and the size of the image against the
 * number of bytes from which it is inflated, since deflate makes at most 1032 bytes of one.
 */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#if DAMO_ZLIB
#define PNG_DEFLATE_MOST 1032

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

enum { PNG_GRAY = 0, PNG_RGB = 2, PNG_PALETTE = 3, PNG_GRAY_ALPHA = 4, PNG_RGBA = 6 };

typedef struct png {
  damo_ctx *ctx;
  const char *path;
  const unsigned char *at, *end; /* the chunks, all with a right sum */
  const unsigned char *data;     /* the first chunk IDAT */
  uint64_t packed;               /* bytes in all chunks IDAT */
  int64_t width, height;
  int depth, color;
  bool interlaced;
  unsigned char palette[256][4];
  int n_palette;
  bool has_alpha;  /* tRNS, of a palette or of one colour */
  unsigned key[3]; /* the transparent colour */
  image_form form; /* of the result */
  z_stream z;
  const unsigned char *next; /* the chunk that comes when the stream has no more input */
} png;

static damo_status png_fail(const png *p, const char *what) { return io_fail(p->ctx, p->path, 0, "%s", what); }

static uint32_t big32(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool is_chunk(const unsigned char *chunk, const char *name) { return memcmp(chunk + 4, name, 4) == 0; }

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

static damo_status png_header(png *p, const unsigned char *c, uint32_t n) {
  if (n != 13) return png_fail(p, "the PNG's head is damaged");
  p->width = big32(c), p->height = big32(c + 4);
  p->depth = c[8], p->color = c[9], p->interlaced = c[12] != 0;
  static const unsigned char depths[7] = {[PNG_GRAY] = 1 | 2 | 4 | 8 | 16,
                                          [PNG_RGB] = 8 | 16,
                                          [PNG_PALETTE] = 1 | 2 | 4 | 8,
                                          [PNG_GRAY_ALPHA] = 8 | 16,
                                          [PNG_RGBA] = 8 | 16};
  const bool power = p->depth == 1 || p->depth == 2 || p->depth == 4 || p->depth == 8 || p->depth == 16;
  if (p->color > 6 || !power || (depths[p->color] & p->depth) == 0 || c[10] != 0 || c[11] != 0 || c[12] > 1 ||
      p->width <= 0 || p->height <= 0 || p->width > IMAGE_MOST || p->height > IMAGE_MOST)
    return png_fail(p, "the PNG's head is damaged");
  return DAMO_OK;
}

static damo_status png_palette(png *p, const unsigned char *c, uint32_t n) {
  if (n == 0 || n % 3 != 0 || n > 3 * 256) return png_fail(p, "the PNG's palette is damaged");
  p->n_palette = (int)n / 3;
  for (int i = 0; i < p->n_palette; i++) {
    memcpy(p->palette[i], c + 3 * i, 3);
    p->palette[i][3] = 255;
  }
  return DAMO_OK;
}

static damo_status png_transparent(png *p, const unsigned char *c, uint32_t n) {
  p->has_alpha = true;
  if (p->color == PNG_PALETTE && n <= (uint32_t)p->n_palette) {
    for (uint32_t i = 0; i < n; i++) p->palette[i][3] = c[i];
    return DAMO_OK;
  }
  const int channels = p->color == PNG_RGB ? 3 : 1;
  if ((p->color != PNG_RGB && p->color != PNG_GRAY) || n != 2 * (uint32_t)channels)
    return png_fail(p, "the PNG's transparency is damaged");
  for (int k = 0; k < channels; k++) p->key[k] = (unsigned)c[2 * k] << 8 | c[2 * k + 1];
  return DAMO_OK;
}

/* Looks at all chunks before anything is inflated. */
static damo_status png_chunks(png *p) {
  bool first = true, ended = false, after = false; /* after: the chunks IDAT, which follow one another, are over */
  for (const unsigned char *c = p->at; !ended;) {
    const uint64_t left = (uint64_t)(p->end - c);
    if (left < 12 || big32(c) > left - 12) return png_fail(p, "the PNG is cut short");
    const uint32_t n = big32(c);
    if (io_crc32(0, c + 4, (size_t)n + 4) != big32(c + 8 + n)) return png_fail(p, "a part of the PNG is damaged");
    if (first != is_chunk(c, "IHDR")) return png_fail(p, "the PNG's head is damaged");
    first = false;
    if (p->data != NULL && !is_chunk(c, "IDAT")) after = true;
    if (is_chunk(c, "IHDR")) {
      DAMO_TRY(png_header(p, c + 8, n));
    } else if (is_chunk(c, "PLTE")) {
      if (p->data != NULL) return png_fail(p, "the PNG's palette is damaged");
      DAMO_TRY(png_palette(p, c + 8, n));
    } else if (is_chunk(c, "tRNS")) {
      if (p->data != NULL) return png_fail(p, "the PNG's transparency is damaged");
      DAMO_TRY(png_transparent(p, c + 8, n));
    } else if (is_chunk(c, "IDAT")) {
      if (after) return png_fail(p, "the PNG's data are not in one piece");
      if (p->data == NULL) p->data = c;
      p->packed += n;
    } else if (is_chunk(c, "IEND")) {
      ended = true;
    } else if ((c[4] & 0x20) == 0) {
      return png_fail(p, "the PNG has a part that is not known");
    }
    c += 12 + n;
  }
  if (p->data == NULL) return png_fail(p, "the PNG has no data");
  return p->color == PNG_PALETTE && p->n_palette == 0 ? png_fail(p, "the PNG has no palette") : DAMO_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static int file_channels(const png *p) {
  return p->color == PNG_RGB ? 3 : p->color == PNG_GRAY_ALPHA ? 2 : p->color == PNG_RGBA ? 4 : 1;
}

static size_t row_bytes(const png *p, int64_t width) {
  return ((size_t)width * (size_t)file_channels(p) * (size_t)p->depth + 7) / 8;
}

/* The next n inflated bytes. */
static damo_status png_inflate(png *p, unsigned char *dst, size_t n) {
  while (n > 0) {
    const uInt part = n < ((size_t)1 << 30) ? (uInt)n : (uInt)1 << 30;
    p->z.next_out = dst;
    p->z.avail_out = part;
    while (p->z.avail_out > 0) {
      while (p->z.avail_in == 0) {
        if (!is_chunk(p->next, "IDAT")) return png_fail(p, "the PNG's data are cut short");
        p->z.next_in = (Bytef *)(uintptr_t)(p->next + 8);
        p->z.avail_in = big32(p->next);
        p->next += 12 + (size_t)big32(p->next);
      }
      const int status = inflate(&p->z, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) return ctx_fail_memory(p->ctx);
      if (status == Z_STREAM_END && p->z.avail_out > 0) return png_fail(p, "the PNG's data are cut short");
      if (status != Z_OK && status != Z_STREAM_END) return png_fail(p, "the PNG's data are damaged");
    }
    dst += part, n -= part;
  }
  return DAMO_OK;
}

/* Paeth's predictor: of left, above and above left the one nearest to left + above - above left. */
static unsigned char paeth(int left, int above, int corner) {
  const int to_left = abs(above - corner), to_above = abs(left - corner), to_corner = abs(left + above - 2 * corner);
  if (to_left <= to_above && to_left <= to_corner) return (unsigned char)left;
  return (unsigned char)(to_above <= to_corner ? above : corner);
}

/* What filter f predicts for byte i of a row of pixels of `step` bytes; above: the row before, which is 0 at first. */
static unsigned char predicted(int f, const unsigned char *row, const unsigned char *above, size_t i, size_t step) {
  const int left = i >= step ? row[i - step] : 0, corner = i >= step ? above[i - step] : 0;
  switch (f) {
    case 1: return (unsigned char)left;
    case 2: return above[i];
    case 3: return (unsigned char)((left + above[i]) / 2);
    case 4: return paeth(left, above[i], corner);
    default: return 0;
  }
}

static void put_sample(const png *p, damo_array *a, int64_t i, unsigned v) {
  if (p->form.wide)
    ((uint16_t *)(void *)a->data)[i] = (uint16_t)v;
  else
    ((uint8_t *)a->data)[i] = (uint8_t)v;
}

static unsigned sample_at(const png *p, const unsigned char *row, size_t i) {
  if (p->depth == 16) return (unsigned)row[2 * i] << 8 | row[2 * i + 1];
  if (p->depth == 8) return row[i];
  const size_t bit = i * (size_t)p->depth;
  return row[bit / 8] >> (8 - (size_t)p->depth - bit % 8) & ((1u << p->depth) - 1);
}

/* Writes pixel x of a row to the image's pixel number `to`. */
static damo_status put_pixel(const png *p, const unsigned char *row, int64_t x, damo_array *a, int64_t to) {
  const int n = file_channels(p);
  const unsigned opaque = p->form.wide ? 65535 : 255;
  int64_t out = to * p->form.channels;
  if (p->color == PNG_PALETTE) {
    const unsigned v = sample_at(p, row, (size_t)x);
    if (v >= (unsigned)p->n_palette) return png_fail(p, "the PNG has a colour past its palette");
    for (int k = 0; k < p->form.channels; k++) put_sample(p, a, out + k, p->palette[v][k]);
    return DAMO_OK;
  }
  const unsigned scale = p->depth < 8 ? 255u / ((1u << p->depth) - 1) : 1;
  bool is_key = p->has_alpha;
  for (int k = 0; k < n; k++) {
    const unsigned v = sample_at(p, row, (size_t)(x * n + k));
    is_key = is_key && k < 3 && v == p->key[k];
    put_sample(p, a, out + k, v * scale);
  }
  if (p->has_alpha) put_sample(p, a, out + n, is_key ? 0 : opaque);
  return DAMO_OK;
}

/* The pixels x0, x0 + dx … of the rows y0, y0 + dy …, which the file has as an image of its own. */
typedef struct png_pass {
  int x0, y0, dx, dy;
} png_pass;

static damo_status read_pass(png *p, const png_pass *s, damo_array *a, unsigned char *rows) {
  const int64_t width = (p->width - s->x0 + s->dx - 1) / s->dx, height = (p->height - s->y0 + s->dy - 1) / s->dy;
  if (width <= 0 || height <= 0) return DAMO_OK;
  const size_t n = row_bytes(p, width), bits = (size_t)file_channels(p) * (size_t)p->depth, step = (bits + 7) / 8;
  unsigned char *row = rows, *above = rows + n + 1; /* the filter's byte is in front of a row */
  memset(rows, 0, 2 * (n + 1));
  for (int64_t y = 0; y < height; y++) {
    DAMO_TRY(png_inflate(p, row, n + 1));
    if (row[0] > 4) return png_fail(p, "the PNG has a filter that is not known");
    for (size_t i = 0; i < n && row[0] > 0; i++)
      row[1 + i] = (unsigned char)(row[1 + i] + predicted(row[0], row + 1, above + 1, i, step));
    for (int64_t x = 0; x < width; x++)
      DAMO_TRY(put_pixel(p, row + 1, x, a, (s->y0 + y * s->dy) * p->width + s->x0 + x * s->dx));
    unsigned char *t = row;
    row = above;
    above = t;
  }
  return DAMO_OK;
}

static damo_status read_passes(png *p, damo_array *a) {
  static const png_pass whole = {0, 0, 1, 1}, adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                                         {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  const size_t bytes = 2 * (row_bytes(p, p->width) + 1);
  unsigned char *rows = mem_alloc(p->ctx, bytes);
  if (rows == NULL) return DAMO_EMEMORY;
  io_zlib_init(&p->z, p->ctx);
  damo_status s = inflateInit(&p->z) == Z_OK ? DAMO_OK : ctx_fail_memory(p->ctx);
  if (s == DAMO_OK) {
    p->next = p->data;
    for (int i = 0; i < (p->interlaced ? 7 : 1) && s == DAMO_OK; i++)
      s = read_pass(p, p->interlaced ? &adam7[i] : &whole, a, rows);
    inflateEnd(&p->z);
  }
  mem_free(p->ctx, rows, bytes);
  return s;
}

static damo_array *read_png(png *p, uint64_t max_bytes) {
  if (p->end - p->at < 8 || memcmp(p->at, signature, 8) != 0) {
    png_fail(p, "this is no PNG");
    return NULL;
  }
  p->at += 8;
  if (png_chunks(p) != DAMO_OK) return NULL;
  const int channels = p->color == PNG_PALETTE ? 3 : file_channels(p);
  p->form = (image_form){
      .height = p->height, .width = p->width, .channels = channels + (p->has_alpha ? 1 : 0), .wide = p->depth == 16};
  if (row_bytes(p, p->width) > UINT64_MAX / (uint64_t)p->height / 2 ||
      row_bytes(p, p->width) * (uint64_t)p->height / PNG_DEFLATE_MOST > p->packed) {
    png_fail(p, "the PNG's data are cut short");
    return NULL;
  }
  damo_array *a = image_new(p->ctx, p->path, &p->form, max_bytes);
  if (a == NULL || read_passes(p, a) == DAMO_OK) return a;
  damo_release(a);
  return NULL;
}

damo_array *io_read_png(damo_ctx *ctx, const io_from *from, uint64_t max_bytes) {
  strbuf file;
  cell_text text;
  damo_array *a = NULL;
  strbuf_init(&file, ctx);
  if (io_whole_text(ctx, from, &file, &text) == DAMO_OK) {
    const unsigned char *at = (const unsigned char *)text.at;
    png p = {.ctx = ctx, .path = from->path, .at = at, .end = at + text.n};
    a = read_png(&p, max_bytes);
  }
  strbuf_clear(&file);
  return a;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

typedef struct png_writer {
  strbuf out;
  z_stream z;
  size_t chunk; /* where the chunk begins that is being written */
} png_writer;

static void put_big32(strbuf *out, uint32_t v) {
  const unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16), (unsigned char)(v >> 8),
                              (unsigned char)v};
  strbuf_addn(out, (const char *)b, 4);
}

static void chunk_begin(png_writer *w, const char *name) {
  w->chunk = w->out.n;
  put_big32(&w->out, 0);
  strbuf_addn(&w->out, name, 4);
}

static void chunk_end(png_writer *w) {
  if (w->out.failed) return;
  unsigned char *c = (unsigned char *)w->out.at + w->chunk;
  const uint32_t n = (uint32_t)(w->out.n - w->chunk - 8);
  for (int i = 0; i < 4; i++) c[i] = (unsigned char)(n >> (24 - 8 * i));
  put_big32(&w->out, io_crc32(0, c + 4, n + 4));
}

#define PNG_CHUNK 32768

/* Deflates n bytes, or the rest at the end, into chunks. */
static damo_status png_deflate(png_writer *w, const unsigned char *p, size_t n, bool finish) {
  char packed[PNG_CHUNK];
  w->z.next_in = (Bytef *)(uintptr_t)p;
  w->z.avail_in = (uInt)n; /* a row: below 2^32, as image_form_of has seen to */
  for (int status = Z_OK; finish ? status != Z_STREAM_END : w->z.avail_in > 0;) {
    w->z.next_out = (Bytef *)packed;
    w->z.avail_out = PNG_CHUNK;
    status = deflate(&w->z, finish ? Z_FINISH : Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) return ctx_fail_memory(w->out.ctx);
    if (w->z.avail_out == PNG_CHUNK) continue;
    chunk_begin(w, "IDAT");
    strbuf_addn(&w->out, packed, PNG_CHUNK - w->z.avail_out);
    chunk_end(w);
  }
  return w->out.failed ? DAMO_EMEMORY : DAMO_OK;
}

/* Chooses the filter with the least sum of moduli, as the standard advises; filtered: space for the filter's byte and a
 * row. */
static void filter_row(const unsigned char *row, const unsigned char *above, size_t n, size_t step,
                       unsigned char *filtered) {
  uint64_t least = UINT64_MAX;
  int best = 0;
  for (int f = 0; f < 5; f++) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n && sum < least; i++)
      sum += (uint64_t)abs((signed char)(unsigned char)(row[i] - predicted(f, row, above, i, step)));
    if (sum < least) least = sum, best = f;
  }
  filtered[0] = (unsigned char)best;
  for (size_t i = 0; i < n; i++) filtered[1 + i] = (unsigned char)(row[i] - predicted(best, row, above, i, step));
}

static damo_status write_rows(png_writer *w, const image_form *f, const damo_array *a, unsigned char *rows) {
  const size_t n = (size_t)image_row_bytes(f), step = (size_t)f->channels * (f->wide ? 2 : 1);
  unsigned char *row = rows, *above = rows + n, *filtered = rows + 2 * n;
  memset(above, 0, n);
  for (int64_t y = 0; y < f->height; y++) {
    memcpy(row, a->data + (size_t)y * n, n);
    if (f->wide) image_to_big(row, n / 2);
    filter_row(row, above, n, step, filtered);
    DAMO_TRY(png_deflate(w, filtered, n + 1, false));
    unsigned char *t = row;
    row = above;
    above = t;
  }
  return png_deflate(w, filtered, 0, true);
}

static damo_status write_png(png_writer *w, const image_form *f, const damo_array *a) {
  static const char colors[] = {[1] = PNG_GRAY, [2] = PNG_GRAY_ALPHA, [3] = PNG_RGB, [4] = PNG_RGBA};
  damo_ctx *ctx = a->obj.ctx;
  const size_t bytes = 3 * (size_t)image_row_bytes(f) + 1;
  const char rest[5] = {f->wide ? 16 : 8, colors[f->channels], 0, 0, 0};
  strbuf_addn(&w->out, (const char *)signature, 8);
  chunk_begin(w, "IHDR");
  put_big32(&w->out, (uint32_t)f->width);
  put_big32(&w->out, (uint32_t)f->height);
  strbuf_addn(&w->out, rest, sizeof rest);
  chunk_end(w);
  unsigned char *rows = mem_alloc(ctx, bytes);
  if (rows == NULL) return DAMO_EMEMORY;
  io_zlib_init(&w->z, ctx);
  damo_status s = deflateInit(&w->z, Z_DEFAULT_COMPRESSION) == Z_OK ? DAMO_OK : ctx_fail_memory(ctx);
  if (s == DAMO_OK) {
    s = write_rows(w, f, a, rows);
    deflateEnd(&w->z);
  }
  mem_free(ctx, rows, bytes);
  chunk_begin(w, "IEND");
  chunk_end(w);
  return s == DAMO_OK && w->out.failed ? DAMO_EMEMORY : s;
}

damo_status io_write_png(const io_to *to, const damo_array *a) {
  image_form f;
  DAMO_TRY(image_form_of("save", a, 4, &f));
  if (image_row_bytes(&f) >= UINT32_MAX) return ctx_fail(a->obj.ctx, DAMO_EVALUE, "save: the image is too wide");
  damo_array *c = array_as_contiguous(a, array_dtype(a));
  if (c == NULL) return DAMO_EMEMORY;
  png_writer w = {.chunk = 0};
  strbuf_init(&w.out, a->obj.ctx);
  damo_status s = write_png(&w, &f, c);
  if (s == DAMO_OK) s = io_write_bytes(a->obj.ctx, to, w.out.at, w.out.n);
  strbuf_clear(&w.out);
  damo_release(c);
  return s;
}
#else
damo_array *io_read_png(damo_ctx *ctx, const io_from *from, uint64_t max_bytes) {
  (void)from, (void)max_bytes;
  ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "load: this build has no zlib, which PNG needs");
  return NULL;
}

damo_status io_write_png(const io_to *to, const damo_array *a) {
  (void)to;
  return ctx_fail(a->obj.ctx, DAMO_ENOT_IMPLEMENTED, "save: this build has no zlib, which PNG needs");
}
#endif
