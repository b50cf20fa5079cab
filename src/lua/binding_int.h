/* binding_int: what the files of the binding that deal with graphs share (scope.c unless said otherwise). */
#ifndef DAMO_LUA_BINDING_INT_H
#define DAMO_LUA_BINDING_INT_H

#include "binding.h"

/* ---- Into the core and back -------------------------------------------------------------------------------------- */

/* Around every core call in which a Lua callback may run: Ops written in Lua run on the coroutine that entered last.
 * Nothing may raise between enter and leave. */
typedef struct bind_entry {
  bind_state *state;
  lua_State *before;
  damo_obj *trace; /* the trace that the core may remember while a callback sets another; owned */
} bind_entry;
bind_entry bind_enter(lua_State *L);
/* lua_pcall of a function on the stack with n arguments that is a script's or calls one back: where recursion is too
 * deep it fails with that error instead. */
int bind_call_back(lua_State *L, damo_ctx *ctx, int n, int n_results);
void bind_leave(bind_entry e);
/* Whether the value at idx is a function, or has __call. */
bool bind_is_callable(lua_State *L, int idx);
/* Keeps the Lua value at idx alive until bind_done: what a callback made lives in C alone until the results are
 * pushed. */
void bind_keep(lua_State *L, int idx);
/* Lets go what bind_keep holds, when no core call is under way: after the results are pushed. */
void bind_done(lua_State *L);
/* Raises when a callback whose place in the core can't fail (a connection pattern) left an error. */
void bind_defer(bind_state *state, damo_status s);
damo_status bind_deferred(bind_state *state);
/* Leaves, and gives s or, where that is no error, the one that a callback left. */
damo_status bind_leave_deferred(bind_entry e, damo_status s);

/* Adds core.raise(kind, message), for damo's own Lua files, to the table at the top. */
void bind_add_raise(lua_State *L);

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Pushes a userdata of n zeroed elements and returns them: memory for borrowed pointers, freed by Lua's collector. */
void *bind_alloc(lua_State *L, size_t n, size_t size);
/* The same, for owned references: what is left in it is released with it. */
void **bind_vault(lua_State *L, int64_t n);
/* Pushes the object in slot i (nil when empty), which gives up its reference. */
void bind_push_slot(lua_State *L, void **vault, int64_t i);

/* A list of Variables as an argument: a table, or one Variable alone. */
typedef struct bind_list {
  damo_var **at; /* borrowed */
  int64_t n;
  bool single; /* it was one Variable */
} bind_list;
/* Reads it, pushing one value that keeps all alive. With convert, numbers, Arrays and tables become constants. nil
 * gives an empty list. */
bind_list bind_var_list(lua_State *L, int idx, bool convert, const char *func, const char *argname);
/* Puts a copy of the table in its place at idx, with the same keys and values and no metatable. Finalizers run wherever
 * something is made in Lua, and may change a script's table between two looks at it, but not the copy: what is counted
 * and then read stands in one, and the copy keeps its keys and values. */
void bind_own_table(lua_State *L, int idx);
/* Pushes a list of the Variables, with holes for NULL. */
void bind_push_vars(lua_State *L, damo_var *const *v, int64_t n);
/* True when the table at idx has a string key: it is options. */
bool bind_is_options(lua_State *L, int idx);
/* Pushes a list of lines of a trace (an empty one for NULL). */
void bind_push_trace(lua_State *L, const damo_trace *trace);
/* Options at idx (none, nil or a table): pushes the option, returns whether it is there (then it stays on the
 * stack). */
bool bind_option(lua_State *L, int idx, const char *name);
/* Boolean option; type error naming it otherwise. */
bool bind_option_bool(lua_State *L, int idx, const char *name, bool otherwise, const char *func);
/* One of names (NULL-terminated) by its place; value error naming the option otherwise. */
int bind_option_enum(lua_State *L, int idx, const char *name, const char *const *names, int otherwise,
                     const char *func);
/* A string option, borrowed from the table; NULL when absent. */
const char *bind_option_str(lua_State *L, int idx, const char *name, const char *func);

/* ---- Metatables -------------------------------------------------------------------------------------------------- */

/* Fills the metatable of a kind: fields are functions of the object that push one value, methods are found after them,
 * then `more` (a table's registry reference, or LUA_NOREF). meta may override __index. Pushes nothing. */
void bind_class(lua_State *L, obj_kind kind, const luaL_Reg *fields, const luaL_Reg *methods, const luaL_Reg *meta,
                int more);

/* ---- Properties (prop.c) ------------------------------------------------------------------------------------- */

/* The value at idx as an Op's property: nil, boolean, number, string, Type, Op or a list of these. Lists sit in a
 * userdata that is pushed (one, or nothing); strings and objects stay borrowed from the value. allow_var: Variables
 * too. */
prop_value bind_to_prop(lua_State *L, int idx, bool allow_var, const char *func, const char *what);
/* Pushes the property as a Lua value. */
void bind_push_prop(lua_State *L, const prop_value *v);

/* ---- Calls (lua/func/call.c) ------------------------------------------------------------------------------------- */

/* Calls a function by name over n operands on the stack from `first` on (a list operand's entries too, one by one),
 * with options, WITH(…) (may be NULL). Returns the count pushed. */
int bind_call_parsed(lua_State *L, const char *name, int first, int n, const fn_given *options);

/* ---- Types (lua/graph/type.c) ------------------------------------------------------------------------------------------ */

/* The value at idx as a value of that Type: numbers, booleans and tables converted where they fit, Arrays filtered.
 * Pushes the userdata that keeps it and returns it, borrowed. Raises an error that begins with `what`. */
damo_obj *bind_filter(lua_State *L, int idx, const damo_type *t, filter_options options, const char *what);

/* A shape list at idx, {false, 3}: -1 where unknown. Raises errors that name func. */
int bind_static_shape(lua_State *L, int idx, int64_t *shape, const char *func);
/* A new Variable of that Type; the name is at idx (a string, or nothing). Pushes it. */
int bind_new_var(lua_State *L, damo_type *t, int idx, const char *func);

/* ---- Variables (lua/graph/make.c, lua/graph/subtensor.c) ------------------------------------------------------------------------- */

/* Adds scalar … tensor, shared, constant, as_tensor_variable to the table at the top. */
void bind_add_makers(lua_State *L);
/* Variables' parts: x[index] for a key at 2, and the methods set and inc. */
int bind_var_part(lua_State *L);
/* The same for the value at 1, of any kind that has parts. */
int bind_part(lua_State *L);
int bind_var_set(lua_State *L);
int bind_var_inc(lua_State *L);

/* ---- Native Op classes (lua/op/host_op.c) --------------------------------------------------------------------------- */

/* Pushes the Op of that class with the properties in the table at idx. */
int bind_class_instance(lua_State *L, const op_def *def, int idx);

/* ---- FunctionGraphs (lua/graph/fgraph.c) ------------------------------------------------------------------------------- */

/* The FunctionGraph at stack index 1; a type error that names func otherwise. */
static inline damo_fgraph *bind_fgraph_self(lua_State *L, const char *func) {
  return bind_check_obj(L, 1, OBJ_FGRAPH, func, "self");
}
/* Adds debug_text, pprint and dot_text to the table at the top (lua/graph/print.c). */
void bind_add_printing(lua_State *L);
/* Fills its metatable and adds FunctionGraph to the table at the top. */
void bind_add_fgraph_class(lua_State *L);
/* Features (lua/graph/feature.c): the methods fg:attach_feature{on_import = function(self, fgraph, node) … end} and
 * fg:remove_feature(table), and the field fg.features. */
int bind_attach_feature(lua_State *L);
int bind_remove_feature(lua_State *L);
int bind_get_features(lua_State *L);
/* Adds DestroyHandler to the table at the top, and makes the features' metatables. */
void bind_add_features(lua_State *L);

/* ---- Functions (lua/function/function.c) ---------------------------------------------------------------------------------- */

/* Pushes a compiled Function. named: results come in a table of the outputs' names; single: it is one value. */
void bind_push_function(lua_State *L, damo_function *take_f, bool named, bool single);
void bind_add_function_class(lua_State *L);

/* ---- Test values (lua/graph/test_value.c) ------------------------------------------------------------------------------ */

/* Computes the node's test values when config.compute_test_value asks for that; an error of the computation is
 * raised. */
void bind_test_node(lua_State *L, damo_apply *node);
/* The same for whatever the n Variables at stack index first and up are made from and has no test value yet. */
void bind_test_values(lua_State *L, int first, int n);
/* The same for the Variable, or the list of at most n of them, at the top, when config.compute_test_value asks for it. */
void bind_test_results(lua_State *L, int64_t n);

/* ---- Ops written in Lua (lua/op/class.c) ------------------------------------------------------------------------- */

/* Whether the class is one of damo.Op's. */
bool bind_is_lua_op(const damo_op *op);
/* The inputs that the Op takes; -1: not known, or any number. */
int bind_op_takes(const damo_op *op);
/* Sets up the place through which Ops find their Lua state; called once. */
void bind_open_op_link(lua_State *L);

#endif
