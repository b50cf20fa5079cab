/* product_check: the checks of products with sparse matrices, and of samples of products. */
#include "op/sparse/exam.h"

#include "op/elem/build_arith.h"
#include "op/sparse/sparse_check.h"

static damo_var *build_exam_dot(op_exam *e, damo_var *x, damo_var *y) {
  return x != NULL && y != NULL ? build_dot(e->b, x, y) : NULL;
}

static damo_var *equal_product(op_exam *e, int o) {
  (void)o;
  return build_exam_dot(e, e->in[0], e->in[1]);
}
const op_check dot_check = {.dense_equal = equal_product};

static damo_var *equal_sampling(op_exam *e, int o) {
  (void)o;
  return build_mul(e->b, e->in[2], build_exam_dot(e, e->in[0], build_transpose(e->b, e->in[1])));
}
const op_check sampling_check = {.dense_equal = equal_sampling};

/* alpha·x·y + z */
static damo_var *equal_usmm(op_exam *e, int o) {
  (void)o;
  return build_add(e->b, build_mul(e->b, e->in[0], build_exam_dot(e, e->in[1], e->in[2])), e->in[3]);
}
const op_check usmm_check = {.dense_equal = equal_usmm};

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* Inputs: indices, indptr, cols, rows. */
static damo_var *equal_samples_of(op_exam *e, bool csc) {
  const damo_array *indices = exam_array(e, 0), *indptr = exam_array(e, 1);
  const int64_t n_major = array_size(indptr) - 1;
  if (n_major < 0 || exam_int_at(indptr, n_major) != array_size(indices)) return NULL;
  const entry_places p = exam_places_of(e, csc, indices, indptr);
  return exam_inner_products(e, e->in[3], p.at[0], e->in[2], p.at[1], array_size(indices),
                             array_shape(exam_array(e, 2))[1]);
}
static damo_var *equal_samples_csc(op_exam *e, int o) {
  (void)o;
  return equal_samples_of(e, true);
}
const op_check sampled_csc_check = {.dense_equal = equal_samples_csc};
static damo_var *equal_samples_csr(op_exam *e, int o) {
  (void)o;
  return equal_samples_of(e, false);
}
const op_check sampled_csr_check = {.dense_equal = equal_samples_csr};

static damo_var *equal_samples_sparse(op_exam *e, int o) {
  (void)o;
  const damo_sparse *x = exam_matrix(e, 0);
  const entry_places p = exam_places_in(e, x);
  return exam_inner_products(e, e->in[2], p.at[0], e->in[1], p.at[1], sparse_nnz(x), exam_matrix(e, 1)->shape[1]);
}
const op_check sampled_sparse_check = {.dense_equal = equal_samples_sparse};

/* Inputs: m, rows, cols. Outputs: the samples; m·cols or mᵀ·rows. */
static damo_var *equal_sampled_product(op_exam *e, int o) {
  const damo_sparse *m = exam_matrix(e, 0);
  const entry_places p = exam_places_in(e, m);
  if (o == 0)
    return exam_inner_products(e, e->in[1], p.at[0], e->in[2], p.at[1], sparse_nnz(m),
                               array_shape(exam_array(e, 1))[1]);
  if (exam_prop(e, "transposed").u.i == 0) return build_exam_dot(e, e->in[0], e->in[2]);
  return build_exam_dot(e, build_transpose(e->b, e->in[0]), e->in[1]);
}
const op_check sampled_product_check = {.dense_equal = equal_sampled_product};

/* ---- Kronecker products ------------------------------------------------------------------------------------------ */

/* true wherever m stores an entry. */
static damo_var *build_exam_pattern(op_exam *e, const damo_sparse *m) {
  const scalar yes = {.dtype = DAMO_BOOL, .v.i = 1};
  damo_var *one = build_value(e->b, (damo_obj *)array_from_scalar(e->b->ctx, yes));
  return exam_put_at(e, m->shape, exam_places_in(e, m), one);
}

/* The first output is the Kronecker product of the operands' patterns. The products of the entries that the other two
 * number, put at its positions, are the Kronecker product of the operands. */
static damo_var *equal_kron(op_exam *e, int o) {
  const damo_sparse *x = exam_matrix(e, 0), *y = exam_matrix(e, 1), *out = (const damo_sparse *)e->results[0];
  build *b = e->b;
  if (o == 2 || exam_has_duplicates(&x->obj) || exam_has_duplicates(&y->obj)) return NULL;
  if (o == 0) return build_kron(b, build_exam_pattern(e, x), build_exam_pattern(e, y));
  damo_var *left = exam_take(e, exam_read_at(e, e->in[0], exam_places_in(e, x)), e->out[1], 0);
  damo_var *right = exam_take(e, exam_read_at(e, e->in[1], exam_places_in(e, y)), e->out[2], 0);
  e->got = exam_put_at(e, out->shape, exam_places_in(e, out), build_mul(b, left, right));
  return build_kron(b, e->in[0], e->in[1]);
}
const op_check kron_check = {.dense_equal = equal_kron};
