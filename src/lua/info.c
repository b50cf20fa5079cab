/* info: damo.info(): how this build was made and what it found at run time: version, Lua, BLAS, CPU kernels, libraries.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <stdio.h>

#include <sleef.h>
#include <zlib.h>

#include "binding.h"
#include "compile/compile.h"
#include "jit/jit.h"
#include "sparse/sparse.h"

/* SuiteSparse's libraries have no function that returns their version: these are the versions compiled against. */
#include <suitesparse/amd.h>
#include <suitesparse/btf.h>
#include <suitesparse/colamd.h>
#include <suitesparse/cs.h>
#include <suitesparse/klu.h>
#include <suitesparse/ldl.h>
#if DAMO_GPL
#include <suitesparse/SuiteSparseQR_definitions.h>
#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>
#endif

/* OpenBLAS's; NULL with any other BLAS. */
extern char *openblas_get_config(void) __attribute__((weak));
extern char *openblas_get_corename(void) __attribute__((weak));
extern void cblas_dgemm(void) __attribute__((weak));

static void info_set_text(lua_State *L, const char *field, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, field);
}

/* Sets the file of the BLAS in use: Debian's alternatives may load another one than was linked. */
static void info_set_blas(lua_State *L) {
  Dl_info info;
  union {
    void (*fn)(void);
    void *address;
  } gemm = {.fn = cblas_dgemm};
  bool found = gemm.address && dladdr(gemm.address, &info) && info.dli_fname;
  info_set_text(L, "blas", found ? info.dli_fname : "none");
  info_set_text(L, "core", openblas_get_corename ? openblas_get_corename() : "unknown");
}

/* damo.core.build: the build's id, the file that it was loaded from, and the folder of the Lua files that load it ("": not
 * files). damo/init.lua compares. */
static void info_set_build(lua_State *L) {
  Dl_info info;
  const char *source = bind_get(L)->source;
  lua_createtable(L, 0, 3);
  info_set_text(L, "id", ctx_build_id);
  info_set_text(L, "file", dladdr(ctx_build_id, &info) && info.dli_fname ? info.dli_fname : "damo.core");
  info_set_text(L, "source", source[0] == '@' ? source + 1 : source);
  lua_setfield(L, -2, "build");
}

/* The OpenBLAS core type that fits this CPU if OpenBLAS took it for an older one, else NULL. isa: the name of our
 * kernels. */
static const char *info_better_core(const char *isa, const char *core) {
  static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
  static const char *const middle[] = {"Haswell", "Zen", "Excavator", NULL};
  bool avx512 = strcmp(isa, "avx512") == 0;
  if (!avx512 && strcmp(isa, "avx2") != 0) return NULL;
  for (int i = 0; wide[i]; i++) {
    if (strcmp(wide[i], core) == 0) return NULL;
  }
  for (int i = 0; !avx512 && middle[i]; i++) {
    if (strcmp(middle[i], core) == 0) return NULL;
  }
  return avx512 ? "SkylakeX" : "Haswell";
}

static void info_warn_of_core(damo_ctx *ctx) {
  const char *core = openblas_get_corename ? openblas_get_corename() : NULL;
  const char *better = core ? info_better_core(ctx->isa->name, core) : NULL;
  if (!better) return;
  ctx_warn(ctx, "state",
           "OpenBLAS takes this CPU for the older '%s', which costs speed: set OPENBLAS_CORETYPE=%s in the environment",
           core, better);
}

/* "OpenBLAS 0.3.21 NO_LAPACKE …" → "0.3.21". */
static void info_push_openblas_version(lua_State *L) {
  const char *config = openblas_get_config ? openblas_get_config() : "";
  config += strcspn(config, "0123456789");
  lua_pushlstring(L, config, strcspn(config, " "));
}

/* Adds {version, licence} to the table of libraries; pops the version, which lies above that table. */
static void info_add_library(lua_State *L, const char *name, const char *licence) {
  BIND_HEIGHT(L);
  lua_createtable(L, 0, 2);
  lua_insert(L, -2);
  lua_setfield(L, -2, "version");
  info_set_text(L, "licence", licence);
  bind_set_record(L);
  lua_setfield(L, -2, name);
  BIND_LEAVES(L, -1);
}

typedef struct info_library {
  const char *name;
  int major, minor, patch;
  const char *licence;
} info_library;

static const info_library info_suitesparse[] = {
    {"KLU", KLU_MAIN_VERSION, KLU_SUB_VERSION, KLU_SUBSUB_VERSION, "LGPL-2.1-or-later"},
    {"BTF", BTF_MAIN_VERSION, BTF_SUB_VERSION, BTF_SUBSUB_VERSION, "LGPL-2.1-or-later"},
    {"CXSparse", CS_VER, CS_SUBVER, CS_SUBSUB, "LGPL-2.1-or-later"},
    {"LDL", LDL_MAIN_VERSION, LDL_SUB_VERSION, LDL_SUBSUB_VERSION, "LGPL-2.1-or-later"},
    {"AMD", AMD_MAIN_VERSION, AMD_SUB_VERSION, AMD_SUBSUB_VERSION, "BSD-3-Clause"},
    {"COLAMD", COLAMD_MAIN_VERSION, COLAMD_SUB_VERSION, COLAMD_SUBSUB_VERSION, "BSD-3-Clause"},
#if DAMO_GPL
    {"CHOLMOD", CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION, "GPL-2.0-or-later"},
    {"UMFPACK", UMFPACK_MAIN_VERSION, UMFPACK_SUB_VERSION, UMFPACK_SUBSUB_VERSION, "GPL-2.0-or-later"},
    {"SPQR", SPQR_MAIN_VERSION, SPQR_SUB_VERSION, SPQR_SUBSUB_VERSION, "GPL-2.0-or-later"},
#endif
};

static void info_add_suitesparse(lua_State *L) {
  BIND_HEIGHT(L);
  for (size_t i = 0; i < sizeof info_suitesparse / sizeof *info_suitesparse; i++) {
    const info_library *lib = &info_suitesparse[i];
    lua_pushfstring(L, "%d.%d.%d", lib->major, lib->minor, lib->patch);
    info_add_library(L, lib->name, lib->licence);
  }
  BIND_LEAVES(L, 0);
}

/* Sets the list of factorization back ends, in order of preference. */
static void info_set_backends(lua_State *L) {
  BIND_HEIGHT(L);
  const char *const *names = factor_backends();
  lua_newtable(L);
  for (int i = 0; names[i] != NULL; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
  bind_set_record(L);
  lua_setfield(L, -2, "backends");
  BIND_LEAVES(L, 0);
}

static void info_set_libraries(lua_State *L) {
  BIND_HEIGHT(L);
  lua_newtable(L);
  if (openblas_get_config) {
    info_push_openblas_version(L);
    info_add_library(L, "OpenBLAS", "BSD-3-Clause");
  }
  lua_pushfstring(L, "%d.%d.%d", SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR, SLEEF_VERSION_PATCHLEVEL);
  info_add_library(L, "SLEEF", "BSL-1.0");
  lua_pushstring(L, zlibVersion());
  info_add_library(L, "zlib", "Zlib");
  info_add_suitesparse(L);
  bind_set_record(L);
  lua_setfield(L, -2, "libraries");
  BIND_LEAVES(L, 0);
}

/* Sets what makes machine code, or why nothing does, and the bytes of its pages. */
static void info_set_jit(lua_State *L, damo_ctx *ctx) {
  BIND_HEIGHT(L);
  const char *refusal = jit_refusal(ctx);
  lua_createtable(L, 0, 4);
  lua_pushboolean(L, refusal == NULL);
  lua_setfield(L, -2, "enabled");
  if (refusal != NULL)
    info_set_text(L, "why", refusal);
  else
    info_set_text(L, "target", jit_isa_name());
  lua_pushboolean(L, jit_has_lanes(ctx));
  lua_setfield(L, -2, "loops");
  lua_pushinteger(L, (lua_Integer)jit_pages_bytes(ctx));
  lua_setfield(L, -2, "bytes");
  bind_set_record(L);
  lua_setfield(L, -2, "jit");
  BIND_LEAVES(L, 0);
}

static void info_set_count(lua_State *L, const char *field, int64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, field);
}

/* The graphs that compiling remembers. */
static void info_set_memo(lua_State *L) {
  int64_t graphs, hits;
  size_t bytes;
  BIND_HEIGHT(L);
  compile_memo(bind_ctx(L), &graphs, &hits, &bytes);
  lua_createtable(L, 0, 3);
  info_set_count(L, "graphs", graphs);
  info_set_count(L, "hits", hits);
  info_set_count(L, "bytes", (int64_t)bytes);
  bind_set_record(L);
  lua_setfield(L, -2, "memo");
  BIND_LEAVES(L, 0);
}

static int info_call(lua_State *L) {
  damo_ctx *ctx = bind_ctx(L);
  lua_createtable(L, 0, 12);
  info_set_text(L, "version", DAMO_VERSION);
  lua_getglobal(L, "_VERSION");
  lua_setfield(L, -2, "lua");
  info_set_blas(L);
  info_set_text(L, "kernels", ctx->isa->name);
  lua_pushboolean(L, DAMO_GPL);
  lua_setfield(L, -2, "gpl");
  /* damo's licence, or that of the whole program if libraries under the GPL are linked */
  info_set_text(L, "licence", DAMO_GPL ? "GPL-2.0-or-later" : "MIT");
  lua_pushinteger(L, ctx->config.threads);
  lua_setfield(L, -2, "threads");
  info_set_jit(L, ctx);
  info_set_libraries(L);
  info_set_backends(L);
  info_set_memo(L);
  info_warn_of_core(ctx);
  bind_set_record(L);
  return 1;
}

void bind_open_info(lua_State *L) {
  bind_pushfunction(L, info_call);
  lua_setfield(L, -2, "info");
  info_set_build(L);
}
