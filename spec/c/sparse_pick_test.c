/* sparse_pick_test: blocks and lists along the minor axis of matrices too large for one pass, entry by entry against
 * plain loops: rows of every length, sorted or not, with duplicates, short and long axes. */
#include "sparse_case.h"

#define LINES 60
#define MINOR 700
#define MOST_ENTRIES 20000

typedef enum order { SORTED, REPEATED_IN_ORDER, SHUFFLED } order;

static int64_t ptr[LINES + 1], idx[MOST_ENTRIES];
static int64_t want_ptr[LINES + 1], want_idx[4 * MOST_ENTRIES], want_from[4 * MOST_ENTRIES];

/* Rows with no, few and many entries: about `mean` of them. */
static void draw_lines(order o, int64_t mean) {
  ptr[0] = 0;
  for (int64_t i = 0; i < LINES; i++) {
    int64_t n = ptr[i], every = 1 + MINOR / (1 + (i % 7 == 3 ? 20 * mean : draw(2 * mean + 1)));
    if (i % 11 == 5) every = 2 * MINOR;
    for (int64_t j = draw(every); j < MINOR; j += 1 + draw(2 * every)) {
      for (int64_t times = o == SORTED || draw(3) > 0 ? 1 : 3; times > 0 && n < MOST_ENTRIES; times--) idx[n++] = j;
    }
    for (int64_t p = ptr[i]; p < n && o == SHUFFLED; p++) {
      const int64_t q = ptr[i] + draw(n - ptr[i]), t = idx[p];
      idx[p] = idx[q], idx[q] = t;
    }
    ptr[i + 1] = n;
  }
}

/* The value of entry p is p, modulo 2^7 or, for bool, 2. */
static damo_sparse *matrix(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, int64_t minor) {
  const int64_t nnz = ptr[LINES], lines = LINES + 1, csr = format == DAMO_CSR;
  damo_array *data = array_empty(ctx, dtype, 1, &nnz);
  for (int64_t p = 0; p < nnz; p++) put(data, p, (double)(p % (dtype == DAMO_BOOL ? 2 : 128)), 0);
  damo_array *ind = damo_array_from(ctx, DAMO_INT64, 1, &nnz, idx),
             *at = damo_array_from(ctx, DAMO_INT64, 1, &lines, ptr);
  const int64_t shape[2] = {csr ? LINES : minor, csr ? minor : LINES};
  damo_sparse *a = sparse_from_parts(ctx, format, shape, data, ind, at, itype);
  damo_release(data);
  damo_release(ind);
  damo_release(at);
  return a;
}

/* Whether b has the expected rows, and each row the expected entries, identified by their position in a. */
static bool is_as_wanted(const damo_sparse *b, const damo_sparse *a, int64_t lines) {
  const char *why = "";
  if (!b || !sparse_check(b, &why) || sparse_major(b) != lines || sparse_nnz(b) != want_ptr[lines]) return false;
  for (int64_t i = 0; i <= lines; i++)
    if (array_get(b->indptr, &i).v.i != want_ptr[i]) return false;
  for (int64_t p = 0; p < want_ptr[lines]; p++) {
    if (array_get(b->indices, &p).v.i != want_idx[p]) return false;
    if (value_at(b->data, &p).re != value_at(a->data, &want_from[p]).re) return false;
  }
  return true;
}

static sparse_range draw_range(int64_t n, bool all) {
  static const int64_t steps[] = {1, 1, -1, 2, -2, 3, 5, 6, -7, 8, 12, 64, -96};
  if (all) return draw(2) ? (sparse_range){0, 1, n} : (sparse_range){n - 1, -1, n};
  const int64_t step = steps[draw(13)], first = draw(2) ? draw(n) : step > 0 ? draw(4) : n - 1 - draw(4);
  const int64_t most = 1 + (step > 0 ? (n - 1 - first) / step : first / -step);
  return (sparse_range){first, step, draw(3) ? most : draw(most + 1)};
}

static void want_block(const sparse_range *lines, const sparse_range *across, bool backward) {
  int64_t n = 0;
  want_ptr[0] = 0;
  for (int64_t i = 0; i < lines->count; i++) {
    const int64_t line = lines->first + i * lines->step, count = ptr[line + 1] - ptr[line];
    for (int64_t e = 0; e < count; e++) {
      const int64_t p = backward ? ptr[line + 1] - 1 - e : ptr[line] + e, away = idx[p] - across->first;
      if (away % across->step != 0 || away / across->step < 0 || away / across->step >= across->count) continue;
      want_from[n] = p, want_idx[n++] = away / across->step;
    }
    want_ptr[i + 1] = n;
  }
}

static void check_blocks(const damo_sparse *a) {
  const bool csr = a->format == DAMO_CSR;
  for (int round = 0; round < 60; round++) {
    const sparse_range lines = draw_range(LINES, round % 3 == 0), across = draw_range(MINOR, round % 5 == 0);
    want_block(&lines, &across, across.count > 1 && across.step < 0 && sparse_is_canonical(a));
    damo_sparse *b = sparse_slice(a, csr ? &lines : &across, csr ? &across : &lines);
    if (!CHECK(is_as_wanted(b, a, lines.count))) {
      fprintf(stderr, "    lines %lld %lld %lld, across %lld %lld %lld\n", (long long)lines.first,
              (long long)lines.step, (long long)lines.count, (long long)across.first, (long long)across.step,
              (long long)across.count);
    }
    damo_release(b);
  }
}

static void want_listed(const int64_t *list, int64_t n) {
  static int64_t next[400], head[MINOR];
  int64_t to = 0;
  for (int64_t j = 0; j < MINOR; j++) head[j] = -1;
  for (int64_t k = n - 1; k >= 0; k--) next[k] = head[list[k]], head[list[k]] = k;
  want_ptr[0] = 0;
  for (int64_t i = 0; i < LINES; i++) {
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
      for (int64_t k = head[idx[p]]; k >= 0; k = next[k]) want_from[to] = p, want_idx[to++] = k;
    want_ptr[i + 1] = to;
  }
}

static void check_lists(damo_sparse *a) {
  for (int round = 0; round < 20; round++) {
    int64_t list[400], n = round == 0 ? 0 : round < 4 ? round : 1 + draw(400);
    for (int64_t k = 0; k < n; k++) {
      list[k] = draw(MINOR);
      if (round % 3 == 1) list[k] = k * MINOR / n; /* ascending */
      if (round % 3 == 2) list[k] = k / 2 * MINOR / n;
    }
    want_listed(list, n);
    damo_array *at = damo_array_from(a->obj.ctx, DAMO_INT64, 1, &n, list);
    damo_sparse *b = sparse_take(a, a->format == DAMO_CSR, at);
    CHECK(is_as_wanted(b, a, LINES));
    damo_release(at);
    damo_release(b);
  }
}

int main(void) {
  static const damo_dtype dtypes[] = {DAMO_BOOL, DAMO_INT16, DAMO_FLOAT32, DAMO_FLOAT64, DAMO_COMPLEX128};
  static const int64_t means[] = {0, 2, 30, 200};
  damo_ctx *ctx = new_ctx();
  for (int way = 0; way < 120; way++) {
    const damo_dtype itype = way / 5 % 2 ? DAMO_INT64 : DAMO_INT32;
    draw_lines((order)(way / 10 % 3), means[way / 30]);
    damo_sparse *a = matrix(ctx, draw(2) ? DAMO_CSR : DAMO_CSC, dtypes[way % 5], itype, MINOR);
    damo_sparse *far = matrix(ctx, a->format, dtypes[way % 5], DAMO_INT64, (int64_t)1 << 40);
    check_blocks(a);
    check_lists(a);
    check_lists(far);
    damo_release(a);
    damo_release(far);
  }
  CHECK_EQ_I(ctx->n_objects, 0);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
