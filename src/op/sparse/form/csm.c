/* csm: sparse matrices from their vectors data, indices and indptr, and the vectors of a matrix.
 *
 * CSM (format, itype) makes a matrix of them, CSMProperties gives them (as views) and the shape, CSMGrad gathers one
 * matrix at the stored positions of another, both given by their vectors. indices and indptr are 0-based. (pattern.c
 * has the same operations on whole matrices.)
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct sp_csm_props {
  prop_value format, itype, kmap;
} sp_csm_props;

typedef struct kmap_props {
  prop_value kmap;
} kmap_props;

/* ---- CSM --------------------------------------------------------------------------------------------------------- */

static damo_format sp_csm_format(const damo_op *op) {
  damo_format f = DAMO_CSR;
  format_check(op->obj.ctx, "CSM", &OP_PROPS(op, sp_csm_props)->format, &f);
  return f;
}

static damo_status sp_csm_check_kmap(damo_op *op, prop_value kmap) {
  if (!prop_given(kmap)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE,
                  "%s: kmap is not taken: give the data in their final order, data[kmap] does it", op->def->name);
}

static damo_status sp_kmap_init(damo_op *op) { return sp_csm_check_kmap(op, OP_PROPS(op, kmap_props)->kmap); }

static damo_status sp_csm_init(damo_op *op) {
  damo_format f;
  const prop_value *itype = &OP_PROPS(op, sp_csm_props)->itype;
  DAMO_TRY(sp_csm_check_kmap(op, OP_PROPS(op, sp_csm_props)->kmap));
  bool known = itype->kind == PROP_NIL ||
               (itype->kind == PROP_STR && (strcmp(itype->u.s, "int32") == 0 || strcmp(itype->u.s, "int64") == 0));
  if (!known) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "CSM: itype is 'int32' or 'int64'");
  return format_check(op->obj.ctx, "CSM", &OP_PROPS(op, sp_csm_props)->format, &f);
}

static damo_dtype sp_csm_itype(const damo_op *op) {
  const prop_value *itype = &OP_PROPS(op, sp_csm_props)->itype;
  return itype->kind == PROP_STR && strcmp(itype->u.s, "int64") == 0 ? DAMO_INT64 : DAMO_INT32;
}

static damo_status sp_csm_need_integers(const damo_op *op, damo_var *const *in, int i, const char *what) {
  DAMO_TRY(type_need_dense(op, in, i, 1));
  if (dtype_is_integer(var_dtype(in[i]))) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: %s must be integers, got %s", op->def->name, what,
                  dtype_name(var_dtype(in[i])));
}

/* Both lengths where the shape vector is a constant, else -1. */
static void sp_csm_static_shape(const damo_var *v, int64_t *shape) {
  const damo_array *a = var_constant_array(v);
  shape[0] = shape[1] = -1;
  if (a == NULL || array_size(a) != 2) return;
  for (int64_t i = 0; i < 2; i++) shape[i] = scalar_to_int64(array_get(a, &i));
}

static damo_status sp_csm_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  static const char *const names[] = {"data", "indices", "indptr", "shape"};
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_dense(op, in, 0, 1));
  for (int i = 1; i < 4; i++) DAMO_TRY(sp_csm_need_integers(op, in, i, names[i]));
  int64_t n = in[3]->type->shape[0];
  if (n >= 0 && n != 2)
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "CSM: the shape has %lld entries, not 2", (long long)n);
  sp_csm_static_shape(in[3], shape);
  return type_give_sparse(op, out, sp_csm_format(op), var_dtype(in[0]), sp_csm_itype(op), shape[0], shape[1]);
}

static damo_apply *sp_csm_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  static const char *const names[] = {"data", "indices", "indptr", "the shape"};
  damo_var *own[4] = {NULL};
  damo_type *out = NULL;
  if (n_in != 4) return build_fail(b, DAMO_ETYPE, "CSM: expected data, indices, indptr and shape"), NULL;
  own[0] = build_strong(b, in[0]);
  for (int i = 1; i < 4; i++) {
    /* a Variable keeps its integer dtype; lists of integers become int64 */
    bool ready = type_is_tensor(in[i]->type) && dtype_is_integer(var_dtype(in[i])) && !in[i]->weak;
    own[i] = ready ? in[i] : build_integer(b, "CSM", names[i], in[i]);
  }
  if (b->status != DAMO_OK || sp_csm_type(op, own, 4, &out) != DAMO_OK) return NULL;
  damo_apply *node = apply_new(b->ctx, op, own, 4, &out, 1);
  damo_release(out);
  return node;
}

static damo_status sp_csm_read_shape(const thunk *t, frame *f, int i, int64_t *shape) {
  const damo_array *v = thunk_in(t, f, i);
  if (array_size(v) != 2) {
    return ctx_fail(f->ctx, DAMO_ESHAPE, "CSM: the shape has %lld entries, not 2", (long long)array_size(v));
  }
  for (int64_t k = 0; k < 2; k++) shape[k] = scalar_to_int64(array_get(v, &k));
  return DAMO_OK;
}

/* The first n entries of a vector (itself, retained, when it has no more). */
static damo_array *sp_csm_head(damo_array *v, int64_t n) {
  if (n < 0 || n >= array_shape(v)[0]) return damo_retain(v);
  return array_view(v, 1, &n, array_strides(v), 0);
}

/* data and indices past indptr's last entry are left out. */
static damo_sparse *sp_csm_from_vectors(damo_ctx *ctx, damo_format format, const int64_t *shape, damo_array *data,
                                        damo_array *indices, const damo_array *indptr, damo_dtype itype) {
  const int64_t n = array_size(indptr);
  int64_t last = n - 1, end = n > 0 ? scalar_to_int64(array_get(indptr, &last)) : 0;
  bool spare = end < array_size(data) && end < array_size(indices);
  damo_array *d = sp_csm_head(data, spare ? end : -1), *i = d ? sp_csm_head(indices, spare ? end : -1) : NULL;
  damo_sparse *out = i ? sparse_from_parts(ctx, format, shape, d, i, indptr, itype) : NULL;
  damo_release(d);
  damo_release(i);
  return out;
}

static damo_status sp_csm_perform(const thunk *t, frame *f) {
  int64_t shape[2];
  DAMO_TRY(sp_csm_read_shape(t, f, 3, shape));
  const damo_op *op = t->node->op;
  return thunk_give(t, f, 0,
                    sp_csm_from_vectors(f->ctx, sp_csm_format(op), shape, thunk_in(t, f, 0), thunk_in(t, f, 1),
                                        thunk_in(t, f, 2), sp_csm_itype(op)));
}

/* The cotangent at the matrix's stored positions, and zeros for data past indptr's last entry. */
static damo_status sp_csm_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *data = node->in[0], *at = build_gather(b, gout[0], node->out[0]);
  if (at == NULL) return b->status;
  damo_var *rest = build_sub(b, build_dim(b, data, 0), build_dim(b, at, 0));
  damo_var *parts[2] = {at, build_alloc(b, build_scalar(b, var_dtype(at), 0), &rest, 1)};
  gin[0] = build_join(b, "CSM", 0, parts, 2);
  return b->status;
}

static damo_status sp_csm_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)in_shape;
  for (int k = 0; k < 2; k++) {
    damo_var *d = build_index(b, node->in[3], 0, build_i64(b, k));
    out_shape[0][k] = d ? build_cast(b, d, DAMO_INT64) : NULL;
  }
  return b->status;
}

const op_def sp_csm_def = {
    .name = "CSM",
    .doc = "a sparse matrix from data, indices, indptr and shape",
    .props = PROPS(PROP(sp_csm_props, format), PROP(sp_csm_props, itype), PROP(sp_csm_props, kmap)),
    .n_in = 4,
    .init = sp_csm_init,
    .view_map = alias_first,
    .infer_type = sp_csm_type,
    .make_node = sp_csm_node,
    .perform = sp_csm_perform,
    .grad = sp_csm_grad,
    .rop = rop_again,
    .infer_shape = sp_csm_shape,
    .connection_pattern = connect_first,
    OP_CHECK(csm_check),
};

/* ---- CSMProperties ----------------------------------------------------------------------------------------------- */

static damo_status sp_csm_properties_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  damo_ctx *ctx = op->obj.ctx;
  const int64_t unknown = -1, two = 2, n_major = in[0]->type->shape[var_format_of(in[0]) == DAMO_CSC];
  out[0] = type_tensor(ctx, var_dtype(in[0]), 1, &unknown);
  out[1] = type_tensor(ctx, var_itype(in[0]), 1, &unknown);
  out[2] = type_tensor(ctx, var_itype(in[0]), 1, n_major >= 0 ? &(int64_t){n_major + 1} : &unknown);
  out[3] = type_tensor(ctx, var_itype(in[0]), 1, &two);
  return out[0] && out[1] && out[2] && out[3] ? DAMO_OK : damo_error_status(ctx);
}

static damo_status sp_csm_give_view(const thunk *t, frame *f, int i, const damo_array *v) {
  return thunk_out_view(t, f, i, v, 1, array_shape(v), array_strides(v), 0);
}

/* A Type of int32 indices also holds matrices that need int64 indices by their size. The Types of indices and indptr do
 * not hold those. */
static damo_status sp_csm_check_itype(const thunk *t, frame *f, const damo_sparse *x) {
  if (array_dtype(x->indices) == t->node->out[1]->type->dtype) return DAMO_OK;
  char dims[64];
  return ctx_fail(f->ctx, DAMO_EVALUE,
                  "CSMProperties: a matrix of shape %s has int64 indices: give its Variable itype=\"int64\"",
                  shape_format(dims, sizeof dims, 2, x->shape));
}

static damo_status sp_csm_properties_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  DAMO_TRY(sp_csm_check_itype(t, f, x));
  damo_array *shape = thunk_out(t, f, 3, sparse_itype(x), 1, &(int64_t){2});
  if (shape == NULL) return DAMO_EMEMORY;
  DAMO_TRY(sp_csm_give_view(t, f, 0, x->data));
  DAMO_TRY(sp_csm_give_view(t, f, 1, x->indices));
  DAMO_TRY(sp_csm_give_view(t, f, 2, x->indptr));
  for (int k = 0; k < 2; k++) {
    if (sparse_is_wide(x)) {
      ((int64_t *)shape->data)[k] = x->shape[k];
    } else {
      ((int32_t *)shape->data)[k] = (int32_t)x->shape[k];
    }
  }
  return DAMO_OK;
}

static void sp_csm_properties_connect(const damo_apply *node, bool *connected) {
  (void)node;
  for (int o = 1; o < 4; o++) connected[o] = false;
}

static const op_alias sp_csm_properties_views[] = {{0, 0}, {1, 0}, {2, 0}, OP_ALIAS_END};

const op_def sp_csm_properties_def = {
    .name = "CSMProperties",
    .doc = "data, indices, indptr (views) and shape of a sparse matrix",
    .props = PROPS(PROP(kmap_props, kmap)),
    .n_in = 1,
    .n_out = 4,
    .init = sp_kmap_init,
    .view_map = sp_csm_properties_views,
    .infer_type = sp_csm_properties_type,
    .perform = sp_csm_properties_perform,
    .grad = sp_data_grad,
    .rop = sp_data_rop,
    .connection_pattern = sp_csm_properties_connect,
    OP_CHECK(csm_properties_check),
};

static damo_apply *build_csm_properties(build *b, damo_var *x) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  return build_apply(b, op_new(b->ctx, &sp_csm_properties_def, NULL), &x, 1);
}

static damo_var *build_csm_property(build *b, damo_var *x, int i) {
  damo_apply *node = build_csm_properties(b, x);
  return node != NULL ? node->out[i] : NULL;
}

damo_var *build_indices(build *b, damo_var *x) { return build_csm_property(b, x, 1); }
damo_var *build_indptr(build *b, damo_var *x) { return build_csm_property(b, x, 2); }

damo_var *build_nnz(build *b, damo_var *x) {
  damo_var *data = build_data(b, x);
  return data != NULL ? build_dim(b, data, 0) : NULL;
}

/* ---- CSMGrad ----------------------------------------------------------------------------------------------------- */

static damo_status sp_csmgrad_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  for (int i = 0; i < 8; i++) {
    if (i % 4 == 0) {
      DAMO_TRY(type_need_dense(op, in, i, 1));
    } else {
      DAMO_TRY(sp_csm_need_integers(op, in, i, i % 4 == 3 ? "a shape" : "indices and indptr"));
    }
  }
  return type_give_dense(op, out, var_dtype(in[4]), 1, in[0]->type->shape);
}

/* The matrix whose vectors are the inputs from `first` on, taken as csr whatever its format: gathering depends on the
 * major axis alone. A shape that is not square does not say which axis is major: the minor axis gets the larger length
 * then. */
static damo_sparse *sp_csmgrad_pattern(const thunk *t, frame *f, int first) {
  int64_t shape[2], n_major = array_size(thunk_in(t, f, first + 2)) - 1;
  if (sp_csm_read_shape(t, f, first + 3, shape) != DAMO_OK) return NULL;
  const int64_t as_csr[2] = {n_major < 0 ? 0 : n_major, shape[0] == n_major ? shape[1] : shape[0]};
  const int64_t wider[2] = {as_csr[0], shape[0] > shape[1] ? shape[0] : shape[1]};
  return sp_csm_from_vectors(f->ctx, DAMO_CSR, shape[0] == shape[1] ? as_csr : wider, thunk_in(t, f, first),
                             thunk_in(t, f, first + 1), thunk_in(t, f, first + 2), DAMO_INT32);
}

static damo_status sp_csmgrad_perform(const thunk *t, frame *f) {
  const damo_array *data = thunk_in(t, f, 0);
  damo_sparse *x = sp_csmgrad_pattern(t, f, 0), *g = x ? sp_csmgrad_pattern(t, f, 4) : NULL;
  damo_array *at = g ? sparse_at_summed(g, x) : NULL;
  damo_array *out = at ? thunk_out(t, f, 0, array_dtype(at), 1, array_shape(data)) : NULL;
  if (out != NULL) {
    size_t size = dtype_size(array_dtype(at)), used = (size_t)array_size(at) * size;
    memcpy(out->data, at->data, used);
    memset(out->data + used, 0, (size_t)array_size(data) * size - used); /* data past indptr's last entry */
  }
  damo_release(x);
  damo_release(g);
  damo_release(at);
  return out != NULL ? DAMO_OK : damo_error_status(f->ctx);
}

/* Gathering g at x's positions is linear in g's data. Its adjoint gathers the cotangent, a matrix on x's pattern, at
 * g's positions. */
static damo_status sp_csmgrad_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *in[8];
  if (gout[0] == NULL) return DAMO_OK;
  for (int i = 0; i < 8; i++) in[i] = node->in[(i + 4) % 8];
  in[4] = gout[0];
  gin[4] = build_op(b, damo_retain(node->op), in, 8);
  return b->status;
}

static damo_status sp_csmgrad_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *in[8];
  for (int i = 0; i < 8; i++) in[i] = node->in[i];
  in[4] = eval[4];
  if (eval[4] != NULL) rout[0] = build_op(b, damo_retain(node->op), in, 8);
  return b->status;
}

static void sp_csmgrad_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) connected[i] = i == 4;
}

static const op_def sp_csmgrad_def = {
    .name = "CSMGrad",
    .doc = "the values of the second matrix at the positions of the first, both given by data, indices, indptr, shape",
    .props = PROPS(PROP(kmap_props, kmap)),
    .n_in = 8,
    .init = sp_kmap_init,
    .infer_type = sp_csmgrad_type,
    .perform = sp_csmgrad_perform,
    .grad = sp_csmgrad_grad,
    .rop = sp_csmgrad_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = sp_csmgrad_connect,
    OP_CHECK(csm_grad_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_var *build_csm_of(build *b, damo_format format, prop_value itype, damo_var *const *in) {
  const sp_csm_props props = {.format = prop_str(sparse_format_name(format)), .itype = itype};
  return build_op(b, op_new(b->ctx, &sp_csm_def, &props), in, 4);
}

damo_var *build_csm(build *b, damo_format format, damo_var *data, damo_var *indices, damo_var *indptr,
                    damo_var *shape) {
  if (data == NULL || indices == NULL || indptr == NULL || shape == NULL) return NULL;
  return build_csm_of(b, format, prop_nil(), (damo_var *[]){data, indices, indptr, shape});
}

typedef struct csm_options {
  prop_value itype;
} csm_options;

static damo_status sp_fn_csm(build *b, const fn_args *a, ptrvec *out, damo_format format) {
  return fn_give(b, out, build_csm_of(b, format, FN_OPTIONS(a, csm_options)->itype, a->in));
}

static damo_status sp_fn_csr(build *b, const fn_args *a, ptrvec *out) { return sp_fn_csm(b, a, out, DAMO_CSR); }
static damo_status sp_fn_csc(build *b, const fn_args *a, ptrvec *out) { return sp_fn_csm(b, a, out, DAMO_CSC); }

static damo_status sp_fn_properties(build *b, const fn_args *a, ptrvec *out) {
  damo_apply *node = build_csm_properties(b, sparse_operand(b, a, 0));
  for (int i = 0; i < 4 && node != NULL; i++) DAMO_TRY(fn_give(b, out, node->out[i]));
  return b->status;
}

static damo_status sp_fn_data(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_data(b, sparse_operand(b, a, 0)));
}

static damo_status sp_fn_indices(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_indices(b, sparse_operand(b, a, 0)));
}

static damo_status sp_fn_indptr(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_indptr(b, sparse_operand(b, a, 0)));
}

static damo_status sp_fn_shape(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_csm_property(b, sparse_operand(b, a, 0), 3));
}

static damo_status sp_fn_get_shape(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_shape(b, sparse_operand(b, a, 0)));
}

/* The number of stored entries. */
static damo_status sp_fn_nnz(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_nnz(b, sparse_operand(b, a, 0)));
}

#define CSM_OPERANDS "data indices indptr shape"

const op_func sparse_csm_funcs[] = {
    {.name = "sparse.CSC",
     .operands = CSM_OPERANDS,
     .options = OPTIONS(OPT(csm_options, itype, OPT_STR)),
     .call = sp_fn_csc,
     .doc = "a csc matrix from its vectors (indices and indptr 0-based)",
     .no_method = true},
    {.name = "sparse.CSR",
     .operands = CSM_OPERANDS,
     .options = OPTIONS(OPT(csm_options, itype, OPT_STR)),
     .call = sp_fn_csr,
     .doc = "a csr matrix from its vectors (indices and indptr 0-based)",
     .no_method = true},
    {.name = "sparse.csm_properties",
     .operands = "x",
     .call = sp_fn_properties,
     .doc = "data, indices, indptr and shape of a sparse matrix"},
    {.name = "sparse.csm_data", .operands = "x", .call = sp_fn_data, .doc = "the vector of stored values"},
    {.name = "sparse.csm_indices", .operands = "x", .call = sp_fn_indices, .doc = "the 0-based indices of the entries"},
    {.name = "sparse.csm_indptr",
     .operands = "x",
     .call = sp_fn_indptr,
     .doc = "where the entries of each row (csr) or column (csc) start, from 0"},
    {.name = "sparse.csm_shape",
     .operands = "x",
     .call = sp_fn_shape,
     .doc = "the shape as a vector of the indices' dtype"},
    {.name = "sparse.get_shape", .operands = "x", .call = sp_fn_get_shape, .doc = "the shape as an int64 vector"},
    {.name = "sparse.size", .operands = "x", .call = sp_fn_nnz, .doc = "the number of stored entries"},
    {.name = "sparse.nnz", .operands = "x", .call = sp_fn_nnz, .doc = "the number of stored entries"},
    {.name = NULL},
};

const op_def *const sparse_csm_classes[] = {&sp_csm_def, &sp_csm_properties_def, &sp_csmgrad_def, NULL};
