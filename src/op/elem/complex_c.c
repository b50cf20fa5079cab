/* complex_c: the scalar ops of complex numbers as C functions over structs of re and im, with the formulas of
 * kernel/elem/complex_body.h; what C's library computes there is computed by complex.h here. */
#include <string.h>

#include "elem_c.h"
#include "elem_int.h"

/* The body of a function of a and b. In the texts stand @ for the struct, $ for the suffix of math.h's functions, ~ for
 * that of names, % for the type of a part, ^ for its suffix of names. */
typedef struct c_complex {
  int kernel, needs; /* needs: a kernel that the body calls; ELEM_N: none */
  enum { COMPLEX_SAME, COMPLEX_PART, COMPLEX_BOOL } result;
  bool library; /* calls functions of complex.h or math.h that are not exact */
  const char *name, *body;
} c_complex;

#define LIBRARY(function, c) \
  { ELEM_##function, ELEM_N, COMPLEX_SAME, true, #function, "return of_~(" c "$(to_~(a)));" }

static const c_complex complexes[] = {
    {ELEM_add, ELEM_N, COMPLEX_SAME, false, "add", "return (@){a.re + b.re, a.im + b.im};"},
    {ELEM_sub, ELEM_N, COMPLEX_SAME, false, "sub", "return (@){a.re - b.re, a.im - b.im};"},
    {ELEM_mul, ELEM_N, COMPLEX_SAME, false, "mul",
     "return (@){less_^(a.re * b.re, a.im * b.im), a.re * b.im + a.im * b.re};"},
    {ELEM_sqr, ELEM_mul, COMPLEX_SAME, false, "sqr", "return mul_~(a, a);"},
    {ELEM_true_div, ELEM_N, COMPLEX_SAME, false, "true_div",
     "/* Smith, Algorithm 116, CACM 1962 */\n"
     "  const % re = fabs$(b.re), im = fabs$(b.im);\n"
     "  const int flat = re >= im, zero = (re == 0) & (im == 0);\n"
     "  const % r = (flat ? b.im : b.re) / (flat ? b.re : b.im), u = flat ? 1 : r, v = flat ? r : 1;\n"
     "  const % d = zero ? 0 : b.re * u + b.im * v;\n"
     "  const % x = a.re * u + a.im * v, y = less_^(a.im * u, a.re * v);\n"
     "  return (@){(zero ? a.re : x) / d, (zero ? a.im : y) / d};"},
    {ELEM_reciprocal, ELEM_true_div, COMPLEX_SAME, false, "reciprocal", "return true_div_~((@){1, 0}, a);"},
    {ELEM_neg, ELEM_N, COMPLEX_SAME, false, "neg", "return (@){-a.re, -a.im};"},
    {ELEM_conj, ELEM_N, COMPLEX_SAME, false, "conj", "return (@){a.re, -a.im};"},
    {ELEM_real, ELEM_N, COMPLEX_PART, false, "real", "return a.re;"},
    {ELEM_imag, ELEM_N, COMPLEX_PART, false, "imag", "return a.im;"},
    {ELEM_abs, ELEM_N, COMPLEX_PART, true, "abs", "return hypot$(a.re, a.im);"},
    {ELEM_angle, ELEM_N, COMPLEX_PART, true, "angle", "return atan2$(a.im, a.re);"},
    {ELEM_sign, ELEM_N, COMPLEX_SAME, true, "sign",
     "if (a.re == 0 && a.im == 0) return (@){0, 0};\n"
     "  const % most = fabs$(a.re) > fabs$(a.im) ? fabs$(a.re) : fabs$(a.im);\n"
     "  const % by = most < (%)0x1p-60 ? (%)0x1p60 : (%)0.5, re = a.re * by, im = a.im * by, size = hypot$(re, im);\n"
     "  return (@){re / size, im / size};"},
    {ELEM_eq, ELEM_N, COMPLEX_BOOL, false, "eq", "return (a.re == b.re) & (a.im == b.im);"},
    {ELEM_neq, ELEM_N, COMPLEX_BOOL, false, "neq", "return (a.re != b.re) | (a.im != b.im);"},
    {ELEM_isnan, ELEM_N, COMPLEX_BOOL, false, "isnan", "return (a.re != a.re) | (a.im != a.im);"},
    {ELEM_isinf, ELEM_N, COMPLEX_BOOL, false, "isinf",
     "return (fabs$(a.re) == (%)INFINITY) | (fabs$(a.im) == (%)INFINITY);"},
    {ELEM_isfinite, ELEM_N, COMPLEX_BOOL, false, "isfinite",
     "return (fabs$(a.re) < (%)INFINITY) & (fabs$(a.im) < (%)INFINITY);"},
    {ELEM_pow, ELEM_reciprocal, COMPLEX_SAME, true, "pow",
     "if (b.re == 0 && b.im == 0) return (@){1, 0};\n"
     "  if (a.re == 0 && a.im == 0) return b.re > 0 && b.im == 0 ? (@){0, 0} : (@){(%)NAN, (%)NAN};\n"
     "  if (b.im == 0 && b.re == trunc$(b.re) && fabs$(b.re) <= 100) {\n"
     "    @ r = {1, 0}, s = a;\n"
     "    for (unsigned n = (unsigned)fabs$(b.re); n != 0; n >>= 1, s = mul_~(s, s))\n"
     "      if (n & 1) r = mul_~(r, s);\n"
     "    return b.re < 0 ? reciprocal_~(r) : r;\n"
     "  }\n"
     "  return of_~(cpow$(to_~(a), to_~(b)));"},
    {ELEM_expm1, ELEM_N, COMPLEX_SAME, true, "expm1",
     "const % s = sin$(a.im / 2);\n"
     "  return (@){expm1$(a.re) * cos$(a.im) - 2 * s * s, exp$(a.re) * sin$(a.im)};"},
    {ELEM_log1p, ELEM_N, COMPLEX_SAME, true, "log1p",
     "if (!(hypot$(a.re, a.im) < (%)0.5)) return of_~(clog$(to_~((@){1 + a.re, a.im})));\n"
     "  return (@){log1p$(a.re * (2 + a.re) + a.im * a.im) / 2, atan2$(a.im, 1 + a.re)};"},
    LIBRARY(sqrt, "csqrt"),
    LIBRARY(exp, "cexp"),
    LIBRARY(log, "clog"),
    LIBRARY(sin, "csin"),
    LIBRARY(cos, "ccos"),
    LIBRARY(tan, "ctan"),
    LIBRARY(arcsin, "casin"),
    LIBRARY(arccos, "cacos"),
    LIBRARY(arctan, "catan"),
    LIBRARY(sinh, "csinh"),
    LIBRARY(cosh, "ccosh"),
    LIBRARY(tanh, "ctanh"),
    LIBRARY(arcsinh, "casinh"),
    LIBRARY(arccosh, "cacosh"),
    LIBRARY(arctanh, "catanh"),
};

#undef LIBRARY

static const c_complex *complex_find(int kernel) {
  for (size_t k = 0; k < sizeof complexes / sizeof *complexes; k++) {
    if (complexes[k].kernel == kernel) return &complexes[k];
  }
  return NULL;
}

/* A text with % and ^ replaced. */
static const char *complex_text(c_emit *e, const char *text, damo_dtype part) {
  strbuf out = {.ctx = e->ctx};
  for (; *text != '\0'; text++) {
    if (*text == '%' || *text == '^')
      strbuf_add(&out, *text == '%' ? ce_type(part) : ce_suffix(part));
    else
      strbuf_addn(&out, text, 1);
  }
  const char *made = ce_text(e, "%s", out.at != NULL ? out.at : "");
  strbuf_clear(&out);
  return made;
}

/* What bodies call: a - b of products, which no compiler makes one operation, and the types of complex.h. */
static void complex_helpers(c_emit *e, const char *body, damo_dtype loop, damo_dtype part) {
  if (strstr(body, "less_^") != NULL)
    ce_helper(e, "less", part,
              "static inline @ less_~(@ a, @ b) {\n  # bits;\n  memcpy(&bits, &b, sizeof b);\n"
              "  bits ^= (#)1 << (8 * sizeof b - 1);\n  memcpy(&b, &bits, sizeof b);\n  return a + b;\n}\n");
  if (strstr(body, "of_~") != NULL)
    ce_helper(e, "complex.h", loop,
              complex_text(e,
                           "static inline @ of_~(% _Complex z) {\n  @ p;\n  memcpy(&p, &z, sizeof p);\n  return p;\n}\n"
                           "static inline % _Complex to_~(@ p) {\n  % _Complex z;\n  memcpy(&z, &p, sizeof z);\n"
                           "  return z;\n}\n",
                           part));
}

static void complex_function(c_emit *e, const c_complex *r, damo_dtype loop, damo_dtype part, int arity) {
  if (r->needs != ELEM_N) complex_function(e, complex_find(r->needs), loop, part, r->needs == ELEM_reciprocal ? 1 : 2);
  if (r->kernel == ELEM_pow) complex_function(e, complex_find(ELEM_mul), loop, part, 2);
  complex_helpers(e, r->body, loop, part);
  const char *type = r->result == COMPLEX_BOOL ? "uint8_t" : r->result == COMPLEX_PART ? ce_type(part) : "@";
  ce_helper(e, r->name, loop,
            ce_text(e, "static inline %s %s_~(%s) {\n  %s\n}\n", type, r->name, arity == 1 ? "@ a" : "@ a, @ b",
                    complex_text(e, r->body, part)));
}

const char *emit_complex(c_emit *e, const scalar_op *row, damo_dtype loop, const damo_dtype *in, const char *const *x,
                         damo_dtype to) {
  const char *arg[SCALAR_MAX_ARITY];
  for (int i = 0; i < row->arity; i++)
    arg[i] = ce_cast(e, in[i], ce_dtype(e, elemwise_operand_dtype(row, i, loop)), x[i]);
  loop = ce_dtype(e, loop);
  const damo_dtype part = loop == DAMO_COMPLEX64 || loop == DAMO_FLOAT32 ? DAMO_FLOAT32 : DAMO_FLOAT64,
                   both = part == DAMO_FLOAT32 ? DAMO_COMPLEX64 : DAMO_COMPLEX128;
  e->file->complex = true;
  if (row->kernel == ELEM_complex)
    return ce_cast(e, both, to, ce_text(e, "(%s){%s, %s}", ce_type(both), arg[0], arg[1]));
  if (row->kernel == ELEM_switch_) return ce_cast(e, loop, to, ce_text(e, "(%s ? %s : %s)", arg[0], arg[1], arg[2]));
  const c_complex *r = complex_find(row->kernel);
  if (r == NULL || (r->library && e->file->reproducible)) {
    ce_refuse(e, "%s of complex numbers%s", row->name, r != NULL ? " in reproducible mode" : "");
    return "0";
  }
  complex_function(e, r, loop, part, row->arity);
  const damo_dtype result = r->result == COMPLEX_BOOL ? DAMO_BOOL : r->result == COMPLEX_PART ? part : loop;
  return ce_cast(e, result, to,
                 ce_text(e, row->arity == 1 ? "%s_%s(%s)" : "%s_%s(%s, %s)", r->name, ce_suffix(loop), arg[0],
                         row->arity > 1 ? arg[1] : ""));
}
