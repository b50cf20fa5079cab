/* sparse_int: what the files of sparse share with each other only. */
#ifndef DAMO_SPARSE_SPARSE_INT_H
#define DAMO_SPARSE_SPARSE_INT_H

#include "sparse.h"
#include "kernel/reduce/reduce.h"

static inline const sparse_index_fns *index_fns_of(const damo_sparse *a) {
  return a->obj.ctx->isa->sparse.index[sparse_is_wide(a)];
}
static inline const sparse_move_fns *move_fns_of(const damo_sparse *a) {
  return a->obj.ctx->isa->sparse.move[sparse_is_wide(a)][sparse_dtype(a)];
}
static inline const sparse_compact_fns *compact_fns_of(const damo_sparse *a) {
  return a->obj.ctx->isa->sparse.compact[sparse_is_wide(a)][sparse_dtype(a)];
}
static inline const sparse_value_fns *value_fns_of(const damo_sparse *a) {
  return a->obj.ctx->isa->sparse.value[sparse_is_wide(a)][sparse_dtype(a)];
}

/* Parts of a caller's workspace begin at cache lines. */
static inline size_t workspace_aligned(size_t size) { return (size + 63) / 64 * 64; }

/* Finds out `sorted` and `unique` for a matrix just made. */
void sparse_find_flags(damo_sparse *a);
/* shape error unless both dimensions are 0 or more and the indptr of either fits in memory's address space. */
damo_status sparse_check_shape(damo_ctx *ctx, const char *who, int64_t rows, int64_t cols);
/* Nobody can write the vector any more (its maker may, through its pointer, until it is handed out). */
static inline void sparse_freeze(damo_array *v) {
  v->writeable = false;
  v->buf->obj.flags |= BUFFER_FROZEN;
}
/* An uninitialised vector. */
damo_array *sparse_vector(damo_ctx *ctx, damo_dtype dtype, int64_t n);

/* Both canonical in a's format, the promoted dtype and one index dtype, which counts the entries of both; owned. */
damo_status sparse_alike(damo_sparse *a, damo_sparse *b, damo_sparse **x, damo_sparse **y);

/* sparse_narrow_one for two matrices with one minor axis: numbered as a's entries occur; b's others are left out. Both
 * are replaced; they may be NULL after a failure. */
damo_status sparse_narrow(damo_sparse **a, damo_sparse **b);
/* Replaces the narrower one where their index dtypes differ. */
damo_status sparse_same_itype(damo_sparse **a, damo_sparse **b);

/* That of all stored entries, into memory for one element of its dtype; none may be asked for a max or min. */
damo_status sparse_reduce_entries(const damo_sparse *a, reduce_kind kind, void *out);

/* The bits of which an element that is not 0 has one at least (either half of one of 16 bytes): floats have a sign that
 * does not count. */
uint64_t sparse_value_bits(damo_dtype dtype);

#endif
