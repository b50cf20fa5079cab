/* binding: the Lua module damo.core. It checks arguments, calls the core and translates results; it holds no numerics.
 *
 * In: a lua_State. Out: userdata, functions, error objects. Invariants:
 * - Identity: a C object has at most one userdata (bind_push), found through a weak table keyed by the object's
 *   address.
 * - Ownership: a userdata holds one reference on its C object. Its one user value holds the userdata of the objects
 *   that the C object refers to, directly or through other userdata. So a tag or an Op written in Lua lives as long as
 *   its object can be reached, and cycles through Lua are garbage to Lua's collector. Wrapping is iterative and stops
 *   at objects that have a userdata already.
 * - The core holds no reference to a Lua value. Lua values that belong to an object (tag, Op table, generic value) hang
 *   from its userdata's user value.
 * - Errors: before any call that may raise, every C resource of the frame sits in a userdata on the stack. Errors are
 *   raised only in error.c, after the core has returned.
 *
 * Files, one theme each: state.c module and context; config.c, info.c; error.c, given.c what a failing call was given;
 * object.c identity and anchoring; lua/value/array.c Arrays, lua/value/array_make.c making them, lua/value/view.c damo.view, lua/value/array_methods.c; lua/value/index.c
 * index tables; lua/value/value.c numbers and values to and from Lua, lua/value/nested.c nested tables;
 * lua/func/func.c the op functions and methods, lua/func/args.c and lua/func/call.c their calls; lua/graph/type.c Types; lua/graph/var.c
 * Variables; lua/graph/graph.c Apply, walks; lua/graph/fgraph.c FunctionGraphs, lua/graph/feature.c their features; lua/op/op.c Ops,
 * lua/op/class.c classes written in Lua, lua/op/node.c nodes of Ops, lua/op/member.c, lua/op/call.c callbacks of the
 * core, lua/op/run.c their runs, lua/op/params.c the params of nodes,
 * lua/op/thunk.c thunks that scripts make, lua/graph/test_value.c; lua/op/from_graph.c; lua/op/host_op.c damo.ops; lua/graph/print.c
 * texts of graphs; names.c names that are not there, record.c tables that print what is in them; lua/graph/grad.c;
 * lua/function/compile.c Functions; lua/graph/rewrite.c rewrite rules; lua/value/random.c; io.c files, system.c what damo's Lua files
 * need of the system; collect.c Lua's collector. binding_int.h
 * has what the files about graphs share, lua/op/class.h what those of Ops share, lua/func/func.h calls
 * of functions.
 */
#ifndef DAMO_LUA_BINDING_H
#define DAMO_LUA_BINDING_H

#include "api/api.h"
#include "scan/scan.h"
#include "compat.h" /* includes lua.h, lauxlib.h; one private place for 5.1 … 5.4 and LuaJIT */

/* ---- State (state.c) --------------------------------------------------------------------------------------------- */

#define BIND_BUCKETS 256

/* A graph that the core has made at once: read from a file, or gradients. */
#define BIND_MOST_FRESH 16
typedef struct bind_fresh {
  uint64_t first, end; /* numbers of its Variables and nodes */
} bind_fresh;

/* How native memory drives Lua's collector: the algorithm and the terms are explained in collect.c. Sizes are bytes of
 * native memory (ctx->bytes); "cycle" is a cycle of Lua's collector. */
typedef struct bind_collector {
  size_t floor;               /* config.gc_floor: the scale for how much garbage may wait for the next cycle */
  size_t due;                 /* bind_gc_pressure does the next step when this much is in use */
  size_t low;                 /* the least in use since the end of the last cycle */
  size_t patience;            /* factor on the spacing: grows while cycles free little, else 1 */
  size_t spacing;             /* growth before the next cycle in generational mode, an upper bound on it else */
  size_t made;                /* number of userdata made since the last cycle */
  size_t begun;               /* bytes in use when the current cycle began */
  int64_t steps;              /* steps done in the current cycle */
  bool cycling;               /* a cycle is under way */
  bool marked;                /* the cycle's marker is not finalized yet */
  bool finalizing;            /* the marker was finalized during one of our steps */
  struct bind_box *newest;    /* the newest userdata at the end of the last cycle */
  bool aging;                 /* objects that survived the last but one young collection also survived the last */
  size_t settled;             /* bytes in use after the last major collection of generational mode */
  int settled_heap;           /* and the kilobytes of Lua's heap */
  bool suspect, generational; /* a young collection was seen once / twice in a row */
  bool trying;                /* inside the first of the two runs of bind_again */
  bool second;                /* inside the second run, or the second run has raised an error */
} bind_collector;

/* The state of the binding in one lua_State, a userdata in its registry: the context and the references of the
 * binding's tables. */
typedef struct bind_state {
  damo_ctx *ctx;                      /* one reference */
  bind_collector gc;                  /* collect.c */
  lua_State *args_of;                 /* where the innermost call began that bind_again runs; NULL: none */
  int n_args;                         /* how many arguments it has, at 1 … n_args (given.c) */
  const struct fn_signature *calling; /* of an op function's first run, which has no upvalues (lua/func/func.c) */
  int ref_objects[BIND_BUCKETS];      /* registry refs: weak tables address → userdata (object.c) */
  int ref_methods;                    /* table: names → functions shared by Arrays and Variables */
  int ref_module;                     /* the table that luaopen_damo_core returns */
  int ref_metatable[OBJ_N_KINDS];
  int ref_error;   /* metatable of error objects */
  int ref_pending; /* list of userdata whose neighbours are not wrapped yet (object.c), n_pending long */
  int n_pending;
  bind_fresh fresh[BIND_MOST_FRESH]; /* graphs of which only the roots have userdata (object.c) */
  int n_fresh;
  uint64_t n_made; /* number of userdata made so far */
  int n_orphans;   /* references that are not in a userdata yet: kept here so that a raise loses none (bind_hold) */
  void *orphans[32];
  damo_trace *trace;              /* the trace that graph_notes.trace borrows; owned here */
  const void *newaxis, *ellipsis; /* addresses of the userdata damo.newaxis and damo.ellipsis */
  char source[256];       /* prefix of the sources of damo's own Lua files: "@/usr/share/lua/5.4/damo/"; "" unknown */
  char beside[256];       /* the same of a module over damo (damo.mpi), whose lines traces leave out; "" none */
  char mode[32];          /* config.mode */
  bool through;           /* that callback is a debug hook, whose error is raised as it is */
  bool in_front;          /* inside of a call of front.c, which can't run a hook */
  char cause[256];        /* prefix of the message of the callback error whose cause is kept; "" none */
  lua_State *running;     /* the coroutine inside the core, where Lua callbacks run; NULL: none (bind_enter) */
  damo_status deferred;   /* the error of a callback that cannot report failure to the core (bind_defer) */
  struct bind_box *boxes; /* all not finalized: Lua never finalizes userdata made while a state closes */
  lua_State *main;        /* where callbacks run if no coroutine is known to be inside the core */
  lua_State *hook;        /* the thread on which warning callbacks run, since any coroutine may be running */
  bool closed;
} bind_state;

/* Raises if the state is closed (seen by a finalizer that runs after the module's). */
bind_state *bind_get(lua_State *L);
static inline damo_ctx *bind_ctx(lua_State *L) { return bind_get(L)->ctx; }
/* The context of the state; NULL without damo.core and while the state is being closed. Does not raise. */
damo_ctx *bind_find_ctx(lua_State *L);
/* The main thread, on which callbacks run if no coroutine is known to be inside the core. Lua 5.1 cannot tell it: there
 * it is L itself. */
lua_State *bind_main_thread(lua_State *L);
/* Sets graph_notes.trace to the lines of the running Lua code: at most config.traceback_limit lines, without those of
 * damo's own files. The trace object lives until the next call. */
void bind_set_trace(lua_State *L);

/* ---- Lua's collector (collect.c) --------------------------------------------------------------------------------- */

void bind_collect_init(bind_state *st);
/* Does steps of a Lua collection in proportion to the native memory allocated since the last ones; none while less has
 * been allocated than the next cycle waits for (scaled by config.gc_floor), or while the collector is stopped. Called
 * before a compiled Function runs and after other allocating calls. It may run finalizers and raise, so the caller must
 * hold no unanchored C memory. */
void bind_gc_pressure(lua_State *L);
/* config.gc_floor, in bytes. */
void bind_set_gc_floor(lua_State *L, size_t bytes);
/* Whether bind_gc_pressure has anything to do: the cheap test for hot paths. */
static inline bool bind_gc_is_due(const bind_state *st) {
  return ctx_stress(st->ctx, STRESS_COLLECT) || st->ctx->bytes >= st->gc.due || st->ctx->bytes < st->gc.low;
}
/* luaL_setfuncs for functions that scripts call. If the context's memory is limited and a call runs out of it, Lua
 * collects garbage and the function runs a second time from its start. So such a function must change no state before
 * it has all the memory it needs. */
void bind_setfuncs(lua_State *L, const luaL_Reg *functions);
/* lua_pushcfunction with the same second run. */
void bind_pushfunction(lua_State *L, lua_CFunction function);
/* lua_pushcclosure for a function that passes its body to bind_again, which gives it the second run. */
void bind_pushclosure(lua_State *L, lua_CFunction function, int n_upvalues);
int bind_again(lua_State *L, lua_CFunction body, int n_upvalues);
/* bind_again for a body that does without its upvalues in the first run, which then makes no Lua object. */
int bind_again_bare(lua_State *L, lua_CFunction body, int n_upvalues);

/* bind_again and bind_pushclosure for functions of which a call must make no Lua object where memory is limited: the body
 * (1 upvalue or more) has a closure of its own, made beforehand. */
int bind_again_kept(lua_State *L, lua_CFunction body, int n_upvalues);
void bind_pushkept(lua_State *L, lua_CFunction function, lua_CFunction body, int n_upvalues);

/* ---- Theme files ------------------------------------------------------------------------------------------------- */

/* Each adds its theme's functions to the module table at the top of the stack, and makes its metatables. */
void bind_open_config(lua_State *L);
void bind_open_info(lua_State *L);
void bind_open_error(lua_State *L);
void bind_open_object(lua_State *L);
void bind_open_array(lua_State *L);
void bind_open_array_make(lua_State *L);
void bind_open_view(lua_State *L);
int bind_rebind(lua_State *L);         /* the method rebind of Arrays (lua/value/view.c) */
void bind_array_methods(lua_State *L); /* into the table at the top */
int bind_call_value(lua_State *L);     /* __call of Arrays and sparse matrices: raises */
void bind_open_value(lua_State *L);
void bind_open_index(lua_State *L);
void bind_open_func(lua_State *L);
void bind_open_type(lua_State *L);
void bind_open_var(lua_State *L);
void bind_open_graph(lua_State *L);
void bind_open_op(lua_State *L);
void bind_open_scan(lua_State *L);
void bind_open_op_from_graph(lua_State *L); /* after graph and op */
void bind_open_host_op(lua_State *L);
void bind_open_grad(lua_State *L);
void bind_open_compile(lua_State *L);
void bind_open_rewrite(lua_State *L);
void bind_open_random(lua_State *L);
void bind_open_io(lua_State *L);
void bind_open_sparse(lua_State *L); /* after func and host_op */
void bind_open_factor(lua_State *L); /* after sparse */
void bind_open_system(lua_State *L);
void bind_open_terminal(lua_State *L);
void bind_open_front(lua_State *L);
void bind_open_module(lua_State *L); /* after system */
/* Whether warnings go to a function of the script (lua/config.c). */
bool bind_warns_lua(const bind_state *st);
/* Sends the texts of Ops Print to Lua's print, unless the host has a function for them (lua/graph/printer.c). */
void bind_open_printer(lua_State *L);
void bind_open_names(lua_State *L);

/* ---- Errors (error.c) -------------------------------------------------------------------------------------------- */

/* Raises the context's pending error as an error object {kind, message, op, node, trace, cause}. Never returns. */
int bind_error(lua_State *L);
/* Whether the value at idx is an error object of kind "memory". */
bool bind_is_memory_error(lua_State *L, const bind_state *st, int idx);
static inline void bind_check(lua_State *L, damo_status s) {
  if (s != DAMO_OK) bind_error(L);
}
/* Whether the source of a Lua function is one of damo's own files. */
bool bind_is_own_source(const bind_state *st, const char *source);
/* set_hint(fn): fn(message) gives a line that says what to do, which tostring of an error adds; or nil. */
int bind_set_hint(lua_State *L);
/* Notes that the running call, which bind_again does not run, has n arguments that its error is to tell. */
void bind_note_args(lua_State *L, int n);
/* Sets the field operands of the error object at the top to dtypes and shapes of what the failing call was given. */
void bind_set_operands(lua_State *L, bind_state *st);
/* Pushes the error object of the pending error without raising it, for on_fail="return". */
void bind_push_error(lua_State *L);
/* Raises an error of that status; the format is lua_pushfstring's. Never returns. */
int bind_raise(lua_State *L, damo_status status, const char *fmt, ...);
/* The type of the value at idx in the user's words: "Array", "string", "nothing". Borrowed from the value's metatable,
 * or static. */
const char *bind_typename(lua_State *L, int idx);
/* The stack index of the last value up to `top` that is not nil, but at least `least`: trailing nils count as absent,
 * because a wrapper passes its own absent arguments on as nils. */
static inline int bind_without_nils(lua_State *L, int top, int least) {
  while (top > least && lua_isnil(L, top)) top--;
  return top;
}
/* The number of the call's arguments, trailing nils not counted. */
static inline int bind_arg_count(lua_State *L) { return bind_without_nils(L, lua_gettop(L), 0); }
/* "add: argument 2 (y) must be a Variable, Array, number or table, got string". Never returns. */
int bind_arg_error(lua_State *L, const char *func, int arg, const char *argname, const char *expected);
/* Pushes the number at idx as text in Lua's format. Every nan is "nan": C libraries print its sign differently. */
const char *bind_number_text(lua_State *L, int idx);
/* Raises an error for a key of the options table at idx that is not in names (NULL-terminated): "sum: unknown option
 * 'axsi', did you mean 'axis'?". */
void bind_check_options(lua_State *L, const char *func, int idx, const char *const *names);
/* The same for a table whose list part stands for an option. */
void bind_check_listed_options(lua_State *L, const char *func, int idx, const char *const *names);
/* The string at idx, borrowed. Raises a value error that begins with `what` if it contains a zero byte, at which C
 * would cut it. */
const char *bind_text(lua_State *L, int idx, const char *what);
/* Raises a state error if the sandbox forbids this operation. */
static inline void bind_gate(lua_State *L, gate_kind gate, const char *what) {
  bind_check(L, ctx_gate(bind_ctx(L), gate, what));
}
/* Pushes the names of a NULL-terminated list as one text, "axis, keepdims", for error messages. */
void bind_push_names(lua_State *L, const char *const *names);
/* The result of reading a field that does not exist. For a string key: raises "Array: there is no field or method
 * 'sumo', did you mean 'sum'?", where the suggestion comes from the names in the tables at stack indices first to last
 * (other values there are skipped). If no name is similar, the message ends with `otherwise`, a format of
 * lua_pushfstring that takes the key (NULL: nothing). For a key that is no string or begins with an underscore: pushes
 * nil and returns 1 (names.c). */
int bind_unknown_name(lua_State *L, int key, const char *owner, const char *what, const char *otherwise, int first,
                      int last);
/* The string keys of the tables at stack indices first to last (other values there are skipped): sorted, so that of
 * several equally similar names each run suggests the same; *n of them, then NULL. Pushes the userdata that holds the
 * list, and replaces the tables on the stack by copies, which keep the strings alive. */
const char **bind_push_sorted_names(lua_State *L, int first, int last, size_t *n);
void bind_sort_names(const char **names, size_t n);
/* The fields of Arrays, sparse matrices and Variables. Reading one of these names from a value of a kind that lacks it
 * gives nil instead of an error. */
void bind_add_value_field(lua_State *L, const char *name);
bool bind_is_value_field(lua_State *L, int key);
/* Converts the error value of a Lua callback (popped from the top of the stack) into the context's pending error, and
 * keeps the value for the error object's `cause`. Returns the status: the kind of a damo error object, else
 * DAMO_ECALLBACK. */
damo_status bind_caught(lua_State *L, const char *op, const char *callback, damo_apply *node);

/* ---- Objects (object.c) ------------------------------------------------------------------------------------------ */

/* The userdata of a C object. obj is NULL once freed or finalized. magic tells our userdata from foreign ones without
 * calling Lua. */
typedef struct bind_box {
  damo_obj *obj;
  const void *magic;
  bind_state *state;
  struct bind_box *before, *after; /* the state's list of boxes */
  int kind;                        /* obj_kind */
  struct bind_caller *caller;      /* of a Function: what its user value holds for calls; NULL */
} bind_box;

/* Pushes the userdata of obj, made together with those of the objects it refers to if there is none. Takes the
 * reference, also if it raises. */
void bind_push(lua_State *L, void *take_obj);
/* bind_push where the state is at hand. */
void bind_push_in(lua_State *L, bind_state *st, void *take_obj);
/* bind_push for a result of a call that has called bind_gc_pressure already: does not call it again. */
void bind_push_result(lua_State *L, bind_state *st, void *take_obj);
/* Makes the userdata of the roots of a graph that the core has just made, whose Variables and nodes, which have no Lua
 * parts, are numbered from first to before end; the other objects get theirs when a script asks for one. keep: the index of
 * a table with the userdata above which all older objects of that graph are (0: it has none). Pushes what keeps the roots
 * alive. */
void bind_push_fresh(lua_State *L, damo_var *const *roots, int64_t n, uint64_t first, uint64_t end, int keep);
/* Whether a node, a Variable or a value of the nodes may have a Lua part. */
bool bind_have_lua_parts(const ptrvec *nodes);
/* bind_push for a borrowed reference. */
void bind_push_borrowed(lua_State *L, const void *obj);
/* Pushes obj's userdata if it exists, else pushes nothing and returns false. */
bool bind_push_existing(lua_State *L, const void *obj);
/* The box of the userdata at idx if it is ours (of any kind, freed ones included), else NULL. */
bind_box *bind_box_at(lua_State *L, int idx);
/* Releases the objects of all remaining boxes: the last act of a closing state. */
void bind_drop_boxes(bind_state *st);
/* Releases the object of the userdata at idx at once: later uses raise state errors. May be repeated. */
void bind_free(lua_State *L, int idx);
/* The object of that kind at idx; NULL for any other value, foreign userdata included. Raises a state error if it was
 * freed. */
void *bind_to(lua_State *L, int idx, obj_kind kind);
/* The same, but any other value raises a type error that names function and argument. */
void *bind_check_obj(lua_State *L, int idx, obj_kind kind, const char *func, const char *argname);
/* Keeps an owned reference in the state while later calls may raise; if one does, the reference is released when the
 * state closes. Returns a ticket for bind_let_go, which gives the reference back to the caller without releasing it. */
int bind_hold(bind_state *st, void *obj);
void bind_let_go(bind_state *st, int ticket);
/* Pushes the table attached to the userdata at idx (for the tag and what else its kind keeps in Lua), made at the first
 * call. */
void bind_peer(lua_State *L, int idx);
/* Updates the user value of the node or FunctionGraph at idx after its inputs changed in place. */
void bind_reanchor(lua_State *L, int idx);
/* Gives the table or userdata at the top a metatable with that one event. The metatable is made once and kept in the
 * registry under the address `key`: a name would be shared with another copy of the library in the same state. */
void bind_set_event(lua_State *L, const char *event, lua_CFunction function, const void *key);
static inline void bind_set_gc(lua_State *L, lua_CFunction gc, const void *key) { bind_set_event(L, "__gc", gc, key); }
/* Pushes a userdata for an Array, without one and outside the identity table. The caller lends it an Array (box->obj,
 * with a reference) for the duration of a call and takes it back. Its use at other times raises a state error. */
bind_box *bind_push_lender(lua_State *L);
/* The release function of foreign memory that a Lua value owns. `owner` is the Generic object that stands for the value
 * (one reference); the userdata of every Array over that memory keeps the Generic's userdata alive. */
void bind_release_owner(void *owner);
/* The Generic object that owns an Array's foreign memory for Lua (damo.frompointer, damo.view), or NULL. */
damo_obj *bind_array_owner(const damo_array *a);
/* Pushes the metatable of a kind, "damo.Array", "damo.Variable", …, for the theme files to fill. */
void bind_metatable(lua_State *L, obj_kind kind);

static inline damo_array *bind_to_array(lua_State *L, int idx) { return (damo_array *)bind_to(L, idx, OBJ_ARRAY); }
/* A matrix over a read-only view of m's data, owned; NULL on a memory error (lua/value/sparse.c). */
damo_sparse *bind_sparse_read_only(const damo_sparse *m);
static inline damo_sparse *bind_to_sparse(lua_State *L, int idx) { return (damo_sparse *)bind_to(L, idx, OBJ_SPARSE); }
/* The value of a call of the node's Op: its only output, or its default one; a value error if it has neither
 * (lua/graph/graph.c). */
damo_var *bind_default_output(lua_State *L, const damo_apply *node);
/* Replaces a node at idx by its default output; leaves any other value. */
void bind_node_to_output(lua_State *L, int idx);
static inline damo_var *bind_to_var(lua_State *L, int idx) { return (damo_var *)bind_to(L, idx, OBJ_VAR); }
/* Whether the value at idx is a Variable, freed ones too. */
static inline bool bind_is_var(lua_State *L, int idx) {
  const bind_box *box = bind_box_at(L, idx);
  return box && box->kind == OBJ_VAR;
}

/* ---- Values (lua/value/value.c, lua/value/index.c) --------------------------------------------------------------- */

/* Pushes a value in the form scripts see: a 0-d Array as a Lua scalar if Lua has one (not for complex and out-of-range
 * values), else the object's userdata. Takes the reference. */
void bind_push_value(lua_State *L, damo_obj *take_value);
/* Pushes a value in the form Ops see: 0-d values stay Arrays. Takes the reference. */
void bind_push_raw(lua_State *L, damo_obj *take_value);
/* Pushes an empty text buffer, freed by Lua's collector. bind_finish_strbuf replaces the buffer at the top by its
 * string. */
strbuf *bind_push_strbuf(lua_State *L);
void bind_finish_strbuf(lua_State *L);
/* Pushes and returns a new C-contiguous Array with undefined values; raises a memory error if there is none left. */
damo_array *bind_new_array(lua_State *L, damo_dtype dtype, int ndim, const int64_t *shape);
/* Reads a shape, an integer or a list of them, at idx. Returns its rank (lua/value/array_make.c). */
int bind_shape(lua_State *L, int idx, int64_t *shape, const char *func);
/* The Generic object whose userdata keeps alive what the memory of a view belongs to (damo.view); NULL for any other
 * Array (lua/value/view.c). */
damo_obj *bind_view_keeper(const damo_array *a);
/* Pushes an owned object and returns it, borrowed; NULL raises the pending error. */
void *bind_push_made(lua_State *L, void *take_obj);
/* Converts an Array (kept as it is), number, boolean or nested table at idx into an Array; pushes its userdata and
 * returns it, borrowed. dtype < 0: floatX for numbers, bool for booleans, an Array's own. Ragged tables, strings and
 * values that do not fit raise errors that begin with `what`. */
damo_array *bind_value_array(lua_State *L, int idx, int dtype, const char *what);
/* Gives the table at the top a metatable whose __tostring prints its contents (record.c). */
void bind_set_record(lua_State *L);
/* The Array, sparse matrix or factor at idx, borrowed; NULL for any other value. */
damo_obj *bind_to_value(lua_State *L, int idx);
/* Pushes and returns the Variable of the operand at idx: a Variable itself; a weak constant for a number or boolean; a
 * constant for an Array, sparse matrix, factor or table. Sets *is_graph if it is a Variable. copy: the constant holds a
 * copy of the value, needed in a graph because the script may write the value later; eager calls share it. */
damo_var *bind_operand(lua_State *L, int idx, bool copy, bool *is_graph, const char *func, int arg,
                       const char *argname);
/* Makes a Generic object that stands for the Lua value at idx, which its userdata keeps alive. Pushes the userdata and
 * returns the object, borrowed. bind_push_value of the object gives the Lua value back. */
damo_obj *bind_push_generic(lua_State *L, int idx);
/* The nested table at idx as an Array, pushed: bind_value_array for tables alone. */
damo_array *bind_nested_array(lua_State *L, int idx, int dtype, const char *what);
/* Pushes the elements of a, which the caller keeps alive, as nested tables; the element itself if a is 0-d. */
void bind_push_table(lua_State *L, const damo_array *a);
/* Pushes a scalar as a Lua value; pushes nothing and returns false if Lua cannot represent it. */
bool bind_push_scalar(lua_State *L, scalar s);
/* Converts the number or boolean at idx to an element of that dtype; false if it does not fit (a fraction, a nan or too
 * large a value for an integer dtype). */
bool bind_to_scalar(lua_State *L, int idx, damo_dtype dtype, scalar *out);
bool bind_dtype(lua_State *L, int idx, damo_dtype *out);              /* a dtype's name; false for other values */
damo_dtype bind_check_dtype(lua_State *L, int idx, const char *func); /* the same; raises with a suggestion */

/* A parsed index table or number: the spec string of op subtensor (an item is "i", "s110", "n", "e" or "l"; see
 * op/index/subtensor.c), and the number of operands, which bind_parse_index pushes in order: integers, Arrays and
 * Variables. is_graph: a Variable is among them. */
typedef struct bind_index {
  char spec[DAMO_MAX_NDIM * 8];
  int n_operands;
  bool is_graph;
} bind_index;
void bind_parse_index(lua_State *L, int idx, bind_index *out, const char *func);
/* Pushes a[key], or does a[key] = value, for the Array at stack index 1; key and value are absolute indices. */
int bind_index_get(lua_State *L, const damo_array *a, int key);
int bind_index_set(lua_State *L, damo_array *a, int key, int value);

/* ---- Functions (lua/func/call.c) --------------------------------------------------------------------------------- */

/* Calls the op function with the Lua arguments at stack 1..top: operands, then an options table or the first option. If
 * a Variable is among them, builds graph and pushes Variables; else computes and pushes values. Returns the number of
 * values pushed. */
int bind_call_func(lua_State *L, const fn_signature *f);
/* The same for a function found by its name: for metamethods and index operators. */
int bind_call_name(lua_State *L, const char *name);

/* At the head and at the foot of a function: it leaves the stack n values higher than it found it (n < 0: lower). */
#ifdef DAMO_DEBUG
#define BIND_HEIGHT(L) const int height_ = lua_gettop(L)
#define BIND_LEAVES(L, n) damo_assert(lua_gettop(L) == height_ + (n))
#else
#define BIND_HEIGHT(L) ((void)0)
#define BIND_LEAVES(L, n) ((void)0)
#endif

#endif
