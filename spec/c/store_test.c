/* store_test: graphs as bytes: which classes files know, and bytes that lie although their sum is right. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/op.h"
#include "sparse/sparse.h"
#include "store/store_int.h"
#include "test.h"

static const store_env env = {.recipes = api_recipes};

/* Every class is found by its name; one that holds a graph is its properties, or has a recipe. */
static void test_classes(void) {
  const op_def *def;
  int n = 0;
  for (; (def = store_class_at(n)) != NULL; n++) {
    CHECK(def->name != NULL && def->recipe == NULL);
    CHECK(!def->unique && def->user == NULL);
    for (int k = 0; k < n; k++) CHECK(strcmp(def->name, store_class_at(k)->name) != 0);
    for (const op_field *f = def->props; f != NULL && f->name != NULL; f++)
      CHECK(f == def->props || strcmp(f->name, f[-1].name) != 0);
  }
  CHECK(n > 130);
}

static damo_graph *graph_of(damo_ctx *ctx, damo_var *x, damo_var *y) {
  damo_graph *g = store_graph_new(ctx, 1);
  const in_spec in = {.var = x, .name = "in", .mutable_ = true};
  const out_spec out = {.var = y};
  CHECK(g != NULL && store_set_input(g, 0, &in) == DAMO_OK && store_set_n_outputs(g, 1) == DAMO_OK);
  CHECK_EQ_I(store_set_output(g, 0, &out), DAMO_OK);
  return g;
}

static damo_graph *parse(damo_ctx *ctx, const void *bytes, size_t n) {
  const io_from from = {.path = "bytes", .bytes = bytes, .n = n};
  return store_read(ctx, &from, &env);
}

/* A graph with a loop's worth of record kinds: constants, a shared Variable, an Op that holds a graph. */
static damo_graph *rich_graph(damo_ctx *ctx) {
  const int64_t shape[] = {2};
  const double ones[] = {1, 2};
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 1, shape, ones);
  damo_type *vector = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_var *x = damo_var_new(ctx, vector, "x"), *w = damo_shared(ctx, a, "w");
  build b;
  build_init(&b, ctx);
  damo_var *inner = build_mul(&b, build_exp(&b, x), build_value(&b, damo_retain(a)));
  damo_op *op = damo_op_from_graph(ctx, &x, 1, &inner, 1, "Twice", false);
  damo_var *y = build_cast(&b, build_mul(&b, build_op(&b, op, &x, 1), w), DAMO_FLOAT32);
  damo_graph *g = graph_of(ctx, x, y);
  CHECK_EQ_I(store_add_update(g, w, build_mul(&b, w, x)), DAMO_OK);
  CHECK_EQ_I(build_end(&b), DAMO_OK);
  damo_release(vector);
  damo_release(x);
  damo_release(w);
  damo_release(a);
  return g;
}

static void sign(unsigned char *bytes, size_t n) {
  byte_writer tail = {.at = bytes + n - STORE_TAIL};
  bytes_put(&tail, bytes_check_sum(bytes, n - STORE_TAIL), 8);
}

/* Whatever stands in the bytes, reading gives a graph or an error. */
static void test_lies(damo_ctx *ctx) {
  damo_graph *g = rich_graph(ctx), *copy;
  strbuf text;
  strbuf_init(&text, ctx);
  const io_to to = {.path = "bytes", .text = &text};
  CHECK_EQ_I(store_write(g, true, &to), DAMO_OK);
  store_graph_free(g);
  unsigned char *lie = malloc(text.n);
  int read = 0, refused = 0;
  for (size_t i = STORE_HEAD; i < text.n - STORE_TAIL; i++) {
    static const unsigned char by[] = {1, 2, 4, 8, 16, 32, 64, 128, 255, 127, 3};
    for (size_t k = 0; k < sizeof by; k++) {
      memcpy(lie, text.at, text.n);
      lie[i] ^= by[k];
      sign(lie, text.n);
      ctx_clear_error(ctx);
      copy = parse(ctx, lie, text.n);
      CHECK((copy != NULL) == (damo_error_status(ctx) == DAMO_OK));
      copy != NULL ? read++ : refused++;
      store_graph_free(copy);
    }
  }
  CHECK(read > 0 && refused > 100);
  for (size_t n = STORE_HEAD + STORE_TAIL; n < text.n; n++) { /* cut, with a size and a sum that are right */
    unsigned char *cut = malloc(n);
    memcpy(cut, text.at, n);
    byte_writer size = {.at = cut + STORE_HEAD - 8};
    bytes_put(&size, n, 8);
    sign(cut, n);
    CHECK(parse(ctx, cut, n) == NULL);
    free(cut);
  }
  free(lie);
  strbuf_clear(&text);
}

/* Each allocation fails once while the graph is written and read; nothing is left behind. */
static void test_memory(damo_ctx *ctx) {
  damo_graph *g = rich_graph(ctx);
  const int64_t objects = ctx->n_objects;
  int64_t n = 0;
  for (bool done = false; !done; n++) {
    strbuf text;
    strbuf_init(&text, ctx);
    const io_to to = {.path = "bytes", .text = &text};
    ctx->fail_after = n;
    damo_status s = store_write(g, true, &to);
    damo_graph *copy = s == DAMO_OK ? parse(ctx, text.at, text.n) : NULL;
    done = ctx->fail_after >= 0 && copy != NULL;
    ctx->fail_after = -1;
    CHECK(done || damo_error_status(ctx) == DAMO_EMEMORY);
    store_graph_free(copy);
    strbuf_clear(&text);
    CHECK_EQ_I(ctx->n_objects, objects);
  }
  CHECK(n > 50);
  store_graph_free(g);
}

static damo_status triple_run(damo_thunk *t) {
  (void)t;
  return DAMO_OK;
}

static damo_status triple_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op;
  (void)n_in;
  out[0] = damo_retain(damo_var_get_type(in[0]));
  return DAMO_OK;
}

/* By damo.h: a Function's graph with its update, in another context; an Op of the host comes from there too. */
static void test_public(damo_ctx *ctx) {
  const double numbers[] = {1, 2};
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}, numbers), *got = NULL;
  damo_type *vector = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_var *x = damo_var_new(ctx, vector, "x"), *w = damo_shared(ctx, a, "w");
  damo_var *product = damo_call(ctx, "mul", (damo_var *[]){x, w}, 2), *y = damo_call(ctx, "sum", &product, 1);
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, &w, &product, 1, NULL);
  damo_graph *g = damo_graph_of_function(f);
  damo_bytes bytes = {.at = NULL};
  CHECK_EQ_I(damo_graph_format(g, true, &bytes), DAMO_OK);
  char path[] = "damo_store_XXXXXX";
  const int fd = mkstemp(path);
  close(fd);
  CHECK_EQ_I(damo_graph_write(g, path, true), DAMO_OK);
  damo_ctx *other = damo_ctx_new(NULL, NULL);
  damo_graph *copy = damo_graph_read(other, path, NULL, 0), *same = damo_graph_parse(other, bytes.at, bytes.n, NULL, 0);
  remove(path);
  damo_bytes again = {.at = NULL};
  CHECK_EQ_I(damo_graph_format(copy, true, &again), DAMO_OK);
  CHECK(again.n == bytes.n && memcmp(again.at, bytes.at, bytes.n) == 0);
  damo_bytes_free(other, &again);
  damo_graph_free(same);
  CHECK(damo_graph_size(copy, DAMO_GRAPH_UPDATED) == 1 && damo_graph_size(copy, DAMO_GRAPH_SHARED) == 1);
  damo_var *in = damo_graph_get(copy, DAMO_GRAPH_INPUTS, 0), *out = damo_graph_get(copy, DAMO_GRAPH_OUTPUTS, 0),
           *of = damo_graph_get(copy, DAMO_GRAPH_UPDATED, 0), *to = damo_graph_get(copy, DAMO_GRAPH_UPDATES, 0);
  CHECK(of == damo_graph_get(copy, DAMO_GRAPH_SHARED, 0));
  damo_function *h = damo_compile(other, &in, 1, &out, 1, &of, &to, 1, NULL);
  damo_array *arg = damo_array_from(other, DAMO_FLOAT64, 1, (const int64_t[]){2}, numbers);
  for (int k = 0; k < 2; k++) {
    CHECK_EQ_I(damo_function_call(h, &arg, 1, &got), DAMO_OK);
    double v = 0;
    CHECK_EQ_I(damo_array_item(got, &v), DAMO_OK);
    CHECK_NEAR(v, k == 0 ? 5 : 9, 0);
    damo_release(got);
  }
  damo_bytes_free(ctx, &bytes);
  damo_graph_free(g);
  damo_graph_free(copy);
  void *all[] = {a, vector, x, w, product, y, f, h, arg};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(other);
}

static void test_host_op(damo_ctx *ctx) {
  const damo_op_class k = {.name = "Triple", .n_in = 1, .infer_type = triple_type, .perform = triple_run};
  CHECK_EQ_I(damo_op_register(ctx, &k), DAMO_OK);
  damo_op *op = damo_op_make(ctx, "Triple", NULL, 0);
  damo_type *vector = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_var *x = damo_var_new(ctx, vector, "x");
  damo_apply *node = damo_op_apply(ctx, op, &x, 1);
  damo_var *y = damo_apply_get_output(node, 0);
  damo_graph *g = damo_graph_new(ctx, &x, 1, &y, 1, NULL, NULL, 0);
  damo_bytes bytes = {.at = NULL};
  CHECK_EQ_I(damo_graph_format(g, true, &bytes), DAMO_OK);
  damo_graph *copy = damo_graph_parse(ctx, bytes.at, bytes.n, NULL, 0);
  CHECK(copy != NULL);
  damo_graph_free(copy);
  damo_ctx *other = damo_ctx_new(NULL, NULL);
  CHECK(damo_graph_parse(other, bytes.at, bytes.n, NULL, 0) == NULL);
  CHECK_EQ_I(damo_error_status(other), DAMO_EVALUE);
  CHECK(strstr(damo_error_message(other), "Triple") != NULL);
  damo_ctx_release(other);
  damo_bytes_free(ctx, &bytes);
  damo_graph_free(g);
  void *all[] = {op, vector, x, node};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  test_classes();
  test_lies(ctx);
  test_memory(ctx);
  test_public(ctx);
  test_host_op(ctx);
  char census[200];
  CHECK_EQ_S(ctx_census(ctx, census, sizeof census), "");
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
