/* overwrite.h: which nodes of a graph may overwrite which of their inputs, decided one after the other.
 *
 * Values that may share memory, a value and its views, form a group (union-find). A group has at most one destroyer,
 * which comes after all that read a member; so a node may become one if no reader depends on its results. An order of
 * the nodes that keeps all this is kept along (Pearce and Kelly, A dynamic topological sort algorithm for directed
 * acyclic graphs, 2006), as a list with ascending labels. Most candidates need no search, since the readers come before
 * already. For the others two searches take turns, forward from the candidate and backward from the readers, over nodes
 * between the two in the order: if they meet, a reader depends on the candidate; else the one that ends first tells what
 * to move.
 */
#ifndef DAMO_GRAPH_OVERWRITE_H
#define DAMO_GRAPH_OVERWRITE_H

#include "graph.h"

typedef struct overwrite overwrite;

/* For the graph as it is. What a node destroys already is left to it, whatever else reads that: such nodes may be in
 * conflict, which protect_destroyed resolves. own_view, may be NULL: whether the node will not view its
 * inputs, although its Op says so (overwrite_settle). Leaves that are not given away and outputs of the graph are kept,
 * with all that shares their memory. NULL: an error. */
overwrite *overwrite_new(const damo_fgraph *fg, bool (*own_view)(const damo_apply *node));
void overwrite_free(overwrite *w);

/* The nodes in an order of dependency, as at first. */
int64_t overwrite_n_nodes(const overwrite *w);
damo_apply *overwrite_node(const overwrite *w, int64_t i);

/* Whether the node may overwrite its input; if so it counts as destroyer of that value from now on. */
bool overwrite_try(overwrite *w, const damo_apply *node, int in);
/* How many nodes all tries so far have looked at: a measure of their cost. */
int64_t overwrite_visits(const overwrite *w);
/* Node i of the list has been replaced by `now`, with as many outputs (the same node: it was not). From then on the
 * views that it makes count. */
damo_status overwrite_settle(overwrite *w, int64_t i, damo_apply *now);

#endif
