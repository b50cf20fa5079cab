/* sandbox: runs scripts that it did not write. A script has Lua's harmless functions and damo (prelude.lua); it cannot
 * reach files, programs or addresses, and stops at limits of memory and instructions.
 *
 *     sandbox FOLDER MODULES MOD PICTURE ESCAPE…
 *
 * FOLDER holds prelude.lua, MODULES damo's Lua files. MOD is a script that returns the bytes of a picture of 320 x 320
 * greys, which the host writes to PICTURE. Each ESCAPE is a file of attempts, and none may succeed. */
#include <damo.h>
#include <dirent.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { SIDE = 320, LUA_BYTES = 128 << 20, DAMO_BYTES = 256 << 20, INSTRUCTIONS = 20000000, STRIDE = 1000 };

static size_t lua_bytes; /* of Lua's heap */
static long steps_left;  /* of STRIDE instructions each */

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

static void *bounded(void *ud, void *p, size_t old, size_t size) {
  (void)ud;
  if (p == NULL) old = 0;
  if (size == 0) {
    lua_bytes -= old;
    free(p);
    return NULL;
  }
  if (size > old && lua_bytes + (size - old) > LUA_BYTES) return NULL;
  void *q = realloc(p, size);
  if (q != NULL) lua_bytes = lua_bytes - old + size;
  return q;
}

/* Past the limit each further instruction fails, so that a script's own pcall does not hold it. */
static void count(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (steps_left-- > 0) return;
  lua_sethook(L, count, LUA_MASKCOUNT, 1);
  luaL_error(L, "the script takes too long");
}

/* ---- The state --------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) return NULL;
  char *text = malloc(1 << 20);
  *n = text ? fread(text, 1, (1 << 20) - 1, f) : 0;
  if (text) text[*n] = '\0';
  fclose(f);
  return text;
}

static void open_library(lua_State *L, const char *name, lua_CFunction open) {
#if LUA_VERSION_NUM >= 502
  luaL_requiref(L, name, open, 1);
  lua_pop(L, 1);
#else
  lua_pushcfunction(L, open);
  lua_pushstring(L, strcmp(name, "_G") == 0 ? "" : name);
  lua_call(L, 1, 0);
#endif
}

/* Puts each of damo's Lua files, as a chunk, into the table at the top of the stack, which is package.preload. */
static bool preload_modules(lua_State *L, const char *folder) {
  DIR *dir = opendir(folder);
  if (dir == NULL) return false;
  bool ok = true;
  for (struct dirent *e; ok && (e = readdir(dir)) != NULL;) {
    const size_t stem = strlen(e->d_name) > 4 ? strlen(e->d_name) - 4 : 0;
    if (stem == 0 || strcmp(e->d_name + stem, ".lua") != 0 || strcmp(e->d_name, "meta.lua") == 0) continue;
    char path[1024], name[256];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (strcmp(e->d_name, "init.lua") == 0) {
      snprintf(name, sizeof name, "damo");
    } else {
      snprintf(name, sizeof name, "damo.%.*s", (int)stem, e->d_name);
    }
    size_t n = 0;
    char *text = read_file(path, &n);
    ok = text != NULL && luaL_loadbuffer(L, text, n, name) == 0;
    if (ok) lua_setfield(L, -2, name);
    free(text);
  }
  closedir(dir);
  return ok;
}

/* Leaves the prelude's function at the top of the stack. */
static int prepare(lua_State *L) {
  const char *folder = lua_tostring(L, 1), *modules = lua_tostring(L, 2);
  open_library(L, "_G", luaopen_base);
  open_library(L, LUA_LOADLIBNAME, luaopen_package);
#if LUA_VERSION_NUM >= 502
  open_library(L, LUA_COLIBNAME, luaopen_coroutine); /* before, they come with base */
#endif
  open_library(L, LUA_STRLIBNAME, luaopen_string);
  open_library(L, LUA_TABLIBNAME, luaopen_table);
  open_library(L, LUA_MATHLIBNAME, luaopen_math);
  lua_settop(L, 2);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_pushcfunction(L, luaopen_damo_core);
  lua_setfield(L, -2, "damo.core");
  if (!preload_modules(L, modules)) return luaL_error(L, "damo's Lua files are not in %s", modules);
  char path[1024];
  snprintf(path, sizeof path, "%s/prelude.lua", folder);
  if (luaL_loadfile(L, path) != 0) return lua_error(L);
  lua_call(L, 0, 1);
  return 1;
}

/* Runs a text by the prelude's function at index 1; leaves a message, or the result, at the top of the stack. */
static bool run(lua_State *L, const char *text, size_t n, const char *name) {
  lua_settop(L, 1);
  lua_pushvalue(L, 1);
  lua_pushlstring(L, text, n);
  lua_pushstring(L, name);
  steps_left = INSTRUCTIONS / STRIDE;
  lua_sethook(L, count, LUA_MASKCOUNT, STRIDE);
  const bool failed = lua_pcall(L, 2, 2, 0) != 0;
  lua_sethook(L, NULL, 0, 0);
  if (failed) lua_pushboolean(L, 0), lua_insert(L, -2);
  return lua_toboolean(L, -2) != 0;
}

/* ---- What scripts do --------------------------------------------------------------------------------------------- */

static void png_chunk(FILE *f, const char *kind, const unsigned char *data, uint32_t n) {
  const uint32_t crc = (uint32_t)crc32(crc32(0, (const unsigned char *)kind, 4), data, n);
  for (int i = 24; i >= 0; i -= 8) fputc((int)(n >> i & 255), f);
  fwrite(kind, 1, 4, f);
  fwrite(data, 1, n, f);
  for (int i = 24; i >= 0; i -= 8) fputc((int)(crc >> i & 255), f);
}

static bool write_picture(const char *path, const char *grey) {
  static unsigned char rows[SIDE][SIDE + 1], packed[SIDE * (SIDE + 1) + 4096];
  static const unsigned char head[13] = {0, 0, SIDE >> 8, SIDE & 255, 0, 0, SIDE >> 8, SIDE & 255, 8, 0, 0, 0, 0};
  for (int i = 0; i < SIDE; i++) memcpy(rows[i] + 1, grey + i * SIDE, SIDE);
  uLongf n = sizeof packed;
  FILE *f = compress(packed, &n, rows[0], sizeof rows) == Z_OK ? fopen(path, "wb") : NULL;
  if (f == NULL) return false;
  fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
  png_chunk(f, "IHDR", head, 13);
  png_chunk(f, "IDAT", packed, (uint32_t)n);
  png_chunk(f, "IEND", head, 0);
  return fclose(f) == 0;
}

static bool paint(lua_State *L, const char *mod, const char *picture) {
  size_t n = 0, size = 0;
  char *text = read_file(mod, &n);
  const bool ran = text != NULL && run(L, text, n, "mod");
  const char *grey = text ? lua_tolstring(L, -1, &size) : NULL;
  free(text);
  if (!ran || size != SIDE * SIDE) {
    fprintf(stderr, "sandbox: the mod: %s\n", grey != NULL && !ran ? grey : "no bytes of a picture");
    return false;
  }
  return write_picture(picture, grey);
}

/* Attempts stand in a file one after the other, each under a line "--- NAME"; one that returns true got through. */
static bool try_escapes(lua_State *L, const char *path, bool verbose) {
  size_t n = 0;
  char *text = read_file(path, &n);
  int tried = 0, through = 0;
  for (char *at = text ? strstr(text, "\n--- ") : NULL; at != NULL;) {
    char *name = at + 5, *end = strchr(name, '\n'), *next = end ? strstr(end, "\n--- ") : NULL;
    if (end == NULL) break;
    *end = '\0';
    if (next) *next = '\0';
    const bool ran = run(L, end + 1, strlen(end + 1), name);
    if (verbose) printf("%6.2f s  %s\n", (double)clock() / CLOCKS_PER_SEC, name), fflush(stdout);
    if (verbose && !ran) printf("  %s: %s\n", name, lua_tostring(L, -1) ? lua_tostring(L, -1) : "");
    if (ran && lua_toboolean(L, -1)) {
      printf("sandbox: got through: %s\n", name);
      through++;
    }
    tried++;
    at = next;
  }
  free(text);
  printf("sandbox: %d escapes tried, %d got through\n", tried, through);
  return tried > 0 && through == 0;
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  lua_State *L = lua_newstate(bounded, NULL);
  if (ctx == NULL || L == NULL || damo_lua_set_context(L, ctx) != DAMO_OK) return 1;
  damo_ctx_set_memory_cap(ctx, DAMO_BYTES);
  damo_ctx_set_sandbox(ctx);

  lua_pushcfunction(L, prepare);
  lua_pushstring(L, argv[1]);
  lua_pushstring(L, argv[2]);
  bool ok = lua_pcall(L, 2, 1, 0) == 0;
  if (!ok) fprintf(stderr, "sandbox: %s\n", lua_tostring(L, -1));
  if (ok) ok = paint(L, argv[3], argv[4]);
  for (int i = 5; ok && i < argc; i++) ok = try_escapes(L, argv[i], getenv("SANDBOX_VERBOSE") != NULL);
  lua_close(L);
  damo_ctx_release(ctx);
  return ok ? 0 : 1;
}
