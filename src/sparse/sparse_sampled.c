/* sparse_sampled: products of dense rows at a matrix's places, together with a product of the matrix and one of the two
 * dense operands. Nothing is allocated.
 *
 * Both read the same rows for the same entries: where there are vector loops for it, once. For that the matrix is
 * compressed along the product's rows; one that is not is turned in the caller's room, along with its places.
 */
#include "sparse_int.h"

#define LEAST_COLS 4   /* narrower blocks gain nothing from vectors across columns */
#define TURN_BYTES 256 /* rows from which on turning a matrix takes less than reading them twice */
#define ROOM_ALIGN 64

static sparse_block block_of(const damo_array *a) {
  return (sparse_block){a->data, array_shape(a)[1], array_shape(a)[1]};
}

/* Compressed along the product's rows. */
static bool is_direct(const sparse_sampled *s) { return (s->a->format == DAMO_CSR) != s->transposed; }

static const sparse_dense_fns *vectors_of(const sparse_sampled *s) {
  return kernel_sparse_dense(sparse_is_wide(s->a), sparse_dtype(s->a));
}

static bool is_one_pass(const sparse_sampled *s) {
  const sparse_dense_fns *v = vectors_of(s);
  const int64_t cols = array_shape(s->y)[1], row = cols * (int64_t)dtype_size(sparse_dtype(s->a));
  return v && v->both && cols >= LEAST_COLS && (is_direct(s) || row >= TURN_BYTES);
}

static sparse_product product_of(const sparse_sampled *s) {
  return (sparse_product){s->a, s->transposed, false, NULL, s->transposed ? s->rows : s->cols, NULL, s->y};
}

static size_t aligned(size_t size) { return (size + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN; }

/* Bytes of a vector of an index for each line of the turned matrix, and one more; of one for each entry. */
static size_t lines_size(const damo_sparse *a) {
  return aligned(((size_t)sparse_minor(a) + 1) * dtype_size(sparse_itype(a)));
}

static size_t entries_size(const damo_sparse *a) {
  return aligned((size_t)sparse_nnz(a) * dtype_size(sparse_itype(a)));
}

size_t sparse_sampled_room(const sparse_sampled *s) {
  if (is_one_pass(s)) return is_direct(s) ? 0 : lines_size(s->a) + 3 * entries_size(s->a);
  const sparse_product p = product_of(s);
  return sparse_product_room(&p);
}

static void number(const damo_sparse *a, void *out) {
  const int64_t n = sparse_nnz(a);
  if (sparse_is_wide(a)) {
    for (int64_t p = 0; p < n; p++) ((int64_t *)out)[p] = p;
  } else {
    for (int64_t p = 0; p < n; p++) ((int32_t *)out)[p] = (int32_t)p;
  }
}

/* a's entries along the other axis, and for each where its value stands. */
static sparse_raw turned(const damo_sparse *a, char *room, const void **places) {
  char *idx = room + lines_size(a), *at = idx + entries_size(a), *numbers = at + entries_size(a);
  sparse_raw raw = sparse_raw_of(a);
  number(a, numbers);
  raw.data = numbers;
  kernel_sparse_move(sparse_is_wide(a), dtype_size(sparse_itype(a)))->swap(&raw, room, idx, at);
  *places = at;
  return (sparse_raw){raw.minor, raw.major, room, idx, a->data->data};
}

static void run_one_pass(const sparse_sampled *s, void *room) {
  const void *places = NULL;
  const sparse_raw a = is_direct(s) ? sparse_raw_of(s->a) : turned(s->a, room, &places);
  const sparse_block lines = block_of(s->transposed ? s->cols : s->rows),
                     across = block_of(s->transposed ? s->rows : s->cols), y = block_of(s->y);
  vectors_of(s)->both(&a, places, &lines, &across, s->samples, &y);
}

void sparse_sampled_run(const sparse_sampled *s, void *room) {
  if (is_one_pass(s)) {
    run_one_pass(s, room);
    return;
  }
  const bool csr = s->a->format == DAMO_CSR;
  const sparse_raw at = sparse_raw_of(s->a);
  const sparse_product p = product_of(s);
  sparse_sample_rows(&at, sparse_is_wide(s->a), csr ? s->rows : s->cols, csr ? s->cols : s->rows, s->samples);
  sparse_product_run(&p, room);
}
