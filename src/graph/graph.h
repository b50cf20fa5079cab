/* graph: Types, Variables, Ops, Apply nodes, and the operations on graphs that need no knowledge of a particular Op.
 *
 * In: Types and Ops from the op families, values from hosts. Out: graphs, walks, clones, FunctionGraphs, text. Always
 * holds: a graph is a DAG; an Apply node owns its output Variables and counts references for them (a reference to an
 * output keeps its node, the node keeps its inputs); Types and Ops with equal properties are interned, so they compare
 * by pointer; an Op never changes once made; no function here recurses over a graph.
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
typedef struct fn_given fn_given; /* a struct of options, made by WITH (signature.h) */

typedef enum test_value_mode { TEST_VALUE_OFF, TEST_VALUE_IGNORE, TEST_VALUE_WARN, TEST_VALUE_RAISE } test_value_mode;

/* Settings that apply to all graph construction in a context. */
typedef struct graph_notes {
  damo_obj *trace;     /* the user's line for nodes made from here on (damo_trace), borrowed; set by the binding */
  damo_obj *rewriting; /* the FunctionGraph being rewritten, borrowed; NULL: none */
  test_value_mode compute_test_value;
  int traceback_limit; /* most lines of a trace */
  const struct op_func
      *cast; /* the row by which build_resolve converts operands; its family sets it when it registers */
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

/* Links an interned object into the chain of its hash (intern.c). */
typedef struct intern_link {
  uint64_t hash;
  struct intern_link *next;
} intern_link;

/* A sparsity pattern: the positions of the stored entries. Interned by format, shape, index dtype, indptr and indices,
 * so that equal patterns are one object. */
typedef struct type_pattern {
  damo_obj obj;
  intern_link link;
  damo_sparse *matrix; /* owned; bool, every stored value is true */
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
  type_pattern *pattern; /* sparse: the pattern that every value has, owned; NULL: any pattern */
  int64_t shape[];       /* tensor, sparse, factor (of its matrix): -1 where unknown */
};

/* Each returns an owned reference to the interned Type, or NULL. shape NULL: all dimensions unknown. */
damo_type *type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape);
/* shape NULL: both unknown; itype DAMO_INT32 or DAMO_INT64. */
damo_type *type_sparse(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, const int64_t *shape);
/* The Type of matrices of that dtype with a's pattern: entries at the same positions, stored in the same order. Format,
 * shape and index dtype are a's. */
damo_type *type_sparse_like(damo_sparse *a, damo_dtype dtype);
/* t without its pattern (owned; t itself where it has none). The Types that Ops infer for their results pass through
 * it, so a result's Type has no pattern. */
damo_type *type_without_pattern(damo_type *t);
damo_type *type_random(damo_ctx *ctx); /* a generator's state: value is an Array uint64 of shape {3}: philox_state */
damo_type *type_null(damo_ctx *ctx, const char *why);
damo_type *type_disconnected(damo_ctx *ctx);
damo_type *type_generic(damo_ctx *ctx);
/* The Type of factorizations of a matrix of that dtype and shape (NULL: both dimensions unknown), for least squares if
 * `least` is true, else for square systems. A value is a damo_factor, which is only changed while its maker holds the
 * one reference to it. */
damo_type *type_factor(damo_ctx *ctx, damo_dtype dtype, const int64_t *shape, bool least);
/* The Type of a value; of an Array, sparse matrix or factor with its full shape. Any other value is generic. */
damo_type *type_of_value(damo_obj *value);

static inline bool type_is_tensor(const damo_type *t) { return t->kind == TYPE_TENSOR; }
static inline bool type_is_sparse(const damo_type *t) { return t->kind == TYPE_SPARSE; }
static inline bool type_is_factor(const damo_type *t) { return t->kind == TYPE_FACTOR; }
/* Whether values of the Type have a dtype and a shape. */
static inline bool type_has_shape(const damo_type *t) { return t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE; }
/* Whether the static shape says that this dimension is 1, so that it broadcasts. */
static inline bool type_dim_is_one(const damo_type *t, int axis) { return t->shape[axis] == 1; }
/* True when every value of `sub` is a value of `super`: same kind, dtype, rank and format, and each known dim of super
 * agrees, its pattern too where it has one. */
bool type_is_super(const damo_type *super, const damo_type *sub);
/* The shapes of a and b are fully known and equal. */
bool type_same_known_shape(const damo_type *a, const damo_type *b);
/* Same kind, dtype, rank and format; static dims and patterns may differ where one is unknown. */
bool type_is_compatible(const damo_type *a, const damo_type *b);
/* "TensorType(float64, shape={?, 3})" … Returns dst. */
char *type_format(char *dst, size_t n, const damo_type *t);

typedef struct filter_options {
  bool strict, allow_downcast;
} filter_options;
/* The value itself (retained) when valid, else converted where nothing is lost (allow_downcast: converted anyway;
 * strict: never), else NULL with a type or shape error that says what came and what was wanted. */
damo_obj *type_filter(const damo_type *t, damo_obj *value, filter_options options);
/* Whether the value is one of the Type's, without conversion. */
bool type_is_valid(const damo_type *t, const damo_obj *value);
/* Exact equality, where nan equals nan. Sparse matrices are compared as stored: indptr, indices and data. Factors are
 * compared by their determinants (least squares: by their ranks). */
bool type_values_equal(const damo_type *t, const damo_obj *a, const damo_obj *b);

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The Array that holds a value's numbers: an Array itself, a sparse matrix's data; NULL for other values (v may be
 * NULL). Borrowed. */
damo_array *value_array(const damo_obj *v);
/* The shape of an Array or sparse matrix, *ndim its rank; NULL for other values. */
const int64_t *value_shape(const damo_obj *v, int *ndim);
/* A deep copy of an Array or sparse matrix (owned); any other value is retained instead. NULL: memory error. */
damo_obj *value_copy(damo_obj *v);
/* A deep copy owned by ctx, which may be another context than v's: v's reference counts are left alone. A state error
 * for values that can't be copied (a factorization, a script's value). */
damo_obj *value_copy_to(damo_ctx *ctx, const damo_obj *v);
/* Adds the value as text: array_format, sparse_print; "a value" for other values. */
void value_print(strbuf *out, const damo_obj *v);
/* Whether the numbers of the two values may overlap in memory. */
bool value_may_overlap(const damo_obj *a, const damo_obj *b);

/* ---- Variables and nodes ----------------------------------------------------------------------------------------- */

typedef enum var_kind { VAR_PLAIN, VAR_CONSTANT, VAR_SHARED } var_kind;

struct damo_var {
  damo_obj obj;
  damo_type *type;
  damo_apply *owner;          /* the node this is an output of, or NULL; not counted */
  int32_t index;              /* position among the owner's outputs, 0-based */
  uint8_t kind;               /* var_kind */
  bool indestructible;        /* an input that no Op of a graph may overwrite (destroy.c) */
  bool given_away;            /* an input whose value the caller gives up (mutable): rewriting may overwrite it */
  bool weak;                  /* constant: a literal, which takes its dtype from the other operands (build_resolve) */
  uint64_t id;                /* creation order in the context */
  uint64_t origin;            /* id of what it, or what it replaced in a FunctionGraph, is a copy of; 0: of nothing */
  char *name;                 /* or NULL */
  damo_obj *value;            /* constant: its data, never written; shared: the current value, replaced by updates */
  damo_var *default_update;   /* shared: what a compiled Function that uses it stores into it, or NULL */
  struct fg_clients *clients; /* its uses in the FunctionGraph of that number, without a look-up */
  uint64_t clients_of;
};

/* The user's lines where a node was made, innermost first: "file:line\nfile:line". The trace of a node that stands for
 * several begins with the innermost lines of n_made of them. A trace may also say of which numbered nodes it is made:
 * n_sources numbers follow the text (trace_sources). */
typedef struct damo_trace {
  damo_obj obj;
  int32_t size, n_made, n_sources;
  char text[];
} damo_trace;

struct damo_apply {
  damo_obj obj;
  damo_op *op;
  damo_trace *trace; /* or NULL */
  uint64_t id;
  uint64_t walk; /* number of the last walk that has met it (damo_ctx.walks) */
  uint64_t pass; /* number, of the same kind, of the last pass that has left a note */
  int32_t note;
  uint64_t member_of; /* number of the last FunctionGraph that has taken it in and has it still */
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
/* Whether the node's output shares the index arrays (indices, indptr) of its first input. A PATTERN_SHARED Op does,
 * with one exception: an entrywise Op sums duplicates first if its output dtype does not preserve sums (the sum of the
 * cast duplicates would not be the cast of their sum). */
bool apply_shares_pattern(const damo_apply *node);
/* The first Variable on the path of first inputs above v that shares v's index arrays (apply_shares_pattern), following
 * at most `steps` nodes. Borrowed. */
damo_var *var_pattern_root(const damo_var *v, int64_t steps);

damo_trace *trace_new(damo_ctx *ctx, const char *text);
#define TRACE_MOST_MADE 8
/* A copy of t that says that it is the trace of the node with that number (>= 0). */
damo_trace *trace_new_numbered(damo_ctx *ctx, const damo_trace *t, int32_t number);
const int32_t *trace_sources(const damo_trace *t);
/* A copy in another context. */
damo_trace *trace_copy_to(damo_ctx *ctx, const damo_trace *t);
#define TRACE_MOST_SOURCES 32
/* The trace of a node that stands for those of n traces (*out is owned; any may be NULL): the first, with the innermost
 * lines of the others that it lacks as long as there are fewer than TRACE_MOST_MADE. *out is the first itself where
 * nothing is added. If all have numbers, the result has them in that order, where they are TRACE_MOST_SOURCES at most;
 * else it has none. */
damo_status trace_join_all(damo_ctx *ctx, damo_trace *const *traces, int64_t n, damo_trace **out);
damo_status trace_join(damo_ctx *ctx, damo_trace *a, damo_trace *b, damo_trace **out);

/* A node with fresh output Variables of the given Types. Everything borrowed. No check beyond ndim and
 * the Op's maps: op_apply does that. */
damo_apply *apply_new(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in, damo_type *const *out, int n_out);
/* Makes v (plain, without an owner, of output i's Type) the node's output i instead of the Variable made with the node,
 * so that references to v become references to the output. The replaced Variable must have no reference of its own. */
void apply_adopt(damo_apply *node, int i, damo_var *v);
/* A node of the same op and output Types over other inputs; keeps the trace. */
damo_apply *apply_clone_with(const damo_apply *node, damo_var *const *in);

/* ---- Walks: all iterative, O(nodes + edges) ---------------------------------------------------------------------- */

/* The nodes that the outputs depend on, inputs before users: the post-order of a depth-first walk that takes outputs
 * and inputs in their order, so the same graph always gives the same order. The walk stops at Variables of `stops` (may
 * be NULL). Appends borrowed damo_apply* to out. */
damo_status graph_toposort(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_var *const *stops, int64_t n_stops,
                           ptrvec *out);
/* graph_toposort with the stops as the keys of a map (NULL: none). */
damo_status graph_toposort_map(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const map *stops, ptrvec *out);
/* graph_toposort over nodes whose id is `first` or more alone: the walk stops at older ones. */
damo_status graph_toposort_since(damo_ctx *ctx, damo_var *const *outputs, int64_t n, uint64_t first, ptrvec *out);
/* All Variables that outputs depend on, themselves included, each once. */
damo_status graph_ancestors(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out);
/* The ancestors that have no owner (inputs, constants, shared). */
damo_status graph_inputs(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out);
/* Finds the shared Variables that whoever computes the outputs must update: those into which a node stores an output
 * (op_def.update_map), then those with a default update; a key of `makers` is left out, and the walk ends at `stops`.
 * Appends each one and its new value (borrowed, or of the scope), and puts it into makers, with the node, or
 * UPDATE_BY_SCRIPT; marks of nodes are put there too. The new values may depend on further ones: the caller asks again, with them among the outputs, until
 * nothing is found. A value error, which names both, if two nodes update one shared Variable. */
#define UPDATE_BY_SCRIPT ((uintptr_t)1)
damo_status graph_find_updates(build *b, damo_var *const *outputs, int64_t n, damo_var *const *stops, int64_t n_stops,
                               map *makers, ptrvec *of, ptrvec *to);
/* Copies the graph above `outputs`, with each key of `memo` (damo_var* → damo_var*) replaced by its value; shares what
 * depends on no key. With copy_all every node is copied (constants, shared and other leaves are shared). memo gains old
 * → new for every copied Variable. out receives owned references, created (may be NULL) one to each new node. */
damo_status graph_clone(damo_ctx *ctx, damo_var *const *outputs, int64_t n, map *memo, bool copy_all, ptrvec *created,
                        damo_var **out);
/* *equal: the two lists of graphs have the same structure, with in_x[i] corresponding to in_y[i]: equal Ops over equal
 * inputs, and leaves that are the same Variable or equal constants. */
damo_status graph_equal(damo_ctx *ctx, damo_var *const *xs, damo_var *const *ys, int64_t n, damo_var *const *in_x,
                        damo_var *const *in_y, int64_t n_in, bool *equal);

/* ---- Copies in another context (copier.c) ------------------------------------------------------------------------ */

/* Copies parts of graphs into ctx, each once: of equal sources one copy. The source may be of any context, and is only
 * read: its reference counts stay as they are. Errors are ctx's. Results are borrowed from the copier. */
typedef struct graph_copier {
  damo_ctx *ctx;
  map copies;   /* source → copy */
  ptrvec owned; /* the copies */
  /* Of Ops that hold a graph, name no mode for it and are copied with it compiled: the mode, which the copies name then, as
   * text; NULL: they name none either. */
  const char *inner_mode;
} graph_copier;

void copier_init(graph_copier *c, damo_ctx *ctx);
void copier_clear(graph_copier *c);
/* The copy of a source; NULL: it has none yet. */
void *copier_find(const graph_copier *c, const void *source);
/* Makes take_copy (NULL: it failed) the copy of source. Returns it, or NULL on failure. */
void *copier_keep(graph_copier *c, const void *source, void *take_copy);
damo_type *copier_type(graph_copier *c, const damo_type *t);
/* A state error that names the Op, if it runs only in its own context. */
damo_op *copier_op(graph_copier *c, const damo_op *op);
/* A copy of v without its owner: the copy of a computed Variable is an input. A value is copied too. */
damo_var *copier_leaf(graph_copier *c, const damo_var *v);
/* A copy of v and of the graph above it. */
damo_var *copier_var(graph_copier *c, const damo_var *v);
/* A copy of the node, with its trace, over copies of its inputs: leaves where they have none yet. */
damo_apply *copier_node(graph_copier *c, const damo_apply *node);
/* An owned copy, without features. */
damo_fgraph *copier_fgraph(graph_copier *c, const damo_fgraph *fg);
/* The Type of ctx that is equal to t (owned). */
damo_type *type_copy_to(damo_ctx *ctx, const damo_type *t);

/* ---- FunctionGraph ----------------------------------------------------------------------------------------------- */

typedef struct fg_client {
  damo_apply *node;
  int32_t index;
} fg_client; /* node NULL: the fgraph's output `index` */
typedef struct fg_clients {
  fg_client *at;
  int32_t n, cap;
  map *places; /* long lists: use → its index in `at`, so that removal needs no search; else NULL */
} fg_clients;

/* A listener on a FunctionGraph; any callback may be NULL. Where on_import, on_change_input, validate or on_replace
 * fails, the change is undone: the features that heard of a step hear the step back (on_prune for on_import,
 * on_change_input with old and now exchanged), last step first; the failing one and those behind it, which never heard
 * of it, hear nothing. Errors on the way back are ignored. */
typedef struct fg_feature {
  const char *name;
  damo_status (*on_attach)(damo_fgraph *fg, void *user);
  void (*on_detach)(damo_fgraph *fg, void *user);
  damo_status (*on_import)(damo_fgraph *fg, void *user, damo_apply *node);
  void (*on_prune)(damo_fgraph *fg, void *user, damo_apply *node);
  damo_status (*on_change_input)(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old,
                                 damo_var *now);
  /* May refuse the state after a change, which is then undone. */
  damo_status (*validate)(damo_fgraph *fg, void *user);
  /* Called when all features have validated: `now` has replaced `old`, for that reason (a rule's name; NULL: none).
   * Nodes without users are pruned afterwards. */
  damo_status (*on_replace)(damo_fgraph *fg, void *user, damo_var *old, damo_var *now, const char *reason);
  /* Provides the order of fgraph_toposort; the first feature that has this callback decides. */
  damo_status (*order)(const damo_fgraph *fg, void *user, ptrvec *out);
  void *user;
} fg_feature;

struct damo_fgraph {
  damo_obj obj;
  uint64_t number;        /* as walks have (damo_ctx.walks): no other FunctionGraph has it */
  ptrvec inputs;          /* owned damo_var* */
  ptrvec outputs;         /* owned damo_var* */
  map nodes;              /* damo_apply* (owned) → 1 */
  map clients;            /* damo_var* → fg_clients* */
  map input_set;          /* damo_var* among inputs → 1 */
  ptrvec features;        /* fg_feature* , borrowed */
  ptrvec work;            /* stack of fgraph_prune, reserved on import so that pruning can't fail */
  uint64_t changes;       /* number of changes made so far, by which a rewriter notices them */
  struct fg_order *order; /* the last topological order */
};

/* A FunctionGraph over the given Variables, or, with `clone`, over a copy of their graph with new inputs. Leaves other
 * than inputs must be constants or shared Variables, else missing_input. An input listed twice is a value error. memo
 * (may be NULL) gains the copies. */
damo_fgraph *fgraph_new(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs, int64_t n_out,
                        bool clone, map *memo);
/* The uses of v, in the order in which they were added; NULL if there is none. Removing a use from a long list moves
 * the last use to its index, so the order stays deterministic. */
const fg_clients *fgraph_clients(const damo_fgraph *fg, const damo_var *v);
bool fgraph_has_node(const damo_fgraph *fg, const damo_apply *node);
/* Appends borrowed nodes in dependency order: the one of a feature (a destroy handler), else graph_toposort's. */
damo_status fgraph_toposort(const damo_fgraph *fg, ptrvec *out);
damo_status fgraph_toposort_plain(const damo_fgraph *fg, ptrvec *out); /* always graph_toposort's order */
/* Frees the memory of the order that fgraph_toposort_plain keeps until the next change. */
void fgraph_drop_order(damo_fgraph *fg);
/* Every use of `old` becomes a use of `now`, whose graph is imported; nodes left without users are dropped. type error
 * when now's Type is not one of old's values, inconsistency when a cycle would arise (checked; nothing changed then),
 * missing_input when now's graph has a leaf that is not in the fgraph. */
damo_status fgraph_replace(damo_fgraph *fg, damo_var *old, damo_var *now, const char *reason);
/* Replaces old[i] by now[i] for all i < n, or nothing on failure. */
damo_status fgraph_replace_all(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                               const char *reason);
/* As fgraph_replace_all and fgraph_change_input, without asking features to validate: fgraph_validate does that
 * later. */
damo_status fgraph_replace_unasked(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                                   const char *reason);
damo_status fgraph_change_input_unasked(damo_fgraph *fg, damo_apply *node, int index, damo_var *now,
                                        const char *reason);
/* Asks every feature; the first refusal is the error. */
damo_status fgraph_validate(damo_fgraph *fg);
/* Appends to the inputs each leaf above v[0..n) that has no value: plain Variables that are not inputs yet.
 * fgraph_drop_inputs, with the former number of inputs, undoes it as long as no node uses them. */
damo_status fgraph_take_leaves(damo_fgraph *fg, damo_var *const *v, int64_t n);
void fgraph_drop_inputs(damo_fgraph *fg, int64_t n_inputs);
/* fgraph_replace_all without the cycle check, which walks the graph: for rewrite rules, which build `now` from
 * ancestors of `old`. */
damo_status fgraph_replace_trusted(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                                   const char *reason);
damo_status fgraph_change_input(damo_fgraph *fg, damo_apply *node, int index, damo_var *now, const char *reason);
/* Without the cycle check: `now` is built from that input. */
damo_status fgraph_change_input_trusted(damo_fgraph *fg, damo_apply *node, int index, damo_var *now,
                                        const char *reason);
damo_status fgraph_attach(damo_fgraph *fg, fg_feature *feature);
void fgraph_detach(damo_fgraph *fg, fg_feature *feature);
/* Whether uses and what they use agree, and there is no cycle: an inconsistency error with the first offence. Debug builds
 * ask it after every phase of rewriting. */
damo_status fgraph_check(const damo_fgraph *fg);

/* ---- Destroyers -------------------------------------------------------------------------------------------------- */

/* Which leaves must not be overwritten, beside constants and Variables marked indestructible. */
typedef struct destroy_rules {
  bool protect_shared;
  bool (*is_protected)(void *user, const damo_var *v); /* asked about each leaf; NULL: none is protected */
  void *user;
  struct region_map *regions; /* empty: to be found for the graph (region.h), and part of the order; NULL: none */
} destroy_rules;

/* The node that may not destroy its input `in` (0-based); node NULL: none. */
typedef struct destroy_offence {
  damo_apply *node;
  int32_t in;
} destroy_offence;

/* Appends borrowed nodes in an order in which every reader of a value, or of a view of it, comes before the node that
 * destroys the value; without destroyers it is graph_toposort's. An inconsistency error, with the node in *at (may be
 * NULL), if there is no such order, if two nodes destroy one value, or if a constant, a protected Variable or an output
 * would be destroyed. With rules->regions, the regions' entries are among the nodes (region_is_entry); at->node is then
 * NULL if conditions of branches depend on each other so that no order decides every region before its nodes. */
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
  int depth; /* levels printed, 0: all */
  bool stop_on_name;
  print_id id_type;
  /* Appends the contents of v's storage to its line; NULL: nothing is printed about storage. */
  void (*storage)(strbuf *out, const damo_var *v, void *user);
  void *user;
} print_options;

/* The tree of each output as PyTensor's debugprint: ids in brackets, a shared part printed once, inner graphs of Ops at
 * the end. */
damo_status graph_debugprint(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const print_options *options,
                             strbuf *out);
/* One line of infix text: "(x * 2) + exp(y)"; a long one is cut with "…". */
damo_status graph_pprint(damo_ctx *ctx, const damo_var *v, strbuf *out);
/* The graph in Graphviz's language: nodes as ellipses, Variables without an owner and outputs as boxes; inputs that an
 * Op destroys red, that it views blue. */
damo_status graph_dot(damo_ctx *ctx, damo_var *const *outputs, int64_t n, strbuf *out);
/* Short name of a Variable: its name, a constant's value, or "op.index". Returns dst. */
char *var_format(char *dst, size_t n, const damo_var *v);
/* Adds the dtypes and shapes of a call's operands (NULL: one that is left out) to the pending error. */
void graph_fail_operands(damo_ctx *ctx, damo_var *const *in, int n);
/* The same text of n objects, each a Variable, an Array or a sparse matrix; at most ERROR_OPERANDS_MAX bytes. */
void operands_format(char dst[ERROR_OPERANDS_MAX], damo_obj *const *objects, int n);

#include "op_def.h"
#include "build.h"
#include "signature.h"

#endif
