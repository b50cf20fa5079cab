/* destroy_test: Ops that overwrite inputs: the handler's refusals and order, copies where no order suffices, and random
 * graphs of destroyers and views against the same graphs without destruction. */
#include "watch_case.h"
#include "op/op.h"
#include "by_name.h"

static double *at(const damo_array *a, int64_t i) { return (double *)(void *)(a->data + i * array_strides(a)[0]); }

static damo_status destroy_run(const thunk *t, frame *f) {
  damo_array *x = thunk_out_inplace(t, f, 0, 0);
  if (x == NULL) return damo_error_status(f->ctx);
  for (int64_t i = 0; i < array_shape(x)[0]; i++) *at(x, i) = *at(x, i) * 0.5 + 3;
  return DAMO_OK;
}
/* x·0.5 + 3 + y, in place of x. */
static damo_status destroy_two_run(const thunk *t, frame *f) {
  const damo_array *y = thunk_in(t, f, 1);
  damo_array *x = thunk_out_inplace(t, f, 0, 0);
  if (x == NULL) return damo_error_status(f->ctx);
  for (int64_t i = 0; i < array_shape(x)[0]; i++) *at(x, i) = *at(x, i) * 0.5 + 3 + *at(y, i);
  return DAMO_OK;
}
static damo_status reverse_run(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  int64_t stride = -array_strides(x)[0];
  return thunk_out_view(t, f, 0, x, 1, array_shape(x), &stride, -stride * (array_shape(x)[0] - 1));
}
static const op_alias first_of_first[] = {{0, 0}, OP_ALIAS_END};
static const op_def destroy_def = {
    .name = "Destroy", .n_in = 1, .infer_type = same_type, .perform = destroy_run, .destroy_map = first_of_first};
static const op_def destroy_two_def = {.name = "DestroyTwo",
                                       .n_in = 2,
                                       .infer_type = same_type,
                                       .perform = destroy_two_run,
                                       .destroy_map = first_of_first};
static const op_def reverse_def = {
    .name = "Reverse", .n_in = 1, .infer_type = same_type, .perform = reverse_run, .view_map = first_of_first};

static damo_var *destroy(build *b, damo_var *x) { return apply1(b, &destroy_def, x); }
static damo_var *view(build *b, damo_var *x) { return apply1(b, &reverse_def, x); }

static int count_copies(const damo_function *f) {
  int n = 0;
  for (int64_t k = 0; k < f->program->vm.n_thunks; k++) {
    const char *name = elemwise_scalar(f->program->vm.thunks[k]->node->op);
    n += name != NULL && strcmp(name, "identity") == 0;
  }
  return n;
}

/* ---- The handler ------------------------------------------------------------------------------------------------- */

/* Attaches the handler to the graph of these outputs; returns its status. */
static damo_status attach(damo_var *x, damo_var *const *out, int n) {
  damo_fgraph *fg = fgraph_new(ctx, &x, 1, out, n, false, NULL);
  fg_feature *h = destroy_handler_new(ctx, NULL);
  damo_status s = fg != NULL && h != NULL ? fgraph_attach(fg, h) : DAMO_EMEMORY;
  if (s == DAMO_OK) fgraph_detach(fg, h);
  destroy_handler_free(h);
  damo_release(fg);
  return s;
}

static void test_refusals(build *b) {
  damo_var *x = vec(b, "x"), *e = build_fn1(b, "exp", x), *d = destroy(b, e), *k = build_value(b, &ramp(0)->obj);
  damo_var *sum = build_fn1(b, "sum", d);
  struct {
    damo_var *out[2];
    int n;
    const char *says; /* the expected message; NULL: no error */
  } cases[] = {
      {{sum, build_fn1(b, "neg", e)}, 2, NULL},
      {{sum, build_fn1(b, "neg", view(b, e))}, 2, NULL},
      {{destroy(b, x)}, 1, NULL},
      {{destroy(b, d)}, 1, NULL},
      {{sum, destroy(b, e)}, 2, "another node destroys too"},
      {{sum, destroy(b, view(b, e))}, 2, "another node destroys too"},
      {{destroy(b, k)}, 1, "a constant"},
      {{destroy(b, view(b, k))}, 1, "a constant"},
      {{sum, e}, 2, "an output of the graph"},
      {{sum, view(b, e)}, 2, "an output of the graph"},
      {{build_fn2(b, "add", d, e)}, 1, "still reads"},
      {{build_fn2(b, "add", d, build_fn1(b, "neg", view(b, e)))}, 1, NULL},
      {{build_fn2(b, "add", d, view(b, e))}, 1, "still reads"},
      {{apply(b, &destroy_two_def, (damo_var *[]){e, e}, 2)}, 1, "another input too"},
      {{apply(b, &destroy_two_def, (damo_var *[]){e, view(b, e)}, 2)}, 1, "another input too"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    damo_status s = attach(x, cases[i].out, cases[i].n);
    bool ok = cases[i].says == NULL ? s == DAMO_OK : s == DAMO_EINCONSISTENCY && says(cases[i].says);
    if (!CHECK(ok)) fprintf(stderr, "    case %d: %d, %s\n", (int)i, (int)s, s ? damo_error_message(ctx) : "");
  }
  x->indestructible = true;
  damo_var *out = destroy(b, x);
  CHECK_EQ_I(attach(x, &out, 1), DAMO_EINCONSISTENCY);
  CHECK(says("indestructible"));
}

/* Two destroyers, each of an input that the other one must read first. */
static void test_cycle(build *b) {
  damo_var *x = vec(b, "x"), *p = build_fn1(b, "exp", x), *q = build_fn1(b, "neg", x);
  damo_var *in[2][2] = {{p, view(b, q)}, {q, view(b, p)}};
  damo_var *out[] = {build_fn1(b, "sum", apply(b, &destroy_two_def, in[0], 2)),
                     build_fn1(b, "sum", apply(b, &destroy_two_def, in[1], 2))};
  CHECK_EQ_I(attach(x, out, 2), DAMO_EINCONSISTENCY);
  CHECK(says("still reads"));
  damo_function *f = make(&x, 1, out, 2, &(compile_options){.mode = "FAST_COMPILE"});
  damo_array *a = ramp(0), *r[2] = {NULL};
  CHECK_EQ_I(call(f, &a, 1, r), DAMO_OK);
  double one = 0, two = 0;
  for (int i = 0; i < N; i++) one += exp(i) * 0.5 + 3 - i, two += -i * 0.5 + 3 + exp(i);
  CHECK_NEAR(scalar_to_double(array_item(r[0])), one, 1e-12);
  CHECK_NEAR(scalar_to_double(array_item(r[1])), two, 1e-12);
  damo_release(r[0]), damo_release(r[1]), damo_release(a), damo_release(f);
}

/* A node destroys two inputs: only the one that others read later is copied. */
static void test_two_inputs(build *b) {
  static const op_alias both[] = {{0, 0}, {0, 1}, OP_ALIAS_END};
  static const op_def both_def = {
      .name = "DestroyBoth", .n_in = 2, .infer_type = same_type, .perform = destroy_two_run, .destroy_map = both};
  damo_var *x = vec(b, "x"), *p = build_fn1(b, "exp", x), *q = build_fn1(b, "neg", x);
  damo_var *out = build_fn2(b, "add", apply(b, &both_def, (damo_var *[]){p, q}, 2), q);
  CHECK_EQ_I(attach(x, &out, 1), DAMO_EINCONSISTENCY);
  CHECK(says("destroys its input 2"));
  damo_function *f = make(&x, 1, &out, 1, &(compile_options){.optimizer = "none"});
  damo_array *a = ramp(1);
  CHECK_EQ_I(count_copies(f), 1);
  CHECK_NEAR(first_of(f, &a, 1), exp(1) * 0.5 + 3 - 2, 1e-12);
  damo_release(a), damo_release(f);
}

/* Changes that would break the rules are undone; the order puts readers first. */
static void test_changes(build *b) {
  damo_var *x = vec(b, "x"), *e = build_fn1(b, "exp", x), *d = destroy(b, e);
  damo_var *out[] = {build_fn1(b, "sum", d), build_fn1(b, "neg", e)};
  damo_fgraph *fg = fgraph_new(ctx, &x, 1, out, 2, false, NULL);
  fg_feature *h = destroy_handler_new(ctx, NULL);
  CHECK_EQ_I(fgraph_attach(fg, h), DAMO_OK);
  ptrvec order;
  ptrvec_init(&order, ctx);
  CHECK_EQ_I(fgraph_toposort(fg, &order), DAMO_OK);
  CHECK(order.n == 4 && order.at[0] == e->owner && order.at[1] == out[1]->owner && order.at[2] == d->owner);
  order.n = 0;
  CHECK_EQ_I(fgraph_toposort_plain(fg, &order), DAMO_OK);
  CHECK(order.n == 4 && order.at[1] == d->owner);
  CHECK_EQ_I(fgraph_change_input(fg, NULL, 1, e, "test"), DAMO_EINCONSISTENCY);
  CHECK(fg->outputs.at[1] == out[1] && fgraph_check(fg) == DAMO_OK);
  CHECK_EQ_I(fgraph_replace(fg, out[1], destroy(b, e), "test"), DAMO_EINCONSISTENCY);
  CHECK(fg->outputs.at[1] == out[1] && fgraph_check(fg) == DAMO_OK && fg->nodes.n == 4);
  CHECK_EQ_I(fgraph_replace(fg, out[1], destroy(b, build_fn1(b, "neg", x)), "test"), DAMO_OK);
  fgraph_detach(fg, h);
  CHECK_EQ_I(fgraph_change_input(fg, NULL, 1, e, "test"), DAMO_OK);
  destroy_handler_free(h);
  ptrvec_clear(&order);
  damo_release(fg);
}

/* ---- The compiler ------------------------------------------------------------------------------------------------ */

/* No copy is made where an order suffices, one where none does. */
static void test_copies(build *b) {
  damo_var *x = vec(b, "x"), *e = build_fn1(b, "exp", x), *d = destroy(b, e);
  struct {
    damo_var *out[2];
    int copies;
  } cases[] = {{{build_fn1(b, "sum", d), build_fn1(b, "neg", e)}, 0},
               {{d, build_fn1(b, "neg", view(b, e))}, 0},
               {{d, e}, 1},
               {{d, view(b, e)}, 1},
               {{d, destroy(b, view(b, e))}, 1},
               {{destroy(b, x), build_fn1(b, "neg", x)}, 1},
               {{build_fn2(b, "add", d, e), d}, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    damo_function *f = make(&x, 1, cases[i].out, 2, &(compile_options){.optimizer = "none"});
    if (!CHECK_EQ_I(f != NULL ? count_copies(f) : -1, cases[i].copies)) fprintf(stderr, "    case %d\n", (int)i);
    damo_release(f);
  }
}

/* A mutable input is destroyed without a copy; one that is read-only, a default value, or passed twice is copied. */
static void test_mutable(build *b) {
  damo_var *x = vec(b, "x"), *y = vec(b, "y"), *out = build_fn2(b, "add", destroy(b, x), y);
  damo_array *preset = ramp(50);
  in_spec in[] = {{.var = x, .mutable_ = true, .value = &preset->obj}, {.var = y}};
  out_spec o = {.var = out};
  damo_function *f = compile_function(ctx, in, 2, &o, 1, NULL);
  damo_array *a = ramp(2), *c = ramp(0);
  CHECK(f != NULL && count_copies(f) == 0);
  CHECK_NEAR(first_of(f, (damo_array *[]){a, c}, 2), 4, 0);
  CHECK_NEAR(entry(a, 0), 4, 0);
  CHECK_NEAR(first_of(f, (damo_array *[]){a, a}, 2), 9, 0); /* x and y are the same array: x is copied */
  CHECK_NEAR(entry(a, 0), 4, 0);
  a->writeable = false;
  CHECK_NEAR(first_of(f, (damo_array *[]){a, c}, 2), 5, 0);
  CHECK_NEAR(entry(a, 0), 4, 0);
  CHECK_NEAR(first_of(f, (damo_array *[]){NULL, c}, 2), 28, 0);
  CHECK_NEAR(entry(preset, 0), 50, 0);
  CHECK_NEAR(first_of(f, (damo_array *[]){NULL, c}, 2), 28, 0);
  damo_release(preset), damo_release(a), damo_release(c), damo_release(f);
}

/* ---- Random graphs ----------------------------------------------------------------------------------------------- */

static uint64_t dice = 1;
static int roll(int n) {
  dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((dice >> 33) % (uint64_t)n);
}

/* Adds the same node to the graph that destroys (u) and to the one that does not (v). */
static void random_pair(build *b, damo_var **u, damo_var **v, int n) {
  int i = roll(n), j = roll(n), what = roll(5);
  if (what == 0) {
    u[n] = build_fn2(b, "add", u[i], u[j]), v[n] = build_fn2(b, "add", v[i], v[j]);
  } else if (what == 1) {
    u[n] = view(b, u[i]), v[n] = view(b, v[i]);
  } else if (what == 2) {
    u[n] = build_fn1(b, "sin", u[i]), v[n] = build_fn1(b, "sin", v[i]);
  } else {
    damo_var *half = build_fn2(b, "add", build_fn2(b, "mul", v[i], build_num(b, 0.5)), build_num(b, 3));
    u[n] = what == 3 ? destroy(b, u[i]) : apply(b, &destroy_two_def, (damo_var *[]){u[i], u[j]}, 2);
    v[n] = what == 3 ? half : build_fn2(b, "add", half, v[j]);
  }
}

static void test_random(build *outer) {
  (void)outer;
  static const char *const modes[] = {"FAST_RUN", "FAST_COMPILE", "DEBUG"};
  for (int round = 0; round < 150; round++) {
    build b;
    build_init(&b, ctx);
    dice = (uint64_t)round + 1;
    damo_var *u[20], *v[20], *out[4], *plain[4];
    u[0] = v[0] = vec(&b, "x");
    u[1] = v[1] = vec(&b, "y");
    int n = 2, size = 5 + roll(14);
    for (; n < size; n++) random_pair(&b, u, v, n);
    for (int i = 0; i < 4; i++) {
      int k = roll(n);
      out[i] = u[k], plain[i] = v[k];
    }
    compile_options o = {.mode = modes[round % 3], .on_unused_input = UNUSED_IGNORE};
    damo_function *f = make(u, 2, out, 4, &o), *g = make(v, 2, plain, 4, &(compile_options){.on_unused_input = 2});
    damo_array *args[] = {ramp(0), ramp(5)}, *r[4] = {NULL}, *s[4] = {NULL};
    bool ok = CHECK(f != NULL && g != NULL);
    for (int k = 0; k < 2 && ok; k++) {
      ok = CHECK_EQ_I(call(f, args, 2, r), DAMO_OK) && CHECK_EQ_I(call(g, args, 2, s), DAMO_OK);
      for (int i = 0; i < 4 && ok; i++) ok = CHECK(array_allclose(r[i], s[i], 1e-12, 1e-12, true));
      for (int i = 0; i < 4; i++) damo_release(r[i]), damo_release(s[i]), r[i] = s[i] = NULL;
      ok = ok && CHECK(entry(args[0], 0) == 0 && entry(args[1], 0) == 5);
    }
    if (!ok) fprintf(stderr, "    random graph %d: %s\n", round, damo_error_message(ctx));
    damo_release(args[0]), damo_release(args[1]), damo_release(f), damo_release(g);
    build_end(&b);
  }
}

int main(void) {
  in_context(test_refusals);
  in_context(test_cycle);
  in_context(test_two_inputs);
  in_context(test_changes);
  in_context(test_copies);
  in_context(test_mutable);
  in_context(test_random);
  TEST_MAIN_END;
}
