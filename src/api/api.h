/* api: the door: damo_ctx_new, which registers every layer and op family; the Ops that hold graphs; the classes of Ops
 * that hosts register; and the public functions of damo.h that stand for graph, grad and compile. */
#ifndef DAMO_API_H
#define DAMO_API_H

#include "compile/compile.h"

/* ---- OpFromGraph: op_from_graph.c, its _grad, _inline and _run --------------------------------------------------- */

typedef struct op_from_graph op_from_graph;

/* An override of L_op (of R_op): sets results for the inputs (outputs) that it decides, and given[i] for these; a
 * result left NULL means disconnected. Results are borrowed from b. Only the inputs that the user named are shown: in
 * is node->in[0..n_given). */
typedef damo_status op_from_graph_override(build *b, op_from_graph *g, damo_apply *node, damo_var *const *from,
                                           damo_var **result, bool *given);

typedef struct op_from_graph_options {
  const char *name; /* NULL: "OpFromGraph" */
  const char *mode; /* of the inner compilation; NULL: FAST_RUN */
  bool inlined;
  unused_mode on_unused_input;
  const bool *connected;    /* n_in * n_out; NULL: as the inner graph says */
  damo_op *lop_op, *rop_op; /* overrides that are Ops: of inputs, outputs, output gradients (inputs, eval points) */
} op_from_graph_options;

/* What stands behind one OpFromGraph: its class, which the Op owns (damo_op.owner). */
struct op_from_graph {
  damo_obj obj;
  op_def def;
  char *name, *mode;
  damo_fgraph *fgraph; /* the inner graph, over n_in inputs of its own; nobody may change it */
  int n_given, n_in;   /* inputs that the user named; with the shared Variables that follow them */
  int n_out;
  damo_var **shared; /* n_in - n_given, owned: what is applied in the place of the further inputs */
  bool *connected;   /* n_in * n_out */
  bool inlined;
  bool shapes_known; /* every inner node can tell its outputs' shapes */
  damo_function *fn; /* NULL until it is asked for */
  damo_op *lop_op, *rop_op;
  op_from_graph_override *lop, *rop; /* NULL: none. The binding sets these for functions written in Lua */
  void *user;                        /* theirs */
  /* Ops that this one's gradient (0) and tangent (1) were last built as: not counted, forgotten when they die. */
  struct op_from_graph *derived[2];
  /* Of such an Op: where it came from, which of its source's Variables it takes, and what each result is (NULL: an
   * output; else a Type that says why there is none). */
  struct op_from_graph *source;
  int which;
  damo_op *op; /* the Op of this class, not counted */
  int32_t *pick;
  int n_pick, n_result, n_from;
  damo_type **lack;
  bool *from; /* n_from: the output gradients (eval points) that were there */
};

damo_status api_graph_ops_register(damo_ctx *ctx);
/* A new OpFromGraph, owned. */
damo_op *op_from_graph_new(damo_ctx *ctx, damo_var *const *inputs, int n_in, damo_var *const *outputs, int n_out,
                           const op_from_graph_options *options);
/* The same over a copy of the inner graph, with the same overrides (but for lop, rop and user, which stay empty). */
damo_op *op_from_graph_copy(const op_from_graph *g);
/* NULL when op is no OpFromGraph. */
op_from_graph *op_from_graph_of(const damo_op *op);
/* The compiled inner graph, borrowed; compiled now when it was not. NULL: failed. */
damo_function *op_from_graph_function(op_from_graph *g);
/* The Function that a thunk of an OpFromGraph runs; NULL: it has not run yet, or is another Op's. */
const damo_function *op_from_graph_running(const thunk *t, const frame *f);

/* ---- Classes of a host's: host_op.c ------------------------------------------------------------------------------ */

damo_status api_classes_register(damo_ctx *ctx);
/* The class of that name, NULL when there is none. */
const op_def *api_class_find(damo_ctx *ctx, const char *name);
/* Class number i in the order of registration, NULL past the end. */
const op_def *api_class_at(damo_ctx *ctx, int64_t i);

#endif
