/* solve_floor: sparse systems solved by direct calls of CHOLMOD and KLU, as a Lua module for the benchmark.
 *
 * solve_floor.NAME(n, A, b) runs a case n times and returns the seconds and the sum of the result. A is {rows, cols,
 * nnz, indptr=, indices=, data=}: csc with int32 indices and float64 values, as pointers; b points to float64. Data
 * that a case keeps between its runs is made before the clock starts. Settings are the libraries' defaults except those
 * on which damo's answer depends: orderings without METIS, and KLU's pivot tolerance.
 */
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/klu.h>
#include <time.h>
#ifndef DAMO_GPL
#define DAMO_GPL 1
#endif
#if DAMO_GPL
#include <suitesparse/cholmod.h>
#endif

typedef struct job {
  int32_t n, nnz;
  int32_t *ptr, *idx;
  double *val;
  const double *b;
  double *x; /* n values, or nnz if that is more */
} job;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Without a result the benchmark ends: there is no caller to tell. */
static void need(int ok) {
  if (!ok) abort();
}

static double sum_of(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += x[k];
  return sum;
}

/* ---- CHOLMOD ----------------------------------------------------------------------------------------------------- */

#if DAMO_GPL

typedef struct chol {
  cholmod_common common;
  cholmod_sparse a;
  cholmod_factor *l;
  cholmod_dense *x, *y, *e;
} chol;

static void chol_start(chol *s, const job *j) {
  memset(s, 0, sizeof *s);
  cholmod_start(&s->common);
  s->common.nmethods = 1;
  s->common.method[0].ordering = CHOLMOD_AMD;
  s->a = (cholmod_sparse){.nrow = (size_t)j->n,
                          .ncol = (size_t)j->n,
                          .nzmax = (size_t)j->nnz,
                          .p = j->ptr,
                          .i = j->idx,
                          .x = j->val,
                          .stype = 1,
                          .itype = CHOLMOD_INT,
                          .xtype = CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
  s->l = cholmod_analyze(&s->a, &s->common);
}

static void chol_solve(chol *s, const job *j) {
  cholmod_dense b = {.nrow = (size_t)j->n,
                     .ncol = 1,
                     .nzmax = (size_t)j->n,
                     .d = (size_t)j->n,
                     .x = (void *)(uintptr_t)j->b,
                     .xtype = CHOLMOD_REAL,
                     .dtype = CHOLMOD_DOUBLE};
  need(cholmod_solve2(CHOLMOD_A, s->l, &b, NULL, &s->x, NULL, &s->y, &s->e, &s->common));
  memcpy(j->x, s->x->x, (size_t)j->n * sizeof(double));
}

static void chol_finish(chol *s) {
  cholmod_free_factor(&s->l, &s->common);
  cholmod_free_dense(&s->x, &s->common);
  cholmod_free_dense(&s->y, &s->common);
  cholmod_free_dense(&s->e, &s->common);
  cholmod_finish(&s->common);
}

static double chol_cold(int64_t n, const job *j, double *sum) {
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) {
    chol s;
    chol_start(&s, j);
    cholmod_factorize(&s.a, s.l, &s.common);
    chol_solve(&s, j);
    chol_finish(&s);
  }
  const double spent = seconds() - start;
  *sum = sum_of(j->x, j->n);
  return spent;
}

static double chol_new(int64_t n, const job *j, double *sum) {
  chol s;
  chol_start(&s, j);
  cholmod_factorize(&s.a, s.l, &s.common);
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) {
    cholmod_factorize(&s.a, s.l, &s.common);
    chol_solve(&s, j);
  }
  const double spent = seconds() - start;
  chol_finish(&s);
  *sum = sum_of(j->x, j->n);
  return spent;
}

static double chol_kept(int64_t n, const job *j, double *sum) {
  chol s;
  chol_start(&s, j);
  cholmod_factorize(&s.a, s.l, &s.common);
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) chol_solve(&s, j);
  const double spent = seconds() - start;
  chol_finish(&s);
  *sum = sum_of(j->x, j->n);
  return spent;
}

/* The numeric factorization alone; the sum is log det A. */
static double chol_factor(int64_t n, const job *j, double *sum) {
  chol s;
  chol_start(&s, j);
  cholmod_factorize(&s.a, s.l, &s.common);
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) cholmod_factorize(&s.a, s.l, &s.common);
  const double spent = seconds() - start;
  cholmod_change_factor(CHOLMOD_REAL, 1, 0, 1, 1, s.l, &s.common);
  const int32_t *p = s.l->p;
  const double *x = s.l->x;
  *sum = 0;
  for (int32_t k = 0; k < j->n; k++) *sum += 2 * log(x[p[k]]);
  chol_finish(&s);
  return spent;
}

#endif

/* ---- KLU --------------------------------------------------------------------------------------------------------- */

typedef struct lu {
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
} lu;

static void lu_start(lu *s, const job *j) {
  klu_defaults(&s->common);
  s->common.tol = 0.1;
  s->symbolic = klu_analyze(j->n, j->ptr, j->idx, &s->common);
  need(s->symbolic != NULL);
  s->numeric = klu_factor(j->ptr, j->idx, j->val, s->symbolic, &s->common);
  need(s->numeric != NULL);
}

static void lu_solve(lu *s, const job *j) {
  memcpy(j->x, j->b, (size_t)j->n * sizeof(double));
  need(klu_solve(s->symbolic, s->numeric, j->n, 1, j->x, &s->common));
}

static void lu_finish(lu *s) {
  klu_free_numeric(&s->numeric, &s->common);
  klu_free_symbolic(&s->symbolic, &s->common);
}

static double lu_cold(int64_t n, const job *j, double *sum) {
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) {
    lu s;
    lu_start(&s, j);
    lu_solve(&s, j);
    lu_finish(&s);
  }
  const double spent = seconds() - start;
  *sum = sum_of(j->x, j->n);
  return spent;
}

static double lu_new(int64_t n, const job *j, double *sum) {
  lu s;
  lu_start(&s, j);
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) {
    need(klu_refactor(j->ptr, j->idx, j->val, s.symbolic, s.numeric, &s.common));
    lu_solve(&s, j);
  }
  const double spent = seconds() - start;
  lu_finish(&s);
  *sum = sum_of(j->x, j->n);
  return spent;
}

static double lu_kept(int64_t n, const job *j, double *sum) {
  lu s;
  lu_start(&s, j);
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) lu_solve(&s, j);
  const double spent = seconds() - start;
  lu_finish(&s);
  *sum = sum_of(j->x, j->n);
  return spent;
}

/* ---- One pass over A's entries ----------------------------------------------------------------------------------- */

static double pass(int64_t n, const job *j, double *sum) {
  const double start = seconds();
  for (int64_t k = 0; k < n; k++) {
    for (int32_t c = 0; c < j->n; c++)
      for (int32_t p = j->ptr[c]; p < j->ptr[c + 1]; p++) j->x[p] = -j->b[c] * j->b[j->idx[p]];
  }
  const double spent = seconds() - start;
  *sum = sum_of(j->x, j->nnz);
  return spent;
}

/* ---- Lua --------------------------------------------------------------------------------------------------------- */

typedef struct floor_case {
  const char *name;
  double (*run)(int64_t n, const job *j, double *sum);
} floor_case;

static const floor_case floor_cases[] = {
#if DAMO_GPL
    {"chol_cold", chol_cold}, {"chol_new", chol_new}, {"chol_kept", chol_kept}, {"chol_factor", chol_factor},
#endif
    {"klu_cold", lu_cold},    {"klu_new", lu_new},    {"klu_kept", lu_kept},    {"pass", pass}};

static void *pointer_field(lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  void *p = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return p;
}

static int32_t integer_at(lua_State *L, int i) {
  lua_rawgeti(L, 2, i);
  const int32_t value = (int32_t)luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return value;
}

static int run_case(lua_State *L) {
  const floor_case *c = lua_touserdata(L, lua_upvalueindex(1));
  const int64_t n = luaL_checkinteger(L, 1);
  job j = {.n = integer_at(L, 1), .nnz = integer_at(L, 3), .b = lua_touserdata(L, 3)};
  j.ptr = pointer_field(L, "indptr");
  j.idx = pointer_field(L, "indices");
  j.val = pointer_field(L, "data");
  j.x = malloc((size_t)(j.n > j.nnz ? j.n : j.nnz) * sizeof(double) + 1);
  need(j.x != NULL && j.ptr != NULL && j.b != NULL);
  double sum;
  const double spent = c->run(n, &j, &sum);
  free(j.x);
  lua_pushnumber(L, spent);
  lua_pushnumber(L, sum);
  return 2;
}

int luaopen_solve_floor(lua_State *L);

int luaopen_solve_floor(lua_State *L) {
  lua_newtable(L);
  for (size_t k = 0; k < sizeof floor_cases / sizeof *floor_cases; k++) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)&floor_cases[k]);
    lua_pushcclosure(L, run_case, 1);
    lua_setfield(L, -2, floor_cases[k].name);
  }
  return 1;
}
