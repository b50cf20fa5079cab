/* cholmod: Cholesky factorization of Hermitian positive definite matrices by CHOLMOD, supernodal where that pays.
 * GPL. */
#include "factor_int.h"

#if DAMO_GPL

#include <suitesparse/cholmod.h>

/* OpenMP functions of the library that CHOLMOD links; NULL if it is built without OpenMP. */
extern void omp_set_max_active_levels(int levels) __attribute__((weak));
extern int omp_get_max_active_levels(void) __attribute__((weak));

/* CHOLMOD starts four OpenMP threads for the small loops between its BLAS calls, however many cores there are, and
 * loses a third of its time to them. With 0 active levels its loops run in the calling thread; since GCC 11 that
 * setting belongs to the calling thread alone. */
#if defined(__GNUC__) && (__GNUC__ >= 11 || defined(__clang__))
static int keep_to_one_thread(const damo_factor *f) {
  if (!omp_set_max_active_levels || !omp_get_max_active_levels || f->obj.ctx->config.threads > 1) return -1;
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
  return levels;
}
static void allow_threads(int levels) {
  if (levels >= 0) omp_set_max_active_levels(levels);
}
#else
static int keep_to_one_thread(const damo_factor *f) { return f ? -1 : -1; }
static void allow_threads(int levels) { (void)levels; }
#endif

#define I int32_t
#define NAME(name) name##_n
#define CH(name) cholmod_##name
#define ITYPE CHOLMOD_INT
#include "cholmod_body.h"
#undef I
#undef NAME
#undef CH
#undef ITYPE

#define I int64_t
#define NAME(name) name##_w
#define CH(name) cholmod_l_##name
#define ITYPE CHOLMOD_LONG
#include "cholmod_body.h"
#undef I
#undef NAME
#undef CH
#undef ITYPE

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
