/* dialect: a program that is valid C99 and C++. make/check-header builds it as both, with -pedantic, and runs it. */
#include <damo.h>
#include <string.h>

/* sum(x, axis = 1) of a matrix over this program's memory, with options as a struct. */
static bool sums_columns(damo_ctx *ctx) {
  const int64_t shape[2] = {2, 3};
  double values[6] = {1, 2, 3, 4, 5, 6}, sums[3] = {0, 0, 0};
  damo_array *a = damo_array_wrap(ctx, DAMO_FLOAT64, 2, shape, NULL, values, false, NULL, NULL);
  damo_array *target = damo_array_wrap(ctx, DAMO_FLOAT64, 1, shape + 1, NULL, sums, true, NULL, NULL);
  damo_type *type = damo_type_tensor(ctx, DAMO_FLOAT64, 2, NULL);
  damo_var *x = damo_var_new(ctx, type, "x");
  const damo_prop options[2] = {damo_prop_int("axis", 1), damo_prop_bool("keepdims", false)};
  damo_var *y = damo_call_props(ctx, "sum", &x, 1, options, 2);
  damo_compile_options how;
  memset(&how, 0, sizeof how);
  how.size = sizeof how;
  how.mode = "FAST_COMPILE";
  damo_function *f = damo_compile_with(ctx, &x, 1, &y, 1, &how);
  damo_obj *args[1], *into[1];
  args[0] = (damo_obj *)a;
  into[0] = (damo_obj *)target;
  const bool right = damo_function_into(f, args, 1, into) == DAMO_OK && sums[0] == 5 && sums[2] == 9;
  damo_release(f);
  damo_release(y);
  damo_release(x);
  damo_release(type);
  damo_release(target);
  damo_release(a);
  return right;
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  const bool right = ctx != NULL && sums_columns(ctx) && damo_dtype_size(DAMO_COMPLEX64) == sizeof(damo_c64);
  damo_ctx_release(ctx);
  return right ? 0 : 1;
}
