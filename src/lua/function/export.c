/* export: f:export_c{name=, dir=, shapes=, dtype=}. */
#include "export/export.h"
#include "function.h"

#include <string.h>

typedef struct export_shapes {
  const int64_t **shape;
  int *ndim;
  int64_t *lengths;
} export_shapes;

static int64_t export_length(lua_State *L, int64_t input, int axis) {
  const lua_Number x = lua_tonumber(L, -1);
  if (lua_type(L, -1) != LUA_TNUMBER || x < 0 || x > 9e15 || x != (lua_Number)(int64_t)x)
    bind_raise(L, DAMO_EVALUE, "export_c: the length of axis %d of shapes[%d] must be an integer that is not negative",
               axis, (int)input);
  return (int64_t)x;
}

/* Reads the list at the top, one list of lengths an input. The memory is the stack's. */
static void read_shapes(lua_State *L, int64_t n, export_shapes *out) {
  const int idx = lua_gettop(L);
  const size_t per = sizeof *out->shape + sizeof *out->ndim + DAMO_MAX_NDIM * sizeof *out->lengths;
  if (!lua_istable(L, idx) || (int64_t)lua_rawlen(L, idx) != n)
    bind_raise(L, DAMO_EVALUE, "export_c: shapes must be a list of %d shapes, one for each input", (int)n);
  char *memory = lua_newuserdatauv(L, per * (size_t)(n + 1), 0);
  out->lengths = (int64_t *)(void *)memory;
  out->shape = (const int64_t **)(void *)(memory + (size_t)(n + 1) * DAMO_MAX_NDIM * sizeof *out->lengths);
  out->ndim = (int *)(void *)(out->shape + n + 1);
  for (int64_t i = 0; i < n; i++) {
    lua_rawgeti(L, idx, (int)i + 1);
    out->shape[i] = NULL;
    if (lua_istable(L, -1)) {
      const int ndim = (int)lua_rawlen(L, -1);
      int64_t *lengths = out->lengths + i * DAMO_MAX_NDIM;
      if (ndim > DAMO_MAX_NDIM) bind_raise(L, DAMO_EVALUE, "export_c: shapes[%d] has too many entries", (int)i + 1);
      for (int k = 0; k < ndim; k++) {
        lua_rawgeti(L, -1, k + 1);
        lengths[k] = export_length(L, i + 1, k + 1);
        lua_pop(L, 1);
      }
      out->shape[i] = lengths;
      out->ndim[i] = ndim;
    } else if (lua_toboolean(L, -1)) {
      bind_raise(L, DAMO_EVALUE, "export_c: shapes[%d] must be a list of lengths", (int)i + 1);
    }
    lua_pop(L, 1);
  }
}

int bind_function_export_c(lua_State *L) {
  static const char *const names[] = {"name", "dir", "shapes", "dtype", NULL};
  damo_function *f = bind_function_self(L, "export_c");
  export_options o = {.dir = "."};
  export_shapes shapes = {0};
  bool has_data = false;
  lua_settop(L, 2);
  if (!lua_istable(L, 2)) return bind_arg_error(L, "export_c", 2, "options", "a table with a name");
  bind_check_options(L, "export_c", 2, names);
  lua_getfield(L, 2, "name");
  if (lua_type(L, -1) != LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "export_c: name must be a string");
  o.name = lua_tostring(L, -1);
  if (strlen(o.name) != lua_rawlen(L, -1)) bind_raise(L, DAMO_EVALUE, "export_c: the name has a zero byte");
  lua_getfield(L, 2, "dir");
  if (!lua_isnil(L, -1)) {
    if (lua_type(L, -1) != LUA_TSTRING || strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
      bind_raise(L, DAMO_ETYPE, "export_c: dir must be a string");
    o.dir = lua_tostring(L, -1);
  }
  lua_getfield(L, 2, "dtype");
  if (!lua_isnil(L, -1)) {
    const damo_dtype dtype = bind_check_dtype(L, lua_gettop(L), "export_c");
    if (dtype != DAMO_FLOAT32 && dtype != DAMO_FLOAT64)
      bind_raise(L, DAMO_EVALUE, "export_c: dtype is float32 or float64");
    o.single = dtype == DAMO_FLOAT32;
  }
  lua_getfield(L, 2, "shapes");
  if (!lua_isnil(L, -1)) {
    read_shapes(L, f->program->n_inputs, &shapes);
    o.shapes = shapes.shape;
    o.ndims = shapes.ndim;
    o.n_shapes = f->program->n_inputs;
  }
  bind_check(L, export_files(f, &o, &has_data));
  return 0;
}
