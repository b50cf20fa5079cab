/* elem_c: the scalar ops as C expressions, kernel by kernel, with the bits of kernel/elem where no function of libm takes
 * part. */
#include "elem_c.h"

#include <stdio.h>
#include <string.h>

#include "elem_int.h"
#include "loop_op_int.h"

/* The body of a function of a, b and c: of floats, of integers (signed, unsigned), of bool; NULL: the kernel is not
 * defined, or can't be exported. result: its dtype, NULL: that of the operands. In the texts stand @ for the C type, # for
 * the unsigned type of its size, $ for the suffix of math.h's functions. */
typedef struct c_scalar {
  const char *floats, *ints, *uints, *bools;
  enum { RESULT_SAME, RESULT_BOOL, RESULT_INT32 } result;
  bool inexact;      /* calls a function of libm that is not exact */
  const char *plain; /* the same by functions of kernel/plain, whose text the file has then; NULL: there are none */
  bool special;      /* calls a function of kernel/elem/special.c, whose text the file has then */
} c_scalar;

#define SAME(text) .floats = text, .ints = text, .uints = text
#define WHOLE(text) .ints = text, .uints = text
#define COMPARE(text) .floats = text, .ints = text, .uints = text, .bools = text, .result = RESULT_BOOL
#define TEST(text)                                                                                            \
  .floats = text, .ints = "return (void)a, 0;", .uints = "return (void)a, 0;", .bools = "return (void)a, 0;", \
  .result = RESULT_BOOL
#define LIBM(text) .floats = text, .inexact = true
#define SPECIAL(text) .floats = text, .inexact = true, .special = true
#define BOTH(libm, own) .floats = libm, .inexact = true, .plain = own

static const c_scalar scalars[ELEM_N] = {
    [ELEM_add] = {"return a + b;", "return (@)(1u * (#)a + (#)b);", "return (@)(1u * a + b);", "return a | b;"},
    [ELEM_sub] = {"return a - b;", "return (@)(1u * (#)a - (#)b);", "return (@)(1u * a - b);", NULL},
    [ELEM_mul] = {"return a * b;", "return (@)(1u * (#)a * (#)b);", "return (@)(1u * a * b);", "return a & b;"},
    [ELEM_true_div] = {.floats = "return a / b;"},
    [ELEM_floor_div] = {.floats = "const @ r = fmod$(a, b);\n  if (b == 0 || r != r) return b == 0 ? a / b : r;\n"
                                  "  @ q = (a - r) / b;\n  if (r != 0 && (r < 0) != (b < 0)) q -= 1;\n"
                                  "  if (q == 0) return copysign$(0, a / b);\n  const @ whole = floor$(q);\n"
                                  "  return q - whole > (@)0.5 ? whole + 1 : whole;",
                        .ints = "if (b == 0) return 0;\n  if (b == -1) return (@)(0u - (#)a);\n"
                                "  return (@)(a / b - (a % b != 0 && (a < 0) != (b < 0)));",
                        .uints = "return (@)(b == 0 ? 0 : a / b);"},
    [ELEM_mod] = {.floats = "const @ r = fmod$(a, b);\n  if (r == 0) return copysign$(r, b);\n"
                            "  return (r < 0) != (b < 0) ? r + b : r;",
                  .ints = "if (b == 0 || b == -1) return 0;\n  const @ r = (@)(a % b);\n"
                          "  return (@)(r != 0 && (r < 0) != (b < 0) ? r + b : r);",
                  .uints = "return (@)(b == 0 ? 0 : a % b);"},
    [ELEM_pow] = {BOTH("return pow$(a, b);", "return plain_pow$(a, b);"),
                  .ints = "if (b < 0) return (@)(a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0);\n"
                          "  uint64_t r = 1, s = (uint64_t)a;\n"
                          "  for (uint64_t n = (uint64_t)b; n != 0; n >>= 1, s *= s)\n    if (n & 1) r *= s;\n"
                          "  return (@)r;",
                  .uints = "uint64_t r = 1, s = a;\n  for (uint64_t n = b; n != 0; n >>= 1, s *= s)\n"
                           "    if (n & 1) r *= s;\n  return (@)r;"},
    [ELEM_maximum] = {"return ((a > b) | (a != a)) ? a : b;", "return a > b ? a : b;", "return a > b ? a : b;",
                      "return a | b;"},
    [ELEM_minimum] = {"return ((a < b) | (a != a)) ? a : b;", "return a < b ? a : b;", "return a < b ? a : b;",
                      "return a & b;"},
    [ELEM_arctan2] = {BOTH("return atan2$(a, b);", "return plain_atan2$(a, b);")},
    [ELEM_logaddexp] = {BOTH(
        "const @ top = ((a > b) | (a != a)) ? a : b, gap = a == b ? 0 : a - b;\n"
        "  const @ rest = log1p$(exp$(-fabs$(gap)));\n  return rest != rest ? top : top + rest;",
        "const @ top = ((a > b) | (a != a)) ? a : b, gap = a == b ? 0 : a - b;\n"
        "  const @ rest = plain_log1p$(plain_exp$(-fabs$(gap)));\n  return rest != rest ? top : top + rest;")},
    [ELEM_logaddexp2] = {BOTH("const @ top = ((a > b) | (a != a)) ? a : b, gap = a == b ? 0 : a - b;\n"
                              "  const @ rest = log1p$(exp2$(-fabs$(gap))) * (@)1.44269504088896340736;\n"
                              "  return rest != rest ? top : top + rest;",
                              "const @ top = ((a > b) | (a != a)) ? a : b, gap = a == b ? 0 : a - b;\n"
                              "  const @ rest = plain_log1p$(plain_exp2$(-fabs$(gap))) * (@)1.44269504088896340736;\n"
                              "  return rest != rest ? top : top + rest;")},
    [ELEM_hypot] = {LIBM("return hypot$(a, b);")},
    [ELEM_trunc_div] = {.floats = "return trunc$(a / b);",
                        .ints = "return (@)(b == 0 ? 0 : b == -1 ? (@)(0u - (#)a) : a / b);",
                        .uints = "return (@)(b == 0 ? 0 : a / b);"},
    [ELEM_fmod] = {.floats = "return fmod$(a, b);",
                   .ints = "return (@)(b == 0 || b == -1 ? 0 : a % b);",
                   .uints = "return (@)(b == 0 ? 0 : a % b);"},
    [ELEM_gcd] =
        {.ints = "uint64_t x = a < 0 ? 0u - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0u - (uint64_t)b : (uint64_t)b;\n"
                 "  while (y != 0) {\n    const uint64_t rest = x % y;\n    x = y;\n    y = rest;\n  }\n"
                 "  return (@)x;",
         .uints = "uint64_t x = a, y = b;\n  while (y != 0) {\n    const uint64_t rest = x % y;\n    x = y;\n"
                  "    y = rest;\n  }\n  return (@)x;"},
    [ELEM_lcm] =
        {.ints =
             "const uint64_t x = a < 0 ? 0u - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0u - (uint64_t)b : (uint64_t)b;\n"
             "  uint64_t d = x, n = y;\n"
             "  while (n != 0) {\n    const uint64_t rest = d % n;\n    d = n;\n    n = rest;\n  }\n"
             "  return (@)(d == 0 ? 0 : x / d * y);",
         .uints = "uint64_t d = a, n = b;\n"
                  "  while (n != 0) {\n    const uint64_t rest = d % n;\n    d = n;\n    n = rest;\n  }\n"
                  "  return (@)(d == 0 ? 0 : a / d * b);"},
    [ELEM_left_shift] = {WHOLE("return (@)((uint64_t)b < 8 * sizeof(@) ? (uint64_t)a << (uint64_t)b : 0);")},
    [ELEM_right_shift] = {.ints = "return (@)(a >> ((uint64_t)b < 8 * sizeof(@) ? (uint64_t)b : 8 * sizeof(@) - 1));",
                          .uints = "return (@)((uint64_t)b < 8 * sizeof(@) ? a >> b : 0);"},
    [ELEM_copysign] = {.floats = "return copysign$(a, b == b ? b : 1);"},
    [ELEM_nextafter] = {.floats = "return nextafter$(a, b);"},
    [ELEM_heaviside] = {.floats = "return a > 0 ? 1 : a < 0 ? 0 : a == 0 ? b : a;"},
    [ELEM_frexp_mantissa] = {.floats = "int n;\n  return frexp$(a, &n);"},
    [ELEM_frexp_exponent] = {.floats = "int n = 0;\n  if (fabs$(a) < (@)INFINITY) (void)frexp$(a, &n);\n  return n;",
                             .result = RESULT_INT32},
    [ELEM_eq] = {COMPARE("return a == b;")},
    [ELEM_neq] = {COMPARE("return a != b;")},
    [ELEM_lt] = {COMPARE("return a < b;")},
    [ELEM_le] = {COMPARE("return a <= b;")},
    [ELEM_gt] = {COMPARE("return a > b;")},
    [ELEM_ge] = {COMPARE("return a >= b;")},
    [ELEM_isnan] = {TEST("return a != a;")},
    [ELEM_isinf] = {TEST("return fabs$(a) == (@)INFINITY;")},
    [ELEM_isfinite] = {.floats = "return fabs$(a) < (@)INFINITY;", .result = RESULT_BOOL},
    [ELEM_isposinf] = {.floats = "return a == (@)INFINITY;", .result = RESULT_BOOL},
    [ELEM_isneginf] = {.floats = "return a == -(@)INFINITY;", .result = RESULT_BOOL},
    [ELEM_signbit] = {.floats = "return (signbit(a) != 0) & (a == a);", .result = RESULT_BOOL},
    [ELEM_and_] = {WHOLE("return (@)(a & b);"), .bools = "return (a != 0) & (b != 0);"},
    [ELEM_or_] = {WHOLE("return (@)(a | b);"), .bools = "return (a | b) != 0;"},
    [ELEM_xor] = {WHOLE("return (@)(a ^ b);"), .bools = "return (a != 0) ^ (b != 0);"},
    [ELEM_invert] = {WHOLE("return (@)(-1 - a);"), .bools = "return a == 0;"},
    [ELEM_clip] = {.floats = "const @ down = a > c ? c : a, r = a < b ? b : down;\n"
                             "  return ((b != b) | (c != c)) ? b + c : r;",
                   WHOLE("return a < b ? b : a > c ? c : a;")},
    [ELEM_neg] = {"return -a;", "return (@)(0u - (#)a);", "return (@)(0u - a);", NULL},
    [ELEM_abs] = {"return fabs$(a);", "return a < 0 ? (@)(0u - (#)a) : a;", "return a;", "return a;"},
    [ELEM_sign] = {"return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a;", "return (@)((a > 0) - (a < 0));",
                   "return a != 0;", "return a;"},
    [ELEM_sqr] = {"return a * a;", "return (@)(1u * (#)a * (#)a);", "return (@)(1u * a * a);", NULL},
    [ELEM_sqrt] = {.floats = "return sqrt$(a);"},
    [ELEM_cbrt] = {LIBM("return cbrt$(a);")},
    [ELEM_reciprocal] = {.floats = "return 1 / a;"},
    [ELEM_ceil] = {"return ceil$(a);", "return a;", "return a;", "return a;"},
    [ELEM_floor] = {"return floor$(a);", "return a;", "return a;", "return a;"},
    [ELEM_trunc] = {"return trunc$(a);", "return a;", "return a;", "return a;"},
    [ELEM_round_half_to_even] = {"return rint$(a);", "return a;", "return a;", "return a;"},
    [ELEM_round_half_away_from_zero] = {"const @ t = trunc$(a), up = fabs$(a - t) >= (@)0.5 ? 1 : 0;\n"
                                        "  return copysign$(fabs$(t) + up, a);",
                                        "return a;", "return a;", "return a;"},
    [ELEM_exp] = {BOTH("return exp$(a);", "return plain_exp$(a);")},
    [ELEM_exp2] = {BOTH("return exp2$(a);", "return plain_exp2$(a);")},
    [ELEM_exp10] = {LIBM("return pow$(10, a);")},
    [ELEM_expm1] = {BOTH("return expm1$(a);", "return plain_expm1$(a);")},
    [ELEM_log] = {BOTH("return log$(a);", "return plain_log$(a);")},
    [ELEM_log2] = {LIBM("return log2$(a);")},
    [ELEM_log10] = {LIBM("return log10$(a);")},
    [ELEM_log1p] = {BOTH("return log1p$(a);", "return plain_log1p$(a);")},
    [ELEM_sigmoid] = {BOTH("const @ t = exp$(-fabs$(a));\n  return (a >= 0 ? 1 : t) / (1 + t);",
                           "return plain_sigmoid$(a);")},
    [ELEM_softplus] = {BOTH("const @ top = ((a > 0) | (a != a)) ? a : 0, rest = log1p$(exp$(-fabs$(a)));\n"
                            "  return rest != rest ? top : top + rest;",
                            "const @ top = ((a > 0) | (a != a)) ? a : 0, rest = plain_log1p$(plain_exp$(-fabs$(a)));\n"
                            "  return rest != rest ? top : top + rest;")},
    [ELEM_log1mexp] = {BOTH(
        "return a > (@)-0.693147180559945309417 ? log$(-expm1$(a)) : log1p$(-exp$(a));",
        "const double x = (double)a, near = plain_log(-plain_expm1(x)), far = plain_log1p(-plain_exp(x));\n"
        "  return (@)(x > -PLAIN_LN2 ? near : far);")},
    [ELEM_sin] = {BOTH("return sin$(a);", "return plain_sin$(a);")},
    [ELEM_cos] = {BOTH("return cos$(a);", "return plain_cos$(a);")},
    [ELEM_tan] = {BOTH("return tan$(a);", "return plain_tan$(a);")},
    [ELEM_arcsin] = {BOTH("return asin$(a);", "return plain_asin$(a);")},
    [ELEM_arccos] = {BOTH("return acos$(a);", "return plain_acos$(a);")},
    [ELEM_arctan] = {BOTH("return atan$(a);", "return plain_atan$(a);")},
    [ELEM_sinh] = {BOTH("return sinh$(a);", "return plain_sinh$(a);")},
    [ELEM_cosh] = {BOTH("return cosh$(a);", "return plain_cosh$(a);")},
    [ELEM_tanh] = {BOTH("return tanh$(a);", "return plain_tanh$(a);")},
    [ELEM_arcsinh] = {LIBM("return asinh$(a);")},
    [ELEM_arccosh] = {LIBM("return acosh$(a);")},
    [ELEM_arctanh] = {LIBM("return atanh$(a);")},
    [ELEM_deg2rad] = {.floats = "return a * (@)0.017453292519943295769;"},
    [ELEM_rad2deg] = {.floats = "return a * (@)57.295779513082320877;"},
    [ELEM_erf] = {BOTH("return erf$(a);", "return plain_erf$(a);")},
    [ELEM_erfc] = {LIBM("return erfc$(a);")},
    [ELEM_erfcx] = {SPECIAL("return (@)special_erfcx((double)a);")},
    [ELEM_erfinv] = {SPECIAL("return (@)special_erfinv((double)a);")},
    [ELEM_erfcinv] = {SPECIAL("return (@)special_erfcinv((double)a);")},
    [ELEM_psi] = {SPECIAL("return (@)special_psi((double)a);")},
    [ELEM_tri_gamma] = {SPECIAL("return (@)special_tri_gamma((double)a);")},
    [ELEM_gamma] = {LIBM("return tgamma$(a);")},
    [ELEM_gammaln] = {LIBM("return a == -(@)INFINITY ? a : lgamma$(a);")},
    [ELEM_conj] = {SAME("return a;"), .bools = "return a;"},
    [ELEM_real] = {SAME("return a;"), .bools = "return a;"},
    [ELEM_imag] = {.floats = "return (void)a, (@)0;"},
    [ELEM_angle] = {.floats = "return a < 0 ? (@)3.14159265358979323846 : a != a ? a : 0;"},
};

#undef SAME
#undef WHOLE
#undef COMPARE
#undef TEST
#undef LIBM
#undef SPECIAL
#undef BOTH

/* The names of C's own operators, which read better than calls of functions. */
static const char *scalar_infix(int kernel, damo_dtype loop) {
  if (!dtype_is_float(loop)) return NULL;
  return kernel == ELEM_add        ? "+"
         : kernel == ELEM_sub      ? "-"
         : kernel == ELEM_mul      ? "*"
         : kernel == ELEM_true_div ? "/"
                                   : NULL;
}

static const char *scalar_name(int kernel) {
  static const char *const names[ELEM_N] = {
#define X(name) [ELEM_##name] = #name,
      ELEM_KERNELS(X)
#undef X
  };
  return names[kernel];
}

/* The body of a kernel of floats. */
static const char *emit_floats(c_emit *e, int kernel) {
  const c_scalar *r = &scalars[kernel];
  if (r->special) e->file->specials |= 1u << C_SPECIAL_BASE;
  if (!e->file->reproducible || !r->inexact) return r->floats;
  if (r->plain == NULL) {
    ce_refuse(e, "%s in reproducible mode", scalar_name(kernel));
    return r->floats;
  }
  e->file->plain = true;
  return r->plain;
}

const char *emit_function(c_emit *e, const char *name, damo_dtype dtype, const char *x) {
  int kernel = 0;
  while (kernel < ELEM_N && (scalar_name(kernel) == NULL || strcmp(scalar_name(kernel), name) != 0)) kernel++;
  damo_assert(kernel < ELEM_N && scalars[kernel].floats != NULL);
  ce_helper(e, name, dtype, ce_text(e, "static inline @ %s_~(@ a) {\n  %s\n}\n", name, emit_floats(e, kernel)));
  return ce_text(e, "%s_%s(%s)", name, ce_suffix(dtype), x);
}

const char *emit_scalar(c_emit *e, const damo_op *op, const damo_dtype *given, damo_dtype given_out,
                        const damo_dtype *in, const char *const *x, damo_dtype to) {
  const elemwise_data *d = elemwise_data_of(op);
  const int n = d->row->arity, k = d->row->kernel;
  damo_dtype loop, out;
  const damo_status s = elemwise_dtypes(op, given, given_out, &loop, &out);
  if (s != DAMO_OK) {
    e->status = s;
    return "0";
  }
  if (k == KERNEL_NONE) return ce_cast(e, in[n - 1], to, x[n - 1]);
  if (dtype_is_complex(loop) || dtype_is_complex(out)) return emit_complex(e, d->row, loop, in, x, to);
  if (k == KERNEL_OWN) return emit_special(e, d->row, loop, in, x, to);
  const char *arg[SCALAR_MAX_ARITY];
  for (int i = 0; i < n; i++) arg[i] = ce_cast(e, in[i], ce_dtype(e, elemwise_operand_dtype(d->row, i, loop)), x[i]);
  loop = ce_dtype(e, loop);
  if (k == ELEM_switch_) return ce_cast(e, loop, to, ce_text(e, "(%s ? %s : %s)", arg[0], arg[1], arg[2]));
  const char *infix = scalar_infix(k, loop);
  if (infix != NULL) return ce_cast(e, loop, to, ce_text(e, "(%s %s %s)", arg[0], infix, arg[1]));
  const char *type = ce_type(loop);
  if (k == ELEM_ldexp) {
    ce_helper(e, "ldexp", loop,
              "static inline @ ldexp_~(@ a, int64_t n) {\n"
              "  return ldexp$(a, (int)(n > 4096 ? 4096 : n < -4096 ? -4096 : n));\n}\n");
    return ce_cast(e, loop, to, ce_text(e, "ldexp_%s(%s, %s)", ce_suffix(loop), arg[0], arg[1]));
  }
  const c_scalar *r = &scalars[k];
  const char *body = dtype_is_float(loop)    ? emit_floats(e, k)
                     : loop == DAMO_BOOL     ? r->bools
                     : dtype_is_signed(loop) ? r->ints
                                             : r->uints;
  if (body == NULL) {
    ce_refuse(e, "%s of %s", d->row->name, dtype_name(loop));
    return "0";
  }
  const damo_dtype result = r->result == RESULT_BOOL ? DAMO_BOOL : r->result == RESULT_INT32 ? DAMO_INT32 : loop;
  static const char *const parameters[] = {"", "@ a", "@ a, @ b", "@ a, @ b, @ c"};
  ce_helper(e, scalar_name(k), loop,
            ce_text(e, "static inline %s %s_~(%s) {\n  %s\n}\n", r->result == RESULT_SAME ? "@" : ce_type(result),
                    scalar_name(k), parameters[n], body));
  (void)type;
  const char *call = ce_text(e,
                             n == 1   ? "%s_%s(%s)"
                             : n == 2 ? "%s_%s(%s, %s)"
                                      : "%s_%s(%s, %s, %s)",
                             scalar_name(k), ce_suffix(loop), arg[0], n > 1 ? arg[1] : "", n > 2 ? arg[2] : "");
  return ce_cast(e, result, to, call);
}

/* Whether the result of a kernel of integers is at most *most, where bounded[i] operand i is at most bound[i]. */
static bool elem_bound(int kernel, const bool *bounded, const int64_t *bound, int64_t *most) {
  switch (kernel) {
    case KERNEL_NONE: *most = bound[0]; return bounded[0];
    case ELEM_switch_: *most = bound[1] > bound[2] ? bound[1] : bound[2]; return bounded[1] && bounded[2];
    case ELEM_maximum: *most = bound[0] > bound[1] ? bound[0] : bound[1]; return bounded[0] && bounded[1];
    case ELEM_minimum:
      *most = bounded[0] && (!bounded[1] || bound[0] < bound[1]) ? bound[0] : bound[1];
      return bounded[0] || bounded[1];
    default: return false;
  }
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

damo_status elemwise_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const int n = node->n_in, ndim = var_ndim(node->out[0]);
  damo_dtype given[SCALAR_MAX_ARITY], in[SCALAR_MAX_ARITY];
  int64_t shape[DAMO_MAX_NDIM], strides[SCALAR_MAX_ARITY + 1][DAMO_MAX_NDIM];
  const int64_t *steps[SCALAR_MAX_ARITY + 1];
  const char *x[SCALAR_MAX_ARITY];
  for (int axis = 0; axis < ndim; axis++) {
    bool found = false;
    shape[axis] = 1;
    for (int i = 0; i < n; i++) {
      const damo_type *type = node->in[i]->type;
      const int k = axis - (ndim - type->ndim);
      if (k < 0 || type_dim_is_one(type, k)) continue;
      const int64_t length = ce_in(e, i)->shape[k];
      if (found && length != shape[axis]) return ce_refuse(e, "its operands' shapes do not agree");
      shape[axis] = length;
      found = true;
    }
  }
  const int over = elemwise_data_of(node->op)->inplace;
  c_value *out = NULL;
  if (over >= 0 && ce_in(e, over)->known == NULL && ce_storage(e, ce_in(e, over))->home == C_WORK)
    ce_out_same(e, 0, out = ce_in(e, over));
  else
    out = ce_out(e, 0, var_dtype(node->out[0]), ndim, shape);
  if (out == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
  if (ce_size(out) == 0) return e->status;
  for (int i = 0; i < n; i++) {
    given[i] = var_dtype(node->in[i]);
    in[i] = ce_in(e, i)->dtype;
    ce_strides_along(ce_in(e, i), ndim, strides[i]);
    steps[i] = strides[i];
  }
  steps[n] = out->strides;
  c_nest nest;
  ce_nest_init(e, &nest, ndim, shape, n + 1, steps);
  const bool copies = elemwise_data_of(node->op)->row->kernel == KERNEL_NONE;
  const c_value *operand[SCALAR_MAX_ARITY + 1];
  for (int i = 0; i < n; i++) {
    const damo_array *a = ce_known(e, i);
    operand[i] = (copies && i < n - 1) || (a != NULL && array_size(a) == 1) ? NULL : ce_in(e, i);
  }
  operand[n] = out;
  ce_pass_open(e, &nest, operand, n);
  for (int i = 0; i < n; i++) {
    const damo_array *a = ce_known(e, i);
    if (copies && i < n - 1)
      x[i] = "0";
    else if (a != NULL && array_size(a) == 1)
      x[i] = ce_literal(e, a, in[i]);
    else
      x[i] = ce_pass_read(e, &nest, i, ce_in(e, i));
  }
  if (ndim == 0 && var_dtype(node->out[0]) == DAMO_INT64) {
    bool bounded[SCALAR_MAX_ARITY];
    int64_t bound[SCALAR_MAX_ARITY];
    for (int i = 0; i < n; i++) bounded[i] = ce_bound(ce_in(e, copies ? n - 1 : i), &bound[i]);
    out->bounded = elem_bound(elemwise_data_of(node->op)->row->kernel, bounded, bound, &out->most);
  }
  const char *value = emit_scalar(e, node->op, given, var_dtype(node->out[0]), in, x, out->dtype);
  ce_pass_write(e, &nest, n, out, value);
  ce_pass_close(e, &nest);
  return e->status;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/* The shape of a Loop's iteration space. */
static damo_status loop_space_shape(c_emit *e, const damo_apply *node, int ndim, int64_t *shape) {
  const loop_data *d = loop_data_of(node->op);
  for (int axis = 0; axis < ndim; axis++) {
    bool found = false;
    shape[axis] = 1;
    for (int i = 0; i < d->n_in; i++) {
      const int k = loop_input_axis(d, i, var_ndim(node->in[i]), ndim, axis);
      if (k < 0 || type_dim_is_one(node->in[i]->type, k)) continue;
      const int64_t length = ce_in(e, i)->shape[k];
      if (found && length != shape[axis]) return ce_refuse(e, "its operands' shapes do not agree");
      shape[axis] = length;
      found = true;
    }
    if (!found && axis == ndim - 1 && d->place >= 0) DAMO_TRY(ce_int(e, d->place, "the length of a row", &shape[axis]));
  }
  return e->status;
}

/* Strides of input i over the iteration space; those of rows lie along the kept axes. */
static void loop_input_strides(const c_emit *e, const loop_data *d, int i, int ndim, int64_t *strides) {
  const c_value *x = ce_in(e, i);
  for (int axis = 0; axis < ndim; axis++) {
    const int k = loop_input_axis(d, i, x->ndim, ndim, axis);
    strides[axis] = k < 0 || x->shape[k] == 1 ? 0 : x->strides[k];
  }
}

/* Strides of a part's result over the iteration space: what has one value a row broadcasts along it. */
static void loop_made_strides(const loop_data *d, const loop_part *p, const c_value *made, int ndim, int64_t *strides) {
  for (int axis = 0; axis < ndim; axis++) {
    const int own = loop_own_axis(d, made->ndim, p->space == LOOP_ROWS, ndim, axis);
    const bool moves = own >= 0 && (p->space == LOOP_ELEMENTS || !loop_is_row_axis(d, axis));
    strides[axis] = moves ? made->strides[own] : 0;
  }
}

static const char *emit_checked_position(c_emit *e, const c_value *index, const char *at, int64_t n) {
  const char *k = ce_text(e, "p%d", e->n_labels++);
  ce_line(e, "const int64_t %s = %s[%s];", k, ce_p(e, index), at);
  ce_fail_if(e, "%s < 1 || %s > %lld", k, k, (long long)n);
  return k;
}

void emit_picked(c_emit *e, const c_nest *nest, const c_value *x, int64_t n, int64_t step, const c_value *index,
                 const c_value *out) {
  if (ce_size(out) == 0) return;
  ce_nest_open(e, nest);
  const char *k = emit_checked_position(e, index, ce_nest_at(e, nest, 1), n);
  ce_line(e, "%s[%s] = %s[%s + (%s - 1) * %lld];", ce_p(e, out), ce_nest_at(e, nest, 2), ce_p(e, x),
          ce_nest_at(e, nest, 0), k, (long long)step);
  ce_nest_close(e, nest);
}

void emit_placed(c_emit *e, const c_nest *nest, const c_value *g, const c_value *index, const c_value *out, int64_t n,
                 int64_t step) {
  if (dtype_is_complex(out->dtype)) ce_refuse(e, "complex numbers");
  ce_fill(e, out, "0");
  if (ce_size(index) == 0) return;
  ce_nest_open(e, nest);
  const char *k = emit_checked_position(e, index, ce_nest_at(e, nest, 1), n);
  const char *value = g != NULL ? ce_text(e, "%s[%s]", ce_p(e, g), ce_nest_at(e, nest, 0)) : "1";
  ce_line(e, "%s[%s + (%s - 1) * %lld] = %s;", ce_p(e, out), ce_nest_at(e, nest, 2), k, (long long)step, value);
  ce_nest_close(e, nest);
}

/* What the registers of a Loop are while its loops are open: expressions and dtypes. */
typedef struct emit_registers {
  const char **text;
  damo_dtype *given, *dtype;
  bool *bounded;
  int64_t *bound;
} emit_registers;

/* A Loop without reductions: one nest, whose registers are variables. */
static damo_status loop_emit_flat(c_emit *e, const damo_apply *node, int ndim, const int64_t *shape) {
  const loop_data *d = loop_data_of(node->op);
  const int n = d->n_in + d->n_parts, n_ops = d->n_in + d->n_out, id = e->n_labels++;
  const int64_t **steps = c_file_alloc(e->file, (size_t)n_ops * sizeof *steps);
  int64_t *strides = c_file_alloc(e->file, (size_t)d->n_in * DAMO_MAX_NDIM * sizeof *strides);
  c_value **out = c_file_alloc(e->file, (size_t)d->n_out * sizeof *out);
  const c_value **operand = c_file_alloc(e->file, (size_t)n_ops * sizeof *operand);
  emit_registers r = {
      c_file_alloc(e->file, (size_t)n * sizeof *r.text), c_file_alloc(e->file, (size_t)n * sizeof *r.given),
      c_file_alloc(e->file, (size_t)n * sizeof *r.dtype), c_file_alloc(e->file, (size_t)n * sizeof *r.bounded),
      c_file_alloc(e->file, (size_t)n * sizeof *r.bound)};
  if (steps == NULL || strides == NULL || out == NULL || operand == NULL || r.text == NULL || r.given == NULL ||
      r.dtype == NULL || r.bounded == NULL || r.bound == NULL)
    return DAMO_EMEMORY;
  for (int i = 0; i < d->n_in; i++) {
    steps[i] = strides + i * DAMO_MAX_NDIM;
    loop_input_strides(e, d, i, ndim, strides + i * DAMO_MAX_NDIM);
  }
  for (int o = 0; o < d->n_out; o++) {
    c_value *over = NULL;
    for (int i = 0; i < d->n_in; i++) {
      if (op_alias_has(node->op->destroy_map, o, i) && ce_in(e, i)->known == NULL &&
          ce_storage(e, ce_in(e, i))->home == C_WORK)
        over = ce_in(e, i);
    }
    if (over != NULL)
      ce_out_same(e, o, out[o] = over);
    else
      out[o] = ce_out(e, o, loop_part_of_out(d, o)->dtype, ndim, shape);
    if (out[o] == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
    steps[d->n_in + o] = out[o]->strides;
  }
  if (ce_size(out[0]) == 0) return e->status;
  c_nest nest;
  ce_nest_init(e, &nest, ndim, shape, n_ops, steps);
  for (int i = 0; i < n_ops; i++)
    operand[i] = i >= d->n_in                                                ? out[i - d->n_in]
                 : ce_known(e, i) != NULL && array_size(ce_known(e, i)) == 1 ? NULL
                                                                             : ce_in(e, i);
  ce_pass_open(e, &nest, operand, d->n_in);
  if (nest.n_axes == 0) ce_open(e, "%s", "");
  for (int i = 0; i < d->n_in; i++) {
    const c_value *x = ce_in(e, i);
    bool is_read = false;
    for (int k = 0; k < d->n_parts && !is_read; k++) {
      const loop_part *p = &d->parts[k];
      const int from = elemwise_data_of(p->op)->row->kernel == KERNEL_NONE ? loop_arity(p) - 1 : 0;
      for (int j = from; j < loop_arity(p); j++) is_read = is_read || p->in[j] == i;
    }
    r.given[i] = var_dtype(node->in[i]);
    r.dtype[i] = x->dtype;
    r.bounded[i] = ce_size(x) == 1 && ce_bound(x, &r.bound[i]);
    if (x->known != NULL && array_size(x->known) == 1) {
      r.text[i] = ce_literal(e, x->known, x->dtype);
    } else {
      r.text[i] = ce_text(e, "x%d_%d", id, i);
      if (is_read) ce_line(e, "const %s x%d_%d = %s;", ce_type(x->dtype), id, i, ce_pass_read(e, &nest, i, x));
    }
  }
  for (int k = 0; k < d->n_parts && e->status == DAMO_OK; k++) {
    const loop_part *p = &d->parts[k];
    const int m = d->n_in + k;
    damo_dtype given[LOOP_PART_MOST_IN], in[LOOP_PART_MOST_IN];
    const char *x[LOOP_PART_MOST_IN];
    for (int j = 0; j < loop_arity(p); j++) {
      given[j] = r.given[p->in[j]];
      in[j] = r.dtype[p->in[j]];
      x[j] = r.text[p->in[j]];
    }
    r.given[m] = p->dtype;
    r.dtype[m] = ce_dtype(e, p->dtype);
    if (p->dtype == DAMO_INT64) {
      const int kernel = elemwise_data_of(p->op)->row->kernel;
      bool bounded[LOOP_PART_MOST_IN];
      int64_t bound[LOOP_PART_MOST_IN];
      for (int j = 0; j < loop_arity(p); j++) {
        const int from = p->in[kernel == KERNEL_NONE ? loop_arity(p) - 1 : j];
        bounded[j] = r.bounded[from];
        bound[j] = r.bound[from];
      }
      r.bounded[m] = elem_bound(kernel, bounded, bound, &r.bound[m]);
    }
    bool is_read = false;
    for (int o = 0; o < d->n_out; o++) is_read = is_read || d->outs[o] == m;
    for (int q = k + 1; q < d->n_parts && !is_read; q++) {
      const loop_part *reader = &d->parts[q];
      const int from = elemwise_data_of(reader->op)->row->kernel == KERNEL_NONE ? loop_arity(reader) - 1 : 0;
      for (int j = from; j < loop_arity(reader); j++) is_read = is_read || reader->in[j] == m;
    }
    r.text[m] = ce_text(e, "r%d_%d", id, k);
    if (!is_read) continue;
    const char *value = emit_scalar(e, p->op, given, p->dtype, in, x, r.dtype[m]);
    ce_line(e, "const %s r%d_%d = %s;", ce_type(r.dtype[m]), id, k, value);
  }
  for (int o = 0; o < d->n_out; o++) {
    ce_pass_write(e, &nest, d->n_in + o, out[o], r.text[d->outs[o]]);
    out[o]->bounded = ce_size(out[o]) == 1 && r.bounded[d->outs[o]];
    out[o]->most = r.bound[d->outs[o]];
  }
  if (nest.n_axes == 0) ce_close(e);
  ce_pass_close(e, &nest);
  return e->status;
}

/* A Loop with reductions: its parts one after the other, each over the whole iteration space or over the rows. */
static damo_status loop_emit_rows(c_emit *e, const damo_apply *node, int ndim, const int64_t *shape) {
  const loop_data *d = loop_data_of(node->op);
  const int kept = ndim - d->n_axes;
  const c_value **reg = c_file_alloc(e->file, (size_t)(d->n_in + d->n_parts) * sizeof *reg);
  if (reg == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < d->n_in; i++) {
    int64_t strides[DAMO_MAX_NDIM];
    loop_input_strides(e, d, i, ndim, strides);
    reg[i] = ce_view(e, ce_in(e, i), ndim, shape, strides, 0); /* broadcast to the space */
    if (reg[i] == NULL) return e->status;
  }
  for (int k = 0; k < d->n_parts && e->status == DAMO_OK; k++) {
    const loop_part *p = &d->parts[k];
    int64_t own[DAMO_MAX_NDIM], whole[DAMO_MAX_NDIM], strides[LOOP_PART_MOST_IN + 1][DAMO_MAX_NDIM];
    const int m = d->n_in + k;
    const int rank = loop_part_shape(d, p, ndim, shape, own);
    c_value *made = NULL;
    for (int o = 0; o < d->n_out; o++) {
      if (d->outs[o] != m) continue;
      if (made == NULL)
        made = ce_out(e, o, p->dtype, rank, own);
      else
        ce_out_same(e, o, made);
    }
    if (made == NULL) made = ce_scratch_like(e, ce_dtype(e, p->dtype), rank, own);
    if (made == NULL) return e->status;
    if (loop_part_folds(p)) {
      const damo_dtype given = p->in[0] < d->n_in ? var_dtype(node->in[p->in[0]]) : d->parts[p->in[0] - d->n_in].dtype;
      DAMO_TRY(emit_reduction(e, reduce_op_kind(p->op), reduce_op_axes(p->op, ndim), given, reg[p->in[0]], made));
      if (p->space == LOOP_OTHER) continue;
    } else if (loop_part_positions(p) >= 0) { /* the row is the last axis */
      const c_value *index = reg[p->in[loop_part_positions(p)]],
                    *x = loop_part_picks(p) || p->op->def == &pick_grad_def ? reg[p->in[0]] : NULL;
      const int64_t *from = (x != NULL ? x : index)->strides;
      c_nest nest;
      ce_nest_init(e, &nest, kept, shape, 3, (const int64_t *const[]){from, index->strides, made->strides});
      if (loop_part_picks(p))
        emit_picked(e, &nest, x, shape[ndim - 1], x->strides[ndim - 1], index, made);
      else
        emit_placed(e, &nest, x, index, made, shape[ndim - 1], made->strides[ndim - 1]);
    } else {
      damo_dtype given[LOOP_PART_MOST_IN], in[LOOP_PART_MOST_IN];
      const char *x[LOOP_PART_MOST_IN];
      const int64_t *steps[LOOP_PART_MOST_IN + 1];
      const int n = loop_arity(p), first = elemwise_data_of(p->op)->row->kernel == KERNEL_NONE ? n - 1 : 0;
      for (int axis = 0; axis < ndim; axis++)
        whole[axis] = p->space == LOOP_ELEMENTS || !loop_is_row_axis(d, axis) ? shape[axis] : 1;
      for (int j = 0; j < n; j++) {
        memcpy(strides[j], reg[p->in[j]]->strides, sizeof strides[j]);
        steps[j] = strides[j];
        given[j] = p->in[j] < d->n_in ? var_dtype(node->in[p->in[j]]) : d->parts[p->in[j] - d->n_in].dtype;
        in[j] = reg[p->in[j]]->dtype;
      }
      loop_made_strides(d, p, made, ndim, strides[n]);
      steps[n] = strides[n];
      if (ce_size(made) > 0) {
        const c_value *operand[LOOP_PART_MOST_IN + 1];
        c_nest nest;
        ce_nest_init(e, &nest, ndim, whole, n + 1, steps);
        for (int j = 0; j < n; j++) {
          const damo_array *known = p->in[j] < d->n_in ? ce_known(e, p->in[j]) : NULL;
          operand[j] = j < first || (known != NULL && array_size(known) == 1) ? NULL : reg[p->in[j]];
        }
        operand[n] = made;
        ce_pass_open(e, &nest, operand, n);
        for (int j = 0; j < n; j++)
          x[j] = j < first            ? "0"
                 : operand[j] == NULL ? ce_literal(e, ce_known(e, p->in[j]), in[j])
                                      : ce_pass_read(e, &nest, j, operand[j]);
        ce_pass_write(e, &nest, n, made, emit_scalar(e, p->op, given, p->dtype, in, x, made->dtype));
        ce_pass_close(e, &nest);
      }
    }
    loop_made_strides(d, p, made, ndim, strides[0]);
    reg[m] = ce_view(e, made, ndim, shape, strides[0], 0);
    if (reg[m] == NULL) return e->status;
  }
  return e->status;
}

/* The code of the sources, then that of the Loop over their results. */
static damo_status loop_emit_sources(c_emit *e, const damo_apply *node) {
  const loop_data *d = loop_data_of(node->op);
  c_value **in = c_file_alloc(e->file, (size_t)d->n_in * sizeof *in);
  c_value **out = c_file_alloc(e->file, (size_t)d->n_out * sizeof *out);
  build b;
  build_init(&b, e->ctx);
  const damo_apply *loop = build_loop_after_sources(&b, node);
  if (in == NULL || out == NULL) b.status = DAMO_EMEMORY;
  for (int i = 0, k = 0; i < d->n_in && b.status == DAMO_OK; i++) {
    const loop_input_use u = d->uses[i];
    if (u.use == USE_POSITIONS || u.use == USE_END) continue;
    in[k] = ce_in(e, i);
    if (u.use != USE_OPERAND) {
      const loop_source *s = &d->sources[u.source];
      c_value *own[LOOP_SOURCE_MOST_IN];
      for (int j = 0; j < loop_source_arity(s->op); j++) own[j] = ce_in(e, s->in[j]);
      b.status = ce_node(e, loop->in[k]->owner, own, &in[k]);
    }
    k++;
  }
  if (b.status == DAMO_OK) b.status = ce_node(e, loop, in, out);
  for (int o = 0; o < d->n_out && b.status == DAMO_OK; o++) ce_out_same(e, o, out[o]);
  return build_end(&b);
}

damo_status loop_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const loop_data *d = loop_data_of(node->op);
  if (d->n_sources > 0) return loop_emit_sources(e, node);
  int64_t shape[DAMO_MAX_NDIM];
  const int ndim = loop_ndim(d, node->in);
  DAMO_TRY(loop_space_shape(e, node, ndim, shape));
  return d->n_axes == 0 ? loop_emit_flat(e, node, ndim, shape) : loop_emit_rows(e, node, ndim, shape);
}
