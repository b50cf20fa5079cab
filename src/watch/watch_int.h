/* watch_int.h: what the files of watch/ share. */
#ifndef DAMO_WATCH_INT_H
#define DAMO_WATCH_INT_H

#include "loop/loop.h"
#include "watch.h"

typedef struct nanguard_mask nanguard_mask;

/* nanguard.c */
/* A numeric error when an output of the thunk, of that plan, holds a nan or an infinity that its Op does not call lawful,
 * and that something reads. func is the mode's name. */
damo_status nanguard_check_outputs(const vm_frame *vf, const thunk *t, const char *func);
/* No number, as far as the Op does not call it lawful. */
bool nanguard_is_odd(scalar s, op_nonfinite lawful);
/* "nan at {2, 3}" of the entry at that index. */
void nanguard_entry_text(char *dst, size_t n, const damo_array *a, const int64_t *index);
/* nanmask.c: forgets what earlier results held. */
void nanguard_clear_masks(damo_function *f);
/* The same error of output o, a dense array; odd: it holds such an entry. */
damo_status nanguard_check_masks(damo_function *f, const thunk *t, int o, bool odd, const char *func);
/* Warns when the node, about to run, divides integers by zero or past their range. */
void nanguard_warn_integer_division(const thunk *t, frame *f, const char *func);
/* A numeric error when an argument or a shared value holds nan or inf. */
damo_status nanguard_check_inputs(const damo_function *f, const char *func);

/* debug.c: runs the thunk and all checks of DEBUG mode on it. */
damo_status debug_step(vm_frame *vf, const thunk *t);
/* The same, where the thunk and those that run its node again are run by that function: tests break results in it. */
damo_status debug_step_by(vm_frame *vf, const thunk *t, thunk_run_fn run);
/* debug_class.c: inconsistency where the node's outputs are others by the check that its class brings. inputs: as they were
 * before the run. */
damo_status debug_check_class(const thunk *t, frame *f, damo_obj *const *inputs);
/* debug_values.c: whether two values agree, but for rounding; where not, text says where and how. With `lenient`, an
 * entry that is not finite in a but is in b agrees: rewriting gains precision. */
bool debug_agree(const damo_obj *a, const damo_obj *b, bool lenient, char *text, size_t n);
/* The same, entries being allowed to be apart by the rounding of their terms; terms: their sizes (debug_terms), or
 * NULL. */
bool debug_agree_within(const damo_obj *a, const damo_obj *b, const damo_obj *terms, bool lenient, char *text,
                        size_t n);
/* debug_terms.c: for each entry of v the moduli of the terms that it is a sum of, added, into *out: dense or sparse as
 * v is, owned; NULL where that can't be told. nodes: those to look into, inputs before users; values: damo_var* →
 * damo_obj*, of what they read and v. Fails for lack of memory alone. */
damo_status debug_terms(damo_ctx *ctx, const ptrvec *nodes, const damo_var *v, const map *values, damo_obj **out);
/* debug_history.c: what rewriting does to fg, from begin to end. */
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

#endif
