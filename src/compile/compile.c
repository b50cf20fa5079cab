/* compile.c: makes a Function from Variables and options: checks the options, adds updates, applies givens, copies the
 * graph into a FunctionGraph, rewrites it as the mode says, protects values from in-place Ops, and builds the
 * program. */
#include "compile_int.h"
#include "memo.h"
#include "op/op.h"
#include "rewrite/rewrite.h"

#include <stdio.h>
#include <string.h>

struct compile_job {
  damo_ctx *ctx;
  const in_spec *in;
  const out_spec *out;
  int64_t n_in, n_out;
  const compile_options *options;
  build b;           /* owns the Variables made while compiling */
  ptrvec wanted;     /* damo_var*: the outputs, then the new values of `targets`; apply_givens replaces them */
  ptrvec fresh;      /* owned damo_var* of the fgraph: the copies of the Variables in no_recycling */
  fn_report *report; /* owned until a program has it; NULL: without profile */
  ptrvec targets;    /* damo_var*: the shared Variable or the input whose update is wanted[n_out + i] */
  map is_target;
};

/* ---- What is to be computed -------------------------------------------------------------------------------------- */

damo_var *compile_fit_value(build *b, const char *func, damo_var *target, damo_var *now, const char *what) {
  const damo_type *want = target->type;
  damo_var *fit[2] = {target, now};
  if (now->weak && build_resolve(b, fit, 2, false, fit) != DAMO_OK) return NULL;
  const damo_type *got = fit[1]->type;
  bool alike = type_is_tensor(want) && type_is_tensor(got) && want->ndim == got->ndim;
  alike = alike || (type_is_sparse(want) && type_is_sparse(got) && want->format == got->format);
  if (alike && got->dtype != want->dtype && dtype_can_cast_safely(got->dtype, want->dtype)) {
    fit[1] = build_cast(b, fit[1], want->dtype);
    if (fit[1] == NULL) return NULL;
  }
  if (type_is_compatible(want, fit[1]->type)) return fit[1];
  char want_text[320], got_text[320], name[160], advice[80] = "";
  if (alike && got->dtype != want->dtype) {
    snprintf(advice, sizeof advice, "; damo.cast(e, \"%s\") converts it", dtype_name(want->dtype));
  }
  return build_fail(b, DAMO_ETYPE, "%s: the %s of %s must be of %s, got %s%s", func, what,
                    var_format(name, sizeof name, target), type_format(want_text, sizeof want_text, want),
                    type_format(got_text, sizeof got_text, now->type), advice);
}

static damo_status add_update(compile_job *j, damo_var *target, damo_var *now) {
  char name[160];
  if (map_get(&j->is_target, target, NULL)) {
    return ctx_fail(j->ctx, DAMO_EVALUE, "compile: %s has two updates", var_format(name, sizeof name, target));
  }
  now = compile_fit_value(&j->b, "compile", target, now, "update");
  if (now == NULL) return j->b.status;
  DAMO_TRY(map_put(&j->is_target, target, 1));
  DAMO_TRY(ptrvec_push(&j->targets, target));
  return ptrvec_push(&j->wanted, now);
}

static damo_status add_explicit_updates(compile_job *j) {
  const compile_options *o = j->options;
  char name[160];
  for (int64_t i = 0; i < o->n_updates; i++) {
    if (o->update_of[i]->kind != VAR_SHARED) {
      return ctx_fail(j->ctx, DAMO_ETYPE, "compile: updates are of shared Variables, %s is none",
                      var_format(name, sizeof name, o->update_of[i]));
    }
    DAMO_TRY(add_update(j, o->update_of[i], o->update_to[i]));
  }
  for (int64_t i = 0; i < j->n_in; i++) {
    if (j->in[i].update != NULL) DAMO_TRY(add_update(j, j->in[i].var, j->in[i].update));
  }
  return DAMO_OK;
}

/* Adds the updates that the outputs and updates bring along (random streams, scans), and those that these bring. */
static damo_status add_default_updates(compile_job *j) {
  if (j->options->no_default_updates) return DAMO_OK;
  ptrvec of, to;
  map makers;
  ptrvec_init(&of, j->ctx);
  ptrvec_init(&to, j->ctx);
  map_init(&makers, j->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < j->targets.n && s == DAMO_OK; i++) s = map_put(&makers, j->targets.at[i], UPDATE_BY_SCRIPT);
  for (int64_t before = -1; before != j->wanted.n && s == DAMO_OK;) {
    before = j->wanted.n;
    of.n = to.n = 0;
    s = graph_find_updates(&j->b, (damo_var *const *)j->wanted.at, j->wanted.n, NULL, 0, &makers, &of, &to);
    for (int64_t i = 0; i < of.n && s == DAMO_OK; i++) s = add_update(j, of.at[i], to.at[i]);
  }
  map_clear(&makers);
  ptrvec_clear(&of);
  ptrvec_clear(&to);
  return s;
}

/* A value error if a replacement depends on a Variable that givens replaces too: the result would depend on the
 * order. */
static damo_status check_givens(compile_job *j) {
  const compile_options *o = j->options;
  ptrvec above;
  map is_given;
  ptrvec_init(&above, j->ctx);
  map_init(&is_given, j->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < o->n_givens && s == DAMO_OK; i++) s = map_put(&is_given, o->given[i], 1);
  if (s == DAMO_OK) s = graph_ancestors(j->ctx, o->given_as, o->n_givens, &above);
  for (int64_t i = 0; i < above.n && s == DAMO_OK; i++) {
    char name[160];
    if (!map_get(&is_given, above.at[i], NULL)) continue;
    s = ctx_fail(j->ctx, DAMO_EVALUE,
                 "compile: a value in givens depends on %s, which givens replaces; compute it from another Variable",
                 var_format(name, sizeof name, above.at[i]));
  }
  map_clear(&is_given);
  ptrvec_clear(&above);
  return s;
}

static damo_status apply_givens(compile_job *j) {
  const compile_options *o = j->options;
  if (o->n_givens == 0) return DAMO_OK;
  DAMO_TRY(check_givens(j));
  map memo;
  map_init(&memo, j->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < o->n_givens && s == DAMO_OK; i++) {
    damo_var *as = compile_fit_value(&j->b, "compile", o->given[i], o->given_as[i], "given value");
    s = as != NULL ? map_put(&memo, o->given[i], (uintptr_t)as) : j->b.status;
  }
  size_t bytes = (size_t)j->wanted.n * sizeof(damo_var *);
  damo_var **now = s == DAMO_OK ? mem_calloc(j->ctx, bytes) : NULL;
  if (s == DAMO_OK && now == NULL) s = DAMO_EMEMORY;
  if (s == DAMO_OK) s = graph_clone(j->ctx, (damo_var *const *)j->wanted.at, j->wanted.n, &memo, false, NULL, now);
  for (int64_t i = 0; i < j->wanted.n && s == DAMO_OK; i++) j->wanted.at[i] = build_take(&j->b, now[i]);
  if (s == DAMO_OK) s = j->b.status;
  if (now != NULL) mem_free(j->ctx, now, bytes);
  map_clear(&memo);
  return s;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

/* Marks the Variables that the results are computed from; the walk stops at inputs. */
static damo_status compile_find_used(compile_job *j, map *is_used) {
  ptrvec inputs, nodes;
  ptrvec_init(&inputs, j->ctx);
  ptrvec_init(&nodes, j->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < j->n_in && s == DAMO_OK; i++) s = ptrvec_push(&inputs, j->in[i].var);
  if (s == DAMO_OK) {
    s = graph_toposort(j->ctx, (damo_var *const *)j->wanted.at, j->wanted.n, (damo_var *const *)inputs.at, inputs.n,
                       &nodes);
  }
  for (int64_t i = 0; i < j->wanted.n && s == DAMO_OK; i++) s = map_put(is_used, j->wanted.at[i], 1);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    const damo_apply *node = nodes.at[k];
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) s = map_put(is_used, node->in[i], 1);
  }
  ptrvec_clear(&inputs);
  ptrvec_clear(&nodes);
  return s;
}

/* k: the graph's key, which knows what is used, or NULL. */
static damo_status compile_check_unused(compile_job *j, const memo_key *k) {
  if (j->options->on_unused_input == UNUSED_IGNORE) return DAMO_OK;
  map is_used;
  map_init(&is_used, j->ctx);
  damo_status s = k == NULL ? compile_find_used(j, &is_used) : DAMO_OK;
  for (int64_t i = 0; i < j->n_in && s == DAMO_OK; i++) {
    const damo_var *v = j->in[i].var;
    if (k != NULL ? k->used[i] : map_get(&is_used, v, NULL)) continue;
    char name[160];
    var_format(name, sizeof name, v);
    if (j->options->on_unused_input == UNUSED_WARN) {
      ctx_warn(j->ctx, "unused_input", "compile: input %lld (%s) is not used", (long long)i + 1, name);
    } else {
      s = ctx_fail(
          j->ctx, DAMO_EUNUSED_INPUT, "compile: input %lld (%s) is not used by any output; %s", (long long)i + 1, name,
          v->owner == NULL ? "leave it out or pass on_unused_input=\"ignore\""
                           : "it is the result of an Op, and the outputs compute it anew: an input is a Variable "
                             "from a maker (damo.dvector \"x\") or the very one that the outputs use");
    }
  }
  map_clear(&is_used);
  return s;
}

static damo_fgraph *compile_make_fgraph(compile_job *j, map *memo) {
  ptrvec inputs;
  ptrvec_init(&inputs, j->ctx);
  damo_fgraph *fg = NULL;
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < j->n_in && s == DAMO_OK; i++) s = ptrvec_push(&inputs, j->in[i].var);
  if (s == DAMO_OK) {
    fg = fgraph_new(j->ctx, (damo_var *const *)inputs.at, inputs.n, (damo_var *const *)j->wanted.at, j->wanted.n, true,
                    memo);
  }
  ptrvec_clear(&inputs);
  return fg;
}

static damo_status rewrite_by_mode(compile_job *j, damo_fgraph *fg) {
  const compile_options *o = j->options;
  const char *optimizer = compile_optimizer_of(o);
  bool none = strcmp(optimizer, "none") == 0;
  const fn_watcher *watcher = o->mode != NULL ? compile_watcher(j->ctx, o->mode) : NULL;
  const rewrite_query q = {.include = none ? NULL : optimizer,
                           .also = o->include,
                           .exclude = o->exclude,
                           .require = o->require,
                           .without = watcher != NULL ? watcher->leaves_out : NULL,
                           .profile = j->report != NULL ? &j->report->rules : NULL};
  if (!none || o->include != NULL) DAMO_TRY(rewrite_run(fg, &q));
  return DAMO_OK;
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

static damo_status fill_inputs(compile_job *j, fn_program *f) {
  for (int64_t i = 0; i < j->n_in; i++) {
    const in_spec *spec = &j->in[i];
    fn_input *in = &f->inputs[i];
    in->var = damo_retain(spec->var);
    in->strict = spec->strict;
    in->mutable_ = spec->mutable_;
    DAMO_TRY(mem_copy_text(j->ctx, spec->name != NULL ? spec->name : spec->var->name, &in->name));
  }
  return DAMO_OK;
}

static damo_status fill_defaults(compile_job *j, damo_function *f) {
  for (int64_t i = 0; i < j->n_in; i++) {
    const in_spec *spec = &j->in[i];
    if (spec->value == NULL) continue;
    f->defaults[i] =
        type_filter(spec->var->type, spec->value, (filter_options){spec->strict, j->options->allow_input_downcast});
    if (f->defaults[i] == NULL) return damo_error_status(j->ctx);
  }
  return DAMO_OK;
}

static damo_status fill_outputs(compile_job *j, fn_program *f, const out_spec *out) {
  for (int64_t i = 0; i < j->n_out; i++) {
    f->outputs[i].type = damo_retain(out[i].var->type);
    f->outputs[i].borrow = out[i].borrow;
    DAMO_TRY(mem_copy_text(j->ctx, out[i].name, &f->outputs[i].name));
  }
  return DAMO_OK;
}

static int32_t input_place(const compile_job *j, const damo_var *v) {
  for (int64_t i = 0; i < j->n_in; i++) {
    if (j->in[i].var == v) return (int32_t)i;
  }
  return -1;
}

/* Fills f->shared: first the updated entries, in the order of the fgraph's outputs, then those that are only read. */
static damo_status fill_shared(compile_job *j, fn_program *f, const ptrvec *read) {
  int64_t n = 0;
  for (int64_t i = 0; i < j->targets.n; i++, n++) {
    damo_var *v = j->targets.at[i];
    f->shared[n] = (fn_shared){.input = v->kind == VAR_SHARED ? -1 : input_place(j, v), .cell = -1, .update_cell = 0};
    f->shared[n].var = v->kind == VAR_SHARED ? damo_retain(v) : NULL;
  }
  for (int64_t i = 0; i < read->n; i++, n++) {
    f->shared[n] = (fn_shared){.var = damo_retain(read->at[i]), .input = -1, .cell = -1, .update_cell = -1};
  }
  return DAMO_OK;
}

static damo_status shared_only_read(compile_job *j, damo_fgraph *fg, ptrvec *out) {
  ptrvec leaves;
  ptrvec_init(&leaves, j->ctx);
  damo_status s = graph_inputs(j->ctx, (damo_var *const *)fg->outputs.at, fg->outputs.n, &leaves);
  for (int64_t i = 0; i < leaves.n && s == DAMO_OK; i++) {
    damo_var *v = leaves.at[i];
    if (v->kind == VAR_SHARED && !map_get(&j->is_target, v, NULL)) s = ptrvec_push(out, v);
  }
  ptrvec_clear(&leaves);
  return s;
}

/* Fills j->fresh with the copies of no_recycling's Variables in the fgraph, owned because rewriting may drop them. */
static damo_status find_fresh(compile_job *j, const map *memo) {
  const compile_options *o = j->options;
  for (int64_t i = 0; i < o->n_no_recycling; i++) {
    damo_var *v = map_get_ptr(memo, o->no_recycling[i]);
    if (v == NULL) continue;
    DAMO_TRY(ptrvec_push(&j->fresh, v));
    damo_retain(v);
  }
  return DAMO_OK;
}

/* Keeps those Variables of `fresh` that the rewritten fgraph still computes. */
static damo_status keep_fresh(fn_program *f, const ptrvec *fresh) {
  ptrvec used;
  ptrvec_init(&used, f->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < fresh->n && s == DAMO_OK; i++) {
    if (fgraph_clients(f->fgraph, fresh->at[i]) != NULL) s = ptrvec_push(&used, fresh->at[i]);
  }
  if (s == DAMO_OK) s = program_set_fresh(f, (damo_var *const *)used.at, used.n);
  ptrvec_clear(&used);
  return s;
}

/* What a probe compiles again (probe.c). */
static damo_status fill_probe_rules(const compile_options *o, fn_program *p) {
  const char *const *name = compile_optimizers;
  while (*name != NULL && strcmp(*name, compile_optimizer_of(o)) != 0) name++;
  p->optimizer = *name;
  DAMO_TRY(mem_copy_text(p->ctx, o->include, &p->include));
  DAMO_TRY(mem_copy_text(p->ctx, o->exclude, &p->exclude));
  return mem_copy_text(p->ctx, o->require, &p->require);
}

/* Builds the program and its first Function from a rewritten graph. watcher: the mode's, or NULL. pair_names: the names
 * of a companion's n_pairs pairs. order: as for plan_build. */
static damo_function *make_function(compile_job *j, damo_fgraph *fg, const ptrvec *fresh, const fn_watcher *watcher,
                                    char *const *pair_names, int64_t n_pairs, const ptrvec *order) {
  ptrvec read;
  ptrvec_init(&read, j->ctx);
  fn_program *p = NULL;
  damo_function *f = NULL;
  damo_status s = shared_only_read(j, fg, &read);
  if (s == DAMO_OK) {
    p = program_new(j->ctx, j->n_in, j->n_out, j->targets.n + read.n);
    s = p != NULL ? DAMO_OK : DAMO_EMEMORY;
  }
  if (s == DAMO_OK) {
    p->fgraph = damo_retain(fg);
    p->allow_downcast = j->options->allow_input_downcast;
    p->threads = j->options->threads;
    p->watcher = watcher;
    p->reproducible = j->ctx->reproducible;
    p->no_jit = j->options->no_jit || watcher != NULL || strcmp(compile_optimizer_of(j->options), "fast_run") != 0;
    s = mem_copy_text(j->ctx, j->options->name, &p->name);
  }
  if (s == DAMO_OK) s = keep_fresh(p, fresh);
  if (s == DAMO_OK) s = fill_inputs(j, p);
  if (s == DAMO_OK) s = fill_outputs(j, p, j->out);
  if (s == DAMO_OK) s = fill_shared(j, p, &read);
  if (s == DAMO_OK && fresh != NULL && n_pairs == 0)
    s = program_set_source(p, (damo_var *const *)j->wanted.at, j->wanted.n, (damo_var *const *)j->targets.at,
                           j->targets.n);
  if (s == DAMO_OK) s = fill_probe_rules(j->options, p);
  if (s == DAMO_OK) s = mode_of_inner(j->ctx, j->options, watcher, &p->inner_mode);
  if (s == DAMO_OK) s = program_set_pairs(p, pair_names, n_pairs);
  if (s == DAMO_OK && (f = function_over(j->ctx, p)) == NULL) s = DAMO_EMEMORY;
  if (s == DAMO_OK) s = fill_defaults(j, f);
  if (s == DAMO_OK) s = plan_build(p, f, order);
  if (p != NULL) program_release(p, j->ctx);
  ptrvec_clear(&read);
  if (s == DAMO_OK) return f;
  damo_release(f);
  return NULL;
}

/* Inputs may be overwritten only if they are mutable. */
static void mark_mutable(compile_job *j, damo_fgraph *fg) {
  for (int64_t i = 0; i < j->n_in; i++) {
    damo_var *x = fg->inputs.at[i];
    x->given_away = j->in[i].mutable_;
    x->indestructible = !x->given_away;
  }
}

static damo_status protect_graph(compile_job *j, damo_fgraph *fg, bool by_demand) {
  mark_mutable(j, fg);
  return by_demand ? protect_for_demand(fg) : protect_destroyed(fg);
}

const ptrvec *compile_fresh(const compile_job *j) { return &j->fresh; }

/* Pairs are computed on demand, so the companion must be safe in every order. */
damo_function *compile_companion(compile_job *j, damo_fgraph *graph, const ptrvec *fresh, char *const *pair_names,
                                 int64_t n_pairs) {
  if (protect_graph(j, graph, true) != DAMO_OK) return NULL;
  damo_function *f = make_function(j, graph, fresh, NULL, pair_names, n_pairs, NULL);
  if (f != NULL) f->frame.frame.silent = f->frame.frame.no_jit = true;
  return f;
}

static damo_status rewrite_and_protect(compile_job *j, damo_fgraph *fg) {
  mark_mutable(j, fg);
  report_phase(j->report, "graph");
  DAMO_TRY(rewrite_by_mode(j, fg));
  report_rewriting(j->report);
  DAMO_TRY(protect_graph(j, fg, false));
  report_phase(j->report, "protect");
  return DAMO_OK;
}

static damo_function *compile_rewritten(compile_job *j, damo_fgraph *fg, const fn_watcher *watcher) {
  if (rewrite_and_protect(j, fg) != DAMO_OK) return NULL;
  damo_function *f = make_function(j, fg, &j->fresh, watcher, NULL, 0, NULL);
  report_phase(j->report, "plan");
  return f;
}

/* ---- Graphs that are remembered ---------------------------------------------------------------------------------- */

/* A watcher and a profile want to see the graph rewritten; a rule of a script may depend on anything. */
static bool may_remember(const compile_job *j) {
  const compile_options *o = j->options;
  if (o->profile || o->n_no_recycling > 0 || rewrite_has_hosts(j->ctx)) return false;
  return memo_most_bytes(j->ctx) > 0 && compile_watcher(j->ctx, compile_mode_of(o)) == NULL;
}

static damo_status make_key(compile_job *j, memo_key *k) {
  const compile_options *o = j->options;
  const size_t bytes = (size_t)j->n_in * sizeof(bool);
  bool *mutable_ = mem_alloc(j->ctx, bytes);
  ptrvec inputs;
  ptrvec_init(&inputs, j->ctx);
  damo_status s = mutable_ != NULL ? DAMO_OK : DAMO_EMEMORY;
  for (int64_t i = 0; i < j->n_in && s == DAMO_OK; i++) {
    mutable_[i] = j->in[i].mutable_;
    s = ptrvec_push(&inputs, j->in[i].var);
  }
  const memo_request q = {.inputs = (damo_var *const *)inputs.at,
                          .mutable_ = mutable_,
                          .n_inputs = j->n_in,
                          .outputs = (damo_var *const *)j->wanted.at,
                          .n_outputs = j->wanted.n,
                          .words = {compile_optimizer_of(o), o->include, o->exclude, o->require}};
  if (s == DAMO_OK) s = memo_key_make(k, &q);
  ptrvec_clear(&inputs);
  if (mutable_ != NULL) mem_free(j->ctx, mutable_, bytes);
  return s;
}

static damo_status remember_order(const damo_function *f, memo_words *w) {
  const vm_program *vm = &f->program->vm;
  if (!plan_is_straight(f->program)) return memo_put(w, 0);
  DAMO_TRY(memo_put(w, (uint32_t)vm->n_thunks));
  for (int64_t i = 0; i < vm->n_thunks; i++) DAMO_TRY(memo_put_node(w, vm->thunks[i]->node));
  return DAMO_OK;
}

/* Rewrites the graph and remembers what has become of it. */
static damo_function *compile_anew(compile_job *j, memo_key *k) {
  map copies;
  map_init(&copies, j->ctx);
  damo_fgraph *fg = compile_make_fgraph(j, &copies);
  damo_status s = fg != NULL ? memo_begin(k, fg, &copies) : damo_error_status(j->ctx);
  map_clear(&copies);
  if (s == DAMO_OK) s = rewrite_and_protect(j, fg);
  memo_words w;
  memo_words_init(&w, j->ctx, NULL, false);
  if (s == DAMO_OK) s = memo_end(k, fg, &w);
  damo_function *f = s == DAMO_OK ? make_function(j, fg, &j->fresh, NULL, NULL, 0, NULL) : NULL;
  if (f != NULL) s = remember_order(f, &w);
  if (f != NULL && s == DAMO_OK) s = memo_add(j->ctx, k, &w);
  memo_words_clear(&w);
  damo_release(fg);
  if (s == DAMO_OK) return f;
  damo_release(f);
  return NULL;
}

static damo_function *compile_again(compile_job *j, const memo_key *k, const uint32_t *words) {
  ptrvec order;
  ptrvec_init(&order, j->ctx);
  damo_fgraph *fg = memo_graph(k, words, &order);
  damo_function *f = NULL;
  if (fg != NULL) {
    mark_mutable(j, fg);
    f = make_function(j, fg, &j->fresh, NULL, NULL, 0, order.n > 0 ? &order : NULL);
  }
  ptrvec_clear(&order);
  damo_release(fg);
  return f;
}

/* *done: the graph is one that can be remembered, and *out is its Function, NULL on failure. */
static damo_status compile_by_memo(compile_job *j, damo_function **out, bool *done) {
  memo_key k;
  memo_key_init(&k, j->ctx);
  damo_status s = make_key(j, &k);
  *done = k.kept;
  if (s == DAMO_OK && k.kept) s = compile_check_unused(j, &k);
  if (s == DAMO_OK && k.kept) {
    const uint32_t *words = memo_find(j->ctx, &k);
    *out = words != NULL ? compile_again(j, &k, words) : compile_anew(j, &k);
  }
  memo_key_clear(&k);
  return s;
}

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

static damo_function *compile_watched(compile_job *j, damo_fgraph *fg) {
  const fn_watcher *w = compile_watcher(j->ctx, compile_mode_of(j->options));
  void *kept = NULL;
  if (w != NULL && w->begin != NULL && w->begin(j, fg, &kept) != DAMO_OK) return NULL;
  damo_function *f = compile_rewritten(j, fg, w);
  if (w != NULL && w->finish != NULL && w->finish(j, kept, f) != DAMO_OK) {
    damo_release(f);
    return NULL;
  }
  if (w != NULL) report_phase(j->report, w->mode);
  return f;
}

/* Gives the report to f's program and begins to count f's calls. Returns f, or NULL with f released on failure. */
static damo_function *profile_function(compile_job *j, damo_function *f) {
  if (f == NULL || j->report == NULL) return f;
  ((fn_program *)(uintptr_t)f->program)->report = j->report; /* no other Function has the program yet */
  j->report = NULL;
  if (function_profile(f) == DAMO_OK) return f;
  damo_release(f);
  return NULL;
}

/* An undefined or disconnected gradient has no value, so it can't be an output. */
static damo_status compile_check_output(compile_job *j, const damo_var *v, int64_t i) {
  if (v->type->kind == TYPE_NULL)
    return ctx_fail(j->ctx, DAMO_ENULL_GRADIENT, "compile: output %lld is undefined: %s", (long long)i + 1,
                    v->type->why);
  if (v->type->kind == TYPE_DISCONNECTED) {
    return ctx_fail(j->ctx, DAMO_EDISCONNECTED_INPUT,
                    "compile: output %lld is a disconnected gradient, which has no value; return_disconnected=\"zero\" "
                    "makes it zeros",
                    (long long)i + 1);
  }
  return DAMO_OK;
}

static damo_function *job_run(compile_job *j) {
  const out_spec *out = j->out;
  if (compile_check_options(j->ctx, j->options) != DAMO_OK) return NULL;
  for (int64_t i = 0; i < j->n_out; i++) {
    if (compile_check_output(j, out[i].var, i) != DAMO_OK || ptrvec_push(&j->wanted, out[i].var) != DAMO_OK)
      return NULL;
  }
  if (add_explicit_updates(j) != DAMO_OK || add_default_updates(j) != DAMO_OK || apply_givens(j) != DAMO_OK)
    return NULL;
  damo_function *f = NULL;
  bool done = false;
  if (may_remember(j) && (compile_by_memo(j, &f, &done) != DAMO_OK || done)) return f;
  if (compile_check_unused(j, NULL) != DAMO_OK) return NULL;
  map memo;
  map_init(&memo, j->ctx);
  damo_fgraph *fg = compile_make_fgraph(j, &memo);
  if (fg != NULL && find_fresh(j, &memo) == DAMO_OK) f = profile_function(j, compile_watched(j, fg));
  map_clear(&memo);
  damo_release(fg);
  return f;
}

damo_function *compile_function(damo_ctx *ctx, const in_spec *in, int64_t n_in, const out_spec *out, int64_t n_out,
                                const compile_options *options) {
  static const compile_options plain = {0};
  if (ctx_enter(ctx, STACK_COMPILE) != DAMO_OK) return NULL;
  compile_job j = {
      .ctx = ctx, .in = in, .out = out, .n_in = n_in, .n_out = n_out, .options = options != NULL ? options : &plain};
  build_init(&j.b, ctx);
  ptrvec_init(&j.wanted, ctx);
  ptrvec_init(&j.targets, ctx);
  ptrvec_init(&j.fresh, ctx);
  map_init(&j.is_target, ctx);
  damo_function *f = NULL;
  const bool outer = ctx->reproducible;
  ctx_set_reproducible(ctx, j.options->reproducible);
  const rounding host = rounding_enter(j.options->reproducible);
  if (!j.options->profile || (j.report = report_new(ctx)) != NULL) f = job_run(&j);
  rounding_leave(host);
  ctx_set_reproducible(ctx, outer);
  if (f == NULL && damo_error_status(ctx) == DAMO_EMEMORY) compile_forget(ctx);
  report_free(ctx, j.report);
  ptrvec_clear(&j.wanted);
  ptrvec_clear(&j.targets);
  ptrvec_release_all(&j.fresh);
  map_clear(&j.is_target);
  build_end(&j.b);
  ctx_leave(ctx, STACK_COMPILE);
  return f;
}
