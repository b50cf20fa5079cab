/* graph_int.h: what the files of graph/ share and nobody else sees. */
#ifndef DAMO_GRAPH_INT_H
#define DAMO_GRAPH_INT_H

#include "graph.h"

typedef struct intern_table {
  map heads; /* hash key → first link of the chain */
} intern_table;

static inline const void *intern_key(uint64_t hash) { return (const void *)(uintptr_t)(hash | 2); }

/* Makes the table that hangs from that slot of the context. */
damo_status intern_register(damo_ctx *ctx, ctx_slot_id slot);
/* The first link of that hash, NULL when there is none; walk on by next. */
intern_link *intern_first(const damo_ctx *ctx, ctx_slot_id slot, uint64_t hash);
/* Puts link (its hash set) at the head of its chain. */
damo_status intern_add(damo_ctx *ctx, ctx_slot_id slot, intern_link *link);
/* Takes link out of its chain; harmless when it never came in. */
void intern_remove(damo_ctx *ctx, ctx_slot_id slot, intern_link *link);
/* The object of that type around its link. */
#define INTERNED(type, l) ((type *)(void *)((char *)(l)-offsetof(type, link)))

/* graph_toposort with the stops as the keys of a map (NULL: none). */
damo_status graph_toposort_map(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const map *stops, ptrvec *out);

/* Each makes its context slot and registers its destructors. */
damo_status type_register(damo_ctx *ctx);
damo_status var_register(damo_ctx *ctx);
damo_status op_register(damo_ctx *ctx);
damo_status fgraph_register(damo_ctx *ctx);
damo_status func_register_table(damo_ctx *ctx);

#endif
