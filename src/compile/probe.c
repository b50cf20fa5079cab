/* probe.c: reading of intermediate values. A probe is a Function of its own over the program, so that the frame of the
 * Function that it reads stays as it is. It runs the program as a call does, copies each value that is asked for as
 * soon as it is computed, before another thunk can overwrite it, and commits nothing.
 *
 * A Loop keeps what it computes in registers. For a value in there the probe is over another program: the same graph,
 * rewritten by the same rules but those of fusion, which change no bit.
 */
#include "compile_int.h"

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static bool find_leaf(const damo_function *f, const damo_var *v, fn_place *out) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    if (v != p->inputs[i].var && v != p->fgraph->inputs.at[i]) continue;
    out->cell = p->inputs[i].cell;
    return true;
  }
  for (int64_t i = 0; i < p->n_shared; i++) {
    if (v != function_shared_var(f, i) || p->shared[i].cell < 0) continue;
    out->cell = p->shared[i].cell;
    return true;
  }
  return false;
}

static bool find_result(const fn_program *p, const damo_var *v, bool by_origin, fn_place *out) {
  for (int64_t k = 0; k < p->vm.n_thunks; k++) {
    const thunk *t = p->vm.thunks[k];
    for (int o = 0; o < t->n_out; o++) {
      const damo_var *u = t->node->out[o];
      if (by_origin ? u->origin != v->id : u != v) continue;
      *out = (fn_place){.thunk = t->number, .output = o, .cell = t->out[o]};
      return true;
    }
  }
  return false;
}

static bool find_place(const damo_function *f, const damo_var *v, fn_place *out) {
  *out = (fn_place){.thunk = -1, .cell = -1};
  if (v->kind == VAR_CONSTANT) {
    out->constant = v->value;
    return fgraph_clients(f->program->fgraph, v) != NULL;
  }
  return find_leaf(f, v, out) || find_result(f->program, v, false, out) || find_result(f->program, v, true, out);
}

/* The first of n Variables that f's program does not compute; n if there is none. */
static int64_t find_places(const damo_function *f, damo_var *const *vars, int64_t n, fn_place *places) {
  int64_t i = 0;
  while (i < n && find_place(f, vars[i], &places[i])) i++;
  return i;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* A Function over f's own program. */
static damo_function *probe_of_program(const damo_function *f) {
  damo_ctx *ctx = f->obj.ctx;
  const fn_program *p = f->program;
  damo_function *g = function_over(ctx, p);
  if (g == NULL) return NULL;
  for (int64_t i = 0; ctx != p->ctx && i < p->n_shared; i++) g->updates[i].var = damo_retain(f->updates[i].var);
  const thunk_request how = {.no_recycling = p->fresh, .n_no_recycling = p->n_fresh};
  if (vm_frame_join(&g->frame, ctx, &p->vm, ctx != p->ctx, &how) != DAMO_OK) {
    damo_release(g);
    return NULL;
  }
  g->frame.frame.watched = f->frame.frame.watched;
  g->frame.frame.inner_mode = f->frame.frame.inner_mode;
  return g;
}

/* The Function of p's graph without fusion. New values of shared Variables and inputs are further results. */
static damo_function *compile_unfused(const fn_program *p) {
  damo_ctx *ctx = p->ctx;
  const size_t in_bytes = (size_t)p->n_inputs * sizeof(in_spec), out_bytes = (size_t)p->n_source * sizeof(out_spec);
  in_spec *in = mem_calloc(ctx, in_bytes);
  out_spec *out = mem_calloc(ctx, out_bytes);
  strbuf exclude;
  strbuf_init(&exclude, ctx);
  strbuf_addf(&exclude, "%s fusion", p->exclude != NULL ? p->exclude : "");
  damo_function *g = NULL;
  if (in != NULL && out != NULL && !exclude.failed) {
    for (int64_t i = 0; i < p->n_inputs; i++)
      in[i] = (in_spec){.var = p->inputs[i].var, .name = p->inputs[i].name, .strict = p->inputs[i].strict};
    for (int64_t i = 0; i < p->n_source; i++) out[i].var = p->source[i];
    const compile_options options = {.optimizer = p->optimizer,
                                     .include = p->include,
                                     .exclude = exclude.at,
                                     .require = p->require,
                                     .name = p->name,
                                     .on_unused_input = UNUSED_IGNORE,
                                     .allow_input_downcast = p->allow_downcast,
                                     .no_default_updates = true,
                                     .reproducible = p->reproducible,
                                     .no_jit = true,
                                     .threads = p->threads};
    g = compile_function(ctx, in, p->n_inputs, out, p->n_source, &options);
  }
  strbuf_clear(&exclude);
  mem_free(ctx, in, in_bytes);
  mem_free(ctx, out, out_bytes);
  return g;
}

damo_function *function_probe_new(const damo_function *f, damo_var *const *vars, int64_t n, fn_place *places) {
  const fn_program *p = f->program;
  char name[160];
  int64_t missing = find_places(f, vars, n, places);
  damo_function *g = NULL;
  if (missing < n && p->ctx == f->obj.ctx && p->n_source > 0 && p->watcher == NULL) {
    g = compile_unfused(p);
    if (g == NULL) return NULL;
    missing = find_places(g, vars, n, places);
  }
  if (missing == n) return g != NULL ? g : probe_of_program(f);
  damo_release(g);
  ctx_fail(f->obj.ctx, DAMO_EVALUE,
           "probe: the program of %s does not compute %s; f.fgraph.variables lists what it computes", function_name(f),
           var_format(name, sizeof name, vars[missing]));
  return NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct probe_run {
  const fn_place *places;
  int64_t n;
  damo_obj **results;
} probe_run;

/* Copies what is asked for of thunk `number` (-1: of the leaves). */
static damo_status take_copies_of(const probe_run *r, const frame *f, int32_t number) {
  for (int64_t i = 0; i < r->n; i++) {
    const fn_place *at = &r->places[i];
    if (at->thunk != number || r->results[i] != NULL) continue;
    r->results[i] = value_copy(at->constant != NULL ? at->constant : f->cells[at->cell]);
    if (r->results[i] == NULL) return damo_error_status(f->ctx);
  }
  return DAMO_OK;
}

static damo_status probe_step(vm_frame *vf, const thunk *t) {
  DAMO_TRY(thunk_run(t, &vf->frame));
  return thunk_n_need(t, &vf->frame) == 0 ? take_copies_of(vf->step_user, &vf->frame, t->number) : DAMO_OK;
}

static damo_status check_all_taken(const damo_function *g, const probe_run *r) {
  char name[160];
  for (int64_t i = 0; i < r->n; i++) {
    if (r->results[i] != NULL) continue;
    const damo_apply *node = g->program->vm.thunks[r->places[i].thunk]->node;
    return ctx_fail(g->obj.ctx, DAMO_ESTATE,
                    "probe: %s was not computed in this call: it is in a branch that was not taken",
                    var_format(name, sizeof name, node->out[r->places[i].output]));
  }
  return DAMO_OK;
}

static damo_status probe_steps(damo_function *g, damo_obj *const *args, int64_t n_args, probe_run *r) {
  DAMO_TRY(function_load(g, args, n_args, true));
  DAMO_TRY(take_copies_of(r, &g->frame.frame, -1));
  g->frame.step = probe_step;
  g->frame.step_user = r;
  DAMO_TRY(vm_run(&g->frame));
  return check_all_taken(g, r);
}

damo_status function_probe(damo_function *g, const damo_function *f, const fn_place *places, int64_t n,
                           damo_obj *const *args, int64_t n_args, damo_obj **results) {
  damo_ctx *ctx = g->obj.ctx;
  if (f->freed) return ctx_fail(ctx, DAMO_ESTATE, "%s was freed and can't be probed", function_name(g));
  if (g->running)
    return ctx_fail(ctx, DAMO_ESTATE, "a probe of %s is running and can't be called from inside its own call",
                    function_name(g));
  DAMO_TRY(ctx_enter(ctx, STACK_CALL));
  g->running = true;
  for (int64_t i = 0; i < g->program->n_inputs; i++) cell_set(&g->defaults[i], damo_retain(f->defaults[i]));
  probe_run r = {places, n, results};
  for (int64_t i = 0; i < n; i++) results[i] = NULL;
  const bool outer = function_enter_mode(g);
  const rounding host = rounding_enter(g->program->reproducible);
  const damo_status s = probe_steps(g, args, n_args, &r);
  rounding_leave(host);
  function_leave_mode(g, outer);
  ctx_leave(ctx, STACK_CALL);
  function_finish(g);
  for (int64_t i = 0; i < n && s != DAMO_OK; i++) cell_set(&results[i], NULL);
  return s;
}
