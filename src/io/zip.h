/* zip: the directory of a zip archive, read and written (APPNOTE 6.3; zip64 both ways). Private to io. */
#ifndef DAMO_IO_ZIP_H
#define DAMO_IO_ZIP_H

#include "io_int.h"

typedef struct zip_member {
  char *name; /* mem_strdup */
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

/* Reads the central directory of an open file of that size; zip_clear in any case. */
damo_status zip_read(damo_ctx *ctx, const char *path, FILE *f, uint64_t file_size, zip_dir *out);
void zip_clear(zip_dir *d);
/* Readies s to read the member's bytes; source_end follows on success. */
damo_status zip_open_member(io_source *s, const zip_member *m, uint64_t file_size);
/* To be asked after reading: drains what is left, compares the check sum. */
damo_status zip_check_member(io_source *s, const zip_member *m);

/* Writes a stored member's header: name, size and crc set by the caller, offset set here; the bytes follow. */
damo_status zip_write_header(io_sink *sink, zip_member *m);
/* Writes the central directory. */
damo_status zip_write_end(io_sink *sink, const zip_dir *d);

#endif
