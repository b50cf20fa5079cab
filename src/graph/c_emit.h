/* c_emit: C source of a compiled program, which Ops write (op_def.emit_c) and export/ collects.
 *
 * In: the node of a thunk, and what is known of its inputs: shapes, strides, the variable that points to the first
 * element, for some the value itself. Out: statements of a C99 function, and the same facts of the outputs. Always holds:
 * shapes are numbers in the code; memory is the caller's, laid out when the function is complete; no text of a user gets
 * into the code; a failure sticks (c_emit.status), so that statements need no check one by one.
 */
#ifndef DAMO_GRAPH_C_EMIT_H
#define DAMO_GRAPH_C_EMIT_H

#include "graph.h"

/* What is known of one cell. */
typedef struct c_value {
  damo_dtype dtype; /* of the elements in the C code */
  int32_t ndim;
  int32_t pointer;           /* number of the variable that points to the first element */
  damo_array *known;         /* the value, where it is known when the code is written; owned by the c_emit; else NULL */
  const damo_sparse *sparse; /* a known sparse matrix, borrowed: ce_p refuses it; NULL: an array */
  bool bounded;              /* an integer scalar with the upper bound `most` */
  int64_t most;
  const char *fill; /* the value of all elements, which no statement writes so far: ce_settle; else NULL */
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM]; /* strides in elements */
} c_value;

/* Where memory lies. */
typedef enum c_home {
  C_INPUT,
  C_OUTPUT,
  C_WORK,
  C_STATE,
  C_CONSTANT /* in the file or, where it is large, in the bytes that the caller passes */
} c_home;

typedef struct c_storage {
  c_home home;
  int32_t number;       /* of the input or output; C_CONSTANT: of the constant, -1 until it is used */
  int32_t birth, death; /* numbers of thunks, of C_WORK */
  int64_t bytes, offset;
  damo_array *array; /* C_CONSTANT; borrowed */
  bool read;         /* other than by the pass that writes it; else, of C_WORK, it is not written either */
  bool local;        /* C_WORK: an array of the function */
} c_storage;

typedef struct c_pointer {
  int32_t storage;
  int64_t offset; /* elements */
  damo_dtype dtype;
  bool moves, used; /* moves: set by a statement */
} c_pointer;

typedef struct c_emit c_emit;
typedef struct c_file c_file;
typedef struct c_pass c_pass;

/* A function of the file over a compiled graph:
 * int s7(const void *const *in, void *const *out, const void *data, unsigned char *work_bytes), 0 for success. */
typedef struct c_function {
  int32_t number; /* 7 */
  int32_t n_out;
  int64_t work;  /* bytes of its work memory */
  c_value **out; /* shapes and dtypes of its results, which it writes C-contiguously */
} c_function;

/* The texts of special functions (kernel/elem/special_*.c), tables (kernel/table) and draws (kernel/philox.c, op/random)
 * that a file carries where it calls one: numbers of bits. */
typedef enum c_special {
  C_SPECIAL_BASE,
  C_SPECIAL_NORMAL,
  C_SPECIAL_GAMMA,
  C_SPECIAL_BETA,
  C_SPECIAL_ELLIPTIC,
  C_SPECIAL_ZETA,
  C_SPECIAL_BESSEL,
  C_SPECIAL_INTEGRAL, /* after that of zeta, which it calls */
  C_SPECIAL_AIRY,     /* after that of Bessel */
  C_SPECIAL_KUMMER,
  C_SPECIAL_TABLE,
  C_SPECIAL_DRAW,
  C_SPECIAL_DRAW_ENTRY, /* after that of draws */
  C_N_SPECIALS
} c_special;

/* The file in the making. */
struct c_file {
  damo_ctx *ctx;
  const char *name;
  bool single;                          /* float64 becomes float32 */
  bool reproducible;                    /* no function of a library, sums of products in the order of kernel/blas */
  bool plain;                           /* it calls functions of kernel/plain */
  bool complex;                         /* it has complex numbers, the structs c64 and c128 */
  uint32_t specials;                    /* texts of special functions that it calls: bits */
  strbuf helpers, constants, functions; /* texts, in the order of the file */
  strbuf data;                          /* the bytes of large constants */
  ptrvec helper_names;                  /* of helpers written so far: const char *, of `blocks` */
  ptrvec blocks;                        /* memory that is freed with the file, each with its size in front */
  map constant_of;                      /* damo_array * → its number in `constants`, or its place in `data` */
  ptrvec arrays;                        /* owned: constants and known values */
  int32_t n_constants, n_functions;
  /* Writes the graph of f as a function; in: what is known of its arguments, whose first elements `in` points to. */
  damo_status (*function)(c_emit *e, const damo_function *f, const c_value *const *in, c_function *out);
};

/* One function in the making. */
struct c_emit {
  damo_ctx *ctx;
  c_file *file;
  damo_status status;
  strbuf body;
  int indent;
  const damo_apply *node;  /* of the thunk whose code is being written */
  bool takes_complex;      /* its code is right for complex operands and results: ce_takes_complex */
  const int32_t *in, *out; /* its slots */
  int32_t at;              /* its number */
  c_value **values;        /* of each slot; NULL: none yet */
  int64_t n_values;
  ptrvec pointers, storages; /* c_pointer *, c_storage * */
  int32_t n_labels;          /* for names that must differ */
  const int32_t *last;       /* of each slot: the last thunk that reads it; NULL: not known */
  bool branches;             /* some statements stand in branches */
  c_pass *pass;              /* the last one that was opened */
};

void c_file_init(c_file *f, damo_ctx *ctx, const char *name);
void c_file_clear(c_file *f);
damo_status c_emit_init(c_emit *e, c_file *f, int64_t n_values);
void c_emit_clear(c_emit *e);
/* Zeroed memory that lives as long as the file; NULL: memory error. */
void *c_file_alloc(c_file *f, size_t bytes);
/* The array, which the file owns from now on; NULL: memory error. */
damo_array *c_file_hold(c_file *f, damo_array *take);
/* Writes the constant of s once, and says in s where it lies: its number, or with an offset its place in the data. */
damo_status c_file_constant(c_file *f, c_storage *s);

/* ---- Inputs and outputs of the node ------------------------------------------------------------------------------ */

static inline c_value *ce_in(const c_emit *e, int i) { return e->values[e->in[i]]; }
/* The value of input i, where it is known; else NULL. */
static inline const damo_array *ce_known(const c_emit *e, int i) { return ce_in(e, i)->known; }
/* The known integer that 0-d input i is. Refuses the export where it is not known: what: "a length". */
damo_status ce_int(c_emit *e, int i, const char *what, int64_t *out);
/* Whether v, of one element, is known to be at most *most. */
bool ce_bound(const c_value *v, int64_t *most);
/* To be called by an emitter whose statements are right where operands or results are complex, structs of re and im; else
 * such a node is refused. */
static inline void ce_takes_complex(c_emit *e) { e->takes_complex = true; }
/* Calls the emitter of a node's Op. */
damo_status ce_emit(c_emit *e, const damo_apply *node);
/* The dtype in the code. */
static inline damo_dtype ce_dtype(const c_emit *e, damo_dtype dtype) {
  if (!e->file->single) return dtype;
  return dtype == DAMO_FLOAT64 ? DAMO_FLOAT32 : dtype == DAMO_COMPLEX128 ? DAMO_COMPLEX64 : dtype;
}
/* Output o, C-contiguous, in memory of its own. dtype: as in the node's Type. NULL: memory error. */
c_value *ce_out(c_emit *e, int o, damo_dtype dtype, int ndim, const int64_t *shape);
/* Output o as a view of x, `offset` elements further. */
c_value *ce_out_view(c_emit *e, int o, const c_value *x, int ndim, const int64_t *shape, const int64_t *strides,
                     int64_t offset);
/* The same with an offset that is computed: an expression over what the code has so far. */
c_value *ce_out_view_at(c_emit *e, int o, const c_value *x, int ndim, const int64_t *shape, const int64_t *strides,
                        const char *offset);
/* Output o, which starts as a copy of input i: in its memory if the node destroys it and it lies in the function's own
 * memory. */
c_value *ce_out_inplace(c_emit *e, int o, int i);
/* Output o with a known value. */
damo_status ce_out_known(c_emit *e, int o, damo_array *take);
/* Output o is x. */
void ce_out_same(c_emit *e, int o, c_value *x);

/* Values that are no cell: memory for the code of this thunk alone, n elements; a constant; a view. */
c_value *ce_scratch(c_emit *e, damo_dtype dtype, int64_t n);
c_value *ce_scratch_like(c_emit *e, damo_dtype dtype, int ndim, const int64_t *shape);
c_value *ce_constant(c_emit *e, damo_array *take);
c_value *ce_view(c_emit *e, const c_value *x, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset);
/* A value in memory of that kind. */
c_value *ce_value(c_emit *e, c_home home, int32_t number, damo_dtype dtype, int ndim, const int64_t *shape);

/* v, or a C-contiguous copy of it. */
const c_value *ce_contiguous(c_emit *e, const c_value *v);
/* Writes another node over these values, as if it were the thunk's; out: its results. */
damo_status ce_node(c_emit *e, const damo_apply *node, c_value *const *in, c_value **out);

static inline int64_t ce_size(const c_value *v) {
  int64_t n = 1;
  for (int k = 0; k < v->ndim; k++) n *= v->shape[k];
  return n;
}
bool ce_is_contiguous(const c_value *v);
/* Writes the C-contiguous strides of x's shape into strides; returns strides. */
static inline const int64_t *ce_c_strides(const c_value *x, int64_t *strides) {
  int64_t step = 1;
  for (int k = x->ndim - 1; k >= 0; k--) {
    strides[k] = step;
    step *= x->shape[k];
  }
  return strides;
}
c_storage *ce_storage(const c_emit *e, const c_value *v);

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* One line, indented; ce_open ends it with "{", ce_close writes "}". */
void ce_line(c_emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
void ce_open(c_emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
void ce_close(c_emit *e);
/* for (ptrdiff_t i = 0; i < n; i++) { */
void ce_for(c_emit *e, const char *i, int64_t n);
/* The call ends with an error where the condition holds. */
void ce_fail_if(c_emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
/* The name of the pointer to v's first element. */
const char *ce_p(c_emit *e, const c_value *v);
/* A text of printf's format, which lives as long as the file. */
const char *ce_text(c_emit *e, const char *format, ...) PRINTF_LIKE(2, 3);
/* "double", "f64", "" or "f": the C type, a suffix of names, that of functions of math.h. */
const char *ce_type(damo_dtype dtype);
const char *ce_suffix(damo_dtype dtype);
/* The first element of a known value as a literal of that dtype. */
const char *ce_literal(c_emit *e, const damo_array *a, damo_dtype dtype);
const char *ce_number(c_emit *e, damo_dtype dtype, scalar s);
/* x, an expression of dtype `from`, converted to `to` as casts of arrays are. */
const char *ce_cast(c_emit *e, damo_dtype from, damo_dtype to, const char *x);
/* Adds a helper function to the file, once for each name and dtype. In the text, @ stands for the C type of the dtype, #
 * for the unsigned integer of its size, $ for its suffix of math.h's functions, ~ for its suffix of names. */
void ce_helper(c_emit *e, const char *name, damo_dtype dtype, const char *text);
/* Refuses the export: not_implemented, naming the Op. */
damo_status ce_refuse(c_emit *e, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- Loops over several values ----------------------------------------------------------------------------------- */

/* Nested loops over a shape, with the strides of n_ops operands. */
typedef struct c_nest {
  int32_t n_axes, n_ops;
  int32_t id; /* of the names of the indices */
  bool pass;  /* opened by ce_pass_open, with operands whose place is known */
  int64_t length[DAMO_MAX_NDIM];
  int64_t *step; /* [axis * n_ops + op] */
} c_nest;

/* Merges axes. strides[op]: of ndim entries. */
void ce_nest_init(c_emit *e, c_nest *n, int ndim, const int64_t *shape, int n_ops, const int64_t *const *strides);
/* Opens the loops, and closes them. */
void ce_nest_open(c_emit *e, const c_nest *n);
void ce_nest_close(c_emit *e, const c_nest *n);
/* Appends the index of operand `op` as an expression of the loops' indices. */
void ce_nest_index(const c_nest *n, int op, strbuf *out);
/* The same as a text. */
const char *ce_nest_at(c_emit *e, const c_nest *n, int op);
/* Passes over elements: each operand is read and written at its own element alone, operands from n_read on are written; NULL:
 * no operand. Opened and closed as a nest, whose indices may become those of the pass before it, to which it is joined. */
void ce_pass_open(c_emit *e, c_nest *n, const c_value *const *operand, int n_read);
void ce_pass_close(c_emit *e, const c_nest *n);
/* The element of operand `op`, v, as an expression, and the statement that writes it. */
const char *ce_pass_read(c_emit *e, const c_nest *n, int op, const c_value *v);
void ce_pass_write(c_emit *e, const c_nest *n, int op, const c_value *v, const char *x);
/* Strides of x over a shape to which it broadcasts: 0 where it has one element. */
void ce_strides_along(const c_value *x, int ndim, int64_t *strides);
/* to = from, which is broadcast and converted. */
void ce_copy(c_emit *e, const c_value *to, const c_value *from);
/* All elements of v become the value of the expression. */
void ce_fill(c_emit *e, const c_value *v, const char *x);
/* Writes v's elements if it has c_value.fill. Emitters get such operands settled, but for the first one of a class with
 * op_def.emit_c_settles. */
void ce_settle(c_emit *e, c_value *v);

#endif
