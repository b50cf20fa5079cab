/* matrix.h: a matrix whose rows are split over the ranks, held by PETSc (AIJ), with the solvers made for it.
 *
 * In: a block of rows in compressed row storage with global columns, counted from 0. Out: a matrix that a number, its
 * handle, names on every rank: graphs pass handles along, so all nodes that use a matrix share one. What always holds:
 * the list of matrices has the same ids in the same order on all ranks, since matrices are made and destroyed where all
 * ranks are at the same place. Letting go of one (matrix_drop) is each rank's own affair, at any time.
 */
#ifndef DAMO_MPI_PETSC_MATRIX_H
#define DAMO_MPI_PETSC_MATRIX_H

#include "library.h"

typedef struct solver solver;

/* A rank's rows as a script has them. */
typedef struct block {
  int64_t rows, cols, nnz;
  int64_t local_cols;        /* entries of this rank's part of a vector that is multiplied; -1: as many as rows for a
                              * square matrix, else an even share */
  const damo_array *data;    /* float64 */
  const damo_array *indices; /* int32 or int64 */
  const damo_array *indptr;  /* likewise */
} block;

struct matrix {
  library *lib;
  matrix *next;
  int64_t id;
  bool dropped;                   /* its owner has let go of it */
  uint32_t version, last_version; /* of the values in mat; last given */
  PetscInt m, n, M, N;            /* rows and columns of this rank, and of all */
  PetscInt first_row, first_col;
  PetscInt nnz, n_diag; /* stored entries of this rank; those in its own columns */
  damo_array *indptr;   /* the rows' beginnings: PetscInt */
  damo_array *slot;    /* of each entry: its place among the n_diag, or n_diag + its place among the others: PetscInt */
  damo_array *part[6]; /* i, j, a of the own columns, then of the others: PETSc works on them in place */
  Mat mat, diag, off;  /* off is NULL on one rank; diag and off belong to mat */
  Vec right, left;     /* for A·right = left, over memory that each use gives */
  Vec ghost;           /* entries of a right vector that this rank's rows need of others; made when needed */
  VecScatter scatter;
  solver *solvers;
};

/* Reads the vectors of a block (sizes: all columns, and this rank's or -1): a type or shape error if they do not fit each other. */
damo_status block_read(damo_ctx *ctx, const damo_array *data, const damo_array *indices, const damo_array *indptr,
                       const damo_array *sizes, block *out);

/* A new matrix with the block's pattern and values, on all ranks together; *out is untouched on failure. s: DAMO_OK, or
 * what this rank has failed with before. */
damo_status matrix_new(library *lib, damo_ctx *ctx, damo_status s, const block *b, matrix **out);
/* Lets go of a matrix; it is destroyed when all ranks have done so and another one is made. NULL is allowed. */
void matrix_drop(matrix *m);
/* Frees it at once, without asking other ranks. */
void matrix_forget(matrix *m);
/* What matrix_forget does, in parts. */
void matrix_destroy_petsc(matrix *m);
void matrix_free_arrays(matrix *m);

/* Whether b has the same stored places; whether m has the values b has. Local. */
bool matrix_has_pattern(const matrix *m, const block *b);
bool matrix_has_values(const matrix *m, const damo_array *data);
/* Copies values into PETSc's matrix, which then has that version. Local. */
damo_status matrix_set_values(matrix *m, damo_ctx *ctx, const damo_array *data, uint32_t version);

/* The number that names a matrix with its values of now, and the matrix of such a number: a state error if it is gone.
 * Where its values are of another version, they are set from data. */
int64_t matrix_handle(const matrix *m);
damo_status matrix_find(library *lib, damo_ctx *ctx, int64_t handle, const damo_array *data, matrix **out);

/* Makes ghost and scatter, unless they are there. */
PetscErrorCode matrix_need_ghost(matrix *m);

/* The communicator of PETSc's objects that belong to the matrix. */
static inline MPI_Comm matrix_comm(const matrix *m) { return m->lib->size == 1 ? PETSC_COMM_SELF : m->lib->comm; }

#endif
