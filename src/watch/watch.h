/* watch: the modes that look at what a Function computes.
 *
 * In: Functions as they are compiled and called. Out: errors. NANGUARD looks for nan and inf; DEBUG checks what each node
 * says of itself, runs it in other ways, computes it by another definition of its class, and computes the graph as it
 * was written and both sides of each rewrite. Always holds: a watched call gives what one in FAST_RUN gives, or an
 * error; compile knows the modes as fn_watcher alone.
 */
#ifndef DAMO_WATCH_H
#define DAMO_WATCH_H

#include "compile/compile.h"

extern const fn_watcher nanguard_watcher, debug_watcher;

#endif
