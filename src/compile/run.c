/* run.c: calls cut into slices of time.
 *
 * A run has a Function of its own over f's program, and a stack of its own (pace) on which that Function computes. What
 * it reads of f, shared values and default values, is held from the beginning on, and the buffers of what it reads are
 * marked, so that scripts and hosts do not write them meanwhile. The last step compares the values that the call updates
 * with those held, fills the targets and commits, all outside of the stack, where nothing suspends it.
 */
#include "compile_int.h"
#include "sparse/sparse.h"

/* Arguments of more elements are converted in a step. */
#define RUN_CONVERTS 65536

typedef enum fn_run_state {
  RUN_NONE, /* nothing is under way: not begun, failed, cancelled */
  RUN_OPEN,
  RUN_ENDED
} fn_run_state;

struct damo_run {
  damo_obj obj;
  damo_function *of, *own; /* owned */
  pace *pace;
  fn_run_state state;
  bool stepping;      /* inside of a step */
  bool reading;       /* what is read is marked */
  damo_status status; /* of own's call */
  int64_t n_args;
  damo_obj **args;    /* n_inputs, owned, as are the next three */
  damo_obj **into;    /* n_outputs; NULL: results are taken */
  damo_obj **results; /* n_outputs; NULL of those in `into` */
  damo_obj **seen;    /* n_shared: the values of shared Variables, and the default values that are updated */
};

/* ---- What a run holds -------------------------------------------------------------------------------------------- */

static void fn_run_mark_value(damo_obj *v, int32_t by) {
  damo_array *a = v == NULL ? NULL : v->kind == OBJ_SPARSE ? ((damo_sparse *)v)->data : value_array(v);
  if (a != NULL && a->buf != NULL) a->buf->readers += by;
}

static void fn_run_mark(damo_run *r, bool reading) {
  if (r->reading == reading) return;
  r->reading = reading;
  const fn_program *p = r->own->program;
  for (int64_t i = 0; i < p->n_inputs; i++) fn_run_mark_value(r->args[i], reading ? 1 : -1);
  for (int64_t i = 0; i < p->n_shared; i++) fn_run_mark_value(r->seen[i], reading ? 1 : -1);
}

static void fn_run_drop_values(damo_obj **at, int64_t n) {
  for (int64_t i = 0; i < n; i++) cell_set(&at[i], NULL);
}

/* Ends the call: it reads nothing any more. */
static void fn_run_close(damo_run *r, fn_run_state state) {
  fn_run_mark(r, false);
  r->state = state;
  fn_run_drop_values(r->args, r->own->program->n_inputs);
  fn_run_drop_values(r->seen, r->own->program->n_shared);
}

/* Releases the results; an array that nothing else holds goes back into its cell, for the next call to write into. */
static void fn_run_drop_results(damo_run *r) {
  const fn_program *p = r->own->program;
  for (int64_t i = 0; i < p->n_outputs; i++) {
    const fn_output *out = &p->outputs[i];
    damo_obj *v = r->results[i];
    if (v == NULL) continue;
    r->results[i] = NULL;
    cell *c = &r->own->frame.frame.cells[out->cell];
    if (!out->copy && !out->borrow && *c == NULL && value_is_cells_alone(v))
      *c = v;
    else
      damo_release(v);
  }
}

static size_t fn_run_bytes(const fn_program *p) {
  return (size_t)(p->n_inputs + 2 * p->n_outputs + p->n_shared) * sizeof(damo_obj *);
}

static damo_obj **fn_run_lists(const damo_run *r) { return r->args; }

static void fn_run_destroy(damo_obj *obj) {
  damo_run *r = (damo_run *)obj;
  damo_ctx *ctx = obj->ctx;
  if (fn_run_lists(r) != NULL) {
    const fn_program *p = r->own->program;
    r->stepping = false;
    fn_run_cancel(r);
    fn_run_close(r, RUN_NONE);
    fn_run_drop_values(r->results, p->n_outputs);
    if (r->into != NULL) fn_run_drop_values(r->into, p->n_outputs);
    r->own->seen = NULL;
    mem_free(ctx, fn_run_lists(r), fn_run_bytes(p));
  }
  pace_free(r->pace);
  damo_release(r->own);
  damo_release(r->of);
  obj_free(obj, sizeof *r);
}

void fn_run_register(damo_ctx *ctx) { ctx_register_kind(ctx, OBJ_RUN, fn_run_destroy, NULL); }

damo_function *fn_run_own(const damo_run *r) { return r->own; }
damo_function *fn_run_of(const damo_run *r) { return r->of; }

damo_run *fn_run_new(damo_function *f, damo_obj *const *into) {
  damo_ctx *ctx = f->obj.ctx;
  damo_function *own = function_copy(f);
  damo_run *r = own != NULL ? obj_new(ctx, OBJ_RUN, sizeof *r) : NULL;
  if (r == NULL) {
    damo_release(own);
    return NULL;
  }
  const fn_program *p = own->program;
  r->of = damo_retain(f);
  r->own = own;
  r->args = mem_calloc(ctx, fn_run_bytes(p));
  if (r->args != NULL) {
    r->results = r->args + p->n_inputs;
    r->seen = own->seen = r->results + p->n_outputs;
    r->into = into != NULL ? r->seen + p->n_shared : NULL;
    for (int64_t i = 0; into != NULL && i < p->n_outputs; i++) r->into[i] = damo_retain(into[i]);
    r->pace = pace_new(ctx);
  }
  if (r->pace != NULL) return r;
  damo_release(r);
  return NULL;
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

static damo_status fn_run_check_not_stepping(const damo_run *r) {
  if (!r->stepping) return DAMO_OK;
  return ctx_fail(r->obj.ctx, DAMO_ESTATE, "the run of %s is inside of a step", function_name(r->of));
}

/* Converts an argument unless that takes long, and is then part of the call. */
static damo_status fn_run_take_arg(damo_run *r, int64_t i, damo_obj *value) {
  damo_function *f = r->own;
  if (value == NULL) return f->defaults[i] != NULL ? DAMO_OK : function_missing_input(f, i);
  const damo_array *a = value_array(value);
  const bool later = value->kind == OBJ_SPARSE || (a != NULL && array_size(a) > RUN_CONVERTS);
  r->args[i] = later ? damo_retain(value) : function_filter(f, i, value);
  return r->args[i] != NULL ? DAMO_OK : damo_error_status(f->obj.ctx);
}

static damo_status fn_run_take_values(damo_run *r, damo_obj *const *args, int64_t n_args) {
  const fn_program *p = r->own->program;
  DAMO_TRY(function_check_count(r->own, n_args));
  for (int64_t i = 0; i < p->n_inputs; i++) cell_set(&r->own->defaults[i], damo_retain(r->of->defaults[i]));
  for (int64_t i = 0; i < p->n_inputs; i++) DAMO_TRY(fn_run_take_arg(r, i, i < n_args ? args[i] : NULL));
  for (int64_t i = 0; i < p->n_shared; i++) {
    const fn_shared *sh = &p->shared[i];
    r->seen[i] = damo_retain(sh->var != NULL ? function_shared(r->of, i) : r->of->defaults[sh->input]);
  }
  return DAMO_OK;
}

damo_status fn_run_begin(damo_run *r, damo_obj *const *args, int64_t n_args) {
  DAMO_TRY(fn_run_cancel(r));
  if (r->of->freed) return ctx_fail(r->obj.ctx, DAMO_ESTATE, "%s was freed and can't be called", function_name(r->own));
  fn_run_drop_results(r);
  const damo_status s = fn_run_take_values(r, args, n_args);
  if (s != DAMO_OK) {
    fn_run_close(r, RUN_NONE);
    return s;
  }
  fn_run_mark(r, true);
  r->n_args = n_args;
  r->state = RUN_OPEN;
  return DAMO_OK;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void fn_run_compute(void *user) {
  damo_run *r = user;
  r->status = function_compute(r->own, r->args, r->own->program->n_inputs, r->into);
}

/* Whether what the call updates is as it was when it began. */
static damo_status fn_run_check_unchanged(const damo_run *r) {
  const fn_program *p = r->own->program;
  if (r->of->freed) return ctx_fail(r->obj.ctx, DAMO_ESTATE, "%s was freed during its run", function_name(r->own));
  for (int64_t i = 0; i < p->n_shared; i++) {
    const fn_shared *sh = &p->shared[i];
    if (sh->update_cell < 0) continue;
    const damo_obj *now = sh->var != NULL ? function_shared(r->of, i) : r->of->defaults[sh->input];
    if (now == r->seen[i]) continue;
    char name[160];
    return ctx_fail(
        r->obj.ctx, DAMO_ESTATE, "the run of %s can't be committed: %s, which it updates, was set after it began",
        function_name(r->own), var_format(name, sizeof name, sh->var != NULL ? sh->var : p->inputs[sh->input].var));
  }
  return DAMO_OK;
}

static damo_status fn_run_check_targets(const damo_run *r) {
  for (int64_t i = 0; r->into != NULL && i < r->own->program->n_outputs; i++) {
    const damo_array *a = r->into[i] != NULL ? value_array(r->into[i]) : NULL;
    if (a == NULL || array_takes_writes(a)) continue;
    return ctx_fail(r->obj.ctx, DAMO_ESTATE,
                    "%s: the array for output %lld is read-only, or an input of a run under way", function_name(r->own),
                    (long long)i + 1);
  }
  return DAMO_OK;
}

static damo_status fn_run_conclude(damo_run *r) {
  damo_function *f = r->own;
  fn_run_mark(r, false);
  damo_status s = fn_run_check_unchanged(r);
  if (s == DAMO_OK) s = fn_run_check_targets(r);
  if (s != DAMO_OK) {
    function_abandon(f, r->into, s);
    return s;
  }
  DAMO_TRY(function_conclude(f, r->into, r->of));
  for (int64_t i = 0; i < f->program->n_outputs; i++)
    r->results[i] = r->into != NULL && r->into[i] != NULL ? NULL : function_take(f, i);
  function_finish(f);
  return DAMO_OK;
}

damo_status fn_run_step(damo_run *r, int64_t ns, bool *ended) {
  *ended = r->state == RUN_ENDED;
  DAMO_TRY(fn_run_check_not_stepping(r));
  if (r->state == RUN_ENDED) return DAMO_OK;
  if (r->state == RUN_NONE)
    return ctx_fail(r->obj.ctx, DAMO_ESTATE, "the run of %s is not under way: it failed, or was cancelled",
                    function_name(r->own));
  r->stepping = true;
  /* a mode that looks on may compute while an error is pending */
  const bool over = pace_run(r->pace, r->own->program->watcher != NULL ? -1 : ns, fn_run_compute, r);
  damo_status s = over ? r->status : DAMO_OK;
  if (over && s == DAMO_OK) s = fn_run_conclude(r);
  r->stepping = false;
  if (!over) return DAMO_OK;
  if (s == DAMO_EMEMORY) {
    fn_run_mark(r, true); /* the next step computes from the beginning */
    return s;
  }
  fn_run_close(r, s == DAMO_OK ? RUN_ENDED : RUN_NONE);
  *ended = s == DAMO_OK;
  return s;
}

damo_status fn_run_check_ended(const damo_run *r) {
  if (r->state == RUN_ENDED) return DAMO_OK;
  return ctx_fail(r->obj.ctx, DAMO_ESTATE, "the run of %s has no result: it %s", function_name(r->own),
                  r->state == RUN_OPEN ? "has not ended" : "failed, or was cancelled");
}

damo_obj *fn_run_result(const damo_run *r, int64_t i) {
  damo_assert(i >= 0 && i < r->own->program->n_outputs);
  if (fn_run_check_ended(r) != DAMO_OK) return NULL;
  return r->into != NULL && r->into[i] != NULL ? r->into[i] : r->results[i];
}

damo_status fn_run_cancel(damo_run *r) {
  DAMO_TRY(fn_run_check_not_stepping(r));
  if (r->state != RUN_OPEN) return DAMO_OK;
  if (pace_is_suspended(r->pace)) {
    r->stepping = true;
    pace_stop(r->pace);
    pace_run(r->pace, -1, fn_run_compute, r);
    r->stepping = false;
    if (r->status == DAMO_OK) function_abandon(r->own, r->into, DAMO_ESTATE);
  }
  fn_run_close(r, RUN_NONE);
  return DAMO_OK;
}
