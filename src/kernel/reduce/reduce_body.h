/* reduce_body: one reducer: an associative operation on one element type. Included with T, SUFFIX, LANES and a function
 * NAME(at_op)(a, b). BEATS, if defined: the operator that tells which of two numbers it returns, > or <, where neither is
 * nan. OPERATOR, if defined: the operation, + or *. With either there are `pair` and `quad`. `reducer` in kernel_int.h has
 * the contract of the functions. If X is defined, elements have that type, the operation is applied to
 * reduce_at_term_<SUFFIX>(x), of type T, and there is no `rows` and no `lane`. */
#ifdef X
#define TERM_OF(x) NAME(at_term)(x)
#else
#define X T
#define TERM_OF(x) (x)
#define HAS_ROWS
#endif

/* Folds all whole groups of LANES elements of x into lanes, which stay in registers. Returns the number of elements. */
static inline int64_t NAME(groups)(const X *x, int64_t n, T *lanes) {
  T acc[LANES];
  int64_t i = LANES;
  for (int l = 0; l < LANES; l++) acc[l] = TERM_OF(x[l]);
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++) acc[l] = NAME(at_op)(acc[l], TERM_OF(x[i + l]));
  for (int l = 0; l < LANES; l++) lanes[l] = acc[l];
  return i;
}

/* Folds all lanes into one, by halves. */
static inline T NAME(fold)(T *acc) {
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) acc[l] = NAME(at_op)(acc[l], acc[l + half]);
  return acc[0];
}

#if defined(BEATS) || defined(OPERATOR)
/* Vectors of the instruction set's own length: compilers split longer ones badly. */
typedef T NAME(vector) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
#endif

#ifdef OPERATOR
#define TERM(x, m) (x)
#include "chains_body.h"
#undef TERM

/* Eight lanes of one vector of columns stay in registers for all their rows. */
static void NAME(columns)(void *into, size_t pitch, const char *const *rows, int64_t n, int64_t offset, int64_t width,
                          bool begin) {
  enum { IN_VECTOR = VECTOR_BYTES / sizeof(T), TOGETHER = 8 };
  char *lanes = into;
  int64_t j = 0;
  for (; j + IN_VECTOR <= width; j += IN_VECTOR) {
    const size_t at = (size_t)offset + (size_t)j * sizeof(T);
    for (int first = 0; first < LANES; first += TOGETHER) {
      NAME(vector) acc[TOGETHER], *lane[TOGETHER];
      for (int l = 0; l < TOGETHER; l++) {
        lane[l] = (void *)(lanes + (size_t)(first + l) * pitch + (size_t)j * sizeof(T));
        acc[l] = begin ? *(const NAME(vector) *)(const void *)(rows[first + l] + at) : *lane[l];
      }
      for (int64_t i = (begin ? LANES : 0) + first; i < n; i += LANES) {
        for (int l = 0; l < TOGETHER; l++)
          acc[l] = acc[l] OPERATOR * (const NAME(vector) *)(const void *)(rows[i + l] + at);
      }
      for (int l = 0; l < TOGETHER; l++) *lane[l] = acc[l];
    }
  }
  for (int64_t i = 0; i < n && j < width; i++) {
    T *acc = (T *)(void *)(lanes + (size_t)(i % LANES) * pitch);
    const T *row = (const T *)(const void *)(rows[i] + offset);
    for (int64_t k = j; k < width; k++) acc[k] = begin && i < LANES ? row[k] : acc[k] OPERATOR row[k];
  }
}
#endif

#ifdef BEATS
typedef __typeof__((NAME(vector)){0} == (NAME(vector)){0}) NAME(truth);

/* Of two vectors, the better element in each place; of equal ones (zeros of both signs) that of b, as at_op has it. */
static inline NAME(vector) NAME(better)(NAME(vector) a, NAME(vector) b) {
  NAME(vector) r;
  for (size_t l = 0; l < VECTOR_BYTES / sizeof(T); l++)
    r[l] = a[l] BEATS b[l] ? a[l] : b[l]; /* one instruction, as x86 defines it */
  return r;
}

/* The fold of a block without nan, unless it is a zero; false if there is one. CHAINS groups of lanes are folded side by
 * side, to hide the latency of comparisons, in the order of memory, in which caches prefetch. Of equal elements a lane
 * keeps the last, so a zero's sign would depend on the chains: the caller finds it otherwise. */
static inline bool NAME(numbers)(const T *x, int64_t n, T *out) {
  enum { IN_VECTOR = VECTOR_BYTES / sizeof(T), VECTORS = LANES / IN_VECTOR, CHAINS = VECTOR_CHAINS };
  const NAME(vector) *at = (const void *)x;
  NAME(vector) acc[CHAINS][VECTORS];
  for (int c = 0; c < CHAINS; c++) {
    for (int v = 0; v < VECTORS; v++) acc[c][v] = at[c * VECTORS + v];
  }
  NAME(truth) bad = acc[0][0] != acc[0][0];
  int64_t i = 0; /* the first group is counted twice: for its nans */
  for (; (i + CHAINS) * LANES <= n; i += CHAINS, at += CHAINS * VECTORS) {
    for (int c = 0; c < CHAINS; c++) {
      for (int v = 0; v < VECTORS; v++) {
        const NAME(vector) y = at[c * VECTORS + v];
        acc[c][v] = NAME(better)(acc[c][v], y);
        bad |= y != y;
      }
    }
  }
  for (; (i + 1) * LANES <= n; i++, at += VECTORS) {
    for (int v = 0; v < VECTORS; v++) {
      const NAME(vector) y = at[v];
      acc[CHAINS - 1][v] = NAME(better)(acc[CHAINS - 1][v], y);
      bad |= y != y;
    }
  }
  if (n % LANES != 0) { /* the last elements, some of which are counted twice */
    at = (const void *)(x + n - LANES);
    for (int v = 0; v < VECTORS; v++) {
      acc[0][v] = NAME(better)(acc[0][v], at[v]);
      bad |= at[v] != at[v];
    }
  }
  for (int v = 0; v < VECTORS; v++) {
    for (int c = 1; c < CHAINS; c++) acc[0][v] = NAME(better)(acc[0][v], acc[c][v]);
    if (v > 0) acc[0][0] = NAME(better)(acc[0][0], acc[0][v]);
  }
  T lanes[IN_VECTOR];
  uint64_t any = 0, marks[sizeof bad / 8];
  memcpy(lanes, &acc[0][0], sizeof lanes);
  memcpy(marks, &bad, sizeof marks);
  for (size_t l = 0; l < sizeof bad / 8; l++) any |= marks[l];
  for (int half = IN_VECTOR / 2; half > 0; half /= 2) /* not at_op, which looks for nan */
    for (int l = 0; l < half; l++) lanes[l] = lanes[l] BEATS lanes[l + half] ? lanes[l] : lanes[l + half];
  *out = lanes[0];
  return any == 0 && lanes[0] != 0;
}

/* The elements before the first piece of four vectors that has one equal to y; all that are in whole pieces. */
static inline int64_t NAME(before)(const T *x, int64_t n, T y) {
  enum { IN_VECTOR = VECTOR_BYTES / sizeof(T), PIECE = 4 * IN_VECTOR };
  const NAME(vector) same = (NAME(vector)){0} + y;
  int64_t i = 0;
  for (; i + PIECE <= n; i += PIECE) {
    const NAME(vector) *v = (const void *)(x + i);
    const NAME(truth) equal = (v[0] == same) | (v[1] == same) | (v[2] == same) | (v[3] == same);
    uint64_t any = 0, half[sizeof equal / 8];
    memcpy(half, &equal, sizeof equal);
    for (size_t l = 0; l < sizeof equal / 8; l++) any |= half[l];
    if (any != 0) break;
  }
  return i;
}
#define BEFORE(x, n, y) NAME(before)(x, n, y)
#endif

static void NAME(block)(const void *block, int64_t n, void *out) {
  const X *x = block;
  T acc[LANES];
#ifdef BEATS
  if (n >= VECTOR_CHAINS * LANES && NAME(numbers)(x, n, out)) return;
#endif
  acc[0] = TERM_OF(x[0]);
  if (n >= LANES) {
    const int64_t i = NAME(groups)(x, n, acc);
    for (int64_t l = 0; i + l < n; l++) acc[l] = NAME(at_op)(acc[l], TERM_OF(x[i + l]));
    *(T *)out = NAME(fold)(acc);
    return;
  }
  for (int64_t l = 1; l < n; l++) acc[l] = TERM_OF(x[l]);
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half && l + half < n; l++) acc[l] = NAME(at_op)(acc[l], acc[l + half]);
  *(T *)out = acc[0];
}

#if defined(BEATS) || defined(OPERATOR)
/* The fold of a full block's fold and that of the rest, another block. */
static void NAME(pair)(const void *blocks, int64_t n, void *out) {
  const T *x = blocks;
#ifdef OPERATOR
  if (n - REDUCE_BLOCK >= LANES) {
    *(T *)out = NAME(chains)(x, n, 2, 0);
    return;
  }
#else
  if (NAME(numbers)(x, n, out)) return;
#endif
  T value[2];
  NAME(block)(x, REDUCE_BLOCK, &value[0]);
  NAME(block)(x + REDUCE_BLOCK, n - REDUCE_BLOCK, &value[1]);
  *(T *)out = NAME(at_op)(value[0], value[1]);
}

static void NAME(quad)(const void *blocks, int64_t n, void *out) {
  const T *x = blocks;
#ifdef OPERATOR
  if (VECTOR_BYTES > 16 && n - 3 * REDUCE_BLOCK >= LANES) { /* vectors of 16 bytes: there are too few registers */
    *(T *)out = NAME(chains)(x, n, 4, 0);
    return;
  }
#else
  if (NAME(numbers)(x, n, out)) return;
#endif
  T value[2];
  NAME(pair)(x, 2 * REDUCE_BLOCK, &value[0]);
  NAME(pair)(x + 2 * REDUCE_BLOCK, n - 2 * REDUCE_BLOCK, &value[1]);
  *(T *)out = NAME(at_op)(value[0], value[1]);
}
#endif

#ifdef HAS_ROWS
static void NAME(rows)(void *restrict into, const void *restrict row, int64_t width) {
  T *acc = into;
  const T *x = row;
  for (int64_t j = 0; j < width; j++) acc[j] = NAME(at_op)(acc[j], x[j]);
}

#define DEEP_TERM(x, m) (x)
#include "deep_body.h"
#undef DEEP_TERM

static void NAME(lane)(void *restrict into, const char *const *rows, int64_t step, int64_t n, int64_t width,
                       bool begin) {
  if (begin) {
    memcpy(into, rows[0], (size_t)width * sizeof(T));
    rows += step;
    n--;
  }
  NAME(deep)(into, rows, step, n, width, NULL);
}
#undef HAS_ROWS
#endif

#undef X
#undef TERM_OF
