/* compile: damo.compile: reads inputs, outputs and options into the core's specs. */
#include "function.h"
#include "lua/binding_int.h"
#include "export/export.h"
#include "rewrite/rewrite.h"

static const char spec_in_key = 'i', spec_out_key = 'o', mode_key = 'm';

/* ---- In, Out, Mode ----------------------------------------------------------------------------------------------- */

static bool spec_has_meta(lua_State *L, int idx, const void *key) {
  if (!lua_istable(L, idx) || !lua_getmetatable(L, idx)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, key);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

/* damo.In and damo.Out: returns a copy of the options table at 2 with the field `variable` set. */
static int spec_make(lua_State *L, const char *func, const char *const *options, const void *key) {
  lua_settop(L, 2);
  bind_check_obj(L, 1, OBJ_VAR, func, "variable");
  bind_check_options(L, func, 2, options);
  lua_createtable(L, 0, 4);
  for (lua_pushnil(L); lua_istable(L, 2) && lua_next(L, 2);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, 3);
  }
  lua_settop(L, 3);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "variable");
  lua_rawgetp(L, LUA_REGISTRYINDEX, key);
  lua_setmetatable(L, -2);
  return 1;
}

void bind_set_in(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &spec_in_key);
  lua_setmetatable(L, -2);
}

static int spec_make_in(lua_State *L) {
  static const char *const options[] = {"name", "value", "update", "mutable", "borrow", "strict", NULL};
  return spec_make(L, "In", options, &spec_in_key);
}

static int spec_make_out(lua_State *L) {
  static const char *const options[] = {"borrow", NULL};
  return spec_make(L, "Out", options, &spec_out_key);
}

static const char *const mode_linkers[] = {"vm", "c", "cvm", "nanguard", "debug", "cc", NULL};

/* The Mode's field of that name, one of `words`; NULL if absent. */
static const char *mode_word(lua_State *L, int idx, const char *field, const char *const *words) {
  int i = bind_option_enum(L, idx, field, words, -1, "Mode");
  return i < 0 ? NULL : words[i];
}

/* Pushes the list of tags in that field, joined by spaces; NULL, and nothing pushed, if absent. */
static const char *mode_join_tags(lua_State *L, int idx, const char *field) {
  if (!bind_option(L, idx, field)) return NULL;
  if (lua_type(L, -1) == LUA_TSTRING) return bind_text(L, -1, "Mode");
  if (!lua_istable(L, -1)) bind_raise(L, DAMO_ETYPE, "Mode: '%s' must be a list of tags", field);
  int list = lua_gettop(L), n = (int)lua_rawlen(L, list);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 1; i <= n; i++) {
    lua_rawgeti(L, list, i);
    if (lua_type(L, -1) != LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "Mode: '%s' must be a list of tags", field);
    luaL_addvalue(&b);
    if (i < n) luaL_addstring(&b, " ");
  }
  luaL_pushresult(&b);
  return bind_text(L, -1, "Mode");
}

/* damo.Mode{optimizer=, linker=, jit=, reproducible=, dir=, include=, exclude=, require=} */
static int mode_make(lua_State *L) {
  static const char *const options[] = {"linker",  "optimizer", "jit", "reproducible", "dir", "include",
                                        "exclude", "require",   NULL};
  lua_settop(L, 1);
  bind_check_options(L, "Mode", 1, options);
  const char *linker = mode_word(L, 1, "linker", mode_linkers);
  mode_word(L, 1, "optimizer", compile_optimizers);
  bind_option_bool(L, 1, "jit", true, "Mode");
  bind_option_bool(L, 1, "reproducible", false, "Mode");
  if (bind_option_str(L, 1, "dir", "Mode") && (!linker || strcmp(linker, "cc") != 0))
    bind_raise(L, DAMO_EVALUE, "Mode: 'dir' is where linker = \"cc\" keeps its libraries; the linker '%s' has none",
               linker ? linker : mode_linkers[0]);
  for (int i = 5; options[i]; i++)
    bind_check(L, rewrite_check_words(bind_ctx(L), options[i], mode_join_tags(L, 1, options[i])));
  lua_settop(L, 1);
  lua_createtable(L, 0, 4);
  for (int i = 0; options[i]; i++) {
    if (!bind_option(L, 1, options[i])) continue;
    lua_setfield(L, 2, options[i]);
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mode_key);
  lua_setmetatable(L, -2);
  return 1;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static void compile_keep_top(lua_State *L, const compile_args *j) {
  lua_rawseti(L, j->keep, (int)lua_rawlen(L, j->keep) + 1);
}

static damo_var *spec_variable(lua_State *L, const compile_args *j, int idx) {
  lua_getfield(L, idx, "variable");
  damo_var *v = bind_to_var(L, -1);
  lua_pop(L, 1); /* the table keeps it alive */
  if (!v) bind_raise(L, DAMO_ETYPE, "%s: the variable of an In or Out was replaced", j->func);
  return v;
}

/* Reads the In table at the top. */
static void compile_read_in(lua_State *L, compile_args *j, in_spec *spec) {
  int idx = lua_gettop(L);
  spec->var = spec_variable(L, j, idx);
  spec->name = bind_option_str(L, idx, "name", "In");
  spec->mutable_ = bind_option_bool(L, idx, "mutable", false, "In");
  bind_option_bool(L, idx, "borrow", false, "In"); /* checked alone: no argument is kept or copied for it */
  spec->strict = bind_option_bool(L, idx, "strict", false, "In");
  if (bind_option(L, idx, "value")) {
    filter_options fo = {.strict = spec->strict, .allow_downcast = j->o.allow_input_downcast};
    spec->value = bind_filter(L, lua_gettop(L), spec->var->type, fo, "In: value");
    compile_keep_top(L, j);
    lua_pop(L, 1);
  }
  if (bind_option(L, idx, "update")) {
    bool graph;
    spec->update = bind_operand(L, lua_gettop(L), true, &graph, "In", 0, "update");
    compile_keep_top(L, j);
    lua_pop(L, 1);
  }
}

static void compile_read_input(lua_State *L, compile_args *j, int i) {
  in_spec *spec = &j->in[i];
  spec->var = bind_to_var(L, -1);
  if (!spec->var && spec_has_meta(L, -1, &spec_in_key)) compile_read_in(L, j, spec);
  if (!spec->var) {
    bind_raise(L, DAMO_ETYPE, "%s: input %d must be a Variable or an In, got %s", j->func, i + 1, bind_typename(L, -1));
  }
}

/* Raises: inputs or outputs are an argument of the call, or, behind `keep` on the stack, a field of its argument. */
static void spec_refuse(lua_State *L, const compile_args *j, int idx, const char *name, const char *expected) {
  if (idx < j->keep) bind_arg_error(L, j->func, idx, name, expected);
  bind_raise(L, DAMO_ETYPE, "%s: %s must be %s, got %s", j->func, name, expected, bind_typename(L, idx));
}

void bind_compile_inputs(lua_State *L, compile_args *j, int idx) {
  BIND_HEIGHT(L);
  bool alone = bind_to_var(L, idx) || spec_has_meta(L, idx, &spec_in_key);
  if (!alone && !lua_isnoneornil(L, idx) && !lua_istable(L, idx)) {
    spec_refuse(L, j, idx, "inputs", "a list of Variables");
  }
  if (!alone && bind_is_options(L, idx)) spec_refuse(L, j, idx, "inputs", "a list without names (name an In instead)");
  j->n_in = alone ? 1 : lua_istable(L, idx) ? (int64_t)lua_rawlen(L, idx) : 0;
  j->in = bind_alloc(L, (size_t)j->n_in, sizeof *j->in);
  for (int64_t i = 0; i < j->n_in; i++) {
    if (alone) {
      lua_pushvalue(L, idx);
    } else {
      lua_rawgeti(L, idx, (int)(i + 1));
    }
    compile_read_input(L, j, (int)i);
    lua_pop(L, 1);
  }
  BIND_LEAVES(L, 1);
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

/* Reads the output at the top and pops it. */
static void compile_read_output(lua_State *L, compile_args *j, int64_t i, const char *name) {
  out_spec *spec = &j->out[i];
  bool graph;
  int idx = lua_gettop(L);
  spec->name = name;
  if (spec_has_meta(L, idx, &spec_out_key)) {
    spec->var = spec_variable(L, j, idx);
    spec->borrow = bind_option_bool(L, idx, "borrow", spec->borrow, "Out");
    lua_pop(L, 1);
    return;
  }
  if (lua_isnil(L, idx)) bind_raise(L, DAMO_ETYPE, "%s: output %d is nil", j->func, (int)i + 1);
  spec->var = bind_operand(L, idx, true, &graph, j->func, (int)i + 1, name ? name : "output");
  compile_keep_top(L, j);
  lua_pop(L, 1);
}

/* Reads outputs from a table {name = variable}: they are ordered by name. */
static void compile_read_named_outputs(lua_State *L, compile_args *j, int idx) {
  int64_t n = 0;
  bind_own_table(L, idx);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      bind_raise(L, DAMO_ETYPE, "%s: outputs are either a list or all named", j->func);
    n++;
  }
  const char **names = bind_alloc(L, (size_t)n, sizeof *names);
  j->out = bind_alloc(L, (size_t)n, sizeof *j->out);
  j->n_out = 0;
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) names[j->n_out++] = bind_text(L, -2, j->func);
  bind_sort_names(names, (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    lua_getfield(L, idx, names[i]);
    compile_read_output(L, j, i, names[i]);
  }
  j->named = true;
}

void bind_compile_outputs(lua_State *L, compile_args *j, int idx, bool borrow) {
  int type = lua_type(L, idx);
  j->single =
      type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TUSERDATA || spec_has_meta(L, idx, &spec_out_key);
  if (!j->single && bind_is_options(L, idx)) {
    compile_read_named_outputs(L, j, idx);
  } else {
    if (!j->single && !lua_isnoneornil(L, idx) && !lua_istable(L, idx)) {
      spec_refuse(L, j, idx, "outputs", "a Variable, a list, a table of names, or nil");
    }
    j->n_out = j->single ? 1 : lua_istable(L, idx) ? (int64_t)lua_rawlen(L, idx) : 0;
    j->out = bind_alloc(L, (size_t)j->n_out, sizeof *j->out);
    for (int64_t i = 0; i < j->n_out; i++) {
      j->out[i].borrow = borrow;
      if (j->single) {
        lua_pushvalue(L, idx);
      } else {
        lua_rawgeti(L, idx, (int)(i + 1));
      }
      compile_read_output(L, j, i, NULL);
    }
    return;
  }
  for (int64_t i = 0; i < j->n_out; i++) j->out[i].borrow = j->out[i].borrow || borrow;
}

/* ---- Pairs: updates and givens ----------------------------------------------------------------------------------- */

typedef struct var_pair {
  damo_var *of, *to;
} var_pair;

/* Pops the two topmost values, key and value of a pair, and returns them as Variables. */
static var_pair compile_read_pair(lua_State *L, const compile_args *j, const char *option) {
  bool graph;
  var_pair p = {.of = bind_to_var(L, -2)};
  if (!p.of) {
    bind_raise(L, DAMO_ETYPE, "%s: %s: expected a Variable on the left, got %s", j->func, option, bind_typename(L, -2));
  }
  if (lua_isnil(L, -1))
    bind_raise(L, DAMO_ETYPE, "%s: %s: the new value of %s is nil", j->func, option,
               p.of->name ? p.of->name : "a Variable");
  if (lua_type(L, -1) == LUA_TSTRING || lua_isfunction(L, -1))
    bind_raise(L, DAMO_ETYPE, "%s: %s: the new value of %s must be a Variable or a value, got %s", j->func, option,
               p.of->name ? p.of->name : "a Variable", bind_typename(L, -1));
  p.to = bind_operand(L, lua_gettop(L), true, &graph, j->func, 0, option);
  compile_keep_top(L, j);
  lua_pushvalue(L, -2); /* the key too: the table of a pair may be temporary */
  compile_keep_top(L, j);
  lua_pop(L, 2);
  return p;
}

static void sort_var_pairs(var_pair *p, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    var_pair x = p[i];
    int64_t k = i;
    for (; k > 0 && p[k - 1].of->id > x.of->id; k--) p[k] = p[k - 1];
    p[k] = x;
  }
}

/* Reads a list of pairs {{v, e}, …} in its order. */
static int64_t compile_read_pair_list(lua_State *L, const compile_args *j, int idx, var_pair *pairs, int64_t n,
                                      const char *option) {
  for (int64_t i = 0; i < n; i++) {
    lua_rawgeti(L, idx, (int)(i + 1));
    if (!lua_istable(L, -1) || lua_rawlen(L, -1) != 2) {
      bind_raise(L, DAMO_ETYPE, "%s: entry %d of %s must be a pair {variable, expression}, as in {{w, w + 1}}", j->func,
                 (int)i + 1, option);
    }
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    pairs[i] = compile_read_pair(L, j, option);
    lua_pop(L, 1);
  }
  return n;
}

/* Reads the table of pairs at the top (which stays) into two parallel lists; returns their length. Pairs {[v] = e} are
 * sorted by the age of v, since the order of a Lua table varies between runs. */
int64_t bind_compile_pairs(lua_State *L, const compile_args *j, const char *option, damo_var *const **of,
                           damo_var *const **to) {
  int idx = lua_gettop(L);
  int64_t n = 0;
  if (!lua_istable(L, idx))
    bind_raise(L, DAMO_ETYPE, "%s: option '%s' must be a table, got %s", j->func, option, bind_typename(L, idx));
  bind_own_table(L, idx);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) n++;
  var_pair *pairs = bind_alloc(L, (size_t)n, sizeof *pairs);
  damo_var **a = bind_alloc(L, (size_t)n, sizeof *a), **b = bind_alloc(L, (size_t)n, sizeof *b);
  if (n > 0 && (int64_t)lua_rawlen(L, idx) == n) {
    compile_read_pair_list(L, j, idx, pairs, n, option);
  } else {
    n = 0;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      pairs[n++] = compile_read_pair(L, j, option);
    }
    sort_var_pairs(pairs, n);
  }
  for (int64_t i = 0; i < n; i++) {
    a[i] = pairs[i].of;
    b[i] = pairs[i].to;
  }
  *of = a;
  *to = b;
  return n;
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* Reads the mode at idx, a name or a Mode, into o; what must live stays on the stack. The core checks names. */
static void mode_read(lua_State *L, int idx, const char *func, compile_options *o) {
  if (lua_type(L, idx) == LUA_TSTRING) {
    o->mode = bind_text(L, idx, func);
    return;
  }
  if (!spec_has_meta(L, idx, &mode_key))
    bind_raise(L, DAMO_ETYPE, "%s: option 'mode' must be a name or a Mode, got %s", func, bind_typename(L, idx));
  const char *linker = mode_word(L, idx, "linker", mode_linkers);
  o->mode = linker && linker[0] == 'n' ? "NANGUARD" : linker && linker[0] == 'd' ? "DEBUG" : "FAST_RUN";
  o->optimizer = mode_word(L, idx, "optimizer", compile_optimizers);
  o->no_jit = !bind_option_bool(L, idx, "jit", true, "Mode");
  o->include = mode_join_tags(L, idx, "include");
  o->exclude = mode_join_tags(L, idx, "exclude");
  o->require = mode_join_tags(L, idx, "require");
}

const char *bind_mode_text(lua_State *L, const char *func) {
  const int idx = lua_gettop(L);
  compile_options o = {0};
  luaL_checkstack(L, 10, func);
  mode_read(L, idx, func, &o);
  strbuf *text = bind_push_strbuf(L);
  compile_mode_text(&o, text);
  if (text->failed) bind_raise(L, DAMO_EMEMORY, "out of memory");
  bind_check(L, compile_check_mode(bind_ctx(L), func, text->at));
  lua_pushstring(L, text->at);
  lua_replace(L, idx);
  lua_settop(L, idx);
  return lua_tostring(L, idx);
}

/* Reads the mode at the top (which stays). */
static void compile_read_mode(lua_State *L, compile_args *j) {
  const int idx = lua_gettop(L);
  mode_read(L, idx, "compile", &j->o);
  if (lua_type(L, idx) == LUA_TSTRING) return;
  const char *linker = mode_word(L, idx, "linker", mode_linkers);
  j->links = linker && strcmp(linker, "cc") == 0;
  if (j->links) j->dir = bind_option_str(L, idx, "dir", "Mode");
  j->o.reproducible = bind_option_bool(L, idx, "reproducible", false, "Mode");
}

static void compile_read_options(lua_State *L, compile_args *j, int idx) {
  static const char *const unused[] = {"raise", "warn", "ignore", NULL};
  static const char *const names[] = {"updates", "givens",  "mode",   "on_unused_input", "allow_input_downcast",
                                      "name",    "profile", "borrow", "threads",         "no_default_updates",
                                      NULL};
  bind_check_options(L, "compile", idx, names);
  j->o.mode = bind_get(L)->mode;
  j->o.name = bind_option_str(L, idx, "name", "compile");
  j->o.on_unused_input = (unused_mode)bind_option_enum(L, idx, "on_unused_input", unused, 0, "compile");
  j->o.allow_input_downcast = bind_option_bool(L, idx, "allow_input_downcast", false, "compile");
  j->o.no_default_updates = bind_option_bool(L, idx, "no_default_updates", false, "compile");
  j->o.profile = bind_option_bool(L, idx, "profile", false, "compile");
  if (bind_option(L, idx, "threads")) {
    const lua_Number n = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER)
      bind_raise(L, DAMO_ETYPE, "compile: option 'threads' must be an integer, got %s", bind_typename(L, -1));
    if (!(n >= 1 && n <= CTX_MOST_THREADS && n == (lua_Number)(int)n))
      bind_raise(L, DAMO_EVALUE, "compile: option 'threads' must be an integer from 1 to %d", CTX_MOST_THREADS);
    j->o.threads = (int)n;
    if (j->o.threads > bind_get(L)->ctx->config.threads) bind_gate(L, GATE_LIMIT, "compile: option 'threads'");
    lua_pop(L, 1);
  }
  if (bind_option(L, idx, "mode")) compile_read_mode(L, j);
  if (bind_option(L, idx, "updates"))
    j->o.n_updates = bind_compile_pairs(L, j, "updates", &j->o.update_of, &j->o.update_to);
  if (bind_option(L, idx, "givens")) j->o.n_givens = bind_compile_pairs(L, j, "givens", &j->o.given, &j->o.given_as);
}

/* ---- compile ----------------------------------------------------------------------------------------------------- */

static damo_function *compile_run(lua_State *L, const compile_args *j) {
  bind_entry e = bind_enter(L);
  damo_ctx *ctx = e.state->ctx;
  damo_function *f = j->links ? export_linked(ctx, j->in, j->n_in, j->out, j->n_out, &j->o, j->dir)
                              : compile_function(ctx, j->in, j->n_in, j->out, j->n_out, &j->o);
  damo_status left = bind_deferred(e.state);
  bind_leave(e);
  if (f && left != DAMO_OK) {
    damo_release(f);
    f = NULL;
  }
  return f;
}

/* damo.compile(inputs, outputs, options) */
static int compile_call(lua_State *L) {
  compile_args j = {.func = "compile"};
  lua_settop(L, 3);
  luaL_checkstack(L, 60, "compile");
  lua_newtable(L);
  j.keep = 4;
  compile_read_options(L, &j, 3);
  bind_compile_inputs(L, &j, 1);
  bind_compile_outputs(L, &j, 2, bind_option_bool(L, 3, "borrow", false, "compile"));
  graph_notes_of(bind_ctx(L))->trace = NULL;
  damo_function *f = compile_run(L, &j);
  if (!f) return bind_error(L);
  bind_push_function(L, f, j.named, j.single);
  if (bind_push_existing(L, f->program->fgraph)) { /* a rewriter made its userdata before rewriting ended */
    bind_reanchor(L, -1);
    lua_pop(L, 1);
  }
  bind_done(L);
  return 1;
}

static void compile_add_metatable(lua_State *L, const char *name, const void *key) {
  lua_createtable(L, 0, 1);
  lua_pushstring(L, name);
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

void bind_open_compile(lua_State *L) {
  static const luaL_Reg fns[] = {{"compile", compile_call}, {"from_token", bind_from_token},
                                 {"In", spec_make_in},      {"Out", spec_make_out},
                                 {"Mode", mode_make},       {NULL, NULL}};
  compile_add_metatable(L, "damo.In", &spec_in_key);
  compile_add_metatable(L, "damo.Out", &spec_out_key);
  compile_add_metatable(L, "damo.Mode", &mode_key);
  bind_add_function_class(L);
  bind_setfuncs(L, fns);
  bind_add_graph_files(L);
}
