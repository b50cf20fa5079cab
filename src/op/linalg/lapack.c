/* lapack: the tables of LAPACK's routines. */
#include "lapack.h"
#include "lapack_own.h"

#include <string.h>

#if DAMO_BLAS
#define LAPACK_DECLARE(prefix, name, args) extern void prefix##name##_ args;
#define X(name, args)           \
  LAPACK_DECLARE(s, name, args) \
  LAPACK_DECLARE(d, name, args) LAPACK_DECLARE(c, name, args) LAPACK_DECLARE(z, name, args)
LAPACK_ROUTINES(X)
#undef X

#define LAPACK_HETRF (const char *, lapack_in, void *, lapack_in, lapack_int *, void *, lapack_in, lapack_int *, size_t)
#define LAPACK_HETRS                                                                                                 \
  (const char *, lapack_in, lapack_in, const void *, lapack_in, const lapack_int *, void *, lapack_in, lapack_int *, \
   size_t)
#define LAPACK_ORGQR (lapack_in, lapack_in, lapack_in, void *, lapack_in, const void *, void *, lapack_in, lapack_int *)
#define LAPACK_GEQP3(rwork)                                                                                          \
  (lapack_in m, lapack_in n, void *a, lapack_in lda, lapack_int *jpvt, void *tau, void *work, lapack_in lwork rwork, \
   lapack_int *info)
#define LAPACK_GELSD(rwork)                                                                           \
  (lapack_in m, lapack_in n, lapack_in nrhs, void *a, lapack_in lda, void *b, lapack_in ldb, void *s, \
   const void *rcond, lapack_int *rank, void *work, lapack_in lwork rwork, lapack_int *iwork, lapack_int *info)
#define LAPACK_GESDD(rwork)                                                                                       \
  (const char *jobz, lapack_in m, lapack_in n, void *a, lapack_in lda, void *s, void *u, lapack_in ldu, void *vt, \
   lapack_in ldvt, void *work, lapack_in lwork rwork, lapack_int *iwork, lapack_int *info, size_t length)
#define LAPACK_NO_RWORK
#define LAPACK_RWORK , void *rwork

LAPACK_DECLARE(c, hetrf, LAPACK_HETRF)
LAPACK_DECLARE(z, hetrf, LAPACK_HETRF)
LAPACK_DECLARE(c, hetrs, LAPACK_HETRS)
LAPACK_DECLARE(z, hetrs, LAPACK_HETRS)
LAPACK_DECLARE(s, orgqr, LAPACK_ORGQR)
LAPACK_DECLARE(d, orgqr, LAPACK_ORGQR)
LAPACK_DECLARE(c, ungqr, LAPACK_ORGQR)
LAPACK_DECLARE(z, ungqr, LAPACK_ORGQR)
LAPACK_DECLARE(s, geqp3, LAPACK_GEQP3(LAPACK_NO_RWORK))
LAPACK_DECLARE(d, geqp3, LAPACK_GEQP3(LAPACK_NO_RWORK))
LAPACK_DECLARE(c, geqp3, LAPACK_GEQP3(LAPACK_RWORK))
LAPACK_DECLARE(z, geqp3, LAPACK_GEQP3(LAPACK_RWORK))
LAPACK_DECLARE(s, gelsd, LAPACK_GELSD(LAPACK_NO_RWORK))
LAPACK_DECLARE(d, gelsd, LAPACK_GELSD(LAPACK_NO_RWORK))
LAPACK_DECLARE(c, gelsd, LAPACK_GELSD(LAPACK_RWORK))
LAPACK_DECLARE(z, gelsd, LAPACK_GELSD(LAPACK_RWORK))
LAPACK_DECLARE(s, gesdd, LAPACK_GESDD(LAPACK_NO_RWORK))
LAPACK_DECLARE(d, gesdd, LAPACK_GESDD(LAPACK_NO_RWORK))
LAPACK_DECLARE(c, gesdd, LAPACK_GESDD(LAPACK_RWORK))
LAPACK_DECLARE(z, gesdd, LAPACK_GESDD(LAPACK_RWORK))

/* The real routines with the complex ones' argument. */
#define LAPACK_REAL_ROUTINES(prefix)                                                           \
  static void prefix##geqp3_real LAPACK_GEQP3(LAPACK_RWORK) {                                  \
    (void)rwork;                                                                               \
    prefix##geqp3_(m, n, a, lda, jpvt, tau, work, lwork, info);                                \
  }                                                                                            \
  static void prefix##gelsd_real LAPACK_GELSD(LAPACK_RWORK) {                                  \
    (void)rwork;                                                                               \
    prefix##gelsd_(m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork, iwork, info);      \
  }                                                                                            \
  static void prefix##gesdd_real LAPACK_GESDD(LAPACK_RWORK) {                                  \
    (void)rwork;                                                                               \
    prefix##gesdd_(jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork, info, length); \
  }
LAPACK_REAL_ROUTINES(s)
LAPACK_REAL_ROUTINES(d)

#define LAPACK_COMMON(prefix)                                                                         \
  .getrf = prefix##getrf_, .getrs = prefix##getrs_, .getri = prefix##getri_, .gecon = prefix##gecon_, \
  .potrf = prefix##potrf_, .potrs = prefix##potrs_, .sytrf = prefix##sytrf_, .sytrs = prefix##sytrs_, \
  .gbtrf = prefix##gbtrf_, .gbtrs = prefix##gbtrs_, .gttrf = prefix##gttrf_, .gttrs = prefix##gttrs_, \
  .geqrf = prefix##geqrf_, .gemm = prefix##gemm_, .trsm = prefix##trsm_, .trsv = prefix##trsv_
#define LAPACK_REAL(prefix, type)                                                                                    \
  {                                                                                                                  \
    .dtype = type, LAPACK_COMMON(prefix), .hetrf = prefix##sytrf_, .hetrs = prefix##sytrs_, .orgqr = prefix##orgqr_, \
    .geqp3 = prefix##geqp3_real, .gelsd = prefix##gelsd_real, .gesdd = prefix##gesdd_real                            \
  }
#define LAPACK_COMPLEX(prefix, type)                                                                                 \
  {                                                                                                                  \
    .dtype = type, LAPACK_COMMON(prefix), .hetrf = prefix##hetrf_, .hetrs = prefix##hetrs_, .orgqr = prefix##ungqr_, \
    .geqp3 = prefix##geqp3_, .gelsd = prefix##gelsd_, .gesdd = prefix##gesdd_                                        \
  }

static const lapack_table lapack_tables[4] = {LAPACK_REAL(s, DAMO_FLOAT32), LAPACK_REAL(d, DAMO_FLOAT64),
                                              LAPACK_COMPLEX(c, DAMO_COMPLEX64), LAPACK_COMPLEX(z, DAMO_COMPLEX128)};
#else
#define lapack_tables lapack_own
#endif

const lapack_table *lapack_of(damo_dtype dtype) {
  return &lapack_tables[dtype == DAMO_FLOAT32 ? 0 : dtype == DAMO_FLOAT64 ? 1 : dtype == DAMO_COMPLEX64 ? 2 : 3];
}

lapack_int lapack_work_length(damo_dtype dtype, const void *work) {
  /* A single-precision routine cannot tell lengths past 2^24 exactly: the next float is at least as long. */
  const bool single = dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64;
  float in_single;
  double length;
  memcpy(&in_single, work, sizeof in_single);
  memcpy(&length, work, sizeof length);
  if (single) length = (double)in_single * (1 + 0x1p-23);
  return length < 1 ? 1 : length > INT32_MAX ? INT32_MAX : (lapack_int)length;
}

const void *lapack_one(damo_dtype dtype) {
  static const float single[2] = {1, 0};
  static const double twice[2] = {1, 0};
  return dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64 ? (const void *)single : twice;
}

const void *lapack_zero(damo_dtype dtype) {
  static const double zero[2] = {0, 0};
  (void)dtype;
  return zero;
}

#define TRSM_LEAST 64 /* order of the triangles that trsm itself gets */

void lapack_trsm(const lapack_table *la, char side, char uplo, char trans, char diag, int64_t m, int64_t n,
                 const char *a, int64_t lda, char *b, int64_t ldb) {
  static const double minus_one[2] = {-1, 0};
  static const float minus_one_single[2] = {-1, 0};
  const int64_t size = (int64_t)dtype_size(la->dtype), order = side == 'L' ? m : n;
  const lapack_int ld = (lapack_int)lda, ldx = (lapack_int)ldb;
  const void *one = lapack_one(la->dtype);
  if (order <= TRSM_LEAST) {
    const lapack_int rows = (lapack_int)m, cols = (lapack_int)n;
    la->trsm(&side, &uplo, &trans, &diag, &rows, &cols, one, a, &ld, b, &ldx, 1, 1, 1, 1);
    return;
  }
  /* The blocks 1 and 2 of X = (X₁, X₂), and the block of the triangle off its diagonal. */
  const int64_t k = (order / 2 + 31) & ~(int64_t)31;
  const char *a2 = a + k * (lda + 1) * size, *off = uplo == 'L' ? a + k * size : a + k * lda * size;
  char *b2 = side == 'L' ? b + k * size : b + k * ldb * size;
  const bool lower = (uplo == 'L') == (trans == 'N'), second_first = (side == 'L') != lower;
  const int64_t first = second_first ? order - k : k, rest = order - first;
  char *x = second_first ? b2 : b, *y = second_first ? b : b2;
  lapack_trsm(la, side, uplo, trans, diag, side == 'L' ? first : m, side == 'L' ? n : first, second_first ? a2 : a, lda,
              x, ldb);
  const lapack_int rows = (lapack_int)(side == 'L' ? rest : m), cols = (lapack_int)(side == 'L' ? n : rest);
  const lapack_int inner = (lapack_int)first;
  const bool single = la->dtype == DAMO_FLOAT32 || la->dtype == DAMO_COMPLEX64;
  const void *minus = single ? (const void *)minus_one_single : minus_one;
  if (side == 'L')
    la->gemm(&trans, "N", &rows, &cols, &inner, minus, off, &ld, x, &ldx, one, y, &ldx, 1, 1);
  else
    la->gemm("N", &trans, &rows, &cols, &inner, minus, x, &ldx, off, &ld, one, y, &ldx, 1, 1);
  lapack_trsm(la, side, uplo, trans, diag, side == 'L' ? rest : m, side == 'L' ? n : rest, second_first ? a : a2, lda,
              y, ldb);
}
