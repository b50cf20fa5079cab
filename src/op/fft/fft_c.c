/* fft_c: Fourier transforms as C source: Stockham's algorithm with radices 4, 2 and the other prime factors of the length,
 * over a table of roots of unity that is a constant of the file. Results differ from kernel/fft's by rounding. */
#include <math.h>
#include <string.h>

#include "fft_op.h"
#include "graph/c_emit.h"

#define FFT_MOST_FACTOR 97 /* a prime factor r takes r operations for an entry */

/* exp(-2 pi i k / n) for k = 0, 1, …: by the functions of C's library in the first eighth of the circle. */
static damo_c128 emit_fft_root(int64_t k, int64_t n) {
  const double turn = 6.28318530717958647693;
  const int64_t eighth = 8 * k / n, rest = eighth % 2 == 0 ? k * 8 - eighth * n : (eighth + 1) * n - k * 8;
  const double at = turn / 8 * ((double)rest / (double)n), c = cos(at), s = sin(at);
  const bool swaps = eighth % 4 == 1 || eighth % 4 == 2;
  const double x = swaps ? s : c, y = swaps ? c : s;
  return (damo_c128){eighth >= 2 && eighth < 6 ? -x : x, eighth < 4 ? -y : y};
}

static damo_array *emit_fft_roots(damo_ctx *ctx, int64_t n) {
  damo_array *a = damo_array_new(ctx, DAMO_COMPLEX128, 1, &n);
  for (int64_t k = 0; a != NULL && k < n; k++) ((damo_c128 *)(void *)a->data)[k] = emit_fft_root(k, n);
  return a;
}

/* The factors of n as a list of C; NULL: one of them is too large. */
static const char *emit_fft_factors(c_emit *e, int64_t n) {
  const char *text = "";
  while (n % 4 == 0) text = ce_text(e, "%s4, ", text), n /= 4;
  for (int64_t r = 2; n > 1; r++) {
    if (r > FFT_MOST_FACTOR) return NULL;
    while (n % r == 0) text = ce_text(e, "%s%d, ", text, (int)r), n /= r;
  }
  return ce_text(e, "%s0", text);
}

static void emit_fft_helper(c_emit *e, damo_dtype dtype) {
  ce_helper(
      e, "fft", dtype,
      "static inline @ fft_turned_~(@ a, @ w) {\n"
      "  return (@){a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};\n}\n"
      "static inline @ fft_sum_~(@ a, @ b) { return (@){a.re + b.re, a.im + b.im}; }\n"
      "static inline @ fft_less_~(@ a, @ b) { return (@){a.re - b.re, a.im - b.im}; }\n"
      "/* The transform of n numbers x, in x or y (Stockham): stages of the factors, which end with 0. At length l\n"
      " * x[s * l + k] is entry k of the transform of the numbers s, s + n / l, s + 2 n / l, … */\n"
      "static @ *fft_~(@ *x, @ *y, ptrdiff_t n, const int *factors, const @ *roots) {\n"
      "  for (ptrdiff_t l = 1; *factors != 0; l *= *factors++) {\n"
      "    const ptrdiff_t r = *factors, m = n / (l * r);\n"
      "    for (ptrdiff_t s = 0; s < m; s++) {\n"
      "      const @ *from = x + s * l;\n"
      "      @ *to = y + s * l * r;\n"
      "      for (ptrdiff_t k = 0; k < l; k++) {\n"
      "        if (r == 4) {\n"
      "          const @ a = from[k], b = fft_turned_~(from[m * l + k], roots[k * m]);\n"
      "          const @ c = fft_turned_~(from[2 * m * l + k], roots[2 * k * m]);\n"
      "          const @ d = fft_turned_~(from[3 * m * l + k], roots[3 * k * m]);\n"
      "          const @ ac = fft_sum_~(a, c), a_c = fft_less_~(a, c), bd = fft_sum_~(b, d), b_d = fft_less_~(b, d);\n"
      "          to[k] = fft_sum_~(ac, bd);\n"
      "          to[l + k] = (@){a_c.re + b_d.im, a_c.im - b_d.re};\n"
      "          to[2 * l + k] = fft_less_~(ac, bd);\n"
      "          to[3 * l + k] = (@){a_c.re - b_d.im, a_c.im + b_d.re};\n"
      "        } else if (r == 2) {\n"
      "          const @ a = from[k], b = fft_turned_~(from[m * l + k], roots[k * m]);\n"
      "          to[k] = fft_sum_~(a, b);\n"
      "          to[l + k] = fft_less_~(a, b);\n"
      "        } else {\n"
      "          for (ptrdiff_t p = 0; p < r; p++) {\n"
      "            const ptrdiff_t step = m * (k + p * l);\n"
      "            @ sum = from[k];\n"
      "            for (ptrdiff_t q = 1, at = step; q < r; q++, at = at + step < n ? at + step : at + step - n)\n"
      "              sum = fft_sum_~(sum, fft_turned_~(from[q * m * l + k], roots[at]));\n"
      "            to[p * l + k] = sum;\n"
      "          }\n"
      "        }\n"
      "      }\n"
      "    }\n"
      "    @ *const swap = x;\n"
      "    x = y;\n"
      "    y = swap;\n"
      "  }\n"
      "  return x;\n"
      "}\n");
}

/* Statements for one slice: from x into the scratch memory a, the transform, and from there to y. An inverse transform is
 * that of the numbers with their parts exchanged. */
typedef struct fft_slice {
  const damo_op *op;
  fft_kind kind;
  int64_t n, had, x_step, y_step; /* had: the length of x's axis */
  bool inverse;
  const char *x, *y, *a;
  damo_dtype dtype, part;
} fft_slice;

static void emit_fft_load(c_emit *e, const fft_slice *s) {
  const int64_t most = s->kind == FFT_FROM_HALF ? s->n / 2 + 1 : s->n, n = s->had < most ? s->had : most;
  const char *type = ce_type(s->dtype), *part = ce_type(s->part), *real = s->inverse ? "im" : "re";
  if (n < s->n) ce_line(e, "memset(%s, 0, %lld);", s->a, (long long)(s->n * (int64_t)dtype_size(s->dtype)));
  ce_for(e, "j", n);
  if (s->kind == FFT_TO_HALF) {
    ce_line(e, "%s[j] = (%s){.%s = %s[j * %lld]};", s->a, type, real, s->x, (long long)s->x_step);
  } else {
    ce_line(e, "const %s v = %s[j * %lld];", type, s->x, (long long)s->x_step);
    ce_line(e, s->inverse ? "%s[j] = (%s){v.im, v.re};" : "%s[j] = (%s){v.re, v.im};", s->a, type);
  }
  ce_close(e);
  if (s->kind != FFT_FROM_HALF) return;
  /* the other half is the conjugate one */
  ce_line(e, "const %s inner = (%s)%s;", part, part,
          ce_number(e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = fourier_interior(s->op)}));
  ce_for(e, "j", (s->n - 1) / 2);
  ce_line(e, "%s *const v = &%s[j + 1];", type, s->a);
  ce_line(e, "*v = (%s){v->re * inner, v->im * inner};", type);
  ce_line(e, s->inverse ? "%s[%lld - j] = (%s){-v->re, v->im};" : "%s[%lld - j] = (%s){v->re, -v->im};", s->a,
          (long long)(s->n - 1), type);
  ce_close(e);
}

static void emit_fft_store(c_emit *e, const fft_slice *s) {
  const int64_t n = fft_out_length(s->kind, s->n);
  const char *type = ce_type(s->dtype), *part = ce_type(s->part);
  ce_line(e, "const %s scale = (%s)%s;", part, part,
          ce_number(e, DAMO_FLOAT64, (scalar){.dtype = DAMO_FLOAT64, .v.f = fourier_scale(s->op, s->n)}));
  if (s->kind == FFT_TO_HALF && fourier_interior(s->op) != 1) {
    ce_for(e, "k", (s->n - 1) / 2);
    ce_line(e, "z[k + 1] = (%s){2 * z[k + 1].re, 2 * z[k + 1].im};", type);
    ce_close(e);
  }
  ce_for(e, "k", n);
  if (s->kind == FFT_FROM_HALF)
    ce_line(e, "%s[k * %lld] = z[k].%s * scale;", s->y, (long long)s->y_step, s->inverse ? "im" : "re");
  else
    ce_line(e,
            s->inverse ? "%s[k * %lld] = (%s){z[k].im * scale, z[k].re * scale};"
                       : "%s[k * %lld] = (%s){z[k].re * scale, z[k].im * scale};",
            s->y, (long long)s->y_step, type);
  ce_close(e);
}

damo_status fourier_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const damo_op *op = node->op;
  const c_value *x = ce_in(e, 0);
  const int axis = fourier_axis(op);
  int64_t n = x->shape[axis], shape[DAMO_MAX_NDIM], others[DAMO_MAX_NDIM];
  if (node->n_in == 2) DAMO_TRY(ce_int(e, 1, "a transform's length", &n));
  if (n < 1) return ce_refuse(e, "a transform of no points");
  if (e->file->reproducible) return ce_refuse(e, "a transform in reproducible mode");
  const char *factors = emit_fft_factors(e, n);
  if (factors == NULL)
    return ce_refuse(e, "the length %lld has a prime factor above %d", (long long)n, FFT_MOST_FACTOR);
  memcpy(shape, x->shape, sizeof shape);
  memcpy(others, x->shape, sizeof others);
  shape[axis] = fft_out_length(fourier_kind(op), n);
  others[axis] = 1;
  const c_value *y = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, shape);
  if (y == NULL) return e->status;
  fft_slice s = {.op = op, .kind = fourier_kind(op), .n = n, .had = x->shape[axis], .inverse = fourier_inverse(op)};
  s.part = x->dtype == DAMO_FLOAT32 || x->dtype == DAMO_COMPLEX64 ? DAMO_FLOAT32 : DAMO_FLOAT64;
  s.dtype = s.part == DAMO_FLOAT32 ? DAMO_COMPLEX64 : DAMO_COMPLEX128;
  s.x_step = x->strides[axis];
  s.y_step = y->strides[axis];
  damo_array *table = emit_fft_roots(e->ctx, n);
  if (table != NULL && s.dtype == DAMO_COMPLEX64) {
    damo_array *single = array_cast(table, DAMO_COMPLEX64);
    damo_release(table);
    table = single;
  }
  const c_value *roots = ce_constant(e, table), *a = ce_scratch(e, s.dtype, n), *b = ce_scratch(e, s.dtype, n);
  if (roots == NULL || a == NULL || b == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
  emit_fft_helper(e, s.dtype);
  ce_line(e, "static const int factors[] = {%s};", factors);
  c_nest nest;
  ce_nest_init(e, &nest, x->ndim, others, 2, (const int64_t *const[]){x->strides, y->strides});
  ce_nest_open(e, &nest);
  ce_open(e, "%s", "");
  ce_line(e, "const %s *const from = %s + %s;", ce_type(x->dtype), ce_p(e, x), ce_nest_at(e, &nest, 0));
  ce_line(e, "%s *const to = %s + %s;", ce_type(y->dtype), ce_p(e, y), ce_nest_at(e, &nest, 1));
  s.x = "from";
  s.y = "to";
  s.a = ce_p(e, a);
  emit_fft_load(e, &s);
  ce_line(e, "%s *const z = fft_%s(%s, %s, %lld, factors, %s);", ce_type(s.dtype), ce_suffix(s.dtype), s.a, ce_p(e, b),
          (long long)n, ce_p(e, roots));
  emit_fft_store(e, &s);
  ce_close(e);
  ce_nest_close(e, &nest);
  return e->status;
}
