/* sparse kernels: raw storage of each index type against plain loops: verdicts on wrong storage, moves, products, merges
 * and sums on larger random matrices, and the same bits from every instruction set. */
#include "../../src/kernel/kernel.h"

#include <stdlib.h>

#include "test.h"

static uint64_t seed = 1234567;

static int64_t draw(int64_t n) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)((seed >> 11) % (uint64_t)n);
}

static double unit(void) { return (double)draw(1 << 20) / (1 << 20) - 0.5; }

/* Storage in both index widths; values as double and as float. */
typedef struct storage {
  int64_t major, minor, nnz;
  int32_t *ptr32, *idx32;
  int64_t *ptr64, *idx64;
  double *val;
  float *val32;
} storage;

static storage make(int64_t major, int64_t minor, int64_t most, bool sorted) {
  storage s = {.major = major, .minor = minor};
  const size_t cap = (size_t)(major * most + 1);
  s.ptr32 = calloc((size_t)major + 1, 4), s.ptr64 = calloc((size_t)major + 1, 8);
  s.idx32 = calloc(cap, 4), s.idx64 = calloc(cap, 8), s.val = calloc(cap, 8), s.val32 = calloc(cap, 4);
  for (int64_t i = 0; i < major; i++) {
    int64_t j = draw(3);
    for (int64_t k = draw(most + 1); k > 0 && j < minor; k--) {
      s.idx64[s.nnz] = sorted ? j : draw(minor);
      j += 1 + draw(1 + minor / (most + 1));
      s.val[s.nnz] = unit();
      s.nnz++;
    }
    s.ptr64[i + 1] = s.nnz;
    s.ptr32[i + 1] = (int32_t)s.nnz;
  }
  for (int64_t p = 0; p < s.nnz; p++) s.idx32[p] = (int32_t)s.idx64[p], s.val32[p] = (float)s.val[p];
  return s;
}

static void clear(storage *s) {
  free(s->ptr32), free(s->ptr64), free(s->idx32), free(s->idx64), free(s->val), free(s->val32);
}

static sparse_raw raw_of(const storage *s, bool wide, bool single) {
  return (sparse_raw){s->major, s->minor, wide ? (void *)s->ptr64 : s->ptr32, wide ? (void *)s->idx64 : s->idx32,
                      single ? (void *)s->val32 : s->val};
}

static int64_t get(const void *v, bool wide, int64_t i) {
  return wide ? ((const int64_t *)v)[i] : ((const int32_t *)v)[i];
}

/* The dense matrix of storage, row-major. */
static double *dense_of(const storage *s) {
  double *d = calloc((size_t)(s->major * s->minor + 1), 8);
  for (int64_t i = 0; i < s->major; i++)
    for (int64_t p = s->ptr64[i]; p < s->ptr64[i + 1]; p++) d[i * s->minor + s->idx64[p]] += s->val[p];
  return d;
}

static bool near_all(const double *a, const double *b, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= 1e-12 * (1 + fabs(b[i])))) return false;
  }
  return true;
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

static void expect_verdict(const int64_t *ptr, const int64_t *idx, sparse_flaw flaw, int64_t position, bool sorted,
                           bool unique) {
  int32_t ptr32[4], idx32[5];
  for (int i = 0; i < 4; i++) ptr32[i] = (int32_t)ptr[i];
  for (int i = 0; i < 5; i++) idx32[i] = (int32_t)idx[i];
  for (int wide = 0; wide < 2; wide++) {
    const sparse_raw a = {3, 4, wide ? (const void *)ptr : ptr32, wide ? (const void *)idx : idx32, NULL};
    const sparse_verdict v = kernel_sparse_index(wide)->check(&a, 5);
    CHECK_EQ_I(v.flaw, flaw);
    CHECK_EQ_I(v.position, position);
    if (flaw == SPARSE_FINE) CHECK(v.sorted == sorted && v.unique == unique);
  }
}

static void test_verdicts(void) {
  const int64_t fine[] = {0, 2, 2, 5};
  expect_verdict(fine, (const int64_t[]){0, 3, 1, 2, 3}, SPARSE_FINE, 0, true, true);
  expect_verdict(fine, (const int64_t[]){3, 0, 1, 2, 3}, SPARSE_FINE, 0, false, false);
  expect_verdict(fine, (const int64_t[]){0, 0, 1, 2, 3}, SPARSE_FINE, 0, true, false);
  expect_verdict(fine, (const int64_t[]){0, 1, 1, 4, 3}, SPARSE_BAD_INDEX, 3, false, false);
  expect_verdict(fine, (const int64_t[]){0, 1, 1, 2, INT32_MIN}, SPARSE_BAD_INDEX, 4, false, false);
  expect_verdict((const int64_t[]){0, 2, 1, 5}, (const int64_t[]){0, 1, 2, 3, 0}, SPARSE_BAD_ORDER, 2, false, false);
  expect_verdict((const int64_t[]){-1, 2, 2, 5}, (const int64_t[]){0, 1, 2, 3, 0}, SPARSE_BAD_START, 0, false, false);
  expect_verdict((const int64_t[]){0, 2, 2, 6}, (const int64_t[]){0, 1, 2, 3, 0}, SPARSE_BAD_END, 3, false, false);
  expect_verdict((const int64_t[]){0, INT32_MAX, INT32_MAX, 5}, (const int64_t[]){0, 1, 2, 3, 0}, SPARSE_BAD_ORDER, 3,
                 false, false);
}

/* ---- Moves ------------------------------------------------------------------------------------------------------- */

static void test_moves(bool wide) {
  storage s = make(60, 45, 70, false);
  const sparse_raw a = raw_of(&s, wide, false);
  const sparse_move_fns *move = kernel_sparse_move(wide, 8);
  int64_t *ptr = calloc(100, 8), *idx = calloc((size_t)s.nnz + 1, 8);
  double *val = calloc((size_t)s.nnz + 1, 8);
  /* swap: each entry where it belongs, in order of lines, equal ones in their order */
  move->swap(&a, ptr, idx, val);
  bool ok = true;
  int64_t q = 0;
  for (int64_t j = 0; j < s.minor; j++) {
    ok = ok && get(ptr, wide, j) == q;
    for (int64_t i = 0; i < s.major; i++)
      for (int64_t p = s.ptr64[i]; p < s.ptr64[i + 1]; p++)
        if (s.idx64[p] == j) ok = ok && get(idx, wide, q) == i && val[q] == s.val[p], q++;
  }
  CHECK(ok && q == s.nnz && get(ptr, wide, s.minor) == q);
  /* sort: stable */
  void *work = malloc(move->sort_room(kernel_sparse_index(wide)->longest(&a)));
  move->sort(&a, idx, val, work);
  q = 0;
  for (int64_t i = 0; i < s.major; i++)
    for (int64_t j = 0; j < s.minor; j++)
      for (int64_t p = s.ptr64[i]; p < s.ptr64[i + 1]; p++)
        if (s.idx64[p] == j) ok = ok && get(idx, wide, q) == j && val[q] == s.val[p], q++;
  CHECK(ok && q == s.nnz);
  /* take */
  const int64_t lines[] = {59, 0, 0, 17};
  int64_t total = 0;
  for (int i = 0; i < 4; i++) total += s.ptr64[lines[i] + 1] - s.ptr64[lines[i]];
  int64_t *tidx = calloc((size_t)total + 1, 8);
  double *tval = calloc((size_t)total + 1, 8);
  move->take(&a, lines, 4, ptr, tidx, tval);
  q = 0;
  for (int i = 0; i < 4; i++)
    for (int64_t p = s.ptr64[lines[i]]; p < s.ptr64[lines[i] + 1]; p++, q++)
      ok = ok && get(tidx, wide, q) == s.idx64[p] && tval[q] == s.val[p];
  CHECK(ok && get(ptr, wide, 4) == total);
  free(ptr), free(idx), free(val), free(work), free(tidx), free(tval);
  clear(&s);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

static void test_vectors(bool wide) {
  storage s = make(80, 50, 20, false);
  const sparse_raw a = raw_of(&s, wide, false);
  const sparse_value_fns *f = kernel_sparse_value(wide, DAMO_FLOAT64);
  double *d = dense_of(&s), x[80], y[80], want[80], alpha = 1.5;
  for (int i = 0; i < 80; i++) x[i] = unit();
  for (int add = 0; add < 2; add++) {
    for (int64_t i = 0; i < 80; i++) {
      want[i] = y[i] = unit();
      if (!add) want[i] = 0;
      for (int64_t j = 0; j < 50; j++) want[i] += alpha * d[i * 50 + j] * x[j];
    }
    f->matvec(&a, &alpha, x, y, add);
    CHECK(near_all(y, want, 80));
  }
  for (int64_t j = 0; j < 50; j++) {
    want[j] = y[j] = unit();
    for (int64_t i = 0; i < 80; i++) want[j] += d[i * 50 + j] * x[i];
  }
  f->matvec_t(&a, NULL, x, y);
  CHECK(near_all(y, want, 50));
  free(d);
  clear(&s);
}

/* Blocks of several widths and row strides, in every instruction set: the plain loop's bits. */
static void test_blocks(bool wide, bool single) {
  static const char *const isas[] = {"sse2", "avx2", "avx512", "neon", "scalar"};
  static const int64_t widths[] = {1, 2, 5, 16, 64, 79, 150};
  storage s = make(40, 30, 12, false);
  const sparse_raw a = raw_of(&s, wide, single);
  const damo_dtype dtype = single ? DAMO_FLOAT32 : DAMO_FLOAT64;
  const sparse_value_fns *plain = kernel_sparse_value(wide, dtype);
  const size_t room = 40 * 160 * 8;
  char *x = malloc(room), *want = malloc(room), *got = malloc(room), *start = malloc(room);
  for (size_t i = 0; i < 40 * 160; i++) {
    if (single)
      ((float *)(void *)x)[i] = (float)unit(), ((float *)(void *)start)[i] = (float)unit();
    else
      ((double *)(void *)x)[i] = unit(), ((double *)(void *)start)[i] = unit();
  }
  for (size_t k = 0; k < sizeof isas / sizeof *isas; k++) {
    if (!kernel_table_named(isas[k])) continue;
    setenv("DAMO_ISA", isas[k], 1);
    const sparse_dense_fns *f = kernel_sparse_dense(wide, dtype);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
      const sparse_block bx = {x, widths[w], 160}, bw = {want, widths[w], 155}, bg = {got, widths[w], 155};
      for (int add = 0; add < 2; add++) {
        memcpy(want, start, room), memcpy(got, start, room);
        plain->matmat(&a, NULL, &bx, &bw, add);
        f->matmat(&a, NULL, &bx, &bg, add);
        CHECK(memcmp(want, got, room) == 0);
      }
      memcpy(want, start, room), memcpy(got, start, room);
      plain->matmat_t(&a, NULL, &bx, &bw);
      f->matmat_t(&a, NULL, &bx, &bg);
      CHECK(memcmp(want, got, room) == 0);
      memset(want, 0, room), memset(got, 0, room);
      const sparse_block by = {start, widths[w], 150};
      plain->sample(&a, &bx, &by, want);
      f->sample(&a, &bx, &by, got);
      bool ok = true;
      for (int64_t p = 0; p < s.nnz; p++) {
        const double g = single ? ((float *)(void *)got)[p] : ((double *)(void *)got)[p];
        const double v = single ? ((float *)(void *)want)[p] : ((double *)(void *)want)[p];
        ok = ok && fabs(g - v) <= (single ? 1e-4 : 1e-12);
      }
      CHECK(ok);
    }
  }
  unsetenv("DAMO_ISA");
  free(x), free(want), free(got), free(start);
  clear(&s);
}

static void test_sparse_product(bool wide) {
  storage s = make(50, 40, 9, false), t = make(40, 60, 9, false);
  const sparse_raw a = raw_of(&s, wide, false), b = raw_of(&t, wide, false);
  const size_t isize = wide ? 8 : 4;
  double *da = dense_of(&s), *db = dense_of(&t), *want = calloc(50 * 60, 8);
  for (int64_t i = 0; i < 50; i++)
    for (int64_t k = 0; k < 40; k++)
      for (int64_t j = 0; j < 60; j++) want[i * 60 + j] += da[i * 40 + k] * db[k * 60 + j];
  void *mark = malloc(60 * isize), *ptr = calloc(51, 8);
  memset(mark, 0xff, 60 * isize);
  storage c = {.major = 50, .minor = 60};
  c.nnz = kernel_sparse_index(wide)->count_product(&a, &b, mark, ptr);
  void *idx = calloc((size_t)c.nnz + 1, 8);
  double *val = calloc((size_t)c.nnz + 1, 8);
  memset(mark, 0xff, 60 * isize);
  kernel_sparse_value(wide, DAMO_FLOAT64)->fill_product(&a, &b, mark, ptr, idx, val);
  double *got = calloc(50 * 60, 8);
  const sparse_raw r = {50, 60, ptr, idx, val};
  kernel_sparse_value(wide, DAMO_FLOAT64)->add_dense(&r, (char *)got, 60 * 8, 8);
  CHECK(kernel_sparse_index(wide)->check(&r, c.nnz).flaw == SPARSE_FINE);
  CHECK(near_all(got, want, 50 * 60));
  free(da), free(db), free(want), free(mark), free(ptr), free(idx), free(val), free(got);
  clear(&s);
  clear(&t);
}

static void test_merges(bool wide) {
  storage s = make(70, 90, 30, true), t = make(70, 90, 30, true);
  const sparse_raw a = raw_of(&s, wide, false), b = raw_of(&t, wide, false);
  double *da = dense_of(&s), *db = dense_of(&t);
  int64_t *ptr = calloc(71, 8), *idx = calloc((size_t)(s.nnz + t.nnz) + 1, 8);
  double *val = calloc((size_t)(s.nnz + t.nnz) + 1, 8), *got = malloc(70 * 90 * 8);
  for (int op = SPARSE_ADD; op <= SPARSE_MUL; op++) {
    const int64_t n = kernel_sparse_value(wide, DAMO_FLOAT64)->merge((sparse_merge_op)op, &a, &b, ptr, idx, val);
    const sparse_raw r = {70, 90, ptr, idx, val};
    const sparse_verdict v = kernel_sparse_index(wide)->check(&r, n);
    CHECK(v.flaw == SPARSE_FINE && v.sorted && v.unique);
    CHECK_EQ_I(kernel_sparse_value(wide, DAMO_FLOAT64)->count_zeros(val, n), 0);
    memset(got, 0, 70 * 90 * 8);
    kernel_sparse_value(wide, DAMO_FLOAT64)->add_dense(&r, (char *)got, 90 * 8, 8);
    bool ok = true;
    for (int64_t i = 0; i < 70 * 90; i++) {
      const double want = op == SPARSE_ADD ? da[i] + db[i] : op == SPARSE_SUB ? da[i] - db[i] : da[i] * db[i];
      ok = ok && got[i] == want;
    }
    CHECK(ok);
  }
  /* a - a leaves nothing */
  CHECK_EQ_I(kernel_sparse_value(wide, DAMO_FLOAT64)->merge(SPARSE_SUB, &a, &a, ptr, idx, val), 0);
  free(da), free(db), free(ptr), free(idx), free(val), free(got);
  clear(&s);
  clear(&t);
}

static void test_sums(bool wide) {
  storage s = make(30, 400, 390, true);
  const sparse_raw a = raw_of(&s, wide, false);
  double *d = dense_of(&s), rows[30], cols[400] = {0}, want_rows[30] = {0}, want_cols[400] = {0};
  kernel_sparse_value(wide, DAMO_FLOAT64)->sum_major(&a, rows);
  kernel_sparse_value(wide, DAMO_FLOAT64)->sum_minor(&a, cols);
  for (int64_t i = 0; i < 30; i++)
    for (int64_t j = 0; j < 400; j++) want_rows[i] += d[i * 400 + j], want_cols[j] += d[i * 400 + j];
  CHECK(near_all(rows, want_rows, 30));
  CHECK(near_all(cols, want_cols, 400));
  free(d);
  clear(&s);
}

int main(void) {
  test_verdicts();
  for (int wide = 0; wide < 2; wide++) {
    test_moves(wide);
    test_vectors(wide);
    test_blocks(wide, false);
    test_blocks(wide, true);
    test_sparse_product(wide);
    test_merges(wide);
    test_sums(wide);
  }
  TEST_MAIN_END;
}
