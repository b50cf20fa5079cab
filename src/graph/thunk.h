/* thunk.h: a node made runnable, and the frame of a call.
 *
 * A thunk is fixed once it is made: its node, the slots of its inputs and outputs, what runs it. A frame is what calls
 * change, one call at a time: the values in the slots (cells), and what is kept of each thunk between runs. What runs
 * a node gets both, and reads and writes the frame through the functions below alone.
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
  int32_t number;          /* of its thunk_local in a frame */
  const char *impl;        /* "c" or "lua", by which it was made */
};

/* What a frame keeps of one thunk. */
typedef struct thunk_local {
  void *state; /* op_def.state_size bytes */
  void *scratch;
  size_t scratch_size;
  thunk_run_fn run; /* set by the Op's make_thunk */
  void *user;       /* of who made the thunk; freed by user_clear */
  thunk_clear_fn user_clear;
  bool lazy;
  int32_t n_need;     /* lazy: inputs asked for by the last run; 0: done */
  int32_t *need;      /* lazy: their 0-based positions, space for n_in */
  uint8_t *in_ready;  /* lazy: which inputs have their values; set before each run. Unready cells may hold old values */
  uint8_t *out_fixed; /* NULL, or per output: the cell holds a caller's array that should be written into (f:into) */
} thunk_local;

struct frame {
  damo_ctx *ctx; /* of all that a run allocates, and of its errors */
  cell *cells;
  thunk_local *locals; /* by the thunks' numbers */
  bool watched;        /* by DEBUG mode: an Op that holds a graph runs that in DEBUG mode too */
};

/* How a thunk is to be made. */
struct thunk_request {
  const char *impl; /* "c", "lua"; NULL: "c", then "lua" where "c" is not implemented */
  damo_var *const
      *no_recycling;      /* Variables whose cells must be empty before each run: nothing of an earlier call may */
  int64_t n_no_recycling; /* be seen there, in what a thunk keeps for itself either */
};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* The thunk of the node, which runs perform or perform_lua; slots: of its inputs, then of its outputs (copied). Owned
 * by the caller (thunk_free). No frame knows of it yet. */
thunk *thunk_new(damo_ctx *ctx, damo_apply *node, int32_t number, const int32_t *slots);
void thunk_free(damo_ctx *ctx, thunk *t);
/* The bytes of t's state in a frame. */
size_t thunk_state_size(const thunk *t);
/* Makes t in its first frame, whose local is zeroed but for the state: prepare_node, then the Op's make_thunk, for each
 * implementation tried (how NULL: all defaults). Every error but not_implemented from "c" goes up. */
damo_status thunk_make(thunk *t, frame *f, const thunk_request *how);
/* Makes it in a further frame, by the same implementation. */
damo_status thunk_join(const thunk *t, frame *f, const thunk_request *how);
/* Frees what the frame keeps of t but the local itself and its state. */
void thunk_leave(const thunk *t, frame *f);
/* What op_def.make_thunk stands for when it is NULL: "c" runs perform, "lua" perform_lua; not_implemented without. A
 * make_thunk may end with it. */
damo_status thunk_make_default(const thunk *t, frame *f, const thunk_request *how);

/* One node by itself, its thunk and a frame in one allocation. */
typedef struct thunk_alone {
  thunk t;
  frame f;
  thunk_local local;
} thunk_alone;
/* Over the caller's cells; slots: as thunk_new's, NULL: inputs, then outputs, from 0. Made; NULL on failure, where the
 * error names the node. */
thunk_alone *thunk_alone_new(damo_ctx *ctx, damo_apply *node, cell *cells, const int32_t *slots,
                             const thunk_request *how);
void thunk_alone_free(thunk_alone *a);

/* ---- What is kept of a thunk ------------------------------------------------------------------------------------- */

static inline thunk_local *thunk_local_of(const thunk *t, const frame *f) { return &f->locals[t->number]; }
static inline damo_status thunk_run(const thunk *t, frame *f) { return t->run(t, f); }
/* A make_thunk says what runs the node. */
static inline void thunk_set_run(const thunk *t, frame *f, thunk_run_fn run) { thunk_local_of(t, f)->run = run; }
static inline void *thunk_state(const thunk *t, const frame *f) { return thunk_local_of(t, f)->state; }
static inline void *thunk_user(const thunk *t, const frame *f) { return thunk_local_of(t, f)->user; }
static inline void thunk_set_user(const thunk *t, frame *f, void *user, thunk_clear_fn clear) {
  thunk_local_of(t, f)->user = user;
  thunk_local_of(t, f)->user_clear = clear;
}
/* Scratch memory of the thunk, at least size bytes, 64-byte aligned, kept between runs; contents undefined. NULL:
 * memory error. */
void *thunk_scratch(const thunk *t, frame *f, size_t size);

/* ---- Lazy thunks ------------------------------------------------------------------------------------------------- */

/* Makes t lazy: space for need and in_ready. */
damo_status thunk_set_lazy(const thunk *t, frame *f);
static inline bool thunk_is_lazy(const thunk *t, const frame *f) { return thunk_local_of(t, f)->lazy; }
/* A lazy thunk asks for input i (once a run). */
void thunk_need(const thunk *t, frame *f, int i);
/* The number of inputs that the last run asked for. */
static inline int32_t thunk_n_need(const thunk *t, const frame *f) { return thunk_local_of(t, f)->n_need; }
/* Whether input i has its value: always so in a thunk that runs by itself. */
static inline bool thunk_ready(const thunk *t, const frame *f, int i) {
  const thunk_local *local = thunk_local_of(t, f);
  return local->in_ready == NULL || local->in_ready[i] != 0;
}

/* The branch that t takes, of a class with op_branches, once its condition has its value. */
int thunk_taken(const thunk *t, const frame *f);

/* ---- Inputs and outputs ------------------------------------------------------------------------------------------ */

/* The value of input i; an Array in thunk_in. */
static inline damo_obj *thunk_value(const thunk *t, const frame *f, int i) { return f->cells[t->in[i]]; }
static inline damo_array *thunk_in(const thunk *t, const frame *f, int i) { return (damo_array *)f->cells[t->in[i]]; }
/* What the cell of output i holds: before the run a value of an earlier one, or NULL. */
static inline damo_obj *thunk_result(const thunk *t, const frame *f, int i) { return f->cells[t->out[i]]; }
/* That is a caller's array, to be written into. */
static inline bool thunk_out_is_fixed(const thunk *t, const frame *f, int i) {
  const uint8_t *fixed = thunk_local_of(t, f)->out_fixed;
  return fixed != NULL && fixed[i];
}
damo_status thunk_fix_out(const thunk *t, frame *f, int i, bool fixed);

/* The array to write output i into: what the cell holds when it has that dtype and shape, is contiguous, writeable and
 * held by nobody else, else a fresh one, put into the cell. Contents undefined. NULL: memory error. */
damo_array *thunk_out(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape);
/* The same, but any strides will do: a caller's strided array (f:into) is taken as it is. */
damo_array *thunk_out_strided(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape);
/* Makes output i a view of base (reusing the cell's header). */
damo_status thunk_out_view(const thunk *t, frame *f, int i, const damo_array *base, int ndim, const int64_t *shape,
                           const int64_t *strides, int64_t offset);
/* Output i for an op that destroys input j when its destroy_map says so: the input itself where it is writeable, else a
 * copy of it (contiguous) in the cell. */
damo_array *thunk_out_inplace(const thunk *t, frame *f, int i, int j);
/* Puts an owned value into output cell i, dropping what was there. */
void thunk_set_out(const thunk *t, frame *f, int i, damo_obj *take_value);

/* ---- Frames of another context ----------------------------------------------------------------------------------- */

/* A value of ctx over the same memory, which must outlive it, without a count of v's touched: headers and buffers of its
 * own, read-only as v is. A state error where such a value can't be (a factorization, a script's). Owned. */
damo_obj *value_lend(damo_ctx *ctx, const damo_obj *v);

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* The name of the node's Op. */
const char *thunk_name(const thunk *t);
/* The pending error is that of the node. */
void thunk_blame(const thunk *t, frame *f);

#endif
