/* array: Arrays in scripts: fields, indexing, operators, text. array_make.c makes them, array_methods.c has their own
 * methods; every op function is a method too, found in the table shared with Variables. */
#include "lua/binding.h"

typedef enum array_field {
  FIELD_SHAPE = 1,
  FIELD_STRIDES,
  FIELD_DTYPE,
  FIELD_NDIM,
  FIELD_SIZE,
  FIELD_T,
  FIELD_WRITEABLE
} array_field;

static const struct array_field_name {
  const char *name;
  array_field id;
} ARRAY_FIELDS[] = {
    {"shape", FIELD_SHAPE},         {"strides", FIELD_STRIDES}, {"dtype", FIELD_DTYPE},
    {"ndim", FIELD_NDIM},           {"size", FIELD_SIZE},       {"T", FIELD_T},
    {"writeable", FIELD_WRITEABLE},
};

static damo_array *array_self(lua_State *L) { return bind_check_obj(L, 1, OBJ_ARRAY, "Array", "self"); }

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static void array_push_integers(lua_State *L, const int64_t *v, int n) {
  BIND_HEIGHT(L);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushinteger(L, (lua_Integer)v[i]);
    lua_rawseti(L, -2, i + 1);
  }
  bind_set_record(L);
  BIND_LEAVES(L, 1);
}

static void array_push_transposed(lua_State *L, const damo_array *a) {
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  for (int i = 0; i < a->ndim; i++) {
    shape[i] = array_shape(a)[a->ndim - 1 - i];
    strides[i] = array_strides(a)[a->ndim - 1 - i];
  }
  bind_push_made(L, array_view(a, a->ndim, shape, strides, 0));
}

static void array_push_field(lua_State *L, const damo_array *a, array_field id) {
  BIND_HEIGHT(L);
  switch (id) {
    case FIELD_SHAPE: array_push_integers(L, array_shape(a), a->ndim); break;
    case FIELD_STRIDES: array_push_integers(L, array_strides(a), a->ndim); break;
    case FIELD_DTYPE: lua_pushstring(L, dtype_name(a->dtype)); break;
    case FIELD_NDIM: lua_pushinteger(L, a->ndim); break;
    case FIELD_SIZE: lua_pushinteger(L, (lua_Integer)array_size(a)); break;
    case FIELD_T: array_push_transposed(L, a); break;
    case FIELD_WRITEABLE: lua_pushboolean(L, a->writeable); break;
  }
  BIND_LEAVES(L, 1);
}

/* Reads a name at stack 2 that no Array has. Upvalues as array_index's. */
static int array_no_member(lua_State *L) {
  lua_settop(L, 2);
  if (bind_is_value_field(L, 2)) return 0;
  for (int i = 1; i <= 2; i++) lua_pushvalue(L, lua_upvalueindex(i));
  return bind_unknown_name(L, 2, "Array", "field or method ", NULL, 3, 4);
}

/* Upvalues: the members (name → function or field id), and the methods shared with Variables. Methods of a freed Array
 * are still found, so that free may be repeated. */
static int array_index_body(lua_State *L) {
  if (lua_type(L, 2) != LUA_TSTRING) return bind_index_get(L, array_self(L), 2);
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(1));
  if (lua_type(L, -1) == LUA_TNUMBER) {
    array_push_field(L, array_self(L), (array_field)lua_tointeger(L, -1));
  } else if (lua_isnil(L, -1)) {
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(2));
  }
  return lua_isnil(L, -1) ? array_no_member(L) : 1;
}

static int array_index(lua_State *L) { return bind_again_kept(L, array_index_body, 2); }

static int array_set_field(lua_State *L, damo_array *a) {
  const char *name = lua_tostring(L, 2);
  if (strcmp(name, "writeable") != 0) {
    const char *advice = strcmp(name, "shape") == 0   ? ": a:reshape{…} gives an Array of another shape"
                         : strcmp(name, "dtype") == 0 ? ": a:astype(dtype) gives an Array of another dtype"
                                                      : "";
    return bind_raise(L, DAMO_ETYPE, "Array: the field '%s' cannot be set%s", name, advice);
  }
  if (lua_type(L, 3) != LUA_TBOOLEAN) {
    return bind_raise(L, DAMO_ETYPE, "Array: writeable must be a boolean, got %s", bind_typename(L, 3));
  }
  if (lua_toboolean(L, 3) && !a->writeable) {
    return bind_raise(L, DAMO_ESTATE, "Array: a read-only Array cannot be made writeable; a:copy() can be written");
  }
  a->writeable = lua_toboolean(L, 3);
  return 0;
}

static int array_newindex(lua_State *L) {
  damo_array *a = array_self(L);
  return lua_type(L, 2) == LUA_TSTRING ? array_set_field(L, a) : bind_index_set(L, a, 2, 3);
}

static int array_len(lua_State *L) {
  const damo_array *a = array_self(L);
  if (a->ndim == 0) return bind_raise(L, DAMO_ETYPE, "#: a 0-d Array has no length");
  lua_pushinteger(L, (lua_Integer)array_shape(a)[0]);
  return 1;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static const char strbuf_key = 't';

static int strbuf_gc(lua_State *L) {
  strbuf_clear(lua_touserdata(L, 1));
  return 0;
}

strbuf *bind_push_strbuf(lua_State *L) {
  strbuf *b = lua_newuserdatauv(L, sizeof *b, 0);
  strbuf_init(b, bind_ctx(L));
  bind_set_gc(L, strbuf_gc, &strbuf_key);
  return b;
}

void bind_finish_strbuf(lua_State *L) {
  BIND_HEIGHT(L);
  strbuf *b = lua_touserdata(L, -1);
  bind_check(L, b->failed ? DAMO_EMEMORY : DAMO_OK);
  lua_pushlstring(L, b->n ? b->at : "", b->n);
  strbuf_clear(b);
  lua_remove(L, -2);
  BIND_LEAVES(L, 0);
}

static int array_tostring(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (box && !box->obj) {
    lua_pushliteral(L, "Array: freed");
    return 1;
  }
  const damo_array *a = array_self(L);
  array_format(bind_push_strbuf(L), a);
  bind_finish_strbuf(L);
  return 1;
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

static const struct array_operator_name {
  const char *event, *func;
  int operands;
} ARRAY_OPERATORS[] = {
    {"__add", "add", 2},        {"__sub", "sub", 2},  {"__mul", "mul", 2}, {"__div", "true_div", 2},
    {"__idiv", "floor_div", 2}, {"__mod", "mod", 2},  {"__pow", "pow", 2}, {"__band", "and_", 2},
    {"__bor", "or_", 2},        {"__bxor", "xor", 2}, {"__unm", "neg", 1}, {"__bnot", "invert", 1},
};

/* Upvalues: the op function, and its number of operands, since Lua passes the operand of a unary operator twice. */
static int array_operator_body(lua_State *L) {
  lua_settop(L, (int)lua_tointeger(L, lua_upvalueindex(2)));
  return bind_call_func(L, lua_touserdata(L, lua_upvalueindex(1)));
}

static int array_operator(lua_State *L) { return bind_again(L, array_operator_body, 2); }

static void array_check_ordered(lua_State *L, const char *sign, const char *func) {
  for (int i = 1; i <= 2; i++) {
    const damo_array *a = bind_to_array(L, i);
    if (lua_type(L, i) == LUA_TNUMBER || (a && a->ndim == 0)) continue;
    bind_raise(L, DAMO_ETYPE,
               "'%s' gives one boolean in Lua, which an Array with axes has not (got %s): use damo.%s(a, b)", sign,
               bind_typename(L, i), func);
  }
}

static int array_lt(lua_State *L) {
  array_check_ordered(L, "<", "lt");
  lua_settop(L, 2);
  return bind_call_name(L, "lt");
}

static int array_le(lua_State *L) {
  array_check_ordered(L, "<=", "le");
  lua_settop(L, 2);
  return bind_call_name(L, "le");
}

int bind_call_value(lua_State *L) {
  return bind_raise(L, DAMO_ETYPE, "%s: values are no functions: a[i] and a[{i, j}] are entries", bind_typename(L, 1));
}

/* ---- The metatable ----------------------------------------------------------------------------------------------- */

static int array_close(lua_State *L) {
  bind_free(L, 1);
  return 0;
}

static void array_set_operators(lua_State *L) {
  damo_ctx *ctx = bind_ctx(L);
  for (size_t i = 0; i < sizeof ARRAY_OPERATORS / sizeof ARRAY_OPERATORS[0]; i++) {
    const fn_signature *f = func_find(ctx, ARRAY_OPERATORS[i].func);
    if (!f) luaL_error(L, "damo: no function '%s' for %s", ARRAY_OPERATORS[i].func, ARRAY_OPERATORS[i].event);
    lua_pushlightuserdata(L, (void *)(uintptr_t)f);
    lua_pushinteger(L, ARRAY_OPERATORS[i].operands);
    bind_pushclosure(L, array_operator, 2);
    lua_setfield(L, -2, ARRAY_OPERATORS[i].event);
  }
}

/* Pushes the table of members: the methods that only Arrays have, and the fields by their ids. */
static void array_push_members(lua_State *L) {
  BIND_HEIGHT(L);
  lua_createtable(L, 0, 24);
  bind_array_methods(L);
  for (size_t i = 0; i < sizeof ARRAY_FIELDS / sizeof ARRAY_FIELDS[0]; i++) {
    lua_pushinteger(L, ARRAY_FIELDS[i].id);
    lua_setfield(L, -2, ARRAY_FIELDS[i].name);
    bind_add_value_field(L, ARRAY_FIELDS[i].name);
  }
  BIND_LEAVES(L, 1);
}

void bind_open_array(lua_State *L) {
  static const luaL_Reg meta[] = {{"__newindex", array_newindex},
                                  {"__len", array_len},
                                  {"__tostring", array_tostring},
                                  {"__lt", array_lt},
                                  {"__le", array_le},
                                  {"__close", array_close},
                                  {"__call", bind_call_value},
                                  {NULL, NULL}};
  bind_state *st = bind_get(L);
  bind_metatable(L, OBJ_ARRAY);
  bind_setfuncs(L, meta);
  array_set_operators(L);
  array_push_members(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_methods);
  bind_pushkept(L, array_index, array_index_body, 2);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  bind_open_array_make(L);
  bind_open_view(L);
}
