/* run: the thunks of Ops written in Lua: they run the Op's perform, or the callable that its own make_thunk returned.
 *
 * Workspace. The objects that a thunk passes to Lua in each run (the lists, the node, the params) are made once and
 * kept in its workspace: a table attached to the Op's userdata, keyed by the address of the thunk's bind_op_run in its
 * frame, and dropped with that. Between runs a workspace holds no value.
 *
 * Lending. The userdata of the inputs, and of the outputs' old values, are made once too: for the duration of a call an
 * Array is lent to each. A script that wants to keep an input must copy it. An output's old value is lent only if
 * nothing else refers to it, so that the Op may overwrite it.
 *
 * One run (run_lent): the body pushes the workspace, puts the inputs and the old outputs into their cells (lend_input,
 * lend_old_output), calls the function, and takes each output from its cell (output_take_cell). Afterwards, also after
 * an error, everything lent is taken back (lend_take_back).
 */
#include "run.h"
#include "params.h"
#include "sparse/sparse.h"

/* The user data of a thunk. A lender is the box of a userdata in the thunk's workspace; NULL: not made yet. */
typedef struct bind_op_run {
  bind_op_link *link;
  bool busy;
  bool lent; /* something was lent in this call; otherwise lenders may be gone */
  size_t size;
  bind_box **lender; /* one an input, then one an output */
  damo_array **view; /* owned: read-only views through which inputs are lent; NULL: not made yet */
  uint8_t *fresh;    /* one an output: it is in no_recycling, so no old value is lent */
} bind_op_run;

/* Indices in a thunk's workspace. For perform the outputs' cells follow, then the lenders; a thunk from the Op's own
 * make_thunk has lists of cells. */
enum {
  WORKSPACE_FUNCTION = 1,
  WORKSPACE_OP,
  WORKSPACE_NODE,
  WORKSPACE_INPUTS,
  WORKSPACE_STORAGE,
  WORKSPACE_PARAMS,
  WORKSPACE_CELLS
};
enum { WORKSPACE_IN_READY = WORKSPACE_OP, WORKSPACE_OUT_READY = WORKSPACE_PARAMS };

/* ---- Workspaces: made, found and dropped ------------------------------------------------------------------------- */

static const char workspaces_key = 'r', workspace_list_key = 'l';

/* Removes the workspace of r, if there is one. */
static void workspace_drop(lua_State *L, const damo_op *op, const bind_op_run *r) {
  if (!lua_checkstack(L, 8) || !bind_push_existing(L, op)) return;
  int top = lua_gettop(L);
  lua_getiuservalue(L, top, 1);
  if (lua_istable(L, -1)) {
    lua_rawgetp(L, -1, &workspaces_key);
    if (lua_istable(L, -1)) {
      lua_pushnil(L);
      lua_rawsetp(L, -2, r); /* assigning to an existing key does not allocate */
    }
  }
  lua_settop(L, top - 1);
}

static void run_clear(const thunk *t, frame *f) {
  bind_op_run *r = thunk_user(t, f);
  bind_op_link *link = r->link;
  bind_state *st = link->state;
  if (st && !st->closed) workspace_drop(st->running ? st->running : link->main, t->node->op, r);
  damo_ctx *ctx = f->ctx;
  for (int i = 0; i < t->n_in; i++) damo_release(r->view[i]);
  mem_free(ctx, r, r->size);
  bind_op_link_release(link);
}

/* Makes what t->user points to (owned by the thunk). how may be NULL. NULL: memory error. */
static bind_op_run *run_new(const thunk *t, frame *f, const thunk_request *how) {
  size_t n = (size_t)t->n_in,
         size = sizeof(bind_op_run) + (2 * n + (size_t)t->n_out) * sizeof(void *) + (size_t)t->n_out;
  bind_op_run *r = mem_calloc(f->ctx, size);
  if (!r) return NULL;
  r->size = size;
  r->lender = (bind_box **)(r + 1);
  r->view = (damo_array **)(r->lender + n + t->n_out);
  r->fresh = (uint8_t *)(r->view + n);
  r->link = bind_op_class_of(t->node->op)->link;
  r->link->refs++;
  for (int o = 0; how && o < t->n_out; o++) {
    for (int64_t i = 0; i < how->n_no_recycling; i++) {
      if (how->no_recycling[i] == t->node->out[o]) r->fresh[o] = 1;
    }
  }
  thunk_set_user(t, f, r, run_clear);
  return r;
}

/* Pushes the table of workspaces of the Op's userdata at the top, in its place. */
static void workspace_push_all(lua_State *L) {
  bind_peer(L, -1);
  lua_rawgetp(L, -1, &workspaces_key);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &workspaces_key);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static int workspace_refuse_key(lua_State *L) {
  return bind_raise(L, DAMO_EVALUE, "the lists that perform gets have one entry for each input and output");
}

/* Makes adding an entry to the list at the top an error. */
static void workspace_seal(lua_State *L) { bind_set_event(L, "__newindex", workspace_refuse_key, &workspace_list_key); }

/* Pushes the function to run: perform, or debug_perform if a debug thunk is made and the Op has one. */
static void workspace_push_perform(lua_State *L, const damo_op *op) {
  bool debug = bind_op_class_of(op)->link->debug;
  bind_push_definition(L, bind_op_class_of(op));
  lua_getfield(L, -1, debug ? "debug_perform" : "perform");
  if (debug && lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_getfield(L, -1, "perform");
  }
  lua_remove(L, -2);
}

/* For a new workspace: the lenders of an old one are gone. */
static void workspace_forget_lenders(const thunk *t, frame *f) {
  bind_op_run *r = thunk_user(t, f);
  for (int i = 0; i < t->n_in + t->n_out; i++) r->lender[i] = NULL;
}

/* Fills the workspace at the top for perform. */
static void workspace_fill(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  int workspace = lua_gettop(L);
  workspace_forget_lenders(t, c->f);
  workspace_push_perform(L, c->op);
  if (lua_isnil(L, -1)) {
    bind_callback_fail(c, DAMO_ENOT_IMPLEMENTED, "is missing");
    return;
  }
  lua_rawseti(L, workspace, WORKSPACE_FUNCTION);
  bind_push_borrowed(L, c->op);
  lua_rawseti(L, workspace, WORKSPACE_OP);
  bind_push_borrowed(L, t->node);
  lua_rawseti(L, workspace, WORKSPACE_NODE);
  lua_createtable(L, t->n_in, 0);
  workspace_seal(L);
  lua_rawseti(L, workspace, WORKSPACE_INPUTS);
  lua_createtable(L, t->n_out, 0);
  for (int o = 0; o < t->n_out; o++) {
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, -1);
    lua_rawseti(L, workspace, WORKSPACE_CELLS + o);
    lua_rawseti(L, -2, o + 1);
  }
  workspace_seal(L);
  lua_rawseti(L, workspace, WORKSPACE_STORAGE);
  const char *name = c->name;
  c->name = "get_params"; /* named in errors that it throws */
  bind_push_params(L, t->node);
  c->name = name;
  lua_rawseti(L, workspace, WORKSPACE_PARAMS);
}

/* Pushes the workspace of a thunk that runs perform, made when there is none (the first run, or after the Op's userdata
 * was made anew). False, with c->status set, when the Op can't give what belongs there. */
static bool workspace_push(lua_State *L, bind_callback *c) {
  bind_push_borrowed(L, c->op);
  workspace_push_all(L);
  lua_rawgetp(L, -1, thunk_user(c->t, c->f));
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, WORKSPACE_CELLS + c->t->n_in + 2 * c->t->n_out, 0);
    workspace_fill(L, c);
    if (c->status != DAMO_OK) return false;
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, thunk_user(c->t, c->f));
  }
  lua_remove(L, -2);
  return true;
}

/* Where the lenders lie: behind the cells. */
static int lender_place(const thunk *t, int i) { return WORKSPACE_CELLS + t->n_out + i; }

/* ---- Values lent to Lua ------------------------------------------------------------------------------------------ */

/* Lends the Array to lender i: pushes the lender's userdata, which holds a reference on the Array until lend_take_back.
 * The workspace is at stack index 1. */
static void lend_value(lua_State *L, const thunk *t, frame *f, int i, damo_array *a) {
  bind_op_run *r = thunk_user(t, f);
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

/* Lends a sparse input: a new matrix in each call, since the script may keep its parts too. */
static void lend_sparse(lua_State *L, const thunk *t, frame *f, int i, const damo_sparse *m) {
  bind_op_run *r = thunk_user(t, f);
  bind_push_made(L, bind_sparse_read_only(m));
  r->lender[i] = bind_box_at(L, -1);
  lua_pushvalue(L, -1);
  lua_rawseti(L, 1, lender_place(t, i));
  r->lent = true;
}

/* Whether the Array's memory belongs to a Lua value: then Lua must be able to reach it, through an ordinary userdata.
 */
static bool output_is_foreign(const damo_array *a) { return a->buf->release == bind_release_owner; }

/* Pushes input i, read-only unless the Op destroys it. The workspace is at stack index 1. */
static void lend_input(lua_State *L, const thunk *t, frame *f, int i) {
  damo_obj *v = thunk_value(t, f, i);
  damo_array *a = (damo_array *)v, **view = &((bind_op_run *)thunk_user(t, f))->view[i];
  if (v->kind == OBJ_SPARSE && !op_alias_has(t->node->op->destroy_map, -1, i)) {
    lend_sparse(L, t, f, i, (const damo_sparse *)v);
    return;
  }
  if (v->kind != OBJ_ARRAY || output_is_foreign(a)) {
    bind_push_raw(L, damo_retain(v));
    return;
  }
  if (op_alias_has(t->node->op->destroy_map, -1, i)) {
    lend_value(L, t, f, i, a);
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
  lend_value(L, t, f, i, *view);
}

/* Takes back a lent matrix, and the Array of its values if that has a userdata. A matrix that C code refers to stays
 * with its userdata. */
static void lend_take_sparse_back(const bind_op_run *r, bind_box *box) {
  damo_sparse *m = (damo_sparse *)box->obj;
  bind_state *st = r->link->state;
  if (m->obj.refs > 1) return;
  if (m->data->obj.refs == 2 && st && !st->closed) {
    lua_State *L = st->running ? st->running : r->link->main;
    if (lua_checkstack(L, 8) && bind_push_existing(L, m->data)) {
      bind_free(L, -1);
      lua_pop(L, 1);
    }
  }
  box->obj = NULL;
  damo_release(m);
}

/* Takes back everything that was lent; called after each call, whether or not it failed. An Array that C code refers to
 * meanwhile stays with its userdata. */
static void lend_take_back(const thunk *t, frame *f) {
  bind_op_run *r = thunk_user(t, f);
  if (!r->lent) return;
  r->lent = false;
  for (int i = 0; i < t->n_in + t->n_out; i++) {
    bind_box *box = r->lender[i];
    damo_array **view = i < t->n_in ? &r->view[i] : NULL;
    if (box && box->obj && box->kind == OBJ_SPARSE) {
      lend_take_sparse_back(r, box);
      r->lender[i] = NULL;
      continue;
    }
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

/* Pushes the old value in output o's cell if the Op may overwrite it, else nil. The workspace is at stack index 1. */
static void lend_old_output(lua_State *L, const thunk *t, frame *f, int o) {
  const bind_op_run *r = thunk_user(t, f);
  damo_array *a = (damo_array *)thunk_result(t, f, o);
  bool fits = a && !r->fresh[o] && a->obj.kind == OBJ_ARRAY && a->buf && a->writeable && a->buf->obj.refs == 1 &&
              !output_is_foreign(a) && !(thunk_out_is_fixed(t, f, o)) && type_is_valid(t->node->out[o]->type, &a->obj);
  if (fits && a->obj.refs == 1) {
    lend_value(L, t, f, t->n_in + o, a);
  } else if (!fits || a->obj.refs != 2 || !bind_push_existing(L, a)) {
    lua_pushnil(L);
  }
}

/* ---- Results taken ----------------------------------------------------------------------------------------------- */

/* Whether the result must be copied: it shares memory with an input without a view_map or destroy_map entry, or with an
 * earlier output, or it is read-only. */
static bool output_must_copy(const thunk *t, frame *f, int o, const damo_array *a) {
  const damo_op *op = t->node->op;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = value_array(thunk_value(t, f, i));
    if (!x || x->buf != a->buf) continue;
    return !op_alias_has(op->view_map, o, i) && !op_alias_has(op->destroy_map, o, i);
  }
  for (int k = 0; k < o; k++) {
    const damo_array *y = value_array(thunk_result(t, f, k));
    if (y && y->buf == a->buf) return true;
  }
  return !a->writeable;
}

static damo_status output_wrong_value(lua_State *L, bind_callback *c, int o, const damo_obj *v) {
  char want[320], dims[200];
  type_format(want, sizeof want, c->node->out[o]->type);
  if (v && v->kind == OBJ_ARRAY) {
    const damo_array *a = (const damo_array *)v;
    return bind_callback_fail(c, DAMO_ETYPE, "put an Array of dtype %s and shape %s into output %d, expected %s",
                              dtype_name(array_dtype(a)), shape_format(dims, sizeof dims, a->ndim, array_shape(a)),
                              o + 1, want);
  }
  if (v && v->kind == OBJ_SPARSE) {
    const damo_sparse *m = (const damo_sparse *)v;
    return bind_callback_fail(c, DAMO_ETYPE,
                              "put a sparse matrix (%s%s) of dtype %s and shape %s into output %d, expected %s",
                              sparse_format_name(sparse_format(m)), sparse_is_wide(m) ? ", int64 indices" : "",
                              dtype_name(sparse_dtype(m)), shape_format(dims, sizeof dims, 2, m->shape), o + 1, want);
  }
  return bind_callback_fail(c, DAMO_ETYPE, "put a %s into output %d, expected %s", bind_typename(L, -1), o + 1, want);
}

/* Whether the Array is the view through which an input is lent, which the next call reuses for another value. */
static bool output_is_lent_view(const thunk *t, frame *f, const damo_array *a) {
  const bind_op_run *r = thunk_user(t, f);
  for (int i = 0; i < t->n_in; i++) {
    if (r->view[i] == a) return true;
  }
  return false;
}

static damo_status output_take_array(lua_State *L, bind_callback *c, int o, damo_array *a) {
  if (!type_is_valid(c->node->out[o]->type, &a->obj)) return output_wrong_value(L, c, o, &a->obj);
  if (output_must_copy(c->t, c->f, o, a)) {
    a = array_copy(a);
  } else {
    a = output_is_lent_view(c->t, c->f, a) ? array_view(a, a->ndim, array_shape(a), array_strides(a), 0)
                                           : damo_retain(a);
  }
  if (!a) return c->status = DAMO_EMEMORY;
  thunk_set_out(c->t, c->f, o, &a->obj);
  return DAMO_OK;
}

static damo_status output_take_sparse(lua_State *L, bind_callback *c, int o, damo_sparse *m) {
  if (!type_is_valid(c->node->out[o]->type, &m->obj)) return output_wrong_value(L, c, o, &m->obj);
  m = output_must_copy(c->t, c->f, o, m->data) ? sparse_copy(m) : damo_retain(m);
  if (!m) return c->status = DAMO_EMEMORY;
  thunk_set_out(c->t, c->f, o, &m->obj);
  return DAMO_OK;
}

/* Takes the value at the top as output o. */
static damo_status output_take(lua_State *L, bind_callback *c, int o) {
  const thunk *t = c->t;
  frame *f = c->f;
  const damo_type *type = t->node->out[o]->type;
  if (lua_isnil(L, -1)) return bind_callback_fail(c, DAMO_EVALUE, "left output %d empty", o + 1);
  damo_array *a = bind_to_array(L, -1);
  if (a) return output_take_array(L, c, o, a);
  bind_box *box = bind_box_at(L, -1);
  if (box && box->obj && box->kind == OBJ_SPARSE) return output_take_sparse(L, c, o, (damo_sparse *)box->obj);
  if (box && box->obj && type_is_valid(type, box->obj)) {
    thunk_set_out(t, f, o, damo_retain(box->obj));
    return DAMO_OK;
  }
  scalar s;
  if (!type_is_tensor(type) || type->ndim > 0 || !bind_scalar_fits_dtype(L, -1, type->dtype, &s))
    return output_wrong_value(L, c, o, NULL);
  const bind_box *lender = ((const bind_op_run *)thunk_user(t, f))->lender[t->n_in + o];
  bool lent = lender && lender->obj == thunk_result(t, f, o);
  damo_array *made =
      lent && thunk_result(t, f, o) ? (damo_array *)thunk_result(t, f, o) : thunk_out(t, f, o, type->dtype, 0, NULL);
  if (!made) return c->status = DAMO_EMEMORY;
  array_set(made, NULL, s);
  return DAMO_OK;
}

/* Takes the value of the cell at the top as output o, and empties the cell. Sets c->status if it is not a valid value.
 */
static void output_take_cell(lua_State *L, bind_callback *c, int o) {
  int at = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TNUMBER && lua_tonumber(L, -2) == 1) continue;
    bind_callback_fail(c, DAMO_EVALUE, "put more than one value into the cell of output %d", o + 1);
    return;
  }
  lua_rawgeti(L, at, 1);
  lua_pushnil(L);
  lua_rawseti(L, at, 1);
  output_take(L, c, o);
}

/* ---- Runs of perform --------------------------------------------------------------------------------------------- */

/* Runs the callback and takes back what it lent; a state error if the thunk is running already. */
static damo_status run_lent(const thunk *t, frame *f, bind_callback *c) {
  bind_op_run *r = thunk_user(t, f) ? thunk_user(t, f) : run_new(t, f, NULL);
  if (!r) return DAMO_EMEMORY;
  if (r->busy) return bind_callback_fail(c, DAMO_ESTATE, "is under way already");
  r->busy = true;
  damo_status s = bind_callback_run(c);
  lend_take_back(t, f);
  r->busy = false;
  return s;
}

static void perform_empty_list(lua_State *L, int list, int n) {
  for (int i = 1; i <= n; i++) {
    lua_pushnil(L);
    lua_rawseti(L, list, i);
  }
}

/* Whether an input is a Generic value that is nil in Lua. */
static bool perform_is_nil(lua_State *L, damo_obj *v) {
  if (v->kind != OBJ_GENERIC) return false;
  bind_push_raw(L, damo_retain(v));
  const bool nil = lua_isnil(L, -1);
  lua_pop(L, 1);
  return nil;
}

/* Whether the list still has one entry an input. If an entry is nil, Lua's # is not defined, so the entries are checked
 * one by one. */
static bool perform_inputs_unchanged(lua_State *L, const thunk *t, frame *f, int list) {
  if ((int)lua_rawlen(L, list) == t->n_in) return true;
  bool good = lua_rawgeti(L, list, t->n_in + 1) == LUA_TNIL;
  lua_pop(L, 1);
  for (int i = 0; i < t->n_in && good; i++) {
    good = lua_rawgeti(L, list, i + 1) != LUA_TNIL || perform_is_nil(L, thunk_value(t, f, i));
    lua_pop(L, 1);
  }
  return good;
}

/* Whether the Op has not replaced or added entries of the lists; sets c->status otherwise. */
static bool perform_lists_unchanged(lua_State *L, bind_callback *c, int workspace, int inputs, int storage) {
  const thunk *t = c->t;
  bool good = perform_inputs_unchanged(L, t, c->f, inputs) && (int)lua_rawlen(L, storage) == t->n_out;
  if (!good) bind_callback_fail(c, DAMO_EVALUE, "changed the length of a list that it was given");
  for (int o = 0; o < t->n_out && good; o++) {
    lua_rawgeti(L, workspace, WORKSPACE_CELLS + o);
    lua_rawgeti(L, storage, o + 1);
    good = lua_rawequal(L, -1, -2);
    if (!good) {
      bind_callback_fail(c, DAMO_ETYPE, "replaced cell %d of output_storage by a %s", o + 1, bind_typename(L, -1));
    }
    lua_pop(L, 2);
  }
  return good;
}

static void body_perform(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  frame *f = c->f;
  if (!workspace_push(L, c)) return;
  lua_rawgeti(L, 1, WORKSPACE_INPUTS);
  lua_rawgeti(L, 1, WORKSPACE_STORAGE);
  for (int i = 0; i < t->n_in; i++) {
    lend_input(L, t, f, i);
    lua_rawseti(L, 2, i + 1);
  }
  for (int o = 0; o < t->n_out; o++) {
    lua_rawgeti(L, 1, WORKSPACE_CELLS + o);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 3, o + 1);
    lend_old_output(L, t, f, o);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
  }
  for (int k = WORKSPACE_FUNCTION; k <= WORKSPACE_NODE; k++) lua_rawgeti(L, 1, k);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawgeti(L, 1, WORKSPACE_PARAMS);
  lua_call(L, 5, 0);
  if (!perform_lists_unchanged(L, c, 1, 2, 3)) return;
  for (int o = 0; o < t->n_out && c->status == DAMO_OK; o++) {
    lua_rawgeti(L, 1, WORKSPACE_CELLS + o);
    output_take_cell(L, c, o);
    lua_settop(L, 3);
  }
  perform_empty_list(L, 2, t->n_in);
}

/* After an error the workspace may hold anything: drops it, so that the next run makes a new one. */
static void body_forget(lua_State *L, bind_callback *c) {
  bind_push_borrowed(L, c->op);
  workspace_push_all(L);
  lua_pushnil(L);
  lua_rawsetp(L, -2, thunk_user(c->t, c->f));
}

damo_status bind_op_perform(const thunk *t, frame *f) {
  bind_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_perform, .t = t, .f = f};
  damo_status s = run_lent(t, f, &c);
  if (s == DAMO_OK || !thunk_user(t, f)) return s;
  bind_callback forget = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_forget, .t = t, .f = f};
  if (bind_op_class_of(t->node->op)->link->state && !((bind_op_run *)thunk_user(t, f))->busy)
    bind_callback_run(&forget);
  return s;
}

/* ---- Runs of an Op's own thunk: a Lua callable over cells -------------------------------------------------------- */

/* The cells of inputs and outputs, and the flags that tell which are computed, are in the maps that make_thunk gets.
 * Each run fills the cells, calls the function, and takes the outputs, or the list of inputs that a lazy thunk still
 * needs. */

/* Appends v's cell in the map at stack index `of` to the list at `list`; makes the cell if the map has none. flag: the
 * cell of a compute_map. */
static void own_thunk_add_cell(lua_State *L, int of, int list, int i, damo_var *v, bool flag) {
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

/* Stores the list of the cells of the node's inputs or outputs at index `place` of the workspace. */
static void own_thunk_add_cells(lua_State *L, int workspace, int place, int of, const thunk *t, bool out, bool flag) {
  int n = out ? t->n_out : t->n_in;
  lua_createtable(L, n, 0);
  int list = lua_gettop(L);
  for (int i = 0; i < n; i++) own_thunk_add_cell(L, of, list, i, out ? t->node->out[i] : t->node->in[i], flag);
  lua_rawseti(L, workspace, place);
}

/* Stores the result of make_thunk, at the top, as the workspace's function. */
static void own_thunk_take_callable(lua_State *L, bind_callback *c, int workspace) {
  if (!bind_is_callable(L, -1)) {
    bind_callback_fail(c, DAMO_ETYPE, "must return a function or a callable object, got %s", bind_typename(L, -1));
    return;
  }
  if (!lua_isfunction(L, -1)) {
    lua_getfield(L, -1, "lazy");
    bool lazy = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (lazy && thunk_set_lazy(c->t, c->f) != DAMO_OK) {
      c->status = DAMO_EMEMORY;
      return;
    }
  }
  lua_rawseti(L, workspace, WORKSPACE_FUNCTION);
}

static void body_make_thunk(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  lua_createtable(L, WORKSPACE_CELLS + t->n_in + 2 * t->n_out, 0); /* 1: the workspace */
  lua_newtable(L);                                                 /* 2: storage_map */
  lua_newtable(L);                                                 /* 3: compute_map */
  own_thunk_add_cells(L, 1, WORKSPACE_INPUTS, 2, t, false, false);
  own_thunk_add_cells(L, 1, WORKSPACE_STORAGE, 2, t, true, false);
  own_thunk_add_cells(L, 1, WORKSPACE_IN_READY, 3, t, false, true);
  own_thunk_add_cells(L, 1, WORKSPACE_OUT_READY, 3, t, true, true);
  bind_push_borrowed(L, t->node);
  lua_rawseti(L, 1, WORKSPACE_NODE);
  bind_callback_push(L, c, "make_thunk");
  bind_push_borrowed(L, t->node);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  bind_push_vars(L, c->how->no_recycling, c->how->n_no_recycling);
  lua_pushstring(L, c->how->impl);
  lua_call(L, 6, 1);
  own_thunk_take_callable(L, c, 1);
  if (c->status != DAMO_OK) return;
  bind_push_borrowed(L, c->op);
  workspace_push_all(L);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, -2, thunk_user(c->t, c->f));
}

/* Stores the value at the top in the cell that is entry i of the list. */
static void own_thunk_set_cell(lua_State *L, int list, int i) {
  lua_rawgeti(L, list, i + 1);
  lua_insert(L, -2);
  lua_rawseti(L, -2, 1);
  lua_pop(L, 1);
}

/* Fills the cells. Stack: 2 inputs, 3 outputs, 4 and 5 their flags. */
static void own_thunk_load_cells(lua_State *L, const thunk *t, frame *f) {
  for (int i = 0; i < t->n_in; i++) {
    bool ready = thunk_ready(t, f, i) && thunk_value(t, f, i);
    if (ready) {
      lend_input(L, t, f, i);
    } else {
      lua_pushnil(L);
    }
    own_thunk_set_cell(L, 2, i);
    lua_pushboolean(L, ready);
    own_thunk_set_cell(L, 4, i);
  }
  for (int o = 0; o < t->n_out; o++) {
    lend_old_output(L, t, f, o);
    own_thunk_set_cell(L, 3, o);
    lua_pushboolean(L, 0);
    own_thunk_set_cell(L, 5, o);
  }
}

/* Takes the list at the top of the positions of inputs that a lazy thunk still needs; false if it is empty or no list.
 */
static bool own_thunk_take_needs(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  frame *f = c->f;
  int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  if (n == 0) return false;
  if (!thunk_is_lazy(t, f)) {
    bind_callback_fail(c, DAMO_ETYPE, "gave a thunk that returned a list, though it is not lazy");
    return true;
  }
  for (int k = 1; k <= n && c->status == DAMO_OK; k++) {
    lua_rawgeti(L, -1, k);
    lua_Number at = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    lua_pop(L, 1);
    if (at < 1 || at > t->n_in || at != floor(at)) {
      bind_callback_fail(c, DAMO_EINDEX, "gave a thunk that asked for an input that does not exist: there are %d",
                         t->n_in);
    } else if (thunk_ready(t, f, (int)at - 1)) {
      bind_callback_fail(c, DAMO_EVALUE, "gave a thunk that asked for input %d, which it has", (int)at);
    } else {
      thunk_need(t, f, (int)at - 1);
    }
  }
  return true;
}

static void body_run_own_thunk(lua_State *L, bind_callback *c) {
  const thunk *t = c->t;
  frame *f = c->f;
  bind_push_borrowed(L, c->op);
  workspace_push_all(L);
  lua_rawgetp(L, -1, thunk_user(t, c->f));
  lua_replace(L, 1);
  lua_settop(L, 1);
  if (lua_isnil(L, 1)) {
    bind_callback_fail(c, DAMO_ESTATE, "made a thunk whose Lua part is gone");
    return;
  }
  static const int places[] = {WORKSPACE_INPUTS, WORKSPACE_STORAGE, WORKSPACE_IN_READY, WORKSPACE_OUT_READY};
  for (int k = 0; k < 4; k++) lua_rawgeti(L, 1, places[k]);
  own_thunk_load_cells(L, t, f);
  lua_rawgeti(L, 1, WORKSPACE_FUNCTION);
  lua_call(L, 0, 1);
  if (!own_thunk_take_needs(L, c)) {
    lua_settop(L, 5);
    for (int o = 0; o < t->n_out && c->status == DAMO_OK; o++) {
      lua_rawgeti(L, 3, o + 1);
      output_take_cell(L, c, o);
      lua_settop(L, 5);
    }
  }
  for (int i = 0; i < t->n_in; i++) {
    lua_pushnil(L);
    own_thunk_set_cell(L, 2, i);
  }
}

static damo_status own_thunk_run(const thunk *t, frame *f) {
  bind_callback c = {
      .name = "make_thunk", .op = t->node->op, .node = t->node, .body = body_run_own_thunk, .t = t, .f = f};
  return run_lent(t, f, &c);
}

/* Calls the Op's own make_thunk, and makes the thunk run its result. t->user must be set. */
static damo_status own_thunk_make(const thunk *t, frame *f, const thunk_request *how) {
  bind_callback c = {
      .name = "make_thunk", .op = t->node->op, .node = t->node, .body = body_make_thunk, .t = t, .f = f, .how = how};
  thunk_set_run(t, f, own_thunk_run);
  return bind_callback_run(&c);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static void body_furnish(lua_State *L, bind_callback *c) {
  workspace_push(L, c);
  (void)L;
}

damo_status bind_op_furnish(const thunk *t, frame *f) {
  bind_callback c = {.name = "perform", .op = t->node->op, .node = t->node, .body = body_furnish, .t = t, .f = f};
  if (!thunk_user(t, f) && !run_new(t, f, NULL)) return DAMO_EMEMORY;
  return bind_callback_run(&c);
}

damo_status bind_op_make_thunk(const thunk *t, frame *f, const thunk_request *how) {
  const bind_op_class *k = bind_op_class_of(t->node->op);
  if (strcmp(how->impl, "c") == 0) {
    return ctx_fail(f->ctx, DAMO_ENOT_IMPLEMENTED, "%s has no native code to run", k->name);
  }
  if (!run_new(t, f, how)) return DAMO_EMEMORY;
  if (!k->own_thunk || k->link->plain) {
    thunk_set_run(t, f, bind_op_perform);
    return bind_op_furnish(t, f);
  }
  return own_thunk_make(t, f, how);
}
