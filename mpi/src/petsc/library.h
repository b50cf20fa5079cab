/* library.h: PETSc and SLEPc as damo's: started quietly, their errors as damo's errors, one point where ranks agree.
 *
 * In: the world of a Lua state. Out: a communicator of PETSc's own, and rules that hold for every Op of this folder:
 * before PETSc is called for what all ranks do together, the ranks agree that each of them can go on (library_agree).
 * So what is wrong on one rank is an error on every rank, and no rank waits inside PETSc for one that has stopped.
 */
#ifndef DAMO_MPI_PETSC_LIBRARY_H
#define DAMO_MPI_PETSC_LIBRARY_H

#include <petscksp.h>

#include "world.h"

typedef struct matrix matrix;

#define DOING_SIZE 160

typedef struct library {
  world *w;
  MPI_Comm comm; /* a duplicate of the world's */
  int rank, size;
  bool started;   /* PETSc runs */
  bool finalizes; /* SlepcInitialize was called here, so SlepcFinalize is too */
  bool ended;     /* the world has been closed: PETSc is not called again */
  matrix *first;  /* all matrices, the oldest first, in the same order on every rank */
  int64_t last_id;
  int refs;               /* the classes of Ops whose user pointer it is, and the list of what world_close calls */
  char text[600];         /* of the error that PETSc told first */
  char doing[DOING_SIZE]; /* what the next agreement is for, the same on all ranks; emptied by it */
} library;

/* A library with one reference that has not started PETSc; NULL: out of memory. */
library *library_new(world *w);
void library_release(library *lib);
/* Starts MPI, PETSc and SLEPc if they don't run yet. All ranks call it. */
damo_status library_start(library *lib, damo_ctx *ctx);

/* Between these two, PETSc's errors are kept instead of printed. */
void library_enter(library *lib);
void library_leave(library *lib);
/* DAMO_OK for 0; else an error with what PETSc said, whose kind follows from its code. what: the function that failed. */
damo_status library_check(library *lib, damo_ctx *ctx, PetscErrorCode code, const char *what);

/* What the next agreement is for: ranks that come to it for different things all raise an inconsistency error. */
void library_doing(library *lib, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number that must be the same on all ranks; what: its name in plural, "columns". */
typedef struct agreement {
  const char *what;
  int64_t value;
} agreement;
/* All ranks give a status and, where same is not NULL, a number. DAMO_OK on every rank if all gave DAMO_OK and the number
 * is the same. Else the same error on every rank: that of the lowest rank that failed, with its number, or a shape error
 * that names what differs. A memory error too is every rank's, so that ranks with the same memory cap, whose binding runs
 * such a call once more, do so together. */
damo_status library_agree(library *lib, damo_ctx *ctx, damo_status s, const agreement *same);
/* The same, and *value becomes the largest of all ranks'. */
damo_status library_agree_max(library *lib, damo_ctx *ctx, damo_status s, int64_t *value);
/* values[0..n) become the sums over all ranks. */
damo_status library_sum(library *lib, damo_ctx *ctx, double *values, int64_t n);

/* Sets an error of a text with format. */
damo_status library_fail(damo_ctx *ctx, damo_status s, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
