/* floor_case: what the floors of dense.lua and loops.lua share: the machine's longest vectors with SLEEF's functions, and
 * a Lua module of cases. NAME(times, out, {in...}, n, m) runs a case and returns the seconds; out and in are pointers to
 * float64.
 */
#ifndef DAMO_BENCH_FLOOR_CASE_H
#define DAMO_BENCH_FLOOR_CASE_H

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#include <sleef.h>
#define W 8
#define V __m512d
#define VEC(name) Sleef_##name##d8_u10avx512f
#define STREAM(p, x) _mm512_stream_pd(p, x)
#elif defined(__AVX2__)
#include <immintrin.h>
#include <sleef.h>
#define W 4
#define V __m256d
#define VEC(name) Sleef_##name##d4_u10avx2
#define STREAM(p, x) _mm256_stream_pd(p, x)
#else
#define W 1
#define V double
#define VEC(name) name
#define STREAM(p, x) (*(p) = (x))
#endif

typedef V vec __attribute__((aligned(8), may_alias));

typedef struct floor_case {
  const char *name;
  void (*run)(double *out, const double *const *in, int64_t n, int64_t m);
} floor_case;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_case(lua_State *L) {
  const floor_case *c = lua_touserdata(L, lua_upvalueindex(1));
  const int64_t times = luaL_checkinteger(L, 1), n = luaL_checkinteger(L, 4), m = luaL_optinteger(L, 5, 1);
  double *out = lua_touserdata(L, 2);
  const double *in[8] = {NULL};
  for (int i = 0; i < 8; i++) {
    lua_rawgeti(L, 3, i + 1);
    in[i] = lua_touserdata(L, -1);
    lua_pop(L, 1);
  }
  const double start = seconds();
  for (int64_t k = 0; k < times; k++) c->run(out, in, n, m);
  lua_pushnumber(L, seconds() - start);
  return 1;
}

static int floor_module(lua_State *L, const floor_case *cases, size_t count) {
  lua_newtable(L);
  for (size_t k = 0; k < count; k++) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)&cases[k]);
    lua_pushcclosure(L, run_case, 1);
    lua_setfield(L, -2, cases[k].name);
  }
  return 1;
}

#endif
