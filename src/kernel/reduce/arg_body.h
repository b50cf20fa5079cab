/* arg_body: the position of the first best element. Included after reduce_body.h with the same T and SUFFIX, whose
 * reduce_at_op returns the better of two. reduce_at_beats_<SUFFIX>(a, b): a, which comes later, is strictly better than
 * b. reduce_at_nan_<SUFFIX>: a is nan. SAME(a, b): a == b, for types without that operator. */
#ifndef SAME
#define SAME(a, b) ((a) == (b))
#endif

static void NAME(arg_run)(const void *run, int64_t n, int64_t position, void *best_so_far, int64_t *at) {
  const T *x = run;
  T *best = best_so_far, top;
  int64_t i = 0;
  NAME(block)(x, n < REDUCE_BLOCK ? n : REDUCE_BLOCK, &top);
  for (int64_t k = REDUCE_BLOCK; k < n; k += REDUCE_BLOCK) {
    T y;
    NAME(block)(x + k, n - k < REDUCE_BLOCK ? n - k : REDUCE_BLOCK, &y);
    if (!NAME(at_beats)(y, top)) continue;
    top = y;
    i = k;
  }
  if (position > 0 && !NAME(at_beats)(top, *best)) return;
#ifdef BEFORE
  if (!NAME(at_nan)(top)) i += BEFORE(x + i, n - i, top);
#endif
  while (!SAME(x[i], top) && !NAME(at_nan)(x[i])) i++; /* if there is a nan, top is nan */
  *best = top;
  *at = position + i;
}

static void NAME(arg_rows)(const void *restrict row, int64_t width, int64_t position, void *restrict best_so_far,
                           int64_t *restrict at) {
  const T *x = row;
  T *best = best_so_far;
  for (int64_t j = 0; j < width; j++) {
    const bool better = (position == 0) | NAME(at_beats)(x[j], best[j]);
    best[j] = better ? x[j] : best[j];
    at[j] = better ? position : at[j];
  }
}

#undef SAME
#undef BEFORE
