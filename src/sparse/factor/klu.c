/* klu: LU of the block triangular form (KLU, BTF), for matrices whose factors stay sparse, as those of circuits do.
 * LGPL. */
#include "factor_int.h"

#if DAMO_SUITESPARSE

#include <suitesparse/klu.h>

/* KLU's default of 0.001 leaves residuals that need refinement; 0.1 costs hardly more. */
#define PIVOT_TOLERANCE 0.1
/* Columns sampled for the choice of an ordering. */
#define SAMPLE 200
/* Typical ratio of the QR bound to the actual work of LU. */
#define BOUND_SLACK 15
/* After so many solves with one column, a copy of the factors in the order of a solve pays. */
#define SOLVES_BEFORE_PACKING 8

#define I int32_t
#define NAME(name) name##_n
#define KLU(name) klu_##name
#define KLUZ(name) klu_z_##name
#define COMMON klu_common
#define SYMBOLIC klu_symbolic
#define NUMERIC klu_numeric
#include "klu_body.h"
#undef I
#undef NAME
#undef KLU
#undef KLUZ
#undef COMMON
#undef SYMBOLIC
#undef NUMERIC

#define I int64_t
#define NAME(name) name##_w
#define KLU(name) klu_l_##name
#define KLUZ(name) klu_zl_##name
#define COMMON klu_l_common
#define SYMBOLIC klu_l_symbolic
#define NUMERIC klu_l_numeric
#include "klu_body.h"
#undef I
#undef NAME
#undef KLU
#undef KLUZ
#undef COMMON
#undef SYMBOLIC
#undef NUMERIC
#undef PIVOT_TOLERANCE
#undef SAMPLE
#undef BOUND_SLACK
#undef SOLVES_BEFORE_PACKING

const factor_backend solve_klu[2] = {
    {.name = "klu",
     .method = FACTOR_LU,
     .analyze = klu_analyze_n,
     .factorize = klu_factorize_n,
     .solve = klu_solve_n,
     .pivots = klu_pivots_n,
     .extract = klu_extract_n,
     .work = klu_work_n,
     .free = klu_free_n},
    {.name = "klu",
     .method = FACTOR_LU,
     .analyze = klu_analyze_w,
     .factorize = klu_factorize_w,
     .solve = klu_solve_w,
     .pivots = klu_pivots_w,
     .extract = klu_extract_w,
     .work = klu_work_w,
     .free = klu_free_w},
};
#else
typedef int factor_klu_is_part_of_suitesparse;
#endif
