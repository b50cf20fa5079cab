/* function.c: calls of a compiled function.
 *
 * A call has four steps: convert the arguments into cells; run the thunks; stage, that is copy, the results and updates
 * that need a copy; commit the updates by moving values. Only the commit changes shared values, and it cannot fail, so
 * a call that fails leaves them as they were.
 */
#include <stdio.h>

#include "compile_int.h"
#include "memo.h"

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static void program_free(ctx_lent *lent) {
  fn_program *p = (fn_program *)lent;
  damo_ctx *ctx = p->ctx;
  vm_program_clear(ctx, &p->vm);
  for (int64_t i = 0; i < p->n_inputs; i++) {
    damo_release(p->inputs[i].var);
    mem_strfree(ctx, p->inputs[i].name);
  }
  for (int64_t i = 0; i < p->n_outputs; i++) {
    damo_release(p->outputs[i].type);
    mem_strfree(ctx, p->outputs[i].name);
  }
  for (int64_t i = 0; i < p->n_shared; i++) damo_release(p->shared[i].var);
  for (int64_t i = 0; i < p->n_pairs; i++) mem_strfree(ctx, p->pairs[i].name);
  for (int64_t i = 0; i < p->n_no_recycling; i++) damo_release(p->no_recycling[i]);
  for (int64_t i = 0; i < p->n_source; i++) damo_release(p->source[i]);
  for (int64_t i = 0; i < p->n_source_targets; i++) damo_release(p->source_targets[i]);
  mem_free(ctx, p->source, (size_t)p->n_source * sizeof *p->source);
  mem_free(ctx, p->source_targets, (size_t)p->n_source_targets * sizeof *p->source_targets);
  mem_free(ctx, p->inputs, (size_t)p->n_inputs * sizeof *p->inputs);
  mem_free(ctx, p->outputs, (size_t)p->n_outputs * sizeof *p->outputs);
  mem_free(ctx, p->shared, (size_t)p->n_shared * sizeof *p->shared);
  mem_free(ctx, p->pairs, (size_t)p->n_pairs * sizeof *p->pairs);
  mem_free(ctx, p->fresh, (size_t)p->n_fresh * sizeof *p->fresh);
  mem_free(ctx, p->no_recycling, (size_t)p->n_no_recycling * sizeof *p->no_recycling);
  mem_strfree(ctx, p->name);
  mem_strfree(ctx, p->include);
  mem_strfree(ctx, p->exclude);
  mem_strfree(ctx, p->require);
  mem_strfree(ctx, p->inner_mode);
  report_free(ctx, p->report);
  if (p->group != NULL) token_release(p->group);
  damo_fgraph *fg = p->fgraph;
  mem_free(ctx, p, sizeof *p);
  damo_release(fg);
}

fn_program *program_new(damo_ctx *ctx, int64_t n_inputs, int64_t n_outputs, int64_t n_shared) {
  lent_collect(ctx);
  fn_program *p = mem_calloc(ctx, sizeof *p);
  if (p == NULL) return NULL;
  lent_init(&p->lent, program_free);
  p->ctx = ctx;
  p->inputs = mem_calloc(ctx, (size_t)n_inputs * sizeof *p->inputs);
  if (p->inputs != NULL) p->n_inputs = n_inputs;
  p->outputs = p->inputs != NULL ? mem_calloc(ctx, (size_t)n_outputs * sizeof *p->outputs) : NULL;
  if (p->outputs != NULL) p->n_outputs = n_outputs;
  p->shared = p->outputs != NULL ? mem_calloc(ctx, (size_t)n_shared * sizeof *p->shared) : NULL;
  if (p->shared != NULL) {
    p->n_shared = n_shared;
    return p;
  }
  program_release(p, ctx);
  return NULL;
}

/* The cast is safe: only the count of the shared program changes. */
static fn_program *program_hold(const fn_program *p, const damo_ctx *by) {
  fn_program *held = (fn_program *)(uintptr_t)p;
  if (p->named) {
    token_hold(p->group);
  } else {
    lent_hold(p->ctx, &held->lent, by);
  }
  return held;
}

void program_release(const fn_program *p, const damo_ctx *by) {
  if (p->ctx == NULL) return;
  if (p->named) {
    token_release(p->group);
  } else {
    lent_release(p->ctx, &((fn_program *)(uintptr_t)p)->lent, by);
  }
}

damo_status program_set_fresh(fn_program *p, damo_var *const *vars, int64_t n) {
  if (n == 0) return DAMO_OK;
  p->no_recycling = mem_alloc(p->ctx, (size_t)n * sizeof *p->no_recycling);
  if (p->no_recycling == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < n; i++) p->no_recycling[i] = damo_retain(vars[i]);
  p->n_no_recycling = n;
  return DAMO_OK;
}

static damo_status hold_vars(damo_ctx *ctx, damo_var *const *vars, int64_t n, damo_var ***out, int64_t *n_out) {
  if (n == 0) return DAMO_OK;
  *out = mem_alloc(ctx, (size_t)n * sizeof **out);
  if (*out == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < n; i++) (*out)[i] = damo_retain(vars[i]);
  *n_out = n;
  return DAMO_OK;
}

damo_status program_set_source(fn_program *p, damo_var *const *source, int64_t n, damo_var *const *targets,
                               int64_t n_targets) {
  DAMO_TRY(hold_vars(p->ctx, source, n, &p->source, &p->n_source));
  return hold_vars(p->ctx, targets, n_targets, &p->source_targets, &p->n_source_targets);
}

damo_status program_set_pairs(fn_program *p, char *const *names, int64_t n) {
  if (n == 0) return DAMO_OK;
  p->pairs = mem_calloc(p->ctx, (size_t)n * sizeof *p->pairs);
  if (p->pairs == NULL) return DAMO_EMEMORY;
  p->n_pairs = n;
  for (int64_t i = 0; i < n; i++) DAMO_TRY(mem_copy_text(p->ctx, names[i], &p->pairs[i].name));
  return DAMO_OK;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The program of a Function that was freed. */
static const fn_program no_program = {.ctx = NULL};

static size_t value_bytes(const fn_program *p) {
  return (size_t)(p->n_inputs + p->n_outputs) * sizeof(damo_obj *) + (size_t)p->n_shared * sizeof(fn_update);
}

static void function_drop(damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  const fn_program *p = f->program;
  vm_frame_clear(&f->frame);
  for (int64_t i = 0; f->defaults != NULL && i < p->n_inputs + p->n_outputs; i++) damo_release(f->defaults[i]);
  for (int64_t i = 0; f->defaults != NULL && i < p->n_shared; i++) {
    damo_release(f->updates[i].staged);
    damo_release(f->updates[i].spare);
    damo_release(f->updates[i].var);
  }
  if (f->defaults != NULL) mem_free(ctx, f->defaults, value_bytes(p));
  for (int64_t i = 0; f->vars != NULL && i < p->n_inputs; i++) damo_release(f->vars[i]);
  if (f->vars != NULL) mem_free(ctx, f->vars, (size_t)p->n_inputs * sizeof *f->vars);
  f->vars = NULL;
  damo_release(f->graph);
  f->graph = NULL;
  f->defaults = f->staged = NULL;
  f->updates = NULL;
  if (p->watcher != NULL && p->watcher->clear != NULL) p->watcher->clear(f);
  profile_drop(f);
  damo_release(f->companion);
  f->companion = NULL;
  f->program = &no_program;
  program_release(p, ctx);
}

static void function_destroy(damo_obj *obj) {
  damo_ctx *ctx = obj->ctx;
  function_drop((damo_function *)obj);
  obj_free(obj, sizeof(damo_function));
  lent_collect(ctx);
}

damo_function *function_over(damo_ctx *ctx, const fn_program *p) {
  damo_function *f = obj_new(ctx, OBJ_FUNCTION, sizeof *f);
  if (f == NULL) return NULL;
  f->program = &no_program;
  f->frame.frame.ctx = ctx;
  f->defaults = mem_calloc(ctx, value_bytes(p));
  if (f->defaults == NULL) {
    damo_release(f);
    return NULL;
  }
  f->staged = f->defaults + p->n_inputs;
  f->updates = (fn_update *)(f->staged + p->n_outputs);
  f->program = program_hold(p, ctx);
  return f;
}

void function_watch(damo_function *f) {
  const fn_watcher *w = f->program->watcher;
  f->frame.frame.no_jit = f->program->no_jit;
  f->frame.frame.inner_mode = f->program->inner_mode;
  if (w == NULL) return;
  f->frame.step = w->step;
  f->frame.step_user = f;
  f->frame.frame.watched = w->watches_inner;
}

damo_status function_free(damo_function *f) {
  if (f->running) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "the function is running and can't be freed now");
  if (!f->freed) function_drop(f);
  f->freed = true;
  return DAMO_OK;
}

damo_status function_trim(damo_function *f) {
  if (f->freed) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "the function was freed");
  if (f->running) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "the function is running and can't be trimmed now");
  vm_arena_trim(&f->frame);
  return DAMO_OK;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

damo_var *shared_copy_to(damo_ctx *ctx, const damo_var *v, const damo_obj *value) {
  damo_type *type = type_copy_to(ctx, v->type);
  damo_obj *own = type != NULL ? value_copy_to(ctx, value) : NULL;
  damo_var *copy = own != NULL ? var_shared(ctx, type, own, v->name) : NULL;
  damo_release(type);
  damo_release(own);
  return copy;
}

damo_status function_copy_values(const damo_function *f, damo_function *g) {
  damo_ctx *ctx = g->obj.ctx;
  const fn_program *p = f->program;
  const bool same = f->obj.ctx == ctx, foreign = ctx != p->ctx;
  if (foreign && f->obj.ctx == p->ctx) DAMO_TRY(program_fingerprint(p));
  for (int64_t i = 0; i < p->n_inputs; i++) {
    if (f->defaults[i] == NULL) continue;
    g->defaults[i] = same ? damo_retain(f->defaults[i]) : value_copy_to(ctx, f->defaults[i]);
    if (g->defaults[i] == NULL) return damo_error_status(ctx);
  }
  for (int64_t i = 0; foreign && i < p->n_shared; i++) {
    const damo_var *v = function_shared_var(f, i);
    if (v == NULL) continue;
    g->updates[i].var = same ? damo_retain(v) : shared_copy_to(ctx, v, v->value);
    if (g->updates[i].var == NULL) return damo_error_status(ctx);
  }
  return DAMO_OK;
}

static damo_status function_join(const damo_function *f, damo_function *g, bool foreign) {
  damo_ctx *ctx = g->obj.ctx;
  const fn_program *p = f->program;
  if (f->companion != NULL && (g->companion = function_copy(f->companion)) == NULL) return damo_error_status(ctx);
  g->lends = f->lends;
  DAMO_TRY(function_copy_values(f, g));
  const thunk_request how = {.no_recycling = p->fresh, .n_no_recycling = p->n_fresh};
  const bool outer = ctx->reproducible;
  ctx_set_reproducible(ctx, p->reproducible);
  const damo_status s = vm_frame_join(&g->frame, ctx, &p->vm, foreign, &how);
  ctx_set_reproducible(ctx, outer);
  DAMO_TRY(s);
  g->frame.frame.silent = f->frame.frame.silent;
  function_watch(g);
  return p->report != NULL ? function_profile(g) : DAMO_OK;
}

static damo_status check_not_freed(const damo_function *f, damo_ctx *ctx) {
  return f->freed ? ctx_fail(ctx, DAMO_ESTATE, "the function was freed") : DAMO_OK;
}

static damo_function *copy_into(const damo_function *f, damo_ctx *ctx) {
  damo_function *g = function_over(ctx, f->program);
  if (g == NULL) return NULL;
  if (function_join(f, g, ctx != f->program->ctx) == DAMO_OK) return g;
  damo_release(g);
  return NULL;
}

damo_function *function_copy(const damo_function *f) {
  return check_not_freed(f, f->obj.ctx) == DAMO_OK ? copy_into(f, f->obj.ctx) : NULL;
}

/* A state error if f has a watcher, or an Op that only runs in its own context. */
static damo_status check_may_leave(const damo_function *f, damo_ctx *ctx) {
  const fn_program *p = f->program;
  if (p->watcher != NULL) {
    return ctx_fail(ctx, DAMO_ESTATE, "%s is in the mode %s: it runs only in the context that compiled it",
                    function_name(f), p->watcher->mode);
  }
  for (int64_t k = 0; k < p->vm.n_thunks; k++) {
    const op_def *def = p->vm.thunks[k]->node->op->def;
    if (!def->one_context) continue;
    return ctx_fail(ctx, DAMO_ESTATE, "%s holds %s, which runs only in the context that it was made in",
                    function_name(f), def->name);
  }
  return DAMO_OK;
}

damo_function *function_copy_to(const damo_function *f, damo_ctx *ctx) {
  if (check_not_freed(f, ctx) != DAMO_OK) return NULL;
  if (ctx != f->program->ctx && check_may_leave(f, ctx) != DAMO_OK) return NULL;
  return copy_into(f, ctx);
}

damo_status compile_register(damo_ctx *ctx, const fn_watcher *const *watchers) {
  ctx_register_kind(ctx, OBJ_FUNCTION, function_destroy, NULL);
  fn_run_register(ctx);
  ctx->slots[CTX_WATCHERS].data = (void *)(uintptr_t)watchers; /* a static list: nothing to destroy */
  return memo_register(ctx);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

const char *function_name(const damo_function *f) { return f->program->name != NULL ? f->program->name : "function"; }

damo_status function_missing_input(damo_function *f, int64_t i) {
  char name[160];
  return ctx_fail(f->obj.ctx, DAMO_EMISSING_INPUT, "%s: input %lld (%s) is missing", function_name(f), (long long)i + 1,
                  f->program->inputs[i].name != NULL ? f->program->inputs[i].name
                                                     : var_format(name, sizeof name, f->program->inputs[i].var));
}

/* The filter's error, with the name of the input added. */
static void refused_input(damo_function *f, int64_t i) {
  damo_ctx *ctx = f->obj.ctx;
  const damo_status status = damo_error_status(ctx);
  const fn_input *in = &f->program->inputs[i];
  char name[160], why[ERROR_MESSAGE_MAX];
  if (status == DAMO_EMEMORY) return;
  snprintf(why, sizeof why, "%s", damo_error_message(ctx));
  ctx_fail(ctx, status, "%s: input %lld (%s): %s", function_name(f), (long long)i + 1,
           in->name != NULL ? in->name : var_format(name, sizeof name, in->var), why);
}

damo_obj *function_filter(damo_function *f, int64_t i, damo_obj *value) {
  const fn_input *in = &f->program->inputs[i];
  if (type_is_valid(in->var->type, value)) return damo_retain(value);
  damo_obj *filtered = type_filter(in->var->type, value, (filter_options){in->strict, f->program->allow_downcast});
  if (filtered == NULL) refused_input(f, i);
  return filtered;
}

/* type_is_valid of an Array, the most frequent value, without a call; false: to be asked. */
static inline bool is_valid_array(const damo_type *t, const damo_obj *value) {
  if (t->kind != TYPE_TENSOR || value->kind != OBJ_ARRAY) return false;
  const damo_array *a = (const damo_array *)value;
  if (array_dtype(a) != t->dtype || a->ndim != t->ndim) return false;
  for (int k = 0; k < t->ndim; k++) {
    if (t->shape[k] >= 0 && t->shape[k] != array_shape(a)[k]) return false;
  }
  return true;
}

static damo_status load_input(damo_function *f, int64_t i, damo_obj *value) {
  if (value == NULL) value = f->defaults[i];
  if (value == NULL) return function_missing_input(f, i);
  const bool valid = is_valid_array(f->program->inputs[i].var->type, value);
  damo_obj *filtered = valid ? damo_retain(value) : function_filter(f, i, value);
  if (filtered == NULL) return damo_error_status(f->obj.ctx);
  cell_set(&f->frame.frame.cells[f->program->inputs[i].cell], filtered);
  return DAMO_OK;
}

/* Whether the value of cell c may overlap the value of another input or shared Variable. */
static bool is_shared_memory(const damo_function *f, int32_t c) {
  for (int64_t k = 0; k < f->program->vm.n_transient; k++) {
    const damo_obj *v = f->frame.frame.cells[f->program->vm.transient[k]];
    if (f->program->vm.transient[k] != c && value_may_overlap(f->frame.frame.cells[c], v)) return true;
  }
  return false;
}

/* If a thunk overwrites input i, its value must be an argument (no default value), writeable, and not overlap another
 * value from outside; otherwise the cell gets a copy. copy_all: copies every mutable input. */
static damo_status own_destroyed(damo_function *f, int64_t i, damo_obj *arg, bool copy_all) {
  const fn_input *in = &f->program->inputs[i];
  cell *c = &f->frame.frame.cells[in->cell];
  if (!in->destroyed && !(copy_all && in->mutable_)) return DAMO_OK;
  const damo_array *a = value_array(*c);
  if (a == NULL) return DAMO_OK;
  if (!copy_all && arg != NULL && array_takes_writes(a) && !is_shared_memory(f, in->cell)) return DAMO_OK;
  damo_obj *copy = value_copy(*c);
  if (copy == NULL) return DAMO_EMEMORY;
  cell_set(c, copy);
  return DAMO_OK;
}

damo_status function_check_count(const damo_function *f, int64_t n_args) {
  if (n_args <= f->program->n_inputs) return DAMO_OK;
  return ctx_fail(f->obj.ctx, DAMO_ETYPE, "%s: expected %lld argument%s, got %lld", function_name(f),
                  (long long)f->program->n_inputs, f->program->n_inputs == 1 ? "" : "s", (long long)n_args);
}

damo_status function_load(damo_function *f, damo_obj *const *args, int64_t n_args, bool copy_mutable) {
  DAMO_TRY(function_check_count(f, n_args));
  for (int64_t i = 0; i < f->program->n_inputs; i++) DAMO_TRY(load_input(f, i, i < n_args ? args[i] : NULL));
  for (int64_t i = 0; i < f->program->n_shared; i++) {
    const fn_shared *sh = &f->program->shared[i];
    if (sh->cell < 0) continue;
    cell_set(&f->frame.frame.cells[sh->cell], damo_retain(f->seen != NULL ? f->seen[i] : function_shared(f, i)));
  }
  for (int64_t i = 0; i < f->program->n_inputs; i++)
    DAMO_TRY(own_destroyed(f, i, i < n_args ? args[i] : NULL, copy_mutable));
  return DAMO_OK;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* Whether the result stays in its cell, where a later call writes over it once nobody else holds it. */
static bool output_stays(const damo_function *f, int64_t i) {
  const fn_output *out = &f->program->outputs[i];
  return out->borrow || (f->lends && !out->copy);
}

/* A copy of the value. It is written into *spare, which it then takes over, if that has the same dtype and shape and
 * nothing else holds it. */
static damo_obj *function_copy_value(damo_obj *value, damo_obj **spare) {
  if (value->kind != OBJ_ARRAY) return value_copy(value);
  damo_array *v = (damo_array *)value, *s = spare != NULL ? (damo_array *)*spare : NULL;
  bool fits = s != NULL && s->obj.kind == OBJ_ARRAY && array_is_exclusive(s) && s->writeable && s->ndim == v->ndim &&
              s->dtype == v->dtype;
  for (int d = 0; fits && d < v->ndim; d++) fits = array_shape(s)[d] == array_shape(v)[d];
  if (!fits) return (damo_obj *)array_copy(v);
  if (array_assign(s, v) != DAMO_OK) return NULL;
  *spare = NULL;
  return &s->obj;
}

/* Checks the targets and copies the results that must be staged. Nothing is written into the caller's objects yet. */
static damo_status stage_outputs(damo_function *f, damo_obj *const *into) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    const fn_output *out = &f->program->outputs[i];
    damo_obj *value = f->frame.frame.cells[out->cell], *target = into != NULL ? into[i] : NULL;
    if (target != NULL && value != target) DAMO_TRY(target_check(f, i, value, target));
    if (!target_must_stage(f, i, into)) continue;
    bool keep = target == NULL && (output_stays(f, i) || (!out->twice && value_is_cells_alone(value)));
    cell_set(&f->staged[i], keep ? damo_retain(value) : function_copy_value(value, NULL));
    if (f->staged[i] == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_status refuse_update(const damo_function *f, const damo_var *target, damo_obj *value) {
  char want[320], name[160];
  damo_obj *filtered = NULL;
  var_format(name, sizeof name, target);
  if (target->type->pattern != NULL &&
      (filtered = type_filter(target->type, value, (filter_options){.strict = true})) == NULL) {
    ctx_fail_add(f->obj.ctx, "in the update of %s by %s", name, function_name(f)); /* the error names the entry */
    return damo_error_status(f->obj.ctx);
  }
  damo_release(filtered);
  return ctx_fail(f->obj.ctx, DAMO_ESHAPE, "%s: the update of %s is not of %s", function_name(f), name,
                  type_format(want, sizeof want, target->type));
}

static damo_status stage_updates(damo_function *f) {
  for (int64_t i = 0; i < f->program->n_shared; i++) {
    const fn_shared *sh = &f->program->shared[i];
    if (sh->update_cell < 0) continue;
    damo_obj *value = f->frame.frame.cells[sh->update_cell];
    const damo_var *target = sh->var != NULL ? sh->var : f->program->inputs[sh->input].var;
    if (!type_is_valid(target->type, value)) return refuse_update(f, target, value);
    if (!sh->copy) continue;
    cell_set(&f->updates[i].staged, function_copy_value(value, &f->updates[i].spare));
    if (f->updates[i].staged == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

/* Moves the new values into the shared Variables and the default values of `to`. The old value is kept for reuse: as
 * `spare`, or in the cell of the update. Cannot fail. */
static void commit(damo_function *f, damo_function *to) {
  for (int64_t i = 0; i < f->program->n_shared; i++) {
    const fn_shared *sh = &f->program->shared[i];
    if (sh->update_cell < 0) continue;
    damo_obj **place = sh->var != NULL ? &function_shared_var(to, i)->value : &to->defaults[sh->input];
    damo_obj *old = *place;
    if (sh->copy) {
      *place = f->updates[i].staged;
      f->updates[i].staged = NULL;
      cell_set(&f->updates[i].spare, old);
    } else {
      cell *c = &f->frame.frame.cells[sh->update_cell];
      *place = *c;
      *c = old;
    }
  }
}

static void drop_staged(damo_function *f) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) cell_set(&f->staged[i], NULL);
  for (int64_t i = 0; i < f->program->n_shared; i++) cell_set(&f->updates[i].staged, NULL);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static damo_status function_steps(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into) {
  const fn_watcher *w = f->program->watcher;
  if (into != NULL) DAMO_TRY(target_begin(f, into));
  DAMO_TRY(function_load(f, args, n_args, false));
  if (w != NULL && w->prepare != NULL) DAMO_TRY(w->prepare(f, args, n_args));
  if (into != NULL && f->seen == NULL && (w == NULL || !w->keeps_results)) DAMO_TRY(target_offer(f, into));
  const damo_status s = vm_run(&f->frame);
  if (s != DAMO_OK) return w != NULL && w->explain != NULL ? w->explain(f, s) : s;
  if (w != NULL && w->compare != NULL) DAMO_TRY(w->compare(f));
  DAMO_TRY(stage_outputs(f, into));
  return stage_updates(f);
}

void function_abandon(damo_function *f, damo_obj *const *into, damo_status s) {
  if (into != NULL) target_forget(f, into);
  drop_staged(f);
  function_finish(f);
  if (f->profile != NULL) profile_leave(f, s);
}

damo_status function_compute(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into) {
  if (f->freed) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "%s was freed and can't be called", function_name(f));
  if (f->running) {
    return ctx_fail(f->obj.ctx, DAMO_ESTATE, "%s is running and can't be called from inside its own call",
                    function_name(f));
  }
  DAMO_TRY(ctx_enter(f->obj.ctx, STACK_CALL));
  f->running = true;
  if (f->profile != NULL) profile_enter(f);
  const int threads = f->obj.ctx->call_threads;
  if (f->program->threads > 0) f->obj.ctx->call_threads = f->program->threads;
  const ctx_watch before = ctx_watch_begin(f->obj.ctx);
  const bool outer = function_enter_mode(f);
  const rounding host = rounding_enter(f->program->reproducible);
  damo_status s = function_steps(f, args, n_args, into);
  rounding_leave(host);
  function_leave_mode(f, outer);
  s = ctx_watch_end(f->obj.ctx, before, s);
  f->obj.ctx->call_threads = threads;
  ctx_leave(f->obj.ctx, STACK_CALL);
  if (s != DAMO_OK) function_abandon(f, into, s);
  return s;
}

damo_status function_conclude(damo_function *f, damo_obj *const *into, damo_function *to) {
  const damo_status s = into != NULL ? target_fill(f, into) : DAMO_OK;
  if (s != DAMO_OK) {
    function_abandon(f, into, s);
    return s;
  }
  if (into != NULL) target_forget(f, into);
  commit(f, to);
  to->n_calls++;
  if (f->profile != NULL) profile_leave(f, s);
  return DAMO_OK;
}

damo_status function_run(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into) {
  DAMO_TRY(function_compute(f, args, n_args, into));
  return function_conclude(f, into, f);
}

static bool is_scalar_type(const damo_type *t) { return type_is_tensor(t) && t->ndim == 0; }

bool function_is_pure(const damo_function *f) {
  const fn_program *p = f->program;
  if (p->n_shared > 0 || p->watcher != NULL || f->companion != NULL || p->vm.n_views > 0) return false;
  return p->vm.n_transient <= p->n_inputs;
}

bool function_takes_scalars(const damo_function *f) {
  const fn_program *p = f->program;
  if (!function_is_pure(f)) return false;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    const fn_input *in = &p->inputs[i];
    if (!is_scalar_type(in->var->type) || in->cell < 0 || in->mutable_ || in->destroyed) return false;
  }
  for (int64_t i = 0; i < p->n_outputs; i++) {
    if (!is_scalar_type(p->outputs[i].type)) return false;
  }
  return true;
}

/* *out = array_item(a) for a 0-d a. A float64 is stored by its members: a scalar copied as a whole waits for them. */
static inline void read_scalar(const damo_array *a, scalar *out) {
  if (array_dtype(a) == DAMO_FLOAT64) {
    out->dtype = DAMO_FLOAT64;
    out->v.f = *(const double *)a->data;
  } else {
    *out = array_item(a);
  }
}

/* vm_run, in short for one thunk. */
static damo_status run_scalar_thunks(vm_frame *vf) {
  const vm_program *p = vf->program;
  damo_ctx *const ctx = vf->frame.ctx;
  if (!function_is_one_thunk(vf) || ctx_pace(ctx) != NULL) return vm_run(vf);
  damo_status s = p->thunks[0]->run(p->thunks[0], &vf->frame);
  if (s == DAMO_OK && ctx_is_due(ctx)) s = ctx_look(ctx);
  return s == DAMO_OK ? s : vm_fail_at(vf, 0, s);
}

damo_status function_run_scalars(damo_function *f, damo_array *const *args, scalar *results) {
  const fn_program *p = f->program;
  cell *cells = f->frame.frame.cells;
  damo_assert(!f->running && !f->freed && f->profile == NULL && function_takes_scalars(f));
  DAMO_TRY(ctx_enter(f->obj.ctx, STACK_CALL));
  f->running = true;
  for (int64_t i = 0; i < p->n_inputs; i++) cells[p->inputs[i].cell] = &args[i]->obj; /* borrowed */
  const ctx_watch before = ctx_watch_begin(f->obj.ctx);
  const bool outer = function_enter_mode(f);
  const rounding host = rounding_enter(p->reproducible);
  damo_status s = run_scalar_thunks(&f->frame);
  rounding_leave(host);
  function_leave_mode(f, outer);
  s = ctx_watch_end(f->obj.ctx, before, s);
  ctx_leave(f->obj.ctx, STACK_CALL);
  for (int64_t i = 0; s == DAMO_OK && i < p->n_outputs; i++)
    read_scalar((const damo_array *)cells[p->outputs[i].cell], &results[i]);
  for (int64_t i = 0; i < p->n_inputs; i++) cells[p->inputs[i].cell] = NULL;
  f->n_calls += s == DAMO_OK;
  f->running = false;
  return s;
}

damo_obj *function_peek(const damo_function *f, int64_t i) {
  damo_assert(f->running && i >= 0 && i < f->program->n_outputs);
  const fn_output *out = &f->program->outputs[i];
  return f->staged[i] != NULL ? f->staged[i] : f->frame.frame.cells[out->cell];
}

damo_obj *function_take(damo_function *f, int64_t i) {
  damo_assert(f->running && i >= 0 && i < f->program->n_outputs);
  const fn_output *out = &f->program->outputs[i];
  if (output_stays(f, i) && !out->copy) return damo_retain(f->frame.frame.cells[out->cell]);
  damo_obj **place = out->copy ? &f->staged[i] : &f->frame.frame.cells[out->cell];
  damo_obj *v = *place;
  *place = NULL;
  for (int k = 0; !out->copy && k < out->n_along; k++) cell_set(&f->frame.frame.cells[out->along[k]], NULL);
  return v;
}

void function_finish(damo_function *f) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    if (f->staged[i] != NULL) cell_set(&f->staged[i], NULL);
  }
  vm_reset(&f->frame);
  if (f->companion != NULL) vm_reset(&f->companion->frame);
  f->running = false;
}

damo_status function_call(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into,
                          damo_obj **results) {
  DAMO_TRY(function_run(f, args, n_args, into));
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    results[i] = into != NULL && into[i] != NULL ? damo_retain(into[i]) : function_take(f, i);
  }
  function_finish(f);
  return DAMO_OK;
}
