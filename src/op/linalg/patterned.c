/* patterned: circulant systems, and what they share with Toeplitz ones (toeplitz.c): operands, Fourier transforms. */
#include "compose.h"
#include "decompose.h"
#include "spectral.h"
#include "op/elem/build_arith.h"
#include "op/fft/fft_op.h"
#include "op/shape/shape_int.h"

#include <float.h>

damo_status patterned_operands(build *b, const fn_args *a, damo_var **v, bool *vector) {
  const int n = a->n_in > 2 && a->in[2] != NULL ? 3 : 2;
  for (int i = 0; i < n; i++) v[i] = matrix_operand(b, a, i, 1);
  if (b->status != DAMO_OK) return b->status;
  const int is_vector = vector_option(b, a, FN_OPTIONS(a, patterned_options)->b_ndim, v[1]);
  if (is_vector < 0) return b->status;
  *vector = is_vector == 1;
  DAMO_TRY(build_resolve(b, v, n, true, v));
  for (int i = 0; i < n; i++) v[i] = build_float(b, v[i]);
  return b->status;
}

damo_var *build_circulant_transform(build *b, damo_var *x, int axis) {
  if (x == NULL) return NULL;
  const bool is_complex = dtype_is_complex(var_dtype(x));
  return build_fft_along(b, is_complex ? FFT_COMPLEX : FFT_TO_HALF, x, NULL, axis);
}

damo_var *build_circulant_inverse(build *b, damo_var *y, damo_var *n, bool is_complex, int axis) {
  if (y == NULL) return NULL;
  damo_var *x = is_complex ? build_conj(b, build_fft_along(b, FFT_COMPLEX, build_conj(b, y), NULL, axis))
                           : build_fft_along(b, FFT_FROM_HALF, y, n, axis);
  return x != NULL ? build_true_div(b, x, build_cast(b, n, var_dtype(x))) : NULL;
}

/* The Fourier transform makes a circulant matrix diagonal: its eigenvalues are the transform of its first column. Those
 * within rounding of 0 count as 0: the matrix is then singular. */
static damo_status fn_solve_circulant(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[3] = {NULL};
  prop_value on_fail;
  bool vector;
  if (!core_on_fail(b, a, FN_OPTIONS(a, patterned_options)->on_fail, &on_fail)) return b->status;
  DAMO_TRY(patterned_operands(b, a, v, &vector));
  const bool is_complex = dtype_is_complex(var_dtype(v[0]));
  const int axis = var_ndim(v[1]) - (vector ? 1 : 2), last = var_ndim(v[0]) - 1;
  damo_var *n = build_dim(b, v[0], last), *values = build_circulant_transform(b, v[0], last);
  if (values == NULL || n == NULL) return b->status;
  damo_var *lengths[DAMO_MAX_NDIM] = {NULL}; /* half a spectrum does not tell whether the length was even */
  lengths[axis] = n;
  v[1] = build_specify_shape(b, v[1], lengths);
  damo_var *size = build_abs(b, values);
  if (size == NULL) return b->status;
  const damo_dtype real = var_dtype(size);
  damo_var *eps = build_scalar(b, real, real == DAMO_FLOAT32 ? FLT_EPSILON : DBL_EPSILON);
  damo_var *least = build_mul(b, build_row_max(b, size, 1), build_mul(b, build_cast(b, n, real), eps));
  damo_var *zero = build_zeros_like(b, values);
  values = build_switch(b, build_gt(b, size, least), values, zero);
  damo_var *right = build_circulant_transform(b, v[1], axis);
  damo_var *y = right != NULL ? build_solve_diagonal(b, values, right, vector, on_fail) : NULL;
  return fn_give(b, out, build_circulant_inverse(b, y, n, is_complex, y != NULL ? var_ndim(y) - (vector ? 1 : 2) : 0));
}

const op_func linalg_patterned_funcs[] = {
    {.name = "linalg.solve_circulant",
     .operands = "c b",
     .options = PATTERNED_OPTIONS,
     .call = fn_solve_circulant,
     .no_method = true,
     .doc = "x of a·x = b, where the columns of a are c and its cyclic shifts, by Fourier transforms"},
    {.name = NULL},
};
const op_def *const linalg_patterned_classes[] = {NULL};
