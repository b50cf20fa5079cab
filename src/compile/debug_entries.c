/* debug_entries.c: the dense equals of Ops on stored entries: vectors of values that belong to the places of a
 * pattern. The places are written out as lists of rows and columns, by which dense matrices are read and put
 * together. */
#include "debug_sparse.h"

#include <string.h>

/* Rows and columns of stored entries, 1-based int64 vectors in the order of storage. */
typedef struct places {
  damo_var *at[2];
} places;

static damo_var *int_vector(build *b, damo_array *take) { return build_value(b, take != NULL ? &take->obj : NULL); }

/* The line of each entry. */
static damo_var *lines_of(build *b, const damo_array *indptr) {
  const int64_t lines = array_size(indptr) - 1, n = lines < 0 ? 0 : debug_int_at(indptr, lines);
  damo_array *out = array_empty(b->ctx, DAMO_INT64, 1, &n);
  for (int64_t i = 0; out != NULL && i < lines; i++) {
    for (int64_t p = debug_int_at(indptr, i); p < debug_int_at(indptr, i + 1); p++)
      ((int64_t *)(void *)out->data)[p] = i + 1;
  }
  return int_vector(b, out);
}

/* The positions inside the lines of the first n entries. */
static damo_var *positions_of(build *b, const damo_array *indices, int64_t n) {
  damo_array *out = array_empty(b->ctx, DAMO_INT64, 1, &n);
  for (int64_t p = 0; out != NULL && p < n; p++) ((int64_t *)(void *)out->data)[p] = debug_int_at(indices, p) + 1;
  return int_vector(b, out);
}

static places places_of(dense_exam *e, bool csc, const damo_array *indices, const damo_array *indptr) {
  places p = {{NULL, NULL}};
  const int64_t lines = array_size(indptr) - 1;
  p.at[csc] = lines_of(e->b, indptr);
  p.at[!csc] = positions_of(e->b, indices, lines < 0 ? 0 : debug_int_at(indptr, lines));
  return p;
}

static places places_in(dense_exam *e, const damo_sparse *m) {
  return places_of(e, m->format == DAMO_CSC, m->indices, m->indptr);
}

static damo_var *read_at(dense_exam *e, damo_var *x, places p) { return exam_read(e, x, "ll", p.at, 2); }

static damo_var *put_at(dense_exam *e, const int64_t *shape, places p, damo_var *v) {
  return exam_put(e, shape, v, "ll", p.at, 2);
}

static const damo_array *vector_in(const dense_exam *e, int i) { return (const damo_array *)e->values[i]; }

/* ---- A vector on a pattern --------------------------------------------------------------------------------------- */

static damo_var *with_data(dense_exam *e) {
  const damo_sparse *x = exam_matrix(e, 0);
  return put_at(e, x->shape, places_in(e, x), e->in[1]);
}

/* What was read, put back on the pattern, is the matrix. */
static damo_var *data(dense_exam *e) {
  const damo_sparse *x = exam_matrix(e, 0);
  e->got = put_at(e, x->shape, places_in(e, x), e->out[0]);
  return e->in[0];
}

static damo_var *properties(dense_exam *e) {
  const damo_sparse *x = exam_matrix(e, 0);
  const damo_array *indices = (const damo_array *)e->results[1], *indptr = (const damo_array *)e->results[2];
  e->got = put_at(e, x->shape, places_of(e, x->format == DAMO_CSC, indices, indptr), e->out[0]);
  return e->in[0];
}

static bool is_csc(const dense_exam *e) { return strcmp(exam_prop(e, "format").u.s, "csc") == 0; }

/* Values and indices beyond what indptr says belong to no line. */
static bool has_rest(const dense_exam *e, int first) {
  const damo_array *indptr = vector_in(e, first + 2);
  const int64_t lines = array_size(indptr) - 1;
  return lines < 0 || debug_int_at(indptr, lines) != array_size(vector_in(e, first));
}

static damo_var *csm(dense_exam *e) {
  const damo_sparse *out = (const damo_sparse *)e->results[0];
  if (has_rest(e, 0)) return NULL;
  return put_at(e, out->shape, places_of(e, is_csc(e), vector_in(e, 1), vector_in(e, 2)), e->in[0]);
}

/* ---- Reading at the places of a pattern -------------------------------------------------------------------------- */

static bool has_duplicates(const damo_obj *v) {
  damo_sparse *m = (damo_sparse *)(uintptr_t)v, *once = v->kind == OBJ_SPARSE ? sparse_sum_duplicates(m) : NULL;
  const bool fewer = once != NULL && sparse_nnz(once) < sparse_nnz(m);
  damo_release(once);
  return fewer;
}

/* (Duplicates of a pattern that both have go one to one.) */
static damo_var *gathered(dense_exam *e) {
  if (has_duplicates(e->values[0])) return NULL;
  return read_at(e, e->in[0], places_in(e, exam_matrix(e, 1)));
}

/* Both matrices as lines, whatever their format: of the second, dense, what the first has. */
static damo_var *gathered_lines(dense_exam *e) {
  if (has_rest(e, 0) || has_rest(e, 4)) return NULL;
  const damo_array *shape = vector_in(e, 3);
  const int64_t m = debug_int_at(shape, 0), n = debug_int_at(shape, 1), lines = array_size(vector_in(e, 2)) - 1;
  const int64_t as_lines[2] = {lines, m > n ? m : n};
  if ((double)as_lines[0] * (double)as_lines[1] > DEBUG_MOST_ENTRIES) return NULL;
  places from = places_of(e, false, vector_in(e, 5), vector_in(e, 6));
  damo_var *dense = put_at(e, as_lines, from, e->in[4]);
  return read_at(e, dense, places_of(e, false, vector_in(e, 1), vector_in(e, 2)));
}

/* A cotangent of sums over every place of x, or over the stored ones. */
static damo_var *spread(dense_exam *e) {
  const damo_sparse *x = exam_matrix(e, 1);
  const prop_value axis = exam_prop(e, "axis"), structured = exam_prop(e, "sparse_grad");
  damo_var *g = e->in[0];
  if (axis.kind == PROP_INT && axis.u.i == 2) g = build_dimshuffle(e->b, g, (const int[]){0, -1}, 2);
  damo_var *everywhere = build_fn2(e->b, "add", exam_zeros(e, var_dtype(g), x->shape), g);
  if (structured.kind != PROP_NIL && structured.u.i == 0) return everywhere;
  const places p = places_in(e, x);
  return put_at(e, x->shape, p, read_at(e, everywhere, p));
}

/* ---- Inner products of rows -------------------------------------------------------------------------------------- */

static damo_var *inner_products(dense_exam *e, damo_var *x, damo_var *rows, damo_var *y, damo_var *cols) {
  const prop_value opt[4] = {prop_int(2)};
  damo_var *left = exam_take(e, x, rows, 0), *right = exam_take(e, y, cols, 0);
  damo_var *product = left != NULL && right != NULL ? build_fn2(e->b, "mul", left, right) : NULL;
  return product != NULL ? build_fn(e->b, "sum", &product, 1, opt) : NULL;
}

static bool is_too_much(double entries, int64_t columns) { return entries * (double)columns > DEBUG_MOST_ENTRIES; }

static damo_var *sampled_vectors(dense_exam *e) {
  const bool csc = op_is(e->node->op, "StructuredDotGradCSC");
  const damo_array *indices = vector_in(e, 0);
  const int64_t lines = array_size(vector_in(e, 1)) - 1;
  if (lines < 0 || debug_int_at(vector_in(e, 1), lines) != array_size(indices)) return NULL;
  if (is_too_much((double)array_size(indices), array_shape(vector_in(e, 2))[1])) return NULL;
  const places p = places_of(e, csc, indices, vector_in(e, 1));
  return inner_products(e, e->in[3], p.at[0], e->in[2], p.at[1]);
}

static damo_var *sampled_matrices(dense_exam *e) {
  const damo_sparse *x = exam_matrix(e, 0);
  if (is_too_much((double)sparse_nnz(x), exam_matrix(e, 1)->shape[1])) return NULL;
  const places p = places_in(e, x);
  return inner_products(e, e->in[2], p.at[0], e->in[1], p.at[1]);
}

/* ---- Others ------------------------------------------------------------------------------------------------------ */

/* A vector's entry added where a column stores something other than 0. */
static damo_var *columns_added(dense_exam *e) {
  build *b = e->b;
  damo_var *x = e->in[0], *zero = build_zeros_like(b, x);
  return build_fn3(b, "switch", build_fn2(b, "neq", x, zero), build_fn2(b, "add", x, e->in[1]), zero);
}

/* The products of the entries that the places are numbered with make the Kronecker product. */
static damo_var *kron(dense_exam *e) {
  const damo_sparse *x = exam_matrix(e, 0), *y = exam_matrix(e, 1), *out = (const damo_sparse *)e->results[0];
  damo_var *left = exam_take(e, read_at(e, e->in[0], places_in(e, x)), e->out[1], 0);
  damo_var *right = exam_take(e, read_at(e, e->in[1], places_in(e, y)), e->out[2], 0);
  if (left == NULL || right == NULL || has_duplicates(&x->obj) || has_duplicates(&y->obj)) return NULL;
  e->got = put_at(e, out->shape, places_in(e, out), build_fn2(e->b, "mul", left, right));
  return build_fn2(e->b, "kron", e->in[0], e->in[1]);
}

/* Cotangents of a matrix without duplicates are matrices like others. */
static damo_var *cotangents_added(dense_exam *e) {
  return has_duplicates(e->values[0]) ? NULL : build_fn2(e->b, "add", e->in[1], e->in[2]);
}

static damo_var *cotangent_moved(dense_exam *e) { return has_duplicates(e->values[3]) ? NULL : e->in[0]; }

const dense_row debug_entry_rows[] = {
    {"WithData", with_data},
    {"SparseData", data},
    {"CSMProperties", properties},
    {"CSM", csm},
    {"GatherData", gathered},
    {"CSMGrad", gathered_lines},
    {"SpSumGrad", spread},
    {"StructuredDotGradCSC", sampled_vectors},
    {"StructuredDotGradCSR", sampled_vectors},
    {"StructuredDotGrad", sampled_matrices},
    {"StructuredAddSV", columns_added},
    {"KronPlaces", kron},
    {"AddCotangents", cotangents_added},
    {"MoveCotangent", cotangent_moved},
    {NULL, NULL},
};
