/* rewrite: better graphs with the same values.
 *
 * In: a FunctionGraph that the compiler owns. Out: the same FunctionGraph, changed. Always holds: values are the same
 * (to rounding where a rule says so), Types too; rules are registered by name with tags in one database, run in phases,
 * in an order that depends on the graph alone.
 *
 * One file a family of rules: merge.c, fold.c, canonicalize.c, shapes.c, fill.c, stabilize.c, specialize.c, sparse.c,
 * choice.c, inplace.c.
 */
#ifndef DAMO_REWRITE_H
#define DAMO_REWRITE_H

#include "graph/graph.h"

typedef enum rewrite_phase {
  PHASE_MERGE,        /* equal nodes become one, equal constants too */
  PHASE_CANONICALIZE, /* one form for equal things; constant folding */
  PHASE_STABILIZE,    /* forms that keep precision */
  PHASE_SPECIALIZE,   /* faster forms: BLAS, … */
  PHASE_FUSE,
  PHASE_INPLACE,
  N_PHASES
} rewrite_phase;

/* A local rule looks at one node and may give a replacement for each output: sets repl[i] (borrowed from b) for the
 * outputs to replace, leaves NULL for the others. *did tells whether anything was given. */
typedef struct rewrite_rule rewrite_rule;
struct rewrite_rule {
  const char *name;
  rewrite_phase phase;
  const char *tags;            /* space-separated: "fast_run fast_compile stabilize blas inplace …" */
  const op_def *const *tracks; /* the classes whose nodes this rule looks at, ended by NULL (TRACKS); NULL: any node */
  const int *scalars;          /* of Elemwise nodes those scalar ops alone (scalar_id), ended by -1; NULL: all */
  damo_status (*local)(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did);
  damo_status (*global)(damo_fgraph *fg); /* or a rule over the whole graph */
  /* Or a local rule of a host or a script, which is given itself. What it makes takes over the node's trace, and is
   * looked at for cycles; native rules build from what the node is made from. */
  damo_status (*host)(const rewrite_rule *rule, build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl,
                      bool *did);
  void *user; /* the host's */
};

/* In a rule: the classes that it looks at, TRACKS(&dimshuffle_def, &reshape_def). */
#define TRACKS(...) \
  .tracks = (const op_def *const[]) { __VA_ARGS__, NULL }

/* What a Mode asks for, space-separated tags or names of rules (NULL: none): rules with one of include or also, that
 * have none of exclude and all of require. */
typedef struct rewrite_query {
  const char *include, *also, *exclude, *require;
} rewrite_query;

damo_status rewrite_register_all(damo_ctx *ctx);
damo_status rewrite_register(damo_ctx *ctx, const rewrite_rule *rule); /* value error when the name is taken */
const rewrite_rule *rewrite_at(damo_ctx *ctx, int64_t i);              /* NULL past the end */
/* Takes the rule out: state error while rules are at work. Harmless when it is not there. */
damo_status rewrite_unregister(damo_ctx *ctx, const rewrite_rule *rule);
bool rewrite_has_tag(const rewrite_rule *rule, const char *word); /* its name counts as a tag */
/* A value error, with a suggestion, where one of these words (NULL: none) is no rule's name or tag; field: the Mode's,
 * which it names. */
damo_status rewrite_check_words(damo_ctx *ctx, const char *field, const char *words);
/* The phase that a rule's tags name ("canonicalize", "stabilize", "specialize", "fusion" or "fuse", "inplace"), the
 * earliest where several do; PHASE_SPECIALIZE where none does. */
rewrite_phase rewrite_phase_of(const char *tags);
/* What destroys v would spoil it for somebody: v is a leaf that is not given away, a view or viewed, or has more than one
 * use. */
bool rewrite_must_last(const damo_fgraph *fg, const damo_var *v);
/* Runs all phases. */
damo_status rewrite_run(damo_fgraph *fg, const rewrite_query *query);

#endif
