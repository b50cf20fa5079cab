/* by_hand: MPI's calls made from C, as a Lua module, for a comparison with damo's collectives in one run.
 *
 * task, kind = by_hand.make(name, n) is for n doubles of each rank: "allreduce", "bcast", "allgather", "halo" (along one
 * axis in a ring, x whole on both sides). by_hand.run(task, kind, times, nonblocking) makes TARGETS · times calls and
 * returns the seconds of one; results go to TARGETS arrays in turn, as those of a Function with that many collectives do.
 * With nonblocking it is the call that returns at once, and MPI_Wait. by_hand.now() is the clock.
 */
#include <lauxlib.h>
#include <lua.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TARGETS 10

int luaopen_by_hand(lua_State *L);

typedef struct task {
  int n, rank, size, times;
  bool nonblocking;
  double *x, *targets[TARGETS];
} task;

static double sum_all(const task *t, int k) {
  MPI_Request request;
  if (!t->nonblocking) {
    MPI_Allreduce(t->x, t->targets[k], t->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Iallreduce(t->x, t->targets[k], t->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return t->targets[k][0];
}

/* A collective of damo has a result of its own: the root copies. */
static double broadcast(const task *t, int k) {
  MPI_Request request;
  if (t->rank == 0) memcpy(t->targets[k], t->x, (size_t)t->n * sizeof(double));
  if (!t->nonblocking) {
    MPI_Bcast(t->targets[k], t->n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    MPI_Ibcast(t->targets[k], t->n, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return t->targets[k][0];
}

static double gather_all(const task *t, int k) {
  MPI_Request request;
  if (!t->nonblocking) {
    MPI_Allgather(t->x, t->n, MPI_DOUBLE, t->targets[k], t->n, MPI_DOUBLE, MPI_COMM_WORLD);
  } else {
    MPI_Iallgather(t->x, t->n, MPI_DOUBLE, t->targets[k], t->n, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return t->targets[k][0];
}

/* Three layers of n, of which the outer ones come from the ranks before and after, in a ring. */
static double halo(const task *t, int k) {
  double *out = t->targets[k];
  const int n = t->n, before = (t->rank + t->size - 1) % t->size, after = (t->rank + 1) % t->size;
  MPI_Request requests[4];
  MPI_Irecv(out, n, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(out + 2 * n, n, MPI_DOUBLE, after, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(t->x, n, MPI_DOUBLE, after, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(t->x, n, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, &requests[3]);
  memcpy(out + n, t->x, (size_t)n * sizeof(double));
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  return out[0];
}

static const struct {
  const char *name;
  double (*call)(const task *t, int k);
  int length; /* of a result, in lengths of x; 0: one for each rank */
} kinds[] = {{"allreduce", sum_all, 1}, {"bcast", broadcast, 1}, {"allgather", gather_all, 0}, {"halo", halo, 3}};

/* What is kept between calls, so that memory which is new to the process is not timed. */
static int make(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  task *t = lua_newuserdata(L, sizeof *t);
  int kind = 0;
  while (kind < 4 && strcmp(kinds[kind].name, name) != 0) kind++;
  if (kind == 4) return luaL_error(L, "by_hand: there is no '%s'", name);
  t->n = (int)luaL_checkinteger(L, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &t->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &t->size);
  const size_t times = kinds[kind].length > 0 ? (size_t)kinds[kind].length : (size_t)t->size;
  const size_t bytes = (size_t)t->n * sizeof(double);
  t->x = malloc(bytes);
  for (int k = 0; k < TARGETS; k++) {
    t->targets[k] = malloc(bytes * times);
    if (t->x == NULL || t->targets[k] == NULL) return luaL_error(L, "by_hand: out of memory");
    memset(t->targets[k], 1, bytes * times);
  }
  for (int i = 0; i < t->n; i++) t->x[i] = 1;
  lua_pushinteger(L, kind);
  return 2;
}

static int run(lua_State *L) {
  task *t = lua_touserdata(L, 1);
  const int kind = (int)luaL_checkinteger(L, 2);
  const int times = (int)luaL_checkinteger(L, 3);
  t->nonblocking = lua_toboolean(L, 4);
  volatile double kept = 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < times; i++) {
    for (int k = 0; k < TARGETS; k++) kept = kinds[kind].call(t, k);
  }
  const double end = MPI_Wtime();
  (void)kept;
  lua_pushnumber(L, (end - start) / times / TARGETS);
  return 1;
}

static int drop(lua_State *L) {
  task *t = lua_touserdata(L, 1);
  free(t->x);
  for (int k = 0; k < TARGETS; k++) free(t->targets[k]);
  return 0;
}

static int now(lua_State *L) {
  lua_pushnumber(L, MPI_Wtime());
  return 1;
}

__attribute__((visibility("default"))) int luaopen_by_hand(lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, make);
  lua_setfield(L, -2, "make");
  lua_pushcfunction(L, run);
  lua_setfield(L, -2, "run");
  lua_pushcfunction(L, drop);
  lua_setfield(L, -2, "drop");
  lua_pushcfunction(L, now);
  lua_setfield(L, -2, "now");
  return 1;
}
