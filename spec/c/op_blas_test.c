/* op_blas_test: products against plain loops, over dtypes, ranks, strides and empty dimensions; gradients; Gemm, Gemv,
 * Ger. */
#include "leak_case.h"
#include "op_options.h"
#include "op_check.h"
#include "by_name.h"

/* ---- Plain products ---------------------------------------------------------------------------------------------- */

static damo_c128 entry(const damo_array *a, const int64_t *index) {
  return scalar_cast(array_get(a, index), DAMO_COMPLEX128).v.c;
}

/* out[…, i, j] = Σ x[…, i, k] y[…, k, j] for two matrices. */
static damo_array *plain_dot(damo_ctx *ctx, const damo_array *x, const damo_array *y) {
  const int64_t m = array_shape(x)[0], k = array_shape(x)[1], n = array_shape(y)[1];
  damo_array *z = damo_array_new(ctx, DAMO_COMPLEX128, 2, (const int64_t[]){m, n});
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      damo_c128 s = {0, 0};
      for (int64_t p = 0; p < k; p++) {
        const damo_c128 a = entry(x, (const int64_t[]){i, p}), b = entry(y, (const int64_t[]){p, j});
        s.re += a.re * b.re - a.im * b.im;
        s.im += a.re * b.im + a.im * b.re;
      }
      ((damo_c128 *)z->data)[i * n + j] = s;
    }
  }
  /* integers wrap around, so through int64: a float would saturate */
  damo_array *wide = array_cast(z, dtype_is_discrete(array_dtype(x)) ? DAMO_INT64 : DAMO_COMPLEX128);
  damo_array *r = array_cast(wide, array_dtype(x));
  damo_release(wide);
  damo_release(z);
  return r;
}

/* The same values in another layout: 1 column-major, 2 every other entry of a wider array, 3 reversed. */
static damo_array *laid_out(const damo_array *a, int how) {
  damo_ctx *ctx = a->obj.ctx;
  const int64_t m = array_shape(a)[0], n = array_shape(a)[1], size = (int64_t)dtype_size(array_dtype(a));
  damo_array *base =
      damo_array_new(ctx, array_dtype(a), 2, how == 1 ? (const int64_t[]){n, m} : (const int64_t[]){2 * m, 2 * n});
  const int64_t transposed[2] = {size, m * size}, apart[2] = {4 * n * size, 2 * size}, back[2] = {-2 * n * size, -size};
  const int64_t last = how == 3 && m && n ? (m - 1) * 2 * n * size + (n - 1) * size : 0;
  damo_array *v = array_view(base, 2, array_shape(a), how == 1 ? transposed : how == 2 ? apart : back, last);
  array_assign(v, a);
  damo_release(base);
  return v;
}

static void check_dot(damo_ctx *ctx, damo_dtype dtype, int64_t m, int64_t k, int64_t n) {
  damo_array *x = op_random(ctx, dtype, 2, (const int64_t[]){m, k}, 1),
             *y = op_random(ctx, dtype, 2, (const int64_t[]){k, n}, 2);
  damo_array *want = plain_dot(ctx, x, y);
  for (int how = 0; how < 16; how++) {
    damo_array *a = how % 4 ? laid_out(x, how % 4) : damo_retain(x),
               *b = how / 4 ? laid_out(y, how / 4) : damo_retain(y);
    damo_array *z = op_call2(ctx, "dot", a, b);
    if (!CHECK(z && array_dtype(z) == dtype && array_allclose(z, want, 1e-5, 1e-5, false))) {
      fprintf(stderr, "    %s %lldx%lldx%lld, layout %d\n", dtype_name(dtype), (long long)m, (long long)k, (long long)n,
              how);
    }
    damo_release(z);
    damo_release(a);
    damo_release(b);
  }
  damo_release(x);
  damo_release(y);
  damo_release(want);
}

static void test_dot(damo_ctx *ctx) {
  static const int64_t sizes[][3] = {{3, 4, 2},    {1, 4, 2},    {3, 4, 1},   {1, 4, 1},    {3, 1, 2}, {3, 0, 2},
                                     {0, 4, 2},    {3, 4, 0},    {1, 1, 1},   {17, 70, 33}, {8, 8, 8}, {16, 5, 16},
                                     {9, 300, 10}, {8, 300, 40}, {1, 70, 50}, {50, 70, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (int dtype = 1; dtype < DAMO_N_DTYPES; dtype++)
      check_dot(ctx, (damo_dtype)dtype, sizes[i][0], sizes[i][1], sizes[i][2]);
  }
}

static damo_array *from_list(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, const double *values) {
  damo_array *d = damo_array_from(ctx, DAMO_FLOAT64, ndim, shape, values), *a = array_cast(d, dtype);
  damo_release(d);
  return a;
}

static void test_dot_kinds(damo_ctx *ctx) {
  const double t[4] = {1, 0, 1, 1}, big[2] = {200, 100};
  damo_array *p = from_list(ctx, DAMO_BOOL, 2, (const int64_t[]){2, 2}, t), *z = op_call2(ctx, "dot", p, p);
  if (CHECK(z && array_dtype(z) == DAMO_BOOL)) {
    CHECK_EQ_I(z->data[0], 1);
    CHECK_EQ_I(z->data[1], 0);
    CHECK_EQ_I(z->data[2], 1);
  }
  damo_release(z);
  damo_release(p);
  damo_array *u = from_list(ctx, DAMO_UINT8, 1, (const int64_t[]){2}, big);
  z = op_call2(ctx, "dot", u, u);
  if (CHECK(z && array_dtype(z) == DAMO_UINT8)) CHECK_EQ_I((uint8_t)z->data[0], (200 * 200 + 100 * 100) & 255);
  damo_release(z);
  damo_array *f = op_random(ctx, DAMO_FLOAT32, 1, (const int64_t[]){2}, 4);
  damo_array *d = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 3}, 5);
  z = op_call2(ctx, "dot", f, d);
  CHECK(z && array_dtype(z) == DAMO_FLOAT64 && z->ndim == 1 && array_shape(z)[0] == 3);
  damo_release(z);
  z = op_call2(ctx, "dot", u, f);
  CHECK(z && array_dtype(z) == DAMO_FLOAT32 && z->ndim == 0);
  damo_release(z);
  damo_release(u);
  damo_release(f);
  damo_release(d);
}

static void expect_failure(damo_ctx *ctx, const char *name, damo_array *x, damo_array *y, const char *message) {
  damo_array *z = op_call2(ctx, name, x, y);
  CHECK(z == NULL);
  if (!CHECK(strstr(ctx->error.message, message) != NULL)) fprintf(stderr, "    %s\n", ctx->error.message);
  damo_release(z);
}

static void test_failures(damo_ctx *ctx) {
  damo_array *x = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){3, 4}, 1),
             *s = damo_array_scalar(ctx, DAMO_FLOAT64, 2);
  damo_array *y = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){5, 2}, 1);
  damo_array *z = op_random(ctx, DAMO_FLOAT64, 3, (const int64_t[]){2, 3, 4}, 1),
             *w = op_random(ctx, DAMO_FLOAT64, 3, (const int64_t[]){3, 4, 2}, 1);
  expect_failure(ctx, "dot", x, y,
                 "dot: shapes (3, 4) and (5, 2) do not agree: axis 2 of the first is 4, axis 1 of the second is 5");
  expect_failure(ctx, "matmul", x, s, "matmul: operand 2 is a scalar");
  expect_failure(ctx, "matmul", z, w, "matmul: shapes (2, 3, 4) and (3, 4, 2) do not agree: axis 1 of the first is 2");
  damo_release(x);
  damo_release(y);
  damo_release(z);
  damo_release(w);
  damo_release(s);
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

/* Checks matmul entry by entry against its definition, for ranks up to 4 after broadcasting. */
static void check_matmul(damo_ctx *ctx, int nx, const int64_t *sx, int ny, const int64_t *sy) {
  damo_array *x = op_random(ctx, DAMO_FLOAT64, nx, sx, 3), *y = op_random(ctx, DAMO_FLOAT64, ny, sy, 4);
  damo_array *z = op_call2(ctx, "matmul", x, y);
  if (!CHECK(z != NULL)) {
    fprintf(stderr, "    %s\n", ctx->error.message);
  } else {
    const int64_t m = sx[nx - 2], k = sx[nx - 1], n = sy[ny - 1], count = array_size(z) / (m * n);
    const int64_t cx = array_size(x) / (m * k), cy = array_size(y) / (k * n);
    double worst = 0;
    for (int64_t b = 0; b < count; b++) { /* batch axes: equal, broadcast, or only an outer or inner one */
      const double *px = (double *)x->data + (cx == count ? b : cx == 1 ? 0 : b / (count / cx)) * m * k;
      const double *py = (double *)y->data + (cy == count ? b : cy == 1 ? 0 : b % cy) * k * n;
      for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
          double s = 0;
          for (int64_t p = 0; p < k; p++) s += px[i * k + p] * py[p * n + j];
          worst = fmax(worst, fabs(s - ((double *)z->data)[(b * m + i) * n + j]));
        }
      }
    }
    CHECK_NEAR(worst, 0, 1e-13);
  }
  damo_release(x);
  damo_release(y);
  damo_release(z);
}

/* A stack laid out in several ways, times one matrix: the products are one product where one step leads through all rows,
 * else one by one. */
static void test_stack_layouts(damo_ctx *ctx) {
  enum { B = 3, M = 4, K = 5, N = 2 };
  static const int64_t shape[3] = {B, M, K}, strides[][3] = {{8 * M * K, 8 * K, 8},   /* contiguous */
                                                             {16 * M * K, 16 * K, 8}, /* rows apart */
                                                             {32 * M * K, 16 * K, 8}, /* matrices apart too */
                                                             {8 * K, 8 * B * K, 8}, /* rows of the stack interleaved */
                                                             {8 * M, 8, 8 * B * M}, /* columns, one step for all rows */
                                                             {-8 * M * K, 8 * K, 8}}; /* backwards */
  damo_array *y = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){K, N}, 7),
             *x = op_random(ctx, DAMO_FLOAT64, 3, shape, 8), *want = op_call2(ctx, "matmul", x, y);
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    damo_array *base = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){8 * B * M * K});
    damo_array *v = array_view(base, 3, shape, strides[i], strides[i][0] < 0 ? 8 * (B - 1) * M * K : 0);
    array_assign(v, x);
    damo_array *z = op_call2(ctx, "matmul", v, y);
    CHECK(z && want && array_allclose(z, want, 1e-13, 1e-13, false));
    damo_release(z);
    damo_release(v);
    damo_release(base);
  }
  for (int64_t k = 0; k < B * M * N; k++) {
    double sum = 0;
    for (int p = 0; p < K; p++)
      sum += ((double *)(void *)x->data)[k / N * K + p] * ((double *)(void *)y->data)[p * N + k % N];
    CHECK_NEAR(((double *)(void *)want->data)[k], sum, 1e-13);
  }
  damo_release(want);
  damo_release(x);
  damo_release(y);
}

static void test_matmul(damo_ctx *ctx) {
  check_matmul(ctx, 3, (const int64_t[]){5, 3, 4}, 3, (const int64_t[]){5, 4, 2});
  check_matmul(ctx, 3, (const int64_t[]){5, 3, 4}, 2, (const int64_t[]){4, 2});
  check_matmul(ctx, 2, (const int64_t[]){3, 4}, 3, (const int64_t[]){5, 4, 2});
  check_matmul(ctx, 4, (const int64_t[]){2, 1, 3, 4}, 3, (const int64_t[]){3, 4, 2});
  check_matmul(ctx, 4, (const int64_t[]){2, 3, 3, 4}, 4, (const int64_t[]){1, 1, 4, 2});
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static damo_var *call_by_name(build *b, damo_var *const *x, const void *user) { return build_fn2(b, user, x[0], x[1]); }

static void check_product_gradient(damo_ctx *ctx, const char *name, int nx, const int64_t *sx, int ny,
                                   const int64_t *sy) {
  damo_array *v[2] = {op_random(ctx, DAMO_FLOAT64, nx, sx, 7), op_random(ctx, DAMO_FLOAT64, ny, sy, 8)};
  op_check_gradient(ctx, call_by_name, name, v, 2, true);
  damo_release(v[0]);
  damo_release(v[1]);
}

static void test_gradients(damo_ctx *ctx) {
  const int64_t a[] = {3, 4}, b[] = {4, 2}, v[] = {4}, s[] = {2, 3, 4}, t[] = {2, 4, 2}, sv[] = {2, 4};
  check_product_gradient(ctx, "dot", 2, a, 2, b);
  check_product_gradient(ctx, "dot", 2, a, 1, v);
  check_product_gradient(ctx, "dot", 1, v, 2, b);
  check_product_gradient(ctx, "dot", 1, v, 1, v);
  check_product_gradient(ctx, "dot", 3, s, 3, t);
  check_product_gradient(ctx, "matmul", 3, s, 3, t);
  check_product_gradient(ctx, "matmul", 3, s, 2, b);
  check_product_gradient(ctx, "matmul", 2, a, 3, t);
  check_product_gradient(ctx, "matmul", 1, v, 3, t);
  check_product_gradient(ctx, "outer", 1, v, 1, v);
  check_product_gradient(ctx, "batched_dot", 3, s, 3, t);
  check_product_gradient(ctx, "vecdot", 2, a, 2, a);
  check_product_gradient(ctx, "matvec", 3, s, 2, sv);
  check_product_gradient(ctx, "vecmat", 2, sv, 3, t);
  check_product_gradient(ctx, "kron", 2, a, 2, b);
}

static damo_var *tensordot_pairs(build *b, damo_var *const *x, const void *user) {
  (void)user;
  const prop_value ax[2] = {prop_int(1), prop_int(3)}, ay[2] = {prop_int(2), prop_int(-1)};
  const prop_value lists[2] = {prop_list(ax, 2), prop_list(ay, 2)}, axes = prop_list(lists, 2);
  return build_fn(b, "tensordot", x, 2, IN_ORDER(b->ctx, "tensordot", axes));
}

static void test_tensordot(damo_ctx *ctx) {
  damo_array *v[2] = {op_random(ctx, DAMO_FLOAT64, 3, (const int64_t[]){2, 3, 4}, 1),
                      op_random(ctx, DAMO_FLOAT64, 3, (const int64_t[]){5, 2, 4}, 2)};
  const prop_value ax[2] = {prop_int(1), prop_int(3)}, ay[2] = {prop_int(2), prop_int(-1)};
  const prop_value lists[2] = {prop_list(ax, 2), prop_list(ay, 2)}, axes = prop_list(lists, 2), three = prop_int(3);
  damo_array *z = op_call1(ctx, "tensordot", v, 2, &axes);
  if (CHECK(z && z->ndim == 2 && array_shape(z)[0] == 3 && array_shape(z)[1] == 5)) {
    const double *x = (double *)v[0]->data, *y = (double *)v[1]->data;
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 5; j++) {
        double s = 0;
        for (int p = 0; p < 2; p++) {
          for (int q = 0; q < 4; q++) s += x[(p * 3 + i) * 4 + q] * y[(j * 2 + p) * 4 + q];
        }
        CHECK_NEAR(((double *)z->data)[i * 5 + j], s, 1e-13);
      }
    }
  }
  damo_release(z);
  op_check_gradient(ctx, tensordot_pairs, NULL, v, 2, true);
  CHECK(op_call1(ctx, "tensordot", v, 2, &three) == NULL);
  CHECK(strstr(ctx->error.message, "tensordot: shapes (2, 3, 4) and (5, 2, 4) do not agree") != NULL);
  damo_release(v[0]);
  damo_release(v[1]);
}

/* A tensor of that shape whose axes lie in memory in the order of `place`, with gaps after each. */
static damo_array *laid_out_nd(const damo_array *a, const int *place) {
  int64_t strides[DAMO_MAX_NDIM], step = (int64_t)dtype_size(array_dtype(a));
  for (int k = a->ndim - 1; k >= 0; k--) {
    strides[place[k]] = step;
    step *= array_shape(a)[place[k]] + (k == a->ndim - 1 ? 0 : 1);
  }
  damo_array *base = damo_array_new(a->obj.ctx, array_dtype(a), 1, (const int64_t[]){step}),
             *v = array_view(base, a->ndim, array_shape(a), strides, 0);
  array_assign(v, a);
  damo_release(base);
  return v;
}

static int64_t letter_length(char c) { return 2 + c % 4 + (c >= 'i' ? 7 : 0); }

/* The sum over all letters of "abij,abjk->abik", index by index. */
static damo_array *plain_einsum(const damo_array *x, const damo_array *y, const char *text) {
  char letters[16] = {0};
  int64_t at[128] = {0}, shape[4], index[3][4];
  for (const char *p = text; *p; p++) {
    if (*p >= 'a' && *p <= 'z' && strchr(letters, *p) == NULL) letters[strlen(letters)] = *p;
  }
  const char *out = strchr(text, '>') + 1, *const list[3] = {text, text + 5, out};
  for (size_t k = 0; k < strlen(out); k++) shape[k] = letter_length(out[k]);
  damo_array *z = damo_array_new(x->obj.ctx, DAMO_COMPLEX128, (int)strlen(out), shape);
  for (bool more = true; more;) {
    for (int o = 0; o < 3; o++)
      for (int k = 0; list[o][k] >= 'a' && k < 4; k++) index[o][k] = at[(int)list[o][k]];
    const damo_c128 a = entry(x, index[0]), c = entry(y, index[1]);
    damo_c128 s = entry(z, index[2]);
    s.re += a.re * c.re - a.im * c.im;
    s.im += a.re * c.im + a.im * c.re;
    array_set(z, index[2], (scalar){.dtype = DAMO_COMPLEX128, .v.c = s});
    size_t k = 0;
    while (letters[k] && ++at[(int)letters[k]] == letter_length(letters[k])) at[(int)letters[k++]] = 0;
    more = letters[k] != 0;
  }
  return z;
}

/* Operands in any layout: by one product, in parts, or from copies. */
static void test_tensordot_layouts(damo_ctx *ctx) {
  static const int places[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 2, 3}, {2, 0, 3, 1}, {3, 0, 1, 2}};
  static const char *const subscripts[] = {"abij,abjk->abik", "abij,bjka->abik", "iajb,akjb->ik",  "iabj,kabj->ik",
                                           "ijab,abkl->ijkl", "iajb,jakb->ik",   "ijkl,mnkl->ijmn"};
  static const damo_dtype dtypes[] = {DAMO_FLOAT64, DAMO_COMPLEX64, DAMO_INT32};
  for (int d = 0; d < 3; d++) {
    for (size_t s = 0; s < sizeof subscripts / sizeof *subscripts; s++) {
      const char *const text = subscripts[s];
      const prop_value option = prop_str(text);
      int64_t shape[2][4];
      for (int k = 0; k < 8; k++) shape[k / 4][k % 4] = letter_length(text[k + k / 4]);
      damo_array *x = op_random(ctx, dtypes[d], 4, shape[0], 1), *y = op_random(ctx, dtypes[d], 4, shape[1], 2);
      damo_array *want = plain_einsum(x, y, text);
      for (size_t i = 0; i < 25; i++) {
        damo_array *v[2] = {laid_out_nd(x, places[i / 5]), laid_out_nd(y, places[i % 5])};
        damo_array *z = op_call1(ctx, "einsum", v, 2, &option);
        if (!CHECK(z && array_allclose(z, want, 1e-4, 1e-4, false)))
          fprintf(stderr, "    %s %s, layouts %d\n", dtype_name(dtypes[d]), text, (int)i);
        damo_release(z);
        damo_release(v[0]);
        damo_release(v[1]);
      }
      damo_release(want);
      damo_release(x);
      damo_release(y);
    }
  }
}

typedef struct einsum_case {
  const char *text;
  int n;
} einsum_case;

static damo_var *einsum_formula(build *b, damo_var *const *x, const void *user) {
  const einsum_case *c = user;
  const prop_value text = prop_str(c->text);
  return build_fn(b, "einsum", x, c->n, IN_ORDER(b->ctx, "einsum", text));
}

/* Compares the values with the sum over all indices; each letter i j k l has one length. */
static void check_einsum(damo_ctx *ctx, const char *text, int n) {
  static const int64_t length[4] = {2, 3, 4, 5};
  const einsum_case c = {text, n};
  const prop_value opt = prop_str(text);
  damo_array *v[3] = {NULL};
  const char *at = text, *names[4] = {text};
  for (int k = 0; k < n; k++, at++) {
    int64_t shape[4];
    int ndim = 0;
    for (names[k] = at; *at >= 'i'; at++) shape[ndim++] = length[*at - 'i'];
    v[k] = op_random(ctx, DAMO_FLOAT64, ndim, shape, (uint64_t)k + 1);
  }
  names[n] = at + 1;
  damo_array *z = op_call1(ctx, "einsum", v, n, &opt);
  if (!CHECK(z != NULL)) fprintf(stderr, "    %s: %s\n", text, ctx->error.message);
  damo_array *want = z ? damo_array_new(ctx, DAMO_FLOAT64, z->ndim, array_shape(z)) : NULL;
  const int n_used = strchr(text, 'l') ? 4 : strchr(text, 'k') ? 3 : strchr(text, 'j') ? 2 : 1;
  int64_t total = 1;
  for (int i = 0; i < n_used; i++) total *= length[i];
  for (int64_t p = 0; z && p < total; p++) {
    int64_t place[4], rest = p;
    double product = 1;
    for (int i = 0; i < n_used; i++) place[i] = rest % length[i], rest /= length[i];
    for (int k = 0; k <= n; k++) {
      int64_t offset = 0;
      for (const char *q = names[k]; *q >= 'i'; q++) offset = offset * length[*q - 'i'] + place[*q - 'i'];
      if (k < n)
        product *= ((double *)v[k]->data)[offset];
      else
        ((double *)want->data)[offset] += product;
    }
  }
  if (z && !CHECK(array_allclose(z, want, 1e-12, 1e-12, false))) fprintf(stderr, "    %s\n", text);
  damo_release(z);
  damo_release(want);
  op_check_gradient(ctx, einsum_formula, &c, v, n, false);
  for (int k = 0; k < n; k++) damo_release(v[k]);
}

static void test_einsum(damo_ctx *ctx) {
  const prop_value wrong[] = {prop_str("ij,jk->im"), prop_str("ij->ii"), prop_str("ijk->i"),
                              prop_str("i1->i"),     prop_str("ij>i"),   prop_str("ij")};
  check_einsum(ctx, "ij,jk->ik", 2);
  check_einsum(ctx, "ij->ji", 1);
  check_einsum(ctx, "ij->", 1);
  check_einsum(ctx, "ii->i", 1);
  check_einsum(ctx, "ii->", 1);
  check_einsum(ctx, "ij,ij->i", 2);
  check_einsum(ctx, "ijk,ikl->ijl", 2);
  check_einsum(ctx, "ijk,lki->lij", 2);
  check_einsum(ctx, "i,j->ji", 2);
  check_einsum(ctx, "ij,jk,kl->il", 3);
  check_einsum(ctx, "ijk,k,l->j", 3);
  damo_array *x = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 3}, 1), *y[2] = {x, x};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK(op_call1(ctx, "einsum", y, i == 0 || i == 5 ? 2 : 1, &wrong[i]) == NULL);
    CHECK_EQ_I(ctx->error.status, DAMO_EVALUE);
  }
  damo_release(x);
  damo_array *s[2] = {op_random(ctx, DAMO_FLOAT64, 3, (const int64_t[]){2, 3, 4}, 1),
                      op_random(ctx, DAMO_FLOAT64, 3, (const int64_t[]){1, 4, 2}, 2)};
  const prop_value dots = prop_str("...ij,...jk->...ik");
  damo_array *z = op_call1(ctx, "einsum", s, 2, &dots), *want = op_call2(ctx, "matmul", s[0], s[1]);
  CHECK(z && want && array_allclose(z, want, 1e-12, 1e-12, false));
  damo_release(z);
  damo_release(want);
  damo_release(s[0]);
  damo_release(s[1]);
}

/* ---- Gemm, Gemv, Ger --------------------------------------------------------------------------------------------- */

static damo_var *gemm_formula(build *b, damo_var *const *x, const void *user) {
  (void)user;
  return build_gemm(b, x[0], x[1], x[2], x[3], x[4]);
}

static damo_var *gemv_formula(build *b, damo_var *const *x, const void *user) {
  (void)user;
  return build_gemv(b, x[0], x[1], x[2], x[3], x[4]);
}

static damo_var *ger_formula(build *b, damo_var *const *x, const void *user) {
  (void)user;
  return build_ger(b, x[0], x[1], x[2], x[3]);
}

static damo_var *gemm_spelled(build *b, damo_var *const *x) {
  damo_var *product = build_fn2(b, "mul", x[1], build_dot(b, x[2], x[3]));
  return build_fn2(b, "add", build_fn2(b, "mul", x[4], x[0]), product);
}

static void check_update(damo_ctx *ctx, int nz, const int64_t *sz, int nx, const int64_t *sx, int ny, const int64_t *sy,
                         op_formula f) {
  damo_array *v[5] = {op_random(ctx, DAMO_FLOAT64, nz, sz, 1), damo_array_scalar(ctx, DAMO_FLOAT64, 0.7),
                      op_random(ctx, DAMO_FLOAT64, nx, sx, 2), op_random(ctx, DAMO_FLOAT64, ny, sy, 3),
                      damo_array_scalar(ctx, DAMO_FLOAT64, -1.3)};
  const int n = f == ger_formula ? 4 : 5;
  op_check_gradient(ctx, f, NULL, v, n, false);
  if (n == 5) {
    build b;
    damo_var *x[5];
    damo_array *out[2] = {NULL};
    build_init(&b, ctx);
    for (int i = 0; i < 5; i++) x[i] = build_take(&b, var_constant(ctx, NULL, (damo_obj *)v[i]));
    damo_var *both[2] = {f(&b, x, NULL), gemm_spelled(&b, x)};
    CHECK(both[0] && both[1] && eager_eval(ctx, both, 2, (damo_obj **)out) == DAMO_OK &&
          array_allclose(out[0], out[1], 1e-12, 1e-12, false));
    damo_release(out[0]);
    damo_release(out[1]);
    build_end(&b);
  }
  for (int i = 0; i < 5; i++) damo_release(v[i]);
}

static void test_updates(damo_ctx *ctx) {
  const int64_t z[] = {3, 2}, x[] = {3, 4}, y[] = {4, 2}, v[] = {4}, w[] = {3}, u[] = {2};
  check_update(ctx, 2, z, 2, x, 2, y, gemm_formula);
  check_update(ctx, 1, w, 2, x, 1, v, gemv_formula);
  check_update(ctx, 2, z, 1, w, 1, u, ger_formula);
}

/* Into a new array, from a z of any layout, which must stay as it is. */
static void test_update_layouts(damo_ctx *ctx) {
  static const int64_t sizes[][3] = {{3, 4, 2}, {200, 64, 100}, {70, 90, 80}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int64_t m = sizes[k][0], inner = sizes[k][1], n = sizes[k][2];
    damo_array *z0 = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){m, n}, 1),
               *x = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){m, inner}, 2),
               *y = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){inner, n}, 3);
    for (int how = 0; how < 4; how++) {
      damo_array *z = how ? laid_out(z0, how) : array_copy(z0);
      damo_obj *values[5] = {&z->obj, (damo_obj *)damo_array_scalar(ctx, DAMO_FLOAT64, -0.1), &x->obj, &y->obj,
                             (damo_obj *)damo_array_scalar(ctx, DAMO_FLOAT64, 1.5)};
      damo_array *out[2] = {NULL};
      damo_var *in[5];
      build b;
      build_init(&b, ctx);
      for (int i = 0; i < 5; i++) in[i] = build_take(&b, var_constant(ctx, NULL, values[i]));
      damo_var *both[2] = {gemm_formula(&b, in, NULL), gemm_spelled(&b, in)};
      CHECK(both[0] && both[1] && eager_eval(ctx, both, 2, (damo_obj **)out) == DAMO_OK &&
            array_allclose(out[0], out[1], 1e-12, 1e-12, false) && array_equal(z, z0, false));
      damo_release(out[0]);
      damo_release(out[1]);
      damo_release(values[1]);
      damo_release(values[4]);
      build_end(&b);
      damo_release(z);
    }
    damo_release(z0);
    damo_release(x);
    damo_release(y);
  }
}

/* In place: the result is in z's own memory, whatever its layout. */
static void test_inplace(damo_ctx *ctx) {
  for (int how = 0; how < 4; how++) {
    damo_array *z0 = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){3, 2}, 1),
               *z = how ? laid_out(z0, how) : damo_retain(z0);
    damo_array *x = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){3, 4}, 2),
               *y = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){4, 2}, 3);
    damo_array *one = damo_array_scalar(ctx, DAMO_FLOAT64, 1), *xy = plain_dot(ctx, x, y);
    damo_obj *values[5] = {(damo_obj *)z, (damo_obj *)one, (damo_obj *)x, (damo_obj *)y, (damo_obj *)one};
    damo_var *in[5];
    damo_obj *out = NULL;
    build b;
    const prop_value inplace = prop_bool(true);
    double want[6];
    for (int i = 0; i < 6; i++) want[i] = ((double *)z0->data)[i] + ((double *)xy->data)[i];
    build_init(&b, ctx);
    for (int i = 0; i < 5; i++) in[i] = build_take(&b, var_constant(ctx, NULL, values[i]));
    damo_apply *node = build_apply(&b, op_new(ctx, &gemm_def, &inplace), in, 5);
    if (CHECK(node && node->op->destroy_map && eager_node(ctx, node, &out) == DAMO_OK)) {
      CHECK(out == (damo_obj *)z);
      for (int i = 0; i < 6; i++) CHECK_NEAR(array_get(z, (const int64_t[]){i / 2, i % 2}).v.f, want[i], 1e-12);
    }
    damo_release(out);
    build_end(&b);
    damo_release(z0);
    damo_release(z);
    damo_release(x);
    damo_release(y);
    damo_release(one);
    damo_release(xy);
  }
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(leak_alloc, NULL);
  const damo_memory_info before = damo_ctx_memory(ctx);
  test_dot(ctx);
  test_dot_kinds(ctx);
  test_failures(ctx);
  test_matmul(ctx);
  test_stack_layouts(ctx);
  test_gradients(ctx);
  test_tensordot(ctx);
  test_tensordot_layouts(ctx);
  test_einsum(ctx);
  test_updates(ctx);
  test_update_layouts(ctx);
  test_inplace(ctx);
  op_check_empty(ctx, before);
  leak_end(ctx);
  TEST_MAIN_END;
}
