/* type.c: Types, interned so that equal Types have one address; their relations and values. */
#include "graph_int.h"
#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

static const char *const type_kind_names[] = {"TensorType",       "SparseTensorType", "RandomType", "NullType",
                                              "DisconnectedType", "GenericType",      "FactorType"};

static size_t type_bytes(const damo_type *t) { return sizeof(damo_type) + (size_t)t->ndim * sizeof(int64_t); }

static void type_destroy(damo_obj *obj) {
  damo_type *t = (damo_type *)obj;
  intern_remove(obj->ctx, CTX_TYPES, &t->link);
  mem_strfree(obj->ctx, t->why);
  damo_release(t->pattern);
  obj_free(obj, type_bytes(t));
}

/* The properties of a Type, which identify it. */
typedef struct type_parts {
  type_kind kind;
  damo_dtype dtype;
  int ndim;
  uint8_t format, itype;
  const int64_t *shape;
  const char *why;
  type_pattern *pattern;
} type_parts;

static bool type_has_parts(const damo_type *t, const type_parts *p) {
  if (t->kind != p->kind || t->dtype != p->dtype || t->ndim != p->ndim) return false;
  if (t->format != p->format || t->itype != p->itype || t->pattern != p->pattern) return false;
  if (memcmp(t->shape, p->shape, (size_t)p->ndim * sizeof *p->shape) != 0) return false;
  return strcmp(t->why ? t->why : "", p->why ? p->why : "") == 0;
}

static uint64_t hash_type(const type_parts *p) {
  uint64_t hash = hash_mix(hash_mix((uint64_t)p->kind + 1, (uint64_t)p->dtype), (uint64_t)p->ndim);
  hash = hash_mix(hash, (uint64_t)p->format << 8 | p->itype);
  hash = hash_mix(hash, (uint64_t)(uintptr_t)p->pattern);
  hash = hash_bytes(hash, p->shape, (size_t)p->ndim * sizeof *p->shape);
  return p->why != NULL ? hash_bytes(hash, p->why, strlen(p->why)) : hash;
}

/* The interned Type with these properties: found, or made and put at the head of its chain. */
static damo_type *type_intern(damo_ctx *ctx, const type_parts *p) {
  uint64_t hash = hash_type(p);
  for (intern_link *l = intern_first(ctx, CTX_TYPES, hash); l != NULL; l = l->next) {
    damo_type *t = INTERNED(damo_type, l);
    if (type_has_parts(t, p)) return damo_retain(t);
  }
  char *why_copy = NULL;
  if (p->why != NULL && (why_copy = mem_strdup(ctx, p->why)) == NULL) return NULL;
  damo_type *t = obj_new(ctx, OBJ_TYPE, sizeof(damo_type) + (size_t)p->ndim * sizeof(int64_t));
  if (t == NULL) {
    mem_strfree(ctx, why_copy);
    return NULL;
  }
  *t = (damo_type){.obj = t->obj,
                   .link.hash = hash,
                   .kind = p->kind,
                   .dtype = p->dtype,
                   .ndim = p->ndim,
                   .format = p->format,
                   .itype = p->itype,
                   .why = why_copy,
                   .pattern = damo_retain(p->pattern)};
  memcpy(t->shape, p->shape, (size_t)p->ndim * sizeof *p->shape);
  if (intern_add(ctx, CTX_TYPES, &t->link) != DAMO_OK) {
    damo_release(t);
    return NULL;
  }
  return t;
}

damo_type *type_tensor(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  int64_t dims[DAMO_MAX_NDIM] = {0};
  if (ndim < 0 || ndim > DAMO_MAX_NDIM) {
    ctx_fail(ctx, DAMO_EVALUE, "TensorType: rank %d is outside 0 … %d", ndim, DAMO_MAX_NDIM);
    return NULL;
  }
  if ((unsigned)dtype >= DAMO_N_DTYPES) {
    ctx_fail(ctx, DAMO_EVALUE, "TensorType: %d is no dtype", (int)dtype);
    return NULL;
  }
  for (int i = 0; i < ndim; i++) { dims[i] = shape != NULL && shape[i] >= 0 ? shape[i] : -1; }
  return type_intern(ctx, &(type_parts){.kind = TYPE_TENSOR, .dtype = dtype, .ndim = ndim, .shape = dims});
}

static type_parts sparse_parts(damo_format format, damo_dtype dtype, damo_dtype itype, const int64_t *dims) {
  return (type_parts){.kind = TYPE_SPARSE,
                      .dtype = dtype,
                      .ndim = 2,
                      .format = (uint8_t)format,
                      .itype = (uint8_t)(itype == DAMO_INT64 ? DAMO_INT64 : DAMO_INT32),
                      .shape = dims};
}

damo_type *type_sparse(damo_ctx *ctx, damo_format format, damo_dtype dtype, damo_dtype itype, const int64_t *shape) {
  int64_t dims[2] = {-1, -1};
  for (int i = 0; i < 2 && shape != NULL; i++) dims[i] = shape[i] >= 0 ? shape[i] : -1;
  const type_parts p = sparse_parts(format, dtype, itype, dims);
  return type_intern(ctx, &p);
}

/* The index dtype of a matrix's Type: int64 only for a matrix with int64 indices whose size would allow int32. */
static damo_dtype itype_to_ask(const damo_sparse *m) {
  const bool needed = sparse_itype_for(DAMO_INT32, m->shape[0], m->shape[1], sparse_nnz(m)) == DAMO_INT64;
  return needed ? DAMO_INT32 : sparse_itype(m);
}

damo_type *type_sparse_like(damo_sparse *a, damo_dtype dtype) {
  type_parts p = sparse_parts(sparse_format(a), dtype, itype_to_ask(a), a->shape);
  p.pattern = pattern_of(a);
  damo_type *t = p.pattern != NULL ? type_intern(a->obj.ctx, &p) : NULL;
  damo_release(p.pattern);
  return t;
}

damo_type *type_without_pattern(damo_type *t) {
  if (t->pattern == NULL) return damo_retain(t);
  return type_sparse(t->obj.ctx, (damo_format)t->format, t->dtype, (damo_dtype)t->itype, t->shape);
}

damo_type *type_factor(damo_ctx *ctx, damo_dtype dtype, const int64_t *shape, bool least) {
  int64_t dims[2] = {-1, -1};
  for (int i = 0; i < 2 && shape != NULL; i++) dims[i] = shape[i] >= 0 ? shape[i] : -1;
  return type_intern(ctx,
                     &(type_parts){.kind = TYPE_FACTOR, .dtype = dtype, .ndim = 2, .format = least, .shape = dims});
}

static damo_type *type_plain(damo_ctx *ctx, type_kind kind, const char *why) {
  return type_intern(ctx, &(type_parts){.kind = kind, .dtype = DAMO_BOOL, .shape = (const int64_t[1]){0}, .why = why});
}

damo_type *type_random(damo_ctx *ctx) { return type_plain(ctx, TYPE_RANDOM, NULL); }
damo_type *type_null(damo_ctx *ctx, const char *why) { return type_plain(ctx, TYPE_NULL, why ? why : "undefined"); }
damo_type *type_disconnected(damo_ctx *ctx) { return type_plain(ctx, TYPE_DISCONNECTED, NULL); }
damo_type *type_generic(damo_ctx *ctx) { return type_plain(ctx, TYPE_GENERIC, NULL); }

damo_type *type_of_value(damo_obj *value) {
  if (value->kind == OBJ_ARRAY) {
    const damo_array *a = (const damo_array *)value;
    return type_tensor(value->ctx, array_dtype(a), a->ndim, array_shape(a));
  }
  if (value->kind == OBJ_SPARSE) {
    const damo_sparse *m = (const damo_sparse *)value;
    return type_sparse(value->ctx, sparse_format(m), sparse_dtype(m), itype_to_ask(m), m->shape);
  }
  if (value->kind == OBJ_FACTOR) {
    const factor_info f = factor_get_info((const damo_factor *)value);
    return type_factor(value->ctx, f.dtype, (const int64_t[2]){f.rows, f.cols}, f.least_squares);
  }
  return type_generic(value->ctx);
}

/* ---- Relations --------------------------------------------------------------------------------------------------- */

/* Whether the Types agree in everything but shape and pattern. */
static bool same_make(const damo_type *a, const damo_type *b) {
  return a->kind == b->kind && (type_has_shape(a) || type_is_factor(a)) && a->dtype == b->dtype && a->ndim == b->ndim &&
         a->format == b->format && a->itype == b->itype;
}

bool type_same_known_shape(const damo_type *a, const damo_type *b) {
  if (a->ndim != b->ndim) return false;
  for (int k = 0; k < a->ndim; k++) {
    if (a->shape[k] < 0 || a->shape[k] != b->shape[k]) return false;
  }
  return true;
}

bool type_is_super(const damo_type *super, const damo_type *sub) {
  if (super == sub) return true;
  if (!same_make(super, sub) || (super->pattern != NULL && super->pattern != sub->pattern)) return false;
  for (int i = 0; i < super->ndim; i++) {
    if (super->shape[i] >= 0 && super->shape[i] != sub->shape[i]) return false;
  }
  return true;
}

bool type_is_compatible(const damo_type *a, const damo_type *b) {
  if (a == b) return true;
  if (!same_make(a, b)) return false;
  if (a->pattern != NULL && b->pattern != NULL && a->pattern != b->pattern) return false;
  for (int i = 0; i < a->ndim; i++) {
    if (a->shape[i] >= 0 && b->shape[i] >= 0 && a->shape[i] != b->shape[i]) return false;
  }
  return true;
}

/* "SparseTensorType(csr, float64, shape={3, 4}, pattern of 7)" */
static void format_sparse(char *dst, size_t n, const damo_type *t) {
  char dims[256], pattern[40] = "";
  if (t->pattern != NULL)
    snprintf(pattern, sizeof pattern, ", pattern of %lld", (long long)sparse_nnz(t->pattern->matrix));
  snprintf(dst, n, "SparseTensorType(%s, %s, shape=%s%s%s)", sparse_format_name((damo_format)t->format),
           dtype_name(t->dtype), shape_format(dims, sizeof dims, t->ndim, t->shape),
           t->itype == DAMO_INT64 ? ", itype=int64" : "", pattern);
}

char *type_format(char *dst, size_t n, const damo_type *t) {
  char dims[256];
  switch (t->kind) {
    case TYPE_TENSOR:
      snprintf(dst, n, "TensorType(%s, shape=%s)", dtype_name(t->dtype),
               shape_format(dims, sizeof dims, t->ndim, t->shape));
      break;
    case TYPE_NULL: snprintf(dst, n, "NullType(%s)", t->why); break;
    case TYPE_SPARSE: format_sparse(dst, n, t); break;
    case TYPE_FACTOR:
      snprintf(dst, n, "FactorType(%s, shape=%s%s)", dtype_name(t->dtype),
               shape_format(dims, sizeof dims, t->ndim, t->shape), t->format ? ", least squares" : "");
      break;
    case TYPE_RANDOM:
    case TYPE_DISCONNECTED:
    case TYPE_GENERIC: snprintf(dst, n, "%s", type_kind_names[t->kind]); break;
  }
  return dst;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool shape_fits(const damo_type *t, const int64_t *shape) {
  for (int i = 0; i < t->ndim; i++) {
    if (t->shape[i] >= 0 && t->shape[i] != shape[i]) return false;
  }
  return true;
}

/* "an Array of dtype int64 and shape {3}" */
static const char *describe_value(char *dst, size_t n, const damo_obj *value) {
  char dims[256];
  if (value->kind == OBJ_ARRAY) {
    const damo_array *a = (const damo_array *)value;
    snprintf(dst, n, "an Array of dtype %s and shape %s", dtype_name(array_dtype(a)),
             shape_format(dims, sizeof dims, a->ndim, array_shape(a)));
  } else if (value->kind == OBJ_SPARSE) {
    const damo_sparse *m = (const damo_sparse *)value;
    snprintf(dst, n, "a sparse matrix (%s) of dtype %s and shape %s", sparse_format_name(sparse_format(m)),
             dtype_name(sparse_dtype(m)), shape_format(dims, sizeof dims, 2, m->shape));
  } else if (value->kind == OBJ_FACTOR) {
    const factor_info f = factor_get_info((const damo_factor *)value);
    const int64_t shape[2] = {f.rows, f.cols};
    snprintf(dst, n, "a factor (%s) of a matrix of dtype %s and shape %s",
             f.least_squares ? "least squares" : "square systems", dtype_name(f.dtype),
             shape_format(dims, sizeof dims, 2, shape));
  } else {
    snprintf(dst, n, "another kind of object");
  }
  return dst;
}

static damo_obj *type_refuse(const damo_type *t, const damo_obj *value, damo_status status, const char *advice) {
  char want[320], got[340];
  ctx_fail(value->ctx, status, "expected a value of %s, got %s%s", type_format(want, sizeof want, t),
           describe_value(got, sizeof got, value), advice);
  return NULL;
}

/* Whether a value of dtype `given` may be cast to t's: by default only where the cast loses nothing. */
static bool conversion_allowed(const damo_type *t, damo_dtype given, filter_options options) {
  if (options.strict) return false;
  return options.allow_downcast || dtype_can_cast_safely(given, t->dtype);
}

/* A cast that may lose something is the script's to ask for. */
static damo_obj *refuse_dtype(const damo_type *t, const damo_obj *value) {
  char advice[64];
  snprintf(advice, sizeof advice, "; :astype \"%s\" converts it", dtype_name(t->dtype));
  return type_refuse(t, value, DAMO_ETYPE, advice);
}

static damo_obj *filter_tensor(const damo_type *t, damo_obj *value, filter_options options) {
  if (value->kind == OBJ_SPARSE) return type_refuse(t, value, DAMO_ETYPE, "; its :toarray() is dense");
  if (value->kind != OBJ_ARRAY) return type_refuse(t, value, DAMO_ETYPE, "");
  damo_array *a = (damo_array *)value;
  if (a->ndim != t->ndim) return type_refuse(t, value, DAMO_ETYPE, "");
  if (!shape_fits(t, array_shape(a))) return type_refuse(t, value, DAMO_ESHAPE, "");
  if (array_dtype(a) == t->dtype) return damo_retain(value);
  if (!conversion_allowed(t, array_dtype(a), options)) return refuse_dtype(t, value);
  return (damo_obj *)array_cast(a, t->dtype);
}

/* The index dtype that m must have as a value of the Type. */
static damo_dtype itype_wanted(const damo_type *t, const damo_sparse *m) {
  return sparse_itype_for((damo_dtype)t->itype, m->shape[0], m->shape[1], sparse_nnz(m));
}

static bool is_sparse_of(const damo_type *t, const damo_obj *value) {
  const damo_sparse *m = (const damo_sparse *)value;
  return value->kind == OBJ_SPARSE && m->format == t->format && sparse_dtype(m) == t->dtype &&
         shape_fits(t, m->shape) && sparse_itype(m) == itype_wanted(t, m) &&
         (t->pattern == NULL || pattern_fits(t->pattern, m));
}

/* Takes a matrix that is valid for the Type but for its pattern. Returns it if it has the pattern; a matrix that was
 * converted from `value` then gets the pattern's index arrays, so that they are shared. Else NULL with a value
 * error. */
static damo_obj *filter_pattern(const damo_type *t, damo_sparse *take, const damo_obj *value) {
  if (take == NULL || t->pattern == NULL) return (damo_obj *)take;
  if (pattern_fits(t->pattern, take)) {
    /* The reference counts of a Type of another context must not be touched. */
    const bool adopts = &take->obj != value && t->pattern->obj.ctx == take->obj.ctx;
    return (damo_obj *)(adopts ? pattern_adopt(t->pattern, take) : take);
  }
  char place[200] = "; ";
  pattern_difference(place + 2, sizeof place - 2, t->pattern, take);
  damo_release(take);
  return type_refuse(t, value, DAMO_EVALUE, place);
}

/* Converts format, then dtype, then index dtype; each step returns a new matrix, or the same one retained. */
static damo_obj *filter_sparse(const damo_type *t, damo_obj *value, filter_options options) {
  if (value->kind == OBJ_ARRAY) {
    return type_refuse(t, value, DAMO_ETYPE, "; damo.sparse.from_dense makes it sparse");
  }
  if (value->kind != OBJ_SPARSE) return type_refuse(t, value, DAMO_ETYPE, "");
  damo_sparse *m = (damo_sparse *)value;
  if (!shape_fits(t, m->shape)) return type_refuse(t, value, DAMO_ESHAPE, "");
  if (options.strict && m->format != t->format) return type_refuse(t, value, DAMO_ETYPE, "");
  if (options.strict && sparse_itype(m) != itype_wanted(t, m)) {
    return type_refuse(t, value, DAMO_ETYPE, sparse_is_wide(m) ? " with int64 indices" : " with int32 indices");
  }
  if (sparse_dtype(m) != t->dtype && !conversion_allowed(t, sparse_dtype(m), options)) {
    return refuse_dtype(t, value);
  }
  damo_sparse *formed = sparse_to_format(m, (damo_format)t->format);
  damo_sparse *cast = formed != NULL ? sparse_cast(formed, t->dtype) : NULL;
  damo_sparse *out = cast != NULL ? sparse_to_itype(cast, itype_wanted(t, m)) : NULL;
  damo_release(formed);
  damo_release(cast);
  return filter_pattern(t, out, value);
}

static bool is_factor_of(const damo_type *t, const damo_obj *value) {
  if (value->kind != OBJ_FACTOR) return false;
  const factor_info f = factor_get_info((const damo_factor *)value);
  return f.dtype == t->dtype && f.least_squares == (t->format != 0) &&
         shape_fits(t, (const int64_t[2]){f.rows, f.cols});
}

static bool is_random_state(const damo_obj *value) {
  if (value->kind != OBJ_ARRAY) return false;
  const damo_array *a = (const damo_array *)value;
  return array_dtype(a) == DAMO_UINT64 && a->ndim == 1 && array_shape(a)[0] == 3;
}

damo_obj *type_filter(const damo_type *t, damo_obj *value, filter_options options) {
  switch (t->kind) {
    case TYPE_TENSOR: return filter_tensor(t, value, options);
    case TYPE_RANDOM:
      if (is_random_state(value)) return damo_retain(value);
      ctx_fail(value->ctx, DAMO_ETYPE, "expected a generator's state (a uint64 Array of shape {3})");
      return NULL;
    case TYPE_GENERIC: return damo_retain(value);
    case TYPE_SPARSE: return filter_sparse(t, value, options);
    case TYPE_FACTOR: return is_factor_of(t, value) ? damo_retain(value) : type_refuse(t, value, DAMO_ETYPE, "");
    case TYPE_NULL:
    case TYPE_DISCONNECTED: break;
  }
  ctx_fail(value->ctx, DAMO_ETYPE, "%s has no values", type_kind_names[t->kind]);
  return NULL;
}

bool type_is_valid(const damo_type *t, const damo_obj *value) {
  if (value == NULL) return false;
  switch (t->kind) {
    case TYPE_TENSOR: {
      const damo_array *a = (const damo_array *)value;
      return value->kind == OBJ_ARRAY && array_dtype(a) == t->dtype && a->ndim == t->ndim &&
             shape_fits(t, array_shape(a));
    }
    case TYPE_RANDOM: return is_random_state(value);
    case TYPE_GENERIC: return true;
    case TYPE_SPARSE: return is_sparse_of(t, value);
    case TYPE_FACTOR: return is_factor_of(t, value);
    case TYPE_NULL:
    case TYPE_DISCONNECTED: break;
  }
  return false;
}

static bool type_same_storage(const damo_sparse *a, const damo_sparse *b) {
  return a->format == b->format && a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1] &&
         array_equal(a->indptr, b->indptr, true) && array_equal(a->indices, b->indices, true) &&
         array_equal(a->data, b->data, true);
}

/* Equality of two factors of one Type, as far as their determinants (least squares: their ranks) tell. */
static bool same_factor(damo_factor *a, damo_factor *b) {
  double log_a, log_b;
  damo_c128 sign_a, sign_b;
  if (factor_get_info(a).least_squares) return factor_rank(a) == factor_rank(b);
  if (factor_logdet(a, &log_a, &sign_a) != DAMO_OK || factor_logdet(b, &log_b, &sign_b) != DAMO_OK) {
    ctx_clear_error(((damo_obj *)a)->ctx);
    return false;
  }
  return log_a == log_b && sign_a.re == sign_b.re && sign_a.im == sign_b.im;
}

bool type_values_equal(const damo_type *t, const damo_obj *a, const damo_obj *b) {
  if (a == b) return true;
  if (!type_is_valid(t, a) || !type_is_valid(t, b) || a->kind != b->kind) return false;
  if (a->kind == OBJ_FACTOR) return same_factor((damo_factor *)(uintptr_t)a, (damo_factor *)(uintptr_t)b);
  if (a->kind == OBJ_SPARSE) return type_same_storage((const damo_sparse *)a, (const damo_sparse *)b);
  return a->kind == OBJ_ARRAY && array_equal((const damo_array *)a, (const damo_array *)b, true);
}

damo_array *value_array(const damo_obj *v) {
  if (v == NULL) return NULL;
  if (v->kind == OBJ_SPARSE) return ((const damo_sparse *)v)->data;
  return v->kind == OBJ_ARRAY ? (damo_array *)(uintptr_t)v : NULL;
}

const int64_t *value_shape(const damo_obj *v, int *ndim) {
  if (v->kind == OBJ_SPARSE) {
    *ndim = 2;
    return ((const damo_sparse *)v)->shape;
  }
  *ndim = v->kind == OBJ_ARRAY ? ((const damo_array *)v)->ndim : 0;
  return v->kind == OBJ_ARRAY ? array_shape((const damo_array *)v) : NULL;
}

damo_obj *value_copy(damo_obj *v) {
  if (v->kind == OBJ_SPARSE) return (damo_obj *)sparse_copy((damo_sparse *)v);
  return v->kind == OBJ_ARRAY ? (damo_obj *)array_copy((damo_array *)v) : damo_retain(v);
}

static void *stays_at_home(damo_ctx *ctx, const damo_obj *v) {
  ctx_fail(ctx, DAMO_ESTATE, "%s can't be used in another context",
           v->kind == OBJ_FACTOR ? "a factorization" : "a value that is no Array and no sparse matrix");
  return NULL;
}

void value_print(strbuf *out, const damo_obj *v) {
  if (v->kind == OBJ_ARRAY) {
    array_format(out, (const damo_array *)v);
  } else if (v->kind == OBJ_SPARSE) {
    sparse_print(out, (const damo_sparse *)v);
  } else {
    strbuf_add(out, "a value");
  }
}

damo_obj *value_copy_to(damo_ctx *ctx, const damo_obj *v) {
  if (v->kind == OBJ_SPARSE) return (damo_obj *)sparse_copy_to(ctx, (const damo_sparse *)v);
  return v->kind == OBJ_ARRAY ? (damo_obj *)array_copy_to(ctx, (const damo_array *)v) : stays_at_home(ctx, v);
}

damo_obj *value_lend(damo_ctx *ctx, const damo_obj *v) {
  if (v->kind == OBJ_SPARSE) return (damo_obj *)sparse_lend(ctx, (const damo_sparse *)v);
  return v->kind == OBJ_ARRAY ? (damo_obj *)array_lend(ctx, (const damo_array *)v) : stays_at_home(ctx, v);
}

bool value_may_overlap(const damo_obj *a, const damo_obj *b) {
  const damo_array *x = value_array(a), *y = value_array(b);
  return x != NULL && y != NULL && array_may_overlap(x, y);
}

damo_status type_register(damo_ctx *ctx) {
  DAMO_TRY(intern_register(ctx, CTX_TYPES));
  ctx_register_kind(ctx, OBJ_TYPE, type_destroy, NULL);
  return pattern_register(ctx);
}
