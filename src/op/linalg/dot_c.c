/* dot_c: products of vectors and matrices as C source: loops of their own. */
#include "dot_c.h"

#include <string.h>

#include "blas.h"

/* ---- C source ---------------------------------------------------------------------------------------------------- */

/* z = beta z + alpha x y, of matrices given by their lengths and strides; z is not read when beta is 0. */
static void gemm_helper(c_emit *e, damo_dtype dtype) {
  ce_helper(
      e, "gemm", dtype,
      "static void gemm_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, @ alpha, const @ *x, ptrdiff_t xr, ptrdiff_t xc,\n"
      "                   const @ *y, ptrdiff_t yr, ptrdiff_t yc, @ beta, @ *z, ptrdiff_t zr, ptrdiff_t zc) {\n"
      "  for (ptrdiff_t i = 0; i < m; i++) {\n"
      "    if (yc != 1 || zc != 1) {\n"
      "      for (ptrdiff_t j = 0; j < n; j++) {\n"
      "        @ s[4] = {0, 0, 0, 0};\n"
      "        ptrdiff_t l = 0;\n"
      "        for (; l + 4 <= k; l += 4)\n"
      "          for (int q = 0; q < 4; q++) s[q] += x[i * xr + (l + q) * xc] * y[(l + q) * yr + j * yc];\n"
      "        for (; l < k; l++) s[0] += x[i * xr + l * xc] * y[l * yr + j * yc];\n"
      "        const @ sum = alpha * ((s[0] + s[1]) + (s[2] + s[3]));\n"
      "        z[i * zr + j * zc] = beta == 0 ? sum : beta * z[i * zr + j * zc] + sum;\n"
      "      }\n"
      "      continue;\n"
      "    }\n"
      "    @ *row = z + i * zr;\n"
      "    for (ptrdiff_t j = 0; j < n; j++) row[j] = beta == 0 ? 0 : beta * row[j];\n"
      "    for (ptrdiff_t l = 0; l < k; l++) {\n"
      "      const @ a = alpha * x[i * xr + l * xc];\n"
      "      const @ *b = y + l * yr;\n"
      "      for (ptrdiff_t j = 0; j < n; j++) row[j] += a * b[j];\n"
      "    }\n"
      "  }\n"
      "}\n");
}

/* The same in the order of kernel/blas: sums of 64 products (BLAS_DEPTH), each from 0, are added in their order. */
static void gemm_plain_helper(c_emit *e, damo_dtype dtype) {
  ce_helper(
      e, "gemm", dtype,
      "static void gemm_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, @ alpha, const @ *x, ptrdiff_t xr, ptrdiff_t xc,\n"
      "                   const @ *y, ptrdiff_t yr, ptrdiff_t yc, @ beta, @ *z, ptrdiff_t zr, ptrdiff_t zc) {\n"
      "  const int none = k <= 0 || alpha == 0, fresh = beta == 0;\n"
      "  for (ptrdiff_t i = 0; i < m && (none || (beta != 0 && beta != 1)); i++)\n"
      "    for (ptrdiff_t j = 0; j < n; j++) z[i * zr + j * zc] = fresh ? 0 : beta * z[i * zr + j * zc];\n"
      "  for (ptrdiff_t i = 0; i < m && !none; i++)\n"
      "    for (ptrdiff_t p = 0; p < k; p += 64) {\n"
      "      const ptrdiff_t end = k - p < 64 ? k : p + 64;\n"
      "      for (ptrdiff_t j = 0; j < n; j += 16) {\n"
      "        const ptrdiff_t w = n - j < 16 ? n - j : 16;\n"
      "        @ s[16] = {0};\n"
      "        for (ptrdiff_t l = p; l < end; l++) {\n"
      "          const @ a = x[i * xr + l * xc];\n"
      "          const @ *b = y + l * yr + j * yc;\n"
      "          for (ptrdiff_t q = 0; q < w; q++) s[q] += a * b[q * yc];\n"
      "        }\n"
      "        @ *c = z + i * zr + j * zc;\n"
      "        for (ptrdiff_t q = 0; q < w; q++) c[q * zc] = fresh && p == 0 ? alpha * s[q] : c[q * zc] + alpha * "
      "s[q];\n"
      "      }\n"
      "    }\n"
      "}\n");
}

/* The same of complex numbers. */
static void gemm_complex_helper(c_emit *e, damo_dtype dtype) {
  ce_helper(
      e, "gemm", dtype,
      "static void gemm_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, @ alpha, const @ *x, ptrdiff_t xr, ptrdiff_t xc,\n"
      "                   const @ *y, ptrdiff_t yr, ptrdiff_t yc, @ beta, @ *z, ptrdiff_t zr, ptrdiff_t zc) {\n"
      "  for (ptrdiff_t i = 0; i < m; i++)\n"
      "    for (ptrdiff_t j = 0; j < n; j++) {\n"
      "      @ sum = {0, 0}, *const to = z + i * zr + j * zc;\n"
      "      for (ptrdiff_t l = 0; l < k; l++) {\n"
      "        const @ a = x[i * xr + l * xc], b = y[l * yr + j * yc];\n"
      "        sum.re += a.re * b.re - a.im * b.im;\n"
      "        sum.im += a.re * b.im + a.im * b.re;\n"
      "      }\n"
      "      const @ more = {alpha.re * sum.re - alpha.im * sum.im, alpha.re * sum.im + alpha.im * sum.re};\n"
      "      @ old = {0, 0};\n"
      "      if (beta.re != 0 || beta.im != 0) {\n"
      "        old.re = beta.re * to->re - beta.im * to->im;\n"
      "        old.im = beta.re * to->im + beta.im * to->re;\n"
      "      }\n"
      "      to->re = old.re + more.re;\n"
      "      to->im = old.im + more.im;\n"
      "    }\n"
      "}\n");
}

/* The factor, "0", "1" or an expression of that dtype, as an argument of a complex dtype. */
static const char *complex_factor(c_emit *e, damo_dtype dtype, const char *factor) {
  return *factor == '0' || *factor == '1' ? ce_text(e, "(%s){%s, 0}", ce_type(dtype), factor) : factor;
}

/* Products of integers wrap as in the virtual machine; of booleans the result is whether a pair is true. */
static void gemm_whole_helper(c_emit *e, damo_dtype dtype) {
  ce_helper(e, "gemm", dtype,
            dtype == DAMO_BOOL
                ? "static void gemm_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const @ *x, ptrdiff_t xr, ptrdiff_t xc,\n"
                  "                   const @ *y, ptrdiff_t yr, ptrdiff_t yc, @ *z, ptrdiff_t zr, ptrdiff_t zc) {\n"
                  "  for (ptrdiff_t i = 0; i < m; i++)\n"
                  "    for (ptrdiff_t j = 0; j < n; j++) {\n"
                  "      int any = 0;\n"
                  "      for (ptrdiff_t l = 0; l < k && !any; l++) any = x[i * xr + l * xc] && y[l * yr + j * yc];\n"
                  "      z[i * zr + j * zc] = (@)any;\n"
                  "    }\n"
                  "}\n"
                : "static void gemm_~(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const @ *x, ptrdiff_t xr, ptrdiff_t xc,\n"
                  "                   const @ *y, ptrdiff_t yr, ptrdiff_t yc, @ *z, ptrdiff_t zr, ptrdiff_t zc) {\n"
                  "  for (ptrdiff_t i = 0; i < m; i++)\n"
                  "    for (ptrdiff_t j = 0; j < n; j++) {\n"
                  "      uint64_t sum = 0;\n"
                  "      for (ptrdiff_t l = 0; l < k; l++)\n"
                  "        sum += (uint64_t)x[i * xr + l * xc] * (uint64_t)y[l * yr + j * yc];\n"
                  "      z[i * zr + j * zc] = (@)sum;\n"
                  "    }\n"
                  "}\n");
}

/* Rows and columns of a matrix, and its strides; of a vector as a row or as a column. */
static void matrix_of(const c_value *v, bool row, int64_t *m) {
  if (v->ndim == 2) {
    m[0] = v->shape[0], m[1] = v->shape[1], m[2] = v->strides[0], m[3] = v->strides[1];
  } else {
    m[0] = row ? 1 : v->shape[0], m[1] = row ? v->shape[0] : 1;
    m[2] = row ? 0 : v->strides[0], m[3] = row ? v->strides[0] : 1;
  }
}

#define SUM_MOST 64 /* products of a sum that is written out, of as many sums at most */

static bool product_factor_is(const char *factor, char digit) {
  return factor[0] == digit && (factor[1] == '\0' || strcmp(factor + 1, ".0") == 0);
}

/* One loop for z = beta z + alpha x y where y and z are vectors with one step from element to element: lengths and steps
 * are numbers, so that compilers unroll the sums, of which four run side by side where they are long. */
static void emit_gemv(c_emit *e, damo_dtype dtype, int64_t m, int64_t k, const char *alpha, const char *x,
                      const int64_t *a, const char *y, int64_t step, const char *beta, const char *z, int64_t z_step) {
  const char *type = ce_type(dtype);
  const int id = e->n_labels++, lanes = k >= 8 ? 4 : 1;
  const int64_t whole = k - k % lanes;
  ce_open(e, "for (ptrdiff_t i%d = 0; i%d < %lld; i%d++)", id, id, (long long)m, id);
  ce_line(e, lanes == 1 ? "%s s%d_0 = 0;" : "%s s%d_0 = 0, s%d_1 = 0, s%d_2 = 0, s%d_3 = 0;", type, id, id, id, id);
  ce_line(e, "const %s *x%d = %s + i%d * %lld, *y%d = %s;", type, id, x, id, (long long)a[0], id, y);
  if (whole > 0) {
    ce_line(e, "UNROLLED");
    ce_open(e, "for (ptrdiff_t l = 0; l < %lld; l += %d)", (long long)whole, lanes);
    for (int q = 0; q < lanes; q++)
      ce_line(e, "s%d_%d += x%d[(l + %d) * %lld] * y%d[(l + %d) * %lld];", id, q, id, q, (long long)a[1], id, q,
              (long long)step);
    ce_close(e);
  }
  for (int64_t l = whole; l < k; l++)
    ce_line(e, "s%d_0 += x%d[%lld] * y%d[%lld];", id, id, (long long)(l * a[1]), id, (long long)(l * step));
  const char *sum =
      lanes == 1 ? ce_text(e, "s%d_0", id) : ce_text(e, "((s%d_0 + s%d_1) + (s%d_2 + s%d_3))", id, id, id, id);
  if (!product_factor_is(alpha, '1')) sum = ce_text(e, "%s * %s", alpha, sum);
  ce_line(e, "%s *z%d = %s + i%d * %lld;", type, id, z, id, (long long)z_step);
  if (product_factor_is(beta, '0'))
    ce_line(e, "*z%d = %s;", id, sum);
  else if (product_factor_is(beta, '1'))
    ce_line(e, "*z%d = *z%d + %s;", id, id, sum);
  else
    ce_line(e, "*z%d = %s == 0 ? %s : %s * *z%d + %s;", id, beta, sum, beta, id, sum);
  ce_close(e);
}

/* The call for matrices at these addresses. a, b, c: rows, columns and their strides. */
static damo_status emit_gemm(c_emit *e, damo_dtype dtype, const char *alpha, const char *x, const int64_t *a,
                             const char *y, const int64_t *b, const char *beta, const char *z, const int64_t *c) {
  if (a[1] != b[0] || c[0] != a[0] || c[1] != b[1]) return ce_refuse(e, "its operands' shapes do not agree");
  const bool complex = dtype_is_complex(dtype);
  if (!dtype_is_float(dtype) && !complex) {
    if (!product_factor_is(alpha, '1') || !product_factor_is(beta, '0'))
      return ce_refuse(e, "of %s", dtype_name(dtype));
    gemm_whole_helper(e, dtype);
    ce_line(e, "gemm_%s(%lld, %lld, %lld, %s, %lld, %lld, %s, %lld, %lld, %s, %lld, %lld);", ce_suffix(dtype),
            (long long)a[0], (long long)b[1], (long long)a[1], x, (long long)a[2], (long long)a[3], y, (long long)b[2],
            (long long)b[3], z, (long long)c[2], (long long)c[3]);
    return e->status;
  }
  if (complex && e->file->reproducible) return ce_refuse(e, "of complex numbers in reproducible mode");
  if (complex) {
    gemm_complex_helper(e, dtype);
    alpha = complex_factor(e, dtype, alpha);
    beta = complex_factor(e, dtype, beta);
  } else if (e->file->reproducible) {
    gemm_plain_helper(e, dtype);
  } else if (a[1] > 0 && a[1] <= SUM_MOST && b[1] == 1 && a[0] <= SUM_MOST) {
    emit_gemv(e, dtype, a[0], a[1], alpha, x, a + 2, y, b[2], beta, z, c[2]);
    return e->status;
  } else if (a[1] > 0 && a[1] <= SUM_MOST && a[0] == 1 && b[1] <= SUM_MOST) { /* the same of the transposed matrices */
    emit_gemv(e, dtype, b[1], a[1], alpha, y, (const int64_t[]){b[3], b[2]}, x, a[3], beta, z, c[3]);
    return e->status;
  } else {
    gemm_helper(e, dtype);
  }
  ce_line(e, "gemm_%s(%lld, %lld, %lld, %s, %s, %lld, %lld, %s, %lld, %lld, %s, %s, %lld, %lld);", ce_suffix(dtype),
          (long long)a[0], (long long)b[1], (long long)a[1], alpha, x, (long long)a[2], (long long)a[3], y,
          (long long)b[2], (long long)b[3], beta, z, (long long)c[2], (long long)c[3]);
  return e->status;
}

static damo_status emit_product(c_emit *e, const char *alpha, const c_value *x, bool x_row, const c_value *y,
                                bool y_row, const char *beta, const c_value *z, bool z_row) {
  int64_t a[4], b[4], c[4];
  if (z == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
  matrix_of(x, x_row, a);
  matrix_of(y, y_row, b);
  matrix_of(z, z_row, c);
  ce_takes_complex(e);
  if (ce_size(z) == 0) return e->status;
  return emit_gemm(e, z->dtype, alpha, ce_p(e, x), a, ce_p(e, y), b, beta, ce_p(e, z), c);
}

damo_status dot_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *x = ce_in(e, 0), *y = ce_in(e, 1);
  int64_t shape[2];
  int n = 0;
  if (x->ndim == 2) shape[n++] = x->shape[0];
  if (y->ndim == 2) shape[n++] = y->shape[1];
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n, shape);
  if (out == NULL) return e->status;
  const int64_t whole[2] = {x->ndim == 2 ? x->shape[0] : 1, y->ndim == 2 ? y->shape[1] : 1};
  return emit_product(e, "1", x, true, y, false, "0", ce_view(e, out, 2, whole, (const int64_t[]){whole[1], 1}, 0),
                      true);
}

damo_status update_emit_c(c_emit *e, const damo_apply *node) {
  const bool ger = node->op->def == &ger_def;
  c_value *out = ce_out_inplace(e, 0, 0);
  if (out == NULL) return e->status;
  const char *alpha =
      ce_known(e, 1) != NULL ? ce_literal(e, ce_known(e, 1), out->dtype) : ce_text(e, "*%s", ce_p(e, ce_in(e, 1)));
  const char *beta = ger                      ? "1"
                     : ce_known(e, 4) != NULL ? ce_literal(e, ce_known(e, 4), out->dtype)
                                              : ce_text(e, "*%s", ce_p(e, ce_in(e, 4)));
  return emit_product(e, alpha, ce_in(e, 2), false, ce_in(e, 3), ger, beta, out, false);
}

/* Products of the matrices in the last two axes of three values over the leading axes of z. */
static damo_status emit_stack(c_emit *e, const c_value *x, const c_value *y, const c_value *z) {
  const int n = z->ndim - 2;
  const c_value *all[3] = {x, y, z};
  int64_t strides[3][DAMO_MAX_NDIM], of[3][4];
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < n; k++) {
      if (all[i]->shape[k] != z->shape[k] && all[i]->shape[k] != 1)
        return ce_refuse(e, "its operands' shapes do not agree");
      strides[i][k] = all[i]->shape[k] == 1 ? 0 : all[i]->strides[k];
    }
    of[i][0] = all[i]->shape[n], of[i][1] = all[i]->shape[n + 1];
    of[i][2] = all[i]->strides[n], of[i][3] = all[i]->strides[n + 1];
  }
  ce_takes_complex(e);
  if (ce_size(z) == 0) return e->status;
  c_nest nest;
  ce_nest_init(e, &nest, n, z->shape, 3, (const int64_t *const[]){strides[0], strides[1], strides[2]});
  ce_nest_open(e, &nest);
  const char *at[3];
  for (int i = 0; i < 3; i++) at[i] = ce_text(e, "%s + %s", ce_p(e, all[i]), ce_nest_at(e, &nest, i));
  emit_gemm(e, z->dtype, "1", at[0], of[0], at[1], of[1], "0", at[2], of[2]);
  ce_nest_close(e, &nest);
  return e->status;
}

damo_status matmul_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *x = ce_in(e, 0), *y = ce_in(e, 1);
  const int n = x->ndim;
  int64_t shape[DAMO_MAX_NDIM];
  for (int k = 0; k < n - 2; k++) shape[k] = x->shape[k] == 1 ? y->shape[k] : x->shape[k];
  shape[n - 2] = x->shape[n - 2];
  shape[n - 1] = y->shape[n - 1];
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n, shape);
  return out != NULL ? emit_stack(e, x, y, out) : e->status;
}

/* v with the axes in three groups, each of which becomes one axis. */
static const c_value *emit_grouped(c_emit *e, const c_value *v, const int *const *axes, const int *n) {
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], lengths[3] = {1, 1, 1};
  int k = 0;
  for (int g = 0; g < 3; g++) {
    for (int i = 0; i < n[g]; i++, k++) {
      shape[k] = v->shape[axes[g][i]];
      strides[k] = v->strides[axes[g][i]];
      lengths[g] *= shape[k];
    }
  }
  const c_value *moved = ce_contiguous(e, ce_view(e, v, k, shape, strides, 0));
  const int64_t steps[3] = {lengths[1] * lengths[2], lengths[2], 1};
  return moved != NULL ? ce_view(e, moved, 3, lengths, steps, 0) : NULL;
}

damo_status emit_tensordot(c_emit *e, const damo_apply *node, const int *const *x_axes, const int *x_n,
                           const int *const *y_axes, const int *y_n) {
  const c_value *x = ce_in(e, 0), *y = ce_in(e, 1);
  int64_t shape[DAMO_MAX_NDIM], lengths[3] = {1, 1, 1};
  int k = 0;
  for (int i = 0; i < x_n[0]; i++, k++) lengths[0] *= shape[k] = x->shape[x_axes[0][i]];
  for (int i = 0; i < x_n[1]; i++, k++) lengths[1] *= shape[k] = x->shape[x_axes[1][i]];
  for (int i = 0; i < y_n[2]; i++, k++) lengths[2] *= shape[k] = y->shape[y_axes[2][i]];
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), k, shape);
  x = emit_grouped(e, x, x_axes, x_n);
  y = emit_grouped(e, y, y_axes, y_n);
  if (out == NULL || x == NULL || y == NULL) return e->status;
  return emit_stack(e, x, y, ce_view(e, out, 3, lengths, (const int64_t[]){lengths[1] * lengths[2], lengths[2], 1}, 0));
}
