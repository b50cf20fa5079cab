/* choice.c: replaces an IfElse by its branch if the condition is constant. If both branches are the same Variable, it
 * is replaced too, provided that the condition is a leaf: computing another condition might fail. */
#include "rewrite_int.h"
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

const rewrite_rule choice_rules[] = {
    {.name = "ifelse_branch",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run fast_compile",
     TRACKS(&ifelse_def),
     .local = take_branch},
    {.name = NULL},
};
