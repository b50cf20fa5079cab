/* npy: NumPy's file format for one array, versions 1 to 3 (numpy.lib.format): magic, version, header length, a Python
 * dict literal with descr, fortran_order and shape, then the elements.
 *
 * The header is not trusted: its numbers are checked against the number of bytes that follow before memory is
 * allocated.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "io_int.h"

#define MAGIC "\x93NUMPY"
#define HEADER_LIMIT ((size_t)1 << 20) /* bytes; a real header has some hundred */

bool io_host_is_little(void) {
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first == 1;
}

/* ---- Header ------------------------------------------------------------------------------------------------------ */

typedef struct npy_info {
  damo_dtype dtype;
  bool swap, fortran;
  int text; /* > 0: a text of that many characters, read as a vector of character codes */
  int ndim;
  int64_t shape[DAMO_MAX_NDIM];
} npy_info;

/* The text after the key and its colon in the dict; NULL if the key is missing. */
static const char *npy_header_value(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at) return NULL;
  at += strlen(key);
  while (isspace((unsigned char)*at)) at++;
  if (*at++ != ':') return NULL;
  while (isspace((unsigned char)*at)) at++;
  return at;
}

static bool dtype_of_kind(char kind, int size, damo_dtype *out) {
  static const struct {
    char kind;
    int size;
    damo_dtype dtype;
  } known[] = {
      {'b', 1, DAMO_BOOL},        {'i', 1, DAMO_INT8},    {'i', 2, DAMO_INT16},   {'i', 4, DAMO_INT32},
      {'i', 8, DAMO_INT64},       {'u', 1, DAMO_UINT8},   {'u', 2, DAMO_UINT16},  {'u', 4, DAMO_UINT32},
      {'u', 8, DAMO_UINT64},      {'f', 4, DAMO_FLOAT32}, {'f', 8, DAMO_FLOAT64}, {'c', 8, DAMO_COMPLEX64},
      {'c', 16, DAMO_COMPLEX128},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].kind != kind || known[i].size != size) continue;
    *out = known[i].dtype;
    return true;
  }
  return false;
}

static damo_status parse_descr(const io_source *s, const char *at, npy_info *info) {
  if (!at || (*at != '\'' && *at != '"')) return source_fail(s, "arrays with a structured dtype are not supported");
  const char quote = *at++;
  const char order = strchr("<>|=", *at) && *at ? *at++ : '=';
  const char kind = *at;
  int size = 0, digits = 0;
  if (kind) at++;
  for (; isdigit((unsigned char)*at) && digits < 4; digits++) size = 10 * size + (*at++ - '0');
  if ((kind == 'S' || kind == 'U') && size > 0 && *at == quote) {
    info->text = size;
    info->dtype = kind == 'S' ? DAMO_UINT8 : DAMO_UINT32;
    info->swap = kind == 'U' && order != '=' && order != '|' && (order == '<') != io_host_is_little();
    return DAMO_OK;
  }
  if (*at != quote || !dtype_of_kind(kind, size, &info->dtype)) {
    return source_fail(s, "dtype %c%d is not one that damo has", isprint((unsigned char)kind) ? kind : '?', size);
  }
  info->swap = order != '=' && order != '|' && (order == '<') != io_host_is_little();
  return DAMO_OK;
}

static damo_status parse_shape(const io_source *s, const char *at, npy_info *info) {
  if (!at || *at++ != '(') return source_fail(s, "the header has no shape");
  info->ndim = 0;
  for (;;) {
    while (isspace((unsigned char)*at)) at++;
    if (*at == ')') return DAMO_OK;
    if (!isdigit((unsigned char)*at)) return source_fail(s, "the header's shape is damaged");
    if (info->ndim == DAMO_MAX_NDIM) return source_fail(s, "the array has more than %d axes", DAMO_MAX_NDIM);
    int64_t n = 0;
    for (; isdigit((unsigned char)*at); at++) {
      if (n > (INT64_MAX - 9) / 10) return source_fail(s, "the header's shape is out of range");
      n = 10 * n + (*at - '0');
    }
    info->shape[info->ndim++] = n;
    while (isspace((unsigned char)*at) || *at == 'L') at++;
    if (*at == ',')
      at++;
    else if (*at != ')')
      return source_fail(s, "the header's shape is damaged");
  }
}

static damo_status parse_header(const io_source *s, const char *header, npy_info *info) {
  const char *order = npy_header_value(header, "'fortran_order'");
  DAMO_TRY(parse_descr(s, npy_header_value(header, "'descr'"), info));
  DAMO_TRY(parse_shape(s, npy_header_value(header, "'shape'"), info));
  if (!order) return source_fail(s, "the header has no fortran_order");
  info->fortran = strncmp(order, "True", 4) == 0;
  if (info->text == 0) return DAMO_OK;
  if (info->ndim > 0) return source_fail(s, "arrays of texts are not supported");
  info->shape[info->ndim++] = info->text;
  return DAMO_OK;
}

static damo_status npy_read_header(io_source *s, npy_info *info) {
  unsigned char start[8], length[4] = {0};
  DAMO_TRY(source_read(s, start, sizeof start));
  if (memcmp(start, MAGIC, 6) != 0) return source_fail(s, "this is not an .npy file");
  if (start[6] < 1 || start[6] > 3) return source_fail(s, "version %d of .npy is not known", start[6]);
  DAMO_TRY(source_read(s, length, start[6] == 1 ? 2 : 4));
  const size_t n = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
  if (n > HEADER_LIMIT || n > s->left) return source_fail(s, "the header's length (%zu) is out of range", n);
  char *header = mem_calloc(s->ctx, n + 1);
  if (!header) return DAMO_EMEMORY;
  damo_status status = source_read(s, header, n);
  if (status == DAMO_OK) status = parse_header(s, header, info);
  mem_free(s->ctx, header, n + 1);
  return status;
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

void io_swap_bytes(char *p, int64_t n, size_t size) {
  for (int64_t i = 0; i < n; i++, p += size) {
    for (size_t a = 0, z = size - 1; a < z; a++, z--) {
      const char t = p[a];
      p[a] = p[z];
      p[z] = t;
    }
  }
}

static void tidy_entries(damo_array *a, const npy_info *info, int64_t count) {
  const size_t size = dtype_size(info->dtype);
  const bool pair = dtype_is_complex(info->dtype);
  if (info->swap) io_swap_bytes(a->data, pair ? 2 * count : count, pair ? size / 2 : size);
  if (info->dtype == DAMO_BOOL) {
    for (int64_t i = 0; i < count; i++) a->data[i] = a->data[i] != 0;
  }
}

/* A view of a, which is taken, with reversed axes: an array in Fortran order. */
static damo_array *reversed(damo_array *a, const npy_info *info) {
  int64_t strides[DAMO_MAX_NDIM];
  for (int i = 0; i < info->ndim; i++) strides[i] = array_strides(a)[info->ndim - 1 - i];
  damo_array *view = array_view(a, info->ndim, info->shape, strides, 0);
  damo_release(a);
  return view;
}

damo_array *npy_read(io_source *s) {
  npy_info info = {.ndim = 0};
  int64_t count, shape[DAMO_MAX_NDIM];
  if (npy_read_header(s, &info) != DAMO_OK) return NULL;
  for (int i = 0; i < info.ndim; i++) shape[i] = info.shape[info.fortran ? info.ndim - 1 - i : i];
  if (shape_size(s->ctx, info.ndim, shape, &count) != DAMO_OK) {
    source_fail(s, "the header's shape is out of range");
    return NULL;
  }
  if ((uint64_t)count > s->left / dtype_size(info.dtype)) {
    source_fail(s, "the data are cut short");
    return NULL;
  }
  damo_array *a = array_empty(s->ctx, info.dtype, info.ndim, shape);
  if (!a) return NULL;
  if (source_read(s, a->data, (size_t)count * dtype_size(info.dtype)) != DAMO_OK) {
    damo_release(a);
    return NULL;
  }
  tidy_entries(a, &info, count);
  return info.fortran && info.ndim > 1 ? reversed(a, &info) : a;
}

damo_array *io_read_npy(damo_ctx *ctx, const io_from *from) {
  io_input in;
  if (input_open(&in, ctx, from) != DAMO_OK) return NULL;
  damo_array *a = NULL;
  io_source *s = mem_calloc(ctx, sizeof *s);
  if (s) {
    s->ctx = ctx, s->path = in.path, s->in = &in, s->left = in.size;
    a = npy_read(s);
    mem_free(ctx, s, sizeof *s);
  }
  input_close(&in);
  return a;
}

/* ---- Mapping ----------------------------------------------------------------------------------------------------- */

/* Whether the elements can be used as they lie there. */
static bool is_mappable(const npy_info *info, const char *data, int64_t count) {
  const size_t item = dtype_size(info->dtype);
  bool is = (!info->swap || item == 1) && info->text == 0 && (uintptr_t)data % item == 0;
  for (int64_t i = 0; info->dtype == DAMO_BOOL && is && i < count; i++) is = (unsigned char)data[i] <= 1;
  return is;
}

/* The strides of the file's order, in bytes. */
static void npy_strides(const npy_info *info, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(info->dtype);
  for (int k = 0; k < info->ndim; k++) {
    const int axis = info->fortran ? k : info->ndim - 1 - k;
    strides[axis] = step;
    step *= info->shape[axis] > 0 ? info->shape[axis] : 1;
  }
}

damo_array *npy_map(io_source *s, const char *file, uint64_t size, void (*release)(void *owner), void *owner) {
  npy_info info = {.ndim = 0};
  int64_t count = 0, strides[DAMO_MAX_NDIM];
  const char *data = NULL;
  damo_status status = npy_read_header(s, &info);
  if (status == DAMO_OK) {
    data = file + (size - s->left);
    if (shape_size(s->ctx, info.ndim, info.shape, &count) != DAMO_OK ||
        (uint64_t)count > s->left / dtype_size(info.dtype))
      status = source_fail(s, "the data are cut short");
    else if (!is_mappable(&info, data, count))
      status = ctx_fail(s->ctx, DAMO_EVALUE, "%s: its bytes can't be used as they are: load it without mmap", s->path);
  }
  if (status != DAMO_OK) {
    release(owner);
    return NULL;
  }
  npy_strides(&info, strides);
  return array_wrap(s->ctx, "load", info.dtype, info.ndim, info.shape, strides, (void *)(uintptr_t)data, false, release,
                    owner);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Completes a header whose text ends at `at`: padding, newline, and the magic and length in front. Returns its
 * length. */
static size_t finish_header(char out[NPY_HEADER_MAX], char *at) {
  while ((at - out) % 64 != 63) *at++ = ' ';
  *at++ = '\n';
  const size_t n = (size_t)(at - out) - 10;
  memcpy(out, MAGIC "\1\0", 8);
  out[8] = (char)(n & 255);
  out[9] = (char)(n >> 8);
  return (size_t)(at - out);
}

size_t npy_header(const damo_array *a, char out[NPY_HEADER_MAX]) {
  static const char kinds[] = {
      [KIND_BOOL] = 'b', [KIND_INT] = 'i', [KIND_UINT] = 'u', [KIND_FLOAT] = 'f', [KIND_COMPLEX] = 'c'};
  const damo_dtype dtype = array_dtype(a);
  const size_t size = dtype_size(dtype);
  const char order = size == 1 ? '|' : io_host_is_little() ? '<' : '>';
  char *at = out + 10, *end = out + NPY_HEADER_MAX;
  at += snprintf(at, (size_t)(end - at), "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (", order,
                 kinds[dtype_kind_of(dtype)], size);
  for (int i = 0; i < a->ndim; i++) {
    at += snprintf(at, (size_t)(end - at), "%s%lld", i ? ", " : "", (long long)array_shape(a)[i]);
  }
  at += snprintf(at, (size_t)(end - at), "%s), }", a->ndim == 1 ? "," : "");
  return finish_header(out, at);
}

size_t npy_text_header(const damo_array *a, char out[NPY_HEADER_MAX]) {
  char *at = out + 10;
  at += snprintf(at, NPY_HEADER_MAX - 10, "{'descr': '|S%lld', 'fortran_order': False, 'shape': (), }",
                 (long long)array_size(a));
  return finish_header(out, at);
}

damo_status io_write_npy(const io_to *to, const damo_array *a) {
  damo_ctx *ctx = a->obj.ctx;
  char header[NPY_HEADER_MAX];
  io_sink sink;
  damo_array *c = array_as_contiguous(a, array_dtype(a));
  if (!c) return DAMO_EMEMORY;
  damo_status status = sink_open(&sink, ctx, to);
  if (status == DAMO_OK) {
    status = sink_write(&sink, header, npy_header(c, header));
    if (status == DAMO_OK) status = sink_write(&sink, c->data, (size_t)array_size(c) * dtype_size(array_dtype(c)));
    status = sink_close(&sink, status);
  }
  damo_release(c);
  return status;
}
