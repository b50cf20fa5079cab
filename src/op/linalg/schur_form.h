/* schur_form: what matrix equations and functions of matrices have in common: an entry's matrices in double precision,
 * their Schur forms, and complex numbers. Private to src/op. */
#ifndef DAMO_OP_LINALG_SCHUR_FORM_H
#define DAMO_OP_LINALG_SCHUR_FORM_H

#include <math.h>

#include "spectral.h"
#include "op/complex_arith.h"

/* ---- Memory of an entry ------------------------------------------------------------------------------------------ */

/* Parts of a workspace one after the other; data NULL: counts them. */
typedef struct carving {
  char *data;
  size_t used;
} carving;

static inline void *carve(carving *w, size_t bytes) {
  void *at = w->data != NULL ? w->data + w->used : NULL;
  w->used += (bytes + 63) & ~(size_t)63;
  return at;
}

/* Reads m, of any dtype and layout, by columns into `to`; writes m from there, times a factor. */
void load_columns(const core_mat *m, damo_dtype dtype, void *to);
void store_columns(const core_mat *m, damo_dtype dtype, const void *from, double factor);

/* c = op(a)·op(b): m × k by k × n, all by columns and without gaps. ta, tb: "N", "T", "C". */
void matrix_gemm(damo_dtype dtype, const char *ta, const char *tb, lapack_int m, lapack_int n, lapack_int k,
                 const void *a, const void *b, void *c);

/* ---- Schur forms ------------------------------------------------------------------------------------------------- */

/* A square matrix in double precision, real or complex, its Schur form t = zᴴ·a·z and its eigenvalues. */
typedef struct schur_form {
  damo_dtype dtype; /* float64 or complex128 */
  lapack_int n, lwork;
  char *t, *z, *w, *work, *rwork;
} schur_form;

lapack_int schur_work_length(damo_dtype dtype, lapack_int n);
schur_form schur_carve(carving *w, damo_dtype dtype, int64_t order);
damo_status schur_factor(core_call *c, const schur_form *s, const core_mat *a);
damo_c128 schur_value(const schur_form *s, lapack_int i);
double schur_radius(const schur_form *s); /* the greatest modulus of an eigenvalue */

/* ---- Complex numbers --------------------------------------------------------------------------------------------- */

static inline damo_c128 complex_conj(damo_c128 x) { return (damo_c128){x.re, -x.im}; }
static inline double complex_size(damo_c128 z) { return hypot(z.re, z.im); }
static inline void complex_add_product(damo_c128 *sum, damo_c128 x, damo_c128 y) {
  const damo_c128 p = mul_c128(x, y);
  sum->re += p.re;
  sum->im += p.im;
}

#endif
