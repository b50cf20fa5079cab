/* rewrite: rewrite rules written in Lua, and what prepares the graphs that Ops hold: damo.rewrite.register, unregister,
 * names, before.
 *
 * A rule is a rewrite_rule inside a userdata, whose user value holds the rewriter and the strings to which the rule
 * points. A table of rules in Lua's registry, name → userdata, keeps it alive until it is unregistered or the state
 * closes; its finalizer removes the rule from the context. The core knows the rule by its address and holds nothing of
 * Lua.
 */
#include "lua/binding_int.h"
#include "rewrite/rewrite.h"

static const char rules_key = 'r', rule_key = 'm', prepare_key = 'p', prepare_meta_key = 'q';

typedef struct script_rule {
  rewrite_rule r;
  bind_state *st;
  lua_State *main; /* where the rewriter runs if a host compiles */
  bool registered;
} script_rule;

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* A call of a rewriter, for protected code. */
typedef struct rule_call {
  const script_rule *rule;
  build *b;
  damo_fgraph *fg;
  damo_apply *node;
  damo_var **repl;
  bool did;
  damo_status status;
} rule_call;

static damo_status rule_refuse(rule_call *c, damo_status s, const char *fmt, ...) PRINTF_LIKE(3, 4);
static damo_status rule_refuse(rule_call *c, damo_status s, const char *fmt, ...) {
  char text[900];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  ctx_fail(c->b->ctx, s, "rewrite rule '%s' %s", c->rule->r.name, text);
  ctx_fail_at(c->b->ctx, c->node->op->def->name, c->node);
  return c->status = s;
}

/* Takes the value at the top as the replacement of the node's output i: a Variable; nil or false keep the output. */
static void rule_take_replacement(lua_State *L, rule_call *c, int i) {
  char want[320], got[320];
  if (!lua_toboolean(L, -1)) return;
  damo_var *v = bind_to_var(L, -1);
  const damo_type *t = c->node->out[i]->type;
  if (!v) {
    rule_refuse(c, DAMO_ETYPE, "must return a Variable, a list of them, or nothing, got %s for output %d",
                bind_typename(L, -1), i + 1);
  } else if (!type_is_compatible(t, v->type)) {
    rule_refuse(c, DAMO_ETYPE, "returned %s for output %d, which is %s", type_format(got, sizeof got, v->type), i + 1,
                type_format(want, sizeof want, t));
  } else {
    c->repl[i] = build_take(c->b, damo_retain(v));
    c->did = true;
  }
}

/* Takes the rewriter's result, at the top. */
static void rule_take_result(lua_State *L, rule_call *c) {
  int n = c->node->n_out, result = lua_gettop(L);
  if (!lua_toboolean(L, result)) return;
  bool list = lua_istable(L, result);
  int given = list ? (int)lua_rawlen(L, result) : 1;
  if (given != n && (list || bind_to_var(L, result))) {
    rule_refuse(c, DAMO_EVALUE, "returned %d replacement%s for %d output%s", given, given == 1 ? "" : "s", n,
                n == 1 ? "" : "s");
    return;
  }
  for (int i = 0; i < n && c->status == DAMO_OK; i++) {
    if (list) {
      lua_rawgeti(L, result, i + 1);
    } else {
      lua_pushvalue(L, result);
    }
    rule_take_replacement(L, c, i);
    lua_settop(L, result);
    if (!list) break;
  }
  if (c->did) bind_keep(L, result); /* keeps tags and the like on it until the Function holds it */
}

/* Pushes the rewriter; false if it was unregistered. */
static bool rule_push_rewriter(lua_State *L, const script_rule *rule) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &rules_key);
  lua_getfield(L, -1, rule->r.name);
  if (lua_touserdata(L, -1) != (const void *)rule) return false;
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "rewriter");
  return true;
}

static int rule_protected(lua_State *L) {
  rule_call *c = lua_touserdata(L, 1);
  luaL_checkstack(L, 30, "rewrite");
  if (!rule_push_rewriter(L, c->rule)) return 0;
  if (!bind_push_existing(L, c->fg)) {
    bind_push_borrowed(L, c->fg);
    bind_keep(L, -1); /* one userdata for the whole phase, not one a node */
  }
  bind_push_borrowed(L, c->node);
  lua_call(L, 2, 1);
  rule_take_result(L, c);
  return 0;
}

static damo_status rule_run(const rewrite_rule *r, build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl,
                            bool *did) {
  rule_call c = {.rule = r->user, .b = b, .fg = fg, .node = node, .repl = repl};
  bind_state *st = c.rule->st;
  if (st->closed) return DAMO_OK;
  lua_State *L = st->running ? st->running : c.rule->main;
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(b->ctx);
  lua_pushcfunction(L, rule_protected);
  lua_pushlightuserdata(L, &c);
  int rc = bind_call_back(L, b->ctx, 1, 0);
  *did = c.did;
  if (rc == LUA_OK) return c.status;
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  bool yields = strstr(text, "attempt to yield") != NULL;
  if (rc != LUA_ERRMEM && !yields) {
    char name[200];
    snprintf(name, sizeof name, "rewrite rule '%.160s'", r->name);
    return bind_caught(L, node->op->def->name, name, node);
  }
  lua_pop(L, 1);
  return yields ? rule_refuse(&c, DAMO_ECALLBACK, "failed: it yields, which a rewriter can't do")
                : ctx_fail_memory(b->ctx);
}

/* ---- Registering ------------------------------------------------------------------------------------------------- */

static bool rule_is_word(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (strchr(" \t\n\r", s[i])) return false; /* '\0' too */
  }
  return n > 0;
}

/* The string at idx, a tag or a name; raises if it is not one word. */
static const char *rule_check_word(lua_State *L, int idx, int arg, const char *what) {
  size_t n = 0;
  const char *s = lua_type(L, idx) == LUA_TSTRING ? lua_tolstring(L, idx, &n) : NULL;
  if (!s || !rule_is_word(s, n)) bind_arg_error(L, "register", arg, what, "one word");
  return s;
}

/* Pushes the tags, from argument 3 on, joined by spaces. */
static void rule_push_tags(lua_State *L, int top) {
  BIND_HEIGHT(L);
  luaL_Buffer b;
  for (int i = 3; i <= top; i++) rule_check_word(L, i, i, "tag");
  luaL_buffinit(L, &b);
  for (int i = 3; i <= top; i++) {
    lua_pushvalue(L, i);
    luaL_addvalue(&b);
    if (i < top) luaL_addchar(&b, ' ');
  }
  luaL_pushresult(&b);
  BIND_LEAVES(L, 1);
}

static int rule_gc(lua_State *L) {
  script_rule *rule = lua_touserdata(L, 1);
  if (rule->registered && !rule->st->closed) rewrite_unregister(rule->st->ctx, &rule->r);
  rule->registered = false;
  return 0;
}

/* rewrite.register(name, rewriter, tag, …) */
static int rule_register(lua_State *L) {
  int top = lua_gettop(L);
  const char *name = rule_check_word(L, 1, 1, "name");
  if (top < 2 || !bind_is_callable(L, 2)) bind_arg_error(L, "register", 2, "rewriter", "a function (fgraph, node)");
  luaL_checkstack(L, 20, "register");
  script_rule *rule = lua_newuserdatauv(L, sizeof *rule, 1);
  *rule = (script_rule){.st = bind_get(L), .main = bind_main_thread(L)};
  int ud = lua_gettop(L);
  bind_set_gc(L, rule_gc, &rule_key);
  rule_push_tags(L, top);
  const char *tags = lua_tostring(L, -1);
  lua_createtable(L, 0, 3);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "name");
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "rewriter");
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "tags");
  lua_setiuservalue(L, ud, 1);
  rule->r = (rewrite_rule){.name = name, .phase = rewrite_phase_of(tags), .tags = tags, .host = rule_run, .user = rule};
  bind_check(L, rewrite_register(rule->st->ctx, &rule->r));
  rule->registered = true;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &rules_key);
  lua_pushvalue(L, ud);
  lua_setfield(L, -2, name);
  return 0;
}

/* rewrite.unregister(name) */
static int rule_unregister(lua_State *L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) != LUA_TSTRING) bind_arg_error(L, "unregister", 1, "name", "the name of a rule");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &rules_key);
  lua_pushvalue(L, 1);
  lua_rawget(L, 2);
  script_rule *rule = lua_touserdata(L, 3);
  if (!rule) bind_raise(L, DAMO_EVALUE, "unregister: no script has registered a rewrite rule '%s'", lua_tostring(L, 1));
  bind_check(L, rewrite_unregister(rule->st->ctx, &rule->r));
  rule->registered = false;
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  lua_rawset(L, 2);
  return 0;
}

/* rewrite.names(tag): the names of the rules, or of those with that tag, in the order of registration. */
static int rule_names(lua_State *L) {
  damo_ctx *ctx = bind_ctx(L);
  lua_settop(L, 1);
  if (!lua_isnil(L, 1) && lua_type(L, 1) != LUA_TSTRING) bind_arg_error(L, "names", 1, "tag", "a tag");
  const char *tag = lua_isnil(L, 1) ? NULL : bind_text(L, 1, "names");
  int n = 0;
  lua_newtable(L);
  for (int64_t i = 0;; i++) {
    const rewrite_rule *r = rewrite_at(ctx, i);
    if (!r) return 1;
    if (tag && !rewrite_has_tag(r, tag)) continue;
    lua_pushstring(L, r->name);
    lua_rawseti(L, 2, ++n);
  }
}

/* ---- Graphs that Ops hold ---------------------------------------------------------------------------------------- */

/* A userdata in Lua's registry, whose user value is a list of the function. */
typedef struct script_prepare {
  bind_state *st;
  lua_State *main; /* where the function runs if a host compiles */
} script_prepare;

static int prepare_protected(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &prepare_key);
  lua_getiuservalue(L, -1, 1);
  lua_rawgeti(L, -1, 1);
  bind_push_borrowed(L, lua_touserdata(L, 1));
  lua_call(L, 1, 0);
  return 0;
}

static damo_status prepare_run(damo_fgraph *fg, void *user) {
  const script_prepare *p = user;
  bind_state *st = p->st;
  if (st->closed) return DAMO_OK;
  lua_State *L = st->running ? st->running : p->main;
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(st->ctx);
  lua_pushcfunction(L, prepare_protected);
  lua_pushlightuserdata(L, fg);
  int rc = bind_call_back(L, st->ctx, 1, 0);
  if (rc == LUA_OK) return DAMO_OK;
  if (rc != LUA_ERRMEM) return bind_caught(L, NULL, "damo.rewrite.before", NULL);
  lua_pop(L, 1);
  return ctx_fail_memory(st->ctx);
}

static int prepare_gc(lua_State *L) {
  const script_prepare *p = lua_touserdata(L, 1);
  if (!p->st->closed) rewrite_set_prepare(p->st->ctx, NULL, NULL);
  return 0;
}

/* rewrite.set_inner(fn): has fn(fgraph) change each graph that an Op holds before it is compiled. Called once. */
static int prepare_set(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  script_prepare *p = lua_newuserdatauv(L, sizeof *p, 1);
  *p = (script_prepare){.st = bind_get(L), .main = bind_main_thread(L)};
  bind_set_gc(L, prepare_gc, &prepare_meta_key);
  lua_createtable(L, 1, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  lua_setiuservalue(L, -2, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &prepare_key);
  rewrite_set_prepare(p->st->ctx, prepare_run, p);
  return 0;
}

void bind_open_rewrite(lua_State *L) {
  static const luaL_Reg fns[] = {{"register", rule_register},
                                 {"unregister", rule_unregister},
                                 {"names", rule_names},
                                 {"set_inner", prepare_set},
                                 {NULL, NULL}};
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &rules_key);
  lua_newtable(L); /* damo.core.rewrite, which lua/damo/rewrite.lua makes public */
  bind_setfuncs(L, fns);
  lua_setfield(L, -2, "rewrite");
}
