/* bucket: reductions over the ranks that go on while others compute: the Ops MpiBucketStart and MpiBucketWait.
 *
 * MpiBucketStart(x, ticket) gives a handle and a ticket, and lets MPI reduce x over the ranks of a group.
 * MpiBucketWait(x, handle, ticket) waits for the result and gives it; its derivatives are those of an allreduce of x. A
 * handle is the number of the MpiBucketStart that runs; x is kept, and not overwritten, since both nodes read it. A
 * Function that fails between the two leaves a reduction under way, which its next call awaits before it starts another.
 */
#ifndef DAMO_MPI_BUCKET_H
#define DAMO_MPI_BUCKET_H

#include "group.h"

/* Registers the classes in the context. */
damo_status bucket_register(world *w, damo_ctx *ctx);
/* Adds bucket_start and bucket_wait to the module's table at the top of the stack. */
void bucket_register_functions(lua_State *L);

#endif
