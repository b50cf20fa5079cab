/* test_value: values that Variables carry while a graph is built, so that a mistake is reported on the line that makes
 * it.
 *
 * x.tag.test_value is the value of an input; a constant has its own, a shared Variable its current one. With
 * config.compute_test_value on, each node that a script makes is computed from the test values of its inputs.
 */
#include "test_value.h"
#include "lua/op/class.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Pushes the test value unconverted; false, and nothing pushed, if there is none. */
static bool test_value_push(lua_State *L, damo_var *v) {
  if (v->kind != VAR_PLAIN && v->value) {
    bind_push_raw(L, damo_retain(v->value));
    return true;
  }
  int top = lua_gettop(L);
  bind_push_borrowed(L, v);
  bind_peer(L, -1);
  lua_getfield(L, -1, "tag");
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "test_value");
    if (!lua_isnil(L, -1)) {
      lua_replace(L, top + 1);
      lua_settop(L, top + 1);
      return true;
    }
  }
  lua_settop(L, top);
  return false;
}

/* Pushes the test value converted to the Variable's Type; false, and nothing pushed, if there is none. */
static bool test_value_push_filtered(lua_State *L, damo_var *v) {
  char name[120];
  if (!test_value_push(L, v)) return false;
  lua_pushfstring(L, "the test value of %s", var_format(name, sizeof name, v));
  lua_insert(L, -2);
  bind_filter(L, lua_gettop(L), v->type, (filter_options){0}, lua_tostring(L, -2));
  lua_replace(L, -3);
  lua_pop(L, 1);
  return true;
}

/* Pushes the Variable at idx, or a constant of the value there. */
static damo_var *test_value_operand(lua_State *L, int idx, const char *func) {
  bool graph;
  if (lua_isnoneornil(L, idx)) bind_arg_error(L, func, idx, "v", "a Variable or a value");
  return bind_operand(L, idx, true, &graph, func, idx, "v");
}

/* ---- Missing test values ----------------------------------------------------------------------------------------- */

static void test_value_report_missing(lua_State *L, const char *message) {
  damo_ctx *ctx = bind_ctx(L);
  if (graph_notes_of(ctx)->compute_test_value == TEST_VALUE_WARN) ctx_warn(ctx, "missing_test_value", "%s", message);
  if (graph_notes_of(ctx)->compute_test_value == TEST_VALUE_RAISE) {
    bind_raise(L, DAMO_EMISSING_TEST_VALUE, "%s", message);
  }
}

static int test_value_missing_message(lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING) bind_arg_error(L, "missing_test_message", 1, "msg", "a string");
  test_value_report_missing(L, lua_tostring(L, 1));
  return 0;
}

static const char *test_value_push_missing(lua_State *L, const damo_var *v) {
  char name[120], type[320];
  return lua_pushfstring(L, "%s, a %s, has no test value", var_format(name, sizeof name, v),
                         type_format(type, sizeof type, v->type));
}

static int test_value_get(lua_State *L) {
  lua_settop(L, 1);
  damo_var *v = test_value_operand(L, 1, "get_test_value");
  if (!test_value_push_filtered(L, v)) {
    return bind_raise(L, DAMO_EMISSING_TEST_VALUE, "get_test_value: %s; set x.tag.test_value",
                      test_value_push_missing(L, v));
  }
  return 1;
}

/* The iterator of get_test_values. Upvalues: the number of values, the list of values. The first call returns them all,
 * the second nothing. */
static int test_value_next(lua_State *L) {
  int n = (int)lua_tointeger(L, lua_upvalueindex(1));
  lua_rawgeti(L, lua_upvalueindex(2), 0);
  bool given = lua_toboolean(L, -1);
  if (given || n == 0) return 0;
  lua_pushboolean(L, 1);
  lua_rawseti(L, lua_upvalueindex(2), 0);
  luaL_checkstack(L, n + 2, "get_test_values");
  for (int i = 1; i <= n; i++) lua_rawgeti(L, lua_upvalueindex(2), i);
  return n;
}

/* for a, b in get_test_values(x, y) do … end: the body runs once, or not at all if a value is missing. */
static int test_value_get_all(lua_State *L) {
  int n = bind_arg_count(L);
  lua_settop(L, n);
  luaL_checkstack(L, 20, "get_test_values");
  lua_createtable(L, n, 0);
  int list = n + 1, found = 0;
  bool on = graph_notes_of(bind_ctx(L))->compute_test_value != TEST_VALUE_OFF;
  for (int i = 1; i <= n && on; i++) {
    damo_var *v = test_value_operand(L, i, "get_test_values");
    if (!test_value_push_filtered(L, v)) {
      test_value_report_missing(L, test_value_push_missing(L, v));
      break;
    }
    lua_rawseti(L, list, i);
    lua_settop(L, list);
    found = i;
  }
  lua_settop(L, list);
  lua_pushinteger(L, found == n ? n : 0);
  lua_insert(L, list);
  lua_pushcclosure(L, test_value_next, 2);
  return 1;
}

/* ---- Computing --------------------------------------------------------------------------------------------------- */

/* Runs the node over owned cells: the inputs' values, then places for the outputs. */
static damo_status test_value_run_cells(damo_ctx *ctx, damo_apply *node, cell *cells) {
  thunk_alone *a = thunk_alone_new(ctx, node, cells, NULL, NULL);
  if (!a) return damo_error_status(ctx);
  damo_status s = thunk_run(&a->t, &a->f);
  if (s != DAMO_OK) thunk_blame(&a->t, &a->f);
  thunk_alone_free(a);
  return s;
}

/* Replaces input values that the Op destroys by copies, since test values belong to constants, shared Variables or the
 * user. */
static damo_status test_value_copy_destroyed(const damo_apply *node, cell *cells) {
  for (const op_alias *a = node->op->destroy_map; a && a->out >= 0; a++) {
    if (a->in >= node->n_in) continue;
    damo_obj *copy = value_copy(cells[a->in]);
    if (!copy) return DAMO_EMEMORY;
    damo_release(cells[a->in]);
    cells[a->in] = copy;
  }
  return DAMO_OK;
}

void bind_run_values(lua_State *L, damo_apply *node, int values, bool keep) {
  int n = node->n_in, base = lua_gettop(L);
  luaL_checkstack(L, 20, "damo");
  void **cells = bind_vault(L, n + node->n_out);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, values, i + 1);
    lua_pushfstring(L, "%s: input %d", node->op->def->name, i + 1);
    damo_obj *value = bind_filter(L, base + 2, node->in[i]->type, (filter_options){0}, lua_tostring(L, -1));
    cells[i] = damo_retain(value);
    lua_settop(L, base + 1);
  }
  bind_entry e = bind_enter(L);
  damo_status s = keep ? test_value_copy_destroyed(node, (cell *)cells) : DAMO_OK;
  if (s == DAMO_OK) s = test_value_run_cells(e.state->ctx, node, (cell *)cells);
  bind_leave(e);
  bind_check(L, s);
  lua_createtable(L, node->n_out, 0);
  for (int o = 0; o < node->n_out; o++) {
    void *value = cells[n + o];
    cells[n + o] = NULL;
    bind_push_raw(L, value);
    lua_rawseti(L, base + 2, o + 1);
  }
  lua_replace(L, base + 1);
  lua_settop(L, base + 1);
}

/* Pushes the list of the inputs' test values. If one is missing, reports it (as configured), pushes nothing and returns
 * false. */
static bool test_value_push_inputs(lua_State *L, damo_apply *node) {
  int base = lua_gettop(L);
  lua_createtable(L, node->n_in, 0);
  for (int i = 0; i < node->n_in; i++) {
    if (test_value_push_filtered(L, node->in[i])) {
      lua_rawseti(L, base + 1, i + 1);
      continue;
    }
    const char *missing = test_value_push_missing(L, node->in[i]);
    test_value_report_missing(
        L, lua_pushfstring(L, "%s: no test value is computed: input %d, %s", node->op->def->name, i + 1, missing));
    lua_settop(L, base);
    return false;
  }
  return true;
}

static void test_value_compute_node(lua_State *L, damo_apply *node) {
  int base = lua_gettop(L);
  luaL_checkstack(L, 20, "damo");
  if (!op_can_run(node->op->def) || !test_value_push_inputs(L, node)) return;
  bind_run_values(L, node, base + 1, true);
  for (int o = 0; o < node->n_out; o++) {
    bind_push_borrowed(L, node->out[o]);
    lua_getfield(L, -1, "tag");
    lua_rawgeti(L, base + 2, o + 1);
    lua_setfield(L, base + 4, "test_value");
    lua_settop(L, base + 2);
  }
  lua_settop(L, base);
}

static int test_value_compute(lua_State *L) {
  damo_apply *node = bind_check_obj(L, 1, OBJ_APPLY, "compute_test_value", "node");
  test_value_compute_node(L, node);
  bind_done(L);
  return 0;
}

void bind_test_node(lua_State *L, damo_apply *node) {
  if (graph_notes_of(bind_ctx(L))->compute_test_value != TEST_VALUE_OFF) test_value_compute_node(L, node);
}

void bind_test_results(lua_State *L, int64_t n) {
  if (graph_notes_of(bind_ctx(L))->compute_test_value == TEST_VALUE_OFF) return;
  luaL_checkstack(L, 4, "damo");
  if (!lua_istable(L, -1)) {
    bind_test_values(L, lua_gettop(L), 1);
    return;
  }
  for (int64_t i = 1; i <= n; i++) {
    lua_rawgeti(L, -1, (int)i);
    bind_test_values(L, lua_gettop(L), 1);
    lua_pop(L, 1);
  }
}

static bool test_value_is_there(lua_State *L, damo_var *v) {
  bool has = test_value_push(L, v);
  if (has) lua_pop(L, 1);
  return has;
}

/* Pushes a userdata that holds the nodes from which v is computed, in dependency order: of all of them or, in the
 * common case, of v's own node alone. */
static void **test_value_nodes_without(lua_State *L, damo_var *v, int64_t *n) {
  damo_ctx *ctx = bind_ctx(L);
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  damo_var *one[1] = {v};
  bool direct = true; /* the common case by far: all inputs have test values, or have no node that could compute one */
  for (int i = 0; i < v->owner->n_in && direct; i++) {
    direct = v->owner->in[i]->owner == NULL || test_value_is_there(L, v->owner->in[i]);
  }
  damo_status s = direct ? ptrvec_push(&nodes, v->owner) : graph_toposort(ctx, one, 1, NULL, 0, &nodes);
  *n = nodes.n;
  void **at = NULL;
  if (s == DAMO_OK) {
    at = lua_newuserdatauv(L, (size_t)(nodes.n ? nodes.n : 1) * sizeof *at, 0);
    memcpy(at, nodes.at, (size_t)nodes.n * sizeof *at);
  }
  ptrvec_clear(&nodes);
  bind_check(L, s);
  return at;
}

void bind_test_values(lua_State *L, int first, int count) {
  int top = lua_gettop(L);
  luaL_checkstack(L, 20, "damo");
  for (int k = first; k < first + count; k++) {
    damo_var *v = bind_to_var(L, k);
    if (!v || !v->owner || test_value_is_there(L, v)) continue;
    int64_t n;
    void **nodes = test_value_nodes_without(L, v, &n);
    for (int64_t i = 0; i < n; i++) {
      damo_apply *node = nodes[i];
      if (!test_value_is_there(L, node->out[0])) test_value_compute_node(L, node);
    }
    lua_settop(L, top);
  }
}

void bind_add_test_value(lua_State *L) {
  static const luaL_Reg fns[] = {{"compute_test_value", test_value_compute},
                                 {"get_test_value", test_value_get},
                                 {"get_test_values", test_value_get_all},
                                 {"missing_test_message", test_value_missing_message},
                                 {NULL, NULL}};
  bind_setfuncs(L, fns);
}
