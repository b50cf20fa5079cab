/* sparse_graph_test: a program that uses only damo.h, with sparse matrices in graphs: Types, constants, shared
 * Variables, compiled functions and their gradients, a host's Op over sparse values, errors, memory. */
#include "damo.h"
#include "leak_case.h"
#include "test.h"

static damo_ctx *ctx;

static void release_all(void *const *at, size_t n) {
  for (size_t i = 0; i < n; i++) damo_release(at[i]);
}
#define RELEASE(...) release_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* [[1, 0, 2], [0, 3, 0]] */
static damo_sparse *matrix(damo_format format) {
  return damo_sparse_from_coo(ctx, format, DAMO_FLOAT64, 2, 3, 3, (const int64_t[]){0, 0, 1},
                              (const int64_t[]){0, 2, 1}, (const double[]){1, 2, 3});
}

static damo_var *variable(damo_format format, const char *name) {
  damo_type *t = damo_type_sparse(ctx, format, DAMO_FLOAT64, DAMO_INT32, NULL);
  damo_var *v = damo_var_new(ctx, t, name);
  damo_release(t);
  return v;
}

static double entry(damo_obj *value, int64_t k) {
  damo_sparse *m = damo_as_sparse(value);
  damo_array *a = m != NULL ? damo_sparse_get_data(m) : damo_as_array(value);
  return ((const double *)damo_array_data(a))[k];
}

static void test_types(void) {
  damo_type *t = damo_type_sparse(ctx, DAMO_CSR, DAMO_FLOAT32, DAMO_INT32, (const int64_t[]){3, -1});
  damo_type *same = damo_type_sparse(ctx, DAMO_CSR, DAMO_FLOAT32, DAMO_INT32, (const int64_t[]){3, -1});
  damo_type *dense = damo_type_tensor(ctx, DAMO_FLOAT32, 2, NULL);
  CHECK(t == same && damo_type_is_sparse(t) && !damo_type_is_sparse(dense));
  CHECK(damo_type_ndim(t) == 2 && damo_type_dtype(t) == DAMO_FLOAT32 && damo_type_shape(t)[0] == 3);
  CHECK(damo_type_sparse(ctx, (damo_format)7, DAMO_FLOAT32, DAMO_INT32, NULL) == NULL);
  CHECK_EQ_S(damo_error_kind(ctx), "value");
  RELEASE(t, same, dense);
}

/* Types with equal patterns are one Type; the pattern is one object, freed with the last of them. */
static void test_patterns(void) {
  const int64_t before = damo_ctx_memory(ctx).objects;
  damo_sparse *a = matrix(DAMO_CSR), *b = matrix(DAMO_CSR), *c = matrix(DAMO_CSC);
  damo_type *t = damo_type_sparse_like(a, DAMO_FLOAT64), *same = damo_type_sparse_like(b, DAMO_FLOAT64);
  damo_type *single = damo_type_sparse_like(b, DAMO_FLOAT32), *other = damo_type_sparse_like(c, DAMO_FLOAT64);
  damo_type *open = damo_type_sparse(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, (const int64_t[]){2, 3});
  CHECK(t == same && t != single && t != other && t != open && damo_type_pattern(open) == NULL);
  damo_sparse *p = damo_type_pattern(t), *q = damo_type_pattern(single);
  CHECK(damo_sparse_dtype(p) == DAMO_BOOL && damo_sparse_nnz(p) == 3 && damo_sparse_shape(p)[1] == 3);
  CHECK(damo_sparse_get_indices(p) == damo_sparse_get_indices(q));
  CHECK(damo_type_sparse_like(a, (damo_dtype)99) == NULL);
  CHECK_EQ_S(damo_error_kind(ctx), "value");
  RELEASE(a, b, c, t, same, single, other, open, p, q);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, before);
}

/* y = A·v, and the gradient of sum(y) by A, which is sparse and has A's pattern: v at the columns. */
static void test_gradient(const char *mode) {
  damo_var *x = variable(DAMO_CSR, "x"), *v = NULL, *y, *cost, *g = NULL;
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, 2, NULL);
  v = damo_var_new(ctx, t, "v");
  y = damo_call(ctx, "sparse.structured_dot", (damo_var *[]){x, v}, 2);
  cost = damo_call(ctx, "sum", &y, 1);
  CHECK(damo_grad(ctx, cost, &x, 1, &g) == DAMO_OK && damo_type_is_sparse(damo_var_get_type(g)));
  damo_function *f = damo_compile(ctx, (damo_var *[]){x, v}, 2, (damo_var *[]){y, g}, 2, NULL, NULL, 0, mode);
  damo_sparse *a = matrix(DAMO_CSC); /* converted on entry */
  damo_array *b = damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){3, 1}, (const double[]){10, 20, 30});
  damo_obj *out[2] = {NULL}, *more[2] = {NULL};
  if (CHECK(f != NULL) &&
      CHECK(damo_function_call_values(f, (damo_obj *[]){(damo_obj *)a, (damo_obj *)b}, 2, out) == DAMO_OK)) {
    CHECK(damo_as_array(out[0]) != NULL && damo_as_sparse(out[0]) == NULL && damo_as_sparse(out[1]) != NULL);
    CHECK(entry(out[0], 0) == 70 && entry(out[0], 1) == 60);
    CHECK(entry(out[1], 0) == 10 && entry(out[1], 1) == 30 && entry(out[1], 2) == 20);
    CHECK(damo_function_call(f, (damo_array *[]){(damo_array *)a, b}, 2, (damo_array *[2]){NULL}) == DAMO_ETYPE);
    CHECK(damo_function_call_values(f, (damo_obj *[]){(damo_obj *)b, (damo_obj *)b}, 2, more) == DAMO_ETYPE);
  }
  RELEASE(x, v, t, y, cost, g, f, a, b, out[0], out[1]);
}

static void test_shared(void) {
  damo_sparse *a = matrix(DAMO_CSR), *b = matrix(DAMO_CSC), *now, *set;
  damo_var *s = damo_shared_sparse(ctx, a, "s"), *c = damo_constant_sparse(ctx, b), *n = damo_call(ctx, "neg", &s, 1);
  ((double *)damo_array_data(damo_sparse_get_data(a)))[0] = 100; /* the Function's values are copies */
  damo_function *f = damo_compile(ctx, NULL, 0, (damo_var *[]){c}, 1, &s, &n, 1, NULL);
  damo_obj *out = NULL;
  CHECK(f != NULL && damo_function_call_values(f, NULL, 0, &out) == DAMO_OK);
  CHECK(damo_sparse_format(damo_as_sparse(out)) == DAMO_CSC && entry(out, 0) == 1);
  now = damo_shared_sparse_value(s);
  CHECK(now != NULL && entry((damo_obj *)now, 0) == -1);
  CHECK(damo_shared_sparse_set(s, b) == DAMO_OK);
  set = damo_shared_sparse_value(s);
  CHECK(damo_sparse_format(set) == DAMO_CSR && entry((damo_obj *)set, 0) == 1 && entry((damo_obj *)now, 0) == -1);
  CHECK(damo_shared_value(s) == NULL);
  CHECK_EQ_S(damo_error_kind(ctx), "type");
  RELEASE(a, b, now, set, s, c, n, f, out);
}

/* ---- An Op of the host's: twice a sparse matrix ------------------------------------------------------------------ */

static damo_status twice_perform(damo_thunk *t) {
  const damo_sparse *x = damo_thunk_input_sparse(t, 0);
  const int64_t *shape = damo_sparse_shape(x), n = damo_sparse_nnz(x), rows = shape[0];
  if (damo_thunk_input(t, 0) != NULL || n > 8 || rows > 7) return damo_fail(ctx, DAMO_EVALUE, "too large");
  int64_t indptr[8], indices[8];
  double data[8];
  const int32_t *p = damo_array_data(damo_sparse_get_indptr(x)), *i = damo_array_data(damo_sparse_get_indices(x));
  const double *d = damo_array_data(damo_sparse_get_data(x));
  for (int64_t k = 0; k <= rows; k++) indptr[k] = p[k];
  for (int64_t k = 0; k < n; k++) {
    indices[k] = i[k];
    data[k] = 2 * d[k];
  }
  const damo_dtype dtype = damo_op_user(damo_thunk_get_op(t)) != NULL ? DAMO_FLOAT32 : DAMO_FLOAT64;
  return damo_thunk_give_sparse(t, 0, damo_sparse_new(ctx, DAMO_CSR, dtype, rows, shape[1], n, indptr, indices, data));
}

static void test_host_op(const char *name, void *user, damo_status expected) {
  const damo_op_class op_class = {.name = name, .n_in = 1, .perform = twice_perform, .user = user};
  CHECK_EQ_I(damo_op_register(ctx, &op_class), DAMO_OK);
  damo_op *op = damo_op_make(ctx, name, NULL, 0);
  damo_var *x = variable(DAMO_CSR, "x");
  damo_apply *node = damo_op_apply(ctx, op, &x, 1);
  damo_var *y = node != NULL ? damo_apply_get_output(node, 0) : NULL;
  damo_function *f = y != NULL ? damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL) : NULL;
  damo_sparse *a = matrix(DAMO_CSR);
  damo_obj *out = NULL;
  if (CHECK(f != NULL)) {
    CHECK_EQ_I(damo_function_call_values(f, (damo_obj *[]){(damo_obj *)a}, 1, &out), expected);
    CHECK(expected != DAMO_OK || entry(out, 1) == 4);
  }
  RELEASE(op, x, node, f, a, out);
}

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  test_types();
  test_patterns();
  test_gradient(NULL);
  test_gradient("FAST_COMPILE");
  test_gradient("DEBUG");
  test_shared();
  test_host_op("Twice", NULL, DAMO_OK);
  test_host_op("TwiceWrong", ctx, DAMO_ETYPE);
  CHECK(damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, -1, 1, 0, NULL, NULL, NULL) ==
        NULL); /* releases the last error's node */
  leak_end(ctx);
  TEST_MAIN_END;
}
