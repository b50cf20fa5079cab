/* eager.h: calls of op functions on values. Part of op.h.
 *
 * A call builds the function's graph over constants and evaluates it (eager.c). The second call with the same function,
 * options and Types of operands keeps that graph with its thunks, a frame, in a cache of the context, and later ones
 * only run it (eager_cache.c, eager_frame.c).
 */
#ifndef DAMO_OP_EAGER_H
#define DAMO_OP_EAGER_H

/* An operand of such a call: a value, borrowed; without one a literal of dtype int64, float64 or bool; or neither. */
typedef struct eager_operand {
  damo_obj *value;
  scalar literal;
  bool absent;
} eager_operand;

/* A call. options: the row's struct as an array of FN_MAX_OPTIONS prop_values. out: the arrays to write the results
 * into, one per result, NULL for a result in an array of its own; n_out 0: all of them are. */
typedef struct eager_request {
  const fn_signature *f;
  const eager_operand *in;
  int n_in;
  const prop_value *options;
  damo_array *const *out;
  int n_out;
} eager_request;

#define EAGER_FEW 4
/* The results of a call, owned. */
typedef struct eager_results {
  damo_obj *few[EAGER_FEW], **at;
  int64_t n;
} eager_results;

/* Memory for n results, all NULL; freed, not released, by eager_results_free. */
damo_status eager_results_alloc(damo_ctx *ctx, eager_results *r, int64_t n);
void eager_results_free(damo_ctx *ctx, eager_results *r);

/* Makes the call. With `out`, results[i] is out[i], retained; it may share memory with operands. Nothing is written if
 * a result has another dtype (type error) or shape (shape error) than its array, is sparse or a view of an operand
 * (type errors). */
damo_status eager_call(damo_ctx *ctx, const eager_request *q, eager_results *r);
/* Adds the cache to the context (once), and empties it. */
damo_status eager_register(damo_ctx *ctx);
void eager_forget(damo_ctx *ctx);
/* What the cache holds, for tests. */
void eager_count(damo_ctx *ctx, int *frames, size_t *bytes);

/* Values of graphs whose leaves are constants and shared Variables, node by node with fresh thunks; no rewriting.
 * values receives owned references. */
damo_status eager_eval(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_obj **values);
/* The values of one node's outputs, its inputs being constants. */
damo_status eager_node(damo_ctx *ctx, damo_apply *node, damo_obj **values);

#endif
