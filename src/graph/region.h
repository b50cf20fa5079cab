/* region.h: which nodes of a graph are needed only if a branch is taken.
 *
 * A chooser is a node whose class has op_branches (IfElse): input 0, its condition, is needed whenever the chooser is;
 * every other input belongs to a branch and is needed only if the chooser takes that branch. A guard is a pair of a
 * chooser and one of its branches. It holds in a call if the chooser is needed and takes the branch. A region is a set of
 * guards, and its nodes are needed in a call if at least one of the guards holds. A node that an output or a node of no
 * region reads is needed in every call and is in no region. Regions may overlap in any way: they need not nest.
 *
 * A thunk of a class with op_may_ask tells only as it runs which inputs it needs. A node that only such thunks read,
 * directly or through other nodes, is on demand.
 *
 * Choosers that have the same condition and are in the same region take the same branch, so they share their guards.
 */
#ifndef DAMO_GRAPH_REGION_H
#define DAMO_GRAPH_REGION_H

#include "graph.h"

enum { REGION_NONE = -1, REGION_ON_DEMAND = -2 };

typedef struct region_guard {
  damo_apply *chooser; /* of those that share the guard, the one that was met first */
  int32_t branch;
  int32_t region;       /* the chooser's, REGION_NONE where it is always needed; a smaller number than the region's */
  int32_t first, after; /* guards of the same choosers: the first of them; the next of this condition, -1 */
} region_guard;

typedef struct region {
  int32_t first, n; /* in region_map.members: its guards, ascending */
  int32_t after;    /* the next region of the same hash, -1 */
} region;

typedef struct region_map {
  damo_ctx *ctx;
  map of_node;           /* damo_apply* → its region + 3; absent: REGION_NONE */
  ptrvec at;             /* region*, owned */
  ptrvec guards;         /* region_guard*, owned */
  ptrvec members;        /* numbers of guards, as pointers */
  map by_hash, by_input; /* hash → region + 1; condition → first guard + 1 */
  bool given_up;         /* some node would be in a region of more than REGION_GUARDS_MOST guards: nothing was found */
} region_map;

#define REGION_GUARDS_MOST 64

void region_map_init(region_map *m, damo_ctx *ctx);
void region_map_clear(region_map *m);
/* Finds the regions of the graph's nodes, which come in an order of dependency. m: empty. In time proportional to the
 * uses of Variables times the guards of a region. */
damo_status region_map_find(region_map *m, const damo_fgraph *fg, const ptrvec *nodes);

/* Its region's number, REGION_NONE or REGION_ON_DEMAND. */
int32_t region_of(const region_map *m, const damo_apply *node);
static inline int64_t region_count(const region_map *m) { return m->at.n; }
static inline int32_t region_n_guards(const region_map *m, int32_t r) { return ((const region *)m->at.at[r])->n; }
static inline const region_guard *region_guard_at(const region_map *m, int32_t r, int32_t i) {
  return m->guards.at[(intptr_t)m->members.at[((const region *)m->at.at[r])->first + i]];
}

/* In an order of nodes (destroy_order), a region stands where it can be decided whether it is needed: behind the nodes of
 * its guards' conditions and the regions of their choosers, before its own nodes. */
static inline void *region_entry(int32_t r) { return (void *)(((uintptr_t)r << 2) | 3); }
static inline bool region_is_entry(const void *in_order) { return ((uintptr_t)in_order & 1) != 0; }
static inline int32_t region_of_entry(const void *entry) { return (int32_t)((uintptr_t)entry >> 2); }

#endif
