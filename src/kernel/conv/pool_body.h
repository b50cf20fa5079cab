/* pool_body: the loops of pool.h for one element type. Included with T (element) and NAME (suffixes a name), which are
 * undefined at the end. */

/* The place in the plane of the largest entry of the window. */
static inline int64_t NAME(largest)(const pool_box *p, const T *x, const pool_range *r) {
  int64_t at = -1;
  T best = 0;
  for (int64_t i = r[0].from; i < r[0].to; i++) {
    for (int64_t j = r[1].from; j < r[1].to; j++) {
      const int64_t row = (i * p->in[1] + j) * p->in[2];
      for (int64_t k = r[2].from; k < r[2].to; k++) {
        const T v = x[row + k];
        if (at >= 0 && (v <= best || best != best)) continue;
        at = row + k;
        best = v;
      }
    }
  }
  return at;
}

static void NAME(max)(const pool_box *p, int64_t planes, const void *xs, void *ys) {
  const int64_t n_in = pool_entries(p->in);
  T *y = ys;
  for (int64_t plane = 0; plane < planes; plane++) {
    const T *x = (const T *)xs + plane * n_in;
    FOR_WINDOWS(p, r) *y++ = x[NAME(largest)(p, x, r)];
  }
}

static void NAME(max_grad)(const pool_box *p, int64_t planes, const void *xs, const void *gs, void *dxs) {
  const int64_t n_in = pool_entries(p->in);
  const T *g = gs;
  memset(dxs, 0, (size_t)(planes * n_in) * sizeof(T));
  for (int64_t plane = 0; plane < planes; plane++) {
    const T *x = (const T *)xs + plane * n_in;
    T *dx = (T *)dxs + plane * n_in;
    FOR_WINDOWS(p, r) dx[NAME(largest)(p, x, r)] += *g++;
  }
}

static void NAME(max_at)(const pool_box *p, int64_t planes, const void *xs, const void *hs, void *ys) {
  const int64_t n_in = pool_entries(p->in);
  T *y = ys;
  for (int64_t plane = 0; plane < planes; plane++) {
    const T *x = (const T *)xs + plane * n_in, *h = (const T *)hs + plane * n_in;
    FOR_WINDOWS(p, r) *y++ = h[NAME(largest)(p, x, r)];
  }
}

static void NAME(mean)(const pool_box *p, int64_t planes, const void *xs, void *ys) {
  const int64_t n_in = pool_entries(p->in);
  T *y = ys;
  for (int64_t plane = 0; plane < planes; plane++) {
    const T *x = (const T *)xs + plane * n_in;
    FOR_WINDOWS(p, r) {
      T sum = 0;
      for (int64_t i = r[0].from; i < r[0].to; i++) {
        for (int64_t j = r[1].from; j < r[1].to; j++) {
          const T *row = x + (i * p->in[1] + j) * p->in[2];
          for (int64_t k = r[2].from; k < r[2].to; k++) sum += row[k];
        }
      }
      *y++ = sum / (T)pool_divisor(p, r);
    }
  }
}

static void NAME(mean_grad)(const pool_box *p, int64_t planes, const void *gs, void *dxs) {
  const int64_t n_in = pool_entries(p->in);
  const T *g = gs;
  memset(dxs, 0, (size_t)(planes * n_in) * sizeof(T));
  for (int64_t plane = 0; plane < planes; plane++) {
    T *dx = (T *)dxs + plane * n_in;
    FOR_WINDOWS(p, r) {
      const T part = *g++ / (T)pool_divisor(p, r);
      for (int64_t i = r[0].from; i < r[0].to; i++) {
        for (int64_t j = r[1].from; j < r[1].to; j++) {
          T *row = dx + (i * p->in[1] + j) * p->in[2];
          for (int64_t k = r[2].from; k < r[2].to; k++) row[k] += part;
        }
      }
    }
  }
}

const pool_fns NAME(fns) = {.max = NAME(max),
                            .max_grad = NAME(max_grad),
                            .max_at = NAME(max_at),
                            .mean = NAME(mean),
                            .mean_grad = NAME(mean_grad)};

#undef T
#undef NAME
