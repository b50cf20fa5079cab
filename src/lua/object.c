/* object: identity and ownership ("anchoring") of the userdata that stand for C objects.
 *
 * Identity. Weak tables map an object's address to its userdata. There are BIND_BUCKETS of them, chosen by the address:
 * when one large table grows, Lua counts the memory as debt of its collector and would do as much collection in one
 * step. Lua takes a userdata out of them before it calls its finalizer, and the object may get a new one in between.
 *
 * Anchoring. The user value of a userdata keeps alive the userdata of the object's neighbours, so that values which Lua
 * attached to them (tags, Op tables, generic values) live as long as the object can be reached:
 *   Variable   its owner's Apply; a shared one its default update and a generic value; a constant its generic value
 *   Apply      its Op if that has a Lua part, inputs, outputs
 *   OpGraph    (the class of an OpFromGraph) its inner graph, the Ops that override its gradients, shared Variables
 *   Op         its class, and the Ops among its properties
 *   FunctionGraph  inputs, outputs, nodes
 *   Function   a flat list: the Ops with a Lua part, generic values and shared Variables that its program uses
 *   Array      the owner of foreign memory, if there is one
 *   Sparse     the owners of such memory, if its Arrays are over any
 * The user value is nil, one neighbour's userdata, or the peer table: neighbours from 1 on, everything else under
 * string keys (bind_peer).
 *
 * Invariant: a userdata in a weak table has all its neighbours wrapped and anchored, or is in the pending list.
 * Wrapping empties that list iteratively. An error in between (Lua out of memory) leaves the rest in the list for the
 * next wrap.
 */
#include <stdio.h>

#include "export/export.h"
#include "binding.h"
#include "sparse/sparse.h"

static const char box_magic = 'm';

static const char *const METATABLE_NAMES[OBJ_N_KINDS] = {
    [OBJ_ARRAY] = "damo.Array",       [OBJ_SPARSE] = "damo.Sparse",   [OBJ_TYPE] = "damo.Type",
    [OBJ_OPCLASS] = "damo.OpClass",   [OBJ_OPGRAPH] = "damo.OpGraph", [OBJ_OP] = "damo.Op",
    [OBJ_VAR] = "damo.Variable",      [OBJ_APPLY] = "damo.Apply",     [OBJ_FGRAPH] = "damo.FunctionGraph",
    [OBJ_FUNCTION] = "damo.Function", [OBJ_GENERIC] = "damo.Generic", [OBJ_FACTOR] = "damo.Factor",
    [OBJ_SCAN] = "damo.ScanClass",    [OBJ_RUN] = "damo.Run",         [OBJ_LINKED] = "damo.Linked",
};

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

bind_box *bind_box_at(lua_State *L, int idx) {
  bind_box *box = lua_touserdata(L, idx);
  return box && lua_rawlen(L, idx) >= sizeof *box && box->magic == &box_magic ? box : NULL;
}

static const char *object_kind_name(int kind) { return METATABLE_NAMES[kind] + sizeof "damo." - 1; }

void *bind_to(lua_State *L, int idx, obj_kind kind) {
  bind_box *box = bind_box_at(L, idx);
  if (!box || box->kind != (int)kind) return NULL;
  if (!box->obj) bind_raise(L, DAMO_ESTATE, "this %s has been freed", object_kind_name(box->kind));
  return box->obj;
}

void *bind_check_obj(lua_State *L, int idx, obj_kind kind, const char *func, const char *argname) {
  void *obj = bind_to(L, idx, kind);
  if (!obj) {
    const char *name = object_kind_name((int)kind);
    char expected[40];
    snprintf(expected, sizeof expected, "%s %s", strchr("AEIO", name[0]) ? "an" : "a", name);
    bind_arg_error(L, func, lua_absindex(L, idx), argname, expected);
  }
  return obj;
}

/* A random stream's state and its update, which computes the next state from it, hold references on each other in C.
 * Once nothing in Lua reaches the state, nobody can compile with it: its update is released, which breaks the cycle. */
static void drop_default_update(damo_var *v) {
  damo_var *update = v->default_update;
  v->default_update = NULL;
  damo_release(update);
}

/* Pushes the weak table for that object's address. */
static void push_bucket(lua_State *L, const bind_state *st, const void *obj) {
  const uintptr_t address = (uintptr_t)obj;
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_objects[(address >> 4 ^ address >> 12) % BIND_BUCKETS]);
}

/* Releases the box's object. */
static void drop_box(bind_box *box) {
  damo_obj *obj = box->obj;
  if (!obj) return;
  box->obj = NULL;
  if (box->kind == OBJ_VAR) drop_default_update((damo_var *)obj);
  damo_release(obj);
}

/* Removes the box's entry from the weak table, if it is still its own. Never raises. */
static void unlist_box(lua_State *L, const bind_box *box) {
  push_bucket(L, box->state, box->obj);
  lua_rawgetp(L, -1, box->obj);
  const bool own = lua_touserdata(L, -1) == (const void *)box;
  lua_pop(L, 1);
  if (own) {
    lua_pushnil(L);
    lua_rawsetp(L, -2, box->obj); /* assigning to an existing key does not allocate */
  }
  lua_pop(L, 1);
}

static void link_box(bind_state *st, bind_box *box) {
  box->after = st->boxes;
  if (st->boxes) st->boxes->before = box;
  st->boxes = box;
  st->gc.made++;
  st->n_made++;
}

static void unlink_box(bind_state *st, bind_box *box) {
  if (box->before) box->before->after = box->after;
  if (box->after) box->after->before = box->before;
  if (st->boxes == box) st->boxes = box->after;
  if (st->gc.newest == box) st->gc.newest = box->after;
}

static int box_gc(lua_State *L) {
  bind_box *box = bind_box_at(L, 1);
  if (!box) return 0;
  drop_box(box); /* Lua has taken it out of the weak table before */
  if (!box->state->closed) unlink_box(box->state, box);
  return 0;
}

void bind_drop_boxes(bind_state *st) {
  for (bind_box *box = st->boxes; box; box = box->after) {
    damo_obj *obj = box->obj;
    box->obj = NULL;
    if (obj && box->kind == OBJ_VAR) drop_default_update((damo_var *)obj);
    damo_release(obj);
  }
  st->boxes = NULL;
}

void bind_free(lua_State *L, int idx) {
  bind_box *box = bind_box_at(L, idx);
  if (!box || !box->obj) return;
  if (!box->state->closed) unlist_box(L, box);
  drop_box(box);
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

static bool object_is_generic(const damo_obj *value) { return value && value->kind == OBJ_GENERIC; }

damo_obj *bind_array_owner(const damo_array *a) {
  if (!a->buf || !a->buf->release) return NULL;
  return a->buf->release == bind_release_owner ? a->buf->owner : bind_view_keeper(a);
}

static bool sparse_is_foreign(const damo_sparse *m) {
  return bind_array_owner(m->data) || bind_array_owner(m->indices) || bind_array_owner(m->indptr);
}

static damo_obj *value_anchor(damo_obj *value) {
  if (object_is_generic(value)) return value;
  if (value && value->kind == OBJ_SPARSE) return sparse_is_foreign((damo_sparse *)value) ? value : NULL;
  return value && value->kind == OBJ_ARRAY && bind_array_owner((damo_array *)value) ? value : NULL;
}

/* Properties nest a few levels at most (PROP_MAX_NESTING in prop.c), which bounds the recursion. */
static bool anchor_props_have_op(const prop_value *props, int n) {
  for (int i = 0; i < n; i++) {
    if (props[i].kind == PROP_OP) return true;
    if (props[i].kind == PROP_LIST && anchor_props_have_op(props[i].u.list, props[i].n)) return true;
  }
  return false;
}

/* Whether the Op may have a Lua part: a class written in Lua, or Ops among its properties. */
static bool anchor_op_has_lua(const damo_op *op) { return op->owner || anchor_props_have_op(op->props, op->n_props); }

bool bind_have_lua_parts(const ptrvec *nodes) {
  for (int64_t k = 0; k < nodes->n; k++) {
    const damo_apply *node = nodes->at[k];
    if (anchor_op_has_lua(node->op)) return true;
    for (int i = 0; i < node->n_in; i++) {
      if (value_anchor(node->in[i]->value)) return true;
    }
  }
  return false;
}

/* Whether the object has no neighbours to anchor: its userdata is complete as soon as it is made. */
static bool object_is_leaf(const damo_obj *obj) {
  const damo_var *v = (const damo_var *)obj;
  switch ((obj_kind)obj->kind) {
    case OBJ_ARRAY: return !bind_array_owner((const damo_array *)obj);
    case OBJ_VAR: return !v->owner && !v->default_update && !value_anchor(v->value);
    case OBJ_OP: return !anchor_op_has_lua((const damo_op *)obj);
    case OBJ_APPLY:
    case OBJ_FGRAPH:
    case OBJ_OPGRAPH:
    case OBJ_SCAN:
    case OBJ_RUN:
    case OBJ_LINKED:
    case OBJ_FUNCTION: return false;
    case OBJ_SPARSE: return !sparse_is_foreign((const damo_sparse *)obj);
    case OBJ_BUFFER:
    case OBJ_TYPE:
    case OBJ_TRACE:
    case OBJ_OPCLASS:
    case OBJ_GENERIC:
    case OBJ_FACTOR:
    case OBJ_PATTERN:
    case OBJ_N_KINDS: break;
  }
  return true;
}

/* ---- Wrapping ---------------------------------------------------------------------------------------------------- */

static bool push_existing(lua_State *L, bind_state *st, const damo_obj *obj) {
  push_bucket(L, st, obj);
  lua_rawgetp(L, -1, obj);
  lua_remove(L, -2);
  bind_box *box = lua_touserdata(L, -1);
  if (box && box->obj == obj) return true;
  lua_pop(L, 1);
  return false;
}

bool bind_push_existing(lua_State *L, const void *obj) { return push_existing(L, bind_get(L), obj); }

int bind_hold(bind_state *st, void *obj) {
  if (st->n_orphans == (int)(sizeof st->orphans / sizeof st->orphans[0])) return -1; /* none left: a raise would leak */
  st->orphans[st->n_orphans] = obj;
  return st->n_orphans++;
}

void bind_let_go(bind_state *st, int ticket) {
  if (ticket < 0) return;
  st->orphans[ticket] = NULL;
  while (st->n_orphans > 0 && !st->orphans[st->n_orphans - 1]) st->n_orphans--;
}

/* ---- Fresh graphs ------------------------------------------------------------------------------------------------- */

/* A graph without Lua parts that the core has made at once, read from a file or differentiated, needs no userdata for its
 * nodes until a script asks for one of them: only its roots (of a file inputs, outputs, shared Variables; the gradients)
 * have userdata, each of which keeps all the others alive, and those of the older graph that the new one uses. When the
 * first other object gets a userdata, the roots are anchored as any userdata are. What belongs to the graph is told by
 * its number, since its Variables and nodes are numbered one after the other. The registry has, in the order of
 * st->fresh, the list of roots, weakly. */
static const char fresh_key = 'l';

static void push_fresh_lists(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &fresh_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &fresh_key);
}

/* Removes entry i; the table of lists is at the top. The last entry takes its place. */
static void drop_fresh(lua_State *L, bind_state *st, int i) {
  const int last = --st->n_fresh;
  st->fresh[i] = st->fresh[last];
  lua_rawgeti(L, -1, last + 1);
  lua_rawseti(L, -2, i + 1);
  lua_pushnil(L);
  lua_rawseti(L, -2, last + 1);
}

/* Puts the roots of entry i into the pending list, and removes the entry. */
static void wake_fresh(lua_State *L, bind_state *st, int i) {
  BIND_HEIGHT(L);
  luaL_checkstack(L, 12, "damo");
  push_fresh_lists(L);
  lua_rawgeti(L, -1, i + 1);
  const int roots = lua_gettop(L), n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_pending);
  for (int k = 1; k <= n; k++) {
    lua_rawgeti(L, roots, k);
    bind_peer(L, -1);
    lua_pushnil(L);
    lua_setfield(L, -2, "fresh");
    lua_pop(L, 1);
    lua_rawseti(L, -2, st->n_pending + 1);
    st->n_pending++;
  }
  lua_pop(L, 2);
  drop_fresh(L, st, i);
  lua_pop(L, 1);
  BIND_LEAVES(L, 0);
}

/* To be called before obj gets a userdata. */
static void look_for_fresh(lua_State *L, bind_state *st, const damo_obj *obj) {
  if (obj->kind != OBJ_VAR && obj->kind != OBJ_APPLY) return;
  const uint64_t id = obj->kind == OBJ_VAR ? ((const damo_var *)obj)->id : ((const damo_apply *)obj)->id;
  for (int i = 0; i < st->n_fresh; i++) {
    if (id < st->fresh[i].first || id >= st->fresh[i].end) continue;
    wake_fresh(L, st, i);
    return;
  }
}

/* Pushes a new userdata that takes the reference, and enters it in the weak table. If it is no leaf it goes into the
 * pending list, for its neighbours. */
static void object_push_box(lua_State *L, bind_state *st, damo_obj *take_obj, bool leaf) {
  BIND_HEIGHT(L);
  int ticket = bind_hold(st, take_obj);
  if (st->n_fresh > 0) look_for_fresh(L, st, take_obj);
  bind_box *box = lua_newuserdatauv(L, sizeof *box, take_obj->kind == OBJ_ARRAY && leaf ? 0 : 1);
  *box = (bind_box){.obj = take_obj, .magic = &box_magic, .state = st, .kind = take_obj->kind};
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_metatable[take_obj->kind]);
  lua_setmetatable(L, -2);
  link_box(st, box);
  bind_let_go(st, ticket);
  if (!leaf) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_pending);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, st->n_pending + 1);
    lua_pop(L, 1);
    st->n_pending++;
  }
  push_bucket(L, st, take_obj);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, take_obj);
  lua_pop(L, 1);
  BIND_LEAVES(L, 1);
}

/* Pushes the userdata of a neighbour; a new one goes into the pending list unless it is a leaf. */
static void push_neighbour(lua_State *L, bind_state *st, const void *obj) {
  if (push_existing(L, st, obj)) return;
  damo_obj *o = damo_retain(obj);
  object_push_box(L, st, o, object_is_leaf(o));
}

/* The table at the top of the stack in which neighbours are collected, and their number so far. */
typedef struct anchors {
  lua_State *L;
  bind_state *st;
  int n;
} anchors;

static void anchor(anchors *a, const void *obj) {
  if (!obj) return;
  push_neighbour(a->L, a->st, obj);
  lua_rawseti(a->L, -2, ++a->n);
}

static void anchor_all(anchors *a, void *const *objs, int64_t n) {
  for (int64_t i = 0; i < n; i++) anchor(a, objs[i]);
}

static void anchor_var(anchors *a, const damo_var *v) {
  anchor(a, v->owner);
  anchor(a, v->default_update);
  anchor(a, value_anchor(v->value));
}

static void anchor_apply(anchors *a, const damo_apply *node) {
  if (anchor_op_has_lua(node->op)) anchor(a, node->op);
  anchor_all(a, (void *const *)node->in, node->n_in);
  anchor_all(a, (void *const *)node->out, node->n_out);
}

static void anchor_props(anchors *a, const prop_value *props, int n) {
  for (int i = 0; i < n; i++) {
    if (props[i].kind == PROP_OP) anchor(a, props[i].u.op);
    if (props[i].kind == PROP_LIST) anchor_props(a, props[i].u.list, props[i].n);
  }
}

static void anchor_op(anchors *a, const damo_op *op) {
  anchor(a, op->owner);
  anchor_props(a, op->props, op->n_props);
}

static void anchor_fgraph(anchors *a, const damo_fgraph *fg) {
  anchor_all(a, fg->inputs.at, fg->inputs.n);
  anchor_all(a, fg->outputs.at, fg->outputs.n);
  for (size_t i = 0; i < fg->nodes.cap; i++) {
    uintptr_t key = fg->nodes.cells[i].key;
    if (key) anchor(a, (void *)key);
  }
}

static void anchor_function(anchors *a, const damo_function *f) {
  const vm_program *plan = &f->program->vm;
  const bool own = f->program->ctx == f->obj.ctx; /* no Op of another context has Lua parts */
  for (int64_t i = 0; own && i < plan->n_thunks; i++) {
    const damo_apply *node = plan->thunks[i]->node;
    if (node && anchor_op_has_lua(node->op)) anchor(a, node->op);
  }
  for (int64_t i = 0; f->frame.block && i < plan->n_cells; i++) anchor(a, value_anchor(f->frame.frame.cells[i]));
  for (int64_t i = 0; i < f->program->n_inputs; i++) anchor(a, value_anchor(f->defaults[i]));
  for (int64_t i = 0; i < f->program->n_shared; i++) anchor(a, function_shared_var(f, i));
}

/* The neighbours of an OpFromGraph's class. */
static void anchor_op_graph(anchors *a, const op_from_graph *g) {
  anchor(a, g->fgraph);
  anchor(a, g->lop_op);
  anchor(a, g->rop_op);
  anchor_all(a, (void *const *)g->shared, g->n_in - g->n_given);
}

static void anchor_sparse(anchors *a, const damo_sparse *m) {
  anchor(a, bind_array_owner(m->data));
  anchor(a, bind_array_owner(m->indices));
  anchor(a, bind_array_owner(m->indptr));
}

static void anchor_neighbours(anchors *a, damo_obj *obj) {
  switch ((obj_kind)obj->kind) {
    case OBJ_ARRAY: anchor(a, bind_array_owner((damo_array *)obj)); break;
    case OBJ_VAR: anchor_var(a, (damo_var *)obj); break;
    case OBJ_APPLY: anchor_apply(a, (damo_apply *)obj); break;
    case OBJ_OP: anchor_op(a, (damo_op *)obj); break;
    case OBJ_FGRAPH: anchor_fgraph(a, (damo_fgraph *)obj); break;
    case OBJ_FUNCTION: anchor_function(a, (damo_function *)obj); break;
    case OBJ_OPGRAPH: anchor_op_graph(a, (op_from_graph *)obj); break;
    case OBJ_SCAN: anchor(a, ((scan_class *)obj)->fgraph); break;
    case OBJ_LINKED: anchor(a, export_linked_from(obj)); break;
    case OBJ_SPARSE: anchor_sparse(a, (damo_sparse *)obj); break;
    case OBJ_BUFFER:
    case OBJ_TYPE:
    case OBJ_TRACE:
    case OBJ_OPCLASS:
    case OBJ_GENERIC:
    case OBJ_FACTOR:
    case OBJ_PATTERN:
    case OBJ_RUN: /* lua/function/run.c gives it its neighbours */
    case OBJ_N_KINDS: break;
  }
}

/* Pushes the peer table of the userdata at idx (absolute), made for n neighbours if there is none. */
static void push_peer(lua_State *L, int idx, int n) {
  lua_getiuservalue(L, idx, 1);
  if (lua_istable(L, -1)) return;
  lua_createtable(L, n, 0);
  lua_insert(L, -2);
  if (lua_isuserdata(L, -1)) {
    lua_rawseti(L, -2, 1);
  } else {
    lua_pop(L, 1);
  }
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, idx, 1);
}

static int peer_size(const damo_obj *obj) {
  const damo_apply *node = (const damo_apply *)obj;
  if (obj->kind == OBJ_APPLY) return node->n_in + node->n_out + (anchor_op_has_lua(node->op) ? 1 : 0);
  return 1;
}

/* Anchors the neighbours of the userdata at the top, which stays. */
static void anchor_top(lua_State *L, bind_state *st) {
  int idx = lua_gettop(L);
  bind_box *box = lua_touserdata(L, idx);
  if (!box->obj) return;
  const damo_var *v = (const damo_var *)box->obj;
  if (box->kind == OBJ_VAR && v->owner && !v->default_update && !COMPAT_UV_TABLE) {
    lua_getiuservalue(L, idx, 1);
    bool bare = !lua_istable(L, -1);
    lua_pop(L, 1);
    if (bare) { /* the common case by far: the owner itself, no table */
      push_neighbour(L, st, v->owner);
      lua_setiuservalue(L, idx, 1);
      return;
    }
  }
  push_peer(L, idx, peer_size(box->obj));
  anchors a = {.L = L, .st = st};
  anchor_neighbours(&a, box->obj);
  int had = (int)lua_rawlen(L, -1);
  for (int i = had; i > a.n; i--) {
    lua_pushnil(L);
    lua_rawseti(L, -2, i);
  }
  lua_pop(L, 1);
}

/* Removes entry `at` from the pending list at the top, if it still is that userdata: the last entry takes its place. */
static void drop_pending(lua_State *L, bind_state *st, int at, const void *ud) {
  if (at > st->n_pending) return;
  lua_rawgeti(L, -1, at);
  bool same = lua_touserdata(L, -1) == ud;
  lua_pop(L, 1);
  if (!same) return;
  lua_rawgeti(L, -1, st->n_pending);
  lua_rawseti(L, -2, at);
  lua_pushnil(L);
  lua_rawseti(L, -2, st->n_pending);
  st->n_pending--;
}

/* Anchors the userdata in the pending list until it is empty. A finalizer that runs meanwhile may do the same, so each
 * step reads the list anew. */
static void anchors_drain(lua_State *L, bind_state *st) {
  BIND_HEIGHT(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_pending);
  while (st->n_pending > 0) {
    int at = st->n_pending;
    lua_rawgeti(L, -1, at);
    anchor_top(L, st);
    const void *ud = lua_touserdata(L, -1);
    lua_pop(L, 1);
    drop_pending(L, st, at, ud);
  }
  lua_pop(L, 1);
  BIND_LEAVES(L, 0);
}

void bind_push_result(lua_State *L, bind_state *st, void *take_obj) {
  damo_obj *obj = take_obj;
  if (!obj) {
    lua_pushnil(L);
    return;
  }
  int ticket = bind_hold(st, obj);
  luaL_checkstack(L, 16, "damo");
  if (st->n_pending > 0) anchors_drain(L, st);
  bind_let_go(st, ticket);
  const bool is_new = obj->kind == OBJ_ARRAY && obj->refs == 1; /* a userdata would have a reference too */
  if (!is_new && push_existing(L, st, obj)) {
    damo_release(obj);
    return;
  }
  bool leaf = object_is_leaf(obj);
  object_push_box(L, st, obj, leaf);
  if (!leaf || st->n_pending > 0) anchors_drain(L, st);
}

void bind_push(lua_State *L, void *take_obj) { bind_push_in(L, bind_get(L), take_obj); }

void bind_push_in(lua_State *L, bind_state *st, void *take_obj) {
  bind_push_result(L, st, take_obj);
  if (bind_gc_is_due(st)) bind_gc_pressure(L);
}

void bind_push_borrowed(lua_State *L, const void *obj) { bind_push(L, damo_retain(obj)); }

void bind_peer(lua_State *L, int idx) { push_peer(L, lua_absindex(L, idx), 0); }

void bind_push_fresh(lua_State *L, damo_var *const *roots, int64_t n, uint64_t first, uint64_t end, int keep) {
  bind_state *st = bind_get(L);
  luaL_checkstack(L, 16, "damo");
  push_fresh_lists(L);
  for (int i = st->n_fresh - 1; i >= 0; i--) {
    lua_rawgeti(L, -1, i + 1);
    const bool gone = lua_isnil(L, -1);
    lua_pop(L, 1);
    if (gone) drop_fresh(L, st, i);
  }
  lua_createtable(L, (int)n, 0);
  if (keep != 0) {
    lua_pushvalue(L, keep);
    lua_setfield(L, -2, "older");
  }
  if (st->n_fresh < BIND_MOST_FRESH) {
    int k = 0;
    for (int64_t i = 0; i < n; i++) {
      if (push_existing(L, st, &roots[i]->obj)) {
        lua_pop(L, 1);
        continue;
      }
      object_push_box(L, st, damo_retain(roots[i]), true);
      bind_peer(L, -1);
      lua_pushvalue(L, -3);
      lua_setfield(L, -2, "fresh");
      lua_pop(L, 1);
      lua_rawseti(L, -2, ++k);
    }
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, st->n_fresh + 1);
    st->fresh[st->n_fresh++] = (bind_fresh){first, end};
  }
  lua_remove(L, -2);
}

void bind_reanchor(lua_State *L, int idx) {
  bind_box *box = bind_box_at(L, idx);
  if (!box || !box->obj) return;
  luaL_checkstack(L, 16, "damo");
  lua_pushvalue(L, idx);
  anchor_top(L, box->state);
  lua_pop(L, 1);
  if (box->state->n_pending > 0) anchors_drain(L, box->state);
}

void bind_set_event(lua_State *L, const char *event, lua_CFunction function, const void *key) {
  BIND_HEIGHT(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, key);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, function);
    lua_setfield(L, -2, event);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
  }
  lua_setmetatable(L, -2);
  BIND_LEAVES(L, 0);
}

bind_box *bind_push_lender(lua_State *L) {
  bind_state *st = bind_get(L);
  bind_box *box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = (bind_box){.obj = NULL, .magic = &box_magic, .state = st, .kind = OBJ_ARRAY};
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_metatable[OBJ_ARRAY]);
  lua_setmetatable(L, -2);
  link_box(st, box);
  return box;
}

void bind_release_owner(void *owner) { damo_release(owner); }

/* ---- Metatables -------------------------------------------------------------------------------------------------- */

void bind_metatable(lua_State *L, obj_kind kind) {
  bind_state *st = bind_get(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_metatable[kind]);
}

static int box_tostring(lua_State *L) {
  bind_box *box = bind_box_at(L, 1);
  if (!box) return bind_arg_error(L, "tostring", 1, NULL, "an object of damo");
  if (box->obj && damo_ctx_is_sandbox(box->obj->ctx)) {
    lua_pushstring(L, object_kind_name(box->kind));
  } else {
    lua_pushfstring(L, box->obj ? "%s: %p" : "%s: freed", object_kind_name(box->kind), (void *)box->obj);
  }
  return 1;
}

/* __newindex of kinds whose theme file sets none: their objects have no fields that a script may set. */
static int object_refuse_field(lua_State *L) {
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  bind_note_args(L, 1);
  if (!key) return bind_raise(L, DAMO_ETYPE, "%s: it can't be assigned to", bind_typename(L, 1));
  return bind_raise(L, DAMO_ETYPE, "%s: the field '%s' can't be set", bind_typename(L, 1), key);
}

/* Makes the metatable of each kind; theme files add fields, and may replace __tostring. */
void bind_open_object(lua_State *L) {
  static const luaL_Reg common[] = {
      {"__gc", box_gc}, {"__tostring", box_tostring}, {"__newindex", object_refuse_field}, {NULL, NULL}};
  bind_state *st = bind_get(L);
  for (int kind = 0; kind < OBJ_N_KINDS; kind++) {
    if (!METATABLE_NAMES[kind]) continue;
    lua_createtable(L, 0, 8);
    luaL_setfuncs(L, common, 0);
    lua_pushstring(L, METATABLE_NAMES[kind]);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__name");
    lua_setfield(L, -2, "__metatable"); /* getmetatable returns the name: no script can call __gc */
    st->ref_metatable[kind] = luaL_ref(L, LUA_REGISTRYINDEX);
  }
}
