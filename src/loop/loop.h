/* loop: loops over the elements of strided arrays.
 *
 * In: addresses, shapes and byte strides. Out: values written. Built on the walks of kernel/walk.h: iteration over one
 * array in C order, and the block driver, which runs a list of kernel steps over any number of inputs and outputs.
 * Always holds: no allocation and no failure, since the caller provides the memory; the value computed for an element
 * depends neither on strides nor on how rows are divided into blocks and shares.
 */
#ifndef DAMO_LOOP_H
#define DAMO_LOOP_H

#include "array/array.h"
#include "base/base.h"
#include "kernel/kernel.h"
#include "kernel/reduce/reduce.h"
#include "kernel/walk.h"
#include "kernel/isa.h"

/* ---- Entries of one array ---------------------------------------------------------------------------------------- */

/* Iterates over an array in C order: for (char *p = entries_begin(&e, a); p; p = entries_next(&e)) … */
typedef struct array_entries {
  nd_space space;
  nd_cursor at;
  int64_t left;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)];
} array_entries;

/* The address of the first element; NULL if the array is empty. The struct must not be moved. */
static inline char *entries_begin(array_entries *e, const damo_array *a) {
  nd_space_init(&e->space, e->numbers, a->ndim, array_shape(a), 1, (const int64_t *const[]){array_strides(a)});
  nd_space_inner(&e->space);
  nd_cursor_begin(&e->at, &e->space, a->data);
  e->left = array_size(a);
  return e->left > 0 ? a->data : NULL;
}

static inline char *entries_next(array_entries *e) {
  if (--e->left == 0) return NULL;
  nd_cursor_skip(&e->at, 1);
  return nd_cursor_address(&e->at);
}

/* The same with the index of each entry, in walk.at: for (char *p = places_begin(&e, a); p; p = places_next(&e, p)) … */
typedef struct array_places {
  nd_space space;
  nd_walk walk;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)];
} array_places;

static inline char *places_begin(array_places *e, const damo_array *a) {
  e->space = nd_space_begin(e->numbers, DAMO_MAX_NDIM, 1);
  for (int axis = 0; axis < a->ndim; axis++) {
    *nd_space_next(&e->space) = array_strides(a)[axis];
    nd_space_push_unmerged(&e->space, array_shape(a)[axis]);
  }
  return nd_begin(&e->walk, &e->space) ? a->data : NULL;
}

static inline char *places_next(array_places *e, char *p) { return nd_next(&e->walk, &p) ? p : NULL; }

/* The rows of an array along its last axis, of length entries that are step bytes apart, with the index of each row in
 * walk.at: for (char *p = rows_begin(&r, a); p; p = rows_next(&r, p)) … */
typedef struct array_rows {
  nd_space space;
  nd_walk walk;
  int64_t length, step;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)];
} array_rows;

static inline char *rows_begin(array_rows *r, const damo_array *a) {
  r->space = nd_space_begin(r->numbers, DAMO_MAX_NDIM, 1);
  for (int axis = 0; axis < a->ndim; axis++) {
    *nd_space_next(&r->space) = array_strides(a)[axis];
    nd_space_push_unmerged(&r->space, array_shape(a)[axis]);
  }
  r->length = nd_space_inner(&r->space);
  r->step = nd_inner_stride(&r->space, 0);
  return nd_begin(&r->walk, &r->space) ? a->data : NULL;
}

static inline char *rows_next(array_rows *r, char *p) { return nd_next(&r->walk, &p) ? p : NULL; }

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

/* Walks the 1-d slices along one axis of two arrays x and y, whose shapes differ along this axis at most, `count` slices
 * at a time: p[0] and p[1] are the first elements of the first slice of x and y, the next slices begin step[0] and
 * step[1] bytes further. */
typedef struct slice_walk {
  nd_space space;
  nd_walk walk;
  int64_t count, step[2];
  char *p[2];
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)];
} slice_walk;

static inline bool slice_walk_begin(slice_walk *w, const damo_array *x, const damo_array *y, int axis) {
  w->space = nd_space_begin(w->numbers, DAMO_MAX_NDIM, 2);
  for (int k = 0; k < x->ndim; k++) {
    if (k == axis) continue;
    nd_space_next(&w->space)[0] = array_strides(x)[k];
    nd_space_next(&w->space)[1] = array_strides(y)[k];
    nd_space_push(&w->space, array_shape(x)[k]);
  }
  w->count = nd_space_inner(&w->space);
  for (int i = 0; i < 2; i++) w->step[i] = nd_inner_stride(&w->space, i);
  w->p[0] = x->data;
  w->p[1] = y->data;
  return nd_begin(&w->walk, &w->space);
}

static inline bool slice_walk_next(slice_walk *w) { return nd_next(&w->walk, w->p); }

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* Where the elements of an input come from. */
typedef enum loop_load {
  LOAD_ELEMENTS,  /* a strided array */
  LOAD_TAKEN,     /* the entries of an array at positions along one of its axes */
  LOAD_POSITIONS, /* int64, from 1 or from the end from -1, and inside: read for a LOAD_TAKEN, by no step */
  LOAD_RANGE      /* start + i * step, of the index i along an axis: int64, float64, float32 */
} loop_load;

/* A register holds a block of elements of one dtype, or one value if the operands are broadcast along rows. */
typedef struct loop_reg {
  uint8_t dtype;
  bool is_row;       /* of a program with folds: one value a row */
  uint8_t load;      /* loop_load, of an input */
  int16_t positions; /* of a LOAD_TAKEN: the input that has them */
} loop_reg;

/* The operand of a LOAD_RANGE: floats for results that are floats. */
typedef struct loop_range {
  union {
    int64_t i;
    double f;
  } start, step;
} loop_range;

/* Whether ranges may have that dtype. */
static inline bool loop_range_has(damo_dtype dtype) {
  return dtype == DAMO_INT64 || dtype == DAMO_FLOAT64 || dtype == DAMO_FLOAT32;
}

/* Writes n values of that dtype: those at the indices i, i + by, …. */
void loop_range_fill(const loop_range *r, damo_dtype dtype, int64_t i, int64_t by, void *to, int64_t n);

typedef enum loop_kind {
  LOOP_KERNEL,
  LOOP_CAST,
  LOOP_FOLD, /* reduces a row to one value */
  LOOP_PICK, /* of (elements, position): the element at the position that a row has */
  LOOP_PLACE /* of (value, position): zeros but for the value of a row at its position; of (position): a one there */
} loop_kind;

#define LOOP_STEP_REGS 14

/* One kernel over registers of the same length, or one of the other kinds, which programs with rows have. */
typedef struct loop_step {
  uint8_t kind; /* loop_kind */
  uint8_t n_in, n_out;
  uint16_t ns;                 /* of a kernel that takes long: about so many for an element; 0: it is cheap */
  bool over_rows;              /* of a program with folds: all its registers have one value a row */
  int16_t pass;                /* of a program with folds */
  int16_t axes;                /* of a fold: how many of the last axes it reduces; 0: those of a row */
  int16_t part;                /* what the maker of the program has put there */
  uint16_t firsts;             /* inputs, a bit each, of which the kernel reads the first element of a block alone */
  uint16_t values;             /* further ones of which by_value does */
  int16_t reg[LOOP_STEP_REGS]; /* inputs, then outputs, in the kernel's order */
  union {
    kernel_fn kernel;
    cast_fn cast;
    reduce_kind fold; /* not logsumexp */
  } fn;
  kernel_fn by_value; /* or NULL: the same as fn.kernel where each of `values` is one value for a whole block */
} loop_step;

/* The computation for each element: plain immutable data without addresses of operands. Operand k is register k: inputs
 * first, then outputs; registers after these are temporaries. Each register is written by one step, before others read
 * it; each output is written by a step; an input that no step reads is not accessed. An output may share the memory of
 * an input of the same element size, element for element, if no later step reads that input.
 *
 * A program with folds has passes. Elements are in rows, and a row register has one value for each: an input that does
 * not move along rows, a fold's result, or what a step makes of row registers alone. A fold's result is there when its
 * pass ends: a step over elements that reads it has a later pass, a step over rows runs before the pass it has, which
 * may be n_passes. Steps are in the order of passes, those over rows first in each. A fold over more or fewer axes than
 * those of a row gives an output that no step reads. Positions are int64, one a row, from 1, and inside it: the caller has
 * checked them. What is picked is there when its pass ends. */
typedef struct loop_program {
  int32_t n_in, n_out, n_regs, n_steps;
  int32_t n_passes;  /* 0: there are no folds */
  int32_t max_block; /* a block has so many elements at most; 0: as many as fit in L1 */
  const loop_reg *regs;
  const loop_step *steps;
} loop_program;

#define LOOP_LOAD_STRIDES 2 /* numbers beside the strides of an operand (loop_plan_init) */

/* The plan of a program without folds for operands of given shapes and strides: immutable once made. */
typedef struct loop_plan loop_plan;

/* Bytes of a plan of that program for results of that rank. */
size_t loop_plan_bytes(const loop_program *lp, int ndim);
/* Makes a plan in memory of loop_plan_bytes. shape: that of the iteration; strides[k][axis]: byte stride of operand k,
 * 0 if an input is broadcast. Of a LOAD_TAKEN, 0 along the axes of its positions; strides[k][ndim] and [ndim + 1] are
 * the stride and the length of the axis that they are on. Of a LOAD_RANGE, 1 along the axis of its index, else 0; its
 * address is that of a loop_range. The program must outlive the plan. */
loop_plan *loop_plan_init(void *memory, const loop_program *lp, int ndim, const int64_t *shape,
                          const int64_t *const *strides);
/* Bytes of workspace of a run, 64-byte aligned; 0: none. */
size_t loop_workspace(const loop_plan *plan);
/* The rows of the iteration, which may be divided into any shares for loop_run; 0: nothing to do. */
int64_t loop_rows(const loop_plan *plan);
/* Runs rows [row, end). base: the operands' first elements. */
void loop_run(const loop_plan *plan, char *const *base, void *workspace, int64_t row, int64_t end);
/* Runs all rows, divided among the threads of the pool (NULL: this one), with the same bits for any number of them. */
size_t loop_workspace_on(const thread_pool *pool, const loop_plan *plan);
void loop_run_on(thread_pool *pool, const loop_plan *plan, char *const *base, void *workspace);
/* About how many nanoseconds a run takes. */
double loop_cost(const loop_plan *plan);

/* The plan of a program with folds, whose rows are the last n_axes axes. A run's share of rows must hold whole sequences
 * of all folds. Strides of row registers along these are not
 * read; row outputs are C-contiguous, and their strides are not read at all. */
typedef struct pass_plan pass_plan;

size_t pass_plan_bytes(const loop_program *lp, int ndim);
pass_plan *pass_plan_init(void *memory, const loop_program *lp, const kernel_isa *isa, int ndim, const int64_t *shape,
                          const int64_t *const *strides, int n_axes);
size_t pass_workspace(const pass_plan *plan);
int64_t pass_rows(const pass_plan *plan);
void pass_run(const pass_plan *plan, char *const *base, void *workspace, int64_t row, int64_t end);
/* As loop_run_on: all rows, and where these are few and long, parts of each. */
size_t pass_workspace_on(const thread_pool *pool, const pass_plan *plan);
void pass_run_on(thread_pool *pool, const pass_plan *plan, char *const *base, void *workspace);
double pass_cost(const pass_plan *plan);

/* The plan of the same program for rows that lie side by side in memory, as those of a reduction over leading axes: a
 * strip of rows runs together, and a block has an element of each of them at one position, or at a few. */
typedef struct strip_plan strip_plan;

/* Whether strips suit these operands better than rows: they are nearer to each other across rows than along them. Only
 * for programs whose folds are over the axes of a row, and without picks, places and other loads than LOAD_ELEMENTS. */
bool strip_suits(const loop_program *lp, int ndim, const int64_t *shape, const int64_t *const *strides, int n_axes);
size_t strip_plan_bytes(const loop_program *lp, int ndim);
/* As pass_plan_init, where strip_suits; the strides of row outputs are read, and lie as C-contiguous ones. */
strip_plan *strip_plan_init(void *memory, const loop_program *lp, const kernel_isa *isa, int ndim, const int64_t *shape,
                            const int64_t *const *strides, int n_axes);
/* As loop_run_on: all strips, divided among the threads of the pool. */
size_t strip_workspace_on(const thread_pool *pool, const strip_plan *plan);
void strip_run_on(thread_pool *pool, const strip_plan *plan, char *const *base, void *workspace);
double strip_cost(const strip_plan *plan);

#endif
