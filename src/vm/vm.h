/* vm: runs a compiled program: thunks in their order over a frame's cells.
 *
 * In: a program (made by compile). Out: values in a frame's cells. Always holds: nothing of a program changes once it is
 * compiled, so that any number of frames may run it; a warm run of native thunks allocates nothing; the loop knows no
 * op. A program with branches is a list of segments, and jumps over those of a branch that is not taken. A thunk that
 * tells only as it runs which inputs it needs has these computed by demand (demand.c).
 */
#ifndef DAMO_VM_H
#define DAMO_VM_H

#include "graph/thunk.h"

typedef struct vm_frame vm_frame;

typedef struct vm_constant {
  int32_t slot;
  damo_obj *value; /* owned by the program */
} vm_constant;

/* Holds where the region (-1: in any case) is needed and the thunk takes that branch. */
typedef struct vm_guard {
  int32_t thunk, branch, region;
} vm_guard;

/* Thunks needed where one of the guards first … end - 1 holds. */
typedef struct vm_region {
  int32_t first, end;
} vm_region;

/* Thunks first … end - 1, which run where their region is needed. */
typedef struct vm_segment {
  int64_t first, end;
  int32_t region; /* -1: in any case */
  bool decides;   /* whether the region is needed is found out first */
} vm_segment;

/* What compiling leaves to be run. All memory is of the context that compiled it. */
typedef struct vm_program {
  int64_t n_cells;
  int64_t n_thunks, thunk_cap; /* cap: allocated */
  thunk **thunks;              /* owned, in the order in which they run */
  int64_t n_constants, constant_cap;
  vm_constant *constants;
  /* Slots whose cells hold a view of another cell's buffer after a run: detached at its end, so that the base can be
   * reused. */
  int64_t n_views;
  int32_t *views;
  /* Slots whose cells must be empty again after a run: inputs, shared values, what no_recycling lists. */
  int64_t n_transient;
  int32_t *transient;
  /* Programs with branches, and those with thunks that run only when one asks for them, which are in no segment. None:
   * all thunks run, in their order. */
  int64_t n_segments, segment_cap;
  vm_segment *segments;
  int64_t n_regions, n_guards;
  vm_region *regions;
  vm_guard *guards;
  bool by_demand; /* some thunk asks for inputs as it runs: the following are there */
  int32_t *maker; /* a slot → the thunk that fills it, -1; n_cells of them */
  int64_t n_goals;
  int32_t *goals; /* without segments: thunks of outputs and updates */
} vm_program;

/* The search of a run by demand. */
typedef struct vm_demand {
  int32_t *stack;  /* thunks, as the two below */
  int32_t *cursor; /* the next dependency to look at */
  uint8_t *done;
} vm_demand;

/* What calls change: one call at a time. */
struct vm_frame {
  frame frame; /* what thunks see of it */
  const vm_program *program;
  uint8_t *needed; /* per region: whether it is, in this run */
  void *block;     /* locals, cells, states of the thunks, needed */
  size_t block_bytes;
  int64_t failed_at; /* the thunk that failed last, -1 */
  vm_demand demand;
  /* Runs a thunk in the place of t->run(t, f), when set: modes that look at what thunks do. */
  damo_status (*step)(vm_frame *vf, const thunk *t);
  void *step_user;
};

/* Frees what the program holds; no frame of it is left. */
void vm_program_clear(damo_ctx *ctx, vm_program *p);

/* Makes a frame whose cells hold the constants, the thunks being still to be made (thunk_make). foreign: in another
 * context than the program's; the frame then has headers of its own over the constants' memory. On failure too
 * vm_frame_clear is to be called. */
damo_status vm_frame_init(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign);
/* For a program with by_demand: what the search needs. */
damo_status vm_frame_init_demand(vm_frame *vf);
/* Makes a further frame, whole. */
damo_status vm_frame_join(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign, const thunk_request *how);
void vm_frame_clear(vm_frame *vf);

/* Runs the thunks, in order or by demand; on failure the error names op, node and trace. */
damo_status vm_run(vm_frame *vf);
/* Whether the segment's thunks are to run, its region being decided where it decides that. */
bool vm_enters(vm_frame *vf, const vm_segment *g);
/* After vm_run of a program with by_demand: whether that cell has its value; computes it where it has not. */
bool vm_has_value(const vm_frame *vf, int32_t slot);
damo_status vm_run_for(vm_frame *vf, int32_t slot);
/* Empties transient cells and detaches views, after a run, whether it failed or not. */
void vm_reset(vm_frame *vf);

/* demand.c: runs what the goals, or the segments entered, need. */
damo_status vm_run_demand(vm_frame *vf);
/* Notes at which thunk the pending error arose. Returns s. */
damo_status vm_fail_at(vm_frame *vf, int64_t k, damo_status s);

static inline damo_status vm_step(vm_frame *vf, const thunk *t) {
  return vf->step != NULL ? vf->step(vf, t) : t->run(t, &vf->frame);
}

#endif
