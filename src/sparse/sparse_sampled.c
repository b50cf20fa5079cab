/* sparse_sampled: products of dense rows at a matrix's places, together with a product of the matrix and one of the two
 * dense operands. Nothing is allocated.
 *
 * Both read the same rows for the same entries: where there are vector loops for it, once. For that the matrix is
 * compressed along the product's rows; of one that is not the pattern is turned in the caller's room.
 */
#include "sparse_int.h"

#define LEAST_COLS 4   /* narrower blocks gain nothing from vectors across columns */
#define TURN_BYTES 256 /* rows from which on turning a matrix takes less than reading them twice */

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
  return (sparse_product){s->a, s->transposed, false, NULL, s->transposed ? s->rows : s->cols, NULL, s->y, s->turned};
}

size_t sparse_sampled_room(const sparse_sampled *s) {
  if (is_one_pass(s)) return is_direct(s) ? 0 : sparse_turned_room(s->a, true);
  const sparse_product p = product_of(s);
  return sparse_product_room(&p);
}

static void run_one_pass(const sparse_sampled *s, void *room) {
  const void *places = NULL;
  const sparse_raw a = is_direct(s) ? sparse_raw_of(s->a) : sparse_turn(s->a, s->turned, room, &places);
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
