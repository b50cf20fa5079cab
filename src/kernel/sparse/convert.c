/* convert: format conversion, sorting, gathering and placing of entries, by index type and element size. */
#include <string.h>

#include "kernel/kernel.h"
#include "arith.h"
#include "compact.h"

#define LOOSE 4       /* entries behind a line that a copy by whole vectors may touch */
#define SQUEEZED 1024 /* entries at a time */
#define FEW 8         /* of them that are looked at together */
#define SPLIT_FEW 8   /* parts that are counted one after the other */

typedef int32_t (*sp_sift_n8_fn)(const int32_t *idx, const uint64_t *val, int64_t n, uint64_t mask, int32_t *oidx,
                                 uint64_t *oval, int32_t *kept);

static sp_sift_n8_fn sp_move_best_sift(sp_sift_n8_fn plain) {
#if defined(__x86_64__)
  if (strncmp(kernel_table_select()->isa, "avx", 3) == 0) return sparse_sift_avx2;
#endif
  return plain;
}

/* The most usual pair of types has a loop of its own where the machine has the instructions. */
#define SIFT_OF(plain) _Generic((plain), sp_sift_n8_fn : sp_move_best_sift((sp_sift_n8_fn)(plain)), default : (plain))

#define SPARSE_BODY "convert_body.h"
#include "sizes.h"

const sparse_move_fns *kernel_sparse_move(bool wide, size_t element_size) {
  switch (element_size) {
    case 1: return wide ? &sp_move_fns_w1 : &sp_move_fns_n1;
    case 2: return wide ? &sp_move_fns_w2 : &sp_move_fns_n2;
    case 4: return wide ? &sp_move_fns_w4 : &sp_move_fns_n4;
    case 8: return wide ? &sp_move_fns_w8 : &sp_move_fns_n8;
  }
  return wide ? &sp_move_fns_w16 : &sp_move_fns_n16;
}

#undef LOOSE
#undef SQUEEZED
#undef FEW
#undef SPLIT_FEW
#undef SIFT_OF
