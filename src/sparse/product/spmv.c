/* spmv: products y = alpha·op(A)·x + z of a sparse matrix with dense vectors and matrices (spmv, spmm), and of two
 * sparse matrices, into a given dense array. The dense products allocate nothing.
 *
 * The kernels require rows of unit stride (or, for single columns, unit stride along the column). Operands with other
 * layouts are packed into the caller's workspace, a block of columns at a time. x·A is computed as (Aᵀ·xᵀ)ᵀ by
 * exchanging strides. If the result runs along the minor axis of A, entries scatter into it; if its rows are long, A is
 * first transposed in the workspace, so that each row of the result is written once.
 */
#include <string.h>

#include "sparse/sparse_int.h"
#include "kernel/kernel.h"

#define VECTOR_COLS 2           /* narrower blocks gain nothing from vectors along their rows */
#define BLOCK_COLS 32           /* columns packed at a time */
#define PACK_MIN 4              /* fewer columns than this, each of unit stride, are computed column by column */
#define TILE_ROWS 64            /* rows packed at a time: a tile stays in the L1 cache */
#define TRANSPOSE_ROW_BYTES 256 /* from this row size of the result on, A is transposed instead of scattering */
#define TRANSPOSE_BLOCK_MOST (32 << 20)
#define SHARE_COLS 8 /* of a share of columns, at least: cache lines that no other thread writes */

/* Entry (i, j) lies at data + i·rs + j·cs. */
typedef struct sp_dense_view {
  char *data;
  int64_t rows, cols, rs, cs;
} sp_dense_view;

static sp_dense_view sp_dense_view_of(const damo_array *a, bool transposed) {
  const int64_t size = (int64_t)dtype_size(array_dtype(a)), *shape = array_shape(a), *step = array_strides(a);
  if (a->ndim == 1) return (sp_dense_view){a->data, shape[0], 1, step[0], size};
  return transposed ? (sp_dense_view){a->data, shape[1], shape[0], step[1], step[0]}
                    : (sp_dense_view){a->data, shape[0], shape[1], step[0], step[1]};
}

static sp_dense_view sp_view_columns(sp_dense_view m, int64_t first, int64_t n) {
  m.data += first * m.cs;
  m.cols = n;
  return m;
}

/* Whether rows have unit stride and the row stride is a multiple of the element size. */
static bool sp_view_in_rows(const sp_dense_view *m, int64_t size) {
  const bool unit = m->cols <= 1 || m->cs == size;
  return unit && m->rs % size == 0 && (uintptr_t)m->data % (size_t)size == 0;
}

static bool sp_view_is_column(const sp_dense_view *m, int64_t size) {
  return (m->rows <= 1 || m->rs == size) && (uintptr_t)m->data % (size_t)size == 0;
}

static sparse_block sp_view_block(const sp_dense_view *m, int64_t size) {
  return (sparse_block){m->data, m->cols, m->rs / size};
}

/* Copies from one layout to the other, in tiles. */
static void sp_view_move(const sp_dense_view *from, const sp_dense_view *to, int64_t size) {
  for (int64_t i = 0; i < from->rows; i += TILE_ROWS) {
    const int64_t n = from->rows - i < TILE_ROWS ? from->rows - i : TILE_ROWS;
    for (int64_t j = 0; j < from->cols; j++) {
      kernel_copy_strided(from->data + i * from->rs + j * from->cs, from->rs, to->data + i * to->rs + j * to->cs,
                          to->rs, n, (size_t)size);
    }
  }
}

static void sp_view_move_rows(const sp_dense_view *from, const sp_dense_view *to, int64_t size) {
  const size_t row = (size_t)(from->cols * size);
  for (int64_t i = 0; i < from->rows; i++) memcpy(to->data + i * to->rs, from->data + i * from->rs, row);
}

static void sp_view_copy(const sp_dense_view *from, const sp_dense_view *to, int64_t size) {
  const bool rows = (from->cols <= 1 || from->cs == size) && (to->cols <= 1 || to->cs == size) && from->cols > 1;
  (rows ? sp_view_move_rows : sp_view_move)(from, to, size);
}

static void sp_view_clear(const sp_dense_view *m, int64_t size) {
  if (m->cols == 1 || m->cs == size) {
    const size_t row = (size_t)(m->cols * size);
    if (m->rs == (int64_t)row) {
      memset(m->data, 0, row * (size_t)m->rows);
    } else {
      for (int64_t i = 0; i < m->rows; i++) memset(m->data + i * m->rs, 0, row);
    }
    return;
  }
  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->cols; j++) memset(m->data + i * m->rs + j * m->cs, 0, (size_t)size);
  }
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* One product Y = alpha·op(A)·X (+ Z), as the loops see it. */
typedef struct sp_product_plan {
  sparse_raw a;
  const sparse_value_fns *plain;
  const sparse_dense_fns *vectors; /* or NULL */
  bool across;                     /* the result runs along the minor axis: entries scatter into it */
  const void *alpha;
  int64_t size;
  damo_ctx *ctx;
  bool wide;
  double ns; /* about, of one column */
} sp_product_plan;

/* A product as shares of it see it. */
typedef struct sp_product_blocks {
  const sp_product_plan *plan;
  bool vectors;
  sparse_block x, y, z;
  bool has_z;
  int64_t n; /* shares of columns */
  bool cut;  /* the shares run on one thread */
} sp_product_blocks;

static sparse_block sp_block_part(const sparse_block *b, int64_t at, int64_t cols) {
  return (sparse_block){(char *)b->data + at, cols, b->stride};
}

/* Rows of Y = alpha·A·X + Z. */
static void sp_product_share_rows(const void *arg, const sparse_raw *rows, int64_t first) {
  const sp_product_blocks *b = arg;
  const sp_product_plan *w = b->plan;
  const sparse_block y = sp_block_part(&b->y, first * b->y.stride * w->size, b->y.cols),
                     z = sp_block_part(&b->z, first * b->z.stride * w->size, b->z.cols);
  (b->vectors ? w->vectors->matmat : w->plain->matmat)(rows, w->alpha, &b->x, b->has_z ? &z : NULL, &y);
}

/* Columns of Y += alpha·Aᵀ·X, whose rows no two threads may write. */
static void sp_product_share_columns(void *arg, int64_t share, int worker) {
  const sp_product_blocks *b = arg;
  const sp_product_plan *w = b->plan;
  const int64_t from = pool_share_first(b->y.cols, share, b->n), end = pool_share_first(b->y.cols, share + 1, b->n);
  const sparse_block x = sp_block_part(&b->x, from * w->size, end - from),
                     y = sp_block_part(&b->y, from * w->size, end - from);
  (void)worker;
  sparse_raw a = w->a;
  if (!b->cut) a.ctx = NULL;
  (b->vectors ? w->vectors->matmat_t : w->plain->matmat_t)(&a, w->alpha, &x, &y);
}

/* Product with x, y and z laid out in rows. z: NULL, y itself, or not overlapping y. */
static void sp_product_run_rows(const sp_product_plan *w, const sp_dense_view *x, const sp_dense_view *z,
                                const sp_dense_view *y) {
  const sparse_block bx = sp_view_block(x, w->size), by = sp_view_block(y, w->size);
  const sparse_block bz = z ? sp_view_block(z, w->size) : by;
  const bool vectors = w->vectors && y->cols >= VECTOR_COLS;
  sp_product_blocks b = {w, vectors, bx, by, bz, z != NULL, 1, true};
  const double ns = w->ns * (1 + COLUMN_NS * (double)y->cols);
  if (!w->across) {
    sparse_run_rows(w->ctx, ns, &w->a, w->wide, sp_product_share_rows, &b);
    return;
  }
  if (!z) sp_view_clear(y, w->size);
  if (z && z->data != y->data) sp_view_copy(z, y, w->size);
  thread_pool *pool = ctx_pool(w->ctx, ns);
  b.n = pool_shares(pool, y->cols, SHARE_COLS);
  if (b.n > pool_size(pool)) b.n = pool_size(pool); /* each share reads all of A */
  b.cut = pool == NULL || pool_cuts(pool);
  pool_run(pool, b.n, sp_product_share_columns, &b);
}

/* Rows of y = alpha·A·x, plus y. */
typedef struct sp_product_column {
  const sp_product_plan *plan;
  const char *x;
  char *y;
  bool add;
} sp_product_column;

static void sp_product_share_column(const void *arg, const sparse_raw *rows, int64_t first) {
  const sp_product_column *c = arg;
  c->plan->plain->matvec(rows, c->plan->alpha, c->x, c->y + first * c->plan->size, c->add);
}

static void sp_product_run_column(const sp_product_plan *w, const sp_dense_view *x, const sp_dense_view *z,
                                  const sp_dense_view *y) {
  if (z && z->data != y->data) sp_view_copy(z, y, w->size);
  if (!w->across) {
    const sp_product_column c = {w, x->data, y->data, z != NULL};
    sparse_run_rows(w->ctx, w->ns, &w->a, w->wide, sp_product_share_column, &c);
    return;
  }
  if (!z) memset(y->data, 0, (size_t)(y->rows * w->size));
  w->plain->matvec_t(&w->a, w->alpha, x->data, y->data);
}

/* How X and Y are packed into the workspace. */
typedef struct sp_product_packing {
  bool by_column; /* column by column with matvec kernels: X and Y have unit stride along columns */
  bool x, y;      /* whether each is packed */
  int64_t cols;   /* at a time */
} sp_product_packing;

static sp_product_packing sp_product_packing_of(const sp_dense_view *x, const sp_dense_view *y, int64_t size) {
  if (sp_view_is_column(x, size) && sp_view_is_column(y, size) && y->cols < PACK_MIN)
    return (sp_product_packing){true, false, false, 1};
  const sp_product_packing p = {false, !sp_view_in_rows(x, size), !sp_view_in_rows(y, size), 0};
  const bool direct = !p.x && !p.y;
  return (sp_product_packing){false, p.x, p.y, direct || y->cols < BLOCK_COLS ? y->cols : BLOCK_COLS};
}

/* The block that the product is added to: z itself, or a copy of z in y if z's layout does not allow direct use or y is
 * packed. */
static const sp_dense_view *sp_product_start(const sp_product_packing *k, const sp_dense_view *z,
                                             const sp_dense_view *y, int64_t size) {
  if (z->data == y->data || (!k->y && sp_view_in_rows(z, size))) return z;
  sp_view_copy(z, y, size);
  return y;
}

static void sp_product_run_packed(const sp_product_plan *w, const sp_product_packing *k, const sp_dense_view *x,
                                  const sp_dense_view *z, const sp_dense_view *y, char *workspace) {
  for (int64_t j = 0; j < y->cols; j += k->cols) {
    const int64_t n = y->cols - j < k->cols ? y->cols - j : k->cols, row = n * w->size;
    const sp_dense_view xj = sp_view_columns(*x, j, n), yj = sp_view_columns(*y, j, n),
                        zj = z ? sp_view_columns(*z, j, n) : yj;
    const sp_dense_view px = k->x ? (sp_dense_view){workspace, x->rows, n, row, w->size} : xj;
    const sp_dense_view py =
        k->y ? (sp_dense_view){workspace + (k->x ? x->rows * row : 0), y->rows, n, row, w->size} : yj;
    if (k->x) sp_view_copy(&xj, &px, w->size);
    const sp_dense_view *start = z ? sp_product_start(k, &zj, &py, w->size) : NULL;
    if (k->by_column || (n == 1 && px.rs == w->size && py.rs == w->size)) {
      sp_product_run_column(w, &px, start, &py);
    } else {
      sp_product_run_rows(w, &px, start, &py);
    }
    if (k->y) sp_view_copy(&py, &yj, w->size);
  }
}

/* ---- Transposition ----------------------------------------------------------------------------------------------- */

/* Whether to transpose A first. When entries scatter into the result, a row of it is read and written once for each
 * entry; with A compressed along its other axis, once in all, and sums keep their order. It pays if rows are long. It
 * does not pay if the result exceeds all caches: there the transposition takes as long as it saves. */
static bool sp_product_transposes(const sp_product_plan *w, const sp_dense_view *y) {
  const int64_t row = y->cols * w->size;
  return w->across && w->vectors && row >= TRANSPOSE_ROW_BYTES && y->rows <= TRANSPOSE_BLOCK_MOST / row;
}

static size_t sp_product_transpose_size(const sparse_product *p) {
  return sparse_transpose_workspace(p->a, p->cache != NULL);
}

static size_t sp_product_values_size(const damo_sparse *a) {
  return workspace_aligned((size_t)sparse_nnz(a) * dtype_size(sparse_dtype(a)));
}

/* Transposes w->a into the workspace; returns the rest of the workspace. */
static char *sp_product_transpose(sp_product_plan *w, const sparse_product *p, char *workspace) {
  char *values = workspace + sp_product_transpose_size(p);
  w->a = sparse_transpose_values(p->a, p->cache, workspace, values);
  w->across = false;
  return values + sp_product_values_size(p->a);
}

/* ---- With dense -------------------------------------------------------------------------------------------------- */

static sp_product_plan sp_product_plan_of(const sparse_product *p) {
  const damo_sparse *a = p->a;
  const bool transposed = p->transposed != p->left; /* op(A)ᵀ if x stands on the left */
  const sparse_dense_fns *vectors = &a->obj.ctx->isa->sparse.dense[sparse_is_wide(a)][sparse_dtype(a)];
  return (sp_product_plan){.a = sparse_raw_of(a),
                           .plain = value_fns_of(a),
                           .vectors = vectors->matmat ? vectors : NULL,
                           .across = transposed == (a->format == DAMO_CSR),
                           .alpha = p->alpha,
                           .size = (int64_t)dtype_size(sparse_dtype(a)),
                           .ctx = a->obj.ctx,
                           .wide = sparse_is_wide(a),
                           .ns = ENTRY_NS * (double)sparse_nnz(a)};
}

size_t sparse_product_workspace(const sparse_product *p) {
  const sp_product_plan w = sp_product_plan_of(p);
  const sp_dense_view x = sp_dense_view_of(p->x, p->left), y = sp_dense_view_of(p->y, p->left);
  const sp_product_packing k = sp_product_packing_of(&x, &y, w.size);
  const size_t transpose_size =
      sp_product_transposes(&w, &y) ? sp_product_transpose_size(p) + sp_product_values_size(p->a) : 0;
  return transpose_size + (size_t)(((k.x ? x.rows : 0) + (k.y ? y.rows : 0)) * k.cols * w.size);
}

void sparse_product_run(const sparse_product *p, void *workspace) {
  sp_product_plan w = sp_product_plan_of(p);
  const sp_dense_view x = sp_dense_view_of(p->x, p->left), y = sp_dense_view_of(p->y, p->left);
  const sp_dense_view z = p->z ? sp_dense_view_of(p->z, p->left) : y;
  damo_assert(x.cols == y.cols && z.rows == y.rows && z.cols == y.cols);
  const sp_product_packing k = sp_product_packing_of(&x, &y, w.size);
  if (sp_product_transposes(&w, &y)) {
    workspace = sp_product_transpose(&w, p, workspace);
  } else if (p->cache) { /* for an empty result too: a workspace freed and allocated again may have the same address */
    p->cache->workspace = NULL;
  }
  if (y.cols == 0 || y.rows == 0) return;
  sp_product_run_packed(&w, &k, &x, p->z ? &z : NULL, &y, workspace);
}

/* ---- Two sparse operands ----------------------------------------------------------------------------------------- */

/* Converts b to a's format and both to one index dtype. If the conversion would need an array along an inner axis that
 * is far longer than nnz, that axis is renumbered first. */
static damo_status sp_product_align(damo_sparse **a, damo_sparse **b) {
  if ((*a)->format == DAMO_CSR && (*b)->format == DAMO_CSC) DAMO_TRY(sparse_narrow(a, b));
  damo_sparse *same = sparse_to_format(*b, sparse_format(*a));
  if (!same) return damo_error_status((*a)->obj.ctx);
  damo_release(*b);
  *b = same;
  return sparse_same_itype(a, b);
}

damo_status sparse_add_product(damo_sparse *a, damo_sparse *b, const void *alpha, damo_array *y) {
  damo_sparse *x = damo_retain(a), *z = damo_retain(b);
  const damo_status s = sp_product_align(&x, &z);
  if (s == DAMO_OK) {
    /* The csc of A·B is the csr of Bᵀ·Aᵀ. */
    const bool csr = x->format == DAMO_CSR;
    damo_assert(x->format == z->format && sparse_itype(x) == sparse_itype(z));
    const sparse_raw first = sparse_raw_of(csr ? x : z), second = sparse_raw_of(csr ? z : x);
    const int64_t *step = array_strides(y);
    value_fns_of(x)->add_product(&first, &second, alpha, y->data, step[!csr], step[csr]);
  }
  damo_release(x);
  damo_release(z);
  return s;
}

/* Converts x and y to csr and all three to one index dtype, for the kernel sample_product: p's major positions select
 * rows of the one, its minor positions rows of the other. Long axes are renumbered first. */
static damo_status sp_sample_prepare(damo_sparse **p, damo_sparse **x, damo_sparse **y) {
  damo_sparse **along = (*p)->format == DAMO_CSR ? x : y, **across = along == x ? y : x;
  if ((*across)->format == DAMO_CSC) { /* its rows are renumbered together with p's minor axis */
    DAMO_TRY(sparse_narrow(p, across));
  }
  damo_sparse *l = sparse_to_format(*along, DAMO_CSR), *c = l ? sparse_to_format(*across, DAMO_CSR) : NULL;
  if (l) damo_release(*along), *along = l;
  if (c) damo_release(*across), *across = c;
  if (!c) return damo_error_status((*p)->obj.ctx);
  DAMO_TRY(sparse_narrow(x, y));
  DAMO_TRY(sparse_same_itype(x, y));
  DAMO_TRY(sparse_same_itype(p, x));
  return sparse_same_itype(x, y);
}

static damo_array *sp_sample_run(const damo_sparse *p, const damo_sparse *x, const damo_sparse *y) {
  damo_ctx *ctx = p->obj.ctx;
  const bool csr = p->format == DAMO_CSR;
  const sparse_raw at = sparse_raw_of(p), major = sparse_raw_of(csr ? x : y), minor = sparse_raw_of(csr ? y : x);
  damo_assert(x->format == DAMO_CSR && y->format == DAMO_CSR && major.minor == minor.minor);
  damo_assert(at.major == major.major && at.minor == minor.major);
  damo_array *out = sparse_vector(ctx, sparse_dtype(x), sparse_nnz(p));
  damo_array *row = out ? sparse_vector(ctx, sparse_dtype(x), major.minor) : NULL;
  damo_array *mark = row ? sparse_vector(ctx, sparse_itype(x), major.minor) : NULL;
  if (mark) {
    memset(mark->data, 0xff, (size_t)major.minor * dtype_size(sparse_itype(x)));
    value_fns_of(x)->sample_product(&at, &major, &minor, row->data, mark->data, out->data);
  } else {
    damo_release(out);
    out = NULL;
  }
  damo_release(row);
  damo_release(mark);
  return out;
}

damo_array *sparse_sample_sparse(damo_sparse *p, damo_sparse *x, damo_sparse *y) {
  const damo_dtype dtype = dtype_promote(sparse_dtype(x), sparse_dtype(y));
  damo_sparse *at = damo_retain(p), *a = sparse_cast(x, dtype), *b = a ? sparse_cast(y, dtype) : NULL;
  damo_array *out = b && sp_sample_prepare(&at, &a, &b) == DAMO_OK ? sp_sample_run(at, a, b) : NULL;
  damo_release(at);
  damo_release(a);
  damo_release(b);
  return out;
}
