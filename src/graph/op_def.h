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
/* What a property or an option says, or `otherwise` where it is not given. */
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
 * The table names the first fields of the struct in their order (classes of one family may share a struct). */
typedef struct op_field {
  const char *name;
  int place;        /* of the field, in prop_values from the struct's start */
  const char *type; /* the struct's name; NULL: a class of a host or a script */
} op_field;

#define PROP(struct_type, field) \
  { #field, (int)(offsetof(struct_type, field) / sizeof(prop_value)), #struct_type }
/* A class's table: ends with a NULL name. */
#define PROPS(...)                \
  (const op_field[]) {            \
    __VA_ARGS__, { .name = NULL } \
  }
/* The properties of an Op as its class's struct; debug builds check that it is the one. */
#define OP_PROPS(op, struct_type) ((const struct_type *)op_fields(op, #struct_type))

/* The table of the names in a text, "factor axis", for a class of a host or a script: one object of *size bytes, NULL
 * without memory. */
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

/* What the places stored in an Op's sparse outputs have to do with those in its sparse inputs, for whatever values: may
 * one be stored more than once? Each holds for every sparse output. DEBUG mode looks whether it does. */
typedef enum op_pattern {
  PATTERN_UNKNOWN, /* nothing is said */
  PATTERN_SHARED,  /* input 0 is sparse, and its format, index dtype and very arrays of indices are the output's */
  PATTERN_FOLLOWS, /* a place is stored more than once only where input 0, a sparse one, does so */
  PATTERN_JOINS,   /* the same, of any of the sparse inputs: where all store every place once, so does the output */
  PATTERN_MEETS,   /* the same, of all of them: where one stores every place once, so does the output */
  PATTERN_ONCE     /* every place is stored once */
} op_pattern;

/* What of an Op's results is lawful that is no finite number: NANGUARD and DEBUG pass over it. */
typedef enum op_nonfinite {
  NONFINITE_NEVER,
  NONFINITE_INFINITE, /* an infinity is an answer, a nan none */
  NONFINITE_ANY
} op_nonfinite;

/* How an Op's results are sums of terms. Where DEBUG mode meets two values that are apart, it asks whether that is the
 * rounding of their terms (watch/debug_terms.c). */
typedef enum op_terms {
  TERMS_UNKNOWN, /* nothing is said: an entry is one term */
  TERMS_LINEAR,  /* entries are sums of products of the operands' entries, or these moved: so of moduli the Op makes the
                  * sums of the terms' moduli. Integers among the operands are positions */
  TERMS_SOLVED,  /* of the last operand, b, the Op makes S·b, where the others make S */
  TERMS_LEAST    /* the same, x = S·b; of three operands the second is A, and the second result b - A·x */
} op_terms;

/* How a node reads in one line of text (graph_pprint): a call exp(x), a sum x + y, a part x[{2, 3}]. */
typedef struct op_notation {
  const char *name;  /* in a call */
  const char *infix; /* " + ", between the two operands; NULL: none */
  int level;         /* how firmly infix binds: operands of a lower level are put into parentheses */
  bool is_cast;      /* not written where it stands round a position, x[{2, 3}] */
  const char *spec;  /* an index spec (op/index/spec.c): the node reads or writes a part of input 0; NULL: no part */
  int first;         /* the input with which the operands of the index begin */
  const char *write; /* "set_subtensor(": input 1 is written to the part; NULL: the part is read */
} op_notation;

/* The second definition of a class, by which DEBUG mode checks what its nodes compute: graph/op_check.h. A build without
 * them (DAMO_NO_CHECKS) leaves out op/op_check.c and every *_check.c below src/op. */
typedef struct op_check op_check;
#ifdef DAMO_NO_CHECKS
#define OP_CHECK(symbol) .no_check = "left out of this build"
#else
#define OP_CHECK(symbol) .check = &symbol
#endif

/* Branches of a lazy class. Input 0 of a node is its condition; every other input belongs to one branch. A thunk reads the
 * condition and the inputs of the branch taken, as an ordinary one does where these have their values. */
typedef struct op_branches {
  int n;
  int (*of_input)(const damo_apply *node, int i);             /* 0 … n-1; i > 0 */
  int (*taken)(const struct thunk *t, const struct frame *f); /* once the condition has its value */
} op_branches;

struct op_def {
  const char *name;        /* of the class, as no other of damo's is called: "Elemwise", "SparseDot" */
  const char *script_name; /* where scripts make it by another, damo.sparse.Dot; NULL: by its name */
  const char *doc;
  const op_field *props; /* PROPS(…); NULL: none */
  int n_in;              /* or OP_VARIADIC */
  int n_out;             /* 0 means 1; or OP_VARIADIC: count_out tells */
  int default_output;    /* 1-based output that a call returns; 0: all of them (the one, if there is one) */

  /* Parses props into op->data (data_size zeroed bytes beside the op) and may set op->view_map, op->destroy_map, which
   * default to these, and op->terms. NULL: nothing to parse. */
  size_t data_size;
  damo_status (*init)(damo_op *op);
  void (*clear)(damo_op *op); /* frees what init allocated */
  const op_alias *view_map, *destroy_map;

  int (*count_out)(const damo_op *op, int n_in);
  /* Checks the inputs and gives owned output Types (already counted n_out; NULL entries on failure). Required. */
  damo_status (*infer_type)(const damo_op *op, damo_var *const *in, int n_in, damo_type **out);
  /* The whole make_node, when inputs must be converted first; NULL: op_apply with infer_type. The result is owned. */
  damo_apply *(*make_node)(build *b, damo_op *op, damo_var *const *in, int n_in);

  /* Runs the node: reads inputs, writes outputs (thunk.h). Takes all memory before it writes. NULL: no native code. */
  thunk_run_fn perform;
  /* The same, by calling into Lua: what impl "lua" runs. Both may exist: DEBUG mode then compares them. */
  thunk_run_fn perform_lua;
  /* Its thunks ask for the inputs that they need (thunk_need); the others are not computed. */
  bool lazy;
  /* A lazy class whose condition tells which inputs are needed: compiled programs then jump over the other branches.
   * NULL: only the thunks know, as they run. */
  const op_branches *branches;
  /* Called before the node's thunk is made, once for each implementation tried, whatever the number of frames; may
   * change the node in place. NULL: nothing. */
  damo_status (*prepare_node)(damo_apply *node, const char *impl);
  /* Makes t run the node in that frame by that implementation ("c" or "lua"): thunk_set_run, and where wanted
   * thunk_set_user and thunk_set_lazy. Called once a frame. DAMO_ENOT_IMPLEMENTED from "c" lets "lua" be tried. NULL:
   * thunk_make_default. */
  damo_status (*make_thunk)(const thunk *t, frame *f, const thunk_request *how);
  bool may_be_lazy; /* make_thunk may call thunk_set_lazy */
  /* Called when a frame is made in another context than the node's, which is not in use meanwhile: makes there all that
   * perform would make of the Op's objects, whose counts are out of reach later. NULL: perform makes nothing of them. */
  damo_status (*prepare_foreign)(const thunk *t, frame *f);
  size_t state_size; /* zeroed bytes that a frame keeps of a thunk between runs (thunk_state): plans, workspaces */
  void (*state_clear)(const thunk *t, frame *f);

  /* L_op: given the node and one gradient per output (NULL: disconnected), sets one gradient per input. Left NULL means
   * disconnected; build_null(b, why) means undefined. Results are borrowed from b. NULL function: not implemented. */
  damo_status (*grad)(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
  /* Forward mode: eval[i] NULL where an input has none; sets one per output (NULL: none). NULL: by two L_ops. */
  damo_status (*rop)(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
  /* Shapes of the outputs, as int64 scalar Variables, from the inputs' (in_shape[i] has the input's ndim entries).
   * NULL: not known without the value. */
  damo_status (*infer_shape)(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);
  /* connected[i * n_out + o]: input i reaches output o differentiably; preset to true. NULL: all. */
  void (*connection_pattern)(const damo_apply *node, bool *connected);
  /* Asked when all inputs are constant. NULL: yes. */
  bool (*do_constant_folding)(const damo_apply *node);
  /* The graph that the Op holds, borrowed (OpFromGraph); NULL: none. */
  damo_fgraph *(*inner_graph)(const damo_op *op);
  /* Op text for printing, "Sum{axis={1}}"; NULL: name and props. */
  void (*format)(strbuf *out, const damo_op *op);
  /* Changes *how, which is preset to a call by the class's name. NULL: such a call. */
  void (*notate)(const damo_apply *node, op_notation *how);

  op_pattern pattern; /* of sparse outputs */
  op_nonfinite nonfinite;
  /* PATTERN_SHARED, and each entry of the one output is made of input 0's entry there and of what the other inputs,
   * dense ones, have for its place: a number, its row's or column's, its own; a zero gives a zero, unless theirs is nan
   * or infinite. Holds for any choice of places, stored twice or not: rewriting may leave out those that nobody reads.
   * From a dtype into another where sums of casts are not casts of sums (dtype_cast_keeps_sums) duplicates are summed
   * first, and the pattern is then another one (apply_shares_pattern). */
  bool entrywise;
  op_terms terms;
  /* One of the two: OP_CHECK(symbol), or why there is none. */
  const op_check *check;
  const char *no_check;

  /* Reads or changes what is not its input: a Lua Op without props. Random draws are pure: their state is an input. */
  bool impure;
  /* Runs only in the context that it was made in: a host's or a script's code, whatever that reaches. */
  bool one_context;
  bool unique;  /* instances are never equal to another (a Lua Op without props) */
  bool foreign; /* of a host, a script or an OpFromGraph: its name, which may be any, says nothing of what it does */
  void *user;   /* a host's or the binding's data */
};

/* Whether only the thunks of the class tell, as they run, which inputs they need. */
static inline bool op_may_ask(const op_def *def) { return def->may_be_lazy || (def->lazy && def->branches == NULL); }

struct damo_op {
  damo_obj obj;
  intern_link link;
  const op_def *def;
  damo_obj *owner;                        /* keeps def alive when it is not static (a Lua or host class), or NULL */
  int32_t n_props;                        /* those of the class; nil where not given */
  prop_value *props;                      /* owned deep copies: OP_PROPS */
  const op_alias *view_map, *destroy_map; /* NULL: none */
  op_terms terms;
  void *data; /* def->data_size bytes */
};

/* The interned Op of that class and its struct of properties, which is copied; props NULL: all nil. NULL on failure. */
damo_op *op_new(damo_ctx *ctx, const op_def *def, const void *props);
/* The same for a class that is itself an object (owner is retained). */
damo_op *op_new_owned(damo_ctx *ctx, const op_def *def, damo_obj *owner, const void *props);
static inline const void *op_fields(const damo_op *op, const char *type) {
  damo_assert(op->def->props != NULL && op->def->props->type != NULL && strcmp(op->def->props->type, type) == 0);
  (void)type;
  return op->props;
}
/* The property of that name, of whatever class; a PROP_NIL when there is none. */
const prop_value *op_prop(const damo_op *op, const char *name);
void op_format(strbuf *out, const damo_op *op);
int op_n_out(const damo_op *op, int n_in);
/* The 1-based output that a call returns: a property default_output where the Op has one (false: all), else the
 * class's. */
int op_default_output(const damo_op *op);

/* A value error that names the Op and the map where the map names an input or output that is not there; a count of -1 is
 * not known yet. Every node's maps are checked when it is made. */
damo_status op_check_alias(damo_ctx *ctx, const char *op, const char *which, const op_alias *aliases, int n_in,
                           int n_out);

/* The node of op over these inputs: checks the count, asks make_node or infer_type, checks what they gave. Errors name
 * the op. Owned. */
damo_apply *op_apply(damo_ctx *ctx, damo_op *op, damo_var *const *in, int n_in);

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Whether nodes of the Op can run at all. */
static inline bool op_can_run(const op_def *def) {
  return def->perform != NULL || def->perform_lua != NULL || def->make_thunk != NULL;
}
/* The Op of the node says that output `out` may be a view of input `in`, or destroys it; -1: any. */
bool op_alias_has(const op_alias *map, int out, int in);

#endif
