/* grad: grad, Lop, Rop, and the Variables that stand for gradients that do not exist. */
#include <stdio.h>

#include "lua/binding_int.h"
#include "grad/grad.h"

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* What stood before gradients were made, and the Variables that they are made of: `of`, lists of them. */
typedef struct grad_start {
  uint64_t first, n_made;
  bind_list of[4];
} grad_start;

static grad_start grad_begin(const bind_state *st) {
  return (grad_start){.first = st->ctx->next_id, .n_made = st->n_made};
}

#define GRAD_FRESH_LEAST 64 /* nodes: fewer get their userdata at once */

/* Whether the new nodes above the gradients are many and have no Lua parts, and no callback has seen one of them. */
static bool grad_is_fresh(const bind_state *st, damo_var *const *roots, int64_t n, const grad_start *start) {
  if (st->n_made != start->n_made || st->ctx->next_id - start->first < GRAD_FRESH_LEAST) return false;
  ptrvec nodes;
  ptrvec_init(&nodes, st->ctx);
  const damo_status s = graph_toposort_since(st->ctx, roots, n, start->first, &nodes);
  const bool fresh = s == DAMO_OK && nodes.n >= GRAD_FRESH_LEAST && !bind_have_lua_parts(&nodes);
  if (s != DAMO_OK) ctx_clear_error(st->ctx); /* then they get their userdata, or the error is told */
  ptrvec_clear(&nodes);
  return fresh;
}

/* Pushes a list of the userdata of what the gradients are made of. */
static void grad_push_older(lua_State *L, const grad_start *start) {
  int n = 0;
  lua_newtable(L);
  for (size_t k = 0; k < sizeof start->of / sizeof *start->of; k++) {
    for (int64_t i = 0; i < start->of[k].n; i++) {
      if (!bind_push_existing(L, start->of[k].at[i])) continue;
      lua_rawseti(L, -2, ++n);
    }
  }
}

/* Gradients of a big graph have userdata alone; their nodes get theirs when the script asks for one. The arguments, above
 * which all older nodes are, stay alive with them. Leaves a value on the stack that keeps these. */
static void grad_push_fresh(lua_State *L, void *const *vault, const bind_list *like, const grad_start *start) {
  const bind_state *st = bind_get(L);
  int64_t n = 0;
  damo_var **roots = bind_alloc(L, (size_t)like->n, sizeof *roots);
  for (int64_t i = 0; i < like->n; i++) {
    if (vault[i]) roots[n++] = vault[i];
  }
  if (!grad_is_fresh(st, roots, n, start)) return;
  grad_push_older(L, start);
  bind_push_fresh(L, roots, n, start->first, st->ctx->next_id, lua_gettop(L));
}

/* Pushes the gradients in the vault as `like` was given: one Variable, or a list with nil for each that does not exist. */
static int grad_push_gradients(lua_State *L, void **vault, const bind_list *like, const grad_start *start) {
  grad_push_fresh(L, vault, like, start);
  if (like->single) {
    bind_push_slot(L, vault, 0);
  } else {
    lua_createtable(L, (int)like->n, 0);
    for (int64_t i = 0; i < like->n; i++) {
      bind_push_slot(L, vault, i);
      lua_rawseti(L, -2, (int)(i + 1));
    }
  }
  bind_done(L);
  bind_test_results(L, like->n);
  return 1;
}

/* ---- grad -------------------------------------------------------------------------------------------------------- */

static const char *const grad_modes_disconnected[] = {"raise", "warn", "ignore", NULL};
static const char *const grad_modes_null[] = {"raise", "return", NULL};
static const char *const grad_modes_return[] = {"zero", "none", "disconnected", NULL};

/* A pair of known_grads, {[of] = to}. Pairs are sorted by the age of `of`, since the order of a Lua table varies and
 * the same script must give the same graph. */
typedef struct known_grad {
  damo_var *of, *to;
} known_grad;

static void grad_sort_known(known_grad *p, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    known_grad x = p[i];
    int64_t j = i;
    for (; j > 0 && p[j - 1].of->id > x.of->id; j--) p[j] = p[j - 1];
    p[j] = x;
  }
}

static void grad_read_known(lua_State *L, grad_options *o, const char *func) {
  int idx = lua_gettop(L);
  int64_t n = 0;
  if (!lua_istable(L, idx)) bind_raise(L, DAMO_ETYPE, "%s: known_grads must be a table {[variable] = gradient}", func);
  bind_own_table(L, idx);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) n++;
  known_grad *pairs = bind_alloc(L, (size_t)n, sizeof *pairs);
  damo_var **of = bind_alloc(L, (size_t)n, sizeof *of), **to = bind_alloc(L, (size_t)n, sizeof *to);
  lua_newtable(L); /* keeps converted gradients alive */
  int keep = lua_gettop(L);
  n = 0;
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    bool graph;
    pairs[n].of = bind_to_var(L, -2);
    if (!pairs[n].of)
      bind_raise(L, DAMO_ETYPE, "%s: the keys of known_grads must be Variables, got %s", func, bind_typename(L, -2));
    pairs[n].to = bind_operand(L, -1, true, &graph, func, 0, "known_grads");
    lua_rawseti(L, keep, (int)++n);
    lua_pop(L, 1);
  }
  grad_sort_known(pairs, n);
  for (int64_t i = 0; i < n; i++) {
    of[i] = pairs[i].of;
    to[i] = pairs[i].to;
  }
  o->known = to;
  o->known_of = of;
  o->n_known = n;
}

static grad_options grad_read_options(lua_State *L, int idx, const char *func) {
  static const char *const names[] = {"known_grads",    "consider_constant",   "disconnected_inputs",
                                      "null_gradients", "return_disconnected", NULL};
  grad_options o = {0};
  bind_check_options(L, func, idx, names);
  if (bind_option(L, idx, "known_grads")) grad_read_known(L, &o, func);
  if (bind_option(L, idx, "consider_constant")) {
    bind_list list = bind_var_list(L, -1, false, func, "consider_constant");
    o.constant = list.at;
    o.n_constant = list.n;
  }
  o.disconnected_inputs =
      (disconnected_mode)bind_option_enum(L, idx, "disconnected_inputs", grad_modes_disconnected, 0, func);
  o.null_gradients_return = bind_option_enum(L, idx, "null_gradients", grad_modes_null, 0, func) == 1;
  o.return_disconnected =
      (return_disconnected)bind_option_enum(L, idx, "return_disconnected", grad_modes_return, 0, func);
  return o;
}

static damo_status grad_take_gradients(lua_State *L, damo_var *cost, const bind_list *wrt, const grad_options *o,
                                       void **out) {
  bind_entry e = bind_enter(L);
  return bind_leave_deferred(e, grad_reverse(e.state->ctx, cost, wrt->at, wrt->n, o, (damo_var **)out));
}

/* damo.grad(cost, wrt, options) */
static int grad_call(lua_State *L) {
  lua_settop(L, 3);
  damo_var *cost = lua_isnil(L, 1) ? NULL : bind_check_obj(L, 1, OBJ_VAR, "grad", "cost");
  grad_options o = grad_read_options(L, 3, "grad");
  luaL_checkstack(L, 20, "grad");
  if (lua_isnil(L, 2)) bind_arg_error(L, "grad", 2, "wrt", "a Variable or a list of Variables");
  bind_list wrt = bind_var_list(L, 2, false, "grad", "wrt");
  void **out = bind_vault(L, wrt.n);
  bind_set_trace(L);
  grad_start start = grad_begin(bind_get(L));
  start.of[0] = (bind_list){.at = &cost, .n = cost != NULL};
  start.of[1] = wrt;
  start.of[2] = (bind_list){.at = (damo_var **)o.known, .n = o.n_known};
  start.of[3] = (bind_list){.at = (damo_var **)o.known_of, .n = o.n_known};
  bind_check(L, grad_take_gradients(L, cost, &wrt, &o, out));
  return grad_push_gradients(L, out, &wrt, &start);
}

/* ---- Lop, Rop ---------------------------------------------------------------------------------------------------- */

static void grad_check_same_length(lua_State *L, const char *func, int64_t a, int64_t b, const char *what) {
  if (a == b) return;
  bind_raise(L, DAMO_EVALUE, "%s: %d Variables, but %d %s", func, (int)a, (int)b, what);
}

/* damo.Lop(f, wrt, output_grads): the vector-Jacobian product, output_grads · ∂f/∂wrt. */
static int grad_call_lop(lua_State *L) {
  grad_options o = {.disconnected_inputs = DISCONNECTED_IGNORE};
  static const char *const names[] = {"consider_constant", "disconnected_inputs", NULL};
  lua_settop(L, 4);
  bind_check_options(L, "Lop", 4, names);
  o.disconnected_inputs =
      (disconnected_mode)bind_option_enum(L, 4, "disconnected_inputs", grad_modes_disconnected, 0, "Lop");
  if (bind_option(L, 4, "consider_constant")) {
    bind_list list = bind_var_list(L, -1, false, "Lop", "consider_constant");
    o.constant = list.at;
    o.n_constant = list.n;
  }
  bind_list f = bind_var_list(L, 1, false, "Lop", "f");
  bind_list wrt = bind_var_list(L, 2, false, "Lop", "wrt");
  bind_list weights = bind_var_list(L, 3, true, "Lop", "output_grads");
  grad_check_same_length(L, "Lop", f.n, weights.n, "output gradients");
  o.known_of = f.at;
  o.known = weights.at;
  o.n_known = f.n;
  void **out = bind_vault(L, wrt.n);
  bind_set_trace(L);
  grad_start start = grad_begin(bind_get(L));
  start.of[0] = f;
  start.of[1] = wrt;
  start.of[2] = weights;
  bind_check(L, grad_take_gradients(L, NULL, &wrt, &o, out));
  return grad_push_gradients(L, out, &wrt, &start);
}

/* damo.Rop(f, wrt, eval_points, options): the Jacobian-vector product, ∂f/∂wrt · eval_points. */
static int grad_call_rop(lua_State *L) {
  static const char *const names[] = {"disconnected_outputs", "return_disconnected", NULL};
  grad_options o = {0};
  lua_settop(L, 4);
  bind_check_options(L, "Rop", 4, names);
  o.disconnected_inputs =
      (disconnected_mode)bind_option_enum(L, 4, "disconnected_outputs", grad_modes_disconnected, 0, "Rop");
  o.return_disconnected =
      (return_disconnected)bind_option_enum(L, 4, "return_disconnected", grad_modes_return, 0, "Rop");
  bind_list f = bind_var_list(L, 1, false, "Rop", "f");
  bind_list wrt = bind_var_list(L, 2, false, "Rop", "wrt");
  bind_list eval = bind_var_list(L, 3, true, "Rop", "eval_points");
  grad_check_same_length(L, "Rop", wrt.n, eval.n, "evaluation points");
  void **out = bind_vault(L, f.n);
  bind_set_trace(L);
  bind_entry e = bind_enter(L);
  grad_start start = grad_begin(e.state);
  start.of[0] = f;
  start.of[1] = wrt;
  start.of[2] = eval;
  damo_status s =
      bind_leave_deferred(e, grad_forward(e.state->ctx, f.at, f.n, wrt.at, eval.at, wrt.n, &o, (damo_var **)out));
  bind_check(L, s);
  return grad_push_gradients(L, out, &f, &start);
}

/* ---- Missing gradients ------------------------------------------------------------------------------------------- */

/* Makes a Variable of NullType from arguments (op, i, x, why); its reason names the op, the input and why. */
static int grad_missing(lua_State *L, const char *func, const char *state) {
  int whole = 0;
  const lua_Integer i = lua_type(L, 2) == LUA_TNUMBER ? lua_tointegerx(L, 2, &whole) : 0;
  if (!whole) bind_arg_error(L, func, 2, "i", "the position of an input");
  const damo_op *of = bind_to(L, 1, OBJ_OP);
  const int most = of ? bind_op_takes(of) : -1;
  if (i < 1 || (most >= 0 && i > most)) {
    char range[80], last[40] = "on";
    if (most >= 0) snprintf(last, sizeof last, "to %d", most);
    snprintf(range, sizeof range, "from 1 %s, got %lld", last, (long long)i);
    bind_raise(L, DAMO_EINDEX, "%s: argument 2 (i) must be the position of an input, %s", func, range);
  }
  lua_settop(L, 4);
  const char *why = lua_isnil(L, 4) ? "" : (luaL_tolstring(L, 4, NULL), bind_text(L, -1, func));
  const char *op = lua_type(L, 1) == LUA_TSTRING ? bind_text(L, 1, func) : luaL_tolstring(L, 1, NULL);
  char text[512];
  snprintf(text, sizeof text, "the gradient of %s for its input %lld is %s%s%s", op, (long long)i, state,
           why[0] ? ": " : "", why);
  damo_type *t = type_null(bind_ctx(L), text);
  if (!t) return bind_error(L);
  bind_push(L, t);
  lua_pushnil(L);
  return bind_new_var(L, t, lua_gettop(L), func);
}

static int grad_call_undefined(lua_State *L) { return grad_missing(L, "grad_undefined", "undefined"); }
static int grad_call_not_implemented(lua_State *L) {
  return grad_missing(L, "grad_not_implemented", "not implemented");
}

void bind_open_grad(lua_State *L) {
  static const luaL_Reg fns[] = {{"grad", grad_call},
                                 {"Lop", grad_call_lop},
                                 {"Rop", grad_call_rop},
                                 {"grad_undefined", grad_call_undefined},
                                 {"grad_not_implemented", grad_call_not_implemented},
                                 {NULL, NULL}};
  bind_setfuncs(L, fns);
  bind_add_raise(L);
}
