/* elem_jit: elementwise nodes as parts of scalar programs (jit/jit.h). */
#ifndef DAMO_OP_ELEM_ELEM_JIT_H
#define DAMO_OP_ELEM_ELEM_JIT_H

#include "graph/graph.h"
#include "jit/jit.h"

/* The entries of a number, which has one, of a short vector, or in C order of a small matrix. */
#define ELEM_VECTOR_MOST 16 /* also of rows and of columns of a matrix */
#define ELEM_MATRIX_MOST (ELEM_VECTOR_MOST * ELEM_VECTOR_MOST)
typedef struct elem_vector {
  jit_value *entry;
  int32_t n;       /* entries, of all rows of a matrix */
  int32_t columns; /* of a matrix; 0: it is none */
} elem_vector;
/* Adds what the node computes of all entries of its operands: an Elemwise or a Loop, a Reduce over ranks 0 and 1, or a
 * product with a vector or of two to a matrix: a Dot, Gemv, Ger or Gemm. in, out: for each input and output; out[o].entry has
 * space for what its rank may have. False: it is another node, its lengths do not agree, or it has dtypes of which
 * machine code knows nothing. */
bool elem_jit_vectors(jit_program *p, const damo_apply *node, const elem_vector *in, elem_vector *out);

/* Adds one elementwise op, or without one a cast, over values of these dtypes; to: the result's dtype. */
bool elem_jit_step(jit_program *p, const damo_op *op, damo_dtype to, const damo_dtype *dtype, const jit_value *in,
                   jit_value *out);

/* An entry, counted from 0 in C order, of a constant of rank 0 to 2 as a value; integers narrower than machine
 * code has are int64. -1: of a dtype that it has not. */
jit_value elem_jit_const(jit_program *p, const damo_array *a, int64_t entry);

/* A node's code of its own, which runs once a call. */
typedef struct elem_native elem_native;
/* NULL, without an error: there is none, or kernels take most of the time anyway. */
elem_native *elem_native_new(damo_ctx *ctx, const damo_apply *node);
void elem_native_free(elem_native *n, damo_ctx *ctx);
/* operands: the addresses of inputs, then outputs, which may be inputs. */
void elem_native_run(elem_native *n, char *const *operands);

#endif
