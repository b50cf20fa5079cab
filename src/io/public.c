/* public: the part of damo.h that reads and writes files. */
#include <string.h>

#include "io.h"

/* ---- npy --------------------------------------------------------------------------------------------------------- */

damo_array *damo_npy_read(damo_ctx *ctx, const char *path) {
  return ctx_check_given(ctx, "damo_npy_read", "path", path) == DAMO_OK ? io_read_npy(ctx, path) : NULL;
}

damo_status damo_npy_write(const char *path, const damo_array *a) {
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, "damo_npy_write", "path", path));
  return io_write_npy(path, a);
}

/* ---- npz --------------------------------------------------------------------------------------------------------- */

struct damo_npz {
  npz members;
};

damo_npz *damo_npz_read(damo_ctx *ctx, const char *path, uint64_t max_bytes) {
  if (ctx_check_given(ctx, "damo_npz_read", "path", path) != DAMO_OK) return NULL;
  damo_npz *z = mem_calloc(ctx, sizeof *z);
  if (!z) return NULL;
  z->members.ctx = damo_ctx_retain(ctx);
  if (io_read_npz(ctx, path, max_bytes, &z->members) == DAMO_OK) return z;
  damo_npz_free(z);
  return NULL;
}

void damo_npz_free(damo_npz *z) {
  if (!z) return;
  damo_ctx *ctx = z->members.ctx;
  npz_clear(&z->members);
  mem_free(ctx, z, sizeof *z);
  damo_ctx_release(ctx);
}

int64_t damo_npz_size(const damo_npz *z) { return z ? z->members.n : 0; }

static const npz_entry *npz_entry_at(const damo_npz *z, int64_t i) {
  return z && i >= 0 && i < z->members.n ? &z->members.at[i] : NULL;
}

const char *damo_npz_get_name(const damo_npz *z, int64_t i) {
  const npz_entry *e = npz_entry_at(z, i);
  return e ? e->name : NULL;
}

damo_array *damo_npz_get_array(const damo_npz *z, int64_t i) {
  const npz_entry *e = npz_entry_at(z, i);
  return e ? e->array : NULL;
}

damo_array *damo_npz_find(const damo_npz *z, const char *name) {
  for (int64_t i = 0; name && i < damo_npz_size(z); i++) {
    if (strcmp(z->members.at[i].name, name) == 0) return z->members.at[i].array;
  }
  return NULL;
}

damo_status damo_npz_write(damo_ctx *ctx, const char *path, const char *const *names, damo_array *const *arrays,
                           int64_t n) {
  static const char func[] = "damo_npz_write";
  DAMO_TRY(ctx_check_given(ctx, func, "path", path));
  DAMO_TRY(ctx_check_list(ctx, func, "names", names, n));
  DAMO_TRY(ctx_check_objs(ctx, func, "arrays", arrays, n, OBJ_ARRAY));
  for (int64_t i = 0; i < n; i++) DAMO_TRY(ctx_check_given(ctx, func, "a name", names[i]));
  return io_write_npz(ctx, path, names, arrays, n);
}

damo_sparse *damo_npz_read_sparse(damo_ctx *ctx, const char *path) {
  return ctx_check_given(ctx, "damo_npz_read_sparse", "path", path) == DAMO_OK ? io_read_sparse_npz(ctx, path) : NULL;
}

damo_status damo_npz_write_sparse(const char *path, const damo_sparse *a) {
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, "damo_npz_write_sparse", "path", path));
  return io_write_sparse_npz(path, a);
}

/* ---- Matrix Market ----------------------------------------------------------------------------------------------- */

damo_obj *damo_mtx_read(damo_ctx *ctx, const char *path, damo_format format) {
  if (ctx_check_given(ctx, "damo_mtx_read", "path", path) != DAMO_OK) return NULL;
  if (format == DAMO_CSR || format == DAMO_CSC) return io_read_mtx(ctx, path, format);
  ctx_fail(ctx, DAMO_EVALUE, "damo_mtx_read: %d is not a format", (int)format);
  return NULL;
}

static bool mtx_symmetry_of(damo_symmetry symmetry, mtx_symmetry *out) {
  switch (symmetry) {
    case DAMO_GENERAL: *out = MTX_GENERAL; return true;
    case DAMO_SYMMETRIC: *out = MTX_SYMMETRIC; return true;
    case DAMO_SKEW: *out = MTX_SKEW; return true;
    case DAMO_HERMITIAN: *out = MTX_HERMITIAN; return true;
  }
  return false;
}

damo_status damo_mtx_write(const char *path, const damo_obj *value, const damo_mtx_options *options) {
  static const char func[] = "damo_mtx_write";
  damo_mtx_options given;
  if (!value) return DAMO_EVALUE;
  damo_ctx *ctx = value->ctx;
  DAMO_TRY(ctx_check_given(ctx, func, "path", path));
  DAMO_TRY(ctx_read_options(ctx, func, options, &given, sizeof given));
  if (value->kind != OBJ_ARRAY && value->kind != OBJ_SPARSE) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: value must be an array or a sparse matrix", func);
  }
  mtx_options o = {.comment = given.comment, .pattern = given.pattern};
  if (!mtx_symmetry_of(given.symmetry, &o.symmetry)) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: %d is not a symmetry", func, (int)given.symmetry);
  }
  return io_write_mtx(path, (damo_obj *)(uintptr_t)value, &o);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

damo_array *damo_csv_read(damo_ctx *ctx, const char *path, const damo_csv_options *options, char **header) {
  static const char func[] = "damo_csv_read";
  damo_csv_options given;
  if (ctx_check_given(ctx, func, "path", path) != DAMO_OK ||
      ctx_read_options(ctx, func, options, &given, sizeof given) != DAMO_OK) {
    return NULL;
  }
  csv_options o = {.delimiter = given.delimiter,
                   .skip = given.skip == 0  ? -1
                           : given.skip < 0 ? 0
                                            : given.skip,
                   .dtype = DAMO_FLOAT64,
                   .text_as_nan = given.text_as_nan};
  if (given.dtype && !damo_dtype_from_name(given.dtype, &o.dtype)) {
    ctx_fail(ctx, DAMO_EVALUE, "%s: there is no dtype '%s'", func, given.dtype);
    return NULL;
  }
  return io_read_csv(ctx, path, &o, header);
}
