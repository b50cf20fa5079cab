/* overwrite_test: which nodes may overwrite which inputs (graph/overwrite.c): random graphs against a check that knows
 * no order and no groups, but closes relations; what it costs; and that programs made so compute what others compute. */
#include "by_name.h"
#include "compile_case.h"
#include "graph/overwrite.h"

#define MOST_NODES 40
#define MOST_VARS (3 * MOST_NODES)

static uint32_t seed = 3;
static int random_below(int n) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (uint32_t)n);
}

/* Ops of one to three inputs; a view of the first; one with two results, of which the second views input 2. */
static damo_status two_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)n_in;
  out[0] = damo_retain(in[0]->type);
  out[1] = damo_retain(in[1]->type);
  return DAMO_OK;
}
static const op_alias second_of_second[] = {{1, 1}, OP_ALIAS_END};
static const op_def one_def = {.name = "One", .n_in = 1, .infer_type = same_type, .perform = fragile_run};
static const op_def two_def = {.name = "Two", .n_in = 2, .infer_type = same_type, .perform = fragile_run};
static const op_def three_def = {.name = "Three", .n_in = 3, .infer_type = same_type, .perform = fragile_run};
static const op_def view_def = {
    .name = "View", .n_in = 1, .infer_type = same_type, .perform = fragile_run, .view_map = first_of_first};
static const op_def split_def = {.name = "SplitView",
                                 .n_in = 2,
                                 .n_out = 2,
                                 .infer_type = two_types,
                                 .perform = fragile_run,
                                 .view_map = second_of_second};

/* ---- By definition ----------------------------------------------------------------------------------------------- */

typedef struct checker {
  const damo_fgraph *fg;
  ptrvec nodes, vars;
  bool shares[MOST_VARS][MOST_VARS];   /* may share memory */
  bool before[MOST_NODES][MOST_NODES]; /* has to run before */
  int destroyer[MOST_VARS];            /* of a Variable itself; -1 */
  bool kept[MOST_VARS];
} checker;

static int var_place(checker *c, damo_var *v) {
  for (int64_t i = 0; i < c->vars.n; i++) {
    if (c->vars.at[i] == v) return (int)i;
  }
  CHECK_EQ_I(ptrvec_push(&c->vars, v), DAMO_OK);
  return (int)c->vars.n - 1;
}

static int node_place(const checker *c, const damo_apply *node) {
  for (int64_t i = 0; i < c->nodes.n; i++) {
    if (c->nodes.at[i] == node) return (int)i;
  }
  return -1;
}

static void checker_begin(checker *c, const damo_fgraph *fg) {
  memset(c, 0, sizeof *c);
  c->fg = fg;
  ptrvec_init(&c->nodes, ctx);
  ptrvec_init(&c->vars, ctx);
  CHECK_EQ_I(fgraph_toposort_plain(fg, &c->nodes), DAMO_OK);
  for (int64_t k = 0; k < c->nodes.n; k++) {
    damo_apply *node = c->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) {
      const int v = var_place(c, node->in[i]), maker = node->in[i]->owner ? node_place(c, node->in[i]->owner) : -1;
      c->kept[v] = node->in[i]->owner == NULL && !node->in[i]->given_away;
      if (maker >= 0) c->before[maker][k] = true;
    }
    for (int o = 0; o < node->n_out; o++) var_place(c, node->out[o]);
    for (const op_alias *a = node->op->view_map; a != NULL && a->out >= 0; a++)
      c->shares[var_place(c, node->out[a->out])][var_place(c, node->in[a->in])] = true;
  }
  for (int64_t i = 0; i < fg->outputs.n; i++) c->kept[var_place(c, fg->outputs.at[i])] = true;
  const int n = (int)c->vars.n;
  for (int i = 0; i < n; i++) {
    c->shares[i][i] = true;
    c->destroyer[i] = -1;
    for (int j = 0; j < n; j++) c->shares[i][j] = c->shares[j][i] = c->shares[i][j] || c->shares[j][i];
  }
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) c->shares[i][j] = c->shares[i][j] || (c->shares[i][k] && c->shares[k][j]);
    }
  }
}

static void checker_end(checker *c) {
  ptrvec_clear(&c->nodes);
  ptrvec_clear(&c->vars);
}

/* Whether all readers of destroyed memory can come before its destroyer. */
static bool has_order(const checker *c) {
  static bool path[MOST_NODES][MOST_NODES];
  const int n = (int)c->nodes.n, n_vars = (int)c->vars.n;
  memcpy(path, c->before, sizeof path);
  for (int k = 0; k < n; k++) {
    const damo_apply *node = c->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) {
      const int x = var_place((checker *)(uintptr_t)c, node->in[i]);
      for (int v = 0; v < n_vars; v++) {
        if (c->shares[x][v] && c->destroyer[v] >= 0 && c->destroyer[v] != k) path[k][c->destroyer[v]] = true;
      }
    }
  }
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) path[i][j] = path[i][j] || (path[i][k] && path[k][j]);
    }
  }
  for (int k = 0; k < n; k++) {
    if (path[k][k]) return false;
  }
  return true;
}

/* Whether the node may overwrite its input, beside the others that do; notes it then. */
static bool may_by_definition(checker *c, const damo_apply *node, int in) {
  const int x = var_place(c, node->in[in]);
  for (int v = 0; v < (int)c->vars.n; v++) {
    if (!c->shares[x][v]) continue;
    if (c->kept[v] || c->destroyer[v] >= 0) return false;
    for (int i = 0; i < node->n_in; i++) {
      if (i != in && var_place(c, node->in[i]) == v) return false;
    }
  }
  c->destroyer[x] = node_place(c, node);
  if (has_order(c)) return true;
  c->destroyer[x] = -1;
  return false;
}

/* ---- Random graphs ----------------------------------------------------------------------------------------------- */

static damo_fgraph *random_graph(build *b, int n) {
  static const op_def *const defs[] = {&one_def, &two_def, &three_def, &view_def, &two_def, &split_def, &two_def};
  damo_var *v[MOST_VARS], *leaves[3];
  int n_v = 3;
  for (int i = 0; i < 3; i++) leaves[i] = v[i] = vec(b, "x");
  for (int k = 0; k < n; k++) {
    const op_def *def = defs[random_below(7)];
    damo_var *in[3];
    for (int i = 0; i < def->n_in; i++) in[i] = v[n_v - 1 - random_below(n_v < 12 ? n_v : 12)];
    damo_apply *node = build_apply(b, op_new(ctx, def, NULL), in, def->n_in);
    if (node == NULL) return NULL;
    for (int o = 0; o < node->n_out; o++) v[n_v++] = node->out[o];
  }
  damo_var *out[] = {v[n_v - 1], v[3 + random_below(n_v - 3)]};
  damo_fgraph *fg = fgraph_new(ctx, leaves, 3, out, 2, true, NULL);
  for (int i = 0; fg != NULL && i < 3; i++) ((damo_var *)fg->inputs.at[i])->given_away = random_below(2) == 0;
  return fg;
}

static void test_against_definition(build *b) {
  static checker c;
  int n_may = 0, n_not = 0;
  for (int round = 0; round < 400; round++) {
    damo_fgraph *fg = random_graph(b, 3 + random_below(MOST_NODES - 6));
    if (!CHECK(fg != NULL)) return;
    checker_begin(&c, fg);
    overwrite *w = overwrite_new(fg, NULL);
    const int n = (int)c.nodes.n;
    for (int tries = 0; tries < 3 * n; tries++) {
      /* from the first node on, then anywhere */
      const damo_apply *node = c.nodes.at[tries < n ? tries : random_below(n)];
      const int in = random_below(node->n_in);
      const bool want = may_by_definition(&c, node, in), got = overwrite_try(w, node, in);
      if (!CHECK(want == got)) fprintf(stderr, "    round %d, try %d: %d, not %d\n", round, tries, got, want);
      n_may += want;
      n_not += !want;
    }
    overwrite_free(w);
    checker_end(&c);
    damo_release(fg);
  }
  CHECK(n_may > 2000 && n_not > 2000);
}

/* n nodes, each of which reads the two before it: each may overwrite one of them. */
static damo_fgraph *braid(build *b, int n) {
  damo_var *x = vec(b, "x"), *v[2] = {x, apply1(b, &one_def, x)};
  for (int k = 0; k < n; k++) {
    damo_apply *node = build_apply(b, op_new(ctx, &two_def, NULL), (damo_var *[]){v[0], v[1]}, 2);
    v[k % 2] = node->out[0];
  }
  return fgraph_new(ctx, &x, 1, v, 2, true, NULL);
}

/* A chain and its gradient: n / 3 steps, whose results are read by a node beside the chain on the way back, as in
 * g · (1 - y²), or by the way back itself, as in g · y. */
static damo_fgraph *chain_and_back(build *b, int n, bool beside) {
  enum { MOST_STEPS = 2000 };
  static damo_var *y[MOST_STEPS + 1];
  const int steps = n / 3;
  damo_var *x = vec(b, "x");
  y[0] = apply1(b, &one_def, x);
  for (int k = 0; k < steps; k++) y[k + 1] = apply1(b, &one_def, y[k]);
  damo_var *g = y[steps];
  for (int k = steps - 1; k >= 0; k--) {
    damo_var *factor = beside ? apply1(b, &view_def, apply1(b, &one_def, y[k])) : y[k];
    g = build_apply(b, op_new(ctx, &two_def, NULL), (damo_var *[]){g, factor}, 2)->out[0];
  }
  return fgraph_new(ctx, &x, 1, &g, 1, true, NULL);
}

static int64_t cost_of(build *b, int shape, int n) {
  damo_fgraph *fg = shape == 0 ? braid(b, n) : chain_and_back(b, n, shape == 1);
  overwrite *w = overwrite_new(fg, NULL);
  int64_t n_may = 0;
  const int64_t nodes = overwrite_n_nodes(w);
  for (int64_t i = 0; i < nodes; i++) {
    const damo_apply *node = overwrite_node(w, shape == 0 ? nodes - 1 - i : i); /* the order has to change */
    for (int in = 0; in < node->n_in; in++) n_may += overwrite_try(w, node, in);
  }
  const int64_t cost = overwrite_visits(w);
  overwrite_free(w);
  CHECK(n_may >= n / 4);
  damo_release(fg);
  return cost;
}

/* Four times as many candidates cost little more than four times as much. */
static void test_cost(build *b) {
  for (int shape = 0; shape < 3; shape++) {
    const int64_t small = cost_of(b, shape, 1000), large = cost_of(b, shape, 4000);
    if (!CHECK(large < 6 * small))
      fprintf(stderr, "    shape %d: %lld and %lld nodes\n", shape, (long long)small, (long long)large);
  }
}

int main(void) {
  ctx = damo_ctx_new(counting_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  build b;
  build_init(&b, ctx);
  test_against_definition(&b);
  test_cost(&b);
  compile_case_end(&b);
  TEST_MAIN_END;
}
