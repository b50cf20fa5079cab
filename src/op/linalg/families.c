/* families: the files of damo.linalg, each with its rows and its classes. */
#include "op/op.h"

#define LINALG_FILES(X) \
  X(cholesky)           \
  X(ldl)                \
  X(triangular)         \
  X(lu)                 \
  X(solve)              \
  X(inverse)            \
  X(adjugate)           \
  X(compose)            \
  X(norm)               \
  X(svd)                \
  X(subspaces)          \
  X(eigen)              \
  X(sylvester)          \
  X(riccati)            \
  X(matfun)             \
  X(trigm)              \
  X(hessenberg)         \
  X(patterned)          \
  X(toeplitz)           \
  X(cholesky_band)      \
  X(banded)             \
  X(qr)                 \
  X(lstsq)

#define X(file)                                 \
  extern const op_func linalg_##file##_funcs[]; \
  extern const op_def *const linalg_##file##_classes[];
LINALG_FILES(X)
#undef X

#define X(file) linalg_##file##_funcs,
const op_func *const linalg_families[] = {LINALG_FILES(X) NULL};
#undef X

#define X(file) linalg_##file##_classes,
const op_def *const *const linalg_classes[] = {LINALG_FILES(X) NULL};
#undef X
