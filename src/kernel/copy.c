/* copy: strided copies of elements of 1, 2, 4, 8 or 16 bytes. No allocation; source and destination do not overlap.
 *
 * kernel_copy_nd orders the axes by the destination's strides, merges contiguous ones, and copies the two innermost
 * axes in tiles if the source is contiguous along another axis than the destination (a transpose): a tile of 32 x 32
 * elements stays in L1, so each cache line is fetched once. */
#include <string.h>

#include "kernel_int.h"
#include "walk.h"

/* memcpy of a constant size compiles to one move, at any alignment. */
#define STRIDED(size, type)                                                                                  \
  static void copy_strided_##size(const char *src, int64_t ss, char *dst, int64_t ds, int64_t n) {           \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      type element;                                                                                          \
      memcpy(&element, src + i * ss, sizeof element);                                                        \
      memcpy(dst + i * ds, &element, sizeof element);                                                        \
    }                                                                                                        \
  }                                                                                                          \
  /* To a contiguous destination: the compiler vectorises it. */                                             \
  static void copy_gather_##size(const char *restrict src, int64_t ss, char *restrict dst, int64_t n) {      \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      type element;                                                                                          \
      memcpy(&element, src + i * ss, sizeof element);                                                        \
      memcpy(dst + i * (int64_t)sizeof element, &element, sizeof element);                                   \
    }                                                                                                        \
  }                                                                                                          \
  static void copy_fill_##size(const char *restrict src, char *restrict dst, int64_t n) {                    \
    type element;                                                                                            \
    memcpy(&element, src, sizeof element);                                                                   \
    for (int64_t i = 0; i < n; i++) memcpy(dst + i * (int64_t)sizeof element, &element, sizeof element);     \
  }                                                                                                          \
  /* Rows of few elements: no call for each row. */                                                          \
  static void copy_rows_##size(const char *src, int64_t sp, int64_t ss, char *dst, int64_t dp, int64_t ds,   \
                               int64_t rows, int64_t n) {                                                    \
    for (int64_t r = 0; r < rows; r++, src += sp, dst += dp)                                                 \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        type element;                                                                                        \
        memcpy(&element, src + i * ss, sizeof element);                                                      \
        memcpy(dst + i * ds, &element, sizeof element);                                                      \
      }                                                                                                      \
  }                                                                                                          \
  static void copy_tiles_##size(const char *restrict src, int64_t sp, const int64_t *restrict at, int64_t n, \
                                char *restrict dst, int64_t tiles) {                                         \
    for (int64_t t = 0; t < tiles; t++, src += sp)                                                           \
      for (int64_t i = 0; i < n; i++, dst += sizeof(type)) {                                                 \
        type element;                                                                                        \
        memcpy(&element, src + at[i], sizeof element);                                                       \
        memcpy(dst, &element, sizeof element);                                                               \
      }                                                                                                      \
  }
STRIDED(1, uint8_t)
STRIDED(2, uint16_t)
STRIDED(4, uint32_t)
STRIDED(8, uint64_t)
STRIDED(16, bytes16)
#undef STRIDED

typedef struct copy_fns {
  void (*strided)(const char *src, int64_t ss, char *dst, int64_t ds, int64_t n);
  void (*gather)(const char *src, int64_t ss, char *dst, int64_t n);
  void (*fill)(const char *src, char *dst, int64_t n);
  void (*rows)(const char *src, int64_t sp, int64_t ss, char *dst, int64_t dp, int64_t ds, int64_t rows, int64_t n);
  void (*tiles)(const char *src, int64_t sp, const int64_t *at, int64_t n, char *dst, int64_t tiles);
} copy_fns;

static const copy_fns copy_fns_1 = {copy_strided_1, copy_gather_1, copy_fill_1, copy_rows_1, copy_tiles_1},
                      copy_fns_2 = {copy_strided_2, copy_gather_2, copy_fill_2, copy_rows_2, copy_tiles_2},
                      copy_fns_4 = {copy_strided_4, copy_gather_4, copy_fill_4, copy_rows_4, copy_tiles_4},
                      copy_fns_8 = {copy_strided_8, copy_gather_8, copy_fill_8, copy_rows_8, copy_tiles_8},
                      copy_fns_16 = {copy_strided_16, copy_gather_16, copy_fill_16, copy_rows_16, copy_tiles_16};

static const copy_fns *copy_fns_of(size_t size) {
  if (size == 1) return &copy_fns_1;
  if (size == 2) return &copy_fns_2;
  if (size == 4) return &copy_fns_4;
  return size == 8 ? &copy_fns_8 : &copy_fns_16;
}

void kernel_copy_strided(const char *src, int64_t src_stride, char *dst, int64_t dst_stride, int64_t n, size_t size) {
  const int64_t step = (int64_t)size;
  if (n <= 0) return;
  if (dst_stride != step)
    copy_fns_of(size)->strided(src, src_stride, dst, dst_stride, n);
  else if (src_stride == step)
    memcpy(dst, src, (size_t)n * size);
  else if (src_stride == 0)
    copy_fns_of(size)->fill(src, dst, n);
  else
    copy_fns_of(size)->gather(src, src_stride, dst, n);
}

/* Rows of up to this many elements are copied by one loop over all rows, without a call for each. */
#define COPY_SHORT 8

void kernel_copy_rows(const char *src, int64_t src_pitch, int64_t src_stride, char *dst, int64_t dst_pitch,
                      int64_t dst_stride, int64_t rows, int64_t n, size_t size) {
  if (rows > 1 && n <= COPY_SHORT) {
    copy_fns_of(size)->rows(src, src_pitch, src_stride, dst, dst_pitch, dst_stride, rows, n);
    return;
  }
  for (int64_t r = 0; r < rows; r++)
    kernel_copy_strided(src + r * src_pitch, src_stride, dst + r * dst_pitch, dst_stride, n, size);
}

void kernel_copy_tiles(const char *src, int64_t src_pitch, const int64_t *at, int64_t n, char *dst, int64_t tiles,
                       size_t size) {
  copy_fns_of(size)->tiles(src, src_pitch, at, n, dst, tiles);
}

/* ---- n-d copies -------------------------------------------------------------------------------------------------- */

static int64_t copy_stride_size(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Sorts the axes longer than 1 by decreasing destination stride, stable. Returns their number. */
static int copy_order(int ndim, const int64_t *shape, const int64_t *dst_strides, int *order) {
  int n = 0;
  for (int axis = 0; axis < ndim; axis++) {
    if (shape[axis] == 1) continue;
    int at = n++;
    for (; at > 0 && copy_stride_size(dst_strides[order[at - 1]]) < copy_stride_size(dst_strides[axis]); at--)
      order[at] = order[at - 1];
    order[at] = axis;
  }
  return n;
}

enum { COPY_SRC, COPY_DST, COPY_OPS };

/* The axis with the smallest nonzero source stride; the innermost one among equals, or if the source is broadcast along
 * the innermost. */
static int closest_source_axis(const nd_space *s) {
  int best = s->n_axes - 1;
  for (int axis = best - 1; axis >= 0; axis--) {
    const int64_t step = copy_stride_size(s->stride[axis * COPY_OPS + COPY_SRC]);
    const int64_t least = copy_stride_size(s->stride[best * COPY_OPS + COPY_SRC]);
    if (step != 0 && least != 0 && step < least) best = axis;
  }
  return best;
}

/* Moves that axis to the last but one position; the others keep their order. */
static void copy_move_axis(nd_space *s, int axis) {
  const int64_t length = s->shape[axis], *stride = s->stride + axis * COPY_OPS;
  const int64_t src = stride[COPY_SRC], dst = stride[COPY_DST];
  const int to = s->n_axes - 2;
  memmove(s->shape + axis, s->shape + axis + 1, (size_t)(to - axis) * sizeof *s->shape);
  memmove(s->stride + axis * COPY_OPS, s->stride + (axis + 1) * COPY_OPS,
          (size_t)(to - axis) * COPY_OPS * sizeof *s->stride);
  s->shape[to] = length;
  s->stride[to * COPY_OPS + COPY_SRC] = src;
  s->stride[to * COPY_OPS + COPY_DST] = dst;
}

#define COPY_TILE 32

/* Copies the two innermost axes in tiles. */
static void copy_transposed(const char *src, int64_t src_pitch, int64_t src_stride, char *dst, int64_t dst_pitch,
                            int64_t dst_stride, int64_t rows, int64_t n, size_t size) {
  const copy_fns *fns = copy_fns_of(size);
  for (int64_t i = 0; i < rows; i += COPY_TILE) {
    const int64_t tile_rows = rows - i < COPY_TILE ? rows - i : COPY_TILE;
    for (int64_t j = 0; j < n; j += COPY_TILE) {
      const int64_t columns = n - j < COPY_TILE ? n - j : COPY_TILE;
      fns->rows(src + i * src_pitch + j * src_stride, src_pitch, src_stride, dst + i * dst_pitch + j * dst_stride,
                dst_pitch, dst_stride, tile_rows, columns);
    }
  }
}

/* The space over source and destination, with axes ordered by destination stride. */
static nd_space copy_space(int64_t *numbers, const int64_t *src_strides, const int64_t *dst_strides, int ndim,
                           const int64_t *shape, size_t size) {
  int64_t contiguous[DAMO_MAX_NDIM], step = (int64_t)size;
  int order[DAMO_MAX_NDIM];
  nd_space s = nd_space_begin(numbers, DAMO_MAX_NDIM, COPY_OPS);
  if (!dst_strides) {
    for (int axis = ndim - 1; axis >= 0; axis--) {
      contiguous[axis] = step;
      step *= shape[axis];
    }
    dst_strides = contiguous;
  }
  const int n = copy_order(ndim, shape, dst_strides, order);
  for (int i = 0; i < n; i++) {
    int64_t *stride = nd_space_next(&s);
    stride[COPY_SRC] = src_strides[order[i]];
    stride[COPY_DST] = dst_strides[order[i]];
    nd_space_push(&s, shape[order[i]]);
  }
  return s;
}

void kernel_copy_nd(const char *src, const int64_t *src_strides, char *dst, const int64_t *dst_strides, int ndim,
                    const int64_t *shape, size_t size) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, COPY_OPS)];
  nd_space s = copy_space(numbers, src_strides, dst_strides, ndim, shape, size);
  if (s.rows == 0) return;
  if (s.n_axes == 0) {
    memcpy(dst, src, size);
    return;
  }
  if (s.n_axes == 1) {
    kernel_copy_strided(src, nd_inner_stride(&s, COPY_SRC), dst, nd_inner_stride(&s, COPY_DST), s.rows, size);
    return;
  }
  const int closest = closest_source_axis(&s), inner = s.n_axes - 1;
  if (closest != inner) copy_move_axis(&s, closest);
  nd_space_core(&s, 2);
  const int64_t *n = s.shape + inner - 1, *outer = s.stride + (inner - 1) * COPY_OPS, *step = outer + COPY_OPS;
  char *p[COPY_OPS] = {(char *)(uintptr_t)src, dst};
  nd_walk w;
  nd_begin(&w, &s);
  do
    (closest == inner ? kernel_copy_rows : copy_transposed)(p[COPY_SRC], outer[COPY_SRC], step[COPY_SRC], p[COPY_DST],
                                                            outer[COPY_DST], step[COPY_DST], n[0], n[1], size);
  while (nd_next(&w, p));
}
