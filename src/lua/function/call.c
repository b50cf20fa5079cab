/* call: calls of compiled Functions, and of the functions that f:into returns.
 *
 * A call first converts the arguments that need it, which may run Lua code (finalizers, __tostring); then it writes the
 * numbers into the Function's own 0-d Arrays; then it stays in C until the Function has finished. So a call with
 * numbers in and out allocates nothing.
 */
#include <stdio.h>

#include "function.h"
#include "sparse/sparse.h"

#define CALLER_SMALL 16 /* up to this many inputs or outputs, a call needs no memory outside its frame */

static const char *caller_input_name(const damo_function *f) {
  return f->program->name ? f->program->name : "function";
}

/* Raises the core's state error, or the error for a wrong number of arguments. */
static int caller_refuse_input(lua_State *L, damo_function *f, int64_t n) {
  if (f->running || f->freed) { bind_check(L, function_run(f, NULL, 0, NULL)); }
  return bind_raise(L, DAMO_ETYPE, "%s: expected %d argument%s, got %d", caller_input_name(f),
                    (int)f->program->n_inputs, f->program->n_inputs == 1 ? "" : "s", (int)n);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static bool caller_is_scalar_input(const damo_function *f, int64_t i) {
  const damo_type *t = f->program->inputs[i].var->type;
  return type_is_tensor(t) && t->ndim == 0;
}

/* Converts a value that is neither a number for a 0-d input nor an Array: a valid value is returned as it is, another
 * is converted and kept on the stack. */
static damo_obj *caller_convert_input(lua_State *L, const damo_function *f, int64_t i, int idx) {
  char what[200], name[120];
  const fn_input *in = &f->program->inputs[i];
  damo_obj *given = in->var->type->kind != TYPE_GENERIC ? bind_to_value(L, idx) : NULL;
  if (given && type_is_valid(in->var->type, given)) return given;
  snprintf(what, sizeof what, "%s: input %d (%s)", caller_input_name(f), (int)i + 1,
           in->name ? in->name : var_format(name, sizeof name, in->var));
  luaL_checkstack(L, 8, "damo");
  filter_options o = {.strict = in->strict, .allow_downcast = f->program->allow_downcast};
  return bind_filter(L, idx, in->var->type, o, what);
}

damo_array *bind_caller_number(bind_caller *c, const damo_function *f, int64_t i) {
  damo_array *a = c->scalar[i];
  if (a && array_is_exclusive(a)) return a;
  a = array_empty(c->st->ctx, f->program->inputs[i].var->type->dtype, 0, NULL);
  if (!a) return NULL;
  damo_release(c->scalar[i]);
  return c->scalar[i] = a;
}

/* Writes the number at idx into the input's own 0-d Array; NULL if the number does not fit or memory runs out. */
static damo_array *caller_write_number(lua_State *L, bind_caller *c, const damo_function *f, int64_t i, int idx) {
  damo_dtype dtype = f->program->inputs[i].var->type->dtype;
  damo_array *a = bind_caller_number(c, f, i);
  if (!a) return NULL;
  if (dtype == DAMO_FLOAT64) {
    *(double *)a->data = (double)lua_tonumber(L, idx);
    return a;
  }
  scalar s;
  if (!bind_to_scalar(L, idx, dtype, &s)) {
    if (!f->program->allow_downcast) return NULL;
    s = scalar_cast((scalar){.dtype = DAMO_FLOAT64, .v.f = (double)lua_tonumber(L, idx)}, dtype);
  }
  array_set(a, NULL, s);
  return a;
}

/* Reads the values at stack indices first … first + n - 1 into args (borrowed). Numbers are written in a second loop:
 * the conversions of the first may run Lua code that calls this Function and writes the same Arrays. */
void bind_caller_args(lua_State *L, bind_caller *c, damo_function *f, int first, int64_t n, damo_obj **args) {
  damo_obj *const number =
      &f->obj; /* stands for a number, which is to be written: no argument is the Function itself */
  bool numbers = false;
  for (int64_t i = 0; i < n; i++) {
    const int idx = first + (int)i;
    const bind_box *box = bind_box_at(L, idx);
    if (box && box->kind == OBJ_ARRAY && box->obj && f->program->inputs[i].var->type->kind != TYPE_GENERIC) {
      args[i] = box->obj;
      continue;
    }
    const int type = lua_type(L, idx);
    args[i] = NULL;
    if (type == LUA_TNIL) continue;
    if (type == LUA_TNUMBER && caller_is_scalar_input(f, i) && !f->program->inputs[i].strict) {
      args[i] = number;
      numbers = true;
      continue;
    }
    args[i] = caller_convert_input(L, f, i, idx);
    if (f->freed) caller_refuse_input(L, f, n); /* freed by a finalizer meanwhile */
  }
  for (int64_t i = 0; i < n && numbers; i++) {
    int idx = first + (int)i;
    if (args[i] != number) continue;
    damo_array *a = caller_write_number(L, c, f, i, idx);
    args[i] = a ? &a->obj : caller_convert_input(L, f, i, idx); /* raises the error that says why */
  }
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* The results of a call: scalars by value, targets of f:into borrowed, other values owned. */
typedef struct caller_outcome {
  int64_t n;
  damo_obj *const *into; /* NULL: there are no targets */
  bool borrows;          /* targets among the values are not retained */
  int arrays;            /* stack index of the list of the targets' userdata; 0: none */
  scalar small_scalar[CALLER_SMALL], *scalars;
  damo_obj *small_value[CALLER_SMALL], **values; /* NULL: a scalar */
} caller_outcome;

/* Whether each number of that dtype is one of Lua's. */
static bool caller_is_plain_dtype(damo_dtype dtype) {
  if (dtype_is_complex(dtype) || dtype == DAMO_UINT64) return false;
  return dtype != DAMO_INT64 || COMPAT_MAX_INTEGER == INT64_MAX;
}

static bool caller_is_plain_scalar(const damo_obj *v) {
  const damo_array *a = (const damo_array *)v;
  return v->kind == OBJ_ARRAY && a->ndim == 0 && caller_is_plain_dtype(array_dtype(a));
}

static void caller_take_outcome(damo_function *f, caller_outcome *r) {
  for (int64_t i = 0; i < r->n; i++) {
    damo_obj *target = r->into ? r->into[i] : NULL, *v = target ? target : function_peek(f, i);
    if (caller_is_plain_scalar(v)) {
      r->scalars[i] = array_item((damo_array *)v);
      r->values[i] = NULL;
      if (f->staged[i]) damo_release(function_take(f, i));
    } else {
      r->values[i] = !target ? function_take(f, i) : r->borrows ? target : damo_retain(target);
    }
  }
}

/* Whether an error while results are pushed could leak some: all but the last owned one, or any where a table takes them. */
static bool caller_needs_vault(const bind_caller *c, const caller_outcome *r) {
  const int64_t most = c->named ? 0 : 1;
  int64_t owned = c->n_arrays;
  if (owned <= most || !r->into || !r->borrows) return owned > most;
  owned = 0;
  for (int64_t i = 0; i < r->n; i++) owned += !r->into[i];
  return owned > most;
}

/* What a probe reads in place of results: the Function that it was made of, and where values are. */
typedef struct caller_probe {
  const damo_function *of;
  const fn_place *places;
  int64_t n;
} caller_probe;

/* Calls the probe's own Function f; moves the values to r. */
static damo_status caller_read_places(damo_function *f, const caller_probe *probe, damo_obj *const *args, int64_t n,
                                      caller_outcome *r) {
  DAMO_TRY(function_probe(f, probe->of, probe->places, probe->n, args, n, r->values));
  for (int64_t i = 0; i < r->n; i++) {
    damo_obj *v = r->values[i];
    if (!caller_is_plain_scalar(v)) continue;
    r->scalars[i] = array_item((damo_array *)v);
    r->values[i] = NULL;
    damo_release(v);
  }
  return DAMO_OK;
}

/* The targets of f:into. Arrays are retained by a vault that lives as long as the function. Sparse matrices are
 * retained by their userdata alone, since a matrix is written in place only if it has one reference: `matrices` is the
 * stack index of a table of their userdata (0: none), and a call retains them only while it is in C. */
typedef struct caller_targets {
  damo_obj **into;
  int matrices;
  bool listed;               /* stack index 1 has the list of the Arrays' userdata (INTO_ARRAYS) */
  const caller_probe *probe; /* instead of both: the call is a probe's; NULL otherwise */
} caller_targets;

/* Places in the user value of what f:into gives (caller_into). */
enum { INTO_FUNCTION = 1, INTO_VAULT, INTO_MATRICES, INTO_ARRAYS };

static void caller_find_matrices(lua_State *L, const damo_function *f, const caller_targets *to) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    lua_rawgeti(L, to->matrices, (int)i + 1);
    if (!lua_isnil(L, -1)) to->into[i] = bind_check_obj(L, -1, OBJ_SPARSE, "into", "out");
    lua_pop(L, 1);
  }
}

static void caller_hold_matrices(const damo_function *f, const caller_targets *to, bool hold) {
  for (int64_t i = 0; to->matrices && i < f->program->n_outputs; i++) {
    damo_obj *m = to->into[i];
    if (!m || m->kind != OBJ_SPARSE) continue;
    if (hold)
      damo_retain(m);
    else
      damo_release(m);
  }
}

/* Runs the Function and moves its results to r, without Lua calls except those of Ops written in Lua. */
static damo_status caller_run(lua_State *L, bind_caller *c, damo_function *f, damo_obj *const *args, int64_t n,
                              const caller_targets *to, caller_outcome *r) {
  lua_State *before = c->st->running;
  c->st->running = L;
  damo_status s = to->probe ? caller_read_places(f, to->probe, args, n, r) : function_run(f, args, n, to->into);
  c->st->running = before;
  if (s != DAMO_OK || to->probe) return s;
  caller_take_outcome(f, r);
  function_finish(f);
  return DAMO_OK;
}

static damo_status caller_run_held(lua_State *L, bind_caller *c, damo_function *f, damo_obj *const *args, int64_t n,
                                   const caller_targets *to, caller_outcome *r) {
  if (to->matrices) caller_find_matrices(L, f, to);
  caller_hold_matrices(f, to, true);
  damo_status s = caller_run(L, c, f, args, n, to, r);
  caller_hold_matrices(f, to, false);
  return s;
}

static void caller_push_result(lua_State *L, bind_state *st, caller_outcome *r, int64_t i) {
  damo_obj *v = r->values[i];
  r->values[i] = NULL;
  if (!v) {
    bind_push_scalar(L, r->scalars[i]); /* cannot fail: caller_is_plain_scalar */
    return;
  }
  if (r->arrays && r->into[i] == v && v->kind == OBJ_ARRAY) {
    lua_rawgeti(L, r->arrays, (int)i + 1);
    return;
  }
  if (r->into && r->into[i] && r->borrows) damo_retain(v);
  if (v->kind == OBJ_SPARSE || (v->kind == OBJ_ARRAY && ((const damo_array *)v)->ndim > 0)) {
    bind_push_result(L, st, v);
  } else {
    bind_push_value(L, v);
  }
}

static int caller_push_outcome(lua_State *L, const bind_caller *c, const damo_function *f, caller_outcome *r) {
  if (!c->named) {
    for (int64_t i = 0; i < r->n; i++) caller_push_result(L, c->st, r, i);
    return (int)r->n;
  }
  lua_createtable(L, 0, (int)r->n);
  for (int64_t i = 0; i < r->n; i++) {
    lua_pushstring(L, f->program->outputs[i].name);
    caller_push_result(L, c->st, r, i);
    lua_rawset(L, -3);
  }
  bind_set_record(L);
  return 1;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Calls f with the n values from stack index `first` on. */
static int caller_call_with(lua_State *L, damo_function *f, bind_caller *c, int first, int64_t n,
                            const caller_targets *to) {
  damo_obj *small_args[CALLER_SMALL], **args = small_args;
  caller_outcome r; /* most of it stays undefined: filling it takes as long as the rest of a small call */
  r.n = to->probe ? to->probe->n : f->program->n_outputs;
  r.into = to->into;
  r.borrows = to->matrices == 0; /* a matrix may be freed once the call's own reference is gone */
  r.arrays = 0;
  /* Collecting before the call, not after it, finds the results of the previous call already dropped, so that this
   * call's results can reuse memory that is still in the cache. */
  if (bind_gc_is_due(c->st)) bind_gc_pressure(L);
  if (n > f->program->n_inputs)
    n = bind_without_nils(L, first + (int)n - 1, first + (int)f->program->n_inputs - 1) - first + 1;
  if (f->running || f->freed || n > f->program->n_inputs) return caller_refuse_input(L, f, n);
  if (n > CALLER_SMALL) args = bind_alloc(L, (size_t)n, sizeof *args);
  r.scalars = r.small_scalar;
  r.values = r.small_value;
  if (r.n > CALLER_SMALL) r.scalars = bind_alloc(L, (size_t)r.n, sizeof *r.scalars);
  if (r.n > CALLER_SMALL || to->probe || caller_needs_vault(c, &r)) r.values = (damo_obj **)bind_vault(L, r.n);
  /* Beside its arguments a C function has space for LUA_MINSTACK values. */
  if (r.n > LUA_MINSTACK - 16 || n > LUA_MINSTACK - 16)
    luaL_checkstack(L, (int)(r.n > n ? r.n : n) + 16, "damo: too many values");
  bind_caller_args(L, c, f, first, n, args);
  damo_status s = caller_run_held(L, c, f, args, n, to, &r);
  if (s != DAMO_OK) return bind_error(L);
  if (to->listed && r.borrows) {
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, INTO_ARRAYS);
    r.arrays = lua_gettop(L);
  }
  return caller_push_outcome(L, c, f, &r);
}

#define SCALARS_MOST 6 /* results and arguments, so that they fit into the space of every C function */

bool bind_calls_scalars(const damo_function *f) {
  const fn_program *p = f->program;
  if (p->n_inputs > SCALARS_MOST || p->n_outputs > SCALARS_MOST || !function_takes_scalars(f)) return false;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    if (p->inputs[i].strict) return false;
  }
  for (int64_t i = 0; i < p->n_outputs; i++) {
    if (p->outputs[i].type->dtype == DAMO_INT64 && COMPAT_MAX_INTEGER != INT64_MAX) return false;
  }
  return true;
}

/* The call of a Function of doubles with values at 2, 3 …, by machine code; pushes the results, which are written into
 * the targets too. into: a target for each output, or NULL; NULL: none. Returns the number of results; -1: the call was
 * not made. */
static int caller_run_doubles(lua_State *L, damo_function *f, const bind_caller *c, damo_obj *const *into) {
  const int n = (int)c->n, n_out = (int)f->program->n_outputs;
  double value[SCALARS_MOST], result[SCALARS_MOST];
  char *at[2 * SCALARS_MOST];
  for (int i = 0; i < n; i++) {
    if (lua_type(L, 2 + i) == LUA_TNUMBER) {
      value[i] = (double)lua_tonumber(L, 2 + i);
      at[i] = (char *)&value[i];
      continue;
    }
    const bind_box *box = bind_box_at(L, 2 + i);
    if (!box || !bind_is_double(box->obj)) return -1;
    at[i] = ((const damo_array *)box->obj)->data;
  }
  for (int i = 0; i < n_out; i++) {
    const damo_array *out = into ? (const damo_array *)into[i] : NULL;
    if (out && (!bind_is_double(&out->obj) || !array_takes_writes(out))) return -1;
    at[n + i] = (char *)&result[i];
  }
  if (!function_run_at(f, &c->direct, at)) return -1;
  for (int i = 0; i < n_out; i++) {
    if (into && into[i]) *(double *)((damo_array *)into[i])->data = result[i];
    lua_pushnumber(L, result[i]);
  }
  return n_out;
}

bool bind_calls_again(const damo_function *f) {
  const fn_program *p = f->program;
  if (p->n_inputs > SCALARS_MOST || p->n_outputs > SCALARS_MOST) return false;
  for (int64_t i = 0; i < p->n_outputs; i++) {
    const damo_type *t = p->outputs[i].type;
    if (t->ndim == 0 && !caller_is_plain_dtype(t->dtype)) return false;
  }
  return true;
}

/* The arguments at 2, 3 … of such a call, numbers in the Function's own 0-d Arrays; false where some are of other kinds. */
static bool caller_find_arrays(lua_State *L, const damo_function *f, bind_caller *c, damo_array **args) {
  for (int i = 0; i < c->n; i++) {
    const fn_input *in = &f->program->inputs[i];
    if (lua_type(L, 2 + i) == LUA_TNUMBER) {
      if (in->var->type->ndim > 0 || in->strict || in->var->type->dtype != DAMO_FLOAT64) return false;
      args[i] = caller_write_number(L, c, f, i, 2 + i);
      if (!args[i]) return false;
      continue;
    }
    const bind_box *box = bind_box_at(L, 2 + i);
    if (!box || box->kind != OBJ_ARRAY || !box->obj) return false;
    args[i] = (damo_array *)box->obj;
  }
  return true;
}

/* The call of a Function on short Arrays of the shapes of the last call, with values at 2, 3 …; pushes the results. into: as
 * for caller_run_doubles. At most one result has no place on the stack before it is pushed. */
static int caller_run_again(lua_State *L, damo_function *f, bind_caller *c, damo_obj *const *into) {
  const int n_out = (int)f->program->n_outputs;
  damo_array *args[SCALARS_MOST], *results[SCALARS_MOST];
  scalar numbers[SCALARS_MOST];
  int fresh = 0;
  for (int i = 0; i < n_out; i++) {
    results[i] = into ? (damo_array *)into[i] : NULL;
    fresh += !results[i] && f->program->outputs[i].type->ndim > 0;
  }
  if (fresh > 1 || !caller_find_arrays(L, f, c, args) || !function_run_again(f, &c->direct, args, results)) return -1;
  /* What pushes a result may collect, and a finalizer may call f or free it. */
  for (int i = 0; i < n_out; i++) {
    if (results[i]->ndim > 0) continue;
    numbers[i] = array_item(results[i]);
    results[i] = NULL;
  }
  if (into) {
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, INTO_ARRAYS);
  }
  const int arrays = lua_gettop(L);
  for (int i = 0; i < n_out; i++) {
    if (!results[i])
      bind_push_scalar(L, numbers[i]);
    else if (into && into[i])
      lua_rawgeti(L, arrays, i + 1);
    else
      bind_push_result(L, c->st, results[i]);
  }
  return n_out;
}

/* A call of a Function of numbers that gives numbers, all of which are given; -1: the call is of another kind, or its
 * arguments do not fit. */
static int caller_call_scalars(lua_State *L, damo_function *f, bind_caller *c) {
  const int n = (int)f->program->n_inputs, n_out = (int)f->program->n_outputs;
  scalar results[SCALARS_MOST];
  if (c->direct.doubles && caller_run_doubles(L, f, c, NULL) >= 0) return n_out;
  if (f->profile) return -1;
  for (int i = 0; i < n; i++) {
    if (lua_type(L, 2 + i) != LUA_TNUMBER || !caller_write_number(L, c, f, i, 2 + i)) return -1;
  }
  lua_State *before = c->st->running;
  c->st->running = L;
  const damo_status s = function_run_scalars(f, c->scalar, results);
  c->st->running = before;
  if (s != DAMO_OK) return bind_error(L);
  for (int i = 0; i < n_out; i++) bind_push_scalar(L, results[i]);
  return n_out;
}

/* Puts the n results at the top into the form of f's outputs; returns how many there are then. */
static int caller_give(lua_State *L, int n) {
  const int before = lua_gettop(L) - n;
  bind_peer(L, 1);
  lua_getfield(L, -1, "give_results");
  lua_remove(L, -2);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    return n;
  }
  lua_insert(L, before + 1);
  lua_call(L, n, LUA_MULTRET);
  return lua_gettop(L) - before;
}

/* f(…) where arguments or results are nested tables. */
static int caller_call_nested(lua_State *L, damo_function *f, bind_caller *c) {
  const int n = lua_gettop(L) - 1;
  luaL_checkstack(L, n + 8, "damo");
  bind_peer(L, 1);
  lua_getfield(L, -1, "take_args");
  lua_remove(L, -2);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
  } else {
    lua_insert(L, 2);
    lua_call(L, n, LUA_MULTRET);
  }
  const int n_out = caller_call_with(L, f, c, 2, lua_gettop(L) - 1, &(caller_targets){0});
  luaL_checkstack(L, 8, "damo");
  return caller_give(L, n_out);
}

static int caller_call(lua_State *L, damo_function *f, bind_caller *c) {
  if (c->nested) return caller_call_nested(L, f, c);
  const int n = lua_gettop(L) - 1;
  if (c->scalars && n == c->n && !f->running && !f->freed && !bind_gc_is_due(c->st)) {
    const int n_out = caller_call_scalars(L, f, c);
    if (n_out >= 0) return n_out;
  }
  if (c->direct.again && n == c->n && !f->freed && !bind_gc_is_due(c->st)) {
    const int n_out = caller_run_again(L, f, c, NULL);
    if (n_out >= 0) return n_out;
  }
  return caller_call_with(L, f, c, 2, n, &(caller_targets){0});
}

static int caller_call_plain(lua_State *L) {
  damo_function *f = bind_function_self(L, "Function");
  return caller_call(L, f, bind_caller_of(L, 1));
}

/* f(...) */
int bind_function_call(lua_State *L) {
  const bind_box *box = bind_box_at(L, 1);
  if (box && box->obj && box->caller && !box->state->closed && !box->state->ctx->limited)
    return caller_call(L, (damo_function *)box->obj, box->caller); /* as bind_again, without asking for its upvalue */
  return bind_again(L, caller_call_plain, 0);
}

static int64_t caller_input_named(lua_State *L, const damo_function *f, const char *name) {
  for (int64_t i = 0; i < f->program->n_inputs; i++) {
    if (f->program->inputs[i].name && strcmp(f->program->inputs[i].name, name) == 0) return i;
  }
  const char **names = bind_alloc(L, (size_t)f->program->n_inputs + 1, sizeof *names);
  for (int64_t i = 0, k = 0; i < f->program->n_inputs; i++) {
    if (f->program->inputs[i].name) names[k++] = f->program->inputs[i].name;
  }
  const char *near = suggest(name, names);
  if (near)
    bind_raise(L, DAMO_EVALUE, "%s: there is no input '%s', did you mean '%s'?", caller_input_name(f), name, near);
  bind_raise(L, DAMO_EVALUE, "%s: there is no input '%s'", caller_input_name(f), name);
  return -1;
}

/* f:call{name = value}; a key may also be an input's position. */
int bind_function_call_named(lua_State *L) {
  damo_function *f = bind_function_self(L, "call");
  bind_caller *c = bind_caller_of(L, 1);
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) lua_newtable(L), lua_replace(L, 2);
  if (!lua_istable(L, 2)) bind_arg_error(L, "call", 2, "values", "a table {name = value}");
  if (f->freed) return caller_refuse_input(L, f, 0);
  luaL_checkstack(L, (int)f->program->n_inputs + 16, "call");
  lua_settop(L, 2 + (int)f->program->n_inputs);
  for (lua_pushnil(L); lua_next(L, 2);) {
    int64_t i = -1;
    if (lua_type(L, -2) == LUA_TSTRING) {
      i = caller_input_named(L, f, bind_text(L, -2, "call"));
    } else if (lua_isinteger(L, -2)) {
      i = (int64_t)lua_tointeger(L, -2) - 1;
    }
    if (i < 0 || i >= f->program->n_inputs)
      bind_raise(L, DAMO_EVALUE, "%s: keys must be names or positions of inputs", caller_input_name(f));
    lua_replace(L, 3 + (int)i);
  }
  const int n_out = caller_call_with(L, f, c, 3, f->program->n_inputs, &(caller_targets){0});
  return c->nested ? caller_give(L, n_out) : n_out;
}

/* ---- into -------------------------------------------------------------------------------------------------------- */

/* What f:into gives, a userdata: its user value is a list of f's userdata, the vault of Arrays, the table of matrices
 * (false: none), the list of the Arrays' userdata by output, which keep memory of a script's alive. */
typedef struct caller_into {
  const void *magic;
  const bind_box *box; /* of f */
  damo_obj **at;       /* in the vault */
  bool matrices;
} caller_into;

static const char caller_into_magic = 'i';

static caller_into *caller_into_at(lua_State *L, int idx) {
  caller_into *t = lua_touserdata(L, idx);
  return t && lua_rawlen(L, idx) == sizeof *t && t->magic == &caller_into_magic ? t : NULL;
}

/* The targets at stack index 1, whose Function lives; its matrices are found, in a list on the stack. */
static caller_targets caller_into_self(lua_State *L, const caller_into **self) {
  const caller_into *t = caller_into_at(L, 1);
  if (!t) bind_arg_error(L, "into", 1, "self", "what f:into(…) gives");
  if (!t->box->obj) bind_raise(L, DAMO_ESTATE, "this Function has been freed");
  *self = t;
  if (!t->matrices) return (caller_targets){.into = t->at, .listed = true};
  const damo_function *f = (const damo_function *)t->box->obj;
  luaL_checkstack(L, 8, "into");
  damo_obj **into = bind_alloc(L, (size_t)f->program->n_outputs, sizeof *into);
  memcpy(into, t->at, (size_t)f->program->n_outputs * sizeof *into);
  lua_getiuservalue(L, 1, 1);
  lua_rawgeti(L, -1, INTO_MATRICES);
  return (caller_targets){.into = into, .matrices = lua_gettop(L)};
}

static int caller_into_body(lua_State *L) {
  const int n = lua_gettop(L) - 1;
  const caller_into *self;
  const caller_targets to = caller_into_self(L, &self);
  return caller_call_with(L, (damo_function *)self->box->obj, self->box->caller, 2, n, &to);
}

/* The call without the frame: the number of results, -1 where it is not made so. */
static int caller_into_direct(lua_State *L) {
  const caller_into *t = caller_into_at(L, 1);
  if (!t || t->matrices || !t->box->obj || !t->box->caller || t->box->state->closed) return -1;
  damo_function *f = (damo_function *)t->box->obj;
  bind_caller *c = t->box->caller;
  if (!(c->direct.doubles || c->direct.again) || f->freed || lua_gettop(L) - 1 != c->n || bind_gc_is_due(c->st))
    return -1;
  const int n_out = c->direct.doubles ? caller_run_doubles(L, f, c, t->at) : -1;
  return n_out < 0 && c->direct.again ? caller_run_again(L, f, c, t->at) : n_out;
}

static int caller_into_call(lua_State *L) {
  const int n_out = caller_into_direct(L);
  return n_out >= 0 ? n_out : bind_again(L, caller_into_body, 0);
}

/* f:into(…):start(…) */
static int caller_into_start(lua_State *L) {
  const int n = lua_gettop(L) - 1;
  const caller_into *self;
  const caller_targets to = caller_into_self(L, &self);
  damo_function *f = (damo_function *)self->box->obj;
  if (to.matrices) caller_find_matrices(L, f, &to);
  return bind_start(L, f, self->box->caller, to.into, n);
}

/* Makes the object at idx the target of output i: an Array goes into the vault, a matrix into the table at the top,
 * which is made with the first one in place of nil. */
static void caller_take_target(lua_State *L, const damo_function *f, int64_t i, int idx, void **vault) {
  if (!type_is_sparse(f->program->outputs[i].type)) {
    damo_array *a = bind_check_obj(L, idx, OBJ_ARRAY, "into", "out");
    if (!a->writeable) bind_raise(L, DAMO_ESTATE, "into: array %d is read-only", (int)i + 1);
    vault[i] = damo_retain(a);
    return;
  }
  damo_sparse *m = bind_to_sparse(L, idx);
  if (!m) bind_arg_error(L, "into", idx, "out", "a sparse matrix, as the output is");
  if (!m->data->writeable) bind_raise(L, DAMO_ESTATE, "into: matrix %d is read-only", (int)i + 1);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, (int)i + 1);
}

/* Pushes the list of the Arrays among the n targets at 2 … 1 + n. */
static void caller_push_arrays(lua_State *L, int n) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    const bind_box *box = bind_box_at(L, 2 + i);
    if (!box || box->kind != OBJ_ARRAY) continue;
    lua_pushvalue(L, 2 + i);
    lua_rawseti(L, -2, i + 1);
  }
}

static int caller_into_tostring(lua_State *L) {
  lua_pushliteral(L, "damo.Into");
  return 1;
}

/* Sets the metatable of the caller_into at the top. */
static void caller_set_class(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &caller_into_magic);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 5);
    bind_pushclosure(L, caller_into_call, 0);
    lua_setfield(L, -2, "__call");
    lua_pushcfunction(L, caller_into_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "damo.Into");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__name");
    lua_setfield(L, -2, "__metatable"); /* no script calls __call with another object */
    lua_createtable(L, 0, 1);
    bind_pushfunction(L, caller_into_start);
    lua_setfield(L, -2, "start");
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &caller_into_magic);
  }
  lua_setmetatable(L, -2);
}

/* f:into(out1, out2, …): returns an object whose calls call f and write its results into these Arrays and matrices.
 */
int bind_function_into(lua_State *L) {
  damo_function *f = bind_function_self(L, "into");
  if (f->freed) return caller_refuse_input(L, f, 0);
  const int n = bind_without_nils(L, lua_gettop(L), 1 + (int)f->program->n_outputs) - 1;
  if (n != f->program->n_outputs) {
    bind_raise(L, DAMO_ETYPE, "into: %s has %d output%s, got %d object%s to write into", caller_input_name(f),
               (int)f->program->n_outputs, f->program->n_outputs == 1 ? "" : "s", n, n == 1 ? "" : "s");
  }
  luaL_checkstack(L, 16, "into");
  caller_into *t = lua_newuserdatauv(L, sizeof *t, 1);
  *t = (caller_into){.magic = &caller_into_magic, .box = bind_box_at(L, 1)};
  const int self = lua_gettop(L);
  lua_createtable(L, INTO_ARRAYS, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, INTO_FUNCTION);
  void **vault = bind_vault(L, n);
  lua_rawseti(L, -2, INTO_VAULT);
  t->at = (damo_obj **)vault;
  lua_pushnil(L);
  for (int i = 0; i < n; i++) {
    if (!lua_isnil(L, 2 + i)) caller_take_target(L, f, i, 2 + i, vault);
  }
  t->matrices = !lua_isnil(L, -1);
  lua_rawseti(L, -2, INTO_MATRICES);
  caller_push_arrays(L, n);
  lua_rawseti(L, -2, INTO_ARRAYS);
  lua_setiuservalue(L, self, 1);
  caller_set_class(L);
  bind_front_wrap(L, f, bind_caller_of(L, 1), vault);
  return 1;
}

/* ---- probe ------------------------------------------------------------------------------------------------------- */

/* Upvalues: the probe's Function, f, the places, their number. */
static int caller_probe_body(lua_State *L) {
  int n = lua_gettop(L);
  damo_function *g = bind_check_obj(L, lua_upvalueindex(1), OBJ_FUNCTION, "probe", "self");
  const bind_box *box = bind_box_at(L, lua_upvalueindex(2));
  const caller_probe probe = {.of = box ? (const damo_function *)box->obj : NULL,
                              .places = lua_touserdata(L, lua_upvalueindex(3)),
                              .n = (int64_t)lua_tointeger(L, lua_upvalueindex(4))};
  if (!probe.of) bind_raise(L, DAMO_ESTATE, "probe: the function was freed");
  return caller_call_with(L, g, bind_caller_of(L, lua_upvalueindex(1)), 1, n, &(caller_targets){.probe = &probe});
}

static int caller_probe_call(lua_State *L) { return bind_again(L, caller_probe_body, 4); }

/* f:probe(var, …): returns a function of f's arguments that gives the values of these Variables of f's program. */
int bind_function_probe(lua_State *L) {
  damo_function *f = bind_function_self(L, "probe");
  const int n = lua_gettop(L) - 1;
  if (f->freed) return caller_refuse_input(L, f, 0);
  if (n == 0) bind_raise(L, DAMO_ETYPE, "probe: there is no Variable to read");
  damo_var **vars = bind_alloc(L, (size_t)n, sizeof *vars);
  for (int i = 0; i < n; i++) {
    vars[i] = bind_to_var(L, 2 + i);
    if (!vars[i]) bind_arg_error(L, "probe", 2 + i, "var", "a Variable");
  }
  fn_place *places = bind_alloc(L, (size_t)n, sizeof *places);
  const int places_at = lua_gettop(L);
  damo_function *g = function_probe_new(f, vars, n, places);
  if (!g) return bind_error(L);
  bind_push_function(L, g, false, false);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, places_at);
  lua_pushinteger(L, n);
  bind_pushclosure(L, caller_probe_call, 4);
  return 1;
}
