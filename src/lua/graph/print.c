/* print: graphs as text: debugprint, pprint, dot. lua/damo/printing.lua writes the text out. */
#include "lua/binding_int.h"

static int print_push_text_protected(lua_State *L) {
  strbuf *b = lua_touserdata(L, 1);
  lua_pushlstring(L, b->at ? b->at : "", b->n);
  return 1;
}

/* Pushes the text and frees the buffer, also if it raises. */
static int print_push_text(lua_State *L, strbuf *b, damo_status s) {
  if (s == DAMO_OK && b->failed) s = ctx_fail_memory(b->ctx);
  if (s != DAMO_OK) {
    strbuf_clear(b);
    return bind_error(L);
  }
  lua_pushcfunction(L, print_push_text_protected);
  lua_pushlightuserdata(L, b);
  int rc = lua_pcall(L, 1, 1, 0);
  strbuf_clear(b);
  return rc == LUA_OK ? 1 : lua_error(L);
}

/* Pushes and returns the list of outputs of x: a Variable, a list of Variables, a node, a FunctionGraph or a Function.
 */
static bind_list print_list(lua_State *L, int idx, const char *func) {
  damo_function *f = bind_to(L, idx, OBJ_FUNCTION);
  damo_fgraph *fg = f ? function_fgraph(f) : bind_to(L, idx, OBJ_FGRAPH);
  damo_apply *node = bind_to(L, idx, OBJ_APPLY);
  if (f && !fg) bind_raise(L, DAMO_ESTATE, "%s: this Function has been freed", func);
  if (fg) {
    bind_push_vars(L, (damo_var *const *)fg->outputs.at, fg->outputs.n);
  } else if (node) {
    bind_push_vars(L, node->out, node->n_out);
  } else {
    lua_pushvalue(L, idx);
  }
  return bind_var_list(L, lua_gettop(L), false, func, "x");
}

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

/* Maps the Variables of a Function's program to the cells that hold their values: damo_var* → cell*. */
static damo_status print_find_cells(const damo_function *f, map *cells) {
  for (int64_t k = 0; k < f->program->vm.n_thunks; k++) {
    const thunk *t = f->program->vm.thunks[k];
    for (int i = 0; i < t->n_in; i++)
      DAMO_TRY(map_put(cells, t->node->in[i], (uintptr_t)&f->frame.frame.cells[t->in[i]]));
    for (int o = 0; o < t->n_out; o++)
      DAMO_TRY(map_put(cells, t->node->out[o], (uintptr_t)&f->frame.frame.cells[t->out[o]]));
  }
  return DAMO_OK;
}

/* Adds the stored value: " [1 2 3]", " [float64 (100, 3)]" if it has more than 16 elements, " [nil]" if there is none.
 */
static void print_add_storage(strbuf *out, const damo_var *v, void *user) {
  const cell *at = map_get_ptr(user, v);
  if (!at) return;
  const damo_array *a = *at && (*at)->kind == OBJ_ARRAY ? (const damo_array *)*at : NULL;
  strbuf_add(out, " [");
  if (!*at) {
    strbuf_add(out, "nil");
  } else if (!a) {
    strbuf_add(out, "a value");
  } else if (array_size(a) > 16 || !a->buf) {
    char shape[200];
    strbuf_addf(out, "%s %s", dtype_name(array_dtype(a)), shape_format(shape, sizeof shape, a->ndim, array_shape(a)));
  } else {
    size_t from = out->n;
    array_format(out, a);
    for (size_t i = from; i < out->n && !out->failed; i++) {
      if (out->at[i] == '\n') out->at[i] = ' ';
    }
  }
  strbuf_add(out, "]");
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static int print_read_depth(lua_State *L, int idx) {
  if (!bind_option(L, idx, "depth")) return 0;
  lua_Number n = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
  lua_pop(L, 1);
  if (n < 1 || n > 1e9 || n != floor(n)) bind_raise(L, DAMO_EVALUE, "debugprint: depth must be an integer from 1 on");
  return (int)n;
}

/* The text of debugprint(x, options); lua/damo/printing.lua has checked the names of the options. */
static int print_debug_text(lua_State *L) {
  static const char *const ids[] = {"CHAR", "int", "id", "", NULL};
  print_options o = {0};
  lua_settop(L, 2);
  o.print_type = bind_option_bool(L, 2, "print_type", false, "debugprint");
  o.print_destroy_map = bind_option_bool(L, 2, "print_destroy_map", false, "debugprint");
  o.print_view_map = bind_option_bool(L, 2, "print_view_map", false, "debugprint");
  o.stop_on_name = bind_option_bool(L, 2, "stop_on_name", false, "debugprint");
  o.id_type = (print_id)bind_option_enum(L, 2, "id_type", ids, 0, "debugprint");
  o.depth = print_read_depth(L, 2);
  bool storage = bind_option_bool(L, 2, "print_storage", false, "debugprint");
  const damo_function *f = bind_to(L, 1, OBJ_FUNCTION);
  if (storage && !f) bind_raise(L, DAMO_EVALUE, "debugprint: print_storage needs a Function");
  bind_list list = print_list(L, 1, "debugprint");
  damo_ctx *ctx = bind_ctx(L);
  map cells;
  strbuf b;
  strbuf_init(&b, ctx);
  map_init(&cells, ctx);
  damo_status s = storage ? print_find_cells(f, &cells) : DAMO_OK;
  if (storage) {
    o.storage = print_add_storage;
    o.user = &cells;
  }
  if (s == DAMO_OK) s = graph_debugprint(ctx, list.at, list.n, &o, &b);
  map_clear(&cells);
  return print_push_text(L, &b, s);
}

static int print_pprint(lua_State *L) {
  lua_settop(L, 1);
  bind_list list = print_list(L, 1, "pprint");
  if (list.n == 0) return bind_arg_error(L, "pprint", 1, "x", "a Variable");
  strbuf b;
  strbuf_init(&b, bind_ctx(L));
  return print_push_text(L, &b, graph_pprint(bind_ctx(L), list.at[0], &b));
}

static int print_dot_text(lua_State *L) {
  lua_settop(L, 1);
  bind_list list = print_list(L, 1, "dot");
  strbuf b;
  strbuf_init(&b, bind_ctx(L));
  return print_push_text(L, &b, graph_dot(bind_ctx(L), list.at, list.n, &b));
}

void bind_add_printing(lua_State *L) {
  static const luaL_Reg fns[] = {
      {"debug_text", print_debug_text}, {"pprint", print_pprint}, {"dot_text", print_dot_text}, {NULL, NULL}};
  bind_setfuncs(L, fns);
}
