/* compile_test: compiled functions: atomic updates, aliasing, missing and unused inputs, givens, copies, warm calls without
 * allocation, and both modes against each other. */
#include <stdlib.h>

#include "api/api.h"
#include "test.h"

static damo_ctx *ctx;
static int64_t n_allocations; /* since the context was made: new blocks and grown ones */

static void *counting_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  (void)user, (void)osize;
  if (nsize == 0) {
    free(ptr);
    return NULL;
  }
  n_allocations++;
  return realloc(ptr, nsize);
}

#define N 6 /* entries of the vectors here */

static damo_var *typed(build *b, damo_dtype dtype, int ndim, const char *name) {
  damo_type *t = type_tensor(ctx, dtype, ndim, NULL);
  damo_var *v = build_take(b, var_new(ctx, t, name));
  damo_release(t);
  return v;
}
static damo_var *vec(build *b, const char *name) { return typed(b, DAMO_FLOAT64, 1, name); }

static damo_array *ramp(double from) {
  double at[N];
  for (int i = 0; i < N; i++) at[i] = from + i;
  return damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N}, at);
}

static damo_var *shared(build *b, double from, const char *name) {
  damo_array *a = ramp(from);
  damo_var *s = build_take(b, damo_shared(ctx, a, name));
  damo_release(a);
  return s;
}

/* The vector holds from, from + step, … */
static bool is_ramp(const damo_array *a, double from, double step) {
  if (a == NULL || a->ndim != 1 || array_shape(a)[0] != N) return false;
  for (int64_t i = 0; i < N; i++) {
    if (fabs(scalar_to_double(array_get(a, &i)) - (from + step * (double)i)) > 1e-12) return false;
  }
  return true;
}
static bool holds(damo_var *s, double from, double step) { return is_ramp((const damo_array *)s->value, from, step); }

static damo_function *make(damo_var *const *in, int n_in, damo_var *const *out, int n_out, const compile_options *o) {
  in_spec ins[8] = {{.var = NULL}};
  out_spec outs[8] = {{.var = NULL}};
  for (int i = 0; i < n_in; i++) ins[i].var = in[i];
  for (int i = 0; i < n_out; i++) outs[i].var = out[i];
  damo_function *f = compile_function(ctx, ins, n_in, outs, n_out, o);
  if (f == NULL) fprintf(stderr, "    compile: %s\n", damo_error_message(ctx));
  return f;
}

static damo_status call(damo_function *f, damo_array *const *args, int n, damo_array *const *into, damo_array **out) {
  return function_call(f, (damo_obj *const *)args, n, (damo_obj *const *)into, (damo_obj **)out);
}

static void release_all(void *const *at, size_t n) {
  for (size_t i = 0; i < n; i++) damo_release(at[i]);
}
#define RELEASE(...) release_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* ---- Ops of the test: one that fails when told to, one that calls back, one that destroys its input ------------------------ */

static int fail_now;
static damo_function *recursive;
static damo_status recursion_answer, free_answer;

static damo_status same_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)n_in;
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}
static damo_status copy_out(thunk *t, double add) {
  const damo_array *x = thunk_in(t, 0);
  damo_array *out = thunk_out(t, 0, DAMO_FLOAT64, 1, array_shape(x));
  if (out == NULL || array_assign(out, x) != DAMO_OK) return damo_error_status(t->ctx);
  for (int64_t i = 0; i < array_shape(out)[0]; i++) ((double *)out->data)[i] += add;
  return DAMO_OK;
}
static damo_status fragile_run(thunk *t) {
  if (fail_now) return ctx_fail(t->ctx, DAMO_ENUMERIC, "fragile: told to fail");
  return copy_out(t, 0);
}
static damo_status recursive_run(thunk *t) {
  if (recursive != NULL) {
    damo_obj *arg = *t->in[0], *out = NULL;
    recursion_answer = function_call(recursive, &arg, 1, NULL, &out);
    free_answer = function_free(recursive);
  }
  return copy_out(t, 0);
}
static damo_status destroyer_run(thunk *t) {
  damo_array *x = thunk_out_inplace(t, 0, 0);
  if (x == NULL) return damo_error_status(t->ctx);
  for (int64_t i = 0; i < array_shape(x)[0]; i++) *(double *)(x->data + i * array_strides(x)[0]) += 100;
  return DAMO_OK;
}
static damo_status reverse_run(thunk *t) {
  const damo_array *x = thunk_in(t, 0);
  int64_t stride = -array_strides(x)[0];
  return thunk_out_view(t, 0, x, 1, array_shape(x), &stride, -stride * (array_shape(x)[0] - 1));
}
static const op_alias first_of_first[] = {{0, 0}, OP_ALIAS_END};
static const op_def fragile_def = {.name = "Fragile", .n_in = 1, .infer_type = same_type, .perform = fragile_run};
static const op_def recursive_def = {.name = "Recursive", .n_in = 1, .infer_type = same_type, .perform = recursive_run};
static const op_def destroyer_def = {
    .name = "Destroyer", .n_in = 1, .infer_type = same_type, .perform = destroyer_run, .destroy_map = first_of_first};
static const op_def reverse_def = {
    .name = "ReverseView", .n_in = 1, .infer_type = same_type, .perform = reverse_run, .view_map = first_of_first};

static damo_var *apply1(build *b, const op_def *def, damo_var *x) {
  return build_op(b, op_new(ctx, def, NULL, 0), &x, 1);
}

/* ---- Updates ------------------------------------------------------------------------------------------------------- */

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
    CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_ENUMERIC);
    CHECK(r == NULL && holds(s, 0, 1) && holds(t, 10, 1));
  }
  CHECK_EQ_S(damo_error_op(ctx), "Fragile");
  fail_now = 0;
  CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, -1, -2) && holds(s, 1, 2) && !holds(t, 10, 1));
  RELEASE(a, r, f);
}

/* An update of another shape than the Type allows fails at the call, and changes nothing. */
static void test_update_shape(build *b) {
  damo_array *a = ramp(0);
  damo_type *fixed = type_of_value(&a->obj);
  damo_var *s = build_take(b, var_shared(ctx, fixed, &a->obj, "s")), *u = shared(b, 5, "u"), *x = vec(b, "x");
  compile_options o = {.update_of = (damo_var *[]){u, s}, .update_to = (damo_var *[]){x, x}, .n_updates = 2};
  damo_function *f = make(&x, 1, NULL, 0, &o);
  damo_array *three = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}), *six = ramp(9);
  CHECK_EQ_I(call(f, &three, 1, NULL, NULL), DAMO_ESHAPE);
  CHECK(holds(s, 0, 1) && holds(u, 5, 1));
  CHECK_EQ_I(call(f, &six, 1, NULL, NULL), DAMO_OK);
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
  /* a static shape that can't fit is found when compiling */
  damo_type *two = type_tensor(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}),
            *six = type_tensor(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N});
  damo_array *a = ramp(0);
  damo_var *fixed = build_take(b, var_shared(ctx, six, &a->obj, "fixed")),
           *short_ = build_take(b, var_new(ctx, two, "short"));
  in_spec in = {.var = short_};
  compile_options o = {.update_of = &fixed, .update_to = &short_, .n_updates = 1};
  CHECK(compile_function(ctx, &in, 1, NULL, 0, &o) == NULL && damo_error_status(ctx) == DAMO_ETYPE);
  /* a literal for an integer: 2 fits, 2.5 does not */
  damo_array *zero = damo_array_scalar(ctx, DAMO_INT32, 0);
  damo_var *k = build_take(b, damo_shared(ctx, zero, "k")), *two_ = build_int(b, 2), *half = build_num(b, 2.5);
  o = (compile_options){.update_of = &k, .update_to = &half, .n_updates = 1};
  CHECK(compile_function(ctx, NULL, 0, NULL, 0, &o) == NULL && damo_error_status(ctx) == DAMO_ETYPE);
  o.update_to = &two_;
  damo_function *f = make(NULL, 0, NULL, 0, &o);
  CHECK(f != NULL && call(f, NULL, 0, NULL, NULL) == DAMO_OK &&
        scalar_to_int64(array_item((damo_array *)k->value)) == 2);
  damo_var *const twice[] = {s, s}, *const to[] = {x, x};
  o = (compile_options){.update_of = (damo_var *const *)twice, .update_to = (damo_var *const *)to, .n_updates = 2};
  in.var = x;
  CHECK(compile_function(ctx, &in, 1, NULL, 0, &o) == NULL && damo_error_status(ctx) == DAMO_EVALUE);
  CHECK(strstr(damo_error_message(ctx), "two updates") != NULL);
  RELEASE(two, six, a, zero, f, r);
}

/* Outputs and updates that are one another, or inputs, or views. */
static void test_aliasing(build *b, const char *mode) {
  damo_var *s = shared(b, 0, "s"), *t = shared(b, 100, "t"), *x = vec(b, "x");
  damo_var *next = build_fn2(b, "add", s, x), *rev = apply1(b, &reverse_def, x),
           *rev_next = apply1(b, &reverse_def, next);
  damo_var *k = build_value(b, &ramp(50)->obj);
  /* outputs: the input, the shared value, the update, the update again, a view of it, a view of the input, a constant */
  damo_var *out[] = {x, s, next, next, rev_next, rev, k};
  compile_options o = {
      .update_of = (damo_var *[]){s, t}, .update_to = (damo_var *[]){next, next}, .n_updates = 2, .mode = mode};
  damo_function *f = make(&x, 1, out, 7, &o);
  damo_array *a = ramp(1), *r[7], *first[7];
  for (int round = 0; round < 4; round++) {
    double from = round + 1, step = round + 2; /* of the new s, whose entry i is i + (round + 1)·(i + 1) */
    CHECK_EQ_I(call(f, &a, 1, NULL, r), DAMO_OK);
    CHECK(is_ramp(r[0], 1, 1) && is_ramp(r[1], from - 1, step - 1) && is_ramp(r[2], from, step) &&
          is_ramp(r[3], from, step));
    CHECK(is_ramp(r[4], from + step * (N - 1), -step) && is_ramp(r[5], N, -1) && is_ramp(r[6], 50, 1));
    CHECK(holds(s, from, step) && holds(t, from, step) && s->value != t->value);
    /* all are the caller's own: writing one changes nothing else */
    for (int i = 0; i < 7; i++) {
      CHECK(r[i] != a && &r[i]->obj != s->value && r[i]->writeable);
      for (int64_t j = 0; j < N; j++) array_set(r[i], &j, (scalar){.dtype = DAMO_FLOAT64, .v.f = -7});
    }
    CHECK(holds(s, from, step) && is_ramp(a, 1, 1));
    for (int i = 0; i < 7; i++) {
      if (round > 0) damo_release(first[i]);
      first[i] = r[i]; /* held over the next call: not written there */
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
  for (int i = 0; i < 5; i++) CHECK_EQ_I(call(f, NULL, 0, NULL, NULL), DAMO_OK);
  CHECK(holds(s, 20, 1) && holds(t, 1, 1) && s->value != t->value && is_ramp(held, 1, 1));
  RELEASE(held, f);
}

/* An update that is the input, or a view of it: the shared Variable gets its own copy. */
static void test_update_from_input(build *b) {
  damo_var *s = shared(b, 0, "s"), *t = shared(b, 0, "t"), *x = vec(b, "x"), *rev = apply1(b, &reverse_def, x);
  compile_options o = {.update_of = (damo_var *[]){s, t}, .update_to = (damo_var *[]){x, rev}, .n_updates = 2};
  damo_function *f = make(&x, 1, NULL, 0, &o);
  damo_array *a = ramp(3);
  for (int i = 0; i < 3; i++) CHECK_EQ_I(call(f, &a, 1, NULL, NULL), DAMO_OK);
  ((double *)a->data)[0] = -1;
  CHECK(holds(s, 3, 1) && holds(t, 8, -1) && s->value != &a->obj);
  CHECK(array_is_contiguous((damo_array *)t->value));
  RELEASE(a, f);
}

/* An in-place op gets a copy of what must last, and only then. */
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
    CHECK_EQ_I(call(f, &a, 1, NULL, r), DAMO_OK);
    CHECK(is_ramp(a, 0, 1) && holds(s, 0, 1));
    CHECK(is_ramp(r[0], 100, 1) && is_ramp(r[1], 100, 1) && is_ramp(r[2], 100, -1) && is_ramp(r[3], 0, -1));
    CHECK(is_ramp(r[4], 100, 1) && is_ramp(r[5], 95, 1) && is_ramp(r[6], 200, 1));
    for (int i = 0; i < 7; i++) damo_release(r[i]);
  }
  RELEASE(a, f);
}

/* ---- Results ------------------------------------------------------------------------------------------------------- */

static void test_into(build *b) {
  damo_var *s = shared(b, 10, "s"), *x = vec(b, "x"), *y = build_fn2(b, "add", x, s),
           *next = build_fn2(b, "mul", y, build_num(b, 1));
  damo_var *out[] = {y, x, apply1(b, &reverse_def, y), s};
  compile_options o = {.update_of = &s, .update_to = &next, .n_updates = 1};
  damo_function *f = make(&x, 1, out, 4, &o);
  damo_array *a = ramp(0), *own[4] = {ramp(0), ramp(0), ramp(0), ramp(0)}, *r[4];
  CHECK_EQ_I(call(f, &a, 1, own, r), DAMO_OK);
  for (int i = 0; i < 4; i++) CHECK(r[i] == own[i]);
  CHECK(is_ramp(own[0], 10, 2) && is_ramp(own[1], 0, 1) && is_ramp(own[2], 20, -2) && is_ramp(own[3], 10, 1) &&
        holds(s, 10, 2));
  release_all((void *const *)r, 4);
  /* into the input itself, and the input's output elsewhere */
  damo_array *const overlap[4] = {a, own[0], own[1], own[2]};
  CHECK_EQ_I(call(f, &a, 1, overlap, r), DAMO_OK);
  CHECK(is_ramp(a, 10, 3) && is_ramp(own[0], 0, 1) && is_ramp(own[1], 25, -3) && is_ramp(own[2], 10, 2) &&
        holds(s, 10, 3));
  release_all((void *const *)r, 4);
  /* into the shared value that somebody holds, and an output that is it */
  damo_array *held = damo_shared_value(s);
  damo_array *const shared_target[4] = {held, NULL, NULL, own[3]};
  CHECK_EQ_I(call(f, &a, 1, shared_target, r), DAMO_OK);
  CHECK(is_ramp(held, 20, 6) && is_ramp(r[1], 10, 3) && is_ramp(r[2], 50, -6) && is_ramp(own[3], 10, 3) &&
        holds(s, 20, 6));
  release_all((void *const *)r, 4);
  /* a strided target: every second entry of a longer array, backwards */
  damo_array *wide = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2 * N});
  damo_array *back = array_view(wide, 1, (const int64_t[]){N}, (const int64_t[]){-16}, 16 * (N - 1));
  damo_array *const strided[4] = {back, NULL, NULL, NULL};
  CHECK_EQ_I(call(f, &a, 1, strided, r), DAMO_OK);
  CHECK(is_ramp(back, 30, 9) && ((double *)wide->data)[1] == 0);
  release_all((void *const *)r, 4);
  /* two targets that overlap: each is written, in order */
  damo_array *const twice[4] = {own[0], NULL, own[0], NULL};
  CHECK_EQ_I(call(f, &a, 1, twice, r), DAMO_OK);
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
  CHECK_EQ_I(call(f, &a, 1, &longer, &r), DAMO_ESHAPE);
  CHECK_EQ_I(call(f, &a, 1, &ints, &r), DAMO_ETYPE);
  CHECK_EQ_I(call(f, &a, 1, &rank, &r), DAMO_ESHAPE);
  CHECK_EQ_I(call(f, &a, 1, &fixed, &r), DAMO_ESTATE);
  CHECK(r == NULL && holds(s, 0, 1) && is_ramp(fixed, 0, 1));
  RELEASE(a, longer, ints, rank, fixed, f);
}

static void test_borrow(build *b) {
  damo_var *x = vec(b, "x"), *y = build_fn1(b, "neg", x), *v = apply1(b, &reverse_def, y);
  in_spec in = {.var = x};
  out_spec out[] = {{.var = y, .borrow = true}, {.var = v, .borrow = true}, {.var = x, .borrow = true}};
  damo_function *f = compile_function(ctx, &in, 1, out, 3, NULL);
  damo_array *a = ramp(1), *c = ramp(4), *r[3], *q[3];
  CHECK_EQ_I(call(f, &a, 1, NULL, r), DAMO_OK);
  CHECK(is_ramp(r[0], -1, -1) && is_ramp(r[1], -6, 1) && is_ramp(r[2], 1, 1));
  CHECK_EQ_I(call(f, &c, 1, NULL, q), DAMO_OK);
  CHECK(is_ramp(q[0], -4, -1) && is_ramp(q[1], -9, 1) && is_ramp(q[2], 4, 1));
  RELEASE(r[0], r[1], r[2], q[0], q[1], q[2], a, c, f);
}

/* peek, then finish: nothing is owned, nothing is left. */
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
    CHECK_EQ_I(function_run(f, &arg, 1, NULL), DAMO_ESTATE); /* the call is not over */
    function_finish(f);
    CHECK(holds(s, round, step));
  }
  RELEASE(a, f);
}

/* ---- Inputs -------------------------------------------------------------------------------------------------------- */

static void test_inputs(build *b) {
  damo_var *x = vec(b, "x"), *y = vec(b, NULL), *z = build_fn2(b, "add", x, y);
  damo_array *a = ramp(1), *d = ramp(10), *r = NULL;
  in_spec in[2] = {{.var = x}, {.var = y, .value = &d->obj, .name = "offset"}};
  out_spec out = {.var = z};
  damo_function *f = compile_function(ctx, in, 2, &out, 1, &(compile_options){.name = "shift"});
  CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, 11, 2));
  damo_release(r);
  r = NULL;
  CHECK_EQ_I(call(f, NULL, 0, NULL, &r), DAMO_EMISSING_INPUT);
  CHECK(strstr(damo_error_message(ctx), "shift") && strstr(damo_error_message(ctx), "x"));
  CHECK_EQ_I(call(f, (damo_array *[]){a, a, a}, 3, NULL, &r), DAMO_ETYPE);
  damo_release(f);
  /* an input with an update: its default moves on with each call */
  in[1].update = build_fn2(b, "add", y, x);
  f = compile_function(ctx, in, 2, &out, 1, NULL);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_OK);
    CHECK(is_ramp(r, 11 + i, 2 + i));
    damo_release(r);
    r = NULL;
  }
  CHECK(is_ramp(d, 10, 1)); /* the caller's default value is untouched */
  damo_release(f);
  /* downcasts only where allowed, nothing at all where strict */
  damo_var *g = typed(b, DAMO_FLOAT32, 1, "g"), *h = build_fn1(b, "neg", g);
  damo_array *ints = damo_array_new(ctx, DAMO_INT16, 1, (const int64_t[]){N});
  in_spec gin = {.var = g};
  out.var = h;
  f = compile_function(ctx, &gin, 1, &out, 1, NULL);
  CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_ETYPE);
  CHECK_EQ_I(call(f, &ints, 1, NULL, &r), DAMO_OK);
  RELEASE(r, f);
  f = compile_function(ctx, &gin, 1, &out, 1, &(compile_options){.allow_input_downcast = true});
  CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK(array_dtype(r) == DAMO_FLOAT32 && is_ramp(r, -1, -1));
  RELEASE(r, f);
  r = NULL;
  gin.strict = true;
  f = compile_function(ctx, &gin, 1, &out, 1, NULL);
  CHECK_EQ_I(call(f, &ints, 1, NULL, &r), DAMO_ETYPE);
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
  CHECK_EQ_I(call(f, (damo_array *[]){a, a}, 2, NULL, &r), DAMO_OK);
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
  CHECK_EQ_I(call(f, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, 5, 1));
  RELEASE(r, f);
  /* of an inner Variable; the user's graph stays */
  o = (compile_options){.given = &e, .given_as = &x, .n_givens = 1};
  f = make((damo_var *[]){x, y}, 2, &z, 1, &o);
  CHECK_EQ_I(call(f, (damo_array *[]){a, a}, 2, NULL, &r), DAMO_OK);
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
  CHECK_EQ_I(call(f, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, 0, -1) && holds(s, 1, 2) && holds(t, 2, 2));
  damo_release(r);
  CHECK_EQ_I(call(g, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(is_ramp(r, -1, -2) && holds(s, 1, 2));
  RELEASE(r, f, g);
  damo_var *zero = build_fn1(b, "neg", t); /* an explicit update goes first */
  f = make(NULL, 0, &y, 1, &(compile_options){.update_of = &s, .update_to = &zero, .n_updates = 1});
  CHECK_EQ_I(call(f, NULL, 0, NULL, &r), DAMO_OK);
  CHECK(holds(s, -2, -2) && holds(t, 4, 4));
  RELEASE(r, f);
  damo_release(s->default_update); /* s ↦ s + t holds s: a cycle, which the owner of the stream breaks */
  s->default_update = NULL;
  damo_release(t->default_update);
  t->default_update = NULL;
}

/* A random stream: each call moves its state on, a failing one does not. */
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
    for (int k = 0; k < 2; k++) CHECK_EQ_I(call(f, &a, 1, NULL, &r[k]), DAMO_OK);
    CHECK(!array_equal(r[0], r[1], false));
    damo_obj *before = damo_retain(state->value);
    fail_now = 1;
    CHECK_EQ_I(call(f, &a, 1, NULL, &r[2]), DAMO_ENUMERIC);
    fail_now = 0;
    CHECK(type_values_equal(t, state->value, before));
    damo_release(state->value); /* from the same state, the same numbers */
    state->value = damo_retain(seed);
    CHECK_EQ_I(call(f, &a, 1, NULL, &r[2]), DAMO_OK);
    CHECK(array_equal(r[0], r[2], false));
    damo_release(state->default_update);
    state->default_update = NULL;
    RELEASE(before, f, r[0], r[1], r[2]);
  }
  ptrvec_clear(&drawn);
  RELEASE(t, seed, a);
}

/* ---- Life ---------------------------------------------------------------------------------------------------------- */

static void test_copy_and_free(build *b) {
  damo_var *s = shared(b, 0, "s"), *x = vec(b, "x"), *y = build_fn2(b, "add", s, x);
  compile_options o = {.update_of = &s, .update_to = &y, .n_updates = 1, .name = "step"};
  damo_function *f = make(&x, 1, &y, 1, &o), *g = function_copy(f);
  damo_array *a = ramp(1), *r = NULL, *q = NULL;
  CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_OK);
  CHECK_EQ_I(call(g, &a, 1, NULL, &q), DAMO_OK);
  CHECK(is_ramp(r, 1, 2) && is_ramp(q, 2, 3) && holds(s, 2, 3)); /* shared Variables are shared, storage is not */
  damo_release(q);
  CHECK_EQ_I(function_free(f), DAMO_OK);
  CHECK_EQ_I(function_free(f), DAMO_OK);
  q = NULL;
  CHECK_EQ_I(call(f, &a, 1, NULL, &q), DAMO_ESTATE);
  CHECK(function_copy(f) == NULL && damo_error_status(ctx) == DAMO_ESTATE);
  CHECK_EQ_I(call(g, &a, 1, NULL, &q), DAMO_OK);
  CHECK(is_ramp(q, 3, 4));
  RELEASE(r, q, a, f, g);
}

static void test_recursion(build *b) {
  damo_var *x = vec(b, "x"), *y = apply1(b, &recursive_def, x);
  damo_function *f = make(&x, 1, &y, 1, NULL);
  damo_array *a = ramp(1), *r = NULL;
  recursive = f;
  CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_OK);
  recursive = NULL;
  CHECK_EQ_I(recursion_answer, DAMO_ESTATE);
  CHECK_EQ_I(free_answer, DAMO_ESTATE);
  CHECK(is_ramp(r, 1, 1));
  damo_release(r);
  CHECK_EQ_I(call(f, &a, 1, NULL, &r), DAMO_OK);
  RELEASE(r, a, f);
}

/* ---- Warm calls ---------------------------------------------------------------------------------------------------- */

static damo_var *small_net(build *b, damo_var *x, damo_var *w, damo_var *u) {
  damo_var *h = build_fn1(b, "tanh", build_fn2(b, "dot", x, w)), *o = build_fn2(b, "dot", h, u);
  return build_fn1(b, "mean", build_fn1(b, "sqr", o));
}

static damo_array *filled(int64_t rows, int64_t cols, double phase) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){rows, cols});
  for (int64_t i = 0; i < rows * cols; i++) ((double *)a->data)[i] = 0.3 * sin(phase + 1.3 * (double)i);
  return a;
}

/* Training steps through `into`: no block is asked for after the first call of a shape. */
static void test_warm(build *b, const char *mode) {
  damo_array *w0 = filled(8, 5, 1), *u0 = filled(5, 2, 2), *a = filled(16, 8, 3),
             *loss = damo_array_scalar(ctx, DAMO_FLOAT64, 0);
  damo_array *wt = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){5, 8});
  damo_var *x = typed(b, DAMO_FLOAT64, 2, "x"), *w = build_take(b, damo_shared(ctx, w0, "w")),
           *u = build_take(b, damo_shared(ctx, u0, "u"));
  damo_var *cost = small_net(b, x, w, u), *g[2] = {NULL, NULL}, *momentum = build_take(b, damo_shared(ctx, w0, "m"));
  CHECK_EQ_I(grad_reverse(ctx, cost, (damo_var *[]){w, u}, 2, NULL, g), DAMO_OK);
  build_take(b, g[0]);
  build_take(b, g[1]);
  damo_var *m = build_fn2(b, "add", build_fn2(b, "mul", momentum, build_num(b, 0.9)), g[0]);
  damo_var *const of[] = {w, u, momentum};
  damo_var *const to[] = {build_fn2(b, "sub", w, build_fn2(b, "mul", m, build_num(b, 0.1))),
                          build_fn2(b, "sub", u, build_fn2(b, "mul", g[1], build_num(b, 0.1))), m};
  compile_options o = {
      .update_of = (damo_var *const *)of, .update_to = (damo_var *const *)to, .n_updates = 3, .mode = mode};
  damo_function *f = make(&x, 1, (damo_var *[]){cost, build_transpose(b, w)}, 2, &o);
  damo_array *const into[2] = {loss, wt};
  damo_array *r[2];
  double first = 0, last = 0;
  for (int i = 0; i < 60 && f != NULL; i++) {
    int64_t before = n_allocations;
    if (!CHECK_EQ_I(call(f, &a, 1, into, r), DAMO_OK)) break;
    if (i >= 2) CHECK_EQ_I(n_allocations - before, 0); /* the second call makes what the first one swapped away */
    damo_release(r[0]);
    damo_release(r[1]);
    damo_array_item(loss, &last);
    if (i == 0) first = last;
  }
  CHECK(last < 0.7 * first);
  RELEASE(w0, u0, a, loss, wt, f);
}

/* Both modes give the same values over a graph of many kinds of nodes. */
static void test_modes(build *b) {
  damo_var *x = typed(b, DAMO_FLOAT64, 2, "x"), *v = vec(b, "v"), *two = build_num(b, 2);
  damo_var *p = build_fn2(b, "add", build_fn2(b, "mul", x, two), v), *sm = build_fn1(b, "softmax", p);
  damo_var *lse = build_fn1(b, "log", build_fn1(b, "sum", build_fn1(b, "exp", p)));
  damo_var *l1p = build_fn1(b, "log", build_fn2(b, "add", build_num(b, 1), build_fn1(b, "sqr", p)));
  damo_var *zero = build_fn2(b, "sub", p, p),
           *one = build_fn2(b, "true_div", build_fn1(b, "exp", p), build_fn1(b, "exp", p));
  damo_var *cost = build_fn2(b, "add", lse, build_fn1(b, "sum", build_fn2(b, "mul", l1p, sm))), *g[2] = {NULL, NULL};
  CHECK_EQ_I(grad_reverse(ctx, cost, (damo_var *[]){x, v}, 2, NULL, g), DAMO_OK);
  build_take(b, g[0]);
  build_take(b, g[1]);
  damo_var *gram = build_fn2(b, "dot", build_transpose(b, x), x);
  damo_var *out[] = {cost, g[0], g[1], zero, one, gram, l1p, build_fn2(b, "mul", build_fn2(b, "add", two, two), p)};
  damo_function *run = make((damo_var *[]){x, v}, 2, out, 8, &(compile_options){.mode = "FAST_RUN"});
  damo_function *fast = make((damo_var *[]){x, v}, 2, out, 8, &(compile_options){.mode = "FAST_COMPILE"});
  damo_array *args[2] = {filled(4, N, 0.5), ramp(-2)}, *r[8], *q[8];
  if (CHECK(run != NULL && fast != NULL) && CHECK_EQ_I(call(run, args, 2, NULL, r), DAMO_OK) &&
      CHECK_EQ_I(call(fast, args, 2, NULL, q), DAMO_OK)) {
    for (int i = 0; i < 8; i++) {
      if (!CHECK(r[i]->dtype == q[i]->dtype && array_allclose(r[i], q[i], 1e-11, 1e-12, true)))
        fprintf(stderr, "    output %d\n", i);
      damo_release(r[i]);
      damo_release(q[i]);
    }
    CHECK(run->plan.n_thunks <= fast->plan.n_thunks);
  }
  RELEASE(args[0], args[1], run, fast);
}

/* The same graph gives the same program each time. */
static void test_determinism(build *b) {
  strbuf text[2];
  for (int k = 0; k < 2; k++) {
    strbuf_init(&text[k], ctx);
    damo_array *w0 = filled(3, 2, 1);
    damo_var *x = typed(b, DAMO_FLOAT64, 2, "x"), *w = build_take(b, damo_shared(ctx, w0, "w")),
             *u = build_take(b, damo_shared(ctx, w0, "u"));
    damo_var *cost = small_net(b, x, w, build_transpose(b, u)), *g[2] = {NULL, NULL};
    CHECK_EQ_I(grad_reverse(ctx, cost, (damo_var *[]){w, u}, 2, NULL, g), DAMO_OK);
    build_take(b, g[0]);
    build_take(b, g[1]);
    damo_function *f = make(&x, 1, (damo_var *[]){cost, g[0], g[1]}, 3, NULL);
    if (CHECK(f != NULL)) {
      CHECK_EQ_I(fgraph_check(f->fgraph), DAMO_OK);
      CHECK_EQ_I(graph_debugprint(ctx, (damo_var *const *)f->fgraph->outputs.at, 3, NULL, &text[k]), DAMO_OK);
      for (int64_t i = 0; i < f->plan.n_thunks; i++)
        strbuf_addf(&text[k], "%s\n", f->plan.thunks[i]->node->op->def->name);
    }
    RELEASE(w0, f);
  }
  CHECK_EQ_S(text[0].at, text[1].at);
  strbuf_clear(&text[0]);
  strbuf_clear(&text[1]);
}

/* ---- Random graphs -------------------------------------------------------------------------------------------------- */

static uint64_t dice;
static int roll(int n) {
  dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((dice >> 33) % (uint64_t)n);
}

/* A node over earlier Variables; values stay within reach of each other. */
static damo_var *random_node(build *b, damo_var *const *v, int n) {
  static const char *const unary[] = {"tanh", "neg", "sin", "abs", "sigmoid"}, *const binary[] = {"add", "sub", "mul",
                                                                                                  "maximum"};
  damo_var *x = v[roll(n)], *y = v[roll(n)];
  switch (roll(8)) {
    case 0: return apply1(b, &reverse_def, x);
    case 1: return build_fn1(b, "sin", apply1(b, &destroyer_def, x));
    case 2: return build_fn2(b, "add", x, build_num(b, roll(3)));
    case 3: return build_fn2(b, "mul", x, build_num(b, roll(3)));
    case 4: return build_fn1(b, unary[roll(5)], x);
    case 5: return build_fn1(b, "tanh", build_fn2(b, "mul", x, build_fn1(b, "sum", y)));
    default: return build_fn1(b, "tanh", build_fn2(b, binary[roll(4)], x, y));
  }
}

/* Three calls in one mode: all results, and the shared values after them, into out. */
static bool run_random(damo_var *const *in, damo_var *const *out, damo_var *const *of, damo_var *const *to, bool into,
                       const char *mode, damo_array **results) {
  compile_options o = {
      .update_of = of, .update_to = to, .n_updates = 2, .mode = mode, .on_unused_input = UNUSED_IGNORE};
  damo_array *start[2] = {ramp(-2), ramp(0.5)}, *args[2] = {ramp(1), ramp(-3)},
             *own[4] = {ramp(0), args[1], args[0], ramp(0)};
  for (int i = 0; i < 2; i++) damo_shared_set(of[i], start[i]);
  damo_function *f = make(in, 2, out, 4, &o);
  bool ok = CHECK(f != NULL);
  for (int k = 0; k < 3 && ok; k++) {
    damo_array *r[4];
    ok = CHECK_EQ_I(call(f, args, 2, into && k == 2 ? own : NULL, r), DAMO_OK);
    for (int i = 0; i < 4 && ok; i++) {
      results[4 * k + i] = into && k == 2 ? array_copy(r[i]) : damo_retain(r[i]);
      damo_release(r[i]);
    }
    if (k < 2) ok = ok && CHECK(is_ramp(args[0], 1, 1) && is_ramp(args[1], -3, 1));
  }
  for (int i = 0; i < 2 && ok; i++) results[12 + i] = damo_shared_value(of[i]);
  RELEASE(start[0], start[1], args[0], args[1], own[0], own[3], f);
  return ok;
}

static void test_random_graphs(build *outer) {
  for (int round = 0; round < 150; round++) {
    build b;
    build_init(&b, outer->ctx);
    dice = (uint64_t)round + 1;
    damo_var *v[24] = {vec(&b, "x"), vec(&b, "y"), shared(&b, 0, "s"), shared(&b, 0, "t"),
                       build_value(&b, &ramp(0.25)->obj)};
    int n = 5, size = 8 + roll(16);
    for (; n < size; n++) v[n] = random_node(&b, v, n);
    damo_var *out[4], *to[2] = {v[roll(n)], v[roll(n)]};
    for (int i = 0; i < 4; i++) out[i] = v[roll(n)];
    damo_array *r[3][14] = {{NULL}};
    bool ok = CHECK_EQ_I(b.status, DAMO_OK) && run_random(v, out, v + 2, to, false, "FAST_COMPILE", r[0]) &&
              run_random(v, out, v + 2, to, false, "FAST_RUN", r[1]) &&
              run_random(v, out, v + 2, to, true, "FAST_RUN", r[2]);
    for (int i = 0; i < 14 && ok; i++) {
      ok = CHECK(array_allclose(r[0][i], r[1][i], 1e-9, 1e-9, true)) &&
           CHECK(array_allclose(r[1][i], r[2][i], 0, 0, true));
    }
    if (!ok) fprintf(stderr, "    random graph %d\n", round);
    for (int k = 0; k < 3; k++) release_all((void *const *)r[k], 14);
    build_end(&b);
  }
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
    test_warm(&b, modes[k]);
  }
  test_update_shape(&b);
  test_update_refusals(&b);
  test_update_from_input(&b);
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
  test_modes(&b);
  test_determinism(&b);
  test_random_graphs(&b);
  CHECK_EQ_I(build_end(&b), DAMO_OK);
  ctx_clear_error(ctx);
  char text[200];
  if (!CHECK_EQ_I(ctx->n_objects, 0)) fprintf(stderr, "    left: %s\n", ctx_census(ctx, text, sizeof text));
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
