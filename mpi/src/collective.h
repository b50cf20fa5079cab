/* collective: what the collectives do to arrays.
 *
 * In: a form, this rank's array. Out: this rank's result, in an array that a sink gives. Nothing here knows of graphs:
 * an Op's thunk and a call on values run the same function.
 */
#ifndef DAMO_MPI_COLLECTIVE_H
#define DAMO_MPI_COLLECTIVE_H

#include "record.h"

/* What the ranks compare, as it was at a collective's last run: it is made anew for another operand. */
typedef struct announcement {
  uint64_t hash; /* 0: there is none yet */
  int64_t record[RECORD_WORDS];
} announcement;

/* Where the result goes: out makes an array of that shape, NULL on failure. */
typedef struct sink {
  damo_array *(*out)(void *data, damo_dtype dtype, int ndim, const int64_t *shape);
  void *data;
  damo_array **scratch; /* bytes that are kept from one run to the next, owned by the caller; *scratch may be NULL */
  announcement *last;   /* the caller's, for runs of the same form */
} sink;

/* Runs the collective. like: the second operand of an adjoint and of SENDRECV, else NULL. check: the ranks compare what
 * they are about to do, also if they have agreed on such a call before. */
damo_status collective_run(const form *f, group *g, damo_ctx *ctx, const damo_array *x, const damo_array *like,
                           bool check, const sink *to);

/* MPI's type for a dtype. */
MPI_Datatype mpi_type(damo_dtype dtype);
/* MPI's operation for a reduction of a dtype: for bool "or" and "and"; max and min of floats pass nan on. Sets the
 * context's error and returns MPI_OP_NULL where there is none, for the maximum of complex numbers. */
MPI_Op mpi_operation(world *w, damo_ctx *ctx, reduction op, damo_dtype dtype);
/* sum[i] += term[i]. */
void add_elements(damo_dtype dtype, void *sum, const void *term, size_t n);
/* Copies a strided array to contiguous memory. */
void copy_flat(void *to, const damo_array *x);
/* Whether the elements lie in C order without gaps. */
bool is_flat(const damo_array *x);

#endif
