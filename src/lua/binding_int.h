/* binding_int: declarations shared by the files of the binding that deal with graphs (in scope.c unless another file is
 * named). */
#ifndef DAMO_LUA_BINDING_INT_H
#define DAMO_LUA_BINDING_INT_H

#include "binding.h"
#include "io/io.h"

/* ---- Into the core and back -------------------------------------------------------------------------------------- */

/* bind_enter and bind_leave surround every core call in which a Lua callback may run: Ops written in Lua run on the
 * coroutine that entered last. Nothing between them may raise. */
typedef struct bind_entry {
  bind_state *state;
  lua_State *before;
  damo_obj
      *trace; /* graph_notes.trace on entry, owned: a callback may set another while the core still uses this one */
} bind_entry;
bind_entry bind_enter(lua_State *L);
/* lua_pcall of a script's function, or of one that calls such a function, with n arguments on the stack. Fails with the
 * recursion error if the recursion limit is reached. */
int bind_call_back(lua_State *L, damo_ctx *ctx, int n, int n_results);
void bind_leave(bind_entry e);
/* Whether the value at idx is a function, or has __call. */
bool bind_is_callable(lua_State *L, int idx);
/* Keeps the Lua value at idx alive until bind_done: the userdata of objects that a callback has made are referred to by
 * nothing in Lua until the results are pushed. */
void bind_keep(lua_State *L, int idx);
/* Drops what bind_keep holds, if no core call is under way: to be called after the results are pushed. */
void bind_done(lua_State *L);
/* bind_defer keeps the error of a callback that cannot report failure to the core (a connection pattern). bind_deferred
 * returns it and forgets it. */
void bind_defer(bind_state *state, damo_status s);
damo_status bind_deferred(bind_state *state);
/* bind_leave, then s; if s is DAMO_OK, the deferred error of a callback instead. */
damo_status bind_leave_deferred(bind_entry e, damo_status s);

/* Adds core.raise(kind, message), which damo's own Lua files use, to the table at the top. */
void bind_add_raise(lua_State *L);

/* Writes the graph at idx, a Function or a table {inputs=, outputs=, updates=}, by the options at `options`; *status: how
 * that went. Pushes what it needs (lua/function/graph_file.c). */
void bind_write_graph(lua_State *L, int idx, int options, const char *func, const io_to *to, damo_status *status);
/* Reads a graph and pushes {inputs=, outputs=, updates=, shared=}. False: the error is pending. */
bool bind_read_graph(lua_State *L, int options, const char *func, const io_from *from);

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Pushes a userdata of n zeroed elements and returns them: memory for borrowed pointers, freed by Lua's collector. */
void *bind_alloc(lua_State *L, size_t n, size_t size);
/* The same for n owned references: those left in it are released with it. */
void **bind_vault(lua_State *L, int64_t n);
/* Pushes the object in slot i and moves the slot's reference to the userdata; nil for an empty slot. */
void bind_push_slot(lua_State *L, void **vault, int64_t i);

/* A list of Variables as an argument: a table, or one Variable alone. */
typedef struct bind_list {
  damo_var **at; /* borrowed */
  int64_t n;
  bool single; /* it was one Variable */
} bind_list;
/* Reads such an argument and pushes one value that keeps all of them alive. convert: numbers, Arrays and tables become
 * constants. nil gives an empty list. */
bind_list bind_var_list(lua_State *L, int idx, bool convert, const char *func, const char *argname);
/* Replaces the table at idx by a copy with the same keys and values and no metatable. Finalizers run whenever something
 * is allocated in Lua and may change a script's table between counting its entries and reading them; they cannot change
 * the copy. */
void bind_own_table(lua_State *L, int idx);
/* Pushes a list of the Variables; NULL entries become nil. */
void bind_push_vars(lua_State *L, damo_var *const *v, int64_t n);
/* True if the table at idx has a string key: it is a table of options. */
bool bind_is_options(lua_State *L, int idx);
/* Pushes the lines of a trace as a list, empty for NULL. */
void bind_push_trace(lua_State *L, const damo_trace *trace);
/* Looks up an option in the table at idx (or none, nil). If it is there, pushes it and returns true; else pushes
 * nothing. */
bool bind_option(lua_State *L, int idx, const char *name);
/* A boolean option, `otherwise` if absent; another type raises a type error. */
bool bind_option_bool(lua_State *L, int idx, const char *name, bool otherwise, const char *func);
/* The index in names (NULL-terminated) of a string option, `otherwise` if absent; another string raises a value error.
 */
int bind_option_enum(lua_State *L, int idx, const char *name, const char *const *names, int otherwise,
                     const char *func);
/* A string option, borrowed from the table; NULL if absent. */
const char *bind_option_str(lua_State *L, int idx, const char *name, const char *func);

/* ---- Metatables -------------------------------------------------------------------------------------------------- */

/* Fills the metatable of a kind. Reading a name finds, in this order: a field, computed by a function that takes the
 * object and pushes one value; a method; an entry of `more` (a table's registry reference, or LUA_NOREF). meta may
 * override __index. Pushes nothing. */
void bind_class(lua_State *L, obj_kind kind, const luaL_Reg *fields, const luaL_Reg *methods, const luaL_Reg *meta,
                int more);

/* ---- Properties (prop.c) ----------------------------------------------------------------------------------------- */

/* Converts the value at idx to a property of an Op: nil, boolean, number, string, Type, Op, or a list of these; with
 * allow_var, Variables too. A list's memory is a userdata, the only value pushed if any is; strings and objects are
 * borrowed from the value. */
prop_value bind_to_prop(lua_State *L, int idx, bool allow_var, const char *func, const char *what);
/* Pushes the property as a Lua value. */
void bind_push_prop(lua_State *L, const prop_value *v);

/* ---- Calls (lua/func/call.c) ------------------------------------------------------------------------------------- */

/* Calls an op function by name with n operands on the stack from `first` on (the entries of a list operand one by one)
 * and options made by WITH(…), or NULL. Returns the number of values pushed. */
int bind_call_parsed(lua_State *L, const char *name, int first, int n, const fn_given *options);

/* ---- Types (lua/graph/type.c) ------------------------------------------------------------------------------------ */

/* Converts the value at idx to a value of that Type: numbers, booleans and tables are converted if they fit, Arrays are
 * filtered (type_filter). Pushes the userdata that keeps the value alive, and returns the value, borrowed. Raises
 * errors that begin with `what`. */
damo_obj *bind_filter(lua_State *L, int idx, const damo_type *t, filter_options options, const char *what);

/* Reads a static shape, a list such as {false, 3}, at idx; false becomes -1, unknown. Returns its rank. Errors name
 * func. */
int bind_static_shape(lua_State *L, int idx, int64_t *shape, const char *func);
/* Pushes a new Variable of that Type, named by the string at idx (or nil). */
int bind_new_var(lua_State *L, damo_type *t, int idx, const char *func);

/* ---- Variables (lua/graph/make.c, lua/graph/subtensor.c) --------------------------------------------------------- */

/* Adds scalar … tensor, shared, constant, as_tensor_variable to the table at the top. */
void bind_add_makers(lua_State *L);
/* Subtensors of Variables: x[index] with the index at stack 2, and the methods set and inc. */
int bind_var_part(lua_State *L);
/* x[index] for the value at 1, of any kind that can be indexed. */
int bind_part(lua_State *L);
int bind_var_set(lua_State *L);
int bind_var_inc(lua_State *L);

/* ---- Native Op classes (lua/op/host_op.c) ------------------------------------------------------------------------ */

/* Pushes the Op of that class with the properties in the table at idx. */
int bind_class_instance(lua_State *L, const op_def *def, int idx);

/* ---- FunctionGraphs (lua/graph/fgraph.c) ------------------------------------------------------------------------- */

/* The FunctionGraph at stack index 1; a type error that names func otherwise. */
static inline damo_fgraph *bind_fgraph_self(lua_State *L, const char *func) {
  return bind_check_obj(L, 1, OBJ_FGRAPH, func, "self");
}
/* Adds print_op to the table at the top (lua/graph/printer.c). */
void bind_add_print_op(lua_State *L);
/* Adds debug_text, pprint and dot_text to the table at the top (lua/graph/print.c). */
void bind_add_printing(lua_State *L);
/* Fills the metatable of FunctionGraphs and adds the maker FunctionGraph to the table at the top. */
void bind_add_fgraph_class(lua_State *L);
/* Features (lua/graph/feature.c): the methods fg:attach_feature{on_import = function(self, fgraph, node) … end} and
 * fg:remove_feature(table), and the field fg.features. */
int bind_attach_feature(lua_State *L);
int bind_remove_feature(lua_State *L);
int bind_get_features(lua_State *L);
/* Adds DestroyHandler to the table at the top, and makes the features' metatables. */
void bind_add_features(lua_State *L);

/* ---- Functions (lua/function/function.c) ------------------------------------------------------------------------- */

/* Pushes the userdata of a compiled Function. named: a call returns a table keyed by the outputs' names; single: it
 * returns one value. */
void bind_push_function(lua_State *L, damo_function *take_f, bool named, bool single);
void bind_add_function_class(lua_State *L);
/* Adds the functions that lua/damo/profile.lua needs to the table at the top (lua/function/profile.c). */
void bind_add_profile(lua_State *L);

/* ---- Test values (lua/graph/test_value.c) ------------------------------------------------------------------------ */

/* Computes the node's test values if config.compute_test_value says so; an error of the computation is raised. */
void bind_test_node(lua_State *L, damo_apply *node);
/* The same for each node without test values from which the n Variables at stack index `first` and up are computed. */
void bind_test_values(lua_State *L, int first, int n);
/* The same for the Variable, or the list of at most n Variables, at the top, if config.compute_test_value says so. */
void bind_test_results(lua_State *L, int64_t n);

/* ---- Ops written in Lua (lua/op/class.c) ------------------------------------------------------------------------- */

/* Whether the Op's class was made by damo.Op. */
bool bind_is_lua_op(const damo_op *op);
/* The number of inputs that the Op takes; -1: unknown or any. */
int bind_op_takes(const damo_op *op);
/* Makes the registration by which Ops find their Lua state; called once. */
void bind_open_op_link(lua_State *L);

/* function/compile.c: replaces the mode at the top, a name or a Mode, by its text, for an Op that holds a graph (compile.h); a
 * name that there is not is a value error by func. Valid while it stays on the stack. */
const char *bind_mode_text(lua_State *L, const char *func);

#endif
