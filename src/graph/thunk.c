/* thunk.c: making nodes runnable, and the memory of a kernel's outputs. */
#include "graph_int.h"
#include "sparse/sparse.h"

#include <string.h>

#define SCRATCH_ALIGN 64

/* ---- The fixed part ---------------------------------------------------------------------------------------------- */

static damo_status run_missing(const thunk *t, frame *f) {
  return ctx_fail(f->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no native code to run", thunk_name(t));
}

/* Calls the function that the Op's make_thunk chose, which may differ between frames. */
static damo_status run_made(const thunk *t, frame *f) { return thunk_local_of(t, f)->run(t, f); }

damo_status thunk_check(const thunk *t, const frame *f) {
  for (int o = 0; o < t->n_out; o++) {
    const damo_obj *v = thunk_result(t, f, o);
    const char *why = NULL;
    if (v == NULL) {
      why = "it is left empty";
    } else if (v->kind == OBJ_ARRAY) {
      array_check((const damo_array *)v, &why);
    } else if (v->kind == OBJ_SPARSE) {
      sparse_check((const damo_sparse *)v, &why);
    }
    if (why == NULL && !type_is_valid(t->node->out[o]->type, v)) why = "it is no value of its Type";
    if (why == NULL) continue;
    return ctx_fail(f->ctx, DAMO_EINCONSISTENCY, "%s: its output %d is unsound: %s", thunk_name(t), o + 1, why);
  }
  return DAMO_OK;
}

#ifdef DAMO_DEBUG
/* DEBUG mode checks by itself, and says more. */
static damo_status run_checked(const thunk *t, frame *f) {
  DAMO_TRY(run_made(t, f));
  return f->watched || thunk_n_need(t, f) > 0 ? DAMO_OK : thunk_check(t, f);
}
#endif

/* What runs t in every frame, once it is made in this one. */
static thunk_run_fn run_in_frames(const thunk *t, const frame *f) {
#ifdef DAMO_DEBUG
  (void)t, (void)f;
  return run_checked;
#else
  return t->node->op->def->make_thunk != NULL ? run_made : thunk_local_of(t, f)->run;
#endif
}

static void thunk_fill(thunk *t, damo_apply *node, int32_t number, const int32_t *slots) {
  const op_def *def = node->op->def;
  t->run = def->perform != NULL ? def->perform : def->perform_lua != NULL ? def->perform_lua : run_missing;
  t->node = damo_retain(node);
  t->n_in = node->n_in;
  t->n_out = node->n_out;
  t->in = slots;
  t->out = slots + t->n_in;
  t->number = number;
}

static size_t slot_bytes(const damo_apply *node) {
  return ((size_t)node->n_in + (size_t)node->n_out) * sizeof(int32_t);
}

thunk *thunk_new(damo_ctx *ctx, damo_apply *node, int32_t number, const int32_t *slots) {
  damo_assert(number >= 0);
  thunk *t = mem_calloc(ctx, sizeof *t + slot_bytes(node));
  if (t == NULL) return NULL;
  memcpy(t + 1, slots, slot_bytes(node));
  thunk_fill(t, node, number, (const int32_t *)(t + 1));
  return t;
}

void thunk_free(damo_ctx *ctx, thunk *t) {
  if (t == NULL) return;
  damo_apply *node = t->node;
  mem_free(ctx, t, sizeof *t + slot_bytes(node));
  damo_release(node);
}

size_t thunk_state_size(const thunk *t) { return t->node->op->def->state_size; }
const char *thunk_name(const thunk *t) { return t->node->op->def->name; }

/* Makes the error of the context name a copy of a node of a frozen context, with the graph above it (other contexts may be
 * changing just now). Returns whether it does: the error stays as it is if there is no memory for the copy. */
static bool blame_copy(damo_ctx *ctx, const damo_apply *node) {
  const ctx_error error = ctx->error;
  if (!node->obj.ctx->frozen || error.status == DAMO_EMEMORY || error.node != NULL) return false;
  graph_copier c;
  copier_init(&c, ctx);
  const damo_var *out = copier_var(&c, node->out[0]);
  ctx_clear_error(ctx);
  ctx->error = error;
  if (out != NULL) ctx_fail_at(ctx, node->op->def->name, out->owner);
  copier_clear(&c);
  return out != NULL;
}

void thunk_blame(const thunk *t, frame *f) {
  const damo_apply *node = t->node;
  if (f->ctx->error.operands[0] == '\0') thunk_fail_operands(t, f);
  if (node->obj.ctx == f->ctx) {
    ctx_fail_at(f->ctx, thunk_name(t), t->node);
    return;
  }
  /* The node's reference count belongs to another context, so the error can't hold it. */
  if (damo_error_op(f->ctx) == NULL && !blame_copy(f->ctx, node) && node->trace != NULL)
    ctx_fail_add(f->ctx, "at %.*s", (int)strcspn(node->trace->text, "\n"), node->trace->text);
  ctx_fail_at(f->ctx, thunk_name(t), NULL);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

damo_status thunk_make_default(const thunk *t, frame *f, const thunk_request *how) {
  const op_def *def = t->node->op->def;
  bool lua = strcmp(how->impl, "lua") == 0;
  /* An Op without code in Lua runs its native perform for "lua" too, which a script can call. */
  thunk_run_fn run = lua && def->perform_lua != NULL ? def->perform_lua : def->perform;
  if (run == NULL) {
    return ctx_fail(f->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no %s code to run", def->name, lua ? "Lua" : "native");
  }
  thunk_set_run(t, f, run);
  return def->lazy ? thunk_set_lazy(t, f) : DAMO_OK;
}

static damo_status make_in(const thunk *t, frame *f, const thunk_request *how) {
  const op_def *def = t->node->op->def;
  return def->make_thunk != NULL ? def->make_thunk(t, f, how) : thunk_make_default(t, f, how);
}

/* Makes t in its first frame by one implementation. */
static damo_status make_by(thunk *t, frame *f, const thunk_request *how, const char *impl) {
  const op_def *def = t->node->op->def;
  thunk_request one = *how;
  one.impl = impl;
  if (def->prepare_node != NULL) DAMO_TRY(def->prepare_node(t->node, impl));
  DAMO_TRY(make_in(t, f, &one));
  t->impl = impl;
  t->run = run_in_frames(t, f);
  return DAMO_OK;
}

static damo_status make_by_any(thunk *t, frame *f, const thunk_request *how) {
  const op_def *def = t->node->op->def;
  if (how->impl != NULL) return make_by(t, f, how, strcmp(how->impl, "lua") == 0 ? "lua" : "c");
  if (def->make_thunk == NULL && def->perform == NULL && def->perform_lua != NULL) return make_by(t, f, how, "lua");
  damo_status s = make_by(t, f, how, "c");
  bool has_lua = def->make_thunk != NULL || def->perform_lua != NULL;
  if (s != DAMO_ENOT_IMPLEMENTED || !has_lua) return s;
  ctx_clear_error(f->ctx);
  return make_by(t, f, how, "lua");
}

/* In reproducible mode: not_implemented if a library computes the node's results. */
static damo_status thunk_check_library(const thunk *t, const frame *f) {
  const damo_op *of = t->node->op;
  const op_def *def = of->def;
  const char *library = def->library_of != NULL ? def->library_of(t->node, &of) : def->library;
  if (library == NULL) return DAMO_OK;
  strbuf name;
  strbuf_init(&name, f->ctx);
  op_format(&name, of);
  const damo_status s = ctx_fail(
      f->ctx, DAMO_ENOT_IMPLEMENTED,
      "%s can't be in a Function of a reproducible mode: it is computed by %s, whose bits depend on the machine",
      name.failed ? def->name : name.at, library);
  strbuf_clear(&name);
  return s;
}

/* A graph inside of t's Op is compiled now, so that what it can't hold is told now. */
static damo_status thunk_make_reproducible(thunk *t, frame *f, const thunk_request *how) {
  const op_def *def = t->node->op->def;
  DAMO_TRY(thunk_check_library(t, f));
  DAMO_TRY(make_by_any(t, f, how));
  return def->inner_graph != NULL && def->prepare_foreign != NULL ? def->prepare_foreign(t, f) : DAMO_OK;
}

damo_status thunk_make(thunk *t, frame *f, const thunk_request *how) {
  static const thunk_request any = {0};
  if (how == NULL) how = &any;
  damo_status s = f->ctx->reproducible ? thunk_make_reproducible(t, f, how) : make_by_any(t, f, how);
  if (s != DAMO_OK) thunk_blame(t, f);
  return s;
}

damo_status thunk_join(const thunk *t, frame *f, const thunk_request *how) {
  thunk_request same = *how;
  same.impl = t->impl;
  const op_def *def = t->node->op->def;
  damo_status s = make_in(t, f, &same);
  const bool foreign = f->ctx != t->node->obj.ctx;
  if (s == DAMO_OK && foreign && def->prepare_foreign != NULL) s = def->prepare_foreign(t, f);
  if (s != DAMO_OK) thunk_blame(t, f);
  return s;
}

static size_t need_bytes(const thunk *t) { return (size_t)t->n_in * (sizeof(int32_t) + 1); }

damo_status thunk_set_lazy(const thunk *t, frame *f) {
  thunk_local *local = thunk_local_of(t, f);
  if (local->lazy) return DAMO_OK;
  local->need = mem_calloc(f->ctx, need_bytes(t));
  if (local->need == NULL) return DAMO_EMEMORY;
  local->lazy = true;
  return DAMO_OK;
}

void thunk_need(const thunk *t, frame *f, int i) {
  thunk_local *local = thunk_local_of(t, f);
  if (local->lazy && local->n_need < t->n_in) local->need[local->n_need++] = i;
}

int thunk_taken(const thunk *t, const frame *f) { return t->node->op->def->branches->taken(t, f); }

void thunk_tell_branch(const thunk *t, frame *f) {
  thunk_local *local = thunk_local_of(t, f);
  const int taken = thunk_taken(t, f);
  local->in_ready = (uint8_t *)(local->need + t->n_in);
  for (int i = 0; i < t->n_in; i++)
    local->in_ready[i] = i == 0 || t->node->op->def->branches->of_input(t->node, i) == taken;
}

static void scratch_free(frame *f, thunk_local *local) {
  if (local->scratch == NULL) return;
  mem_free(f->ctx, ((void **)local->scratch)[-1], local->scratch_size + SCRATCH_ALIGN + sizeof(void *));
}

void thunk_drop_scratch(const thunk *t, frame *f) {
  thunk_local *local = thunk_local_of(t, f);
  scratch_free(f, local);
  local->scratch = NULL;
  local->scratch_size = 0;
}

void thunk_leave(const thunk *t, frame *f) {
  const op_def *def = t->node->op->def;
  thunk_local *local = thunk_local_of(t, f);
  if (local->user_clear != NULL) local->user_clear(t, f);
  if (def->state_clear != NULL) def->state_clear(t, f);
  scratch_free(f, local);
  if (local->need != NULL) mem_free(f->ctx, local->need, need_bytes(t));
  if (local->out_fixed != NULL) mem_free(f->ctx, local->out_fixed, (size_t)t->n_out);
}

void *thunk_scratch(const thunk *t, frame *f, size_t size) {
  thunk_local *local = thunk_local_of(t, f);
  if (local->scratch != NULL && local->scratch_size >= size) return local->scratch;
  size_t whole;
  if (!size_add(size, SCRATCH_ALIGN + sizeof(void *), &whole)) {
    ctx_fail_memory(f->ctx);
    return NULL;
  }
  char *block = mem_alloc(f->ctx, whole);
  if (block == NULL) return NULL;
  scratch_free(f, local);
  uintptr_t start = ((uintptr_t)block + sizeof(void *) + SCRATCH_ALIGN - 1) & ~(uintptr_t)(SCRATCH_ALIGN - 1);
  local->scratch = (void *)start;
  damo_assert(start + size <= (uintptr_t)block + whole);
  local->scratch_size = size;
  ((void **)local->scratch)[-1] = block; /* address of the allocation, for scratch_free */
  return local->scratch;
}

/* ---- One node by itself ------------------------------------------------------------------------------------------ */

/* The state is stored behind the slots. */
static size_t alone_state_at(const damo_apply *node) {
  return (sizeof(thunk_alone) + slot_bytes(node) + 15) & ~(size_t)15;
}

static size_t alone_bytes(const damo_apply *node) { return alone_state_at(node) + node->op->def->state_size; }

thunk_alone *thunk_alone_new(damo_ctx *ctx, damo_apply *node, cell *cells, const int32_t *slots,
                             const thunk_request *how) {
  thunk_alone *a = mem_calloc(ctx, alone_bytes(node));
  if (a == NULL) return NULL;
  int32_t *own = (int32_t *)(a + 1);
  for (int i = 0; i < node->n_in + node->n_out; i++) own[i] = slots != NULL ? slots[i] : i;
  thunk_fill(&a->t, node, 0, own);
  a->f = (frame){.ctx = ctx, .cells = cells, .locals = &a->local};
  a->local.state = (char *)a + alone_state_at(node);
  if (thunk_make(&a->t, &a->f, how) == DAMO_OK) return a;
  thunk_alone_free(a);
  return NULL;
}

void thunk_alone_free(thunk_alone *a) {
  if (a == NULL) return;
  damo_apply *node = a->t.node;
  thunk_leave(&a->t, &a->f);
  mem_free(a->f.ctx, a, alone_bytes(node));
  damo_release(node);
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

void thunk_set_out(const thunk *t, frame *f, int i, damo_obj *take_value) {
  damo_assert(i >= 0 && i < t->n_out);
  cell *c = &f->cells[t->out[i]];
  damo_obj *old = *c;
  *c = take_value;
  damo_release(old);
}

damo_status thunk_fix_out(const thunk *t, frame *f, int i, bool fixed) {
  thunk_local *local = thunk_local_of(t, f);
  if (local->out_fixed == NULL && !fixed) return DAMO_OK;
  if (local->out_fixed == NULL && (local->out_fixed = mem_calloc(f->ctx, (size_t)t->n_out)) == NULL) {
    return DAMO_EMEMORY;
  }
  local->out_fixed[i] = fixed;
  return DAMO_OK;
}

/* The cell's array if output i can be written into it: of that dtype and shape, writeable, and either held by nobody
 * else or a caller's (thunk_fix_out). Else NULL. */
static damo_array *thunk_reusable(const thunk *t, const frame *f, int i, damo_dtype dtype, int ndim,
                                  const int64_t *shape) {
  damo_obj *v = thunk_result(t, f, i);
  if (v == NULL || v->kind != OBJ_ARRAY) return NULL;
  damo_array *a = (damo_array *)v;
  if (a->buf == NULL || !a->writeable || array_dtype(a) != dtype || a->ndim != ndim) return NULL;
  for (int k = 0; k < ndim; k++) {
    if (array_shape(a)[k] != shape[k]) return NULL;
  }
  return array_is_exclusive(a) || thunk_out_is_fixed(t, f, i) ? a : NULL;
}

/* Below this size a buffer may be any larger than its array; else at most twice as large. */
#define FITS_ANYWAY ((size_t)4096)

/* The cell's array, if its buffer has space for that shape and not much more. */
static damo_array *thunk_refit(const thunk *t, const frame *f, int i, damo_dtype dtype, int ndim,
                               const int64_t *shape) {
  damo_array *a = (damo_array *)thunk_result(t, f, i);
  if (a == NULL || a->obj.kind != OBJ_ARRAY || a->ndim != ndim || array_dtype(a) != dtype) return NULL;
  if (!array_is_exclusive(a) || array_is_part(a) || thunk_out_is_fixed(t, f, i)) return NULL;
  size_t bytes = dtype_size(dtype);
  for (int k = 0; k < ndim; k++) {
    if (shape[k] < 0 || !size_mul(bytes, (size_t)shape[k], &bytes)) return NULL;
  }
  if (bytes > a->buf->nbytes || (a->buf->nbytes > FITS_ANYWAY && bytes < a->buf->nbytes / 2)) return NULL;
  array_refit(a, shape);
  return a;
}

damo_array *thunk_out_own(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = thunk_refit(t, f, i, dtype, ndim, shape);
  if (a != NULL) return a;
  a = array_empty(f->ctx, dtype, ndim, shape);
  if (a != NULL) thunk_set_out(t, f, i, (damo_obj *)a);
  return a;
}

static damo_array *thunk_make_out(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  if (f->make_out != NULL) return f->make_out(f, t, i, dtype, ndim, shape);
  return thunk_out_own(t, f, i, dtype, ndim, shape);
}

damo_array *thunk_out_strided(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = thunk_reusable(t, f, i, dtype, ndim, shape);
  return a != NULL ? a : thunk_make_out(t, f, i, dtype, ndim, shape);
}

damo_array *thunk_out(const thunk *t, frame *f, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = thunk_reusable(t, f, i, dtype, ndim, shape);
  if (a != NULL && array_is_contiguous(a)) return a;
  return thunk_make_out(t, f, i, dtype, ndim, shape);
}

damo_status thunk_out_view(const thunk *t, frame *f, int i, const damo_array *base, int ndim, const int64_t *shape,
                           const int64_t *strides, int64_t offset) {
  damo_array *a = (damo_array *)thunk_result(t, f, i);
  if (a != NULL && a->obj.kind == OBJ_ARRAY && a->obj.refs == 1 && a->ndim == ndim && a != base) {
    array_reseat(a, base, shape, strides, offset);
    return DAMO_OK;
  }
  damo_array *view = array_view(base, ndim, shape, strides, offset);
  if (view == NULL) return DAMO_EMEMORY;
  thunk_set_out(t, f, i, (damo_obj *)view);
  return DAMO_OK;
}

bool op_alias_has(const op_alias *a, int out, int in) {
  for (; a != NULL && a->out >= 0; a++) {
    if ((out < 0 || a->out == out) && (in < 0 || a->in == in)) return true;
  }
  return false;
}

damo_array *thunk_out_inplace(const thunk *t, frame *f, int i, int j) {
  damo_array *x = thunk_in(t, f, j);
  if (op_alias_has(t->node->op->destroy_map, i, j) && x->writeable) {
    if (thunk_result(t, f, i) != (damo_obj *)x) thunk_set_out(t, f, i, damo_retain(x));
    return x;
  }
  damo_array *a = thunk_out(t, f, i, array_dtype(x), x->ndim, array_shape(x));
  if (a == NULL || array_assign(a, x) != DAMO_OK) return NULL;
  return a;
}
