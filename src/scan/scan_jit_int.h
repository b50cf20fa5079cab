/* scan_jit_int.h: private to scan/: the code of a loop of 0-d values, short vectors and small matrices, for scan_jit.c,
 * which makes it, scan_jit_run.c, which runs it, and scan_replay_jit.c, which runs two of them in turn. */
#ifndef DAMO_SCAN_SCAN_JIT_INT_H
#define DAMO_SCAN_SCAN_JIT_INT_H

#include "jit/jit.h"
#include "op/elem/elem_jit.h"
#include "scan_frame.h"

#define SCAN_NO_SLOT (-1)
/* A step may take several times as long as the code's length says, where each instruction waits for the one before. Where
 * it takes less, the shares grow, but to no more steps than POLL_NS is for, since a branch not taken yet may be longer. */
#define SCAN_SHARES 8
#define SCAN_MOST_ENTRIES OP_MOVES_MOST /* of a vector */
#define SCAN_MATRIX_ENTRIES ELEM_MATRIX_MOST
_Static_assert(SCAN_MOST_ENTRIES == ELEM_VECTOR_MOST, "vectors of both have the same length");

/* Where the frame of the code has what belongs to a part. */
typedef struct native_part {
  /* Sequence: the address of the first entry of each tap. State, fixed: entry i, in C order, of the value k + 1 steps
   * back, or of the value, is value[k * most + i]. Collected: those of the last value. */
  int32_t *value;
  jit_value *newest; /* state, while code is made: the value before the step */
  int32_t most;      /* entries that a value of its rank has at most */
  int32_t n;         /* the entries of the value; a 0-d one has 1 */
  int32_t columns;   /* of a matrix; 0: it is none */
  int8_t ndim;       /* of the value */
  int32_t stride;    /* sequence: the stride of its rows */
  int32_t along[2];  /* sequence: the strides of the axes of a row */
  int32_t row, to;   /* the address of the stack's row, and how it moves */
  char *base;        /* of the stack, in a run */
  damo_array *own;   /* the stack while its length is unknown, owned */
  int64_t cap;
} native_part;

/* Rows of the value; a vector has one for each entry. */
static inline int64_t native_rows(const native_part *p) { return p->columns > 0 ? p->n / p->columns : p->n; }

/* A number that a run of scalars reads from an input's cell, or gives as an output. */
typedef struct native_number {
  int32_t at, slot; /* at: the cell, or the output's number */
  damo_dtype dtype;
} native_number;

struct scan_native {
  jit_code *code;
  jit_slot *frame;
  size_t frame_bytes, bytes;
  int32_t nowhere; /* the first of the slots for rows that are not kept */
  bool is_scalar;  /* operands are numbers alone, results last values of numbers: scan_native_run_scalars */
  int32_t n_reads, n_gives;
  native_number *reads, *gives; /* if it is */
  int64_t share;                /* steps of the first share, of SCAN_SHARES that take POLL_NS by the code's length */
  int64_t known;                /* steps of a share, as the runs so far have shown */
  native_part part[];
};

/* Puts a sequence's rows of that step, counted from 0, where the code begins to read. */
void scan_native_place_sequence(const scan_class *s, const scan_part *p, const damo_array *a, scan_native *n,
                                int64_t step);
/* Puts the operands into the code's frame, but those that are fed. */
void scan_native_load(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w, scan_native *n);
/* Space for the stacked results of `total` steps. */
damo_status scan_native_begin_stacks(const thunk *t, frame *f, const scan_class *s, scan_native *n, int64_t total);
/* Sets where step k of `total` stores its rows, and how that moves. Returns for how many steps that is so. */
int64_t scan_native_place_rows(const scan_class *s, scan_native *n, int64_t k, int64_t total);
/* Gives all results after so many steps. */
damo_status scan_native_give(const thunk *t, frame *f, const scan_class *s, const scan_native *n, int64_t steps);

#endif
