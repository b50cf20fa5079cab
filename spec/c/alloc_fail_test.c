/* alloc_fail_test: runs a program with the n-th allocation failing, for n = 1, 2, … until it passes: every failure is a
 * memory error, nothing leaks, and no shared value changes. The same under a memory cap, and with a host's allocator
 * that fails. */
#include <stdlib.h>

#include "api/api.h"
#include "test.h"

typedef struct host {
  int64_t blocks, bytes; /* outstanding */
  int64_t left;          /* allocations until one fails, -1: never */
} host;

static void *host_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  host *h = user;
  if (nsize == 0) {
    if (ptr != NULL) h->blocks--, h->bytes -= (int64_t)osize;
    free(ptr);
    return NULL;
  }
  if (h->left >= 0 && h->left-- == 0) return NULL;
  void *p = realloc(ptr, nsize);
  if (ptr == NULL) h->blocks++;
  h->bytes += (int64_t)nsize - (ptr != NULL ? (int64_t)osize : 0);
  return p;
}

/* What the program has made, so that all of it can be released wherever it stopped. */
typedef struct made {
  void *at[96];
  int n;
} made;

static void *keep(made *m, void *obj) {
  if (obj != NULL) m->at[m->n++] = obj;
  return obj;
}

static void drop(made *m) {
  while (m->n > 0) damo_release(m->at[--m->n]);
}

#define NEED(expr) \
  if ((expr) == NULL) return false

static damo_array *vector(damo_ctx *ctx, double from) {
  double at[4] = {from, from + 1, from + 2, from + 3};
  return damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){4}, at);
}

static bool holds(damo_var *s, double from) {
  const damo_array *a = (const damo_array *)s->value;
  return ((const double *)a->data)[0] == from;
}

static damo_var *op2(damo_ctx *ctx, made *m, const char *f, damo_var *x, damo_var *y) {
  return keep(m, damo_call(ctx, f, (damo_var *[]){x, y}, 2));
}
static damo_var *op1(damo_ctx *ctx, made *m, const char *f, damo_var *x) { return keep(m, damo_call(ctx, f, &x, 1)); }

/* Updates s and t; both or neither. */
static bool train(damo_ctx *ctx, made *m, damo_function *f, damo_var *s, damo_var *t, damo_array *a) {
  damo_array *r[2] = {NULL, NULL};
  for (int i = 0; i < 3; i++) {
    double before_s = ((double *)((damo_array *)s->value)->data)[0],
           before_t = ((double *)((damo_array *)t->value)->data)[0];
    if (damo_function_call(f, &a, 1, r) != DAMO_OK) {
      CHECK(holds(s, before_s) && holds(t, before_t) && r[0] == NULL && r[1] == NULL);
      return false;
    }
    CHECK(!holds(s, before_s) && !holds(t, before_t));
    keep(m, r[0]);
    keep(m, r[1]);
    r[0] = r[1] = NULL;
  }
  (void)ctx;
  return true;
}

/* True if all of it passed; else the context has the error. */
static bool program(damo_ctx *ctx, made *m, const char *mode) {
  damo_type *type;
  damo_var *x, *s, *t, *two, *y, *z, *w, *cost, *g[2] = {NULL, NULL}, *ns, *nt, *sum, *cat, *pick;
  damo_array *a, *b, *c;
  damo_function *f;
  NEED(type = keep(m, damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL)));
  NEED(x = keep(m, damo_var_new(ctx, type, "x")));
  NEED(a = keep(m, vector(ctx, 1)));
  NEED(b = keep(m, vector(ctx, 5)));
  NEED(s = keep(m, damo_shared(ctx, a, "s")));
  NEED(t = keep(m, damo_shared(ctx, b, "t")));
  NEED(two = keep(m, damo_number(ctx, 0.25)));
  NEED(y = op2(ctx, m, "mul", x, s));
  NEED(z = op2(ctx, m, "add", y, t));
  NEED(w = op1(ctx, m, "tanh", z));
  NEED(sum = op2(ctx, m, "dot", w, s));
  NEED(cat = op2(ctx, m, "concatenate", z, w));
  NEED(pick = keep(m, damo_call_with(ctx, "sum", &cat, 1, "axis=1")));
  NEED(cost = op2(ctx, m, "add", sum, pick));
  if (damo_grad(ctx, cost, (damo_var *[]){s, t}, 2, g) != DAMO_OK) return false;
  keep(m, g[0]);
  keep(m, g[1]);
  damo_var *step[2];
  NEED(step[0] = op2(ctx, m, "mul", g[0], two));
  NEED(step[1] = op2(ctx, m, "mul", g[1], two));
  NEED(ns = op2(ctx, m, "sub", s, step[0]));
  NEED(nt = op2(ctx, m, "sub", t, step[1]));
  NEED(f = keep(m, damo_compile(ctx, &x, 1, (damo_var *[]){cost, w}, 2, (damo_var *[]){s, t}, (damo_var *[]){ns, nt}, 2,
                                mode)));
  if (!train(ctx, m, f, s, t, a)) return false;
  NEED(c = keep(m, vector(ctx, 9)));
  if (damo_shared_set(s, c) != DAMO_OK) {
    CHECK(!holds(s, 9));
    return false;
  }
  char *text = damo_debugprint(ctx, g[0]);
  if (text == NULL) return false;
  CHECK(strlen(text) > 100);
  damo_text_free(ctx, text);
  damo_function *again = keep(m, function_copy(f));
  return again != NULL && function_free(f) == DAMO_OK && train(ctx, m, again, s, t, a);
}

/* The same with a sparse input whose Type has a pattern: an update of a shared one, and its indices as a constant. */
static bool patterned(damo_ctx *ctx, made *m, const char *mode) {
  damo_sparse *a, *other;
  damo_type *type;
  damo_var *x, *in, *s, *out[2];
  damo_function *f;
  damo_obj *r[2] = {NULL, NULL};
  NEED(a = keep(m, damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 2, 3, 3, (const int64_t[]){0, 0, 1},
                                        (const int64_t[]){0, 2, 1}, (const double[]){1, 2, 3})));
  NEED(other = keep(m, damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 2, 3, 3, (const int64_t[]){0, 1, 1},
                                            (const int64_t[]){0, 0, 1}, (const double[]){1, 2, 3})));
  NEED(type = keep(m, damo_type_sparse_like(a, DAMO_FLOAT64)));
  NEED(keep(m, damo_type_pattern(type)));
  NEED(x = keep(m, damo_var_new(ctx, type, "x")));
  NEED(s = keep(m, var_shared(ctx, type, (damo_obj *)a, "s")));
  NEED(in = op1(ctx, m, "sparse.neg", x));
  NEED(out[0] = op1(ctx, m, "sparse.csm_indices", in));
  NEED(out[1] = op1(ctx, m, "sparse.nnz", s));
  NEED(f = keep(m, damo_compile(ctx, &x, 1, out, 2, &s, &x, 1, mode)));
  for (int i = 0; i < 2; i++) {
    if (damo_function_call_values(f, (damo_obj *[]){(damo_obj *)a}, 1, r) != DAMO_OK) return false;
    keep(m, r[0]);
    keep(m, r[1]);
  }
  damo_status refused = damo_function_call_values(f, (damo_obj *[]){(damo_obj *)other}, 1, r);
  if (refused == DAMO_EMEMORY) return false;
  CHECK_EQ_I(refused, DAMO_EVALUE);
  return true;
}

/* Gradients and tangents of branches, whose scopes keep notes. */
static bool branches(damo_ctx *ctx, made *m) {
  damo_type *type;
  damo_var *x, *zero, *positive, *root, *part, *table, *product, *sum, *big, *run, *choice, *y, *cost, *out[2];
  damo_array *a, *r[2] = {NULL, NULL};
  damo_function *f;
  NEED(type = keep(m, damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL)));
  NEED(x = keep(m, damo_var_new(ctx, type, "x")));
  NEED(zero = keep(m, damo_number(ctx, 0)));
  NEED(positive = op2(ctx, m, "gt", x, zero));
  NEED(root = op1(ctx, m, "sqrt", x));
  NEED(part = keep(m, damo_call(ctx, "where", (damo_var *[]){positive, root, zero}, 3)));
  NEED(table = op2(ctx, m, "outer", root, x));
  NEED(product = op2(ctx, m, "dot", table, x));
  NEED(product = keep(m, damo_call(ctx, "where", (damo_var *[]){positive, product, zero}, 3)));
  NEED(sum = op1(ctx, m, "sum", x));
  NEED(big = op2(ctx, m, "gt", sum, zero));
  NEED(run = op1(ctx, m, "cumsum", x));
  NEED(choice = keep(m, damo_call(ctx, "ifelse", (damo_var *[]){big, run, root}, 3)));
  NEED(y = op2(ctx, m, "add", part, product));
  NEED(y = op2(ctx, m, "add", y, choice));
  NEED(cost = op1(ctx, m, "sum", y));
  if (damo_grad(ctx, cost, &x, 1, &out[0]) != DAMO_OK) return false;
  keep(m, out[0]);
  if (damo_rop(ctx, &y, 1, &x, 1, &x, NULL, &out[1]) != DAMO_OK) return false;
  keep(m, out[1]);
  NEED(a = keep(m, vector(ctx, -1)));
  NEED(f = keep(m, damo_compile(ctx, &x, 1, out, 2, NULL, NULL, 0, "FAST_RUN")));
  if (damo_function_call(f, &a, 1, r) != DAMO_OK) return false;
  for (int i = 0; i < 2; i++) {
    const double *at = (const double *)((damo_array *)keep(m, r[i]))->data;
    CHECK(at[0] == at[0] && at[1] == at[1] && at[2] == at[2]);
  }
  return true;
}

static damo_array *matrix(damo_ctx *ctx, int64_t rows, int64_t cols) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){rows, cols});
  for (int64_t i = 0; a != NULL && i < rows * cols; i++) ((double *)a->data)[i] = (double)(i * 7 % 11) - 5;
  return a;
}

/* A product with an epilogue, so large that it is cut into blocks of rows. A call that runs out of memory succeeds when
 * it is made again. */
static bool epilogue(damo_ctx *ctx, made *m) {
  enum { ROWS = 1200, DEPTH = 8, COLS = 64 };
  damo_type *type;
  damo_var *x, *w, *y, *out[2];
  damo_array *a[2], *r[2] = {NULL, NULL};
  damo_function *f;
  NEED(type = keep(m, damo_type_tensor(ctx, DAMO_FLOAT64, 2, NULL)));
  NEED(x = keep(m, damo_var_new(ctx, type, "x")));
  NEED(w = keep(m, damo_var_new(ctx, type, "w")));
  NEED(a[0] = keep(m, matrix(ctx, ROWS, DEPTH)));
  NEED(a[1] = keep(m, matrix(ctx, DEPTH, COLS)));
  NEED(y = op2(ctx, m, "dot", x, w));
  NEED(out[0] = op1(ctx, m, "abs", y));
  NEED(out[1] = keep(m, damo_call_with(ctx, "sum", &out[0], 1, "axis=2")));
  NEED(f = keep(m, damo_compile(ctx, (damo_var *[]){x, w}, 2, out, 2, NULL, NULL, 0, "FAST_RUN")));
  damo_status s = damo_function_call(f, a, 2, r);
  if (s != DAMO_OK) {
    if (s != DAMO_EMEMORY) return false;
    ctx->fail_after = -1;
    if (!CHECK_EQ_I(damo_function_call(f, a, 2, r), DAMO_OK)) return false;
  }
  keep(m, r[0]);
  keep(m, r[1]);
  for (int64_t i = 0; i < ROWS; i += 37) {
    double sum = 0;
    for (int64_t j = 0; j < COLS; j++) {
      double entry = 0;
      for (int64_t p = 0; p < DEPTH; p++)
        entry += ((double *)a[0]->data)[i * DEPTH + p] * ((double *)a[1]->data)[p * COLS + j];
      CHECK(((double *)r[0]->data)[i * COLS + j] == fabs(entry));
      sum += fabs(entry);
    }
    CHECK(((double *)r[1]->data)[i] == sum);
  }
  if (s != DAMO_OK) ctx_fail_memory(ctx); /* the error of the first call */
  return s == DAMO_OK;
}

/* A Function by a token: made, called, and called with operands that do not fit, whose error holds a copy of a node. */
static bool tokens(damo_ctx *ctx, made *m) {
  damo_type *type;
  damo_var *x, *s, *y, *more;
  damo_array *a, *start, *r = NULL;
  NEED(type = keep(m, damo_type_tensor(ctx, DAMO_FLOAT64, 2, NULL)));
  NEED(x = keep(m, damo_var_new(ctx, type, "x")));
  NEED(a = keep(m, matrix(ctx, 2, 3)));
  NEED(start = keep(m, matrix(ctx, 3, 2)));
  NEED(s = keep(m, damo_shared(ctx, start, "s")));
  NEED(y = op2(ctx, m, "dot", x, s));
  NEED(y = op1(ctx, m, "tanh", y));
  NEED(more = op2(ctx, m, "add", s, s));
  damo_function *f = keep(m, damo_compile(ctx, &x, 1, &y, 1, &s, &more, 1, NULL)), *g;
  char token[DAMO_TOKEN_SIZE];
  if (f == NULL || damo_function_token(f, token) != DAMO_OK) return false;
  NEED(g = keep(m, damo_from_token(ctx, token)));
  for (int i = 0; i < 2; i++) {
    if (damo_function_call(g, &a, 1, &r) != DAMO_OK) return false;
    damo_release(r);
  }
  const damo_status status = damo_function_call(g, &start, 1, &r); /* 3 × 2 by 3 × 2 */
  if (status == DAMO_EMEMORY) return false;
  CHECK_EQ_I(status, DAMO_ESHAPE);
  if (damo_error_get_node(ctx) != NULL) return true;
  ctx_fail_memory(ctx); /* the copy of the node failed, and the error stayed what it was */
  return false;
}

static host token_host = {.left = -1};

/* The same where the memory of the programs of tokens runs out. */
static void test_token_host(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  bool passed = false;
  int64_t n = 0;
  for (; n < 20000 && !passed; n++) {
    made m = {.n = 0};
    token_host.left = n;
    passed = tokens(ctx, &m);
    token_host.left = -1;
    CHECK(passed || damo_error_status(ctx) == DAMO_EMEMORY);
    drop(&m);
    ctx_clear_error(ctx);
    if (!CHECK(token_host.blocks == 0 && token_host.bytes == 0 && damo_ctx_memory(ctx).objects == 0)) break;
  }
  CHECK(passed && n > 100);
  printf("alloc_fail_test: %lld allocations for a token\n", (long long)n);
  damo_ctx_release(ctx);
}

/* Runs the program once; true if it passed. */
static bool attempt(damo_ctx *ctx, const char *mode) {
  made m = {.n = 0};
  bool passed = program(ctx, &m, mode) && patterned(ctx, &m, mode),
       memory = passed || damo_error_status(ctx) == DAMO_EMEMORY;
  if (!CHECK(memory)) fprintf(stderr, "    %s: %s\n", damo_error_kind(ctx), damo_error_message(ctx));
  drop(&m);
  return passed;
}

#define LIMIT 200000

/* In one context, which is used again after each failure. */
static void test_one_context(const char *mode) {
  host h = {.left = -1};
  damo_ctx *ctx = damo_ctx_new(host_alloc, &h);
  if (!CHECK(ctx != NULL)) return;
  CHECK(attempt(ctx, mode)); /* first makes what a context makes once and keeps */
  int64_t n = 0;
  for (; n < LIMIT; n++) {
    ctx->fail_after = n;
    bool passed = attempt(ctx, mode);
    ctx->fail_after = -1;
    ctx_clear_error(ctx);
    if (!CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0)) break;
    if (passed) break;
  }
  CHECK(n > 100 && n < LIMIT);
  printf("alloc_fail_test: %s, %lld allocations\n", mode, (long long)n);
  size_t bytes = damo_ctx_memory(ctx).bytes;
  CHECK(attempt(ctx, mode));
  CHECK_EQ_I(damo_ctx_memory(ctx).bytes, bytes);
  damo_ctx_release(ctx);
  CHECK(h.blocks == 0 && h.bytes == 0);
}

static void test_program(bool (*run)(damo_ctx *ctx, made *m)) {
  host h = {.left = -1};
  damo_ctx *ctx = damo_ctx_new(host_alloc, &h);
  bool passed = false;
  int64_t n = 0;
  for (; n < LIMIT && !passed; n++) {
    made m = {.n = 0};
    ctx->fail_after = n;
    passed = run(ctx, &m);
    ctx->fail_after = -1;
    CHECK(passed || damo_error_status(ctx) == DAMO_EMEMORY);
    drop(&m);
    ctx_clear_error(ctx);
    if (!CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0)) break;
  }
  CHECK(passed && n > 100);
  damo_ctx_release(ctx);
  CHECK(h.blocks == 0 && h.bytes == 0);
}

/* From the creation of the context on. The allocation fails in the host's allocator, or through the environment, which
 * only debug builds read. */
static void test_new_context(bool by_host) {
  int64_t n = 1;
  bool passed = false;
  for (; n < LIMIT && !passed; n++) {
    host h = {.left = by_host ? n - 1 : -1};
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    if (!by_host) setenv("DAMO_FAIL_ALLOC", text, 1);
    damo_ctx *ctx = damo_ctx_new(host_alloc, &h);
    unsetenv("DAMO_FAIL_ALLOC");
    if (ctx != NULL) passed = attempt(ctx, "FAST_RUN");
    damo_ctx_release(ctx);
    if (!CHECK(h.blocks == 0 && h.bytes == 0)) {
      fprintf(stderr, "    allocation %lld: %lld blocks, %lld bytes left\n", (long long)n, (long long)h.blocks,
              (long long)h.bytes);
      break;
    }
  }
  CHECK(passed);
}

static void test_cap(void) {
  host h = {.left = -1};
  damo_ctx *ctx = damo_ctx_new(host_alloc, &h);
  size_t base = damo_ctx_memory(ctx).bytes, birth = damo_ctx_memory(ctx).peak, cap = base + 1;
  int failures = 0;
  for (; cap < base + (64u << 20); cap += 1 + (cap - base) / 7, failures++) {
    damo_ctx_set_memory_cap(ctx, cap);
    if (attempt(ctx, "FAST_RUN")) break;
    ctx_clear_error(ctx);
    CHECK(damo_ctx_memory(ctx).objects == 0 && damo_ctx_memory(ctx).peak <= (cap > birth ? cap : birth));
  }
  CHECK(failures > 20 && cap < base + (64u << 20));
  damo_ctx_release(ctx);
  CHECK(h.blocks == 0 && h.bytes == 0);
}

int main(void) {
  CHECK_EQ_I(damo_token_set_allocator(host_alloc, &token_host), DAMO_OK);
  test_token_host();
  test_program(tokens);
  test_one_context("FAST_RUN");
  test_one_context("FAST_COMPILE");
#ifdef DAMO_DEBUG
  test_new_context(false);
#endif
  test_new_context(true);
  test_cap();
  test_program(branches);
  test_program(epilogue);
  TEST_MAIN_END;
}
