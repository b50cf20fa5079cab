/* walk: iteration over n-d arrays, for any number of strided operands at once.
 *
 * An nd_space is what is iterated over: axes with their lengths, and for each axis the byte stride of each operand (0:
 * the operand is broadcast along it; negative: it is reversed). It is immutable once made, holds no address of an
 * operand, and any number of walks may use it at the same time. An nd_walk is a position in it, and may be set to any
 * row, so that threads, slices and reverse order can start anywhere. An nd_cursor reads or writes one operand in C
 * order, any number of elements at a time.
 *
 * Axes are pushed from the outermost to the innermost. An axis is merged with the one before it if that is possible for
 * every operand: stride(outer) = stride(inner) * length(inner). The last n_core axes are core axes: they belong to the
 * callee (the matrix of a stack of products, the innermost axis of a loop) and are not walked. A walk visits rows: the
 * positions of the other axes, in C order.
 *
 * No allocation and no failure: the caller provides the memory of a space, ND_NUMBERS elements.
 */
#ifndef DAMO_KERNEL_WALK_H
#define DAMO_KERNEL_WALK_H

#include "base/base.h"

/* Elements that a space of so many axes (1 if there are none) and operands needs. */
#define ND_NUMBERS(n_axes, n_ops) ((n_axes) * ((n_ops) + 1))

typedef struct nd_space {
  int32_t n_axes; /* including the core axes */
  int32_t n_core;
  int32_t n_ops;
  int32_t pitch;   /* distance in `stride` from one axis to the next; more than n_ops in a space of nd_space_operand */
  int64_t rows;    /* positions of the walked axes; 0 if one of them is empty */
  int64_t *shape;  /* lengths of the axes */
  int64_t *stride; /* operand k moves by stride[axis * pitch + k] bytes */
} nd_space;

/* A space without axes: one row. numbers: ND_NUMBERS(max_axes, n_ops) elements, which must outlive the space. */
static inline nd_space nd_space_begin(int64_t *numbers, int max_axes, int n_ops) {
  return (nd_space){.n_ops = n_ops, .pitch = n_ops, .rows = 1, .shape = numbers, .stride = numbers + max_axes};
}

/* Where the caller writes the n_ops strides of the next axis before it pushes the axis. */
static inline int64_t *nd_space_next(const nd_space *s) { return s->stride + (int64_t)s->n_axes * s->pitch; }

/* Pushes an axis, whose strides are in nd_space_next: dropped if its length is 1, merged with the axis before if
 * possible. */
void nd_space_push(nd_space *s, int64_t length);
/* Pushes an axis without dropping or merging it. */
void nd_space_push_unmerged(nd_space *s, int64_t length);

/* The space over these axes of operands with these strides. numbers: ND_NUMBERS(ndim ? ndim : 1, n_ops) elements. */
void nd_space_init(nd_space *s, int64_t *numbers, int ndim, const int64_t *shape, int n_ops,
                   const int64_t *const *strides);

/* Makes the n innermost axes core axes. */
void nd_space_core(nd_space *s, int n);
/* Makes the innermost axis a core axis, so that a walk visits rows; a space without axes gets one of length 1. If the
 * axis is empty there are no rows. Returns its length. */
int64_t nd_space_inner(nd_space *s);

/* The space of operand k alone, with the same axes. Shares the memory of s. */
static inline nd_space nd_space_operand(const nd_space *s, int k) {
  nd_space one = *s;
  one.n_ops = 1;
  one.stride = s->stride + k;
  return one;
}

/* The length of the innermost axis, and operand k's stride along it. */
static inline int64_t nd_inner_length(const nd_space *s) { return s->shape[s->n_axes - 1]; }
static inline int64_t nd_inner_stride(const nd_space *s, int k) {
  return s->stride[(int64_t)(s->n_axes - 1) * s->pitch + k];
}

/* Whether all walked strides of operand k are 0: every row of it is the same memory. */
bool nd_is_same_in_all_rows(const nd_space *s, int k);
/* Whether operand k, with elements of that size, is C-contiguous, core axes included. */
bool nd_is_contiguous(const nd_space *s, int k, size_t size);

/* The 0-based position of element number k, in C order, of an array of that shape. */
void nd_index(int ndim, const int64_t *shape, int64_t k, int64_t *index);

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

/* A position among the rows of a space. The operands' addresses belong to the caller: nd_next and nd_seek move them. */
typedef struct nd_walk {
  const nd_space *space;
  int64_t row;
  int64_t at[DAMO_MAX_NDIM]; /* index along each walked axis */
} nd_walk;

/* Starts at row 0, where the operands' addresses are those of their first elements. False if there are no rows. */
static inline bool nd_begin(nd_walk *w, const nd_space *s) {
  w->space = s;
  w->row = 0;
  for (int axis = 0; axis < s->n_axes - s->n_core; axis++) w->at[axis] = 0;
  return s->rows > 0;
}

/* nd_next past the end of the innermost walked axis: carries to outer axes. */
bool nd_carry(nd_walk *w, char **p);

/* Moves to the next row and moves the n_ops addresses in p. Returns false past the last row; the walk and the addresses
 * are then back at row 0. */
static inline bool nd_next(nd_walk *w, char **p) {
  const nd_space *s = w->space;
  const int axis = s->n_axes - s->n_core - 1;
  if (axis < 0 || w->at[axis] + 1 == s->shape[axis]) return nd_carry(w, p);
  const int64_t *stride = s->stride + (int64_t)axis * s->pitch;
  for (int k = 0; k < s->n_ops; k++) p[k] += stride[k];
  w->at[axis]++;
  w->row++;
  return true;
}

/* Moves to that row, 0 <= row < rows, from any row. */
void nd_seek(nd_walk *w, int64_t row, char **p);

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

/* Reads or writes one operand in C order. */
typedef struct nd_cursor {
  nd_walk walk;
  char *p;     /* the current row's first element */
  int64_t pos; /* elements of the row already processed */
  int64_t length, step;
} nd_cursor;

/* Starts at the first element, whose address is p. The space has one operand and one core axis (nd_space_inner). */
void nd_cursor_begin(nd_cursor *c, const nd_space *s, char *p);
static inline char *nd_cursor_address(const nd_cursor *c) { return c->p + c->pos * c->step; }
/* Advances by n elements, not past the end of the row. */
static inline void nd_cursor_skip(nd_cursor *c, int64_t n) {
  c->pos += n;
  if (c->pos < c->length) return;
  c->pos = 0;
  nd_next(&c->walk, &c->p);
}
/* The next piece of at most n elements, as rows of equal length that are `pitch` bytes apart: whole rows, up to the end
 * of the innermost walked axis, or a part of one row. Advances past it. */
typedef struct nd_piece {
  char *p;
  int64_t rows, pitch, length;
} nd_piece;

nd_piece nd_cursor_take(nd_cursor *c, int64_t n);
/* Copies the next n elements of that size to a contiguous block, or from one. */
void nd_cursor_read(nd_cursor *c, void *block, int64_t n, size_t size);
void nd_cursor_write(nd_cursor *c, const void *block, int64_t n, size_t size);

#endif
