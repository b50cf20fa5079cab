/* dot_c: products of vectors and matrices as C source: loops of their own. */
#include "dot_c.h"
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

/* Rows and columns of a matrix, and its strides; of a vector as a row or as a column. */
static void matrix_of(const c_value *v, bool row, int64_t *m) {
  if (v->ndim == 2) {
    m[0] = v->shape[0], m[1] = v->shape[1], m[2] = v->strides[0], m[3] = v->strides[1];
  } else {
    m[0] = row ? 1 : v->shape[0], m[1] = row ? v->shape[0] : 1;
    m[2] = row ? 0 : v->strides[0], m[3] = row ? v->strides[0] : 1;
  }
}

static damo_status emit_product(c_emit *e, const char *alpha, const c_value *x, bool x_row, const c_value *y,
                                bool y_row, const char *beta, const c_value *z, bool z_row) {
  int64_t a[4], b[4], c[4];
  if (z == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
  if (e->file->reproducible) return ce_refuse(e, "products of matrices in reproducible mode");
  matrix_of(x, x_row, a);
  matrix_of(y, y_row, b);
  matrix_of(z, z_row, c);
  if (a[1] != b[0] || c[0] != a[0] || c[1] != b[1]) return ce_refuse(e, "its operands' shapes do not agree");
  if (!dtype_is_float(z->dtype)) return ce_refuse(e, "of %s", dtype_name(z->dtype));
  if (ce_size(z) == 0) return e->status;
  gemm_helper(e, z->dtype);
  ce_line(e, "gemm_%s(%lld, %lld, %lld, %s, %s, %lld, %lld, %s, %lld, %lld, %s, %s, %lld, %lld);", ce_suffix(z->dtype),
          (long long)a[0], (long long)b[1], (long long)a[1], alpha, ce_p(e, x), (long long)a[2], (long long)a[3],
          ce_p(e, y), (long long)b[2], (long long)b[3], beta, ce_p(e, z), (long long)c[2], (long long)c[3]);
  return e->status;
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
