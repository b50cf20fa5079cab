/* recipe: what an Op that holds a graph is made of besides that graph, as a list of values, so that files can hold it.
 * Part of graph. An Op of any other class is made of its properties.
 */
#ifndef DAMO_GRAPH_RECIPE_H
#define DAMO_GRAPH_RECIPE_H

#include "graph.h"

/* A list of values, written in an order and read in the same. Texts, Types, Ops and Variables are borrowed. */
typedef struct op_parts {
  damo_ctx *ctx;
  prop_value *at;
  int32_t n, cap, next;
  bool bad; /* reading: a value is missing, is of another kind, or out of bounds. It stays set, and sets no error */
} op_parts;

static inline void parts_init(op_parts *p, damo_ctx *ctx) { *p = (op_parts){.ctx = ctx}; }
void parts_clear(op_parts *p);
damo_status parts_add(op_parts *p, prop_value v);
static inline damo_status parts_add_int(op_parts *p, int64_t v) { return parts_add(p, prop_int(v)); }
/* NULL: nil. */
damo_status parts_add_text(op_parts *p, const char *text);

/* The next value. Where it is bad: the least one, NULL. */
int64_t parts_int(op_parts *p, int64_t least, int64_t most);
static inline bool parts_bool(op_parts *p) { return parts_int(p, 0, 1) != 0; }
const char *parts_text(op_parts *p); /* NULL: nil */
damo_op *parts_op(op_parts *p);      /* NULL: nil */
damo_type *parts_type(op_parts *p);  /* NULL: nil */
damo_var *parts_var(op_parts *p);    /* of the graph around the Op */

struct op_recipe {
  const char *name; /* unique, and the same for all times: files have it */
  /* Adds what the Op is made of. A type error that names the Op if it can't be made again, because it calls a script. */
  damo_status (*tell)(const damo_op *op, op_parts *out);
  /* The Op (owned) of these parts over the graph, which is taken. NULL: an error, or parts->bad. Any list of values may
   * come: what is made must be sound. */
  damo_op *(*make)(damo_ctx *ctx, op_parts *parts, damo_fgraph *take_graph);
};

#endif
