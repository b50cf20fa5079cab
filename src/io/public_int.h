/* public_int: what the files of io share that are part of damo.h: bytes in memory as sources and targets. */
#ifndef DAMO_IO_PUBLIC_INT_H
#define DAMO_IO_PUBLIC_INT_H

#include "io.h"

/* A value error where n bytes are to be read and there are none. */
damo_status public_check_bytes(damo_ctx *ctx, const char *func, const void *bytes, size_t n);
io_from public_from(const void *bytes, size_t n);
/* Initializes the text. */
io_to public_into(damo_ctx *ctx, strbuf *text);
/* Hands the text to the host if status is DAMO_OK, else frees it; returns status. */
damo_status public_give(strbuf *text, damo_status status, damo_bytes *out);

#endif
