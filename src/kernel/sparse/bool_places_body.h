/* bool_places_body: kernels over places that are true or false. Included with I (index type) and IX (its name). */
#define NAME(f) PASTE2(sp_flags_##f, IX)

static void NAME(complement)(const sparse_raw *e, void *indptr, void *indices) {
  const I *restrict ptr = e->indptr, *restrict idx = e->indices;
  I *restrict optr = indptr, *restrict oidx = indices;
  int64_t n = 0, since = 0;
  optr[0] = 0;
  for (int64_t i = 0; i < e->major; i++) {
    int64_t j = 0;
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) {
      for (; j < idx[p]; j++) oidx[n++] = (I)j;
      j++;
    }
    for (; j < e->minor; j++) oidx[n++] = (I)j;
    optr[i + 1] = (I)n;
    sparse_point(e, &since, e->minor);
  }
}

static void NAME(put)(const sparse_raw *x, const uint8_t *flags, uint8_t *dst, int64_t major_stride,
                      int64_t minor_stride) {
  const I *ptr = x->indptr, *idx = x->indices;
  SPARSE_MAJORS(x, i, I) {
    uint8_t *to = dst + i * major_stride;
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) to[idx[p] * minor_stride] = flags[p];
  }
}

const sparse_flag_fns TABLE = {NAME(complement), NAME(put)};

#undef NAME
