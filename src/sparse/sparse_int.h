/* sparse_int: what only the files of src/sparse share. */
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

static inline const sparse_part_fns *part_fns_of(const damo_sparse *a) {
  return a->obj.ctx->isa->sparse.part[sparse_is_wide(a)][sparse_dtype(a)];
}

/* Indices of either width. */
static inline int64_t sparse_index_get(const void *p, bool wide, int64_t i) {
  return wide ? ((const int64_t *)p)[i] : ((const int32_t *)p)[i];
}
static inline void sparse_index_set(void *p, bool wide, int64_t i, int64_t v) {
  if (wide) {
    ((int64_t *)p)[i] = v;
  } else {
    ((int32_t *)p)[i] = (int32_t)v;
  }
}

/* Rounds a size up to cache lines: parts of a caller's workspace begin at cache lines. */
static inline size_t workspace_aligned(size_t size) { return (size + 63) / 64 * 64; }

/* Finds and sets `sorted` and `unique` of a matrix just made. */
void sparse_find_flags(damo_sparse *a);
/* Shape error unless both dimensions are from 0 to 2^63 - 2, so that an indptr's length does not overflow. */
damo_status sparse_check_shape(damo_ctx *ctx, const char *who, int64_t rows, int64_t cols);
/* Makes the vector read-only for everybody (its maker may still write through its pointer until it hands the vector
 * out). */
static inline void sparse_freeze(damo_array *v) {
  damo_assert(v->obj.refs == 1);
  v->writeable = false;
  v->buf->obj.flags |= BUFFER_FROZEN;
}
/* An uninitialised vector. */
damo_array *sparse_vector(damo_ctx *ctx, damo_dtype dtype, int64_t n);
/* Sets a vector of int32 or int64 to 0, step, 2·step, … */
void sparse_count_up(damo_array *v, int64_t step);

/* a and b as *x and *y, owned: canonical, in a's format, the promoted dtype and one index dtype that can count the
 * entries of both. */
damo_status sparse_alike(damo_sparse *a, damo_sparse *b, damo_sparse **x, damo_sparse **y);

/* sparse_narrow_one for two matrices that share their minor axis: positions are renumbered over those that occur in a;
 * entries of b at other positions are left out. Both are replaced; they may be NULL after a failure. */
damo_status sparse_narrow(damo_sparse **a, damo_sparse **b);
/* Number of entries of the n major vectors that `at` lists; *inside: all positions are in range. Branch-free in the
 * data. */
int64_t sparse_count_listed(const damo_sparse *a, const int64_t *at, int64_t n, bool *inside);
/* If the index dtypes differ, replaces the int32 matrix by one with int64 indices. */
damo_status sparse_same_itype(damo_sparse **a, damo_sparse **b);

/* The major vectors of a matrix, divided among threads. */
typedef struct sparse_division {
  sparse_raw a;
  bool wide;
  int64_t n; /* shares; 1: they are not divided */
} sparse_division;
sparse_division sparse_divide(const thread_pool *pool, const sparse_raw *a, bool wide);
/* The vectors of a share, which may be none; returns the number of the first. Their entries keep the positions that they
 * have in the matrix. */
int64_t sparse_division_rows(const sparse_division *s, int64_t share, sparse_raw *rows);

/* Computes something for the major vectors of `rows`, those of a matrix from `first` on. */
typedef void (*sparse_rows_fn)(const void *arg, const sparse_raw *rows, int64_t first);
/* Runs fn over all major vectors of a, divided among the context's threads if it takes about so many nanoseconds that this
 * pays. wide: int64 indices. */
void sparse_run_rows(damo_ctx *ctx, double ns, const sparse_raw *a, bool wide, sparse_rows_fn fn, const void *arg);
/* The major vectors of one share of a result, made in memory of their own: `rows` of them from `first` on, with n entries.
 * ptr has their indptr, which begins with 0. */
typedef struct sparse_piece {
  int64_t first, rows, n;
  int64_t before; /* entries of the pieces before it; set by sparse_join */
  const void *ptr, *indices, *data;
} sparse_piece;
/* A matrix of the pieces, which are all its major vectors in their order. More entries than the index type can count must
 * have been excluded. NULL: no memory. */
damo_sparse *sparse_join(damo_ctx *ctx, thread_pool *pool, damo_format format, damo_dtype dtype, damo_dtype itype,
                         const int64_t shape[2], sparse_piece *pieces, int64_t n_pieces);

#define ENTRY_NS 1.0   /* about, of one entry in a product */
#define COLUMN_NS 0.25 /* for each column beside the first */

/* The reduction of all stored entries, into memory for one element of its dtype. REDUCE_MAX and REDUCE_MIN require at
 * least one entry. */
damo_status sparse_reduce_entries(const damo_sparse *a, reduce_kind kind, void *out);

/* The nonzero mask of a dtype: an element is not 0 if (word & mask) != 0 for its 64-bit word, or for either word of a
 * 16-byte element. It leaves out the sign of floats, so -0 counts as 0. */
uint64_t sparse_value_bits(damo_dtype dtype);

#endif
