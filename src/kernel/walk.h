/* walk: iteration over n-d boxes of elements, for any number of strided operands at once.
 *
 * An nd_space is what is iterated over: axes with their lengths, and for each axis the bytes that each operand moves
 * along it (0: the operand is broadcast along it; negative: it runs backwards). It is immutable once made, holds no
 * address of an operand, and any number of walks go over it at the same time. An nd_walk is one position in it, and may
 * be set to any row, so that threads, slices and reverse order begin anywhere. An nd_cursor reads or writes one operand
 * in C order, any number of elements at a time.
 *
 * Axes are pushed from the outermost to the innermost. An axis that runs on from the one before it, for every operand,
 * is merged with it: stride(outer) = stride(inner) * length(inner). The last n_core axes are core axes: they belong to
 * the callee (the matrix of a stack of products, the innermost axis of a loop) and are not walked. What is walked are
 * rows: the positions of the other axes, in C order.
 *
 * No allocation and no failure: the caller brings the memory of a space, ND_NUMBERS entries.
 */
#ifndef DAMO_KERNEL_WALK_H
#define DAMO_KERNEL_WALK_H

#include "base/base.h"

/* Entries that a space of so many axes (1 where there are none) and operands needs. */
#define ND_NUMBERS(n_axes, n_ops) ((n_axes) * ((n_ops) + 1))

typedef struct nd_space {
  int32_t n_axes; /* the core axes among them */
  int32_t n_core;
  int32_t n_ops;
  int32_t pitch;   /* entries of stride from one axis to the next; more than n_ops in a space of nd_space_operand */
  int64_t rows;    /* positions of the walked axes; 0 where one of them is empty */
  int64_t *shape;  /* lengths of the axes */
  int64_t *stride; /* operand k moves by stride[axis * pitch + k] bytes */
} nd_space;

/* A space without axes: one row. numbers: ND_NUMBERS(max_axes, n_ops) entries, which outlive the space. */
static inline nd_space nd_space_begin(int64_t *numbers, int max_axes, int n_ops) {
  return (nd_space){.n_ops = n_ops, .pitch = n_ops, .rows = 1, .shape = numbers, .stride = numbers + max_axes};
}

/* Where the strides of the next axis are written before it is pushed: n_ops entries. */
static inline int64_t *nd_space_next(const nd_space *s) { return s->stride + (int64_t)s->n_axes * s->pitch; }

/* Pushes an axis, whose strides stand in nd_space_next: dropped when its length is 1, merged when it runs on. */
void nd_space_push(nd_space *s, int64_t length);
/* Pushes an axis that stays an axis of its own, whatever its length. */
void nd_space_push_apart(nd_space *s, int64_t length);

/* The space over these axes of operands with these strides. numbers: ND_NUMBERS(ndim ? ndim : 1, n_ops) entries. */
void nd_space_init(nd_space *s, int64_t *numbers, int ndim, const int64_t *shape, int n_ops,
                   const int64_t *const *strides);

/* Hands the n innermost axes to the callee. */
void nd_space_core(nd_space *s, int n);
/* Hands the innermost axis to the callee, who then takes a row at a time; without axes it is one of length 1. Where the
 * axis is empty there are no rows. Returns its length. */
int64_t nd_space_inner(nd_space *s);

/* The space of operand k alone, with the same axes. Shares the memory of s. */
static inline nd_space nd_space_operand(const nd_space *s, int k) {
  nd_space one = *s;
  one.n_ops = 1;
  one.stride = s->stride + k;
  return one;
}

/* Length of the innermost axis, and what operand k moves along it. */
static inline int64_t nd_inner_length(const nd_space *s) { return s->shape[s->n_axes - 1]; }
static inline int64_t nd_inner_stride(const nd_space *s, int k) {
  return s->stride[(int64_t)(s->n_axes - 1) * s->pitch + k];
}

/* Where operand k has one element for all rows. */
bool nd_is_same_in_all_rows(const nd_space *s, int k);
/* Where operand k, of elements of that size, lies in C order without gaps: the core axes too. */
bool nd_is_contiguous(const nd_space *s, int k, size_t size);

/* The 0-based position of element number k, in C order, of an array of that shape. */
void nd_index(int ndim, const int64_t *shape, int64_t k, int64_t *index);

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

/* A position among the rows of a space. The operands' addresses are the caller's own: nd_next and nd_seek move them. */
typedef struct nd_walk {
  const nd_space *space;
  int64_t row;
  int64_t at[DAMO_MAX_NDIM]; /* along the walked axes */
} nd_walk;

/* At row 0, where the operands' addresses are those of their first elements. False where there are no rows. */
static inline bool nd_begin(nd_walk *w, const nd_space *s) {
  w->space = s;
  w->row = 0;
  for (int axis = 0; axis < s->n_axes - s->n_core; axis++) w->at[axis] = 0;
  return s->rows > 0;
}

/* nd_next past the end of the innermost walked axis. */
bool nd_carry(nd_walk *w, char **p);

/* Goes to the next row and moves the n_ops addresses in p. False past the last row; the walk is at row 0 again then, and
 * so are the addresses. */
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

/* Goes to that row, 0 <= row < rows, from wherever the walk is. */
void nd_seek(nd_walk *w, int64_t row, char **p);

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

/* Reads or writes one operand in C order. */
typedef struct nd_cursor {
  nd_walk walk;
  char *p;     /* the current row's first element */
  int64_t pos; /* elements of the row that are done */
  int64_t length, step;
} nd_cursor;

/* At the first element, whose address is p. The space has one operand and one core axis (nd_space_inner). */
void nd_cursor_begin(nd_cursor *c, const nd_space *s, char *p);
static inline char *nd_cursor_address(const nd_cursor *c) { return c->p + c->pos * c->step; }
/* Goes on by n elements, not past the end of the row. */
static inline void nd_cursor_skip(nd_cursor *c, int64_t n) {
  c->pos += n;
  if (c->pos < c->length) return;
  c->pos = 0;
  nd_next(&c->walk, &c->p);
}
/* The next n elements of that size into a contiguous block, or out of one. */
void nd_cursor_read(nd_cursor *c, void *block, int64_t n, size_t size);
void nd_cursor_write(nd_cursor *c, const void *block, int64_t n, size_t size);

#endif
