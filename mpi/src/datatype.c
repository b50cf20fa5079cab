/* datatype.c: dtypes and reductions as MPI has them, and copies of strided arrays. */
#include "collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

MPI_Datatype mpi_type(damo_dtype dtype) {
  switch (dtype) {
    case DAMO_BOOL:
    case DAMO_UINT8: return MPI_UINT8_T;
    case DAMO_INT8: return MPI_INT8_T;
    case DAMO_INT16: return MPI_INT16_T;
    case DAMO_INT32: return MPI_INT32_T;
    case DAMO_INT64: return MPI_INT64_T;
    case DAMO_UINT16: return MPI_UINT16_T;
    case DAMO_UINT32: return MPI_UINT32_T;
    case DAMO_UINT64: return MPI_UINT64_T;
    case DAMO_FLOAT32: return MPI_FLOAT;
    case DAMO_FLOAT64: return MPI_DOUBLE;
    case DAMO_COMPLEX64: return MPI_C_FLOAT_COMPLEX;
    case DAMO_COMPLEX128: return MPI_C_DOUBLE_COMPLEX;
    case DAMO_N_DTYPES: break;
  }
  return MPI_DATATYPE_NULL;
}

#define ADD(ctype, n_parts) \
  for (size_t i = 0; i < n * (n_parts); i++) ((ctype *)sum)[i] = (ctype)(((ctype *)sum)[i] + ((const ctype *)term)[i])
void add_elements(damo_dtype dtype, void *sum, const void *term, size_t n) {
  switch (dtype) {
    case DAMO_BOOL:
      for (size_t i = 0; i < n; i++) ((uint8_t *)sum)[i] |= ((const uint8_t *)term)[i];
      break;
    /* Signed sums wrap, as everywhere in damo. */
    case DAMO_INT8:
    case DAMO_UINT8: ADD(uint8_t, 1); break;
    case DAMO_INT16:
    case DAMO_UINT16: ADD(uint16_t, 1); break;
    case DAMO_INT32:
    case DAMO_UINT32: ADD(uint32_t, 1); break;
    case DAMO_INT64:
    case DAMO_UINT64: ADD(uint64_t, 1); break;
    case DAMO_FLOAT32: ADD(float, 1); break;
    case DAMO_FLOAT64: ADD(double, 1); break;
    case DAMO_COMPLEX64: ADD(float, 2); break;
    case DAMO_COMPLEX128: ADD(double, 2); break;
    case DAMO_N_DTYPES: break;
  }
}

/* MPI leaves open what its own maximum makes of a nan. */
#define EXTREME(name, ctype, better)                                                   \
  static void name(void *in, void *inout, int *n, MPI_Datatype *type) {                \
    const ctype *a = in;                                                               \
    ctype *b = inout;                                                                  \
    (void)type;                                                                        \
    for (int i = 0; i < *n; i++) b[i] = isnan(a[i]) || a[i] better b[i] ? a[i] : b[i]; \
  }
EXTREME(max_float, float, >)
EXTREME(max_double, double, >)
EXTREME(min_float, float, <)
EXTREME(min_double, double, <)

/* Sums of short integers, signed or not, wrap, as everywhere in damo; those of Open MPI's vector code saturate. */
static void add_bytes(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  add_elements(DAMO_UINT8, inout, in, (size_t)*n);
}

static void add_words(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)type;
  add_elements(DAMO_UINT16, inout, in, (size_t)*n);
}

/* The operation of damo's own for this reduction, -1 where MPI's does. Without MPI there is one rank, and nothing is
 * reduced. */
static int own_operation(const world *w, reduction op, damo_dtype dtype) {
  const bool is_float = dtype == DAMO_FLOAT32 || dtype == DAMO_FLOAT64;
  const size_t size = damo_dtype_size(dtype);
  if (!w->uses_mpi) return -1;
  if (is_float && (op == MAX || op == MIN)) return 2 * (op == MIN) + (dtype == DAMO_FLOAT64);
  return op == SUM && size <= 2 ? 3 + (int)size : -1;
}

static MPI_Op make_operation(world *w, int k) {
  static MPI_User_function *const functions[] = {max_float, max_double, min_float, min_double, add_bytes, add_words};
  _Static_assert(sizeof functions / sizeof *functions == WORLD_OWN_OPERATIONS, "an operation for each place");
  if (w->operations[k] == MPI_OP_NULL) MPI_Op_create(functions[k], 1, &w->operations[k]);
  return w->operations[k];
}

MPI_Op mpi_operation(world *w, damo_ctx *ctx, reduction op, damo_dtype dtype) {
  const bool sum_like = op == SUM || op == PROD;
  if (dtype == DAMO_BOOL) return op == SUM || op == MAX ? MPI_LOR : MPI_LAND;
  const int own = own_operation(w, op, dtype);
  if (own >= 0) return make_operation(w, own);
  if (sum_like) return op == SUM ? MPI_SUM : MPI_PROD;
  if (dtype == DAMO_COMPLEX64 || dtype == DAMO_COMPLEX128) {
    damo_fail(ctx, DAMO_ETYPE, "mpi: there is no largest or smallest of complex numbers: reduce their absolute values");
    return MPI_OP_NULL;
  }
  return op == MAX ? MPI_MAX : MPI_MIN;
}

bool is_flat(const damo_array *x) {
  const int64_t *shape = damo_array_shape(x), *strides = damo_array_strides(x);
  int64_t step = (int64_t)damo_dtype_size(damo_array_dtype(x));
  if (damo_array_size(x) == 0) return true;
  for (int d = damo_array_ndim(x) - 1; d >= 0; d--) {
    if (shape[d] != 1 && strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

void copy_flat(void *to, const damo_array *x) {
  const int ndim = damo_array_ndim(x);
  const int64_t *shape = damo_array_shape(x), *strides = damo_array_strides(x), size = damo_array_size(x);
  const size_t item = damo_dtype_size(damo_array_dtype(x));
  int64_t at[DAMO_MAX_NDIM] = {0};
  const char *from = damo_array_data(x);
  char *dst = to;
  if (size == 0) return;
  if (is_flat(x)) {
    memcpy(to, from, (size_t)size * item);
    return;
  }
  for (int64_t k = 0; k < size; k++, dst += item) {
    memcpy(dst, from, item);
    for (int d = ndim - 1; d >= 0; d--) {
      from += strides[d];
      if (++at[d] < shape[d]) break;
      from -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
}
