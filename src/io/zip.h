/* zip: reading and writing the directory of a zip archive, with zip64 (PKWARE APPNOTE 6.3). Private to io. */
#ifndef DAMO_IO_ZIP_H
#define DAMO_IO_ZIP_H

#include "io_int.h"

typedef struct zip_member {
  char *name; /* owned (mem_strdup) */
  uint16_t method, flags;
  uint32_t crc;
  uint64_t packed, size; /* bytes in the archive, and inflated */
  uint64_t offset;       /* of the local header */
} zip_member;

typedef struct zip_dir {
  damo_ctx *ctx;
  zip_member *at;
  int64_t n, cap;
} zip_dir;

/* Reads the central directory. zip_clear must follow, on failure too. */
damo_status zip_read(io_input *in, zip_dir *out);
void zip_clear(zip_dir *d);
/* Prepares s to read the member's bytes; on success source_end must follow. */
damo_status zip_open_member(io_source *s, const zip_member *m);
/* Called after reading: reads the remaining bytes and compares the CRC. */
damo_status zip_check_member(io_source *s, const zip_member *m);

/* Writes the header of a member, whose name, size and crc the caller has set, and if it is deflated (method 8) its packed
 * size; sets m->offset. The caller then writes the bytes. */
damo_status zip_write_header(io_sink *sink, zip_member *m);
/* Writes the central directory. */
damo_status zip_write_end(io_sink *sink, const zip_dir *d);

#endif
