/* draw_c: draws as C source. The file carries the texts of the generator, of the functions of draws and of the
 * distributions (export/draw_base_text.inc, draw_entries_text.inc), so that a stream is the virtual machine's to the bit.
 */
#include <string.h>

#include "draw.h"
#include "graph/c_emit.h"

/* A distribution whose values are formulas of the parameters a, b, c, d and of a base draw v; of BASE_ENTRY, of the words
 * w of the value, the parameters p, and the number k of the value in the stream s. */
typedef struct c_draw {
  const char *name, *value;
  const char *fails; /* where parameters are not allowed that fulfil their demands */
} c_draw;

#define EXPONENTIAL "(-draw_log(1 - v))"

static const c_draw c_draws[] = {
    {"normal", "a + b * v", "!(b >= 0)"},
    {"uniform", "a + (b - a) * v", NULL},
    {"bernoulli", "v < a", "!(a >= 0 && a <= 1)"},
    {"exponential", "a * " EXPONENTIAL, "!(a >= 0)"},
    {"gumbel", "a - b * draw_log(" EXPONENTIAL ")", "!(b >= 0)"},
    {"lognormal", "draw_exp(a + b * v)", NULL},
    {"halfnormal", "a + b * fabs(v)", NULL},
    {"laplace", "a + b * (v < 0.5 ? draw_log(2 * (v + 0x1p-54)) : -draw_log(2 * (1 - v)))", NULL},
    {"logistic", "a + b * draw_log((v + 0x1p-54) / (1 - v))", NULL},
    {"cauchy", "a - b * draw_cot(0.5 * (v + 0x1p-54))", NULL},
    {"halfcauchy", "a + b * draw_tan(0.25 * v)", NULL},
    {"weibull", "b * draw_exp(draw_log(" EXPONENTIAL ") / a)", NULL},
    {"pareto", "b * draw_exp(" EXPONENTIAL " / a)", NULL},
    {"rayleigh", "a * sqrt(2 * " EXPONENTIAL ")", NULL},
    {"triangular", "v * (c - a) < b - a ? a + sqrt(v * (c - a) * (b - a)) : c - sqrt((1 - v) * (c - a) * (c - b))",
     "!(a <= b && b <= c && a < c)"},
    {"truncexpon", "b - c * draw_log1p(v * draw_expm1(-a))", NULL},
    {"geometric", "draw_trials(v, a)", NULL},
    {"gamma", "b * draw_gamma(&s, k, a, 0)", NULL},
    {"gengamma", "c * draw_exp(draw_gamma(&s, k, a / b, 1) / b)", NULL},
    {"log_gamma", "draw_gamma(&s, k, a, 1)", NULL},
    {"invgamma", "b / draw_gamma(&s, k, a, 0)", NULL},
    {"chisquare", "2 * draw_gamma(&s, k, 0.5 * a, 0)", NULL},
    {"beta", "entry_beta(&w, p)", NULL},
    {"f", "entry_f(&w, p)", NULL},
    {"t", "entry_t(&w, p)", NULL},
    {"wald", "entry_wald(&w, p)", NULL},
    {"vonmises", "entry_vonmises(&w, p)", NULL},
    {"truncated_normal", "entry_truncated_normal(&w, p)", "!(c < d)"},
    {"poisson", "entry_poisson(&w, p)", NULL},
    {"binomial", "entry_binomial(&w, p)", NULL},
    {"nbinom", "entry_nbinom(&w, p)", NULL},
    {"betabinom", "entry_betabinom(&w, p)", NULL},
    {"hypergeometric", "entry_hypergeometric(&w, p)", "!(c <= a + b)"},
    {"zipf", "entry_zipf(&w, p)", "!(a > 1)"},
    {NULL, NULL, NULL}};

/* Where parameter % does not fulfil a demand. */
static const char *const c_demands[] = {[DEMAND_FINITE] = "%c - %c != 0",
                                        [DEMAND_POSITIVE] = "!(%c > 0 && %c < INFINITY)",
                                        [DEMAND_NONNEGATIVE] = "!(%c >= 0 && %c < INFINITY)",
                                        [DEMAND_PROBABILITY] = "!(%c >= 0 && %c <= 1)",
                                        [DEMAND_CHANCE] = "!(%c > 0 && %c <= 1)",
                                        [DEMAND_COUNT] = "!(%c >= 0 && %c <= 0x1p53 && %c == floor(%c))",
                                        [DEMAND_RATE] = "!(%c >= 0 && %c <= 0x1p53)"};

static void draw_c_checks(c_emit *e, const distribution *d, const c_draw *r) {
  for (int i = 0; i < d->n_params; i++) {
    const char *text = c_demands[d->demand[i]], name = (char)('a' + i);
    if (text == NULL) continue;
    strbuf out = {.ctx = e->ctx};
    for (; *text != '\0'; text++) {
      const bool is_name = text[0] == '%';
      strbuf_addn(&out, is_name ? &name : text, 1);
      if (is_name) text++;
    }
    if (out.failed) e->status = ctx_fail_memory(e->ctx);
    if (e->status == DAMO_OK) ce_fail_if(e, "%s", out.at);
    strbuf_clear(&out);
  }
  if (r->fails != NULL) ce_fail_if(e, "%s", r->fails);
}

static void draw_c_helpers(c_emit *e, const distribution *d, const c_draw *r) {
  e->file->specials |= 1u << C_SPECIAL_DRAW;
  if (d->base == BASE_ENTRY) e->file->specials |= 1u << C_SPECIAL_DRAW_ENTRY;
  if (d->base != BASE_ENTRY)
    ce_helper(e, "draw_pair", DAMO_UINT64,
              "/* The two words of block k. */\n"
              "static inline void draw_pair(const philox_state *s, uint64_t k, uint64_t *words) {\n"
              "  uint32_t c[4];\n"
              "  philox_block(s, k, c);\n"
              "  words[0] = philox_word_at(c, 0);\n"
              "  words[1] = philox_word_at(c, 1);\n"
              "}\n");
  if (d->base == BASE_NORMAL)
    ce_helper(e, "draw_normals", DAMO_FLOAT64,
              "/* Two normal draws of two words (Box and Muller, 1958). */\n"
              "static inline void draw_normals(const uint64_t *words, double *out) {\n"
              "  const double radius = sqrt(-2 * draw_log_at(1 - philox_unit_of_word(words[0])));\n"
              "  double sine, cosine;\n"
              "  draw_sincos_2pi_at(philox_unit_of_word(words[1]), &sine, &cosine);\n"
              "  out[0] = radius * cosine;\n"
              "  out[1] = radius * sine;\n"
              "}\n");
  if (r->name == NULL) return;
  if (strstr(r->value, "draw_cot") != NULL || strstr(r->value, "draw_tan") != NULL)
    ce_helper(e, "draw_tan", DAMO_FLOAT64,
              "static inline double draw_tan(double v) {\n"
              "  double sine, cosine;\n  draw_sincos_2pi_at(v, &sine, &cosine);\n  return sine / cosine;\n}\n"
              "static inline double draw_cot(double v) {\n"
              "  double sine, cosine;\n  draw_sincos_2pi_at(v, &sine, &cosine);\n  return cosine / sine;\n}\n");
  if (strstr(r->value, "draw_trials") != NULL)
    ce_helper(e, "draw_trials", DAMO_FLOAT64,
              "static inline double draw_trials(double v, double chance) {\n"
              "  const double k = chance < 1 ? ceil(" EXPONENTIAL
              " / -draw_log1p(-chance)) : 1;\n"
              "  return k > 1 ? k : 1;\n}\n");
  if (strstr(r->value, "draw_gamma") != NULL)
    ce_helper(e, "draw_gamma", DAMO_FLOAT64,
              "/* Draw k of the gamma distribution of scale 1, or its logarithm: of a shape below 1 that of one more,\n"
              " * times a uniform's power, whose counter has the top bit set. */\n"
              "static inline double draw_gamma(const philox_state *s, uint64_t k, double shape, int logarithm) {\n"
              "  const gamma_shape g = gamma_shape_of(shape);\n"
              "  philox_words w = philox_words_of(s, k);\n"
              "  const double raised = gamma_attempts(&w, &g), x = logarithm ? draw_log(raised) : raised;\n"
              "  if (!(shape < 1)) return x;\n"
              "  philox_state other = *s;\n"
              "  other.counter_hi ^= (uint64_t)1 << 63;\n"
              "  w = philox_words_of(&other, k);\n"
              "  const double power = draw_log(draw_radius_of(philox_word(&w))) / shape;\n"
              "  return logarithm ? x + power : x * draw_exp(power);\n}\n");
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

/* Parameter i in the loops of the nest. */
static void draw_c_params(c_emit *e, const distribution *d, const c_nest *nest) {
  const char *type = d->base == BASE_WORD ? "int64_t" : "double";
  for (int i = 0; i < d->n_params; i++)
    ce_line(e, "const %s %c = %s[%s];", type, 'a' + i, ce_p(e, ce_in(e, 1 + i)), ce_nest_at(e, nest, i));
}

/* Writes what the value k that the base draw gives becomes in a value of `out`. */
static const char *draw_c_value(c_emit *e, const distribution *d, const c_draw *r, const c_value *out) {
  if (d->base == BASE_WORD) {
    ce_helper(e, "word_below", DAMO_UINT64,
              "/* The high half of word * range; range 0 stands for 2^64. */\n"
              "static inline uint64_t word_below(uint64_t word, uint64_t range) {\n"
              "  const uint64_t a0 = (uint32_t)word, a1 = word >> 32, b0 = (uint32_t)range, b1 = range >> 32;\n"
              "  const uint64_t mid1 = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (uint32_t)mid1;\n"
              "  return range == 0 ? word : a1 * b1 + (mid1 >> 32) + (mid2 >> 32);\n"
              "}\n");
    ce_fail_if(e, "a > b");
    return ce_cast(e, DAMO_INT64, out->dtype,
                   "(int64_t)((uint64_t)a + word_below(words[k % 2], (uint64_t)b - (uint64_t)a + 1))");
  }
  draw_c_checks(e, d, r);
  if (d->base == BASE_NORMAL) ce_line(e, "const double v = pair[k %% 2];");
  if (d->base == BASE_UNIFORM) ce_line(e, "const double v = philox_unit_of_word(words[k %% 2]);");
  if (d->base == BASE_ENTRY && d->entry != NULL) {
    static const char *const lists[] = {"", "a", "a, b", "a, b, c", "a, b, c, d"};
    ce_line(e, "const double p[] = {%s};", lists[d->n_params]);
    ce_line(e, "philox_words w = philox_words_of(&s, k);");
  }
  ce_line(e, "const double x = %s;", r->value);
  if (d->rounds_down && out->dtype == DAMO_FLOAT32)
    return "(double)(float)x > x ? nextafterf((float)x, -INFINITY) : (float)x";
  return ce_cast(e, DAMO_FLOAT64, out->dtype, "x");
}

/* The loops that write a draw of the state s. */
static void draw_c_values(c_emit *e, const distribution *d, const c_draw *r, const c_value *s, const c_value *out,
                          const c_nest *nest) {
  const char *state = ce_p(e, s);
  const bool normal = d->base == BASE_NORMAL, pairs = d->base != BASE_ENTRY;
  ce_open(e, "%s", "");
  ce_line(e, "const philox_state s = {%s[0], %s[1], %s[2]};", state, state, state);
  if (pairs) ce_line(e, "uint64_t words[2] = {0, 0};");
  if (normal) ce_line(e, "double pair[2] = {0, 0};");
  ce_line(e, "uint64_t k = 0;");
  ce_nest_open(e, nest);
  if (pairs) {
    ce_open(e, "if (k %% 2 == 0)");
    ce_line(e, "draw_pair(&s, k / 2, words);");
    if (normal) ce_line(e, "draw_normals(words, pair);");
    ce_close(e);
  }
  ce_open(e, "%s", "");
  draw_c_params(e, d, nest);
  const char *value = draw_c_value(e, d, r, out);
  ce_line(e, "%s[k] = %s;", ce_p(e, out), value);
  ce_line(e, "k++;");
  ce_close(e);
  ce_nest_close(e, nest);
  ce_close(e);
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
  draw_c_helpers(e, d, r);
  if (ce_size(out) > 0) {
    c_nest nest;
    ce_nest_init(e, &nest, ndim, shape, d->n_params, ops);
    draw_c_values(e, d, r, s, out, &nest);
  }
  draw_c_next(e, s, draw_blocks(d, ce_size(out)));
  return e->status;
}
