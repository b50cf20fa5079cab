/* rewrite_order_test: rules in a drawn order of nodes and rules, many times over each graph, give one result: the same
 * nodes over the same leaves, up to the order of the operands of sums and products. */
#include "api/api.h"
#include "leak_case.h"
#include "test.h"
#include "op/op.h"
#include "op/elem/scalar.h"
#include "rewrite/rewrite.h"
#include "by_name.h"

#define ORDERS 200
#define LEAVES 6

/* Leaves of a graph: vectors x y z, matrices m n, a scalar a. All are shared Variables, so that fgraphs share them. */
typedef struct leaves {
  build *b;
  damo_var *at[LEAVES];
} leaves;

enum { X, Y, Z, M, N, A };

static damo_var *f1(leaves *l, const char *f, damo_var *x) { return build_fn1(l->b, f, x); }
static damo_var *f2(leaves *l, const char *f, damo_var *x, damo_var *y) { return build_fn2(l->b, f, x, y); }
static damo_var *num(leaves *l, double v) { return build_num(l->b, v); }
static damo_var *mul(leaves *l, damo_var *x, damo_var *y) { return f2(l, "mul", x, y); }
static damo_var *add(leaves *l, damo_var *x, damo_var *y) { return f2(l, "add", x, y); }
static damo_var *sub(leaves *l, damo_var *x, damo_var *y) { return f2(l, "sub", x, y); }
static damo_var *quotient(leaves *l, damo_var *x, damo_var *y) { return f2(l, "true_div", x, y); }
static damo_var *grad_of(leaves *l, damo_var *cost, damo_var *x) {
  damo_var *g = NULL;
  if (cost == NULL || damo_grad(l->b->ctx, cost, &x, 1, &g) != DAMO_OK) return NULL;
  return build_take(l->b, g);
}

static damo_var *factors(leaves *l) {
  damo_var *x = l->at[X], *y = l->at[Y], *z = l->at[Z];
  damo_var *p = mul(l, mul(l, mul(l, z, num(l, 3)), y), mul(l, x, f1(l, "neg", l->at[A])));
  return add(l, f1(l, "exp", p), mul(l, mul(l, mul(l, x, y), z), mul(l, num(l, -2), x)));
}
static damo_var *terms(leaves *l) {
  damo_var *x = l->at[X], *y = l->at[Y],
           *s = add(l, add(l, mul(l, num(l, 2), x), add(l, y, num(l, 1))), add(l, x, num(l, 4)));
  return mul(l, f1(l, "sin", s), add(l, add(l, l->at[Z], y), add(l, x, l->at[A])));
}
static damo_var *differences(leaves *l) {
  damo_var *x = l->at[X], *y = l->at[Y];
  return sub(l, add(l, sub(l, x, f1(l, "neg", y)), num(l, 5)), sub(l, num(l, 2), mul(l, num(l, 3), f1(l, "exp", x))));
}
static damo_var *quotients(leaves *l) {
  damo_var *e = f1(l, "exp", l->at[X]), *s = add(l, num(l, 1), f1(l, "sqr", l->at[Y]));
  return quotient(l, mul(l, mul(l, l->at[Z], e), quotient(l, s, num(l, 4))), mul(l, e, s));
}
static damo_var *logistic(leaves *l) {
  damo_var *p = quotient(l, num(l, 1), add(l, num(l, 1), f1(l, "exp", f1(l, "neg", l->at[X]))));
  damo_var *u = mul(l, l->at[Y], f1(l, "log", p)),
           *v = mul(l, sub(l, num(l, 1), l->at[Y]), f1(l, "log", sub(l, num(l, 1), p)));
  return f1(l, "sum", f1(l, "neg", add(l, u, v)));
}
static damo_var *logistic_gradient(leaves *l) { return grad_of(l, logistic(l), l->at[X]); }
static damo_var *powers(leaves *l) {
  damo_var *x = l->at[X];
  return add(l, mul(l, mul(l, x, f2(l, "pow", x, num(l, 3))), f1(l, "sqr", x)),
             mul(l, f2(l, "pow", f1(l, "abs", f1(l, "neg", x)), num(l, 2)), quotient(l, l->at[Y], num(l, 2))));
}
static damo_var *inverses(leaves *l) {
  damo_var *x = l->at[X], *s = f1(l, "softplus", l->at[Y]);
  return add(l, f1(l, "log1p", f1(l, "expm1", mul(l, x, num(l, 1)))),
             mul(l, f1(l, "exp", s), f1(l, "sqr", f1(l, "sqrt", x))));
}
static damo_var *erfs(leaves *l) { return f1(l, "log", sub(l, num(l, 1), f1(l, "erf", add(l, l->at[X], num(l, 0))))); }
static damo_var *softmaxes(leaves *l) {
  damo_var *e = f1(l, "exp", l->at[X]);
  return f1(l, "log", quotient(l, e, f1(l, "sum", e)));
}
static damo_var *entropies(leaves *l) {
  damo_var *p = f1(l, "sigmoid", l->at[X]), *q = sub(l, num(l, 1), p);
  damo_var *u = mul(l, l->at[Y], f1(l, "log", p)), *v = mul(l, sub(l, num(l, 1), l->at[Y]), f1(l, "log", q));
  return grad_of(l, f1(l, "sum", add(l, u, v)), l->at[X]);
}
static damo_var *mixture(leaves *l) {
  damo_var *x = l->at[X], *e = f1(l, "exp", f1(l, "neg", f1(l, "sqr", x)));
  damo_var *s = add(l, add(l, mul(l, num(l, 0.25), e), f1(l, "exp", l->at[Y])), num(l, 2));
  return grad_of(l, f1(l, "sum", f1(l, "log", s)), x);
}
static damo_var *error_functions(leaves *l) {
  damo_var *x = l->at[X], *t = f1(l, "log", mul(l, num(l, 0.5), f1(l, "erfc", mul(l, num(l, -3), x))));
  return mul(l, l->at[Y], grad_of(l, f1(l, "sum", t), x));
}
static damo_var *log_mean_exp(leaves *l) {
  damo_var *x = l->at[X], *e = f1(l, "exp", mul(l, x, l->at[Z])), *d = quotient(l, num(l, 3), add(l, num(l, 1), e));
  return add(l, f1(l, "neg", mul(l, num(l, 2), d)), grad_of(l, f1(l, "log", f1(l, "mean", e)), x));
}
static damo_var *switches(leaves *l) {
  damo_var *x = l->at[X], *c = f2(l, "gt", x, num(l, 0));
  damo_var *u = build_fn3(l->b, "switch", c, build_fn3(l->b, "switch", c, x, l->at[Y]), l->at[Z]);
  return mul(l, u, build_fn3(l->b, "switch", f1(l, "invert", c), mul(l, x, num(l, 1)), l->at[Y]));
}
static damo_var *fills(leaves *l) {
  damo_var *x = l->at[X], *f = f2(l, "second", f1(l, "exp", x), l->at[A]);
  return add(l, mul(l, f2(l, "second", x, num(l, 2)), f1(l, "sin", x)), mul(l, f, f2(l, "second", x, num(l, 0.5))));
}
static damo_var *transposes(leaves *l) {
  damo_var *m = l->at[M], *n = l->at[N];
  damo_var *s = add(l, f1(l, "transpose", m), mul(l, num(l, 2), f1(l, "transpose", n)));
  return f1(l, "sum", f1(l, "transpose", f1(l, "exp", f1(l, "transpose", f1(l, "transpose", s)))));
}
static damo_var *dots(leaves *l) {
  damo_var *m = l->at[M], *n = l->at[N], *a = l->at[A];
  damo_var *d = build_dot(l->b, mul(l, a, m), f1(l, "neg", n)), *v = build_dot(l->b, build_dot(l->b, m, m), l->at[X]);
  return add(l, f1(l, "sum", add(l, f1(l, "transpose", d), build_dot(l->b, n, m))), f1(l, "sum", v));
}
static damo_var *updates(leaves *l) {
  damo_var *m = l->at[M], *n = l->at[N];
  return sub(l, m, mul(l, l->at[A], quotient(l, build_dot(l->b, m, n), num(l, 8))));
}
static damo_var *layer(leaves *l) {
  damo_var *h = f1(l, "sigmoid", add(l, build_dot(l->b, l->at[M], l->at[N]), l->at[X]));
  return grad_of(l, f1(l, "mean", f1(l, "sqr", sub(l, h, l->at[Y]))), l->at[N]);
}
static damo_var *second_order(leaves *l) {
  damo_var *x = l->at[X], *g = grad_of(l, f1(l, "sum", mul(l, f1(l, "sqr", x), f1(l, "exp", mul(l, x, l->at[Y])))), x);
  return g != NULL ? grad_of(l, f1(l, "sum", mul(l, g, l->at[Z])), x) : NULL;
}
static damo_var *parts(leaves *l) {
  damo_var *x = l->at[X], *two = build_int(l->b, 2), *s;
  s = add(l, f1(l, "sqr", build_index(l->b, x, 0, build_int(l->b, 1))),
          f1(l, "exp", build_index(l->b, f1(l, "exp", x), 0, two)));
  return grad_of(l, add(l, f1(l, "sum", x), s), x);
}
static damo_var *traces(leaves *l) {
  damo_var *m = l->at[M], *d = build_dot(l->b, f1(l, "exp", m), f1(l, "transpose", m));
  damo_var *row = build_index(l->b, f1(l, "transpose", mul(l, m, l->at[A])), 0, build_int(l->b, 2));
  return mul(l, f1(l, "trace", d), f1(l, "sum", f1(l, "sin", row)));
}
static damo_var *lengths(leaves *l) {
  damo_var *n = build_dim(l->b, add(l, l->at[X], f1(l, "exp", l->at[Y])), 0);
  return mul(l, f2(l, "ge", n, build_scalar(l->b, DAMO_INT64, 0)),
             f2(l, "maximum", n, build_scalar(l->b, DAMO_INT64, -1)));
}
static damo_var *logic(leaves *l) {
  damo_var *p = f2(l, "gt", l->at[X], num(l, 0)), *q = f2(l, "eq", l->at[Y], l->at[Z]);
  return f2(l, "or_", f1(l, "invert", f2(l, "and_", f1(l, "invert", q), p)), f1(l, "invert", f1(l, "invert", p)));
}

static const struct {
  const char *name;
  damo_var *(*make)(leaves *l);
} graphs[] = {{"factors", factors},
              {"terms", terms},
              {"differences", differences},
              {"quotients", quotients},
              {"logistic", logistic},
              {"gradient of logistic", logistic_gradient},
              {"powers", powers},
              {"inverses", inverses},
              {"erfs", erfs},
              {"softmaxes", softmaxes},
              {"gradient of cross entropy", entropies},
              {"gradient of a mixture", mixture},
              {"gradient of a log of erfc", error_functions},
              {"gradient of a log of a mean", log_mean_exp},
              {"switches", switches},
              {"fills", fills},
              {"transposes", transposes},
              {"dots", dots},
              {"updates", updates},
              {"layer", layer},
              {"second order", second_order},
              {"parts", parts},
              {"traces", traces},
              {"lengths", lengths},
              {"logic", logic}};

/* ---- What a graph is --------------------------------------------------------------------------------------------- */

static bool commutes(const damo_op *op) {
  const int id = (int)elemwise_scalar_id(op);
  return id == SCALAR_add || id == SCALAR_mul || id == SCALAR_and_ || id == SCALAR_or_ || id == SCALAR_eq ||
         id == SCALAR_neq;
}

static uint64_t hash_of(const map *hashes, const damo_var *v) {
  uintptr_t h = 0;
  if (v->owner != NULL && map_get(hashes, v->owner, &h)) return hash_mix((uint64_t)h, (uint64_t)v->index);
  const damo_array *a = var_constant_array(v);
  if (a == NULL) return v->id;
  return hash_bytes(hash_mix(3, (uint64_t)a->dtype), a->data, (size_t)array_size(a) * dtype_size(array_dtype(a)));
}

static uint64_t op_hash(damo_ctx *ctx, const damo_op *op) {
  strbuf text;
  strbuf_init(&text, ctx);
  op_format(&text, op);
  const uint64_t h = hash_bytes(7, text.at, text.n);
  strbuf_clear(&text);
  return h;
}

/* A hash of the graph above the output: Ops, their structure and leaves. */
static uint64_t graph_hash(const damo_fgraph *fg) {
  ptrvec nodes;
  map hashes;
  ptrvec_init(&nodes, fg->obj.ctx);
  map_init(&hashes, fg->obj.ctx);
  CHECK(fgraph_toposort(fg, &nodes) == DAMO_OK);
  for (int64_t i = 0; i < nodes.n; i++) {
    const damo_apply *node = nodes.at[i];
    uint64_t h = op_hash(fg->obj.ctx, node->op), sum = 0;
    for (int k = 0; k < node->n_in; k++) {
      const uint64_t in = hash_of(&hashes, node->in[k]);
      if (commutes(node->op))
        sum += hash_mix(5, in);
      else
        h = hash_mix(h, in);
    }
    CHECK(map_put(&hashes, node, (uintptr_t)hash_mix(h, sum)) == DAMO_OK);
  }
  const uint64_t h = hash_mix((uint64_t)nodes.n, hash_of(&hashes, fg->outputs.at[0]));
  ptrvec_clear(&nodes);
  map_clear(&hashes);
  return h;
}

static uint64_t rewritten(damo_ctx *ctx, damo_var *out, uint64_t order, strbuf *text) {
  damo_fgraph *fg = fgraph_new(ctx, NULL, 0, &out, 1, true, NULL);
  const rewrite_query q = {.include = "fast_run", .exclude = "fusion inplace", .shuffle = order};
  uint64_t h = 0;
  if (CHECK(fg != NULL && rewrite_run(fg, &q) == DAMO_OK)) {
    h = graph_hash(fg);
    const print_options options = {.id_type = PRINT_ID_CHAR};
    CHECK(graph_debugprint(ctx, (damo_var *const *)fg->outputs.at, 1, &options, text) == DAMO_OK);
  }
  damo_release(fg);
  return h;
}

static void check_orders(damo_ctx *ctx, const char *name, damo_var *out) {
  strbuf first, other;
  int differ = 0;
  strbuf_init(&first, ctx);
  const uint64_t usual = rewritten(ctx, out, 0, &first);
  for (uint64_t k = 1; k <= ORDERS && differ == 0; k++) {
    strbuf_init(&other, ctx);
    if (rewritten(ctx, out, k * 0x9e3779b97f4a7c15ULL, &other) != usual) {
      differ++;
      fprintf(stderr, "    %s, order %d:\n%s\nnot\n%s\n", name, (int)k, other.at ? other.at : "",
              first.at ? first.at : "");
    }
    strbuf_clear(&other);
  }
  CHECK_EQ_I(differ, 0);
  strbuf_clear(&first);
}

static damo_var *leaf(damo_ctx *ctx, build *b, int ndim, const char *name) {
  const int64_t shape[2] = {4, 4};
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, ndim, shape);
  damo_type *t = type_tensor(ctx, DAMO_FLOAT64, ndim, NULL);
  damo_var *v = build_take(b, var_shared(ctx, t, (damo_obj *)a, name));
  damo_release(t);
  damo_release(a);
  return v;
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  static const int ndims[LEAVES] = {1, 1, 1, 2, 2, 0};
  static const char *const names[LEAVES] = {"x", "y", "z", "m", "n", "a"};
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
    build b;
    build_init(&b, ctx);
    leaves l = {.b = &b};
    for (int k = 0; k < LEAVES; k++) l.at[k] = leaf(ctx, &b, ndims[k], names[k]);
    damo_var *out = graphs[i].make(&l);
    if (CHECK(out != NULL))
      check_orders(ctx, graphs[i].name, out);
    else
      fprintf(stderr, "    %s: %s\n", graphs[i].name, damo_error_message(ctx));
    build_end(&b);
  }
  leak_end(ctx);
  TEST_MAIN_END;
}
