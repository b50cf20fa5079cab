/* lent: what a context lends to others.
 *
 * An object's count is its context's thread's alone. What several contexts hold (a compiled program) is counted
 * atomically beside them, and is freed by the context that it is of, whose memory it lies in. Where the last holder is
 * another context, that may be in use by another thread meanwhile: it is left on a list, which the owner frees when it
 * next lends or takes back. An owner whose host's references are gone lives on while others borrow from it, and the last
 * of these frees it.
 *
 * borrowers: one for each hold of another context, and one for the owner's host. Whoever takes it to 0 frees the list.
 */
#include "base_int.h"

void lent_init(ctx_lent *l, void (*free_fn)(ctx_lent *l)) {
  atomic_init(&l->refs, 1);
  l->free = free_fn;
  l->next = NULL;
}

void lent_hold(damo_ctx *owner, ctx_lent *l, const damo_ctx *by) {
  atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
  if (by != owner) atomic_fetch_add_explicit(&owner->borrowers, 1, memory_order_relaxed);
}

static void leave_to_owner(damo_ctx *owner, ctx_lent *l) {
  ctx_lent *head = atomic_load_explicit(&owner->returned, memory_order_relaxed);
  do {
    l->next = head;
  } while (
      !atomic_compare_exchange_weak_explicit(&owner->returned, &head, l, memory_order_release, memory_order_relaxed));
}

void lent_release(damo_ctx *owner, ctx_lent *l, const damo_ctx *by) {
  const bool last = atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) == 1;
  if (by == owner) {
    if (last) l->free(l);
    return;
  }
  if (last) leave_to_owner(owner, l);
  if (atomic_fetch_sub_explicit(&owner->borrowers, 1, memory_order_acq_rel) == 1) {
    owner->abandoned = false; /* nobody else uses it any more */
    ctx_settle(owner);
  }
}

void lent_collect(damo_ctx *owner) {
  if (atomic_load_explicit(&owner->returned, memory_order_relaxed) == NULL) return;
  ctx_lent *l = atomic_exchange_explicit(&owner->returned, NULL, memory_order_acquire);
  while (l != NULL) {
    ctx_lent *next = l->next;
    l->free(l);
    l = next;
  }
}

/* The host's references are gone: false where others borrow still, the last of whom settles then. */
bool lent_let_go(damo_ctx *owner) {
  if (owner->abandoned) return false;
  if (owner->host_gone) return true;
  owner->host_gone = true;
  owner->abandoned = atomic_fetch_sub_explicit(&owner->borrowers, 1, memory_order_acq_rel) != 1;
  return !owner->abandoned;
}
