/* joining.c: rules for Join and Split: of one part, of parts that are joins, of parts without entries, one undoing the
 * other. All are exact, and drop a check of lengths only where the lengths certainly agree.
 */
#include "rewrite_int.h"
#include "op/op.h"

static int joined_axis(const damo_apply *node) { return (int)OP_PROPS(node->op, axis_props)->axis.u.i - 1; }

static int split_axis(const damo_apply *node) { return (int)OP_PROPS(node->op, split_props)->axis.u.i - 1; }

#define MOST_PARTS 32

/* Whether the two certainly have the same lengths but along that axis. */
static bool same_beside(const damo_var *u, const damo_var *v, int axis) {
  for (int k = 0; k < var_ndim(u); k++) {
    if (k != axis && (u->type->shape[k] < 0 || u->type->shape[k] != v->type->shape[k])) return false;
  }
  return true;
}

/* Whether node is a Split of which `parts` are all outputs in their order, and whose sizes certainly add up to the
 * length of what it splits. */
static bool is_all_of(const damo_apply *split, damo_var *const *parts, int n, int axis) {
  int64_t total = 0, size;
  if (split->n_out != n || split_axis(split) != axis) return false;
  for (int i = 0; i < n; i++) {
    if (parts[i] != split->out[i]) return false;
  }
  for (int i = 1; i < split->n_in; i++) {
    if (!var_static_int(split->in[i], &size)) return false;
    total += size;
  }
  return total == split->in[0]->type->shape[axis];
}

static damo_status join_rule(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const int axis = joined_axis(node), n = node->n_in;
  damo_var *in[MOST_PARTS];
  int m = 0;
  if (n == 1) return rule_give(b, repl, did, node->in[0]);
  const damo_apply *split = node->in[0]->owner;
  if (split != NULL && split->op->def == &split_def && is_all_of(split, node->in, n, axis))
    return rule_give(b, repl, did, split->in[0]);
  bool changed = false;
  for (int i = 0; i < n; i++) {
    damo_var *x = node->in[i], *other = node->in[i == 0 ? 1 : 0];
    const damo_apply *below = match_class(x, &join_def);
    const bool open = below != NULL && below->op == node->op && match_single_use(fg, x);
    const int parts = open ? below->n_in : 1;
    const bool empty = x->type->shape[axis] == 0 && same_beside(x, other, axis);
    changed = changed || open || empty;
    if (empty && (m > 0 || i + 1 < n)) continue;
    if (m + parts > MOST_PARTS) return DAMO_OK;
    for (int k = 0; k < parts; k++) in[m++] = open ? below->in[k] : x;
  }
  if (!changed || m == 0) return DAMO_OK;
  return rule_give(b, repl, did, m == 1 ? in[0] : build_op(b, damo_retain(node->op), in, m));
}

/* Split into one part → x; Split of a Join at its seams → the joined parts. */
static damo_status split_rule(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const int axis = split_axis(node);
  damo_var *x = node->in[0];
  (void)fg;
  if (node->n_out == 1) return rule_give(b, repl, did, match_length(node->in[1], x, axis) ? x : NULL);
  const damo_apply *join = match_class(x, &join_def);
  if (join == NULL || joined_axis(join) != axis || join->n_in != node->n_out) return DAMO_OK;
  for (int i = 0; i < node->n_out; i++) {
    if (!match_length(node->in[1 + i], join->in[i], axis)) return DAMO_OK;
    if (!type_is_super(node->out[i]->type, join->in[i]->type)) return DAMO_OK;
    for (int k = 0; k < i; k++) { /* the Join checks the other lengths */
      if (!same_beside(join->in[i], join->in[k], axis)) return DAMO_OK;
    }
  }
  for (int i = 0; i < node->n_out; i++) repl[i] = join->in[i];
  *did = true;
  return b->status;
}

#define RULE(rule_name, fn, ...) \
  { .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run canonicalize", .local = fn, __VA_ARGS__ }

const rewrite_rule joining_rules[] = {
    RULE("join_parts_of_joins", join_rule, TRACKS(&join_def)),
    RULE("split_at_seams", split_rule, TRACKS(&split_def)),
    {.name = NULL},
};

#undef RULE
