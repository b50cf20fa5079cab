/* sparse_product_test: products into dense arrays of every layout, sampled and mixed products, axes far longer than the
 * number of entries, against plain sums over dense matrices; failing allocations. */
#include "sparse_case.h"
#include "kernel/kernel.h"

static damo_sparse *matrix(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, int64_t m, int64_t n,
                           int64_t nnz) {
  int64_t rows[64], cols[64];
  double values[64];
  for (int64_t p = 0; p < nnz; p++) rows[p] = draw(m), cols[p] = draw(n), values[p] = (double)(1 + draw(5));
  damo_sparse *a = sparse_from_places(ctx, format, DAMO_FLOAT64, (const int64_t[]){m, n}, nnz, rows, cols, values,
                                      itype, draw(2) == 0);
  damo_sparse *b = sparse_cast(a, dtype);
  damo_release(a);
  return b;
}

/* An m × n array in one of four layouts: row-major, column-major, rows with gaps, every other entry of both axes. */
static damo_array *dense(damo_ctx *ctx, damo_dtype dtype, int64_t m, int64_t n, int layout) {
  const int64_t size = (int64_t)dtype_size(dtype), whole[2] = {2 * m + 2, 2 * n + 2}, shape[2] = {m, n};
  const int64_t step[4][2] = {
      {n * size, size}, {size, m * size}, {(2 * n + 2) * size, size}, {2 * (2 * n + 2) * size, 2 * size}};
  damo_array *base = array_empty(ctx, dtype, 2, whole);
  for (int64_t i = 0; i < whole[0]; i++) {
    for (int64_t j = 0; j < whole[1]; j++) {
      array_set(base, (const int64_t[]){i, j}, (scalar){.dtype = DAMO_FLOAT64, .v.f = (double)(1 + draw(6))});
    }
  }
  damo_array *a = array_view(base, 2, shape, step[layout], 0);
  damo_release(base);
  return a;
}

static double number(const damo_array *a, int64_t i, int64_t j) {
  return scalar_to_double(array_get(a, (const int64_t[]){i, j}));
}

/* Small integers: every sum is exact. */
static bool is_product(const damo_array *left, const damo_array *right, double alpha, const damo_array *z,
                       const damo_array *y) {
  bool same = true;
  for (int64_t i = 0; i < array_shape(y)[0]; i++) {
    for (int64_t j = 0; j < array_shape(y)[1]; j++) {
      double sum = 0;
      for (int64_t k = 0; k < array_shape(left)[1]; k++) sum += number(left, i, k) * number(right, k, j);
      same = same && number(y, i, j) == alpha * sum + (z ? number(z, i, j) : 0);
    }
  }
  return same;
}

/* ---- Products with dense ----------------------------------------------------------------------------------------- */

static damo_array *small_numbers(damo_ctx *ctx, int64_t n) {
  damo_array *v = array_empty(ctx, DAMO_FLOAT64, 1, &n);
  for (int64_t p = 0; p < n; p++) ((double *)(void *)v->data)[p] = (double)(1 + draw(5));
  return v;
}

typedef struct layouts {
  int x, y, z;
} layouts;

/* What a node keeps between runs. */
typedef struct keep {
  sparse_transpose_cache cache;
  void *work;
  size_t room;
} keep;

static void *room_of(keep *k, size_t room) {
  if (room <= k->room) return k->work;
  void *more = malloc(room);
  free(k->work);
  k->work = more, k->room = room;
  return more;
}

/* kept: NULL: the product keeps nothing between runs. */
static void check_product(damo_ctx *ctx, const damo_sparse *a, bool transposed, bool left, int64_t width, layouts l,
                          keep *kept) {
  const damo_dtype dtype = sparse_dtype(a);
  const int64_t rows = a->shape[transposed], cols = a->shape[!transposed];
  const int64_t m = left ? width : rows, k = left ? rows : cols, n = left ? cols : width;
  damo_array *x = left ? dense(ctx, dtype, m, k, l.x) : dense(ctx, dtype, k, n, l.x);
  damo_array *y = dense(ctx, dtype, m, n, l.y), *full = sparse_to_dense(a);
  damo_array *before = array_copy(y), *z = l.z == 1 ? damo_retain(y) : l.z == 2 ? dense(ctx, dtype, m, n, l.x) : NULL;
  const int64_t step[2] = {array_strides(full)[transposed], array_strides(full)[!transposed]};
  damo_array *op = array_view(full, 2, (const int64_t[]){rows, cols}, step, 0);
  _Alignas(16) char factor[16];
  kernel_cast(DAMO_FLOAT64, dtype)(&(double){3}, factor, 1);
  keep own = {.room = 0};
  const sparse_product p = {a, transposed, left, l.z ? factor : NULL, x, z, y, kept ? &kept->cache : NULL};
  sparse_product_run(&p, room_of(kept ? kept : &own, sparse_product_workspace(&p)));
  CHECK(is_product(left ? x : op, left ? op : x, l.z ? 3 : 1, l.z == 1 ? before : z, y));
  free(own.work);
  damo_release(op);
  damo_release(full);
  damo_release(before);
  damo_release(x);
  damo_release(y);
  damo_release(z);
}

static void test_dense_products(damo_ctx *ctx) {
  static const damo_dtype dtypes[] = {DAMO_FLOAT32, DAMO_FLOAT64, DAMO_INT32, DAMO_COMPLEX128};
  static const int64_t widths[] = {0, 1, 2, 3, 4, 31, 70};
  for (int form = 0; form < 16; form++) {
    damo_sparse *a =
        matrix(ctx, (damo_format)(form & 1), dtypes[form >> 2], form & 2 ? DAMO_INT64 : DAMO_INT32, 7, 5, 14);
    for (int w = 0; w < 7 * 4 * 4 * 3; w++) {
      const layouts l = {w / 7 % 4, w / 28 % 4, w / 112};
      check_product(ctx, a, draw(2) == 0, draw(2) == 0, widths[w % 7], l, NULL);
    }
    damo_release(a);
  }
}

/* One node's memory over many runs: a few matrices of equal shapes and numbers of entries recur, also with other
 * values. */
static void test_kept_patterns(damo_ctx *ctx) {
  static const int64_t widths[] = {1, 2, 3, 5, 31, 64, 64, 70};
  for (int form = 0; form < 4; form++) {
    const damo_format format = (damo_format)(form & 1);
    damo_sparse *all[6];
    for (int i = 0; i < 4; i++) all[i] = matrix(ctx, format, DAMO_FLOAT64, i == 3 ? DAMO_INT64 : DAMO_INT32, 7, 5, 14);
    all[4] = matrix(ctx, format, DAMO_FLOAT64, DAMO_INT32, 5, 7, 14);
    damo_array *values = small_numbers(ctx, sparse_nnz(all[0]));
    all[5] = sparse_with_data(all[0], values);
    keep kept = {.room = 0};
    for (int run = 0; run < 600; run++) {
      const int64_t width = widths[draw(8)];
      const layouts l = {(int)draw(4), (int)draw(4), (int)draw(3)};
      check_product(ctx, all[draw(4) == 0 ? draw(6) : run / 100], form & 2, draw(2) == 0, width, l, &kept);
    }
    free(kept.work);
    damo_release(values);
    for (int i = 0; i < 6; i++) damo_release(all[i]);
  }
}

/* A run for an empty result may be given other memory. What was kept must then not be looked up at its old address,
 * which may be reused by others. */
static void test_moved_room(damo_ctx *ctx) {
  damo_sparse *a = matrix(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 7, 5, 14);
  damo_sparse *none = matrix(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 7, 0, 0);
  const layouts rows = {0, 0, 0};
  keep kept = {.room = 0};
  for (int run = 0; run < 2; run++) check_product(ctx, a, true, false, 64, rows, &kept);
  void *first = kept.work;
  kept.work = malloc(kept.room);
  check_product(ctx, none, true, false, 64, rows, &kept);
  free(kept.work);
  memset(first, 0, 64);
  kept.work = first;
  check_product(ctx, a, true, false, 64, rows, &kept);
  free(kept.work);
  damo_release(none);
  damo_release(a);
}

/* Only the transpose is kept if nothing else is. */
static void test_workspace(damo_ctx *ctx) {
  damo_sparse *a = matrix(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 7, 5, 40);
  damo_array *x = dense(ctx, DAMO_FLOAT64, 7, 64, 0), *y = dense(ctx, DAMO_FLOAT64, 5, 64, 0);
  sparse_transpose_cache cache = {.workspace = NULL};
  sparse_product p = {a, true, false, NULL, x, NULL, y, NULL};
  const size_t entries = (size_t)sparse_nnz(a), most = 6 * 4 + entries * (4 + 8) + 3 * 64;
  CHECK(sparse_product_workspace(&p) <= most);
  p.cache = &cache;
  CHECK(sparse_product_workspace(&p) > most);
  damo_release(y);
  damo_release(x);
  damo_release(a);
}

static void test_empty_products(damo_ctx *ctx) {
  static const int64_t shapes[][2] = {{0, 0}, {0, 4}, {4, 0}, {3, 4}};
  for (int s = 0; s < 4; s++) {
    for (int form = 0; form < 8; form++) {
      damo_sparse *a = matrix(ctx, (damo_format)(form & 1), DAMO_FLOAT64, DAMO_INT32, shapes[s][0], shapes[s][1], 0);
      for (int z = 0; z < 3; z++) check_product(ctx, a, form & 2, form & 4, 5, (layouts){z, z, z}, NULL);
      damo_release(a);
    }
  }
}

/* ---- Products of two sparse, mixed, sampled ---------------------------------------------------------------------- */

static void test_sparse_products(damo_ctx *ctx) {
  for (int form = 0; form < 16; form++) {
    damo_sparse *a = matrix(ctx, (damo_format)(form & 1), DAMO_FLOAT64, form & 4 ? DAMO_INT64 : DAMO_INT32, 6, 8, 17);
    damo_sparse *b =
        matrix(ctx, (damo_format)(form >> 1 & 1), DAMO_FLOAT64, form & 8 ? DAMO_INT64 : DAMO_INT32, 8, 9, 21);
    damo_array *y = dense(ctx, DAMO_FLOAT64, 6, 9, form & 3), *before = array_copy(y);
    damo_array *da = sparse_to_dense(a), *db = sparse_to_dense(b);
    const double half = 0.5;
    CHECK(sparse_add_product(a, b, form & 4 ? &half : NULL, y) == DAMO_OK);
    CHECK(is_product(da, db, form & 4 ? 0.5 : 1, before, y));
    for (int left = 0; left < 2; left++) {
      damo_array *x = left ? dense(ctx, DAMO_FLOAT64, 5, 6, form & 3) : dense(ctx, DAMO_FLOAT64, 8, 5, form & 3);
      damo_sparse *mixed = sparse_dot_mixed(a, x, left);
      damo_array *got = mixed ? sparse_to_dense(mixed) : NULL;
      CHECK(got && sparse_format(mixed) == sparse_format(a) && sparse_check(mixed, NULL));
      CHECK(got && is_product(left ? x : da, left ? da : x, 1, NULL, got));
      damo_release(x);
      damo_release(mixed);
      damo_release(got);
    }
    damo_release(a);
    damo_release(b);
    damo_release(y);
    damo_release(before);
    damo_release(da);
    damo_release(db);
  }
}

static void test_samples(damo_ctx *ctx) {
  for (int form = 0; form < 32; form++) {
    const damo_dtype itype = form & 8 ? DAMO_INT64 : DAMO_INT32;
    damo_sparse *p = matrix(ctx, (damo_format)(form & 1), DAMO_FLOAT32, itype, 6, 8, 19);
    damo_sparse *x =
        matrix(ctx, (damo_format)(form >> 1 & 1), DAMO_FLOAT64, form & 16 ? DAMO_INT64 : DAMO_INT32, 6, 5, 14);
    damo_sparse *y = matrix(ctx, (damo_format)(form >> 2 & 1), DAMO_FLOAT32, DAMO_INT32, 8, 5, 16);
    damo_array *dx = sparse_to_dense(x), *dy = sparse_to_dense(y),
               *full = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){6, 8});
    for (int64_t i = 0; i < 6; i++) {
      for (int64_t j = 0; j < 8; j++) {
        double sum = 0;
        for (int64_t k = 0; k < 5; k++) sum += number(dx, i, k) * number(dy, j, k);
        array_set(full, (const int64_t[]){i, j}, (scalar){.dtype = DAMO_FLOAT64, .v.f = sum});
      }
    }
    damo_array *got = sparse_sample_sparse(p, x, y), *want = sparse_at_dense(full, p);
    CHECK(got && want && array_equal(got, want, false));
    damo_release(p);
    damo_release(x);
    damo_release(y);
    damo_release(dx);
    damo_release(dy);
    damo_release(full);
    damo_release(got);
    damo_release(want);
  }
}

/* ---- Axes far longer than the number of entries ------------------------------------------------------------------ */

#define LONG (INT64_C(1) << 40)

static damo_sparse *wide_with(damo_ctx *ctx, const double values[4]) {
  const int64_t rows[] = {0, 0, 1, 2}, cols[] = {5, LONG - 1, LONG - 1, 77};
  return sparse_from_places(ctx, DAMO_CSR, DAMO_FLOAT64, (const int64_t[]){3, LONG}, 4, rows, cols, values, DAMO_INT32,
                            false);
}

static damo_sparse *wide_matrix(damo_ctx *ctx) { return wide_with(ctx, (const double[]){2, 3, 4, 5}); }

/* A·Aᵀ, also of two copies: stored zeros matter where they meet nonfinite values, and are in no result. */
static void test_zeros_along_long_axes(damo_ctx *ctx) {
  static const double values[3][4] = {{2, 0, 4, 5}, {2, 0, INFINITY, 5}, {0, 0, 0, 0}};
  static const double want[3][3] = {{4, 16, 25}, {4, INFINITY, 25}, {0, 0, 0}}; /* the diagonal */
  for (int k = 0; k < 3; k++) {
    damo_sparse *a = wide_with(ctx, values[k]), *t = sparse_transpose(a), *other = wide_with(ctx, values[k]);
    damo_sparse *own = sparse_dot_sparse(a, t), *two = sparse_dot_sparse(other, t), *turned = sparse_transpose(other);
    damo_sparse *back = sparse_dot_sparse(a, turned), *made[] = {own, two, back};
    for (int c = 0; c < 3; c++) {
      damo_array *d = CHECK(made[c] != NULL) ? sparse_to_dense(made[c]) : NULL;
      for (int64_t i = 0; d && i < 3; i++) CHECK(number(d, i, i) == want[k][i]);
      if (d) CHECK(isnan(number(d, 0, 1)) == (k == 1) && (k == 1 || number(d, 0, 1) == 0));
      CHECK(sparse_count_zeros(made[c]) == 0);
      damo_release(d);
    }
    CHECK_EQ_I(sparse_nnz(a), 4);
    damo_release(a), damo_release(t), damo_release(other), damo_release(turned);
    damo_release(own), damo_release(two), damo_release(back);
  }
}

static void test_long_axes(damo_ctx *ctx) {
  damo_sparse *a = wide_matrix(ctx), *t = sparse_transpose(a);
  damo_sparse *inner = sparse_dot_sparse(a, t);
  damo_array *d = inner ? sparse_to_dense(inner) : NULL,
             *y = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){3, 3});
  static const double want[3][3] = {{13, 12, 0}, {12, 16, 0}, {0, 0, 25}};
  CHECK(sparse_add_product(a, t, NULL, y) == DAMO_OK);
  for (int64_t i = 0; d && i < 3; i++) {
    for (int64_t j = 0; j < 3; j++) {
      CHECK_NEAR(number(d, i, j), want[i][j], 0);
      CHECK_NEAR(number(y, i, j), want[i][j], 0);
    }
  }
  /* inner products over a short axis at A's positions, and the reverse */
  damo_sparse *g = sparse_dot_sparse(a, t), *s = sparse_transpose(t);
  damo_array *v = g ? sparse_sample_sparse(s, g, t) : NULL, *w = g ? sparse_sample_sparse(g, a, a) : NULL;
  damo_sparse *ga = g ? sparse_dot_sparse(g, a) : NULL;
  damo_array *at = ga ? sparse_at(ga, a) : NULL;
  CHECK(v && at && array_equal(v, at, false));
  CHECK(w && array_equal(w, g->data, false));
  damo_release(ga);
  damo_release(a);
  damo_release(t);
  damo_release(inner);
  damo_release(d);
  damo_release(y);
  damo_release(g);
  damo_release(s);
  damo_release(v);
  damo_release(w);
  damo_release(at);
}

/* ---- Failing allocations ----------------------------------------------------------------------------------------- */

typedef struct operands {
  damo_sparse *a, *b, *wide, *turned, *zeros;
  damo_array *x, *y;
} operands;

static bool run_program(damo_ctx *ctx, const void *data) {
  const operands *in = data;
  damo_sparse *a = in->a, *turned = in->turned;
  (void)ctx;
  void *made[12];
  int n = 0;
  bool ok = true;
#define TRY(expr) \
  if (ok && !(made[n++] = (expr))) ok = false
  TRY(sparse_dot_mixed(a, in->x, false));
  TRY(sparse_dot_mixed(a, in->x, true));
  TRY(sparse_sample_sparse(a, in->b, a));
  TRY(sparse_dot_sparse(in->wide, turned));
  damo_sparse *inner = ok ? made[n - 1] : NULL;
  TRY(sparse_sample_sparse(turned, turned, inner));
  TRY(sparse_dot_sparse(in->zeros, turned));
  TRY(sparse_transpose(in->zeros));
  damo_sparse *back = ok ? made[n - 1] : NULL;
  TRY(sparse_dot_sparse(in->zeros, back));
  TRY(sparse_dot_sparse(in->wide, back));
#undef TRY
  if (ok) ok = sparse_add_product(a, in->b, NULL, in->y) == DAMO_OK;
  while (n > 0) damo_release(made[--n]);
  return ok;
}

static void test_failing_allocations(damo_ctx *ctx) {
  damo_sparse *a = matrix(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 6, 6, 9);
  damo_sparse *b = matrix(ctx, DAMO_CSC, DAMO_FLOAT64, DAMO_INT64, 6, 6, 9);
  damo_sparse *tall = wide_matrix(ctx), *turned = sparse_transpose(tall);
  damo_sparse *zeros = wide_with(ctx, (const double[]){2, 0, 0, 5});
  damo_array *x = dense(ctx, DAMO_FLOAT64, 6, 6, 3), *y = dense(ctx, DAMO_FLOAT64, 6, 6, 0);
  check_failing_allocations(ctx, run_program, &(operands){a, b, tall, turned, zeros, x, y}, 90);
  damo_release(a);
  damo_release(b);
  damo_release(tall);
  damo_release(turned);
  damo_release(zeros);
  damo_release(x);
  damo_release(y);
}

/* The sampled rows that predict the product's size have no entries. */
static void test_uneven_product(damo_ctx *ctx) {
  enum { SIZE = 3000, EACH = 20, NTH = 6 };
  const int64_t shape[2] = {SIZE, SIZE};
  int64_t *rows = malloc(SIZE * EACH * 8), *cols = malloc(SIZE * EACH * 8), n = 0;
  double *values = malloc(SIZE * EACH * 8);
  for (int64_t i = 0; i < SIZE; i++) {
    for (int64_t k = 0; k < EACH && i % NTH != 0; k++, n++)
      rows[n] = i, cols[n] = (i + 7 * k) % SIZE, values[n] = 1 + (double)k;
  }
  for (int wide = 0; wide < 2; wide++) {
    const damo_dtype itype = wide ? DAMO_INT64 : DAMO_INT32;
    damo_sparse *a = sparse_from_places(ctx, DAMO_CSR, DAMO_FLOAT64, shape, n, rows, cols, values, itype, false);
    damo_sparse *one = sparse_eye(ctx, SIZE, SIZE, 0, DAMO_FLOAT64, DAMO_CSR), *b = sparse_dot_sparse(a, one);
    bool same = false;
    CHECK(b && sparse_check(b, NULL) && sparse_nnz(b) == n && sparse_equal(a, b, false, &same) == DAMO_OK && same);
    damo_release(a);
    damo_release(one);
    damo_release(b);
  }
  free(rows), free(cols), free(values);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  test_dense_products(ctx);
  test_kept_patterns(ctx);
  test_moved_room(ctx);
  test_workspace(ctx);
  test_empty_products(ctx);
  test_sparse_products(ctx);
  test_uneven_product(ctx);
  test_samples(ctx);
  test_long_axes(ctx);
  test_zeros_along_long_axes(ctx);
  test_failing_allocations(ctx);
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
