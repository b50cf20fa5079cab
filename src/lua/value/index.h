/* index: index tables. index_key.c reads keys, index_view.c makes the views of basic keys, index.c gets and sets.
 *
 * A key is a position (number), a list of positions (an Array or Variable with at least one axis, or a mask), or a
 * table with one item an axis: position, range {start, stop, step}, list, damo.newaxis or damo.ellipsis. Basic keys (no
 * list, nothing symbolic) are read and written through views; all others go to the ops subtensor and set_subtensor_at.
 */
#ifndef DAMO_LUA_VALUE_INDEX_H
#define DAMO_LUA_VALUE_INDEX_H

#include "lua/binding_int.h"

#define BIND_MAX_ITEMS (2 * DAMO_MAX_NDIM)

typedef enum bind_item_kind { KEY_POSITION, KEY_RANGE, KEY_NEWAXIS, KEY_ELLIPSIS, KEY_LIST } bind_item_kind;

/* An item of a basic key. has[i]: that end of a range is given. */
typedef struct bind_index_item {
  bind_item_kind kind;
  bool has[3];
  int64_t at[3]; /* position, or start, stop, step */
} bind_index_item;

typedef struct bind_index_key {
  int n;
  bind_index_item item[BIND_MAX_ITEMS];
} bind_index_key;

/* The number at idx as a position; an index error that names func if it is no integer. */
int64_t bind_index_position(lua_State *L, int idx, const char *func);
/* Reads the key at idx if it is basic; false if it needs the index ops. */
bool bind_index_read(lua_State *L, int idx, bind_index_key *key, const char *func);
/* The view of a that a basic key selects, owned; NULL on failure. */
damo_array *bind_index_view(const damo_array *a, const bind_index_key *key, const char *func);

#endif
