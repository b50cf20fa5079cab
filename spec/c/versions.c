/* versions: two builds of the library in one process, whose functions have different symbols. make/check-header compiles
 * this twice: with DAMO_OTHER_BUILD and that build's DAMO_SYMBOLS, and as the main program. Each part calls its own build. */
#include <damo.h>

#ifdef DAMO_OTHER_BUILD
#define PART part_of_other_build
#else
#define PART part_of_this_build
#endif
int part_of_other_build(damo_ctx *(**make)(damo_alloc_fn, void *));
int part_of_this_build(damo_ctx *(**make)(damo_alloc_fn, void *));

int PART(damo_ctx *(**make)(damo_alloc_fn, void *)) {
  double value = 0;
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_array *a = damo_array_scalar(ctx, DAMO_FLOAT64, 2.5);
  const int right = a != NULL && damo_array_item(a, &value) == DAMO_OK && value == 2.5;
  damo_release(a);
  damo_ctx_release(ctx);
  *make = damo_ctx_new;
  return right;
}

#ifndef DAMO_OTHER_BUILD
int main(void) {
  damo_ctx *(*mine)(damo_alloc_fn, void *), *(*others)(damo_alloc_fn, void *);
  return part_of_this_build(&mine) && part_of_other_build(&others) && mine != others ? 0 : 1;
}
#endif
