/* profile: f.profile, what the calls of a Function and its compilation have cost, as tables. The methods of a profile
 * are in lua/damo/profile.lua.
 */
#include "function.h"
#include "op/op.h"
#include "op/sparse/build_sparse.h"

static const char profile_key = 'p';

static void profile_set_integer(lua_State *L, const char *name, int64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, name);
}

static void profile_set_seconds(lua_State *L, const char *name, int64_t ns) {
  lua_pushnumber(L, (lua_Number)ns / 1e9);
  lua_setfield(L, -2, name);
}

/* The Function over the graph that the thunk's Op holds; NULL: none, or it has not run yet. */
static const damo_function *inner_running(const thunk *t, const frame *f) {
  const damo_function *inner = op_from_graph_running(t, f);
  return inner ? inner : scan_running(t, f);
}

/* Adds the analyses and factorizations of its thunks, and those of inner graphs. The recursion is as deep as graphs are
 * nested. */
static void profile_count_factors(const damo_function *f, int64_t *analyses, int64_t *factorizations) {
  for (int64_t i = 0; i < f->program->vm.n_thunks; i++) {
    const thunk *t = f->program->vm.thunks[i];
    const damo_function *inner = inner_running(t, &f->frame.frame);
    factor_counts(t, &f->frame.frame, analyses, factorizations);
    if (inner) profile_count_factors(inner, analyses, factorizations);
  }
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static void profile_push_nodes(lua_State *L, const damo_function *f);

/* Pushes the entry of a thunk of f. That of an Op that holds a graph has the nodes of that graph too; the recursion is
 * as deep as graphs are nested. */
static void profile_push_node(lua_State *L, const damo_function *f, const thunk *t) {
  const profile_node *n = &f->profile->nodes[t->number];
  const damo_function *inner = inner_running(t, &f->frame.frame);
  lua_createtable(L, 0, 6);
  bind_push_borrowed(L, t->node);
  lua_setfield(L, -2, "node");
  strbuf *text = bind_push_strbuf(L);
  op_format(text, t->node->op);
  bind_finish_strbuf(L);
  lua_setfield(L, -2, "op");
  profile_set_integer(L, "calls", n->calls);
  profile_set_seconds(L, "time", n->time);
  profile_set_integer(L, "bytes", n->bytes);
  if (!inner || !inner->profile) return;
  if (scan_of(t->node->op)) profile_set_integer(L, "steps", inner->profile->calls);
  profile_push_nodes(L, inner);
  lua_setfield(L, -2, "nodes");
}

static void profile_push_nodes(lua_State *L, const damo_function *f) {
  const vm_program *vm = &f->program->vm;
  luaL_checkstack(L, 20, "profile");
  lua_createtable(L, (int)vm->n_thunks, 0);
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    profile_push_node(L, f, vm->thunks[k]);
    lua_rawseti(L, -2, (int)k + 1);
  }
}

static double profile_overhead(const fn_profile *p) {
  int64_t in_nodes = 0;
  for (int64_t k = 0; k < p->n_nodes; k++) in_nodes += p->nodes[k].time;
  return p->time > in_nodes ? (double)(p->time - in_nodes) / (double)p->time : 0;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Pushes the list of {start, time, node}, in nanoseconds, in the order in which the events ended; node 0 is a call. */
static void profile_push_events(lua_State *L, const fn_profile *p) {
  const int64_t n = p->n_events < p->events_cap ? p->n_events : p->events_cap;
  lua_createtable(L, (int)n, 0);
  for (int64_t i = 0; i < n; i++) {
    const profile_event *e = &p->events[(p->n_events - n + i) % p->events_cap];
    lua_createtable(L, 3, 0);
    lua_pushnumber(L, (lua_Number)e->start);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, (lua_Number)e->time);
    lua_rawseti(L, -2, 2);
    lua_pushinteger(L, e->thunk + 1);
    lua_rawseti(L, -2, 3);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

/* ---- The compilation --------------------------------------------------------------------------------------------- */

static void profile_push_compile(lua_State *L, const fn_report *r) {
  lua_createtable(L, 0, 2);
  profile_set_seconds(L, "time", r->time);
  lua_createtable(L, r->n_phases, 0);
  for (int i = 0; i < r->n_phases; i++) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, r->phases[i].name);
    lua_setfield(L, -2, "name");
    profile_set_seconds(L, "time", r->phases[i].time);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "phases");
}

static void profile_push_rules(lua_State *L, const rewrite_profile *p) {
  lua_createtable(L, 0, (int)p->n);
  for (int64_t i = 0; i < p->n; i++) {
    lua_createtable(L, 0, 2);
    profile_set_seconds(L, "time", p->rules[i].time);
    profile_set_integer(L, "uses", p->rules[i].uses);
    lua_setfield(L, -2, p->rules[i].name);
  }
}

/* ---- f.profile --------------------------------------------------------------------------------------------------- */

static void profile_fill(lua_State *L, const damo_function *f) {
  const fn_profile *p = f->profile;
  profile_set_integer(L, "calls", p->calls);
  profile_set_seconds(L, "time", p->time);
  lua_pushnumber(L, profile_overhead(p));
  lua_setfield(L, -2, "overhead");
  profile_set_integer(L, "peak", (int64_t)p->peak);
  lua_pushstring(L, function_name(f));
  lua_setfield(L, -2, "name");
  profile_push_nodes(L, f);
  lua_setfield(L, -2, "nodes");
  profile_push_compile(L, f->program->report);
  lua_setfield(L, -2, "compile");
  profile_push_rules(L, &f->program->report->rules);
  lua_setfield(L, -2, "rules");
}

/* f.profile: the analyses and factorizations of sparse matrices in all calls so far; for a Function compiled with
 * profile, its other counts too. */
int bind_function_get_profile(lua_State *L) {
  const damo_function *f = bind_function_self(L, "profile");
  int64_t analyses = 0, factorizations = 0;
  profile_count_factors(f, &analyses, &factorizations);
  lua_createtable(L, 0, f->profile ? 12 : 2);
  profile_set_integer(L, "symbolic_analyses", analyses);
  profile_set_integer(L, "factorizations", factorizations);
  if (!f->profile) {
    bind_set_record(L);
    return 1;
  }
  profile_fill(L, f);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &profile_key);
  if (!lua_isfunction(L, -1)) { /* a host that loads damo.core alone */
    lua_pop(L, 1);
    bind_set_record(L);
    return 1;
  }
  lua_insert(L, -2);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

/* profile_events(f): what profile_push_events pushes. */
static int profile_events(lua_State *L) {
  const damo_function *f = bind_function_self(L, "profile");
  if (f->profile) {
    profile_push_events(L, f->profile);
  } else {
    lua_newtable(L);
  }
  return 1;
}

/* set_profile_maker(fn): fn(counts, f) gives f.profile its methods. */
static int profile_set_maker(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &profile_key);
  return 0;
}

void bind_add_profile(lua_State *L) {
  static const luaL_Reg fns[] = {{"profile_events", profile_events},
                                 {"set_profile_maker", profile_set_maker},
                                 {"nest_function", bind_function_nest},
                                 {"set_nester", bind_set_nester},
                                 {NULL, NULL}};
  bind_setfuncs(L, fns);
}
