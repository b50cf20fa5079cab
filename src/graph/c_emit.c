/* c_emit: C source of a compiled program: what the emitters of all Ops share. */
#include "c_emit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Files ------------------------------------------------------------------------------------------------------- */

void c_file_init(c_file *f, damo_ctx *ctx, const char *name) {
  *f = (c_file){.ctx = ctx, .name = name};
  strbuf_init(&f->helpers, ctx);
  strbuf_init(&f->constants, ctx);
  strbuf_init(&f->functions, ctx);
  strbuf_init(&f->data, ctx);
  ptrvec_init(&f->helper_names, ctx);
  ptrvec_init(&f->blocks, ctx);
  map_init(&f->constant_of, ctx);
  ptrvec_init(&f->arrays, ctx);
}

void c_file_clear(c_file *f) {
  strbuf_clear(&f->helpers);
  strbuf_clear(&f->constants);
  strbuf_clear(&f->functions);
  strbuf_clear(&f->data);
  ptrvec_clear(&f->helper_names);
  map_clear(&f->constant_of);
  for (int64_t i = 0; i < f->arrays.n; i++) damo_release(f->arrays.at[i]);
  ptrvec_clear(&f->arrays);
  for (int64_t i = 0; i < f->blocks.n; i++) mem_free(f->ctx, f->blocks.at[i], *(size_t *)f->blocks.at[i]);
  ptrvec_clear(&f->blocks);
}

#define BLOCK_HEAD 16 /* keeps the alignment of what follows the size */

void *c_file_alloc(c_file *f, size_t bytes) {
  char *block = mem_calloc(f->ctx, bytes + BLOCK_HEAD);
  if (block == NULL) return NULL;
  *(size_t *)(void *)block = bytes + BLOCK_HEAD;
  if (ptrvec_push(&f->blocks, block) == DAMO_OK) return block + BLOCK_HEAD;
  mem_free(f->ctx, block, bytes + BLOCK_HEAD);
  return NULL;
}

damo_array *c_file_hold(c_file *f, damo_array *take) {
  if (take == NULL || ptrvec_push(&f->arrays, take) == DAMO_OK) return take;
  damo_release(take);
  return NULL;
}

damo_status c_emit_init(c_emit *e, c_file *f, int64_t n_values) {
  *e = (c_emit){.ctx = f->ctx, .file = f, .indent = 1, .n_values = n_values};
  strbuf_init(&e->body, f->ctx);
  ptrvec_init(&e->pointers, f->ctx);
  ptrvec_init(&e->storages, f->ctx);
  e->values = c_file_alloc(f, (size_t)(n_values + 1) * sizeof *e->values);
  return e->values != NULL ? DAMO_OK : DAMO_EMEMORY;
}

void c_emit_clear(c_emit *e) {
  strbuf_clear(&e->body);
  ptrvec_clear(&e->pointers);
  ptrvec_clear(&e->storages);
}

static void *emit_alloc(c_emit *e, size_t bytes) {
  void *p = c_file_alloc(e->file, bytes);
  if (p == NULL && e->status == DAMO_OK) e->status = DAMO_EMEMORY;
  return p;
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static const char *emit_vtext(c_emit *e, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = emit_alloc(e, (size_t)n + 1);
  if (text == NULL) return "";
  vsnprintf(text, (size_t)n + 1, format, args);
  return text;
}

const char *ce_text(c_emit *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = emit_vtext(e, format, args);
  va_end(args);
  return text;
}

static void emit_indent(c_emit *e) {
  for (int i = 0; i < e->indent; i++) strbuf_add(&e->body, "  ");
}

void ce_line(c_emit *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit_indent(e);
  strbuf_add(&e->body, emit_vtext(e, format, args));
  strbuf_add(&e->body, "\n");
  va_end(args);
}

void ce_open(c_emit *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit_indent(e);
  const char *head = emit_vtext(e, format, args);
  strbuf_add(&e->body, head);
  strbuf_add(&e->body, *head != '\0' ? " {\n" : "{\n");
  va_end(args);
  e->indent++;
}

void ce_close(c_emit *e) {
  e->indent--;
  emit_indent(e);
  strbuf_add(&e->body, "}\n");
}

void ce_for(c_emit *e, const char *i, int64_t n) {
  ce_open(e, "for (ptrdiff_t %s = 0; %s < %lld; %s++)", i, i, (long long)n, i);
}

void ce_fail_if(c_emit *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *condition = emit_vtext(e, format, args);
  va_end(args);
  ce_line(e, "if (%s) return 1;", condition);
}

damo_status ce_refuse(c_emit *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *why = emit_vtext(e, format, args);
  va_end(args);
  if (e->status == DAMO_OK) {
    strbuf op = {.ctx = e->ctx};
    if (e->node != NULL) op_format(&op, e->node->op);
    e->status = ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: %.200s%s%s", op.at != NULL ? op.at : "",
                         e->node != NULL ? ": " : "", why);
    if (e->node != NULL) ctx_fail_at(e->ctx, e->node->op->def->name, (damo_apply *)(uintptr_t)e->node);
    strbuf_clear(&op);
  }
  return e->status;
}

const char *ce_type(damo_dtype dtype) {
  static const char *const types[DAMO_N_DTYPES] = {
      [DAMO_BOOL] = "uint8_t",    [DAMO_INT8] = "int8_t",   [DAMO_INT16] = "int16_t",   [DAMO_INT32] = "int32_t",
      [DAMO_INT64] = "int64_t",   [DAMO_UINT8] = "uint8_t", [DAMO_UINT16] = "uint16_t", [DAMO_UINT32] = "uint32_t",
      [DAMO_UINT64] = "uint64_t", [DAMO_FLOAT32] = "float", [DAMO_FLOAT64] = "double",  [DAMO_COMPLEX64] = "c64",
      [DAMO_COMPLEX128] = "c128"};
  return types[dtype];
}

const char *ce_suffix(damo_dtype dtype) {
  static const char *const names[DAMO_N_DTYPES] = {
      [DAMO_BOOL] = "bool",      [DAMO_INT8] = "i8",     [DAMO_INT16] = "i16",   [DAMO_INT32] = "i32",
      [DAMO_INT64] = "i64",      [DAMO_UINT8] = "u8",    [DAMO_UINT16] = "u16",  [DAMO_UINT32] = "u32",
      [DAMO_UINT64] = "u64",     [DAMO_FLOAT32] = "f32", [DAMO_FLOAT64] = "f64", [DAMO_COMPLEX64] = "c64",
      [DAMO_COMPLEX128] = "c128"};
  return names[dtype];
}

static const char *unsigned_type(damo_dtype dtype) {
  switch (dtype_size(dtype)) {
    case 1: return "uint8_t";
    case 2: return "uint16_t";
    case 4: return "uint32_t";
    default: return "uint64_t";
  }
}

/* A number as C has it; a complex one as an initializer. */
static void add_number(strbuf *out, damo_dtype dtype, scalar s) {
  char text[64];
  if (dtype_is_complex(dtype)) {
    const damo_dtype part = dtype == DAMO_COMPLEX64 ? DAMO_FLOAT32 : DAMO_FLOAT64;
    const damo_c128 c = scalar_cast(s, DAMO_COMPLEX128).v.c;
    strbuf_add(out, "{");
    add_number(out, part, (scalar){.dtype = DAMO_FLOAT64, .v.f = c.re});
    strbuf_add(out, ", ");
    add_number(out, part, (scalar){.dtype = DAMO_FLOAT64, .v.f = c.im});
    strbuf_add(out, "}");
    return;
  }
  if (dtype_is_float(dtype)) {
    const double x = dtype == DAMO_FLOAT32 ? (double)(float)scalar_to_double(s) : scalar_to_double(s);
    if (isnan(x)) {
      strbuf_add(out, "NAN");
    } else if (isinf(x)) {
      strbuf_add(out, x < 0 ? "(-INFINITY)" : "INFINITY");
    } else {
      number_plain(x, 0, text);
      double back = 0;
      const bool plain = strlen(text) < 18 && sscanf(text, "%lf", &back) == 1 && back == x && !(x == 0 && signbit(x));
      if (!plain) snprintf(text, sizeof text, "%a", x);
      const bool point = strpbrk(text, ".epnx") != NULL;
      strbuf_addf(out, "%s%s%s%s%s", text[0] == '-' ? "(" : "", text, point ? "" : ".0",
                  dtype == DAMO_FLOAT32 ? "f" : "", text[0] == '-' ? ")" : "");
    }
  } else if (dtype == DAMO_UINT64) {
    strbuf_addf(out, "UINT64_C(%llu)", (unsigned long long)scalar_cast(s, DAMO_UINT64).v.u);
  } else {
    const int64_t x = scalar_to_int64(scalar_cast(s, dtype));
    if (x == INT64_MIN)
      strbuf_add(out, "(-INT64_C(9223372036854775807) - 1)");
    else if (x > INT32_MAX || x < -INT32_MAX)
      strbuf_addf(out, "%sINT64_C(%lld)%s", x < 0 ? "(-" : "", x < 0 ? -(long long)x : (long long)x, x < 0 ? ")" : "");
    else
      strbuf_addf(out, x < 0 ? "(%lld)" : "%lld", (long long)x);
  }
}

const char *ce_number(c_emit *e, damo_dtype dtype, scalar s) {
  strbuf out = {.ctx = e->ctx};
  add_number(&out, dtype, s);
  const char *of = dtype_is_complex(dtype) ? ce_text(e, "(%s)", ce_type(dtype)) : "";
  const char *text = ce_text(e, "%s%s", of, out.at != NULL ? out.at : "0");
  strbuf_clear(&out);
  return text;
}

const char *ce_literal(c_emit *e, const damo_array *a, damo_dtype dtype) {
  return ce_number(e, dtype, scalar_cast(array_item(a), dtype));
}

/* ---- Helpers ----------------------------------------------------------------------------------------------------- */

void ce_helper(c_emit *e, const char *name, damo_dtype dtype, const char *text) {
  c_file *f = e->file;
  const char *key = ce_text(e, "%s/%s", name, ce_suffix(dtype));
  for (int64_t i = 0; i < f->helper_names.n; i++) {
    if (strcmp(f->helper_names.at[i], key) == 0) return;
  }
  if (ptrvec_push(&f->helper_names, key) != DAMO_OK) e->status = DAMO_EMEMORY;
  const char *math = dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64 ? "f" : "";
  for (const char *at = text; *at != '\0';) {
    const size_t plain = strcspn(at, "@#$~");
    strbuf_addn(&f->helpers, at, plain);
    at += plain;
    if (*at == '\0') break;
    strbuf_add(&f->helpers, *at == '@'   ? ce_type(dtype)
                            : *at == '#' ? unsigned_type(dtype)
                            : *at == '$' ? math
                                         : ce_suffix(dtype));
    at++;
  }
  strbuf_add(&f->helpers, "\n");
}

/* Floats to integers: towards 0, saturated; 0 of nan. limit: the smallest float above the range. */
static const char *saturating(c_emit *e, damo_dtype to) {
  static const struct {
    const char *low, *least, *limit, *most;
  } bounds[DAMO_N_DTYPES] = {[DAMO_INT8] = {"-128.0", "INT8_MIN", "128.0", "INT8_MAX"},
                             [DAMO_INT16] = {"-32768.0", "INT16_MIN", "32768.0", "INT16_MAX"},
                             [DAMO_INT32] = {"-2147483648.0", "INT32_MIN", "2147483648.0", "INT32_MAX"},
                             [DAMO_INT64] = {"-0x1p63", "INT64_MIN", "0x1p63", "INT64_MAX"},
                             [DAMO_UINT8] = {"0.0", "0", "256.0", "UINT8_MAX"},
                             [DAMO_UINT16] = {"0.0", "0", "65536.0", "UINT16_MAX"},
                             [DAMO_UINT32] = {"0.0", "0", "4294967296.0", "UINT32_MAX"},
                             [DAMO_UINT64] = {"0.0", "0", "0x1p64", "UINT64_MAX"}};
  ce_helper(e, "saturate", to,
            ce_text(e,
                    "static inline @ saturate_~(double x) {\n  if (x >= %s) return %s;\n"
                    "  return x > %s ? (@)x : x <= %s ? %s : 0;\n}\n",
                    bounds[to].limit, bounds[to].most, bounds[to].low, bounds[to].low, bounds[to].least));
  return ce_text(e, "saturate_%s", ce_suffix(to));
}

static const char *complex_cast(c_emit *e, damo_dtype from, damo_dtype to, const char *x) {
  const char *part = to == DAMO_COMPLEX64 ? "float" : "double", *source = ce_suffix(from);
  const char *name = ce_text(e, "from_%s", source);
  if (to == DAMO_BOOL) {
    ce_helper(e, "is_not_0", from, "static inline uint8_t is_not_0_~(@ a) { return (a.re != 0) | (a.im != 0); }\n");
    return ce_text(e, "is_not_0_%s(%s)", source, x);
  }
  if (!dtype_is_complex(to))
    return ce_cast(e, from == DAMO_COMPLEX64 ? DAMO_FLOAT32 : DAMO_FLOAT64, to, ce_text(e, "(%s).re", x));
  e->file->complex = true;
  ce_helper(e, name, to,
            ce_text(e, "static inline @ %s_~(%s a) { return (@){(%s)a%s, %s%s}; }\n", name, ce_type(from), part,
                    dtype_is_complex(from) ? ".re" : "", dtype_is_complex(from) ? ce_text(e, "(%s)", part) : "",
                    dtype_is_complex(from) ? "a.im" : "0"));
  return ce_text(e, "%s_%s(%s)", name, ce_suffix(to), x);
}

const char *ce_cast(c_emit *e, damo_dtype from, damo_dtype to, const char *x) {
  if (from == to) return x;
  if (dtype_is_complex(from) || dtype_is_complex(to)) return complex_cast(e, from, to, x);
  if (to == DAMO_BOOL) return ce_text(e, "(uint8_t)((%s) != 0)", x);
  if (dtype_is_float(from) && !dtype_is_float(to)) return ce_text(e, "%s(%s)", saturating(e, to), x);
  return ce_text(e, "(%s)(%s)", ce_type(to), x);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

#define C_MOST_ELEMENTS ((int64_t)1 << 48) /* so that no size in bytes, and no sum of some, overflows */

static c_value *value_new(c_emit *e, damo_dtype dtype, int ndim, const int64_t *shape) {
  c_value *v = emit_alloc(e, sizeof *v);
  if (v == NULL) return NULL;
  v->dtype = dtype;
  v->ndim = ndim;
  v->pointer = -1;
  int64_t step = 1;
  for (int k = ndim - 1; k >= 0; k--) {
    v->shape[k] = shape[k];
    v->strides[k] = step;
    if (shape[k] > 0 && step > C_MOST_ELEMENTS / shape[k]) {
      ce_refuse(e, "an array of more than 2^48 elements");
      return NULL;
    }
    step *= shape[k];
  }
  return v;
}

static int32_t pointer_new(c_emit *e, int32_t storage, int64_t offset, damo_dtype dtype) {
  c_pointer *p = emit_alloc(e, sizeof *p);
  if (p == NULL) return 0;
  *p = (c_pointer){.storage = storage, .offset = offset, .dtype = dtype};
  if (ptrvec_push(&e->pointers, p) != DAMO_OK) e->status = DAMO_EMEMORY;
  return (int32_t)e->pointers.n - 1;
}

static int32_t storage_new(c_emit *e, c_home home, int32_t number, int64_t bytes) {
  c_storage *s = emit_alloc(e, sizeof *s);
  if (s == NULL) return 0;
  *s = (c_storage){.home = home, .number = number, .bytes = bytes, .birth = e->at, .death = e->at, .offset = -1};
  if (ptrvec_push(&e->storages, s) != DAMO_OK) e->status = DAMO_EMEMORY;
  return (int32_t)e->storages.n - 1;
}

c_storage *ce_storage(const c_emit *e, const c_value *v) {
  return e->storages.at[((const c_pointer *)e->pointers.at[v->pointer])->storage];
}

c_value *ce_value(c_emit *e, c_home home, int32_t number, damo_dtype dtype, int ndim, const int64_t *shape) {
  c_value *v = value_new(e, dtype, ndim, shape);
  if (v == NULL) return NULL;
  if (dtype_is_complex(dtype)) e->file->complex = true;
  v->pointer = pointer_new(e, storage_new(e, home, number, ce_size(v) * (int64_t)dtype_size(dtype)), 0, dtype);
  return e->status == DAMO_OK ? v : NULL;
}

c_value *ce_scratch_like(c_emit *e, damo_dtype dtype, int ndim, const int64_t *shape) {
  return ce_value(e, C_WORK, -1, dtype, ndim, shape);
}

c_value *ce_scratch(c_emit *e, damo_dtype dtype, int64_t n) { return ce_scratch_like(e, dtype, 1, &n); }

c_value *ce_constant(c_emit *e, damo_array *take) {
  if (take == NULL) {
    if (e->status == DAMO_OK) e->status = damo_error_status(e->ctx);
    return NULL;
  }
  damo_array *a = take;
  if (ce_dtype(e, array_dtype(a)) != array_dtype(a)) {
    a = array_cast(take, ce_dtype(e, array_dtype(take)));
    damo_release(take);
  } else if (!array_is_contiguous(a)) {
    a = array_copy(take);
    damo_release(take);
  }
  a = c_file_hold(e->file, a);
  if (a == NULL) {
    e->status = DAMO_EMEMORY;
    return NULL;
  }
  c_value *v = ce_value(e, C_CONSTANT, -1, array_dtype(a), a->ndim, array_shape(a));
  if (v == NULL) return NULL;
  v->known = a;
  ce_storage(e, v)->array = a;
  return v;
}

c_value *ce_view(c_emit *e, const c_value *x, int ndim, const int64_t *shape, const int64_t *strides, int64_t offset) {
  c_value *v = value_new(e, x->dtype, ndim, shape);
  if (v == NULL) return NULL;
  for (int k = 0; k < ndim; k++) v->strides[k] = strides[k];
  v->sparse = x->sparse;
  const c_pointer *base = e->pointers.at[x->pointer];
  if (base->moves) {
    v->pointer = pointer_new(e, base->storage, 0, x->dtype);
    ((c_pointer *)e->pointers.at[v->pointer])->moves = true;
    ce_line(e, "%s = %s + %lld;", ce_p(e, v), ce_p(e, x), (long long)offset);
  } else {
    v->pointer = pointer_new(e, base->storage, base->offset + offset, x->dtype);
  }
  if (x->known != NULL && e->status == DAMO_OK) {
    int64_t steps[DAMO_MAX_NDIM];
    for (int k = 0; k < ndim; k++) steps[k] = strides[k] * (int64_t)dtype_size(x->dtype);
    v->known = c_file_hold(e->file, array_view(x->known, ndim, shape, steps, offset * (int64_t)dtype_size(x->dtype)));
    if (v->known == NULL) e->status = DAMO_EMEMORY;
  }
  return e->status == DAMO_OK ? v : NULL;
}

static c_value *set_value(c_emit *e, int o, c_value *v) {
  e->values[e->out[o]] = v;
  return v;
}

void ce_out_same(c_emit *e, int o, c_value *x) { set_value(e, o, x); }

c_value *ce_out(c_emit *e, int o, damo_dtype dtype, int ndim, const int64_t *shape) {
  return set_value(e, o, ce_value(e, C_WORK, -1, ce_dtype(e, dtype), ndim, shape));
}

c_value *ce_out_view(c_emit *e, int o, const c_value *x, int ndim, const int64_t *shape, const int64_t *strides,
                     int64_t offset) {
  return set_value(e, o, ce_view(e, x, ndim, shape, strides, offset));
}

c_value *ce_out_view_at(c_emit *e, int o, const c_value *x, int ndim, const int64_t *shape, const int64_t *strides,
                        const char *offset) {
  c_value *v = value_new(e, x->dtype, ndim, shape);
  if (v == NULL) return NULL;
  for (int k = 0; k < ndim; k++) v->strides[k] = strides[k];
  v->pointer = pointer_new(e, ((const c_pointer *)e->pointers.at[x->pointer])->storage, 0, x->dtype);
  ((c_pointer *)e->pointers.at[v->pointer])->moves = true;
  ce_line(e, "%s = %s + (%s);", ce_p(e, v), ce_p(e, x), offset);
  return e->status == DAMO_OK ? set_value(e, o, v) : NULL;
}

/* Whether nothing but operand i of the node reads x's memory from here on. */
static bool is_last_use(const c_emit *e, int i) {
  const c_storage *s = ce_storage(e, ce_in(e, i));
  if (e->last == NULL) return false;
  for (int64_t k = 0; k < e->n_values; k++)
    if (e->values[k] != NULL && e->last[k] > e->at && ce_storage(e, e->values[k]) == s) return false;
  for (int j = 0; j < e->node->n_in; j++)
    if (j != i && ce_storage(e, ce_in(e, j)) == s) return false;
  return true;
}

c_value *ce_out_inplace(c_emit *e, int o, int i) {
  c_value *x = ce_in(e, i);
  if (x->known == NULL && ce_storage(e, x)->home == C_WORK &&
      (op_alias_has(e->node->op->destroy_map, o, i) || (is_last_use(e, i) && ce_is_contiguous(x))))
    return set_value(e, o, x);
  c_value *v = ce_value(e, C_WORK, -1, x->dtype, x->ndim, x->shape);
  if (v == NULL) return NULL;
  ce_copy(e, v, x);
  return set_value(e, o, v);
}

damo_status ce_out_known(c_emit *e, int o, damo_array *take) {
  set_value(e, o, ce_constant(e, take));
  return e->status;
}

damo_status ce_int(c_emit *e, int i, const char *what, int64_t *out) {
  const damo_array *a = ce_known(e, i);
  if (a == NULL || array_size(a) != 1) return ce_refuse(e, "%s is computed from values", what);
  *out = scalar_to_int64(array_item(a));
  return DAMO_OK;
}

bool ce_bound(const c_value *v, int64_t *most) {
  const bool known = v->known != NULL && array_size(v->known) == 1 && !dtype_is_float(v->dtype);
  if (known) *most = scalar_to_int64(array_item(v->known));
  if (!known && v->bounded) *most = v->most;
  return known || v->bounded;
}

bool ce_is_contiguous(const c_value *v) {
  int64_t step = 1;
  if (ce_size(v) == 0) return true;
  for (int k = v->ndim - 1; k >= 0; k--) {
    if (v->shape[k] != 1 && v->strides[k] != step) return false;
    step *= v->shape[k];
  }
  return true;
}

const char *ce_p(c_emit *e, const c_value *v) {
  if (v->sparse != NULL) ce_refuse(e, "a sparse operand");
  if (e->status != DAMO_OK) return "0";
  c_pointer *p = e->pointers.at[v->pointer];
  c_storage *s = e->storages.at[p->storage];
  p->used = s->read = true;
  if (s->death < e->at) s->death = e->at;
  return ce_text(e, "v%d", v->pointer);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

void ce_nest_init(c_emit *e, c_nest *n, int ndim, const int64_t *shape, int n_ops, const int64_t *const *strides) {
  *n = (c_nest){.n_ops = n_ops, .id = e->n_labels++};
  n->step = emit_alloc(e, (size_t)(ndim + 1) * (size_t)(n_ops + 1) * sizeof *n->step);
  if (n->step == NULL) return;
  for (int k = 0; k < ndim; k++) {
    if (shape[k] == 1) continue;
    int64_t *last = n->n_axes > 0 ? n->step + (n->n_axes - 1) * n_ops : NULL, *next = n->step + n->n_axes * n_ops;
    bool merges = last != NULL;
    for (int o = 0; o < n_ops && merges; o++) merges = last[o] == strides[o][k] * shape[k];
    if (merges) {
      n->length[n->n_axes - 1] *= shape[k];
      next = last;
    } else {
      n->length[n->n_axes++] = shape[k];
    }
    for (int o = 0; o < n_ops; o++) next[o] = strides[o][k];
  }
}

void ce_nest_open(c_emit *e, const c_nest *n) {
  for (int k = 0; k < n->n_axes; k++) ce_for(e, ce_text(e, "i%d_%d", n->id, k), n->length[k]);
}

void ce_nest_close(c_emit *e, const c_nest *n) {
  for (int k = 0; k < n->n_axes; k++) ce_close(e);
}

void ce_nest_index(const c_nest *n, int op, strbuf *out) {
  bool any = false;
  for (int k = 0; k < n->n_axes && n->step != NULL; k++) {
    const int64_t step = n->step[k * n->n_ops + op];
    if (step == 0) continue;
    strbuf_addf(out, step == 1 ? "%si%d_%d" : "%si%d_%d * %lld", any ? " + " : "", n->id, k, (long long)step);
    any = true;
  }
  if (!any) strbuf_add(out, "0");
}

const char *ce_nest_at(c_emit *e, const c_nest *n, int op) {
  strbuf out = {.ctx = e->ctx};
  ce_nest_index(n, op, &out);
  const char *text = ce_text(e, "%s", out.at != NULL ? out.at : "0");
  strbuf_clear(&out);
  return text;
}

void ce_strides_along(const c_value *x, int ndim, int64_t *strides) {
  for (int k = 0; k < ndim; k++) {
    const int own = k - (ndim - x->ndim);
    strides[k] = own < 0 || x->shape[own] == 1 ? 0 : x->strides[own];
  }
}

void ce_copy(c_emit *e, const c_value *to, const c_value *from) {
  if (to == NULL || from == NULL || ce_size(to) == 0) return;
  if (to->dtype == from->dtype && ce_is_contiguous(to) && ce_is_contiguous(from) && ce_size(to) == ce_size(from)) {
    if (ce_size(to) == 1)
      ce_line(e, "*%s = *%s;", ce_p(e, to), ce_p(e, from));
    else
      ce_line(e, "memcpy(%s, %s, %lld);", ce_p(e, to), ce_p(e, from),
              (long long)(ce_size(to) * (int64_t)dtype_size(to->dtype)));
    return;
  }
  int64_t strides[DAMO_MAX_NDIM];
  ce_strides_along(from, to->ndim, strides);
  c_nest n;
  ce_nest_init(e, &n, to->ndim, to->shape, 2, (const int64_t *const[]){strides, to->strides});
  ce_pass_open(e, &n, (const c_value *const[]){from, to}, 1);
  ce_pass_write(e, &n, 1, to, ce_cast(e, from->dtype, to->dtype, ce_pass_read(e, &n, 0, from)));
  ce_pass_close(e, &n);
}

void ce_settle(c_emit *e, c_value *v) {
  if (v == NULL || v->fill == NULL) return;
  const char *x = v->fill;
  v->fill = NULL;
  ce_fill(e, v, x);
}

void ce_fill(c_emit *e, const c_value *v, const char *x) {
  if (v == NULL || ce_size(v) == 0) return;
  if (dtype_is_complex(v->dtype) && strlen(x) == 1) x = ce_cast(e, DAMO_FLOAT64, v->dtype, x); /* 0 or 1 */
  c_nest n;
  ce_nest_init(e, &n, v->ndim, v->shape, 1, (const int64_t *const[]){v->strides});
  ce_pass_open(e, &n, &v, 0);
  ce_pass_write(e, &n, 0, v, x);
  ce_pass_close(e, &n);
}

const c_value *ce_contiguous(c_emit *e, const c_value *v) {
  if (v == NULL || ce_is_contiguous(v)) return v;
  const c_value *copy = ce_scratch_like(e, v->dtype, v->ndim, v->shape);
  ce_copy(e, copy, v);
  return copy;
}

damo_status ce_emit(c_emit *e, const damo_apply *node) {
  bool complex = false;
  const bool outer = e->takes_complex;
  e->takes_complex = false;
  const damo_status s = node->op->def->emit_c(e, node);
  for (int i = 0; i < node->n_in; i++)
    complex = complex || (e->values[e->in[i]] && dtype_is_complex(ce_in(e, i)->dtype));
  for (int o = 0; o < node->n_out; o++)
    complex = complex || (e->values[e->out[o]] != NULL && dtype_is_complex(e->values[e->out[o]]->dtype));
  if (s == DAMO_OK && complex && !e->takes_complex) ce_refuse(e, "complex numbers");
  e->takes_complex = outer;
  return e->status != DAMO_OK ? e->status : s;
}

damo_status ce_node(c_emit *e, const damo_apply *node, c_value *const *in, c_value **out) {
  const int n = node->n_in + node->n_out;
  const c_emit outer = *e;
  int32_t *slots = emit_alloc(e, (size_t)n * sizeof *slots);
  c_value **values = emit_alloc(e, (size_t)n * sizeof *values);
  if (slots == NULL || values == NULL) return e->status;
  for (int i = 0; i < n; i++) {
    slots[i] = i;
    values[i] = i < node->n_in ? in[i] : NULL;
  }
  e->node = node;
  e->in = slots;
  e->out = slots + node->n_in;
  e->values = values;
  e->n_values = n;
  e->last = NULL;
  if (node->op->def->emit_c == NULL) ce_refuse(e, "there is no C source for it");
  const damo_status s = e->status == DAMO_OK ? ce_emit(e, node) : e->status;
  if (s != DAMO_OK && e->status == DAMO_OK) e->status = s;
  for (int o = 0; o < node->n_out; o++) out[o] = values[node->n_in + o];
  e->node = outer.node;
  e->in = outer.in;
  e->out = outer.out;
  e->values = outer.values;
  e->n_values = outer.n_values;
  e->last = outer.last;
  return e->status;
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

#define CONSTANT_INLINE 1024 /* bytes; a larger one goes to the data */

damo_status c_file_constant(c_file *f, c_storage *s) {
  const damo_array *a = s->array;
  const size_t bytes = (size_t)array_size(a) * dtype_size(a->dtype);
  uintptr_t number;
  if (bytes > CONSTANT_INLINE) {
    if (!map_get(&f->constant_of, a, &number)) {
      static const char zeros[64] = {0};
      strbuf_addn(&f->data, zeros, (64 - f->data.n % 64) % 64);
      number = f->data.n;
      strbuf_addn(&f->data, a->data, bytes);
      DAMO_TRY(map_put(&f->constant_of, a, number));
    }
    s->offset = (int64_t)number;
    return DAMO_OK;
  }
  if (!map_get(&f->constant_of, a, &number)) {
    number = (uintptr_t)f->n_constants++;
    DAMO_TRY(map_put(&f->constant_of, a, number));
    strbuf_addf(&f->constants, "static const %s c%d[%lld] = {", ce_type(array_dtype(a)), (int)number,
                (long long)(array_size(a) > 0 ? array_size(a) : 1));
    for (int64_t i = 0; i < array_size(a); i++) {
      if (i > 0) strbuf_add(&f->constants, i % 8 == 0 ? ",\n    " : ", ");
      add_number(&f->constants, array_dtype(a),
                 scalar_load(array_dtype(a), a->data + (size_t)i * dtype_size(a->dtype)));
    }
    strbuf_add(&f->constants, array_size(a) > 0 ? "};\n" : "0};\n");
  }
  s->number = (int32_t)number;
  return DAMO_OK;
}
