/* function: compiled Functions in scripts: their userdata, fields and methods. */
#include "function.h"

static const char caller_key = 'c', function_key = 'm';

static int caller_gc(lua_State *L) {
  bind_caller *c = lua_touserdata(L, 1);
  for (int64_t i = 0; i < c->n; i++) {
    damo_array *a = c->scalar[i];
    c->scalar[i] = NULL;
    damo_release(a);
  }
  return 0;
}

/* Gives the Function's userdata at idx its bind_caller. */
static void caller_attach(lua_State *L, int idx, const damo_function *f, bool named, bool single) {
  BIND_HEIGHT(L);
  idx = lua_absindex(L, idx);
  size_t bytes = sizeof(bind_caller) + (size_t)f->program->n_inputs * sizeof(damo_array *);
  bind_peer(L, idx);
  bind_caller *c = lua_newuserdatauv(L, bytes, 0);
  memset(c, 0, bytes);
  *c = (bind_caller){.st = bind_get(L), .named = named, .single = single, .n = f->program->n_inputs};
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    const damo_type *t = f->program->outputs[i].type;
    if (!type_is_tensor(t) || t->ndim > 0 || dtype_is_complex(t->dtype) || t->dtype == DAMO_UINT64) c->n_arrays++;
  }
  c->scalars = c->n_arrays == 0 && !named && bind_calls_scalars(f);
  if (!named) c->direct = function_direct(f);
  c->direct.doubles = c->direct.doubles && c->scalars;
  c->direct.again = c->direct.again && bind_calls_again(f);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &function_key);
  lua_setmetatable(L, -2);
  lua_rawsetp(L, -2, &caller_key);
  lua_pop(L, 1);
  bind_box_at(L, idx)->caller = c;
  BIND_LEAVES(L, 0);
}

/* Keeps alive, from the Function at the top, the Lua parts of its companion, the Function that DEBUG mode runs beside
 * it: Ops that rewriting removed from the main one, and generic values. */
static void function_anchor_companion(lua_State *L, const damo_function *companion) {
  BIND_HEIGHT(L);
  int n = 0;
  bind_peer(L, -1);
  lua_newtable(L);
  for (int64_t i = 0; i < companion->program->vm.n_thunks; i++) {
    const damo_apply *node = companion->program->vm.thunks[i]->node;
    if (!node || !node->op->owner) continue;
    bind_push_borrowed(L, node->op);
    lua_rawseti(L, -2, ++n);
  }
  for (int64_t i = 0; i < companion->program->vm.n_cells; i++) {
    const damo_obj *v = companion->frame.frame.cells[i];
    if (!v || v->kind != OBJ_GENERIC) continue;
    bind_push_borrowed(L, v);
    lua_rawseti(L, -2, ++n);
  }
  lua_setfield(L, -2, "companion");
  lua_pop(L, 1);
  BIND_LEAVES(L, 0);
}

void bind_push_function(lua_State *L, damo_function *take_f, bool named, bool single) {
  bind_push(L, take_f);
  caller_attach(L, -1, take_f, named, single);
  if (take_f->companion) function_anchor_companion(L, take_f->companion);
}

damo_function *bind_function_self(lua_State *L, const char *func) {
  return bind_check_obj(L, 1, OBJ_FUNCTION, func, "self");
}

bind_caller *bind_caller_of(lua_State *L, int idx) {
  const bind_box *box = bind_box_at(L, idx);
  if (!box || !box->caller)
    bind_raise(L, DAMO_ESTATE, "this Function was made by another program: it can't be called from here");
  return box->caller;
}

/* ---- Fields and methods ------------------------------------------------------------------------------------------ */

/* The last is a text from which compile.lua makes the others again, for tokens. */
static const char *const function_forms[] = {"take_args", "give_results", "form"};
#define N_FUNCTION_FORMS 3

int bind_function_nest(lua_State *L) {
  bind_function_self(L, "compile");
  bind_caller *c = bind_caller_of(L, 1);
  lua_settop(L, 1 + N_FUNCTION_FORMS);
  bind_peer(L, 1);
  for (int i = 0; i < N_FUNCTION_FORMS; i++) {
    lua_pushvalue(L, 2 + i);
    lua_setfield(L, -2, function_forms[i]);
  }
  c->nested = true;
  c->scalars = false;
  return 0;
}

/* Gives the Function at the top the forms of arguments and results of the one at idx. */
static void function_copy_forms(lua_State *L, int idx) {
  BIND_HEIGHT(L);
  bind_caller *c = bind_caller_of(L, -1);
  bind_peer(L, -1);
  bind_peer(L, idx);
  for (int i = 0; i < N_FUNCTION_FORMS; i++) {
    lua_getfield(L, -1, function_forms[i]);
    lua_setfield(L, -3, function_forms[i]);
  }
  lua_pop(L, 2);
  c->nested = true;
  c->scalars = false;
  BIND_LEAVES(L, 0);
}

static int function_make_copy(lua_State *L) {
  damo_function *f = bind_function_self(L, "copy");
  bind_caller *c = bind_caller_of(L, 1);
  damo_function *g = function_copy(f);
  if (!g) return bind_error(L);
  bind_push_function(L, g, c->named, c->single);
  if (c->nested) function_copy_forms(L, 1);
  return 1;
}

/* f:token(): the form of calls goes with it as a text: "named", "single" or "", and behind a semicolon that of nested
 * tables. */
static int function_make_token(lua_State *L) {
  char name[DAMO_TOKEN_SIZE];
  damo_function *f = bind_function_self(L, "token");
  const bind_caller *c = bind_caller_of(L, 1);
  const char *form = c->named ? "named" : c->single ? "single" : "";
  if (c->nested) {
    bind_peer(L, 1);
    lua_getfield(L, -1, "form");
    form = lua_pushfstring(L, "%s;%s", form, lua_tostring(L, -1));
  }
  bind_check(L, api_function_token(f, form, name));
  lua_pushstring(L, name);
  return 1;
}

static const char nester_key = 'n';

int bind_set_nester(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &nester_key);
  return 0;
}

int bind_from_token(lua_State *L) {
  const char *form = NULL;
  lua_settop(L, 1);
  if (lua_type(L, 1) != LUA_TSTRING) return bind_arg_error(L, "from_token", 1, "token", "a string");
  damo_function *f = function_from_token(bind_ctx(L), bind_text(L, 1, "from_token"), &form);
  if (!f) return bind_error(L);
  const char *nested = strchr(form, ';'); /* f keeps the text */
  bind_push_function(L, f, strncmp(form, "named", 5) == 0, strncmp(form, "single", 6) == 0);
  if (!nested) return 1;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &nester_key); /* there in each state that has loaded damo */
  lua_pushvalue(L, -2);
  lua_pushstring(L, nested + 1);
  lua_call(L, 2, 0);
  return 1;
}

/* f:free(); a Function that is freed already stays so. */
static int function_free_now(lua_State *L) {
  bind_box *box = bind_box_at(L, 1);
  if (!box || box->kind != OBJ_FUNCTION) return bind_arg_error(L, "free", 1, "self", "a Function");
  if (!box->obj) return 0;
  bind_check(L, function_free((damo_function *)box->obj));
  return 0;
}

static int function_trim_now(lua_State *L) {
  bind_check(L, function_trim(bind_function_self(L, "trim")));
  return 0;
}

/* The bytes of the uint8 vector at idx, which is contiguous; NULL: it is none. */
static damo_array *function_bytes(lua_State *L, int idx) {
  damo_array *a = bind_to_array(L, idx);
  return a && array_dtype(a) == DAMO_UINT8 && a->ndim == 1 && array_is_contiguous(a) ? a : NULL;
}

/* f:snapshot(): the state as a string. f:snapshot(a): writes it to the start of a uint8 vector; returns its size. */
static int function_take_snapshot(lua_State *L) {
  const damo_function *f = bind_function_self(L, "snapshot");
  size_t size = 0;
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) {
    bind_check(L, function_snapshot(f, NULL, 0, &size));
    void *bytes = bind_alloc(L, size, 1);
    bind_check(L, function_snapshot(f, bytes, size, &size));
    lua_pushlstring(L, bytes, size);
    return 1;
  }
  damo_array *a = function_bytes(L, 2);
  if (!a) return bind_arg_error(L, "snapshot", 2, "into", "a contiguous uint8 vector, or nothing");
  if (!a->writeable) return bind_raise(L, DAMO_ESTATE, "snapshot: the Array is read-only");
  if (!array_takes_writes(a))
    return bind_raise(L, DAMO_ESTATE, "snapshot: the Array is an input of a run that has not ended");
  bind_check(L, function_snapshot(f, a->data, (size_t)array_size(a), &size));
  lua_pushinteger(L, (lua_Integer)size);
  return 1;
}

/* f:restore(s): s is a snapshot as a string or in a uint8 vector. */
static int function_restore_now(lua_State *L) {
  damo_function *f = bind_function_self(L, "restore");
  if (lua_type(L, 2) == LUA_TSTRING) {
    size_t n;
    const char *bytes = lua_tolstring(L, 2, &n);
    bind_check(L, function_restore(f, bytes, n));
    return 0;
  }
  const damo_array *a = function_bytes(L, 2);
  if (!a) return bind_arg_error(L, "restore", 2, "snapshot", "a string or a contiguous uint8 vector");
  bind_check(L, function_restore(f, a->data, (size_t)array_size(a)));
  return 0;
}

static int function_get_name(lua_State *L) {
  lua_pushstring(L, bind_function_self(L, "name")->program->name);
  return 1;
}

static int function_get_n_calls(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)bind_function_self(L, "n_calls")->n_calls);
  return 1;
}

static int function_get_fgraph(lua_State *L) {
  const damo_fgraph *fg = function_fgraph(bind_function_self(L, "fgraph"));
  if (!fg) return bind_error(L);
  bind_push_borrowed(L, fg);
  return 1;
}

static int function_get_inputs(lua_State *L) {
  damo_function *f = bind_function_self(L, "inputs");
  lua_createtable(L, (int)f->program->n_inputs, 0);
  for (int64_t i = 0; i < f->program->n_inputs; i++) {
    const damo_var *v = function_input(f, i);
    if (!v) return bind_error(L);
    bind_push_borrowed(L, v);
    lua_rawseti(L, -2, (int)(i + 1));
  }
  return 1;
}

static int function_get_shared(lua_State *L) {
  damo_function *f = bind_function_self(L, "shared");
  int n = 0;
  lua_newtable(L);
  for (int64_t i = 0; i < f->program->n_shared; i++) {
    const damo_var *v = function_shared_var(f, i);
    if (!v) continue;
    bind_push_borrowed(L, v);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

static int function_tostring(lua_State *L) {
  bind_box *box = bind_box_at(L, 1);
  const damo_function *f = box ? (const damo_function *)box->obj : NULL;
  if (!f || f->freed) {
    lua_pushliteral(L, "Function: freed");
    return 1;
  }
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "Function ");
  luaL_addstring(&b, f->program->name ? f->program->name : "");
  luaL_addstring(&b, "(");
  for (int64_t i = 0; i < f->program->n_inputs && i < 8; i++) {
    char text[120];
    if (i) luaL_addstring(&b, ", ");
    luaL_addstring(&b, f->program->inputs[i].name ? f->program->inputs[i].name
                                                  : var_format(text, sizeof text, f->program->inputs[i].var));
  }
  if (f->program->n_inputs > 8) luaL_addstring(&b, ", …");
  lua_pushfstring(L, ") -> %d output%s", (int)f->program->n_outputs, f->program->n_outputs == 1 ? "" : "s");
  luaL_addvalue(&b);
  luaL_pushresult(&b);
  return 1;
}

void bind_add_function_class(lua_State *L) {
  bind_add_run_class(L);
  static const luaL_Reg fields[] = {{"name", function_get_name},
                                    {"n_calls", function_get_n_calls},
                                    {"fgraph", function_get_fgraph},
                                    {"inputs", function_get_inputs},
                                    {"shared", function_get_shared},
                                    {"profile", bind_function_get_profile},
                                    {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"call", bind_function_call_named},   {"into", bind_function_into}, {"probe", bind_function_probe},
      {"start", bind_function_start},       {"copy", function_make_copy}, {"snapshot", function_take_snapshot},
      {"restore", function_restore_now},    {"trim", function_trim_now},  {"token", function_make_token},
      {"export_c", bind_function_export_c}, {"free", function_free_now},  {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__tostring", function_tostring}, {"__close", function_free_now}, {NULL, NULL}};
  bind_class(L, OBJ_FUNCTION, fields, methods, meta, LUA_NOREF);
  bind_metatable(L, OBJ_FUNCTION);
  bind_pushclosure(L, bind_function_call, 0);
  lua_setfield(L, -2, "__call");
  lua_pop(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, caller_gc);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &function_key);
}
