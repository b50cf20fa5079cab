/* dialect: a program of damo.h that is C99 and C++. make/check-header builds it as both, with -pedantic, and runs it. */
#include <damo.h>

int main(void) {
  const int64_t shape[1] = {3};
  const double values[3] = {1, 2, 3};
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 1, shape, values), *out = NULL;
  damo_var *x = damo_constant(ctx, a), *y = damo_call(ctx, "sum", &x, 1);
  damo_function *f = damo_compile(ctx, NULL, 0, &y, 1, NULL, NULL, 0, NULL);
  double sum = 0;
  const bool right = damo_function_call(f, NULL, 0, &out) == DAMO_OK && damo_array_item(out, &sum) == DAMO_OK &&
                     sum == 6 && damo_dtype_size(DAMO_COMPLEX64) == sizeof(damo_c64);
  damo_release(out);
  damo_release(f);
  damo_release(y);
  damo_release(x);
  damo_release(a);
  damo_ctx_release(ctx);
  return right ? 0 : 1;
}
