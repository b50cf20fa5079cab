/* lapack: the tables of LAPACK's routines. */
#include "lapack.h"

#define DECLARE(prefix, name, args) extern void prefix##name##_ args;
#define X(name, args) DECLARE(s, name, args) DECLARE(d, name, args) DECLARE(c, name, args) DECLARE(z, name, args)
LAPACK_ROUTINES(X)
#undef X

#define HETRF (const char *, lapack_in, void *, lapack_in, lapack_int *, void *, lapack_in, lapack_int *, size_t)
#define HETRS                                                                                                        \
  (const char *, lapack_in, lapack_in, const void *, lapack_in, const lapack_int *, void *, lapack_in, lapack_int *, \
   size_t)
#define ORGQR (lapack_in, lapack_in, lapack_in, void *, lapack_in, const void *, void *, lapack_in, lapack_int *)
#define GEQP3(rwork)                                                                                                 \
  (lapack_in m, lapack_in n, void *a, lapack_in lda, lapack_int *jpvt, void *tau, void *work, lapack_in lwork rwork, \
   lapack_int *info)
#define GELSD(rwork)                                                                                  \
  (lapack_in m, lapack_in n, lapack_in nrhs, void *a, lapack_in lda, void *b, lapack_in ldb, void *s, \
   const void *rcond, lapack_int *rank, void *work, lapack_in lwork rwork, lapack_int *iwork, lapack_int *info)
#define GESDD(rwork)                                                                                              \
  (const char *jobz, lapack_in m, lapack_in n, void *a, lapack_in lda, void *s, void *u, lapack_in ldu, void *vt, \
   lapack_in ldvt, void *work, lapack_in lwork rwork, lapack_int *iwork, lapack_int *info, size_t length)
#define NO_RWORK
#define RWORK , void *rwork

DECLARE(c, hetrf, HETRF)
DECLARE(z, hetrf, HETRF)
DECLARE(c, hetrs, HETRS)
DECLARE(z, hetrs, HETRS)
DECLARE(s, orgqr, ORGQR)
DECLARE(d, orgqr, ORGQR)
DECLARE(c, ungqr, ORGQR)
DECLARE(z, ungqr, ORGQR)
DECLARE(s, geqp3, GEQP3(NO_RWORK))
DECLARE(d, geqp3, GEQP3(NO_RWORK))
DECLARE(c, geqp3, GEQP3(RWORK))
DECLARE(z, geqp3, GEQP3(RWORK))
DECLARE(s, gelsd, GELSD(NO_RWORK))
DECLARE(d, gelsd, GELSD(NO_RWORK))
DECLARE(c, gelsd, GELSD(RWORK))
DECLARE(z, gelsd, GELSD(RWORK))
DECLARE(s, gesdd, GESDD(NO_RWORK))
DECLARE(d, gesdd, GESDD(NO_RWORK))
DECLARE(c, gesdd, GESDD(RWORK))
DECLARE(z, gesdd, GESDD(RWORK))

/* The real routines with the complex ones' argument. */
#define REAL_ROUTINES(prefix)                                                                  \
  static void prefix##geqp3_real GEQP3(RWORK) {                                                \
    (void)rwork;                                                                               \
    prefix##geqp3_(m, n, a, lda, jpvt, tau, work, lwork, info);                                \
  }                                                                                            \
  static void prefix##gelsd_real GELSD(RWORK) {                                                \
    (void)rwork;                                                                               \
    prefix##gelsd_(m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork, iwork, info);      \
  }                                                                                            \
  static void prefix##gesdd_real GESDD(RWORK) {                                                \
    (void)rwork;                                                                               \
    prefix##gesdd_(jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork, info, length); \
  }
REAL_ROUTINES(s)
REAL_ROUTINES(d)

#define COMMON(prefix)                                                                                \
  .getrf = prefix##getrf_, .getrs = prefix##getrs_, .getri = prefix##getri_, .gecon = prefix##gecon_, \
  .potrf = prefix##potrf_, .potrs = prefix##potrs_, .sytrf = prefix##sytrf_, .sytrs = prefix##sytrs_, \
  .gbtrf = prefix##gbtrf_, .gbtrs = prefix##gbtrs_, .geqrf = prefix##geqrf_, .trsm = prefix##trsm_,   \
  .trsv = prefix##trsv_
#define REAL(prefix, type)                                                                                    \
  {                                                                                                           \
    .dtype = type, COMMON(prefix), .hetrf = prefix##sytrf_, .hetrs = prefix##sytrs_, .orgqr = prefix##orgqr_, \
    .geqp3 = prefix##geqp3_real, .gelsd = prefix##gelsd_real, .gesdd = prefix##gesdd_real                     \
  }
#define COMPLEX(prefix, type)                                                                                 \
  {                                                                                                           \
    .dtype = type, COMMON(prefix), .hetrf = prefix##hetrf_, .hetrs = prefix##hetrs_, .orgqr = prefix##ungqr_, \
    .geqp3 = prefix##geqp3_, .gelsd = prefix##gelsd_, .gesdd = prefix##gesdd_                                 \
  }

static const lapack_table lapack_tables[4] = {REAL(s, DAMO_FLOAT32), REAL(d, DAMO_FLOAT64), COMPLEX(c, DAMO_COMPLEX64),
                                              COMPLEX(z, DAMO_COMPLEX128)};

const lapack_table *lapack_of(damo_dtype dtype) {
  return &lapack_tables[dtype == DAMO_FLOAT32 ? 0 : dtype == DAMO_FLOAT64 ? 1 : dtype == DAMO_COMPLEX64 ? 2 : 3];
}

lapack_int lapack_work_length(damo_dtype dtype, const void *work) {
  /* A single-precision routine cannot tell lengths past 2^24 exactly: the next float is at least as long. */
  const bool single = dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64;
  const double length = single ? (double)*(const float *)work * (1 + 0x1p-23) : *(const double *)work;
  return length < 1 ? 1 : length > INT32_MAX ? INT32_MAX : (lapack_int)length;
}

const void *lapack_one(damo_dtype dtype) {
  static const float single[2] = {1, 0};
  static const double twice[2] = {1, 0};
  return dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64 ? (const void *)single : twice;
}

#undef REAL_ROUTINES
#undef COMMON
#undef REAL
#undef COMPLEX
