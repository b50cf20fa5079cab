rockspec_format = "3.0"
package = "damo-mpi"
version = "scm-1"
source = {
  -- Build from a checkout: luarocks make rocks/damo-mpi-scm-1.rockspec
  url = "git+file://.",
}
description = {
  summary = "damo over MPI: collectives with gradients, data-parallel training, sparse systems by PETSc and SLEPc",
  detailed = [[
    Programs of damo that outgrow one machine: every rank runs the same script, and what the ranks exchange is a part of
    their graphs. It needs a C compiler, GNU make, pkg-config and an MPI (Debian: libopenmpi-dev openmpi-bin). Sparse
    systems need PETSc and SLEPc (Debian: petsc-dev slepc-dev); without these two it is built without sparse systems,
    and PETSC=0 leaves them out.
  ]],
  license = "MIT",
  labels = { "math", "mpi", "parallel", "machine-learning", "linear-algebra" },
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.5", "damo" }
build = {
  type = "make",
  makefile = "mpi/Makefile",
  build_target = "rock",
  install_target = "install",
  build_variables = {
    CC = "$(CC)",
    ROCK_CFLAGS = "$(CFLAGS)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    WERROR = "",
  },
  install_variables = {
    CC = "$(CC)",
    ROCK_CFLAGS = "$(CFLAGS)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    WERROR = "",
    LUADIR = "$(LUADIR)",
    LIBDIR = "$(LIBDIR)",
  },
}
