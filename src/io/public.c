/* public: the part of damo.h that reads and writes files and their bytes in memory. */
#include <string.h>

#include "public_int.h"

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

#define BYTES_NAME "bytes"

damo_status public_check_bytes(damo_ctx *ctx, const char *func, const void *bytes, size_t n) {
  return n > 0 ? ctx_check_given(ctx, func, "bytes", bytes) : ctx ? DAMO_OK : DAMO_EVALUE;
}

io_from public_from(const void *bytes, size_t n) {
  return (io_from){.path = BYTES_NAME, .bytes = bytes ? bytes : "", .n = n};
}

io_to public_into(damo_ctx *ctx, strbuf *text) {
  strbuf_init(text, ctx);
  return (io_to){.path = BYTES_NAME, .text = text};
}

damo_status public_give(strbuf *text, damo_status status, damo_bytes *out) {
  if (status == DAMO_OK)
    *out = (damo_bytes){.at = text->at, .n = text->n, .cap = text->cap};
  else
    strbuf_clear(text);
  return status;
}

void damo_bytes_free(damo_ctx *ctx, damo_bytes *bytes) {
  if (!ctx || !bytes) return;
  if (bytes->at) mem_free(ctx, bytes->at, bytes->cap);
  *bytes = (damo_bytes){.at = NULL};
}

/* ---- npy --------------------------------------------------------------------------------------------------------- */

damo_array *damo_npy_read(damo_ctx *ctx, const char *path) {
  return ctx_check_given(ctx, "damo_npy_read", "path", path) == DAMO_OK ? io_read_npy(ctx, IO_FROM_FILE(path)) : NULL;
}

damo_array *damo_npy_map(damo_ctx *ctx, const char *path) {
  return ctx_check_given(ctx, "damo_npy_map", "path", path) == DAMO_OK ? io_map_npy(ctx, path) : NULL;
}

damo_status damo_npy_write(const char *path, const damo_array *a) {
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, "damo_npy_write", "path", path));
  return io_write_npy(IO_TO_FILE(path), a);
}

damo_array *damo_npy_parse(damo_ctx *ctx, const void *bytes, size_t n) {
  const io_from from = public_from(bytes, n);
  return public_check_bytes(ctx, "damo_npy_parse", bytes, n) == DAMO_OK ? io_read_npy(ctx, &from) : NULL;
}

damo_status damo_npy_format(const damo_array *a, damo_bytes *out) {
  strbuf text;
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, "damo_npy_format", "out", out));
  const io_to to = public_into(a->obj.ctx, &text);
  return public_give(&text, io_write_npy(&to, a), out);
}

/* ---- npz --------------------------------------------------------------------------------------------------------- */

struct damo_npz {
  npz members;
};

static damo_npz *npz_of(damo_ctx *ctx, const io_from *from, uint64_t max_bytes) {
  damo_npz *z = mem_calloc(ctx, sizeof *z);
  if (!z) return NULL;
  z->members.ctx = damo_ctx_retain(ctx);
  if (io_read_npz(ctx, from, max_bytes, &z->members) == DAMO_OK) return z;
  damo_npz_free(z);
  return NULL;
}

damo_npz *damo_npz_read(damo_ctx *ctx, const char *path, uint64_t max_bytes) {
  if (ctx_check_given(ctx, "damo_npz_read", "path", path) != DAMO_OK) return NULL;
  return npz_of(ctx, IO_FROM_FILE(path), max_bytes);
}

damo_npz *damo_npz_parse(damo_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes) {
  const io_from from = public_from(bytes, n);
  return public_check_bytes(ctx, "damo_npz_parse", bytes, n) == DAMO_OK ? npz_of(ctx, &from, max_bytes) : NULL;
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

static damo_status npz_check_entries(damo_ctx *ctx, const char *func, const char *const *names,
                                     damo_array *const *arrays, int64_t n) {
  DAMO_TRY(ctx_check_list(ctx, func, "names", names, n));
  DAMO_TRY(ctx_check_objs(ctx, func, "arrays", arrays, n, OBJ_ARRAY));
  for (int64_t i = 0; i < n; i++) DAMO_TRY(ctx_check_given(ctx, func, "a name", names[i]));
  return DAMO_OK;
}

static damo_status npz_to_file(damo_ctx *ctx, const char *func, const char *path, const char *const *names,
                               damo_array *const *arrays, int64_t n, bool compressed) {
  DAMO_TRY(ctx_check_given(ctx, func, "path", path));
  DAMO_TRY(npz_check_entries(ctx, func, names, arrays, n));
  const io_to to = {.path = path, .compressed = compressed};
  return io_write_npz(ctx, &to, names, arrays, n);
}

damo_status damo_npz_write(damo_ctx *ctx, const char *path, const char *const *names, damo_array *const *arrays,
                           int64_t n) {
  return npz_to_file(ctx, "damo_npz_write", path, names, arrays, n, false);
}

damo_status damo_npz_write_compressed(damo_ctx *ctx, const char *path, const char *const *names,
                                      damo_array *const *arrays, int64_t n) {
  return npz_to_file(ctx, "damo_npz_write_compressed", path, names, arrays, n, true);
}

static damo_status npz_to_bytes(damo_ctx *ctx, const char *func, const char *const *names, damo_array *const *arrays,
                                int64_t n, bool compressed, damo_bytes *out) {
  strbuf text;
  DAMO_TRY(ctx_check_given(ctx, func, "out", out));
  DAMO_TRY(npz_check_entries(ctx, func, names, arrays, n));
  io_to to = public_into(ctx, &text);
  to.compressed = compressed;
  return public_give(&text, io_write_npz(ctx, &to, names, arrays, n), out);
}

damo_status damo_npz_format(damo_ctx *ctx, const char *const *names, damo_array *const *arrays, int64_t n,
                            damo_bytes *out) {
  return npz_to_bytes(ctx, "damo_npz_format", names, arrays, n, false, out);
}

damo_status damo_npz_format_compressed(damo_ctx *ctx, const char *const *names, damo_array *const *arrays, int64_t n,
                                       damo_bytes *out) {
  return npz_to_bytes(ctx, "damo_npz_format_compressed", names, arrays, n, true, out);
}

damo_sparse *damo_npz_read_sparse(damo_ctx *ctx, const char *path) {
  if (ctx_check_given(ctx, "damo_npz_read_sparse", "path", path) != DAMO_OK) return NULL;
  return io_read_sparse_npz(ctx, IO_FROM_FILE(path));
}

damo_sparse *damo_npz_parse_sparse(damo_ctx *ctx, const void *bytes, size_t n) {
  const io_from from = public_from(bytes, n);
  return public_check_bytes(ctx, "damo_npz_parse_sparse", bytes, n) == DAMO_OK ? io_read_sparse_npz(ctx, &from) : NULL;
}

damo_status damo_npz_write_sparse(const char *path, const damo_sparse *a) {
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, "damo_npz_write_sparse", "path", path));
  return io_write_sparse_npz(IO_TO_FILE(path), a);
}

damo_status damo_npz_format_sparse(const damo_sparse *a, damo_bytes *out) {
  strbuf text;
  if (!a) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(a->obj.ctx, "damo_npz_format_sparse", "out", out));
  const io_to to = public_into(a->obj.ctx, &text);
  return public_give(&text, io_write_sparse_npz(&to, a), out);
}

/* ---- safetensors ------------------------------------------------------------------------------------------------- */

static damo_npz *tensors_of(damo_ctx *ctx, const io_from *from) {
  damo_npz *z = mem_calloc(ctx, sizeof *z);
  if (!z) return NULL;
  z->members.ctx = damo_ctx_retain(ctx);
  if (io_read_safetensors(ctx, from, &z->members) == DAMO_OK) return z;
  damo_npz_free(z);
  return NULL;
}

damo_npz *damo_safetensors_read(damo_ctx *ctx, const char *path) {
  if (ctx_check_given(ctx, "damo_safetensors_read", "path", path) != DAMO_OK) return NULL;
  return tensors_of(ctx, IO_FROM_FILE(path));
}

damo_npz *damo_safetensors_parse(damo_ctx *ctx, const void *bytes, size_t n) {
  const io_from from = public_from(bytes, n);
  return public_check_bytes(ctx, "damo_safetensors_parse", bytes, n) == DAMO_OK ? tensors_of(ctx, &from) : NULL;
}

const char *damo_npz_get_metadata(const damo_npz *z, const char *key) {
  for (int64_t i = 0; z && key && i < z->members.n_metadata; i++) {
    if (strcmp(z->members.metadata[i].key, key) == 0) return z->members.metadata[i].value;
  }
  return NULL;
}

static damo_status tensors_to(damo_ctx *ctx, const char *func, const io_to *to, const char *const *names,
                              damo_array *const *arrays, int64_t n, const char *const *metadata, int64_t n_metadata) {
  DAMO_TRY(npz_check_entries(ctx, func, names, arrays, n));
  DAMO_TRY(ctx_check_list(ctx, func, "metadata", metadata, n_metadata));
  for (int64_t i = 0; i < 2 * n_metadata; i++) DAMO_TRY(ctx_check_given(ctx, func, "a text", metadata[i]));
  npz_text *texts = mem_calloc(ctx, (size_t)n_metadata * sizeof *texts);
  if (!texts) return DAMO_EMEMORY;
  for (int64_t i = 0; i < n_metadata; i++)
    texts[i] = (npz_text){(char *)(uintptr_t)metadata[2 * i], (char *)(uintptr_t)metadata[2 * i + 1]};
  const damo_status s = io_write_safetensors(ctx, to, names, arrays, n, texts, n_metadata);
  mem_free(ctx, texts, (size_t)n_metadata * sizeof *texts);
  return s;
}

damo_status damo_safetensors_write(damo_ctx *ctx, const char *path, const char *const *names, damo_array *const *arrays,
                                   int64_t n, const char *const *metadata, int64_t n_metadata) {
  static const char func[] = "damo_safetensors_write";
  DAMO_TRY(ctx_check_given(ctx, func, "path", path));
  return tensors_to(ctx, func, IO_TO_FILE(path), names, arrays, n, metadata, n_metadata);
}

damo_status damo_safetensors_format(damo_ctx *ctx, const char *const *names, damo_array *const *arrays, int64_t n,
                                    const char *const *metadata, int64_t n_metadata, damo_bytes *out) {
  static const char func[] = "damo_safetensors_format";
  strbuf text;
  DAMO_TRY(ctx_check_given(ctx, func, "out", out));
  const io_to to = public_into(ctx, &text);
  return public_give(&text, tensors_to(ctx, func, &to, names, arrays, n, metadata, n_metadata), out);
}

/* ---- Matrix Market ----------------------------------------------------------------------------------------------- */

static damo_obj *mtx_of(damo_ctx *ctx, const char *func, const io_from *from, damo_format format) {
  if (format == DAMO_CSR || format == DAMO_CSC) return io_read_mtx(ctx, from, format);
  ctx_fail(ctx, DAMO_EVALUE, "%s: %d is not a format", func, (int)format);
  return NULL;
}

damo_obj *damo_mtx_read(damo_ctx *ctx, const char *path, damo_format format) {
  if (ctx_check_given(ctx, "damo_mtx_read", "path", path) != DAMO_OK) return NULL;
  return mtx_of(ctx, "damo_mtx_read", IO_FROM_FILE(path), format);
}

damo_obj *damo_mtx_parse(damo_ctx *ctx, const void *bytes, size_t n, damo_format format) {
  const io_from from = public_from(bytes, n);
  if (public_check_bytes(ctx, "damo_mtx_parse", bytes, n) != DAMO_OK) return NULL;
  return mtx_of(ctx, "damo_mtx_parse", &from, format);
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

static damo_status mtx_to(const char *func, const io_to *to, const damo_obj *value, const damo_mtx_options *options) {
  damo_mtx_options given;
  damo_ctx *ctx = value->ctx;
  DAMO_TRY(ctx_read_options(ctx, func, options, &given, sizeof given));
  if (value->kind != OBJ_ARRAY && value->kind != OBJ_SPARSE) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s: value must be an array or a sparse matrix", func);
  }
  mtx_options o = {.comment = given.comment, .pattern = given.pattern};
  if (!mtx_symmetry_of(given.symmetry, &o.symmetry)) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: %d is not a symmetry", func, (int)given.symmetry);
  }
  return io_write_mtx(to, (damo_obj *)(uintptr_t)value, &o);
}

damo_status damo_mtx_write(const char *path, const damo_obj *value, const damo_mtx_options *options) {
  if (!value) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(value->ctx, "damo_mtx_write", "path", path));
  return mtx_to("damo_mtx_write", IO_TO_FILE(path), value, options);
}

damo_status damo_mtx_format(const damo_obj *value, const damo_mtx_options *options, damo_bytes *out) {
  strbuf text;
  if (!value) return DAMO_EVALUE;
  DAMO_TRY(ctx_check_given(value->ctx, "damo_mtx_format", "out", out));
  const io_to to = public_into(value->ctx, &text);
  return public_give(&text, mtx_to("damo_mtx_format", &to, value, options), out);
}
