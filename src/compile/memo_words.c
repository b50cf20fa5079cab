/* memo_words.c: Types, Ops and small constants as words, and back. */
#include "memo.h"

#include <string.h>

void memo_words_init(memo_words *w, damo_ctx *ctx, ptrvec *foreign, bool is_key) {
  *w = (memo_words){.ctx = ctx, .foreign = foreign, .is_key = is_key, .possible = true};
  map_init(&w->numbers, ctx);
}

void memo_words_clear(memo_words *w) {
  if (w->at != NULL) mem_free(w->ctx, w->at, (size_t)w->cap * sizeof *w->at);
  w->at = NULL;
  map_clear(&w->numbers);
}

int32_t memo_number(const memo_words *w, const void *of) {
  uintptr_t number = 0;
  map_get(&w->numbers, of, &number);
  return (int32_t)number - 1;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static damo_status words_grow(memo_words *w, int64_t n) {
  int64_t cap = w->cap == 0 ? 256 : 2 * w->cap;
  while (cap < n) cap *= 2;
  uint32_t *grown = mem_realloc(w->ctx, w->at, (size_t)w->cap * sizeof *grown, (size_t)cap * sizeof *grown);
  if (grown == NULL) return DAMO_EMEMORY;
  w->at = grown;
  w->cap = cap;
  return DAMO_OK;
}

damo_status memo_put(memo_words *w, uint32_t word) {
  if (w->n == w->cap) DAMO_TRY(words_grow(w, w->n + 1));
  w->at[w->n++] = word;
  return DAMO_OK;
}

damo_status memo_put_long(memo_words *w, uint64_t x) {
  DAMO_TRY(memo_put(w, (uint32_t)x));
  return memo_put(w, (uint32_t)(x >> 32));
}

static int64_t words_of(size_t bytes) { return (int64_t)((bytes + 3) / 4); }

damo_status memo_put_bytes(memo_words *w, const void *at, size_t bytes) {
  const int64_t n = words_of(bytes);
  if (w->n + n > w->cap) DAMO_TRY(words_grow(w, w->n + n));
  if (n == 0) return DAMO_OK;
  w->at[w->n + n - 1] = 0;
  memcpy(w->at + w->n, at, bytes);
  w->n += n;
  return DAMO_OK;
}

/* Its bytes with the end, after their number. */
damo_status memo_put_text(memo_words *w, const char *text) {
  const size_t bytes = text != NULL ? strlen(text) + 1 : 0;
  DAMO_TRY(memo_put(w, (uint32_t)bytes));
  return memo_put_bytes(w, text, bytes);
}

/* Types with a pattern, which may be large, and those without values are not written. */
damo_status memo_put_type(memo_words *w, const damo_type *t) {
  const int32_t known = memo_number(w, t);
  if (known >= 0) return memo_put(w, (uint32_t)known);
  if (t->pattern != NULL || t->kind == TYPE_NULL || t->kind == TYPE_DISCONNECTED) w->possible = false;
  DAMO_TRY(map_put(&w->numbers, t, (uintptr_t)++w->n_types));
  DAMO_TRY(memo_put(w, (uint32_t)w->n_types - 1));
  DAMO_TRY(memo_put(w, (uint32_t)t->kind | (uint32_t)t->dtype << 8 | (uint32_t)t->format << 16));
  DAMO_TRY(memo_put(w, (uint32_t)t->itype | (uint32_t)t->ndim << 8));
  const bool shaped = type_has_shape(t) || type_is_factor(t);
  for (int d = 0; shaped && d < t->ndim; d++) DAMO_TRY(memo_put_long(w, (uint64_t)t->shape[d]));
  return DAMO_OK;
}

/* Nesting is bounded by what the property of an Op may hold. */
static damo_status put_prop(memo_words *w, const prop_value *p) {
  DAMO_TRY(memo_put(w, (uint32_t)p->kind | (uint32_t)(p->kind == PROP_LIST ? p->n : 0) << 4));
  switch (p->kind) {
    case PROP_NIL: return DAMO_OK;
    case PROP_BOOL:
    case PROP_INT: return memo_put_long(w, (uint64_t)p->u.i);
    case PROP_NUM: return memo_put_bytes(w, &p->u.f, sizeof p->u.f);
    case PROP_STR: return memo_put_text(w, p->u.s);
    case PROP_TYPE: return memo_put_type(w, p->u.type);
    case PROP_OP: return memo_put_op(w, p->u.op);
    case PROP_LIST:
      for (int i = 0; i < p->n; i++) DAMO_TRY(put_prop(w, &p->u.list[i]));
      return DAMO_OK;
    case PROP_VAR: w->possible = false; return DAMO_OK;
  }
  return DAMO_OK;
}

/* A foreign Op is written as its number, with the last bit set; a key writes its identity where it is met first. */
static damo_status put_foreign(memo_words *w, damo_op *op) {
  const int32_t known = memo_number(w, op);
  if (known >= 0 || !w->is_key) {
    w->possible = w->possible && known >= 0;
    return memo_put(w, (uint32_t)known << 1 | 1);
  }
  DAMO_TRY(ptrvec_push(w->foreign, op));
  DAMO_TRY(map_put(&w->numbers, op, (uintptr_t)w->foreign->n));
  DAMO_TRY(memo_put(w, (uint32_t)(w->foreign->n - 1) << 1 | 1));
  return memo_put_long(w, op->id);
}

damo_status memo_put_op(memo_words *w, damo_op *op) {
  if (op_is_foreign(op)) return put_foreign(w, op);
  const int32_t known = memo_number(w, op);
  if (known >= 0) return memo_put(w, (uint32_t)known << 1);
  DAMO_TRY(memo_put(w, UINT32_MAX - 1));
  DAMO_TRY(memo_put_long(w, (uint64_t)(uintptr_t)op->def));
  for (int i = 0; i < op->n_props; i++) DAMO_TRY(put_prop(w, &op->props[i]));
  return map_put(&w->numbers, op, (uintptr_t)++w->n_ops); /* the Ops among its properties have their numbers before */
}

const damo_array *memo_small_constant(const damo_var *v) {
  const damo_array *a = var_constant_array(v);
  if (a == NULL || !array_is_contiguous(a)) return NULL;
  return (size_t)array_size(a) * dtype_size(array_dtype(a)) <= MEMO_CONSTANT_BYTES ? a : NULL;
}

damo_status memo_put_constant(memo_words *w, const damo_var *v, const damo_array *a) {
  DAMO_TRY(memo_put_type(w, v->type));
  DAMO_TRY(memo_put(w, (uint32_t)v->weak | (uint32_t)a->ndim << 1 | (uint32_t)array_dtype(a) << 9));
  for (int d = 0; d < a->ndim; d++) DAMO_TRY(memo_put_long(w, (uint64_t)array_shape(a)[d]));
  return memo_put_bytes(w, a->data, (size_t)array_size(a) * dtype_size(array_dtype(a)));
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

void memo_reader_init(memo_reader *r, damo_ctx *ctx, const uint32_t *at, const ptrvec *foreign) {
  *r = (memo_reader){.ctx = ctx, .at = at, .foreign = foreign};
  ptrvec_init(&r->types, ctx);
  ptrvec_init(&r->ops, ctx);
}

void memo_reader_clear(memo_reader *r) {
  ptrvec_release_all(&r->types);
  ptrvec_release_all(&r->ops);
}

static void get_bytes(memo_reader *r, void *to, size_t bytes) {
  memcpy(to, r->at, bytes);
  r->at += words_of(bytes);
}

static uint64_t get_long(memo_reader *r) {
  const uint64_t low = memo_get(r);
  return low | (uint64_t)memo_get(r) << 32;
}

/* Appends what was made, which the list then owns, and gives it back; NULL on failure. */
static void *own(ptrvec *list, void *made) {
  if (made == NULL || ptrvec_push(list, made) == DAMO_OK) return made;
  damo_release(made);
  return NULL;
}

static damo_type *new_type(memo_reader *r) {
  const uint32_t what = memo_get(r), more = memo_get(r);
  const type_kind kind = (type_kind)(what & 255);
  const damo_dtype dtype = (damo_dtype)(what >> 8 & 255);
  const int ndim = (int)(more >> 8);
  int64_t shape[DAMO_MAX_NDIM];
  for (int d = 0; d < ndim; d++) shape[d] = (int64_t)get_long(r);
  switch (kind) {
    case TYPE_TENSOR: return type_tensor(r->ctx, dtype, ndim, shape);
    case TYPE_SPARSE: return type_sparse(r->ctx, (damo_format)(what >> 16), dtype, (damo_dtype)(more & 255), shape);
    case TYPE_FACTOR: return type_factor(r->ctx, dtype, shape, what >> 16 != 0);
    case TYPE_RANDOM: return type_random(r->ctx);
    case TYPE_GENERIC: return type_generic(r->ctx);
    case TYPE_NULL:
    case TYPE_DISCONNECTED: break;
  }
  damo_assert(false);
  return NULL;
}

damo_type *memo_get_type(memo_reader *r) {
  const uint32_t number = memo_get(r);
  return number < (uint32_t)r->types.n ? r->types.at[number] : own(&r->types, new_type(r));
}

/* Frees the lists in the first n properties. */
static void free_props(damo_ctx *ctx, prop_value *props, int n) {
  for (int i = 0; i < n; i++) {
    prop_value *list = (prop_value *)(uintptr_t)props[i].u.list;
    if (props[i].kind != PROP_LIST || list == NULL) continue;
    free_props(ctx, list, props[i].n);
    mem_free(ctx, list, (size_t)props[i].n * sizeof *list);
  }
}

static damo_status get_prop(memo_reader *r, prop_value *p) {
  const uint32_t what = memo_get(r);
  p->kind = (prop_kind)(what & 15);
  p->n = (int32_t)(what >> 4);
  switch (p->kind) {
    case PROP_BOOL:
    case PROP_INT: p->u.i = (int64_t)get_long(r); return DAMO_OK;
    case PROP_NUM: get_bytes(r, &p->u.f, sizeof p->u.f); return DAMO_OK;
    case PROP_STR: {
      const uint32_t bytes = memo_get(r);
      p->u.s = (const char *)r->at; /* as long as the words, which op_new copies */
      r->at += words_of(bytes);
      return DAMO_OK;
    }
    case PROP_TYPE: return (p->u.type = memo_get_type(r)) != NULL ? DAMO_OK : damo_error_status(r->ctx);
    case PROP_OP: return (p->u.op = memo_get_op(r)) != NULL ? DAMO_OK : damo_error_status(r->ctx);
    case PROP_LIST: {
      prop_value *list = mem_calloc(r->ctx, (size_t)p->n * sizeof *list);
      p->u.list = list;
      if (list == NULL) return DAMO_EMEMORY;
      for (int i = 0; i < p->n; i++) DAMO_TRY(get_prop(r, &list[i]));
      return DAMO_OK;
    }
    case PROP_NIL:
    case PROP_VAR: break;
  }
  return DAMO_OK;
}

static damo_op *new_op(memo_reader *r) {
  const op_def *def = (const op_def *)(uintptr_t)get_long(r); /* damo's own classes are static */
  const int n = op_fields_count(def->props);
  prop_value *props = n > 0 ? mem_calloc(r->ctx, (size_t)n * sizeof *props) : NULL;
  damo_status s = n > 0 && props == NULL ? DAMO_EMEMORY : DAMO_OK;
  for (int i = 0; i < n && s == DAMO_OK; i++) s = get_prop(r, &props[i]);
  damo_op *op = s == DAMO_OK ? op_new(r->ctx, def, props) : NULL;
  if (props == NULL) return op;
  free_props(r->ctx, props, n);
  mem_free(r->ctx, props, (size_t)n * sizeof *props);
  return op;
}

damo_op *memo_get_op(memo_reader *r) {
  const uint32_t number = memo_get(r);
  if (number == UINT32_MAX - 1) return own(&r->ops, new_op(r));
  return (number & 1) != 0 ? r->foreign->at[number >> 1] : r->ops.at[number >> 1];
}

damo_var *memo_get_constant(memo_reader *r) {
  damo_type *type = memo_get_type(r);
  if (type == NULL) return NULL;
  const uint32_t what = memo_get(r);
  const int ndim = (int)(what >> 1 & 255);
  int64_t shape[DAMO_MAX_NDIM];
  for (int d = 0; d < ndim; d++) shape[d] = (int64_t)get_long(r);
  damo_array *a = array_empty(r->ctx, (damo_dtype)(what >> 9), ndim, shape);
  if (a == NULL) return NULL;
  get_bytes(r, a->data, (size_t)array_size(a) * dtype_size(array_dtype(a)));
  damo_var *v = var_constant(r->ctx, type, &a->obj);
  damo_release(a);
  if (v != NULL) v->weak = (what & 1) != 0;
  return v;
}
