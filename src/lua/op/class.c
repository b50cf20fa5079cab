/* class: classes of Ops written in Lua: damo.Op{…} defines a class; calling the class with properties makes an Op. */
#include <stdlib.h>

#include "call.h"

static const char class_link_key = 'l';

/* ---- The link ---------------------------------------------------------------------------------------------------- */

void bind_op_link_release(bind_op_link *link) {
  if (link && --link->refs == 0) mem_free(link->ctx, link, sizeof *link);
}

static int class_link_gc(lua_State *L) {
  bind_op_link **at = lua_touserdata(L, 1), *link = *at;
  *at = NULL;
  if (link) link->state = NULL;
  bind_op_link_release(link);
  return 0;
}

static bind_op_link *class_get_link(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &class_link_key);
  bind_op_link **at = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return *at;
}

void bind_open_op_link(lua_State *L) {
  bind_state *st = bind_get(L);
  bind_op_link **at = lua_newuserdatauv(L, sizeof *at, 0);
  *at = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, class_link_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  *at = mem_calloc(st->ctx, sizeof **at);
  if (!*at) bind_error(L);
  **at = (bind_op_link){.refs = 1, .ctx = st->ctx, .state = st, .main = bind_main_thread(L)};
  lua_rawsetp(L, LUA_REGISTRYINDEX, &class_link_key);
}

/* ---- The class --------------------------------------------------------------------------------------------------- */

static void class_free_types(damo_ctx *ctx, damo_type **types, int n) {
  if (!types) return;
  for (int i = 0; i < n; i++) damo_release(types[i]);
  mem_free(ctx, types, (size_t)n * sizeof *types);
}

static void class_destroy(damo_obj *obj) {
  bind_op_class *k = (bind_op_class *)obj;
  damo_ctx *ctx = obj->ctx;
  mem_strfree(ctx, k->name);
  if (k->props) mem_free(ctx, k->props, k->props_size);
  if (k->view_map) mem_free(ctx, k->view_map, (size_t)k->n_view * sizeof *k->view_map);
  if (k->destroy_map) mem_free(ctx, k->destroy_map, (size_t)k->n_destroy * sizeof *k->destroy_map);
  class_free_types(ctx, k->itypes, k->n_in);
  class_free_types(ctx, k->otypes, k->n_out);
  bind_op_link_release(k->link);
  obj_free(obj, sizeof *k);
}

static void class_check(lua_State *L, const void *p) {
  if (!p) bind_error(L);
}

static void class_name(lua_State *L, bind_op_class *k, int def) {
  lua_getfield(L, def, "name");
  if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING) {
    bind_raise(L, DAMO_ETYPE, "Op: name must be a string, got %s", luaL_typename(L, -1));
  }
  class_check(L, k->name = mem_strdup(k->obj.ctx, lua_isnil(L, -1) ? "LuaOp" : bind_text(L, -1, "Op: name")));
  k->def.name = k->name;
  k->def.foreign = true;
  k->def.no_check = "a script's Op has no second definition";
  k->def.one_context = true;
  lua_pop(L, 1);
}

/* Reads props = {"factor", "axis"}. A class without props has exactly one Op, equal to no other. */
static void class_props(lua_State *L, bind_op_class *k, int def) {
  lua_getfield(L, def, "props");
  k->def.unique = lua_isnil(L, -1);
  if (!k->def.unique) {
    if (!lua_istable(L, -1))
      bind_raise(L, DAMO_ETYPE, "Op: props must be a list of names, got %s", luaL_typename(L, -1));
    int list = lua_gettop(L), n = (int)lua_rawlen(L, list);
    if (n > BIND_MAX_PROPS) bind_raise(L, DAMO_EVALUE, "Op: %d props, at most %d", n, BIND_MAX_PROPS);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 1; i <= n; i++) {
      lua_rawgeti(L, list, i);
      const char *s = lua_type(L, -1) == LUA_TSTRING ? bind_text(L, -1, "Op: props") : NULL;
      if (!s || !s[0] || strpbrk(s, " :")) bind_raise(L, DAMO_EVALUE, "Op: prop %d must be a name", i);
      if (strcmp(s, BIND_HIDDEN_PROP) == 0) bind_raise(L, DAMO_EVALUE, "Op: every class has the prop 'default_output'");
      luaL_addvalue(&b);
      if (i < n) luaL_addchar(&b, ' ');
    }
    luaL_addstring(&b, n > 0 ? " " BIND_HIDDEN_PROP : BIND_HIDDEN_PROP);
    luaL_pushresult(&b);
    class_check(L, k->props = op_fields_new(k->obj.ctx, lua_tostring(L, -1), &k->props_size));
    k->def.props = k->props;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Reads itypes or otypes into *types; *n is -1 if the definition has none. */
static void class_types(lua_State *L, bind_op_class *k, int def, const char *field, damo_type ***types, int *n) {
  *n = -1;
  lua_getfield(L, def, field);
  if (!lua_isnil(L, -1)) {
    if (!lua_istable(L, -1)) bind_raise(L, DAMO_ETYPE, "Op: %s must be a list of Types", field);
    int count = (int)lua_rawlen(L, -1);
    class_check(L, *types = mem_calloc(k->obj.ctx, (size_t)count * sizeof **types));
    *n = count;
    for (int i = 0; i < count; i++) {
      lua_rawgeti(L, -1, i + 1);
      damo_type *t = bind_to(L, -1, OBJ_TYPE);
      if (!t) bind_raise(L, DAMO_ETYPE, "Op: %s[%d] must be a Type, got %s", field, i + 1, bind_typename(L, -1));
      (*types)[i] = damo_retain(t);
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
}

static int class_compare_alias(const void *a, const void *b) {
  const op_alias *x = a, *y = b;
  return x->out != y->out ? x->out - y->out : x->in - y->in;
}

static int class_position(lua_State *L, int idx, const bind_op_class *k, const char *field) {
  lua_Number x = lua_type(L, idx) == LUA_TNUMBER ? lua_tonumber(L, idx) : 0;
  if (x >= 1 && x <= INT16_MAX && x == floor(x)) return (int)x - 1;
  const char *got = lua_type(L, idx) == LUA_TNUMBER ? bind_number_text(L, idx) : luaL_typename(L, idx);
  return bind_raise(L, DAMO_EVALUE, "%s: its %s holds positions, which count from 1, got %s", k->name, field, got);
}

/* Reads {[output] = {inputs}} or {[output] = input}, 1-based, into a sorted list that ends with {-1, -1}. */
static op_alias *class_map(lua_State *L, bind_op_class *k, int def, const char *field, int *n) {
  op_alias pairs[64];
  int count = 0;
  lua_getfield(L, def, field);
  int table = lua_gettop(L);
  if (lua_isnil(L, table)) {
    lua_pop(L, 1);
    return NULL;
  }
  if (!lua_istable(L, table))
    bind_raise(L, DAMO_ETYPE, "%s: its %s must be a table {[output] = {inputs}}", k->name, field);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    int out = class_position(L, -2, k, field), many = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 1;
    for (int i = 1; i <= many; i++) {
      if (count == 63) bind_raise(L, DAMO_EVALUE, "%s: its %s is too long", k->name, field);
      if (lua_istable(L, -1)) {
        lua_rawgeti(L, -1, i);
      } else {
        lua_pushvalue(L, -1);
      }
      pairs[count++] = (op_alias){(int16_t)out, (int16_t)class_position(L, -1, k, field)};
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  qsort(pairs, (size_t)count, sizeof *pairs, class_compare_alias);
  pairs[count] = (op_alias){-1, -1};
  op_alias *out = mem_alloc(k->obj.ctx, (size_t)(count + 1) * sizeof *out);
  class_check(L, out);
  memcpy(out, pairs, (size_t)(count + 1) * sizeof *out);
  *n = count + 1;
  return out;
}

static void class_default_output(lua_State *L, bind_op_class *k, int def) {
  lua_getfield(L, def, "default_output");
  if (!lua_isnil(L, -1)) k->def.default_output = class_position(L, -1, k, "default_output") + 1;
  lua_pop(L, 1);
}

/* Reads nan_guard_mode_check; false: nan and infinity are valid results. */
static void class_nonfinite(lua_State *L, bind_op_class *k, int def) {
  lua_getfield(L, def, "nan_guard_mode_check");
  if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
    bind_raise(L, DAMO_ETYPE, "Op: nan_guard_mode_check must be a boolean, got %s", luaL_typename(L, -1));
  if (!lua_isnil(L, -1) && !lua_toboolean(L, -1)) k->def.nonfinite = NONFINITE_ANY;
  lua_pop(L, 1);
}

static const char *const class_members[] = {"name",
                                            "props",
                                            "make_node",
                                            "perform",
                                            "grad",
                                            "L_op",
                                            "R_op",
                                            "infer_shape",
                                            "connection_pattern",
                                            "do_constant_folding",
                                            "default_output",
                                            "destroy_map",
                                            "view_map",
                                            "itypes",
                                            "otypes",
                                            "doc",
                                            "params_type",
                                            "get_params",
                                            "prepare_node",
                                            "make_thunk",
                                            "make_c_thunk",
                                            "make_lua_thunk",
                                            "add_tag_trace",
                                            "debug_perform",
                                            "nan_guard_mode_check",
                                            NULL};
static bool class_among(const char *s, const char *const *list) {
  for (; *list; list++) {
    if (strcmp(*list, s) == 0) return true;
  }
  return false;
}

/* A definition may have functions of its own under other names, but not a misspelt member. */
static void class_check_members(lua_State *L, int def) {
  for (lua_pushnil(L); lua_next(L, def); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "Op: the definition has names only");
    const char *key = bind_text(L, -2, "Op");
    const char *near = class_among(key, class_members) ? NULL : suggest(key, class_members);
    if (near) bind_raise(L, DAMO_EVALUE, "Op: unknown member '%s', did you mean '%s'?", key, near);
  }
}

/* Pushes the copy of the definition that the class keeps, so that the script's later changes of its table change no Op.
 * Members that every Op has as a field, in one normalized form, are left out. */
static void class_push_copy(lua_State *L, int def) {
  BIND_HEIGHT(L);
  static const char *const as_fields[] = {"props", "destroy_map", "view_map", "default_output", NULL};
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, def);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  for (int i = 0; as_fields[i]; i++) {
    lua_pushnil(L);
    lua_setfield(L, -2, as_fields[i]);
  }
  BIND_LEAVES(L, 1);
}

/* Makes the class from the definition at stack index def; pushes its userdata. */
static bind_op_class *class_make(lua_State *L, int def) {
  damo_ctx *ctx = bind_ctx(L);
  class_check_members(L, def);
  bind_op_class *k = obj_new(ctx, OBJ_OPCLASS, sizeof *k);
  class_check(L, k);
  k->link = class_get_link(L);
  k->link->refs++;
  k->n_in = k->n_out = -1;
  bind_push(L, k);
  int at = lua_gettop(L);
  class_name(L, k, def);
  class_props(L, k, def);
  class_types(L, k, def, "itypes", &k->itypes, &k->n_in);
  class_types(L, k, def, "otypes", &k->otypes, &k->n_out);
  k->destroy_map = class_map(L, k, def, "destroy_map", &k->n_destroy);
  k->view_map = class_map(L, k, def, "view_map", &k->n_view);
  bind_check(L, op_check_alias(ctx, k->name, "destroy_map", k->destroy_map, k->n_in, k->n_out));
  bind_check(L, op_check_alias(ctx, k->name, "view_map", k->view_map, k->n_in, k->n_out));
  k->def.destroy_map = k->destroy_map;
  k->def.view_map = k->view_map;
  class_default_output(L, k, def);
  class_nonfinite(L, k, def);
  bind_set_callbacks(L, def, k);
  bind_peer(L, at);
  class_push_copy(L, def);
  lua_setfield(L, -2, "def");
  lua_settop(L, at);
  return k;
}

void bind_push_definition(lua_State *L, const bind_op_class *k) {
  if (!bind_push_existing(L, k)) bind_raise(L, DAMO_ESTATE, "the Lua part of Op %s is gone", k->def.name);
  bind_peer(L, -1);
  lua_getfield(L, -1, "def");
  if (lua_isnil(L, -1)) bind_raise(L, DAMO_ESTATE, "the Lua part of Op %s is gone", k->def.name);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

bool bind_is_lua_op(const damo_op *op) { return op->owner && op->owner->kind == OBJ_OPCLASS; }

/* damo.Op{…}: returns a class, or an Op if the definition has no props. */
static int class_define(lua_State *L) {
  if (!lua_istable(L, 1)) bind_arg_error(L, "Op", 1, "definition", "a table");
  lua_settop(L, 1);
  luaL_checkstack(L, 40, "Op");
  bind_op_class *k = class_make(L, 1);
  if (k->def.unique) bind_push_made(L, op_new_owned(bind_ctx(L), &k->def, &k->obj, NULL));
  return 1;
}

/* ---- Instances --------------------------------------------------------------------------------------------------- */

int bind_op_prop_names(const op_def *def, const char **names) {
  const int n = op_fields_count(def->props);
  for (int i = 0; i < n; i++) names[i] = def->props[i].name;
  names[n] = NULL;
  return n;
}

/* Checks the hidden last property, default_output: absent, a position, or false for all outputs. */
static void class_check_default_output(lua_State *L, const bind_op_class *k, const prop_value *v) {
  if (v->kind == PROP_NIL) return;
  bool good = v->kind == PROP_BOOL ? !v->u.i : v->kind == PROP_INT && v->u.i >= 1 && v->u.i <= INT16_MAX;
  if (!good) bind_raise(L, DAMO_EVALUE, "%s: default_output is a 1-based position, or false", k->def.name);
}

/* Scale{factor = 3} */
static int class_instance(lua_State *L) {
  bind_op_class *k = bind_check_obj(L, 1, OBJ_OPCLASS, "Op", "self");
  const char *names[BIND_MAX_PROPS + 2];
  prop_value props[BIND_MAX_PROPS + 1];
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) lua_newtable(L), lua_replace(L, 2);
  if (!lua_istable(L, 2)) bind_arg_error(L, k->def.name, 2, "props", "a table of properties");
  luaL_checkstack(L, 2 * BIND_MAX_PROPS + 20, "Op");
  int n = bind_op_prop_names(&k->def, names);
  if (lua_rawlen(L, 2) > 0) bind_raise(L, DAMO_ETYPE, "%s: properties are given by name", k->def.name);
  bind_check_options(L, k->def.name, 2, names);
  for (int i = 0; i < n; i++) {
    lua_getfield(L, 2, names[i]);
    props[i] = bind_to_prop(L, lua_gettop(L), false, k->def.name, names[i]);
  }
  class_check_default_output(L, k, &props[n - 1]);
  bind_push_made(L, op_new_owned(bind_ctx(L), &k->def, &k->obj, props));
  return 1;
}

/* ---- The kind of classes ----------------------------------------------------------------------------------------- */

static int class_tostring(lua_State *L) {
  bind_op_class *k = bind_check_obj(L, 1, OBJ_OPCLASS, "tostring", "self");
  lua_pushfstring(L, "Op class %s", k->def.name);
  return 1;
}

static int class_get_name(lua_State *L) {
  lua_pushstring(L, ((bind_op_class *)bind_check_obj(L, 1, OBJ_OPCLASS, "name", "self"))->def.name);
  return 1;
}

void bind_add_op_class(lua_State *L) {
  static const luaL_Reg fields[] = {{"name", class_get_name}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const luaL_Reg meta[] = {{"__call", class_instance}, {"__tostring", class_tostring}, {NULL, NULL}};
  damo_ctx *ctx = bind_ctx(L);
  if (!ctx->destroy[OBJ_OPCLASS]) ctx_register_kind(ctx, OBJ_OPCLASS, class_destroy, NULL);
  bind_open_op_link(L);
  bind_class(L, OBJ_OPCLASS, fields, none, meta, LUA_NOREF);
  bind_pushfunction(L, class_define);
  lua_setfield(L, -2, "Op");
}
