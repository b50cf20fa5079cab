/* compile: from a graph to a Function.
 *
 * In: input and output Variables, updates, givens, a mode. Out: a damo_function. Always holds: the user's graph is
 * never changed, since compiling works on a copy; a call is atomic, that is, shared values change only if the whole
 * call succeeds; the same graph gives the same program each time.
 */
#ifndef DAMO_COMPILE_H
#define DAMO_COMPILE_H

#include "graph/graph.h"
#include "profile.h"
#include "vm/vm.h"

typedef struct in_spec {
  damo_var *var;
  const char *name; /* NULL: the Variable's */
  damo_obj *value;  /* default value, or NULL */
  damo_var *update; /* new default value after each call, or NULL */
  bool mutable_;    /* the caller's value may be overwritten */
  bool strict;
} in_spec;

typedef struct out_spec {
  damo_var *var;
  const char *name; /* or NULL */
  bool borrow;      /* the Function keeps the value too; a later call overwrites it if nothing else holds it */
} out_spec;

typedef enum unused_mode { UNUSED_RAISE, UNUSED_WARN, UNUSED_IGNORE } unused_mode;

typedef struct compile_options {
  damo_var *const *update_of, *const *update_to; /* shared Variables and their new values */
  int64_t n_updates;
  damo_var *const *given, *const *given_as; /* givens: every use of given[i] becomes given_as[i] */
  int64_t n_givens;
  const char *mode;                        /* "FAST_RUN" (NULL), "FAST_COMPILE", or a watcher's */
  const char *optimizer;                   /* a name of compile_optimizers; NULL: the mode's */
  const char *include, *exclude, *require; /* further rewrite tags */
  damo_var *const *no_recycling; /* Variables of the user's graph whose cells must be empty before each call */
  int64_t n_no_recycling;
  const char *name;
  unused_mode on_unused_input;
  bool allow_input_downcast;
  bool no_default_updates;
  bool reproducible; /* results have the same bits on every machine */
  bool no_jit;       /* no machine code; FAST_COMPILE and modes with a watcher make none anyway */
  bool profile;      /* the program keeps a fn_report, its Functions a fn_profile */
  int threads;       /* of the Function's calls; 0: the context's */
} compile_options;

/* The values of compile_options.optimizer, NULL-terminated. */
extern const char *const compile_optimizers[]; /* fast_run fast_compile none */

typedef struct fn_program fn_program;
typedef struct token_group token_group; /* token.c */

typedef struct fn_input {
  damo_var *var; /* the user's Variable, owned, for its name and Type */
  char *name;    /* or NULL */
  int32_t cell;  /* -1: unused */
  bool strict, mutable_;
  bool destroyed; /* a thunk overwrites it; implies mutable_ */
} fn_input;

/* Most cells of fn_output.along. */
#define FN_ALONG_MOST 3

/* One result. copy: it is copied before anything shared changes, because its cell belongs to an input, a shared value
 * or a constant, holds a view, or holds another result too. */
typedef struct fn_output {
  damo_type *type;
  char *name; /* or NULL */
  int32_t cell;
  const thunk *maker; /* what writes the cell, NULL for leaves */
  int32_t maker_index;
  bool borrow, copy;
  bool twice;     /* an earlier output, or an update, has the same cell */
  int8_t n_along; /* if not copy: cells in `along`, which share the value's buffer and are emptied with it */
  int32_t along[FN_ALONG_MOST];
} fn_output;

/* Two outputs of a companion's fgraph, behind its results and updates, whose values a watcher compares. They are only
 * computed on request (vm_run_for), or if a result needs them. */
typedef struct fn_pair {
  char *name;
  int32_t first_cell, second_cell;
} fn_pair;

typedef struct fn_shared {
  damo_var *var;       /* owned; NULL for an input with an update */
  int32_t input;       /* number of that input; -1: a shared Variable */
  int32_t cell;        /* cell that holds its value during a call; -1: it is only written */
  int32_t update_cell; /* cell of its new value; -1: it is only read */
  bool copy;           /* as in fn_output */
} fn_shared;

/* The result of compiling. It does not change any more, so Functions share it (function_copy), those of other contexts
 * too: these touch no reference count in it but the one in `lent`. Its memory belongs to ctx, the context that compiled
 * it. */
struct fn_program {
  ctx_lent lent; /* the first member; counts the Functions that hold the program */
  damo_ctx *ctx;
  vm_program vm;
  damo_fgraph *fgraph;              /* after rewriting */
  const struct fn_watcher *watcher; /* the mode's; NULL: none */
  char *name;                       /* or NULL */
  fn_input *inputs;                 /* n_inputs */
  fn_output *outputs;               /* n_outputs */
  fn_shared *shared;                /* n_shared: shared Variables read or updated, and inputs with an update */
  fn_pair *pairs;                   /* n_pairs, of a companion */
  damo_var **fresh;                 /* n_fresh Variables of fgraph, passed to thunks as thunk_request.no_recycling */
  damo_var **no_recycling;          /* n_no_recycling owned Variables of fgraph; each call empties their cells */
  int64_t n_inputs, n_outputs, n_shared, n_pairs, n_fresh, n_no_recycling;
  /* What was compiled, in the user's own Variables with the givens in place: the outputs, then the new value of each of
   * source_targets, shared Variables and inputs. Owned; empty in a companion. */
  damo_var **source, **source_targets;
  int64_t n_source, n_source_targets;
  /* The rules that rewrote it: a name of compile_optimizers, and further tags, or NULL. */
  const char *optimizer;
  char *include, *exclude, *require;
  char *inner_mode;     /* as text, of Ops that hold a graph and name none; NULL: FAST_RUN */
  uint64_t fingerprint; /* of all that snapshots depend on; 0: not computed (program_fingerprint) */
  bool allow_downcast;
  int threads;       /* 0: those of the call that this one is inside, or of the context */
  bool no_jit;       /* frames of the program have no_jit */
  bool reproducible; /* made, and run, with damo_ctx.reproducible */
  fn_report *report; /* how it was compiled; NULL: without profile */
  /* The names of a copy of it (guarded by the lock of the process); if `named`, its own, and Functions hold the group. */
  token_group *group;
  bool named;
};

/* The state of one entry of program->shared that calls change. */
typedef struct fn_update {
  damo_obj *staged; /* if copied: the new value between run and commit */
  damo_obj *spare;  /* an earlier value, overwritten by the next copy if nothing else holds it */
  damo_var *var;    /* in another context than the program's: this Function's own shared Variable, owned */
} fn_update;

/* A program and the data that its calls change. One call at a time. */
struct damo_function {
  damo_obj obj;
  const fn_program *program; /* held by a count; an empty program once the Function is freed */
  vm_frame frame;
  damo_obj **defaults;      /* n_inputs: default values, or NULL */
  damo_obj **staged;        /* n_outputs: copies of results, from the end of a run until they are taken */
  fn_update *updates;       /* n_shared */
  damo_obj **seen;          /* of a run: n_shared borrowed values, which it reads for the shared ones; NULL otherwise */
  void *watch_state;        /* data of the watcher, freed by its clear */
  fn_profile *profile;      /* NULL: nothing is counted */
  damo_function *companion; /* a Function that the watcher runs beside this one (compile_companion), or NULL */
  damo_fgraph *graph;       /* in another context than the program: its graph, and the Variables of the inputs, as */
  damo_var **vars;          /* objects of this one; NULL until they are asked for (function_fgraph, function_input) */
  bool lends;               /* results that are not copied stay in their cells too, as with borrow */
  bool running;             /* during a call: another call is then a state error */
  bool freed;
  uint64_t n_calls;
};

/* ---- Watchers ---------------------------------------------------------------------------------------------------- */

/* The state of one compilation. */
typedef struct compile_job compile_job;

/* A mode that observes a Function while it is compiled and called, such as DEBUG or NANGUARD. compile/ knows a watcher
 * by these callbacks alone; any of them may be NULL. */
typedef struct fn_watcher {
  const char *mode;
  /* Called before fg is rewritten. *kept is passed on to finish. */
  damo_status (*begin)(compile_job *j, damo_fgraph *fg, void **kept);
  /* Called after f has been compiled from the rewritten graph (f NULL: that failed). Frees `kept`. */
  damo_status (*finish)(compile_job *j, void *kept, damo_function *f);

  /* Called before the thunks of a call run; arguments and shared values are in the cells. */
  damo_status (*prepare)(damo_function *f, damo_obj *const *args, int64_t n_args);
  /* Called instead of t->run(t, f) to run each thunk; vf->step_user is the Function. */
  damo_status (*step)(vm_frame *vf, const thunk *t);
  /* Called after all thunks have run, before anything is committed. */
  damo_status (*compare)(damo_function *f);
  /* Called after a run has failed with s and a pending error. Returns the status of the call, with its error
   * pending. */
  damo_status (*explain)(damo_function *f, damo_status s);
  /* Frees f->watch_state. */
  void (*clear)(damo_function *f);

  const char *leaves_out; /* tags of rules that the mode runs without, space-separated; NULL: none */
  bool watches_inner;     /* Ops that hold a graph run that graph in this mode too (frame.inner_mode) */
  bool keeps_results;     /* thunks must not write into the caller's arrays, because compare reads the inputs again */
} fn_watcher;

/* The watcher of that mode; NULL: the mode has none, or there is no such mode. */
const fn_watcher *compile_watcher(const damo_ctx *ctx, const char *mode);
/* Called by a watcher's finish: compiles another Function with the same inputs, outputs and updates over `graph`, whose
 * further outputs are n_pairs pairs with these names. fresh: the Variables of `graph` that no_recycling applies to. The
 * Function has no watcher. NULL on failure. */
damo_function *compile_companion(compile_job *j, damo_fgraph *graph, const ptrvec *fresh, char *const *pair_names,
                                 int64_t n_pairs);
/* The Variables of the graph being compiled to which no_recycling applies, borrowed. */
const ptrvec *compile_fresh(const compile_job *j);

/* Registers the modes FAST_RUN, FAST_COMPILE and those of the watchers (a static list, NULL-terminated). */
damo_status compile_register(damo_ctx *ctx, const fn_watcher *const *watchers);
/* Drops the graphs that are remembered, by which an equal graph is compiled again without being rewritten (memo.h). */
void compile_forget(damo_ctx *ctx);
/* Drops those that config.memo_cap and the memory cap do not allow. */
void compile_fit_memo(damo_ctx *ctx);
/* How many graphs are remembered, how often one was found, and the bytes that they take. */
void compile_memo(const damo_ctx *ctx, int64_t *graphs, int64_t *hits, size_t *bytes);
/* `now` as a new value for `target`, borrowed from b: itself, or cast where the cast loses nothing; NULL with a type
 * error by `func` if the Types do not fit. A weak literal first takes its dtype from the target. what: "update" or
 * "given value". */
damo_var *compile_fit_value(build *b, const char *func, damo_var *target, damo_var *now, const char *what);
/* A mode as text (mode.c). Writes o's: its name, optimizer, include, exclude, require and no_jit. */
void compile_mode_text(const compile_options *o, strbuf *out);
typedef struct mode_words {
  char *at;
  size_t bytes;
} mode_words;
/* Sets what the text says of o, to parts of *own, which the caller frees, on failure too. A value error by `func` if it is
 * no mode's. */
damo_status compile_read_mode_text(damo_ctx *ctx, const char *func, const char *text, compile_options *o,
                                   mode_words *own);
void compile_free_mode_words(damo_ctx *ctx, mode_words *own);
/* A value error by `func` if it is no mode's, or there is no mode, optimizer or rule of a name in it. */
damo_status compile_check_mode(damo_ctx *ctx, const char *func, const char *text);
damo_function *compile_function(damo_ctx *ctx, const in_spec *in, int64_t n_in, const out_spec *out, int64_t n_out,
                                const compile_options *options);

/* References to a sparse target during a call from Lua: the script's and the call's own. */
#define FN_TARGET_HOLDERS 2

/* Between the two f's context runs in f's mode (damo_ctx.reproducible): around all that makes or runs f's thunks. */
static inline bool function_enter_mode(const damo_function *f) {
  const bool outer = f->obj.ctx->reproducible;
  if (outer != f->program->reproducible) ctx_set_reproducible(f->obj.ctx, !outer);
  return outer;
}
static inline void function_leave_mode(const damo_function *f, bool outer) {
  if (outer != f->obj.ctx->reproducible) ctx_set_reproducible(f->obj.ctx, outer);
}

/* A call in three steps, for callers that read results (0-d ones) without owning them. function_run converts and checks
 * the borrowed args (NULL entries: default values), runs the thunks and commits the updates; on failure no shared value
 * has changed and the call is over. into (may be NULL, entries too): arrays and sparse matrices of the caller that
 * results are written into; a matrix takes on the result's pattern, and may have FN_TARGET_HOLDERS references besides
 * f's own. After success each output is peeked at or taken, then function_finish ends the call. */
damo_status function_run(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into);
damo_obj *function_peek(const damo_function *f, int64_t i); /* borrowed until function_finish */
damo_obj *function_take(damo_function *f, int64_t i);       /* owned; at most once per call */
void function_finish(damo_function *f);

/* Whether f's calls with 0-d Arrays of the inputs' dtypes may be made by function_run_scalars: all inputs and results are
 * 0-d, and nothing is updated, overwritten, viewed or observed. */
bool function_takes_scalars(const damo_function *f);
/* A whole call of such a Function, without a step for what it has not: args, one an input, are of its Type; results, one
 * an output, are read from the cells. f must be neither running nor freed, and have no profile. */
damo_status function_run_scalars(damo_function *f, damo_array *const *args, scalar *results);

/* direct.c: how a Function of one node is called without the frame's cells: which of the inputs and results the node's
 * operands are. */
#define FN_DIRECT_MOST 16 /* operands */
typedef struct fn_direct {
  const thunk *t; /* NULL: there is no such way */
  bool doubles;   /* all inputs and results are 0-d float64: function_run_at */
  bool again;     /* function_run_again */
  int8_t n_operands;
  int8_t place[FN_DIRECT_MOST]; /* among the Function's inputs and, after them, its results; -1: a constant */
} fn_direct;
fn_direct function_direct(const damo_function *f);
/* A whole call on numbers: their addresses are those of the inputs' and the results' memory, of their dtypes; a result's may
 * be an input's. False, and nothing was done: there is no code (yet), or the call needs more than it, such as a look
 * whether it must end. */
bool function_run_at(damo_function *f, const fn_direct *d, char *const *numbers);
/* A whole call on Arrays of the dtypes, shapes and strides of the last one. args: one an input, borrowed. results: one an
 * output, to be written into, borrowed; an entry that is NULL is set to a new Array, or of a 0-d output to the frame's,
 * borrowed until the next call. False, and nothing was written: as above, or Arrays overlap, or are others than those of
 * the last call. */
bool function_run_again(damo_function *f, const fn_direct *d, damo_array *const *args, damo_array **results);

/* A call cut into slices (run.c): a Function of its own over f's program, whose updates go to f. */
/* A run of f, not begun yet. into: as in function_run, for all its calls; written in the last step. NULL on failure. */
damo_run *fn_run_new(damo_function *f, damo_obj *const *into);
/* Begins a call with borrowed args, which are kept until its end; cancels one that is under way. f's shared values and
 * default values are those of now. On failure nothing is under way. */
damo_status fn_run_begin(damo_run *r, damo_obj *const *args, int64_t n_args);
/* Goes on for about that many nanoseconds, at least by a piece; negative: to the end. *ended: the call has ended and its
 * updates are committed; later steps do nothing. On failure the call is over and nothing has changed, but after a memory
 * error the next step begins it again. */
damo_status fn_run_step(damo_run *r, int64_t ns, bool *ended);
/* After the end: the value of output i, borrowed until the next fn_run_begin. NULL: a state error. */
damo_obj *fn_run_result(const damo_run *r, int64_t i);
damo_status fn_run_check_ended(const damo_run *r);
/* Ends a call under way; no effect on others. A state error inside of its own step. */
damo_status fn_run_cancel(damo_run *r);
/* The Function that r runs, in which nobody else calls, and the one whose call it makes. Borrowed. */
damo_function *fn_run_own(const damo_run *r);
damo_function *fn_run_of(const damo_run *r);
void fn_run_register(damo_ctx *ctx);
/* A type error for more arguments than f has inputs. */
damo_status function_check_count(const damo_function *f, int64_t n_args);

/* The first step of function_run: converts the arguments and loads them and the shared values into cells. copy_mutable:
 * inputs that the call may overwrite are copied. */
damo_status function_load(damo_function *f, damo_obj *const *args, int64_t n_args, bool copy_mutable);
const char *function_name(const damo_function *f);
/* Makes f, which has no profile, count its calls from now on. */
damo_status function_profile(damo_function *f);

/* The three steps in one. results[0..n_outputs) receives owned references; an output with a target in `into` gives that
 * target. */
damo_status function_call(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into,
                          damo_obj **results);
/* Another Function with the same program and shared Variables and a frame of its own. A state error if f was freed. */
damo_function *function_copy(const damo_function *f);
/* The same in another context, so that it may be called on another thread than f. Its shared Variables and default values
 * are copies, which are its own from then on. During this call neither context may be in use on another thread. A state
 * error if f was freed, has a watcher, or has an Op that only runs in f's context (a host's or a script's), which the
 * error names. */
damo_function *function_copy_to(const damo_function *f, damo_ctx *ctx);
/* The program's graph, and the Variable of input i, as objects of f's context, borrowed: copies if f is in another
 * context than the program. NULL on failure. */
damo_fgraph *function_fgraph(damo_function *f);
damo_var *function_input(damo_function *f, int64_t i);
/* A Function of c's context over a copy of f's program, which has nothing in common with f's (owned). Nothing of f's
 * context changes. A state error of c's context if an Op runs only in its own, or if f has a watcher. */
damo_function *function_transfer(graph_copier *c, const damo_function *f);
/* The shared Variable program->shared[i], or f's own in its place if f is in another context than the program; NULL for
 * an input with an update. Borrowed. */
static inline damo_var *function_shared_var(const damo_function *f, int64_t i) {
  return f->obj.ctx == f->program->ctx ? f->program->shared[i].var : f->updates[i].var;
}
/* Its value, borrowed. */
static inline damo_obj *function_shared(const damo_function *f, int64_t i) { return function_shared_var(f, i)->value; }
/* ---- Programs by name (token.c) ---------------------------------------------------------------------------------- */

#define TOKEN_LENGTH 32 /* hexadecimal digits */
typedef damo_ctx *(*token_ctx_fn)(damo_alloc_fn alloc, void *user);
/* Writes a name for a copy of f's program with the values that f has now, TOKEN_LENGTH + 1 characters: the one given for
 * equal values before, or a new one. new_ctx makes the context that the copy is in. form: a text for whoever makes a
 * Function by that name. A state error if f was freed, has a watcher or an Op that runs only in its own context. */
damo_status function_token(const damo_function *f, token_ctx_fn new_ctx, const char *form, char *name);
/* A Function in ctx over the program of that name, with a frame and values of its own. *form (may be NULL): the text,
 * valid as long as the Function lives. A state error if there is none. */
damo_function *function_from_token(damo_ctx *ctx, const char *name, const char **form);
/* Adds a pin, or takes one away. */
damo_status token_pin(damo_ctx *ctx, const char *name, bool pinned);
/* False: there is one already, or there are tokens. */
bool token_set_allocator(damo_alloc_fn alloc, void *user);

/* Where a program has a value. */
typedef struct fn_place {
  int32_t thunk, output; /* number of the thunk that computes it, and which output it is; -1: a leaf */
  int32_t cell;
  damo_obj *constant; /* of a constant: its value, borrowed; else NULL */
} fn_place;

/* A Function for function_probe alone, and the places in its program of n Variables: those of f's graph after rewriting,
 * f's inputs and shared Variables, and Variables of the graph that f was compiled from whose copy, or what has replaced
 * that, is still computed. It is over f's program where that has them all in cells; where some are inside of a Loop, over
 * the program that the same graph has without fusion, which computes the same bits (but for a product whose epilogue had
 * cut it into blocks of rows). NULL on failure: a value error for a Variable that neither computes. */
damo_function *function_probe_new(const damo_function *f, damo_var *const *vars, int64_t n, fn_place *places);
/* Runs the program of g, made by function_probe_new of f, with f's default values and the shared values as they are,
 * and copies n values of it into results (owned). Updates nothing. */
damo_status function_probe(damo_function *g, const damo_function *f, const fn_place *places, int64_t n,
                           damo_obj *const *args, int64_t n_args, damo_obj **results);
/* The state of f, its shared values, random streams and inputs with an update, as bytes. *size: how many it takes. dst,
 * which has space for n, receives them; NULL: they are only counted. A state error if f is freed or running, a type error
 * for a value that is neither an array nor a sparse matrix. Allocates nothing but for the first time. */
damo_status function_snapshot(const damo_function *f, void *dst, size_t n, size_t *size);
/* Sets the state from a snapshot of f, or of a Function that was compiled from an equal graph with equally named inputs
 * and shared Variables; bytes behind it are ignored. A value error, and nothing is changed, if it is of another Function
 * or damaged. */
damo_status function_restore(damo_function *f, const void *bytes, size_t n);
/* Frees what f keeps for calls with other shapes than the last one's. A state error if f was freed or is running. */
damo_status function_trim(damo_function *f);
/* Releases program and frame at once; later calls are state errors. So is freeing a Function that is running. */
damo_status function_free(damo_function *f);

#endif
