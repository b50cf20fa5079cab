/* scan_int.h: private to scan/. */
#ifndef DAMO_SCAN_SCAN_INT_H
#define DAMO_SCAN_SCAN_INT_H

#include "op/elem/build_arith.h"
#include "op/op.h"
#include "scan.h"

/* The class of an Op that is known to be a Scan; scan_of checks. */
static inline scan_class *scan_at(const damo_op *op) { return (scan_class *)op->owner; }
static inline scan_part *scan_state_at(const scan_class *s, int i) { return &s->part[s->n_seq + i]; }
static inline scan_part *scan_fixed_at(const scan_class *s, int i) { return &s->part[s->n_seq + s->n_state + i]; }
static inline scan_part *scan_collect_at(const scan_class *s, int i) {
  return &s->part[s->n_seq + s->n_state + s->n_fixed + i];
}
/* The node's input of a part that has one. */
static inline int scan_in(const scan_class *s, const scan_part *p) { return 1 + (int)(p - s->part); }
/* The first inner input of a state, and of a fixed value. */
static inline int scan_first_past(const scan_class *s) {
  return s->n_seq > 0 ? s->part[s->n_seq - 1].first + s->part[s->n_seq - 1].n : 0;
}
static inline int scan_first_fixed(const scan_class *s) { return s->n_in - s->n_fixed; }
static inline damo_var *scan_inner_in(const scan_class *s, int i) { return s->fgraph->inputs.at[i]; }
static inline damo_var *scan_inner_out(const scan_class *s, int o) { return s->fgraph->outputs.at[o]; }
/* Whether values of the Type are stacked: dense arrays and states of generators. */
static inline bool scan_is_stacked(const damo_type *t) { return t->kind == TYPE_TENSOR || t->kind == TYPE_RANDOM; }

/* scan_class.c */
/* The Op of the class whose parts, taps and graph are s's (taken): s's own, or that of an equal class (owned). */
damo_op *scan_op_of(scan_class *take_s);
/* A copy in the copier's context, owned, that is no Op yet. */
scan_class *scan_class_copy_to(graph_copier *c, const scan_class *from);
inner_graph scan_inner(scan_class *s);
/* x as the operand of part p: cast where that loses nothing. NULL: it can't be. */
damo_var *scan_fit(build *b, const scan_class *s, const scan_part *p, damo_var *x);

/* The state of which inner input k is a tap. */
static inline const scan_part *scan_state_of(const scan_class *s, int k) {
  int i = 0;
  while (k >= scan_state_at(s, i)->first + scan_state_at(s, i)->n) i++;
  return scan_state_at(s, i);
}

/* scan_draft.c */
/* Makes s->updates of the parts. */
damo_status scan_set_updates(scan_class *s);
/* As scan_draft_node, but the Op alone (owned). */
damo_op *scan_draft_op(scan_draft *d);
/* A part as p of class s, with all that p says of it but `update`; next: the value of a state or collected one. */
scan_part *scan_draft_part(scan_draft *d, const scan_class *s, const scan_part *p, damo_var *outer,
                           damo_var *const *inner, damo_var *next);
/* Adds the parts of s, with the operands in[], but the collected values. needed: the states to add, NULL: all. */
void scan_draft_states(scan_draft *d, const scan_class *s, damo_var *const *in, const bool *needed);

/* scan_recipe.c */
extern const op_recipe scan_recipe;

/* scan_run.c */
damo_status scan_perform(const thunk *t, frame *f);
damo_status scan_prepare_foreign(const thunk *t, frame *f);
void scan_state_clear(const thunk *t, frame *f);
size_t scan_state_size(void);

/* scan_c.c: op_def.emit_c of Scan and ScanGrad */
damo_status scan_emit_c(struct c_emit *e, const damo_apply *node);
damo_status scan_replay_emit_c(struct c_emit *e, const damo_apply *node);

/* scan_jit.c, scan_jit_run.c: a loop of 0-d values, short vectors and small matrices as machine code, for one thunk in
 * one frame. */
typedef struct scan_native scan_native;
struct native_part;
struct scan_frame;
/* For operands as long as these; fed: the parts whose values the fed sequences get. NULL without an error: there is none for
 * the class, or in this context. */
scan_native *scan_native_new(const thunk *t, const frame *f, const scan_class *s, const struct scan_frame *w,
                             const struct native_part *const *fed);
/* Whether w's code is for operands as long as these. */
bool scan_native_fits(const thunk *t, const frame *f, const scan_class *s, const struct scan_frame *w,
                      const struct native_part *const *fed);
void scan_native_free(scan_native *n, damo_ctx *ctx);
/* Runs at most `total` steps of w's code, at least 1, and gives all results; *taken: the number of steps. */
damo_status scan_native_run(const thunk *t, frame *f, const scan_class *s, const struct scan_frame *w, int64_t total,
                            int64_t *taken);
/* Whether all operands and results of the code are 0-d, last values alone; then a run needs nothing of a scan_frame. */
bool scan_native_is_scalar(const scan_native *n);
/* The same as scan_native_run for such code. */
damo_status scan_native_run_scalars(const thunk *t, frame *f, const scan_class *s, scan_native *n, int64_t total,
                                    int64_t *taken);

/* scan_grad.c */
extern const op_def scan_bits_def;
damo_status scan_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
/* Whether cotangents of values of the Type flow, and tangents. */
bool scan_flows(const damo_type *t);
/* Whether v is a cotangent or tangent that there is. */
bool scan_is_flow(const damo_var *v);
/* Gives the n owned results of grad to the scope. */
damo_status scan_keep_flows(build *b, damo_var **v, int n, damo_status s);
/* A new Variable of the inner graph, for such a value; borrowed from the scope. */
damo_var *scan_placeholder(build *b, damo_type *t);

/* scan_forward.c */
damo_status scan_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
damo_status scan_replay_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);

/* scan_edit.c */
typedef struct scan_edit {
  damo_fgraph *fg;
  damo_apply *node;
  const scan_class *s;
  const char *rule;
  build b;             /* for what is built outside of the loop */
  scan_part *plan;     /* copies of the class's parts: stack, last: -1 where nothing reads them; tail */
  bool *live;          /* by part: it stays */
  damo_var **stack_by; /* by part that does not stay: what replaces its results */
  damo_var **last_by;
  map memo;         /* Variables of the inner graph that are replaced → by what */
  ptrvec values;    /* Variables of the inner graph whose values are collected, after those that were */
  scan_draft d;     /* may be given sequences and fixed values before the node is made */
  damo_apply *made; /* NULL: no part that computes anything stays */
  bool changed;
  damo_obj *trace;
} scan_edit;

damo_status scan_edit_init(scan_edit *e, damo_fgraph *fg, damo_apply *node, const char *rule);
damo_status scan_edit_make(scan_edit *e);
/* The stacked values number k, once the node is made. */
damo_var *scan_edit_value(const scan_edit *e, int64_t k);
damo_status scan_edit_replace(scan_edit *e);
damo_status scan_edit_end(scan_edit *e, damo_status status); /* returns status, or how the scope ended */

damo_var *scan_edit_stack(const scan_edit *e, int part); /* the stacked result of a part that stays, likewise */

/* scan_vectorize.c: op_def.batch of Scan */
damo_status scan_vectorize(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k, damo_var **out);

/* scan_batch.c */
typedef struct scan_batch {
  build *b;
  map rows;    /* Variables of the inner graph → their values by step, stacked along a new first axis */
  map same;    /* Variables that are the same in every step → their value outside of the loop */
  ptrvec made; /* owned copies of nodes */
} scan_batch;

void scan_batch_init(scan_batch *w, build *b);
void scan_batch_clear(scan_batch *w);
/* Whether a node whose operands are in `rows`, or the same in every step, can be built over stacked operands. */
bool scan_batch_can(const damo_apply *node);
/* The value outside of the loop of a Variable that follows from the keys of `same` and constants. */
damo_var *scan_batch_same(scan_batch *w, damo_var *v);
/* The values by step of a Variable that follows from the keys of `rows` and `same` by such nodes. */
damo_var *scan_batch_rows(scan_batch *w, damo_var *v);

/* scan_rows.c */
/* Whether x is known to have n rows (*exact), or more. */
bool scan_has_rows(const damo_var *x, const damo_var *n, bool *exact);
/* x with its rows in reverse order. */
damo_var *scan_flip_rows(build *b, damo_var *x);

/* scan_push.c */
damo_status scan_register_push(damo_ctx *ctx);

/* scan_join.c */
damo_status scan_register_join(damo_ctx *ctx);

/* The loop over n steps of class s and the operands in[], with all its states stacked; borrowed from the scope. */
damo_apply *scan_keep_states(build *b, const scan_class *s, damo_var *const *in, damo_var *n);
/* The past values of inner input k, a tap of a state, last step first, from the stacked values of that state. */
damo_var *scan_past_rows(build *b, const scan_class *s, damo_var *const *in, damo_var *n, int k, damo_var *stack);

/* scan_replay.c */
extern const op_def scan_replay_def;
const damo_function *scan_replay_running(const thunk *t, const frame *f);
/* The Op ScanGrad (owned) over the loop that computes states and the one that goes back over them; fed: the n_fed inner
 * inputs of `forward` whose values the last sequences of `reverse` get. NULL: memory error. */
damo_op *scan_replay_op(damo_ctx *ctx, damo_op *forward, damo_op *reverse, const int32_t *fed, int n_fed,
                        int64_t checkpoint);
/* The parts of a ScanGrad. */
damo_op *scan_replay_forward(const damo_op *op);
damo_op *scan_replay_reverse(const damo_op *op);
int scan_replay_n_fed(const damo_op *op);
int scan_replay_fed(const damo_op *op, int q); /* the inner input of the forward loop that sequence q gets */
int64_t scan_replay_checkpoint(const damo_op *op);
int scan_replay_first_reverse(const damo_op *op); /* the first of a node's inputs that is the reverse loop's */
int scan_replay_first_unread(const damo_op *op);  /* and the first that nothing reads */
/* The class of the reverse loop that a Scan or a ScanGrad is. */
static inline const scan_class *scan_reverse_class(const damo_apply *node) {
  return scan_at(node->op->def == &scan_replay_def ? scan_replay_reverse(node->op) : node->op);
}

/* scan_replay_draft.c */
typedef struct scan_replay_draft {
  const scan_class *forward; /* the loop whose states are read */
  damo_var *const *in;       /* its operands */
  damo_var *n;               /* the number of its steps */
  const int32_t *past;       /* its inner inputs, n_past of them, that the sequences of the reverse loop without an
                              * operand stand for */
  int n_past;
  int64_t checkpoint;
  damo_var *tie; /* a further operand, which is not read; NULL: none */
} scan_replay_draft;
/* The node of a ScanGrad over the reverse loop of that draft, whose last sequences have no operand. NULL: the scope has
 * failed. */
damo_apply *scan_replay_node(scan_draft *reverse, const scan_replay_draft *r);
/* The node of the ScanGrad op (taken) over the operands of its loops' drafts, after their Ops were made. tie: a further
 * operand, which is not read; NULL: none. */
damo_apply *scan_replay_over(const scan_draft *forward, const scan_draft *reverse, damo_op *op, damo_var *tie);

/* scan_rules.c */
damo_status scan_slim_all(damo_fgraph *fg);
bool scan_any(const damo_fgraph *fg); /* whether the graph has a Scan */
/* Visits the Scans of the graph but the impure ones: users before what they read, so that what they leave out is left
 * out there too. */
damo_status scan_each(damo_fgraph *fg, damo_status (*visit)(damo_fgraph *fg, damo_apply *node));
damo_status scan_register_rules(damo_ctx *ctx);

/* scan_replay_rules.c */
damo_status scan_register_replay_rules(damo_ctx *ctx);

#endif
