/* ops.h: the Op classes on distributed matrices, each in a file of its own. */
#ifndef DAMO_MPI_PETSC_OPS_H
#define DAMO_MPI_PETSC_OPS_H

#include "library.h"

extern const damo_op_class matrix_class, dot_class, sample_class, solve_class, eigs_class, simple_class;

#endif
