/* core_int: what core.c and core_run.c share: a node's operands, dtypes and lengths. Private to them. */
#ifndef DAMO_OP_LINALG_CORE_INT_H
#define DAMO_OP_LINALG_CORE_INT_H

#include "core.h"

static inline const core_shape *core_shape_of(const damo_op *op) { return op->data; }
static inline char core_kind(const char *kinds, int i) { return kinds != NULL ? kinds[i] : 'f'; }

/* The shapes of a node's operands, from their Types or their values, and what follows: the lengths by name and the
 * leading axes; -1 where unknown. */
typedef struct core_sizes {
  damo_ctx *ctx; /* of errors */
  const int64_t *shape[CORE_MOST];
  int ndim[CORE_MOST], lead[CORE_MOST]; /* lead: leading axes */
  const damo_type *type[CORE_MOST];
  int64_t dim[CORE_DIMS], batch[DAMO_MAX_NDIM];
  int n_batch;
} core_sizes;

/* Fills in z's lengths from its shapes, and checks them. */
damo_status core_bind(const damo_op *op, core_sizes *z);
/* The length of leading axis `axis` of the result in operand i, and whether the operand is broadcast along it: it lacks
 * the axis, or its Type says that it is 1. */
bool core_broadcasts(const core_sizes *z, int i, int axis, int64_t *length, int *own);
/* Sets the shape of result o; returns its number of axes. */
int core_result_shape(const core_shape *s, const core_sizes *z, int o, int64_t *shape);

static inline damo_dtype dtype_real_part(damo_dtype d) {
  return d == DAMO_COMPLEX64 ? DAMO_FLOAT32 : d == DAMO_COMPLEX128 ? DAMO_FLOAT64 : d;
}
/* The dtype of an operand or result of that kind (core_form.in) of a node of dtype d. */
damo_dtype core_dtype(char kind, damo_dtype d);
/* The node's dtype: that of the first operand 'f'; else what an operand 'c' or 'r' suggests, else float64. */
damo_dtype core_common_dtype(const core_shape *s, damo_var *const *in);

#endif
