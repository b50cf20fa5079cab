/* check_test: for each sparse class, DEBUG mode notices a broken result by the class's own check (graph/op_check.h).
 * Results are always broken in the same way, so that running twice and comparing would not notice. The graphs are those
 * of spec/sparse/class_graphs.lua; a class fails that has no graph there, or neither a check nor a reason for having
 * none. Run from the root of the tree. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "api/api.h"
#include "damo.h"
#include "graph/op_check.h"
#include "watch/watch_int.h"
#include "op/op.h"
#include "test.h"

/* ---- Broken results ---------------------------------------------------------------------------------------------- */

static struct {
  char op[64];
  int output; /* 0-based */
  bool index; /* break an index of a sparse matrix, else every value */
  int n;      /* results broken so far */
} broken;

static void add_one(damo_array *a) {
  int64_t index[DAMO_MAX_NDIM] = {0};
  for (int64_t k = array_size(a); k > 0; k--) {
    scalar s = array_get(a, index);
    if (s.dtype == DAMO_BOOL) {
      s.v.i = !s.v.i;
    } else if (dtype_is_discrete(s.dtype)) {
      s.v.i++;
    } else if (dtype_is_complex(s.dtype)) {
      s.v.c.re++;
    } else {
      s.v.f++;
    }
    array_set(a, index, s);
    for (int d = a->ndim - 1; d >= 0 && ++index[d] == array_shape(a)[d]; d--) index[d] = 0;
  }
}

/* An empty matrix gets a diagonal. */
static damo_obj *broken_matrix(const damo_sparse *m) {
  if (sparse_nnz(m) == 0) {
    damo_sparse *eye = sparse_eye(m->obj.ctx, m->shape[0], m->shape[1], 0, sparse_dtype(m), sparse_format(m));
    damo_sparse *out = eye != NULL ? sparse_to_itype(eye, sparse_itype(m)) : NULL;
    damo_release(eye);
    return (damo_obj *)out;
  }
  if (!broken.index) {
    damo_array *data = array_copy(m->data);
    add_one(data);
    damo_sparse *out = sparse_with_data(m, data);
    damo_release(data);
    return &out->obj;
  }
  damo_sparse *out = sparse_copy(m);
  damo_array *indices = array_copy(m->indices);
  const int64_t last = sparse_nnz(m) - 1;
  scalar at = array_get(indices, &last);
  at.v.i = at.v.i > 0 ? at.v.i - 1 : at.v.i + 1;
  array_set(indices, &last, at);
  damo_release(out->indices);
  out->indices = indices;
  out->sorted = out->unique = false;
  return &out->obj;
}

/* The factor of the doubled matrix. */
static damo_obj *broken_factor(damo_factor *f, const damo_sparse *a) {
  damo_array *data = array_cast(a->data, factor_get_info(f).dtype);
  for (int64_t k = 0; k < array_size(data); k++) {
    scalar s = array_get(data, &k);
    if (dtype_is_complex(s.dtype)) s.v.c = (damo_c128){2 * s.v.c.re, 2 * s.v.c.im};
    if (!dtype_is_complex(s.dtype)) s.v.f *= 2;
    array_set(data, &k, s);
  }
  damo_sparse *twice = sparse_with_data(a, data);
  damo_factor *out =
      factor_get_info(f).least_squares ? factor_new_least_squares(twice) : factor_new(twice, FACTOR_ASSUME_NONE);
  damo_release(data);
  damo_release(twice);
  return (damo_obj *)out;
}

/* Replaces the computed result, which may be a view, by a broken copy. */
static damo_status broken_run(const thunk *t, frame *f) {
  DAMO_TRY(thunk_run(t, f));
  const op_def *def = t->node->op->def;
  if (thunk_n_need(t, f) > 0 || def->foreign || strcmp(def->name, broken.op) != 0 || broken.output >= t->n_out)
    return DAMO_OK;
  damo_obj *v = thunk_result(t, f, broken.output), *out = NULL;
  if (v->kind == OBJ_SPARSE) out = broken_matrix((damo_sparse *)v);
  if (v->kind == OBJ_ARRAY && !broken.index && array_size((damo_array *)v) > 0) {
    out = (damo_obj *)array_copy((damo_array *)v);
    add_one((damo_array *)out);
  }
  if (type_is_factor(t->node->out[broken.output]->type) && !broken.index)
    out = broken_factor((damo_factor *)v, (damo_sparse *)thunk_in(t, f, 0));
  if (out == NULL) return damo_error_status(f->ctx);
  broken.n++;
  thunk_set_out(t, f, broken.output, out);
  return DAMO_OK;
}

static damo_status broken_step(vm_frame *vf, const thunk *t) { return debug_step_by(vf, t, broken_run); }

/* ---- What the script calls --------------------------------------------------------------------------------------- */

/* break_class(name, output, index): from now on this output (1-based) of nodes of the class is broken; an empty name:
 * of none. Returns the number of results broken since the last call. */
static int break_class(lua_State *L) {
  const int n = broken.n;
  snprintf(broken.op, sizeof broken.op, "%s", luaL_checkstring(L, 1));
  broken.output = (int)luaL_optinteger(L, 2, 1) - 1;
  broken.index = lua_toboolean(L, 3);
  broken.n = 0;
  lua_pushinteger(L, n);
  return 1;
}

/* check(ok, message) */
static int check_script(lua_State *L) {
  test_report(lua_toboolean(L, 1), __FILE__, __LINE__, luaL_checkstring(L, 2));
  return 0;
}

static const char script[] =
    "local graphs = require 'spec.sparse.class_graphs'\n"
    "local seen, unpack = {}, table.unpack or unpack\n"
    "local function n_out(f, class)\n"
    "  local n = 0\n"
    "  for _, node in ipairs(f.fgraph.apply_nodes) do\n"
    "    if node.op.name == class then n = math.max(n, #node.outputs) end\n"
    "  end\n"
    "  return n\n"
    "end\n"
    "local function run(row, output, index)\n"
    "  local f, class = graphs.compile(row), row[1]\n"
    "  break_class(class, output, index)\n"
    "  local ok, err = pcall(f, unpack(graphs.values))\n"
    "  local n = break_class ''\n"
    "  local what = ('%s, %s of output %d: '):format(class, index and 'an index' or 'values', output)\n"
    "  if index and n == 0 then return end\n"
    "  check(n > 0, what .. 'nothing was broken')\n"
    "  if ok then return check(false, what .. 'DEBUG says nothing') end\n"
    "  local text = tostring(type(err) == 'table' and err.message or err)\n"
    "  check(err.kind == 'inconsistency' and text:find('DEBUG: output', 1, true) and not text:find 'when the node "
    "runs',\n"
    "    what .. text)\n"
    "  check(err.op == class, what .. 'said of ' .. tostring(err.op))\n"
    "end\n"
    "for _, row in ipairs(graphs.rows) do\n"
    "  seen[row[1]] = true\n"
    "  for output = 1, n_out(graphs.compile(row), row[1]) do\n"
    "    run(row, output, false)\n"
    "    run(row, output, true)\n"
    "  end\n"
    "end\n"
    "return seen\n";

/* ---- The classes ------------------------------------------------------------------------------------------------- */

static void check_class(lua_State *L, const op_def *def) {
  char what[200];
  snprintf(what, sizeof what, "%s: one of a check and a reason for none", def->name);
  test_report((def->check != NULL) != (def->no_check != NULL), __FILE__, __LINE__, what);
  if (def->check == NULL) return;
  lua_getfield(L, -1, def->name);
  snprintf(what, sizeof what, "%s: a graph in spec/sparse/class_graphs.lua", def->name);
  test_report(lua_toboolean(L, -1), __FILE__, __LINE__, what);
  lua_pop(L, 1);
}

int main(void) {
  static fn_watcher broken_debug;
  static const fn_watcher *watchers[] = {&broken_debug, &nanguard_watcher, NULL};
  broken_debug = debug_watcher;
  broken_debug.step = broken_step;
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  lua_State *L = luaL_newstate();
  if (!CHECK(ctx != NULL && L != NULL)) TEST_MAIN_END;
  ctx->slots[CTX_WATCHERS].data = watchers;
  luaL_openlibs(L);
  CHECK_EQ_I(damo_lua_set_context(L, ctx), DAMO_OK);
  lua_register(L, "break_class", break_class);
  lua_register(L, "check", check_script);
  lua_getglobal(L, "package");
  lua_pushliteral(L, "lua/?.lua;lua/?/init.lua;?.lua");
  lua_setfield(L, -2, "path");
  lua_getfield(L, -1, "preload");
  lua_pushcfunction(L, luaopen_damo_core);
  lua_setfield(L, -2, "damo.core");
  lua_settop(L, 0);
  if (!CHECK(luaL_loadstring(L, script) == LUA_OK && lua_pcall(L, 0, 1, 0) == LUA_OK)) {
    fprintf(stderr, "    %s\n", luaL_tolstring(L, -1, NULL));
    TEST_MAIN_END;
  }
  for (const op_def *const *const *family = sparse_classes; *family != NULL; family++) {
    for (const op_def *const *def = *family; *def != NULL; def++) check_class(L, *def);
  }
  lua_close(L);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
