/* snapshot.c: the state of a Function as bytes: the values of its shared Variables, the states of its random streams
 * among them, and of its inputs with an update.
 *
 * magic, version, number of entries, fingerprint of the program, size, the entries, check sum; numbers little-endian.
 * Entries are values as bytes (sparse/bytes.c). Restoring makes all values before it changes one.
 */
#include "compile_int.h"
#include "sparse/sparse.h"

#include <string.h>

#define SNAPSHOT_MAGIC "DAMOSNAP"
#define SNAPSHOT_VERSION 1
#define SNAPSHOT_HEAD 32 /* bytes before the entries */
#define SNAPSHOT_TAIL 8  /* the check sum */

/* ---- The program's fingerprint ----------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t h, const char *text) {
  h = hash_mix(h, text != NULL ? strlen(text) + 1 : 0);
  for (; text != NULL && *text; text++) h = hash_mix(h, (unsigned char)*text);
  return h;
}

static uint64_t snap_hash_type(uint64_t h, const damo_type *t) {
  h = hash_mix(h, (uint64_t)t->kind << 32 | (uint64_t)t->dtype << 24 | (uint64_t)t->format << 16 | t->itype);
  h = hash_mix(h, (uint64_t)t->ndim);
  for (int i = 0; i < t->ndim; i++) h = hash_mix(h, (uint64_t)t->shape[i]);
  return hash_mix(h, t->pattern != NULL);
}

static uint64_t hash_op(uint64_t h, const damo_op *op);

static uint64_t hash_prop(uint64_t h, const prop_value *v) {
  uint64_t bits = 0;
  h = hash_mix(h, (uint64_t)v->kind);
  switch (v->kind) {
    case PROP_NIL:
    case PROP_VAR: break;
    case PROP_BOOL:
    case PROP_INT: return hash_mix(h, (uint64_t)v->u.i);
    case PROP_NUM: memcpy(&bits, &v->u.f, sizeof bits); return hash_mix(h, bits);
    case PROP_STR: return hash_text(h, v->u.s);
    case PROP_TYPE: return snap_hash_type(h, v->u.type);
    case PROP_OP: return hash_op(h, v->u.op);
    case PROP_LIST:
      h = hash_mix(h, (uint64_t)v->n);
      for (int i = 0; i < v->n; i++) h = hash_prop(h, &v->u.list[i]);
      break;
  }
  return h;
}

static uint64_t hash_op(uint64_t h, const damo_op *op) {
  h = hash_text(h, op->def->name);
  for (int i = 0; i < op->n_props; i++) h = hash_prop(h, &op->props[i]);
  return h;
}

/* Adds the numbers of an array; NULL: none. */
static damo_status hash_numbers(const damo_array *a, uint64_t *h) {
  if (a == NULL) return DAMO_OK;
  const size_t bytes = (size_t)array_size(a) * dtype_size(array_dtype(a));
  byte_writer w = {.at = mem_alloc(a->obj.ctx, bytes)};
  if (w.at == NULL) return DAMO_EMEMORY;
  bytes_put_numbers(&w, a);
  *h = hash_mix(*h, bytes_check_sum(w.at, bytes));
  mem_free(a->obj.ctx, w.at, bytes);
  return DAMO_OK;
}

static damo_status hash_leaf(const damo_var *v, uint64_t *h) {
  *h = snap_hash_type(hash_mix(*h, v->kind), v->type);
  if (v->kind == VAR_SHARED) *h = hash_text(*h, v->name);
  if (v->kind != VAR_CONSTANT || (v->value->kind != OBJ_ARRAY && v->value->kind != OBJ_SPARSE)) return DAMO_OK;
  if (v->value->kind == OBJ_SPARSE) {
    DAMO_TRY(hash_numbers(((const damo_sparse *)v->value)->indptr, h));
    DAMO_TRY(hash_numbers(((const damo_sparse *)v->value)->indices, h));
  }
  return hash_numbers(value_array(v->value), h);
}

/* Numbers the Variables in the order in which they are met: a leaf when a node reads it, outputs with their node. */
static damo_status hash_uses(map *numbers, damo_var *const *vars, int64_t n, uint64_t *h) {
  for (int64_t i = 0; i < n; i++) {
    uintptr_t number = 0;
    if (!map_get(numbers, vars[i], &number)) {
      number = numbers->n + 1;
      DAMO_TRY(map_put(numbers, vars[i], number));
      DAMO_TRY(hash_leaf(vars[i], h));
    }
    *h = hash_mix(*h, number);
  }
  return DAMO_OK;
}

static damo_status hash_nodes(const fn_program *p, const ptrvec *nodes, map *numbers, uint64_t *h) {
  for (int64_t i = 0; i < nodes->n; i++) {
    const damo_apply *node = nodes->at[i];
    *h = hash_op(*h, node->op);
    DAMO_TRY(hash_uses(numbers, node->in, node->n_in, h));
    for (int o = 0; o < node->n_out; o++) DAMO_TRY(map_put(numbers, node->out[o], numbers->n + 1));
  }
  DAMO_TRY(hash_uses(numbers, p->source, p->n_source, h));
  return DAMO_OK;
}

damo_status program_fingerprint(const fn_program *p) {
  uint64_t h = SNAPSHOT_VERSION;
  ptrvec nodes;
  map numbers;
  if (p->fingerprint != 0) return DAMO_OK;
  ptrvec_init(&nodes, p->ctx);
  map_init(&numbers, p->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < p->n_inputs && s == DAMO_OK; i++) {
    h = snap_hash_type(hash_text(h, p->inputs[i].name), p->inputs[i].var->type);
    s = map_put(&numbers, p->inputs[i].var, numbers.n + 1);
  }
  if (s == DAMO_OK) s = graph_toposort(p->ctx, p->source, p->n_source, NULL, 0, &nodes);
  if (s == DAMO_OK) s = hash_nodes(p, &nodes, &numbers, &h);
  for (int64_t i = 0; i < p->n_shared; i++) {
    const fn_shared *sh = &p->shared[i];
    h = hash_mix(h, (uint64_t)sh->input);
    if (sh->var != NULL) h = hash_text(snap_hash_type(h, sh->var->type), sh->var->name);
  }
  map_clear(&numbers);
  ptrvec_clear(&nodes);
  if (s == DAMO_OK) ((fn_program *)(uintptr_t)p)->fingerprint = h != 0 ? h : 1; /* a cache: nothing else changes */
  return s;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static damo_obj *snap_state(const damo_function *f, int64_t i) {
  const fn_shared *sh = &f->program->shared[i];
  return sh->var != NULL ? function_shared(f, i) : f->defaults[sh->input];
}

static damo_status state_fail(const damo_function *f, int64_t i, const char *why) {
  char name[160];
  const fn_shared *sh = &f->program->shared[i];
  const damo_var *v = sh->var != NULL ? sh->var : f->program->inputs[sh->input].var;
  return ctx_fail(f->obj.ctx, DAMO_ETYPE, "snapshot: %s %s", var_format(name, sizeof name, v), why);
}

static damo_status put_state(byte_writer *w, const damo_function *f, int64_t i) {
  const damo_obj *v = snap_state(f, i);
  if (v == NULL) {
    bytes_put(w, 0, 8);
    return DAMO_OK;
  }
  const damo_array *a = v->kind == OBJ_ARRAY || v->kind == OBJ_SPARSE ? value_array(v) : NULL;
  if (a == NULL) return state_fail(f, i, "has a value that is neither an array nor a sparse matrix");
  bytes_put_value(w, v);
  return DAMO_OK;
}

static damo_status check_still(const damo_function *f, const char *what) {
  if (f->freed) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "%s: the function was freed", what);
  if (f->running) return ctx_fail(f->obj.ctx, DAMO_ESTATE, "%s: the function is running", what);
  return f->obj.ctx == f->program->ctx ? program_fingerprint(f->program) : DAMO_OK;
}

static damo_status put_states(byte_writer *w, const damo_function *f, size_t size) {
  const fn_program *p = f->program;
  for (const char *m = SNAPSHOT_MAGIC; *m; m++) bytes_put(w, (unsigned char)*m, 1);
  bytes_put(w, SNAPSHOT_VERSION, 4);
  bytes_put(w, (uint64_t)p->n_shared, 4);
  bytes_put(w, p->fingerprint, 8);
  bytes_put(w, size, 8);
  for (int64_t i = 0; i < p->n_shared; i++) DAMO_TRY(put_state(w, f, i));
  return DAMO_OK;
}

damo_status function_snapshot(const damo_function *f, void *dst, size_t n, size_t *size) {
  byte_writer w = {.at = NULL};
  DAMO_TRY(check_still(f, "snapshot"));
  DAMO_TRY(put_states(&w, f, 0));
  *size = w.n + SNAPSHOT_TAIL;
  if (dst == NULL) return DAMO_OK;
  if (n < *size)
    return ctx_fail(f->obj.ctx, DAMO_EVALUE, "snapshot: it takes %zu bytes, there is space for %zu", *size, n);
  w = (byte_writer){.at = dst};
  DAMO_TRY(put_states(&w, f, *size));
  bytes_put(&w, bytes_check_sum(dst, w.n), 8);
  return DAMO_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static damo_status snap_damaged(damo_ctx *ctx) {
  return ctx_fail(ctx, DAMO_EVALUE, "restore: the snapshot is damaged");
}

static damo_status read_states(const damo_function *f, byte_reader *r, damo_obj **values) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < p->n_shared; i++) {
    const fn_shared *sh = &p->shared[i];
    const damo_type *type = sh->var != NULL ? sh->var->type : p->inputs[sh->input].var->type;
    bool none;
    values[i] = bytes_get_value(r, &none);
    if (r->bad) snap_damaged(r->ctx);
    if (values[i] == NULL && !(none && sh->var == NULL)) return none ? snap_damaged(r->ctx) : damo_error_status(r->ctx);
    if (values[i] != NULL && !type_is_valid(type, values[i])) return snap_damaged(r->ctx);
  }
  return r->left == 0 ? DAMO_OK : snap_damaged(r->ctx);
}

static damo_status check_head(const damo_function *f, const unsigned char *bytes, size_t n, byte_reader *r) {
  damo_ctx *ctx = f->obj.ctx;
  if (n < SNAPSHOT_HEAD + SNAPSHOT_TAIL || memcmp(bytes, SNAPSHOT_MAGIC, 8) != 0)
    return ctx_fail(ctx, DAMO_EVALUE, "restore: this is not a snapshot");
  *r = (byte_reader){.ctx = ctx, .at = bytes + 8, .left = n - 8};
  const uint64_t version = bytes_get(r, 4);
  if (version != SNAPSHOT_VERSION)
    return ctx_fail(ctx, DAMO_EVALUE, "restore: snapshots of version %llu are not known", (unsigned long long)version);
  const uint64_t entries = bytes_get(r, 4), fingerprint = bytes_get(r, 8), size = bytes_get(r, 8);
  if (size < SNAPSHOT_HEAD + SNAPSHOT_TAIL || size > n) return snap_damaged(ctx);
  n = (size_t)size;
  byte_reader tail = {.ctx = ctx, .at = bytes + n - SNAPSHOT_TAIL, .left = SNAPSHOT_TAIL};
  if (bytes_get(&tail, 8) != bytes_check_sum(bytes, n - SNAPSHOT_TAIL)) return snap_damaged(ctx);
  r->left = n - SNAPSHOT_HEAD - SNAPSHOT_TAIL;
  if (entries == (uint64_t)f->program->n_shared && fingerprint == f->program->fingerprint) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "restore: the snapshot is of another Function");
}

damo_status function_restore(damo_function *f, const void *bytes, size_t n) {
  damo_ctx *ctx = f->obj.ctx;
  const fn_program *p = f->program;
  byte_reader r;
  DAMO_TRY(check_still(f, "restore"));
  DAMO_TRY(check_head(f, bytes, n, &r));
  damo_obj **values = mem_calloc(ctx, (size_t)p->n_shared * sizeof *values);
  if (values == NULL) return DAMO_EMEMORY;
  const damo_status s = read_states(f, &r, values);
  for (int64_t i = 0; i < p->n_shared; i++) {
    damo_obj **place = p->shared[i].var != NULL ? &function_shared_var(f, i)->value : &f->defaults[p->shared[i].input];
    if (s == DAMO_OK)
      cell_set(place, values[i]);
    else
      damo_release(values[i]);
  }
  mem_free(ctx, values, (size_t)p->n_shared * sizeof *values);
  return s;
}
