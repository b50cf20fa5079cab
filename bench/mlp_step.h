/* mlp_step: a step of gradient descent of a network of two layers, for networks_floor.c, which includes it once for each
 * REAL, with NAME, GEMM and TANH, the function of a vector of LANES of them. */

/* in: x (n rows of INPUTS), labels from 1, W1, b1, W2, b2, of which the last four are changed; out: the mean loss. */
static void NAME(mlp)(double *out, const double *const *in, int64_t n, int64_t m) {
  (void)m;
  const REAL *x = (const REAL *)in[0], *labels = (const REAL *)in[1];
  REAL *w1 = (REAL *)(uintptr_t)in[2], *b1 = (REAL *)(uintptr_t)in[3];
  REAL *w2 = (REAL *)(uintptr_t)in[4], *b2 = (REAL *)(uintptr_t)in[5];
  REAL *h = malloc((size_t)n * (2 * HIDDEN + CLASSES) * sizeof *h);
  if (h == NULL) return;
  REAL *g = h + n * HIDDEN, *d = g + n * HIDDEN;
  const int rows = (int)n;
  double loss = 0;
  for (int i = 0; i < rows; i++) memcpy(h + i * HIDDEN, b1, HIDDEN * sizeof *h);
  for (int i = 0; i < rows; i++) memcpy(d + i * CLASSES, b2, CLASSES * sizeof *d);
  GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, HIDDEN, INPUTS, 1, x, INPUTS, w1, HIDDEN, 1, h, HIDDEN);
  TANH(h, n * HIDDEN);
  GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, CLASSES, HIDDEN, 1, h, HIDDEN, w2, CLASSES, 1, d, CLASSES);
  for (int i = 0; i < rows; i++) {
    REAL *p = d + i * CLASSES, top = p[0], sum = 0;
    for (int k = 1; k < CLASSES; k++) top = top > p[k] ? top : p[k];
    const int label = (int)labels[i] - 1;
    const REAL at = p[label] - top;
    for (int k = 0; k < CLASSES; k++) sum += p[k] = (REAL)exp(p[k] - top);
    for (int k = 0; k < CLASSES; k++) p[k] = (p[k] / sum - (k == label)) / (REAL)n;
    loss += log(sum) - at;
  }
  out[0] = loss / (double)n;
  GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, rows, HIDDEN, CLASSES, 1, d, CLASSES, w2, CLASSES, 0, g, HIDDEN);
  for (int64_t i = 0; i < n * HIDDEN; i++) g[i] *= 1 - h[i] * h[i];
  const REAL rate = (REAL)RATE;
  GEMM(CblasRowMajor, CblasTrans, CblasNoTrans, HIDDEN, CLASSES, rows, -rate, h, HIDDEN, d, CLASSES, 1, w2, CLASSES);
  GEMM(CblasRowMajor, CblasTrans, CblasNoTrans, INPUTS, HIDDEN, rows, -rate, x, INPUTS, g, HIDDEN, 1, w1, HIDDEN);
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < CLASSES; k++) b2[k] -= rate * d[i * CLASSES + k];
    for (int k = 0; k < HIDDEN; k++) b1[k] -= rate * g[i * HIDDEN + k];
  }
  free(h);
}
