/* chains_body: the folds of two or four blocks, each in a chain of operations of its own, side by side, to hide their
 * latency; memory that is read in several places at once is also read faster. Included with T, LANES, OPERATOR and
 * TERM(x, m), the term of an element x, for vectors and numbers; NAME(vector), NAME(fold) and NAME(block) are there. */

/* n elements: all blocks but the last are full. `chains` is constant in each call. The last block has LANES at least. */
static inline __attribute__((always_inline)) T NAME(chains)(const T *x, int64_t n, const int chains, const T m) {
  enum { IN_VECTOR = VECTOR_BYTES / sizeof(T), VECTORS = LANES / IN_VECTOR, BLOCK = REDUCE_BLOCK / IN_VECTOR };
  const NAME(vector) *at = (const void *)x;
  const int64_t in_last = n - (chains - 1) * REDUCE_BLOCK, together = in_last / LANES * VECTORS;
  NAME(vector) acc[4][VECTORS];
  T lanes[4][LANES], folded[4];
  (void)m;
  for (int c = 0; c < chains; c++)
    for (int v = 0; v < VECTORS; v++) acc[c][v] = TERM(at[c * BLOCK + v], m);
  for (int64_t i = VECTORS; i < together; i += VECTORS)
    for (int c = 0; c < chains; c++)
      for (int v = 0; v < VECTORS; v++) acc[c][v] = acc[c][v] OPERATOR TERM(at[c * BLOCK + i + v], m);
  for (int64_t i = together; i < BLOCK; i += VECTORS)
    for (int c = 0; c + 1 < chains; c++)
      for (int v = 0; v < VECTORS; v++) acc[c][v] = acc[c][v] OPERATOR TERM(at[c * BLOCK + i + v], m);
  memcpy(lanes, acc, (size_t)chains * sizeof lanes[0]);
  const T *rest = x + (chains - 1) * REDUCE_BLOCK + in_last / LANES * LANES;
  for (int64_t l = 0; l < in_last % LANES; l++) lanes[chains - 1][l] = lanes[chains - 1][l] OPERATOR TERM(rest[l], m);
  for (int c = 0; c < chains; c++) folded[c] = NAME(fold)(lanes[c]);
  const T first = folded[0] OPERATOR folded[1];
  return chains == 2 ? first : first OPERATOR(folded[2] OPERATOR folded[3]);
}
