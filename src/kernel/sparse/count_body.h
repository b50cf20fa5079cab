/* count_body: indices by fours, and how many of them lie in a range. Included by other bodies, with their I (index
 * type), U (the same without sign) and NAME. */

typedef I NAME(four) __attribute__((vector_size(4 * sizeof(I)), aligned(sizeof(I)), may_alias));

/* How many of n indices lie from low on, below high. Of LEAST_INDEX for low the compiler leaves the comparison out. */
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
