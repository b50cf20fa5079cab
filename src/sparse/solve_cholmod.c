/* solve_cholmod: Cholesky of Hermitian positive definite matrices (CHOLMOD), supernodal where it pays. GPL. */
#include "factor_int.h"

#if DAMO_GPL

#include <suitesparse/cholmod.h>

#define I int32_t
#define N(name) name##_n
#define CH(name) cholmod_##name
#define ITYPE CHOLMOD_INT
#include "solve_cholmod_body.h"
#undef I
#undef N
#undef CH
#undef ITYPE

#define I int64_t
#define N(name) name##_w
#define CH(name) cholmod_l_##name
#define ITYPE CHOLMOD_LONG
#include "solve_cholmod_body.h"
#undef I
#undef N

const factor_backend solve_cholmod[2] = {
    {.name = "cholmod",
     .method = FACTOR_CHOLESKY,
     .hermitian = true,
     .analyze = chol_analyze_n,
     .factorize = chol_factorize_n,
     .solve = chol_solve_n,
     .pivots = chol_pivots_n,
     .extract = chol_extract_n,
     .free = chol_free_n},
    {.name = "cholmod",
     .method = FACTOR_CHOLESKY,
     .hermitian = true,
     .analyze = chol_analyze_w,
     .factorize = chol_factorize_w,
     .solve = chol_solve_w,
     .pivots = chol_pivots_w,
     .extract = chol_extract_w,
     .free = chol_free_w},
};

#else
const factor_backend solve_cholmod[2] = {{.name = NULL}, {.name = NULL}};
#endif
