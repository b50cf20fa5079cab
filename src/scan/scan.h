/* scan: loops over time as an Op with an inner graph, which is computed once a step.
 *
 * In: an inner graph and what its inputs and outputs are to the loop (scan_draft). Out: a node of an Op "Scan", its
 * derivatives (Scans again), rules. Always holds: the inner graph never changes, and is planned once for all nodes of
 * an Op; equal inner graphs with equal parts give one Op; a step reads sequences through views whose pointers move; what
 * fails in step k leaves nothing changed, and its error names k.
 *
 * A loop has parts. Inner inputs, in this order: the taps of each sequence, the past values of each state, the fixed
 * values. Inner outputs: the next value of each state, the collected values, the condition on which the loop stops.
 * Inputs of a node: the number of steps (int64), then one of each sequence, state (its initial value) and fixed value.
 * Outputs: the values of states and collected ones stacked along a new first axis, then last values of states, then,
 * with a condition, the number of steps taken.
 */
#ifndef DAMO_SCAN_H
#define DAMO_SCAN_H

#include "compile/inner.h"
#include "scan_schedule.h"

typedef enum scan_role {
  SCAN_SEQUENCE, /* step t reads row t of it */
  SCAN_STATE,    /* its next value is computed from its past ones */
  SCAN_FIXED,    /* the same in every step */
  SCAN_COLLECT   /* computed in every step, and read by none */
} scan_role;

#define SCAN_NO_LIMIT INT64_MAX /* number of steps of a loop that only its condition ends */

typedef struct scan_part {
  scan_role role;
  int32_t first, n; /* its inner inputs; a sequence and a state have one for each tap */
  /* The rows that the taps span. Sequence: row t + before + tap belongs to step t, and the last `span` rows belong to no
   * step of their own. State: taps reach `span` steps back. */
  int32_t before, span;
  int32_t out;    /* state, collected value: the inner output; -1 */
  int32_t stack;  /* the node's output with its values stacked; -1: none */
  int32_t last;   /* the node's output with its last value (of a state: the initial one after no step); -1: none */
  int32_t number; /* the script's output, counted from 1, for errors; 0: none */
  int64_t tail;   /* most rows of `stack`, the last ones; 0: all */
  bool bare;      /* state: the initial value is the state itself; else its first `span` rows are the past */
  bool update;    /* state: of a shared Variable, which is updated */
  damo_var *outer, *next; /* in a draft: operand of the node; value after the step, or the collected one */
} scan_part;

/* The class of a Scan, owned by its one Op. */
typedef struct scan_class {
  damo_obj obj;
  struct scan_class *link; /* the next class of the context */
  uint64_t hash;
  op_def def;
  damo_op *op; /* not counted */
  char *name;  /* the script's, or NULL */
  char *mode;  /* in which the inner graph is compiled, as text (compile/mode.c), or NULL */
  damo_fgraph *fgraph;
  damo_function *fn[2];
  damo_function *shapes; /* the shapes of the collected values; NULL: not compiled yet */
  bool *mutable_;        /* per inner input */
  bool *connected;       /* n_in * n_out */
  op_alias *updates;
  int32_t n_updates;
  int32_t n_seq, n_state, n_fixed, n_collect, n_parts, n_taps, n_in, n_out;
  scan_part *part; /* sequences, states, fixed values, collected ones */
  int32_t *tap;    /* of the inner inputs of sequences and states */
  bool until;
  bool flipped;    /* stacks have the value of step t in row n - 1 - t */
  bool derived;    /* made by a derivative from a Scan with the same updates */
  bool hands_back; /* the script that made it makes its updates */
  bool shapes_known;
  int64_t truncate; /* steps through which gradients go back; 0: all */
  int64_t checkpoint;
  /* Called after each step, if set: step of total (SCAN_NO_LIMIT: unknown). Its error ends the call. */
  damo_status (*progress)(struct scan_class *s, frame *f, int64_t step, int64_t total);
  void *user;
} scan_class;

/* A Scan in the making. Variables are borrowed, and must live as long as the draft. */
typedef struct scan_draft {
  build *b;
  scan_part *part;
  int32_t n_parts, parts_cap;
  int32_t *tap; /* of each inner input */
  int32_t taps_cap;
  ptrvec inner;              /* the Variables that stand for inner inputs: the parts' in their order */
  damo_var *n_steps, *until; /* until NULL: none */
  const char *name, *mode;
  /* Variables older than this that the inner graph reads are of outside: they become fixed values. */
  uint64_t mark;
  bool strict; /* a value error if there is one */
  bool flipped, derived, no_updates;
  bool hands_back; /* who makes the node makes the updates: a Function does not */
  int64_t truncate, checkpoint;
  damo_status (*progress)(scan_class *s, frame *f, int64_t step, int64_t total);
  void *user;
} scan_draft;

damo_status scan_register(damo_ctx *ctx);
/* The class of a Scan, NULL for any other Op. */
scan_class *scan_of(const damo_op *op);
/* The Function that a thunk of a Scan, or of the gradient of one, runs; NULL if it has not run yet, or if it is another Op's thunk. */
const damo_function *scan_running(const thunk *t, const frame *f);

void scan_draft_init(scan_draft *d, build *b);
void scan_draft_clear(scan_draft *d);
/* Each adds a part and returns it (NULL: memory error; valid until the next call). inner: one Variable a tap, or one. */
scan_part *scan_draft_sequence(scan_draft *d, damo_var *outer, int n_taps, const int32_t *taps, damo_var *const *inner);
scan_part *scan_draft_state(scan_draft *d, damo_var *initial, int n_taps, const int32_t *taps, damo_var *const *inner,
                            damo_var *next);
scan_part *scan_draft_fixed(scan_draft *d, damo_var *outer, damo_var *inner);
scan_part *scan_draft_collect(scan_draft *d, damo_var *value);
/* Leaves out the sequences and fixed values that nothing reads. */
damo_status scan_draft_prune(scan_draft *d);
/* The node, borrowed from the scope. What the inner graph reads of outside is found and added, and so are the states of
 * shared Variables that it updates. Afterwards the parts are as in the class, with the outputs numbered. NULL: the
 * scope has failed. */
damo_apply *scan_draft_node(scan_draft *d);

/* The node's output that is the number of steps taken; -1: none, it is the number given. */
static inline int scan_out_steps(const scan_class *s) { return s->until ? s->n_out - 1 : -1; }

/* The classes of Ops that derivatives of loops make, and how files have a Scan. Each list is ended by NULL. */
extern const op_def *const scan_classes[];
extern const op_recipe *const scan_recipes[];

/* vectorize.c: sets out[i] to outputs[i] with old[j] replaced by now[j] (borrowed from the scope), which may have
 * further leading axes: the results then have them too. The leading axes broadcast where they are statically 1, and a
 * result has as many as the most of a Variable that it depends on. Shares what depends on none. */
damo_status vectorize_graph(build *b, damo_var *const *outputs, int64_t n, damo_var *const *old, damo_var *const *now,
                            int64_t n_old, damo_var **out);

#endif
