/* reproducible_test: hashes of what models, loops over time, their gradients and draws give in reproducible mode, through
 * damo.h alone, so that it can be built with the amalgamation too. The hash is the same for every instruction set, number of
 * threads and machine. Then the modes of rounding and of subnormal numbers that a host may have set. */
#include <fenv.h>
#include <stdlib.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "damo.h"
#include "scan_graphs.h"
#include "test.h"

#define HASH UINT64_C(0xbf078e78610fb969)
#define CALLS 6 /* machine code takes over from kernels after some calls */

/* ---- Hashes ------------------------------------------------------------------------------------------------------ */

static void hash_bytes(uint64_t *h, const void *p, size_t n) { /* FNV-1a */
  const unsigned char *byte = p;
  for (size_t i = 0; i < n; i++) *h = (*h ^ byte[i]) * UINT64_C(0x100000001b3);
}

/* Every nan counts as one. All machines that damo runs on have the low byte first. */
static void hash_array(uint64_t *h, const damo_array *a) {
  const int64_t n = damo_array_size(a);
  const damo_dtype dtype = damo_array_dtype(a);
  const double *d = damo_array_data(a), one_nan = -1.5e308;
  const float *f = damo_array_data(a), one_nan_f = -1.5e38f;
  if (dtype != DAMO_FLOAT64 && dtype != DAMO_FLOAT32)
    hash_bytes(h, damo_array_data(a), (size_t)n * damo_dtype_size(dtype));
  for (int64_t i = 0; i < n && dtype == DAMO_FLOAT64; i++) hash_bytes(h, d[i] == d[i] ? &d[i] : &one_nan, 8);
  for (int64_t i = 0; i < n && dtype == DAMO_FLOAT32; i++) hash_bytes(h, f[i] == f[i] ? &f[i] : &one_nan_f, 4);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Numbers between -3 and 3, exact in float32. */
static double next_number(uint64_t *s) {
  *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(*s >> 44) - 0x1p19) * (3 * 0x1p-19);
}

/* With `wide` every third has another size, and some are special. */
static damo_array *values_of(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, uint64_t seed,
                             bool wide) {
  static const double special[] = {0,    -0.0,      INFINITY,  -INFINITY,       NAN,   1,     -1,   0.5,
                                   2,    0x1p-1074, 0x1p-1022, 0x1p-149,        1e308, 709.5, -745, 88.5,
                                   -103, 1e22,      -1e15,     3.14159265358979};
  const int64_t n_special = (int64_t)(sizeof special / sizeof *special);
  damo_array *a = damo_array_new(ctx, dtype, ndim, shape);
  const int64_t n = damo_array_size(a);
  for (int64_t i = 0; i < n; i++) {
    double x = next_number(&seed);
    if (wide && i % 3 == 1) x = ldexp(x, (int)(i % 61) - 30);
    if (wide && i >= n - n_special) x = special[n - 1 - i];
    if (dtype == DAMO_FLOAT64)
      ((double *)damo_array_data(a))[i] = x;
    else
      ((float *)damo_array_data(a))[i] = (float)x;
  }
  return a;
}

/* ---- Models ------------------------------------------------------------------------------------------------------ */

/* In postfix notation: x, y, z are inputs, a number is itself, name.n{options} calls a function with n operands, "=" leaves
 * the value and goes on beside it, and n( … ) repeats. What stands on the stack at the end are the outputs. */
typedef struct model {
  const char *name, *text;
  int n_in;
  int ndim[3];
  int64_t shape[3][4];
  bool wide;     /* values of all sizes, and no gradient */
  bool gradient; /* of the sum of all outputs */
} model;

#define LONG \
  { 3001 }
static const model models[] = {
    {"exponentials", "x exp.1 x exp2.1 x expm1.1 x sigmoid.1 x softplus.1", 1, {1}, {LONG}, true, false},
    {"logarithms", "x log.1 x log1p.1 x log1mexp.1 x abs.1 log.1", 1, {1}, {LONG}, true, false},
    {"trigonometry", "x sin.1 x cos.1 x tan.1 x arcsin.1 x arccos.1 x arctan.1", 1, {1}, {LONG}, true, false},
    {"hyperbolas", "x sinh.1 x cosh.1 x tanh.1 x erf.1", 1, {1}, {LONG}, true, false},
    {"powers",
     "x y pow.2 x abs.1 y pow.2 x y arctan2.2 x y logaddexp.2 x y logaddexp2.2",
     2,
     {1, 1},
     {LONG, LONG},
     true,
     false},
    {"arithmetic",
     "x y add.2 x y sub.2 x y mul.2 x y true_div.2 x y floor_div.2 x y mod.2 x sqrt.1 x reciprocal.1",
     2,
     {1, 1},
     {LONG, LONG},
     true,
     false},
    {"choices",
     "x y maximum.2 x y minimum.2 x sign.1 x floor.1 x round_half_to_even.1 x y copysign.2 x y lt.2 x y switch.3",
     2,
     {1, 1},
     {LONG, LONG},
     true,
     false},
    {"erf", "x x 1.41421356 true_div.2 erf.1 mul.2 x exp.1 erf.1 mul.2", 1, {2}, {{61, 83}}, false, true},
    {"a chain",
     "x sin.1 y mul.2 x cos.1 exp.1 add.2 tanh.1 sigmoid.1 x sqr.1 1 add.2 log.1 mul.2",
     2,
     {2, 1},
     {{37, 211}, {211}},
     false,
     true},
    {"sums",
     "x sum.1 x sum.1{axis=1} x mean.1{axis=2} x sqr.1 sum.1{axis=2} x max.1{axis=1}",
     1,
     {2},
     {{123, 457}},
     false,
     true},
    {"variances", "x var.1{axis=1} x std.1{axis=2} x var.1", 1, {2}, {{77, 130}}, false, true},
    {"products along axes",
     "x 1000 true_div.2 1 add.2 prod.1{axis=1} x 100 true_div.2 1 add.2 cumprod.1{axis=2}",
     1,
     {2},
     {{80, 90}},
     false,
     true},
    {"running sums", "x cumsum.1{axis=2} x cumsum.1{axis=1} x diff.1", 1, {2}, {{31, 509}}, false, true},
    {"logsumexp", "x logsumexp.1 x logsumexp.1{axis=1} x logsumexp.1{axis=2}", 1, {2}, {{60, 301}}, false, true},
    {"softmax", "x softmax.1{axis=2} x mul.2 x log_softmax.1{axis=2}", 1, {2}, {{61, 103}}, false, true},
    {"dot", "x y dot.2 x z dot.2 z y dot.2 z z dot.2", 3, {2, 2, 1}, {{67, 131}, {131, 45}, {131}}, false, true},
    {"an outer product", "x y outer.2 x x dot.2", 2, {1, 1}, {{70}, {41}}, false, true},
    {"a transposed product", "x x transpose.1 dot.2 x transpose.1 x dot.2", 1, {2}, {{19, 140}}, false, true},
    {"batched products", "x y matmul.2", 2, {3, 3}, {{5, 17, 33}, {5, 33, 9}}, false, true},
    {"a layer", "x y dot.2 z add.2 tanh.1", 3, {2, 2, 1}, {{70, 40}, {40, 64}, {64}}, false, true},
    {"a loss", "x y dot.2 log_softmax.1{axis=2} neg.1 mean.1", 2, {2, 2}, {{50, 30}, {30, 11}}, false, true},
    {"a convolution", "x y nn.conv2d.2 relu", 2, {4, 4}, {{2, 3, 15, 17}, {4, 3, 3, 5}}, false, true},
    {"normalisation",
     "x x mean.1{axis=2|keepdims=true} sub.2 = sqr.1 mean.1{axis=2|keepdims=true} 0.00001 add.2 sqrt.1 true_div.2",
     1,
     {2},
     {{50, 77}},
     false,
     true},
    {"a product of a hundred", "x 100( sin.1 1.25 mul.2 )", 1, {1}, {{50}}, false, true},
    {"the logistic map", "x sigmoid.1 200( = neg.1 1 add.2 mul.2 3.75 mul.2 )", 1, {0}, {{0}}, false, true},
    {"a recurrence", "x 20( y dot.2 tanh.1 )", 2, {2, 2}, {{6, 16}, {16, 16}}, false, true},
    {"sorting", "x sort.1{axis=2} x argsort.1{axis=1}", 1, {2}, {{20, 301}}, false, false},
};
#define N_MODELS ((int)(sizeof models / sizeof *models))

#define MOST 4096
typedef struct stack {
  damo_ctx *ctx;
  damo_var *at[MOST];
  int n;
  damo_var *in[3];
} stack;

static void push(stack *s, damo_var *take) {
  if (take == NULL || s->n == MOST) {
    CHECK(take != NULL && s->n < MOST);
    printf("%s\n", damo_error_message(s->ctx));
    exit(1);
  }
  s->at[s->n++] = take;
}

static void call(stack *s, const char *name, int n, const char *options) {
  damo_var *y = damo_call_with(s->ctx, name, s->at + s->n - n, n, options);
  for (int i = 0; i < n; i++) damo_release(s->at[--s->n]);
  push(s, y);
}

/* Reads up to `)` or the end; returns what follows. */
static const char *build_text(stack *s, const char *text) {
  char word[128];
  int used;
  while (sscanf(text, " %127s%n", word, &used) == 1) {
    text += used;
    char *dot = strrchr(word, '.'), *brace = strchr(word, '{');
    if (brace != NULL) {
      *brace = 0;
      dot = strrchr(word, '.');
      brace[strlen(brace + 1)] = 0;
      for (char *p = brace + 1; *p; p++) *p = *p == '|' ? ' ' : *p;
    }
    const size_t last = strlen(word) - 1;
    if (strcmp(word, ")") == 0) return text;
    if (word[last] == '(') {
      const char *end = text;
      for (int i = atoi(word); i > 0; i--) end = build_text(s, text);
      text = end;
    } else if (strcmp(word, "=") == 0) {
      push(s, damo_retain(s->at[s->n - 1]));
    } else if (strcmp(word, "relu") == 0) {
      push(s, damo_number(s->ctx, 0));
      call(s, "maximum", 2, "");
    } else if (last == 0 && word[0] >= 'x' && word[0] <= 'z') {
      push(s, damo_retain(s->in[word[0] - 'x']));
    } else if (word[0] >= '0' && word[0] <= '9') {
      push(s, damo_number(s->ctx, atof(word)));
    } else {
      *dot = 0;
      call(s, word, dot[1] - '0', brace != NULL ? brace + 1 : "");
    }
  }
  return text;
}

/* The sum of all results, as a float. */
static damo_var *cost_of(damo_ctx *ctx, damo_var *const *results, int n) {
  damo_var *cost = NULL;
  for (int i = 0; i < n; i++) {
    damo_var *sum = damo_call(ctx, "sum", &results[i], 1), *pair[2] = {cost, sum};
    damo_var *all = cost != NULL ? damo_call(ctx, "add", pair, 2) : damo_retain(sum);
    damo_release(cost);
    damo_release(sum);
    cost = all;
  }
  return cost;
}

static void hash_calls(uint64_t *h, damo_function *f, damo_array *const *args, int n_in, int n_out) {
  damo_array *results[64];
  for (int call_number = 1; call_number <= CALLS; call_number++) {
    if (!CHECK_EQ_I(damo_function_call(f, args, n_in, results), DAMO_OK)) return;
    for (int i = 0; i < n_out; i++) {
      if (call_number == 1 || call_number == CALLS || n_in == 0) hash_array(h, results[i]);
      damo_release(results[i]);
    }
  }
}

/* What the host has set while a model is compiled and called. */
typedef enum environment { ENV_DEFAULT, ENV_FLUSH, ENV_FLUSH_UP } environment;

#ifndef FE_UPWARD /* a target without other modes */
#define FE_UPWARD FE_TONEAREST
#endif
#if defined(__SSE2__)
#define CSR_WATCHED 0xe040u /* rounding, flush-to-zero, denormals-are-zero */

static void environment_set(environment e) {
  fesetround(e == ENV_FLUSH_UP ? FE_UPWARD : FE_TONEAREST);
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | (e != ENV_DEFAULT ? 0x8040u : 0));
}
static unsigned environment_get(void) { return (_mm_getcsr() & CSR_WATCHED) | (unsigned)fegetround() << 16; }
#else
static void environment_set(environment e) { fesetround(e == ENV_FLUSH_UP ? FE_UPWARD : FE_TONEAREST); }
static unsigned environment_get(void) { return (unsigned)fegetround(); }
#endif

static uint64_t hash_model(damo_ctx *ctx, const model *m, damo_dtype dtype, int threads, environment e) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  static stack s;
  damo_array *args[3];
  s.ctx = ctx;
  s.n = 0;
  for (int i = 0; i < m->n_in; i++) {
    const int64_t any[4] = {-1, -1, -1, -1};
    args[i] = values_of(ctx, dtype, m->ndim[i], m->shape[i], (uint64_t)(i + 1) * 977, m->wide);
    damo_type *type = damo_type_tensor(ctx, dtype, m->ndim[i], any);
    s.in[i] = damo_var_new(ctx, type, NULL);
    damo_release(type);
  }
  build_text(&s, m->text);
  int n_out = s.n;
  if (m->gradient) {
    damo_var *cost = cost_of(ctx, s.at, n_out);
    if (CHECK_EQ_I(damo_grad(ctx, cost, s.in, m->n_in, s.at + n_out), DAMO_OK)) n_out = s.n += m->n_in;
    damo_release(cost);
  }
  const damo_compile_options o = {
      .size = sizeof o, .threads = threads, .reproducible = true, .on_unused_input = DAMO_UNUSED_IGNORE};
  environment_set(e);
  const unsigned set = environment_get();
  damo_function *f = damo_compile_with(ctx, s.in, m->n_in, s.at, n_out, &o);
  if (CHECK(f != NULL))
    hash_calls(&h, f, args, m->n_in, n_out);
  else
    printf("%s: %s\n", m->name, damo_error_message(ctx));
  const unsigned left = environment_get();
  environment_set(ENV_DEFAULT);
  CHECK_EQ_I(left, set);
  damo_release(f);
  while (s.n > 0) damo_release(s.at[--s.n]);
  for (int i = 0; i < m->n_in; i++) {
    damo_release(s.in[i]);
    damo_release(args[i]);
  }
  return h;
}

static uint64_t hash_draws(damo_ctx *ctx, int threads) {
  static const char *const names[] = {"normal", "uniform", "exponential", "random.gamma", "random.poisson"};
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (int k = 0; k < 5; k++) {
    const int64_t size[1] = {2003};
    const damo_prop shape = damo_prop_ints("size", size, 1);
    damo_var *next_and_draw[2],
        *operands[3] = {damo_random_state(ctx, (uint64_t)k + 7, NULL), damo_number(ctx, 0.75), damo_number(ctx, 2.5)};
    const int n = k == 2 || k == 4 ? 2 : 3;
    if (!CHECK_EQ_I(damo_call_all(ctx, names[k], operands, n, &shape, 1, next_and_draw, 2), DAMO_OK)) {
      printf("%s: %s\n", names[k], damo_error_message(ctx));
      return 0;
    }
    damo_var *out[2] = {next_and_draw[1], damo_call(ctx, "sin", &next_and_draw[1], 1)};
    const damo_compile_options o = {.size = sizeof o,
                                    .threads = threads,
                                    .reproducible = true,
                                    .shared = operands,
                                    .update = next_and_draw,
                                    .n_updates = 1};
    damo_function *f = damo_compile_with(ctx, NULL, 0, out, 2, &o);
    if (CHECK(f != NULL)) hash_calls(&h, f, NULL, 0, 2);
    damo_release(f);
    damo_release(out[1]);
    for (int i = 0; i < 2; i++) damo_release(next_and_draw[i]);
    for (int i = 0; i < 3; i++) damo_release(operands[i]);
  }
  return h;
}

/* The results of a graph with Scans, for inputs whose shapes are static. */
static uint64_t hash_scan(damo_ctx *ctx, int k, int threads) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  damo_graph *g = damo_graph_parse(ctx, scan_graphs[k].bytes, scan_graphs[k].n, NULL, 0);
  if (!CHECK(g != NULL)) {
    printf("%s: %s\n", scan_graphs[k].name, damo_error_message(ctx));
    return 0;
  }
  damo_var *in[4], *out[8];
  damo_array *args[4];
  const int n_in = (int)damo_graph_size(g, DAMO_GRAPH_INPUTS), n_out = (int)damo_graph_size(g, DAMO_GRAPH_OUTPUTS);
  for (int i = 0; i < n_in; i++) {
    in[i] = damo_graph_get(g, DAMO_GRAPH_INPUTS, i);
    const damo_type *t = damo_var_get_type(in[i]);
    args[i] = values_of(ctx, damo_type_dtype(t), damo_type_ndim(t), damo_type_shape(t), (uint64_t)(i + 1) * 331, false);
  }
  for (int i = 0; i < n_out; i++) out[i] = damo_graph_get(g, DAMO_GRAPH_OUTPUTS, i);
  const damo_compile_options o = {.size = sizeof o, .threads = threads, .reproducible = true};
  damo_function *f = damo_compile_with(ctx, in, n_in, out, n_out, &o);
  if (CHECK(f != NULL))
    hash_calls(&h, f, args, n_in, n_out);
  else
    printf("%s: %s\n", scan_graphs[k].name, damo_error_message(ctx));
  damo_release(f);
  for (int i = 0; i < n_in; i++) damo_release(args[i]);
  damo_graph_free(g);
  return h;
}

static uint64_t hash_all(int threads, bool shows) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  uint64_t all = UINT64_C(0xcbf29ce484222325);
  for (int k = 0; k < N_MODELS; k++)
    for (int d = 0; d < 2; d++) {
      const uint64_t h = hash_model(ctx, &models[k], d == 0 ? DAMO_FLOAT64 : DAMO_FLOAT32, threads, ENV_DEFAULT);
      if (shows) printf("  %016llx %s %s\n", (unsigned long long)h, models[k].name, d == 0 ? "float64" : "float32");
      hash_bytes(&all, &h, sizeof h);
    }
  for (int k = 0; k < (int)(sizeof scan_graphs / sizeof *scan_graphs); k++) {
    const uint64_t h = hash_scan(ctx, k, threads);
    if (shows) printf("  %016llx %s\n", (unsigned long long)h, scan_graphs[k].name);
    hash_bytes(&all, &h, sizeof h);
  }
  const uint64_t h = hash_draws(ctx, threads);
  if (shows) printf("  %016llx draws\n", (unsigned long long)h);
  hash_bytes(&all, &h, sizeof h);
  damo_ctx_release(ctx);
  return all;
}

/* ---- The environment of floating-point numbers ------------------------------------------------------------------- */

/* The hash of a large model, with subnormal numbers, where the host flushes these and rounds upwards. */
static void test_environment(void) {
  static const model m = {
      "",  "x 1e-300 mul.2 1e-10 mul.2 1e15 mul.2 x 0.1 mul.2 0.3 add.2 exp.1 x sum.1", 1, {2}, {{500, 400}}, false,
      true};
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  const uint64_t want = hash_model(ctx, &m, DAMO_FLOAT64, 1, ENV_DEFAULT);
  CHECK_EQ_I(hash_model(ctx, &m, DAMO_FLOAT64, 4, ENV_FLUSH), want);
  CHECK_EQ_I(hash_model(ctx, &m, DAMO_FLOAT64, 4, ENV_FLUSH_UP), want);
  damo_ctx_release(ctx);
}

static void test_refusal(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_type *type = damo_type_tensor(ctx, DAMO_FLOAT64, 2, (int64_t[]){-1, -1});
  damo_var *x = damo_var_new(ctx, type, "x"), *y = damo_call(ctx, "linalg.cholesky", &x, 1);
  const damo_compile_options o = {.size = sizeof o, .reproducible = true};
  CHECK(y != NULL && damo_compile_with(ctx, &x, 1, &y, 1, &o) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ENOT_IMPLEMENTED);
  CHECK(strstr(damo_error_message(ctx), "Cholesky") != NULL);
  damo_release(y);
  damo_release(x);
  damo_release(type);
  damo_ctx_release(ctx);
}

/* The program of the amalgamation's test has a main of its own, and kernels of one set. */
#ifdef REPRODUCIBLE_PART
#define MAIN reproducible_main
int reproducible_main(int argc, char **argv);

static bool choose_set(int k) { return k < 1; }
#else
#define MAIN main

static bool choose_set(int k) {
  static const char *const sets[] = {"sse2", "avx2", "avx512", "neon"};
  return k < 4 && setenv("DAMO_ISA", sets[k], 1) == 0;
}
#endif

int MAIN(int argc, char **argv) {
  const bool shows = argc > 1 && strcmp(argv[1], "-v") == 0;
  for (int k = 0; choose_set(k); k++) {
    for (int threads = 1; threads <= 4; threads += 3)
      CHECK_EQ_I(hash_all(threads, shows && k == 0 && threads == 1), HASH);
  }
  test_environment();
  test_refusal();
  TEST_MAIN_END;
}
