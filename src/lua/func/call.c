/* call: runs a call of an op function and pushes its results.
 *
 * Running is C alone: over Variables the row's function builds a graph, over values eager_call computes. Pushing moves
 * each result into a userdata.
 */
#include "func.h"
#include "op/op.h"

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* The results of a call over Variables are those of its graph. */
static damo_status call_build(damo_ctx *ctx, bind_fn_call *c, eager_results *r) {
  build b;
  ptrvec out;
  build_init(&b, ctx);
  ptrvec_init(&out, ctx);
  damo_status s = func_call(&b, c->f, c->in, c->n_in, c->opt, &out);
  if (s == DAMO_OK) s = eager_results_alloc(ctx, r, out.n);
  for (int64_t i = 0; s == DAMO_OK && i < out.n; i++) r->at[i] = damo_retain(out.at[i]);
  ptrvec_clear(&out);
  build_end(&b);
  return s;
}

/* Pure C: nothing in it raises a Lua error. */
static damo_status call_compute(damo_ctx *ctx, bind_fn_call *c, eager_results *r) {
  damo_array *of_draw[2] = {NULL, c->n_out == 1 ? c->out[0] : NULL};
  eager_request q = {c->f, c->plain, c->n_in, c->opt, c->out, c->n_out};
  if (c->n_out == 1 && c->f->is_draw) { /* the draw; the state that follows has an array of its own */
    q.out = of_draw;
    q.n_out = 2;
  }
  return eager_call(ctx, &q, r);
}

static damo_status call_run(lua_State *L, bind_fn_call *c, eager_results *r) {
  bind_state *st = c->st;
  if (c->graph) return call_build(st->ctx, c, r);
  lua_State *before = st->running;
  st->running = L; /* where a hook is looked for */
  const damo_status s = call_compute(st->ctx, c, r);
  st->running = before;
  return s;
}

/* ---- Pushing ----------------------------------------------------------------------------------------------------- */

typedef struct call_pushing {
  bind_state *st;
  damo_obj **at;
  int64_t n;
  bool values;
} call_pushing;

static void call_push_one(lua_State *L, bind_state *st, damo_obj **at, bool value) {
  damo_obj *obj = *at;
  *at = NULL;
  const bool is_array = obj->kind == OBJ_ARRAY && ((const damo_array *)obj)->ndim > 0;
  if (value && !is_array) {
    bind_push_value(L, obj);
  } else {
    bind_push_in(L, st, obj);
  }
}

static int call_push_protected(lua_State *L) {
  call_pushing *p = lua_touserdata(L, 1);
  luaL_checkstack(L, (int)p->n + 8, "damo: too many results");
  for (int64_t i = 0; i < p->n; i++) call_push_one(L, p->st, &p->at[i], p->values);
  return (int)p->n;
}

/* Pushes all results in protected mode and releases those not pushed. Returns Lua's status, with the error at the top
 * if it failed. */
static int call_push_all(lua_State *L, bind_state *st, damo_obj **take, int64_t n, bool values) {
  call_pushing p = {st, take, n, values};
  lua_pushcfunction(L, call_push_protected);
  lua_pushlightuserdata(L, &p);
  int status = lua_pcall(L, 1, LUA_MULTRET, 0);
  for (int64_t i = 0; i < n; i++) damo_release(take[i]);
  return status;
}

/* The arrays of `out`, which lie on the stack, as the results. */
static int call_push_out(lua_State *L, const bind_fn_call *c, eager_results *r) {
  const int64_t n = r->n;
  for (int64_t i = 0; i < n; i++) damo_release(r->at[i]);
  eager_results_free(c->st->ctx, r);
  luaL_checkstack(L, (int)n, c->f->name);
  for (int i = 0; i < n; i++) lua_pushvalue(L, c->first_out + i);
  return (int)n;
}

static int call_push_results(lua_State *L, bind_state *st, eager_results *r, bool values) {
  if (r->n == 1) {
    call_push_one(L, st, r->at, values);
    return 1;
  }
  int top = lua_gettop(L), status = call_push_all(L, st, r->at, r->n, values);
  eager_results_free(st->ctx, r);
  if (status != LUA_OK) lua_error(L);
  return lua_gettop(L) - top;
}

/* With {on_fail = "return"}, a numeric failure of an eager computation gives two results: nil and the error. */
static bool call_returns_failure(const bind_fn_call *c, damo_status s) {
  const fn_option *o = s == DAMO_ENUMERIC && !c->graph ? signature_option(c->f, "on_fail") : NULL;
  return o != NULL && strcmp(prop_str_or(c->opt[o->place], ""), "return") == 0;
}

static int call_finish(lua_State *L, bind_fn_call *c) {
  damo_ctx *ctx = c->st->ctx;
  eager_results r = {.at = NULL};
  if (c->graph) {
    bind_set_trace(L);
  } else {
    graph_notes_of(ctx)->trace = NULL;
  }
  damo_status s = call_run(L, c, &r);
  if (s != DAMO_OK && call_returns_failure(c, s)) {
    lua_pushnil(L);
    bind_push_error(L);
    return 2;
  }
  if (s != DAMO_OK) return bind_error(L);
  if (c->n_out == r.n && !c->graph) return call_push_out(L, c, &r);
  int n = call_push_results(L, c->st, &r, !c->graph);
  if (c->n_out > 0) { /* a draw, whose first result is the state */
    lua_pushvalue(L, c->first_out);
    lua_replace(L, -2);
  }
  if (c->graph && graph_notes_of(ctx)->compute_test_value != TEST_VALUE_OFF)
    bind_test_values(L, lua_gettop(L) - n + 1, n);
  return n;
}

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

/* Looks for sparse operands and Variables among the arguments, and takes the state from one. (Operands inside a list
 * are looked at when they are read; the core finds the sparse row for them itself.) */
static bool call_scan(lua_State *L, bind_fn_call *c, int top) {
  bool sparse = false;
  for (int i = 1; i <= c->f->n_operands && i <= top; i++) {
    const bind_box *box = lua_type(L, i) == LUA_TUSERDATA ? bind_box_at(L, i) : NULL;
    if (!box || !box->obj) continue;
    if (!box->state->closed) c->st = box->state;
    if (box->kind == OBJ_SPARSE) sparse = true;
    if (box->kind != OBJ_VAR) continue;
    c->graph = true;
    if (type_is_sparse(((const damo_var *)box->obj)->type)) sparse = true;
  }
  c->scanned = !c->f->list;
  return sparse;
}

/* Sets what a call starts with; its lists of operands are written before they are read. */
static void call_init(bind_fn_call *c, const fn_signature *f) {
  c->st = NULL;
  c->f = f;
  c->n_in = c->n_out = 0;
  c->graph = c->scanned = c->has_list = false;
  memset(c->src_small, 0, sizeof c->src_small);
  memset(c->opt, 0, sizeof c->opt);
}

static const fn_signature *call_named(lua_State *L, const char *name) {
  const fn_signature *f = func_find(bind_ctx(L), name);
  if (!f) bind_raise(L, DAMO_ENOT_IMPLEMENTED, "there is no function '%s'", name);
  return f;
}

/* Whether the arguments are more operands than f takes, or one list of objects. */
static bool call_has_many(lua_State *L, const fn_signature *f, int top) {
  if (top > f->n_operands) return lua_type(L, f->n_operands + 1) != LUA_TTABLE;
  if (top < 1 || lua_type(L, 1) != LUA_TTABLE || (top > 1 && !bind_is_options(L, 2))) return false;
  const bool of_objects = lua_rawgeti(L, 1, 1) == LUA_TUSERDATA;
  lua_pop(L, 1);
  return of_objects;
}

int bind_call_func(lua_State *L, const fn_signature *f) {
  int top = bind_arg_count(L);
  bind_fn_call c;
  if (f->func->of_many && call_has_many(L, f, top)) f = call_named(L, f->func->of_many);
  call_init(&c, f);
  if (call_scan(L, &c, top) && f->sparse) c.f = f->sparse; /* the options are then those of the sparse row */
  if (c.st == NULL) c.st = bind_get(L);
  luaL_checkstack(L, 40, f->name);
  bind_call_alloc(L, &c, 0);
  bind_read_args(L, &c, top);
  return call_finish(L, &c);
}

int bind_call_name(lua_State *L, const char *name) { return bind_call_func(L, call_named(L, name)); }

int bind_call_parsed(lua_State *L, const char *name, int first, int n, const fn_given *options) {
  bind_fn_call c;
  call_init(&c, call_named(L, name));
  c.st = bind_get(L);
  luaL_checkstack(L, 40 + n, name);
  bind_call_alloc(L, &c, n);
  c.n_in = n;
  for (int i = 0; i < n; i++) c.src[i] = first + i;
  const fn_option *all = c.f->func->options;
  for (int i = 0; options && i < c.f->n_options; i++) {
    const prop_value *v = (const prop_value *)(const void *)options + all[i].place;
    c.opt[all[i].place] = *v;
    c.graph = c.graph || bind_has_var(v);
  }
  bind_read_operands(L, &c);
  return call_finish(L, &c);
}
