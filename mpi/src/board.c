/* board.c: the window, slots, and waiting for them. */
#include "board.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_LINE 64
#define SLOTS 16 /* places that a rank may be ahead of those that read it */

/* Tests for a number between looks for faults: about a microsecond. */
#define TESTS_A_LOOK 2000
#define YIELDS_A_LOOK 8
/* Places between looks of a rank that never has to wait, so that it hears of faults, and MPI makes progress. */
#define PLACES_A_LOOK 64

/* The data begins in the cache line of the number, so short data comes with it. */
typedef struct slot {
  _Alignas(CACHE_LINE) _Atomic int64_t place; /* 0: none */
  uint64_t what;
  char data[BOARD_SLOT_BYTES];
} slot;

/* A rank's part of the window. */
typedef struct part {
  _Alignas(CACHE_LINE) _Atomic int64_t entered; /* the last place that the rank has come to */
  int64_t mark;                                 /* part_mark of the rank: the others see the same memory */
  slot slots[SLOTS];
} part;

struct board {
  MPI_Comm comm; /* of the window */
  MPI_Win window;
  bool yields;         /* there are fewer cores than ranks: who waits gives its core away at once */
  int64_t used[SLOTS]; /* places that this rank's slots hold */
  part *parts[BOARD_RANKS_MOST];
};

/* ---- Making boards ----------------------------------------------------------------------------------------------- */

/* Whether it is so on all ranks of the group. */
static bool all_ranks(const group *g, bool here) {
  int mine = here, all = 0;
  return MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, g->comm) == MPI_SUCCESS && all;
}

static bool is_wanted(void) {
  const char *setting = getenv("DAMO_MPI_BOARD");
  return setting == NULL || strcmp(setting, "0") != 0;
}

/* Whether there are fewer cores than ranks, as far as they or the launcher tell. */
static bool shares_cores(const group *g) {
  const char *setting = getenv("OMPI_MCA_mpi_yield_when_idle");
  return (setting != NULL && strcmp(setting, "1") == 0) || sysconf(_SC_NPROCESSORS_ONLN) < g->size;
}

/* A communicator of the group's ranks on this machine. */
static bool find_machine(const group *g, MPI_Comm *machine) {
  int n = 0;
  if (MPI_Comm_split_type(g->comm, MPI_COMM_TYPE_SHARED, g->rank, MPI_INFO_NULL, machine) != MPI_SUCCESS) return false;
  MPI_Comm_set_errhandler(*machine, MPI_ERRORS_RETURN);
  return MPI_Comm_size(*machine, &n) == MPI_SUCCESS && n == g->size;
}

/* Room for a part that begins with a cache line, wherever MPI's memory begins. */
static bool make_window(board *b) {
  void *mine = NULL;
  const MPI_Aint bytes = sizeof(part) + CACHE_LINE;
  if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, b->comm, &mine, &b->window) != MPI_SUCCESS) return false;
  MPI_Win_set_errhandler(b->window, MPI_ERRORS_RETURN);
  int *model = NULL, is_there = 0;
  MPI_Win_get_attr(b->window, MPI_WIN_MODEL, &model, &is_there);
  return is_there && *model == MPI_WIN_UNIFIED; /* loads and stores of a rank are seen by the others */
}

static int64_t part_mark(int rank) { return 0x64616d6f00 + rank; }

static bool find_parts(const group *g, board *b) {
  for (int r = 0; r < g->size; r++) {
    MPI_Aint bytes;
    int unit;
    char *memory;
    if (MPI_Win_shared_query(b->window, r, &bytes, &unit, &memory) != MPI_SUCCESS) return false;
    memory += (CACHE_LINE - (uintptr_t)memory % CACHE_LINE) % CACHE_LINE;
    b->parts[r] = (part *)(void *)memory;
  }
  part *mine = b->parts[g->rank];
  atomic_store_explicit(&mine->entered, 0, memory_order_relaxed);
  for (int k = 0; k < SLOTS; k++) atomic_store_explicit(&mine->slots[k].place, 0, memory_order_relaxed);
  mine->mark = part_mark(g->rank);
  return MPI_Win_lock_all(MPI_MODE_NOCHECK, b->window) == MPI_SUCCESS && MPI_Win_sync(b->window) == MPI_SUCCESS;
}

static bool sees_parts(const group *g, const board *b) {
  MPI_Win_sync(b->window);
  for (int r = 0; r < g->size; r++) {
    if (b->parts[r]->mark != part_mark(r)) return false;
  }
  return true;
}

/* Each step is agreed on, as MPI's calls are of all ranks or of none. What a step that fails on one rank alone has made
 * is left to the end of MPI. */
static bool make_board(group *g, board *b) {
  if (!all_ranks(g, b != NULL && is_wanted())) return false;
  if (!all_ranks(g, find_machine(g, &b->comm))) {
    if (b->comm != MPI_COMM_NULL) MPI_Comm_free(&b->comm);
    return false;
  }
  return all_ranks(g, make_window(b)) && all_ranks(g, find_parts(g, b)) && all_ranks(g, sees_parts(g, b));
}

void board_open(group *g) {
  if (g->size < 2 || g->size > BOARD_RANKS_MOST || g->id >= BOARD_GROUPS_MOST) return;
  board *b = calloc(1, sizeof *b);
  if (b != NULL) {
    b->comm = MPI_COMM_NULL;
    b->window = MPI_WIN_NULL;
    b->yields = shares_cores(g);
  }
  if (make_board(g, b)) {
    g->board = b;
  } else {
    free(b);
  }
}

void board_close(group *g, bool has_mpi) {
  board *b = g->board;
  if (b == NULL) return;
  if (has_mpi) {
    MPI_Win_unlock_all(b->window);
    MPI_Win_free(&b->window);
    MPI_Comm_free(&b->comm);
  }
  free(b);
  g->board = NULL;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static int64_t read_number(_Atomic int64_t *number) { return atomic_load_explicit(number, memory_order_acquire); }

static damo_status fail_apart(group *g, damo_ctx *ctx, int rank) {
  char text[200];
  g->broken = true;
  snprintf(text, sizeof text,
           "mpi: rank %d of the group makes another call than this rank, though both were agreed on before; "
           "mpi.config.check = true tells which",
           rank);
  return damo_fail(ctx, DAMO_EINCONSISTENCY, text);
}

/* After a test that found nothing. */
static bool is_time_to_look(const board *b, int *tests) {
  if (b->yields) sched_yield();
  if (*tests < (b->yields ? YIELDS_A_LOOK : TESTS_A_LOOK)) return false;
  *tests = 0;
  return true;
}

/* Waits until a rank has come to that place. */
static damo_status await_rank(group *g, damo_ctx *ctx, int rank, int64_t place) {
  part *of = g->board->parts[rank];
  for (int tests = 0; read_number(&of->entered) < place; tests++) {
    if (!is_time_to_look(g->board, &tests)) continue;
    const damo_status s = group_look(g, ctx);
    if (s != DAMO_OK) return s;
  }
  return DAMO_OK;
}

/* Waits until a rank's slot holds the group's place. A rank that has come to a later one without it will not show it. */
static damo_status await_slot(group *g, damo_ctx *ctx, int rank) {
  part *of = g->board->parts[rank];
  slot *from = &of->slots[g->place % SLOTS];
  for (int tests = 0; read_number(&from->place) < g->place; tests++) {
    if (!is_time_to_look(g->board, &tests)) continue;
    const damo_status s = group_look(g, ctx);
    if (s != DAMO_OK) return s;
    if (read_number(&of->entered) > g->place && read_number(&from->place) < g->place) return fail_apart(g, ctx, rank);
  }
  return DAMO_OK;
}

void board_enter(group *g) {
  atomic_store_explicit(&g->board->parts[g->rank]->entered, g->place, memory_order_release);
}

damo_status board_begin(group *g, damo_ctx *ctx, char **data) {
  board *b = g->board;
  const int k = (int)(g->place % SLOTS);
  for (int r = 0; r < g->size && b->used[k] > 0; r++) {
    const damo_status s = await_rank(g, ctx, r, b->used[k] + 1);
    if (s != DAMO_OK) return s;
  }
  *data = b->parts[g->rank]->slots[k].data;
  return g->place % PLACES_A_LOOK == 0 ? group_look(g, ctx) : DAMO_OK;
}

void board_show(group *g, uint64_t what) {
  board *b = g->board;
  const int k = (int)(g->place % SLOTS);
  slot *s = &b->parts[g->rank]->slots[k];
  b->used[k] = g->place;
  group_note_sent(g);
  s->what = what;
  atomic_store_explicit(&s->place, g->place, memory_order_release);
}

damo_status board_read(group *g, damo_ctx *ctx, int rank, uint64_t what, const char **data) {
  slot *from = &g->board->parts[rank]->slots[g->place % SLOTS];
  const damo_status s = await_slot(g, ctx, rank);
  if (s != DAMO_OK) return s;
  *data = from->data;
  return from->what == what && read_number(&from->place) == g->place ? DAMO_OK : fail_apart(g, ctx, rank);
}
