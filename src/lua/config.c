/* config: damo.config, damo.memory(), and where warnings go.
 *
 * A warning may come while any coroutine runs, so its callback is called on a thread of its own, protected. Without a
 * callback the binding writes one line to stderr; config.on_warning = nil turns warnings off. A host's own hook stays
 * until a script sets one.
 */
#include <stdio.h>

#include "binding_int.h"
#include "compile/compile.h"

static const char warning_key = 'w';

/* ---- Warnings ---------------------------------------------------------------------------------------------------- */

static void warning_write(void *user, const char *kind, const char *message) {
  (void)user;
  fprintf(stderr, "damo: %s warning: %s\n", kind, message);
}

/* Protected, on the hook's thread: (kind, message). */
static int warning_call(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &warning_key);
  lua_insert(L, 1);
  lua_call(L, 2, 0);
  return 0;
}

static int warning_push_and_call(lua_State *L) {
  const char *const *texts = lua_touserdata(L, 1);
  lua_pushcfunction(L, warning_call);
  lua_pushstring(L, texts[0]);
  lua_pushstring(L, texts[1]);
  lua_call(L, 2, 0);
  return 0;
}

/* If the callback fails, the warning and the failure are written to stderr: a warning must not break the call it is
 * about. */
static void warning_hook(void *user, const char *kind, const char *message) {
  bind_state *st = user;
  lua_State *H = st->hook;
  const char *texts[] = {kind, message};
  if (!lua_checkstack(H, 4)) return;
  lua_pushcfunction(H, warning_push_and_call);
  lua_pushlightuserdata(H, (void *)texts);
  if (bind_call_back(H, st->ctx, 1, 0) != LUA_OK) {
    const char *why = st->ctx->sandbox ? NULL : lua_tostring(H, -1); /* a sandbox's script must not write to stderr */
    warning_write(NULL, kind, message);
    warning_write(NULL, "callback", why ? why : "config.on_warning failed");
    lua_pop(H, 1);
  }
}

bool bind_warns_lua(const bind_state *st) { return st->ctx->on_warning == warning_hook; }

/* on_warning(kind, message): the function that config.on_warning holds before a script sets it. */
static int warning_default(lua_State *L) {
  bind_gate(L, GATE_FILE, "config.on_warning");
  warning_write(NULL, luaL_checkstring(L, 1), luaL_checkstring(L, 2));
  return 0;
}

static void config_set_on_warning(lua_State *L, bind_state *st, int idx) {
  if (lua_isnil(L, idx)) {
    damo_ctx_set_warning(st->ctx, NULL, NULL);
    return;
  }
  if (!lua_isfunction(L, idx)) {
    bind_raise(L, DAMO_ETYPE, "config.on_warning must be a function or nil, got %s", bind_typename(L, idx));
  }
  if (!st->hook) {
    st->hook = lua_newthread(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, st);
  }
  lua_pushvalue(L, idx);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &warning_key);
  damo_ctx_set_warning(st->ctx, warning_hook, st);
}

static void config_push_on_warning(lua_State *L, bind_state *st) {
  BIND_HEIGHT(L);
  if (!st->ctx->on_warning) {
    lua_pushnil(L);
  } else if (st->ctx->on_warning == warning_hook) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &warning_key);
  } else {
    lua_pushcfunction(L, warning_default);
  }
  BIND_LEAVES(L, 1);
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static const char *const CONFIG_FIELDS[] = {
    "floatX",   "compute_test_value", "traceback_limit", "on_warning", "memory_cap", "gc_floor",
    "plan_cap", "memo_cap",           "threads",         "mode",       "sandbox",    NULL};
enum {
  CONFIG_FLOATX,
  CONFIG_TEST_VALUE,
  CONFIG_TRACEBACK,
  CONFIG_ON_WARNING,
  CONFIG_MEMORY_CAP,
  CONFIG_GC_FLOOR,
  CONFIG_PLAN_CAP,
  CONFIG_MEMO_CAP,
  CONFIG_THREADS,
  CONFIG_MODE,
  CONFIG_SANDBOX
};

/* Limits that a host sets: a sandbox's scripts cannot change them. */
static bool config_is_limit(int field) {
  return field == CONFIG_MEMORY_CAP || field == CONFIG_GC_FLOOR || field == CONFIG_PLAN_CAP ||
         field == CONFIG_MEMO_CAP || field == CONFIG_THREADS;
}

static const char *const CONFIG_TEST_VALUE_MODES[] = {"off", "ignore", "warn", "raise", NULL};
static const char *const CONFIG_FLOATS[] = {"float64", "float32", NULL};
static const char *const CONFIG_MODES[] = {"FAST_RUN", "FAST_COMPILE", "DEBUG", "NANGUARD", NULL};

static int config_field_index(lua_State *L, int idx) {
  const char *key = lua_type(L, idx) == LUA_TSTRING ? bind_text(L, idx, "config") : NULL;
  if (!key) bind_raise(L, DAMO_ETYPE, "config: a setting's name is a string, got %s", bind_typename(L, idx));
  for (int i = 0; CONFIG_FIELDS[i]; i++) {
    if (strcmp(CONFIG_FIELDS[i], key) == 0) return i;
  }
  const char *near = suggest(key, CONFIG_FIELDS);
  if (near) bind_raise(L, DAMO_EVALUE, "config: unknown setting '%s', did you mean '%s'?", key, near);
  return bind_raise(L, DAMO_EVALUE, "config: unknown setting '%s'", key);
}

/* The index in `words` of the string at idx. */
static int config_check_word(lua_State *L, int idx, const char *field, const char *const *words) {
  if (lua_type(L, idx) != LUA_TSTRING) {
    bind_raise(L, DAMO_ETYPE, "config.%s must be a string such as '%s', got %s", field, words[0],
               bind_typename(L, idx));
  }
  const char *word = bind_text(L, idx, field);
  for (int i = 0; words[i]; i++) {
    if (strcmp(words[i], word) == 0) return i;
  }
  const char *near = suggest(word, words);
  return bind_raise(L, DAMO_EVALUE, "config.%s cannot be '%s', did you mean '%s'?", field, word,
                    near ? near : words[0]);
}

static lua_Integer config_check_count(lua_State *L, int idx, const char *field, lua_Integer least, lua_Integer most) {
  if (lua_type(L, idx) != LUA_TNUMBER) {
    bind_raise(L, DAMO_ETYPE, "config.%s must be an integer, got %s", field, bind_typename(L, idx));
  }
  scalar s;
  bool fits = bind_to_scalar(L, idx, DAMO_INT64, &s) && s.v.i >= least && s.v.i <= most;
  if (!fits) {
    lua_pushvalue(L, idx);
    if (most < (lua_Integer)COMPAT_MAX_INTEGER)
      bind_raise(L, DAMO_EVALUE, "config.%s must be an integer from %d to %d, got %s", field, (int)least, (int)most,
                 lua_tostring(L, -1));
    bind_raise(L, DAMO_EVALUE, "config.%s must be an integer from %d on, got %s", field, (int)least,
               lua_tostring(L, -1));
  }
  return (lua_Integer)s.v.i;
}

/* config.sandbox = true cannot be undone. */
static void config_set_sandbox(lua_State *L, damo_ctx *ctx, int idx) {
  if (!lua_isboolean(L, idx)) {
    bind_raise(L, DAMO_ETYPE, "config.sandbox must be true or false, got %s", bind_typename(L, idx));
  }
  const bool wanted = lua_toboolean(L, idx);
  if (wanted) damo_ctx_set_sandbox(ctx);
  if (!wanted && damo_ctx_is_sandbox(ctx)) bind_raise(L, DAMO_ESTATE, "config.sandbox is set, for good");
}

static int config_index(lua_State *L) {
  bind_state *st = bind_get(L);
  const ctx_config *c = &st->ctx->config;
  switch (config_field_index(L, 2)) {
    case CONFIG_FLOATX: lua_pushstring(L, dtype_name(c->floatX)); break;
    case CONFIG_TEST_VALUE:
      lua_pushstring(L, CONFIG_TEST_VALUE_MODES[graph_notes_of(st->ctx)->compute_test_value]);
      break;
    case CONFIG_TRACEBACK: lua_pushinteger(L, graph_notes_of(st->ctx)->traceback_limit); break;
    case CONFIG_ON_WARNING: config_push_on_warning(L, st); break;
    case CONFIG_MEMORY_CAP: lua_pushinteger(L, (lua_Integer)st->ctx->cap); break;
    case CONFIG_GC_FLOOR: lua_pushinteger(L, (lua_Integer)st->gc.floor); break;
    case CONFIG_PLAN_CAP: lua_pushinteger(L, (lua_Integer)c->plan_cap); break;
    case CONFIG_MEMO_CAP: lua_pushinteger(L, (lua_Integer)c->memo_cap); break;
    case CONFIG_THREADS: lua_pushinteger(L, c->threads); break;
    case CONFIG_MODE: lua_pushstring(L, st->mode); break;
    case CONFIG_SANDBOX: lua_pushboolean(L, damo_ctx_is_sandbox(st->ctx)); break;
  }
  return 1;
}

static int config_newindex(lua_State *L) {
  bind_state *st = bind_get(L);
  ctx_config *c = &st->ctx->config;
  const int field = config_field_index(L, 2);
  if (config_is_limit(field)) {
    lua_pushfstring(L, "config.%s", CONFIG_FIELDS[field]);
    bind_gate(L, GATE_LIMIT, lua_tostring(L, -1));
  }
  switch (field) {
    case CONFIG_FLOATX:
      c->floatX = config_check_word(L, 3, "floatX", CONFIG_FLOATS) == 0 ? DAMO_FLOAT64 : DAMO_FLOAT32;
      break;
    case CONFIG_TEST_VALUE:
      graph_notes_of(st->ctx)->compute_test_value =
          (test_value_mode)config_check_word(L, 3, "compute_test_value", CONFIG_TEST_VALUE_MODES);
      break;
    case CONFIG_TRACEBACK:
      graph_notes_of(st->ctx)->traceback_limit = (int)config_check_count(L, 3, "traceback_limit", 0, 64);
      break;
    case CONFIG_ON_WARNING: config_set_on_warning(L, st, 3); break;
    case CONFIG_MEMORY_CAP:
      damo_ctx_set_memory_cap(st->ctx,
                              (size_t)config_check_count(L, 3, "memory_cap", 0, (lua_Integer)COMPAT_MAX_INTEGER));
      break;
    case CONFIG_GC_FLOOR:
      bind_set_gc_floor(L, (size_t)config_check_count(L, 3, "gc_floor", 0, (lua_Integer)COMPAT_MAX_INTEGER));
      break;
    case CONFIG_PLAN_CAP:
      c->plan_cap = (size_t)config_check_count(L, 3, "plan_cap", 0, (lua_Integer)COMPAT_MAX_INTEGER);
      break;
    case CONFIG_MEMO_CAP:
      c->memo_cap = (size_t)config_check_count(L, 3, "memo_cap", 0, (lua_Integer)COMPAT_MAX_INTEGER);
      compile_fit_memo(st->ctx);
      break;
    case CONFIG_THREADS: c->threads = (int)config_check_count(L, 3, "threads", 1, CTX_MOST_THREADS); break;
    case CONFIG_SANDBOX: config_set_sandbox(L, st->ctx, 3); break;
    case CONFIG_MODE:
      snprintf(st->mode, sizeof st->mode, "%s", CONFIG_MODES[config_check_word(L, 3, "mode", CONFIG_MODES)]);
      break;
  }
  return 0;
}

static int config_next_field(lua_State *L) {
  int at = lua_isnil(L, 2) ? 0 : config_field_index(L, 2) + 1;
  lua_settop(L, 1);
  if (!CONFIG_FIELDS[at]) return 0;
  lua_pushstring(L, CONFIG_FIELDS[at]);
  lua_pushvalue(L, -1);
  lua_gettable(L, 1);
  return 2;
}

static int config_pairs(lua_State *L) {
  lua_pushcfunction(L, config_next_field);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

static int config_tostring(lua_State *L) {
  lua_pushliteral(L, "damo.config");
  return 1;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static int memory_report(lua_State *L) {
  damo_memory_info info = damo_ctx_memory(bind_ctx(L));
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, (lua_Integer)info.bytes);
  lua_setfield(L, -2, "bytes");
  lua_pushinteger(L, (lua_Integer)info.peak);
  lua_setfield(L, -2, "peak");
  lua_pushinteger(L, (lua_Integer)info.cap);
  lua_setfield(L, -2, "cap");
  lua_pushinteger(L, (lua_Integer)info.objects);
  lua_setfield(L, -2, "objects");
  bind_set_record(L);
  return 1;
}

void bind_open_config(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", config_index},
                                  {"__newindex", config_newindex},
                                  {"__pairs", config_pairs},
                                  {"__tostring", config_tostring},
                                  {NULL, NULL}};
  bind_state *st = bind_get(L);
  if (!st->ctx->on_warning) damo_ctx_set_warning(st->ctx, warning_write, st);
  lua_newtable(L);
  lua_newtable(L);
  bind_setfuncs(L, meta);
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "config");
  bind_pushfunction(L, memory_report);
  lua_setfield(L, -2, "memory");
}
