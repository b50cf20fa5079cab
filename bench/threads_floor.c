/* threads_floor: the plain C loops of the benchmark of threads, as a Lua module.
 *
 * threads_floor.NAME(threads, times, out, {in…}, n, m) runs the case that many times and returns the seconds of the
 * wall clock. A run divides its rows evenly, makes the other threads, and joins them. threads_floor.wall() is the clock.
 */
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
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
#define MOST 8

typedef V vec __attribute__((aligned(8), may_alias));

/* Rows [from, end) of a case. The bounds are multiples of 8, but for the last. */
typedef void part_fn(double *out, const void *const *in, int64_t from, int64_t end, int64_t m);

static void chain(double *out, const void *const *in, int64_t from, int64_t end, int64_t m) {
  const double *x = in[0];
  int64_t i = from;
  (void)m;
  for (; i + W <= end; i += W) {
    const V v = *(const vec *)(x + i), s = v * v;
    *(vec *)(out + i) = VEC(exp)(-s) * VEC(sin)(v) + VEC(log1p)(s);
  }
  for (; i < end; i++) out[i] = exp(-x[i] * x[i]) * sin(x[i]) + log1p(x[i] * x[i]);
}

/* n is a multiple of the vector's length, out aligned to it. */
static void multiply_add(double *out, const void *const *in, int64_t from, int64_t end, int64_t m) {
  const double *x = in[0], *y = in[1], *z = in[2];
  (void)m;
  for (int64_t i = from; i < end; i += W)
    STREAM(out + i, 2.0 * *(const vec *)(x + i) + *(const vec *)(y + i) * *(const vec *)(z + i));
}

/* A·D, with A in csr of int32 indices, D of m columns. */
static void sparse_dense(double *out, const void *const *in, int64_t from, int64_t end, int64_t m) {
  const int32_t *ptr = in[0], *idx = in[1];
  const double *data = in[2], *d = in[3];
  for (int64_t i = from; i < end; i++) {
    double *restrict y = out + i * m;
    memset(y, 0, (size_t)m * sizeof *y);
    for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
      const double v = data[p], *restrict row = d + idx[p] * m;
      for (int64_t j = 0; j < m; j++) y[j] += v * row[j];
    }
  }
}

typedef struct part {
  part_fn *run;
  double *out;
  const void *const *in;
  int64_t from, end, m;
} part;

static void *run_part(void *arg) {
  const part *p = arg;
  p->run(p->out, p->in, p->from, p->end, p->m);
  return NULL;
}

static void run_parts(part_fn *run, int threads, double *out, const void *const *in, int64_t n, int64_t m) {
  pthread_t thread[MOST];
  part parts[MOST];
  bool made[MOST];
  for (int i = 0; i < threads; i++) {
    const int64_t end = i + 1 == threads ? n : n * (i + 1) / threads / 8 * 8;
    parts[i] = (part){run, out, in, n * i / threads / 8 * 8, end, m};
    made[i] = i > 0 && pthread_create(&thread[i], NULL, run_part, &parts[i]) == 0;
  }
  for (int i = 0; i < threads; i++) {
    if (!made[i]) run_part(&parts[i]);
  }
  for (int i = 0; i < threads; i++) {
    if (made[i]) pthread_join(thread[i], NULL);
  }
}

static double wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int push_wall(lua_State *L) {
  lua_pushnumber(L, wall_seconds());
  return 1;
}

typedef struct thread_case {
  const char *name;
  part_fn *run;
} thread_case;

static const thread_case thread_cases[] = {
    {"chain", chain}, {"multiply_add", multiply_add}, {"sparse_dense", sparse_dense}};

static int run_thread_case(lua_State *L) {
  const thread_case *c = lua_touserdata(L, lua_upvalueindex(1));
  const int threads = (int)luaL_checkinteger(L, 1);
  const int64_t times = luaL_checkinteger(L, 2), n = luaL_checkinteger(L, 5), m = luaL_optinteger(L, 6, 1);
  double *out = lua_touserdata(L, 3);
  const void *in[8] = {NULL};
  luaL_argcheck(L, threads >= 1 && threads <= MOST, 1, "from 1 to 8");
  for (int i = 0; i < 8; i++) {
    lua_rawgeti(L, 4, i + 1);
    in[i] = lua_touserdata(L, -1);
    lua_pop(L, 1);
  }
  const double start = wall_seconds();
  for (int64_t k = 0; k < times; k++) run_parts(c->run, threads, out, in, n, m);
  lua_pushnumber(L, wall_seconds() - start);
  return 1;
}

int luaopen_threads_floor(lua_State *L);

int luaopen_threads_floor(lua_State *L) {
  lua_newtable(L);
  for (size_t k = 0; k < sizeof thread_cases / sizeof *thread_cases; k++) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)&thread_cases[k]);
    lua_pushcclosure(L, run_thread_case, 1);
    lua_setfield(L, -2, thread_cases[k].name);
  }
  lua_pushcfunction(L, push_wall);
  lua_setfield(L, -2, "wall");
  return 1;
}
