/* scan_c.c: loops over time as C source. The inner graph is a function of the file. The values of a state whose rows are
 * all kept lie in its stacked result; those of another one in a ring of span + 1 slots, slot (k + span) % (span + 1) for
 * step k. A few numbers that only the next step reads lie in local arrays, which compilers keep in registers. */
#include "graph/c_emit.h"
#include "scan_int.h"

#include <string.h>

/* A loop while its code is written. */
typedef struct c_loop {
  c_emit *e;
  const scan_class *s;
  int32_t first_in, n_fed; /* as in scan_frame */
  int64_t n;               /* steps, at most */
  bool varies;             /* there may be fewer */
  int32_t id;              /* of its names */
  bool results;            /* stacks and last values are the node's outputs; else only states are kept, in rings */
  c_function fn;
  c_value **in;     /* per inner input: what it is of; its pointer is not used */
  c_value **start;  /* per state: the initial values, C-contiguous rows */
  c_value **ring;   /* per state: its ring; NULL: it lies in its stacked result */
  c_value **stack;  /* per part: its stacked result, NULL: none */
  c_value **result; /* per inner output: where steps write it if that is neither a ring nor a row, else NULL */
} c_loop;

static int c_loop_operand(const c_loop *l, int part) {
  return l->first_in + 1 + (part < l->s->n_seq ? part : part - l->n_fed);
}
static c_value *c_loop_of(const c_loop *l, int part) { return ce_in(l->e, c_loop_operand(l, part)); }
static int64_t c_loop_kept(const c_loop *l, const scan_part *p) {
  return p->tail > 0 && p->tail < l->n ? p->tail : l->n;
}

/* The row of a stack for step k, as an expression. */
static const char *c_loop_row(const c_loop *l, const scan_part *p, const char *k) {
  const int64_t skip = l->n - c_loop_kept(l, p);
  if (l->s->flipped) return ce_text(l->e, "(%lld - %s)", (long long)(l->n - 1 - skip), k);
  return skip > 0 ? ce_text(l->e, "(%s - %lld)", k, (long long)skip) : k;
}

/* Rows of x as a descriptor of one of them. */
static c_value *c_loop_row_of(c_loop *l, const c_value *x) {
  return ce_view(l->e, x, x->ndim - 1, x->shape + 1, x->strides + 1, 0);
}

/* Row k of a known x. */
static c_value *c_loop_known_row(c_loop *l, const c_value *x, int64_t k) {
  return ce_view(l->e, x, x->ndim - 1, x->shape + 1, x->strides + 1, k * x->strides[0]);
}

static c_value *c_loop_unknown(c_value *v) {
  if (v != NULL) v->known = NULL;
  return v;
}

/* Initial values, and what the inner inputs are. fed: descriptors of the sequences that are no operands. */
static damo_status c_loop_begin(c_loop *l, c_value *const *fed) {
  c_emit *e = l->e;
  const scan_class *s = l->s;
  l->id = e->n_labels++;
  const size_t n_parts = (size_t)s->n_parts + 1;
  l->in = c_file_alloc(e->file, ((size_t)s->n_in + 3 * n_parts + (size_t)s->fgraph->outputs.n) * sizeof *l->in);
  if (l->in == NULL) return DAMO_EMEMORY;
  l->start = l->in + s->n_in;
  l->ring = l->start + n_parts;
  l->stack = l->ring + n_parts;
  l->result = l->stack + n_parts;
  for (int i = 0; i < s->n_seq; i++) {
    const scan_part *p = &s->part[i];
    const bool is_fed = i >= s->n_seq - l->n_fed;
    const c_value *x = is_fed ? NULL : c_loop_of(l, i);
    if (!is_fed && x->shape[0] - p->span < l->n)
      return ce_refuse(e, "a sequence is too short for %lld steps", (long long)l->n);
    for (int k = p->first; k < p->first + p->n; k++) {
      if (is_fed)
        l->in[k] = fed[i - (s->n_seq - l->n_fed)];
      else if (l->n == 1 && x->known != NULL && !e->branches)
        l->in[k] = c_loop_known_row(l, x, p->before + s->tap[k]);
      else
        l->in[k] = c_loop_unknown(c_loop_row_of(l, x));
      if (l->in[k] == NULL) return e->status;
    }
  }
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    c_value *x = c_loop_of(l, (int)(p - s->part));
    if (x->ndim == 0 && !p->bare) return ce_refuse(e, "an initial value without rows");
    if (!p->bare && x->shape[0] < p->span) return ce_refuse(e, "an initial value has too few rows");
    if (!ce_is_contiguous(x)) {
      c_value *copy = ce_scratch_like(e, x->dtype, x->ndim, x->shape);
      ce_copy(e, copy, x);
      x = copy;
    }
    if (x == NULL) return e->status;
    l->start[i] = x;
    for (int k = p->first; k < p->first + p->n; k++) {
      l->in[k] = c_loop_unknown(p->bare ? ce_view(e, x, x->ndim, x->shape, x->strides, 0) : c_loop_row_of(l, x));
      if (l->in[k] == NULL) return e->status;
    }
  }
  for (int i = 0; i < s->n_fixed; i++) {
    const scan_part *p = scan_fixed_at(s, i);
    l->in[p->first] = c_loop_of(l, (int)(p - s->part));
  }
  return e->file->function(e, scan_at(s->op)->fn[e->file->reproducible], (const c_value *const *)l->in, &l->fn);
}

#define C_LOOP_LOCAL 8 /* numbers */

/* Whether state i lies in a local array. */
static bool c_loop_is_local(const c_loop *l, int i) {
  const scan_part *p = scan_state_at(l->s, i);
  const int64_t size = ce_size(l->in[p->first]);
  return p->span == 1 && size > 0 && size <= C_LOOP_LOCAL;
}

/* Whether the values of state p lie in its stacked result. */
static bool c_loop_in_stack(const c_loop *l, const scan_part *p) {
  return l->results && p->stack >= 0 && !l->varies && c_loop_kept(l, p) == l->n;
}

static damo_status c_loop_memory(c_loop *l) {
  c_emit *e = l->e;
  const scan_class *s = l->s;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->out < 0) continue;
    const c_value *row = l->fn.out[p->out];
    int64_t shape[DAMO_MAX_NDIM];
    if (p->role == SCAN_STATE) {
      const c_value *past = l->in[p->first];
      bool same = row->ndim == past->ndim && row->dtype == past->dtype;
      for (int k = 0; same && k < row->ndim; k++) same = row->shape[k] == past->shape[k];
      if (!same) return ce_refuse(e, "a state changes its shape");
    }
    memcpy(shape + 1, row->shape, (size_t)row->ndim * sizeof *shape);
    if (l->results && p->stack >= 0) {
      if (l->varies && !(c_loop_kept(l, p) == 1 && ce_known(e, l->first_in) != NULL))
        return ce_refuse(e, "the number of steps, on which a result's shape depends, is computed");
      shape[0] = c_loop_kept(l, p);
      if (row->ndim + 1 > DAMO_MAX_NDIM) return ce_refuse(e, "too many axes");
      l->stack[i] = ce_out(e, p->stack, row->dtype, row->ndim + 1, shape);
      if (l->stack[i] == NULL) return e->status;
    }
    const int state = i - s->n_seq;
    if (p->role == SCAN_STATE) {
      if (c_loop_in_stack(l, p) || c_loop_is_local(l, state)) continue;
      shape[0] = p->span + 1;
      l->ring[state] = ce_scratch_like(e, row->dtype, row->ndim + 1, shape);
      if (l->ring[state] == NULL) return e->status;
    } else if (l->stack[i] == NULL || l->varies || c_loop_kept(l, p) != l->n) {
      l->result[p->out] = ce_scratch_like(e, row->dtype, row->ndim, row->shape);
      if (l->result[p->out] == NULL) return e->status;
    }
  }
  const int cond = (int)s->fgraph->outputs.n - 1;
  if (s->until)
    l->result[cond] = ce_scratch_like(e, l->fn.out[cond]->dtype, l->fn.out[cond]->ndim, l->fn.out[cond]->shape);
  return e->status;
}

/* The address of state i's value of the step `back` before step k. */
static const char *c_loop_past(c_loop *l, int i, const char *k, int back) {
  c_emit *e = l->e;
  const scan_part *p = scan_state_at(l->s, i);
  const int64_t size = ce_size(l->in[p->first]);
  if (c_loop_is_local(l, i)) return ce_text(e, back == 0 ? "next%d_%d" : "state%d_%d", l->id, i);
  if (l->ring[i] != NULL)
    return ce_text(e, "%s + (%s + %d) %% %d * %lld", ce_p(e, l->ring[i]), k, p->span - back, p->span + 1,
                   (long long)size);
  const c_value *stack = l->stack[l->s->n_seq + i];
  return ce_text(e, "%s >= %d ? (const %s *)%s + %s * %lld : %s + (%s + %d) * %lld", k, back, ce_type(stack->dtype),
                 ce_p(e, stack), c_loop_row(l, p, ce_text(e, "(%s - %d)", k, back)), (long long)size,
                 ce_p(e, l->start[i]), k, p->span - back, (long long)size);
}

/* Puts the initial values into rings. */
static void c_loop_start(c_loop *l) {
  c_emit *e = l->e;
  for (int i = 0; i < l->s->n_state; i++) {
    const scan_part *p = scan_state_at(l->s, i);
    if (c_loop_is_local(l, i)) {
      const c_value *v = l->in[p->first];
      const char *type = ce_type(v->dtype), *from = ce_p(e, l->start[i]);
      const long long n = (long long)ce_size(v);
      ce_line(e, "%s state%d_%d[%lld], next%d_%d[%lld];", type, l->id, i, n, l->id, i, n);
      ce_line(e, "memcpy(state%d_%d, %s, %lld);", l->id, i, from, n * (long long)dtype_size(v->dtype));
      continue;
    }
    if (l->ring[i] == NULL) continue;
    const int64_t bytes = ce_size(l->in[p->first]) * p->span * (int64_t)dtype_size(l->ring[i]->dtype);
    if (bytes > 0) ce_line(e, "memcpy(%s, %s, %lld);", ce_p(e, l->ring[i]), ce_p(e, l->start[i]), (long long)bytes);
  }
}

/* The statements of step k: arguments, the call, rows. fed: addresses of what sequences that are no operands read. */
static damo_status c_loop_step(c_loop *l, const char *k, const char *const *fed, const c_value *work) {
  c_emit *e = l->e;
  const scan_class *s = l->s;
  const int64_t n_out = s->fgraph->outputs.n;
  ce_line(e, "const void *a%d[%d];", l->id, s->n_in > 0 ? s->n_in : 1);
  ce_line(e, "void *o%d[%lld];", l->id, n_out > 0 ? (long long)n_out : 1);
  for (int i = 0; i < s->n_seq; i++) {
    const scan_part *p = &s->part[i];
    for (int j = p->first; j < p->first + p->n; j++) {
      if (i >= s->n_seq - l->n_fed) {
        ce_line(e, "a%d[%d] = %s;", l->id, j, fed[i - (s->n_seq - l->n_fed)]);
        continue;
      }
      const c_value *x = c_loop_of(l, i);
      if (l->in[j]->known != NULL)
        ce_line(e, "a%d[%d] = 0;", l->id, j);
      else
        ce_line(e, "a%d[%d] = %s + (%s + %d) * %lld;", l->id, j, ce_p(e, x), k, p->before + s->tap[j],
                (long long)x->strides[0]);
    }
  }
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    for (int j = p->first; j < p->first + p->n; j++)
      ce_line(e, "a%d[%d] = %s;", l->id, j, c_loop_past(l, i, k, -s->tap[j]));
  }
  for (int i = 0; i < s->n_fixed; i++) {
    const scan_part *p = scan_fixed_at(s, i);
    if (l->in[p->first]->known != NULL)
      ce_line(e, "a%d[%d] = 0;", l->id, p->first);
    else
      ce_line(e, "a%d[%d] = %s;", l->id, p->first, ce_p(e, l->in[p->first]));
  }
  for (int i = s->n_seq; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->out < 0) continue;
    const int64_t size = ce_size(l->fn.out[p->out]);
    if (l->result[p->out] != NULL) continue;
    if (p->role == SCAN_STATE && (l->ring[i - s->n_seq] != NULL || c_loop_is_local(l, i - s->n_seq)))
      ce_line(e, "o%d[%d] = %s;", l->id, p->out, c_loop_past(l, i - s->n_seq, k, 0));
    else
      ce_line(e, "o%d[%d] = %s + %s * %lld;", l->id, p->out, ce_p(e, l->stack[i]), c_loop_row(l, p, k),
              (long long)size);
  }
  for (int64_t o = 0; o < n_out; o++) {
    if (l->result[o] != NULL) ce_line(e, "o%d[%lld] = %s;", l->id, (long long)o, ce_p(e, l->result[o]));
  }
  ce_line(e, "if (s%d(a%d, o%d, data, (unsigned char *)%s) != 0) return 1;", (int)l->fn.number, l->id, l->id,
          ce_p(e, work));
  for (int i = s->n_seq; i < s->n_parts && l->results; i++) {
    const scan_part *p = &s->part[i];
    const bool local = p->role == SCAN_STATE && c_loop_is_local(l, i - s->n_seq);
    if (p->out < 0 || p->stack < 0 || (c_loop_in_stack(l, p) && !local) ||
        (p->role == SCAN_COLLECT && l->result[p->out] == NULL))
      continue;
    const int64_t size = ce_size(l->fn.out[p->out]), bytes = size * (int64_t)dtype_size(l->stack[i]->dtype);
    if (bytes == 0) continue;
    const int64_t skip = l->n - c_loop_kept(l, p);
    const char *row = l->varies ? "0" : c_loop_row(l, p, k);
    const char *condition = l->varies || skip == 0 ? ""
                            : s->flipped           ? ce_text(e, "if (%s >= 0) ", row)
                                                   : ce_text(e, "if (%s >= %lld) ", k, (long long)skip);
    ce_line(e, "%smemcpy(%s + %s * %lld, o%d[%d], %lld);", condition, ce_p(e, l->stack[i]), row, (long long)size, l->id,
            p->out, (long long)bytes);
  }
  for (int i = 0; i < s->n_state; i++) {
    const c_value *v = l->in[scan_state_at(s, i)->first];
    if (c_loop_is_local(l, i))
      ce_line(e, "memcpy(state%d_%d, next%d_%d, %lld);", l->id, i, l->id, i,
              (long long)(ce_size(v) * (int64_t)dtype_size(v->dtype)));
  }
  return e->status;
}

/* The last values after `steps` steps, an expression. */
static damo_status c_loop_end(c_loop *l, const char *steps) {
  c_emit *e = l->e;
  const scan_class *s = l->s;
  for (int i = s->n_seq; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->last < 0) continue;
    const c_value *row = l->fn.out[p->out];
    c_value *out = ce_out(e, p->last, row->dtype, row->ndim, row->shape);
    if (out == NULL) return e->status;
    const int64_t bytes = ce_size(row) * (int64_t)dtype_size(row->dtype);
    if (p->role == SCAN_COLLECT && l->n == 0) return ce_refuse(e, "the last value after no step");
    if (p->role == SCAN_COLLECT && ce_known(e, l->first_in) == NULL) ce_fail_if(e, "%s == 0", steps);
    if (bytes == 0) continue;
    const char *from;
    if (p->role == SCAN_STATE)
      from = c_loop_past(l, i - s->n_seq, steps, 1);
    else if (l->result[p->out] != NULL)
      from = ce_p(e, l->result[p->out]);
    else
      from = ce_text(e, "%s + %s * %lld", ce_p(e, l->stack[i]), c_loop_row(l, p, ce_text(e, "(%s - 1)", steps)),
                     (long long)ce_size(row));
    ce_line(e, "memcpy(%s, %s, %lld);", ce_p(e, out), from, (long long)bytes);
  }
  return e->status;
}

/* The most steps that the loop can take. */
static damo_status c_loop_length(c_loop *l) {
  c_emit *e = l->e;
  const c_value *n = ce_in(e, l->first_in);
  l->varies = l->s->until || n->known == NULL;
  if (!ce_bound(n, &l->n)) return ce_refuse(e, "a loop without a known bound");
  for (int i = 0; i < l->s->n_seq - l->n_fed && l->n == SCAN_NO_LIMIT; i++) { /* the shortest sequence ends the loop */
    for (int j = 0; j < l->s->n_seq - l->n_fed; j++) {
      const int64_t rows = c_loop_of(l, j)->shape[0] - l->s->part[j].span;
      if (rows < l->n) l->n = rows;
    }
  }
  /* On a Lua without integers, "no limit" is 2^53. */
  if (l->n >= (int64_t)1 << 53) return ce_refuse(e, "a loop without a known bound");
  if (l->n < 0) return ce_refuse(e, "a negative number of steps");
  return e->status;
}

static damo_status c_loop_prepare(c_loop *l, c_value *const *fed) {
  scan_class *s = scan_at(l->s->op);
  if (s->progress != NULL) return ce_refuse(l->e, "progress");
  const inner_graph g = scan_inner(s);
  if (inner_function(&g, l->e->file->reproducible) == NULL) return l->e->status = damo_error_status(s->obj.ctx);
  DAMO_TRY(c_loop_begin(l, fed));
  return c_loop_memory(l);
}

damo_status scan_emit_c(c_emit *e, const damo_apply *node) {
  c_loop l = {.e = e, .s = scan_at(node->op), .results = true};
  DAMO_TRY(c_loop_length(&l));
  DAMO_TRY(c_loop_prepare(&l, NULL));
  const c_value *work = ce_scratch(e, DAMO_UINT8, l.fn.work);
  if (work == NULL) return e->status;
  const char *k = ce_text(e, "k%d", l.id), *n = ce_text(e, "%lld", (long long)l.n);
  c_loop_start(&l);
  if (l.s->until) ce_line(e, "ptrdiff_t n%d = 0;", l.id);
  if (ce_known(e, 0) == NULL) {
    n = ce_text(e, "most%d", l.id);
    ce_line(e, "const int64_t %s = *%s;", n, ce_p(e, ce_in(e, 0)));
    ce_fail_if(e, "%s < 0 || %s > %lld", n, n, (long long)l.n);
  }
  ce_open(e, "for (ptrdiff_t %s = 0; %s < %s; %s++)", k, k, n, k);
  DAMO_TRY(c_loop_step(&l, k, NULL, work));
  if (l.s->until) {
    ce_line(e, "n%d++;", l.id);
    ce_line(e, "if (*%s != 0) break;", ce_p(e, l.result[l.s->fgraph->outputs.n - 1]));
    n = ce_text(e, "n%d", l.id);
  }
  ce_close(e);
  DAMO_TRY(c_loop_end(&l, n));
  if (!l.s->until) return e->status;
  const c_value *steps = ce_out(e, l.s->n_out - 1, DAMO_INT64, 0, NULL);
  if (steps != NULL) ce_line(e, "*%s = %s;", ce_p(e, steps), n);
  return e->status;
}

/* ---- Loops that go back over states computed again --------------------------------------------------------------- */

/* Writes schedule_next of scan_schedule.h for checkpoints in logarithmic number. */
static void c_schedule_helper(c_emit *e) {
  ce_helper(e, "schedule", DAMO_INT64,
            "/* C(c + r, r), at most `most` */\n"
            "static int64_t steps_within(int64_t c, int64_t r, int64_t most) {\n"
            "  int64_t n = 1;\n"
            "  for (int64_t i = 1; i <= r; i++) {\n"
            "    if (n > INT64_MAX / (c + i)) return most;\n"
            "    n = n * (c + i) / i;\n"
            "    if (n >= most) return most;\n"
            "  }\n"
            "  return n;\n"
            "}\n"
            "/* the next step whose state is kept, with `left` checkpoints that are not taken (Griewank, Walther) */\n"
            "static int64_t schedule_next(int64_t from, int64_t to, int64_t left) {\n"
            "  const int64_t n = to - from + 1, c = left + 1;\n"
            "  int64_t r = 1;\n"
            "  if (left <= 0) return to;\n"
            "  while (steps_within(c, r, n) < n) r++;\n"
            "  const int64_t most = steps_within(c, r - 1, n), rest = n - steps_within(c - 1, r - 1, n);\n"
            "  return from + (most < rest ? most : rest);\n"
            "}\n");
}

/* The most checkpoints that are kept at one time: the loop of c_replay_emit without its steps. */
static int64_t c_replay_most(const scan_schedule *schedule, int64_t begin, int64_t end, int64_t *step_of,
                             int64_t room) {
  int64_t at = begin, kept = 1, most = 1;
  step_of[0] = begin;
  for (int64_t step = end - 1; step >= begin; step--) {
    if (at > step) at = step_of[kept - 1];
    while (at < step) {
      const int64_t next = schedule_next(schedule, at, step, kept);
      at = next < 0 ? step : next;
      if (at < step && kept < room) step_of[kept++] = at;
    }
    if (kept > most) most = kept;
    if (step_of[kept - 1] == step) kept--;
  }
  return most;
}

/* Copies the past values of all states before step `at` to checkpoint `kept`, or back. */
static void c_replay_copy(c_loop *l, c_value *const *saved, const char *at, const char *kept, bool back) {
  c_emit *e = l->e;
  for (int i = 0; i < l->s->n_state; i++) {
    const scan_part *p = scan_state_at(l->s, i);
    const int64_t size = ce_size(l->in[p->first]), bytes = size * (int64_t)dtype_size(l->in[p->first]->dtype);
    for (int j = 1; j <= p->span && bytes > 0; j++) {
      const char *ring = c_loop_past(l, i, at, j);
      const char *slot =
          ce_text(e, "%s + (%s * %d + %d) * %lld", ce_p(e, saved[i]), kept, p->span, j - 1, (long long)size);
      ce_line(e, "memcpy(%s, %s, %lld);", back ? ring : slot, back ? slot : ring, (long long)bytes);
    }
  }
}

damo_status scan_replay_emit_c(c_emit *e, const damo_apply *node) {
  const damo_op *op = node->op;
  const int n_fed = scan_replay_n_fed(op);
  const int64_t checkpoint = scan_replay_checkpoint(op);
  c_loop f = {.e = e, .s = scan_at(scan_replay_forward(op))};
  c_loop r = {.e = e,
              .s = scan_at(scan_replay_reverse(op)),
              .results = true,
              .n_fed = n_fed,
              .first_in = scan_replay_first_reverse(op)};
  DAMO_TRY(c_loop_length(&f));
  DAMO_TRY(c_loop_length(&r));
  if (r.n > f.n) return ce_refuse(e, "it goes back over more steps than there are");
  if (f.varies || r.varies) return ce_refuse(e, "a loop that stops by itself");
  DAMO_TRY(c_loop_prepare(&f, NULL));
  c_value **fed = c_file_alloc(e->file, (size_t)(n_fed + f.s->n_state + 1) * sizeof *fed);
  const char **address = c_file_alloc(e->file, (size_t)(n_fed + 1) * sizeof *address);
  int64_t *step_of = c_file_alloc(e->file, (size_t)(f.n + 2) * sizeof *step_of);
  if (fed == NULL || address == NULL || step_of == NULL) return DAMO_EMEMORY;
  c_value **saved = fed + n_fed;
  for (int q = 0; q < n_fed; q++) fed[q] = f.in[scan_replay_fed(op, q)];
  DAMO_TRY(c_loop_prepare(&r, fed));
  const int64_t begin = f.n - r.n, end = f.n;
  scan_schedule schedule;
  schedule_init(&schedule, checkpoint, begin, end);
  const int64_t most = c_replay_most(&schedule, begin, end, step_of, f.n + 2);
  for (int i = 0; i < f.s->n_state; i++) {
    const scan_part *p = scan_state_at(f.s, i);
    saved[i] = ce_scratch(e, f.in[p->first]->dtype, most * p->span * ce_size(f.in[p->first]));
    if (saved[i] == NULL) return e->status;
  }
  const c_value *work = ce_scratch(e, DAMO_UINT8, f.fn.work > r.fn.work ? f.fn.work : r.fn.work);
  const c_value *steps = ce_scratch(e, DAMO_INT64, most);
  if (work == NULL || steps == NULL) return e->status;
  const int id = e->n_labels++;
  const char *k = ce_text(e, "k%d", id), *at = ce_text(e, "at%d", id), *kept = ce_text(e, "kept%d", id);
  const char *newest = ce_text(e, "(kept%d - 1)", id);
  c_loop_start(&f);
  c_loop_start(&r);
  ce_line(e, "int64_t %s = 0, %s = 0;", at, kept);
  ce_open(e, "for (ptrdiff_t %s = -1; %s < %lld; %s++)", k, k, (long long)r.n,
          k); /* step -1: to the first checkpoint */
  ce_line(e, "const int64_t step%d = %s < 0 ? %lld : %lld - %s;", id, k, (long long)begin, (long long)end - 1, k);
  ce_open(e, "if (%s > step%d)", at, id);
  c_replay_copy(&f, saved, ce_text(e, "%s[%s]", ce_p(e, steps), newest), newest, true);
  ce_line(e, "%s = %s[%s];", at, ce_p(e, steps), newest);
  ce_close(e);
  ce_open(e, "while (%s < step%d)", at, id);
  const char *next;
  if (checkpoint == SCAN_LOG) {
    c_schedule_helper(e);
    next = ce_text(e, "schedule_next(%s, step%d, %lld - %s)", at, id, (long long)schedule.most, kept);
  } else if (checkpoint > 1) {
    const long long every = (long long)checkpoint;
    next = ce_text(e, "(%s - %lld) %% %lld == 0 && %s + %lld <= step%d ? %s + %lld : %s + 1", at, (long long)begin,
                   every, at, every, id, at, every, at);
  } else {
    next = ce_text(e, "%s + 1", at);
  }
  ce_line(e, "const int64_t next%d = %s < 0 ? step%d : %s;", id, k, id, next);
  ce_open(e, "for (; %s < next%d; %s++)", at, id, at);
  DAMO_TRY(c_loop_step(&f, at, NULL, work));
  ce_close(e);
  ce_open(e, "if (%s < step%d)", at, id);
  c_replay_copy(&f, saved, at, kept, false);
  ce_line(e, "%s[%s++] = %s;", ce_p(e, steps), kept, at);
  ce_close(e);
  ce_close(e);
  ce_open(e, "if (%s < 0)", k);
  c_replay_copy(&f, saved, at, kept, false);
  ce_line(e, "%s[%s++] = %s;", ce_p(e, steps), kept, at);
  ce_line(e, "continue;");
  ce_close(e);
  for (int q = 0; q < n_fed; q++) {
    const int j = scan_replay_fed(op, q);
    const scan_part *p = scan_state_of(f.s, j);
    address[q] = c_loop_past(&f, (int)(p - scan_state_at(f.s, 0)), at, -f.s->tap[j]);
  }
  DAMO_TRY(c_loop_step(&r, k, address, work));
  ce_line(e, "if (%s[%s] == step%d) %s--;", ce_p(e, steps), newest, id, kept);
  ce_close(e);
  return c_loop_end(&r, ce_text(e, "%lld", (long long)r.n));
}
