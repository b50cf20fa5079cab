/* watch_int.h: private to watch/. */
#ifndef DAMO_WATCH_INT_H
#define DAMO_WATCH_INT_H

#include "loop/loop.h"
#include "watch.h"

typedef struct nanguard_mask nanguard_mask;

/* nanguard.c */
/* A numeric error if an output of the thunk, which has just run in vf, holds a nan or an infinity that its Op does not
 * declare legitimate (op_nonfinite) and that is read by a node or is a result. func: the mode's name, for the
 * message. */
damo_status nanguard_check_outputs(const vm_frame *vf, const thunk *t, const char *func);
/* Whether s is a nan or an infinity that the Op's declaration `allowed` does not allow. */
bool nanguard_is_fault(scalar s, op_nonfinite allowed);
/* Writes "nan at {2, 3}" for the entry of a at that index. */
void nanguard_entry_text(char *dst, size_t n, const damo_array *a, const int64_t *index);
/* nanmask.c: frees all masks of f, which belong to one call. */
void nanguard_clear_masks(damo_function *f);
/* The check of output o, a dense array; faulty: it holds a non-finite entry that the Op does not allow. Such an entry, or
 * one inherited from an operand, is an error unless it may still be discarded by a switch. */
damo_status nanguard_check_masks(damo_function *f, const thunk *t, int o, bool faulty, const char *func);
/* naninside.c: runs the thunk's node, a result of which is not finite, once more with its inner graph in NANGUARD mode.
 * *found: that has ended with a numeric error, which is pending. */
damo_status nanguard_look_inside(const thunk *t, const frame *f, bool *found);
/* Called before the node runs: warns if it divides an integer by zero, or the smallest integer by -1. */
void nanguard_warn_integer_division(const thunk *t, frame *f, const char *func);
/* A numeric error if an argument or a shared value holds nan or inf. */
damo_status nanguard_check_inputs(const damo_function *f, const char *func);

/* spread.c. spread_once: views of a and b whose axes of length 1 are those along which both repeat one entry; false: there
 * is no such axis. spread_equal: array_equal with nan equal to nan. */
bool spread_once(const damo_array *a, const damo_array *b, damo_array **a_once, damo_array **b_once);
bool spread_equal(const damo_array *a, const damo_array *b);
/* Whether v is a large array that repeats entries; a copy, which of such an array repeats them too. */
bool spread_is_large(const damo_obj *v);
damo_obj *spread_copy(damo_obj *v);

/* debug.c: runs the thunk and all checks of DEBUG mode on one node. */
damo_status debug_step(vm_frame *vf, const thunk *t);
/* The same, but `run` runs the thunk and its reruns: tests corrupt results there. */
damo_status debug_step_by(vm_frame *vf, const thunk *t, thunk_run_fn run);
/* debug_class.c: an inconsistency error if the node's outputs fail the op_check of its class. inputs: the values before
 * the run. */
damo_status debug_check_class(const thunk *t, frame *f, damo_obj *const *inputs);
/* debug_values.c: whether two values agree up to rounding; if not, text says where and how they differ. With `lenient`
 * the tolerance is larger, and a non-finite entry of a agrees with every entry of b, because rewriting may gain
 * precision. */
bool debug_agree(const damo_obj *a, const damo_obj *b, bool lenient, char *text, size_t n);
/* The same, but entries may also differ by the rounding of the terms that they are sums of. terms: the sums of the
 * terms' moduli (debug_terms), or NULL. */
bool debug_agree_within(const damo_obj *a, const damo_obj *b, const damo_obj *terms, bool lenient, char *text,
                        size_t n);
/* debug_terms.c: computes for each entry of v the sum of the moduli of the terms that the entry is a sum of. *out: that
 * value, owned, dense or sparse as v is; NULL if it can't be computed. nodes: the nodes to look through, inputs before
 * users. values: damo_var* → damo_obj*, the values of v and of all inputs of the nodes. The one failure is a memory
 * error. */
damo_status debug_terms(damo_ctx *ctx, const ptrvec *nodes, const damo_var *v, const map *values, damo_obj **out);
/* debug_history.c: records what rewriting does to fg, from begin to end. */
typedef struct debug_history debug_history;
debug_history *debug_history_begin(damo_fgraph *fg);
void debug_history_end(debug_history *h); /* detaches from fg */
void debug_history_free(debug_history *h);
/* The shadow of v, a Variable of fg: the copy of v over the shadows of its node's inputs, made when the node was
 * imported. v itself if it has none. */
damo_var *debug_history_shadow(const debug_history *h, damo_var *v);
/* A FunctionGraph over copies of fg's inputs. Its outputs are the outputs as written, then for each rewrite the
 * replaced Variable and its replacement. memo gains the copies of the shadows. */
damo_fgraph *debug_history_graph(const debug_history *h, const damo_fgraph *fg, map *memo);
/* *rules: the name of each replacement's rule, borrowed. Returns the number of replacements. */
int64_t debug_history_rules(const debug_history *h, char *const **rules);

#endif
