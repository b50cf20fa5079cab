/* faults: what every rank hears of a rank that raises an error, or that ends while others wait for it.
 *
 * In: the world's control communicator. Out: an error in every wait of every rank, the same on all of them; an end of
 * the job in which nobody waits for a rank that will not come.
 *
 * Each rank sends each other rank at most two messages: FAILED, with the error of its own that broke the world, or
 * HEARD, when it learns that another rank broke it; and ENDED, when its script has ended. A rank that fails or hears
 * waits for everybody's word for at most `grace` seconds (somebody may be computing, and hears later), and all take the
 * error of the lowest rank that raised one.
 *
 * A rank that ends tells how often it took part in the communication of each group. Who has begun more than that in a
 * group that it belongs to waits in vain, whether the rank ended by an error, by os.exit, or too early.
 */
#ifndef DAMO_MPI_FAULTS_H
#define DAMO_MPI_FAULTS_H

#include "world.h"

/* Opens the channel of a world that has more than one rank, sets w->poll and what world_close does; else does nothing.
 * A memory or io error. */
damo_status faults_open(world *w, damo_ctx *ctx);
/* Counts one more communication of a group, by a number that its members and nobody else have; FAULTS_WORLD for all
 * ranks. Called where the communication begins. */
#define FAULTS_WORLD 0
void faults_count(world *w, uint64_t group);
/* Makes this rank known as a member of a group, before anything is counted there. */
void faults_join(world *w, uint64_t group);
/* Adds the functions of scripts to the module's table at the top of the stack. */
void faults_register(lua_State *L);

#endif
