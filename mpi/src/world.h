/* world: the processes of this job, as MPI numbers them.
 *
 * In: nothing, or a launcher's environment. Out: rank, size, communicators, and waiting that a fault anywhere ends.
 * One world belongs to one Lua state and its context. A script that no launcher started is a world of one rank, which
 * starts no MPI: `comm` is then MPI_COMM_NULL, and whatever would communicate copies.
 *
 * Modules other than damo.mpi.core (damo.mpi.petsc) reach the world of a Lua state by world_of(L), and its functions by
 * `world->calls`, since core.so exports nothing but luaopen_damo_mpi_core.
 */
#ifndef DAMO_MPI_WORLD_H
#define DAMO_MPI_WORLD_H

#include <mpi.h>

#include <lauxlib.h>
#include <lua.h>

#include "damo_module.h"

typedef struct world world;

/* What other modules call: the functions of the same names below. */
typedef struct world_calls {
  damo_status (*start)(world *w, damo_ctx *ctx);
  damo_status (*wait)(world *w, damo_ctx *ctx, int n, MPI_Request *requests);
  damo_status (*check)(world *w, damo_ctx *ctx, int code, const char *call);
  damo_status (*at_close)(world *w, damo_ctx *ctx, void (*fn)(void *user), void *user);
} world_calls;

#define WORLD_MAX_AT_CLOSE 8
#define WORLD_OWN_OPERATIONS 6

struct world {
  const world_calls *calls;
  MPI_Comm comm;    /* of the work: a duplicate of MPI_COMM_WORLD, or MPI_COMM_NULL in a world of one without MPI */
  MPI_Comm control; /* of what is agreed beside the work: fingerprints, faults */
  int rank, size;
  bool uses_mpi; /* the communicators are there, and MPI is not finalized */
  bool owns_mpi; /* MPI_Init was called here, so MPI_Finalize is too */
  bool closed;
  bool broken; /* after a fault: whatever would communicate is a state error */

  /* Looks for a fault of another rank and takes no time if there is none: an error then, which tells it. It is called
   * while a rank waits. NULL: nothing is looked for. */
  damo_status (*poll)(world *w, damo_ctx *ctx);
  /* Called first by world_close: waits until every rank ends, and clears uses_mpi where MPI can't be ended in order. */
  void (*end)(world *w);
  struct faults *faults; /* faults.c's own */

  struct {
    void (*fn)(void *user);
    void *user;
  } at_close[WORLD_MAX_AT_CLOSE];
  int n_at_close;
  struct group *groups; /* list of all groups; the first made, the last in the list, is that of all ranks */
  int n_groups;
  /* Reductions that damo does in a way of its own, made when they are wanted; MPI_OP_NULL before. See datatype.c. */
  MPI_Op operations[WORLD_OWN_OPERATIONS];
  int64_t n_collectives;  /* nodes of collectives made so far: equal on all ranks, since all run the same script */
  struct bucket *buckets; /* those of MpiBucketStart that have run */
  int64_t n_buckets;      /* made so far */
  bool check;             /* every call of a collective is checked, not the first of its kind alone */
  bool check_call;        /* so are those of the call of a Function that runs */
  bool in_call;           /* a call of a Function with collectives has begun, and has not ended */
  int refs; /* the userdata, and each class of Ops that was registered with the world as its user pointer */
};

/* The world of a Lua state, which require "damo.mpi.core" has made; NULL before. */
#define WORLD_REGISTRY_KEY "damo.mpi.world"
static inline world *world_of(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, WORLD_REGISTRY_KEY);
  world **box = (world **)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return box != NULL ? *box : NULL;
}

/* A new world with one reference; NULL if out of memory. It has no ranks before world_open. */
world *world_new(void);
/* Drops a reference; the last one closes and frees the world. */
void world_release(world *w);
/* Finds rank and size; calls MPI_Init if a launcher started this process. Returns MPI_SUCCESS or MPI's error. */
int world_open(world *w);
/* Calls what at_close lists, the latest first, frees the communicators and calls MPI_Finalize if MPI_Init was called
 * here. May be called twice. */
void world_close(world *w);

/* Starts MPI in a world of one that has none, for libraries that need it; nothing else changes. An io error if MPI does
 * not start, a state error after world_close. */
damo_status world_start(world *w, damo_ctx *ctx);
/* Waits until the n requests are complete (MPI_REQUEST_NULL counts as complete), or a fault of any rank is there, which
 * is the error then. After an error requests may still be under way, and so must be the memory that they use. */
damo_status world_wait(world *w, damo_ctx *ctx, int n, MPI_Request *requests);
/* The same; look(data) is called while the rank waits, too, and an error of it ends the waiting. */
damo_status world_wait_looking(world *w, damo_ctx *ctx, int n, MPI_Request *requests, damo_status (*look)(void *data),
                               void *data);
/* What waiting does from time to time: looks for a fault, then calls look(data) if there is one. MPI makes progress. */
damo_status world_look(world *w, damo_ctx *ctx, damo_status (*look)(void *data), void *data);
/* DAMO_OK for MPI_SUCCESS, else an io error with the name of MPI's function and MPI's text. */
damo_status world_check(world *w, damo_ctx *ctx, int code, const char *call);
/* A state error unless the world can communicate: after a fault, and after world_close. */
damo_status world_usable(const world *w, damo_ctx *ctx);
/* Has fn(user) called by world_close, while MPI still runs. A state error if there are too many. */
damo_status world_at_close(world *w, damo_ctx *ctx, void (*fn)(void *user), void *user);

#endif
