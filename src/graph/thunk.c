/* thunk.c: a node made runnable, and how a kernel gets the memory of its outputs. */
#include "graph_int.h"

#include <string.h>

#define SCRATCH_ALIGN 64

static damo_status run_missing(thunk *t) {
  return ctx_fail(t->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no native code to run", t->node->op->def->name);
}

static size_t thunk_bytes(int n_in, int n_out, size_t state) {
  return sizeof(thunk) + ((size_t)n_in + (size_t)n_out) * sizeof(cell *) + state;
}

thunk *thunk_new(damo_ctx *ctx, damo_apply *node, cell **in, cell **out) {
  const op_def *def = node->op->def;
  thunk *t = mem_calloc(ctx, thunk_bytes(node->n_in, node->n_out, def->state_size));
  if (t == NULL) return NULL;
  t->run = def->perform != NULL ? def->perform : def->perform_lua != NULL ? def->perform_lua : run_missing;
  t->ctx = ctx;
  t->node = damo_retain(node);
  t->n_in = node->n_in;
  t->n_out = node->n_out;
  t->in = (cell **)(t + 1);
  t->out = t->in + t->n_in;
  t->state = t->out + t->n_out;
  memcpy(t->in, in, (size_t)t->n_in * sizeof *in);
  memcpy(t->out, out, (size_t)t->n_out * sizeof *out);
  return t;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

damo_status thunk_make_default(thunk *t, const thunk_request *how) {
  const op_def *def = t->node->op->def;
  bool lua = strcmp(how->impl, "lua") == 0;
  /* An Op without code in Lua has a perform all the same, which a script can call. */
  damo_status (*run)(thunk *) = lua && def->perform_lua != NULL ? def->perform_lua : def->perform;
  if (run == NULL) {
    return ctx_fail(t->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no %s code to run", def->name, lua ? "Lua" : "native");
  }
  t->run = run;
  return def->lazy ? thunk_set_lazy(t) : DAMO_OK;
}

/* Makes t by one implementation. */
static damo_status make_by(thunk *t, const thunk_request *how, const char *impl) {
  const op_def *def = t->node->op->def;
  thunk_request one = *how;
  one.impl = impl;
  if (def->prepare_node != NULL) DAMO_TRY(def->prepare_node(t->node, impl));
  return def->make_thunk != NULL ? def->make_thunk(t, &one) : thunk_make_default(t, &one);
}

static damo_status make_by_any(thunk *t, const thunk_request *how) {
  const op_def *def = t->node->op->def;
  if (how->impl != NULL) return make_by(t, how, how->impl);
  if (def->make_thunk == NULL && def->perform == NULL && def->perform_lua != NULL) return make_by(t, how, "lua");
  damo_status s = make_by(t, how, "c");
  bool has_lua = def->make_thunk != NULL || def->perform_lua != NULL;
  if (s != DAMO_ENOT_IMPLEMENTED || !has_lua) return s;
  ctx_clear_error(t->ctx);
  return make_by(t, how, "lua");
}

thunk *thunk_make(damo_ctx *ctx, damo_apply *node, cell **in, cell **out, const thunk_request *how) {
  static const thunk_request any = {0};
  thunk *t = thunk_new(ctx, node, in, out);
  if (t == NULL) return NULL;
  if (make_by_any(t, how != NULL ? how : &any) == DAMO_OK) return t;
  ctx_fail_at(ctx, node->op->def->name, node);
  thunk_free(t);
  return NULL;
}

damo_status thunk_set_lazy(thunk *t) {
  if (t->lazy) return DAMO_OK;
  size_t n = (size_t)t->n_in;
  t->need = mem_calloc(t->ctx, n * (sizeof *t->need + 1));
  if (t->need == NULL) return DAMO_EMEMORY;
  t->lazy = true;
  return DAMO_OK;
}

void thunk_need(thunk *t, int i) {
  if (t->lazy && t->n_need < t->n_in) t->need[t->n_need++] = i;
}

void thunk_free(thunk *t) {
  if (t == NULL) return;
  const op_def *def = t->node->op->def;
  if (t->user_clear != NULL) t->user_clear(t);
  if (def->state_clear != NULL) def->state_clear(t);
  if (t->scratch != NULL) mem_free(t->ctx, ((void **)t->scratch)[-1], t->scratch_size + SCRATCH_ALIGN + sizeof(void *));
  damo_ctx *ctx = t->ctx;
  damo_apply *node = t->node;
  if (t->need != NULL) mem_free(ctx, t->need, (size_t)t->n_in * (sizeof *t->need + 1));
  if (t->out_fixed != NULL) mem_free(ctx, t->out_fixed, (size_t)t->n_out);
  mem_free(ctx, t, thunk_bytes(t->n_in, t->n_out, def->state_size));
  damo_release(node);
}

void *thunk_scratch(thunk *t, size_t size) {
  if (t->scratch != NULL && t->scratch_size >= size) return t->scratch;
  size_t whole;
  if (!size_add(size, SCRATCH_ALIGN + sizeof(void *), &whole)) {
    ctx_fail_memory(t->ctx);
    return NULL;
  }
  char *block = mem_alloc(t->ctx, whole);
  if (block == NULL) return NULL;
  if (t->scratch != NULL) mem_free(t->ctx, ((void **)t->scratch)[-1], t->scratch_size + SCRATCH_ALIGN + sizeof(void *));
  uintptr_t start = ((uintptr_t)block + sizeof(void *) + SCRATCH_ALIGN - 1) & ~(uintptr_t)(SCRATCH_ALIGN - 1);
  t->scratch = (void *)start;
  t->scratch_size = size;
  ((void **)t->scratch)[-1] = block; /* where to free from */
  return t->scratch;
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

void thunk_set_out(thunk *t, int i, damo_obj *take_value) {
  damo_obj *old = *t->out[i];
  *t->out[i] = take_value;
  damo_release(old);
}

/* What the cell holds, if it can be written as that output. */
static damo_array *thunk_reusable(const thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_obj *v = *t->out[i];
  if (v == NULL || v->kind != OBJ_ARRAY) return NULL;
  damo_array *a = (damo_array *)v;
  if (a->buf == NULL || !a->writeable || array_dtype(a) != dtype || a->ndim != ndim) return NULL;
  for (int k = 0; k < ndim; k++) {
    if (array_shape(a)[k] != shape[k]) return NULL;
  }
  bool callers = t->out_fixed != NULL && t->out_fixed[i];
  return callers || array_is_exclusive(a) ? a : NULL;
}

damo_array *thunk_out_strided(thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = thunk_reusable(t, i, dtype, ndim, shape);
  if (a != NULL) return a;
  a = array_empty(t->ctx, dtype, ndim, shape);
  if (a != NULL) thunk_set_out(t, i, (damo_obj *)a);
  return a;
}

damo_array *thunk_out(thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = thunk_reusable(t, i, dtype, ndim, shape);
  if (a != NULL && array_is_contiguous(a)) return a;
  a = array_empty(t->ctx, dtype, ndim, shape);
  if (a != NULL) thunk_set_out(t, i, (damo_obj *)a);
  return a;
}

damo_status thunk_out_view(thunk *t, int i, const damo_array *base, int ndim, const int64_t *shape,
                           const int64_t *strides, int64_t offset) {
  damo_array *a = (damo_array *)*t->out[i];
  if (a != NULL && a->obj.kind == OBJ_ARRAY && a->obj.refs == 1 && a->ndim == ndim && a != base) {
    array_reseat(a, base, shape, strides, offset);
    return DAMO_OK;
  }
  damo_array *view = array_view(base, ndim, shape, strides, offset);
  if (view == NULL) return DAMO_EMEMORY;
  thunk_set_out(t, i, (damo_obj *)view);
  return DAMO_OK;
}

bool op_alias_has(const op_alias *a, int out, int in) {
  for (; a != NULL && a->out >= 0; a++) {
    if ((out < 0 || a->out == out) && (in < 0 || a->in == in)) return true;
  }
  return false;
}

damo_array *thunk_out_inplace(thunk *t, int i, int j) {
  damo_array *x = thunk_in(t, j);
  if (op_alias_has(t->node->op->destroy_map, i, j) && x->writeable) {
    if (*t->out[i] != (damo_obj *)x) thunk_set_out(t, i, damo_retain(x));
    return x;
  }
  damo_array *a = thunk_out(t, i, array_dtype(x), x->ndim, array_shape(x));
  if (a == NULL || array_assign(a, x) != DAMO_OK) return NULL;
  return a;
}
