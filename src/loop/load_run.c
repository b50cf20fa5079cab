/* load_run: inputs that are no strided arrays: entries at positions along an axis of one, and ranges. Their elements come
 * into a block as those of a strided array that is gathered, so a step does not know them apart. */
#include <string.h>

#include "loop_int.h"

/* Rows of elements of x, and of their positions. */
typedef struct taken_rows {
  nd_piece x, at;
  int64_t step, at_step; /* along a row */
  loop_taken axis;
} taken_rows;

static inline int64_t taken_offset(loop_taken axis, const char *position) {
  const int64_t at = *(const int64_t *)(const void *)position;
  return (at > 0 ? at - 1 : at + axis.length) * axis.stride;
}

/* One position for each row, whose elements are contiguous in x. */
static void take_whole(const taken_rows *r, char *to, size_t bytes) {
  const loop_taken axis = r->axis;
  const char *x = r->x.p, *at = r->at.p;
  for (int64_t row = 0; row < r->x.rows; row++, x += r->x.pitch, at += r->at.pitch, to += bytes)
    memcpy(to, x + taken_offset(axis, at), bytes);
}

/* One position for each row. */
static inline void take_by_row(const taken_rows *r, char *to, const size_t size) {
  const int64_t n = r->x.length, step = r->step;
  for (int64_t row = 0; row < r->x.rows; row++) {
    const char *x = r->x.p + row * r->x.pitch + taken_offset(r->axis, r->at.p + row * r->at.pitch);
    for (int64_t j = 0; j < n; j++, to += size) memcpy(to, x + j * step, size);
  }
}

/* One position for each element. */
static inline void take_each(const taken_rows *r, char *to, const size_t size) {
  const loop_taken axis = r->axis;
  const int64_t n = r->x.length, step = r->step, at_step = r->at_step;
  for (int64_t row = 0; row < r->x.rows; row++) {
    const char *x = r->x.p + row * r->x.pitch, *at = r->at.p + row * r->at.pitch;
    for (int64_t j = 0; j < n; j++, to += size) memcpy(to, x + j * step + taken_offset(axis, at + j * at_step), size);
  }
}

static inline void take_rows(const taken_rows *r, char *to, const size_t size) {
  if (r->at_step == 0)
    take_by_row(r, to, size);
  else
    take_each(r, to, size);
}

static void take_piece(const taken_rows *r, char *to, size_t size) {
  if (r->at_step == 0 && r->step == (int64_t)size) {
    take_whole(r, to, (size_t)r->x.length * size);
    return;
  }
  switch (size) {
    case 1: take_rows(r, to, 1); break;
    case 2: take_rows(r, to, 2); break;
    case 4: take_rows(r, to, 4); break;
    case 8: take_rows(r, to, 8); break;
    default: take_rows(r, to, 16); break;
  }
}

/* x and positions walk over the same axes. */
static void load_taken(nd_cursor *x, nd_cursor *positions, const loop_taken *axis, char *to, int64_t n, size_t size) {
  while (n > 0) {
    const taken_rows r = {nd_cursor_take(x, n), nd_cursor_take(positions, n), x->step, positions->step, *axis};
    damo_assert(r.x.rows == r.at.rows && r.x.length == r.at.length);
    take_piece(&r, to, size);
    to += r.x.rows * r.x.length * (int64_t)size;
    n -= r.x.rows * r.x.length;
  }
}

void loop_range_fill(const loop_range *r, damo_dtype dtype, int64_t i, int64_t by, void *to, int64_t n) {
  if (dtype == DAMO_INT64) {
    for (int64_t j = 0; j < n; j++)
      ((int64_t *)to)[j] = (int64_t)((uint64_t)r->start.i + (uint64_t)(i + j * by) * (uint64_t)r->step.i);
  } else if (dtype == DAMO_FLOAT32) {
    for (int64_t j = 0; j < n; j++) ((float *)to)[j] = (float)(r->start.f + (double)(i + j * by) * r->step.f);
  } else {
    for (int64_t j = 0; j < n; j++) ((double *)to)[j] = r->start.f + (double)(i + j * by) * r->step.f;
  }
}

/* A range's cursor moves by one byte an index from the address of the loop_range. */
static void load_range(nd_cursor *c, const char *base, damo_dtype dtype, char *to, int64_t n) {
  const loop_range *r = (const loop_range *)(const void *)base;
  while (n > 0) {
    const int64_t left = c->length - c->pos, m = n < left ? n : left;
    loop_range_fill(r, dtype, nd_cursor_address(c) - base, c->step, to, m);
    nd_cursor_skip(c, m);
    to += m * (int64_t)dtype_size(dtype);
    n -= m;
  }
}

void loop_load_run(const loop_program *lp, int k, nd_cursor *cursor, const char *base, const loop_taken *axis,
                   void *block, int64_t n) {
  const loop_reg *r = &lp->regs[k];
  const size_t size = dtype_size((damo_dtype)r->dtype);
  if (r->load == LOAD_TAKEN)
    load_taken(&cursor[k], &cursor[r->positions], axis, block, n, size);
  else
    load_range(&cursor[k], base, (damo_dtype)r->dtype, block, n);
}
