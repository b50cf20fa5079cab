/* compile_int.h: private to compile/. */
#ifndef DAMO_COMPILE_COMPILE_INT_H
#define DAMO_COMPILE_COMPILE_INT_H

#include "compile.h"

/* plan.c: fills p->vm, and the cells of inputs, outputs and shared, from p->fgraph, and makes f's frame, the first of
 * p. The fgraph's outputs are the function's outputs, then the updates of p->shared in their order (those with
 * update_cell >= 0 before the call). order, may be NULL: the nodes of the fgraph as plan_build has ordered those of an
 * equal one, whose program has no branches (plan_is_straight). */
damo_status plan_build(fn_program *p, damo_function *f, const ptrvec *order);
/* Whether every call runs all thunks in their order. */
static inline bool plan_is_straight(const fn_program *p) { return p->vm.n_regions == 0 && !p->vm.by_demand; }
/* lifetimes.c: fills the homes of p->vm, whose arrays a frame may put into its arena. */
damo_status plan_lifetimes(fn_program *p);
/* order.c: reorders the nodes, which are in destroy_order's order and have neither regions nor thunks that ask for inputs,
 * to lower the peak of memory. */
damo_status order_for_memory(const damo_fgraph *fg, ptrvec *nodes);
/* plan_check.c: an inconsistency error where the program is not as plan_build must leave it. */
damo_status plan_check(const fn_program *p);

/* protect.c: inserts a copy wherever an Op would overwrite a value that is still needed: an indestructible input, a
 * constant, a shared value, a result, or a value read by a node that can't run earlier. Afterwards destroy_order's
 * order is safe; in graphs with lazy Ops every dependency order is. */
damo_status protect_destroyed(damo_fgraph *fg);
/* The same for a program whose nodes run on demand: every dependency order is safe afterwards. */
damo_status protect_for_demand(damo_fgraph *fg);

/* mode.c */
/* Errors if o names a mode, optimizer or rule that there is not. */
damo_status compile_check_options(damo_ctx *ctx, const compile_options *o);
static inline const char *compile_mode_of(const compile_options *o) { return o->mode != NULL ? o->mode : "FAST_RUN"; }
const char *compile_optimizer_of(const compile_options *o);
/* The mode, as text (owned), of the Ops that hold a graph in a program of these options; NULL: FAST_RUN. watcher: the
 * program's. */
damo_status mode_of_inner(damo_ctx *ctx, const compile_options *o, const fn_watcher *watcher, char **out);

/* function.c */
/* A new program with empty tables of these sizes, held once by the caller. NULL: memory error. */
fn_program *program_new(damo_ctx *ctx, int64_t n_inputs, int64_t n_outputs, int64_t n_shared);
void program_release(const fn_program *p, const damo_ctx *by);
/* Sets p->no_recycling to a copy of the list, with a reference to each Variable. */
damo_status program_set_fresh(fn_program *p, damo_var *const *vars, int64_t n);
/* Sets p->source and p->source_targets: the new values of the targets are the last n_targets of source. */
damo_status program_set_source(fn_program *p, damo_var *const *source, int64_t n, damo_var *const *targets,
                               int64_t n_targets);
/* Computes p->fingerprint. Called in p's context, or while that is idle (snapshot.c). */
damo_status program_fingerprint(const fn_program *p);
/* Sets p->pairs: n pairs with copies of these names. The pairs are the last 2n outputs of p->fgraph. */
damo_status program_set_pairs(fn_program *p, char *const *names, int64_t n);
/* A Function in ctx that holds p, without a frame yet. NULL: memory error. */
damo_function *function_over(damo_ctx *ctx, const fn_program *p);
/* Gives g, in another context than its program, the default values and shared Variables of f, which has the same inputs
 * and shared Variables: f's own if they are of g's context, else copies. */
damo_status function_copy_values(const damo_function *f, damo_function *g);
/* A shared Variable of ctx with v's Type and name, and a copy of the value (owned). */
damo_var *shared_copy_to(damo_ctx *ctx, const damo_var *v, const damo_obj *value);
/* Makes f's frame call the step of the program's watcher, if it has one. */
void function_watch(damo_function *f);

/* Whether calls update, observe and view nothing, and empty no cells but those of the inputs. */
bool function_is_pure(const damo_function *f);
/* Whether the program is one thunk in a plain frame. */
static inline bool function_is_one_thunk(const vm_frame *vf) {
  const vm_program *p = vf->program;
  return p->n_thunks == 1 && p->n_segments == 0 && !p->by_demand && vf->arena == NULL && vf->step == NULL;
}

static inline void cell_set(cell *c, damo_obj *take_value) {
  damo_obj *old = *c;
  *c = take_value;
  damo_release(old);
}

/* Whether a cell is the only holder of the value and of its buffer, so that the value can leave the call without a
 * copy. */
static inline bool value_is_cells_alone(const damo_obj *value) {
  const damo_array *a = value_array(value);
  return a != NULL && value->refs == 1 && a->writeable && array_is_exclusive(a);
}

/* token.c */
void token_hold(token_group *g);
void token_release(token_group *g);

/* What function_run does before it writes anything that others see: loads, runs, and copies what must be copied. On
 * failure the call is over. */
damo_status function_compute(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into);
/* And what follows, after which results can be taken: fills the targets, and commits the updates to `to`, f or the
 * Function whose run f makes. */
damo_status function_conclude(damo_function *f, damo_obj *const *into, damo_function *to);
/* In place of it: ends the call with nothing written. s: why it failed. */
void function_abandon(damo_function *f, damo_obj *const *into, damo_status s);
/* An owned value for input i, made of a borrowed one (not NULL). NULL: an error that names the input. */
damo_obj *function_filter(damo_function *f, int64_t i, damo_obj *value);
damo_status function_missing_input(damo_function *f, int64_t i);

/* profile.c. A report may be NULL where nothing is counted. */
fn_report *report_new(damo_ctx *ctx);
void report_free(damo_ctx *ctx, fn_report *r);
/* Adds the time since the end of the last phase as a phase of that name (static). */
void report_phase(fn_report *r, const char *name);
/* Adds the phases of rewriting in place of one. */
void report_rewriting(fn_report *r);
void profile_drop(damo_function *f);
/* Bracket a call of a Function with a profile. s: the call's status. */
void profile_enter(damo_function *f);
void profile_leave(damo_function *f, damo_status s);

/* target.c: writing results into objects of the caller; the functions in the order in which a call uses them. */
/* A state error if a sparse target has more references than FN_TARGET_HOLDERS and those of f's own cells; a value error
 * if one matrix is the target of two outputs. */
damo_status target_begin(const damo_function *f, damo_obj *const *into);
/* Puts targets into output cells where the thunks can write into them directly. target_forget undoes it. */
damo_status target_offer(damo_function *f, damo_obj *const *into);
void target_forget(damo_function *f, damo_obj *const *into);
/* Checks that the value of output i can be written into the target: kind, format, dtype, shape, writeable, holders. */
damo_status target_check(const damo_function *f, int64_t i, damo_obj *value, damo_obj *target);
/* Whether result i must be copied before anything is written: its value would be overwritten or must stay with the
 * function, or its target, a matrix, has no space for its entries. */
bool target_must_stage(const damo_function *f, int64_t i, damo_obj *const *into);
/* Writes the results that the thunks have not written into their targets. */
damo_status target_fill(damo_function *f, damo_obj *const *into);

#endif
