/* walk_test: nd_space, walks, seeks and cursors against brute force, over random shapes and strides (0 and negative
 * too), empty ones, 0-d ones and 32 axes. */
#include "kernel/kernel.h"
#include "kernel/walk.h"
#include "test.h"

#include <stdlib.h>

enum { OPS = 4, MOST = 4096, MEMORY = 1 << 20 };

static uint64_t random_state = 88172645463325252u;
static int64_t below(int64_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)(random_state % (uint64_t)n);
}

typedef struct box {
  int ndim, n_ops;
  int64_t shape[DAMO_MAX_NDIM], stride[OPS][DAMO_MAX_NDIM];
} box;

static char memory[MEMORY];

/* Random strides of an operand: C order, or with gaps, permuted, reversed, broadcast. */
static void random_strides(box *b, int k) {
  int64_t step = 1 + (below(3) == 0);
  for (int axis = b->ndim - 1; axis >= 0; axis--) {
    b->stride[k][axis] = step;
    step *= b->shape[axis] + (step < 8 && below(6) == 0);
  }
  for (int axis = 0; axis < b->ndim; axis++) {
    const int other = (int)below(b->ndim);
    const int64_t swap = b->stride[k][axis];
    if (b->shape[axis] == b->shape[other]) b->stride[k][axis] = b->stride[k][other], b->stride[k][other] = swap;
    if (below(6) == 0) b->stride[k][axis] = 0;
    if (below(6) == 0) b->stride[k][axis] = -b->stride[k][axis];
  }
}

static box random_box(int max_ndim) {
  box b = {.ndim = (int)below(max_ndim + 1), .n_ops = (int)below(OPS + 1)};
  int64_t size = 1;
  for (int axis = 0; axis < b.ndim; axis++) {
    int64_t n = below(20) == 0 ? 0 : 1 + below(5);
    if (size * n > MOST) n = 1;
    b.shape[axis] = n;
    if (n > 0) size *= n;
  }
  for (int k = 0; k < b.n_ops; k++) random_strides(&b, k);
  return b;
}

static int64_t box_size(const box *b, int first, int end) {
  int64_t n = 1;
  for (int axis = first; axis < end; axis++) n *= b->shape[axis];
  return n;
}

/* Bytes from the first element of operand k to element number i over axes [0, end). */
static int64_t offset_of(const box *b, int k, int64_t i, int end) {
  int64_t offset = 0;
  for (int axis = end - 1; axis >= 0; axis--) {
    offset += i % b->shape[axis] * b->stride[k][axis];
    i /= b->shape[axis];
  }
  return offset;
}

static nd_space space_of(const box *b, int64_t *numbers) {
  const int64_t *strides[OPS];
  nd_space s;
  for (int k = 0; k < b->n_ops; k++) strides[k] = b->stride[k];
  nd_space_init(&s, numbers, b->ndim, b->shape, b->n_ops, strides);
  return s;
}

static void addresses(const box *b, char **p) {
  for (int k = 0; k < b->n_ops; k++) p[k] = memory + MEMORY / 2;
}

/* Whether the addresses are those of row number `row` of the axes [0, end). */
static bool at_row(const box *b, char **p, int64_t row, int end) {
  for (int k = 0; k < b->n_ops; k++) {
    if (p[k] - (memory + MEMORY / 2) != offset_of(b, k, row, end)) return false;
  }
  return true;
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

static bool walks_rows(const box *b, const nd_space *s, int64_t length, int end) {
  char *p[OPS];
  nd_walk w;
  addresses(b, p);
  int64_t row = 0;
  for (bool more = nd_begin(&w, s); more; more = nd_next(&w, p), row++) {
    if (w.row != row || !at_row(b, p, row * length, end)) return false;
  }
  return row == s->rows && (s->rows == 0 || (w.row == 0 && at_row(b, p, 0, end)));
}

static bool seeks(const box *b, const nd_space *s, int64_t length, int end) {
  char *p[OPS];
  nd_walk w;
  addresses(b, p);
  if (!nd_begin(&w, s)) return true;
  for (int i = 0; i < 20; i++) {
    const int64_t row = below(s->rows);
    nd_seek(&w, row, p);
    if (w.row != row || !at_row(b, p, row * length, end)) return false;
    if (nd_next(&w, p) != (row + 1 < s->rows) || !at_row(b, p, (row + 1) % s->rows * length, end)) return false;
  }
  return true;
}

/* No two adjacent axes are contiguous for all operands: nothing is left to merge. */
static bool is_merged(const nd_space *s) {
  for (int axis = 0; axis < s->n_axes; axis++) {
    bool runs_on = axis > 0;
    for (int k = 0; runs_on && k < s->n_ops; k++)
      runs_on = s->stride[(axis - 1) * s->pitch + k] == s->stride[axis * s->pitch + k] * s->shape[axis];
    if (runs_on || s->shape[axis] == 1) return false;
  }
  return true;
}

static void test_walks(void) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, OPS)];
  for (int round = 0; round < 20000; round++) {
    const box b = random_box(round % 4 == 0 ? DAMO_MAX_NDIM : 5);
    const int64_t size = box_size(&b, 0, b.ndim);
    nd_space s = space_of(&b, numbers);
    if (!CHECK(s.rows == size && is_merged(&s))) return;
    if (!CHECK(walks_rows(&b, &s, 1, b.ndim)) || !CHECK(seeks(&b, &s, 1, b.ndim))) return;
    const int64_t length = nd_space_inner(&s);
    if (!CHECK(size == 0 ? s.rows == 0 : s.rows * length == size)) return;
    if (!CHECK(walks_rows(&b, &s, length, b.ndim)) || !CHECK(seeks(&b, &s, length, b.ndim))) return;
  }
}

/* Core axes are not merged or reordered, and may be empty. */
static void test_core(void) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, OPS)];
  for (int round = 0; round < 5000; round++) {
    const box b = random_box(6);
    const int n_core = (int)below(b.ndim + 1), end = b.ndim - n_core;
    nd_space s = nd_space_begin(numbers, DAMO_MAX_NDIM, b.n_ops);
    for (int axis = 0; axis < b.ndim; axis++) {
      for (int k = 0; k < b.n_ops; k++) nd_space_next(&s)[k] = b.stride[k][axis];
      if (axis < end)
        nd_space_push(&s, b.shape[axis]);
      else
        nd_space_push_unmerged(&s, b.shape[axis]);
    }
    nd_space_core(&s, n_core);
    if (!CHECK(s.rows == box_size(&b, 0, end))) return;
    for (int i = 0; i < n_core; i++) {
      if (!CHECK_EQ_I(s.shape[s.n_axes - n_core + i], b.shape[end + i])) return;
      for (int k = 0; k < b.n_ops; k++)
        if (!CHECK_EQ_I(s.stride[(s.n_axes - n_core + i) * s.pitch + k], b.stride[k][end + i])) return;
    }
    if (!CHECK(walks_rows(&b, &s, 1, end))) return;
  }
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

static void test_questions(void) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, OPS)], index[DAMO_MAX_NDIM];
  for (int round = 0; round < 5000; round++) {
    const box b = random_box(5);
    const int64_t size = box_size(&b, 0, b.ndim);
    nd_space s = space_of(&b, numbers);
    const int64_t length = nd_space_inner(&s);
    if (size == 0) continue;
    for (int k = 0; k < b.n_ops; k++) {
      bool contiguous = true, same = true;
      for (int64_t i = 0; i < size; i++) {
        const int64_t offset = offset_of(&b, k, i, b.ndim);
        contiguous = contiguous && offset == i;
        if (i % length == 0) same = same && offset == 0;
      }
      if (!CHECK_EQ_I(nd_is_contiguous(&s, k, 1), contiguous)) return;
      if (!CHECK_EQ_I(nd_is_same_in_all_rows(&s, k), same)) return;
    }
    for (int i = 0; i < 10; i++) {
      const int64_t k = below(size);
      int64_t back = 0;
      nd_index(b.ndim, b.shape, k, index);
      for (int axis = 0; axis < b.ndim; axis++) back = back * b.shape[axis] + index[axis];
      if (!CHECK_EQ_I(back, k)) return;
    }
  }
}

/* ---- Cursors ----------------------------------------------------------------------------------------------------- */

static void test_cursors(void) {
  static char read[MOST], block[MOST];
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, OPS)];
  for (int i = 0; i < MEMORY; i++) memory[i] = (char)(i * 7 + i / 256);
  for (int round = 0; round < 10000; round++) {
    const box b = random_box(round % 4 == 0 ? 12 : 4);
    const int64_t size = box_size(&b, 0, b.ndim);
    nd_space s = space_of(&b, numbers);
    nd_space_inner(&s);
    for (int k = 0; size > 0 && k < b.n_ops; k++) {
      const nd_space one = nd_space_operand(&s, k);
      char *first = memory + MEMORY / 2;
      nd_cursor c;
      nd_cursor_begin(&c, &one, first);
      for (int64_t done = 0, n; done < size; done += n) {
        n = 1 + below(size - done);
        nd_cursor_read(&c, read + done, n, 1);
      }
      bool same = true;
      for (int64_t i = 0; i < size; i++) same = same && read[i] == first[offset_of(&b, k, i, b.ndim)];
      if (!CHECK(same)) return;
      /* the cursor is at the first element again; if an element is written twice, the last value stays */
      for (int64_t i = 0; i < size; i++) block[i] = (char)below(256);
      for (int64_t done = 0, n; done < size; done += n) {
        n = 1 + below(size - done);
        nd_cursor_write(&c, block + done, n, 1);
      }
      for (int64_t i = 0; i < size; i++) read[i] = first[offset_of(&b, k, i, b.ndim)];
      for (int64_t i = 0; i < size; i++) first[offset_of(&b, k, i, b.ndim)] = block[i];
      for (int64_t i = 0; i < size; i++) same = same && read[i] == first[offset_of(&b, k, i, b.ndim)];
      if (!CHECK(same)) return;
    }
  }
}

int main(void) {
  test_walks();
  test_core();
  test_questions();
  test_cursors();
  TEST_MAIN_END;
}
