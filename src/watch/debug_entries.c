/* debug_entries.c: the dense equals of Ops on stored entries: vectors of values that belong to the places of a
 * pattern. The places are written out as lists of rows and columns, by which dense matrices are read and put
 * together. */
#include "debug_sparse.h"
#include "op/elem/build_arith.h"

#include <string.h>

/* Rows and columns of stored entries, 1-based int64 vectors in the order of storage. */
typedef struct entry_places {
  damo_var *at[2];
} entry_places;

static damo_var *int_vector(build *b, damo_array *take) { return build_value(b, take != NULL ? &take->obj : NULL); }

/* The major index of each entry. */
static damo_var *majors_of(build *b, const damo_array *indptr) {
  const int64_t n_major = array_size(indptr) - 1, n = n_major < 0 ? 0 : debug_int_at(indptr, n_major);
  damo_array *out = array_empty(b->ctx, DAMO_INT64, 1, &n);
  for (int64_t i = 0; out != NULL && i < n_major; i++) {
    for (int64_t p = debug_int_at(indptr, i); p < debug_int_at(indptr, i + 1); p++)
      ((int64_t *)(void *)out->data)[p] = i + 1;
  }
  return int_vector(b, out);
}

/* The minor indices of the first n entries. */
static damo_var *minors_of(build *b, const damo_array *indices, int64_t n) {
  damo_array *out = array_empty(b->ctx, DAMO_INT64, 1, &n);
  for (int64_t p = 0; out != NULL && p < n; p++) ((int64_t *)(void *)out->data)[p] = debug_int_at(indices, p) + 1;
  return int_vector(b, out);
}

static entry_places entry_places_of(debug_exam *e, bool csc, const damo_array *indices, const damo_array *indptr) {
  entry_places p = {{NULL, NULL}};
  const int64_t n_major = array_size(indptr) - 1;
  p.at[csc] = majors_of(e->b, indptr);
  p.at[!csc] = minors_of(e->b, indices, n_major < 0 ? 0 : debug_int_at(indptr, n_major));
  return p;
}

static entry_places entry_places_in(debug_exam *e, const damo_sparse *m) {
  return entry_places_of(e, m->format == DAMO_CSC, m->indices, m->indptr);
}

static damo_var *dense_read_at(debug_exam *e, damo_var *x, entry_places p) {
  return debug_exam_read(e, x, "ll", p.at, 2);
}

static damo_var *dense_put_at(debug_exam *e, const int64_t *shape, entry_places p, damo_var *v) {
  return debug_exam_put(e, shape, v, "ll", p.at, 2);
}

static const damo_array *vector_in(const debug_exam *e, int i) { return (const damo_array *)e->values[i]; }

/* ---- A vector on a pattern --------------------------------------------------------------------------------------- */

static damo_var *dense_with_data(debug_exam *e) {
  const damo_sparse *x = debug_exam_matrix(e, 0);
  return dense_put_at(e, x->shape, entry_places_in(e, x), e->in[1]);
}

/* What was read, put back on the pattern, is the matrix. */
static damo_var *dense_data(debug_exam *e) {
  const damo_sparse *x = debug_exam_matrix(e, 0);
  e->got = dense_put_at(e, x->shape, entry_places_in(e, x), e->out[0]);
  return e->in[0];
}

static damo_var *dense_properties(debug_exam *e) {
  const damo_sparse *x = debug_exam_matrix(e, 0);
  const damo_array *indices = (const damo_array *)e->results[1], *indptr = (const damo_array *)e->results[2];
  e->got = dense_put_at(e, x->shape, entry_places_of(e, x->format == DAMO_CSC, indices, indptr), e->out[0]);
  return e->in[0];
}

static bool is_csc(const debug_exam *e) { return strcmp(debug_exam_prop(e, "format").u.s, "csc") == 0; }

/* Values and indices beyond what indptr says belong to no row or column. */
static bool has_rest(const debug_exam *e, int first) {
  const damo_array *indptr = vector_in(e, first + 2);
  const int64_t n_major = array_size(indptr) - 1;
  return n_major < 0 || debug_int_at(indptr, n_major) != array_size(vector_in(e, first));
}

static damo_var *dense_csm(debug_exam *e) {
  const damo_sparse *out = (const damo_sparse *)e->results[0];
  if (has_rest(e, 0)) return NULL;
  return dense_put_at(e, out->shape, entry_places_of(e, is_csc(e), vector_in(e, 1), vector_in(e, 2)), e->in[0]);
}

/* ---- Reading at the places of a pattern -------------------------------------------------------------------------- */

static bool has_duplicates(const damo_obj *v) {
  damo_sparse *m = (damo_sparse *)(uintptr_t)v, *once = v->kind == OBJ_SPARSE ? sparse_sum_duplicates(m) : NULL;
  const bool fewer = once != NULL && sparse_nnz(once) < sparse_nnz(m);
  damo_release(once);
  return fewer;
}

/* (Duplicates of a pattern that both have go one to one.) */
static damo_var *dense_gathered(debug_exam *e) {
  if (has_duplicates(e->values[0])) return NULL;
  return dense_read_at(e, e->in[0], entry_places_in(e, debug_exam_matrix(e, 1)));
}

/* Both matrices by their major axes, whatever their format: of the second, dense, what the first has. */
static damo_var *dense_gathered_majors(debug_exam *e) {
  if (has_rest(e, 0) || has_rest(e, 4)) return NULL;
  const damo_array *shape = vector_in(e, 3);
  const int64_t m = debug_int_at(shape, 0), n = debug_int_at(shape, 1), n_major = array_size(vector_in(e, 2)) - 1;
  const int64_t as_rows[2] = {n_major, m > n ? m : n};
  if ((double)as_rows[0] * (double)as_rows[1] > DEBUG_MOST_ENTRIES) return NULL;
  entry_places from = entry_places_of(e, false, vector_in(e, 5), vector_in(e, 6));
  damo_var *dense = dense_put_at(e, as_rows, from, e->in[4]);
  return dense_read_at(e, dense, entry_places_of(e, false, vector_in(e, 1), vector_in(e, 2)));
}

/* A cotangent of sums over every place of x, or over the stored ones. */
static damo_var *dense_spread(debug_exam *e) {
  const damo_sparse *x = debug_exam_matrix(e, 1);
  const prop_value axis = debug_exam_prop(e, "axis"), structured = debug_exam_prop(e, "sparse_grad");
  damo_var *g = e->in[0];
  if (axis.kind == PROP_INT && axis.u.i == 2) g = build_dimshuffle(e->b, g, (const int[]){0, -1}, 2);
  damo_var *everywhere = build_add(e->b, debug_exam_zeros(e, var_dtype(g), x->shape), g);
  if (structured.kind != PROP_NIL && structured.u.i == 0) return everywhere;
  const entry_places p = entry_places_in(e, x);
  return dense_put_at(e, x->shape, p, dense_read_at(e, everywhere, p));
}

/* ---- Inner products of rows -------------------------------------------------------------------------------------- */

static damo_var *inner_products(debug_exam *e, damo_var *x, damo_var *rows, damo_var *y, damo_var *cols) {
  const reduce_options opt = {.axis = prop_int(2)};
  damo_var *left = debug_exam_take(e, x, rows, 0), *right = debug_exam_take(e, y, cols, 0);
  damo_var *product = left != NULL && right != NULL ? build_mul(e->b, left, right) : NULL;
  return product != NULL ? build_fn(e->b, "sum", &product, 1, &opt) : NULL;
}

static bool is_too_much(double entries, int64_t columns) { return entries * (double)columns > DEBUG_MOST_ENTRIES; }

static damo_var *dense_sampled_vectors(debug_exam *e) {
  const bool csc = op_is(e->node->op, "StructuredDotGradCSC");
  const damo_array *indices = vector_in(e, 0);
  const int64_t n_major = array_size(vector_in(e, 1)) - 1;
  if (n_major < 0 || debug_int_at(vector_in(e, 1), n_major) != array_size(indices)) return NULL;
  if (is_too_much((double)array_size(indices), array_shape(vector_in(e, 2))[1])) return NULL;
  const entry_places p = entry_places_of(e, csc, indices, vector_in(e, 1));
  return inner_products(e, e->in[3], p.at[0], e->in[2], p.at[1]);
}

static damo_var *dense_sampled_matrices(debug_exam *e) {
  const damo_sparse *x = debug_exam_matrix(e, 0);
  if (is_too_much((double)sparse_nnz(x), debug_exam_matrix(e, 1)->shape[1])) return NULL;
  const entry_places p = entry_places_in(e, x);
  return inner_products(e, e->in[2], p.at[0], e->in[1], p.at[1]);
}

/* ---- Others ------------------------------------------------------------------------------------------------------ */

/* A vector's entry added where a column stores something other than 0. */
static damo_var *dense_columns_added(debug_exam *e) {
  build *b = e->b;
  damo_var *x = e->in[0], *zero = build_zeros_like(b, x);
  return build_switch(b, build_neq(b, x, zero), build_add(b, x, e->in[1]), zero);
}

/* The products of the entries that the places are numbered with make the Kronecker product. */
static damo_var *dense_kron(debug_exam *e) {
  const damo_sparse *x = debug_exam_matrix(e, 0), *y = debug_exam_matrix(e, 1),
                    *out = (const damo_sparse *)e->results[0];
  damo_var *left = debug_exam_take(e, dense_read_at(e, e->in[0], entry_places_in(e, x)), e->out[1], 0);
  damo_var *right = debug_exam_take(e, dense_read_at(e, e->in[1], entry_places_in(e, y)), e->out[2], 0);
  if (left == NULL || right == NULL || has_duplicates(&x->obj) || has_duplicates(&y->obj)) return NULL;
  e->got = dense_put_at(e, out->shape, entry_places_in(e, out), build_mul(e->b, left, right));
  return build_fn2(e->b, "kron", e->in[0], e->in[1]);
}

/* Cotangents of a matrix without duplicates are matrices like others. */
static damo_var *dense_cotangents_added(debug_exam *e) {
  return has_duplicates(e->values[0]) ? NULL : build_add(e->b, e->in[1], e->in[2]);
}

static damo_var *dense_cotangent_moved(debug_exam *e) { return has_duplicates(e->values[3]) ? NULL : e->in[0]; }

const debug_dense_row debug_entry_rows[] = {
    {"WithData", dense_with_data},
    {"SparseData", dense_data},
    {"CSMProperties", dense_properties},
    {"CSM", dense_csm},
    {"GatherData", dense_gathered},
    {"CSMGrad", dense_gathered_majors},
    {"SpSumGrad", dense_spread},
    {"StructuredDotGradCSC", dense_sampled_vectors},
    {"StructuredDotGradCSR", dense_sampled_vectors},
    {"StructuredDotGrad", dense_sampled_matrices},
    {"StructuredAddSV", dense_columns_added},
    {"KronPlaces", dense_kron},
    {"AddCotangents", dense_cotangents_added},
    {"MoveCotangent", dense_cotangent_moved},
    {NULL, NULL},
};
