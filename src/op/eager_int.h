/* eager_int: what eager_call.c, eager_cache.c and eager_frame.c share: the key of a call, its frame, the cache. */
#ifndef DAMO_OP_EAGER_INT_H
#define DAMO_OP_EAGER_INT_H

#include "op/op.h"

#define EAGER_KEY_WORDS 48

/* What a call's graph depends on: the function, its options, floatX, and each operand's Type. `kept` is false for a
 * call whose graph is not kept: it has too long a key, an operand that is no Array, or a Variable among its options.
 *
 * An elementwise function's graph depends on an operand's dtype, on its rank and on which dimensions are 1; and on the
 * dtype that a literal takes, not on its value. Other keys have the whole shape and the literal's value. */
typedef struct eager_key {
  uint64_t words[EAGER_KEY_WORDS];
  uint64_t hash;
  int n;
  bool kept, elementwise;
} eager_key;

void eager_key_init(eager_key *k, damo_ctx *ctx, const eager_request *q);
/* The Variable that stands for operand i in a frame's graph: a constant for a literal, else without a value. */
damo_var *eager_key_operand(build *b, const eager_key *k, const eager_operand *x);

/* Whether v, a result of the call's graph over the Variables `in`, is a view of an operand or an operand itself. An elementwise function that
 * gives its operand back (the real part of a real x) does not count: there `out` gets a copy. */
bool eager_is_view(const eager_request *q, damo_var *const *in, const damo_var *v);

/* ---- Frames (eager_frame.c) -------------------------------------------------------------------------------------- */

/* Who owns what a cell holds between calls: nobody, for operand i in cell i; the frame, for constants and for results
 * of nodes, which later calls write anew. */
typedef enum eager_cell_kind { CELL_OPERAND, CELL_LITERAL, CELL_CONSTANT, CELL_RESULT } eager_cell_kind;

/* A graph ready to run: its nodes' thunks in topological order, over common cells. One without outputs says that the
 * call has none. */
typedef struct eager_frame {
  uint64_t hash, used; /* used: the cache's clock when it ran last */
  size_t bytes;        /* of the frame and what it keeps between calls, without its nodes */
  size_t size;         /* of this allocation */
  uint64_t *words;     /* the key */
  int32_t n_words, n_in, n_out, n_nodes, n_cells;
  bool busy, elementwise;
  bool direct;  /* its one result is computed by the last node, which may write it into an array of the caller's */
  bool is_view; /* a result is a view of an operand, which `out` does not take */
  cell *cells;
  uint8_t *kinds;
  int32_t *out; /* the cell of each result */
  thunk_alone **thunks;
} eager_frame;

/* A frame for calls with this key; `outputs` and `values` are those of one such call. NULL where there can be none, or
 * no memory: an error is then pending. */
eager_frame *eager_frame_new(damo_ctx *ctx, const eager_key *k, const eager_request *q, const eager_results *r);
/* A frame that says that calls with this key have none. */
eager_frame *eager_frame_none(damo_ctx *ctx, const eager_key *k);
void eager_frame_free(damo_ctx *ctx, eager_frame *f);
/* Runs the frame. On failure nothing of the context's state has changed but the pending error, and `out` may have been
 * written in part. */
damo_status eager_frame_run(damo_ctx *ctx, eager_frame *f, const eager_request *q, eager_results *r);

/* Copies each value for which the call has an array into it, after checking all of them, and puts the array in its
 * place. */
damo_status eager_give(damo_ctx *ctx, const eager_request *q, eager_results *r);

#endif
