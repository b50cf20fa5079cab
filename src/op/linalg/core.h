/* core: Ops with a core signature, such as "(m,n),(n,k)->(m,k)": each operand is a stack of scalars, vectors or
 * matrices, whose leading axes broadcast, and the class computes one entry of the stack. Private to src/op.
 *
 * In: a core_class, which op_def.core names. Out: infer_type, infer_shape and perform of its nodes (CORE_OP), and
 * build_core, which makes them. Always holds: the operands of a node have one float or complex dtype, but for those
 * whose form says otherwise; shapes are checked before the class is called, and no length of a core axis exceeds 2^31-1;
 * the class sees matrices in the layout that its form asks for, copied where the operand does not lie so; it writes
 * results in place. As everywhere, a leading axis broadcasts only where its length is known to be 1 when the graph is
 * built.
 */
#ifndef DAMO_OP_LINALG_CORE_H
#define DAMO_OP_LINALG_CORE_H

#include "op/op.h"

#define CORE_MOST 8      /* operands, and results, of a node */
#define CORE_DIMS 8      /* names of lengths in a signature */
#define CORE_LANE_MOST 8 /* longest axis of matrices in SIMD lanes */

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

/* What a class takes and gives, one character an operand or result where a field is a string.
 *
 * signature: lengths are names of one letter, integers, or min(m,n); an operand has at most two core axes. A name that
 * stands several times is one length.
 * in, out: dtypes; NULL: all 'f'.
 *   'f' the node's dtype (float32, float64, complex64, complex128; integers and bools become float64)
 *   'r' the real one of its precision, 'c' the complex one
 *   'i' int64
 * in_layout: how the class wants to see an operand; NULL: all 's'.
 *   's' as it lies, with any strides
 *   'c' by columns, as LAPACK has matrices; 'r' by rows. Read only: the operand itself, or a copy
 *   'e' either, the one that takes no copy if there is one: core_mat.by_rows tells. Read only
 *   'C' 'R' 'E' a copy that the class may overwrite
 *   '-' not at all (see from)
 * out_layout: where the class writes a result; NULL: all 'r'.
 *   'r' by rows: the result's own memory
 *   'c' by columns: a workspace, which is copied into the result afterwards
 * from: per result the number of the operand, '1' to '8', that it is a copy of when the class is called, '-' none;
 *   NULL: none. For algorithms that work in place. */
typedef struct core_form {
  const char *signature;
  const char *in, *out;
  const char *in_layout, *out_layout, *from;
} core_form;

/* ---- One entry of a stack ---------------------------------------------------------------------------------------- */

/* A matrix of an entry; a vector is a column, a scalar has one row and one column. By columns, entry (i, j) lies at
 * number i + j·ld; by rows at i·ld + j, so that LAPACK sees the transpose. A vector is always contiguous, and by
 * columns, but for layout 's'. */
typedef struct core_mat {
  char *data;
  int64_t rows, cols;
  int64_t ld;     /* at least 1; of layout 's' undefined */
  int64_t rs, cs; /* byte strides, in every layout */
  bool by_rows;
  damo_dtype dtype;
} core_mat;

typedef struct core_call {
  const damo_op *op;
  damo_ctx *ctx;
  damo_dtype dtype; /* of the operands 'f' */
  int n_in, n_out;
  core_mat in[CORE_MOST], out[CORE_MOST];
  int64_t dim[CORE_DIMS]; /* lengths, in the order in which their names first occur in the signature */
  char *work;             /* as many bytes as workspace asked for, 64-byte aligned */
  char why[192];          /* core_fail's text */
  bool again[CORE_MOST];  /* the operand is what it was for the last entry, and `work` as that left it */
} core_call;

/* A numeric failure of this entry, such as "the matrix is singular": returns DAMO_ENUMERIC. The driver adds the Op's
 * name and the entry's position, or fills the results with nan where the Op's property on_fail is "nan". */
damo_status core_fail(core_call *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* LANE_COUNT small matrices, one in each SIMD lane (kernel/lanes/lanes.h), in the node's dtype, positions too. */
typedef struct core_lanes {
  const struct lane_fns *fns;
  void *in[CORE_MOST], *out[CORE_MOST];
  void *spare;     /* for as many entries a lane as the class has asked for */
  uint8_t *failed; /* a class sets failed[l] where it does not give the results of lane l: they are computed by run */
} core_lanes;

/* What a class asks for. */
typedef struct core_lane_plan {
  bool transposed_in[CORE_MOST], transposed_out[CORE_MOST]; /* the matrices are presented as their transposes */
  int spare;
} core_lane_plan;

/* Writes the code of one entry (core_c.h). */
typedef struct core_source core_source;
typedef damo_status core_emit_fn(const core_source *s);

typedef struct core_class {
  const char *func; /* the function's name, for messages: "solve" */
  core_form form;
  bool only_double; /* run computes in float64 alone: other dtypes are a type error */
  /* Where the form depends on the Op's properties: returns one of the class's static forms. NULL: form. */
  const core_form *(*form_of)(const damo_op *op);
  /* Sets the lengths of names that no operand has. NULL: there are none. */
  void (*lengths)(const damo_op *op, int64_t *dim);
  /* What shapes must fulfil besides the signature. dim: lengths, -1 where unknown. NULL: nothing. */
  damo_status (*check)(damo_ctx *ctx, const damo_op *op, const int64_t *dim);
  /* Bytes of workspace for an entry: called once a run, with shapes and layouts set and no data. NULL: none. */
  size_t (*workspace)(const core_call *c);
  /* Computes one entry. Called also where a length is 0, if a result has entries. */
  damo_status (*run)(core_call *c);
  /* Whether run is called also where no result has an entry, since it fails for some operands: a singular matrix is told
   * whatever the number of right sides. */
  bool runs_empty;
  /* Whether many small entries, of a real dtype and with no length above CORE_LANE_MOST, are computed by run_lanes, and
   * how they are presented. run_lanes runs on any thread. NULL: never. */
  bool (*plan_lanes)(const core_call *c, core_lane_plan *plan);
  void (*run_lanes)(const core_call *c, const core_lanes *l);
  /* Whether an Op of the class calls routines of LAPACK besides those of lapack_own.c: a build without LAPACK refuses
   * it when it is compiled. NULL: it does not. */
  bool (*needs_lapack)(const damo_op *op);
  core_emit_fn *emit_c; /* with op_def.emit_c = core_emit_c; NULL: entries can't be exported */
  bool emits_complex;   /* emit_c takes operands of complex dtypes too, or refuses them itself */
} core_class;

/* ---- Classes and nodes ------------------------------------------------------------------------------------------- */

/* Fields of the op_def of a class with a core signature. */
#define CORE_OP(core_class_of_op)                                                                           \
  .core = &(core_class_of_op), .data_size = sizeof(core_shape), .init = core_init, .infer_type = core_type, \
  .infer_shape = core_infer_shape, .batch = core_batch, CORE_PREPARES.perform = core_perform
#if DAMO_BLAS
#define CORE_PREPARES
#else
#define CORE_PREPARES .prepare_node = core_prepare,
#endif

/* A length in a signature. */
typedef struct core_length {
  int8_t name, other; /* number in core_call.dim, -1: fixed; other: of min(name, other), else -1 */
  int32_t fixed;
} core_length;
typedef struct core_operand {
  int8_t rank;
  core_length length[2];
} core_operand;
/* A form with its signature parsed: an Op's data. */
typedef struct core_shape {
  const core_form *form;
  int8_t n_in, n_out, n_dims, n_in_dims;
  char names[CORE_DIMS];
  core_operand in[CORE_MOST], out[CORE_MOST];
} core_shape;

damo_status core_init(damo_op *op);
damo_status core_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out);
damo_status core_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);
damo_status core_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k, damo_var **out);
damo_status core_perform(const thunk *t, frame *f);
damo_status core_prepare(damo_apply *node, const char *impl);
bool core_needs_lapack(const damo_op *op); /* true: a class all of whose Ops do */

/* The node of a class with a core signature over these operands, which are cast to the dtypes of its form: the
 * promoted float dtype, float64 where all are discrete. props: the class's struct or NULL. NULL: the scope has
 * failed. */
damo_apply *build_core(build *b, const op_def *def, const void *props, damo_var *const *in, int n_in);
/* Its first output. */
damo_var *build_core_first(build *b, const op_def *def, const void *props, damo_var *const *in, int n_in);

/* The option on_fail: nil, "raise", "return" (the binding reads it) or "nan", which becomes the property. False: the
 * scope has failed. */
bool core_on_fail(build *b, const fn_args *a, prop_value option, prop_value *property);

/* ---- For the rules of these classes ------------------------------------------------------------------------------ */

damo_var *build_adjoint(build *b, damo_var *x); /* the conjugate transpose of the last two axes */
/* x as a column, an axis of 1 behind the others; and back. */
damo_var *build_as_columns(build *b, damo_var *x);
damo_var *build_drop_columns(build *b, damo_var *x);

#endif
