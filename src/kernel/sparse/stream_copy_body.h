/* stream_copy_body: a copy by vectors of BYTES bytes. NAME adds the instruction set; both macros are undefined at the
 * end. The destination is aligned to a cache line first; the alignment of the source then matters little. */
void NAME(stream_copy)(char *restrict to, const char *restrict from, size_t n) {
  typedef uint64_t vector __attribute__((vector_size(BYTES), aligned(1), may_alias));
  enum { LINE = 64, VECTORS = LINE / BYTES };
  size_t i = (LINE - ((uintptr_t)to & (LINE - 1))) & (LINE - 1);
  if (i > n) i = n;
  memcpy(to, from, i);
  for (; i + LINE <= n; i += LINE) {
    const vector *s = (const vector *)(const void *)(from + i);
    vector *d = (vector *)(void *)(to + i), held[VECTORS];
    for (int k = 0; k < VECTORS; k++) held[k] = s[k];
    for (int k = 0; k < VECTORS; k++) d[k] = held[k];
  }
  memcpy(to + i, from + i, n - i);
}

#undef BYTES
#undef NAME
