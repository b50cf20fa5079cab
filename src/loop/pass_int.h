/* pass_int: the plan of a program with folds: made by pass_plan.c, run by pass_run.c. */
#ifndef DAMO_LOOP_PASS_INT_H
#define DAMO_LOOP_PASS_INT_H

#include "loop.h"
#include "loop_int.h"

typedef enum pass_home {
  HOME_NONE,      /* not accessed */
  HOME_DIRECT,    /* an operand that is used where it lies */
  HOME_BUFFER,    /* in the workspace, for a gathered or scattered operand too */
  HOME_POSITIONS, /* of an input that is loaded by them: a cursor alone */
  HOME_VALUES,    /* a row register in the workspace */
  HOME_RESULT     /* a row register that is an output */
} pass_home;

typedef struct pass_reg {
  uint8_t home; /* pass_home */
  uint8_t size; /* bytes of an element */
  bool is_row;
  bool same;           /* an input that is the same for all rows */
  bool along;          /* its address moves along with the blocks of a row */
  bool lends;          /* its buffer may serve another register after `last` */
  bool expanded;       /* a row register that a step over elements reads */
  int32_t stamp;       /* the last pass that lists it, + 1 */
  int32_t first, last; /* steps between which a buffer is needed; last is -1 if nothing reads it */
  size_t buffer, values;
  nd_space space; /* of its cursor: the elements of a gathered or scattered operand; one value a row */
  loop_taken taken;
} pass_reg;

/* Register numbers, in the plan's pool. */
typedef struct pass_list {
  int32_t from, end;
} pass_list;

/* A pass. Steps [rows, steps) are over row registers and run before it, [steps, end) over the elements. */
typedef struct pass_span {
  int32_t rows, steps, end;
  pass_list expand, along, gather, scatter;
} pass_span;

/* What a fold over other axes has between blocks. */
typedef struct pass_stream {
  int64_t length;  /* elements of each result */
  int64_t seen;    /* of the result in hand */
  int64_t results; /* that are written */
  int64_t staged;  /* elements in `block` that the fold has not seen */
  _Alignas(64) char block[REDUCE_FOLD_BLOCK * 16];
} pass_stream;

struct pass_plan {
  const loop_program *lp;
  const kernel_isa *isa;
  nd_space outer;      /* rows, over the operands that are used in place and those of one value a row */
  int64_t rows, inner; /* rows, and the elements of each */
  int64_t chunk;       /* rows taken together */
  int64_t block;       /* elements of a block: of a row, or of the rows of a chunk */
  size_t workspace, addresses, cursors, folds, streams, reducing;
  int32_t n_folds, n_streams;
  int32_t ndim;
  int64_t *shape; /* of the iteration space */
  pass_reg *reg;
  pass_span *span; /* n_passes, and one for the row steps after the last */
  int16_t *pool;
  int32_t n_pool;
};

/* Whether a step over elements runs by the kernel for values: a block is of one row. */
static inline bool pass_by_value(const pass_plan *p, const loop_step *s) {
  return p->chunk == 1 && s->by_value != NULL;
}

static inline int pass_operands(const loop_program *lp) { return lp->n_in + lp->n_out; }

#endif
