/* function.c: calls of a compiled function.
 *
 * A call: convert the arguments into cells; run; stage every result that needs a copy (all that can fail); commit the
 * updates by moving values, which cannot fail. Whatever fails before the commit leaves shared values as they were.
 */
#include <stdio.h>

#include "compile_int.h"

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void drop_contents(damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  vm_plan_clear(&f->plan);
  for (int64_t i = 0; i < f->n_inputs; i++) {
    damo_release(f->inputs[i].var);
    damo_release(f->inputs[i].value);
    mem_strfree(ctx, f->inputs[i].name);
  }
  for (int64_t i = 0; i < f->n_outputs; i++) {
    damo_release(f->outputs[i].type);
    damo_release(f->outputs[i].staged);
    mem_strfree(ctx, f->outputs[i].name);
  }
  for (int64_t i = 0; i < f->n_shared; i++) {
    damo_release(f->shared[i].var);
    damo_release(f->shared[i].staged);
    damo_release(f->shared[i].spare);
  }
  mem_free(ctx, f->inputs, (size_t)f->n_inputs * sizeof *f->inputs);
  mem_free(ctx, f->outputs, (size_t)f->n_outputs * sizeof *f->outputs);
  mem_free(ctx, f->shared, (size_t)f->n_shared * sizeof *f->shared);
  f->inputs = NULL;
  f->outputs = NULL;
  f->shared = NULL;
  f->n_inputs = f->n_outputs = f->n_shared = 0;
  if (f->watcher != NULL && f->watcher->clear != NULL) f->watcher->clear(f);
  damo_release(f->fgraph);
  damo_release(f->companion);
  f->fgraph = NULL;
  f->companion = NULL;
  for (int64_t i = 0; i < f->n_pairs; i++) mem_strfree(ctx, f->pairs[i].name);
  mem_free(ctx, f->pairs, (size_t)f->n_pairs * sizeof *f->pairs);
  f->pairs = NULL;
  f->n_pairs = 0;
  for (int64_t i = 0; i < f->n_no_recycling; i++) damo_release(f->no_recycling[i]);
  mem_free(ctx, f->no_recycling, (size_t)f->n_no_recycling * sizeof *f->no_recycling);
  f->no_recycling = NULL;
  f->n_no_recycling = 0;
  mem_strfree(ctx, f->name);
  f->name = NULL;
}

static void function_destroy(damo_obj *obj) {
  drop_contents((damo_function *)obj);
  obj_free(obj, sizeof(damo_function));
}

damo_function *function_new(damo_ctx *ctx, int64_t n_inputs, int64_t n_outputs, int64_t n_shared) {
  damo_function *f = obj_new(ctx, OBJ_FUNCTION, sizeof *f);
  if (f == NULL) return NULL;
  f->plan.ctx = ctx;
  f->inputs = mem_calloc(ctx, (size_t)n_inputs * sizeof *f->inputs);
  if (f->inputs != NULL) f->n_inputs = n_inputs;
  f->outputs = f->inputs != NULL ? mem_calloc(ctx, (size_t)n_outputs * sizeof *f->outputs) : NULL;
  if (f->outputs != NULL) f->n_outputs = n_outputs;
  f->shared = f->outputs != NULL ? mem_calloc(ctx, (size_t)n_shared * sizeof *f->shared) : NULL;
  if (f->shared != NULL) {
    f->n_shared = n_shared;
    return f;
  }
  damo_release(f);
  return NULL;
}

damo_status function_set_fresh(damo_function *f, damo_var *const *vars, int64_t n) {
  if (n == 0) return DAMO_OK;
  f->no_recycling = mem_alloc(f->obj.ctx, (size_t)n * sizeof *f->no_recycling);
  if (f->no_recycling == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < n; i++) f->no_recycling[i] = damo_retain(vars[i]);
  f->n_no_recycling = n;
  return DAMO_OK;
}

damo_status function_copy_text(damo_ctx *ctx, const char *text, char **out) {
  if (text == NULL) return DAMO_OK;
  *out = mem_strdup(ctx, text);
  return *out != NULL ? DAMO_OK : DAMO_EMEMORY;
}

damo_status function_set_pairs(damo_function *f, char *const *names, int64_t n) {
  if (n == 0) return DAMO_OK;
  f->pairs = mem_calloc(f->obj.ctx, (size_t)n * sizeof *f->pairs);
  if (f->pairs == NULL) return DAMO_EMEMORY;
  f->n_pairs = n;
  for (int64_t i = 0; i < n; i++) DAMO_TRY(function_copy_text(f->obj.ctx, names[i], &f->pairs[i].name));
  return DAMO_OK;
}

static damo_status copy_pairs(const damo_function *f, damo_function *g) {
  if (f->n_pairs == 0) return DAMO_OK;
  g->pairs = mem_calloc(g->obj.ctx, (size_t)f->n_pairs * sizeof *g->pairs);
  if (g->pairs == NULL) return DAMO_EMEMORY;
  g->n_pairs = f->n_pairs;
  for (int64_t i = 0; i < f->n_pairs; i++) {
    DAMO_TRY(function_copy_text(g->obj.ctx, f->pairs[i].name, &g->pairs[i].name));
  }
  return DAMO_OK;
}

damo_status function_free(damo_function *f) {
  if (f->running) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "the function is running and can't be freed now");
  if (!f->freed) drop_contents(f);
  f->freed = true;
  return DAMO_OK;
}

static damo_status copy_parts(const damo_function *f, damo_function *g) {
  damo_ctx *ctx = f->obj.ctx;
  g->watcher = f->watcher;
  if (f->companion != NULL && (g->companion = function_copy(f->companion)) == NULL) return damo_error_status(ctx);
  g->fgraph = damo_retain(f->fgraph);
  g->allow_downcast = f->allow_downcast;
  DAMO_TRY(function_copy_text(ctx, f->name, &g->name));
  for (int64_t i = 0; i < f->n_inputs; i++) {
    const fn_input *in = &f->inputs[i];
    g->inputs[i] = (fn_input){
        .var = damo_retain(in->var), .value = damo_retain(in->value), .strict = in->strict, .mutable_ = in->mutable_};
    DAMO_TRY(function_copy_text(ctx, in->name, &g->inputs[i].name));
  }
  for (int64_t i = 0; i < f->n_outputs; i++) {
    g->outputs[i] = (fn_output){.type = damo_retain(f->outputs[i].type), .borrow = f->outputs[i].borrow};
    DAMO_TRY(function_copy_text(ctx, f->outputs[i].name, &g->outputs[i].name));
  }
  for (int64_t i = 0; i < f->n_shared; i++) {
    const fn_shared *sh = &f->shared[i];
    g->shared[i] = (fn_shared){
        .var = damo_retain(sh->var), .input = sh->input, .cell = -1, .update_cell = sh->update_cell < 0 ? -1 : 0};
  }
  DAMO_TRY(function_set_fresh(g, f->no_recycling, f->n_no_recycling));
  DAMO_TRY(copy_pairs(f, g));
  return plan_build(g);
}

damo_function *function_copy(const damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  if (f->freed) {
    ctx_fail(ctx, DAMO_ESTATE, "the function was freed");
    return NULL;
  }
  damo_function *g = function_new(ctx, f->n_inputs, f->n_outputs, f->n_shared);
  if (g == NULL) return NULL;
  if (copy_parts(f, g) == DAMO_OK) return g;
  damo_release(g);
  return NULL;
}

damo_status compile_register(damo_ctx *ctx, const fn_watcher *const *watchers) {
  ctx_register_kind(ctx, OBJ_FUNCTION, function_destroy, NULL);
  ctx->slots[CTX_WATCHERS].data = (void *)(uintptr_t)watchers; /* static: nothing to destroy */
  return DAMO_OK;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

const char *function_name(const damo_function *f) { return f->name != NULL ? f->name : "function"; }

static damo_status missing_input(damo_function *f, int64_t i) {
  char name[160];
  return ctx_fail(f->obj.ctx, DAMO_EMISSING_INPUT, "%s: input %lld (%s) is missing", function_name(f), (long long)i + 1,
                  f->inputs[i].name != NULL ? f->inputs[i].name : var_format(name, sizeof name, f->inputs[i].var));
}

/* The filter's error, said of the input. */
static damo_status refused_input(damo_function *f, int64_t i) {
  damo_ctx *ctx = f->obj.ctx;
  const damo_status status = damo_error_status(ctx);
  const fn_input *in = &f->inputs[i];
  char name[160], why[ERROR_MESSAGE_MAX];
  if (status == DAMO_EMEMORY) return status;
  snprintf(why, sizeof why, "%s", damo_error_message(ctx));
  return ctx_fail(ctx, status, "%s: input %lld (%s): %s", function_name(f), (long long)i + 1,
                  in->name != NULL ? in->name : var_format(name, sizeof name, in->var), why);
}

static damo_status load_input(damo_function *f, int64_t i, damo_obj *value) {
  const fn_input *in = &f->inputs[i];
  if (value == NULL) value = in->value;
  if (value == NULL) return missing_input(f, i);
  damo_obj *filtered;
  if (type_is_valid(in->var->type, value)) {
    filtered = damo_retain(value);
  } else {
    filtered = type_filter(in->var->type, value, (filter_options){in->strict, f->allow_downcast});
    if (filtered == NULL) return refused_input(f, i);
  }
  cell_set(&f->plan.frame.cells[in->cell], filtered);
  return DAMO_OK;
}

/* Whether the value of cell c shares memory with another value that came from outside. */
static bool is_shared_memory(const damo_function *f, int32_t c) {
  for (int64_t k = 0; k < f->plan.n_transient; k++) {
    const damo_obj *v = f->plan.frame.cells[f->plan.transient[k]];
    if (f->plan.transient[k] != c && value_may_overlap(f->plan.frame.cells[c], v)) return true;
  }
  return false;
}

/* What a thunk overwrites must be the caller's to give away, and nobody else's: else it is a copy. */
static damo_status own_destroyed(damo_function *f, int64_t i, damo_obj *arg, bool copy_all) {
  const fn_input *in = &f->inputs[i];
  cell *c = &f->plan.frame.cells[in->cell];
  if (!in->destroyed && !(copy_all && in->mutable_)) return DAMO_OK;
  const damo_array *a = value_array(*c);
  if (a == NULL) return DAMO_OK;
  if (!copy_all && arg != NULL && a->writeable && !is_shared_memory(f, in->cell)) return DAMO_OK;
  damo_obj *copy = value_copy(*c);
  if (copy == NULL) return DAMO_EMEMORY;
  cell_set(c, copy);
  return DAMO_OK;
}

damo_status function_load(damo_function *f, damo_obj *const *args, int64_t n_args, bool copy_mutable) {
  if (n_args > f->n_inputs) {
    return ctx_fail(f->obj.ctx, DAMO_ETYPE, "%s: expected %lld argument%s, got %lld", function_name(f),
                    (long long)f->n_inputs, f->n_inputs == 1 ? "" : "s", (long long)n_args);
  }
  for (int64_t i = 0; i < f->n_inputs; i++) DAMO_TRY(load_input(f, i, i < n_args ? args[i] : NULL));
  for (int64_t i = 0; i < f->n_shared; i++) {
    const fn_shared *sh = &f->shared[i];
    if (sh->cell >= 0) cell_set(&f->plan.frame.cells[sh->cell], damo_retain(sh->var->value));
  }
  for (int64_t i = 0; i < f->n_inputs; i++) DAMO_TRY(own_destroyed(f, i, i < n_args ? args[i] : NULL, copy_mutable));
  return DAMO_OK;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* A copy of value, in spare where nobody else holds it and it fits. */
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

/* Copies what would not last, and checks the targets: nothing of the caller's is written yet. */
static damo_status stage_outputs(damo_function *f, damo_obj *const *into) {
  for (int64_t i = 0; i < f->n_outputs; i++) {
    fn_output *out = &f->outputs[i];
    damo_obj *value = f->plan.frame.cells[out->cell], *target = into != NULL ? into[i] : NULL;
    if (target != NULL && value != target) DAMO_TRY(target_check(f, i, value, target));
    if (!target_must_stage(f, i, into)) continue;
    bool keep = target == NULL && (out->borrow || (!out->twice && value_is_cells_alone(value)));
    cell_set(&out->staged, keep ? damo_retain(value) : function_copy_value(value, NULL));
    if (out->staged == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_status refuse_update(const damo_function *f, const damo_var *target, damo_obj *value) {
  char want[320], name[160];
  damo_obj *filtered = NULL;
  var_format(name, sizeof name, target);
  if (target->type->pattern != NULL &&
      (filtered = type_filter(target->type, value, (filter_options){.strict = true})) == NULL) {
    ctx_fail_add(f->obj.ctx, "in the update of %s by %s", name, function_name(f)); /* it says where they differ */
    return damo_error_status(f->obj.ctx);
  }
  damo_release(filtered);
  return ctx_fail(f->obj.ctx, DAMO_ESHAPE, "%s: the update of %s is not of %s", function_name(f), name,
                  type_format(want, sizeof want, target->type));
}

static damo_status stage_updates(damo_function *f) {
  for (int64_t i = 0; i < f->n_shared; i++) {
    fn_shared *sh = &f->shared[i];
    if (sh->update_cell < 0) continue;
    damo_obj *value = f->plan.frame.cells[sh->update_cell];
    const damo_var *target = sh->var != NULL ? sh->var : f->inputs[sh->input].var;
    if (!type_is_valid(target->type, value)) return refuse_update(f, target, value);
    if (!sh->copy) continue;
    cell_set(&sh->staged, function_copy_value(value, &sh->spare));
    if (sh->staged == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

/* Moves the new values in; what was there is reused for the next. Cannot fail. */
static void commit(damo_function *f) {
  for (int64_t i = 0; i < f->n_shared; i++) {
    fn_shared *sh = &f->shared[i];
    if (sh->update_cell < 0) continue;
    damo_obj **place = sh->var != NULL ? &sh->var->value : &f->inputs[sh->input].value;
    damo_obj *old = *place;
    if (sh->copy) {
      *place = sh->staged;
      sh->staged = NULL;
      cell_set(&sh->spare, old);
    } else {
      cell *c = &f->plan.frame.cells[sh->update_cell];
      *place = *c;
      *c = old;
    }
  }
}

static void drop_staged(damo_function *f) {
  for (int64_t i = 0; i < f->n_outputs; i++) cell_set(&f->outputs[i].staged, NULL);
  for (int64_t i = 0; i < f->n_shared; i++) cell_set(&f->shared[i].staged, NULL);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static damo_status run_steps(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into) {
  const fn_watcher *w = f->watcher;
  if (into != NULL) DAMO_TRY(target_begin(f, into));
  DAMO_TRY(function_load(f, args, n_args, false));
  if (w != NULL && w->prepare != NULL) DAMO_TRY(w->prepare(f, args, n_args));
  if (into != NULL && (w == NULL || !w->keeps_results)) DAMO_TRY(target_offer(f, into));
  const damo_status s = vm_run(&f->plan);
  if (s != DAMO_OK) return w != NULL && w->explain != NULL ? w->explain(f, s) : s;
  if (w != NULL && w->compare != NULL) DAMO_TRY(w->compare(f));
  DAMO_TRY(stage_outputs(f, into));
  DAMO_TRY(stage_updates(f));
  return into != NULL ? target_fill(f, into) : DAMO_OK;
}

damo_status function_run(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into) {
  if (f->freed) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "%s was freed and can't be called", function_name(f));
  if (f->running) {
    return ctx_fail(f->obj.ctx, DAMO_ESTATE, "%s is running and can't be called from inside its own call",
                    function_name(f));
  }
  DAMO_TRY(ctx_enter(f->obj.ctx, STACK_CALL));
  f->running = true;
  const rounding host = rounding_enter();
  damo_status s = run_steps(f, args, n_args, into);
  rounding_leave(host);
  ctx_leave(f->obj.ctx, STACK_CALL);
  if (into != NULL) target_forget(f, into);
  if (s == DAMO_OK) {
    commit(f);
    f->n_calls++;
  } else {
    drop_staged(f);
    function_finish(f);
  }
  return s;
}

damo_obj *function_peek(const damo_function *f, int64_t i) {
  const fn_output *out = &f->outputs[i];
  return out->staged != NULL ? out->staged : f->plan.frame.cells[out->cell];
}

damo_obj *function_take(damo_function *f, int64_t i) {
  fn_output *out = &f->outputs[i];
  if (out->borrow && !out->copy) return damo_retain(f->plan.frame.cells[out->cell]);
  damo_obj **place = out->copy ? &out->staged : &f->plan.frame.cells[out->cell];
  damo_obj *v = *place;
  *place = NULL;
  for (int k = 0; !out->copy && k < out->n_along; k++) cell_set(&f->plan.frame.cells[out->along[k]], NULL);
  return v;
}

void function_finish(damo_function *f) {
  for (int64_t i = 0; i < f->n_outputs; i++) {
    if (f->outputs[i].staged != NULL) cell_set(&f->outputs[i].staged, NULL);
  }
  vm_reset(&f->plan);
  if (f->companion != NULL) vm_reset(&f->companion->plan);
  f->running = false;
}

damo_status function_call(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into,
                          damo_obj **results) {
  DAMO_TRY(function_run(f, args, n_args, into));
  for (int64_t i = 0; i < f->n_outputs; i++) {
    results[i] = into != NULL && into[i] != NULL ? damo_retain(into[i]) : function_take(f, i);
  }
  function_finish(f);
  return DAMO_OK;
}
