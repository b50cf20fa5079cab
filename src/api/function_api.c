/* function_api.c: the part of damo.h that compiles and calls Functions. */
#include "api.h"

/* Checks that the entries that are not NULL are arrays or sparse matrices of that context. */
static damo_status check_values(damo_ctx *ctx, const char *func, const char *list, damo_obj *const *values, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const damo_obj *a = values[i];
    if (a == NULL || (a->ctx == ctx && (a->kind == OBJ_ARRAY || a->kind == OBJ_SPARSE))) continue;
    return ctx_fail(
        ctx, DAMO_ETYPE, "%s: entry %lld of %s %s", func, (long long)i + 1, list,
        a->ctx != ctx ? "belongs to another context; make it in this one" : "must be an array or a sparse matrix");
  }
  return DAMO_OK;
}

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

static damo_status check_options(damo_ctx *ctx, const char *func, const damo_compile_options *o, int64_t n_in) {
  DAMO_TRY(ctx_check_objs(ctx, func, "shared", o->shared, o->n_updates, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "update", o->update, o->n_updates, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "given", o->given, o->n_givens, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "given_as", o->given_as, o->n_givens, OBJ_VAR));
  if (o->defaults != NULL) DAMO_TRY(check_values(ctx, func, "defaults", o->defaults, n_in));
  if ((unsigned)o->on_unused_input > DAMO_UNUSED_IGNORE)
    return ctx_fail(ctx, DAMO_EVALUE, "%s: on_unused_input is none of its values", func);
  if (o->threads < 0) return ctx_fail(ctx, DAMO_EVALUE, "%s: threads is %d, expected 0 or more", func, o->threads);
  if (o->threads > CTX_MOST_THREADS)
    return ctx_fail(ctx, DAMO_EVALUE, "%s: threads is %d, the most is %d", func, o->threads, CTX_MOST_THREADS);
  return DAMO_OK;
}

static void fill_specs(const damo_compile_options *o, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                       int64_t n_out, in_spec *in, out_spec *out) {
  for (int64_t i = 0; i < n_in; i++) {
    in[i] = (in_spec){.var = inputs[i],
                      .value = o->defaults != NULL ? o->defaults[i] : NULL,
                      .mutable_ = o->mutable_inputs != NULL && o->mutable_inputs[i],
                      .strict = o->strict_inputs != NULL && o->strict_inputs[i]};
  }
  for (int64_t i = 0; i < n_out; i++) {
    out[i] = (out_spec){.var = outputs[i], .borrow = o->borrow_outputs != NULL && o->borrow_outputs[i]};
  }
}

/* Checks the arguments and compiles. func: the name of the public function, for errors. */
static damo_function *compile_checked(damo_ctx *ctx, const char *func, damo_var *const *inputs, int64_t n_in,
                                      damo_var *const *outputs, int64_t n_out, const damo_compile_options *given) {
  if (ctx_check_objs(ctx, func, "inputs", inputs, n_in, OBJ_VAR) != DAMO_OK ||
      ctx_check_objs(ctx, func, "outputs", outputs, n_out, OBJ_VAR) != DAMO_OK ||
      check_options(ctx, func, given, n_in) != DAMO_OK) {
    return NULL;
  }
  in_spec *in = mem_calloc(ctx, (size_t)n_in * sizeof *in);
  out_spec *out = mem_calloc(ctx, (size_t)n_out * sizeof *out);
  damo_function *f = NULL;
  if (in != NULL && out != NULL) {
    const compile_options o = {.update_of = given->shared,
                               .update_to = given->update,
                               .n_updates = given->n_updates,
                               .given = given->given,
                               .given_as = given->given_as,
                               .n_givens = given->n_givens,
                               .mode = given->mode,
                               .optimizer = given->optimizer,
                               .include = given->include,
                               .exclude = given->exclude,
                               .name = given->name,
                               .on_unused_input = (unused_mode)given->on_unused_input,
                               .allow_input_downcast = given->allow_input_downcast,
                               .no_default_updates = given->no_default_updates,
                               .threads = given->threads,
                               .reproducible = given->reproducible};
    fill_specs(given, inputs, n_in, outputs, n_out, in, out);
    f = compile_function(ctx, in, n_in, out, n_out, &o);
  }
  if (in != NULL) mem_free(ctx, in, (size_t)n_in * sizeof *in);
  if (out != NULL) mem_free(ctx, out, (size_t)n_out * sizeof *out);
  return f;
}

damo_function *damo_compile_with(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                 int64_t n_out, const damo_compile_options *options) {
  damo_compile_options given;
  if (ctx_read_options(ctx, "damo_compile_with", options, &given, sizeof given) != DAMO_OK) return NULL;
  return compile_checked(ctx, "damo_compile_with", inputs, n_in, outputs, n_out, &given);
}

damo_function *damo_compile(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                            int64_t n_out, damo_var *const *shared, damo_var *const *update, int64_t n_updates,
                            const char *mode) {
  const damo_compile_options o = {.shared = shared, .update = update, .n_updates = n_updates, .mode = mode};
  return compile_checked(ctx, "damo_compile", inputs, n_in, outputs, n_out, &o);
}

damo_function *damo_function_copy(const damo_function *f) { return f != NULL ? function_copy(f) : NULL; }

damo_function *damo_function_copy_to(const damo_function *f, damo_ctx *ctx) {
  return f != NULL && ctx != NULL ? function_copy_to(f, ctx) : NULL;
}

damo_array *damo_function_shared_value(const damo_function *f, const damo_var *shared) {
  for (int64_t i = 0; f != NULL && i < f->program->n_shared; i++) {
    if (shared == NULL || (f->program->shared[i].var != shared && function_shared_var(f, i) != shared)) continue;
    return damo_retain(damo_as_array(function_shared(f, i)));
  }
  return NULL;
}

damo_var *damo_function_shared_var(const damo_function *f, int64_t i) {
  for (int64_t k = 0; f != NULL && i >= 0 && k < f->program->n_shared; k++) {
    damo_var *v = function_shared_var(f, k);
    if (v != NULL && i-- == 0) return damo_retain(v);
  }
  return NULL;
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

damo_status api_function_token(damo_function *f, const char *form, char *token) {
  return function_token(f, damo_ctx_new, form, token);
}

damo_status damo_function_token(damo_function *f, char token[DAMO_TOKEN_SIZE]) {
  if (f == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(f->obj.ctx, "damo_function_token", "token", token));
  return api_function_token(f, "", token);
}

damo_function *damo_from_token(damo_ctx *ctx, const char *token) {
  if (ctx == NULL || ctx_check_given(ctx, "damo_from_token", "token", token) != DAMO_OK) return NULL;
  return function_from_token(ctx, token, NULL);
}

damo_status damo_token_pin(damo_ctx *ctx, const char *token) {
  if (ctx == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(ctx, "damo_token_pin", "token", token));
  return token_pin(ctx, token, true);
}

damo_status damo_token_unpin(damo_ctx *ctx, const char *token) {
  if (ctx == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(ctx, "damo_token_unpin", "token", token));
  return token_pin(ctx, token, false);
}

damo_status damo_token_set_allocator(damo_alloc_fn alloc, void *user) {
  if (alloc == NULL) return DAMO_EVALUE;
  return token_set_allocator(alloc, user) ? DAMO_OK : DAMO_ESTATE;
}

/* ---- State ------------------------------------------------------------------------------------------------------- */

damo_status damo_function_snapshot(const damo_function *f, void *dst, size_t n, size_t *size) {
  if (f == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(f->obj.ctx, "damo_function_snapshot", "size", size));
  return function_snapshot(f, dst, n, size);
}

damo_status damo_function_restore(damo_function *f, const void *bytes, size_t n) {
  if (f == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(f->obj.ctx, "damo_function_restore", "bytes", bytes));
  return function_restore(f, bytes, n);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Checks the lists of a call. A NULL argument is one that is not given. */
static damo_status check_call(damo_function *f, const char *func, damo_obj *const *args, int64_t n_args,
                              const char *into_name, const void *results) {
  if (f == NULL) return DAMO_EVALUE;
  damo_ctx *ctx = f->obj.ctx;
  DAMO_TRY(ctx_check_list(ctx, func, "args", args, n_args));
  DAMO_TRY(check_values(ctx, func, "args", args, n_args));
  return ctx_check_list(ctx, func, into_name, results, f->program->n_outputs);
}

damo_status damo_function_call(damo_function *f, damo_array *const *args, int64_t n_args, damo_array **results) {
  DAMO_TRY(check_call(f, "damo_function_call", (damo_obj *const *)args, n_args, "results", results));
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    if (!type_is_sparse(f->program->outputs[i].type)) continue;
    return ctx_fail(f->obj.ctx, DAMO_ETYPE, "output %lld is sparse: damo_function_call_values gives it",
                    (long long)i + 1);
  }
  return function_call(f, (damo_obj *const *)args, n_args, NULL, (damo_obj **)results);
}

damo_status damo_function_call_values(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj **results) {
  DAMO_TRY(check_call(f, "damo_function_call_values", args, n_args, "results", results));
  return function_call(f, args, n_args, NULL, results);
}

damo_status damo_function_into(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into) {
  static const char func[] = "damo_function_into";
  DAMO_TRY(check_call(f, func, args, n_args, "into", into));
  DAMO_TRY(check_values(f->obj.ctx, func, "into", into, f->program->n_outputs));
  DAMO_TRY(function_run(f, args, n_args, into));
  function_finish(f);
  return DAMO_OK;
}

/* ---- Calls in slices --------------------------------------------------------------------------------------------- */

damo_run *damo_call_begin(damo_function *f, damo_array *const *args, int64_t n_args) {
  if (f == NULL) return NULL;
  if (ctx_check_list(f->obj.ctx, "damo_call_begin", "args", args, n_args) != DAMO_OK ||
      check_values(f->obj.ctx, "damo_call_begin", "args", (damo_obj *const *)args, n_args) != DAMO_OK)
    return NULL;
  damo_run *run = fn_run_new(f, NULL);
  if (run == NULL || fn_run_begin(run, (damo_obj *const *)args, n_args) == DAMO_OK) return run;
  damo_release(run);
  return NULL;
}

damo_status damo_call_step(damo_run *run, double us, bool *done) {
  if (run == NULL) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(fn_run_of(run)->obj.ctx, "damo_call_step", "done", done));
  return fn_run_step(run, us < 0 ? -1 : us < 9e12 ? (int64_t)(us * 1000) : INT64_MAX, done);
}

damo_status damo_call_result(damo_run *run, damo_array **results) {
  if (run == NULL) return DAMO_EVALUE;
  const damo_function *f = fn_run_own(run);
  DAMO_TRY(ctx_check_list(f->obj.ctx, "damo_call_result", "results", results, f->program->n_outputs));
  DAMO_TRY(fn_run_check_ended(run));
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    if (fn_run_result(run, i)->kind != OBJ_ARRAY)
      return ctx_fail(f->obj.ctx, DAMO_ETYPE, "damo_call_result: output %lld is sparse", (long long)i + 1);
  }
  for (int64_t i = 0; i < f->program->n_outputs; i++) results[i] = damo_retain(damo_as_array(fn_run_result(run, i)));
  return DAMO_OK;
}

damo_status damo_call_cancel(damo_run *run) { return run != NULL ? fn_run_cancel(run) : DAMO_EVALUE; }

damo_status damo_call_restart(damo_run *run, damo_array *const *args, int64_t n_args) {
  if (run == NULL) return DAMO_EVALUE;
  damo_ctx *ctx = fn_run_of(run)->obj.ctx;
  DAMO_TRY(ctx_check_list(ctx, "damo_call_restart", "args", args, n_args));
  DAMO_TRY(check_values(ctx, "damo_call_restart", "args", (damo_obj *const *)args, n_args));
  return fn_run_begin(run, (damo_obj *const *)args, n_args);
}

damo_array *damo_as_array(damo_obj *value) {
  return value != NULL && value->kind == OBJ_ARRAY ? (damo_array *)value : NULL;
}

damo_sparse *damo_as_sparse(damo_obj *value) {
  return value != NULL && value->kind == OBJ_SPARSE ? (damo_sparse *)value : NULL;
}

damo_var *damo_as_var(damo_obj *value) { return value != NULL && value->kind == OBJ_VAR ? (damo_var *)value : NULL; }

damo_op *damo_as_op(damo_obj *value) { return value != NULL && value->kind == OBJ_OP ? (damo_op *)value : NULL; }

int64_t damo_function_n_inputs(const damo_function *f) { return f != NULL ? f->program->n_inputs : 0; }
int64_t damo_function_n_outputs(const damo_function *f) { return f != NULL ? f->program->n_outputs : 0; }
