/* random: a given number of entries at random places.
 *
 * Few places (at most a quarter): drawn one by one, duplicates rejected by a hash set with open addressing. Many: each
 * place in turn is taken with probability (places still needed) / (places left): Knuth's selection sampling, TAOCP vol.
 * 2, 3.4.2, algorithm S. Either way memory is O(entries).
 */
#include <math.h>
#include <string.h>

#include "sparse_int.h"
#include "kernel/kernel.h"

/* 64-bit words from a stream, two per Philox block. */
typedef struct sp_random_words {
  philox_state *state;
  uint64_t at[2];
  int left;
} sp_random_words;

static uint64_t sp_random_next_word(sp_random_words *w) {
  if (w->left == 0) {
    uint32_t block[4];
    philox_block(w->state, 0, block);
    philox_advance(w->state, 1);
    w->at[1] = (uint64_t)block[1] << 32 | block[0];
    w->at[0] = (uint64_t)block[3] << 32 | block[2];
    w->left = 2;
  }
  return w->at[--w->left];
}

static double sp_random_next_unit(sp_random_words *w) {
  return (double)(int64_t)(sp_random_next_word(w) >> 11) * 0x1p-53;
}

/* Uniform in 0 … n - 1: words at or above the last multiple of n are rejected and drawn again, to avoid bias. */
static int64_t sp_random_next_below(philox_words *w, int64_t n) {
  const uint64_t un = (uint64_t)n, limit = UINT64_MAX - UINT64_MAX % un;
  uint64_t x = philox_word(w);
  while (x >= limit) x = philox_word(w);
  return (int64_t)(x % un);
}

static void sp_random_select(sp_random_words *w, int64_t total, int64_t count, int64_t *out) {
  int64_t n = 0;
  for (int64_t i = 0; n < count; i++) {
    if (sp_random_next_unit(w) * (double)(total - i) < (double)(count - n)) out[n++] = i;
  }
}

/* Adds the place to the set; returns whether it is new. Linear probing; the set has cap cells, a power of two, at least
 * half of which hold -1 (empty). */
static bool sp_random_set_add(int64_t *set, uint64_t cap, int64_t place) {
  uint64_t at = hash_mix(0, (uint64_t)place) & (cap - 1);
  while (set[at] >= 0 && set[at] != place) at = (at + 1) & (cap - 1);
  if (set[at] == place) return false;
  set[at] = place;
  return true;
}

static damo_status sp_random_choose_places(damo_ctx *ctx, sp_random_words *w, int64_t total, int64_t count,
                                           int64_t *out) {
  if (count > total / 4) {
    sp_random_select(w, total, count, out);
    return DAMO_OK;
  }
  uint64_t cap = 16;
  while (cap < 2 * (uint64_t)count) cap *= 2;
  int64_t *set = mem_alloc(ctx, (size_t)cap * sizeof *set);
  if (!set) return DAMO_EMEMORY;
  memset(set, 0xff, (size_t)cap * sizeof *set);
  /* Place n is drawn from Philox block n of the state and rejected words continue there, so the stream advances by
   * exactly `count` blocks. */
  for (int64_t n = 0; n < count; n++) {
    philox_words words = philox_words_of(w->state, (uint64_t)n);
    do out[n] = sp_random_next_below(&words, total);
    while (!sp_random_set_add(set, cap, out[n]));
  }
  philox_advance(w->state, (uint64_t)count);
  mem_free(ctx, set, (size_t)cap * sizeof *set);
  return DAMO_OK;
}

/* n values into a fresh vector. */
static damo_array *sp_random_draw_values(damo_ctx *ctx, sp_random_words *w, damo_dtype dtype, int64_t n) {
  damo_array *a = sparse_vector(ctx, dtype, n);
  if (!a) return NULL;
  const size_t size = dtype_size(dtype);
  for (int64_t i = 0; i < n; i++) {
    char *to = a->data + (size_t)i * size;
    const uint64_t one = 1, word = dtype == DAMO_BOOL ? one : dtype_is_discrete(dtype) ? sp_random_next_word(w) : 0;
    if (dtype_is_discrete(dtype)) {
      kernel_cast(DAMO_UINT64, dtype)(&word, to, 1);
      continue;
    }
    damo_c128 z = {.re = sp_random_next_unit(w)};
    if (dtype_is_complex(dtype)) z.im = sp_random_next_unit(w);
    kernel_cast(DAMO_COMPLEX128, dtype)(&z, to, 1);
    if (dtype == DAMO_FLOAT32 && *(float *)(void *)to >= 1) *(float *)(void *)to = 0x1.fffffep-1f;
  }
  return a;
}

static damo_status sp_random_check(damo_ctx *ctx, int64_t rows, int64_t cols, double density, int64_t *total) {
  DAMO_TRY(sparse_check_shape(ctx, "random", rows, cols));
  if (isnan(density)) return ctx_fail(ctx, DAMO_EVALUE, "random: density is not a number, expected 0 to 1");
  if (!(density >= 0 && density <= 1))
    return ctx_fail(ctx, DAMO_EVALUE, "random: density is %g, expected 0 to 1", density);
  if (rows == 0 || cols == 0) {
    *total = 0;
    return DAMO_OK;
  }
  if (i64_mul(rows, cols, total)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "random: shape (%lld, %lld) has more than 2^63 - 1 elements", (long long)rows,
                  (long long)cols);
}

damo_sparse *sparse_random(damo_ctx *ctx, int64_t rows, int64_t cols, double density, damo_dtype dtype,
                           damo_format format, philox_state *state) {
  int64_t total = 0;
  if (sp_random_check(ctx, rows, cols, density, &total) != DAMO_OK) return NULL;
  const double wanted = nearbyint(density * (double)total);
  const int64_t n = wanted >= (double)total ? total : (int64_t)wanted;
  sp_random_words w = {.state = state};
  damo_array *row = sparse_vector(ctx, DAMO_INT64, n), *col = row ? sparse_vector(ctx, DAMO_INT64, n) : NULL;
  damo_sparse *a = NULL;
  if (col && sp_random_choose_places(ctx, &w, total, n, (int64_t *)(void *)row->data) == DAMO_OK) {
    int64_t *r = (int64_t *)(void *)row->data, *c = (int64_t *)(void *)col->data;
    for (int64_t i = 0; i < n; i++) {
      c[i] = r[i] % cols;
      r[i] /= cols;
    }
    damo_array *value = sp_random_draw_values(ctx, &w, dtype, n);
    if (value) {
      a = sparse_from_places(ctx, format, dtype, (const int64_t[]){rows, cols}, n, r, c, value->data, DAMO_INT32,
                             false);
    }
    damo_release(value);
  }
  damo_release(row);
  damo_release(col);
  return a;
}
