/* choice.c: rules of choices between branches. An IfElse is replaced by its branch if the condition is constant. If both
 * branches are the same Variable, it is replaced too, provided that the condition is a leaf: computing another condition
 * might fail. A switch by a 0-d condition becomes an IfElse if a branch is costly, so that one branch alone is computed.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
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

const rewrite_rule choice_rules[] = {
    {.name = "ifelse_branch",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run fast_compile",
     TRACKS(&ifelse_def),
     .local = take_branch},
    {.name = "branch_switch",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run fast_compile",
     ELEMWISE(SCALAR_switch),
     .local = branch_switch},
    {.name = NULL},
};
