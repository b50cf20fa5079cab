/* error: error objects, the user's lines, and the only place that raises Lua errors.
 *
 * An error object is a table {kind, message, op, operands, node, trace, cause, where}: trace has the user's lines where
 * the node was made (without a node: where the failing call was made), where is the line of the failing call. tostring
 * gives all of it.
 */
#include <ctype.h>
#include <stdio.h>

#include "binding.h"
#include "op/op.h"

#define TRACE_MAX_LEVELS 64 /* levels of the Lua stack that are examined */
#define TRACE_MAX 2048      /* bytes of a trace's text */

static const char error_cause_key = 'c', error_hint_key = 'h';

/* ---- The user's lines -------------------------------------------------------------------------------------------- */

static bool trace_is_below(const char *source, const char *folder) {
  return folder[0] && strncmp(source, folder, strlen(folder)) == 0;
}

bool bind_is_own_source(const bind_state *st, const char *source) {
  return trace_is_below(source, st->source) || trace_is_below(source, st->beside);
}

/* Finds the next level from *level on that is a line of the user's; moves *level past it. */
static bool trace_next_user_level(lua_State *L, const bind_state *st, int *level, lua_Debug *ar) {
  for (; *level < TRACE_MAX_LEVELS && lua_getstack(L, *level, ar); ++*level) {
    lua_getinfo(L, "Sl", ar);
    if (ar->currentline <= 0 || bind_is_own_source(st, ar->source)) continue;
    ++*level;
    return true;
  }
  return false;
}

/* Appends a line "file:line" to the string of length n in the buffer dst of `size` bytes. Returns the new length; n if the
 * line does not fit. It is written by hand because every node of a graph has such lines: snprintf took a twentieth of the
 * time of building and compiling. */
static size_t trace_append(char *dst, size_t n, size_t size, const char *file, int line) {
  char digits[12];
  size_t first = sizeof digits;
  const size_t length = strlen(file), before = n;
  do {
    digits[--first] = (char)('0' + line % 10);
    line /= 10;
  } while (line > 0);
  const size_t n_digits = sizeof digits - first;
  if (length + n_digits + 3 > size - n) return before;
  if (n > 0) dst[n++] = '\n';
  memcpy(dst + n, file, length);
  n += length;
  dst[n++] = ':';
  memcpy(dst + n, digits + first, n_digits);
  n += n_digits;
  dst[n] = '\0';
  return n;
}

/* "file:line\nfile:line", innermost first, at most limit lines; returns the length. */
static size_t trace_user_lines(lua_State *L, const bind_state *st, int limit, char *dst, size_t size) {
  lua_Debug ar;
  size_t n = 0;
  dst[0] = '\0';
  for (int level = 0, lines = 0; lines < limit && trace_next_user_level(L, st, &level, &ar); lines++) {
    const char *file = ar.source[0] == '@' || ar.source[0] == '=' ? ar.source + 1 : ar.short_src;
    const size_t longer = trace_append(dst, n, size, file, ar.currentline);
    if (longer == n) break;
    n = longer;
  }
  return n;
}

void bind_set_trace(lua_State *L) {
  bind_state *st = bind_get(L);
  damo_ctx *ctx = st->ctx;
  char text[TRACE_MAX];
  int limit = graph_notes_of(ctx)->traceback_limit;
  graph_notes_of(ctx)->trace = NULL;
  if (limit <= 0 || trace_user_lines(L, st, limit, text, sizeof text) == 0) return;
  if (!st->trace ||
      strcmp(st->trace->text, text) != 0) { /* a loop that builds a graph passes the same line many times */
    damo_release(st->trace);
    st->trace = trace_new(ctx, text);
    bind_check(L, st->trace ? DAMO_OK : DAMO_EMEMORY);
  }
  graph_notes_of(ctx)->trace = &st->trace->obj;
}

/* Pushes the lines of the text as a list. */
static void trace_push_lines(lua_State *L, const char *text) {
  BIND_HEIGHT(L);
  lua_newtable(L);
  for (int i = 1; *text; i++) {
    size_t n = strcspn(text, "\n");
    lua_pushlstring(L, text, n);
    lua_rawseti(L, -2, i);
    text += n + (text[n] == '\n');
  }
  BIND_LEAVES(L, 1);
}

/* ---- Error objects ----------------------------------------------------------------------------------------------- */

static void error_set_string(lua_State *L, const char *field, const char *s) {
  if (!s || !s[0]) return;
  lua_pushstring(L, s);
  lua_setfield(L, -2, field);
}

/* Sets the fields trace and where of the error object at the top. */
static void error_set_place(lua_State *L, bind_state *st, const damo_apply *node) {
  BIND_HEIGHT(L);
  char text[TRACE_MAX];
  int limit = graph_notes_of(st->ctx)->traceback_limit;
  trace_user_lines(L, st, limit > 0 ? limit : 1, text, sizeof text);
  size_t first = strcspn(text, "\n");
  if (first > 0) {
    lua_pushlstring(L, text, first);
    lua_setfield(L, -2, "where");
  }
  if (node && node->trace) {
    trace_push_lines(L, node->trace->text);
  } else {
    trace_push_lines(L, text);
  }
  lua_setfield(L, -2, "trace");
  BIND_LEAVES(L, 0);
}

/* Replaces the message at the top by an error object. */
static void error_make(lua_State *L, bind_state *st, damo_status status, const char *op, damo_apply *node) {
  BIND_HEIGHT(L);
  luaL_checkstack(L, 20, "damo");
  lua_createtable(L, 0, 7);
  lua_insert(L, -2);
  lua_setfield(L, -2, "message");
  error_set_string(L, "kind", damo_status_kind(status));
  error_set_string(L, "op", op);
  error_set_place(L, st, node);
  if (node) {
    bind_push_borrowed(L, node);
    lua_setfield(L, -2, "node");
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_error);
  lua_setmetatable(L, -2);
  BIND_LEAVES(L, 0);
}

/* Sets the field operands of the error object at the top, whose error no Op has raised. Out of memory is reported with
 * as little work as can be. */
static void error_set_given(lua_State *L, bind_state *st, damo_status status) {
  if (status != DAMO_EMEMORY) bind_set_operands(L, st);
}

/* Sets the field cause of the error object at the top to the value that a callback threw, if the pending error is that
 * callback's. What a debug hook threw takes the place of the error object. */
static void error_take_cause(lua_State *L, bind_state *st, const char *message) {
  bool ours = st->cause[0] && strncmp(message, st->cause, strlen(st->cause)) == 0;
  if (!st->cause[0]) return;
  st->cause[0] = '\0';
  if (ours) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &error_cause_key);
    if (st->through)
      lua_replace(L, -2);
    else
      lua_setfield(L, -2, "cause");
  }
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_cause_key);
}

void bind_push_error(lua_State *L) {
  BIND_HEIGHT(L);
  bind_state *st = bind_get(L);
  damo_ctx *ctx = st->ctx;
  /* Copied first: pushing below may collect garbage, and a finalizer written in Lua may overwrite it by failing in
   * damo. */
  ctx_error e = ctx->error;
  ctx->error.node = NULL;
  int ticket = bind_hold(st, e.node);
  if (!e.message[0]) snprintf(e.message, sizeof e.message, "%s", damo_error_message(ctx));
  const char *row = e.node ? elemwise_scalar(e.node->op) : NULL; /* the user wrote "add", not "Elemwise" */
  const char *op = row ? row : e.op[0] ? e.op : e.node ? e.node->op->def->name : NULL;
  luaL_checkstack(L, 4, "damo");
  lua_pushstring(L, e.message);
  error_make(L, st, e.status, op, e.node);
  if (e.operands[0] || e.node)
    error_set_string(L, "operands", e.operands);
  else
    error_set_given(L, st, e.status);
  error_take_cause(L, st, e.message);
  bind_let_go(st, ticket);
  damo_release(e.node);
  BIND_LEAVES(L, 1);
}

int bind_error(lua_State *L) {
  bind_push_error(L);
  return lua_error(L);
}

int bind_raise(lua_State *L, damo_status status, const char *fmt, ...) {
  va_list args;
  luaL_checkstack(L, 4, "damo");
  va_start(args, fmt);
  lua_pushvfstring(L, fmt, args);
  va_end(args);
  error_make(L, bind_get(L), status, NULL, NULL);
  error_set_given(L, bind_get(L), status);
  return lua_error(L);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

const char *bind_typename(lua_State *L, int idx) {
  if (lua_isnone(L, idx)) return "nothing";
  bind_box *box = bind_box_at(L, idx);
  if (!box || !luaL_getmetafield(L, idx, "__name")) return luaL_typename(L, idx);
  const char *name = lua_tostring(L, -1); /* the metatable keeps it alive */
  lua_pop(L, 1);
  return strncmp(name, "damo.", 5) == 0 ? name + 5 : name;
}

int bind_arg_error(lua_State *L, const char *func, int arg, const char *argname, const char *expected) {
  luaL_checkstack(L, 8, "damo");
  const char *got = bind_typename(L, arg);
  lua_pushfstring(L, argname ? "%s: argument %d (%s)" : "%s: argument %d", func, arg, argname);
  lua_pushfstring(L, "%s must be %s, got %s", lua_tostring(L, -1), expected, got);
  bool method = argname && strcmp(argname, "self") == 0 && isalpha((unsigned char)func[0]);
  if (method) lua_pushfstring(L, "%s; call it with a colon, x:%s(…)", lua_tostring(L, -1), func);
  error_make(L, bind_get(L), DAMO_ETYPE, func, NULL);
  error_set_given(L, bind_get(L), DAMO_ETYPE);
  return lua_error(L);
}

const char *bind_number_text(lua_State *L, int idx) {
  const lua_Number v = lua_tonumber(L, idx);
  if (v != v) lua_pushliteral(L, "nan");
  if (v == v) lua_pushvalue(L, idx);
  return lua_tostring(L, -1);
}

const char *bind_text(lua_State *L, int idx, const char *what) {
  size_t n;
  const char *s = lua_tolstring(L, idx, &n);
  if (s && strlen(s) < n) bind_raise(L, DAMO_EVALUE, "%s: a text with a zero byte in it ('%s\\0...')", what, s);
  return s;
}

static bool options_have(const char *key, const char *const *names) {
  for (; *names; names++) {
    if (strcmp(key, *names) == 0) return true;
  }
  return false;
}

void bind_push_names(lua_State *L, const char *const *names) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; names[i]; i++) {
    if (i) luaL_addstring(&b, ", ");
    luaL_addstring(&b, names[i]);
  }
  luaL_pushresult(&b);
}

static void options_raise_unknown(lua_State *L, const char *func, const char *key, const char *const *names) {
  const char *near = suggest(key, names);
  if (near) {
    bind_raise(L, DAMO_EVALUE, "%s: unknown option '%s', did you mean '%s'?", func, key, near);
  } else if (!names[0]) {
    bind_raise(L, DAMO_EVALUE, "%s: unknown option '%s': it takes no options", func, key);
  }
  bind_push_names(L, names);
  bind_raise(L, DAMO_EVALUE, "%s: unknown option '%s': the options are %s", func, key, lua_tostring(L, -1));
}

/* Raises an error for the first key that is not in names; with `listed`, entries of the list part are allowed. */
static void options_check(lua_State *L, const char *func, int idx, const char *const *names, bool listed) {
  if (lua_isnoneornil(L, idx)) return;
  idx = lua_absindex(L, idx);
  if (!lua_istable(L, idx)) bind_arg_error(L, func, idx, "options", "a table of options");
  luaL_checkstack(L, 8, "damo");
  const char *worst = NULL; /* the first in sorted order: the same message in each run */
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (listed && lua_type(L, -2) == LUA_TNUMBER) continue;
    if (lua_type(L, -2) == LUA_TNUMBER && names[0]) {
      bind_push_names(L, names);
      bind_raise(L, DAMO_EVALUE, "%s: an option without its name: the options are %s", func, lua_tostring(L, -1));
    }
    if (lua_type(L, -2) != LUA_TSTRING) {
      bind_raise(L, DAMO_ETYPE, "%s: the names of options are strings, got a %s", func, luaL_typename(L, -2));
    }
    const char *key = bind_text(L, -2, func); /* the table keeps it alive */
    if (!options_have(key, names) && (!worst || strcmp(key, worst) < 0)) worst = key;
  }
  if (worst) options_raise_unknown(L, func, worst, names);
}

void bind_check_options(lua_State *L, const char *func, int idx, const char *const *names) {
  options_check(L, func, idx, names, false);
}

void bind_check_listed_options(lua_State *L, const char *func, int idx, const char *const *names) {
  options_check(L, func, idx, names, true);
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

typedef struct caught_error {
  const char *op, *callback;
  damo_apply *node;
  damo_status status;
} caught_error;

static damo_status error_status_of_kind(const char *kind) {
  for (int i = 1; kind && i <= DAMO_ECALLBACK; i++) {
    if (strcmp(kind, damo_status_kind((damo_status)i)) == 0) return (damo_status)i;
  }
  return DAMO_ECALLBACK;
}

static bool error_is_object(lua_State *L, const bind_state *st, int idx) {
  if (!lua_istable(L, idx) || !lua_getmetatable(L, idx)) return false;
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_error);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

bool bind_is_memory_error(lua_State *L, const bind_state *st, int idx) {
  if (!error_is_object(L, st, idx)) return false;
  idx = lua_absindex(L, idx);
  lua_pushliteral(L, "kind");
  lua_rawget(L, idx);
  const char *kind = lua_tostring(L, -1);
  const bool is = kind && strcmp(kind, damo_status_kind(DAMO_EMEMORY)) == 0;
  lua_pop(L, 1);
  return is;
}

/* Protected; arguments: the thrown value, a caught_error. Conversion to a string may run the user's __tostring. */
static int error_keep_caught(lua_State *L) {
  bind_state *st = bind_get(L);
  caught_error *c = lua_touserdata(L, 2);
  const char *text;
  if (error_is_object(L, st, 1)) {
    lua_getfield(L, 1, "kind");
    c->status = error_status_of_kind(lua_tostring(L, -1));
    lua_getfield(L, 1, "message");
    text = lua_tostring(L, -1);
  } else {
    text = luaL_tolstring(L, 1, NULL);
  }
  lua_pushfstring(L, "%s%s%s failed: ", c->op ? c->op : "", c->op ? ": " : "", c->callback);
  const char *prefix = lua_tostring(L, -1);
  const size_t name = c->op ? strlen(c->op) : 0;
  /* The text names the callback already if the error passed through it before (recursion), or is damo's own and begins
   * with the Op's name. */
  const bool told = text && (strncmp(text, prefix, strlen(prefix)) == 0 ||
                             (name > 0 && c->status != DAMO_ECALLBACK && strncmp(text, c->op, name) == 0 &&
                              strncmp(text + name, ": ", 2) == 0));
  st->through = false;
  ctx_fail(st->ctx, c->status, "%s%s", told ? "" : prefix, text ? text : "?");
  ctx_fail_at(st->ctx, c->op, c->node);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_cause_key);
  snprintf(st->cause, sizeof st->cause, "%.*s", (int)sizeof st->cause - 1, st->ctx->error.message);
  return 0;
}

damo_status bind_caught(lua_State *L, const char *op, const char *callback, damo_apply *node) {
  caught_error c = {op, callback, node, DAMO_ECALLBACK};
  damo_ctx *ctx = bind_ctx(L);
  bind_get(L)->args_of = NULL; /* those of a call that has ended by the error */
  if (!lua_checkstack(L, 4)) {
    lua_pop(L, 1);
    return ctx_fail_memory(ctx);
  }
  lua_pushcfunction(L, error_keep_caught);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, &c);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) { /* its conversion to a string failed */
    lua_pop(L, 1);
    ctx_fail(ctx, c.status, "%s%s%s failed", op ? op : "", op ? ": " : "", callback);
    ctx_fail_at(ctx, op, node);
  }
  return c.status;
}

/* ---- tostring ---------------------------------------------------------------------------------------------------- */

/* Pushes a field of the error object at 1; returns it if it is a string, else NULL. */
static const char *error_field(lua_State *L, const char *name) {
  lua_pushstring(L, name);
  lua_rawget(L, 1);
  return lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
}

/* Appends the trace's lines from number `from` on, the first after the text `first`, the others after `other`. */
static void error_add_trace(lua_State *L, luaL_Buffer *b, int trace, int from, const char *first, const char *other) {
  BIND_HEIGHT(L);
  int n = lua_istable(L, trace) ? (int)lua_rawlen(L, trace) : 0;
  for (int i = from; i <= n; i++) {
    luaL_addstring(b, i == from ? first : other);
    lua_rawgeti(L, trace, i);
    luaL_addvalue(b);
  }
  BIND_LEAVES(L, 0);
}

/* Pushes and returns what to do about an error with that message, a line which a function of damo's Lua files finds;
 * pushes nil without them, or where they know none. */
static const char *error_push_hint(lua_State *L, const char *message) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &error_hint_key);
  lua_pushstring(L, message);
  if (!lua_isfunction(L, -2) || lua_pcall(L, 1, 1, 0) != LUA_OK) lua_pushnil(L);
  return lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
}

static int error_tostring(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  const char *kind = error_field(L, "kind"), *message = error_field(L, "message"), *op = error_field(L, "op"),
             *where = error_field(L, "where"), *operands = error_field(L, "operands"),
             *hint = error_push_hint(L, message ? message : "");
  lua_pushliteral(L, "trace");
  lua_rawget(L, 1);
  lua_pushliteral(L, "node");
  lua_rawget(L, 1);
  int node = lua_gettop(L), trace = node - 1;
  bool has_node = !lua_isnil(L, node);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, kind ? kind : "damo");
  luaL_addstring(&b, " error");
  if (op) {
    luaL_addstring(&b, " in ");
    luaL_addstring(&b, op);
  }
  if (where) {
    luaL_addstring(&b, " at ");
    luaL_addstring(&b, where);
  }
  luaL_addstring(&b, ": ");
  luaL_addstring(&b, message ? message : "");
  if (operands) {
    luaL_addstring(&b, "\n  operands: ");
    luaL_addstring(&b, operands);
  }
  if (hint) {
    luaL_addstring(&b, "\n  hint: ");
    luaL_addstring(&b, hint);
  }
  if (has_node) {
    error_add_trace(L, &b, trace, 1, "\n  the node was made at ", "\n    called from ");
  } else {
    error_add_trace(L, &b, trace, 2, "\n  called from ", "\n  called from ");
  }
  luaL_pushresult(&b);
  return 1;
}

static int error_concat(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  luaL_tolstring(L, 2, NULL);
  lua_concat(L, 2);
  return 1;
}

int bind_set_hint(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_hint_key);
  return 0;
}

void bind_open_error(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", error_tostring}, {"__concat", error_concat}, {NULL, NULL}};
  bind_state *st = bind_get(L);
  lua_createtable(L, 0, 4);
  luaL_setfuncs(L, meta, 0);
  lua_pushliteral(L, "damo.Error");
  lua_setfield(L, -2, "__name");
  st->ref_error = luaL_ref(L, LUA_REGISTRYINDEX);
}
