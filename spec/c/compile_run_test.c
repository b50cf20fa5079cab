/* compile_run_test: runs of compiled functions: warm calls without allocation, FAST_RUN against FAST_COMPILE over
 * graphs of many kinds and random ones, and deterministic compilation. */
#include "compile_case.h"
#include "op/op.h"
#include "grad/grad.h"
#include "by_name.h"

/* ---- Warm calls -------------------------------------------------------------------------------------------------- */

static damo_var *small_net(build *b, damo_var *x, damo_var *w, damo_var *u) {
  damo_var *h = build_fn1(b, "tanh", build_fn2(b, "dot", x, w)), *o = build_fn2(b, "dot", h, u);
  return build_fn1(b, "mean", build_fn1(b, "sqr", o));
}

static damo_array *filled(int64_t rows, int64_t cols, double phase) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){rows, cols});
  for (int64_t i = 0; i < rows * cols; i++) ((double *)a->data)[i] = 0.3 * sin(phase + 1.3 * (double)i);
  return a;
}

/* Training steps with results into the caller's arrays: after the first calls of a shape nothing is allocated. */
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
    if (!CHECK_EQ_I(call_into(f, &a, 1, into, r), DAMO_OK)) break;
    if (i >= 2) CHECK_EQ_I(n_allocations - before, 0); /* the second call replaces what the first one gave away */
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
  if (CHECK(run != NULL && fast != NULL) && CHECK_EQ_I(call_into(run, args, 2, NULL, r), DAMO_OK) &&
      CHECK_EQ_I(call_into(fast, args, 2, NULL, q), DAMO_OK)) {
    for (int i = 0; i < 8; i++) {
      if (!CHECK(r[i]->dtype == q[i]->dtype && array_allclose(r[i], q[i], 1e-11, 1e-12, true)))
        fprintf(stderr, "    output %d\n", i);
      damo_release(r[i]);
      damo_release(q[i]);
    }
    CHECK(run->program->vm.n_thunks <= fast->program->vm.n_thunks);
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
      CHECK_EQ_I(fgraph_check(f->program->fgraph), DAMO_OK);
      CHECK_EQ_I(graph_debugprint(ctx, (damo_var *const *)f->program->fgraph->outputs.at, 3, NULL, &text[k]), DAMO_OK);
      for (int64_t i = 0; i < f->program->vm.n_thunks; i++)
        strbuf_addf(&text[k], "%s\n", f->program->vm.thunks[i]->node->op->def->name);
    }
    RELEASE(w0, f);
  }
  CHECK_EQ_S(text[0].at, text[1].at);
  strbuf_clear(&text[0]);
  strbuf_clear(&text[1]);
}

/* ---- Random graphs ----------------------------------------------------------------------------------------------- */

static uint64_t dice;
static int roll(int n) {
  dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((dice >> 33) % (uint64_t)n);
}

/* A random node over earlier Variables, whose values stay of similar size. */
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

/* Calls three times in one mode; stores all results, and the shared values after them, in out. */
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
    ok = CHECK_EQ_I(call_into(f, args, 2, into && k == 2 ? own : NULL, r), DAMO_OK);
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
  for (int k = 0; k < 2; k++) { test_warm(&b, modes[k]); }
  test_modes(&b);
  test_determinism(&b);
  test_random_graphs(&b);
  compile_case_end(&b);
  TEST_MAIN_END;
}
