/* record: tables that print their contents. Shapes, damo.info(), damo.memory() and tables of named outputs are plain
 * tables with a metatable that has only __tostring.
 *
 * A list prints as {2, 3}. Named entries print one a line, sorted; a table of tables, or a text of several lines, is
 * indented under its name.
 */
#include "binding_int.h"

#define RECORD_MAX_DEPTH 4 /* deeper tables print as {…}, since a table may contain itself */

static const char record_key = 'r';

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool record_has_names(lua_State *L, int idx) {
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    lua_pop(L, 2);
    return true;
  }
  return false;
}

static void record_add_table(lua_State *L, strbuf *out, int idx, int depth);

/* Adds the value at the top; a table on one line. */
static void record_add_value(lua_State *L, strbuf *out, int depth) {
  int idx = lua_gettop(L);
  if (lua_type(L, idx) == LUA_TTABLE) {
    record_add_table(L, out, idx, depth + 1);
    return;
  }
  strbuf_add(out, luaL_tolstring(L, idx, NULL));
  lua_pop(L, 1);
}

/* Adds a table on one line, {1, 2} or {a = 1, b = {2}}: the list part, then the names. */
static void record_add_table(lua_State *L, strbuf *out, int idx, int depth) {
  size_t n_names;
  luaL_checkstack(L, 12, "damo");
  if (depth > RECORD_MAX_DEPTH) {
    strbuf_add(out, "{…}");
    return;
  }
  int n = (int)lua_rawlen(L, idx);
  strbuf_add(out, "{");
  for (int i = 1; i <= n; i++) {
    if (i > 1) strbuf_add(out, ", ");
    lua_rawgeti(L, idx, i);
    record_add_value(L, out, depth);
    lua_pop(L, 1);
  }
  const char **names = bind_push_sorted_names(L, idx, idx, &n_names);
  for (size_t i = 0; i < n_names; i++) {
    strbuf_addf(out, "%s%s = ", n > 0 || i > 0 ? ", " : "", names[i]);
    lua_pushstring(L, names[i]);
    lua_rawget(L, idx);
    record_add_value(L, out, depth);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  strbuf_add(out, "}");
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Whether an entry of the table at idx is a table with names. */
static bool record_is_nested(lua_State *L, int idx) {
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (lua_type(L, -1) != LUA_TTABLE || !record_has_names(L, lua_gettop(L))) continue;
    lua_pop(L, 2);
    return true;
  }
  return false;
}

static void record_add_lines(lua_State *L, strbuf *out, int idx, int depth);

static void record_indent(strbuf *out, int depth) {
  for (int i = 0; i < depth; i++) strbuf_add(out, "  ");
}

/* Adds the lines of the text, each indented. */
static void record_add_indented(strbuf *out, const char *text, int depth) {
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "\n");
    strbuf_add(out, "\n");
    record_indent(out, depth);
    strbuf_addf(out, "%.*s", (int)(end - text), text);
  }
}

/* Adds " = value" for the value at the top. */
static void record_add_entry(lua_State *L, strbuf *out, int depth) {
  int idx = lua_gettop(L);
  if (lua_type(L, idx) == LUA_TTABLE && depth < RECORD_MAX_DEPTH && record_is_nested(L, idx)) {
    strbuf_add(out, " =\n");
    record_add_lines(L, out, idx, depth + 1);
  } else if (lua_type(L, idx) == LUA_TTABLE) {
    strbuf_add(out, " = ");
    record_add_table(L, out, idx, depth + 1);
  } else {
    const char *text = luaL_tolstring(L, idx, NULL);
    if (strchr(text, '\n')) {
      strbuf_add(out, " =");
      record_add_indented(out, text, depth + 1);
    } else {
      strbuf_addf(out, " = %s", text);
    }
    lua_pop(L, 1);
  }
}

static void record_add_lines(lua_State *L, strbuf *out, int idx, int depth) {
  BIND_HEIGHT(L);
  size_t n;
  luaL_checkstack(L, 12, "damo");
  const char **names = bind_push_sorted_names(L, idx, idx, &n);
  for (size_t i = 0; i < n; i++) {
    if (i > 0) strbuf_add(out, "\n");
    record_indent(out, depth);
    strbuf_add(out, names[i]);
    lua_pushstring(L, names[i]);
    lua_rawget(L, idx);
    record_add_entry(L, out, depth);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  BIND_LEAVES(L, 0);
}

static int record_tostring(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  strbuf *out = bind_push_strbuf(L);
  if (record_has_names(L, 1)) {
    record_add_lines(L, out, 1, 0);
  } else {
    record_add_table(L, out, 1, 0);
  }
  bind_finish_strbuf(L);
  return 1;
}

void bind_set_record(lua_State *L) { bind_set_event(L, "__tostring", record_tostring, &record_key); }
