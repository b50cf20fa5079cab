/* box_copy: entries copied or added between strided boxes. */
#include "index_int.h"
#include "kernel/kernel.h"

#include <string.h>

typedef void (*index_add_fn)(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n);

/* One function for each dtype. Signed integers wrap, so they are added as unsigned ones. */
#define ADD_ROW(name, type)                                                                                         \
  static void index_add_##name(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n) {                     \
    for (int64_t i = 0; i < n; i++, dst += ds, src += ss) *(type *)dst = (type)(*(type *)dst + *(const type *)src); \
  }
ADD_ROW(u8, uint8_t)
ADD_ROW(u16, uint16_t)
ADD_ROW(u32, uint32_t)
ADD_ROW(u64, uint64_t)
ADD_ROW(f32, float)
ADD_ROW(f64, double)
#undef ADD_ROW

static void index_add_bool(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n) {
  for (int64_t i = 0; i < n; i++, dst += ds, src += ss) *dst = (char)(*dst || *src);
}

static void index_add_c64(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n) {
  index_add_f32(dst, ds, src, ss, n);
  index_add_f32(dst + sizeof(float), ds, src + sizeof(float), ss, n);
}

static void index_add_c128(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n) {
  index_add_f64(dst, ds, src, ss, n);
  index_add_f64(dst + sizeof(double), ds, src + sizeof(double), ss, n);
}

static const index_add_fn index_add_rows[DAMO_N_DTYPES] = {
    [DAMO_BOOL] = index_add_bool,       [DAMO_INT8] = index_add_u8,     [DAMO_INT16] = index_add_u16,
    [DAMO_INT32] = index_add_u32,       [DAMO_INT64] = index_add_u64,   [DAMO_UINT8] = index_add_u8,
    [DAMO_UINT16] = index_add_u16,      [DAMO_UINT32] = index_add_u32,  [DAMO_UINT64] = index_add_u64,
    [DAMO_FLOAT32] = index_add_f32,     [DAMO_FLOAT64] = index_add_f64, [DAMO_COMPLEX64] = index_add_c64,
    [DAMO_COMPLEX128] = index_add_c128,
};

void box_add(damo_dtype dtype, char *dst, const int64_t *dst_strides, const char *src, const int64_t *src_strides,
             int ndim, const int64_t *shape) {
  const index_add_fn row = index_add_rows[dtype];
  if (ndim <= 1) {
    row(dst, ndim ? *dst_strides : 0, src, ndim ? *src_strides : 0, ndim ? *shape : 1);
    return;
  }
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)];
  char *p[2] = {dst, (char *)(uintptr_t)src};
  nd_space s;
  nd_walk w;
  nd_space_init(&s, numbers, ndim, shape, 2, (const int64_t *const[]){dst_strides, src_strides});
  const int64_t n = nd_space_inner(&s);
  for (bool more = nd_begin(&w, &s); more; more = nd_next(&w, p))
    row(p[0], nd_inner_stride(&s, 0), p[1], nd_inner_stride(&s, 1), n);
}

void box_move(damo_dtype dtype, bool add, char *dst, const int64_t *dst_strides, const char *src,
              const int64_t *src_strides, int ndim, const int64_t *shape) {
  size_t size = dtype_size(dtype);
  if (add) {
    box_add(dtype, dst, dst_strides, src, src_strides, ndim, shape);
  } else if (ndim == 0 && size == 8) {
    memcpy(dst, src, 8);
  } else if (ndim == 0) {
    memcpy(dst, src, size);
  } else {
    kernel_copy_nd(src, src_strides, dst, dst_strides, ndim, shape, size);
  }
}
