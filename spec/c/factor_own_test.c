/* factor_own_test: damo's own LDLᴴ (the build without SuiteSparse) on drawn Hermitian matrices of both kinds of values
 * and indices: its solutions, pivots and factors, the order's fill, and matrices that it can't factorize. */
#define DAMO_SUITESPARSE 0 /* of this file alone: the library that is linked has SuiteSparse */
#include "sparse/factor/own.c"

#include "array/array.h"
#include "sparse/factor/factor.h"
#include "test.h"

static damo_ctx *ctx;

static double draw(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53 - 0.5;
}

/* A Hermitian matrix with about `density` entries a column beside its diagonal, whose entries are `diagonal`, or with
 * -diagonal every third. */
static damo_sparse *hermitian(int64_t n, double density, double diagonal, bool indefinite, bool cplx) {
  static int64_t row[40000], col[40000];
  static double data[80000];
  int64_t k = 0;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i <= j; i++) {
      if (i != j && draw() + 0.5 > density / (double)n) continue;
      const double re = i == j ? indefinite && j % 3 == 0 ? -diagonal : diagonal : draw(), im = i == j ? 0 : draw();
      for (int turn = 0; turn < (i == j ? 1 : 2); turn++, k++) {
        row[k] = turn ? j : i, col[k] = turn ? i : j;
        if (cplx)
          data[2 * k] = re, data[2 * k + 1] = turn ? -im : im;
        else
          data[k] = re;
      }
    }
  }
  return damo_sparse_from_coo(ctx, DAMO_CSC, cplx ? DAMO_COMPLEX128 : DAMO_FLOAT64, n, n, k, row, col, data);
}

/* A factor of a by own code, in place of SuiteSparse's. */
static damo_factor *own_factor(damo_sparse *a, const factor_backend *backend, bool wide) {
  damo_factor *f = factor_new(a, FACTOR_ASSUME_NONE);
  if (f == NULL) return NULL;
  f->backend->free(f);
  factor_charge(f, 0);
  if (wide) {
    damo_array *p = array_cast(f->m.indptr, DAMO_INT64), *i = array_cast(f->m.indices, DAMO_INT64);
    damo_release(f->m.indptr);
    damo_release(f->m.indices);
    f->m.indptr = p, f->m.indices = i;
    f->m.wide = true;
  }
  f->backend = backend;
  f->fault = FACTOR_FINE;
  if (backend->analyze(f) == DAMO_OK && backend->factorize(f) == DAMO_OK) return f;
  damo_release(f);
  return NULL;
}

static void test_solves(bool cplx, bool wide) {
  static const int64_t orders[] = {1, 2, 3, 10, 40, 97, 150};
  for (int trial = 0; trial < 42; trial++) {
    const int64_t n = orders[trial % 7];
    const bool indefinite = trial % 2;
    damo_sparse *a = hermitian(n, 1 + trial % 9, 3.5 + trial % 9, indefinite, cplx);
    damo_factor *f = own_factor(a, indefinite ? &solve_own : &solve_own_positive, wide);
    if (CHECK(f != NULL && f->fault == FACTOR_FINE)) {
      static double x[300], b[300];
      const int64_t parts = cplx ? 2 : 1;
      for (int64_t i = 0; i < parts * n; i++) x[i] = b[i] = draw();
      CHECK(f->backend->solve(f, FACTOR_A, 1, x) == DAMO_OK);
      for (int64_t j = 0; j < n; j++) {
        for (int64_t p = own_start(&f->m, j); p < own_start(&f->m, j + 1); p++) {
          const int64_t i = own_row(&f->m, p);
          if (cplx)
            ((zdouble *)(void *)b)[i] -= ((zdouble *)(void *)f->m.x)[p] * ((zdouble *)(void *)x)[j];
          else
            b[i] -= f->m.x[p] * x[j];
        }
      }
      double most = 0;
      for (int64_t i = 0; i < parts * n; i++) most = fmax(most, fabs(b[i]));
      CHECK_NEAR(most, 0, 1e-12);
      int64_t negative = 0;
      for (int64_t k = 0; k < n; k++) negative += ((own_ldl *)f->state)->d[k] < 0;
      CHECK_EQ_I(negative, indefinite ? (n + 2) / 3 : 0); /* the law of inertia: the diagonal dominates */
    }
    damo_release(f);
    damo_release(a);
  }
}

/* A grid of side × side: minimum degree leaves far less than its columns in their order, side³. */
static void test_order(void) {
  enum { SIDE = 60 };
  static int64_t row[5 * SIDE * SIDE], col[5 * SIDE * SIDE];
  static double data[5 * SIDE * SIDE];
  int64_t k = 0;
  for (int64_t i = 0; i < SIDE * SIDE; i++) {
    const int64_t near[5] = {i, i % SIDE > 0 ? i - 1 : -1, i % SIDE < SIDE - 1 ? i + 1 : -1, i - SIDE, i + SIDE};
    for (int s = 0; s < 5; s++) {
      if (near[s] < 0 || near[s] >= SIDE * SIDE) continue;
      row[k] = i, col[k] = near[s], data[k++] = s == 0 ? 4 : -1;
    }
  }
  damo_sparse *a = damo_sparse_from_coo(ctx, DAMO_CSC, DAMO_FLOAT64, SIDE * SIDE, SIDE * SIDE, k, row, col, data);
  damo_factor *f = own_factor(a, &solve_own, false);
  if (CHECK(f != NULL)) {
    const own_ldl *s = f->state;
    static bool seen[SIDE * SIDE];
    for (int64_t i = 0; i < s->n; i++) CHECK(!seen[s->perm[i]] && (seen[s->perm[i]] = true));
    CHECK(s->nnz < (int64_t)SIDE * SIDE * SIDE / 3);
    printf("fill of a grid of %d × %d: %lld entries\n", SIDE, SIDE, (long long)s->nnz);
  }
  damo_release(f);
  damo_release(a);
}

static void test_faults(void) {
  const int64_t row[] = {0, 1, 2}, col[] = {1, 0, 2};
  const double data[] = {1, 1, 1};
  damo_sparse *swap = damo_sparse_from_coo(ctx, DAMO_CSC, DAMO_FLOAT64, 3, 3, 3, row, col, data);
  damo_factor *f = own_factor(swap, &solve_own, false);
  CHECK(f != NULL && f->fault == FACTOR_INDEFINITE);
  damo_release(f);
  damo_release(swap);
  damo_sparse *negative = hermitian(20, 2, 4, true, false);
  f = own_factor(negative, &solve_own_positive, false);
  CHECK(f != NULL && f->fault == FACTOR_INDEFINITE);
  damo_release(f);
  damo_release(negative);
}

int main(void) {
  ctx = damo_ctx_new(NULL, NULL);
  for (int k = 0; k < 4; k++) test_solves(k % 2, k / 2);
  test_order();
  test_faults();
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
