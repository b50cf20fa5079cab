/* rewrite: transforms a graph into a faster or numerically better one with the same values.
 *
 * In: a FunctionGraph that the compiler owns. Out: the same FunctionGraph, changed. Always holds: outputs keep their
 * values (up to rounding for rules with the tag inexact) and their Types; rules are registered by name, with tags, in
 * one database; they run in phases, in an order that depends on the graph alone.
 *
 * Each family of rules has a file: merge.c, fold.c, canonicalize.c, nary.c, identities.c, reductions.c, shapes.c,
 * fill.c, stabilize.c, quotients.c, specialize.c, products.c, linalg.c, diagonals.c, indexing.c, joining.c, sparse.c,
 * sampled.c, fusion.c, epilogue.c, choice.c, inplace.c, variance.c, spectra.c. engine.c runs them; cons.c shares nodes;
 * match.c and facts.c hold what rules ask about Variables.
 */
#ifndef DAMO_REWRITE_H
#define DAMO_REWRITE_H

#include "graph/graph.h"

typedef enum rewrite_phase {
  PHASE_MERGE,        /* equal nodes and equal constants become one */
  PHASE_CANONICALIZE, /* one form for equivalent expressions; constant folding */
  PHASE_STABILIZE,    /* forms that avoid overflow and cancellation */
  PHASE_SPECIALIZE,   /* faster forms: BLAS, … */
  PHASE_FUSE,         /* several nodes in one pass, but for elementwise ones */
  PHASE_LOOP,         /* elementwise nodes in one pass: Loop */
  PHASE_INPLACE,
  N_PHASES
} rewrite_phase;

/* A local rule looks at one node and may replace its outputs: it sets repl[i] (borrowed from b) to the replacement of
 * output i, leaves NULL for outputs to keep, and sets *did if it replaces any. */
typedef struct rewrite_rule rewrite_rule;
struct rewrite_rule {
  const char *name;
  rewrite_phase phase;
  const char *tags;            /* space-separated: "fast_run fast_compile stabilize blas inplace …" */
  const op_def *const *tracks; /* classes of nodes that the rule looks at (TRACKS), NULL-terminated; NULL: all */
  const int *scalars;          /* restricts Elemwise nodes to these scalar ops (scalar_id), -1-terminated; NULL: all */
  damo_status (*local)(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did);
  damo_status (*global)(damo_fgraph *fg); /* instead of local: a rule over the whole graph */
  /* Instead of local: a local rule of a host or a script, which also gets the rule. The nodes that it makes inherit the
   * node's trace, and its replacements are checked for cycles. Native rules need no such check, because they build from
   * ancestors of the node. */
  damo_status (*host)(const rewrite_rule *rule, build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl,
                      bool *did);
  void *user; /* data of the host */
  /* Each use moves a node nearer to the leaves, so that uses end by themselves, after as many as the square of a
   * chain's length. They have a number of uses of their own, after which the rule rests: the graph is right as it is. */
  bool sinks;
};

/* Sets the classes of a rule: TRACKS(&dimshuffle_def, &reshape_def). */
#define TRACKS(...) \
  .tracks = (const op_def *const[]) { __VA_ARGS__, NULL }

/* What one rule has cost: nanoseconds, and the replacements that it made. */
typedef struct rewrite_use {
  char *name;
  int64_t time, uses;
} rewrite_use;

/* What rewriting has cost, phase by phase and rule by rule. */
typedef struct rewrite_profile {
  damo_ctx *ctx;
  int64_t phase_time[N_PHASES]; /* nanoseconds; PHASE_MERGE also counts the merging after other phases */
  rewrite_use *rules;           /* n: the rules that were tried */
  int64_t n, cap;
  map of_rule; /* rewrite_rule* → number of its entry; empty once rewriting has ended */
} rewrite_profile;

/* The rules that a Mode selects, by space-separated tags or names (NULL: none): those that have a word of include or
 * also, no word of exclude or without, and every word of require. */
typedef struct rewrite_query {
  const char *include, *also, *exclude, *require, *without;
  rewrite_profile *profile; /* NULL: nothing is counted */
  uint64_t shuffle;         /* nodes and rules are taken in an order drawn from this number; 0: in the usual order */
} rewrite_query;

damo_status rewrite_register_all(damo_ctx *ctx);
damo_status rewrite_register(damo_ctx *ctx, const rewrite_rule *rule); /* value error when the name is taken */
const rewrite_rule *rewrite_at(damo_ctx *ctx, int64_t i);              /* NULL past the end */
/* Removes the rule; no effect if it is not registered. A state error while rules run. */
damo_status rewrite_unregister(damo_ctx *ctx, const rewrite_rule *rule);
/* A number that changes whenever a rule comes or goes; whether there are rules of hosts or scripts. */
uint64_t rewrite_changes(const damo_ctx *ctx);
bool rewrite_has_hosts(const damo_ctx *ctx);
bool rewrite_has_tag(const rewrite_rule *rule, const char *word); /* a rule's name counts as its tag */
/* A value error, with a suggestion, if one of these words (NULL: none) is no rule's name or tag. field: the Mode's
 * field that holds the words, for the message. */
damo_status rewrite_check_words(damo_ctx *ctx, const char *field, const char *words);
/* The earliest phase that is named in the tags ("canonicalize", "stabilize", "specialize", "fusion" or "fuse",
 * "inplace"); PHASE_SPECIALIZE if none is. */
rewrite_phase rewrite_phase_of(const char *tags);
/* Whether overwriting v might destroy a value that is still needed: v is a leaf that its caller keeps, a view, viewed
 * by another node, or used more than once. */
bool rewrite_must_last(const damo_fgraph *fg, const damo_var *v);
/* Changes a graph that an Op holds, in place, before it is compiled: a copy, of which inputs and the number and Types of
 * outputs stay. */
typedef damo_status (*rewrite_prepare)(damo_fgraph *fg, void *user);
/* Has fn prepare each such graph from now on; NULL: nothing does. rewrite_prepares tells whether something does. */
void rewrite_set_prepare(damo_ctx *ctx, rewrite_prepare fn, void *user);
bool rewrite_prepares(const damo_ctx *ctx);
damo_status rewrite_prepare_inner(damo_fgraph *fg);
void rewrite_profile_init(rewrite_profile *p, damo_ctx *ctx);
void rewrite_profile_clear(rewrite_profile *p);
const char *rewrite_phase_name(rewrite_phase phase);
/* Runs all phases. */
damo_status rewrite_run(damo_fgraph *fg, const rewrite_query *query);

#endif
