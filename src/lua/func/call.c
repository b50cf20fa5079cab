/* call: runs a call of an op function and pushes its results.
 *
 * Running is C alone: literals and values become constants without copies, then the row's function builds the graph,
 * which is evaluated eagerly if no Variable takes part. Pushing moves each result into a userdata.
 */
#include "func.h"
#include "op/op.h"

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct call_results {
  damo_obj *small[4], **at; /* owned */
  int64_t n;
} call_results;

static damo_var *call_plain_constant(build *b, const bind_fn_call *c, int i) {
  if (c->val[i]) return build_take(b, var_constant(b->ctx, NULL, c->val[i]));
  damo_array *a = array_from_scalar(b->ctx, c->lit[i]);
  damo_var *v = a ? var_constant(b->ctx, NULL, &a->obj) : NULL;
  damo_release(a);
  if (v) v->weak = true;
  return build_take(b, v);
}

static damo_status call_take_results(build *b, const bind_fn_call *c, const ptrvec *out, call_results *r) {
  damo_ctx *ctx = b->ctx;
  r->n = out->n;
  r->at = r->small;
  if (out->n > (int64_t)(sizeof r->small / sizeof r->small[0])) {
    r->at = mem_calloc(ctx, (size_t)out->n * sizeof *r->at);
    if (!r->at) return DAMO_EMEMORY;
  }
  damo_status s = DAMO_OK;
  if (c->graph) {
    for (int64_t i = 0; i < out->n; i++) r->at[i] = damo_retain(out->at[i]);
  } else {
    s = eager_eval(ctx, (damo_var *const *)out->at, out->n, r->at);
  }
  if (s != DAMO_OK && r->at != r->small) mem_free(ctx, r->at, (size_t)out->n * sizeof *r->at);
  return s;
}

/* Pure C: nothing in it raises a Lua error. */
static damo_status call_run(damo_ctx *ctx, bind_fn_call *c, call_results *r) {
  build b;
  ptrvec out;
  build_init(&b, ctx);
  ptrvec_init(&out, ctx);
  for (int i = 0; i < c->n_in && !c->graph; i++) c->in[i] = c->src[i] ? call_plain_constant(&b, c, i) : NULL;
  damo_status s = b.status;
  if (s == DAMO_OK) s = func_call(&b, c->f, c->in, c->n_in, c->opt, &out);
  if (s == DAMO_OK) s = call_take_results(&b, c, &out, r);
  ptrvec_clear(&out);
  build_end(&b);
  return s;
}

/* ---- Pushing ----------------------------------------------------------------------------------------------------- */

typedef struct call_pushing {
  damo_obj **at;
  int64_t n;
  bool values;
} call_pushing;

static void call_push_one(lua_State *L, damo_obj **at, bool value) {
  damo_obj *obj = *at;
  *at = NULL;
  if (value) {
    bind_push_value(L, obj);
  } else {
    bind_push(L, obj);
  }
}

static int call_push_protected(lua_State *L) {
  call_pushing *p = lua_touserdata(L, 1);
  luaL_checkstack(L, (int)p->n + 8, "damo: too many results");
  for (int64_t i = 0; i < p->n; i++) call_push_one(L, &p->at[i], p->values);
  return (int)p->n;
}

/* Pushes all results in protected mode and releases those not pushed. Returns Lua's status, with the error at the top
 * if it failed. */
static int call_push_all(lua_State *L, damo_obj **take, int64_t n, bool values) {
  call_pushing p = {take, n, values};
  lua_pushcfunction(L, call_push_protected);
  lua_pushlightuserdata(L, &p);
  int status = lua_pcall(L, 1, LUA_MULTRET, 0);
  for (int64_t i = 0; i < n; i++) damo_release(take[i]);
  return status;
}

static int call_push_results(lua_State *L, call_results *r, bool values) {
  if (r->n == 1) {
    call_push_one(L, r->at, values);
    return 1;
  }
  int top = lua_gettop(L), status = call_push_all(L, r->at, r->n, values);
  if (r->at != r->small) mem_free(bind_ctx(L), r->at, (size_t)r->n * sizeof *r->at);
  if (status != LUA_OK) lua_error(L);
  return lua_gettop(L) - top;
}

/* With {on_fail = "return"}, a numeric failure of an eager computation gives two results: nil and the error. */
static bool call_returns_failure(const bind_fn_call *c, damo_status s) {
  const fn_option *o = s == DAMO_ENUMERIC && !c->graph ? signature_option(c->f, "on_fail") : NULL;
  return o != NULL && strcmp(prop_str_or(c->opt[o->place], ""), "return") == 0;
}

static int call_finish(lua_State *L, bind_fn_call *c) {
  damo_ctx *ctx = bind_ctx(L);
  call_results r = {.at = NULL};
  if (c->graph) {
    bind_set_trace(L);
  } else {
    graph_notes_of(ctx)->trace = NULL;
  }
  damo_status s = call_run(ctx, c, &r);
  if (s != DAMO_OK && call_returns_failure(c, s)) {
    lua_pushnil(L);
    bind_push_error(L);
    return 2;
  }
  if (s != DAMO_OK) return bind_error(L);
  int n = call_push_results(L, &r, !c->graph);
  if (c->graph && graph_notes_of(ctx)->compute_test_value != TEST_VALUE_OFF)
    bind_test_values(L, lua_gettop(L) - n + 1, n);
  return n;
}

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

/* Whether an operand is sparse, so that the options are those of the sparse row. (For operands inside a list the core
 * finds the row itself.) */
static bool call_has_sparse(lua_State *L, const fn_signature *f, int top) {
  for (int i = 1; i <= f->n_operands && i <= top; i++) {
    if (lua_type(L, i) != LUA_TUSERDATA) continue;
    const bind_box *box = bind_box_at(L, i);
    if (!box || !box->obj) continue;
    if (box->kind == OBJ_SPARSE) return true;
    if (box->kind == OBJ_VAR && type_is_sparse(((const damo_var *)box->obj)->type)) return true;
  }
  return false;
}

int bind_call_func(lua_State *L, const fn_signature *f) {
  int top = bind_arg_count(L);
  if (f->sparse && call_has_sparse(L, f, top)) f = f->sparse;
  bind_fn_call c = {.f = f};
  luaL_checkstack(L, 40, f->name);
  bind_call_alloc(L, &c, 0);
  bind_read_args(L, &c, top);
  return call_finish(L, &c);
}

static const fn_signature *call_named(lua_State *L, const char *name) {
  const fn_signature *f = func_find(bind_ctx(L), name);
  if (!f) bind_raise(L, DAMO_ENOT_IMPLEMENTED, "there is no function '%s'", name);
  return f;
}

int bind_call_name(lua_State *L, const char *name) { return bind_call_func(L, call_named(L, name)); }

int bind_call_parsed(lua_State *L, const char *name, int first, int n, const fn_given *options) {
  bind_fn_call c = {.f = call_named(L, name)};
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
