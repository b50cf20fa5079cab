/* square_pair_body: the sum of squares over two blocks, side by side. Included after reduce_body.h, with the same T,
 * SUFFIX and LANES. */
typedef T NAME(vector) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

#define OPERATOR +
#define TERM(x, m) ((x) * (x))
#include "chains_body.h"
#undef TERM
#undef OPERATOR

static void NAME(pair)(const void *blocks, int64_t n, void *out) {
  const T *x = blocks;
  if (n - REDUCE_BLOCK >= LANES) {
    *(T *)out = NAME(chains)(x, n, 2, 0);
    return;
  }
  T value[2];
  NAME(block)(x, REDUCE_BLOCK, &value[0]);
  NAME(block)(x + REDUCE_BLOCK, n - REDUCE_BLOCK, &value[1]);
  *(T *)out = value[0] + value[1];
}
