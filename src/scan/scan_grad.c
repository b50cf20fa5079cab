/* scan_grad.c: L_op of a Scan, which is a Scan again.
 *
 * Let x_t = f(u_t, x_{t-1} … x_{t-L}, w) and y_t = g(the same), t = 0 … n-1, and a bar mark cotangents. With B the
 * vector-Jacobian product of (f, g), step t of the reverse loop, which runs from n-1 down, computes
 *     (du, dx_1 … dx_L, dw) = B(u_t, x_{t-1} … x_{t-L}, w; x̄_t + c_1, ȳ_t),
 *     c_j ← c_{j+1} + dx_j (c_{L+1} = 0), w̄ ← w̄ + dw, and gives ū_t = du:
 * c_j is what later steps contribute to x_{t-j}. In the end c_j is the cotangent of the initial x_{-j}. The reverse loop
 * reads the states of the forward loop from its stacked results, so it recomputes no state; states of generators are
 * stacked for that purpose, so it draws the same numbers.
 */
#include <stdio.h>
#include <string.h>

#include "graph/c_emit.h"
#include "grad/grad.h"
#include "op/sparse/build_sparse.h"
#include "scan_int.h"

static const int32_t tap_now = 0, tap_before = -1;

/* ---- The bits of a generator's state ----------------------------------------------------------------------------- */

static damo_status bits_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const int64_t shape[1] = {3};
  (void)n_in;
  if (in[0]->type->kind != TYPE_RANDOM)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "RandomBits: expected a generator's state");
  out[0] = type_tensor(op->obj.ctx, DAMO_UINT64, 1, shape);
  return out[0] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status bits_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  damo_array *y = thunk_out(t, f, 0, DAMO_UINT64, 1, array_shape(x));
  return y != NULL ? array_assign(y, x) : DAMO_EMEMORY;
}

static const op_alias bits_update_map[] = {{0, 0}, {-1, -1}};

static damo_status bits_emit_c(c_emit *e, const damo_apply *node) {
  (void)node;
  ce_out_same(e, 0, ce_in(e, 0));
  return e->status;
}

/* A shared state that only it reads does not move on: the loop whose draws are repeated makes the update. */
const op_def scan_bits_def = {
    .name = "RandomBits",
    .doc = "a generator's state as numbers",
    .n_in = 1,
    .infer_type = bits_type,
    .perform = bits_perform,
    .emit_c = bits_emit_c,
    .update_map = bits_update_map,
    .updates_by_hand = true,
    .no_check = "moves three numbers",
};

/* ---- Parts of stacked values ------------------------------------------------------------------------------------- */

static damo_var *scan_i64(build *b, int64_t v) { return build_scalar(b, DAMO_INT64, (double)v); }

static damo_var *flip_rows(build *b, damo_var *x) { return x != NULL ? build_slice(b, x, 0, NULL, NULL, -1) : NULL; }

/* Rows first … first + n - 1. */
static damo_var *rows_from(build *b, damo_var *x, int64_t first, damo_var *n) {
  damo_var *start = first != 0 ? scan_i64(b, first) : NULL;
  return x != NULL ? build_slice(b, x, 0, start, start != NULL ? build_add(b, start, n) : n, 1) : NULL;
}

/* ---- The inner graph's derivatives ------------------------------------------------------------------------------- */

bool scan_flows(const damo_type *t) { return type_has_shape(t) && !dtype_is_discrete(t->dtype); }

static bool is_null(const damo_var *v) { return v != NULL && v->type->kind == TYPE_NULL; }

bool scan_is_flow(const damo_var *v) {
  return v != NULL && v->type->kind != TYPE_NULL && v->type->kind != TYPE_DISCONNECTED;
}

damo_status scan_keep_flows(build *b, damo_var **v, int n, damo_status s) {
  for (int i = 0; i < n; i++) {
    if (v[i] == NULL) continue;
    if (s == DAMO_OK) {
      if (build_take(b, v[i]) == NULL) s = b->status;
    } else {
      damo_release(v[i]);
    }
  }
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return b->status;
}

/* ---- Reverse ----------------------------------------------------------------------------------------------------- */

/* One reverse loop in the making. Lists of Variables are by inner output or inner input. */
typedef struct reverse_scan {
  build *b;
  const scan_class *s;
  damo_apply *node;
  damo_var *const *gout;
  damo_var **gin;
  int n_outer;        /* inner outputs but the condition */
  damo_var *n, *skip; /* steps taken; steps at the start through which no gradient goes back, NULL: none */
  damo_var **slice;   /* by output: placeholder of the row of the result's cotangent, or NULL */
  damo_var **total;   /* by output: the cotangent that flows into the step, or NULL */
  damo_var **flow;    /* by input: its cotangent in a step, NULL or a NullType where there is none */
  damo_var **carry;   /* by ring entry: placeholder of c_j */
  damo_var **sum;     /* by fixed value: placeholder of w̄ */
  damo_var **once;    /* by output: placeholder of the cotangent of a collected value's last one, or NULL */
  bool *dense;        /* by output: cotangents of its sparse values are dense */
  damo_var *first;    /* placeholder of whether it is the last step, from which the loop goes back; NULL: nobody asks */
  int32_t *ring;      /* by state: its first entry of `carry` */
  int32_t *past;      /* n_past: the inner inputs, taps of states, that the steps of the reverse loop read */
  int n_past;
  bool fed; /* by a ScanGrad, which computes them */
  damo_var **known, **known_of;
  damo_apply *kept; /* the node whose results are the states' past */
  void *block;
  size_t bytes;
  scan_draft d;
  char name[160];
} reverse_scan;

/* Names the reverse loop after the forward one. */
static void reverse_name(reverse_scan *r) {
  if (r->s->name == NULL) {
    snprintf(r->name, sizeof r->name, "gradient");
  } else {
    snprintf(r->name, sizeof r->name, "gradient of %s", r->s->name);
  }
  r->d.name = r->name;
}

static damo_status reverse_alloc(reverse_scan *r) {
  const scan_class *s = r->s;
  const size_t n_out = (size_t)s->fgraph->outputs.n, n_in = (size_t)s->n_in;
  size_t n_ring = 0;
  for (int i = 0; i < s->n_state; i++) n_ring += (size_t)scan_state_at(s, i)->span;
  r->n_outer = (int)n_out - s->until;
  r->bytes = (5 * n_out + n_in + n_ring + (size_t)s->n_fixed) * sizeof(damo_var *) +
             ((size_t)s->n_state + 1 + n_in) * sizeof(int32_t) + n_out;
  r->block = mem_calloc(r->b->ctx, r->bytes);
  if (r->block == NULL) return r->b->status = DAMO_EMEMORY;
  r->slice = r->block;
  r->total = r->slice + n_out;
  r->known = r->total + n_out;
  r->known_of = r->known + n_out;
  r->flow = r->known_of + n_out;
  r->carry = r->flow + n_in;
  r->sum = r->carry + n_ring;
  r->once = r->sum + s->n_fixed;
  r->ring = (int32_t *)(r->once + n_out);
  r->past = r->ring + s->n_state + 1;
  r->dense = (bool *)(r->past + n_in);
  for (int i = 0; i < s->n_state; i++) r->ring[i + 1] = r->ring[i] + scan_state_at(s, i)->span;
  return DAMO_OK;
}

damo_var *scan_placeholder(build *b, damo_type *t) { return build_take(b, var_new(b->ctx, t, NULL)); }

/* The part that computes inner output o. */
static const scan_part *part_of_output(const scan_class *s, int o) {
  return o < s->n_state ? scan_state_at(s, o) : scan_collect_at(s, o - s->n_state);
}

static damo_type *value_type(const scan_class *s, int o) {
  const scan_part *p = part_of_output(s, o);
  return p->role == SCAN_STATE ? scan_inner_in(s, p->first)->type : scan_inner_out(s, o)->type;
}

static damo_var *cotangent_of(const reverse_scan *r, int out) { return out >= 0 ? r->gout[out] : NULL; }

/* The cotangent y of h[-1], if that of the stacked result h is made of it alone (zeros of which the last row becomes y),
 * as it is where h[-1] is all that a cost depends on; NULL: else. */
static damo_var *last_row_alone(const damo_var *g) {
  const damo_apply *inc = g != NULL ? g->owner : NULL;
  if (inc == NULL || inc->op->def != &incsubtensor_def || inc->n_in != 3) return NULL;
  const index_props *p = OP_PROPS(inc->op, index_props);
  const damo_apply *zeros = inc->in[0]->owner;
  int64_t row;
  double value;
  if (prop_bool_or(p->set_instead_of_inc, false) || strcmp(p->spec.u.s, "i") != 0) return NULL;
  if (!var_static_int(inc->in[2], &row) || row != -1) return NULL;
  if (zeros == NULL || zeros->op->def != &alloc_def || var_constant_array(zeros->in[0]) == NULL) return NULL;
  value = scalar_to_double(array_item(var_constant_array(zeros->in[0])));
  return value == 0 ? inc->in[1] : NULL;
}

/* y, the cotangent of the last row of the stacked result h, on which it depends as h[-1] does: there is an error if there
 * is no step. */
static damo_var *of_last_step(const reverse_scan *r, damo_var *h, damo_var *y) {
  build *b = r->b;
  int64_t n;
  y = build_second(b, build_index(b, h, 0, scan_i64(b, -1)), y);
  if (var_static_int(r->n, &n) && n > 0) return y;
  const prop_value message = prop_str("scan: the gradient of the last value is asked for, and there is no step");
  damo_var *in[2] = {y, build_gt(b, r->n, scan_i64(b, 0))};
  return in[1] != NULL ? build_op(b, op_new(b->ctx, &assert_def, &message), in, 2) : NULL;
}

/* The cotangent of the last value of state p; NULL: none. */
static damo_var *last_cotangent(const reverse_scan *r, const scan_part *p) {
  damo_var *last = cotangent_of(r, p->last), *row = NULL;
  if (p->stack >= 0 && !r->s->flipped) row = last_row_alone(r->gout[p->stack]);
  if (row != NULL) row = of_last_step(r, r->node->out[p->stack], row);
  return last == NULL ? row : row == NULL ? last : build_add(r->b, last, row);
}

/* A placeholder of a cotangent of inner output o's values: of a sparse one in their format, or dense. */
static damo_var *cotangent_placeholder(const reverse_scan *r, int o) {
  damo_type *t = value_type(r->s, o);
  t = r->dense[o] ? type_tensor(r->b->ctx, t->dtype, t->ndim, t->shape) : type_without_pattern(t);
  if (t == NULL) r->b->status = DAMO_EMEMORY;
  damo_var *v = t != NULL ? scan_placeholder(r->b, t) : NULL;
  damo_release(t);
  return v;
}

/* g as such a cotangent. */
static damo_var *cotangent_fit(const reverse_scan *r, int o, damo_var *g) {
  const damo_type *t = value_type(r->s, o);
  if (g == NULL || !type_is_sparse(t)) return g;
  return r->dense[o] ? sparse_form.to_dense(r->b, g) : sparse_form.to_format(r->b, g, (damo_format)t->format);
}

/* The cotangent of a collected value of which the last one is a result: that one's in the last step, else none. */
static damo_var *cotangent_once(reverse_scan *r, int o) {
  build *b = r->b;
  if (r->first == NULL) {
    damo_type *t = type_tensor(b->ctx, DAMO_BOOL, 0, NULL);
    if (t == NULL) b->status = DAMO_EMEMORY;
    r->first = t != NULL ? scan_placeholder(b, t) : NULL;
    damo_release(t);
  }
  r->once[o] = cotangent_placeholder(r, o);
  return b->status == DAMO_OK ? build_ifelse_zero(b, r->first, r->once[o], false, scan_inner_out(r->s, o)) : NULL;
}

static damo_var *add_present(build *b, damo_var *x, damo_var *y) {
  return x == NULL ? y : y == NULL ? x : build_add(b, x, y);
}

/* Lets cotangents flow into inner output o: those of its results, and of a state what later steps contribute. */
static void reverse_activate(reverse_scan *r, int o) {
  build *b = r->b;
  const scan_part *p = part_of_output(r->s, o);
  damo_var *rows = cotangent_of(r, p->stack);
  const bool last_alone = p->role == SCAN_STATE && !r->s->flipped && last_row_alone(rows) != NULL;
  if (rows != NULL && !last_alone) r->slice[o] = scan_placeholder(b, value_type(r->s, o));
  r->total[o] = r->slice[o];
  if (p->role == SCAN_STATE) {
    for (int j = r->ring[o]; j < r->ring[o + 1]; j++) r->carry[j] = cotangent_placeholder(r, o);
    r->total[o] = add_present(b, r->slice[o], r->carry[r->ring[o]]);
  } else if (cotangent_of(r, p->last) != NULL) {
    r->total[o] = add_present(b, r->slice[o], cotangent_once(r, o));
  }
}

/* Computes r->flow from the totals that there are. */
static damo_status reverse_flow(reverse_scan *r) {
  build *b = r->b;
  int n = 0;
  for (int o = 0; o < r->n_outer && b->status == DAMO_OK; o++) {
    if (r->total[o] == NULL) continue;
    r->known[n] = r->total[o];
    r->known_of[n++] = inner_pass(b, scan_inner_out(r->s, o));
  }
  DAMO_TRY(b->status);
  const grad_options options = {.known = r->known,
                                .known_of = r->known_of,
                                .n_known = n,
                                .disconnected_inputs = DISCONNECTED_IGNORE,
                                .null_gradients_return = true,
                                .return_disconnected = RETURN_NONE};
  damo_var *const *wrt = (damo_var *const *)r->s->fgraph->inputs.at;
  memset(r->flow, 0, (size_t)r->s->n_in * sizeof *r->flow);
  const damo_status s = grad_reverse(b->ctx, NULL, wrt, r->s->n_in, &options, r->flow);
  return scan_keep_flows(b, r->flow, s == DAMO_OK ? r->s->n_in : 0, s);
}

/* Whether g, a cotangent of inner output o's values, is dense where they are sparse. */
static bool is_dense_for(const reverse_scan *r, int o, const damo_var *g) {
  return type_is_sparse(value_type(r->s, o)) && scan_is_flow(g) && !type_is_sparse(g->type);
}

/* Activates what has a cotangent from outside, then the states into whose past cotangents flow, until there is no
 * further one. The cotangents of a sparse state are carried as sparse ones, unless there is a dense one among them. */
static damo_status reverse_close(reverse_scan *r) {
  const scan_class *s = r->s;
  bool more = false;
  for (int o = 0; o < r->n_outer; o++) {
    const scan_part *p = part_of_output(s, o);
    const bool given = cotangent_of(r, p->stack) != NULL || cotangent_of(r, p->last) != NULL;
    if (!given || !scan_flows(value_type(s, o))) continue;
    r->dense[o] = is_dense_for(r, o, cotangent_of(r, p->last));
    reverse_activate(r, o);
    more = true;
  }
  while (more && r->b->status == DAMO_OK) {
    more = false;
    DAMO_TRY(reverse_flow(r));
    for (int i = 0; i < s->n_state; i++) {
      const scan_part *p = scan_state_at(s, i);
      bool into = false, dense = false;
      for (int k = p->first; k < p->first + p->n; k++) {
        into = into || scan_is_flow(r->flow[k]);
        dense = dense || is_dense_for(r, i, r->flow[k]);
      }
      if (!into || !scan_flows(value_type(s, i)) || (r->total[i] != NULL && r->dense[i] >= dense)) continue;
      r->dense[i] = dense;
      reverse_activate(r, i);
      more = true;
    }
  }
  return r->b->status;
}

/* Why there is no gradient through the loop: that of a step is undefined; NULL: there is one. */
static const damo_var *reverse_undefined(const reverse_scan *r) {
  for (int i = 0; i < r->s->n_state; i++) {
    const scan_part *p = scan_state_at(r->s, i);
    for (int k = p->first; k < p->first + p->n; k++) {
      if (is_null(r->flow[k])) return r->flow[k];
    }
  }
  return NULL;
}

/* ---- The past of states ------------------------------------------------------------------------------------------ */

damo_apply *scan_keep_states(build *b, const scan_class *s, damo_var *const *in, damo_var *n) {
  scan_draft d;
  scan_draft_init(&d, b);
  d.n_steps = n;
  d.mode = s->mode;
  d.name = s->name;
  d.derived = d.no_updates = true;
  d.hands_back = s->hands_back;
  d.truncate = s->truncate; /* further derivatives go back as far as those of the loop itself */
  scan_draft_states(&d, s, in, NULL);
  damo_apply *node = scan_draft_node(&d);
  scan_draft_clear(&d);
  return node;
}

/* All stacked values of state i, in the order of the steps; NULL for a state that can't be stacked. */
static damo_var *states_kept(reverse_scan *r, int i) {
  const scan_part *p = scan_state_at(r->s, i);
  if (!scan_is_stacked(scan_inner_in(r->s, p->first)->type)) return NULL;
  if (p->stack >= 0 && p->tail == 0) {
    damo_var *x = r->node->out[p->stack];
    return r->s->flipped ? flip_rows(r->b, x) : x;
  }
  if (r->kept == NULL) r->kept = scan_keep_states(r->b, r->s, r->node->in, r->n);
  return r->kept != NULL ? r->kept->out[scan_state_at(scan_at(r->kept->op), i)->stack] : NULL;
}

damo_var *scan_past_rows(build *b, const scan_class *s, damo_var *const *in, damo_var *n, int k, damo_var *stack) {
  const scan_part *p = scan_state_of(s, k);
  damo_var *init = in[scan_in(s, p)], *xs[2];
  if (init->type->kind == TYPE_RANDOM) init = build_op(b, op_new(b->ctx, &scan_bits_def, NULL), &init, 1);
  xs[0] = p->bare ? (init != NULL ? build_new_axis(b, init, 0) : NULL) : rows_from(b, init, 0, scan_i64(b, p->span));
  xs[1] = stack;
  damo_var *history = b->status == DAMO_OK ? build_join(b, "scan", 0, xs, 2) : NULL;
  return history != NULL ? flip_rows(b, rows_from(b, history, p->span + s->tap[k], n)) : NULL;
}

/* ---- The parts of the reverse loop ------------------------------------------------------------------------------- */

/* Values by step, a row a step from row `first` on, as a sequence of the reverse loop. */
static void reverse_sequence(reverse_scan *r, damo_var *x, int64_t first, damo_var *inner) {
  damo_var *back = x != NULL ? flip_rows(r->b, rows_from(r->b, x, first, r->n)) : NULL;
  scan_draft_sequence(&r->d, back, 1, &tap_now, &inner);
}

static damo_status reverse_inputs(reverse_scan *r) {
  const scan_class *s = r->s;
  for (int i = 0; i < s->n_seq; i++) {
    const scan_part *p = &s->part[i];
    for (int k = p->first; k < p->first + p->n; k++)
      reverse_sequence(r, r->node->in[scan_in(s, p)], p->before + s->tap[k], scan_inner_in(s, k));
  }
  for (int o = 0; o < r->n_outer; o++) {
    if (r->slice[o] == NULL) continue;
    damo_var *g = cotangent_of(r, part_of_output(s, o)->stack);
    if (!s->flipped) g = flip_rows(r->b, g);
    scan_draft_sequence(&r->d, g, 1, &tap_now, &r->slice[o]);
  }
  for (int i = 0; i < s->n_fixed; i++) {
    const scan_part *p = scan_fixed_at(s, i);
    scan_draft_fixed(&r->d, r->node->in[scan_in(s, p)], scan_inner_in(s, p->first));
  }
  for (int o = 0; o < r->n_outer; o++) {
    damo_var *g = cotangent_of(r, part_of_output(s, o)->last);
    if (r->once[o] != NULL) scan_draft_fixed(&r->d, cotangent_fit(r, o, g), r->once[o]);
  }
  return r->b->status;
}

/* Whether the next value of state i is read from its stacked values where the derivative of a step needs it. */
static bool next_is_read(const scan_class *s, int i) {
  const damo_var *next = scan_inner_out(s, scan_state_at(s, i)->out);
  if (next->owner == NULL || !scan_is_stacked(next->type) || next->type->kind == TYPE_RANDOM) return false;
  for (int k = 0; k < i; k++) {
    if (scan_inner_out(s, scan_state_at(s, k)->out) == next) return false;
  }
  return type_is_compatible(next->type, scan_inner_in(s, scan_state_at(s, i)->first)->type);
}

/* The state of which v is the next value; -1: none. */
static int state_of_next(const scan_class *s, const damo_var *v) {
  int i = s->n_state - 1;
  while (i >= 0 && scan_inner_out(s, scan_state_at(s, i)->out) != v) i--;
  return v->owner != NULL ? i : -1;
}

/* Whether the values of all states are stacked, or can be. */
static bool all_stacked(const scan_class *s) {
  bool all = s->checkpoint == SCAN_ALL;
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    all = all && scan_is_stacked(scan_inner_in(s, p->first)->type) && (!s->until || p->stack >= 0);
  }
  return all;
}

/* The states' past and next values, of which only what is read is kept in the end: r->past has the inner inputs. Past
 * values are fed if states are to be computed again, or can't be stacked, or may change their shape. */
static damo_status reverse_past(reverse_scan *r) {
  const scan_class *s = r->s;
  build *b = r->b;
  for (int k = scan_first_past(s); k < scan_first_fixed(s); k++) {
    damo_var *inner = scan_inner_in(s, k);
    scan_draft_sequence(&r->d, NULL, 1, &tap_now, &inner);
  }
  for (int i = 0; i < s->n_state && all_stacked(s); i++) {
    damo_var *next = scan_inner_out(s, scan_state_at(s, i)->out);
    if (next_is_read(s, i)) scan_draft_sequence(&r->d, NULL, 1, &tap_now, &next);
  }
  DAMO_TRY(b->status);
  const damo_status status = scan_draft_prune(&r->d);
  if (status != DAMO_OK) return b->status = status;
  r->fed = s->checkpoint != SCAN_ALL;
  for (int q = 0, k = scan_first_past(s); q < r->d.n_parts; q++) {
    const scan_part *part = &r->d.part[q];
    if (part->role != SCAN_SEQUENCE || part->outer != NULL) continue;
    if (state_of_next(s, r->d.inner.at[part->first]) >= 0) continue;
    while (r->d.inner.at[part->first] != scan_inner_in(s, k)) k++;
    const scan_part *p = scan_state_of(s, k);
    r->fed = r->fed || !scan_is_stacked(scan_inner_in(s, k)->type) || (s->until && p->stack < 0);
    r->past[r->n_past++] = k;
  }
  r->fed = r->fed && r->n_past > 0;
  for (int q = 0, at = 0; q < r->d.n_parts && !r->fed && b->status == DAMO_OK; q++) {
    scan_part *part = &r->d.part[q];
    if (part->role != SCAN_SEQUENCE || part->outer != NULL) continue;
    const int next = state_of_next(s, r->d.inner.at[part->first]);
    if (next >= 0) {
      part->outer = flip_rows(b, rows_from(b, states_kept(r, next), 0, r->n));
      continue;
    }
    const int k = r->past[at++], i = (int)(scan_state_of(s, k) - scan_state_at(s, 0));
    part->outer = scan_past_rows(b, s, r->node->in, r->n, k, states_kept(r, i));
  }
  return b->status;
}

/* A value of the shape that state i has after the last step. */
static damo_var *like_last(const reverse_scan *r, int i) {
  const scan_class *s = r->s;
  const scan_part *p = scan_state_at(s, i);
  damo_var *init = r->node->in[scan_in(s, p)], *x = scan_inner_in(s, p->first);
  const bool may_change =
      type_is_sparse(x->type) ? var_shape_root(scan_inner_out(s, p->out)) != x : s->until && p->stack < 0;
  if (may_change && p->last >= 0) return r->node->out[p->last];
  return p->bare ? init : build_index(r->b, init, 0, scan_i64(r->b, 0));
}

/* The states c_j of the reverse loop. */
static void reverse_carries(reverse_scan *r, int i) {
  const scan_class *s = r->s;
  build *b = r->b;
  const scan_part *p = scan_state_at(s, i);
  damo_var *zero = cotangent_fit(r, i, build_zeros_like(b, like_last(r, i)));
  damo_var *last = cotangent_fit(r, i, last_cotangent(r, p));
  for (int j = 1; j <= p->span && b->status == DAMO_OK; j++) {
    damo_var **c = r->carry + r->ring[i] + j - 1, *next = j < p->span ? c[1] : NULL;
    for (int k = p->first; k < p->first + p->n; k++) {
      if (s->tap[k] == -j && scan_is_flow(r->flow[k])) next = add_present(b, next, r->flow[k]);
    }
    next = next != NULL ? cotangent_fit(r, i, next) : build_zeros_like(b, *c);
    scan_part *made = scan_draft_state(&r->d, j == 1 && last != NULL ? last : zero, 1, &tap_before, c, next);
    if (made == NULL) return;
    made->stack = -1;
    made->last = 0;
  }
}

/* The state w̄ of fixed value i. */
static void reverse_sum(reverse_scan *r, int i) {
  const scan_class *s = r->s;
  build *b = r->b;
  const scan_part *p = scan_fixed_at(s, i);
  damo_var *dw = r->flow[p->first], *w = r->node->in[scan_in(s, p)], *next;
  if (!scan_is_flow(dw)) return;
  damo_var *zero = build_zero_grad(b, w);
  if (type_is_sparse(w->type) && !type_is_sparse(dw->type)) zero = sparse_form.to_dense(b, zero);
  if (type_is_sparse(dw->type)) dw = sparse_form.to_format(b, dw, (damo_format)w->type->format);
  if (zero == NULL || dw == NULL) return;
  if (!type_is_sparse(zero->type) && var_dtype(zero) != var_dtype(dw)) zero = build_cast(b, zero, var_dtype(dw));
  if (zero == NULL) return;
  r->sum[i] = scan_placeholder(b, zero->type);
  next = type_is_sparse(w->type) ? sparse_form.add_cotangents(b, scan_inner_in(s, p->first), r->sum[i], dw)
                                 : build_add(b, r->sum[i], dw);
  if (next == NULL) return;
  scan_part *made = scan_draft_state(&r->d, zero, 1, &tap_before, &r->sum[i], next);
  if (made == NULL) return;
  made->stack = -1;
  made->last = 0;
}

static damo_status reverse_parts(reverse_scan *r) {
  const scan_class *s = r->s;
  build *b = r->b;
  for (int i = 0; i < s->n_state && b->status == DAMO_OK; i++) {
    if (r->total[i] != NULL) reverse_carries(r, i);
  }
  for (int i = 0; i < s->n_fixed && b->status == DAMO_OK; i++) reverse_sum(r, i);
  if (r->first != NULL) {
    scan_part *made = scan_draft_state(&r->d, build_scalar(b, DAMO_BOOL, 1), 1, &tap_before, &r->first,
                                       build_scalar(b, DAMO_BOOL, 0));
    if (made != NULL) made->stack = -1;
  }
  for (int k = 0; k < s->n_seq && b->status == DAMO_OK; k++) {
    const scan_part *p = &s->part[k];
    for (int j = p->first; j < p->first + p->n; j++) {
      if (scan_is_flow(r->flow[j])) scan_draft_collect(&r->d, r->flow[j]);
    }
  }
  DAMO_TRY(b->status);
  DAMO_TRY(reverse_inputs(r));
  return reverse_past(r);
}

/* ---- The results of the reverse loop ----------------------------------------------------------------------------- */

/* The cotangent of x of which the rows from `first` on have the cotangent g, the others none. */
static damo_var *rows_cotangent(reverse_scan *r, damo_var *x, int64_t first, bool whole, damo_var *g) {
  build *b = r->b;
  const damo_apply *length = r->n->owner;
  int64_t axis = -1;
  if (whole && r->skip == NULL && length != NULL && length->op->def == &shape_i_def && length->in[0] == x &&
      build_dim(b, x, 0) != NULL) {
    const prop_value *v = op_prop(length->op, "axis");
    axis = v->kind == PROP_INT ? v->u.i : -1;
  }
  if (axis == 0 || axis == 1) { /* the loop goes along all of x */
    damo_var *same = build_dim(b, x, 0);
    if (same != NULL && same->owner != NULL && same->owner->op == length->op) return g;
  }
  damo_var *start = scan_i64(b, first), *stop = build_add(b, start, r->n), *gin[4] = {NULL};
  if (r->skip != NULL) start = build_add(b, start, r->skip);
  damo_var *part = build_slice(b, x, 0, start, stop, 1);
  if (part == NULL) return NULL;
  damo_assert(part->owner != NULL && part->owner->in[0] == x && part->owner->n_in <= 4);
  return grad_node(b, part->owner, &g, gin) == DAMO_OK ? gin[0] : NULL;
}

static damo_var *state_cotangent(reverse_scan *r, damo_var *const *out, const scan_part *made, int i) {
  build *b = r->b;
  const scan_part *p = scan_state_at(r->s, i);
  damo_var *init = r->node->in[scan_in(r->s, p)], *g = out[made->last], *gin[4] = {NULL};
  if (!p->bare) { /* oldest first: c_L … c_1 */
    const size_t bytes = (size_t)p->span * sizeof(damo_var *);
    damo_var **rows = mem_alloc(b->ctx, bytes);
    if (rows == NULL) {
      b->status = DAMO_EMEMORY;
      return NULL;
    }
    for (int j = 0; j < p->span; j++) rows[p->span - 1 - j] = build_new_axis(b, out[made[j].last], 0);
    damo_var *joined = b->status == DAMO_OK ? build_join(b, "scan", 0, rows, p->span) : NULL;
    mem_free(b->ctx, rows, bytes);
    damo_var *part = joined != NULL ? build_slice(b, init, 0, NULL, scan_i64(b, p->span), 1) : NULL;
    if (part == NULL || grad_node(b, part->owner, &joined, gin) != DAMO_OK) return NULL;
    g = gin[0];
  }
  if (r->skip == NULL || g == NULL) return g;
  damo_var *truncated = build_gt(b, r->skip, scan_i64(b, 0));
  if (type_is_sparse(g->type)) return build_ifelse_zero(b, truncated, g, true, g);
  return build_switch(b, truncated, build_zeros_like(b, g), g);
}

/* made: the class of the reverse loop; out: its results. */
static void reverse_results(reverse_scan *r, const scan_class *made, damo_var *const *out) {
  const scan_class *s = r->s;
  build *b = r->b;
  int state = 0, collect = 0;
  for (int i = 0; i < s->n_state && b->status == DAMO_OK; i++) {
    if (r->total[i] == NULL) continue;
    const scan_part *p = scan_state_at(s, i);
    r->gin[scan_in(s, p)] = state_cotangent(r, out, scan_state_at(made, state), i);
    state += p->span;
  }
  for (int i = 0; i < s->n_fixed; i++) {
    const scan_part *p = scan_fixed_at(s, i);
    damo_var *flow = r->flow[p->first];
    r->gin[scan_in(s, p)] = scan_is_flow(flow) ? out[scan_state_at(made, state++)->last] : is_null(flow) ? flow : NULL;
  }
  for (int i = 0; i < s->n_seq && b->status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    damo_var **gin = &r->gin[scan_in(s, p)];
    for (int k = p->first; k < p->first + p->n && b->status == DAMO_OK; k++) {
      if (is_null(r->flow[k])) *gin = r->flow[k];
      if (!scan_is_flow(r->flow[k])) continue;
      damo_var *g = out[scan_collect_at(made, collect++)->stack];
      damo_var *whole = rows_cotangent(r, r->node->in[1 + i], p->before + s->tap[k], p->span == 0, g);
      if (!is_null(*gin)) *gin = add_present(b, *gin, whole);
    }
  }
}

/* Zeros for the operands that results depend on through integers alone. */
static void reverse_fill(reverse_scan *r) {
  for (int i = 1; i < r->node->n_in && r->b->status == DAMO_OK; i++) {
    damo_var *x = r->node->in[i];
    bool connected = false;
    for (int o = 0; o < r->node->n_out; o++)
      connected = connected || (r->gout[o] != NULL && r->s->connected[i * r->s->n_out + o]);
    if (r->gin[i] == NULL && connected && type_has_shape(x->type)) r->gin[i] = build_zero_grad(r->b, x);
  }
}

/* No gradient at all: what it would be made of is undefined. */
static void reverse_give_undefined(reverse_scan *r, const damo_var *why) {
  for (int i = 1; i < r->node->n_in; i++) {
    bool connected = false;
    for (int o = 0; o < r->node->n_out; o++)
      connected = connected || (r->gout[o] != NULL && r->s->connected[i * r->s->n_out + o]);
    if (connected) r->gin[i] = build_null(r->b, why->type->why);
  }
}

/* A result of the forward loop that keeps it in the graph, so that its updates are made; NULL: it has none. */
static damo_var *update_result(const reverse_scan *r) {
  for (int i = 0; i < r->s->n_state; i++) {
    const scan_part *p = scan_state_at(r->s, i);
    if (p->update && p->last >= 0 && !r->s->hands_back) return r->node->out[p->last];
  }
  return NULL;
}

static void reverse_loop(reverse_scan *r) {
  const scan_replay_draft again = {.forward = r->s,
                                   .in = r->node->in,
                                   .n = r->n,
                                   .past = r->past,
                                   .n_past = r->n_past,
                                   .checkpoint = r->s->checkpoint,
                                   .tie = update_result(r)};
  const damo_apply *node = r->fed ? scan_replay_node(&r->d, &again) : scan_draft_node(&r->d);
  if (node != NULL) reverse_results(r, scan_reverse_class(node), node->out);
}

static damo_status reverse_build(reverse_scan *r) {
  const scan_class *s = r->s;
  build *b = r->b;
  r->n = s->until ? r->node->out[s->n_out - 1] : r->node->in[0];
  DAMO_TRY(reverse_close(r));
  const damo_var *why = reverse_undefined(r);
  if (why != NULL) {
    reverse_give_undefined(r, why);
    return b->status;
  }
  r->d.n_steps = r->n;
  if (s->truncate > 0) {
    r->d.n_steps = build_minimum(b, r->n, scan_i64(b, s->truncate));
    r->skip = build_sub(b, r->n, r->d.n_steps);
  }
  DAMO_TRY(b->status);
  DAMO_TRY(reverse_parts(r));
  if (r->d.n_parts > 0) reverse_loop(r);
  reverse_fill(r);
  return b->status;
}

damo_status scan_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const scan_class *s = scan_at(node->op);
  reverse_scan r = {.b = b, .s = s, .node = node, .gout = gout, .gin = gin};
  DAMO_TRY(reverse_alloc(&r));
  scan_draft_init(&r.d, b);
  r.d.mode = s->mode;
  reverse_name(&r);
  r.d.flipped = r.d.derived = r.d.no_updates = true;
  for (int i = 0; i < node->n_in; i++) gin[i] = NULL;
  reverse_build(&r);
  scan_draft_clear(&r.d);
  mem_free(b->ctx, r.block, r.bytes);
  return b->status;
}
