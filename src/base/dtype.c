/* dtype: the table of element types and NumPy's promotion rules. */
#include <string.h>

#include "base.h"

/* The kind of each dtype under a name that the X-macro below can form. */
enum {
  KIND_OF_BOOL = KIND_BOOL,
  KIND_OF_INT8 = KIND_INT,
  KIND_OF_INT16 = KIND_INT,
  KIND_OF_INT32 = KIND_INT,
  KIND_OF_INT64 = KIND_INT,
  KIND_OF_UINT8 = KIND_UINT,
  KIND_OF_UINT16 = KIND_UINT,
  KIND_OF_UINT32 = KIND_UINT,
  KIND_OF_UINT64 = KIND_UINT,
  KIND_OF_FLOAT32 = KIND_FLOAT,
  KIND_OF_FLOAT64 = KIND_FLOAT,
  KIND_OF_COMPLEX64 = KIND_COMPLEX,
  KIND_OF_COMPLEX128 = KIND_COMPLEX
};

const dtype_info dtype_table[DAMO_N_DTYPES] = {
#define X(code, text, ctype, bytes, sign) \
  [DAMO_##code] = {.name = text, .size = bytes, .letter = sign, .kind = (dtype_kind)KIND_OF_##code},
    DAMO_DTYPE_MAP(X)
#undef X
};

#define X(code, text, ctype, bytes, sign) _Static_assert(sizeof(ctype) == bytes, "size of " text);
DAMO_DTYPE_MAP(X)
#undef X

static damo_dtype max_dtype(damo_dtype a, damo_dtype b) { return a > b ? a : b; }

/* The smallest signed integer that holds both; float64 where there is none. */
static damo_dtype promote_signs(damo_dtype sig, damo_dtype uns) {
  if (dtype_size(sig) > dtype_size(uns)) return sig;
  switch (dtype_size(uns)) {
    case 1: return DAMO_INT16;
    case 2: return DAMO_INT32;
    case 4: return DAMO_INT64;
    default: return DAMO_FLOAT64;
  }
}

static damo_dtype promote_real(damo_dtype a, damo_dtype b) {
  if (a == b || b == DAMO_BOOL) return a;
  if (a == DAMO_BOOL) return b;
  if (dtype_is_float(a) || dtype_is_float(b)) return max_dtype(dtype_to_float(a), dtype_to_float(b));
  if (dtype_kind_of(a) == dtype_kind_of(b)) return max_dtype(a, b);
  return dtype_is_signed(a) ? promote_signs(a, b) : promote_signs(b, a);
}

static damo_dtype real_part(damo_dtype dt) {
  if (!dtype_is_complex(dt)) return dt;
  return dt == DAMO_COMPLEX64 ? DAMO_FLOAT32 : DAMO_FLOAT64;
}

damo_dtype dtype_promote(damo_dtype a, damo_dtype b) {
  damo_dtype real = promote_real(real_part(a), real_part(b));
  if (!dtype_is_complex(a) && !dtype_is_complex(b)) return real;
  return real == DAMO_FLOAT32 ? DAMO_COMPLEX64 : DAMO_COMPLEX128;
}

bool dtype_can_cast_safely(damo_dtype from, damo_dtype to) { return dtype_promote(from, to) == to; }

damo_dtype dtype_to_float(damo_dtype dt) {
  if (!dtype_is_discrete(dt)) return dt;
  return dtype_size(dt) <= 2 ? DAMO_FLOAT32 : DAMO_FLOAT64;
}

const char *damo_dtype_name(damo_dtype dtype) {
  return (unsigned)dtype < DAMO_N_DTYPES ? dtype_name(dtype) : "unknown";
}

size_t damo_dtype_size(damo_dtype dtype) { return (unsigned)dtype < DAMO_N_DTYPES ? dtype_size(dtype) : 0; }

damo_status dtype_check_cast(damo_ctx *ctx, const char *who, damo_dtype from, damo_dtype to) {
  if (!dtype_is_complex(from) || dtype_is_complex(to)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ETYPE, "%s: %s to %s would drop the imaginary part; take real(x), imag(x) or abs(x)", who,
                  dtype_name(from), dtype_name(to));
}

/* Names of dtypes in other languages, and NumPy's short codes. */
static const struct {
  const char *word;
  damo_dtype dtype;
} OTHER_NAMES[] = {
    {"float", DAMO_FLOAT64}, {"double", DAMO_FLOAT64},     {"single", DAMO_FLOAT32}, {"number", DAMO_FLOAT64},
    {"int", DAMO_INT64},     {"long", DAMO_INT64},         {"integer", DAMO_INT64},  {"short", DAMO_INT16},
    {"byte", DAMO_INT8},     {"char", DAMO_INT8},          {"uint", DAMO_UINT64},    {"ulong", DAMO_UINT64},
    {"ushort", DAMO_UINT16}, {"ubyte", DAMO_UINT8},        {"uchar", DAMO_UINT8},    {"boolean", DAMO_BOOL},
    {"logical", DAMO_BOOL},  {"complex", DAMO_COMPLEX128}, {"f4", DAMO_FLOAT32},     {"f8", DAMO_FLOAT64},
    {"i1", DAMO_INT8},       {"i2", DAMO_INT16},           {"i4", DAMO_INT32},       {"i8", DAMO_INT64},
    {"u1", DAMO_UINT8},      {"u2", DAMO_UINT16},          {"u4", DAMO_UINT32},      {"u8", DAMO_UINT64},
    {"c8", DAMO_COMPLEX64},  {"c16", DAMO_COMPLEX128}};

const char *dtype_suggest(const char *word) {
  const char *names[DAMO_N_DTYPES + 2] = {NULL};
  for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof *OTHER_NAMES; i++) {
    if (strcmp(word, OTHER_NAMES[i].word) == 0) return dtype_name(OTHER_NAMES[i].dtype);
  }
  for (int i = 0; i < DAMO_N_DTYPES; i++) names[i] = dtype_table[i].name;
  names[DAMO_N_DTYPES] = "floatX";
  return suggest(word, names);
}

bool damo_dtype_from_name(const char *name, damo_dtype *out) {
  for (int dt = 0; name != NULL && out != NULL && dt < DAMO_N_DTYPES; dt++) {
    if (strcmp(name, dtype_table[dt].name) == 0) {
      *out = (damo_dtype)dt;
      return true;
    }
  }
  return false;
}
