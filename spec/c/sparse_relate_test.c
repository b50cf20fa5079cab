/* sparse_relate_test: elementwise operations of stored entries with dense operands, and comparisons: sparse_scale_to,
 * sparse_entries_with, sparse_with_columns, sparse_relate and the like, against loops over dense matrices. */
#include <math.h>
#include <string.h>

#include "op/op.h"
#include "sparse/sparse.h"
#include "test.h"
#include "by_name.h"

#define ROWS 7
#define COLS 9

static damo_ctx *new_ctx(void) { return damo_ctx_new(NULL, NULL); }

/* Integers from -2 to 2, some of them stored twice, some of them stored zeros; indices unsorted. */
static damo_sparse *make(damo_ctx *ctx, damo_format format, damo_dtype itype, uint64_t seed) {
  int64_t rows[60], cols[60];
  double values[60];
  for (int k = 0; k < 60; k++) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    rows[k] = (int64_t)(seed >> 33) % ROWS;
    cols[k] = (int64_t)(seed >> 43) % COLS;
    values[k] = (double)((int64_t)(seed >> 53) % 5 - 2);
  }
  return sparse_from_places(ctx, format, DAMO_FLOAT64, (const int64_t[]){ROWS, COLS}, 60, rows, cols, values, itype,
                            true);
}

static damo_array *numbers(damo_ctx *ctx, int ndim, const int64_t *shape) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, ndim, shape);
  double *at = a ? (double *)(void *)a->data : NULL;
  for (int64_t i = 0; a && i < array_size(a); i++) at[i] = (double)(i * 7 % 5 - 2);
  return a;
}

static double at(const damo_array *a, int64_t i, int64_t j) {
  return scalar_to_double(array_get(a, (int64_t[]){i, j}));
}

/* ---- Entries and dense operands ---------------------------------------------------------------------------------- */

static void test_entries(damo_ctx *ctx, damo_format format, damo_dtype itype) {
  static const int64_t shapes[][2] = {{ROWS, COLS}, {1, COLS}, {ROWS, 1}, {1, 1}};
  damo_sparse *a = make(ctx, format, itype, 3);
  damo_array *dense = sparse_to_dense(a);
  const kernel_fn mul = ctx->isa->mul->fn[DAMO_FLOAT64];
  for (int s = 0; s < 5; s++) {
    damo_array *y = numbers(ctx, s < 4 ? 2 : 0, s < 4 ? shapes[s] : NULL);
    damo_array *data = array_empty(ctx, DAMO_FLOAT64, 1, (int64_t[]){sparse_nnz(a)});
    CHECK_EQ_I(sparse_entries_with(mul, DAMO_FLOAT64, a, y, data), DAMO_OK);
    damo_sparse *z = sparse_with_data(a, data);
    damo_array *got = sparse_to_dense(z);
    bool ok = true;
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t j = 0; j < COLS; j++) {
        const double f =
            s < 4 ? at(y, shapes[s][0] == 1 ? 0 : i, shapes[s][1] == 1 ? 0 : j) : scalar_to_double(array_get(y, NULL));
        ok = ok && at(got, i, j) == at(dense, i, j) * f;
      }
    CHECK(ok);
    damo_release(y);
    damo_release(data);
    damo_release(z);
    damo_release(got);
  }
  damo_release(a);
  damo_release(dense);
}

static void test_columns(damo_ctx *ctx, damo_format format, damo_dtype itype) {
  damo_sparse *a = make(ctx, format, itype, 5);
  damo_array *dense = sparse_to_dense(a), *v = numbers(ctx, 1, (int64_t[]){COLS});
  const double *f = (const double *)(void *)v->data;
  damo_sparse *sum = sparse_with_columns(ctx->isa->add->fn[DAMO_FLOAT64], DAMO_FLOAT64, a, v);
  damo_sparse *scaled = sparse_scale(a, 1, v);
  damo_array *p = sparse_to_dense(sum), *q = sparse_to_dense(scaled);
  bool ok = sparse_is_canonical(sum) && sparse_count_zeros(sum) == 0 && sparse_nnz(scaled) == sparse_nnz(a);
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLS; j++) {
      const double x = at(dense, i, j);
      ok = ok && at(p, i, j) == (x != 0 ? x + f[j] : 0) && at(q, i, j) == x * f[j];
    }
  CHECK(ok);
  damo_array *wrong = numbers(ctx, 1, (int64_t[]){ROWS});
  CHECK(sparse_scale(a, 1, wrong) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_ESHAPE);
  ctx_clear_error(ctx);
  CHECK(sparse_with_columns(ctx->isa->add->fn[DAMO_FLOAT64], DAMO_FLOAT64, a, wrong) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_ESHAPE);
  ctx_clear_error(ctx);
  const void *const all[] = {a, dense, v, sum, scaled, p, q, wrong};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------- */

static bool says(int relation, double x, double y) {
  const bool is[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
  return is[relation];
}

static kernel_fn kernel_of(int relation) {
  const kernel_isa *isa = kernel_isa_select();
  const kernel_set *const sets[] = {isa->eq, isa->neq, isa->lt, isa->le, isa->gt, isa->ge};
  return sets[relation]->fn[DAMO_FLOAT64];
}

/* Whether z stores exactly the positions where the relation holds, each once. y NULL: compared with `number`. */
static bool holds_for(const damo_sparse *z, int relation, const damo_array *x, const damo_array *y, double number) {
  int64_t n = 0;
  bool ok = sparse_is_canonical(z) && sparse_dtype(z) == DAMO_BOOL;
  damo_array *got = sparse_to_dense(z);
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLS; j++) {
      const bool want = says(relation, at(x, i, j), y ? at(y, i, j) : number);
      n += want;
      ok = ok && (at(got, i, j) != 0) == want;
    }
  damo_release(got);
  return ok && sparse_nnz(z) == n;
}

static void test_relations(damo_ctx *ctx, damo_format format, damo_dtype itype, int r) {
  damo_sparse *a = make(ctx, format, itype, 3), *b = make(ctx, format == DAMO_CSR ? DAMO_CSC : DAMO_CSR, DAMO_INT32, 8);
  ((double *)(void *)a->data->data)[3] = NAN;
  damo_array *x = sparse_to_dense(a), *y = sparse_to_dense(b), *got = NULL;
  const kernel_fn op = kernel_of(r);
  damo_sparse *z = sparse_relate((sparse_relation)r, a, b);
  CHECK(z != NULL && holds_for(z, r, x, y, 0));
  for (int k = -1; k < 3; k++) {
    damo_array *s = array_from_scalar(ctx, (scalar){.dtype = DAMO_FLOAT64, .v.f = k});
    damo_sparse *w = sparse_relate_number(op, DAMO_FLOAT64, a, s);
    CHECK(w != NULL && holds_for(w, r, x, NULL, k));
    damo_release(s);
    damo_release(w);
  }
  got = array_empty(ctx, DAMO_BOOL, 2, a->shape);
  CHECK_EQ_I(sparse_relate_dense(op, DAMO_FLOAT64, a, y, got), DAMO_OK);
  bool ok = true;
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < COLS; j++) ok = ok && (at(got, i, j) != 0) == says(r, at(x, i, j), at(y, i, j));
  CHECK(ok);
  const void *const all[] = {a, b, x, y, got, z};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* ---- Failing allocations ----------------------------------------------------------------------------------------- */

/* Runs each op function on constants; false once an allocation failed. */
static bool run_rows(damo_ctx *ctx, damo_obj *const *values) {
  static const char *const rows[] = {
      "add",       "sub",       "mul",     "true_div",           "eq",           "lt",      "le",
      "col_scale", "row_scale", "mul_s_v", "structured_add_s_v", "add_s_s_data", "maximum", "le"};
  static const uint8_t second[] = {1, 1, 1, 2, 1, 2, 5, 3, 4, 3, 3, 0, 1, 1}; /* the index of the second operand */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char name[64];
    damo_obj *result = NULL;
    build b;
    build_init(&b, ctx);
    snprintf(name, sizeof name, "sparse.%s", rows[i]);
    damo_var *x = build_value(&b, damo_retain(values[0])), *y = build_value(&b, damo_retain(values[second[i]]));
    damo_var *z = y != NULL ? build_fn2(&b, name, x, y) : NULL;
    const damo_status s = z != NULL ? eager_eval(ctx, &z, 1, &result) : b.status;
    damo_release(result);
    build_end(&b);
    if (s != DAMO_OK) return false;
  }
  return true;
}

static void test_failing_allocations(damo_ctx *ctx) {
  damo_sparse *a = make(ctx, DAMO_CSR, DAMO_INT32, 3), *b = make(ctx, DAMO_CSR, DAMO_INT64, 8);
  damo_array *d = numbers(ctx, 2, (int64_t[]){ROWS, COLS}), *v = numbers(ctx, 1, (int64_t[]){COLS});
  damo_array *w = numbers(ctx, 1, (int64_t[]){ROWS}), *s = numbers(ctx, 0, NULL);
  damo_obj *const values[] = {&a->obj, &b->obj, &d->obj, &v->obj, &w->obj, &s->obj};
  const int64_t objects = ctx->n_objects;
  CHECK(run_rows(ctx, values));
  CHECK_EQ_I(ctx->n_objects, objects);
  int64_t n = 0;
  for (bool done = false; !done && n < 20000; n++) {
    ctx->fail_after = n;
    done = run_rows(ctx, values);
    ctx->fail_after = -1;
    if (!done && ctx->error.status != DAMO_EMEMORY) CHECK_EQ_I(ctx->error.status, DAMO_EMEMORY);
    ctx_clear_error(ctx); /* the error holds the node */
    if (ctx->n_objects != objects) CHECK_EQ_I(ctx->n_objects, objects);
  }
  CHECK(n > 100 && n < 20000);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) damo_release(values[i]);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  for (int format = 0; format < 2; format++) {
    for (int wide = 0; wide < 2; wide++) {
      const damo_dtype itype = wide ? DAMO_INT64 : DAMO_INT32;
      test_entries(ctx, (damo_format)format, itype);
      test_columns(ctx, (damo_format)format, itype);
      for (int r = 0; r < 6; r++) test_relations(ctx, (damo_format)format, itype, r);
    }
  }
  test_failing_allocations(ctx);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
