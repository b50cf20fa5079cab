/* sparse_kernel_test: sparse kernels over each index type against plain loops: checks of invalid storage, conversions,
 * products, merges and sums on larger random matrices, and the same bits with every instruction set. */
#include "kernel/kernel.h"
#include "kernel/sparse/kernel_sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa_case.h"
#include "test.h"

static const kernel_isa *isa; /* the instruction set under test */

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
  return (sparse_raw){s->major,
                      s->minor,
                      wide ? (void *)s->ptr64 : s->ptr32,
                      wide ? (void *)s->idx64 : s->idx32,
                      single ? (void *)s->val32 : s->val,
                      NULL};
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

/* ---- Storage checks ---------------------------------------------------------------------------------------------- */

static void expect_verdict(const int64_t *ptr, const int64_t *idx, sparse_flaw flaw, int64_t position, bool sorted,
                           bool unique) {
  int32_t ptr32[4], idx32[5];
  for (int i = 0; i < 4; i++) ptr32[i] = (int32_t)ptr[i];
  for (int i = 0; i < 5; i++) idx32[i] = (int32_t)idx[i];
  for (int wide = 0; wide < 2; wide++) {
    const sparse_raw a = {3, 4, wide ? (const void *)ptr : ptr32, wide ? (const void *)idx : idx32, NULL, NULL};
    const sparse_verdict v = isa->sparse.index[wide]->check(&a, 5);
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
  const sparse_move_fns *move = isa->sparse.move[wide][DAMO_FLOAT64];
  int64_t *ptr = calloc(100, 8), *idx = calloc((size_t)s.nnz + 1, 8);
  double *val = calloc((size_t)s.nnz + 1, 8);
  /* swap (conversion to the other format): each entry is in its place, ordered by the new minor index; duplicates keep
   * their order */
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
  void *work = malloc(move->sort_workspace(isa->sparse.index[wide]->longest(&a)));
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

/* ---- Stacking and splitting along the minor axis ----------------------------------------------------------------- */

/* Fills the memory after each vector, and must still be there after the kernel wrote. */
#define MARK 0x5a5a5a5a

static void *marked(int64_t n, bool wide) {
  const size_t room = (size_t)n + 64;
  void *v = malloc(room * (wide ? 8 : 4));
  for (size_t k = 0; k < room; k++) {
    if (wide) ((int64_t *)v)[k] = MARK;
    if (!wide) ((int32_t *)v)[k] = MARK;
  }
  return v;
}

static bool is_marked(const void *v, bool wide, int64_t from) {
  bool ok = true;
  for (int64_t k = from; k < from + 64; k++) ok = ok && get(v, wide, k) == MARK;
  return ok;
}

#define BLOCKS 10

/* Stacks blocks along the minor axis, and splits the result; some values are 0. */
static void test_beside(bool wide, bool sorted) {
  storage s[BLOCKS];
  sparse_raw raw[BLOCKS];
  int64_t at[BLOCKS] = {0}, bounds[BLOCKS + 1] = {0}, count[BLOCKS], nnz = 0, q = 0, minor = 0;
  const sparse_move_fns *move = isa->sparse.move[wide][DAMO_FLOAT64];
  for (int b = 0; b < BLOCKS; b++) {
    s[b] = make(300, 40 + b, b == 3 ? 0 : 1 + b, sorted);
    for (int64_t p = 0; p < s[b].nnz; p++)
      if (p % 5 == 0) s[b].val[p] = p % 2 ? 0.0 : -0.0;
    raw[b] = raw_of(&s[b], wide, false);
    nnz += s[b].nnz;
    bounds[b + 1] = bounds[b] + s[b].minor;
  }
  minor = bounds[BLOCKS];
  void *ptr = marked(301, wide), *idx = marked(nnz, wide);
  double *val = marked(nnz, true);
  move->beside(BLOCKS, raw, at, ptr, idx, val);
  bool ok = get(ptr, wide, 0) == 0;
  for (int64_t i = 0; i < 300; i++) {
    for (int b = 0; b < BLOCKS; b++)
      for (int64_t p = s[b].ptr64[i]; p < s[b].ptr64[i + 1]; p++, q++)
        ok = ok && get(idx, wide, q) == s[b].idx64[p] + bounds[b] && val[q] == s[b].val[p];
    ok = ok && get(ptr, wide, i + 1) == q;
  }
  CHECK(ok && q == nnz);
  CHECK(is_marked(ptr, wide, 301) && is_marked(idx, wide, nnz) && is_marked(val, true, nnz));
  const sparse_raw whole = {300, minor, ptr, idx, val, NULL};
  for (int n = BLOCKS; n >= 2; n -= 8) { /* as many parts as blocks, and two */
    const int64_t two[3] = {0, bounds[4], minor}, *cuts = n == 2 ? two : bounds;
    void *optr[BLOCKS], *oidx[BLOCKS], *oval[BLOCKS];
    int64_t total = 0;
    isa->sparse.compact[wide][DAMO_FLOAT64]->split_count(&whole, n, cuts, count);
    for (int b = 0; b < n; b++) {
      total += count[b];
      optr[b] = marked(301, wide), oidx[b] = marked(count[b], wide), oval[b] = marked(count[b], true);
    }
    CHECK_EQ_I(total, nnz);
    int64_t room[BLOCKS];
    memcpy(room, count, sizeof room);
    isa->sparse.compact[wide][DAMO_FLOAT64]->split_fill(&whole, n, cuts, UINT64_C(0x7fffffffffffffff), count, optr,
                                                        oidx, oval);
    for (int b = 0; b < n; b++) {
      for (int64_t i = 0, to = 0; i < 300; i++) {
        for (int64_t p = get(ptr, wide, i); p < get(ptr, wide, i + 1); p++) {
          const int64_t j = get(idx, wide, p);
          if (j < cuts[b] || j >= cuts[b + 1] || val[p] == 0) continue;
          ok = ok && get(oidx[b], wide, to) == j - cuts[b] && ((double *)oval[b])[to] == val[p];
          to++;
        }
        ok = ok && get(optr[b], wide, i + 1) == to;
        if (i == 299) CHECK_EQ_I(count[b], to);
      }
      CHECK(ok && is_marked(oidx[b], wide, room[b]) && is_marked(oval[b], true, room[b]));
      free(optr[b]), free(oidx[b]), free(oval[b]);
    }
  }
  free(ptr), free(idx), free(val);
  for (int b = 0; b < BLOCKS; b++) clear(&s[b]);
}

/* Removes the zeros of rows `from` … `to` - 1 (major axis); more entries than one chunk has. */
static void check_squeeze(const storage *s, bool wide, int64_t from, int64_t to) {
  const int64_t first = s->ptr64[from], nnz = s->ptr64[to] - first;
  sparse_raw a = raw_of(s, wide, false);
  a.major = to - from;
  a.indptr = wide ? (void *)(s->ptr64 + from) : s->ptr32 + from;
  void *ptr = marked(a.major + 1, wide), *idx = marked(nnz, wide);
  double *val = marked(nnz, true);
  const int64_t left =
      isa->sparse.compact[wide][DAMO_FLOAT64]->squeeze(&a, UINT64_C(0x7fffffffffffffff), ptr, idx, val);
  bool ok = get(ptr, wide, 0) == 0;
  int64_t q = 0;
  for (int64_t i = 0; i < a.major; i++) {
    for (int64_t p = s->ptr64[from + i]; p < s->ptr64[from + i + 1]; p++) {
      if (s->val[p] == 0) continue;
      ok = ok && get(idx, wide, q) == s->idx64[p] && memcmp(val + q, s->val + p, 8) == 0;
      q++;
    }
    ok = ok && get(ptr, wide, i + 1) == q;
  }
  CHECK(ok && q == left);
  CHECK(is_marked(ptr, wide, a.major + 1) && is_marked(idx, wide, nnz) && is_marked(val, true, nnz));
  free(ptr), free(idx), free(val);
}

static void squeeze_some(bool wide, int64_t rare) {
  storage s = make(400, 90, 25, false);
  for (int64_t p = 0; p < s.nnz; p++) {
    if (draw(rare) == 0) s.val[p] = draw(2) ? 0 : -0.0;
    if (draw(50) == 0) s.val[p] = draw(2) ? NAN : -1;
  }
  check_squeeze(&s, wide, 0, 400);
  check_squeeze(&s, wide, 13, 390);
  check_squeeze(&s, wide, 7, 7);
  for (int64_t p = 0; p < s.nnz; p++) s.val[p] = 0;
  check_squeeze(&s, wide, 0, 400);
  clear(&s);
  s = make(1, 3000, 0, true);
  check_squeeze(&s, wide, 0, 1);
  clear(&s);
}

static void test_squeeze(bool wide) {
  for (int64_t rare = 1; rare < 100; rare *= 3) squeeze_some(wide, rare);
}

/* Nonzero masks: an element of 16 bytes is nonzero if either half is; a float's sign is ignored. */
static void test_masks(void) {
  const int32_t ptr[] = {0, 6}, idx[] = {0, 1, 2, 3, 4, 5};
  const double pairs[] = {0, 0, 1, 0, 0, 1, -0.0, 0, 0, -0.0, 2, 2};
  int32_t optr[2], oidx[6];
  double out[12];
  const sparse_raw a = {1, 6, ptr, idx, pairs, NULL};
  CHECK_EQ_I(isa->sparse.compact[false][DAMO_COMPLEX128]->squeeze(&a, UINT64_C(0x7fffffffffffffff), optr, oidx, out),
             3);
  CHECK(oidx[0] == 1 && oidx[1] == 2 && oidx[2] == 5 && out[0] == 1 && out[3] == 1 && out[4] == 2 && optr[1] == 3);
  const float singles[] = {0, -0.0f, 1, NAN, 0, -2};
  const sparse_raw b = {1, 6, ptr, idx, singles, NULL};
  CHECK_EQ_I(isa->sparse.compact[false][DAMO_FLOAT32]->squeeze(&b, UINT64_C(0x7fffffff7fffffff), optr, oidx, out), 3);
  const uint8_t bytes[] = {0, 255, 1, 0, 128, 0};
  const sparse_raw c = {1, 6, ptr, idx, bytes, NULL};
  CHECK_EQ_I(isa->sparse.compact[false][DAMO_UINT8]->squeeze(&c, UINT64_MAX, optr, oidx, out), 3);
  CHECK_EQ_I(isa->sparse.compact[false][DAMO_UINT8]->squeeze(&c, 0, optr, oidx, out), 6);
}

static void test_spread(bool wide) {
  storage s = make(50, 30, 9, false), t = make(3, 30, 9, true);
  const sparse_raw a = raw_of(&s, wide, false), b = raw_of(&t, wide, false);
  const int64_t from[] = {7, 50, 0, 49, 52, 3}, to[] = {2, 9, 9, 30, 69, 70};
  int64_t nnz = 0, q = 0;
  for (int k = 0; k < 6; k++) {
    const int64_t i = from[k] < 50 ? from[k] : from[k] - 50, *p = from[k] < 50 ? s.ptr64 : t.ptr64;
    nnz += p[i + 1] - p[i];
  }
  void *ptr = marked(72, wide), *idx = marked(nnz, wide);
  double *val = marked(nnz, true);
  isa->sparse.move[wide][DAMO_FLOAT64]->spread(&a, &b, 6, from, to, 71, nnz, ptr, idx, val);
  bool ok = get(ptr, wide, 0) == 0;
  for (int64_t line = 0; line < 71; line++) {
    for (int k = 0; k < 6; k++) {
      const storage *x = from[k] < 50 ? &s : &t;
      const int64_t i = from[k] < 50 ? from[k] : from[k] - 50;
      for (int64_t p = x->ptr64[i]; to[k] == line && p < x->ptr64[i + 1]; p++, q++)
        ok = ok && get(idx, wide, q) == x->idx64[p] && val[q] == x->val[p];
    }
    ok = ok && get(ptr, wide, line + 1) == q;
  }
  CHECK(ok && q == nnz);
  CHECK(is_marked(ptr, wide, 72) && is_marked(idx, wide, nnz) && is_marked(val, true, nnz));
  free(ptr), free(idx), free(val);
  clear(&s);
  clear(&t);
}

static void test_shifts(bool wide) {
  for (int64_t n = 0; n < 12; n++) {
    void *from = marked(n, wide), *to = marked(n, wide);
    isa->sparse.index[wide]->shift(from, n, 5, to);
    bool ok = is_marked(to, wide, n);
    for (int64_t k = 0; k < n; k++) ok = ok && get(to, wide, k) == MARK + 5;
    CHECK(ok);
    free(from), free(to);
  }
}

static void test_copies(void) {
  enum { MOST = 9000, TIMES = 3 };
  unsigned char *from = malloc(MOST + 64), *to = malloc((TIMES + 1) * MOST + 64);
  for (int p = 0; p < MOST + 64; p++) from[p] = (unsigned char)(p * 37 + p / 256);
  for (int n = 0; n <= MOST; n += n < 70 || n > 8180 ? 1 : 411) {
    const int skew = n % 48;
    memset(to, 0xee, (size_t)(TIMES + 1) * MOST + 64);
    kernel_sparse_copy(isa, to + skew, from + 5, (size_t)n);
    CHECK(memcmp(to + skew, from + 5, (size_t)n) == 0 && to[skew + n] == 0xee);
    kernel_sparse_repeat(isa, to + skew, (size_t)n, TIMES);
    for (int c = 0; c <= TIMES; c++) CHECK(memcmp(to + skew + c * n, from + 5, (size_t)n) == 0);
    CHECK(to[skew + (TIMES + 1) * n] == 0xee && (skew == 0 || to[skew - 1] == 0xee));
  }
  free(from), free(to);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

static void test_vectors(bool wide) {
  storage s = make(80, 50, 20, false);
  const sparse_raw a = raw_of(&s, wide, false);
  const sparse_value_fns *f = isa->sparse.value[wide][DAMO_FLOAT64];
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

static void put_unit(void *block, size_t i, bool single) {
  if (single)
    ((float *)block)[i] = (float)unit();
  else
    ((double *)block)[i] = unit();
}

/* Dense operands of several widths and row strides: the same bits as the plain loop. */
static void test_blocks(bool wide, bool single) {
  static const int64_t widths[] = {1, 2, 5, 16, 64, 79, 150};
  storage s = make(40, 30, 12, false);
  const sparse_raw a = raw_of(&s, wide, single);
  const damo_dtype dtype = single ? DAMO_FLOAT32 : DAMO_FLOAT64;
  const sparse_value_fns *plain = isa->sparse.value[wide][dtype];
  const size_t room = 40 * 160 * 8;
  char *x = malloc(room), *want = malloc(room), *got = malloc(room), *start = malloc(room);
  for (size_t i = 0; i < 40 * 160; i++) {
    if (single)
      ((float *)(void *)x)[i] = (float)unit(), ((float *)(void *)start)[i] = (float)unit();
    else
      ((double *)(void *)x)[i] = unit(), ((double *)(void *)start)[i] = unit();
  }
  const sparse_dense_fns *f = &isa->sparse.dense[wide][dtype];
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    const sparse_block bx = {x, widths[w], 160}, bw = {want, widths[w], 155}, bg = {got, widths[w], 155};
    for (int add = 0; add < 2; add++) {
      memcpy(want, start, room), memcpy(got, start, room);
      plain->matmat(&a, NULL, &bx, add ? &bw : NULL, &bw);
      f->matmat(&a, NULL, &bx, add ? &bg : NULL, &bg);
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
  free(x), free(want), free(got), free(start);
  clear(&s);
}

static char *units(int64_t n, bool single) {
  char *room = malloc((size_t)n * (single ? 4 : 8));
  for (size_t i = 0; i < (size_t)n; i++) put_unit(room, i, single);
  return room;
}

/* Both products with the first `cols` columns of dense x and start, whose rows are `stride` apart: the same bits as the
 * plain loop. */
static void check_columns(const sparse_raw *a, bool wide, damo_dtype dtype, const void *alpha, int64_t cols,
                          int64_t stride, char *x, const char *start) {
  const sparse_value_fns *plain = isa->sparse.value[wide][dtype];
  const sparse_dense_fns *f = &isa->sparse.dense[wide][dtype];
  const int64_t rows = a->major > a->minor ? a->major : a->minor;
  const size_t size = (size_t)(rows * stride) * dtype_size(dtype);
  char *z = malloc(size), *want = malloc(size), *got = malloc(size);
  memcpy(z, start, size);
  const sparse_block bx = {x, cols, stride}, bz = {z, cols, stride}, bw = {want, cols, stride},
                     bg = {got, cols, stride};
  for (int from = 0; from < 3; from++) { /* start: none, the result itself, another matrix */
    memcpy(want, start, size), memcpy(got, start, size);
    plain->matmat(a, alpha, &bx, from == 0 ? NULL : from == 1 ? &bw : &bz, &bw);
    f->matmat(a, alpha, &bx, from == 0 ? NULL : from == 1 ? &bg : &bz, &bg);
    CHECK(memcmp(want, got, size) == 0);
  }
  memcpy(want, start, size), memcpy(got, start, size);
  plain->matmat_t(a, alpha, &bx, &bw);
  f->matmat_t(a, alpha, &bx, &bg);
  CHECK(memcmp(want, got, size) == 0);
  free(z), free(want), free(got);
}

/* Every number of columns that fits a few vectors of each width. With a `minor` so large that x does not fit into the
 * cache, only the last number. */
static void test_columns(bool wide, damo_dtype dtype, int64_t minor, int64_t fewest, int64_t most) {
  const bool single = dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64;
  const int64_t stride = most + 1, parts = (int64_t)dtype_size(dtype) / (single ? 4 : 8);
  storage s = make(21, minor, 12, false);
  sparse_raw a = raw_of(&s, wide, single);
  char *val = units(s.nnz * parts, single), *x = units(minor * stride * parts, single),
       *start = units(minor * stride * parts, single), *alpha = units(parts, single);
  a.data = val;
  for (int64_t cols = fewest; cols <= most; cols += cols < 75 ? 1 : 25) {
    check_columns(&a, wide, dtype, NULL, cols, stride, x, start);
    check_columns(&a, wide, dtype, alpha, cols, stride, x, start);
  }
  free(val), free(x), free(start), free(alpha);
  clear(&s);
}

/* Sampled product and product in one pass against one after the other, with entries in storage order and at given
 * positions. With many rows the result exceeds the caches. */
static void test_both(bool wide, bool single, int64_t rows, int64_t cols) {
  enum { MINOR = 30, STRIDE = 160 };
  storage s = make(rows, MINOR, 12, false);
  const sparse_raw a = raw_of(&s, wide, single);
  const size_t item = single ? 4 : 8, lines = (size_t)rows * (size_t)cols * item, entries = (size_t)s.nnz * item;
  char *x = malloc(lines), *y = malloc((size_t)MINOR * STRIDE * item), *val = malloc(entries),
       *places = malloc((size_t)s.nnz * 8);
  char *want = aligned_alloc(64, (lines + 64) / 64 * 64), *got = aligned_alloc(64, (lines + 64) / 64 * 64);
  char *want_z = malloc(entries), *got_z = malloc(entries);
  for (size_t i = 0; i < lines / item; i++) put_unit(x, i, single);
  for (size_t i = 0; i < (size_t)MINOR * STRIDE; i++) put_unit(y, i, single);
  for (int64_t p = 0; p < s.nnz; p++) { /* backwards */
    const int64_t at = s.nnz - 1 - p;
    memcpy(val + (size_t)at * item, (const char *)a.data + (size_t)p * item, item);
    if (wide)
      ((int64_t *)(void *)places)[p] = at;
    else
      ((int32_t *)(void *)places)[p] = (int32_t)at;
  }
  const sparse_dense_fns *f = &isa->sparse.dense[wide][single ? DAMO_FLOAT32 : DAMO_FLOAT64];
  const sparse_block bx = {x, cols, cols}, by = {y, cols, STRIDE}, bw = {want, cols, cols}, bg = {got, cols, cols};
  f->matmat(&a, NULL, &by, NULL, &bw);
  f->sample(&a, &bx, &by, want_z);
  for (int placed = 0; placed < 2; placed++) {
    sparse_raw other = a;
    other.data = placed ? val : a.data;
    memset(got, 0x3f, lines), memset(got_z, 0x3f, entries);
    f->both(&other, placed ? places : NULL, &bx, &by, got_z, &bg);
    CHECK(memcmp(want, got, lines) == 0);
    bool ok = true;
    for (int64_t p = 0; p < s.nnz; p++) {
      const size_t at = (size_t)(placed ? s.nnz - 1 - p : p);
      ok = ok && memcmp(got_z + at * item, want_z + (size_t)p * item, item) == 0;
    }
    CHECK(ok);
  }
  free(x), free(y), free(val), free(places), free(want), free(got), free(want_z), free(got_z);
  clear(&s);
}

static void test_both_widths(bool wide, bool single) {
  static const int64_t widths[] = {1, 2, 5, 7, 16, 31, 64, 79, 150};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) test_both(wide, single, 40, widths[w]);
  test_both(wide, single, 17000, 64);
}

/* A result larger than the caches: the same bits as the plain loop. */
static void test_large_block(bool wide, bool single) {
  enum { ROWS = 17000, COLS = 64 };
  storage s = make(ROWS, 30, 3, false);
  const sparse_raw a = raw_of(&s, wide, single);
  const damo_dtype dtype = single ? DAMO_FLOAT32 : DAMO_FLOAT64;
  const size_t size = (size_t)ROWS * COLS * (single ? 4 : 8);
  char *x = malloc(30 * COLS * 8), *start = aligned_alloc(64, size), *want = malloc(size),
       *got = aligned_alloc(64, size);
  for (size_t i = 0; i < 30 * COLS; i++) {
    if (single)
      ((float *)(void *)x)[i] = (float)unit();
    else
      ((double *)(void *)x)[i] = unit();
  }
  memset(start, 0x3f, size);
  const sparse_block bx = {x, COLS, COLS}, bz = {start, COLS, COLS}, bw = {want, COLS, COLS}, bg = {got, COLS, COLS};
  for (int from = 0; from < 3; from++) { /* start: none, the result itself, another matrix */
    memcpy(want, start, size), memcpy(got, start, size);
    isa->sparse.value[wide][dtype]->matmat(&a, NULL, &bx, from == 0 ? NULL : from == 1 ? &bw : &bz, &bw);
    isa->sparse.dense[wide][dtype].matmat(&a, NULL, &bx, from == 0 ? NULL : from == 1 ? &bg : &bz, &bg);
    CHECK(memcmp(want, got, size) == 0);
  }
  free(x), free(start), free(want), free(got);
  clear(&s);
}

/* The whole sparse product in steps, each with memory for `step` more entries, or for one row; returns its number of
 * entries. */
static int64_t product_in_steps(bool wide, const sparse_raw *a, const sparse_raw *b, int64_t step, void *ptr, void *idx,
                                void *val) {
  const size_t room = (size_t)b->minor * (wide ? 8 : 4);
  void *mark = malloc(room);
  memset(mark, 0xff, room);
  sparse_progress at = {0, 0, 0};
  while (at.major < a->major) {
    at.capacity = at.n + (step > b->minor ? step : b->minor);
    const int64_t line = at.major;
    isa->sparse.value[wide][DAMO_FLOAT64]->fill_product(a, b, mark, &at, ptr, idx, val);
    CHECK(at.major > line && at.n <= at.capacity);
  }
  free(mark);
  return at.n;
}

static void test_sparse_product(bool wide) {
  storage s = make(50, 40, 9, false), t = make(40, 60, 9, false);
  for (int64_t p = 0; p < t.nnz; p++) t.val[p] = (double)(p % 3) - 1;
  for (int64_t p = 0; p < s.nnz; p++) s.val[p] = (double)(p % 2);
  const sparse_raw a = raw_of(&s, wide, false), b = raw_of(&t, wide, false);
  double *da = dense_of(&s), *db = dense_of(&t), *want = calloc(50 * 60, 8), *got = malloc(50 * 60 * 8);
  for (int64_t i = 0; i < 50; i++)
    for (int64_t k = 0; k < 40; k++)
      for (int64_t j = 0; j < 60; j++) want[i * 60 + j] += da[i * 40 + k] * db[k * 60 + j];
  int64_t others = 0;
  for (int64_t p = 0; p < 50 * 60; p++) others += want[p] != 0;
  for (int64_t step = 0; step <= 3000; step += 1000) {
    void *ptr = calloc(51, 8), *idx = calloc(3060, 8);
    double *val = calloc(3060, 8);
    const int64_t met = product_in_steps(wide, &a, &b, step, ptr, idx, val);
    const sparse_raw r = {50, 60, ptr, idx, val, NULL};
    CHECK(isa->sparse.index[wide]->check(&r, met).flaw == SPARSE_FINE);
    const int64_t nnz = isa->sparse.value[wide][DAMO_FLOAT64]->drop_zeros(NULL, 50, ptr, idx, val);
    CHECK(met > nnz); /* entries that cancel, and stored zeros */
    memset(got, 0, 50 * 60 * 8);
    isa->sparse.value[wide][DAMO_FLOAT64]->add_dense(&r, (char *)got, 60 * 8, 8);
    CHECK(nnz == others);
    CHECK(isa->sparse.index[wide]->check(&r, nnz).flaw == SPARSE_FINE);
    CHECK(near_all(got, want, 50 * 60));
    free(ptr), free(idx), free(val);
  }
  free(da), free(db), free(want), free(got);
  clear(&s);
  clear(&t);
}

static void test_merges(bool wide) {
  storage s = make(70, 90, 30, true), t = make(70, 90, 30, true);
  const sparse_raw a = raw_of(&s, wide, false), b = raw_of(&t, wide, false);
  double *da = dense_of(&s), *db = dense_of(&t);
  int64_t *ptr = calloc(71, 8), *idx = calloc((size_t)(s.nnz + t.nnz) + 1, 8);
  double *val = calloc((size_t)(s.nnz + t.nnz) + 1, 8), *got = malloc(70 * 90 * 8);
  for (int op = SPARSE_ADD; op <= SPARSE_MIN; op++) {
    const int64_t n = isa->sparse.value[wide][DAMO_FLOAT64]->merge((sparse_merge_op)op, &a, &b, ptr, idx, val);
    const sparse_raw r = {70, 90, ptr, idx, val, NULL};
    const sparse_verdict v = isa->sparse.index[wide]->check(&r, n);
    CHECK(v.flaw == SPARSE_FINE && v.sorted && v.unique);
    CHECK_EQ_I(isa->sparse.value[wide][DAMO_FLOAT64]->count_zeros(NULL, val, n), 0);
    memset(got, 0, 70 * 90 * 8);
    isa->sparse.value[wide][DAMO_FLOAT64]->add_dense(&r, (char *)got, 90 * 8, 8);
    bool ok = true;
    for (int64_t i = 0; i < 70 * 90; i++) {
      const double want[] = {da[i] + db[i], da[i] - db[i], da[i] * db[i], fmax(da[i], db[i]), fmin(da[i], db[i])};
      ok = ok && got[i] == want[op];
    }
    CHECK(ok);
  }
  /* a - a leaves nothing */
  CHECK_EQ_I(isa->sparse.value[wide][DAMO_FLOAT64]->merge(SPARSE_SUB, &a, &a, ptr, idx, val), 0);
  free(da), free(db), free(ptr), free(idx), free(val), free(got);
  clear(&s);
  clear(&t);
}

/* The positions where a relation differs from its result for 0 and 0. */
static void test_relations(bool wide) {
  storage s = make(70, 90, 30, true), t = make(70, 90, 30, true);
  const sparse_raw a = raw_of(&s, wide, false), b = raw_of(&t, wide, false);
  double *da = dense_of(&s), *db = dense_of(&t), *got = malloc(70 * 90 * 8);
  int64_t *ptr = calloc(71, 8), *idx = calloc((size_t)(s.nnz + t.nnz) + 1, 8);
  double *val = calloc((size_t)(s.nnz + t.nnz) + 1, 8);
  for (int op = SPARSE_EQ; op <= SPARSE_GE; op++) {
    const int64_t n = isa->sparse.value[wide][DAMO_FLOAT64]->relate((sparse_relation)op, &a, &b, ptr, idx);
    const sparse_raw r = {70, 90, ptr, idx, val, NULL};
    const sparse_verdict v = isa->sparse.index[wide]->check(&r, n);
    CHECK(v.flaw == SPARSE_FINE && v.sorted && v.unique);
    for (int64_t p = 0; p < n; p++) val[p] = 1;
    memset(got, 0, 70 * 90 * 8);
    isa->sparse.value[wide][DAMO_FLOAT64]->add_dense(&r, (char *)got, 90 * 8, 8);
    bool ok = true;
    for (int64_t i = 0; i < 70 * 90; i++) {
      const bool differ = da[i] != db[i], less = da[i]<db[i], more = da[i]> db[i];
      const bool want[] = {differ, differ, less, more, more, less};
      ok = ok && (got[i] != 0) == want[op];
    }
    CHECK(ok);
  }
  CHECK_EQ_I(isa->sparse.value[wide][DAMO_FLOAT64]->relate(SPARSE_NEQ, &a, &a, ptr, idx), 0);
  free(da), free(db), free(ptr), free(idx), free(val), free(got);
  clear(&s);
  clear(&t);
}

static void test_sums(bool wide) {
  storage s = make(30, 400, 390, true);
  const sparse_raw a = raw_of(&s, wide, false);
  double *d = dense_of(&s), rows[30], cols[400] = {0}, want_rows[30] = {0}, want_cols[400] = {0};
  isa->sparse.value[wide][DAMO_FLOAT64]->sum_major(&a, rows);
  isa->sparse.value[wide][DAMO_FLOAT64]->sum_minor(&a, cols);
  for (int64_t i = 0; i < 30; i++)
    for (int64_t j = 0; j < 400; j++) want_rows[i] += d[i * 400 + j], want_cols[j] += d[i * 400 + j];
  CHECK(near_all(rows, want_rows, 30));
  CHECK(near_all(cols, want_cols, 400));
  free(d);
  clear(&s);
}

/* All tests with one instruction set. */
static void run(void) {
  static const damo_dtype kinds[] = {DAMO_FLOAT32, DAMO_FLOAT64, DAMO_COMPLEX64, DAMO_COMPLEX128};
  test_verdicts();
  test_masks();
  test_copies();
  for (int wide = 0; wide < 2; wide++) {
    test_moves(wide);
    test_beside(wide, false);
    test_beside(wide, true);
    test_squeeze(wide);
    test_spread(wide);
    test_shifts(wide);
    test_vectors(wide);
    test_blocks(wide, false);
    test_blocks(wide, true);
    test_large_block(wide, false);
    test_large_block(wide, true);
    test_both_widths(wide, false);
    test_both_widths(wide, true);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      test_columns(wide, kinds[k], 30, 0, 150);
      test_columns(wide, kinds[k], 40000, 20, 20);
    }
    test_sparse_product(wide);
    test_merges(wide);
    test_relations(wide);
    test_sums(wide);
  }
}

int main(void) {
  for (int k = 0; (isa = next_isa(&k)) != NULL;) run();
  TEST_MAIN_END;
}
