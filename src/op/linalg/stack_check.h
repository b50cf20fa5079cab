/* stack_check: the entries of a stack one after the other, for checks of classes with a core signature. Private to the
 * family (decompose_check.c, spectral_check.c). */
#ifndef DAMO_OP_LINALG_STACK_CHECK_H
#define DAMO_OP_LINALG_STACK_CHECK_H

#include "core.h"
#include "graph/op_check.h"

/* in, out: where the matrices of the entry begin. */
typedef struct stack_exam {
  const op_exam *e;
  int64_t row, rows;
  const char *in[CORE_MOST], *out[CORE_MOST];
} stack_exam;

static inline const damo_array *stack_operand(const op_exam *e, int i) { return (const damo_array *)e->values[i]; }
static inline const damo_array *stack_result(const op_exam *e, int o) { return (const damo_array *)e->results[o]; }

/* False: an operand is too large to be checked. */
bool stack_exam_begin(stack_exam *s, const op_exam *e);
/* Goes to the next entry, at first to the first one; false: there is none. */
bool stack_exam_next(stack_exam *s);

#endif
