/* zip_read: finds the members of a zip archive through its central directory, and opens members.
 *
 * The file is not trusted: every offset and size is checked against the file's size, and a member with a size beyond
 * deflate's largest ratio is refused before memory is allocated.
 */
#include <errno.h>
#include <string.h>

#include "zip.h"

#define END_SIZE 22
#define END64_LOCATOR_SIZE 20
#define END64_SIZE 56
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30
#define COMMENT_MAX 65535
#define DEFLATE_MOST 1040 /* deflate's largest ratio is 1032 */

static uint16_t get16(const unsigned char *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t get32(const unsigned char *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }
static uint64_t get64(const unsigned char *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

typedef struct zip_directory {
  uint64_t offset, size, count;
} zip_directory;

static damo_status zip_read_at(io_input *z, uint64_t offset, void *dst, size_t n) {
  if (offset > z->size || n > z->size - offset)
    return io_fail(z->ctx, z->path, 0, "the archive is cut short or damaged");
  if (!input_seek(z, offset)) return io_fail(z->ctx, z->path, errno, "can't be read");
  if (input_read(z, dst, n) != n) return io_fail(z->ctx, z->path, 0, "the archive is cut short or damaged");
  return DAMO_OK;
}

/* ---- The end record ---------------------------------------------------------------------------------------------- */

static damo_status find_end(io_input *z, uint64_t *offset, unsigned char end[END_SIZE]) {
  const size_t n = z->size < END_SIZE + COMMENT_MAX ? (size_t)z->size : END_SIZE + COMMENT_MAX;
  unsigned char *tail = mem_alloc(z->ctx, n);
  if (!tail) return DAMO_EMEMORY;
  damo_status status = zip_read_at(z, z->size - n, tail, n);
  bool found = false;
  for (size_t i = n >= END_SIZE ? n - END_SIZE + 1 : 0; status == DAMO_OK && i-- > 0 && !found;) {
    if (memcmp(tail + i, "PK\5\6", 4) != 0 || get16(tail + i + 20) > n - i - END_SIZE) continue;
    memcpy(end, tail + i, END_SIZE);
    *offset = z->size - n + i;
    found = true;
  }
  mem_free(z->ctx, tail, n);
  if (status == DAMO_OK && !found) return io_fail(z->ctx, z->path, 0, "this is not a zip archive, or it is cut short");
  return status;
}

static damo_status find_directory(io_input *z, zip_directory *d) {
  unsigned char end[END_SIZE] = {0}, locator[END64_LOCATOR_SIZE], end64[END64_SIZE];
  uint64_t at = 0;
  DAMO_TRY(find_end(z, &at, end));
  *d = (zip_directory){.offset = get32(end + 16), .size = get32(end + 12), .count = get16(end + 10)};
  if (at < END64_LOCATOR_SIZE) return DAMO_OK;
  if (d->offset != 0xFFFFFFFF && d->size != 0xFFFFFFFF && d->count != 0xFFFF) return DAMO_OK;
  DAMO_TRY(zip_read_at(z, at - END64_LOCATOR_SIZE, locator, sizeof locator));
  if (memcmp(locator, "PK\6\7", 4) != 0) return DAMO_OK;
  DAMO_TRY(zip_read_at(z, get64(locator + 8), end64, sizeof end64));
  if (memcmp(end64, "PK\6\6", 4) != 0) return io_fail(z->ctx, z->path, 0, "the archive's zip64 directory is damaged");
  *d = (zip_directory){.offset = get64(end64 + 48), .size = get64(end64 + 40), .count = get64(end64 + 32)};
  return DAMO_OK;
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

/* Sizes and offset that are 0xFFFFFFFF in the entry are, in this order, in the zip64 extra field. */
static damo_status read_zip64(io_input *z, const unsigned char *extra, size_t n, zip_member *m) {
  uint64_t *wide[3] = {&m->size, &m->packed, &m->offset};
  while (n >= 4) {
    const size_t tag = get16(extra), length = get16(extra + 2);
    if (length > n - 4) break;
    if (tag != 1) {
      extra += 4 + length, n -= 4 + length;
      continue;
    }
    const unsigned char *p = extra + 4, *end = p + length;
    for (int i = 0; i < 3; i++) {
      if (*wide[i] != 0xFFFFFFFF) continue;
      if (end - p < 8) return io_fail(z->ctx, z->path, 0, "the archive's directory is damaged");
      *wide[i] = get64(p);
      p += 8;
    }
    break;
  }
  return DAMO_OK;
}

/* Parses one entry at p, where n bytes are left; *used is its length. */
static damo_status read_entry(io_input *z, const unsigned char *p, size_t n, zip_member *m, size_t *used) {
  if (n < ENTRY_SIZE || memcmp(p, "PK\1\2", 4) != 0)
    return io_fail(z->ctx, z->path, 0, "the archive's directory is damaged");
  const size_t name = get16(p + 28), extra = get16(p + 30), comment = get16(p + 32);
  *used = ENTRY_SIZE + name + extra + comment;
  if (*used > n) return io_fail(z->ctx, z->path, 0, "the archive's directory is damaged");
  *m = (zip_member){.flags = get16(p + 8),
                    .method = get16(p + 10),
                    .crc = get32(p + 16),
                    .packed = get32(p + 20),
                    .size = get32(p + 24),
                    .offset = get32(p + 42)};
  DAMO_TRY(read_zip64(z, p + ENTRY_SIZE + name, extra, m));
  char *text = mem_alloc(z->ctx, name + 1);
  if (!text) return DAMO_EMEMORY;
  memcpy(text, p + ENTRY_SIZE, name);
  text[name] = '\0';
  const bool cut = strlen(text) < name;
  m->name = cut ? NULL : mem_strdup(z->ctx, text);
  mem_free(z->ctx, text, name + 1);
  if (cut) return io_fail(z->ctx, z->path, 0, "the name of a member has a zero byte in it");
  return m->name ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status read_entries(io_input *z, const unsigned char *p, size_t n, zip_dir *out) {
  for (int64_t i = 0; i < out->cap; i++) {
    size_t used = 0;
    DAMO_TRY(read_entry(z, p, n, &out->at[i], &used));
    out->n++;
    p += used, n -= used;
  }
  return DAMO_OK;
}

damo_status zip_read(io_input *in, zip_dir *out) {
  damo_ctx *ctx = in->ctx;
  zip_directory d = {0};
  *out = (zip_dir){.ctx = ctx};
  DAMO_TRY(find_directory(in, &d));
  if (d.size > in->size || d.count > d.size / ENTRY_SIZE)
    return io_fail(ctx, in->path, 0, "the archive's directory is damaged");
  unsigned char *bytes = mem_alloc(ctx, (size_t)d.size);
  if (!bytes) return DAMO_EMEMORY;
  damo_status status = zip_read_at(in, d.offset, bytes, (size_t)d.size);
  if (status == DAMO_OK) {
    out->at = mem_calloc(ctx, (size_t)d.count * sizeof *out->at);
    if (out->at) out->cap = (int64_t)d.count;
    status = out->at ? read_entries(in, bytes, (size_t)d.size, out) : DAMO_EMEMORY;
  }
  mem_free(ctx, bytes, (size_t)d.size);
  return status;
}

void zip_clear(zip_dir *d) {
  for (int64_t i = 0; i < d->n; i++) mem_strfree(d->ctx, d->at[i].name);
  if (d->at) mem_free(d->ctx, d->at, (size_t)d->cap * sizeof *d->at);
  *d = (zip_dir){.ctx = d->ctx};
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

damo_status zip_open_member(io_source *s, const zip_member *m) {
  const uint64_t file_size = s->in->size;
  unsigned char local[LOCAL_SIZE];
  s->member = m->name;
  if (m->flags & 1) return source_fail(s, "it is encrypted");
  if (m->method != 0 && m->method != 8) return source_fail(s, "compression method %d is not supported", m->method);
  DAMO_TRY(zip_read_at(s->in, m->offset, local, sizeof local));
  if (memcmp(local, "PK\3\4", 4) != 0) return source_fail(s, "its header is damaged");
  const uint64_t start = m->offset + LOCAL_SIZE + get16(local + 26) + get16(local + 28);
  if (start > file_size || m->packed > file_size - start) return source_fail(s, "the data are cut short");
  const bool stored = m->method == 0;
  if ((stored && m->size != m->packed) || m->size / DEFLATE_MOST > m->packed)
    return source_fail(s, "its size is damaged");
  if (!input_seek(s->in, start)) return source_fail(s, "can't be read");
  s->left = m->size;
  s->packed_left = m->packed;
  s->deflated = !stored;
  return source_begin(s);
}

damo_status zip_check_member(io_source *s, const zip_member *m) {
  char rest[256];
  while (s->left > 0) DAMO_TRY(source_read(s, rest, s->left < sizeof rest ? (size_t)s->left : sizeof rest));
  return s->crc == m->crc ? DAMO_OK : source_fail(s, "the data are damaged (check sums differ)");
}
