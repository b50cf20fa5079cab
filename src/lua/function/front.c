/* front: calls of f:into through LuaJIT's ffi. lua/damo/front.lua casts the addresses that core.front hands over to C
 * functions, whose declarations are made here from the same rows as the functions; traces run through such a call.
 *
 * A call through the ffi must not enter Lua: neither a callback nor an error may happen in it. So it takes what can be
 * done in C alone, and for all else gives false, before anything was changed: the script's closure then makes the call
 * through the C API, which does it and raises what is to be raised.
 */
#include "function.h"

#define FRONT_MOST 4 /* inputs and outputs */

/* What the closure of f:into keeps for such calls, a userdata. */
typedef struct front_call {
  const bind_box *box; /* of the Function; the closure keeps both */
  bind_caller *caller;
  damo_obj *const *into; /* borrowed from the vault of the closure */
  int n_in, n_out;
  bool scalars;  /* numbers in, one number out: function_run_scalars */
  double result; /* the number, if scalars */
} front_call;

/* Whether no thunk may run Lua code, look for an interruption or print. */
static bool front_stays_in_c(const damo_function *f) {
  const fn_program *p = f->program;
  if (p->watcher != NULL || f->companion != NULL) return false;
  for (int64_t k = 0; k < p->vm.n_thunks; k++) {
    const damo_apply *node = p->vm.thunks[k]->node;
    if (node && (node->op->owner || node->op->def->foreign || node->op->def->one_context || node->op->def->impure))
      return false;
  }
  return true;
}

static bool front_is_scalar(const damo_type *t) {
  return t->ndim == 0 && !dtype_is_complex(t->dtype) && t->dtype != DAMO_BOOL && t->dtype != DAMO_INT64 &&
         t->dtype != DAMO_UINT64;
}

/* Whether the n-th input or target takes that Array as it is. */
static bool front_takes(const damo_type *t, const damo_obj *v) {
  const damo_array *a = (const damo_array *)v;
  return v->kind == OBJ_ARRAY && a->ndim == t->ndim && array_dtype(a) == t->dtype;
}

static bool front_run_scalars(front_call *c, damo_function *f, damo_array *const *args) {
  damo_array *out = (damo_array *)c->into[0];
  scalar result;
  bind_state *st = c->caller->st;
  lua_State *before = st->running;
  st->running = st->main; /* a view can't be bound anew meanwhile */
  const damo_status s = function_run_scalars(f, args, &result);
  st->running = before;
  if (s != DAMO_OK) return false;
  array_set(out, NULL, result);
  c->result = scalar_to_double(result);
  return true;
}

/* The call with the userdata of n arguments, all of which are boxes of ours. */
static bool front_run(front_call *c, const bind_box *const *boxes) {
  bind_state *st = c->caller->st;
  damo_function *f = (damo_function *)c->box->obj;
  damo_obj *args[FRONT_MOST];
  if (!f || f->freed || f->running || f->profile || st->closed || st->running || st->ctx->limited || st->ctx->sandbox ||
      bind_gc_is_due(st) || bind_warns_lua(st))
    return false;
  for (int i = 0; i < c->n_in; i++) {
    args[i] = boxes[i]->obj;
    if (!args[i] || !front_takes(f->program->inputs[i].var->type, args[i])) return false;
  }
  for (int i = 0; i < c->n_out; i++) {
    if (!front_takes(f->program->outputs[i].type, c->into[i]) || !((damo_array *)c->into[i])->writeable) return false;
  }
  if (c->scalars) return front_run_scalars(c, f, (damo_array *const *)args);
  lua_State *before = st->running;
  st->running = st->main;
  const damo_status s = function_run(f, args, c->n_in, c->into);
  st->running = before;
  if (s != DAMO_OK) return false;
  function_finish(f);
  return true;
}

/* The rows: return type, name, parameters as C and as the ffi write them. */
#define FRONT_FUNCTIONS(X)                                \
  X(bool, into1, (void *call, void *a))                   \
  X(bool, into2, (void *call, void *a, void *b))          \
  X(bool, into3, (void *call, void *a, void *b, void *c)) \
  X(double, result, (void *call))

static bool front_into1(void *call, void *a) { return front_run(call, (const bind_box *const[]){a}); }
static bool front_into2(void *call, void *a, void *b) { return front_run(call, (const bind_box *const[]){a, b}); }
static bool front_into3(void *call, void *a, void *b, void *c) {
  return front_run(call, (const bind_box *const[]){a, b, c});
}
static double front_result(void *call) { return ((const front_call *)call)->result; }

typedef union front_address {
#define X(type, name, parameters) type(*name) parameters;
  FRONT_FUNCTIONS(X)
#undef X
  void *address;
} front_address;

static void front_push(lua_State *L, const char *name, const char *type, front_address f) {
  lua_createtable(L, 2, 0);
  lua_pushstring(L, type);
  lua_rawseti(L, -2, 1);
  lua_pushlightuserdata(L, f.address);
  lua_rawseti(L, -2, 2);
  lua_setfield(L, -2, name);
}

/* front(wrap): gives {name = {C type of a pointer to it, address}}; from then on f:into gives what wrap makes of its
 * closure (bind_front_wrap). */
static const char front_key = 'w';

static int front_open(lua_State *L) {
  bind_gate(L, GATE_POINTER, "front");
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &front_key);
  lua_newtable(L);
#define X(type, name, parameters) front_push(L, #name, #type "(*)" #parameters, (front_address){.name = front_##name});
  FRONT_FUNCTIONS(X)
#undef X
  return 1;
}

/* known(value): whether it is a userdata of ours, and may be given to a C function as a box. */
static int front_is_known(lua_State *L) {
  lua_pushboolean(L, bind_box_at(L, 1) != NULL);
  return 1;
}

void bind_front_wrap(lua_State *L, const damo_function *f, bind_caller *c, void *const *vault) {
  const fn_program *p = f->program;
  if (!COMPAT_UV_TABLE || bind_ctx(L)->sandbox) return;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &front_key);
  bool fits = lua_isfunction(L, -1) && p->n_inputs >= 1 && p->n_inputs < FRONT_MOST && p->n_outputs == 1 && !c->named &&
              !c->nested && vault[0] && front_stays_in_c(f);
  for (int64_t i = 0; fits && i < p->n_inputs; i++) fits = type_is_tensor(p->inputs[i].var->type);
  fits = fits && type_is_tensor(p->outputs[0].type);
  const bool scalars = fits && bind_calls_scalars(f) && front_is_scalar(p->outputs[0].type);
  if (!fits || (!scalars && p->outputs[0].type->ndim == 0)) {
    lua_pop(L, 1);
    return;
  }
  lua_insert(L, -2); /* wrap, closure */
  front_call *call = lua_newuserdatauv(L, sizeof *call, 0);
  *call = (front_call){.box = bind_box_at(L, 1),
                       .caller = c,
                       .into = (damo_obj *const *)vault,
                       .n_in = (int)p->n_inputs,
                       .n_out = 1,
                       .scalars = scalars};
  lua_pushinteger(L, call->n_in);
  if (scalars) lua_pushboolean(L, false);
  if (!scalars) lua_pushvalue(L, 2);
  lua_call(L, 4, 1);
}

void bind_open_front(lua_State *L) {
  static const luaL_Reg functions[] = {{"front", front_open}, {"known", front_is_known}, {NULL, NULL}};
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit");
  const bool jit = lua_istable(L, -1);
  lua_pop(L, 2);
  if (!jit) return;
  lua_createtable(L, 0, 2);
  bind_setfuncs(L, functions);
  lua_setfield(L, -2, "ffi");
}
