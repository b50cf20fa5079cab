/* arena_test: places in an arena (layout.c) against a check of all pairs; what a frame's arena allocates, and values
 * that something else holds. */
#include "by_name.h"
#include "compile_case.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"

#define MOST_SPANS 600
#define LEN 100 /* entries of a vector: 800 bytes, which is enough for the arena */

static uint32_t seed = 7;
static int32_t random_below(int32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (int32_t)((seed >> 8) % (uint32_t)n);
}

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

static bool overlap(const vm_span *a, const vm_span *b) {
  return a->birth <= b->death && b->birth <= a->death && a->offset < b->offset + b->bytes &&
         b->offset < a->offset + a->bytes;
}

/* Whether no two overlap, all are aligned and below size. */
static bool is_layout(const vm_span *s, int64_t n, size_t size) {
  for (int64_t i = 0; i < n; i++) {
    if (s[i].offset % 64 != 0 || s[i].offset + s[i].bytes > size) return false;
    for (int64_t j = 0; j < i; j++) {
      if (overlap(&s[i], &s[j])) return false;
    }
  }
  return true;
}

static double layout_ratio(vm_span *s, int64_t n) {
  void *work = malloc(layout_work(n));
  const size_t size = layout_place(s, n, work), least = layout_peak(s, n, work);
  CHECK(is_layout(s, n, size) && size >= least);
  free(work);
  return least > 0 ? (double)size / (double)least : 1;
}

static void test_layout_known(void) {
  vm_span none[1] = {{0}};
  CHECK_NEAR(layout_ratio(none, 0), 1, 0);
  /* a chain: two at a time */
  vm_span chain[5];
  for (int i = 0; i < 5; i++) chain[i] = (vm_span){i, i + 1, 1000, 0};
  void *work = malloc(layout_work(5));
  CHECK_EQ_I(layout_place(chain, 5, work), 2048);
  CHECK(chain[0].offset == chain[2].offset && chain[1].offset == chain[3].offset);
  /* best fit leaves a gap of 64 below the last one, which by size comes first */
  vm_span gap[3] = {{0, 1, 64, 0}, {1, 3, 64, 0}, {2, 3, 128, 0}};
  CHECK_EQ_I(layout_place(gap, 3, work), 192);
  CHECK_EQ_I(layout_peak(gap, 3, work), 192);
  free(work);
  CHECK(is_layout(gap, 3, 192));
}

static void test_layout_random(void) {
  static vm_span s[MOST_SPANS];
  double sum = 0;
  for (int round = 0; round < 300; round++) {
    const int64_t n = 1 + random_below(round % 20 == 0 ? MOST_SPANS : 40);
    int32_t birth = 0;
    for (int64_t i = 0; i < n; i++) {
      birth += random_below(3);
      const int32_t life = random_below(8) == 0 ? random_below(200) : random_below(6);
      s[i] = (vm_span){birth, birth + life, (size_t)(1 + random_below(10)) * (size_t)(1 + random_below(900)), 0};
    }
    const double ratio = layout_ratio(s, n);
    CHECK(ratio < 1.3);
    sum += ratio;
  }
  CHECK(sum / 300 < 1.05);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static damo_array *vector_of(int64_t n, double from) {
  damo_array *a = array_empty(ctx, DAMO_FLOAT64, 1, &n);
  for (int64_t i = 0; i < n; i++) ((double *)a->data)[i] = from + (double)i;
  return a;
}

static damo_status copy_run(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  damo_array *y = thunk_out(t, f, 0, DAMO_FLOAT64, 1, array_shape(x));
  if (y == NULL) return damo_error_status(f->ctx);
  for (int64_t i = 0; i < array_shape(x)[0]; i++)
    ((double *)y->data)[i] = *(const double *)(x->data + i * array_strides(x)[0]) + 1;
  return DAMO_OK;
}
static const op_def copy_def = {.name = "Copy", .n_in = 1, .infer_type = same_type, .perform = copy_run};

static damo_array *held;
/* As copy_run; keeps the value that it reads, which it must not. */
static damo_status holder_run(const thunk *t, frame *f) {
  damo_release(held);
  held = damo_retain(thunk_in(t, f, 0));
  return copy_run(t, f);
}
static const op_def holder_def = {.name = "Holder", .n_in = 1, .infer_type = same_type, .perform = holder_run};

/* n times Copy of x; the k-th (from 0) is a Holder. */
static damo_function *copies(build *b, int n, int k) {
  damo_var *x = vec(b, "x"), *y = x;
  for (int i = 0; i < n; i++) y = apply1(b, i == k ? &holder_def : &copy_def, y);
  const compile_options o = {.optimizer = "none"};
  return make(&x, 1, &y, 1, &o);
}

static bool adds(damo_function *f, damo_array *a, damo_array *into, double n) {
  damo_array *out = NULL;
  if (call_into(f, &a, 1, &into, &out) != DAMO_OK) return false;
  bool same = true;
  for (int64_t i = 0; i < array_shape(a)[0]; i++) same = same && ((double *)out->data)[i] == ((double *)a->data)[i] + n;
  damo_release(out);
  return same;
}

/* The same where no allocation succeeds. */
static bool adds_without_memory(damo_function *f, damo_array *a, damo_array *into, double n) {
  ctx->fail_after = 0;
  const bool ok = adds(f, a, into, n);
  ctx->fail_after = -1;
  ctx_clear_error(ctx);
  return ok;
}

static void test_steady(build *b) {
  damo_function *f = copies(b, 10, -1);
  CHECK_EQ_I(f->program->vm.n_homes, 9);
  damo_array *a = vector_of(LEN, 3), *c = vector_of(3 * LEN, 5), *a_out = vector_of(LEN, 0),
             *c_out = vector_of(3 * LEN, 0);
  for (int k = 0; k < 2; k++) CHECK(adds(f, a, a_out, 10));
  CHECK_EQ_I(vm_arena_held(&f->frame), 2 * 832); /* 800 bytes, rounded up */
  CHECK(adds_without_memory(f, a, a_out, 10));
  for (int k = 0; k < 2; k++) CHECK(adds(f, c, c_out, 10));
  for (int k = 0; k < 3; k++) { /* both sets of shapes are known */
    CHECK(adds_without_memory(f, a, a_out, 10));
    CHECK(adds_without_memory(f, c, c_out, 10));
  }
  CHECK(adds(f, a, a_out, 10));
  const size_t before = ctx->bytes;
  CHECK_EQ_I(function_trim(f), DAMO_OK);
  CHECK(ctx->bytes + 2 * 2400 <= before);
  CHECK(adds(f, a, a_out, 10) && adds_without_memory(f, a, a_out, 10));
  CHECK_EQ_I(vm_arena_held(&f->frame), 2 * 832);
  RELEASE(a, c, a_out, c_out, f);
}

/* With an arena that is large enough the first call with new shapes makes its layout and no array, whatever the number
 * of arrays. */
static void test_new_shapes(build *b) {
  damo_function *f = copies(b, 40, -1);
  damo_array *a = vector_of(10 * LEN, 3), *a_out = vector_of(10 * LEN, 0);
  for (int k = 0; k < 2; k++) CHECK(adds(f, a, a_out, 40));
  for (int64_t n = 4 * LEN; n < 4 * LEN + 5; n++) {
    damo_array *c = vector_of(n, 5), *c_out = vector_of(n, 0);
    ctx->fail_after = 1000;
    CHECK(adds(f, c, c_out, 40));
    const int64_t made = 1000 - ctx->fail_after;
    ctx->fail_after = -1;
    CHECK(made > 0 && made <= 2); /* the layout, and once the list of gaps */
    CHECK_EQ_I(vm_arena_held(&f->frame), 2 * 8000);
    CHECK(adds(f, c, c_out, 40) && adds_without_memory(f, c, c_out, 40) && adds(f, a, a_out, 40));
    RELEASE(c, c_out);
  }
  RELEASE(a, a_out, f);
}

/* Each allocation of the first calls fails in turn: such a call fails, or is right all the same. */
static void test_failures(build *b) {
  damo_function *f = copies(b, 6, -1);
  for (int64_t n = 0; n < 60; n++) {
    damo_array *a = vector_of(LEN + n % 3 * 50, 1), *out = vector_of(LEN + n % 3 * 50, 0);
    if (n % 7 == 0) CHECK_EQ_I(function_trim(f), DAMO_OK);
    ctx->fail_after = n % 12;
    damo_array *got = NULL;
    const damo_status s = call_into(f, &a, 1, &out, &got);
    ctx->fail_after = -1;
    CHECK(s == DAMO_OK || s == DAMO_EMEMORY);
    CHECK(s != DAMO_OK || ((double *)got->data)[LEN - 1] == LEN + 6);
    damo_release(got);
    ctx_clear_error(ctx);
    CHECK(adds(f, a, out, 6));
    RELEASE(a, out);
  }
  damo_release(f);
}

static void test_held(build *b) {
  for (int k = 1; k < 5; k++) {
    damo_function *f = copies(b, 6, k);
    damo_array *a = vector_of(LEN, 3), *out = vector_of(LEN, 0), *kept = NULL;
    for (int call = 0; call < 6; call++) {
      CHECK(adds(f, a, out, 6));
      damo_release(kept);
      kept = damo_retain(held);
      for (int again = 0; again < 2; again++) CHECK(adds(f, a, out, 6));
      if (call > 0) CHECK_NEAR(((double *)kept->data)[0], 3 + k, 0); /* of its own, since the first was seen */
    }
    damo_release(f);
    CHECK_NEAR(((double *)held->data)[0], 3 + k, 0);
    RELEASE(a, out, kept, held);
    held = NULL;
  }
}

/* A view, a value in place, a branch: what they show of a home lives as long as they are read. */
static void test_groups(build *b) {
  damo_var *x = vec(b, "x"), *y = apply1(b, &copy_def, x), *view = apply1(b, &reverse_def, y), *z = view;
  for (int i = 0; i < 4; i++) z = apply1(b, &copy_def, z);
  damo_var *last = build_add(b, z, view),
           *over = apply1(b, &copy_def, apply1(b, &destroyer_def, apply1(b, &copy_def, x)));
  damo_var *out[] = {last, build_add(b, over, y)};
  const compile_options o = {.optimizer = "none"};
  damo_function *f = make(&x, 1, out, 2, &o);
  damo_array *a = vector_of(LEN, 0);
  for (int k = 0; k < 4; k++) {
    damo_array *r[2] = {NULL, NULL};
    CHECK_EQ_I(call_into(f, &a, 1, NULL, r), DAMO_OK);
    CHECK_NEAR(((double *)r[0]->data)[1], 2 * (LEN - 1) + 4, 0);
    CHECK_NEAR(((double *)r[1]->data)[1], 1 + 1 + 100 + 1 + 2, 0);
    RELEASE(r[0], r[1]);
  }
  RELEASE(a, f);
}

int main(void) {
  ctx = damo_ctx_new(counting_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  test_layout_known();
  test_layout_random();
  build b;
  build_init(&b, ctx);
  test_steady(&b);
  test_new_shapes(&b);
  test_failures(&b);
  test_held(&b);
  test_groups(&b);
  compile_case_end(&b);
  TEST_MAIN_END;
}
