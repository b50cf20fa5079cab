/* block_test: block programs of several steps, inputs and outputs against brute force, over random shapes and strides,
 * split into ranges of rows at random, in blocks of any length. */
#include "loop/loop.h"
#include "test.h"

#include <stdlib.h>

enum { IN = 4, OUT = 3, OPS = IN + OUT, MEMORY = 1 << 16, MOST = 4000 };

static uint64_t random_state = 88172645463325252u;
static int64_t below(int64_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)(random_state % (uint64_t)n);
}

/* ---- The program: inputs a, b float64, c int32, d (unused) ------------------------------------------------------- */

static int64_t calls, longest;

static void count_call(int64_t n) {
  calls++;
  if (n > longest) longest = n;
}

/* x + 3 y */
static void mixed(void *const *args, int64_t n) {
  const double *x = args[0], *y = args[1];
  double *out = args[2];
  count_call(n);
  for (int64_t i = 0; i < n; i++) out[i] = x[i] + 3 * y[i];
}

/* x - y and x * y, two outputs */
static void both(void *const *args, int64_t n) {
  const double *x = args[0], *y = args[1];
  double *minus = args[2], *times = args[3];
  for (int64_t i = 0; i < n; i++) {
    const double p = x[i], q = y[i];
    minus[i] = p - q;
    times[i] = p * q;
  }
}

/* x < y, into bool */
static void less(void *const *args, int64_t n) {
  const double *x = args[0], *y = args[1];
  uint8_t *out = args[2];
  for (int64_t i = 0; i < n; i++) out[i] = x[i] < y[i];
}

enum { A, B, C, D, MINUS, TIMES, LESS, C_WIDE, MIX, REGS };

static const loop_reg regs[REGS] = {
    [A] = {.dtype = DAMO_FLOAT64},    [B] = {.dtype = DAMO_FLOAT64},      [C] = {.dtype = DAMO_INT32},
    [D] = {.dtype = DAMO_COMPLEX128}, [MINUS] = {.dtype = DAMO_FLOAT64},  [TIMES] = {.dtype = DAMO_FLOAT64},
    [LESS] = {.dtype = DAMO_BOOL},    [C_WIDE] = {.dtype = DAMO_FLOAT64}, [MIX] = {.dtype = DAMO_FLOAT64}};

static loop_step steps[] = {
    {.kind = LOOP_CAST, .n_in = 1, .n_out = 1, .reg = {C, C_WIDE}},
    {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .reg = {B, C_WIDE, MIX}, .fn.kernel = mixed},
    {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 2, .reg = {A, MIX, MINUS, TIMES}, .fn.kernel = both},
    {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .reg = {TIMES, MIX, LESS}, .fn.kernel = less},
};

static loop_program program = {
    .n_in = IN, .n_out = OUT, .n_regs = REGS, .n_steps = sizeof steps / sizeof *steps, .regs = regs, .steps = steps};

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

typedef struct box {
  int ndim;
  int64_t size, shape[DAMO_MAX_NDIM], stride[OPS][DAMO_MAX_NDIM];
} box;

_Alignas(64) static char memory[OPS][2 * MEMORY], before[OPS][2 * MEMORY];

static bool is_out(int k) { return k >= IN; }
static int64_t size_of(int k) { return (int64_t)dtype_size((damo_dtype)regs[k].dtype); }

/* Random strides: C order, with gaps, permuted or reversed; for inputs also broadcast. */
static void random_strides(box *b, int k) {
  int64_t step = size_of(k) * (1 + (below(4) == 0)), order[DAMO_MAX_NDIM];
  const bool shuffled = below(4) == 0, gaps = below(3) == 0;
  const int64_t broadcast = is_out(k) ? 0 : below(3) == 0 ? 3 : 0;
  for (int axis = 0; axis < b->ndim; axis++) order[axis] = axis;
  for (int axis = 0; shuffled && axis < b->ndim; axis++) {
    const int other = (int)below(b->ndim);
    const int64_t swap = order[axis];
    order[axis] = order[other], order[other] = swap;
  }
  for (int i = b->ndim - 1; i >= 0; i--) {
    const int64_t axis = order[i];
    b->stride[k][axis] = below(8) == 0 ? -step : step;
    if (broadcast && below(broadcast) == 0) b->stride[k][axis] = 0;
    step *= b->shape[axis] + (gaps && below(3) == 0);
  }
}

static box random_box(void) {
  box b = {.ndim = (int)below(5), .size = 1};
  for (int axis = 0; axis < b.ndim; axis++) {
    int64_t n = below(30) == 0 ? 0 : below(4) == 0 ? 1 + below(2000) : 1 + below(9);
    if (b.size * n > MOST) n = 1;
    b.shape[axis] = n;
    b.size *= n;
  }
  for (int k = 0; k < OPS; k++) random_strides(&b, k);
  return b;
}

static bool fits(const box *b) {
  for (int k = 0; k < OPS; k++) {
    int64_t bytes = 16;
    for (int axis = 0; axis < b->ndim; axis++) bytes += llabs(b->stride[k][axis]) * b->shape[axis];
    if (bytes > MEMORY) return false;
  }
  return true;
}

static int64_t offset_of(const box *b, int k, int64_t i) {
  int64_t index[DAMO_MAX_NDIM], offset = 0;
  nd_index(b->ndim, b->shape, i, index);
  for (int axis = 0; axis < b->ndim; axis++) offset += index[axis] * b->stride[k][axis];
  return offset;
}

static void fill_operands(char **base) {
  for (int k = 0; k < OPS; k++) {
    base[k] = memory[k] + MEMORY;
    memset(memory[k], 0x55, sizeof memory[k]);
  }
  for (int64_t i = 0; i < 2 * MEMORY / 8; i++) {
    ((double *)(void *)memory[A])[i] = (double)below(1000) / 7;
    ((double *)(void *)memory[B])[i] = (double)below(1000) / 3;
    ((int32_t *)(void *)memory[C])[2 * i] = (int32_t)below(100) - 50;
    ((int32_t *)(void *)memory[C])[2 * i + 1] = (int32_t)below(100) - 50;
  }
}

/* Computes the expected outputs into `before`. */
static void compute(const box *b) {
  for (int64_t i = 0; i < b->size; i++) {
    char *p[OPS];
    int32_t c;
    double x, y;
    for (int k = 0; k < OPS; k++) p[k] = before[k] + MEMORY + offset_of(b, k, i);
    memcpy(&x, p[A], 8), memcpy(&y, p[B], 8), memcpy(&c, p[C], 4);
    const double mix = y + 3 * (double)c, minus = x - mix, times = x * mix;
    memcpy(p[MINUS], &minus, 8), memcpy(p[TIMES], &times, 8);
    *p[LESS] = times < mix;
  }
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void run_in_shares(const loop_plan *plan, char *const *base, bool whole) {
  void *workspace = aligned_alloc(64, loop_workspace(plan) + 64);
  memset(workspace, 0xAA, loop_workspace(plan) + 64);
  for (int64_t row = 0, end; row < loop_rows(plan); row = end) {
    end = whole ? loop_rows(plan) : row + 1 + below(loop_rows(plan) - row);
    loop_run(plan, base, workspace, row, end);
  }
  free(workspace);
}

static loop_plan *plan_of(const box *b) {
  const int64_t *strides[OPS];
  for (int k = 0; k < OPS; k++) strides[k] = b->stride[k];
  return loop_plan_init(malloc(loop_plan_bytes(&program, b->ndim)), &program, b->ndim, b->shape, strides);
}

static void test_random(void) {
  static const int32_t max_blocks[] = {0, 8, 0, 1, 0, 50};
  for (int round = 0; round < 1500; round++) {
    const box b = random_box();
    char *base[OPS];
    if (!fits(&b)) continue;
    fill_operands(base);
    memcpy(before, memory, sizeof memory);
    compute(&b);
    program.max_block = max_blocks[round % 6];
    longest = 0;
    loop_plan *plan = plan_of(&b);
    run_in_shares(plan, base, round % 4 < 2);
    if (program.max_block > 0) CHECK(longest <= program.max_block);
    free(plan);
    if (!CHECK(memcmp(memory, before, sizeof memory) == 0)) {
      fprintf(stderr, "    round %d\n", round);
      break;
    }
  }
  program.max_block = 0;
}

/* A step whose operands are the same for all blocks runs once, over one value if they are all scalars. */
static void test_once(void) {
  box b = {.ndim = 2, .size = 2500, .shape = {5, 500}};
  char *base[OPS];
  fill_operands(base);
  for (int k = 0; k < OPS; k++) {
    b.stride[k][0] = 500 * size_of(k);
    b.stride[k][1] = size_of(k);
  }
  b.stride[B][0] = b.stride[B][1] = b.stride[C][0] = b.stride[C][1] = 0;
  calls = longest = 0;
  loop_plan *plan = plan_of(&b);
  run_in_shares(plan, base, true);
  free(plan);
  CHECK_EQ_I(calls, 1);
  CHECK_EQ_I(longest, 1);
  b.stride[B][0] = 8; /* one value a row; c is a row, the same for all */
  plan = plan_of(&b);
  calls = longest = 0;
  run_in_shares(plan, base, true);
  free(plan);
  CHECK_EQ_I(calls, 5);
  CHECK_EQ_I(longest, 1);
  b.stride[B][0] = 0, b.stride[B][1] = 8, b.stride[C][1] = 4;
  plan = plan_of(&b);
  calls = longest = 0;
  run_in_shares(plan, base, true);
  free(plan);
  CHECK_EQ_I(calls, 1);
  CHECK_EQ_I(longest, 500);
}

/* A single step whose operands are used in place needs no workspace and is one kernel call. */
static void test_direct(void) {
  static const loop_reg same[] = {{.dtype = DAMO_FLOAT64}, {.dtype = DAMO_FLOAT64}, {.dtype = DAMO_FLOAT64}};
  static const loop_step step = {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .reg = {0, 1, 2}, .fn.kernel = mixed};
  static const loop_program sum = {.n_in = 2, .n_out = 1, .n_regs = 3, .n_steps = 1, .regs = same, .steps = &step};
  const int64_t shape[] = {20, 300}, stride[] = {2400, 8}, *const strides[] = {stride, stride, stride};
  static double x[6000], y[6000];
  for (int i = 0; i < 6000; i++) x[i] = i, y[i] = 1;
  loop_plan *plan = loop_plan_init(malloc(loop_plan_bytes(&sum, 2)), &sum, 2, shape, strides);
  calls = 0;
  CHECK_EQ_I(loop_workspace(plan), 0);
  loop_run(plan, (char *const[]){(char *)x, (char *)y, (char *)x}, NULL, 0, loop_rows(plan)); /* in place */
  CHECK_EQ_I(calls, 1);
  for (int i = 0; i < 6000; i++)
    if (!CHECK(x[i] == i + 3)) break;
  free(plan);
}

/* A long output goes past the cache, wherever it begins and however its rows are divided; in place it is written where
 * the input is. */
static void test_stream(void) {
  static const loop_reg same[] = {{.dtype = DAMO_FLOAT64}, {.dtype = DAMO_FLOAT64}, {.dtype = DAMO_FLOAT64}};
  static const loop_step step = {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .reg = {0, 1, 2}, .fn.kernel = mixed};
  static const loop_program sum = {.n_in = 2, .n_out = 1, .n_regs = 3, .n_steps = 1, .regs = same, .steps = &step};
  enum { ROWS = 1100, COLS = 2001, N = ROWS * COLS };
  const int64_t shape[] = {ROWS, COLS}, stride[] = {COLS * 8, 8},
                row[] = {0, 8}, *const strides[] = {stride, row, stride};
  double *x = malloc(N * 8), *y = malloc(COLS * 8), *z = malloc((N + 4) * 8);
  loop_plan *plan = loop_plan_init(malloc(loop_plan_bytes(&sum, 2)), &sum, 2, shape, strides);
  CHECK(kernel_stream_least(N * 8) <= N * 8 && kernel_stream_least(4096) > 4096 && loop_workspace(plan) > 4096);
  void *work = aligned_alloc(64, (loop_workspace(plan) + 63) / 64 * 64);
  for (int i = 0; i < COLS; i++) y[i] = i;
  for (int at = 0; at < 4; at++) {
    double *const out = at == 3 ? x : z + at;
    for (int i = 0; i < N; i++) x[i] = i;
    memset(z, 0, (N + 4) * 8);
    for (int64_t from = 0, to; from < ROWS; from = to) {
      to = at == 0 ? ROWS : from + 1 + below(700);
      loop_run(plan, (char *const[]){(char *)x, (char *)y, (char *)out}, work, from, to < ROWS ? to : ROWS);
    }
    int64_t wrong = 0;
    for (int64_t i = 0; i < N; i++) wrong += out[i] != (double)(i + 3 * (i % COLS));
    CHECK_EQ_I(wrong, 0);
    CHECK(z[N + at % 3] == 0 && (at == 0 || at == 3 || z[at - 1] == 0));
  }
  free(x), free(y), free(z), free(work), free(plan);
}

int main(void) {
  steps[0].fn.cast = kernel_cast(DAMO_INT32, DAMO_FLOAT64);
  test_random();
  test_once();
  test_direct();
  test_stream();
  TEST_MAIN_END;
}
