/* npz_sparse: sparse matrices in SciPy's layout: an .npz with the members format (a text of three characters), shape,
 * data, and those of the format: indices and indptr for csr, csc and bsr, row and col (or coords) for coo, offsets for
 * dia.
 *
 * coo, dia and bsr are converted as by SciPy's tocsr(): duplicates of coo are summed, blocks keep their zeros and their
 * order, zeros of diagonals are dropped. The members are not trusted: every length and index is checked before it is
 * used.
 */
#include <stdlib.h>
#include <string.h>

#include "io_int.h"

typedef struct npz_form {
  damo_ctx *ctx;
  const char *path;
  const npz *z;
  damo_format format; /* of the result */
  int64_t shape[2];
} npz_form;

static damo_array *member(const npz *z, const char *name) {
  for (int64_t i = 0; i < z->n; i++) {
    if (strcmp(z->at[i].name, name) == 0) return z->at[i].array;
  }
  return NULL;
}

bool io_npz_is_sparse(const npz *z) { return member(z, "format") && member(z, "shape") && member(z, "data"); }

static const char *shape_text(const damo_array *a, char text[256]) {
  return shape_format(text, 256, a->ndim, array_shape(a));
}

/* An io error if a member is missing. names: NULL-terminated. */
static damo_status need_members(const npz_form *f, const char *const *names) {
  for (; *names; names++) {
    if (!member(f->z, *names)) {
      return io_fail(f->ctx, f->path, 0, "the member '%s' of a sparse matrix is missing", *names);
    }
  }
  return DAMO_OK;
}

/* Turns an error of sparse_from_* into an io error of the file. */
static damo_sparse *explained(const npz_form *f, const char *where, damo_sparse *a) {
  if (a || f->ctx->error.status == DAMO_EMEMORY || f->ctx->error.status == DAMO_EIO) return a;
  char why[512];
  strncpy(why, f->ctx->error.message, sizeof why - 1);
  why[sizeof why - 1] = '\0';
  io_fail(f->ctx, f->path, 0, "%s%s", where, why);
  return NULL;
}

/* ---- csr, csc ---------------------------------------------------------------------------------------------------- */

static damo_sparse *read_compressed(npz_form *f) {
  static const char *const names[] = {"indices", "indptr", NULL};
  if (need_members(f, names) != DAMO_OK) return NULL;
  return sparse_from_parts(f->ctx, f->format, f->shape, member(f->z, "data"), member(f->z, "indices"),
                           member(f->z, "indptr"), DAMO_INT32);
}

static damo_sparse *read_csc(npz_form *f) {
  f->format = DAMO_CSC;
  return read_compressed(f);
}

/* ---- coo --------------------------------------------------------------------------------------------------------- */

/* Member a as an owned, contiguous int64 vector; an io error unless it has n integers. */
static damo_array *integers(const npz_form *f, const char *name, const damo_array *a, int64_t n) {
  char text[256];
  if (!dtype_is_integer(array_dtype(a))) {
    io_fail(f->ctx, f->path, 0, "member '%s' is %s, expected an integer dtype", name, dtype_name(array_dtype(a)));
  } else if (a->ndim != 1 || array_size(a) != n) {
    io_fail(f->ctx, f->path, 0, "member '%s' has shape %s, expected a vector of %lld, as data has", name,
            shape_text(a, text), (long long)n);
  } else {
    return array_as_contiguous(a, DAMO_INT64);
  }
  return NULL;
}

/* The positions of the n entries along an axis, checked against the shape. */
static damo_array *positions(const npz_form *f, const char *name, const damo_array *a, int64_t n, int axis) {
  damo_array *v = integers(f, name, a, n);
  if (!v) return NULL;
  const int64_t *p = (const int64_t *)(const void *)v->data;
  for (int64_t i = 0; i < n; i++) {
    if (p[i] >= 0 && p[i] < f->shape[axis]) continue;
    io_fail(f->ctx, f->path, 0, "entry %lld of member '%s' is %lld, expected at least 0 and less than the %lld %s",
            (long long)i + 1, name, (long long)p[i], (long long)f->shape[axis], axis ? "columns" : "rows");
    damo_release(v);
    return NULL;
  }
  return v;
}

static damo_sparse *from_coordinates(const npz_form *f, const damo_array *row, const damo_array *col,
                                     const char *row_name, const char *col_name) {
  char text[256];
  const damo_array *data = member(f->z, "data");
  if (data->ndim != 1) {
    io_fail(f->ctx, f->path, 0, "member 'data' of coo has shape %s, expected a vector", shape_text(data, text));
    return NULL;
  }
  const int64_t n = array_size(data);
  damo_array *r = positions(f, row_name, row, n, 0), *c = r ? positions(f, col_name, col, n, 1) : NULL;
  damo_array *v = c ? array_as_contiguous(data, array_dtype(data)) : NULL;
  damo_sparse *a = NULL;
  if (v) {
    a = sparse_from_places(f->ctx, f->format, array_dtype(v), f->shape, n, (const int64_t *)(void *)r->data,
                           (const int64_t *)(void *)c->data, v->data, DAMO_INT32, false);
  }
  damo_release(r);
  damo_release(c);
  damo_release(v);
  return a;
}

static damo_array *row_of(const damo_array *a, int64_t i) {
  return array_view(a, 1, array_shape(a) + 1, array_strides(a) + 1, i * array_strides(a)[0]);
}

/* coords: row and column numbers as the two rows of one member, the form that SciPy has announced. */
static damo_sparse *from_coords(const npz_form *f, const damo_array *coords) {
  char text[256];
  if (coords->ndim != 2 || array_shape(coords)[0] != 2) {
    io_fail(f->ctx, f->path, 0, "member 'coords' has shape %s, expected (2, entries)", shape_text(coords, text));
    return NULL;
  }
  damo_array *row = row_of(coords, 0), *col = row ? row_of(coords, 1) : NULL;
  damo_sparse *a = col ? from_coordinates(f, row, col, "coords", "coords") : NULL;
  damo_release(row);
  damo_release(col);
  return a;
}

static damo_sparse *read_coo(npz_form *f) {
  static const char *const names[] = {"row", "col", NULL};
  const damo_array *coords = member(f->z, "coords");
  if (coords) return from_coords(f, coords);
  if (need_members(f, names) != DAMO_OK) return NULL;
  return from_coordinates(f, member(f->z, "row"), member(f->z, "col"), "row", "col");
}

/* ---- Positions of dia and bsr
 * --------------------------------------------------------------------------------------- */

/* Positions and values of entries: space for n, of which the first `filled` are set. */
typedef struct npz_places {
  damo_ctx *ctx;
  int64_t n, filled;
  int64_t *row, *col;
  char *value;
  size_t size; /* of a value */
} npz_places;

static damo_status places_init(npz_places *p, damo_ctx *ctx, int64_t n, size_t size) {
  *p = (npz_places){.ctx = ctx, .n = n, .size = size};
  const bool ok = (p->row = mem_alloc(ctx, (size_t)n * sizeof *p->row)) != NULL &&
                  (p->col = mem_alloc(ctx, (size_t)n * sizeof *p->col)) != NULL &&
                  (p->value = mem_alloc(ctx, (size_t)n * size)) != NULL;
  return ok ? DAMO_OK : DAMO_EMEMORY;
}

static void places_clear(npz_places *p) {
  if (p->row) mem_free(p->ctx, p->row, (size_t)p->n * sizeof *p->row);
  if (p->col) mem_free(p->ctx, p->col, (size_t)p->n * sizeof *p->col);
  if (p->value) mem_free(p->ctx, p->value, (size_t)p->n * p->size);
}

/* Appends n entries in columns col, col + 1, …; the row starts at `row` and increases by `step`. */
static void places_add(npz_places *p, int64_t n, int64_t row, int64_t step, int64_t col, const char *values) {
  for (int64_t i = 0; i < n; i++) {
    p->row[p->filled + i] = row + i * step;
    p->col[p->filled + i] = col + i;
  }
  memcpy(p->value + (size_t)p->filled * p->size, values, (size_t)n * p->size);
  p->filled += n;
}

static damo_sparse *places_matrix(const npz_places *p, const npz_form *f, damo_dtype dtype) {
  return sparse_from_places(p->ctx, f->format, dtype, f->shape, p->filled, p->row, p->col, p->value, DAMO_INT32, true);
}

/* ---- dia --------------------------------------------------------------------------------------------------------- */

typedef struct dia_diagonal {
  int64_t offset, at; /* row `at` of data is the diagonal of that offset */
} dia_diagonal;

static int compare_offsets(const void *a, const void *b) {
  const int64_t x = ((const dia_diagonal *)a)->offset, y = ((const dia_diagonal *)b)->offset;
  return (x > y) - (x < y);
}

static damo_status sort_diagonals(const npz_form *f, const damo_array *offsets, dia_diagonal *d) {
  const int64_t n = array_size(offsets);
  for (int64_t i = 0; i < n; i++) d[i] = (dia_diagonal){((const int64_t *)(const void *)offsets->data)[i], i};
  qsort(d, (size_t)n, sizeof *d, compare_offsets);
  for (int64_t i = 1; i < n; i++) {
    if (d[i].offset == d[i - 1].offset)
      return io_fail(f->ctx, f->path, 0, "member 'offsets' holds %lld twice", (long long)d[i].offset);
  }
  return DAMO_OK;
}

/* Appends one diagonal. Element j of its row of data is in column j; elements outside the matrix are padding. */
static void dia_add_diagonal(const npz_form *f, const damo_array *data, dia_diagonal d, npz_places *p) {
  const int64_t rows = f->shape[0], cols = f->shape[1], width = array_shape(data)[1], k = d.offset;
  int64_t first = k > 0 ? k : 0, end = cols < width ? cols : width;
  if (k < 0 || rows <= INT64_MAX - k) end = rows + k < end ? rows + k : end;
  if (first >= end) return;
  places_add(p, end - first, first - k, 1, first, data->data + (size_t)(d.at * width + first) * p->size);
}

static damo_sparse *of_diagonals(const npz_form *f, const damo_array *data, const damo_array *offsets) {
  npz_places p = {.n = 0};
  damo_sparse *a = NULL, *out = NULL;
  const int64_t n = array_size(offsets);
  dia_diagonal *d = mem_alloc(f->ctx, (size_t)n * sizeof *d);
  if (!d || sort_diagonals(f, offsets, d) != DAMO_OK) goto done;
  if (places_init(&p, f->ctx, array_size(data), dtype_size(array_dtype(data))) != DAMO_OK) goto done;
  for (int64_t i = 0; i < n; i++) dia_add_diagonal(f, data, d[i], &p);
  a = places_matrix(&p, f, array_dtype(data));
  out = a ? sparse_drop_zeros(a) : NULL;
done:
  damo_release(a);
  places_clear(&p);
  if (d) mem_free(f->ctx, d, (size_t)n * sizeof *d);
  return out;
}

static damo_sparse *read_dia(npz_form *f) {
  static const char *const names[] = {"offsets", NULL};
  char text[256];
  if (need_members(f, names) != DAMO_OK) return NULL;
  const damo_array *data = member(f->z, "data");
  if (data->ndim != 2) {
    io_fail(f->ctx, f->path, 0, "member 'data' of dia has shape %s, expected (diagonals, columns)",
            shape_text(data, text));
    return NULL;
  }
  damo_array *offsets = integers(f, "offsets", member(f->z, "offsets"), array_shape(data)[0]);
  damo_array *values = offsets ? array_as_contiguous(data, array_dtype(data)) : NULL;
  damo_sparse *a = values ? of_diagonals(f, values, offsets) : NULL;
  damo_release(offsets);
  damo_release(values);
  return a;
}

/* ---- bsr --------------------------------------------------------------------------------------------------------- */

/* The shape in blocks; an io error if blocks don't divide the matrix. */
static damo_status bsr_block_shape(const npz_form *f, const damo_array *data, int64_t shape[2]) {
  char text[256];
  if (data->ndim != 3) {
    return io_fail(f->ctx, f->path, 0, "member 'data' of bsr has shape %s, expected (blocks, rows, columns)",
                   shape_text(data, text));
  }
  const int64_t *block = array_shape(data) + 1;
  for (int i = 0; i < 2; i++) {
    if (block[i] < 1 || f->shape[i] % block[i] != 0) {
      return io_fail(f->ctx, f->path, 0, "blocks of (%lld, %lld) don't fill a matrix of (%lld, %lld)",
                     (long long)block[0], (long long)block[1], (long long)f->shape[0], (long long)f->shape[1]);
    }
    shape[i] = f->shape[i] / block[i];
  }
  return DAMO_OK;
}

/* A csr matrix with one entry per block, the block's number from 0, so that the checks for csr apply. */
static damo_sparse *read_blocks(const npz_form *f, const damo_array *data, const int64_t shape[2]) {
  const int64_t n = array_shape(data)[0];
  damo_array *number = array_empty(f->ctx, DAMO_INT64, 1, &n);
  if (!number) return NULL;
  for (int64_t i = 0; i < n; i++) ((int64_t *)(void *)number->data)[i] = i;
  damo_sparse *blocks =
      sparse_from_parts(f->ctx, DAMO_CSR, shape, number, member(f->z, "indices"), member(f->z, "indptr"), DAMO_INT64);
  damo_release(number);
  return explained(f, "counted in blocks: ", blocks);
}

static damo_sparse *of_blocks(const npz_form *f, const damo_array *data, const damo_sparse *blocks) {
  npz_places p;
  damo_sparse *a = NULL;
  const int64_t *at = (const int64_t *)(const void *)blocks->indptr->data,
                *col = (const int64_t *)(const void *)blocks->indices->data;
  const int64_t rows = array_shape(data)[1], cols = array_shape(data)[2];
  if (places_init(&p, f->ctx, array_size(data), dtype_size(array_dtype(data))) == DAMO_OK) {
    for (int64_t i = 0; i < blocks->shape[0]; i++) {
      for (int64_t b = at[i]; b < at[i + 1]; b++) {
        for (int64_t r = 0; r < rows; r++) {
          places_add(&p, cols, i * rows + r, 0, col[b] * cols, data->data + (size_t)((b * rows + r) * cols) * p.size);
        }
      }
    }
    a = places_matrix(&p, f, array_dtype(data));
  }
  places_clear(&p);
  return a;
}

static damo_sparse *read_bsr(npz_form *f) {
  static const char *const names[] = {"indices", "indptr", NULL};
  int64_t shape[2];
  const damo_array *data = member(f->z, "data");
  if (need_members(f, names) != DAMO_OK || bsr_block_shape(f, data, shape) != DAMO_OK) return NULL;
  damo_sparse *blocks = read_blocks(f, data, shape), *a = NULL;
  damo_array *values = blocks ? array_as_contiguous(data, array_dtype(data)) : NULL;
  if (values) a = of_blocks(f, values, blocks);
  damo_release(blocks);
  damo_release(values);
  return a;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef damo_sparse *(*form_reader)(npz_form *f);

/* The reader for the text of the member format (character codes of one byte or four). NULL with an error if it is
 * unknown. */
static form_reader find_reader(const npz_form *f) {
  static const struct {
    const char *name;
    form_reader read;
  } known[] = {{"csr", read_compressed}, {"csc", read_csc}, {"coo", read_coo}, {"dia", read_dia}, {"bsr", read_bsr}};
  char text[8] = "";
  const damo_array *a = member(f->z, "format");
  const int64_t n = array_size(a);
  const damo_dtype dtype = array_dtype(a);
  if (a->ndim == 1 && n < (int64_t)sizeof text && (dtype == DAMO_UINT8 || dtype == DAMO_UINT32)) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t code = scalar_to_int64(array_get(a, &i));
      text[i] = code >= 32 && code < 127 ? (char)code : code ? '?' : 0;
    }
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(text, known[i].name) == 0) return known[i].read;
  }
  io_fail(f->ctx, f->path, 0, "the sparse format is '%s', expected csr, csc, coo, dia or bsr", text);
  return NULL;
}

static damo_status npz_read_shape(npz_form *f) {
  const damo_array *a = member(f->z, "shape");
  if (a->ndim != 1 || array_size(a) != 2 || !dtype_is_integer(array_dtype(a)))
    return io_fail(f->ctx, f->path, 0, "member 'shape' is not a vector of two integers");
  for (int64_t i = 0; i < 2; i++) {
    f->shape[i] = scalar_to_int64(array_get(a, &i));
    if (f->shape[i] < 0 || f->shape[i] == INT64_MAX)
      return io_fail(f->ctx, f->path, 0, "member 'shape' holds %lld", (long long)f->shape[i]);
  }
  return DAMO_OK;
}

/* The file's size does not bound the number of rows of coo, dia and bsr, each of which takes an element of indptr. */
static damo_status npz_check_majors(const npz_form *f, form_reader read) {
  if (read == read_compressed || read == read_csc) return DAMO_OK;
  if ((uint64_t)f->shape[0] <= f->z->max_bytes / sizeof(int64_t)) return DAMO_OK;
  return npz_too_large(f->ctx, f->path, f->z->max_bytes, "its rows as csr take");
}

damo_sparse *io_sparse_of_npz(const char *path, const npz *z) {
  static const char *const names[] = {"format", "shape", "data", NULL};
  npz_form f = {.ctx = z->ctx, .path = path, .z = z, .format = DAMO_CSR};
  if (need_members(&f, names) != DAMO_OK) return NULL;
  const form_reader read = find_reader(&f);
  if (!read || npz_read_shape(&f) != DAMO_OK || npz_check_majors(&f, read) != DAMO_OK) return NULL;
  return explained(&f, "", read(&f));
}

damo_sparse *io_read_sparse_npz(damo_ctx *ctx, const io_from *from) {
  npz z;
  if (io_read_npz(ctx, from, 0, &z) != DAMO_OK) return NULL;
  damo_sparse *a = io_sparse_of_npz(from->path, &z);
  npz_clear(&z);
  return a;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The member _is_array makes SciPy's load_npz return a csr_array or csc_array, whose * is elementwise as in damo, not a
 * csr_matrix; older versions ignore it. */
damo_status io_write_sparse_npz(const io_to *to, const damo_sparse *a) {
  static const char *const names[] = {"indices", "indptr", "format", "shape", "data", "_is_array"};
  damo_ctx *ctx = a->obj.ctx;
  const uint8_t yes = 1;
  damo_array *format = damo_array_from(ctx, DAMO_UINT8, 1, (const int64_t[]){3}, sparse_format_name(a->format));
  damo_array *shape = format ? damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){2}, a->shape) : NULL;
  damo_array *is_array = shape ? damo_array_from(ctx, DAMO_BOOL, 0, NULL, &yes) : NULL;
  damo_status status = DAMO_EMEMORY;
  if (is_array) {
    damo_array *const arrays[] = {a->indices, a->indptr, format, shape, a->data, is_array};
    status = npz_write(ctx, to, names, arrays, 6, 2);
  }
  damo_release(format);
  damo_release(shape);
  damo_release(is_array);
  return status;
}
