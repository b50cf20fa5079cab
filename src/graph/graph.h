/* graph: Types, Variables, Ops, Apply nodes, and what is done to graphs of them without knowing any op.
 *
 * In: Types and Ops from the op families, values from hosts. Out: graphs, walks, clones, FunctionGraphs, text.
 * Always holds: a graph is a DAG; an Apply node owns its output Variables and counts references for them (a reference
 * to an output keeps its node, the node keeps its inputs); Types and Ops with equal properties are interned, so they
 * compare by pointer; an Op never changes once made; no function here recurses over a graph.
 *
 * thunk.h   a node made runnable, and the frame of a call
 * op_def.h  how an Op is described (op_def) and interned
 * build.h   a scope for building graph in C without counting references
 * signature.h  the functions that scripts call by name
 */
#ifndef DAMO_GRAPH_H
#define DAMO_GRAPH_H

#include "array/array.h"
#include "thunk.h"

typedef struct op_def op_def;
typedef struct build build;
typedef struct fn_given fn_given; /* a struct of options: WITH */

typedef enum test_value_mode { TEST_VALUE_OFF, TEST_VALUE_IGNORE, TEST_VALUE_WARN, TEST_VALUE_RAISE } test_value_mode;

/* What holds of the graph made in a context. */
typedef struct graph_notes {
  damo_obj *trace;     /* the user's line for nodes made from here on (damo_trace), borrowed; set by the binding */
  damo_obj *rewriting; /* the FunctionGraph that rewrite rules are at work on, borrowed; NULL: none */
  test_value_mode compute_test_value;
  int traceback_limit; /* lines of a trace */
} graph_notes;
static inline graph_notes *graph_notes_of(const damo_ctx *ctx) { return ctx->slots[CTX_GRAPH].data; }

damo_status graph_register(damo_ctx *ctx); /* destructors and intern tables; called once by the api layer */

/* ---- Types ------------------------------------------------------------------------------------------------------- */

typedef enum type_kind {
  TYPE_TENSOR,
  TYPE_SPARSE,
  TYPE_RANDOM,
  TYPE_NULL,
  TYPE_DISCONNECTED,
  TYPE_GENERIC,
  TYPE_FACTOR
} type_kind;

/* The place of an interned object among those of its hash (intern.c). */
typedef struct intern_link {
  uint64_t hash;
  struct intern_link *next;
} intern_link;

/* Where the entries of sparse matrices stand. Interned by format, shape, index dtype, indptr and indices, so that equal
 * ones are one object. */
typedef struct type_pattern {
  damo_obj obj;
  intern_link link;
  damo_sparse *matrix; /* owned: bool, true at each place */
} type_pattern;

struct damo_type {
  damo_obj obj;
  intern_link link;
  type_kind kind;
  damo_dtype dtype;      /* tensor, sparse; factor: of its matrix */
  int32_t ndim;          /* tensor; 2 of sparse and factor */
  uint8_t format;        /* sparse: damo_format; factor: 1 when it is for least squares */
  uint8_t itype;         /* sparse: DAMO_INT32 (int64 only where the size needs it) or DAMO_INT64 */
  char *why;             /* null: the reason */
  type_pattern *pattern; /* sparse: what all values have, owned; NULL: values may have any */
  int64_t shape[];       /* tensor, sparse, factor (of its matrix): -1 where unknown */
};

/* Each returns an owned reference to the interned Type, or NULL. shape NULL: all dimensions unknown. */
damo_type *type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* shape NULL: both unknown; itype DAMO_INT32 or DAMO_INT64. */
damo_type *type_sparse(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, const int64_t *shape);
/* The Type of matrices of that dtype whose entries stand where those of a do, stored in the same order; format, shape
 * and index dtype are a's. */
damo_type *type_sparse_like(damo_sparse *a, damo_dtype dtype);
/* t, or the same Type with the pattern left open (owned). What Ops infer for their results goes through it: a result's
 * Type has none. */
damo_type *type_without_pattern(damo_type *t);
damo_type *type_random(damo_ctx *ctx); /* a generator's state: value is an Array uint64 of shape {3}: philox_state */
damo_type *type_null(damo_ctx *ctx, const char *why);
damo_type *type_disconnected(damo_ctx *ctx);
damo_type *type_generic(damo_ctx *ctx);
/* A factorization of a matrix of that dtype and shape (NULL: both unknown), for square systems or for least squares:
 * values are factors, which nothing changes while more than their maker holds them. */
damo_type *type_factor(damo_ctx *ctx, damo_dtype dtype, const int64_t *shape, bool least);
/* The Type of a value (Array, sparse matrix, factor: with its full shape). */
damo_type *type_of_value(damo_obj *value);

static inline bool type_is_tensor(const damo_type *t) { return t->kind == TYPE_TENSOR; }
static inline bool type_is_sparse(const damo_type *t) { return t->kind == TYPE_SPARSE; }
static inline bool type_is_factor(const damo_type *t) { return t->kind == TYPE_FACTOR; }
/* Values have numbers, a dtype and a shape. */
static inline bool type_has_shape(const damo_type *t) { return t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE; }
/* Static shape says that the dimension broadcasts. */
static inline bool type_dim_is_one(const damo_type *t, int axis) { return t->shape[axis] == 1; }
/* True when every value of `sub` is a value of `super`: same kind, dtype, rank and format, and each known dim of super
 * agrees, its pattern too where it has one. */
bool type_is_super(const damo_type *super, const damo_type *sub);
/* Same kind, dtype, rank and format; static dims and patterns may differ where one is unknown. */
bool type_is_compatible(const damo_type *a, const damo_type *b);
/* "TensorType(float64, shape={?, 3})" … Returns dst. */
char *type_format(char *dst, size_t n, const damo_type *t);
/* Short name as PyTensor's: "Vector(float64, shape={?})". */

typedef struct filter_options {
  bool strict, allow_downcast;
} filter_options;
/* The value itself (retained) when valid, else converted where nothing is lost (allow_downcast: converted anyway;
 * strict: never), else NULL with a type or shape error that says what came and what was wanted. */
damo_obj *type_filter(const damo_type *t, damo_obj *value, filter_options options);
/* True when the value may sit in a cell of that Type as it is. */
bool type_is_valid(const damo_type *t, const damo_obj *value);
/* Exactly; nan equals nan. Sparse matrices: entry by entry as they are stored. */
bool type_values_equal(const damo_type *t, const damo_obj *a, const damo_obj *b);

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The Array whose memory the numbers of a value lie in: an Array itself, a sparse matrix's data; NULL for other
 * values. */
damo_array *value_array(const damo_obj *v);
/* The shape of an Array or sparse matrix, *ndim its rank; NULL for other values. */
const int64_t *value_shape(const damo_obj *v, int *ndim);
/* A copy with numbers of its own (what has none is retained). NULL: memory error. */
damo_obj *value_copy(damo_obj *v);
/* A copy in ctx, without a count of v's touched. A state error where there can be none (a factorization, a script's). */
damo_obj *value_copy_to(damo_ctx *ctx, const damo_obj *v);
/* The numbers of the two may lie in the same memory. */
bool value_may_overlap(const damo_obj *a, const damo_obj *b);

/* ---- Variables and nodes ----------------------------------------------------------------------------------------- */

typedef enum var_kind { VAR_PLAIN, VAR_CONSTANT, VAR_SHARED } var_kind;

struct damo_var {
  damo_obj obj;
  damo_type *type;
  damo_apply *owner;        /* the node this is an output of, or NULL; not counted */
  int32_t index;            /* place among the owner's outputs, 0-based */
  uint8_t kind;             /* var_kind */
  bool indestructible;      /* an input that no Op of a graph may overwrite (destroy.c) */
  bool given_away;          /* an input whose value is its caller's to give away: rewriting may overwrite it */
  bool weak;                /* constant: a literal, whose dtype gives way to its neighbours' (build_resolve) */
  uint64_t id;              /* creation order in the context */
  char *name;               /* or NULL */
  damo_obj *value;          /* constant: its data, never written; shared: the current value, replaced by updates */
  damo_var *default_update; /* shared: what a compiled Function that uses it stores into it, or NULL */
};

/* The user's lines where a node was made, innermost first: "file:line\nfile:line". */
typedef struct damo_trace {
  damo_obj obj;
  int32_t size;
  char text[];
} damo_trace;

struct damo_apply {
  damo_obj obj;
  damo_op *op;
  damo_trace *trace; /* or NULL */
  uint64_t id;
  int32_t n_in, n_out;
  damo_var **in;  /* owned */
  damo_var **out; /* owned by this node, whose references count for them */
};

damo_var *var_new(damo_ctx *ctx, damo_type *type, const char *name); /* name may be NULL */
/* A constant; value is borrowed, must be valid for type (NULL: its own Type), and must not be written any more. */
damo_var *var_constant(damo_ctx *ctx, damo_type *type, damo_obj *value);
/* A shared Variable that holds `value` (borrowed: the caller copies first where the value may be written elsewhere). */
damo_var *var_shared(damo_ctx *ctx, damo_type *type, damo_obj *value, const char *name);
damo_status var_set_name(damo_var *v, const char *name);
static inline damo_dtype var_dtype(const damo_var *v) { return v->type->dtype; }
static inline int var_ndim(const damo_var *v) { return v->type->ndim; }
static inline bool var_is_constant(const damo_var *v) { return v->kind == VAR_CONSTANT; }
/* The constant's Array, NULL when v is no constant Array. */
const damo_array *var_constant_array(const damo_var *v);
/* The node's output has the very pattern arrays of its first input: PATTERN_SHARED, but where an entrywise Op changes to
 * a dtype in which duplicates would not stand for their sum, which it then sums first. */
bool apply_shares_pattern(const damo_apply *node);
/* The Variable nearest to the leaves that has v's pattern arrays, as its Ops say (PATTERN_SHARED); at most `steps` nodes
 * away. Borrowed. */
damo_var *var_pattern_root(const damo_var *v, int64_t steps);

damo_trace *trace_new(damo_ctx *ctx, const char *text);

/* A node with fresh output Variables of the given Types. Everything borrowed. No check beyond ndim and
 * the Op's maps: op_apply does that. */
damo_apply *apply_new(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in, damo_type *const *out, int n_out);
/* Puts v (plain, without an owner, of output i's Type) in the place of the fresh output i: who holds v holds the node's
 * output. */
void apply_adopt(damo_apply *node, int i, damo_var *v);
/* A node of the same op and output Types over other inputs; keeps the trace. */
damo_apply *apply_clone_with(const damo_apply *node, damo_var *const *in);

/* ---- Walks: all iterative, O(nodes + edges) ---------------------------------------------------------------------- */

/* Nodes between the outputs and what they are made from, inputs before users, in one order for one graph: a node comes
 * as early as a depth-first walk over outputs and inputs in their order finds it. Walks stop at Variables of `stops`
 * (may be NULL). out holds borrowed damo_apply*. */
damo_status graph_toposort(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_var *const *stops, int64_t n_stops,
                           ptrvec *out);
/* All Variables that outputs depend on, themselves included, each once. */
damo_status graph_ancestors(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out);
/* Those of them without an owner (inputs, constants, shared). */
damo_status graph_inputs(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out);
/* Copies the graph above `outputs`, with each key of `memo` (damo_var* → damo_var*) replaced by its value; shares what
 * depends on no key. With copy_all every node is copied (constants, shared and other leaves are shared). memo gains
 * old → new for all that was copied. out receives owned references. */
damo_status graph_clone(damo_ctx *ctx, damo_var *const *outputs, int64_t n, map *memo, bool copy_all, ptrvec *created,
                        damo_var **out);
/* True when the two lists of graphs compute the same from corresponding inputs (in_x[i] ~ in_y[i]). */
damo_status graph_equal(damo_ctx *ctx, damo_var *const *xs, damo_var *const *ys, int64_t n, damo_var *const *in_x,
                        damo_var *const *in_y, int64_t n_in, bool *equal);

/* ---- FunctionGraph ----------------------------------------------------------------------------------------------- */

typedef struct fg_client {
  damo_apply *node;
  int32_t index;
} fg_client; /* node NULL: the fgraph's output `index` */
typedef struct fg_clients {
  fg_client *at;
  int32_t n, cap;
  map *places; /* long lists: where each use stands, so that taking one away costs no search; else NULL */
} fg_clients;

/* A listener on a FunctionGraph; any callback may be NULL. Where on_import, on_change_input, validate or on_replace
 * fails, the change is undone: the features that heard of a step hear the step back (on_prune for on_import,
 * on_change_input with old and now exchanged), last step first; the failing one and those behind it, which never heard
 * of it, hear nothing. What fails on the way back is passed over. */
typedef struct fg_feature {
  const char *name;
  damo_status (*on_attach)(damo_fgraph *fg, void *user);
  void (*on_detach)(damo_fgraph *fg, void *user);
  damo_status (*on_import)(damo_fgraph *fg, void *user, damo_apply *node);
  void (*on_prune)(damo_fgraph *fg, void *user, damo_apply *node);
  damo_status (*on_change_input)(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old,
                                 damo_var *now);
  /* May refuse the state after a change: the change is then undone. */
  damo_status (*validate)(damo_fgraph *fg, void *user);
  /* After all have validated: now took old's place, by that rule (NULL: unnamed). What lost its users is still
   * there. */
  damo_status (*on_replace)(damo_fgraph *fg, void *user, damo_var *old, damo_var *now, const char *reason);
  /* Gives fgraph_toposort's order (the first feature that has one does). */
  damo_status (*order)(const damo_fgraph *fg, void *user, ptrvec *out);
  void *user;
} fg_feature;

struct damo_fgraph {
  damo_obj obj;
  ptrvec inputs;    /* owned damo_var* */
  ptrvec outputs;   /* owned damo_var* */
  map nodes;        /* damo_apply* (owned) → 1 */
  map clients;      /* damo_var* → fg_clients* */
  map input_set;    /* damo_var* among inputs → 1 */
  ptrvec features;  /* fg_feature* , borrowed */
  ptrvec work;      /* room for pruning, reserved when nodes come in: pruning can't fail */
  uint64_t changes; /* counts changes, so that a rewriter can tell */
};

/* Over the given Variables (clone: over a copy of the graph above outputs, inputs renewed). Leaves other than inputs
 * must be constants or shared Variables, else missing_input. An input listed twice is a value error. memo (may be NULL)
 * gains the copies. */
damo_fgraph *fgraph_new(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs, int64_t n_out,
                        bool clone, map *memo);
/* Users of v, NULL when none: in the order they came (a long list may be reordered when a use goes, always in the same
 * way). */
const fg_clients *fgraph_clients(const damo_fgraph *fg, const damo_var *v);
bool fgraph_has_node(const damo_fgraph *fg, const damo_apply *node);
/* Borrowed nodes in dependency order: graph_toposort's, or that of a feature (a destroy handler's). */
damo_status fgraph_toposort(const damo_fgraph *fg, ptrvec *out);
damo_status fgraph_toposort_plain(const damo_fgraph *fg, ptrvec *out); /* graph_toposort's in any case */
/* Every use of `old` becomes a use of `now`, whose graph is imported; nodes left without users are dropped. type error
 * when now's Type is not one of old's values, inconsistency when a cycle would arise (checked; nothing changed then),
 * missing_input when now's graph has a leaf that is not in the fgraph. */
damo_status fgraph_replace(damo_fgraph *fg, damo_var *old, damo_var *now, const char *reason);
/* All or none. */
damo_status fgraph_replace_all(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                               const char *reason);
/* The same without asking whether features refuse the new state: fgraph_validate does that later. */
damo_status fgraph_replace_unasked(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                                   const char *reason);
damo_status fgraph_change_input_unasked(damo_fgraph *fg, damo_apply *node, int index, damo_var *now,
                                        const char *reason);
/* Asks every feature; the first refusal is the error. */
damo_status fgraph_validate(damo_fgraph *fg);
/* Makes inputs, behind those that there are, of the leaves of the Variables' graphs whose value nothing gives. With
 * fgraph_drop_inputs to the old number that is undone, while nothing uses them. */
damo_status fgraph_take_leaves(damo_fgraph *fg, damo_var *const *v, int64_t n);
void fgraph_drop_inputs(damo_fgraph *fg, int64_t n_inputs);
/* The same without the walk that looks for a cycle: for rewrite rules, whose `now` is built from what `old` is made
 * from. */
damo_status fgraph_replace_trusted(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                                   const char *reason);
damo_status fgraph_change_input(damo_fgraph *fg, damo_apply *node, int index, damo_var *now, const char *reason);
/* The same without the walk that looks for a cycle: `now` is built from that input. */
damo_status fgraph_change_input_trusted(damo_fgraph *fg, damo_apply *node, int index, damo_var *now,
                                        const char *reason);
damo_status fgraph_attach(damo_fgraph *fg, fg_feature *feature);
void fgraph_detach(damo_fgraph *fg, fg_feature *feature);
/* Debug invariants (clients and inputs agree, acyclic); inconsistency error with the first offence. */
damo_status fgraph_check(const damo_fgraph *fg);

/* ---- Destroyers -------------------------------------------------------------------------------------------------- */

/* What must not be overwritten, beside constants and Variables marked indestructible. */
typedef struct destroy_rules {
  bool protect_shared;
  bool (*is_protected)(void *user, const damo_var *v); /* asked of leaves; NULL: no */
  void *user;
  struct region_map *regions; /* empty: to be found for the graph (region.h), and part of the order; NULL: none */
} destroy_rules;

/* The node that may not destroy its input `in` (0-based); node NULL: none. */
typedef struct destroy_offence {
  damo_apply *node;
  int32_t in;
} destroy_offence;

/* Borrowed nodes in an order in which every reader of a value, and of what shares its memory, comes before the node
 * that destroys it: as graph_toposort where nothing is destroyed. inconsistency error, and *at (may be NULL), when
 * there is no such order, when two nodes destroy one value, or what is destroyed is a constant, protected or an
 * output. With regions, out holds their entries too; where their conditions alone leave no order, at->node is NULL. */
damo_status destroy_order(const damo_fgraph *fg, const destroy_rules *rules, destroy_offence *at, ptrvec *out);
/* A feature that refuses changes after which destroy_order fails, and gives fgraph_toposort that order. rules: copied;
 * NULL: none. Freed by the caller once it is detached. */
fg_feature *destroy_handler_new(damo_ctx *ctx, const destroy_rules *rules);
void destroy_handler_free(fg_feature *feature);

/* ---- Text -------------------------------------------------------------------------------------------------------- */

typedef enum print_id {
  PRINT_ID_CHAR,   /* A, B, … Z, AA, … in the order of the text */
  PRINT_ID_INT,    /* 1, 2, … in that order */
  PRINT_ID_OBJECT, /* the Variable's or node's number in the context, the same in every text */
  PRINT_ID_NONE
} print_id;

typedef struct print_options {
  bool print_type;
  bool print_destroy_map, print_view_map;
  int depth; /* levels, 0: all */
  bool stop_on_name;
  print_id id_type;
  /* Adds what v's storage holds to its line; NULL: nothing is printed about storage. */
  void (*storage)(strbuf *out, const damo_var *v, void *user);
  void *user;
} print_options;

/* The tree of each output as PyTensor's debugprint: ids in brackets, a shared part printed once, inner graphs of Ops at
 * the end. */
damo_status graph_debugprint(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const print_options *options,
                             strbuf *out);
/* One line, infix: "(x * 2) + exp(y)"; deep or long graphs are cut with "…". */
damo_status graph_pprint(damo_ctx *ctx, const damo_var *v, strbuf *out);
/* The graph in Graphviz's language: nodes as ellipses, Variables without an owner and outputs as boxes; inputs that an
 * Op destroys red, that it views blue. */
damo_status graph_dot(damo_ctx *ctx, damo_var *const *outputs, int64_t n, strbuf *out);
/* Short name of a Variable: its name, a constant's value, or "op.index". Returns dst. */
char *var_format(char *dst, size_t n, const damo_var *v);

#include "op_def.h"
#include "build.h"
#include "signature.h"

#endif
