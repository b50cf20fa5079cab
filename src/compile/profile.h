/* profile.h: what a Function counts that was compiled with the option profile: its calls, node by node, and its
 * compilation. Times are in nanoseconds.
 */
#ifndef DAMO_COMPILE_PROFILE_H
#define DAMO_COMPILE_PROFILE_H

#include "rewrite/rewrite.h"

#define PROFILE_MOST_PHASES (N_PHASES + 8)
/* The latest events are kept, so many at most. */
#define PROFILE_MOST_EVENTS ((int64_t)1 << 16)

/* A part of the compilation. */
typedef struct profile_phase {
  const char *name; /* static */
  int64_t time;
} profile_phase;

/* How a program was compiled. */
typedef struct fn_report {
  int64_t time, since; /* since: the end of the last phase */
  int n_phases;
  profile_phase phases[PROFILE_MOST_PHASES];
  rewrite_profile rules;
} fn_report;

/* The counts of one node. */
typedef struct profile_node {
  int64_t calls, time;
  int64_t bytes;  /* of memory that its results took, all calls together: a view or a result in place takes none */
  size_t scratch; /* bytes of its workspace that are counted in fn_profile.held */
} profile_node;

/* The run of one thunk, or a whole call. */
typedef struct profile_event {
  int64_t start, time;
  int32_t thunk; /* -1: a call */
} profile_event;

typedef struct fn_profile {
  int64_t calls, time;
  int64_t entered; /* when the call under way began */
  size_t held;     /* bytes of results and workspaces, without those that vm_arena_held counts */
  size_t peak;     /* the most that both were */
  int64_t n_nodes, n_cells;
  profile_node *nodes; /* by the thunks' numbers */
  size_t *cell_bytes;  /* what each cell counts in `held` */
  profile_event *events;
  int64_t n_events, events_cap; /* event i is at events[i % events_cap]; those before the last events_cap are lost */
} fn_profile;

#define PROFILE_MOST_ARRAYS 3
/* The arrays that hold the value, at most PROFILE_MOST_ARRAYS, borrowed; returns their number. */
int profile_arrays(const damo_obj *v, const damo_array **at);
/* Whether the array's memory is the value's too. */
bool profile_is_memory_of(const damo_array *a, const damo_obj *v);

#endif
