/* signature.h: the functions that scripts and hosts call by name: their rows, and the operands and options that a row
 * declares. Part of graph.h.
 *
 * The options of a function are a struct of prop_values, PROP_NIL where not given, which the row's table describes:
 *
 *     typedef struct sum_options { prop_value axis, keepdims; } sum_options;
 *     .options = OPTIONS(OPT(sum_options, axis, OPT_AXES), OPT(sum_options, keepdims, OPT_BOOL)),
 *
 *     const sum_options *o = FN_OPTIONS(a, sum_options);
 *     if (prop_bool_or(o->keepdims, false)) …
 *
 * Callers by name fill in the same struct as an array of prop_values; an option's `place` is the index of its field in
 * that array. A row's table may leave fields of the struct out, because the rows of one family share a struct.
 */
#ifndef DAMO_GRAPH_SIGNATURE_H
#define DAMO_GRAPH_SIGNATURE_H

#include <string.h>

#define FN_MAX_OPERANDS 8 /* operands with a name each; one that is a list may be of any length */
#define FN_MAX_OPTIONS 12 /* also the limit of fields of a struct of options */

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

typedef enum fn_option_kind {
  OPT_INT,
  OPT_NUM,
  OPT_BOOL,
  OPT_STR,
  OPT_DTYPE, /* by its name */
  OPT_AXES,  /* an integer or a list of them */
  OPT_INTS,  /* a list of integers */
  OPT_SHAPE, /* a list of integers and Variables, or one integer vector Variable */
  OPT_VAR,
  OPT_ANY
} fn_option_kind;

typedef struct fn_option {
  const char *name;
  uint8_t kind;     /* fn_option_kind */
  uint8_t place;    /* index of the field in the struct, counted in prop_values */
  const char *type; /* the struct's name, which FN_OPTIONS checks in debug builds */
} fn_option;

#define OPT(struct_type, field, kind) \
  { #field, kind, offsetof(struct_type, field) / sizeof(prop_value), #struct_type }
/* A row's table: ends with a NULL name. */
#define OPTIONS(...)              \
  (const fn_option[]) {           \
    __VA_ARGS__, { .name = NULL } \
  }

/* Options of a call in C: build_row(b, row, in, 2, WITH(axis_options, .axis = prop_int(2))). The pointer has a type
 * of its own, so that the compiler refuses anything else as options. */
#define WITH(struct_type, ...) ((const fn_given *)(const void *)&(const struct_type){__VA_ARGS__})

typedef struct fn_signature fn_signature;
typedef struct fn_args fn_args;

/* A function of the public API: makes one or more nodes. `damo.sum(x, {axis=1})` and `x:sum(1)` are this row. A dot in
 * a name separates the table: "sparse.dot" is damo.sparse.dot, "linalg.solve" damo.linalg.solve. A call of a row of
 * another table than sparse with a sparse operand is a call of "sparse.NAME" with the same options, where there is such
 * a row, and a type error where there is none. */
typedef struct op_func {
  const char *name;
  /* Operands by name, space-separated: "x y"; "[y]" may be absent (NULL); "xs..." is one list of any length, whose
   * entries stand in its place in `in`: the last operand, or followed by required ones alone. */
  const char *operands;
  const fn_option *options; /* OPTIONS(…); NULL: none */
  /* Appends the results, borrowed from b, to out. */
  damo_status (*call)(build *b, const fn_args *a, ptrvec *out);
  const void *data; /* the row of another table that this one is made from (an elementwise op), or NULL */
  const char *doc;
  bool no_method;        /* not offered as a method of Variables and Arrays (arange, eye, …) */
  bool bare_list;        /* objects may stand for the list "xs..." one by one: block_diag(x, y) is block_diag({x, y}) */
  bool optional_objects; /* an optional operand is an Array or Variable; other values are those of options */
  bool any_type;         /* accepts operands of every Type: a sparse one does not redirect the call to "sparse.NAME" */
  /* Text for the error of a row that does not take sparse operands: the call that computes on their stored entries
   * alone ("damo.sparse.structured_exp(x)" is found by its name), or another hint. */
  const char *stored_form, *remedy;
  /* For the error of a reduction that gets a second operand in place of its first option: the elementwise function of
   * two operands that was probably meant, "maximum" for max. of_number: a number in that place may be meant as such an
   * operand too. */
  const char *of_two;
  bool of_number;
  /* The row that is called where there are more operands than this one takes, or one list of objects: "largest" for
   * maximum(x, y, z) and maximum({x, y}). */
  const char *of_many;
} op_func;

/* The options of `cast`, which build_resolve calls (graph_notes), and of every function with this one option. */
typedef struct dtype_options {
  prop_value dtype;
} dtype_options;

/* ---- Signatures -------------------------------------------------------------------------------------------------- */

typedef struct fn_operand {
  const char *name;
  bool optional, list;
} fn_operand;

/* A registered row with its operands and options parsed. */
struct fn_signature {
  const op_func *func;
  const char *name;           /* the row's */
  const fn_signature *sparse; /* the row that is called instead if an operand is sparse; NULL: none */
  /* Maps the place of an option to its place among those of `sparse`; -1: it has no such option. */
  int8_t sparse_place[FN_MAX_OPTIONS];
  const fn_signature *structured; /* the row that computes on the stored entries alone; NULL: none */
  uint8_t n_operands, n_required, n_options;
  bool list;            /* one operand is a list of any length */
  bool is_draw;         /* the first operand is a generator's state; the results are the next state and the draw */
  bool asks_sparse;     /* a plain row: a call with a sparse operand is redirected or refused */
  size_t size;          /* bytes of this object */
  fn_operand operand[]; /* the names are stored behind them */
};

/* The arguments of a call, checked against the signature. Absent optional operands are NULL. */
struct fn_args {
  const op_func *func;
  const fn_signature *signature;
  int n_in;
  damo_var *const *in;
  const void *options; /* the row's struct: FN_OPTIONS */
};

/* The options of the call, as the struct that the row's table names. */
#define FN_OPTIONS(a, struct_type) ((const struct_type *)fn_options(a, #struct_type))
static inline const void *fn_options(const fn_args *a, const char *type) {
  damo_assert(a->signature->n_options > 0 && strcmp(a->func->options->type, type) == 0);
  (void)type;
  return a->options;
}

/* Adds the rows of a family (an array that ends with a NULL name, static for the context's life) to the context. A
 * value error names a row with malformed operands or options. */
damo_status funcs_register(damo_ctx *ctx, const op_func *rows);
/* Sets fn_signature.sparse and .structured of all rows. Called once, when all families are registered. */
void funcs_link_sparse(damo_ctx *ctx);
const fn_signature *func_find(damo_ctx *ctx, const char *name);
/* The signature of a registered row; NULL if it is not registered. */
const fn_signature *func_of_row(damo_ctx *ctx, const op_func *row);
/* Row number i in the order of registration, NULL past the end: for the binding, docs and specs that walk the
 * registry. */
const fn_signature *func_at(damo_ctx *ctx, int64_t i);
/* Calls a function with borrowed operands and its struct of options (NULL: all nil). */
damo_status func_call(build *b, const fn_signature *f, damo_var *const *in, int n_in, const void *options, ptrvec *out);

/* The option of that name; NULL when there is none. */
const fn_option *signature_option(const fn_signature *f, const char *name);
/* "bool", "axes" … */
const char *option_kind_name(fn_option_kind kind);
/* "axis:axes keepdims:bool", for messages. */
void signature_format_options(strbuf *out, const fn_signature *f);

#endif
