/* graph_file: graphs as files and bytes: damo.save_graph, damo.load_graph, and the format "graph" of damo.io. */
#include "function.h"
#include "lua/op/class.h"
#include "store/store.h"

static const char graph_file_key = 'g';

static int graph_file_gc(lua_State *L) {
  damo_graph **g = lua_touserdata(L, 1);
  store_graph_free(*g);
  *g = NULL;
  return 0;
}

/* Pushes a place for a graph, which Lua's collector frees. */
static damo_graph **graph_file_push(lua_State *L) {
  damo_graph **g = lua_newuserdatauv(L, sizeof *g, 0);
  *g = NULL;
  bind_set_gc(L, graph_file_gc, &graph_file_key);
  return g;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static damo_status graph_file_fill(damo_graph *g, const compile_args *j) {
  for (int64_t i = 0; i < j->n_in; i++) DAMO_TRY(store_set_input(g, i, &j->in[i]));
  DAMO_TRY(store_set_n_outputs(g, j->n_out));
  for (int64_t i = 0; i < j->n_out; i++) DAMO_TRY(store_set_output(g, i, &j->out[i]));
  for (int64_t i = 0; i < j->o.n_updates; i++) DAMO_TRY(store_add_update(g, j->o.update_of[i], j->o.update_to[i]));
  return DAMO_OK;
}

/* Reads {inputs=, outputs=, updates=} at idx; pushes what keeps it alive. */
static damo_graph *graph_file_read_table(lua_State *L, int idx, const char *func, damo_graph **place) {
  static const char *const names[] = {"inputs", "outputs", "updates", "shared", NULL};
  compile_args j = {.func = func};
  luaL_checkstack(L, 60, func);
  bind_check_options(L, func, idx, names);
  lua_newtable(L);
  j.keep = lua_gettop(L);
  lua_getfield(L, idx, "inputs");
  bind_compile_inputs(L, &j, lua_gettop(L));
  lua_getfield(L, idx, "outputs");
  bind_compile_outputs(L, &j, lua_gettop(L), false);
  lua_getfield(L, idx, "updates");
  if (!lua_isnil(L, -1)) j.o.n_updates = bind_compile_pairs(L, &j, "updates", &j.o.update_of, &j.o.update_to);
  for (int64_t i = 0; i < j.o.n_updates; i++) {
    if (j.o.update_of[i]->kind != VAR_SHARED)
      bind_raise(L, DAMO_ETYPE, "%s: updates: entry %d is no shared Variable", func, (int)i + 1);
  }
  *place = store_graph_new(bind_ctx(L), j.n_in);
  bind_check(L, *place ? graph_file_fill(*place, &j) : DAMO_EMEMORY);
  return *place;
}

void bind_write_graph(lua_State *L, int idx, int options, const char *func, const io_to *to, damo_status *status) {
  const bool lines = bind_option_bool(L, options, "lines", true, func);
  damo_graph **g = graph_file_push(L);
  const damo_function *f = bind_to(L, idx, OBJ_FUNCTION);
  if (f) {
    *g = store_graph_of(f);
    if (!*g) bind_error(L);
  } else if (lua_istable(L, idx)) {
    graph_file_read_table(L, idx, func, g);
  } else {
    bind_arg_error(L, func, idx, "graph", "a compiled function or a table {inputs=, outputs=, updates=}");
  }
  *status = store_write(*g, lines, to);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct graph_file_ops {
  damo_ctx *ctx;
  const char **names;
  store_class *classes;
  int64_t n;
} graph_file_ops;

static bool graph_file_find(void *user, const char *name, store_class *out) {
  const graph_file_ops *ops = user;
  for (int64_t i = 0; i < ops->n; i++) {
    if (strcmp(ops->names[i], name) != 0) continue;
    *out = ops->classes[i];
    return true;
  }
  out->def = api_class_find(ops->ctx, name);
  return out->def != NULL;
}

/* The class or Op at the top. */
static store_class graph_file_class(lua_State *L, const char *name, const char *func) {
  bind_op_class *k = bind_to(L, -1, OBJ_OPCLASS);
  damo_op *op = bind_to(L, -1, OBJ_OP);
  if (k) return (store_class){.def = &k->def, .owner = &k->obj};
  if (!op) bind_raise(L, DAMO_ETYPE, "%s: ops.%s must be an Op or a class, got %s", func, name, bind_typename(L, -1));
  return (store_class){.def = op->def, .owner = op->owner, .op = op->def->unique ? op : NULL};
}

/* Reads the option `ops`; pushes what keeps it alive. */
static graph_file_ops graph_file_read_ops(lua_State *L, int options, const char *func) {
  graph_file_ops ops = {.ctx = bind_ctx(L)};
  if (!bind_option(L, options, "ops")) return ops;
  const int table = lua_gettop(L);
  if (!lua_istable(L, table)) bind_raise(L, DAMO_ETYPE, "%s: option 'ops' must be a table {Name = Op}", func);
  bind_own_table(L, table);
  int64_t n = 0;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1), n++) {
    if (lua_type(L, -2) != LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "%s: option 'ops' must be a table {Name = Op}", func);
  }
  ops.names = bind_alloc(L, (size_t)n, sizeof *ops.names);
  ops.classes = bind_alloc(L, (size_t)n, sizeof *ops.classes);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    ops.names[ops.n] = bind_text(L, -2, func);
    ops.classes[ops.n] = graph_file_class(L, ops.names[ops.n], func);
    ops.n++;
  }
  return ops;
}

/* A Variable, or an In where it is more than that. */
static void graph_file_push_input(lua_State *L, const in_spec *in) {
  bind_push_borrowed(L, in->var);
  if (!in->name && !in->value && !in->update && !in->mutable_ && !in->strict) return;
  lua_createtable(L, 0, 6);
  lua_insert(L, -2);
  lua_setfield(L, -2, "variable");
  if (in->name) lua_pushstring(L, in->name), lua_setfield(L, -2, "name");
  if (in->value) bind_push_value(L, damo_retain(in->value)), lua_setfield(L, -2, "value");
  if (in->update) bind_push_borrowed(L, in->update), lua_setfield(L, -2, "update");
  if (in->mutable_) lua_pushboolean(L, 1), lua_setfield(L, -2, "mutable");
  if (in->strict) lua_pushboolean(L, 1), lua_setfield(L, -2, "strict");
  bind_set_in(L);
}

static void graph_file_push_lists(lua_State *L, const damo_graph *g) {
  lua_createtable(L, 0, 4);
  lua_createtable(L, (int)g->n_in, 0);
  for (int64_t i = 0; i < g->n_in; i++) {
    graph_file_push_input(L, &g->in[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "inputs");
  lua_createtable(L, (int)g->n_out, 0);
  for (int64_t i = 0; i < g->n_out; i++) {
    bind_push_borrowed(L, g->out[i].var);
    if (g->out[i].name) {
      lua_setfield(L, -2, g->out[i].name);
    } else {
      lua_rawseti(L, -2, (int)i + 1);
    }
  }
  lua_setfield(L, -2, "outputs");
  lua_createtable(L, (int)g->update_of.n, 0);
  for (int64_t i = 0; i < g->update_of.n; i++) {
    lua_createtable(L, 2, 0);
    bind_push_borrowed(L, g->update_of.at[i]);
    lua_rawseti(L, -2, 1);
    bind_push_borrowed(L, g->update_to.at[i]);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "updates");
  lua_createtable(L, (int)g->shared.n, (int)g->shared.n);
  for (int64_t i = 0; i < g->shared.n; i++) {
    const damo_var *v = g->shared.at[i];
    bind_push_borrowed(L, v);
    if (v->name) lua_pushvalue(L, -1), lua_setfield(L, -3, v->name);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "shared");
}

/* The Variables that scripts see, from which they reach the rest; the list is workspace of Lua's collector. */
static damo_var **graph_file_roots(lua_State *L, const damo_graph *g, int64_t *n) {
  const int64_t most = 2 * g->n_in + g->n_out + 2 * g->update_of.n + g->shared.n;
  damo_var **roots = bind_alloc(L, (size_t)most, sizeof *roots);
  int64_t k = 0;
  for (int64_t i = 0; i < g->n_in; i++) {
    roots[k++] = g->in[i].var;
    if (g->in[i].update) roots[k++] = g->in[i].update;
  }
  for (int64_t i = 0; i < g->n_out; i++) roots[k++] = g->out[i].var;
  for (int64_t i = 0; i < g->update_of.n; i++) {
    roots[k++] = g->update_of.at[i];
    roots[k++] = g->update_to.at[i];
  }
  for (int64_t i = 0; i < g->shared.n; i++) roots[k++] = g->shared.at[i];
  *n = k;
  return roots;
}

bool bind_read_graph(lua_State *L, int options, const char *func, const io_from *from) {
  luaL_checkstack(L, 40, func);
  graph_file_ops ops = graph_file_read_ops(L, options, func);
  const store_env env = {.find = graph_file_find, .user = &ops, .recipes = api_recipes};
  damo_graph **g = graph_file_push(L);
  bind_entry e = bind_enter(L);
  const uint64_t first = e.state->ctx->next_id;
  damo_graph *made = store_read(e.state->ctx, from, &env);
  const uint64_t end = e.state->ctx->next_id;
  *g = made;
  if (bind_leave_deferred(e, made ? DAMO_OK : damo_error_status(e.state->ctx)) != DAMO_OK) return false;
  if (!made->foreign) {
    int64_t n;
    damo_var **roots = graph_file_roots(L, made, &n);
    bind_push_fresh(L, roots, n, first, end, 0);
  }
  graph_file_push_lists(L, made);
  made->handed_on = true;
  bind_done(L);
  return true;
}

/* ---- save_graph, load_graph -------------------------------------------------------------------------------------- */

static const char *graph_file_path(lua_State *L, const char *func) {
  if (lua_type(L, 1) != LUA_TSTRING) bind_arg_error(L, func, 1, "path", "a string");
  bind_gate(L, GATE_FILE, func);
  return bind_text(L, 1, func);
}

/* save_graph(path, f or {inputs=, outputs=, updates=}, {lines=}): returns true. */
static int graph_file_save(lua_State *L) {
  static const char *const names[] = {"lines", NULL};
  damo_status status;
  lua_settop(L, 3);
  const char *path = graph_file_path(L, "save_graph");
  bind_check_options(L, "save_graph", 3, names);
  bind_write_graph(L, 2, 3, "save_graph", IO_TO_FILE(path), &status);
  bind_check(L, status);
  lua_pushboolean(L, 1);
  return 1;
}

/* load_graph(path, {ops=}): {inputs=, outputs=, updates=, shared=}. */
static int graph_file_load(lua_State *L) {
  static const char *const names[] = {"ops", NULL};
  lua_settop(L, 2);
  const char *path = graph_file_path(L, "load_graph");
  bind_check_options(L, "load_graph", 2, names);
  return bind_read_graph(L, 2, "load_graph", IO_FROM_FILE(path)) ? 1 : bind_error(L);
}

void bind_add_graph_files(lua_State *L) {
  static const luaL_Reg fns[] = {{"save_graph", graph_file_save}, {"load_graph", graph_file_load}, {NULL, NULL}};
  bind_setfuncs(L, fns);
}
