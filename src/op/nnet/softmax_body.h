/* softmax over one float type, included once for each: the stub defines T, F(name) and LANES (of Reduce), and undefines them
 * afterwards.
 *
 * Data is C-contiguous outer × n × inner, the middle axis being the one that is normalised. Results may overwrite x.
 * work has work_bytes() bytes. nan in, nan out along that axis. Rows give the bits of the same formula as separate Ops:
 * sums and maxima are those of Reduce.
 */
static T F(fold)(const soft_box *s, reduce_fold *f, const T *x, int64_t n) {
  T value;
  reduce_fold_begin(f, n);
  for (int64_t i = 0; i < n; i += REDUCE_FOLD_BLOCK) {
    reduce_fold_add(f, x + i, n - i < REDUCE_FOLD_BLOCK ? n - i : REDUCE_FOLD_BLOCK);
    if (i / REDUCE_FOLD_BLOCK % SOFT_FOLDS == SOFT_FOLDS - 1) ctx_point(s->ctx);
  }
  reduce_fold_end(f, &value);
  return value;
}

/* Short rows don't pay for a fold. This is the sum of a block of Reduce, in LANES lanes that are folded by halves; with
 * fewer elements than lanes only those that are there. */
static T F(sum)(const soft_box *s, const T *x, int64_t n) {
  T lane[LANES] = {0};
  if (n > SHORT_ROW) return F(fold)(s, s->sum, x, n);
  if (n < LANES) {
    for (int64_t l = 0; l < n; l++) lane[l] = x[l];
    for (int64_t half = LANES / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half && l + half < n; l++) lane[l] += lane[l + half];
    return lane[0];
  }
  for (int l = 0; l < LANES; l++) lane[l] = x[l];
  int64_t i = LANES;
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += x[i + l];
  for (int64_t l = 0; i + l < n; l++) lane[l] += x[i + l];
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

/* Of short rows with a nan any element: their results are nan all the same. */
static T F(max)(const soft_box *s, const T *x, int64_t n) {
  T m = x[0];
  if (n > SHORT_ROW) return F(fold)(s, s->max, x, n);
  for (int64_t i = 1; i < n; i++) m = x[i] > m ? x[i] : m;
  return m;
}

/* Several rows at once, so that the kernel for exp works on full blocks. */
static void F(rows)(const soft_box *s, const T *x, T *y, int64_t rows, T *work) {
  const int64_t n = s->n;
  T *e = s->log_form ? work : y;
  for (int64_t r = 0; r < rows; r++) {
    const T m = F(max)(s, x + r * n, n);
    for (int64_t i = r * n; i < (r + 1) * n; i++) y[i] = x[i] - m;
  }
  s->exp((void *const[]){y, e}, rows * n);
  for (int64_t r = 0; r < rows; r++) {
    T total = F(sum)(s, e + r * n, n);
    if (s->log_form) s->log((void *const[]){&total, &total}, 1);
    for (int64_t i = r * n; i < (r + 1) * n; i++) y[i] = s->log_form ? y[i] - total : y[i] / total;
  }
}

/* A row of more than 2 SOFT_PART elements, in parts with points between them. */
static void F(long_row)(const soft_box *s, const T *x, T *y, T *work) {
  const int64_t n = s->n;
  T *e = s->log_form ? work : y;
  const T m = F(fold)(s, s->max, x, n);
  ctx_point(s->ctx);
  for (int64_t from = 0; from < n; from += SOFT_PART) {
    const int64_t part = n - from < SOFT_PART ? n - from : SOFT_PART;
    for (int64_t i = from; i < from + part; i++) y[i] = x[i] - m;
    s->exp((void *const[]){y + from, e + from}, part);
    ctx_point(s->ctx);
  }
  T total = F(fold)(s, s->sum, e, n);
  ctx_point(s->ctx);
  if (s->log_form) s->log((void *const[]){&total, &total}, 1);
  for (int64_t from = 0; from < n; from += SOFT_PART) {
    const int64_t end = n - from < SOFT_PART ? n : from + SOFT_PART;
    for (int64_t i = from; i < end; i++) y[i] = s->log_form ? y[i] - total : y[i] / total;
    ctx_point(s->ctx);
  }
}

/* m columns of one n × inner slab with inner > 1: loops run over the inner axis, where they vectorise. */
static void F(slab)(const soft_box *s, const T *x, T *y, int64_t m, T *work) {
  const int64_t n = s->n, pitch = s->inner;
  T *top = work, *total = work + m, *e = work + 2 * m;
  int64_t since = 0;
  for (int64_t j = 0; j < m; j++) top[j] = x[j], total[j] = 0;
  for (int64_t i = 1; i < n; i++) {
    for (int64_t j = 0; j < m; j++) top[j] = x[i * pitch + j] > top[j] ? x[i * pitch + j] : top[j];
    ctx_point_after(s->ctx, &since, m, 2 * SOFT_PART);
  }
  for (int64_t i = 0; i < n; i++) {
    T *yi = y + i * pitch, *ei = s->log_form ? e : yi;
    for (int64_t j = 0; j < m; j++) yi[j] = x[i * pitch + j] - top[j];
    s->exp((void *const[]){yi, ei}, m);
    for (int64_t j = 0; j < m; j++) total[j] += ei[j];
    ctx_point_after(s->ctx, &since, m, SOFT_PART);
  }
  if (s->log_form) s->log((void *const[]){total, total}, m);
  for (int64_t i = 0; i < n; i++) {
    T *yi = y + i * pitch;
    for (int64_t j = 0; j < m; j++) yi[j] = s->log_form ? yi[j] - total[j] : yi[j] / total[j];
    ctx_point_after(s->ctx, &since, m, 2 * SOFT_PART);
  }
}

static void F(forward)(const soft_box *s, const void *from, void *to, void *work) {
  const T *x = from;
  T *y = to;
  if (s->inner > 1) {
    for (int64_t o = 0; o < s->outer; o++) {
      for (int64_t j = 0; j < s->inner; j += SOFT_PART) {
        const int64_t at = o * s->n * s->inner + j;
        F(slab)(s, x + at, y + at, s->inner - j < SOFT_PART ? s->inner - j : SOFT_PART, work);
      }
    }
    return;
  }
  for (int64_t r = 0; r < s->outer; r += s->block) {
    const int64_t rows = r + s->block < s->outer ? s->block : s->outer - r;
    if (s->n > 2 * SOFT_PART)
      F(long_row)(s, x + r * s->n, y + r * s->n, work);
    else
      F(rows)(s, x + r * s->n, y + r * s->n, rows, work);
  }
}

/* m columns of one n × inner slab: dx = (dy - Σ dy·p)·p for p the softmax, dx = dy - exp(p)·Σ dy for p its logarithm
 * (e = exp(p) then). The sums of all inner positions run together. */
static void F(backward_slab)(const soft_box *s, const T *dy, const T *p, T *dx, int64_t m, T *work) {
  const int64_t end = s->n * s->inner, pitch = s->inner;
  T *total = work, *e = work + m;
  int64_t since = 0;
  for (int64_t j = 0; j < m; j++) total[j] = 0;
  for (int64_t i = 0; i < end; i += pitch) {
    for (int64_t j = 0; j < m; j++) total[j] += s->log_form ? dy[i + j] : dy[i + j] * p[i + j];
    ctx_point_after(s->ctx, &since, m, 2 * SOFT_PART);
  }
  for (int64_t i = 0; i < end; i += pitch) {
    if (s->log_form) s->exp((void *const[]){(void *)(p + i), e}, m);
    for (int64_t j = 0; j < m; j++) {
      dx[i + j] = s->log_form ? dy[i + j] - e[j] * total[j] : (dy[i + j] - total[j]) * p[i + j];
    }
    ctx_point_after(s->ctx, &since, m, SOFT_PART);
  }
}

/* A row of more than 2 SOFT_PART elements, in parts. */
static void F(backward_long_row)(const soft_box *s, const T *dy, const T *p, T *dx, T *work) {
  const int64_t n = s->n;
  for (int64_t from = 0; from < n; from += SOFT_PART) {
    const int64_t end = n - from < SOFT_PART ? n : from + SOFT_PART;
    if (s->log_form)
      s->exp((void *const[]){(void *)(p + from), work + from}, end - from);
    else
      for (int64_t i = from; i < end; i++) work[i] = dy[i] * p[i];
    ctx_point(s->ctx);
  }
  const T total = F(fold)(s, s->sum, s->log_form ? dy : work, n);
  for (int64_t from = 0; from < n; from += SOFT_PART) {
    const int64_t end = n - from < SOFT_PART ? n : from + SOFT_PART;
    for (int64_t i = from; i < end; i++) dx[i] = s->log_form ? dy[i] - work[i] * total : (dy[i] - total) * p[i];
    ctx_point(s->ctx);
  }
}

static void F(backward_rows)(const soft_box *s, const T *dy, const T *p, T *dx, int64_t rows, T *work) {
  const int64_t n = s->n;
  if (s->log_form)
    s->exp((void *const[]){(void *)p, work}, rows * n);
  else
    for (int64_t i = 0; i < rows * n; i++) work[i] = dy[i] * p[i];
  for (int64_t r = 0; r < rows; r++) {
    const T total = F(sum)(s, (s->log_form ? dy : work) + r * n, n);
    for (int64_t i = r * n; i < (r + 1) * n; i++) {
      dx[i] = s->log_form ? dy[i] - work[i] * total : (dy[i] - total) * p[i];
    }
  }
}

static void F(backward)(const soft_box *s, const void *dy_, const void *p_, void *dx_, void *work) {
  const T *dy = dy_, *p = p_;
  T *dx = dx_;
  if (s->inner > 1) {
    for (int64_t o = 0; o < s->outer; o++) {
      for (int64_t j = 0; j < s->inner; j += SOFT_PART) {
        const int64_t at = o * s->n * s->inner + j;
        F(backward_slab)(s, dy + at, p + at, dx + at, s->inner - j < SOFT_PART ? s->inner - j : SOFT_PART, work);
      }
    }
    return;
  }
  for (int64_t r = 0; r < s->outer; r += s->block) {
    const int64_t rows = r + s->block < s->outer ? s->block : s->outer - r;
    if (s->n > 2 * SOFT_PART)
      F(backward_long_row)(s, dy + r * s->n, p + r * s->n, dx + r * s->n, work);
    else
      F(backward_rows)(s, dy + r * s->n, p + r * s->n, dx + r * s->n, rows, work);
  }
}
#undef T
#undef F
#undef LANES
