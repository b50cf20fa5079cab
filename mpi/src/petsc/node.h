/* node.h: what the Ops on distributed matrices have in common: their inputs, nodes made in C, and the start of a run.
 *
 * The inputs of each node are the matrix (values, indices, indptr, layout, handle), operands, and a ticket, which the
 * last output passes on: tickets put the nodes that talk to other ranks into the order in which they were made.
 */
#ifndef DAMO_MPI_PETSC_NODE_H
#define DAMO_MPI_PETSC_NODE_H

#include "matrix.h"

enum { IN_DATA, IN_INDICES, IN_INDPTR, IN_LAYOUT, IN_HANDLE, IN_OPERAND };

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Applies the class to in[0..n_in) and a new ticket, for which the list has room, and returns the first output, owned;
 * NULL on failure, and if an input is NULL. props: but for seq. */
damo_var *node_apply(library *lib, damo_ctx *ctx, const char *op_class, const damo_prop *props, int n_props,
                     damo_var **in, int n_in);
/* Applies the class to the matrix of `like` (a node on a matrix), the operands and a new ticket, and returns the first
 * output, owned; NULL on failure, and if an operand is NULL. Takes the operands. */
damo_var *node_on_matrix(library *lib, const char *op_class, const damo_prop *props, int n_props, damo_apply *like,
                         damo_var *const *take_operands, int n);
/* The same with other values in the matrix's pattern. Borrows data. */
damo_var *node_on_values(library *lib, const char *op_class, const damo_prop *props, int n_props, damo_apply *like,
                         damo_var *data, damo_var *const *take_operands, int n);
/* A call of an op function whose operands it takes; NULL on failure, and if one is NULL. */
damo_var *node_call(damo_ctx *ctx, const char *func, damo_var *take_a, damo_var *take_b);
/* The sum of two Variables of which either may be NULL; takes both. */
damo_var *node_sum(damo_ctx *ctx, damo_var *take_a, damo_var *take_b);

/* The next number in the order of the nodes. */
int64_t node_seq(library *lib);

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct run {
  damo_thunk *t;
  damo_ctx *ctx;
  damo_op *op;
  library *lib;
  matrix *m; /* NULL if it was not found */
  bool transposed;
} run;

/* Finds the library, and the matrix of the handle with its values (needs_values: else whatever values it has). The status
 * belongs into the agreement that follows. */
damo_status run_begin(damo_thunk *t, bool needs_values, run *r);
/* Passes the ticket on: input n_in - 1 to output n_out - 1. */
damo_status run_pass_ticket(const run *r, int in, int out);

/* ---- Columns of vectors and matrices ----------------------------------------------------------------------------- */

/* The number of columns of a vector (1) or a matrix. */
int64_t column_count(const damo_array *a);
/* A type or shape error unless a is a float64 vector or matrix of that many rows. */
damo_status column_check(damo_ctx *ctx, const char *func, const char *what, const damo_array *a, int64_t rows);
/* Column c: where it lies, if its entries are next to each other, else copied to room. */
const double *column_read(const damo_array *a, int64_t c, double *room);
/* Where column c of a result is to be written: in place, or room, which column_put then copies. */
double *column_out(const damo_array *a, int64_t c, double *room);
void column_put(const damo_array *a, int64_t c, const double *from);

#endif
