/* short: collectives of short arrays, made of messages between two ranks.
 *
 * In: a group, this rank's array. Out: the same as MPI_Iallreduce, MPI_Ibcast and MPI_Iallgather give, in less time: MPI
 * schedules its nonblocking collectives, which for a few bytes takes as long as the messages. The blocking ones are no
 * choice: who waits in one hears of no other rank's error.
 */
#ifndef DAMO_MPI_SHORT_H
#define DAMO_MPI_SHORT_H

#include "group.h"

#define SHORT_MOST 8192     /* bytes of a rank's array */
#define SHORT_RANKS_MOST 16 /* of allgather, which sends from each rank to each */

typedef struct short_call {
  const group *g;
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
/* `array` of the root, on every rank. */
damo_status short_bcast(const short_call *c, int root, char *array);
/* The ranks' arrays one after the other. At most SHORT_RANKS_MOST ranks. */
damo_status short_allgather(const short_call *c, const char *in, char *out);

#endif
