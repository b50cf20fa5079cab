/* record: what a collective is, as its properties say, and as the integers that ranks compare. */
#ifndef DAMO_MPI_RECORD_H
#define DAMO_MPI_RECORD_H

#include "group.h"

typedef enum collective_kind {
  ALLREDUCE,
  REDUCE,
  BCAST,
  SCATTER,
  GATHER,
  ALLGATHER,
  ALLTOALL,
  SENDRECV,
  HALO,
  N_COLLECTIVES
} collective_kind;

typedef enum reduction { SUM, PROD, MAX, MIN, N_REDUCTIONS } reduction;

/* A collective. Linear ones have an adjoint, which takes a second operand, `like`, that has the shape of its result. */
typedef struct form {
  collective_kind kind;
  bool adjoint;
  bool equal;          /* blocks have the same length on every rank, so that lengths need not be exchanged */
  int64_t group, seq;  /* seq: -1 of a call on values */
  int64_t op, root;    /* a reduction */
  int64_t axis, axis2; /* from 0: of blocks; ALLTOALL: split along axis, joined along axis2 */
  int64_t to, from;    /* SENDRECV; HALO: the next rank along the axis, and the one before; -1: none */
  int64_t lo, hi;      /* HALO: layers that come from the rank before and from the next one */
} form;

/* Names as scripts see them: "allreduce", "sum". */
const char *collective_name(collective_kind kind);
const char *reduction_name(reduction op);

/* Fills in the record but for its place. shape: of the operand, of `like` in an adjoint; like: of SENDRECV's second
 * operand. */
void record_fill(int64_t *record, const form *f, damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *like);
/* Whether a record that record_fill has made of this form is of an operand of that dtype and shape. */
bool record_is_of(const int64_t *record, const form *f, damo_dtype dtype, int ndim, const int64_t *shape,
                  const int64_t *like);
/* The bytes of a record that mean anything: of those that are no collective's, all, for they may hold a text. */
size_t record_bytes(const int64_t *record);
/* Whether the records of all ranks in g->records fit together: DAMO_OK, or an error with the same text on every rank. */
damo_status records_judge(const group *g, damo_ctx *ctx);
/* The length of rank r's block when n entries are split as evenly as possible: earlier ranks get one more. */
int64_t even_part(int64_t n, int size, int r);

#endif
