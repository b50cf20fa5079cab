/* lazy_test: lazy thunks: only needed nodes run, each once; ifelse; how thunks are made; cells that must be empty. */
#include "graph/region.h"
#include "watch_case.h"
#include "by_name.h"

/* ---- Ops that count ---------------------------------------------------------------------------------------------- */

static int n_runs, n_other_runs;
static damo_status count_run(const thunk *t, frame *f) { return n_runs++, add_run(t, f, 1); }
static damo_status other_run(const thunk *t, frame *f) { return n_other_runs++, add_run(t, f, 10); }
static const op_def count_def = {.name = "Count", .n_in = 1, .infer_type = same_type, .perform = count_run};
static const op_def other_def = {.name = "Other", .n_in = 1, .infer_type = same_type, .perform = other_run};

static damo_array *number(double v) { return damo_array_scalar(ctx, DAMO_FLOAT64, v); }
static damo_var *scalar_var(build *b, const char *name) { return typed(b, DAMO_FLOAT64, 0, name); }

/* ---- ifelse ------------------------------------------------------------------------------------------------------ */

static void test_only_one_branch(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x");
  damo_var *one = apply1(b, &count_def, x), *two = apply1(b, &other_def, x);
  damo_var *twice = build_fn2(b, "add", one, build_fn1(b, "neg", one)); /* `one` is used twice, and runs once */
  damo_var *out = build_fn3(b, "ifelse", c, build_fn2(b, "add", one, twice), two);
  static const char *const modes[] = {"FAST_RUN", "FAST_COMPILE", "NANGUARD"};
  for (int k = 0; k < 3; k++) {
    damo_function *f = make((damo_var *[]){c, x}, 2, &out, 1, &(compile_options){.mode = modes[k]});
    if (!CHECK(f != NULL && !f->program->vm.by_demand && f->program->vm.n_segments > 0)) continue;
    damo_array *yes[] = {number(1), ramp(5)}, *no[] = {number(0), yes[1]};
    n_runs = n_other_runs = 0;
    CHECK_NEAR(first_of(f, yes, 2), 6, 0);
    CHECK(n_runs == 1 && n_other_runs == 0);
    CHECK_NEAR(first_of(f, no, 2), 15, 0);
    CHECK(n_runs == 1 && n_other_runs == 1);
    CHECK_NEAR(first_of(f, yes, 2), 6, 0);
    CHECK(n_runs == 2 && n_other_runs == 1);
    damo_release(yes[0]), damo_release(yes[1]), damo_release(no[0]), damo_release(f);
  }
}

/* A node that both branches need, or that is an output too, runs once. */
static void test_shared_parts(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x"), *part = apply1(b, &count_def, x);
  damo_var *out[] = {build_fn3(b, "ifelse", c, build_fn1(b, "neg", part), build_fn1(b, "exp", part)), part};
  damo_function *f = make((damo_var *[]){c, x}, 2, out, 2, NULL);
  damo_array *args[] = {number(1), ramp(1)}, *r[2];
  n_runs = 0;
  CHECK_EQ_I(call(f, args, 2, r), DAMO_OK);
  CHECK(n_runs == 1 && entry(r[0], 0) == -2 && entry(r[1], 0) == 2);
  damo_release(r[0]), damo_release(r[1]), damo_release(args[0]), damo_release(args[1]), damo_release(f);
}

/* The outer condition decides whether the inner condition is computed at all. */
static void test_nested(build *b) {
  damo_var *c = scalar_var(b, "c"), *d = scalar_var(b, "d"), *x = vec(b, "x");
  damo_var *inner = build_fn3(b, "ifelse", build_fn2(b, "gt", d, build_num(b, 0)), apply1(b, &count_def, x), x);
  damo_var *out = build_fn3(b, "ifelse", c, inner, apply1(b, &other_def, x));
  damo_function *f = make((damo_var *[]){c, d, x}, 3, &out, 1, NULL);
  n_runs = n_other_runs = 0;
  for (int k = 0; k < 4; k++) {
    damo_array *args[] = {number(k & 1), number(k & 2 ? 1 : -1), ramp(0)};
    double expect = (k & 1) == 0 ? 10 : k & 2 ? 1 : 0;
    CHECK_NEAR(first_of(f, args, 3), expect, 0);
    for (int i = 0; i < 3; i++) damo_release(args[i]);
  }
  CHECK(n_runs == 1 && n_other_runs == 2);
  damo_release(f);
}

static damo_var *choose_by(build *b, damo_var *x, damo_var *yes, damo_var *no) {
  return build_fn3(b, "ifelse", build_fn2(b, "gt", build_fn1(b, "sum", x), build_num(b, 0)), yes, no);
}

/* first is needed by the condition of one choice and in a branch of the other, second the other way round, and both
 * choices lie in branches: neither condition can come before all that it guards. */
static void test_waiting_conditions(build *b) {
  damo_var *m = vec(b, "m"), *n = vec(b, "n"), *x = vec(b, "x"), *first = apply1(b, &count_def, x),
           *second = apply1(b, &other_def, x);
  damo_var *out[] = {choose_by(b, m, choose_by(b, first, second, x), x),
                     choose_by(b, n, choose_by(b, second, first, x), x)};
  damo_function *f = make((damo_var *[]){m, n, x}, 3, out, 2, NULL);
  CHECK(f != NULL && f->program->vm.by_demand && f->program->vm.n_segments == 0);
  for (int k = 0; k < 4; k++) {
    damo_array *args[] = {ramp(k & 1 ? 1 : -9), ramp(k & 2 ? 1 : -9), ramp(0)}, *r[2];
    n_runs = n_other_runs = 0;
    CHECK_EQ_I(call(f, args, 3, r), DAMO_OK);
    CHECK(entry(r[0], 0) == (k & 1 ? 10 : 0) && entry(r[1], 0) == (k & 2 ? 1 : 0));
    CHECK(n_runs == (k != 0) && n_other_runs == (k != 0));
    damo_release(r[0]), damo_release(r[1]);
    for (int i = 0; i < 3; i++) damo_release(args[i]);
  }
  damo_release(f);
}

/* A part in the branches of that many choices: in a region of as many guards, or, past the most, found by demand. */
static void many_choices(build *b, int n) {
  damo_var *c = vec(b, "c"), *x = vec(b, "x"), *part = apply1(b, &count_def, x), *out = x;
  for (int k = 0; k < n; k++) {
    out = build_fn2(b, "add", out, choose_by(b, build_fn2(b, "sub", c, build_num(b, k)), part, x));
  }
  damo_function *f = make((damo_var *[]){c, x}, 2, &out, 1, &(compile_options){.optimizer = "none"});
  CHECK(f != NULL && f->program->vm.by_demand == (n > REGION_GUARDS_MOST));
  for (int some = 0; some < 2; some++) {
    damo_array *args[] = {ramp(some ? n : -9), ramp(0)};
    n_runs = 0;
    CHECK_NEAR(first_of(f, args, 2), some ? n : 0, 0);
    CHECK_EQ_I(n_runs, some);
    damo_release(args[0]), damo_release(args[1]);
  }
  damo_release(f);
}
static void test_many_choices(build *b) { many_choices(b, 3), many_choices(b, REGION_GUARDS_MOST + 1); }

/* Choices with one condition share their regions: a chain of n of them makes no more segments than one. */
static void test_one_condition(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x"), *out[2];
  for (int k = 0; k < 2; k++) {
    out[k] = build_fn3(b, "ifelse", c, apply1(b, k ? &count_def : &other_def, build_fn1(b, "sin", x)),
                       apply1(b, k ? &other_def : &count_def, build_fn1(b, "exp", x)));
  }
  damo_function *f = make((damo_var *[]){c, x}, 2, out, 2, NULL);
  CHECK(f != NULL && f->program->vm.n_regions == 2 && f->program->vm.n_thunks == 8);
  damo_release(f);
}

/* A long chain below a lazy node: no recursion. */
static void test_deep(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x"), *v = x;
  for (int k = 0; k < 100000; k++) v = build_fn1(b, k % 2 ? "sin" : "neg", v);
  damo_var *out = build_fn3(b, "ifelse", c, v, x);
  damo_function *f = make((damo_var *[]){c, x}, 2, &out, 1, &(compile_options){.optimizer = "none"});
  damo_array *args[] = {number(1), ramp(0)}, *r = NULL;
  CHECK_EQ_I(call(f, args, 2, &r), DAMO_OK);
  CHECK_NEAR(entry(r, 0), 0, 0);
  damo_release(r), damo_release(args[0]), damo_release(args[1]), damo_release(f);
}

static void test_warm(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x");
  damo_var *out = build_fn1(
      b, "neg", build_fn3(b, "ifelse", c, build_fn1(b, "sin", x), build_fn1(b, "tanh", build_fn1(b, "exp", x))));
  damo_function *f = make((damo_var *[]){c, x}, 2, &out, 1, NULL);
  damo_array *yes[] = {number(1), ramp(1)}, *no[] = {number(0), yes[1]}, *own = ramp(0), *r;
  for (int k = 0; k < 6; k++) {
    int64_t before = n_allocations;
    damo_array **args = k % 2 ? yes : no;
    CHECK_EQ_I(function_call(f, (damo_obj *const *)args, 2, (damo_obj *const *)&own, (damo_obj **)&r), DAMO_OK);
    CHECK_NEAR(entry(own, 0), k % 2 ? -sin(1) : -tanh(exp(1)), 1e-15);
    if (k > 1) CHECK_EQ_I(n_allocations - before, 0);
    damo_release(r);
  }
  damo_release(yes[0]), damo_release(yes[1]), damo_release(no[0]), damo_release(own), damo_release(f);
}

static damo_status fail_run(const thunk *t, frame *f) {
  return (void)t, ctx_fail(f->ctx, DAMO_ENUMERIC, "failed: it was run");
}
static const op_def fail_def = {.name = "Failing", .n_in = 1, .infer_type = same_type, .perform = fail_run};

static void test_error(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x"), *out = build_fn3(b, "ifelse", c, apply1(b, &fail_def, x), x);
  damo_function *f = make((damo_var *[]){c, x}, 2, &out, 1, NULL);
  damo_array *yes[] = {number(1), ramp(1)}, *no[] = {number(0), yes[1]}, *r = NULL;
  CHECK_EQ_I(call(f, yes, 2, &r), DAMO_ENUMERIC);
  CHECK_EQ_S(damo_error_op(ctx), "Failing");
  CHECK_NEAR(first_of(f, no, 2), 1, 0);
  damo_release(yes[0]), damo_release(yes[1]), damo_release(no[0]), damo_release(f);
}

/* Derivatives: the branch taken gets the gradient, the other zeros. A constant condition removes the node. */
static void test_derivatives(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x"), *y = vec(b, "y");
  damo_var *cost = build_fn1(b, "sum", build_fn3(b, "ifelse", c, build_fn2(b, "mul", x, x), build_fn2(b, "mul", x, y)));
  damo_var *wrt[] = {x, y}, *g[2];
  CHECK_EQ_I(damo_grad(ctx, cost, wrt, 2, g), DAMO_OK);
  damo_function *f = make((damo_var *[]){c, x, y}, 3, g, 2, NULL);
  for (int k = 0; k < 2; k++) {
    damo_array *args[] = {number(k), ramp(3), ramp(7)}, *r[2];
    CHECK_EQ_I(call(f, args, 3, r), DAMO_OK);
    CHECK_NEAR(entry(r[0], 0), k ? 6 : 7, 1e-15);
    CHECK_NEAR(entry(r[1], 0), k ? 0 : 3, 1e-15);
    damo_release(r[0]), damo_release(r[1]);
    for (int i = 0; i < 3; i++) damo_release(args[i]);
  }
  damo_release(g[0]), damo_release(g[1]), damo_release(f);
  damo_var *known = build_fn3(b, "ifelse", build_scalar(b, DAMO_FLOAT64, 0), x, build_fn1(b, "neg", y));
  f = make((damo_var *[]){x, y}, 2, &known, 1, &(compile_options){.on_unused_input = UNUSED_IGNORE});
  CHECK(f != NULL && !f->program->vm.by_demand && f->program->fgraph->nodes.n == 1);
  damo_release(f);
}

static void test_types(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x"), *m = typed(b, DAMO_FLOAT64, 2, "m");
  damo_type *three = type_tensor(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}),
            *five = type_tensor(ctx, DAMO_FLOAT64, 1, (const int64_t[]){5});
  damo_var *v3 = build_take(b, var_new(ctx, three, "v3")), *v5 = build_take(b, var_new(ctx, five, "v5"));
  CHECK(build_fn3(b, "ifelse", c, v3, v5)->type->shape[0] == -1);
  CHECK(build_fn3(b, "ifelse", c, v3, v3)->type->shape[0] == 3);
  damo_var *i = typed(b, DAMO_INT32, 0, "i");
  CHECK(var_dtype(build_fn3(b, "ifelse", c, i, build_int(b, 2))) == DAMO_INT32);
  CHECK(var_dtype(build_fn3(b, "ifelse", c, i, build_num(b, 2.5))) == DAMO_FLOAT64);
  damo_release(three), damo_release(five);
  build other;
  build_init(&other, ctx);
  CHECK(build_fn3(&other, "ifelse", c, x, m) == NULL && other.status == DAMO_ETYPE && says("the branches differ"));
  build_end(&other);
  build_init(&other, ctx);
  CHECK(build_fn3(&other, "ifelse", x, x, x) == NULL && other.status == DAMO_ETYPE && says("must be a scalar"));
  build_end(&other);
}

/* ---- Lazy thunks of other kinds ---------------------------------------------------------------------------------- */

static int ask_for = 0; /* the error of the thunk below: 1: asks for an input it has; 2: for one that does not exist */
static int absent;

/* x if its first entry is positive, else y, else z: asks in three steps. */
static damo_status first_run(const thunk *t, frame *f) {
  if (ask_for == 2) return thunk_need(t, f, absent), DAMO_OK;
  for (int i = 0; i < t->n_in; i++) {
    if (!thunk_ready(t, f, i)) return thunk_need(t, f, i), DAMO_OK;
    if (ask_for == 1) return thunk_need(t, f, i), DAMO_OK;
    const damo_array *a = thunk_in(t, f, i);
    if (entry(a, 0) > 0) { return thunk_out_view(t, f, 0, a, 1, array_shape(a), array_strides(a), 0); }
  }
  return ctx_fail(f->ctx, DAMO_EVALUE, "none is positive");
}
static const op_alias view_of_three[] = {{0, 0}, {0, 1}, {0, 2}, OP_ALIAS_END};
static const op_def first_def = {.name = "FirstPositive",
                                 .n_in = 3,
                                 .infer_type = same_type,
                                 .perform = first_run,
                                 .lazy = true,
                                 .view_map = view_of_three};

static void test_steps(build *b) {
  damo_var *x = vec(b, "x"), *y = vec(b, "y"), *z = vec(b, "z");
  damo_var *in[] = {build_fn1(b, "neg", x), apply1(b, &count_def, y), apply1(b, &other_def, z)};
  damo_var *out = apply(b, &first_def, in, 3);
  damo_function *f = make((damo_var *[]){x, y, z}, 3, &out, 1, NULL);
  damo_array *args[] = {ramp(1), ramp(3), ramp(5)}, *r = NULL;
  n_runs = n_other_runs = 0;
  CHECK_NEAR(first_of(f, args, 3), 4, 0);
  CHECK(n_runs == 1 && n_other_runs == 0);
  damo_release(args[1]);
  args[1] = ramp(-9);
  CHECK_NEAR(first_of(f, args, 3), 15, 0);
  CHECK(n_runs == 2 && n_other_runs == 1);
  ask_for = 1;
  CHECK_EQ_I(call(f, args, 3, &r), DAMO_EVALUE);
  CHECK(says("asks for input 1, which it has"));
  ask_for = 2;
  for (int k = 0; k < 3; k++) {
    absent = (int[]){7, 3, -1}[k];
    CHECK_EQ_I(call(f, args, 3, &r), DAMO_EVALUE);
    CHECK(says((const char *[]){"input 8, which there is not", "input 4, which there is not",
                                "input 0, which there is not"}[k]));
  }
  ask_for = 0;
  CHECK_NEAR(first_of(f, args, 3), 15, 0);
  for (int i = 0; i < 3; i++) damo_release(args[i]);
  damo_release(f);
}

/* A value that a branch may still read is not destroyed. */
static damo_status destroy_run(const thunk *t, frame *f) {
  damo_array *x = thunk_out_inplace(t, f, 0, 0);
  if (x == NULL) return damo_error_status(f->ctx);
  for (int64_t i = 0; i < array_shape(x)[0]; i++) *(double *)(void *)(x->data + i * array_strides(x)[0]) += 100;
  return DAMO_OK;
}
static const op_alias first_of_first[] = {{0, 0}, OP_ALIAS_END};
static const op_def destroy_def = {
    .name = "Destroyer", .n_in = 1, .infer_type = same_type, .perform = destroy_run, .destroy_map = first_of_first};

static void test_destroyers(build *b) {
  damo_var *c = scalar_var(b, "c"), *x = vec(b, "x"), *e = build_fn1(b, "neg", x), *d = apply1(b, &destroy_def, e);
  damo_var *chosen = build_fn3(b, "ifelse", c, e, d), *alone = apply1(b, &destroy_def, build_fn1(b, "exp", x));
  damo_var *out[] = {d, chosen, apply1(b, &destroy_def, chosen), build_fn1(b, "sin", e), alone};
  damo_function *f = make((damo_var *[]){c, x}, 2, out, 5, NULL);
  for (int k = 0; k < 2; k++) {
    damo_array *args[] = {number(k), ramp(1)}, *r[5];
    CHECK_EQ_I(call(f, args, 2, r), DAMO_OK);
    CHECK(entry(r[0], 0) == 99 && entry(r[1], 0) == (k ? -1 : 99) && entry(r[2], 0) == (k ? 99 : 199));
    CHECK_NEAR(entry(r[3], 0), sin(-1), 1e-15);
    CHECK_NEAR(entry(r[4], 0), 100 + exp(1), 1e-12);
    for (int i = 0; i < 5; i++) damo_release(r[i]);
    damo_release(args[0]), damo_release(args[1]);
  }
  damo_release(f);
}

/* ---- How thunks are made ----------------------------------------------------------------------------------------- */

static char tried[64];
static damo_status c_answer;
static int n_cleared;

static damo_status note(damo_apply *node, const char *impl) {
  (void)node;
  strcat(strcat(tried, impl), " ");
  return DAMO_OK;
}
static void clear_user(const thunk *t, frame *f) {
  n_cleared++;
  mem_free(f->ctx, thunk_user(t, f), 8);
}
static damo_status user_run(const thunk *t, frame *f) { return add_run(t, f, *(double *)thunk_user(t, f)); }
static damo_status make_one(const thunk *t, frame *f, const thunk_request *how) {
  if (strcmp(how->impl, "c") == 0)
    return c_answer == DAMO_OK ? thunk_make_default(t, f, how) : ctx_fail(f->ctx, c_answer, "no");
  double *user = mem_alloc(f->ctx, sizeof *user);
  if (user == NULL) return DAMO_EMEMORY;
  *user = 0.5;
  thunk_set_user(t, f, user, clear_user);
  thunk_set_run(t, f, user_run);
  return DAMO_OK;
}
static const op_def made_def = {.name = "Made",
                                .n_in = 1,
                                .infer_type = same_type,
                                .perform = count_run,
                                .prepare_node = note,
                                .make_thunk = make_one,
                                .impure = true};
static const op_def lua_def = {
    .name = "InLua", .n_in = 1, .infer_type = same_type, .perform_lua = count_run, .prepare_node = note};
static const op_def none_def = {.name = "Neither", .n_in = 1, .infer_type = same_type, .prepare_node = note};

static void test_makers(build *b) {
  damo_var *x = vec(b, "x"), *out = apply1(b, &made_def, x);
  struct {
    damo_status answer;
    const char *tried;
    double expect;
  } cases[] = {{DAMO_OK, "c ", 2}, {DAMO_ENOT_IMPLEMENTED, "c lua ", 1.5}, {DAMO_EVALUE, "c ", NAN}};
  for (int k = 0; k < 3; k++) {
    c_answer = cases[k].answer;
    tried[0] = '\0';
    in_spec in = {.var = x};
    out_spec o = {.var = out};
    damo_function *f = compile_function(ctx, &in, 1, &o, 1, NULL);
    CHECK_EQ_S(tried, cases[k].tried);
    CHECK((f != NULL) == (k < 2));
    if (f == NULL) {
      CHECK_EQ_I(damo_error_status(ctx), DAMO_EVALUE);
      CHECK_EQ_S(damo_error_op(ctx), "Made");
      continue;
    }
    damo_array *a = ramp(1);
    n_cleared = 0;
    CHECK_NEAR(first_of(f, &a, 1), cases[k].expect, 0);
    damo_release(a), damo_release(f);
    CHECK_EQ_I(n_cleared, k == 1);
  }
  tried[0] = '\0';
  damo_var *in_lua = apply1(b, &lua_def, x), *neither = apply1(b, &none_def, x);
  damo_function *f = make(&x, 1, &in_lua, 1, NULL);
  CHECK_EQ_S(tried, "lua ");
  damo_release(f);
  in_spec in = {.var = x};
  out_spec o = {.var = neither};
  CHECK(compile_function(ctx, &in, 1, &o, 1, NULL) == NULL && damo_error_status(ctx) == DAMO_ENOT_IMPLEMENTED);
}

/* An Op with a bug: it adds the value that its cell holds from the previous call. */
static damo_status leak_run(const thunk *t, frame *f) {
  const damo_array *old = (const damo_array *)thunk_result(t, f, 0);
  double add = old != NULL ? entry(old, 0) : 0;
  if (old != NULL) thunk_set_out(t, f, 0, NULL);
  return add_run(t, f, add);
}
static const op_def leak_def = {.name = "Leak", .n_in = 1, .infer_type = same_type, .perform = leak_run};

static void test_no_recycling(build *b) {
  damo_var *x = vec(b, "x"), *leak = apply1(b, &leak_def, x), *out = build_fn1(b, "neg", leak);
  damo_array *a = ramp(1);
  for (int k = 0; k < 2; k++) {
    compile_options o = {.no_recycling = &leak, .n_no_recycling = k, .optimizer = "none"};
    damo_function *f = make(&x, 1, &out, 1, &o), *g = function_copy(f);
    CHECK_NEAR(first_of(f, &a, 1), -1, 0);
    CHECK_NEAR(first_of(f, &a, 1), k ? -1 : -2, 0);
    CHECK_NEAR(first_of(g, &a, 1), -1, 0);
    CHECK_NEAR(first_of(g, &a, 1), k ? -1 : -2, 0);
    damo_release(f), damo_release(g);
  }
  damo_release(a);
}

int main(void) {
  in_context(test_only_one_branch);
  in_context(test_shared_parts);
  in_context(test_nested);
  in_context(test_waiting_conditions);
  in_context(test_many_choices);
  in_context(test_one_condition);
  in_context(test_deep);
  in_context(test_warm);
  in_context(test_error);
  in_context(test_derivatives);
  in_context(test_types);
  in_context(test_steps);
  in_context(test_destroyers);
  in_context(test_makers);
  in_context(test_no_recycling);
  TEST_MAIN_END;
}
