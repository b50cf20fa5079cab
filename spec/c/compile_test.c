/* compile_test: compiled functions: results and their memory, missing and unused inputs, givens, default updates,
 * copies, calls within calls. */
#include "compile_case.h"
#include "op/op.h"
#include "by_name.h"

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void test_into(build *b) {
  damo_var *s = shared(b, 10, "s"), *x = vec(b, "x"), *y = build_fn2(b, "add", x, s),
           *next = build_fn2(b, "mul", y, build_num(b, 1));
  damo_var *out[] = {y, x, apply1(b, &reverse_def, y), s};
  compile_options o = {.update_of = &s, .update_to = &next, .n_updates = 1};
  damo_function *f = make(&x, 1, out, 4, &o);
  damo_array *a = ramp(0), *own[4] = {ramp(0), ramp(0), ramp(0), ramp(0)}, *r[4];
  CHECK_EQ_I(call_into(f, &a, 1, own, r), DAMO_OK);
  for (int i = 0; i < 4; i++) CHECK(r[i] == own[i]);
  CHECK(is_ramp(own[0], 10, 2) && is_ramp(own[1], 0, 1) && is_ramp(own[2], 20, -2) && is_ramp(own[3], 10, 1) &&
        holds(s, 10, 2));
  release_all((void *const *)r, 4);
  /* a target is the input itself, and the output that is the input goes elsewhere */
  damo_array *const overlap[4] = {a, own[0], own[1], own[2]};
  CHECK_EQ_I(call_into(f, &a, 1, overlap, r), DAMO_OK);
  CHECK(is_ramp(a, 10, 3) && is_ramp(own[0], 0, 1) && is_ramp(own[1], 25, -3) && is_ramp(own[2], 10, 2) &&
        holds(s, 10, 3));
  release_all((void *const *)r, 4);
  /* a target is the shared value, of which the host has a reference, and one output is that value */
  damo_array *held = damo_shared_value(s);
  damo_array *const shared_target[4] = {held, NULL, NULL, own[3]};
  CHECK_EQ_I(call_into(f, &a, 1, shared_target, r), DAMO_OK);
  CHECK(is_ramp(held, 20, 6) && is_ramp(r[1], 10, 3) && is_ramp(r[2], 50, -6) && is_ramp(own[3], 10, 3) &&
        holds(s, 20, 6));
  release_all((void *const *)r, 4);
  /* a strided target: every second entry of a longer array, backwards */
  damo_array *wide = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2 * N});
  damo_array *back = array_view(wide, 1, (const int64_t[]){N}, (const int64_t[]){-16}, 16 * (N - 1));
  damo_array *const strided[4] = {back, NULL, NULL, NULL};
  CHECK_EQ_I(call_into(f, &a, 1, strided, r), DAMO_OK);
  CHECK(is_ramp(back, 30, 9) && ((double *)wide->data)[1] == 0);
  release_all((void *const *)r, 4);
  /* two targets that overlap: each is written, in order */
  damo_array *const twice[4] = {own[0], NULL, own[0], NULL};
  CHECK_EQ_I(call_into(f, &a, 1, twice, r), DAMO_OK);
  CHECK(is_ramp(own[0], 100, -12));
  release_all((void *const *)r, 4);
  RELEASE(a, own[0], own[1], own[2], own[3], held, wide, back, f);
}

static void test_into_refused(build *b) {
  damo_var *s = shared(b, 0, "s"), *x = vec(b, "x"), *y = build_fn1(b, "neg", x), *next = build_fn2(b, "add", s, x);
  compile_options o = {.update_of = &s, .update_to = &next, .n_updates = 1};
  damo_function *f = make(&x, 1, &y, 1, &o);
  damo_array *a = ramp(1), *longer = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N + 1}), *fixed = ramp(0),
             *r = NULL;
  damo_array *ints = damo_array_new(ctx, DAMO_INT64, 1, (const int64_t[]){N}),
             *rank = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){1, N});
  fixed->writeable = false;
  CHECK_EQ_I(call_into(f, &a, 1, &longer, &r), DAMO_ESHAPE);
  CHECK_EQ_I(call_into(f, &a, 1, &ints, &r), DAMO_ETYPE);
  CHECK_EQ_I(call_into(f, &a, 1, &rank, &r), DAMO_ETYPE);
  CHECK_EQ_I(call_into(f, &a, 1, &fixed, &r), DAMO_ESTATE);
  CHECK(r == NULL && holds(s, 0, 1) && is_ramp(fixed, 0, 1));
  RELEASE(a, longer, ints, rank, fixed, f);
}

static void test_borrow(build *b) {
  damo_var *x = vec(b, "x"), *y = build_fn1(b, "neg", x), *v = apply1(b, &reverse_def, y);
  in_spec in = {.var = x};
  out_spec out[] = {{.var = y, .borrow = true}, {.var = v, .borrow = true}, {.var = x, .borrow = true}};
  damo_function *f = compile_function(ctx, &in, 1, out, 3, NULL);
  damo_array *a = ramp(1), *c = ramp(4), *r[3], *q[3];
  CHECK_EQ_I(call_into(f, &a, 1, NULL, r), DAMO_OK);
  CHECK(is_ramp(r[0], -1, -1) && is_ramp(r[1], -6, 1) && is_ramp(r[2], 1, 1));
  CHECK_EQ_I(call_into(f, &c, 1, NULL, q), DAMO_OK);
  CHECK(is_ramp(q[0], -4, -1) && is_ramp(q[1], -9, 1) && is_ramp(q[2], 4, 1));
  RELEASE(r[0], r[1], r[2], q[0], q[1], q[2], a, c, f);
}

/* function_peek, then function_finish: nothing is owned, nothing is left. */
static void test_peek(build *b) {
  damo_var *s = shared(b, 0, "s"), *x = vec(b, "x"), *y = build_fn2(b, "add", s, x), *v = apply1(b, &reverse_def, y);
  compile_options o = {.update_of = &s, .update_to = &y, .n_updates = 1};
  damo_function *f = make(&x, 1, (damo_var *[]){y, v, s}, 3, &o);
  damo_array *a = ramp(1);
  damo_obj *arg = &a->obj;
  for (int round = 1; round < 4; round++) {
    CHECK_EQ_I(function_run(f, &arg, 1, NULL), DAMO_OK);
    double step = round + 1;
    CHECK(is_ramp((damo_array *)function_peek(f, 0), round, step));
    CHECK(is_ramp((damo_array *)function_peek(f, 1), round + step * (N - 1), -step));
    CHECK(is_ramp((damo_array *)function_peek(f, 2), round - 1, step - 1));
    CHECK_EQ_I(function_run(f, &arg, 1, NULL), DAMO_ESTATE); /* the call is not finished */
    function_finish(f);
    CHECK(holds(s, round, step));
  }
  RELEASE(a, f);
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static void test_inputs(build *b) {
  damo_var *x = vec(b, "x"), *y = vec(b, NULL), *z = build_fn2(b, "add", x, y);
  damo_array *a = ramp(1), *d = ramp(10), *r = NULL;
  in_spec in[2] = {{.var = x}, {.var = y, .value = &d->obj, .name = "offset"}};
  out_spec out = {.var = z};
  damo_function *f = compile_function(ctx, in, 2, &out, 1, &(compile_options){.name = "shift"});
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, 11, 2));
  damo_release(r);
  r = NULL;
  CHECK_EQ_I(call_into(f, NULL, 0, NULL, &r), DAMO_EMISSING_INPUT);
  CHECK(strstr(damo_error_message(ctx), "shift") && strstr(damo_error_message(ctx), "x"));
  CHECK_EQ_I(call_into(f, (damo_array *[]){a, a, a}, 3, NULL, &r), DAMO_ETYPE);
  damo_release(f);
  /* an input with an update: each call advances its default */
  in[1].update = build_fn2(b, "add", y, x);
  f = compile_function(ctx, in, 2, &out, 1, NULL);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_OK);
    CHECK(is_ramp(r, 11 + i, 2 + i));
    damo_release(r);
    r = NULL;
  }
  CHECK(is_ramp(d, 10, 1)); /* the caller's default value does not change */
  damo_release(f);
  /* downcasts only if allowed, no conversion at all if strict */
  damo_var *g = typed(b, DAMO_FLOAT32, 1, "g"), *h = build_fn1(b, "neg", g);
  damo_array *ints = damo_array_new(ctx, DAMO_INT16, 1, (const int64_t[]){N});
  in_spec gin = {.var = g};
  out.var = h;
  f = compile_function(ctx, &gin, 1, &out, 1, NULL);
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_ETYPE);
  CHECK_EQ_I(call_into(f, &ints, 1, NULL, &r), DAMO_OK);
  RELEASE(r, f);
  f = compile_function(ctx, &gin, 1, &out, 1, &(compile_options){.allow_input_downcast = true});
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK(array_dtype(r) == DAMO_FLOAT32 && is_ramp(r, -1, -1));
  RELEASE(r, f);
  r = NULL;
  gin.strict = true;
  f = compile_function(ctx, &gin, 1, &out, 1, NULL);
  CHECK_EQ_I(call_into(f, &ints, 1, NULL, &r), DAMO_ETYPE);
  RELEASE(f, a, d, ints);
}

static int warned;
static void note(void *user, const char *kind, const char *message) {
  (void)user, (void)message;
  warned += strcmp(kind, "unused_input") == 0;
}

static void test_unused(build *b) {
  damo_var *x = vec(b, "x"), *y = vec(b, "y"), *z = build_fn1(b, "neg", x);
  in_spec in[2] = {{.var = x}, {.var = y}};
  out_spec out = {.var = z};
  CHECK(compile_function(ctx, in, 2, &out, 1, NULL) == NULL && damo_error_status(ctx) == DAMO_EUNUSED_INPUT);
  CHECK(strstr(damo_error_message(ctx), "y") != NULL);
  damo_function *f = compile_function(ctx, in, 2, &out, 1, &(compile_options){.on_unused_input = UNUSED_IGNORE});
  damo_array *a = ramp(0), *r = NULL;
  CHECK_EQ_I(call_into(f, (damo_array *[]){a, a}, 2, NULL, &r), DAMO_OK);
  RELEASE(r, a, f);
  damo_ctx_set_warning(ctx, note, NULL);
  f = compile_function(ctx, in, 2, &out, 1, &(compile_options){.on_unused_input = UNUSED_WARN});
  CHECK(f != NULL && warned == 1);
  damo_release(f);
  damo_var *both = build_fn2(b, "add", x, y);
  CHECK(compile_function(ctx, in, 1, &(out_spec){.var = both}, 1, NULL) == NULL &&
        damo_error_status(ctx) == DAMO_EMISSING_INPUT);
  in[1].var = x;
  CHECK(compile_function(ctx, in, 2, &out, 1, NULL) == NULL && damo_error_status(ctx) == DAMO_EVALUE);
}

static void test_givens(build *b) {
  damo_var *x = vec(b, "x"), *y = vec(b, "y"), *s = shared(b, 5, "s"), *e = build_fn2(b, "mul", x, build_num(b, 2)),
           *z = build_fn2(b, "add", e, y);
  damo_var *const given[] = {x, y}, *const as[] = {s, build_fn1(b, "neg", s)};
  compile_options o = {.given = (damo_var *const *)given, .given_as = (damo_var *const *)as, .n_givens = 2};
  damo_function *f = make(NULL, 0, &z, 1, &o);
  damo_array *r = NULL, *a = ramp(1);
  CHECK_EQ_I(call_into(f, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, 5, 1));
  RELEASE(r, f);
  /* givens of an inner Variable; the user's graph does not change */
  o = (compile_options){.given = &e, .given_as = &x, .n_givens = 1};
  f = make((damo_var *[]){x, y}, 2, &z, 1, &o);
  CHECK_EQ_I(call_into(f, (damo_array *[]){a, a}, 2, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, 2, 2) && z->owner->in[0] == e);
  RELEASE(r, f, a);
  damo_var *m = typed(b, DAMO_FLOAT64, 2, "m");
  o.given_as = &m;
  CHECK(compile_function(ctx, NULL, 0, &(out_spec){.var = z}, 1, &o) == NULL && damo_error_status(ctx) == DAMO_ETYPE);
  CHECK(strstr(damo_error_message(ctx), "given") != NULL);
}

static void test_default_updates(build *b) {
  damo_var *s = shared(b, 0, "s"), *t = shared(b, 1, "t"), *y = build_fn1(b, "neg", s);
  s->default_update = damo_retain(build_fn2(b, "add", s, t));               /* uses t, … */
  t->default_update = damo_retain(build_fn2(b, "mul", t, build_num(b, 2))); /* … which updates itself too */
  damo_function *f = make(NULL, 0, &y, 1, NULL),
                *g = make(NULL, 0, &y, 1, &(compile_options){.no_default_updates = true});
  damo_array *r = NULL;
  CHECK_EQ_I(call_into(f, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, 0, -1) && holds(s, 1, 2) && holds(t, 2, 2));
  damo_release(r);
  CHECK_EQ_I(call_into(g, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, -1, -2) && holds(s, 1, 2));
  RELEASE(r, f, g);
  damo_var *zero = build_fn1(b, "neg", t); /* an explicit update takes precedence */
  f = make(NULL, 0, &y, 1, &(compile_options){.update_of = &s, .update_to = &zero, .n_updates = 1});
  CHECK_EQ_I(call_into(f, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(holds(s, -2, -2) && holds(t, 4, 4));
  RELEASE(r, f);
  damo_release(s->default_update); /* s + t refers to s: a reference cycle, which the stream's owner breaks */
  s->default_update = NULL;
  damo_release(t->default_update);
  t->default_update = NULL;
}

/* A random stream: each call advances its state, a failing one does not. */
static void test_stream(build *b) {
  damo_type *t = type_random(ctx);
  damo_array *seed = random_seed_array(ctx, 42), *r[3] = {NULL}, *a = ramp(0);
  damo_var *state = build_take(b, var_shared(ctx, t, &seed->obj, "state")), *x = vec(b, "x");
  const prop_value opt[2] = {prop_int(N), prop_nil()};
  ptrvec drawn;
  ptrvec_init(&drawn, ctx);
  CHECK_EQ_I(func_call(b, func_find(ctx, "normal"), &state, 1, opt, &drawn), DAMO_OK);
  if (CHECK_EQ_I(drawn.n, 2)) {
    damo_var *sample = drawn.at[1], *y = apply1(b, &fragile_def, build_fn2(b, "add", sample, x));
    state->default_update = damo_retain(drawn.at[0]);
    damo_function *f = make(&x, 1, &y, 1, NULL);
    for (int k = 0; k < 2; k++) CHECK_EQ_I(call_into(f, &a, 1, NULL, &r[k]), DAMO_OK);
    CHECK(!array_equal(r[0], r[1], false));
    damo_obj *before = damo_retain(state->value);
    fail_now = 1;
    CHECK_EQ_I(call_into(f, &a, 1, NULL, &r[2]), DAMO_ENUMERIC);
    fail_now = 0;
    CHECK(type_values_equal(t, state->value, before));
    damo_release(state->value); /* from the same state, the same numbers */
    state->value = damo_retain(seed);
    CHECK_EQ_I(call_into(f, &a, 1, NULL, &r[2]), DAMO_OK);
    CHECK(array_equal(r[0], r[2], false));
    damo_release(state->default_update);
    state->default_update = NULL;
    RELEASE(before, f, r[0], r[1], r[2]);
  }
  ptrvec_clear(&drawn);
  RELEASE(t, seed, a);
}

/* ---- Lifetimes --------------------------------------------------------------------------------------------------- */

/* An Op that calls a function while it runs, and frees it. */
static damo_function *recursive;
static damo_status recursion_answer, free_answer;
static damo_status recursive_run(const thunk *t, frame *f) {
  if (recursive != NULL) {
    damo_obj *arg = thunk_value(t, f, 0), *out = NULL;
    recursion_answer = function_call(recursive, &arg, 1, NULL, &out);
    free_answer = function_free(recursive);
  }
  return add_run(t, f, 0);
}

static const op_def recursive_def = {.name = "Recursive", .n_in = 1, .infer_type = same_type, .perform = recursive_run};

static void test_copy_and_free(build *b) {
  damo_var *s = shared(b, 0, "s"), *x = vec(b, "x"), *y = build_fn2(b, "add", s, x);
  compile_options o = {.update_of = &s, .update_to = &y, .n_updates = 1, .name = "step"};
  damo_function *f = make(&x, 1, &y, 1, &o), *g = function_copy(f);
  damo_array *a = ramp(1), *r = NULL, *q = NULL;
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK_EQ_I(call_into(g, &a, 1, NULL, &q), DAMO_OK);
  CHECK(is_ramp(r, 1, 2) && is_ramp(q, 2, 3) && holds(s, 2, 3)); /* copies share shared Variables, not storage */
  damo_release(q);
  CHECK_EQ_I(function_free(f), DAMO_OK);
  CHECK_EQ_I(function_free(f), DAMO_OK);
  q = NULL;
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &q), DAMO_ESTATE);
  CHECK(function_copy(f) == NULL && damo_error_status(ctx) == DAMO_ESTATE);
  CHECK_EQ_I(call_into(g, &a, 1, NULL, &q), DAMO_OK);
  CHECK(is_ramp(q, 3, 4));
  RELEASE(r, q, a, f, g);
}

static void test_recursion(build *b) {
  damo_var *x = vec(b, "x"), *y = apply1(b, &recursive_def, x);
  damo_function *f = make(&x, 1, &y, 1, NULL);
  damo_array *a = ramp(1), *r = NULL;
  recursive = f;
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_OK);
  recursive = NULL;
  CHECK_EQ_I(recursion_answer, DAMO_ESTATE);
  CHECK_EQ_I(free_answer, DAMO_ESTATE);
  CHECK(is_ramp(r, 1, 1));
  damo_release(r);
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_OK);
  RELEASE(r, a, f);
}

int main(void) {
  ctx = damo_ctx_new(counting_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  build b;
  build_init(&b, ctx);
  test_into(&b);
  test_into_refused(&b);
  test_borrow(&b);
  test_peek(&b);
  test_inputs(&b);
  test_unused(&b);
  test_givens(&b);
  test_default_updates(&b);
  test_stream(&b);
  test_copy_and_free(&b);
  test_recursion(&b);
  compile_case_end(&b);
  TEST_MAIN_END;
}
