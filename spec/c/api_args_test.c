/* api_args_test: each function of damo.h gets arguments it cannot take: NULL for an object, an object of another kind
 * or context, a negative count, an unknown enum value. It must fail with a typed error that names it; a query without a
 * context to hold an error must return its value for "nothing". No call may crash. */
#include <stdlib.h>

#include "damo.h"
#include "test.h"

static damo_ctx *ctx, *other;
static damo_array *a, *a2;
static damo_sparse *m, *m2;
static damo_type *type, *type2;
static damo_var *x, *x2, *y, *shared, *shared2, *matrix;
static damo_op *op, *op2;
static damo_apply *node;
static damo_function *f;

static damo_status nothing(damo_thunk *t) {
  (void)t;
  return DAMO_OK;
}

static damo_op *registered(damo_ctx *c) {
  damo_op_class k = {.name = "Host", .props = "p", .n_in = 1, .perform = nothing};
  CHECK_EQ_I(damo_op_register(c, &k), DAMO_OK);
  return damo_op_make(c, "Host", NULL, 0);
}

static damo_array *ones(damo_ctx *c) {
  return damo_array_from(c, DAMO_FLOAT64, 2, (const int64_t[]){1, 1}, &(double){1});
}

static void set_up(void) {
  const int64_t open[2] = {-1, -1};
  ctx = damo_ctx_new(NULL, NULL);
  other = damo_ctx_new(NULL, NULL);
  a = ones(ctx), a2 = ones(other);
  m = damo_sparse_from_array(a, DAMO_CSR), m2 = damo_sparse_from_array(a2, DAMO_CSR);
  type = damo_type_tensor(ctx, DAMO_FLOAT64, 2, open), type2 = damo_type_tensor(other, DAMO_FLOAT64, 2, open);
  x = damo_var_new(ctx, type, "x"), x2 = damo_var_new(other, type2, "x2");
  y = damo_call(ctx, "sum", &x, 1);
  shared = damo_shared(ctx, a, "w"), shared2 = damo_shared(other, a2, "w2");
  matrix = damo_shared_sparse(ctx, m, "M");
  op = registered(ctx), op2 = registered(other);
  node = damo_op_apply(ctx, op, &x, 1);
  f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  CHECK(f != NULL && node != NULL && matrix != NULL && shared2 != NULL);
}

static void tear_down(void) {
  void *all[] = {a, a2, m, m2, type, type2, x, x2, y, shared, shared2, matrix, op, op2, node, f};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0); /* a refused call keeps no object */
  damo_ctx_release(ctx);
  damo_ctx_release(other);
}

/* failed: whether the call returned a failure. Checks that the error has that kind and that its message names the
 * function. */
static void refused(bool failed, damo_status kind, const char *names, const char *what) {
  bool ok = failed && damo_error_status(ctx) == kind && strstr(damo_error_message(ctx), names) != NULL;
  if (!test_report(ok, __FILE__, __LINE__, what))
    fprintf(stderr, "    %s: %s\n", damo_error_kind(ctx), damo_error_message(ctx));
  damo_fail(ctx, DAMO_EIO, "stale");
}

#define NONE(kind, names, call) refused((call) == NULL, DAMO_##kind, names, #call)
#define FAILS(kind, names, call)                           \
  do {                                                     \
    const damo_status s_ = (call);                         \
    refused(s_ == DAMO_##kind, DAMO_##kind, names, #call); \
  } while (0)

static int releases;
static void release_once(void *user) { ++*(int *)user; }

static void test_values(void) {
  const int64_t two[2] = {2, 2}, bad[2] = {2, -1}, ptr[2] = {0, 1}, zero[1] = {0};
  const double one[1] = {1};
  double d = 0;
  NONE(EVALUE, "damo_array_new", damo_array_new(ctx, DAMO_FLOAT64, -1, two));
  NONE(EVALUE, "damo_array_new", damo_array_new(ctx, DAMO_FLOAT64, 2, NULL));
  NONE(ESHAPE, "array", damo_array_new(ctx, DAMO_FLOAT64, 2, bad));
  NONE(ESHAPE, "array", damo_array_new(ctx, DAMO_FLOAT64, 99, two));
  NONE(ETYPE, "dtype", damo_array_new(ctx, (damo_dtype)-1, 2, two));
  NONE(EVALUE, "damo_array_from: data", damo_array_from(ctx, DAMO_FLOAT64, 2, two, NULL));
  NONE(EVALUE, "damo_array_from", damo_array_from(ctx, DAMO_FLOAT64, -3, two, one));
  NONE(ETYPE, "dtype", damo_array_scalar(ctx, DAMO_N_DTYPES, 1));
  FAILS(EVALUE, "damo_array_item: out", damo_array_item(a, NULL));
  damo_array *four = damo_array_new(ctx, DAMO_FLOAT64, 2, two);
  FAILS(ESHAPE, "item", damo_array_item(four, &d));
  damo_release(four);
  NONE(EVALUE, "damo_sparse_new: the number of entries",
       damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, -1, ptr, zero, one));
  NONE(EVALUE, "damo_sparse_new: indptr", damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, 1, NULL, zero, one));
  NONE(EVALUE, "damo_sparse_new: the list of indices",
       damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, 1, ptr, NULL, one));
  NONE(EVALUE, "damo_sparse_new: the list of data",
       damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, 1, ptr, zero, NULL));
  NONE(EVALUE, "damo_sparse_new: 7 is not a format",
       damo_sparse_new(ctx, (damo_format)7, DAMO_FLOAT64, 1, 1, 1, ptr, zero, one));
  NONE(ETYPE, "damo_sparse_new: 13 is not a dtype",
       damo_sparse_new(ctx, DAMO_CSR, DAMO_N_DTYPES, 1, 1, 1, ptr, zero, one));
  NONE(ESHAPE, "damo_sparse_new", damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, -1, 1, 1, ptr, zero, one));
  NONE(EVALUE, "damo_sparse_from_coo", damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, -1, zero, zero, one));
  NONE(EVALUE, "of row is", damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, 1, NULL, zero, one));
  NONE(EVALUE, "of col is", damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, 1, zero, NULL, one));
  NONE(EVALUE, "of data is", damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, 1, zero, zero, NULL));
  NONE(EVALUE, "damo_sparse_from_array", damo_sparse_from_array(a, (damo_format)5));
  double space[1] = {0};
  NONE(EVALUE, "damo_array_wrap",
       damo_array_wrap(ctx, DAMO_FLOAT64, -1, two, NULL, space, true, release_once, &releases));
  NONE(EVALUE, "damo_array_wrap: data is NULL",
       damo_array_wrap(ctx, DAMO_FLOAT64, 2, two, NULL, NULL, true, release_once, &releases));
  NONE(ETYPE, "dtype", damo_array_wrap(ctx, DAMO_N_DTYPES, 0, NULL, NULL, space, true, release_once, &releases));
  NONE(ESHAPE, "array", damo_array_wrap(ctx, DAMO_FLOAT64, 2, bad, NULL, space, true, release_once, &releases));
  CHECK_EQ_I(releases, 4);
  NONE(EVALUE, "damo_sparse_from_parts: data", damo_sparse_from_parts(ctx, DAMO_CSR, 1, 1, NULL, a, a));
  NONE(ETYPE, "damo_sparse_from_parts: indices", damo_sparse_from_parts(ctx, DAMO_CSR, 1, 1, a, a2, a));
  NONE(ETYPE, "damo_sparse_from_parts: indptr", damo_sparse_from_parts(ctx, DAMO_CSR, 1, 1, a, a, (damo_array *)m));
  NONE(EVALUE, "4 is not a format", damo_sparse_from_parts(ctx, (damo_format)4, 1, 1, a, a, a));
  NONE(EVALUE, "damo_sparse_with_data: data", damo_sparse_with_data(m, NULL));
  NONE(ETYPE, "damo_sparse_with_data: data", damo_sparse_with_data(m, a2));
}

static void test_files(void) {
  const char *const names[1] = {"x"}, *const no_name[1] = {NULL};
  const damo_csv_options csv = {.size = 1};
  const damo_mtx_options mtx = {.size = sizeof mtx, .symmetry = (damo_symmetry)8}, huge = {.size = (size_t)-1};
  const char *const path = "/nobody/is/here";
  damo_graph *g = damo_graph_new(ctx, &x, 1, &y, 1, NULL, NULL, 0);
  damo_bytes bytes;
  NONE(ETYPE, "damo_graph_new: entry 1 of inputs", damo_graph_new(ctx, &x2, 1, &y, 1, NULL, NULL, 0));
  NONE(EVALUE, "damo_graph_new", damo_graph_new(ctx, &x, 1, NULL, 1, NULL, NULL, 0));
  NONE(EVALUE, "damo_graph_new", damo_graph_new(ctx, &x, 1, &y, -1, NULL, NULL, 0));
  NONE(ETYPE, "damo_graph_new: update 1", damo_graph_new(ctx, &x, 1, &y, 1, &x, &y, 1));
  NONE(EVALUE, "damo_graph_read: path", damo_graph_read(ctx, NULL, NULL, 0));
  NONE(EIO, "/nobody", damo_graph_read(ctx, path, NULL, 0));
  NONE(ETYPE, "damo_graph_read: entry 1 of ops", damo_graph_read(ctx, path, &op2, 1));
  NONE(EVALUE, "damo_graph_parse: bytes", damo_graph_parse(ctx, NULL, 8, NULL, 0));
  NONE(EIO, "bytes: ", damo_graph_parse(ctx, NULL, 0, NULL, 0));
  FAILS(EVALUE, "damo_graph_write: path", damo_graph_write(g, NULL, true));
  FAILS(EIO, "/nobody", damo_graph_write(g, path, true));
  FAILS(EVALUE, "damo_graph_format: out", damo_graph_format(g, true, NULL));
  CHECK(damo_graph_get(g, DAMO_GRAPH_INPUTS, 1) == NULL && damo_graph_get(g, DAMO_GRAPH_OUTPUTS, -1) == NULL);
  CHECK(damo_graph_size(g, (damo_graph_part)9) == 0 && damo_graph_get(g, (damo_graph_part)9, 0) == NULL);
  damo_graph_free(g);
  CHECK(damo_graph_new(NULL, NULL, 0, NULL, 0, NULL, NULL, 0) == NULL && damo_graph_of_function(NULL) == NULL);
  CHECK(damo_graph_write(NULL, path, true) == DAMO_EVALUE && damo_graph_format(NULL, true, &bytes) == DAMO_EVALUE);
  CHECK(damo_graph_read(NULL, path, NULL, 0) == NULL && damo_graph_parse(NULL, path, 1, NULL, 0) == NULL);
  CHECK(damo_graph_size(NULL, DAMO_GRAPH_SHARED) == 0 && damo_graph_get(NULL, DAMO_GRAPH_SHARED, 0) == NULL);
  damo_graph_free(NULL);
  NONE(EVALUE, "damo_npy_read: path", damo_npy_read(ctx, NULL));
  NONE(EIO, "/nobody", damo_npy_read(ctx, path));
  FAILS(EVALUE, "damo_npy_write: path", damo_npy_write(NULL, a));
  FAILS(EIO, "/nobody", damo_npy_write(path, a));
  NONE(EVALUE, "damo_npz_read: path", damo_npz_read(ctx, NULL, 0));
  NONE(EIO, "/nobody", damo_npz_read(ctx, path, 0));
  FAILS(EVALUE, "damo_npz_write: path", damo_npz_write(ctx, NULL, names, &a, 1));
  FAILS(EVALUE, "damo_npz_write: the number of names is -1", damo_npz_write(ctx, path, names, &a, -1));
  FAILS(EVALUE, "damo_npz_write: the list of names", damo_npz_write(ctx, path, NULL, &a, 1));
  FAILS(EVALUE, "damo_npz_write: a name is NULL", damo_npz_write(ctx, path, no_name, &a, 1));
  FAILS(EVALUE, "damo_npz_write: the list of arrays", damo_npz_write(ctx, path, names, NULL, 1));
  FAILS(ETYPE, "damo_npz_write: entry 1 of arrays", damo_npz_write(ctx, path, names, &a2, 1));
  NONE(EVALUE, "damo_npz_read_sparse: path", damo_npz_read_sparse(ctx, NULL));
  FAILS(EVALUE, "damo_npz_write_sparse: path", damo_npz_write_sparse(NULL, m));
  NONE(EVALUE, "damo_mtx_read: path", damo_mtx_read(ctx, NULL, DAMO_CSR));
  NONE(EVALUE, "damo_mtx_read: 3 is not a format", damo_mtx_read(ctx, path, (damo_format)3));
  FAILS(EVALUE, "damo_mtx_write: path", damo_mtx_write(NULL, (damo_obj *)m, NULL));
  FAILS(ETYPE, "damo_mtx_write: value", damo_mtx_write(path, (damo_obj *)x, NULL));
  FAILS(EVALUE, "damo_mtx_write: 8 is not a symmetry", damo_mtx_write(path, (damo_obj *)m, &mtx));
  FAILS(EVALUE, "damo_mtx_write: the options' size", damo_mtx_write(path, (damo_obj *)m, &huge));
  NONE(EVALUE, "damo_csv_read: path", damo_csv_read(ctx, NULL, NULL, NULL));
  NONE(EVALUE, "damo_csv_read: the options' size is 1", damo_csv_read(ctx, path, &csv, NULL));
  FAILS(EVALUE, "damo_csv_write: path", damo_csv_write(NULL, a, NULL, 0));
  FAILS(EVALUE, "damo_csv_write: the list of header", damo_csv_write(path, a, NULL, 1));
  FAILS(EVALUE, "damo_csv_write: a name is NULL", damo_csv_write(path, a, no_name, 1));
  NONE(EVALUE, "damo_safetensors_read: path", damo_safetensors_read(ctx, NULL));
  NONE(EVALUE, "damo_safetensors_parse: bytes", damo_safetensors_parse(ctx, NULL, 1));
  FAILS(EVALUE, "damo_safetensors_write: path", damo_safetensors_write(ctx, NULL, names, &a, 1, NULL, 0));
  FAILS(EVALUE, "damo_safetensors_write: a name", damo_safetensors_write(ctx, path, no_name, &a, 1, NULL, 0));
  FAILS(EVALUE, "damo_safetensors_write: the list of metadata",
        damo_safetensors_write(ctx, path, names, &a, 1, NULL, 1));
  FAILS(EVALUE, "damo_safetensors_format: out", damo_safetensors_format(ctx, names, &a, 1, NULL, 0, NULL));
  CHECK(damo_npz_get_metadata(NULL, "x") == NULL);
  damo_bytes_free(ctx, NULL);
  damo_bytes_free(NULL, NULL);
  NONE(EVALUE, "damo_npy_parse: bytes", damo_npy_parse(ctx, NULL, 1));
  FAILS(EVALUE, "damo_npy_format: out", damo_npy_format(a, NULL));
  NONE(EVALUE, "damo_npz_parse: bytes", damo_npz_parse(ctx, NULL, 1, 0));
  FAILS(EVALUE, "damo_npz_format: out", damo_npz_format(ctx, names, &a, 1, NULL));
  NONE(EVALUE, "damo_npz_parse_sparse: bytes", damo_npz_parse_sparse(ctx, NULL, 1));
  FAILS(EVALUE, "damo_npz_format_sparse: out", damo_npz_format_sparse(m, NULL));
  NONE(EVALUE, "damo_mtx_parse: bytes", damo_mtx_parse(ctx, NULL, 1, DAMO_CSR));
  NONE(EVALUE, "damo_mtx_parse: 3 is not a format", damo_mtx_parse(ctx, "x", 1, (damo_format)3));
  FAILS(EVALUE, "damo_mtx_format: out", damo_mtx_format((damo_obj *)m, NULL, NULL));
  NONE(EVALUE, "damo_csv_parse: bytes", damo_csv_parse(ctx, NULL, 1, NULL, NULL));
  FAILS(EVALUE, "damo_csv_format: out", damo_csv_format(a, NULL, 0, NULL));
  CHECK(damo_npz_size(NULL) == 0 && damo_npz_get_name(NULL, 0) == NULL && damo_npz_get_array(NULL, 0) == NULL);
  CHECK(damo_npz_find(NULL, "x") == NULL);
  damo_npz_free(NULL);
}

static void test_tables_and_images(void) {
  const char *const names[1] = {"x"}, *const no_name[1] = {NULL}, *const path = "/nobody/is/here";
  const damo_csv_options no_text = {.size = sizeof no_text, .missing = no_name, .n_missing = 1},
                         no_list = {.size = sizeof no_list, .n_columns = 1},
                         columns = {.size = sizeof columns, .columns = names, .n_columns = 1};
  damo_bytes bytes;
  NONE(EVALUE, "damo_npy_map: path", damo_npy_map(ctx, NULL));
  NONE(EIO, "/nobody", damo_npy_map(ctx, path));
  FAILS(EVALUE, "damo_npz_write_compressed: path", damo_npz_write_compressed(ctx, NULL, names, &a, 1));
  FAILS(EVALUE, "damo_npz_write_compressed: a name", damo_npz_write_compressed(ctx, path, no_name, &a, 1));
  FAILS(EIO, "/nobody", damo_npz_write_compressed(ctx, path, names, &a, 1));
  FAILS(EVALUE, "damo_npz_format_compressed: out", damo_npz_format_compressed(ctx, names, &a, 1, NULL));
  NONE(EVALUE, "damo_csv_read_table: path", damo_csv_read_table(ctx, NULL, NULL));
  NONE(EIO, "/nobody", damo_csv_read_table(ctx, path, NULL));
  NONE(EVALUE, "damo_csv_read_table: a text is NULL", damo_csv_read_table(ctx, path, &no_text));
  NONE(EVALUE, "damo_csv_read_table: the list of columns", damo_csv_read_table(ctx, path, &no_list));
  NONE(EVALUE, "columns are read by damo_csv_read_table", damo_csv_parse(ctx, "x\n1\n", 4, &columns, NULL));
  NONE(EVALUE, "damo_csv_parse_table: bytes", damo_csv_parse_table(ctx, NULL, 1, NULL));
  CHECK(damo_csv_table_size(NULL) == 0 && damo_csv_table_rows(NULL) == 0 && damo_csv_table_get_name(NULL, 0) == NULL);
  CHECK(damo_csv_table_get_numbers(NULL, 0) == NULL && damo_csv_table_get_text(NULL, 0, 0, NULL) == NULL);
  damo_csv_table_free(NULL);
  NONE(EVALUE, "damo_image_read: path", damo_image_read(ctx, NULL, 0));
  NONE(EVALUE, "is no image", damo_image_read(ctx, "picture.gif", 0));
  NONE(EIO, "/nobody", damo_image_read(ctx, "/nobody/x.png", 0));
  NONE(EVALUE, "damo_image_parse: bytes", damo_image_parse(ctx, NULL, 1, 0));
  NONE(EVALUE, "bytes is no image", damo_image_parse(ctx, "GIF89a", 6, 0));
  FAILS(EVALUE, "damo_image_write: path", damo_image_write(NULL, a));
  FAILS(EVALUE, "'picture.gif' names no format", damo_image_write("picture.gif", a));
  FAILS(EVALUE, "damo_image_format: format", damo_image_format(a, NULL, &bytes));
  FAILS(EVALUE, "damo_image_format: out", damo_image_format(a, "png", NULL));
  FAILS(EVALUE, "'jpg' names no format", damo_image_format(a, "jpg", &bytes));
  CHECK(damo_image_write("x.png", NULL) == DAMO_EVALUE && damo_image_format(NULL, "png", &bytes) == DAMO_EVALUE);
  CHECK(damo_image_read(NULL, "x.png", 0) == NULL && damo_image_parse(NULL, "x", 1, 0) == NULL);
  CHECK(damo_csv_read_table(NULL, "x", NULL) == NULL && damo_csv_parse_table(NULL, "x", 1, NULL) == NULL);
  CHECK(damo_npy_map(NULL, "x") == NULL && damo_npz_write_compressed(NULL, "x", NULL, NULL, 0) == DAMO_EVALUE);
}

static void test_graph(void) {
  damo_var *const wrong[2] = {x, x2}, *const hole[2] = {x, NULL}, *const kind[2] = {x, (damo_var *)a};
  damo_var *out[2] = {NULL, NULL};
  NONE(EVALUE, "TensorType", damo_type_tensor(ctx, DAMO_FLOAT64, -1, NULL));
  NONE(EVALUE, "TensorType", damo_type_tensor(ctx, DAMO_N_DTYPES, 1, NULL));
  NONE(EVALUE, "SparseTensorType", damo_type_sparse(ctx, (damo_format)9, DAMO_FLOAT64, DAMO_INT32, NULL));
  NONE(EVALUE, "damo_type_sparse: itype", damo_type_sparse(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_FLOAT32, NULL));
  NONE(EVALUE, "SparseTensorType", damo_type_sparse_like(m, DAMO_N_DTYPES));
  NONE(EVALUE, "damo_var_new: type is NULL", damo_var_new(ctx, NULL, "v"));
  NONE(ETYPE, "damo_var_new: type belongs to another context", damo_var_new(ctx, type2, "v"));
  NONE(ETYPE, "damo_var_new: type must be a Type, got an array", damo_var_new(ctx, (damo_type *)a, "v"));
  NONE(EVALUE, "damo_constant", damo_constant(ctx, NULL));
  NONE(ETYPE, "damo_constant", damo_constant(ctx, a2));
  NONE(ETYPE, "damo_constant: value must be an array, got a sparse matrix", damo_constant(ctx, (damo_array *)m));
  NONE(EVALUE, "damo_shared", damo_shared(ctx, NULL, "w"));
  NONE(ETYPE, "damo_shared", damo_shared(ctx, a2, "w"));
  NONE(ETYPE, "no shared Variable", damo_shared_value(x));
  NONE(ETYPE, "damo_shared_value: shared must be a Variable, got an array", damo_shared_value((damo_var *)(void *)a));
  FAILS(EVALUE, "damo_shared_set", damo_shared_set(shared, NULL));
  FAILS(ETYPE, "damo_shared_set", damo_shared_set(shared, a2));
  FAILS(ETYPE, "no shared Variable", damo_shared_set(x, a));
  FAILS(ETYPE, "damo_shared_set: shared must be a Variable", damo_shared_set((damo_var *)(void *)a, a));
  NONE(EVALUE, "damo_constant_sparse", damo_constant_sparse(ctx, NULL));
  NONE(ETYPE, "damo_constant_sparse", damo_constant_sparse(ctx, m2));
  NONE(EVALUE, "damo_shared_sparse", damo_shared_sparse(ctx, NULL, "M"));
  NONE(ETYPE, "damo_shared_sparse", damo_shared_sparse(ctx, m2, "M"));
  NONE(ETYPE, "not sparse", damo_shared_sparse_value(shared));
  FAILS(EVALUE, "damo_shared_sparse_set", damo_shared_sparse_set(matrix, NULL));
  FAILS(ETYPE, "damo_shared_sparse_set", damo_shared_sparse_set(matrix, m2));
  NONE(EVALUE, "damo_call: func", damo_call(ctx, NULL, &x, 1));
  NONE(EVALUE, "there is no function 'nobody'", damo_call(ctx, "nobody", &x, 1));
  NONE(EVALUE, "add: the number of operands is -2", damo_call(ctx, "add", &x, -2));
  NONE(EVALUE, "add: the list of operands", damo_call(ctx, "add", NULL, 2));
  NONE(EVALUE, "add: entry 2 of operands is NULL", damo_call(ctx, "add", hole, 2));
  NONE(ETYPE, "add: entry 2 of operands belongs to another context", damo_call(ctx, "add", wrong, 2));
  NONE(ETYPE, "add: entry 2 of operands must be a Variable, got an array", damo_call(ctx, "add", kind, 2));
  NONE(ETYPE, "add", damo_call(ctx, "add", &x, 1));
  NONE(EVALUE, "damo_call_with: func", damo_call_with(ctx, NULL, &x, 1, "axis=1"));
  NONE(EVALUE, "sum: the number of operands", damo_call_with(ctx, "sum", &x, -1, "axis=1"));
  NONE(ETYPE, "sum: entry 1 of operands", damo_call_with(ctx, "sum", &x2, 1, "axis=1"));
  NONE(EVALUE, "sum: the options text is missing", damo_call_with(ctx, "sum", &x, 1, NULL));
  NONE(EVALUE, "sum: unknown option", damo_call_with(ctx, "sum", &x, 1, "axes=1"));
  const damo_prop unnamed = {.kind = DAMO_PROP_INT}, axis = damo_prop_int("axis", 1),
                  foreign = damo_prop_var("shape", x2), unlisted = damo_prop_vars("shape", NULL, 2);
  NONE(EVALUE, "damo_call_props: func", damo_call_props(ctx, NULL, &x, 1, NULL, 0));
  NONE(EVALUE, "there is no function 'nobody'", damo_call_props(ctx, "nobody", &x, 1, NULL, 0));
  NONE(ETYPE, "sum: entry 1 of operands", damo_call_props(ctx, "sum", &x2, 1, &axis, 1));
  NONE(EVALUE, "sum: the number of options is -1", damo_call_props(ctx, "sum", &x, 1, &axis, -1));
  NONE(EVALUE, "sum: the list of options", damo_call_props(ctx, "sum", &x, 1, NULL, 1));
  NONE(EVALUE, "sum: the name of an option is NULL", damo_call_props(ctx, "sum", &x, 1, &unnamed, 1));
  NONE(ETYPE, "reshape: shape belongs to another context", damo_call_props(ctx, "reshape", &x, 1, &foreign, 1));
  NONE(EVALUE, "reshape: the list of shape is NULL", damo_call_props(ctx, "reshape", &x, 1, &unlisted, 1));
  FAILS(EVALUE, "damo_call_all: func", damo_call_all(ctx, NULL, &x, 1, NULL, 0, out, 1));
  FAILS(EVALUE, "damo_call_all: the list of results", damo_call_all(ctx, "sum", &x, 1, NULL, 0, NULL, 1));
  FAILS(EVALUE, "damo_call_all: the number of results", damo_call_all(ctx, "sum", &x, 1, NULL, 0, out, -1));
  FAILS(EVALUE, "sum: gives 1 result, not 2", damo_call_all(ctx, "sum", &x, 1, NULL, 0, out, 2));
  FAILS(ETYPE, "damo_random_seed: state must be a Variable", damo_random_seed((damo_var *)(void *)a, 1));
  FAILS(ETYPE, "no generator's state", damo_random_seed(shared, 1));
  FAILS(EVALUE, "damo_grad: cost", damo_grad(ctx, NULL, &x, 1, out));
  FAILS(ETYPE, "damo_grad: cost", damo_grad(ctx, x2, &x, 1, out));
  FAILS(ETYPE, "damo_grad: entry 2 of wrt", damo_grad(ctx, y, wrong, 2, out));
  FAILS(EVALUE, "damo_grad: entry 2 of wrt", damo_grad(ctx, y, hole, 2, out));
  FAILS(EVALUE, "damo_grad: the number of wrt is -1", damo_grad(ctx, y, &x, -1, out));
  FAILS(EVALUE, "damo_grad: the list of wrt", damo_grad(ctx, y, NULL, 1, out));
  FAILS(EVALUE, "damo_grad: the list of out", damo_grad(ctx, y, &x, 1, NULL));
  const damo_grad_options known = {.size = sizeof known, .known_of = &x, .known = &x2, .n_known = 1},
                          none = {.size = sizeof none, .n_consider_constant = 1};
  FAILS(EVALUE, "damo_grad_with: cost", damo_grad_with(ctx, NULL, &x, 1, NULL, out));
  FAILS(ETYPE, "damo_grad_with: entry 1 of wrt", damo_grad_with(ctx, y, &x2, 1, NULL, out));
  FAILS(ETYPE, "damo_grad_with: entry 1 of known", damo_grad_with(ctx, y, &x, 1, &known, out));
  FAILS(EVALUE, "damo_grad_with: the list of consider_constant", damo_grad_with(ctx, y, &x, 1, &none, out));
  FAILS(ETYPE, "damo_lop: entry 1 of f", damo_lop(ctx, &x2, 1, &x, 1, &y, out));
  FAILS(EVALUE, "damo_lop: the number of wrt", damo_lop(ctx, &y, 1, &x, -1, &y, out));
  FAILS(EVALUE, "damo_lop: the list of output_grads", damo_lop(ctx, &y, 1, &x, 1, NULL, out));
  FAILS(EVALUE, "damo_lop: the list of out", damo_lop(ctx, &y, 1, &x, 1, &y, NULL));
  FAILS(ETYPE, "damo_vectorize_graph: entry 1 of outputs", damo_vectorize_graph(ctx, &x2, 1, &x, &x, 1, out));
  FAILS(ETYPE, "damo_vectorize_graph: entry 1 of old", damo_vectorize_graph(ctx, &y, 1, &x2, &x, 1, out));
  FAILS(EVALUE, "damo_vectorize_graph: the number of outputs", damo_vectorize_graph(ctx, &y, -1, &x, &x, 1, out));
  FAILS(EVALUE, "damo_vectorize_graph: the list of now", damo_vectorize_graph(ctx, &y, 1, &x, NULL, 1, out));
  FAILS(EVALUE, "damo_vectorize_graph: the list of out", damo_vectorize_graph(ctx, &y, 1, &x, &x, 1, NULL));
  FAILS(ETYPE, "damo_rop: entry 1 of f", damo_rop(ctx, &x2, 1, &x, 1, &x, NULL, out));
  FAILS(EVALUE, "damo_rop: the list of wrt", damo_rop(ctx, &y, 1, NULL, 1, &x, NULL, out));
  FAILS(ETYPE, "damo_rop: entry 1 of eval_points", damo_rop(ctx, &y, 1, &x, 1, &x2, NULL, out));
  FAILS(EVALUE, "damo_rop: the list of out", damo_rop(ctx, &y, 1, &x, 1, &x, NULL, NULL));
  CHECK(out[0] == NULL && out[1] == NULL);
  NONE(EVALUE, "damo_debugprint", damo_debugprint(ctx, NULL));
  NONE(ETYPE, "damo_debugprint", damo_debugprint(ctx, x2));
}

static void test_ops(void) {
  damo_var *const wrong[2] = {x, x2};
  const damo_prop unnamed = {.kind = DAMO_PROP_INT}, odd = {.name = "p", .kind = (damo_prop_kind)9};
  const damo_op_class no_perform = {.name = "None", .n_in = 1},
                      minus = {.name = "Minus", .n_in = -5, .perform = nothing};
  FAILS(EVALUE, "damo_op_register", damo_op_register(ctx, NULL));
  FAILS(EVALUE, "needs perform", damo_op_register(ctx, &no_perform));
  FAILS(EVALUE, "-5 inputs", damo_op_register(ctx, &minus));
  NONE(EVALUE, "damo_op_make: class_name", damo_op_make(ctx, NULL, NULL, 0));
  NONE(EVALUE, "no Op class 'Nobody'", damo_op_make(ctx, "Nobody", NULL, 0));
  NONE(EVALUE, "damo_op_make: the number of props", damo_op_make(ctx, "Host", NULL, -1));
  NONE(EVALUE, "damo_op_make: the list of props", damo_op_make(ctx, "Host", NULL, 1));
  NONE(EVALUE, "Host: the name of a property is NULL", damo_op_make(ctx, "Host", &unnamed, 1));
  NONE(EVALUE, "Host: the property 'p' has kind 9", damo_op_make(ctx, "Host", &odd, 1));
  const damo_prop list = damo_prop_ints("p", NULL, 0);
  NONE(EVALUE, "Host: the property 'p' has kind 5, which is for options", damo_op_make(ctx, "Host", &list, 1));
  NONE(EVALUE, "damo_op_apply: op", damo_op_apply(ctx, NULL, &x, 1));
  NONE(ETYPE, "damo_op_apply: op belongs to another", damo_op_apply(ctx, op2, &x, 1));
  NONE(ETYPE, "damo_op_apply: entry 1 of in", damo_op_apply(ctx, op, &x2, 1));
  NONE(EVALUE, "damo_op_apply: the number of in", damo_op_apply(ctx, op, &x, -1));
  NONE(ETYPE, "Host: expected 1 input, got 2", damo_op_apply(ctx, op, (damo_var *[]){x, x}, 2));
  NONE(ETYPE, "damo_op_from_graph: entry 2 of inputs", damo_op_from_graph(ctx, wrong, 2, &y, 1, NULL, false));
  NONE(EVALUE, "damo_op_from_graph: the number of inputs", damo_op_from_graph(ctx, &x, -1, &y, 1, NULL, false));
  NONE(EVALUE, "damo_op_from_graph: the list of outputs", damo_op_from_graph(ctx, &x, 1, NULL, 1, NULL, false));
  NONE(EVALUE, "damo_op_from_graph: the number of outputs", damo_op_from_graph(ctx, &x, 1, &y, -1, NULL, false));
  CHECK_EQ_I(damo_fail(ctx, (damo_status)99, "odd"), DAMO_ECALLBACK);
  CHECK(damo_apply_get_input(node, -1) == NULL && damo_apply_get_input(node, 1) == NULL);
  CHECK(damo_apply_get_output(node, -1) == NULL && damo_apply_get_output(node, 1) == NULL);
}

static void test_functions(void) {
  damo_var *const wrong[2] = {x, x2};
  damo_array *out = NULL, *far = a2, *two[2] = {a, a};
  damo_obj *value = NULL, *far_matrix = (damo_obj *)m2, *no_value = (damo_obj *)x;
  NONE(ETYPE, "damo_compile: entry 2 of inputs", damo_compile(ctx, wrong, 2, &y, 1, NULL, NULL, 0, NULL));
  NONE(EVALUE, "damo_compile: the number of inputs is -1", damo_compile(ctx, &x, -1, &y, 1, NULL, NULL, 0, NULL));
  NONE(EVALUE, "damo_compile: the list of inputs", damo_compile(ctx, NULL, 1, &y, 1, NULL, NULL, 0, NULL));
  NONE(ETYPE, "damo_compile: entry 1 of outputs", damo_compile(ctx, &x, 1, &x2, 1, NULL, NULL, 0, NULL));
  NONE(EVALUE, "damo_compile: the number of outputs is -1", damo_compile(ctx, &x, 1, &y, -1, NULL, NULL, 0, NULL));
  NONE(EVALUE, "damo_compile: the list of outputs", damo_compile(ctx, &x, 1, NULL, 1, NULL, NULL, 0, NULL));
  NONE(ETYPE, "damo_compile: entry 1 of shared", damo_compile(ctx, &x, 1, &y, 1, &shared2, &y, 1, NULL));
  NONE(ETYPE, "damo_compile: entry 1 of update", damo_compile(ctx, &x, 1, &y, 1, &shared, &shared2, 1, NULL));
  NONE(EVALUE, "damo_compile: the list of update", damo_compile(ctx, &x, 1, &y, 1, &shared, NULL, 1, NULL));
  NONE(EVALUE, "damo_compile: the number of shared", damo_compile(ctx, &x, 1, &y, 1, &shared, &y, -4, NULL));
  NONE(EVALUE, "FAST", damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, "FAST"));
  FAILS(ETYPE, "damo_function_call: entry 1 of args belongs to another", damo_function_call(f, &far, 1, &out));
  FAILS(EVALUE, "damo_function_call: the number of args is -1", damo_function_call(f, &a, -1, &out));
  FAILS(EVALUE, "damo_function_call: the list of args", damo_function_call(f, NULL, 1, &out));
  FAILS(EVALUE, "damo_function_call: the list of results", damo_function_call(f, &a, 1, NULL));
  FAILS(ETYPE, "expected 1 argument, got 2", damo_function_call(f, two, 2, &out));
  FAILS(EMISSING_INPUT, "input 1 (x)", damo_function_call(f, NULL, 0, &out));
  FAILS(ETYPE, "damo_function_call_values: entry 1", damo_function_call_values(f, &far_matrix, 1, &value));
  FAILS(ETYPE, "must be an array or a sparse", damo_function_call_values(f, &no_value, 1, &value));
  FAILS(EVALUE, "damo_function_call_values", damo_function_call_values(f, &no_value, -2, &value));
  CHECK(out == NULL && value == NULL);
  const damo_compile_options far_default = {.size = sizeof far_default, .defaults = &far_matrix},
                             given = {.size = sizeof given, .given = &x, .n_givens = 1},
                             unused = {.size = sizeof unused, .on_unused_input = (damo_unused)7};
  NONE(ETYPE, "damo_compile_with: entry 1 of inputs", damo_compile_with(ctx, &x2, 1, &y, 1, NULL));
  NONE(EVALUE, "damo_compile_with: the list of outputs", damo_compile_with(ctx, &x, 1, NULL, 1, NULL));
  NONE(ETYPE, "damo_compile_with: entry 1 of defaults", damo_compile_with(ctx, &x, 1, &y, 1, &far_default));
  NONE(EVALUE, "damo_compile_with: the list of given_as", damo_compile_with(ctx, &x, 1, &y, 1, &given));
  NONE(EVALUE, "on_unused_input", damo_compile_with(ctx, &x, 1, &y, 1, &unused));
  FAILS(ETYPE, "damo_function_into: entry 1 of args", damo_function_into(f, &far_matrix, 1, &value));
  FAILS(EVALUE, "damo_function_into: the list of into", damo_function_into(f, (damo_obj **)&a, 1, NULL));
  NONE(EVALUE, "damo_call_begin: the list of args", damo_call_begin(f, NULL, 1));
  FAILS(ETYPE, "damo_function_into: entry 1 of into", damo_function_into(f, (damo_obj **)&a, 1, &far_matrix));
  FAILS(ETYPE, "damo_function_into: entry 1 of into", damo_function_into(f, (damo_obj **)&a, 1, &no_value));
}

/* Without a context no error can be stored: the call returns a failure or "nothing". */
static void test_null(void) {
  double d = 5;
  int64_t i = 5;
  bool b = true;
  damo_dtype dt = DAMO_BOOL;
  damo_array *out = NULL;
  damo_retain(NULL);
  damo_release(NULL);
  damo_ctx_release(NULL);
  CHECK(damo_ctx_retain(NULL) == NULL && damo_ctx_memory(NULL).bytes == 0);
  damo_ctx_set_memory_cap(NULL, 1);
  damo_ctx_set_warning(NULL, NULL, NULL);
  damo_ctx_set_print(NULL, NULL, NULL);
  damo_ctx_interrupt(NULL);
  damo_ctx_set_sandbox(NULL);
  CHECK(!damo_ctx_is_sandbox(NULL));
  CHECK(damo_error_status(NULL) == DAMO_EVALUE && damo_error_op(NULL) == NULL && damo_error_operands(NULL) == NULL &&
        damo_error_get_node(NULL) == NULL);
  CHECK_EQ_S(damo_error_kind(NULL), "value");
  CHECK_EQ_S(damo_error_message(NULL), "the context is NULL");
  CHECK_EQ_S(damo_status_kind((damo_status)-1), "unknown");
  CHECK_EQ_S(damo_dtype_name((damo_dtype)-1), "unknown");
  CHECK(damo_dtype_size((damo_dtype)99) == 0 && !damo_dtype_from_name(NULL, &dt) &&
        !damo_dtype_from_name("bool", NULL));
  CHECK(damo_array_new(NULL, DAMO_BOOL, 0, NULL) == NULL && damo_array_from(NULL, DAMO_BOOL, 0, NULL, &b) == NULL);
  CHECK(damo_array_scalar(NULL, DAMO_FLOAT64, 1) == NULL && damo_array_ndim(NULL) == 0 && damo_array_size(NULL) == 0);
  CHECK(damo_array_dtype(NULL) == DAMO_N_DTYPES && damo_array_shape(NULL) == NULL && damo_array_strides(NULL) == NULL);
  CHECK(damo_array_data(NULL) == NULL && damo_array_item(NULL, &d) == DAMO_EVALUE && d == 5);
  CHECK(damo_sparse_new(NULL, DAMO_CSR, DAMO_FLOAT64, 1, 1, 0, &i, &i, &d) == NULL);
  CHECK(damo_sparse_from_coo(NULL, DAMO_CSR, DAMO_FLOAT64, 1, 1, 0, &i, &i, &d) == NULL);
  CHECK(damo_array_wrap(NULL, DAMO_BOOL, 0, NULL, NULL, &b, true, NULL, NULL) == NULL &&
        !damo_array_is_writeable(NULL));
  CHECK(damo_sparse_from_parts(NULL, DAMO_CSR, 1, 1, a, a, a) == NULL && damo_sparse_with_data(NULL, a) == NULL);
  CHECK(damo_npy_read(NULL, "x") == NULL && damo_npy_write("x", NULL) == DAMO_EVALUE);
  CHECK(damo_npz_read(NULL, "x", 0) == NULL && damo_npz_write(NULL, "x", NULL, NULL, 0) == DAMO_EVALUE);
  CHECK(damo_npz_read_sparse(NULL, "x") == NULL && damo_npz_write_sparse("x", NULL) == DAMO_EVALUE);
  CHECK(damo_mtx_read(NULL, "x", DAMO_CSR) == NULL && damo_mtx_write("x", NULL, NULL) == DAMO_EVALUE);
  CHECK(damo_csv_read(NULL, "x", NULL, NULL) == NULL && damo_csv_write("x", NULL, NULL, 0) == DAMO_EVALUE);
  CHECK(damo_function_snapshot(NULL, NULL, 0, NULL) == DAMO_EVALUE &&
        damo_function_restore(NULL, "x", 1) == DAMO_EVALUE);
  CHECK(damo_safetensors_read(NULL, "x") == NULL && damo_safetensors_parse(NULL, "x", 1) == NULL);
  CHECK(damo_safetensors_write(NULL, "x", NULL, NULL, 0, NULL, 0) == DAMO_EVALUE);
  CHECK(damo_safetensors_format(NULL, NULL, NULL, 0, NULL, 0, NULL) == DAMO_EVALUE);
  CHECK(damo_npy_parse(NULL, "x", 1) == NULL && damo_npy_format(NULL, NULL) == DAMO_EVALUE);
  CHECK(damo_npz_parse(NULL, "x", 1, 0) == NULL && damo_npz_format(NULL, NULL, NULL, 0, NULL) == DAMO_EVALUE);
  CHECK(damo_npz_parse_sparse(NULL, "x", 1) == NULL && damo_npz_format_sparse(NULL, NULL) == DAMO_EVALUE);
  CHECK(damo_mtx_parse(NULL, "x", 1, DAMO_CSR) == NULL && damo_mtx_format(NULL, NULL, NULL) == DAMO_EVALUE);
  CHECK(damo_csv_parse(NULL, "x", 1, NULL, NULL) == NULL && damo_csv_format(NULL, NULL, 0, NULL) == DAMO_EVALUE);
  CHECK(damo_sparse_from_array(NULL, DAMO_CSR) == NULL && damo_sparse_shape(NULL) == NULL &&
        damo_sparse_nnz(NULL) == 0);
  CHECK(damo_sparse_format(NULL) == DAMO_CSR && damo_sparse_dtype(NULL) == DAMO_N_DTYPES);
  CHECK(damo_sparse_get_data(NULL) == NULL && damo_sparse_get_indices(NULL) == NULL);
  CHECK(damo_sparse_get_indptr(NULL) == NULL && damo_sparse_toarray(NULL) == NULL);
  CHECK(damo_type_tensor(NULL, DAMO_FLOAT64, 0, NULL) == NULL);
  CHECK(damo_type_sparse(NULL, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, NULL) == NULL);
  CHECK(damo_type_sparse_like(NULL, DAMO_FLOAT64) == NULL && damo_type_pattern(NULL) == NULL &&
        !damo_type_is_sparse(NULL));
  CHECK(damo_type_ndim(NULL) == 0 && damo_type_dtype(NULL) == DAMO_N_DTYPES && damo_type_shape(NULL) == NULL);
  CHECK(damo_var_new(NULL, type, NULL) == NULL && damo_constant(NULL, a) == NULL && damo_number(NULL, 1) == NULL);
  CHECK(damo_shared(NULL, a, NULL) == NULL && damo_shared_value(NULL) == NULL &&
        damo_shared_set(NULL, a) == DAMO_EVALUE);
  CHECK(damo_constant_sparse(NULL, m) == NULL && damo_shared_sparse(NULL, m, NULL) == NULL);
  CHECK(damo_shared_sparse_value(NULL) == NULL && damo_shared_sparse_set(NULL, m) == DAMO_EVALUE);
  CHECK(damo_var_get_type(NULL) == NULL && damo_var_get_owner(NULL) == NULL && damo_var_get_name(NULL) == NULL);
  CHECK(damo_call(NULL, "exp", &x, 1) == NULL && damo_call_with(NULL, "exp", &x, 1, "") == NULL);
  CHECK(damo_grad_undefined(NULL, "why") == NULL && damo_grad(NULL, y, &x, 1, NULL) == DAMO_EVALUE);
  CHECK(damo_call_props(NULL, "exp", &x, 1, NULL, 0) == NULL);
  CHECK(damo_call_all(NULL, "exp", &x, 1, NULL, 0, NULL, 0) == DAMO_EVALUE);
  CHECK(damo_grad_with(NULL, y, &x, 1, NULL, NULL) == DAMO_EVALUE);
  CHECK(damo_lop(NULL, &y, 1, &x, 1, &y, NULL) == DAMO_EVALUE);
  CHECK(damo_vectorize_graph(NULL, &y, 1, &x, &x, 1, NULL) == DAMO_EVALUE);
  CHECK(damo_rop(NULL, &y, 1, &x, 1, &x, NULL, NULL) == DAMO_EVALUE);
  CHECK(damo_random_state(NULL, 1, NULL) == NULL && damo_random_seed(NULL, 1) == DAMO_EVALUE);
  CHECK(damo_debugprint(NULL, x) == NULL);
  damo_text_free(NULL, NULL);
  damo_text_free(ctx, NULL);
  CHECK(damo_op_register(NULL, &(damo_op_class){.name = "N"}) == DAMO_EVALUE);
  CHECK(damo_op_make(NULL, "Host", NULL, 0) == NULL && damo_op_apply(NULL, op, &x, 1) == NULL);
  CHECK(damo_op_user(NULL) == NULL && damo_op_name(NULL) == NULL && damo_op_get_string(NULL, "p") == NULL);
  CHECK(!damo_op_get_number(NULL, "p", &d) && !damo_op_get_int(NULL, "p", &i) && !damo_op_get_bool(NULL, "p", &b));
  CHECK(!damo_op_get_number(op, NULL, &d) && !damo_op_get_int(op, "p", NULL) && damo_op_get_string(op, NULL) == NULL);
  CHECK(damo_apply_n_inputs(NULL) == 0 && damo_apply_n_outputs(NULL) == 0 && damo_apply_get_op(NULL) == NULL);
  CHECK(damo_apply_get_input(NULL, 0) == NULL && damo_apply_get_output(NULL, 0) == NULL);
  CHECK(damo_thunk_input(NULL, 0) == NULL && damo_thunk_input_sparse(NULL, 0) == NULL);
  CHECK(damo_thunk_output(NULL, 0, DAMO_FLOAT64, 0, NULL) == NULL && damo_thunk_output_inplace(NULL, 0, 0) == NULL);
  CHECK(damo_thunk_give_sparse(NULL, 0, NULL) == DAMO_EVALUE && damo_thunk_scratch(NULL, 1) == NULL);
  CHECK(damo_thunk_state(NULL) == NULL && damo_thunk_get_op(NULL) == NULL && damo_thunk_ctx(NULL) == NULL);
  CHECK(damo_fail(NULL, DAMO_EVALUE, "x") == DAMO_EVALUE && damo_obj_ctx(NULL) == NULL);
  CHECK(damo_op_from_graph(NULL, &x, 1, &y, 1, NULL, false) == NULL);
  CHECK(damo_compile(NULL, &x, 1, &y, 1, NULL, NULL, 0, NULL) == NULL);
  CHECK(damo_function_call(NULL, &a, 1, &out) == DAMO_EVALUE && damo_function_n_outputs(NULL) == 0);
  CHECK(damo_compile_with(NULL, &x, 1, &y, 1, NULL) == NULL && damo_function_copy(NULL) == NULL);
  CHECK(damo_function_copy_to(NULL, ctx) == NULL && damo_function_shared_value(NULL, x) == NULL);
  char token[DAMO_TOKEN_SIZE];
  CHECK(damo_function_token(NULL, token) == DAMO_EVALUE && damo_from_token(NULL, "x") == NULL);
  CHECK(damo_from_token(ctx, NULL) == NULL && damo_function_shared_var(NULL, 0) == NULL);
  CHECK(damo_token_pin(NULL, "x") == DAMO_EVALUE && damo_token_unpin(ctx, NULL) == DAMO_EVALUE);
  CHECK(damo_token_set_allocator(NULL, NULL) == DAMO_EVALUE);
  CHECK(damo_call_begin(NULL, NULL, 0) == NULL && damo_call_step(NULL, 0, &b) == DAMO_EVALUE);
  CHECK(damo_call_result(NULL, &out) == DAMO_EVALUE && damo_call_cancel(NULL) == DAMO_EVALUE);
  CHECK(damo_call_restart(NULL, NULL, 0) == DAMO_EVALUE);
  CHECK(damo_function_into(NULL, NULL, 0, NULL) == DAMO_EVALUE && damo_function_n_inputs(NULL) == 0);
  CHECK(damo_function_call_values(NULL, NULL, 0, NULL) == DAMO_EVALUE);
  CHECK(damo_as_array(NULL) == NULL && damo_as_sparse(NULL) == NULL);
  CHECK(damo_as_var(NULL) == NULL && damo_as_op(NULL) == NULL);
}

int main(void) {
  set_up();
  test_values();
  test_files();
  test_tables_and_images();
  test_graph();
  test_ops();
  test_functions();
  test_null();
  tear_down();
  TEST_MAIN_END;
}
