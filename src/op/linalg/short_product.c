/* short_product: products with a vector on one side, or of two vectors to a matrix, with no dimension above SHORT_PRODUCT.
 * Each entry is 0 + a[1] b[1] + a[2] b[2] + …, in that order, in every mode and build: machine code of scans computes the
 * same (op/elem/elem_jit_vector.c), and a call of BLAS would take longer than the product. */
#include <string.h>

#include "blas.h"

bool short_product_fits(damo_dtype dtype, const blas_mat *a, const blas_mat *b) {
  const int64_t m = a->rows, n = b->cols, k = a->cols;
  return (dtype == DAMO_FLOAT64 || dtype == DAMO_FLOAT32) && (m == 1 || n == 1 || k == 1) && m > 0 && n > 0 && k > 0 &&
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

/* A line of entries of c: entry i is the product of x, whose entries are xs bytes apart, with the i-th of the vectors at
 * y, which are `step` bytes apart and whose entries are ys bytes apart. */
typedef struct short_line {
  const char *x, *y;
  int64_t xs, ys, step;
  char *z;
  int64_t zs, n, depth;
} short_line;

/* Entries side by side, whose sums do not wait for each other. */
#define SHORT_CHAINS 4

static void short_line_f64(const short_line *l, double alpha, double beta) {
  for (int64_t i = 0; i < l->n; i += SHORT_CHAINS) {
    const int64_t count = l->n - i < SHORT_CHAINS ? l->n - i : SHORT_CHAINS;
    double sum[SHORT_CHAINS] = {0};
    const char *y[SHORT_CHAINS];
    for (int64_t c = 0; c < SHORT_CHAINS; c++) y[c] = l->y + (i + (c < count ? c : 0)) * l->step;
    for (int64_t k = 0; k < l->depth; k++) {
      const double x = entry_f64(l->x + k * l->xs);
      for (int c = 0; c < SHORT_CHAINS; c++) sum[c] += x * entry_f64(y[c] + k * l->ys);
    }
    for (int64_t c = 0; c < count; c++) {
      char *z = l->z + (i + c) * l->zs;
      const double r = alpha * sum[c] + (beta != 0 ? beta * entry_f64(z) : 0);
      memcpy(z, &r, sizeof r);
    }
  }
}

static void short_line_f32(const short_line *l, float alpha, float beta) {
  for (int64_t i = 0; i < l->n; i += SHORT_CHAINS) {
    const int64_t count = l->n - i < SHORT_CHAINS ? l->n - i : SHORT_CHAINS;
    float sum[SHORT_CHAINS] = {0};
    const char *y[SHORT_CHAINS];
    for (int64_t c = 0; c < SHORT_CHAINS; c++) y[c] = l->y + (i + (c < count ? c : 0)) * l->step;
    for (int64_t k = 0; k < l->depth; k++) {
      const float x = entry_f32(l->x + k * l->xs);
      for (int c = 0; c < SHORT_CHAINS; c++) sum[c] += x * entry_f32(y[c] + k * l->ys);
    }
    for (int64_t c = 0; c < count; c++) {
      char *z = l->z + (i + c) * l->zs;
      const float r = alpha * sum[c] + (beta != 0 ? beta * entry_f32(z) : 0);
      memcpy(z, &r, sizeof r);
    }
  }
}

void short_product_run(damo_dtype dtype, double alpha, const blas_mat *a, const blas_mat *b, double beta,
                       const blas_mat *c) {
  const bool is_column = c->cols == 1; /* the line is a column of c, else each of its rows */
  for (int64_t i = 0; i < (is_column ? 1 : c->rows); i++) {
    const char *row = (const char *)a->data + i * a->rs, *column = b->data;
    const short_line l = {.x = is_column ? column : row,
                          .y = is_column ? row : column,
                          .xs = is_column ? b->rs : a->cs,
                          .ys = is_column ? a->cs : b->rs,
                          .step = is_column ? a->rs : b->cs,
                          .z = (char *)c->data + i * c->rs,
                          .zs = is_column ? c->rs : c->cs,
                          .n = is_column ? c->rows : c->cols,
                          .depth = a->cols};
    if (dtype == DAMO_FLOAT64)
      short_line_f64(&l, alpha, beta);
    else
      short_line_f32(&l, (float)alpha, (float)beta);
  }
}
