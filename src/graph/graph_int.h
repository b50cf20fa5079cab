/* graph_int.h: private to graph/. */
#ifndef DAMO_GRAPH_GRAPH_INT_H
#define DAMO_GRAPH_GRAPH_INT_H

#include "graph.h"

typedef struct intern_table {
  map heads; /* hash key → first link of the chain */
} intern_table;

static inline const void *intern_key(uint64_t hash) { return (const void *)(uintptr_t)(hash | 2); }

/* Makes an empty table in that slot of the context. */
damo_status intern_register(damo_ctx *ctx, ctx_slot_id slot);
/* The first link of that hash, NULL when there is none; walk on by next. */
intern_link *intern_first(const damo_ctx *ctx, ctx_slot_id slot, uint64_t hash);
/* Puts link (its hash set) at the head of its chain. */
damo_status intern_add(damo_ctx *ctx, ctx_slot_id slot, intern_link *link);
/* Removes link from its chain; no effect if it is in none. */
void intern_remove(damo_ctx *ctx, ctx_slot_id slot, intern_link *link);
/* The object of that type that contains the link. */
#define INTERNED(type, l) ((type *)(void *)((char *)(l)-offsetof(type, link)))

/* The parsed row, owned by the caller (func.c). NULL with an error: the row is malformed, or there is no memory. */
fn_signature *signature_new(damo_ctx *ctx, const op_func *row);
/* Sets f's sparse rows; all families must be registered. */
void signature_link_sparse(damo_ctx *ctx, fn_signature *f);

/* ---- Uses of Variables (fgraph_clients.c) ------------------------------------------------------------------------ */

/* Where a use is stored: the address of input `index` of node, or of output `index` of the graph if node is NULL. */
damo_var **fgraph_use_at(const damo_fgraph *fg, const damo_apply *node, int32_t index);
/* Records a use of v. The one failure is a memory error; clients_settle then drops a list that stayed empty. */
damo_status clients_add(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index);
/* Removes a use; no effect if it is not recorded. v's list stays, empty or not, until clients_settle. */
void clients_remove(damo_fgraph *fg, const damo_var *v, const damo_apply *node, int32_t index);
/* Puts back a use that clients_remove took away, before clients_settle was called for v: cannot fail. */
void clients_restore(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index);
/* Frees v's list if v has no use. */
void clients_settle(damo_fgraph *fg, damo_var *v);
void clients_free(damo_fgraph *fg, fg_clients *c);

/* ---- Import and pruning (fgraph_import.c) ------------------------------------------------------------------------ */

/* Imports all nodes above the new graph's outputs, and records the outputs as uses. */
damo_status fgraph_import_outputs(damo_fgraph *fg);
/* Imports the nodes above v that fg does not have yet. `imported` (kept by the caller) receives them, on failure those
 * that came in until then. v itself has no use afterwards. */
damo_status fgraph_import(damo_fgraph *fg, damo_var *v, ptrvec *imported);
/* Removes the node if nothing uses it, and every node above it that loses its last use by that. NULL and nodes of other
 * graphs are ignored. */
void fgraph_prune(damo_fgraph *fg, damo_apply *node);
void fgraph_prune_list(damo_fgraph *fg, const ptrvec *nodes);

/* ---- Patterns (type_pattern.c) ----------------------------------------------------------------------------------- */

/* The interned pattern of a, owned. */
type_pattern *pattern_of(damo_sparse *a);
/* Whether m has the pattern, in the same storage order: O(1) if they share the index arrays, else O(nnz). m has the
 * pattern's format and shape. */
bool pattern_fits(const type_pattern *p, const damo_sparse *m);
/* Takes m, which has the pattern, and returns a matrix of the same data over the pattern's own index arrays. */
damo_sparse *pattern_adopt(const type_pattern *p, damo_sparse *take);
/* "entry 3 of row 2 is in column 4, the pattern's in column 5": describes the first difference. m has the format, shape
 * and index dtype, but not the pattern. Returns dst. */
char *pattern_difference(char *dst, size_t n, const type_pattern *p, const damo_sparse *m);

/* ---- Registration ------------------------------------------------------------------------------------------------ */

/* Each makes its context slot and registers its destructors. */
damo_status type_register(damo_ctx *ctx);
damo_status pattern_register(damo_ctx *ctx);
damo_status var_register(damo_ctx *ctx);
damo_status op_register(damo_ctx *ctx);
damo_status fgraph_register(damo_ctx *ctx);
damo_status trace_register(damo_ctx *ctx);
damo_status func_register_table(damo_ctx *ctx);

#endif
