/* pool: maxima and means over windows of planes, and their gradients.
 *
 * A plane has three axes (leading ones of length 1 where there are fewer), C-contiguous; so has its result. Window o
 * along an axis has the entries o·stride - pad … o·stride - pad + size - 1 of the plane, as far as these exist; each
 * window has one at least. The first largest entry of a window in C order is its maximum; the first nan where there is one.
 */
#ifndef DAMO_KERNEL_POOL_H
#define DAMO_KERNEL_POOL_H

#include "base/base.h"

#define POOL_AXES 3

typedef struct pool_box {
  int64_t in[POOL_AXES], out[POOL_AXES], size[POOL_AXES], stride[POOL_AXES], pad[POOL_AXES];
  thread_pool *threads; /* where it cuts, it has points between rows of windows; or NULL */
  bool include_pad;     /* means divide by the window's size, not by the number of its entries that exist */
} pool_box;

/* Of `planes` planes one after the other; x, dx: planes, y, g: results. */
typedef struct pool_fns {
  void (*max)(const pool_box *p, int64_t planes, const void *x, void *y);
  void (*max_grad)(const pool_box *p, int64_t planes, const void *x, const void *g, void *dx); /* g at the maxima */
  void (*max_at)(const pool_box *p, int64_t planes, const void *x, const void *h, void *y);    /* h at x's maxima */
  void (*mean)(const pool_box *p, int64_t planes, const void *x, void *y);
  void (*mean_grad)(const pool_box *p, int64_t planes, const void *g, void *dx);
} pool_fns;

extern const pool_fns pool_fns_f32, pool_fns_f64;

#endif
