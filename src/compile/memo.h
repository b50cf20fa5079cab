/* memo.h: graphs that compiling remembers, private to compile/.
 *
 * In: the graph of a compilation, as its key. Out: the FunctionGraph that rewriting and protecting has made of an equal
 * graph before, made anew over the new graph's own Variables. Equal are two graphs with the same structure, Types and
 * Ops, whose small constants have equal bits, whose inputs are equally mutable, and that are rewritten by the same rules;
 * large constants and Ops of scripts, hosts and inner graphs (op_is_foreign) count by identity, and of shared Variables
 * it matters where the same one stands, not which one it is. Holds:
 * an entry is words alone, and refers to no object. What belongs to the user's graph, it names by a number, and so takes
 * it from the new graph: inputs, shared Variables, constants, foreign Ops, names, traces, and what a Variable is a copy
 * of. All entries together have at most config.memo_cap bytes; the one not used for the longest time goes first.
 */
#ifndef DAMO_COMPILE_MEMO_H
#define DAMO_COMPILE_MEMO_H

#include "graph/graph.h"

#define MEMO_CONSTANT_BYTES 1024 /* most bytes of a constant that counts by its bits, and of one that an entry keeps */

/* A text of 32-bit words. A Type or an Op is written as its number, and where it is met first, followed by what it is. */
typedef struct memo_words {
  damo_ctx *ctx;
  uint32_t *at;
  int64_t n, cap;
  map numbers; /* Type, Op, Variable or node → its number + 1 */
  int32_t n_types, n_ops;
  bool possible;   /* false: something was met that words can't say */
  bool is_key;     /* foreign Ops get numbers here; else they have those of a key */
  ptrvec *foreign; /* damo_op*: foreign Ops by number, borrowed */
} memo_words;

/* memo_words.c */
void memo_words_init(memo_words *w, damo_ctx *ctx, ptrvec *foreign, bool is_key);
void memo_words_clear(memo_words *w);
/* The number of a Type, an Op or a Variable; -1: it has none. */
int32_t memo_number(const memo_words *w, const void *of);
damo_status memo_put(memo_words *w, uint32_t word);
damo_status memo_put_long(memo_words *w, uint64_t x);
damo_status memo_put_bytes(memo_words *w, const void *at, size_t bytes);
damo_status memo_put_text(memo_words *w, const char *text); /* or NULL */
damo_status memo_put_type(memo_words *w, const damo_type *t);
damo_status memo_put_op(memo_words *w, damo_op *op);
/* The Array of a constant that is small enough to be written; NULL: it is not. */
const damo_array *memo_small_constant(const damo_var *v);
damo_status memo_put_constant(memo_words *w, const damo_var *v, const damo_array *a);

/* Reads what memo_put_type, memo_put_op and memo_put_constant have written. */
typedef struct memo_reader {
  damo_ctx *ctx;
  const uint32_t *at;
  ptrvec types, ops;     /* owned, by number */
  const ptrvec *foreign; /* of the key */
} memo_reader;

void memo_reader_init(memo_reader *r, damo_ctx *ctx, const uint32_t *at, const ptrvec *foreign);
void memo_reader_clear(memo_reader *r);
static inline uint32_t memo_get(memo_reader *r) { return *r->at++; }
/* Each borrowed from the reader; NULL on failure. */
damo_type *memo_get_type(memo_reader *r);
damo_op *memo_get_op(memo_reader *r);
damo_var *memo_get_constant(memo_reader *r); /* owned */

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* What is compiled. */
typedef struct memo_request {
  damo_var *const *inputs;
  const bool *mutable_;
  int64_t n_inputs;
  damo_var *const *outputs;
  int64_t n_outputs;
  const char *words[4]; /* what selects the rules; NULL: none */
} memo_request;

/* The key of a graph. Variables are numbered from the inputs on, then leaves and results as a walk meets them. */
typedef struct memo_key {
  memo_words w;
  uint64_t hash;
  bool kept;      /* a graph with this key may be remembered */
  ptrvec vars;    /* damo_var*, by number, borrowed */
  ptrvec foreign; /* damo_op*, by number, borrowed */
  ptrvec nodes;   /* damo_apply*, borrowed */
  int64_t n_inputs;
  bool *used; /* per input: something is computed from it */
} memo_key;

/* memo_key.c */
void memo_key_init(memo_key *k, damo_ctx *ctx);
damo_status memo_key_make(memo_key *k, const memo_request *q);
void memo_key_clear(memo_key *k);

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

/* memo_graph.c */
/* Called before fg, the graph of the key in `copies`, is rewritten: its nodes get traces with their numbers. */
damo_status memo_begin(memo_key *k, const damo_fgraph *fg, const map *copies);
/* Called when fg has been rewritten: gives the nodes traces without numbers, and writes into w, which is not `possible`
 * if an entry can't say what has become of the key's graph. */
damo_status memo_end(memo_key *k, damo_fgraph *fg, memo_words *w);
/* Writes the number of a node that memo_end has written: after memo_end come the number of nodes in the order of the
 * program (0: it has branches) and these nodes. */
damo_status memo_put_node(memo_words *w, const damo_apply *node);
/* The FunctionGraph written by memo_end, over the key's Variables (owned). Appends the nodes in the program's order to
 * `order`. NULL on failure. */
damo_fgraph *memo_graph(const memo_key *k, const uint32_t *words, ptrvec *order);

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* memo.c */
damo_status memo_register(damo_ctx *ctx);
/* The bytes that all entries may have together: config.memo_cap, or a sixteenth of the memory cap where that is less. */
size_t memo_most_bytes(const damo_ctx *ctx);
/* The graph of an equal key, which is now the one used last; NULL: none. Valid until another graph is compiled. */
const uint32_t *memo_find(damo_ctx *ctx, const memo_key *k);
/* Remembers the graph that is written in w, unless it is too large. */
damo_status memo_add(damo_ctx *ctx, const memo_key *k, const memo_words *w);

#endif
