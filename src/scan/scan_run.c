/* scan_run.c: the steps of a Scan.
 *
 * A thunk has a Function of its own over the inner graph. In a step, sequences are read through views whose data
 * pointers move; the past of a state is a ring of objects, newest first; results that are stacked are copied into their
 * row, or if that is long written into it through a view, which is then the newest object of the ring. The object that
 * leaves a ring becomes the cell into which a later step writes the state, so that after the first steps nothing is
 * allocated. Without a watcher or profile the inner thunks run directly over the cells of the Function's frame
 * (step_direct); else each step is a call (step_call).
 */
#include <stdio.h>
#include <string.h>

#include "scan_frame.h"
#include "sparse/sparse.h"

size_t scan_state_size(void) { return sizeof(scan_frame); }

void scan_drop(damo_obj **at) {
  damo_obj *old = *at;
  *at = NULL;
  damo_release(old);
}

static int ring_size(const scan_class *s) {
  int n = 0;
  for (int i = 0; i < s->n_state; i++) n += scan_state_at(s, i)->span;
  return n;
}

damo_function *scan_frame_function(scan_class *s, scan_frame *w, frame *f) {
  if (w->inner != NULL) return w->inner;
  const inner_graph g = scan_inner(s);
  w->inner = inner_function_for(&g, f);
  if (w->inner != NULL) w->inner->lends = false;
  return w->inner;
}

const damo_function *scan_running(const thunk *t, const frame *f) {
  if (t->node->op->def == &scan_replay_def) return scan_replay_running(t, f);
  return scan_of(t->node->op) != NULL ? ((const scan_frame *)thunk_state(t, f))->inner : NULL;
}

damo_status scan_prepare_foreign(const thunk *t, frame *f) {
  damo_function *inner = scan_frame_function(scan_at(t->node->op), thunk_state(t, f), f);
  return inner != NULL ? DAMO_OK : damo_error_status(f->ctx);
}

damo_status scan_frame_reserve(const scan_class *s, scan_frame *w, damo_ctx *ctx) {
  if (w->block != NULL) return DAMO_OK;
  const size_t n_in = (size_t)s->n_in, n_out = (size_t)s->fgraph->outputs.n, n_ring = (size_t)ring_size(s);
  w->bytes = (2 * n_in + n_ring + 2 * n_out) * sizeof(void *) + (size_t)s->n_parts * sizeof(scan_rows) +
             ((size_t)s->n_state + 1) * sizeof(int32_t);
  w->block = mem_calloc(ctx, w->bytes);
  if (w->block == NULL) return DAMO_EMEMORY;
  w->args = w->block;
  w->views = (damo_array **)(w->args + n_in);
  w->ring = (damo_obj **)(w->views + n_in);
  w->fresh = w->ring + n_ring;
  w->spare = w->fresh + n_out;
  w->rows = (scan_rows *)(w->spare + n_out);
  w->ring_at = (int32_t *)(w->rows + s->n_parts);
  for (int i = 0; i < s->n_state; i++) w->ring_at[i + 1] = w->ring_at[i] + scan_state_at(s, i)->span;
  return DAMO_OK;
}

/* Tells the thunk that makes inner output o whether its cell holds a row to be written into. */
static damo_status fix_row(scan_frame *w, int o, scan_rows *r, bool fixed) {
  if (r->fixed == fixed) return DAMO_OK;
  const fn_output *out = &w->inner->program->outputs[o];
  r->fixed = fixed;
  return thunk_fix_out(out->maker, &w->inner->frame.frame, out->maker_index, fixed);
}

/* Whether v is a view of a row of the stacked result. */
static bool is_row_of(const damo_obj *v, const scan_rows *r) {
  return v != NULL && v->kind == OBJ_ARRAY && r->a != NULL && ((const damo_array *)v)->buf == r->a->buf;
}

/* Detaches the views of rows, which a later run places again. */
static void release_rows(const scan_class *s, scan_frame *w) {
  for (int i = s->n_seq; i < s->n_parts; i++) {
    const int o = s->part[i].out;
    if (o < 0 || !w->rows[i].direct) continue;
    fix_row(w, o, &w->rows[i], false);
    if (!is_row_of(w->spare[o], &w->rows[i])) continue;
    if (w->spare[o]->refs == 1) {
      array_detach((damo_array *)w->spare[o]);
    } else {
      scan_drop(&w->spare[o]);
    }
  }
}

void scan_frame_release(const scan_class *s, scan_frame *w, bool keep) {
  if (w->block == NULL) return;
  const int n_out = (int)s->fgraph->outputs.n;
  for (int i = 0; i < s->n_in; i++) {
    damo_array *v = w->views[i];
    if (v != NULL && keep && v->obj.refs == 1) {
      if (v->buf != NULL) array_detach(v);
    } else {
      w->views[i] = NULL;
      damo_release(v);
    }
  }
  for (int i = 0; i < w->ring_at[s->n_state]; i++) scan_drop(&w->ring[i]);
  for (int o = 0; o < n_out; o++) {
    scan_drop(&w->fresh[o]);
    if (!keep) scan_drop(&w->spare[o]);
  }
  release_rows(s, w);
  for (int i = 0; i < s->n_parts; i++) {
    if (w->rows[i].own) damo_release(w->rows[i].a);
    w->rows[i] = (scan_rows){0};
  }
}

void scan_frame_clear(const scan_class *s, scan_frame *w, damo_ctx *ctx) {
  scan_frame_release(s, w, false);
  if (w->block != NULL) mem_free(ctx, w->block, w->bytes);
  w->block = NULL;
  scan_native_free(w->native, ctx);
  w->native = NULL;
  w->scalars = false;
  damo_release(w->inner);
  damo_release(w->shaper);
  w->inner = NULL;
  w->shaper = NULL;
}

void scan_state_clear(const thunk *t, frame *f) { scan_frame_clear(scan_at(t->node->op), thunk_state(t, f), f->ctx); }

/* ---- The number of steps ----------------------------------------------------------------------------------------- */

char *scan_loop_name(char *dst, size_t n, const scan_class *s) {
  if (s->name != NULL) {
    snprintf(dst, n, "%s{%s}", s->def.name, s->name);
  } else {
    snprintf(dst, n, "%s", s->def.name);
  }
  return dst;
}

/* "sequence 1 (x)", "output 2 (h0)" */
static char *part_name(char *dst, size_t n, const thunk *t, const scan_class *s, const scan_frame *w, int i) {
  char name[160];
  const scan_part *p = &s->part[i];
  var_format(name, sizeof name, t->node->in[scan_operand(s, w, p)]);
  if (p->role == SCAN_SEQUENCE) {
    snprintf(dst, n, "sequence %d (%s)", i + 1, name);
  } else if (p->number > 0) {
    snprintf(dst, n, "output %d (%s)", p->number, name);
  } else {
    snprintf(dst, n, "a state (%s)", name);
  }
  return dst;
}

/* Whether scan_check_lengths finds nothing wrong: quickly, since it is asked in each call. */
static bool lengths_fit(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w, int64_t n) {
  bool fit = n >= 0;
  for (int i = 0; i < scan_n_read(s, w); i++) {
    const scan_part *p = &s->part[i];
    const int64_t rows = array_shape(thunk_in(t, f, scan_operand(s, w, p)))[0] - p->span;
    fit = fit && rows >= 0 && (n == SCAN_NO_LIMIT || rows >= n);
  }
  return fit;
}

damo_status scan_check_lengths(const thunk *t, frame *f, const scan_class *s, const scan_frame *w, int64_t n) {
  char name[200], what[240];
  scan_loop_name(name, sizeof name, s);
  for (int i = 0; i < scan_n_read(s, w); i++) {
    const scan_part *p = &s->part[i];
    const int64_t length = array_shape(thunk_in(t, f, scan_operand(s, w, p)))[0];
    if (length < p->span)
      return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: %s has length %lld, fewer than the %d rows that its taps reach over",
                      name, part_name(what, sizeof what, t, s, w, i), (long long)length, p->span);
    if (n == SCAN_NO_LIMIT || length - p->span >= n) continue;
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: %s has length %lld, too short for %lld steps, which read %lld rows of it",
                    name, part_name(what, sizeof what, t, s, w, i), (long long)length, (long long)n,
                    (long long)n + p->span);
  }
  if (n < 0) return ctx_fail(f->ctx, DAMO_EVALUE, "%s: n_steps must not be negative, got %lld", name, (long long)n);
  return DAMO_OK;
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

/* A view of one row, for reading alone. */
static damo_array *row_view(const damo_array *a, int64_t row) {
  damo_array *v = array_view(a, a->ndim - 1, array_shape(a) + 1, array_strides(a) + 1, row * array_strides(a)[0]);
  if (v != NULL) v->writeable = false;
  return v;
}

static damo_status start_state(const thunk *t, frame *f, const scan_class *s, scan_frame *w, int i) {
  const scan_part *p = scan_state_at(s, i);
  damo_obj *init = thunk_value(t, f, scan_operand(s, w, p));
  damo_obj **ring = w->ring + w->ring_at[i];
  char name[200], what[240];
  if (p->bare) {
    ring[0] = damo_retain(init);
    if (init->kind == OBJ_ARRAY) { /* a view that no step may write into */
      const damo_array *a = (damo_array *)init;
      scan_drop(&ring[0]);
      damo_array *v = array_view(a, a->ndim, array_shape(a), array_strides(a), 0);
      if (v != NULL) v->writeable = false;
      ring[0] = (damo_obj *)v;
    }
    return ring[0] != NULL ? DAMO_OK : DAMO_EMEMORY;
  }
  const damo_array *a = (damo_array *)init;
  if (array_shape(a)[0] < p->span)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: the initial value of %s has %lld row%s, its taps reach %d step%s back",
                    scan_loop_name(name, sizeof name, s), part_name(what, sizeof what, t, s, w, (int)(p - s->part)),
                    (long long)array_shape(a)[0], array_shape(a)[0] == 1 ? "" : "s", p->span, p->span == 1 ? "" : "s");
  for (int k = 0; k < p->span; k++) {
    ring[k] = (damo_obj *)row_view(a, p->span - 1 - k);
    if (ring[k] == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_status start_sequence(const thunk *t, frame *f, const scan_class *s, scan_frame *w, int i) {
  const scan_part *p = &s->part[i];
  const damo_array *a = thunk_in(t, f, scan_operand(s, w, p));
  for (int k = p->first; k < p->first + p->n; k++) {
    damo_array **v = &w->views[k];
    if (array_shape(a)[0] == 0) { /* there is no step, and no row to view */
      w->args[k] = (damo_obj *)*v;
      continue;
    }
    if (*v != NULL && (*v)->obj.refs == 1 && (*v)->ndim == a->ndim - 1) {
      array_reseat(*v, a, array_shape(a) + 1, array_strides(a) + 1, 0);
      (*v)->writeable = false;
    } else {
      damo_release(*v);
      *v = row_view(a, 0);
      if (*v == NULL) return DAMO_EMEMORY;
    }
    (*v)->data = a->data + (p->before + s->tap[k]) * array_strides(a)[0];
    w->args[k] = (damo_obj *)*v;
  }
  return DAMO_OK;
}

/* ---- One step of the inner graph --------------------------------------------------------------------------------- */

void scan_set_args(const thunk *t, const frame *f, const scan_class *s, scan_frame *w) {
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    for (int k = p->first; k < p->first + p->n; k++) w->args[k] = w->ring[w->ring_at[i] - s->tap[k] - 1];
  }
  for (int i = 0; i < s->n_fixed; i++) {
    const scan_part *p = scan_fixed_at(s, i);
    w->args[p->first] = thunk_value(t, f, scan_operand(s, w, p));
  }
}

static damo_status step_call(const scan_class *s, scan_frame *w) {
  damo_function *inner = w->inner;
  DAMO_TRY(function_run(inner, w->args, s->n_in, NULL));
  for (int64_t o = 0; o < s->fgraph->outputs.n; o++) w->fresh[o] = function_take(inner, o);
  function_finish(inner);
  return DAMO_OK;
}

bool scan_is_direct(const damo_function *inner) {
  return inner->program->watcher == NULL && inner->profile == NULL && inner->program->n_shared == 0 && !inner->freed;
}

static void set_cell(cell *c, damo_obj *value) {
  if (*c == value) return;
  damo_obj *old = *c;
  *c = damo_retain(value);
  damo_release(old);
}

/* Puts the values of the step into the cells of the inputs. Those of sequences and fixed values stay there from step to
 * step. A value that is overwritten in place leaves its ring. *valid: they are of the inputs' Types. */
static damo_status direct_load(const scan_class *s, scan_frame *w, bool *valid) {
  const fn_program *program = w->inner->program;
  cell *cells = w->inner->frame.frame.cells;
  const int first_moving = scan_first_past(s) - w->n_fed; /* a fed sequence has one tap */
  for (int i = 0; i < s->n_in; i++) {
    const fn_input *in = &program->inputs[i];
    const bool moves = i >= first_moving && i < scan_first_fixed(s);
    if (w->n_run > 0 && !moves) continue;
    damo_obj *value = w->args[i];
    if (!type_is_valid(in->var->type, value)) {
      *valid = false;
      return DAMO_OK;
    }
    set_cell(&cells[in->cell], value);
  }
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    damo_obj **oldest = &w->ring[w->ring_at[i] + p->span - 1];
    for (int j = p->first; j < p->first + p->n; j++) {
      if (!s->mutable_[j] || !program->inputs[j].destroyed) continue;
      const damo_array *a = value_array(*oldest);
      if (a != NULL && !a->writeable) { /* of the caller */
        damo_obj *copy = value_copy(*oldest);
        if (copy == NULL) return DAMO_EMEMORY;
        set_cell(&cells[program->inputs[j].cell], copy);
        damo_release(copy);
      }
      scan_drop(oldest);
    }
  }
  return DAMO_OK;
}

/* Places the view of row `row` that is the spare object of inner output o. */
static damo_status place_row(scan_frame *w, int o, const scan_rows *r, int64_t row) {
  const damo_array *a = r->a;
  damo_array *v = (damo_array *)w->spare[o];
  const int64_t offset = row * (int64_t)r->row_bytes;
  const bool ours = v != NULL && v->obj.kind == OBJ_ARRAY && v->obj.refs == 1 && v->ndim == a->ndim - 1;
  if (ours && v->buf == a->buf) {
    v->data = a->data + offset;
  } else if (ours && v->buf == NULL) {
    array_reseat(v, a, array_shape(a) + 1, array_strides(a) + 1, offset);
  } else {
    v = array_view(a, a->ndim - 1, array_shape(a) + 1, array_strides(a) + 1, offset);
    if (v == NULL) return DAMO_EMEMORY;
    scan_drop(&w->spare[o]);
    w->spare[o] = &v->obj;
  }
  v->writeable = true;
  return DAMO_OK;
}

/* Gives the cells of results rows, or the objects of earlier steps, to write over. */
static damo_status direct_offer(const scan_class *s, scan_frame *w, int64_t k, int64_t n) {
  const fn_program *program = w->inner->program;
  cell *cells = w->inner->frame.frame.cells;
  for (int i = s->n_seq; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    scan_rows *r = &w->rows[i];
    const int o = p->out;
    if (o < 0 || program->outputs[o].copy || cells[program->outputs[o].cell] != NULL) continue;
    if (r->direct) {
      const int64_t row = scan_stack_row(s, p, r, k, n);
      const bool kept = row >= 0 && row < array_shape(r->a)[0];
      if (kept) DAMO_TRY(place_row(w, o, r, row));
      DAMO_TRY(fix_row(w, o, r, kept));
    }
    if (w->spare[o] == NULL || w->spare[o]->refs != 1) continue;
    cells[program->outputs[o].cell] = w->spare[o];
    w->spare[o] = NULL;
  }
  return DAMO_OK;
}

/* The value of a result that shares memory with another cell: itself if no other cell holds it any more. */
static damo_status direct_take_shared(const scan_class *s, scan_frame *w, int64_t o) {
  const fn_program *program = w->inner->program;
  cell *cells = w->inner->frame.frame.cells;
  damo_obj *value = cells[program->outputs[o].cell];
  for (int i = 0; i < s->n_in; i++) { /* written in place */
    if (s->mutable_[i] && program->inputs[i].destroyed && cells[program->inputs[i].cell] == value &&
        program->inputs[i].cell != program->outputs[o].cell)
      scan_drop(&cells[program->inputs[i].cell]);
  }
  bool alone = true; /* no other result has the cell */
  for (int64_t i = 0; i < s->fgraph->outputs.n; i++)
    alone = alone && (i == o || program->outputs[i].cell != program->outputs[o].cell);
  const damo_array *a = value->kind == OBJ_ARRAY ? (damo_array *)value : NULL;
  if (a != NULL && alone && value->refs == 1 && array_is_exclusive(a)) {
    w->fresh[o] = value;
    cells[program->outputs[o].cell] = NULL;
    return DAMO_OK;
  }
  damo_array *spare = (damo_array *)w->spare[o];
  const bool fits = a != NULL && spare != NULL && spare->obj.kind == OBJ_ARRAY && array_is_exclusive(spare) &&
                    spare->dtype == a->dtype && array_same_shape(spare, a);
  if (!fits) {
    w->fresh[o] = value_copy(value);
    return w->fresh[o] != NULL ? DAMO_OK : DAMO_EMEMORY;
  }
  w->fresh[o] = w->spare[o];
  w->spare[o] = NULL;
  return array_assign(spare, a);
}

/* Detaches the views among the cells, so that the buffers under them can be written again. */
static void direct_detach(const vm_program *vm, cell *cells) {
  for (int64_t i = 0; i < vm->n_views; i++) {
    cell *c = &cells[vm->views[i]];
    if (*c == NULL) continue;
    if ((*c)->kind == OBJ_ARRAY && (*c)->refs == 1) {
      array_detach((damo_array *)*c);
    } else {
      scan_drop(c);
    }
  }
}

static damo_status step_direct(const scan_class *s, scan_frame *w, int64_t k, int64_t n) {
  damo_function *inner = w->inner;
  const fn_program *program = inner->program;
  cell *cells = inner->frame.frame.cells;
  bool valid = true;
  DAMO_TRY(direct_load(s, w, &valid));
  if (!valid) { /* the call tells what is wrong */
    vm_reset(&inner->frame);
    inner->running = false;
    const damo_status status = step_call(s, w);
    inner->running = true;
    return status;
  }
  DAMO_TRY(direct_offer(s, w, k, n));
  DAMO_TRY(vm_run(&inner->frame));
  const int64_t n_out = s->fgraph->outputs.n;
  for (int64_t o = 0; o < n_out; o++) { /* copies first: what they are of may be taken */
    if (program->outputs[o].copy) DAMO_TRY(direct_take_shared(s, w, o));
  }
  for (int64_t o = 0; o < n_out; o++) {
    const fn_output *out = &program->outputs[o];
    if (out->copy) continue;
    w->fresh[o] = cells[out->cell];
    cells[out->cell] = NULL;
    for (int j = 0; j < out->n_along; j++) scan_drop(&cells[out->along[j]]);
  }
  direct_detach(&program->vm, cells);
  inner->n_calls++;
  return DAMO_OK;
}

damo_status scan_step(frame *f, const scan_class *s, scan_frame *w, int64_t k, int64_t n) {
  char name[200];
  const damo_status status = w->direct ? step_direct(s, w, k, n) : step_call(s, w);
  w->n_run++;
  if (status != DAMO_OK)
    ctx_fail_add(f->ctx, "in step %lld of %s", (long long)k + 1, scan_loop_name(name, sizeof name, s));
  return status;
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

damo_status scan_start(const thunk *t, frame *f, const scan_class *s, scan_frame *w) {
  for (int i = 0; i < scan_n_read(s, w); i++) DAMO_TRY(start_sequence(t, f, s, w, i));
  for (int i = 0; i < s->n_state; i++) DAMO_TRY(start_state(t, f, s, w, i));
  return DAMO_OK;
}

void scan_drop_last(const thunk *t, frame *f, const scan_class *s) {
  for (int i = 0; i < s->n_parts; i++) {
    if (s->part[i].last >= 0) thunk_set_out(t, f, s->part[i].last, NULL);
  }
}

void scan_advance(const thunk *t, const frame *f, const scan_class *s, scan_frame *w) {
  for (int i = 0; i < scan_n_read(s, w); i++) {
    const scan_part *p = &s->part[i];
    const int64_t step = array_strides(thunk_in(t, f, scan_operand(s, w, p)))[0];
    for (int k = p->first; k < p->first + p->n; k++) w->views[k]->data += step;
  }
}

void scan_seek(const thunk *t, const frame *f, const scan_class *s, scan_frame *w, int64_t k) {
  for (int i = 0; i < scan_n_read(s, w); i++) {
    const scan_part *p = &s->part[i];
    const damo_array *a = thunk_in(t, f, scan_operand(s, w, p));
    for (int j = p->first; j < p->first + p->n; j++)
      w->views[j]->data = a->data + (p->before + s->tap[j] + k) * array_strides(a)[0];
  }
}

damo_status scan_begin(frame *f, scan_frame *w) {
  w->n_run = 0;
  w->direct = false;
  if (!scan_is_direct(w->inner)) return DAMO_OK;
  if (w->inner->running)
    return ctx_fail(f->ctx, DAMO_ESTATE, "%s is running and can't be run from inside itself", function_name(w->inner));
  DAMO_TRY(ctx_enter(f->ctx, STACK_CALL));
  w->inner->running = w->direct = true;
  return DAMO_OK;
}

void scan_end(frame *f, scan_frame *w) {
  if (!w->direct) return;
  vm_reset(&w->inner->frame);
  w->inner->running = w->direct = false;
  ctx_leave(f->ctx, STACK_CALL);
}

/* Most steps between two looks, since the next ones may take longer than those before. An interruption from another thread
 * is seen after each step. */
#define MOST_UNSEEN_STEPS 32

damo_status scan_poll(damo_ctx *ctx, loop_clock *c) {
  if (--c->left > 0) return ctx_is_due(ctx) ? ctx_look(ctx) : DAMO_OK;
  const int64_t now = clock_ns(), took = now - c->since;
  if (c->since != 0 && took < POLL_NS / 4 && c->every < MOST_UNSEEN_STEPS) c->every *= 2;
  if (c->since != 0 && took > POLL_NS / 2) c->every = 1 + (c->every - 1) * (POLL_NS / 2) / took;
  c->since = now;
  c->left = c->every;
  return ctx_poll(ctx);
}

/* Runs at most `total` steps; *k: the number of steps taken. */
static damo_status run_steps(const thunk *t, frame *f, scan_class *s, scan_frame *w, int64_t total, int64_t *k) {
  loop_clock clock = {.every = 1, .left = 1};
  for (bool stop = false; *k < total && !stop; ++*k) {
    DAMO_TRY(scan_poll(f->ctx, &clock));
    if (*k > 0) scan_advance(t, f, s, w);
    scan_set_args(t, f, s, w);
    DAMO_TRY(scan_step(f, s, w, *k, total));
    DAMO_TRY(scan_keep(t, f, s, w, *k, total, &stop));
    if (s->progress != NULL && !f->silent) DAMO_TRY(s->progress(s, f, *k + 1, stop ? *k + 1 : total));
  }
  return DAMO_OK;
}

bool scan_has_past(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w) {
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    if (!p->bare && array_shape(thunk_in(t, f, scan_operand(s, w, p)))[0] < p->span) return false;
  }
  return true;
}

/* The machine code for the loop; NULL: there is none for these operands, or not yet. */
static scan_native *native_of(const thunk *t, const frame *f, const scan_class *s, scan_frame *w, int64_t total) {
  if (w->native != NULL) return scan_native_fits(t, f, s, w, NULL) ? w->native : NULL;
  if (w->seen < 0) return NULL;
  if (w->inner->frame.frame.no_jit || s->progress != NULL || !scan_is_direct(w->inner)) return NULL;
  w->seen = total > SCAN_NATIVE_STEPS ? SCAN_NATIVE_STEPS : w->seen + total;
  if (w->seen < SCAN_NATIVE_STEPS) return NULL;
  w->seen = -1;
  w->native = scan_native_new(t, f, s, w, NULL);
  w->scalars = w->native != NULL && scan_native_is_scalar(w->native);
  return w->native;
}

static damo_status run_native(const thunk *t, frame *f, const scan_class *s, scan_frame *w, int64_t total) {
  int64_t k = 0;
  DAMO_TRY(scan_begin(f, w));
  const damo_status status = scan_native_run(t, f, s, w, total, &k);
  scan_end(f, w);
  w->inner->n_calls += (uint64_t)k;
  return status;
}

static damo_status loop_over_steps(const thunk *t, frame *f, scan_class *s, scan_frame *w, int64_t n) {
  int64_t total = n, k = 0;
  for (int i = 0; i < s->n_seq && n == SCAN_NO_LIMIT; i++) { /* the shortest sequence ends the loop */
    const int64_t rows = array_shape(thunk_in(t, f, scan_in(s, &s->part[i])))[0] - s->part[i].span;
    if (rows < total) total = rows;
  }
  if (total > 0 && scan_has_past(t, f, s, w) && native_of(t, f, s, w, total) != NULL)
    return run_native(t, f, s, w, total);
  scan_drop_last(t, f, s);
  DAMO_TRY(scan_start(t, f, s, w));
  DAMO_TRY(scan_begin(f, w));
  const damo_status status = run_steps(t, f, s, w, total, &k);
  scan_end(f, w);
  return status == DAMO_OK ? scan_give(t, f, s, w, k) : status;
}

/* A loop over numbers alone, as code: nothing but the code's frame is set up, since such a call may take 100 ns. The
 * code calls no other Function, so that nothing has to be kept from running the inner one again. */
static damo_status run_native_scalars(const thunk *t, frame *f, const scan_class *s, const scan_frame *w, int64_t n) {
  int64_t k;
  const damo_status status = scan_native_run_scalars(t, f, s, w->native, n, &k);
  w->inner->n_calls += (uint64_t)k;
  return status;
}

/* The number of steps. An int64 is read as such: a scalar that is copied as a whole waits for its members. */
static int64_t read_steps(const thunk *t, const frame *f) {
  const damo_array *a = thunk_in(t, f, 0);
  return array_dtype(a) == DAMO_INT64 ? *(const int64_t *)(const void *)a->data : scalar_to_int64(array_item(a));
}

static damo_status perform_loop(const thunk *t, frame *f, int64_t n) {
  scan_class *s = scan_at(t->node->op);
  scan_frame *w = thunk_state(t, f);
  if (!lengths_fit(t, f, s, w, n)) DAMO_TRY(scan_check_lengths(t, f, s, w, n));
  if (scan_frame_function(s, w, f) == NULL) return damo_error_status(f->ctx);
  DAMO_TRY(scan_frame_reserve(s, w, f->ctx));
  const damo_status status = loop_over_steps(t, f, s, w, n);
  scan_frame_release(s, w, true);
  return status;
}

damo_status scan_perform(const thunk *t, frame *f) {
  const int64_t n = read_steps(t, f);
  const scan_frame *w = thunk_state(t, f);
  return n > 0 && w->scalars ? run_native_scalars(t, f, scan_at(t->node->op), w, n) : perform_loop(t, f, n);
}
