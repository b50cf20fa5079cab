/* lapack_own_test: damo's own LU, Cholesky, QR and triangular systems (the build without LAPACK) against LAPACK, of each
 * dtype, for orders on both sides of the sizes of their blocks. */
#define DAMO_BLAS 0 /* of this file alone: the library that is linked has LAPACK */
#include "op/linalg/lapack_own.c"

#include "test.h"

enum { MOST = 130, LD = 137, ENTRIES = LD * 2 * MOST };

static double draw(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53 - 0.5;
}

static double a[2 * ENTRIES], b[2 * ENTRIES], c[2 * ENTRIES], d[2 * ENTRIES], work[8 * ENTRIES], tau[2][2 * MOST];
static lapack_int ipiv[2][MOST];

static bool is_single(damo_dtype t) { return t == DAMO_FLOAT32 || t == DAMO_COMPLEX64; }
static int parts_of(damo_dtype t) { return dtype_is_complex(t) ? 2 : 1; }
static double tolerance(damo_dtype t) { return is_single(t) ? 2e-4 : 1e-11; }

static double get(damo_dtype t, const void *p, int64_t i) {
  return is_single(t) ? (double)((const float *)p)[i] : ((const double *)p)[i];
}
static void put(damo_dtype t, void *p, int64_t i, double x) {
  if (is_single(t))
    ((float *)p)[i] = (float)x;
  else
    ((double *)p)[i] = x;
}
static void fill(damo_dtype t, void *p, int64_t n) {
  for (int64_t i = 0; i < n * parts_of(t); i++) put(t, p, i, draw());
}
/* The greatest difference, of all numbers of the memory. */
static double distance(damo_dtype t, const void *p, const void *q, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n * parts_of(t); i++) {
    const double x = fabs(get(t, p, i) - get(t, q, i));
    if (!(x <= most)) most = x;
  }
  return most;
}

static const lapack_table *own_of(damo_dtype t) {
  for (int i = 0; i < 4; i++)
    if (lapack_own[i].dtype == t) return &lapack_own[i];
  return NULL;
}

/* n added to the diagonal, of a system that is told apart well. */
static void shift(damo_dtype t, void *p, lapack_int n) {
  for (lapack_int i = 0; i < n; i++) {
    const int64_t at = (int64_t)parts_of(t) * i * (LD + 1);
    put(t, p, at, get(t, p, at) + n);
    if (parts_of(t) == 2) put(t, p, at + 1, 0);
  }
}

static void test_lu(damo_dtype t, lapack_int m, lapack_int n) {
  const lapack_table *la = lapack_of(t), *own = own_of(t);
  const lapack_int ld = LD, least = m < n ? m : n, k = 7;
  lapack_int info[2] = {0};
  fill(t, a, LD * n);
  memcpy(b, a, sizeof a);
  la->getrf(&m, &n, a, &ld, ipiv[0], &info[0]);
  own->getrf(&m, &n, b, &ld, ipiv[1], &info[1]);
  CHECK_EQ_I(info[0], info[1]);
  CHECK(memcmp(ipiv[0], ipiv[1], (size_t)least * sizeof(lapack_int)) == 0);
  CHECK_NEAR(distance(t, a, b, LD * n), 0, tolerance(t) * (1 + least));
  if (m != n) return;
  fill(t, a, LD * n);
  shift(t, a, n);
  own->getrf(&n, &n, a, &ld, ipiv[0], &info[0]);
  for (int way = 0; way < 3; way++) {
    fill(t, c, LD * k);
    memcpy(d, c, sizeof c);
    la->getrs(&"NTC"[way], &n, &k, a, &ld, ipiv[0], c, &ld, &info[0], 1);
    own->getrs(&"NTC"[way], &n, &k, a, &ld, ipiv[0], d, &ld, &info[1], 1);
    CHECK_NEAR(distance(t, c, d, LD * k), 0, tolerance(t));
  }
  const lapack_int query = -1;
  memcpy(b, a, sizeof a);
  own->getri(&n, b, &ld, ipiv[0], work, &query, &info[0]);
  const lapack_int length = lapack_work_length(t, work), longest = 4 * ENTRIES;
  CHECK(length <= longest);
  own->getri(&n, b, &ld, ipiv[0], work, &length, &info[1]);
  la->getri(&n, a, &ld, ipiv[0], work, &longest, &info[0]);
  CHECK_EQ_I(info[1], 0);
  CHECK_NEAR(distance(t, a, b, LD * n), 0, tolerance(t));
}

static void test_cholesky(damo_dtype t, lapack_int n) {
  const lapack_table *la = lapack_of(t), *own = own_of(t);
  const lapack_int ld = LD, k = 5;
  for (int upper = 0; upper < 2; upper++) {
    const char *uplo = upper ? "U" : "L";
    for (int broken = 0; broken < 2; broken++) {
      lapack_int info[2] = {0};
      fill(t, a, LD * n);
      shift(t, a, n);
      if (broken) put(t, a, (int64_t)parts_of(t) * (n * 2 / 3) * (LD + 1), -1);
      memcpy(b, a, sizeof a);
      la->potrf(uplo, &n, a, &ld, &info[0], 1);
      own->potrf(uplo, &n, b, &ld, &info[1], 1);
      CHECK_EQ_I(info[0], info[1]);
      if (broken) continue;
      /* The other triangle is as it was. */
      CHECK_NEAR(distance(t, a, b, LD * n), 0, tolerance(t));
      fill(t, c, LD * k);
      memcpy(d, c, sizeof c);
      la->potrs(uplo, &n, &k, a, &ld, c, &ld, &info[0], 1);
      own->potrs(uplo, &n, &k, a, &ld, d, &ld, &info[1], 1);
      CHECK_NEAR(distance(t, c, d, LD * k), 0, tolerance(t));
    }
  }
}

/* The conventions are LAPACK's, so that the factors are equal, and not only their product. */
static void test_qr(damo_dtype t, lapack_int m, lapack_int n) {
  const lapack_table *la = lapack_of(t), *own = own_of(t);
  const lapack_int ld = LD, k = m < n ? m : n, query = -1, longest = 4 * ENTRIES;
  lapack_int info = 0;
  fill(t, a, LD * n);
  for (int64_t i = 0; i < m * parts_of(t); i++)
    put(t, a, (int64_t)parts_of(t) * LD * (n / 2) + i, 0); /* a column of zeros */
  memcpy(b, a, sizeof a);
  la->geqrf(&m, &n, a, &ld, tau[0], work, &longest, &info);
  own->geqrf(&m, &n, b, &ld, tau[1], work, &query, &info);
  CHECK(lapack_work_length(t, work) <= longest);
  own->geqrf(&m, &n, b, &ld, tau[1], work, &longest, &info);
  CHECK_NEAR(distance(t, tau[0], tau[1], k), 0, tolerance(t));
  CHECK_NEAR(distance(t, a, b, LD * n), 0, tolerance(t) * 10);
  for (int full = 0; full < 2; full++) {
    const lapack_int cols = full ? m : k;
    memcpy(c, b, sizeof c);
    memcpy(d, b, sizeof d);
    la->orgqr(&m, &cols, &k, c, &ld, tau[1], work, &longest, &info);
    own->orgqr(&m, &cols, &k, d, &ld, tau[1], work, &query, &info);
    CHECK(lapack_work_length(t, work) <= longest);
    own->orgqr(&m, &cols, &k, d, &ld, tau[1], work, &longest, &info);
    for (lapack_int j = 0; j < cols; j++) {
      const size_t at = (size_t)LD * (size_t)j * dtype_size(t);
      CHECK_NEAR(distance(t, (char *)c + at, (char *)d + at, m), 0, tolerance(t));
    }
  }
}

static void test_triangles(damo_dtype t, lapack_int n, lapack_int k) {
  const lapack_table *la = lapack_of(t), *own = own_of(t);
  const lapack_int ld = LD, one = 1;
  for (int way = 0; way < 24; way++) {
    const char *side = way % 2 ? "L" : "R", *uplo = way / 2 % 2 ? "L" : "U", *diag = way / 4 % 2 ? "U" : "N";
    const char *trans = &"NTC"[way / 8];
    const lapack_int rows = *side == 'L' ? n : k, cols = *side == 'L' ? k : n;
    fill(t, a, LD * n);
    shift(t, a, n);
    if (*diag == 'U')
      for (int64_t i = 0; i < (int64_t)LD * n * parts_of(t); i++) put(t, a, i, get(t, a, i) / n);
    fill(t, c, LD * cols);
    memcpy(d, c, sizeof c);
    la->trsm(side, uplo, trans, diag, &rows, &cols, lapack_one(t), a, &ld, c, &ld, 1, 1, 1, 1);
    own->trsm(side, uplo, trans, diag, &rows, &cols, lapack_one(t), a, &ld, d, &ld, 1, 1, 1, 1);
    CHECK_NEAR(distance(t, c, d, LD * cols), 0, tolerance(t));
    la->trsv(uplo, trans, diag, &n, a, &ld, c, &one, 1, 1, 1);
    own->trsv(uplo, trans, diag, &n, a, &ld, d, &one, 1, 1, 1);
    CHECK_NEAR(distance(t, c, d, n), 0, tolerance(t));
  }
}

static void test_singular(damo_dtype t) {
  const lapack_table *la = lapack_of(t), *own = own_of(t);
  const lapack_int ld = LD;
  lapack_int info[2];
  for (lapack_int n = 1; n < 60; n += 19) {
    fill(t, a, LD * n);
    for (int64_t i = 0; i < LD * parts_of(t); i++) put(t, a, (int64_t)parts_of(t) * LD * (n / 2) + i, 0);
    memcpy(b, a, sizeof a);
    la->getrf(&n, &n, a, &ld, ipiv[0], &info[0]);
    own->getrf(&n, &n, b, &ld, ipiv[1], &info[1]);
    CHECK_EQ_I(info[1], n / 2 + 1);
    CHECK_EQ_I(info[0], info[1]);
  }
}

int main(void) {
  const damo_dtype dtypes[] = {DAMO_FLOAT32, DAMO_FLOAT64, DAMO_COMPLEX64, DAMO_COMPLEX128};
  const lapack_int sizes[] = {1, 2, 5, 16, 17, 32, 33, 65, 130};
  for (int i = 0; i < 4; i++) {
    const damo_dtype t = dtypes[i];
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
      const lapack_int n = sizes[j], other = sizes[(j * 5 + 3) % 9];
      test_lu(t, n, n);
      test_lu(t, n, other);
      test_cholesky(t, n);
      test_qr(t, n, n);
      test_qr(t, n, other);
      test_qr(t, other, n);
      test_triangles(t, n, other);
    }
    test_singular(t);
  }
  TEST_MAIN_END;
}
