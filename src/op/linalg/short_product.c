/* short_product: products with a vector on one side and no dimension above SHORT_PRODUCT. Each entry is 0 + a[1] b[1] +
 * a[2] b[2] + …, in that order, in every mode and build: machine code of scans computes the same
 * (op/elem/elem_jit_vector.c), and a call of BLAS would take longer than the product. */
#include <string.h>

#include "blas.h"

bool short_product_fits(damo_dtype dtype, const blas_mat *a, const blas_mat *b) {
  const int64_t m = a->rows, n = b->cols, k = a->cols;
  return (dtype == DAMO_FLOAT64 || dtype == DAMO_FLOAT32) && (m == 1 || n == 1) && m > 0 && n > 0 && k > 0 &&
         m <= SHORT_PRODUCT && n <= SHORT_PRODUCT && k <= SHORT_PRODUCT;
}

/* Steps are of any number of bytes. */
static double entry_f64(const char *p) {
  double x;
  memcpy(&x, p, sizeof x);
  return x;
}

static float entry_f32(const char *p) {
  float x;
  memcpy(&x, p, sizeof x);
  return x;
}

static void short_entry_f64(const blas_mat *a, const char *x, const blas_mat *b, const char *y, double alpha,
                            double beta, char *c) {
  double sum = 0;
  for (int64_t k = 0; k < a->cols; k++) sum += entry_f64(x + k * a->cs) * entry_f64(y + k * b->rs);
  const double r = alpha * sum + (beta != 0 ? beta * entry_f64(c) : 0);
  memcpy(c, &r, sizeof r);
}

static void short_entry_f32(const blas_mat *a, const char *x, const blas_mat *b, const char *y, float alpha, float beta,
                            char *c) {
  float sum = 0;
  for (int64_t k = 0; k < a->cols; k++) sum += entry_f32(x + k * a->cs) * entry_f32(y + k * b->rs);
  const float r = alpha * sum + (beta != 0 ? beta * entry_f32(c) : 0);
  memcpy(c, &r, sizeof r);
}

void short_product_run(damo_dtype dtype, double alpha, const blas_mat *a, const blas_mat *b, double beta,
                       const blas_mat *c) {
  for (int64_t i = 0; i < c->rows; i++) {
    for (int64_t j = 0; j < c->cols; j++) {
      const char *x = (const char *)a->data + i * a->rs, *y = (const char *)b->data + j * b->cs;
      char *z = (char *)c->data + i * c->rs + j * c->cs;
      if (dtype == DAMO_FLOAT64)
        short_entry_f64(a, x, b, y, alpha, beta, z);
      else
        short_entry_f32(a, x, b, y, (float)alpha, (float)beta, z);
    }
  }
}
