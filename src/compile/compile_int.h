/* compile_int.h: what the files of compile/ share. */
#ifndef DAMO_COMPILE_COMPILE_INT_H
#define DAMO_COMPILE_COMPILE_INT_H

#include "compile.h"

/* plan.c: fills p->vm, and the cells of inputs, outputs and shared, from p->fgraph, and makes f's frame, the first of p.
 * The fgraph's outputs are the function's outputs, then the updates of p->shared in their order (those with update_cell
 * >= 0 before the call). */
damo_status plan_build(fn_program *p, damo_function *f);

/* protect.c: inserts a copy wherever an Op would overwrite what must last: an input without `indestructible` cleared, a
 * constant, a shared value, a result, what another node reads that can't run earlier. The order of destroy_order then
 * is safe; in graphs with lazy Ops any order is. */
damo_status protect_destroyed(damo_fgraph *fg);
/* The same where nodes run by demand: any order is safe then. */
damo_status protect_for_demand(damo_fgraph *fg);

/* function.c */
/* A program still to be filled, held by the caller. */
fn_program *program_new(damo_ctx *ctx, int64_t n_inputs, int64_t n_outputs, int64_t n_shared);
void program_release(const fn_program *p, const damo_ctx *by);
/* Keeps the Variables as p->no_recycling. */
damo_status program_set_fresh(fn_program *p, damo_var *const *vars, int64_t n);
/* Keeps the names of n pairs, which are the last outputs of p->fgraph. */
damo_status program_set_pairs(fn_program *p, char *const *names, int64_t n);
/* A Function of the program (a hold is taken) in that context; its frame is still to be made. */
damo_function *function_over(damo_ctx *ctx, const fn_program *p);
/* Has the frame run as the watcher of the mode asks. */
void function_watch(damo_function *f);
/* A copy of text into *out; NULL text leaves *out alone. */
damo_status function_copy_text(damo_ctx *ctx, const char *text, char **out);

/* Where the value of program->shared[i], a shared Variable, is. */
static inline damo_obj **function_shared_place(damo_function *f, int64_t i) {
  return f->obj.ctx == f->program->ctx ? &f->program->shared[i].var->value : &f->updates[i].value;
}

static inline void cell_set(cell *c, damo_obj *take_value) {
  damo_obj *old = *c;
  *c = take_value;
  damo_release(old);
}

/* The value's only holder is its cell: where the end of the call empties that, it can leave as it is. */
static inline bool value_is_cells_alone(const damo_obj *value) {
  const damo_array *a = value_array(value);
  return a != NULL && value->refs == 1 && a->writeable && array_is_exclusive(a);
}

/* target.c: what a call writes into objects of the caller, in the order of a call. */
/* A state error where a sparse target has more holders than FN_TARGET_HOLDERS and f's own cells, a value error where it
 * is given twice. */
damo_status target_begin(const damo_function *f, damo_obj *const *into);
/* Gives thunks the arrays that they can write at once; target_forget takes them back. */
damo_status target_offer(damo_function *f, damo_obj *const *into);
void target_forget(damo_function *f, damo_obj *const *into);
/* Whether the value of output i can be written into the target: format, dtype, shape, and who holds it. */
damo_status target_check(const damo_function *f, int64_t i, damo_obj *value, damo_obj *target);
/* Whether result i must be copied before anything is written: it would not last, or its target has no room for it. */
bool target_must_stage(const damo_function *f, int64_t i, damo_obj *const *into);
/* Writes what is not there yet. */
damo_status target_fill(damo_function *f, damo_obj *const *into);

#endif
