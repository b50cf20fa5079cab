/* form_check: the checks of the classes that make, convert, assemble and split sparse matrices. */
#include "op/sparse/exam.h"

#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"
#include "op/sparse/sparse_check.h"

#include <string.h>

static damo_var *equal_transposed(op_exam *e, int o) {
  (void)o;
  return build_transpose(e->b, e->in[0]);
}
const op_check transpose_check = {.dense_equal = equal_transposed};

static damo_var *equal_negated(op_exam *e, int o) {
  (void)o;
  return build_neg(e->b, e->in[0]);
}
const op_check neg_check = {.dense_equal = equal_negated};

static damo_var *equal_zeros(op_exam *e, int o) {
  (void)o;
  return build_zeros_like(e->b, e->in[0]);
}
const op_check zeros_check = {.dense_equal = equal_zeros};

/* ---- Stored values and their positions --------------------------------------------------------------------------- */

static damo_var *equal_with_data(op_exam *e, int o) {
  (void)o;
  const damo_sparse *x = exam_matrix(e, 0);
  return exam_put_at(e, x->shape, exam_places_in(e, x), e->in[1]);
}
const op_check with_data_check = {.dense_equal = equal_with_data};

/* The values, put back at x's positions, are x. */
static damo_var *equal_data(op_exam *e, int o) {
  (void)o;
  const damo_sparse *x = exam_matrix(e, 0);
  e->got = exam_put_at(e, x->shape, exam_places_in(e, x), e->out[0]);
  return e->in[0];
}
const op_check data_check = {.dense_equal = equal_data};

/* There is no check where g has duplicates, since on a common pattern they are gathered one by one, not as their
 * sum. */
static damo_var *equal_gathered(op_exam *e, int o) {
  (void)o;
  if (exam_has_duplicates(e->values[0])) return NULL;
  return exam_read_at(e, e->in[0], exam_places_in(e, exam_matrix(e, 1)));
}
const op_check gather_check = {.dense_equal = equal_gathered};

static damo_var *equal_coordinates(op_exam *e, int o) { return exam_places_in(e, exam_matrix(e, 0)).at[o]; }
const op_check coordinates_check = {.dense_equal = equal_coordinates};

/* True when data reaches past indptr's last entry: the rest belongs to no row or column. */
static bool has_rest(const op_exam *e, int first) {
  const damo_array *indptr = exam_array(e, first + 2);
  const int64_t n_major = array_size(indptr) - 1;
  return n_major < 0 || exam_int_at(indptr, n_major) != array_size(exam_array(e, first));
}

static damo_var *equal_csm(op_exam *e, int o) {
  (void)o;
  const damo_sparse *out = (const damo_sparse *)e->results[0];
  if (has_rest(e, 0)) return NULL;
  const bool csc = strcmp(exam_prop(e, "format").u.s, "csc") == 0;
  return exam_put_at(e, out->shape, exam_places_of(e, csc, exam_array(e, 1), exam_array(e, 2)), e->in[0]);
}
const op_check csm_check = {.dense_equal = equal_csm};

/* data, put at x's positions, is x; indices, indptr and shape are compared with x's. */
static damo_var *equal_csm_properties(op_exam *e, int o) {
  const damo_sparse *x = exam_matrix(e, 0);
  if (o == 3) return build_ints(e->b, x->shape, 2);
  if (o > 0) return build_value(e->b, damo_retain(o == 1 ? x->indices : x->indptr));
  e->got = exam_put_at(e, x->shape, exam_places_in(e, x), e->out[0]);
  return e->in[0];
}
const op_check csm_properties_check = {.dense_equal = equal_csm_properties};

/* Both matrices taken as csr, whatever their format: the second, made dense, read at the first one's positions. */
static damo_var *equal_csm_grad(op_exam *e, int o) {
  (void)o;
  if (has_rest(e, 0) || has_rest(e, 4)) return NULL;
  const damo_array *shape = exam_array(e, 3);
  const int64_t m = exam_int_at(shape, 0), n = exam_int_at(shape, 1), n_major = array_size(exam_array(e, 2)) - 1;
  const int64_t as_rows[2] = {n_major, m > n ? m : n};
  if ((double)as_rows[0] * (double)as_rows[1] > OP_EXAM_MOST_ENTRIES) return NULL;
  const entry_places from = exam_places_of(e, false, exam_array(e, 5), exam_array(e, 6));
  damo_var *dense = exam_put_at(e, as_rows, from, e->in[4]);
  return exam_read_at(e, dense, exam_places_of(e, false, exam_array(e, 1), exam_array(e, 2)));
}
const op_check csm_grad_check = {.dense_equal = equal_csm_grad};

/* ---- Stacks, splits and blocks ----------------------------------------------------------------------------------- */

static damo_var *equal_hstack(op_exam *e, int o) {
  (void)o;
  return build_concatenate(e->b, "hstack", 1, e->in, e->node->n_in);
}
const op_check hstack_check = {.dense_equal = equal_hstack};

static damo_var *equal_vstack(op_exam *e, int o) {
  (void)o;
  return build_concatenate(e->b, "vstack", 0, e->in, e->node->n_in);
}
const op_check vstack_check = {.dense_equal = equal_vstack};

/* The parts, stacked again, are the operand. */
static damo_var *equal_split(op_exam *e, int o) {
  if (o > 0) return NULL;
  e->got = build_concatenate(e->b, "split", exam_is_axis_two(e), e->out, e->node->n_out);
  return e->in[0];
}
const op_check split_check = {.dense_equal = equal_split};

static damo_var *build_with_block(op_exam *e, damo_var *sum, const int64_t *shape, int i, const int64_t *from) {
  return build_add(e->b, sum, exam_put_block(e, shape, e->in[i], from, exam_shape(e, i)));
}

static damo_var *equal_block_diag(op_exam *e, int o) {
  (void)o;
  int64_t shape[2] = {0, 0}, from[2] = {0, 0};
  for (int i = 0; i < e->node->n_in; i++) {
    for (int k = 0; k < 2; k++) shape[k] += exam_shape(e, i)[k];
  }
  damo_var *sum = exam_zeros(e, var_dtype(e->node->out[0]), shape);
  for (int i = 0; i < e->node->n_in; i++) {
    sum = build_with_block(e, sum, shape, i, from);
    for (int k = 0; k < 2; k++) from[k] += exam_shape(e, i)[k];
  }
  return sum;
}
const op_check block_diag_check = {.dense_equal = equal_block_diag};

/* The row (axis 0) or column at which block row or column `number` (1-based) begins; past the last: the length of all.
 * Each has a block. */
static int64_t block_start(const op_exam *e, const prop_value *numbers, int axis, int64_t number) {
  int64_t from = 0;
  for (int64_t k = 1; k < number; k++) {
    int i = 0;
    while (numbers->u.list[i].u.i != k) i++;
    from += exam_shape(e, i)[axis];
  }
  return from;
}

static damo_var *equal_bmat(op_exam *e, int o) {
  (void)o;
  const prop_value numbers[2] = {exam_prop(e, "rows"), exam_prop(e, "cols")};
  int64_t shape[2], last[2] = {0, 0};
  for (int axis = 0; axis < 2; axis++) {
    for (int i = 0; i < e->node->n_in; i++) {
      if (numbers[axis].u.list[i].u.i > last[axis]) last[axis] = numbers[axis].u.list[i].u.i;
    }
    shape[axis] = block_start(e, &numbers[axis], axis, last[axis] + 1);
  }
  damo_var *sum = exam_zeros(e, var_dtype(e->node->out[0]), shape);
  for (int i = 0; i < e->node->n_in; i++) {
    int64_t from[2];
    for (int axis = 0; axis < 2; axis++) from[axis] = block_start(e, &numbers[axis], axis, numbers[axis].u.list[i].u.i);
    sum = build_with_block(e, sum, shape, i, from);
  }
  return sum;
}
const op_check bmat_check = {.dense_equal = equal_bmat};

static damo_var *equal_permuted(op_exam *e, int o) {
  (void)o;
  return exam_take(e, exam_take(e, e->in[0], e->in[1], 0), e->in[2], 1);
}
const op_check permute_check = {.dense_equal = equal_permuted};

static damo_var *equal_constructed(op_exam *e, int o) {
  (void)o;
  return exam_put(e, array_shape(exam_array(e, 0)), e->in[1], "l", &e->in[2], 1);
}
const op_check construct_check = {.dense_equal = equal_constructed};

/* ---- Diagonals --------------------------------------------------------------------------------------------------- */

static damo_var *equal_square_diagonal(op_exam *e, int o) {
  (void)o;
  return build_diag(e->b, e->in[0], 0);
}
const op_check square_diagonal_check = {.dense_equal = equal_square_diagonal};

static damo_var *equal_diagonal(op_exam *e, int o) {
  (void)o;
  const entry_places p = exam_places_of_diagonal(e, exam_shape(e, 0), exam_prop(e, "k").u.i);
  return exam_read_at(e, e->in[0], p);
}
const op_check diagonal_check = {.dense_equal = equal_diagonal};

static damo_var *equal_put_diagonal(op_exam *e, int o) {
  (void)o;
  const int64_t *shape = exam_shape(e, 1);
  return exam_put_at(e, shape, exam_places_of_diagonal(e, shape, exam_prop(e, "k").u.i), e->in[0]);
}
const op_check put_diagonal_check = {.dense_equal = equal_put_diagonal};

/* The property `name` as k of tril and triu, clamped to the matrix. */
static int64_t band_offset(const op_exam *e, const char *name) {
  const int64_t most = exam_shape(e, 0)[0] + exam_shape(e, 0)[1], k = exam_prop(e, name).u.i;
  return k > most ? most : k < -most ? -most : k;
}

static damo_var *equal_band(op_exam *e, int o) {
  (void)o;
  damo_var *x = e->in[0];
  if (exam_prop(e, "low").kind != PROP_NIL) x = build_triangle(e->b, x, band_offset(e, "low"), false);
  if (exam_prop(e, "high").kind != PROP_NIL) x = build_triangle(e->b, x, band_offset(e, "high"), true);
  return x;
}
const op_check band_check = {.dense_equal = equal_band};

static damo_var *equal_trace(op_exam *e, int o) {
  (void)o;
  return build_trace(e->b, e->in[0]);
}
const op_check trace_check = {.dense_equal = equal_trace};

/* The scalar wherever row and column are equal. */
static damo_var *equal_eye_like(op_exam *e, int o) {
  (void)o;
  const int64_t *shape = exam_shape(e, 1);
  return exam_put_at(e, shape, exam_places_of_diagonal(e, shape, 0), e->in[0]);
}
const op_check eye_like_check = {.dense_equal = equal_eye_like};
