/* copy: strided copies of elements of 1, 2, 4, 8 or 16 bytes. No allocation; source and destination do not overlap.
 *
 * kernel_copy_nd reorders the axes as the destination likes them, joins those that run on, and copies the two innermost
 * axes in tiles when the source runs along another axis than the destination (a transpose): a tile of 32 x 32 elements
 * stays in L1, so each cache line is fetched once. */
#include <string.h>

#include "kernel_int.h"

/* memcpy of a constant size is one move, at any alignment. */
#define STRIDED(size, type)                                                                              \
  static void copy_strided_##size(const char *src, int64_t ss, char *dst, int64_t ds, int64_t n) {       \
    for (int64_t i = 0; i < n; i++) {                                                                    \
      type element;                                                                                      \
      memcpy(&element, src + i * ss, sizeof element);                                                    \
      memcpy(dst + i * ds, &element, sizeof element);                                                    \
    }                                                                                                    \
  }                                                                                                      \
  /* Into a contiguous run: the compiler gathers or fills with vectors. */                               \
  static void copy_gather_##size(const char *restrict src, int64_t ss, char *restrict dst, int64_t n) {  \
    for (int64_t i = 0; i < n; i++) {                                                                    \
      type element;                                                                                      \
      memcpy(&element, src + i * ss, sizeof element);                                                    \
      memcpy(dst + i * (int64_t)sizeof element, &element, sizeof element);                               \
    }                                                                                                    \
  }                                                                                                      \
  static void copy_fill_##size(const char *restrict src, char *restrict dst, int64_t n) {                \
    type element;                                                                                        \
    memcpy(&element, src, sizeof element);                                                               \
    for (int64_t i = 0; i < n; i++) memcpy(dst + i * (int64_t)sizeof element, &element, sizeof element); \
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
} copy_fns;

static const copy_fns copy_fns_1 = {copy_strided_1, copy_gather_1, copy_fill_1},
                      copy_fns_2 = {copy_strided_2, copy_gather_2, copy_fill_2},
                      copy_fns_4 = {copy_strided_4, copy_gather_4, copy_fill_4},
                      copy_fns_8 = {copy_strided_8, copy_gather_8, copy_fill_8},
                      copy_fns_16 = {copy_strided_16, copy_gather_16, copy_fill_16};

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

/* ---- n-d copies -------------------------------------------------------------------------------------------------- */

typedef struct copy_axis {
  int64_t n, src, dst;
} copy_axis;

static int64_t copy_stride_size(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Axes of length 1 dropped, ordered by falling destination stride (ties keep their order). Returns their number. */
static int copy_sort_axes(copy_axis *axes, const int64_t *src_strides, const int64_t *dst_strides, int ndim,
                          const int64_t *shape, size_t size) {
  int n = 0;
  int64_t contiguous = (int64_t)size;
  for (int k = ndim - 1; k >= 0; k--) {
    const copy_axis axis = {shape[k], src_strides[k], dst_strides ? dst_strides[k] : contiguous};
    contiguous *= shape[k];
    if (axis.n == 1) continue;
    int at = n++;
    for (; at > 0 && copy_stride_size(axes[at - 1].dst) > copy_stride_size(axis.dst); at--) axes[at] = axes[at - 1];
    axes[at] = axis;
  }
  /* gathered innermost first; turned round */
  for (int i = 0; i < n / 2; i++) {
    const copy_axis swap = axes[i];
    axes[i] = axes[n - 1 - i];
    axes[n - 1 - i] = swap;
  }
  return n;
}

/* Joins neighbours that run on in both operands. */
static int copy_join_axes(copy_axis *axes, int n) {
  int last = 0;
  for (int k = 1; k < n; k++) {
    copy_axis *a = &axes[last];
    const copy_axis b = axes[k];
    if (a->src == b.src * b.n && a->dst == b.dst * b.n)
      *a = (copy_axis){a->n * b.n, b.src, b.dst};
    else
      axes[++last] = b;
  }
  return n ? last + 1 : 0;
}

/* The axis along which the source lies closest (a repeated element costs nothing); the innermost when equal. */
static int closest_source_axis(const copy_axis *axes, int n) {
  int best = n - 1;
  for (int k = n - 2; k >= 0; k--) {
    const int64_t s = copy_stride_size(axes[k].src);
    if (s != 0 && axes[best].src != 0 && s < copy_stride_size(axes[best].src)) best = k;
  }
  return best;
}

#define COPY_TILE 32

static void copy_tiles(const char *src, char *dst, copy_axis outer, copy_axis inner, size_t size) {
  const copy_fns *fns = copy_fns_of(size);
  for (int64_t i = 0; i < outer.n; i += COPY_TILE) {
    const int64_t rows = outer.n - i < COPY_TILE ? outer.n - i : COPY_TILE;
    for (int64_t j = 0; j < inner.n; j += COPY_TILE) {
      const int64_t columns = inner.n - j < COPY_TILE ? inner.n - j : COPY_TILE;
      for (int64_t r = i; r < i + rows; r++)
        fns->strided(src + r * outer.src + j * inner.src, inner.src, dst + r * outer.dst + j * inner.dst, inner.dst,
                     columns);
    }
  }
}

/* Steps the odometer over axes [0, n); false after the last position. */
static bool copy_next_position(const copy_axis *axes, int n, int64_t *at, const char **src, char **dst) {
  for (int k = n - 1; k >= 0; k--) {
    *src += axes[k].src;
    *dst += axes[k].dst;
    if (++at[k] < axes[k].n) return true;
    *src -= axes[k].src * axes[k].n;
    *dst -= axes[k].dst * axes[k].n;
    at[k] = 0;
  }
  return false;
}

void kernel_copy_nd(const char *src, const int64_t *src_strides, char *dst, const int64_t *dst_strides, int ndim,
                    const int64_t *shape, size_t size) {
  copy_axis axes[DAMO_MAX_NDIM];
  int64_t at[DAMO_MAX_NDIM] = {0};
  for (int k = 0; k < ndim; k++)
    if (shape[k] == 0) return;
  int n = copy_join_axes(axes, copy_sort_axes(axes, src_strides, dst_strides, ndim, shape, size));
  if (n == 0) {
    memcpy(dst, src, size);
    return;
  }
  const copy_axis inner = axes[n - 1];
  const int closest = closest_source_axis(axes, n);
  if (closest == n - 1) {
    do kernel_copy_strided(src, inner.src, dst, inner.dst, inner.n, size);
    while (copy_next_position(axes, n - 1, at, &src, &dst));
    return;
  }
  const copy_axis outer = axes[closest];
  for (int k = closest; k < n - 2; k++) axes[k] = axes[k + 1];
  do copy_tiles(src, dst, outer, inner, size);
  while (copy_next_position(axes, n - 2, at, &src, &dst));
}
