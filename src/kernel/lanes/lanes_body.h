/* lanes_body: the functions of lanes.h for one dtype T and instruction set; NAME(f) is f's name. */
#define AT(a, k) ((a) + (ptrdiff_t)(k)*LANE_COUNT)

static void NAME(factor)(int n, void *matrices, void *rows, uint8_t *failed) {
  T *a = matrices, *pivots = rows;
  for (int l = 0; l < LANE_COUNT; l++) failed[l] = 0;
  for (int p = 0; p < n; p++) {
    T best[LANE_COUNT], *at = AT(pivots, p);
    const T *diagonal = AT(a, p * n + p);
    for (int l = 0; l < LANE_COUNT; l++) {
      best[l] = diagonal[l] < 0 ? -diagonal[l] : diagonal[l];
      at[l] = (T)(p + 1);
    }
    for (int i = p + 1; i < n; i++) {
      const T *x = AT(a, i * n + p);
      for (int l = 0; l < LANE_COUNT; l++) {
        const T size = x[l] < 0 ? -x[l] : x[l];
        at[l] = size > best[l] ? (T)(i + 1) : at[l];
        best[l] = size > best[l] ? size : best[l];
      }
    }
    for (int i = p + 1; i < n; i++) {
      for (int j = 0; j < n; j++) {
        T *x = AT(a, p * n + j), *y = AT(a, i * n + j);
        for (int l = 0; l < LANE_COUNT; l++) {
          const T u = x[l], v = y[l];
          x[l] = at[l] == (T)(i + 1) ? v : u;
          y[l] = at[l] == (T)(i + 1) ? u : v;
        }
      }
    }
    for (int l = 0; l < LANE_COUNT; l++) failed[l] = failed[l] == 0 && diagonal[l] == 0 ? (uint8_t)(p + 1) : failed[l];
    for (int i = p + 1; i < n; i++) {
      T *f = AT(a, i * n + p);
      for (int l = 0; l < LANE_COUNT; l++) f[l] = diagonal[l] == 0 ? f[l] : f[l] / diagonal[l];
      for (int j = p + 1; j < n; j++) {
        T *x = AT(a, i * n + j);
        const T *y = AT(a, p * n + j);
        for (int l = 0; l < LANE_COUNT; l++) x[l] -= f[l] * y[l];
      }
    }
  }
}

static void NAME(substitute)(int n, int k, const void *triangles, bool lower, bool unit, bool transposed, void *sides) {
  const T *a = triangles;
  T *b = sides;
  const bool forward = lower != transposed;
  for (int step = 0; step < n; step++) {
    const int i = forward ? step : n - 1 - step, first = forward ? 0 : i + 1, last = forward ? i : n;
    const T *d = AT(a, i * n + i);
    for (int c = 0; c < k; c++) {
      T *x = AT(b, i * k + c);
      for (int j = first; j < last; j++) {
        const T *f = AT(a, transposed ? j * n + i : i * n + j), *y = AT(b, j * k + c);
        for (int l = 0; l < LANE_COUNT; l++) x[l] -= f[l] * y[l];
      }
      if (unit) continue;
      for (int l = 0; l < LANE_COUNT; l++) x[l] /= d[l];
    }
  }
}

static void NAME(swap_rows)(int n, int k, const T *pivots, int p, T *b) {
  const T *at = AT(pivots, p);
  for (int i = p + 1; i < n; i++) {
    for (int c = 0; c < k; c++) {
      T *x = AT(b, p * k + c), *y = AT(b, i * k + c);
      for (int l = 0; l < LANE_COUNT; l++) {
        const T u = x[l], v = y[l];
        x[l] = at[l] == (T)(i + 1) ? v : u;
        y[l] = at[l] == (T)(i + 1) ? u : v;
      }
    }
  }
}

static void NAME(solve)(int n, int k, const void *lu, const void *pivots, bool transposed, void *b) {
  if (transposed) {
    NAME(substitute)(n, k, lu, false, false, true, b);
    NAME(substitute)(n, k, lu, true, true, true, b);
    for (int p = n - 1; p >= 0; p--) NAME(swap_rows)(n, k, pivots, p, b);
  } else {
    for (int p = 0; p < n; p++) NAME(swap_rows)(n, k, pivots, p, b);
    NAME(substitute)(n, k, lu, true, true, false, b);
    NAME(substitute)(n, k, lu, false, false, false, b);
  }
}

static void NAME(cholesky)(int n, void *matrices, uint8_t *failed) {
  T *a = matrices;
  for (int l = 0; l < LANE_COUNT; l++) failed[l] = 0;
  for (int j = 0; j < n; j++) {
    T *d = AT(a, j * n + j);
    for (int p = 0; p < j; p++) {
      const T *x = AT(a, j * n + p);
      for (int l = 0; l < LANE_COUNT; l++) d[l] -= x[l] * x[l];
    }
    for (int l = 0; l < LANE_COUNT; l++) failed[l] = failed[l] == 0 && d[l] <= 0 ? (uint8_t)(j + 1) : failed[l];
    for (int l = 0; l < LANE_COUNT; l++) d[l] = SQRT(d[l] <= 0 ? 1 : d[l]);
    for (int i = j + 1; i < n; i++) {
      T *x = AT(a, i * n + j), *above = AT(a, j * n + i);
      for (int p = 0; p < j; p++) {
        const T *y = AT(a, i * n + p), *z = AT(a, j * n + p);
        for (int l = 0; l < LANE_COUNT; l++) x[l] -= y[l] * z[l];
      }
      for (int l = 0; l < LANE_COUNT; l++) x[l] /= d[l];
      for (int l = 0; l < LANE_COUNT; l++) above[l] = 0;
    }
  }
}

static void NAME(zero_diagonal)(int n, const void *matrices, uint8_t *failed) {
  const T *a = matrices;
  for (int l = 0; l < LANE_COUNT; l++) failed[l] = 0;
  for (int i = 0; i < n; i++) {
    const T *d = AT(a, i * n + i);
    for (int l = 0; l < LANE_COUNT; l++) failed[l] = failed[l] == 0 && d[l] == 0 ? (uint8_t)(i + 1) : failed[l];
  }
}

static void NAME(determinant)(int n, const void *lu, const void *pivots, void *det) {
  T *out = det;
  for (int l = 0; l < LANE_COUNT; l++) out[l] = 1;
  for (int p = 0; p < n; p++) {
    const T *d = AT((const T *)lu, p * n + p), *at = AT((const T *)pivots, p);
    for (int l = 0; l < LANE_COUNT; l++) out[l] *= at[l] == (T)(p + 1) ? d[l] : -d[l];
  }
}

#undef AT
#undef T
#undef NAME
#undef SQRT
