/* merge.c: common subexpression elimination. Nodes with the same Op and the same inputs (of a sum or product in either
 * order) become one; constants of one
 * Type and equal value are merged first. One pass over the nodes, inputs first, finds all of them, and the first of
 * equal nodes stays. */
#include "rewrite_int.h"

typedef struct merge_entry {
  void *what;   /* damo_apply* or damo_var* */
  int64_t next; /* next entry of the same hash, or -1 */
} merge_entry;

typedef struct merger {
  damo_fgraph *fg;
  map heads; /* hash → first entry + 1 */
  merge_entry *entries;
  int64_t n, cap;
} merger;

static const void *hash_key(uint64_t h) { return (const void *)(uintptr_t)(h | 2); }

static int64_t merge_first_entry(const merger *m, uint64_t hash) {
  uintptr_t head = 0;
  map_get(&m->heads, hash_key(hash), &head);
  return (int64_t)head - 1;
}

static damo_status merge_add_entry(merger *m, uint64_t hash, void *what) {
  if (m->n == m->cap) {
    int64_t cap = m->cap == 0 ? 64 : 2 * m->cap;
    merge_entry *grown =
        mem_realloc(m->fg->obj.ctx, m->entries, (size_t)m->cap * sizeof *grown, (size_t)cap * sizeof *grown);
    if (grown == NULL) return DAMO_EMEMORY;
    m->entries = grown;
    m->cap = cap;
  }
  damo_assert(m->n < m->cap && merge_first_entry(m, hash) < m->n);
  m->entries[m->n] = (merge_entry){what, merge_first_entry(m, hash)};
  return map_put(&m->heads, hash_key(hash), (uintptr_t)++m->n);
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

#define HASHED_BYTES 1024 /* bytes of a constant's data that are hashed: enough to distinguish most */

static uint64_t constant_hash(const damo_var *v) {
  uint64_t h = hash_mix(7, (uint64_t)(uintptr_t)v->type);
  const damo_array *a = value_array(v->value);
  if (a == NULL || !array_is_contiguous(a)) return h;
  size_t bytes = (size_t)array_size(a) * dtype_size(array_dtype(a));
  return hash_bytes(h, a->data, bytes < HASHED_BYTES ? bytes : HASHED_BYTES);
}

/* *out: the first constant that equals v, possibly v itself. */
static damo_status canonical_constant(merger *m, damo_var *v, damo_var **out) {
  uint64_t h = constant_hash(v);
  *out = v;
  for (int64_t i = merge_first_entry(m, h); i >= 0; i = m->entries[i].next) {
    damo_var *u = m->entries[i].what;
    if (u == v) return DAMO_OK;
    if (((damo_obj *)u)->kind != OBJ_VAR || u->type != v->type) continue;
    if (u->value == v->value || (value_array(v->value) != NULL && type_values_equal(v->type, u->value, v->value))) {
      *out = u;
      return DAMO_OK;
    }
  }
  return merge_add_entry(m, h, v);
}

static damo_status merge_constants(merger *m, damo_apply *node) {
  for (int i = 0; i < node->n_in; i++) {
    damo_var *v = node->in[i], *first;
    if (v->kind != VAR_CONSTANT || v->value == NULL) continue;
    DAMO_TRY(canonical_constant(m, v, &first));
    if (first == v) continue;
    DAMO_TRY(fgraph_replace_trusted(m->fg, &v, &first, 1, "merge"));
  }
  return DAMO_OK;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static bool merge_same_node(const damo_apply *a, const damo_apply *b) {
  if (a->obj.kind != OBJ_APPLY || a->n_out != b->n_out || !cons_same(a, b->op, b->in, b->n_in)) return false;
  for (int i = 0; i < a->n_out; i++) {
    if (!type_is_super(b->out[i]->type, a->out[i]->type)) return false;
  }
  return true;
}

damo_status merge_traces(damo_ctx *ctx, damo_apply *twin, const damo_apply *node) {
  damo_trace *trace;
  DAMO_TRY(trace_join(ctx, twin->trace, node->trace, &trace));
  damo_release(twin->trace);
  twin->trace = trace;
  return DAMO_OK;
}

static damo_status merge_node(merger *m, damo_apply *node) {
  if (!cons_takes(node->op)) return DAMO_OK;
  const uint64_t h = cons_key(node->op, node->in, node->n_in);
  for (int64_t i = merge_first_entry(m, h); i >= 0; i = m->entries[i].next) {
    damo_apply *twin = m->entries[i].what;
    if (!merge_same_node(twin, node)) continue;
    damo_assert(twin != node && fgraph_has_node(m->fg, twin));
    DAMO_TRY(merge_traces(m->fg->obj.ctx, twin, node));
    return fgraph_replace_trusted(m->fg, node->out, twin->out, node->n_out, "merge");
  }
  return merge_add_entry(m, h, node);
}

static damo_status merge_all(damo_fgraph *fg) {
  merger m = {.fg = fg};
  ptrvec nodes;
  map_init(&m.heads, fg->obj.ctx);
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  /* merging prunes the duplicate at once, and no other node, since its inputs are also its twin's */
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) {
    if (!fgraph_has_node(fg, nodes.at[i])) continue;
    s = merge_constants(&m, nodes.at[i]);
    if (s == DAMO_OK) s = merge_node(&m, nodes.at[i]);
  }
  mem_free(fg->obj.ctx, m.entries, (size_t)m.cap * sizeof *m.entries);
  map_clear(&m.heads);
  ptrvec_clear(&nodes);
  return s;
}

const rewrite_rule merge_rules[] = {
    {.name = "merge", .phase = PHASE_MERGE, .tags = "fast_run fast_compile merge", .global = merge_all},
    {.name = NULL},
};
