/* intern.c: tables of interned objects. Objects of the same hash form a chain (intern_link), whose head is in a map
 * keyed by the hash. The table holds no references: an object's destructor removes its link. */
#include "graph_int.h"

static void intern_table_destroy(damo_ctx *ctx, void *data) {
  intern_table *table = data;
  map_clear(&table->heads);
  mem_free(ctx, table, sizeof *table);
}

damo_status intern_register(damo_ctx *ctx, ctx_slot_id slot) {
  intern_table *table = mem_calloc(ctx, sizeof *table);
  if (table == NULL) return DAMO_EMEMORY;
  map_init(&table->heads, ctx);
  ctx->slots[slot] = (ctx_slot){.data = table, .destroy = intern_table_destroy};
  return DAMO_OK;
}

intern_link *intern_first(const damo_ctx *ctx, ctx_slot_id slot, uint64_t hash) {
  const intern_table *table = ctx->slots[slot].data;
  return map_get_ptr(&table->heads, intern_key(hash));
}

damo_status intern_add(damo_ctx *ctx, ctx_slot_id slot, intern_link *link) {
  intern_table *table = ctx->slots[slot].data;
  intern_link *head = intern_first(ctx, slot, link->hash);
  DAMO_TRY(map_put(&table->heads, intern_key(link->hash), (uintptr_t)link));
  link->next = head;
  return DAMO_OK;
}

void intern_remove(damo_ctx *ctx, ctx_slot_id slot, intern_link *link) {
  intern_table *table = ctx->slots[slot].data;
  intern_link *at = intern_first(ctx, slot, link->hash);
  if (at == link) {
    if (link->next != NULL) {
      map_put(&table->heads, intern_key(link->hash), (uintptr_t)link->next); /* an existing key: cannot fail */
    } else {
      map_remove(&table->heads, intern_key(link->hash));
    }
    return;
  }
  while (at != NULL && at->next != link) at = at->next;
  if (at != NULL) at->next = link->next;
}
