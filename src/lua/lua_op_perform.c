/* lua_op_perform: thunks of Ops written in Lua: perform, and what the Op's own make_thunk gave.
 *
 * What a thunk passes to Lua each time (the lists, the node, the params) is made once, in a table that hangs from the Op's
 * userdata under the thunk's address, and goes with the thunk. The userdata of inputs, and of outputs' old values, are made
 * once too: an Array is lent to them for the time of a call, so whoever wants to keep an input copies it. Between runs a
 * room holds no value. An output's old value is handed over when nobody else holds it.
 */
#include <stdio.h>

#include "op_class.h"

static const char rooms_key = 'r', list_key = 'l';

/* What a thunk's user points to. A lender is the box of a userdata that the thunk's room keeps; NULL: none yet. */
typedef struct lua_run {
  op_link *link;
  bool busy;
  bool lent; /* in this call: only then are the lenders known to be there */
  size_t size;
  bind_box **lender; /* of inputs, then of outputs */
  damo_array **view; /* owned: the read-only headers that inputs are lent as; NULL: none yet */
  uint8_t *fresh;    /* per output: in no_recycling, so no old value is shown */
} lua_run;

/* Places in a thunk's room. For perform the cells of outputs follow; an own thunk has lists of cells. */
enum { R_FUNCTION = 1, R_OP, R_NODE, R_INPUTS, R_STORAGE, R_PARAMS, R_CELLS };
enum { R_IN_READY = R_OP, R_OUT_READY = R_PARAMS };

/* Where the lenders lie: behind the cells. */
static int lender_place(const thunk *t, int i) { return R_CELLS + t->n_out + i; }

/* ---- Rooms ---------------------------------------------------------------------------------------------------------- */

static void clear_run(thunk *t) {
  lua_run *r = t->user;
  op_link *link = r->link;
  bind_state *st = link->state;
  t->user = NULL;
  if (st && !st->closed) {
    lua_State *L = st->running ? st->running : link->main;
    if (lua_checkstack(L, 8) && bind_push_existing(L, t->node->op)) {
      int top = lua_gettop(L);
      lua_getiuservalue(L, top, 1);
      if (lua_istable(L, -1)) {
        lua_rawgetp(L, -1, &rooms_key);
        if (lua_istable(L, -1)) {
          lua_pushnil(L);
          lua_rawsetp(L, -2, t); /* an entry that exists: no allocation */
        }
      }
      lua_settop(L, top - 1);
    }
  }
  damo_ctx *ctx = t->ctx;
  for (int i = 0; i < t->n_in; i++) damo_release(r->view[i]);
  mem_free(ctx, r, r->size);
  op_link_release(link);
}

static lua_run *make_run(thunk *t, const thunk_request *how) {
  size_t n = (size_t)t->n_in, size = sizeof(lua_run) + (2 * n + (size_t)t->n_out) * sizeof(void *) + (size_t)t->n_out;
  lua_run *r = mem_calloc(t->ctx, size);
  if (!r) return NULL;
  r->size = size;
  r->lender = (bind_box **)(r + 1);
  r->view = (damo_array **)(r->lender + n + t->n_out);
  r->fresh = (uint8_t *)(r->view + n);
  r->link = op_class(t->node->op)->link;
  r->link->refs++;
  for (int o = 0; how && o < t->n_out; o++) {
    for (int64_t i = 0; i < how->n_no_recycling; i++) {
      if (how->no_recycling[i] == t->node->out[o]) r->fresh[o] = 1;
    }
  }
  t->user = r;
  t->user_clear = clear_run;
  return r;
}

/* Pushes the table of rooms of the Op's userdata at the top, in its place. */
static void push_rooms(lua_State *L) {
  bind_peer(L, -1);
  lua_rawgetp(L, -1, &rooms_key);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &rooms_key);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static int refuse_key(lua_State *L) {
  return bind_raise(L, DAMO_EVALUE, "the lists that perform gets have one entry for each input and output");
}

/* Makes the list at the top one whose length can't grow. */
static void seal(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, refuse_key);
    lua_setfield(L, -2, "__newindex");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &list_key);
  }
  lua_setmetatable(L, -2);
}

/* The function that runs: perform, or debug_perform where a debugging thunk is made and the Op has one. */
static void push_perform(lua_State *L, const damo_op *op) {
  bool debug = op_class(op)->link->debug;
  bind_push_definition(L, op_class(op));
  lua_getfield(L, -1, debug ? "debug_perform" : "perform");
  if (debug && lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_getfield(L, -1, "perform");
  }
  lua_remove(L, -2);
}

/* The room is a new one: lenders of an old one are gone. */
static void forget_lenders(const thunk *t) {
  lua_run *r = t->user;
  for (int i = 0; i < t->n_in + t->n_out; i++) r->lender[i] = NULL;
}

/* Fills the room at the top for perform. */
static void furnish(lua_State *L, op_callback *c) {
  const thunk *t = c->t;
  int room = lua_gettop(L);
  forget_lenders(t);
  push_perform(L, c->op);
  if (lua_isnil(L, -1)) {
    op_call_fail(c, DAMO_ENOT_IMPLEMENTED, "is missing");
    return;
  }
  lua_rawseti(L, room, R_FUNCTION);
  bind_push_borrowed(L, c->op);
  lua_rawseti(L, room, R_OP);
  bind_push_borrowed(L, t->node);
  lua_rawseti(L, room, R_NODE);
  lua_createtable(L, t->n_in, 0);
  seal(L);
  lua_rawseti(L, room, R_INPUTS);
  lua_createtable(L, t->n_out, 0);
  for (int o = 0; o < t->n_out; o++) {
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, room, R_CELLS + o);
    lua_rawseti(L, -2, o + 1);
  }
  seal(L);
  lua_rawseti(L, room, R_STORAGE);
  op_push_params(L, t->node);
  lua_rawseti(L, room, R_PARAMS);
}

/* Pushes the thunk's room, made when there is none (the first run, or after the Op's userdata was made anew). */
static bool push_room(lua_State *L, op_callback *c) {
  bind_push_borrowed(L, c->op);
  push_rooms(L);
  lua_rawgetp(L, -1, c->t);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, R_CELLS + c->t->n_in + 2 * c->t->n_out, 0);
    furnish(L, c);
    if (c->status != DAMO_OK) return false;
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, c->t);
  }
  lua_remove(L, -2);
  return true;
}

/* ---- Values in -------------------------------------------------------------------------------------------------------- */

/* Pushes the lender of that number, the room being at stack index 1, with the Array (retained) in it. */
static void lend(lua_State *L, const thunk *t, int i, damo_array *a) {
  lua_run *r = t->user;
  int place = lender_place(t, i);
  if (r->lender[i]) {
    lua_rawgeti(L, 1, place);
  } else {
    r->lender[i] = bind_push_lender(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 1, place);
  }
  r->lender[i]->obj = damo_retain(&a->obj);
  r->lent = true;
}

/* Memory that belongs to a Lua value must be reached in Lua: an ordinary userdata does that. */
static bool is_foreign(const damo_array *a) { return a->buf->release == bind_release_owner; }

/* Inputs are read-only unless the Op destroys them. */
static void push_input(lua_State *L, const thunk *t, int i) {
  damo_obj *v = *t->in[i];
  damo_array *a = (damo_array *)v, **view = &((lua_run *)t->user)->view[i];
  if (v->kind == OBJ_SPARSE && !op_alias_has(t->node->op->destroy_map, -1, i)) {
    bind_push_made(L, bind_sparse_read_only((const damo_sparse *)v));
    return;
  }
  if (v->kind != OBJ_ARRAY || is_foreign(a)) {
    bind_push_raw(L, damo_retain(v));
    return;
  }
  if (op_alias_has(t->node->op->destroy_map, -1, i)) {
    lend(L, t, i, a);
    return;
  }
  if (*view && (*view)->ndim == a->ndim) {
    array_reseat(*view, a, array_shape(a), array_strides(a), 0);
  } else {
    damo_release(*view);
    *view = array_view(a, a->ndim, array_shape(a), array_strides(a), 0);
    if (!*view) bind_error(L);
  }
  (*view)->writeable = false;
  lend(L, t, i, *view);
}

/* Takes back what was lent. An Array that something in C holds on to stays with its userdata. */
static void take_back(const thunk *t) {
  lua_run *r = t->user;
  if (!r->lent) return;
  r->lent = false;
  for (int i = 0; i < t->n_in + t->n_out; i++) {
    bind_box *box = r->lender[i];
    damo_array **view = i < t->n_in ? &r->view[i] : NULL;
    bool kept = view && *view && (*view)->obj.refs > (box && box->obj == (damo_obj *)*view ? 2 : 1);
    if (kept) {
      r->lender[i] = NULL;
      damo_release(*view);
      *view = NULL;
      continue;
    }
    damo_obj *lent = box ? box->obj : NULL;
    if (box) box->obj = NULL;
    damo_release(lent);
    if (view && *view) array_detach(*view);
  }
}

/* Pushes the value that output o's cell holds, if the Op may write it, else nil. */
static void push_old(lua_State *L, const thunk *t, int o) {
  const lua_run *r = t->user;
  damo_array *a = (damo_array *)*t->out[o];
  bool fits = a && !r->fresh[o] && a->obj.kind == OBJ_ARRAY && a->buf && a->writeable && a->buf->obj.refs == 1 &&
              !is_foreign(a) && !(t->out_fixed && t->out_fixed[o]) && type_is_valid(t->node->out[o]->type, &a->obj);
  if (fits && a->obj.refs == 1) {
    lend(L, t, t->n_in + o, a);
  } else if (!fits || a->obj.refs != 2 || !bind_push_existing(L, a)) {
    lua_pushnil(L);
  }
}

/* ---- Values out ------------------------------------------------------------------------------------------------------- */

/* A number or boolean for a 0-d output: integers fit any number dtype, fractions none of integers. */
static bool scalar_fits(lua_State *L, int idx, damo_dtype dtype, scalar *s) {
  if (lua_type(L, idx) == LUA_TBOOLEAN ? dtype != DAMO_BOOL : dtype == DAMO_BOOL) return false;
  if (dtype_is_discrete(dtype) && lua_type(L, idx) == LUA_TNUMBER && !lua_isinteger(L, idx)) return false;
  return bind_to_scalar(L, idx, dtype, s);
}

/* The value is (part of) an input, which the Op has not declared: or read-only, which is no result. */
static bool must_copy(const thunk *t, int o, const damo_array *a) {
  const damo_op *op = t->node->op;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = value_array(*t->in[i]);
    if (!x || x->buf != a->buf) continue;
    return !op_alias_has(op->view_map, o, i) && !op_alias_has(op->destroy_map, o, i);
  }
  for (int k = 0; k < o; k++) {
    const damo_array *y = value_array(*t->out[k]);
    if (y && y->buf == a->buf) return true;
  }
  return !a->writeable;
}

static damo_status wrong_value(lua_State *L, op_callback *c, int o, const damo_obj *v) {
  char want[320], dims[200];
  type_format(want, sizeof want, c->node->out[o]->type);
  if (v && v->kind == OBJ_ARRAY) {
    const damo_array *a = (const damo_array *)v;
    return op_call_fail(c, DAMO_ETYPE, "put an Array of dtype %s and shape %s into output %d, expected %s",
                        dtype_name(array_dtype(a)), shape_format(dims, sizeof dims, a->ndim, array_shape(a)), o + 1,
                        want);
  }
  if (v && v->kind == OBJ_SPARSE) {
    const damo_sparse *m = (const damo_sparse *)v;
    return op_call_fail(c, DAMO_ETYPE,
                        "put a sparse matrix (%s%s) of dtype %s and shape %s into output %d, expected %s",
                        sparse_format_name(sparse_format(m)), sparse_is_wide(m) ? ", int64 indices" : "",
                        dtype_name(sparse_dtype(m)), shape_format(dims, sizeof dims, 2, m->shape), o + 1, want);
  }
  return op_call_fail(c, DAMO_ETYPE, "put a %s into output %d, expected %s", bind_typename(L, -1), o + 1, want);
}

/* The header of an input, which is used for something else in the next call. */
static bool is_lent_view(const thunk *t, const damo_array *a) {
  const lua_run *r = t->user;
  for (int i = 0; i < t->n_in; i++) {
    if (r->view[i] == a) return true;
  }
  return false;
}

static damo_status take_array(lua_State *L, op_callback *c, int o, damo_array *a) {
  if (!type_is_valid(c->node->out[o]->type, &a->obj)) return wrong_value(L, c, o, &a->obj);
  if (must_copy(c->t, o, a)) {
    a = array_copy(a);
  } else {
    a = is_lent_view(c->t, a) ? array_view(a, a->ndim, array_shape(a), array_strides(a), 0) : damo_retain(a);
  }
  if (!a) return c->status = DAMO_EMEMORY;
  thunk_set_out(c->t, o, &a->obj);
  return DAMO_OK;
}

static damo_status take_sparse(lua_State *L, op_callback *c, int o, damo_sparse *m) {
  if (!type_is_valid(c->node->out[o]->type, &m->obj)) return wrong_value(L, c, o, &m->obj);
  m = must_copy(c->t, o, m->data) ? sparse_copy(m) : damo_retain(m);
  if (!m) return c->status = DAMO_EMEMORY;
  thunk_set_out(c->t, o, &m->obj);
  return DAMO_OK;
}

/* Takes the value at the top as output o. */
static damo_status take_output(lua_State *L, op_callback *c, int o) {
  thunk *t = c->t;
  const damo_type *type = t->node->out[o]->type;
  if (lua_isnil(L, -1)) return op_call_fail(c, DAMO_EVALUE, "left output %d empty", o + 1);
  damo_array *a = bind_to_array(L, -1);
  if (a) return take_array(L, c, o, a);
  bind_box *box = bind_box_at(L, -1);
  if (box && box->obj && box->kind == OBJ_SPARSE) return take_sparse(L, c, o, (damo_sparse *)box->obj);
  if (box && box->obj && type_is_valid(type, box->obj)) {
    thunk_set_out(t, o, damo_retain(box->obj));
    return DAMO_OK;
  }
  scalar s;
  if (!type_is_tensor(type) || type->ndim > 0 || !scalar_fits(L, -1, type->dtype, &s))
    return wrong_value(L, c, o, NULL);
  bool lent = ((lua_run *)t->user)->lender[t->n_in + o] && ((lua_run *)t->user)->lender[t->n_in + o]->obj == *t->out[o];
  damo_array *made = lent && *t->out[o] ? (damo_array *)*t->out[o] : thunk_out(t, o, type->dtype, 0, NULL);
  if (!made) return c->status = DAMO_EMEMORY;
  array_set(made, NULL, s);
  return DAMO_OK;
}

/* The cell at the top: takes its value, which is replaced by nil, as output o. */
static void take_cell(lua_State *L, op_callback *c, int o) {
  int at = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TNUMBER && lua_tonumber(L, -2) == 1) continue;
    op_call_fail(c, DAMO_EVALUE, "put more than one value into the cell of output %d", o + 1);
    return;
  }
  lua_rawgeti(L, at, 1);
  lua_pushnil(L);
  lua_rawseti(L, at, 1);
  take_output(L, c, o);
}

/* ---- perform ---------------------------------------------------------------------------------------------------------- */

static void empty_list(lua_State *L, int list, int n) {
  for (int i = 1; i <= n; i++) {
    lua_pushnil(L);
    lua_rawseti(L, list, i);
  }
}

/* Whether the Op left the lists as they were. */
static bool lists_stand(lua_State *L, op_callback *c, int room, int inputs, int storage) {
  const thunk *t = c->t;
  bool good = (int)lua_rawlen(L, inputs) == t->n_in && (int)lua_rawlen(L, storage) == t->n_out;
  if (!good) op_call_fail(c, DAMO_EVALUE, "changed the length of a list that it was given");
  for (int o = 0; o < t->n_out && good; o++) {
    lua_rawgeti(L, room, R_CELLS + o);
    lua_rawgeti(L, storage, o + 1);
    good = lua_rawequal(L, -1, -2);
    if (!good) {
      op_call_fail(c, DAMO_ETYPE, "replaced cell %d of output_storage by a %s", o + 1, bind_typename(L, -1));
    }
    lua_pop(L, 2);
  }
  return good;
}

static void body_perform(lua_State *L, op_callback *c) {
  thunk *t = c->t;
  if (!push_room(L, c)) return;
  lua_rawgeti(L, 1, R_INPUTS);
  lua_rawgeti(L, 1, R_STORAGE);
  for (int i = 0; i < t->n_in; i++) {
    push_input(L, t, i);
    lua_rawseti(L, 2, i + 1);
  }
  for (int o = 0; o < t->n_out; o++) {
    lua_rawgeti(L, 1, R_CELLS + o);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 3, o + 1);
    push_old(L, t, o);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
  }
  for (int k = R_FUNCTION; k <= R_NODE; k++) lua_rawgeti(L, 1, k);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawgeti(L, 1, R_PARAMS);
  lua_call(L, 5, 0);
  if (!lists_stand(L, c, 1, 2, 3)) return;
  for (int o = 0; o < t->n_out && c->status == DAMO_OK; o++) {
    lua_rawgeti(L, 1, R_CELLS + o);
    take_cell(L, c, o);
    lua_settop(L, 3);
  }
  empty_list(L, 2, t->n_in);
}

/* After an error the room of the thunk is made anew next time: it may hold anything. */
static void body_forget(lua_State *L, op_callback *c) {
  bind_push_borrowed(L, c->op);
  push_rooms(L);
  lua_pushnil(L);
  lua_rawsetp(L, -2, c->t);
}

static damo_status run_body(thunk *t, op_callback *c) {
  lua_run *r = t->user ? t->user : make_run(t, NULL);
  if (!r) return DAMO_EMEMORY;
  if (r->busy) return op_call_fail(c, DAMO_ESTATE, "is under way already");
  r->busy = true;
  damo_status s = op_call_run(c);
  take_back(t);
  r->busy = false;
  return s;
}

damo_status op_lua_perform(thunk *t) {
  op_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_perform, .t = t};
  damo_status s = run_body(t, &c);
  if (s == DAMO_OK || !t->user) return s;
  op_callback forget = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_forget, .t = t};
  if (op_class(t->node->op)->link->state && !((lua_run *)t->user)->busy) op_call_run(&forget);
  return s;
}

/* ---- The Op's own make_thunk -------------------------------------------------------------------------------------------- */

/* Adds a cell for v to the map at `of`, unless it has one, and appends the cell to the list at `list`. */
static void add_cell(lua_State *L, int of, int list, int i, damo_var *v, bool flag) {
  bind_push_borrowed(L, v);
  lua_pushvalue(L, -1);
  lua_rawget(L, of);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 1, 0);
    if (flag) {
      lua_pushboolean(L, v->kind == VAR_CONSTANT);
      lua_rawseti(L, -2, 1);
    } else if (v->kind == VAR_CONSTANT && v->value && v->value->kind != OBJ_GENERIC) {
      bind_push_raw(L, damo_retain(v->value));
      lua_rawseti(L, -2, 1);
    }
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, of);
  }
  lua_rawseti(L, list, i + 1);
  lua_pop(L, 1);
}

/* Puts a list of cells of the node's inputs or outputs into the room. */
static void add_cells(lua_State *L, int room, int place, int of, const thunk *t, bool out, bool flag) {
  int n = out ? t->n_out : t->n_in;
  lua_createtable(L, n, 0);
  int list = lua_gettop(L);
  for (int i = 0; i < n; i++) add_cell(L, of, list, i, out ? t->node->out[i] : t->node->in[i], flag);
  lua_rawseti(L, room, place);
}

static bool is_callable(lua_State *L, int idx) {
  if (lua_isfunction(L, idx)) return true;
  bool found = luaL_getmetafield(L, idx, "__call");
  if (found) lua_pop(L, 1);
  return found;
}

/* Takes what make_thunk gave, at the top, into the room. */
static void take_callable(lua_State *L, op_callback *c, int room) {
  if (!is_callable(L, -1)) {
    op_call_fail(c, DAMO_ETYPE, "must return a function or a callable object, got %s", bind_typename(L, -1));
    return;
  }
  if (!lua_isfunction(L, -1)) {
    lua_getfield(L, -1, "lazy");
    bool lazy = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (lazy && thunk_set_lazy(c->t) != DAMO_OK) {
      c->status = DAMO_EMEMORY;
      return;
    }
  }
  lua_rawseti(L, room, R_FUNCTION);
}

static void body_make_thunk(lua_State *L, op_callback *c) {
  const thunk *t = c->t;
  lua_createtable(L, R_CELLS + t->n_in + 2 * t->n_out, 0); /* 1: the room */
  lua_newtable(L);                                         /* 2: storage_map */
  lua_newtable(L);                                         /* 3: compute_map */
  add_cells(L, 1, R_INPUTS, 2, t, false, false);
  add_cells(L, 1, R_STORAGE, 2, t, true, false);
  add_cells(L, 1, R_IN_READY, 3, t, false, true);
  add_cells(L, 1, R_OUT_READY, 3, t, true, true);
  bind_push_borrowed(L, t->node);
  lua_rawseti(L, 1, R_NODE);
  op_call_push(L, c, "make_thunk");
  bind_push_borrowed(L, t->node);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  op_call_push_vars(L, c->how->no_recycling, (int)c->how->n_no_recycling);
  lua_pushstring(L, c->how->impl);
  lua_call(L, 6, 1);
  take_callable(L, c, 1);
  if (c->status != DAMO_OK) return;
  bind_push_borrowed(L, c->op);
  push_rooms(L);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, -2, c->t);
}

/* Sets [1] of entry i of the list at idx to the value at the top. */
static void set_cell(lua_State *L, int list, int i) {
  lua_rawgeti(L, list, i + 1);
  lua_insert(L, -2);
  lua_rawseti(L, -2, 1);
  lua_pop(L, 1);
}

/* 2 inputs, 3 outputs, 4 and 5 whether they are computed. */
static void load_cells(lua_State *L, const thunk *t) {
  for (int i = 0; i < t->n_in; i++) {
    bool ready = thunk_ready(t, i) && *t->in[i];
    if (ready) {
      push_input(L, t, i);
    } else {
      lua_pushnil(L);
    }
    set_cell(L, 2, i);
    lua_pushboolean(L, ready);
    set_cell(L, 4, i);
  }
  for (int o = 0; o < t->n_out; o++) {
    push_old(L, t, o);
    set_cell(L, 3, o);
    lua_pushboolean(L, 0);
    set_cell(L, 5, o);
  }
}

/* The list of positions at the top, which a lazy thunk still needs; false when there is none. */
static bool take_needs(lua_State *L, op_callback *c) {
  thunk *t = c->t;
  int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  if (n == 0) return false;
  if (!t->lazy) {
    op_call_fail(c, DAMO_ETYPE, "gave a thunk that returned a list, though it is not lazy");
    return true;
  }
  for (int k = 1; k <= n && c->status == DAMO_OK; k++) {
    lua_rawgeti(L, -1, k);
    lua_Number at = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    lua_pop(L, 1);
    if (at < 1 || at > t->n_in || at != floor(at)) {
      op_call_fail(c, DAMO_EINDEX, "gave a thunk that asked for an input that does not exist: there are %d", t->n_in);
    } else if (thunk_ready(t, (int)at - 1)) {
      op_call_fail(c, DAMO_EVALUE, "gave a thunk that asked for input %d, which it has", (int)at);
    } else {
      thunk_need(t, (int)at - 1);
    }
  }
  return true;
}

static void body_own(lua_State *L, op_callback *c) {
  thunk *t = c->t;
  bind_push_borrowed(L, c->op);
  push_rooms(L);
  lua_rawgetp(L, -1, t);
  lua_replace(L, 1);
  lua_settop(L, 1);
  if (lua_isnil(L, 1)) {
    op_call_fail(c, DAMO_ESTATE, "made a thunk whose Lua part is gone");
    return;
  }
  static const int places[] = {R_INPUTS, R_STORAGE, R_IN_READY, R_OUT_READY};
  for (int k = 0; k < 4; k++) lua_rawgeti(L, 1, places[k]);
  load_cells(L, t);
  lua_rawgeti(L, 1, R_FUNCTION);
  lua_call(L, 0, 1);
  if (!take_needs(L, c)) {
    lua_settop(L, 5);
    for (int o = 0; o < t->n_out && c->status == DAMO_OK; o++) {
      lua_rawgeti(L, 3, o + 1);
      take_cell(L, c, o);
      lua_settop(L, 5);
    }
  }
  for (int i = 0; i < t->n_in; i++) {
    lua_pushnil(L);
    set_cell(L, 2, i);
  }
}

static damo_status run_own(thunk *t) {
  op_callback c = {.name = "make_thunk", .op = t->node->op, .node = t->node, .body = body_own, .t = t};
  return run_body(t, &c);
}

/* ---- Making -------------------------------------------------------------------------------------------------------------- */

static void body_furnish(lua_State *L, op_callback *c) {
  push_room(L, c);
  (void)L;
}

damo_status op_lua_furnish(thunk *t) {
  op_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_furnish, .t = t};
  if (!t->user && !make_run(t, NULL)) return DAMO_EMEMORY;
  return op_call_run(&c);
}

damo_status op_lua_make_thunk(thunk *t, const thunk_request *how) {
  const lua_class *k = op_class(t->node->op);
  if (strcmp(how->impl, "c") == 0) {
    return ctx_fail(t->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no native code to run", k->name);
  }
  if (!make_run(t, how)) return DAMO_EMEMORY;
  if (!k->own_thunk || k->link->plain) {
    t->run = op_lua_perform;
    return op_lua_furnish(t);
  }
  op_callback c = {
      .name = "make_thunk", .op = t->node->op, .node = t->node, .body = body_make_thunk, .t = t, .how = how};
  t->run = run_own;
  return op_call_run(&c);
}

/* ---- Params --------------------------------------------------------------------------------------------------------------- */

/* Checks the value at the top by the dtype that params_type names for it, and leaves it as a Lua scalar or Array. */
static void convert_param(lua_State *L, const char *op, const char *name, int dtype_at) {
  damo_dtype dtype;
  scalar s;
  damo_type *type = bind_to(L, dtype_at, OBJ_TYPE);
  if (lua_isnil(L, -1)) bind_raise(L, DAMO_EVALUE, "%s: get_params gave no '%s'", op, name);
  if (type) {
    lua_pushfstring(L, "%s: param '%s'", op, name);
    lua_insert(L, -2);
    bind_filter(L, lua_gettop(L), type, (filter_options){0}, lua_tostring(L, -2));
    return;
  }
  if (!bind_dtype(L, dtype_at, &dtype)) {
    bind_raise(L, DAMO_ETYPE, "%s: params_type must name a dtype or a Type for '%s'", op, name);
  }
  int lua = lua_type(L, -1);
  bool fits = (lua == LUA_TNUMBER || lua == LUA_TBOOLEAN) && scalar_fits(L, -1, dtype, &s);
  if (!fits) {
    bind_raise(L, DAMO_ETYPE, "%s: get_params gave a %s for '%s', expected a %s", op, bind_typename(L, -1), name,
               dtype_name(dtype));
  }
  if (!bind_push_scalar(L, s)) lua_pushvalue(L, -1);
}

/* The value of get_params, at the top, replaced by a table of what params_type names. */
static void convert_params(lua_State *L, const char *op, int types) {
  int given = lua_gettop(L);
  if (!lua_istable(L, given)) {
    bind_raise(L, DAMO_ETYPE, "%s: get_params must return a table, got %s", op, bind_typename(L, given));
  }
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, types);) {
    if (lua_type(L, -2) != LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "%s: params_type holds names", op);
    int key = lua_gettop(L) - 1;
    lua_getfield(L, given, lua_tostring(L, key));
    convert_param(L, op, lua_tostring(L, key), key + 1);
    lua_setfield(L, given + 1, lua_tostring(L, key));
    lua_settop(L, key);
  }
  lua_replace(L, given);
}

void op_push_params(lua_State *L, const damo_apply *node) {
  damo_op *op = node->op;
  int base = lua_gettop(L);
  if (bind_is_lua_op(op)) {
    bind_push_definition(L, op_class(op));
    lua_getfield(L, base + 1, "params_type");
    lua_getfield(L, base + 1, "get_params");
    if (lua_isfunction(L, -1)) {
      bind_push_borrowed(L, op);
      bind_push_borrowed(L, node);
      lua_call(L, 2, 1);
      if (lua_istable(L, base + 2)) convert_params(L, op->def->name, base + 2);
      lua_replace(L, base + 1);
      lua_settop(L, base + 1);
      return;
    }
    lua_settop(L, base);
  }
  if (op->n_props > 0) {
    bind_push_props(L, op);
  } else {
    lua_pushnil(L);
  }
}
