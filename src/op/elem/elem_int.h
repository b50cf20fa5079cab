/* elem_int: what the files of the elementwise family share. Seen only inside op/.
 *
 * A scalar op is one row (scalar_op) of rows.c. elemwise.c makes the Elemwise Op class of the rows,
 * run.c runs it, grad.c and special_grad.c hold the derivatives.
 */
#ifndef DAMO_OP_ELEM_ELEM_INT_H
#define DAMO_OP_ELEM_ELEM_INT_H

#include "kernel/elem/names.h"
#include "graph/c_emit.h"
#include "op/op.h"
#include "scalar.h"
#include "kernel/kernel.h"
#include "kernel/isa.h"

#define SCALAR_MAX_ARITY 4

/* How the operands' dtypes give the loop dtype (that of the kernel's input blocks) and the result's. */
typedef enum dtype_rule {
  RULE_PROMOTE, /* the common dtype, in and out */
  RULE_NUMBER,  /* the same, bool counting as int8 */
  RULE_FLOAT,   /* float functions: dtype_to_float of the common dtype */
  RULE_DIVIDE,  /* true division: floatX for integers, else the common dtype */
  RULE_ROUND,   /* the common dtype; the function gives integers back as they are */
  RULE_COMPARE, /* common dtype in, bool out */
  RULE_TEST,    /* float in, bool out (isnan) */
  RULE_LOGIC,   /* bool and integers only */
  RULE_ABS,     /* the common dtype; the matching float of complex */
  RULE_CONJ,    /* the common dtype; the function gives real operands back as they are */
  RULE_REAL,    /* complex in, the matching float out; the function gives real operands back as they are */
  RULE_PART,    /* complex in (real operands are converted), the matching float out */
  RULE_COMPLEX, /* floats in, the matching complex out */
  RULE_SWITCH,  /* a condition, then two of the common dtype */
  RULE_SCALE, /* a float function of the first operand; the second is an integer, which takes no part in the promotion */
  RULE_EXPONENT, /* float in, int32 out */
  RULE_SECOND,   /* the second operand's dtype */
  RULE_CAST      /* the dtype that the Op names */
} dtype_rule;

/* The gradient of operand i, of the output's shape: g times the conjugate of the derivative. */
typedef damo_var *scalar_grad_fn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i);

typedef struct scalar_op {
  const char *name;
  scalar_id id;
  int8_t arity;
  const char *operands; /* names, as op_func's */
  dtype_rule rule;
  int32_t kernel; /* an elem_kernel; KERNEL_NONE: copies its last operand; KERNEL_OWN: see own */
  const kernel_set *own;
  scalar_grad_fn *grad; /* NULL: not implemented */
  const char *doc;
} scalar_op;

#define KERNEL_NONE (-1)
#define KERNEL_OWN (-2)

/* About the nanoseconds of one element, where its kernel for that dtype takes long; 0: it is cheap. */
uint16_t elemwise_ns(const scalar_op *row, damo_dtype loop);

/* The data of an Elemwise Op (op->data). */
typedef struct elemwise_data {
  const scalar_op *row;
  damo_dtype cast_to; /* of RULE_CAST */
  int32_t inplace;    /* the input that the output overwrites, 0-based; -1: none */
  op_alias destroy[2];
} elemwise_data;

static inline const elemwise_data *elemwise_data_of(const damo_op *op) { return (const elemwise_data *)op->data; }

/* The row of that name, NULL when there is none. */
const scalar_op *elemwise_find_row(damo_ctx *ctx, const char *name);
const scalar_op *elemwise_row(scalar_id id);
/* Loop and result dtypes of the op over operands of these dtypes; type error where the op is not defined for them.
 * quotient: the dtype of a true division of integers, floatX when a node is made and the node's own from then on. */
damo_status elemwise_dtypes(const damo_op *op, const damo_dtype *in, damo_dtype quotient, damo_dtype *loop,
                            damo_dtype *out);
/* The dtype that operand i is converted to. */
damo_dtype elemwise_operand_dtype(const scalar_op *row, int i, damo_dtype loop);
/* The kernel of ctx, in which the node runs, for the loop dtype; NULL for the ops that copy, and where the op is not
 * defined. */
kernel_fn elemwise_kernel(const damo_ctx *ctx, const elemwise_data *d, damo_dtype loop);
/* What computes it in place of damo's own code (op_def.library); NULL: own code. */
const char *elemwise_library(const damo_ctx *ctx, const elemwise_data *d, damo_dtype loop);
/* False where the output does not depend differentiably on operand i: a condition, an integer exponent, or second's
 * first operand, which only gives the shape. */
bool elemwise_is_connected(const scalar_op *row, int i);
/* The axes of a value of Type g that build_unbroadcast sums for an operand of Type like, ascending; returns their
 * number. */
int elemwise_summed_axes(const damo_type *g, const damo_type *like, int *axes);

/* run.c */
typedef struct elemwise_plan elemwise_plan;
typedef struct elemwise_state {
  kernel_fn fn;
  cast_fn cast[SCALAR_MAX_ARITY]; /* NULL: already of the loop dtype */
  damo_dtype loop, out_dtype;
  bool ready, scalar;
  elemwise_plan *plan; /* of the last shapes and strides */
} elemwise_state;
damo_status elemwise_perform(const thunk *t, frame *f);
void elemwise_state_clear(const thunk *t, frame *f);
bool elemwise_perform_at(const thunk *t, frame *f, char *const *operands);
bool elemwise_perform_again(const thunk *t, frame *f, damo_array **operands);
/* Whether the inputs have the shapes and strides of the key; with `store` these are written into the key instead. */
bool elemwise_key_matches(int64_t *key, const thunk *t, const frame *f, bool store);
/* The same of arrays of these ranks. */
bool elemwise_key_is_of(const int64_t *key, damo_array *const *in, int n_in);

/* A run that takes longer than so many nanoseconds is not made by op_def.perform_again: threads may share it, and the call
 * around it takes little. */
#define AGAIN_NS 5000
#define AGAIN_OUTS 6 /* the most results that it has */
/* A result of op_def.perform_again. */
typedef struct again_result {
  damo_dtype dtype;
  int ndim;
  const int64_t *shape;
} again_result;
/* Whether the arrays, where they are given, are C-contiguous and of these shapes; makes those that are NULL. False, and none
 * is made: one is of another shape, or memory is missing. */
bool elemwise_take_results(damo_ctx *ctx, damo_array **arrays, const again_result *of, int n);
/* Strides of an input along the axes of a result of rank ndim: 0 where it is broadcast. */
void elemwise_strides_along(const damo_array *x, int ndim, int64_t *strides);

/* grad.c, special_grad.c */
scalar_grad_fn elemwise_d_zero; /* a marker: gradients are zeros */
#define D(name) scalar_grad_fn elemwise_d_##name;
#define ZERO
#define NO_GRADIENT
#define X(name, operands, rule, kernel, derivative, doc) derivative
SCALAR_ROWS(X)
#undef X
#undef NO_GRADIENT
#undef ZERO
#undef D

/* special_c.c: the expression of a special function, an op with a kernel of its own, as emit_scalar's. */
const char *emit_special(c_emit *e, const scalar_op *row, damo_dtype loop, const damo_dtype *in, const char *const *x,
                         damo_dtype to);
/* The same for complex operands or results (complex_c.c). */
const char *emit_complex(c_emit *e, const scalar_op *row, damo_dtype loop, const damo_dtype *in, const char *const *x,
                         damo_dtype to);

#endif
