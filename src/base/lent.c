/* lent: sharing between contexts.
 *
 * Reference counts of objects are not atomic: only the thread of their context uses them. Something that several
 * contexts hold (a compiled program) has an atomic count of its own, and is freed by its owner, the context whose
 * memory it is in. If the last holder is another context, the owner may be in use on another thread; so the last holder
 * pushes it onto a list, which the owner frees the next time it lends something or takes it back. An owner whose host's
 * references are gone stays alive while others borrow from it; the last borrower frees it.
 *
 * damo_ctx.borrowers counts the holds of other contexts, plus one for the owner's host. Whoever decrements it to 0
 * frees the list and settles the owner.
 */
#include "base_int.h"

void lent_init(ctx_lent *l, void (*free_fn)(ctx_lent *l)) {
  atomic_init(&l->refs, 1);
  l->free = free_fn;
  l->next = NULL;
}

void lent_hold(damo_ctx *owner, ctx_lent *l, const damo_ctx *by) {
  const long long held = atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
  damo_assert(held > 0);
  (void)held;
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
  const long long held = atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel);
  const bool last = held == 1;
  damo_assert(held > 0);
  if (by == owner) {
    if (last) l->free(l);
    return;
  }
  if (last) leave_to_owner(owner, l);
  if (atomic_fetch_sub_explicit(&owner->borrowers, 1, memory_order_acq_rel) == 1) {
    owner->abandoned = false; /* no other thread uses the owner any more */
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

bool lent_let_go(damo_ctx *owner) {
  if (owner->abandoned) return false;
  if (owner->host_gone) return true;
  owner->host_gone = true;
  owner->abandoned = atomic_fetch_sub_explicit(&owner->borrowers, 1, memory_order_acq_rel) != 1;
  return !owner->abandoned;
}
