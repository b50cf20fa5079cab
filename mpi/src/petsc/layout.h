/* layout.h: how rows and columns are split over the ranks: each has a block of consecutive ones, in the ranks' order. */
#ifndef DAMO_MPI_PETSC_LAYOUT_H
#define DAMO_MPI_PETSC_LAYOUT_H

#include "library.h"

typedef struct layout {
  int64_t rows, first_row, all_rows; /* of this rank; the first of them, from 0; of all ranks */
  int64_t cols, first_col, all_cols; /* entries of the vectors that a matrix is multiplied with; -1: it is a vector */
} layout;

/* From each rank's own numbers the layout, on all ranks together. cols is the number of all columns, which must be the same
 * everywhere, or -1 for a vector; local_cols those of this rank, or -1 on every rank: as many as rows for a square
 * matrix, else an even share. A shape error on every rank if the numbers do not fit. */
damo_status layout_agree(library *lib, damo_ctx *ctx, int64_t rows, int64_t cols, int64_t local_cols, layout *out);

#endif
