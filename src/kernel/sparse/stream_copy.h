/* stream_copy: the long copies of each instruction set, for isa.c. */
#ifndef DAMO_KERNEL_SPARSE_STREAM_COPY_H
#define DAMO_KERNEL_SPARSE_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>

void stream_copy_base(char *to, const char *from, size_t n);
void stream_copy_avx2(char *to, const char *from, size_t n);
void stream_copy_avx512(char *to, const char *from, size_t n);

#endif
