/* kernel_data_test: casts of extreme values, strided copies, reductions against plain loops and against their
 * contiguous copies, Philox's known answers and its distributions. */
#include <stdlib.h>

#include "kernel/kernel.h"
#include "isa_case.h"
#include "kernel/random.h"
#include "kernel/reduce/reduce.h"
#include "test.h"

static const kernel_isa *isa; /* the instruction set under test */

/* A small generator of our own, since Philox is under test. */
static uint64_t random_state = 12345;
static uint64_t random_word(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}
static double random_in(double lo, double hi) { return lo + (hi - lo) * (double)(random_word() >> 11) * 0x1p-53; }

/* ---- Casts and copies -------------------------------------------------------------------------------------------- */

static int64_t cast_to_int(double x, damo_dtype to) {
  char out[8];
  int64_t wide;
  kernel_cast(DAMO_FLOAT64, to)(&x, out, 1);
  kernel_cast(to, DAMO_INT64)(out, &wide, 1);
  return wide;
}

static void test_casts(void) {
  CHECK_EQ_I(cast_to_int(127.9, DAMO_INT8), 127);
  CHECK_EQ_I(cast_to_int(128, DAMO_INT8), 127);
  CHECK_EQ_I(cast_to_int(-128.9, DAMO_INT8), -128);
  CHECK_EQ_I(cast_to_int(-1e300, DAMO_INT16), -32768);
  CHECK_EQ_I(cast_to_int(2147483647.5, DAMO_INT32), 2147483647);
  CHECK_EQ_I(cast_to_int(0x1p63, DAMO_INT64), INT64_MAX);
  CHECK_EQ_I(cast_to_int(-0x1p63, DAMO_INT64), INT64_MIN);
  CHECK_EQ_I(cast_to_int(INFINITY, DAMO_INT64), INT64_MAX);
  CHECK_EQ_I(cast_to_int(-INFINITY, DAMO_INT64), INT64_MIN);
  CHECK_EQ_I(cast_to_int(-0.9, DAMO_UINT8), 0);
  CHECK_EQ_I(cast_to_int(-5, DAMO_UINT8), 0);
  CHECK_EQ_I(cast_to_int(256, DAMO_UINT8), 255);
  CHECK_EQ_I(cast_to_int(4294967295.0, DAMO_UINT32), 4294967295);
  CHECK_EQ_I(cast_to_int(0x1p64, DAMO_UINT64), -1);
  CHECK_EQ_I(cast_to_int(0x1.8p63, DAMO_UINT64), (int64_t)((uint64_t)3 << 62));
  for (int d = DAMO_INT8; d <= DAMO_UINT64; d++) CHECK_EQ_I(cast_to_int(NAN, (damo_dtype)d), 0);
  CHECK_EQ_I(cast_to_int(NAN, DAMO_BOOL), 1);
  CHECK_EQ_I(cast_to_int(-0.0, DAMO_BOOL), 0);
  const int64_t wide = 0x1234567890ABCDEF;
  uint8_t low;
  kernel_cast(DAMO_INT64, DAMO_UINT8)(&wide, &low, 1);
  CHECK_EQ_I(low, 0xEF);
  const damo_c128 z = {0, 2};
  kernel_cast(DAMO_COMPLEX128, DAMO_BOOL)(&z, &low, 1);
  CHECK_EQ_I(low, 1);
  /* every pair of dtypes preserves small integers */
  for (int from = 0; from < DAMO_N_DTYPES; from++)
    for (int to = 0; to < DAMO_N_DTYPES; to++) {
      const double x[] = {0, 1, 1, 0, 1};
      double back[5];
      char a[80], b[80];
      kernel_cast(DAMO_FLOAT64, (damo_dtype)from)(x, a, 5);
      kernel_cast((damo_dtype)from, (damo_dtype)to)(a, b, 5);
      kernel_cast((damo_dtype)to, DAMO_FLOAT64)(b, back, 5);
      CHECK(memcmp(x, back, sizeof x) == 0);
    }
}

/* A random view: a shape, and strides of a permuted, stepped, possibly reversed view into `store`. */
typedef struct view {
  int ndim;
  int64_t shape[5], strides[5], size;
  const char *at;
} view;

static view random_view(const char *store, size_t bytes, size_t element, int max_n, int64_t step_max) {
  view v = {.ndim = (int)(random_word() % 5), .size = 1};
  int order[5] = {0, 1, 2, 3, 4};
  for (int k = v.ndim - 1; k > 0; k--) {
    const int j = (int)(random_word() % (uint64_t)(k + 1)), swap = order[k];
    order[k] = order[j], order[j] = swap;
  }
  if (random_word() % 3 == 0)
    for (int k = 0; k < v.ndim; k++) order[k] = k;
  int64_t stride = (int64_t)element, offset = 0;
  for (int k = v.ndim - 1; k >= 0; k--) {
    const int axis = order[k];
    const int64_t step = 1 + (int64_t)(random_word() % (uint64_t)step_max);
    v.shape[axis] = 1 + (int64_t)(random_word() % (uint64_t)max_n);
    v.strides[axis] = stride * step;
    stride *= v.shape[axis] * step;
    if (random_word() % 6 == 0) {
      offset += (v.shape[axis] - 1) * v.strides[axis];
      v.strides[axis] = -v.strides[axis];
    } else if (random_word() % 12 == 0) {
      v.strides[axis] = 0;
    }
    v.size *= v.shape[axis];
  }
  v.at = store + offset;
  if ((size_t)stride > bytes) return random_view(store, bytes, element, max_n, step_max);
  return v;
}

/* The byte offset of element number i in C order. */
static int64_t offset_of(const view *v, int64_t i) {
  int64_t offset = 0;
  for (int k = v->ndim - 1; k >= 0; k--) {
    offset += i % v->shape[k] * v->strides[k];
    i /= v->shape[k];
  }
  return offset;
}

#define STORE_BYTES (1 << 22)
static char *store, *dense;

static void test_copies(void) {
  for (int round = 0; round < 400; round++) {
    const size_t size = (size_t)1 << round % 5;
    const view v = random_view(store, STORE_BYTES / 2, size, round % 7 == 0 ? 70 : 9, 1 + round % 3);
    kernel_copy_nd(v.at, v.strides, dense, NULL, v.ndim, v.shape, size);
    bool same = true;
    for (int64_t i = 0; i < v.size; i++)
      same = same && memcmp(dense + i * (int64_t)size, v.at + offset_of(&v, i), size) == 0;
    CHECK(same);
    /* back into the strided view, if no element is addressed twice (zero strides) */
    bool injective = true;
    for (int k = 0; k < v.ndim; k++) injective = injective && (v.strides[k] != 0 || v.shape[k] == 1);
    if (!injective) continue;
    char *other = calloc(1, STORE_BYTES);
    const view w = {.ndim = v.ndim, .size = v.size, .at = other + (v.at - store)};
    view u = w;
    memcpy(u.shape, v.shape, sizeof u.shape);
    memcpy(u.strides, v.strides, sizeof u.strides);
    int64_t contiguous[5], stride = (int64_t)size;
    for (int k = v.ndim - 1; k >= 0; k--) contiguous[k] = stride, stride *= v.shape[k];
    kernel_copy_nd(dense, contiguous, other + (v.at - store), v.strides, v.ndim, v.shape, size);
    for (int64_t i = 0; i < v.size; i++)
      same = same && memcmp(dense + i * (int64_t)size, u.at + offset_of(&u, i), size) == 0;
    CHECK(same);
    free(other);
  }
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

static void reduce(reduce_kind kind, damo_dtype in, const view *v, uint32_t axes, char *out) {
  void *work = aligned_alloc(64, (reduce_workspace(kind, in, v->ndim, v->shape, axes) + 63) / 64 * 64);
  kernel_reduce(isa, kind, in, v->at, v->ndim, v->shape, v->strides, axes, out, work);
  free(work);
}

/* One result by a plain loop in long double; -1 for the position in an empty range. */
static long double naive(reduce_kind kind, const double *x, int64_t n) {
  long double r = kind == REDUCE_PROD || kind == REDUCE_ALL ? 1 : 0;
  int64_t best = 0;
  if (kind == REDUCE_LOGSUMEXP) {
    for (int64_t i = 0; i < n; i++) r += expl(x[i]);
    return logl(r);
  }
  const bool low = kind == REDUCE_MIN || kind == REDUCE_ARGMIN;
  for (int64_t i = 0; i < n; i++) {
    if (kind == REDUCE_SUM) r += x[i];
    if (kind == REDUCE_PROD) r *= x[i];
    if (kind == REDUCE_ANY) r = r != 0 || x[i] != 0;
    if (kind == REDUCE_ALL) r = r != 0 && x[i] != 0;
    if (!isnan(x[best]) && (isnan(x[i]) || (low ? x[i] < x[best] : x[i] > x[best]))) best = i;
  }
  if (kind == REDUCE_MAX || kind == REDUCE_MIN) return x[best];
  return kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN ? best + 1 : r;
}

/* The elements reduced to result number `which`, in C order of the reduced axes, as doubles (real parts). */
static int64_t elements_of(const view *v, uint32_t axes, int64_t which, damo_dtype in, double *x) {
  int64_t base = 0, per = 1, n = 0;
  view reduced = {.ndim = 0};
  for (int k = v->ndim - 1; k >= 0; k--) {
    if (axes >> k & 1) continue;
    base += which % v->shape[k] * v->strides[k];
    which /= v->shape[k];
  }
  for (int k = 0; k < v->ndim; k++)
    if (axes >> k & 1) {
      reduced.shape[reduced.ndim] = v->shape[k];
      reduced.strides[reduced.ndim++] = v->strides[k];
      per *= v->shape[k];
    }
  for (; n < per; n++) kernel_cast(in, DAMO_FLOAT64)(v->at + base + offset_of(&reduced, n), x + n, 1);
  return n;
}

static void check_reduction(reduce_kind kind, damo_dtype in, const view *v, uint32_t axes) {
  static double x[STORE_BYTES / 8];
  const damo_dtype out_dtype = reduce_out_dtype(kind, in);
  int64_t n_out = 1, wrong = 0;
  for (int k = 0; k < v->ndim; k++)
    if (!(axes >> k & 1)) n_out *= v->shape[k];
  char *out = calloc((size_t)n_out, 16), *again = calloc((size_t)n_out, 16);
  reduce(kind, in, v, axes, out);
  for (int64_t i = 0; i < n_out; i++) {
    double got;
    kernel_cast(out_dtype, DAMO_FLOAT64)(out + i * (int64_t)dtype_size(out_dtype), &got, 1);
    const int64_t n = elements_of(v, axes, i, in, x);
    const double want = (double)naive(kind, x, n);
    const bool coarse = out_dtype == DAMO_FLOAT32 || out_dtype == DAMO_COMPLEX64;
    double tolerance = dtype_is_discrete(out_dtype) ? 0 : (coarse ? 1e-5 : 1e-13) * (fabs(want) + sqrt((double)n));
    if (kind == REDUCE_MAX || kind == REDUCE_MIN) tolerance = 0;
    wrong += !(got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= tolerance);
  }
  /* its contiguous copy gives the same bits */
  view c = *v;
  int64_t stride = (int64_t)dtype_size(in);
  for (int k = v->ndim - 1; k >= 0; k--) c.strides[k] = stride, stride *= v->shape[k];
  kernel_copy_nd(v->at, v->strides, dense, NULL, v->ndim, v->shape, dtype_size(in));
  c.at = dense;
  reduce(kind, in, &c, axes, again);
  const bool same = memcmp(out, again, (size_t)n_out * dtype_size(out_dtype)) == 0;
  if (!CHECK(wrong == 0 && same))
    fprintf(stderr, "    kind %d of %s, %d axes, mask %u: %lld wrong%s\n", kind, dtype_name(in), v->ndim, axes,
            (long long)wrong, same ? "" : ", and other bits than the copy's");
  free(out);
  free(again);
}

static void fill_store(damo_dtype in, reduce_kind kind, bool nans) {
  const size_t size = dtype_size(in);
  for (size_t i = 0; i < STORE_BYTES / size; i++) {
    double x = dtype_is_discrete(in) ? floor(random_in(dtype_is_signed(in) ? -9 : 0, 10)) : random_in(-2, 2);
    if (kind == REDUCE_PROD) x = dtype_is_discrete(in) ? 1 + (x == 3) * (i % 97 == 0) : 1 + 0.01 * x;
    if (kind == REDUCE_ANY) x = random_word() % 50 == 0;
    if (kind == REDUCE_ALL) x = random_word() % 50 != 0;
    if (nans && random_word() % 40 == 0) x = NAN;
    kernel_cast(DAMO_FLOAT64, in)(&x, store + i * size, 1);
  }
}

static void test_reductions(int rounds) {
  for (int kind = REDUCE_SUM; kind <= REDUCE_LOGSUMEXP; kind++)
    for (int in = 0; in < DAMO_N_DTYPES; in++) {
      if (!reduce_supported((reduce_kind)kind, (damo_dtype)in)) continue;
      const bool order = kind >= REDUCE_MAX && kind != REDUCE_ANY && kind != REDUCE_ALL;
      fill_store((damo_dtype)in, (reduce_kind)kind, order && dtype_is_float((damo_dtype)in));
      for (int round = 0; round < rounds; round++) {
        const bool big = round % 5 == 4;
        const view v = random_view(store, STORE_BYTES, dtype_size((damo_dtype)in), big ? 40 : 7, 1 + round % 2);
        if (kind == REDUCE_PROD && dtype_is_discrete((damo_dtype)in) && v.size > 500) continue; /* wraps around */
        const uint32_t axes = (uint32_t)(random_word() % ((uint64_t)1 << v.ndim));
        if (v.size < 100000) check_reduction((reduce_kind)kind, (damo_dtype)in, &v, axes);
      }
      /* a long axis: whole blocks and a rest, as the inner and the outer axis */
      const view wide = {
          .ndim = 2,
          .shape = {3, 5 * 512 + 77},
          .strides = {(5 * 512 + 77) * (int64_t)dtype_size((damo_dtype)in), (int64_t)dtype_size((damo_dtype)in)},
          .at = store};
      view tall = wide;
      tall.shape[0] = wide.shape[1], tall.shape[1] = 19;
      tall.strides[0] = 19 * tall.strides[1];
      if (kind == REDUCE_PROD && dtype_is_discrete((damo_dtype)in)) continue;
      for (uint32_t axes = 0; axes < 4; axes++) {
        check_reduction((reduce_kind)kind, (damo_dtype)in, &wide, axes);
        check_reduction((reduce_kind)kind, (damo_dtype)in, &tall, axes);
      }
    }
}

static void test_reduction_edges(void) {
  const int64_t empty_shape[] = {2, 0}, strides[] = {0, 8}, shape3[] = {3}, stride8[] = {8};
  char work[1 << 17], many[16] = {0};
  double two[2], x[] = {-INFINITY, -INFINITY, -INFINITY}, out;
  kernel_reduce(isa, REDUCE_SUM, DAMO_FLOAT64, many, 2, empty_shape, strides, 2, (char *)two, work);
  CHECK(two[0] == 0 && two[1] == 0);
  kernel_reduce(isa, REDUCE_PROD, DAMO_FLOAT64, many, 2, empty_shape, strides, 2, (char *)two, work);
  CHECK(two[0] == 1 && two[1] == 1);
  kernel_reduce(isa, REDUCE_ALL, DAMO_FLOAT64, many, 2, empty_shape, strides, 2, many, work);
  CHECK(many[0] == 1 && many[1] == 1);
  kernel_reduce(isa, REDUCE_LOGSUMEXP, DAMO_FLOAT64, (char *)x, 1, shape3, stride8, 1, (char *)&out, work);
  CHECK(out == -INFINITY);
  x[1] = INFINITY;
  kernel_reduce(isa, REDUCE_LOGSUMEXP, DAMO_FLOAT64, (char *)x, 1, shape3, stride8, 1, (char *)&out, work);
  CHECK(out == INFINITY);
  double far[] = {1000, 1000, -1000};
  kernel_reduce(isa, REDUCE_LOGSUMEXP, DAMO_FLOAT64, (char *)far, 1, shape3, stride8, 1, (char *)&out, work);
  CHECK_NEAR(out, 1000 + log(2), 1e-12);
  CHECK(!reduce_supported(REDUCE_LOGSUMEXP, DAMO_COMPLEX64) && reduce_supported(REDUCE_ANY, DAMO_COMPLEX64));
  CHECK_EQ_I(reduce_out_dtype(REDUCE_SUM, DAMO_BOOL), DAMO_INT64);
  CHECK_EQ_I(reduce_out_dtype(REDUCE_SUM, DAMO_UINT8), DAMO_UINT64);
  /* many 0.1s: a naive float32 sum is off by hundreds */
  const int64_t n = 500000;
  float *tenths = (float *)(void *)store, sum;
  for (int64_t i = 0; i < n; i++) tenths[i] = 0.1f;
  kernel_reduce(isa, REDUCE_SUM, DAMO_FLOAT32, store, 1, &n, (int64_t[]){4}, 1, (char *)&sum, work);
  CHECK_NEAR((double)sum, 50000, 0.03);
}

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

static void check_philox(philox_state s, const uint32_t want[4]) {
  uint32_t got[4];
  philox_block(&s, 0, got);
  CHECK(memcmp(got, want, sizeof got) == 0);
}

/* The known answers of Random123's test vectors. */
static void test_philox_answers(void) {
  check_philox((philox_state){0, 0, 0}, (uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check_philox((philox_state){~0ull, ~0ull, ~0ull}, (uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_philox((philox_state){0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e},
               (uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  philox_state s = {1, ~0ull, 7}, t = s;
  uint32_t a[4], b[4];
  philox_block(&s, 3, a);
  philox_advance(&t, 3);
  philox_block(&t, 0, b);
  CHECK(memcmp(a, b, sizeof a) == 0 && t.counter_hi == 8 && t.counter_lo == 2);
  CHECK(philox_seed(1).key != philox_seed(2).key && philox_seed(1).counter_lo == 0);
  CHECK_EQ_I(philox_blocks(0), 0);
  CHECK_EQ_I(philox_blocks(5), 3);
}

static void test_distributions(void) {
  enum { N = 100001 };
  static double u[N], z[N], part[N];
  const philox_state s = philox_seed(42);
  philox_uniform_f64(isa, &s, u, N);
  philox_normal_f64(isa, &s, z, N);
  double sum = 0, square = 0, fourth = 0, mean = 0;
  bool inside = true;
  for (int i = 0; i < N; i++) {
    mean += u[i] / N;
    inside = inside && u[i] >= 0 && u[i] < 1;
    sum += z[i] / N, square += z[i] * z[i] / N, fourth += z[i] * z[i] * z[i] * z[i] / N;
  }
  CHECK(inside);
  CHECK_NEAR(mean, 0.5, 0.004); /* four standard deviations each */
  CHECK_NEAR(sum, 0, 0.013);
  CHECK_NEAR(square, 1, 0.018);
  CHECK_NEAR(fourth, 3, 0.13);
  /* drawing in two parts gives the same numbers */
  philox_state t = s;
  philox_normal_f64(isa, &t, part, 300);
  philox_advance(&t, philox_blocks(300));
  philox_normal_f64(isa, &t, part + 300, N - 300);
  CHECK(memcmp(part, z, sizeof z) == 0);
}

static void test_permutation(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  int64_t p[1000], counts[6] = {0};
  bool seen[1000] = {false};
  philox_state s = philox_seed(7);
  philox_permutation(ctx, &s, p, 1000);
  for (int i = 0; i < 1000; i++) seen[p[i]] = true;
  bool all = true;
  for (int i = 0; i < 1000; i++) all = all && seen[i];
  CHECK(all);
  for (int i = 0; i < 60000; i++) { /* each of six permutations 10000 times, within five standard deviations */
    philox_permutation(ctx, &s, p, 3);
    philox_advance(&s, philox_blocks(3));
    counts[p[0] * 2 + (p[1] > p[2])]++;
  }
  for (int i = 0; i < 6; i++) CHECK_NEAR((double)counts[i], 10000, 460);
  damo_ctx_release(ctx);
}

/* The tests that depend on the instruction set; the first set does all repetitions. */
static void run(int times) {
  test_reductions(times);
  test_reduction_edges();
  test_distributions();
}

int main(void) {
  store = malloc(STORE_BYTES);
  dense = malloc(STORE_BYTES);
  for (int i = 0; i < STORE_BYTES; i++) store[i] = (char)random_word();
  test_casts();
  test_copies();
  for (int k = 0; (isa = next_isa(&k)) != NULL;) run(k == 1 ? 40 : 10);
  test_philox_answers();
  test_permutation();
  free(store);
  free(dense);
  TEST_MAIN_END;
}
