/* eigh_block_body: a block of a stack of small symmetric matrices in SIMD lanes, for one dtype. The including file defines
 * T, TYPE (its dtype), SMALL (entries are scaled where they are less, or above its inverse) and NAME. */

/* The matrices at from[0 … count), of EIGH_LANES, by the kernel; scaled where squares might overflow or vanish. False: an
 * entry is not finite, or the kernel failed. */
static bool NAME(eigh_stack *s, const eigh_lanes_fns *fns, char *const *from, int count) {
  T a[EIGH_MOST * EIGH_MOST * EIGH_LANES], v[EIGH_MOST * EIGH_MOST * EIGH_LANES], scale[EIGH_LANES];
  const int n = s->n;
  for (int l = 0; l < EIGH_LANES; l++) {
    const char *const m = from[l < count ? l : 0];
    T most = 0;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j <= i; j++) {
        const T x = *(const T *)(const void *)(m + (s->lower ? i * s->rs + j * s->cs : j * s->rs + i * s->cs));
        const T size = x < 0 ? -x : x;
        most = size > most || x != x ? size : most;
        a[(i * n + j) * EIGH_LANES + l] = a[(j * n + i) * EIGH_LANES + l] = x;
      }
    }
    scale[l] = 1;
    if (most == 0 || (most >= SMALL && most <= 1 / SMALL)) continue;
    if (!isfinite(most)) return false;
    int power;
    frexp((double)most, &power);
    power--; /* 2^power is at most `most`: it does not overflow */
    scale[l] = (T)ldexp(1, power);
    for (int k = 0; k < n * n; k++) a[k * EIGH_LANES + l] = (T)ldexp((double)a[k * EIGH_LANES + l], -power);
  }
  if (!fns->run[TYPE](a, s->v != NULL ? v : NULL, n)) return false;
  T *w = (T *)(void *)s->w + s->done * n, *out = s->v != NULL ? (T *)(void *)s->v + s->done * n * n : NULL;
  for (int l = 0; l < count; l++, w += n) {
    int order[EIGH_MOST];
    for (int i = 0; i < n; i++) {
      const T value = a[(i * n + i) * EIGH_LANES + l] * scale[l];
      int at = i;
      for (; at > 0 && w[at - 1] > value; at--) w[at] = w[at - 1], order[at] = order[at - 1];
      w[at] = value, order[at] = i;
    }
    if (out == NULL) continue;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) out[i * n + j] = v[(i * n + order[j]) * EIGH_LANES + l];
    out += n * n;
  }
  s->done += count;
  return true;
}

#undef T
#undef TYPE
#undef SMALL
#undef NAME
