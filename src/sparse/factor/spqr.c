/* spqr: multifrontal QR (SuiteSparseQR) for least squares, with numerical rank. int64 indices only. GPL. */
#include "factor_int.h"

#if DAMO_GPL

#include <suitesparse/SuiteSparseQR_C.h>

typedef struct spqr {
  cholmod_common common;
  SuiteSparseQR_C_factorization *qr;
  SuiteSparse_long *p, *i; /* copies of indptr and indices if M has int32 indices */
} spqr;

static void spqr_free(damo_factor *f) {
  spqr *s = f->state;
  damo_ctx *ctx = f->obj.ctx;
  if (!s) return;
  if (s->qr) SuiteSparseQR_C_free(&s->qr, &s->common);
  cholmod_l_finish(&s->common);
  mem_free(ctx, s->p, ((size_t)f->m.cols + 1) * sizeof *s->p);
  mem_free(ctx, s->i, (size_t)f->m.nnz * sizeof *s->i);
  mem_free(ctx, s, sizeof *s);
  f->state = NULL;
}

static cholmod_sparse spqr_matrix(const damo_factor *f) {
  const factor_matrix *m = &f->m;
  const spqr *s = f->state;
  return (cholmod_sparse){.nrow = (size_t)m->rows,
                          .ncol = (size_t)m->cols,
                          .nzmax = (size_t)m->nnz,
                          .p = m->wide ? (void *)m->indptr->data : s->p,
                          .i = m->wide ? (void *)m->indices->data : s->i,
                          .x = m->x,
                          .stype = 0,
                          .itype = CHOLMOD_LONG,
                          .xtype = m->cplx ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}

static cholmod_dense spqr_block(const damo_factor *f, int64_t rows, int64_t k, const double *x) {
  return (cholmod_dense){.nrow = (size_t)rows,
                         .ncol = (size_t)k,
                         .nzmax = (size_t)(rows * k),
                         .d = (size_t)rows,
                         .x = (void *)(uintptr_t)x,
                         .xtype = f->m.cplx ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
}

static damo_status spqr_status(damo_factor *f, const void *made) {
  const int status = ((spqr *)f->state)->common.status;
  if (status == CHOLMOD_TOO_LARGE) return factor_fail_size(f);
  if (status == CHOLMOD_OUT_OF_MEMORY || (!made && status == CHOLMOD_OK)) return factor_fail_memory(f);
  if (status < 0) return ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "SuiteSparseQR failed with status %d", status);
  return DAMO_OK;
}

static damo_status spqr_widen(damo_factor *f) {
  spqr *s = f->state;
  damo_ctx *ctx = f->obj.ctx;
  if (f->m.wide) return DAMO_OK;
  s->p = mem_alloc(ctx, ((size_t)f->m.cols + 1) * sizeof *s->p);
  s->i = s->p ? mem_alloc(ctx, (size_t)f->m.nnz * sizeof *s->i) : NULL;
  if (!s->i) return DAMO_EMEMORY;
  for (int64_t k = 0; k <= f->m.cols; k++) s->p[k] = sparse_index_get(f->m.indptr->data, false, k);
  for (int64_t k = 0; k < f->m.nnz; k++) s->i[k] = sparse_index_get(f->m.indices->data, false, k);
  return DAMO_OK;
}

static damo_status spqr_analyze(damo_factor *f) {
  spqr *s = mem_calloc(f->obj.ctx, sizeof *s);
  if (!s) return DAMO_EMEMORY;
  f->state = s;
  cholmod_l_start(&s->common);
  s->common.print = 0;
  s->common.error_handler = NULL;
  DAMO_TRY(spqr_widen(f));
  /* SuiteSparseQR's own choice, except that it never takes METIS, which ends the process if memory runs out. */
  const int ordering = f->m.rows <= 2 * f->m.cols ? SPQR_ORDERING_COLAMD : SPQR_ORDERING_AMD;
  cholmod_sparse m = spqr_matrix(f);
  s->qr = SuiteSparseQR_C_symbolic(ordering, 1, &m, &s->common);
  DAMO_TRY(spqr_status(f, s->qr));
  return factor_charge(f, s->common.memory_inuse);
}

static damo_status spqr_factorize(damo_factor *f) {
  spqr *s = f->state;
  cholmod_sparse m = spqr_matrix(f);
  /* The analysis' bound on R and the Householder vectors, in istat. */
  const double guess = (double)s->common.SPQR_istat[0] + (double)s->common.SPQR_istat[1];
  DAMO_TRY(factor_charge(f, s->common.memory_inuse + (size_t)(guess > 0 ? guess : 0) * factor_entry(&f->m)));
  const int ok = SuiteSparseQR_C_numeric(SPQR_DEFAULT_TOL, &m, s->qr, &s->common);
  DAMO_TRY(spqr_status(f, ok ? s->qr : NULL));
  f->rank = s->common.SPQR_istat[4];
  return factor_charge(f, s->common.memory_inuse);
}

static damo_status spqr_take(damo_factor *f, cholmod_dense **from, int64_t rows, int64_t k, double *x) {
  spqr *s = f->state;
  const damo_status status = spqr_status(f, *from);
  if (status == DAMO_OK) memcpy(x, (*from)->x, (size_t)(rows * k) * factor_entry(&f->m));
  if (*from) cholmod_l_free_dense(from, &s->common);
  return status;
}

static damo_status spqr_apply(damo_factor *f, bool adjoint, int64_t k, const double *b, double *x) {
  spqr *s = f->state;
  cholmod_dense right = spqr_block(f, adjoint ? f->m.cols : f->m.rows, k, b);
  cholmod_dense *y = adjoint ? SuiteSparseQR_C_solve(SPQR_RTX_EQUALS_ETB, s->qr, &right, &s->common)
                             : SuiteSparseQR_C_qmult(SPQR_QTX, s->qr, &right, &s->common);
  DAMO_TRY(spqr_status(f, y));
  cholmod_dense *z = adjoint ? SuiteSparseQR_C_qmult(SPQR_QX, s->qr, y, &s->common)
                             : SuiteSparseQR_C_solve(SPQR_RETX_EQUALS_B, s->qr, y, &s->common);
  cholmod_l_free_dense(&y, &s->common);
  return spqr_take(f, &z, adjoint ? f->m.rows : f->m.cols, k, x);
}

#define SPQR_ROW                                                                                                    \
  {                                                                                                                 \
    .name = "spqr", .method = FACTOR_QR, .analyze = spqr_analyze, .factorize = spqr_factorize, .apply = spqr_apply, \
    .free = spqr_free                                                                                               \
  }
const factor_backend solve_spqr[2] = {SPQR_ROW, SPQR_ROW};

#else
const factor_backend solve_spqr[2] = {{.name = NULL}, {.name = NULL}};
#endif
