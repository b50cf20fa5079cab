/* vm: runs a compiled program: a list of thunks over the cells of a frame.
 *
 * In: a program made by compile/. Out: values in a frame's cells. Always holds: a program does not change once it is
 * compiled, so any number of frames may run it; a repeated run of native thunks allocates nothing; the loop knows no
 * particular Op. A program with branches is a list of segments, and skips the segments of branches that are not taken.
 * Inputs that a thunk asks for while it runs are computed on demand (demand.c).
 */
#ifndef DAMO_VM_H
#define DAMO_VM_H

#include "graph/thunk.h"

typedef struct vm_frame vm_frame;

typedef struct vm_constant {
  int32_t slot;
  damo_obj *value; /* owned by the program */
} vm_constant;

/* Holds if the region is needed (-1: always) and the thunk takes that branch. */
typedef struct vm_guard {
  int32_t thunk, branch, region;
} vm_guard;

/* A region is needed if at least one of the guards first … end - 1 holds. */
typedef struct vm_region {
  int32_t first, end;
} vm_region;

/* Thunks first … end - 1, which run if their region is needed. */
typedef struct vm_segment {
  int64_t first, end;
  int32_t region; /* -1: always */
  bool decides;   /* this segment first decides whether the region is needed */
} vm_segment;

/* A cell whose array may lie in the frame's arena: thunk `birth` makes it, and no value that leaves the call has its
 * memory. After thunk `death` (the number of thunks: after the call) nothing reads it, or what shares its memory. */
typedef struct vm_home {
  int32_t slot, birth, death;
  int32_t group; /* cells that share memory, among them this one's, are a group */
} vm_home;

/* A compiled program. Its memory belongs to the context that compiled it. */
typedef struct vm_program {
  int64_t n_cells;
  int64_t n_thunks, thunk_cap; /* cap: allocated */
  thunk **thunks;              /* owned, in the order in which they run */
  int64_t n_constants, constant_cap;
  vm_constant *constants;
  /* Slots whose cells hold a view of another cell's buffer after a run. The views are detached at its end, so that the
   * buffer can be reused. */
  int64_t n_views;
  int32_t *views;
  /* Slots whose cells are emptied after a run: inputs, shared values, Variables of no_recycling. */
  int64_t n_transient;
  int32_t *transient;
  /* Segments of a program with branches or with thunks that only run on demand; the latter are in no segment. Without
   * segments all thunks run in their order. */
  int64_t n_segments, segment_cap;
  vm_segment *segments;
  int64_t n_regions, n_guards;
  vm_region *regions;
  vm_guard *guards;
  /* Cells for the arena, in the order of birth. Empty in a program that runs on demand or is watched. */
  int64_t n_homes, n_groups, n_aliases;
  vm_home *homes;
  int32_t *home_of;  /* n_cells: slot → number of its home, -1: none */
  int32_t *by_death; /* numbers of the homes by their death */
  int32_t *aliases;  /* slots of the cells of group g that are views, or made in place: aliases[alias_first[g]] … */
  int32_t *alias_first; /* n_groups + 1 */
  bool by_demand;       /* some thunk asks for inputs while it runs: the fields below are set */
  int32_t *maker;       /* n_cells: slot → number of the thunk that fills it, -1: none */
  int64_t n_goals;
  int32_t *goals; /* without segments: numbers of the thunks of outputs and updates */
} vm_program;

/* State of the search that runs thunks on demand. */
typedef struct vm_demand {
  int32_t *stack;  /* numbers of thunks */
  int32_t *cursor; /* per thunk: the next dependency to visit */
  uint8_t *done;
} vm_demand;

typedef struct vm_arena vm_arena;

/* The data that calls change, one call at a time. */
struct vm_frame {
  frame frame; /* the part that thunks see */
  const vm_program *program;
  uint8_t *needed; /* per region: whether it is needed in this run */
  void *block;     /* the allocation: locals, cells, states of the thunks, needed */
  size_t block_bytes;
  int64_t failed_at; /* number of the thunk that failed last, -1: none */
  vm_demand demand;
  vm_arena *arena; /* NULL as long as no array of a home was worth a place in the arena */
  /* If set, called instead of t->run(t, f) to run each thunk (fn_watcher.step). */
  damo_status (*step)(vm_frame *vf, const thunk *t);
  void *step_user;
};

/* Frees everything that the program owns. It must have no frames any more. */
void vm_program_clear(damo_ctx *ctx, vm_program *p);

/* Makes a frame whose cells hold the constants. The thunks must then be made in it (thunk_make). foreign: ctx is
 * another context than the program's; the frame then has objects of its own over the constants' memory. vm_frame_clear
 * must follow, on failure too. */
damo_status vm_frame_init(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign);
/* For a program with by_demand: allocates vf->demand. */
damo_status vm_frame_init_demand(vm_frame *vf);
/* Makes another frame, complete with its thunks (thunk_join). vm_frame_clear must follow, on failure too. */
damo_status vm_frame_join(vm_frame *vf, damo_ctx *ctx, const vm_program *p, bool foreign, const thunk_request *how);
void vm_frame_clear(vm_frame *vf);

/* Runs the thunks, in order or on demand; on failure the error names op, node and trace. */
damo_status vm_run(vm_frame *vf);
/* Whether the segment's thunks must run. If it decides its region, does so and records the result in vf->needed. */
bool vm_enters(vm_frame *vf, const vm_segment *g);
/* After vm_run of a program with by_demand: whether that cell has its value; and computes it if it has not. */
bool vm_has_value(const vm_frame *vf, int32_t slot);
damo_status vm_run_for(vm_frame *vf, int32_t slot);
/* Empties transient cells and detaches views. Called after every run, failed or not. */
void vm_reset(vm_frame *vf);

/* arena.c: the arena of a frame. */
/* Lets the frame, whose thunks are made, put the arrays of the program's homes into an arena. */
void vm_arena_attach(vm_frame *vf);
/* Before and after each run of a frame with vf->arena. */
void vm_arena_begin(vm_frame *vf);
void vm_arena_end(vm_frame *vf);
/* Between runs: frees the workspaces of thunks, and what is kept for other shapes than those of the last run. */
void vm_arena_trim(vm_frame *vf);
void vm_arena_free(vm_frame *vf);
/* The bytes of the arena and of what homes hold beside it. */
size_t vm_arena_held(const vm_frame *vf);
/* Whether the value in the cell is counted by vm_arena_held. */
bool vm_arena_holds(const vm_frame *vf, int32_t slot);

/* Sizes and offsets in an arena are multiples of a cache line. */
static inline size_t arena_round(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* layout.c: places in an arena. Spans overlap in time if each is born when the other is not dead yet. */
typedef struct vm_span {
  int32_t birth, death;
  size_t bytes, offset;
} vm_span;
/* Gives each span an offset, a multiple of 64, so that no two overlap both in time and in space. The spans are in the
 * order of birth. Returns the bytes of the arena. work: layout_work(n) bytes, aligned as a size_t. */
size_t layout_place(vm_span *spans, int64_t n, void *work);
size_t layout_work(int64_t n);
/* The most bytes, each span rounded up to 64, that live at one time: no layout is smaller. */
size_t layout_peak(const vm_span *spans, int64_t n, void *work);

/* Free memory below `top`, by offset; above it all is free. No gap touches another or the top. */
typedef struct vm_gap {
  size_t at, size;
} vm_gap;
typedef struct vm_gaps {
  vm_gap *at; /* space for one gap more than blocks are taken at one time */
  int64_t n;
  size_t top, most; /* most: the highest top */
} vm_gaps;
/* The offset of a block of that size: in the smallest gap that fits, else at the top. */
size_t gap_take(vm_gaps *g, size_t size);
void gap_release(vm_gaps *g, size_t at, size_t size);

/* demand.c: runs the thunks of the goals or of the segments entered, and everything that they need. */
damo_status vm_run_demand(vm_frame *vf);
/* Attributes the pending error to thunk k. Returns s. */
damo_status vm_fail_at(vm_frame *vf, int64_t k, damo_status s);

static inline damo_status vm_step(vm_frame *vf, const thunk *t) {
  return vf->step != NULL ? vf->step(vf, t) : t->run(t, &vf->frame);
}

/* After thunk k: whether the call must end. Short thunks look once for so many of them. */
#define LOOK_THUNKS 16
static inline damo_status vm_between(vm_frame *vf, int64_t k) {
  damo_ctx *const ctx = vf->frame.ctx;
  if (ctx_pace(ctx) != NULL) return ctx_poll(ctx);
  return ctx_is_due(ctx) || k % LOOK_THUNKS == LOOK_THUNKS - 1 ? ctx_look(ctx) : DAMO_OK;
}

#endif
