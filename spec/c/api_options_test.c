/* api_options_test: options that damo.h takes as structs (of op functions, gradients and Functions); random streams;
 * results written into the host's objects. */
#include "damo.h"
#include "test.h"
#include "grad/grad.h"

static damo_ctx *ctx;

static bool fails_with(bool failed, damo_status status, const char *words) {
  const bool ok = CHECK(failed && damo_error_status(ctx) == status && strstr(damo_error_message(ctx), words) != NULL);
  if (!ok) fprintf(stderr, "    %s: %s\n", damo_error_kind(ctx), damo_error_message(ctx));
  return ok;
}

static void release_all(void *const *at, size_t n) {
  for (size_t i = 0; i < n; i++) damo_release(at[i]);
}
#define RELEASE(...) release_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

static damo_var *input(int ndim, const char *name) {
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, ndim, NULL);
  damo_var *v = damo_var_new(ctx, t, name);
  damo_release(t);
  return v;
}

static damo_array *vector(int64_t n, const double *at) { return damo_array_from(ctx, DAMO_FLOAT64, 1, &n, at); }
static const double *data(const damo_array *a) { return damo_array_data(a); }

/* The value of a Variable without inputs. */
static damo_array *value_of(damo_var *v) {
  damo_array *out = NULL;
  damo_function *f = damo_compile(ctx, NULL, 0, &v, 1, NULL, NULL, 0, NULL);
  if (f != NULL) damo_function_call(f, NULL, 0, &out);
  damo_release(f);
  return out;
}

/* ---- Options of op functions ------------------------------------------------------------------------------------- */

#define CALL(func, x, ...)                                              \
  damo_call_props(ctx, func, &(x), 1, (const damo_prop[]){__VA_ARGS__}, \
                  (int)(sizeof((damo_prop[]){__VA_ARGS__}) / sizeof(damo_prop)))

static void test_props(void) {
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 3}, (const double[]){1, 2, 3, 4, 5, 6});
  damo_array *three = damo_array_from(ctx, DAMO_INT64, 0, NULL, (const int64_t[]){3}),
             *two = damo_array_from(ctx, DAMO_INT64, 0, NULL, (const int64_t[]){2});
  damo_var *x = damo_constant(ctx, a), *lengths[2] = {damo_constant(ctx, three), damo_constant(ctx, two)};
  const int64_t shape[2] = {3, 2}, both[2] = {1, -1};
  damo_var *r[] = {
      CALL("sum", x, damo_prop_int("axis", 1), damo_prop_bool("keepdims", true)),
      CALL("sum", x, damo_prop_ints("axis", both, 2), damo_prop_string("dtype", "float64")),
      CALL("reshape", x, damo_prop_ints("shape", shape, 2)),
      CALL("reshape", x, damo_prop_vars("shape", lengths, 2)),
      CALL("sum", x, damo_prop_int("axis", 2), damo_prop_string("dtype", NULL)),
  };
  CHECK(r[4] == NULL && strstr(damo_error_message(ctx), "sum: dtype is NULL") != NULL);
  damo_array *out[4];
  for (int i = 0; i < 4; i++) out[i] = r[i] != NULL ? value_of(r[i]) : NULL;
  if (CHECK(out[0] && out[1] && out[2] && out[3])) {
    CHECK(damo_array_ndim(out[0]) == 2 && data(out[0])[2] == 9);
    CHECK(damo_array_ndim(out[1]) == 0 && data(out[1])[0] == 21);
    CHECK(damo_array_shape(out[2])[0] == 3 && damo_array_shape(out[3])[1] == 2);
  }
  /* an option of kind nil counts as absent; a number option may be an integer */
  damo_var *plain = CALL("sum", x, {.name = "axis", .kind = DAMO_PROP_NIL});
  damo_var *close = damo_call_props(ctx, "isclose", (damo_var *[]){x, x}, 2,
                                    (const damo_prop[]){damo_prop_int("rtol", 1), damo_prop_number("atol", 0.5)}, 2);
  CHECK(plain != NULL && close != NULL);
  fails_with(CALL("sum", x, damo_prop_int("axes", 1)) == NULL, DAMO_EVALUE, "sum: unknown option 'axes'; there are");
  fails_with(CALL("sum", x, damo_prop_string("axis", "1")) == NULL, DAMO_ETYPE,
             "sum: option 'axis' must be an integer or a list of integers");
  fails_with(CALL("sum", x, damo_prop_var("axis", x)) == NULL, DAMO_ETYPE, "option 'axis' must be");
  fails_with(CALL("reshape", x, damo_prop_number("shape", 6)) == NULL, DAMO_ETYPE, "option 'shape' must be");
  fails_with(CALL("reshape", x, damo_prop_ints("shape", shape, 99)) == NULL, DAMO_EVALUE, "too many entries");
  fails_with(CALL("reshape", x, damo_prop_ints("shape", shape, -1)) == NULL, DAMO_EVALUE, "is -1");
  fails_with(CALL("sum", x, {.name = "axis", .kind = (damo_prop_kind)99}) == NULL, DAMO_EVALUE, "kind 99");
  fails_with(CALL("exp", x, damo_prop_int("axis", 1)) == NULL, DAMO_EVALUE, "there are: none");
  RELEASE(a, three, two, x, lengths[0], lengths[1], r[0], r[1], r[2], r[3], out[0], out[1], out[2], out[3], plain,
          close);
}

/* Options as text and as a struct give the same graph. */
static void test_text_and_struct(void) {
  damo_var *x = input(2, "x"), *a = damo_call_with(ctx, "sum", &x, 1, "axis=1,2 keepdims=true");
  damo_var *b = CALL("sum", x, damo_prop_bool("keepdims", true), damo_prop_ints("axis", (const int64_t[]){1, 2}, 2));
  char *from_text = damo_debugprint(ctx, a), *from_struct = damo_debugprint(ctx, b);
  CHECK_EQ_S(from_text, from_struct);
  damo_text_free(ctx, from_text);
  damo_text_free(ctx, from_struct);
  RELEASE(x, a, b);
}

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* Calls n times a Function that draws and advances its state; stores the last value of each draw. */
static void draw(damo_function *f, int n, double *out) {
  for (int i = 0; i < n; i++) {
    damo_array *a = NULL;
    if (!CHECK(damo_function_call(f, NULL, 0, &a) == DAMO_OK)) return;
    out[i] = data(a)[3];
    damo_release(a);
  }
}

static void test_random(void) {
  const int64_t four = 4;
  const damo_prop size = damo_prop_ints("size", &four, 1);
  damo_var *state = damo_random_state(ctx, 7, "rng"), *both[2] = {NULL, NULL};
  CHECK(damo_call_all(ctx, "normal", &state, 1, &size, 1, both, 2) == DAMO_OK);
  damo_function *f = damo_compile(ctx, NULL, 0, &both[1], 1, &state, &both[0], 1, NULL);
  double first[3], again[3], resumed[2];
  draw(f, 1, first);
  damo_array *saved = damo_shared_value(state);
  CHECK(damo_array_dtype(saved) == DAMO_UINT64 && damo_array_size(saved) == 3);
  draw(f, 2, first + 1);
  CHECK(first[0] != first[1] && first[1] != first[2]);
  CHECK(damo_random_seed(state, 7) == DAMO_OK);
  draw(f, 3, again);
  CHECK(memcmp(first, again, sizeof first) == 0);
  CHECK(damo_shared_set(state, saved) == DAMO_OK);
  draw(f, 2, resumed);
  CHECK(memcmp(first + 1, resumed, sizeof resumed) == 0);
  damo_var *one[1] = {NULL}, *x = input(1, "x");
  fails_with(damo_call_all(ctx, "normal", &state, 1, &size, 1, one, 1) == DAMO_EVALUE, DAMO_EVALUE,
             "normal: gives 2 results, not 1");
  CHECK(one[0] == NULL);
  fails_with(damo_random_seed(x, 1) == DAMO_ETYPE, DAMO_ETYPE, "no generator's state");
  RELEASE(state, both[0], both[1], f, saved, x);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* y = x³ elementwise: Lop gives 3 x² v, Rop the same for a direction. */
static void test_lop_and_rop(void) {
  damo_var *x = input(1, "x"), *v = input(1, "v"), *sq = damo_call(ctx, "sqr", &x, 1);
  damo_var *y = damo_call(ctx, "mul", (damo_var *[]){sq, x}, 2), *out[2] = {NULL, NULL};
  CHECK(damo_lop(ctx, &y, 1, &x, 1, &v, &out[0]) == DAMO_OK);
  CHECK(damo_rop(ctx, &y, 1, &x, 1, &v, NULL, &out[1]) == DAMO_OK);
  damo_function *f = damo_compile(ctx, (damo_var *[]){x, v}, 2, out, 2, NULL, NULL, 0, NULL);
  damo_array *in[2] = {vector(2, (const double[]){2, 3}), vector(2, (const double[]){1, 10})}, *r[2] = {NULL, NULL};
  if (CHECK(f != NULL) && CHECK(damo_function_call(f, in, 2, r) == DAMO_OK)) {
    for (int k = 0; k < 2; k++) CHECK(data(r[k])[0] == 12 && data(r[k])[1] == 270);
  }
  RELEASE(x, v, sq, y, out[0], out[1], f, in[0], in[1], r[0], r[1]);
}

/* Over the rows of a matrix: the dot of each with itself, and x itself replaced by an equal Variable. */
static void test_vectorize(void) {
  damo_var *x = input(1, "x"), *rows = input(2, "rows"), *other = input(1, "other"), *out[2] = {NULL, NULL};
  damo_var *y = damo_call(ctx, "dot", (damo_var *[]){x, x}, 2);
  CHECK(damo_vectorize_graph(ctx, &y, 1, &x, &rows, 1, &out[0]) == DAMO_OK);
  CHECK(damo_vectorize_graph(ctx, &y, 1, &x, &other, 1, &out[1]) == DAMO_OK);
  damo_function *f = damo_compile(ctx, (damo_var *[]){rows, other}, 2, out, 2, NULL, NULL, 0, NULL);
  damo_array *m = damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 2}, (const double[]){1, 2, 3, 4});
  damo_array *in[2] = {m, vector(2, (const double[]){5, 6})}, *r[2] = {NULL, NULL};
  if (CHECK(f != NULL) && CHECK(damo_function_call(f, in, 2, r) == DAMO_OK)) {
    CHECK(data(r[0])[0] == 5 && data(r[0])[1] == 25);
    CHECK(data(r[1])[0] == 61);
  }
  damo_var *none = NULL;
  fails_with(damo_vectorize_graph(ctx, &y, 1, &rows, &x, 1, &none) == DAMO_ETYPE, DAMO_ETYPE, "rows");
  CHECK(none == NULL);
  RELEASE(x, rows, other, y, out[0], out[1], f, in[0], in[1], r[0], r[1]);
}

static void test_grad_options(void) {
  damo_var *x = input(0, "x"), *z = input(0, "z"), *sq = damo_call(ctx, "sqr", &x, 1);
  damo_var *y = damo_call(ctx, "mul", (damo_var *[]){sq, x}, 2), *g[2] = {NULL, NULL}, *both[2] = {x, z};
  fails_with(damo_grad_with(ctx, y, both, 2, NULL, g) == DAMO_EDISCONNECTED_INPUT, DAMO_EDISCONNECTED_INPUT, "z");
  damo_grad_options o = {.size = sizeof o,
                         .disconnected_inputs = DAMO_DISCONNECTED_IGNORE,
                         .return_disconnected = DAMO_RETURN_NONE,
                         .consider_constant = &sq,
                         .n_consider_constant = 1};
  CHECK(damo_grad_with(ctx, y, both, 2, &o, g) == DAMO_OK && g[0] != NULL && g[1] == NULL);
  damo_var *three = damo_number(ctx, 3), *known = NULL;
  const damo_grad_options from = {.size = sizeof from, .known_of = &sq, .known = &three, .n_known = 1};
  CHECK(damo_grad_with(ctx, NULL, &x, 1, &from, &known) == DAMO_OK); /* 3 · 2 x */
  damo_function *f = damo_compile(ctx, &x, 1, (damo_var *[]){g[0], known}, 2, NULL, NULL, 0, NULL);
  damo_array *five = damo_array_scalar(ctx, DAMO_FLOAT64, 5), *r[2] = {NULL, NULL};
  if (CHECK(f != NULL) && CHECK(damo_function_call(f, &five, 1, r) == DAMO_OK)) {
    CHECK(data(r[0])[0] == 25 && data(r[1])[0] == 30); /* x² held constant leaves x² */
  }
  o.return_disconnected = (damo_return_disconnected)9;
  fails_with(damo_grad_with(ctx, y, both, 2, &o, g) == DAMO_EVALUE, DAMO_EVALUE, "none of its values");
  RELEASE(x, z, sq, y, g[0], three, known, f, five, r[0], r[1]);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static void test_compile_options(void) {
  damo_var *x = input(1, "x"), *y = input(1, "y"), *sum = damo_call(ctx, "add", (damo_var *[]){x, y}, 2);
  damo_var *twice = damo_call(ctx, "add", (damo_var *[]){x, x}, 2), *xy[2] = {x, y};
  damo_array *one = vector(2, (const double[]){1, 1}), *r = NULL;
  const bool yes[2] = {true, true};
  damo_compile_options o = {.size = sizeof o, .name = "step", .defaults = (damo_obj *[]){NULL, (damo_obj *)one}};
  damo_function *f = damo_compile_with(ctx, xy, 2, &sum, 1, &o);
  CHECK(damo_function_n_inputs(f) == 2 && damo_function_n_outputs(f) == 1);
  CHECK(damo_function_call(f, &one, 1, &r) == DAMO_OK && data(r)[1] == 2);
  damo_release(r);
  fails_with(damo_function_call(f, NULL, 0, &r) == DAMO_EMISSING_INPUT, DAMO_EMISSING_INPUT, "step: input 1 (x)");
  damo_release(f);
  /* givens: x is replaced by y + y, so it is no input */
  damo_var *yy = damo_call(ctx, "add", (damo_var *[]){y, y}, 2);
  o = (damo_compile_options){.size = sizeof o, .given = &x, .given_as = &yy, .n_givens = 1};
  f = damo_compile_with(ctx, &y, 1, &sum, 1, &o);
  CHECK(f != NULL && damo_function_call(f, &one, 1, &r) == DAMO_OK && data(r)[0] == 3);
  damo_release(r);
  damo_release(f);
  /* an unused input */
  o = (damo_compile_options){.size = sizeof o};
  fails_with(damo_compile_with(ctx, xy, 2, &twice, 1, &o) == NULL, DAMO_EUNUSED_INPUT, "y");
  o.on_unused_input = DAMO_UNUSED_IGNORE;
  f = damo_compile_with(ctx, xy, 2, &twice, 1, &o);
  CHECK(f != NULL);
  damo_release(f);
  /* A mutable input may be overwritten, and exp does so here. A borrowed result is the same array again once it was
   * released. */
  o = (damo_compile_options){.size = sizeof o, .mutable_inputs = yes};
  damo_var *e = damo_call(ctx, "exp", &x, 1), *total = damo_call(ctx, "cumsum", &e, 1);
  f = damo_compile_with(ctx, &x, 1, &total, 1, &o);
  damo_array *mine = vector(2, (const double[]){0, 1});
  CHECK(damo_function_call(f, &mine, 1, &r) == DAMO_OK && data(mine)[0] == 1);
  RELEASE(f, r, mine);
  o = (damo_compile_options){.size = sizeof o, .borrow_outputs = yes};
  f = damo_compile_with(ctx, &x, 1, &e, 1, &o);
  CHECK(damo_function_call(f, &one, 1, &r) == DAMO_OK && data(one)[0] == 1);
  const double *at = data(r);
  damo_release(r);
  CHECK(damo_function_call(f, &one, 1, &r) == DAMO_OK && data(r) == at);
  damo_array *next = NULL;
  CHECK(damo_function_call(f, &one, 1, &next) == DAMO_OK && data(next) != at); /* the host holds the previous result */
  RELEASE(f, r, next);
  /* strict: a float32 value is not converted */
  o = (damo_compile_options){.size = sizeof o, .strict_inputs = yes};
  f = damo_compile_with(ctx, &x, 1, &e, 1, &o);
  damo_array *narrow = damo_array_new(ctx, DAMO_FLOAT32, 1, (const int64_t[]){2});
  fails_with(damo_function_call(f, &narrow, 1, &r) == DAMO_ETYPE, DAMO_ETYPE, "float32");
  damo_function *copy = damo_function_copy(f);
  CHECK(damo_function_call(copy, &one, 1, &r) == DAMO_OK);
  RELEASE(r, f, copy, narrow);
  o = (damo_compile_options){.size = sizeof o, .threads = 1};
  f = damo_compile_with(ctx, &x, 1, &e, 1, &o);
  CHECK(f != NULL);
  o.threads = 2;
  damo_function *g = damo_compile_with(ctx, &x, 1, &e, 1, &o);
  CHECK(g != NULL);
  damo_release(g);
  o.threads = 1025;
  fails_with(damo_compile_with(ctx, &x, 1, &e, 1, &o) == NULL, DAMO_EVALUE, "threads is 1025");
  o.threads = -1;
  fails_with(damo_compile_with(ctx, &x, 1, &e, 1, &o) == NULL, DAMO_EVALUE, "threads is -1");
  RELEASE(f, x, y, sum, twice, one, yy, e, total);
}

/* The struct of an older header is shorter, that of a newer one longer. */
static void test_option_sizes(void) {
  damo_var *x = input(1, "x"), *e = damo_call(ctx, "exp", &x, 1);
  struct {
    damo_compile_options known;
    int64_t later[2];
  } newer = {.known = {.size = sizeof newer, .mode = "FAST_COMPILE"}};
  damo_function *f = damo_compile_with(ctx, &x, 1, &e, 1, &newer.known);
  CHECK(f != NULL);
  newer.later[1] = 1;
  fails_with(damo_compile_with(ctx, &x, 1, &e, 1, &newer.known) == NULL, DAMO_ENOT_IMPLEMENTED, "a newer damo.h");
  damo_compile_options o = {.size = offsetof(damo_compile_options, threads), .threads = 5};
  damo_function *older = damo_compile_with(ctx, &x, 1, &e, 1, &o);
  CHECK(older != NULL); /* fields past its size are not read */
  o.size = 0;
  fails_with(damo_compile_with(ctx, &x, 1, &e, 1, &o) == NULL, DAMO_EVALUE, "the options' size is 0");
  RELEASE(x, e, f, older);
}

/* Results into arrays over the host's memory: a warm call allocates nothing, and the host reads its own buffer. */
static void test_into(void) {
  const int64_t n = 100;
  double in[100], out[100];
  for (int i = 0; i < n; i++) in[i] = i, out[i] = -1;
  damo_var *x = input(1, "x"), *y = damo_call(ctx, "sqr", &x, 1), *s = damo_call(ctx, "sum", &y, 1);
  damo_function *f = damo_compile(ctx, &x, 1, (damo_var *[]){y, s}, 2, NULL, NULL, 0, NULL);
  damo_array *a = damo_array_wrap(ctx, DAMO_FLOAT64, 1, &n, NULL, in, false, NULL, NULL),
             *b = damo_array_wrap(ctx, DAMO_FLOAT64, 1, &n, NULL, out, true, NULL, NULL);
  damo_obj *args[1] = {(damo_obj *)a}, *into[2] = {(damo_obj *)b, NULL};
  CHECK(damo_function_into(f, args, 1, into) == DAMO_OK && out[99] == 99 * 99);
  in[99] = 2;
  const damo_memory_info before = damo_ctx_memory(ctx);
  CHECK(damo_function_into(f, args, 1, into) == DAMO_OK && out[99] == 4);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, before.objects);
  CHECK_EQ_I(damo_ctx_memory(ctx).bytes, before.bytes);
  /* the target is the argument too: the result is as if it were not */
  damo_array *same = damo_array_wrap(ctx, DAMO_FLOAT64, 1, &n, NULL, in, true, NULL, NULL);
  args[0] = into[0] = (damo_obj *)same;
  CHECK(damo_function_into(f, args, 1, into) == DAMO_OK && in[99] == 4 && in[3] == 9);
  damo_array *wrong = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}), *total = NULL;
  into[0] = (damo_obj *)wrong;
  fails_with(damo_function_into(f, args, 1, into) == DAMO_ESHAPE, DAMO_ESHAPE, "the array to write into");
  total = damo_array_scalar(ctx, DAMO_FLOAT64, 0);
  into[0] = NULL, into[1] = (damo_obj *)total;
  double v = 0;
  CHECK(damo_function_into(f, args, 1, into) == DAMO_OK && damo_array_item(total, &v) == DAMO_OK && v > 0);
  RELEASE(x, y, s, f, a, b, same, wrong, total);
}

/* A target matrix gets the result's pattern. */
static void test_into_sparse(void) {
  const int64_t open[2] = {-1, -1}, row[2] = {0, 1}, col[2] = {1, 0};
  damo_type *t = damo_type_sparse(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, open);
  damo_var *x = damo_var_new(ctx, t, "x"), *y = damo_call(ctx, "mul", (damo_var *[]){x, x}, 2);
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  damo_sparse *m = damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 2, 2, 2, row, col, (const double[]){3, 4});
  damo_sparse *target = damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 2, 2, 0, row, col, (const double[]){0});
  damo_obj *args[1] = {(damo_obj *)m}, *into[1] = {(damo_obj *)target};
  CHECK(f != NULL && damo_function_into(f, args, 1, into) == DAMO_OK);
  CHECK(damo_sparse_nnz(target) == 2 && data(damo_sparse_get_data(target))[1] == 16);
  RELEASE(t, x, y, f, m, target);
}

static void test_all(void) {
  test_props();
  test_text_and_struct();
  test_random();
  test_lop_and_rop();
  test_vectorize();
  test_grad_options();
  test_compile_options();
  test_option_sizes();
  test_into();
  test_into_sparse();
  damo_fail(ctx, DAMO_EIO, ""); /* releases the node that the last error refers to */
}

int main(void) {
  ctx = damo_ctx_new(NULL, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  test_all();
  const int64_t kept = damo_ctx_memory(ctx).objects; /* objects that the context keeps until it closes */
  test_all();
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, kept);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
