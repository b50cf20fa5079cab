/* watch: the modes that check what a Function computes: NANGUARD and DEBUG.
 *
 * In: Functions as they are compiled and called. Out: errors. NANGUARD looks for nan and inf in values. DEBUG checks
 * the claims of each node's Op (Types, patterns, aliases), reruns the node in other ways, compares it with an
 * independent definition of its class, and compares both sides of each rewrite and the results with those of the graph
 * as it was written. Always holds: a watched call gives the same results as one in FAST_RUN, or an error; compile/
 * knows the modes as fn_watchers alone.
 */
#ifndef DAMO_WATCH_H
#define DAMO_WATCH_H

#include "compile/compile.h"

extern const fn_watcher nanguard_watcher, debug_watcher;

#endif
