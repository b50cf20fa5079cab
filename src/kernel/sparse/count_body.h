/* count_body: vectors of four indices, and the count of indices in a range. Included by other bodies, with their I
 * (index type), U (its unsigned type) and NAME. */

typedef I NAME(four) __attribute__((vector_size(4 * sizeof(I)), aligned(sizeof(I)), may_alias));

/* How many of n indices are in low … high - 1. If low is the constant LEAST_INDEX, the compiler removes that
 * comparison. */
static inline int64_t NAME(count_between)(const I *idx, int64_t n, I low, I high) {
  int64_t sum = 0, k = 0;
  while (n - k >= 4) { /* a lane of int32 must not overflow */
    const int64_t end = n - k > ((int64_t)1 << 30) ? k + ((int64_t)1 << 30) : k + (n - k) / 4 * 4;
    NAME(four) inside = {0};
    for (; k < end; k += 4) {
      const NAME(four) j = *(const NAME(four) *)(idx + k);
      inside -= (j < high) & (j >= low);
    }
    for (int lane = 0; lane < 4; lane++) sum += inside[lane];
  }
  for (; k < n; k++) sum += idx[k] >= low && idx[k] < high;
  return sum;
}

#define LEAST_INDEX (-(I)((U)-1 / 2) - 1)
