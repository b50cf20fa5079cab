/* compile: from a graph to a Function.
 *
 * In: input and output Variables, updates, givens, a mode. Out: a damo_function that is called again and again. Always
 * holds: the user's graph is never changed (everything works on a copy); a call is atomic: shared values change only
 * when the whole call has succeeded; the same graph gives the same program each time.
 */
#ifndef DAMO_COMPILE_H
#define DAMO_COMPILE_H

#include "graph/graph.h"
#include "vm/vm.h"

typedef struct in_spec {
  damo_var *var;
  const char *name; /* NULL: the Variable's */
  damo_obj *value;  /* default value, or NULL */
  damo_var *update; /* new default value after each call, or NULL */
  bool mutable_;    /* the caller's value may be overwritten */
  bool borrow, strict;
} in_spec;

typedef struct out_spec {
  damo_var *var;
  const char *name; /* or NULL */
  bool borrow;      /* the result is valid until the next call only */
} out_spec;

typedef enum unused_mode { UNUSED_RAISE, UNUSED_WARN, UNUSED_IGNORE } unused_mode;

typedef struct compile_options {
  damo_var *const *update_of, *const *update_to; /* shared Variables and their new values */
  int64_t n_updates;
  damo_var *const *given, *const *given_as; /* givens: every use of given[i] becomes given_as[i] */
  int64_t n_givens;
  const char *mode;                        /* "FAST_RUN" (NULL), "FAST_COMPILE", or a watcher's */
  const char *optimizer;                   /* compile_optimizers; NULL: the mode's */
  const char *include, *exclude, *require; /* further rewrite tags */
  damo_var *const *no_recycling; /* Variables whose cells must be empty before each call (of the user's graph) */
  int64_t n_no_recycling;
  const char *name;
  unused_mode on_unused_input;
  bool allow_input_downcast;
  bool no_default_updates;
} compile_options;

/* The names, NULL-terminated, that the option takes. */
extern const char *const compile_optimizers[]; /* fast_run fast_compile none */

typedef struct fn_program fn_program;

typedef struct fn_input {
  damo_var *var; /* the user's Variable, owned (its name and Type) */
  char *name;    /* or NULL */
  int32_t cell;  /* -1: unused */
  bool strict, mutable_;
  bool destroyed; /* a thunk overwrites it: only where it is mutable */
} fn_input;

/* copy: the cell is an input's, a shared value's, a constant's, a view, or serves another result too. Then the result
 * is a copy, made before anything shared changes. */
#define FN_ALONG_MOST 3

typedef struct fn_output {
  damo_type *type;
  char *name; /* or NULL */
  int32_t cell;
  const thunk *maker; /* what writes the cell, NULL for leaves */
  int32_t maker_index;
  bool borrow, copy;
  bool twice;     /* an output before this one, or an update, has the same cell */
  int8_t n_along; /* without copy: cells that share the value's buffer, which are emptied when it is taken */
  int32_t along[FN_ALONG_MOST];
} fn_output;

/* Two further outputs of a companion's fgraph, behind results and updates, that its watcher compares. They are computed
 * only when they are asked for (vm_run_for), or where a result needs them. */
typedef struct fn_pair {
  char *name;
  int32_t first_cell, second_cell;
} fn_pair;

typedef struct fn_shared {
  damo_var *var;       /* owned; NULL for an input with an update */
  int32_t input;       /* that input, -1 */
  int32_t cell;        /* where its value is read; -1: only written */
  int32_t update_cell; /* -1: only read */
  bool copy;           /* as fn_output.copy */
} fn_shared;

/* What compiling leaves: nothing in it changes any more, so that Functions share it (function_copy), those of other
 * contexts too, which touch no count in it but refs. Its memory is of ctx, which compiled it. */
struct fn_program {
  ctx_lent lent; /* first; counts the Functions that hold it */
  damo_ctx *ctx;
  vm_program vm;
  damo_fgraph *fgraph;              /* after rewriting */
  const struct fn_watcher *watcher; /* of the mode; NULL: it has none */
  char *name;                       /* or NULL */
  fn_input *inputs;                 /* n_inputs */
  fn_output *outputs;               /* n_outputs */
  fn_shared *shared;                /* n_shared: shared Variables read or updated, and inputs with an update */
  fn_pair *pairs;                   /* n_pairs, of a companion */
  damo_var **fresh;                 /* n_fresh, of fgraph: what thunks are told to recycle nothing of */
  damo_var **no_recycling;          /* owned, of fgraph: their cells are emptied after each call */
  int64_t n_inputs, n_outputs, n_shared, n_pairs, n_fresh, n_no_recycling;
  bool allow_downcast;
};

/* What a call changes of a shared Variable or an input with an update. */
typedef struct fn_update {
  damo_obj *staged; /* the new value between run and commit, when copied */
  damo_obj *spare;  /* an earlier value, written again when nobody holds it */
  damo_obj *value;  /* in another context than the program's: the Function's own value of the shared Variable */
} fn_update;

/* A program and what calls of it change. One call at a time. */
struct damo_function {
  damo_obj obj;
  const fn_program *program; /* counted; an empty one once the Function is freed */
  vm_frame frame;
  damo_obj **defaults;      /* n_inputs: default values, or NULL */
  damo_obj **staged;        /* n_outputs: copies of results between run and take */
  fn_update *updates;       /* n_shared */
  void *watch_state;        /* the watcher's, let go by its clear */
  damo_function *companion; /* what the watcher computes beside this Function (compile_companion), or NULL */
  bool lends;               /* results stay in their cells too, as with borrow, but those that must be copied */
  bool running;             /* a call is under way: another is a state error */
  bool freed;
  uint64_t n_calls;
};

/* ---- Modes that watch -------------------------------------------------------------------------------------------- */

/* One compilation while it goes on. */
typedef struct compile_job compile_job;

/* A mode that looks at a Function while it is compiled and while it is called. compile knows it by these functions
 * alone; one that is NULL has nothing to do. */
typedef struct fn_watcher {
  const char *mode;
  /* fg is about to be rewritten: *kept becomes what the watcher wants to know of it later. */
  damo_status (*begin)(compile_job *j, damo_fgraph *fg, void **kept);
  /* f is compiled from the rewritten graph (NULL: that failed). Lets go what begin kept. */
  damo_status (*finish)(compile_job *j, void *kept, damo_function *f);

  /* A call: its arguments and shared values are in the cells; nothing has run yet. */
  damo_status (*prepare)(damo_function *f, damo_obj *const *args, int64_t n_args);
  /* Runs the thunk in the place of t->run(t, f); vf->step_user is the Function. */
  damo_status (*step)(vm_frame *vf, const thunk *t);
  /* All thunks have run, nothing is committed. */
  damo_status (*compare)(damo_function *f);
  /* The run failed with s: the status that the call fails with, whose error is pending. */
  damo_status (*explain)(damo_function *f, damo_status s);
  /* The Function goes: frees f->watch_state. */
  void (*clear)(damo_function *f);

  bool watches_inner; /* Ops that hold a graph run that in the mode too (frame.watched) */
  bool keeps_results; /* thunks write into no array of the caller's: compare must find what they read */
} fn_watcher;

/* The one of that mode, NULL: the mode has none, or there is no such mode. */
const fn_watcher *compile_watcher(const damo_ctx *ctx, const char *mode);
/* For finish: another Function of the same inputs, outputs and updates, over a graph of its own, whose outputs past
 * these are n_pairs pairs of those names. fresh: its Variables that no_recycling holds for. It has no watcher. */
damo_function *compile_companion(compile_job *j, damo_fgraph *graph, const ptrvec *fresh, char *const *pair_names,
                                 int64_t n_pairs);
/* The Variables of the graph being compiled that no_recycling names, borrowed. */
const ptrvec *compile_fresh(const compile_job *j);

/* Modes are known by name from here on: FAST_RUN, FAST_COMPILE and those of the watchers (NULL-terminated, static). */
damo_status compile_register(damo_ctx *ctx, const fn_watcher *const *watchers);
damo_function *compile_function(damo_ctx *ctx, const in_spec *in, int64_t n_in, const out_spec *out, int64_t n_out,
                                const compile_options *options);

/* The script's reference to a sparse target and the one that the call holds. */
#define FN_TARGET_HOLDERS 2

/* One call in three steps, for who wants to read 0-d results without owning them. function_run converts and checks the
 * borrowed args (NULL entries: defaults), runs, and commits updates; on failure nothing shared has changed and the call
 * is over. into (may be NULL, entries too): caller's arrays and sparse matrices that results are written to; a matrix
 * takes the result's pattern too, and may have FN_TARGET_HOLDERS references besides f's own. After success every output
 * is peeked at or taken, then function_finish ends the call. */
damo_status function_run(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into);
damo_obj *function_peek(const damo_function *f, int64_t i); /* borrowed until function_finish */
damo_obj *function_take(damo_function *f, int64_t i);       /* owned; once */
void function_finish(damo_function *f);

/* The first step of function_run: converts the arguments and loads them and shared values into cells. copy_mutable: what
 * the call may overwrite is copied. */
damo_status function_load(damo_function *f, damo_obj *const *args, int64_t n_args, bool copy_mutable);
const char *function_name(const damo_function *f);

/* The three in one: results receives owned references (n_outputs); with into the result is that array. */
damo_status function_call(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into,
                          damo_obj **results);
/* Another Function of the same program and shared Variables with a frame of its own. */
damo_function *function_copy(const damo_function *f);
/* The same in another context: it may then be called in another thread than f. Its shared values and defaults are copies
 * and its own from here on. Neither context is in use by another thread meanwhile. A state error that names the Op where
 * one can run only in f's context, as an Op of a host or of a script. */
damo_function *function_copy_to(const damo_function *f, damo_ctx *ctx);
/* The value of program->shared[i], a shared Variable, that f reads: the Variable's, in another context than the
 * program's f's own. Borrowed. */
static inline damo_obj *function_shared(const damo_function *f, int64_t i) {
  return f->obj.ctx == f->program->ctx ? f->program->shared[i].var->value : f->updates[i].value;
}
/* Lets program and frame go now; later calls are state errors. A running Function is a state error. */
damo_status function_free(damo_function *f);

#endif
