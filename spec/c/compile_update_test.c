/* compile_update_test: updates of compiled functions: all or none, whatever values share memory. */
#include "compile_case.h"
#include "by_name.h"

static void test_atomic(build *b, const char *mode) {
  damo_var *s = shared(b, 0, "s"), *t = shared(b, 10, "t"), *x = vec(b, "x");
  damo_var *new_s = build_fn2(b, "add", s, x), *new_t = apply1(b, &fragile_def, build_fn2(b, "mul", t, new_s));
  damo_var *out = build_fn1(b, "neg", new_s);
  compile_options o = {
      .update_of = (damo_var *[]){s, t}, .update_to = (damo_var *[]){new_s, new_t}, .n_updates = 2, .mode = mode};
  damo_function *f = make(&x, 1, &out, 1, &o);
  damo_array *a = ramp(1), *r = NULL;
  fail_now = 1;
  for (int i = 0; i < 3; i++) {
    CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_ENUMERIC);
    CHECK(r == NULL && holds(s, 0, 1) && holds(t, 10, 1));
  }
  CHECK_EQ_S(damo_error_op(ctx), "Fragile");
  fail_now = 0;
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, -1, -2) && holds(s, 1, 2) && !holds(t, 10, 1));
  RELEASE(a, r, f);
}

/* An update whose shape the Type does not allow fails at the call and changes nothing. */
static void test_update_shape(build *b) {
  damo_array *a = ramp(0);
  damo_type *fixed = type_of_value(&a->obj);
  damo_var *s = build_take(b, var_shared(ctx, fixed, &a->obj, "s")), *u = shared(b, 5, "u"), *x = vec(b, "x");
  compile_options o = {.update_of = (damo_var *[]){u, s}, .update_to = (damo_var *[]){x, x}, .n_updates = 2};
  damo_function *f = make(&x, 1, NULL, 0, &o);
  damo_array *three = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}), *six = ramp(9);
  CHECK_EQ_I(call_into(f, &three, 1, NULL, NULL), DAMO_ESHAPE);
  CHECK(holds(s, 0, 1) && holds(u, 5, 1));
  CHECK_EQ_I(call_into(f, &six, 1, NULL, NULL), DAMO_OK);
  CHECK(holds(s, 9, 1) && holds(u, 9, 1) && s->value != &six->obj && u->value != s->value);
  RELEASE(a, fixed, three, six, f);
}

static void test_update_refusals(build *b) {
  damo_var *s = shared(b, 0, "s"), *x = vec(b, "x"), *m = typed(b, DAMO_FLOAT64, 2, "m"),
           *z = typed(b, DAMO_COMPLEX128, 1, "z");
  damo_var *i = typed(b, DAMO_INT32, 1, "i"), *num = build_num(b, 2.5), *r = NULL;
  struct {
    damo_var *of, *to;
    damo_status expect;
  } cases[] = {{s, m, DAMO_ETYPE}, {s, z, DAMO_ETYPE}, {s, num, DAMO_ETYPE},
               {x, x, DAMO_ETYPE}, {s, i, DAMO_OK},    {s, x, DAMO_OK}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    in_spec in = {.var = k < 4 ? cases[k].to : cases[k].to};
    bool leaf = cases[k].to->kind == VAR_PLAIN;
    compile_options o = {.update_of = &cases[k].of, .update_to = &cases[k].to, .n_updates = 1};
    damo_function *f = compile_function(ctx, &in, leaf, NULL, 0, &o);
    CHECK((f != NULL) == (cases[k].expect == DAMO_OK));
    if (f == NULL) CHECK_EQ_I(damo_error_status(ctx), cases[k].expect);
    damo_release(f);
  }
  /* a static shape that cannot fit fails when compiling */
  damo_type *two = type_tensor(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}),
            *six = type_tensor(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N});
  damo_array *a = ramp(0);
  damo_var *fixed = build_take(b, var_shared(ctx, six, &a->obj, "fixed")),
           *short_ = build_take(b, var_new(ctx, two, "short"));
  in_spec in = {.var = short_};
  compile_options o = {.update_of = &fixed, .update_to = &short_, .n_updates = 1};
  CHECK(compile_function(ctx, &in, 1, NULL, 0, &o) == NULL && damo_error_status(ctx) == DAMO_ETYPE);
  /* a literal as the update of an integer: 2 fits, 2.5 does not */
  damo_array *zero = damo_array_scalar(ctx, DAMO_INT32, 0);
  damo_var *k = build_take(b, damo_shared(ctx, zero, "k")), *two_ = build_int(b, 2), *half = build_num(b, 2.5);
  o = (compile_options){.update_of = &k, .update_to = &half, .n_updates = 1};
  CHECK(compile_function(ctx, NULL, 0, NULL, 0, &o) == NULL && damo_error_status(ctx) == DAMO_ETYPE);
  o.update_to = &two_;
  damo_function *f = make(NULL, 0, NULL, 0, &o);
  CHECK(f != NULL && call_into(f, NULL, 0, NULL, NULL) == DAMO_OK &&
        scalar_to_int64(array_item((damo_array *)k->value)) == 2);
  damo_var *const twice[] = {s, s}, *const to[] = {x, x};
  o = (compile_options){.update_of = (damo_var *const *)twice, .update_to = (damo_var *const *)to, .n_updates = 2};
  in.var = x;
  CHECK(compile_function(ctx, &in, 1, NULL, 0, &o) == NULL && damo_error_status(ctx) == DAMO_EVALUE);
  CHECK(strstr(damo_error_message(ctx), "two updates") != NULL);
  RELEASE(two, six, a, zero, f, r);
}

/* Outputs and updates that are the same Variable, inputs, or views. */
static void test_aliasing(build *b, const char *mode) {
  damo_var *s = shared(b, 0, "s"), *t = shared(b, 100, "t"), *x = vec(b, "x");
  damo_var *next = build_fn2(b, "add", s, x), *rev = apply1(b, &reverse_def, x),
           *rev_next = apply1(b, &reverse_def, next);
  damo_var *k = build_value(b, &ramp(50)->obj);
  /* outputs: the input, the shared value, the update, the update again, a view of it, a view of the input, a
   * constant */
  damo_var *out[] = {x, s, next, next, rev_next, rev, k};
  compile_options o = {
      .update_of = (damo_var *[]){s, t}, .update_to = (damo_var *[]){next, next}, .n_updates = 2, .mode = mode};
  damo_function *f = make(&x, 1, out, 7, &o);
  damo_array *a = ramp(1), *r[7], *first[7];
  for (int round = 0; round < 4; round++) {
    double from = round + 1, step = round + 2; /* of the new s, whose entry i is i + (round + 1)·(i + 1) */
    CHECK_EQ_I(call_into(f, &a, 1, NULL, r), DAMO_OK);
    CHECK(is_ramp(r[0], 1, 1) && is_ramp(r[1], from - 1, step - 1) && is_ramp(r[2], from, step) &&
          is_ramp(r[3], from, step));
    CHECK(is_ramp(r[4], from + step * (N - 1), -step) && is_ramp(r[5], N, -1) && is_ramp(r[6], 50, 1));
    CHECK(holds(s, from, step) && holds(t, from, step) && s->value != t->value);
    /* the caller owns all of them: writing to one changes no other */
    for (int i = 0; i < 7; i++) {
      CHECK(r[i] != a && &r[i]->obj != s->value && r[i]->writeable);
      for (int64_t j = 0; j < N; j++) array_set(r[i], &j, (scalar){.dtype = DAMO_FLOAT64, .v.f = -7});
    }
    CHECK(holds(s, from, step) && is_ramp(a, 1, 1));
    for (int i = 0; i < 7; i++) {
      if (round > 0) damo_release(first[i]);
      first[i] = r[i]; /* kept across the next call, which must not write to it */
    }
  }
  for (int i = 0; i < 7; i++) {
    CHECK(is_ramp(first[i], -7, 0));
    damo_release(first[i]);
  }
  RELEASE(a, f);
}

static void test_swap(build *b, const char *mode) {
  damo_var *s = shared(b, 1, "s"), *t = shared(b, 20, "t");
  compile_options o = {
      .update_of = (damo_var *[]){s, t}, .update_to = (damo_var *[]){t, s}, .n_updates = 2, .mode = mode};
  damo_function *f = make(NULL, 0, NULL, 0, &o);
  damo_array *held = damo_shared_value(s);
  for (int i = 0; i < 5; i++) CHECK_EQ_I(call_into(f, NULL, 0, NULL, NULL), DAMO_OK);
  CHECK(holds(s, 20, 1) && holds(t, 1, 1) && s->value != t->value && is_ramp(held, 1, 1));
  RELEASE(held, f);
}

/* An update that is the input, or a view of it: the shared Variable gets its own copy. */
static void test_update_from_input(build *b) {
  damo_var *s = shared(b, 0, "s"), *t = shared(b, 0, "t"), *x = vec(b, "x"), *rev = apply1(b, &reverse_def, x);
  compile_options o = {.update_of = (damo_var *[]){s, t}, .update_to = (damo_var *[]){x, rev}, .n_updates = 2};
  damo_function *f = make(&x, 1, NULL, 0, &o);
  damo_array *a = ramp(3);
  for (int i = 0; i < 3; i++) CHECK_EQ_I(call_into(f, &a, 1, NULL, NULL), DAMO_OK);
  ((double *)a->data)[0] = -1;
  CHECK(holds(s, 3, 1) && holds(t, 8, -1) && s->value != &a->obj);
  CHECK(array_is_contiguous((damo_array *)t->value));
  RELEASE(a, f);
}

/* An in-place op gets a copy of an input that must survive, and of no other. */
static void test_destroy(build *b, const char *mode) {
  damo_var *s = shared(b, 0, "s"), *x = vec(b, "x"), *e = build_fn1(b, "neg", x), *k = build_value(b, &ramp(0)->obj);
  damo_var *out[] = {apply1(b, &destroyer_def, x),
                     apply1(b, &destroyer_def, s),
                     apply1(b, &destroyer_def, e),
                     e,
                     apply1(b, &destroyer_def, k),
                     apply1(b, &destroyer_def, apply1(b, &reverse_def, e)),
                     apply1(b, &destroyer_def, apply1(b, &destroyer_def, build_fn1(b, "abs", x)))};
  damo_function *f = make(&x, 1, out, 7, &(compile_options){.mode = mode});
  damo_array *a = ramp(0), *r[7];
  for (int round = 0; round < 3; round++) {
    CHECK_EQ_I(call_into(f, &a, 1, NULL, r), DAMO_OK);
    CHECK(is_ramp(a, 0, 1) && holds(s, 0, 1));
    CHECK(is_ramp(r[0], 100, 1) && is_ramp(r[1], 100, 1) && is_ramp(r[2], 100, -1) && is_ramp(r[3], 0, -1));
    CHECK(is_ramp(r[4], 100, 1) && is_ramp(r[5], 95, 1) && is_ramp(r[6], 200, 1));
    for (int i = 0; i < 7; i++) damo_release(r[i]);
  }
  RELEASE(a, f);
}

int main(void) {
  ctx = damo_ctx_new(counting_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  build b;
  build_init(&b, ctx);
  static const char *const modes[] = {"FAST_RUN", "FAST_COMPILE"};
  for (int k = 0; k < 2; k++) {
    test_atomic(&b, modes[k]);
    test_aliasing(&b, modes[k]);
    test_swap(&b, modes[k]);
    test_destroy(&b, modes[k]);
  }
  test_update_shape(&b);
  test_update_refusals(&b);
  test_update_from_input(&b);
  compile_case_end(&b);
  TEST_MAIN_END;
}
