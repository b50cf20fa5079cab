/* compact: the loops of one instruction set that leave out entries. For sparse_sift*.c and convert.c alone. */
#ifndef DAMO_KERNEL_SPARSE_COMPACT_H
#define DAMO_KERNEL_SPARSE_COMPACT_H

#include <stdint.h>

/* Of n entries those with a bit in mask (0: all) to the front, each once; how many stay. kept[k]: of the first k + 1.
 * Room for n entries. */
int32_t sparse_sift_avx2(const int32_t *idx, const uint64_t *val, int64_t n, uint64_t mask, int32_t *oidx,
                         uint64_t *oval, int32_t *kept);

#endif
