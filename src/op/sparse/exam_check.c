/* exam: what the checks of the families are written with. */
#include "exam.h"
#include "sparse/sparse.h"

#include "op/elem/build_arith.h"
#include "op/index/index_int.h"

bool exam_is_axis_two(const op_exam *e) {
  const prop_value axis = exam_prop(e, "axis");
  return axis.kind == PROP_INT && axis.u.i == 2;
}

/* ---- Constants and positions ------------------------------------------------------------------------------------- */

damo_var *exam_zeros(op_exam *e, damo_dtype dtype, const int64_t *shape) {
  damo_array *z = damo_array_new(e->b->ctx, dtype, 2, shape);
  return build_value(e->b, (damo_obj *)z);
}

damo_array *exam_new_list(op_exam *e, int64_t n) { return array_empty(e->b->ctx, DAMO_INT64, 1, &n); }

damo_var *exam_list(op_exam *e, damo_array *take_list) { return build_value(e->b, (damo_obj *)take_list); }

damo_var *exam_read(op_exam *e, damo_var *x, const char *spec, damo_var *const *idx, int n) {
  return index_read(e->b, x, spec, idx, n);
}

damo_var *exam_put(op_exam *e, const int64_t *shape, damo_var *x, const char *spec, damo_var *const *idx, int n) {
  if (x == NULL || e->b->status != DAMO_OK) return NULL;
  const damo_dtype dtype = var_dtype(x), wide = dtype == DAMO_BOOL ? DAMO_INT64 : dtype;
  damo_var *y = index_write(e->b, exam_zeros(e, wide, shape), build_cast(e->b, x, wide), false, spec, idx, n);
  return y != NULL ? build_cast(e->b, y, dtype) : NULL;
}

damo_var *exam_put_block(op_exam *e, const int64_t *shape, damo_var *x, const int64_t *from, const int64_t *n) {
  if (n[0] == 0 || n[1] == 0) return x != NULL ? exam_zeros(e, var_dtype(x), shape) : NULL;
  damo_var *ends[4];
  for (int k = 0; k < 2; k++) {
    ends[2 * k] = build_scalar(e->b, DAMO_INT64, (double)(from[k] + 1));
    ends[2 * k + 1] = build_scalar(e->b, DAMO_INT64, (double)(from[k] + n[k]));
  }
  return exam_put(e, shape, x, "s110s110", ends, 4);
}

damo_var *exam_take(op_exam *e, damo_var *x, damo_var *list, int axis) { return build_take_axis(e->b, x, list, axis); }

/* ---- Stored entries ---------------------------------------------------------------------------------------------- */

/* The major index of each entry. */
static damo_var *exam_majors_of(op_exam *e, const damo_array *indptr) {
  const int64_t n_major = array_size(indptr) - 1, n = n_major < 0 ? 0 : exam_int_at(indptr, n_major);
  damo_array *out = exam_new_list(e, n);
  for (int64_t i = 0; out != NULL && i < n_major; i++) {
    for (int64_t p = exam_int_at(indptr, i); p < exam_int_at(indptr, i + 1); p++) exam_list_data(out)[p] = i + 1;
  }
  return exam_list(e, out);
}

/* The minor indices of the first n entries. */
static damo_var *exam_minors_of(op_exam *e, const damo_array *indices, int64_t n) {
  damo_array *out = exam_new_list(e, n);
  for (int64_t p = 0; out != NULL && p < n; p++) exam_list_data(out)[p] = exam_int_at(indices, p) + 1;
  return exam_list(e, out);
}

entry_places exam_places_of(op_exam *e, bool csc, const damo_array *indices, const damo_array *indptr) {
  entry_places p = {{NULL, NULL}};
  const int64_t n_major = array_size(indptr) - 1;
  p.at[csc] = exam_majors_of(e, indptr);
  p.at[!csc] = exam_minors_of(e, indices, n_major < 0 ? 0 : exam_int_at(indptr, n_major));
  return p;
}

entry_places exam_places_in(op_exam *e, const damo_sparse *m) {
  return exam_places_of(e, m->format == DAMO_CSC, m->indices, m->indptr);
}

entry_places exam_places_of_diagonal(op_exam *e, const int64_t *shape, int64_t k) {
  const int64_t from[2] = {k < 0 ? -k : 0, k > 0 ? k : 0};
  const int64_t rows = shape[0] - from[0], cols = shape[1] - from[1], least = rows < cols ? rows : cols,
                n = least > 0 ? least : 0;
  entry_places p = {{NULL, NULL}};
  for (int axis = 0; axis < 2; axis++) {
    damo_array *list = exam_new_list(e, n);
    for (int64_t i = 0; list != NULL && i < n; i++) exam_list_data(list)[i] = from[axis] + i + 1;
    p.at[axis] = exam_list(e, list);
  }
  return p;
}

damo_var *exam_read_at(op_exam *e, damo_var *x, entry_places p) { return exam_read(e, x, "ll", p.at, 2); }

damo_var *exam_put_at(op_exam *e, const int64_t *shape, entry_places p, damo_var *v) {
  return exam_put(e, shape, v, "ll", p.at, 2);
}

bool exam_has_duplicates(const damo_obj *v) {
  damo_sparse *m = (damo_sparse *)(uintptr_t)v, *once = v->kind == OBJ_SPARSE ? sparse_sum_duplicates(m) : NULL;
  const bool fewer = once != NULL && sparse_nnz(once) < sparse_nnz(m);
  damo_release(once);
  return fewer;
}

damo_var *exam_inner_products(op_exam *e, damo_var *x, damo_var *rows, damo_var *y, damo_var *cols, int64_t n_pairs,
                              int64_t length) {
  if ((double)n_pairs * (double)length > OP_EXAM_MOST_ENTRIES) return NULL;
  damo_var *left = exam_take(e, x, rows, 0), *right = exam_take(e, y, cols, 0);
  damo_var *product = left != NULL && right != NULL ? build_mul(e->b, left, right) : NULL;
  return build_reduce(e->b, REDUCE_SUM, product, (const int[]){1}, 1, false);
}
