/* cons.c: the table by which rules share nodes: an Op and its inputs give the node that the graph has for them.
 *
 * Scopes of rules ask it before they make a node, and the engine asks it about each node that it visits, so equal nodes
 * become one as soon as they arise. Small constants count by their bits, and the operands of a sum or product in either
 * order. Impure and lazy Ops and those that destroy an operand are not in it. A node whose input was replaced by one of
 * another Type is taken out: a new node over these inputs may have a Type that says more.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/op.h"

#include <string.h>

#define MOST_BYTES 64 /* of a constant that counts by its bits */

/* The Array of a small contiguous constant, else NULL. */
static const damo_array *small_constant(const damo_var *v) {
  const damo_array *a = var_constant_array(v);
  if (a == NULL || !type_is_tensor(v->type) || !array_is_contiguous(a)) return NULL;
  return (size_t)array_size(a) * dtype_size(array_dtype(a)) <= MOST_BYTES ? a : NULL;
}

static size_t constant_bytes(const damo_array *a) { return (size_t)array_size(a) * dtype_size(array_dtype(a)); }

static uint64_t input_key(const damo_var *v) {
  const damo_array *a = v->kind == VAR_CONSTANT ? small_constant(v) : NULL;
  if (a == NULL) return hash_mix(31, (uint64_t)(uintptr_t)v);
  return hash_bytes(hash_mix(37, (uint64_t)(uintptr_t)v->type), a->data, constant_bytes(a));
}

static bool same_input(const damo_var *u, const damo_var *v) {
  if (u == v) return true;
  if (u->kind != VAR_CONSTANT || v->kind != VAR_CONSTANT || u->type != v->type) return false;
  const damo_array *a = small_constant(u), *b = small_constant(v);
  return a != NULL && b != NULL && constant_bytes(a) == constant_bytes(b) &&
         memcmp(a->data, b->data, constant_bytes(a)) == 0;
}

/* Whether the two operands may change places, with the same bits: extrema may differ in the sign of a zero. */
static bool is_commutative(const damo_op *op) {
  const int id = (int)elemwise_scalar_id(op); /* int: the switch names few of the scalar ops */
  switch (id) {
    case SCALAR_add:
    case SCALAR_mul:
    case SCALAR_and_:
    case SCALAR_or_:
    case SCALAR_xor:
    case SCALAR_eq:
    case SCALAR_neq: return true;
    default: return false;
  }
}

bool cons_takes(const damo_op *op) {
  const op_def *def = op->def;
  return !def->impure && !def->lazy && !def->may_be_lazy && def->branches == NULL && op->destroy_map == NULL;
}

uint64_t cons_key(const damo_op *op, damo_var *const *in, int n_in) {
  uint64_t h = hash_mix(23, (uint64_t)(uintptr_t)op);
  if (n_in == 2 && is_commutative(op)) {
    const uint64_t x = input_key(in[0]), y = input_key(in[1]);
    return hash_mix(hash_mix(h, x < y ? x : y), x < y ? y : x);
  }
  for (int i = 0; i < n_in; i++) h = hash_mix(h, input_key(in[i]));
  return h;
}

bool cons_same(const damo_apply *node, const damo_op *op, damo_var *const *in, int n_in) {
  if (node->op != op || node->n_in != n_in) return false;
  bool same = true;
  for (int i = 0; i < n_in && same; i++) same = same_input(node->in[i], in[i]);
  if (same || n_in != 2 || !is_commutative(op)) return same;
  return same_input(node->in[0], in[1]) && same_input(node->in[1], in[0]);
}

static const void *as_key(uint64_t h) { return (const void *)(uintptr_t)(h | 2); }

/* The node that the table has under its key is the node itself, an equal one or, rarely, another with the same key. */
damo_status cons_add(cons_table *t, damo_apply *node) {
  if (!cons_takes(node->op)) return DAMO_OK;
  const void *key = as_key(cons_key(node->op, node->in, node->n_in));
  return map_get(&t->of_key, key, NULL) ? DAMO_OK : map_put(&t->of_key, key, (uintptr_t)node);
}

void cons_remove(cons_table *t, const damo_apply *node) {
  if (!cons_takes(node->op)) return;
  const void *key = as_key(cons_key(node->op, node->in, node->n_in));
  if (map_get_ptr(&t->of_key, key) == node) map_remove(&t->of_key, key);
}

damo_apply *cons_find(const cons_table *t, const damo_op *op, damo_var *const *in, int n_in) {
  if (!cons_takes(op)) return NULL;
  damo_apply *node = map_get_ptr(&t->of_key, as_key(cons_key(op, in, n_in)));
  return node != NULL && cons_same(node, op, in, n_in) ? node : NULL;
}

damo_status cons_input_changed(cons_table *t, damo_apply *node, int index, damo_var *old, damo_var *now) {
  if (!cons_takes(node->op)) return DAMO_OK;
  damo_assert(node->in[index] == now);
  node->in[index] = old; /* for the key that it had */
  const void *key = as_key(cons_key(node->op, node->in, node->n_in));
  node->in[index] = now;
  if (map_get_ptr(&t->of_key, key) != node) return DAMO_OK;
  map_remove(&t->of_key, key);
  return old->type == now->type ? cons_add(t, node) : DAMO_OK;
}
