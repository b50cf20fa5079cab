/* pass_test: programs with folds, whose results later passes read, against brute force, over random shapes and strides,
 * split into ranges of rows at random. */
#include "loop/loop.h"
#include "test.h"

#include <stdlib.h>

enum {
  X,
  Y,
  R,
  OUT,
  TOTAL,
  WHERE,
  OPS,
  TOP = OPS,
  SHIFT,
  DIFF,
  WIDE,
  TIMES,
  REGS,
  N_IN = 3,
  MEMORY = 1 << 17,
  MOST = 6000
};

static uint64_t random_state = 88172645463325252u;
static int64_t below(int64_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)(random_state % (uint64_t)n);
}

static void add(void *const *args, int64_t n) {
  const double *x = args[0], *y = args[1];
  double *out = args[2];
  for (int64_t i = 0; i < n; i++) out[i] = x[i] + y[i];
}

static void sub(void *const *args, int64_t n) {
  const double *x = args[0], *y = args[1];
  double *out = args[2];
  for (int64_t i = 0; i < n; i++) out[i] = x[i] - y[i];
}

static void mul(void *const *args, int64_t n) {
  const double *x = args[0], *y = args[1];
  double *out = args[2];
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * y[i];
}

/* top = max x; where = argmax x; shift = top + r; times = (x - shift) * y; total = Σ times; out = times - total. Y is
 * float32; r, total and where have one value a row. */
static const loop_reg regs[REGS] = {
    [X] = {DAMO_FLOAT64, false},    [Y] = {DAMO_FLOAT32, false},    [R] = {DAMO_FLOAT64, true},
    [OUT] = {DAMO_FLOAT64, false},  [TOTAL] = {DAMO_FLOAT64, true}, [WHERE] = {DAMO_INT64, true},
    [TOP] = {DAMO_FLOAT64, true},   [SHIFT] = {DAMO_FLOAT64, true}, [DIFF] = {DAMO_FLOAT64, false},
    [WIDE] = {DAMO_FLOAT64, false}, [TIMES] = {DAMO_FLOAT64, false}};

static loop_step steps[] = {
    {.kind = LOOP_FOLD, .n_in = 1, .n_out = 1, .pass = 0, .reg = {X, TOP}, .fn.fold = REDUCE_MAX},
    {.kind = LOOP_FOLD, .n_in = 1, .n_out = 1, .pass = 0, .reg = {X, WHERE}, .fn.fold = REDUCE_ARGMAX},
    {.kind = LOOP_KERNEL,
     .n_in = 2,
     .n_out = 1,
     .pass = 1,
     .over_rows = true,
     .reg = {TOP, R, SHIFT},
     .fn.kernel = add},
    {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .pass = 1, .reg = {X, SHIFT, DIFF}, .fn.kernel = sub},
    {.kind = LOOP_CAST, .n_in = 1, .n_out = 1, .pass = 1, .reg = {Y, WIDE}},
    {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .pass = 1, .reg = {DIFF, WIDE, TIMES}, .fn.kernel = mul},
    {.kind = LOOP_FOLD, .n_in = 1, .n_out = 1, .pass = 1, .reg = {TIMES, TOTAL}, .fn.fold = REDUCE_SUM},
    {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .pass = 2, .reg = {TIMES, TOTAL, OUT}, .fn.kernel = sub},
};

static loop_program program = {.n_in = N_IN,
                               .n_out = OPS - N_IN,
                               .n_regs = REGS,
                               .n_steps = sizeof steps / sizeof *steps,
                               .n_passes = 3,
                               .regs = regs,
                               .steps = steps};

typedef struct box {
  int ndim, n_axes;
  int64_t rows, inner, shape[DAMO_MAX_NDIM], stride[OPS][DAMO_MAX_NDIM];
} box;

_Alignas(64) static char memory[OPS][2 * MEMORY], before[OPS][2 * MEMORY];

/* C order, with gaps, permuted or reversed; inputs may broadcast along the rows. Row outputs are C-contiguous. */
static void random_strides(box *b, int k) {
  const int kept = b->ndim - b->n_axes, n = regs[k].is_row ? kept : b->ndim;
  int64_t step = (int64_t)dtype_size((damo_dtype)regs[k].dtype), order[DAMO_MAX_NDIM];
  const bool plain = k > OUT || below(2) == 0, same = k < N_IN && below(5) == 0;
  for (int axis = 0; axis < b->ndim; axis++) order[axis] = axis, b->stride[k][axis] = 0;
  for (int axis = 0; !plain && axis < n; axis++) {
    const int other = (int)below(n);
    const int64_t swap = order[axis];
    order[axis] = order[other], order[other] = swap;
  }
  for (int i = n - 1; i >= 0; i--) {
    const int64_t axis = order[i];
    b->stride[k][axis] = same && axis < kept ? 0 : !plain && below(8) == 0 ? -step : step;
    step *= b->shape[axis] + (!plain && below(6) == 0);
  }
}

static box random_box(void) {
  box b = {.ndim = 1 + (int)below(4), .rows = 1, .inner = 1};
  int64_t size = 1;
  b.n_axes = 1 + (int)below(b.ndim);
  for (int axis = 0; axis < b.ndim; axis++) {
    int64_t n = axis == 0 && below(30) == 0 ? 0 : below(3) == 0 ? 1 + below(3000) : 1 + below(40);
    if (size * n > MOST) n = 1 + below(2);
    if (size * n > MOST) n = 1;
    b.shape[axis] = n;
    size *= n;
    if (axis < b.ndim - b.n_axes)
      b.rows *= n;
    else
      b.inner *= n;
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
  return b->inner > 0;
}

static char *element(char m[OPS][2 * MEMORY], const box *b, int k, int64_t i) {
  int64_t index[DAMO_MAX_NDIM], offset = 0;
  nd_index(b->ndim, b->shape, i, index);
  for (int axis = 0; axis < b->ndim; axis++) offset += index[axis] * b->stride[k][axis];
  return m[k] + MEMORY + offset;
}

/* Small integers, so that sums are exact in any order, and none is a zero with a sign. */
static void fill_operands(void) {
  memset(memory, 0x55, sizeof memory);
  for (int64_t i = 0; i < 2 * MEMORY / 8; i++) {
    ((double *)(void *)memory[X])[i] = (double)below(1000);
    ((double *)(void *)memory[R])[i] = (double)(1 + below(100));
    ((float *)(void *)memory[Y])[2 * i] = (float)(1 + below(30));
    ((float *)(void *)memory[Y])[2 * i + 1] = (float)(1 + below(30));
  }
}

/* Computes the expected outputs into `before`. */
static void compute_row(const box *b, int64_t row) {
  const int64_t first = row * b->inner;
  double top = -1, total = 0, sum = 0, r;
  int64_t at = 0;
  memcpy(&r, element(before, b, R, first), 8);
  for (int64_t i = 0; i < b->inner; i++) {
    double x;
    memcpy(&x, element(before, b, X, first + i), 8);
    if (x > top) top = x, at = i + 1;
  }
  for (int round = 0; round < 2; round++) {
    for (int64_t i = 0; i < b->inner; i++) {
      double x;
      float y;
      memcpy(&x, element(before, b, X, first + i), 8);
      memcpy(&y, element(before, b, Y, first + i), 4);
      const double times = (x - (top + r)) * (double)y, out = times - total;
      if (round == 1) memcpy(element(before, b, OUT, first + i), &out, 8);
      if (round == 0) sum += times;
    }
    total = sum;
  }
  memcpy(before[TOTAL] + MEMORY + 8 * row, &total, 8);
  memcpy(before[WHERE] + MEMORY + 8 * row, &at, 8);
}

static void run_in_shares(const pass_plan *plan, char *const *base, bool whole) {
  void *workspace = aligned_alloc(64, pass_workspace(plan) + 64);
  memset(workspace, 0xAA, pass_workspace(plan));
  for (int64_t row = 0, end; row < pass_rows(plan); row = end) {
    end = whole ? pass_rows(plan) : row + 1 + below(pass_rows(plan) - row);
    pass_run(plan, base, workspace, row, end);
  }
  free(workspace);
}

static void run_passes(const box *b, const kernel_isa *isa, const int64_t *const *strides, char *const *base,
                       bool whole) {
  void *m = malloc(pass_plan_bytes(&program, b->ndim));
  const pass_plan *plan = pass_plan_init(m, &program, isa, b->ndim, b->shape, strides, b->n_axes);
  run_in_shares(plan, base, whole);
  free(m);
}

/* The same over rows side by side, wherever these lie. */
static void run_strips(const box *b, const kernel_isa *isa, const int64_t *const *strides, char *const *base) {
  void *m = malloc(strip_plan_bytes(&program, b->ndim));
  const strip_plan *plan = strip_plan_init(m, &program, isa, b->ndim, b->shape, strides, b->n_axes);
  void *workspace = aligned_alloc(64, strip_workspace_on(NULL, plan) + 64);
  memset(workspace, 0xAA, strip_workspace_on(NULL, plan));
  strip_run_on(NULL, plan, base, workspace);
  free(workspace);
  free(m);
}

static void test_random(const kernel_isa *isa) {
  for (int round = 0; round < 3000; round++) {
    const box b = random_box();
    const int64_t *strides[OPS];
    char *base[OPS];
    if (!fits(&b)) continue;
    fill_operands();
    memcpy(before, memory, sizeof memory);
    for (int64_t row = 0; row < b.rows; row++) compute_row(&b, row);
    for (int k = 0; k < OPS; k++) base[k] = memory[k] + MEMORY, strides[k] = b.stride[k];
    program.max_block = round % 3 == 0 ? 3 : 0;
    if (round % 2 == 1 && b.rows > 0)
      run_strips(&b, isa, strides, base);
    else
      run_passes(&b, isa, strides, base, round % 4 < 2);
    if (!CHECK(memcmp(memory, before, sizeof memory) == 0)) {
      fprintf(stderr, "    round %d\n", round);
      break;
    }
  }
}

/* A row without elements has sum 0, and nothing is done to the elements. */
static void test_empty_rows(const kernel_isa *isa) {
  static const loop_reg own[] = {
      {.dtype = DAMO_FLOAT64}, {.dtype = DAMO_FLOAT64}, {.dtype = DAMO_FLOAT64, .is_row = true}};
  static const loop_step sum[] = {
      {.kind = LOOP_FOLD, .n_in = 1, .n_out = 1, .pass = 0, .reg = {0, 2}, .fn.fold = REDUCE_SUM},
      {.kind = LOOP_KERNEL, .n_in = 2, .n_out = 1, .pass = 1, .reg = {0, 2, 1}, .fn.kernel = add}};
  static const loop_program lp = {
      .n_in = 1, .n_out = 2, .n_regs = 3, .n_steps = 2, .n_passes = 2, .regs = own, .steps = sum};
  const int64_t shape[] = {5, 0}, stride[] = {0, 8};
  double x[1] = {7}, y[1] = {7}, total[5] = {1, 1, 1, 1, 1};
  void *m = malloc(pass_plan_bytes(&lp, 2));
  const pass_plan *plan = pass_plan_init(m, &lp, isa, 2, shape, (const int64_t *const[]){stride, stride, stride}, 1);
  run_in_shares(plan, (char *const[]){(char *)x, (char *)y, (char *)total}, true);
  for (int i = 0; i < 5; i++) CHECK(total[i] == 0);
  CHECK(y[0] == 7);
  free(m);
}

int main(void) {
  const kernel_isa *isa = kernel_isa_select();
  steps[4].fn.cast = kernel_cast(DAMO_FLOAT32, DAMO_FLOAT64);
  test_random(isa);
  test_empty_rows(isa);
  TEST_MAIN_END;
}
