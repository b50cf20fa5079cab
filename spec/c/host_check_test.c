/* host_check_test: results of a host's Op callbacks are checked as those of scripts are: missing outputs, wrong dtype,
 * rank or kind, shared memory, objects of another context, maps with positions that do not exist. */
#include <stdlib.h>

#include "damo.h"
#include "test.h"

/* What the class under test does wrong; set before each call. */
static enum {
  GIVE_RIGHT,
  GIVE_NOTHING,
  GIVE_INT,
  GIVE_MATRIX,
  GIVE_LENGTH,
  GIVE_SPARSE,
  FAIL_SILENT,
  FAIL_UNKNOWN,
  TAKE_NINTH,
  TAKE_NEGATIVE,
  TAKE_NO_DTYPE,
  KEEP_IT
} way;

static damo_array *kept; /* by KEEP_IT */

static damo_status give(damo_thunk *t) {
  const damo_array *x = damo_thunk_input(t, 0);
  const int64_t two[2] = {2, 2}, five = 5, less = -1;
  damo_array *out = NULL;
  switch (way) {
    case GIVE_NOTHING: return DAMO_OK;
    case GIVE_INT: return damo_thunk_output(t, 0, DAMO_INT32, 1, &five) != NULL ? DAMO_OK : DAMO_EMEMORY;
    case GIVE_MATRIX: return damo_thunk_output(t, 0, DAMO_FLOAT64, 2, two) != NULL ? DAMO_OK : DAMO_EMEMORY;
    case GIVE_LENGTH: return damo_thunk_output(t, 0, DAMO_FLOAT64, 1, &five) != NULL ? DAMO_OK : DAMO_EMEMORY;
    case GIVE_SPARSE: return damo_thunk_give_sparse(t, 0, damo_sparse_from_array(kept, DAMO_CSR));
    case FAIL_SILENT: return DAMO_ENUMERIC;
    case FAIL_UNKNOWN: return (damo_status)77;
    case TAKE_NINTH: damo_thunk_output(t, 9, DAMO_FLOAT64, 1, &five); return damo_error_status(damo_thunk_ctx(t));
    case TAKE_NEGATIVE: damo_thunk_output(t, 0, DAMO_FLOAT64, 1, &less); return damo_error_status(damo_thunk_ctx(t));
    case TAKE_NO_DTYPE: damo_thunk_output(t, 0, DAMO_N_DTYPES, 1, &five); return damo_error_status(damo_thunk_ctx(t));
    case GIVE_RIGHT:
    case KEEP_IT: break;
  }
  out = damo_thunk_output(t, 0, DAMO_FLOAT64, 1, damo_array_shape(x));
  if (out == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < damo_array_size(x); i++) {
    ((double *)damo_array_data(out))[i] = 2 * ((const double *)damo_array_data(x))[i];
  }
  if (way == KEEP_IT) {
    damo_release(kept);
    kept = damo_retain(out);
  }
  return DAMO_OK;
}

static damo_var *vector(damo_ctx *ctx, const char *name) {
  const int64_t three = 3;
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, 1, &three);
  damo_var *v = damo_var_new(ctx, t, name);
  damo_release(t);
  return v;
}

static damo_var *apply1(damo_ctx *ctx, damo_op *op, damo_var *x) {
  damo_apply *node = damo_op_apply(ctx, op, &x, 1);
  damo_var *v = node != NULL ? damo_retain(damo_apply_get_output(node, 0)) : NULL;
  damo_release(node);
  return v;
}

static damo_op *class_op(damo_ctx *ctx, damo_op_class c) {
  CHECK_EQ_I(damo_op_register(ctx, &c), DAMO_OK);
  return damo_op_make(ctx, c.name, NULL, 0);
}

/* In each mode, with a following node that would read the bad output; at the first run, and after a good run, whose
 * value is still in the cell. */
static void test_outputs(const char *mode) {
  static const struct {
    int way;
    damo_status status;
    const char *says;
  } rows[] = {{GIVE_NOTHING, DAMO_EVALUE, "Give: its perform gave no output 1"},
              {GIVE_INT, DAMO_ETYPE, "Give: its perform put an array of dtype int32 and shape (5,) into output 1"},
              {GIVE_MATRIX, DAMO_ETYPE, "shape (2, 2) into output 1"},
              {GIVE_LENGTH, DAMO_ETYPE, "shape (5,) into output 1, expected TensorType(float64, shape=(3,))"},
              {GIVE_SPARSE, DAMO_ETYPE, "Give: output 1 was given a matrix"},
              {FAIL_SILENT, DAMO_ENUMERIC, "Give: its perform failed with status numeric"},
              {FAIL_UNKNOWN, DAMO_ECALLBACK, "Give: its perform failed with 77, which is no status"},
              {TAKE_NINTH, DAMO_EINDEX, "there is no output 9, outputs are 0 to 0"},
              {TAKE_NEGATIVE, DAMO_ESHAPE, "-1"},
              {TAKE_NO_DTYPE, DAMO_ETYPE, "dtype"}};
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_op *op = class_op(ctx, (damo_op_class){.name = "Give", .n_in = 1, .perform = give});
  damo_var *x = vector(ctx, "x"), *y = apply1(ctx, op, x), *z = damo_call(ctx, "exp", &y, 1);
  const int64_t three = 3;
  damo_array *v = damo_array_new(ctx, DAMO_FLOAT64, 1, &three), *out = NULL;
  kept = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 2});
  damo_function *f = damo_compile(ctx, &x, 1, &z, 1, NULL, NULL, 0, mode);
  for (int warm = 0; warm < 2; warm++) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      way = GIVE_RIGHT;
      if (warm && CHECK_EQ_I(damo_function_call(f, &v, 1, &out), DAMO_OK)) damo_release(out);
      way = rows[i].way;
      if (!CHECK_EQ_I(damo_function_call(f, &v, 1, &out), rows[i].status)) fprintf(stderr, "    row %zu\n", i);
      CHECK_EQ_S(damo_error_kind(ctx), damo_status_kind(rows[i].status));
      if (!CHECK(strstr(damo_error_message(ctx), rows[i].says) != NULL))
        fprintf(stderr, "    %s\n", damo_error_message(ctx));
      CHECK_EQ_S(damo_error_op(ctx), "Give");
    }
  }
  way = GIVE_RIGHT;
  if (CHECK_EQ_I(damo_function_call(f, &v, 1, &out), DAMO_OK)) damo_release(out);
  void *all[] = {op, x, y, z, v, f, kept};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  kept = NULL;
  CHECK(damo_error_status(ctx) != DAMO_OK); /* a successful call does not clear the last error */
  damo_ctx_release(ctx);
}

/* A value to which the host holds a reference is never written by a following in-place node. */
static void test_kept(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_op *op = class_op(ctx, (damo_op_class){.name = "Keep", .n_in = 1, .perform = give});
  damo_var *x = vector(ctx, "x"), *y = apply1(ctx, op, x), *z = damo_call(ctx, "exp", &y, 1);
  const int64_t three = 3;
  damo_array *v = damo_array_from(ctx, DAMO_FLOAT64, 1, &three, (const double[]){1, 2, 3}), *out = NULL;
  damo_function *f = damo_compile(ctx, &x, 1, &z, 1, NULL, NULL, 0, NULL);
  way = KEEP_IT;
  for (int i = 0; i < 2 && CHECK_EQ_I(damo_function_call(f, &v, 1, &out), DAMO_OK); i++) {
    CHECK_NEAR(((double *)damo_array_data(kept))[1], 4, 0);
    CHECK_NEAR(((double *)damo_array_data(out))[1], exp(4), 1e-12);
    damo_release(out);
  }
  void *all[] = {op, x, y, z, v, f, kept};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  kept = NULL;
  damo_ctx_release(ctx);
}

/* ---- Sparse results ---------------------------------------------------------------------------------------------- */

static damo_sparse *cache; /* the result of every call */

static damo_status give_cache(damo_thunk *t) {
  return damo_thunk_give_sparse(t, 0, damo_retain(cache != NULL ? cache : damo_thunk_input_sparse(t, 0)));
}

/* A result that is the input, or the same matrix at each call, is copied: the following node negates in place. */
static void test_sparse(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_op *op = class_op(ctx, (damo_op_class){.name = "Cached", .n_in = 1, .perform = give_cache});
  damo_type *t = damo_type_sparse(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, NULL);
  damo_var *x = damo_var_new(ctx, t, "x"), *y = apply1(ctx, op, x), *z = damo_call(ctx, "neg", &y, 1);
  damo_function *f = damo_compile(ctx, &x, 1, &z, 1, NULL, NULL, 0, NULL);
  const int64_t indptr[] = {0, 1}, indices[] = {0};
  for (int own = 0; own < 2; own++) {
    damo_sparse *m = damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, 1, 1, 1, indptr, indices, (const double[]){7});
    damo_obj *arg = (damo_obj *)m, *out = NULL;
    cache = own ? m : NULL;
    for (int i = 0; i < 3 && CHECK_EQ_I(damo_function_call_values(f, &arg, 1, &out), DAMO_OK); i++) {
      const damo_array *data = damo_sparse_get_data(damo_as_sparse(out));
      CHECK_NEAR(*(const double *)damo_array_data(data), -7, 0);
      CHECK_NEAR(*(const double *)damo_array_data(damo_sparse_get_data(m)), 7, 0);
      damo_release(out);
    }
    damo_release(m);
  }
  void *all[] = {op, t, x, y, z, f};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
}

/* ---- Other callbacks --------------------------------------------------------------------------------------------- */

static damo_ctx *foreign; /* a second context */

static damo_status foreign_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)in, (void)n_in;
  out[0] = damo_type_tensor(foreign, DAMO_FLOAT64, 1, NULL);
  return DAMO_OK;
}

static damo_status foreign_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)op, (void)node, (void)gout;
  gin[0] = vector(foreign, "g");
  return DAMO_OK;
}

static damo_status typed_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node, (void)gout;
  gin[0] = (damo_var *)damo_type_tensor(damo_obj_ctx(op), DAMO_FLOAT64, 1, NULL);
  return DAMO_OK;
}

static void test_foreign(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  foreign = damo_ctx_new(NULL, NULL);
  damo_op *types =
      class_op(ctx, (damo_op_class){.name = "Types", .n_in = 1, .perform = give, .infer_type = foreign_type});
  damo_op *grads[2] = {class_op(ctx, (damo_op_class){.name = "Far", .n_in = 1, .perform = give, .grad = foreign_grad}),
                       class_op(ctx, (damo_op_class){.name = "Kind", .n_in = 1, .perform = give, .grad = typed_grad})};
  damo_var *x = vector(ctx, "x"), *g = NULL;
  CHECK(apply1(ctx, types, x) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ETYPE);
  CHECK_EQ_S(damo_error_message(ctx),
             "Types: its infer_type: a result belongs to another context; make it in this one");
  for (int i = 0; i < 2; i++) {
    damo_var *y = apply1(ctx, grads[i], x), *cost = damo_call(ctx, "sum", &y, 1);
    CHECK_EQ_I(damo_grad(ctx, cost, &x, 1, &g), DAMO_ETYPE);
    CHECK(strstr(damo_error_message(ctx), i == 0 ? "Far: its grad: a result belongs to another context"
                                                 : "Kind: its grad: a result must be a Variable, got a Type") != NULL);
    damo_release(y);
    damo_release(cost);
  }
  void *all[] = {types, grads[0], grads[1], x};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
  damo_ctx_release(foreign);
}

/* Bad maps are found when the class is registered or, for variadic classes, when a node is made. */
static void test_maps(void) {
  static const damo_alias far_in[] = {{0, 1}, {-1, -1}}, far_out[] = {{1, 0}, {-1, -1}}, below[] = {{0, -1}, {-1, -1}};
  const struct {
    damo_op_class c;
    const char *says;
  } rows[] = {{{.name = "M", .n_in = 1, .perform = give, .destroy_map = far_in},
               "M: its destroy_map names input 2, but it has 1 input"},
              {{.name = "M", .n_in = 1, .perform = give, .view_map = far_out},
               "M: its view_map names output 2, but it has 1 output"},
              {{.name = "M", .n_in = 3, .perform = give, .view_map = below},
               "M: its view_map names input 0, but it has 3 inputs"},
              {{.name = "M", .n_in = 3, .n_out = -1, .perform = give}, "3 inputs and -1 outputs"},
              {{.name = "M", .n_in = -2, .perform = give}, "-2 inputs"},
              {{.name = "M", .n_in = 1, .perform = give, .default_output = 2}, "no output 2 for default_output"}};
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK_EQ_I(damo_op_register(ctx, &rows[i].c), DAMO_EVALUE);
    if (!CHECK(strstr(damo_error_message(ctx), rows[i].says) != NULL))
      fprintf(stderr, "    %s\n", damo_error_message(ctx));
  }
  damo_op *any = class_op(ctx, (damo_op_class){.name = "Any", .n_in = -1, .perform = give, .destroy_map = far_in});
  damo_var *x = vector(ctx, "x");
  CHECK(apply1(ctx, any, x) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EVALUE);
  CHECK_EQ_S(damo_error_message(ctx), "Any: its destroy_map names input 2, but it has 1 input");
  CHECK_EQ_S(damo_error_op(ctx), "Any");
  damo_release(any);
  damo_release(x);
  damo_ctx_release(ctx);
}

int main(void) {
  test_outputs(NULL);
  test_outputs("FAST_COMPILE");
  test_outputs("NANGUARD");
  test_kept();
  test_sparse();
  test_foreign();
  test_maps();
  TEST_MAIN_END;
}
