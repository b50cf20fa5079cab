/* scalar: single values of any dtype, loaded from and stored into arrays. Casts go through kernel_cast, so that a
 * single value is always cast like an element of an array. */
#include <string.h>

#include "array_int.h"
#include "kernel/kernel.h"

#define LOAD(ctype, field)   \
  {                          \
    ctype x;                 \
    memcpy(&x, p, sizeof x); \
    s.v.field = x;           \
    break;                   \
  }

scalar scalar_load(damo_dtype dtype, const void *p) {
  scalar s = {.dtype = dtype, .v.c = {0, 0}};
  switch (dtype) {
    case DAMO_BOOL: s.v.i = *(const uint8_t *)p != 0; break;
    case DAMO_INT8: LOAD(int8_t, i)
    case DAMO_INT16: LOAD(int16_t, i)
    case DAMO_INT32: LOAD(int32_t, i)
    case DAMO_INT64: LOAD(int64_t, i)
    case DAMO_UINT8: LOAD(uint8_t, u)
    case DAMO_UINT16: LOAD(uint16_t, u)
    case DAMO_UINT32: LOAD(uint32_t, u)
    case DAMO_UINT64: LOAD(uint64_t, u)
    case DAMO_FLOAT32: LOAD(float, f)
    case DAMO_FLOAT64: LOAD(double, f)
    case DAMO_COMPLEX64: {
      damo_c64 x;
      memcpy(&x, p, sizeof x);
      s.v.c = (damo_c128){x.re, x.im};
      break;
    }
    case DAMO_COMPLEX128: LOAD(damo_c128, c)
    case DAMO_N_DTYPES: break;
  }
  return s;
}
#undef LOAD

#define STORE(ctype, value)   \
  {                           \
    ctype x = (ctype)(value); \
    memcpy(p, &x, sizeof x);  \
    break;                    \
  }

void scalar_store(scalar s, void *p) {
  switch (s.dtype) {
    case DAMO_BOOL: *(uint8_t *)p = s.v.i != 0; break;
    case DAMO_INT8: STORE(int8_t, s.v.i)
    case DAMO_INT16: STORE(int16_t, s.v.i)
    case DAMO_INT32: STORE(int32_t, s.v.i)
    case DAMO_INT64: STORE(int64_t, s.v.i)
    case DAMO_UINT8: STORE(uint8_t, s.v.u)
    case DAMO_UINT16: STORE(uint16_t, s.v.u)
    case DAMO_UINT32: STORE(uint32_t, s.v.u)
    case DAMO_UINT64: STORE(uint64_t, s.v.u)
    case DAMO_FLOAT32: STORE(float, s.v.f)
    case DAMO_FLOAT64: STORE(double, s.v.f)
    case DAMO_COMPLEX64: {
      damo_c64 x = {(float)s.v.c.re, (float)s.v.c.im};
      memcpy(p, &x, sizeof x);
      break;
    }
    case DAMO_COMPLEX128: memcpy(p, &s.v.c, sizeof s.v.c); break;
    case DAMO_N_DTYPES: break;
  }
}
#undef STORE

scalar scalar_cast(scalar s, damo_dtype dtype) {
  _Alignas(16) char from[16], to[16];
  if (s.dtype == dtype) return s;
  scalar_store(s, from);
  kernel_cast(s.dtype, dtype)(from, to, 1);
  return scalar_load(dtype, to);
}

double scalar_to_double(scalar s) { return scalar_cast(s, DAMO_FLOAT64).v.f; }

int64_t scalar_to_int64(scalar s) { return scalar_cast(s, DAMO_INT64).v.i; }

static char *element_at(const damo_array *a, const int64_t *index) {
  char *p = a->data;
  for (int i = 0; i < a->ndim; i++) {
    damo_assert(index[i] >= 0 && index[i] < array_shape(a)[i]);
    p += index[i] * array_strides(a)[i];
  }
  return p;
}

scalar array_get(const damo_array *a, const int64_t *index) {
  return scalar_load(array_dtype(a), element_at(a, index));
}

void array_set(damo_array *a, const int64_t *index, scalar value) {
  scalar_store(scalar_cast(value, array_dtype(a)), element_at(a, index));
}

scalar array_item(const damo_array *a) { return scalar_load(array_dtype(a), a->data); }

damo_array *array_from_scalar(damo_ctx *ctx, scalar s) {
  damo_array *a = array_empty(ctx, s.dtype, 0, NULL);
  if (a) scalar_store(s, a->data);
  return a;
}
