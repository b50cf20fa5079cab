/* by_name: calls of functions by their names, as scripts and hosts make them. */
#ifndef DAMO_SPEC_BY_NAME_H
#define DAMO_SPEC_BY_NAME_H

#include "graph/graph.h"

/* One result, borrowed from the scope; options: WITH(take_options, .axis = …), or NULL. */
static inline damo_var *build_fn(build *b, const char *name, damo_var *const *in, int n_in, const fn_given *options) {
  if (b->status != DAMO_OK) return NULL;
  const fn_signature *f = func_find(b->ctx, name);
  if (f == NULL) return build_fail(b, DAMO_EVALUE, "there is no function '%s'", name);
  return build_row(b, f->func, in, n_in, options);
}

static inline damo_var *build_fn1(build *b, const char *name, damo_var *x) {
  return build_fn(b, name, (damo_var *[]){x}, 1, NULL);
}

static inline damo_var *build_fn2(build *b, const char *name, damo_var *x, damo_var *y) {
  return build_fn(b, name, (damo_var *[]){x, y}, 2, NULL);
}

static inline damo_var *build_fn3(build *b, const char *name, damo_var *x, damo_var *y, damo_var *z) {
  return build_fn(b, name, (damo_var *[]){x, y, z}, 3, NULL);
}

#endif
