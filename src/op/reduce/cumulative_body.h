/* cumulative_body: running sums and products of one slice, or of a part of it that goes on from the element of y before
 * it (`more`). Included with T, SUFFIX, ADD(a, b), MUL(a, b). */

static void PASTE(cumsum, SUFFIX)(const char *x, int64_t x_step, char *y, int64_t y_step, int64_t n, bool more) {
  if (n == 0) return;
  T sum = *(const T *)x;
  if (more) sum = ADD(*(const T *)(y - y_step), sum);
  *(T *)y = sum;
  for (int64_t i = 1; i < n; i++) {
    sum = ADD(sum, *(const T *)(x + i * x_step));
    *(T *)(y + i * y_step) = sum;
  }
}

static void PASTE(cumprod, SUFFIX)(const char *x, int64_t x_step, char *y, int64_t y_step, int64_t n, bool more) {
  if (n == 0) return;
  T product = *(const T *)x;
  if (more) product = MUL(*(const T *)(y - y_step), product);
  *(T *)y = product;
  for (int64_t i = 1; i < n; i++) {
    product = MUL(product, *(const T *)(x + i * x_step));
    *(T *)(y + i * y_step) = product;
  }
}

#undef T
#undef SUFFIX
#undef ADD
#undef MUL
