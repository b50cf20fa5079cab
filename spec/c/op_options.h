/* op_options: options of a call in the order of its row. */
#ifndef DAMO_SPEC_OP_OPTIONS_H
#define DAMO_SPEC_OP_OPTIONS_H

#include "graph/graph.h"

#include <string.h>

/* Options in the order of the row, those that it has, as its struct: FN_MAX_OPTIONS values. */
static inline const prop_value *op_options(damo_ctx *ctx, const char *name, const prop_value *in_order, int n,
                                           prop_value *out) {
  const fn_signature *f = func_find(ctx, name);
  memset(out, 0, FN_MAX_OPTIONS * sizeof *out);
  for (int i = 0; f != NULL && i < n && i < f->n_options; i++) out[f->func->options[i].place] = in_order[i];
  return out;
}

#endif
