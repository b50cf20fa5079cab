/* array_test: making, views, casts, assignment, comparison, text, and running out of memory. */
#include <stdlib.h>

#include "array/array.h"
#include "test.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#define F64(...) ((const double[]){__VA_ARGS__})

static damo_ctx *ctx;

static damo_array *f64(int ndim, const int64_t *shape, const double *data) {
  return damo_array_from(ctx, DAMO_FLOAT64, ndim, shape, data);
}

/* 0, 1, 2, … of that shape. */
static damo_array *counting(damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = array_empty(ctx, DAMO_INT64, ndim, shape);
  for (int64_t i = 0; i < array_size(a); i++) ((int64_t *)(void *)a->data)[i] = i;
  damo_array *out = array_cast(a, dtype);
  damo_release(a);
  return out;
}

static bool is_sound(const damo_array *a) {
  const char *why = NULL;
  bool ok = array_check(a, &why);
  if (!ok) fprintf(stderr, "    array_check: %s\n", why);
  return ok;
}

/* Whether the array prints as expected; takes the array. */
static bool prints(damo_array *a, const char *expected) {
  strbuf b;
  strbuf_init(&b, ctx);
  array_format(&b, a);
  bool ok = b.at && strcmp(b.at, expected) == 0;
  if (!ok) fprintf(stderr, "    printed\n%s\n    expected\n%s\n", b.at ? b.at : "(null)", expected);
  strbuf_clear(&b);
  damo_release(a);
  return ok;
}

static damo_array *transposed(const damo_array *a) {
  return array_view(a, 2, SHAPE(array_shape(a)[1], array_shape(a)[0]), SHAPE(array_strides(a)[1], array_strides(a)[0]),
                    0);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void test_new(void) {
  damo_array *a = damo_array_new(ctx, DAMO_INT32, 3, SHAPE(2, 3, 4));
  CHECK(is_sound(a));
  CHECK_EQ_I(damo_array_ndim(a), 3);
  CHECK_EQ_I(damo_array_size(a), 24);
  CHECK_EQ_I(damo_array_dtype(a), DAMO_INT32);
  CHECK_EQ_I(damo_array_strides(a)[0], 48);
  CHECK_EQ_I(damo_array_strides(a)[2], 4);
  CHECK_EQ_I((uintptr_t)damo_array_data(a) % 64, 0);
  CHECK_EQ_I(array_get(a, SHAPE(1, 2, 3)).v.i, 0);
  CHECK(array_is_exclusive(a));
  damo_release(a);
  for (int64_t n = 0; n < 40; n++) { /* small buffers and larger ones */
    a = damo_array_new(ctx, DAMO_FLOAT32, 1, &n);
    CHECK(is_sound(a) && (uintptr_t)a->data % 64 == 0);
    if (n) memset(a->data, 1, (size_t)n * 4);
    damo_release(a);
  }
  a = damo_array_new(ctx, DAMO_FLOAT64, 2, SHAPE(0, 5));
  CHECK(is_sound(a) && array_size(a) == 0 && array_is_contiguous(a));
  damo_release(a);
}

static void test_bad_shapes(void) {
  int64_t ones[DAMO_MAX_NDIM + 1], n = 5;
  for (int i = 0; i <= DAMO_MAX_NDIM; i++) ones[i] = 1;
  CHECK(damo_array_new(ctx, DAMO_INT8, DAMO_MAX_NDIM + 1, ones) == NULL);
  CHECK_EQ_S(damo_error_message(ctx), "array: 33 dimensions asked, at most 32 are supported");
  damo_array *a = damo_array_new(ctx, DAMO_INT8, DAMO_MAX_NDIM, ones);
  CHECK(a != NULL && is_sound(a));
  damo_release(a);
  CHECK(damo_array_new(ctx, DAMO_INT8, 2, SHAPE(3, -2)) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ESHAPE);
  CHECK_EQ_S(damo_error_message(ctx), "array: dimension 2 is -2, expected 0 or more");
  CHECK(damo_array_new(ctx, DAMO_FLOAT64, 2, SHAPE(INT64_C(1) << 31, INT64_C(1) << 30)) == NULL);
  CHECK_EQ_S(damo_error_message(ctx), "array: shape (2147483648, 1073741824) is too large");
  CHECK(damo_array_new(ctx, DAMO_INT8, 3, SHAPE(0, INT64_MAX, 2)) == NULL); /* its strides would overflow */
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EVALUE);
  CHECK(damo_array_new(ctx, DAMO_INT8, 1, SHAPE(INT64_MAX)) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EMEMORY);
  CHECK(damo_array_new(ctx, (damo_dtype)77, 0, NULL) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ETYPE);
  CHECK_EQ_I(shape_size(ctx, 2, SHAPE(2, -1), &n), DAMO_ESHAPE);
  CHECK_EQ_I(n, 5);
  CHECK(shape_size(ctx, 2, SHAPE(6, 7), &n) == DAMO_OK && n == 42);
}

static void test_shape_text(void) {
  char text[64];
  CHECK_EQ_S(shape_format(text, sizeof text, 0, NULL), "()");
  CHECK_EQ_S(shape_format(text, sizeof text, 1, SHAPE(3)), "(3,)");
  CHECK_EQ_S(shape_format(text, sizeof text, 3, SHAPE(2, -1, 4)), "(2, ?, 4)");
  CHECK_EQ_S(shape_format(text, 6, 2, SHAPE(1000, 2000)), "(1000");
}

static void test_broadcast_shapes(void) {
  int64_t out[DAMO_MAX_NDIM];
  int n = 0;
  CHECK(shape_broadcast(2, SHAPE(3, 1), 3, SHAPE(2, 1, 4), &n, out));
  CHECK(n == 3 && out[0] == 2 && out[1] == 3 && out[2] == 4);
  CHECK(shape_broadcast(1, SHAPE(0), 1, SHAPE(1), &n, out) && out[0] == 0);
  CHECK(!shape_broadcast(1, SHAPE(0), 1, SHAPE(2), &n, out));
  CHECK(!shape_broadcast(1, SHAPE(3), 2, SHAPE(3, 2), &n, out));
  CHECK(shape_broadcast(0, NULL, 0, NULL, &n, out) && n == 0);
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static void test_views(void) {
  damo_array *a = counting(DAMO_FLOAT64, 2, SHAPE(3, 4));
  damo_array *t = transposed(a);
  CHECK(is_sound(t) && !array_is_contiguous(t) && array_is_f_contiguous(t) && !array_is_f_contiguous(a));
  CHECK(!array_is_exclusive(a) && !array_is_exclusive(t));
  damo_release(a); /* the view keeps the buffer */
  CHECK_NEAR(array_get(t, SHAPE(3, 1)).v.f, 7, 0);
  CHECK(array_is_exclusive(t));
  damo_array *back = array_view(t, 1, SHAPE(4), SHAPE(-8), 11 * 8); /* 11 10 9 8 */
  CHECK(is_sound(back));
  CHECK_NEAR(array_get(back, SHAPE(3)).v.f, 8, 0);
  damo_array *past = array_view(t, 1, SHAPE(4), SHAPE(8), 8 * 8);
  CHECK(is_sound(past));
  past->data += 8;
  CHECK(!array_check(past, NULL));
  damo_array *front = array_view(t, 1, SHAPE(4), SHAPE(8), 0);
  CHECK(!array_may_overlap(front, back) && array_may_overlap(t, back));
  damo_array *other = counting(DAMO_FLOAT64, 1, SHAPE(4)),
             *foreign = array_foreign(t->obj.ctx, DAMO_FLOAT64, 1, SHAPE(4), t->data, false, NULL, NULL);
  CHECK(!array_may_overlap(t, other) && array_may_overlap(t, foreign) && array_may_overlap(foreign, front));
  CHECK(!array_may_overlap(foreign, back) && !array_may_overlap(foreign, other));
  damo_release(other);
  damo_release(foreign);
  damo_release(past);
  damo_release(front);
  damo_release(back);
  damo_release(t);
}

static void test_reseat(void) {
  damo_array *a = counting(DAMO_INT32, 1, SHAPE(6)), *b = counting(DAMO_INT32, 1, SHAPE(6));
  damo_array *v = array_view(a, 1, SHAPE(2), SHAPE(4), 0);
  size_t bytes = ctx->bytes;
  array_reseat(v, b, SHAPE(3), SHAPE(8), 4);
  CHECK(is_sound(v) && array_is_exclusive(a) && !array_is_exclusive(b));
  CHECK_EQ_I(array_get(v, SHAPE(2)).v.i, 5);
  array_detach(v);
  CHECK(is_sound(v) && array_is_exclusive(b));
  array_reseat(v, a, SHAPE(6), SHAPE(4), 0);
  CHECK_EQ_I(ctx->bytes, bytes);
  damo_release(a);
  CHECK_EQ_I(array_get(v, SHAPE(5)).v.i, 5);
  damo_release(v);
  damo_release(b);
}

static void count_release(void *owner) { ++*(int *)owner; }

static void test_foreign(void) {
  int released = 0;
  double data[4] = {1, 2, 3, 4};
  damo_array *a = array_foreign(ctx, DAMO_FLOAT64, 2, SHAPE(2, 2), data, false, count_release, &released);
  CHECK(is_sound(a) && a->data == (char *)data && !array_is_exclusive(a));
  CHECK_EQ_I(array_assign(a, a), DAMO_ESTATE);
  CHECK_EQ_S(damo_error_message(ctx), "assign: the array is read-only");
  damo_array *v = array_view(a, 1, SHAPE(2), SHAPE(16), 0);
  CHECK(!v->writeable);
  damo_release(a);
  CHECK_EQ_I(released, 0);
  damo_release(v);
  CHECK_EQ_I(released, 1);
  CHECK(array_foreign(ctx, DAMO_FLOAT64, 1, SHAPE(-1), data, true, count_release, &released) == NULL);
  CHECK_EQ_I(released, 2);
  for (int64_t k = 0; k < 2; k++) {
    ctx->fail_after = k;
    CHECK(array_foreign(ctx, DAMO_FLOAT64, 1, SHAPE(4), data, true, count_release, &released) == NULL);
    CHECK_EQ_I(released, 3 + k);
  }
}

/* ---- Copies and casts -------------------------------------------------------------------------------------------- */

static void test_copy(void) {
  damo_array *a = counting(DAMO_INT16, 2, SHAPE(30, 40)), *t = transposed(a), *c = array_copy(t);
  CHECK(is_sound(c) && array_is_contiguous(c) && array_equal(t, c, false));
  CHECK_EQ_I(array_get(c, SHAPE(39, 29)).v.i, 30 * 40 - 1);
  damo_array *same = array_as_contiguous(c, DAMO_INT16), *other = array_as_contiguous(t, DAMO_INT16);
  CHECK(same == c && other != t && array_equal(other, c, false));
  damo_release(same);
  damo_release(other);
  damo_release(c);
  damo_release(t);
  damo_release(a);
  a = damo_array_new(ctx, DAMO_FLOAT64, 2, SHAPE(0, 3));
  c = array_copy(a);
  CHECK(is_sound(c) && array_equal(a, c, false));
  damo_release(c);
  damo_release(a);
}

/* Strided conversions are done in blocks: long and short last axes, sizes around the block's. */
static void test_cast_strided(void) {
  static const int64_t shapes[][3] = {{1, 1, 1},   {2, 3, 4},   {1, 700, 2}, {3, 2, 700},
                                      {513, 1, 3}, {2, 511, 1}, {5, 16, 32}};
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    const int64_t *n = shapes[s];
    damo_array *a = counting(DAMO_INT32, 3, n);
    const int64_t *st = array_strides(a);
    damo_array *v = array_view(a, 3, SHAPE(n[2], n[0], n[1]), SHAPE(st[2], st[0], st[1]), 0);
    damo_array *d = array_cast(v, DAMO_FLOAT64), *back = array_cast(d, DAMO_INT32);
    CHECK(is_sound(d) && array_equal(v, back, false) && array_allclose(d, v, 0, 0, false));
    CHECK_NEAR(array_get(d, SHAPE(n[2] - 1, n[0] - 1, n[1] - 1)).v.f, (double)(n[0] * n[1] * n[2] - 1), 0);
    damo_release(back);
    damo_release(d);
    damo_release(v);
    damo_release(a);
  }
}

static void test_cast_values(void) {
  damo_array *a = f64(1, SHAPE(5), F64(-1.9, 2.9, NAN, 0, 300));
  damo_array *i = array_cast(a, DAMO_INT64), *b = array_cast(a, DAMO_BOOL), *z = array_cast(a, DAMO_COMPLEX64);
  damo_array *f = array_cast(z, DAMO_FLOAT32);
  CHECK(prints(i, "[ -1   2   0   0 300]"));
  CHECK(prints(b, "[ true  true  true false  true]"));
  CHECK_NEAR(array_get(z, SHAPE(1)).v.c.re, 2.9, 1e-6);
  CHECK_NEAR(array_get(f, SHAPE(0)).v.f, -1.9, 1e-6);
  damo_release(f);
  damo_release(z);
  damo_release(a);
}

/* ---- Assignment -------------------------------------------------------------------------------------------------- */

static void test_assign(void) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT32, 2, SHAPE(2, 3)), *row = counting(DAMO_INT8, 1, SHAPE(3));
  damo_array *t = transposed(a), *column = counting(DAMO_FLOAT64, 2, SHAPE(2, 1));
  damo_array *deep = counting(DAMO_FLOAT32, 3, SHAPE(1, 1, 3)), *wrong = counting(DAMO_INT8, 1, SHAPE(2));
  CHECK_EQ_I(array_assign(a, row), DAMO_OK);
  CHECK(prints(damo_retain(a), "[[0. 1. 2.]\n [0. 1. 2.]]"));
  CHECK_EQ_I(array_assign(a, column), DAMO_OK);
  CHECK(prints(damo_retain(a), "[[0. 0. 0.]\n [1. 1. 1.]]"));
  CHECK_EQ_I(array_assign(a, deep), DAMO_OK);
  CHECK_EQ_I(array_assign(a, wrong), DAMO_ESHAPE);
  CHECK_EQ_S(damo_error_message(ctx), "assign: a value of shape (2,) does not fit into shape (2, 3)");
  CHECK(prints(damo_retain(a), "[[0. 1. 2.]\n [0. 1. 2.]]"));
  CHECK_EQ_I(array_assign(t, wrong), DAMO_OK); /* strided, converting destination */
  CHECK(prints(damo_retain(a), "[[0. 0. 0.]\n [1. 1. 1.]]"));
  CHECK_EQ_I(array_fill(t, (scalar){.dtype = DAMO_INT64, .v.i = -7}), DAMO_OK);
  CHECK_NEAR(array_item(a).v.f, -7, 0);
  a->writeable = false;
  CHECK_EQ_I(array_fill(a, (scalar){.dtype = DAMO_INT64}), DAMO_ESTATE);
  damo_release(wrong);
  damo_release(deep);
  damo_release(column);
  damo_release(t);
  damo_release(row);
  damo_release(a);
}

static void test_assign_overlap(void) {
  damo_array *a = counting(DAMO_INT64, 1, SHAPE(6));
  damo_array *head = array_view(a, 1, SHAPE(5), SHAPE(8), 0), *tail = array_view(a, 1, SHAPE(5), SHAPE(8), 8);
  damo_array *back = array_view(a, 1, SHAPE(6), SHAPE(-8), 40), *first = array_view(a, 1, SHAPE(1), SHAPE(8), 0);
  CHECK_EQ_I(array_assign(tail, head), DAMO_OK);
  CHECK(prints(damo_retain(a), "[0 0 1 2 3 4]"));
  CHECK_EQ_I(array_assign(a, back), DAMO_OK);
  CHECK(prints(damo_retain(a), "[4 3 2 1 0 0]"));
  CHECK_EQ_I(array_assign(a, a), DAMO_OK);
  CHECK_EQ_I(array_assign(a, first), DAMO_OK);
  CHECK(prints(damo_retain(a), "[4 4 4 4 4 4]"));
  damo_release(first);
  damo_release(back);
  damo_release(tail);
  damo_release(head);
  damo_release(a);
}

/* ---- Comparison and scalars -------------------------------------------------------------------------------------- */

static void test_equal(void) {
  damo_array *a = f64(1, SHAPE(3), F64(1, NAN, -0.0)), *b = f64(1, SHAPE(3), F64(1, NAN, 0));
  damo_array *c = f64(1, SHAPE(3), F64(1 + 1e-9, NAN, 0)), *d = array_cast(a, DAMO_FLOAT32);
  damo_array *e = f64(2, SHAPE(3, 1), F64(1, 2, 3)), *inf = f64(1, SHAPE(1), F64(INFINITY));
  damo_array *ninf = f64(1, SHAPE(1), F64(-INFINITY)), *one = f64(1, SHAPE(1), F64(1));
  CHECK(array_equal(a, b, true) && !array_equal(a, b, false) && !array_equal(a, c, true) && !array_equal(a, d, true));
  CHECK(!array_equal(a, e, true) && array_equal(inf, inf, false));
  CHECK(array_allclose(a, c, 1e-5, 0, true) && !array_allclose(a, c, 1e-5, 0, false));
  CHECK(!array_allclose(a, c, 1e-12, 0, true) && array_allclose(a, c, 0, 1e-8, true));
  CHECK(array_allclose(d, a, 0, 0, true) && !array_allclose(a, e, 1, 1, true));
  CHECK(array_allclose(inf, inf, 0, 0, false) && !array_allclose(inf, ninf, 1, 1, false));
  CHECK(!array_allclose(one, inf, 1, 1, false) && !array_allclose(inf, one, 1, 1, false));
  damo_array *all[] = {a, b, c, d, e, inf, ninf, one};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) damo_release(all[i]);
  damo_array *z = damo_array_from(ctx, DAMO_COMPLEX128, 1, SHAPE(2), F64(1, 2, NAN, 0));
  damo_array *y = damo_array_from(ctx, DAMO_COMPLEX128, 1, SHAPE(2), F64(1, 2.0000001, 0, NAN));
  CHECK(array_equal(z, z, true) && !array_equal(z, z, false) && !array_equal(z, y, true));
  CHECK(array_allclose(z, y, 1e-6, 0, true) && !array_allclose(z, y, 1e-9, 0, true));
  damo_release(z);
  damo_release(y);
}

static void test_scalars(void) {
  for (int dt = 0; dt < DAMO_N_DTYPES; dt++) {
    damo_array *a = damo_array_scalar(ctx, (damo_dtype)dt, 1);
    double x = 0;
    CHECK(is_sound(a) && damo_array_item(a, &x) == DAMO_OK && x == 1);
    CHECK_EQ_I(scalar_to_int64(array_item(a)), 1);
    array_set(a, NULL, (scalar){.dtype = DAMO_FLOAT32, .v.f = 0});
    CHECK_EQ_I(scalar_to_int64(array_get(a, NULL)), 0);
    damo_release(a);
  }
  scalar big = {.dtype = DAMO_UINT64, .v.u = UINT64_MAX};
  CHECK(scalar_cast(big, DAMO_INT64).v.i == -1 && scalar_to_double(big) == 18446744073709551616.0);
  CHECK_EQ_I(scalar_cast((scalar){.dtype = DAMO_INT32, .v.i = 300}, DAMO_UINT8).v.u, 44);
  CHECK_EQ_I(scalar_cast((scalar){.dtype = DAMO_FLOAT64, .v.f = 1e30}, DAMO_INT32).v.i, INT32_MAX);
  CHECK_EQ_I(scalar_cast((scalar){.dtype = DAMO_FLOAT64, .v.f = 0.5}, DAMO_BOOL).v.i, 1);
  damo_array *a = counting(DAMO_INT8, 1, SHAPE(2));
  double x = 9;
  CHECK_EQ_I(damo_array_item(a, &x), DAMO_ESHAPE);
  CHECK_EQ_S(damo_error_message(ctx), "item: the array has shape (2,), expected exactly one element");
  CHECK_NEAR(x, 9, 0);
  damo_release(a);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static damo_array *single(double x) { return damo_array_scalar(ctx, DAMO_FLOAT32, x); }

static void test_print_floats(void) {
  CHECK(prints(f64(1, SHAPE(3), F64(1, 2.5, 3)), "[1.  2.5 3. ]"));
  CHECK(prints(f64(2, SHAPE(2, 2), F64(1, 2, 3, 4)), "[[1. 2.]\n [3. 4.]]"));
  CHECK(prints(f64(1, SHAPE(3), F64(-1, 10.25, 1 / 3.0)), "[-1.         10.25        0.33333333]"));
  CHECK(prints(f64(1, SHAPE(3), F64(NAN, INFINITY, -1)), "[nan inf -1.]"));
  CHECK(prints(f64(1, SHAPE(2), F64(NAN, -INFINITY)), "[ nan -inf]"));
  CHECK(prints(f64(1, SHAPE(2), F64(1e8, 1)), "[1.e+08 1.e+00]"));
  CHECK(prints(f64(1, SHAPE(2), F64(0.001, 1.5)), "[1.0e-03 1.5e+00]"));
  CHECK(prints(f64(1, SHAPE(2), F64(0, 1e-5)), "[0.e+00 1.e-05]"));
  CHECK(prints(f64(1, SHAPE(2), F64(1e100, -1e-300)), "[ 1.e+100 -1.e-300]"));
  CHECK(prints(f64(1, SHAPE(1), F64(0.1 + 0.2)), "[0.3]"));
  CHECK(prints(f64(0, NULL, F64(0.1 + 0.2)), "0.30000000000000004"));
  CHECK(prints(f64(0, NULL, F64(2)), "2.0"));
  CHECK(prints(f64(0, NULL, F64(-0.0)), "-0.0"));
  CHECK(prints(f64(0, NULL, F64(1e16)), "1e+16"));
  CHECK(prints(f64(0, NULL, F64(1.5e-5)), "1.5e-05"));
  CHECK(prints(single(0.1), "0.1"));
  damo_array *a = f64(1, SHAPE(2), F64(0.1, 16777216));
  CHECK(prints(array_cast(a, DAMO_FLOAT32), "[1.0000000e-01 1.6777216e+07]"));
  damo_release(a);
}

static void test_print_others(void) {
  CHECK(prints(damo_array_from(ctx, DAMO_INT8, 1, SHAPE(3), "\x01\xf6\x64"), "[  1 -10 100]"));
  CHECK(prints(damo_array_from(ctx, DAMO_BOOL, 1, SHAPE(2), "\x01\x00"), "[ true false]"));
  CHECK(prints(damo_array_from(ctx, DAMO_BOOL, 0, NULL, "\x01"), "true"));
  CHECK(prints(damo_array_from(ctx, DAMO_UINT64, 0, NULL, &(uint64_t){UINT64_MAX}), "18446744073709551615"));
  CHECK(prints(damo_array_from(ctx, DAMO_COMPLEX128, 1, SHAPE(2), F64(1, -2, 0.5, 3)), "[1. -2.j 0.5+3.j]"));
  CHECK(prints(damo_array_from(ctx, DAMO_COMPLEX128, 0, NULL, F64(1, -2)), "(1-2j)"));
  CHECK(prints(damo_array_from(ctx, DAMO_COMPLEX128, 0, NULL, F64(0, 1.5)), "1.5j"));
  CHECK(prints(damo_array_new(ctx, DAMO_INT8, 2, SHAPE(0, 3)), "[]"));
  CHECK(prints(counting(DAMO_INT32, 3, SHAPE(2, 1, 2)), "[[[0 1]]\n\n [[2 3]]]"));
  CHECK(prints(counting(DAMO_INT32, 1, SHAPE(1001)), "[   0    1    2 ...  998  999 1000]"));
  CHECK(prints(
      counting(DAMO_FLOAT64, 2, SHAPE(500, 3)),
      "[[0.000e+00 1.000e+00 2.000e+00]\n [3.000e+00 4.000e+00 5.000e+00]\n [6.000e+00 7.000e+00 8.000e+00]\n ...\n"
      " [1.491e+03 1.492e+03 1.493e+03]\n [1.494e+03 1.495e+03 1.496e+03]\n [1.497e+03 1.498e+03 1.499e+03]]"));
  CHECK(prints(counting(DAMO_INT64, 1, SHAPE(30)),
               "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]"));
}

/* ---- Out of memory ----------------------------------------------------------------------------------------------- */

/* Every operation that allocates; false if one failed. */
static bool exercise(void) {
  bool ok = false;
  strbuf text;
  strbuf_init(&text, ctx);
  damo_array *copy = NULL, *cast = NULL, *view = NULL, *scalar0 = NULL;
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, SHAPE(7, 9));
  if (!a) goto done;
  if (!(view = transposed(a))) goto done;
  if (!(copy = array_copy(view))) goto done;
  if (!(cast = array_cast(view, DAMO_INT8))) goto done;
  if (!(scalar0 = damo_array_scalar(ctx, DAMO_FLOAT32, 3))) goto done;
  if (array_assign(a, scalar0) != DAMO_OK) goto done;
  array_reseat(view, a, SHAPE(9, 7), SHAPE(-8, 72), 64);
  damo_release(scalar0);
  if (!(scalar0 = array_view(a, 2, SHAPE(7, 9), SHAPE(72, -8), 64))) goto done;
  if (array_assign(a, scalar0) != DAMO_OK) goto done; /* overlapping, so through a copy */
  array_format(&text, a);
  ok = !text.failed;
done:
  strbuf_clear(&text);
  damo_release(scalar0);
  damo_release(cast);
  damo_release(copy);
  damo_release(view);
  damo_release(a);
  return ok;
}

static void test_out_of_memory(void) {
  size_t bytes = ctx->bytes;
  int64_t objects = ctx->n_objects, n = 0;
  for (; n < 1000; n++) {
    ctx_clear_error(ctx);
    ctx->fail_after = n;
    bool ok = exercise();
    bool was_reached = ctx->fail_after < 0;
    ctx->fail_after = -1;
    if (!CHECK(ctx->bytes == bytes && ctx->n_objects == objects)) break;
    if (!was_reached) {
      CHECK(ok);
      break;
    }
    CHECK(!ok && damo_error_status(ctx) == DAMO_EMEMORY);
  }
  CHECK(n >= 12 && n < 1000);
}

int main(void) {
  ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  test_new();
  test_bad_shapes();
  test_shape_text();
  test_broadcast_shapes();
  test_views();
  test_reseat();
  test_foreign();
  test_copy();
  test_cast_strided();
  test_cast_values();
  test_assign();
  test_assign_overlap();
  test_equal();
  test_scalars();
  test_print_floats();
  test_print_others();
  test_out_of_memory();
  char census[256];
  CHECK_EQ_S(ctx_census(ctx, census, sizeof census), "");
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
