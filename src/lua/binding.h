/* binding: the Lua module damo.core. Checks arguments, calls the core, translates results; holds no numerics.
 *
 * In: a lua_State. Out: userdata, functions, error objects. Always holds:
 * - One C object has one userdata, while that lives (bind_push): found through a weak table keyed by the object's
 *   address.
 * - A userdata holds one reference on its C object, and reaches in Lua whatever the object reaches in C (its one user
 *   value holds, flat or through others, the userdata of the neighbours): so a tag or a Lua Op lives as long as it is
 *   reachable, and cycles through Lua are garbage to Lua's collector. Wrapping is iterative and stops at what is
 *   wrapped.
 * - The core holds no reference to a Lua value. What is Lua's (tag, Op table, generic value) hangs from the user value.
 * - Every C resource of a frame sits in a userdata on the stack before a call that may raise; errors rise only in
 *   error.c, after the core has returned.
 *
 * Files, one theme each: state.c module and context; config.c, info.c; error.c; object.c identity
 * and anchoring; lua/value/array.c Arrays, lua/value/array_make.c making them, lua/value/array_methods.c; lua/value/index.c, lua/value/index_key.c
 * and lua/value/index_view.c index tables; lua/value/value.c numbers and values to and from Lua, lua/value/nested.c nested tables;
 * lua/func/func.c the op functions and methods, lua/func/args.c and lua/func/call.c their calls; lua/graph/type.c Types; lua/graph/var.c
 * Variables; lua/graph/graph.c Apply, walks; lua/graph/fgraph.c FunctionGraphs, lua/graph/feature.c their features; lua/op/op.c Ops,
 * lua/op/class.c classes written in Lua, lua/op/node.c nodes of Ops, lua/op/member.c, lua/op/call.c callbacks of the
 * core, lua/op/run.c their runs,
 * lua/op/thunk.c thunks that scripts make, lua/graph/test_value.c; lua/op/from_graph.c; lua/op/host_op.c damo.ops; lua/graph/print.c
 * texts of graphs; names.c names that are not there, record.c tables that print what is in them; lua/graph/grad.c;
 * lua/function/compile.c Functions; lua/graph/rewrite.c rewrite rules; lua/value/random.c; io.c files, system.c what damo's Lua files
 * need of the system; collect.c Lua's collector. binding_int.h
 * has what the files about graphs share, lua/op/class.h what those of Ops share, lua/func/func.h calls
 * of functions, lua/value/index.h index tables.
 */
#ifndef DAMO_LUA_BINDING_H
#define DAMO_LUA_BINDING_H

#include "api/api.h"
#include "compat.h" /* includes lua.h, lauxlib.h; one private place for 5.1 … 5.4 and LuaJIT */

/* ---- State (state.c) ----------------------------------------------------------------------------------------- */

#define BIND_BUCKETS 256

/* How native memory drives Lua's collector (collect.c). All sizes are native bytes. */
typedef struct bind_collector {
  size_t floor;               /* config.gc_floor: by which the garbage is measured that may wait for a cycle */
  size_t due;                 /* in use when bind_gc_pressure has the next step to ask for */
  size_t low;                 /* the fewest in use since the last cycle: due goes by them */
  size_t patience;            /* 1, more after cycles that freed little, or not what survived the one before */
  size_t spacing;             /* of cycles, by what the last one found */
  size_t made;                /* userdata, since the last cycle */
  size_t begun;               /* in use when the cycle under way began */
  int64_t steps;              /* asked for in it */
  bool cycling;               /* a cycle is under way */
  bool marked;                /* its marker is not finalized yet */
  bool finalizing;            /* it is, in a step that was asked for */
  struct bind_box *newest;    /* of the userdata that were there at the end of the last cycle */
  bool aging;                 /* what survived the young collection before the last did not die in that */
  bool suspect, generational; /* young collections were seen: one, two in turn */
  bool trying;                /* inside the first of the two runs of bind_again */
  bool second;                /* inside the second, or it has raised an error */
} bind_collector;

/* What one lua_State has, in a userdata in its registry: the context and the references of the binding's tables. */
typedef struct bind_state {
  damo_ctx *ctx;                 /* one reference */
  bind_collector gc;             /* collect.c */
  int ref_objects[BIND_BUCKETS]; /* registry refs: weak tables address → userdata (object.c) */
  int ref_methods;               /* table: names → functions shared by Arrays and Variables */
  int ref_module;                /* the table that luaopen_damo_core returns */
  int ref_metatable[OBJ_N_KINDS];
  int ref_error;   /* metatable of error objects */
  int ref_pending; /* list of userdata whose neighbours are not wrapped yet (object.c), n_pending long */
  int n_pending;
  int n_orphans; /* references on their way into a userdata: kept here so that a raise loses none */
  void *orphans[32];
  damo_trace *trace;              /* what graph_notes.trace borrows, owned */
  const void *newaxis, *ellipsis; /* the two marks of index tables: their userdata's addresses */
  char source[256];   /* how the sources of damo's own Lua files begin: "@/usr/share/lua/5.4/damo/"; "" unknown */
  char mode[32];      /* config.mode */
  char cause[256];    /* how the message of the callback error begins whose cause is kept; "" none */
  lua_State *running; /* the coroutine that is inside the core now, where Lua callbacks run; NULL: none (bind_enter) */
  damo_status deferred;   /* the error of a callback whose place in the core cannot fail (bind_defer) */
  struct bind_box *boxes; /* all that are not finalized: Lua finalizes none that is made while a state closes */
  lua_State *hook;        /* a thread of its own for warning callbacks, which may come while any coroutine runs */
  bool closed;
} bind_state;

/* Raises when the state is closed already (a finalizer that runs last). */
bind_state *bind_get(lua_State *L);
static inline damo_ctx *bind_ctx(lua_State *L) { return bind_get(L)->ctx; }
/* The main thread of the state, where callbacks run when no coroutine is known to be inside the core; L itself where
 * Lua has no way to ask (5.1). */
lua_State *bind_main_thread(lua_State *L);
/* Sets graph_notes.trace to the user's lines of the running Lua code (config.traceback_limit of them; files of damo itself are
 * left out). The trace object is anchored until the next call. */
void bind_set_trace(lua_State *L);

/* ---- Lua's collector (collect.c) ----------------------------------------------------------------------------- */

void bind_collect_init(bind_state *st);
/* Asks Lua for steps of a collection in proportion to the native bytes made since the last ones; for nothing below
 * config.gc_floor, and while the collector is stopped. Called before a compiled Function runs and after other
 * allocating calls, never with unanchored C memory. */
void bind_gc_pressure(lua_State *L);
/* config.gc_floor, in bytes. */
void bind_set_gc_floor(lua_State *L, size_t bytes);
/* Whether it has anything to do: for hot paths. */
static inline bool bind_gc_is_due(const bind_state *st) {
  return ctx_stress(st->ctx, STRESS_COLLECT) || st->ctx->bytes >= st->gc.due || st->ctx->bytes < st->gc.low;
}
/* luaL_setfuncs, for functions that scripts call. Where the context's memory is limited and a call fails for memory,
 * Lua collects garbage and the function runs once more as a whole: so it changes nothing before it has all the memory
 * that it needs. */
void bind_setfuncs(lua_State *L, const luaL_Reg *functions);
/* lua_pushcfunction, likewise. */
void bind_pushfunction(lua_State *L, lua_CFunction function);
/* The same for a function with upvalues, which calls its body through bind_again: pushes it as lua_pushcclosure does. */
void bind_pushclosure(lua_State *L, lua_CFunction function, int n_upvalues);
int bind_again(lua_State *L, lua_CFunction body, int n_upvalues);

/* ---- Theme files ------------------------------------------------------------------------------------------------- */

/* Each theme file: adds its functions to the module table at the top of the stack, and makes its metatables. */
void bind_open_config(lua_State *L);
void bind_open_info(lua_State *L);
void bind_open_error(lua_State *L);
void bind_open_object(lua_State *L);
void bind_open_array(lua_State *L);
void bind_open_array_make(lua_State *L);
void bind_array_methods(lua_State *L); /* into the table at the top */
int bind_call_value(lua_State *L);     /* __call of Arrays and sparse matrices: raises */
void bind_open_value(lua_State *L);
void bind_open_index(lua_State *L);
void bind_open_func(lua_State *L);
void bind_open_type(lua_State *L);
void bind_open_var(lua_State *L);
void bind_open_graph(lua_State *L);
void bind_open_op(lua_State *L);
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
void bind_open_names(lua_State *L);

/* ---- Errors (error.c) ---------------------------------------------------------------------------------------- */

/* Raises the context's pending error as an error object {kind, message, op, node, trace, cause}. Never returns. */
int bind_error(lua_State *L);
/* Whether the value at idx is such an object of kind memory. */
bool bind_is_memory_error(lua_State *L, const bind_state *st, int idx);
static inline void bind_check(lua_State *L, damo_status s) {
  if (s != DAMO_OK) bind_error(L);
}
/* Pushes that error object and raises nothing: for on_fail="return". */
void bind_push_error(lua_State *L);
/* Raises an error of that status; the format is lua_pushfstring's. Never returns. */
int bind_raise(lua_State *L, damo_status status, const char *fmt, ...);
/* What a user calls the value at idx: "Array", "string", "nothing". Borrowed from the value's metatable, or static. */
const char *bind_typename(lua_State *L, int idx);
/* The stack place of the last value up to `top` that is not nil, but no less than `least`: nils at the end of a call
 * count as absent, for a caller hands on what it was not given. */
static inline int bind_without_nils(lua_State *L, int top, int least) {
  while (top > least && lua_isnil(L, top)) top--;
  return top;
}
/* How many arguments the call has. */
static inline int bind_arg_count(lua_State *L) { return bind_without_nils(L, lua_gettop(L), 0); }
/* "add: argument 2 (y) must be a Variable, Array, number or table, got string". Never returns. */
int bind_arg_error(lua_State *L, const char *func, int arg, const char *argname, const char *expected);
/* The number at idx as Lua writes it, pushed; "nan" of a nan, whose spelling differs between machines. */
const char *bind_number_text(lua_State *L, int idx);
/* Refuses keys of the options table at idx that are not in names (NULL-terminated): "sum: unknown option 'axsi', did
 * you mean 'axis'?". */
void bind_check_options(lua_State *L, const char *func, int idx, const char *const *names);
/* The same, where the table's list part stands for an option. */
void bind_check_listed_options(lua_State *L, const char *func, int idx, const char *const *names);
/* The string at idx, borrowed, for what C keeps as text; a value error that begins with `what` where it has a zero byte,
 * at which C would cut it. */
const char *bind_text(lua_State *L, int idx, const char *what);
/* Raises the state error of a sandbox that forbids it. */
static inline void bind_gate(lua_State *L, gate_kind gate, const char *what) {
  bind_check(L, ctx_gate(bind_ctx(L), gate, what));
}
/* Pushes "axis, keepdims" from a NULL-terminated list: for a user who is told what there is. */
void bind_push_names(lua_State *L, const char *const *names);
/* What reading the name at `key` gives of an owner who has no such name: an error "Array: there is no field or method
 * 'sumo', did you mean 'sum'?" over the names in the tables at stack places first to last (others than tables are passed
 * over); where none is near, `otherwise` ends the message, a format of lua_pushfstring for the name (NULL: nothing).
 * Pushes nil, and returns 1, for a key that is no string or begins with an underscore (names.c). */
int bind_unknown_name(lua_State *L, int key, const char *owner, const char *what, const char *otherwise, int first,
                      int last);
/* The names in the tables at stack places first to last (others than tables are passed over), sorted (the nearest of
 * several is then the same in each run), *n long, NULL at the end. Pushes what holds them; copies take the places of
 * the tables, and keep the strings. */
const char **bind_push_sorted_names(lua_State *L, int first, int last, size_t *n);
void bind_sort_names(const char **names, size_t n);
/* The fields of Arrays, sparse values and Variables: of one that lacks such a field it reads as nil, without an error. */
void bind_add_value_field(lua_State *L, const char *name);
bool bind_is_value_field(lua_State *L, int key);
/* Turns what a Lua callback threw (on top of the stack, popped) into the context's pending error and keeps the thrown
 * value for the error object's `cause`; returns its status (the thrown damo error's kind, else DAMO_ECALLBACK). */
damo_status bind_caught(lua_State *L, const char *op, const char *callback, damo_apply *node);

/* ---- Objects (object.c) -------------------------------------------------------------------------------------- */

/* obj NULL: freed, or finalized. magic tells our userdata from any other without a look into Lua. */
typedef struct bind_box {
  damo_obj *obj;
  const void *magic;
  bind_state *state;
  struct bind_box *before, *after; /* the state's list of boxes */
  int kind;                        /* obj_kind */
} bind_box;

/* Pushes the one userdata of obj, wrapping what it reaches; takes the reference (also when it raises). */
void bind_push(lua_State *L, void *take_obj);
/* The same for what a call has made that asked bind_gc_pressure before: it asks no more. */
void bind_push_result(lua_State *L, void *take_obj);
/* The same for a borrowed reference. */
void bind_push_borrowed(lua_State *L, const void *obj);
/* Pushes obj's userdata if it lives (else pushes nothing and returns false). */
bool bind_push_existing(lua_State *L, const void *obj);
/* The box of a userdata of ours at idx (of any kind, freed ones too), NULL for any other value. */
bind_box *bind_box_at(lua_State *L, int idx);
/* Drops the objects of all boxes left: the last act of a closing state. */
void bind_drop_boxes(bind_state *st);
/* Drops the object of the userdata at idx now: uses of it are state errors from here on. Harmless when repeated. */
void bind_free(lua_State *L, int idx);
/* The object of that kind at idx; NULL when the value there is another (foreign userdata included). Raises a state
 * error when it was freed. */
void *bind_to(lua_State *L, int idx, obj_kind kind);
/* The same, raising a type error that names function and argument. */
void *bind_check_obj(lua_State *L, int idx, obj_kind kind, const char *func, const char *argname);
/* Holds an owned reference while what follows may raise: released with the state then. Returns a ticket for
 * bind_let_go, which gives the reference back to the caller (and releases nothing). */
int bind_hold(bind_state *st, void *obj);
void bind_let_go(bind_state *st, int ticket);
/* Pushes the table that hangs from the userdata at idx (tag, and what the kind keeps), made when first asked. */
void bind_peer(lua_State *L, int idx);
/* Re-anchors what the node or FunctionGraph at idx reaches, after its inputs changed in place. */
void bind_reanchor(lua_State *L, int idx);
/* Gives the table or userdata at the top a metatable with that one event; made once, kept in the registry under the
 * key's address (not under a name, which another copy of the library in the same state would share). */
void bind_set_event(lua_State *L, const char *event, lua_CFunction function, const void *key);
static inline void bind_set_gc(lua_State *L, lua_CFunction gc, const void *key) { bind_set_event(L, "__gc", gc, key); }
/* Pushes an Array's userdata without an Array, that no table knows: whoever pushed it lends it one (box->obj, with a
 * reference) for the time of a call and takes it back. Using it in between is a state error. */
bind_box *bind_push_lender(lua_State *L);
/* The release function of foreign memory that belongs to Lua: its owner is a Generic object (one reference), whose
 * userdata every Array over that memory keeps alive. */
void bind_release_owner(void *owner);
/* The metatable of a kind, for the theme files to fill: pushes it. "damo.Array", "damo.Variable", … */
void bind_metatable(lua_State *L, obj_kind kind);

static inline damo_array *bind_to_array(lua_State *L, int idx) { return (damo_array *)bind_to(L, idx, OBJ_ARRAY); }
/* The matrix over a read-only view of its data; NULL: memory error (lua/value/sparse.c). */
damo_sparse *bind_sparse_read_only(const damo_sparse *m);
static inline damo_sparse *bind_to_sparse(lua_State *L, int idx) { return (damo_sparse *)bind_to(L, idx, OBJ_SPARSE); }
/* What a call of the node gives (lua/graph/graph.c): its only output, or the default one; a value error where there is none. */
damo_var *bind_default_output(lua_State *L, const damo_apply *node);
/* Puts that in the place of a node at idx; anything else stays. */
void bind_node_to_output(lua_State *L, int idx);
static inline damo_var *bind_to_var(lua_State *L, int idx) { return (damo_var *)bind_to(L, idx, OBJ_VAR); }
/* Whether the value at idx is a Variable, freed ones too. */
static inline bool bind_is_var(lua_State *L, int idx) {
  const bind_box *box = bind_box_at(L, idx);
  return box && box->kind == OBJ_VAR;
}

/* ---- Values (lua/value/value.c, lua/value/index.c) --------------------------------------------------------------------------- */

/* Pushes a value as scripts see it: 0-d Arrays as Lua scalars (complex and what Lua can't hold stay 0-d Arrays), else
 * the Array; takes the reference. */
void bind_push_value(lua_State *L, damo_obj *take_value);
/* Pushes it as Ops see it: 0-d values stay Arrays. */
void bind_push_raw(lua_State *L, damo_obj *take_value);
/* Pushes an empty text that Lua's collector frees; bind_finish_strbuf replaces it, at the top, by its string. */
strbuf *bind_push_strbuf(lua_State *L);
void bind_finish_strbuf(lua_State *L);
/* Pushes a new C-contiguous Array with undefined values, and returns it; a memory error where there is no memory. */
damo_array *bind_new_array(lua_State *L, damo_dtype dtype, int ndim, const int64_t *shape);
/* Pushes what is owned, or raises the pending error when it is NULL. */
void *bind_push_made(lua_State *L, void *take_obj);
/* The Array at idx made from an Array (itself), number, boolean or nested table, left as a userdata on top of the stack
 * (so anchored) and returned. dtype < 0: floatX for numbers, bool for booleans; an Array keeps its own. Errors name
 * `what`: ragged tables, strings, values that do not fit. */
damo_array *bind_value_array(lua_State *L, int idx, int dtype, const char *what);
/* Gives the table at the top a metatable whose __tostring shows what is in it (record.c). */
void bind_set_record(lua_State *L);
/* The Array or sparse matrix at idx, borrowed; NULL when the value there is another. */
damo_obj *bind_to_value(lua_State *L, int idx);
/* The Variable for the operand at idx, pushed and returned: a Variable itself; a number or boolean a weak constant; an
 * Array, sparse matrix or table a constant. *is_graph is set when it was a Variable. copy: Arrays are copied (graphs),
 * not for eager use. */
damo_var *bind_operand(lua_State *L, int idx, bool copy, bool *is_graph, const char *func, int arg,
                       const char *argname);
/* Makes a Generic object that stands for the Lua value at idx (which hangs from its userdata); pushes the userdata and
 * returns the object, borrowed. bind_push_value gives the Lua value back. */
damo_obj *bind_push_generic(lua_State *L, int idx);
/* The nested table at idx as an Array, pushed: bind_value_array without the other kinds of values. */
damo_array *bind_nested_array(lua_State *L, int idx, int dtype, const char *what);
/* Pushes nested tables of a's elements (anchored by the caller); the element itself when a is 0-d. */
void bind_push_table(lua_State *L, const damo_array *a);
/* Pushes a scalar as a Lua value; false (nothing pushed) when Lua has none for it. */
bool bind_push_scalar(lua_State *L, scalar s);
/* A number at idx as an element of that dtype into *out; false when it does not fit there (a fraction, nan or a large
 * value in an integer dtype). */
bool bind_to_scalar(lua_State *L, int idx, damo_dtype dtype, scalar *out);
bool bind_dtype(lua_State *L, int idx, damo_dtype *out); /* from a string; false when idx is no dtype name */
damo_dtype bind_check_dtype(lua_State *L, int idx, const char *func); /* value error with a suggestion */

/* One parsed index table or number: the spec string of op subtensor ("i", "s110", "n", "e", "l" an item) and, pushed on
 * the stack in order, its operands as Variables (when graph) or plain values; see op/index/subtensor.c. Returns the count
 * pushed. */
typedef struct bind_index {
  char spec[DAMO_MAX_NDIM * 8];
  int n_operands;
  bool is_graph;
} bind_index;
void bind_parse_index(lua_State *L, int idx, bind_index *out, const char *func);
/* a[key], pushed, and a[key] = value, for the Array at stack index 1 and absolute indices of key and value. */
int bind_index_get(lua_State *L, const damo_array *a, int key);
int bind_index_set(lua_State *L, damo_array *a, int key, int value);

/* ---- Functions (lua/func/call.c) --------------------------------------------------------------------------------- */

/* Calls the op function with the Lua arguments at stack 1..top (operands, then an options table or first option). With
 * a Variable among them pushes Variables, else computes and pushes values. Returns the count pushed. */
int bind_call_func(lua_State *L, const fn_signature *f);
/* The same by name over arguments at 1..top: for metamethods and index operators. */
int bind_call_name(lua_State *L, const char *name);

#endif
