/* op_def.h: how an Op is described, made and run. Part of graph.h.
 *
 * An op_def is a class: a table of functions with documented defaults. A damo_op is an instance: the class with
 * property values, interned, immutable. How its nodes run is in thunk.h.
 */
#ifndef DAMO_GRAPH_OP_DEF_H
#define DAMO_GRAPH_OP_DEF_H

#include <stddef.h>
#include <string.h>

/* ---- Properties -------------------------------------------------------------------------------------------------- */

/* PROP_VAR only occurs among the options of a function call (op_func), never in an Op. */
typedef enum prop_kind {
  PROP_NIL,
  PROP_BOOL,
  PROP_INT,
  PROP_NUM,
  PROP_STR,
  PROP_TYPE,
  PROP_OP,
  PROP_LIST,
  PROP_VAR
} prop_kind;

typedef struct prop_value {
  prop_kind kind;
  int32_t n; /* list: entries */
  union {
    int64_t i; /* bool, int */
    double f;
    const char *s;
    damo_type *type;
    damo_op *op;
    damo_var *var;
    const struct prop_value *list;
  } u;
} prop_value;

static inline prop_value prop_nil(void) { return (prop_value){.kind = PROP_NIL}; }
static inline prop_value prop_bool(bool b) { return (prop_value){.kind = PROP_BOOL, .u.i = b}; }
static inline prop_value prop_int(int64_t i) { return (prop_value){.kind = PROP_INT, .u.i = i}; }
static inline prop_value prop_num(double f) { return (prop_value){.kind = PROP_NUM, .u.f = f}; }
static inline prop_value prop_str(const char *s) { return (prop_value){.kind = PROP_STR, .u.s = s}; }
static inline prop_value prop_list(const prop_value *list, int n) {
  return (prop_value){.kind = PROP_LIST, .n = n, .u.list = list};
}
/* The value of a property or option, or `otherwise` if it is not given. */
static inline bool prop_given(prop_value v) { return v.kind != PROP_NIL; }
static inline bool prop_bool_or(prop_value v, bool otherwise) {
  return v.kind == PROP_BOOL || v.kind == PROP_INT ? v.u.i != 0 : otherwise;
}
static inline int64_t prop_int_or(prop_value v, int64_t otherwise) { return v.kind == PROP_INT ? v.u.i : otherwise; }
static inline double prop_num_or(prop_value v, double otherwise) {
  return v.kind == PROP_NUM ? v.u.f : v.kind == PROP_INT ? (double)v.u.i : otherwise;
}
static inline const char *prop_str_or(prop_value v, const char *otherwise) {
  return v.kind == PROP_STR ? v.u.s : otherwise;
}

bool prop_equal(const prop_value *a, const prop_value *b);
uint64_t prop_hash(uint64_t h, const prop_value *v);
void prop_format(strbuf *out, const prop_value *v);

/* An Op's properties are a struct of prop_values, which the class's table describes:
 *
 *     typedef struct split_props { prop_value axis, n; } split_props;
 *     .props = PROPS(PROP(split_props, axis), PROP(split_props, n)),
 *
 *     const int64_t axis = OP_PROPS(op, split_props)->axis.u.i;
 *
 * The table names the first fields of the struct in their order (classes of one family may share a struct). PROP_AXIS and
 * the macros beside it give a field a rule too. An Op with a property against its rule is not made, whoever asks for it: a
 * file may. Rules are needed where a value is read without a look at its kind; what init checks needs none. */
typedef struct prop_rule {
  unsigned kinds, entries;  /* of the value, and of a list's entries: PROP_IS(kind), … */
  int64_t least, most;      /* of an integer, and of integers in a list */
  int32_t fewest, longest;  /* entries of a list */
  const char *const *words; /* of a text, ended by NULL; NULL: any text */
  bool dtype;               /* a text is the name of a dtype */
} prop_rule;

typedef struct op_field {
  const char *name;
  int place;             /* index of the field in the struct, counted in prop_values */
  const char *type;      /* the struct's name; NULL: the class is a host's or a script's */
  const prop_rule *rule; /* NULL: any value */
} op_field;

#define PROP(struct_type, field) \
  { #field, (int)(offsetof(struct_type, field) / sizeof(prop_value)), #struct_type, NULL }
#define PROP_RULED(struct_type, field, ...)                                                                            \
  {                                                                                                                    \
#field, (int)(offsetof(struct_type, field) / sizeof(prop_value)), #struct_type, &(const prop_rule) { __VA_ARGS__ } \
  }
#define PROP_IS(kind) (1u << (kind))
#define PROP_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PROP_FAR (INT64_MAX / 4) /* a bound of numbers that are added to lengths */
/* true, false or nil */
#define PROP_FLAG(t, f) PROP_RULED(t, f, .kinds = PROP_IS(PROP_NIL) | PROP_IS(PROP_BOOL))
#define PROP_INTEGER(t, f, low, high) PROP_RULED(t, f, .kinds = PROP_IS(PROP_INT), .least = (low), .most = (high))
/* A 1-based axis; or nil for all. The operand has it: infer_type checks that. */
#define PROP_AXIS(t, f) PROP_INTEGER(t, f, 1, DAMO_MAX_NDIM)
#define PROP_AXIS_OR_ALL(t, f) \
  PROP_RULED(t, f, .kinds = PROP_IS(PROP_NIL) | PROP_IS(PROP_INT), .least = 1, .most = DAMO_MAX_NDIM)
#define PROP_INTEGERS(t, f, low, high, few, many)                                                             \
  PROP_RULED(t, f, .kinds = PROP_IS(PROP_LIST), .entries = PROP_IS(PROP_INT), .least = (low), .most = (high), \
             .fewest = (few), .longest = (many))
#define PROP_AXES(t, f) PROP_INTEGERS(t, f, 1, DAMO_MAX_NDIM, 0, DAMO_MAX_NDIM)
#define PROP_AXES_OR_ALL(t, f)                                                                                \
  PROP_RULED(t, f, .kinds = PROP_IS(PROP_NIL) | PROP_IS(PROP_LIST), .entries = PROP_IS(PROP_INT), .least = 1, \
             .most = DAMO_MAX_NDIM, .longest = DAMO_MAX_NDIM)
#define PROP_NUMBER(t, f)                                                                                  \
  PROP_RULED(t, f, .kinds = PROP_IS(PROP_NIL) | PROP_IS(PROP_INT) | PROP_IS(PROP_NUM), .least = INT64_MIN, \
             .most = INT64_MAX)
#define PROP_TEXT(t, f) PROP_RULED(t, f, .kinds = PROP_IS(PROP_STR))
#define PROP_TEXT_OR_NIL(t, f) PROP_RULED(t, f, .kinds = PROP_IS(PROP_NIL) | PROP_IS(PROP_STR))
#define PROP_WORD(t, f, ...) PROP_RULED(t, f, .kinds = PROP_IS(PROP_STR), .words = PROP_WORDS(__VA_ARGS__))
#define PROP_WORD_OR_NIL(t, f, ...) \
  PROP_RULED(t, f, .kinds = PROP_IS(PROP_NIL) | PROP_IS(PROP_STR), .words = PROP_WORDS(__VA_ARGS__))
#define PROP_DTYPE(t, f) PROP_RULED(t, f, .kinds = PROP_IS(PROP_STR), .dtype = true)
#define PROP_OF_TYPE(t, f) PROP_RULED(t, f, .kinds = PROP_IS(PROP_TYPE))
/* A class's table: ends with a NULL name. */
#define PROPS(...)                \
  (const op_field[]) {            \
    __VA_ARGS__, { .name = NULL } \
  }
/* The properties of an Op as its class's struct; debug builds check that struct_type is that struct. */
#define OP_PROPS(op, struct_type) ((const struct_type *)op_fields(op, #struct_type))

/* The table of the names in a text such as "factor axis", for a class of a host or a script: one allocation of *size
 * bytes; NULL: memory error. */
op_field *op_fields_new(damo_ctx *ctx, const char *names, size_t *size);
int op_fields_count(const op_field *fields);
/* The field of that name; NULL when there is none. fields may be NULL. */
const op_field *op_field_find(const op_field *fields, const char *name);

/* ---- The class --------------------------------------------------------------------------------------------------- */

/* Output `out` views or destroys input `in`; 0-based; a list ends with {-1, -1}. */
typedef damo_alias op_alias;
#define OP_ALIAS_END \
  { -1, -1 }

#define OP_VARIADIC (-1)
#define OP_NO_INPUT (-1)

/* How the pattern of an Op's sparse outputs follows from the patterns of its sparse inputs, whatever the values: in
 * particular, whether an output may have duplicates (a position stored more than once). Holds for every sparse output;
 * DEBUG mode checks it. */
typedef enum op_pattern {
  PATTERN_UNKNOWN, /* no claim */
  PATTERN_SHARED,  /* the output has the format and index dtype of input 0, a sparse one, and shares its index arrays */
  PATTERN_FOLLOWS, /* no duplicates if input 0, a sparse one, has none */
  PATTERN_JOINS,   /* no duplicates if none of the sparse inputs has any */
  PATTERN_MEETS,   /* no duplicates if at least one of the sparse inputs has none */
  PATTERN_ONCE     /* never duplicates */
} op_pattern;

/* Which non-finite results of an Op are legitimate: NANGUARD and DEBUG do not report them. */
typedef enum op_nonfinite {
  NONFINITE_NEVER,
  NONFINITE_INFINITE, /* an infinity is a valid result, nan is not */
  NONFINITE_ANY
} op_nonfinite;

/* How an Op's results are sums of terms. If two values differ, DEBUG mode uses it to bound the rounding error of their
 * terms (watch/debug_terms.c). */
typedef enum op_terms {
  TERMS_UNKNOWN, /* no claim: each entry is one term */
  TERMS_LINEAR,  /* entries are sums of products of the operands' entries, or moved entries: applied to moduli, the Op
                  * gives the sums of the terms' moduli. Integer operands are positions */
  TERMS_SOLVED,  /* the result is S·b, with b the last operand and S determined by the others */
  TERMS_LEAST    /* the same for x = S·b; with three operands, the second is A and the second result is b - A·x */
} op_terms;

/* How a cotangent or tangent that is 0 outside a condition (op/elem/masked.h) passes the class's grad and rop. */
typedef enum op_masks {
  MASKS_WHOLE,  /* linear: where all of it is 0, all of the result is */
  MASKS_MOVED,  /* the entries of the result are entries of it, each at most once, of any dtype */
  MASKS_SUMMED, /* they are sums of entries of it, if the Op's terms are TERMS_LINEAR; else as MASKS_WHOLE */
  MASKS_OWN,    /* grad and rop pass it themselves */
  MASKS_END     /* a 0 may give another number */
} op_masks;

/* The most elements of operands and results of op_moves. */
#define OP_MOVES_MOST 16

/* Where an element of a result comes from: element `at` of input `in`; then, where add >= 0, element add_at of input
 * `add` is added to it. */
typedef struct op_move {
  int32_t in, at, add, add_at;
} op_move;

/* op_def.moves: the elements of short vectors. */
typedef struct op_moves {
  const damo_apply *node;         /* each input and output is a tensor of rank 0 or 1 */
  const int32_t *n_in;            /* the number of elements of each input */
  const damo_array *const *known; /* the values of inputs that are constants, else NULL */
  int32_t *n_out;                 /* set: of each output; at most OP_MOVES_MOST */
  op_move *out;                   /* set: element i of output o is out[o * OP_MOVES_MOST + i] */
} op_moves;

/* How a node reads in one line of text (graph_pprint): a call exp(x), a sum x + y, a part x[{2, 3}]. */
typedef struct op_notation {
  const char *name;  /* in a call */
  const char *infix; /* " + ", between the two operands; NULL: none */
  int level;         /* precedence of infix: operands of a lower level are put into parentheses */
  bool is_cast;      /* a cast, which is not printed around an index: x[{2, 3}] */
  const char *spec;  /* an index spec (op/index/spec.c): the node reads or writes a part of input 0; NULL: no part */
  int first;         /* number of the first input that is an operand of the index */
  const char *write; /* "set_subtensor(": input 1 is written to the part; NULL: the part is read */
} op_notation;

/* An independent definition of a class, against which DEBUG mode checks what its nodes compute: graph/op_check.h. A
 * build without them (DAMO_NO_CHECKS) leaves out every *_check.c below src/op. */
typedef struct op_check op_check;
#ifdef DAMO_NO_CHECKS
#define OP_CHECK(symbol) .no_check = "left out of this build"
#else
#define OP_CHECK(symbol) .check = &symbol
#endif

/* The branches of a lazy class. Input 0 of a node is its condition; every other input belongs to one branch. A thunk
 * only reads the condition and the inputs of the branch taken, and runs like any other if these have their values. */
typedef struct op_branches {
  int n;
  int (*of_input)(const damo_apply *node, int i);             /* 0 … n-1; i > 0 */
  int (*taken)(const struct thunk *t, const struct frame *f); /* once the condition has its value */
} op_branches;

struct c_emit;
typedef struct op_recipe op_recipe;

struct op_def {
  const char *name;        /* of the class, unique among damo's own: "Elemwise", "SparseDot" */
  const char *script_name; /* the name by which scripts find it, where that differs: damo.sparse.Dot; NULL: the same */
  const char *doc;
  const op_field *props; /* PROPS(…); NULL: none */
  int n_in;              /* or OP_VARIADIC */
  int least_in;          /* of a variadic class: 0 means 1; or OP_NO_INPUT */
  int n_out;             /* 0 means 1; or OP_VARIADIC: count_out gives it */
  int default_output;    /* 1-based output that a call returns; 0: all outputs (a single one by itself) */

  /* Parses props into op->data (data_size zeroed bytes beside the op) and may set op->view_map, op->destroy_map, which
   * default to these, and op->terms. NULL: nothing to parse. */
  size_t data_size;
  damo_status (*init)(damo_op *op);
  void (*clear)(damo_op *op); /* frees what init allocated */
  const op_alias *view_map, *destroy_map;

  /* A Function whose graph holds a node of the class stores output `out` into input `in`, where that is a shared
   * Variable (graph_find_updates). NULL: none. updates_again: such a node is derived from another one, and stores the
   * same values; it only counts where that one is not in the graph. */
  const op_alias *update_map;
  bool updates_again;
  bool
      updates_by_hand; /* whoever compiles the node makes the updates: a Function neither makes them nor default ones */
  /* For a class that holds a graph: appends the shared Variables among the node's inputs that nodes of that graph update
   * to `of`, their new values, computed beside the node, to `to`, and nodes beside it that hold graphs in turn to
   * `more`. NULL: none are updated. */
  damo_status (*inner_updates)(build *b, damo_apply *node, ptrvec *of, ptrvec *to, ptrvec *more);

  int (*count_out)(const damo_op *op, int n_in);
  /* Checks the inputs and sets out[0..n_out) to owned Types (NULL entries on failure). Required. */
  damo_status (*infer_type)(const damo_op *op, damo_var *const *in, int n_in, damo_type **out);
  /* Replaces infer_type in op_apply, for an Op that must convert its inputs first; returns an owned node. NULL: the
   * inputs are taken as they are, with infer_type's Types. */
  damo_apply *(*make_node)(build *b, damo_op *op, damo_var *const *in, int n_in);

  /* Runs the node: reads inputs, writes outputs (thunk.h). Makes every allocation before it writes anything, so that it
   * can be run again after a memory error. NULL: no native code. */
  thunk_run_fn perform;
  /* The same for a node of numbers, by machine code that needs nothing of the frame but itself: reads the inputs, then
   * writes the outputs, at these addresses, inputs first. False, and nothing was done: it has none (yet). NULL: never. */
  bool (*perform_at)(const thunk *t, frame *f, char *const *operands);
  /* The same for arrays of the shapes and strides of the last run, where it is known to be short: operands are inputs, then
   * outputs, apart from all others; one that is NULL is set to a new array. False, and nothing was written: there was no
   * such run, memory is missing, or it must check values. NULL: never. */
  bool (*perform_again)(const thunk *t, frame *f, damo_array **operands);
  /* The same by calling into Lua, for the implementation "lua". If both exist, DEBUG mode compares them. */
  thunk_run_fn perform_lua;
  /* Its thunks ask for the inputs that they need (thunk_need); the others are not computed. */
  bool lazy;
  /* Set for a lazy class whose condition determines which inputs are needed: compiled programs then skip the other
   * branches. NULL: only a running thunk knows which inputs it needs. */
  const op_branches *branches;
  /* Called before the node's thunk is made, once for each implementation tried, whatever the number of frames; may
   * change the node in place. NULL: nothing. */
  damo_status (*prepare_node)(damo_apply *node, const char *impl);
  /* Makes t run the node in that frame by that implementation ("c" or "lua"): thunk_set_run, and where wanted
   * thunk_set_user and thunk_set_lazy. Called once a frame. DAMO_ENOT_IMPLEMENTED from "c" lets "lua" be tried. NULL:
   * thunk_make_default. */
  damo_status (*make_thunk)(const thunk *t, frame *f, const thunk_request *how);
  bool may_be_lazy; /* make_thunk may call thunk_set_lazy */
  /* The library that computes results, whose bits depend on the machine: a Function in reproducible mode can't hold such
   * nodes. library_of: where that depends on the node; *of, preset to its Op, may become a part of it that the error is to
   * name. NULL, or NULL returned: damo's own code computes all, with the same bits for every instruction set. */
  const char *library;
  const char *(*library_of)(const damo_apply *node, const damo_op **of);
  /* Called when a frame is made in another context than the node's. Must create in f->ctx everything that perform would
   * otherwise create from the Op's objects: the node's context is idle now, but may run on another thread during
   * perform, when the reference counts of its objects must not be touched. NULL: perform needs no such object. */
  damo_status (*prepare_foreign)(const thunk *t, frame *f);
  /* The Op in another context (copier_op), owned; required where an Op's owner is to have copies. NULL: an Op without an
   * owner is made again of its properties; one with an owner stays in its context. */
  damo_op *(*copy_to)(struct graph_copier *c, const damo_op *op);
  /* Of a class that holds a graph (inner_graph): how files have it (recipe.h). NULL: an Op is its properties. */
  const op_recipe *recipe;
  size_t state_size; /* bytes, zeroed at first, that a frame keeps for a thunk (thunk_state): plans, workspaces */
  void (*state_clear)(const thunk *t, frame *f);

  /* L_op: given the node and one gradient per output (NULL: disconnected), sets one gradient per input. A gradient left
   * NULL means disconnected, build_null(b, why) undefined. Results are borrowed from b. NULL function: not
   * implemented. */
  damo_status (*grad)(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
  /* R_op, forward mode: given one tangent per input (NULL: none), sets one per output (NULL: none). NULL function:
   * computed by two L_ops. */
  damo_status (*rop)(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
  /* Shapes of the outputs, as int64 scalar Variables, from the inputs' (in_shape[i] has the input's ndim entries). NULL
   * function: the shapes are not known without the values. */
  damo_status (*infer_shape)(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);
  /* The node over a batch: in[i] is operand i with k further leading axes where batched[i], else an operand as the
   * node's own, the same for all entries of the batch. Leading axes broadcast where they are statically 1. Sets out[o] to
   * the results, borrowed from b: with k leading axes, or of the node's own rank where all entries of the batch share the
   * result. Leaves them NULL where the class has no rule for these operands. May overwrite in[]. NULL function: no rule;
   * the batch is then looped over (scan/vectorize.c). */
  damo_status (*batch)(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k, damo_var **out);
  /* connected[i * n_out + o]: input i reaches output o differentiably; preset to true. NULL: all. */
  void (*connection_pattern)(const damo_apply *node, bool *connected);
  /* Whether a node whose inputs are all constant may be folded. NULL: yes. */
  bool (*do_constant_folding)(const damo_apply *node);
  /* The graph that the Op holds, borrowed (OpFromGraph); NULL: none. */
  damo_fgraph *(*inner_graph)(const damo_op *op);
  /* The output as a graph of Elemwise nodes and reductions over the last axes, with the same bits, so that a Loop can
   * take it in; borrowed from b. Gives NULL where the node is over other axes. NULL function: there is no such graph. */
  damo_var *(*row_parts)(build *b, const damo_apply *node);
  /* Op text for printing, "Sum{axis={1}}"; NULL: name and props. */
  void (*format)(strbuf *out, const damo_op *op);
  /* Changes *how, which is preset to a call by the class's name. NULL: printed as that call. */
  void (*notate)(const damo_apply *node, op_notation *how);

  /* Writes the node as C source (graph/c_emit.h), for f:export_c. NULL: it can't be exported. */
  damo_status (*emit_c)(struct c_emit *e, const damo_apply *node);
  bool emit_c_settles; /* it takes a first operand that is a c_value.fill yet */

  /* Says which elements of the inputs those of the outputs are, so that machine code can keep short vectors in registers.
   * False, without an error: not these, or the node may fail. NULL: the class computes more than that. */
  bool (*moves)(const op_moves *m, damo_ctx *ctx);

  /* Of a class over stacks of matrices: its core signature, op/linalg/core.h. NULL: it has none. */
  const struct core_class *core;

  op_pattern pattern; /* of sparse outputs */
  op_nonfinite nonfinite;
  /* The Op is PATTERN_SHARED with one output, and each stored entry of it depends on the entry of input 0 at that
   * position and on what the other inputs, dense ones, hold for the position: a scalar, the value of its row or column,
   * or the entry itself. A zero gives a zero, unless the dense value is nan or infinite. This holds for any pattern,
   * with or without duplicates, so rewriting may drop entries that nobody reads. Where the output dtype does not
   * preserve sums (dtype_cast_keeps_sums), duplicates are summed first and the pattern changes
   * (apply_shares_pattern). */
  bool entrywise;
  op_terms terms;
  op_masks masks;
  /* Exactly one of the two is set: a check by OP_CHECK(symbol), or the reason why there is none. */
  const op_check *check;
  const char *no_check;

  /* Reads or changes state that is not among its inputs: a Lua Op without props. Random draws are pure, since the
   * generator's state is an input. */
  bool impure;
  /* Runs only in the context that it was made in, because it calls a host's or a script's code. */
  bool one_context;
  bool unique;  /* an instance is equal to itself alone (a Lua Op without props) */
  bool foreign; /* of a host, a script or an OpFromGraph: its name may be any, so nothing may be concluded from it */
  void *user;   /* a host's or the binding's data */
};

/* Whether thunks of the class may ask for inputs while they run. */
static inline bool op_may_ask(const op_def *def) { return def->may_be_lazy || (def->lazy && def->branches == NULL); }

struct damo_op {
  damo_obj obj;
  intern_link link;
  const op_def *def;
  uint64_t id;       /* creation order in the context, of an Op with an owner or of a host; else 0 */
  damo_obj *owner;   /* keeps def alive if it is not static (a Lua or host class), else NULL */
  int32_t n_props;   /* number of the class's properties; nil where not given */
  prop_value *props; /* owned deep copies: OP_PROPS */
  const op_alias *view_map, *destroy_map; /* NULL: none */
  op_terms terms;
  void *data; /* def->data_size bytes */
};

/* The interned Op of that class; props: the class's struct of properties, which is copied; NULL: all nil. NULL on
 * failure. */
damo_op *op_new(damo_ctx *ctx, const op_def *def, const void *props);
/* The same for a class whose op_def belongs to an object (owner, which is retained). */
damo_op *op_new_owned(damo_ctx *ctx, const op_def *def, damo_obj *owner, const void *props);
/* Whether the Op is of a class that is not damo's own: it may call a script or a host, or hold a graph. */
static inline bool op_is_foreign(const damo_op *op) {
  return op->owner != NULL || op->def->foreign || op->def->one_context;
}
static inline const void *op_fields(const damo_op *op, const char *type) {
  damo_assert(op->def->props != NULL && op->def->props->type != NULL && strcmp(op->def->props->type, type) == 0);
  (void)type;
  return op->props;
}
/* The property of that name, whatever the class; a PROP_NIL if there is none. */
const prop_value *op_prop(const damo_op *op, const char *name);
void op_format(strbuf *out, const damo_op *op);
int op_n_out(const damo_op *op, int n_in);
/* The 1-based output that a call returns, 0: all. The Op's property default_output decides if it is given (false: all),
 * else the class's field. */
int op_default_output(const damo_op *op);

/* Checks that the map names only existing inputs and outputs; else a value error that names the Op and the map. A count
 * of -1 means not known yet. Every node's maps are checked when it is made. */
damo_status op_check_alias(damo_ctx *ctx, const char *op, const char *which, const op_alias *aliases, int n_in,
                           int n_out);

/* The node of op over these inputs (owned): checks their number, then calls make_node or infer_type. Errors name the
 * op. */
damo_apply *op_apply(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in);

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Whether nodes of the Op can run at all. */
static inline bool op_can_run(const op_def *def) {
  return def->perform != NULL || def->perform_lua != NULL || def->make_thunk != NULL;
}
/* Whether the map (a view_map or destroy_map) has the pair of output `out` and input `in`; -1 matches any. */
bool op_alias_has(const op_alias *map, int out, int in);

#endif
