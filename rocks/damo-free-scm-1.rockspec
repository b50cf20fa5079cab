rockspec_format = "3.0"
package = "damo-free"
version = "scm-1"
source = {
  -- Build from a checkout: luarocks make rocks/damo-free-scm-1.rockspec
  url = "git+file://.",
}
description = {
  summary = "Numerical engine of graphs and gradients with dense and sparse arrays, in C, scripted from Lua",
  detailed = [[
    damo builds a graph of Variables and Ops in Lua, takes gradients, and compiles the graph to a Function whose calls
    run on native thunks. It needs a C compiler, GNU make, OpenBLAS, SLEEF, SuiteSparse and zlib (Debian: libopenblas-dev
    libsleef-dev libsuitesparse-dev zlib1g-dev). OPENBLAS_DIR and the like name other places: docs/install.md.
    This rock holds no GPL code and can be shipped in a closed product; the rock "damo" adds solvers under the GPL.
  ]],
  license = "MIT",
  labels = { "math", "machine-learning", "linear-algebra", "sparse" },
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.5" }
external_dependencies = {
  OPENBLAS = { library = "openblas" },
  SLEEF = { library = "sleef" },
  ZLIB = { header = "zlib.h", library = "z" },
  KLU = { header = "suitesparse/klu.h", library = "klu" },
  CXSPARSE = { header = "suitesparse/cs.h", library = "cxsparse" },
  LDL = { header = "suitesparse/ldl.h", library = "ldl" },
  AMD = { header = "suitesparse/amd.h", library = "amd" },
}
build = {
  type = "make",
  build_target = "rock-all",
  install_target = "install-lua",
  build_variables = {
    CC = "$(CC)",
    -- Not CFLAGS: the Makefile knows which files want -O3 and which instruction sets.
    ROCK_CFLAGS = "$(CFLAGS)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    GPL = "0",
    WERROR = "",
    OPENBLAS_INCDIR = "$(OPENBLAS_INCDIR)",
    OPENBLAS_LIBDIR = "$(OPENBLAS_LIBDIR)",
    SLEEF_INCDIR = "$(SLEEF_INCDIR)",
    SLEEF_LIBDIR = "$(SLEEF_LIBDIR)",
    ZLIB_INCDIR = "$(ZLIB_INCDIR)",
    ZLIB_LIBDIR = "$(ZLIB_LIBDIR)",
    KLU_INCDIR = "$(KLU_INCDIR)",
    KLU_LIBDIR = "$(KLU_LIBDIR)",
    CXSPARSE_INCDIR = "$(CXSPARSE_INCDIR)",
    CXSPARSE_LIBDIR = "$(CXSPARSE_LIBDIR)",
    LDL_INCDIR = "$(LDL_INCDIR)",
    LDL_LIBDIR = "$(LDL_LIBDIR)",
    AMD_INCDIR = "$(AMD_INCDIR)",
    AMD_LIBDIR = "$(AMD_LIBDIR)",
  },
  install_variables = {
    CC = "$(CC)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    GPL = "0",
    WERROR = "",
    LUADIR = "$(LUADIR)",
    LIBDIR = "$(LIBDIR)",
    OPENBLAS_INCDIR = "$(OPENBLAS_INCDIR)",
    OPENBLAS_LIBDIR = "$(OPENBLAS_LIBDIR)",
    SLEEF_INCDIR = "$(SLEEF_INCDIR)",
    SLEEF_LIBDIR = "$(SLEEF_LIBDIR)",
    ZLIB_INCDIR = "$(ZLIB_INCDIR)",
    ZLIB_LIBDIR = "$(ZLIB_LIBDIR)",
    KLU_INCDIR = "$(KLU_INCDIR)",
    KLU_LIBDIR = "$(KLU_LIBDIR)",
    CXSPARSE_INCDIR = "$(CXSPARSE_INCDIR)",
    CXSPARSE_LIBDIR = "$(CXSPARSE_LIBDIR)",
    LDL_INCDIR = "$(LDL_INCDIR)",
    LDL_LIBDIR = "$(LDL_LIBDIR)",
    AMD_INCDIR = "$(AMD_INCDIR)",
    AMD_LIBDIR = "$(AMD_LIBDIR)",
  },
  install = { bin = { "lua/bin/damo" } },
}
test = {
  type = "command",
  script = "spec/installed.lua",
}
