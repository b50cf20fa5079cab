/* graph_int.h: what the files of graph/ share and nobody else sees. */
#ifndef DAMO_GRAPH_GRAPH_INT_H
#define DAMO_GRAPH_GRAPH_INT_H

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

/* The row, parsed (func.c owns it); NULL: it is written wrong, or there is no memory. */
fn_signature *signature_new(damo_ctx *ctx, const op_func *row);
/* Finds f's sparse rows, all families being registered. */
void signature_link_sparse(damo_ctx *ctx, fn_signature *f);

/* graph_toposort with the stops as the keys of a map (NULL: none). */
damo_status graph_toposort_map(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const map *stops, ptrvec *out);

/* ---- Uses of Variables (fgraph_clients.c) ------------------------------------------------------------------------ */

/* The place that a use is written in: input `index` of node; of the graph's outputs when node is NULL. */
damo_var **fgraph_use_at(const damo_fgraph *fg, const damo_apply *node, int32_t index);
/* Notes a use of v. Fails for want of memory alone; clients_settle then drops what came in vain. */
damo_status clients_add(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index);
/* Takes a use away; harmless when it is not noted. v's list stays, empty or not, until clients_settle. */
void clients_remove(damo_fgraph *fg, const damo_var *v, const damo_apply *node, int32_t index);
/* Puts back a use that clients_remove took and clients_settle has not seen yet: cannot fail. */
void clients_restore(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index);
/* Drops v's list when v has no use. */
void clients_settle(damo_fgraph *fg, const damo_var *v);
void clients_free(damo_fgraph *fg, fg_clients *c);

/* ---- Nodes that come and go (fgraph_import.c) -------------------------------------------------------------------- */

/* Brings in what the new graph's outputs are made from, and notes the outputs as uses. */
damo_status fgraph_import_outputs(damo_fgraph *fg);
/* Brings in the graph above v; `imported` lists what came, also when it fails. v has no use for it yet. */
damo_status fgraph_import(damo_fgraph *fg, damo_var *v, ptrvec *imported);
/* Takes out the node, where nothing uses it, and what it alone used. NULL and nodes of other graphs: nothing. */
void fgraph_prune(damo_fgraph *fg, damo_apply *node);
void fgraph_prune_list(damo_fgraph *fg, const ptrvec *nodes);

/* ---- Patterns (type_pattern.c) ----------------------------------------------------------------------------------- */

/* The interned pattern of a, owned. */
type_pattern *pattern_of(damo_sparse *a);
/* The entries of m stand where the pattern says, in the same order: at once where they share the arrays, else by
 * comparing them. m has the pattern's format and shape. */
bool pattern_fits(const type_pattern *p, const damo_sparse *m);
/* m, taken, which has the pattern, with the pattern's own arrays. */
damo_sparse *pattern_adopt(const type_pattern *p, damo_sparse *take);
/* "entry 3 of row 2 is in column 4, the pattern's in column 5": the first place that differs. m has the format, shape
 * and index dtype, but not the pattern. Returns dst. */
char *pattern_difference(char *dst, size_t n, const type_pattern *p, const damo_sparse *m);

/* ---- Registration ------------------------------------------------------------------------------------------------ */

/* Each makes its context slot and registers its destructors. */
damo_status type_register(damo_ctx *ctx);
damo_status pattern_register(damo_ctx *ctx);
damo_status var_register(damo_ctx *ctx);
damo_status op_register(damo_ctx *ctx);
damo_status fgraph_register(damo_ctx *ctx);
damo_status func_register_table(damo_ctx *ctx);

#endif
