/* board: memory that the ranks of one machine share, for short data of a group.
 *
 * In: a group whose ranks are all on one machine, the place of a collective, this rank's bytes. Out: the bytes of other
 * ranks at the same place. The memory is MPI's, a shared window (MPI_Win_allocate_shared). Each rank has a part of it, with
 * a few slots that it alone writes, and the number of the last place that it has come to. A slot holds the data of one
 * place. Its number is written after the data, so who reads the number of its own place reads the data of that place. A
 * slot is written again when all ranks have come to a later place than the one that it holds, since they read it before.
 *
 * Who waits for another rank looks for faults and for notices meanwhile, as one who waits for a message does.
 */
#ifndef DAMO_MPI_BOARD_H
#define DAMO_MPI_BOARD_H

#include "group.h"

#define BOARD_RANKS_MOST 16    /* of a group with a board, whose ranks read each other's slots one by one */
#define BOARD_GROUPS_MOST 16   /* groups with a board: the first ones that are made */
#define BOARD_SLOT_BYTES 16384 /* of data */

/* Makes the group's board, which stays NULL where ranks are on several machines, where MPI has no memory for one, and
 * where DAMO_MPI_BOARD=0 is in the environment of a rank. All ranks of the group call it. */
void board_open(group *g);
/* Frees it; has_mpi: all ranks of the group do. */
void board_close(group *g, bool has_mpi);

/* This rank has come to the group's place: it has read what it wanted of all places before. */
void board_enter(group *g);
/* This rank's slot for the place, for up to BOARD_SLOT_BYTES; waits until the ranks have read what it holds. */
damo_status board_begin(group *g, damo_ctx *ctx, char **data);
/* Shows what has been written into the slot. `what` tells which call it is of. */
void board_show(group *g, uint64_t what);
/* Another rank's data of this place; waits until it is there. An inconsistency error if it is of another `what`. */
damo_status board_read(group *g, damo_ctx *ctx, int rank, uint64_t what, const char **data);

#endif
