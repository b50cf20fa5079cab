/* gemm_run: c = alpha · a · b + beta · c over strided matrices of any dtype.
 *
 * In: matrices as data and byte strides, scratch. Out: c written. Always holds: BLAS gets only sizes and strides that
 * it takes (unit stride along one axis, leading dimension at least the row, all below 2^31); an operand that does not
 * fit is copied to scratch, sizes past 2^31-1 take the plain loops. Integers wrap; bool is or-and.
 */
#include "blas.h"
#include "kernel/blas/blas.h"
#include "kernel/kernel.h"

#if DAMO_BLAS
#include <cblas.h>
#endif
#include <complex.h>
#include <limits.h>
#include <string.h>

#undef complex /* a scalar op has that name; the type is written _Complex */

/* ---- Plain loops, one element type each; signed integers share the bits of unsigned ones ------------------------- */

#define PANEL_ROWS 64
#define PANEL_COLS 1024

#define NAME loop_u8
#define T uint8_t
#define ACC uint32_t
#include "gemm_body.h"
#define NAME loop_u16
#define T uint16_t
#define ACC uint32_t
#include "gemm_body.h"
#define NAME loop_u32
#define T uint32_t
#define ACC uint32_t
#include "gemm_body.h"
#define NAME loop_u64
#define T uint64_t
#define ACC uint64_t
#include "gemm_body.h"
#define NAME loop_f32
#define T float
#define ACC float
#include "gemm_body.h"
#define NAME loop_f64
#define T double
#define ACC double
#include "gemm_body.h"
#define NAME loop_c64
#define T float _Complex
#define ACC float _Complex
#include "gemm_body.h"
#define NAME loop_c128
#define T double _Complex
#define ACC double _Complex
#include "gemm_body.h"

static void loop_bool(const blas_mat *a, const blas_mat *b, const blas_mat *c) {
  for (int64_t i = 0; i < a->rows; i++) {
    uint8_t *ci = (uint8_t *)(c->data + i * c->rs);
    for (int64_t p = 0; p < a->cols; p++) {
      if (!*(a->data + i * a->rs + p * a->cs)) continue;
      const uint8_t *bp = (const uint8_t *)(b->data + p * b->rs);
      for (int64_t j = 0; j < b->cols; j++) ci[j] |= (uint8_t)(bp[j] != 0);
    }
  }
}

static void run_loop(damo_dtype dtype, const blas_mat *a, const blas_mat *b, const blas_mat *c, damo_c128 alpha) {
  switch (dtype) {
    case DAMO_BOOL: loop_bool(a, b, c); break;
    case DAMO_FLOAT32: loop_f32(a, b, c, (float)alpha.re); break;
    case DAMO_FLOAT64: loop_f64(a, b, c, alpha.re); break;
    case DAMO_COMPLEX64: loop_c64(a, b, c, (float)alpha.re + (float)alpha.im * _Complex_I); break;
    case DAMO_COMPLEX128: loop_c128(a, b, c, alpha.re + alpha.im * _Complex_I); break;
    case DAMO_INT8:
    case DAMO_UINT8: loop_u8(a, b, c, 1); break;
    case DAMO_INT16:
    case DAMO_UINT16: loop_u16(a, b, c, 1); break;
    case DAMO_INT32:
    case DAMO_UINT32: loop_u32(a, b, c, 1); break;
    case DAMO_INT64:
    case DAMO_UINT64: loop_u64(a, b, c, 1); break;
    case DAMO_N_DTYPES: break;
  }
}

/* ---- c = beta · c ------------------------------------------------------------------------------------------------ */

static void gemm_scale_entry(damo_dtype dtype, char *p, damo_c128 beta) {
  switch (dtype) {
    case DAMO_FLOAT32: *(float *)p *= (float)beta.re; break;
    case DAMO_FLOAT64: *(double *)p *= beta.re; break;
    case DAMO_COMPLEX64: *(float _Complex *)p *= (float)beta.re + (float)beta.im * _Complex_I; break;
    case DAMO_COMPLEX128: *(double _Complex *)p *= beta.re + beta.im * _Complex_I; break;
    case DAMO_BOOL:
    case DAMO_INT8:
    case DAMO_INT16:
    case DAMO_INT32:
    case DAMO_INT64:
    case DAMO_UINT8:
    case DAMO_UINT16:
    case DAMO_UINT32:
    case DAMO_UINT64:
    case DAMO_N_DTYPES: break; /* integers: beta is 0 or 1 */
  }
}

/* c = beta · c, whose rows are contiguous. beta 0 overwrites, nan included. */
static void gemm_scale(damo_dtype dtype, const blas_mat *c, damo_c128 beta) {
  const size_t size = dtype_size(dtype);
  if (beta.re == 1 && beta.im == 0) return;
  if (beta.re == 0 && beta.im == 0 && c->rs == c->cols * (int64_t)size) { /* a column vector too */
    memset(c->data, 0, (size_t)(c->rows * c->cols) * size);
    return;
  }
  for (int64_t i = 0; i < c->rows; i++) {
    char *row = c->data + i * c->rs;
    if (beta.re == 0 && beta.im == 0) {
      memset(row, 0, (size_t)c->cols * size);
      continue;
    }
    for (int64_t j = 0; j < c->cols; j++) gemm_scale_entry(dtype, row + (size_t)j * size, beta);
  }
}

/* ---- BLAS -------------------------------------------------------------------------------------------------------- */

/* Strides are multiples of the size of an element, a power of two: without the division by a variable, which takes as long
 * as dozens of products. */
static bool is_multiple(int64_t step, size_t size) { return (step & (int64_t)(size - 1)) == 0; }
static int64_t in_elements(int64_t step, size_t size) { return step >> __builtin_ctz((unsigned)size); }

/* True when m's rows are contiguous and their stride is a leading dimension that BLAS takes, which goes to *ld. */
static bool has_rows(const blas_mat *m, size_t size, int *ld) {
  const int64_t es = (int64_t)size;
  int64_t step = m->cols > 1 ? m->cols : 1;
  if (m->cols > 1 && m->cs != es) return false;
  if (m->rows > 1) {
    if (!is_multiple(m->rs, size) || in_elements(m->rs, size) < step) return false;
    step = in_elements(m->rs, size);
  }
  if (step > INT_MAX) return false;
  *ld = (int)step;
  return true;
}

#if DAMO_BLAS
static bool is_blas_operand(const blas_mat *m, size_t size) {
  int ld;
  const blas_mat t = mat_transposed(*m);
  return has_rows(m, size, &ld) || has_rows(&t, size, &ld);
}

/* True when a vector of n elements, step bytes apart, has an increment that BLAS takes. */
static bool is_blas_vector(int64_t n, int64_t step, size_t size) {
  const int64_t inc = in_elements(step, size);
  return n < 2 || (step != 0 && is_multiple(step, size) && inc <= INT_MAX && inc >= -INT_MAX);
}

/* An operand as BLAS takes it: contiguous rows (transposed: columns) and the leading dimension in elements. */
typedef struct blas_arg {
  void *data;
  CBLAS_TRANSPOSE trans;
  int ld;
} blas_arg;

static blas_arg arg_of(const blas_mat *m, size_t size) {
  blas_arg r = {m->data, CblasNoTrans, 1};
  const blas_mat t = mat_transposed(*m);
  if (!has_rows(m, size, &r.ld) && has_rows(&t, size, &r.ld)) r.trans = CblasTrans;
  return r;
}

static void blas_matmat(damo_dtype dtype, damo_c128 alpha, const blas_mat *a, const blas_mat *b, damo_c128 beta,
                        const blas_mat *c) {
  const size_t size = dtype_size(dtype);
  const blas_arg x = arg_of(a, size), y = arg_of(b, size), z = arg_of(c, size);
  const int m = (int)a->rows, n = (int)b->cols, k = (int)a->cols;
  if (dtype == DAMO_FLOAT32) {
    cblas_sgemm(CblasRowMajor, x.trans, y.trans, m, n, k, (float)alpha.re, x.data, x.ld, y.data, y.ld, (float)beta.re,
                z.data, z.ld);
  } else if (dtype == DAMO_FLOAT64) {
    cblas_dgemm(CblasRowMajor, x.trans, y.trans, m, n, k, alpha.re, x.data, x.ld, y.data, y.ld, beta.re, z.data, z.ld);
  } else if (dtype == DAMO_COMPLEX64) {
    const damo_c64 al = {(float)alpha.re, (float)alpha.im}, be = {(float)beta.re, (float)beta.im};
    cblas_cgemm(CblasRowMajor, x.trans, y.trans, m, n, k, &al, x.data, x.ld, y.data, y.ld, &be, z.data, z.ld);
  } else {
    cblas_zgemm(CblasRowMajor, x.trans, y.trans, m, n, k, &alpha, x.data, x.ld, y.data, y.ld, &beta, z.data, z.ld);
  }
}

/* The n elements at data, step bytes apart, as BLAS takes a vector: *data becomes the lowest address. Returns the
 * increment. */
static int vector_arg(char **data, int64_t n, int64_t step, size_t size) {
  if (n < 2) return 1;
  if (step < 0) *data += (n - 1) * step;
  return (int)in_elements(step, size);
}

/* b and c are columns, c with a positive step. */
static void blas_matvec(damo_dtype dtype, damo_c128 alpha, const blas_mat *a, const blas_mat *b, damo_c128 beta,
                        const blas_mat *c) {
  const size_t size = dtype_size(dtype);
  const blas_arg x = arg_of(a, size);
  const bool t = x.trans == CblasTrans;
  const int m = (int)(t ? a->cols : a->rows), n = (int)(t ? a->rows : a->cols);
  char *y = b->data;
  const int ib = vector_arg(&y, b->rows, b->rs, size), ic = c->rows > 1 ? (int)in_elements(c->rs, size) : 1;
  if (dtype == DAMO_FLOAT32) {
    cblas_sgemv(CblasRowMajor, x.trans, m, n, (float)alpha.re, x.data, x.ld, (float *)y, ib, (float)beta.re,
                (float *)c->data, ic);
  } else if (dtype == DAMO_FLOAT64) {
    cblas_dgemv(CblasRowMajor, x.trans, m, n, alpha.re, x.data, x.ld, (double *)y, ib, beta.re, (double *)c->data, ic);
  } else if (dtype == DAMO_COMPLEX64) {
    const damo_c64 al = {(float)alpha.re, (float)alpha.im}, be = {(float)beta.re, (float)beta.im};
    cblas_cgemv(CblasRowMajor, x.trans, m, n, &al, x.data, x.ld, y, ib, &be, c->data, ic);
  } else {
    cblas_zgemv(CblasRowMajor, x.trans, m, n, &alpha, x.data, x.ld, y, ib, &beta, c->data, ic);
  }
}

/* a is a row, b a column. */
static void blas_vecvec(damo_dtype dtype, damo_c128 alpha, const blas_mat *a, const blas_mat *b, damo_c128 beta,
                        const blas_mat *c) {
  const size_t size = dtype_size(dtype);
  char *x = a->data, *y = b->data;
  const int k = (int)a->cols, ia = vector_arg(&x, k, a->cs, size), ib = vector_arg(&y, k, b->rs, size);
  const bool fresh = beta.re == 0 && beta.im == 0;
  if (dtype == DAMO_FLOAT32) {
    float *z = (float *)c->data, d = cblas_sdot(k, (float *)x, ia, (float *)y, ib);
    *z = (float)alpha.re * d + (fresh ? 0 : (float)beta.re * *z);
  } else {
    double *z = (double *)c->data, d = cblas_ddot(k, (double *)x, ia, (double *)y, ib);
    *z = alpha.re * d + (fresh ? 0 : beta.re * *z);
  }
}

static void run_blas(damo_dtype dtype, damo_c128 alpha, const blas_mat *a, const blas_mat *b, damo_c128 beta,
                     const blas_mat *c) {
  const bool fresh = beta.re == 0 && beta.im == 0;
  if (c->rows == 1 && c->cols > 1) { /* as a column: cᵀ = bᵀ aᵀ */
    const blas_mat at = mat_transposed(*a), bt = mat_transposed(*b), ct = mat_transposed(*c);
    run_blas(dtype, alpha, &bt, &at, beta, &ct);
    return;
  }
  if (c->cols > 1) {
    blas_matmat(dtype, alpha, a, b, beta, c);
  } else if (c->rows == 1 && dtype_is_float(dtype)) {
    blas_vecvec(dtype, alpha, a, b, beta, c);
  } else {
    /* gemv may multiply uninitialised entries of c by beta = 0, which keeps a nan. */
    if (fresh) gemm_scale(dtype, c, beta);
    blas_matvec(dtype, alpha, a, b, beta, c);
  }
}

#else
/* Own products take any strides that are multiples of the size. */
static bool is_blas_operand(const blas_mat *m, size_t size) { return is_multiple(m->rs | m->cs, size); }

static bool is_blas_vector(int64_t n, int64_t step, size_t size) { return n < 2 || is_multiple(step, size); }

static void run_blas(damo_dtype dtype, damo_c128 alpha, const blas_mat *a, const blas_mat *b, damo_c128 beta,
                     const blas_mat *c) {
  const size_t size = dtype_size(dtype);
  const blas_gemm g = {.m = c->rows,
                       .n = c->cols,
                       .k = a->cols,
                       .a = a->data,
                       .b = b->data,
                       .c = c->data,
                       .a_row = in_elements(a->rs, size),
                       .a_col = in_elements(a->cs, size),
                       .b_row = in_elements(b->rs, size),
                       .b_col = in_elements(b->cs, size),
                       .c_row = in_elements(c->rs, size),
                       .c_col = in_elements(c->cs, size),
                       .alpha = alpha,
                       .beta = beta};
  blas_base.gemm[dtype](&g);
}
#endif

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static bool dtype_has_blas(damo_dtype dtype) { return dtype_is_float(dtype) || dtype_is_complex(dtype); }

static bool fits_blas(const blas_mat *m) { return m->rows <= INT_MAX && m->cols <= INT_MAX; }

static blas_mat gemm_packed(const blas_mat *m, size_t size) {
  return (blas_mat){NULL, m->rows, m->cols, m->cols * (int64_t)size, (int64_t)size};
}

/* Plans a C-contiguous copy in scratch in place of *use. */
static void plan_copy(gemm_plan *p, blas_mat *use, bool *copy, size_t *at) {
  const size_t size = dtype_size(p->dtype);
  *copy = true;
  *use = gemm_packed(use, size);
  *at = p->scratch;
  size_t bytes;
  if (!size_mul((size_t)use->rows * (size_t)use->cols, size, &bytes) || bytes > SIZE_MAX / 8) bytes = SIZE_MAX / 8;
  p->scratch += (bytes + 63) & ~(size_t)63; /* on overflow a size that no allocator gives */
}

#define SMALL_WORK 2048       /* multiplications, up to which a call of BLAS takes longer than the product */
#define PACKED_WORK (1 << 20) /* from which on BLAS packs matrices of any shape */
#define SMALL_GEMM_DEPTH 4096 /* more rows of b, or a larger b, don't stay in cache while tiles pass over them */
#define SMALL_GEMM_PANEL (1 << 20)
#define THIN_DEPTH 64 /* where packing takes long beside so few products an entry */
#define THIN_PANEL (1 << 16)

/* Whether the kernels that pack nothing are faster than BLAS, by measurements against OpenBLAS on shapes from 2 to
 * 20,000. */
static bool small_gemm_wins(const kernel_isa *isa, int64_t m, int64_t n, int64_t k, bool b_has_rows) {
  const bool has_small = isa->small_gemm->blas_has_small, is_short = m <= 16 || n <= 16 || k <= 16;
  if (n < 2 || m < 1 || k < 1 || k > SMALL_GEMM_DEPTH || n > SMALL_GEMM_PANEL / k) return false;
  if (!b_has_rows && n > SMALL_GEMM_PACK / k) return false;
  if (m <= SMALL_WORK && m * n * k <= SMALL_WORK) return is_short;
  if (!has_small) return is_short;
  const bool packs = m > PACKED_WORK / (n * k);
  if (is_short) return m >= 8 && (k >= 256 || packs);
  return packs && k <= THIN_DEPTH && n * k <= THIN_PANEL;
}

static void plan_small(gemm_plan *p, const kernel_isa *isa) {
  const size_t size = dtype_size(p->dtype);
  const bool b_has_rows = p->b.cs == (int64_t)size || p->b.cols == 1;
  if (is_multiple(p->a.rs | p->a.cs | p->b.rs | p->b.cs, size) &&
      small_gemm_wins(isa, p->c.rows, p->c.cols, p->a.cols, b_has_rows))
    p->small = isa->small_gemm->run[p->dtype];
}

/* Operands with steps of whole elements are multiplied as they lie. */
static void plan_own(gemm_plan *p, const kernel_isa *isa) {
  const size_t size = dtype_size(p->dtype);
  p->own = isa->blas->gemm[p->dtype];
  if (!is_multiple(p->a.rs | p->a.cs, size)) plan_copy(p, &p->use_a, &p->copy_a, &p->at_a);
  if (!is_multiple(p->b.rs | p->b.cs, size)) plan_copy(p, &p->use_b, &p->copy_b, &p->at_b);
  if (!is_multiple(p->c.rs | p->c.cs, size)) plan_copy(p, &p->use_c, &p->copy_c, &p->at_c);
}

void gemm_plan_init(gemm_plan *p, damo_ctx *ctx, const kernel_isa *isa, damo_dtype dtype, blas_mat a, blas_mat b,
                    blas_mat c) {
  const size_t size = dtype_size(dtype);
  const blas_mat ct = mat_transposed(c);
  int ld;
  /* Member by member: an initializer clears the whole plan first, which takes as long as a short product. */
  p->ctx = ctx, p->dtype = dtype;
  p->swapped = p->use_blas = p->copy_a = p->copy_b = p->copy_c = false;
  p->own = NULL, p->small = NULL;
  p->at_a = p->at_b = p->at_c = p->scratch = 0;
  p->a = p->use_a = a, p->b = p->use_b = b, p->c = p->use_c = c;
  p->is_short = short_product_fits(dtype, &a, &b);
  if (p->is_short) return;
  if (isa == isa->plain && dtype_has_blas(dtype)) {
    plan_own(p, isa);
    return;
  }
  if (!has_rows(&c, size, &ld) && has_rows(&ct, size, &ld)) { /* cᵀ = bᵀ aᵀ */
    p->swapped = true;
    p->a = mat_transposed(b);
    p->b = mat_transposed(a);
    p->c = ct;
  }
  p->use_a = p->a, p->use_b = p->b, p->use_c = p->c;
  if (!has_rows(&p->c, size, &ld)) plan_copy(p, &p->use_c, &p->copy_c, &p->at_c);
  plan_small(p, isa);
  if (p->small != NULL) return;
  p->use_blas = dtype_has_blas(dtype) && fits_blas(&a) && fits_blas(&b);
  if (p->use_blas) {
    /* run_blas takes these as vectors. */
    const bool row = p->c.rows == 1 && (p->c.cols > 1 || dtype_is_float(dtype)), column = p->c.cols == 1;
    if (!is_blas_operand(&p->a, size) && !(row && is_blas_vector(p->a.cols, p->a.cs, size)))
      plan_copy(p, &p->use_a, &p->copy_a, &p->at_a);
    if (!is_blas_operand(&p->b, size) && !(column && is_blas_vector(p->b.rows, p->b.rs, size)))
      plan_copy(p, &p->use_b, &p->copy_b, &p->at_b);
  } else if (p->b.cols > 1 && p->b.cs != (int64_t)size) {
    plan_copy(p, &p->use_b, &p->copy_b, &p->at_b);
  }
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static void copy_mat(const blas_mat *src, const blas_mat *dst, size_t size) {
  const int64_t shape[2] = {src->rows, src->cols}, from[2] = {src->rs, src->cs}, to[2] = {dst->rs, dst->cs};
  kernel_copy_nd(src->data, from, dst->data, to, 2, shape, size);
}

#define SMALL_SHARE_ROWS 64 /* of a share, at least */

/* Rows of a small product, divided among threads: an entry is the same sum wherever it is computed. */
typedef struct small_shares {
  const gemm_plan *p;
  const small_gemm *g;
  int64_t n;
} small_shares;

static void run_small_share(void *arg, int64_t share, int worker) {
  const small_shares *s = arg;
  const int64_t size = (int64_t)dtype_size(s->p->dtype);
  const int64_t row = pool_share_first(s->g->m, share, s->n), end = pool_share_first(s->g->m, share + 1, s->n);
  small_gemm g = *s->g;
  (void)worker;
  g.m = end - row;
  g.a = (const char *)g.a + row * g.a_row * size;
  g.c = (char *)g.c + row * g.c_row * size;
  if (g.beta != 0) g.z = (const char *)g.z + row * g.z_row * size;
  s->p->small(&g);
}

/* About how many nanoseconds it takes: multiplications, and entries of a and c that come from memory. */
static double small_cost(const small_gemm *g) {
  return 0.05 * (double)g->m * (double)g->n * (double)g->k + 0.25 * (double)g->m * (double)(g->n + g->k);
}

static void run_small(const gemm_plan *p, double alpha, const blas_mat *a, const blas_mat *b, double beta,
                      const blas_mat *z, const blas_mat *c) {
  const size_t size = dtype_size(p->dtype);
  const small_gemm g = {.m = c->rows,
                        .n = c->cols,
                        .k = a->cols,
                        .a = a->data,
                        .b = b->data,
                        .z = z->data,
                        .c = c->data,
                        .a_row = in_elements(a->rs, size),
                        .a_col = in_elements(a->cs, size),
                        .b_row = in_elements(b->rs, size),
                        .b_col = in_elements(b->cs, size),
                        .c_row = in_elements(c->rs, size),
                        .z_row = in_elements(z->rs, size),
                        .alpha = alpha,
                        .beta = beta};
  thread_pool *pool = p->ctx != NULL ? ctx_pool(p->ctx, small_cost(&g)) : NULL;
  small_shares s = {p, &g, pool_shares(pool, g.m, SMALL_SHARE_ROWS)};
  if (s.n > 1)
    pool_run(pool, s.n, run_small_share, &s);
  else
    p->small(&g);
}

/* The shares of an own product are blocks of rows of the result, or of columns where there are more of these. */
typedef struct own_shares {
  void (*run)(const blas_gemm *g);
  const blas_gemm *g;
  int64_t n, size;
} own_shares;

static void run_own_share(void *arg, int64_t share, int worker) {
  const own_shares *s = arg;
  blas_gemm g = *s->g;
  const bool by_rows = g.m >= g.n;
  const int64_t total = by_rows ? g.m : g.n;
  const int64_t first = pool_share_first(total, share, s->n), end = pool_share_first(total, share + 1, s->n);
  (void)worker;
  if (by_rows) {
    g.a = (const char *)g.a + first * g.a_row * s->size;
    g.c = (char *)g.c + first * g.c_row * s->size;
    g.m = end - first;
  } else {
    g.b = (const char *)g.b + first * g.b_col * s->size;
    g.c = (char *)g.c + first * g.c_col * s->size;
    g.n = end - first;
  }
  s->run(&g);
}

static void run_own(const gemm_plan *p, damo_c128 alpha, const blas_mat *a, const blas_mat *b, damo_c128 beta,
                    const blas_mat *c) {
  const size_t size = dtype_size(p->dtype);
  const blas_gemm g = {.m = c->rows,
                       .n = c->cols,
                       .k = a->cols,
                       .a = a->data,
                       .b = b->data,
                       .c = c->data,
                       .a_row = in_elements(a->rs, size),
                       .a_col = in_elements(a->cs, size),
                       .b_row = in_elements(b->rs, size),
                       .b_col = in_elements(b->cs, size),
                       .c_row = in_elements(c->rs, size),
                       .c_col = in_elements(c->cs, size),
                       .alpha = alpha,
                       .beta = beta};
  const double cost = 0.2 * (double)g.m * (double)g.n * (double)g.k;
  thread_pool *pool = p->ctx != NULL ? ctx_pool(p->ctx, cost) : NULL;
  own_shares s = {p->own, &g, pool_shares(pool, g.m > g.n ? g.m : g.n, SMALL_SHARE_ROWS), (int64_t)size};
  if (s.n > 1)
    pool_run(pool, s.n, run_own_share, &s);
  else
    p->own(&g);
}

void gemm_run(const gemm_plan *p, damo_c128 alpha, char *a, char *b, damo_c128 beta, char *c, void *scratch) {
  const size_t size = dtype_size(p->dtype);
  blas_mat ua = p->use_a, ub = p->use_b, uc = p->use_c, fa = p->a, fb = p->b, fc = p->c;
  if (fc.rows == 0 || fc.cols == 0) return;
  fa.data = ua.data = p->swapped ? b : a;
  fb.data = ub.data = p->swapped ? a : b;
  fc.data = uc.data = c;
  if (p->copy_a) ua.data = (char *)scratch + p->at_a, copy_mat(&fa, &ua, size);
  if (p->copy_b) ub.data = (char *)scratch + p->at_b, copy_mat(&fb, &ub, size);
  if (p->copy_c) {
    uc.data = (char *)scratch + p->at_c;
    if (beta.re != 0 || beta.im != 0) copy_mat(&fc, &uc, size);
  }
  if (p->is_short) {
    short_product_run(p->dtype, alpha.re, &ua, &ub, beta.re, &uc);
  } else if (p->own != NULL) {
    run_own(p, alpha, &ua, &ub, beta, &uc);
  } else if (p->small != NULL) {
    run_small(p, alpha.re, &ua, &ub, beta.re, &uc, &uc);
  } else if (p->use_blas && ua.cols > 0) {
    run_blas(p->dtype, alpha, &ua, &ub, beta, &uc);
    if (p->ctx != NULL) ctx_set_due(p->ctx);
  } else {
    gemm_scale(p->dtype, &uc, beta);
    run_loop(p->dtype, &ua, &ub, &uc, alpha);
  }
  if (p->copy_c) copy_mat(&uc, &fc, size);
}

bool gemm_takes_sum(const gemm_plan *p, const blas_mat *z) {
  const size_t size = dtype_size(p->dtype);
  return p->small != NULL && !p->swapped && !p->copy_c && z->cs == (int64_t)size && is_multiple(z->rs, size);
}

void gemm_run_sum(const gemm_plan *p, double alpha, char *a, char *b, double beta, const blas_mat *z, char *c) {
  blas_mat ua = p->use_a, ub = p->use_b, uc = p->use_c;
  damo_assert(gemm_takes_sum(p, z));
  ua.data = a, ub.data = b, uc.data = c;
  if (uc.rows > 0 && uc.cols > 0) run_small(p, alpha, &ua, &ub, beta, z, &uc);
}

damo_status gemm_once(const thunk *t, frame *f, damo_dtype dtype, damo_c128 alpha, blas_mat a, blas_mat b,
                      damo_c128 beta, blas_mat c) {
  gemm_plan p;
  void *scratch = NULL;
  gemm_plan_init(&p, f->ctx, f->ctx->isa, dtype, a, b, c);
  if (p.scratch > 0 && !(scratch = thunk_scratch(t, f, p.scratch))) return DAMO_EMEMORY;
  gemm_run(&p, alpha, a.data, b.data, beta, c.data, scratch);
  return DAMO_OK;
}

/* ---- Matrices of arrays ------------------------------------------------------------------------------------------ */

blas_mat mat_of(const damo_array *a) {
  const int64_t *s = array_shape(a) + a->ndim - 2, *st = array_strides(a) + a->ndim - 2;
  return (blas_mat){a->data, s[0], s[1], st[0], st[1]};
}

blas_mat mat_row_of(const damo_array *a) {
  const int64_t n = a->ndim ? array_shape(a)[0] : 1, step = a->ndim ? array_strides(a)[0] : 0;
  return (blas_mat){a->data, 1, n, 0, step};
}

blas_mat mat_column_of(const damo_array *a) { return mat_transposed(mat_row_of(a)); }
