/* values: what a thunk of an Op written in Lua lends to Lua, and the results that it takes. */
#include "run.h"
#include "sparse/sparse.h"

/* Where the lenders lie: behind the cells. */
static int lender_place(const thunk *t, int i) { return WORKSPACE_CELLS + t->n_out + i; }

/* ---- Values in --------------------------------------------------------------------------------------------------- */

/* Pushes the lender of that number, the workspace being at stack index 1, with the Array (retained) in it. */
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

/* The same of a sparse input: a matrix of its own each time, since its parts may be kept too. */
static void lend_sparse(lua_State *L, const thunk *t, frame *f, int i, const damo_sparse *m) {
  bind_op_run *r = thunk_user(t, f);
  bind_push_made(L, bind_sparse_read_only(m));
  r->lender[i] = bind_box_at(L, -1);
  lua_pushvalue(L, -1);
  lua_rawseti(L, 1, lender_place(t, i));
  r->lent = true;
}

/* Memory that belongs to a Lua value must be reached in Lua: an ordinary userdata does that. */
static bool output_is_foreign(const damo_array *a) { return a->buf->release == bind_release_owner; }

void bind_push_input(lua_State *L, const thunk *t, frame *f, int i) {
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

/* Takes the matrix back, and the Array of its values where Lua has that. */
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

/* What something in C holds on to stays with its userdata. */
void bind_take_back(const thunk *t, frame *f) {
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

void bind_push_old_output(lua_State *L, const thunk *t, frame *f, int o) {
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

/* ---- Values out -------------------------------------------------------------------------------------------------- */

bool bind_scalar_fits(lua_State *L, int idx, damo_dtype dtype, scalar *s) {
  if (lua_type(L, idx) == LUA_TBOOLEAN ? dtype != DAMO_BOOL : dtype == DAMO_BOOL) return false;
  if (dtype_is_discrete(dtype) && lua_type(L, idx) == LUA_TNUMBER && !lua_isinteger(L, idx)) return false;
  return bind_to_scalar(L, idx, dtype, s);
}

/* The value is (part of) an input, which the Op has not declared: or read-only, which is no result. */
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

/* The header of an input, which is used for something else in the next call. */
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
  if (!type_is_tensor(type) || type->ndim > 0 || !bind_scalar_fits(L, -1, type->dtype, &s))
    return output_wrong_value(L, c, o, NULL);
  const bind_box *lender = ((const bind_op_run *)thunk_user(t, f))->lender[t->n_in + o];
  bool lent = lender && lender->obj == thunk_result(t, f, o);
  damo_array *made =
      lent && thunk_result(t, f, o) ? (damo_array *)thunk_result(t, f, o) : thunk_out(t, f, o, type->dtype, 0, NULL);
  if (!made) return c->status = DAMO_EMEMORY;
  array_set(made, NULL, s);
  return DAMO_OK;
}

void bind_take_cell(lua_State *L, bind_callback *c, int o) {
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
