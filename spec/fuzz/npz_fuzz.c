/* npz_fuzz: sparse matrices of .npz members, and whole .npz files, from arbitrary bytes, for libFuzzer. By hand:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_POSIX_C_SOURCE=200809L -Isrc spec/fuzz/npz_fuzz.c \
 *     src/base/[a-z]*.c src/array/[a-z]*.c src/sparse/[a-z]*.c src/io/[a-z]*.c <kernel objects> \
 *     $(make -s print-libs) -o npz_fuzz
 *   ./npz_fuzz -max_len=4096 -max_total_time=60 corpus spec/data/npz
 *
 * The kernels are compiled apart, each with its instruction set's flags (make MODE=asan makes them).
 * What is read must hold its invariants; what is not must be an error of the file.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/io/io_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MEMORY_CAP ((size_t)256 << 20)
#define MEMBERS 10

static void require(bool ok) {
  if (!ok) abort();
}

typedef struct bytes {
  const uint8_t *at;
  size_t n;
} bytes;

static uint8_t next(bytes *b) {
  if (b->n == 0) return 0;
  b->n--;
  return *b->at++;
}

/* Mostly small; sometimes at the ends of what there is. */
static int64_t next_number(bytes *b) {
  static const int64_t ends[] = {INT64_MAX, INT64_MIN, INT64_MAX - 1, INT32_MAX, INT32_MIN, (int64_t)1 << 32, -1, -3};
  const uint8_t v = next(b);
  return v < 0xf0 ? v % 8 : ends[v % 8];
}

/* As a member should be, but for some bytes: of that shape, its numbers small, or ascending from 0 to `sum`. */
static damo_array *next_array(damo_ctx *ctx, bytes *b, int ndim, const int64_t *meant, int64_t sum) {
  int64_t shape[4] = {0}, count = 1, total = 0;
  const uint8_t what = next(b);
  const int rank = what % 32 == 31 ? what / 32 % 4 : ndim;
  for (int i = 0; i < rank; i++) {
    shape[i] = i < ndim && what % 32 != i ? meant[i] : next(b) % 6;
    count *= shape[i];
  }
  const damo_dtype dtype = what % 8 ? DAMO_INT64 : (damo_dtype)(next(b) % DAMO_N_DTYPES);
  damo_array *a = array_empty(ctx, dtype, rank, shape), *numbers = array_empty(ctx, DAMO_INT64, rank, shape);
  require(a != NULL && numbers != NULL);
  for (int64_t i = 0; i < count; i++) {
    const int64_t v = next_number(b);
    if (sum >= 0) total = i == count - 1 ? sum : i == 0 || v > 7 || v < 0 ? total : total + v % 3;
    ((int64_t *)(void *)numbers->data)[i] = sum < 0 || what == 77 ? v : total;
  }
  require(array_assign(a, numbers) == DAMO_OK);
  damo_release(numbers);
  return a;
}

static damo_array *format_array(damo_ctx *ctx, uint8_t which) {
  static const char *const names[] = {"csr", "csc", "coo", "dia", "bsr", "lil"};
  return damo_array_from(ctx, DAMO_UINT8, 1, (const int64_t[]){3}, names[which % 6]);
}

static void check(damo_ctx *ctx, damo_sparse *a) {
  require(a ? sparse_check(a, NULL) : ctx->error.status == DAMO_EIO || ctx->error.status == DAMO_EMEMORY);
  damo_release(a);
}

static void of_members(damo_ctx *ctx, bytes b) {
  npz_entry at[MEMBERS];
  char names[MEMBERS][8] = {"format"};
  npz z = {.ctx = ctx, .at = at, .n = 1, .cap = MEMBERS};
  const uint8_t format = next(&b), absent = next(&b);
  const int64_t n = next(&b) % 8, lines = next(&b) % 6, high = next(&b) % 4, wide = next(&b) % 4;
  const struct {
    char name[8];
    int ndim;
    int64_t shape[3], sum;
  } known[] = {{"shape", 1, {2}, -1},
               {"row", 1, {n}, -1},
               {"col", 1, {n}, -1},
               {"offsets", 1, {n}, -1},
               {"indices", 1, {n}, -1},
               {"indptr", 1, {lines + 1}, n},
               {"coords", 2, {2, n}, -1},
               {"data",
                format % 6 == 3   ? 2
                : format % 6 == 4 ? 3
                                  : 1,
                {n, format % 6 == 3 ? lines : high, wide},
                -1}};
  at[0] = (npz_entry){names[0], format_array(ctx, format)};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (absent == i || (i == 6 && format < 128)) continue;
    memcpy(names[z.n], known[i].name, sizeof known[i].name);
    at[z.n] = (npz_entry){names[z.n], next_array(ctx, &b, known[i].ndim, known[i].shape, known[i].sum)};
    z.n++;
  }
  if (io_npz_is_sparse(&z)) check(ctx, io_sparse_of_npz("fuzz", &z));
  for (int64_t i = 0; i < z.n; i++) damo_release(at[i].array);
}

static void of_file(damo_ctx *ctx, const uint8_t *data, size_t n) {
  char path[] = "npz_fuzz_XXXXXX";
  const int f = mkstemp(path);
  require(f >= 0 && write(f, data, n) == (ssize_t)n);
  close(f);
  check(ctx, io_read_sparse_npz(ctx, IO_FROM_FILE(path)));
  remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  damo_ctx_set_memory_cap(ctx, MEMORY_CAP);
  if (n > 0 && data[0] == 'P')
    of_file(ctx, data, n);
  else
    of_members(ctx, (bytes){data, n});
  require(ctx->n_objects == 0 && ctx->bytes == 0);
  damo_ctx_release(ctx);
  return 0;
}
