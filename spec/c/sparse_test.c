/* sparse_test: matrices of every dtype, index width and format against plain loops over dense matrices; shapes without
 * entries; unsorted indices, duplicates, explicit zeros. */
#include "sparse_case.h"

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

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

static damo_c128 merged(int op, damo_c128 x, damo_c128 y) {
  const bool above = x.re > y.re || (x.re == y.re && x.im > y.im);
  if (op == SPARSE_MAX) return above ? x : y;
  if (op == SPARSE_MIN) return above ? y : x;
  return op == SPARSE_ADD   ? (damo_c128){x.re + y.re, x.im + y.im}
         : op == SPARSE_SUB ? (damo_c128){x.re - y.re, x.im - y.im}
                            : times(x, y);
}

static void check_merges(damo_ctx *ctx, damo_sparse *a, const ref *r, kind k) {
  for (int op = SPARSE_ADD; op <= SPARSE_MIN; op++) {
    if (op == SPARSE_SUB && !dtype_is_signed(sparse_dtype(a)) && !dtype_is_float(sparse_dtype(a)) &&
        !dtype_is_complex(sparse_dtype(a)))
      continue;
    damo_sparse *b = make(ctx, (damo_format)(op % 2), sparse_dtype(a), DAMO_INT64, a->shape[0], a->shape[1], k);
    ref *rb = ref_of(b);
    for (int64_t i = 0; i < r->m; i++) {
      for (int64_t j = 0; j < r->n; j++) {
        const damo_c128 x = in_dtype(r->at[i][j], sparse_dtype(a)), y = in_dtype(rb->at[i][j], sparse_dtype(a));
        rb->at[i][j] = merged(op, x, y);
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
    for (int64_t q = 0; ok && q < a->shape[!axis]; q++) {
      damo_c128 total = {0, 0};
      for (int64_t p = 0; p < a->shape[axis]; p++)
        add_to(&total, in_dtype(axis == 0 ? r->at[p][q] : r->at[q][p], sparse_dtype(a)));
      ok = close_to(value_at(wide, &q), total);
    }
    CHECK(ok);
    damo_release(s);
    damo_release(sum);
    damo_release(wide);
  }
  damo_c128 total = {0, 0};
  for (int64_t i = 0; i < r->m; i++)
    for (int64_t j = 0; j < r->n; j++) add_to(&total, in_dtype(r->at[i][j], sparse_dtype(a)));
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

int main(void) {
  damo_ctx *ctx = new_ctx();
  test_every_form(ctx);
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
