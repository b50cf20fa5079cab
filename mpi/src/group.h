/* group: ranks that work together, and what they agree on before they exchange data.
 *
 * In: a communicator. Out: collectives of the group have places, 1, 2, …, in the order in which each rank comes to them.
 * Before a rank sends data it tells what it is about to do, as a record of integers, and compares the records of all
 * ranks, unless a record of the same hash has been compared before: then the data alone travels. So a mismatch is an
 * error on every rank. A rank that meets an unknown record while others rely on a known one sends them a notice; those
 * who wait for data then come to the comparison, too. A comparison goes in rounds, in each of which every rank gives a
 * record: as long as their places differ, the next round is for the lowest of them.
 */
#ifndef DAMO_MPI_GROUP_H
#define DAMO_MPI_GROUP_H

#include "world.h"

/* The words of a record. Words from RECORD_SHAPE on are lengths, as many as RECORD_NDIM says. */
enum {
  RECORD_PLACE,
  RECORD_SENT, /* 1: this rank has sent its data, or has gone on to a later place */
  RECORD_SEQ,  /* of the node; -1: a call on values */
  RECORD_KIND, /* a collective_kind, doubled, + 1 for the adjoint; or one of the below */
  RECORD_DTYPE,
  RECORD_NDIM,
  RECORD_OPTIONS, /* 8 words: reduction, root, axes, …; see collective.h */
  RECORD_SHAPE = RECORD_OPTIONS + 8,
  RECORD_WORDS = RECORD_SHAPE + DAMO_MAX_NDIM
};

/* Kinds beside the collectives. SAME: a number that must be the same on all ranks. GONE: the rank is too far ahead to
 * tell. EXCHANGE: strings, of a function whose name is the text at RECORD_SHAPE. */
enum { RECORD_SPLIT = -1, RECORD_SAME = -2, RECORD_GONE = -3, RECORD_BARRIER = -4, RECORD_EXCHANGE = -5 };
#define RECORD_TEXT_MAX 64 /* bytes of a text at RECORD_SHAPE, with its final 0 */

#define GROUP_HISTORY 16 /* records kept, for ranks that come to a place later */

#define GROUP_MAX_AGREED 1024 /* hashes of records that all ranks know to agree; then they are forgotten */

typedef struct group group;
typedef struct board board;
struct group {
  world *w;
  group *next;
  int id, rank, size;
  uint64_t key;           /* the same on the members of the group, another one in every other group */
  MPI_Comm comm, control; /* MPI_COMM_NULL in a group of one */
  board *board;           /* for short data of ranks on one machine; NULL without one */
  int64_t place;          /* of the collective that this rank is at, or was at last */
  int64_t compared;       /* the last place whose records were compared */
  int64_t told;           /* the first place after `compared` that another rank wants compared; 0: none */
  int64_t notice_in, notice_out;
  MPI_Request notice;
  bool broken; /* ranks are at different places: nothing can be exchanged any more */
  bool doubts; /* this rank may have left out collectives, so that it compares the next one */
  int n_agreed;
  uint64_t agreed[2 * GROUP_MAX_AGREED]; /* a hash table; 0: free */
  int64_t *records;                      /* size × RECORD_WORDS: those of the last comparison */
  int64_t history[GROUP_HISTORY][RECORD_WORDS];
  int64_t *lengths; /* 3 × size, for lengths and sizes of blocks */
  int *counts;      /* 4 × size, for MPI's lists of counts and displacements */
};

/* The group of all ranks, made at first. NULL, with the context's error: MPI or memory failed. */
group *group_world(world *w, damo_ctx *ctx);
/* The group with that number, NULL if there is none. */
group *group_find(const world *w, int64_t id);
/* A group of the ranks of g that give the same color, in the order of (key, rank); a negative color gives NULL with
 * DAMO_OK. All ranks of g call it. */
damo_status group_split(group *g, damo_ctx *ctx, int color, int key, group **out);
/* Has the next collective of each group compared: this rank left a call before its last collective. */
void groups_doubt(world *w);
/* Frees all groups; MPI's objects only if MPI runs. */
void groups_close(world *w, bool has_mpi);

/* Goes to the next place, and writes it into the record. A state error if the group can't communicate. */
damo_status group_enter(group *g, damo_ctx *ctx, int64_t *record);
/* What a record is known by, whatever its place; never 0. */
uint64_t group_hash(const int64_t *record);
/* Whether a record of that hash has been compared before, and the group is not in doubt. */
bool group_has_agreed(const group *g, uint64_t hash);
/* Compares the records of all ranks at this place, the last one entered, by records_judge, and leaves them in
 * g->records. */
damo_status group_compare(group *g, damo_ctx *ctx, int64_t *record);
/* Goes to the next place with a record of that kind, and compares it: no rank goes on before all are there. name: what
 * scripts call, for messages. */
damo_status group_meet(group *g, damo_ctx *ctx, int64_t kind, const char *name);
/* Waits for requests of this place, and takes part in comparisons that other ranks want meanwhile. */
damo_status group_wait(group *g, damo_ctx *ctx, int n, MPI_Request *requests);
/* For who waits otherwise: notes that this rank has sent its data of this place. */
void group_note_sent(group *g);
/* Then, from time to time: looks for a fault, which is the error then, and takes part in comparisons as group_wait does. */
damo_status group_look(group *g, damo_ctx *ctx);

#endif
