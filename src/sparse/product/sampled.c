/* sampled: an sddmm on a matrix's pattern, together with a product of the matrix and one of the two dense operands.
 * Nothing is allocated.
 *
 * Both read the same rows of the dense operands for the same entries, so where vector kernels exist one pass computes
 * both and reads each row once. That pass needs the matrix compressed along the rows of the product; if it is
 * compressed along the other axis, its pattern is transposed in the caller's workspace and cached there.
 */
#include "sparse/sparse_int.h"

#define SAMPLED_LEAST_COLS 4 /* narrower blocks gain nothing from vectors along their rows */
/* from this row size on, transposing the matrix costs less than reading the rows twice */
#define SAMPLED_TRANSPOSE_BYTES 256

static sparse_block sp_sampled_block_of(const damo_array *a) {
  return (sparse_block){a->data, array_shape(a)[1], array_shape(a)[1]};
}

/* Whether the matrix is compressed along the rows of the product. */
static bool sp_sampled_is_direct(const sparse_sampled *s) { return (s->a->format == DAMO_CSR) != s->transposed; }

static const sparse_dense_fns *sp_sampled_vectors(const sparse_sampled *s) {
  return &s->a->obj.ctx->isa->sparse.dense[sparse_is_wide(s->a)][sparse_dtype(s->a)];
}

static bool sp_sampled_is_one_pass(const sparse_sampled *s) {
  const sparse_dense_fns *v = sp_sampled_vectors(s);
  const int64_t cols = array_shape(s->y)[1], row = cols * (int64_t)dtype_size(sparse_dtype(s->a));
  return v->both && cols >= SAMPLED_LEAST_COLS && (sp_sampled_is_direct(s) || row >= SAMPLED_TRANSPOSE_BYTES);
}

static sparse_product sp_sampled_product(const sparse_sampled *s) {
  return (sparse_product){s->a, s->transposed, false, NULL, s->transposed ? s->rows : s->cols, NULL, s->y, s->cache};
}

size_t sparse_sampled_workspace(const sparse_sampled *s) {
  if (sp_sampled_is_one_pass(s)) return sp_sampled_is_direct(s) ? 0 : sparse_transpose_workspace(s->a, true);
  const sparse_product p = sp_sampled_product(s);
  return sparse_product_workspace(&p);
}

typedef struct sp_sampled_blocks {
  const sparse_sampled *s;
  const void *places;
  sparse_block along, across, y;
  int64_t size;
} sp_sampled_blocks;

static void sp_sampled_share(const void *arg, const sparse_raw *rows, int64_t first) {
  const sp_sampled_blocks *b = arg;
  const sparse_block along = {(char *)b->along.data + first * b->along.stride * b->size, b->along.cols,
                              b->along.stride},
                     y = {(char *)b->y.data + first * b->y.stride * b->size, b->y.cols, b->y.stride};
  sp_sampled_vectors(b->s)->both(rows, b->places, &along, &b->across, b->s->samples, &y);
}

static void sp_sampled_run_one_pass(const sparse_sampled *s, void *workspace) {
  const void *places = NULL;
  const sparse_raw a =
      sp_sampled_is_direct(s) ? sparse_raw_of(s->a) : sparse_transpose_raw(s->a, s->cache, workspace, &places);
  const sp_sampled_blocks b = {s,
                               places,
                               sp_sampled_block_of(s->transposed ? s->cols : s->rows),
                               sp_sampled_block_of(s->transposed ? s->rows : s->cols),
                               sp_sampled_block_of(s->y),
                               (int64_t)dtype_size(sparse_dtype(s->a))};
  const double ns = ENTRY_NS * (double)sparse_nnz(s->a) * (1 + 2 * COLUMN_NS * (double)b.y.cols);
  sparse_run_rows(s->a->obj.ctx, ns, &a, sparse_is_wide(s->a), sp_sampled_share, &b);
}

void sparse_sampled_run(const sparse_sampled *s, void *workspace) {
  if (sp_sampled_is_one_pass(s)) {
    sp_sampled_run_one_pass(s, workspace);
    return;
  }
  const bool csr = s->a->format == DAMO_CSR;
  const sparse_raw at = sparse_raw_of(s->a);
  const sparse_product p = sp_sampled_product(s);
  sparse_sample_rows(&at, sparse_is_wide(s->a), csr ? s->rows : s->cols, csr ? s->cols : s->rows, s->samples);
  sparse_product_run(&p, workspace);
}
