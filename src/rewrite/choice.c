/* choice.c: rules of choices between branches. An IfElse is replaced by its branch if the condition is constant. If both
 * branches are the same Variable, it is replaced too, provided that the condition is a leaf: computing another condition
 * might fail. A switch by a 0-d condition becomes an IfElse if a branch is costly, so that one branch alone is computed.
 * Switches that do not choose, and several by one condition, become simpler; the shapes that they check are still
 * checked.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

static damo_status take_branch(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  int n = node->n_out;
  const damo_array *cond = var_constant_array(node->in[0]);
  if (cond != NULL) {
    int from = scalar_cast(array_item(cond), DAMO_BOOL).v.i != 0 ? 1 : 1 + n;
    for (int i = 0; i < n; i++) repl[i] = node->in[from + i];
    *did = true;
    return b->status;
  }
  for (int i = 0; i < n && node->in[0]->owner == NULL; i++) {
    if (node->in[1 + i] != node->in[1 + n + i]) continue;
    repl[i] = node->in[1 + i];
    *did = true;
  }
  return b->status;
}

#define MOST_BRANCHES 32

/* ifelse(not c, x, y) → ifelse(c, y, x); ifelse(c, ifelse(c, x, y), z) → ifelse(c, x, z), the second branch alike. */
static damo_status nested_ifelse(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const int n = node->n_out;
  damo_var *in[1 + 2 * MOST_BRANCHES];
  const damo_apply *inverted = match_scalar(node->in[0], SCALAR_invert);
  bool any = false;
  if (n > MOST_BRANCHES || node->n_in != 1 + 2 * n) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) in[i] = node->in[i];
  if (inverted != NULL && var_dtype(node->in[0]) == DAMO_BOOL) {
    in[0] = inverted->in[0];
    for (int i = 0; i < n; i++) {
      in[1 + i] = node->in[1 + n + i];
      in[1 + n + i] = node->in[1 + i];
    }
    any = true;
  }
  for (int i = 1; i < node->n_in && inverted == NULL; i++) {
    const damo_apply *below = match_class(node->in[i], &ifelse_def);
    if (below == NULL || below->in[0] != node->in[0]) continue;
    in[i] = below->in[(i <= n ? 1 : 1 + below->n_out) + node->in[i]->index];
    any = true;
  }
  const damo_apply *now = any ? build_apply(b, damo_retain(node->op), in, node->n_in) : NULL;
  for (int i = 0; now != NULL && i < n; i++) repl[i] = now->out[i];
  *did = now != NULL;
  return b->status;
}

#define COSTLY_MOST_NODES 256

static bool is_cheap(const damo_apply *node) {
  return node->op->def == &elemwise_def || node->op->view_map != NULL || var_ndim(node->out[0]) == 0;
}

/* Counts one more of the uses of the node's outputs by nodes that the branch alone needs; *all: there is no other. */
static damo_status count_use(const damo_fgraph *fg, map *uses, const damo_apply *node, bool *all) {
  uintptr_t n = 0;
  map_get(uses, node, &n);
  uintptr_t total = 0;
  for (int o = 0; o < node->n_out; o++) {
    const fg_clients *c = fgraph_clients(fg, node->out[o]);
    if (c != NULL) total += (uintptr_t)c->n;
  }
  *all = n + 1 == total;
  return map_put(uses, node, n + 1);
}

/* *costly: a node that only this use of v needs is more than elementwise work or a view. Looks at COSTLY_MOST_NODES. */
static damo_status branch_is_costly(const damo_fgraph *fg, const damo_var *v, bool *costly) {
  map uses;
  ptrvec alone; /* nodes that nothing else needs */
  map_init(&uses, fg->obj.ctx);
  ptrvec_init(&alone, fg->obj.ctx);
  *costly = false;
  bool all = false;
  damo_status s = v->owner != NULL ? count_use(fg, &uses, v->owner, &all) : DAMO_OK;
  if (s == DAMO_OK && all) s = ptrvec_push(&alone, v->owner);
  for (int64_t k = 0; k < alone.n && k < COSTLY_MOST_NODES && s == DAMO_OK && !*costly; k++) {
    const damo_apply *node = alone.at[k];
    *costly = !is_cheap(node);
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) {
      damo_apply *up = node->in[i]->owner;
      if (up == NULL || !fgraph_has_node(fg, up)) continue;
      s = count_use(fg, &uses, up, &all);
      if (s == DAMO_OK && all) s = ptrvec_push(&alone, up);
    }
  }
  map_clear(&uses);
  ptrvec_clear(&alone);
  return s;
}

/* switch(cond, x, y) → ifelse(cond, x, y), where cond is 0-d and x, y certainly have one shape and the result's dtype. */
static damo_status branch_switch(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *x = node->in[1], *y = node->in[2];
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (var_ndim(node->in[0]) != 0 || var_dtype(x) != dtype || var_dtype(y) != dtype) return DAMO_OK;
  if (!match_fits(node, 1) || !match_fits(node, 2) || !match_same_shape(x, y)) return DAMO_OK;
  bool costly = false;
  DAMO_TRY(branch_is_costly(fg, x, &costly));
  if (!costly) DAMO_TRY(branch_is_costly(fg, y, &costly));
  return costly ? rule_give(b, repl, did, build_ifelse(b, node->in[0], x, y)) : DAMO_OK;
}

/* ---- Switches ---------------------------------------------------------------------------------------------------- */

/* Whether v broadcasts against anything of u's rank or has u's shape. */
static bool adds_no_shape(const damo_var *v, const damo_var *u) {
  return (match_single_entry(v) && var_ndim(v) <= var_ndim(u)) || match_same_shape(v, u);
}

/* v as the node's result: in its dtype, and broadcast against the node's inputs but for v itself. */
static damo_var *branch_as_result(build *b, const damo_apply *node, damo_var *v) {
  damo_var *taken = v;
  v = build_cast(b, v, var_dtype(node->out[0]));
  for (int i = 0; i < 3 && v != NULL; i++) {
    if (node->in[i] == taken || adds_no_shape(node->in[i], taken)) continue;
    v = build_second(b, node->in[i], v);
  }
  return v;
}

/* switch(true, x, y) → x; switch(c, x, x) → x */
static damo_status useless_switch(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *taken = node->in[1] == node->in[2]       ? node->in[1]
                    : match_constant(node->in[0], 1) ? node->in[1]
                    : match_constant(node->in[0], 0) ? node->in[2]
                                                     : NULL;
  return rule_give(b, repl, did, taken != NULL ? branch_as_result(b, node, taken) : NULL);
}

/* switch(not c, x, y) → switch(c, y, x); switch(c, switch(c, x, y), z) → switch(c, x, z), the second branch alike. */
static damo_status nested_switch(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *c = node->in[0], *in[3] = {c, node->in[1], node->in[2]};
  const damo_apply *inverted = match_scalar(c, SCALAR_invert);
  if (inverted != NULL && var_dtype(c) == DAMO_BOOL)
    return rule_give(b, repl, did, build_switch(b, inverted->in[0], node->in[2], node->in[1]));
  for (int i = 1; i < 3; i++) {
    const damo_apply *below = match_scalar(in[i], SCALAR_switch);
    if (below == NULL || below->in[0] != c) continue;
    damo_var *kept = below->in[i], *gone = below->in[3 - i];
    if (!adds_no_shape(gone, kept) && !adds_no_shape(gone, c)) continue;
    in[i] = build_cast(b, kept, var_dtype(node->in[i]));
    return rule_give(b, repl, did, build_switch(b, c, in[1], in[2]));
  }
  return DAMO_OK;
}

/* switch(c, x, y) + switch(c, u, v) → switch(c, x + u, y + v), for sums, products, quotients and extrema. */
static damo_status merge_switches(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *x = match_scalar(node->in[0], SCALAR_switch), *y = match_scalar(node->in[1], SCALAR_switch);
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (x == NULL || y == NULL || x == y || x->in[0] != y->in[0] || var_ndim(node->in[0]) != var_ndim(node->in[1]))
    return DAMO_OK;
  if (!match_single_use(fg, node->in[0]) || !match_single_use(fg, node->in[1])) return DAMO_OK;
  for (int i = 1; i < 3; i++) {
    if (var_dtype(x->in[i]) != dtype || var_dtype(y->in[i]) != dtype) return DAMO_OK;
  }
  const scalar_id id = elemwise_scalar_id(node->op);
  damo_var *u = build_scalar_op(b, id, (damo_var *[]){x->in[1], y->in[1]}),
           *v = build_scalar_op(b, id, (damo_var *[]){x->in[2], y->in[2]});
  return rule_give(b, repl, did, u != NULL && v != NULL ? build_switch(b, x->in[0], u, v) : NULL);
}

/* Whether x is an Assert that has that condition. */
static bool is_asserted(const damo_var *x, const damo_var *cond) {
  const damo_apply *below = match_class(x, &assert_def);
  for (int i = 1; below != NULL && i < below->n_in; i++) {
    if (below->in[i] == cond) return true;
  }
  return false;
}

/* Assert without the conditions that are constant and hold, or that x has been asserted by before; x itself where none
 * is left. */
static damo_status useless_assert(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *in[8] = {node->in[0]};
  int n = 1;
  for (int i = 1; i < node->n_in && node->n_in <= 8; i++) {
    if (!match_constant(node->in[i], 1) && !is_asserted(node->in[0], node->in[i])) in[n++] = node->in[i];
  }
  if (n == node->n_in || node->n_in > 8) return DAMO_OK;
  return rule_give(b, repl, did, n == 1 ? in[0] : build_op(b, damo_retain(node->op), in, n));
}

#define SWITCH_RULE(rule_name, fn, ...) \
  { .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run canonicalize", .local = fn, __VA_ARGS__ }

const rewrite_rule choice_rules[] = {
    {.name = "ifelse_branch",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run fast_compile",
     TRACKS(&ifelse_def),
     .local = take_branch},
    {.name = "nested_ifelse",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize",
     TRACKS(&ifelse_def),
     .local = nested_ifelse},
    {.name = "branch_switch",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run fast_compile",
     ELEMWISE(SCALAR_switch),
     .local = branch_switch},
    SWITCH_RULE("useless_switch", useless_switch, ELEMWISE(SCALAR_switch)),
    SWITCH_RULE("nested_switch", nested_switch, ELEMWISE(SCALAR_switch)),
    SWITCH_RULE("merge_switches", merge_switches,
                ELEMWISE(SCALAR_add, SCALAR_sub, SCALAR_mul, SCALAR_true_div, SCALAR_maximum, SCALAR_minimum)),
    SWITCH_RULE("useless_assert", useless_assert, TRACKS(&assert_def)),
    {.name = NULL},
};

#undef SWITCH_RULE
