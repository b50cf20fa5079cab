/* scan_push.c: work leaves the loop.
 *
 * scan_push asks of each Variable of the inner graph whether it is the same in every step, follows from the sequences
 * alone, or follows from the states.
 *   - What is the same in every step is computed once, before the loop; where that may fail or costs more than
 *     elementwise work, only if the loop runs at all.
 *   - A product whose operands follow from the sequences is one product for all steps, before the loop; so is a
 *     collected value that follows from the sequences.
 *   - A state that only adds up products, s ← s + aᵀ·b, becomes one product of all a with all b, after the loop, which
 *     collects a and b in its place. So do sums of values written at one place of zeros, as the gradient of a part of a
 *     matrix is, and sums of what is collected anyway.
 *   - A collected product of a value with a matrix that is the same in every step is one product after the loop.
 * Sums over the steps are added up in another order, so the rule is inexact.
 */
#include "op/elem/scalar.h"
#include "scan_int.h"

typedef enum push_kind {
  PUSH_CONSTANT,
  PUSH_SAME,     /* the same in every step */
  PUSH_SEQUENCE, /* follows from the sequences, by nodes that scan_batch builds */
  PUSH_STEP      /* any other */
} push_kind;

/* What is known of a Variable: its kind, and these. */
#define PUSH_KIND 3u
#define PUSH_HAS_DOT 4u   /* PUSH_SEQUENCE: a product is among what it is computed from */
#define PUSH_TEST 8u      /* PUSH_SAME: computing it may fail, or costs more than elementwise work */
#define PUSH_UNSHAPED 16u /* its shape is not known before its value */

typedef struct scan_push {
  scan_edit e;
  ptrvec nodes;      /* of the inner graph, in dependency order */
  map facts;         /* Variables of the inner graph → push_kind and flags */
  map uses;          /* → how many nodes and inner outputs read it */
  scan_batch all;    /* what is built outside; rows in the order of the loop's stacks */
  bool has_branches; /* the step computes some values only where a condition holds */
  map collected;     /* Variables whose values are stacked after the loop → 1 + number among e.values; 0: a part's */
} scan_push;

static uintptr_t push_facts(const scan_push *w, const damo_var *v) {
  uintptr_t f = PUSH_CONSTANT;
  if (v->kind != VAR_CONSTANT && !map_get(&w->facts, v, &f)) f = PUSH_STEP;
  return f;
}

static push_kind push_kind_of(const scan_push *w, const damo_var *v) {
  return (push_kind)(push_facts(w, v) & PUSH_KIND);
}

/* ---- What follows from what -------------------------------------------------------------------------------------- */

/* Whether computing the node raises no error for any operands, and costs no more than an elementwise operation. */
static bool is_harmless(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (def == &shape_def || def == &shape_i_def) return true;
  if (def == &dimshuffle_def) return OP_PROPS(node->op, dimshuffle_props)->new_order.n >= var_ndim(node->in[0]);
  if (def != &elemwise_def) return false;
  bool flat = true;
  for (int i = 0; i < node->n_in; i++) flat = flat && var_ndim(node->in[i]) == 0;
  return flat || node->n_in == 1;
}

static uintptr_t node_facts(const scan_push *w, const damo_apply *node) {
  uintptr_t kind = PUSH_CONSTANT, flags = 0;
  for (int i = 0; i < node->n_in; i++) {
    const uintptr_t f = push_facts(w, node->in[i]);
    if ((f & PUSH_KIND) > kind) kind = f & PUSH_KIND;
    flags |= f & ~(uintptr_t)PUSH_KIND;
  }
  if (node->op->def->impure || node->op->def->update_map != NULL) kind = PUSH_STEP;
  if (kind == PUSH_SEQUENCE && !scan_batch_can(node)) kind = PUSH_STEP;
  if (kind == PUSH_SEQUENCE && node->op->def == &dot_def) flags |= PUSH_HAS_DOT;
  if (!is_harmless(node)) flags |= PUSH_TEST;
  if (node->op->def->infer_shape == NULL) flags |= PUSH_UNSHAPED;
  return kind | flags;
}

static damo_status count_read(scan_push *w, const damo_var *v) {
  uintptr_t n = 0;
  map_get(&w->uses, v, &n);
  return map_put(&w->uses, v, n + 1);
}

/* Whether the sequence is known to have a row for each step; else the loop itself must say that it is too short. */
static bool is_long_enough(const scan_push *w, const scan_part *p) {
  bool exact = false;
  return p->span == 0 && scan_has_rows(w->e.node->in[scan_in(w->e.s, p)], w->e.node->in[0], &exact);
}

static damo_status push_find_facts(scan_push *w) {
  const scan_class *s = w->e.s;
  const damo_fgraph *fg = s->fgraph;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    for (int k = p->first; k < p->first + p->n; k++) {
      const damo_var *v = scan_inner_in(s, k);
      const bool rows = p->role == SCAN_SEQUENCE && type_is_tensor(v->type) && !s->until && is_long_enough(w, p);
      DAMO_TRY(map_put(&w->facts, v, p->role == SCAN_FIXED ? PUSH_SAME : rows ? PUSH_SEQUENCE : PUSH_STEP));
    }
  }
  DAMO_TRY(graph_toposort(fg->obj.ctx, (damo_var *const *)fg->outputs.at, fg->outputs.n, NULL, 0, &w->nodes));
  for (int64_t k = 0; k < w->nodes.n; k++) {
    const damo_apply *node = w->nodes.at[k];
    const uintptr_t f = node_facts(w, node);
    w->has_branches = w->has_branches || node->op->def->lazy || node->op->def->branches != NULL;
    for (int o = 0; o < node->n_out; o++) DAMO_TRY(map_put(&w->facts, node->out[o], f));
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(count_read(w, node->in[i]));
  }
  for (int64_t o = 0; o < fg->outputs.n; o++) DAMO_TRY(count_read(w, fg->outputs.at[o]));
  return DAMO_OK;
}

/* ---- Before the loop --------------------------------------------------------------------------------------------- */

/* The rows of a sequence, one a step. */
static damo_var *sequence_rows(scan_push *w, const scan_part *p) {
  damo_var *x = w->e.node->in[scan_in(w->e.s, p)], *n = w->e.node->in[0];
  bool exact = false;
  return scan_has_rows(x, n, &exact) && exact ? x : build_slice(&w->e.b, x, 0, NULL, n, 1);
}

/* Gives the batch what stands for the inner inputs. */
static damo_status batch_inputs(scan_push *w) {
  const scan_class *s = w->e.s;
  build *b = &w->e.b;
  for (int i = 0; i < s->n_fixed; i++) {
    const scan_part *p = scan_fixed_at(s, i);
    DAMO_TRY(map_put(&w->all.same, scan_inner_in(s, p->first), (uintptr_t)w->e.node->in[scan_in(s, p)]));
  }
  for (int i = 0; i < s->n_seq; i++) {
    damo_var *row = scan_inner_in(s, s->part[i].first);
    if (push_kind_of(w, row) != PUSH_SEQUENCE || !map_get(&w->uses, row, NULL)) continue;
    damo_var *rows = sequence_rows(w, &s->part[i]);
    if (s->flipped) rows = scan_flip_rows(b, rows);
    DAMO_TRY(rows != NULL ? map_put(&w->all.rows, row, (uintptr_t)rows) : b->status);
  }
  return b->status;
}

/* A value of v's Type that is never read. It has v's shape, which the shapes of collected values may depend on; where
 * that is not known without computing v, an empty one. */
static damo_var *hoist_dummy(const scan_push *w, build *b, const damo_var *v, damo_var *outer) {
  damo_var *dims[DAMO_MAX_NDIM], *zero = build_scalar(b, var_dtype(v), 0);
  const bool shaped = (push_facts(w, v) & PUSH_UNSHAPED) == 0;
  for (int k = 0; k < var_ndim(v) && b->status == DAMO_OK; k++) {
    const int64_t length = v->type->shape[k];
    dims[k] =
        length < 0 && shaped ? build_dim(b, outer, k) : build_scalar(b, DAMO_INT64, length >= 0 ? (double)length : 0);
  }
  return var_ndim(v) > 0 ? build_alloc(b, zero, dims, var_ndim(v)) : zero;
}

/* Computes v before the loop, and gives it as a fixed value. */
static damo_status hoist(scan_push *w, damo_var *v) {
  build *b = &w->e.b;
  int64_t steps = 0;
  const bool runs = var_static_int(w->e.node->in[0], &steps) && steps > 0,
             test = (push_facts(w, v) & PUSH_TEST) != 0 && !runs;
  if (test && !type_is_tensor(v->type)) return DAMO_OK;
  damo_var *outer = scan_batch_same(&w->all, v);
  if (test)
    outer = build_ifelse(b, build_gt(b, w->e.node->in[0], build_scalar(b, DAMO_INT64, 0)), outer,
                         hoist_dummy(w, b, v, outer));
  damo_var *inner = outer != NULL ? build_take(b, var_new(b->ctx, v->type, NULL)) : NULL;
  if (inner == NULL) return b->status;
  scan_draft_fixed(&w->e.d, outer, inner);
  w->e.changed = true;
  return map_put(&w->e.memo, v, (uintptr_t)inner);
}

static const int32_t push_tap = 0;

static damo_status give_rows(scan_push *w, damo_var *v) {
  build *b = &w->e.b;
  damo_var *rows = scan_batch_rows(&w->all, v);
  if (rows != NULL && w->e.s->flipped) rows = scan_flip_rows(b, rows);
  damo_var *inner = rows != NULL ? build_take(b, var_new(b->ctx, v->type, NULL)) : NULL;
  if (inner == NULL) return b->status;
  scan_draft_sequence(&w->e.d, rows, 1, &push_tap, &inner);
  w->e.changed = true;
  return map_put(&w->e.memo, v, (uintptr_t)inner);
}

/* Whether v, which a node that stays in the loop reads, is computed before it. */
static damo_status push_read(scan_push *w, damo_var *v) {
  if (v->owner == NULL || map_get(&w->e.memo, v, NULL)) return DAMO_OK;
  const uintptr_t f = push_facts(w, v);
  if ((f & PUSH_TEST) != 0 && w->has_branches) return DAMO_OK; /* it may belong to a branch that is not taken */
  if ((f & PUSH_KIND) == PUSH_SAME) return hoist(w, v);
  if ((f & PUSH_KIND) != PUSH_SEQUENCE || (f & PUSH_HAS_DOT) == 0) return DAMO_OK;
  const scan_class *s = w->e.s;
  int most = 0; /* a table made of vectors stays in the loop */
  for (int i = 0; i < s->n_seq; i++) {
    if (var_ndim(s->fgraph->inputs.at[s->part[i].first]) > most) most = var_ndim(scan_inner_in(s, s->part[i].first));
  }
  return var_ndim(v) <= most ? give_rows(w, v) : DAMO_OK;
}

/* Collected values that follow from the sequences. */
static damo_status push_collected(scan_push *w) {
  const scan_class *s = w->e.s;
  for (int i = 0; i < s->n_collect; i++) {
    const scan_part *p = scan_collect_at(s, i);
    damo_var *v = scan_inner_out(s, p->out);
    if (push_kind_of(w, v) != PUSH_SEQUENCE || p->stack < 0 || p->tail > 0 || p->last >= 0) continue;
    damo_var *rows = scan_batch_rows(&w->all, v);
    if (rows == NULL) return w->e.b.status;
    w->e.live[p - s->part] = false;
    w->e.stack_by[p - s->part] = rows;
    w->e.changed = true;
  }
  return DAMO_OK;
}

static damo_status push_before(scan_push *w) {
  const damo_fgraph *fg = w->e.s->fgraph;
  DAMO_TRY(batch_inputs(w));
  DAMO_TRY(push_collected(w));
  for (int64_t k = 0; k < w->nodes.n; k++) {
    const damo_apply *node = w->nodes.at[k];
    const push_kind kind = push_kind_of(w, node->out[0]);
    if (kind < PUSH_SEQUENCE) continue;
    for (int i = 0; i < node->n_in; i++) {
      const push_kind of = push_kind_of(w, node->in[i]);
      if (of == PUSH_SAME || of < kind) DAMO_TRY(push_read(w, node->in[i]));
    }
  }
  for (int64_t o = 0; o < fg->outputs.n; o++) DAMO_TRY(push_read(w, fg->outputs.at[o]));
  return w->e.b.status;
}

/* ---- After the loop ---------------------------------------------------------------------------------------------- */

/* Has the values of v stacked for use after the loop: those of a sequence are there, a state or collected value may be
 * stacked, else v is collected too. */
static damo_status push_collect(scan_push *w, damo_var *v) {
  if (push_kind_of(w, v) == PUSH_SEQUENCE || map_get(&w->collected, v, NULL)) return DAMO_OK;
  const scan_class *s = w->e.s;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &w->e.plan[i];
    const bool whole = w->e.live[i] && p->out >= 0 && p->stack >= 0 && p->tail == 0;
    if (whole && scan_inner_out(s, p->out) == v) return map_put(&w->collected, v, 0);
  }
  DAMO_TRY(ptrvec_push(&w->e.values, v));
  return map_put(&w->collected, v, (uintptr_t)w->e.values.n);
}

/* The Variable of which the operand of a product is a view. */
static damo_var *viewed_of(damo_var *v) {
  while (v->owner != NULL && v->owner->op->def == &dimshuffle_def) v = v->owner->in[0];
  return v;
}

/* Whether the values of v in all steps can be had after the loop. */
static bool may_stack(const scan_push *w, const damo_var *v) {
  return type_is_tensor(v->type) && var_ndim(v) + 1 <= DAMO_MAX_NDIM && push_kind_of(w, v) >= PUSH_SEQUENCE;
}

/* The sum of two terms of its own shape; NULL: it is none. */
static const damo_apply *binary_sum(const damo_var *v) {
  const damo_apply *add = match_scalar(v, SCALAR_add);
  for (int i = 0; add != NULL && i < add->n_in; i++) {
    const damo_type *t = add->in[i]->type;
    if (add->n_in != 2 || t->ndim != v->type->ndim || t->dtype != v->type->dtype) return NULL;
    for (int k = 0; k < t->ndim; k++) {
      if ((t->shape[k] == 1) != (v->type->shape[k] == 1)) return NULL;
    }
  }
  return add;
}

/* Whether v is a product a·b of matrices both of which change from step to step. */
static bool is_step_product(const scan_push *w, const damo_var *v) {
  const damo_apply *node = v->owner;
  return node != NULL && node->op->def == &dot_def && var_ndim(node->in[0]) == 2 && var_ndim(node->in[1]) == 2 &&
         may_stack(w, viewed_of(node->in[0])) && may_stack(w, viewed_of(node->in[1]));
}

/* Whether v is zeros in which a value of the step is written or added at a place that is the same in every step. */
static bool is_placed(const scan_push *w, const damo_var *v) {
  const damo_apply *node = v->owner;
  if (node == NULL || node->op->def != &incsubtensor_def || push_kind_of(w, node->in[1]) < PUSH_SEQUENCE) return false;
  const damo_apply *zeros = node->in[0]->owner;
  const damo_array *zero = zeros != NULL && zeros->op->def == &alloc_def ? var_constant_array(zeros->in[0]) : NULL;
  if (zero == NULL || array_size(zero) != 1 || scalar_cast(array_item(zero), DAMO_BOOL).v.i != 0) return false;
  for (int i = 0; i < node->n_in; i++) {
    if (i != 1 && push_kind_of(w, node->in[i]) >= PUSH_SEQUENCE) return false;
  }
  return node->in[1]->type->dtype == v->type->dtype;
}

/* Whether the term can be computed from what is stacked after the loop. */
static bool is_stacked_sum(const scan_push *w, const damo_var *v) {
  if (map_get(&w->collected, v, NULL) || map_get(&w->all.rows, v, NULL)) return true;
  if (v->owner == NULL || push_kind_of(w, v) < PUSH_SEQUENCE) return push_kind_of(w, v) < PUSH_SEQUENCE;
  const op_def *def = v->owner->op->def;
  if (binary_sum(v) != NULL) return is_stacked_sum(w, v->owner->in[0]) && is_stacked_sum(w, v->owner->in[1]);
  return (def == &reduce_def || def == &dimshuffle_def) && scan_batch_can(v->owner) &&
         is_stacked_sum(w, v->owner->in[0]);
}

/* The sum over the steps of v is taken apart: the sum of a sum is that of its terms, a place of zeros stays that place,
 * and what remains are products and values that are summed as they are (leaves). */
typedef struct sum_shape {
  bool gains;  /* there is a product or a place */
  bool leaves; /* there is a leaf that is no vector, and is not stacked for another reason */
} sum_shape;

static void find_sum_shape(const scan_push *w, const damo_var *v, sum_shape *f) {
  if (binary_sum(v) != NULL) {
    find_sum_shape(w, v->owner->in[0], f);
    find_sum_shape(w, v->owner->in[1], f);
  } else if (is_step_product(w, v)) {
    f->gains = true;
  } else if (is_placed(w, v)) {
    f->gains = true;
    find_sum_shape(w, v->owner->in[1], f);
  } else if (!is_stacked_sum(w, v)) {
    f->leaves = f->leaves || !may_stack(w, v) || var_ndim(v) > 1;
  }
}

/* Has collected what the sum over the steps of v takes. */
static damo_status collect_sum(scan_push *w, damo_var *v) {
  const damo_apply *node = v->owner;
  if (binary_sum(v) != NULL || is_step_product(w, v)) {
    for (int i = 0; i < 2; i++) {
      damo_var *in = node->in[i];
      DAMO_TRY(is_step_product(w, v) ? push_collect(w, viewed_of(in)) : collect_sum(w, in));
    }
    return DAMO_OK;
  }
  if (is_placed(w, v)) return collect_sum(w, node->in[1]);
  return is_stacked_sum(w, v) ? DAMO_OK : push_collect(w, v);
}

/* The sum over the steps of v. That of products a·b is the product of all columns of a with all rows of b. */
static damo_var *sum_over_steps(scan_push *w, damo_var *v) {
  build *b = &w->e.b;
  static const int steps = 0;
  damo_apply *node = v->owner;
  if (binary_sum(v) != NULL) return build_add(b, sum_over_steps(w, node->in[0]), sum_over_steps(w, node->in[1]));
  if (is_placed(w, v)) {
    damo_var *in[DAMO_MAX_NDIM * 4];
    if (node->n_in > DAMO_MAX_NDIM * 4) return build_fail(b, DAMO_ESTATE, "scan: an index with %d parts", node->n_in);
    for (int i = 0; i < node->n_in; i++)
      in[i] = i == 1 ? sum_over_steps(w, node->in[1]) : scan_batch_same(&w->all, node->in[i]);
    return b->status == DAMO_OK ? build_op(b, damo_retain(node->op), in, node->n_in) : NULL;
  }
  if (!is_step_product(w, v)) return build_reduce(b, REDUCE_SUM, scan_batch_rows(&w->all, v), &steps, 1, false);
  damo_var *x = scan_batch_rows(&w->all, node->in[0]), *y = scan_batch_rows(&w->all, node->in[1]);
  damo_var *rows = x != NULL ? build_flat_rows(b, build_swap_last(b, x)) : NULL;
  return build_dot(b, rows != NULL ? build_transpose(b, rows) : NULL, build_flat_rows(b, y));
}

/* The term that a state adds up, s ← s + term, where only its last value is read; NULL: it is no such state. */
static damo_var *added_up(const scan_push *w, int i) {
  const scan_class *s = w->e.s;
  const scan_part *p = &w->e.plan[s->n_seq + i];
  if (!w->e.live[s->n_seq + i] || p->stack >= 0 || p->last < 0 || !p->bare || p->n != 1 || p->update || s->until)
    return NULL;
  damo_var *past = scan_inner_in(s, p->first), *next = scan_inner_out(s, p->out);
  uintptr_t uses = 0, next_uses = 0;
  map_get(&w->uses, past, &uses);
  map_get(&w->uses, next, &next_uses);
  if (!type_is_tensor(past->type) || dtype_is_discrete(past->type->dtype) || uses != 1 || next_uses != 1 ||
      binary_sum(next) == NULL)
    return NULL;
  damo_var *const *in = next->owner->in;
  damo_var *term = in[0] == past ? in[1] : in[1] == past ? in[0] : NULL;
  return term != NULL && push_kind_of(w, term) >= PUSH_SEQUENCE ? term : NULL;
}

/* Finds the states and collected values that are computed after the loop, and has collected what that takes. */
static damo_status push_find_after(scan_push *w, damo_var **term) {
  const scan_class *s = w->e.s;
  if (s->until) return DAMO_OK;
  for (int i = 0; i < s->n_state; i++) {
    damo_var *t = added_up(w, i);
    sum_shape f = {.gains = false};
    if (t != NULL) find_sum_shape(w, t, &f);
    if (!f.gains || f.leaves) continue;
    DAMO_TRY(collect_sum(w, t));
    term[s->n_seq + i] = t;
  }
  for (int i = 0; i < s->n_collect; i++) {
    const int part = (int)(scan_collect_at(s, i) - s->part);
    damo_var *v = scan_inner_out(s, s->part[part].out);
    const scan_part *p = &w->e.plan[part];
    if (!w->e.live[part] || p->stack < 0 || p->tail > 0 || p->last >= 0 || v->owner == NULL ||
        v->owner->op->def != &dot_def || push_kind_of(w, v) != PUSH_STEP)
      continue;
    damo_var *const *in = v->owner->in;
    const int same = push_kind_of(w, in[1]) < PUSH_SEQUENCE ? 1 : 0;
    uintptr_t uses = 0;
    map_get(&w->uses, v, &uses);
    if (uses != 1 || push_kind_of(w, in[same]) >= PUSH_SEQUENCE || !may_stack(w, viewed_of(in[1 - same]))) continue;
    DAMO_TRY(push_collect(w, viewed_of(in[1 - same])));
    term[part] = v;
  }
  for (int i = 0; i < s->n_state && w->collected.n > 0; i++) {
    damo_var *t = term[s->n_seq + i] == NULL ? added_up(w, i) : NULL;
    if (t != NULL && is_stacked_sum(w, t)) term[s->n_seq + i] = t;
  }
  for (int i = 0; i < s->n_parts; i++) {
    if (term[i] == NULL) continue;
    w->e.live[i] = false;
    w->e.changed = true;
  }
  return DAMO_OK;
}

/* The stacked values that the loop has collected go to the batch. */
static damo_status take_collected(scan_push *w) {
  const scan_class *s = w->e.s;
  for (int64_t k = 0; k < w->e.values.n; k++)
    DAMO_TRY(map_put(&w->all.rows, w->e.values.at[k], (uintptr_t)scan_edit_value(&w->e, k)));
  for (int i = 0; i < s->n_parts; i++) {
    const damo_var *v = s->part[i].out >= 0 ? scan_inner_out(s, s->part[i].out) : NULL;
    uintptr_t number = 1;
    if (v == NULL || !w->e.live[i] || !map_get(&w->collected, v, &number) || number != 0) continue;
    DAMO_TRY(map_put(&w->all.rows, v, (uintptr_t)scan_edit_stack(&w->e, i)));
  }
  return DAMO_OK;
}

static damo_status push_after(scan_push *w, damo_var *const *term) {
  const scan_class *s = w->e.s;
  build *b = &w->e.b;
  if (w->e.made != NULL) DAMO_TRY(take_collected(w));
  for (int i = 0; i < s->n_parts && b->status == DAMO_OK; i++) {
    if (term[i] == NULL) continue;
    const scan_part *p = &s->part[i];
    if (p->role == SCAN_COLLECT) {
      w->e.stack_by[i] = scan_batch_rows(&w->all, term[i]);
      continue;
    }
    w->e.last_by[i] = build_add(b, w->e.node->in[scan_in(s, p)], sum_over_steps(w, term[i]));
  }
  return b->status;
}

/* ---- The rule ---------------------------------------------------------------------------------------------------- */

static damo_status push_run(scan_push *w) {
  const scan_class *s = w->e.s;
  damo_ctx *ctx = w->e.b.ctx;
  damo_var **term = mem_calloc(ctx, (size_t)s->n_parts * sizeof *term);
  damo_status status = term != NULL ? push_find_facts(w) : DAMO_EMEMORY;
  if (status == DAMO_OK) status = push_before(w);
  if (status == DAMO_OK) status = push_find_after(w, term);
  if (status == DAMO_OK && w->e.changed) {
    status = scan_edit_make(&w->e);
    if (status == DAMO_OK) status = push_after(w, term);
    if (status == DAMO_OK) status = scan_edit_replace(&w->e);
  }
  if (term != NULL) mem_free(ctx, term, (size_t)s->n_parts * sizeof *term);
  return status;
}

static damo_status push_scan(damo_fgraph *fg, damo_apply *node) {
  scan_push w = {0};
  damo_ctx *ctx = fg->obj.ctx;
  DAMO_TRY(scan_edit_init(&w.e, fg, node, "scan_push"));
  ptrvec_init(&w.nodes, ctx);
  map_init(&w.facts, ctx);
  map_init(&w.uses, ctx);
  map_init(&w.collected, ctx);
  scan_batch_init(&w.all, &w.e.b);
  const damo_status s = push_run(&w);
  scan_batch_clear(&w.all);
  map_clear(&w.collected);
  map_clear(&w.uses);
  map_clear(&w.facts);
  ptrvec_clear(&w.nodes);
  return scan_edit_end(&w.e, s);
}

/* Unread results leave first, so that nothing is computed for them outside. */
static damo_status push_all(damo_fgraph *fg) {
  DAMO_TRY(scan_slim_all(fg));
  return scan_each(fg, push_scan);
}

static const rewrite_rule scan_push_rule = {
    .name = "scan_push", .phase = PHASE_STABILIZE, .tags = "fast_run specialize scan inexact", .global = push_all};

damo_status scan_register_push(damo_ctx *ctx) { return rewrite_register(ctx, &scan_push_rule); }
