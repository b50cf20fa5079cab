/* entry_check: the checks of the classes that work entry by entry, and sum or reduce entries. */
#include "op/sparse/exam.h"

#include "op/elem/build_arith.h"
#include "op/sparse/sparse_op.h"

/* ---- Two operands ------------------------------------------------------------------------------------------------ */

/* The dense function NAME of the same two operands. */
#define EQUAL_OF_TWO(NAME, CHECK)                    \
  static damo_var *equal_##NAME(op_exam *e, int o) { \
    (void)o;                                         \
    return build_##NAME(e->b, e->in[0], e->in[1]);   \
  }                                                  \
  const op_check CHECK = {.dense_equal = equal_##NAME}

EQUAL_OF_TWO(add, add_check);
EQUAL_OF_TWO(mul, mul_check);
EQUAL_OF_TWO(true_div, div_check);
EQUAL_OF_TWO(eq, eq_check);
EQUAL_OF_TWO(neq, neq_check);
EQUAL_OF_TWO(lt, lt_check);
EQUAL_OF_TWO(le, le_check);
EQUAL_OF_TWO(gt, gt_check);
EQUAL_OF_TWO(ge, ge_check);
EQUAL_OF_TWO(maximum, maximum_check);
EQUAL_OF_TWO(minimum, minimum_check);

static damo_var *equal_rows_scaled(op_exam *e, int o) {
  (void)o;
  build *b = e->b;
  return build_transpose(b, build_mul(b, build_transpose(b, e->in[0]), e->in[1]));
}
const op_check row_scale_check = {.dense_equal = equal_rows_scaled};

/* x + v where x is not 0, else 0. */
static damo_var *equal_columns_added(op_exam *e, int o) {
  (void)o;
  build *b = e->b;
  damo_var *x = e->in[0], *zero = build_zeros_like(b, x);
  return build_switch(b, build_neq(b, x, zero), build_add(b, x, e->in[1]), zero);
}
const op_check add_sv_check = {.dense_equal = equal_columns_added};

/* ---- Sums and extremes ------------------------------------------------------------------------------------------- */

/* A reduction over the axis that a property names; nil: over all. */
static damo_var *build_exam_reduced(op_exam *e, reduce_kind kind, damo_var *x, prop_value axis) {
  const int at = prop_given(axis) ? (int)axis.u.i - 1 : -1;
  return build_reduce(e->b, kind, x, &at, at < 0 ? -1 : 1, false);
}

static damo_var *build_exam_sum(op_exam *e, damo_var *x, prop_value axis) {
  return build_exam_reduced(e, REDUCE_SUM, x, axis);
}

static damo_var *equal_sum(op_exam *e, int o) {
  (void)o;
  return build_exam_sum(e, e->in[0], exam_prop(e, "axis"));
}
const op_check sum_check = {.dense_equal = equal_sum};

/* The cotangent of sums, spread over all of x or over its stored positions. */
static damo_var *equal_sum_spread(op_exam *e, int o) {
  (void)o;
  const damo_sparse *x = exam_matrix(e, 1);
  const prop_value structured = exam_prop(e, "sparse_grad");
  damo_var *g = e->in[0];
  if (exam_is_axis_two(e)) g = build_dimshuffle(e->b, g, (const int[]){0, -1}, 2);
  damo_var *everywhere = build_add(e->b, exam_zeros(e, var_dtype(e->in[0]), x->shape), g);
  if (structured.kind != PROP_NIL && structured.u.i == 0) return everywhere;
  const entry_places p = exam_places_in(e, x);
  return exam_put_at(e, x->shape, p, exam_read_at(e, everywhere, p));
}
const op_check sum_spread_check = {.dense_equal = equal_sum_spread};

static damo_var *equal_extremum(op_exam *e, int o) {
  (void)o;
  return build_exam_reduced(e, sp_extremum_kind(e->node->op), e->in[0], exam_prop(e, "axis"));
}
const op_check extremum_check = {.dense_equal = equal_extremum};

/* The products put at the matrix's stored positions, summed over columns or rows. */
static damo_var *equal_vecdot(op_exam *e, int o) {
  (void)o;
  const damo_sparse *m = exam_matrix(e, 0);
  damo_var *products = build_mul(e->b, e->in[1], e->in[2]);
  return build_exam_sum(e, exam_put_at(e, m->shape, exam_places_in(e, m), products), exam_prop(e, "axis"));
}
const op_check vecdot_check = {.dense_equal = equal_vecdot};

/* ---- NarrowMinor ------------------------------------------------------------------------------------------------- */

/* The 1-based numbers of the columns (csr) or rows (csc) that store an entry, ascending. */
static damo_var *build_stored_minors(op_exam *e, const damo_sparse *x) {
  const int64_t n = sparse_minor(x), nnz = sparse_nnz(x);
  damo_array *seen = damo_array_new(e->b->ctx, DAMO_BOOL, 1, &n), *list = NULL;
  int64_t n_seen = 0;
  for (int64_t p = 0; seen != NULL && p < nnz; p++) {
    uint8_t *at = (uint8_t *)seen->data + exam_int_at(x->indices, p);
    n_seen += *at == 0;
    *at = 1;
  }
  if (seen != NULL) list = exam_new_list(e, n_seen);
  for (int64_t j = 0, k = 0; list != NULL && j < n; j++) {
    if (((const uint8_t *)seen->data)[j]) exam_list_data(list)[k++] = j + 1;
  }
  damo_release(seen);
  return exam_list(e, list);
}

/* The columns (csr) or rows (csc) that store an entry; one of zeros where none does. */
static damo_var *equal_narrow_minor(op_exam *e, int o) {
  (void)o;
  const damo_sparse *x = exam_matrix(e, 0), *y = (const damo_sparse *)e->results[0];
  const int axis = x->format == DAMO_CSR;
  if (sparse_minor(y) == sparse_minor(x)) return e->in[0];
  if (sparse_nnz(x) > 0) return exam_take(e, e->in[0], build_stored_minors(e, x), axis);
  const int64_t one[2] = {axis ? x->shape[0] : 1, axis ? 1 : x->shape[1]};
  return exam_zeros(e, sparse_dtype(x), one);
}
const op_check narrow_minor_check = {.dense_equal = equal_narrow_minor};
