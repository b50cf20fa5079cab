/* compat: the only file that depends on the version of Lua. The binding is written for Lua 5.4; for 5.3, 5.1 and LuaJIT
 * this file adds what they lack, as small functions under 5.4's names.
 *
 * On 5.1 and LuaJIT the user value is the environment table, so it can only be a table (COMPAT_UV_TABLE), and a number
 * is an integer if it is integral and at most 2^53, and not -0.
 */
#ifndef DAMO_LUA_COMPAT_H
#define DAMO_LUA_COMPAT_H

#include <lua.h>
#include <lauxlib.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The largest integer that a Lua integer of this version holds exactly. */
#if LUA_VERSION_NUM >= 503
#define COMPAT_MAX_INTEGER INT64_MAX
#define COMPAT_UV_TABLE 0
#else
#define COMPAT_MAX_INTEGER ((int64_t)1 << 53)
#define COMPAT_UV_TABLE 1
#endif

/* What lua_type gives for LuaJIT's cdata; no other Lua has this type. */
#define COMPAT_TCDATA 10

#if LUA_VERSION_NUM < 504

static inline void *compat_newuserdata(lua_State *L, size_t size) {
  void *p = lua_newuserdata(L, size);
#if COMPAT_UV_TABLE
  /* A new userdata shares the running function's environment; the registry in its place means "no user value". */
  lua_pushvalue(L, LUA_REGISTRYINDEX);
  lua_setfenv(L, -2);
#endif
  return p;
}
#define lua_newuserdatauv(L, size, n) compat_newuserdata(L, size)

/* Pushes the user value, nil if there is none. */
static inline int compat_getuservalue(lua_State *L, int idx) {
#if COMPAT_UV_TABLE
  lua_getfenv(L, idx);
  if (lua_rawequal(L, -1, LUA_REGISTRYINDEX)) {
    lua_pop(L, 1);
    lua_pushnil(L);
  }
#else
  lua_getuservalue(L, idx);
#endif
  return lua_type(L, -1);
}
#define lua_getiuservalue(L, idx, n) compat_getuservalue(L, idx)

static inline int compat_setuservalue(lua_State *L, int idx) {
#if COMPAT_UV_TABLE
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushvalue(L, LUA_REGISTRYINDEX);
  }
  lua_setfenv(L, idx);
#else
  lua_setuservalue(L, idx);
#endif
  return 1;
}
#define lua_setiuservalue(L, idx, n) compat_setuservalue(L, idx)

#endif

#if LUA_VERSION_NUM < 503

#define lua_isinteger compat_isinteger
static inline int compat_isinteger(lua_State *L, int idx) {
  if (lua_type(L, idx) != LUA_TNUMBER) return 0;
  lua_Number x = lua_tonumber(L, idx);
  if (x == 0 && signbit(x)) return 0;
  return x == floor(x) && x >= -9007199254740992.0 && x <= 9007199254740992.0;
}

/* LuaJIT's accepts 1.5 as 1, and 5.1 has none. */
#undef lua_tointegerx
#define lua_tointegerx compat_tointegerx
static inline lua_Integer compat_tointegerx(lua_State *L, int idx, int *isnum) {
  lua_Number x = lua_tonumber(L, idx);
  int whole = lua_isnumber(L, idx) && x == floor(x) && x >= -9007199254740992.0 && x <= 9007199254740992.0;
  if (isnum) *isnum = whole;
  return whole ? (lua_Integer)x : 0;
}

/* Also returns the type of the pushed value, as later versions do. */
static inline int compat_rawgeti(lua_State *L, int idx, int n) {
  lua_rawgeti(L, idx, n);
  return lua_type(L, -1);
}
#define lua_rawgeti compat_rawgeti

#endif

#if LUA_VERSION_NUM < 502

#ifndef LUA_OK
#define LUA_OK 0
#endif
#define lua_rawlen(L, idx) lua_objlen(L, idx)

#define lua_absindex compat_absindex
static inline int compat_absindex(lua_State *L, int idx) {
  return idx > 0 || idx <= LUA_REGISTRYINDEX ? idx : lua_gettop(L) + idx + 1;
}

#define lua_rawgetp compat_rawgetp
static inline void compat_rawgetp(lua_State *L, int idx, const void *p) {
  idx = lua_absindex(L, idx);
  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  lua_rawget(L, idx);
}

#define lua_rawsetp compat_rawsetp
static inline void compat_rawsetp(lua_State *L, int idx, const void *p) {
  idx = lua_absindex(L, idx);
  lua_pushlightuserdata(L, (void *)(uintptr_t)p);
  lua_insert(L, -2);
  lua_rawset(L, idx);
}

#define luaL_tolstring compat_tolstring
static inline const char *compat_tolstring(lua_State *L, int idx, size_t *len) {
  idx = lua_absindex(L, idx);
  lua_getglobal(L, "tostring");
  lua_pushvalue(L, idx);
  lua_call(L, 1, 1);
  return lua_tolstring(L, -1, len);
}

#define luaL_setfuncs compat_setfuncs
static inline void compat_setfuncs(lua_State *L, const luaL_Reg *l, int nup) {
  for (; l->name; l++) {
    for (int i = 0; i < nup; i++) lua_pushvalue(L, -nup);
    lua_pushcclosure(L, l->func, nup);
    lua_setfield(L, -(nup + 2), l->name);
  }
  lua_pop(L, nup);
}

#endif

#endif
