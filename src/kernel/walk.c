/* walk: construction and merging of spaces, positioning of walks, cursors (walk.h). */
#include "walk.h"

#include "kernel_int.h"

/* Whether the axis in nd_space_next can be merged with the one before it, for every operand. */
static bool nd_runs_on(const nd_space *s, int64_t length) {
  const int64_t *inner = nd_space_next(s), *outer = inner - s->pitch;
  for (int k = 0; k < s->n_ops; k++) {
    if (outer[k] != inner[k] * length) return false;
  }
  return true;
}

void nd_space_push_unmerged(nd_space *s, int64_t length) {
  s->rows *= length;
  s->shape[s->n_axes++] = length;
}

void nd_space_push(nd_space *s, int64_t length) {
  if (length == 1) return;
  if (s->n_axes == 0 || !nd_runs_on(s, length)) {
    nd_space_push_unmerged(s, length);
    return;
  }
  const int64_t *inner = nd_space_next(s);
  int64_t *outer = s->stride + (int64_t)(s->n_axes - 1) * s->pitch;
  for (int k = 0; k < s->n_ops; k++) outer[k] = inner[k];
  s->shape[s->n_axes - 1] *= length;
  s->rows *= length;
}

void nd_space_init(nd_space *s, int64_t *numbers, int ndim, const int64_t *shape, int n_ops,
                   const int64_t *const *strides) {
  *s = nd_space_begin(numbers, ndim ? ndim : 1, n_ops);
  for (int axis = 0; axis < ndim; axis++) {
    int64_t *stride = nd_space_next(s);
    for (int k = 0; k < n_ops; k++) stride[k] = strides[k][axis];
    nd_space_push(s, shape[axis]);
  }
}

void nd_space_core(nd_space *s, int n) {
  s->n_core = n;
  s->rows = 1;
  for (int axis = 0; axis < s->n_axes - n; axis++) s->rows *= s->shape[axis];
}

int64_t nd_space_inner(nd_space *s) {
  if (s->n_axes == 0) {
    for (int k = 0; k < s->n_ops; k++) nd_space_next(s)[k] = 0;
    nd_space_push_unmerged(s, 1);
  }
  const int64_t length = nd_inner_length(s);
  nd_space_core(s, 1);
  if (length == 0) s->rows = 0;
  return length;
}

bool nd_is_same_in_all_rows(const nd_space *s, int k) {
  for (int axis = 0; axis < s->n_axes - s->n_core; axis++) {
    if (s->stride[(int64_t)axis * s->pitch + k] != 0) return false;
  }
  return true;
}

bool nd_is_contiguous(const nd_space *s, int k, size_t size) {
  int64_t step = (int64_t)size;
  for (int axis = s->n_axes - 1; axis >= 0; axis--) {
    if (s->shape[axis] != 1 && s->stride[(int64_t)axis * s->pitch + k] != step) return false;
    step *= s->shape[axis];
  }
  return true;
}

void nd_index(int ndim, const int64_t *shape, int64_t k, int64_t *index) {
  for (int axis = ndim - 1; axis >= 0; axis--) {
    index[axis] = k % shape[axis];
    k /= shape[axis];
  }
}

bool nd_carry(nd_walk *w, char **p) {
  const nd_space *s = w->space;
  w->row++;
  for (int axis = s->n_axes - s->n_core - 1; axis >= 0; axis--) {
    const int64_t *stride = s->stride + (int64_t)axis * s->pitch;
    if (++w->at[axis] < s->shape[axis]) {
      for (int k = 0; k < s->n_ops; k++) p[k] += stride[k];
      return true;
    }
    w->at[axis] = 0;
    for (int k = 0; k < s->n_ops; k++) p[k] -= stride[k] * (s->shape[axis] - 1);
  }
  w->row = 0;
  return false;
}

void nd_seek(nd_walk *w, int64_t row, char **p) {
  const nd_space *s = w->space;
  w->row = row;
  for (int axis = s->n_axes - s->n_core - 1; axis >= 0; axis--) {
    const int64_t rest = row / s->shape[axis], to = row - rest * s->shape[axis], steps = to - w->at[axis];
    for (int k = 0; k < s->n_ops; k++) p[k] += s->stride[(int64_t)axis * s->pitch + k] * steps;
    w->at[axis] = to;
    row = rest;
  }
}

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

void nd_cursor_begin(nd_cursor *c, const nd_space *s, char *p) {
  nd_begin(&c->walk, s);
  c->p = p;
  c->pos = 0;
  c->length = nd_inner_length(s);
  c->step = nd_inner_stride(s, 0);
}

nd_piece nd_cursor_take(nd_cursor *c, int64_t n) {
  const nd_space *s = c->walk.space;
  const int axis = s->n_axes - 2;
  const int64_t left = c->length - c->pos;
  nd_piece piece = {nd_cursor_address(c), 1, 0, n < left ? n : left};
  if (axis >= 0 && c->pos == 0 && n >= 2 * c->length) {
    const int64_t rows = n / c->length, more = s->shape[axis] - c->walk.at[axis];
    piece.rows = rows < more ? rows : more;
    piece.pitch = s->stride[(int64_t)axis * s->pitch];
    c->p += piece.pitch * (piece.rows - 1);
    c->walk.at[axis] += piece.rows - 1;
    c->walk.row += piece.rows - 1;
  }
  nd_cursor_skip(c, piece.length);
  return piece;
}

/* Elements of the two innermost axes that are read as one tile. */
#define TILE_MOST 64

/* Where the two innermost axes are short, reads whole tiles of them, up to the end of the axis before these: one loop
 * instead of one for each tile. Returns the number of elements read, 0 where a tile does not begin or fit. */
static int64_t nd_cursor_read_tiles(nd_cursor *c, char *block, int64_t n, size_t size) {
  const nd_space *s = c->walk.space;
  const int axis = s->n_axes - 3;
  if (axis < 0 || c->pos > 0 || c->walk.at[axis + 1] > 0 || c->length > TILE_MOST / s->shape[axis + 1]) return 0;
  const int64_t tile = s->shape[axis + 1] * c->length, more = s->shape[axis] - c->walk.at[axis];
  const int64_t tiles = n / tile < more ? n / tile : more;
  if (tiles < 2) return 0;
  int64_t at[TILE_MOST];
  for (int64_t i = 0; i < tile; i++) {
    const int64_t row = i / c->length;
    at[i] = row * s->stride[(int64_t)(axis + 1) * s->pitch] + (i - row * c->length) * c->step;
  }
  kernel_copy_tiles(c->p, s->stride[(int64_t)axis * s->pitch], at, tile, block, tiles, size);
  const int64_t row = c->walk.row + tiles * s->shape[axis + 1];
  nd_seek(&c->walk, row < s->rows ? row : 0, &c->p);
  return tiles * tile;
}

void nd_cursor_read(nd_cursor *c, void *block, int64_t n, size_t size) {
  if (n <= c->length - c->pos) { /* a piece of one row, without more ado */
    kernel_copy_strided(nd_cursor_address(c), c->step, block, (int64_t)size, n, size);
    nd_cursor_skip(c, n);
    return;
  }
  for (char *to = block; n > 0;) {
    const int64_t in_tiles = nd_cursor_read_tiles(c, to, n, size);
    to += in_tiles * (int64_t)size;
    n -= in_tiles;
    if (in_tiles > 0) continue;
    const nd_piece x = nd_cursor_take(c, n);
    const int64_t step = (int64_t)size, pitch = x.length * step;
    kernel_copy_rows(x.p, x.pitch, c->step, to, pitch, step, x.rows, x.length, size);
    to += x.rows * pitch;
    n -= x.rows * x.length;
  }
}

void nd_cursor_write(nd_cursor *c, const void *block, int64_t n, size_t size) {
  if (n <= c->length - c->pos) {
    kernel_copy_strided(block, (int64_t)size, nd_cursor_address(c), c->step, n, size);
    nd_cursor_skip(c, n);
    return;
  }
  for (const char *from = block; n > 0;) {
    const nd_piece y = nd_cursor_take(c, n);
    const int64_t step = (int64_t)size, pitch = y.length * step;
    kernel_copy_rows(from, pitch, step, y.p, y.pitch, c->step, y.rows, y.length, size);
    from += y.rows * pitch;
    n -= y.rows * y.length;
  }
}
