/* npz_sparse: sparse matrices in SciPy's layout: an .npz with the members format (a text of three characters), shape,
 * data, indices and indptr. */
#include <string.h>

#include "io_int.h"

static damo_array *member(const npz *z, const char *name) {
  for (int64_t i = 0; i < z->n; i++) {
    if (strcmp(z->at[i].name, name) == 0) return z->at[i].array;
  }
  return NULL;
}

bool io_npz_is_sparse(const npz *z) { return member(z, "format") && member(z, "shape") && member(z, "data"); }

/* The text of the member format: codes of one byte or of four. */
static damo_status read_format(const char *path, const npz *z, damo_format *out) {
  char text[8] = "";
  const damo_array *a = member(z, "format");
  const int64_t n = array_size(a);
  const damo_dtype dtype = array_dtype(a);
  if (a->ndim == 1 && n < (int64_t)sizeof text && (dtype == DAMO_UINT8 || dtype == DAMO_UINT32)) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t code = scalar_to_int64(array_get(a, &i));
      text[i] = code >= 32 && code < 127 ? (char)code : code ? '?' : 0;
    }
  }
  if (strcmp(text, "csr") == 0)
    *out = DAMO_CSR;
  else if (strcmp(text, "csc") == 0)
    *out = DAMO_CSC;
  else
    return io_fail(z->ctx, path, 0, "the sparse format is '%s', expected csr or csc (SciPy's tocsr() converts)", text);
  return DAMO_OK;
}

static damo_status read_shape(const char *path, const npz *z, int64_t shape[2]) {
  const damo_array *a = member(z, "shape");
  if (a->ndim != 1 || array_size(a) != 2 || !dtype_is_integer(array_dtype(a)))
    return io_fail(z->ctx, path, 0, "member 'shape' is not a vector of two integers");
  for (int64_t i = 0; i < 2; i++) {
    shape[i] = scalar_to_int64(array_get(a, &i));
    if (shape[i] < 0) return io_fail(z->ctx, path, 0, "member 'shape' holds %lld", (long long)shape[i]);
  }
  return DAMO_OK;
}

/* names: NULL-ended. */
static damo_status need_members(const char *path, const npz *z, const char *const *names) {
  for (; *names; names++) {
    if (!member(z, *names)) {
      return io_fail(z->ctx, path, 0, "the member '%s' of a sparse matrix is missing", *names);
    }
  }
  return DAMO_OK;
}

damo_sparse *io_sparse_of_npz(const char *path, const npz *z) {
  damo_format format = DAMO_CSR;
  int64_t shape[2];
  static const char *const any[] = {"format", "shape", "data", NULL}, *const ours[] = {"indices", "indptr", NULL};
  /* (a file in another format lacks some of ours: its format is what there is to say) */
  if (need_members(path, z, any) != DAMO_OK || read_format(path, z, &format) != DAMO_OK ||
      need_members(path, z, ours) != DAMO_OK || read_shape(path, z, shape) != DAMO_OK) {
    return NULL;
  }
  damo_sparse *a = sparse_from_parts(z->ctx, format, shape, member(z, "data"), member(z, "indices"),
                                     member(z, "indptr"), DAMO_INT32);
  if (a || z->ctx->error.status == DAMO_EMEMORY) return a;
  char why[512];
  strncpy(why, z->ctx->error.message, sizeof why - 1);
  why[sizeof why - 1] = '\0';
  io_fail(z->ctx, path, 0, "%s", why);
  return NULL;
}

damo_sparse *io_read_sparse_npz(damo_ctx *ctx, const char *path) {
  npz z;
  if (io_read_npz(ctx, path, &z) != DAMO_OK) return NULL;
  damo_sparse *a = io_sparse_of_npz(path, &z);
  npz_clear(&z);
  return a;
}

damo_status io_write_sparse_npz(const char *path, const damo_sparse *a) {
  static const char *const names[] = {"indices", "indptr", "format", "shape", "data"};
  damo_ctx *ctx = a->obj.ctx;
  damo_array *format = damo_array_from(ctx, DAMO_UINT8, 1, (const int64_t[]){3}, sparse_format_name(a->format));
  damo_array *shape = format ? damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){2}, a->shape) : NULL;
  damo_status status = DAMO_EMEMORY;
  if (shape) {
    damo_array *const arrays[] = {a->indices, a->indptr, format, shape, a->data};
    status = npz_write(ctx, path, names, arrays, 5, 2);
  }
  damo_release(format);
  damo_release(shape);
  return status;
}
