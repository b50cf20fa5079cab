/* draw_c: draws as C source: Philox, base draws and the functions of kernel/draw_math.h, so that a stream is the virtual
 * machine's to the bit. */
#include <string.h>

#include "draw.h"
#include "graph/c_emit.h"

/* A distribution whose values are formulas of one base draw v and the parameters a, b, c. */
typedef struct c_draw {
  const char *name, *value;
  const char *fails; /* where parameters are not allowed */
} c_draw;

#define POSITIVE_FINITE(x) "!(" x " > 0 && " x " < INFINITY)"
#define FINITE(x) x " - " x " != 0"
#define NOT_NEGATIVE(x) "!(" x " >= 0 && " x " < INFINITY)"
#define EXPONENTIAL "(-draw_log(1 - v))"

static const c_draw c_draws[] = {
    {"normal", "a + b * v", "!(b >= 0)"},
    {"uniform", "a + (b - a) * v", NULL},
    {"bernoulli", "v < a", "!(a >= 0 && a <= 1)"},
    {"exponential", "a * " EXPONENTIAL, "!(a >= 0)"},
    {"gumbel", "a - b * draw_log(" EXPONENTIAL ")", "!(b >= 0)"},
    {"lognormal", "draw_exp(a + b * v)", FINITE("a") " || " NOT_NEGATIVE("b")},
    {"halfnormal", "a + b * fabs(v)", FINITE("a") " || " NOT_NEGATIVE("b")},
    {"laplace", "a + b * (v < 0.5 ? draw_log(2 * (v + 0x1p-54)) : -draw_log(2 * (1 - v)))",
     FINITE("a") " || " NOT_NEGATIVE("b")},
    {"logistic", "a + b * draw_log((v + 0x1p-54) / (1 - v))", FINITE("a") " || " NOT_NEGATIVE("b")},
    {"weibull", "b * draw_exp(draw_log(" EXPONENTIAL ") / a)", POSITIVE_FINITE("a") " || " NOT_NEGATIVE("b")},
    {"pareto", "b * draw_exp(" EXPONENTIAL " / a)", POSITIVE_FINITE("a") " || " NOT_NEGATIVE("b")},
    {"rayleigh", "a * sqrt(2 * " EXPONENTIAL ")", NOT_NEGATIVE("a")},
    {NULL, NULL, NULL}};

static void draw_c_helpers(c_emit *e, bool normal, bool log, bool exp) {
  ce_helper(e, "philox", DAMO_UINT64,
            "/* The two words of block `at` of the stream s: Philox 4x32-10 (Salmon et al., SC'11). */\n"
            "static inline void philox_pair(const uint64_t *s, uint64_t at, uint64_t *words) {\n"
            "  const uint64_t lo = s[1] + at, hi = s[2] + (lo < at);\n"
            "  uint32_t c[4] = {(uint32_t)lo, (uint32_t)(lo >> 32), (uint32_t)hi, (uint32_t)(hi >> 32)};\n"
            "  uint32_t k0 = (uint32_t)s[0], k1 = (uint32_t)(s[0] >> 32);\n"
            "  for (int i = 0; i < 10; i++) {\n"
            "    const uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];\n"
            "    c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;\n"
            "    c[1] = (uint32_t)p1;\n"
            "    c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;\n"
            "    c[3] = (uint32_t)p0;\n"
            "    k0 += 0x9E3779B9u;\n"
            "    k1 += 0xBB67AE85u;\n"
            "  }\n"
            "  words[0] = (uint64_t)c[1] << 32 | c[0];\n"
            "  words[1] = (uint64_t)c[3] << 32 | c[2];\n"
            "}\n"
            "static inline double draw_unit(uint64_t word) { return (double)(int64_t)(word >> 11) * 0x1p-53; }\n");
  if (!normal && !log && !exp) return;
  ce_helper(
      e, "draw_bits", DAMO_UINT64,
      "/* FDLIBM's methods and coefficients, Copyright (C) 1993 by Sun Microsystems, Inc., \"Permission to use,\n"
      " * copy, modify, and distribute this software is freely granted, provided that this notice is preserved\". */\n"
      "static inline uint64_t draw_bits(double x) {\n  uint64_t u;\n  memcpy(&u, &x, sizeof u);\n  return u;\n}\n"
      "static inline double draw_from_bits(uint64_t u) {\n"
      "  double x;\n  memcpy(&x, &u, sizeof x);\n  return x;\n}\n");
  if (normal || log)
    ce_helper(
        e, "draw_log", DAMO_FLOAT64,
        "static inline double draw_log(double x) {\n"
        "  const uint64_t border = UINT64_C(0x3fe6a09e00000000), one = UINT64_C(0x3ff0000000000000);\n"
        "  const double tiny = x < 0x1p-1022 ? 0x1p54 : 1, less = x < 0x1p-1022 ? 54 : 0;\n"
        "  const uint64_t u = draw_bits(x * tiny) + (one - border);\n"
        "  const double k = draw_from_bits(u >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023) - less;\n"
        "  const double f = draw_from_bits((u & UINT64_C(0x000fffffffffffff)) + border) - 1;\n"
        "  const double s = f / (2 + f), z = s * s, w = z * z;\n"
        "  const double even =\n"
        "      w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));\n"
        "  const double odd =\n"
        "      z * (6.666666666666735130e-01 +\n"
        "           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));\n"
        "  const double half = 0.5 * f * f;\n"
        "  const double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;\n"
        "  const double y = k * ln2_hi - ((half - (s * (half + (even + odd)) + k * ln2_lo)) - f);\n"
        "  const double edge = x == 0 ? -(double)INFINITY : x > 0 ? x : (double)NAN;\n"
        "  return x > 0 && x < (double)INFINITY ? y : edge;\n"
        "}\n");
  if (exp)
    ce_helper(e, "draw_exp", DAMO_FLOAT64,
              "static inline double draw_exp(double x) {\n"
              "  const double rounder = 0x1.8p52;\n"
              "  const double t = x < -800 ? -800 : x > 800 ? 800 : x;\n"
              "  const double shifted = t * 1.44269504088896338700e+00 + rounder, k = shifted - rounder;\n"
              "  const double hi = t - k * 6.93147180369123816490e-01, lo = k * 1.90821492927058770002e-10;\n"
              "  const double r = hi - lo, z = r * r;\n"
              "  const double c =\n"
              "      r -\n"
              "      z * (1.66666666666666019037e-01 +\n"
              "           z * (-2.77777777770155933842e-03 +\n"
              "                z * (6.61375632143793436117e-05 +\n"
              "                     z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08))));\n"
              "  const double y = 1 - ((lo - (r * c) / (2 - c)) - hi);\n"
              "  const double half = (k * 0.5 + rounder) - rounder, rest = k - half;\n"
              "  const double scale = draw_from_bits(draw_bits(half + (0x1p52 + 1023)) << 52);\n"
              "  const double again = draw_from_bits(draw_bits(rest + (0x1p52 + 1023)) << 52);\n"
              "  return x == x ? y * scale * again : x;\n"
              "}\n");
  if (normal)
    ce_helper(e, "draw_normals", DAMO_FLOAT64,
              "/* Two normal draws of two words (Box and Muller, 1958). */\n"
              "static inline void draw_normals(const uint64_t *words, double *out) {\n"
              "  const double v = draw_unit(words[1]), rounder = 0x1.8p52, shifted = 4 * v + rounder;\n"
              "  const double x = (v - 0.25 * (shifted - rounder)) * 6.28318530717958647693, z = x * x, w = z * z;\n"
              "  const uint64_t quarter = draw_bits(shifted);\n"
              "  const double s =\n"
              "      x + x * z *\n"
              "              (-1.66666666666666324348e-01 +\n"
              "               z * (8.33333333332248946124e-03 +\n"
              "                    z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +\n"
              "                    z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));\n"
              "  const double r =\n"
              "      z * (4.16666666666666019037e-02 +\n"
              "           z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +\n"
              "      w * w * (-2.75573143513906633035e-07 +\n"
              "               z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));\n"
              "  const double half = 0.5 * z, left = 1 - half, c = left + (((1 - left) - half) + z * r);\n"
              "  const uint64_t swap = 0 - (quarter & 1), both = (draw_bits(s) ^ draw_bits(c)) & swap;\n"
              "  const double sine = draw_from_bits((draw_bits(s) ^ both) ^ (quarter & 2) << 62);\n"
              "  const double cosine = draw_from_bits((draw_bits(c) ^ both) ^ ((quarter + 1) & 2) << 62);\n"
              "  const double radius = sqrt(-2 * draw_log(1 - draw_unit(words[0])));\n"
              "  out[0] = radius * cosine;\n"
              "  out[1] = radius * sine;\n"
              "}\n");
}

/* The state s after `blocks` blocks. */
static void draw_c_next(c_emit *e, const c_value *s, uint64_t blocks) {
  const c_value *next = ce_out(e, 0, DAMO_UINT64, 1, (const int64_t[]){3});
  if (next == NULL) return;
  const char *from = ce_p(e, s), *to = ce_p(e, next);
  const long long step = (long long)s->strides[0];
  ce_line(e, "%s[0] = %s[0];", to, from);
  ce_line(e, "%s[1] = %s[%lld] + %llu;", to, from, step, (unsigned long long)blocks);
  ce_line(e, "%s[2] = %s[%lld] + (%s[1] < %llu);", to, from, 2 * step, to, (unsigned long long)blocks);
}

damo_status draw_emit_c(c_emit *e, const damo_apply *node, const distribution *d, bool sized, int rank) {
  const c_draw *r = c_draws;
  int64_t shape[DAMO_MAX_NDIM], strides[DRAW_MAX_PARAMS + 1][DAMO_MAX_NDIM];
  int ndim = 0;
  while (r->name != NULL && strcmp(r->name, d->name) != 0) r++;
  if (r->name == NULL && d->base != BASE_WORD) return ce_refuse(e, "draws of %s", d->name);
  for (int i = 0; i < d->n_params && !sized; i++) {
    int n;
    int64_t both[DAMO_MAX_NDIM];
    if (!shape_broadcast(ndim, shape, ce_in(e, 1 + i)->ndim, ce_in(e, 1 + i)->shape, &n, both))
      return ce_refuse(e, "parameters that do not broadcast together");
    memcpy(shape, both, (size_t)n * sizeof *shape);
    ndim = n;
  }
  if (sized) ndim = rank;
  for (int k = 0; k < ndim && sized; k++) DAMO_TRY(ce_int(e, 1 + d->n_params + k, "a size", &shape[k]));
  const int64_t *ops[DRAW_MAX_PARAMS];
  for (int i = 0; i < d->n_params; i++) {
    const c_value *p = ce_in(e, 1 + i);
    for (int k = 0; k < p->ndim; k++) {
      if (p->ndim > ndim || (p->shape[k] != 1 && p->shape[k] != shape[ndim - p->ndim + k]))
        return ce_refuse(e, "a parameter that does not broadcast to the size");
    }
    ce_strides_along(p, ndim, strides[i]);
    ops[i] = strides[i];
  }
  const c_value *s = ce_contiguous(e, ce_in(e, 0));
  const c_value *out = ce_out(e, 1, var_dtype(node->out[1]), ndim, shape);
  if (s == NULL || out == NULL) return e->status;
  const bool normal = d->base == BASE_NORMAL;
  draw_c_helpers(e, normal, r->name != NULL && strstr(r->value, "draw_log") != NULL,
                 r->name != NULL && strstr(r->value, "draw_exp") != NULL);
  if (ce_size(out) > 0) {
    c_nest nest;
    ce_nest_init(e, &nest, ndim, shape, d->n_params, ops);
    ce_line(e, "uint64_t words%d[2] = {0, 0};", nest.id);
    if (normal) ce_line(e, "double pair%d[2] = {0, 0};", nest.id);
    ce_line(e, "uint64_t at%d = 0;", nest.id);
    ce_nest_open(e, &nest);
    ce_open(e, "if (at%d %% 2 == 0)", nest.id);
    ce_line(e, "philox_pair(%s, at%d / 2, words%d);", ce_p(e, s), nest.id, nest.id);
    if (normal) ce_line(e, "draw_normals(words%d, pair%d);", nest.id, nest.id);
    ce_close(e);
    const char *type = d->base == BASE_WORD ? "int64_t" : "double";
    ce_open(e, "%s", "");
    for (int i = 0; i < d->n_params; i++)
      ce_line(e, "const %s %c = %s[%s];", type, 'a' + i, ce_p(e, ce_in(e, 1 + i)), ce_nest_at(e, &nest, i));
    const char *value;
    if (d->base == BASE_WORD) {
      ce_helper(e, "word_below", DAMO_UINT64,
                "/* The high half of word * range; range 0 stands for 2^64. */\n"
                "static inline uint64_t word_below(uint64_t word, uint64_t range) {\n"
                "  const uint64_t a0 = (uint32_t)word, a1 = word >> 32, b0 = (uint32_t)range, b1 = range >> 32;\n"
                "  const uint64_t mid1 = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (uint32_t)mid1;\n"
                "  return range == 0 ? word : a1 * b1 + (mid1 >> 32) + (mid2 >> 32);\n"
                "}\n");
      ce_fail_if(e, "a > b");
      value = ce_text(e, "(int64_t)((uint64_t)a + word_below(words%d[at%d %% 2], (uint64_t)b - (uint64_t)a + 1))",
                      nest.id, nest.id);
      value = ce_cast(e, DAMO_INT64, out->dtype, value);
    } else {
      if (r->fails != NULL) ce_fail_if(e, "%s", r->fails);
      ce_line(e, normal ? "const double v = pair%d[at%d %% 2];" : "const double v = draw_unit(words%d[at%d %% 2]);",
              nest.id, nest.id);
      ce_line(e, "const double x = %s;", r->value);
      value = ce_cast(e, DAMO_FLOAT64, out->dtype, "x");
      if (d->rounds_down && out->dtype == DAMO_FLOAT32)
        value = "(double)(float)x > x ? nextafterf((float)x, -INFINITY) : (float)x";
    }
    ce_line(e, "%s[at%d] = %s;", ce_p(e, out), nest.id, value);
    ce_line(e, "at%d++;", nest.id);
    ce_close(e);
    ce_nest_close(e, &nest);
  }
  draw_c_next(e, s, philox_blocks(ce_size(out)));
  return e->status;
}
