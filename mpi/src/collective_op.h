/* collective_op: the collectives as Op classes, MpiAllreduce and so on, with gradients.
 *
 * A node has the inputs x, `like` where its form has a second operand, and a ticket, and the outputs y and a ticket. A
 * ticket is a 0-d int64 that orders nodes: compiling a graph hands the ticket of each collective to the next one, in the
 * order of their numbers (seq), which all ranks give alike. The first comes from an MpiBegin, and the last goes to an
 * MpiEnd, so that a call which an error ends between them is noticed by the next one. Bit 0 of its value asks for a check
 * of each call.
 */
#ifndef DAMO_MPI_COLLECTIVE_OP_H
#define DAMO_MPI_COLLECTIVE_OP_H

#include "collective.h"

#define TICKET_CHECK 1 /* bit of a ticket's value */

/* Registers the classes in the context. */
damo_status collective_register(world *w, damo_ctx *ctx);
/* A node of the form, owned, with the next number; like may be NULL. */
damo_apply *collective_apply(world *w, damo_ctx *ctx, const form *f, damo_var *x, damo_var *like);
/* Whether the form has a second operand. */
bool collective_has_like(const form *f);
/* A new ticket, owned: a constant that compiling replaces. */
damo_var *collective_ticket(damo_ctx *ctx);

/* Makes the group of all ranks and registers the classes, once. */
damo_status collective_open(lua_State *L, world *w);
/* Adds the functions of scripts to the module's table at the top of the stack. */
void collective_register_functions(lua_State *L);

#endif
