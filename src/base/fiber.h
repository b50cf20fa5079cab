/* fiber: a C stack of its own for a function that is suspended inside and goes on later. Private to base. */
#ifndef DAMO_BASE_FIBER_H
#define DAMO_BASE_FIBER_H

#include "base.h"

/* Where there is no code for switching stacks, fiber_new gives NULL without an error. */
#if defined(__GNUC__) && !defined(__CYGWIN__) && !defined(DAMO_NO_FIBERS) && \
    ((defined(__x86_64__) && !defined(__ILP32__)) || (defined(__aarch64__) && !defined(_WIN32)))
#define FIBER_SWITCHES 1
#else
#define FIBER_SWITCHES 0
#endif

typedef struct fiber fiber;
typedef void (*fiber_fn)(void *user);

/* A fiber at rest, with its stack. NULL: memory error. */
fiber *fiber_new(damo_ctx *ctx);
/* Frees the fiber. Its function must have returned, or fiber_enter must never have been called. */
void fiber_free(damo_ctx *ctx, fiber *f);
/* Called outside of the fiber. At rest: begins fn(user) on its stack; else goes on where it left. Returns when fn has
 * returned (true) or the fiber has left (false). */
bool fiber_enter(fiber *f, fiber_fn fn, void *user);
/* Called on the fiber's stack: goes back to where fiber_enter was called. */
void fiber_leave(fiber *f);

#endif
