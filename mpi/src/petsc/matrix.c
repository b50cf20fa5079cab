/* matrix.c: making, finding and destroying distributed matrices, and the values in them. */
#include "matrix.h"

#include <petsc/private/petscimpl.h> /* PetscObjectStateGet, which its manual documents */
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "solver.h"

enum { DIAG_I, DIAG_J, DIAG_A, OFF_I, OFF_J, OFF_A, N_PARTS };

#define PETSC_INT_DTYPE (sizeof(PetscInt) == 8 ? DAMO_INT64 : DAMO_INT32)

static inline PetscInt *ints(const damo_array *a) { return (PetscInt *)damo_array_data(a); }
static inline double *reals(const damo_array *a) { return (double *)damo_array_data(a); }

/* ---- A rank's block ---------------------------------------------------------------------------------------------- */

static int64_t int_at(const damo_array *a, int64_t i) {
  const char *at = (const char *)damo_array_data(a) + i * damo_array_strides(a)[0];
  return damo_array_dtype(a) == DAMO_INT32 ? *(const int32_t *)(const void *)at : *(const int64_t *)(const void *)at;
}

static double real_at(const damo_array *a, int64_t i) {
  return *(const double *)(const void *)((const char *)damo_array_data(a) + i * damo_array_strides(a)[0]);
}

static bool is_int_vector(const damo_array *a) {
  return damo_array_ndim(a) == 1 && (damo_array_dtype(a) == DAMO_INT32 || damo_array_dtype(a) == DAMO_INT64);
}

damo_status block_read(damo_ctx *ctx, const damo_array *data, const damo_array *indices, const damo_array *indptr,
                       const damo_array *sizes, block *out) {
  if (data == NULL || damo_array_dtype(data) != DAMO_FLOAT64 || damo_array_ndim(data) != 1) {
    return damo_fail(ctx, DAMO_ETYPE, "mpi.matrix: the stored values must be a vector of dtype float64");
  }
  if (!is_int_vector(indices) || !is_int_vector(indptr) || damo_array_size(indptr) == 0) {
    return damo_fail(ctx, DAMO_ETYPE, "mpi.matrix: indices and indptr must be vectors of dtype int32 or int64");
  }
  if (!is_int_vector(sizes) || damo_array_size(sizes) != 2) {
    return damo_fail(ctx, DAMO_ETYPE, "mpi.matrix: the layout must be a vector of two integers");
  }
  *out = (block){.rows = damo_array_size(indptr) - 1,
                 .cols = int_at(sizes, 0),
                 .nnz = damo_array_size(indices),
                 .local_cols = int_at(sizes, 1),
                 .data = data,
                 .indices = indices,
                 .indptr = indptr};
  if (damo_array_size(data) == out->nnz && int_at(indptr, out->rows) == out->nnz) return DAMO_OK;
  return library_fail(ctx, DAMO_ESHAPE, "mpi.matrix: %lld values, %lld indices and %lld entries by indptr",
                      (long long)damo_array_size(data), (long long)out->nnz, (long long)int_at(indptr, out->rows));
}

/* ---- The pattern ------------------------------------------------------------------------------------------------- */

static damo_array *vector_new(damo_ctx *ctx, damo_dtype dtype, int64_t n) { return damo_array_new(ctx, dtype, 1, &n); }

static inline bool is_own(const matrix *m, int64_t column) {
  return column >= m->first_col && column < (int64_t)m->first_col + m->n;
}

static damo_status check_entries(const matrix *m, damo_ctx *ctx, const block *b, int64_t *n_own) {
  int64_t own = 0, k = 0;
  if (int_at(b->indptr, 0) != 0) return damo_fail(ctx, DAMO_EVALUE, "mpi.matrix: indptr must begin with 0");
  for (int64_t r = 0; r < b->rows; r++) {
    const int64_t stop = int_at(b->indptr, r + 1);
    if (stop < k || stop > b->nnz) {
      return library_fail(ctx, DAMO_EVALUE, "mpi.matrix: indptr does not ascend at row %lld of the block",
                          (long long)r + 1);
    }
    for (; k < stop; k++) {
      const int64_t c = int_at(b->indices, k);
      if (c < 0 || c >= b->cols) {
        return library_fail(ctx, DAMO_EINDEX, "mpi.matrix: row %lld of the block stores column index %lld of %lld",
                            (long long)r + 1, (long long)c, (long long)b->cols);
      }
      own += is_own(m, c);
    }
  }
  *n_own = own;
  return DAMO_OK;
}

static damo_status take_arrays(matrix *m, damo_ctx *ctx, const block *b, int64_t n_diag) {
  const int64_t n_off = b->nnz - n_diag, length[N_PARTS] = {b->rows + 1, n_diag, n_diag, b->rows + 1, n_off, n_off};
  bool ok = true;
  for (int p = 0; p < N_PARTS; p++) {
    m->part[p] = vector_new(ctx, p % 3 == 2 ? DAMO_FLOAT64 : PETSC_INT_DTYPE, length[p]);
    ok = ok && m->part[p] != NULL;
  }
  m->indptr = vector_new(ctx, PETSC_INT_DTYPE, b->rows + 1);
  m->slot = vector_new(ctx, PETSC_INT_DTYPE, b->nnz);
  ok = ok && m->indptr != NULL && m->slot != NULL;
  m->nnz = (PetscInt)b->nnz;
  m->n_diag = (PetscInt)n_diag;
  return ok ? DAMO_OK : DAMO_EMEMORY;
}

/* Sorts the columns j[from..to) of one row and refuses a column that stands there twice. entry[] goes along. */
static damo_status sort_row(damo_ctx *ctx, PetscInt *j, PetscInt *entry, PetscInt from, PetscInt to, PetscInt row) {
  bool sorted = true;
  for (PetscInt k = from + 1; k < to && sorted; k++) sorted = j[k - 1] < j[k];
  if (sorted) return DAMO_OK;
  if (PetscSortIntWithArray(to - from, j + from, entry + from) != 0) return DAMO_ESTATE;
  for (PetscInt k = from + 1; k < to; k++) {
    if (j[k - 1] != j[k]) continue;
    return library_fail(ctx, DAMO_EVALUE,
                        "mpi.matrix: row %lld of the block stores a column twice; "
                        "damo.sparse.coo sums such entries",
                        (long long)row + 1);
  }
  return DAMO_OK;
}

/* Splits each row into the rank's own columns and the others, each part sorted. entry: room for the number of the entry
 * at each slot. */
static damo_status fill_pattern(matrix *m, damo_ctx *ctx, const block *b, PetscInt *entry) {
  PetscInt *di = ints(m->part[DIAG_I]), *dj = ints(m->part[DIAG_J]), *oi = ints(m->part[OFF_I]);
  PetscInt *oj = ints(m->part[OFF_J]), *slot = ints(m->slot), *indptr = ints(m->indptr);
  PetscInt d = 0, o = 0, k = 0;
  for (PetscInt r = 0; r < m->m; r++) {
    const PetscInt stop = (PetscInt)int_at(b->indptr, r + 1);
    indptr[r] = k;
    di[r] = d;
    oi[r] = o;
    for (; k < stop; k++) {
      const int64_t c = int_at(b->indices, k);
      if (is_own(m, c)) {
        entry[d] = k;
        dj[d++] = (PetscInt)(c - m->first_col);
      } else {
        entry[m->n_diag + o] = k;
        oj[o++] = (PetscInt)c;
      }
    }
    damo_status s = sort_row(ctx, dj, entry, di[r], d, r);
    if (s == DAMO_OK) s = sort_row(ctx, oj, entry + m->n_diag, oi[r], o, r);
    if (s != DAMO_OK) return s;
  }
  indptr[m->m] = k;
  di[m->m] = d;
  oi[m->m] = o;
  for (PetscInt at = 0; at < m->nnz; at++) slot[entry[at]] = at;
  return DAMO_OK;
}

static damo_status set_pattern(matrix *m, damo_ctx *ctx, const block *b) {
  int64_t n_diag = 0;
  if (b->nnz > PETSC_MAX_INT) return damo_fail(ctx, DAMO_EVALUE, "mpi.matrix: a rank has too many entries for PETSc");
  damo_status s = check_entries(m, ctx, b, &n_diag);
  if (s == DAMO_OK) s = take_arrays(m, ctx, b, n_diag);
  damo_array *entry = s == DAMO_OK ? vector_new(ctx, PETSC_INT_DTYPE, b->nnz) : NULL;
  if (s == DAMO_OK && entry == NULL) s = DAMO_EMEMORY;
  if (s == DAMO_OK) s = fill_pattern(m, ctx, b, ints(entry));
  damo_release(entry);
  return s;
}

/* ---- PETSc's objects --------------------------------------------------------------------------------------------- */

static PetscErrorCode make_mat(matrix *m) {
  PetscInt *di = ints(m->part[DIAG_I]), *dj = ints(m->part[DIAG_J]), *oi = ints(m->part[OFF_I]);
  double *da = reals(m->part[DIAG_A]), *oa = reals(m->part[OFF_A]);
  if (m->lib->size == 1) {
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m->m, m->n, di, dj, da, &m->mat));
    m->diag = m->mat;
    return 0;
  }
  PetscCall(MatCreateMPIAIJWithSplitArrays(m->lib->comm, m->m, m->n, m->M, m->N, di, dj, da, oi, ints(m->part[OFF_J]),
                                           oa, &m->mat));
  PetscCall(MatMPIAIJGetSeqAIJ(m->mat, &m->diag, &m->off, NULL));
  return 0;
}

static PetscErrorCode make_vec(const matrix *m, PetscInt n, PetscInt all, Vec *out) {
  if (m->lib->size == 1) return VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, NULL, out);
  return VecCreateMPIWithArray(m->lib->comm, 1, n, all, NULL, out);
}

static PetscErrorCode make_petsc(matrix *m) {
  PetscCall(make_mat(m));
  PetscCall(make_vec(m, m->n, m->N, &m->right));
  PetscCall(make_vec(m, m->m, m->M, &m->left));
  return 0;
}

PetscErrorCode matrix_need_ghost(matrix *m) {
  const PetscInt *columns = NULL;
  PetscInt n = 0;
  IS from;
  if (m->off == NULL || m->ghost != NULL) return 0;
  PetscCall(MatMPIAIJGetSeqAIJ(m->mat, NULL, NULL, &columns));
  PetscCall(MatGetLocalSize(m->off, NULL, &n));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &m->ghost));
  PetscCall(ISCreateGeneral(m->lib->comm, n, columns, PETSC_COPY_VALUES, &from));
  PetscCall(VecScatterCreate(m->right, from, m->ghost, NULL, &m->scatter));
  PetscCall(ISDestroy(&from));
  return 0;
}

void matrix_destroy_petsc(matrix *m) {
  if (m->mat == NULL) return;
  library_enter(m->lib);
  while (m->solvers != NULL) solver_free(m);
  VecScatterDestroy(&m->scatter);
  VecDestroy(&m->ghost);
  VecDestroy(&m->left);
  VecDestroy(&m->right);
  MatDestroy(&m->mat);
  m->diag = m->off = NULL;
  library_leave(m->lib);
}

void matrix_free_arrays(matrix *m) {
  solver_release_ops(m);
  for (int p = 0; p < N_PARTS; p++) {
    damo_release(m->part[p]);
    m->part[p] = NULL;
  }
  damo_release(m->indptr);
  damo_release(m->slot);
  m->indptr = m->slot = NULL;
}

void matrix_forget(matrix *m) {
  matrix **at = &m->lib->first;
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  if (!m->lib->ended) matrix_destroy_petsc(m);
  matrix_free_arrays(m);
  solver_forget(m);
  free(m);
}

void matrix_drop(matrix *m) {
  if (m == NULL) return;
  m->dropped = true;
  if (m->lib->ended || m->lib->size == 1) matrix_forget(m);
}

/* Destroys the matrices that every rank has let go of. MUMPS's end is collective: a rank must not do it alone. */
static damo_status sweep(library *lib, damo_ctx *ctx) {
  int64_t n = 0, any = 0;
  if (lib->size == 1) return DAMO_OK;
  for (matrix *m = lib->first; m != NULL; m = m->next) n++, any |= m->dropped;
  library_doing(lib, "looks for matrices to destroy");
  damo_status s = library_agree_max(lib, ctx, DAMO_OK, &any);
  if (s != DAMO_OK || !any) return s;
  damo_array *flags = vector_new(ctx, DAMO_UINT8, n);
  s = library_agree(lib, ctx, flags != NULL ? DAMO_OK : DAMO_EMEMORY, &(const agreement){"distributed matrices", n});
  if (s == DAMO_OK) {
    uint8_t *dead = damo_array_data(flags), *at = dead;
    MPI_Request request;
    for (matrix *m = lib->first; m != NULL; m = m->next) *at++ = m->dropped;
    int code = MPI_Iallreduce(MPI_IN_PLACE, dead, (int)n, MPI_UINT8_T, MPI_MIN, lib->comm, &request);
    s = lib->w->calls->check(lib->w, ctx, code, "MPI_Iallreduce");
    if (s == DAMO_OK) s = lib->w->calls->wait(lib->w, ctx, 1, &request);
    at = dead;
    for (matrix *m = lib->first, *next; s == DAMO_OK && m != NULL; m = next) {
      next = m->next;
      if (*at++) matrix_forget(m);
    }
  }
  damo_release(flags);
  return s;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static matrix *list_new(library *lib) {
  matrix *m = calloc(1, sizeof *m), **at = &lib->first;
  if (m == NULL) return NULL;
  m->lib = lib;
  m->id = ++lib->last_id;
  m->last_version = m->version = 1;
  while (*at != NULL) at = &(*at)->next;
  *at = m;
  return m;
}

static damo_status set_layout(matrix *m, damo_ctx *ctx, const layout *l) {
  if (l->all_rows > PETSC_MAX_INT || l->all_cols > PETSC_MAX_INT) {
    return library_fail(ctx, DAMO_EVALUE,
                        "mpi.matrix: %lld × %lld is too large for this PETSc, whose integers have %d "
                        "bits",
                        (long long)l->all_rows, (long long)l->all_cols, (int)(8 * sizeof(PetscInt)));
  }
  m->m = (PetscInt)l->rows;
  m->n = (PetscInt)l->cols;
  m->M = (PetscInt)l->all_rows;
  m->N = (PetscInt)l->all_cols;
  m->first_row = (PetscInt)l->first_row;
  m->first_col = (PetscInt)l->first_col;
  return DAMO_OK;
}

/* The steps that all ranks do together; each begins with an agreement on the step before. */
static damo_status build_matrix(matrix *m, damo_ctx *ctx, const block *b) {
  library *lib = m->lib;
  layout l;
  damo_status s = layout_agree(lib, ctx, b->rows, b->cols, b->local_cols, &l);
  if (s == DAMO_OK) s = set_layout(m, ctx, &l);
  if (s != DAMO_OK) return s;
  s = library_agree(lib, ctx, set_pattern(m, ctx, b), NULL);
  if (s != DAMO_OK) return s;
  library_enter(lib);
  s = library_check(lib, ctx, make_petsc(m), "mpi.matrix");
  library_leave(lib);
  return s == DAMO_OK ? matrix_set_values(m, ctx, b->data, 1) : s;
}

damo_status matrix_new(library *lib, damo_ctx *ctx, damo_status s, const block *b, matrix **out) {
  matrix *m = NULL;
  if (s == DAMO_OK && lib->last_id >= INT32_MAX / 1024) s = damo_fail(ctx, DAMO_ESTATE, "mpi: too many matrices");
  if (s == DAMO_OK && (m = list_new(lib)) == NULL) s = damo_fail(ctx, DAMO_EMEMORY, NULL);
  library_doing(lib, "makes a matrix");
  s = library_agree(lib, ctx, s, NULL);
  if (s == DAMO_OK) s = sweep(lib, ctx);
  if (s == DAMO_OK) s = build_matrix(m, ctx, b);
  if (s == DAMO_OK) {
    *out = m;
  } else if (m != NULL) {
    matrix_forget(m);
  }
  return s;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The elements if they lie one after another and are of that dtype, else NULL. */
static const void *flat(const damo_array *a, damo_dtype dtype) {
  const int64_t step = damo_array_strides(a)[0];
  return damo_array_dtype(a) == dtype && step == (int64_t)damo_dtype_size(dtype) ? damo_array_data(a) : NULL;
}

bool matrix_has_pattern(const matrix *m, const block *b) {
  const PetscInt *indptr = ints(m->indptr), *slot = ints(m->slot), *dj = ints(m->part[DIAG_J]), *oj = NULL;
  const PetscInt *columns = NULL;
  if (m->m != b->rows || m->N != b->cols || m->nnz != b->nnz) return false;
  for (PetscInt r = 0; r <= m->m; r++) {
    if (indptr[r] != int_at(b->indptr, r)) return false;
  }
  if (m->off != NULL) {
    oj = ints(m->part[OFF_J]); /* PETSc has numbered the columns that occur */
    if (MatMPIAIJGetSeqAIJ(m->mat, NULL, NULL, &columns) != 0) return false;
  }
  const int32_t *indices = flat(b->indices, DAMO_INT32);
  for (PetscInt k = 0; k < m->nnz; k++) {
    const PetscInt at = slot[k];
    const PetscInt column = at < m->n_diag ? dj[at] + m->first_col : columns[oj[at - m->n_diag]];
    if (column != (indices != NULL ? indices[k] : int_at(b->indices, k))) return false;
  }
  return true;
}

bool matrix_has_values(const matrix *m, const damo_array *data) {
  const PetscInt *slot = ints(m->slot);
  const double *da = reals(m->part[DIAG_A]), *oa = reals(m->part[OFF_A]);
  const double *values = flat(data, DAMO_FLOAT64);
  for (PetscInt k = 0; k < m->nnz; k++) {
    const double old = slot[k] < m->n_diag ? da[slot[k]] : oa[slot[k] - m->n_diag];
    const double now = values != NULL ? values[k] : real_at(data, k);
    if (!(old == now) && (old == old || now == now)) return false;
  }
  return true;
}

/* PETSc keeps what it derives from values (inverted diagonals, preconditioners) by the state of these objects. */
static PetscErrorCode tell_changed(const matrix *m) {
  PetscScalar *unused;
  PetscObjectState state;
  PetscCall(MatSeqAIJGetArray(m->diag, &unused));
  PetscCall(MatSeqAIJRestoreArray(m->diag, &unused));
  if (m->off == NULL) return 0;
  PetscCall(MatSeqAIJGetArray(m->off, &unused));
  PetscCall(MatSeqAIJRestoreArray(m->off, &unused));
  PetscCall(PetscObjectStateGet((PetscObject)m->mat, &state));
  PetscCall(PetscObjectStateSet((PetscObject)m->mat, state + 1));
  return 0;
}

damo_status matrix_set_values(matrix *m, damo_ctx *ctx, const damo_array *data, uint32_t version) {
  const PetscInt *slot = ints(m->slot);
  double *da = reals(m->part[DIAG_A]), *oa = reals(m->part[OFF_A]);
  if (damo_array_size(data) != m->nnz) {
    return library_fail(ctx, DAMO_ESHAPE, "mpi.matrix: %lld values for %lld stored entries",
                        (long long)damo_array_size(data), (long long)m->nnz);
  }
  const double *values = flat(data, DAMO_FLOAT64);
  for (PetscInt k = 0; k < m->nnz; k++) {
    *(slot[k] < m->n_diag ? &da[slot[k]] : &oa[slot[k] - m->n_diag]) = values != NULL ? values[k] : real_at(data, k);
  }
  library_enter(m->lib);
  const damo_status s = library_check(m->lib, ctx, tell_changed(m), "mpi.matrix");
  library_leave(m->lib);
  if (s == DAMO_OK) m->version = version;
  return s;
}

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

/* 21 bits for the id, 32 for the version: a double of Lua 5.1 holds such a number. */
int64_t matrix_handle(const matrix *m) { return m->id * ((int64_t)1 << 32) + m->version; }

damo_status matrix_find(library *lib, damo_ctx *ctx, int64_t handle, const damo_array *data, matrix **out) {
  const int64_t id = handle >> 32;
  const uint32_t version = (uint32_t)(handle & 0xffffffff);
  matrix *m = lib->first;
  while (m != NULL && m->id != id) m = m->next;
  if (m == NULL || m->mat == NULL || lib->ended) {
    return damo_fail(ctx, DAMO_ESTATE,
                     "mpi: the distributed matrix has been freed, or has taken another pattern since");
  }
  *out = m;
  return data == NULL || m->version == version ? DAMO_OK : matrix_set_values(m, ctx, data, version);
}
