/* fgraph_clients.c: the uses of each Variable of a FunctionGraph: its clients, as (node, input number) or (NULL, output
 * number).
 *
 * A short list is searched linearly, and a removal keeps its order. A long one has a map from each use's address
 * (fgraph_use_at) to its index in the list, so that a removal takes constant time: the last use moves to the free
 * index. A Variable without uses has no list, except during a change: an empty list stays until clients_settle, because
 * undoing the change must not allocate.
 */
#include "graph_int.h"

#include <string.h>

/* v's list, also an empty one; NULL: there is none. A Variable of two graphs knows the list of the last one alone. */
static fg_clients *clients_list(const damo_fgraph *fg, const damo_var *v) {
  return v->clients_of == fg->number ? v->clients : map_get_ptr(&fg->clients, v);
}

const fg_clients *fgraph_clients(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = clients_list(fg, v);
  return c != NULL && c->n > 0 ? c : NULL;
}

damo_var **fgraph_use_at(const damo_fgraph *fg, const damo_apply *node, int32_t index) {
  return node != NULL ? &node->in[index] : (damo_var **)&fg->outputs.at[index];
}

#define LONG_LIST 64 /* number of uses from which on a list has the map */

static void places_drop(damo_ctx *ctx, fg_clients *c) {
  if (c->places == NULL) return;
  map_clear(c->places);
  mem_free(ctx, c->places, sizeof *c->places);
  c->places = NULL;
}

static damo_status places_make(const damo_fgraph *fg, fg_clients *c) {
  damo_ctx *ctx = fg->obj.ctx;
  c->places = mem_alloc(ctx, sizeof *c->places);
  if (c->places == NULL) return DAMO_EMEMORY;
  map_init(c->places, ctx);
  damo_status s = DAMO_OK;
  for (int32_t i = 0; i < c->n && s == DAMO_OK; i++) {
    s = map_put(c->places, fgraph_use_at(fg, c->at[i].node, c->at[i].index), (uintptr_t)i);
  }
  if (s != DAMO_OK) places_drop(ctx, c);
  return s;
}

/* Appends a use; c->at has space for it. */
static damo_status clients_append(damo_fgraph *fg, fg_clients *c, damo_apply *node, int32_t index) {
  if (c->places == NULL && c->n >= LONG_LIST) DAMO_TRY(places_make(fg, c));
  if (c->places != NULL) DAMO_TRY(map_put(c->places, fgraph_use_at(fg, node, index), (uintptr_t)c->n));
  damo_assert(c->n < c->cap);
  c->at[c->n++] = (fg_client){node, index};
  return DAMO_OK;
}

damo_status clients_add(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index) {
  damo_ctx *ctx = fg->obj.ctx;
  fg_clients *c = clients_list(fg, v);
  if (c == NULL) {
    c = mem_calloc(ctx, sizeof *c);
    if (c == NULL) return DAMO_EMEMORY;
    if (map_put(&fg->clients, v, (uintptr_t)c) != DAMO_OK) {
      mem_free(ctx, c, sizeof *c);
      return DAMO_EMEMORY;
    }
    v->clients = c;
    v->clients_of = fg->number;
  }
  if (c->n == c->cap) {
    int32_t cap = c->cap == 0 ? 2 : 2 * c->cap;
    fg_client *at = mem_realloc(ctx, c->at, (size_t)c->cap * sizeof *at, (size_t)cap * sizeof *at);
    if (at == NULL) return DAMO_EMEMORY;
    c->at = at;
    c->cap = cap;
  }
  return clients_append(fg, c, node, index);
}

/* The list still has the space of the removed use, so only the map can fail: the list then goes on without it. */
void clients_restore(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index) {
  fg_clients *c = clients_list(fg, v);
  damo_assert(c != NULL && c->n < c->cap);
  if (clients_append(fg, c, node, index) == DAMO_OK) return;
  places_drop(fg->obj.ctx, c); /* back to a linear search */
  c->at[c->n++] = (fg_client){node, index};
}

void clients_free(damo_fgraph *fg, fg_clients *c) {
  places_drop(fg->obj.ctx, c);
  mem_free(fg->obj.ctx, c->at, (size_t)c->cap * sizeof *c->at);
  mem_free(fg->obj.ctx, c, sizeof *c);
}

void clients_settle(damo_fgraph *fg, damo_var *v) {
  fg_clients *c = clients_list(fg, v);
  if (c == NULL || c->n > 0) return;
  if (v->clients_of == fg->number) v->clients_of = 0;
  map_remove(&fg->clients, v);
  clients_free(fg, c);
}

static int32_t place_of_use(const damo_fgraph *fg, const fg_clients *c, const damo_apply *node, int32_t index) {
  uintptr_t place;
  if (c->places != NULL) return map_get(c->places, fgraph_use_at(fg, node, index), &place) ? (int32_t)place : -1;
  for (int32_t i = 0; i < c->n; i++) {
    if (c->at[i].node == node && c->at[i].index == index) return i;
  }
  return -1;
}

void clients_remove(damo_fgraph *fg, const damo_var *v, const damo_apply *node, int32_t index) {
  fg_clients *c = clients_list(fg, v);
  int32_t i = c != NULL ? place_of_use(fg, c, node, index) : -1;
  if (i < 0) return;
  c->n--;
  if (c->places == NULL) {
    memmove(&c->at[i], &c->at[i + 1], (size_t)(c->n - i) * sizeof *c->at);
    return;
  }
  map_remove(c->places, fgraph_use_at(fg, node, index));
  if (i == c->n) return;
  c->at[i] = c->at[c->n];
  map_put(c->places, fgraph_use_at(fg, c->at[i].node, c->at[i].index), (uintptr_t)i); /* an existing key: cannot fail */
}
