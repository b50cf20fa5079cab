/* cxsparse: Cholesky and QR without GPL code (CXSparse): column by column, without dense blocks. LGPL. */
#include "factor_int.h"

#if DAMO_SUITESPARSE

#include <suitesparse/cs.h>

#undef I

#define I int32_t
#define T double
#define NAME(name) name##_dn
#define CS(name) cs_di_##name
#define SPARSE cs_di
#define SYMBOLIC cs_dis
#define NUMERIC cs_din
#include "cxchol_body.h"
#include "cxbound_body.h"
#include "cxqr_body.h"
#undef I
#undef T
#undef NAME
#undef CS
#undef SPARSE
#undef SYMBOLIC
#undef NUMERIC

#define I int64_t
#define T double
#define NAME(name) name##_dw
#define CS(name) cs_dl_##name
#define SPARSE cs_dl
#define SYMBOLIC cs_dls
#define NUMERIC cs_dln
#include "cxchol_body.h"
#include "cxbound_body.h"
#include "cxqr_body.h"
#undef I
#undef T
#undef NAME
#undef CS
#undef SPARSE
#undef SYMBOLIC
#undef NUMERIC

#define I int32_t
#define T zdouble
#define NAME(name) name##_zn
#define CS(name) cs_ci_##name
#define SPARSE cs_ci
#define SYMBOLIC cs_cis
#define NUMERIC cs_cin
#include "cxchol_body.h"
#include "cxqr_body.h"
#undef I
#undef T
#undef NAME
#undef CS
#undef SPARSE
#undef SYMBOLIC
#undef NUMERIC

#define I int64_t
#define T zdouble
#define NAME(name) name##_zw
#define CS(name) cs_cl_##name
#define SPARSE cs_cl
#define SYMBOLIC cs_cls
#define NUMERIC cs_cln
#include "cxchol_body.h"
#include "cxqr_body.h"
#undef I
#undef T
#undef NAME
#undef CS
#undef SPARSE
#undef SYMBOLIC
#undef NUMERIC

double factor_fill_bound(const factor_matrix *m, const void *q) {
  return m->wide ? cx_fill_bound_dw(m, q) : cx_fill_bound_dn(m, q);
}

/* Defines, for each index type (`_n`, `_w`), a function that calls the one for M's value type. */
#define PICK(name, params, args)                                                             \
  static damo_status name##_n params { return f->m.cplx ? name##_zn args : name##_dn args; } \
  static damo_status name##_w params { return f->m.cplx ? name##_zw args : name##_dw args; }

PICK(cxchol_analyze, (damo_factor * f), (f))
PICK(cxchol_factorize, (damo_factor * f), (f))
PICK(cxchol_solve, (damo_factor * f, factor_system s, int64_t k, double *x), (f, s, k, x))
PICK(cxchol_pivots, (damo_factor * f, bool want_log, factor_pivots *out), (f, want_log, out))
PICK(cxchol_extract, (damo_factor * f, factor_lu *lu), (f, lu))
PICK(cxqr_analyze, (damo_factor * f), (f))
PICK(cxqr_factorize, (damo_factor * f), (f))
PICK(cxqr_apply, (damo_factor * f, bool adjoint, int64_t k, const double *b, double *x), (f, adjoint, k, b, x))

#undef PICK

static void cxchol_free(damo_factor *f) {
  if (f->m.wide)
    (f->m.cplx ? cxchol_free_zw : cxchol_free_dw)(f);
  else
    (f->m.cplx ? cxchol_free_zn : cxchol_free_dn)(f);
}

static void cxqr_free(damo_factor *f) {
  if (f->m.wide)
    (f->m.cplx ? cxqr_free_zw : cxqr_free_dw)(f);
  else
    (f->m.cplx ? cxqr_free_zn : cxqr_free_dn)(f);
}

const factor_backend solve_cxsparse[2] = {
    {.name = "cxsparse",
     .method = FACTOR_CHOLESKY,
     .hermitian = true,
     .analyze = cxchol_analyze_n,
     .factorize = cxchol_factorize_n,
     .solve = cxchol_solve_n,
     .pivots = cxchol_pivots_n,
     .extract = cxchol_extract_n,
     .free = cxchol_free},
    {.name = "cxsparse",
     .method = FACTOR_CHOLESKY,
     .hermitian = true,
     .analyze = cxchol_analyze_w,
     .factorize = cxchol_factorize_w,
     .solve = cxchol_solve_w,
     .pivots = cxchol_pivots_w,
     .extract = cxchol_extract_w,
     .free = cxchol_free},
};

const factor_backend solve_cxqr[2] = {
    {.name = "cxsparse",
     .method = FACTOR_QR,
     .analyze = cxqr_analyze_n,
     .factorize = cxqr_factorize_n,
     .apply = cxqr_apply_n,
     .free = cxqr_free},
    {.name = "cxsparse",
     .method = FACTOR_QR,
     .analyze = cxqr_analyze_w,
     .factorize = cxqr_factorize_w,
     .apply = cxqr_apply_w,
     .free = cxqr_free},
};
#else
typedef int factor_cxsparse_is_part_of_suitesparse;
#endif
