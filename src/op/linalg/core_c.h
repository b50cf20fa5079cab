/* core_c: Ops with a core signature as C source: loops over the stack, and in them the code of one entry, which the
 * class writes. Private to op/linalg. */
#ifndef DAMO_OP_LINALG_CORE_C_H
#define DAMO_OP_LINALG_CORE_C_H

#include "core.h"
#include "graph/c_emit.h"

/* A matrix of the entry, as core_mat: an expression of the address of its first element, strides in elements. */
typedef struct c_mat {
  const char *at;
  int64_t rows, cols, rs, cs;
} c_mat;

/* What a class gets to write the code of one entry. Results lie by rows. The code has a variable `bad`, to which it gives a
 * value other than 0 where the entry fails as core_fail has it; results are nan then, or the call ends. */
struct core_source {
  c_emit *e;
  const damo_op *op;
  damo_dtype dtype; /* of the operands 'f', in the code */
  const char *suffix;
  int n_in, n_out;
  c_mat in[CORE_MOST], out[CORE_MOST];
};

static inline c_mat c_mat_turned(c_mat m) {
  return (c_mat){.at = m.at, .rows = m.cols, .cols = m.rows, .rs = m.cs, .cs = m.rs};
}
/* "address, row stride, column stride" */
static inline const char *c_mat_text(c_emit *e, c_mat m) {
  return ce_text(e, "%s, %lld, %lld", m.at, (long long)m.rs, (long long)m.cs);
}
/* Memory for a matrix, by rows. */
c_mat c_mat_scratch(const core_source *s, int64_t rows, int64_t cols);
/* The name of an array of n positions. */
const char *c_positions(const core_source *s, int64_t n);
/* Writes to = from, of one shape. */
void c_mat_copy(const core_source *s, c_mat to, c_mat from);
/* The Op's property as a flag, and as a system: 'n', 't', 'h'. */
bool c_flag(const core_source *s, const char *property);
char c_system(const core_source *s);

/* pairs_c.c: the type pair_f64 of the file, and the functions of `use`: c_pair_use. */
typedef enum c_pair_use {
  PAIR_SIZE = 1,
  PAIR_TIMES = 2,
  PAIR_OVER = 4,
  PAIR_ADD = 8,
  PAIR_ADD_CONJUGATE = 16
} c_pair_use;
void c_pair_helpers(const core_source *s, int use);
void c_product_of_pairs(const core_source *s);
/* The name of an array of n pairs. */
const char *c_pairs(const core_source *s, int64_t n);
/* to = m, by rows. */
void c_load_pairs(const core_source *s, const char *to, c_mat m);
/* to = the identity. */
void c_pair_identity(const core_source *s, int64_t rows, int64_t cols, const char *to);
/* A complex m = from; m = from, or its real parts, by the dtype of the operands. */
void c_store_pairs(const core_source *s, c_mat m, const char *from);
void c_store_as(const core_source *s, c_mat m, const char *from);
/* c = op(a)·op(b), m × k by k × n; op: the adjoint where the flag is set. */
void c_pair_product(const core_source *s, int64_t m, int64_t n, int64_t k, bool ta, const char *a, bool tb,
                    const char *b, const char *c);

/* op_def.emit_c of the classes that have core_class.emit_c. */
damo_status core_emit_c(c_emit *e, const damo_apply *node);

/* solve_c.c: core_class.emit_c of the classes of these names. */
core_emit_fn cholesky_emit_c, half_triangle_emit_c, triangular_emit_c, lu_factor_emit_c, pivot_rows_emit_c,
    permute_rows_emit_c, lu_solve_emit_c, inv_emit_c, det_emit_c, lu_det_emit_c, lu_inverse_emit_c, adjugate_emit_c,
    lu_adjugate_emit_c, solve_emit_c, solve_diagonal_emit_c;
/* band_c.c */
core_emit_fn banded_emit_c, banded_dot_emit_c, banded_outer_emit_c;
/* qr_c.c */
core_emit_fn qr_emit_c;
/* Of a square matrix a: its factors over it, and pivots; and the solution of op(a)·x = b over b. */
const char *c_lu(const core_source *s, c_mat a);
void c_lu_solve(const core_source *s, c_mat lu, const char *pivots, bool transposed, c_mat x);
/* Adds the helper of the name, of real or complex numbers, with those that texts of complex ones call: minus_product and
 * quotient. */
void c_either(const core_source *s, const char *name, const char *real, const char *complex);
/* A result by rows becomes its conjugate, if it is complex. */
void c_conjugate(const core_source *s, c_mat m);
/* m = the identity. */
void c_identity(const core_source *s, c_mat m);
/* The helpers lu, triangle and lu_solve of s->dtype. */
void c_lu_helpers(const core_source *s);
/* spectral_c.c */
core_emit_fn eigh_emit_c, svd_emit_c, svdvals_emit_c, lstsq_emit_c, pinv_emit_c, expm_emit_c, gap_emit_c,
    hessenberg_emit_c;
/* The name of an array of n doubles. */
const char *c_doubles(const core_source *s, int64_t n);
/* The helper to_unit_f64, which brings numbers to a scale at which their squares are in range. */
void c_unit_helper(const core_source *s);
/* spectral_pairs_c.c: the same of complex operands */
damo_status pair_eigh_emit_c(const core_source *s, bool lower);
core_emit_fn pair_svd_emit_c, pair_svdvals_emit_c, pair_lstsq_emit_c, pair_pinv_emit_c, pair_hessenberg_emit_c;
/* expm_pairs_c.c */
core_emit_fn pair_expm_emit_c;
/* cholesky_band_c.c */
core_emit_fn cholesky_band_emit_c, band_grad_emit_c, band_tangent_emit_c;
/* schur_c.c */
core_emit_fn eig_emit_c, schur_emit_c, eigen_basis_emit_c, complex_gap_emit_c, sqrtm_emit_c, logm_emit_c,
    sylvester_emit_c, lyapunov_emit_c;
/* toeplitz_c.c */
core_emit_fn toeplitz_emit_c;
/* ldl_c.c */
core_emit_fn ldl_emit_c;
/* adjugate_c.c */
core_emit_fn adjugate_tangent_emit_c, adjugate_second_emit_c;

#endif
