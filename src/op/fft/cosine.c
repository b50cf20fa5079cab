/* cosine: cosine and sine transforms of types 1 to 4, as transforms of extended vectors. With n points
 *
 *   C1(k) = x(0) + (-1)^k x(n-1) + 2 Σ x(j) cos(π j k / (n - 1)), 0 < j < n - 1    S1(k) = 2 Σ x(j) sin(π (j+1)(k+1) / (n + 1))
 *   C2(k) = 2 Σ x(j) cos(π (2j+1) k / 2n)                                         S2(k) = C2(n-1-k) of (-1)^j x(j)
 *   C3(k) = x(0) + 2 Σ x(j) cos(π j (2k+1) / 2n), j > 0                           S3(k) = (-1)^k C3(k) of x(n-1-j)
 *   C4(k) = 2 Σ x(j) cos(π (2j+1)(2k+1) / 4n)                                     S4(k) = (-1)^k C4(k) of x(n-1-j)
 *
 * Types 1 and 4 are their own inverses, 2 and 3 each other's, but for a factor m: 2 (n - 1), 2 (n + 1), and 2n of the
 * others. Conventions are SciPy's (scipy.fft).
 */
#include "fft_op.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/shape/shape_int.h"

#include <math.h>
#include <string.h>

typedef struct cosine_options {
  prop_value type, n, s, axis, axes, norm, orthogonalize;
} cosine_options;

/* What is asked for: of an inverse the type of the transform that it is. */
typedef struct cosine_call {
  const char *func;
  int type;
  bool sine, orthogonal;
  enum { COSINE_PLAIN, COSINE_ROOT, COSINE_INVERSE } scale; /* times 1, 1/√m, 1/m */
} cosine_call;

/* A vector of values along the axis, in a tensor of that rank. */
static damo_var *cosine_place(build *b, damo_var *v, int axis, int ndim) {
  int order[DAMO_MAX_NDIM];
  for (int i = 0; i < ndim; i++) order[i] = i == axis ? 0 : -1;
  return build_dimshuffle(b, v, order, ndim);
}

/* 0 … n - 1, float64. */
static damo_var *cosine_ramp(build *b, damo_var *n) {
  damo_var *k = build_range(b, build_i64(b, 1), n);
  return k ? build_cast(b, build_sub(b, k, build_i64(b, 1)), DAMO_FLOAT64) : NULL;
}

/* (-1)^k x(k) */
static damo_var *cosine_alternate(build *b, damo_var *x, int axis) {
  damo_var *k = build_range(b, build_i64(b, 1), build_dim(b, x, axis));
  damo_var *odd = k ? build_mod(b, k, build_i64(b, 2)) : NULL; /* k + 1 is odd */
  damo_var *sign = odd ? build_sub(b, build_mul(b, odd, build_i64(b, 2)), build_i64(b, 1)) : NULL;
  return sign ? build_mul(b, x, cosine_place(b, build_cast(b, sign, var_dtype(x)), axis, var_ndim(x))) : NULL;
}

static damo_var *cosine_flip(build *b, damo_var *x, int axis) {
  return x ? build_slice(b, x, axis, NULL, NULL, -1) : NULL;
}

/* x(first) (and with both x(last)) times a factor. */
static damo_var *cosine_weigh_ends(build *b, damo_var *x, int axis, bool first, bool last, double factor) {
  if (x == NULL || (!first && !last)) return x;
  damo_var *n = build_dim(b, x, axis), *k = build_range(b, build_i64(b, 1), n), *at = NULL;
  if (first && k) at = build_eq(b, k, build_i64(b, 1));
  if (last && k) at = at ? build_or_(b, at, build_eq(b, k, n)) : build_eq(b, k, n);
  damo_var *w =
      at ? build_switch(b, at, build_scalar(b, var_dtype(x), factor), build_scalar(b, var_dtype(x), 1)) : NULL;
  return w ? build_mul(b, x, cosine_place(b, w, axis, var_ndim(x))) : NULL;
}

/* The phases (k + shift)·π / (q·n) along the axis. */
static damo_var *cosine_phase(build *b, damo_var *x, int axis, double shift, double q) {
  damo_var *n = build_dim(b, x, axis), *k = cosine_ramp(b, n);
  if (k == NULL) return NULL;
  if (shift != 0) k = build_add(b, k, build_scalar(b, DAMO_FLOAT64, shift));
  damo_var *unit =
      build_true_div(b, build_scalar(b, DAMO_FLOAT64, 3.14159265358979323846 / q), build_cast(b, n, DAMO_FLOAT64));
  return cosine_place(b, build_mul(b, k, unit), axis, var_ndim(x));
}

/* x·exp(sign·i·phase) of a real x. */
static damo_var *cosine_turn(build *b, damo_var *x, damo_var *phase, int sign) {
  if (x == NULL || phase == NULL) return NULL;
  damo_var *c = build_cast(b, build_cos(b, phase), var_dtype(x)), *s = build_cast(b, build_sin(b, phase), var_dtype(x));
  if (sign < 0) s = build_neg(b, s);
  return build_complex(b, build_mul(b, x, c), build_mul(b, x, s));
}

/* The real part of z·exp(-i·phase). */
static damo_var *cosine_turned_real(build *b, damo_var *z, damo_var *phase) {
  if (z == NULL || phase == NULL) return NULL;
  damo_var *re = build_real(b, z), *im = build_imag(b, z);
  if (re == NULL) return NULL;
  damo_var *c = build_cast(b, build_cos(b, phase), var_dtype(re)),
           *s = build_cast(b, build_sin(b, phase), var_dtype(re));
  return build_add(b, build_mul(b, re, c), build_mul(b, im, s));
}

static damo_var *cosine_first(build *b, damo_var *x, int axis, damo_var *n) {
  return x && n ? build_slice(b, x, axis, NULL, n, 1) : NULL;
}

/* ---- The types --------------------------------------------------------------------------------------------------- */

/* C1: of x and its inner part backwards. S1: of 0, x, 0, and -x backwards. */
static damo_var *cosine_of_type_1(build *b, damo_var *x, int axis, bool sine) {
  damo_var *n = build_dim(b, x, axis), *one = build_i64(b, 1), *dims[DAMO_MAX_NDIM];
  if (!sine) {
    damo_var *inner = cosine_flip(b, build_slice(b, x, axis, one, build_length_sub(b, n, one), 1), axis);
    damo_var *all = inner ? build_join(b, "dct", axis, (damo_var *const[]){x, inner}, 2) : NULL;
    damo_var *y = all ? build_fft_along(b, FFT_TO_HALF, all, NULL, axis) : NULL;
    return y ? build_real(b, y) : NULL;
  }
  if (build_dims(b, x, dims) != DAMO_OK) return NULL;
  dims[axis] = one;
  damo_var *zero = build_alloc(b, build_scalar(b, var_dtype(x), 0), dims, var_ndim(x));
  damo_var *parts[4] = {zero, x, zero, build_neg(b, cosine_flip(b, x, axis))};
  damo_var *all = b->status == DAMO_OK ? build_join(b, "dst", axis, parts, 4) : NULL;
  damo_var *y = all ? build_fft_along(b, FFT_TO_HALF, all, NULL, axis) : NULL;
  y = y ? build_slice(b, build_imag(b, y), axis, one, build_length_add(b, n, one), 1) : NULL;
  return y ? build_neg(b, y) : NULL;
}

/* The cosine transform of type 2 is the real part of exp(-i π k / 2n) times the FFT of x followed by x reversed. */
static damo_var *cosine_of_type_2(build *b, damo_var *x, int axis) {
  damo_var *n = build_dim(b, x, axis), *back = cosine_flip(b, x, axis);
  damo_var *all = back ? build_join(b, "dct", axis, (damo_var *const[]){x, back}, 2) : NULL;
  damo_var *y = all ? build_fft_along(b, FFT_TO_HALF, all, NULL, axis) : NULL;
  return cosine_turned_real(b, cosine_first(b, y, axis, n), cosine_phase(b, x, axis, 0, 2));
}

/* C3: from half the spectrum x(j) exp(i π j / 2n) of 2n points. */
static damo_var *cosine_of_type_3(build *b, damo_var *x, int axis) {
  damo_var *n = build_dim(b, x, axis), *two_n = n ? build_length_mul(b, n, build_i64(b, 2)) : NULL;
  damo_var *z = cosine_turn(b, x, cosine_phase(b, x, axis, 0, 2), 1);
  return z ? cosine_first(b, build_fft_along(b, FFT_FROM_HALF, z, two_n, axis), axis, n) : NULL;
}

/* The cosine transform of type 4 is the real part of exp(-i π (k + 1/2) / 2n) times the FFT of 2 x(j) exp(-i π j / 2n)
 * padded with n zeros. */
static damo_var *cosine_of_type_4(build *b, damo_var *x, int axis) {
  damo_var *n = build_dim(b, x, axis), *two_n = n ? build_length_mul(b, n, build_i64(b, 2)) : NULL;
  damo_var *z = cosine_turn(b, build_mul(b, x, build_num(b, 2)), cosine_phase(b, x, axis, 0, 2), -1);
  damo_var *y = z ? build_fft_along(b, FFT_COMPLEX, z, two_n, axis) : NULL;
  return cosine_turned_real(b, cosine_first(b, y, axis, n), cosine_phase(b, x, axis, 0.5, 2));
}

/* The factor 1/√m or 1/m. */
static damo_var *cosine_scaled(build *b, const cosine_call *c, damo_var *y, int axis) {
  if (y == NULL || c->scale == COSINE_PLAIN) return y;
  damo_var *n = build_dim(b, y, axis);
  if (c->type == 1) n = c->sine ? build_length_add(b, n, build_i64(b, 1)) : build_length_sub(b, n, build_i64(b, 1));
  damo_var *m = n ? build_cast(b, build_length_mul(b, n, build_i64(b, 2)), DAMO_FLOAT64) : NULL;
  if (m != NULL && c->scale == COSINE_ROOT) m = build_sqrt(b, m);
  damo_var *factor = m ? build_true_div(b, build_scalar(b, DAMO_FLOAT64, 1), m) : NULL;
  return factor ? build_mul(b, y, build_cast(b, factor, var_dtype(y))) : NULL;
}

/* Of a real x, along one axis. */
static damo_var *cosine_real(build *b, const cosine_call *c, damo_var *x, int axis) {
  const double root = 1.4142135623730951;
  const bool ends = c->orthogonal, sine = c->sine;
  x = cosine_weigh_ends(b, x, axis, ends && !sine && c->type != 2 && c->type != 4,
                        ends && ((!sine && c->type == 1) || (sine && c->type == 3)), root);
  if (x == NULL) return NULL;
  if (sine && c->type == 2) x = cosine_alternate(b, x, axis);
  if (sine && c->type > 2) x = cosine_flip(b, x, axis);
  damo_var *y = x == NULL      ? NULL
                : c->type == 1 ? cosine_of_type_1(b, x, axis, sine)
                : c->type == 2 ? cosine_of_type_2(b, x, axis)
                : c->type == 3 ? cosine_of_type_3(b, x, axis)
                               : cosine_of_type_4(b, x, axis);
  if (sine && c->type == 2) y = cosine_flip(b, y, axis);
  if (sine && c->type > 2) y = y ? cosine_alternate(b, y, axis) : NULL;
  y = cosine_weigh_ends(b, y, axis, ends && !sine && c->type < 3,
                        ends && ((!sine && c->type == 1) || (sine && c->type == 2)), 1 / root);
  return cosine_scaled(b, c, y, axis);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status cosine_read(build *b, const fn_args *a, bool sine, bool inverse, cosine_call *c) {
  const cosine_options *o = FN_OPTIONS(a, cosine_options);
  const char *norm = prop_str_or(o->norm, "backward");
  const int64_t type = prop_int_or(o->type, 2);
  *c = (cosine_call){.func = a->func->name, .sine = sine};
  if (type < 1 || type > 4)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the type is 1, 2, 3 or 4, got %lld", c->func, (long long)type);
  const bool ortho = strcmp(norm, "ortho") == 0, backward = strcmp(norm, "backward") == 0;
  if (!ortho && !backward && strcmp(norm, "forward") != 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: norm is \"backward\", \"ortho\" or \"forward\", got \"%s\"", c->func,
                    norm);
  c->type = (int)(inverse && (type == 2 || type == 3) ? 5 - type : type);
  c->scale = ortho ? COSINE_ROOT : backward == inverse ? COSINE_INVERSE : COSINE_PLAIN;
  c->orthogonal = prop_bool_or(o->orthogonalize, ortho);
  return DAMO_OK;
}

/* The operand as floats, or complex numbers. */
static damo_status cosine_operand(build *b, const fn_args *a, damo_var **x) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  *x = build_strong(b, a->in[0]);
  if (*x == NULL) return b->status;
  if (var_ndim(*x) == 0)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the operand must have an axis, got a scalar", a->func->name);
  if (dtype_is_discrete(var_dtype(*x))) *x = build_cast(b, *x, DAMO_FLOAT64);
  return b->status;
}

static damo_status cosine_check_points(build *b, const cosine_call *c, damo_var *n) {
  int64_t known;
  DAMO_TRY(fft_check_length(b, c->func, n));
  if (n != NULL && c->type == 1 && !c->sine && var_static_int(n, &known) && known < 2)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: a cosine transform of type 1 has at least two points, got %lld", c->func,
                    (long long)known);
  return b->status;
}

/* Real and imaginary part each by itself; n: points, NULL: the operand's. */
static damo_status cosine_along(build *b, const cosine_call *c, damo_var **x, damo_var *n, int axis) {
  DAMO_TRY(cosine_check_points(b, c, n != NULL ? n : build_dim(b, *x, axis)));
  if (n != NULL) *x = build_fft_fit(b, *x, n, axis);
  if (*x == NULL) return b->status;
  if (dtype_is_complex(var_dtype(*x))) {
    damo_var *re = cosine_real(b, c, build_real(b, *x), axis), *im = cosine_real(b, c, build_imag(b, *x), axis);
    *x = re && im ? build_complex(b, re, im) : NULL;
  } else {
    *x = cosine_real(b, c, *x, axis);
  }
  return b->status;
}

static damo_status cosine_one(build *b, const fn_args *a, ptrvec *out, bool sine, bool inverse) {
  const cosine_options *o = FN_OPTIONS(a, cosine_options);
  damo_var *x, *n = NULL, *lengths[DAMO_MAX_NDIM];
  cosine_call c;
  int axis, count;
  DAMO_TRY(cosine_operand(b, a, &x));
  DAMO_TRY(cosine_read(b, a, sine, inverse, &c));
  DAMO_TRY(axis_check(b->ctx, c.func, prop_int_or(o->axis, -1), var_ndim(x), &axis));
  if (prop_given(o->n)) {
    DAMO_TRY(shape_check(b, c.func, &o->n, lengths, &count));
    if (count != 1) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: n is one length, got %d", c.func, count);
    n = lengths[0];
  }
  DAMO_TRY(cosine_along(b, &c, &x, n, axis));
  return fn_give(b, out, x);
}

static damo_status cosine_many(build *b, const fn_args *a, ptrvec *out, bool sine, bool inverse) {
  const cosine_options *o = FN_OPTIONS(a, cosine_options);
  damo_var *x, *lengths[DAMO_MAX_NDIM];
  cosine_call c;
  int axes[DAMO_MAX_NDIM], n, count = -1;
  DAMO_TRY(cosine_operand(b, a, &x));
  DAMO_TRY(cosine_read(b, a, sine, inverse, &c));
  if (prop_given(o->s)) DAMO_TRY(shape_check(b, c.func, &o->s, lengths, &count));
  DAMO_TRY(axes_in_order(b->ctx, c.func, &o->axes, var_ndim(x), axes, &n));
  if (n < 0) {
    n = count >= 0 ? count : var_ndim(x);
    if (n > var_ndim(x))
      return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: %d axes of an operand of rank %d", c.func, n, var_ndim(x));
    for (int i = 0; i < n; i++) axes[i] = var_ndim(x) - n + i;
  }
  if (count >= 0 && count != n)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: s has %d lengths for %d axes", c.func, count, n);
  for (int i = n - 1; i >= 0; i--) DAMO_TRY(cosine_along(b, &c, &x, count >= 0 ? lengths[i] : NULL, axes[i]));
  return fn_give(b, out, x);
}

static damo_status fn_dct(build *b, const fn_args *a, ptrvec *out) { return cosine_one(b, a, out, false, false); }
static damo_status fn_idct(build *b, const fn_args *a, ptrvec *out) { return cosine_one(b, a, out, false, true); }
static damo_status fn_dst(build *b, const fn_args *a, ptrvec *out) { return cosine_one(b, a, out, true, false); }
static damo_status fn_idst(build *b, const fn_args *a, ptrvec *out) { return cosine_one(b, a, out, true, true); }
static damo_status fn_dctn(build *b, const fn_args *a, ptrvec *out) { return cosine_many(b, a, out, false, false); }
static damo_status fn_idctn(build *b, const fn_args *a, ptrvec *out) { return cosine_many(b, a, out, false, true); }
static damo_status fn_dstn(build *b, const fn_args *a, ptrvec *out) { return cosine_many(b, a, out, true, false); }
static damo_status fn_idstn(build *b, const fn_args *a, ptrvec *out) { return cosine_many(b, a, out, true, true); }

#define COSINE_ALONG_AXIS                                                                                            \
  OPTIONS(OPT(cosine_options, type, OPT_INT), OPT(cosine_options, n, OPT_SHAPE), OPT(cosine_options, axis, OPT_INT), \
          OPT(cosine_options, norm, OPT_STR), OPT(cosine_options, orthogonalize, OPT_BOOL))
#define COSINE_ALONG_AXES                                                                                             \
  OPTIONS(OPT(cosine_options, type, OPT_INT), OPT(cosine_options, s, OPT_SHAPE), OPT(cosine_options, axes, OPT_AXES), \
          OPT(cosine_options, norm, OPT_STR), OPT(cosine_options, orthogonalize, OPT_BOOL))

const op_func cosine_funcs[] = {
    {.name = "fft.dct",
     .operands = "x",
     .options = COSINE_ALONG_AXIS,
     .call = fn_dct,
     .doc = "cosine transform of type 1 to 4 (default 2) of n points along an axis (default -1); norm as fft's; "
            "orthogonalize: the ends are weighed so that norm \"ortho\", where it is the default, is orthogonal"},
    {.name = "fft.idct", .operands = "x", .options = COSINE_ALONG_AXIS, .call = fn_idct, .doc = "inverse of dct"},
    {.name = "fft.dst",
     .operands = "x",
     .options = COSINE_ALONG_AXIS,
     .call = fn_dst,
     .doc = "sine transform of type 1 to 4 (default 2) of n points along an axis (default -1); options as dct's"},
    {.name = "fft.idst", .operands = "x", .options = COSINE_ALONG_AXIS, .call = fn_idst, .doc = "inverse of dst"},
    {.name = "fft.dctn",
     .operands = "x",
     .options = COSINE_ALONG_AXES,
     .call = fn_dctn,
     .doc = "cosine transform along axes (default: all, or the last ones of s), s points"},
    {.name = "fft.idctn", .operands = "x", .options = COSINE_ALONG_AXES, .call = fn_idctn, .doc = "inverse of dctn"},
    {.name = "fft.dstn",
     .operands = "x",
     .options = COSINE_ALONG_AXES,
     .call = fn_dstn,
     .doc = "sine transform along axes (default: all, or the last ones of s), s points"},
    {.name = "fft.idstn", .operands = "x", .options = COSINE_ALONG_AXES, .call = fn_idstn, .doc = "inverse of dstn"},
    {.name = NULL},
};
