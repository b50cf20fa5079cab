/* graph_int.h: what the files of graph/ share and nobody else sees. */
#ifndef DAMO_GRAPH_INT_H
#define DAMO_GRAPH_INT_H

#include "graph.h"

/* Interned objects hang in chains from a map keyed by their hash. */
typedef struct intern_table {
  map heads; /* hash key → first object of the chain */
} intern_table;

static inline const void *intern_key(uint64_t hash) { return (const void *)(uintptr_t)(hash | 2); }

/* graph_toposort with the stops as the keys of a map (NULL: none). */
damo_status graph_toposort_map(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const map *stops, ptrvec *out);

/* Each makes its context slot and registers its destructors. */
damo_status type_register(damo_ctx *ctx);
damo_status var_register(damo_ctx *ctx);
damo_status op_register(damo_ctx *ctx);
damo_status fgraph_register(damo_ctx *ctx);
damo_status func_register_table(damo_ctx *ctx);

#endif
