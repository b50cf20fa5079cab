/* op: Ops in scripts: fields, texts and equality. class.c makes classes of Ops written in Lua, node.c the nodes of
 * applied Ops, member.c has the other members. */
#include "class.h"
#include "member.h"
#include "node.h"
#include "thunk.h"
#include "lua/graph/test_value.h"

/* ---- Fields of Ops ----------------------------------------------------------------------------------------------- */

int bind_op_n_props(const damo_op *op) {
  const int n = op->n_props;
  const bool hidden = n > 0 && strcmp(op->def->props[n - 1].name, BIND_HIDDEN_PROP) == 0;
  return hidden && !prop_given(op->props[n - 1]) ? n - 1 : n;
}

void bind_push_props(lua_State *L, const damo_op *op) {
  BIND_HEIGHT(L);
  const int n = bind_op_n_props(op);
  lua_createtable(L, 0, n);
  for (int i = 0; i < n; i++) {
    bind_push_prop(L, &op->props[i]);
    lua_setfield(L, -2, op->def->props[i].name);
  }
  BIND_LEAVES(L, 1);
}

static void member_push_alias(lua_State *L, const op_alias *at) {
  BIND_HEIGHT(L);
  lua_newtable(L);
  for (; at && at->out >= 0; at++) {
    lua_rawgeti(L, -1, at->out + 1);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      lua_newtable(L);
      lua_pushvalue(L, -1);
      lua_rawseti(L, -3, at->out + 1);
    }
    lua_pushinteger(L, at->in + 1);
    lua_rawseti(L, -2, (int)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
  }
  BIND_LEAVES(L, 1);
}

static int member_get_name(lua_State *L) {
  lua_pushstring(L, bind_op_self(L, "name")->def->name);
  return 1;
}

/* op.props: the list of the names of its properties. */
static int member_get_props(lua_State *L) {
  const char *names[BIND_MAX_PROPS + 2];
  const damo_op *op = bind_op_self(L, "props");
  const int n = bind_op_n_props(op);
  bind_op_prop_names(op->def, names);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int member_get_destroy_map(lua_State *L) {
  member_push_alias(L, bind_op_self(L, "destroy_map")->destroy_map);
  return 1;
}

static int member_get_view_map(lua_State *L) {
  member_push_alias(L, bind_op_self(L, "view_map")->view_map);
  return 1;
}

static int member_get_default_output(lua_State *L) {
  int i = op_default_output(bind_op_self(L, "default_output"));
  if (i == 0) return 0;
  lua_pushinteger(L, i);
  return 1;
}

static int member_get_class(lua_State *L) {
  damo_op *op = bind_op_self(L, "class");
  if (!op->owner) return 0;
  bind_push_borrowed(L, op->owner);
  return 1;
}

/* Reads a field: a property, else a member of the definition, else what every Op has. Upvalue 1: the __index for the
 * last. */
static int member_index(lua_State *L) {
  damo_op *op = bind_op_self(L, "Op");
  lua_settop(L, 2);
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  const prop_value *v = op_prop(op, lua_tostring(L, 2));
  if (v->kind != PROP_NIL && !(v->kind == PROP_BOOL && strcmp(lua_tostring(L, 2), BIND_HIDDEN_PROP) == 0)) {
    bind_push_prop(L, v);
    return 1;
  }
  if (bind_is_lua_op(op)) {
    bind_push_definition(L, bind_op_class_of(op));
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1)) return 1;
    lua_pop(L, 2);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

/* ---- Texts and equality ------------------------------------------------------------------------------------------ */

static int member_tostring(lua_State *L) {
  damo_op *op = bind_op_self(L, "tostring");
  strbuf b;
  strbuf_init(&b, bind_ctx(L));
  op_format(&b, op);
  strbuf_add(&b, "");
  char text[400];
  size_t n = b.failed || !b.at ? 0 : b.n;
  if (n >= sizeof text) n = sizeof text - 1;
  if (n) memcpy(text, b.at, n);
  strbuf_clear(&b);
  lua_pushlstring(L, text, n);
  return 1;
}

static int member_equal(lua_State *L) {
  const void *a = bind_to(L, 1, OBJ_OP), *b = bind_to(L, 2, OBJ_OP);
  lua_pushboolean(L, a && a == b);
  return 1;
}

/* ---- The kind of Ops --------------------------------------------------------------------------------------------- */

void bind_open_op(lua_State *L) {
  static const luaL_Reg fields[] = {{"name", member_get_name},
                                    {"props", member_get_props},
                                    {"destroy_map", member_get_destroy_map},
                                    {"view_map", member_get_view_map},
                                    {"default_output", member_get_default_output},
                                    {"class", member_get_class},
                                    {NULL, NULL}};
  static const luaL_Reg methods[] = {{"make_node", bind_member_make_node},
                                     {"make_thunk", bind_member_make_thunk},
                                     {"make_c_thunk", bind_member_make_c_thunk},
                                     {"make_lua_thunk", bind_member_make_lua_thunk},
                                     {"perform", bind_member_perform},
                                     {"grad", bind_member_grad},
                                     {"L_op", bind_member_L_op},
                                     {"R_op", bind_member_R_op},
                                     {"infer_shape", bind_member_infer_shape},
                                     {"connection_pattern", bind_member_connection_pattern},
                                     {"do_constant_folding", bind_member_do_constant_folding},
                                     {"get_params", bind_member_get_params},
                                     {"prepare_node", bind_member_prepare_node},
                                     {"add_tag_trace", bind_member_add_tag_trace},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {
      {"__call", bind_member_call}, {"__tostring", member_tostring}, {"__eq", member_equal}, {NULL, NULL}};
  bind_class(L, OBJ_OP, fields, methods, meta, LUA_NOREF);
  bind_metatable(L, OBJ_OP);
  lua_getfield(L, -1, "__index");
  lua_pushcclosure(L, member_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  bind_add_op_class(L);
  lua_getfield(L, -1, "graph");
  bind_add_thunk_type(L);
  bind_add_test_value(L);
  bind_pushfunction(L, bind_member_add_tag_trace);
  lua_setfield(L, -2, "add_tag_trace");
  lua_pop(L, 1);
}
