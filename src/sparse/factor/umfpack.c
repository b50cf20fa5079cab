/* umfpack: multifrontal LU (UMFPACK), for matrices whose factors fill in. GPL. */
#include "factor_int.h"

#if DAMO_GPL

#include <suitesparse/umfpack.h>

#define I int32_t
#define NAME(name) name##_n
#define UM(name) umfpack_di_##name
#define UMZ(name) umfpack_zi_##name
#include "umfpack_body.h"
#undef I
#undef NAME
#undef UM
#undef UMZ

#define I int64_t
#define NAME(name) name##_w
#define UM(name) umfpack_dl_##name
#define UMZ(name) umfpack_zl_##name
#include "umfpack_body.h"
#undef I
#undef NAME
#undef UM
#undef UMZ

const factor_backend solve_umfpack[2] = {
    {.name = "umfpack",
     .method = FACTOR_LU,
     .analyze = umf_analyze_n,
     .factorize = umf_factorize_n,
     .solve = umf_solve_n,
     .pivots = umf_pivots_n,
     .extract = umf_extract_n,
     .free = umf_free_n},
    {.name = "umfpack",
     .method = FACTOR_LU,
     .analyze = umf_analyze_w,
     .factorize = umf_factorize_w,
     .solve = umf_solve_w,
     .pivots = umf_pivots_w,
     .extract = umf_extract_w,
     .free = umf_free_w},
};

#else
const factor_backend solve_umfpack[2] = {{.name = NULL}, {.name = NULL}};
#endif
