/* scope: entering and leaving the core, memory owned by Lua's collector, and reading of lists and options. */
#include "binding_int.h"

static const char kept_key = 'k', vault_key = 'v';

/* ---- Into the core and back -------------------------------------------------------------------------------------- */

bind_entry bind_enter(lua_State *L) {
  bind_state *st = bind_get(L);
  bind_entry e = {st, st->running, damo_retain(graph_notes_of(st->ctx)->trace)};
  st->running = L;
  return e;
}

void bind_leave(bind_entry e) {
  damo_ctx *ctx = e.state->ctx;
  e.state->running = e.before;
  if (graph_notes_of(ctx)->trace != (damo_obj *)e.state->trace)
    graph_notes_of(ctx)->trace = NULL; /* a callback may have replaced and released the trace */
  damo_release(e.trace);
}

static int raise_pending(lua_State *L) { return bind_error(L); }

typedef struct protected_call {
  lua_State *L;
  int n, n_results, rc;
} protected_call;

static void call_protected(void *arg) {
  protected_call *c = arg;
  c->rc = lua_pcall(c->L, c->n, c->n_results, 0);
}

int bind_call_back(lua_State *L, damo_ctx *ctx, int n, int n_results) {
  if (ctx_enter(ctx, STACK_CALLBACK) != DAMO_OK) {
    lua_pop(L, n + 1);
    lua_pushcfunction(L, raise_pending);
    return lua_pcall(L, 0, 0, 0);
  }
  protected_call c = {L, n, n_results, LUA_OK};
  const bool watching = ctx->watching;
  ctx->watching = false; /* Lua calls its hooks itself */
  if (ctx_pace(ctx) != NULL)
    ctx_outside(ctx, call_protected, &c);
  else
    call_protected(&c);
  ctx->watching = watching;
  ctx_leave(ctx, STACK_CALLBACK);
  return c.rc;
}

bool bind_is_callable(lua_State *L, int idx) {
  if (lua_isfunction(L, idx)) return true;
  if (!luaL_getmetafield(L, idx, "__call")) return false;
  lua_pop(L, 1);
  return true;
}

void bind_keep(lua_State *L, int idx) {
  BIND_HEIGHT(L);
  idx = lua_absindex(L, idx);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key);
  if (!lua_istable(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kept_key);
  }
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, (int)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
  BIND_LEAVES(L, 0);
}

void bind_done(lua_State *L) {
  if (bind_get(L)->running) return;
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kept_key);
}

void bind_defer(bind_state *state, damo_status s) {
  if (s != DAMO_OK && state->deferred == DAMO_OK) state->deferred = s;
}

damo_status bind_deferred(bind_state *state) {
  damo_status s = state->deferred;
  state->deferred = DAMO_OK;
  return s;
}

damo_status bind_leave_deferred(bind_entry e, damo_status s) {
  damo_status left = bind_deferred(e.state);
  bind_leave(e);
  return s != DAMO_OK ? s : left;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

void *bind_alloc(lua_State *L, size_t n, size_t size) {
  size_t bytes = n * size;
  void *block = lua_newuserdatauv(L, bytes ? bytes : 1, 0);
  memset(block, 0, bytes);
  return block;
}

typedef struct vault {
  int64_t n;
  void *at[];
} vault;

static int vault_gc(lua_State *L) {
  vault *v = lua_touserdata(L, 1);
  for (int64_t i = 0; i < v->n; i++) {
    void *obj = v->at[i];
    v->at[i] = NULL;
    damo_release(obj);
  }
  return 0;
}

void **bind_vault(lua_State *L, int64_t n) {
  size_t bytes = sizeof(vault) + (size_t)n * sizeof(void *);
  vault *v = lua_newuserdatauv(L, bytes, 0);
  memset(v, 0, bytes);
  v->n = n;
  bind_set_gc(L, vault_gc, &vault_key);
  return v->at;
}

void bind_push_slot(lua_State *L, void **at, int64_t i) {
  void *obj = at[i];
  at[i] = NULL;
  bind_push(L, obj);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

void bind_own_table(lua_State *L, int idx) {
  BIND_HEIGHT(L);
  idx = lua_absindex(L, idx);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, idx);) { /* no finalizer runs between lua_next calls: lua_rawset runs none */
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  lua_replace(L, idx);
  BIND_LEAVES(L, 0);
}

void bind_push_vars(lua_State *L, damo_var *const *v, int64_t n) {
  BIND_HEIGHT(L);
  luaL_checkstack(L, 10, "damo");
  lua_createtable(L, (int)n, 0);
  for (int64_t i = 0; i < n; i++) {
    if (!v[i]) continue;
    bind_push_borrowed(L, v[i]);
    lua_rawseti(L, -2, (int)(i + 1));
  }
  BIND_LEAVES(L, 1);
}

bool bind_is_options(lua_State *L, int idx) {
  if (!lua_istable(L, idx)) return false;
  idx = lua_absindex(L, idx);
  bool found = false;
  for (lua_pushnil(L); !found && lua_next(L, idx);) {
    found = lua_type(L, -2) == LUA_TSTRING;
    lua_pop(L, found ? 2 : 1);
  }
  return found;
}

/* The Variable at the top, which is converted in place if `convert` says so. */
static damo_var *list_read_entry(lua_State *L, int i, bool convert, const char *func, const char *argname) {
  damo_var *v = bind_to_var(L, -1);
  if (v) return v;
  if (!convert || lua_isnil(L, -1)) {
    bind_raise(L, DAMO_ETYPE, "%s: entry %d of %s must be a Variable, got %s", func, i, argname, luaL_typename(L, -1));
  }
  bool graph;
  v = bind_operand(L, lua_gettop(L), true, &graph, func, i, argname);
  lua_remove(L, -2);
  return v;
}

bind_list bind_var_list(lua_State *L, int idx, bool convert, const char *func, const char *argname) {
  bind_list list = {NULL, 0, false};
  luaL_checkstack(L, 8, func);
  idx = lua_absindex(L, idx);
  if (lua_isnoneornil(L, idx)) {
    lua_pushnil(L);
    return list;
  }
  damo_var *v = bind_to_var(L, idx);
  bool number =
      convert && (lua_type(L, idx) == LUA_TNUMBER || lua_type(L, idx) == LUA_TBOOLEAN || bind_to_array(L, idx));
  list.single = v || number;
  if (!list.single && !lua_istable(L, idx)) bind_arg_error(L, func, idx, argname, "a Variable or a list of Variables");
  list.n = list.single ? 1 : (int64_t)lua_rawlen(L, idx);
  lua_createtable(L, list.single ? 1 : (int)list.n, 1);
  list.at = bind_alloc(L, (size_t)list.n, sizeof *list.at);
  lua_setfield(L, -2, "memory"); /* the pushed table keeps this memory and the entries alive */
  for (int64_t i = 0; i < list.n; i++) {
    if (list.single) {
      lua_pushvalue(L, idx);
    } else {
      lua_rawgeti(L, idx, (int)(i + 1));
    }
    list.at[i] = list_read_entry(L, (int)(i + 1), convert, func, argname);
    lua_rawseti(L, -2, (int)(i + 1));
  }
  return list;
}

void bind_push_trace(lua_State *L, const damo_trace *trace) {
  BIND_HEIGHT(L);
  lua_newtable(L);
  const char *text = trace ? trace->text : "";
  for (int i = 1; *text; i++) {
    size_t n = strcspn(text, "\n");
    lua_pushlstring(L, text, n);
    lua_rawseti(L, -2, i);
    text += n + (text[n] == '\n');
  }
  BIND_LEAVES(L, 1);
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

bool bind_option(lua_State *L, int idx, const char *name) {
  if (!lua_istable(L, idx)) return false;
  lua_getfield(L, idx, name);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

bool bind_option_bool(lua_State *L, int idx, const char *name, bool otherwise, const char *func) {
  if (!bind_option(L, idx, name)) return otherwise;
  if (!lua_isboolean(L, -1)) {
    bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be true or false, got %s", func, name, luaL_typename(L, -1));
  }
  bool b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

const char *bind_option_str(lua_State *L, int idx, const char *name, const char *func) {
  if (!bind_option(L, idx, name)) return NULL;
  if (lua_type(L, -1) != LUA_TSTRING) {
    bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be a string, got %s", func, name, luaL_typename(L, -1));
  }
  const char *s = bind_text(L, -1, func);
  lua_pop(L, 1);
  return s;
}

int bind_option_enum(lua_State *L, int idx, const char *name, const char *const *names, int otherwise,
                     const char *func) {
  const char *s = bind_option_str(L, idx, name, func);
  if (!s) return otherwise;
  for (int i = 0; names[i]; i++) {
    if (strcmp(names[i], s) == 0) return i;
  }
  const char *near = suggest(s, names);
  lua_pushfstring(L, "%s: option '%s' can't be '%s'", func, name, s);
  if (near) return bind_raise(L, DAMO_EVALUE, "%s, did you mean '%s'?", lua_tostring(L, -1), near);
  bind_push_names(L, names);
  return bind_raise(L, DAMO_EVALUE, "%s, expected one of %s", lua_tostring(L, -2), lua_tostring(L, -1));
}

/* ---- Metatables -------------------------------------------------------------------------------------------------- */

/* Reads a name at 2 that the object at 1 does not have. Upvalues as kind_index's. */
static int kind_no_member(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  bool is_var = box && box->kind == OBJ_VAR, is_value = is_var || (box && box->kind == OBJ_SPARSE);
  const char *tag = is_var ? "; x.tag.%s is free for values of your own" : NULL;
  lua_settop(L, 2);
  if (is_value && bind_is_value_field(L, 2)) return 0;
  bind_note_args(L, 1);
  for (int i = 1; i <= 3; i++) lua_pushvalue(L, lua_upvalueindex(i));
  return bind_unknown_name(L, 2, bind_typename(L, 1), "field or method ", tag, 3, 5);
}

/* Upvalues: fields, methods, further methods (a table or nil), and whether unknown names are nil instead of errors. */
static int kind_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(1));
  if (!lua_isnil(L, -1)) {
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
  }
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(2));
  if (lua_isnil(L, -1) && lua_istable(L, lua_upvalueindex(3))) {
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(3));
  }
  return lua_isnil(L, -1) && !lua_toboolean(L, lua_upvalueindex(4)) ? kind_no_member(L) : 1;
}

void bind_class(lua_State *L, obj_kind kind, const luaL_Reg *fields, const luaL_Reg *methods, const luaL_Reg *meta,
                int more) {
  BIND_HEIGHT(L);
  bind_metatable(L, kind);
  lua_newtable(L);
  bind_setfuncs(L, fields);
  for (const luaL_Reg *f = fields; f->name && (kind == OBJ_VAR || kind == OBJ_SPARSE); f++) {
    bind_add_value_field(L, f->name);
  }
  lua_newtable(L);
  bind_setfuncs(L, methods);
  if (more == LUA_NOREF) {
    lua_pushnil(L);
  } else {
    lua_rawgeti(L, LUA_REGISTRYINDEX, more);
  }
  lua_pushboolean(L, kind == OBJ_OP || kind == OBJ_OPCLASS); /* an Op written in Lua has members of its own */
  lua_pushcclosure(L, kind_index, 4);
  lua_setfield(L, -2, "__index");
  bind_setfuncs(L, meta);
  lua_pop(L, 1);
  BIND_LEAVES(L, 0);
}

/* ---- Errors of damo's own Lua files ------------------------------------------------------------------------------ */

/* core.raise(kind, message): raises an error object of that kind. */
static int raise_kind(lua_State *L) {
  const char *kind = luaL_checkstring(L, 1), *message = luaL_checkstring(L, 2);
  damo_status s = DAMO_EVALUE;
  for (int i = 1; i <= DAMO_ECALLBACK; i++) {
    if (strcmp(damo_status_kind((damo_status)i), kind) == 0) s = (damo_status)i;
  }
  return bind_raise(L, s, "%s", message);
}

void bind_add_raise(lua_State *L) {
  lua_pushcfunction(L, raise_kind);
  lua_setfield(L, -2, "raise");
}
