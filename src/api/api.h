/* api: damo_ctx_new, which registers every layer and op family; OpFromGraph; Op classes that hosts register; and the
 * functions of damo.h that give access to graph, grad and compile. */
#ifndef DAMO_API_H
#define DAMO_API_H

#include "compile/compile.h"

/* ---- OpFromGraph: op_from_graph.c, op_from_graph_grad.c ---------------------------------------------------------- */

typedef struct op_from_graph op_from_graph;

/* An override of the L_op (R_op): sets result[i] for the inputs (outputs) that it handles, and given[i] to true for
 * these; a result left NULL then means disconnected. from: the output gradients (eval points). Results are borrowed
 * from b. The override sees only the inputs that the user listed, node->in[0..n_given). */
typedef damo_status op_from_graph_override(build *b, op_from_graph *g, damo_apply *node, damo_var *const *from,
                                           damo_var **result, bool *given);

typedef struct op_from_graph_options {
  const char *name; /* NULL: "OpFromGraph" */
  const char *mode; /* of compiling the inner graph, as text (compile/mode.c); NULL: that of the Function */
  bool inlined;
  unused_mode on_unused_input;
  const bool *connected;    /* n_in * n_out, as op_def.connection_pattern; NULL: derived from the inner graph */
  damo_op *lop_op, *rop_op; /* overriding Ops of inputs, outputs and output gradients (of inputs and eval points) */
} op_from_graph_options;

/* The class of one OpFromGraph, owned by its one Op (damo_op.owner). */
struct op_from_graph {
  damo_obj obj;
  op_def def;
  char *name, *mode;
  damo_fgraph *fgraph; /* the inner graph, over n_in inputs of its own; it must not change */
  int n_given, n_in;   /* number of inputs that the user listed; n_in also counts the shared Variables, which follow */
  int n_out;
  damo_var **shared; /* n_in - n_given, owned: the shared Variables to which the further inputs are applied */
  bool *connected;   /* n_in * n_out */
  bool inlined;
  bool shapes_known;    /* every inner node has an infer_shape */
  damo_function *fn[2]; /* the compiled inner graph, and in reproducible mode; NULL until it is first needed */
  damo_op *lop_op, *rop_op;
  op_from_graph_override *lop, *rop; /* NULL: none. The binding sets them for overrides written in Lua */
  void *user;                        /* data of lop and rop */
  /* The classes of the Ops last made for the gradient (0) and the tangent (1) of this one; not counted, reset to NULL
   * when they are destroyed. */
  struct op_from_graph *derived[2];
  /* For such a derived Op: the class that it was derived from and its index in source->derived; the numbers of the
   * candidates among the source's Variables that are its inputs (op_from_graph_grad.c); and for each result NULL if it
   * is an output, else a Type that says why there is none. */
  struct op_from_graph *source;
  int which;
  damo_op *op; /* the Op of this class; not counted */
  int32_t *pick;
  int n_pick, n_result, n_from;
  damo_type **lack;
  bool *from; /* n_from: which output gradients (eval points) were given */
};

damo_status api_graph_ops_register(damo_ctx *ctx);
/* A new OpFromGraph, owned. */
damo_op *op_from_graph_new(damo_ctx *ctx, damo_var *const *inputs, int n_in, damo_var *const *outputs, int n_out,
                           const op_from_graph_options *options);
/* A copy of the Op over a copy of the inner graph, with the same overriding Ops; lop, rop and user are left NULL. */
damo_op *op_from_graph_copy(const op_from_graph *g);
/* The class of an OpFromGraph, NULL for any other Op. */
op_from_graph *op_from_graph_of(const damo_op *op);
/* How files have these Ops; ended by NULL. */
extern const op_recipe *const api_recipes[];
/* The compiled inner graph, borrowed; compiles it at the first call. NULL on failure. */
damo_function *op_from_graph_function(op_from_graph *g);
/* The Function that a thunk of an OpFromGraph runs; NULL if it has not run yet, or if it is another Op's thunk. */
const damo_function *op_from_graph_running(const thunk *t, const frame *f);

/* ---- Tokens: function_api.c -------------------------------------------------------------------------------------- */

/* damo_function_token, with a text for whoever makes a Function by the name (function_token). */
damo_status api_function_token(damo_function *f, const char *form, char *token);

/* ---- Host classes: host_op.c ------------------------------------------------------------------------------------- */

damo_status api_classes_register(damo_ctx *ctx);
/* The class of that name, NULL when there is none. */
const op_def *api_class_find(damo_ctx *ctx, const char *name);
/* Class number i in the order of registration, NULL past the end. */
const op_def *api_class_at(damo_ctx *ctx, int64_t i);

#endif
