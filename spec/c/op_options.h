/* op_options: the options of a call, given in the order of its row. */
#ifndef DAMO_SPEC_OP_OPTIONS_H
#define DAMO_SPEC_OP_OPTIONS_H

#include "graph/graph.h"

#include <string.h>

/* Converts options given in the order of the row to the row's struct; `out` has FN_MAX_OPTIONS values. */
static inline const fn_given *op_options(damo_ctx *ctx, const char *name, const prop_value *in_order, int n,
                                         prop_value *out) {
  const fn_signature *f = func_find(ctx, name);
  memset(out, 0, FN_MAX_OPTIONS * sizeof *out);
  for (int i = 0; f != NULL && i < n && i < f->n_options; i++) out[f->func->options[i].place] = in_order[i];
  return (const fn_given *)(const void *)out;
}

/* The same in one expression. */
#define IN_ORDER(ctx, name, ...)                                                    \
  op_options(ctx, name, (const prop_value[]){__VA_ARGS__},                          \
             (int)(sizeof((const prop_value[]){__VA_ARGS__}) / sizeof(prop_value)), \
             (prop_value[FN_MAX_OPTIONS]){{.kind = PROP_NIL}})

#endif
