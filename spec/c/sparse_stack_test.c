/* sparse_stack_test: stacking and splitting, block diagonals, bands, permutations, Kronecker products and extremes
 * against loops over dense matrices, for each format and index width; refused arguments; failing allocations. */
#include "sparse_case.h"

/* About a third of the elements are stored, some of them zeros, some twice; indices unsorted. */
static damo_sparse *scattered(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, int64_t m,
                              int64_t n) {
  int64_t rows[512], cols[512], count = m * n / 3;
  double values[512];
  for (int64_t p = 0; p < count; p++) {
    rows[p] = draw(m), cols[p] = draw(n);
    values[p] = (double)(draw(9) - 4);
  }
  const int64_t shape[2] = {m, n};
  damo_sparse *a = sparse_from_places(ctx, format, DAMO_FLOAT64, shape, count, rows, cols, values, itype, true);
  damo_sparse *b = sparse_cast(a, dtype);
  damo_release(a);
  return b;
}

static double at(const damo_array *d, int64_t i, int64_t j) {
  return scalar_to_double(array_get(d, (const int64_t[]){i, j}));
}

static bool is_sound(const damo_sparse *a) {
  const char *why = NULL;
  if (a && sparse_check(a, &why)) return true;
  printf("  %s\n", a ? why : "no matrix");
  return false;
}

/* Whether `part` is the block of `whole` with its corner at (i, j). */
static bool stands_at(const damo_sparse *whole, const damo_sparse *part, int64_t i, int64_t j) {
  damo_array *w = sparse_to_dense(whole), *p = sparse_to_dense(part);
  bool same = true;
  for (int64_t r = 0; r < part->shape[0]; r++) {
    for (int64_t c = 0; c < part->shape[1]; c++) same = same && at(w, i + r, j + c) == at(p, r, c);
  }
  damo_release(w);
  damo_release(p);
  return same;
}

#define N 4

static void check_stack(damo_ctx *ctx, int axis, damo_format format, damo_dtype itype) {
  damo_sparse *blocks[N], *parts[N];
  int64_t sizes[N], before = 0;
  for (int64_t k = 0; k < N; k++) {
    const int64_t own = k == 2 ? 0 : 3 + k;
    const damo_format f = k % 2 ? DAMO_CSR : DAMO_CSC;
    sizes[k] = own;
    blocks[k] =
        scattered(ctx, f, k ? DAMO_FLOAT32 : DAMO_INT16, k == 1 ? itype : DAMO_INT32, axis ? 7 : own, axis ? own : 7);
  }
  damo_sparse *a = sparse_stack(ctx, "stack", axis, N, blocks, format, DAMO_FLOAT64);
  CHECK(is_sound(a));
  CHECK_EQ_I(sparse_itype(a), itype);
  CHECK_EQ_I(sparse_dtype(a), DAMO_FLOAT64);
  CHECK_EQ_I(a->shape[axis], 3 + 4 + 0 + 6);
  CHECK_EQ_I(sparse_split(a, "split", axis, N, sizes, parts), DAMO_OK);
  for (int64_t k = 0; k < N; k++) {
    CHECK(stands_at(a, blocks[k], axis ? 0 : before, axis ? before : 0));
    CHECK(is_sound(parts[k]) && sparse_format(parts[k]) == format && sparse_count_zeros(parts[k]) == 0);
    CHECK(stands_at(a, parts[k], axis ? 0 : before, axis ? before : 0));
    before += sizes[k];
    damo_release(parts[k]);
  }
  sizes[0]++;
  CHECK_EQ_I(sparse_split(a, "split", axis, N, sizes, parts), DAMO_ESHAPE);
  damo_sparse *wrong[2] = {a, blocks[0]};
  CHECK(axis == 0 || a->shape[0] == 7);
  damo_sparse *turned = sparse_transpose(a);
  wrong[1] = turned;
  CHECK(!sparse_stack(ctx, "stack", axis, 2, wrong, format, DAMO_FLOAT64));
  CHECK_EQ_I(ctx->error.status, DAMO_ESHAPE);
  damo_sparse *d = sparse_block_diag(ctx, N, blocks, format, DAMO_FLOAT64);
  CHECK(is_sound(d));
  for (int64_t k = 0, i = 0, j = 0; k < N; i += blocks[k]->shape[0], j += blocks[k]->shape[1], k++)
    CHECK(stands_at(d, blocks[k], i, j));
  damo_release(turned);
  damo_release(d);
  damo_release(a);
  for (int64_t k = 0; k < N; k++) damo_release(blocks[k]);
}

static void test_stack(damo_ctx *ctx) {
  for (int axis = 0; axis < 2; axis++) {
    for (int f = 0; f < 2; f++) {
      check_stack(ctx, axis, f ? DAMO_CSC : DAMO_CSR, DAMO_INT32);
      check_stack(ctx, axis, f ? DAMO_CSC : DAMO_CSR, DAMO_INT64);
    }
  }
}

static void check_band(damo_sparse *a, int64_t low, int64_t high) {
  damo_sparse *b = sparse_band(a, low, high);
  damo_array *x = sparse_to_dense(a), *y = sparse_to_dense(b);
  CHECK(is_sound(b));
  bool same = true;
  for (int64_t i = 0; i < a->shape[0]; i++) {
    for (int64_t j = 0; j < a->shape[1]; j++)
      same = same && at(y, i, j) == (j - i >= low && j - i <= high ? at(x, i, j) : 0);
  }
  CHECK(same);
  damo_release(b);
  damo_release(x);
  damo_release(y);
}

static void check_permute(damo_ctx *ctx, damo_sparse *a) {
  const philox_state s = philox_seed(5);
  damo_array *rows = array_empty(ctx, DAMO_INT64, 1, &a->shape[0]),
             *cols = array_empty(ctx, DAMO_INT64, 1, &a->shape[1]);
  int64_t *r = (int64_t *)(void *)rows->data, *c = (int64_t *)(void *)cols->data;
  philox_permutation(ctx, &s, r, a->shape[0]);
  philox_permutation(ctx, &s, c, a->shape[1]);
  damo_sparse *b = sparse_permute(a, rows, cols);
  CHECK(is_sound(b));
  damo_array *x = sparse_to_dense(a), *y = sparse_to_dense(b);
  bool same = true;
  for (int64_t i = 0; i < a->shape[0]; i++) {
    for (int64_t j = 0; j < a->shape[1]; j++) same = same && at(y, i, j) == at(x, r[i], c[j]);
  }
  CHECK(same);
  c[1] = c[0];
  CHECK(!sparse_permute(a, rows, cols));
  CHECK_EQ_I(ctx->error.status, DAMO_EVALUE);
  damo_release(b);
  damo_release(x);
  damo_release(y);
  damo_release(rows);
  damo_release(cols);
}

static void check_kron(damo_sparse *a, damo_sparse *b) {
  damo_array *left, *right;
  damo_sparse *k = sparse_kron_places(a, b, &left, &right);
  CHECK(is_sound(k));
  CHECK_EQ_I(sparse_nnz(k), sparse_nnz(a) * sparse_nnz(b));
  damo_array *data = array_empty(a->obj.ctx, DAMO_FLOAT64, 1, (const int64_t[]){sparse_nnz(k)});
  for (int64_t p = 0; p < sparse_nnz(k); p++) {
    const int64_t l = ((int64_t *)(void *)left->data)[p] - 1, r = ((int64_t *)(void *)right->data)[p] - 1;
    ((double *)(void *)data->data)[p] =
        scalar_to_double(array_get(a->data, &l)) * scalar_to_double(array_get(b->data, &r));
  }
  damo_sparse *product = sparse_with_data(k, data);
  damo_array *x = sparse_to_dense(a), *y = sparse_to_dense(b), *z = sparse_to_dense(product);
  bool same = true;
  for (int64_t i = 0; i < k->shape[0]; i++) {
    for (int64_t j = 0; j < k->shape[1]; j++) {
      const double want = at(x, i / b->shape[0], j / b->shape[1]) * at(y, i % b->shape[0], j % b->shape[1]);
      same = same && at(z, i, j) == want;
    }
  }
  CHECK(same);
  void *all[] = {left, right, k, data, product, x, y, z};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

static void check_extremes(damo_sparse *a, int axis, bool largest) {
  int64_t place[64];
  const int64_t m = a->shape[0], n = a->shape[1], results = axis < 0 ? 1 : a->shape[!axis];
  damo_array *x = sparse_to_dense(a), *values = array_empty(a->obj.ctx, sparse_dtype(a), 1, &results);
  bool same =
      sparse_extreme_places(a, axis, largest, place) == DAMO_OK && sparse_extreme(a, axis, largest, values) == DAMO_OK;
  for (int64_t k = 0; k < results && same; k++) {
    const int64_t count = axis < 0 ? m * n : a->shape[axis];
    int64_t best = -1;
    double top = 0;
    for (int64_t t = 0; t < count; t++) {
      const double v = axis < 0 ? at(x, t / n, t % n) : axis == 0 ? at(x, t, k) : at(x, k, t);
      if (best < 0 || (largest ? v > top : v < top)) best = t, top = v;
    }
    same = scalar_to_double(array_get(values, &k)) == top && place[k] == best;
  }
  CHECK(same);
  damo_release(values);
  damo_release(x);
}

static void test_places(damo_ctx *ctx) {
  for (int f = 0; f < 2; f++) {
    for (int w = 0; w < 2; w++) {
      const damo_format format = f ? DAMO_CSC : DAMO_CSR;
      const damo_dtype itype = w ? DAMO_INT64 : DAMO_INT32;
      damo_sparse *a = scattered(ctx, format, DAMO_FLOAT64, itype, 9, 6),
                  *b = scattered(ctx, format, DAMO_INT32, DAMO_INT32, 4, 5);
      for (int64_t k = -9; k <= 7; k++) {
        check_band(a, -INT64_MAX, k);
        check_band(a, k, INT64_MAX);
        check_band(a, k, k + 1);
      }
      check_permute(ctx, a);
      check_permute(ctx, b);
      check_kron(a, b);
      for (int axis = -1; axis < 2; axis++) {
        for (int largest = 0; largest < 2; largest++) {
          check_extremes(a, axis, largest);
          check_extremes(b, axis, largest);
        }
      }
      damo_release(a);
      damo_release(b);
    }
  }
}

typedef struct operands {
  damo_sparse *a, *b;
  const damo_array *order;
} operands;

/* True if nothing failed. */
static bool run_program(damo_ctx *ctx, const void *data) {
  const operands *in = data;
  damo_sparse *a = in->a, *b = in->b;
  const damo_array *order = in->order;
  damo_sparse *blocks[2] = {a, b}, *parts[2], *made[8];
  damo_array *left = NULL, *right = NULL;
  int64_t place[16], sizes[2] = {2, 4};
  int n = 0;
  bool ok = true;
#define TRY(expr) \
  if (ok && !(made[n++] = (expr))) n--, ok = false
  for (int axis = 0; axis < 2 && ok; axis++) {
    TRY(sparse_stack(ctx, "stack", axis, 2, blocks, DAMO_CSR, DAMO_COMPLEX64));
    if (ok && sparse_split(a, "split", axis, 2, sizes, parts) == DAMO_OK) {
      damo_release(parts[0]);
      damo_release(parts[1]);
    } else {
      ok = false;
    }
  }
  TRY(sparse_block_diag(ctx, 2, blocks, DAMO_CSC, DAMO_FLOAT64));
  TRY(sparse_band(a, 0, 2));
  TRY(sparse_permute(a, order, order));
  ok = ok && sparse_extreme_places(a, 0, true, place) == DAMO_OK;
  for (int axis = -1; axis < 2 && ok; axis++) {
    damo_array *values = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){6});
    ok = values != NULL && sparse_extreme(a, axis, true, values) == DAMO_OK;
    damo_release(values);
  }
  if (ok) {
    TRY(sparse_kron_places(a, a, &left, &right));
    if (ok) {
      damo_release(left);
      damo_release(right);
    }
  }
#undef TRY
  while (n > 0) damo_release(made[--n]);
  return ok;
}

static void test_failing_allocations(damo_ctx *ctx) {
  damo_sparse *a = scattered(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 6, 6);
  damo_sparse *b = scattered(ctx, DAMO_CSC, DAMO_FLOAT32, DAMO_INT64, 6, 6);
  damo_array *order = damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){6}, (const int64_t[]){3, 5, 0, 1, 4, 2});
  check_failing_allocations(ctx, run_program, &(operands){a, b, order}, 50);
  damo_release(order);
  damo_release(a);
  damo_release(b);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  test_stack(ctx);
  test_places(ctx);
  test_failing_allocations(ctx);
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
