/* region.h: regions: sets of nodes of a graph that are needed only if certain branches are taken.
 *
 * A chooser is a node whose class has op_branches (IfElse): input 0, its condition, is needed whenever the chooser is;
 * every other input belongs to a branch and is needed only if the chooser takes that branch. A guard is a pair of a
 * chooser and one of its branches. It holds in a call if the chooser is needed and takes the branch. A region is a set
 * of guards, and its nodes are needed in a call if at least one of the guards holds. A node that an output or a node of
 * no region reads is needed in every call and is in no region. Regions may overlap in any way: they need not nest.
 *
 * A thunk of a class with op_may_ask asks for inputs while it runs. A node that only such thunks read, directly or
 * through other nodes, is on demand.
 *
 * Choosers that have the same condition and are in the same region take the same branch, so they share their guards.
 */
#ifndef DAMO_GRAPH_REGION_H
#define DAMO_GRAPH_REGION_H

#include "graph.h"

enum { REGION_NONE = -1, REGION_ON_DEMAND = -2 };

typedef struct region_guard {
  damo_apply *chooser; /* the first one found of the choosers that share the guard */
  int32_t branch;
  int32_t region;       /* the chooser's, or REGION_NONE; a smaller number than that of any region with this guard */
  int32_t first, after; /* first guard of the same choosers; next first guard with this condition, -1: none */
} region_guard;

typedef struct region {
  int32_t first, n; /* its guards: region_map.members[first … first + n - 1], ascending */
  int32_t after;    /* next region of the same hash, -1: none */
} region;

typedef struct region_map {
  damo_ctx *ctx;
  map of_node;           /* damo_apply* → its region + 3; absent: REGION_NONE */
  ptrvec at;             /* region*, owned */
  ptrvec guards;         /* region_guard*, owned */
  ptrvec members;        /* numbers of guards, as pointers */
  map by_hash, by_input; /* hash → region + 1; condition → first guard + 1 */
  bool given_up;         /* a region would have more than REGION_GUARDS_MOST guards, so there are no results */
} region_map;

#define REGION_GUARDS_MOST 64

void region_map_init(region_map *m, damo_ctx *ctx);
void region_map_clear(region_map *m);
/* Finds the regions of the nodes, which must be in dependency order. m must be empty. Takes time proportional to the
 * number of uses times the number of guards of a region. */
damo_status region_map_find(region_map *m, const damo_fgraph *fg, const ptrvec *nodes);

/* The number of the node's region, REGION_NONE or REGION_ON_DEMAND. */
int32_t region_of(const region_map *m, const damo_apply *node);
static inline int64_t region_count(const region_map *m) { return m->at.n; }
static inline int32_t region_n_guards(const region_map *m, int32_t r) { return ((const region *)m->at.at[r])->n; }
static inline const region_guard *region_guard_at(const region_map *m, int32_t r, int32_t i) {
  return m->guards.at[(intptr_t)m->members.at[((const region *)m->at.at[r])->first + i]];
}

/* An order of nodes (destroy_order) has an entry for each region, at the point where it is decided whether the region
 * is needed: after the nodes of its guards' conditions and the entries of their choosers' regions, before its own
 * nodes. */
static inline void *region_entry(int32_t r) { return (void *)(((uintptr_t)r << 2) | 3); }
static inline bool region_is_entry(const void *in_order) { return ((uintptr_t)in_order & 1) != 0; }
static inline int32_t region_of_entry(const void *entry) { return (int32_t)((uintptr_t)entry >> 2); }

#endif
