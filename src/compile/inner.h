/* inner.h: a graph that an Op holds: what reaches what in it, and the Functions by which the Op's thunks run it. */
#ifndef DAMO_COMPILE_INNER_H
#define DAMO_COMPILE_INNER_H

#include "compile.h"

/* All fields are borrowed from the Op's class. */
typedef struct inner_graph {
  const damo_fgraph *fgraph;
  const char *name;     /* the class's, for errors */
  const char *mode;     /* in which it is compiled, as text (mode.c); NULL: the frame's inner_mode */
  const bool *mutable_; /* per input: the Function may overwrite its value; NULL: none */
  damo_function **fn;   /* where the class keeps the compiled Functions, owned: fn[0], and fn[1] of a reproducible mode;
                         * NULL: not compiled yet */
} inner_graph;

/* Makes fg refuse every change, because Ops are immutable. */
damo_status inner_freeze(damo_fgraph *fg);
/* The compiled graph, borrowed; compiled at the first call. NULL on failure. */
damo_function *inner_function(const inner_graph *g, bool reproducible);
/* A Function over that program for a thunk that runs in f (owned). Its results stay in its cells as well (lends), so
 * that a later run can reuse their memory when nothing else holds them. NULL on failure. */
damo_function *inner_function_for(const inner_graph *g, frame *f);
/* Gives fn[reproducible], by c's context, a copy there of the compiled graph, which is compiled first if it was not. */
damo_status inner_copy_to(graph_copier *c, const inner_graph *g, damo_function **fn);
/* Sets connected[i * n_out + o] to whether input i reaches output o differentiably. */
damo_status inner_connections(const damo_fgraph *fg, bool *connected);
/* What the nodes of the graph say about an Op that holds it. */
typedef struct inner_traits {
  bool shapes_known; /* every node has an infer_shape */
  bool impure;       /* a node is */
  bool folds;        /* every node may be folded, and none is impure */
  op_nonfinite nonfinite;
} inner_traits;
inner_traits inner_traits_of(const damo_fgraph *fg);
/* y through an identity node of its own, which never runs. grad_reverse takes a known gradient of a Variable as its
 * total: given y's cotangent as the gradient of this one, it adds the contributions of what else is computed from y
 * where y is an ancestor of another output, an output twice, or an input. */
damo_var *inner_pass(build *b, damo_var *y);
/* The classes of such nodes, ended by NULL. */
extern const op_def *const inner_classes[];

#endif
