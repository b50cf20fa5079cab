/* mtx_write: Matrix Market files, with the fewest digits that read back as the same number. */
#include <string.h>

#include "io_int.h"
#include "kernel/kernel.h"

typedef struct mtx_writer {
  io_sink sink;
  const mtx_options *o;
} mtx_writer;

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static damo_status mtx_put(mtx_writer *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
static damo_status mtx_put(mtx_writer *w, const char *fmt, ...) {
  char text[256];
  va_list args;
  va_start(args, fmt);
  const int n = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return sink_write(&w->sink, text, (size_t)n);
}

/* Writes the value of an entry after `before`, and ends the line. */
static damo_status put_value(mtx_writer *w, scalar s, const char *before) {
  char re[NUMBER_TEXT], im[NUMBER_TEXT];
  switch (dtype_kind_of(s.dtype)) {
    case KIND_BOOL:
    case KIND_INT: return mtx_put(w, "%s%lld\n", before, (long long)s.v.i);
    case KIND_UINT: return mtx_put(w, "%s%llu\n", before, (unsigned long long)s.v.u);
    case KIND_FLOAT: number_shortest(s.v.f, s.dtype == DAMO_FLOAT32, re); return mtx_put(w, "%s%s\n", before, re);
    case KIND_COMPLEX:
      number_shortest(s.v.c.re, s.dtype == DAMO_COMPLEX64, re);
      number_shortest(s.v.c.im, s.dtype == DAMO_COMPLEX64, im);
      return mtx_put(w, "%s%s %s\n", before, re, im);
  }
  return DAMO_OK;
}

static damo_status put_comment(mtx_writer *w, const char *text) {
  while (text && *text) {
    const size_t n = strcspn(text, "\n");
    DAMO_TRY(sink_write(&w->sink, "% ", 2));
    DAMO_TRY(sink_write(&w->sink, text, n));
    DAMO_TRY(sink_write(&w->sink, "\n", 1));
    text += n + (text[n] == '\n');
  }
  return DAMO_OK;
}

static damo_status put_header(mtx_writer *w, const char *format, damo_dtype dtype) {
  static const char *const symmetries[] = {[MTX_GENERAL] = "general",
                                           [MTX_SYMMETRIC] = "symmetric",
                                           [MTX_SKEW] = "skew-symmetric",
                                           [MTX_HERMITIAN] = "hermitian"};
  const char *field = w->o->pattern              ? "pattern"
                      : dtype_is_complex(dtype)  ? "complex"
                      : dtype_is_discrete(dtype) ? "integer"
                                                 : "real";
  DAMO_TRY(mtx_put(w, "%%%%MatrixMarket matrix %s %s %s\n", format, field, symmetries[w->o->symmetry]));
  if (dtype == DAMO_UINT64 && !w->o->pattern) DAMO_TRY(mtx_put(w, "%%%%GraphBLAS type uint64_t\n"));
  return put_comment(w, w->o->comment);
}

/* ---- Symmetry ---------------------------------------------------------------------------------------------------- */

/* A copy of the values, conjugated (hermitian) or negated (skew). */
static damo_array *mirrored_values(const damo_array *a, mtx_symmetry symmetry) {
  damo_array *b = array_copy(a);
  if (!b || symmetry == MTX_SYMMETRIC) return b;
  const int64_t n = array_size(b);
  const size_t size = dtype_size(array_dtype(b));
  for (int64_t p = 0; p < n; p++) {
    char *at = b->data + (size_t)p * size;
    damo_c128 z;
    kernel_cast(array_dtype(b), DAMO_COMPLEX128)(at, &z, 1);
    if (symmetry == MTX_HERMITIAN && dtype_is_complex(array_dtype(b))) z.im = -z.im;
    if (symmetry == MTX_SKEW) z.re = -z.re, z.im = -z.im;
    if (symmetry == MTX_SKEW || dtype_is_complex(array_dtype(b)))
      kernel_cast(DAMO_COMPLEX128, array_dtype(b))(&z, at, 1);
  }
  return b;
}

static damo_status not_symmetric(damo_ctx *ctx, const char *path, mtx_symmetry symmetry) {
  return ctx_fail(ctx, DAMO_EVALUE, "%s: the matrix is not %s", path,
                  symmetry == MTX_SKEW        ? "skew-symmetric"
                  : symmetry == MTX_HERMITIAN ? "hermitian"
                                              : "symmetric");
}

static damo_status check_sparse_symmetry(damo_sparse *a, const char *path, mtx_symmetry symmetry) {
  damo_ctx *ctx = a->obj.ctx;
  bool same = false, pattern = false;
  if (symmetry == MTX_GENERAL) return DAMO_OK;
  if (a->shape[0] != a->shape[1]) return not_symmetric(ctx, path, symmetry);
  damo_array *values = mirrored_values(a->data, symmetry);
  damo_sparse *v = values ? sparse_with_data(a, values) : NULL, *t = v ? sparse_transpose(v) : NULL;
  damo_status status = t ? sparse_equal(a, t, true, &same) : ctx->error.status;
  if (status == DAMO_OK) status = sparse_same_pattern(a, t, &pattern);
  damo_release(values);
  damo_release(v);
  damo_release(t);
  if (status != DAMO_OK) return status;
  return same && pattern ? DAMO_OK : not_symmetric(ctx, path, symmetry);
}

static damo_status check_array_symmetry(const damo_array *a, const char *path, mtx_symmetry symmetry) {
  if (symmetry == MTX_GENERAL) return DAMO_OK;
  const int64_t *shape = array_shape(a);
  if (shape[0] != shape[1]) return not_symmetric(a->obj.ctx, path, symmetry);
  damo_array *b = mirrored_values(a, symmetry);
  if (!b) return DAMO_EMEMORY;
  damo_array *t = array_view(b, 2, shape, (const int64_t[]){array_strides(b)[1], array_strides(b)[0]}, 0);
  const bool same = t && array_equal(a, t, true);
  const damo_status status = t ? DAMO_OK : a->obj.ctx->error.status;
  damo_release(b);
  damo_release(t);
  if (status != DAMO_OK) return status;
  return same ? DAMO_OK : not_symmetric(a->obj.ctx, path, symmetry);
}

/* Whether the entry at (i, j) is listed in the file. */
static bool is_listed(mtx_symmetry symmetry, int64_t i, int64_t j) {
  return symmetry == MTX_GENERAL || (symmetry == MTX_SKEW ? i > j : i >= j);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static int64_t mtx_index_at(const damo_array *v, int64_t i) {
  return array_dtype(v) == DAMO_INT64 ? ((const int64_t *)(void *)v->data)[i] : ((const int32_t *)(void *)v->data)[i];
}

/* Calls put_value for each listed entry; with w NULL, only counts them. */
static damo_status each_entry(mtx_writer *w, const damo_sparse *a, mtx_symmetry symmetry, int64_t *count) {
  char place[64];
  const bool csr = a->format == DAMO_CSR;
  *count = 0;
  for (int64_t major = 0; major < sparse_major(a); major++) {
    for (int64_t p = mtx_index_at(a->indptr, major); p < mtx_index_at(a->indptr, major + 1); p++) {
      const int64_t minor = mtx_index_at(a->indices, p), i = csr ? major : minor, j = csr ? minor : major;
      if (!is_listed(symmetry, i, j)) continue;
      ++*count;
      if (!w) continue;
      snprintf(place, sizeof place, "%lld %lld ", (long long)i + 1, (long long)j + 1);
      if (w->o->pattern)
        DAMO_TRY(mtx_put(w, "%lld %lld\n", (long long)i + 1, (long long)j + 1));
      else
        DAMO_TRY(put_value(w, array_get(a->data, &p), place));
    }
  }
  return DAMO_OK;
}

static damo_status mtx_write_sparse(mtx_writer *w, const damo_sparse *a) {
  int64_t n;
  each_entry(NULL, a, w->o->symmetry, &n);
  DAMO_TRY(put_header(w, "coordinate", sparse_dtype(a)));
  DAMO_TRY(mtx_put(w, "%lld %lld %lld\n", (long long)a->shape[0], (long long)a->shape[1], (long long)n));
  return each_entry(w, a, w->o->symmetry, &n);
}

/* Writes a vector as one column. */
static damo_status write_array(mtx_writer *w, const damo_array *a) {
  const int64_t rows = array_shape(a)[0], cols = a->ndim == 2 ? array_shape(a)[1] : 1;
  DAMO_TRY(put_header(w, "array", array_dtype(a)));
  DAMO_TRY(mtx_put(w, "%lld %lld\n", (long long)rows, (long long)cols));
  for (int64_t j = 0; j < cols; j++) {
    for (int64_t i = 0; i < rows; i++) {
      const int64_t at[2] = {i, j};
      if (is_listed(w->o->symmetry, i, j)) DAMO_TRY(put_value(w, array_get(a, at), ""));
    }
  }
  return DAMO_OK;
}

static damo_status check_value(const char *path, const damo_obj *value, const mtx_options *o) {
  char shape[256];
  const damo_array *a = (const damo_array *)value;
  if (value->kind == OBJ_SPARSE) return DAMO_OK;
  if (value->kind != OBJ_ARRAY) return ctx_fail(value->ctx, DAMO_ETYPE, "%s: the value is no matrix", path);
  if (o->pattern) return ctx_fail(value->ctx, DAMO_EVALUE, "%s: a dense array can't be written as a pattern", path);
  if (a->ndim == 2 || (a->ndim == 1 && o->symmetry == MTX_GENERAL)) return DAMO_OK;
  return ctx_fail(value->ctx, DAMO_ETYPE, "%s: the array has shape %s, expected a matrix", path,
                  shape_format(shape, sizeof shape, a->ndim, array_shape(a)));
}

damo_status io_write_mtx(const io_to *to, damo_obj *value, const mtx_options *options) {
  const char *path = to->path;
  static const mtx_options plain = {.symmetry = MTX_GENERAL};
  mtx_writer w = {.o = options ? options : &plain};
  DAMO_TRY(check_value(path, value, w.o));
  damo_sparse *a = NULL;
  damo_status status;
  if (value->kind == OBJ_SPARSE) {
    a = sparse_sum_duplicates((damo_sparse *)value);
    status = a ? check_sparse_symmetry(a, path, w.o->symmetry) : DAMO_EMEMORY;
  } else {
    status = check_array_symmetry((damo_array *)value, path, w.o->symmetry);
  }
  if (status == DAMO_OK) status = sink_open(&w.sink, value->ctx, to);
  if (status == DAMO_OK) {
    status = a ? mtx_write_sparse(&w, a) : write_array(&w, (damo_array *)value);
    status = sink_close(&w.sink, status);
  }
  damo_release(a);
  return status;
}
