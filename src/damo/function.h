/* function: the part of damo.h that compiles graphs and calls what that gives. */
#ifndef DAMO_PUBLIC_FUNCTION_H
#define DAMO_PUBLIC_FUNCTION_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* What happens for an input that no output depends on: an unused_input error, a warning, nothing. */
typedef enum damo_unused { DAMO_UNUSED_RAISE, DAMO_UNUSED_WARN, DAMO_UNUSED_IGNORE } damo_unused;
typedef struct damo_compile_options {
  size_t size;                              /* sizeof(damo_compile_options) */
  const char *name;                         /* the function's name in errors; NULL: "function" */
  const char *mode;                         /* "FAST_RUN" (NULL), "FAST_COMPILE", "DEBUG", "NANGUARD" */
  const char *optimizer;                    /* "fast_run", "fast_compile", "none"; NULL: the mode's */
  const char *include, *exclude;            /* more tags of rewrites, space-separated; NULL: none */
  damo_var *const *shared, *const *update;  /* shared[i] takes the value of update[i] after each successful call */
  int64_t n_updates;                        /* entries of both */
  damo_var *const *given, *const *given_as; /* every use of given[i] becomes given_as[i] */
  int64_t n_givens;                         /* entries of both */
  damo_obj *const *defaults;                /* a value for each input, or NULL; retained, not copied. NULL: none */
  const bool *mutable_inputs;               /* for each input: a call may overwrite the caller's array. NULL: none */
  const bool *strict_inputs;                /* for each input: values are not converted to its Type. NULL: none */
  const bool *borrow_outputs;               /* for each output: f keeps the array and may overwrite it later. NULL:
                                             * none */
  damo_unused on_unused_input;              /* 0: an error */
  bool allow_input_downcast;                /* arguments are cast even if that loses digits: float64 to float32 */
  bool no_default_updates;                  /* default updates of shared Variables, set by scripts, are left out */
  int threads;                              /* threads that one call may use; 0: those of the context's configuration */
  bool reproducible;                        /* results have the same bits on every machine, at some cost in speed; what
                                             * BLAS, LAPACK, SuiteSparse or C's library computes is not_implemented */
} damo_compile_options;

/* Compiles a Function, owned, that computes outputs from inputs. The graph is not changed; the Function keeps a copy of
 * what it needs. */
DAMO_API damo_function *damo_compile_with(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in,
                                          damo_var *const *outputs, int64_t n_out, const damo_compile_options *options);
/* The same with the options updates and mode only. */
DAMO_API damo_function *damo_compile(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                     int64_t n_out, damo_var *const *shared, damo_var *const *update, int64_t n_updates,
                                     const char *mode);
/* Another Function, owned, with the same compiled program and shared Variables but storage of its own. */
DAMO_API damo_function *damo_function_copy(const damo_function *f);
/* The same in another context, so that f and its copies may be called at the same time, each on its own thread.
 * Constants are shared. The values of shared Variables and the default values are copied; the copy reads and updates
 * its own. No other thread may use either context during this call. Arguments, results and errors of the copy belong to
 * the copy's context. f and the reference on f's context may be released before the copy, but as long as a thread uses
 * f's context, the host must keep a reference on it. A state error if an Op runs only in its own context (an Op of a
 * host or of a script), which the error names, or if f was compiled in the mode DEBUG or NANGUARD. */
DAMO_API damo_function *damo_function_copy_to(const damo_function *f, damo_ctx *ctx);
/* The value of a shared Variable that f reads or updates, as an owned array of f's context; a copy in another context
 * has its own value. NULL if f does not use the Variable, or if its value is sparse. */
DAMO_API damo_array *damo_function_shared_value(const damo_function *f, const damo_var *shared);
/* The state of f (its shared values, random streams and inputs with an update) as bytes, the same on every machine. *size
 * receives their number; dst, which has space for n, receives them, and NULL asks for the number alone. Allocates nothing
 * but for the first time. */
DAMO_API damo_status damo_function_snapshot(const damo_function *f, void *dst, size_t n, size_t *size);
/* Sets the state from a snapshot of f, or of a Function that was compiled from an equal graph; bytes behind it are
 * ignored. A value error, and nothing is changed, if it is of another Function or damaged. */
DAMO_API damo_status damo_function_restore(damo_function *f, const void *bytes, size_t n);
/* A program by name, for any context of the process. Writes a random name of 32 hexadecimal digits, and a final 0, for a
 * copy of f's program with the values that f's shared Variables and default values have now. The copy is of a context of
 * its own, outside of every memory cap, and is shared by all Functions of that name. The name holds as long as the
 * program of f or a Function made by it lives, or while it is pinned; for equal values f gives the same name again. A
 * state error if an Op runs only in its own context (an Op of a host or of a script), which the error names, or if f was
 * compiled in the mode DEBUG or NANGUARD. */
#define DAMO_TOKEN_SIZE 33
DAMO_API damo_status damo_function_token(damo_function *f, char token[DAMO_TOKEN_SIZE]);
/* A Function of ctx over the program of that name, with a frame, shared Variables and default values of its own, which
 * begin with the values that the token was made with. Contexts on any threads may do so at the same time, and call such
 * Functions. A state error if no program of this process has the name. */
DAMO_API damo_function *damo_from_token(damo_ctx *ctx, const char *token);
/* Keeps the program of that name, whether or not there are Functions over it, until each pin is taken away again. A state
 * error if no program has the name, or if there is no pin to take away. */
DAMO_API damo_status damo_token_pin(damo_ctx *ctx, const char *token);
DAMO_API damo_status damo_token_unpin(damo_ctx *ctx, const char *token);
/* Sets the allocator that the programs of tokens take their memory from, instead of malloc: once in a process, before the
 * first token is made, else a state error (there is no context to hold it). It is called on any thread that makes a
 * token or drops the last Function of a program. */
DAMO_API damo_status damo_token_set_allocator(damo_alloc_fn alloc, void *user);
/* Shared Variable number i (from 0) of those that f reads or updates, in f's order, owned; NULL past the last. A Function
 * made by a token, and a copy in another context, have shared Variables of their own, of their context. */
DAMO_API damo_var *damo_function_shared_var(const damo_function *f, int64_t i);
/* The number of inputs and outputs that f was compiled with. */
DAMO_API int64_t damo_function_n_inputs(const damo_function *f);
DAMO_API int64_t damo_function_n_outputs(const damo_function *f);

/* Calls f. results receives an owned array for each output. For a NULL argument, and for inputs from n_args on, the
 * default value is used; missing_input if there is none. If the call fails, no shared Variable has changed. A type
 * error if an output is sparse: use damo_function_call_values. */
DAMO_API damo_status damo_function_call(damo_function *f, damo_array *const *args, int64_t n_args,
                                        damo_array **results);
/* The same with arguments and results that are arrays or sparse matrices, cast to damo_obj *; damo_as_array and
 * damo_as_sparse distinguish them. */
DAMO_API damo_status damo_function_call_values(damo_function *f, damo_obj *const *args, int64_t n_args,
                                               damo_obj **results);
/* The same, writing the results into objects of the host. into[i] is an array of result i's dtype and shape, or a
 * matrix of its format, dtypes and shape, which nothing else may hold and which takes on the result's pattern; if it is
 * NULL, the result is discarded. Arguments may overlap targets; the results are the same as without overlap. If the
 * call fails, arrays may have been written in part; matrices are unchanged. */
DAMO_API damo_status damo_function_into(damo_function *f, damo_obj *const *args, int64_t n_args, damo_obj *const *into);

/* A call cut into slices: begins a call of f, whose arguments are kept until its end and not written by damo meanwhile
 * (memory of the host is the host's care). It reads shared values as they are now. Owned; damo_release cancels what has
 * not ended. NULL on failure. f may be called meanwhile. */
typedef struct damo_run damo_run;
DAMO_API damo_run *damo_call_begin(damo_function *f, damo_array *const *args, int64_t n_args);
/* Goes on for about `us` microseconds, at least by one piece; negative: to the end. *done: the call has ended and its
 * updates are committed. A state error if a shared Variable that it updates was set since damo_call_begin; nothing is
 * committed then, nor after any other error. After a memory error the next step begins the call again. */
DAMO_API damo_status damo_call_step(damo_run *run, double us, bool *done);
/* After the end: results receives an owned array for each output; a state error before. */
DAMO_API damo_status damo_call_result(damo_run *run, damo_array **results);
/* Ends a call that has not ended; nothing is committed. */
DAMO_API damo_status damo_call_cancel(damo_run *run);
/* Begins the next call of the same Function, without allocating; cancels one that has not ended. */
DAMO_API damo_status damo_call_restart(damo_run *run, damo_array *const *args, int64_t n_args);

#ifdef __cplusplus
}
#endif

#endif
