/* mtx_fuzz: Matrix Market texts, sparse storage, coordinates and diagonals from arbitrary bytes, for libFuzzer.
 * By hand:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_POSIX_C_SOURCE=200809L -Isrc spec/fuzz/mtx_fuzz.c \
 *     src/base/[a-z]*.c src/array/[a-z]*.c src/sparse/[a-z]*.c src/io/[a-z]*.c <kernel objects> \
 *     $(make -s print-libs) -o mtx_fuzz
 *   ./mtx_fuzz -max_len=4096 -max_total_time=60 corpus spec/data/mtx_forms spec/data/mtx_bad
 *
 * The kernels are compiled apart, each with its instruction set's flags (make MODE=asan makes them).
 * What is read must hold its invariants, and survive being written and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/io/io_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MEMORY_CAP ((size_t)256 << 20)

static void require(bool ok) {
  if (!ok) abort();
}

/* The first bytes say how long each part is; the rest fills them. */
static void from_parts(damo_ctx *ctx, const uint8_t *data, size_t n) {
  if (n < 8) return;
  const int64_t shape[2] = {(int8_t)data[0], (int8_t)data[1]}, n_ptr = data[2] % 32, n_idx = data[3] % 32;
  int64_t numbers[64] = {0};
  for (size_t i = 0; i < 64 && 4 + i < n; i++) numbers[i] = (int8_t)data[4 + i];
  damo_array *ptr = damo_array_from(ctx, DAMO_INT64, 1, &n_ptr, numbers);
  damo_array *idx = damo_array_from(ctx, DAMO_INT64, 1, &n_idx, numbers + 32);
  damo_array *val = damo_array_from(ctx, DAMO_INT64, 1, &n_idx, numbers);
  damo_sparse *a = sparse_from_parts(ctx, (damo_format)(data[0] & 1), shape, val, idx, ptr, DAMO_INT32);
  if (a) {
    bool same = false;
    require(sparse_check(a, NULL));
    damo_sparse *other = sparse_to_format(a, (damo_format)!a->format), *clean = sparse_sum_duplicates(other);
    require(sparse_check(clean, NULL) && sparse_equal(a, clean, true, &same) == DAMO_OK && same);
    damo_release(other);
    damo_release(clean);
  }
  damo_release(ptr);
  damo_release(idx);
  damo_release(val);
  damo_release(a);
}

/* What is made has its invariants, and is the same matrix in the other format. */
static void check(damo_ctx *ctx, damo_sparse *a) {
  if (!a) {
    require(ctx->error.status != DAMO_OK);
    ctx_clear_error(ctx);
    return;
  }
  bool same = false;
  require(sparse_check(a, NULL));
  damo_sparse *other = sparse_to_format(a, (damo_format)!a->format);
  if (other) require(sparse_check(other, NULL) && sparse_equal(a, other, true, &same) == DAMO_OK && same);
  ctx_clear_error(ctx);
  damo_release(other);
  damo_release(a);
}

/* 1-based coordinates, a vector of values or one for all; a shape or none; then some of the same as diagonals. */
static void from_numbers(damo_ctx *ctx, const uint8_t *data, size_t n) {
  if (n < 8) return;
  const int64_t shape[2] = {(int8_t)data[0], data[0] == 127 ? INT64_MAX - 1 : (int8_t)data[1]}, n_rows = data[2] % 16,
                n_cols = data[3] % 8 ? n_rows : data[3] / 8;
  int64_t numbers[64] = {0};
  for (size_t i = 0; i < 64 && 4 + i < n; i++) {
    const uint8_t v = data[4 + i];
    numbers[i] = v < 240 ? v % 16 : v == 255 ? INT64_MAX : v == 254 ? INT64_MIN : v == 253 ? 5000 : (int8_t)v;
  }
  damo_array *rows = damo_array_from(ctx, DAMO_INT64, 1, &n_rows, numbers);
  damo_array *cols = damo_array_from(ctx, DAMO_INT64, 1, &n_cols, numbers + 32);
  damo_array *values = damo_array_from(ctx, DAMO_INT64, data[1] & 1, &n_rows, numbers + 16);
  const damo_format format = (damo_format)(data[2] >> 7);
  check(ctx, sparse_from_coo(ctx, format, data[1] & 2 ? shape : NULL, rows, cols, values, DAMO_INT32));
  const damo_array *const diagonals[] = {rows, values, cols};
  check(ctx, sparse_diags(ctx, data[3] % 4, diagonals, numbers + 48, data[1] & 2 ? shape : NULL, DAMO_FLOAT32, format));
  damo_release(rows);
  damo_release(cols);
  damo_release(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  sparse_register(ctx);
  damo_ctx_set_memory_cap(ctx, MEMORY_CAP);
  from_parts(ctx, data, n);
  from_numbers(ctx, data, n);
  damo_obj *v = mtx_parse(ctx, "fuzz", (const char *)data, n, n % 2 ? DAMO_CSC : DAMO_CSR);
  if (v) {
    require(v->kind == OBJ_ARRAY ? array_check((damo_array *)v, NULL) : sparse_check((damo_sparse *)v, NULL));
  } else {
    require(ctx->error.status == DAMO_EIO || ctx->error.status == DAMO_EMEMORY);
  }
  damo_release(v);
  require(ctx->n_objects == 0 && ctx->bytes == 0);
  damo_ctx_release(ctx);
  return 0;
}
