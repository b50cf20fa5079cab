/* short: collectives of short arrays, on the group's board or by messages between two ranks.
 *
 * In: a group, this rank's array. Out: the same as MPI_Iallreduce, MPI_Ibcast and MPI_Iallgather give, in less time: MPI
 * schedules its nonblocking collectives, which for a few bytes takes as long as the messages. The blocking ones are no
 * choice: who waits in one hears of no other rank's error. Where the ranks share memory each reads the others' arrays
 * there, which takes less time than messages do.
 */
#ifndef DAMO_MPI_SHORT_H
#define DAMO_MPI_SHORT_H

#include "group.h"

#define SHORT_MOST 8192        /* bytes of a rank's array */
#define SHORT_RANKS_MOST 16    /* of allgather, which sends from each rank to each */
#define SHORT_BOARD_MOST 32768 /* bytes that a rank reads of the others on a board: more go by fewer messages */

typedef struct short_call {
  group *g;
  damo_ctx *ctx;
  uint64_t what; /* which call it is, the same on all ranks */
  MPI_Datatype type;
  int count;
  size_t bytes; /* of count elements */
  /* Waits for the requests, or fails with MPI's code. */
  damo_status (*wait)(void *data, int code, int n, MPI_Request *requests);
  void *data;
} short_call;

/* Whether an array of that size is short for these functions; the same on every rank. */
bool short_enough(size_t bytes);

/* The reduction of the ranks' arrays in order of the ranks, in `out` on every rank, the same bits. `space` has room for
 * one more array. */
damo_status short_allreduce(const short_call *c, MPI_Op op, const char *in, char *out, char *space);
/* Whether short_reduce takes the call; the same on every rank. */
bool short_reduces(const short_call *c);
/* The reduction of the ranks' arrays in order of the ranks, in `out` of the root. */
damo_status short_reduce(const short_call *c, MPI_Op op, int root, const char *in, char *out);
/* `array` of the root, on every rank. */
damo_status short_bcast(const short_call *c, int root, char *array);
/* The ranks' arrays one after the other. At most SHORT_RANKS_MOST ranks. */
damo_status short_allgather(const short_call *c, const char *in, char *out);

#endif
