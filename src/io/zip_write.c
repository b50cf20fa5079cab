/* zip_write: headers and the central directory of an archive of stored or deflated members, with zip64 fields where sizes need
 * them. */
#include <string.h>

#include "zip.h"

#define WIDE 0xFFFFFFFFu
#define DOS_DATE 0x21 /* 1980-01-01: the same arrays give the same file */

/* A record under construction. */
typedef struct zip_record {
  unsigned char at[160];
  size_t n;
} zip_record;

static void put16(zip_record *r, unsigned v) {
  r->at[r->n++] = (unsigned char)v;
  r->at[r->n++] = (unsigned char)(v >> 8);
}

static void put32(zip_record *r, uint32_t v) {
  put16(r, v & 0xFFFF);
  put16(r, v >> 16);
}

static void put64(zip_record *r, uint64_t v) {
  put32(r, (uint32_t)v);
  put32(r, (uint32_t)(v >> 32));
}

static uint32_t clipped(uint64_t v) { return v >= WIDE ? WIDE : (uint32_t)v; }

/* The fields common to both kinds of header: version needed, flags, method, time, date, crc, both sizes, length of the
 * name. */
static void put_common(zip_record *r, const zip_member *m, bool wide) {
  put16(r, wide ? 45 : 20);
  put16(r, 0x800); /* names are UTF-8 */
  put16(r, m->method);
  put16(r, 0);
  put16(r, DOS_DATE);
  put32(r, m->crc);
  const bool both = m->size >= WIDE || m->packed >= WIDE; /* the zip64 field then has both */
  put32(r, both ? WIDE : (uint32_t)m->packed);
  put32(r, both ? WIDE : (uint32_t)m->size);
  put16(r, (unsigned)strlen(m->name));
}

damo_status zip_write_header(io_sink *sink, zip_member *m) {
  zip_record r = {.n = 0};
  if (m->method == 0) m->packed = m->size;
  const bool wide = m->size >= WIDE || m->packed >= WIDE;
  const size_t name = strlen(m->name);
  if (name > 0xFFFF) return io_fail(sink->ctx, sink->path, 0, "the name of a member is too long");
  m->offset = sink->written;
  put32(&r, 0x04034b50);
  put_common(&r, m, wide);
  put16(&r, wide ? 20 : 0);
  DAMO_TRY(sink_write(sink, r.at, r.n));
  DAMO_TRY(sink_write(sink, m->name, name));
  if (!wide) return DAMO_OK;
  r.n = 0;
  put16(&r, 1);
  put16(&r, 16);
  put64(&r, m->size);
  put64(&r, m->packed);
  return sink_write(sink, r.at, r.n);
}

static damo_status write_entry(io_sink *sink, const zip_member *m) {
  zip_record r = {.n = 0}, extra = {.n = 0};
  const bool wide_size = m->size >= WIDE || m->packed >= WIDE, wide_offset = m->offset >= WIDE;
  if (wide_size || wide_offset) {
    put16(&extra, 1);
    put16(&extra, (wide_size ? 16 : 0) + (wide_offset ? 8 : 0));
    if (wide_size) put64(&extra, m->size), put64(&extra, m->packed);
    if (wide_offset) put64(&extra, m->offset);
  }
  put32(&r, 0x02014b50);
  put16(&r, 3 << 8 | 45); /* made by Unix */
  put_common(&r, m, wide_size || wide_offset);
  put16(&r, (unsigned)extra.n);
  put16(&r, 0); /* comment */
  put16(&r, 0); /* disk */
  put16(&r, 0);
  put32(&r, 0600u << 16);
  put32(&r, clipped(m->offset));
  DAMO_TRY(sink_write(sink, r.at, r.n));
  DAMO_TRY(sink_write(sink, m->name, strlen(m->name)));
  return sink_write(sink, extra.at, extra.n);
}

static void put_end64(zip_record *r, uint64_t count, uint64_t size, uint64_t offset, uint64_t at) {
  put32(r, 0x06064b50);
  put64(r, 44);
  put16(r, 3 << 8 | 45);
  put16(r, 45);
  put32(r, 0);
  put32(r, 0);
  put64(r, count);
  put64(r, count);
  put64(r, size);
  put64(r, offset);
  put32(r, 0x07064b50);
  put32(r, 0);
  put64(r, at);
  put32(r, 1);
}

damo_status zip_write_end(io_sink *sink, const zip_dir *d) {
  zip_record r = {.n = 0};
  const uint64_t offset = sink->written;
  for (int64_t i = 0; i < d->n; i++) DAMO_TRY(write_entry(sink, &d->at[i]));
  const uint64_t size = sink->written - offset, count = (uint64_t)d->n;
  if (count >= 0xFFFF || size >= WIDE || offset >= WIDE) put_end64(&r, count, size, offset, sink->written);
  const unsigned short_count = count >= 0xFFFF ? 0xFFFF : (unsigned)count;
  put32(&r, 0x06054b50);
  put16(&r, 0);
  put16(&r, 0);
  put16(&r, short_count);
  put16(&r, short_count);
  put32(&r, clipped(size));
  put32(&r, clipped(offset));
  put16(&r, 0);
  return sink_write(sink, r.at, r.n);
}
