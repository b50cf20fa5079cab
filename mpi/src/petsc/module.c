/* module.c: the Lua module damo.mpi.petsc: its Op classes in the state's context, and matrices that hold values. */
#include "layout.h"
#include "node.h"
#include "ops.h"

#define LIBRARY_REGISTRY_KEY "damo.mpi.petsc"
#define MATRIX_METATABLE "damo.mpi.petsc.matrix"

static library *library_of(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LIBRARY_REGISTRY_KEY);
  library *lib = (library *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return lib;
}

static int raise_unless(lua_State *L, damo_status s) { return s == DAMO_OK ? 0 : damo_lua_raise(L); }

static damo_array *array_at(lua_State *L, int i) { return damo_as_array(damo_lua_get(L, i)); }

/* petsc.start(): starts MPI and PETSc, on all ranks together. */
static int module_start(lua_State *L) { return raise_unless(L, library_start(library_of(L), damo_lua_get_context(L))); }

/* petsc.seq(): the next number in the order of collective nodes. */
static int module_seq(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)node_seq(library_of(L)));
  return 1;
}

/* petsc.reason(code): PETSc's name of why a solver has ended. */
static int module_reason(lua_State *L) {
  lua_pushstring(L, KSPConvergedReasons[(int)luaL_checknumber(L, 1)]);
  return 1;
}

/* petsc.agree(kind, message): without arguments on all ranks nothing happens; else all ranks raise that error. */
static int module_agree(lua_State *L) {
  damo_ctx *ctx = damo_lua_get_context(L);
  library *lib = library_of(L);
  const char *kind = lua_tostring(L, 1), *message = lua_tostring(L, 2);
  damo_status s = library_start(lib, ctx);
  library_doing(lib, "checks arguments");
  if (s == DAMO_OK && kind != NULL) {
    s = damo_fail(ctx, kind[0] == 't' ? DAMO_ETYPE : kind[0] == 's' ? DAMO_ESHAPE : DAMO_EVALUE, message);
  }
  return raise_unless(L, library_agree(lib, ctx, s, NULL));
}

/* ---- Matrices of values ------------------------------------------------------------------------------------------ */

static int matrix_gc(lua_State *L) {
  matrix **box = (matrix **)lua_touserdata(L, 1);
  matrix_drop(*box);
  *box = NULL;
  return 0;
}

static matrix **push_box(lua_State *L) {
  matrix **box = (matrix **)lua_newuserdata(L, sizeof *box);
  *box = NULL;
  luaL_getmetatable(L, MATRIX_METATABLE);
  lua_setmetatable(L, -2);
  return box;
}

/* petsc.matrix(data, indices, indptr, layout): a matrix with these values, on all ranks together. */
static int module_matrix(lua_State *L) {
  damo_ctx *ctx = damo_lua_get_context(L);
  library *lib = library_of(L);
  block b = {0};
  matrix **box = push_box(L);
  damo_status s = library_start(lib, ctx);
  if (s == DAMO_OK) {
    s = block_read(ctx, array_at(L, 1), array_at(L, 2), array_at(L, 3), array_at(L, 4), &b);
    s = matrix_new(lib, ctx, s, &b, box);
  }
  return s == DAMO_OK ? 1 : damo_lua_raise(L);
}

/* matrix:handle(): the number that nodes take. */
static int matrix_get_handle(lua_State *L) {
  matrix **box = (matrix **)luaL_checkudata(L, 1, MATRIX_METATABLE);
  if (*box == NULL) return luaL_error(L, "mpi: the distributed matrix has been freed");
  lua_pushinteger(L, (lua_Integer)matrix_handle(*box));
  return 1;
}

/* petsc.layout(rows, cols, local_cols): from each rank's numbers (cols is that of all, or -1 for a vector): the number of
 * this rank's first row, counted from 0, all rows, first column and number of columns, all columns. */
static int module_layout(lua_State *L) {
  damo_ctx *ctx = damo_lua_get_context(L);
  library *lib = library_of(L);
  layout l;
  damo_status s = library_start(lib, ctx);
  if (s == DAMO_OK) {
    s = layout_agree(lib, ctx, (int64_t)luaL_checknumber(L, 1), (int64_t)luaL_checknumber(L, 2),
                     (int64_t)luaL_checknumber(L, 3), &l);
  }
  if (s != DAMO_OK) return damo_lua_raise(L);
  const int64_t all[] = {l.first_row, l.all_rows, l.first_col, l.cols, l.all_cols};
  for (int i = 0; i < 5; i++) lua_pushinteger(L, (lua_Integer)all[i]);
  return 5;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static void release_library(void *user) { library_release((library *)user); }

static damo_status register_classes(damo_ctx *ctx, library *lib) {
  const damo_op_class *const classes[] = {&matrix_class, &dot_class,  &sample_class,
                                          &solve_class,  &eigs_class, &simple_class};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    damo_op_class c = *classes[i];
    c.user = lib;
    c.destroy = release_library;
    lib->refs++;
    const damo_status s = damo_op_register(ctx, &c);
    if (s != DAMO_OK) return s;
  }
  return DAMO_OK;
}

static void make_library(lua_State *L) {
  library *lib = library_new(world_of(L));
  if (lib == NULL) luaL_error(L, "damo.mpi: out of memory");
  const damo_status s = register_classes(damo_lua_get_context(L), lib);
  if (s == DAMO_OK) {
    lua_pushlightuserdata(L, lib);
    lua_setfield(L, LUA_REGISTRYINDEX, LIBRARY_REGISTRY_KEY);
  }
  library_release(lib); /* the classes hold it */
  if (s != DAMO_OK) damo_lua_raise(L);
}

static void make_metatable(lua_State *L) {
  luaL_newmetatable(L, MATRIX_METATABLE);
  lua_pushcfunction(L, matrix_gc);
  lua_setfield(L, -2, "__gc");
  lua_newtable(L);
  lua_pushcfunction(L, matrix_get_handle);
  lua_setfield(L, -2, "handle");
  lua_pushcfunction(L, matrix_gc);
  lua_setfield(L, -2, "free");
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

DAMO_API int luaopen_damo_mpi_petsc(lua_State *L);
int luaopen_damo_mpi_petsc(lua_State *L) {
  static const luaL_Reg functions[] = {{"start", module_start},
                                       {"seq", module_seq},
                                       {"agree", module_agree},
                                       {"layout", module_layout},
                                       {"matrix", module_matrix},
                                       {"reason", module_reason},
                                       {NULL, NULL}};
  damo_module_open(L);
  if (world_of(L) == NULL) return luaL_error(L, "damo.mpi.petsc: load damo.mpi first");
  if (library_of(L) == NULL) make_library(L);
  make_metatable(L);
  lua_newtable(L);
  for (const luaL_Reg *f = functions; f->name != NULL; f++) {
    lua_pushcfunction(L, f->func);
    lua_setfield(L, -2, f->name);
  }
  return 1;
}
