/* solver.h: Krylov solvers with their preconditioners, kept with the matrix they are for.
 *
 * In: an Op that names methods, tolerances and options. Out: one KSP for each set of them, which solves with the matrix
 * and with its transpose, so a gradient has the factorization or preconditioner of the solve that it belongs to. What a
 * solver has made of the matrix's values is made again when the values change, not before.
 */
#ifndef DAMO_MPI_PETSC_SOLVER_H
#define DAMO_MPI_PETSC_SOLVER_H

#include "matrix.h"

/* How a solve ended. */
typedef struct solve_report {
  int64_t iterations;
  double residual;
  int reason; /* PETSc's: positive where it converged */
} solve_report;

/* The solver of the matrix with the Op's settings; made at the first call. On all ranks together. NULL, and an error,
 * on failure. */
solver *solver_get(matrix *m, damo_ctx *ctx, damo_op *op);
/* Solves A·x = b, or Aᵀ·x = b. A numeric error that tells the reason, the iterations and the residual if it does not
 * converge, the same on all ranks. */
damo_status solver_run(solver *v, damo_ctx *ctx, bool transposed, const double *b, double *x, solve_report *report);

/* Destroys the matrix's first solver, frees what it holds of damo, frees its memory: called for all by matrix.c. */
void solver_free(matrix *m);
void solver_release_ops(matrix *m);
void solver_forget(matrix *m);

/* Puts PETSc's options, lines "name value" or "name", into a database of their own. */
PetscErrorCode solver_parse_options(const char *lines, PetscOptions *out);
/* A value error on all ranks if one of the options was used on no rank. */
damo_status solver_check_options(library *lib, damo_ctx *ctx, PetscOptions options, const char *what);
/* A state error in a sandbox, where options could write files. */
damo_status solver_allow_options(damo_ctx *ctx, damo_op *op, const char *what);

#endif
