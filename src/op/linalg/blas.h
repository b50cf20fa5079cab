/* blas: products of matrices. Private to the family (blas.c, dot.c, tensordot.c, gemm.c, gemm_run.c,
 * short_product.c, einsum.c).
 *
 * In: matrices as data with byte strides. Out: c = alpha · a · b + beta · c, by OpenBLAS for floats and complex
 * numbers, by the kernels of kernel/product where these are faster (a short dimension), by plain loops for integers and
 * bool. Always holds: a transposed or row-strided matrix, and a vector of any stride but 0, is passed to BLAS as it is,
 * any other operand is copied to scratch; every size is checked before BLAS is called; dimensions past 2^31-1 take the
 * plain loops.
 */
#ifndef DAMO_OP_LINALG_BLAS_H
#define DAMO_OP_LINALG_BLAS_H

#include "kernel/blas/blas.h"
#include "kernel/isa.h"
#include "op/op.h"

/* rows × cols entries; entry (i, j) lies at data + i·rs + j·cs. */
typedef struct blas_mat {
  char *data;
  int64_t rows, cols, rs, cs;
} blas_mat;

static inline blas_mat mat_transposed(blas_mat m) { return (blas_mat){m.data, m.cols, m.rows, m.cs, m.rs}; }
/* The matrix of an array's last two axes (of a vector's, as a row or a column). */
blas_mat mat_of(const damo_array *a);
blas_mat mat_row_of(const damo_array *a);
blas_mat mat_column_of(const damo_array *a);

/* short_product.c: c = alpha a b + beta c. With beta 0 c need not be initialised. */
#define SHORT_PRODUCT 16
bool short_product_fits(damo_dtype dtype, const blas_mat *a, const blas_mat *b);
void short_product_run(damo_dtype dtype, double alpha, const blas_mat *a, const blas_mat *b, double beta,
                       const blas_mat *c);

/* The plan of a product for these shapes and strides; valid for any data pointers of the same alignment. */
typedef struct gemm_plan {
  damo_ctx *ctx; /* among whose threads the rows of a small product are divided; NULL: one thread */
  damo_dtype dtype;
  bool swapped;  /* computed as cᵀ = bᵀ aᵀ: a and b change places */
  bool is_short; /* short_product.c */
  bool use_blas;
  void (*own)(const blas_gemm *g);    /* damo's own product, in reproducible mode; NULL: one of the others */
  void (*small)(const small_gemm *g); /* the kernel for a short dimension; NULL: BLAS or a plain loop */
  blas_mat a, b, c;                   /* as given (after swapping) */
  blas_mat use_a, use_b, use_c;       /* as multiplied: the operands or their copies */
  bool copy_a, copy_b, copy_c;        /* use_* is a copy in scratch */
  size_t at_a, at_b, at_c;            /* offsets in scratch */
  size_t scratch;                     /* bytes */
} gemm_plan;

/* a is m × k, b k × n, c m × n: the caller has checked. */
void gemm_plan_init(gemm_plan *p, damo_ctx *ctx, const kernel_isa *isa, damo_dtype dtype, blas_mat a, blas_mat b,
                    blas_mat c);
/* c = alpha a b + beta c over these data pointers. With beta 0 c need not be initialised. alpha, beta: 1 and 0 for
 * integers and bool. c overlaps neither a nor b. */
void gemm_run(const gemm_plan *p, damo_c128 alpha, char *a, char *b, damo_c128 beta, char *c, void *scratch);

/* Whether gemm_run_sum can be called: c = alpha a b + beta z, where z is another matrix than c. Scratch is not needed. */
bool gemm_takes_sum(const gemm_plan *p, const blas_mat *z);
void gemm_run_sum(const gemm_plan *p, double alpha, char *a, char *b, double beta, const blas_mat *z, char *c);

/* c = alpha a b + beta c: plans, takes scratch memory of the thunk and runs. */
damo_status gemm_once(const thunk *t, frame *f, damo_dtype dtype, damo_c128 alpha, blas_mat a, blas_mat b,
                      damo_c128 beta, blas_mat c);

/* "dot: shapes (3, 4) and (5, 2) do not agree: axis 2 of the first is 4, axis 1 of the second is 5"; axes 0-based. */
damo_status fail_shapes(damo_ctx *ctx, const char *func, int nx, const int64_t *x, int ny, const int64_t *y, int axis_x,
                        int axis_y);
/* type error unless both inputs are tensors of one dtype. */
damo_status check_pair(damo_ctx *ctx, const char *func, damo_var *const *in);
/* The first output (borrowed) of a new node of the class, with these properties or none, its operands promoted to one
 * dtype. */
damo_var *build_common(build *b, const op_def *def, const void *props, damo_var *const *in, int n_in);
damo_var *build_outer(build *b, damo_var *x, damo_var *y); /* two vectors */

/* sum over axes ax[i] of x and ay[i] of y; result: x's other axes, then y's. n may be 0. 0-based. */
damo_var *build_tensordot(build *b, damo_var *x, damo_var *y, int n, const int *ax, const int *ay);
/* The same with batch axes bx[i] of x and by[i] of y, which come first in the result. */
damo_var *build_tensordot_batched(build *b, damo_var *x, damo_var *y, int n, const int *ax, const int *ay, int n_batch,
                                  const int *bx, const int *by);

/* einsum.c */
typedef struct einsum_options {
  prop_value subscripts;
} einsum_options;
damo_status fn_einsum(build *b, const fn_args *a, ptrvec *out);

#endif
