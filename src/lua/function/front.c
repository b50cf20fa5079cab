/* front: calls of Functions through LuaJIT's ffi, those of f:into and of f itself. lua/damo/front.lua casts the address
 * that core.ffi hands over to a C function of a type of damo.h; traces run through such a call.
 *
 * A call through the ffi must not enter Lua: neither a callback nor an error may happen in it. So it takes what can be
 * done in C alone, and for all else gives false, before anything was changed: the script's closure then makes the call
 * through the C API, which does it and raises what is to be raised.
 */
#include <math.h>

#include "function.h"

#include "front_types.inc"

#define FRONT_IN 6  /* inputs at most: front.lua has a function for each number */
#define FRONT_OUT 6 /* outputs */

/* What the closure in Lua keeps for such calls, a userdata. */
typedef struct front_call {
  damo_front_left left; /* first: front.lua reads the userdata as this */
  const bind_box *box;  /* of the Function, which who calls keeps */
  bind_caller *caller;
  damo_obj *const *into; /* borrowed from the vault of f:into's closure; entries may be NULL */
  int n_in, n_out;
  bool scalars; /* numbers in and out: function_run_scalars */
  bool doubles; /* and all of them float64 */
} front_call;

/* An argument as front.lua passes it: the address of a userdata of ours, or NULL and a number. */
typedef struct front_value {
  const bind_box *box;
  double number;
} front_value;

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

static void front_enter(bind_state *st) {
  st->running = st->main; /* a view can't be bound anew meanwhile */
  st->ctx->was_interrupted = false;
  st->in_front = true;
}

/* An interruption that was seen is for the call that comes next. */
static void front_leave(bind_state *st, lua_State *before) {
  st->running = before;
  st->in_front = false;
  if (st->ctx->was_interrupted) damo_ctx_interrupt(st->ctx);
}

/* Argument i, borrowed; NULL: it is left to the C API. */
static damo_obj *front_argument(front_call *c, const damo_function *f, int i, front_value v) {
  const fn_input *in = &f->program->inputs[i];
  const damo_type *t = in->var->type;
  if (v.box) return v.box->obj && front_takes(t, v.box->obj) ? v.box->obj : NULL;
  if (t->ndim > 0 || in->strict || !dtype_is_float(t->dtype)) return NULL;
  damo_array *a = bind_caller_number(c->caller, f, i);
  if (!a) return NULL;
  if (t->dtype == DAMO_FLOAT64)
    *(double *)a->data = v.number;
  else
    array_set(a, NULL, (scalar){.dtype = t->dtype, .v.f = v.number});
  return &a->obj;
}

/* LuaJIT keeps other values in the bits of a nan, and takes a double of the ffi as it is: of all nans only this one is
 * safe to give. */
static inline double front_number(double v) { return v == v ? v : (double)NAN; }

static damo_status front_run_scalars(front_call *c, damo_function *f, damo_obj *const *args) {
  scalar results[FRONT_OUT];
  DAMO_TRY(function_run_scalars(f, (damo_array *const *)args, results));
  for (int i = 0; i < c->n_out; i++) {
    damo_array *out = (damo_array *)c->into[i];
    const bool doubles = results[i].dtype == DAMO_FLOAT64;
    if (out && doubles) *(double *)out->data = results[i].v.f;
    if (out && !doubles) array_set(out, NULL, results[i]);
    c->left.results[i] = front_number(doubles ? results[i].v.f : scalar_to_double(results[i]));
  }
  return DAMO_OK;
}

static damo_status front_run_any(front_call *c, damo_function *f, damo_obj *const *args) {
  DAMO_TRY(function_run(f, args, c->n_in, c->into));
  for (int i = 0; i < c->n_out; i++) {
    if (f->program->outputs[i].type->ndim > 0) continue;
    const damo_obj *v = c->into[i] ? c->into[i] : function_peek(f, i);
    c->left.results[i] = front_number(scalar_to_double(array_item((const damo_array *)v)));
  }
  function_finish(f);
  return DAMO_OK;
}

/* The call of a Function of doubles that has machine code: it allocates nothing, can't fail, and calls nothing back. */
static inline bool front_run_doubles(front_call *c, damo_function *f, const front_value *values, int n) {
  char *at[FRONT_IN + FRONT_OUT];
  for (int i = 0; i < n; i++) {
    const bind_box *box = values[i].box;
    if (box && !bind_is_double(box->obj)) return false;
    at[i] = box ? ((const damo_array *)box->obj)->data : (char *)&values[i].number;
  }
  for (int i = 0; i < c->n_out; i++) {
    const damo_array *out = (const damo_array *)c->into[i];
    if (out && (!bind_is_double(&out->obj) || !array_takes_writes(out))) return false;
    at[n + i] = (char *)&c->left.results[i];
  }
  if (!function_run_at(f, &c->caller->direct, at)) return false;
  for (int i = 0; i < c->n_out; i++) {
    if (c->into[i]) *(double *)((damo_array *)c->into[i])->data = c->left.results[i];
    c->left.results[i] = front_number(c->left.results[i]);
  }
  return true;
}

/* The call on short Arrays of the shapes of the last one. */
static bool front_run_again(front_call *c, damo_function *f, damo_obj *const *args) {
  damo_array *results[FRONT_OUT];
  for (int i = 0; i < c->n_out; i++) results[i] = (damo_array *)c->into[i];
  if (!function_run_again(f, &c->caller->direct, (damo_array *const *)args, results)) return false;
  for (int i = 0; i < c->n_out; i++) {
    if (results[i]->ndim == 0) c->left.results[i] = front_number(scalar_to_double(array_item(results[i])));
  }
  return true;
}

/* The call with n values: whether it was made. */
static bool front_run(front_call *c, const front_value *values, int n) {
  bind_state *st = c->caller->st;
  damo_function *f = (damo_function *)c->box->obj;
  damo_obj *args[FRONT_IN];
  if (f && c->doubles && !st->ctx->sandbox && front_run_doubles(c, f, values, n)) return true;
  if (!f || f->freed || f->running || f->profile || st->closed || st->running || st->ctx->limited || st->ctx->sandbox ||
      bind_gc_is_due(st) || bind_warns_lua(st))
    return false;
  for (int i = 0; i < n; i++) {
    args[i] = front_argument(c, f, i, values[i]);
    if (!args[i]) return false;
  }
  for (int i = 0; i < c->n_out; i++) {
    const damo_array *out = (const damo_array *)c->into[i];
    if (out && (!front_takes(f->program->outputs[i].type, &out->obj) || !array_takes_writes(out))) return false;
  }
  if (c->caller->direct.again && front_run_again(c, f, args)) return true;
  lua_State *before = st->running;
  front_enter(st);
  const damo_status s = c->scalars ? front_run_scalars(c, f, args) : front_run_any(c, f, args);
  front_leave(st, before);
  return s == DAMO_OK;
}

/* Makes the call and gives the first result, 0 if that is no number: in Lua one step less than asking whether it was made,
 * and then for the result. A nan also stands for a call that was not made: `done` tells. */
static inline double front_give(front_call *c, const front_value *values, int n) {
  c->left.done = front_run(c, values, n);
  return c->left.done ? c->left.results[0] : NAN;
}

static double front_run0(void *call) { return front_give(call, NULL, 0); }

static double front_run1(void *call, void *a, double p) { return front_give(call, (const front_value[]){{a, p}}, 1); }

static double front_run2(void *call, void *a, double p, void *b, double q) {
  return front_give(call, (const front_value[]){{a, p}, {b, q}}, 2);
}

static double front_run3(void *call, void *a, double p, void *b, double q, void *c, double r) {
  return front_give(call, (const front_value[]){{a, p}, {b, q}, {c, r}}, 3);
}

static double front_run4(void *call, void *a, double p, void *b, double q, void *c, double r, void *d, double s) {
  return front_give(call, (const front_value[]){{a, p}, {b, q}, {c, r}, {d, s}}, 4);
}

static double front_run5(void *call, void *a, double p, void *b, double q, void *c, double r, void *d, double s,
                         void *e, double t) {
  return front_give(call, (const front_value[]){{a, p}, {b, q}, {c, r}, {d, s}, {e, t}}, 5);
}

static double front_run6(void *call, void *a, double p, void *b, double q, void *c, double r, void *d, double s,
                         void *e, double t, void *f, double u) {
  return front_give(call, (const front_value[]){{a, p}, {b, q}, {c, r}, {d, s}, {e, t}, {f, u}}, 6);
}

typedef union front_address {
  damo_front_run0 run0;
  damo_front_run1 run1;
  damo_front_run2 run2;
  damo_front_run3 run3;
  damo_front_run4 run4;
  damo_front_run5 run5;
  damo_front_run6 run6;
  void *address;
} front_address;

static const front_address front_addresses[FRONT_IN + 1] = {
    {.run0 = front_run0}, {.run1 = front_run1}, {.run2 = front_run2}, {.run3 = front_run3},
    {.run4 = front_run4}, {.run5 = front_run5}, {.run6 = front_run6}};

static void front_push_address(lua_State *L, int n) {
  lua_createtable(L, 2, 0);
  lua_pushstring(L, front_run_types[n]);
  lua_rawseti(L, -2, 1);
  lua_pushlightuserdata(L, front_addresses[n].address);
  lua_rawseti(L, -2, 2);
  lua_rawseti(L, -2, n);
}

/* Pushes a front_call of the Function at 1, or nothing. into: a target for each output, or NULL. */
static front_call *front_push(lua_State *L, const damo_function *f, bind_caller *c, damo_obj *const *into) {
  const fn_program *p = f->program;
  if (p->n_inputs > FRONT_IN || p->n_outputs < 1 || p->n_outputs > FRONT_OUT || c->named || c->nested ||
      !front_stays_in_c(f))
    return NULL;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    if (!type_is_tensor(p->inputs[i].var->type)) return NULL;
  }
  for (int64_t i = 0; i < p->n_outputs; i++) {
    const damo_type *t = p->outputs[i].type;
    if (!type_is_tensor(t) || (t->ndim == 0 ? !front_is_scalar(t) : into[i] == NULL)) return NULL;
  }
  front_call *call = lua_newuserdatauv(L, sizeof *call, 0);
  *call = (front_call){.box = bind_box_at(L, 1),
                       .caller = c,
                       .into = into,
                       .n_in = (int)p->n_inputs,
                       .n_out = (int)p->n_outputs,
                       .scalars = bind_calls_scalars(f),
                       .doubles = c->direct.doubles};
  return call;
}

/* The functions of front.lua that make closures around a front_call: bind_front_wrap, front_adopt. */
static const char front_into_key = 'i', front_plain_key = 'p';

/* adopt(f): what makes a call f(…) for the userdata of a Function at 1, false where that is the C API's. */
static int front_adopt(lua_State *L) {
  static damo_obj *const none[FRONT_OUT] = {NULL};
  const bind_box *box = bind_box_at(L, 1);
  lua_settop(L, 1);
  lua_pushboolean(L, false);
  if (!box || box->kind != OBJ_FUNCTION || !box->obj || !box->caller || bind_ctx(L)->sandbox) return 1;
  const damo_function *f = (const damo_function *)box->obj;
  if (f->freed || !box->caller->scalars) return 1;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &front_plain_key);
  const front_call *call = front_push(L, f, box->caller, none);
  if (!call) {
    lua_settop(L, 2);
    return 1;
  }
  lua_pushinteger(L, call->n_in);
  lua_pushinteger(L, call->n_out);
  lua_call(L, 3, 1);
  return 1;
}

void bind_front_wrap(lua_State *L, const damo_function *f, bind_caller *c, void *const *vault) {
  if (!COMPAT_UV_TABLE || bind_ctx(L)->sandbox) return;
  const int closure = lua_gettop(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &front_into_key);
  const front_call *call = lua_isfunction(L, -1) ? front_push(L, f, c, (damo_obj *const *)vault) : NULL;
  if (!call) {
    lua_settop(L, closure);
    return;
  }
  lua_pushvalue(L, closure);
  lua_pushinteger(L, call->n_in);
  for (int i = 0; i < call->n_out; i++) { /* what a call returns: the target, or false, the number computed */
    if (f->program->outputs[i].type->ndim == 0) lua_pushboolean(L, false);
    if (f->program->outputs[i].type->ndim > 0) lua_pushvalue(L, 2 + i);
  }
  lua_call(L, 3 + call->n_out, 1);
  lua_replace(L, closure);
}

/* open(into, plain, dispatch): from then on f:into gives what `into` makes of its closure, and f(…) is a call of what
 * dispatch makes of the C API's __call. Gives {[n] = {C type of a pointer to the function for n inputs, address}}, and the
 * type of what a call leaves with its size. Only this caller keeps what the core has for it: the module has no field `ffi`
 * any more. */
static int front_open(lua_State *L) {
  bind_gate(L, GATE_POINTER, "front");
  lua_settop(L, 3);
  bind_metatable(L, OBJ_FUNCTION);
  lua_getfield(L, 4, "__call");
  lua_pushvalue(L, 3);
  lua_pushvalue(L, 5);
  lua_call(L, 1, 1);
  lua_setfield(L, 4, "__call");
  lua_rawgeti(L, LUA_REGISTRYINDEX, bind_get(L)->ref_module);
  lua_pushnil(L);
  lua_setfield(L, -2, "ffi");
  lua_settop(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &front_plain_key);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &front_into_key);
  lua_newtable(L);
  for (int n = 0; n <= FRONT_IN; n++) front_push_address(L, n);
  lua_pushliteral(L, FRONT_LEFT_TYPE);
  lua_pushinteger(L, (lua_Integer)sizeof(damo_front_left));
  return 3;
}

/* known(value): whether it is a userdata of ours, and may be given to a C function as a box. */
static int front_is_known(lua_State *L) {
  lua_pushboolean(L, bind_box_at(L, 1) != NULL);
  return 1;
}

void bind_open_front(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"open", front_open}, {"adopt", front_adopt}, {"known", front_is_known}, {NULL, NULL}};
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit");
  const bool jit = lua_istable(L, -1);
  lua_pop(L, 2);
  if (!jit) return;
  lua_createtable(L, 0, 3);
  bind_setfuncs(L, functions);
  lua_setfield(L, -2, "ffi");
}
