/* system: system functions for damo's own Lua files, which thus need neither io nor os: a host may have left those out.
 * core.system has files, pictures, seeds and standard error; core.clock is damo.clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binding_int.h"
#include "io/io.h"

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

/* damo.clock(): the nanoseconds of a monotonic clock, an integer. */
static int sys_clock(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)clock_ns());
  return 1;
}

/* A seed from the time of day: an integer that every Lua version can represent. */
static int sys_new_seed(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)(clock_epoch_ns() & (((int64_t)1 << 53) - 1)));
  return 1;
}

/* ---- Standard error ---------------------------------------------------------------------------------------------- */

/* Whether standard error is a terminal that can move its cursor. */
static int sys_is_terminal(lua_State *L) {
  const char *term = getenv("TERM");
  lua_pushboolean(L, isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0);
  return 1;
}

static int sys_write_error(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  bind_gate(L, GATE_FILE, "write_error");
  fwrite(text, 1, n, stderr);
  return 0;
}

/* ---- Files and pictures ------------------------------------------------------------------------------------------ */

static const char *sys_check_path(lua_State *L, const char *func) {
  if (lua_type(L, 1) != LUA_TSTRING) {
    bind_raise(L, DAMO_ETYPE, "%s: option 'path' must be a string, got %s", func, bind_typename(L, 1));
  }
  return bind_text(L, 1, func);
}

/* write_text(path, text, func): errors name func. */
static int sys_write_text(lua_State *L) {
  size_t n;
  const char *func = luaL_checkstring(L, 3), *path = sys_check_path(L, func), *text = luaL_checklstring(L, 2, &n);
  bind_gate(L, GATE_FILE, func);
  bind_check(L, io_write_text(bind_ctx(L), path, text, n));
  return 0;
}

/* draw_file(path, text, func, program, format): writes the picture that the program ("gnuplot" or "dot") makes of the
 * text to the path; false if the program is not installed. */
static int sys_draw_file(lua_State *L) {
  static const char *const programs[] = {"gnuplot", "dot", NULL};
  char format[32];
  size_t n;
  bool found = true;
  const char *func = luaL_checkstring(L, 3), *path = sys_check_path(L, func), *text = luaL_checklstring(L, 2, &n);
  const int program = luaL_checkoption(L, 4, NULL, programs);
  snprintf(format, sizeof format, "-T%.20s", luaL_optstring(L, 5, ""));
  /* -d: without the user's settings; -: commands come from standard input */
  const char *const gnuplot[] = {"gnuplot", "-d", "-", NULL}, *const dot[] = {"dot", format, NULL};
  bind_gate(L, GATE_PROGRAM, func);
  bind_check(L, io_draw(bind_ctx(L), program == 0 ? gnuplot : dot, text, n, path, &found));
  lua_pushboolean(L, found);
  return 1;
}

static int sys_get_write(lua_State *L) {
  lua_getfield(L, 1, "write");
  return 1;
}

/* can_write(value): whether it has a method write, as a Lua file or a table of the script's own has. */
static int sys_can_write(lua_State *L) {
  lua_settop(L, 1);
  bool can = lua_istable(L, 1) || lua_isuserdata(L, 1);
  if (can) {
    lua_pushcfunction(L, sys_get_write);
    lua_insert(L, 1);
    can = lua_pcall(L, 1, 1, 0) == LUA_OK && !lua_isnil(L, -1);
  }
  lua_pushboolean(L, can);
  return 1;
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/* number_text(x, digits): the text of number_plain. */
static int sys_number(lua_State *L) {
  char text[NUMBER_TEXT_MAX];
  const int n = number_plain(luaL_checknumber(L, 1), (int)luaL_optinteger(L, 2, 0), text);
  lua_pushlstring(L, text, (size_t)n);
  return 1;
}

/* dtype_name(i): the name of the dtype of that number, as properties of Ops have it. */
static int sys_dtype_name(lua_State *L) {
  const lua_Integer i = luaL_checkinteger(L, 1);
  lua_pushstring(L, i >= 0 && i < DAMO_N_DTYPES ? dtype_name(i) : "?");
  return 1;
}

/* typename(value): its type in the user's words. */
static int sys_type_name(lua_State *L) {
  lua_settop(L, 1);
  lua_pushstring(L, bind_typename(L, 1));
  return 1;
}

/* check_options(func, options, {names}): raises a value error with a suggestion for a key that is not in the list. */
static int sys_check_options(lua_State *L) {
  const char *func = luaL_checkstring(L, 1);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  const int n = (int)lua_rawlen(L, 3);
  const char **names = bind_alloc(L, (size_t)n + 1, sizeof *names);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 3, i + 1);
    if (lua_type(L, -1) != LUA_TSTRING) bind_raise(L, DAMO_ETYPE, "check_options: name %d is no string", i + 1);
    names[i] = lua_tostring(L, -1); /* kept alive by the table, which a number's text is not */
    lua_pop(L, 1);
  }
  bind_check_options(L, func, 2, names);
  return 0;
}

/* leave_out(source): has traces leave out the lines of the files whose sources begin with that text: those of a module
 * over damo. */
static int sys_leave_out(lua_State *L) {
  size_t n;
  const char *source = luaL_checklstring(L, 1, &n);
  bind_state *st = bind_get(L);
  if (n < sizeof st->beside) memcpy(st->beside, source, n + 1);
  return 0;
}

void bind_open_system(lua_State *L) {
  static const luaL_Reg functions[] = {{"new_seed", sys_new_seed},
                                       {"is_terminal", sys_is_terminal},
                                       {"write_error", sys_write_error},
                                       {"write_text", sys_write_text},
                                       {"draw_file", sys_draw_file},
                                       {"number_text", sys_number},
                                       {"typename", sys_type_name},
                                       {"check_options", sys_check_options},
                                       {"can_write", sys_can_write},
                                       {"dtype_name", sys_dtype_name},
                                       {"leave_out", sys_leave_out},
                                       {"set_hint", bind_set_hint},
                                       {NULL, NULL}};
  lua_newtable(L);
  bind_setfuncs(L, functions);
  bind_add_profile(L);
  bind_add_print_op(L);
  lua_setfield(L, -2, "system");
  lua_pushcfunction(L, sys_clock);
  lua_setfield(L, -2, "clock");
}
