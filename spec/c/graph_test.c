/* graph_test: Types, nodes, walks, clones, FunctionGraphs, text, and the rule for weak literals. */
#include "api/api.h"
#include "op/elem/scalar.h"
#include "leak_case.h"
#include "op/op.h"
#include "test.h"
#include "by_name.h"

static damo_ctx *ctx;

static damo_var *scalar_var(const char *name) {
  damo_type *t = type_tensor(ctx, DAMO_FLOAT64, 0, NULL);
  damo_var *v = var_new(ctx, t, name);
  damo_release(t);
  return v;
}

static damo_var *typed_var(damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_type *t = type_tensor(ctx, dtype, ndim, shape);
  damo_var *v = var_new(ctx, t, NULL);
  damo_release(t);
  return v;
}

static damo_var *call1(const char *f, damo_var *x) { return damo_call(ctx, f, (damo_var *[]){x}, 1); }
static damo_var *call2(const char *f, damo_var *x, damo_var *y) { return damo_call(ctx, f, (damo_var *[]){x, y}, 2); }

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static void test_types(void) {
  damo_type *a = type_tensor(ctx, DAMO_FLOAT32, 2, (const int64_t[]){-1, 3});
  damo_type *b = type_tensor(ctx, DAMO_FLOAT32, 2, (const int64_t[]){-1, 3});
  damo_type *c = type_tensor(ctx, DAMO_FLOAT32, 2, NULL);
  damo_type *d = type_tensor(ctx, DAMO_FLOAT64, 2, NULL);
  CHECK(a == b);
  CHECK(a != c && c != d);
  CHECK(type_is_super(c, a) && !type_is_super(a, c) && type_is_compatible(a, c) && !type_is_compatible(c, d));
  char text[320];
  CHECK_EQ_S(type_format(text, sizeof text, a), "TensorType(float32, shape=(?, 3))");
  damo_type *n1 = type_null(ctx, "why"), *n2 = type_null(ctx, "why"), *n3 = type_null(ctx, "other");
  CHECK(n1 == n2 && n1 != n3);
  damo_type *g = type_generic(ctx), *r = type_random(ctx), *x = type_disconnected(ctx);
  CHECK(g != r && r != x);
  /* an interned Type is freed with its last reference, and made anew */
  int64_t live = ctx->census[OBJ_TYPE];
  damo_release(n3);
  CHECK_EQ_I(ctx->census[OBJ_TYPE], live - 1);
  n3 = type_null(ctx, "other");
  CHECK(n3 != NULL);
  CHECK(type_tensor(ctx, DAMO_FLOAT64, DAMO_MAX_NDIM + 1, NULL) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EVALUE);
  CHECK(type_tensor(ctx, (damo_dtype)99, 1, NULL) == NULL);
  damo_type *const all[] = {a, b, c, d, n1, n2, n3, g, r, x};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

static void test_filter(void) {
  damo_type *t = type_tensor(ctx, DAMO_FLOAT32, 1, (const int64_t[]){2});
  damo_array *same = damo_array_from(ctx, DAMO_FLOAT32, 1, (const int64_t[]){2}, (const float[]){1, 2});
  damo_array *wide = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}, (const double[]){1, 2});
  damo_array *small = damo_array_from(ctx, DAMO_INT16, 1, (const int64_t[]){2}, (const int16_t[]){1, 2});
  damo_array *longer = damo_array_new(ctx, DAMO_FLOAT32, 1, (const int64_t[]){3});
  damo_array *rank2 = damo_array_new(ctx, DAMO_FLOAT32, 2, (const int64_t[]){2, 1});
  filter_options plain = {0}, strict = {.strict = true}, down = {.allow_downcast = true};
  damo_obj *v = type_filter(t, &same->obj, strict);
  CHECK(v == &same->obj);
  damo_release(v);
  v = type_filter(t, &small->obj, plain);
  CHECK(v != NULL && type_is_valid(t, v));
  damo_release(v);
  CHECK(type_filter(t, &small->obj, strict) == NULL);
  CHECK(type_filter(t, &wide->obj, plain) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ETYPE);
  CHECK(strstr(damo_error_message(ctx), "float64") && strstr(damo_error_message(ctx), "float32"));
  v = type_filter(t, &wide->obj, down);
  CHECK(v != NULL && type_values_equal(t, v, &same->obj));
  damo_release(v);
  CHECK(type_filter(t, &longer->obj, plain) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ESHAPE);
  CHECK(type_filter(t, &rank2->obj, plain) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ETYPE);
  damo_type *none = type_disconnected(ctx);
  CHECK(type_filter(none, &same->obj, plain) == NULL);
  void *const all[] = {t, same, wide, small, longer, rank2, none};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static void test_ownership(void) {
  int64_t objects = ctx->n_objects;
  damo_var *x = scalar_var("x"), *y = call1("exp", x);
  CHECK(y->owner != NULL && y->owner->in[0] == x && y->owner->out[0] == y && y->index == 0);
  /* a reference to an output is one to its node, which holds its inputs */
  CHECK_EQ_I(y->owner->obj.refs, 1);
  damo_release(x);
  CHECK_EQ_S(damo_var_get_name(y->owner->in[0]), "x");
  damo_apply *node = damo_retain(y->owner);
  damo_release(y);
  CHECK_EQ_I(node->obj.refs, 1);
  CHECK(node->out[0] == y);
  damo_release(node);
  CHECK_EQ_I(ctx->n_objects, objects);
}

static void test_apply_errors(void) {
  damo_var *x = typed_var(DAMO_FLOAT64, 1, (const int64_t[]){3}), *y = typed_var(DAMO_FLOAT64, 1, (const int64_t[]){4});
  CHECK(call2("add", x, y) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ESHAPE);
  CHECK_EQ_S(damo_error_kind(ctx), "shape");
  CHECK(damo_error_op(ctx) != NULL);
  CHECK(call1("add", x) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_ETYPE);
  CHECK(call1("no_such", x) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EVALUE);
  CHECK(call2("add", x, NULL) == NULL);
  CHECK(damo_var_new(ctx, NULL, "x") == NULL);
  damo_release(x);
  damo_release(y);
}

static void test_ops_interned(void) {
  damo_op *a = elemwise_op(ctx, SCALAR_add), *b = elemwise_op(ctx, SCALAR_add), *c = elemwise_op(ctx, SCALAR_mul);
  CHECK(a == b && a != c);
  prop_value p[3] = {prop_str("cast"), prop_str("float32"), prop_nil()};
  damo_op *d = op_new(ctx, &elemwise_def, p);
  p[1] = prop_str("float64");
  damo_op *e = op_new(ctx, &elemwise_def, p);
  CHECK(d != e);
  CHECK_EQ_S(op_prop(e, "dtype")->u.s, "float64");
  CHECK_EQ_I(op_prop(e, "nothing")->kind, PROP_NIL);
  damo_op *const all[] = {a, b, c, d, e};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

static void test_walks(void) {
  damo_var *x = scalar_var("x"), *y = scalar_var("y");
  damo_var *a = call1("exp", x), *b = call2("mul", a, y), *c = call2("add", a, b);
  ptrvec v;
  ptrvec_init(&v, ctx);
  CHECK_EQ_I(graph_toposort(ctx, &c, 1, NULL, 0, &v), DAMO_OK);
  CHECK(v.n == 3 && v.at[0] == a->owner && v.at[1] == b->owner && v.at[2] == c->owner);
  v.n = 0;
  graph_toposort(ctx, &c, 1, &a, 1, &v);
  CHECK(v.n == 2 && v.at[0] == b->owner && v.at[1] == c->owner);
  v.n = 0;
  graph_inputs(ctx, &c, 1, &v);
  CHECK(v.n == 2 && v.at[0] == x && v.at[1] == y);
  v.n = 0;
  graph_ancestors(ctx, &c, 1, &v);
  CHECK_EQ_I(v.n, 5);
  v.n = 0;
  graph_ancestors(ctx, (damo_var *[]){x, x}, 2, &v);
  CHECK_EQ_I(v.n, 1);
  ptrvec_clear(&v);
  damo_var *const all[] = {x, y, a, b, c};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

static void test_clone_and_equal(void) {
  damo_var *x = scalar_var("x"), *y = scalar_var("y"), *z = scalar_var("z");
  damo_var *a = call1("exp", x), *b = call1("sin", y), *c = call2("add", a, b), *copy = NULL, *sum = NULL;
  map memo;
  map_init(&memo, ctx);
  map_put(&memo, x, (uintptr_t)z);
  CHECK_EQ_I(graph_clone(ctx, &c, 1, &memo, false, NULL, &copy), DAMO_OK);
  CHECK(copy != c && copy->owner->in[0]->owner->in[0] == z);
  CHECK(copy->owner->in[1] == b); /* Variables that depend on no key are shared */
  bool equal = false;
  graph_equal(ctx, &c, &copy, 1, &x, &z, 1, &equal);
  CHECK(equal);
  graph_equal(ctx, &c, &copy, 1, NULL, NULL, 0, &equal);
  CHECK(!equal);
  sum = call2("add", b, a);
  graph_equal(ctx, &c, &sum, 1, NULL, NULL, 0, &equal);
  CHECK(!equal);
  map_clear(&memo);
  damo_release(copy);
  CHECK_EQ_I(graph_clone(ctx, &c, 1, &memo, true, NULL, &copy), DAMO_OK);
  CHECK(copy != c && copy->owner->in[1] != b && copy->owner->in[0]->owner->in[0] == x);
  graph_equal(ctx, &c, &copy, 1, NULL, NULL, 0, &equal);
  CHECK(equal);
  map_clear(&memo);
  damo_var *const all[] = {x, y, z, a, b, c, copy, sum};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

static void test_equal_constants_and_shared_parts(void) {
  damo_array *one = damo_array_scalar(ctx, DAMO_FLOAT64, 1), *two = damo_array_scalar(ctx, DAMO_FLOAT64, 2);
  damo_var *x = scalar_var("x"), *c1 = damo_constant(ctx, one), *c2 = damo_constant(ctx, one),
           *c3 = damo_constant(ctx, two);
  damo_var *a = call2("add", x, c1), *b = call2("add", x, c2), *c = call2("add", x, c3);
  bool equal = false;
  graph_equal(ctx, &a, &b, 1, NULL, NULL, 0, &equal);
  CHECK(equal);
  graph_equal(ctx, &a, &c, 1, NULL, NULL, 0, &equal);
  CHECK(!equal);
  /* exp(x)·exp(x) with one exp is not equal to exp(x)·exp(y) with two, though the structure matches */
  damo_var *y = scalar_var("y"), *e = call1("exp", x), *f = call1("exp", y), *p = call2("mul", e, e),
           *q = call2("mul", e, f);
  graph_equal(ctx, &p, &q, 1, NULL, NULL, 0, &equal);
  CHECK(!equal);
  void *const all[] = {one, two, x, c1, c2, c3, a, b, c, y, e, f, p, q};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* ---- FunctionGraph ----------------------------------------------------------------------------------------------- */

static void test_fgraph_basics(void) {
  damo_var *x = scalar_var("x"), *y = scalar_var("y"), *a = call1("exp", x), *b = call2("mul", a, a),
           *c = call2("add", b, y);
  damo_fgraph *fg = fgraph_new(ctx, (damo_var *[]){x, y}, 2, (damo_var *[]){c, a}, 2, false, NULL);
  CHECK(fg != NULL && fg->nodes.n == 3);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  const fg_clients *u = fgraph_clients(fg, a);
  CHECK(u->n == 3 && u->at[0].node == b->owner && u->at[1].index == 1 && u->at[2].node == NULL && u->at[2].index == 1);
  damo_release(fg);
  /* changing a copy does not change the original */
  map memo;
  map_init(&memo, ctx);
  fg = fgraph_new(ctx, (damo_var *[]){x, y}, 2, &c, 1, true, &memo);
  damo_var *new_a = damo_retain(map_get_ptr(&memo, a)), *new_x = map_get_ptr(&memo, x);
  CHECK(new_a != NULL && new_a != a && new_x == fg->inputs.at[0]);
  damo_var *s = call1("sin", new_x);
  CHECK_EQ_I(fgraph_replace(fg, new_a, s, "test"), DAMO_OK);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  CHECK(fg->nodes.n == 3 && !fgraph_has_node(fg, new_a->owner) && fgraph_clients(fg, new_a) == NULL);
  CHECK(b->owner->in[0] == a);
  map_clear(&memo);
  damo_release(s);
  damo_release(new_a);
  damo_release(fg);
  CHECK(fgraph_new(ctx, (damo_var *[]){x, x}, 2, &a, 1, true, NULL) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EVALUE);
  CHECK(fgraph_new(ctx, &x, 1, &c, 1, true, NULL) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EMISSING_INPUT);
  CHECK(strstr(damo_error_message(ctx), "y") != NULL);
  damo_var *const all[] = {x, y, a, b, c};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

static void test_fgraph_refusals(void) {
  damo_var *x = scalar_var("x"), *w = scalar_var("w"), *a = call1("exp", x), *b = call1("sin", a), *c = call1("cos", b);
  damo_fgraph *fg = fgraph_new(ctx, &x, 1, &c, 1, false, NULL);
  uint64_t changes = fg->changes;
  CHECK_EQ_I(fgraph_replace(fg, a, c, NULL), DAMO_EINCONSISTENCY); /* c depends on a user of a */
  CHECK_EQ_I(fgraph_change_input(fg, a->owner, 0, b, NULL), DAMO_EINCONSISTENCY);
  damo_var *v = typed_var(DAMO_FLOAT32, 0, NULL), *m = typed_var(DAMO_FLOAT64, 2, NULL);
  CHECK_EQ_I(fgraph_replace(fg, a, v, NULL), DAMO_ETYPE);
  CHECK_EQ_I(fgraph_replace(fg, a, m, NULL), DAMO_ETYPE);
  damo_var *from_w = call1("exp", w);
  CHECK_EQ_I(fgraph_replace(fg, a, from_w, NULL), DAMO_EMISSING_INPUT);
  CHECK_EQ_I(fgraph_change_input(fg, a->owner, 1, x, NULL), DAMO_EINDEX);
  CHECK_EQ_I(fgraph_change_input(fg, from_w->owner, 0, x, NULL), DAMO_EVALUE);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  CHECK(fg->nodes.n == 3 && fg->changes == changes && a->owner->in[0] == x);
  /* all or none: the first of the two is fine */
  damo_var *s = call1("sin", x);
  CHECK_EQ_I(fgraph_replace_all(fg, (damo_var *[]){a, b}, (damo_var *[]){s, c}, 2, NULL), DAMO_EINCONSISTENCY);
  CHECK(b->owner->in[0] == a && fg->nodes.n == 3 && !fgraph_has_node(fg, s->owner));
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  /* a cycle from which no output is reached is an error too */
  CHECK_EQ_I(fgraph_replace_all(fg, (damo_var *[]){c, b}, (damo_var *[]){s, c}, 2, NULL), DAMO_EINCONSISTENCY);
  CHECK(b->owner->in[0] == a && c->owner->in[0] == b && fg->outputs.at[0] == c && fg->nodes.n == 3);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  /* a chain: a becomes s, then s becomes x */
  CHECK_EQ_I(fgraph_replace_all(fg, (damo_var *[]){a, s}, (damo_var *[]){s, x}, 2, NULL), DAMO_OK);
  CHECK(b->owner->in[0] == x && fg->nodes.n == 2);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  damo_release(fg);
  damo_var *const all[] = {x, w, a, b, c, v, m, from_w, s};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

typedef struct listener {
  int imported, pruned, changed, validated;
  damo_status import_answer, change_answer, validate_answer;
} listener;

static damo_status on_import(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg, (void)node;
  listener *l = user;
  l->imported++;
  return l->import_answer != DAMO_OK ? ctx_fail(ctx, l->import_answer, "no import") : DAMO_OK;
}
static void on_prune(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg, (void)node;
  ((listener *)user)->pruned++;
}
static damo_status on_change(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old, damo_var *now) {
  (void)fg, (void)node, (void)index, (void)old, (void)now;
  listener *l = user;
  l->changed++;
  return l->change_answer != DAMO_OK ? ctx_fail(ctx, l->change_answer, "no change") : DAMO_OK;
}
static damo_status on_validate(damo_fgraph *fg, void *user) {
  (void)fg;
  listener *l = user;
  l->validated++;
  return l->validate_answer != DAMO_OK ? ctx_fail(ctx, l->validate_answer, "not valid") : DAMO_OK;
}

static void test_fgraph_features(void) {
  damo_var *x = scalar_var("x"), *a = call1("exp", x), *b = call2("add", a, a), *s = call1("sin", x),
           *t = call1("cos", s);
  damo_fgraph *fg = fgraph_new(ctx, &x, 1, &b, 1, false, NULL);
  listener l = {0};
  fg_feature f = {.name = "listener",
                  .on_import = on_import,
                  .on_prune = on_prune,
                  .on_change_input = on_change,
                  .validate = on_validate,
                  .user = &l};
  CHECK_EQ_I(fgraph_attach(fg, &f), DAMO_OK);
  CHECK_EQ_I(fgraph_replace(fg, a, t, NULL), DAMO_OK);
  CHECK(l.imported == 2 && l.pruned == 1 && l.changed == 2 && l.validated == 1);
  /* a failure in validate, in a change or in an import leaves the graph as it was */
  damo_status *const answers[] = {&l.validate_answer, &l.change_answer, &l.import_answer};
  for (int k = 0; k < 3; k++) {
    *answers[k] = DAMO_EINCONSISTENCY;
    CHECK_EQ_I(fgraph_replace(fg, t, a, NULL), DAMO_EINCONSISTENCY);
    *answers[k] = DAMO_OK;
    CHECK(b->owner->in[0] == t && b->owner->in[1] == t && fg->nodes.n == 3 && !fgraph_has_node(fg, a->owner));
    CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
    CHECK(fgraph_clients(fg, a) == NULL && fgraph_clients(fg, t)->n == 2);
  }
  l.validate_answer = DAMO_EINCONSISTENCY; /* undoes a chain of replacements */
  CHECK_EQ_I(fgraph_replace_all(fg, (damo_var *[]){t, a}, (damo_var *[]){a, x}, 2, NULL), DAMO_EINCONSISTENCY);
  CHECK(b->owner->in[0] == t && fg->nodes.n == 3);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  fgraph_detach(fg, &f);
  CHECK_EQ_I(fgraph_replace(fg, t, a, NULL), DAMO_OK);
  CHECK_EQ_I(fg->nodes.n, 2);
  damo_release(fg);
  damo_var *const all[] = {x, a, b, s, t};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* A Variable with very many users: uses are removed in any order, and running out of memory half-way undoes the change.
 */
static void test_fgraph_many_users(void) {
  enum { N = 300 };
  damo_var *x = scalar_var("x"), *e = call1("exp", x), *out[N];
  for (int i = 0; i < N; i++) out[i] = call1(i % 2 ? "sin" : "cos", e);
  damo_fgraph *fg = fgraph_new(ctx, &x, 1, out, N, false, NULL);
  CHECK_EQ_I(fgraph_clients(fg, e)->n, N);
  for (int i = 0; i < N; i += 3) CHECK_EQ_I(fgraph_change_input(fg, out[i]->owner, 0, x, NULL), DAMO_OK);
  CHECK_EQ_I(fgraph_clients(fg, e)->n, N - N / 3);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  damo_var *s = call1("tan", x);
  int refused = 0;
  for (int n = 0; refused >= 0; n++) {
    ctx->fail_after = n;
    damo_status st = fgraph_replace(fg, e, s, NULL);
    ctx->fail_after = -1;
    if (st == DAMO_OK) break;
    refused++;
    if (!CHECK_EQ_I(st, DAMO_EMEMORY) || !CHECK_EQ_I(fgraph_check(fg), DAMO_OK)) break;
    CHECK(fgraph_clients(fg, e)->n == N - N / 3 && fgraph_clients(fg, s) == NULL && !fgraph_has_node(fg, s->owner));
  }
  CHECK(refused > 3);
  CHECK_EQ_I(fgraph_clients(fg, s)->n, N - N / 3);
  CHECK_EQ_I(fgraph_check(fg), DAMO_OK);
  damo_release(fg);
  for (int i = 0; i < N; i++) damo_release(out[i]);
  damo_release(x);
  damo_release(e);
  damo_release(s);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void check_text(const char *what, damo_var *v, const char *expect, const print_options *o) {
  strbuf out;
  strbuf_init(&out, ctx);
  damo_status s = what[0] == 'p' ? graph_pprint(ctx, v, &out) : graph_debugprint(ctx, &v, 1, o, &out);
  CHECK_EQ_I(s, DAMO_OK);
  CHECK_EQ_S(out.at, expect);
  strbuf_clear(&out);
}

static void test_text(void) {
  damo_var *x = scalar_var("x"), *y = scalar_var("y"), *e = call1("exp", x), *m = call2("mul", e, y),
           *a = call2("add", m, e);
  check_text("debug", a,
             "Elemwise{add} [id A]\n"
             " ├─ Elemwise{mul} [id B]\n"
             " │ ├─ Elemwise{exp} [id C]\n"
             " │ │ ├─ x [id D]\n"
             " │ ├─ y [id E]\n"
             " ├─ Elemwise{exp} [id C] ···\n",
             NULL);
  check_text("debug", a, "Elemwise{add} [id A]\n ├─ Elemwise{mul} [id B]\n ├─ Elemwise{exp} [id C]\n",
             &(print_options){.depth = 2});
  var_set_name(m, "named");
  check_text("debug", m, "Elemwise{mul} [id A] 'named'\n", &(print_options){.stop_on_name = true});
  check_text("debug", x, "x [id A] <TensorType(float64, shape=())>\n", &(print_options){.print_type = true});
  var_set_name(m, NULL);
  check_text("pprint", a, "exp(x) * y + exp(x)", NULL);
  damo_var *s = call2("sub", x, y), *p = call2("mul", s, s), *t = call2("sub", x, s);
  check_text("pprint", p, "(x - y) * (x - y)", NULL);
  check_text("pprint", t, "x - (x - y)", NULL);
  char text[64];
  CHECK_EQ_S(var_format(text, sizeof text, m), "Elemwise{mul}.1");
  /* a graph whose tree is exponentially large prints as one truncated line */
  damo_var *d = damo_retain(x);
  for (int i = 0; i < 60; i++) {
    damo_var *next = call2("add", d, d);
    damo_release(d);
    d = next;
  }
  strbuf out;
  strbuf_init(&out, ctx);
  CHECK_EQ_I(graph_pprint(ctx, d, &out), DAMO_OK);
  CHECK(out.n < 4000 && strstr(out.at, "…") != NULL);
  strbuf_clear(&out);
  damo_var *const all[] = {x, y, e, m, a, s, p, t, d};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

/* ---- Weak literals ----------------------------------------------------------------------------------------------- */

/* The dtype to which the literal and a strong operand are resolved; all operands must be cast to it. */
static damo_dtype resolved(damo_dtype strong, bool is_int, double value) {
  build b;
  build_init(&b, ctx);
  damo_var *x = build_take(&b, typed_var(strong, 0, NULL));
  damo_var *in[2] = {x, is_int ? build_int(&b, (int64_t)value) : build_num(&b, value)}, *out[2] = {NULL, NULL};
  damo_dtype dt = DAMO_N_DTYPES;
  if (build_resolve(&b, in, 2, true, out) == DAMO_OK) {
    dt = var_dtype(out[0]);
    CHECK(var_dtype(out[1]) == dt && !out[1]->weak);
  }
  build_end(&b);
  return dt;
}

static void test_weak_literals(void) {
  static const struct {
    damo_dtype strong;
    bool is_int;
    double value;
    damo_dtype expect;
  } cases[] = {
      {DAMO_FLOAT32, true, 2, DAMO_FLOAT32},
      {DAMO_FLOAT32, false, 2.5, DAMO_FLOAT32},
      {DAMO_FLOAT64, true, 2, DAMO_FLOAT64},
      {DAMO_INT32, false, 1.5, DAMO_FLOAT64},
      {DAMO_INT32, false, 2.0, DAMO_FLOAT64},
      {DAMO_INT8, true, 3, DAMO_INT8},
      {DAMO_INT8, true, 300, DAMO_INT16},
      {DAMO_INT8, true, 70000, DAMO_INT32},
      {DAMO_UINT8, true, -1, DAMO_INT16},
      {DAMO_UINT8, true, 255, DAMO_UINT8},
      {DAMO_UINT8, true, 256, DAMO_INT16},
      {DAMO_BOOL, true, 1, DAMO_INT8},
      {DAMO_BOOL, false, 0.5, DAMO_FLOAT64},
      {DAMO_COMPLEX64, false, 0.5, DAMO_COMPLEX64},
      {DAMO_COMPLEX64, true, 2, DAMO_COMPLEX64},
      {DAMO_FLOAT32, false, 1e300, DAMO_FLOAT64},
      {DAMO_FLOAT32, false, INFINITY, DAMO_FLOAT32},
      {DAMO_UINT64, true, 5, DAMO_UINT64},
      {DAMO_INT64, true, 5e9, DAMO_INT64},
      {DAMO_INT16, true, 40000, DAMO_INT32},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    damo_dtype got = resolved(cases[i].strong, cases[i].is_int, cases[i].value);
    if (!CHECK_EQ_I(got, cases[i].expect)) fprintf(stderr, "    case %zu\n", i);
  }
  ctx->config.floatX = DAMO_FLOAT32;
  CHECK_EQ_I(resolved(DAMO_INT32, false, 1.5), DAMO_FLOAT64); /* float32 next to int32 promotes */
  CHECK_EQ_I(resolved(DAMO_INT8, false, 1.5), DAMO_FLOAT32);
  CHECK_EQ_I(resolved(DAMO_INT8, false, 1e300), DAMO_FLOAT64);
  ctx->config.floatX = DAMO_FLOAT64;
  /* only literals */
  build b;
  build_init(&b, ctx);
  damo_var *out[2];
  CHECK_EQ_I(build_resolve(&b, (damo_var *[]){build_int(&b, 1), build_int(&b, 2)}, 2, true, out), DAMO_OK);
  CHECK(var_dtype(out[0]) == DAMO_INT64 && var_dtype(out[1]) == DAMO_INT64);
  CHECK_EQ_I(build_resolve(&b, (damo_var *[]){build_int(&b, 1), build_num(&b, 2)}, 2, true, out), DAMO_OK);
  CHECK(var_dtype(out[0]) == DAMO_FLOAT64 && var_dtype(out[1]) == DAMO_FLOAT64);
  build_end(&b);
}

/* In a failed build scope every builder returns NULL, and the end returns the first status. */
static void test_build_scope(void) {
  build b;
  build_init(&b, ctx);
  damo_var *x = build_take(&b, scalar_var("x"));
  CHECK(build_fn2(&b, "add", x, build_fn1(&b, "no_such_function", x)) == NULL);
  CHECK(build_fn1(&b, "exp", x) == NULL);
  CHECK_EQ_I(build_end(&b), DAMO_EVALUE);
}

/* Every row of the registry is found by its name, and its options by theirs. */
static void test_registry(void) {
  int64_t n = 0;
  for (const fn_signature *f; (f = func_at(ctx, n)) != NULL; n++) {
    CHECK(func_find(ctx, f->name) == f && f->func->doc != NULL && f->func->call != NULL);
    for (int i = 0; i < f->n_options; i++) CHECK(signature_option(f, f->func->options[i].name) == &f->func->options[i]);
  }
  CHECK(n > 100);
  CHECK(func_find(ctx, "nothing") == NULL);
}

typedef struct pair_options {
  prop_value first, second;
} pair_options;

typedef struct other_options {
  prop_value first;
} other_options;

static damo_status give_first(build *b, const fn_args *a, ptrvec *out) {
  const pair_options *o = FN_OPTIONS(a, pair_options);
  damo_var *x = a->in[prop_bool_or(o->second, false)];
  return x != NULL ? ptrvec_push(out, x) : ctx_fail(b->ctx, DAMO_EVALUE, "absent %g", prop_num_or(o->first, -1));
}

/* A row's operands and options are parsed when it is registered; a malformed row is an error then. */
static void test_signatures(void) {
  const op_func good[] = {{.name = "sig_test",
                           .operands = "x [y_2] zs...",
                           .options = OPTIONS(OPT(pair_options, second, OPT_BOOL), OPT(pair_options, first, OPT_NUM)),
                           .call = give_first},
                          {.name = NULL}};
  damo_ctx *own = damo_ctx_new(NULL, NULL);
  CHECK_EQ_I(funcs_register(own, good), DAMO_OK);
  const fn_signature *f = func_find(own, "sig_test");
  if (CHECK(f != NULL)) {
    CHECK(f->n_operands == 3 && f->n_required == 1 && f->list && f->n_options == 2 && f->sparse == NULL);
    CHECK(strcmp(f->operand[1].name, "y_2") == 0 && f->operand[1].optional && !f->operand[1].list);
    CHECK(strcmp(f->operand[2].name, "zs") == 0 && f->operand[2].list);
    CHECK_EQ_I(signature_option(f, "second")->place, 1);
    CHECK(signature_option(f, "third") == NULL);
  }
  CHECK_EQ_I(funcs_register(own, good), DAMO_EVALUE);
  static const char *const wrong[] = {"x  y", " x", "x ", "x... y...", "[x", "x-y", "a b c d e f g h i", "[]"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const op_func bad[] = {{.name = "bad", .operands = wrong[i], .call = give_first}, {.name = NULL}};
    CHECK_EQ_I(funcs_register(own, bad), DAMO_EVALUE);
    CHECK(func_find(own, "bad") == NULL);
  }
  const op_func twice[] = {{.name = "bad",
                            .operands = "x",
                            .options = OPTIONS(OPT(pair_options, first, OPT_INT), OPT(pair_options, first, OPT_NUM)),
                            .call = give_first},
                           {.name = NULL}};
  const op_func mixed[] = {{.name = "bad",
                            .operands = "x",
                            .options = OPTIONS(OPT(pair_options, second, OPT_INT), OPT(other_options, first, OPT_NUM)),
                            .call = give_first},
                           {.name = NULL}};
  CHECK_EQ_I(funcs_register(own, twice), DAMO_EVALUE);
  CHECK_EQ_I(funcs_register(own, mixed), DAMO_EVALUE);
  damo_ctx_release(own);
}

/* Option fields are read by name: one that is not given is nil, whatever the order of the row. */
static void test_call_options(void) {
  const op_func rows[] = {{.name = "options_test",
                           .operands = "x [y]",
                           .options = OPTIONS(OPT(pair_options, second, OPT_BOOL), OPT(pair_options, first, OPT_NUM)),
                           .call = give_first},
                          {.name = NULL}};
  damo_ctx *own = damo_ctx_new(NULL, NULL);
  CHECK_EQ_I(funcs_register(own, rows), DAMO_OK);
  build b;
  build_init(&b, own);
  damo_var *x = build_num(&b, 1), *in[2] = {x, build_num(&b, 2)};
  CHECK(build_fn(&b, "options_test", in, 2, NULL) == x);
  CHECK(build_fn(&b, "options_test", in, 1, NULL) == x);
  CHECK(build_fn(&b, "options_test", in, 2, WITH(pair_options, .second = prop_bool(true))) == in[1]);
  CHECK(build_fn(&b, "options_test", in, 1, WITH(pair_options, prop_num(3), prop_bool(true))) == NULL);
  CHECK(strstr(damo_error_message(own), "absent 3") != NULL);
  build_end(&b);
  damo_ctx_release(own);
}

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  int64_t objects = ctx->n_objects;
  test_types();
  test_filter();
  test_ownership();
  test_apply_errors();
  test_ops_interned();
  test_walks();
  test_clone_and_equal();
  test_equal_constants_and_shared_parts();
  test_fgraph_basics();
  test_fgraph_refusals();
  test_fgraph_features();
  test_fgraph_many_users();
  test_text();
  test_weak_literals();
  test_build_scope();
  test_registry();
  test_signatures();
  test_call_options();
  ctx_clear_error(ctx);
  char text[200];
  if (!CHECK_EQ_I(ctx->n_objects, objects)) fprintf(stderr, "    left: %s\n", ctx_census(ctx, text, sizeof text));
  leak_end(ctx);
  TEST_MAIN_END;
}
