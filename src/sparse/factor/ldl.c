/* ldl: LDLᵀ without pivoting (LDL, AMD) of real symmetric matrices that need not be definite: half the work of LU, but
 * stable only for some of them (quasi-definite ones as in optimization, diagonally dominant ones), so the caller checks
 * the result. LGPL. */
#include "factor_int.h"

#if DAMO_SUITESPARSE

#include <suitesparse/amd.h>
#include <suitesparse/ldl.h>

#define I int32_t
#define NAME(name) name##_n
#define LDL(name) ldl_##name
#define AMD(name) amd_##name
#include "ldl_body.h"
#undef I
#undef NAME
#undef LDL
#undef AMD

#define I int64_t
#define NAME(name) name##_w
#define LDL(name) ldl_l_##name
#define AMD(name) amd_l_##name
#include "ldl_body.h"
#undef I
#undef NAME
#undef LDL
#undef AMD

const factor_backend solve_ldl[2] = {
    {.name = "ldl",
     .method = FACTOR_LDL,
     .hermitian = true,
     .analyze = ldl_analyze_n,
     .factorize = ldl_factorize_n,
     .solve = ldl_solve_n,
     .pivots = ldl_pivots_n,
     .extract = ldl_extract_n,
     .free = ldl_free_n},
    {.name = "ldl",
     .method = FACTOR_LDL,
     .hermitian = true,
     .analyze = ldl_analyze_w,
     .factorize = ldl_factorize_w,
     .solve = ldl_solve_w,
     .pivots = ldl_pivots_w,
     .extract = ldl_extract_w,
     .free = ldl_free_w},
};
#else
typedef int factor_ldl_is_part_of_suitesparse;
#endif
