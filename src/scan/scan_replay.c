/* scan_replay.c: ScanGrad, the reverse loop of a Scan over states that are computed again.
 *
 * The reverse loop reads the past of states, last step first. ScanGrad has the Op of the loop that computes these states,
 * `forward`, and that of the reverse loop, `reverse`, whose last sequences are no operands: each of its steps is fed with
 * taps of the forward loop's states. A run keeps checkpoints, which are the past values of all states before a step, and
 * computes what lies between them again (scan_schedule.h). They are lists of objects, so states may be sparse and may
 * change their shape; those of shared Variables and generators are among them, so each step draws the same numbers.
 *
 * Inputs: the forward loop's, the reverse loop's but for what is fed, then results of the user's loop that nothing reads
 * here; they keep that loop in the graph, which makes its updates. Outputs: the reverse loop's.
 */
#include <string.h>

#include "grad/grad.h"
#include "scan_frame.h"

typedef struct replay_props {
  prop_value forward, reverse, fed, checkpoint;
} replay_props;

damo_op *scan_replay_forward(const damo_op *op) { return OP_PROPS(op, replay_props)->forward.u.op; }
damo_op *scan_replay_reverse(const damo_op *op) { return OP_PROPS(op, replay_props)->reverse.u.op; }
int scan_replay_n_fed(const damo_op *op) { return OP_PROPS(op, replay_props)->fed.n; }
int scan_replay_fed(const damo_op *op, int q) { return (int)OP_PROPS(op, replay_props)->fed.u.list[q].u.i; }
int64_t scan_replay_checkpoint(const damo_op *op) { return OP_PROPS(op, replay_props)->checkpoint.u.i; }

static scan_class *forward_class(const damo_op *op) { return scan_at(scan_replay_forward(op)); }
static scan_class *reverse_class(const damo_op *op) { return scan_at(scan_replay_reverse(op)); }
static int operands_of(const scan_class *s) { return 1 + s->n_seq + s->n_state + s->n_fixed; }

int scan_replay_first_reverse(const damo_op *op) { return operands_of(forward_class(op)); }
int scan_replay_first_unread(const damo_op *op) {
  return scan_replay_first_reverse(op) + operands_of(reverse_class(op)) - scan_replay_n_fed(op);
}

static bool is_replay(const replay_props *p) {
  if (p->forward.kind != PROP_OP || p->reverse.kind != PROP_OP || p->fed.kind != PROP_LIST) return false;
  if (scan_of(p->forward.u.op) == NULL || scan_of(p->reverse.u.op) == NULL || p->checkpoint.kind != PROP_INT)
    return false;
  const scan_class *forward = scan_at(p->forward.u.op);
  bool is = p->fed.n <= scan_at(p->reverse.u.op)->n_seq;
  for (int q = 0; is && q < p->fed.n; q++) {
    const prop_value *k = &p->fed.u.list[q];
    is = k->kind == PROP_INT && k->u.i >= scan_first_past(forward) && k->u.i < scan_first_fixed(forward);
  }
  return is;
}

static damo_status replay_init(damo_op *op) {
  if (op->n_props == 4 && is_replay(OP_PROPS(op, replay_props))) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE,
                  "ScanGrad: its properties must be two Scans, the states that are read, and a "
                  "checkpoint; damo.grad makes it");
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static int replay_count(const damo_op *op, int n_in) {
  (void)n_in;
  return reverse_class(op)->n_out;
}

static damo_status replay_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_op *reverse = scan_replay_reverse(op);
  return reverse->def->infer_type(reverse, in + scan_replay_first_reverse(op), n_in - scan_replay_first_reverse(op),
                                  out);
}

/* Fits the operands of class s, but the last `fed` sequences, from `in`; returns how many there are. */
static int fit_operands(build *b, const scan_class *s, int fed, damo_var *const *in, damo_var **out) {
  int n = 0;
  out[n] = build_cast(b, in[n], DAMO_INT64);
  n++;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    if (i >= s->n_seq - fed && i < s->n_seq) continue;
    out[n] = scan_fit(b, s, &s->part[i], in[n]);
    n++;
  }
  return n;
}

static damo_apply *replay_make_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  const scan_class *forward = forward_class(op), *reverse = reverse_class(op);
  if (n_in < scan_replay_first_unread(op)) {
    build_fail(b, DAMO_ETYPE, "ScanGrad: expected %d inputs or more, got %d", scan_replay_first_unread(op), n_in);
    return NULL;
  }
  const size_t bytes = ((size_t)n_in + (size_t)reverse->n_out) * sizeof(void *);
  damo_var **all = mem_calloc(b->ctx, bytes);
  if (all == NULL) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  damo_type **types = (damo_type **)(all + n_in);
  int n = fit_operands(b, forward, 0, in, all);
  n += fit_operands(b, reverse, scan_replay_n_fed(op), in + n, all + n);
  memcpy(all + n, in + n, (size_t)(n_in - n) * sizeof *all);
  damo_status s = b->status == DAMO_OK ? replay_types(op, all, n_in, types) : b->status;
  damo_apply *node = s == DAMO_OK ? apply_new(b->ctx, op, all, n_in, types, reverse->n_out) : NULL;
  if (node == NULL && b->status == DAMO_OK) b->status = damo_error_status(b->ctx);
  for (int o = 0; o < reverse->n_out; o++) damo_release(types[o]);
  mem_free(b->ctx, all, bytes);
  return node;
}

/* Nothing depends differentiably on numbers of steps, or on what is not read. */
static void replay_connections(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) {
    const bool is = i != 0 && i != scan_replay_first_reverse(node->op) && i < scan_replay_first_unread(node->op);
    for (int o = 0; o < node->n_out; o++) connected[i * node->n_out + o] = is;
  }
}

static damo_fgraph *replay_inner_graph(const damo_op *op) { return reverse_class(op)->fgraph; }

static bool replay_folds(const damo_apply *node) {
  return inner_traits_of(forward_class(node->op)->fgraph).folds &&
         inner_traits_of(reverse_class(node->op)->fgraph).folds;
}

static void replay_format(strbuf *out, const damo_op *op) {
  const char *name = reverse_class(op)->name;
  strbuf_add(out, op->def->name);
  if (name != NULL) strbuf_addf(out, "{%s}", name);
}

/* ---- Checkpoints ------------------------------------------------------------------------------------------------- */

typedef struct replay_state {
  scan_frame forward, reverse;
  char *kept; /* n_kept checkpoints, of ascending steps: int64_t, the step; the ring before that step, owned */
  int64_t n_kept, cap;
} replay_state;

static size_t checkpoint_bytes(int32_t n_ring) { return sizeof(int64_t) + (size_t)n_ring * sizeof(damo_obj *); }
static int64_t *checkpoint_step(const replay_state *w, int32_t n_ring, int64_t i) {
  return (int64_t *)(void *)(w->kept + (size_t)i * checkpoint_bytes(n_ring));
}
static damo_obj **checkpoint_ring(const replay_state *w, int32_t n_ring, int64_t i) {
  return (damo_obj **)(checkpoint_step(w, n_ring, i) + 1);
}

/* One run. */
typedef struct replay_run {
  const thunk *t;
  frame *f;
  replay_state *w;
  scan_class *forward, *reverse;
  scan_schedule schedule;
  loop_clock clock;
  int64_t at; /* the step before which the forward loop's states are */
  int32_t n_ring;
  size_t held, most; /* profiled: bytes of the checkpoints, and the most that they were */
} replay_run;

/* Whether the array's memory is that of a state's initial value, or of a value of checkpoint i. */
static bool is_held_beside(const replay_run *r, const damo_array *a, int64_t i) {
  for (int k = 0; k < r->forward->n_state; k++) {
    const scan_part *p = scan_state_at(r->forward, k);
    if (profile_is_memory_of(a, thunk_value(r->t, r->f, scan_operand(r->forward, &r->w->forward, p)))) return true;
  }
  for (int k = 0; k < r->n_ring && i >= 0; k++) {
    if (profile_is_memory_of(a, checkpoint_ring(r->w, r->n_ring, i)[k])) return true;
  }
  return false;
}

/* The bytes that the last checkpoint holds and the one before does not: rings of steps in a row share values. */
static size_t last_bytes(const replay_run *r) {
  size_t bytes = 0;
  for (int k = 0; k < r->n_ring; k++) {
    const damo_array *held[PROFILE_MOST_ARRAYS];
    const int n = profile_arrays(checkpoint_ring(r->w, r->n_ring, r->w->n_kept - 1)[k], held);
    for (int i = 0; i < n; i++) {
      if (held[i] != NULL && held[i]->buf != NULL && !is_held_beside(r, held[i], r->w->n_kept - 2))
        bytes += (size_t)array_size(held[i]) * dtype_size(array_dtype(held[i]));
    }
  }
  return bytes;
}

/* Counts the last checkpoint, which has come or is about to go. */
static void count_checkpoint(replay_run *r, bool has_come) {
  if (!r->f->profiled) return;
  const size_t bytes = last_bytes(r);
  r->held = has_come ? r->held + bytes : r->held - bytes;
  if (r->held > r->most) r->most = r->held;
}

/* Keeps the states before step r->at. Arrays become read-only: a step that works in place copies them. */
static damo_status keep_checkpoint(replay_run *r) {
  replay_state *w = r->w;
  const size_t size = checkpoint_bytes(r->n_ring);
  if (w->n_kept == w->cap) {
    const int64_t cap = 2 * w->cap + 8;
    char *grown = mem_realloc(r->f->ctx, w->kept, (size_t)w->cap * size, (size_t)cap * size);
    if (grown == NULL) return DAMO_EMEMORY;
    w->kept = grown;
    w->cap = cap;
  }
  *checkpoint_step(w, r->n_ring, w->n_kept) = r->at;
  damo_obj **ring = checkpoint_ring(w, r->n_ring, w->n_kept);
  for (int i = 0; i < r->n_ring; i++) {
    ring[i] = damo_retain(w->forward.ring[i]);
    if (ring[i]->kind == OBJ_ARRAY) ((damo_array *)ring[i])->writeable = false;
  }
  w->n_kept++;
  count_checkpoint(r, true);
  return DAMO_OK;
}

static void drop_checkpoint(replay_state *w, int32_t n_ring) {
  damo_obj **ring = checkpoint_ring(w, n_ring, --w->n_kept);
  for (int i = 0; i < n_ring; i++) damo_release(ring[i]);
}

static int64_t last_checkpoint(const replay_run *r) { return *checkpoint_step(r->w, r->n_ring, r->w->n_kept - 1); }

/* Puts the forward loop's states back to the last checkpoint. */
static void restore_checkpoint(replay_run *r) {
  damo_obj **ring = checkpoint_ring(r->w, r->n_ring, r->w->n_kept - 1), **now = r->w->forward.ring;
  for (int i = 0; i < r->n_ring; i++) {
    damo_obj *old = now[i];
    now[i] = damo_retain(ring[i]);
    damo_release(old);
  }
  r->at = last_checkpoint(r);
}

/* Computes the states before step `to`, from those before step r->at. */
static damo_status compute_states(replay_run *r, int64_t to) {
  scan_frame *w = &r->w->forward;
  bool stop = false;
  for (; r->at < to; r->at++) {
    DAMO_TRY(scan_poll(r->f->ctx, &r->clock));
    scan_seek(r->t, r->f, r->forward, w, r->at);
    scan_set_args(r->t, r->f, r->forward, w);
    DAMO_TRY(scan_step(r->f, r->forward, w, r->at, to));
    DAMO_TRY(scan_keep(r->t, r->f, r->forward, w, r->at, to, &stop));
  }
  return DAMO_OK;
}

/* The same for a step that may lie behind, with checkpoints on the way. */
static damo_status replay_to(replay_run *r, int64_t to) {
  if (r->at > to) restore_checkpoint(r);
  while (r->at < to) {
    const int64_t next = schedule_next(&r->schedule, r->at, to, r->w->n_kept);
    DAMO_TRY(compute_states(r, next < 0 ? to : next));
    if (r->at < to) DAMO_TRY(keep_checkpoint(r));
  }
  return DAMO_OK;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Gives the next reverse step the forward loop's states. */
static void feed(replay_run *r) {
  scan_frame *forward = &r->w->forward, *reverse = &r->w->reverse;
  const damo_op *op = r->t->node->op;
  const int first = scan_first_past(r->reverse) - reverse->n_fed;
  scan_set_args(r->t, r->f, r->forward, forward);
  for (int q = 0; q < reverse->n_fed; q++) reverse->args[first + q] = forward->args[scan_replay_fed(op, q)];
}

static damo_status replay_steps(replay_run *r, int64_t begin, int64_t end) {
  scan_frame *reverse = &r->w->reverse;
  bool stop = false;
  DAMO_TRY(compute_states(r, begin));
  feed(r);
  if (begin == end) return DAMO_OK;
  schedule_init(&r->schedule, scan_replay_checkpoint(r->t->node->op), begin, end);
  DAMO_TRY(keep_checkpoint(r));
  for (int64_t k = 0; k < end - begin; k++) {
    const int64_t step = end - 1 - k;
    DAMO_TRY(scan_poll(r->f->ctx, &r->clock));
    DAMO_TRY(replay_to(r, step));
    feed(r);
    if (k > 0) scan_advance(r->t, r->f, r->reverse, reverse);
    scan_set_args(r->t, r->f, r->reverse, reverse);
    DAMO_TRY(scan_step(r->f, r->reverse, reverse, k, end - begin));
    DAMO_TRY(scan_keep(r->t, r->f, r->reverse, reverse, k, end - begin, &stop));
    if (last_checkpoint(r) != step) continue;
    count_checkpoint(r, false);
    drop_checkpoint(r->w, r->n_ring);
  }
  return DAMO_OK;
}

static damo_status replay_loops(replay_run *r, int64_t begin, int64_t end) {
  frame *f = r->f;
  scan_frame *forward = &r->w->forward, *reverse = &r->w->reverse;
  scan_drop_last(r->t, f, r->reverse);
  DAMO_TRY(scan_start(r->t, f, r->forward, forward));
  DAMO_TRY(scan_start(r->t, f, r->reverse, reverse));
  DAMO_TRY(scan_begin(f, forward));
  damo_status status = scan_begin(f, reverse);
  if (status == DAMO_OK) {
    status = replay_steps(r, begin, end);
    scan_end(f, reverse);
  }
  scan_end(f, forward);
  return status == DAMO_OK ? scan_give(r->t, f, r->reverse, reverse, end - begin) : status;
}

static void place_frames(const thunk *t, replay_state *w) {
  w->reverse.first_in = scan_replay_first_reverse(t->node->op);
  w->reverse.n_fed = scan_replay_n_fed(t->node->op);
}

static damo_status replay_functions(const thunk *t, frame *f) {
  replay_state *w = thunk_state(t, f);
  if (scan_frame_function(forward_class(t->node->op), &w->forward, f) != NULL &&
      scan_frame_function(reverse_class(t->node->op), &w->reverse, f) != NULL)
    return DAMO_OK;
  return damo_error_status(f->ctx);
}

static damo_status replay_perform(const thunk *t, frame *f) {
  replay_state *w = thunk_state(t, f);
  replay_run r = {.t = t,
                  .f = f,
                  .w = w,
                  .forward = forward_class(t->node->op),
                  .reverse = reverse_class(t->node->op),
                  .clock = {.every = 1, .left = 1}};
  place_frames(t, w);
  const int64_t n = scalar_to_int64(array_item(thunk_in(t, f, 0)));
  const int64_t back = scalar_to_int64(array_item(thunk_in(t, f, w->reverse.first_in)));
  DAMO_TRY(scan_check_lengths(t, f, r.forward, &w->forward, n));
  DAMO_TRY(scan_check_lengths(t, f, r.reverse, &w->reverse, back));
  if (back > n)
    return ctx_fail(f->ctx, DAMO_EVALUE, "ScanGrad: can't go back over %lld of %lld steps", (long long)back,
                    (long long)n);
  DAMO_TRY(replay_functions(t, f));
  DAMO_TRY(scan_frame_reserve(r.forward, &w->forward, f->ctx));
  DAMO_TRY(scan_frame_reserve(r.reverse, &w->reverse, f->ctx));
  if (back > 0 && scan_has_past(t, f, r.forward, &w->forward) && scan_has_past(t, f, r.reverse, &w->reverse) &&
      scan_replay_has_code(t, f, r.forward, &w->forward, r.reverse, &w->reverse, n))
    return scan_replay_run_code(t, f, r.forward, &w->forward, r.reverse, &w->reverse, n - back, n);
  r.n_ring = w->forward.ring_at[r.forward->n_state];
  const damo_status status = replay_loops(&r, n - back, n);
  thunk_local_of(t, f)->transient = r.most;
  while (w->n_kept > 0) drop_checkpoint(w, r.n_ring);
  scan_frame_release(r.forward, &w->forward, true);
  scan_frame_release(r.reverse, &w->reverse, true);
  return status;
}

static void replay_state_clear(const thunk *t, frame *f) {
  replay_state *w = thunk_state(t, f);
  const scan_class *forward = forward_class(t->node->op);
  if (w->kept != NULL)
    mem_free(f->ctx, w->kept, (size_t)w->cap * checkpoint_bytes(w->forward.ring_at[forward->n_state]));
  w->kept = NULL;
  w->cap = 0;
  scan_frame_clear(forward, &w->forward, f->ctx);
  scan_frame_clear(reverse_class(t->node->op), &w->reverse, f->ctx);
}

const damo_function *scan_replay_running(const thunk *t, const frame *f) {
  return ((const replay_state *)thunk_state(t, f))->reverse.inner;
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* What the node computes, as loops over states that are all kept; out: borrowed from the scope. */
static damo_status replay_unfold(build *b, const damo_op *op, damo_var *const *in, damo_var **out) {
  const scan_class *forward = forward_class(op), *reverse = reverse_class(op);
  for (int i = 0; i < forward->n_state; i++) {
    const scan_part *p = scan_state_at(forward, i);
    if (scan_is_stacked(scan_inner_in(forward, p->first)->type)) continue;
    build_fail(b, DAMO_ENOT_IMPLEMENTED, "%s: no second derivative through the sparse state that is output %d",
               op->def->name, p->number);
  }
  DAMO_TRY(b->status);
  const damo_apply *kept = scan_keep_states(b, forward, in, in[0]);
  const int n = operands_of(reverse);
  damo_var **all = kept != NULL ? mem_alloc(b->ctx, (size_t)n * sizeof *all) : NULL;
  if (all == NULL) return b->status = b->status != DAMO_OK ? b->status : DAMO_EMEMORY;
  const scan_class *stacked = scan_at(kept->op);
  damo_var *const *next = in + scan_replay_first_reverse(op);
  for (int i = 0; i < n; i++) {
    const int q = i - 1 - (reverse->n_seq - scan_replay_n_fed(op)); /* number of a fed sequence */
    if (q < 0 || q >= scan_replay_n_fed(op)) {
      all[i] = *next++;
      continue;
    }
    const int k = scan_replay_fed(op, q);
    const int64_t state = scan_state_of(forward, k) - scan_state_at(forward, 0);
    all[i] = scan_past_rows(b, forward, in, in[0], k, kept->out[scan_state_at(stacked, (int)state)->stack]);
  }
  const damo_apply *node = b->status == DAMO_OK ? build_apply(b, damo_retain(scan_replay_reverse(op)), all, n) : NULL;
  for (int o = 0; node != NULL && o < node->n_out; o++) out[o] = node->out[o];
  mem_free(b->ctx, all, (size_t)n * sizeof *all);
  return b->status;
}

/* The derivatives of a node, made over Variables that stand for its inputs and the given values. */
typedef struct replay_derivative {
  build *b;
  damo_apply *node;
  damo_var **in, **given, **out; /* by input: its stand-in; stand-ins of given values; by output: the result */
  damo_var **x, **y;             /* operands of the derivative; its results, owned */
  int *at;                       /* the numbers of the inputs or outputs that the results belong to */
  int n;                         /* inputs that are read */
  map memo;                      /* stand-in → what it stands for */
  size_t bytes;
} replay_derivative;

static damo_var *stand_in(replay_derivative *d, damo_var *v) {
  damo_var *s = build_take(d->b, var_new(d->b->ctx, v->type, NULL));
  if (s != NULL && map_put(&d->memo, s, (uintptr_t)v) != DAMO_OK) d->b->status = DAMO_EMEMORY;
  return s;
}

static damo_status derivative_begin(replay_derivative *d, damo_var *const *given, int n_given) {
  const size_t most = (size_t)(d->node->n_in > d->node->n_out ? d->node->n_in : d->node->n_out);
  map_init(&d->memo, d->b->ctx);
  d->bytes = most * (5 * sizeof(damo_var *) + sizeof(int));
  d->in = mem_calloc(d->b->ctx, d->bytes);
  if (d->in == NULL) return d->b->status = DAMO_EMEMORY;
  d->given = d->in + most;
  d->out = d->given + most;
  d->x = d->out + most;
  d->y = d->x + most;
  d->at = (int *)(d->y + most);
  d->n = scan_replay_first_unread(d->node->op);
  for (int i = 0; i < d->n && d->b->status == DAMO_OK; i++)
    d->in[i] = d->node->in[i]->kind == VAR_CONSTANT ? d->node->in[i] : stand_in(d, d->node->in[i]);
  for (int i = 0; i < n_given && d->b->status == DAMO_OK; i++)
    d->given[i] = given[i] != NULL && given[i]->type->kind != TYPE_DISCONNECTED ? stand_in(d, given[i]) : NULL;
  return d->b->status == DAMO_OK ? replay_unfold(d->b, d->node->op, d->in, d->out) : d->b->status;
}

/* Copies the n results d->y over what the stand-ins stand for, into to[d->at[i]]. */
static damo_status derivative_end(replay_derivative *d, damo_status s, int n, damo_var **to) {
  for (int i = 0; i < n && s == DAMO_OK; i++) {
    damo_var *copy = NULL;
    if (d->y[i] == NULL || d->y[i]->type->kind == TYPE_DISCONNECTED) continue;
    s = graph_clone(d->b->ctx, &d->y[i], 1, &d->memo, false, NULL, &copy);
    if (s == DAMO_OK) to[d->at[i]] = build_take(d->b, copy);
  }
  for (int i = 0; i < n; i++) damo_release(d->y[i]);
  if (s != DAMO_OK && d->b->status == DAMO_OK) d->b->status = s;
  return d->b->status;
}

static void derivative_clear(replay_derivative *d) {
  map_clear(&d->memo);
  if (d->in != NULL) mem_free(d->b->ctx, d->in, d->bytes);
}

static bool has_derivative(const damo_var *v) { return type_has_shape(v->type) && !dtype_is_discrete(v->type->dtype); }

static damo_status replay_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  replay_derivative d = {.b = b, .node = node};
  damo_status s = derivative_begin(&d, gout, node->n_out);
  int known = 0, n = 0;
  for (int o = 0; s == DAMO_OK && o < node->n_out; o++) {
    if (d.given[o] == NULL) continue;
    d.given[known] = d.given[o];
    d.out[known++] = d.out[o];
  }
  for (int i = 1; s == DAMO_OK && i < d.n; i++) {
    if (!has_derivative(node->in[i])) continue;
    d.at[n] = i;
    d.x[n++] = d.in[i];
  }
  if (s == DAMO_OK) {
    const grad_options options = {.known = d.given,
                                  .known_of = d.out,
                                  .n_known = known,
                                  .disconnected_inputs = DISCONNECTED_IGNORE,
                                  .null_gradients_return = true};
    s = grad_reverse(b->ctx, NULL, d.x, n, &options, d.y);
    s = derivative_end(&d, s, s == DAMO_OK ? n : 0, gin);
  }
  for (int i = 1; s == DAMO_OK && i < d.n; i++) {
    if (gin[i] == NULL && i != scan_replay_first_reverse(node->op) && type_has_shape(node->in[i]->type))
      gin[i] = build_zero_grad(b, node->in[i]);
  }
  derivative_clear(&d);
  return b->status;
}

/* ---- The class --------------------------------------------------------------------------------------------------- */

static damo_status replay_prepare_foreign(const thunk *t, frame *f) { return replay_functions(t, f); }

const op_def scan_replay_def = {
    .name = "ScanGrad",
    .doc = "a loop over time backwards, over states that are computed again from checkpoints",
    .props = PROPS(PROP(replay_props, forward), PROP(replay_props, reverse), PROP(replay_props, fed),
                   PROP(replay_props, checkpoint)),
    .n_in = OP_VARIADIC,
    .least_in = OP_NO_INPUT,
    .n_out = OP_VARIADIC,
    .init = replay_init,
    .count_out = replay_count,
    .infer_type = replay_types,
    .make_node = replay_make_node,
    .perform = replay_perform,
    .state_size = sizeof(replay_state),
    .state_clear = replay_state_clear,
    .grad = replay_l_op,
    .rop = scan_replay_r_op,
    .connection_pattern = replay_connections,
    .do_constant_folding = replay_folds,
    .inner_graph = replay_inner_graph,
    .format = replay_format,
    .emit_c = scan_replay_emit_c,
    .prepare_foreign = replay_prepare_foreign,
    .no_check = "in DEBUG mode its inner graphs run in that mode",
};

damo_op *scan_replay_op(damo_ctx *ctx, damo_op *forward, damo_op *reverse, const int32_t *fed, int n_fed,
                        int64_t checkpoint) {
  const size_t bytes = (size_t)n_fed * sizeof(prop_value);
  prop_value *list = mem_alloc(ctx, bytes);
  if (list == NULL) return NULL;
  for (int q = 0; q < n_fed; q++) list[q] = prop_int(fed[q]);
  const replay_props p = {.forward = {.kind = PROP_OP, .u.op = forward},
                          .reverse = {.kind = PROP_OP, .u.op = reverse},
                          .fed = prop_list(list, n_fed),
                          .checkpoint = prop_int(checkpoint)};
  damo_op *op = op_new(ctx, &scan_replay_def, &p);
  mem_free(ctx, list, bytes);
  return op;
}
