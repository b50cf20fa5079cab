/* gemm: the BLAS updates that rewriting makes of scaled products and sums.
 *
 * Gemm(z, alpha, x, y, beta) = beta·z + alpha·x·y, matrices; Gemv(z, alpha, x, y, beta) the same with vectors z and
 * y; Ger(z, alpha, x, y) = z + alpha·x·yᵀ, z a matrix, x and y vectors. float or complex, one dtype; alpha and beta
 * 0-d. As in BLAS, z is not read when beta is 0. With inplace=true the op destroys z. z does not broadcast.
 */
#include "blas.h"
#include "dot_c.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

/* ---- Types ------------------------------------------------------------------------------------------------------- */

typedef struct update_class {
  int rank_z, rank_x, rank_y;
  bool has_beta;
} update_class;

static const update_class gemm_class = {2, 2, 2, true}, gemv_class = {1, 2, 1, true}, ger_class = {2, 1, 1, false};

static const update_class *update_class_of(const damo_op *op) {
  return op->def == &gemm_def ? &gemm_class : op->def == &gemv_def ? &gemv_class : &ger_class;
}

static damo_status gemm_check_operands(const damo_op *op, damo_var *const *in, int n_in) {
  const update_class *c = update_class_of(op);
  const int rank[5] = {c->rank_z, 0, c->rank_x, c->rank_y, 0};
  char text[256];
  for (int i = 0; i < n_in; i++) {
    const damo_type *t = in[i]->type;
    if (type_is_tensor(t) && t->ndim == rank[i] && t->dtype == in[0]->type->dtype && !dtype_is_discrete(t->dtype))
      continue;
    return ctx_fail(
        op->obj.ctx, DAMO_ETYPE,
        "%s: operand %d must be a float or complex tensor of rank %d and of one dtype with the first, got %s",
        op->def->name, i + 1, rank[i], type_format(text, sizeof text, t));
  }
  return DAMO_OK;
}

static damo_status update_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  DAMO_TRY(gemm_check_operands(op, in, n_in));
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

static damo_status update_init(damo_op *op) {
  const prop_value *v = &OP_PROPS(op, inplace_props)->inplace;
  if (v->kind == PROP_BOOL && v->u.i) op->destroy_map = alias_first;
  return DAMO_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static damo_c128 gemm_coefficient(const damo_array *a) {
  const scalar s = scalar_cast(array_item(a), DAMO_COMPLEX128);
  return s.v.c;
}

/* The operand as a matrix; a vector as a column. */
static blas_mat mat_of_operand(const damo_array *a) { return a->ndim == 2 ? mat_of(a) : mat_column_of(a); }

static damo_status gemm_check_shapes(const thunk *t, frame *f, const blas_mat *z, const blas_mat *x,
                                     const blas_mat *y) {
  if (x->cols == y->rows && z->rows == x->rows && z->cols == y->cols) return DAMO_OK;
  ctx_fail(f->ctx, DAMO_ESHAPE, "%s: a product of (%lld, %lld) and (%lld, %lld) does not go into a (%lld, %lld) matrix",
           t->node->op->def->name, (long long)x->rows, (long long)x->cols, (long long)y->rows, (long long)y->cols,
           (long long)z->rows, (long long)z->cols);
  const damo_type *type = t->node->in[0]->type;
  const int axis = z->rows == 1 && x->rows != 1 ? 0 : 1;
  if (x->cols == y->rows && (axis == 0 || (z->cols == 1 && y->cols != 1)) && axis < type->ndim) {
    char hint[320];
    ctx_fail_add(f->ctx, "axis %d of what is added %s", axis + 1, broadcast_hint(hint, sizeof hint, type, axis));
  }
  return DAMO_ESHAPE;
}

/* The output: z itself where the op destroys it, else a new array, into which z is copied if `read`. NULL: no
 * memory. */
static damo_array *output_with_z(const thunk *t, frame *f, const damo_array *z, bool read) {
  if (t->node->op->destroy_map) return thunk_out_inplace(t, f, 0, 0);
  damo_array *out = thunk_out(t, f, 0, array_dtype(z), z->ndim, array_shape(z));
  if (out && read) {
    array_copy_box(f->ctx, z->data, array_strides(z), out->data, NULL, z->ndim, array_shape(z),
                   dtype_size(array_dtype(z)));
  }
  return out;
}

/* ---- Values of alpha for which BLAS deviates from the formula ---------------------------------------------------- */

/* True where BLAS may deviate from alpha·(x·y) as written: with alpha = 0 it skips the product, and loses its nan; with
 * an infinite or nan alpha the result depends on whether it scales x, y or the product. */
static bool is_delicate(damo_c128 alpha) {
  return !isfinite(alpha.re) || !isfinite(alpha.im) || (alpha.re == 0 && alpha.im == 0);
}

/* Set part by part: not every compiler has CMPLX, and re + im * I makes nan of infinite parts. */
static float _Complex complex_f32(damo_c128 v) {
  const float parts[2] = {(float)v.re, (float)v.im};
  float _Complex z;
  memcpy(&z, parts, sizeof z);
  return z;
}

static double _Complex complex_f64(damo_c128 v) {
  double _Complex z;
  memcpy(&z, &v, sizeof z);
  return z;
}

#define UPDATE(dtype, T, al, be)                               \
  case dtype:                                                  \
    for (int64_t i = 0; i < c->rows; i++)                      \
      for (int64_t j = 0; j < c->cols; j++, p++) {             \
        T *z = (T *)(void *)(c->data + i * c->rs + j * c->cs); \
        const T term = (al) * ((const T *)product)[p];         \
        *z = read ? (be) * *z + term : term;                   \
      }                                                        \
    break;

/* c = beta · c + alpha · product, a contiguous matrix; c is not read when beta is 0. */
static void update_entries(damo_dtype dtype, const blas_mat *c, damo_c128 alpha, const void *product, damo_c128 beta) {
  const bool read = beta.re != 0 || beta.im != 0;
  int64_t p = 0;
  switch (dtype) {
    UPDATE(DAMO_FLOAT32, float, (float)alpha.re, (float)beta.re)
    UPDATE(DAMO_FLOAT64, double, alpha.re, beta.re)
    UPDATE(DAMO_COMPLEX64, float _Complex, complex_f32(alpha), complex_f32(beta))
    UPDATE(DAMO_COMPLEX128, double _Complex, complex_f64(alpha), complex_f64(beta))
    case DAMO_BOOL:
    case DAMO_INT8:
    case DAMO_INT16:
    case DAMO_INT32:
    case DAMO_INT64:
    case DAMO_UINT8:
    case DAMO_UINT16:
    case DAMO_UINT32:
    case DAMO_UINT64:
    case DAMO_N_DTYPES: break; /* gemm_check_operands refuses integers */
  }
}
#undef UPDATE

/* Computes the product with alpha = 1, then beta·z + alpha·product entry by entry. */
static damo_status delicate_update(const thunk *t, frame *f, const damo_array *z, blas_mat a, blas_mat b,
                                   damo_c128 alpha, damo_c128 beta) {
  const int64_t size = (int64_t)dtype_size(array_dtype(z));
  const blas_mat zm = mat_of_operand(z);
  damo_array *product = array_empty(f->ctx, array_dtype(z), 2, (const int64_t[]){zm.rows, zm.cols});
  damo_status s = product ? gemm_once(t, f, array_dtype(z), (damo_c128){1, 0}, a, b, (damo_c128){0, 0},
                                      (blas_mat){product->data, zm.rows, zm.cols, zm.cols * size, size})
                          : DAMO_EMEMORY;
  damo_array *out = s == DAMO_OK ? output_with_z(t, f, z, beta.re != 0 || beta.im != 0) : NULL;
  if (out) {
    const blas_mat c = mat_of_operand(out);
    update_entries(array_dtype(z), &c, alpha, product->data, beta);
  }
  damo_release(product);
  return out || s != DAMO_OK ? s : DAMO_EMEMORY;
}

static damo_status update_perform(const thunk *t, frame *f) {
  const update_class *c = update_class_of(t->node->op);
  const damo_array *z = thunk_in(t, f, 0), *x = thunk_in(t, f, 2), *y = thunk_in(t, f, 3);
  const damo_c128 alpha = gemm_coefficient(thunk_in(t, f, 1)),
                  beta = c->has_beta ? gemm_coefficient(thunk_in(t, f, 4)) : (damo_c128){1, 0};
  const blas_mat a = mat_of_operand(x), b = c->rank_x == 1 ? mat_row_of(y) : mat_of_operand(y), zm = mat_of_operand(z);
  gemm_plan p;
  void *scratch = NULL;
  DAMO_TRY(gemm_check_shapes(t, f, &zm, &a, &b));
  if (is_delicate(alpha)) return delicate_update(t, f, z, a, b, alpha, beta);
  /* The output has z's layout where it is z, else a contiguous one. Scratch is taken before anything is written. */
  const int64_t size = (int64_t)dtype_size(array_dtype(z));
  const bool over_z = t->node->op->destroy_map != NULL && z->writeable;
  gemm_plan_init(&p, f->ctx, f->ctx->isa, array_dtype(z), a, b,
                 over_z ? zm : (blas_mat){NULL, zm.rows, zm.cols, zm.cols * size, size});
  if (p.scratch > 0 && !(scratch = thunk_scratch(t, f, p.scratch))) return DAMO_EMEMORY;
  const bool reads = beta.re != 0 || beta.im != 0, adds = reads && !over_z && gemm_takes_sum(&p, &zm);
  damo_array *out = output_with_z(t, f, z, reads && !adds);
  if (!out) return DAMO_EMEMORY;
  if (adds)
    gemm_run_sum(&p, alpha.re, a.data, b.data, beta.re, &zm, out->data);
  else
    gemm_run(&p, alpha, a.data, b.data, beta, out->data, scratch);
  return DAMO_OK;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static damo_var *sum_of_product(build *b, damo_var *x, damo_var *y) {
  return build_reduce(b, REDUCE_SUM, build_mul(b, x, y), NULL, -1, false);
}

/* beta·z + alpha·product: each factor's gradient is the cotangent times the conjugate of the other factors. */
static damo_status update_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *alpha = node->in[1], *x = node->in[2], *y = node->in[3];
  if (!g) return DAMO_OK;
  damo_var *ga = build_mul(b, build_conj_if_complex(b, alpha), g), *xc = build_conj_if_complex(b, x),
           *yc = build_conj_if_complex(b, y);
  if (update_class_of(node->op) == &ger_class) {
    gin[0] = g;
    gin[1] = sum_of_product(b, g, build_outer(b, xc, yc));
    gin[2] = build_dot(b, ga, yc);
    gin[3] = build_dot(b, build_transpose(b, ga), xc);
    return b->status;
  }
  damo_var *beta = node->in[4];
  gin[0] = build_mul(b, build_conj_if_complex(b, beta), g);
  gin[1] = sum_of_product(b, g, build_dot(b, xc, yc));
  gin[2] = var_ndim(y) == 1 ? build_outer(b, ga, yc) : build_dot(b, ga, build_transpose(b, yc));
  gin[3] = build_dot(b, build_transpose(b, xc), ga);
  gin[4] = sum_of_product(b, g, build_conj_if_complex(b, node->in[0]));
  return b->status;
}

static damo_status update_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->in[0]); i++) out_shape[0][i] = in_shape[0][i];
  return b->status;
}

const op_def gemm_def = {
    .name = "Gemm",
    .doc = "beta*z + alpha*dot(x, y) of matrices",
    .props = PROPS(PROP_FLAG(inplace_props, inplace)),
    .n_in = 5,
    .init = update_init,
    .infer_type = update_infer_type,
    .perform = update_perform,
    .emit_c = update_emit_c,
    .grad = update_grad,
    .infer_shape = update_infer_shape,
    .terms = TERMS_LINEAR,
    .no_check = "dense: spec/op/rows/blas.lua has results by hand and from plain loops",
};

const op_def gemv_def = {
    .name = "Gemv",
    .doc = "beta*z + alpha*dot(x, y), x a matrix, y and z vectors",
    .props = PROPS(PROP_FLAG(inplace_props, inplace)),
    .n_in = 5,
    .init = update_init,
    .infer_type = update_infer_type,
    .perform = update_perform,
    .emit_c = update_emit_c,
    .grad = update_grad,
    .infer_shape = update_infer_shape,
    .terms = TERMS_LINEAR,
    .no_check = "dense: spec/op/rows/blas.lua has results by hand and from plain loops",
};

const op_def ger_def = {
    .name = "Ger",
    .doc = "z + alpha*outer(x, y)",
    .props = PROPS(PROP_FLAG(inplace_props, inplace)),
    .n_in = 4,
    .init = update_init,
    .infer_type = update_infer_type,
    .perform = update_perform,
    .emit_c = update_emit_c,
    .grad = update_grad,
    .infer_shape = update_infer_shape,
    .terms = TERMS_LINEAR,
    .no_check = "dense: spec/op/rows/blas.lua has results by hand and from plain loops",
};

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

static damo_var *build_update(build *b, const op_def *def, damo_var *const *in, int n_in) {
  const inplace_props inplace = {.inplace = prop_bool(false)};
  return build_common(b, def, &inplace, in, n_in);
}

damo_var *build_gemm(build *b, damo_var *z, damo_var *alpha, damo_var *x, damo_var *y, damo_var *beta) {
  return build_update(b, &gemm_def, (damo_var *const[]){z, alpha, x, y, beta}, 5);
}

damo_var *build_gemv(build *b, damo_var *z, damo_var *alpha, damo_var *x, damo_var *y, damo_var *beta) {
  return build_update(b, &gemv_def, (damo_var *const[]){z, alpha, x, y, beta}, 5);
}

damo_var *build_ger(build *b, damo_var *z, damo_var *alpha, damo_var *x, damo_var *y) {
  return build_update(b, &ger_def, (damo_var *const[]){z, alpha, x, y}, 4);
}
