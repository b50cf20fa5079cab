/* scan: makes the node of a Scan for lua/damo/scan.lua, which reads the arguments of scripts.
 *
 * The function of the option progress hangs from the userdata of the Scan's class, together with a guard: when that
 * userdata is collected (or the state is closed), the guard's finalizer replaces it by a function that fails.
 */
#include <string.h>

#include "compile/compile.h"
#include "lua/binding_int.h"
#include "op/op.h"
#include "scan/scan.h"

static const char progress_guard_key = 'p';

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

typedef struct progress_guard {
  scan_class *s; /* owned */
  bind_state *state;
  lua_State *main; /* where the function runs if no coroutine is inside the core */
} progress_guard;

typedef struct progress_call {
  scan_class *s;
  int64_t step, total;
} progress_call;

static damo_status progress_gone(scan_class *s, frame *f, int64_t step, int64_t total) {
  (void)step;
  (void)total;
  return ctx_fail(f->ctx, DAMO_ESTATE, "%s: the function of the option progress is gone", s->def.name);
}

static int progress_guard_gc(lua_State *L) {
  progress_guard *g = lua_touserdata(L, 1);
  scan_class *s = g->s;
  g->s = NULL;
  if (!s) return 0;
  s->progress = progress_gone;
  s->user = NULL;
  damo_release(&s->obj);
  return 0;
}

static int progress_protected(lua_State *L) {
  const progress_call *c = lua_touserdata(L, 1);
  if (!bind_push_existing(L, c->s)) return bind_raise(L, DAMO_ESTATE, "the Lua part of %s is gone", c->s->def.name);
  bind_peer(L, -1);
  lua_getfield(L, -1, "progress");
  lua_pushinteger(L, (lua_Integer)c->step);
  if (c->total == SCAN_NO_LIMIT) {
    lua_pushnil(L);
  } else {
    lua_pushinteger(L, (lua_Integer)c->total);
  }
  lua_call(L, 2, 0);
  return 0;
}

static damo_status progress_in_lua(scan_class *s, frame *f, int64_t step, int64_t total) {
  const progress_guard *g = s->user;
  if (!g || g->state->closed) return progress_gone(s, f, step, total);
  lua_State *L = g->state->running ? g->state->running : g->main;
  progress_call c = {s, step, total};
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(f->ctx);
  lua_pushcfunction(L, progress_protected);
  lua_pushlightuserdata(L, &c);
  if (bind_call_back(L, f->ctx, 1, 0) == LUA_OK) return DAMO_OK;
  return bind_caught(L, s->def.name, "progress", NULL);
}

/* Attaches the function at stack index fn to the userdata of the class. */
static void hang_progress(lua_State *L, scan_class *s, int fn) {
  bind_push_borrowed(L, s);
  bind_peer(L, -1);
  lua_pushvalue(L, fn);
  lua_setfield(L, -2, "progress");
  progress_guard *g = lua_newuserdatauv(L, sizeof *g, 0);
  *g = (progress_guard){NULL, bind_get(L), bind_main_thread(L)};
  bind_set_gc(L, progress_guard_gc, &progress_guard_key);
  lua_setfield(L, -2, "guard");
  g->s = damo_retain(&s->obj);
  s->user = g;
  lua_pop(L, 2);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* The arguments, in memory of Lua's collector: parts whose Variables the table at stack index 1 keeps alive. */
typedef struct scan_args {
  int n_parts;
  scan_part *part;
  damo_var **inner;
  int32_t *tap;
  damo_var *n_steps, *until, *mark;
  const char *name, *mode;
  bool strict, hands_back;
  int64_t truncate, checkpoint;
} scan_args;

static damo_var *scan_var_field(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  damo_var *v = bind_to_var(L, -1);
  lua_pop(L, 1);
  return v;
}

static int64_t scan_int_field(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  const int64_t v = lua_isnil(L, -1) ? 0 : (int64_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return v;
}

static bool scan_bool_field(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  const bool v = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return v;
}

static const char *scan_text_field(lua_State *L, int table, const char *name) {
  lua_getfield(L, table, name);
  const char *v = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL; /* the table keeps it alive */
  lua_pop(L, 1);
  return v;
}

/* Reads the part at the top, whose inner Variables are the entries from `at` on; returns their number. */
static int scan_read_part(lua_State *L, scan_args *a, scan_part *p, int at) {
  const int table = lua_gettop(L);
  *p = (scan_part){.role = (scan_role)scan_int_field(L, table, "role"),
                   .outer = scan_var_field(L, table, "outer"),
                   .next = scan_var_field(L, table, "next"),
                   .bare = scan_bool_field(L, table, "bare"),
                   .update = scan_bool_field(L, table, "update"),
                   .stack = scan_bool_field(L, table, "no_stack") ? -1 : 0,
                   .last = scan_bool_field(L, table, "last") ? 0 : -1,
                   .number = (int32_t)scan_int_field(L, table, "number"),
                   .first = at};
  lua_getfield(L, table, "inner");
  lua_getfield(L, table, "taps");
  for (int n = lua_istable(L, -2) ? (int)lua_rawlen(L, -2) : 0; p->n < n; p->n++) {
    lua_rawgeti(L, -2, p->n + 1);
    a->inner[at + p->n] = bind_to_var(L, -1);
    lua_pop(L, 1);
    if (!lua_istable(L, -1)) continue;
    lua_rawgeti(L, -1, p->n + 1);
    a->tap[at + p->n] = (int32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
  return p->n;
}

static void scan_read(lua_State *L, scan_args *a) {
  luaL_checkstack(L, 30, "scan");
  lua_getfield(L, 1, "parts");
  const int parts = lua_gettop(L);
  const int64_t n_inner = scan_int_field(L, 1, "n_inner");
  a->n_parts = (int)lua_rawlen(L, parts);
  a->part = bind_alloc(L, (size_t)a->n_parts, sizeof *a->part);
  a->inner = bind_alloc(L, (size_t)n_inner, sizeof *a->inner);
  a->tap = bind_alloc(L, (size_t)n_inner, sizeof *a->tap);
  for (int i = 0, at = 0; i < a->n_parts; i++) {
    lua_rawgeti(L, parts, i + 1);
    at += scan_read_part(L, a, &a->part[i], at);
    lua_pop(L, 1);
  }
  a->n_steps = scan_var_field(L, 1, "n_steps");
  a->until = scan_var_field(L, 1, "stop");
  a->mark = scan_var_field(L, 1, "mark");
  a->name = scan_text_field(L, 1, "name");
  a->mode = scan_text_field(L, 1, "mode");
  a->strict = scan_bool_field(L, 1, "strict");
  a->hands_back = scan_bool_field(L, 1, "return_updates");
  a->truncate = scan_int_field(L, 1, "truncate");
  a->checkpoint = scan_int_field(L, 1, "checkpoint");
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Adds part p of the arguments to the draft. */
static void scan_add_part(scan_draft *d, const scan_args *a, const scan_part *p) {
  damo_var *const *inner = a->inner + p->first;
  const int32_t *taps = a->tap + p->first;
  damo_var *next = p->next;
  if (p->update) {
    next = compile_fit_value(d->b, "scan", p->outer, next, "update");
    if (!next) return;
  }
  scan_part *made = NULL;
  switch (p->role) {
    case SCAN_SEQUENCE: made = scan_draft_sequence(d, p->outer, p->n, taps, inner); break;
    case SCAN_STATE: made = scan_draft_state(d, p->outer, p->n, taps, inner, next); break;
    case SCAN_FIXED: made = scan_draft_fixed(d, p->outer, inner[0]); break;
    case SCAN_COLLECT: made = scan_draft_collect(d, p->next); break;
  }
  if (!made) return;
  made->number = p->number;
  if (p->role != SCAN_STATE) return;
  made->bare = p->bare;
  made->update = p->update;
  if (p->last >= 0) made->last = 0;
  if (p->stack < 0 && made->stack >= 0) made->stack = -1, made->last = 0;
}

/* The node (owned); parts (freed with mem_free, *n of them): as scan_draft_node leaves them. */
static damo_apply *scan_make(damo_ctx *ctx, const scan_args *a, bool progress, scan_part **parts, int32_t *n) {
  build b;
  scan_draft d;
  build_init(&b, ctx);
  scan_draft_init(&d, &b);
  d.n_steps = a->n_steps;
  d.until = a->until;
  d.name = a->name;
  d.mode = a->mode;
  d.mark = a->mark->id;
  d.strict = a->strict;
  d.hands_back = a->hands_back;
  d.truncate = a->truncate;
  d.checkpoint = a->checkpoint;
  if (progress) d.progress = progress_in_lua;
  for (int i = 0; i < a->n_parts && b.status == DAMO_OK; i++) scan_add_part(&d, a, &a->part[i]);
  damo_apply *node = damo_retain(scan_draft_node(&d));
  *n = d.n_parts;
  *parts = node ? mem_alloc(ctx, (size_t)d.n_parts * sizeof **parts) : NULL;
  if (*parts) memcpy(*parts, d.part, (size_t)d.n_parts * sizeof **parts);
  if (node && !*parts) {
    damo_release(node);
    node = NULL;
  }
  scan_draft_clear(&d);
  build_end(&b);
  return node;
}

/* Pushes a list of the parts with results: {number=, stack=, last=, update=}. */
static void scan_push_parts(lua_State *L, damo_apply *node, const scan_part *part, int n) {
  int listed = 0;
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    const scan_part *p = &part[i];
    if (p->stack < 0 && p->last < 0) continue;
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, p->number);
    lua_setfield(L, -2, "number");
    if (p->stack >= 0) {
      bind_push_borrowed(L, node->out[p->stack]);
      lua_setfield(L, -2, "stack");
    }
    if (p->last >= 0) {
      bind_push_borrowed(L, node->out[p->last]);
      lua_setfield(L, -2, "last");
    }
    if (p->update) {
      bind_push_borrowed(L, p->outer);
      lua_setfield(L, -2, "update");
    }
    lua_rawseti(L, -2, ++listed);
  }
}

/* scan_node(arguments): a list of the results, then the number of steps taken if the loop has a condition. */
static int scan_node(lua_State *L) {
  scan_args a = {0};
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  scan_read(L, &a);
  lua_getfield(L, 1, "progress");
  const int fn = lua_gettop(L);
  const bool progress = !lua_isnil(L, fn);
  void **vault = bind_vault(L, 1);
  bind_set_trace(L);
  scan_part *made = NULL;
  int32_t n = 0;
  bind_entry e = bind_enter(L);
  damo_ctx *ctx = e.state->ctx;
  damo_apply *node = scan_make(ctx, &a, progress, &made, &n);
  bind_leave(e);
  if (!node) return bind_error(L);
  vault[0] = node;
  scan_part *kept = bind_alloc(L, (size_t)n, sizeof *kept);
  memcpy(kept, made, (size_t)n * sizeof *kept);
  mem_free(ctx, made, (size_t)n * sizeof *made);
  if (progress) {
    bind_push_borrowed(L, node); /* its userdata, which stays on the stack, keeps that of the class */
    hang_progress(L, scan_of(node->op), fn);
  }
  scan_push_parts(L, node, kept, n);
  const int steps = scan_out_steps(scan_of(node->op));
  if (steps >= 0) bind_push_borrowed(L, node->out[steps]);
  bind_done(L);
  bind_test_node(L, node);
  return steps >= 0 ? 2 : 1;
}

/* ---- Debug hooks ------------------------------------------------------------------------------------------------- */

static const char hook_runner_key = 'h';

/* Most instructions of Lua that one poll runs so that a count hook sees them. */
#define HOOK_STEPS 1000

/* LuaJIT's machine code calls no hooks: the function at the top is to be interpreted. */
static void poll_set_interpreted(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit");
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "off");
    lua_pushvalue(L, -4);
    if (lua_isfunction(L, -2)) lua_call(L, 1, 0);
  }
  lua_settop(L, 1);
}

static int poll_protected(lua_State *L) {
  lua_settop(L, 0);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &hook_runner_key);
  if (!lua_isfunction(L, -1)) {
    lua_pop(L, 1);
    if (luaL_loadstring(L, "for _ = 1, ... do end") != LUA_OK) return lua_error(L);
    poll_set_interpreted(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &hook_runner_key);
  }
  const int count = lua_gethookcount(L);
  lua_pushinteger(L, count > 0 && count < HOOK_STEPS ? count + 1 : HOOK_STEPS);
  lua_call(L, 1, 0);
  return 0;
}

/* Lua calls a debug hook only while it runs Lua code: if the coroutine inside the core has one, some is run here. */
static damo_status poll_hooks(damo_ctx *ctx, void *user) {
  bind_state *st = user;
  lua_State *L = st->running;
  if (st->closed || !L || lua_gethookmask(L) == 0) return DAMO_OK;
  if (st->in_front) return ctx_fail(ctx, DAMO_ESTATE, "a debug hook is to run");
  if (!lua_checkstack(L, 10)) return ctx_fail_memory(ctx);
  lua_pushcfunction(L, poll_protected);
  if (bind_call_back(L, ctx, 0, 0) == LUA_OK) return DAMO_OK;
  const damo_status s = bind_caught(L, NULL, "a debug hook", NULL);
  st->through = true;
  return s;
}

/* variable_kind(v): "plain", "constant" or "shared"; nil for any other value. */
static int scan_variable_kind(lua_State *L) {
  static const char *const names[] = {[VAR_PLAIN] = "plain", [VAR_CONSTANT] = "constant", [VAR_SHARED] = "shared"};
  const damo_var *v = bind_to_var(L, 1);
  lua_pushstring(L, v ? names[v->kind] : NULL);
  return 1;
}

/* mode_text(func, mode): a mode, or nil, for scan_node. */
static int scan_mode_text(lua_State *L) {
  const char *func = luaL_checkstring(L, 1);
  lua_settop(L, 2);
  if (!lua_isnil(L, 2)) bind_mode_text(L, func);
  return 1;
}

/* Adds what lua/damo/scan.lua needs to the table `system` of the module table, which is at the top. */
void bind_open_scan(lua_State *L) {
  static const luaL_Reg fns[] = {
      {"scan_node", scan_node}, {"variable_kind", scan_variable_kind}, {"mode_text", scan_mode_text}, {NULL, NULL}};
  bind_state *st = bind_get(L);
  if (!st->ctx->on_poll) {
    st->ctx->on_poll = poll_hooks;
    st->ctx->poll_user = st;
  }
  lua_getfield(L, -1, "system");
  bind_setfuncs(L, fns);
  lua_pop(L, 1);
}
