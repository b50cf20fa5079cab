/* profile.c: counts what the calls of a Function cost.
 *
 * A profiled frame has a step of its own (vm_frame.step), which runs the step of the Function's watcher, if it has one,
 * between two readings of the clock. So only a Function that is profiled pays for it.
 */
#include "compile_int.h"
#include "sparse/sparse.h"

/* ---- The compilation --------------------------------------------------------------------------------------------- */

fn_report *report_new(damo_ctx *ctx) {
  fn_report *r = mem_calloc(ctx, sizeof *r);
  if (r == NULL) return NULL;
  rewrite_profile_init(&r->rules, ctx);
  r->since = clock_ns();
  return r;
}

void report_free(damo_ctx *ctx, fn_report *r) {
  if (r == NULL) return;
  rewrite_profile_clear(&r->rules);
  mem_free(ctx, r, sizeof *r);
}

static void report_add(fn_report *r, const char *name, int64_t time) {
  r->time += time;
  if (r->n_phases < PROFILE_MOST_PHASES) r->phases[r->n_phases++] = (profile_phase){name, time};
}

void report_phase(fn_report *r, const char *name) {
  if (r == NULL) return;
  const int64_t now = clock_ns();
  report_add(r, name, now - r->since);
  r->since = now;
}

void report_rewriting(fn_report *r) {
  if (r == NULL) return;
  for (int p = 0; p < N_PHASES; p++) {
    if (r->rules.phase_time[p] > 0) report_add(r, rewrite_phase_name((rewrite_phase)p), r->rules.phase_time[p]);
  }
  r->since = clock_ns();
}

/* ---- Begin and end ----------------------------------------------------------------------------------------------- */

void profile_drop(damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  fn_profile *p = f->profile;
  if (p == NULL) return;
  f->profile = NULL;
  if (p->nodes != NULL) mem_free(ctx, p->nodes, (size_t)p->n_nodes * sizeof *p->nodes);
  if (p->cell_bytes != NULL) mem_free(ctx, p->cell_bytes, (size_t)p->n_cells * sizeof *p->cell_bytes);
  mem_free(ctx, p->events, (size_t)p->events_cap * sizeof *p->events);
  mem_free(ctx, p, sizeof *p);
}

static damo_status profile_step(vm_frame *vf, const thunk *t);

damo_status function_profile(damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  const vm_program *vm = &f->program->vm;
  fn_profile *p = f->profile = mem_calloc(ctx, sizeof *p);
  if (p == NULL) return DAMO_EMEMORY;
  p->n_nodes = vm->n_thunks;
  p->n_cells = vm->n_cells;
  p->nodes = mem_calloc(ctx, (size_t)p->n_nodes * sizeof *p->nodes);
  p->cell_bytes = p->nodes != NULL ? mem_calloc(ctx, (size_t)p->n_cells * sizeof *p->cell_bytes) : NULL;
  if (p->cell_bytes == NULL) return DAMO_EMEMORY;
  f->frame.step = profile_step;
  f->frame.step_user = f;
  f->frame.frame.profiled = true;
  return DAMO_OK;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Makes the list of events longer, up to its bound. Without memory it stays as it is: a call does not fail for it. */
static void grow_events(fn_profile *p, damo_ctx *ctx) {
  const int64_t cap = p->events_cap == 0 ? 256 : 2 * p->events_cap;
  if (p->n_events != p->events_cap || cap > PROFILE_MOST_EVENTS) return;
  profile_event *e = mem_realloc(ctx, p->events, (size_t)p->events_cap * sizeof *e, (size_t)cap * sizeof *e);
  if (e == NULL) {
    ctx_clear_error(ctx);
    return;
  }
  p->events = e;
  p->events_cap = cap;
}

static void add_event(fn_profile *p, damo_ctx *ctx, profile_event e) {
  grow_events(p, ctx);
  if (p->events_cap > 0) p->events[p->n_events++ % p->events_cap] = e;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

int profile_arrays(const damo_obj *v, const damo_array **at) {
  if (v == NULL) return 0;
  if (v->kind == OBJ_ARRAY) return at[0] = (const damo_array *)v, 1;
  if (v->kind != OBJ_SPARSE) return 0;
  const damo_sparse *m = (const damo_sparse *)v;
  at[0] = m->data;
  at[1] = m->indices;
  at[2] = m->indptr;
  return 3;
}

bool profile_is_memory_of(const damo_array *a, const damo_obj *v) {
  const damo_array *held[PROFILE_MOST_ARRAYS];
  const int n = profile_arrays(v, held);
  for (int i = 0; i < n; i++) {
    if (held[i] != NULL && held[i]->buf == a->buf) return true;
  }
  return false;
}

static bool is_memory_of_input(const damo_array *a, const thunk *t, const frame *f) {
  for (int i = 0; i < t->n_in; i++) {
    if (profile_is_memory_of(a, thunk_value(t, f, i))) return true;
  }
  return false;
}

/* The bytes of output o that are not memory of an input. */
static size_t bytes_of_result(const thunk *t, const frame *f, int o) {
  const damo_array *held[PROFILE_MOST_ARRAYS];
  const int n = profile_arrays(thunk_result(t, f, o), held);
  size_t bytes = 0;
  for (int i = 0; i < n; i++) {
    if (held[i] == NULL || held[i]->buf == NULL || is_memory_of_input(held[i], t, f)) continue;
    bytes += (size_t)array_size(held[i]) * dtype_size(array_dtype(held[i]));
  }
  return bytes;
}

static void count_bytes(fn_profile *p, const thunk *t, const frame *f) {
  profile_node *node = &p->nodes[t->number];
  for (int o = 0; o < t->n_out; o++) {
    const size_t bytes = bytes_of_result(t, f, o);
    node->bytes += (int64_t)bytes;
    const size_t own = vm_arena_holds((const vm_frame *)f, t->out[o]) ? 0 : bytes;
    p->held += own - p->cell_bytes[t->out[o]];
    p->cell_bytes[t->out[o]] = own;
  }
  const size_t scratch = thunk_local_of(t, f)->scratch_size;
  p->held += scratch - node->scratch;
  node->scratch = scratch;
  const size_t all = p->held + vm_arena_held((const vm_frame *)f) + thunk_local_of(t, f)->transient;
  if (all > p->peak) p->peak = all;
}

/* Results that the last call gave away are no longer held. */
static void forget_empty_cells(fn_profile *p, const frame *f) {
  for (int64_t i = 0; i < p->n_cells; i++) {
    if (f->cells[i] != NULL) continue;
    p->held -= p->cell_bytes[i];
    p->cell_bytes[i] = 0;
  }
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* A lazy thunk runs several times in one computation: it is counted when it asks for nothing more. */
static damo_status profile_step(vm_frame *vf, const thunk *t) {
  damo_function *f = vf->step_user;
  fn_profile *p = f->profile;
  const fn_watcher *w = f->program->watcher;
  const int64_t start = clock_ns();
  const damo_status s = w != NULL && w->step != NULL ? w->step(vf, t) : thunk_run(t, &vf->frame);
  const int64_t time = clock_ns() - start;
  profile_node *node = &p->nodes[t->number];
  node->time += time;
  if (s == DAMO_OK) add_event(p, f->obj.ctx, (profile_event){start, time, t->number});
  if (s != DAMO_OK || thunk_n_need(t, &vf->frame) > 0) return s;
  node->calls++;
  count_bytes(p, t, &vf->frame);
  return s;
}

void profile_enter(damo_function *f) {
  forget_empty_cells(f->profile, &f->frame.frame);
  f->profile->entered = clock_ns();
}

void profile_leave(damo_function *f, damo_status s) {
  fn_profile *p = f->profile;
  const int64_t time = clock_ns() - p->entered;
  p->calls++;
  p->time += time;
  if (s == DAMO_OK) add_event(p, f->obj.ctx, (profile_event){p->entered, time, -1});
}
