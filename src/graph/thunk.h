/* thunk.h: a node made runnable, and the frame of a call.
 *
 * A thunk does not change once it is made: its node, the slots of its inputs and outputs, its run function. A frame
 * holds what calls change, one call at a time: the values in the slots (cells), and the data of each thunk that lives
 * between runs (thunk_local). A run function gets both, and reads and writes the frame through the functions below
 * alone.
 */
#ifndef DAMO_GRAPH_THUNK_H
#define DAMO_GRAPH_THUNK_H

#include "array/array.h"

typedef struct thunk thunk;
typedef struct frame frame;
typedef struct thunk_request thunk_request;

/* A cell holds one value, NULL when empty, and owns a reference. */
typedef damo_obj *cell;

typedef damo_status (*thunk_run_fn)(const thunk *t, frame *f);
typedef void (*thunk_clear_fn)(const thunk *t, frame *f);

struct thunk {
  thunk_run_fn run; /* called as t->run(t, f) */
  damo_apply *node; /* owned */
  int32_t n_in, n_out;
  const int32_t *in, *out; /* slots: the value of input i is f->cells[in[i]] */
  int32_t number;          /* index of its thunk_local in a frame */
  const char *impl;        /* "c" or "lua": the implementation it was made by */
};

/* The data that a frame keeps for one thunk. */
typedef struct thunk_local {
  void *state; /* op_def.state_size bytes, zeroed when the frame is made */
  void *scratch;
  size_t scratch_size;
  size_t transient; /* of a profiled frame: the most bytes that the last run held and let go, beside its results */
  thunk_run_fn run; /* set by the Op's make_thunk */
  void *user;       /* data of the Op's make_thunk, freed by user_clear */
  thunk_clear_fn user_clear;
  bool lazy;
  int32_t n_need;     /* lazy: number of inputs that the last run asked for; 0: done */
  int32_t *need;      /* lazy: the 0-based numbers of these inputs; space for n_in */
  uint8_t *in_ready;  /* lazy: 1 for each input that has its value, set before each run. Others may hold old ones */
  uint8_t *out_fixed; /* NULL, or per output: the cell holds a caller's array, to be written into (f:into) */
} thunk_local;

struct frame {
  damo_ctx *ctx; /* context of a run's allocations and errors */
  cell *cells;
  thunk_local *locals; /* indexed by the thunks' numbers */
  /* Makes the array of output i where the cell's cannot be reused, and puts it into the cell; NULL: thunk_out_own. */
  damo_array *(*make_out)(frame *f, const thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape);
  bool profiled;          /* an Op that holds a graph counts what the calls of that graph cost */
  bool silent;            /* what a mode computes for a check: a Print writes nothing */
  bool watched;           /* under DEBUG mode */
  const char *inner_mode; /* the mode, as text, of an Op that holds a graph and names none; NULL: FAST_RUN */
  bool no_jit;            /* thunks make no machine code */
};

/* How a thunk is to be made. */
struct thunk_request {
  const char *impl; /* "c", "lua"; NULL: "c", then "lua" if "c" is not implemented */
  damo_var *const
      *no_recycling;      /* Variables whose cells must be empty before each run: nothing of an earlier call may */
  int64_t n_no_recycling; /* be seen there, in what a thunk keeps for itself either */
};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* A thunk for the node, not yet made (thunk_make). slots: one per input, then one per output (copied). Owned by the
 * caller (thunk_free). */
thunk *thunk_new(damo_ctx *ctx, damo_apply *node, int32_t number, const int32_t *slots);
void thunk_free(damo_ctx *ctx, thunk *t);
/* The bytes of t's state in a frame. */
size_t thunk_state_size(const thunk *t);
/* Makes t in its first frame: calls prepare_node, then the Op's make_thunk, for each implementation tried (how NULL:
 * all defaults). On entry the frame's local of t has its state set and is zeroed otherwise. A not_implemented error of
 * "c" leads to "lua"; any other error is returned. */
damo_status thunk_make(thunk *t, frame *f, const thunk_request *how);
/* Makes t in another frame, by the same implementation. */
damo_status thunk_join(const thunk *t, frame *f, const thunk_request *how);
/* Frees all that the frame's local of t owns, but not the local itself and its state. */
void thunk_leave(const thunk *t, frame *f);
/* Whether what a run of t left is sound: each output a value of its Type, whose memory and indices lie where they must.
 * An inconsistency error else. Debug builds ask it after every run. */
damo_status thunk_check(const thunk *t, const frame *f);
/* What op_def.make_thunk stands for when it is NULL: "c" runs perform, "lua" perform_lua; not_implemented without. A
 * make_thunk may end with it. */
damo_status thunk_make_default(const thunk *t, frame *f, const thunk_request *how);

/* A single node with its thunk and a frame, in one allocation. */
typedef struct thunk_alone {
  thunk t;
  frame f;
  thunk_local local;
} thunk_alone;
/* Makes the node's thunk over the caller's cells. slots: as for thunk_new; NULL: the inputs, then the outputs, from
 * slot 0 on. NULL on failure, with an error that names the node. */
thunk_alone *thunk_alone_new(damo_ctx *ctx, damo_apply *node, cell *cells, const int32_t *slots,
                             const thunk_request *how);
void thunk_alone_free(thunk_alone *a);

/* ---- Data of a thunk in a frame
 * ------------------------------------------------------------------------------------- */

static inline thunk_local *thunk_local_of(const thunk *t, const frame *f) { return &f->locals[t->number]; }
static inline damo_status thunk_run(const thunk *t, frame *f) { return t->run(t, f); }
/* Called by a make_thunk: sets the function that runs the node. */
static inline void thunk_set_run(const thunk *t, frame *f, thunk_run_fn run) { thunk_local_of(t, f)->run = run; }
static inline void *thunk_state(const thunk *t, const frame *f) { return thunk_local_of(t, f)->state; }
static inline void *thunk_user(const thunk *t, const frame *f) { return thunk_local_of(t, f)->user; }
static inline void thunk_set_user(const thunk *t, frame *f, void *user, thunk_clear_fn clear) {
  thunk_local_of(t, f)->user = user;
  thunk_local_of(t, f)->user_clear = clear;
}
/* Scratch memory of the thunk in this frame: at least size bytes, 64-byte aligned, kept between runs, contents
 * undefined. A larger request frees the former block. NULL: memory error. */
void *thunk_scratch(const thunk *t, frame *f, size_t size);
/* Frees it, between runs: the next run takes what it needs. */
void thunk_drop_scratch(const thunk *t, frame *f);

/* ---- Lazy thunks ------------------------------------------------------------------------------------------------- */

/* Makes t lazy and allocates its lists `need` and `in_ready`. */
damo_status thunk_set_lazy(const thunk *t, frame *f);
static inline bool thunk_is_lazy(const thunk *t, const frame *f) { return thunk_local_of(t, f)->lazy; }
/* A lazy thunk asks for input i (once a run). */
void thunk_need(const thunk *t, frame *f, int i);
/* The number of inputs that the last run asked for. */
static inline int32_t thunk_n_need(const thunk *t, const frame *f) { return thunk_local_of(t, f)->n_need; }
/* Whether input i has its value; always true of a thunk_alone. */
static inline bool thunk_ready(const thunk *t, const frame *f, int i) {
  const thunk_local *local = thunk_local_of(t, f);
  return local->in_ready == NULL || local->in_ready[i] != 0;
}

/* The branch that t, of a class with op_branches, takes. Its condition must have its value. */
int thunk_taken(const thunk *t, const frame *f);
/* Makes thunk_ready true for the condition and the inputs of the branch taken, false for the other inputs of such a
 * thunk. */
void thunk_tell_branch(const thunk *t, frame *f);

/* ---- Inputs and outputs ------------------------------------------------------------------------------------------ */

/* The value of input i; thunk_in for an input that is an Array. */
static inline damo_obj *thunk_value(const thunk *t, const frame *f, int i) {
  damo_assert(i >= 0 && i < t->n_in);
  return f->cells[t->in[i]];
}
static inline damo_array *thunk_in(const thunk *t, const frame *f, int i) {
  damo_assert(i >= 0 && i < t->n_in);
  return (damo_array *)f->cells[t->in[i]];
}
/* The content of output i's cell; before the run it is a value of an earlier run, or NULL. */
static inline damo_obj *thunk_result(const thunk *t, const frame *f, int i) {
  damo_assert(i >= 0 && i < t->n_out);
  return f->cells[t->out[i]];
}
/* Whether that is a caller's array, to be written into. */
static inline bool thunk_out_is_fixed(const thunk *t, const frame *f, int i) {
  const uint8_t *fixed = thunk_local_of(t, f)->out_fixed;
  return fixed != NULL && fixed[i];
}
damo_status thunk_fix_out(const thunk *t, frame *f, int i, bool fixed);

/* The array to write output i into: the cell's array if it has that dtype and shape, is contiguous and writeable and
 * nothing else holds it, else a fresh one, which is put into the cell. Borrowed; contents undefined. NULL: memory
 * error. */
damo_array *thunk_out(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape);
/* The same for a 0-d output. */
static inline damo_array *thunk_out_scalar(const thunk *t, frame *f, int i, damo_dtype dtype) {
  damo_array *a = (damo_array *)thunk_result(t, f, i);
  const bool fits = a != NULL && a->obj.kind == OBJ_ARRAY && a->ndim == 0 && a->dtype == dtype && array_is_exclusive(a);
  return fits ? a : thunk_out(t, f, i, dtype, 0, NULL);
}
/* The array for output i with memory of its own: the cell's in another shape, where that fits well, else a fresh one. */
damo_array *thunk_out_own(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape);
/* The same as thunk_out for a kernel that accepts any strides: a caller's strided array (f:into) is then written directly. */
damo_array *thunk_out_strided(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape);
/* Makes output i a view of base, reusing the array object in the cell where possible. */
damo_status thunk_out_view(const thunk *t, frame *f, int i, const damo_array *base, int ndim, const int64_t *shape,
                           const int64_t *strides, int64_t offset);
/* Output i of an Op that works in place on input j. If the destroy_map says so and the input is writeable, it is the
 * input itself; else a contiguous copy of the input, in the cell. */
damo_array *thunk_out_inplace(const thunk *t, frame *f, int i, int j);
/* Puts an owned value into output cell i and releases the former one. */
void thunk_set_out(const thunk *t, frame *f, int i, damo_obj *take_value);

/* ---- Frames of another context ----------------------------------------------------------------------------------- */

/* An owned value in ctx over v's memory, which must outlive it. It has array objects and buffer headers of its own, so
 * v's reference counts, which belong to another context, are not touched; it is read-only if v is. A state error for
 * values that can't be lent (a factorization, a script's value). */
damo_obj *value_lend(damo_ctx *ctx, const damo_obj *v);

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* The name of the node's Op. */
const char *thunk_name(const thunk *t);
/* Adds the dtypes and shapes of the node's operands to the pending error: those of the values in its cells. */
void thunk_fail_operands(const thunk *t, const frame *f);
/* Attributes the pending error to the node, with its operands, unless it is attributed to one already. */
void thunk_blame(const thunk *t, frame *f);

#endif
