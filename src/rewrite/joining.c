/* joining.c: rules for Join and Split: of one part, of parts that are joins, of parts without entries, one undoing the
 * other, reads and reductions of joins. They drop a check of lengths only where the lengths certainly agree.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
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

/* ---- Reads and reductions of joins ------------------------------------------------------------------------------- */

/* Whether the parts certainly have the same lengths but along that axis, so that joining them can't fail. */
static bool parts_fit(const damo_apply *join, int axis) {
  for (int i = 1; i < join->n_in; i++) {
    for (int k = 0; k < var_ndim(join->in[0]); k++) {
      if (k != axis && !match_same_length(join->in[0], k, join->in[i], k)) return false;
    }
  }
  return true;
}

/* The part that has the positions `first` … `last` (0-based) of the join, and where it begins; NULL if they lie in
 * several, or lengths up to there are not known. */
static damo_var *part_with(const damo_apply *join, int axis, int64_t first, int64_t last, int64_t *start) {
  *start = 0;
  for (int i = 0; i < join->n_in; i++) {
    const int64_t n = join->in[i]->type->shape[axis];
    if (n < 0) return NULL;
    if (first < *start + n) return last < *start + n ? join->in[i] : NULL;
    *start += n;
  }
  return NULL;
}

/* join(x, y)[i] → x[i], stack(x, y)[2] → y, where the position or range lies in one part. */
static damo_status read_of_join(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *join = match_class(node->in[0], &join_def);
  spec_items s;
  if (join == NULL || !index_read_items(node, 1, &s) || !index_is_plain(&s)) return DAMO_OK;
  const int axis = joined_axis(join);
  if (axis >= s.n || !parts_fit(join, axis)) return DAMO_OK;
  spec_item *it = &s.item[axis];
  int64_t first, count = 1, step = 1, start, length = node->in[0]->type->shape[axis];
  if (it->kind == 'i') {
    if (!var_static_int(it->at, &first) || first == 0 || (first < 0 && length < 0)) return DAMO_OK;
    first = first < 0 ? first + length : first - 1;
    if (first < 0) return DAMO_OK;
  } else if (!index_resolve_range(it, length, &first, &count, &step) || count == 0) {
    return DAMO_OK;
  }
  const int64_t last = first + (count - 1) * step, low = step > 0 ? first : last, high = step > 0 ? last : first;
  damo_var *part = part_with(join, axis, low, high, &start);
  if (part == NULL) return DAMO_OK;
  if (it->kind == 'i') {
    it->at = index_position(b, first - start);
  } else {
    *it = (spec_item){.kind = 's',
                      .ends = {index_position(b, first - start), index_position(b, last - start),
                               step == 1 ? NULL : build_scalar(b, DAMO_INT64, (double)step)}};
  }
  return rule_give(b, repl, did, index_build_read(b, part, &s));
}

/* The scalar op that joins two reductions of that kind; -1: none. */
static int combining_scalar(reduce_kind kind, bool whole) {
  switch ((int)kind) {
    case REDUCE_SUM: return SCALAR_add;
    case REDUCE_PROD: return SCALAR_mul;
    case REDUCE_ANY: return SCALAR_or_;
    case REDUCE_ALL: return SCALAR_and_;
    case REDUCE_MAX: return whole ? SCALAR_maximum : -1; /* of no entries there is no extremum */
    case REDUCE_MIN: return whole ? SCALAR_minimum : -1;
    default: return -1;
  }
}

/* sum(join(x, y)) → sum(x) + sum(y) along the joined axis and others, sum(stack(x, y)) along the new one → x + y; the
 * other reductions alike. Nothing is copied. */
static damo_var *reduced_parts(build *b, const damo_fgraph *fg, const damo_apply *node, bool exact) {
  const damo_apply *join = match_class(node->in[0], &join_def);
  const reduce_kind kind = reduce_op_kind(node->op);
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (join == NULL || join->n_in > MOST_PARTS || !match_single_use(fg, node->in[0])) return NULL;
  const int axis = joined_axis(join), ndim = var_ndim(node->in[0]);
  const uint32_t mask = reduce_op_axes(node->op, ndim);
  const bool in_order = (kind != REDUCE_SUM && kind != REDUCE_PROD) || dtype_is_discrete(dtype);
  if (!(mask >> axis & 1) || in_order != exact || prop_bool_or(OP_PROPS(node->op, reduce_props)->keepdims, false))
    return NULL;
  bool any = true, ones = (mask & ~(UINT32_C(1) << axis)) == 0;
  for (int i = 0; i < join->n_in; i++) {
    const damo_var *x = join->in[i];
    if (var_dtype(x) != dtype) return NULL;
    ones = ones && type_dim_is_one(x->type, axis);
    for (int k = 0; k < ndim; k++) {
      if ((mask >> k & 1) && x->type->shape[k] < 1) any = false;
      if (k != axis && type_dim_is_one(x->type, k) != type_dim_is_one(join->in[0]->type, k)) return NULL;
    }
  }
  const int id = combining_scalar(kind, any);
  if (id < 0 || (ndim > 1 && !ones && !parts_fit(join, axis))) return NULL;
  damo_var *sum = NULL;
  for (int i = 0; i < join->n_in && b->status == DAMO_OK; i++) {
    damo_var *x = join->in[i], *part = build_op(b, damo_retain(node->op), &x, 1);
    sum = sum != NULL ? build_scalar_op(b, (scalar_id)id, (damo_var *[]){sum, part}) : part;
  }
  return sum;
}

static damo_status reduction_of_join(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  return rule_give(b, repl, did, reduced_parts(b, fg, node, true));
}

static damo_status sum_of_join(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  return rule_give(b, repl, did, reduced_parts(b, fg, node, false));
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
    RULE("read_of_join", read_of_join, TRACKS(&subtensor_def)),
    RULE("reduction_of_join", reduction_of_join, TRACKS(&reduce_def)),
    {.name = "sum_of_join",
     .phase = PHASE_CANONICALIZE,
     .tags = "fast_run canonicalize inexact",
     TRACKS(&reduce_def),
     .local = sum_of_join},
    {.name = NULL},
};

#undef RULE
