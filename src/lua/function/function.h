/* function: declarations shared by the files of Functions: function.c has the class, call.c the calls. */
#ifndef DAMO_LUA_FUNCTION_FUNCTION_H
#define DAMO_LUA_FUNCTION_FUNCTION_H

#include "lua/binding_int.h"

/* The binding's data of a Function, in its peer table: the 0-d Arrays into which calls write numbers, and the form of
 * the results (bind_push_function). */
typedef struct bind_caller {
  bind_state *st;
  bool named, single;
  bool nested;          /* the peer table has take_args or give_results: bind_function_nest */
  bool scalars;         /* calls with numbers alone give numbers alone: function_run_scalars */
  fn_direct direct;     /* how calls with numbers and short Arrays skip the frame */
  int64_t n_arrays;     /* number of outputs that are no plain scalars; a vault is needed if there are several */
  int64_t n;            /* length of scalar: the number of inputs */
  damo_array *scalar[]; /* one an input; NULL until the first number is passed */
} bind_caller;

/* compile.c: */

/* The arguments of a compilation. Whatever must live until its end stays on the stack; `keep` is the stack index of a
 * table that keeps entries of lists alive. */
typedef struct compile_args {
  const char *func; /* for errors */
  in_spec *in;
  out_spec *out;
  int64_t n_in, n_out;
  bool named, single;
  bool links; /* by the C compiler; dir: where libraries are kept, or NULL */
  const char *dir;
  compile_options o;
  int keep;
} compile_args;
/* Read the value at idx. Errors begin with j->func. */
void bind_compile_inputs(lua_State *L, compile_args *j, int idx);
void bind_compile_outputs(lua_State *L, compile_args *j, int idx, bool borrow);
/* Reads the table of pairs at the top (which stays), {{v, e}, …} or {[v] = e}, into two parallel lists; returns their
 * length. */
int64_t bind_compile_pairs(lua_State *L, const compile_args *j, const char *option, damo_var *const **of,
                           damo_var *const **to);
/* Makes the table at the top a damo.In. */
void bind_set_in(lua_State *L);

/* function.c */

/* The Function that is argument 1 of a method. */
damo_function *bind_function_self(lua_State *L, const char *func);
/* The bind_caller of the Function at idx; raises for a Function that another copy of the library made. */
bind_caller *bind_caller_of(lua_State *L, int idx);

/* nest_function(f, take, give, form): calls of f take the arguments that take(…) makes of theirs, and give what give(…)
 * makes of its results; either may be nil. */
int bind_function_nest(lua_State *L);
/* set_nester(fn): fn(f, form) does that for a Function made by a token, whose form is that text. */
int bind_set_nester(lua_State *L);

/* from_token(name): a Function over the program of that name. */
int bind_from_token(lua_State *L);

/* call.c: functions called by Lua */

/* Whether calls of f with numbers may go by function_run_scalars. */
bool bind_calls_scalars(const damo_function *f);
/* Whether the binding takes arguments and gives results of function_run_again. */
bool bind_calls_again(const damo_function *f);
int bind_function_call(lua_State *L);       /* f(...) */
int bind_function_call_named(lua_State *L); /* f:call{name = value} */
int bind_function_into(lua_State *L);       /* f:into(out1, out2, …) */
int bind_function_probe(lua_State *L);      /* f:probe(var, …) */

/* Whether it is a 0-d Array of float64. */
static inline bool bind_is_double(const damo_obj *v) {
  const damo_array *a = (const damo_array *)v;
  return v != NULL && v->kind == OBJ_ARRAY && a->ndim == 0 && array_dtype(a) == DAMO_FLOAT64;
}

/* front.c */

/* Replaces the object of f:into at the top, for the Function at 1 and the first target at 2, by one that calls f through
 * LuaJIT's ffi where that can be; leaves it elsewhere. */
void bind_front_wrap(lua_State *L, const damo_function *f, bind_caller *c, void *const *vault);

/* The 0-d Array, borrowed, that a number for input i is written into; another one if it is still referenced elsewhere.
 * NULL if memory runs out. */
damo_array *bind_caller_number(bind_caller *c, const damo_function *f, int64_t i);
/* Reads the n values from stack index `first` on, at most as many as f has inputs, into args (borrowed from the stack
 * or from c). */
void bind_caller_args(lua_State *L, bind_caller *c, damo_function *f, int first, int64_t n, damo_obj **args);

/* run.c */

int bind_function_start(lua_State *L); /* f:start(…) */
/* Begins a run of f with the n arguments from stack index 2 on, and pushes it. What is at 1 lives as long as the run. */
int bind_start(lua_State *L, damo_function *f, const bind_caller *c, damo_obj *const *into, int n);
void bind_add_run_class(lua_State *L);

/* graph_file.c */
void bind_add_graph_files(lua_State *L); /* save_graph and load_graph into the table at the top */

/* profile.c */

int bind_function_get_profile(lua_State *L); /* f.profile */
int bind_function_export_c(lua_State *L);    /* f:export_c{name=, …} */

#endif
