/* sparse: matrices of every dtype, index width and format against plain loops over dense numbers; shapes without
 * entries; unsorted storage, duplicates, explicit zeros, nan; huge dimensions; what is refused; failing allocations. */
#include "../../src/sparse/sparse.h"

#include <stdlib.h>

#include "test.h"

static damo_ctx *new_ctx(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  return ctx;
}

static uint64_t seed = 88172645463325252u;

static int64_t draw(int64_t n) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)((seed >> 11) % (uint64_t)n);
}

/* ---- Dense numbers to compare with ------------------------------------------------------------------------------- */

#define SIDE 48

typedef struct ref {
  int64_t m, n;
  damo_c128 at[SIDE][SIDE];
} ref;

static damo_c128 value_at(const damo_array *a, const int64_t *index) {
  return scalar_cast(array_get(a, index), DAMO_COMPLEX128).v.c;
}

static damo_c128 times(damo_c128 a, damo_c128 b) {
  return (damo_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static void add_to(damo_c128 *to, damo_c128 v) { to->re += v.re, to->im += v.im; }

/* Sums of bool are "or"; bytes wrap. */
static damo_c128 in_dtype(damo_c128 z, damo_dtype dtype) {
  if (dtype == DAMO_BOOL) z = (damo_c128){z.re != 0, 0};
  if (dtype == DAMO_INT8) z.re = (double)(int8_t)(int64_t)z.re;
  if (dtype == DAMO_UINT8) z.re = (double)(uint8_t)(int64_t)z.re;
  return z;
}

static ref *ref_of(const damo_sparse *a) {
  ref *r = calloc(1, sizeof *r);
  r->m = a->shape[0], r->n = a->shape[1];
  for (int64_t line = 0; line < sparse_major(a); line++) {
    const int64_t next = line + 1;
    const int64_t from = array_get(a->indptr, &line).v.i, to = array_get(a->indptr, &next).v.i;
    for (int64_t p = from; p < to; p++) {
      const int64_t other = array_get(a->indices, &p).v.i;
      const int64_t i = a->format == DAMO_CSR ? line : other, j = a->format == DAMO_CSR ? other : line;
      add_to(&r->at[i][j], value_at(a->data, &p));
    }
  }
  return r;
}

static bool close_to(damo_c128 a, damo_c128 b) {
  const bool re = fabs(a.re - b.re) <= 1e-4 * (1 + fabs(b.re)) || (isnan(a.re) && isnan(b.re));
  return re && (fabs(a.im - b.im) <= 1e-4 * (1 + fabs(b.im)) || (isnan(a.im) && isnan(b.im)));
}

static bool dense_is(const damo_array *d, const ref *r) {
  if (!d || d->ndim != 2 || array_shape(d)[0] != r->m || array_shape(d)[1] != r->n) return false;
  for (int64_t i = 0; i < r->m; i++) {
    for (int64_t j = 0; j < r->n; j++) {
      const damo_c128 want = in_dtype(r->at[i][j], array_dtype(d));
      if (!close_to(value_at(d, (const int64_t[]){i, j}), want)) return false;
    }
  }
  return true;
}

/* The invariants hold, and the entries stand for r. */
static bool stands_for(const damo_sparse *a, const ref *r) {
  const char *why = NULL;
  if (!a) return false;
  if (!sparse_check(a, &why)) {
    fprintf(stderr, "    %s\n", why);
    return false;
  }
  damo_array *d = sparse_to_dense(a);
  const bool ok = dense_is(d, r);
  damo_release(d);
  return ok;
}

/* Takes what it checks. */
static void check_take(damo_sparse *take, const ref *r, int line) {
  if (!test_report(stands_for(take, r), __FILE__, line, "stands for the dense numbers") && take)
    fprintf(stderr, "    %s %s\n", sparse_format_name(take->format), dtype_name(sparse_dtype(take)));
  damo_release(take);
}
#define CHECK_IS(a, r) check_take((a), (r), __LINE__)

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

typedef enum kind { CANONICAL, MESSY, EMPTY } kind;

static void put(damo_array *a, int64_t p, double re, double im) {
  const scalar s = {.dtype = DAMO_COMPLEX128, .v.c = {re, im}};
  array_set(a, &p, scalar_cast(s, array_dtype(a)));
}

/* Small whole values; messy: unsorted, with duplicates and explicit zeros. */
static damo_sparse *make(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, int64_t m, int64_t n,
                         kind k) {
  static int64_t ptr[SIDE + 1], idx[SIDE * SIDE * 2];
  static double re[SIDE * SIDE * 2];
  const int64_t major = format == DAMO_CSR ? m : n, minor = format == DAMO_CSR ? n : m, lines = major + 1;
  int64_t nnz = 0;
  for (int64_t i = 0; i < major; i++) {
    ptr[i] = nnz;
    for (int64_t j = 0; j < minor && k == CANONICAL; j++) {
      if (draw(3) == 0) idx[nnz] = j, re[nnz++] = (double)(1 + draw(3));
    }
    const int64_t count = k == MESSY && minor > 0 ? draw(minor + 2) : 0;
    for (int64_t c = 0; c < count; c++) idx[nnz] = draw(minor), re[nnz++] = (double)draw(3);
  }
  ptr[major] = nnz;
  damo_array *data = array_empty(ctx, dtype, 1, &nnz);
  for (int64_t p = 0; p < nnz; p++) put(data, p, re[p], (double)draw(3));
  damo_array *ind = damo_array_from(ctx, DAMO_INT64, 1, &nnz, idx);
  damo_array *pt = damo_array_from(ctx, DAMO_INT64, 1, &lines, ptr);
  damo_sparse *a = sparse_from_parts(ctx, format, (const int64_t[]){m, n}, data, ind, pt, itype);
  damo_release(data);
  damo_release(ind);
  damo_release(pt);
  return a;
}

static damo_array *dense_numbers(damo_ctx *ctx, damo_dtype dtype, int ndim, int64_t m, int64_t n) {
  damo_array *a = array_empty(ctx, dtype, ndim, (const int64_t[]){m, n});
  damo_array *flat =
      array_view(a, 1, (const int64_t[]){m * (ndim == 2 ? n : 1)}, (const int64_t[]){(int64_t)dtype_size(dtype)}, 0);
  for (int64_t p = 0; p < array_size(flat); p++) put(flat, p, (double)draw(3), (double)draw(2));
  damo_release(flat);
  return a;
}

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

static void check_forms(damo_ctx *ctx, damo_sparse *a, const ref *r) {
  bool same = false;
  ref *t = calloc(1, sizeof *t);
  t->m = r->n, t->n = r->m;
  for (int64_t i = 0; i < r->m; i++)
    for (int64_t j = 0; j < r->n; j++) t->at[j][i] = r->at[i][j];
  CHECK_IS(damo_retain(a), r);
  CHECK_IS(sparse_copy(a), r);
  CHECK_IS(sparse_to_format(a, DAMO_CSR), r);
  CHECK_IS(sparse_to_format(a, DAMO_CSC), r);
  CHECK_IS(sparse_transpose(a), t);
  CHECK_IS(sparse_to_itype(a, DAMO_INT64), r);
  CHECK_IS(sparse_drop_zeros(a), r);
  damo_sparse *s = sparse_sort(a), *u = sparse_sum_duplicates(a);
  CHECK(s && s->sorted && sparse_nnz(s) == sparse_nnz(a));
  CHECK(u && sparse_is_canonical(u));
  CHECK_EQ_I(sparse_equal(a, u, false, &same), DAMO_OK);
  CHECK(same);
  CHECK_EQ_I(sparse_same_pattern(a, u, &same), DAMO_OK);
  CHECK(same);
  CHECK_IS(s, r);
  CHECK_IS(damo_retain(u), r);
  damo_sparse *clean = sparse_drop_zeros(u);
  if (clean) CHECK_EQ_I(sparse_count_zeros(clean), 0);
  damo_array *d = sparse_to_dense(a);
  damo_sparse *again = sparse_from_dense(d, (damo_format)!a->format, sparse_itype(a));
  CHECK(again && clean && sparse_nnz(again) == sparse_nnz(clean));
  CHECK_IS(again, r);
  if (!dtype_is_complex(sparse_dtype(a)) && sparse_dtype(a) != DAMO_BOOL) CHECK_IS(sparse_cast(a, DAMO_COMPLEX128), r);
  damo_release(d);
  damo_release(clean);
  damo_release(u);
  free(t);
  (void)ctx;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* alpha·op(A)·X + add·before against plain loops. */
static bool product_is(const ref *r, bool transposed, double alpha, const damo_array *x, const damo_array *before,
                       const damo_array *y) {
  const int64_t m = transposed ? r->n : r->m, inner = transposed ? r->m : r->n,
                cols = x->ndim == 2 ? array_shape(x)[1] : 1;
  if (!y) return false;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t c = 0; c < cols; c++) {
      damo_c128 sum = {0, 0};
      for (int64_t k = 0; k < inner; k++) {
        const damo_c128 a = transposed ? r->at[k][i] : r->at[i][k];
        add_to(&sum, times(a, value_at(x, (const int64_t[]){k, c})));
      }
      sum.re *= alpha, sum.im *= alpha;
      if (before) add_to(&sum, value_at(before, (const int64_t[]){i, c}));
      if (!close_to(value_at(y, (const int64_t[]){i, c}), in_dtype(sum, array_dtype(y)))) return false;
    }
  }
  return true;
}

static void check_dense_products(damo_ctx *ctx, damo_sparse *a, const ref *r) {
  static const int64_t widths[] = {0, 1, 3, 4, 21};
  const damo_dtype dtype = sparse_dtype(a);
  const scalar two = {.dtype = DAMO_FLOAT64, .v.f = 2};
  const double by = dtype == DAMO_BOOL ? 1 : 2;
  for (int transposed = 0; transposed < 2; transposed++) {
    const int64_t m = a->shape[transposed], inner = a->shape[!transposed];
    for (int w = 0; w < 5; w++) {
      damo_array *x = dense_numbers(ctx, dtype, w == 0 ? 1 : 2, inner, widths[w]);
      damo_array *y = sparse_dot_dense(a, transposed, NULL, x, NULL);
      CHECK(product_is(r, transposed, 1, x, NULL, y));
      damo_array *z = sparse_dot_dense(a, transposed, &two, x, NULL);
      CHECK(product_is(r, transposed, by, x, NULL, z));
      damo_array *onto = dense_numbers(ctx, dtype, w == 0 ? 1 : 2, m, widths[w]), *before = array_copy(onto);
      damo_array *sum = sparse_dot_dense(a, transposed, &two, x, onto);
      CHECK(sum == onto && product_is(r, transposed, by, x, before, sum));
      damo_release(sum);
      damo_release(onto);
      damo_release(before);
      damo_release(x);
      damo_release(y);
      damo_release(z);
    }
  }
}

static void check_sparse_products(damo_ctx *ctx, damo_sparse *a, const ref *r, kind k) {
  for (int format = 0; format < 2; format++) {
    damo_sparse *b = make(ctx, (damo_format)format, sparse_dtype(a), DAMO_INT32, a->shape[1], 4, k);
    ref *rb = ref_of(b), *want = calloc(1, sizeof *want);
    want->m = r->m, want->n = 4;
    for (int64_t i = 0; i < r->m; i++)
      for (int64_t j = 0; j < 4; j++)
        for (int64_t l = 0; l < r->n; l++) add_to(&want->at[i][j], times(r->at[i][l], rb->at[l][j]));
    damo_sparse *c = sparse_dot_sparse(a, b);
    CHECK(c && c->format == a->format);
    CHECK_IS(c, want);
    damo_release(b);
    free(rb);
    free(want);
  }
}

static void check_merges(damo_ctx *ctx, damo_sparse *a, const ref *r, kind k) {
  for (int op = SPARSE_ADD; op <= SPARSE_MUL; op++) {
    if (op == SPARSE_SUB && !dtype_is_signed(sparse_dtype(a)) && !dtype_is_float(sparse_dtype(a)) &&
        !dtype_is_complex(sparse_dtype(a)))
      continue;
    damo_sparse *b = make(ctx, (damo_format)(op % 2), sparse_dtype(a), DAMO_INT64, a->shape[0], a->shape[1], k);
    ref *rb = ref_of(b);
    for (int64_t i = 0; i < r->m; i++) {
      for (int64_t j = 0; j < r->n; j++) {
        const damo_c128 x = in_dtype(r->at[i][j], sparse_dtype(a)), y = in_dtype(rb->at[i][j], sparse_dtype(a));
        rb->at[i][j] = op == SPARSE_ADD   ? (damo_c128){x.re + y.re, x.im + y.im}
                       : op == SPARSE_SUB ? (damo_c128){x.re - y.re, x.im - y.im}
                                          : times(x, y);
      }
    }
    damo_sparse *c = sparse_merge((sparse_merge_op)op, a, b);
    CHECK(c && c->format == a->format && sparse_is_canonical(c) && sparse_count_zeros(c) == 0);
    CHECK_IS(c, rb);
    damo_release(b);
    free(rb);
  }
}

static void check_axes(damo_ctx *ctx, damo_sparse *a, const ref *r) {
  ref *want = malloc(sizeof *want);
  for (int axis = 0; axis < 2; axis++) {
    damo_array *s = dense_numbers(ctx, sparse_dtype(a), 1, a->shape[axis], 0);
    *want = *r;
    for (int64_t i = 0; i < r->m; i++)
      for (int64_t j = 0; j < r->n; j++) want->at[i][j] = times(r->at[i][j], value_at(s, axis ? &j : &i));
    damo_sparse *scaled = sparse_scale(a, axis, s);
    CHECK(scaled && sparse_nnz(scaled) == sparse_nnz(a));
    CHECK_IS(scaled, want);
    damo_array *sum = sparse_sum(a, axis), *wide = sum ? array_cast(sum, DAMO_COMPLEX128) : NULL;
    bool ok = wide && array_size(wide) == a->shape[!axis];
    for (int64_t q = 0; ok && q < a->shape[!axis] && sparse_dtype(a) != DAMO_BOOL; q++) {
      damo_c128 total = {0, 0};
      for (int64_t p = 0; p < a->shape[axis]; p++) add_to(&total, axis == 0 ? r->at[p][q] : r->at[q][p]);
      ok = close_to(value_at(wide, &q), total);
    }
    CHECK(ok);
    damo_release(s);
    damo_release(sum);
    damo_release(wide);
  }
  damo_c128 total = {0, 0};
  for (int64_t i = 0; i < r->m; i++)
    for (int64_t j = 0; j < r->n; j++) add_to(&total, r->at[i][j]);
  damo_array *all = sparse_sum(a, -1);
  CHECK(all && all->ndim == 0 && close_to(scalar_cast(array_item(all), DAMO_COMPLEX128).v.c, total));
  damo_release(all);
  free(want);
}

static void check_lists(damo_ctx *ctx, damo_sparse *a, const ref *r) {
  for (int axis = 0; axis < 2; axis++) {
    const int64_t n = a->shape[axis] ? 6 : 0;
    int64_t list[6];
    for (int64_t i = 0; i < n; i++) list[i] = draw(a->shape[axis]);
    damo_array *at = damo_array_from(ctx, DAMO_INT64, 1, &n, list);
    ref *want = calloc(1, sizeof *want);
    want->m = axis ? r->m : n, want->n = axis ? n : r->n;
    for (int64_t i = 0; i < want->m; i++)
      for (int64_t j = 0; j < want->n; j++) want->at[i][j] = r->at[axis ? i : list[i]][axis ? list[j] : j];
    damo_sparse *taken = sparse_take(a, axis, at);
    CHECK(taken && taken->format == a->format);
    CHECK_IS(taken, want);
    damo_release(at);
    free(want);
  }
}

static void check_sampling(damo_ctx *ctx, damo_sparse *a) {
  damo_array *x = dense_numbers(ctx, sparse_dtype(a), 2, a->shape[0], 19);
  damo_array *y = dense_numbers(ctx, sparse_dtype(a), 2, a->shape[1], 19);
  damo_sparse *u = sparse_sum_duplicates(a), *z = u ? sparse_sample(u, x, y) : NULL;
  if (CHECK(z && sparse_nnz(z) == sparse_nnz(u))) {
    ref *got = ref_of(z), *place = NULL;
    damo_array *ones = array_empty(ctx, DAMO_FLOAT64, 1, (const int64_t[]){sparse_nnz(u)});
    for (int64_t p = 0; p < sparse_nnz(u); p++) put(ones, p, 1, 0);
    damo_sparse *where = sparse_with_data(u, ones);
    place = ref_of(where);
    bool ok = true;
    for (int64_t i = 0; i < got->m; i++) {
      for (int64_t j = 0; j < got->n; j++) {
        damo_c128 sum = {0, 0};
        for (int64_t k = 0; k < 19 && place->at[i][j].re != 0; k++) {
          add_to(&sum, times(value_at(x, (const int64_t[]){i, k}), value_at(y, (const int64_t[]){j, k})));
        }
        ok = ok && close_to(got->at[i][j], in_dtype(sum, sparse_dtype(z)));
      }
    }
    CHECK(ok);
    damo_release(where);
    damo_release(ones);
    free(got);
    free(place);
  }
  damo_release(x);
  damo_release(y);
  damo_release(u);
  damo_release(z);
}

static void check_all(damo_ctx *ctx, damo_sparse *a, kind k) {
  if (!CHECK(a != NULL)) return;
  ref *r = ref_of(a);
  check_forms(ctx, a, r);
  check_dense_products(ctx, a, r);
  check_sparse_products(ctx, a, r, k);
  check_merges(ctx, a, r, k);
  check_axes(ctx, a, r);
  check_lists(ctx, a, r);
  check_sampling(ctx, a);
  free(r);
}

static void test_every_form(damo_ctx *ctx) {
  static const int64_t shapes[][2] = {{0, 0}, {0, 4}, {3, 0}, {1, 1}, {5, 7}, {11, 3}, {20, 40}};
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    for (int wide = 0; wide < 2; wide++) {
      for (int format = 0; format < 2; format++) {
        const damo_dtype itype = wide ? DAMO_INT64 : DAMO_INT32;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
          for (int k = CANONICAL; k <= EMPTY; k++) {
            damo_sparse *a =
                make(ctx, (damo_format)format, (damo_dtype)dtype, itype, shapes[s][0], shapes[s][1], (kind)k);
            CHECK(a && sparse_itype(a) == itype);
            check_all(ctx, a, (kind)k);
            damo_release(a);
          }
        }
      }
    }
  }
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static damo_array *ints(damo_ctx *ctx, damo_dtype dtype, int64_t n, const int64_t *at) {
  damo_array *a = damo_array_from(ctx, DAMO_INT64, 1, &n, at), *b = array_cast(a, dtype);
  damo_release(a);
  return b;
}

static damo_array *floats(damo_ctx *ctx, int64_t n, const double *at) {
  return damo_array_from(ctx, DAMO_FLOAT64, 1, &n, at);
}

static void test_coo(damo_ctx *ctx) {
  const int64_t rows[] = {3, 1, 3, 1}, cols[] = {1, 2, 1, 4};
  const double values[] = {1, 2, 10, 4};
  damo_array *r = ints(ctx, DAMO_INT8, 4, rows), *c = ints(ctx, DAMO_UINT64, 4, cols), *v = floats(ctx, 4, values);
  for (int format = 0; format < 2; format++) {
    damo_sparse *a = sparse_from_coo(ctx, (damo_format)format, NULL, r, c, v, DAMO_INT32);
    if (!CHECK(a != NULL)) continue;
    CHECK(a->shape[0] == 3 && a->shape[1] == 4 && sparse_nnz(a) == 3 && sparse_is_canonical(a));
    damo_array *d = sparse_to_dense(a);
    CHECK_NEAR(value_at(d, (const int64_t[]){2, 0}).re, 11, 0);
    CHECK_NEAR(value_at(d, (const int64_t[]){0, 3}).re, 4, 0);
    damo_release(d);
    damo_release(a);
  }
  CHECK(sparse_from_coo(ctx, DAMO_CSR, (const int64_t[]){3, 3}, r, c, v, DAMO_INT32) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EINDEX);
  CHECK_EQ_S(ctx->error.message, "coo: entry 4 of cols is 4, expected 1 to 3");
  damo_release(r);
  r = ints(ctx, DAMO_INT64, 4, (const int64_t[]){1, 0, 2, 1});
  CHECK(sparse_from_coo(ctx, DAMO_CSC, NULL, r, c, v, DAMO_INT32) == NULL);
  CHECK_EQ_S(ctx->error.message, "coo: entry 2 of rows is 0, expected 1 or more");
  CHECK(sparse_from_coo(ctx, DAMO_CSC, NULL, v, c, v, DAMO_INT32) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_ETYPE);
  damo_release(r);
  damo_release(c);
  damo_release(v);
}

static void test_eye_diags(damo_ctx *ctx) {
  for (int64_t k = -5; k <= 6; k++) {
    damo_sparse *a = sparse_eye(ctx, 4, 5, k, DAMO_INT16, DAMO_CSC);
    ref *want = calloc(1, sizeof *want);
    want->m = 4, want->n = 5;
    for (int64_t i = 0; i < 4; i++)
      if (i + k >= 0 && i + k < 5) want->at[i][i + k].re = 1;
    CHECK_IS(a, want);
    free(want);
  }
  damo_array *main = floats(ctx, 3, (const double[]){1, 0, 3}), *up = floats(ctx, 1, (const double[]){7});
  const damo_array *const list[] = {main, up};
  damo_sparse *a = sparse_diags(ctx, 2, list, (const int64_t[]){0, 1}, NULL, DAMO_FLOAT64, DAMO_CSR);
  if (CHECK(a && a->shape[0] == 3 && a->shape[1] == 3)) {
    CHECK_EQ_I(sparse_nnz(a), 4);
    damo_array *d = sparse_to_dense(a);
    CHECK_NEAR(value_at(d, (const int64_t[]){1, 2}).re, 7, 0);
    CHECK_NEAR(value_at(d, (const int64_t[]){2, 2}).re, 3, 0);
    damo_release(d);
  }
  damo_release(a);
  CHECK(!sparse_diags(ctx, 2, list, (const int64_t[]){1, 1}, NULL, DAMO_FLOAT64, DAMO_CSR));
  CHECK_EQ_S(ctx->error.message, "diags: offset 1 is given twice");
  CHECK(!sparse_diags(ctx, 1, list, (const int64_t[]){0}, (const int64_t[]){4, 5}, DAMO_FLOAT64, DAMO_CSR));
  CHECK_EQ_S(ctx->error.message, "diags: diagonal 1 has 3 entries, expected 4 (offset 0, shape (4, 5))");
  CHECK(!sparse_diags(ctx, 0, NULL, NULL, NULL, DAMO_FLOAT64, DAMO_CSR));
  damo_release(main);
  damo_release(up);
}

static void test_random(damo_ctx *ctx) {
  static const double densities[] = {0, 0.01, 0.1, 0.3, 0.9, 1};
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    for (size_t i = 0; i < sizeof densities / sizeof *densities; i++) {
      philox_state s = philox_seed(7), t = philox_seed(7);
      damo_sparse *a = sparse_random(ctx, 30, 41, densities[i], (damo_dtype)dtype, DAMO_CSC, &s);
      damo_sparse *b = sparse_random(ctx, 30, 41, densities[i], (damo_dtype)dtype, DAMO_CSC, &t);
      bool same = false;
      if (CHECK(a && b)) {
        CHECK_EQ_I(sparse_nnz(a), (int64_t)nearbyint(30 * 41 * densities[i]));
        CHECK(sparse_is_canonical(a) && sparse_check(a, NULL));
        CHECK_EQ_I(sparse_equal(a, b, false, &same), DAMO_OK);
        CHECK(same);
      }
      damo_release(a);
      damo_release(b);
    }
  }
  philox_state s = philox_seed(1);
  damo_sparse *a = sparse_random(ctx, 1000, 1000, 0.05, DAMO_FLOAT64, DAMO_CSR, &s);
  damo_array *sum = sparse_sum(a, -1);
  CHECK_NEAR(array_item(sum).v.f, 25000, 500);
  damo_release(sum);
  damo_release(a);
  CHECK(!sparse_random(ctx, 3, 3, 1.5, DAMO_FLOAT64, DAMO_CSR, &s));
  CHECK(!sparse_random(ctx, INT64_C(1) << 40, INT64_C(1) << 40, 1e-20, DAMO_FLOAT64, DAMO_CSR, &s));
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static void expect_refused(damo_ctx *ctx, damo_format format, int64_t n_ptr, const int64_t *ptr, int64_t n,
                           const int64_t *idx, int64_t n_data, const char *message) {
  const double zeros[8] = {0};
  for (int narrow = 0; narrow < 2; narrow++) {
    damo_array *p = ints(ctx, narrow ? DAMO_INT32 : DAMO_INT64, n_ptr, ptr);
    damo_array *i = ints(ctx, narrow ? DAMO_INT32 : DAMO_INT64, n, idx), *d = floats(ctx, n_data, zeros);
    damo_sparse *a = sparse_from_parts(ctx, format, (const int64_t[]){3, 4}, d, i, p, DAMO_INT32);
    CHECK(a == NULL);
    CHECK_EQ_S(ctx->error.message, message);
    damo_release(p);
    damo_release(i);
    damo_release(d);
  }
}

static void test_refused(damo_ctx *ctx) {
  const int64_t idx[] = {0, 3, 1, 2};
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){1, 2, 3, 4}, 4, idx, 4, "csr: indptr begins with 1, expected 0");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 3, 2, 4}, 4, idx, 4,
                 "csr: entry 3 of indptr is 2, less than the entry before it");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1, 2, 3}, 4, idx, 4,
                 "csr: indptr ends with 3, expected the 4 entries of indices");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1000000, 1000000, 4}, 4, idx, 4,
                 "csr: entry 4 of indptr is 4, less than the entry before it");
  expect_refused(ctx, DAMO_CSR, 5, (const int64_t[]){0, 1, 2, 3, 4}, 4, idx, 4,
                 "csr: indptr has 5 entries, expected 4: one more than the 3 rows");
  expect_refused(ctx, DAMO_CSC, 5, (const int64_t[]){0, 1, 2, 3, 4}, 4, idx, 4,
                 "csc: entry 2 of indices is 3, expected at least 0 and less than the 3 rows");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1, 2, 4}, 4, (const int64_t[]){0, 1, -1, 2}, 4,
                 "csr: entry 3 of indices is -1, expected at least 0 and less than the 4 columns");
  expect_refused(ctx, DAMO_CSR, 4, (const int64_t[]){0, 1, 2, 4}, 4, idx, 3,
                 "csr: data has 3 entries and indices 4, expected as many");
  damo_array *d = floats(ctx, 4, (const double[]){1, 2, 3, 4});
  CHECK(!sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){3, 4}, d, d, d, DAMO_INT32));
  CHECK_EQ_S(ctx->error.message, "csr: indices is float64, expected an integer dtype");
  CHECK(!sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){-3, 4}, d, d, d, DAMO_INT32));
  CHECK_EQ_I(ctx->error.status, DAMO_ESHAPE);
  CHECK(!sparse_from_dense(d, DAMO_CSR, DAMO_INT32));
  damo_sparse *a = make(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 3, 5, CANONICAL);
  CHECK(!sparse_dot_dense(a, false, NULL, d, NULL));
  CHECK_EQ_S(ctx->error.message,
             "dot: shapes (3, 5) and (4,) do not agree: axis 2 of the first is 5, axis 1 of the second is 4");
  CHECK(!sparse_dot_sparse(a, a));
  damo_sparse *t = sparse_transpose(a);
  CHECK(!sparse_merge(SPARSE_ADD, a, t));
  CHECK_EQ_S(ctx->error.message, "add: shapes (3, 5) and (5, 3) are not equal");
  CHECK(!sparse_scale(a, 0, d));
  damo_array *list = ints(ctx, DAMO_INT64, 2, (const int64_t[]){0, 3});
  CHECK(!sparse_take(a, 0, list));
  CHECK_EQ_S(ctx->error.message, "get_item_list: entry 2 asks for row 4 of 3");
  damo_release(list);
  damo_release(t);
  damo_release(a);
  damo_release(d);
}

/* ---- Sharing ----------------------------------------------------------------------------------------------------- */

static void test_sharing(damo_ctx *ctx) {
  damo_sparse *a = make(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 5, 6, CANONICAL);
  damo_sparse *t = sparse_transpose(a);
  CHECK(t->data == a->data && t->indices == a->indices && t->indptr == a->indptr);
  CHECK(!a->indices->writeable && !a->indptr->writeable && a->data->writeable);
  damo_array *view = array_view(a->indices, 1, array_shape(a->indices), array_strides(a->indices), 0);
  CHECK(!view->writeable);
  const scalar one = {.dtype = DAMO_INT64, .v.i = 1};
  CHECK_EQ_I(array_fill(view, one), DAMO_ESTATE);
  damo_sparse *b = sparse_from_parts(ctx, DAMO_CSR, a->shape, a->data, view, a->indptr, DAMO_INT32);
  CHECK(b && b->indices == view && b->data == a->data); /* parts of a matrix are shared */
  damo_release(b);
  damo_release(view);
  damo_array *own = array_copy(a->indices);
  b = sparse_from_parts(ctx, DAMO_CSR, a->shape, a->data, own, a->indptr, DAMO_INT32);
  CHECK(b && b->indices->data != own->data); /* what may be written is copied */
  damo_release(own);
  damo_release(b);
  damo_release(t);
  damo_release(a);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void test_comparing(damo_ctx *ctx) {
  damo_array *d = floats(ctx, 4, (const double[]){1, NAN, 0, 2}),
             *e = floats(ctx, 4, (const double[]){1, NAN, 0, 2.001});
  damo_array *i = ints(ctx, DAMO_INT32, 4, (const int64_t[]){0, 1, 2, 2}),
             *p = ints(ctx, DAMO_INT32, 3, (const int64_t[]){0, 3, 4});
  damo_sparse *a = sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){2, 3}, d, i, p, DAMO_INT32);
  damo_sparse *b = sparse_from_parts(ctx, DAMO_CSR, (const int64_t[]){2, 3}, e, i, p, DAMO_INT64);
  damo_sparse *c = sparse_drop_zeros(a);
  bool same = true;
  CHECK(sparse_equal(a, a, false, &same) == DAMO_OK && !same);
  CHECK(sparse_equal(a, a, true, &same) == DAMO_OK && same);
  CHECK(sparse_equal(a, c, true, &same) == DAMO_OK && same);
  CHECK(sparse_same_pattern(a, c, &same) == DAMO_OK && !same);
  CHECK(sparse_equal(a, b, true, &same) == DAMO_OK && !same);
  CHECK(sparse_allclose(a, b, 1e-2, 0, true, &same) == DAMO_OK && same);
  CHECK(sparse_allclose(a, b, 1e-5, 0, true, &same) == DAMO_OK && !same);
  CHECK(sparse_allclose(a, b, 1e-2, 0, false, &same) == DAMO_OK && !same);
  /* inf times an absent entry is nan, and stored, as SciPy has it. */
  damo_array *f = floats(ctx, 4, (const double[]){INFINITY, 1, 1, 1});
  damo_sparse *g = sparse_with_data(a, f), *none = make(ctx, DAMO_CSC, DAMO_FLOAT64, DAMO_INT32, 2, 3, EMPTY);
  damo_sparse *m = sparse_merge(SPARSE_MUL, g, none);
  CHECK(m && sparse_nnz(m) == 1 && isnan(((double *)(void *)m->data->data)[0]));
  damo_release(m);
  damo_release(g);
  damo_release(none);
  damo_release(f);
  damo_release(a);
  damo_release(b);
  damo_release(c);
  damo_release(d);
  damo_release(e);
  damo_release(i);
  damo_release(p);
}

static void test_printing(damo_ctx *ctx) {
  strbuf b;
  strbuf_init(&b, ctx);
  damo_sparse *a = sparse_eye(ctx, 3, 4, 1, DAMO_FLOAT64, DAMO_CSR);
  sparse_print(&b, a);
  CHECK_EQ_S(b.at, "<csr float64 (3, 4), 3 stored>\n  (1, 2)  1.0\n  (2, 3)  1.0\n  (3, 4)  1.0");
  strbuf_clear(&b);
  damo_release(a);
  strbuf_init(&b, ctx);
  a = sparse_eye(ctx, 100, 100, 0, DAMO_INT32, DAMO_CSC);
  sparse_print(&b, a);
  CHECK(strstr(b.at, "<csc int32 (100, 100), 100 stored>\n  (1, 1)      1\n") != NULL);
  CHECK(strstr(b.at, "  (10, 10)    1\n  ...\n  (91, 91)    1\n") != NULL);
  strbuf_clear(&b);
  damo_release(a);
  strbuf_init(&b, ctx);
  a = sparse_eye(ctx, 0, 7, 0, DAMO_COMPLEX64, DAMO_CSC);
  sparse_print(&b, a);
  CHECK_EQ_S(b.at, "<csc complex64 (0, 7), 0 stored>");
  strbuf_clear(&b);
  damo_release(a);
}

/* Few entries in 2^33 columns: nothing is as large as the dimension. */
static void test_huge(damo_ctx *ctx) {
  const int64_t wide = INT64_C(1) << 33, shape[2] = {3, wide};
  const int64_t rows[] = {1, 3, 3}, cols[] = {wide, 5, wide - 1};
  damo_array *r = ints(ctx, DAMO_INT64, 3, rows), *c = ints(ctx, DAMO_INT64, 3, cols);
  damo_array *v = floats(ctx, 3, (const double[]){1, 2, 3});
  damo_sparse *a = sparse_from_coo(ctx, DAMO_CSR, shape, r, c, v, DAMO_INT32);
  damo_sparse *t = a ? sparse_transpose(a) : NULL;
  if (CHECK(a && sparse_itype(a) == DAMO_INT64 && sparse_check(a, NULL))) {
    const size_t before = ctx->peak = ctx->bytes;
    damo_sparse *sum = sparse_merge(SPARSE_ADD, a, a);
    CHECK(sum && sparse_nnz(sum) == 3 && sparse_check(sum, NULL));
    damo_sparse *b = sparse_from_coo(ctx, DAMO_CSR, shape, r, c, v, DAMO_INT32);
    damo_sparse *small = sparse_eye(ctx, 3, 3, 0, DAMO_FLOAT64, DAMO_CSR);
    damo_sparse *prod = sparse_dot_sparse(small, b);
    bool same = false;
    CHECK(prod && sparse_check(prod, NULL) && sparse_equal(prod, b, false, &same) == DAMO_OK && same);
    damo_array *s = sparse_sum(a, 1), *all = sparse_sum(a, -1);
    CHECK(s && value_at(s, (const int64_t[]){2}).re == 5);
    CHECK(all && array_item(all).v.f == 6);
    damo_array *list = ints(ctx, DAMO_INT64, 2, (const int64_t[]){2, 0});
    damo_sparse *taken = sparse_take(a, 0, list);
    CHECK(taken && sparse_nnz(taken) == 3);
    CHECK(sparse_to_itype(a, DAMO_INT32) == NULL);
    CHECK(ctx->peak < before + 100000);
    damo_release(taken);
    damo_release(list);
    damo_release(all);
    damo_release(s);
    damo_release(prod);
    damo_release(small);
    damo_release(b);
    damo_release(sum);
  }
  damo_release(t);
  damo_release(a);
  damo_release(r);
  damo_release(c);
  damo_release(v);
}

/* So full that the entries of the product are counted before room is made for them. */
static void test_full_product(damo_ctx *ctx) {
  damo_array *d = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){40, 40});
  const scalar one = {.dtype = DAMO_FLOAT64, .v.f = 1};
  array_fill(d, one);
  for (int wide = 0; wide < 2; wide++) {
    damo_sparse *a = sparse_from_dense(d, DAMO_CSC, wide ? DAMO_INT64 : DAMO_INT32), *b = sparse_dot_sparse(a, a);
    if (CHECK(b && sparse_nnz(b) == 1600 && sparse_check(b, NULL))) {
      bool ok = true;
      for (int64_t p = 0; p < 1600; p++) ok = ok && value_at(b->data, &p).re == 40;
      CHECK(ok);
    }
    damo_release(a);
    damo_release(b);
  }
  damo_release(d);
}

static void test_public(damo_ctx *ctx) {
  const int64_t ptr[] = {0, 2, 3}, idx[] = {0, 2, 1};
  const double data[] = {1, 2, 3};
  damo_sparse *a = damo_sparse_new(ctx, DAMO_CSR, DAMO_FLOAT64, 2, 3, 3, ptr, idx, data);
  if (CHECK(a != NULL)) {
    CHECK(damo_sparse_nnz(a) == 3 && damo_sparse_shape(a)[1] == 3 && damo_sparse_format(a) == DAMO_CSR);
    damo_array *d = damo_sparse_toarray(a);
    damo_sparse *b = damo_sparse_from_array(d, DAMO_CSC);
    const int64_t row[] = {0, 0, 1}, col[] = {0, 2, 1};
    damo_sparse *c = damo_sparse_from_coo(ctx, DAMO_CSC, DAMO_FLOAT64, 2, 3, 3, row, col, data);
    bool same = false;
    CHECK(b && c && sparse_equal(b, c, false, &same) == DAMO_OK && same);
    CHECK(!damo_sparse_from_coo(ctx, DAMO_CSC, DAMO_FLOAT64, 2, 2, 3, row, col, data));
    damo_release(b);
    damo_release(c);
    damo_release(d);
  }
  damo_release(a);
}

/* ---- Failing allocations ----------------------------------------------------------------------------------------- */

/* true when all of it went through. */
static bool run_program(damo_ctx *ctx, damo_sparse *a, damo_sparse *b, damo_array *x) {
  void *made[24];
  int n = 0;
  bool same, ok = true;
#define TRY(expr) \
  if (ok && !(made[n++] = (expr))) ok = false
  philox_state s = philox_seed(3);
  TRY(sparse_to_format(a, DAMO_CSC));
  TRY(sparse_sum_duplicates(a));
  TRY(sparse_drop_zeros(a));
  TRY(sparse_to_itype(a, DAMO_INT64));
  TRY(sparse_copy(a));
  TRY(sparse_to_dense(a));
  TRY(sparse_dot_dense(a, false, NULL, x, NULL));
  TRY(sparse_dot_dense(a, true, NULL, x, NULL));
  TRY(sparse_dot_sparse(a, b));
  TRY(sparse_merge(SPARSE_SUB, a, b));
  TRY(sparse_scale(a, 0, x));
  TRY(sparse_sum(a, 0));
  TRY(sparse_sum(a, -1));
  TRY(sparse_random(ctx, 6, 6, 0.2, DAMO_FLOAT64, DAMO_CSR, &s));
  TRY(sparse_eye(ctx, 6, 6, 1, DAMO_FLOAT64, DAMO_CSR));
  TRY(sparse_from_parts(ctx, DAMO_CSC, b->shape, b->data, b->indices, b->indptr, DAMO_INT64));
  TRY(sparse_cast(a, DAMO_COMPLEX64));
#undef TRY
  if (ok) ok = sparse_equal(a, b, true, &same) == DAMO_OK && sparse_allclose(a, b, 0, 0, true, &same) == DAMO_OK;
  while (n > 0) damo_release(made[--n]);
  return ok;
}

static void test_failing_allocations(damo_ctx *ctx) {
  damo_sparse *a = make(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, 6, 6, MESSY);
  damo_sparse *b = make(ctx, DAMO_CSC, DAMO_FLOAT32, DAMO_INT32, 6, 6, MESSY);
  damo_array *x = dense_numbers(ctx, DAMO_FLOAT64, 1, 6, 0);
  const int64_t objects = ctx->n_objects;
  const size_t bytes = ctx->bytes;
  int64_t n = 0;
  for (bool done = false; !done && n < 10000; n++) {
    ctx_clear_error(ctx);
    ctx->fail_after = n;
    done = run_program(ctx, a, b, x);
    ctx->fail_after = -1;
    if (!done && ctx->error.status != DAMO_EMEMORY) CHECK_EQ_I(ctx->error.status, DAMO_EMEMORY);
    if (ctx->n_objects != objects || ctx->bytes != bytes) CHECK_EQ_I(ctx->n_objects, objects);
  }
  CHECK(n > 50 && n < 10000);
  damo_release(x);
  damo_release(a);
  damo_release(b);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  test_every_form(ctx);
  test_coo(ctx);
  test_eye_diags(ctx);
  test_random(ctx);
  test_refused(ctx);
  test_sharing(ctx);
  test_comparing(ctx);
  test_printing(ctx);
  test_huge(ctx);
  test_full_product(ctx);
  test_public(ctx);
  test_failing_allocations(ctx);
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
