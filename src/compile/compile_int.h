/* compile_int.h: what the files of compile/ share. */
#ifndef DAMO_COMPILE_COMPILE_INT_H
#define DAMO_COMPILE_COMPILE_INT_H

#include "compile.h"

/* plan.c: fills f->plan, and the cells of inputs, outputs and shared, from f->fgraph. The fgraph's outputs are the
 * function's outputs, then the updates of f->shared in their order (those with update_cell >= 0 before the call). */
damo_status plan_build(damo_function *f);

/* protect.c: inserts a copy wherever an Op would overwrite what must last: an input without `indestructible` cleared, a
 * constant, a shared value, a result, what another node reads that can't run earlier. The order of destroy_order then
 * is safe; in graphs with lazy Ops any order is. */
damo_status protect_destroyed(damo_fgraph *fg);
/* The same where nodes run by demand: any order is safe then. */
damo_status protect_for_demand(damo_fgraph *fg);

/* compile/watch/nanguard.c */
/* A numeric error when an output of the thunk, of that plan, holds a nan or an infinity that its Op does not call lawful,
 * and that something reads. func is the mode's name. */
damo_status nanguard_check_outputs(const vm_plan *p, const thunk *t, const char *func);
/* No number, as far as the Op does not call it lawful. */
bool nanguard_is_odd(scalar s, op_nonfinite lawful);
/* "nan at {2, 3}" of the entry at that index. */
void nanguard_entry_text(char *dst, size_t n, const damo_array *a, const int64_t *index);
/* compile/watch/nanmask.c: forgets what earlier results held. */
void nanguard_clear_masks(damo_function *f);
/* The same error of output o, a dense array; odd: it holds such an entry. */
damo_status nanguard_check_masks(damo_function *f, const thunk *t, int o, bool odd, const char *func);
/* Warns when the node, about to run, divides integers by zero or past their range. */
void nanguard_warn_integer_division(const thunk *t, const char *func);
/* A numeric error when an argument or a shared value holds nan or inf. */
damo_status nanguard_check_inputs(const damo_function *f, const char *func);
/* Sets the plan's step as f->watch asks. */
void watch_plan(damo_function *f);

/* The next index of a in C order; false past the last. */
static inline bool debug_next_index(const damo_array *a, int64_t *index) {
  for (int d = a->ndim - 1; d >= 0; d--) {
    if (++index[d] < array_shape(a)[d]) return true;
    index[d] = 0;
  }
  return false;
}

/* compile/watch/debug.c: runs the thunk and all checks of DEBUG mode on it. */
damo_status debug_step(vm_plan *p, thunk *t);
/* compile/watch/debug_sparse.c: inconsistency where the node's first output, sparse or of sparse inputs, is another one with dense
 * operands. */
damo_status debug_dense_equal(thunk *t, damo_obj *const *inputs);
/* compile/watch/debug_values.c: whether two values agree, but for rounding; where not, text says where and how. With `lenient`, an
 * entry that is not finite in a but is in b agrees: rewriting gains precision. */
bool debug_agree(const damo_obj *a, const damo_obj *b, bool lenient, char *text, size_t n);
/* The same, entries being allowed to be apart by the rounding of their terms; terms: their sizes (debug_terms), or
 * NULL. */
bool debug_agree_within(const damo_obj *a, const damo_obj *b, const damo_obj *terms, bool lenient, char *text,
                        size_t n);
/* compile/watch/debug_terms.c: for each entry of v the moduli of the terms that it is a sum of, added, into *out: dense or sparse as
 * v is, owned; NULL where that can't be told. nodes: those to look into, inputs before users; values: damo_var* →
 * damo_obj*, of what they read and v. Fails for lack of memory alone. */
damo_status debug_terms(damo_ctx *ctx, const ptrvec *nodes, const damo_var *v, const map *values, damo_obj **out);
/* compile/watch/debug_history.c: what rewriting does to fg, from begin to end. */
typedef struct debug_history debug_history;
debug_history *debug_history_begin(damo_fgraph *fg);
void debug_history_end(debug_history *h); /* fg is left alone from here on */
void debug_history_free(debug_history *h);
/* What v, a Variable of fg, was before any rule touched what it is made from; v itself where nothing is known of it. */
damo_var *debug_history_shadow(const debug_history *h, damo_var *v);
/* A FunctionGraph over copies of fg's inputs: the outputs as they were written, then what each rewrite replaced and by
 * what, in turn. memo gains the copies of shadows. */
damo_fgraph *debug_history_graph(const debug_history *h, const damo_fgraph *fg, map *memo);
/* The names of the rules, one a replacement, borrowed. Returns their number. */
int64_t debug_history_rules(const debug_history *h, char *const **rules);

/* compile/watch/debug_graph.c: gives f->plain the same arguments, copied where f may overwrite them; then, after the run of f and
 * before anything is committed, runs it and compares. (f first: its nodes are checked one by one, those of f->plain are
 * not.) */
damo_status debug_prepare(damo_function *f, damo_obj *const *args, int64_t n_args);
damo_status debug_compare(damo_function *f);
/* After a run of f that failed with s: where a rewrite is to blame, that becomes the pending error. Returns the
 * status. */
damo_status debug_explain(damo_function *f, damo_status s);

/* function.c */
/* Keeps the Variables as f->no_recycling. */
damo_status function_set_fresh(damo_function *f, damo_var *const *vars, int64_t n);
/* Keeps the names of n rewrites, whose two sides each are the last outputs of f->fgraph. */
damo_status function_set_rewrites(damo_function *f, char *const *rules, int64_t n);
/* Converts the arguments and loads them and shared values into cells. copy_mutable: what the call may overwrite is
 * copied. */
damo_status function_load(damo_function *f, damo_obj *const *args, int64_t n_args, bool copy_mutable);
const char *function_name(const damo_function *f);
/* A copy of text into *out; NULL text leaves *out alone. */
damo_status function_copy_text(damo_ctx *ctx, const char *text, char **out);
damo_function *function_new(damo_ctx *ctx, int64_t n_inputs, int64_t n_outputs, int64_t n_shared);

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
