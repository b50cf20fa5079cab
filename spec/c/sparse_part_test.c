/* sparse_part_test: blocks, rows and columns by list, elements, diagonals, and their inverse operations against plain
 * loops, for every element size and index width, sorted and unsorted indices, with duplicates; in place; failing
 * allocations. */
#include "sparse_case.h"

#define ROWS 7
#define COLS 9

static double number_at(const damo_array *a, int64_t i, int64_t j) {
  return scalar_cast(array_get(a, (const int64_t[]){i, j}), DAMO_COMPLEX128).v.c.re;
}

/* Up to 40 small numbers, some of them 0, with unsorted indices, and with duplicates if asked for. */
static damo_sparse *scattered(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, bool messy) {
  int64_t row[40], col[40], n = 40;
  double value[40];
  for (int64_t p = 0; p < n; p++) row[p] = draw(ROWS), col[p] = draw(COLS), value[p] = (double)draw(3);
  damo_array *v = damo_array_from(ctx, DAMO_FLOAT64, 1, &n, value), *own = array_cast(v, dtype);
  damo_sparse *a =
      sparse_from_places(ctx, format, dtype, (const int64_t[]){ROWS, COLS}, n, row, col, own->data, itype, messy);
  damo_release(v);
  damo_release(own);
  return a;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static sparse_range draw_range(int64_t n) {
  static const int64_t steps[] = {1, 1, -1, 2, -2, 3, INT64_MIN, INT64_MAX};
  const int64_t step = steps[draw(8)], first = draw(n), most = step > 0 ? n - 1 - first : first;
  const int64_t by = step == INT64_MIN ? INT64_MAX : step < 0 ? -step : step;
  return (sparse_range){first, step, draw(6) == 0 ? 0 : 1 + (most / by > 0 ? draw(most / by + 1) : 0)};
}

static int64_t along(const sparse_range *r, int64_t k) { return k == 0 ? r->first : r->first + k * r->step; }

static void check_block(damo_sparse *a, const damo_array *dense) {
  for (int round = 0; round < 12; round++) {
    const sparse_range rows = round == 0 ? (sparse_range){0, 1, ROWS} : draw_range(ROWS);
    const sparse_range cols = round < 2 ? (sparse_range){0, 1, COLS} : draw_range(COLS);
    damo_sparse *b = sparse_slice(a, &rows, &cols);
    damo_array *got = sparse_to_dense(b);
    const char *why = "";
    if (!CHECK(sparse_check(b, &why) && b->format == a->format)) fprintf(stderr, "    %s\n", why);
    CHECK(b->shape[0] == rows.count && b->shape[1] == cols.count);
    for (int64_t i = 0; i < rows.count; i++)
      for (int64_t j = 0; j < cols.count; j++)
        CHECK_NEAR(number_at(got, i, j), number_at(dense, along(&rows, i), along(&cols, j)), 0);
    const sparse_where r = {.first = rows.first, .step = rows.count > 1 ? rows.step : 1};
    const sparse_where c = {.first = cols.first, .step = cols.count > 1 ? cols.step : 1};
    damo_sparse *back = sparse_put(b, a->format == DAMO_CSR ? DAMO_CSC : DAMO_CSR, a->shape, &r, &c);
    damo_sparse *again = sparse_slice(back, &rows, &cols);
    damo_array *same = sparse_to_dense(again);
    CHECK(sparse_check(back, NULL) && array_equal(got, same, true));
    damo_release(b);
    damo_release(got);
    damo_release(back);
    damo_release(again);
    damo_release(same);
  }
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static void check_numbers_take(damo_sparse *a, const damo_array *dense) {
  for (int axis = 0; axis < 2; axis++) {
    int64_t list[12], n = 12;
    for (int64_t k = 0; k < n; k++) list[k] = draw(a->shape[axis]);
    damo_array *at = damo_array_from(a->obj.ctx, DAMO_INT64, 1, &n, list);
    damo_sparse *b = sparse_take(a, axis, at);
    damo_array *got = sparse_to_dense(b);
    CHECK(sparse_check(b, NULL));
    for (int64_t k = 0; k < n; k++)
      for (int64_t o = 0; o < a->shape[1 - axis]; o++)
        CHECK_NEAR(axis ? number_at(got, o, k) : number_at(got, k, o),
                   axis ? number_at(dense, o, list[k]) : number_at(dense, list[k], o), 0);
    damo_release(at);
    damo_release(b);
    damo_release(got);
  }
}

/* Puts rows or columns at the positions in a list, some at the same one: along the major and the minor axis, into
 * either format. */
static void check_put(damo_sparse *a, const damo_array *dense) {
  for (int way = 0; way < 12; way++) {
    const int axis = way & 1, ascends = (way >> 1) & 1, most = way < 4 ? 30 : way < 8 ? 8 : 400;
    const int64_t shape[2] = {axis ? ROWS : most, axis ? most : COLS};
    int64_t list[COLS];
    for (int64_t k = 0; k < a->shape[axis]; k++) list[k] = ascends ? (k * (most - 1)) / 10 : draw(most);
    const sparse_where listed = {.list = list}, plain = {.step = 1};
    const damo_format format = way == 11 ? DAMO_CSC : a->format;
    damo_sparse *b = sparse_put(a, format, shape, axis ? &plain : &listed, axis ? &listed : &plain);
    damo_array *got = sparse_to_dense(b);
    CHECK(sparse_check(b, NULL) && (sparse_is_canonical(b) || !a->unique) && b->format == format);
    for (int64_t i = 0; i < shape[0]; i++) {
      for (int64_t j = 0; j < shape[1]; j++) {
        double want = 0;
        for (int64_t k = 0; k < a->shape[axis]; k++)
          if (list[k] == (axis ? j : i)) want += axis ? number_at(dense, i, k) : number_at(dense, k, j);
        CHECK_NEAR(number_at(got, i, j), want, 0);
      }
    }
    damo_release(b);
    damo_release(got);
  }
}

static void check_elements(damo_ctx *ctx, damo_sparse *a, const damo_array *dense) {
  int64_t rows[200], cols[200];
  for (int64_t n = 1; n <= 200; n += 199) { /* with the long list unsorted indices are sorted first */
    for (int64_t k = 0; k < n; k++) rows[k] = draw(ROWS), cols[k] = draw(COLS);
    damo_array *out = array_empty(ctx, sparse_dtype(a), 2, (const int64_t[]){n, 1});
    CHECK(sparse_elements(a, n, rows, cols, out->data) == DAMO_OK);
    for (int64_t k = 0; k < n; k++) CHECK_NEAR(number_at(out, k, 0), number_at(dense, rows[k], cols[k]), 0);
    damo_release(out);
  }
  for (int64_t k = -ROWS - 1; k <= COLS + 1; k++) {
    const int64_t n = sparse_diagonal_length(a->shape, k), row = k < 0 ? -k : 0, col = k > 0 ? k : 0;
    damo_array *diagonal = array_empty(ctx, sparse_dtype(a), 2, (const int64_t[]){n, 1});
    sparse_diagonal(a, k, diagonal->data);
    CHECK(k > -ROWS && k < COLS ? row + n == ROWS || col + n == COLS : n == 0);
    for (int64_t i = 0; i < n; i++) CHECK_NEAR(number_at(diagonal, i, 0), number_at(dense, row + i, col + i), 0);
    damo_release(diagonal);
  }
}

/* ---- In place ---------------------------------------------------------------------------------------------------- */

static void check_within(damo_sparse *a, bool writeable) {
  for (int drop = 0; drop < 2; drop++) {
    damo_sparse *own = sparse_copy(a), *want = drop ? sparse_drop_zeros(a) : sparse_sort(a);
    own->data->writeable = writeable;
    damo_array *before = array_copy(own->data);
    damo_sparse *got = drop ? sparse_drop_zeros_within(own) : sparse_sort_within(own);
    bool same = false;
    CHECK(sparse_check(got, NULL) && sparse_nnz(got) == sparse_nnz(want));
    CHECK(sparse_equal(got, want, true, &same) == DAMO_OK && same);
    CHECK(array_equal(got->data, want->data, true) && array_equal(got->indices, want->indices, true));
    CHECK(got->sorted == want->sorted && got->unique == want->unique);
    if (writeable) CHECK(got->data->buf == own->data->buf);
    if (!writeable) CHECK(array_equal(own->data, before, true));
    damo_release(own);
    damo_release(want);
    damo_release(before);
    damo_release(got);
  }
}

static void test_every_form(damo_ctx *ctx) {
  static const damo_dtype dtypes[] = {DAMO_INT8,      DAMO_INT16,      DAMO_FLOAT32, DAMO_FLOAT64,
                                      DAMO_COMPLEX64, DAMO_COMPLEX128, DAMO_INT64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    for (int form = 0; form < 8; form++) {
      damo_sparse *a =
          scattered(ctx, form & 1 ? DAMO_CSC : DAMO_CSR, dtypes[d], form & 2 ? DAMO_INT64 : DAMO_INT32, form & 4);
      damo_array *dense = sparse_to_dense(a);
      check_block(a, dense);
      check_numbers_take(a, dense);
      check_put(a, dense);
      check_elements(ctx, a, dense);
      check_within(a, true);
      check_within(a, false);
      damo_release(dense);
      damo_release(a);
    }
  }
}

static void test_from_dense_parts(damo_ctx *ctx) {
  const double numbers[] = {1, 0, 2, 3, 4, 5};
  const int64_t list[] = {3, 3}, shape[] = {4, 3};
  damo_array *values = damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 3}, numbers);
  damo_sparse *a = sparse_from_rows(values, list, shape);
  CHECK(sparse_check(a, NULL) && sparse_nnz(a) == 6 && a->sorted && !a->unique);
  damo_array *dense = sparse_to_dense(a);
  CHECK(number_at(dense, 3, 0) == 4 && number_at(dense, 3, 2) == 7 && number_at(dense, 0, 0) == 0);
  damo_array *turned = array_view(values, 1, (const int64_t[]){2}, (const int64_t[]){24}, 0); /* 1 and 3 */
  damo_sparse *b = sparse_square_diagonal(turned);
  CHECK(sparse_check(b, NULL) && b->format == DAMO_CSC && sparse_nnz(b) == 2);
  CHECK(((const double *)(void *)b->data->data)[1] == 3);
  damo_release(values);
  damo_release(a);
  damo_release(dense);
  damo_release(turned);
  damo_release(b);
}

/* ---- Failing allocations ----------------------------------------------------------------------------------------- */

typedef struct operands {
  damo_sparse *a;
  damo_array *list, *values;
} operands;

/* True if everything passed. */
static bool run_program(damo_ctx *ctx, const void *data) {
  const operands *in = data;
  damo_sparse *a = in->a;
  damo_array *list = in->list;
  (void)ctx;
  void *made[16];
  int n = 0;
  bool ok = true;
#define TRY(expr) \
  if (ok && !(made[n++] = (expr))) ok = false
  const sparse_range rows = {1, 2, 3}, cols = {8, -1, 5};
  const sparse_where r = {.first = 0, .step = 1};
  const int64_t *at = (const int64_t *)(void *)list->data, lines[ROWS] = {9, 3, 9, 0, 19, 3, 5};
  const sparse_where listed = {.list = lines};
  int64_t twice[200];
  double out[200];
  for (int k = 0; k < 200; k++) twice[k] = k % ROWS;
  TRY(sparse_slice(a, &rows, &cols));
  TRY(sparse_take(a, 0, list));
  TRY(sparse_take(a, 1, list));
  TRY(sparse_put(a, DAMO_CSC, a->shape, &r, &r));
  TRY(sparse_square_diagonal(a->data));
  TRY(sparse_from_rows(in->values, at, (const int64_t[]){ROWS, 3}));
  TRY(sparse_copy(a));
  TRY(sparse_sort_within(made[6]));
  TRY(sparse_copy(a));
  TRY(sparse_drop_zeros_within(made[8]));
  TRY(sparse_sum_duplicates(a));
  TRY(sparse_put(made[10], DAMO_CSR, (const int64_t[]){20, COLS}, &listed, &r));
#undef TRY
  if (ok) ok = sparse_elements(a, 200, twice, twice, out) == DAMO_OK;
  while (n > 0) damo_release(made[--n]);
  return ok;
}

static void test_failing_allocations(damo_ctx *ctx) {
  damo_sparse *a = scattered(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, true);
  damo_array *list = damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){2}, (const int64_t[]){4, 4});
  damo_array *values =
      damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 3}, (const double[]){1, 2, 3, 4, 5, 6});
  check_failing_allocations(ctx, run_program, &(operands){a, list, values}, 30);
  damo_release(a);
  damo_release(list);
  damo_release(values);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  test_every_form(ctx);
  test_from_dense_parts(ctx);
  test_failing_allocations(ctx);
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
