/* safetensors: named tensors in one file: the length of a header (8 bytes, little-endian), the header in JSON, and the
 * tensors' numbers, little-endian in C order. The header has for each name dtype, shape and data_offsets (begin and end
 * behind the header), and texts under "__metadata__".
 *
 * The file is not trusted: lengths are checked against those of the file before memory is allocated, and the tensors must
 * fill the data without overlaps and holes. Of JSON only what the format needs is accepted, which needs no recursion.
 */
#include <stdlib.h>
#include <string.h>

#include "io_int.h"

#define HEADER_MOST 100000000u /* bytes, as in the reference implementation */
#define METADATA "__metadata__"

typedef enum tensor_half { HALF_NONE, HALF_FLOAT16, HALF_BFLOAT16 } tensor_half;

static const struct {
  const char *name;
  damo_dtype dtype; /* as which it is read */
  tensor_half half; /* two bytes a number in the file */
} tensor_dtypes[] = {
    {"BOOL", DAMO_BOOL, HALF_NONE},      {"I8", DAMO_INT8, HALF_NONE},          {"I16", DAMO_INT16, HALF_NONE},
    {"I32", DAMO_INT32, HALF_NONE},      {"I64", DAMO_INT64, HALF_NONE},        {"U8", DAMO_UINT8, HALF_NONE},
    {"U16", DAMO_UINT16, HALF_NONE},     {"U32", DAMO_UINT32, HALF_NONE},       {"U64", DAMO_UINT64, HALF_NONE},
    {"F32", DAMO_FLOAT32, HALF_NONE},    {"F64", DAMO_FLOAT64, HALF_NONE},      {"C64", DAMO_COMPLEX64, HALF_NONE},
    {"F16", DAMO_FLOAT32, HALF_FLOAT16}, {"BF16", DAMO_FLOAT32, HALF_BFLOAT16},
};
#define N_TENSOR_DTYPES (int)(sizeof tensor_dtypes / sizeof *tensor_dtypes)

typedef struct tensor_info {
  char *name;
  int dtype; /* index of tensor_dtypes */
  int ndim;
  int64_t shape[DAMO_MAX_NDIM];
  uint64_t begin, end;
} tensor_info;

typedef struct tensor_reader {
  damo_ctx *ctx;
  const char *path;
  const char *start, *at, *end; /* the header */
  strbuf text;                  /* the last string read */
  tensor_info *info;
  int64_t n, cap;
  npz *out;
} tensor_reader;

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static damo_status json_fail(const tensor_reader *r, const char *what) {
  return io_fail(r->ctx, r->path, 0, "byte %lld of the header: %s", (long long)(r->at - r->start) + 1, what);
}

static void skip_json_spaces(tensor_reader *r) {
  while (r->at < r->end && strchr(" \t\n\r", *r->at) && *r->at) r->at++;
}

/* Whether the next token is that character, which is then skipped. */
static bool json_take(tensor_reader *r, char c) {
  skip_json_spaces(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static damo_status json_need(tensor_reader *r, char c) {
  const char what[] = {'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', ' ', c, '\0'};
  return json_take(r, c) ? DAMO_OK : json_fail(r, what);
}

static bool read_hex(tensor_reader *r, unsigned *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    const char *digits = "0123456789abcdef", *at;
    if (r->at == r->end || *r->at == '\0') return false;
    at = strchr(digits, *r->at >= 'A' && *r->at <= 'F' ? *r->at | 0x20 : *r->at);
    if (!at) return false;
    *out = *out << 4 | (unsigned)(at - digits);
  }
  return true;
}

static void add_utf8(strbuf *b, unsigned c) {
  char t[4];
  size_t n = 0;
  if (c < 0x80) {
    t[n++] = (char)c;
  } else if (c < 0x800) {
    t[n++] = (char)(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    t[n++] = (char)(0xE0 | c >> 12);
    t[n++] = (char)(0x80 | (c >> 6 & 63));
  } else {
    t[n++] = (char)(0xF0 | c >> 18);
    t[n++] = (char)(0x80 | (c >> 12 & 63));
    t[n++] = (char)(0x80 | (c >> 6 & 63));
  }
  if (c >= 0x80) t[n++] = (char)(0x80 | (c & 63));
  strbuf_addn(b, t, n);
}

/* The rest of \uXXXX, or of a pair of them. */
static damo_status read_unicode(tensor_reader *r) {
  unsigned c, low;
  if (!read_hex(r, &c)) return json_fail(r, "\\u needs four hexadecimal digits");
  if (c >= 0xD800 && c < 0xDC00) {
    if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u') return json_fail(r, "half of a surrogate pair");
    r->at += 2;
    if (!read_hex(r, &low) || low < 0xDC00 || low > 0xDFFF) return json_fail(r, "half of a surrogate pair");
    c = 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
  } else if (c >= 0xDC00 && c < 0xE000) {
    return json_fail(r, "half of a surrogate pair");
  }
  if (c == 0) return json_fail(r, "a text has a zero byte in it");
  add_utf8(&r->text, c);
  return DAMO_OK;
}

/* The length of the UTF-8 sequence at p; 0: there is none (overlong forms, surrogates and zero are none). */
static int utf8_length(const char *p, const char *end) {
  const unsigned char c = (unsigned char)*p;
  const int n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
  if (n == 0 || c == 0 || end - p < n) return 0;
  for (int i = 1; i < n; i++) {
    if (((unsigned char)p[i] & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = n > 1 ? (unsigned char)p[1] : 0;
  if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F)) return 0;
  if ((c == 0xF0 && second < 0x90) || (c == 0xF4 && second > 0x8F)) return 0;
  return n;
}

/* Reads a string into r->text. */
static damo_status json_string(tensor_reader *r) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  DAMO_TRY(json_need(r, '"'));
  r->text.n = 0;
  strbuf_addn(&r->text, "", 0);
  while (r->at < r->end && *r->at != '"') {
    if ((unsigned char)*r->at < 0x20) return json_fail(r, "a control character in a text");
    if (*r->at != '\\') {
      const int n = utf8_length(r->at, r->end);
      if (n == 0) return json_fail(r, "a text that is not UTF-8");
      strbuf_addn(&r->text, r->at, (size_t)n);
      r->at += n;
      continue;
    }
    if (++r->at == r->end) break;
    const char c = *r->at++;
    const char *which = c ? strchr(escapes, c) : NULL;
    if (c == 'u')
      DAMO_TRY(read_unicode(r));
    else if (which)
      strbuf_addn(&r->text, &meant[which - escapes], 1);
    else
      return json_fail(r, "an unknown escape");
  }
  if (r->at == r->end) return json_fail(r, "a text does not end");
  r->at++;
  return r->text.failed ? DAMO_EMEMORY : DAMO_OK;
}

/* A whole number from 0 to INT64_MAX, without sign, point, exponent and leading zeros. */
static damo_status json_count(tensor_reader *r, uint64_t *out) {
  skip_json_spaces(r);
  const char *first = r->at;
  *out = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
    if (*out > (INT64_MAX - 9) / 10) return json_fail(r, "a number out of range");
    *out = 10 * *out + (uint64_t)(*r->at - '0');
  }
  if (r->at == first) return json_fail(r, "expected a whole number");
  if (*first == '0' && r->at - first > 1) return json_fail(r, "a number with leading zeros");
  if (r->at < r->end && strchr(".eE", *r->at) && *r->at) return json_fail(r, "expected a whole number");
  return DAMO_OK;
}

/* [n, n, …] with at most `most` entries. */
static damo_status json_counts(tensor_reader *r, uint64_t *out, int most, int *n) {
  DAMO_TRY(json_need(r, '['));
  for (*n = 0; !json_take(r, ']');) {
    if (*n > 0) DAMO_TRY(json_need(r, ','));
    if (*n == most) return json_fail(r, "a list that is too long");
    DAMO_TRY(json_count(r, &out[(*n)++]));
  }
  return DAMO_OK;
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

static damo_status read_dtype(tensor_reader *r, tensor_info *t) {
  DAMO_TRY(json_string(r));
  for (int i = 0; i < N_TENSOR_DTYPES; i++) {
    if (strcmp(r->text.at, tensor_dtypes[i].name) != 0) continue;
    t->dtype = i;
    return DAMO_OK;
  }
  return io_fail(r->ctx, r->path, 0, "tensor '%.200s': dtype %.20s is not one that damo has", t->name, r->text.at);
}

static damo_status read_info(tensor_reader *r, tensor_info *t) {
  uint64_t list[DAMO_MAX_NDIM];
  bool has_dtype = false, has_shape = false, has_offsets = false;
  int n;
  DAMO_TRY(json_need(r, '{'));
  while (!json_take(r, '}')) {
    if (has_dtype || has_shape || has_offsets) DAMO_TRY(json_need(r, ','));
    DAMO_TRY(json_string(r));
    DAMO_TRY(json_need(r, ':'));
    if (strcmp(r->text.at, "dtype") == 0 && !has_dtype) {
      DAMO_TRY(read_dtype(r, t));
      has_dtype = true;
    } else if (strcmp(r->text.at, "shape") == 0 && !has_shape) {
      DAMO_TRY(json_counts(r, list, DAMO_MAX_NDIM, &t->ndim));
      for (int i = 0; i < t->ndim; i++) t->shape[i] = (int64_t)list[i];
      has_shape = true;
    } else if (strcmp(r->text.at, "data_offsets") == 0 && !has_offsets) {
      DAMO_TRY(json_counts(r, list, 2, &n));
      if (n != 2) return json_fail(r, "data_offsets must be two numbers");
      t->begin = list[0], t->end = list[1];
      has_offsets = true;
    } else {
      return json_fail(r, "a key that is unknown or stands twice");
    }
  }
  if (has_dtype && has_shape && has_offsets) return DAMO_OK;
  return io_fail(r->ctx, r->path, 0, "tensor '%.200s' lacks dtype, shape or data_offsets", t->name);
}

static size_t tensor_item_size(const tensor_info *t) {
  return tensor_dtypes[t->dtype].half ? 2 : dtype_size(tensor_dtypes[t->dtype].dtype);
}

static damo_status check_info(const tensor_reader *r, const tensor_info *t, uint64_t data) {
  int64_t count;
  size_t bytes;
  if (t->begin > t->end || t->end > data)
    return io_fail(r->ctx, r->path, 0, "tensor '%.200s' ends behind the %llu bytes of data", t->name,
                   (unsigned long long)data);
  if (shape_size(r->ctx, t->ndim, t->shape, &count) != DAMO_OK ||
      !size_mul((size_t)count, tensor_item_size(t), &bytes) || bytes != t->end - t->begin)
    return io_fail(r->ctx, r->path, 0, "tensor '%.200s' has %llu bytes, which its shape and dtype don't take", t->name,
                   (unsigned long long)(t->end - t->begin));
  return DAMO_OK;
}

static damo_status add_info(tensor_reader *r, uint64_t data) {
  if (r->n == r->cap) {
    const int64_t cap = r->cap ? 2 * r->cap : 16;
    tensor_info *p = mem_realloc(r->ctx, r->info, (size_t)r->cap * sizeof *p, (size_t)cap * sizeof *p);
    if (!p) return DAMO_EMEMORY;
    r->info = p, r->cap = cap;
  }
  tensor_info *t = &r->info[r->n];
  *t = (tensor_info){.name = mem_strdup(r->ctx, r->text.at)};
  if (!t->name) return DAMO_EMEMORY;
  r->n++;
  DAMO_TRY(read_info(r, t));
  return check_info(r, t, data);
}

static damo_status add_metadata(npz *out, char *take_key, const char *value) {
  if (out->n_metadata == out->metadata_cap) {
    const int64_t cap = out->metadata_cap ? 2 * out->metadata_cap : 8;
    npz_text *p = mem_realloc(out->ctx, out->metadata, (size_t)out->metadata_cap * sizeof *p, (size_t)cap * sizeof *p);
    if (!p) {
      mem_strfree(out->ctx, take_key);
      return DAMO_EMEMORY;
    }
    out->metadata = p, out->metadata_cap = cap;
  }
  npz_text *m = &out->metadata[out->n_metadata++];
  *m = (npz_text){take_key, mem_strdup(out->ctx, value)};
  return m->value ? DAMO_OK : DAMO_EMEMORY;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(((const npz_text *)a)->key, ((const npz_text *)b)->key);
}

static damo_status read_metadata(tensor_reader *r) {
  npz *out = r->out;
  DAMO_TRY(json_need(r, '{'));
  while (!json_take(r, '}')) {
    if (out->n_metadata > 0) DAMO_TRY(json_need(r, ','));
    DAMO_TRY(json_string(r));
    char *key = mem_strdup(r->ctx, r->text.at);
    if (!key) return DAMO_EMEMORY;
    damo_status s = json_need(r, ':');
    if (s == DAMO_OK) s = json_string(r);
    if (s != DAMO_OK) {
      mem_strfree(r->ctx, key);
      return s;
    }
    DAMO_TRY(add_metadata(out, key, r->text.at));
  }
  if (out->n_metadata > 1) qsort(out->metadata, (size_t)out->n_metadata, sizeof *out->metadata, compare_texts);
  for (int64_t i = 1; i < out->n_metadata; i++) {
    if (strcmp(out->metadata[i - 1].key, out->metadata[i].key) == 0)
      return io_fail(r->ctx, r->path, 0, "the header's metadata has '%.200s' twice", out->metadata[i].key);
  }
  return DAMO_OK;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(((const tensor_info *)a)->name, ((const tensor_info *)b)->name);
}

/* By begin, then end: of tensors that fill the data in this order each begins where the one before ends. */
static int compare_tensor_offsets(const void *a, const void *b) {
  const tensor_info *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->end < y->end ? -1 : x->end > y->end;
}

static damo_status tensors_read_header(tensor_reader *r, uint64_t data) {
  bool has_metadata = false;
  DAMO_TRY(json_need(r, '{'));
  while (!json_take(r, '}')) {
    if (r->n > 0 || has_metadata) DAMO_TRY(json_need(r, ','));
    DAMO_TRY(json_string(r));
    DAMO_TRY(json_need(r, ':'));
    const bool metadata = strcmp(r->text.at, METADATA) == 0;
    if (metadata && has_metadata) return io_fail(r->ctx, r->path, 0, "the header has " METADATA " twice");
    DAMO_TRY(metadata ? read_metadata(r) : add_info(r, data));
    has_metadata = has_metadata || metadata;
  }
  skip_json_spaces(r);
  if (r->at != r->end) return json_fail(r, "something follows the header");
  if (r->n > 1) qsort(r->info, (size_t)r->n, sizeof *r->info, compare_names);
  for (int64_t i = 1; i < r->n; i++) {
    if (strcmp(r->info[i - 1].name, r->info[i].name) == 0)
      return io_fail(r->ctx, r->path, 0, "the header has the tensor '%.200s' twice", r->info[i].name);
  }
  if (r->n > 1) qsort(r->info, (size_t)r->n, sizeof *r->info, compare_tensor_offsets);
  uint64_t end = 0;
  for (int64_t i = 0; i < r->n; end = r->info[i++].end) {
    if (r->info[i].begin != end)
      return io_fail(r->ctx, r->path, 0, "the data have %s before tensor '%.200s'",
                     r->info[i].begin < end ? "an overlap" : "a hole", r->info[i].name);
  }
  return end == data ? DAMO_OK : io_fail(r->ctx, r->path, 0, "the data end with bytes of no tensor");
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* IEEE binary16 as binary32: the same value; the payload of a nan is kept. */
static uint32_t bits_of_float16(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3FF;
  if (exponent == 31) return sign | 0x7F800000 | fraction << 13;
  if (exponent > 0) return sign | (exponent + 112) << 23 | fraction << 13;
  const float value = (float)fraction * 0x1p-24f; /* subnormal: exact */
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return sign | bits;
}

/* Widens n 16-bit numbers, which lie at the start of the array's memory as in the file, in place from the last on. */
static void widen(char *p, int64_t n, tensor_half half) {
  for (int64_t i = n - 1; i >= 0; i--) {
    const unsigned char *from = (const unsigned char *)p + 2 * i;
    const uint32_t h = from[0] | (uint32_t)from[1] << 8, bits = half == HALF_BFLOAT16 ? h << 16 : bits_of_float16(h);
    memcpy(p + 4 * i, &bits, sizeof bits);
  }
}

static damo_array *read_tensor(io_input *in, const tensor_info *t) {
  const damo_dtype dtype = tensor_dtypes[t->dtype].dtype;
  const tensor_half half = tensor_dtypes[t->dtype].half;
  const size_t bytes = (size_t)(t->end - t->begin);
  damo_array *a = array_empty(in->ctx, dtype, t->ndim, t->shape);
  if (!a) return NULL;
  if (input_read(in, a->data, bytes) != bytes) {
    io_fail(in->ctx, in->path, 0, "the data are cut short");
    damo_release(a);
    return NULL;
  }
  const int64_t n = array_size(a);
  const bool pair = dtype_is_complex(dtype);
  if (half)
    widen(a->data, n, half);
  else if (!io_host_is_little())
    io_swap_bytes(a->data, pair ? 2 * n : n, dtype_size(dtype) / (pair ? 2 : 1));
  for (int64_t i = 0; dtype == DAMO_BOOL && i < n; i++) a->data[i] = a->data[i] != 0;
  return a;
}

static damo_status read_tensors(tensor_reader *r, io_input *in) {
  npz *out = r->out;
  out->at = mem_calloc(r->ctx, (size_t)r->n * sizeof *out->at);
  if (!out->at) return DAMO_EMEMORY;
  out->cap = r->n;
  for (int64_t i = 0; i < r->n; i++) {
    damo_array *a = read_tensor(in, &r->info[i]);
    if (!a) return damo_error_status(r->ctx);
    out->at[out->n++] = (npz_entry){r->info[i].name, a};
    r->info[i].name = NULL;
  }
  return DAMO_OK;
}

static damo_status tensors_read(tensor_reader *r, io_input *in) {
  unsigned char head[8];
  uint64_t n = 0;
  if (input_read(in, head, sizeof head) != sizeof head)
    return io_fail(r->ctx, r->path, 0, "this is not a safetensors file, or it is cut short");
  for (int i = 0; i < 8; i++) n |= (uint64_t)head[i] << 8 * i;
  if (n > HEADER_MOST)
    return io_fail(r->ctx, r->path, 0, "the header's length (%llu) is out of range", (unsigned long long)n);
  if (n > in->size - sizeof head) return io_fail(r->ctx, r->path, 0, "the header is cut short");
  char *header = mem_alloc(r->ctx, (size_t)n);
  if (!header) return DAMO_EMEMORY;
  r->start = r->at = header, r->end = header + n;
  damo_status s = DAMO_OK;
  if (input_read(in, header, (size_t)n) != n) s = io_fail(r->ctx, r->path, 0, "the header is cut short");
  if (s == DAMO_OK && (n == 0 || *header != '{')) s = json_fail(r, "expected {");
  if (s == DAMO_OK) s = tensors_read_header(r, in->size - sizeof head - n);
  if (s == DAMO_OK) s = read_tensors(r, in);
  mem_free(r->ctx, header, (size_t)n);
  return s;
}

damo_status io_read_safetensors(damo_ctx *ctx, const io_from *from, npz *out) {
  io_input in;
  npz got = {.ctx = ctx};
  tensor_reader r = {.ctx = ctx, .path = from->path, .out = &got};
  DAMO_TRY(input_open(&in, ctx, from));
  strbuf_init(&r.text, ctx);
  const damo_status s = tensors_read(&r, &in);
  input_close(&in);
  strbuf_clear(&r.text);
  for (int64_t i = 0; i < r.n; i++) mem_strfree(ctx, r.info[i].name);
  if (r.info) mem_free(ctx, r.info, (size_t)r.cap * sizeof *r.info);
  if (s == DAMO_OK)
    *out = got;
  else
    npz_clear(&got);
  return s;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int dtype_in_file(damo_dtype dtype) {
  for (int i = 0; i < N_TENSOR_DTYPES; i++) {
    if (tensor_dtypes[i].dtype == dtype && !tensor_dtypes[i].half) return i;
  }
  return -1;
}

static damo_status add_json_string(strbuf *b, const char *path, const char *text) {
  const char *end = text + strlen(text);
  strbuf_add(b, "\"");
  for (int n; text < end; text += n) {
    n = utf8_length(text, end);
    if (n == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: a name or text of safetensors must be UTF-8", path);
    if (*text == '"' || *text == '\\')
      strbuf_addf(b, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      strbuf_addf(b, "\\u%04x", (unsigned)*text);
    else
      strbuf_addn(b, text, (size_t)n);
  }
  strbuf_add(b, "\"");
  return DAMO_OK;
}

/* A tensor to be written, with what orders them: large items first, so that each is aligned, then by name. */
typedef struct tensor_out {
  const char *name;
  const damo_array *array;
} tensor_out;

static int compare_out(const void *a, const void *b) {
  const tensor_out *x = a, *y = b;
  const size_t p = dtype_size(array_dtype(x->array)), q = dtype_size(array_dtype(y->array));
  if (p != q) return p > q ? -1 : 1;
  return strcmp(x->name, y->name);
}

static damo_status add_metadata_json(strbuf *b, const char *path, const npz_text *metadata, int64_t n) {
  if (n == 0) return DAMO_OK;
  strbuf_add(b, "\"" METADATA "\":{");
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) strbuf_add(b, ",");
    DAMO_TRY(add_json_string(b, path, metadata[i].key));
    strbuf_add(b, ":");
    DAMO_TRY(add_json_string(b, path, metadata[i].value));
  }
  strbuf_add(b, "}");
  return DAMO_OK;
}

static damo_status add_tensor_json(strbuf *b, const char *path, const tensor_out *t, uint64_t *at) {
  const int dtype = dtype_in_file(array_dtype(t->array));
  if (strcmp(t->name, METADATA) == 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: a tensor can't have the name " METADATA, path);
  if (dtype < 0)
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s: safetensors have no dtype %s ('%.200s')", path,
                    dtype_name(array_dtype(t->array)), t->name);
  const uint64_t end = *at + (uint64_t)array_size(t->array) * dtype_size(array_dtype(t->array));
  DAMO_TRY(add_json_string(b, path, t->name));
  strbuf_addf(b, ":{\"dtype\":\"%s\",\"shape\":[", tensor_dtypes[dtype].name);
  for (int k = 0; k < t->array->ndim; k++) strbuf_addf(b, "%s%lld", k ? "," : "", (long long)array_shape(t->array)[k]);
  strbuf_addf(b, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)*at, (unsigned long long)end);
  *at = end;
  return DAMO_OK;
}

static damo_status make_json(strbuf *b, const char *path, const tensor_out *t, int64_t n, const npz_text *metadata,
                             int64_t n_metadata) {
  uint64_t at = 0;
  strbuf_add(b, "{");
  DAMO_TRY(add_metadata_json(b, path, metadata, n_metadata));
  for (int64_t i = 0; i < n; i++) {
    if (i > 0 || n_metadata > 0) strbuf_add(b, ",");
    if (i > 0 && strcmp(t[i - 1].name, t[i].name) == 0)
      return ctx_fail(b->ctx, DAMO_EVALUE, "%s: two tensors have the name '%.200s'", path, t[i].name);
    DAMO_TRY(add_tensor_json(b, path, &t[i], &at));
  }
  strbuf_add(b, "}");
  while (b->n % 8 != 0 && !b->failed) strbuf_add(b, " "); /* so that the data are aligned */
  if (b->failed) return DAMO_EMEMORY;
  return b->n <= HEADER_MOST ? DAMO_OK : ctx_fail(b->ctx, DAMO_EVALUE, "%s: the header is too long", path);
}

static damo_status tensor_write(io_sink *sink, const damo_array *a) {
  const damo_dtype dtype = array_dtype(a);
  const bool pair = dtype_is_complex(dtype);
  damo_array *c = io_host_is_little() ? array_as_contiguous(a, dtype) : array_cast(a, dtype);
  if (!c) return DAMO_EMEMORY;
  if (!io_host_is_little()) io_swap_bytes(c->data, array_size(c) * (pair ? 2 : 1), dtype_size(dtype) / (pair ? 2 : 1));
  const damo_status s = sink_write(sink, c->data, (size_t)array_size(c) * dtype_size(dtype));
  damo_release(c);
  return s;
}

damo_status io_write_safetensors(damo_ctx *ctx, const io_to *to, const char *const *names, damo_array *const *arrays,
                                 int64_t n, const npz_text *metadata, int64_t n_metadata) {
  io_sink sink;
  strbuf json;
  tensor_out *t = mem_calloc(ctx, (size_t)n * sizeof *t);
  if (!t) return DAMO_EMEMORY;
  for (int64_t i = 0; i < n; i++) t[i] = (tensor_out){names[i], arrays[i]};
  if (n > 1) qsort(t, (size_t)n, sizeof *t, compare_out);
  strbuf_init(&json, ctx);
  damo_status s = make_json(&json, to->path, t, n, metadata, n_metadata);
  if (s == DAMO_OK) s = sink_open(&sink, ctx, to);
  if (s == DAMO_OK) {
    unsigned char head[8];
    for (int i = 0; i < 8; i++) head[i] = (unsigned char)((uint64_t)json.n >> 8 * i);
    s = sink_write(&sink, head, sizeof head);
    if (s == DAMO_OK) s = sink_write(&sink, json.at, json.n);
    for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = tensor_write(&sink, t[i].array);
    s = sink_close(&sink, s);
  }
  strbuf_clear(&json);
  mem_free(ctx, t, (size_t)n * sizeof *t);
  return s;
}
