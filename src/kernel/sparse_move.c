/* sparse_move: format conversion, sorting, gathering and placing of entries, by index type and element size. */
#include <string.h>

#include "sparse_arith.h"

typedef struct bytes16 {
  uint64_t at[2];
} bytes16;

#define I int32_t
#define T uint8_t
#define SUFFIX n1
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T uint16_t
#define SUFFIX n2
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T uint32_t
#define SUFFIX n4
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T uint64_t
#define SUFFIX n8
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T bytes16
#define SUFFIX n16
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#undef I
#define I int64_t
#define T uint8_t
#define SUFFIX w1
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T uint16_t
#define SUFFIX w2
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T uint32_t
#define SUFFIX w4
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T uint64_t
#define SUFFIX w8
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#define T bytes16
#define SUFFIX w16
#include "sparse_move_body.h"
#undef T
#undef SUFFIX
#undef I

const sparse_move_fns *kernel_sparse_move(bool wide, size_t element_size) {
  switch (element_size) {
    case 1: return wide ? &move_fns_w1 : &move_fns_n1;
    case 2: return wide ? &move_fns_w2 : &move_fns_n2;
    case 4: return wide ? &move_fns_w4 : &move_fns_n4;
    case 8: return wide ? &move_fns_w8 : &move_fns_n8;
  }
  return wide ? &move_fns_w16 : &move_fns_n16;
}
